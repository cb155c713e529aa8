// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See processes.h. */
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "processes.h"

void give_up(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	exit(2);
}

void tell(int fd, const struct message *m)
{
	MUST(write(fd, m, sizeof(*m)) == sizeof(*m));
}

bool hear(int fd, struct message *m)
{
	return recv(fd, m, sizeof(*m), MSG_WAITALL) == sizeof(*m);
}

bool hear_soon(int fd, struct message *m)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	if (poll(&pfd, 1, PATIENCE * 1000) != 1)
		give_up("no answer in %d s", PATIENCE);
	return hear(fd, m);
}

struct message ask(struct child *c, struct message m)
{
	tell(c->fd, &m);
	if (!hear_soon(c->fd, &m))
		give_up("process %d is gone", c->pid);
	return m;
}

struct child start(void (*fn)(int fd, void *arg), void *arg)
{
	struct child c;
	int fds[2];

	MUST(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds));
	fflush(stdout);
	c.pid = fork();
	MUST(c.pid >= 0);
	if (!c.pid) {
		/* Whatever becomes of the test, nobody is left. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		fn(fds[1], arg);
		exit(0);
	}
	close(fds[1]);
	c.fd = fds[0];
	return c;
}

void end(struct child *c)
{
	close(c->fd);
	if (!c->pid)
		return;
	kill(c->pid, SIGKILL);
	MUST(waitpid(c->pid, NULL, 0) == c->pid);
}

void reached(const char *step)
{
	char line[80];

	printf("at %s\n", step);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		exit(2);
}
