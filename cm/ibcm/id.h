/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCM_ID_H
#define IBCM_ID_H

/* Communication ids: states, queue, peer, listener, timewait, teardown. */
#include "ibcm/port.h"

/* ---- state.c: the state machine ---- */
#define IBCM_STATES	(IB_CM_SIDR_REQ_RCVD + 1)
#define IBCM_LAP_STATES	(IB_CM_MRA_LAP_RCVD + 1)

enum ibcm_event {
	/* messages received */
	IBCM_RX_REQ,		/* new in state IDLE, a duplicate in any other */
	IBCM_RX_MRA_REQ,
	IBCM_RX_MRA_REP,
	IBCM_RX_REJ,
	IBCM_RX_REJ_STALE,
	IBCM_RX_REP,
	IBCM_RX_RTU,
	IBCM_RX_DREQ,
	IBCM_RX_DREP,
	IBCM_RX_SIDR_REQ,
	IBCM_RX_SIDR_REP,
	/* calls of the consumer */
	IBCM_TX_REQ,
	IBCM_TX_MRA,
	IBCM_TX_REJ,
	IBCM_TX_REP,
	IBCM_TX_RTU,
	IBCM_TX_DREQ,
	IBCM_TX_DREP,
	IBCM_TX_SIDR_REQ,
	IBCM_TX_SIDR_REP,
	IBCM_DO_LISTEN,
	IBCM_DO_DESTROY,
	IBCM_DO_LEAVE,		/* id destroyed, but the connection stays */
	/* other events */
	IBCM_COMM_EST,		/* data arrived before the RTU */
	IBCM_SEND_FAILED,	/* the outstanding request was not answered */
	IBCM_STALE,		/* the peer reuses its QP for a new connection */
	IBCM_TIMEWAIT_END,
	IBCM_TX_FAILED,		/* the message was not posted, or nobody can listen */
	IBCM_EVENTS
};

#define IBCM_NO_EVENT	0xff

/* Properties of a transition, and what must be done for it. */
enum ibcm_step_flags {
	IBCM_F_VALID	= BIT(0),	/* the table has this transition */
	IBCM_F_CANCEL	= BIT(1),	/* cancel the outstanding request */
	IBCM_F_EXTEND	= BIT(2),	/* extend its timeout as the MRA says */
	IBCM_F_DUP	= BIT(3),	/* count the message as a duplicate */
	IBCM_F_EST	= BIT(4),	/* report ESTABLISHED to the consumer first */
};

/* The message that the CM itself sends for a transition, without the consumer. */
enum ibcm_reply {
	IBCM_REPLY_NONE,
	IBCM_REPLY_MRA_REQ,
	IBCM_REPLY_MRA_REP,
	IBCM_REPLY_REP,			/* a copy of the outstanding REP */
	IBCM_REPLY_RTU,
	IBCM_REPLY_DREQ,
	IBCM_REPLY_DREP,
	IBCM_REPLY_REJ_STALE,
	IBCM_REPLY_REJ_TIMEOUT,		/* the id gave up waiting */
	IBCM_REPLY_REJ_CONSUMER,
	IBCM_REPLY_SIDR_REJECT,
	IBCM_REPLY_LAP,			/* a copy of the LAP's MRA or APR */
};

struct ibcm_step {
	u8 next;		/* enum ib_cm_state; enum ib_cm_lap_state */
	u8 event;		/* enum ib_cm_event_type or IBCM_NO_EVENT */
	u8 flags;		/* enum ibcm_step_flags */
	u8 reply;		/* enum ibcm_reply */
};

/* Events of the alternate path of an established connection. */
enum ibcm_lap_event {
	/* messages received */
	IBCM_LAP_RX_LAP,	/* a new one */
	IBCM_LAP_RX_AGAIN,	/* a copy of the LAP that is not answered yet */
	IBCM_LAP_RX_ANSWERED,	/* a copy of the LAP that was answered last */
	IBCM_LAP_RX_MRA,
	IBCM_LAP_RX_APR,
	/* calls of the consumer */
	IBCM_LAP_TX_LAP,
	IBCM_LAP_TX_MRA,
	IBCM_LAP_TX_APR,
	/* other events */
	IBCM_LAP_MIGRATED,	/* the QP uses the alternate path */
	IBCM_LAP_SEND_FAILED,	/* the LAP was not answered */
	IBCM_LAP_TX_FAILED,	/* the LAP or MRA was not posted */
	IBCM_LAP_ENDS,		/* the connection leaves ESTABLISHED */
	IBCM_LAP_EVENTS
};

/* What ibcm_step() leaves to ibcm_step_finish(), after id->lock is dropped. */
struct ibcm_todo {
	const struct ibcm_step *step;
	struct ibcm_msg *stop;		/* detached request, for ibcm_msg_stop() */
	u8 from;			/* the state before the step */
};

const struct ibcm_step *ibcm_step_of(enum ib_cm_state state,
				     enum ibcm_event event);
bool ibcm_step(struct ibcm_id *id, enum ibcm_event event,
	       struct ibcm_todo *todo);
/*
 * Takes the transition for IBCM_TX_FAILED: undoes the step @todo because its message
 * could not be posted, or the listener not inserted.  Does nothing if the id has left that
 * state since, or the state has no such cell.  Returns a LAP that was sent meanwhile, for
 * ibcm_msg_stop(), or NULL.  Caller holds id->lock.  Only this function and ibcm_step()
 * write id->id.state.
 */
struct ibcm_msg *ibcm_step_failed(struct ibcm_id *id, const struct ibcm_todo *todo);
/*
 * The same for the alternate path; only ibcm_lap_step() writes id->id.lap_state.  When the
 * connection leaves ESTABLISHED, ibcm_step() takes the transition for IBCM_LAP_ENDS.
 */
const struct ibcm_step *ibcm_lap_step_of(enum ib_cm_lap_state state,
					 enum ibcm_lap_event event);
bool ibcm_lap_step(struct ibcm_id *id, enum ibcm_lap_event event,
		   struct ibcm_todo *todo);
/* Stops the detached request and sends the reply of the step. */
void ibcm_step_finish(struct ibcm_id *id, const struct ibcm_todo *todo);

/* ---- id.c: ids, their queue and their teardown ---- */

/* Reasons to run an id's work, apart from received messages. */
enum ibcm_pending {
	IBCM_PEND_EST,
	IBCM_PEND_SEND_FAILED,
	IBCM_PEND_STALE,
	IBCM_PEND_TIMEWAIT_END,
	IBCM_PEND_MIGRATED,
};

struct ibcm_id {
	struct ib_cm_id id;		/* .state, .lap_state: protected by lock */
	spinlock_t lock;
	refcount_t ref;			/* owner, queued work, each lookup and message */
	struct rcu_head rcu;
	struct ibcm_device *dev;	/* with a reference; does not change */

	/* Events to be processed, in order; ibcm/id.c */
	struct work_struct work;
	struct list_head rxq;		/* of ibcm_rx; protected by lock */
	u8 rxq_len;			/* protected by lock */
	u8 pending;			/* BIT(enum ibcm_pending); protected by lock */
	bool work_due;			/* queued, or has not found the end; lock */
	bool dying;			/* nothing more is queued; protected by lock */
	bool resolving;			/* request not resolved: work not queued; lock */
	bool released;			/* DREP received while dying; protected by lock */
	struct task_struct *runner;	/* task that runs the work item, or NULL */

	/* The one outstanding request; messages/msg.c */
	struct ibcm_msg *msg;		/* protected by lock */
	enum ib_wc_status failed_status; /* of IBCM_PEND_SEND_FAILED; lock */

	struct ibcm_listener *listener;	/* if the id listens; used by its owner */
	struct ibcm_listener *req_of;	/* until the request is delivered; the work's */

	struct ibcore_qp_watch *watch;	/* of the local QP, or NULL; protected by lock */

	/* The peer */
	struct ibcm_peer *peer;		/* protected by lock */
	struct ibcm_sidr *sidr;		/* protected by lock */
	struct ibcm_path *path;		/* for MADs to the peer; protected by lock */
	u16 pkey_index;			/* for MADs; protected by lock */

	/* The connection: each field is written in one state, read in later ones */
	struct ibcm_av av;
	struct ibcm_av *alt;		/* or NULL */
	bool rearm;			/* alt is not that of the REQ; protected by lock */
	struct ibcm_lap *lap;		/* or NULL; set once, under lock */
	__be64 tid;			/* of REQ, REP, RTU, MRA, REJ */
	__be64 dreq_tid;
	u32 timeout_ms;			/* for a response to one try of a request */
	u32 local_qpn;
	u32 remote_qpn;
	u32 sq_psn;			/* from the peer's REQ or REP: send queue */
	u32 rq_psn;			/* from our REQ or REP: receive queue */
	enum ib_qp_type qp_type;
	enum ib_mtu path_mtu;
	__be16 pkey;			/* SIDR */
	u8 max_cm_retries;
	u8 responder_resources;
	u8 initiator_depth;
	u8 retry_count;
	u8 rnr_retry_count;
	u8 target_ack_delay;
	u8 service_timeout;		/* of the MRA that the consumer sent */
	u32 answer_ms;			/* the peer's timeout of one REP; active */
	unsigned long mra_begin;	/* no delayed MRA of a REP before this; lock */
	bool active;			/* this id sent the REQ or SIDR_REQ */
	struct rdma_ucm_ece ece;

	/* Private data of the reply to duplicates (RTU, DREP, MRA); protected by lock */
	void *answer;
	u8 answer_len;
};

static inline struct ibcm_id *to_ibcm(struct ib_cm_id *id)
{
	return container_of(id, struct ibcm_id, id);
}

void ibcm_ids_init(void);
void ibcm_ids_exit(void);
struct ibcm_id *ibcm_id_alloc(struct ibcm_device *dev, ib_cm_handler handler,
			      void *context, bool request);
/* The path back to the sender of the request @rx is resolved: queues @rx to the id. */
void ibcm_id_resolved(struct ibcm_id *id, struct ibcm_rx *rx);
/* Frees the id of a request that no consumer has been notified of. */
void ibcm_id_abandon(struct ibcm_id *id);
void ibcm_id_destroy(struct ibcm_id *id);
void ibcm_id_release(struct ibcm_id *id);
/* Returns the id with this local communication id, with a reference; or NULL. */
struct ibcm_id *ibcm_id_find(__be32 local_id);
/* The first of the ids from *@local_id on, with a reference, and its number; or NULL. */
struct ibcm_id *ibcm_id_from(loff_t *local_id);
struct ibcm_id *ibcm_id_find_pair(__be32 local_id, __be32 remote_id);
/* Queues the id's work to process @why; caller holds id->lock. */
void ibcm_id_kick(struct ibcm_id *id, enum ibcm_pending why);
/* Queues @rx to the id, which then owns it; false: not queued, the caller keeps @rx. */
bool ibcm_id_queue(struct ibcm_id *id, struct ibcm_rx *rx);
/* Checked between two events, as the handler of the first may have destroyed the id. */
static inline bool ibcm_id_dying(const struct ibcm_id *id)
{
	return READ_ONCE(id->dying);
}

/* Return what the consumer's handler returned: non-zero asks to destroy the id. */
int ibcm_deliver(struct ibcm_id *id, const struct ib_cm_event *event);
int ibcm_deliver_plain(struct ibcm_id *id, enum ib_cm_event_type event);
/*
 * Keeps @data, which the id then owns, as the private data of replies to duplicates.
 * Caller holds id->lock.
 */
void ibcm_answer_set(struct ibcm_id *id, void *data, u8 len);
int ibcm_private_copy(const void *data, u8 len, u8 max, void **copy);
void ibcm_ids_strip(struct ibcm_device *dev);
void ibcm_ids_drain(void);
void ibcm_slot_free(u32 slot);
/*
 * Returns the peer that keeps @slot in timewait after its id was destroyed, or NULL.
 * Called under RCU.
 */
struct ibcm_peer *ibcm_slot_peer(u32 slot);

static inline void ibcm_id_get(struct ibcm_id *id)
{
	refcount_inc(&id->ref);
}

static inline bool __must_check ibcm_id_get_maybe_zero(struct ibcm_id *id)
{
	if (!refcount_inc_not_zero(&id->ref))
		return false;
	/* Pairs with ibcm_id_alloc(), which has then initialised the id. */
	smp_acquire__after_ctrl_dep();
	return true;
}

static inline void ibcm_id_put(struct ibcm_id *id)
{
	if (refcount_dec_and_test(&id->ref))
		ibcm_id_release(id);
}

/* ---- peer.c: connections by the peer's communication id and by its QP ---- */
struct ibcm_comm_key {
	__be64 ca_guid;
	__be32 remote_id;
	u32 pad;
};

struct ibcm_qp_key {
	__be64 ca_guid;
	u32 remote_qpn;
	u32 pad;
};

/*
 * In timewait this may outlive its id and then keeps both communication ids in use.  It
 * keeps the local one after timewait, too, while a DREQ of the id is still being sent.
 */
struct ibcm_peer {
	refcount_t ref;			/* of the timer and of dreq */
	spinlock_t lock;
	struct ibcm_msg *dreq;		/* with a reference; protected by lock */
	struct rhash_head by_comm;
	struct rhash_head by_qp;
	struct ibcm_comm_key comm;
	struct ibcm_qp_key qp;
	struct ibcm_id __rcu *id;	/* NULL after the id was destroyed */
	u32 slot;			/* of the id in ibcm_ids */
	bool comm_hashed;		/* protected by id->lock */
	bool qp_hashed;			/* protected by id->lock */
	struct timer_list timer;	/* end of timewait */
	struct rcu_head rcu;
};

int ibcm_peers_init(void);
void ibcm_peers_exit(void);
struct ibcm_peer *ibcm_peer_alloc(struct ibcm_id *id, gfp_t gfp);
/* Only for a peer whose id was destroyed: dropping the last reference frees the slot. */
void ibcm_peer_put(struct ibcm_peer *peer);
void ibcm_peer_set(struct ibcm_peer *peer, __be64 ca_guid, __be32 remote_id,
		   u32 remote_qpn);
/* Return 0; -EEXIST if another connection has the key; or the hash table's error. */
int ibcm_peer_hash_comm(struct ibcm_peer *peer);
int ibcm_peer_hash_qp(struct ibcm_peer *peer);
void ibcm_peer_unhash_qp(struct ibcm_peer *peer);
void ibcm_peer_unhash(struct ibcm_peer *peer);
/* Frees the peer of an id whose attempt ended without timewait.  id->lock held. */
void ibcm_peer_forget(struct ibcm_id *id);
struct ibcm_id *ibcm_peer_find_comm(__be64 ca_guid, __be32 remote_id,
				    bool *known);
/* Notifies the id of the connection that has @peer's QP that it is stale. */
bool ibcm_peer_stale(const struct ibcm_peer *peer);

/* ---- timewait.c ---- */
void ibcm_timewait_begin(struct ibcm_id *id);		/* caller holds id->lock */
bool ibcm_timewait_detach(struct ibcm_id *id, struct ibcm_msg **dreq);
void ibcm_timewait_timer(struct timer_list *timer);

/* ---- watch.c: connections established by data ---- */
int ibcm_establish(struct ibcm_id *id, enum ibcore_qp_proof proof);
bool ibcm_probe(struct ibcm_id *id, bool again);
bool ibcm_rep_look(struct ibcm_msg *msg);
void ibcm_rep_look_work(struct work_struct *work);

/* ---- listen.c ---- */
struct ibcm_listen_key {
	struct ib_device *device;
	__be64 service_id;
};

struct ibcm_listener {
	struct rhash_head node;
	struct ibcm_listen_key key;
	struct ibcm_id *id;
	refcount_t ref;			/* of the id, and of each undelivered request */
	unsigned int shares;		/* protected by ibcm_listen_mutex */
	bool shared;			/* made by ib_cm_insert_listen; does not change */
	spinlock_t lock;		/* irq safe */
	struct list_head waiting;	/* of ibcm_rx, to be resolved; under lock */
	struct completion released;
	struct rcu_head rcu;
	u32 nr_ports;
	atomic_t undelivered[] __counted_by(nr_ports);	/* index: port number - 1 */
};

int ibcm_listen_init(void);
void ibcm_listen_exit(void);
struct ibcm_listener *ibcm_listener_find(struct ib_device *device,
					 __be64 service_id);
void ibcm_listener_put(struct ibcm_listener *listener);
/*
 * Counts one more request and returns whether it may wait for the listener.  The caller
 * calls ibcm_listener_done() for it in either case.
 */
bool ibcm_listener_room(struct ibcm_listener *listener, struct ibcm_port *port);
/* A request for this listener, received on @port, was delivered or dropped. */
void ibcm_listener_done(struct ibcm_listener *listener, struct ibcm_port *port);
/* Queues @rx to be resolved; false: not queued, as the listener is being destroyed. */
bool ibcm_listener_queue(struct ibcm_listener *listener, struct ibcm_rx *rx);
/* Called by the work of @rx, which owns @rx from then on; false: the purge owns it. */
bool ibcm_listener_begin(struct ibcm_listener *listener, struct ibcm_rx *rx);
/* True while the listening id is destroyed, which waits for the requests it has. */
static inline bool ibcm_listener_dying(const struct ibcm_listener *listener)
{
	return READ_ONCE(listener->id->dying);
}

/* Drops one user of a shared listener; true if another user remains. */
bool ibcm_listener_unshare(struct ibcm_id *id);
void ibcm_listener_stop(struct ibcm_id *id);

#endif
