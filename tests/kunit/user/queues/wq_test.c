// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Work queues of processes, and the tables that spread received packets among them. */
#include "faults.h"
#include "process_queues.h"
#include "user/uverbs_test.h"

static struct ib_wq *wq_of(struct commands *c, u32 handle)
{
	return commands_object(c, UVERBS_OBJECT_WQ, handle);
}

static struct ib_uverbs_ex_create_wq wq_cmd(void)
{
	return (struct ib_uverbs_ex_create_wq) {
		.wq_type = IB_WQT_RQ, .user_handle = 0x44, .pd_handle = queues.pd,
		.cq_handle = queues.cq, .max_wr = 12, .max_sge = 2,
	};
}

static int create(struct commands *c, const struct ib_uverbs_ex_create_wq *cmd,
		  struct ib_uverbs_ex_create_wq_resp *resp)
{
	return commands_write(c, EX(CREATE_WQ), cmd, sizeof(*cmd), resp, sizeof(*resp));
}

static void a_wq_is_made_as_asked_for(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_ex_create_wq cmd = wq_cmd();
	const struct ib_wq_init_attr *asked = &c->hca->queues.wq;
	struct ib_uverbs_ex_create_wq_resp resp;
	struct ib_uobject *uobj;
	struct ib_wq *wq;

	cmd.create_flags = IB_WQ_FLAGS_SCATTER_FCS;
	KUNIT_ASSERT_EQ(test, create(c, &cmd, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.response_length, (u32)sizeof(resp));
	KUNIT_EXPECT_EQ(test, resp.wqn, 55u);
	KUNIT_EXPECT_EQ(test, resp.max_wr, 13u);
	KUNIT_EXPECT_EQ(test, resp.max_sge, 2u);
	KUNIT_EXPECT_EQ(test, asked->create_flags, (u32)IB_WQ_FLAGS_SCATTER_FCS);
	wq = wq_of(c, resp.wq_handle);
	KUNIT_ASSERT_NOT_NULL(test, wq);
	uobj = &wq->uobject->event.uobject;
	KUNIT_EXPECT_EQ(test, uobj->user_handle, 0x44ull);
	KUNIT_EXPECT_PTR_EQ(test, wq->wq_context, (void *)wq->uobject);
	KUNIT_EXPECT_EQ(test, atomic_read(&wq->pd->usecnt), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&wq->cq->usecnt), 1);
	KUNIT_EXPECT_EQ(test, queues_destroy_wq(c, resp.wq_handle), 0);
	KUNIT_EXPECT_EQ(test, queues_destroy_wq(c, resp.wq_handle), -ENOENT);
	queues_expect_idle(c);
}

static void what_no_wq_can_be_made_of(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_ex_create_wq cmd = wq_cmd();
	struct ib_uverbs_ex_create_wq_resp resp;

	cmd.comp_mask = 1;
	KUNIT_EXPECT_EQ(test, create(c, &cmd, &resp), -EOPNOTSUPP);
	cmd = wq_cmd();
	cmd.create_flags = 1 << 4;
	KUNIT_EXPECT_EQ(test, create(c, &cmd, &resp), -EOPNOTSUPP);
	cmd = wq_cmd();
	cmd.wq_type = 1;
	KUNIT_EXPECT_EQ(test, create(c, &cmd, &resp), -EINVAL);
	cmd = wq_cmd();
	cmd.pd_handle = queues.cq;
	KUNIT_EXPECT_EQ(test, create(c, &cmd, &resp), -EINVAL);
	cmd = wq_cmd();
	cmd.cq_handle = queues.pd;
	KUNIT_EXPECT_EQ(test, create(c, &cmd, &resp), -EINVAL);
	cmd = wq_cmd();
	atomic_set(&c->hca->fail_create[FAKE_WQ], 1);
	KUNIT_EXPECT_EQ(test, create(c, &cmd, &resp), -ENOMEM);
	queues_expect_idle(c);
}

static void add_ioctl(struct commands *c)
{
	commands_begin(c, UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE);
	commands_new(c, UVERBS_ATTR_CREATE_WQ_HANDLE);
	commands_u64(c, UVERBS_ATTR_CREATE_WQ_USER_HANDLE, 0x33);
	queues_add_wq(c);
}

static void one_is_made_by_ioctl(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 handle;

	add_ioctl(c);
	commands_u32(c, UVERBS_ATTR_CREATE_WQ_FLAGS, IB_UVERBS_WQ_FLAGS_DELAY_DROP);
	KUNIT_ASSERT_EQ(test, commands_ioctl(c), 0);
	KUNIT_EXPECT_EQ(test, commands_got_u32(c, UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR), 7u);
	KUNIT_EXPECT_EQ(test, commands_got_u32(c, UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE), 1u);
	KUNIT_EXPECT_EQ(test, commands_got_u32(c, UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM), 55u);
	KUNIT_EXPECT_EQ(test, c->hca->queues.wq.create_flags,
			(u32)IB_WQ_FLAGS_DELAY_DROP);
	handle = commands_got_handle(c, UVERBS_ATTR_CREATE_WQ_HANDLE);
	KUNIT_EXPECT_EQ(test, queues_destroy(c, UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY,
					     handle), 0);
	KUNIT_EXPECT_TRUE(test, commands_is_written(c, UVERBS_ATTR_DESTROY_WQ_RESP));
	add_ioctl(c);
	commands_u32(c, UVERBS_ATTR_CREATE_WQ_FLAGS, 1 << 4);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EINVAL);
	queues_expect_idle(c);
}

static int modify(struct commands *c, u32 handle, struct ib_uverbs_ex_modify_wq cmd)
{
	cmd.wq_handle = handle;
	return commands_write(c, EX(MODIFY_WQ), &cmd, sizeof(cmd), NULL, 0);
}

static void states_of_a_wq(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_ex_modify_wq cmd = { .attr_mask = IB_WQ_STATE,
					      .wq_state = IB_WQS_RDY,
					      .curr_wq_state = 99 };
	const struct ib_wq_attr *asked = &c->hca->queues.wq_attr;
	u32 handle = queues_wq(c);

	KUNIT_EXPECT_EQ(test, modify(c, handle, cmd), 0);
	KUNIT_EXPECT_EQ(test, (int)asked->curr_wq_state, IB_WQS_RESET);
	KUNIT_EXPECT_EQ(test, (int)asked->wq_state, IB_WQS_RDY);
	cmd.attr_mask = IB_WQ_FLAGS;
	cmd.flags = IB_WQ_FLAGS_CVLAN_STRIPPING;
	cmd.flags_mask = IB_WQ_FLAGS_CVLAN_STRIPPING;
	KUNIT_EXPECT_EQ(test, modify(c, handle, cmd), 0);
	KUNIT_EXPECT_EQ(test, (int)asked->wq_state, IB_WQS_RDY);
	KUNIT_EXPECT_EQ(test, (int)asked->curr_wq_state, IB_WQS_RDY);
	KUNIT_EXPECT_EQ(test, asked->flags, (u32)IB_WQ_FLAGS_CVLAN_STRIPPING);
	cmd.flags_mask = 1 << 4;
	KUNIT_EXPECT_EQ(test, modify(c, handle, cmd), -EOPNOTSUPP);
	cmd.attr_mask = IB_WQ_CUR_STATE;
	KUNIT_EXPECT_EQ(test, modify(c, handle, cmd), -EINVAL);
	cmd.attr_mask = IB_WQ_STATE;
	cmd.wq_state = IB_WQS_ERR + 1;
	KUNIT_EXPECT_EQ(test, modify(c, handle, cmd), -EINVAL);
	cmd.wq_state = IB_WQS_ERR;
	cmd.attr_mask = 0;
	KUNIT_EXPECT_EQ(test, modify(c, handle, cmd), -EINVAL);
	cmd.attr_mask = 8;
	KUNIT_EXPECT_EQ(test, modify(c, handle, cmd), -EINVAL);
	cmd.attr_mask = IB_WQ_STATE;
	KUNIT_EXPECT_EQ(test, modify(c, queues.cq, cmd), -EINVAL);
	c->hca->queues.error = -EIO;
	KUNIT_EXPECT_EQ(test, modify(c, handle, cmd), -EIO);
}

static int create_tbl(struct commands *c, const void *cmd, size_t len, u32 *handle)
{
	struct ib_uverbs_ex_create_rwq_ind_table_resp resp = {};
	int ret;

	ret = commands_write(c, EX(CREATE_RWQ_IND_TBL), cmd, len, &resp, sizeof(resp));
	*handle = resp.ind_tbl_handle;
	if (!ret)
		KUNIT_EXPECT_EQ(c->test, resp.ind_tbl_num, 66u);
	return ret;
}

static void a_table_uses_its_wqs(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 a = queues_wq(c), b = queues_wq(c), handle;
	u32 four[] = { 0, 2, a, b, a, a };
	struct ib_rwq_ind_table *tbl;

	KUNIT_ASSERT_EQ(test, create_tbl(c, four, sizeof(four), &handle), 0);
	tbl = commands_object(c, UVERBS_OBJECT_RWQ_IND_TBL, handle);
	KUNIT_ASSERT_NOT_NULL(test, tbl);
	KUNIT_EXPECT_EQ(test, tbl->log_ind_tbl_size, 2u);
	KUNIT_EXPECT_PTR_EQ(test, (void *)tbl->ind_tbl[1], (void *)wq_of(c, b));
	KUNIT_EXPECT_EQ(test, atomic_read(&wq_of(c, a)->usecnt), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&wq_of(c, b)->usecnt), 1);
	KUNIT_EXPECT_EQ(test, queues_destroy_wq(c, b), -EBUSY);
	atomic_inc(&tbl->usecnt);
	KUNIT_EXPECT_EQ(test, queues_destroy_ind_tbl(c, handle), -EBUSY);
	atomic_dec(&tbl->usecnt);
	atomic_set(&c->hca->fail_destroy[FAKE_IND_TBL], 1);
	KUNIT_EXPECT_EQ(test, queues_destroy_ind_tbl(c, handle), -EIO);
	KUNIT_EXPECT_EQ(test, atomic_read(&wq_of(c, a)->usecnt), 3);
	KUNIT_EXPECT_EQ(test, commands_destroy(c, UVERBS_OBJECT_RWQ_IND_TBL,
					       UVERBS_METHOD_RWQ_IND_TBL_DESTROY, handle),
			0);
	KUNIT_EXPECT_EQ(test, queues_destroy_wq(c, a), 0);
	KUNIT_EXPECT_EQ(test, queues_destroy_wq(c, b), 0);
	queues_expect_idle(c);
}

static void a_table_of_one_is_padded(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 one[] = { 0, 0, queues_wq(c), 0xdeadbeef }, handle;

	KUNIT_EXPECT_EQ(test, create_tbl(c, one, sizeof(one), &handle), 0);
	KUNIT_EXPECT_EQ(test, queues_destroy_ind_tbl(c, handle), 0);
	c->invoke = true;
	KUNIT_EXPECT_EQ(test, create_tbl(c, one, 12, &handle), 0);
}

static void what_is_no_table(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 wq = queues_wq(c), handle;
	u32 cmd[] = { 0, 1, wq, queues.cq, 1, 1 };
	struct ib_uverbs_ex_destroy_rwq_ind_table destroy = { .comp_mask = 1 };

	KUNIT_EXPECT_EQ(test, create_tbl(c, cmd, 16, &handle), -EINVAL);
	cmd[3] = wq;
	KUNIT_EXPECT_EQ(test, create_tbl(c, cmd, 24, &handle), -EOPNOTSUPP);
	cmd[1] = 2;
	KUNIT_EXPECT_EQ(test, create_tbl(c, cmd, 16, &handle), -ENOSPC);
	cmd[1] = 13;
	KUNIT_EXPECT_EQ(test, create_tbl(c, cmd, 16, &handle), -ENOSPC);
	cmd[1] = 14;
	KUNIT_EXPECT_EQ(test, create_tbl(c, cmd, 16, &handle), -EINVAL);
	cmd[1] = 32;
	KUNIT_EXPECT_EQ(test, create_tbl(c, cmd, 16, &handle), -EINVAL);
	cmd[1] = 1;
	cmd[0] = 1;
	KUNIT_EXPECT_EQ(test, create_tbl(c, cmd, 16, &handle), -EOPNOTSUPP);
	cmd[0] = 0;
	atomic_set(&c->hca->fail_create[FAKE_IND_TBL], 1);
	KUNIT_EXPECT_EQ(test, create_tbl(c, cmd, 16, &handle), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&wq_of(c, wq)->usecnt), 0);
	KUNIT_EXPECT_EQ(test, commands_write(c, EX(DESTROY_RWQ_IND_TBL), &destroy,
					     sizeof(destroy), NULL, 0), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, queues_destroy_ind_tbl(c, wq), -EINVAL);
}

static void what_is_no_proper_call(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_ex_create_wq cmd = wq_cmd();
	struct ib_uverbs_ex_destroy_wq destroy = { .wq_handle = queues_wq(c) };
	struct ib_uverbs_ex_modify_wq modify_cmd = { .attr_mask = IB_WQ_STATE };
	u32 tbl[] = { 0, 1, destroy.wq_handle, destroy.wq_handle };
	struct ib_uverbs_ex_destroy_rwq_ind_table no_tbl = {};

	commands_check_lengths(c, EX(CREATE_WQ), &cmd, 32,
			       sizeof(struct ib_uverbs_ex_create_wq_resp), true);
	queues_check_destroy(c, EX(DESTROY_WQ), &destroy, sizeof(destroy), 16);
	modify_cmd.wq_handle = destroy.wq_handle;
	commands_check_lengths(c, EX(MODIFY_WQ), &modify_cmd, 16, 0, true);
	no_tbl.ind_tbl_handle = queues_ind_tbl(c, destroy.wq_handle);
	commands_check_lengths(c, EX(DESTROY_RWQ_IND_TBL), &no_tbl, sizeof(no_tbl), 0,
			       false);
	commands_check_lengths(c, EX(CREATE_RWQ_IND_TBL), tbl, sizeof(tbl),
			       sizeof(struct ib_uverbs_ex_create_rwq_ind_table_resp),
			       false);
	destroy.comp_mask = 1;
	KUNIT_EXPECT_EQ(test, commands_write(c, EX(DESTROY_WQ), &destroy, sizeof(destroy),
					     tbl, 16), -EOPNOTSUPP);
	add_ioctl(c);
	commands_check_attrs(c);
}

static int make_and_destroy(struct kunit *test)
{
	struct ib_uverbs_ex_create_wq_resp resp;
	struct ib_uverbs_ex_create_wq cmd = wq_cmd();
	struct commands *c = test->priv;
	u32 tbl[] = { 0, 1, 0, 0 }, handle;
	int ret;

	ret = create(c, &cmd, &resp);
	if (ret)
		return ret;
	tbl[2] = resp.wq_handle;
	tbl[3] = resp.wq_handle;
	ret = create_tbl(c, tbl, sizeof(tbl), &handle);
	if (!ret)
		ret = queues_destroy_ind_tbl(c, handle);
	return queues_destroy_wq(c, resp.wq_handle) ?: ret;
}

static void each_allocation_may_fail(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, make_and_destroy), 5);
	queues_expect_idle(test->priv);
}

static struct kunit_case wq_cases[] = {
	KUNIT_CASE(a_wq_is_made_as_asked_for),
	KUNIT_CASE(what_no_wq_can_be_made_of),
	KUNIT_CASE(one_is_made_by_ioctl),
	KUNIT_CASE(states_of_a_wq),
	KUNIT_CASE(a_table_uses_its_wqs),
	KUNIT_CASE(a_table_of_one_is_padded),
	KUNIT_CASE(what_is_no_table),
	KUNIT_CASE(what_is_no_proper_call),
	KUNIT_CASE(each_allocation_may_fail),
	{}
};

static struct kunit_suite uverbs_wq_suite = {
	.name = "uverbs_wq",
	.init = queues_init,
	.exit = commands_exit,
	.test_cases = wq_cases,
};

kunit_test_suite(uverbs_wq_suite);
