// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Messages of the communication manager. */
#include <string.h>

#include "madfuzz.h"

#define BODY		24
#define PRIVATE		164	/* of a REQ */
#define LISTENER	7471	/* the test ULP's port */

enum cm_attr {
	REQ = 0x10, MRA, REJ, REP, RTU, DREQ, DREP, SIDR_REQ, SIDR_REP, LAP, APR,
	CM_ATTRS = 11,
};

void make_cm_noise(struct packet *p)
{
	mad_init(p, CLASS_CM, SEND);
	put16(p, ATTR, chance(16) ? rnd64() : REQ + rnd(CM_ATTRS));
	rnd_fill(p->mad + BODY, MAD_SIZE - BODY);
	if (chance(2)) {
		put32(p, CM_LOCAL, rnd(4096));
		put32(p, CM_REMOTE, rnd(4096));
	}
}

static void put_gid(struct packet *p, unsigned int at, __u32 host)
{
	put32(p, at + 8, 0xffff);
	put32(p, at + 12, NETWORK | host);
}

/* Fills in a REQ to @port of the TCP port space (annex A11). */
static void put_req(struct packet *p, __u16 port)
{
	unsigned int timeout = 8 + rnd(6);	/* 4.096 us << timeout */

	put16(p, ATTR, REQ);
	put32(p, CM_LOCAL, rnd64());
	put64(p, 32, 0x01060000 | port);
	put64(p, 40, 0x020000fffe000002);
	put32(p, 56, rnd(0x1000000) << 8 | 1);		/* QPN */
	put32(p, 60, 1);
	put32(p, 64, timeout << 3);
	put32(p, 68, 7 << 8 | timeout << 3 | 7);
	put32(p, 72, 0xffff0000 | 3 << 12 | 7 << 8 | rnd(3) << 4);
	put32(p, 76, 0xffffffff);			/* LIDs */
	put_gid(p, 80, p->from);
	put_gid(p, 96, p->to);
	put32(p, 112, 3);
	put32(p, 116, 64 << 16 | 0x08 << 8 | 14 << 3);
	put32(p, PRIVATE, 0x0040 << 16 | rnd(0x10000));	/* version, port */
	put32(p, PRIVATE + 16, NETWORK | p->from);
	put32(p, PRIVATE + 32, NETWORK | p->to);
}

/* A REQ that is spoilt, or for a service without a listener. */
void make_cm_req(struct packet *p)
{
	mad_init(p, CLASS_CM, SEND);
	put_req(p, chance(2) ? LISTENER : rnd(0x10000));
	if (chance(3))
		p->mad[BODY + rnd(PRIVATE - BODY)] ^= 1 << rnd(8);
	else if (chance(2))
		put32(p, BODY + 4 * rnd(35), edge());
	else
		put32(p, PRIVATE + 4 * rnd(9), edge());
}

void make_cm_connect(struct packet *p)
{
	mad_init(p, CLASS_CM, SEND);
	put_req(p, LISTENER);
}

/* Responds to a message that the adapter's CM has sent. */
void make_cm_reply(struct packet *p)
{
	const struct seen *seen = seen_cm();

	make_cm_noise(p);
	if (!seen || chance(16))
		return;
	if (!chance(16))
		p->from = seen->to;
	put64(p, TID, get64(seen->mad, TID));
	put32(p, CM_LOCAL, chance(8) ? edge() : get32(seen->mad, CM_REMOTE));
	put32(p, CM_REMOTE, chance(8) ? edge() : get32(seen->mad, CM_LOCAL));
	if (!chance(3))
		put16(p, ATTR, chance(2) ? REJ : DREQ);
}
