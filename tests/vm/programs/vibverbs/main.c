// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * vibverbs DEVICE DEVICE [TEST...]
 *
 * Tests verbs between two adapters of a subnet that are this process's both; prints a line for
 * each test, and "vibverbs: N tests" at the end.  The first failure ends it.
 */
#include <stdio.h>
#include <string.h>
#include "ends.h"

#define TEST(name)	{ #name, test_##name }

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	TEST(inline),
	TEST(rdma),
	TEST(atomics),
	TEST(bad_keys),
	TEST(windows),
	TEST(states),
	TEST(comm_est),
	TEST(full),
	TEST(resize_cq),
	TEST(clean),
	TEST(poll_ex),
	TEST(cq_event),
	TEST(threads),
	TEST(wr),
	TEST(wr_ud),
	TEST(srq),
	TEST(srq_resize),
	TEST(xrc),
	TEST(refused),
};

static int is_wanted(const char *name, char **wanted)
{
	int i;

	for (i = 0; wanted[i]; i++) {
		if (!strcmp(name, wanted[i]))
			return 1;
	}
	return !i;
}

int main(int argc, char **argv)
{
	unsigned int i, count = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: vibverbs DEVICE DEVICE [TEST...]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	ends_open(argv[1], argv[2]);
	for (i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		if (!is_wanted(tests[i].name, argv + 3))
			continue;
		printf("test %s\n", tests[i].name);
		tests[i].run();
		expect_none(a.cq);
		expect_none(b.cq);
		count++;
	}
	ends_close();
	printf("vibverbs: %u tests\n", count);
	return 0;
}
