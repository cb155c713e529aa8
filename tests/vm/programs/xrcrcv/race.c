// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Processes that open a domain, have QPs made, close it and die at random. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "xrcrcv.h"

/* Shared by all processes. */
static struct {
	unsigned long lives, made, closed, exited, killed;
} *counts;

static void live(const char *device, unsigned int seed)
{
	struct ibv_qp_attr attr;
	struct end e = {};
	int mask, ret, n;
	__u32 qpn;

	srandom(seed);
	open_device(&e, device);
	open_domain(&e, DOMAIN_FILE);
	mask = receiver_attr(&attr, 1, e.lid);
	for (n = random() % 5; n; n--) {
		usleep(random() % 2000);
		ret = ibv_alloc_xrc_rcv_qp(e.pd, e.xrcd, &attr, mask, &qpn);
		if (ret)
			give_up("ibv_alloc_xrc_rcv_qp: %s", strerror(ret));
		__atomic_fetch_add(&counts->made, 1, __ATOMIC_RELAXED);
	}
	switch (random() % 3) {
	case 0:
		MUST(!ibv_close_xrcd(e.xrcd));
		__atomic_fetch_add(&counts->closed, 1, __ATOMIC_RELAXED);
		exit(0);
	case 1:
		__atomic_fetch_add(&counts->exited, 1, __ATOMIC_RELAXED);
		exit(0);
	default:
		__atomic_fetch_add(&counts->killed, 1, __ATOMIC_RELAXED);
		kill(getpid(), SIGKILL);
	}
}

static void go(const char *device)
{
	pid_t pid;

	fflush(stdout);
	counts->lives++;
	pid = fork();
	MUST(pid >= 0);
	if (!pid)
		live(device, counts->lives);
}

int race(const char *device, int seconds, int processes)
{
	time_t end = time(NULL) + seconds;
	int status, bad = 0, running;

	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	MUST(counts != MAP_FAILED);
	for (running = 0; running < processes; running++)
		go(device);
	while (running) {
		MUST(wait(&status) > 0);
		bad += WIFEXITED(status) && WEXITSTATUS(status);
		if (time(NULL) < end && !bad)
			go(device);
		else
			running--;
	}
	printf("%lu processes made %lu QPs: %lu closed, %lu exited, %lu were killed\n",
	       counts->lives, counts->made, counts->closed, counts->exited, counts->killed);
	return bad ? 1 : 0;
}
