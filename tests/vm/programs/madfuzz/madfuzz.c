// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * madfuzz flood NETDEV COUNT SEED: sends COUNT MADs out of NETDEV to the
 *	adapter at the other end, and prints how many there were of each kind
 * madfuzz agents UMAD: has agents there that receive and send, until SIGTERM
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "madfuzz.h"

#define BATCH		64	/* MADs for each probe */
#define OUTSTANDING	4	/* batches; together less than a receive queue */
#define GIVE_UP_MS	500	/* after this a probe counts as lost */
#define STUCK_MS	20000	/* without an answered probe: the port is stuck */

static struct kind {
	const char *name;
	void (*make)(struct packet *p);
	unsigned int weight;
	__u64 sent, refused;
} kinds[] = {
	{ .name = "noise", make_noise, 8 },
	{ .name = "header", make_header, 14 },
	{ .name = "length", make_length, 7 },
	{ .name = "transport", make_transport, 4 },
	{ .name = "vendor", make_vendor, 7 },
	{ .name = "sa, pm", make_sa, 6 },
	{ .name = "smp", make_smp, 4 },
	{ .name = "good", make_good, 2 },
	{ .name = "response", make_response, 14 },
	{ .name = "rmpp first", make_rmpp_first, 5 },
	{ .name = "rmpp segment", make_rmpp_segment, 14 },
	{ .name = "rmpp control", make_rmpp_control, 12 },
	{ .name = "rmpp answer", make_rmpp_answer, 6 },
	{ .name = "cm noise", make_cm_noise, 3 },
	{ .name = "cm req", make_cm_req, 1 },
	{ .name = "cm reply", make_cm_reply, 2 },
};

#define KINDS	ARRAY_SIZE(kinds)

/* Real connections cost a thousand times as much as the rest. */
static struct kind connects = { .name = "cm connect", .make = make_cm_connect };

static struct {
	__u64 sent, answered, lost;
	unsigned int outstanding;
	__u64 last, longest;		/* ms: of the last answer, longest silence */
} probes;

static __u64 now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

static struct kind *pick_kind(void)
{
	unsigned int i, all = 0, at;

	if (chance(2000))
		return &connects;
	for (i = 0; i < KINDS; i++)
		all += kinds[i].weight;
	at = rnd(all);
	for (i = 0; at >= kinds[i].weight; i++)
		at -= kinds[i].weight;
	return &kinds[i];
}

static void send_one(void)
{
	struct kind *kind = pick_kind();
	static struct packet p;

	kind->make(&p);
	if (chance(8))
		mad_spoil(&p);
	kind->sent++;
	kind->refused += p.refused;
	wire_add(&p);
}

static void send_probe(void)
{
	static struct packet p;

	mad_init(&p, CLASS_PROBE, GET);
	wire_add(&p);
	wire_flush();
	probes.sent++;
	probes.outstanding++;
}

static void note_answers(unsigned int n)
{
	__u64 now = now_ms();

	if (!n)
		return;
	if (now - probes.last > probes.longest)
		probes.longest = now - probes.last;
	probes.last = now;
	probes.answered += n;
	probes.outstanding -= n < probes.outstanding ? n : probes.outstanding;
}

/*
 * Waits until at most @allowed probes are unanswered; returns false if the port is
 * stuck.
 */
static bool wait_for_room(unsigned int allowed)
{
	__u64 start = now_ms();

	note_answers(wire_receive(0));
	while (probes.outstanding > allowed) {
		note_answers(wire_receive(20));
		if (now_ms() - probes.last > STUCK_MS)
			return false;
		if (now_ms() - start > GIVE_UP_MS) {
			probes.lost += probes.outstanding;
			probes.outstanding = 0;
		}
	}
	return true;
}

static unsigned long slab_kb(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	unsigned long kb = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Slab: %lu", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

static void print_kind(const struct kind *kind)
{
	printf("  %-14s %8llu sent, %7llu of them for the adapter to refuse\n", kind->name,
	       (unsigned long long)kind->sent, (unsigned long long)kind->refused);
}

static void report(__u64 sent, unsigned long slab, __u64 ms)
{
	__u64 refused = connects.refused;
	unsigned int i;

	for (i = 0; i < KINDS; i++) {
		print_kind(&kinds[i]);
		refused += kinds[i].refused;
	}
	print_kind(&connects);
	printf("  probes: %llu sent, %llu answered, %llu given up, longest silence %llu ms\n",
	       (unsigned long long)probes.sent, (unsigned long long)probes.answered,
	       (unsigned long long)probes.lost, (unsigned long long)probes.longest);
	printf("  %llu MADs in %llu.%llu s\n", (unsigned long long)sent,
	       (unsigned long long)ms / 1000, (unsigned long long)ms / 100 % 10);
	printf("expected=%llu\nslab_max=%lu\n",
	       (unsigned long long)(sent - refused + probes.sent), slab);
}

static int flood(const char *netdev, __u64 total, __u64 seed)
{
	__u64 sent, start = now_ms();
	unsigned long slab = 0, kb;
	bool stuck = false;

	rnd_seed(seed);
	wire_open(netdev);
	probes.last = start;
	for (sent = 0; sent < total && !stuck; sent++) {
		send_one();
		if (sent % BATCH)
			continue;
		send_probe();
		stuck = !wait_for_room(OUTSTANDING - 1);
		if (sent % (BATCH * 64) == 0) {
			kb = slab_kb();
			slab = kb > slab ? kb : slab;
		}
	}
	wire_flush();
	stuck |= !wait_for_room(0);
	report(sent, slab, now_ms() - start);
	if (stuck)
		printf("madfuzz: the port is stuck\n");
	return stuck;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "flood"))
		return flood(argv[2], strtoull(argv[3], NULL, 0),
			     strtoull(argv[4], NULL, 0));
	if (argc == 3 && !strcmp(argv[1], "agents"))
		return agents(argv[2]);
	return 2;
}
