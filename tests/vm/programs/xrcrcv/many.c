// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How much memory a receive QP takes, and opening one. */
#include <stdio.h>
#include <stdlib.h>
#include "xrcrcv.h"
#include "memory.h"

#define FIRST	64	/* with what they allocate for all */

static struct end e;
static __u32 *qpns;
static bool legacy;

static void make(int i)
{
	qpns[i] = legacy ? make_legacy(&e, 1, e.lid) : make_by_domain(&e, 1, e.lid);
}

static void reopen(int i)
{
	open_legacy(&e, qpns[i]);
}

static long bytes_each(void (*fn)(int i), int number)
{
	long before = 0;
	int i;

	for (i = 0; i < number + FIRST; i++) {
		if (i == FIRST)
			before = free_kib();
		fn(i);
	}
	return (before - free_kib()) * 1024 / number;
}

int many(const char *device, int number, bool of_process)
{
	legacy = of_process;
	qpns = calloc(number + FIRST, sizeof(*qpns));
	MUST(qpns);
	open_device(&e, device);
	open_domain(&e, DOMAIN_FILE);
	printf("%d QPs, %ld bytes each\n", number, bytes_each(make, number));
	if (legacy)
		printf("%d QPs opened, %ld bytes each\n", number, bytes_each(reopen, number));
	return 0;
}
