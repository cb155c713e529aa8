// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* XRC domains and the handles of their target queue pairs. */
#include <kunit/test.h>
#include <linux/kthread.h>
#include <ibex/qp.h>
#include "faults.h"
#include "core/objects.h"

static struct fake_hca *hca;
static struct ib_xrcd *xrcd;
static struct ib_udata udata;
static int domains, domain_result;

static int alloc_xrcd(struct ib_xrcd *x, struct ib_udata *u)
{
	if (!domain_result)
		domains++;
	return domain_result;
}

static int dealloc_xrcd(struct ib_xrcd *x, struct ib_udata *u)
{
	if (!domain_result)
		domains--;
	return domain_result;
}

struct test_xrcd {
	struct ib_xrcd ib;
};

static const struct ib_device_ops xrc_ops = {
	.alloc_xrcd = alloc_xrcd,
	.dealloc_xrcd = dealloc_xrcd,
	INIT_RDMA_OBJ_SIZE(ib_xrcd, test_xrcd, ib),
};

static int xrcd_test_init(struct kunit *test)
{
	struct fake_hca_params params = { .link_layer = IB_LINK_LAYER_INFINIBAND };

	hca = fake_hca_create(&params);
	if (!hca)
		return -ENOMEM;
	ib_set_device_ops(&hca->ibdev, &xrc_ops);
	/* As mlx4 and mlx5 have it. */
	hca->quirks.target_by_domain = true;
	hca->quirks.target_without_user = true;
	domain_result = 0;
	domains = 0;
	xrcd = ib_alloc_xrcd_user(&hca->ibdev, NULL, &udata);
	return PTR_ERR_OR_ZERO(xrcd);
}

static void xrcd_test_exit(struct kunit *test)
{
	domain_result = 0;
	if (!IS_ERR_OR_NULL(xrcd))
		KUNIT_EXPECT_EQ(test, ib_dealloc_xrcd_user(xrcd, &udata), 0);
	xrcd = NULL;
	if (!hca)
		return;
	KUNIT_EXPECT_EQ(test, domains, 0);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(hca), 0);
	fake_hca_destroy(hca);
	hca = NULL;
}

struct listener {
	int events;
	struct ib_qp *qp;	/* that the last event named */
};

static void on_event(struct ib_event *event, void *context)
{
	struct listener *l = context;

	l->events++;
	l->qp = event->element.qp;
}

static struct ib_qp *create(struct listener *l)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_XRC_TGT, .xrcd = xrcd,
		.event_handler = l ? on_event : NULL, .qp_context = l,
	};

	return ib_create_qp_user(&hca->ibdev, NULL, &init, &udata, NULL, NULL);
}

static struct ib_qp *open(u32 qpn, struct listener *l)
{
	struct ib_qp_open_attr attr = {
		.qp_num = qpn, .qp_type = IB_QPT_XRC_TGT,
		.event_handler = l ? on_event : NULL, .qp_context = l,
	};

	return ib_open_qp(xrcd, &attr);
}

static void a_domain_in_use_stays(struct kunit *test)
{
	struct ib_qp *qp = create(NULL);

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	KUNIT_EXPECT_EQ(test, atomic_read(&xrcd->usecnt), 1);
	KUNIT_EXPECT_EQ(test, ib_dealloc_xrcd_user(xrcd, &udata), -EBUSY);
	/* The QP is a handle; the real QP behind it has neither a PD nor CQs. */
	KUNIT_EXPECT_PTR_NE(test, qp->real_qp, qp);
	KUNIT_EXPECT_NULL(test, qp->real_qp->pd);
	KUNIT_EXPECT_NULL(test, qp->real_qp->send_cq);
	KUNIT_EXPECT_EQ(test, ib_destroy_qp_user(qp, &udata), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&xrcd->usecnt), 0);
	/* A domain that the provider refuses to free stays. */
	domain_result = -EIO;
	KUNIT_EXPECT_EQ(test, ib_dealloc_xrcd_user(xrcd, &udata), -EIO);
}

static void a_device_has_to_offer_domains(struct kunit *test)
{
	domain_result = -ENOSPC;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_alloc_xrcd_user(&hca->ibdev, NULL,
								 &udata)), -ENOSPC);
	domain_result = 0;
	hca->ibdev.ops.alloc_xrcd = NULL;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_alloc_xrcd_user(&hca->ibdev, NULL,
								 &udata)), -EOPNOTSUPP);
}

static void the_last_handle_takes_the_queue_with_it(struct kunit *test)
{
	struct ib_qp *first = create(NULL), *second, *third, *real;

	KUNIT_ASSERT_FALSE(test, IS_ERR(first));
	real = first->real_qp;
	second = open(first->qp_num, NULL);
	third = open(first->qp_num, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(second) || IS_ERR(third));
	KUNIT_EXPECT_PTR_EQ(test, second->real_qp, real);
	KUNIT_EXPECT_EQ(test, second->qp_type, IB_QPT_XRC_TGT);
	KUNIT_EXPECT_EQ(test, atomic_read(&real->usecnt), 3);
	/* All handles together count as one use of the domain. */
	KUNIT_EXPECT_EQ(test, atomic_read(&xrcd->usecnt), 1);
	/* The creator need not be the last to close. */
	KUNIT_EXPECT_EQ(test, ib_destroy_qp_user(first, &udata), 0);
	KUNIT_EXPECT_EQ(test, ib_close_qp(third), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_QP]), 1);
	KUNIT_EXPECT_EQ(test, ib_close_qp(second), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_QP]), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&xrcd->usecnt), 0);
}

static void only_a_target_queue_of_the_domain_is_opened(struct kunit *test)
{
	struct ib_qp_open_attr attr = { .qp_type = IB_QPT_RC };
	struct ib_qp *qp = create(NULL);
	struct ib_qp_init_attr init = { .qp_type = IB_QPT_XRC_TGT };

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	attr.qp_num = qp->qp_num;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_open_qp(xrcd, &attr)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(open(qp->qp_num + 1, NULL)), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_close_qp(qp->real_qp), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_close_qp(qp), 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_create_qp_user(&hca->ibdev, NULL, &init,
								&udata, NULL, NULL)), -EINVAL);
}

/* In-tree the event was left pointing at the head of the list of handles. */
static void an_event_names_each_handle_to_its_owner(struct kunit *test)
{
	struct listener a = {}, b = {};
	struct ib_qp *first = create(&a), *second, *deaf;
	struct ib_event event = { .device = &hca->ibdev, .event = IB_EVENT_COMM_EST };
	struct ib_qp *real;

	KUNIT_ASSERT_FALSE(test, IS_ERR(first));
	real = first->real_qp;
	second = open(first->qp_num, &b);
	deaf = open(first->qp_num, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(second) || IS_ERR(deaf));
	event.element.qp = real;
	real->event_handler(&event, real->qp_context);
	KUNIT_EXPECT_EQ(test, a.events, 1);
	KUNIT_EXPECT_EQ(test, b.events, 1);
	KUNIT_EXPECT_PTR_EQ(test, a.qp, first);
	KUNIT_EXPECT_PTR_EQ(test, b.qp, second);
	KUNIT_EXPECT_PTR_EQ(test, event.element.qp, real);
	/* A closed handle gets no event. */
	KUNIT_EXPECT_EQ(test, ib_close_qp(first), 0);
	real->event_handler(&event, real->qp_context);
	KUNIT_EXPECT_EQ(test, a.events, 1);
	KUNIT_EXPECT_EQ(test, b.events, 2);
	ib_close_qp(second);
	ib_close_qp(deaf);
}

/* A process may exit with thousands of handles. */
static void closing_waits_for_no_grace_period(struct kunit *test)
{
	struct ib_qp *first = create(NULL), *handle[8];
	unsigned long before;
	int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(first));
	for (i = 0; i < ARRAY_SIZE(handle); i++) {
		handle[i] = open(first->qp_num, NULL);
		KUNIT_ASSERT_FALSE(test, IS_ERR(handle[i]));
	}
	before = get_state_synchronize_rcu();
	for (i = 0; i < ARRAY_SIZE(handle); i++)
		KUNIT_EXPECT_EQ(test, ib_close_qp(handle[i]), 0);
	KUNIT_EXPECT_FALSE(test, poll_state_synchronize_rcu(before));
	KUNIT_EXPECT_EQ(test, ib_close_qp(first), 0);
}

static void a_handle_stands_for_the_queue(struct kunit *test)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1 };
	struct ib_qp_init_attr init;
	struct ib_qp *qp = create(NULL);

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	KUNIT_EXPECT_EQ(test, ib_modify_qp_with_udata(qp, &attr, RC_INIT, &udata), 0);
	KUNIT_EXPECT_EQ(test, qp->real_qp->port, 1);
	KUNIT_EXPECT_EQ(test, ib_query_qp(qp, &attr, IB_QP_STATE, &init), 0);
	KUNIT_EXPECT_EQ(test, attr.qp_state, IB_QPS_INIT);
	KUNIT_EXPECT_EQ(test, ib_close_qp(qp), 0);
}

/* In-tree a failed create left the domain in use forever. */
static void a_queue_that_fails_leaves_the_domain(struct kunit *test)
{
	atomic_set(&hca->fail_create[FAKE_QP], 1);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(create(NULL)), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&xrcd->usecnt), 0);
}

/* In-tree the QP had left the domain before its destroy failed. */
static void a_destroy_that_is_refused_leaves_the_handle(struct kunit *test)
{
	struct ib_qp *qp = create(NULL), *again;

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	atomic_set(&hca->fail_destroy[FAKE_QP], 1);
	KUNIT_EXPECT_EQ(test, ib_destroy_qp_user(qp, &udata), -EIO);
	KUNIT_EXPECT_EQ(test, atomic_read(&xrcd->usecnt), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->real_qp->usecnt), 1);
	again = open(qp->qp_num, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(again));
	KUNIT_EXPECT_EQ(test, ib_close_qp(again), 0);
	KUNIT_EXPECT_EQ(test, ib_destroy_qp_user(qp, &udata), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&xrcd->usecnt), 0);
}

static int xrc_once(struct kunit *test)
{
	struct ib_xrcd *before = xrcd;
	struct ib_qp *qp, *other;
	int ret;

	xrcd = ib_alloc_xrcd_user(&hca->ibdev, NULL, &udata);
	if (IS_ERR(xrcd)) {
		ret = PTR_ERR(xrcd);
		xrcd = before;
		return ret;
	}
	qp = create(NULL);
	ret = PTR_ERR_OR_ZERO(qp);
	if (!ret) {
		other = open(qp->qp_num, NULL);
		ret = PTR_ERR_OR_ZERO(other);
		if (!ret)
			ib_close_qp(other);
		ib_close_qp(qp);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&xrcd->usecnt), 0);
	KUNIT_EXPECT_EQ(test, ib_dealloc_xrcd_user(xrcd, &udata), 0);
	xrcd = before;
	return ret;
}

static void handles_survive_each_failed_allocation(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, xrc_once), 4u);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(hca), 0);
}

struct opener {
	u32 qpn;
	bool stop;
	atomic_t opened;
	struct completion done;
};

static int open_fn(void *arg)
{
	struct opener *op = arg;
	struct ib_qp *qp;

	while (!READ_ONCE(op->stop)) {
		qp = open(READ_ONCE(op->qpn), NULL);
		if (!IS_ERR(qp)) {
			atomic_inc(&op->opened);
			usleep_range(1000, 2000);
			ib_close_qp(qp);
		}
		usleep_range(1000, 2000);
	}
	complete(&op->done);
	return 0;
}

/* The last close destroys the QP; a QP that is being destroyed cannot be opened. */
static void opening_meets_closing(struct kunit *test)
{
	struct opener op = {};
	struct ib_qp *qp;
	int i;

	init_completion(&op.done);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(open_fn, &op, "xrc_open")));
	for (i = 0; i < 30; i++) {
		qp = create(NULL);
		if (IS_ERR(qp))
			break;
		WRITE_ONCE(op.qpn, qp->qp_num);
		usleep_range(3000, 4000 + i * 100);
		KUNIT_EXPECT_EQ(test, ib_close_qp(qp), 0);
	}
	WRITE_ONCE(op.stop, true);
	wait_for_completion(&op.done);
	KUNIT_EXPECT_GT(test, atomic_read(&op.opened), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&xrcd->usecnt), 0);
}

static struct kunit_case xrcd_cases[] = {
	KUNIT_CASE(a_domain_in_use_stays),
	KUNIT_CASE(a_device_has_to_offer_domains),
	KUNIT_CASE(the_last_handle_takes_the_queue_with_it),
	KUNIT_CASE(only_a_target_queue_of_the_domain_is_opened),
	KUNIT_CASE(an_event_names_each_handle_to_its_owner),
	KUNIT_CASE(closing_waits_for_no_grace_period),
	KUNIT_CASE(a_handle_stands_for_the_queue),
	KUNIT_CASE(a_queue_that_fails_leaves_the_domain),
	KUNIT_CASE(a_destroy_that_is_refused_leaves_the_handle),
	KUNIT_CASE(handles_survive_each_failed_allocation),
	KUNIT_CASE(opening_meets_closing),
	{}
};

static struct kunit_suite ibcore_xrcd_suite = {
	.name = "ib_core_xrcd",
	.init = xrcd_test_init,
	.exit = xrcd_test_exit,
	.test_cases = xrcd_cases,
};

kunit_test_suite(ibcore_xrcd_suite);
