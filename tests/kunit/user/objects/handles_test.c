// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Memory windows, address handles, device memory, counters. */
#include "user/call/commands.h"
#include "faults.h"
#include "user/uverbs_test.h"

static int uses(struct commands *c, u32 pd)
{
	return atomic_read(&((struct ib_pd *)commands_object(c, UVERBS_OBJECT_PD,
							     pd))->usecnt);
}

static int alive(struct commands *c, enum fake_hca_object kind)
{
	return atomic_read(&c->hca->alive[kind]);
}

/* ---- memory windows ---- */

static int alloc_mw(struct commands *c, u32 pd, u8 type,
		    struct ib_uverbs_alloc_mw_resp *resp)
{
	struct ib_uverbs_alloc_mw cmd = { .pd_handle = pd, .mw_type = type };

	return commands_write(c, IB_USER_VERBS_CMD_ALLOC_MW, &cmd, sizeof(cmd), resp,
			      sizeof(*resp));
}

static int dealloc_mw(struct commands *c, u32 handle)
{
	struct ib_uverbs_dealloc_mw cmd = { .mw_handle = handle };

	return commands_write(c, IB_USER_VERBS_CMD_DEALLOC_MW, &cmd, sizeof(cmd), NULL, 0);
}

static int destroy_mw(struct commands *c, u32 handle)
{
	return commands_destroy(c, UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, handle);
}

static void a_window_is_made_and_gone(struct kunit *test)
{
	struct ib_uverbs_alloc_mw_resp resp;
	struct commands *c = test->priv;
	u32 pd = commands_pd(c);
	struct ib_mw *mw;

	KUNIT_ASSERT_EQ(test, alloc_mw(c, pd, IB_MW_TYPE_2, &resp), 0);
	mw = commands_object(c, UVERBS_OBJECT_MW, resp.mw_handle);
	KUNIT_ASSERT_NOT_NULL(test, mw);
	KUNIT_EXPECT_EQ(test, resp.rkey, 0x2002);
	KUNIT_EXPECT_EQ(test, mw->type, IB_MW_TYPE_2);
	KUNIT_EXPECT_PTR_EQ(test, mw->uobject->object, (void *)mw);
	KUNIT_EXPECT_EQ(test, uses(c, pd), 1);
	atomic_set(&c->hca->fail_destroy[FAKE_MW], 1);
	KUNIT_EXPECT_EQ(test, dealloc_mw(c, resp.mw_handle), -EIO);
	KUNIT_EXPECT_EQ(test, uses(c, pd), 1);
	KUNIT_EXPECT_EQ(test, dealloc_mw(c, resp.mw_handle), 0);
	KUNIT_EXPECT_EQ(test, uses(c, pd), 0);
	KUNIT_ASSERT_EQ(test, alloc_mw(c, pd, IB_MW_TYPE_1, &resp), 0);
	KUNIT_EXPECT_EQ(test, destroy_mw(c, resp.mw_handle), 0);
	KUNIT_EXPECT_EQ(test, alive(c, FAKE_MW), 0);
	commands_check_attrs(c);
}

static void what_no_window_can_be_of(struct kunit *test)
{
	struct ib_uverbs_dealloc_mw dealloc = {};
	struct ib_uverbs_alloc_mw_resp resp;
	struct commands *c = test->priv;
	struct ib_uverbs_alloc_mw cmd = {
		.pd_handle = commands_pd(c), .mw_type = IB_MW_TYPE_1,
	};
	u32 pd = cmd.pd_handle;

	commands_check_lengths(c, IB_USER_VERBS_CMD_ALLOC_MW, &cmd, sizeof(cmd),
			       sizeof(resp), true);
	KUNIT_EXPECT_EQ(test, alloc_mw(c, pd, 0, &resp), -EINVAL);
	KUNIT_EXPECT_EQ(test, alloc_mw(c, pd, 3, &resp), -EINVAL);
	KUNIT_EXPECT_EQ(test, alloc_mw(c, pd + 1, IB_MW_TYPE_1, &resp), -ENOENT);
	atomic_set(&c->hca->fail_create[FAKE_MW], 1);
	KUNIT_EXPECT_EQ(test, alloc_mw(c, pd, IB_MW_TYPE_1, &resp), -ENOMEM);
	KUNIT_ASSERT_EQ(test, alloc_mw(c, pd, IB_MW_TYPE_1, &resp), 0);
	dealloc.mw_handle = resp.mw_handle;
	commands_check_lengths(c, IB_USER_VERBS_CMD_DEALLOC_MW, &dealloc, sizeof(dealloc),
			       0, false);
	KUNIT_EXPECT_EQ(test, dealloc_mw(c, pd), -EINVAL);
	KUNIT_EXPECT_EQ(test, uses(c, pd), 1);
	KUNIT_EXPECT_EQ(test, alive(c, FAKE_MW), 1);
}

/* ---- address handles ---- */

static void fill_ah(struct commands *c, struct ib_uverbs_create_ah *cmd, u32 pd)
{
	memset(cmd, 0, sizeof(*cmd));
	cmd->user_handle = 0x1234;
	cmd->pd_handle = pd;
	cmd->attr.port_num = 1;
	cmd->attr.dlid = 77;
	cmd->attr.sl = 3;
	cmd->attr.src_path_bits = 2;
	cmd->attr.static_rate = IB_RATE_10_GBPS;
}

static int create_ah(struct commands *c, const struct ib_uverbs_create_ah *cmd,
		     u32 *handle)
{
	struct ib_uverbs_create_ah_resp resp;
	int ret;

	ret = commands_write(c, IB_USER_VERBS_CMD_CREATE_AH, cmd, sizeof(*cmd), &resp,
			     sizeof(resp));
	*handle = resp.ah_handle;
	return ret;
}

static int destroy_ah(struct commands *c, u32 handle)
{
	struct ib_uverbs_destroy_ah cmd = { .ah_handle = handle };

	return commands_write(c, IB_USER_VERBS_CMD_DESTROY_AH, &cmd, sizeof(cmd), NULL, 0);
}

static void an_address_is_taken_as_it_is(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 pd = commands_pd(c), handle;
	struct ib_uverbs_create_ah cmd;
	struct rdma_ah_attr attr = {};
	struct ib_ah *ah;

	fill_ah(c, &cmd, pd);
	KUNIT_ASSERT_EQ(test, create_ah(c, &cmd, &handle), 0);
	ah = commands_object(c, UVERBS_OBJECT_AH, handle);
	KUNIT_EXPECT_EQ(test, ah->uobject->user_handle, 0x1234);
	KUNIT_ASSERT_EQ(test, rdma_query_ah(ah, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.type, RDMA_AH_ATTR_TYPE_IB);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&attr), 77);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_sl(&attr), 3);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_path_bits(&attr), 2);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_static_rate(&attr), IB_RATE_10_GBPS);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_ah_flags(&attr), 0);
	KUNIT_EXPECT_EQ(test, uses(c, pd), 1);
	atomic_set(&c->hca->fail_destroy[FAKE_AH], 1);
	KUNIT_EXPECT_EQ(test, destroy_ah(c, handle), -EIO);
	KUNIT_EXPECT_EQ(test, destroy_ah(c, handle), 0);
	KUNIT_EXPECT_EQ(test, uses(c, pd), 0);

	cmd.attr.is_global = 1;
	cmd.attr.grh.dgid[15] = 9;
	cmd.attr.grh.flow_label = 0x12345;
	cmd.attr.grh.hop_limit = 64;
	cmd.attr.grh.traffic_class = 8;
	KUNIT_ASSERT_EQ(test, create_ah(c, &cmd, &handle), 0);
	ah = commands_object(c, UVERBS_OBJECT_AH, handle);
	KUNIT_ASSERT_EQ(test, rdma_query_ah(ah, &attr), 0);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_ah_flags(&attr), IB_AH_GRH);
	KUNIT_EXPECT_EQ(test, attr.grh.dgid.raw[15], 9);
	KUNIT_EXPECT_EQ(test, attr.grh.flow_label, 0x12345);
	KUNIT_EXPECT_EQ(test, attr.grh.hop_limit, 64);
	KUNIT_EXPECT_EQ(test, attr.grh.traffic_class, 8);
	KUNIT_EXPECT_EQ(test, commands_destroy(c, UVERBS_OBJECT_AH,
					       UVERBS_METHOD_AH_DESTROY, handle), 0);
	commands_check_attrs(c);
}

static void what_no_address_can_be(struct kunit *test)
{
	struct ib_uverbs_destroy_ah destroy = {};
	struct commands *c = test->priv;
	u32 pd = commands_pd(c), handle;
	struct ib_uverbs_create_ah cmd;

	fill_ah(c, &cmd, pd);
	KUNIT_ASSERT_EQ(test, create_ah(c, &cmd, &handle), 0);
	commands_check_lengths(c, IB_USER_VERBS_CMD_CREATE_AH, &cmd, sizeof(cmd),
			       sizeof(struct ib_uverbs_create_ah_resp), true);
	destroy.ah_handle = handle;
	commands_check_lengths(c, IB_USER_VERBS_CMD_DESTROY_AH, &destroy, sizeof(destroy),
			       0, false);
	cmd.attr.port_num = 0;
	KUNIT_EXPECT_EQ(test, create_ah(c, &cmd, &handle), -EINVAL);
	cmd.attr.port_num = 2;
	KUNIT_EXPECT_EQ(test, create_ah(c, &cmd, &handle), -EINVAL);
	fill_ah(c, &cmd, pd);
	cmd.attr.is_global = 1;
	cmd.attr.grh.sgid_index = FAKE_HCA_GIDS;
	KUNIT_EXPECT_LT(test, create_ah(c, &cmd, &handle), 0);
	fill_ah(c, &cmd, pd + 5);
	KUNIT_EXPECT_EQ(test, create_ah(c, &cmd, &handle), -ENOENT);
	fill_ah(c, &cmd, pd);
	atomic_set(&c->hca->fail_create[FAKE_AH], 1);
	KUNIT_EXPECT_EQ(test, create_ah(c, &cmd, &handle), -ENOMEM);
	KUNIT_EXPECT_EQ(test, uses(c, pd), 1);
	KUNIT_EXPECT_EQ(test, alive(c, FAKE_AH), 1);
}

/* ---- memory on the device ---- */

static int alloc_dm(struct commands *c, u64 length, u32 align, u32 *handle)
{
	int ret;

	commands_begin(c, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC);
	commands_new(c, UVERBS_ATTR_ALLOC_DM_HANDLE);
	commands_u64(c, UVERBS_ATTR_ALLOC_DM_LENGTH, length);
	commands_u32(c, UVERBS_ATTR_ALLOC_DM_ALIGNMENT, align);
	ret = commands_ioctl(c);
	*handle = commands_got_handle(c, UVERBS_ATTR_ALLOC_DM_HANDLE);
	return ret;
}

static int free_dm(struct commands *c, u32 handle)
{
	return commands_destroy(c, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, handle);
}

static void memory_on_the_device(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_dm *dm;
	u32 handle, other;

	commands_pd(c);
	KUNIT_ASSERT_EQ(test, alloc_dm(c, 4096, 6, &handle), 0);
	commands_check_attrs(c);
	KUNIT_EXPECT_EQ(test, c->hca->reg.alignment, 6);
	dm = commands_object(c, UVERBS_OBJECT_DM, handle);
	KUNIT_ASSERT_NOT_NULL(test, dm);
	KUNIT_EXPECT_EQ(test, dm->length, 4096);
	KUNIT_EXPECT_PTR_EQ(test, dm->uobject->object, (void *)dm);
	KUNIT_EXPECT_EQ(test, alloc_dm(c, BIT_ULL(32), 0, &other), -EINVAL);
	atomic_set(&c->hca->fail_create[FAKE_DM], 1);
	KUNIT_EXPECT_EQ(test, alloc_dm(c, 1, 0, &other), -ENOMEM);

	atomic_inc(&dm->usecnt);
	KUNIT_EXPECT_EQ(test, free_dm(c, handle), -EBUSY);
	atomic_dec(&dm->usecnt);
	atomic_set(&c->hca->fail_destroy[FAKE_DM], 1);
	KUNIT_EXPECT_EQ(test, free_dm(c, handle), -EIO);
	KUNIT_EXPECT_EQ(test, free_dm(c, handle), 0);
	commands_check_attrs(c);
	KUNIT_EXPECT_EQ(test, alive(c, FAKE_DM), 0);
}

/* ---- counters ---- */

static int create_counters(struct commands *c, u32 *handle)
{
	int ret;

	commands_begin(c, UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE);
	commands_new(c, UVERBS_ATTR_CREATE_COUNTERS_HANDLE);
	ret = commands_ioctl(c);
	*handle = commands_got_handle(c, UVERBS_ATTR_CREATE_COUNTERS_HANDLE);
	return ret;
}

static int read_counters(struct commands *c, u32 handle, u16 len, u32 flags)
{
	commands_begin(c, UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ);
	commands_obj(c, UVERBS_ATTR_READ_COUNTERS_HANDLE, handle);
	commands_out(c, UVERBS_ATTR_READ_COUNTERS_BUFF, len);
	commands_u32(c, UVERBS_ATTR_READ_COUNTERS_FLAGS, flags);
	return commands_ioctl(c);
}

static int destroy_counters(struct commands *c, u32 handle)
{
	return commands_destroy(c, UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY,
				handle);
}

static void counters_count(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_counters *counters;
	u32 handle, other;
	u64 values[3];

	commands_pd(c);
	KUNIT_ASSERT_EQ(test, create_counters(c, &handle), 0);
	commands_check_attrs(c);
	counters = commands_object(c, UVERBS_OBJECT_COUNTERS, handle);
	KUNIT_ASSERT_NOT_NULL(test, counters);
	/* The counters are not attached to anything yet. */
	KUNIT_EXPECT_EQ(test, read_counters(c, handle, sizeof(values), 0), -EINVAL);
	atomic_inc(&counters->usecnt);
	KUNIT_EXPECT_EQ(test, destroy_counters(c, handle), -EBUSY);
	KUNIT_ASSERT_EQ(test, read_counters(c, handle, sizeof(values),
					    IB_UVERBS_READ_COUNTERS_PREFER_CACHED), 0);
	commands_got_data(c, UVERBS_ATTR_READ_COUNTERS_BUFF, values, sizeof(values));
	KUNIT_EXPECT_EQ(test, values[0], 100);
	KUNIT_EXPECT_EQ(test, values[2], 102);
	KUNIT_EXPECT_EQ(test, c->hca->reg.flags, IB_UVERBS_READ_COUNTERS_PREFER_CACHED);
	commands_check_attrs(c);
	KUNIT_EXPECT_EQ(test, read_counters(c, handle, sizeof(values) - 1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, read_counters(c, handle, sizeof(values), 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, read_counters(c, handle, 0, 0), 0);
	c->hca->reg.error = -EAGAIN;
	KUNIT_EXPECT_EQ(test, read_counters(c, handle, sizeof(values), 0), -EAGAIN);
	atomic_dec(&counters->usecnt);

	atomic_set(&c->hca->fail_create[FAKE_COUNTERS], 1);
	KUNIT_EXPECT_EQ(test, create_counters(c, &other), -ENOMEM);
	atomic_set(&c->hca->fail_destroy[FAKE_COUNTERS], 1);
	KUNIT_EXPECT_EQ(test, destroy_counters(c, handle), -EIO);
	KUNIT_EXPECT_EQ(test, destroy_counters(c, handle), 0);
	commands_check_attrs(c);
	KUNIT_EXPECT_EQ(test, alive(c, FAKE_COUNTERS), 0);
}

/* ---- all of them ---- */

static u32 fault_pd;

static int make_one_of_each(struct kunit *test)
{
	struct ib_uverbs_alloc_mw_resp mw;
	struct commands *c = test->priv;
	struct ib_uverbs_create_ah cmd;
	u32 handle;
	int ret;

	ret = alloc_mw(c, fault_pd, IB_MW_TYPE_1, &mw);
	if (ret)
		return ret;
	dealloc_mw(c, mw.mw_handle);
	fill_ah(c, &cmd, fault_pd);
	ret = create_ah(c, &cmd, &handle);
	if (ret)
		return ret;
	destroy_ah(c, handle);
	ret = alloc_dm(c, 64, 0, &handle);
	if (ret)
		return ret;
	free_dm(c, handle);
	ret = create_counters(c, &handle);
	if (ret)
		return ret;
	atomic_inc(&((struct ib_counters *)commands_object(c, UVERBS_OBJECT_COUNTERS,
							   handle))->usecnt);
	ret = read_counters(c, handle, 800, 0);
	atomic_dec(&((struct ib_counters *)commands_object(c, UVERBS_OBJECT_COUNTERS,
							   handle))->usecnt);
	destroy_counters(c, handle);
	return ret;
}

static void each_allocation_may_fail(struct kunit *test)
{
	struct commands *c = test->priv;

	fault_pd = commands_pd(c);
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, make_one_of_each), 9);
	KUNIT_EXPECT_EQ(test, uses(c, fault_pd), 0);
	KUNIT_EXPECT_EQ(test, commands_objects(c), 1);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(c->hca), 2);
}

/* They may be destroyed in any order; commands_exit() checks that none is left. */
static void closing_the_file_frees_all(struct kunit *test)
{
	struct ib_uverbs_alloc_mw_resp mw;
	struct commands *c = test->priv;
	struct ib_uverbs_create_ah cmd;
	u32 pd = commands_pd(c), handle;

	KUNIT_EXPECT_EQ(test, alloc_mw(c, pd, IB_MW_TYPE_1, &mw), 0);
	fill_ah(c, &cmd, pd);
	KUNIT_EXPECT_EQ(test, create_ah(c, &cmd, &handle), 0);
	KUNIT_EXPECT_EQ(test, alloc_dm(c, 64, 0, &handle), 0);
	KUNIT_EXPECT_EQ(test, create_counters(c, &handle), 0);
	KUNIT_EXPECT_EQ(test, commands_objects(c), 5);
}

static struct kunit_case handles_cases[] = {
	KUNIT_CASE(a_window_is_made_and_gone),
	KUNIT_CASE(what_no_window_can_be_of),
	KUNIT_CASE(an_address_is_taken_as_it_is),
	KUNIT_CASE(what_no_address_can_be),
	KUNIT_CASE(memory_on_the_device),
	KUNIT_CASE(counters_count),
	KUNIT_CASE(each_allocation_may_fail),
	KUNIT_CASE(closing_the_file_frees_all),
	{}
};

static struct kunit_suite uverbs_handles_suite = {
	.name = "uverbs_handles",
	.init = commands_init,
	.exit = commands_exit,
	.test_cases = handles_cases,
};

kunit_test_suite(uverbs_handles_suite);
