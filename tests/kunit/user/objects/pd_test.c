// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Protection domains, by command and by ioctl. */
#include "user/call/commands.h"
#include "faults.h"
#include "user/uverbs_test.h"

static int dealloc(struct commands *c, u32 handle)
{
	struct ib_uverbs_dealloc_pd cmd = { .pd_handle = handle };

	return commands_write(c, IB_USER_VERBS_CMD_DEALLOC_PD, &cmd, sizeof(cmd), NULL, 0);
}

static int destroy(struct commands *c, u32 handle)
{
	return commands_destroy(c, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, handle);
}

static int alloc(struct commands *c, struct ib_uverbs_alloc_pd_resp *resp)
{
	struct ib_uverbs_alloc_pd cmd = {};

	return commands_write(c, IB_USER_VERBS_CMD_ALLOC_PD, &cmd, sizeof(cmd), resp,
			      sizeof(*resp));
}

static void a_pd_is_the_process_s_until_it_is_freed(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 handle = commands_pd(c);
	struct ib_pd *pd = commands_object(c, UVERBS_OBJECT_PD, handle);

	KUNIT_ASSERT_NOT_NULL(test, pd);
	KUNIT_EXPECT_PTR_EQ(test, pd->uobject->object, (void *)pd);
	KUNIT_EXPECT_PTR_EQ(test, pd->device, &c->hca->ibdev);
	KUNIT_EXPECT_FALSE(test, rdma_is_kernel_res(&pd->res));
	KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->alive[FAKE_PD]), 1);
	KUNIT_EXPECT_EQ(test, dealloc(c, handle), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->alive[FAKE_PD]), 0);
	KUNIT_EXPECT_EQ(test, dealloc(c, handle), -ENOENT);
	KUNIT_EXPECT_EQ(test, destroy(c, handle), -ENOENT);
	handle = commands_pd(c);
	KUNIT_EXPECT_EQ(test, destroy(c, handle), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->alive[FAKE_PD]), 0);
}

static void a_command_may_come_by_ioctl(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 handle;

	c->invoke = true;
	handle = commands_pd(c);
	KUNIT_EXPECT_TRUE(test, commands_is_written(c, UVERBS_ATTR_CORE_OUT));
	KUNIT_EXPECT_NOT_NULL(test, commands_object(c, UVERBS_OBJECT_PD, handle));
	KUNIT_EXPECT_EQ(test, dealloc(c, handle), 0);
}

static void what_is_no_proper_call(struct kunit *test)
{
	struct ib_uverbs_dealloc_pd dealloc_cmd = {};
	struct ib_uverbs_alloc_pd cmd = {};
	struct commands *c = test->priv;
	u32 handle = commands_pd(c);

	commands_check_lengths(c, IB_USER_VERBS_CMD_ALLOC_PD, &cmd, sizeof(cmd),
			       sizeof(struct ib_uverbs_alloc_pd_resp), true);
	dealloc_cmd.pd_handle = handle;
	commands_check_lengths(c, IB_USER_VERBS_CMD_DEALLOC_PD, &dealloc_cmd,
			       sizeof(dealloc_cmd), 0, false);
	KUNIT_EXPECT_NOT_NULL(test, commands_object(c, UVERBS_OBJECT_PD, handle));
	KUNIT_ASSERT_EQ(test, destroy(c, handle), 0);
	commands_check_attrs(c);
}

static void a_pd_in_use_stays(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 handle = commands_pd(c);
	struct ib_pd *pd = commands_object(c, UVERBS_OBJECT_PD, handle);

	atomic_inc(&pd->usecnt);
	KUNIT_EXPECT_EQ(test, dealloc(c, handle), -EBUSY);
	KUNIT_EXPECT_EQ(test, destroy(c, handle), -EBUSY);
	atomic_dec(&pd->usecnt);
	atomic_set(&c->hca->fail_destroy[FAKE_PD], 1);
	KUNIT_EXPECT_EQ(test, dealloc(c, handle), -EIO);
	KUNIT_EXPECT_EQ(test, dealloc(c, handle), 0);
}

static void a_pd_that_the_driver_refuses_leaves_nothing(struct kunit *test)
{
	struct ib_uverbs_alloc_pd_resp resp;
	struct commands *c = test->priv;

	atomic_set(&c->hca->fail_create[FAKE_PD], 1);
	KUNIT_EXPECT_EQ(test, alloc(c, &resp), -ENOMEM);
	KUNIT_EXPECT_EQ(test, commands_objects(c), 0);
	KUNIT_EXPECT_TRUE(test, xa_empty(&c->file->handles));
}

static void closing_the_file_frees_its_pds(struct kunit *test)
{
	struct commands *c = test->priv;

	commands_pd(c);
	commands_pd(c);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->alive[FAKE_PD]), 2);
	commands_close(c);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(c->hca), 0);
}

static int make_and_free(struct kunit *test)
{
	struct ib_uverbs_alloc_pd_resp resp;
	struct commands *c = test->priv;
	int ret = alloc(c, &resp);

	return ret ?: dealloc(c, resp.pd_handle);
}

static void each_allocation_may_fail(struct kunit *test)
{
	struct commands *c = test->priv;

	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, make_and_free), 2);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(c->hca), 1);	/* the context */
}

static struct kunit_case pd_cases[] = {
	KUNIT_CASE(a_pd_is_the_process_s_until_it_is_freed),
	KUNIT_CASE(a_command_may_come_by_ioctl),
	KUNIT_CASE(what_is_no_proper_call),
	KUNIT_CASE(a_pd_in_use_stays),
	KUNIT_CASE(a_pd_that_the_driver_refuses_leaves_nothing),
	KUNIT_CASE(closing_the_file_frees_its_pds),
	KUNIT_CASE(each_allocation_may_fail),
	{}
};

static struct kunit_suite uverbs_pd_suite = {
	.name = "uverbs_pd",
	.init = commands_init,
	.exit = commands_exit,
	.test_cases = pd_cases,
};

kunit_test_suite(uverbs_pd_suite);
