// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * xrcmesh [--legacy] DEVICE DIR HOST HOSTS PROCESSES MESSAGES
 *
 * One of HOSTS hosts, number HOST from 0 on, each with an adapter and PROCESSES processes, which
 * share an XRC domain.  Each process has an SRQ of the domain and a sender to each other host.
 * One of the processes, the maker, has a receive QP made for each sender of the other hosts, and
 * is killed.  Each of those that are left sends MESSAGES to each of those on the other hosts.
 * With --legacy the receive QPs are the maker's, and all other processes open them, so that they
 * outlive the maker.
 *
 * Between the steps it prints "at STEP" and waits for a line of its standard input:
 *	prepared  DIR/HOST.senders is written; before it goes on, all hosts' must be there
 *	made	  the receive QPs exist; DIR/HOST.targets is written, all hosts' must be there
 *	connected all senders are
 *	killed	  the maker is dead
 *	received  all messages have arrived, or no more came
 * It ends with status 0 if no message was lost, 1 if one was, 2 if it could not try.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "memory.h"
#include "xrcmesh.h"

struct mesh *mesh;
static struct child children[MAX_PROCESSES];

static struct message answer_of(int i)
{
	struct message m;

	if (!hear_soon(children[i].fd, &m))
		give_up("process %d of host %d is gone", i, mesh->host);
	return m;
}

/* Processes from @first on do it at the same time. */
static void all_do(enum order order, int first)
{
	struct message m = { .what = order };
	int i;

	for (i = first; i < mesh->processes; i++)
		tell(children[i].fd, &m);
	for (i = first; i < mesh->processes; i++)
		answer_of(i);
}

static void prepare(void)
{
	int i;

	for (i = 0; i < mesh->processes; i++)
		children[i] = start(worker, &mesh->peers[mesh->host][i]);
	for (i = 0; i < mesh->processes; i++)
		answer_of(i);
	write_senders();
	reached("prepared");
}

/* Only this step is between the two looks at the memory; other hosts of this machine wait. */
static void make_targets(void)
{
	long before;

	read_senders();
	before = free_kib();
	ask(&children[MAKER], (struct message){ .what = MAKE });
	if (mesh->legacy)
		all_do(OPEN, MAKER + 1);
	printf("memory %ld KiB\n", before - free_kib());
	write_targets();
	reached("made");
	read_targets();
}

/* Returns how many messages are lost. */
static __u64 exchange(void)
{
	struct message m = { .what = EXCHANGE };
	__u64 lost = 0, all = messages_expected() * (mesh->processes - 1);
	int i, wrong = 0;

	for (i = MAKER + 1; i < mesh->processes; i++)
		tell(children[i].fd, &m);
	for (i = MAKER + 1; i < mesh->processes; i++) {
		/* It has a bound of its own. */
		if (!hear(children[i].fd, &m))
			give_up("process %d of host %d is gone", i, mesh->host);
		lost += messages_expected() - m.number;
		wrong += m.status;
	}
	printf("lost %lu of %lu, %d out of order\n", (unsigned long)lost, (unsigned long)all,
	       wrong);
	reached("received");
	return lost + wrong;
}

static int run(void)
{
	int i, ret;

	prepare();
	make_targets();
	all_do(CONNECT, 0);
	reached("connected");
	end(&children[MAKER]);
	reached("killed");
	ret = !!exchange();
	for (i = MAKER + 1; i < mesh->processes; i++)
		end(&children[i]);
	return ret;
}

int main(int argc, char **argv)
{
	mesh = mmap(NULL, sizeof(*mesh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(mesh != MAP_FAILED);
	if (argc > 1 && !strcmp(argv[1], "--legacy")) {
		mesh->legacy = true;
		argv++;
		argc--;
	}
	if (argc != 7)
		give_up("usage: xrcmesh [--legacy] DEVICE DIR HOST HOSTS PROCESSES MESSAGES");
	mesh->device = argv[1];
	mesh->dir = argv[2];
	mesh->host = atoi(argv[3]);
	mesh->hosts = atoi(argv[4]);
	mesh->processes = atoi(argv[5]);
	mesh->messages = strtoul(argv[6], NULL, 0);
	MUST(mesh->hosts > 1 && mesh->hosts <= MAX_HOSTS);
	MUST(mesh->host >= 0 && mesh->host < mesh->hosts);
	MUST(mesh->processes > 1 && mesh->processes <= MAX_PROCESSES);
	return run();
}
