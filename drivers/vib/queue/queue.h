/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_QUEUE_H
#define VIB_QUEUE_H

/*
 * Rings of entries of one size, with one producer and one consumer at a time: who posts and
 * who sends, who completes and who polls.  The two need no lock between them; the callers
 * see to it that there is one of each.
 *
 * All that both sides write is in struct vib_ring, which is laid out so that a process may
 * have it mapped and be one of the sides: the kernel believes neither index and no entry of
 * the other side's, but checks each at each use.
 */
#include <linux/types.h>

struct vib_ring {
	u32 head;		/* entries taken; the consumer's, free-running */
	u32 pad0[15];		/* a cache line for each side */
	u32 tail;		/* entries added; the producer's, free-running */
	u32 pad1[15];
	u8 entries[];
};

struct vib_queue {
	u32 mask;		/* entries - 1; a power of two */
	u32 entry_size;
	struct vib_ring *ring;
};

/* Room for at least @entries of @entry_size bytes, a multiple of 8.  0 or -ENOMEM. */
int vib_queue_init(struct vib_queue *queue, u32 entries, u32 entry_size);
/* Of one that was initialized, or is zeroed. */
void vib_queue_free(struct vib_queue *queue);

static inline u32 vib_queue_size(const struct vib_queue *queue)
{
	return queue->mask + 1;
}

/* How many entries there are.  Indices that contradict each other are an empty queue. */
u32 vib_queue_len(const struct vib_queue *queue);

/*
 * Producer: the free entry that the next vib_queue_push() adds, or NULL if there is none;
 * *@index is its place in an array that goes with the ring.
 */
void *vib_queue_slot(struct vib_queue *queue, u32 *index);
void vib_queue_push(struct vib_queue *queue);

/* Consumer: the oldest entry, which vib_queue_pop() takes out, or NULL. */
void *vib_queue_peek(struct vib_queue *queue, u32 *index);
void vib_queue_pop(struct vib_queue *queue);

/*
 * A consumer that counts for itself what it has taken, and takes entries before it gives up
 * those before them: the entry after @taken others, or NULL; and gives up the first @taken.
 */
void *vib_queue_at(struct vib_queue *queue, u32 taken);
void vib_queue_release(struct vib_queue *queue, u32 taken);

#endif
