// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Rings between a producer and a consumer. */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include "queue/queue.h"
#include "user/user.h"

static int queue_alloc(struct vib_queue *queue, size_t size, struct ib_udata *udata)
{
	if (!udata) {
		queue->ring = kvzalloc(size, GFP_KERNEL);
		return queue->ring ? 0 : -ENOMEM;
	}
	queue->mapped = vib_mapped_create(udata, size);
	if (IS_ERR(queue->mapped)) {
		int ret = PTR_ERR(queue->mapped);

		queue->mapped = NULL;
		return ret;
	}
	queue->ring = queue->mapped->mem;
	return 0;
}

int vib_queue_init(struct vib_queue *queue, u32 entries, u32 entry_size,
		   struct ib_udata *udata)
{
	u32 size = roundup_pow_of_two(max(entries, 1U));

	*queue = (struct vib_queue){
		.mask = size - 1,
		.entry_size = entry_size,
	};
	return queue_alloc(queue, size_add(sizeof(*queue->ring), array_size(size, entry_size)),
			   udata);
}

/* The process may have it mapped still: that keeps the pages, which nobody reads any more. */
void vib_queue_free(struct vib_queue *queue)
{
	if (queue->mapped)
		vib_mapped_remove(queue->mapped);
	else
		kvfree(queue->ring);
	queue->mapped = NULL;
	queue->ring = NULL;
}

struct vib_abi_map vib_queue_map(const struct vib_queue *queue)
{
	if (!queue->mapped)
		return (struct vib_abi_map){};
	return (struct vib_abi_map){
		.offset = rdma_user_mmap_get_offset(&queue->mapped->entry),
		.length = queue->mapped->size,
		.entries = vib_queue_size(queue),
		.entry_size = queue->entry_size,
	};
}

static void *queue_entry(const struct vib_queue *queue, u32 at, u32 *index)
{
	at &= queue->mask;
	if (index)
		*index = at;
	return queue->ring->entries + (size_t)at * queue->entry_size;
}

/* ---- producer ---- */

u32 vib_queue_used(const struct vib_queue *queue)
{
	/* Pairs with vib_queue_pop(): the producer writes no entry that is being read. */
	u32 used = queue->tail - smp_load_acquire(&queue->ring->head);

	return min(used, vib_queue_size(queue));
}

void *vib_queue_slot(struct vib_queue *queue, u32 *index)
{
	/* The consumer is done with the entry that its head has passed. */
	if (vib_queue_used(queue) == vib_queue_size(queue))
		return NULL;
	return queue_entry(queue, queue->tail, index);
}

void vib_queue_push(struct vib_queue *queue)
{
	/* The entry is written before the consumer sees that it is there. */
	smp_store_release(&queue->ring->tail, ++queue->tail);
}

/* ---- consumer ---- */

u32 vib_queue_len(const struct vib_queue *queue)
{
	/* Pairs with vib_queue_push(): the consumer reads no entry that is being written. */
	u32 len = smp_load_acquire(&queue->ring->tail) - queue->head;

	return len <= vib_queue_size(queue) ? len : 0;
}

void *vib_queue_peek(struct vib_queue *queue, u32 *index)
{
	if (!vib_queue_len(queue))
		return NULL;
	return queue_entry(queue, queue->head, index);
}

void vib_queue_pop(struct vib_queue *queue)
{
	vib_queue_release(queue, queue->head + 1);
}

/* One look at the producer's index: a process may move it on for as long as it likes. */
u32 vib_queue_clear(struct vib_queue *queue)
{
	vib_queue_release(queue, READ_ONCE(queue->ring->tail));
	return queue->head;
}

void *vib_queue_at(struct vib_queue *queue, u32 taken)
{
	/* Pairs with vib_queue_push(), as in vib_queue_len(). */
	u32 len = smp_load_acquire(&queue->ring->tail) - taken;

	if (!len || len > vib_queue_size(queue))
		return NULL;
	return queue_entry(queue, taken, NULL);
}

void vib_queue_release(struct vib_queue *queue, u32 taken)
{
	queue->head = taken;
	/* The entries were read before the producer may write them again. */
	smp_store_release(&queue->ring->head, taken);
}

/* ---- another size ---- */

void vib_queue_move(struct vib_queue *to, const struct vib_queue *from, u32 head, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++) {
		memcpy(vib_queue_slot(to, NULL), queue_entry(from, head + i, NULL),
		       to->entry_size);
		vib_queue_push(to);
	}
}
