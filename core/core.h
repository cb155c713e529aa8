/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_CORE_H
#define IBEX_CORE_H

/*
 * What the files of ib_core share.  One section a file; each names what the
 * file owns.  Functions exported to other modules are declared by the kernel's
 * <rdma/...> headers or by <ibex/...>.
 *
 * Lock order, outermost first:
 *	device->unregistration_lock	the life of one device (device.c)
 *	  ibcore_device.client_lock	add() and remove() of its clients (client.c),
 *					and its name (registry.c)
 *	    device->client_data_rwsem	which clients are attached to it
 *	      device->event_handler_rwsem
 *	  ibcore_nets_rwsem		the set of namespaces (netns.c)
 *	    device->compat_devs_mutex	outside of which client_lock may be
 *	      ibcore_registry_rwsem	the sets of devices and clients (registry.c);
 *					taken on (un)registration only, innermost
 *	A sub device's unregistration_lock nests in its parent's.
 *	Nothing here waits for rtnl with a lock of the GID tables held.
 */
#include <linux/netdevice.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <rdma/ib_verbs.h>
#include <rdma/ib_cache.h>
#include <rdma/rdma_netlink.h>
#include <ibex/addr.h>
#include <ibex/cgroup.h>
#include <ibex/client_nl.h>
#include <ibex/device.h>
#include <ibex/gid.h>
#include <ibex/ls.h>
#include <ibex/mmap.h>
#include <ibex/netlink.h>
#include <ibex/qp.h>
#include <ibex/qp_watch.h>
#include <ibex/restrack.h>
#include <ibex/sysfs.h>

/* ---- main.c: module init and exit call each file's init and exit in turn ---- */
extern struct workqueue_struct *ib_comp_wq;		/* bound, IB_POLL_WORKQUEUE */
extern struct workqueue_struct *ib_comp_unbound_wq;	/* IB_POLL_UNBOUND_WORKQUEUE */

/* ---- device.c: allocation, registration, lifetime ---- */
enum ibcore_dev_state {
	IBCORE_DEV_ALLOCATED,	/* known to its driver alone */
	IBCORE_DEV_DISABLED,	/* has a name; no client, no registration reference */
	IBCORE_DEV_ENABLED,	/* in use */
	IBCORE_DEV_GONE,	/* unregistered; memory only */
	IBCORE_DEV_STATES
};

/* What core keeps beside each struct ib_device, in the same allocation. */
struct ibcore_device {
	struct rcu_head rcu;
	enum ibcore_dev_state state;	/* protected by ib.unregistration_lock */
	unsigned int stages;		/* protected by ib.unregistration_lock */

	struct mutex client_lock;	/* clients_open, attached; callbacks; the name */
	bool clients_open;		/* protected by client_lock */
	/*
	 * Changed under client_lock and ib.client_data_rwsem, read under either.
	 */
	struct list_head attached;

	bool compat_open;		/* protected by ib.compat_devs_mutex */
	bool subdev_open;		/* protected by ib.subdev_lock */

	spinlock_t event_lock;		/* events_open, events */
	bool events_open;		/* protected by event_lock */
	struct list_head events;	/* protected by event_lock */
	struct work_struct event_work;

	atomic_t probes;		/* qp_probe.c: queries under way */
	bool psn_moves;			/* qp_probe.c: seen so; never unset */

	struct ib_device ib ____cacheline_aligned;	/* last: the driver's begins here */
};

static inline struct ibcore_device *ibcore_priv(struct ib_device *dev)
{
	return container_of(dev, struct ibcore_device, ib);
}

int ibcore_device_init(void);
void ibcore_device_exit(void);
/* Takes @dev out of @from, its namespace, and registers it anew in @to. */
int ibcore_device_move(struct ib_device *dev, struct net *from, struct net *to);

/* ---- registry.c: the set of devices, their names and indices ---- */
extern struct rw_semaphore ibcore_registry_rwsem;

int ibcore_registry_add(struct ib_device *dev, const char *name);
void ibcore_registry_remove(struct ib_device *dev);
bool ibcore_registry_empty(void);
void ibcore_registry_exit(void);
/*
 * The device of the lowest index from *@index on, with a memory reference
 * (put_device), whatever its state; *@index becomes its index.  Or NULL.
 */
struct ib_device *ibcore_registry_next(u32 *index);
/* The same with a registration reference, skipping devices that have none. */
struct ib_device *ibcore_device_get_next(u32 *index);

/* With a registration reference (ib_device_put), or NULL; obeys netns access. */
struct ib_device *ibcore_device_get_by_index(const struct net *net, u32 index);
int ibcore_device_rename(struct ib_device *dev, const char *name);
/* The name stays; where sysfs shows it follows dev->coredev.rdma_net. */
int ibcore_device_rename_moved(struct ib_device *dev);

/*
 * Calls @fn, with a registration reference held and no lock, for every device
 * that @net may see with an index of @start or more, in order of index, until
 * @fn answers non-zero, which is returned.
 */
int ibcore_walk_devices(const struct net *net, u32 start,
			int (*fn)(struct ib_device *dev, void *arg),
			void *arg);

/* ---- client.c: clients, their data, their netlink information ---- */
void ibcore_clients_init(struct ib_device *dev);	/* on allocation */
int ibcore_clients_add(struct ib_device *dev);		/* on registration */
void ibcore_clients_remove(struct ib_device *dev);	/* on unregistration */
/* The caller holds client_lock. */
void ibcore_clients_rename(struct ib_device *dev);
void ibcore_clients_exit(void);
/*
 * Fills @res from the client called @client_name, for @dev or (NULL) globally.
 * @dev is pinned by the caller.  res->cdev is referenced: put_device() it.
 */
int ibcore_client_nl_info(struct ib_device *dev, const char *client_name,
			  struct ib_client_nl_info *res);

/* ---- event.c ---- */
int ibcore_event_init(void);
void ibcore_event_exit(void);
void ibcore_events_init(struct ib_device *dev);		/* on allocation */
int ibcore_events_open(struct ib_device *dev);		/* caches are ready */
void ibcore_events_close(struct ib_device *dev);	/* nothing runs any more */
void ibcore_events_flush(struct ib_device *dev);

/* ---- port.c: port_data, immutables, port queries ---- */
int ibcore_ports_alloc(struct ib_device *dev);	/* port_data; may be repeated */
int ibcore_ports_setup(struct ib_device *dev);	/* and the immutables */
void ibcore_ports_release(struct ib_device *dev);

/* ---- netdev.c: the net_device behind a port ---- */
void ibcore_netdev_release(struct ib_device *dev);
/* RDMA_NETDEV_ATTACH_EVENT for every port that has a netdev. */
void ibcore_netdev_notify_all(struct ib_device *dev);

/* ---- netns.c: per-namespace state, compat devices, shared or exclusive ---- */
struct ibcore_net {
	possible_net_t net;
	struct sock *nl_sock;	/* netlink.c */
	u32 id;			/* key in a device's compat_devs */
	struct list_head node;	/* netns.c: in the set, under ibcore_nets_rwsem */
};

extern unsigned int ibcore_net_id;
extern bool ibcore_netns_mode;		/* the module's parameter netns_mode */

int ibcore_netns_init(void);
void ibcore_netns_exit(void);
bool ibcore_netns_shared(void);
int ibcore_netns_set_shared(bool shared);
/* Consumes the caller's registration reference on @dev, whatever it returns. */
int ibcore_device_set_netns(struct sk_buff *skb, struct ib_device *dev,
			    u32 ns_fd);
int ibcore_compat_devs_add(struct ib_device *dev);
void ibcore_compat_devs_remove(struct ib_device *dev);
/* The caller holds dev->compat_devs_mutex. */
void ibcore_compat_devs_rename(struct ib_device *dev, const char *name);

/* ---- subdev.c ---- */
void ibcore_subdevs_open(struct ib_device *dev);
void ibcore_subdevs_remove(struct ib_device *dev);

/* ---- sysfs.c, hw_stats.c ---- */
extern struct class ibcore_class;			/* "infiniband" */
extern const struct attribute_group ibcore_dev_attr_group;

int ibcore_sysfs_setup_ports(struct ib_core_device *coredev);
void ibcore_sysfs_remove_ports(struct ib_core_device *coredev);
int ibcore_hw_stats_setup_device(struct ib_device *dev);
int ibcore_hw_stats_setup_port(struct ib_device *dev, u32 port,
			       const struct attribute_group **group);
void ibcore_hw_stats_release(struct ib_device *dev);
struct rdma_hw_stats *ibcore_hw_stats_get_port(struct ib_device *dev, u32 port);
/* Reads what is older than its lifespan; the caller holds stats->lock. */
int ibcore_hw_stats_refresh(struct ib_device *dev, struct rdma_hw_stats *stats,
			    u32 port, int index);
bool ibcore_hw_stats_is_optional(const struct rdma_hw_stats *stats, int index);

/* ---- sysfs_port.c, sysfs_pma.c ---- */
struct ib_port;

struct ib_port *ibcore_sysfs_port_add(struct ib_core_device *coredev, u32 port);
void ibcore_sysfs_port_del(struct ib_port *port);
struct ib_port *ibcore_sysfs_port_first(struct ib_core_device *coredev);
/* Adds "counters" to the directory of a port that has a performance agent. */
int ibcore_pma_add(struct ib_device *dev, u32 port, struct kobject *dir);

/* ---- cache.c: P_Key, LMC, port state, subnet prefix ---- */
/*
 * What device.c calls, before clients see the device and after they left it.
 * These set up, clean and release the GID tables too, and between setup and
 * cleanup have them follow the netdevs (roce_gid.c).
 */
int ibcore_cache_setup(struct ib_device *dev);
void ibcore_cache_cleanup(struct ib_device *dev);	/* after clients left it */
void ibcore_cache_release(struct ib_device *dev);	/* on the last put_device */
/* Refreshes what @event can have changed; may sleep; before handlers run. */
void ibcore_cache_event(const struct ib_event *event);

/* ---- gid.c, gid_sync.c, gid_find.c: GID tables, references on entries ---- */
/* The addresses by which drivers program an entry: mlx5 its own, bnxt_re the port's. */
struct ibcore_gid_macs {
	u8 ndev[ETH_ALEN];	/* of the entry's net_device */
	u8 port[ETH_ALEN];	/* of the port's */
};

/*
 * One entry.  Its index is taken from the moment it is published until its last
 * reference is put.  The driver knows it for as long as the table has it; where
 * add_gid leaves a context, until its last user has gone, or the table is closed.
 */
struct ibcore_gid_entry {
	struct ib_gid_attr attr;	/* constant once published, save ndev */
	struct ib_gid_table *table;	/* counted */
	refcount_t ref;
	atomic_t users;			/* QPs and AHs, each with a reference */
	struct hlist_node hash;		/* written under table->lock; RCU */
	struct list_head link;		/* in table->entries; table->lock */
	void *context;			/* the driver's; constant while in use */
	bool in_hw;			/* added, not deleted; table->lock to write */
	bool gone;			/* the table let go of it; likewise */
	bool aside;			/* gets a new MAC; likewise */
	bool awaited;			/* that users gets to 0; likewise */
	struct net_device *ndev;	/* what attr.ndev's reference is on */
	netdevice_tracker tracker;
	struct ibcore_gid_macs macs;	/* as programmed; table->lock */
	struct work_struct work;	/* release, queued by the last put */
	struct work_struct idle;	/* by the last user; has a reference */
	struct rcu_head rcu;		/* detaching ndev, then freeing */
};

struct ib_gid_table {
	struct ib_device *dev;
	u32 port;
	unsigned int len;
	unsigned int reserved;		/* default GIDs: the first indices */
	bool roce;			/* core chooses the indices */
	refcount_t ref;			/* the port's, and one an entry */
	struct mutex lock;		/* all changes; held across add_gid */
	bool closed;			/* no more add_gid; lock */
	bool starved;			/* a GID found no index; lock */
	unsigned long *used;		/* indices taken; lock */
	struct list_head entries;	/* all not yet released; lock */
	unsigned int hash_mask;
	struct hlist_head *hash;	/* by GID; written under lock; RCU */
	struct ibcore_gid_entry __rcu *slot[];	/* by index; likewise */
};

/* A GID that a RoCE port should have. */
struct ibcore_gid_want {
	union ib_gid gid;
	enum ib_gid_type type;
	bool is_default;		/* at the index reserved for its type */
	struct ibcore_gid_macs macs;
	struct net_device *ndev;	/* held */
	netdevice_tracker tracker;
};

/* All that a port should have; n counts on when cap is reached. */
struct ibcore_gid_wants {
	struct ibcore_gid_want *want;
	unsigned int n;
	unsigned int cap;
	unsigned long types;		/* of the port */
	struct net_device *port_ndev;	/* held, or NULL */
};

int ibcore_gid_setup(struct ib_device *dev);	/* cache.c calls these three */
void ibcore_gid_cleanup(struct ib_device *dev);
void ibcore_gid_release(struct ib_device *dev);
int ibcore_gid_update_ib(struct ib_device *dev, u32 port);	/* IB and iWARP */
bool ibcore_gid_0_differs(struct ib_device *dev, u32 port);	/* the same */
/* Makes a RoCE port's table what @want says; *@changed is only ever set. */
int ibcore_gid_sync(struct ib_device *dev, u32 port,
		    const struct ibcore_gid_want *want, unsigned int n,
		    bool *changed);
int ibcore_gid_del_netdev(struct ib_device *dev, u32 port,
			  const struct net_device *ndev);
bool ibcore_gid_has_netdev(struct ib_device *dev, u32 port,
			   struct net_device *ndev);
bool ibcore_gid_use(const struct ib_gid_attr *attr);
void ibcore_gid_unuse(const struct ib_gid_attr *attr);
/* The port's table or NULL, also for a port that does not exist. */
struct ib_gid_table *ibcore_gid_table(const struct ib_device *dev, u32 port);
struct hlist_head *ibcore_gid_bucket(struct ib_gid_table *table,
				     const union ib_gid *gid);
extern struct workqueue_struct *ibcore_gid_wq;	/* roce_gid.c makes it */

/* gid.c, for gid_sync.c: all under table->lock. */
struct ibcore_gid_entry *ibcore_gid_slot(struct ib_gid_table *table,
					 unsigned int ix);
struct ibcore_gid_entry *ibcore_gid_alloc(struct ib_gid_table *table,
					  unsigned int ix,
					  const struct ibcore_gid_want *want);
void ibcore_gid_publish(struct ibcore_gid_entry *entry);
/* All three: allocated, in the hardware, published. */
int ibcore_gid_insert(struct ib_gid_table *table, unsigned int ix,
		      const struct ibcore_gid_want *want);
void ibcore_gid_remove(struct ibcore_gid_entry *entry);
void ibcore_gid_let_go(struct ibcore_gid_entry *entry);
/* Readers find it, and no longer do. */
void ibcore_gid_show(struct ibcore_gid_entry *entry);
void ibcore_gid_hide(struct ibcore_gid_entry *entry);
/* The driver learns it, and forgets it. */
int ibcore_gid_hw_add(struct ibcore_gid_entry *entry);
void ibcore_gid_hw_del(struct ibcore_gid_entry *entry);

/* ---- roce_gid.c: GID tables follow netdevs, addresses, VLANs, bonds ---- */
int ibcore_roce_init(void);
void ibcore_roce_exit(void);
int ibcore_roce_setup(struct ib_device *dev);
void ibcore_roce_cleanup(struct ib_device *dev);
/* Has @port's table computed again, soon; @dev is not dereferenced. */
void ibcore_roce_kick(const struct ib_device *dev, u32 port);

/* ---- roce_want.c: which GIDs a RoCE port should have ---- */
int ibcore_gid_wants_get(struct ibcore_gid_wants *set, struct ib_device *dev,
			 u32 port);
void ibcore_gid_wants_put(struct ibcore_gid_wants *set);

/* ---- addr.c: IP address to link address ---- */
int ibcore_addr_init(void);
void ibcore_addr_exit(void);
/* The netdev, DMAC and hop limit that lead from @sgid to @dgid (RoCE v1, v2). */
int ibcore_addr_l2_by_grh(const union ib_gid *sgid, const union ib_gid *dgid,
			  u8 *dmac, const struct ib_gid_attr *sgid_attr,
			  int *hoplimit);

/* ---- addr_local.c: this host's own addresses ---- */
/* The bytes that a link address does not have are zero, of MAX_ADDR_LEN. */
void ibcore_addr_copy_l2(unsigned char *to, const void *from,
			 const struct net_device *dev);
/* The net_device that has the address @sa, or NULL.  Under rcu_read_lock. */
struct net_device *ibcore_addr_owner(struct net *net, const struct sockaddr *sa);

/* ---- ls.c: questions to the local service ---- */
int ibcore_ls_init(void);
void ibcore_ls_exit(void);

/* ---- addr_ls.c: GIDs behind an IB router ---- */
enum ibcore_addr_ls_state {
	IBCORE_ADDR_LS_UNASKED,
	IBCORE_ADDR_LS_ASKED,
	IBCORE_ADDR_LS_ANSWERED,
	IBCORE_ADDR_LS_FAILED,
};

struct ibcore_addr_ls {
	struct ibcore_ls_question question;
	struct delayed_work *work;	/* of the request */
	spinlock_t lock;
	enum ibcore_addr_ls_state state; /* lock, once it is asked */
	bool closed;			/* lock */
	int ifindex;			/* asked about; of the request's work */
	union ib_gid dgid;		/* once it is answered */
};

void ibcore_addr_ls_init(struct ibcore_addr_ls *ls, struct workqueue_struct *wq,
			 struct delayed_work *work);
int ibcore_addr_ls_resolve(struct ibcore_addr_ls *ls, const struct sockaddr *dst,
			   int ifindex, u8 *ha);
void ibcore_addr_ls_close(struct ibcore_addr_ls *ls);
/* In addr.c: references on the request that a question is part of. */
void ibcore_addr_ls_get(struct ibcore_addr_ls *ls);
void ibcore_addr_ls_put(struct ibcore_addr_ls *ls);

/* ---- restrack.c ---- */
int ibcore_restrack_setup(struct ib_device *dev);
void ibcore_restrack_release(struct ib_device *dev);
/*
 * Holds the first entry numbered *@id or more, setting *@id to its number, or
 * returns NULL.  @show_dd: also the drivers' own QPs.
 */
struct rdma_restrack_entry *
ibcore_restrack_next(struct ib_device *dev, enum rdma_restrack_type type,
		     unsigned long *id, bool show_dd);
#if IS_ENABLED(CONFIG_KUNIT)
/* Entries that the above has looked at; not exact when there are several at it. */
extern unsigned long ibcore_restrack_visits;
#endif

/* ---- counters.c: rdma_counter binding of QPs ---- */
void ibcore_counter_setup(struct ib_device *dev);
void ibcore_counter_release(struct ib_device *dev);
int ibcore_counter_bind_qp_auto(struct ib_qp *qp, u32 port);
int ibcore_counter_unbind_qp(struct ib_qp *qp, bool force);
/* Adds to @sums what QPs' counters, present and past, have of @n from @first. */
void ibcore_counter_add_hwstats(struct ib_device *dev, u32 port, int first,
				int n, u64 *sums);
int ibcore_counter_query(struct rdma_counter *counter);
int ibcore_counter_get_mode(struct ib_device *dev, u32 port,
			    enum rdma_nl_counter_mode *mode,
			    enum rdma_nl_counter_mask *mask);
int ibcore_counter_set_auto(struct ib_device *dev, u32 port,
			    enum rdma_nl_counter_mask mask,
			    struct netlink_ext_ack *extack);
/* @counter_id 0 allocates a counter and is set to its number. */
int ibcore_counter_bind_qpn(struct ib_device *dev, u32 port, u32 qp_num,
			    u32 *counter_id);
int ibcore_counter_unbind_qpn(struct ib_device *dev, u32 port, u32 qp_num,
			      u32 counter_id);

/* ---- cgroup.c ---- */
void ibcore_cgroup_setup(struct ib_device *dev);
void ibcore_cgroup_release(struct ib_device *dev);

/* ---- netlink.c, nldev*.c ---- */
int ibcore_nl_init(void);
void ibcore_nl_exit(void);
int ibcore_nl_net_init(struct ibcore_net *cnet);
void ibcore_nl_net_exit(struct ibcore_net *cnet);
int ibcore_nldev_init(void);
void ibcore_nldev_exit(void);

/* One request of userspace; what @dev and @port are comes from its attributes. */
struct ibcore_nldev_req {
	struct sk_buff *skb;		/* the request */
	struct nlmsghdr *nlh;
	struct nlattr **tb;		/* by RDMA_NLDEV_ATTR_ */
	struct netlink_ext_ack *extack;
	struct net *net;		/* of the requester */
	struct ib_device *dev;		/* registration reference, or NULL */
	u32 port;
	struct sk_buff *msg;		/* the reply, if the command has one */
	bool admin;			/* requester has CAP_NET_ADMIN */
};

typedef int (*ibcore_nldev_fn)(struct ibcore_nldev_req *req);

extern const struct nla_policy ibcore_nldev_policy[RDMA_NLDEV_ATTR_MAX];

/* Parses the request that a dump answers; its tb[] is the caller's @tb. */
int ibcore_nldev_dump_parse(struct netlink_callback *cb, struct nlattr **tb);
struct ib_device *ibcore_nldev_get_dev(const struct net *net,
				       struct nlattr **tb);
int ibcore_nldev_put_handle(struct sk_buff *msg, struct ib_device *dev);
int ibcore_nldev_put_u64(struct sk_buff *msg, int attr, u64 value);
int ibcore_nldev_put_name(struct sk_buff *msg, int attr,
			  const struct ib_device *dev);
/* What RDMA_NLDEV_ATTR_NDEV_ says of the netdev of @port, for @net to read. */
int ibcore_nldev_put_netdev(struct sk_buff *msg, struct ib_device *dev,
			    u32 port, const struct net *net);

int ibcore_nldev_dev_get(struct ibcore_nldev_req *req);
typedef int (*ibcore_nldev_put_fn)(struct sk_buff *msg, struct ib_device *dev);
int ibcore_nldev_dump_devs(struct sk_buff *skb, struct netlink_callback *cb,
			   ibcore_nldev_put_fn put);
int ibcore_nldev_dev_dump(struct sk_buff *skb, struct netlink_callback *cb);
int ibcore_nldev_dev_set(struct ibcore_nldev_req *req);
int ibcore_nldev_newdev(struct ibcore_nldev_req *req);
int ibcore_nldev_deldev(struct ibcore_nldev_req *req);
int ibcore_nldev_port_get(struct ibcore_nldev_req *req);
int ibcore_nldev_port_dump(struct sk_buff *skb, struct netlink_callback *cb);
int ibcore_nldev_newlink(struct ibcore_nldev_req *req);
int ibcore_nldev_dellink(struct ibcore_nldev_req *req);
int ibcore_nldev_sys_get(struct ibcore_nldev_req *req);
int ibcore_nldev_sys_set(struct ibcore_nldev_req *req);
int ibcore_nldev_chardev_get(struct ibcore_nldev_req *req);
int ibcore_nldev_res_summary(struct ibcore_nldev_req *req);
int ibcore_nldev_res_summary_dump(struct sk_buff *skb,
				  struct netlink_callback *cb);
int ibcore_nldev_res_get(struct ibcore_nldev_req *req);
int ibcore_nldev_res_dump(struct sk_buff *skb, struct netlink_callback *cb);
int ibcore_nldev_stat_get(struct ibcore_nldev_req *req);
int ibcore_nldev_stat_dump(struct sk_buff *skb, struct netlink_callback *cb);
int ibcore_nldev_stat_set(struct ibcore_nldev_req *req);
int ibcore_nldev_stat_del(struct ibcore_nldev_req *req);
int ibcore_nldev_stat_status(struct ibcore_nldev_req *req);

/* A kind of resource: how its entries are named, numbered and described. */
struct ibcore_nldev_res_kind {
	enum rdma_restrack_type type;
	u16 table;	/* RDMA_NLDEV_ATTR_ of the nest around a page */
	u16 entry;	/* of the nest around each entry */
	u16 id;		/* of the number an entry is asked for by */
	/* -EAGAIN: not one to show; -EMSGSIZE: @msg is full */
	int (*fill)(struct sk_buff *msg, bool admin,
		    struct rdma_restrack_entry *res, u32 port);
	/* Of what QPs belong to: whether @qp does, and to which number. */
	bool (*of_qp)(const struct ib_qp *qp, u32 *id);
	bool qp_ranges;	/* QPs of successive numbers are named as a range */
};

/* ---- nldev_qps.c ---- */
struct ibcore_nldev_qps;

struct ibcore_nldev_qps *
ibcore_nldev_qps_collect(struct ib_device *dev,
			 const struct ibcore_nldev_res_kind *kind);
int ibcore_nldev_qps_put(struct sk_buff *msg, const struct ibcore_nldev_qps *qps,
			 const struct ibcore_nldev_res_kind *kind, u32 owner);

extern const struct ibcore_nldev_res_kind ibcore_nldev_counter_kind;
extern const struct ibcore_nldev_res_kind ibcore_nldev_mr_stat_kind;
const struct ibcore_nldev_res_kind *ibcore_nldev_res_kind(u32 cmd);
int ibcore_nldev_put_owner(struct sk_buff *msg,
			   const struct rdma_restrack_entry *res);
int ibcore_nldev_put_res(struct ibcore_nldev_req *req,
			 const struct ibcore_nldev_res_kind *kind);
int ibcore_nldev_dump_res(struct sk_buff *skb, struct netlink_callback *cb,
			  const struct ibcore_nldev_res_kind *kind,
			  struct nlattr **tb);
/* Tells RDMA_NL_GROUP_NOTIFY of a device or port change, where the ABI has it. */
void ibcore_nldev_notify(struct ib_device *dev, u32 port,
			 enum rdma_nl_notify_event_type type);

/* ---- cq_pool.c ---- */
void ibcore_cq_pool_init(struct ib_device *dev);
void ibcore_cq_pool_cleanup(struct ib_device *dev);

/* ---- ah_attr.c ---- */
/* Checks @attr for @dev; a QP or AH may be made from it until it is unpinned. */
int ibcore_ah_attr_pin(struct ib_device *dev, struct rdma_ah_attr *attr);
void ibcore_ah_attr_unpin(struct rdma_ah_attr *attr);
/* The same of what the QP or AH took over. */
void ibcore_sgid_unpin(const struct ib_gid_attr *sgid_attr);
/* DMAC of a RoCE address from its DGID: multicast, link local, or resolved. */
int ibcore_ah_resolve_dmac(struct ib_device *dev, struct rdma_ah_attr *attr);

/* ---- cq.c ---- */
/* Returns once what is in a core-managed CQ now has been polled; may sleep. */
void ibcore_cq_flush(struct ib_cq *cq);
/* Counts who waits for a receive on the CQ; NULL if core does not poll it. */
atomic_t *ibcore_cq_awaited(struct ib_cq *cq);

/* ---- qp.c ---- */
struct ib_qp *ibcore_create_qp(struct ib_device *dev, struct ib_pd *pd,
			       struct ib_qp_init_attr *attr,
			       struct ib_udata *udata,
			       struct ib_uqp_object *uobj, const char *caller);
/*
 * Destruction in two steps.  The first is the provider's and may fail, when the
 * QP is as before; the second frees the QP and cannot.
 */
int ibcore_qp_teardown(struct ib_qp *qp, struct ib_udata *udata);
void ibcore_qp_free(struct ib_qp *qp);

/* ---- qp_watch.c: who waits for the peer to send something ---- */
int ibcore_qp_watch_init(void);
void ibcore_qp_watch_exit(void);
void ibcore_qp_arrived(struct ib_qp *qp, enum ibcore_qp_proof proof);
void ibcore_qp_received(const struct ib_wc *wc, int n);
void ibcore_qp_last_probe(struct ib_qp *qp);
void ibcore_qp_watch_gone(struct ib_qp *qp);

/* ---- qp_probe.c: a QP's expected PSN, and the one that it was given ---- */
struct ib_qp *ibcore_qp_zalloc(struct ib_device *dev);
void ibcore_qp_psn_note(struct ib_qp *qp, const struct ib_qp_attr *attr, int mask);
u32 ibcore_qp_psn_forget(struct ib_qp *qp);
void ibcore_qp_psn_restore(struct ib_qp *qp, u32 note);

/* ---- xrcd.c: XRC domains and the handles of their target QPs ---- */
/* Enters a new target QP in its domain; answers with its first handle. */
struct ib_qp *ibcore_xrc_share(struct ib_qp *real,
			       const struct ib_qp_init_attr *attr);
/* Closes a handle; the last one takes the QP with it. */
int ibcore_xrc_close(struct ib_qp *handle, struct ib_udata *udata);

#endif
