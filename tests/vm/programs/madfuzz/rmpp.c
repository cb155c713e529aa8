// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* RMPP: transfers to the agents, and responses to theirs. */
#include <string.h>

#include "madfuzz.h"

#define TRANSFERS	64

/* A transfer in progress, from this side's point of view. */
static struct transfer {
	__u64 tid;
	__u32 from, seg;
	__u8 class, method;
} transfers[TRANSFERS];

static void rmpp_put(struct packet *p, __u8 type, __u8 flags, __u32 seg,
		     __u32 len)
{
	p->mad[RMPP_VERSION] = 1;
	p->mad[RMPP_TYPE] = type;
	p->mad[RMPP_FLAGS] = 0xf8 | ACTIVE | flags;
	p->mad[RMPP_STATUS] = 0;
	put32(p, RMPP_SEG, seg);
	put32(p, RMPP_LEN, len);
}

static __u8 rmpp_class(void)
{
	static const __u8 classes[] = { CLASS_RMPP, CLASS_RMPP, CLASS_SA, CLASS_USER_RMPP };

	return chance(20) ? 0x32 + rnd(0x1e) : classes[rnd(sizeof(classes))];
}

static void rmpp_fault(struct packet *p)
{
	switch (rnd(6)) {
	case 0:
		p->mad[RMPP_VERSION] = edge();
		break;
	case 1:
		p->mad[RMPP_TYPE] = edge();
		break;
	case 2:
		p->mad[RMPP_FLAGS] = rnd64();
		break;
	case 3:
		p->mad[RMPP_STATUS] = chance(2) ? 118 + rnd(10) : edge();
		break;
	case 4:
		put32(p, RMPP_SEG, edge());
		break;
	default:
		put32(p, RMPP_LEN, edge());
	}
}

/* Begins a transfer, which mostly never ends. */
void make_rmpp_first(struct packet *p)
{
	struct transfer *t = &transfers[rnd(TRANSFERS)];

	mad_init(p, rmpp_class(), mad_method() & ~RESPONSE);
	put64(p, TID, rnd64());
	rmpp_put(p, DATA, FIRST | (chance(8) ? LAST : 0), 1, chance(2) ? 0 : edge());
	if (chance(8))
		rmpp_fault(p);
	*t = (struct transfer){
		.tid = get64(p->mad, TID), .from = p->from, .seg = 1,
		.class = p->mad[CLASS], .method = p->mad[METHOD],
	};
}

/* Continues a transfer: the next segment, one too far, one again, the last. */
void make_rmpp_segment(struct packet *p)
{
	struct transfer *t = &transfers[rnd(chance(4) ? TRANSFERS : 4)];
	__u32 seg;

	mad_init(p, t->class, t->method);
	p->from = t->from;
	put64(p, TID, t->tid);
	seg = t->seg + 1;
	if (chance(6))
		seg = chance(3) ? edge() : t->seg + rnd(70);
	else if (chance(6))
		seg = 1 + rnd(seg);
	else
		t->seg = seg;
	rmpp_put(p, DATA, (seg == 1 ? FIRST : 0) | (chance(20) ? LAST : 0), seg,
		 chance(4) ? edge() : rnd(224));
	if (chance(30))
		rmpp_fault(p);
}

/* ACK, STOP and ABORT of a transfer that an agent sends or receives, or of none. */
void make_rmpp_control(struct packet *p)
{
	const struct transfer *t = &transfers[rnd(TRANSFERS)];
	const struct seen *seen = seen_request();
	__u32 seg;

	mad_init(p, rmpp_class(), mad_method());
	if (chance(4)) {
		p->from = t->from;
		p->mad[CLASS] = t->class;
		p->mad[METHOD] = t->method ^ (chance(2) ? RESPONSE : 0);
		put64(p, TID, t->tid);
	} else if (seen && !chance(4)) {
		p->from = seen->to;
		memcpy(p->mad, seen->mad, SEEN_BYTES);
		p->mad[METHOD] ^= RESPONSE;
	}
	seg = get32(p->mad, RMPP_SEG);
	seg = chance(3) ? edge() : seg + rnd(3) - 1;
	rmpp_put(p, chance(4) ? STOP + rnd(2) : ACK, 0, seg, chance(3) ? seg + rnd(64) : edge());
	if (p->mad[RMPP_TYPE] != ACK)
		p->mad[RMPP_STATUS] = chance(2) ? 118 + rnd(10) : edge();
	else if (chance(8))
		rmpp_fault(p);
}

/* An answer in segments, to a request of an agent. */
void make_rmpp_answer(struct packet *p)
{
	const struct seen *seen = seen_request();
	__u32 seg = 1 + rnd(4);

	if (!seen) {
		make_rmpp_first(p);
		return;
	}
	mad_init(p, 0, 0);
	p->from = seen->to;
	memcpy(p->mad, seen->mad, SEEN_BYTES);
	p->mad[METHOD] |= RESPONSE;
	if (p->mad[METHOD] == (GET | RESPONSE) && chance(2))
		p->mad[METHOD] = GET_TABLE | RESPONSE;
	rmpp_put(p, DATA, (seg == 1 ? FIRST : 0) | (chance(4) ? LAST : 0), seg,
		 chance(4) ? edge() : rnd(224));
	if (chance(16))
		rmpp_fault(p);
}
