/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBMAD_AGENT_H
#define IBMAD_AGENT_H

/* Agents: registration, sends, matching, flow control and delivery. */
#include "port/port.h"

/* ---- delivery.c: events that an agent's client has yet to receive, in order ---- */
void ibmad_deliver_work(struct work_struct *work);
/* The caller holds a reference on the agent (agent->refs) across the call. */
void ibmad_deliver_send(struct ibmad_agent *agent, struct ibmad_send *send);
bool ibmad_deliver_recv(struct ibmad_agent *agent, struct ibmad_recv *recv,
			struct ib_mad_send_buf *send_buf);
/*
 * Around what a completion does to the agent: if ibmad_deliver_begin() returns true, what is
 * added to the inbox from then on is delivered by ibmad_deliver_end().  Process context
 * without locks; the caller of ibmad_deliver_begin() holds a reference on the agent.
 */
bool ibmad_deliver_begin(struct ibmad_agent *agent);
void ibmad_deliver_end(struct ibmad_agent *agent);

/* ---- send.c: the client's sends and their state machine ---- */
enum ibmad_send_state {
	IBMAD_IDLE,		/* owned by the client */
	IBMAD_HELD,		/* waits for credit: flow.c */
	IBMAD_SENDING,		/* its work request is not complete */
	IBMAD_WAITING,		/* sent, timer armed, response expected */
	IBMAD_ANSWERED,		/* response arrived before its work request completed */
	IBMAD_CANCELLED,	/* cancelled before its work request completed */
	IBMAD_REFUSED,		/* response aborted before its work request completed */
	IBMAD_DONE,		/* in the inbox */
	IBMAD_NR_STATES
};

enum ibmad_send_event {
	IBMAD_EV_CREDIT,	/* flow control lets it go */
	IBMAD_EV_SENT,		/* work request complete, nothing expected */
	IBMAD_EV_SENT_EXPECT,	/* work request complete, response expected */
	IBMAD_EV_FAILED,	/* work request complete with an error */
	IBMAD_EV_RESPONSE,
	IBMAD_EV_TIMEOUT,	/* the timer fired, retries remain */
	IBMAD_EV_EXPIRED,	/* the timer fired, no retry remains */
	IBMAD_EV_CANCEL,
	IBMAD_EV_REFUSED,	/* the peer aborted the response */
	IBMAD_NR_EVENTS
};

/* The kinds of sends: clients of agents post IBMAD_CLIENT, the rest are internal. */
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

/* 256 bytes, so that with a MAD of 256 bytes it fits an object of 512. */
struct ibmad_send {
	/*
	 * The client's view.  In an internal send of rmpp/, context[0] belongs to that
	 * code.
	 */
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
	bool mapped;			/* changed by the owner: see ibmad_send_map() */
	u8 refusal;			/* RMPP status of the abort; agent->lock */
	u16 pkey_index;
	u16 retries_left;		/* agent->lock */
	u32 remote_qpn;
	u32 out_port;			/* of an SMP on a switch; fixed while posted */
	u32 length;			/* bytes on the wire, of one segment at most */
	union {
		/* Until DONE: the flow that gave it credit, or NULL; agent->lock. */
		struct ibmad_flow *flow;
		struct {		/* in DONE */
			enum ib_wc_status status;
			u32 vendor_err;
		};
	};
	u64 dma_addr;			/* valid while mapped */
	unsigned long deadline;		/* jiffies; agent->lock */
	/*
	 * On agent->sends; an RMPP segment on its transfer's list, a control MAD on
	 * agent->controls.
	 */
	struct list_head agent_link;	/* agent->lock */
	/* In a lane: send_lock.  While HELD, on its flow's list: agent->lock. */
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
 * Starts @send on its route.  Under agent->lock.  On success ibmad_send_wr_done()
 * follows, which waits for that lock.
 */
int ibmad_send_start(struct ibmad_send *send);
/*
 * The work request of @send is complete (and @send is on no list of the port).
 * Releases that work request's reference on the agent; @send may have been freed on
 * return.
 */
void ibmad_send_wr_done(struct ibmad_send *send, enum ib_wc_status status,
			u32 vendor_err);
/*
 * If @recv is the response to a request of the agent, delivers it, moves the request on
 * and returns true; @recv is consumed then.
 */
bool ibmad_send_answer(struct ibmad_agent *agent, struct ibmad_recv *recv);
/*
 * Whether the agent waits for the response that @recv is a segment of.  With @new (a
 * segment not yet received) the response timer of the request starts anew.
 */
bool ibmad_send_is_due(struct ibmad_agent *agent, const struct ibmad_recv *recv,
		       bool new);
/*
 * The next two run under agent->lock; they report the references on the agent to
 * release after dropping it.
 *
 * The peer aborted the response that @recv is part of, with @rmpp_status: completes the
 * request.  Returns whether there was such a request.
 */
bool ibmad_send_refused(struct ibmad_agent *agent, const struct ibmad_recv *recv,
			u8 rmpp_status, unsigned int *puts);
/* As ibmad_send_wr_done(), but under agent->lock. */
unsigned int ibmad_send_sent(struct ibmad_agent *agent, struct ibmad_send *send,
			     enum ib_wc_status status, u32 vendor_err);
/* Cancels every send of a closed agent. */
void ibmad_send_cancel_all(struct ibmad_agent *agent);
/* The timer of a send, under agent->lock. */
void ibmad_send_arm(struct ibmad_send *send, unsigned long delay);
void ibmad_send_disarm(struct ibmad_send *send);
/*
 * Starts a HELD send, which has credit now.  Under agent->lock; returns the references
 * on the agent to release after dropping it.  @send may be complete on return.
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
	IBMAD_ACT_WITHDRAW,	/* need not be sent any more: take it off its lane */
};

#if IS_ENABLED(CONFIG_KUNIT)
const struct ibmad_send_step *ibmad_send_step(enum ibmad_send_state state,
					      enum ibmad_send_event event);
#endif

/* ---- match.c: which send a received MAD belongs to ---- */
int ibmad_match_init(struct ibmad_agent *agent);
void ibmad_match_exit(struct ibmad_agent *agent);
/*
 * The rest run under agent->lock.  -EEXIST if @send is an RMPP transfer whose ACKs could
 * not be told from those of another.
 */
int ibmad_match_add(struct ibmad_agent *agent, struct ibmad_send *send);
void ibmad_match_del(struct ibmad_agent *agent, struct ibmad_send *send);
/*
 * The request that @recv answers or, with @control, the transfer that it is a
 * control MAD of; or NULL.
 */
struct ibmad_send *ibmad_match_find(struct ibmad_agent *agent,
				    const struct ibmad_recv *recv, bool control);

/* ---- flow.c: limits the requests an agent has outstanding to one destination ---- */
int ibmad_flow_init(struct ibmad_agent *agent);
void ibmad_flow_exit(struct ibmad_agent *agent);	/* no send is left */
/*
 * The rest run under agent->lock.  Whether @send, newly on the agent's list, may be
 * sent at once; if not it is HELD.
 */
bool ibmad_flow_admit(struct ibmad_agent *agent, struct ibmad_send *send);
/* Arms the timer of a HELD send, by its timeout_ms and retries. */
void ibmad_flow_arm(struct ibmad_send *send);
/* @send is no longer HELD: takes it off its flow's list and disarms its timer. */
void ibmad_flow_leave(struct ibmad_send *send);
/*
 * A send that had credit is complete: starts HELD sends that can have its credit.
 * Returns the references on the agent to release after dropping the lock.
 */
unsigned int ibmad_flow_release(struct ibmad_agent *agent,
				struct ibmad_flow *flow);

/* ---- agent.c: registration ---- */

/* Versions of classes are small numbers, and those of Omni-Path begin at 0x80. */
#define IBMAD_MAX_CLASS_VERSION	0x82

struct ibmad_class;

/* For agents for which RMPP is done here; protected by mutex except where noted. */
struct ibmad_agent_rmpp {
	struct mutex mutex;	/* see the head of mad.h */
	struct rhashtable recvs;	/* reassemblies */
	struct rhltable unasked;	/* unsolicited ones, by source */
	struct list_head active;	/* unfinished ones, least recently active first */
	struct list_head done;		/* finished ones, likewise */
	struct delayed_work reap;
	unsigned int nr;
	unsigned int lookups;		/* in progress: rmpp/way.c */
	bool closed;
	/*
	 * Bytes in reassemblies and in the inbox; delivery subtracts them without the
	 * mutex.
	 */
	atomic_long_t bytes;
};

#define IBMAD_DELIVERING	0	/* bit of ibmad_agent.delivering */

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
	struct completion ended;	/* agent_end() is done with it */

	/* Delivery */
	struct llist_head inbox;
	struct work_struct deliver;
	unsigned long delivering;	/* bit IBMAD_DELIVERING: delivery.c */
	atomic_t inbox_recvs;		/* unsolicited MADs in the inbox */

	/* Sends, matching and flow control; all but refs and idle protected by lock. */
	spinlock_t lock;		/* see mad.h for the lock order */
	refcount_t refs;		/* activity: see the head of mad.h */
	struct completion idle;		/* refs fell to 0 */
	bool closing;
	struct list_head sends;		/* posted, not completed */
	struct list_head controls;	/* RMPP's control MADs on the port */
	struct rhltable by_tid;		/* sends that expect a response or ACKs */
	struct ibmad_send *lone;	/* one such send that is not in by_tid, or NULL */
	struct rhashtable flows;	/* by destination */
	struct ibmad_flow *last_flow;	/* the most recently used, or NULL */

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
/* The agent whose hi_tid is in @tid, with agent->refs taken; or NULL. */
struct ibmad_agent *ibmad_agent_by_tid(struct ibmad_qp *mqp, __be64 tid);
/* Ends all activity of the port's agents, before the port is destroyed. */
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
/* Returns the agent with agent->refs taken, or NULL. */
struct ibmad_agent *ibmad_dispatch_find(struct ibmad_qp *mqp,
					const struct ib_mad_hdr *hdr);

/* ---- class.c: what is fixed about a management class ---- */
bool ibmad_class_is_vendor2(u8 mgmt_class);
bool ibmad_class_is_smp(u8 mgmt_class);
/*
 * Bytes at the start of a MAD of this class that this layer reads, whichever agent it
 * is for.  An SMP is taken to have the headers of an Omni-Path SMP.
 */
size_t ibmad_class_hdr_len(u8 mgmt_class);

#endif
