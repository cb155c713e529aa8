// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared receive queues and XRC domains. */
#include "kapi.h"

static void srq_event(struct ib_event *ev, void *context)
{
}

/* ---- XRC domains ---- */

static void alloc_xrcd(void)
{
	/* rxe has none */
	struct kdev *dev = one_in(4) ? &kdevs[RXE_A] : &kdevs[one_of(VIB0, VIB1)];
	struct ib_xrcd *xrcd;

	if (alive(XRCD) >= 4)
		return;
	call("ib_alloc_xrcd_user xrcd%u %s", next_number(XRCD), dev->name);
	xrcd = ib_alloc_xrcd_user(dev->device, NULL, NULL);
	if (IS_ERR(xrcd)) {
		answer(PTR_ERR(xrcd));
		return;
	}
	answer_with(0, "users %d inode %d", atomic_read(&xrcd->usecnt), !!xrcd->inode);
	new_object(XRCD, dev, xrcd, NULL);
}

void destroy_xrcd(struct object *o)
{
	call("ib_dealloc_xrcd_user xrcd%u", o->n);
	answer(ib_dealloc_xrcd_user(o->ptr, NULL));
	object_gone(o);
}

static void free_xrcd(void)
{
	struct object *o = some_object(XRCD, NULL);

	if (!o)
		return;
	if (!o->users) {
		destroy_xrcd(o);
		return;
	}
	/* The in-tree core lets a kernel's targets be without it. */
	if (o->has_targets)
		return;
	call("ib_dealloc_xrcd_user xrcd%u, which is used", o->n);
	answer(ib_dealloc_xrcd_user(o->ptr, NULL));
}

static void open_handler(struct ib_event *ev, void *context)
{
}

/* A second handle of a target QP, by its number. */
static void open_qp(void)
{
	struct object *xrcd = some_object(XRCD, NULL), *o = some_object(QP, NULL);
	struct ib_qp_open_attr attr = { .event_handler = open_handler, .qp_type = IB_QPT_XRC_TGT };
	bool of_it = xrcd && o && o->parents[4] == xrcd, wrong = one_in(4);
	struct ib_qp *qp;

	if (!xrcd || !o || (!of_it && !one_in(4)))
		return;
	attr.qp_num = ((struct ib_qp *)o->ptr)->qp_num;
	if (wrong)
		attr.qp_type = one_of(IB_QPT_RC, IB_QPT_XRC_INI);
	call("ib_open_qp type %u qp%u of xrcd%u: %d", attr.qp_type, o->n, xrcd->n, of_it);
	qp = ib_open_qp(xrcd->ptr, &attr);
	if (IS_ERR(qp)) {
		answer(PTR_ERR(qp));
		return;
	}
	answer_with(0, "real %d type %u users %d %d", qp->real_qp == o->ptr, qp->qp_type,
		    atomic_read(&qp->usecnt), atomic_read(&qp->real_qp->usecnt));
	if (one_in(2)) {
		call("ib_destroy_qp_user qp%u, which is open", o->n);
		if (!answer(ib_destroy_qp_user(o->ptr, NULL)))
			object_gone(o);
	}
	call("ib_close_qp qp%u", o->n);
	answer(ib_close_qp(qp));
}

void xrcd_ops(void)
{
	static const struct op ops[] = { { alloc_xrcd, 4 }, { free_xrcd, 2 }, { open_qp, 6 } };

	random_ops(ops, ARRAY_SIZE(ops), 1);
}

/* ---- SRQs ---- */

static void create_srq(void)
{
	struct object *pd = some_object(PD, NULL), *with[PARENTS] = { pd };
	struct ib_srq_init_attr attr = { .event_handler = srq_event };
	struct ib_srq *srq;
	struct object *o;

	if (!pd || alive(SRQ) >= 5)
		return;
	attr.attr.max_wr = mostly(1 + rnd(50), 0, 0xffffffff, 1000000);
	attr.attr.max_sge = attr.attr.max_wr - 1 < 50 ? mostly(1 + rnd(4), 1000, 0xffffffff) : 1;
	if (one_in(3)) {
		with[1] = make_cq(pd->dev);
		with[2] = some_object(XRCD, pd->dev);
		if (with[1] && with[2]) {
			attr.srq_type = IB_SRQT_XRC;
			attr.ext.cq = with[1]->ptr;
			attr.ext.xrc.xrcd = with[2]->ptr;
		} else {
			with[1] = NULL;
			with[2] = NULL;
		}
	}
	call("ib_create_srq_user srq%u %s type %u wr %u sge %u limit %u", next_number(SRQ),
	     pd->dev->name, attr.srq_type, attr.attr.max_wr, attr.attr.max_sge,
	attr.attr.srq_limit);
	srq = ib_create_srq(pd->ptr, &attr);
	if (IS_ERR(srq)) {
		answer(PTR_ERR(srq));
		return;
	}
	answer_with(0, "wr %u sge %u type %u handler %d users %d pd %d", attr.attr.max_wr,
		    attr.attr.max_sge, srq->srq_type, srq->event_handler == srq_event,
		    atomic_read(&srq->usecnt), atomic_read(&srq->pd->usecnt));
	o = new_object(SRQ, pd->dev, srq, with);
	o->max_sg = attr.attr.max_wr;
}

void destroy_srq(struct object *o)
{
	call("ib_destroy_srq_user srq%u", o->n);
	answer(ib_destroy_srq_user(o->ptr, NULL));
	object_gone(o);
}

static void free_srq(void)
{
	struct object *o = some_object(SRQ, NULL);

	if (!o)
		return;
	if (!o->users) {
		destroy_srq(o);
		return;
	}
	call("ib_destroy_srq_user srq%u, which is used", o->n);
	answer(ib_destroy_srq_user(o->ptr, NULL));
}

static void modify_srq(void)
{
	struct object *o = some_object(SRQ, NULL);
	struct ib_srq_attr attr = {};
	u32 mask;

	if (!o)
		return;
	mask = mostly(one_of(IB_SRQ_LIMIT, IB_SRQ_LIMIT, IB_SRQ_MAX_WR), 4, 0x80000000);
	attr.srq_limit = mostly(1 + rnd(o->max_sg), o->max_sg + 100, 0xffffffff);
	attr.max_wr = mostly(o->max_sg + rnd(20), 0, 0xffffffff);
	call("ib_modify_srq srq%u %s type %u mask %x limit %u wr %u", o->n, o->dev->name,
	     ((struct ib_srq *)o->ptr)->srq_type, mask, attr.srq_limit, attr.max_wr);
	answer(ib_modify_srq(o->ptr, &attr, mask));
}

static void query_srq(void)
{
	struct object *o = some_object(SRQ, NULL);
	struct ib_srq_attr attr = {};
	int ret;

	if (!o)
		return;
	call("ib_query_srq srq%u", o->n);
	ret = ib_query_srq(o->ptr, &attr);
	answer_with(ret, "wr %u sge %u limit %u", attr.max_wr, attr.max_sge, attr.srq_limit);
}

void srq_ops(void)
{
	static const struct op ops[] = {
		{ create_srq, 6 }, { free_srq, 3 }, { modify_srq, 4 }, { query_srq, 3 },
	};

	random_ops(ops, ARRAY_SIZE(ops), 1);
}

/* ---- a sequence of all of them ---- */

void verbs_objects(u64 number)
{
	static const struct op ops[] = {
		{ pd_ops, 3 }, { cq_ops, 6 }, { srq_ops, 5 }, { xrcd_ops, 4 }, { qp_ops, 16 },
		{ ah_ops, 6 }, { mr_ops, 8 },
	};
	struct kdev *dev = some_device();

	make_pd(dev, 0);
	make_cq(dev);
	random_ops(ops, ARRAY_SIZE(ops), 30 + rnd(30));
}
