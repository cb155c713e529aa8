// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Queries of the device, its ports and GIDs, the context and the objects of a process. */
#include <linux/fdtable.h>
#include <linux/file.h>
#include "user/call/commands.h"
#include "faults.h"
#include "user/uverbs_test.h"

#define EX(command) (IB_USER_VERBS_EX_CMD_##command | IB_USER_VERBS_CMD_FLAG_EXTENDED)

static void the_device_is_described(struct kunit *test)
{
	struct ib_uverbs_query_device_resp resp;
	struct ib_uverbs_query_device cmd = {};
	struct commands *c = test->priv;
	const struct ib_device_attr *attr = &c->hca->ibdev.attrs;
	u32 number = IB_USER_VERBS_CMD_QUERY_DEVICE;

	c->hca->ibdev.attrs.device_cap_flags |= BIT_ULL(40);
	KUNIT_ASSERT_EQ(test, commands_write(c, number, &cmd, sizeof(cmd), &resp,
					     sizeof(resp)), 0);
	KUNIT_EXPECT_EQ(test, resp.node_guid, c->hca->ibdev.node_guid);
	KUNIT_EXPECT_EQ(test, resp.max_qp, attr->max_qp);
	KUNIT_EXPECT_EQ(test, resp.max_sge, attr->max_recv_sge);
	KUNIT_EXPECT_EQ(test, resp.max_mr_size, attr->max_mr_size);
	KUNIT_EXPECT_EQ(test, resp.device_cap_flags, (u32)attr->device_cap_flags);
	KUNIT_EXPECT_EQ(test, resp.max_pkeys, FAKE_HCA_PKEYS);
	KUNIT_EXPECT_EQ(test, resp.phys_port_cnt, 1);
	KUNIT_EXPECT_EQ(test, resp.max_fmr, 0);
	commands_check_lengths(c, number, &cmd, sizeof(cmd), sizeof(resp), false);
}

static void the_device_is_described_at_length(struct kunit *test)
{
	struct {
		struct ib_uverbs_ex_query_device_resp resp;
		u64 newer;
	} out;
	struct ib_uverbs_ex_query_device cmd = {};
	const size_t least = offsetofend(struct ib_uverbs_ex_query_device_resp,
					 response_length);
	struct commands *c = test->priv;

	out.newer = ~0ull;
	KUNIT_ASSERT_EQ(test, commands_write(c, EX(QUERY_DEVICE), &cmd, sizeof(cmd), &out,
					     sizeof(out)), 0);
	KUNIT_EXPECT_EQ(test, out.resp.response_length, sizeof(out.resp));
	KUNIT_EXPECT_EQ(test, out.resp.base.max_qp, 100000);
	KUNIT_EXPECT_EQ(test, out.resp.device_cap_flags_ex,
			IB_DEVICE_MEM_MGT_EXTENSIONS | IB_DEVICE_AUTO_PATH_MIG);
	KUNIT_EXPECT_EQ(test, out.newer, 0);
	/* The response of an older program. */
	KUNIT_ASSERT_EQ(test, commands_write(c, EX(QUERY_DEVICE), &cmd, sizeof(cmd), &out,
					     least), 0);
	KUNIT_EXPECT_EQ(test, out.resp.response_length, least);
	commands_check_lengths(c, EX(QUERY_DEVICE), &cmd, sizeof(cmd), least, false);
	cmd.comp_mask = 1;
	KUNIT_EXPECT_EQ(test, commands_write(c, EX(QUERY_DEVICE), &cmd, sizeof(cmd), &out,
					     least), -EINVAL);
	cmd.comp_mask = 0;
	cmd.reserved = 1;
	KUNIT_EXPECT_EQ(test, commands_write(c, EX(QUERY_DEVICE), &cmd, sizeof(cmd), &out,
					     least), -EINVAL);
	cmd.reserved = 0;
	c->invoke = true;
	KUNIT_EXPECT_EQ(test, commands_write(c, EX(QUERY_DEVICE), &cmd, sizeof(cmd), &out,
					     sizeof(out)), 0);
	KUNIT_EXPECT_EQ(test, out.resp.base.max_qp, 100000);
}

static int query_port(struct commands *c, u64 port, u16 len)
{
	commands_begin(c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
	commands_u64(c, UVERBS_ATTR_QUERY_PORT_PORT_NUM, port);
	commands_out(c, UVERBS_ATTR_QUERY_PORT_RESP, len);
	return commands_ioctl(c);
}

static void a_port_is_described(struct kunit *test)
{
	struct ib_uverbs_query_port_resp resp;
	struct ib_uverbs_query_port cmd = { .port_num = 1 };
	struct ib_uverbs_query_port_resp_ex ex;
	struct commands *c = test->priv;
	u32 number = IB_USER_VERBS_CMD_QUERY_PORT;

	KUNIT_ASSERT_EQ(test, commands_write(c, number, &cmd, sizeof(cmd), &resp,
					     sizeof(resp)), 0);
	KUNIT_EXPECT_EQ(test, resp.state, IB_PORT_ACTIVE);
	KUNIT_EXPECT_EQ(test, resp.lid, c->hca->port[1].lid);
	KUNIT_EXPECT_EQ(test, resp.sm_lid, 1);
	KUNIT_EXPECT_EQ(test, resp.gid_tbl_len, FAKE_HCA_GIDS);
	KUNIT_EXPECT_EQ(test, resp.active_speed, IB_SPEED_EDR);
	KUNIT_EXPECT_EQ(test, resp.link_layer, IB_LINK_LAYER_INFINIBAND);
	KUNIT_EXPECT_EQ(test, resp.flags, 0);
	commands_check_lengths(c, number, &cmd, sizeof(cmd), sizeof(resp), true);
	cmd.port_num = 0;
	KUNIT_EXPECT_EQ(test, commands_write(c, number, &cmd, sizeof(cmd), &resp,
					     sizeof(resp)), -EINVAL);
	cmd.port_num = 2;
	KUNIT_EXPECT_EQ(test, commands_write(c, number, &cmd, sizeof(cmd), &resp,
					     sizeof(resp)), -EINVAL);

	KUNIT_ASSERT_EQ(test, query_port(c, 1, sizeof(ex)), 0);
	commands_got_data(c, UVERBS_ATTR_QUERY_PORT_RESP, &ex, sizeof(ex));
	KUNIT_EXPECT_EQ(test, ex.active_speed_ex, IB_SPEED_EDR);
	KUNIT_EXPECT_EQ(test, ex.legacy_resp.lid, c->hca->port[1].lid);
	commands_check_attrs(c);
	KUNIT_EXPECT_EQ(test, query_port(c, 1, sizeof(ex) - 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, query_port(c, 257, sizeof(ex)), -EINVAL);
	KUNIT_EXPECT_EQ(test, query_port(c, BIT_ULL(32) + 1, sizeof(ex)), -EINVAL);
}

static int query_gids(struct commands *c, u64 size, u16 len, u32 flags)
{
	commands_begin(c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE);
	commands_u64(c, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, size);
	commands_u32(c, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, flags);
	commands_out(c, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, len);
	commands_out(c, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, sizeof(u64));
	return commands_ioctl(c);
}

static void all_gids_are_listed(struct kunit *test)
{
	const size_t size = sizeof(struct ib_uverbs_gid_entry);
	struct ib_uverbs_gid_entry entries[4];
	struct commands *c = test->priv;

	KUNIT_ASSERT_EQ(test, query_gids(c, size, sizeof(entries), 0), 0);
	KUNIT_EXPECT_EQ(test, commands_got_u64(c,
					       UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES),
			1);
	commands_got_data(c, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, entries, size);
	KUNIT_EXPECT_EQ(test, entries[0].port_num, 1);
	KUNIT_EXPECT_EQ(test, entries[0].gid_index, 0);
	KUNIT_EXPECT_EQ(test, entries[0].gid_type, IB_UVERBS_GID_TYPE_IB);
	KUNIT_EXPECT_MEMEQ(test, entries[0].gid, c->hca->port[1].gids[0].raw, 16);
	commands_check_attrs(c);
	/* The entries of a newer program. */
	KUNIT_EXPECT_EQ(test, query_gids(c, size + 8, 3 * (size + 8), 0), 0);
	commands_got_data(c, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, entries, size);
	KUNIT_EXPECT_MEMEQ(test, entries[0].gid, c->hca->port[1].gids[0].raw, 16);

	KUNIT_EXPECT_EQ(test, query_gids(c, 0, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, query_gids(c, size - 1, size - 1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, query_gids(c, size, size + 1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, query_gids(c, size, size, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, query_gids(c, size, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, query_gids(c, U64_MAX, size, 0), -EINVAL);
}

/* A newer program's entries are longer: each begins at the program's offset. */
static void gids_of_two_ports_at_any_length(struct kunit *test)
{
	static const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND, .ports = 2, .user = true,
	};
	const size_t size = sizeof(struct ib_uverbs_gid_entry) + 8;
	struct ib_uverbs_gid_entry entry;
	struct commands *c;
	u8 got[2 * (sizeof(entry) + 8)];
	u64 tail = 1;

	commands_exit(test);
	KUNIT_ASSERT_EQ(test, commands_init_hca(test, &params), 0);
	c = test->priv;
	KUNIT_ASSERT_EQ(test, query_gids(c, size, sizeof(got), 0), 0);
	KUNIT_EXPECT_EQ(test, commands_got_u64(c,
					       UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES),
			2);
	commands_got_data(c, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, got, sizeof(got));
	memcpy(&entry, got + size, sizeof(entry));
	KUNIT_EXPECT_EQ(test, entry.port_num, 2);
	KUNIT_EXPECT_MEMEQ(test, entry.gid, c->hca->port[2].gids[0].raw, 16);
	memcpy(&tail, got + sizeof(entry), sizeof(tail));
	KUNIT_EXPECT_EQ(test, tail, 0);
}

static int query_gid(struct commands *c, u64 port, u64 index, u32 flags)
{
	commands_begin(c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY);
	commands_u64(c, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, port);
	commands_u64(c, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, index);
	commands_u32(c, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, flags);
	commands_out(c, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY,
		     sizeof(struct ib_uverbs_gid_entry));
	return commands_ioctl(c);
}

static void one_gid_is_described(struct kunit *test)
{
	struct ib_uverbs_gid_entry entry;
	struct commands *c = test->priv;

	KUNIT_ASSERT_EQ(test, query_gid(c, 1, 0, 0), 0);
	commands_got_data(c, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &entry,
			  sizeof(entry));
	KUNIT_EXPECT_MEMEQ(test, entry.gid, c->hca->port[1].gids[0].raw, 16);
	KUNIT_EXPECT_EQ(test, entry.port_num, 1);
	KUNIT_EXPECT_EQ(test, entry.netdev_ifindex, 0);
	commands_check_attrs(c);
	KUNIT_EXPECT_EQ(test, query_gid(c, 1, 1, 0), -ENODATA);
	KUNIT_EXPECT_EQ(test, query_gid(c, 1, FAKE_HCA_GIDS, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, query_gid(c, 1, U32_MAX, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, query_gid(c, 1, BIT_ULL(32), 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, query_gid(c, 0, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, query_gid(c, 2, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, query_gid(c, 1, 0, 1), -EINVAL);
}

static int info_handles(struct commands *c, u64 type, u16 len)
{
	commands_begin(c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES);
	commands_u64(c, UVERBS_ATTR_INFO_OBJECT_ID, type);
	commands_out(c, UVERBS_ATTR_INFO_TOTAL_HANDLES, sizeof(u32));
	commands_out(c, UVERBS_ATTR_INFO_HANDLES_LIST, len);
	return commands_ioctl(c);
}

static void handles_are_listed(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 list[8] = {}, pd, other;

	pd = commands_pd(c);
	other = commands_pd(c);
	KUNIT_ASSERT_EQ(test, info_handles(c, UVERBS_OBJECT_PD, sizeof(list)), 0);
	KUNIT_EXPECT_EQ(test, commands_got_u32(c, UVERBS_ATTR_INFO_TOTAL_HANDLES), 2);
	commands_got_data(c, UVERBS_ATTR_INFO_HANDLES_LIST, list, sizeof(list));
	/* The newest comes first. */
	KUNIT_EXPECT_EQ(test, list[0], other);
	KUNIT_EXPECT_EQ(test, list[1], pd);
	commands_check_attrs(c);
	/* As many as the buffer has room for. */
	KUNIT_ASSERT_EQ(test, info_handles(c, UVERBS_OBJECT_PD, sizeof(u32)), 0);
	KUNIT_EXPECT_EQ(test, commands_got_u32(c, UVERBS_ATTR_INFO_TOTAL_HANDLES), 1);
	KUNIT_ASSERT_EQ(test, info_handles(c, UVERBS_OBJECT_MR, sizeof(list)), 0);
	KUNIT_EXPECT_EQ(test, commands_got_u32(c, UVERBS_ATTR_INFO_TOTAL_HANDLES), 0);
	KUNIT_EXPECT_EQ(test, info_handles(c, UVERBS_OBJECT_PD, 7), -EINVAL);
	KUNIT_EXPECT_EQ(test, info_handles(c, UVERBS_OBJECT_DEVICE, 4), 0);
	KUNIT_EXPECT_EQ(test, commands_got_u32(c, UVERBS_ATTR_INFO_TOTAL_HANDLES), 0);
	KUNIT_EXPECT_EQ(test, info_handles(c, 0xfff, 4), -ENOENT);
	KUNIT_EXPECT_EQ(test, info_handles(c, U16_MAX + 1, 4), -ENOENT);
	KUNIT_EXPECT_EQ(test, info_handles(c, BIT_ULL(32), 4), -EINVAL);
}

/* As on the in-tree core: see tests/diff/verbs. */
static void attributes_that_a_query_needs(struct kunit *test)
{
	struct commands *c = test->priv;

	commands_begin(c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY);
	commands_u64(c, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 1);
	commands_u64(c, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 0);
	commands_out(c, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY,
		     sizeof(struct ib_uverbs_gid_entry));
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EINVAL);

	commands_begin(c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES);
	commands_u64(c, UVERBS_ATTR_INFO_OBJECT_ID, UVERBS_OBJECT_PD);
	commands_out(c, UVERBS_ATTR_INFO_TOTAL_HANDLES, sizeof(u32));
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EINVAL);
	commands_out(c, UVERBS_ATTR_INFO_HANDLES_LIST, sizeof(u32));
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), 0);
	/* No method takes another driver's calls, whether or not the driver adds to it. */
	c->hdr.driver_id++;
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EINVAL);
}

/* ---- the context ---- */

static int get_context(struct commands *c)
{
	commands_begin(c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	commands_out(c, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, sizeof(u32));
	commands_out(c, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, sizeof(u64));
	return commands_ioctl(c);
}

/* Replaces c->file by one without a context; returns the old one. */
static struct ib_uverbs_file *reopen(struct commands *c)
{
	struct ib_uverbs_file *first = c->file;

	c->file = uverbs_file_create(c->udev);
	KUNIT_ASSERT_FALSE(c->test, IS_ERR(c->file));
	return first;
}

static void a_context_by_ioctl(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_file *first = reopen(c);

	KUNIT_EXPECT_EQ(test, query_port(c, 1, 48), -EINVAL);
	KUNIT_ASSERT_EQ(test, get_context(c), 0);
	KUNIT_EXPECT_EQ(test, commands_got_u32(c, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS),
			4);
	KUNIT_EXPECT_EQ(test, commands_got_u64(c, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT),
			IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS);
	KUNIT_EXPECT_EQ(test, get_context(c), -EINVAL);
	KUNIT_EXPECT_EQ(test, query_port(c, 1, 48), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->alive[FAKE_UCONTEXT]), 2);
	commands_close(c);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->alive[FAKE_UCONTEXT]), 1);
	c->file = first;
}

static void a_context_that_fails_may_be_asked_for_again(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_file *first = reopen(c);

	commands_begin(c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	commands_attr(c, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, 8, 8);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EFAULT);
	commands_check_attrs(c);
	atomic_set(&c->hca->fail_create[FAKE_UCONTEXT], 1);
	KUNIT_EXPECT_EQ(test, get_context(c), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->alive[FAKE_UCONTEXT]), 1);
	/* A program may request no output. */
	commands_begin(c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), 0);
	commands_close(c);
	c->file = first;
}

static int get_context_write(struct commands *c, struct ib_uverbs_get_context_resp *resp)
{
	struct ib_uverbs_get_context cmd = {};

	return commands_write(c, IB_USER_VERBS_CMD_GET_CONTEXT, &cmd, sizeof(cmd), resp,
			      sizeof(*resp));
}

static void a_context_by_command(struct kunit *test)
{
	struct ib_uverbs_get_context_resp resp;
	struct ib_uverbs_get_context cmd = {};
	struct commands *c = test->priv;
	struct ib_uverbs_file *first = reopen(c);

	/* A command that fails does not leave its descriptor open either. */
	commands_check_lengths(c, IB_USER_VERBS_CMD_GET_CONTEXT, &cmd, sizeof(cmd),
			       sizeof(resp), true);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->alive[FAKE_UCONTEXT]), 1);
	KUNIT_EXPECT_NULL(test, c->file->async);
	KUNIT_ASSERT_EQ(test, get_context_write(c, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.num_comp_vectors, 4);
	KUNIT_EXPECT_NOT_NULL(test, c->file->async);
	KUNIT_EXPECT_EQ(test, commands_objects(c), 1);
	commands_pd(c);
	/* A second context is refused, and the descriptor of the first stays. */
	cmd.response = 0;
	KUNIT_EXPECT_EQ(test, commands_write(c, IB_USER_VERBS_CMD_GET_CONTEXT, &cmd,
					     sizeof(cmd), &resp, sizeof(resp)), -EINVAL);
	KUNIT_EXPECT_EQ(test, commands_objects(c), 2);
	KUNIT_EXPECT_EQ(test, close_fd(resp.async_fd), 0);
	flush_delayed_fput();
	KUNIT_EXPECT_EQ(test, commands_objects(c), 1);
	commands_close(c);
	c->file = first;
}

static int query_context(struct commands *c)
{
	commands_begin(c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT);
	commands_out(c, UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, sizeof(u32));
	commands_out(c, UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, sizeof(u64));
	return commands_ioctl(c);
}

static void a_context_is_described(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_file *first;

	KUNIT_ASSERT_EQ(test, query_context(c), 0);
	KUNIT_EXPECT_EQ(test,
			commands_got_u32(c, UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS), 4);
	KUNIT_EXPECT_TRUE(test, commands_is_written(c,
						    UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT));
	commands_check_attrs(c);
	c->hca->reg.error = -EPERM;
	KUNIT_EXPECT_EQ(test, query_context(c), -EPERM);
	first = reopen(c);
	KUNIT_EXPECT_EQ(test, query_context(c), -EINVAL);
	commands_close(c);
	c->file = first;
}

static int ask_by_command(struct commands *c)
{
	struct ib_uverbs_get_context_resp resp;
	int ret;

	c->file = uverbs_file_create(c->udev);
	if (IS_ERR(c->file))
		return PTR_ERR(c->file);
	ret = get_context_write(c, &resp);
	if (!ret)
		close_fd(resp.async_fd);
	flush_delayed_fput();
	commands_close(c);
	return ret;
}

static int ask_everything(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_file *first;
	int ret;

	ret = query_gids(c, sizeof(struct ib_uverbs_gid_entry), 64 * 32, 0) ?:
	      info_handles(c, UVERBS_OBJECT_PD, 800) ?:
	      query_port(c, 1, 48);
	if (ret)
		return ret;
	first = c->file;
	c->file = uverbs_file_create(c->udev);
	if (IS_ERR(c->file)) {
		ret = PTR_ERR(c->file);
	} else {
		ret = get_context(c);
		commands_close(c);
	}
	if (!ret)
		ret = ask_by_command(c);
	c->file = first;
	return ret;
}

static void each_allocation_may_fail(struct kunit *test)
{
	struct commands *c = test->priv;

	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, ask_everything), 6);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->alive[FAKE_UCONTEXT]), 1);
}

static struct kunit_case query_cases[] = {
	KUNIT_CASE(the_device_is_described),
	KUNIT_CASE(the_device_is_described_at_length),
	KUNIT_CASE(a_port_is_described),
	KUNIT_CASE(all_gids_are_listed),
	KUNIT_CASE(gids_of_two_ports_at_any_length),
	KUNIT_CASE(one_gid_is_described),
	KUNIT_CASE(handles_are_listed),
	KUNIT_CASE(attributes_that_a_query_needs),
	KUNIT_CASE(a_context_by_ioctl),
	KUNIT_CASE(a_context_by_command),
	KUNIT_CASE(a_context_that_fails_may_be_asked_for_again),
	KUNIT_CASE(a_context_is_described),
	KUNIT_CASE(each_allocation_may_fail),
	{}
};

static struct kunit_suite uverbs_query_suite = {
	.name = "uverbs_query",
	.init = commands_init,
	.exit = commands_exit,
	.test_cases = query_cases,
};

kunit_test_suite(uverbs_query_suite);
