// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A request and its response as transfers whose segments, ACKs and windows the program
 * handles itself (UMAD_USER_RMPP; IBA 13.6). Nothing is sent again, so the wire must
 * not lose anything.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include <infiniband/umad.h>
#include <infiniband/umad_types.h>

#include "echo.h"

#define PATIENCE_MS	10000
#define WINDOW		8		/* granted beyond what is acknowledged */
#define CLASS_DATA	4		/* of the class header: counts as data */

enum { DATA = 1, ACK = 2 };
enum { ACTIVE = 1, FIRST = 2, LAST = 4 };

struct transfer {
	const struct port *port;
	const struct order *order;
	struct message one;		/* the segment that is sent or received */
	struct message whole;
};

static struct umad_rmpp_hdr *rmpp(const struct message *msg)
{
	return (void *)(msg->mad + sizeof(struct umad_hdr));
}

static __u32 segments_of(__u32 length)
{
	return (length + MAD_DATA - 1) / MAD_DATA;
}

static void send_one(struct transfer *t, int type, int flags, __u32 seg, __u32 number)
{
	struct umad_rmpp_hdr *hdr = rmpp(&t->one);
	int ret;

	message_address(&t->one, t->order->gid, 0);
	memset(hdr, 0, sizeof(*hdr));
	hdr->rmpp_version = UMAD_RMPP_VERSION;
	hdr->rmpp_type = type;
	hdr->rmpp_rtime_flags = ACTIVE | flags;
	hdr->seg_num = htonl(seg);
	hdr->paylen_newwin = htonl(number);
	ret = umad_send(t->port->fd, t->port->agent, t->one.umad, MAD_SIZE, 0, 0);
	if (ret)
		die("umad_send", -ret);
}

/* Returns the number of the segment that was received or acknowledged. */
static __u32 receive_one(struct transfer *t, int type)
{
	int ret;

	t->one.length = MAD_SIZE;
	ret = umad_recv(t->port->fd, t->one.umad, &t->one.length, PATIENCE_MS);
	if (ret < 0)
		die("umad_recv", -ret);
	if (umad_status(t->one.umad) || rmpp(&t->one)->rmpp_type != type)
		die("not the segment or ACK that was due", 0);
	return ntohl(rmpp(&t->one)->seg_num);
}

static void send_data(struct transfer *t, __u32 seg)
{
	__u32 n = segments_of(t->order->size), paylen = 0;
	int flags = 0;

	memcpy(t->one.mad, t->whole.mad, MAD_HEADER);
	memcpy(t->one.mad + MAD_HEADER, t->whole.mad + MAD_HEADER + (seg - 1) * MAD_DATA,
	       MAD_DATA);
	if (seg == 1) {
		flags |= FIRST;
		paylen = t->order->size + n * CLASS_DATA;
	}
	if (seg == n) {
		flags |= LAST;
		paylen = t->order->size - (n - 1) * MAD_DATA + CLASS_DATA;
	}
	send_one(t, DATA, flags, seg, paylen);
}

static void send_all(struct transfer *t)
{
	__u32 n = segments_of(t->order->size);
	__u32 next = 1, window = 1, acked = 0;

	while (acked < n) {
		while (next <= n && next <= window)
			send_data(t, next++);
		acked = receive_one(t, ACK);
		window = ntohl(rmpp(&t->one)->paylen_newwin);
		if (acked >= next || window < acked)
			die("an ACK of what was not sent", 0);
	}
}

/* Sends the MAD that was just received back as its ACK. */
static void send_ack(struct transfer *t, __u32 seg, __u32 window)
{
	((struct umad_hdr *)t->one.mad)->method &= ~METHOD_RESP;
	send_one(t, ACK, 0, seg, window);
}

static void receive_all(struct transfer *t, __u32 length)
{
	__u32 n = segments_of(length), window = 1, seg, want;

	for (want = 1; want <= n; want++) {
		seg = receive_one(t, DATA);
		if (seg != want)
			die("a segment that is not the next", 0);
		if (seg == 1)
			memcpy(t->whole.mad, t->one.mad, MAD_HEADER);
		memcpy(t->whole.mad + MAD_HEADER + (seg - 1) * MAD_DATA,
		       t->one.mad + MAD_HEADER, MAD_DATA);
		if (seg == window || seg == n) {
			window = seg + WINDOW;
			send_ack(t, seg, window);
		}
	}
	t->whole.length = MAD_HEADER + length;
}

int ask_in_segments(const struct port *port, const struct order *order)
{
	struct transfer t = {
		.port = port,
		.order = order,
		.one = message_new(),
		.whole = message_new(),
	};
	struct content asked = { 1, order->size, order->reply };
	struct content want = { ~1U, order->reply, 0 };

	message_request(&t.whole, &asked);
	send_all(&t);
	receive_all(&t, order->reply);
	if (!message_is(&t.whole, &want))
		die("the response is not what it should be", 0);
	printf("%u segments sent, %u received\n", segments_of(order->size),
	       segments_of(order->reply));
	return 0;
}
