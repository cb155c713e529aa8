// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * fuzz OPERATIONS SECONDS SEED UID [vib]: random operations on the RDMA devices, which are
 * rxe's or vib's
 *
 * Eight processes of user UID share the operations; each opens all its files
 * again every so often, which destroys the objects that it had created. Prints
 * how many operations were done and how many of them the kernel accepted, by
 * file; on vib also how many completions were polled. Ends with status 1 if SECONDS were too
 * few.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#define WORKERS 8		/* many operations sleep */
#define FILE_LIFE 3000		/* operations between reopenings */
#define VIB_LIFE 12000		/* longer: it takes many to get something to fly */

static const struct target {
	const char *name;
	int (*op)(void);
	unsigned int weight;
	int vib_only;
} targets[] = {
	{ "uverbs write", fuzz_write, 8, 0 },
	{ "uverbs ioctl", fuzz_ioctl, 8, 0 },
	{ "uverbs file", fuzz_uverbs_file, 1, 0 },
	{ "rdma_cm", fuzz_cm, 6, 0 },
	{ "umad", fuzz_umad, 2, 0 },
	{ "rings", fuzz_ring, 10, 1 },
};

#define TARGETS (sizeof(targets) / sizeof(*targets))

struct count {
	__u64 ops, good, ns;
};

struct worker w;
__u8 *arena, *resp;
int on_vib;
struct tally *tally;
static struct count (*counts)[TARGETS];
static struct tally *tallies;

static __u16 read_lid(int device)
{
	unsigned int found = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/vib%d/ports/1/lid", device);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%x", &found) != 1)
		_exit(6);
	fclose(f);
	return found;
}

static void open_all(void)
{
	char path[64];
	/* command 0, 4 words in, 16 out */
	__u32 get_context[4] = { 0, 4 | 16 << 16 };
	__u64 to = (uintptr_t)resp;
	int i;

	unmap_rings();
	close_range(3, ~0U, 0);
	memset(w.pool, 0, sizeof(w.pool));
	w.device = rnd(2);
	if (on_vib)
		w.lid = read_lid(w.device);
	snprintf(path, sizeof(path), "/dev/infiniband/uverbs%d", w.device);
	w.uverbs = open(path, O_RDWR | O_CLOEXEC);
	for (i = 0; i < 2; i++)
		w.cm[i] = open("/dev/infiniband/rdma_cm", O_RDWR | O_NONBLOCK);
	snprintf(path, sizeof(path), "/dev/infiniband/umad%d", w.device);
	w.umad = open(path, O_RDWR | O_NONBLOCK);
	if (w.umad >= 0 && chance(8)) {
		snprintf(path, sizeof(path), "/dev/infiniband/issm%d", w.device);
		keep('F', open(path, O_RDWR | O_NONBLOCK));
	}
	if (w.uverbs < 0 || w.cm[0] < 0)
		_exit(2);
	keep('F', open("/tmp", O_RDONLY));
	/* mostly get a context, without which nothing else works */
	if (chance(30))
		return;
	memcpy(&get_context[2], &to, 8);
	if (write(w.uverbs, get_context, 16) < 0)
		_exit(3);
}

static int short_of_memory(void)
{
	struct sysinfo s;

	sysinfo(&s);
	return (s.freeram + s.bufferram) * s.mem_unit < 400UL << 20;
}

/*
 * Pointers are spoilt, too: a pointer with one flipped bit must not reach other memory.
 */
static void make_arena(void)
{
	const size_t around = 64UL << 20;
	__u8 *at = mmap(NULL, 2 * around, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		_exit(4);
	arena = at + around / 2 + (around - (uintptr_t)at % around);
	if (mprotect(arena, 2 * ARENA, PROT_READ | PROT_WRITE))
		_exit(4);
	resp = arena + ARENA;
}

static __u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static unsigned int weight(unsigned int target)
{
	return targets[target].vib_only && !on_vib ? 0 : targets[target].weight;
}

static unsigned int pick_target(void)
{
	unsigned int i, all = 0, at;

	for (i = 0; i < TARGETS; i++)
		all += weight(i);
	at = rnd(all);
	for (i = 0; at >= weight(i); i++)
		at -= weight(i);
	return i;
}

static void work(int me, __u64 ops, time_t end, __u64 seed, uid_t uid)
{
	const __u64 life = on_vib ? VIB_LIFE : FILE_LIFE;
	__u64 n, start;
	unsigned int t;

	w.rng = seed * 2654435761u + me * 40503u + uid + 88172645463325252ull;
	for (n = 0; n < 8; n++)
		rnd64();
	make_arena();
	tally = &tallies[me];
	if (uid && (setgid(uid) || setuid(uid)))
		_exit(5);
	for (n = 0; n < ops; n++) {
		if (n % life == 0 || (n % 64 == 0 && short_of_memory()))
			open_all();
		if (n % 256 == 0 && time(NULL) > end)
			break;
		t = pick_target();
		start = now();
		counts[me][t].ops++;
		if (targets[t].op())
			counts[me][t].good++;
		counts[me][t].ns += now() - start;
	}
	_exit(n < ops);
}

static int wait_all(void)
{
	int status, bad = 0;

	while (wait(&status) > 0) {
		if (!WIFEXITED(status) || WEXITSTATUS(status)) {
			printf("fuzz: a worker ended with %#x\n", status);
			bad = 1;
		}
	}
	return bad;
}

static __u64 show(unsigned int t)
{
	__u64 n = 0, ns = 0, good = 0;
	int i;

	for (i = 0; i < WORKERS; i++) {
		n += counts[i][t].ops;
		good += counts[i][t].good;
		ns += counts[i][t].ns;
	}
	printf("  %-14s %8llu operations, %llu accepted, %llu us each\n", targets[t].name,
	       n, good, ns / 1000 / (n + !n));
	return n;
}

static void show_tallies(void)
{
	struct tally all = {};
	int i;

	for (i = 0; i < WORKERS; i++) {
		all.done += tallies[i].done;
		all.failed += tallies[i].failed;
	}
	printf("  completions: %llu of success, %llu errors\n", all.done, all.failed);
}

int main(int argc, char **argv)
{
	__u64 ops, seed, all = 0;
	unsigned int t;
	time_t end;
	int i, bad;

	on_vib = argc == 6 && !strcmp(argv[5], "vib");
	if (argc != 5 + on_vib || check_verbs() || check_cm())
		return 2;
	ops = strtoull(argv[1], NULL, 0);
	end = time(NULL) + atoi(argv[2]);
	seed = strtoull(argv[3], NULL, 0);
	counts = mmap(NULL, WORKERS * sizeof(*counts), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	tallies = mmap(NULL, WORKERS * sizeof(*tallies), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < WORKERS; i++)
		if (!fork())
			work(i, ops / WORKERS, end, seed, atoi(argv[4]));
	bad = wait_all();
	for (t = 0; t < TARGETS; t++)
		if (weight(t))
			all += show(t);
	if (on_vib)
		show_tallies();
	printf("fuzz: %llu operations as user %s, seed %llu\n", all, argv[4], seed);
	return bad;
}
