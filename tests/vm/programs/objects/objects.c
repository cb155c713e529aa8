// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * objects DEVICE qp|cq|mr COUNT: makes so many, and prints the bytes of memory that each of
 * them takes, of the kernel and of the process together.
 *
 *	qp	RC, with 16 send and 16 receive requests of one SGE
 *	cq	with 4,095 entries
 *	mr	regions of one page, which is the same for all
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#define check(x)	((x) ? (void)0 : fail(#x))

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;
	int i;

	for (i = 0; list && list[i] && !context; i++) {
		if (!strcmp(ibv_get_device_name(list[i]), name))
			context = ibv_open_device(list[i]);
	}
	check(context);
	return context;
}

static void tell_kernel(const char *path, const char *what)
{
	FILE *f = fopen(path, "w");

	check(f && fputs(what, f) > 0 && !fclose(f));
}

/*
 * Without caches of files, which come and go, nor the pages that each processor keeps for
 * itself.
 */
static long free_now(void)
{
	char line[128];
	long kb = 0;
	FILE *f;

	tell_kernel("/proc/sys/vm/drop_caches", "3");
	tell_kernel("/proc/sys/vm/compact_memory", "1");
	tell_kernel("/proc/sys/vm/stat_refresh", "1");
	f = fopen("/proc/meminfo", "r");
	check(f);
	while (fgets(line, sizeof(line), f) && sscanf(line, "MemFree: %ld", &kb) != 1)
		;
	fclose(f);
	check(kb);
	return kb * 1024;
}

/* Once it no longer changes: much is freed a while after its last use. */
static long free_bytes(void)
{
	long last = 0, now = free_now();
	int tries;

	for (tries = 0; tries < 50 && labs(now - last) > 65536; tries++) {
		last = now;
		usleep(100000);
		now = free_now();
	}
	return now;
}

static void *page;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;

static void make_qp(void)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { 16, 16, 1, 1, 0 },
	};

	check(ibv_create_qp(pd, &attr));
}

static void make_cq(void)
{
	check(ibv_create_cq(context, 4095, NULL, NULL, 0));
}

static void make_mr(void)
{
	check(ibv_reg_mr(pd, page, 4096, IBV_ACCESS_LOCAL_WRITE));
}

static const struct kind {
	const char *name;
	void (*make)(void);
} kinds[] = {
	{ "qp", make_qp },
	{ "cq", make_cq },
	{ "mr", make_mr },
};

int main(int argc, char **argv)
{
	const struct kind *kind = kinds;
	long i, count, before;

	check(argc == 4 && (count = atol(argv[3])) > 0);
	while (strcmp(argv[2], kind->name)) {
		kind++;
		check(kind < kinds + sizeof(kinds) / sizeof(*kinds));
	}
	context = open_device(argv[1]);
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	check(pd && cq);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(page != MAP_FAILED);
	memset(page, 1, 4096);
	/* What the first ones alone need. */
	for (i = 0; i < 8; i++)
		kind->make();
	before = free_bytes();
	for (i = 0; i < count; i++)
		kind->make();
	printf("%ld\n", (before - free_bytes()) / count);
	return 0;
}
