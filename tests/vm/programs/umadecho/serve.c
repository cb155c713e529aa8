// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The program that answers, until it is killed. */
#include <errno.h>
#include <stdio.h>

#include <infiniband/umad.h>

#include "echo.h"

/* How often a response of several segments is sent again. */
#define RETRIES 10

int serve(const struct port *port)
{
	struct message msg = message_new();
	struct ib_mad_addr *from;
	struct content asked;
	int ret;

	puts("serving");
	fflush(stdout);
	for (;;) {
		msg.length = MAD_HEADER + MAX_DATA;
		ret = umad_recv(port->fd, msg.umad, &msg.length, -1);
		if (ret < 0)
			die("umad_recv", -ret);
		if (umad_status(msg.umad)) {
			printf("answer %08x: %d\n", message_tid(&msg), umad_status(msg.umad));
			continue;
		}
		if (!message_read(&msg, &asked) || !message_is(&msg, &asked))
			die("a request that is not as it was sent", 0);
		from = umad_get_mad_addr(msg.umad);
		message_address(&msg, from->gid, from->gid_index);
		message_answer(&msg, &asked);
		ret = umad_send(port->fd, port->agent, msg.umad, msg.length, 0, RETRIES);
		if (ret)
			die("umad_send", -ret);
	}
}
