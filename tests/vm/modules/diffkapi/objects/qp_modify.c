// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Changes of a QP's state and attributes: which attributes a change needs and which it allows
 * (IBA vol. 1, 11.2.5.2).
 */
#include <linux/delay.h>
#include "objects/qp.h"

#define STATES	(IB_QPS_ERR + 1)
#define PSN	0x1234

struct masks {
	u32 need, may;
};

#define AV_RTR	(IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN)
#define RC_RTR	(AV_RTR | IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER)
#define RC_RTS	(IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_SQ_PSN | \
		 IB_QP_MAX_QP_RD_ATOMIC)
#define MAY_RTS	(IB_QP_CUR_STATE | IB_QP_ALT_PATH | IB_QP_ACCESS_FLAGS | IB_QP_PATH_MIG_STATE)
#define SQD_PATH	(IB_QP_AV | IB_QP_ALT_PATH | IB_QP_ACCESS_FLAGS | IB_QP_PATH_MIG_STATE | \
			 IB_QP_PKEY_INDEX)
#define SQD_RC		(IB_QP_PORT | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | \
			 IB_QP_MAX_QP_RD_ATOMIC | IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER)
#define CONN_INIT	(IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS)
#define UD_INIT		(IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY)
#define MAY_RTR		(IB_QP_ALT_PATH | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX)

/* By type: RC, UC, UD. */
static const struct change {
	u8 from, to;
	struct masks masks[3];
} changes[] = {
	{ IB_QPS_RESET, IB_QPS_INIT, { { CONN_INIT, 0 }, { CONN_INIT, 0 }, { UD_INIT, 0 } } },
	{ IB_QPS_INIT, IB_QPS_INIT, { { 0, CONN_INIT }, { 0, CONN_INIT }, { 0, UD_INIT } } },
	{ IB_QPS_INIT, IB_QPS_RTR, {
		{ RC_RTR, MAY_RTR }, { AV_RTR, MAY_RTR },
		{ 0, IB_QP_PKEY_INDEX | IB_QP_QKEY } } },
	{ IB_QPS_RTR, IB_QPS_RTS, {
		{ RC_RTS, MAY_RTS | IB_QP_MIN_RNR_TIMER }, { IB_QP_SQ_PSN, MAY_RTS },
		{ IB_QP_SQ_PSN, IB_QP_CUR_STATE | IB_QP_QKEY } } },
	{ IB_QPS_RTS, IB_QPS_RTS, {
		{ 0, MAY_RTS | IB_QP_MIN_RNR_TIMER }, { 0, MAY_RTS },
		{ 0, IB_QP_CUR_STATE | IB_QP_QKEY } } },
	{ IB_QPS_RTS, IB_QPS_SQD, {
		{ 0, IB_QP_EN_SQD_ASYNC_NOTIFY }, { 0, IB_QP_EN_SQD_ASYNC_NOTIFY },
		{ 0, IB_QP_EN_SQD_ASYNC_NOTIFY } } },
	{ IB_QPS_SQD, IB_QPS_RTS, {
		{ 0, MAY_RTS | IB_QP_MIN_RNR_TIMER }, { 0, MAY_RTS },
		{ 0, IB_QP_CUR_STATE | IB_QP_QKEY } } },
	{ IB_QPS_SQD, IB_QPS_SQD, {
		{ 0, SQD_PATH | SQD_RC }, { 0, SQD_PATH },
		{ 0, IB_QP_PKEY_INDEX | IB_QP_QKEY } } },
	{ IB_QPS_SQE, IB_QPS_RTS, {
		{}, { 0, IB_QP_CUR_STATE | IB_QP_ACCESS_FLAGS },
		{ 0, IB_QP_CUR_STATE | IB_QP_QKEY } } },
	{ STATES, IB_QPS_RESET, {} },
	{ STATES, IB_QPS_ERR, {} },
};

static unsigned int type_index(u8 type)
{
	return type == IB_QPT_UC ? 1 : type == IB_QPT_UD ? 2 : 0;
}

static const struct change *change_to(unsigned int from, unsigned int to)
{
	const struct change *found = NULL;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(changes); i++) {
		if (changes[i].to != to)
			continue;
		if (changes[i].from == from || changes[i].from == STATES)
			return &changes[i];
		found = found ?: &changes[i];
	}
	return found;
}

/* ---- attributes ---- */

static void set_ah_attr(struct rdma_ah_attr *a, const struct kdev *from, const struct kdev *to,
			bool grh)
{
	memset(a, 0, sizeof(*a));
	a->port_num = 1;
	a->type = is_vib(from) ? RDMA_AH_ATTR_TYPE_IB : RDMA_AH_ATTR_TYPE_ROCE;
	if (is_vib(from))
		a->ib.dlid = to->lid;
	if (is_vib(from) && !grh)
		return;
	rdma_ah_set_grh(a, NULL, 0x12345, from->gid_index, 64, 8);
	a->grh.dgid = to->gid;
}

void right_ah_attr(struct rdma_ah_attr *a, const struct kdev *from, const struct kdev *to)
{
	set_ah_attr(a, from, to, one_in(4));
}

static void right_attr(struct ib_qp_attr *a, const struct kdev *dev)
{
	memset(a, 0, sizeof(*a));
	a->path_mtu = IB_MTU_1024;
	a->path_mig_state = IB_MIG_MIGRATED;
	a->qkey = 0x11111111;
	a->rq_psn = PSN;
	a->sq_psn = PSN;
	a->dest_qp_num = 0x77;
	a->qp_access_flags = IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE;
	right_ah_attr(&a->ah_attr, dev, dev);
	right_ah_attr(&a->alt_ah_attr, dev, dev);
	a->max_rd_atomic = 2;
	a->max_dest_rd_atomic = 2;
	a->min_rnr_timer = 5;
	a->port_num = 1;
	a->alt_port_num = 1;
	a->timeout = 14;
	a->alt_timeout = 14;
	a->retry_cnt = 7;
	a->rnr_retry = 7;
}

void query_qp_of(struct object *o, int mask)
{
	struct ib_qp_init_attr init = {};
	struct ib_qp_attr a = {};
	int ret;

	call("ib_query_qp qp%u %s mask %x", o->n, o->dev->name, mask);
	ret = answer_more(ib_query_qp(o->ptr, &a, mask, &init));
	if (ret) {
		answer_end();
		return;
	}
	say(" state %u cur %u", a.qp_state, a.cur_qp_state);
	if (mask != IB_QP_STATE) {
		say(" mtu %u mig %u qkey %x psn %x %x access %x port %u pkey %u ra %u %u rnr %u",
		    a.path_mtu, a.path_mig_state, a.qkey, a.rq_psn, a.sq_psn, a.qp_access_flags,
		    a.port_num, a.pkey_index, a.max_rd_atomic, a.max_dest_rd_atomic,
		    a.min_rnr_timer);
		say(" timeout %u retry %u %u draining %u cap %u %u %u %u type %u sig %u av ",
		    a.timeout, a.retry_cnt, a.rnr_retry, a.sq_draining, a.cap.max_send_wr,
		    a.cap.max_recv_wr, a.cap.max_send_sge, a.cap.max_recv_sge, init.qp_type,
		    init.sq_sig_type);
		say_ah_attr(&a.ah_attr);
	}
	answer_end();
}

/* Nothing is allowed until the provider has drained it, in its own time. */
static void drained(struct object *o)
{
	struct ib_qp_init_attr init = {};
	struct ib_qp_attr a = {};
	unsigned int tries = 1000;

	while (tries-- && !ib_query_qp(o->ptr, &a, IB_QP_STATE, &init) && a.sq_draining)
		usleep_range(1000, 2000);
}

/* What the core has copied of the attributes belongs to it; what it was given is unchanged. */
static int modify(struct object *o, struct ib_qp_attr *a, u32 mask, const char *wrong)
{
	int ret;

	call("ib_modify_qp qp%u %s type %u from %u to %u mask %x%s", o->n, o->dev->name, o->qp_type,
	     o->state, mask & IB_QP_STATE ? a->qp_state : o->state, mask, wrong);
	ret = answer(ib_modify_qp(o->ptr, a, mask));
	if (ret || !(mask & IB_QP_STATE))
		return ret;
	o->state = a->qp_state;
	if (o->state == IB_QPS_SQD)
		drained(o);
	return 0;
}

/* Packets of a connection have a GRH in both directions, or in none. */
struct far_end {
	struct object *qp;
	bool grh;
};

static int step(struct object *o, u8 to, const struct far_end *far)
{
	struct ib_qp_attr a;

	right_attr(&a, o->dev);
	a.qp_state = to;
	a.cur_qp_state = o->state;
	if (far) {
		a.dest_qp_num = ((struct ib_qp *)far->qp->ptr)->qp_num;
		/* a second, as the machine may be slow */
		a.timeout = 18;
		set_ah_attr(&a.ah_attr, o->dev, far->qp->dev, far->grh);
	}
	return modify(o, &a,
		      IB_QP_STATE | change_to(o->state, to)->masks[type_index(o->qp_type)].need,
		"");
}

static void walk(struct object *o, u8 to, const struct far_end *far)
{
	u8 s;

	if (o->state == to)
		return;
	if (to == IB_QPS_ERR || o->state != IB_QPS_RESET)
		step(o, to == IB_QPS_ERR ? IB_QPS_ERR : IB_QPS_RESET, far);
	if (to == IB_QPS_ERR)
		return;
	for (s = IB_QPS_INIT; s <= to; s++)
		if (step(o, s, far))
			return;
}

void modify_right(struct object *o, u8 to)
{
	walk(o, to, NULL);
}

void connect_pair(struct object *a, struct object *b)
{
	bool grh = one_in(4);

	walk(a, IB_QPS_RTS, &(struct far_end){ b, grh });
	walk(b, IB_QPS_RTS, &(struct far_end){ a, grh });
}

/* ---- some change ---- */

static u8 next_state(u8 state)
{
	if (one_in(10))
		return one_in(2) ? IB_QPS_RESET : IB_QPS_ERR;
	switch (state) {
	case IB_QPS_RESET:
		return IB_QPS_INIT;
	case IB_QPS_INIT:
		return one_in(5) ? IB_QPS_INIT : IB_QPS_RTR;
	case IB_QPS_RTR:
		return IB_QPS_RTS;
	case IB_QPS_RTS:
		return one_in(2) ? IB_QPS_RTS : IB_QPS_SQD;
	case IB_QPS_SQD:
		return one_in(3) ? IB_QPS_SQD : IB_QPS_RTS;
	default:
		return IB_QPS_RESET;
	}
}

/* A value out of range in a field that the mask names; nothing if it names none of these. */
static const char *spoil(struct ib_qp_attr *a, u32 mask, const struct kdev *dev)
{
	if (mask & IB_QP_PORT) {
		/* Not far: the in-tree core has no bound for this index. */
		a->port_num = one_of(0, 2, 255, 3);
		return " port out of range";
	}
	if (mask & IB_QP_AV) {
		switch (rnd(3)) {
		case 0:
			a->ah_attr.port_num = one_of(0, 2, 255);
			return " port of the path out of range";
		case 1:
			rdma_ah_set_ah_flags(&a->ah_attr, IB_AH_GRH);
			a->ah_attr.grh.dgid = dev->gid;
			a->ah_attr.grh.sgid_index = one_of(200, 255);
			return " sgid_index out of range";
		default:
			a->path_mtu = one_of(0, 6, 100);
			return mask & IB_QP_PATH_MTU ? " mtu out of range" : "";
		}
	}
	if (mask & IB_QP_TIMEOUT) {
		a->max_rd_atomic = 255;
		return " max_rd_atomic out of range";
	}
	return "";
}

void modify_some(void)
{
	struct object *o = some_object(QP, NULL);
	const struct masks *masks;
	const char *wrong = "";
	struct ib_qp_attr a;
	u32 mask;

	if (!o)
		return;
	right_attr(&a, o->dev);
	a.qp_state = next_state(o->state);
	a.cur_qp_state = o->state;
	masks = &change_to(o->state, a.qp_state)->masks[type_index(o->qp_type)];
	mask = IB_QP_STATE | masks->need | (masks->may & rnd64() & rnd64());
	if (one_in(6))
		wrong = spoil(&a, mask, o->dev);
	modify(o, &a, mask, wrong);
}

/* ---- every change ---- */

static const u8 types[] = { IB_QPT_RC, IB_QPT_UC, IB_QPT_UD };

/*
 * One of the pairs of states, with a QP of one type, and each bit of the mask added or left out.
 * A QP that is in the state SQE only says so.
 */
void transitions(u64 number)
{
	struct kdev *dev = &kdevs[one_of(RXE_A, VIB0)];
	unsigned int from, to, bit;
	const struct change *change;
	u32 mask = IB_QP_STATE;
	struct object *pd, *qp;
	struct ib_qp_attr a;
	u8 type;

	from = number % STATES;
	to = number / STATES % STATES;
	type = types[number / STATES / STATES % ARRAY_SIZE(types)];
	pd = make_pd(dev, 0);
	qp = pd ? make_qp(pd, type) : NULL;
	if (!qp)
		return;
	change = change_to(from, to);
	if (change)
		mask |= change->masks[type_index(type)].need;
	if (from == IB_QPS_SQE)
		mask |= IB_QP_CUR_STATE;
	for (bit = 0; bit <= 32; bit++) {
		modify_right(qp, from == IB_QPS_SQE ? IB_QPS_RTS : from);
		right_attr(&a, dev);
		a.qp_state = to;
		a.cur_qp_state = from;
		if (!modify(qp, &a, mask ^ (bit < 32 ? 1u << bit : 0), ""))
			query_qp_of(qp, IB_QP_STATE);
	}
}

/* The table behind them, which drivers use, with random masks. */
void transition_table(u64 number)
{
	static const u8 all[] = {
		IB_QPT_SMI, IB_QPT_GSI, IB_QPT_RC, IB_QPT_UC, IB_QPT_UD, IB_QPT_XRC_INI,
		IB_QPT_XRC_TGT, IB_QPT_RAW_PACKET,
	};
	unsigned int i, from, to, type, bit;
	const struct change *change;
	u32 mask;

	for (i = 0; i < 60; i++) {
		from = rnd(STATES);
		to = one_in(2) ? next_state(from) : rnd(STATES);
		type = all[rnd(ARRAY_SIZE(all))];
		change = change_to(from, to);
		mask = IB_QP_STATE;
		if (change)
			mask |= change->masks[type_index(type)].need |
				(change->masks[type_index(type)].may & rnd64());
		bit = rnd(40);
		if (bit < 32)
			mask ^= 1u << bit;
		call("ib_modify_qp_is_ok from %u to %u type %u mask %x", from, to, type, mask);
		answer_with(0, "%d", ib_modify_qp_is_ok(from, to, type, mask));
	}
}
