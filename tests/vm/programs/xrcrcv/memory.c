// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How much memory receive QPs take. */
#include <stdio.h>
#include <unistd.h>
#include "memory.h"
#include "processes.h"

/* Processors count for themselves what they take, and keep free pages for themselves. */
static void count_all(void)
{
	FILE *f = fopen("/proc/sys/vm/stat_refresh", "w");

	MUST(f && fputs("1\n", f) >= 0 && !fclose(f));
}

long free_kib(void)
{
	long pages = 0, n;
	char line[128];
	FILE *f;

	count_all();
	f = fopen("/proc/zoneinfo", "r");
	MUST(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " pages free %ld", &n) == 1 ||
		    sscanf(line, " count: %ld", &n) == 1)
			pages += n;
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}
