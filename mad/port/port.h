/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBMAD_PORT_H
#define IBMAD_PORT_H

/* Devices, ports, their special QPs, and the send and receive queues of those. */
#include "mad.h"

/*
 * ---- stats.c: per-port counters ----
 *
 * Each MAD received from the wire is counted by exactly one of the counters marked
 * with =; their sum is IBMAD_RECEIVED.
 */
enum ibmad_counter {
	IBMAD_SENT,		/* work requests completed successfully */
	IBMAD_SEND_ERRORS,	/* work requests completed with an error */
	IBMAD_RETRIES,		/* requests sent again without a response */
	IBMAD_TIMEOUTS,		/* requests given up */
	IBMAD_CANCELS,		/* sends cancelled by the client */
	IBMAD_BACKLOGGED,	/* sends that found the send queue full */
	IBMAD_HELD_BACK,	/* requests that had to wait for credit */
	IBMAD_STRAY_WC,		/* completions of no posted work request */
	IBMAD_QP_RESETS,	/* QP recoveries through RESET */
	IBMAD_RECEIVED,		/* MADs received */
	IBMAD_RECV_MALFORMED,	/* bad length, version, class, method or QP */
	IBMAD_RECV_DELIVERED,	/* = delivered to an agent, except RMPP segments */
	IBMAD_RECV_UNMATCHED,	/* = responses to no outstanding request */
	IBMAD_RECV_NO_AGENT,	/* = requests that no agent registered for */
	IBMAD_RECV_NO_BUFFER,	/* dropped: no memory */
	IBMAD_RECV_OVERFLOW,	/* = dropped: a limit of the agent is reached */
	IBMAD_RECV_SMI_DROPPED,	/* = SMPs the SMI rules discard */
	IBMAD_RECV_FORWARDED,	/* = SMPs forwarded by this switch */
	IBMAD_RECV_PROVIDER,	/* = consumed by the provider (process_mad) */
	IBMAD_RECV_REPLIED,	/* answered on the provider's behalf */
	IBMAD_RMPP_SENT,	/* RMPP transfers sent completely */
	IBMAD_RMPP_RECEIVED,	/* RMPP transfers reassembled */
	IBMAD_RMPP_RESENT,	/* RMPP segments sent again */
	IBMAD_RMPP_ABORTED,	/* RMPP transfers aborted or stopped, sent or received */
	IBMAD_RMPP_SEGMENTS,	/* = RMPP segments reassembled */
	IBMAD_RMPP_CONTROLS,	/* = RMPP ACKs, STOPs and ABORTs of a transfer */
	IBMAD_RMPP_DROPPED,	/* = RMPP MADs dropped: duplicate, unmatched */
	IBMAD_SA_SHARED,	/* path queries that share the MAD of another */
	IBMAD_NR_COUNTERS
};

/* Groups of management classes that are counted separately (IBA 13.4.4). */
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
/*
 * Count a work request that succeeded, or a valid MAD received, in total and by class.
 */
void ibmad_count_sent(struct ibmad_port *port, const struct ib_mad_hdr *hdr);
void ibmad_count_received(struct ibmad_port *port, const struct ib_mad_hdr *hdr);

/* ---- pool.c: receive buffers, recycled ---- */
struct ibmad_pool {
	struct kref kref;		/* one of its QP, one of each buffer in use */
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
	bool untold;			/* the provider reported no length */
	struct ib_mad_send_buf *send_buf; /* that request, for the recv_handler */
	u32 rmpp_bytes;			/* of its transfer, part of agent->rmpp.bytes */
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
/* Posts every slot that is not posted, and opens the queue.  The QP is in RTS. */
int ibmad_recvq_open(struct ibmad_qp *mqp);
void ibmad_recvq_close(struct ibmad_qp *mqp);
/* Takes back buffers that the provider never completed (QP destroyed or in RESET). */
void ibmad_recvq_reclaim(struct ibmad_qp *mqp);
/* Hands a MAD that has passed validation to its agent; consumes @recv. */
void ibmad_recv_dispatch(struct ibmad_qp *mqp, struct ibmad_recv *recv);
/* Sets up recv_wc for a MAD of @len bytes whose wc is filled in. */
void ibmad_recv_init_wc(struct ibmad_recv *recv, size_t len);
/* Whether @recv belongs to an RMPP transfer. */
bool ibmad_recv_is_rmpp(const struct ibmad_recv *recv);
/* The source GID of @recv; false if it has no GRH (for RoCE v2, no IP header). */
bool ibmad_recv_sgid(const struct ibmad_recv *recv, union ib_gid *sgid);
bool ibmad_recv_valid(const struct ibmad_qp *mqp, const struct ibmad_recv *recv,
		      size_t len);

/* ---- sendq.c: the send queue of one QP ---- */
enum ibmad_lane {
	IBMAD_LANE_REDO,	/* flushed by the error of another send */
	IBMAD_LANE_RESPONSE,
	IBMAD_LANE_REQUEST,
	IBMAD_NR_LANES
};

struct ibmad_send_slot {
	struct ib_cqe cqe;
	struct ibmad_qp *mqp;
	struct ibmad_send *send;	/* NULL unless posted; send_lock */
	unsigned int opening;		/* mqp->opening when it was posted */
};

/* Maps the MAD unless it is mapped already; 0 or -ENOMEM. */
int ibmad_send_map(struct ibmad_send *send);
void ibmad_send_unmap(struct ibmad_send *send);
int ibmad_sendq_post(struct ibmad_send *send);
/* Takes @send off its lane; false if its work request is on the QP already. */
bool ibmad_sendq_withdraw(struct ibmad_send *send);
void ibmad_sendq_open(struct ibmad_qp *mqp);
/* Stops posting; sends collect in the lanes. */
void ibmad_sendq_hold(struct ibmad_qp *mqp);
/*
 * Takes back every posted send (the QP is destroyed or in RESET).  With @all, completes
 * them and the sends in the lanes as flushed; otherwise they are posted again.
 */
void ibmad_sendq_reclaim(struct ibmad_qp *mqp, bool all);
void ibmad_sendq_done(struct ib_cq *cq, struct ib_wc *wc);
/* The oldest send on a QP, and how many there are. */
struct ibmad_stuck {
	u8 mgmt_class;
	u8 method;
	u16 attr_id;
	u64 tid;
	unsigned int ms;	/* for how long it has been the oldest */
	unsigned int posted;	/* on the QP, with this one */
	unsigned int queued;	/* in the lanes */
};

/* Whether a send that is on the QP has been the oldest for @ms; if so, fills in @stuck. */
bool ibmad_sendq_waited(struct ibmad_qp *mqp, unsigned int ms, struct ibmad_stuck *stuck);
void ibmad_sendq_stall_work(struct work_struct *work);

/* ---- qp.c: QP0 and QP1 of a port ---- */
enum ibmad_qp_state {
	IBMAD_QP_HELD,		/* being brought up or reset: sends collect */
	IBMAD_QP_LIVE,
	IBMAD_QP_DEAD,		/* lost, perhaps for a while, or being destroyed */
};

struct ibmad_qp {
	struct ibmad_port *port;
	/*
	 * Recovery may replace it.  Protected by reset_mutex and, while a queue is
	 * open, by its lock.
	 */
	struct ib_qp *qp;
	struct ib_cq *cq;		/* of both its queues; reset_mutex */
	/*
	 * What clients see instead of qp (agent->pub.qp, wc.qp), for its device, PD,
	 * port, type and number: it exists as long as the port.  No verb may be called
	 * on it.
	 */
	struct ib_qp pub;
	struct ibmad_pool *pool;
	wait_queue_head_t idle;		/* inflight, recv_posted or replies fell to 0 */

	spinlock_t send_lock;		/* see lock order */
	enum ibmad_qp_state state;	/* protected by send_lock */
	unsigned int opening;		/* times it became LIVE; send_lock */
	unsigned int inflight;		/* slots in use; send_lock */
	unsigned int next_slot;		/* to use next, if it is free; send_lock */
	unsigned int oldest_slot;	/* of those posted, the first; send_lock */
	unsigned long progress;		/* jiffies when that became oldest; send_lock */
	bool stall_armed;		/* protected by send_lock */
	unsigned int backlog;		/* sends in the lanes; send_lock */
	unsigned int answers;		/* of these, ACKs, replies, forwards; send_lock */
	unsigned int burst;		/* responses sent in a row; send_lock */
	struct list_head lane[IBMAD_NR_LANES]; /* protected by send_lock */
	struct ibmad_send_slot *send_slots;
	struct delayed_work stall_work;

	spinlock_t recv_lock;		/* see lock order */
	bool recv_open;			/* protected by recv_lock */
	unsigned int recv_posted;	/* protected by recv_lock */
	struct list_head unposted;	/* slots that could not be posted; recv_lock */
	struct ibmad_recv_slot *recv_slots;
	struct ib_mad *scratch;		/* process_mad's output; for the CQ's work */

	struct mutex reset_mutex;	/* one recovery at a time */
	bool gone;			/* protected by reset_mutex */
	bool stays;			/* may use what is posted to it; reset_mutex */
	bool lacking;			/* dead, to be created again; reset_mutex */
	unsigned int remake_ms;		/* delay of the next attempt; reset_mutex */
	unsigned long flags;		/* IBMAD_QP_FATAL, IBMAD_QP_SICK */
	struct work_struct recover_work;
	struct delayed_work remake_work; /* armed under reset_mutex, while lacking */

	struct llist_head local;	/* sends of IBMAD_LOCAL */
	struct work_struct local_work;
	struct ib_mad_agent *responder;	/* local.c: sends the provider's replies */
	atomic_t replies;		/* local.c: replies held by work items */

	DECLARE_HASHTABLE(classes, 5);	/* RCU; written under port->reg_mutex */
};

#define IBMAD_QP_FATAL	0		/* bit: recovery completes all sends as flushed */
#define IBMAD_QP_SICK	1		/* bit: it flushes sends although it is in RTS */

/* Whether the port has such a QP. */
static inline bool ibmad_qp_exists(const struct ibmad_qp *mqp)
{
	return mqp->pub.device;
}

int ibmad_qp_create(struct ibmad_port *port, struct ibmad_qp *mqp,
		    enum ib_qp_type type);
void ibmad_qp_destroy(struct ibmad_qp *mqp);
void ibmad_qp_recover(struct ibmad_qp *mqp);	/* any context */
/* If a send has been the oldest for @ms, polls; if that is in vain, resets.  May sleep. */
void ibmad_qp_unstick(struct ibmad_qp *mqp, unsigned int ms);

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
	/* rmpp/way.c: address handles that RMPP transfers share. */
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

#endif
