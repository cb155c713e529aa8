/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_CMA_H
#define IBEX_CMA_H

/*
 * What the files of rdma_cm share.
 *
 * Lock order, outermost first:
 *	id->handler_mutex	one id's callbacks; a second id's is only taken
 *				inside to destroy that id
 *	  cma_topology		which devices exist and which ids listen on all
 *	    id->qp_mutex	the id's QP and the moves of its state
 *	      rtnl
 *		bucket->lock	who uses a port
 *		dev->lock	the ids of a device
 *		  id->lock	an id's state and short fields
 *
 * Nothing that waits for a callback (ib_destroy_cm_id, iw_destroy_cm_id,
 * rdma_addr_cancel, ib_sa_free_multicast, cma_id_free) is called under any of
 * these but rtnl's outside.
 */
#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>
#include <rdma/ib.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_cm.h>
#include <rdma/iw_cm.h>
#include <rdma/rdma_cm.h>
#include <rdma/rdma_cm_ib.h>
#include <ibex/addr.h>
#include <ibex/gid.h>
#include <ibex/restrack.h>

/* CM timing: 4.096 us * 2^20 = 4.3 s a response, 15 retries, 69 s for an MRA. */
#define CMA_RESPONSE_TIMEOUT	20
#define CMA_MAX_RETRIES		15
#define CMA_MRA_TIMEOUT		24
/* 4.096 us * 2^16: how long a RoCE fabric may hold a packet. */
#define CMA_ROCE_PACKET_LIFETIME	16

struct cma_bucket;
struct cma_id;

/* ---- device.c: devices the CMA serves, the ids on them ---- */
struct cma_port {
	enum ib_gid_type default_gid_type;	/* WRITE_ONCE by configfs */
	u8 default_tos;				/* WRITE_ONCE by configfs */
};

struct cma_dev {
	struct ib_device *device;
	refcount_t refs;	/* 1 until removal, 1 an id, a listener, a user */
	struct completion idle;	/* refs reached zero */
	struct list_head node;	/* in cma_devices; cma_topology, or RCU */
	struct rcu_head rcu;
	spinlock_t lock;	/* what names it */
	bool dead;			/* takes no ids; protected by lock */
	struct list_head ids;		/* cma_id.dev_node; protected by lock */
	struct list_head removed_ids;	/* told of the removal; by lock */
	struct list_head hints;		/* gid_hint.c; protected by lock */
	unsigned int nr_hints;		/* protected by lock */
	struct list_head listens;	/* cma_listen.dev_node; by cma_topology */
	struct cma_port ports[];	/* [1 .. phys_port_cnt] */
};

extern struct rw_semaphore cma_topology;
extern struct list_head cma_devices;

int cma_device_init(void);
void cma_device_exit(void);
struct cma_dev *cma_dev_get_by_name(const char *name);
void cma_dev_put(struct cma_dev *dev);
bool cma_dev_tryget(struct cma_dev *dev);

/* What an address resolved to on this host. */
struct cma_binding {
	struct cma_dev *dev;		/* with a reference */
	u32 port;
	const struct ib_gid_attr *sgid_attr;	/* with a reference, or NULL */
};

int cma_id_attach(struct cma_id *idp, struct cma_binding *binding);
void cma_id_detach(struct cma_id *idp);

/* ---- bind.c: which device and port an address belongs to ---- */
/* All set id.device, id.port_num and the SGID, or return -ENODEV. */
int cma_bind_device(struct cma_id *idp);	/* by src_addr and dev_addr */
int cma_bind_iwarp(struct cma_id *idp, struct cma_dev *dev);
int cma_bind_device_ib(struct cma_id *idp);	/* AF_IB: by the DGID's subnet */
bool cma_port_active(struct ib_device *device, u32 port);

/* ---- loopback.c: this host as its own peer ---- */
bool cma_is_this_host(const struct sockaddr *addr);
int cma_bind_loopback(struct cma_id *idp);	/* as those of bind.c; to any */
int cma_resolve_loopback(struct cma_id *idp);
int cma_roce_gid(struct cma_id *idp, struct sockaddr *addr,
		 union ib_gid *gid);

/* ---- gid_hint.c: the last device that answered to an address ---- */
struct cma_gid_key {
	union ib_gid gid;
	const struct net *net;
	int ifindex;
	u32 dev_type;
};

int cma_gid_hint_init(void);
void cma_gid_hint_exit(void);
struct cma_dev *cma_gid_hint_find(const struct cma_gid_key *key, u32 *port);
void cma_gid_hint_add(struct cma_dev *dev, u32 port,
		      const struct cma_gid_key *key);
void cma_gid_hint_del(struct cma_dev *dev, const struct cma_gid_key *key);
void cma_gid_hint_purge(struct cma_dev *dev);

/* ---- addr_key.c: addresses as table keys, and what is asked of them ---- */
struct cma_addr_key {
	u16 family;		/* AF_INET, AF_INET6 or AF_IB */
	u16 pad;
	u32 scope;		/* ifindex of a link-local IPv6 address, or 0 */
	union ib_gid addr;	/* IPv4 in its last four bytes; all 0: any */
};

bool cma_addr_family_ok(const struct sockaddr *addr);
void cma_addr_key_init(struct cma_addr_key *key, const struct sockaddr *addr);
bool cma_addr_any(const struct sockaddr *addr);
bool cma_addr_loopback(const struct sockaddr *addr);
__be16 cma_addr_port(const struct sockaddr *addr);
void cma_addr_set_any(struct sockaddr *addr, sa_family_t family);

/* ---- state.c ---- */

/* Numbered as RDMA_NLDEV_ATTR_RES_STATE of a CM id reports them. */
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

/* How far a connection attempt is, inside RDMA_CM_CONNECT. */
enum cma_conn {
	CMA_CONN_NONE,
	CMA_CONN_PENDING,	/* no outcome was reported yet */
	CMA_CONN_UP,		/* ESTABLISHED was reported */
	CMA_CONN_FAILED,	/* a failure was reported; later events are void */
};

struct cma_id {
	/* Public part.  id.net_work runs cma_event_work(). */
	struct rdma_cm_id id;
	struct rdma_restrack_cm_id track;

	refcount_t refs;	/* 1 until destroyed, 1 a pin, a queued work */
	struct completion idle;	/* refs reached zero */
	struct mutex handler_mutex;
	struct task_struct *handler_task;	/* in a callback; READ_ONCE() */
	struct mutex qp_mutex;
	spinlock_t lock;	/* what names it; pending against destruction */
	enum rdma_cm_state state;	/* written under lock; READ_ONCE() */
	unsigned long pending;	/* enum cma_post; atomic bits */

	struct cma_dev *dev;	/* set under lock once; NULL: no device */
	struct list_head dev_node;	/* protected by dev->lock */
	const struct ib_gid_attr *sgid_attr;	/* with a reference, or NULL */

	struct cma_bucket *bucket;	/* the port; NULL: none */
	u16 port_ps;			/* whose port space it is in */
	struct cma_addr_key claim_key;	/* protected by bucket->lock */
	struct list_head dst_node;	/* in bucket->dsts, if claim_dst */
	u64 claim_dst;			/* where it connects to; by bucket->lock */
	struct rhash_head listen_node;	/* in the table of listeners */
	bool listen_hashed;		/* protected by bucket->lock */
	struct rcu_head rcu;

	union {
		struct ib_cm_id *ib;
		struct iw_cm_id *iw;
	} cm;	/* set under handler_mutex; stays until destruction */
	enum cma_conn conn;	/* protected by handler_mutex */
	u32 qp_num;		/* last QP in use; READ_ONCE(); 0: none yet */
	u32 seq_num;		/* PSN the peer starts with; 24 bits */
	u32 qkey;		/* 0: not set; protected by lock */

	struct ib_sa_query *query;	/* protected by the route query's turn */
	int query_id;
	int route_status;	/* written before CMA_POST_ROUTE */
	int addr_status;	/* written before CMA_POST_ADDR */
	struct cma_addr_key resolved;	/* written before CMA_POST_ADDR */

	struct list_head listens;	/* id_node; by cma_topology and lock */
	struct list_head any_node;	/* in cma_any_listeners; by cma_topology */
	struct list_head mcasts;	/* cma_mcast.node; protected by lock */
	struct rhlist_head peer_node;	/* netevent.c; hashed if peer_hashed */
	bool peer_hashed;		/* protected by handler_mutex */

	struct rdma_ucm_ece ece;	/* what connect or accept offers */
	int backlog;
	u8 tos;
	u8 timeout;		/* ack timeout, 4.096 us * 2^timeout */
	u8 min_rnr_timer;
	bool tos_set;
	bool timeout_set;
	bool min_rnr_timer_set;
	bool afonly_set;
	bool afonly;		/* protected by bucket->lock once bound */
	bool reuseaddr;		/* protected by bucket->lock once bound */
	bool claim_hard;	/* counted as exclusive; by bucket->lock */
	bool claim_dual;	/* counted for both IP families; by bucket->lock */
	bool addr_asked;	/* rdma_resolve_ip() was called once */
	bool srq;		/* of a QP the CMA does not own */
	bool passive;		/* made for a request */
	bool answered;		/* accepted or rejected by its consumer */
};

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
/* Runs the consumer's callback.  Non-zero: the caller destroys the id. */
int cma_id_deliver(struct cma_id *idp, struct rdma_cm_event *event);
/* Ends an id whose handler_mutex the caller holds; releases both. */
void cma_id_destroy_locked(struct cma_id *idp);
/* The same for a caller that has a reference of its own, which is dropped. */
void cma_id_destroy_pinned(struct cma_id *idp);
void cma_id_post(struct cma_id *idp, enum cma_post what);

/* ---- event.c: the work behind cma_id_post() ---- */
void cma_event_work(struct work_struct *work);

/* ---- addr.c ---- */
int cma_addr_event(struct cma_id *idp);

/* ---- listeners.c: who listens where ---- */
int cma_listeners_init(void);
void cma_listeners_exit(void);
int cma_listeners_add(struct cma_id *idp);
void cma_listeners_del(struct cma_id *idp);
struct cma_id *cma_port_find_listener(struct net *net,
				      enum rdma_ucm_port_space ps, __be16 port,
				      const struct sockaddr *addr);

/* ---- port_space.c: ports and who uses them ---- */
struct cma_port_space {
	struct xarray buckets;		/* struct cma_bucket by port */
};

int cma_port_get(struct cma_id *idp, const struct sockaddr *dst);
int cma_port_set_dst(struct cma_id *idp, const struct sockaddr *dst);
void cma_port_put(struct cma_id *idp);
void cma_port_rebind(struct cma_id *idp, const struct cma_addr_key *key);
int cma_port_set_sharing(struct cma_id *idp, bool *field, bool value);
int cma_port_listen(struct cma_id *idp);
void cma_port_unlisten(struct cma_id *idp);

/* ---- main.c: namespaces ---- */
enum {
	CMA_PS_TCP,
	CMA_PS_UDP,
	CMA_PS_IB,
	CMA_PS_IPOIB,
	CMA_NR_PS
};

struct cma_net {
	struct cma_port_space ps[CMA_NR_PS];
};

struct cma_port_space *cma_port_space(struct net *net,
				      enum rdma_ucm_port_space ps);

/* ---- route.c, route_roce.c, route_ib.c ---- */
int cma_route_event(struct cma_id *idp);
int cma_route_alloc(struct cma_id *idp, int nr_paths);
int cma_route_roce(struct cma_id *idp);
int cma_route_roce_set_path(struct cma_id *idp);
int cma_route_ib(struct cma_id *idp, unsigned long timeout_ms);
void cma_route_ib_cancel(struct cma_id *idp);
extern struct ib_sa_client cma_sa_client;
int cma_sa_init(void);
void cma_sa_exit(void);
struct net_device *cma_roce_netdev(struct cma_id *idp);
u8 cma_roce_sl(struct net_device *ndev, u8 tos);
u8 cma_id_tos(struct cma_id *idp);

/* ---- listen.c ---- */
struct cma_listen {
	/* What is reported of a listener on any address, device by device. */
	struct rdma_cm_id id;		/* .event_handler: cma_listen_shown() */
	struct rdma_restrack_cm_id track;
	struct cma_id *idp;		/* on whose behalf; with a reference */
	struct cma_dev *dev;		/* with a reference */
	struct list_head id_node;	/* see cma_id.listens */
	struct list_head dev_node;	/* protected by cma_topology */
	union {
		struct ib_cm_id *ib;
		struct iw_cm_id *iw;
	} cm;
	bool iwarp;
};

int cma_listen_shown(struct rdma_cm_id *id, struct rdma_cm_event *event);
int cma_listen_start(struct cma_id *idp);
void cma_listen_stop(struct cma_id *idp);
void cma_listen_device_added(struct cma_dev *dev);
void cma_listen_device_removed(struct cma_dev *dev);
struct cma_dev *cma_listen_device(struct cma_id *idp, struct ib_device *device);

/* ---- cm_hdr.c: IBA annex A11 ---- */
#define CMA_HDR_SIZE	36

struct cma_hdr_info {
	sa_family_t family;		/* AF_INET or AF_INET6 */
	struct sockaddr_storage src;	/* the requester, with its port */
	struct sockaddr_storage dst;	/* who it asked for; port from sid */
};

u8 cma_hdr_size(struct cma_id *idp);
int cma_hdr_unpack(const void *buf, __be64 service_id,
		   struct cma_hdr_info *info);
#if IS_ENABLED(CONFIG_KUNIT)
void cma_hdr_pack(struct cma_id *idp, void *buf);
#endif
int cma_private_data(struct cma_id *idp, const struct rdma_conn_param *param,
		     u8 max, void **buf, u8 *len);
enum rdma_ucm_port_space cma_sid_ps(__be64 service_id);
__be16 cma_sid_port(__be64 service_id);
__be64 cma_service_id(enum rdma_ucm_port_space ps, const struct sockaddr *addr);

/* ---- source.c: whom a request may come from ---- */
bool cma_source_ok(const struct cma_hdr_info *hdr, struct net *net,
		   struct net_device *ndev, struct ib_cm_id *cm_id,
		   const struct ib_cm_event *event);

/* ---- request.c: incoming IB requests ---- */
int cma_ib_request(struct ib_cm_id *cm_id, const struct ib_cm_event *event);

/* ---- ib_handler.c, iw_handler.c, sidr.c ---- */
int cma_ib_event(struct ib_cm_id *cm_id, const struct ib_cm_event *event);
int cma_iw_event(struct iw_cm_id *cm_id, struct iw_cm_event *event);
int cma_iw_request(struct iw_cm_id *cm_id, struct iw_cm_event *event);
int cma_sidr_event(struct ib_cm_id *cm_id, const struct ib_cm_event *event);
int cma_sidr_connect(struct cma_id *idp, struct rdma_conn_param *param);
int cma_sidr_reply(struct cma_id *idp, enum ib_cm_sidr_status status, u32 qkey,
		   const void *private_data, u8 private_data_len);

/* ---- connect_ib.c, connect_iw.c: what connect.c's calls do below ---- */
int cma_ib_new_cm_id(struct cma_id *idp, ib_cm_handler handler);
int cma_ib_connect(struct cma_id *idp, struct rdma_conn_param *param);
int cma_ib_accept(struct cma_id *idp, struct rdma_conn_param *param);
int cma_ib_confirm(struct cma_id *idp);
int cma_ib_disconnect(struct cma_id *idp);
int cma_iw_connect(struct cma_id *idp, struct rdma_conn_param *param);
int cma_iw_accept(struct cma_id *idp, struct rdma_conn_param *param);

/* ---- qp.c ---- */
int cma_qp_to_rtr(struct cma_id *idp, const struct rdma_conn_param *param);
int cma_qp_to_rts(struct cma_id *idp, const struct rdma_conn_param *param);
int cma_qp_to_err(struct cma_id *idp);
int cma_set_qkey(struct cma_id *idp, u32 qkey);

/* ---- multicast.c, multicast/roce.c ---- */
struct cma_mcast {
	struct list_head node;		/* in idp->mcasts; protected by its lock */
	struct cma_id *idp;
	void *context;			/* the consumer's */
	struct sockaddr_storage addr;
	u8 join_state;
	bool started;			/* the join call is over; by idp->lock */
	bool changed;			/* the consumer is to be told; by idp->lock */
	int status;			/* what of; by idp->lock */
	struct ib_sa_mcmember_rec rec;	/* by idp->lock from the join call on */
	struct ib_sa_multicast *sa;	/* IB only */
	int igmp_ifindex;		/* where the host is a member for us; 0: not */
};

int cma_mcast_event(struct cma_id *idp);
void cma_mcast_leave_all(struct cma_id *idp);
bool cma_mcast_send_only(const struct cma_mcast *mc);
int cma_mcast_roce_join(struct cma_id *idp, struct cma_mcast *mc);
void cma_mcast_roce_leave(struct cma_mcast *mc);

/* ---- netevent.c: netdev and neighbour notifications ---- */
int cma_netevent_init(void);
void cma_netevent_exit(void);
void cma_peer_watch(struct cma_id *idp);
void cma_peer_unwatch(struct cma_id *idp);

/* ---- configfs.c ---- */
int cma_configfs_init(void);
void cma_configfs_exit(void);

#endif
