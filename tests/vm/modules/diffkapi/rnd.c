// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Random numbers that depend on nothing but the seed and the sequence: splitmix64. */
#include "kapi.h"

static u64 state;

u64 rnd64(void)
{
	u64 z = state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

u32 rnd(u32 below)
{
	return (rnd64() >> 32) * below >> 32;
}

void seed_sequence(u64 seed, u64 sequence)
{
	state = seed;
	state = rnd64() ^ sequence;
	rnd64();
}

void random_ops(const struct op *ops, unsigned int count, unsigned int calls)
{
	unsigned int i, all = 0, at;

	for (i = 0; i < count; i++)
		all += ops[i].weight;
	while (calls--) {
		at = rnd(all);
		for (i = 0; at >= ops[i].weight; i++)
			at -= ops[i].weight;
		ops[i].run();
	}
}
