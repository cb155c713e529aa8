/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_BENCH_CM_H
#define IBEX_BENCH_CM_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <rdma/rdma_cm.h>
#include "../instant/instant.h"

#define BENCH_ALIVE	64000	/* most connections that stay */
#define BENCH_BATCH	64	/* most connections of a batch */
#define BENCH_TASKS	8	/* most batches at a time */
#define BENCH_REPS	1024	/* most repetitions of one measurement */
#define BENCH_PATIENCE	(120 * HZ)

/* ---- conn.c: connections, and the steps from their creation to their destruction ---- */

/* In the order in which a connection takes them; up to STEP_CONNECT it is being made. */
enum bench_step {
	STEP_CREATE,		/* rdma_create_id() */
	STEP_ADDRESS,		/* rdma_resolve_addr() until ADDR_RESOLVED */
	STEP_ROUTE,		/* rdma_resolve_route() until ROUTE_RESOLVED */
	STEP_QP,		/* rdma_create_qp() */
	STEP_CONNECT,		/* rdma_connect() until both ends are ESTABLISHED */
	STEP_DISCONNECT,	/* rdma_disconnect() until both ends are DISCONNECTED */
	STEP_DESTROY,		/* rdma_destroy_qp() and rdma_destroy_id() of both ends */
	NR_STEPS
};

extern const char *const bench_step_names[NR_STEPS];

/* Listens on @listeners ports of @dst, an IPv4 address of instant0; @src is another. */
int bench_open(const char *src, const char *dst, unsigned int listeners);
bool bench_is_open(void);
/* All connections are down. */
void bench_close(void);
/* Takes connections @first to (@first + @count - 1), at most BENCH_BATCH, one step on. */
int bench_step(enum bench_step step, unsigned int first, unsigned int count);
/* Destroys what there is of these connections. */
void bench_discard(unsigned int first, unsigned int count);
/*
 * Unplugs the device under all connections and the listeners.  Returns -EIO if the
 * consumer was not told of the removal for each id.
 */
int bench_unplug(void);

/* ---- measure.c ---- */
int bench_fill(unsigned int n, struct bench_result *result);
int bench_cost(unsigned int k, unsigned int reps, struct bench_result *results);
int bench_rate(unsigned int tasks, unsigned int count, unsigned int reps,
	       struct bench_result *result);
int bench_mark(const char *step);
int bench_removal(struct bench_result *result);

#endif
