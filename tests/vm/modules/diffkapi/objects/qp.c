// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Queue pairs: creating them with capabilities in and out of range, queries, drains, groups. */
#include <rdma/rw.h>
#include "objects/qp.h"

static void qp_event(struct ib_event *ev, void *context)
{
}

/* ---- creating ---- */

enum wrong {
	SEND_WR, RECV_WR, SEND_SGE, RECV_SGE, INLINE, FLAGS, TYPE, WRONGS, RIGHT = WRONGS,
};

static void right_caps(struct ib_qp_cap *cap, const struct kdev *dev)
{
	cap->max_send_wr = 1 + rnd(40);
	cap->max_recv_wr = 1 + rnd(40);
	cap->max_send_sge = 1 + rnd(4);
	cap->max_recv_sge = 1 + rnd(4);
	cap->max_inline_data = rnd(3) * 16;
	if (one_in(6))
		cap->max_send_sge = dev->attrs->max_send_sge;
	if (one_in(6))
		cap->max_recv_sge = dev->attrs->max_recv_sge;
}

static void spoil(struct ib_qp_init_attr *attr, const struct kdev *dev, enum wrong wrong)
{
	struct ib_qp_cap *cap = &attr->cap;

	switch (wrong) {
	case SEND_WR:
		cap->max_send_wr = one_in(2) ? dev->attrs->max_qp_wr + 1 : 0xffffffff;
		break;
	case RECV_WR:
		cap->max_recv_wr = one_in(2) ? dev->attrs->max_qp_wr + 1 : 0xffffffff;
		break;
	case SEND_SGE:
		cap->max_send_sge = one_in(2) ? dev->attrs->max_send_sge + 1 : 0xffffffff;
		break;
	case RECV_SGE:
		cap->max_recv_sge = one_in(2) ? dev->attrs->max_recv_sge + 1 : 0xffffffff;
		break;
	case INLINE:
		cap->max_inline_data = one_of(1024, 4096, 0x7fffffff);
		break;
	case FLAGS:
		attr->create_flags = 1 << rnd(32);
		break;
	case TYPE:
		attr->qp_type = one_of(IB_QPT_RAW_IPV6, IB_QPT_RAW_ETHERTYPE, IB_QPT_RAW_PACKET, 7,
				       11, IB_QPT_MAX, IB_QPT_DRIVER);
		break;
	default:
		break;
	}
}

static void qp_made(struct object *o, const struct ib_qp_init_attr *attr)
{
	struct ib_qp *qp = o->ptr;

	answer_more(0);
	say(" wr %u %u sge %u %u inline %u type %u flags %x rw %u %u mrs %d %d port %u",
	    attr->cap.max_send_wr, attr->cap.max_recv_wr, attr->cap.max_send_sge,
	    attr->cap.max_recv_sge, attr->cap.max_inline_data, qp->qp_type, attr->create_flags,
	    qp->max_write_sge, qp->max_read_sge, !list_empty(&qp->rdma_mrs),
	    !list_empty(&qp->sig_mrs), qp->port);
	say(" real %d cqs %d%d srq %d handler %d integrity %d users %d\n", qp->real_qp == qp,
	    qp->send_cq == attr->send_cq, qp->recv_cq == attr->recv_cq, qp->srq == attr->srq,
	    qp->event_handler == attr->event_handler, qp->integrity_en, atomic_read(&qp->usecnt));
}

static int number_of(const struct object *o)
{
	return o ? (int)o->n : -1;
}

static struct object *create_qp(struct object *pd, struct ib_qp_init_attr *attr,
				struct object *const *with)
{
	struct ib_qp *qp;
	struct object *o;

	call("ib_create_qp_kernel qp%u %s type %u wr %u %u sge %u %u inline %u flags %x rw %u %d",
	     next_number(QP), pd->dev->name, attr->qp_type, attr->cap.max_send_wr,
	     attr->cap.max_recv_wr, attr->cap.max_send_sge, attr->cap.max_recv_sge,
	     attr->cap.max_inline_data, attr->create_flags, attr->cap.max_rdma_ctxs,
	     attr->sq_sig_type == IB_SIGNAL_ALL_WR);
	say(" cq%d cq%d srq%d xrcd%d", number_of(with[1]), number_of(with[2]), number_of(with[3]),
	    number_of(with[4]));
	qp = ib_create_qp(pd->ptr, attr);
	if (IS_ERR(qp)) {
		answer(PTR_ERR(qp));
		return NULL;
	}
	o = new_object(QP, pd->dev, qp, with);
	if (with[4])
		with[4]->has_targets = true;
	o->qp_type = attr->qp_type;
	o->has_srq = attr->srq;
	qp_made(o, attr);
	return o;
}

static struct object *some_qp_made(struct object *pd, u8 type, enum wrong wrong, u32 rdma_ctxs)
{
	struct object *with[PARENTS] = { pd };
	struct ib_qp_init_attr attr = {
		.event_handler = qp_event,
		.qp_type = type,
		.sq_sig_type = one_of(IB_SIGNAL_ALL_WR, IB_SIGNAL_REQ_WR),
	};

	/* Requests of the rw API complete as one. */
	if (rdma_ctxs)
		attr.sq_sig_type = IB_SIGNAL_REQ_WR;
	if (type != IB_QPT_XRC_TGT) {
		right_caps(&attr.cap, pd->dev);
		with[1] = make_cq(pd->dev);
		if (!with[1])
			return NULL;
		attr.send_cq = with[1]->ptr;
	}
	if (type == IB_QPT_XRC_INI) {
		attr.cap.max_recv_wr = 0;
		attr.cap.max_recv_sge = 0;
	} else if (type == IB_QPT_XRC_TGT) {
		with[4] = some_object(XRCD, pd->dev);
		if (!with[4])
			return NULL;
		attr.xrcd = with[4]->ptr;
	} else {
		with[2] = make_cq(pd->dev);
		attr.recv_cq = with[2]->ptr;
		if (one_in(5))
			with[3] = some_object(SRQ, pd->dev);
		/* Only an SRQ of the basic type is for QPs that are no XRC targets. */
		if (with[3] && ((struct ib_srq *)with[3]->ptr)->srq_type != IB_SRQT_BASIC)
			with[3] = NULL;
		attr.srq = with[3] ? with[3]->ptr : NULL;
	}
	/* vib has T10-PI */
	if (rdma_ctxs && is_vib(pd->dev) && one_in(3))
		attr.create_flags = IB_QP_CREATE_INTEGRITY_EN;
	attr.cap.max_rdma_ctxs = rdma_ctxs;
	attr.port_num = rdma_ctxs ? 1 : 0;
	spoil(&attr, pd->dev, wrong);
	return create_qp(pd, &attr, with);
}

struct object *make_qp(struct object *pd, u8 type)
{
	return some_qp_made(pd, type, RIGHT, 0);
}

struct object *make_rw_qp(struct object *pd, u32 ctxs)
{
	return some_qp_made(pd, IB_QPT_RC, RIGHT, ctxs);
}

static void new_qp(void)
{
	struct object *pd = some_object(PD, NULL);
	u8 type;

	if (!pd || alive(QP) >= 8)
		return;
	type = one_of(IB_QPT_RC, IB_QPT_RC, IB_QPT_UC, IB_QPT_UD, IB_QPT_XRC_INI, IB_QPT_XRC_TGT);
	/* Without XRC only now and then. */
	if (!is_vib(pd->dev) && type >= IB_QPT_XRC_INI && !one_in(4))
		type = IB_QPT_UD;
	/* The kernel makes none of its own. */
	if (type == IB_QPT_XRC_TGT && !one_in(4))
		type = IB_QPT_XRC_INI;
	some_qp_made(pd, type, one_in(5) && type < IB_QPT_XRC_INI ? rnd(WRONGS) : RIGHT,
		     type == IB_QPT_RC && one_in(5) ? 1 + rnd(8) : 0);
}

void destroy_qp(struct object *o)
{
	call("ib_destroy_qp_user qp%u", o->n);
	answer(ib_destroy_qp_user(o->ptr, NULL));
	object_gone(o);
}

static void free_qp(void)
{
	struct object *o = some_unused(QP);

	if (o && alive(QP) > 3)
		destroy_qp(o);
}

/* ---- queries ---- */

void say_ah_attr(const struct rdma_ah_attr *a)
{
	say("type %u sl %u rate %u port %u flags %x", a->type, a->sl, a->static_rate, a->port_num,
	    a->ah_flags);
	if (a->type == RDMA_AH_ATTR_TYPE_IB)
		say(" dlid %u bits %u", a->ib.dlid, a->ib.src_path_bits);
	if (a->type == RDMA_AH_ATTR_TYPE_ROCE)
		say(" dmac %*phN", 6, a->roce.dmac);
	if (!(a->ah_flags & IB_AH_GRH))
		return;
	say(" dgid ");
	say_gid(&a->grh.dgid);
	say(" flow %x sgid %u hop %u class %u attr %d", a->grh.flow_label, a->grh.sgid_index,
	    a->grh.hop_limit, a->grh.traffic_class, !!a->grh.sgid_attr);
}

static void query_qp(void)
{
	struct object *o = some_object(QP, NULL);

	if (o)
		query_qp_of(o, one_in(4) ? IB_QP_STATE : 0x1fffff);
}

/* ---- drains ---- */

static bool drains(const struct object *o)
{
	/* They post RDMA writes and wait for completions, on CQs that the core polls. */
	return o->qp_type == IB_QPT_RC && o->state != IB_QPS_RESET &&
	       o->parents[1]->alloced && o->parents[2]->alloced && !o->parents[1]->direct &&
	       !o->parents[2]->direct && !o->has_srq;
}

static void drain(void)
{
	struct object *o = some_object(QP, NULL);

	if (!o || !drains(o))
		return;
	switch (rnd(3)) {
	case 0:
		call("ib_drain_sq qp%u in state %u", o->n, o->state);
		ib_drain_sq(o->ptr);
		break;
	case 1:
		call("ib_drain_rq qp%u in state %u", o->n, o->state);
		ib_drain_rq(o->ptr);
		break;
	default:
		call("ib_drain_qp qp%u in state %u", o->n, o->state);
		ib_drain_qp(o->ptr);
	}
	answer(0);
	o->state = IB_QPS_ERR;
	query_qp_of(o, IB_QP_STATE);
}

/* ---- multicast groups ---- */

static struct {
	struct object *qp;
	union ib_gid gid;
	u16 lid;
} member;

static void leave(const char *why, union ib_gid *gid, u16 lid)
{
	call("ib_detach_mcast qp%u lid %x%s", member.qp->n, lid, why);
	answer(ib_detach_mcast(member.qp->ptr, gid, lid));
}

/* A QP must have left its groups when it is destroyed, so this does both. */
static void group(void)
{
	struct object *o = some_object(QP, NULL);
	union ib_gid gid = { .raw = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff } }, other;
	u16 lid = 0xc000 + rnd(16);
	int ret;

	if (!o)
		return;
	gid.raw[15] = 1 + rnd(200);
	other = gid;
	other.raw[15] ^= 0xff;
	member.qp = o;
	switch (rnd(8)) {
	case 0:
		gid.raw[0] = 0xfe;
		break;
	case 1:
		lid = one_of(0, 1, 0xbfff, 0xffff);
		break;
	}
	call("ib_attach_mcast qp%u %s type %u lid %x gid ", o->n, o->dev->name, o->qp_type, lid);
	say_gid(&gid);
	ret = answer(ib_attach_mcast(o->ptr, &gid, lid));
	if (ret) {
		leave(", which is no member", &gid, lid);
		return;
	}
	if (one_in(3))
		leave(", which is no member", &other, lid);
	/* Not twice: the core counts both, of which rdma_rxe knows and detaches one. */
	leave("", &gid, lid);
	if (one_in(3))
		leave(" again", &gid, lid);
}

void qp_ops(void)
{
	static const struct op ops[] = {
		{ new_qp, 10 }, { free_qp, 3 }, { query_qp, 6 }, { modify_some, 14 }, { drain, 3 },
		{ group, 3 },
	};

	random_ops(ops, ARRAY_SIZE(ops), 1);
}
