// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The data of messages. */
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compare.h"

#define BEHIND	0xa5	/* the byte behind a space */

unsigned long compared, wrong;

unsigned int seed_of(int from, int to, size_t size, int round)
{
	return ((round * 64 + from) * 64 + to) * 0x9e3779b1u + size;
}

static unsigned char byte_at(size_t at, unsigned int seed)
{
	__u32 x = (at + seed) * 0x85ebca6bu;

	x ^= x >> 15;
	return (x * 0xc2b2ae35u) >> 24;
}

unsigned char *space(size_t size)
{
	unsigned char *data = malloc(size + 1);

	if (!data) {
		printf("mpi: no memory\n");
		exit(2);
	}
	memset(data, BEHIND, size + 1);
	return data;
}

void fill(unsigned char *data, size_t size, unsigned int seed)
{
	size_t i;

	for (i = 0; i < size; i++)
		data[i] = byte_at(i, seed);
	if (spoil && size) {
		data[size / 2] ^= 1;
		spoil = false;
	}
}

unsigned char *filled_space(size_t size, unsigned int seed)
{
	unsigned char *data = space(size);

	fill(data, size, seed);
	return data;
}

void compare(const char *what, const unsigned char *data, size_t size, unsigned int seed)
{
	size_t i;

	compared += size;
	for (i = 0; i < size && data[i] == byte_at(i, seed); i++)
		;
	if (i == size)
		return;
	wrong++;
	printf("mpi: rank %d: %s: byte %zu of %zu is %02x, not %02x\n", rank, what, i, size,
	       data[i], byte_at(i, seed));
}

void compare_whole(const char *what, const unsigned char *data, size_t size, unsigned int seed)
{
	compare(what, data, size, seed);
	if (data[size] == BEHIND)
		return;
	wrong++;
	printf("mpi: rank %d: %s: more than %zu bytes were written\n", rank, what, size);
}

void compare_value(const char *what, long found, long expected)
{
	compared += sizeof(found);
	if (found == expected)
		return;
	wrong++;
	printf("mpi: rank %d: %s: %ld, not %ld\n", rank, what, found, expected);
}
