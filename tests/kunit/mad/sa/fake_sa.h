/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_FAKE_SA_H
#define IBEX_FAKE_SA_H

/*
 * A subnet administration, made of an agent on a fake adapter.  It remembers the last
 * request, responds to PathRecord, MCMemberRecord, GUIDInfoRecord and other queries with
 * the record the test sets or with the one of the request, and keeps the members of
 * multicast groups.  It can ignore requests, refuse them, or hold them to respond later.
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
	spinlock_t lock;		/* of all below except the atomics */
	bool deaf;
	bool hold;
	u16 status;			/* of responses, host order */
	u16 other_attr;			/* attribute ID in responses, if set */
	bool has_reply;
	u8 reply[IB_MGMT_SA_DATA];	/* record in responses */
	struct ib_sa_mad last;		/* the last request */
	u32 src_qp;			/* its source */
	u16 slid;
	struct list_head held;		/* struct fake_sa_held */
	struct fake_sa_group group[FAKE_SA_GROUPS];
	atomic_t requests, gets, sets, deletes;
};

struct fake_sa *fake_sa_create(void);
void fake_sa_destroy(struct fake_sa *sa);
void fake_sa_release(struct fake_sa *sa);	/* responds to held requests */
int fake_sa_nr_held(struct fake_sa *sa);
u8 fake_sa_states(struct fake_sa *sa, const union ib_gid *mgid);
void fake_sa_forget(struct fake_sa *sa);	/* all memberships */
u16 fake_sa_lid(struct fake_sa *sa);

/* Creates an adapter whose subnet manager is @sa. */
struct fake_hca *fake_sa_client(struct fake_sa *sa, u32 ports);
/* Moves the subnet manager of port 1 and raises @event. */
void fake_sa_move(struct fake_hca *hca, struct fake_sa *sa,
		  enum ib_event_type event);
/* Waits until clients of @hca have processed all events. */
void fake_sa_quiesce(struct fake_hca *hca);
/* Expects that all queries of @client, the only user of port 1's agent, have ended. */
void fake_sa_expect_idle(struct kunit *test, struct fake_hca *hca,
			 const struct ib_sa_client *client);
/* Creates an SA, and an adapter of two ports that it manages; registers @client. */
int fake_sa_begin(struct fake_sa **sa, struct fake_hca **hca,
		  struct ib_sa_client *client);
/* Ends both, if they exist. */
void fake_sa_end(struct fake_sa **sa, struct fake_hca **hca);

#endif
