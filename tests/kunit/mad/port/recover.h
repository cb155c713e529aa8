/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_RECOVER_H
#define IBEX_RECOVER_H

/*
 * A pair whose asker's QP1 the tests break, and the completions that its client gets.
 * Its requests are dropped on the wire until expect_well() sends one to the server.
 */
#include "mad/mad_test.h"
#include "wait.h"

#define RECV_DEPTH	512	/* ib_mad.recv_queue_size by default */
#define BOUND_MS	(IBMAD_DRAIN_MS + 4 * IBMAD_FLUSH_MS)
#define NOTED		256

/* Serial numbers of requests, in the order in which they were sent or completed. */
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
/* Waits until @n requests have failed, for less time than the watch for stalls needs. */
bool handed_back(int n);
/* Sends @n requests, so that the next ones do not use the slots in index order. */
void turn_slots(struct kunit *test, int n);
void expect_in_order(struct kunit *test, const struct noted *noted, int n);
/* Expects that all is as at the beginning, and that the server responds. */
void expect_well(struct kunit *test);
/* Expects that the adapter is removed in a bounded time, and @sent completions. */
void expect_removal(struct kunit *test, int sent);

#endif
