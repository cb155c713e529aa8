/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCM_PORT_H
#define IBCM_PORT_H

/* Devices and ports, and the paths to peers. */
#include <ibex/cm.h>
#include "cm.h"
#include "report/report.h"

/* ---- port.c: devices, ports, MAD agents ---- */
/* How soon messages of one kind are answered; messages/retry.c. */
struct ibcm_answer_time {
	u32 usecs;		/* smoothed; 0: unknown */
	u32 too_short;		/* first waits in a row that were */
};

struct ibcm_port {
	struct ibcm_device *dev;
	u32 num;
	struct ib_mad_agent __rcu *agent; /* ibcm_srcu; NULL on device removal */
	struct ib_mad_agent *closing;	/* agent to unregister; device removal only */
	struct ibcm_answer_time answer_times[IBCM_KINDS];
	atomic_long_t counters[IBCM_COUNTER_GROUPS][IBCM_KINDS];
	atomic_long_t stats[IBCM_STATS];
	atomic_long_t unanswered[IBCM_KINDS];
	atomic_long_t rejects[IBCM_REJ_WAYS][IBCM_REJ_REASONS];
	struct dentry *debugfs;		/* ibcm_files_lock; NULL: the name is not free yet */
	struct list_head file_node;	/* on ibcm_files; ibcm_files_lock */
	struct workqueue_struct *stray_wq;	/* unbound: new requests and orphans */

	/* messages/dreq.c */
	atomic_t nr_left_dreqs;		/* DREQs resent for destroyed ids */
	int max_left_dreqs;		/* does not change */

	/* messages/orphan.c */
	spinlock_t orphan_lock;
	struct list_head orphans;	/* protected by orphan_lock */
	unsigned int nr_orphans;	/* protected by orphan_lock */

	/* ibcm/path.c */
	spinlock_t ah_lock;
	struct list_head idle_ahs;	/* of ibcm_path, oldest first; ah_lock */
	unsigned int nr_idle_ahs;	/* protected by ah_lock */
	unsigned int ah_linger;		/* jiffies; protected by ah_lock */
	struct delayed_work ah_work;	/* destroys idle handles after ah_linger */
};

struct ibcm_device {
	struct ib_device *ibdev;
	struct kref kref;		/* the client's, and one of each id */
	atomic_t nr_paths;		/* 1 + number of existing paths */
	struct completion no_paths;
	/* Destructions of address handles: begun (counted under ah_lock), and done */
	atomic_t ahs_ending, ahs_ended;
	wait_queue_head_t ah_wait;	/* for ahs_ended */
	u32 nr_ports;
	struct ibcm_port ports[] __counted_by(nr_ports);
};

extern struct srcu_struct ibcm_srcu;
extern struct ib_client ibcm_client;

/*
 * Returns the device with a reference, NULL if @ibdev has no CM.  The caller must be a
 * client of @ibdev that has not been removed.
 */
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

static inline void ibcm_count_rej(struct ibcm_port *port, enum ibcm_rej_way way, u16 reason)
{
	atomic_long_inc(&port->rejects[way][reason < IBCM_REJ_REASONS ? reason : 0]);
}

/* ---- av.c: address vectors ---- */
struct ibcm_av {
	struct rdma_ah_attr ah_attr;	/* holds its SGID attribute */
	struct ibcm_port *port;		/* NULL: not set */
	u16 pkey_index;
	u16 dlid_datapath;		/* IB: DLID for data; 0: that of ah_attr */
	u8 packet_life_time;
	u8 ack_timeout;			/* local ACK timeout of the local QP */
};

int ibcm_av_from_path(struct ibcm_device *dev, struct sa_path_rec *path,
		      const struct ib_gid_attr *sgid_attr, struct ibcm_av *av);
void ibcm_av_destroy(struct ibcm_av *av);
/* Return the entry with a reference, or an error. */
const struct ib_gid_attr *ibcm_gid_on_netdev(const struct ib_gid_attr *like,
					     const union ib_gid *gid);
const struct ib_gid_attr *ibcm_gid_in_net(const struct ib_gid_attr *like,
					  const union ib_gid *gid);

u8 ibcm_ack_timeout(u8 ca_ack_delay, u8 packet_life_time);

/* ---- path.c: paths that MADs are sent along, and their address handles ---- */
struct ibcm_path_key {
	struct ibcm_port *port;
	/* The GRH; all zero without one */
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

/* Looked up by its key; ah, users, idle and idle_since are protected by port->ah_lock. */
struct ibcm_path {
	struct rhash_head node;
	struct ibcm_path_key key;	/* does not change */
	struct rdma_ah_attr ah_attr;	/* does not change; holds its SGID attribute */
	refcount_t ref;			/* of ids, of messages, of the handle */
	struct mutex making;		/* serialises creation of the handle */
	struct ib_ah *ah;		/* the handle, or NULL */
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

#endif
