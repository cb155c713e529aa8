/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_FAKE_SA_H
#define IBEX_FAKE_SA_H

/*
 * Subnet administration made of an agent on a fake adapter: remembers what it was
 * asked, answers PathRecord, MCMemberRecord, GUIDInfoRecord and any other with
 * what the test says or what it was asked with, keeps account of who is in which
 * multicast group; may be deaf, refuse, or keep requests to answer them later.
 */
#include "mad/mad_test.h"
#include "sa/sa.h"

#define FAKE_SA_GROUPS	8

struct fake_sa_group {
	union ib_gid mgid;
	u8 states;			/* of all ports together */
};

struct fake_sa_held {
	struct list_head entry;
	struct ib_mad_recv_wc *wc;
};

struct fake_sa {
	struct fake_hca *hca;
	struct ib_mad_agent *agent;
	spinlock_t lock;		/* all below but the atomics */
	bool deaf;
	bool hold;
	u16 status;			/* of answers, host order */
	u16 other_attr;			/* answers name this attribute, if set */
	bool has_reply;
	u8 reply[IB_MGMT_SA_DATA];	/* the record that is answered */
	struct ib_sa_mad last;		/* the last request */
	u32 src_qp;			/* where it came from */
	u16 slid;
	struct list_head held;		/* struct fake_sa_held */
	struct fake_sa_group group[FAKE_SA_GROUPS];
	atomic_t requests, gets, sets, deletes;
};

struct fake_sa *fake_sa_create(void);
void fake_sa_destroy(struct fake_sa *sa);
void fake_sa_release(struct fake_sa *sa);	/* answers what was held */
int fake_sa_nr_held(struct fake_sa *sa);
u8 fake_sa_states(struct fake_sa *sa, const union ib_gid *mgid);
void fake_sa_forget(struct fake_sa *sa);	/* all memberships */
u16 fake_sa_lid(struct fake_sa *sa);

/* An adapter whose subnet manager is @sa. */
struct fake_hca *fake_sa_client(struct fake_sa *sa, u32 ports);
/* Moves the subnet manager of port 1 and says so by @event. */
void fake_sa_move(struct fake_hca *hca, struct fake_sa *sa,
		  enum ib_event_type event);
/* Waits until @hca has told its clients of all events, and they have acted. */
void fake_sa_quiesce(struct fake_hca *hca);
/* Every query of @client, the only user of port 1's agent, was given back. */
void fake_sa_expect_idle(struct kunit *test, struct fake_hca *hca,
			 const struct ib_sa_client *client);
/* An SA, an adapter of two ports whose subnet manager it is, and who asks. */
int fake_sa_begin(struct fake_sa **sa, struct fake_hca **hca,
		  struct ib_sa_client *client);
/* Ends both, if they are there. */
void fake_sa_end(struct fake_sa **sa, struct fake_hca **hca);

#endif
