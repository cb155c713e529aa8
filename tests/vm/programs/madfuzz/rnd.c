// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Seeded randomness. */
#include "madfuzz.h"

static __u64 state = 88172645463325252u;

void rnd_seed(__u64 seed)
{
	int i;

	state ^= seed * 2654435761u;
	for (i = 0; i < 8; i++)
		rnd64();
}

__u64 rnd64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

__u32 rnd(__u32 below)
{
	return (rnd64() >> 32) * below >> 32;
}

bool chance(unsigned int one_in)
{
	return !rnd(one_in);
}

__u32 edge(void)
{
	static const __u32 edges[] = {
		0, 1, 2, 3, 8, 63, 64, 65, 216, 220, 221, 256, 32767, 32768, 32769,
		0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff,
	};

	switch (rnd(4)) {
	case 0:
		return rnd(300);
	case 1:
		return rnd64();
	default:
		return edges[rnd(ARRAY_SIZE(edges))];
	}
}

void rnd_fill(__u8 *at, size_t len)
{
	for (; len; len--)
		*at++ = rnd64() >> 24;
}
