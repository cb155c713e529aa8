/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef CMA_ID_H
#define CMA_ID_H

/* Ids and the devices they are bound to: states, references, callbacks, events. */
#include "bind/bind.h"

/* ---- device.c: devices the CMA serves, the ids bound to them ---- */
struct cma_port {			/* WRITE_ONCE by configfs */
	enum ib_gid_type default_gid_type;
	u8 default_tos;
	u8 cm_timeout;		/* of one try of a REQ or SIDR_REQ: 4.096 us * 2^n */
	u8 cm_retries;
};

#define CMA_CM_TIMEOUT_MAX	31	/* five bits on the wire, 2.4 hours */
#define CMA_CM_RETRIES_MAX	15	/* four bits on the wire */

/* Returns the least timeout that is not shorter than @ms, or -EINVAL or -ERANGE. */
int cma_timeout_of_ms(unsigned int ms);

struct cma_dev {
	struct ib_device *device;
	refcount_t refs;	/* 1 until removal, 1 per id, listener and user */
	struct completion idle;	/* refs reached zero */
	struct list_head node;	/* in cma_devices; under cma_topology or RCU */
	struct rcu_head rcu;
	spinlock_t lock;	/* protects the fields that say so */
	bool dead;			/* accepts no new ids; protected by lock */
	struct list_head ids;		/* cma_id.dev_node; protected by lock */
	struct list_head removed_ids;	/* notified of the removal; protected by lock */
	struct list_head hints;		/* gid_hint.c; protected by lock */
	unsigned int nr_hints;		/* protected by lock */
	struct list_head listens;	/* cma_listen.dev_node; under cma_topology */
	struct cma_port ports[];	/* [1 .. phys_port_cnt] */
};

extern struct rw_semaphore cma_topology;
extern struct list_head cma_devices;

int cma_device_init(void);
void cma_device_exit(void);
struct cma_dev *cma_dev_get_by_name(const char *name);
/* The settings of the port that @idp, which has a device, is bound to. */
struct cma_port *cma_id_port(struct cma_id *idp);
void cma_dev_put(struct cma_dev *dev);
bool cma_dev_tryget(struct cma_dev *dev);

/* The device, port and GID that a local address resolves to. */
struct cma_binding {
	struct cma_dev *dev;		/* with a reference */
	u32 port;
	const struct ib_gid_attr *sgid_attr;	/* with a reference, or NULL */
};

int cma_id_attach(struct cma_id *idp, struct cma_binding *binding);
void cma_id_detach(struct cma_id *idp);

/* ---- state.c ---- */

/* RDMA_NLDEV_ATTR_RES_STATE reports these numbers for a CM id. */
enum rdma_cm_state {
	RDMA_CM_IDLE,
	RDMA_CM_ADDR_QUERY,
	RDMA_CM_ADDR_RESOLVED,
	RDMA_CM_ROUTE_QUERY,
	RDMA_CM_ROUTE_RESOLVED,
	RDMA_CM_CONNECT,
	RDMA_CM_DISCONNECT,
	RDMA_CM_ADDR_BOUND,
	RDMA_CM_LISTEN,
	RDMA_CM_DEVICE_REMOVAL,
	RDMA_CM_DESTROYING,
	CMA_NR_STATES
};

enum cma_trigger {
	CMA_T_BIND,
	CMA_T_UNBIND,
	CMA_T_RESOLVE_ADDR,
	CMA_T_ADDR_DONE,
	CMA_T_ADDR_FAILED,
	CMA_T_RESOLVE_ROUTE,
	CMA_T_ROUTE_DONE,
	CMA_T_ROUTE_FAILED,
	CMA_T_CONNECT,
	CMA_T_CONNECT_FAILED,
	CMA_T_REQUEST,
	CMA_T_DISCONNECTED,
	CMA_T_LISTEN,
	CMA_T_LISTEN_FAILED,
	CMA_T_REMOVE,
	CMA_T_DESTROY,
	CMA_NR_TRIGGERS
};

int cma_id_step(struct cma_id *idp, enum cma_trigger trigger);
#if IS_ENABLED(CONFIG_KUNIT)
enum rdma_cm_state cma_next_state(enum rdma_cm_state state,
				  enum cma_trigger trigger);
#endif

/* ---- id.c: allocation, references, callbacks, destruction ---- */

/* Bits of cma_id.pending: what cma_event_work() has to do, in this order. */
enum cma_post {
	CMA_POST_ADDR,		/* address resolution ended */
	CMA_POST_ROUTE,		/* route resolution ended */
	CMA_POST_MCAST,		/* a multicast join ended or a group failed */
	CMA_POST_ADDR_CHANGE,	/* the local link address changed */
	CMA_POST_UNREACHABLE,	/* the peer's link address changed */
	CMA_NR_POSTS
};

/* Progress of a connection attempt while the id is in RDMA_CM_CONNECT. */
enum cma_conn {
	CMA_CONN_NONE,
	CMA_CONN_PENDING,	/* no outcome was reported yet */
	CMA_CONN_UP,		/* ESTABLISHED was reported */
	CMA_CONN_FAILED,	/* a failure was reported; later outcomes are ignored */
};

/* Fields are grouped by the lock that protects them; those with another rule say so. */
struct cma_id {
	/* Public part.  id.net_work runs cma_event_work(). */
	struct rdma_cm_id id;
	struct rdma_restrack_cm_id track;

	refcount_t refs;	/* 1 until destroyed, 1 per pin and queued work */
	bool passive;		/* created for a request; never changes */
	struct completion idle;	/* refs reached zero */
	struct rcu_head rcu;

	/* Serializes callbacks, which may call functions that take the other locks. */
	struct mutex handler_mutex;
	struct task_struct *handler_task;	/* the task in a callback; READ_ONCE() */
	union {
		struct ib_cm_id *ib;
		struct iw_cm_id *iw;
	} cm;	/* set under handler_mutex, by a release; cleared only on destruction */
	enum cma_conn conn;
	u16 peer_bucket;		/* netevent.c: if peer_node is hashed */
	struct hlist_node peer_node;	/* that bucket's lock */

	/* Serializes the calls that change the QP's state. */
	struct mutex qp_mutex;

	/* Also keeps cma_id_post() from queueing work once destruction has begun. */
	spinlock_t lock;
	enum rdma_cm_state state;	/* written under lock; READ_ONCE() */
	unsigned long pending;	/* enum cma_post; atomic bits */
	struct cma_dev *dev;	/* set once under lock; NULL: no device */
	const struct ib_gid_attr *sgid_attr;	/* of dev, with a reference, or NULL */
	u32 qkey;		/* 0: not set */
	struct list_head mcasts;	/* cma_mcast.node */

	struct list_head dev_node;	/* protected by dev->lock */

	/* bucket->lock: the claim on a port, and how others may share it. */
	struct cma_bucket *bucket;	/* NULL: no port; set by the id's calls only */
	u16 port_ps;			/* port space of that port; set likewise */
	bool listen_hashed;
	bool claim_hard;	/* counted as exclusive */
	bool claim_dual;	/* counted for both IP families */
	bool afonly;		/* under bucket->lock once bound */
	bool reuseaddr;		/* under bucket->lock once bound */
	struct cma_addr_key claim_key;
	struct list_head dst_node;	/* in bucket->dsts, if claim_dst */
	u32 claim_dst;			/* hash of the destination, or 0 */
	struct rhash_head listen_node;	/* in the table of listeners */

	/* cma_topology: the CM listeners of the id. */
	struct list_head listens;	/* cma_listen.id_node; changed under lock, too */
	struct list_head any_node;	/* in cma_any_listeners */

	/*
	 * Resolution.  The id's state allows no other before this one's outcome was
	 * read.
	 */
	struct ib_sa_query *query;
	int query_id;
	int route_status;	/* written before CMA_POST_ROUTE */
	int addr_status;	/* written before CMA_POST_ADDR */
	bool addr_asked;	/* rdma_resolve_ip() has been called */
	struct cma_addr_key resolved;	/* written before CMA_POST_ADDR */

	/* What the consumer sets before it connects or accepts. */
	u32 qp_num;		/* of the last QP; 0: none yet; READ_ONCE() */
	struct rdma_ucm_ece ece;	/* what connect or accept offers */
	u32 seq_num;		/* PSN the peer starts with; 24 bits */
	int backlog;
	u8 tos;
	u8 timeout;		/* ack timeout, 4.096 us * 2^timeout */
	u8 min_rnr_timer;
	bool srq;		/* the QP has an SRQ */
	bool tos_set;
	bool timeout_set;
	bool min_rnr_timer_set;
	bool afonly_set;
	bool follows;		/* IB: the CM sees migrations of the QP; READ_ONCE() */
	bool answered;		/* the request was accepted or rejected */
};

/* A byte more, and each id takes twice the memory, without the checks of locks. */
static_assert(sizeof(struct cma_id) <= 1024 || IS_ENABLED(CONFIG_DEBUG_SPINLOCK) ||
	      IS_ENABLED(CONFIG_DEBUG_MUTEXES) || IS_ENABLED(CONFIG_PREEMPT_RT));

static inline struct cma_id *to_cma(struct rdma_cm_id *id)
{
	return container_of(id, struct cma_id, id);
}

static inline struct sockaddr *cma_src(struct cma_id *idp)
{
	return (struct sockaddr *)&idp->id.route.addr.src_addr;
}

static inline struct sockaddr *cma_dst(struct cma_id *idp)
{
	return (struct sockaddr *)&idp->id.route.addr.dst_addr;
}

static inline sa_family_t cma_family(struct cma_id *idp)
{
	return idp->id.route.addr.src_addr.ss_family;
}

static inline enum rdma_cm_state cma_state(const struct cma_id *idp)
{
	return READ_ONCE(idp->state);
}

static inline struct net *cma_net(const struct cma_id *idp)
{
	return idp->id.route.addr.dev_addr.net;
}

extern struct workqueue_struct *cma_wq;

struct cma_id *cma_id_alloc(struct net *net, rdma_cm_event_handler handler,
			    void *context, enum rdma_ucm_port_space ps,
			    enum ib_qp_type qp_type);
struct cma_id *cma_id_alloc_child(struct cma_id *listener,
				  enum ib_qp_type qp_type);
bool cma_id_tryget(struct cma_id *idp);
void cma_id_put(struct cma_id *idp);
/* Runs the consumer's callback.  If that returns non-zero, the caller destroys the id. */
int cma_id_deliver(struct cma_id *idp, struct rdma_cm_event *event);
/* Releases the handler_mutex, which the caller holds, and destroys the id. */
void cma_id_destroy_locked(struct cma_id *idp);
/* Like cma_id_destroy_locked(), but also drops a reference that the caller holds. */
void cma_id_destroy_pinned(struct cma_id *idp);
void cma_id_post(struct cma_id *idp, enum cma_post what);

/* ---- event.c: the work behind cma_id_post() ---- */
void cma_event_work(struct work_struct *work);

/* ---- netevent.c: netdev and neighbour notifications ---- */
int cma_netevent_init(void);
void cma_netevent_exit(void);
void cma_peer_watch(struct cma_id *idp);
void cma_peer_unwatch(struct cma_id *idp);

#endif
