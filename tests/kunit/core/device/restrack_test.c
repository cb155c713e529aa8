// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Resource tracking: how objects are found, and who waits for whom. */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>
#include <ibex/restrack.h>
#include <rdma/rdma_cm.h>
#include "core/netlink/nl.h"

static const struct fake_hca_params ib_params = {
	.link_layer = IB_LINK_LAYER_INFINIBAND,
	.ports = 2,
};

static struct fake_hca *hca;

static int restrack_test_init(struct kunit *test)
{
	int ret;

	hca = fake_hca_alloc(&ib_params);
	if (!hca)
		return -ENOMEM;
	hca->quirks.no_fast_reg = false;	/* the tests track MRs, too */
	ret = fake_hca_register(hca);
	if (ret) {
		fake_hca_free(hca);
		hca = NULL;
	}
	return ret;
}

static void restrack_test_exit(struct kunit *test)
{
	if (hca)
		fake_hca_destroy(hca);
	hca = NULL;
}

/* Objects that no provider knows: they are only tracked. */
static struct ib_pd *new_pd(struct kunit *test)
{
	struct ib_pd *pd = kunit_kzalloc(test, sizeof(*pd), GFP_KERNEL);

	pd->device = &hca->ibdev;
	rdma_restrack_new(&pd->res, RDMA_RESTRACK_PD);
	rdma_restrack_set_name(&pd->res, "test");
	return pd;
}

static struct ib_qp *new_qp(struct kunit *test, u32 qp_num, enum ib_qp_type type)
{
	struct ib_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);

	qp->device = &hca->ibdev;
	qp->qp_num = qp_num;
	qp->qp_type = type;
	rdma_restrack_new(&qp->res, RDMA_RESTRACK_QP);
	rdma_restrack_set_name(&qp->res, "test");
	return qp;
}

/* The entry with that ID, no longer referenced, or NULL. */
static struct rdma_restrack_entry *find(enum rdma_restrack_type type, u32 id)
{
	struct rdma_restrack_entry *res = rdma_restrack_get_byid(&hca->ibdev, type, id);

	if (IS_ERR(res))
		return NULL;
	rdma_restrack_put(res);
	return res;
}

static int count(enum rdma_restrack_type type)
{
	return rdma_restrack_count(&hca->ibdev, type, true);
}

static void an_object_is_found_from_add_to_del(struct kunit *test)
{
	struct ib_pd *pd = new_pd(test);

	KUNIT_EXPECT_EQ(test, count(RDMA_RESTRACK_PD), 0);
	KUNIT_EXPECT_FALSE(test, pd->res.valid);
	rdma_restrack_add(&pd->res);
	KUNIT_EXPECT_TRUE(test, pd->res.valid);
	KUNIT_EXPECT_EQ(test, count(RDMA_RESTRACK_PD), 1);
	KUNIT_EXPECT_PTR_EQ(test, find(RDMA_RESTRACK_PD, pd->res.id), &pd->res);
	KUNIT_EXPECT_NULL(test, find(RDMA_RESTRACK_CQ, pd->res.id));
	KUNIT_EXPECT_NULL(test, find(RDMA_RESTRACK_PD, pd->res.id + 1));
	rdma_restrack_del(&pd->res);
	KUNIT_EXPECT_FALSE(test, pd->res.valid);
	KUNIT_EXPECT_NULL(test, find(RDMA_RESTRACK_PD, pd->res.id));
	KUNIT_EXPECT_EQ(test, count(RDMA_RESTRACK_PD), 0);
	KUNIT_EXPECT_EQ(test, rdma_restrack_get(&pd->res), 0);
}

/* Otherwise userspace could take a new object for the old one. */
static void a_number_does_not_come_back_at_once(struct kunit *test)
{
	struct ib_pd *a = new_pd(test), *b = new_pd(test);

	rdma_restrack_add(&a->res);
	rdma_restrack_del(&a->res);
	rdma_restrack_add(&b->res);
	KUNIT_EXPECT_NE(test, a->res.id, b->res.id);
	rdma_restrack_del(&b->res);
}

static void a_failed_destruction_shows_the_object_again(struct kunit *test)
{
	struct ib_pd *pd = new_pd(test);
	u32 id;

	rdma_restrack_add(&pd->res);
	id = pd->res.id;
	rdma_restrack_begin_del(&pd->res);
	KUNIT_EXPECT_NULL(test, find(RDMA_RESTRACK_PD, id));
	KUNIT_EXPECT_EQ(test, count(RDMA_RESTRACK_PD), 0);
	rdma_restrack_abort_del(&pd->res);
	KUNIT_EXPECT_PTR_EQ(test, find(RDMA_RESTRACK_PD, id), &pd->res);
	KUNIT_EXPECT_EQ(test, pd->res.id, id);
	KUNIT_EXPECT_EQ(test, count(RDMA_RESTRACK_PD), 1);
	rdma_restrack_del(&pd->res);
	KUNIT_EXPECT_NULL(test, find(RDMA_RESTRACK_PD, id));
}

/* Without readers the QP's refcount alone hides it. */
static void a_failed_destruction_shows_the_qp_again(struct kunit *test)
{
	struct ib_qp *qp = new_qp(test, 0x53, IB_QPT_RC);

	rdma_restrack_add(&qp->res);
	rdma_restrack_begin_del(&qp->res);
	KUNIT_EXPECT_NULL(test, find(RDMA_RESTRACK_QP, 0x53));
	KUNIT_EXPECT_EQ(test, rdma_restrack_get(&qp->res), 0);
	KUNIT_EXPECT_EQ(test, count(RDMA_RESTRACK_QP), 0);
	rdma_restrack_abort_del(&qp->res);
	KUNIT_EXPECT_PTR_EQ(test, find(RDMA_RESTRACK_QP, 0x53), &qp->res);
	KUNIT_EXPECT_EQ(test, count(RDMA_RESTRACK_QP), 1);
	rdma_restrack_begin_del(&qp->res);
	rdma_restrack_commit_del(&qp->res);
	KUNIT_EXPECT_NULL(test, find(RDMA_RESTRACK_QP, 0x53));
	KUNIT_EXPECT_EQ(test, count(RDMA_RESTRACK_QP), 0);
}

/* The hardware may reuse a QP number before the old QP's entry is removed. */
static void a_reused_qp_number_is_of_the_new_qp(struct kunit *test)
{
	struct ib_qp *old = new_qp(test, 0x50, IB_QPT_RC);
	struct ib_qp *new = new_qp(test, 0x50, IB_QPT_RC);

	rdma_restrack_add(&old->res);
	rdma_restrack_begin_del(&old->res);
	rdma_restrack_add(&new->res);
	KUNIT_EXPECT_TRUE(test, new->res.valid);
	KUNIT_EXPECT_PTR_EQ(test, find(RDMA_RESTRACK_QP, 0x50), &new->res);
	rdma_restrack_commit_del(&old->res);
	KUNIT_EXPECT_PTR_EQ(test, find(RDMA_RESTRACK_QP, 0x50), &new->res);
	KUNIT_EXPECT_EQ(test, count(RDMA_RESTRACK_QP), 1);
	rdma_restrack_del(&new->res);
	KUNIT_EXPECT_NULL(test, find(RDMA_RESTRACK_QP, 0x50));
	KUNIT_EXPECT_EQ(test, count(RDMA_RESTRACK_QP), 0);
}

/* Likewise, when the new QP's destruction is under way before the old one's ends. */
static void a_reused_qp_number_may_be_given_up_first(struct kunit *test)
{
	struct ib_qp *old = new_qp(test, 0x51, IB_QPT_RC);
	struct ib_qp *new = new_qp(test, 0x51, IB_QPT_RC);
	struct ib_qp *third = new_qp(test, 0x51, IB_QPT_RC);

	rdma_restrack_add(&old->res);
	rdma_restrack_begin_del(&old->res);
	rdma_restrack_add(&new->res);
	rdma_restrack_begin_del(&new->res);
	rdma_restrack_commit_del(&old->res);
	rdma_restrack_abort_del(&new->res);
	KUNIT_EXPECT_PTR_EQ(test, find(RDMA_RESTRACK_QP, 0x51), &new->res);
	rdma_restrack_del(&new->res);
	rdma_restrack_add(&third->res);
	KUNIT_EXPECT_PTR_EQ(test, find(RDMA_RESTRACK_QP, 0x51), &third->res);
	rdma_restrack_del(&third->res);
	KUNIT_EXPECT_EQ(test, count(RDMA_RESTRACK_QP), 0);
}

static struct test_objects o;
static struct ib_qp *reborn;
static int (*real_destroy_qp)(struct ib_qp *qp, struct ib_udata *udata);

/* Like hardware that can reuse the number before the verb returns. */
static int destroy_and_create(struct ib_qp *qp, struct ib_udata *udata)
{
	struct ib_qp_init_attr init = {
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.qp_type = IB_QPT_RC, .send_cq = o.cq, .recv_cq = o.cq,
	};
	int ret = real_destroy_qp(qp, udata);

	if (!ret && !reborn)
		reborn = ib_create_qp(o.pd, &init);
	return ret;
}

static void a_qp_created_while_another_is_destroyed(struct kunit *test)
{
	u32 qp_num;

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 1, false, IB_QPT_RC), 0);
	qp_num = o.qp[0]->qp_num;
	real_destroy_qp = hca->ibdev.ops.destroy_qp;
	hca->ibdev.ops.destroy_qp = destroy_and_create;
	reborn = NULL;
	o.nr_qps = 0;
	KUNIT_EXPECT_EQ(test, ib_destroy_qp(o.qp[0]), 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(reborn));
	KUNIT_EXPECT_EQ(test, reborn->qp_num, qp_num);
	KUNIT_EXPECT_PTR_EQ(test, find(RDMA_RESTRACK_QP, qp_num), &reborn->res);
	hca->ibdev.ops.destroy_qp = real_destroy_qp;
	ib_destroy_qp(reborn);
	KUNIT_EXPECT_NULL(test, find(RDMA_RESTRACK_QP, qp_num));
	test_objects_destroy(&o);
}

/* A number that is in use twice is a driver's fault; the first QP keeps it. */
static void a_taken_number_leaves_the_second_untracked(struct kunit *test)
{
	struct ib_qp *a = new_qp(test, 0x52, IB_QPT_RC), *b = new_qp(test, 0x52, IB_QPT_RC);

	rdma_restrack_add(&a->res);
	rdma_restrack_add(&b->res);
	KUNIT_EXPECT_FALSE(test, b->res.valid);
	rdma_restrack_del(&b->res);
	KUNIT_EXPECT_PTR_EQ(test, find(RDMA_RESTRACK_QP, 0x52), &a->res);
	rdma_restrack_del(&a->res);
	KUNIT_EXPECT_EQ(test, count(RDMA_RESTRACK_QP), 0);
}

/* Each port has a QP0 and a QP1, so their numbers include the port. */
static void special_qps_are_numbered_by_port(struct kunit *test)
{
	struct ib_qp *qp[4];
	int i;

	for (i = 0; i < 4; i++) {
		qp[i] = new_qp(test, i & 1, i & 1 ? IB_QPT_GSI : IB_QPT_SMI);
		qp[i]->port = 1 + i / 2;
		rdma_restrack_add(&qp[i]->res);
	}
	KUNIT_EXPECT_EQ(test, count(RDMA_RESTRACK_QP), 4);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_PTR_EQ(test, find(RDMA_RESTRACK_QP,
					       (i & 1) | (1 + i / 2) << 24), &qp[i]->res);
		rdma_restrack_del(&qp[i]->res);
	}
}

static void drivers_own_qps_count_apart(struct kunit *test)
{
	struct ib_qp *dd = new_qp(test, 0x60, IB_QPT_DRIVER);
	struct ib_qp *qp = new_qp(test, 0x61, IB_QPT_RC);

	rdma_restrack_add(&dd->res);
	rdma_restrack_add(&qp->res);
	KUNIT_EXPECT_EQ(test, rdma_restrack_count(&hca->ibdev, RDMA_RESTRACK_QP, false), 1);
	KUNIT_EXPECT_EQ(test, rdma_restrack_count(&hca->ibdev, RDMA_RESTRACK_QP, true), 2);
	rdma_restrack_sync(&dd->res);
	KUNIT_EXPECT_EQ(test, rdma_restrack_count(&hca->ibdev, RDMA_RESTRACK_QP, false), 1);
	rdma_restrack_del(&dd->res);
	KUNIT_EXPECT_EQ(test, rdma_restrack_count(&hca->ibdev, RDMA_RESTRACK_QP, true), 1);
	rdma_restrack_del(&qp->res);
}

static void a_reused_number_need_not_be_a_drivers_own_again(struct kunit *test)
{
	struct ib_qp *dd = new_qp(test, 0x62, IB_QPT_DRIVER);
	struct ib_qp *qp = new_qp(test, 0x62, IB_QPT_RC);

	rdma_restrack_add(&dd->res);
	rdma_restrack_begin_del(&dd->res);
	rdma_restrack_add(&qp->res);
	rdma_restrack_commit_del(&dd->res);
	KUNIT_EXPECT_EQ(test, rdma_restrack_count(&hca->ibdev, RDMA_RESTRACK_QP, false), 1);
	rdma_restrack_del(&qp->res);
	KUNIT_EXPECT_EQ(test, rdma_restrack_count(&hca->ibdev, RDMA_RESTRACK_QP, false), 0);
}

static void what_is_not_to_be_tracked_is_not(struct kunit *test)
{
	struct ib_qp *qp = new_qp(test, 0x70, IB_QPT_RC);

	rdma_restrack_no_track(&qp->res);
	rdma_restrack_add(&qp->res);
	KUNIT_EXPECT_NULL(test, find(RDMA_RESTRACK_QP, 0x70));
	KUNIT_EXPECT_EQ(test, count(RDMA_RESTRACK_QP), 0);
	rdma_restrack_begin_del(&qp->res);
	rdma_restrack_abort_del(&qp->res);
	rdma_restrack_del(&qp->res);
	KUNIT_EXPECT_EQ(test, count(RDMA_RESTRACK_QP), 0);
}

/* A CM_ID that listens on the wildcard address has no device, and so no table. */
static void an_object_without_a_device_is_left_out(struct kunit *test)
{
	struct rdma_restrack_cm_id *track = kunit_kzalloc(test, sizeof(*track), GFP_KERNEL);
	struct rdma_cm_id *id = kunit_kzalloc(test, sizeof(*id), GFP_KERNEL);
	unsigned int refs = refcount_read(&current->group_leader->usage);

	track->id = id;
	rdma_restrack_new(&track->res, RDMA_RESTRACK_CM_ID);
	rdma_restrack_set_name(&track->res, NULL);
	KUNIT_EXPECT_EQ(test, refcount_read(&current->group_leader->usage), refs + 1);
	rdma_restrack_add(&track->res);
	KUNIT_EXPECT_FALSE(test, track->res.valid);
	rdma_restrack_del(&track->res);
	KUNIT_EXPECT_EQ(test, refcount_read(&current->group_leader->usage), refs);
}

/* ---- owners ---- */

static void an_owner_is_referenced_for_as_long_as_it_is_named(struct kunit *test)
{
	unsigned int refs = refcount_read(&current->group_leader->usage);
	struct ib_pd *parent = new_pd(test), *child = new_pd(test), *kern = new_pd(test);

	KUNIT_EXPECT_TRUE(test, rdma_is_kernel_res(&parent->res));
	rdma_restrack_parent_name(&kern->res, &parent->res);
	KUNIT_EXPECT_STREQ(test, kern->res.kern_name, "test");
	rdma_restrack_set_name(&parent->res, NULL);
	KUNIT_EXPECT_FALSE(test, rdma_is_kernel_res(&parent->res));
	rdma_restrack_parent_name(&child->res, &parent->res);
	KUNIT_EXPECT_PTR_EQ(test, child->res.task, current->group_leader);
	KUNIT_EXPECT_EQ(test, refcount_read(&current->group_leader->usage), refs + 2);
	/* Naming the entry again puts the old owner. */
	rdma_restrack_parent_name(&child->res, &parent->res);
	KUNIT_EXPECT_EQ(test, refcount_read(&current->group_leader->usage), refs + 2);
	/* The last put of an object that was never added puts its owner. */
	rdma_restrack_put(&child->res);
	KUNIT_EXPECT_EQ(test, refcount_read(&current->group_leader->usage), refs + 1);
	rdma_restrack_add(&parent->res);
	rdma_restrack_del(&parent->res);
	KUNIT_EXPECT_EQ(test, refcount_read(&current->group_leader->usage), refs);
}

static void without_memory_an_object_is_untracked_and_works(struct kunit *test)
{
	unsigned int refs = refcount_read(&current->group_leader->usage);
	struct ib_qp *qp = new_qp(test, 0x80, IB_QPT_RC);
	struct ib_pd *pd[2];
	int i;

	for (i = 0; i < 2; i++) {
		pd[i] = new_pd(test);
		rdma_restrack_set_name(&pd[i]->res, NULL);
	}
	/* The first entry of an XArray needs no allocation. */
	rdma_restrack_add(&pd[0]->res);
	KUNIT_ASSERT_EQ(test, no_memory_begin(), 0);
	rdma_restrack_add(&pd[1]->res);
	rdma_restrack_add(&qp->res);
	no_memory_end();
	KUNIT_EXPECT_FALSE(test, pd[1]->res.valid);
	KUNIT_EXPECT_FALSE(test, qp->res.valid);
	KUNIT_EXPECT_EQ(test, count(RDMA_RESTRACK_PD), 1);
	KUNIT_EXPECT_EQ(test, count(RDMA_RESTRACK_QP), 0);
	rdma_restrack_begin_del(&pd[1]->res);
	rdma_restrack_abort_del(&pd[1]->res);
	rdma_restrack_del(&pd[1]->res);
	rdma_restrack_del(&pd[0]->res);
	rdma_restrack_del(&qp->res);
	KUNIT_EXPECT_EQ(test, refcount_read(&current->group_leader->usage), refs);
}

/* ---- copies ---- */

/*
 * A provider may free the MR and end its entry by a copy: the copy's reference count and
 * completion are mere bytes, and not even their list heads are valid.
 */
static void a_copy_ends_the_entry_of_what_was_freed(struct kunit *test)
{
	unsigned int refs = refcount_read(&current->group_leader->usage);
	struct ib_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	struct ib_mr *copy = kunit_kzalloc(test, sizeof(*copy), GFP_KERNEL);
	struct ib_mr *next = kunit_kzalloc(test, sizeof(*next), GFP_KERNEL);
	u32 id;

	KUNIT_ASSERT_NOT_NULL(test, mr);
	mr->device = &hca->ibdev;
	rdma_restrack_new(&mr->res, RDMA_RESTRACK_MR);
	rdma_restrack_set_name(&mr->res, NULL);
	rdma_restrack_add(&mr->res);
	id = mr->res.id;
	rdma_restrack_begin_del(&mr->res);
	*copy = *mr;
	memset(&copy->res.kref, 0x5a, sizeof(copy->res.kref));
	memset(&copy->res.comp, 0x5a, sizeof(copy->res.comp));
	kfree(mr);
	rdma_restrack_commit_del(&copy->res);
	KUNIT_EXPECT_EQ(test, refcount_read(&current->group_leader->usage), refs);
	KUNIT_EXPECT_NULL(test, find(RDMA_RESTRACK_MR, id));
	/* The slot is free: walks find nothing there, and an entry can use it. */
	next->device = &hca->ibdev;
	rdma_restrack_new(&next->res, RDMA_RESTRACK_MR);
	rdma_restrack_set_name(&next->res, "test");
	rdma_restrack_add(&next->res);
	KUNIT_EXPECT_EQ(test, count(RDMA_RESTRACK_MR), 1);
	rdma_restrack_del(&next->res);
}

static void an_mr_that_its_provider_keeps_stays_visible(struct kunit *test)
{
	struct ib_mr *mr;
	u32 id;

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 0, false, IB_QPT_RC), 0);
	mr = ib_alloc_mr(o.pd, IB_MR_TYPE_MEM_REG, 4);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	id = mr->res.id;
	atomic_set(&hca->fail_destroy[FAKE_MR], 1);
	KUNIT_EXPECT_EQ(test, ib_dereg_mr(mr), -EIO);
	KUNIT_EXPECT_PTR_EQ(test, find(RDMA_RESTRACK_MR, id), &mr->res);
	KUNIT_EXPECT_EQ(test, ib_dereg_mr(mr), 0);
	KUNIT_EXPECT_NULL(test, find(RDMA_RESTRACK_MR, id));
	test_objects_destroy(&o);
}

/* ---- readers ---- */

struct reader {
	struct rdma_restrack_entry *res;
	struct completion done;
	atomic_t phase;		/* 1: holds the entry; 2: about to put it */
};

static int read_for_long(void *arg)
{
	struct reader *r = arg;

	WARN_ON(!rdma_restrack_get(r->res));
	atomic_set(&r->phase, 1);
	msleep(500);
	atomic_set(&r->phase, 2);
	rdma_restrack_put(r->res);
	complete(&r->done);
	return 0;
}

static void start_reader(struct kunit *test, struct reader *r,
			 struct rdma_restrack_entry *res)
{
	r->res = res;
	init_completion(&r->done);
	atomic_set(&r->phase, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(read_for_long, r, "reader")));
	KUNIT_ASSERT_TRUE(test, wait_until(atomic_read(&r->phase) == 1));
}

static void destruction_waits_for_readers(struct kunit *test)
{
	struct reader *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	struct ib_pd *pd = new_pd(test);

	rdma_restrack_add(&pd->res);
	start_reader(test, r, &pd->res);
	rdma_restrack_begin_del(&pd->res);
	KUNIT_EXPECT_EQ(test, atomic_read(&r->phase), 2);
	wait_for_completion(&r->done);
	rdma_restrack_commit_del(&pd->res);
}

static void the_destruction_of_a_qp_waits_for_readers(struct kunit *test)
{
	struct reader *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	struct ib_qp *qp = new_qp(test, 0x54, IB_QPT_RC);

	rdma_restrack_add(&qp->res);
	start_reader(test, r, &qp->res);
	rdma_restrack_begin_del(&qp->res);
	KUNIT_EXPECT_EQ(test, atomic_read(&r->phase), 2);
	wait_for_completion(&r->done);
	KUNIT_EXPECT_NULL(test, find(RDMA_RESTRACK_QP, 0x54));
	/* A slot that stays is reported when the device is released. */
	rdma_restrack_commit_del(&qp->res);
}

static void removal_waits_for_readers(struct kunit *test)
{
	struct reader *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	struct ib_pd *pd = new_pd(test);

	rdma_restrack_add(&pd->res);
	start_reader(test, r, &pd->res);
	rdma_restrack_del(&pd->res);
	KUNIT_EXPECT_EQ(test, atomic_read(&r->phase), 2);
	KUNIT_EXPECT_EQ(test, count(RDMA_RESTRACK_PD), 0);
	wait_for_completion(&r->done);
}

/* An MR that moves to another PD needs this: readers of the old PD have finished. */
static void a_sync_waits_for_readers_and_keeps_the_entry(struct kunit *test)
{
	struct reader *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	struct ib_pd *pd = new_pd(test);
	u32 id;

	rdma_restrack_add(&pd->res);
	id = pd->res.id;
	start_reader(test, r, &pd->res);
	rdma_restrack_sync(&pd->res);
	KUNIT_EXPECT_EQ(test, atomic_read(&r->phase), 2);
	KUNIT_EXPECT_PTR_EQ(test, find(RDMA_RESTRACK_PD, id), &pd->res);
	wait_for_completion(&r->done);
	rdma_restrack_del(&pd->res);
}

#define RACERS 3
static bool stop_racing;
static atomic_t racers, hits;

static int race_lookups(void *arg)
{
	struct rdma_restrack_entry *res;
	u32 id;

	while (!READ_ONCE(stop_racing)) {
		for (id = 0x100; id < 0x108; id++) {
			res = rdma_restrack_get_byid(&hca->ibdev, RDMA_RESTRACK_QP, id);
			if (IS_ERR(res))
				continue;
			atomic_inc(&hits);
			usleep_range(1, 5);
			WARN_ON(container_of(res, struct ib_qp, res)->qp_num != id);
			rdma_restrack_put(res);
		}
		cond_resched();
		usleep_range(1, 5);
	}
	atomic_dec(&racers);
	return 0;
}

/* Each QP is freed as soon as its entry has ended, so KASAN reports a late reader. */
static void lookups_race_with_deletion(struct kunit *test)
{
	struct ib_qp *qp;
	int i;

	stop_racing = false;
	atomic_set(&hits, 0);
	for (i = 0; i < RACERS; i++) {
		atomic_inc(&racers);
		KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(race_lookups, NULL, "racer")));
	}
	for (i = 0; i < 500; i++) {
		qp = kzalloc(sizeof(*qp), GFP_KERNEL | __GFP_NOFAIL);
		qp->device = &hca->ibdev;
		qp->qp_num = 0x100 + i % 8;
		qp->qp_type = IB_QPT_RC;
		rdma_restrack_new(&qp->res, RDMA_RESTRACK_QP);
		rdma_restrack_set_name(&qp->res, i & 1 ? NULL : "test");
		rdma_restrack_add(&qp->res);
		usleep_range(1, 10);
		if (i % 3 == 0)
			rdma_restrack_sync(&qp->res);
		rdma_restrack_del(&qp->res);
		kfree(qp);
	}
	WRITE_ONCE(stop_racing, true);
	KUNIT_EXPECT_TRUE(test, wait_until(!atomic_read(&racers)));
	KUNIT_EXPECT_GT(test, atomic_read(&hits), 50);
	KUNIT_EXPECT_EQ(test, count(RDMA_RESTRACK_QP), 0);
}

static struct kunit_case restrack_cases[] = {
	KUNIT_CASE(an_object_is_found_from_add_to_del),
	KUNIT_CASE(a_number_does_not_come_back_at_once),
	KUNIT_CASE(a_failed_destruction_shows_the_object_again),
	KUNIT_CASE(a_failed_destruction_shows_the_qp_again),
	KUNIT_CASE(a_reused_qp_number_is_of_the_new_qp),
	KUNIT_CASE(a_reused_qp_number_may_be_given_up_first),
	KUNIT_CASE(a_qp_created_while_another_is_destroyed),
	KUNIT_CASE(a_taken_number_leaves_the_second_untracked),
	KUNIT_CASE(special_qps_are_numbered_by_port),
	KUNIT_CASE(drivers_own_qps_count_apart),
	KUNIT_CASE(a_reused_number_need_not_be_a_drivers_own_again),
	KUNIT_CASE(what_is_not_to_be_tracked_is_not),
	KUNIT_CASE(an_object_without_a_device_is_left_out),
	KUNIT_CASE(an_owner_is_referenced_for_as_long_as_it_is_named),
	KUNIT_CASE(without_memory_an_object_is_untracked_and_works),
	KUNIT_CASE(a_copy_ends_the_entry_of_what_was_freed),
	KUNIT_CASE(an_mr_that_its_provider_keeps_stays_visible),
	KUNIT_CASE(destruction_waits_for_readers),
	KUNIT_CASE(the_destruction_of_a_qp_waits_for_readers),
	KUNIT_CASE(removal_waits_for_readers),
	KUNIT_CASE(a_sync_waits_for_readers_and_keeps_the_entry),
	KUNIT_CASE_SLOW(lookups_race_with_deletion),
	{}
};

static struct kunit_suite ibcore_restrack_suite = {
	.name = "ib_core_restrack",
	.init = restrack_test_init,
	.exit = restrack_test_exit,
	.test_cases = restrack_cases,
};

kunit_test_suite(ibcore_restrack_suite);
