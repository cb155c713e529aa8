// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* RDMA netlink of resources, rdma-resource(8). */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>
#include <ibex/qp.h>
#include <ibex/restrack.h>
#include <rdma/rdma_cm.h>
#include "nl.h"

static const struct fake_hca_params ib_params = {
	.link_layer = IB_LINK_LAYER_INFINIBAND,
	.ports = 2,
};

static struct nl nl;
static struct fake_hca *hca;
static struct test_objects o;
static struct nlattr *tb[RDMA_NLDEV_ATTR_MAX], *etb[RDMA_NLDEV_ATTR_MAX];

static int res_test_init(struct kunit *test)
{
	hca = fake_hca_create(&ib_params);
	if (!hca)
		return -ENOMEM;
	return nl_open(&nl, &init_net);
}

static void res_test_exit(struct kunit *test)
{
	nl_hca_exit(test, &nl, &hca);
}

/* Requests the object whose ID is in attribute @attr. */
static int get_on(int cmd, int attr, u32 id, u32 port)
{
	struct sk_buff *req = nl_dev_req(&nl, cmd, hca, port);
	int ret;

	nla_put_u32(req, attr, id);
	ret = nl_call(&nl, req);
	nl_attrs(&nl, 0, tb);
	return ret;
}

static int get(int cmd, int attr, u32 id)
{
	return get_on(cmd, attr, id, 0);
}

/* The IDs of the entries of a dump, in the order in which they arrived. */
static int collect(int table, int entry, int id, u32 *ids, int max)
{
	struct nlattr *pos;
	int i, rem, n = 0;

	for (i = 0; i < nl.n; i++) {
		nl_attrs(&nl, i, tb);
		if (!tb[table])
			return -ENODATA;
		nla_for_each_nested(pos, tb[table], rem) {
			if (nla_type(pos) != entry || n == max)
				return -EBADMSG;
			nl_nested(pos, etb);
			ids[n++] = nl_u32(etb[id]);
		}
	}
	return n;
}

/* The number of objects of a kind in the summary of message 0. */
static int summary(const char *name)
{
	struct nlattr *pos;
	int rem;

	nl_attrs(&nl, 0, tb);
	if (!tb[RDMA_NLDEV_ATTR_RES_SUMMARY])
		return -ENODATA;
	nla_for_each_nested(pos, tb[RDMA_NLDEV_ATTR_RES_SUMMARY], rem) {
		nl_nested(pos, etb);
		if (!strcmp(nl_str(etb[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME]), name))
			return nl_u64(etb[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR]);
	}
	return -ENOENT;
}

static int call_for_details(int cmd, bool dump)
{
	struct sk_buff *req = dump ? nl_dev_dump(&nl, cmd, hca, 0) :
				     nl_dev_req(&nl, cmd, hca, 0);

	nla_put_u8(req, RDMA_NLDEV_ATTR_DRIVER_DETAILS, 1);
	return nl_call(&nl, req);
}

static struct ib_qp *create_qp(enum ib_qp_type type, struct ib_srq *srq)
{
	struct ib_qp_init_attr init = {
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.qp_type = type, .send_cq = o.cq, .recv_cq = o.cq, .srq = srq,
	};
	struct ib_qp *qp;

	qp = ib_create_qp_user(&hca->ibdev, o.pd, &init, NULL, NULL, "test");
	if (!IS_ERR(qp))
		ib_qp_usecnt_inc(qp);
	return qp;
}

/* ---- how many there are ---- */

static void objects_are_counted(struct kunit *test)
{
	struct ib_qp *dd;

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 3, false, IB_QPT_RC), 0);
	dd = create_qp(IB_QPT_DRIVER, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(dd));
	KUNIT_EXPECT_EQ(test, nl_call(&nl, nl_dev_req(&nl, RDMA_NLDEV_CMD_RES_GET, hca,
						      0)), 0);
	KUNIT_EXPECT_EQ(test, summary("pd"), 1);
	KUNIT_EXPECT_EQ(test, summary("cq"), 1);
	KUNIT_EXPECT_EQ(test, summary("qp"), 3);
	KUNIT_EXPECT_EQ(test, summary("mr"), 0);
	KUNIT_EXPECT_EQ(test, summary("cm_id"), 0);
	KUNIT_EXPECT_EQ(test, summary("ctx"), 0);
	KUNIT_EXPECT_EQ(test, summary("srq"), 0);
	/* The driver's own objects are counted on request. */
	KUNIT_EXPECT_EQ(test, call_for_details(RDMA_NLDEV_CMD_RES_GET, false), 0);
	KUNIT_EXPECT_EQ(test, summary("qp"), 4);
	KUNIT_EXPECT_EQ(test, nl_call(&nl, nl_dev_dump(&nl, RDMA_NLDEV_CMD_RES_GET, NULL,
						       0)), 0);
	KUNIT_EXPECT_EQ(test, nl.n, 1);
	KUNIT_EXPECT_EQ(test, summary("qp"), 3);
	ib_destroy_qp(dd);
	test_objects_destroy(&o);
}

static void drivers_own_qps_are_listed_on_demand(struct kunit *test)
{
	struct ib_qp *dd;
	u32 ids[8];

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 2, false, IB_QPT_RC), 0);
	dd = create_qp(IB_QPT_DRIVER, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(dd));
	KUNIT_EXPECT_EQ(test, nl_call(&nl, nl_dev_dump(&nl, RDMA_NLDEV_CMD_RES_QP_GET,
						       hca, 0)), 0);
	KUNIT_EXPECT_EQ(test, collect(RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY,
				      RDMA_NLDEV_ATTR_RES_LQPN, ids, 8), 2);
	KUNIT_EXPECT_EQ(test, call_for_details(RDMA_NLDEV_CMD_RES_QP_GET, true), 0);
	KUNIT_EXPECT_EQ(test, collect(RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY,
				      RDMA_NLDEV_ATTR_RES_LQPN, ids, 8), 3);
	KUNIT_EXPECT_EQ(test, ids[2], dd->qp_num);
	ib_destroy_qp(dd);
	test_objects_destroy(&o);
}

/* ---- each kind ---- */

static void a_pd_is_shown(struct kunit *test)
{
	const int cmd = RDMA_NLDEV_CMD_RES_PD_GET, attr = RDMA_NLDEV_ATTR_RES_PDN;
	const struct cred *old;
	struct ib_pd *pd;

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 1, false, IB_QPT_RC), 0);
	KUNIT_EXPECT_EQ(test, get(cmd, attr, o.pd->res.id), 0);
	KUNIT_EXPECT_STREQ(test, nl_str(tb[RDMA_NLDEV_ATTR_RES_KERN_NAME]),
			   test_objects_owner);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_PDN]), o.pd->res.id);
	KUNIT_EXPECT_EQ(test, nl_u64(tb[RDMA_NLDEV_ATTR_RES_USECNT]), 1);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_LOCAL_DMA_LKEY]),
			o.pd->local_dma_lkey);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_RES_UNSAFE_GLOBAL_RKEY]);
	pd = ib_alloc_pd(&hca->ibdev, IB_PD_UNSAFE_GLOBAL_RKEY);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	KUNIT_EXPECT_EQ(test, get(cmd, attr, pd->res.id), 0);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_UNSAFE_GLOBAL_RKEY]),
			pd->unsafe_global_rkey);
	/* Keys are shown to administrators only. */
	old = nl_drop_caps();
	KUNIT_EXPECT_EQ(test, get(cmd, attr, pd->res.id), 0);
	nl_regain_caps(old);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_PDN]), pd->res.id);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_RES_LOCAL_DMA_LKEY]);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_RES_UNSAFE_GLOBAL_RKEY]);
	ib_dealloc_pd(pd);
	test_objects_destroy(&o);
}

static void a_cq_is_shown(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 1, false, IB_QPT_RC), 0);
	KUNIT_EXPECT_EQ(test, get(RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_ATTR_RES_CQN,
				  o.cq->res.id), 0);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_CQN]), o.cq->res.id);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_CQE]), o.cq->cqe);
	KUNIT_EXPECT_EQ(test, nl_u64(tb[RDMA_NLDEV_ATTR_RES_USECNT]), 2);
	KUNIT_EXPECT_EQ(test, nl_u8(tb[RDMA_NLDEV_ATTR_RES_POLL_CTX]), IB_POLL_SOFTIRQ);
	KUNIT_EXPECT_EQ(test, nl_u8(tb[RDMA_NLDEV_ATTR_DEV_DIM]), 0);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_RES_CTXN]);
	test_objects_destroy(&o);
}

static void a_kernel_qp_is_shown(struct kunit *test)
{
	const int cmd = RDMA_NLDEV_CMD_RES_QP_GET, attr = RDMA_NLDEV_ATTR_RES_LQPN;
	struct ib_qp *ud;

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 1, false, IB_QPT_RC), 0);
	ud = create_qp(IB_QPT_UD, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ud));
	KUNIT_EXPECT_EQ(test, get(cmd, attr, o.qp[0]->qp_num), 0);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_PORT_INDEX]);
	KUNIT_EXPECT_EQ(test, nl_u8(tb[RDMA_NLDEV_ATTR_RES_STATE]), IB_QPS_RESET);
	KUNIT_EXPECT_EQ(test, test_qp_init(o.qp[0], 2), 0);
	KUNIT_EXPECT_EQ(test, get(cmd, attr, o.qp[0]->qp_num), 0);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_LQPN]), o.qp[0]->qp_num);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX]), 2);
	KUNIT_EXPECT_EQ(test, nl_u8(tb[RDMA_NLDEV_ATTR_RES_TYPE]), IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, nl_u8(tb[RDMA_NLDEV_ATTR_RES_STATE]), IB_QPS_INIT);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_RQPN]), 0);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_RQ_PSN]), 0);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_SQ_PSN]), 0);
	KUNIT_EXPECT_NOT_NULL(test, tb[RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE]);
	KUNIT_EXPECT_STREQ(test, nl_str(tb[RDMA_NLDEV_ATTR_RES_KERN_NAME]),
			   test_objects_owner);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_RES_PDN]);
	/* A datagram QP has no peer. */
	KUNIT_EXPECT_EQ(test, get(cmd, attr, ud->qp_num), 0);
	KUNIT_EXPECT_EQ(test, nl_u8(tb[RDMA_NLDEV_ATTR_RES_TYPE]), IB_QPT_UD);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_RES_RQPN]);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE]);
	ib_destroy_qp(ud);
	test_objects_destroy(&o);
}

static void a_user_qp_is_shown_with_its_process_and_pd(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 1, true, IB_QPT_RC), 0);
	KUNIT_EXPECT_EQ(test, get(RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_LQPN,
				  o.qp[0]->qp_num), 0);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_PID]),
			task_pid_nr(current->group_leader));
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_PDN]), o.pd->res.id);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_RES_KERN_NAME]);
	test_objects_destroy(&o);
}

static void an_mr_is_shown(struct kunit *test)
{
	const int cmd = RDMA_NLDEV_CMD_RES_MR_GET, attr = RDMA_NLDEV_ATTR_RES_MRN;
	const struct cred *old;
	struct ib_mr *mr;

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 0, false, IB_QPT_RC), 0);
	mr = ib_alloc_mr(o.pd, IB_MR_TYPE_MEM_REG, 4);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	mr->length = 12345;
	KUNIT_EXPECT_EQ(test, get(cmd, attr, mr->res.id), 0);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_MRN]), mr->res.id);
	KUNIT_EXPECT_EQ(test, nl_u64(tb[RDMA_NLDEV_ATTR_RES_MRLEN]), 12345);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_RKEY]), mr->rkey);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_LKEY]), mr->lkey);
	old = nl_drop_caps();
	KUNIT_EXPECT_EQ(test, get(cmd, attr, mr->res.id), 0);
	nl_regain_caps(old);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_RES_RKEY]);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_RES_LKEY]);
	ib_dereg_mr(mr);
	test_objects_destroy(&o);
}

static void an_srq_is_shown_with_its_qps(struct kunit *test)
{
	struct ib_srq_init_attr init = { .srq_type = IB_SRQT_BASIC };
	struct ib_qp *qp[5];
	struct ib_srq *srq;
	struct nlattr *pos;
	int i, rem, n = 0;

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 0, false, IB_QPT_RC), 0);
	srq = ib_create_srq(o.pd, &init);
	KUNIT_ASSERT_FALSE(test, IS_ERR(srq));
	/* Three in a row use the SRQ, one has its own queue, one more the SRQ. */
	for (i = 0; i < 5; i++) {
		qp[i] = create_qp(IB_QPT_RC, i == 3 ? NULL : srq);
		KUNIT_ASSERT_FALSE(test, IS_ERR(qp[i]));
		KUNIT_ASSERT_EQ(test, qp[i]->qp_num, qp[0]->qp_num + i);
	}
	KUNIT_EXPECT_EQ(test, get(RDMA_NLDEV_CMD_RES_SRQ_GET, RDMA_NLDEV_ATTR_RES_SRQN,
				  srq->res.id), 0);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_SRQN]), srq->res.id);
	KUNIT_EXPECT_EQ(test, nl_u8(tb[RDMA_NLDEV_ATTR_RES_TYPE]), IB_SRQT_BASIC);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_RES_CQN]);
	KUNIT_ASSERT_NOT_NULL(test, tb[RDMA_NLDEV_ATTR_RES_QP]);
	nla_for_each_nested(pos, tb[RDMA_NLDEV_ATTR_RES_QP], rem) {
		nl_nested(pos, etb);
		if (!n++) {
			KUNIT_EXPECT_EQ(test, nl_u32(etb[RDMA_NLDEV_ATTR_MIN_RANGE]),
					qp[0]->qp_num);
			KUNIT_EXPECT_EQ(test, nl_u32(etb[RDMA_NLDEV_ATTR_MAX_RANGE]),
					qp[2]->qp_num);
		} else {
			KUNIT_EXPECT_EQ(test, nl_u32(etb[RDMA_NLDEV_ATTR_RES_LQPN]),
					qp[4]->qp_num);
		}
	}
	KUNIT_EXPECT_EQ(test, n, 2);
	while (i--)
		ib_destroy_qp(qp[i]);
	ib_destroy_srq(srq);
	test_objects_destroy(&o);
}

static void a_tag_matching_srq_is_shown_with_its_cq(struct kunit *test)
{
	struct ib_srq_init_attr init = { .srq_type = IB_SRQT_TM };
	struct ib_srq *srq;

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 0, false, IB_QPT_RC), 0);
	init.ext.cq = o.cq;
	srq = ib_create_srq(o.pd, &init);
	KUNIT_ASSERT_FALSE(test, IS_ERR(srq));
	KUNIT_EXPECT_EQ(test, get(RDMA_NLDEV_CMD_RES_SRQ_GET, RDMA_NLDEV_ATTR_RES_SRQN,
				  srq->res.id), 0);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_CQN]), o.cq->res.id);
	ib_destroy_srq(srq);
	test_objects_destroy(&o);
}

static void a_context_is_shown_and_named_by_its_objects(struct kunit *test)
{
	struct ib_ucontext *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	struct ib_uobject *uobj = kunit_kzalloc(test, sizeof(*uobj), GFP_KERNEL);

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 0, false, IB_QPT_RC), 0);
	ctx->device = &hca->ibdev;
	rdma_restrack_new(&ctx->res, RDMA_RESTRACK_CTX);
	rdma_restrack_set_name(&ctx->res, NULL);
	rdma_restrack_add(&ctx->res);
	uobj->context = ctx;
	o.pd->uobject = uobj;
	KUNIT_EXPECT_EQ(test, get(RDMA_NLDEV_CMD_RES_CTX_GET, RDMA_NLDEV_ATTR_RES_CTXN,
				  ctx->res.id), 0);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_CTXN]), ctx->res.id);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_PID]),
			task_pid_nr(current->group_leader));
	KUNIT_EXPECT_EQ(test, get(RDMA_NLDEV_CMD_RES_PD_GET, RDMA_NLDEV_ATTR_RES_PDN,
				  o.pd->res.id), 0);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_CTXN]), ctx->res.id);
	o.pd->uobject = NULL;
	rdma_restrack_del(&ctx->res);
	test_objects_destroy(&o);
}

static const char *cm_id_waits_for;

static void query_cm_id(const struct rdma_restrack_cm_id *cm_id,
			struct rdma_restrack_cm_state *out)
{
	out->state = 5;
	out->qp_num = 77;
	out->wait.state = "REQ_SENT";
	out->wait.for_what = cm_id_waits_for;
	out->wait.resent = 3;
	out->wait.waited_ms = 1500;
}

/* Names and values, as rdma(8) prints them with -dd. */
static void expect_cm_wait(struct kunit *test)
{
	static const char *const strings[] = {
		"cm_state", "REQ_SENT", "waits_for", "REP", "resent", "waited_ms",
	};
	static const u32 numbers[] = { 3, 1500 };
	int rem, s = 0, n = 0;
	struct nlattr *pos;

	KUNIT_ASSERT_NOT_NULL(test, tb[RDMA_NLDEV_ATTR_DRIVER]);
	nla_for_each_nested(pos, tb[RDMA_NLDEV_ATTR_DRIVER], rem) {
		if (nla_type(pos) == RDMA_NLDEV_ATTR_DRIVER_STRING &&
		    s < ARRAY_SIZE(strings))
			KUNIT_EXPECT_STREQ(test, nl_str(pos), strings[s++]);
		else if (nla_type(pos) == RDMA_NLDEV_ATTR_DRIVER_U32 &&
			 n < ARRAY_SIZE(numbers))
			KUNIT_EXPECT_EQ(test, nla_get_u32(pos), numbers[n++]);
		else
			KUNIT_FAIL(test, "attribute %d", nla_type(pos));
	}
	KUNIT_EXPECT_EQ(test, s, (int)ARRAY_SIZE(strings));
	KUNIT_EXPECT_EQ(test, n, (int)ARRAY_SIZE(numbers));
}

static int fill_cm_id(struct sk_buff *msg, struct rdma_cm_id *id)
{
	return nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_RAW, id->port_num);
}

static void a_cm_id_is_shown(struct kunit *test)
{
	const int cmd = RDMA_NLDEV_CMD_RES_CM_ID_GET, attr = RDMA_NLDEV_ATTR_RES_CM_IDN;
	struct rdma_cm_id *id = kunit_kzalloc(test, sizeof(*id), GFP_KERNEL);
	struct rdma_restrack_cm_id *track = kunit_kzalloc(test, sizeof(*track), GFP_KERNEL);
	struct sockaddr_in *src = (struct sockaddr_in *)&id->route.addr.src_addr;

	id->device = &hca->ibdev;
	id->port_num = 2;
	id->ps = RDMA_PS_TCP;
	id->qp_type = IB_QPT_RC;
	src->sin_family = AF_INET;
	src->sin_addr.s_addr = htonl(0x0a000001);
	track->id = id;
	track->query = query_cm_id;
	rdma_restrack_new(&track->res, RDMA_RESTRACK_CM_ID);
	rdma_restrack_set_name(&track->res, "test");
	rdma_restrack_add(&track->res);
	KUNIT_EXPECT_EQ(test, get(cmd, attr, track->res.id), 0);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX]), 2);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_LQPN]), 77);
	KUNIT_EXPECT_EQ(test, nl_u8(tb[RDMA_NLDEV_ATTR_RES_STATE]), 5);
	KUNIT_EXPECT_EQ(test, nl_u8(tb[RDMA_NLDEV_ATTR_RES_TYPE]), IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_PS]), RDMA_PS_TCP);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_CM_IDN]), track->res.id);
	KUNIT_ASSERT_NOT_NULL(test, tb[RDMA_NLDEV_ATTR_RES_SRC_ADDR]);
	KUNIT_EXPECT_MEMEQ(test, nla_data(tb[RDMA_NLDEV_ATTR_RES_SRC_ADDR]), src,
			   sizeof(*src));
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_RES_DST_ADDR]);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_DRIVER]);
	cm_id_waits_for = "REP";
	KUNIT_EXPECT_EQ(test, get(cmd, attr, track->res.id), 0);
	expect_cm_wait(test);
	hca->ibdev.ops.fill_res_cm_id_entry = fill_cm_id;
	KUNIT_EXPECT_EQ(test, get(cmd, attr, track->res.id), 0);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_DRIVER]);
	cm_id_waits_for = NULL;
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_RAW]), 2);
	/* The ID belongs to port 2. */
	KUNIT_EXPECT_EQ(test, get_on(cmd, attr, track->res.id, 2), 0);
	KUNIT_EXPECT_EQ(test, get_on(cmd, attr, track->res.id, 1), -ENOENT);
	rdma_restrack_del(&track->res);
	KUNIT_EXPECT_EQ(test, get(cmd, attr, track->res.id), -ENOENT);
}

/* ---- what drivers add ---- */

static int fill_driver(struct sk_buff *msg)
{
	struct nlattr *nest = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);

	if (!nest || rdma_nl_put_driver_string(msg, "kind", "test") ||
	    rdma_nl_put_driver_u32(msg, "ten", 10) ||
	    rdma_nl_put_driver_u32_hex(msg, "mask", 0xff) ||
	    rdma_nl_put_driver_u64(msg, "big", 1ULL << 40) ||
	    rdma_nl_put_driver_u64_hex(msg, "guid", 0x1234567890ULL))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static int fill_qp(struct sk_buff *msg, struct ib_qp *qp)
{
	return fill_driver(msg);
}

static int fill_cq(struct sk_buff *msg, struct ib_cq *cq)
{
	return fill_driver(msg);
}

static int fill_mr(struct sk_buff *msg, struct ib_mr *mr)
{
	return fill_driver(msg);
}

static int fill_srq(struct sk_buff *msg, struct ib_srq *srq)
{
	return fill_driver(msg);
}

static int fill_raw(struct sk_buff *msg, u32 id)
{
	return nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_RAW, id);
}

static int fill_qp_raw(struct sk_buff *msg, struct ib_qp *qp)
{
	return fill_raw(msg, qp->qp_num);
}

static int fill_cq_raw(struct sk_buff *msg, struct ib_cq *cq)
{
	return fill_raw(msg, cq->res.id);
}

static int fill_mr_raw(struct sk_buff *msg, struct ib_mr *mr)
{
	return fill_raw(msg, mr->res.id);
}

static int fill_srq_raw(struct sk_buff *msg, struct ib_srq *srq)
{
	return fill_raw(msg, srq->res.id);
}

static const struct ib_device_ops fill_ops = {
	.fill_res_qp_entry = fill_qp,	.fill_res_qp_entry_raw = fill_qp_raw,
	.fill_res_cq_entry = fill_cq,	.fill_res_cq_entry_raw = fill_cq_raw,
	.fill_res_mr_entry = fill_mr,	.fill_res_mr_entry_raw = fill_mr_raw,
	.fill_res_srq_entry = fill_srq,	.fill_res_srq_entry_raw = fill_srq_raw,
};

/*
 * The driver's attributes in the order in which rdma(8) reads them:
 * a name, an optional print type, a value.
 */
static void expect_driver_attrs(struct kunit *test)
{
	static const u16 types[] = {
		RDMA_NLDEV_ATTR_DRIVER_STRING, RDMA_NLDEV_ATTR_DRIVER_STRING,
		RDMA_NLDEV_ATTR_DRIVER_STRING, RDMA_NLDEV_ATTR_DRIVER_U32,
		RDMA_NLDEV_ATTR_DRIVER_STRING, RDMA_NLDEV_ATTR_DRIVER_PRINT_TYPE,
		RDMA_NLDEV_ATTR_DRIVER_U32,
		RDMA_NLDEV_ATTR_DRIVER_STRING, RDMA_NLDEV_ATTR_DRIVER_U64,
		RDMA_NLDEV_ATTR_DRIVER_STRING, RDMA_NLDEV_ATTR_DRIVER_PRINT_TYPE,
		RDMA_NLDEV_ATTR_DRIVER_U64,
	};
	struct nlattr *pos;
	int rem, i = 0;

	KUNIT_ASSERT_NOT_NULL(test, tb[RDMA_NLDEV_ATTR_DRIVER]);
	nla_for_each_nested(pos, tb[RDMA_NLDEV_ATTR_DRIVER], rem) {
		if (nla_type(pos) == RDMA_NLDEV_ATTR_PAD)
			continue;
		KUNIT_ASSERT_LT(test, i, (int)ARRAY_SIZE(types));
		KUNIT_EXPECT_EQ(test, nla_type(pos), types[i]);
		if (i == 3)
			KUNIT_EXPECT_EQ(test, nla_get_u32(pos), 10);
		if (i == 5)
			KUNIT_EXPECT_EQ(test, nla_get_u8(pos), RDMA_NLDEV_PRINT_TYPE_HEX);
		if (i == 8)
			KUNIT_EXPECT_EQ(test, nla_get_u64(pos), 1ULL << 40);
		i++;
	}
	KUNIT_EXPECT_EQ(test, i, (int)ARRAY_SIZE(types));
}

static void drivers_add_what_they_know(struct kunit *test)
{
	struct ib_srq_init_attr init = { .srq_type = IB_SRQT_BASIC };
	struct ib_srq *srq;
	struct ib_mr *mr;
	int i;

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 1, false, IB_QPT_RC), 0);
	mr = ib_alloc_mr(o.pd, IB_MR_TYPE_MEM_REG, 4);
	srq = ib_create_srq(o.pd, &init);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr) || IS_ERR(srq));
	{
		const struct { int cmd, raw, attr; u32 id; } kinds[] = {
			{ RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_CMD_RES_QP_GET_RAW,
			  RDMA_NLDEV_ATTR_RES_LQPN, o.qp[0]->qp_num },
			{ RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_CMD_RES_CQ_GET_RAW,
			  RDMA_NLDEV_ATTR_RES_CQN, o.cq->res.id },
			{ RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_CMD_RES_MR_GET_RAW,
			  RDMA_NLDEV_ATTR_RES_MRN, mr->res.id },
			{ RDMA_NLDEV_CMD_RES_SRQ_GET, RDMA_NLDEV_CMD_RES_SRQ_GET_RAW,
			  RDMA_NLDEV_ATTR_RES_SRQN, srq->res.id },
		};

		for (i = 0; i < ARRAY_SIZE(kinds); i++)
			KUNIT_EXPECT_EQ(test, get(kinds[i].raw, kinds[i].attr, kinds[i].id),
					-EINVAL);
		ib_set_device_ops(&hca->ibdev, &fill_ops);
		for (i = 0; i < ARRAY_SIZE(kinds); i++) {
			KUNIT_EXPECT_EQ(test, get(kinds[i].cmd, kinds[i].attr, kinds[i].id),
					0);
			expect_driver_attrs(test);
			KUNIT_EXPECT_EQ(test, get(kinds[i].raw, kinds[i].attr, kinds[i].id),
					0);
			KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_RAW]),
					kinds[i].id);
		}
	}
	/* Raw data of a QP of another port. */
	KUNIT_EXPECT_EQ(test, get_on(RDMA_NLDEV_CMD_RES_QP_GET_RAW,
				     RDMA_NLDEV_ATTR_RES_LQPN, o.qp[0]->qp_num, 1),
			-ENOENT);
	ib_destroy_srq(srq);
	ib_dereg_mr(mr);
	test_objects_destroy(&o);
}

/* Puts an entry in a message with @room octets; returns the room that is left. */
static int left_of(struct kunit *test, unsigned int room, int *ret)
{
	struct sk_buff *msg = alloc_skb(room, GFP_KERNEL | __GFP_NOFAIL);
	int left;

	skb_put(msg, skb_tailroom(msg) - room);
	*ret = rdma_nl_stat_hwcounter_entry(msg, "frames", 1);
	left = skb_tailroom(msg);
	if (room < 8) {
		KUNIT_EXPECT_EQ(test, rdma_nl_put_driver_u32(msg, "a", 1), -EMSGSIZE);
		KUNIT_EXPECT_EQ(test, rdma_nl_put_driver_u64_hex(msg, "a", 1), -EMSGSIZE);
		KUNIT_EXPECT_EQ(test, rdma_nl_put_driver_string(msg, "a", "b"), -EMSGSIZE);
	}
	kfree_skb(msg);
	return left;
}

static void what_does_not_fit_is_left_out_whole(struct kunit *test)
{
	unsigned int room, fits = 0;
	int ret, left;

	for (room = 4; room < 64; room += 4) {
		left = left_of(test, room, &ret);
		if (!ret) {
			fits++;
			continue;
		}
		KUNIT_EXPECT_EQ(test, ret, -EMSGSIZE);
		KUNIT_EXPECT_EQ(test, left, room);
	}
	KUNIT_EXPECT_GT(test, fits, 0);
	KUNIT_EXPECT_LT(test, fits, 12);
}

/* ---- what is wrong with a request ---- */

static void an_object_is_asked_for_by_its_number(struct kunit *test)
{
	static const struct { int cmd, attr; } kinds[] = {
		{ RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_LQPN },
		{ RDMA_NLDEV_CMD_RES_CM_ID_GET, RDMA_NLDEV_ATTR_RES_CM_IDN },
		{ RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_ATTR_RES_CQN },
		{ RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_ATTR_RES_MRN },
		{ RDMA_NLDEV_CMD_RES_PD_GET, RDMA_NLDEV_ATTR_RES_PDN },
		{ RDMA_NLDEV_CMD_RES_CTX_GET, RDMA_NLDEV_ATTR_RES_CTXN },
		{ RDMA_NLDEV_CMD_RES_SRQ_GET, RDMA_NLDEV_ATTR_RES_SRQN },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		KUNIT_EXPECT_EQ(test, get(kinds[i].cmd, kinds[i].attr, 99), -ENOENT);
		KUNIT_EXPECT_EQ(test, get(kinds[i].cmd, RDMA_NLDEV_ATTR_STAT_RES, 99),
				-EINVAL);
		KUNIT_EXPECT_EQ(test, get_on(kinds[i].cmd, kinds[i].attr, 99, 3), -EINVAL);
		/*
		 * A dump of no objects is empty, that of a
		 * port that does not exist fails.
		 */
		KUNIT_EXPECT_EQ(test, nl_call(&nl, nl_dev_dump(&nl, kinds[i].cmd, hca, 1)),
				0);
		KUNIT_EXPECT_EQ(test, nl.n, 0);
		KUNIT_EXPECT_EQ(test, nl_call(&nl, nl_dev_dump(&nl, kinds[i].cmd, hca, 3)),
				-EINVAL);
	}
}

static int no_query(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
		    struct ib_qp_init_attr *init)
{
	return -EIO;
}

static void a_driver_that_does_not_answer(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 1, false, IB_QPT_RC), 0);
	hca->ibdev.ops.query_qp = no_query;
	KUNIT_EXPECT_EQ(test, get(RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_LQPN,
				  o.qp[0]->qp_num), -EIO);
	KUNIT_EXPECT_EQ(test, nl_call(&nl, nl_dev_dump(&nl, RDMA_NLDEV_CMD_RES_QP_GET,
						       hca, 0)), -EIO);
	KUNIT_EXPECT_EQ(test, nl.n, 0);
	test_objects_destroy(&o);
}

static int exit_at_once(void *arg)
{
	return 0;
}

static void an_owner_that_has_exited_is_not_shown(struct kunit *test)
{
	struct rdma_restrack_entry *res;
	struct task_struct *task;
	u32 ids[4];

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 2, true, IB_QPT_RC), 0);
	task = kthread_create(exit_at_once, NULL, "exit_at_once");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	res = &o.qp[0]->res;
	put_task_struct(res->task);
	res->task = task;	/* takes over the reference */
	wake_up_process(task);
	KUNIT_ASSERT_TRUE(test, wait_until(!task_pid_nr_ns(task, &init_pid_ns)));
	KUNIT_EXPECT_EQ(test, get(RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_LQPN,
				  o.qp[0]->qp_num), -ENOENT);
	KUNIT_EXPECT_EQ(test, nl_call(&nl, nl_dev_dump(&nl, RDMA_NLDEV_CMD_RES_QP_GET,
						       hca, 0)), 0);
	KUNIT_EXPECT_EQ(test, collect(RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY,
				      RDMA_NLDEV_ATTR_RES_LQPN, ids, 4), 1);
	KUNIT_EXPECT_EQ(test, ids[0], o.qp[1]->qp_num);
	test_objects_destroy(&o);
}

static void qps_are_listed_by_port(struct kunit *test)
{
	u32 ids[4];
	int port;

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 3, false, IB_QPT_RC), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[0], 1), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[2], 2), 0);
	for (port = 1; port <= 2; port++) {
		KUNIT_EXPECT_EQ(test, nl_call(&nl, nl_dev_dump(&nl, RDMA_NLDEV_CMD_RES_QP_GET,
							       hca, port)), 0);
		KUNIT_EXPECT_EQ(test, collect(RDMA_NLDEV_ATTR_RES_QP,
					      RDMA_NLDEV_ATTR_RES_QP_ENTRY,
					      RDMA_NLDEV_ATTR_RES_LQPN, ids, 4), 1);
		KUNIT_EXPECT_EQ(test, ids[0], o.qp[port == 1 ? 0 : 2]->qp_num);
	}
	KUNIT_EXPECT_EQ(test, get_on(RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_LQPN,
				     o.qp[0]->qp_num, 2), -ENOENT);
	test_objects_destroy(&o);
}

/* ---- lists of several pages ---- */

#define PDS 300

static struct ib_pd **pds;
static int first_gone, last_gone;

static int list_pds(u32 *ids)
{
	int ret;

	ret = nl_call(&nl, nl_dev_dump(&nl, RDMA_NLDEV_CMD_RES_PD_GET, hca, 0));
	return ret ?: collect(RDMA_NLDEV_ATTR_RES_PD, RDMA_NLDEV_ATTR_RES_PD_ENTRY,
			      RDMA_NLDEV_ATTR_RES_PDN, ids, 2 * PDS);
}

static void make_pds(struct kunit *test)
{
	int i;

	pds = kunit_kcalloc(test, PDS, sizeof(*pds), GFP_KERNEL);
	for (i = 0; i < PDS; i++) {
		pds[i] = ib_alloc_pd(&hca->ibdev, 0);
		KUNIT_ASSERT_FALSE(test, IS_ERR(pds[i]));
	}
}

static void drop_pd(int i)
{
	if (pds[i])
		ib_dealloc_pd(pds[i]);
	pds[i] = NULL;
}

static void a_long_list_has_everything_once(struct kunit *test)
{
	u32 *ids = kunit_kcalloc(test, 2 * PDS, sizeof(*ids), GFP_KERNEL);
	int i;

	make_pds(test);
	KUNIT_EXPECT_EQ(test, list_pds(ids), PDS);
	KUNIT_EXPECT_GT(test, nl.pages, 4);
	for (i = 0; i < PDS; i++)
		KUNIT_EXPECT_EQ(test, ids[i], pds[i]->res.id);
	for (i = 0; i < PDS; i++)
		drop_pd(i);
}

/* After the first page, deletes the PDs that it showed, or many still to come. */
static void drop_some(struct nl *unused)
{
	int i;

	for (i = first_gone; i < last_gone; i++)
		drop_pd(i);
}

static void a_long_list_of_what_comes_and_goes(struct kunit *test)
{
	u32 *ids = kunit_kcalloc(test, 2 * PDS, sizeof(*ids), GFP_KERNEL);
	int i, n;

	make_pds(test);
	nl.between = drop_some;
	first_gone = 0;
	last_gone = 10;
	n = list_pds(ids);
	/* PDs that exist all the time are shown once, deleted ones at most once. */
	KUNIT_EXPECT_EQ(test, n, PDS);
	for (i = 1; i < n; i++)
		KUNIT_EXPECT_GT(test, ids[i], ids[i - 1]);
	KUNIT_EXPECT_EQ(test, ids[n - 1], pds[PDS - 1]->res.id);

	first_gone = 200;
	last_gone = PDS;
	n = list_pds(ids);
	KUNIT_EXPECT_EQ(test, n, 190);
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, ids[i], pds[i + 10]->res.id);
	nl.between = NULL;
	for (i = 0; i < PDS; i++)
		drop_pd(i);
}

static void remove_device(struct nl *unused)
{
	int i;

	if (!hca)
		return;
	for (i = 0; i < PDS; i++)
		drop_pd(i);
	fake_hca_destroy(hca);
	hca = NULL;
}

/* The dump ends with an error after its first pages, and does not crash. */
static void a_list_of_a_device_that_goes(struct kunit *test)
{
	u32 *ids = kunit_kcalloc(test, 2 * PDS, sizeof(*ids), GFP_KERNEL);

	make_pds(test);
	nl.between = remove_device;
	KUNIT_EXPECT_EQ(test, list_pds(ids), -EINVAL);
	nl.between = NULL;
	KUNIT_EXPECT_EQ(test, nl.n, 2);
	KUNIT_EXPECT_NULL(test, hca);
}

static struct kunit_case nldev_res_cases[] = {
	KUNIT_CASE(objects_are_counted),
	KUNIT_CASE(drivers_own_qps_are_listed_on_demand),
	KUNIT_CASE(a_pd_is_shown),
	KUNIT_CASE(a_cq_is_shown),
	KUNIT_CASE(a_kernel_qp_is_shown),
	KUNIT_CASE(a_user_qp_is_shown_with_its_process_and_pd),
	KUNIT_CASE(an_mr_is_shown),
	KUNIT_CASE(an_srq_is_shown_with_its_qps),
	KUNIT_CASE(a_tag_matching_srq_is_shown_with_its_cq),
	KUNIT_CASE(a_context_is_shown_and_named_by_its_objects),
	KUNIT_CASE(a_cm_id_is_shown),
	KUNIT_CASE(drivers_add_what_they_know),
	KUNIT_CASE(what_does_not_fit_is_left_out_whole),
	KUNIT_CASE(an_object_is_asked_for_by_its_number),
	KUNIT_CASE(a_driver_that_does_not_answer),
	KUNIT_CASE(an_owner_that_has_exited_is_not_shown),
	KUNIT_CASE(qps_are_listed_by_port),
	KUNIT_CASE(a_long_list_has_everything_once),
	KUNIT_CASE(a_long_list_of_what_comes_and_goes),
	KUNIT_CASE(a_list_of_a_device_that_goes),
	{}
};

static struct kunit_suite ibcore_nldev_res_suite = {
	.name = "ib_core_nldev_res",
	.init = res_test_init,
	.exit = res_test_exit,
	.test_cases = nldev_res_cases,
};

kunit_test_suite(ibcore_nldev_res_suite);
