// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Kinds of MADs without RMPP or CM: their headers, lengths and transports. */
#include <string.h>

#include "madfuzz.h"

void make_noise(struct packet *p)
{
	mad_init(p, 0, 0);
	rnd_fill(p->mad, MAD_SIZE);
	if (chance(2))
		p->mad[BASE] = 1;
}

/* Spoils one field of the header at a time. */
void make_header(struct packet *p)
{
	mad_init(p, mad_class(), mad_method());
	switch (rnd(6)) {
	case 0:
		p->mad[BASE] = chance(2) ? 0x80 : edge();
		break;
	case 1:
		p->mad[CLASS] = rnd64();
		break;
	case 2:
		p->mad[VERSION] = edge();
		break;
	case 3:
		p->mad[METHOD] = rnd64();
		break;
	case 4:
		put16(p, ATTR, edge());
		put32(p, MODIFIER, edge());
		break;
	default:
		put16(p, STATUS, edge());
	}
}

/* rxe itself drops MADs that do not fit into the receive buffer. */
void make_length(struct packet *p)
{
	mad_init(p, mad_class(), mad_method());
	if (chance(4)) {
		memset(p->mad + MAD_SIZE, 0xa5, MAD_ROOM - MAD_SIZE);
		p->len = MAD_SIZE + 4 + rnd(MAD_ROOM - MAD_SIZE - 4);
		p->refused = true;
		return;
	}
	p->len = chance(2) ? rnd(MAD_SIZE) : 4 * rnd(MAD_SIZE / 4);
	/* the pad count of the BTH has to match */
	p->flags |= (-p->len & 3) << 4;
	p->len = (p->len + 3) & ~3u;
}

/* Datagrams that the adapter refuses before they become MADs. */
void make_transport(struct packet *p)
{
	mad_init(p, mad_class(), mad_method());
	p->refused = true;
	switch (rnd(8)) {
	case 0:
		p->qkey = edge();
		break;
	case 1:
		p->pkey = 0x1234 + rnd(64);
		break;
	case 2:
		p->qpn = 2 + rnd(0xfffffd);
		break;
	case 3:
		p->opcode = rnd(0x64);
		break;
	case 4:
		p->bad_crc = true;
		break;
	case 5:
		p->cut = 1 + rnd(20 + MAD_SIZE);
		break;
	case 6:
		p->flags ^= 1 << rnd(4);	/* the version of the header */
		break;
	default:
		p->to = 0xe0000001 + rnd(4);	/* multicast */
		p->qpn = chance(2) ? 0xffffff : 1;
	}
}

void make_vendor(struct packet *p)
{
	mad_init(p, chance(2) ? CLASS_RMPP + rnd(0x20) : 0x09 + rnd(7), mad_method());
	if (chance(2))
		put32(p, VENDOR_OUI - 1, chance(2) ? 0 : edge());
	rnd_fill(p->mad + 40, 64);
}

void make_sa(struct packet *p)
{
	mad_init(p, chance(3) ? CLASS_PM : CLASS_SA, mad_method());
	put16(p, ATTR, chance(4) ? edge() : 0x10 + rnd(0x30));
	rnd_fill(p->mad + 36, MAD_SIZE - 36);
}

void make_smp(struct packet *p)
{
	mad_init(p, chance(2) ? CLASS_SMP : CLASS_SMP_ROUTED, mad_method());
	rnd_fill(p->mad + 4, 4);	/* status, hop pointer, hop count */
	put16(p, ATTR, 0x10 + rnd(0x20));
	rnd_fill(p->mad + 32, 32);
}

/* A request as an honest peer sends it; the agents answer it. */
void make_good(struct packet *p)
{
	mad_init(p, CLASS_VENDOR, GET);
}

/* A response to a request that an agent has sent, or might have sent. */
void make_response(struct packet *p)
{
	const struct seen *seen = seen_request();

	mad_init(p, mad_class(), mad_method() | RESPONSE);
	rnd_fill(p->mad + 40, 32);
	if (!seen || chance(4))
		return;
	memcpy(p->mad, seen->mad, SEEN_BYTES);
	p->mad[METHOD] |= RESPONSE;
	if (!chance(4))
		p->from = seen->to;
	if (chance(2))
		mad_spoil(p);
}
