/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCORE_DEVICE_H
#define IBCORE_DEVICE_H

/* Devices: lifetime, clients, ports, namespaces, resource tracking and counters. */
#include <net/netns/generic.h>
#include <rdma/rdma_netlink.h>
#include <ibex/cgroup.h>
#include <ibex/client_nl.h>
#include <ibex/device.h>
#include <ibex/restrack.h>

#include "core.h"

/* ---- device.c: allocation, registration, lifetime ---- */
enum ibcore_dev_state {
	IBCORE_DEV_ALLOCATED,	/* known only to its driver */
	IBCORE_DEV_DISABLED,	/* has a name; no client, no registration reference */
	IBCORE_DEV_ENABLED,	/* in use */
	IBCORE_DEV_GONE,	/* unregistered; only the memory remains */
	IBCORE_DEV_STATES
};

/* Core's private data of a struct ib_device, in the same allocation. */
struct ibcore_device {
	struct rcu_head rcu;
	enum ibcore_dev_state state;	/* protected by ib.unregistration_lock */
	unsigned int stages;		/* protected by ib.unregistration_lock */

	struct mutex client_lock;	/* clients_open, attached, callbacks, name */
	bool clients_open;		/* protected by client_lock */
	/*
	 * Attached clients.  Changed under both client_lock and
	 * ib.client_data_rwsem, read under either.
	 */
	struct list_head attached;

	bool compat_open;		/* protected by ib.compat_devs_mutex */
	bool subdev_open;		/* protected by ib.subdev_lock */
	unsigned int subdevs_leaving;	/* being deleted, off the list; likewise */

	spinlock_t event_lock;		/* protects events_open, events */
	bool events_open;		/* protected by event_lock */
	struct list_head events;	/* protected by event_lock */
	struct work_struct event_work;

	atomic_t probes;		/* qp_probe.c: query_qp calls under way */
	bool psn_moves;			/* qp_probe.c: rq_psn seen to advance; sticky */
	atomic_t xrc_rcv_qps;		/* xrc_rcv.c: receive QPs of its XRC domains */

	/* Last: the driver's struct begins with it. */
	struct ib_device ib ____cacheline_aligned;
};

static inline struct ibcore_device *ibcore_priv(struct ib_device *dev)
{
	return container_of(dev, struct ibcore_device, ib);
}

int ibcore_device_init(void);
void ibcore_device_exit(void);
/* Moves @dev from its namespace @from to @to: disables and enables it again. */
int ibcore_device_move(struct ib_device *dev, struct net *from, struct net *to);

/* ---- registry.c: the set of devices, their names and indices ---- */
extern struct rw_semaphore ibcore_registry_rwsem;

int ibcore_registry_add(struct ib_device *dev, const char *name);
void ibcore_registry_remove(struct ib_device *dev);
bool ibcore_registry_empty(void);
void ibcore_registry_exit(void);
/*
 * Returns the device with the lowest index that is at least *@index, in any state,
 * with a memory reference (put_device), and sets *@index to its index; or NULL.
 */
struct ib_device *ibcore_registry_next(u32 *index);
/* The same with a registration reference (ib_device_put); skips disabled devices. */
struct ib_device *ibcore_device_get_next(u32 *index);

/* Returns a registration reference (ib_device_put); NULL if @net has no access. */
struct ib_device *ibcore_device_get_by_index(const struct net *net, u32 index);
int ibcore_device_rename(struct ib_device *dev, const char *name);
/* Moves the sysfs directory to the namespace dev->coredev.rdma_net; same name. */
int ibcore_device_rename_moved(struct ib_device *dev);

/*
 * Calls @fn for each device with an index of at least @start that @net may access,
 * in order of index, with a registration reference and no lock held.  Stops when
 * @fn returns non-zero, and returns that.
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
 * Fills @res from the client named @client_name, for @dev, or globally if @dev is
 * NULL.  The caller holds a reference on @dev, and calls put_device(res->cdev).
 */
int ibcore_client_nl_info(struct ib_device *dev, const char *client_name,
			  struct ib_client_nl_info *res);

/* ---- event.c ---- */
int ibcore_event_init(void);
void ibcore_event_exit(void);
void ibcore_events_init(struct ib_device *dev);		/* on allocation */
int ibcore_events_open(struct ib_device *dev);		/* once the caches are set up */
void ibcore_events_close(struct ib_device *dev);	/* waits for the running work */
void ibcore_events_flush(struct ib_device *dev);

/* ---- port.c: port_data, immutables, port queries ---- */
int ibcore_ports_alloc(struct ib_device *dev);	/* port_data; may be repeated */
int ibcore_ports_setup(struct ib_device *dev);	/* also reads the immutables */
void ibcore_ports_release(struct ib_device *dev);

/* ---- netdev.c: the net_device behind a port ---- */
void ibcore_netdev_release(struct ib_device *dev);
/* Sends RDMA_NETDEV_ATTACH_EVENT for every port that has a netdev. */
void ibcore_netdev_notify_all(struct ib_device *dev);

/* ---- netns.c: per-namespace state, compat devices, shared or exclusive ---- */
struct ibcore_net {
	possible_net_t net;
	struct sock *nl_sock;	/* netlink.c */
	u32 id;			/* key in a device's compat_devs */
	struct list_head node;	/* netns.c: in nets, under ibcore_nets_rwsem */
};

extern unsigned int ibcore_net_id;
extern bool ibcore_netns_mode;		/* module parameter netns_mode */

int ibcore_netns_init(void);
void ibcore_netns_exit(void);
bool ibcore_netns_shared(void);
int ibcore_netns_set_shared(bool shared);
/* Consumes the caller's registration reference on @dev, also on error. */
int ibcore_device_set_netns(struct sk_buff *skb, struct ib_device *dev,
			    u32 ns_fd);
int ibcore_compat_devs_add(struct ib_device *dev);
void ibcore_compat_devs_remove(struct ib_device *dev);
/* The caller holds dev->compat_devs_mutex. */
void ibcore_compat_devs_rename(struct ib_device *dev, const char *name);

/* ---- subdev.c ---- */
#ifdef IBEX_NO_SUB_DEVICES
static inline void ibcore_subdevs_init(struct ib_device *dev)
{
}

static inline void ibcore_subdevs_destroy(struct ib_device *dev)
{
}

static inline void ibcore_subdevs_open(struct ib_device *dev)
{
}

static inline void ibcore_subdevs_remove(struct ib_device *dev)
{
}
#else
void ibcore_subdevs_init(struct ib_device *dev);
void ibcore_subdevs_destroy(struct ib_device *dev);
void ibcore_subdevs_open(struct ib_device *dev);
void ibcore_subdevs_remove(struct ib_device *dev);
#endif

/* ---- hw_stats.c ---- */
int ibcore_hw_stats_setup_device(struct ib_device *dev);
int ibcore_hw_stats_setup_port(struct ib_device *dev, u32 port,
			       const struct attribute_group **group);
void ibcore_hw_stats_release(struct ib_device *dev);
struct rdma_hw_stats *ibcore_hw_stats_get_port(struct ib_device *dev, u32 port);
/* Updates values older than their lifespan; the caller holds stats->lock. */
int ibcore_hw_stats_refresh(struct ib_device *dev, struct rdma_hw_stats *stats,
			    u32 port, int index);
bool ibcore_hw_stats_is_optional(const struct rdma_hw_stats *stats, int index);

/* ---- restrack.c ---- */
int ibcore_restrack_setup(struct ib_device *dev);
void ibcore_restrack_release(struct ib_device *dev);
/*
 * Takes a reference on the first entry whose number is at least *@id and sets *@id
 * to its number, or returns NULL.  @show_dd: include the drivers' own QPs.
 */
struct rdma_restrack_entry *
ibcore_restrack_next(struct ib_device *dev, enum rdma_restrack_type type,
		     unsigned long *id, bool show_dd);
#if IS_ENABLED(CONFIG_KUNIT)
/* Entries ibcore_restrack_next() looked at; inexact if several threads call it. */
extern unsigned long ibcore_restrack_visits;
#endif

/* ---- counters.c: rdma_counter binding of QPs ---- */
void ibcore_counter_setup(struct ib_device *dev);
void ibcore_counter_release(struct ib_device *dev);
int ibcore_counter_bind_qp_auto(struct ib_qp *qp, u32 port);
int ibcore_counter_unbind_qp(struct ib_qp *qp, bool force);
/* Adds values @first to @first + @n - 1 of all QP counters, also freed ones, to @sums. */
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

#endif
