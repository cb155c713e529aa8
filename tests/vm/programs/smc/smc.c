// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Data over sockets of SMC.
 *
 *   smc serve ADDRESS PORT
 *	Sends back what it receives, each byte inverted, until it is killed.
 *   smc talk FROM ADDRESS PORT NUMBER BYTES ROUNDS
 *	Opens NUMBER sockets. In each round it sends BYTES on all of them at once, and compares
 *	what comes back. Before the next round, and before it closes them, it prints "at round N"
 *	or "at close" and waits for a line of input. Status 3: a socket ended before its time;
 *	4: one that stayed got no answer in time; 1: anything else, such as wrong data.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SOCKETS		64
#define CHUNK		20000
#define BOUND_MS	60000

enum { WRONG = 1, ENDED = 3, SILENT = 4 };

static struct end {
	int fd;				/* -1: unused */
	unsigned long sent, received;
	unsigned long held, done;	/* the server's: bytes of data, and those sent back */
	unsigned char data[CHUNK];
} ends[SOCKETS];

#define fail(status, ...)	do {	\
		printf("smc: ");	\
		printf(__VA_ARGS__);	\
		printf("\n");		\
		exit(status);		\
	} while (0)

static struct sockaddr_in address(const char *text, const char *port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };

	if (inet_pton(AF_INET, text, &sin.sin_addr) != 1)
		fail(WRONG, "no IP: %s", text);
	return sin;
}

static int smc_socket(const char *from, const char *port)
{
	struct sockaddr_in sin = address(from, port);
	int fd = socket(AF_SMC, SOCK_STREAM, 0), on = 1;

	if (fd < 0)
		fail(WRONG, "socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)))
		fail(WRONG, "bind: %s", strerror(errno));
	return fd;
}

static void nonblocking(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/* ---- server ---- */

static void serve_new(int listener)
{
	int fd = accept(listener, NULL, NULL), i;

	if (fd < 0)
		return;
	for (i = 0; i < SOCKETS && ends[i].fd >= 0; i++)
		;
	if (i == SOCKETS) {
		close(fd);
		return;
	}
	nonblocking(fd);
	ends[i] = (struct end){ .fd = fd };
}

static void serve_end(struct end *end)
{
	close(end->fd);
	end->fd = -1;
}

static void serve_one(struct end *end, short events)
{
	ssize_t n;
	size_t i;

	if (end->done == end->held && events & (POLLIN | POLLHUP | POLLERR)) {
		n = recv(end->fd, end->data, sizeof(end->data), 0);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			serve_end(end);
			return;
		}
		for (i = 0; i < (size_t)n; i++)
			end->data[i] = ~end->data[i];
		end->held = n;
		end->done = 0;
	}
	if (end->done == end->held)
		return;
	n = send(end->fd, end->data + end->done, end->held - end->done, MSG_NOSIGNAL);
	if (n > 0)
		end->done += n;
	else if (n < 0 && errno != EAGAIN)
		serve_end(end);
}

static void serve(const char *at, const char *port)
{
	struct pollfd fds[SOCKETS + 1];
	int listener = smc_socket(at, port), i;

	if (listen(listener, SOCKETS))
		fail(WRONG, "listen: %s", strerror(errno));
	for (i = 0; i < SOCKETS; i++)
		ends[i].fd = -1;
	for (;;) {
		for (i = 0; i < SOCKETS; i++)
			fds[i] = (struct pollfd){ .fd = ends[i].fd,
				.events = ends[i].done < ends[i].held ? POLLOUT : POLLIN };
		fds[SOCKETS] = (struct pollfd){ .fd = listener, .events = POLLIN };
		if (poll(fds, SOCKETS + 1, -1) < 0)
			fail(WRONG, "poll: %s", strerror(errno));
		for (i = 0; i < SOCKETS; i++)
			if (fds[i].fd >= 0 && fds[i].revents)
				serve_one(&ends[i], fds[i].revents);
		if (fds[SOCKETS].revents)
			serve_new(listener);
	}
}

/* ---- client ---- */

/* The byte at @at of socket @i in the whole of its life. */
static unsigned char byte(int i, unsigned long at)
{
	return at * 31 + (at >> 8) * 7 + (at >> 16) + i * 101;
}

static void client_send(struct end *end, unsigned long to)
{
	unsigned char data[CHUNK];
	size_t len = to - end->sent < CHUNK ? to - end->sent : CHUNK, k;
	ssize_t n;

	for (k = 0; k < len; k++)
		data[k] = byte(end - ends, end->sent + k);
	n = send(end->fd, data, len, MSG_NOSIGNAL);
	if (n > 0)
		end->sent += n;
	else if (errno != EAGAIN)
		fail(ENDED, "send on %d: %s", (int)(end - ends), strerror(errno));
}

static void client_receive(struct end *end)
{
	unsigned char data[CHUNK];
	ssize_t n = recv(end->fd, data, sizeof(data), 0);
	ssize_t k;

	if (n < 0 && errno == EAGAIN)
		return;
	if (n < 0)
		fail(ENDED, "recv on %d: %s", (int)(end - ends), strerror(errno));
	if (!n)
		fail(ENDED, "%d was closed by its peer", (int)(end - ends));
	for (k = 0; k < n; k++, end->received++)
		if (data[k] != (unsigned char)~byte(end - ends, end->received))
			fail(WRONG, "byte %lu of %d is wrong", end->received, (int)(end - ends));
	if (end->received > end->sent)
		fail(WRONG, "%d has received more than it sent", (int)(end - ends));
}

static void client_round(int number, unsigned long to)
{
	struct pollfd fds[SOCKETS];
	int i, left;

	for (;;) {
		for (i = 0, left = 0; i < number; i++) {
			fds[i] = (struct pollfd){ .fd = ends[i].fd, .events = POLLIN };
			if (ends[i].sent < to)
				fds[i].events |= POLLOUT;
			left += ends[i].received < to;
		}
		if (!left)
			return;
		if (poll(fds, number, BOUND_MS) <= 0)
			fail(SILENT, "no answer");
		for (i = 0; i < number; i++) {
			if (fds[i].revents & POLLOUT)
				client_send(&ends[i], to);
			if (fds[i].revents & ~POLLOUT)
				client_receive(&ends[i]);
		}
	}
}

static void wait_at(const char *step, int n)
{
	char line[16];

	if (n)
		printf("at %s %d\n", step, n);
	else
		printf("at %s\n", step);
	if (!fgets(line, sizeof(line), stdin))
		exit(WRONG);
}

static void talk(char **words)
{
	struct sockaddr_in to = address(words[1], words[2]);
	int number = atoi(words[3]), rounds = atoi(words[5]), i;
	unsigned long bytes = strtoul(words[4], NULL, 0);

	if (number < 1 || number > SOCKETS)
		fail(WRONG, "%d sockets", number);
	for (i = 0; i < number; i++) {
		ends[i].fd = smc_socket(words[0], "0");
		if (connect(ends[i].fd, (struct sockaddr *)&to, sizeof(to)))
			fail(ENDED, "connect: %s", strerror(errno));
		nonblocking(ends[i].fd);
	}
	for (i = 1; i <= rounds; i++) {
		if (i > 1)
			wait_at("round", i);
		client_round(number, i * bytes);
	}
	printf("%d sockets, %lu bytes each way\n", number, number * rounds * bytes);
	wait_at("close", 0);
	for (i = 0; i < number; i++)
		close(ends[i].fd);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 4 && !strcmp(argv[1], "serve"))
		serve(argv[2], argv[3]);
	else if (argc == 8 && !strcmp(argv[1], "talk"))
		talk(argv + 2);
	else
		fail(2, "usage: smc serve|talk WORD...");
	return 0;
}
