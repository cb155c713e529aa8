// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Queue pairs: uses, paths, events, readers during their destruction. */
#include <kunit/test.h>
#include <linux/kthread.h>
#include <rdma/ib_cache.h>
#include <rdma/restrack.h>
#include "faults.h"
#include "core/objects.h"

#define QP_NET		89

static struct fake_hca *hca;
static struct objects o;
static const struct ib_gid_attr *gid[2];

static int qp_test_init(struct kunit *test)
{
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND, .ports = 2,
	};
	int i;

	hca = fake_hca_alloc(&params);
	if (!hca)
		return -ENOMEM;
	hca->port[1].gids[1].raw[0] = 0x77;
	if (fake_hca_register(hca)) {
		fake_hca_free(hca);
		hca = NULL;
		return -ENOMEM;
	}
	for (i = 0; i < 2; i++)
		gid[i] = rdma_get_gid_attr(&hca->ibdev, 1, i);
	return objects_get(&o, hca, IB_POLL_SOFTIRQ, 0, 1, 0);
}

static void qp_test_exit(struct kunit *test)
{
	objects_put(&o);
	if (!hca)
		return;
	rdma_put_gid_attr(gid[0]);
	rdma_put_gid_attr(gid[1]);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(hca), 0);
	fake_hca_destroy(hca);
	hca = NULL;
}

static void a_queue_uses_what_it_was_made_from(struct kunit *test)
{
	struct ib_srq_init_attr srq_attr = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC, .port_num = 1,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
	};
	struct ib_cq *recv_cq;
	struct ib_srq *srq;
	struct ib_qp *qp;

	srq = ib_create_srq(o.pd, &srq_attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(srq));
	recv_cq = ib_alloc_cq(&hca->ibdev, NULL, 8, 0, IB_POLL_DIRECT);
	KUNIT_ASSERT_FALSE(test, IS_ERR(recv_cq));
	init.send_cq = o.cq;
	init.recv_cq = recv_cq;
	init.srq = srq;
	qp = ib_create_qp(o.pd, &init);
	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	KUNIT_EXPECT_EQ(test, atomic_read(&o.pd->usecnt), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.cq->usecnt), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&recv_cq->usecnt), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&srq->usecnt), 1);
	KUNIT_EXPECT_EQ(test, ib_destroy_srq_user(srq, NULL), -EBUSY);
	KUNIT_EXPECT_EQ(test, ib_destroy_cq_user(recv_cq, NULL), -EBUSY);
	KUNIT_EXPECT_EQ(test, ib_destroy_qp_user(qp, NULL), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.pd->usecnt), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.cq->usecnt), 2);
	KUNIT_EXPECT_EQ(test, ib_destroy_srq_user(srq, NULL), 0);
	ib_free_cq(recv_cq);
}

static int create(enum ib_qp_type type, u32 flags, bool rss)
{
	struct ib_rwq_ind_table table = {};
	struct ib_qp_init_attr init = {
		.qp_type = type, .port_num = 1, .create_flags = flags,
		.send_cq = o.cq, .recv_cq = o.cq,
		.rwq_ind_tbl = rss ? &table : NULL,
	};
	struct ib_qp *qp = ib_create_qp(o.pd, &init);

	if (!IS_ERR(qp))
		ib_destroy_qp(qp);
	return PTR_ERR_OR_ZERO(qp);
}

static void what_the_kernel_may_not_create(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, create(IB_QPT_RC, 0, false), 0);
	KUNIT_EXPECT_EQ(test, create(IB_QPT_XRC_TGT, 0, false), -EINVAL);
	KUNIT_EXPECT_EQ(test, create(IB_QPT_RC, IB_QP_CREATE_INTEGRITY_EN, false), -EOPNOTSUPP);
	/* An RSS QP receives through the queues of its table only. */
	KUNIT_EXPECT_EQ(test, create(IB_QPT_RAW_PACKET, 0, true), -EINVAL);
	hca->ibdev.ops.create_qp = NULL;
	KUNIT_EXPECT_EQ(test, create(IB_QPT_RC, 0, false), -EOPNOTSUPP);
}

static struct rdma_ah_attr path(int index)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_IB, .port_num = 1 };
	union ib_gid dgid = { .raw = { 0xfe, 0x80, [15] = 3 } };

	rdma_ah_set_dlid(&attr, 5);
	rdma_ah_set_grh(&attr, &dgid, 0, index, 1, 0);
	return attr;
}

static int to_init(void)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1 };

	return ib_modify_qp(o.qp, &attr, RC_INIT);
}

static void a_path_is_held_until_the_next(struct kunit *test)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR, .path_mtu = IB_MTU_1024,
		.ah_attr = path(0), .alt_ah_attr = path(1), .rq_psn = 0x12345678,
		.alt_port_num = 1,
	};

	KUNIT_ASSERT_EQ(test, to_init(), 0);
	/* The caller keeps its own reference. */
	attr.ah_attr.grh.sgid_attr = gid[0];
	KUNIT_ASSERT_EQ(test, ib_modify_qp(o.qp, &attr, RC_RTR | IB_QP_ALT_PATH), 0);
	KUNIT_EXPECT_PTR_EQ(test, attr.ah_attr.grh.sgid_attr, gid[0]);
	KUNIT_EXPECT_NULL(test, attr.alt_ah_attr.grh.sgid_attr);
	KUNIT_EXPECT_PTR_EQ(test, o.qp->av_sgid_attr, gid[0]);
	KUNIT_EXPECT_PTR_EQ(test, o.qp->alt_path_sgid_attr, gid[1]);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[0]), 1);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[1]), 1);
	/* A PSN has 24 bits. */
	KUNIT_EXPECT_EQ(test, attr.rq_psn, 0x345678);

	attr.qp_state = IB_QPS_RTS;
	attr.sq_psn = 0xff000001;
	KUNIT_ASSERT_EQ(test, ib_modify_qp(o.qp, &attr, RC_RTS), 0);
	KUNIT_EXPECT_EQ(test, attr.sq_psn, 1);
	attr.qp_state = IB_QPS_SQD;
	KUNIT_ASSERT_EQ(test, ib_modify_qp(o.qp, &attr, IB_QP_STATE), 0);
	attr.ah_attr = path(1);
	KUNIT_ASSERT_EQ(test, ib_modify_qp(o.qp, &attr, IB_QP_STATE | IB_QP_AV), 0);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[0]), 0);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[1]), 2);
	KUNIT_EXPECT_EQ(test, ib_destroy_qp_user(o.qp, NULL), 0);
	o.qp = NULL;
	KUNIT_EXPECT_EQ(test, gid_refs(gid[1]), 0);
}

static void a_change_that_fails_leaves_the_queue(struct kunit *test)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR, .ah_attr = path(0), .alt_ah_attr = path(1),
	};
	int mask = RC_RTR | IB_QP_ALT_PATH;

	KUNIT_ASSERT_EQ(test, to_init(), 0);
	atomic_set(&hca->fail_modify_qp, 1);
	KUNIT_EXPECT_EQ(test, ib_modify_qp(o.qp, &attr, mask), -EIO);
	KUNIT_EXPECT_NULL(test, o.qp->av_sgid_attr);
	KUNIT_EXPECT_NULL(test, attr.ah_attr.grh.sgid_attr);
	/* An invalid path, an invalid alternate path, ports that do not exist. */
	attr.ah_attr = path(9);
	KUNIT_EXPECT_EQ(test, ib_modify_qp(o.qp, &attr, mask), -ENODATA);
	attr.ah_attr = path(0);
	attr.alt_ah_attr = path(9);
	KUNIT_EXPECT_EQ(test, ib_modify_qp(o.qp, &attr, mask), -ENODATA);
	attr.port_num = 3;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(o.qp, &attr, IB_QP_PORT), -EINVAL);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[0]), 0);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[1]), 0);
	hca->ibdev.ops.modify_qp = NULL;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(o.qp, &attr, IB_QP_STATE), -EOPNOTSUPP);
}

static void a_query_hands_out_no_reference(struct kunit *test)
{
	struct ib_qp_attr attr = { .ah_attr.grh.sgid_attr = gid[0] };
	struct ib_qp_init_attr init;

	KUNIT_EXPECT_EQ(test, ib_query_qp(o.qp, &attr, IB_QP_STATE, &init), 0);
	KUNIT_EXPECT_EQ(test, attr.qp_state, IB_QPS_RESET);
	KUNIT_EXPECT_NULL(test, attr.ah_attr.grh.sgid_attr);
	hca->ibdev.ops.query_qp = NULL;
	KUNIT_EXPECT_EQ(test, ib_query_qp(o.qp, &attr, IB_QP_STATE, &init), -EOPNOTSUPP);
}

static int seen_event;
static void *seen_context;

static void on_event(struct ib_event *event, void *context)
{
	seen_event = event->event;
	seen_context = context;
}

static void events_reach_the_consumer(struct kunit *test)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC, .port_num = 1, .send_cq = o.cq, .recv_cq = o.cq,
		.event_handler = on_event, .qp_context = &init,
	};
	struct ib_qp *qp = ib_create_qp(o.pd, &init);

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	fake_hca_qp_event(qp, IB_EVENT_COMM_EST);
	KUNIT_EXPECT_EQ(test, seen_event, IB_EVENT_COMM_EST);
	KUNIT_EXPECT_PTR_EQ(test, seen_context, (void *)&init);
	/* A QP without a handler gets no event. */
	fake_hca_qp_event(o.qp, IB_EVENT_QP_FATAL);
	KUNIT_EXPECT_EQ(test, seen_event, IB_EVENT_COMM_EST);
	ib_destroy_qp(qp);
}

struct ending {
	struct completion done;
	int ret;
};

static int end_qp(void *arg)
{
	struct ending *e = arg;

	e->ret = ib_destroy_qp_user(o.qp, NULL);
	complete(&e->done);
	return 0;
}

/* In-tree number 27: a query read the QP while it was destroyed. */
static void a_reader_is_waited_for(struct kunit *test)
{
	struct rdma_restrack_entry *res;
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;
	struct ending e = {};
	struct ib_qp *qp;

	init_completion(&e.done);
	res = rdma_restrack_get_byid(&hca->ibdev, RDMA_RESTRACK_QP, o.qp->qp_num);
	KUNIT_ASSERT_FALSE(test, IS_ERR(res));
	qp = container_of(res, struct ib_qp, res);
	KUNIT_EXPECT_PTR_EQ(test, qp, o.qp);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(end_qp, &e, "end_qp")));
	msleep(200);
	KUNIT_EXPECT_FALSE(test, completion_done(&e.done));
	/* The provider has not destroyed it yet. */
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_QP]), 1);
	KUNIT_EXPECT_EQ(test, ib_query_qp(qp, &attr, IB_QP_STATE, &init), 0);
	/* A new lookup does not find it any more. */
	res = rdma_restrack_get_byid(&hca->ibdev, RDMA_RESTRACK_QP, qp->qp_num);
	KUNIT_EXPECT_TRUE(test, IS_ERR(res));
	rdma_restrack_put(&qp->res);
	wait_for_completion(&e.done);
	KUNIT_EXPECT_EQ(test, e.ret, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_QP]), 0);
	o.qp = NULL;
}

static void a_destroy_that_is_refused_shows_it_again(struct kunit *test)
{
	struct rdma_restrack_entry *res;

	KUNIT_ASSERT_EQ(test, to_init(), 0);
	atomic_set(&hca->fail_destroy[FAKE_QP], 1);
	KUNIT_EXPECT_EQ(test, ib_destroy_qp_user(o.qp, NULL), -EIO);
	res = rdma_restrack_get_byid(&hca->ibdev, RDMA_RESTRACK_QP, o.qp->qp_num);
	KUNIT_ASSERT_FALSE(test, IS_ERR(res));
	rdma_restrack_put(res);
	atomic_inc(&o.qp->usecnt);
	KUNIT_EXPECT_EQ(test, ib_destroy_qp_user(o.qp, NULL), -EBUSY);
	atomic_dec(&o.qp->usecnt);
}

static void a_process_has_the_mac_of_its_path_resolved(struct kunit *test)
{
	static const u8 peer_ha[MAX_ADDR_LEN] = { 2, 1, 2, 3, 4, 5 };
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1 };
	struct in6_addr ip, peer, silent;
	const struct ib_gid_attr *sgid;
	struct ib_udata udata = {};
	struct objects r = {};
	struct roce roce;

	KUNIT_ASSERT_EQ(test, roce_get(&roce, QP_NET), 0);
	ip = roce_v4(&roce, 1);
	peer = roce_v4(&roce, 2);
	silent = roce_v4(&roce, 3);
	sgid = roce_gid(&roce, &ip);
	KUNIT_EXPECT_NOT_NULL(test, sgid);
	KUNIT_EXPECT_EQ(test, net_neighbour(roce.ndev, &peer, peer_ha), 0);
	KUNIT_EXPECT_EQ(test, objects_get(&r, roce.hca, IB_POLL_SOFTIRQ, 0, 1, 0), 0);
	if (!sgid || !r.qp)
		goto out;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(r.qp, &attr, RC_INIT), 0);
	attr.qp_state = IB_QPS_RTR;
	attr.ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE;
	attr.ah_attr.port_num = 1;
	rdma_ah_set_grh(&attr.ah_attr, (union ib_gid *)&silent, 0, sgid->index, 1, 0);
	KUNIT_EXPECT_EQ(test, ib_modify_qp_with_udata(r.qp, &attr, RC_RTR, &udata),
			-ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, gid_refs(sgid), 0);
	rdma_ah_set_grh(&attr.ah_attr, (union ib_gid *)&peer, 0, sgid->index, 1, 0);
	KUNIT_EXPECT_EQ(test, ib_modify_qp_with_udata(r.qp, &attr, RC_RTR, &udata), 0);
	KUNIT_EXPECT_MEMEQ(test, attr.ah_attr.roce.dmac, peer_ha, ETH_ALEN);
	KUNIT_EXPECT_EQ(test, gid_refs(sgid), 1);
	/* Path migration exists on InfiniBand only. */
	attr.qp_state = IB_QPS_RTS;
	attr.alt_ah_attr = attr.ah_attr;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(r.qp, &attr, RC_RTS | IB_QP_ALT_PATH), -EINVAL);
	KUNIT_EXPECT_EQ(test, gid_refs(sgid), 1);
out:
	objects_put(&r);
	if (sgid)
		rdma_put_gid_attr(sgid);
	roce_put(&roce);
}

static int qp_once(struct kunit *test)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR, .ah_attr = path(0), .alt_ah_attr = path(1),
	};
	struct ib_qp *before = o.qp;
	struct objects mine;
	int ret = objects_get(&mine, hca, IB_POLL_UNBOUND_WORKQUEUE, 0, 1, 0);

	if (ret)
		return ret;
	o.qp = mine.qp;
	ret = to_init() ?: ib_modify_qp(o.qp, &attr, RC_RTR | IB_QP_ALT_PATH);
	o.qp = before;
	objects_put(&mine);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[0]) + gid_refs(gid[1]), 0);
	return ret;
}

static void queues_survive_each_failed_allocation(struct kunit *test)
{
	int alive = fake_hca_objects(hca);

	KUNIT_EXPECT_GT(test, ibex_each_allocation(test, qp_once), 3u);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(hca), alive);
}

/*
 * mlx5 creates the QPs by which its QP1 sends with the
 * event handler of the QP that receives.
 */
static void the_handler_of_another_queue(struct kunit *test)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_UD, .port_num = 1, .send_cq = o.cq, .recv_cq = o.cq,
		.event_handler = o.qp->event_handler, .qp_context = &init,
	};
	struct ib_qp *qp = ib_create_qp(o.pd, &init);

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	KUNIT_EXPECT_NULL(test, qp->registered_event_handler);
	if (!qp->registered_event_handler)
		fake_hca_qp_event(qp, IB_EVENT_QP_FATAL);
	KUNIT_EXPECT_EQ(test, ib_destroy_qp(qp), 0);
}

static struct kunit_case qp_cases[] = {
	KUNIT_CASE(a_queue_uses_what_it_was_made_from),
	KUNIT_CASE(what_the_kernel_may_not_create),
	KUNIT_CASE(a_path_is_held_until_the_next),
	KUNIT_CASE(a_change_that_fails_leaves_the_queue),
	KUNIT_CASE(a_query_hands_out_no_reference),
	KUNIT_CASE(events_reach_the_consumer),
	KUNIT_CASE(the_handler_of_another_queue),
	KUNIT_CASE(a_reader_is_waited_for),
	KUNIT_CASE(a_destroy_that_is_refused_shows_it_again),
	KUNIT_CASE(a_process_has_the_mac_of_its_path_resolved),
	KUNIT_CASE(queues_survive_each_failed_allocation),
	{}
};

static struct kunit_suite ibcore_qp_suite = {
	.name = "ib_core_qp",
	.init = qp_test_init,
	.exit = qp_test_exit,
	.test_cases = qp_cases,
};

kunit_test_suite(ibcore_qp_suite);
