// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <errno.h>
#include <sys/mman.h>
#include "ring.h"

int ring_map(struct ring *ring, int fd, const struct vib_abi_map *map)
{
	void *shared;

	*ring = (struct ring){ 0 };
	if (!map->length)
		return 0;
	shared = mmap(NULL, map->length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, map->offset);
	if (shared == MAP_FAILED)
		return errno;
	*ring = (struct ring){
		.shared = shared,
		.length = map->length,
		.mask = map->entries - 1,
		.entry_size = map->entry_size,
	};
	return 0;
}

void ring_unmap(struct ring *ring)
{
	if (ring->shared)
		munmap(ring->shared, ring->length);
	ring->shared = NULL;
}
