// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Dumps of thousands of resources of each kind: a dump shows each resource
 * once, and four times as many are four times the work.  Work is the number
 * of entries of any kind that the dump looks at.
 */
#include <kunit/test.h>
#include <ibex/qp.h>
#include <ibex/restrack.h>
#include <rdma/rdma_counter.h>
#include "device/device.h"
#include "nl.h"

#define MOST	5000
#define FEW	(MOST / 4)

static const struct fake_hca_params ib_params = {
	.link_layer = IB_LINK_LAYER_INFINIBAND,
	.ports = 2,
};

static struct nl nl;
static struct fake_hca *hca;
static struct nlattr *tb[RDMA_NLDEV_ATTR_MAX], *etb[RDMA_NLDEV_ATTR_MAX];
static struct ib_pd *pd;
static struct ib_cq *cq;

static void **objects;			/* of the kind, in the order of creation */
static struct ib_qp **qps;		/* QPs that belong to these objects */
static int nr_objects, nr_qps;
static struct xarray shown;		/* how often an ID was shown */
static int entries, qp_entries, pages;

/* ---- kinds ---- */

struct kind {
	const char *name;
	int cmd;
	u16 table, id;
	int stat_res;			/* STAT_RES of a STAT_GET */
	void *(*make)(int i);
	void (*end)(void *object);
	u32 (*id_of)(void *object);
	bool has_qps;			/* each object has one QP */
};

static void *make_pd(int i)
{
	return ib_alloc_pd(&hca->ibdev, 0);
}

static void end_pd(void *object)
{
	ib_dealloc_pd(object);
}

static u32 pd_id(void *object)
{
	return ((struct ib_pd *)object)->res.id;
}

static void *make_cq(int i)
{
	return ib_alloc_cq(&hca->ibdev, NULL, 1, 0, IB_POLL_DIRECT);
}

static void end_cq(void *object)
{
	ib_free_cq(object);
}

static u32 cq_id(void *object)
{
	return ((struct ib_cq *)object)->res.id;
}

static void *make_mr(int i)
{
	return ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 1);
}

static void end_mr(void *object)
{
	ib_dereg_mr(object);
}

static u32 mr_id(void *object)
{
	return ((struct ib_mr *)object)->res.id;
}

static struct ib_qp *new_qp(struct ib_srq *srq)
{
	struct ib_qp_init_attr init = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.qp_type = IB_QPT_RC, .sq_sig_type = IB_SIGNAL_REQ_WR,
		.send_cq = cq, .recv_cq = cq, .srq = srq,
	};

	return ib_create_qp(pd, &init);
}

static void *make_qp(int i)
{
	return new_qp(NULL);
}

static void end_qp(void *object)
{
	ib_destroy_qp(object);
}

static u32 qp_id(void *object)
{
	return ((struct ib_qp *)object)->res.id;
}

static void *make_srq(int i)
{
	struct ib_srq_init_attr init = { .attr = { .max_wr = 1, .max_sge = 1 },
					 .srq_type = IB_SRQT_BASIC };
	struct ib_srq *srq = ib_create_srq(pd, &init);
	struct ib_qp *qp;

	if (IS_ERR(srq))
		return srq;
	qp = new_qp(srq);
	if (IS_ERR(qp)) {
		ib_destroy_srq(srq);
		return qp;
	}
	qps[nr_qps++] = qp;
	return srq;
}

static void end_srq(void *object)
{
	ib_destroy_srq(object);
}

static u32 srq_id(void *object)
{
	return ((struct ib_srq *)object)->res.id;
}

/* A context without a process: only its tracking matters here. */
static void *make_ctx(int i)
{
	struct ib_ucontext *ctx = kzalloc(sizeof(*ctx), GFP_KERNEL);

	if (!ctx)
		return ERR_PTR(-ENOMEM);
	ctx->device = &hca->ibdev;
	rdma_restrack_new(&ctx->res, RDMA_RESTRACK_CTX);
	rdma_restrack_set_name(&ctx->res, NULL);
	rdma_restrack_add(&ctx->res);
	return ctx;
}

static void end_ctx(void *object)
{
	struct ib_ucontext *ctx = object;

	rdma_restrack_del(&ctx->res);
	kfree(ctx);
}

static u32 ctx_id(void *object)
{
	return ((struct ib_ucontext *)object)->res.id;
}

/* Binds each QP to a counter of its own; the object of the kind is the QP. */
static void *make_counted(int i)
{
	struct ib_qp *qp = new_qp(NULL);
	struct sk_buff *req;
	int ret;

	if (IS_ERR(qp))
		return qp;
	ret = test_qp_init(qp, 1);
	if (!ret) {
		req = nl_dev_req(&nl, RDMA_NLDEV_CMD_STAT_SET, hca, 1);
		nla_put_u32(req, RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_MANUAL);
		nla_put_u32(req, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP);
		nla_put_u32(req, RDMA_NLDEV_ATTR_RES_LQPN, qp->qp_num);
		ret = nl_call(&nl, req);
	}
	if (!ret)
		return qp;
	ib_destroy_qp(qp);
	return ERR_PTR(ret);
}

static u32 counter_id(void *object)
{
	return ((struct ib_qp *)object)->counter->id;
}

#define RES(name_, cmd_, id_, fn)						\
	{ .name = name_, .cmd = RDMA_NLDEV_CMD_RES_##cmd_##_GET,		\
	  .table = RDMA_NLDEV_ATTR_RES_##cmd_, .id = RDMA_NLDEV_ATTR_RES_##id_,	\
	  .make = make_##fn, .end = end_##fn, .id_of = fn##_id }

static const struct kind kinds[] = {
	RES("pd", PD, PDN, pd),
	RES("cq", CQ, CQN, cq),
	RES("mr", MR, MRN, mr),
	RES("qp", QP, LQPN, qp),
	RES("ctx", CTX, CTXN, ctx),
};

static const struct kind kind_srq = {
	.name = "srq", .cmd = RDMA_NLDEV_CMD_RES_SRQ_GET,
	.table = RDMA_NLDEV_ATTR_RES_SRQ, .id = RDMA_NLDEV_ATTR_RES_SRQN,
	.make = make_srq, .end = end_srq, .id_of = srq_id, .has_qps = true,
};

static const struct kind kind_counter = {
	.name = "counter", .cmd = RDMA_NLDEV_CMD_STAT_GET,
	.table = RDMA_NLDEV_ATTR_STAT_COUNTER, .id = RDMA_NLDEV_ATTR_STAT_COUNTER_ID,
	.stat_res = RDMA_NLDEV_ATTR_RES_QP,
	.make = make_counted, .end = end_qp, .id_of = counter_id, .has_qps = true,
};

/* Counters of the MRs that exist. */
static const struct kind kind_mr_stat = {
	.name = "stat mr", .cmd = RDMA_NLDEV_CMD_STAT_GET,
	.table = RDMA_NLDEV_ATTR_RES_MR, .id = RDMA_NLDEV_ATTR_RES_MRN,
	.stat_res = RDMA_NLDEV_ATTR_RES_MR,
	.id_of = mr_id,
};

/* ---- the suite ---- */

static int linear_init(struct kunit *test)
{
	hca = stats_hca_create(&ib_params);
	objects = kvcalloc(MOST, sizeof(*objects), GFP_KERNEL);
	qps = kvcalloc(MOST, sizeof(*qps), GFP_KERNEL);
	nr_objects = 0;
	nr_qps = 0;
	xa_init(&shown);
	if (!hca || !objects || !qps)
		return -ENOMEM;
	pd = ib_alloc_pd(&hca->ibdev, 0);
	cq = ib_alloc_cq(&hca->ibdev, NULL, 16, 0, IB_POLL_DIRECT);
	return PTR_ERR_OR_ZERO(pd) ?: PTR_ERR_OR_ZERO(cq) ?: nl_open(&nl, &init_net);
}

static void end_all(const struct kind *kind)
{
	while (nr_qps)
		ib_destroy_qp(qps[--nr_qps]);
	while (nr_objects)
		kind->end(objects[--nr_objects]);
}

static void linear_exit(struct kunit *test)
{
	kvfree(objects);
	kvfree(qps);
	xa_destroy(&shown);
	if (!IS_ERR_OR_NULL(cq))
		ib_free_cq(cq);
	if (!IS_ERR_OR_NULL(pd))
		ib_dealloc_pd(pd);
	cq = NULL;
	pd = NULL;
	nl_hca_exit(test, &nl, &hca);
}

static void make_up_to(struct kunit *test, const struct kind *kind, int n)
{
	while (nr_objects < n) {
		void *object = kind->make(nr_objects);

		if (IS_ERR(object))
			end_all(kind);
		KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(object), "%s: %pe", kind->name, object);
		objects[nr_objects++] = object;
	}
}

static int count_qps(const struct nlattr *table)
{
	const struct nlattr *pos;
	int rem, n = 0;

	if (table)
		nla_for_each_nested(pos, table, rem)
			n++;
	return n;
}

static const struct kind *dumped;

/* Notes each entry in the messages of a page, and empties the store. */
static void note_page(struct nl *unused)
{
	const struct nlattr *pos;
	unsigned long times;
	int i, rem;
	u32 id;

	for (i = 0; i < nl.n; i++) {
		nl_attrs(&nl, i, tb);
		if (!tb[dumped->table])
			continue;
		nla_for_each_nested(pos, tb[dumped->table], rem) {
			nl_nested(pos, etb);
			id = nl_u32(etb[dumped->id]);
			times = xa_to_value(xa_load(&shown, id) ?: xa_mk_value(0));
			xa_store(&shown, id, xa_mk_value(times + 1), GFP_KERNEL);
			qp_entries += count_qps(etb[RDMA_NLDEV_ATTR_RES_QP]);
			entries++;
		}
	}
	nl.n = 0;
	nl.used = 0;
}

/* Dumps all; returns the number of entries of any kind that the dump looked at. */
static unsigned long dump(struct kunit *test, const struct kind *kind)
{
	struct sk_buff *req = nl_dev_dump(&nl, kind->cmd, hca, 0);
	unsigned long before = ibcore_restrack_visits;

	if (kind->stat_res)
		nla_put_u32(req, RDMA_NLDEV_ATTR_STAT_RES, kind->stat_res);
	xa_destroy(&shown);
	entries = 0;
	qp_entries = 0;
	dumped = kind;
	nl.between = note_page;
	KUNIT_EXPECT_EQ(test, nl_call(&nl, req), 0);
	nl.between = NULL;
	/* The messages of the last page. */
	note_page(&nl);
	pages = nl.pages;
	return ibcore_restrack_visits - before;
}

static int shown_once(const struct kind *kind)
{
	int i, n = 0;

	for (i = 0; i < nr_objects; i++)
		n += xa_load(&shown, kind->id_of(objects[i])) == xa_mk_value(1);
	return n;
}

/* @others: number of other objects of the kind. */
static unsigned long check_dump(struct kunit *test, const struct kind *kind, int n,
				int others)
{
	unsigned long work;

	make_up_to(test, kind, n);
	work = dump(test, kind);
	KUNIT_EXPECT_EQ_MSG(test, shown_once(kind), n, "%s", kind->name);
	KUNIT_EXPECT_EQ_MSG(test, entries, n + others, "%s", kind->name);
	KUNIT_EXPECT_EQ_MSG(test, qp_entries, kind->has_qps ? n : 0, "%s", kind->name);
	KUNIT_EXPECT_GT_MSG(test, pages, n / 400, "%s", kind->name);
	/* Each object and its QP once, and per page one that did not fit again. */
	KUNIT_EXPECT_LE_MSG(test, work,
			    (unsigned long)((1 + kind->has_qps) * (n + others) + pages),
			    "%s", kind->name);
	return work;
}

static void check_kind(struct kunit *test, const struct kind *kind)
{
	int others = kind->make == make_pd || kind->make == make_cq;
	unsigned long few, most;

	few = check_dump(test, kind, FEW, others);
	most = check_dump(test, kind, MOST, others);
	kunit_info(test, "%s: %lu and %lu visits, %d pages", kind->name, few, most, pages);
	KUNIT_EXPECT_GE(test, few, (unsigned long)FEW);
	KUNIT_EXPECT_LE_MSG(test, most, few * 4 + few / 10, "%s", kind->name);
	if (kind->make == make_mr)
		check_dump(test, &kind_mr_stat, MOST, 0);
	end_all(kind);
}

static void each_kind_is_dumped_in_linear_time(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		check_kind(test, &kinds[i]);
}

static void srqs_with_their_qps(struct kunit *test)
{
	check_kind(test, &kind_srq);
}

static void counters_with_their_qps(struct kunit *test)
{
	check_kind(test, &kind_counter);
	KUNIT_EXPECT_EQ(test, stats_state.counters, 0);
}

/* Closing the socket before the end of a dump leaves nothing behind. */
static void a_dump_that_is_not_read_to_its_end(struct kunit *test)
{
	struct sk_buff *req;
	bool ended;
	int ret;

	make_up_to(test, &kind_srq, FEW);
	req = nl_dev_dump(&nl, kind_srq.cmd, hca, 0);
	nlmsg_end(req, nlmsg_hdr(req));
	KUNIT_ASSERT_EQ(test, nl_send_raw(&nl, req), 0);
	KUNIT_EXPECT_GT(test, nl_receive(&nl, &ret, &ended), 0);
	KUNIT_EXPECT_FALSE(test, ended);
	nl_close(&nl);
	KUNIT_ASSERT_EQ(test, nl_open(&nl, &init_net), 0);
	KUNIT_EXPECT_GE(test, dump(test, &kind_srq), (unsigned long)FEW);
	end_all(&kind_srq);
}

/* All QPs use one SRQ except one in the middle: two ranges. */
static void successive_qps_are_a_range(struct kunit *test)
{
	struct ib_qp *own[6];
	struct ib_srq *srq;
	int i;

	make_up_to(test, &kind_srq, 1);
	srq = objects[0];
	for (i = 0; i < ARRAY_SIZE(own); i++) {
		own[i] = new_qp(i == 3 ? NULL : srq);
		KUNIT_ASSERT_FALSE(test, IS_ERR(own[i]));
	}
	dump(test, &kind_srq);
	KUNIT_EXPECT_EQ(test, entries, 1);
	KUNIT_EXPECT_EQ(test, qp_entries, 2);
	for (i = 0; i < ARRAY_SIZE(own); i++)
		ib_destroy_qp(own[i]);
	end_all(&kind_srq);
}

static struct kunit_case linear_cases[] = {
	KUNIT_CASE(each_kind_is_dumped_in_linear_time),
	KUNIT_CASE(srqs_with_their_qps),
	KUNIT_CASE(counters_with_their_qps),
	KUNIT_CASE(a_dump_that_is_not_read_to_its_end),
	KUNIT_CASE(successive_qps_are_a_range),
	{}
};

static struct kunit_suite ibcore_nldev_linear_suite = {
	.name = "ib_core_nldev_linear",
	.init = linear_init,
	.exit = linear_exit,
	.test_cases = linear_cases,
};

kunit_test_suite(ibcore_nldev_linear_suite);
