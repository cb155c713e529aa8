// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * fuzz --tell SEED < NUMBERS
 *
 * Sequences of operations on the first uverbs device, each with its result, for scripts/vm-diff:
 * those whose numbers are read.  A sequence depends on SEED and its number only, and so does the
 * address of what it points to.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

#define ARENA_AT	((void *)0x600000000000)

void what(const char *name, unsigned int number, const void *bytes, size_t size)
{
	const __u8 *b = bytes;
	size_t at;

	if (!w.telling)
		return;
	at = snprintf(w.what, sizeof(w.what), "%s_%x", name, number);
	for (; size && at + 4 < sizeof(w.what); size--, b++)
		at += snprintf(w.what + at, sizeof(w.what) - at, "%s%02x",
			       (b - (const __u8 *)bytes) % 4 ? "" : " ", *b);
}

static void tell_sequence(__u64 seed, __u64 sequence)
{
	unsigned int n;
	__u32 first;
	int good;

	w.rng = (seed * 0x9e3779b97f4a7c15 + sequence) * 0xbf58476d1ce4e5b9 | 1;
	for (n = 0; n < 8; n++)
		rnd64();
	memset(arena, 0, 2 * ARENA);
	open_files(0);
	printf("#%llu\n", (unsigned long long)sequence);
	fflush(stdout);
	for (n = 20 + rnd(40); n; n--) {
		errno = 0;
		good = (chance(2) ? fuzz_write : fuzz_ioctl)();
		memcpy(&first, resp, sizeof(first));
		if (good)
			printf("%s = ok %x\n", w.what, first);
		else
			printf("%s = %s\n", w.what, strerrorname_np(errno));
	}
}

int tell(int argc, char **argv)
{
	unsigned long long seed, sequence;

	if (argc != 3 || check_verbs())
		return 2;
	w.telling = 1;
	make_arena(ARENA_AT);
	seed = strtoull(argv[2], NULL, 0);
	while (scanf("%llu", &sequence) == 1)
		tell_sequence(seed, sequence);
	return 0;
}
