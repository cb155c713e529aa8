// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Hints: the device and port on which a local address was found last.
 *
 * Without hints, binding an id would search the GID tables of all ports of all
 * devices.  A hint only says where to look first: the port's GID table then tells
 * whether the address is still there, so hints need not follow changes of addresses.
 *
 * Hints are read under RCU.  A hint is either in both the table and its device's list,
 * or in neither; dev->lock protects this.
 */
#include <linux/jhash.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "bind/bind.h"
#include "id/id.h"

/* Per device.  More are not in use at a time; a new hint replaces the oldest. */
#define CMA_MAX_HINTS	1024

struct cma_gid_hint {
	struct rhash_head hash;
	struct cma_gid_key key;
	struct cma_dev *dev;		/* purges its hints when it is removed */
	u32 port;
	struct list_head node;		/* in dev->hints; protected by dev->lock */
	struct rcu_head rcu;
};

static const struct rhashtable_params cma_gid_hint_params = {
	.head_offset = offsetof(struct cma_gid_hint, hash),
	.key_offset = offsetof(struct cma_gid_hint, key),
	.key_len = sizeof(struct cma_gid_key),
	.automatic_shrinking = true,
};

static struct rhashtable cma_gid_hints;

int cma_gid_hint_init(void)
{
	return rhashtable_init(&cma_gid_hints, &cma_gid_hint_params);
}

void cma_gid_hint_exit(void)
{
	rhashtable_destroy(&cma_gid_hints);
}

/* Returns the device that had the address last, with a reference, or NULL. */
struct cma_dev *cma_gid_hint_find(const struct cma_gid_key *key, u32 *port)
{
	struct cma_gid_hint *hint;
	struct cma_dev *dev = NULL;

	rcu_read_lock();
	hint = rhashtable_lookup(&cma_gid_hints, key, cma_gid_hint_params);
	if (hint && cma_dev_tryget(hint->dev)) {
		dev = hint->dev;
		*port = hint->port;
	}
	rcu_read_unlock();
	return dev;
}

static void cma_gid_hint_drop(struct cma_dev *dev, struct cma_gid_hint *hint)
{
	lockdep_assert_held(&dev->lock);
	rhashtable_remove_fast(&cma_gid_hints, &hint->hash,
			       cma_gid_hint_params);
	list_del(&hint->node);
	dev->nr_hints--;
	kfree_rcu(hint, rcu);
}

/* Removes the hint for an address that was no longer found on @dev. */
void cma_gid_hint_del(struct cma_dev *dev, const struct cma_gid_key *key)
{
	struct cma_gid_hint *hint;

	spin_lock(&dev->lock);
	hint = rhashtable_lookup_fast(&cma_gid_hints, key, cma_gid_hint_params);
	if (hint && hint->dev == dev)
		cma_gid_hint_drop(dev, hint);
	spin_unlock(&dev->lock);
}

void cma_gid_hint_purge(struct cma_dev *dev)
{
	struct cma_gid_hint *hint, *next;

	spin_lock(&dev->lock);
	list_for_each_entry_safe(hint, next, &dev->hints, node)
		cma_gid_hint_drop(dev, hint);
	spin_unlock(&dev->lock);
}

/* Adds no hint if there is no memory, or if the address has one already. */
void cma_gid_hint_add(struct cma_dev *dev, u32 port,
		      const struct cma_gid_key *key)
{
	struct cma_gid_hint *hint;

	hint = kzalloc(sizeof(*hint), GFP_KERNEL);
	if (!hint)
		return;
	hint->key = *key;
	hint->dev = dev;
	hint->port = port;

	spin_lock(&dev->lock);
	if (dev->nr_hints >= CMA_MAX_HINTS)
		cma_gid_hint_drop(dev, list_last_entry(&dev->hints,
						       struct cma_gid_hint,
						       node));
	if (!dev->dead &&
	    !rhashtable_lookup_insert_fast(&cma_gid_hints, &hint->hash,
					   cma_gid_hint_params)) {
		list_add(&hint->node, &dev->hints);
		dev->nr_hints++;
		hint = NULL;
	}
	spin_unlock(&dev->lock);
	kfree(hint);
}
