/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_MAD_H
#define IBEX_MAD_H

/*
 * What the files of ib_mad share.  One section a file; each names what the file
 * owns.
 *
 * Lock order, outermost first:
 *	mqp->reset_mutex		(qp.c)		one recovery at a time
 *	port->reg_mutex			(agent.c)	registrations of a port
 *	agent->rmpp_mutex		(rmpp/recv.c)	its reassemblies
 *	  port->rahs_lock		(rmpp/way.c)	address handles of its transfers
 *	  agent->lock			(send.c)	its sends, their states, the TID table
 *	    mqp->send_lock		(sendq.c)	slots, lanes, the QP's send queue
 *	    mqp->recv_lock		(recv.c)	receive slots and posting
 *	    pool->lock			(pool.c)
 * All but the mutexes are taken with interrupts off: providers post MADs
 * under locks of their own that their interrupt handlers take.  No client
 * callback runs under any of them.
 *
 * The life of a send (IBA vol. 1, 13.4.6.3 for the requester's timers):
 *
 *  - From ib_post_send_mad() until it is completed, a send is on its agent's
 *    list (agent->sends).  From then until its work request completes it is on
 *    one of its port's as well: a lane of the backlog, or the QP's slots.  A
 *    resend puts it there again.  A request that flow control keeps back (HELD)
 *    is on its flow's list instead, until there is credit for it; it keeps that
 *    credit through all resends, until it is completed.
 *  - Each work request handed to the port holds a reference on the agent, taken
 *    before the device is asked for anything, released when that has completed.
 *    A send that expects a response holds one more, released when the response
 *    arrives, the wait times out or it is cancelled: the only one that a HELD send
 *    has.  An RMPP transfer is a work request of its own here (it ends with the
 *    last ACK, and not before its segments); each of its segments in flight holds
 *    another.
 *  - Each search for the way back to who sent an RMPP MAD holds a reference on the
 *    agent.  It ends by itself within the time of an address resolution.
 *  - A completed send and a received MAD go to the agent's inbox while a
 *    reference is held, so no reference means nothing more can enter the inbox.
 *  - Deregistration closes the agent to new sends, cancels those that wait for
 *    a response, in a lane or for credit, takes back what RMPP has in a lane, lets
 *    the posted ones finish (within IBMAD_DRAIN_MS; then the QP is reset, which
 *    completes them), waits until no reference remains and then until the inbox
 *    has been delivered.
 */
#include <linux/completion.h>
#include <linux/hashtable.h>
#include <linux/kref.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/rhashtable.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <kunit/visibility.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_smi.h>
#include <rdma/opa_smi.h>

#define IBMAD_DRAIN_MS		5000	/* a destroy waits this long for completions */
#define IBMAD_FLUSH_MS		2000	/* a QP in error flushes within this */
#define IBMAD_REMAKE_MS		1000U	/* no memory for a QP: the first pause */
#define IBMAD_REMAKE_MAX_MS	60000U	/* each is twice the last, up to this */
#define IBMAD_STALL_MS		20000	/* a lost completion has the QP reset */
#define IBMAD_MAX_REDO		3	/* reposts of a send flushed by another's error */
#define IBMAD_RESPONSE_BURST	16	/* responses sent before a waiting request */
#define IBMAD_MAX_ANSWERS	256	/* of this layer's own, that wait to be posted */
#define IBMAD_MAX_REPLIES	64	/* whose way back is still looked for */
#define IBMAD_SEND_SGE		1
#define IBMAD_MAX_TID_HI	((1U << 24) - 1) /* mlx4 takes the top byte */

struct ibmad_agent;
struct ibmad_flow;
struct ibmad_port;
struct ibmad_qp;
struct ibmad_recv;
struct ibmad_rmpp_send;
struct ibmad_send;

/* ---- main.c ---- */
extern unsigned int ibmad_send_depth;
extern unsigned int ibmad_recv_depth;
extern unsigned int ibmad_request_window;
extern unsigned long ibmad_rmpp_max_bytes;
extern struct workqueue_struct *ibmad_wq;	/* deliveries, recoveries */
extern struct workqueue_struct *ibmad_lookup_wq; /* ways to peers: a second each */

/*
 * ---- stats.c: per-port counters ----
 *
 * Of each MAD that came by wire one counter says what became of it, those marked
 * with = here: together they are IBMAD_RECEIVED.
 */
enum ibmad_counter {
	IBMAD_SENT,		/* work requests completed well */
	IBMAD_SEND_ERRORS,	/* work requests completed with an error */
	IBMAD_RETRIES,		/* requests sent again without a response */
	IBMAD_TIMEOUTS,		/* requests given up */
	IBMAD_CANCELS,		/* sends cancelled by the client */
	IBMAD_BACKLOGGED,	/* sends that found the send queue full */
	IBMAD_HELD_BACK,	/* requests that had to wait for credit */
	IBMAD_STRAY_WC,		/* completions of no posted work request */
	IBMAD_QP_RESETS,	/* QP recoveries through RESET */
	IBMAD_RECEIVED,		/* MADs received */
	IBMAD_RECV_MALFORMED,	/* bad length, version, class or QP */
	IBMAD_RECV_DELIVERED,	/* = given to an agent, but for RMPP segments */
	IBMAD_RECV_UNMATCHED,	/* = responses to no outstanding request */
	IBMAD_RECV_NO_AGENT,	/* = requests nobody registered for */
	IBMAD_RECV_NO_BUFFER,	/* dropped: no memory */
	IBMAD_RECV_OVERFLOW,	/* = dropped: the agent has too much to read */
	IBMAD_RECV_SMI_DROPPED,	/* = SMPs the SMI rules discard */
	IBMAD_RECV_FORWARDED,	/* = SMPs on their way through this switch */
	IBMAD_RECV_PROVIDER,	/* = taken by the provider (process_mad) */
	IBMAD_RECV_REPLIED,	/* answered on the provider's behalf */
	IBMAD_RMPP_SENT,	/* RMPP transfers sent whole */
	IBMAD_RMPP_RECEIVED,	/* RMPP transfers reassembled */
	IBMAD_RMPP_RESENT,	/* RMPP segments sent again */
	IBMAD_RMPP_ABORTED,	/* RMPP transfers aborted or stopped, either way */
	IBMAD_RMPP_SEGMENTS,	/* = RMPP segments reassembled */
	IBMAD_RMPP_CONTROLS,	/* = RMPP ACKs, STOPs and ABORTs of a transfer */
	IBMAD_RMPP_DROPPED,	/* = RMPP MADs dropped: duplicate, unmatched */
	IBMAD_SA_SHARED,	/* queries for paths that ride with another's MAD */
	IBMAD_NR_COUNTERS
};

/* What the counters of MADs by class tell apart (IBA 13.4.4). */
enum ibmad_class_group {
	IBMAD_CLASS_OTHER,
	IBMAD_CLASS_SM_LID,
	IBMAD_CLASS_SM_DIRECTED,
	IBMAD_CLASS_SA,
	IBMAD_CLASS_PERFORMANCE,
	IBMAD_CLASS_BOARD,
	IBMAD_CLASS_DEVICE_MGMT,
	IBMAD_CLASS_CM,
	IBMAD_CLASS_SNMP,
	IBMAD_CLASS_DEVICE_ADM,
	IBMAD_CLASS_BOOT,
	IBMAD_CLASS_BIS,
	IBMAD_CLASS_CC,
	IBMAD_CLASS_VENDOR,
	IBMAD_CLASS_VENDOR_OUI,
	IBMAD_NR_CLASS_GROUPS
};

struct ibmad_stats {
	u64 count[IBMAD_NR_COUNTERS];
	u64 sent[IBMAD_NR_CLASS_GROUPS];	/* add up to count[IBMAD_SENT] */
	u64 received[IBMAD_NR_CLASS_GROUPS];	/* to count[IBMAD_RECEIVED] */
};

void ibmad_stats_init(void);
int ibmad_stats_register(struct ibmad_port *port);
void ibmad_stats_unregister(struct ibmad_port *port);
/* A work request completed well; a valid MAD came: as such, and by class. */
void ibmad_count_sent(struct ibmad_port *port, const struct ib_mad_hdr *hdr);
void ibmad_count_received(struct ibmad_port *port, const struct ib_mad_hdr *hdr);

/* ---- pool.c: receive buffers, recycled ---- */
struct ibmad_pool {
	struct kref kref;		/* its QP's, and one of each buffer out */
	spinlock_t lock;
	struct llist_node *free;	/* protected by lock */
	unsigned int nr_free;		/* protected by lock */
	unsigned int max_free;		/* protected by lock; 0 once closed */
	size_t mad_size;		/* IB_MGMT_MAD_SIZE or OPA_MGMT_MAD_SIZE */
};

struct ibmad_pool *ibmad_pool_create(size_t mad_size, unsigned int max_free);
void ibmad_pool_close(struct ibmad_pool *pool);
struct ibmad_recv *ibmad_recv_alloc(struct ibmad_pool *pool, gfp_t gfp);
void ibmad_recv_free(struct ibmad_recv *recv);

/* ---- delivery.c: what an agent's client is still to be told, in order ---- */
enum ibmad_item_kind {
	IBMAD_ITEM_SENT,
	IBMAD_ITEM_RECEIVED,
};

struct ibmad_item {
	struct llist_node node;
	u8 kind;			/* enum ibmad_item_kind */
};

void ibmad_deliver_work(struct work_struct *work);
/* The caller holds a reference on the agent (agent->refs) across the call. */
void ibmad_deliver_send(struct ibmad_agent *agent, struct ibmad_send *send);
bool ibmad_deliver_recv(struct ibmad_agent *agent, struct ibmad_recv *recv,
			struct ib_mad_send_buf *send_buf);

/* ---- recv.c ---- */
/*
 * One receive buffer.  Owned in turn by a receive slot (posted), by the code
 * that dispatches it, by an agent's inbox and by the client, who gives it back
 * with ib_free_recv_mad().
 */
struct ibmad_recv {
	struct ib_mad_recv_wc recv_wc;
	struct ib_wc wc;
	struct ibmad_item item;
	bool local;			/* looped back, never on the wire */
	bool solicited;			/* answers a request of the agent's */
	bool untold;			/* the provider did not say how long it is */
	struct ib_mad_send_buf *send_buf; /* that request, for its handler */
	u32 rmpp_bytes;			/* of the transfer, in agent->rmpp_bytes */
	struct ibmad_pool *pool;
	u64 dma_addr;			/* valid while posted */

	/* What the device writes: a GRH, then the MAD (pool->mad_size). */
	struct ib_grh grh __aligned(ARCH_DMA_MINALIGN);
	u8 mad[];
};

struct ibmad_recv_slot {
	struct ib_cqe cqe;
	struct ibmad_qp *mqp;
	struct ibmad_recv *recv;	/* protected by recv_lock while posted */
	bool posted;			/* protected by recv_lock */
	struct list_head unposted;	/* mqp->unposted; recv_lock */
};

void ibmad_recv_done(struct ib_cq *cq, struct ib_wc *wc);
/* Posts every slot that is not; opens the queue.  The QP is in RTS. */
int ibmad_recvq_open(struct ibmad_qp *mqp);
void ibmad_recvq_close(struct ibmad_qp *mqp);
/* Takes back the buffers that the provider never completed (QP gone or in RESET). */
void ibmad_recvq_reclaim(struct ibmad_qp *mqp);
/* Hands a MAD that has passed validation to its agent; consumes @recv. */
void ibmad_recv_dispatch(struct ibmad_qp *mqp, struct ibmad_recv *recv);
/* Sets up recv_wc for a MAD of @len bytes whose wc is filled in. */
void ibmad_recv_init_wc(struct ibmad_recv *recv, size_t len);
/* Whether @recv belongs to a transfer that is in segments. */
bool ibmad_recv_is_rmpp(const struct ibmad_recv *recv);
/* Where it came from, if it has a GRH (or, RoCE v2, an IP header). */
bool ibmad_recv_sgid(const struct ibmad_recv *recv, union ib_gid *sgid);
bool ibmad_recv_valid(const struct ibmad_qp *mqp, const struct ibmad_recv *recv,
		      size_t len);

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
	bool queued;			/* in a lane; send_lock */
	bool posted;			/* in a slot; send_lock */
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

/* ---- sendq.c: the send queue of one QP ---- */
enum ibmad_lane {
	IBMAD_LANE_REDO,	/* flushed through no fault of their own */
	IBMAD_LANE_RESPONSE,
	IBMAD_LANE_REQUEST,
	IBMAD_NR_LANES
};

struct ibmad_send_slot {
	struct ib_cqe cqe;
	struct ibmad_qp *mqp;
	struct ibmad_send *send;	/* NULL unless posted; send_lock */
	unsigned int opening;		/* of the queue, that it was posted in */
};

/* -ENOMEM; does nothing if it is. */
int ibmad_send_map(struct ibmad_send *send);
void ibmad_send_unmap(struct ibmad_send *send);
int ibmad_sendq_post(struct ibmad_send *send);
/* Takes @send off its lane; false if its work request is on the QP already. */
bool ibmad_sendq_withdraw(struct ibmad_send *send);
void ibmad_sendq_open(struct ibmad_qp *mqp);
/* Nothing is posted any more; sends collect in the lanes. */
void ibmad_sendq_hold(struct ibmad_qp *mqp);
/* Takes every posted send (the QP is in RESET or gone) and, with @all, the
 * lanes' too, and completes them as flushed.  Without @all they are redone.
 */
void ibmad_sendq_reclaim(struct ibmad_qp *mqp, bool all);
void ibmad_sendq_done(struct ib_cq *cq, struct ib_wc *wc);
void ibmad_sendq_stall_work(struct work_struct *work);

/* ---- qp.c: QP0 and QP1 of a port ---- */
enum ibmad_qp_state {
	IBMAD_QP_HELD,		/* being brought up or reset: sends collect */
	IBMAD_QP_LIVE,
	IBMAD_QP_DEAD,		/* beyond repair, perhaps for a while, or going away */
};

struct ibmad_qp {
	struct ibmad_port *port;
	/* Made anew by recovery; reset_mutex, and while posting is open its lock. */
	struct ib_qp *qp;
	struct ib_cq *cq;		/* of both its queues; reset_mutex */
	/*
	 * What clients see in its stead (agent->pub.qp, wc.qp), for device, PD, port,
	 * type and number: it lives as long as the port.  No verb takes it.
	 */
	struct ib_qp pub;
	struct ibmad_pool *pool;
	wait_queue_head_t idle;		/* inflight, recv_posted or replies fell to 0 */

	spinlock_t send_lock;		/* see lock order */
	enum ibmad_qp_state state;	/* protected by send_lock */
	unsigned int opening;		/* how often it became live; send_lock */
	unsigned int inflight;		/* slots in use; send_lock */
	unsigned int next_slot;		/* to use, if it is free; send_lock */
	unsigned int oldest_slot;	/* posted first, if any is; send_lock */
	unsigned long progress;		/* jiffies of the oldest's turn; send_lock */
	bool stall_armed;		/* protected by send_lock */
	unsigned int backlog;		/* sends in the lanes; send_lock */
	unsigned int answers;		/* those of this layer's own; send_lock */
	unsigned int burst;		/* responses in a row; send_lock */
	struct list_head lane[IBMAD_NR_LANES]; /* protected by send_lock */
	struct ibmad_send_slot *send_slots;
	struct delayed_work stall_work;

	spinlock_t recv_lock;		/* see lock order */
	bool recv_open;			/* protected by recv_lock */
	unsigned int recv_posted;	/* protected by recv_lock */
	struct list_head unposted;	/* receive slots that could not be; recv_lock */
	struct ibmad_recv_slot *recv_slots;
	struct ib_mad *scratch;		/* process_mad's answer; the CQ's work */

	struct mutex reset_mutex;	/* one recovery at a time */
	bool gone;			/* protected by reset_mutex */
	bool lacking;			/* dead, and to be made again; reset_mutex */
	unsigned int remake_ms;		/* until it is tried again; reset_mutex */
	unsigned long flags;		/* IBMAD_QP_FATAL, IBMAD_QP_SICK */
	struct work_struct recover_work;
	struct delayed_work remake_work; /* armed under reset_mutex, while lacking */

	struct llist_head local;	/* sends of IBMAD_LOCAL */
	struct work_struct local_work;
	struct ib_mad_agent *responder;	/* local.c: sends the provider's replies */
	atomic_t replies;		/* local.c: that work items are to send */

	DECLARE_HASHTABLE(classes, 5);	/* RCU; written under port->reg_mutex */
};

#define IBMAD_QP_FATAL	0		/* bit: hand everything back on recovery */
#define IBMAD_QP_SICK	1		/* bit: flushes what was posted in RTS */

/* Whether the port has such a QP. */
static inline bool ibmad_qp_exists(const struct ibmad_qp *mqp)
{
	return mqp->pub.device;
}

int ibmad_qp_create(struct ibmad_port *port, struct ibmad_qp *mqp,
		    enum ib_qp_type type);
void ibmad_qp_destroy(struct ibmad_qp *mqp);
void ibmad_qp_recover(struct ibmad_qp *mqp);	/* any context */
void ibmad_qp_reset(struct ibmad_qp *mqp);	/* may sleep; hands all back */

/* ---- port.c: devices and ports ---- */
struct ibmad_port {
	struct kref kref;		/* its device's, and one of each agent */
	struct ib_device *device;
	struct ib_pd *pd;
	u32 port_num;
	bool opa;
	size_t mad_size;
	struct ibmad_stats __percpu *stats;
	struct ibmad_qp qp[2];		/* QP0, QP1 */
	bool stats_shown;		/* fixed once added */
	bool kept;			/* never freed: see qp_keep() */
	struct mutex reg_mutex;
	bool dead;			/* protected by reg_mutex */
	struct list_head agents;	/* protected by reg_mutex */
	/* rmpp/way.c: the ways of RMPP transfers, which share address handles. */
	struct mutex rahs_lock;
	unsigned int nr_rahs;		/* protected by rahs_lock */
	DECLARE_HASHTABLE(rahs, 6);	/* protected by rahs_lock */
};

static inline void ibmad_count(struct ibmad_port *port, enum ibmad_counter c)
{
	this_cpu_inc(port->stats->count[c]);
}

extern struct ib_client ibmad_client;
struct ibmad_port *ibmad_port_get(struct ib_device *device, u32 port_num);
void ibmad_port_put(struct ibmad_port *port);

/* ---- agent.c: registration ---- */
struct ibmad_class;

struct ibmad_agent {
	struct ib_mad_agent pub;
	struct ibmad_port *port;	/* referenced */
	struct ibmad_qp *mqp;		/* of port */
	struct kref kref;		/* memory: registration, each send buffer */
	refcount_t refs;		/* activity: see the head of this file */
	struct completion idle;		/* refs fell to 0 */
	bool closing;			/* protected by lock */
	bool ending;			/* port->reg_mutex */
	struct completion ended;	/* by its client or by the end of its port */
	struct llist_head inbox;
	struct work_struct deliver;
	atomic_t inbox_recvs;		/* unsolicited MADs in the inbox */
	struct list_head port_link;	/* port->agents; reg_mutex */
	struct ibmad_class *class;	/* NULL: only responses; reg_mutex */
	u8 mgmt_class;			/* fixed; 0: only responses */
	u8 mgmt_class_version;		/* fixed */
	DECLARE_BITMAP(methods, IB_MGMT_MAX_METHODS); /* fixed */
	struct rcu_head rcu;

	spinlock_t lock;		/* see lock order */
	struct list_head sends;		/* posted, not completed; lock */
	struct list_head controls;	/* RMPP's control MADs on the port; lock */
	struct rhltable by_tid;		/* those that expect a response; lock */
	struct ibmad_send *lone;	/* one more of those, or NULL; lock */
	struct rhashtable flows;	/* by destination; lock */
	struct ibmad_flow *last_flow;	/* the one used last, or NULL; lock */

	/* Agents of kernel RMPP alone; all protected by rmpp_mutex. */
	struct mutex rmpp_mutex;
	struct rhashtable rmpp_recvs;	/* reassemblies */
	struct rhltable rmpp_unasked;	/* those nobody asked for, by source */
	struct list_head rmpp_active;	/* by their last MAD, oldest first */
	struct list_head rmpp_done;	/* likewise */
	struct delayed_work rmpp_reap;
	unsigned int rmpp_nr;
	unsigned int rmpp_lookups;	/* under way: rmpp/way.c */
	bool rmpp_closed;
	/* In reassemblies and in the inbox; the inbox gives back without it. */
	atomic_long_t rmpp_bytes;
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

/* ---- smi.c: subnet management interface (IBA 14.2) ---- */
enum ibmad_smi_verdict {
	IBMAD_SMI_DISCARD,
	IBMAD_SMI_LOCAL,	/* for this node's SMA or SM */
	IBMAD_SMI_SEND,		/* out of the port named */
};

struct ibmad_smi_node {
	bool is_switch;
	u32 port_num;		/* the port it came in on; 0 on the send side */
	u32 num_ports;
};

enum ibmad_smi_verdict ibmad_smi_receive(void *smp, bool opa,
					 const struct ibmad_smi_node *node,
					 u32 *out_port);
enum ibmad_smi_verdict ibmad_smi_originate(void *smp, bool opa,
					   const struct ibmad_smi_node *node,
					   u32 *out_port);
bool ibmad_smi_is_opa(const struct ibmad_port *port,
		      const struct ib_mad_hdr *hdr);

/* ---- local.c: the provider's own agents behind process_mad ---- */
/* True if @recv was consumed (answered, forwarded, swallowed). */
bool ibmad_local_receive(struct ibmad_qp *mqp, struct ibmad_recv *recv,
			 size_t len);
/* Answers a request that no agent takes; consumes @recv. */
void ibmad_local_unmatched(struct ibmad_qp *mqp, struct ibmad_recv *recv);
/* Decides the route of an SMP that is being posted. */
int ibmad_local_route(struct ibmad_send *send);
void ibmad_local_queue(struct ibmad_send *send);
void ibmad_local_work(struct work_struct *work);
int ibmad_local_init(struct ibmad_qp *mqp);
void ibmad_local_exit(struct ibmad_qp *mqp);

/* ---- rmpp_*.c: reliable multi-packet (IBA 13.6) ---- */
int ibmad_rmpp_agent_init(struct ibmad_agent *agent);
/* Drops every reassembly; none starts any more.  May sleep. */
void ibmad_rmpp_agent_exit(struct ibmad_agent *agent);
void ibmad_rmpp_agent_free(struct ibmad_agent *agent);
/* A MAD of an active transfer, for an agent of kernel RMPP; consumes @recv. */
void ibmad_rmpp_receive(struct ibmad_agent *agent, struct ibmad_recv *recv);

int ibmad_rmpp_send_init(struct ibmad_send *send, gfp_t gfp);
void ibmad_rmpp_send_free(struct ibmad_send *send);
/* The next two under agent->lock. */
int ibmad_rmpp_send_start(struct ibmad_send *send);
/* Returns the references on the agent to release after the lock. */
unsigned int ibmad_rmpp_send_withdraw(struct ibmad_agent *agent,
				      struct ibmad_send *send);

#endif
