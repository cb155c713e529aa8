// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared receive queues of processes. */
#include "faults.h"
#include "process_queues.h"
#include "user/uverbs_test.h"

static struct ib_srq *srq_of(struct commands *c, u32 handle)
{
	return commands_object(c, UVERBS_OBJECT_SRQ, handle);
}

static void x_cmd(struct ib_uverbs_create_xsrq *cmd, u32 type)
{
	*cmd = (struct ib_uverbs_create_xsrq) {
		.srq_type = type, .pd_handle = queues.pd, .max_wr = 10, .max_sge = 2,
		.srq_limit = 3, .max_num_tags = 4, .user_handle = 0x77,
		.cq_handle = queues.cq,
	};
}

static int create_x(struct commands *c, const struct ib_uverbs_create_xsrq *cmd,
		    struct ib_uverbs_create_srq_resp *resp)
{
	return commands_write(c, CMD(CREATE_XSRQ), cmd, sizeof(*cmd), resp,
			      sizeof(*resp));
}

static void an_srq_is_made_as_asked_for(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_create_srq cmd = {
		.pd_handle = queues.pd, .user_handle = 0x66, .max_wr = 8, .max_sge = 2,
		.srq_limit = 1,
	};
	const struct ib_srq_init_attr *asked = &c->hca->queues.srq;
	struct ib_uverbs_create_srq_resp resp;
	struct ib_uobject *uobj;
	struct ib_srq *srq;

	KUNIT_ASSERT_EQ(test, commands_write(c, CMD(CREATE_SRQ), &cmd, sizeof(cmd), &resp,
					     sizeof(resp)), 0);
	KUNIT_EXPECT_EQ(test, resp.max_wr, 9u);
	KUNIT_EXPECT_EQ(test, resp.max_sge, 2u);
	KUNIT_EXPECT_EQ(test, resp.srqn, 0u);
	KUNIT_EXPECT_EQ(test, asked->attr.srq_limit, 1u);
	KUNIT_EXPECT_EQ(test, (int)asked->srq_type, IB_SRQT_BASIC);
	KUNIT_EXPECT_NULL(test, asked->ext.cq);
	srq = srq_of(c, resp.srq_handle);
	KUNIT_ASSERT_NOT_NULL(test, srq);
	uobj = &srq->uobject->event.uobject;
	KUNIT_EXPECT_EQ(test, uobj->user_handle, 0x66ull);
	KUNIT_EXPECT_PTR_EQ(test, srq->srq_context, (void *)srq->uobject);
	KUNIT_EXPECT_EQ(test, atomic_read(&srq->pd->usecnt), 1);
	KUNIT_EXPECT_EQ(test, queues_destroy_srq(c, resp.srq_handle), 0);
	KUNIT_EXPECT_EQ(test, queues_destroy_srq(c, resp.srq_handle), -ENOENT);
	queues_expect_idle(c);
}

static void one_that_matches_tags(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_create_xsrq cmd;
	const struct ib_srq_init_attr *asked = &c->hca->queues.srq;
	struct ib_uverbs_create_srq_resp resp;

	x_cmd(&cmd, IB_SRQT_TM);
	KUNIT_ASSERT_EQ(test, create_x(c, &cmd, &resp), 0);
	KUNIT_EXPECT_EQ(test, asked->ext.tag_matching.max_num_tags, 4u);
	KUNIT_EXPECT_EQ(test, atomic_read(&asked->ext.cq->usecnt), 1);
	KUNIT_EXPECT_EQ(test, queues_destroy_srq(c, resp.srq_handle), 0);
	cmd.cq_handle = queues.pd;
	KUNIT_EXPECT_EQ(test, create_x(c, &cmd, &resp), -EINVAL);
	x_cmd(&cmd, IB_SRQT_BASIC);
	KUNIT_ASSERT_EQ(test, create_x(c, &cmd, &resp), 0);
	KUNIT_EXPECT_EQ(test, queues_destroy_srq(c, resp.srq_handle), 0);
	cmd.srq_type = IB_SRQT_TM + 1;
	KUNIT_EXPECT_EQ(test, create_x(c, &cmd, &resp), -EOPNOTSUPP);
	x_cmd(&cmd, IB_SRQT_XRC);
	cmd.xrcd_handle = queues.pd;
	KUNIT_EXPECT_EQ(test, create_x(c, &cmd, &resp), -EINVAL);
	cmd.xrcd_handle = 0x7ffffff0;
	KUNIT_EXPECT_EQ(test, create_x(c, &cmd, &resp), -EINVAL);
	queues_expect_idle(c);
}

static void add_ioctl(struct commands *c, u32 type)
{
	commands_begin(c, UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE);
	commands_new(c, UVERBS_ATTR_CREATE_SRQ_HANDLE);
	commands_u64(c, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 0x55);
	queues_add_srq(c, type);
}

static void xrc_srqs_use_their_domain(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 xrcd = queues_xrcd(c), handle;
	struct ib_uverbs_close_xrcd close = { .xrcd_handle = xrcd };
	struct ib_uverbs_create_xsrq cmd;
	struct ib_uverbs_create_srq_resp resp;
	struct ib_uverbs_ex_create_qp qp;
	struct ib_uverbs_ex_create_qp_resp qp_resp;

	x_cmd(&cmd, IB_SRQT_XRC);
	cmd.xrcd_handle = xrcd;
	KUNIT_ASSERT_EQ(test, create_x(c, &cmd, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.srqn, 77u);
	KUNIT_EXPECT_EQ(test, commands_write(c, CMD(CLOSE_XRCD), &close, sizeof(close),
					     NULL, 0), -EBUSY);
	queues_qp_cmd(&qp, IB_QPT_RC);
	qp.is_srq = 1;
	qp.srq_handle = resp.srq_handle;
	KUNIT_EXPECT_EQ(test, queues_create_qp(c, &qp, &qp_resp), -EINVAL);
	KUNIT_EXPECT_EQ(test, queues_destroy_srq(c, resp.srq_handle), 0);
	add_ioctl(c, IB_UVERBS_SRQT_XRC);
	commands_obj(c, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, queues.cq);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -ENOENT);
	commands_obj(c, UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, xrcd);
	commands_out(c, UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, sizeof(u32));
	KUNIT_ASSERT_EQ(test, commands_ioctl(c), 0);
	KUNIT_EXPECT_EQ(test, commands_got_u32(c, UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM),
			77u);
	handle = commands_got_handle(c, UVERBS_ATTR_CREATE_SRQ_HANDLE);
	KUNIT_EXPECT_EQ(test, queues_destroy_srq(c, handle), 0);
	KUNIT_EXPECT_EQ(test, commands_write(c, CMD(CLOSE_XRCD), &close, sizeof(close),
					     NULL, 0), 0);
	queues_expect_idle(c);
}

static void one_is_made_by_ioctl(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 handle;

	add_ioctl(c, IB_UVERBS_SRQT_BASIC);
	KUNIT_ASSERT_EQ(test, commands_ioctl(c), 0);
	handle = commands_got_handle(c, UVERBS_ATTR_CREATE_SRQ_HANDLE);
	KUNIT_EXPECT_EQ(test, commands_got_u32(c, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR),
			21u);
	KUNIT_EXPECT_EQ(test, commands_got_u32(c, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE),
			3u);
	KUNIT_EXPECT_EQ(test, c->hca->queues.srq.attr.srq_limit, 2u);
	KUNIT_EXPECT_EQ(test, queues_destroy(c, UVERBS_OBJECT_SRQ,
					     UVERBS_METHOD_SRQ_DESTROY, handle), 0);
	KUNIT_EXPECT_TRUE(test, commands_is_written(c, UVERBS_ATTR_DESTROY_SRQ_RESP));

	/* A basic SRQ has neither a CQ nor tags. */
	add_ioctl(c, IB_UVERBS_SRQT_BASIC);
	commands_obj(c, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, queues.cq);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EINVAL);
	add_ioctl(c, IB_UVERBS_SRQT_BASIC);
	commands_u32(c, UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS, 4);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EINVAL);
	add_ioctl(c, IB_UVERBS_SRQT_TM);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -ENOENT);
	commands_obj(c, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, queues.cq);
	commands_u32(c, UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS, 4);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), 0);
	KUNIT_EXPECT_EQ(test, c->hca->queues.srq.ext.tag_matching.max_num_tags, 4u);
	handle = commands_got_handle(c, UVERBS_ATTR_CREATE_SRQ_HANDLE);
	KUNIT_EXPECT_EQ(test, queues_destroy_srq(c, handle), 0);
	queues_expect_idle(c);
}

static void modify_and_query(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 handle = queues_srq(c);
	struct ib_uverbs_modify_srq cmd = {
		.srq_handle = handle, .attr_mask = IB_SRQ_LIMIT, .srq_limit = 6,
		.max_wr = 30,
	};
	struct ib_uverbs_query_srq ask = { .srq_handle = handle };
	struct ib_uverbs_query_srq_resp resp;

	KUNIT_ASSERT_EQ(test, commands_write(c, CMD(MODIFY_SRQ), &cmd, sizeof(cmd), NULL,
					     0), 0);
	KUNIT_EXPECT_EQ(test, c->hca->queues.srq_mask, (int)IB_SRQ_LIMIT);
	KUNIT_EXPECT_EQ(test, c->hca->queues.srq_attr.max_wr, 30u);
	KUNIT_ASSERT_EQ(test, commands_write(c, CMD(QUERY_SRQ), &ask, sizeof(ask), &resp,
					     sizeof(resp)), 0);
	KUNIT_EXPECT_EQ(test, resp.srq_limit, 6u);
	KUNIT_EXPECT_EQ(test, resp.max_wr, 9u);
	KUNIT_EXPECT_EQ(test, resp.max_sge, 1u);
	cmd.attr_mask = 4;
	KUNIT_EXPECT_EQ(test, commands_write(c, CMD(MODIFY_SRQ), &cmd, sizeof(cmd), NULL,
					     0), -EINVAL);
	cmd.attr_mask = IB_SRQ_LIMIT;
	cmd.srq_handle = queues.cq;
	KUNIT_EXPECT_EQ(test, commands_write(c, CMD(MODIFY_SRQ), &cmd, sizeof(cmd), NULL,
					     0), -EINVAL);
	ask.srq_handle = queues.cq;
	KUNIT_EXPECT_EQ(test, commands_write(c, CMD(QUERY_SRQ), &ask, sizeof(ask), &resp,
					     sizeof(resp)), -EINVAL);
	c->hca->queues.error = -EIO;
	ask.srq_handle = handle;
	cmd.srq_handle = handle;
	KUNIT_EXPECT_EQ(test, commands_write(c, CMD(MODIFY_SRQ), &cmd, sizeof(cmd), NULL,
					     0), -EIO);
	KUNIT_EXPECT_EQ(test, commands_write(c, CMD(QUERY_SRQ), &ask, sizeof(ask), &resp,
					     sizeof(resp)), -EIO);
}

static void what_is_no_proper_call(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_create_xsrq x;
	struct ib_uverbs_create_srq plain = { .pd_handle = queues.pd };
	struct ib_uverbs_query_srq ask = { .srq_handle = queues_srq(c) };
	struct ib_uverbs_modify_srq modify = { .srq_handle = ask.srq_handle };
	struct ib_uverbs_destroy_srq destroy = { .srq_handle = queues_srq(c) };

	x_cmd(&x, IB_SRQT_TM);
	commands_check_lengths(c, CMD(CREATE_SRQ), &plain, sizeof(plain),
			       sizeof(struct ib_uverbs_create_srq_resp), true);
	commands_check_lengths(c, CMD(CREATE_XSRQ), &x, sizeof(x),
			       sizeof(struct ib_uverbs_create_srq_resp), true);
	commands_check_lengths(c, CMD(QUERY_SRQ), &ask, sizeof(ask),
			       sizeof(struct ib_uverbs_query_srq_resp), false);
	commands_check_lengths(c, CMD(MODIFY_SRQ), &modify, sizeof(modify), 0, true);
	queues_check_destroy(c, CMD(DESTROY_SRQ), &destroy, sizeof(destroy),
			     sizeof(struct ib_uverbs_destroy_srq_resp));
	add_ioctl(c, IB_UVERBS_SRQT_TM);
	commands_obj(c, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, queues.cq);
	commands_check_attrs(c);
}

static void a_driver_that_refuses(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_create_xsrq cmd;
	struct ib_uverbs_create_srq_resp resp;
	u32 handle;

	x_cmd(&cmd, IB_SRQT_TM);
	atomic_set(&c->hca->fail_create[FAKE_SRQ], 1);
	KUNIT_EXPECT_EQ(test, create_x(c, &cmd, &resp), -ENOMEM);
	queues_expect_idle(c);
	handle = queues_srq(c);
	atomic_set(&c->hca->fail_destroy[FAKE_SRQ], 1);
	KUNIT_EXPECT_EQ(test, queues_destroy_srq(c, handle), -EIO);
	KUNIT_EXPECT_EQ(test, queues_destroy_srq(c, handle), 0);
	queues_expect_idle(c);
}

static int make_and_destroy(struct kunit *test)
{
	struct ib_uverbs_create_srq_resp resp;
	struct ib_uverbs_create_xsrq cmd;
	struct commands *c = test->priv;
	int ret;

	x_cmd(&cmd, IB_SRQT_TM);
	ret = create_x(c, &cmd, &resp);
	return ret ?: queues_destroy_srq(c, resp.srq_handle);
}

static void each_allocation_may_fail(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, make_and_destroy), 2);
	queues_expect_idle(test->priv);
}

static struct kunit_case srq_cases[] = {
	KUNIT_CASE(an_srq_is_made_as_asked_for),
	KUNIT_CASE(one_that_matches_tags),
	KUNIT_CASE(xrc_srqs_use_their_domain),
	KUNIT_CASE(one_is_made_by_ioctl),
	KUNIT_CASE(modify_and_query),
	KUNIT_CASE(what_is_no_proper_call),
	KUNIT_CASE(a_driver_that_refuses),
	KUNIT_CASE(each_allocation_may_fail),
	{}
};

static struct kunit_suite uverbs_srq_suite = {
	.name = "uverbs_srq",
	.init = queues_init,
	.exit = commands_exit,
	.test_cases = srq_cases,
};

kunit_test_suite(uverbs_srq_suite);
