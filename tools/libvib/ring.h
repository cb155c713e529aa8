/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef RING_H
#define RING_H

/*
 * The process's side of a ring that it shares with vib: see <rdma/vib-abi.h>.  The caller
 * has the lock of its side, so that there is one producer or one consumer.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rdma/vib-abi.h>

struct ring {
	struct vib_abi_ring *shared;	/* NULL: there is none */
	uint64_t length;		/* bytes mapped */
	uint32_t mask;			/* entries - 1 */
	uint32_t entry_size;
	uint32_t next;			/* our index: tail as producer, head as consumer */
};

/* Maps what @map describes, of @fd.  0, with ring->shared NULL if there is no ring; or errno. */
int ring_map(struct ring *ring, int fd, const struct vib_abi_map *map);
void ring_unmap(struct ring *ring);

static inline void *ring_entry(const struct ring *ring, uint32_t index)
{
	return ring->shared->entries + (uint64_t)(index & ring->mask) * ring->entry_size;
}

static inline uint32_t ring_head(const struct ring *ring)
{
	return __atomic_load_n(&ring->shared->head, __ATOMIC_ACQUIRE);
}

static inline uint32_t ring_tail(const struct ring *ring)
{
	return __atomic_load_n(&ring->shared->tail, __ATOMIC_ACQUIRE);
}

static inline void ring_set_head(struct ring *ring)
{
	__atomic_store_n(&ring->shared->head, ring->next, __ATOMIC_RELEASE);
}

static inline void ring_set_tail(struct ring *ring)
{
	__atomic_store_n(&ring->shared->tail, ring->next, __ATOMIC_RELEASE);
}

/*
 * Producer: the free entry at ring->next, or NULL.  The consumer reads it after
 * ring->next was counted up and ring_set_tail().
 */
static inline void *ring_slot(const struct ring *ring)
{
	if (!ring->shared || ring->next - ring_head(ring) > ring->mask)
		return NULL;
	return ring_entry(ring, ring->next);
}

/* Consumer: the entry at ring->next, or NULL. */
static inline void *ring_peek(const struct ring *ring)
{
	return ring->next == ring_tail(ring) ? NULL : ring_entry(ring, ring->next);
}

#endif
