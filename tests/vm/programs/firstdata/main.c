// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * firstdata write|armed|polled COUNT PASSIVE ACTIVE PORT BOUND_MS
 *
 * Makes COUNT connections one after another, from address ACTIVE to address PASSIVE;
 * each side is a process. The active side sends DATA_SIZE bytes as soon as it is
 * established, and disconnects when the passive side is established, too, or BOUND_MS
 * have passed since it accepted. Prints a line for each connection, about its passive
 * side:
 *
 *   RECEIVED ESTABLISHED DISCONNECTED N_ESTABLISHED N_DISCONNECTED
 *
 * The first three are microseconds since just before rdma_accept(), or "-" if the event
 * has not happened; the last two are the number of each event. RECEIVED is when it saw
 * the first data: in its memory, which it reads without a pause (write); or by the
 * receive completion of a CQ that it was woken for (armed), or that it polls without a
 * pause (polled).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* of a static program: see infiniband/verbs.h */
#define RDMA_STATIC_PROVIDERS rxe
#include "firstdata.h"

void die(const char *what)
{
	fprintf(stderr, "firstdata: %s: %s\n", what, strerror(errno));
	exit(2);
}

void turn_give(const struct turns *turns)
{
	if (write(turns->out, "", 1) != 1)
		die("the other side");
}

void turn_take(const struct turns *turns)
{
	char byte;

	errno = 0;
	if (read(turns->in, &byte, 1) != 1)
		die("the other side has ended");
}

void qp_wanted(struct ibv_qp_init_attr *attr)
{
	*attr = (struct ibv_qp_init_attr) {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
}

static struct sockaddr_in address(const char *word, unsigned int port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };

	if (inet_pton(AF_INET, word, &sin.sin_addr) != 1) {
		errno = EINVAL;
		die(word);
	}
	return sin;
}

static unsigned int number(const char *word, unsigned int max)
{
	char *end;
	unsigned long n = strtoul(word, &end, 10);

	if (*end || !n || n > max) {
		errno = EINVAL;
		die(word);
	}
	return n;
}

static enum kind kind_of(const char *word)
{
	static const char *const names[] = {
		[KIND_WRITE] = "write", [KIND_ARMED] = "armed", [KIND_POLLED] = "polled",
	};
	unsigned int kind;

	for (kind = 0; kind < sizeof(names) / sizeof(*names); kind++)
		if (!strcmp(word, names[kind]))
			return kind;
	errno = EINVAL;
	die(word);
	return 0;
}

int main(int argc, char **argv)
{
	struct turns passive, active;
	struct order order;
	int there[2], back[2], status;
	pid_t child;

	if (argc != 7) {
		fputs("its words are in the comment above\n", stderr);
		return 2;
	}
	order.kind = kind_of(argv[1]);
	order.count = number(argv[2], 100000);
	order.passive = address(argv[3], number(argv[5], 65535));
	order.active = address(argv[4], 0);
	order.bound_ms = number(argv[6], 1000000);

	if (pipe(there) || pipe(back))
		die("pipe");
	passive = (struct turns) { .in = back[0], .out = there[1] };
	active = (struct turns) { .in = there[0], .out = back[1] };
	child = fork();
	if (child < 0)
		die("fork");
	/*
	 * each side keeps only its own ends, so that it notices when the other has
	 * exited
	 */
	close(child ? active.in : passive.in);
	close(child ? active.out : passive.out);
	ibv_free_device_list(ibv_get_device_list(NULL));
	if (!child)
		return run_active(&order, &active);
	status = run_passive(&order, &passive);
	if (waitpid(child, &back[0], 0) != child || back[0])
		return 1;
	return status;
}
