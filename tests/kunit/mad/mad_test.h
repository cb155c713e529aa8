/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_MAD_TEST_H
#define IBEX_MAD_TEST_H

/*
 * Two fake adapters, each with an agent of the same class on port 1: "asker" sends
 * requests, "server" responds.  The calls of their handlers are counted.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include "fake_hca.h"
#include "agent/agent.h"
#include "smi/smi.h"

#define TEST_CLASS	0x0a	/* vendor range 1: no RMPP header, no OUI */
#define SEND_DEPTH	128	/* ib_mad.send_queue_size by default */

struct mad_side {
	struct fake_hca *hca;
	struct ib_mad_agent *agent;
	struct ib_ah *ah;		/* to the other side */
	bool answers;			/* requests get a response */
	bool keep_sends;		/* the test frees what it has sent */
	unsigned int sleep_ms;		/* time that the receive handler takes */
	atomic_t sent, received, errors;
	enum ib_wc_status status;	/* of the last completion */
	u32 retries;			/* used by that send */
	unsigned long completed;	/* when it completed, in jiffies */
	struct ib_mad_send_buf *matched; /* of the last MAD received */
	__be64 tid;			/* of the last MAD received */
	char order[32];			/* R: received, S: sent */
	int events;
};

struct mad_pair {
	struct mad_side asker, server;
	/* The verdict of the sending adapter on its MADs: packets counted, dropped. */
	atomic_t wire_requests, wire_responses;
	int drop_requests, drop_responses;	/* so many of them; if negative, all */
	bool duplicate, hold_responses;
};

int mad_pair_init(struct kunit *test, struct mad_pair *pair,
		  enum rdma_link_layer link_layer);
/* Like mad_pair_init(), with both adapters as @quirks says. */
int mad_pair_init_quirks(struct kunit *test, struct mad_pair *pair,
			 enum rdma_link_layer link_layer,
			 const struct fake_hca_quirks *quirks);
void mad_pair_exit(struct mad_pair *pair);
struct ib_mad_send_buf *mad_request(struct mad_side *side, u32 timeout_ms,
				    int retries);
/* @buf may be an ERR_PTR, whose error is returned; frees @buf if posting fails. */
int mad_post_buf(struct ib_mad_send_buf *buf);
int mad_post(struct mad_side *side, u32 timeout_ms, int retries);
bool mad_wait(atomic_t *counter, int n);
/* Waits until all queues are empty. */
void mad_quiesce(struct mad_pair *pair);
u64 mad_counter(struct ib_mad_agent *agent, enum ibmad_counter counter);
/* Modifying QPs of @hca to INIT fails from now on, so a recovery loses the QP. */
void mad_refuse_init(struct fake_hca *hca);
void mad_expect_ms(struct kunit *test, unsigned long since, unsigned long until,
		   unsigned int ms);
/* Runs the timer of @send as if it had fired before it was last armed or disarmed. */
void mad_fire_late(struct ibmad_send *send);
void mad_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc);
void mad_received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
		  struct ib_mad_recv_wc *wc);
/* A MAD for the sender of @wc, to be posted by mad_reply_post(); or NULL. */
struct ib_mad_send_buf *mad_reply_new(struct ib_mad_agent *agent,
				      const struct ib_mad_recv_wc *wc,
				      int hdr_len);
void mad_reply_post(struct ib_mad_send_buf *buf);
/* An address handle, with a GRH if the port requires one. */
struct ib_ah *mad_ah_to(struct ib_mad_agent *from, u16 dlid);
struct ib_ah *mad_path(struct ib_mad_agent *from, struct fake_hca *to);

#endif
