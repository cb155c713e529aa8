// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Changes of a QP's state and attributes: which attributes a change needs and which it allows
 * (IBA vol. 1, 11.2.5.2).
 */
#include <string.h>
#include "diffverbs.h"

enum { RESET, INIT, RTR, RTS, SQD, SQE, ERR, STATES };	/* enum ib_qp_state */

/* enum ib_qp_attr_mask */
enum {
	STATE = 1 << 0,
	CUR_STATE = 1 << 1,
	EN_SQD = 1 << 2,
	ACCESS = 1 << 3,
	PKEY = 1 << 4,
	PORT = 1 << 5,
	QKEY = 1 << 6,
	AV = 1 << 7,
	MTU = 1 << 8,
	TIMEOUT = 1 << 9,
	RETRY = 1 << 10,
	RNR_RETRY = 1 << 11,
	RQ_PSN = 1 << 12,
	RD_ATOMIC = 1 << 13,
	ALT_PATH = 1 << 14,
	RNR_TIMER = 1 << 15,
	SQ_PSN = 1 << 16,
	DEST_RD_ATOMIC = 1 << 17,
	PATH_MIG = 1 << 18,
	CAP = 1 << 19,
	DEST_QPN = 1 << 20,
	RATE_LIMIT = 1 << 25,
};

static const struct {
	const char *field;
	__u32 bit;
} bits[] = {
	{ "qp_state", STATE }, { "cur_qp_state", CUR_STATE }, { "en_sqd_async_notify", EN_SQD },
	{ "qp_access_flags", ACCESS }, { "pkey_index", PKEY }, { "port_num", PORT },
	{ "qkey", QKEY }, { "dest.", AV }, { "path_mtu", MTU }, { "timeout", TIMEOUT },
	{ "retry_cnt", RETRY }, { "rnr_retry", RNR_RETRY }, { "rq_psn", RQ_PSN },
	{ "max_rd_atomic", RD_ATOMIC }, { "alt_", ALT_PATH }, { "min_rnr_timer", RNR_TIMER },
	{ "sq_psn", SQ_PSN }, { "max_dest_rd_atomic", DEST_RD_ATOMIC },
	{ "path_mig_state", PATH_MIG }, { "dest_qp_num", DEST_QPN }, { "rate_limit", RATE_LIMIT },
};

struct masks {
	__u32 need, may;
};

/* By type: RC, UC, UD. */
static const struct change {
	__u8 from, to;
	struct masks masks[3];
} changes[] = {
	{ RESET, INIT, {
		{ PKEY | PORT | ACCESS, 0 },
		{ PKEY | PORT | ACCESS, 0 },
		{ PKEY | PORT | QKEY, 0 } } },
	{ INIT, INIT, {
		{ 0, PKEY | PORT | ACCESS },
		{ 0, PKEY | PORT | ACCESS },
		{ 0, PKEY | PORT | QKEY } } },
	{ INIT, RTR, {
		{ AV | MTU | DEST_QPN | RQ_PSN | DEST_RD_ATOMIC | RNR_TIMER,
		  ALT_PATH | ACCESS | PKEY },
		{ AV | MTU | DEST_QPN | RQ_PSN, ALT_PATH | ACCESS | PKEY },
		{ 0, PKEY | QKEY } } },
	{ RTR, RTS, {
		{ TIMEOUT | RETRY | RNR_RETRY | SQ_PSN | RD_ATOMIC,
		  CUR_STATE | ALT_PATH | ACCESS | RNR_TIMER | PATH_MIG },
		{ SQ_PSN, CUR_STATE | ALT_PATH | ACCESS | PATH_MIG },
		{ SQ_PSN, CUR_STATE | QKEY } } },
	{ RTS, RTS, {
		{ 0, CUR_STATE | ACCESS | ALT_PATH | PATH_MIG | RNR_TIMER },
		{ 0, CUR_STATE | ACCESS | ALT_PATH | PATH_MIG },
		{ 0, CUR_STATE | QKEY } } },
	{ RTS, SQD, { { 0, EN_SQD }, { 0, EN_SQD }, { 0, EN_SQD } } },
	{ SQD, RTS, {
		{ 0, CUR_STATE | ACCESS | ALT_PATH | PATH_MIG | RNR_TIMER },
		{ 0, CUR_STATE | ACCESS | ALT_PATH | PATH_MIG },
		{ 0, CUR_STATE | QKEY } } },
	{ SQD, SQD, {
		{ 0, PORT | AV | TIMEOUT | RETRY | RNR_RETRY | RD_ATOMIC | DEST_RD_ATOMIC |
		     ALT_PATH | ACCESS | PKEY | RNR_TIMER | PATH_MIG },
		{ 0, AV | ALT_PATH | ACCESS | PKEY | PATH_MIG },
		{ 0, PKEY | QKEY } } },
	{ SQE, RTS, {
		{},
		{ 0, CUR_STATE | ACCESS },
		{ 0, CUR_STATE | QKEY } } },
	{ STATES, RESET, {} },
	{ STATES, ERR, {} },
};

#define CHANGES (sizeof(changes) / sizeof(*changes))

static unsigned int type_index(const struct object *qp)
{
	return qp->qp_type == IB_UVERBS_QPT_RC ? 0 : qp->qp_type == IB_UVERBS_QPT_UC ? 1 : 2;
}

/* The change between two states, or one to @to from elsewhere; NULL if there is neither. */
static const struct change *change_to(unsigned int from, unsigned int to)
{
	const struct change *found = NULL;
	unsigned int i;

	for (i = 0; i < CHANGES; i++) {
		if (changes[i].to != to)
			continue;
		if (changes[i].from == from || changes[i].from == STATES)
			return &changes[i];
		found = found ?: &changes[i];
	}
	return found;
}

/* Mostly on the way to RTS, and to and fro from there. */
static unsigned int next_state(const struct object *qp)
{
	if (one_in(10))
		return one_in(2) ? RESET : ERR;
	switch (qp->state) {
	case RESET:
		return INIT;
	case INIT:
		return one_in(5) ? INIT : RTR;
	case RTR:
		return RTS;
	case RTS:
		return one_in(2) ? RTS : SQD;
	case SQD:
		return one_in(2) ? RTS : SQD;
	default:
		return RESET;
	}
}

/* Fields that no bit of the mask names do not count. */
static void use_fields(struct call *c, __u32 mask)
{
	const struct field *f;
	unsigned int i;

	for (f = c->cmd->fields; f->name; f++)
		for (i = 0; i < sizeof(bits) / sizeof(*bits); i++)
			if (!(mask & bits[i].bit) &&
			    !strncmp(f->name, bits[i].field, strlen(bits[i].field)))
				c->unused |= 1ull << (f - c->cmd->fields);
}

static void set_change(struct call *c, unsigned int from, unsigned int to, __u32 mask)
{
	set_field(c, "attr_mask", mask);
	set_field(c, "qp_state", to);
	set_field(c, "cur_qp_state", from);
	set_field(c, "dest.sgid_index", own_gid_index);
	set_field(c, "alt_dest.sgid_index", own_gid_index);
	c->unused = 0;
	use_fields(c, mask);
}

bool fill_modify(struct call *c)
{
	struct object *qp = object_of(QP, get_field(c, "qp_handle"));
	unsigned int to = next_state(qp);
	const struct masks *masks = &change_to(qp->state, to)->masks[type_index(qp)];

	set_change(c, qp->state, to, STATE | masks->need | (masks->may & rnd64() & rnd64()));
	return true;
}

void qp_modified(struct call *c)
{
	struct object *qp = object_of(QP, get_field(c, "qp_handle"));

	if (!qp || !(get_field(c, "attr_mask") & STATE))
		return;
	qp->state = get_field(c, "qp_state");
	state_events(qp);
}

/* ---- every change ---- */

static struct {
	__u8 from, to;
	__u32 mask;
	__u32 peer;	/* number of a QP, or 0 */
} wanted;

#define PSN	0x1234

static void want(struct call *c)
{
	set_change(c, wanted.from, wanted.to, wanted.mask);
	if (!wanted.peer)
		return;
	if (wanted.mask & DEST_QPN)
		name_field(c, "dest_qp_num", wanted.peer, "peer");
	/* Both ends have the same, and messages get through. */
	if (wanted.mask & RQ_PSN)
		set_field(c, "rq_psn", PSN);
	if (wanted.mask & SQ_PSN)
		set_field(c, "sq_psn", PSN);
	if (wanted.mask & TIMEOUT) {
		set_field(c, "timeout", 14);
		set_field(c, "retry_cnt", 7);
	}
}

static void modify(struct object *qp, unsigned int from, unsigned int to, __u32 mask)
{
	wanted.from = from;
	wanted.to = to;
	wanted.mask = mask;
	prefer(QP, qp);
	/* What is refused changes nothing. */
	if (!do_call(command("modify_qp"), false, want))
		do_right("query_qp");
	prefer(QP, NULL);
}

static void step(struct object *qp, unsigned int to)
{
	modify(qp, qp->state, to,
	       STATE | change_to(qp->state, to)->masks[type_index(qp)].need);
}

void modify_to(struct object *qp, unsigned int state)
{
	unsigned int s;

	if (qp->state == state)
		return;
	if (state == ERR || qp->state != RESET)
		step(qp, state == ERR ? ERR : RESET);
	if (state == ERR)
		return;
	for (s = INIT; s <= state; s++)
		step(qp, s);
}

void connect_to(struct object *qp, __u32 number)
{
	wanted.peer = number;
	modify_to(qp, RTS);
	wanted.peer = 0;
}

static __u8 wanted_type;

static void want_type(struct call *c)
{
	set_field(c, "qp_type", wanted_type);
}

/*
 * One of the pairs of states, with a QP of one type, and each bit of the mask added or left out.
 * A QP that is in the state SQE only says so.
 */
void transitions(unsigned int number)
{
	static const __u8 types[] = { IB_UVERBS_QPT_RC, IB_UVERBS_QPT_UC, IB_UVERBS_QPT_UD };
	unsigned int from = number % STATES, to = number / STATES % STATES, bit;
	const struct change *change = change_to(from, to);
	struct object *qp;
	__u32 mask = STATE;

	wanted_type = types[number / STATES / STATES % 3];
	if (!do_right("alloc_pd") || !do_right("create_cq") ||
	    !do_call(command("create_qp"), false, want_type))
		return;
	qp = some_object(QP);
	if (change)
		mask |= change->masks[type_index(qp)].need;
	if (from == SQE)
		mask |= CUR_STATE;
	for (bit = 0; bit <= 32; bit++) {
		modify_to(qp, from == SQE ? RTS : from);
		modify(qp, from, to, mask ^ (bit < 32 ? 1u << bit : 0));
	}
}
