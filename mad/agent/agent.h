/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBMAD_AGENT_H
#define IBMAD_AGENT_H

/* Agents: registration, sends, matching, flow control and delivery. */
#include "port/port.h"

/* ---- delivery.c: what an agent's client is still to be told, in order ---- */
void ibmad_deliver_work(struct work_struct *work);
/* The caller holds a reference on the agent (agent->refs) across the call. */
void ibmad_deliver_send(struct ibmad_agent *agent, struct ibmad_send *send);
bool ibmad_deliver_recv(struct ibmad_agent *agent, struct ibmad_recv *recv,
			struct ib_mad_send_buf *send_buf);

/* ---- send.c: the client's sends and their state machine ---- */
enum ibmad_send_state {
	IBMAD_IDLE,		/* the client's */
	IBMAD_HELD,		/* waits for credit: flow.c */
	IBMAD_SENDING,		/* its work request is not complete */
	IBMAD_WAITING,		/* sent, timer armed, response expected */
	IBMAD_ANSWERED,		/* response came before its work request completed */
	IBMAD_CANCELLED,	/* cancelled before its work request completed */
	IBMAD_REFUSED,		/* the response was aborted before that completed */
	IBMAD_DONE,		/* in the inbox */
	IBMAD_NR_STATES
};

enum ibmad_send_event {
	IBMAD_EV_CREDIT,	/* it may go */
	IBMAD_EV_SENT,		/* work request complete, nothing expected */
	IBMAD_EV_SENT_EXPECT,	/* work request complete, response expected */
	IBMAD_EV_FAILED,	/* work request complete with an error */
	IBMAD_EV_RESPONSE,
	IBMAD_EV_TIMEOUT,	/* and retries remain */
	IBMAD_EV_EXPIRED,	/* and none remains */
	IBMAD_EV_CANCEL,
	IBMAD_EV_REFUSED,	/* the peer aborted the response */
	IBMAD_NR_EVENTS
};

/* How a send leaves; the agent's sends are IBMAD_CLIENT, the rest internal. */
enum ibmad_send_kind {
	IBMAD_CLIENT,
	IBMAD_RMPP_SEGMENT,	/* one DATA segment of an RMPP transfer */
	IBMAD_RMPP_CONTROL,	/* an RMPP ACK, STOP or ABORT */
	IBMAD_FORWARD,		/* an SMP on its way through a switch */
};

enum ibmad_send_route {
	IBMAD_WIRE,		/* through the QP */
	IBMAD_LOCAL,		/* an SMP for this node: process_mad, no QP */
	IBMAD_RMPP,		/* as segments, by rmpp/send.c */
};

/* Where the port has a send while its work request is not complete. */
enum ibmad_send_place {
	IBMAD_NOWHERE,		/* the port does not have it */
	IBMAD_IN_LANE,
	IBMAD_IN_SLOT,		/* of the send queue: posted to the QP */
};

/* 256 bytes, so that with a MAD of 256 it is one object of 512. */
struct ibmad_send {
	/* The client's view; context[0] of an internal send is rmpp_*.c's. */
	struct ib_mad_send_buf buf;
	refcount_t refs;		/* the owner's, and one of an armed timer */
	u8 state;			/* enum ibmad_send_state; agent->lock */
	u8 kind;			/* fixed */
	u8 route;			/* fixed while posted */
	u8 lane;			/* fixed while posted */
	u8 redo;			/* send_lock */
	bool expects;			/* fixed while posted: a response is due */
	bool matchable;			/* by a response or an ACK; agent->lock */
	u8 place;			/* enum ibmad_send_place; send_lock */
	bool mapped;			/* for who has it: see ibmad_send_map() */
	u8 refusal;			/* why its response is not to come; agent->lock */
	u16 pkey_index;
	u16 retries_left;		/* agent->lock */
	u32 remote_qpn;
	u32 out_port;			/* of an SMP on a switch; fixed while posted */
	u32 length;			/* bytes on the wire, of one segment at most */
	union {
		/* Until DONE: where its credit is from, if any; agent->lock. */
		struct ibmad_flow *flow;
		struct {		/* in DONE */
			enum ib_wc_status status;
			u32 vendor_err;
		};
	};
	u64 dma_addr;			/* valid while mapped */
	unsigned long deadline;		/* jiffies; agent->lock */
	/* agent->sends; of what RMPP sends, the transfer's or agent->controls. */
	struct list_head agent_link;	/* agent->lock */
	/* A lane: send_lock.  HELD: its flow's, agent->lock. */
	struct list_head port_link;
	struct timer_list timer;	/* armed and disarmed under agent->lock */
	struct rhlist_head tid_node;	/* agent->by_tid; agent->lock */
	__be64 tid;			/* key of tid_node, copied at post */
	struct ibmad_item item;
	struct ibmad_rmpp_send *rmpp;	/* NULL unless kernel RMPP */
};

static inline struct ibmad_send *to_send(struct ib_mad_send_buf *buf)
{
	return container_of(buf, struct ibmad_send, buf);
}

/* A send of @kind with room for a MAD of @room bytes, zeroed; refs is 1. */
struct ibmad_send *ibmad_send_alloc(struct ibmad_agent *agent,
				    enum ibmad_send_kind kind, size_t room,
				    gfp_t gfp);
void ibmad_send_put(struct ibmad_send *send);
/*
 * Hands @send to where it is routed; under agent->lock.  On success
 * ibmad_send_wr_done() follows, which waits for that lock.
 */
int ibmad_send_start(struct ibmad_send *send);
/*
 * The work request of @send is complete (and is on no list of the port's).
 * Releases that work request's reference on the agent; @send may be gone then.
 */
void ibmad_send_wr_done(struct ibmad_send *send, enum ib_wc_status status,
			u32 vendor_err);
/*
 * Gives a response to the agent if it answers one of its requests, which moves
 * on; consumes @recv then.
 */
bool ibmad_send_answer(struct ibmad_agent *agent, struct ibmad_recv *recv);
/*
 * Whether the response is due that @recv is a part of.  If it is a @new part, the
 * wait for the rest begins anew.
 */
bool ibmad_send_is_due(struct ibmad_agent *agent, const struct ibmad_recv *recv,
		       bool new);
/*
 * The next two under agent->lock; they tell the references on the agent to release
 * after it.  The response to a request will not come, for @rmpp_status: complete it.
 * Answers whether there was one.
 */
bool ibmad_send_refused(struct ibmad_agent *agent, const struct ibmad_recv *recv,
			u8 rmpp_status, unsigned int *puts);
/* As ibmad_send_wr_done(). */
unsigned int ibmad_send_sent(struct ibmad_agent *agent, struct ibmad_send *send,
			     enum ib_wc_status status, u32 vendor_err);
/* Cancels every send of a closed agent. */
void ibmad_send_cancel_all(struct ibmad_agent *agent);
/* The timer of a send, under agent->lock. */
void ibmad_send_arm(struct ibmad_send *send, unsigned long delay);
void ibmad_send_disarm(struct ibmad_send *send);
/*
 * A HELD send may go.  Under agent->lock; returns the references on the agent to
 * release after it: it may be complete already.
 */
unsigned int ibmad_send_credit(struct ibmad_agent *agent,
			       struct ibmad_send *send);

struct ibmad_send_step {
	u8 next;			/* enum ibmad_send_state */
	u8 action;			/* enum ibmad_send_action */
};

enum ibmad_send_action {
	IBMAD_ACT_NONE,
	IBMAD_ACT_START,	/* hand it to the port */
	IBMAD_ACT_WAIT,		/* arm the response timer */
	IBMAD_ACT_RESEND,
	IBMAD_ACT_SUCCEED,	/* complete: IB_WC_SUCCESS */
	IBMAD_ACT_FAIL,		/* complete: the status that came with the event */
	IBMAD_ACT_REFUSE,	/* complete: IB_WC_REM_ABORT_ERR */
	IBMAD_ACT_EXPIRE,	/* complete: IB_WC_RESP_TIMEOUT_ERR */
	IBMAD_ACT_FLUSH,	/* complete: IB_WC_WR_FLUSH_ERR */
	IBMAD_ACT_WITHDRAW,	/* no need to send any more: leave the port's lane */
};

#if IS_ENABLED(CONFIG_KUNIT)
const struct ibmad_send_step *ibmad_send_step(enum ibmad_send_state state,
					      enum ibmad_send_event event);
#endif

/* ---- match.c: which send a received MAD belongs to ---- */
int ibmad_match_init(struct ibmad_agent *agent);
void ibmad_match_exit(struct ibmad_agent *agent);
/*
 * The rest under agent->lock.  -EEXIST if @send is an RMPP transfer whose ACKs
 * could not be told from those of another.
 */
int ibmad_match_add(struct ibmad_agent *agent, struct ibmad_send *send);
void ibmad_match_del(struct ibmad_agent *agent, struct ibmad_send *send);
/*
 * The request that @recv answers or, with @control, the transfer that it is a
 * control MAD of; or NULL.
 */
struct ibmad_send *ibmad_match_find(struct ibmad_agent *agent,
				    const struct ibmad_recv *recv, bool control);

/* ---- flow.c: how many requests an agent has out to one destination ---- */
int ibmad_flow_init(struct ibmad_agent *agent);
void ibmad_flow_exit(struct ibmad_agent *agent);	/* no send is left */
/*
 * The rest under agent->lock.  Whether @send, newly on the agent's list, may go at
 * once; if not it is HELD.
 */
bool ibmad_flow_admit(struct ibmad_agent *agent, struct ibmad_send *send);
/* The timer of a HELD send, by its timeout_ms. */
void ibmad_flow_arm(struct ibmad_send *send);
/* @send is HELD no longer, whatever becomes of it. */
void ibmad_flow_leave(struct ibmad_send *send);
/*
 * A send with credit is done: starts those that waited for it.  Returns the
 * references on the agent to release after the lock.
 */
unsigned int ibmad_flow_release(struct ibmad_agent *agent,
				struct ibmad_flow *flow);

/* ---- agent.c: registration ---- */
struct ibmad_class;

/* Of an agent of kernel RMPP; all protected by mutex but where noted. */
struct ibmad_agent_rmpp {
	struct mutex mutex;	/* see the head of mad.h */
	struct rhashtable recvs;	/* reassemblies */
	struct rhltable unasked;	/* those nobody asked for, by source */
	struct list_head active;	/* by their last MAD, oldest first */
	struct list_head done;		/* likewise */
	struct delayed_work reap;
	unsigned int nr;
	unsigned int lookups;		/* under way: rmpp/way.c */
	bool closed;
	/* In reassemblies and in the inbox; the inbox gives back without the mutex. */
	atomic_long_t bytes;
};

struct ibmad_agent {
	struct ib_mad_agent pub;
	struct ibmad_port *port;	/* referenced */
	struct ibmad_qp *mqp;		/* of port */
	struct kref kref;		/* memory: registration, each send buffer */
	struct rcu_head rcu;

	/* Registration: agent.c, dispatch.c */
	struct list_head port_link;	/* port->agents; reg_mutex */
	struct ibmad_class *class;	/* NULL: only responses; reg_mutex */
	u8 mgmt_class;			/* fixed; 0: only responses */
	u8 mgmt_class_version;		/* fixed */
	DECLARE_BITMAP(methods, IB_MGMT_MAX_METHODS); /* fixed */
	bool ending;			/* port->reg_mutex */
	struct completion ended;	/* by its client or by the end of its port */

	/* Delivery */
	struct llist_head inbox;
	struct work_struct deliver;
	atomic_t inbox_recvs;		/* unsolicited MADs in the inbox */

	/* Sends, matching and flow control; all but refs and idle protected by lock. */
	spinlock_t lock;		/* see lock order */
	refcount_t refs;		/* activity: see the head of mad.h */
	struct completion idle;		/* refs fell to 0 */
	bool closing;
	struct list_head sends;		/* posted, not completed */
	struct list_head controls;	/* RMPP's control MADs on the port */
	struct rhltable by_tid;		/* those that expect a response */
	struct ibmad_send *lone;	/* one more of those, or NULL */
	struct rhashtable flows;	/* by destination */
	struct ibmad_flow *last_flow;	/* the one used last, or NULL */

	struct ibmad_agent_rmpp rmpp;
};

static inline struct ibmad_agent *to_agent(const struct ib_mad_agent *pub)
{
	return container_of(pub, struct ibmad_agent, pub);
}

static inline struct ibmad_agent *send_agent(const struct ibmad_send *send)
{
	return to_agent(send->buf.mad_agent);
}

static inline void ibmad_agent_put_n(struct ibmad_agent *agent, unsigned int n)
{
	if (n && refcount_sub_and_test(n, &agent->refs))
		complete(&agent->idle);
}

static inline void ibmad_agent_put(struct ibmad_agent *agent)
{
	ibmad_agent_put_n(agent, 1);
}

struct ibmad_agent *ibmad_agent_create(struct ibmad_qp *mqp,
				       const struct ib_mad_reg_req *req,
				       u8 rmpp_version,
				       ib_mad_send_handler send_handler,
				       ib_mad_recv_handler recv_handler,
				       void *context, u32 flags);
void ibmad_agent_release(struct kref *kref);
/* With agent->refs taken, or NULL: whose request has this TID. */
struct ibmad_agent *ibmad_agent_by_tid(struct ibmad_qp *mqp, __be64 tid);
/* Ends all activity of the port's agents; the port is going away. */
void ibmad_agents_detach(struct ibmad_port *port);

#if IS_ENABLED(CONFIG_KUNIT)
extern u32 ibmad_agent_next_id;
#endif

/* ---- dispatch.c: unsolicited MADs to agents, by class, version, method ---- */
struct ibmad_class {
	struct hlist_node node;		/* mqp->classes; reg_mutex, RCU */
	u8 mgmt_class;
	u8 version;
	u32 oui;			/* 0 outside of vendor range 2 */
	unsigned int users;		/* agents; reg_mutex */
	struct rcu_head rcu;
	struct ibmad_agent __rcu *method[IB_MGMT_MAX_METHODS];
};

int ibmad_dispatch_add(struct ibmad_agent *agent,
		       const struct ib_mad_reg_req *req);
void ibmad_dispatch_del(struct ibmad_agent *agent);
/* With agent->refs taken, or NULL. */
struct ibmad_agent *ibmad_dispatch_find(struct ibmad_qp *mqp,
					const struct ib_mad_hdr *hdr);

/* ---- class.c: what is fixed about a management class ---- */
bool ibmad_class_is_vendor2(u8 mgmt_class);
bool ibmad_class_is_smp(u8 mgmt_class);
/*
 * What is looked at of a MAD of this class, whoever it is for.  An SMP is one of
 * Omni-Path's, as long as its header and what is behind that.
 */
size_t ibmad_class_hdr_len(u8 mgmt_class);

#endif
