/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_CM_H
#define IBEX_CM_H

/*
 * What the files of ib_cm share.  One section a file; each names what the file
 * owns.
 *
 * Contexts.  The MAD layer's receive handler only finds the id a message is for
 * (RCU, no lock shared between connections) and queues the message there.  The
 * id's work item, which the workqueue never runs twice at once, takes queued
 * messages, timeouts and notifications one by one through the state table and
 * calls the consumer.  So the events of one id are ordered, those of different
 * ids run in parallel, and address handles are made where it may sleep.
 *
 * Where the way back to the sender is not known yet, looking for it may take a
 * second, and anybody can send what has none.  So requests that have no consumer
 * yet, and messages for no id, begin on a queue of their port's own, each with a
 * work item: they hold up neither connections nor another port's, and one another
 * only when IBCM_MAX_RESOLVING look for theirs.  Senders are not told apart there:
 * whoever floods a port can give each message another source.
 *
 * Lock order, outermost first:
 *	ibcm_listen_mutex (ibcm/listen.c)	shared listeners; never on a connection
 *	ibcore_qp_watch.lock		core's: tells of data on an id's QP
 *	path->making (ibcm/path.c)	the making of one path's address handle
 *	  listener->lock		REQs of one that wait to be resolved
 *	  id->lock			one id; taken in hard interrupt context
 *	  port->ah_lock (ibcm/path.c)	users of a port's handles, a few instructions
 *	    bucket locks of the hash tables, ibcm_ids' lock, timer base, workqueue
 * No lock is held while a consumer's handler or the MAD layer is called.
 *
 * ibcm_srcu guards port->agent and what is made from it: a message is made and
 * posted, an address handle made, within one read section.  Device removal
 * clears the pointers, waits for the sections and only then deregisters.
 */
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/etherdevice.h>
#include <linux/kref.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <kunit/visibility.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_sa.h>
#include <rdma/ibta_vol1_c12.h>
#include <ibex/qp_watch.h>

#define IBCM_CLASS_VERSION	2
#define IBCM_MAX_RXQ		16	/* messages waiting for one id */
#define IBCM_MAX_LEFT_DREQS 1024 /* a port's DREQs whose ids have gone */
#define IBCM_MAX_ORPHANS	256	/* messages waiting for a port's answer */
#define IBCM_MAX_RESOLVING	512	/* of a port: being resolved or answered */
#define IBCM_MAX_UNDELIVERED	8192	/* of a port: REQs waiting for one listener */

struct ibcm_id;
struct ibcm_listener;
struct ibcm_msg;
struct ibcm_peer;
struct ibcm_rx;

/* ---- ibcm/main.c ---- */
extern struct workqueue_struct *ibcm_wq;	/* unbound: ids */

/* ---- ibcm/counters.c: what ports/N/cm_* in sysfs shows ---- */

/* In the order of the attribute ids, 0x10 on (IBA vol. 1, table 102). */
enum ibcm_kind {
	IBCM_REQ,
	IBCM_MRA,
	IBCM_REJ,
	IBCM_REP,
	IBCM_RTU,
	IBCM_DREQ,
	IBCM_DREP,
	IBCM_SIDR_REQ,
	IBCM_SIDR_REP,
	IBCM_LAP,
	IBCM_APR,
	IBCM_KINDS
};

enum ibcm_counter_group {
	IBCM_TX_MSGS,
	IBCM_TX_RETRIES,
	IBCM_RX_MSGS,
	IBCM_RX_DUPLICATES,
	IBCM_COUNTER_GROUPS
};

/* How connections came to be established; debugfs ib_cm/<device>-<port>. */
enum ibcm_stat {
	IBCM_STAT_RTU_RECEIVED,
	IBCM_STAT_RTU_LATE,		/* RTU for an id established before it */
	IBCM_STAT_COMM_EST,		/* COMM_EST notifications, all */
	IBCM_STAT_EST_BY_RTU,
	IBCM_STAT_EST_BY_COMM_EST,
	IBCM_STAT_EST_BY_RECEIVED,	/* the first good receive completion */
	IBCM_STAT_EST_BY_PSN,		/* the QP's expected PSN */
	IBCM_STAT_EST_BY_DREQ,		/* a DREQ that implied the lost RTU */
	IBCM_STAT_PSN_PROBES,		/* we asked for that PSN */
	IBCM_STAT_REP_RESENT,
	IBCM_STAT_RX_MALFORMED,
	IBCM_STAT_RX_UNEXPECTED,	/* no transition for it: dropped */
	IBCM_STAT_RX_UNKNOWN,		/* for no id of ours */
	IBCM_STAT_RX_OVERFLOW,		/* a queue was full, or no memory */
	IBCM_STATS
};

struct ibcm_port;

void ibcm_counters_init(void);
void ibcm_counters_exit(void);
int ibcm_counters_register(struct ibcm_port *port);
void ibcm_counters_unregister(struct ibcm_port *port);

/* ---- ibcm/port.c: devices, ports, MAD agents ---- */
struct ibcm_port {
	struct ibcm_device *dev;
	u32 num;
	struct ib_mad_agent __rcu *agent; /* ibcm_srcu; NULL when gone */
	struct ib_mad_agent *closing;	/* between that and its end; removal only */
	u32 rtu_usecs;			/* smoothed REP to RTU time; 0: unknown */
	atomic_long_t counters[IBCM_COUNTER_GROUPS][IBCM_KINDS];
	atomic_long_t stats[IBCM_STATS];
	struct dentry *debugfs;
	struct workqueue_struct *stray_wq;	/* unbound: what is nobody's yet */

	/* messages/dreq.c */
	atomic_t nr_left_dreqs;		/* sent for ids that have gone */
	int max_left_dreqs;		/* fixed */

	/* messages/orphan.c */
	spinlock_t orphan_lock;
	struct list_head orphans;	/* protected by orphan_lock */
	unsigned int nr_orphans;	/* protected by orphan_lock */

	/* ibcm/path.c */
	spinlock_t ah_lock;
	struct list_head idle_ahs;	/* of ibcm_path, oldest first; ah_lock */
	unsigned int nr_idle_ahs;	/* protected by ah_lock */
	unsigned int ah_linger;		/* jiffies; protected by ah_lock */
	struct delayed_work ah_work;	/* ends those that have lingered */
};

struct ibcm_device {
	struct ib_device *ibdev;
	struct kref kref;		/* the client's, and one of each id */
	atomic_t nr_paths;		/* 1 + those in existence */
	struct completion no_paths;
	/* Address handles given back: begun, counted with the port's ah_lock, and done. */
	atomic_t ahs_ending, ahs_ended;
	wait_queue_head_t ah_wait;	/* for ahs_ended */
	u32 nr_ports;
	struct ibcm_port ports[] __counted_by(nr_ports);
};

extern struct srcu_struct ibcm_srcu;
extern struct ib_client ibcm_client;

/* NULL if @ibdev has no CM; the caller is a client of it, so it stays. */
struct ibcm_device *ibcm_device_get(struct ib_device *ibdev);
void ibcm_device_put(struct ibcm_device *dev);

static inline void ibcm_count(struct ibcm_port *port,
			      enum ibcm_counter_group group, unsigned int kind)
{
	atomic_long_inc(&port->counters[group][kind]);
}

static inline void ibcm_stat(struct ibcm_port *port, enum ibcm_stat stat)
{
	atomic_long_inc(&port->stats[stat]);
}

/* ---- ibcm/av.c: address vectors ---- */
struct ibcm_av {
	struct rdma_ah_attr ah_attr;	/* holds its SGID attribute */
	struct ibcm_port *port;		/* NULL: not set */
	u16 pkey_index;
	u16 dlid_datapath;		/* IB: DLID for data, where it differs */
	u8 packet_life_time;
	u8 ack_timeout;			/* local ACK timeout of our QP */
};

int ibcm_av_from_path(struct ibcm_device *dev, struct sa_path_rec *path,
		      const struct ib_gid_attr *sgid_attr, struct ibcm_av *av);
void ibcm_av_destroy(struct ibcm_av *av);
/* With a reference, or an error. */
const struct ib_gid_attr *ibcm_gid_on_netdev(const struct ib_gid_attr *like,
					     const union ib_gid *gid);
const struct ib_gid_attr *ibcm_gid_in_net(const struct ib_gid_attr *like,
					  const union ib_gid *gid);

unsigned int ibcm_time_ms(u8 iba_time);		/* 4.096 us * 2^n, rounded up */
u8 ibcm_ack_timeout(u8 ca_ack_delay, u8 packet_life_time);

/* ---- ibcm/path.c: where MADs go, and address handles for them ---- */
struct ibcm_path_key {
	struct ibcm_port *port;
	/* The global route; without one, all zero */
	const struct ib_gid_attr *sgid_attr;
	union ib_gid dgid;
	u32 flow_label;
	u8 hop_limit;
	u8 traffic_class;

	u8 sl;
	u8 static_rate;
	u8 path_bits;
	u8 make_grd;
	u8 dmac[ETH_ALEN];
	u32 dlid;
	u32 pad;
};

/* Found by its key; of what may change all is protected by port->ah_lock. */
struct ibcm_path {
	struct rhash_head node;
	struct ibcm_path_key key;	/* fixed */
	struct rdma_ah_attr ah_attr;	/* fixed; holds its SGID attribute */
	refcount_t ref;			/* ids', messages', its handle's */
	struct mutex making;		/* one maker of a handle at a time */
	struct ib_ah *ah;		/* NULL: none */
	unsigned int users;		/* of ah */
	struct list_head idle;		/* port->idle_ahs, while ah has no users */
	unsigned long idle_since;
	struct rcu_head rcu;
};

int ibcm_paths_init(void);
void ibcm_paths_exit(void);
void ibcm_port_paths_init(struct ibcm_port *port);
struct ibcm_path *ibcm_path_get(struct ibcm_port *port,
				const struct rdma_ah_attr *ah_attr);
struct ibcm_path *ibcm_path_back(const struct ibcm_rx *rx,
				 struct rdma_ah_attr *ah_attr);
void ibcm_path_put(struct ibcm_path *path);	/* NULL allowed */
int ibcm_path_use(struct ibcm_path *path);
void ibcm_path_unuse(struct ibcm_path *path);
void ibcm_paths_stop(struct ibcm_device *dev);

/* ---- ibcm/state.c: the state machine ---- */
#define IBCM_STATES	(IB_CM_SIDR_REQ_RCVD + 1)
#define IBCM_LAP_STATES	(IB_CM_MRA_LAP_RCVD + 1)

enum ibcm_event {
	/* messages received */
	IBCM_RX_REQ,		/* new in IDLE; a duplicate elsewhere */
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
	IBCM_DO_LEAVE,		/* destroyed, the connection stays */
	/* the rest */
	IBCM_COMM_EST,		/* data came before the RTU */
	IBCM_SEND_FAILED,	/* the outstanding request was not answered */
	IBCM_STALE,		/* the peer began anew with our peer's QP */
	IBCM_TIMEWAIT_END,
	IBCM_EVENTS
};

#define IBCM_NO_EVENT	0xff

/* What follows a transition, once the lock is dropped. */
enum ibcm_step_flags {
	IBCM_F_VALID	= BIT(0),	/* a transition of the table */
	IBCM_F_CANCEL	= BIT(1),	/* the outstanding request is answered */
	IBCM_F_EXTEND	= BIT(2),	/* it is given the MRA's time */
	IBCM_F_DUP	= BIT(3),	/* counted as a duplicate */
	IBCM_F_EST	= BIT(4),	/* the consumer is told ESTABLISHED first */
};

/* The message that answers, without the consumer. */
enum ibcm_reply {
	IBCM_REPLY_NONE,
	IBCM_REPLY_MRA_REQ,
	IBCM_REPLY_MRA_REP,
	IBCM_REPLY_REP,			/* the outstanding one, again */
	IBCM_REPLY_RTU,
	IBCM_REPLY_DREQ,
	IBCM_REPLY_DREP,
	IBCM_REPLY_REJ_STALE,
	IBCM_REPLY_REJ_TIMEOUT,		/* we gave up waiting */
	IBCM_REPLY_REJ_CONSUMER,
	IBCM_REPLY_SIDR_REJECT,
};

struct ibcm_step {
	u8 next;		/* enum ib_cm_state */
	u8 event;		/* enum ib_cm_event_type or IBCM_NO_EVENT */
	u8 flags;		/* enum ibcm_step_flags */
	u8 reply;		/* enum ibcm_reply */
};

struct ibcm_lap_step {
	u8 next;		/* enum ib_cm_lap_state */
	u8 valid;
};

enum ibcm_lap_event {
	IBCM_LAP_RX_LAP,
	IBCM_LAP_TX_MRA,
	IBCM_LAP_TX_APR,
	IBCM_LAP_EVENTS
};

/* What ibcm_step() leaves to be done without the lock. */
struct ibcm_todo {
	const struct ibcm_step *step;
	struct ibcm_msg *stop;		/* detached request; ibcm_msg_stop() */
	u8 from;			/* the state that was left */
};

const struct ibcm_step *ibcm_step_of(enum ib_cm_state state,
				     enum ibcm_event event);
bool ibcm_step(struct ibcm_id *id, enum ibcm_event event,
	       struct ibcm_todo *todo);
bool ibcm_lap_step(struct ibcm_id *id, enum ibcm_lap_event event);
/* Stops the request and sends the reply that the step asks for. */
void ibcm_step_finish(struct ibcm_id *id, const struct ibcm_todo *todo);

/* ---- ibcm/id.c: ids, their queue and their teardown ---- */

/* Reasons to run an id's work beside received messages. */
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
	refcount_t ref;			/* owner's; one a queued work, lookup, message */
	struct rcu_head rcu;
	struct ibcm_device *dev;	/* with a reference; fixed */

	/* Events to be processed, in order; ibcm/id.c */
	struct work_struct work;
	struct list_head rxq;		/* of ibcm_rx; protected by lock */
	u8 rxq_len;			/* protected by lock */
	u8 pending;			/* BIT(enum ibcm_pending); protected by lock */
	bool dying;			/* nothing more is queued; protected by lock */
	bool resolving;			/* a request's: its work waits; protected by lock */
	bool released;			/* the DREP came while dying; protected by lock */
	struct task_struct *runner;	/* the work item's task, in the work */

	/* The one outstanding request; messages/msg.c */
	struct ibcm_msg *msg;		/* protected by lock */
	enum ib_wc_status failed_status; /* of IBCM_PEND_SEND_FAILED; lock */

	struct ibcm_listener *listener;	/* of an id that listens; its owner's */
	struct ibcm_listener *req_of;	/* of a REQ not delivered yet; the work's */

	struct ibcore_qp_watch *watch;	/* of our QP, or NULL; protected by lock */

	/* The peer */
	struct ibcm_peer *peer;		/* protected by lock */
	struct ibcm_sidr *sidr;		/* protected by lock */
	struct ibcm_path *path;		/* MADs to it; protected by lock */
	u16 pkey_index;			/* of MADs; protected by lock */

	/* The connection; written in one state, read in later ones */
	struct ibcm_av av;
	struct ibcm_av *alt;		/* or NULL */
	__be64 tid;			/* of REQ, REP, RTU, MRA, REJ */
	__be64 dreq_tid;
	u32 timeout_ms;			/* of a request's answer, one try */
	u32 local_qpn;
	u32 remote_qpn;
	u32 sq_psn;			/* the peer's starting PSN: where we begin */
	u32 rq_psn;			/* our starting PSN */
	enum ib_qp_type qp_type;
	enum ib_mtu path_mtu;
	__be16 pkey;			/* SIDR */
	u8 max_cm_retries;
	u8 responder_resources;
	u8 initiator_depth;
	u8 retry_count;
	u8 rnr_retry_count;
	u8 target_ack_delay;
	u8 service_timeout;		/* of our MRA */
	u32 answer_ms;			/* what the peer waits for us, one try; active */
	unsigned long mra_begin;	/* no delayed MRA of a REP before; lock */
	bool active;			/* sent the REQ */
	struct rdma_ucm_ece ece;

	/* What duplicates are answered with (RTU, DREP, MRA); protected by lock */
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
/* The way back to who sent the request @rx is known: the id's work has it now. */
void ibcm_id_resolved(struct ibcm_id *id, struct ibcm_rx *rx);
/* Frees an id that nobody was told of. */
void ibcm_id_abandon(struct ibcm_id *id);
void ibcm_id_destroy(struct ibcm_id *id);
void ibcm_id_release(struct ibcm_id *id);
/* With a reference, by our local communication id; or NULL. */
struct ibcm_id *ibcm_id_find(__be32 local_id);
struct ibcm_id *ibcm_id_find_pair(__be32 local_id, __be32 remote_id);
/* Makes the id's work run for @why; lock held. */
void ibcm_id_kick(struct ibcm_id *id, enum ibcm_pending why);
/* Queues @rx for the id, with what it holds; false if it cannot. */
bool ibcm_id_queue(struct ibcm_id *id, struct ibcm_rx *rx);
/* Between two events: the handler of the first may have destroyed the id. */
static inline bool ibcm_id_dying(const struct ibcm_id *id)
{
	return READ_ONCE(id->dying);
}

/* The consumer's answer: non-zero asks for the id to be destroyed. */
int ibcm_deliver(struct ibcm_id *id, const struct ib_cm_event *event);
int ibcm_deliver_plain(struct ibcm_id *id, enum ib_cm_event_type event);
/* Keeps a copy of what a duplicate is to be answered with; lock held. */
void ibcm_answer_set(struct ibcm_id *id, void *data, u8 len);
int ibcm_private_copy(const void *data, u8 len, u8 max, void **copy);
void ibcm_ids_strip(struct ibcm_device *dev);
void ibcm_ids_drain(void);
void ibcm_slot_free(u32 slot);
/* RCU: the connection in timewait, without an id, that has the slot; or NULL. */
struct ibcm_peer *ibcm_slot_peer(u32 slot);

static inline void ibcm_id_get(struct ibcm_id *id)
{
	refcount_inc(&id->ref);
}

static inline bool __must_check ibcm_id_get_maybe_zero(struct ibcm_id *id)
{
	return refcount_inc_not_zero(&id->ref);
}

static inline void ibcm_id_put(struct ibcm_id *id)
{
	if (refcount_dec_and_test(&id->ref))
		ibcm_id_release(id);
}

/* ---- ibcm/peer.c: what a peer's messages name a connection by ---- */
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
 * Outlives its id in timewait, where it keeps both communication ids taken; and ours
 * for as long as a DREQ of the id is sent.
 */
struct ibcm_peer {
	refcount_t ref;			/* the timer's, and dreq's */
	spinlock_t lock;
	struct ibcm_msg *dreq;		/* with a reference; protected by lock */
	struct rhash_head by_comm;
	struct rhash_head by_qp;
	struct ibcm_comm_key comm;
	struct ibcm_qp_key qp;
	struct ibcm_id __rcu *id;	/* NULL once the consumer destroyed it */
	u32 slot;			/* of id in ibcm_ids */
	bool comm_hashed;		/* protected by id->lock */
	bool qp_hashed;			/* protected by id->lock */
	struct timer_list timer;	/* end of timewait */
	struct rcu_head rcu;
};

int ibcm_peers_init(void);
void ibcm_peers_exit(void);
struct ibcm_peer *ibcm_peer_alloc(struct ibcm_id *id, gfp_t gfp);
/* Of one whose id has gone: the last frees the slot. */
void ibcm_peer_put(struct ibcm_peer *peer);
void ibcm_peer_set(struct ibcm_peer *peer, __be64 ca_guid, __be32 remote_id,
		   u32 remote_qpn);
/* 0; -EEXIST if another connection has the key; or a hash table's error. */
int ibcm_peer_hash_comm(struct ibcm_peer *peer);
int ibcm_peer_hash_qp(struct ibcm_peer *peer);
void ibcm_peer_unhash_qp(struct ibcm_peer *peer);
void ibcm_peer_unhash(struct ibcm_peer *peer);
/* Lock held: the id's attempt is over and leaves nothing behind. */
void ibcm_peer_forget(struct ibcm_id *id);
struct ibcm_id *ibcm_peer_find_comm(__be64 ca_guid, __be32 remote_id,
				    bool *known);
/* The connection that holds @peer's QP, told that it is stale. */
bool ibcm_peer_stale(const struct ibcm_peer *peer);

/* ---- ibcm/timewait.c ---- */
void ibcm_timewait_begin(struct ibcm_id *id);		/* lock held */
bool ibcm_timewait_detach(struct ibcm_id *id, struct ibcm_msg **dreq);
void ibcm_timewait_timer(struct timer_list *timer);

/* ---- messages/msg.c: messages to be sent ---- */
struct ibcm_msg {
	refcount_t ref;		/* maker's, id->msg's, the MAD layer's or look's */
	struct ib_mad_send_buf *buf;
	struct ibcm_port *port;
	struct ibcm_id *id;	/* with a reference; NULL: no id's */
	struct ibcm_path *path;	/* with a reference; its handle is in use */
	struct work_struct look;	/* ibcm/watch.c, with the MAD layer's reference; REP */
	ktime_t sent;		/* first posting */
	u32 waited_ms;		/* over all tries; REP */
	unsigned long mra_end;	/* REP: what an MRA asked for; protected by id->lock */
	u8 kind;		/* enum ibcm_kind */
	u8 tries;		/* postings by us; REP */
	bool request;		/* id->msg while unanswered */
	bool stopped;		/* answered or given up: never resent */
	bool mraed;		/* mra_end is to come; protected by id->lock */
	bool over;		/* it has come back; protected by id->lock */
	struct ibcm_peer *left;	/* DREQ whose id has gone, or NULL; id->lock */
	int srcu_idx;		/* of the maker's read section */
};

/*
 * Making a message begins a read section of ibcm_srcu; ibcm_msg_post() and
 * ibcm_msg_drop() end it and release the maker's reference.
 */
struct ibcm_msg *ibcm_msg_alloc(struct ibcm_id *id, enum ibcm_kind kind);
struct ibcm_msg *ibcm_msg_alloc_by(struct ibcm_id *id, struct ibcm_path *path,
				   u16 pkey_index, enum ibcm_kind kind);
struct ibcm_msg *ibcm_msg_alloc_to(struct ibcm_port *port,
				   const struct ib_mad_recv_wc *wc,
				   enum ibcm_kind kind);
int ibcm_msg_post(struct ibcm_msg *msg);
void ibcm_msg_drop(struct ibcm_msg *msg);
void ibcm_msg_put(struct ibcm_msg *msg);
void *ibcm_msg_mad(struct ibcm_msg *msg, __be64 tid);
__be64 ibcm_new_tid(const struct ibcm_msg *msg);
/* Lock held.  attach: @msg becomes the outstanding request. */
struct ibcm_msg *ibcm_msg_attach(struct ibcm_id *id, struct ibcm_msg *msg,
				 u32 timeout_ms, u8 retries);
/* Of a message that is not posted yet: it is sent again until it is stopped. */
void ibcm_msg_repeat(struct ibcm_msg *msg, u32 timeout_ms, u8 retries);
struct ibcm_msg *ibcm_msg_detach(struct ibcm_id *id);
void ibcm_msg_stop(struct ibcm_msg *msg);	/* NULL allowed */
void ibcm_msg_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc);
/* Posts the message of the step @todo; undoes the step if it cannot. */
int ibcm_step_post(struct ibcm_id *id, struct ibcm_msg *msg,
		   const struct ibcm_todo *todo);
/* The REP @msg was not answered.  True if it was sent once more. */
bool ibcm_rep_unanswered(struct ibcm_msg *msg);

/* ---- ibcm/watch.c: established by data ---- */
int ibcm_establish(struct ibcm_id *id, enum ibcore_qp_proof proof);
bool ibcm_probe(struct ibcm_id *id, bool again);
bool ibcm_rep_look(struct ibcm_msg *msg);
void ibcm_rep_look_work(struct work_struct *work);

/* ---- messages/rx.c: received messages ---- */
struct ibcm_rx {
	struct list_head node;		/* id->rxq, listener->waiting or port->orphans */
	struct work_struct work;	/* on port->stray_wq */
	struct ib_mad_recv_wc *wc;	/* owned */
	struct ibcm_port *port;
	struct ibcm_id *id;		/* that a request made, until it is resolved */
	bool purged;			/* the list's end has it; protected by its lock */
	u8 kind;			/* enum ibcm_kind */
	u8 reason;			/* orphan REQ: enum ib_cm_rej_reason */
};

int ibcm_rx_init(void);
void ibcm_rx_exit(void);
void ibcm_rx_free(struct ibcm_rx *rx);
void ibcm_mad_received(struct ib_mad_agent *agent,
		       struct ib_mad_send_buf *send_buf,
		       struct ib_mad_recv_wc *wc);
/* Runs the message's handler in the id's work; the consumer's answer. */
int ibcm_rx_process(struct ibcm_id *id, struct ibcm_rx *rx);
/* Has @id, which the request @rx made, find its way back; false: for nobody. */
bool ibcm_rx_resolve(struct ibcm_id *id, struct ibcm_rx *rx);
/* Answers @rx, whose listener goes, as one that has none. */
void ibcm_rx_refuse(struct ibcm_rx *rx);
u16 ibcm_rx_bth_pkey(const struct ibcm_rx *rx);

static inline void *ibcm_rx_mad(const struct ibcm_rx *rx)
{
	return rx->wc->recv_buf.mad;
}

/* The common end of an rx handler: finish the step, then tell the consumer. */
int ibcm_rx_finish(struct ibcm_id *id, const struct ibcm_rx *rx,
		   const struct ibcm_todo *todo, struct ib_cm_event *event);

/* ---- messages/orphan.c: answers to messages that are no id's ---- */
void ibcm_orphans_purge(struct ibcm_port *port);
/* Answers @rx from its own work; consumes @rx. */
void ibcm_orphan_queue(struct ibcm_rx *rx, u8 reason);

/* ---- ibcm/listen.c ---- */
struct ibcm_listen_key {
	struct ib_device *device;
	__be64 service_id;
};

struct ibcm_listener {
	struct rhash_head node;
	struct ibcm_listen_key key;
	struct ibcm_id *id;
	refcount_t ref;			/* the id's, and one of each undelivered REQ */
	unsigned int shares;		/* protected by ibcm_listen_mutex */
	bool shared;			/* made by ib_cm_insert_listen; fixed */
	spinlock_t lock;		/* irq safe */
	struct list_head waiting;	/* of ibcm_rx, to be resolved; lock */
	struct completion released;
	struct rcu_head rcu;
	u32 nr_ports;
	atomic_t undelivered[] __counted_by(nr_ports);	/* by port, less 1 */
};

int ibcm_listen_init(void);
void ibcm_listen_exit(void);
struct ibcm_listener *ibcm_listener_find(struct ib_device *device,
					 __be64 service_id);
void ibcm_listener_put(struct ibcm_listener *listener);
/* Whether one more REQ may wait for it; in any case ibcm_listener_done() follows. */
bool ibcm_listener_room(struct ibcm_listener *listener, struct ibcm_port *port);
/* A REQ of this listener's, which came by @port, was delivered or dropped. */
void ibcm_listener_done(struct ibcm_listener *listener, struct ibcm_port *port);
/* Queues @rx to be resolved; false: the listener is going, @rx is as it was. */
bool ibcm_listener_queue(struct ibcm_listener *listener, struct ibcm_rx *rx);
/* In the work of @rx; false: it is not the work's any more. */
bool ibcm_listener_begin(struct ibcm_listener *listener, struct ibcm_rx *rx);
/* Its id is being destroyed, which waits for what REQs it has. */
static inline bool ibcm_listener_dying(const struct ibcm_listener *listener)
{
	return READ_ONCE(listener->id->dying);
}

/* Whether another user of a shared listener remains. */
bool ibcm_listener_unshare(struct ibcm_id *id);
void ibcm_listener_stop(struct ibcm_id *id);

/* ---- messages/: req, req_rx, rep, rtu, rej, dreq, mra, lap ---- */
void ibcm_req_arrived(struct ibcm_rx *rx);	/* consumes @rx */
int ibcm_req_resolve(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_rx_req(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_rx_rep(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_rx_rtu(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_rx_rej(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_rx_dreq(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_rx_drep(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_rx_mra(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_rx_lap(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_sidr_resolve(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_rx_sidr_req(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_rx_sidr_rep(struct ibcm_id *id, struct ibcm_rx *rx);
void ibcm_sidr_req_arrived(struct ibcm_rx *rx);	/* consumes @rx */

struct ibcm_id *ibcm_find_rejected(struct cm_rej_msg *rej);
bool ibcm_rep_retry(struct ibcm_id *id, struct ibcm_msg *msg);
unsigned int ibcm_rep_wait_ms(const struct ibcm_id *id,
			      const struct ibcm_msg *msg);
unsigned int ibcm_rep_first_wait_ms(const struct ibcm_id *id,
				    const struct ibcm_port *port);
unsigned int ibcm_rep_mraed(struct ibcm_id *id, struct ibcm_msg *msg,
			    unsigned int ms);
int ibcm_established(struct ibcm_id *id);	/* IBCM_PEND_EST, in the work */
int ibcm_migrated(struct ibcm_id *id);		/* IBCM_PEND_MIGRATED */
int ibcm_path_mig(struct ibcm_id *id);		/* ib_cm_notify; any context */

void ibcm_send_rtu_again(struct ibcm_id *id);
void ibcm_send_rep_again(struct ibcm_id *id);
void ibcm_send_drep(struct ibcm_id *id);
struct ibcm_msg *ibcm_dreq_last(struct ibcm_id *id, struct ibcm_todo *todo);
bool ibcm_dreq_leave(struct ibcm_id *id, struct ibcm_peer *peer,
		     struct ibcm_msg *msg);
void ibcm_dreq_stop(struct ibcm_msg *msg);
void ibcm_dreq_done(struct ibcm_msg *msg);
bool ibcm_dreq_answered(u32 local_id, __be32 remote_id);
void ibcm_send_mra(struct ibcm_id *id, u8 mraed);
void ibcm_send_rej(struct ibcm_id *id, u8 rejected, u16 reason,
		   const void *ari, u8 ari_len);
void ibcm_send_rej_timeout(struct ibcm_id *id);
void ibcm_sidr_reject(struct ibcm_id *id);
/* The "message MRAed" / "message rejected" field (IBA 12.6.6, 12.6.7). */
enum ibcm_msg_field {
	IBCM_FIELD_REQ,
	IBCM_FIELD_REP,
	IBCM_FIELD_OTHER,	/* REJ: other; MRA: LAP */
};

void ibcm_rej_fill(void *mad, u8 rejected, u16 reason, const void *ari,
		   u8 ari_len);
u32 ibcm_req_qpn(const struct cm_req_msg *req, enum ib_qp_type *type);

/* ---- messages/sidr.c ---- */
struct ibcm_sidr_key {
	union ib_gid gid;	/* of the sender; zero without a GRH */
	__be32 request_id;
	u32 lid;		/* of the sender; IB */
	u32 port;
	u32 pad;
	struct ib_device *device;
};

struct ibcm_sidr {
	struct rhash_head node;
	struct ibcm_sidr_key key;
	struct rcu_head rcu;
};

int ibcm_sidr_init(void);
void ibcm_sidr_exit(void);
void ibcm_sidr_unhash(struct ibcm_id *id);	/* lock held */

#endif
