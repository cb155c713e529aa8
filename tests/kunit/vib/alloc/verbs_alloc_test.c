// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Each allocation of what makes adapters, switches and their objects fails once: the error is
 * -ENOMEM, nothing is left, and the next try succeeds.
 */
#include "../device/hca_pair.h"
#include "faults.h"
#include "memory/mr.h"
#include "queue/srq.h"
#include "switch/switch.h"

static struct hca_pair pair;
static struct ib_xrcd *xrcd;
static enum ib_qp_type qp_type;		/* what make_qp() makes */
static struct ib_qp *members[2];

static int verbs_alloc_init(struct kunit *test)
{
	int ret = hca_pair_init(test, &pair);

	if (ret)
		return ret;
	xrcd = ib_alloc_xrcd_user(&pair.a.hca->ib, NULL, NULL);
	return PTR_ERR_OR_ZERO(xrcd);
}

static void verbs_alloc_exit(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(members); i++) {
		if (!IS_ERR_OR_NULL(members[i]))
			ib_destroy_qp(members[i]);
		members[i] = NULL;
	}
	if (!IS_ERR_OR_NULL(xrcd))
		ib_dealloc_xrcd_user(xrcd, NULL);
	hca_pair_exit(&pair);
}

/* At least @least allocations of @make fail, one by one. */
static void each(struct kunit *test, int (*make)(struct kunit *test), unsigned int least,
		 const char *what)
{
	KUNIT_EXPECT_GE_MSG(test, ibex_each_allocation(test, make), least, "%s", what);
}

static int enomem(struct kunit *test, int ret)
{
	KUNIT_EXPECT_TRUE_MSG(test, !ret || ret == -ENOMEM, "%d", ret);
	return ret;
}

/* ---- nodes ---- */

static const struct vib_node_attr attr = {
	.name = "one more",
	.num_ports = 2,
	.guid = cpu_to_be64(0x0200000000090000ULL),
};

static int make_switch(struct kunit *test)
{
	struct vib_switch *sw = vib_switch_create(&attr);

	if (IS_ERR(sw))
		return enomem(test, PTR_ERR(sw));
	vib_switch_destroy(sw);
	return 0;
}

static int make_hca(struct kunit *test)
{
	struct vib_hca *hca = vib_hca_create(&attr);

	if (IS_ERR(hca))
		return enomem(test, PTR_ERR(hca));
	vib_hca_destroy(hca);
	return 0;
}

static void nodes(struct kunit *test)
{
	each(test, make_switch, 15, "switch");
	each(test, make_hca, 10, "adapter");
}

static int register_hca(struct kunit *test)
{
	struct vib_hca *hca = vib_hca_create(&attr);
	int ret;

	if (IS_ERR(hca))
		return enomem(test, PTR_ERR(hca));
	ret = vib_node_add(&pair.fabric, &hca->node);
	if (ret) {
		vib_hca_destroy(hca);
		return ret;
	}
	/* Without a service of the kernel's: those have suites of their own. */
	hca->ib.ops.get_dma_mr = NULL;
	ret = vib_hca_register(hca);
	if (!ret)
		vib_hca_unregister(hca);
	vib_node_remove(&hca->node);
	return ret;
}

static void registration(struct kunit *test)
{
	each(test, register_hca, 50, "device");
	rcu_barrier();
	flush_workqueue(vib_free_wq);
}

/* ---- objects of verbs ---- */

static int make_pd(struct kunit *test)
{
	struct ib_pd *pd = ib_alloc_pd(&pair.a.hca->ib, IB_PD_UNSAFE_GLOBAL_RKEY);

	if (IS_ERR(pd))
		return enomem(test, PTR_ERR(pd));
	ib_dealloc_pd(pd);
	return 0;
}

static int make_cq(struct kunit *test)
{
	struct ib_cq_init_attr init = { .cqe = 8 };
	struct ib_cq *cq = ib_create_cq(&pair.a.hca->ib, NULL, NULL, NULL, &init);
	int ret;

	if (IS_ERR(cq))
		return enomem(test, PTR_ERR(cq));
	ret = cq->device->ops.resize_cq(cq, 100, NULL);
	KUNIT_EXPECT_EQ(test, cq->cqe, ret ? 8 : 128);
	ib_destroy_cq(cq);
	return enomem(test, ret);
}

static int make_qp(struct kunit *test)
{
	struct ib_qp *qp = hca_qp_create(&pair.a, qp_type, &(struct hca_qp_want){});

	if (IS_ERR(qp))
		return enomem(test, PTR_ERR(qp));
	return ib_destroy_qp(qp);
}

static int make_srq_of(struct kunit *test, struct ib_srq_init_attr *init)
{
	struct ib_srq_attr more = { .max_wr = 64 }, now = {};
	struct ib_srq *srq = ib_create_srq(pair.a.pd, init);
	int ret;

	if (IS_ERR(srq))
		return enomem(test, PTR_ERR(srq));
	ret = ib_modify_srq(srq, &more, IB_SRQ_MAX_WR);
	KUNIT_EXPECT_EQ(test, ib_query_srq(srq, &now), 0);
	KUNIT_EXPECT_EQ(test, now.max_wr, ret ? 8 : 64);
	ib_destroy_srq(srq);
	return enomem(test, ret);
}

static int make_srq(struct kunit *test)
{
	struct ib_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 1 } };

	return make_srq_of(test, &init);
}

static int make_xrc_srq(struct kunit *test)
{
	struct ib_srq_init_attr init = {
		.attr = { .max_wr = 8, .max_sge = 1 },
		.srq_type = IB_SRQT_XRC,
		.ext = { .cq = pair.a.cq, .xrc.xrcd = xrcd },
	};

	return make_srq_of(test, &init);
}

static int make_xrcd(struct kunit *test)
{
	struct ib_xrcd *made = ib_alloc_xrcd_user(&pair.a.hca->ib, NULL, NULL);

	if (IS_ERR(made))
		return enomem(test, PTR_ERR(made));
	return ib_dealloc_xrcd_user(made, NULL);
}

static int make_mr(struct kunit *test)
{
	struct ib_mr *mr = ib_alloc_mr(pair.a.pd, IB_MR_TYPE_MEM_REG, 8);

	if (IS_ERR(mr))
		return enomem(test, PTR_ERR(mr));
	return ib_dereg_mr(mr);
}

static int make_integrity_mr(struct kunit *test)
{
	struct ib_mr *mr = ib_alloc_mr_integrity(pair.a.pd, 8, 4);

	if (IS_ERR(mr))
		return enomem(test, PTR_ERR(mr));
	return ib_dereg_mr(mr);
}

/* As the core makes one for a process. */
static int make_mw(struct kunit *test)
{
	const struct ib_device_ops *ops = &pair.a.hca->ib.ops;
	struct ib_mw *mw = kzalloc(ops->size_ib_mw, GFP_KERNEL);
	int ret;

	if (!mw)
		return -ENOMEM;
	mw->device = &pair.a.hca->ib;
	mw->pd = pair.a.pd;
	mw->type = IB_MW_TYPE_2;
	ret = ops->alloc_mw(mw, NULL);
	if (!ret)
		ops->dealloc_mw(mw);
	kfree(mw);
	return enomem(test, ret);
}

static int make_ah(struct kunit *test)
{
	struct rdma_ah_attr ah_attr = { .type = RDMA_AH_ATTR_TYPE_IB };
	struct ib_ah *ah;

	rdma_ah_set_dlid(&ah_attr, 8);
	rdma_ah_set_port_num(&ah_attr, 1);
	ah = rdma_create_ah(pair.a.pd, &ah_attr, 0);
	if (IS_ERR(ah))
		return enomem(test, PTR_ERR(ah));
	rdma_destroy_ah(ah, 0);
	return 0;
}

static void objects(struct kunit *test)
{
	each(test, make_pd, 2, "PD with a region");
	each(test, make_cq, 2, "CQ");
	each(test, make_srq, 3, "SRQ");
	each(test, make_xrc_srq, 4, "XRC SRQ");
	each(test, make_xrcd, 1, "XRC domain");
	each(test, make_mr, 3, "MR");
	each(test, make_integrity_mr, 4, "MR with integrity");
	each(test, make_mw, 2, "MW");
	each(test, make_ah, 1, "AH");
}

static void queue_pairs(struct kunit *test)
{
	static const struct {
		enum ib_qp_type type;
		const char *name;
	} types[] = {
		{ IB_QPT_SMI, "SMI" }, { IB_QPT_GSI, "GSI" }, { IB_QPT_UD, "UD" },
		{ IB_QPT_RC, "RC" }, { IB_QPT_UC, "UC" }, { IB_QPT_XRC_INI, "XRC" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		qp_type = types[i].type;
		each(test, make_qp, 3, types[i].name);
		/* The port has no QP0 and QP1 of one that could not be made. */
		KUNIT_EXPECT_EQ_MSG(test, make_qp(test), 0, "%s", types[i].name);
	}
}

/* ---- groups ---- */

static int join(struct kunit *test, unsigned int first, u8 group)
{
	union ib_gid mgid = hca_mgid(group);
	unsigned int i;
	int ret = 0;

	for (i = first; !ret && i < 2; i++)
		ret = ib_attach_mcast(members[i], &mgid, PAIR_MLID);
	if (ret)
		i--;
	while (i-- > first)
		KUNIT_EXPECT_EQ(test, ib_detach_mcast(members[i], &mgid, PAIR_MLID), 0);
	return enomem(test, ret);
}

static int join_both(struct kunit *test)
{
	return join(test, 0, 1);
}

static int join_one_more(struct kunit *test)
{
	return join(test, 1, 2);
}

static void groups(struct kunit *test)
{
	union ib_gid mgid = hca_mgid(2);
	unsigned int i;

	for (i = 0; i < 2; i++)
		members[i] = hca_qp_rts(test, &pair.a);
	each(test, join_both, 3, "a new group");
	KUNIT_EXPECT_FALSE(test, xa_load(&pair.a.hca->groups, PAIR_MLID));
	KUNIT_ASSERT_EQ(test, ib_attach_mcast(members[0], &mgid, PAIR_MLID), 0);
	each(test, join_one_more, 1, "a group with a member");
	KUNIT_EXPECT_EQ(test, ib_detach_mcast(members[0], &mgid, PAIR_MLID), 0);
}

static struct kunit_case verbs_alloc_cases[] = {
	KUNIT_CASE(nodes),
	KUNIT_CASE_SLOW(registration),
	KUNIT_CASE(objects),
	KUNIT_CASE(queue_pairs),
	KUNIT_CASE(groups),
	{}
};

static struct kunit_suite vib_alloc_verbs_suite = {
	.name = "vib_alloc_verbs",
	.init = verbs_alloc_init,
	.exit = verbs_alloc_exit,
	.test_cases = verbs_alloc_cases,
};

kunit_test_suite(vib_alloc_verbs_suite);
