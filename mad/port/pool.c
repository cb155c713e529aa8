// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Receive buffers, recycled: a buffer the client gives back goes to the pool of
 * the QP that filled it, as long as that QP exists.
 *
 * A client may hold a buffer longer than the device exists, so a buffer refers to
 * its pool alone, never to the port.
 */
#include <linux/slab.h>
#include "port/port.h"

static void pool_release(struct kref *kref)
{
	kfree(container_of(kref, struct ibmad_pool, kref));
}

struct ibmad_pool *ibmad_pool_create(size_t mad_size, unsigned int max_free)
{
	struct ibmad_pool *pool = kzalloc(sizeof(*pool), GFP_KERNEL);

	if (!pool)
		return NULL;
	kref_init(&pool->kref);
	spin_lock_init(&pool->lock);
	pool->max_free = max_free;
	pool->mad_size = mad_size;
	return pool;
}

/*
 * Frees the idle buffers and drops the QP's reference; buffers in use are freed when
 * they are given back.
 */
void ibmad_pool_close(struct ibmad_pool *pool)
{
	struct ibmad_recv *recv, *next;
	struct llist_node *list;
	unsigned long flags;

	spin_lock_irqsave(&pool->lock, flags);
	list = pool->free;
	pool->free = NULL;
	pool->nr_free = 0;
	pool->max_free = 0;
	spin_unlock_irqrestore(&pool->lock, flags);

	llist_for_each_entry_safe(recv, next, list, item.node)
		kfree(recv);
	kref_put(&pool->kref, pool_release);
}

static struct ibmad_recv *pool_take(struct ibmad_pool *pool)
{
	struct ibmad_recv *recv = NULL;
	unsigned long flags;

	spin_lock_irqsave(&pool->lock, flags);
	if (pool->free) {
		recv = llist_entry(pool->free, struct ibmad_recv, item.node);
		pool->free = pool->free->next;
		pool->nr_free--;
	}
	spin_unlock_irqrestore(&pool->lock, flags);
	return recv;
}

struct ibmad_recv *ibmad_recv_alloc(struct ibmad_pool *pool, gfp_t gfp)
{
	struct ibmad_recv *recv = pool_take(pool);

	if (!recv) {
		recv = kmalloc(struct_size(recv, mad, pool->mad_size),
			       gfp | __GFP_NOWARN);
		if (!recv)
			return NULL;
	}
	kref_get(&pool->kref);
	recv->pool = pool;
	recv->local = false;
	recv->solicited = false;
	recv->send_buf = NULL;
	recv->rmpp_bytes = 0;
	return recv;
}

void ibmad_recv_free(struct ibmad_recv *recv)
{
	struct ibmad_pool *pool = recv->pool;
	unsigned long flags;

	spin_lock_irqsave(&pool->lock, flags);
	if (pool->nr_free < pool->max_free) {
		recv->item.node.next = pool->free;
		pool->free = &recv->item.node;
		pool->nr_free++;
		recv = NULL;
	}
	spin_unlock_irqrestore(&pool->lock, flags);

	kfree(recv);
	kref_put(&pool->kref, pool_release);
}
