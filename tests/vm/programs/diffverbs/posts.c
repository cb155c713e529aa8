// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Sends that the kernel is given to post.  rdma_rxe takes any of them as a doorbell of the queue
 * that it shares with the process, so what is refused in RTS, the core refuses.
 */
#include <string.h>
#include "diffverbs.h"

#define WR_SIZE		sizeof(struct ib_uverbs_send_wr)
#define SGE_SIZE	sizeof(struct ib_uverbs_sge)
#define MAX_WRS		4
#define MAX_SGES	3
#define HUGE		0x10000000

/* What is posted; ->odd is the one request that is not like the others. */
static struct {
	bool datagram;
	unsigned int wrs, sges_each, odd;
	__u32 opcode, odd_opcode, odd_flags, odd_sges, odd_ah;
	int more_sges, more_wrs, more_wqe;	/* than there are */
	bool odd_has_ah;
} p;

static __u32 handle_of(enum type type)
{
	struct object *o = some_object(type);

	return o ? o->handle : 0;
}

static void put_wr(void *at, unsigned int i)
{
	struct ib_uverbs_send_wr wr = {
		.wr_id = i,
		.num_sge = i == p.odd ? p.odd_sges : p.sges_each,
		.opcode = i == p.odd ? p.odd_opcode : p.opcode,
		.send_flags = i == p.odd ? p.odd_flags : 2,
	};

	if (p.datagram)
		wr.wr.ud.ah = i == p.odd && p.odd_has_ah ? p.odd_ah : first_object(AH)->handle;
	memcpy(at, &wr, sizeof(wr));
}

static void want_posts(struct call *c)
{
	unsigned int i, sges = (p.wrs - 1) * p.sges_each + p.odd_sges;
	size_t at = c->cmd->in, stride = WR_SIZE + (p.more_wqe < HUGE ? p.more_wqe : 0);

	/* The odd one may ask for more than there are. */
	if (p.odd_sges > MAX_SGES)
		sges = p.wrs * p.sges_each;
	for (i = 0; i < p.wrs; i++, at += stride)
		put_wr(c->in + at, i);
	for (i = 0; i < sges + (p.more_sges == 1); i++, at += SGE_SIZE) {
		const struct ib_uverbs_sge sge = { .addr = ARENA, .length = 8 };

		memcpy(c->in + at, &sge, sizeof(sge));
	}
	c->in_size = at;
	set_field(c, "wr_count", p.wrs + p.more_wrs);
	set_field(c, "sge_count", sges + p.more_sges);
	set_field(c, "wqe_size", WR_SIZE + p.more_wqe);
}

/*
 * A request with one odd thing, or none.  What the cores answer in different ways, on purpose, is
 * rare: only the first difference in a sequence counts.
 */
static void want_odd_posts(struct call *c)
{
	static const int more[] = { 1, 2, -1, HUGE }, longer[] = { 8, 16, -8, HUGE };
	__u32 gone;

	switch (rnd(9)) {
	case 0:
		p.odd_opcode = one_in(8) ? 0xff : rnd(17);
		mistake(c, "opcode-%u at %u", p.odd_opcode, p.odd);
		break;
	case 1:
		p.odd_flags ^= 1u << (one_in(40) ? rnd(32) : rnd(5));
		mistake(c, p.odd_flags < 1u << 5 ? "flags %x at %u" : "odd-flags %x at %u",
			p.odd_flags, p.odd);
		break;
	case 2:
		p.odd_sges = one_in(40) ? ~0u : MAX_SGES + 1 + 3 * MAX_WRS;
		mistake(c, "sges-%x at %u", p.odd_sges, p.odd);
		break;
	case 3:
		p.more_sges = more[rnd(4)];
		mistake(c, "more-sges-%d", p.more_sges);
		break;
	case 4:
		p.more_wrs = more[rnd(4)];
		mistake(c, "more-wrs-%d", p.more_wrs);
		break;
	case 5:
		p.more_wqe = longer[rnd(4)];
		mistake(c, "more-wqe-%d", p.more_wqe);
		break;
	case 6:
		p.odd_has_ah = p.datagram;
		p.odd_ah = one_in(3) ? 0x7ffffff0 : handle_of(one_in(2) ? PD : CQ);
		if (one_in(2) && gone_handle(AH, &gone))
			p.odd_ah = gone;
		if (p.datagram)
			mistake(c, "ah at %u", p.odd);
		break;
	}
	want_posts(c);
	if (!c->mistake[0])
		mistake(c, "posts opcode %u sges %u", p.opcode, p.sges_each);
}

static void post_some(const struct object *qp, bool odd)
{
	memset(&p, 0, sizeof(p));
	p.datagram = qp->qp_type == IB_UVERBS_QPT_UD;
	p.wrs = 1 + rnd(MAX_WRS);
	p.odd = rnd(p.wrs);
	p.sges_each = rnd(MAX_SGES);
	p.odd_sges = p.sges_each;
	p.opcode = p.datagram || one_in(2) ? IB_UVERBS_WR_SEND : IB_UVERBS_WR_RDMA_WRITE;
	p.odd_opcode = p.opcode;
	p.odd_flags = 2;
	do_call(command("post_send"), false, odd ? want_odd_posts : want_posts);
}

static __u8 wanted_type;

static void want_type(struct call *c)
{
	set_field(c, "qp_type", wanted_type);
	set_field(c, "is_srq", 0);
	field_is_unused(c, "srq_handle");
}

void posts(unsigned int number)
{
	static const __u8 types[] = { IB_UVERBS_QPT_RC, IB_UVERBS_QPT_UC, IB_UVERBS_QPT_UD };
	unsigned int calls = 30;

	wanted_type = types[number % 3];
	if (!do_right("alloc_pd") || !do_right("create_cq") || !do_right("create_ah") ||
	    !do_right("create_ah") || !do_call(command("create_qp"), false, want_type))
		return;
	prefer(AH, last_object(AH));
	do_right("destroy_ah");
	prefer(AH, NULL);
	/* No send is taken before RTS. */
	post_some(last_object(QP), false);
	modify_to(last_object(QP), 3);
	while (calls--)
		post_some(last_object(QP), true);
}
