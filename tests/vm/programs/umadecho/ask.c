// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The program that sends requests: a window of them, each of which must be answered
 * once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <infiniband/umad.h>

#include "echo.h"

#define TIMEOUT_MS	2000
#define RETRIES		10
#define PATIENCE_MS	60000

struct run {
	const struct port *port;
	const struct order *order;
	struct message msg;
	bool *answered;			/* by cookie */
	unsigned int asked;
	unsigned int done;
	unsigned int unanswered;
	unsigned int wrong;
};

static struct content request(const struct run *run, __u32 cookie)
{
	return (struct content) { cookie, run->order->size, run->order->reply };
}

static void ask_next(struct run *run)
{
	struct content content = request(run, run->asked);
	int ret;

	message_address(&run->msg, run->order->gid, 0);
	message_request(&run->msg, &content);
	ret = umad_send(run->port->fd, run->port->agent, run->msg.umad, run->msg.length,
			TIMEOUT_MS, RETRIES);
	if (ret)
		die("umad_send", -ret);
	run->asked++;
}

static bool is_answer(const struct run *run, __u32 cookie)
{
	struct content want = request(run, cookie);

	if (want.reply)
		want = (struct content) { ~cookie, want.reply, 0 };
	return message_is(&run->msg, &want);
}

static void take_one(struct run *run)
{
	__u32 cookie;
	int ret;

	run->msg.length = MAD_HEADER + MAX_DATA;
	ret = umad_recv(run->port->fd, run->msg.umad, &run->msg.length, PATIENCE_MS);
	if (ret < 0)
		die("umad_recv", -ret);
	cookie = message_tid(&run->msg);
	if (cookie >= run->asked || run->answered[cookie])
		die("an answer to nothing", 0);
	run->answered[cookie] = true;
	run->done++;
	if (umad_status(run->msg.umad))
		run->unanswered++;
	else if (!is_answer(run, cookie))
		run->wrong++;
}

int ask(const struct port *port, const struct order *order)
{
	struct run run = { .port = port, .order = order, .msg = message_new() };

	run.answered = calloc(order->count, sizeof(*run.answered));
	if (!run.answered)
		die("calloc", errno);
	while (run.done < order->count) {
		while (run.asked < order->count && run.asked - run.done < order->window)
			ask_next(&run);
		take_one(&run);
	}
	printf("asked %u, answered %u, wrong %u\n", run.asked,
	       run.done - run.unanswered, run.wrong);
	return run.unanswered || run.wrong;
}
