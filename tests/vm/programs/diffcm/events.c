// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Events: read, printed in an order that does not depend on who was quicker. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include "diffcm.h"

#define MUST_MS		2000
#define SOON_MS		300
#define MAY_MS		20

/* enum rdma_cm_event_type */
enum {
	ADDR_RESOLVED, ADDR_ERROR, ROUTE_RESOLVED, ROUTE_ERROR, CONNECT_REQUEST,
	CONNECT_RESPONSE, CONNECT_ERROR, UNREACHABLE, REJECTED, ESTABLISHED, DISCONNECTED,
	DEVICE_REMOVAL, MULTICAST_JOIN, MULTICAST_ERROR, ADDR_CHANGE, TIMEWAIT_EXIT,
};

static const char * const names[] = {
	"ADDR_RESOLVED", "ADDR_ERROR", "ROUTE_RESOLVED", "ROUTE_ERROR", "CONNECT_REQUEST",
	"CONNECT_RESPONSE", "CONNECT_ERROR", "UNREACHABLE", "REJECTED", "ESTABLISHED",
	"DISCONNECTED", "DEVICE_REMOVAL", "MULTICAST_JOIN", "MULTICAST_ERROR", "ADDR_CHANGE",
	"TIMEWAIT_EXIT",
};

struct got {
	struct rdma_ucm_event_resp ev;
	unsigned int channel;
	int who;		/* index of the id */
};

#define MAX_GOT		(2 * IDS)

static struct got got[MAX_GOT];
static unsigned int nr_got;

static bool get(unsigned int channel, struct rdma_ucm_event_resp *ev)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_get_event body;
	} cmd = {
		.hdr = { RDMA_USER_CM_CMD_GET_EVENT, sizeof(cmd.body), sizeof(*ev) },
		.body = { .response = (__u64)ev },
	};

	memset(ev, 0, sizeof(*ev));
	return write(channels[channel], &cmd, sizeof(cmd)) == sizeof(cmd);
}

static int find(__u32 number)
{
	int i;

	for (i = 0; i < IDS; i++)
		if (ids[i].progress != FREE && ids[i].number == number)
			return i;
	return -1;
}

static int find_free(void)
{
	int i;

	for (i = 0; i < IDS; i++)
		if (ids[i].progress == FREE)
			return i;
	return -1;
}

/* Reads what is there; returns how many count as events. */
static unsigned int take(void)
{
	unsigned int channel, taken = 0;
	struct got *g;

	for (channel = 0; channel < CHANNELS; channel++) {
		for (;;) {
			if (nr_got == MAX_GOT)
				return taken;
			g = &got[nr_got];
			if (!get(channel, &g->ev))
				break;
			/* It comes when it comes. */
			if (g->ev.event == TIMEWAIT_EXIT)
				continue;
			g->channel = channel;
			/* The number is that of the new id, or of the group. */
			g->who = g->ev.event == CONNECT_REQUEST || g->ev.event == MULTICAST_JOIN ||
				 g->ev.event == MULTICAST_ERROR ? (int)g->ev.uid - 1 :
								  find(g->ev.id);
			nr_got++;
			taken++;
		}
	}
	return taken;
}

static void progress(struct id *id, __u32 event)
{
	switch (event) {
	case ADDR_RESOLVED:
		id->progress = ADDRESS;
		break;
	case ADDR_ERROR:
		id->failed = true;
		break;
	case ROUTE_RESOLVED:
		id->progress = ROUTE;
		break;
	case CONNECT_RESPONSE:
		id->progress = RESPONDED;
		break;
	case ESTABLISHED:
		id->progress = CONNECTED;
		break;
	case CONNECT_ERROR:
	case UNREACHABLE:
	case REJECTED:
	case DISCONNECTED:
		id->progress = ENDED;
		break;
	}
}

/* The new id of a request takes a place, and knows which id has asked by its QP number. */
static int adopt(const struct got *g, bool ud)
{
	int i = find_free(), peer;

	if (i < 0)
		return -1;
	ids[i] = (struct id) {
		.progress = REQUESTED, .number = g->ev.id, .channel = g->channel, .peer = -1,
		.ps = ids[g->who].ps,
	};
	for (peer = 0; peer < IDS; peer++) {
		if (peer == i || ids[peer].progress != CONNECTING ||
		    (!ud && ids[peer].qpn != g->ev.param.conn.qp_num))
			continue;
		ids[i].peer = peer;
		ids[peer].peer = i;
	}
	return i;
}

static void print(const struct got *g)
{
	const struct rdma_ucm_event_resp *ev = &g->ev;
	bool ud = g->who >= 0 && ids[g->who].ps != RDMA_PS_TCP && ids[g->who].ps != RDMA_PS_IB;
	int made;

	show("  event of %d: %s status %d", g->who,
	     ev->event <= TIMEWAIT_EXIT ? names[ev->event] : "unknown", (int)ev->status);
	if (ev->event == CONNECT_REQUEST && g->who >= 0) {
		made = adopt(g, ud);
		show(" makes %d", made);
	} else if (g->who >= 0) {
		progress(&ids[g->who], ev->event);
	}
	if (ud)
		show_ud_param(&ev->param.ud);
	else
		show_conn_param(&ev->param.conn);
	show(" ece %x %x\n", ev->ece.vendor_id, ev->ece.attr_mod);
}

/* Those of one id in their order, by the ids' numbers. */
static void print_all(void)
{
	unsigned int i;
	int who;

	for (who = -1; who < IDS; who++)
		for (i = 0; i < nr_got; i++)
			if (got[i].who == who)
				print(&got[i]);
	nr_got = 0;
}

static unsigned int wait_for(unsigned int events, int ms)
{
	struct pollfd fds[CHANNELS];
	unsigned int i, taken = take();

	for (i = 0; i < CHANNELS; i++)
		fds[i] = (struct pollfd) { .fd = channels[i], .events = POLLIN };
	while (taken < events && poll(fds, CHANNELS, ms) > 0)
		taken += take();
	return taken;
}

bool must_come(unsigned int events)
{
	unsigned int taken = wait_for(events, MUST_MS);

	print_all();
	if (taken < events)
		show("  %u of %u events\n", taken, events);
	return taken >= events;
}

void answer_must_come(void)
{
	if (!must_come(1))
		probe();
}

void may_come(unsigned int events, bool soon)
{
	wait_for(events, soon ? SOON_MS : MAY_MS);
	print_all();
}

void peer_may_know(int i)
{
	int peer = ids[i].peer;

	may_come(1, peer >= 0 && ids[peer].progress >= CONNECTING && ids[peer].progress != ENDED);
}
