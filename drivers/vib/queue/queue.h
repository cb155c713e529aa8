/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_QUEUE_H
#define VIB_QUEUE_H

/*
 * Rings of entries of one size, with one producer and one consumer at a time: who posts and
 * who sends, who completes and who polls.  The two need no lock between them; the callers
 * see to it that there is one of each.
 *
 * A process may have the ring mapped and be one of the sides.  So the kernel keeps the index
 * of its own side in struct vib_queue, which it also stores in the ring for the other side to
 * read.  It reads from the ring the other side's index alone, and bounds it; an entry that a
 * process may write is copied once, and the copy is checked.  If both sides are the kernel's
 * nothing is different.
 */
#include <linux/types.h>
#include <rdma/vib-abi.h>

struct ib_udata;
struct vib_mapped;

struct vib_queue {
	u32 mask;		/* entries - 1; a power of two */
	u32 entry_size;
	struct vib_abi_ring *ring;
	struct vib_mapped *mapped;	/* what the ring is in; NULL: the kernel's memory */
	u32 head;		/* entries taken, if the kernel is the consumer; free-running */
	u32 tail;		/* entries added, if the kernel is the producer; free-running */
};

/*
 * Room for at least @entries of @entry_size bytes, a multiple of 8; in memory that the process
 * of @udata can map, or the kernel's if that is NULL.  0 or -ENOMEM.  May sleep, as may
 * vib_queue_free().
 */
int vib_queue_init(struct vib_queue *queue, u32 entries, u32 entry_size,
		   struct ib_udata *udata);
/* Of one that was initialized, or is zeroed. */
void vib_queue_free(struct vib_queue *queue);
/* How the process maps it: zeroes for one of the kernel's. */
struct vib_abi_map vib_queue_map(const struct vib_queue *queue);

static inline u32 vib_queue_size(const struct vib_queue *queue)
{
	return queue->mask + 1;
}

/*
 * Producer: how many entries there are that have not been taken.  If the consumer's index
 * cannot be right, all of them.
 */
u32 vib_queue_used(const struct vib_queue *queue);
/*
 * Producer: the free entry that the next vib_queue_push() adds, or NULL if there is none;
 * *@index is its place in an array that goes with the ring.
 */
void *vib_queue_slot(struct vib_queue *queue, u32 *index);
void vib_queue_push(struct vib_queue *queue);

/* Consumer: how many entries there are.  If the producer's index cannot be right, none. */
u32 vib_queue_len(const struct vib_queue *queue);
/* Consumer: the oldest entry, which vib_queue_pop() takes out, or NULL. */
void *vib_queue_peek(struct vib_queue *queue, u32 *index);
void vib_queue_pop(struct vib_queue *queue);
/* Consumer: takes out what there is, and returns its index then. */
u32 vib_queue_clear(struct vib_queue *queue);

/*
 * A consumer that counts for itself what it has taken, and takes entries before it gives up
 * those before them: the entry after @taken others, or NULL; and gives up the first @taken.
 */
void *vib_queue_at(struct vib_queue *queue, u32 taken);
void vib_queue_release(struct vib_queue *queue, u32 taken);

/*
 * Copies the @len entries of @from that begin with @head to @to, which was just initialized and
 * has the room.  Neither side uses @from meanwhile, except a process.
 */
void vib_queue_move(struct vib_queue *to, const struct vib_queue *from, u32 head, u32 len);

#endif
