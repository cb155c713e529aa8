/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCORE_GID_H
#define IBCORE_GID_H

/* The caches of each port: GID table, P_Keys, LMC, state and subnet prefix. */
#include <linux/netdevice.h>
#include <ibex/gid.h>

#include "core.h"

/* ---- cache.c: P_Key, LMC, port state, subnet prefix ---- */
/*
 * Called by device.c, before the clients' add() and after their remove().  These also
 * set up, empty and free the GID tables; between setup and cleanup roce_gid.c updates
 * the tables when netdevs change.
 */
int ibcore_cache_setup(struct ib_device *dev);
void ibcore_cache_cleanup(struct ib_device *dev);	/* after clients' remove() */
void ibcore_cache_release(struct ib_device *dev);	/* on the last put_device */
/* Refreshes what @event can have changed, before event handlers run; may sleep. */
void ibcore_cache_event(const struct ib_event *event);

/* ---- gid.c, gid_sync.c, gid_find.c: GID tables, references on entries ---- */
/* What drivers program with a GID: mlx5 and bnxt_re the VLAN and one of the MACs. */
struct ibcore_gid_l2 {
	u8 ndev_mac[ETH_ALEN];	/* mlx5: MAC of the entry's net_device */
	u8 port_mac[ETH_ALEN];	/* bnxt_re: MAC of the port's net_device */
	u16 vlan_id;		/* 0xffff: untagged; VLAN_N_VID: not known */
};

/*
 * One entry.  It occupies its index from when it is published until its last reference
 * is put.  It is deleted from the hardware when it leaves the table; if the driver's
 * add_gid set a context, when its last user is removed or the table is closed.
 */
struct ibcore_gid_entry {
	struct ib_gid_attr attr;	/* constant once published, except ndev */
	struct ib_gid_table *table;	/* with a reference */
	refcount_t ref;
	atomic_t users;			/* QPs and AHs; each has a reference */
	struct hlist_node hash;		/* written under table->lock; RCU */
	struct list_head link;		/* in table->entries; table->lock */
	void *context;			/* the driver's; constant while in use */
	bool in_hw;			/* added by add_gid; written under table->lock */
	bool gone;			/* removed from the table; likewise */
	bool updating;			/* is getting a new MAC or VLAN; likewise */
	bool moves;			/* to another VLAN's place; table->lock */
	bool awaited;			/* work waits for users == 0; likewise */
	struct net_device *ndev;	/* held; outlives attr.ndev by a grace period */
	netdevice_tracker tracker;
	/* Which net_device it was; only compared, constant. */
	const struct net_device *was_ndev;
	int was_ifindex;
	struct ibcore_gid_l2 l2;	/* as programmed; under table->lock */
	struct work_struct work;	/* gid_release_work, queued by the last put */
	struct work_struct idle;	/* queued by the last user, with a reference */
	struct rcu_head rcu;		/* to detach ndev, then to free */
};

struct ib_gid_table {
	struct ib_device *dev;
	u32 port;
	unsigned int len;
	unsigned int reserved;		/* the first indices, for default GIDs */
	bool roce;			/* core chooses the indices */
	refcount_t ref;			/* the port's, and one per entry */
	struct mutex lock;		/* for all changes; held during add_gid */
	bool closed;			/* no entry may be added; under lock */
	bool starved;			/* a GID found no free index; under lock */
	/* The RoCE port's at the last update; only compared, written under lock. */
	struct net_device *port_ndev;
	unsigned long *used;		/* occupied indices (RoCE); under lock */
	struct list_head entries;	/* entries not yet released; under lock */
	unsigned int hash_mask;
	struct hlist_head *hash;	/* by GID; written under lock; RCU */
	struct ibcore_gid_entry __rcu *slot[];	/* by index; likewise */
};

/* A GID that a RoCE port should have. */
struct ibcore_gid_want {
	union ib_gid gid;
	enum ib_gid_type type;
	bool is_default;		/* goes to the index reserved for its type */
	struct net_device *port_ndev;	/* the port's, held by ibcore_gid_wants */
	struct net_device *ndev;	/* held */
	netdevice_tracker tracker;
};

/* All GIDs that a port should have; n may exceed cap, and then says how many. */
struct ibcore_gid_wants {
	struct ibcore_gid_want *want;
	unsigned int n;
	unsigned int cap;
	unsigned long types;		/* mask of the port's GID types */
	/* Set by the caller, held, or NULL; ibcore_gid_wants_put() puts it. */
	struct net_device *port_ndev;
};

int ibcore_gid_setup(struct ib_device *dev);	/* cache.c calls these three */
void ibcore_gid_cleanup(struct ib_device *dev);
void ibcore_gid_release(struct ib_device *dev);
int ibcore_gid_update_ib(struct ib_device *dev, u32 port);	/* IB and iWARP */
bool ibcore_gid_0_differs(struct ib_device *dev, u32 port);	/* likewise */
/* Makes a RoCE port's table match @want; may set *@changed, never clears it. */
int ibcore_gid_sync(struct ib_device *dev, u32 port,
		    const struct ibcore_gid_want *want, unsigned int n,
		    bool *changed);
int ibcore_gid_del_netdev(struct ib_device *dev, u32 port,
			  const struct net_device *ndev);
bool ibcore_gid_has_netdev(struct ib_device *dev, u32 port,
			   struct net_device *ndev);
bool ibcore_gid_use(const struct ib_gid_attr *attr);
void ibcore_gid_unuse(const struct ib_gid_attr *attr);
/* Returns the port's table, or NULL, also if the port does not exist. */
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
/* Allocates an entry, adds it to the hardware and publishes it. */
int ibcore_gid_insert(struct ib_gid_table *table, unsigned int ix,
		      const struct ibcore_gid_want *want);
void ibcore_gid_remove(struct ibcore_gid_entry *entry);
void ibcore_gid_drop(struct ibcore_gid_entry *entry);
/*
 * Puts a removed entry, if it is still referenced, back into the table.  Returns 0,
 * -ENOENT if its last reference was put, or the error of add_gid.
 */
int ibcore_gid_revive(struct ibcore_gid_entry *entry,
		      const struct ibcore_gid_want *want);
/* Let readers find an entry, or no longer find it. */
void ibcore_gid_show(struct ibcore_gid_entry *entry);
void ibcore_gid_hide(struct ibcore_gid_entry *entry);
/* Reads what add_gid would program now. */
void ibcore_gid_read_l2(struct ibcore_gid_l2 *l2,
			const struct ibcore_gid_entry *entry,
			const struct net_device *port_ndev);
/* The VLAN of packets from @entry, 0xffff for untagged. */
u16 ibcore_gid_vlan_id(const struct ibcore_gid_entry *entry);
/* Call the driver's add_gid and del_gid for an entry. */
int ibcore_gid_hw_add(struct ibcore_gid_entry *entry,
		      const struct net_device *port_ndev);
void ibcore_gid_hw_del(struct ibcore_gid_entry *entry);

/* ---- roce_gid.c: updates GID tables on netdev, address, VLAN and bond changes ---- */
int ibcore_roce_init(void);
void ibcore_roce_exit(void);
int ibcore_roce_setup(struct ib_device *dev);
void ibcore_roce_cleanup(struct ib_device *dev);
/* Schedules an update of @port's table; @dev is not dereferenced. */
void ibcore_roce_resync(const struct ib_device *dev, u32 port);
/* Whether a RoCE port has @ndev as its net_device, by its last computation. */
bool ibcore_roce_has_port(const struct net_device *ndev);

/* ---- roce_want.c: which GIDs a RoCE port should have ---- */
int ibcore_gid_wants_get(struct ibcore_gid_wants *set, struct ib_device *dev,
			 u32 port);
void ibcore_gid_wants_put(struct ibcore_gid_wants *set);
struct net_device *ibcore_roce_bond_of(struct net_device *ndev);

#endif
