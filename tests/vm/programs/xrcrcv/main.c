// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * xrcrcv [--legacy] RECEIVING_DEVICE SENDING_DEVICE MESSAGES
 *
 * A process, the creator, has a QP made that receives for an XRC domain; another, the receiver,
 * has opened the domain by the same file and posts receives on its SRQ.  The creator is killed;
 * a third process goes on sending to the receiver.  With --legacy the QP is the creator's, as
 * that of ibv_create_qp_ex() is.  If SENDING_DEVICE is ADDRESS:PORT, the sender is on another
 * machine, where it was started by
 *
 * xrcrcv --sender SENDING_DEVICE PORT
 *
 * Between the steps it prints "at STEP" and waits for a line of its standard input:
 *	made	 the QP exists, and a tenth of the messages have arrived
 *	killed	 the creator is dead
 *	received all messages have arrived
 *	closed	 the receiver has closed the domain, and the sender was told so
 * It ends with status 0 if no message was lost, 1 if one was, 2 if it could not try.
 *
 * xrcrcv --errors DEVICE
 *	calls that must fail, each with its error
 * xrcrcv --limit DEVICE
 *	makes QPs until its control group may have no more, is at step "limit", makes one more,
 *	which it may now, and is at step "raised"
 * xrcrcv [--legacy] --many DEVICE NUMBER
 *	makes so many QPs, and prints how much memory each takes; with --legacy, also how much
 *	memory it takes to open one
 * xrcrcv --race DEVICE SECONDS PROCESSES
 *	processes that open the domain, have QPs made, close it and die, all at random
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "xrcrcv.h"

#define TIMEOUT	16	/* of a send, 268 ms */

enum { GO, SEND, RECEIVE, CLOSE };

/* ---- the processes ---- */

/* Counts the messages that arrive in order; the rest of @number are lost. */
static int receive(struct end *e, __u64 from, __u64 number)
{
	__u64 at = from, got;
	int idle = 0;

	while (at < from + number && idle < PATIENCE * 500) {
		if (!take_message(e, &got)) {
			/* The sender tells when it has given up; this is the bound. */
			usleep(1000);
			idle++;
			continue;
		}
		idle = 0;
		if (got != at)
			break;
		at++;
	}
	return from + number - at;
}

static void receiver(int fd, void *device)
{
	struct message m = {};
	struct end e = {};

	open_device(&e, device);
	open_receiver(&e, DOMAIN_FILE);
	MUST(!ibv_get_srq_num(e.srq, &m.srqn));
	m.lid = e.lid;
	tell(fd, &m);
	while (hear(fd, &m)) {
		if (m.what == RECEIVE)
			m.status = receive(&e, m.from, m.number);
		if (m.what == CLOSE) {
			MUST(!ibv_destroy_srq(e.srq));
			MUST(!ibv_close_xrcd(e.xrcd));
		}
		tell(fd, &m);
	}
}

static void sender(int fd, void *device)
{
	struct message m = {};
	struct end e = {};
	__u64 i;

	open_device(&e, device);
	open_sender(&e);
	m.qpn = e.qp->qp_num;
	m.lid = e.lid;
	tell(fd, &m);
	while (hear(fd, &m)) {
		if (m.what == GO)
			connect_sender(&e, m.qpn, m.lid, TIMEOUT);
		m.status = IBV_WC_SUCCESS;
		for (i = 0; m.what == SEND && i < m.number && m.status == IBV_WC_SUCCESS; i++)
			m.status = send_message(&e, m.srqn, m.from + i);
		tell(fd, &m);
	}
}

static bool legacy;

static void creator(int fd, void *device)
{
	struct message m;
	struct end e = {};

	open_device(&e, device);
	open_domain(&e, DOMAIN_FILE);
	MUST(hear(fd, &m));
	m.qpn = legacy ? make_legacy(&e, m.qpn, m.lid) : make_by_domain(&e, m.qpn, m.lid);
	tell(fd, &m);
	for (;;)
		pause();
}

/* ---- a sender on another machine ---- */

static struct sockaddr_in tcp_address(const char *address, const char *port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };

	MUST(inet_pton(AF_INET, address, &sin.sin_addr) == 1);
	return sin;
}

static struct child connect_to(const char *where)
{
	char address[64];
	const char *colon = strchr(where, ':');
	struct sockaddr_in sin;
	struct child c = { .fd = socket(AF_INET, SOCK_STREAM, 0) };

	snprintf(address, sizeof(address), "%.*s", (int)(colon - where), where);
	sin = tcp_address(address, colon + 1);
	MUST(c.fd >= 0);
	MUST(!connect(c.fd, (struct sockaddr *)&sin, sizeof(sin)));
	return c;
}

/* Sends for the first that connects. */
static int serve(char *device, const char *port)
{
	struct sockaddr_in sin = tcp_address("0.0.0.0", port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	MUST(fd >= 0);
	MUST(!bind(fd, (struct sockaddr *)&sin, sizeof(sin)));
	MUST(!listen(fd, 1));
	fd = accept(fd, NULL, NULL);
	MUST(fd >= 0);
	sender(fd, device);
	return 0;
}

/* ---- the steps ---- */

/* Sends messages; returns how many did not reach the receiver. */
static int transfer(struct child *from, struct child *to, struct message m)
{
	struct message sent, got;

	m.what = SEND;
	tell(from->fd, &m);
	m.what = RECEIVE;
	tell(to->fd, &m);
	if (!hear_soon(from->fd, &sent))
		give_up("the sender is gone");
	if (sent.status != IBV_WC_SUCCESS) {
		printf("sender: %s\n", ibv_wc_status_str(sent.status));
		return m.number;
	}
	if (!hear_soon(to->fd, &got))
		give_up("the receiver is gone");
	return got.status;
}

static int steps(char *recv_dev, struct child b, struct child s, __u64 messages)
{
	struct message srq, qp, m;
	struct child a;
	int lost;

	if (!hear_soon(b.fd, &srq) || !hear_soon(s.fd, &qp))
		return 2;
	a = start(creator, recv_dev);
	m = ask(&a, (struct message){ .what = GO, .qpn = qp.qpn, .lid = qp.lid });
	printf("QP %u, SRQ %u\n", m.qpn, srq.srqn);
	ask(&s, (struct message){ .what = GO, .qpn = m.qpn, .lid = srq.lid });
	m = (struct message){ .srqn = srq.srqn, .number = messages / 10 };
	lost = transfer(&s, &b, m);
	if (lost)
		give_up("%d messages are lost at first", lost);
	reached("made");

	end(&a);
	reached("killed");
	m.from = m.number;
	m.number = messages - m.number;
	lost = transfer(&s, &b, m);
	printf("lost %d of %lu\n", lost, (unsigned long)m.number);
	if (lost)
		return 1;
	reached("received");

	ask(&b, (struct message){ .what = CLOSE });
	m = ask(&s, (struct message){ .what = SEND, .srqn = srq.srqn, .number = 1 });
	printf("after the close: %s\n", ibv_wc_status_str(m.status));
	if (m.status != IBV_WC_RETRY_EXC_ERR)
		return 1;
	reached("closed");
	return 0;
}

static int run(char *recv_dev, char *send_dev, __u64 messages)
{
	struct child s = strchr(send_dev, ':') ? connect_to(send_dev) : start(sender, send_dev);
	struct child b = start(receiver, recv_dev);
	int ret = steps(recv_dev, b, s, messages);

	end(&b);
	end(&s);
	return ret;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--legacy")) {
		legacy = true;
		argv++;
		argc--;
	}
	if (argc == 3 && !strcmp(argv[1], "--errors"))
		return check_errors(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "--limit"))
		return check_limit(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "--many"))
		return many(argv[2], atoi(argv[3]), legacy);
	if (argc == 4 && !strcmp(argv[1], "--sender"))
		return serve(argv[2], argv[3]);
	if (argc == 5 && !strcmp(argv[1], "--race"))
		return race(argv[2], atoi(argv[3]), atoi(argv[4]));
	if (argc != 4)
		give_up("usage: xrcrcv [--legacy] RECEIVING_DEVICE SENDING_DEVICE MESSAGES");
	return run(argv[1], argv[2], strtoul(argv[3], NULL, 0));
}
