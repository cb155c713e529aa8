// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Flow control for solicited MADs.  Datagrams have none: a receive queue that
 * overflows, here or at the peer, loses MADs silently.  So an agent has at most
 * ibmad_request_window requests outstanding to one destination.  Further ones are HELD,
 * in the order in which they were posted, and each is sent when a request of the same
 * flow completes.  A client that requests thousands of records at once gets them as
 * fast as the peer can send them, not as fast as its retries occur.
 *
 * A flow stands for a destination with outstanding requests.  It is found by address,
 * not by address handle, since userspace causes a handle to be created for each MAD;
 * directed-route SMPs share one flow.  The flow used last is kept, so an agent with one
 * peer allocates none for each request.  A flow with HELD sends always has outstanding
 * requests, whose completion starts them, so no HELD send is left behind.  While the
 * agent is closing no credit is given out, since all HELD sends are about to be
 * cancelled.  Everything here is protected by agent->lock.
 */
#include <linux/slab.h>
#include "agent/agent.h"
#include "port/port.h"

/*
 * Compared byte by byte.  handle is set if the provider cannot tell the address of an
 * AH.
 */
struct flow_key {
	union ib_gid dgid;
	u32 dlid;			/* 0 with a GID */
	u32 qpn;
	u64 handle;
};

struct ibmad_flow {
	struct flow_key key;
	unsigned int outstanding;	/* requests that have credit */
	bool pumping;			/* flow_pump() is running on it */
	struct list_head held;		/* HELD sends, by port_link */
	struct rhash_head node;		/* agent->flows */
};

static const struct rhashtable_params flow_params = {
	.key_len = sizeof_field(struct ibmad_flow, key),
	.key_offset = offsetof(struct ibmad_flow, key),
	.head_offset = offsetof(struct ibmad_flow, node),
	.nelem_hint = 3,
	.automatic_shrinking = true,
};

int ibmad_flow_init(struct ibmad_agent *agent)
{
	return rhashtable_init(&agent->flows, &flow_params);
}

static void flow_free(void *ptr, void *arg)
{
	struct ibmad_flow *flow = ptr;

	WARN_ON(flow->outstanding || !list_empty(&flow->held));
	kfree(flow);
}

void ibmad_flow_exit(struct ibmad_agent *agent)
{
	rhashtable_free_and_destroy(&agent->flows, flow_free, NULL);
}

static unsigned int flow_limit(void)
{
	return READ_ONCE(ibmad_request_window) ?: UINT_MAX;
}

static bool flow_is_idle(const struct ibmad_flow *flow)
{
	return !flow->outstanding && list_empty(&flow->held) && !flow->pumping;
}

static void flow_forget(struct ibmad_agent *agent, struct ibmad_flow *flow)
{
	rhashtable_remove_fast(&agent->flows, &flow->node, flow_params);
	kfree(flow);
}

static void flow_get_key(const struct ibmad_send *send, struct flow_key *key)
{
	struct rdma_ah_attr attr = {};

	*key = (struct flow_key){ .qpn = send->remote_qpn };
	if (rdma_query_ah(send->buf.ah, &attr))
		key->handle = (unsigned long)send->buf.ah;
	else if (rdma_ah_get_ah_flags(&attr) & IB_AH_GRH)
		key->dgid = rdma_ah_read_grh(&attr)->dgid;
	else
		key->dlid = rdma_ah_get_dlid(&attr);
}

static struct ibmad_flow *flow_new(struct ibmad_agent *agent,
				   const struct flow_key *key)
{
	struct ibmad_flow *flow;

	flow = kzalloc(sizeof(*flow), GFP_ATOMIC | __GFP_NOWARN);
	if (!flow)
		return NULL;
	flow->key = *key;
	INIT_LIST_HEAD(&flow->held);
	if (rhashtable_insert_fast(&agent->flows, &flow->node, flow_params)) {
		kfree(flow);
		return NULL;
	}
	return flow;
}

/* The flow of @send, which becomes the last used; NULL if there is no memory. */
static struct ibmad_flow *flow_find(struct ibmad_agent *agent,
				    const struct ibmad_send *send)
{
	struct ibmad_flow *last = agent->last_flow, *flow;
	struct flow_key key;

	flow_get_key(send, &key);
	if (last && !memcmp(&last->key, &key, sizeof(key)))
		return last;
	flow = rhashtable_lookup_fast(&agent->flows, &key, flow_params);
	if (!flow)
		flow = flow_new(agent, &key);
	if (!flow)
		return NULL;
	agent->last_flow = flow;
	if (last && flow_is_idle(last))
		flow_forget(agent, last);
	return flow;
}

/*
 * Flow control does not apply to responses, which the window of the requester bounds;
 * to RMPP transfers, which have a window of their own; nor to messages of the CM: its
 * REQ, REP and DREQ wait for one another crosswise (a REP is a request itself, for the
 * RTU), so two hosts that connect to each other could each hold the credit that the
 * other waits for.
 */
static bool flow_applies(const struct ibmad_send *send)
{
	const struct ib_mad_hdr *hdr = send->buf.mad;

	return send->kind == IBMAD_CLIENT && send->expects &&
	       send->route == IBMAD_WIRE && send->lane == IBMAD_LANE_REQUEST &&
	       hdr->mgmt_class != IB_MGMT_CLASS_CM;
}

/* A send is held no longer than it could have waited for its response. */
void ibmad_flow_arm(struct ibmad_send *send)
{
	u64 ms;

	if (send->buf.timeout_ms < 0)
		return;
	ms = (u64)send->buf.timeout_ms * (1 + send->retries_left);
	ibmad_send_arm(send, msecs_to_jiffies(min_t(u64, ms, INT_MAX)));
}

bool ibmad_flow_admit(struct ibmad_agent *agent, struct ibmad_send *send)
{
	struct ibmad_flow *flow;

	lockdep_assert_held(&agent->lock);
	if (!READ_ONCE(ibmad_request_window) || !flow_applies(send))
		return true;
	flow = flow_find(agent, send);
	/* No memory for a flow: send it without credit rather than not at all. */
	if (!flow)
		return true;
	if (list_empty(&flow->held) && flow->outstanding < flow_limit()) {
		flow->outstanding++;
		send->flow = flow;
		return true;
	}
	WRITE_ONCE(send->state, IBMAD_HELD);
	list_add_tail(&send->port_link, &flow->held);
	ibmad_flow_arm(send);
	ibmad_count(agent->port, IBMAD_HELD_BACK);
	return false;
}

void ibmad_flow_leave(struct ibmad_send *send)
{
	lockdep_assert_held(&send_agent(send)->lock);
	list_del_init(&send->port_link);
	ibmad_send_disarm(send);
}

/*
 * Starts HELD sends while there is credit.  A send that fails to start completes at
 * once and releases its credit inside ibmad_send_credit(); because of pumping, this
 * loop and not that nested call starts the next.  The loop runs at most once for each
 * HELD send: for all of them if the QP is dead.
 */
static unsigned int flow_pump(struct ibmad_agent *agent, struct ibmad_flow *flow)
{
	unsigned int puts = 0;
	struct ibmad_send *send;

	if (flow->pumping || agent->closing)
		return 0;
	flow->pumping = true;
	while (!list_empty(&flow->held) && flow->outstanding < flow_limit()) {
		send = list_first_entry(&flow->held, struct ibmad_send,
					port_link);
		flow->outstanding++;
		send->flow = flow;
		puts += ibmad_send_credit(agent, send);
	}
	flow->pumping = false;
	return puts;
}

unsigned int ibmad_flow_release(struct ibmad_agent *agent,
				struct ibmad_flow *flow)
{
	unsigned int puts;

	lockdep_assert_held(&agent->lock);
	WARN_ON_ONCE(!flow->outstanding);
	flow->outstanding--;
	puts = flow_pump(agent, flow);
	if (flow_is_idle(flow) && flow != agent->last_flow)
		flow_forget(agent, flow);
	return puts;
}
