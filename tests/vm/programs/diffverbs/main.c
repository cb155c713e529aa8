// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * diffverbs SEED N < NUMBERS
 *
 * Makes the sequences of calls to /dev/infiniband/uverbsN whose numbers it reads, and prints each
 * call with its result, and each event.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "diffverbs.h"

int device, no_device;
__u8 own_gid[16];
unsigned int own_gid_index;

static __u64 rnd_state;

/* splitmix64 */
__u64 rnd64(void)
{
	__u64 z = rnd_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

unsigned int rnd(unsigned int below)
{
	return (rnd64() >> 32) * below >> 32;
}

void seed_sequence(__u64 seed, __u64 sequence)
{
	rnd_state = seed;
	rnd_state = rnd64() ^ sequence;
	rnd64();
}

/* ---- which call ---- */

/* Some of each type of object, but not too many. */
static unsigned int weight_of(const struct command *cmd)
{
	unsigned int n;

	if (cmd->refused)
		return 1;
	if (cmd->makes != NO_TYPE) {
		n = alive(cmd->makes);
		if (made(cmd->makes) >= OBJECTS - 2 || cmd->makes == ASYNC)
			return made(cmd->makes) >= OBJECTS / 2 ? 0 : 1;
		return n < 2 ? 24 : n < 5 ? 6 : 2;
	}
	if (cmd->ends != NO_TYPE)
		return 4;
	return cmd->fill == fill_modify ? 40 : 8;
}

static const struct command *nth_command(unsigned int i)
{
	return i < nr_commands ? &commands[i] : &methods[i - nr_commands];
}

static const struct command *some_command(void)
{
	unsigned int i, all = 0, at;

	for (i = 0; i < nr_commands + nr_methods; i++)
		all += weight_of(nth_command(i));
	at = rnd(all);
	for (i = 0; at >= weight_of(nth_command(i)); i++)
		at -= weight_of(nth_command(i));
	return nth_command(i);
}

/* That there is a context already, or no such command, is wrong enough. */
static bool is_wrong_anyway(const struct command *cmd)
{
	return cmd->refused || strstr(cmd->name, "get_context");
}

static void random_calls(void)
{
	unsigned int calls = 20 + rnd(30);
	const struct command *cmd;

	while (calls--) {
		cmd = some_command();
		do_call(cmd, one_in(3) && !is_wrong_anyway(cmd), NULL);
	}
}

/* ---- a sequence ---- */

/* Without a context most calls are refused. */
static bool make_context(void)
{
	const char *name = one_in(4) ? "ioctl_get_context" : "get_context";

	if (one_in(8))
		do_call(some_command(), false, NULL);
	if (one_in(4))
		do_call(command(name), true, NULL);
	if (alive(ASYNC))
		return true;
	if (!do_right(name))
		return do_right("ioctl_async_event_alloc") || alive(ASYNC);
	return alive(ASYNC) || do_right("ioctl_async_event_alloc");
}

static void run(__u64 seed, __u64 sequence, const char *path)
{
	seed_sequence(seed, sequence);
	printf("#%llu\n", (unsigned long long)sequence);
	fflush(stdout);
	close_range(3, ~0U, 0);
	device = open(path, O_RDWR | O_CLOEXEC);
	no_device = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (device < 0 || no_device < 0) {
		perror(path);
		exit(1);
	}
	forget_objects();
	if (!make_context())
		return;
	if (sequence % 8 == 0)
		transitions(sequence / 8);
	else if (sequence % 8 == 4)
		some_events();
	else if (sequence % 16 == 2)
		lengths(sequence / 16);
	else if (sequence % 16 == 10)
		posts(sequence / 16);
	else
		random_calls();
}

/* ---- the device ---- */

/* The GID of an IPv4 address; there is one. */
static bool read_gid(const char *ibdev)
{
	unsigned int index, b[8], i;
	char path[128];
	FILE *f;

	for (index = 0; index < 64; index++) {
		snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/gids/%u", ibdev,
			 index);
		f = fopen(path, "r");
		if (!f)
			return false;
		i = fscanf(f, "%x:%x:%x:%x:%x:%x:%x:%x", b, b + 1, b + 2, b + 3, b + 4, b + 5,
			   b + 6, b + 7);
		fclose(f);
		if (i != 8 || b[0] || b[5] != 0xffff)
			continue;
		for (i = 0; i < 16; i++)
			own_gid[i] = b[i / 2] >> (i % 2 ? 0 : 8);
		own_gid_index = index;
		return true;
	}
	return false;
}

static bool find_gid(const char *number)
{
	char path[128], ibdev[64];
	bool found;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband_verbs/uverbs%s/ibdev", number);
	f = fopen(path, "r");
	found = f && fscanf(f, "%63s", ibdev) == 1;
	if (f)
		fclose(f);
	return found && read_gid(ibdev);
}

static bool make_arena(void)
{
	size_t size = ARENA_SIZE + ANSWER_SIZE;
	void *at = (void *)ARENA;

	return mmap(at, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == at;
}

int main(int argc, char **argv)
{
	unsigned long long seed, sequence;
	char path[64];

	if (argc != 3) {
		fputs("usage: diffverbs SEED N < NUMBERS\n", stderr);
		return 2;
	}
	seed = strtoull(argv[1], NULL, 0);
	snprintf(path, sizeof(path), "/dev/infiniband/uverbs%s", argv[2]);
	if (!find_gid(argv[2]) || !make_arena()) {
		fputs("diffverbs: no GID, or no memory\n", stderr);
		return 1;
	}
	while (scanf("%llu", &sequence) == 1)
		run(seed, sequence, path);
	return 0;
}
