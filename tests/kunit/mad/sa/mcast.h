/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_MCAST_TEST_H
#define IBEX_MCAST_TEST_H

/* A subnet with an SA, an adapter, and up to three members of one group on it. */
#include "fake_sa.h"

/* A member, and the calls of its callback. */
struct mcast_member {
	struct ib_sa_multicast *mc;
	atomic_t calls, joined, resets;
	int status;			/* of the last call */
	struct ib_sa_mcmember_rec rec;	/* when it joined */
	bool refuses;			/* the callback returns non-zero */
	bool refuses_resets;
	unsigned int sleep_ms;
	int fail_nth;			/* the allocation that fails after the callback */
};

#define MCAST_MASK	(IB_SA_MCMEMBER_REC_MGID | IB_SA_MCMEMBER_REC_PORT_GID | \
			 IB_SA_MCMEMBER_REC_PKEY | IB_SA_MCMEMBER_REC_JOIN_STATE)

extern struct fake_sa *mcast_sa;
extern struct fake_hca *mcast_hca;
extern struct ib_sa_client mcast_client;
extern struct mcast_member one, two, three;
extern const union ib_gid mcast_mgid;

int mcast_test_init(struct kunit *test);
void mcast_test_exit(struct kunit *test);
/* The callback of all members. */
int mcast_told(int status, struct ib_sa_multicast *mc);
struct ib_sa_mcmember_rec mcast_record(u8 states);
int mcast_join_as(struct mcast_member *m, struct ib_sa_mcmember_rec *rec,
		  ib_sa_comp_mask mask);
int mcast_join(struct mcast_member *m, u8 states);
void mcast_leave(struct mcast_member *m);
/* Gets the record of the group, if the port has joined it. */
int mcast_joined(struct ib_sa_mcmember_rec *rec);
/* Waits until the port is in no group. */
void mcast_wait_left(void);
/* Expects that neither the port nor the SA has groups or members. */
void mcast_expect_left(struct kunit *test);

#endif
