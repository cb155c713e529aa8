/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCORE_GID_H
#define IBCORE_GID_H

/* What is cached of ports: GID tables, P_Keys, LMC and state. */
#include <linux/netdevice.h>
#include <ibex/gid.h>

#include "core.h"

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
	bool gone;			/* no longer in the table; likewise */
	bool updating;			/* gets a new MAC; likewise */
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
void ibcore_gid_drop(struct ibcore_gid_entry *entry);
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
void ibcore_roce_resync(const struct ib_device *dev, u32 port);

/* ---- roce_want.c: which GIDs a RoCE port should have ---- */
int ibcore_gid_wants_get(struct ibcore_gid_wants *set, struct ib_device *dev,
			 u32 port);
void ibcore_gid_wants_put(struct ibcore_gid_wants *set);

#endif
