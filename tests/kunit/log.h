/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_LOG_H
#define IBEX_LOG_H

#include <linux/kmsg_dump.h>
#include <linux/string.h>

/* How many lines of the kernel's log have @words.  Callers take turns. */
static inline int log_lines(const char *words)
{
	struct kmsg_dump_iter iter;
	static char line[512];
	size_t len;
	int n = 0;

	kmsg_dump_rewind(&iter);
	while (kmsg_dump_get_line(&iter, false, line, sizeof(line) - 1, &len)) {
		line[len] = '\0';
		n += !!strstr(line, words);
	}
	return n;
}

#endif
