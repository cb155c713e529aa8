/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_RECOVER_H
#define IBEX_RECOVER_H

/*
 * A pair whose asker's QP1 is to be broken, and what its client is told then.  Its
 * requests leave for nowhere until expect_well() asks the server.
 */
#include "mad/mad_test.h"
#include "wait.h"

#define RECV_DEPTH	512	/* ib_mad.recv_queue_size by default */
#define BOUND_MS	(IBMAD_DRAIN_MS + 4 * IBMAD_FLUSH_MS)
#define NOTED		256

/* Numbers of requests, as they left and as their client was told of them. */
struct noted {
	int n;
	u32 serial[NOTED];
};

extern struct mad_pair pair;
extern struct noted wire, told;

int recover_init(struct kunit *test);
void recover_exit(struct kunit *test);
struct ib_qp *qp1(void);
struct ibmad_qp *mqp(void);
u64 resets(void);
void post(struct kunit *test, int n);
/* @n requests have failed, sooner than the watch for stalls would see to it. */
bool handed_back(int n);
/* So that what is posted next does not have its slots in the order of their numbers. */
void turn_slots(struct kunit *test, int n);
void expect_in_order(struct kunit *test, const struct noted *noted, int n);
/* All is as it was at first, and the server answers. */
void expect_well(struct kunit *test);
/* The adapter can go, in a bounded time; its client has been told of @sent. */
void expect_removal(struct kunit *test, int sent);

#endif
