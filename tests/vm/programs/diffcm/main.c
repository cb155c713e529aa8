// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * diffcm SEED BASE_PORT < NUMBERS
 *
 * Makes the sequences of calls whose numbers it reads, and prints each call with its result, and
 * each event.  BASE_PORT and the 15 ports after it are for its use.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "diffcm.h"

unsigned int base_port;
unsigned long long sequence_number;
struct id ids[IDS];
int channels[CHANNELS];

static __u64 rnd_state;

/* splitmix64 */
static __u64 rnd64(void)
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

__u32 one_of(unsigned int n, ...)
{
	unsigned int i = rnd(n) + 1;
	va_list args;
	__u32 value;

	va_start(args, n);
	while (i--)
		value = va_arg(args, __u32);
	va_end(args);
	return value;
}

void seed_sequence(__u64 seed, __u64 sequence)
{
	rnd_state = seed;
	rnd_state = rnd64() ^ sequence;
	rnd64();
}

#define QPNS		16	/* of a sequence */

static __u32 first_qpn, nr_qpns;

__u32 new_qpn(void)
{
	return first_qpn + nr_qpns++ % QPNS;
}

int qpn_index(__u32 qpn)
{
	return qpn >= first_qpn && qpn < first_qpn + QPNS ? (int)(qpn - first_qpn) : -1;
}

void show(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
}

static void run(__u64 seed, __u64 sequence)
{
	unsigned int i, calls;

	seed_sequence(seed, sequence);
	printf("#%llu\n", (unsigned long long)sequence);
	fflush(stdout);
	memset(ids, 0, sizeof(ids));
	first_qpn = 0x100 + sequence % 0xfff00 * QPNS;
	nr_qpns = 0;
	for (i = 0; i < CHANNELS; i++) {
		channels[i] = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC | O_NONBLOCK);
		if (channels[i] < 0) {
			perror("/dev/infiniband/rdma_cm");
			exit(1);
		}
	}
	some_pattern();
	calls = 2 + rnd(9);
	while (calls--)
		random_call();
	/* Whatever the ids do: it must end. */
	call_begins();
	for (i = 0; i < CHANNELS; i++)
		close(channels[i]);
	call_ends();
}

int main(int argc, char **argv)
{
	unsigned long long seed;

	if (argc != 3) {
		fputs("usage: diffcm SEED BASE_PORT < NUMBERS\n", stderr);
		return 2;
	}
	seed = strtoull(argv[1], NULL, 0);
	base_port = strtoul(argv[2], NULL, 0);
	watch();
	while (scanf("%llu", &sequence_number) == 1)
		run(seed, sequence_number);
	return 0;
}
