// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The common header of a MAD, and random faults. */
#include <endian.h>
#include <string.h>

#include "madfuzz.h"

void put16(struct packet *p, unsigned int at, __u16 v)
{
	v = htobe16(v);
	memcpy(p->mad + at, &v, sizeof(v));
}

void put32(struct packet *p, unsigned int at, __u32 v)
{
	v = htobe32(v);
	memcpy(p->mad + at, &v, sizeof(v));
}

void put64(struct packet *p, unsigned int at, __u64 v)
{
	v = htobe64(v);
	memcpy(p->mad + at, &v, sizeof(v));
}

__u32 get32(const __u8 *mad, unsigned int at)
{
	__u32 v;

	memcpy(&v, mad + at, sizeof(v));
	return be32toh(v);
}

__u64 get64(const __u8 *mad, unsigned int at)
{
	return (__u64)get32(mad, at) << 32 | get32(mad, at + 4);
}

/* Returns a TID with an agent's upper half, which counts up from 1, or with any. */
__u64 mad_tid(void)
{
	__u64 tid = rnd64();

	if (!chance(3))
		tid = (__u64)(1 + rnd(64)) << 32 | (tid & 0xff);
	return tid;
}

__u8 mad_class(void)
{
	static const __u8 classes[] = {
		CLASS_SA, CLASS_PM, CLASS_CM, CLASS_VENDOR, CLASS_RMPP, CLASS_USER_RMPP,
		0x05, 0x06, 0x08, 0x09, 0x10, 0x12, 0x21, 0x32, 0x4f,
	};

	return chance(10) ? rnd64() : classes[rnd(sizeof(classes))];
}

__u8 mad_method(void)
{
	static const __u8 methods[] = {
		GET, SET, SEND, TRAP, REPORT, REPRESS, GET_TABLE, GET_MULTI,
	};
	__u8 method = chance(10) ? rnd64() : methods[rnd(sizeof(methods))];

	return chance(3) ? method | RESPONSE : method;
}

/* Makes a valid MAD, from one of the peers to the adapter's QP1. */
void mad_init(struct packet *p, __u8 class, __u8 method)
{
	memset(p, 0, offsetof(struct packet, mad) + MAD_SIZE);
	p->from = PEER + rnd(PEERS);
	p->to = TARGET;
	p->opcode = 0x64;	/* UD SEND only */
	p->flags = 0x40;
	p->pkey = 0xffff;
	p->qpn = 1;
	p->qkey = QKEY;
	p->src_qpn = 1;
	p->len = MAD_SIZE;
	p->mad[BASE] = 1;
	p->mad[CLASS] = class;
	p->mad[VERSION] = class == CLASS_SA || class == CLASS_CM ? 2 : 1;
	p->mad[METHOD] = method;
	put64(p, TID, mad_tid());
	if (class >= CLASS_RMPP && class < 0x50)
		put32(p, VENDOR_OUI - 1, OUI);
}

void mad_spoil(struct packet *p)
{
	static const __u8 header[] = {
		BASE, CLASS, VERSION, METHOD, STATUS, TID + 3, TID + 7, ATTR + 1,
		RMPP_VERSION, RMPP_TYPE, RMPP_FLAGS, RMPP_STATUS, RMPP_SEG, RMPP_SEG + 3,
		RMPP_LEN, RMPP_LEN + 3, VENDOR_OUI,
	};
	unsigned int n = 1 + rnd(3);

	while (n--) {
		if (chance(2))
			p->mad[header[rnd(sizeof(header))]] ^= 1 << rnd(8);
		else if (chance(2))
			p->mad[rnd(MAD_SIZE)] ^= 1 << rnd(8);
		else
			put32(p, 24 + 4 * rnd(58), edge());
	}
}
