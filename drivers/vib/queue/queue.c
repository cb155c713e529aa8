// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Rings between a producer and a consumer. */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include "queue/queue.h"

int vib_queue_init(struct vib_queue *queue, u32 entries, u32 entry_size)
{
	u32 size = roundup_pow_of_two(max(entries, 1U));

	queue->ring = kvzalloc(size_add(sizeof(*queue->ring), array_size(size, entry_size)),
			       GFP_KERNEL);
	if (!queue->ring)
		return -ENOMEM;
	queue->mask = size - 1;
	queue->entry_size = entry_size;
	return 0;
}

void vib_queue_free(struct vib_queue *queue)
{
	kvfree(queue->ring);
	queue->ring = NULL;
}

u32 vib_queue_len(const struct vib_queue *queue)
{
	/* Pairs with vib_queue_pop(): the producer writes no entry that is being read. */
	u32 head = smp_load_acquire(&queue->ring->head);
	/* Pairs with vib_queue_push(): the consumer reads no entry that is being written. */
	u32 tail = smp_load_acquire(&queue->ring->tail);
	u32 len = tail - head;

	return len <= vib_queue_size(queue) ? len : 0;
}

static void *queue_entry(struct vib_queue *queue, u32 at, u32 *index)
{
	at &= queue->mask;
	if (index)
		*index = at;
	return queue->ring->entries + (size_t)at * queue->entry_size;
}

void *vib_queue_slot(struct vib_queue *queue, u32 *index)
{
	/* The consumer is done with the entry that its head has passed. */
	if (vib_queue_len(queue) == vib_queue_size(queue))
		return NULL;
	return queue_entry(queue, READ_ONCE(queue->ring->tail), index);
}

void vib_queue_push(struct vib_queue *queue)
{
	/* The entry is written before the consumer sees that it is there. */
	smp_store_release(&queue->ring->tail, READ_ONCE(queue->ring->tail) + 1);
}

void *vib_queue_peek(struct vib_queue *queue, u32 *index)
{
	if (!vib_queue_len(queue))
		return NULL;
	return queue_entry(queue, READ_ONCE(queue->ring->head), index);
}

void vib_queue_pop(struct vib_queue *queue)
{
	/* The entry was read before the producer may write it again. */
	smp_store_release(&queue->ring->head, READ_ONCE(queue->ring->head) + 1);
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
	/* As in vib_queue_pop(). */
	smp_store_release(&queue->ring->head, taken);
}
