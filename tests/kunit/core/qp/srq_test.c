// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared receive queues, work queues, multicast groups, protection domains. */
#include <kunit/test.h>
#include "core.h"
#include "faults.h"
#include "core/objects.h"

static struct fake_hca *hca;
static struct objects o;

static int srq_test_init(struct kunit *test)
{
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND, .ports = 2,
	};

	hca = objects_hca(&params);
	return hca ? objects_get(&o, hca, IB_POLL_SOFTIRQ, 0, 1, 0) : -ENOMEM;
}

static void srq_test_exit(struct kunit *test)
{
	objects_put(&o);
	if (!hca)
		return;
	KUNIT_EXPECT_EQ(test, fake_hca_objects(hca), 0);
	fake_hca_destroy(hca);
	hca = NULL;
}

static int modify_srq(struct ib_srq *srq, struct ib_srq_attr *attr,
		      enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	return attr->srq_limit > 8 ? -EINVAL : 0;
}

static int query_srq(struct ib_srq *srq, struct ib_srq_attr *attr)
{
	attr->max_wr = 77;
	return 0;
}

static void an_srq_uses_what_it_was_made_from(struct kunit *test)
{
	struct ib_xrcd xrcd = {};
	struct ib_srq_init_attr attr = {
		.srq_type = IB_SRQT_XRC, .attr = { .max_wr = 8, .max_sge = 1 },
		.ext = { .cq = o.cq, .xrc.xrcd = &xrcd },
	};
	struct ib_srq *srq;

	srq = ib_create_srq(o.pd, &attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(srq));
	KUNIT_EXPECT_EQ(test, atomic_read(&o.pd->usecnt), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.cq->usecnt), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&xrcd.usecnt), 1);

	atomic_inc(&srq->usecnt);
	KUNIT_EXPECT_EQ(test, ib_destroy_srq_user(srq, NULL), -EBUSY);
	atomic_dec(&srq->usecnt);
	atomic_set(&hca->fail_destroy[FAKE_SRQ], 1);
	KUNIT_EXPECT_EQ(test, ib_destroy_srq_user(srq, NULL), -EIO);
	KUNIT_EXPECT_EQ(test, atomic_read(&xrcd.usecnt), 1);
	KUNIT_EXPECT_EQ(test, ib_destroy_srq_user(srq, NULL), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.pd->usecnt), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.cq->usecnt), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&xrcd.usecnt), 0);

	/* A basic SRQ uses neither a CQ nor an XRCD. */
	attr.srq_type = IB_SRQT_BASIC;
	srq = ib_create_srq(o.pd, &attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(srq));
	KUNIT_EXPECT_EQ(test, atomic_read(&o.cq->usecnt), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&xrcd.usecnt), 0);
	KUNIT_EXPECT_EQ(test, ib_destroy_srq_user(srq, NULL), 0);
}

static void an_srq_that_fails_uses_nothing(struct kunit *test)
{
	struct ib_srq_init_attr attr = { .attr = { .max_wr = 8 } };

	atomic_set(&hca->fail_create[FAKE_SRQ], 1);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_create_srq(o.pd, &attr)), -ENOMEM);
	hca->ibdev.ops.create_srq = NULL;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_create_srq(o.pd, &attr)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.pd->usecnt), 1);
}

static void an_srq_is_asked_and_told(struct kunit *test)
{
	struct ib_srq_init_attr init = { .attr = { .max_wr = 8 } };
	struct ib_srq *srq = ib_create_srq(o.pd, &init);
	struct ib_srq_attr attr = { .srq_limit = 3 };

	KUNIT_ASSERT_FALSE(test, IS_ERR(srq));
	KUNIT_EXPECT_EQ(test, ib_modify_srq(srq, &attr, IB_SRQ_LIMIT), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, ib_query_srq(srq, &attr), -EOPNOTSUPP);
	hca->ibdev.ops.modify_srq = modify_srq;
	hca->ibdev.ops.query_srq = query_srq;
	KUNIT_EXPECT_EQ(test, ib_modify_srq(srq, &attr, IB_SRQ_LIMIT), 0);
	KUNIT_EXPECT_EQ(test, ib_query_srq(srq, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.max_wr, 77);
	attr.srq_limit = 9;
	KUNIT_EXPECT_EQ(test, ib_modify_srq(srq, &attr, IB_SRQ_LIMIT), -EINVAL);
	ib_destroy_srq(srq);
}

static int wq_result;

static struct ib_wq *create_wq(struct ib_pd *pd, struct ib_wq_init_attr *attr,
			       struct ib_udata *udata)
{
	if (wq_result)
		return ERR_PTR(wq_result);
	return kzalloc(sizeof(struct ib_wq), GFP_KERNEL) ?: ERR_PTR(-ENOMEM);
}

static int destroy_wq(struct ib_wq *wq, struct ib_udata *udata)
{
	if (!wq_result)
		kfree(wq);
	return wq_result;
}

static void a_work_queue_uses_its_domain_and_cq(struct kunit *test)
{
	struct ib_wq_init_attr attr = { .wq_type = IB_WQT_RQ, .cq = o.cq };
	struct ib_wq *wq;

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_create_wq(o.pd, &attr)), -EOPNOTSUPP);
	hca->ibdev.ops.create_wq = create_wq;
	hca->ibdev.ops.destroy_wq = destroy_wq;
	wq_result = -ENOSPC;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_create_wq(o.pd, &attr)), -ENOSPC);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.pd->usecnt), 1);
	wq_result = 0;
	wq = ib_create_wq(o.pd, &attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(wq));
	KUNIT_EXPECT_EQ(test, atomic_read(&o.pd->usecnt), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.cq->usecnt), 3);
	atomic_inc(&wq->usecnt);
	KUNIT_EXPECT_EQ(test, ib_destroy_wq_user(wq, NULL), -EBUSY);
	atomic_dec(&wq->usecnt);
	wq_result = -EIO;
	KUNIT_EXPECT_EQ(test, ib_destroy_wq_user(wq, NULL), -EIO);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.cq->usecnt), 3);
	wq_result = 0;
	KUNIT_EXPECT_EQ(test, ib_destroy_wq_user(wq, NULL), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.pd->usecnt), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.cq->usecnt), 2);
}

static int mcast_result;

static int mcast_op(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	return mcast_result;
}

static struct ib_qp *create_ud(struct fake_hca *on, struct objects *obj)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_UD, .send_cq = obj->cq, .recv_cq = obj->cq,
	};

	on->ibdev.ops.attach_mcast = mcast_op;
	on->ibdev.ops.detach_mcast = mcast_op;
	return ib_create_qp(obj->pd, &init);
}

static void a_queue_in_a_group_stays(struct kunit *test)
{
	union ib_gid group = { .raw = { 0xff, 0x12 } }, unicast = { .raw = { 0xfe } };
	struct ib_qp *qp = create_ud(hca, &o);

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	KUNIT_EXPECT_EQ(test, ib_attach_mcast(qp, &unicast, 0xc001), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_attach_mcast(o.qp, &group, 0xc001), -EINVAL);
	/* The LID of a group is between unicast LIDs and the permissive LID. */
	KUNIT_EXPECT_EQ(test, ib_attach_mcast(qp, &group, 0xbfff), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_attach_mcast(qp, &group, 0xffff), -EINVAL);
	mcast_result = -ENOMEM;
	KUNIT_EXPECT_EQ(test, ib_attach_mcast(qp, &group, 0xc001), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->usecnt), 0);
	mcast_result = 0;
	KUNIT_EXPECT_EQ(test, ib_attach_mcast(qp, &group, 0xc000), 0);
	KUNIT_EXPECT_EQ(test, ib_attach_mcast(qp, &group, 0xfffe), 0);
	KUNIT_EXPECT_EQ(test, ib_destroy_qp_user(qp, NULL), -EBUSY);
	KUNIT_EXPECT_EQ(test, ib_detach_mcast(qp, &group, 0xc000), 0);
	mcast_result = -EIO;
	KUNIT_EXPECT_EQ(test, ib_detach_mcast(qp, &group, 0xfffe), -EIO);
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->usecnt), 1);
	mcast_result = 0;
	KUNIT_EXPECT_EQ(test, ib_detach_mcast(qp, &group, 0xfffe), 0);
	hca->ibdev.ops.attach_mcast = NULL;
	KUNIT_EXPECT_EQ(test, ib_attach_mcast(qp, &group, 0xc000), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, ib_destroy_qp_user(qp, NULL), 0);
}

static enum rdma_link_layer second_is_ethernet(struct ib_device *dev, u32 port)
{
	return port == 2 ? IB_LINK_LAYER_ETHERNET : IB_LINK_LAYER_INFINIBAND;
}

/* RoCE annex A16.5.1: a RoCE port has no LIDs. */
static void a_group_of_roce_has_no_lid(struct kunit *test)
{
	union ib_gid group = { .raw = { 0xff, 0x12 } };
	struct ib_qp *qp = create_ud(hca, &o);

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	KUNIT_EXPECT_EQ(test, ib_attach_mcast(qp, &group, 0), -EINVAL);
	hca->ibdev.ops.get_link_layer = second_is_ethernet;
	/* A QP without a port may get either. */
	KUNIT_EXPECT_EQ(test, ib_attach_mcast(qp, &group, 0), 0);
	qp->port = 2;
	KUNIT_EXPECT_EQ(test, ib_attach_mcast(qp, &group, 0), 0);
	qp->port = 1;
	KUNIT_EXPECT_EQ(test, ib_attach_mcast(qp, &group, 0), -EINVAL);
	qp->port = 2;
	KUNIT_EXPECT_EQ(test, ib_detach_mcast(qp, &group, 0), 0);
	KUNIT_EXPECT_EQ(test, ib_detach_mcast(qp, &group, 0), 0);
	KUNIT_EXPECT_EQ(test, ib_destroy_qp_user(qp, NULL), 0);
}

static void a_domain_has_a_key_for_all_memory(struct kunit *test)
{
	struct ib_pd *pd;

	/* The device has a key of its own. */
	hca->ibdev.local_dma_lkey = 0x999;
	pd = ib_alloc_pd(&hca->ibdev, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	KUNIT_EXPECT_EQ(test, pd->local_dma_lkey, 0x999);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_MR]), 0);
	ib_dealloc_pd(pd);
	/* The rkey for peers is that of a region. */
	pd = ib_alloc_pd(&hca->ibdev, IB_PD_UNSAFE_GLOBAL_RKEY);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	KUNIT_EXPECT_EQ(test, pd->local_dma_lkey, 0x999);
	KUNIT_EXPECT_EQ(test, pd->unsafe_global_rkey, 0x100);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_MR]), 1);
	ib_dealloc_pd(pd);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_MR]), 0);
	/* Without a device key the lkey is that of a region too. */
	hca->ibdev.attrs.kernel_cap_flags &= ~IBK_LOCAL_DMA_LKEY;
	pd = ib_alloc_pd(&hca->ibdev, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	KUNIT_EXPECT_EQ(test, pd->local_dma_lkey, 0x100);
	ib_dealloc_pd(pd);

	atomic_set(&hca->fail_create[FAKE_MR], 1);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_alloc_pd(&hca->ibdev, 0)), -ENOMEM);
	hca->ibdev.ops.get_dma_mr = NULL;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_alloc_pd(&hca->ibdev, 0)), -EOPNOTSUPP);
	atomic_set(&hca->fail_create[FAKE_PD], 1);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_alloc_pd(&hca->ibdev, 0)), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_PD]), 1);
	hca->ibdev.attrs.kernel_cap_flags |= IBK_LOCAL_DMA_LKEY;
}

static void a_domain_in_use_or_refused_stays(struct kunit *test)
{
	struct ib_pd *pd = ib_alloc_pd(&hca->ibdev, IB_PD_UNSAFE_GLOBAL_RKEY);

	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	/* A process may try to free a PD in use; a ULP that does has a bug. */
	pd->res.user = true;
	atomic_inc(&pd->usecnt);
	KUNIT_EXPECT_EQ(test, ib_dealloc_pd_user(pd, NULL), -EBUSY);
	atomic_dec(&pd->usecnt);
	pd->res.user = false;
	atomic_set(&hca->fail_destroy[FAKE_MR], 1);
	KUNIT_EXPECT_EQ(test, ib_dealloc_pd_user(pd, NULL), -EIO);
	atomic_set(&hca->fail_destroy[FAKE_PD], 1);
	KUNIT_EXPECT_EQ(test, ib_dealloc_pd_user(pd, NULL), -EIO);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_PD]), 2);
	KUNIT_EXPECT_EQ(test, ib_dealloc_pd_user(pd, NULL), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_PD]), 1);
}

static int once(struct kunit *test)
{
	struct ib_srq_init_attr attr = { .attr = { .max_wr = 8 } };
	struct ib_srq *srq;
	struct ib_pd *pd;
	int ret;

	pd = ib_alloc_pd(&hca->ibdev, IB_PD_UNSAFE_GLOBAL_RKEY);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	srq = ib_create_srq(pd, &attr);
	ret = PTR_ERR_OR_ZERO(srq);
	if (!ret)
		ib_destroy_srq(srq);
	ib_dealloc_pd(pd);
	return ret;
}

static void objects_survive_each_failed_allocation(struct kunit *test)
{
	int alive = fake_hca_objects(hca);

	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, once), 3u);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(hca), alive);
}

static struct kunit_case srq_cases[] = {
	KUNIT_CASE(an_srq_uses_what_it_was_made_from),
	KUNIT_CASE(an_srq_that_fails_uses_nothing),
	KUNIT_CASE(an_srq_is_asked_and_told),
	KUNIT_CASE(a_work_queue_uses_its_domain_and_cq),
	KUNIT_CASE(a_queue_in_a_group_stays),
	KUNIT_CASE(a_group_of_roce_has_no_lid),
	KUNIT_CASE(a_domain_has_a_key_for_all_memory),
	KUNIT_CASE(a_domain_in_use_or_refused_stays),
	KUNIT_CASE(objects_survive_each_failed_allocation),
	{}
};

static struct kunit_suite ibcore_srq_suite = {
	.name = "ib_core_srq",
	.init = srq_test_init,
	.exit = srq_test_exit,
	.test_cases = srq_cases,
};

kunit_test_suite(ibcore_srq_suite);
