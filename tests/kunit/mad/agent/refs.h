/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_REFS_H
#define IBEX_REFS_H

/*
 * One send of one agent, and the references on both after each step of a
 * scenario, as the rules at the head of mad.h say.  The adapter keeps its
 * completions until a step releases one; only the test responds.
 */
#include "mad/mad_test.h"

#define REFS_CLASS	IB_MGMT_CLASS_VENDOR_RANGE2_START
#define REFS_SEG_BYTES	(IB_MGMT_MAD_SIZE - IB_MGMT_VENDOR_HDR)

enum refs_place { NOWHERE, IN_LANE, ON_QP };

struct refs_step {
	void (*act)(struct kunit *test);
	unsigned int agent;		/* agent->refs */
	unsigned int memory;		/* agent->kref; 0: it is freed */
	unsigned int send;		/* send->refs; 0: the client has freed it */
	enum ibmad_send_state state;
	enum refs_place place;		/* the list of the port that it is on */
	unsigned int others;		/* internal sends on the port's lists */
	int told;			/* completions that the client got */
	enum ib_wc_status status;	/* of the last of them */
};

struct refs_world {
	struct fake_hca *hca;
	struct ib_mad_agent *agent;	/* NULL once deregistered */
	struct ibmad_agent *memory;	/* likewise, until it is freed */
	struct ibmad_port *port;
	unsigned int port_refs;		/* expected */
	struct ib_ah *ah;
	struct ib_mad_send_buf *buf;
	bool removed;			/* the adapter was removed before the agent */
	atomic_t told, received;
	enum ib_wc_status status;
	struct task_struct *thread;	/* runs the deregistration */
	struct completion returned;	/* it has returned */
};

extern struct refs_world refs;

int refs_open(const struct ib_mad_reg_req *req, u8 rmpp_version);
void refs_close(struct kunit *test);
/* Runs @steps up to the one without act(). */
void refs_run(struct kunit *test, const struct refs_step *steps);
u64 refs_counter(enum ibmad_counter counter);
struct ibmad_send_slot *refs_slot(void);	/* of its work request */

struct ib_mad_send_buf *refs_mad(u8 method, int rmpp, int len);
void refs_post(struct kunit *test, struct ib_mad_send_buf *buf);
/* Injects a MAD with the TID of the send, from its destination. */
void refs_inject(u8 method, u8 rmpp_type, u8 rmpp_flags, u32 seg, u32 paylen_newwin);

/* Steps: by the adapter, */
void completed(struct kunit *test);
void failed(struct kunit *test);
void flushed(struct kunit *test);
void fatal(struct kunit *test);
void lost(struct kunit *test);
void queue_held(struct kunit *test);	/* as by a recovery */
void queue_opened(struct kunit *test);
/* by time, */
void timed_out(struct kunit *test);
/* and by the client. */
void cancelled(struct kunit *test);
void cancelled_in_vain(struct kunit *test);
void deregister(struct kunit *test);
void still_deregistering(struct kunit *test);
void deregistered(struct kunit *test);
void adapter_removed(struct kunit *test);
void send_freed(struct kunit *test);

#endif
