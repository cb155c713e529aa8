/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_BENCH_INSTANT_H
#define IBEX_BENCH_INSTANT_H

/*
 * An adapter that costs next to nothing, so that a measurement over it is one of the
 * layers above. It has one port and a QP1 on that port. The port's link is InfiniBand
 * without an SMI or, with the parameter netdev, the Ethernet of that netdev (RoCE v2,
 * IPv4 only, or iWARP with the parameter iwarp, whose ends are both this adapter's). A
 * send on QP1 completes within ib_post_send(): its completion is put on the CQ, and the
 * CQ's handler, if armed, is called from there. The MAD that was sent is dropped or,
 * after instant_loop(true), received on the same QP1. RC QPs keep their state, and
 * carry no data.
 */
#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <rdma/ib_verbs.h>
#include <ibex/compat/verbs.h>

#define INSTANT_NAME	"instant0"
#define INSTANT_LID	5

/* ---- device.c ---- */
/* Unregisters the device, as if it were unplugged.  The module can then only be removed. */
void instant_unplug(void);

/* ---- queues.c ---- */

/* Sets whether each MAD that is sent is received again on the same QP1. */
void instant_loop(bool on);
/*
 * Receives the MAD of IB_MGMT_MAD_SIZE bytes at @mad, as if from INSTANT_LID. Returns
 * -ENODEV without a QP1, -ENOBUFS if QP1 has no receive posted.
 */
int instant_inject(const void *mad);
/*
 * Waits until every completion has been polled and the CQs are armed again, that is,
 * until the completions' handlers have returned.
 */
int instant_quiesce(void);

/* The RC QP of this number, or NULL. */
struct ib_qp *instant_find_qp(u32 qpn);
/* Its part of iwarp.c. */
struct instant_iw *instant_iw(struct ib_qp *qp);

extern const struct ib_device_ops instant_queue_ops;

/* ---- iwarp.c ---- */
struct instant_conn;

/* What an RC QP has of iWARP. */
struct instant_iw {
	refcount_t refs;		/* one, and those of the iWARP CM */
	struct completion unused;	/* refs is 0 */
	/* Written by connect and accept; with a reference. */
	struct instant_conn *conn;
};

void instant_iw_init(struct instant_iw *iw);
/* Tells both ends, if they have not been told before, that the connection is closed. */
void instant_iw_close(struct instant_iw *iw);
/* Waits for the iWARP CM's references. */
void instant_iw_destroy(struct instant_iw *iw);

extern const struct ib_device_ops instant_iw_ops;

/* ---- files.c: the debugfs files of a benchmark ---- */
#define BENCH_RESULTS	12	/* most figures of one command */

/* The median of the repetitions, and the bounds between which nine of ten lie. */
struct bench_result {
	const char *what;
	u64 median;
	u64 low;
	u64 high;
};

struct bench_command {
	/* Runs one line written to debugfs/NAME/run; debugfs/NAME/result then has @results. */
	int (*run)(const char *line, struct bench_result *results);
	struct dentry *dir;
	struct mutex mutex;		/* one command at a time */
	struct bench_result results[BENCH_RESULTS];	/* protected by mutex */
};

void bench_files_create(struct bench_command *command, const char *name);
void bench_files_remove(struct bench_command *command);
/* Sorts @sample, of @n figures, and sets @result. */
void bench_summary(u64 *sample, unsigned int n, struct bench_result *result);

#endif
