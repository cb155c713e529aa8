// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Memory regions: registration, changes, queries; regions in dma-bufs and device memory.
 */
#include "user/call/commands.h"
#include "faults.h"
#include "user/uverbs_test.h"

#define RW (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)

static int reg(struct commands *c, u32 pd, u64 start, struct ib_uverbs_reg_mr_resp *resp)
{
	struct ib_uverbs_reg_mr cmd = {
		.start = start, .length = 8192, .hca_va = start, .pd_handle = pd,
		.access_flags = RW,
	};

	return commands_write(c, IB_USER_VERBS_CMD_REG_MR, &cmd, sizeof(cmd), resp,
			      sizeof(*resp));
}

static u32 a_region(struct commands *c, u32 pd)
{
	struct ib_uverbs_reg_mr_resp resp;

	KUNIT_ASSERT_EQ(c->test, reg(c, pd, 0x10000, &resp), 0);
	return resp.mr_handle;
}

static int dereg(struct commands *c, u32 handle)
{
	struct ib_uverbs_dereg_mr cmd = { .mr_handle = handle };

	return commands_write(c, IB_USER_VERBS_CMD_DEREG_MR, &cmd, sizeof(cmd), NULL, 0);
}

static int destroy(struct commands *c, u32 handle)
{
	return commands_destroy(c, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, handle);
}

static struct ib_mr *mr_of(struct commands *c, u32 handle)
{
	return commands_object(c, UVERBS_OBJECT_MR, handle);
}

static struct ib_pd *pd_of(struct commands *c, u32 handle)
{
	return commands_object(c, UVERBS_OBJECT_PD, handle);
}

static int uses(struct commands *c, u32 pd)
{
	return atomic_read(&pd_of(c, pd)->usecnt);
}

static int regions(struct commands *c)
{
	return atomic_read(&c->hca->alive[FAKE_MR]);
}

static void a_region_is_registered_and_gone(struct kunit *test)
{
	struct ib_uverbs_reg_mr_resp resp;
	struct commands *c = test->priv;
	u32 pd = commands_pd(c);
	struct ib_mr *mr;

	KUNIT_ASSERT_EQ(test, reg(c, pd, 0x10000, &resp), 0);
	mr = mr_of(c, resp.mr_handle);
	KUNIT_ASSERT_NOT_NULL(test, mr);
	KUNIT_EXPECT_EQ(test, resp.lkey, mr->lkey);
	KUNIT_EXPECT_EQ(test, resp.rkey, mr->rkey);
	KUNIT_EXPECT_NE(test, resp.rkey, resp.lkey);
	KUNIT_EXPECT_PTR_EQ(test, mr->uobject->object, (void *)mr);
	KUNIT_EXPECT_EQ(test, mr->type, IB_MR_TYPE_USER);
	KUNIT_EXPECT_EQ(test, mr->iova, 0x10000);
	KUNIT_EXPECT_EQ(test, mr->length, 8192);
	KUNIT_EXPECT_EQ(test, c->hca->reg.access, RW);
	KUNIT_EXPECT_TRUE(test, mr->res.valid && !rdma_is_kernel_res(&mr->res));
	KUNIT_EXPECT_EQ(test, uses(c, pd), 1);
	KUNIT_EXPECT_EQ(test, commands_destroy(c, UVERBS_OBJECT_PD,
					       UVERBS_METHOD_PD_DESTROY, pd), -EBUSY);

	atomic_set(&c->hca->fail_destroy[FAKE_MR], 1);
	KUNIT_EXPECT_EQ(test, dereg(c, resp.mr_handle), -EIO);
	KUNIT_EXPECT_PTR_EQ(test, mr_of(c, resp.mr_handle), mr);
	KUNIT_EXPECT_EQ(test, dereg(c, resp.mr_handle), 0);
	KUNIT_EXPECT_EQ(test, dereg(c, resp.mr_handle), -ENOENT);
	KUNIT_EXPECT_EQ(test, uses(c, pd), 0);
	KUNIT_EXPECT_EQ(test, destroy(c, a_region(c, pd)), 0);
	KUNIT_EXPECT_EQ(test, regions(c), 0);
}

/* The IOVA is the one that the process chose, not the address of its memory. */
static void a_region_has_an_address_of_its_own(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_reg_mr cmd = {
		.start = 0x10040, .length = 4096, .hca_va = 0x7770040,
		.pd_handle = commands_pd(c), .access_flags = RW,
	};
	struct ib_uverbs_reg_mr_resp resp;
	struct ib_mr *mr;

	KUNIT_ASSERT_EQ(test, commands_write(c, IB_USER_VERBS_CMD_REG_MR, &cmd, sizeof(cmd),
					     &resp, sizeof(resp)), 0);
	mr = mr_of(c, resp.mr_handle);
	KUNIT_EXPECT_EQ(test, mr->iova, 0x7770040);
	KUNIT_EXPECT_EQ(test, c->hca->reg.iova, 0x7770040);
	KUNIT_EXPECT_EQ(test, c->hca->reg.start, 0x10040);
	KUNIT_EXPECT_EQ(test, dereg(c, resp.mr_handle), 0);
}

static void what_no_region_can_be_of(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_reg_mr good = {
		.start = 0x10123, .length = 100, .hca_va = 0x20123,
		.pd_handle = commands_pd(c), .access_flags = RW,
	}, cmd = good;
	struct ib_uverbs_reg_mr_resp resp;
	u32 number = IB_USER_VERBS_CMD_REG_MR;

	commands_check_lengths(c, number, &good, sizeof(good), sizeof(resp), true);
	KUNIT_EXPECT_EQ(test, regions(c), 0);

	cmd.hca_va++;
	KUNIT_EXPECT_EQ(test, commands_write(c, number, &cmd, sizeof(cmd), &resp,
					     sizeof(resp)), -EINVAL);
	cmd = good;
	cmd.access_flags = IB_ACCESS_REMOTE_WRITE;
	KUNIT_EXPECT_EQ(test, commands_write(c, number, &cmd, sizeof(cmd), &resp,
					     sizeof(resp)), -EINVAL);
	cmd.access_flags = IB_ACCESS_ON_DEMAND;
	KUNIT_EXPECT_EQ(test, commands_write(c, number, &cmd, sizeof(cmd), &resp,
					     sizeof(resp)), -EOPNOTSUPP);
	cmd.access_flags = BIT(31);
	KUNIT_EXPECT_EQ(test, commands_write(c, number, &cmd, sizeof(cmd), &resp,
					     sizeof(resp)), -EINVAL);
	cmd = good;
	cmd.pd_handle = 77;
	KUNIT_EXPECT_EQ(test, commands_write(c, number, &cmd, sizeof(cmd), &resp,
					     sizeof(resp)), -ENOENT);
	KUNIT_ASSERT_EQ(test, commands_write(c, number, &good, sizeof(good), &resp,
					     sizeof(resp)), 0);
	cmd.pd_handle = resp.mr_handle;
	KUNIT_EXPECT_EQ(test, commands_write(c, number, &cmd, sizeof(cmd), &resp,
					     sizeof(resp)), -EINVAL);
	c->hca->reg.error = -ENODEV;
	KUNIT_EXPECT_EQ(test, commands_write(c, number, &good, sizeof(good), &resp,
					     sizeof(resp)), -ENODEV);
	KUNIT_EXPECT_EQ(test, commands_objects(c), 2);
	KUNIT_EXPECT_EQ(test, uses(c, good.pd_handle), 1);
}

static int rereg(struct commands *c, u32 mr, u32 flags, u32 pd,
		 struct ib_uverbs_rereg_mr_resp *resp)
{
	struct ib_uverbs_rereg_mr cmd = {
		.mr_handle = mr, .flags = flags, .start = 0x40000, .length = 4096,
		.hca_va = 0x50000, .pd_handle = pd, .access_flags = IB_ACCESS_LOCAL_WRITE,
	};

	return commands_write(c, IB_USER_VERBS_CMD_REREG_MR, &cmd, sizeof(cmd), resp,
			      sizeof(*resp));
}

static void a_region_changes_in_place(struct kunit *test)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct commands *c = test->priv;
	u32 pd = commands_pd(c), other = commands_pd(c), handle = a_region(c, pd);
	struct ib_mr *mr = mr_of(c, handle);

	KUNIT_EXPECT_EQ(test, rereg(c, handle, IB_MR_REREG_PD, other, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.lkey, mr->lkey);
	KUNIT_EXPECT_EQ(test, resp.rkey, mr->rkey);
	KUNIT_EXPECT_PTR_EQ(test, mr->pd, pd_of(c, other));
	KUNIT_EXPECT_EQ(test, uses(c, pd), 0);
	KUNIT_EXPECT_EQ(test, uses(c, other), 1);
	KUNIT_EXPECT_EQ(test, mr->iova, 0x10000);
	KUNIT_EXPECT_TRUE(test, mr->res.valid);
	/* To the PD that it has already. */
	KUNIT_EXPECT_EQ(test, rereg(c, handle, IB_MR_REREG_PD, other, &resp), 0);
	KUNIT_EXPECT_EQ(test, uses(c, other), 1);

	KUNIT_EXPECT_EQ(test, rereg(c, handle, IB_MR_REREG_TRANS, 99, &resp), 0);
	KUNIT_EXPECT_EQ(test, mr->iova, 0x50000);
	KUNIT_EXPECT_EQ(test, mr->length, 4096);
	KUNIT_EXPECT_EQ(test, c->hca->reg.start, 0x40000);
	KUNIT_EXPECT_EQ(test, rereg(c, handle, IB_MR_REREG_ACCESS, 99, &resp), 0);
	KUNIT_EXPECT_EQ(test, c->hca->reg.access, IB_ACCESS_LOCAL_WRITE);
	KUNIT_EXPECT_EQ(test, c->hca->reg.flags, IB_MR_REREG_ACCESS);
	KUNIT_EXPECT_EQ(test, rereg(c, handle, IB_MR_REREG_SUPPORTED, pd, &resp), 0);
	KUNIT_EXPECT_EQ(test, uses(c, pd), 1);
	KUNIT_EXPECT_EQ(test, uses(c, other), 0);
	KUNIT_EXPECT_PTR_EQ(test, mr_of(c, handle), mr);
	KUNIT_EXPECT_EQ(test, commands_objects(c), 3);
}

static void a_region_becomes_another(struct kunit *test)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct commands *c = test->priv;
	u32 pd = commands_pd(c), other = commands_pd(c), handle = a_region(c, pd);
	struct ib_mr *mr;

	c->hca->reg.rereg_new = true;
	KUNIT_ASSERT_EQ(test, rereg(c, handle, IB_MR_REREG_PD | IB_MR_REREG_TRANS, other,
				    &resp), 0);
	mr = mr_of(c, handle);
	KUNIT_EXPECT_EQ(test, mr->lkey, 0x1040);
	KUNIT_EXPECT_EQ(test, resp.lkey, mr->lkey);
	KUNIT_EXPECT_EQ(test, resp.rkey, mr->rkey);
	KUNIT_EXPECT_EQ(test, mr->iova, 0x50000);
	KUNIT_EXPECT_EQ(test, mr->length, 4096);
	KUNIT_EXPECT_EQ(test, mr->uobject->id, handle);
	KUNIT_EXPECT_PTR_EQ(test, mr->uobject->object, (void *)mr);
	KUNIT_EXPECT_EQ(test, regions(c), 1);
	KUNIT_EXPECT_EQ(test, uses(c, pd), 0);
	KUNIT_EXPECT_EQ(test, uses(c, other), 1);
	/* The new region covers the same memory as before. */
	KUNIT_ASSERT_EQ(test, rereg(c, handle, IB_MR_REREG_ACCESS, 99, &resp), 0);
	mr = mr_of(c, handle);
	KUNIT_EXPECT_EQ(test, mr->iova, 0x50000);
	KUNIT_EXPECT_EQ(test, mr->length, 4096);
	KUNIT_EXPECT_EQ(test, uses(c, other), 1);
	KUNIT_EXPECT_EQ(test, commands_objects(c), 3);
	KUNIT_EXPECT_EQ(test, dereg(c, handle), 0);
	KUNIT_EXPECT_EQ(test, regions(c), 0);
}

/*
 * The driver fails to destroy the old region: it cannot be
 * found, and is destroyed with the file.
 */
static void the_old_region_that_the_driver_keeps(struct kunit *test)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct commands *c = test->priv;
	u32 pd = commands_pd(c), handle = a_region(c, pd);

	c->hca->reg.rereg_new = true;
	atomic_set(&c->hca->fail_destroy[FAKE_MR], 1);
	KUNIT_ASSERT_EQ(test, rereg(c, handle, IB_MR_REREG_ACCESS, 0, &resp), 0);
	KUNIT_EXPECT_EQ(test, regions(c), 2);
	KUNIT_EXPECT_EQ(test, uses(c, pd), 2);
	KUNIT_EXPECT_EQ(test, dereg(c, handle), 0);
	KUNIT_EXPECT_EQ(test, regions(c), 1);
	commands_close(c);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(c->hca), 0);
}

static void what_no_change_can_be(struct kunit *test)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct commands *c = test->priv;
	u32 pd = commands_pd(c), handle = a_region(c, pd);
	struct ib_uverbs_rereg_mr cmd = {
		.mr_handle = handle, .flags = IB_MR_REREG_ACCESS,
		.access_flags = IB_ACCESS_REMOTE_ATOMIC,
	};

	KUNIT_EXPECT_EQ(test, rereg(c, handle, 0, pd, &resp), -EINVAL);
	KUNIT_EXPECT_EQ(test, rereg(c, handle, IB_MR_REREG_SUPPORTED + 1, pd, &resp),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, rereg(c, handle, IB_MR_REREG_PD, handle, &resp), -EINVAL);
	KUNIT_EXPECT_EQ(test, rereg(c, pd, IB_MR_REREG_PD, pd, &resp), -EINVAL);
	KUNIT_EXPECT_EQ(test, commands_write(c, IB_USER_VERBS_CMD_REREG_MR, &cmd,
					     sizeof(cmd), &resp, sizeof(resp)), -EINVAL);
	cmd.flags = IB_MR_REREG_TRANS;
	cmd.hca_va = 1;
	KUNIT_EXPECT_EQ(test, commands_write(c, IB_USER_VERBS_CMD_REREG_MR, &cmd,
					     sizeof(cmd), &resp, sizeof(resp)), -EINVAL);
	c->hca->reg.error = -EPERM;
	KUNIT_EXPECT_EQ(test, rereg(c, handle, IB_MR_REREG_TRANS, pd, &resp), -EPERM);
	c->hca->reg.rereg_new = true;
	KUNIT_EXPECT_EQ(test, rereg(c, handle, IB_MR_REREG_TRANS, pd, &resp), -EPERM);
	KUNIT_EXPECT_EQ(test, mr_of(c, handle)->iova, 0x10000);
	KUNIT_EXPECT_EQ(test, uses(c, pd), 1);
	KUNIT_EXPECT_EQ(test, commands_objects(c), 2);
	KUNIT_EXPECT_EQ(test, dereg(c, handle), 0);
}

/* ---- by ioctl ---- */

static int query(struct commands *c, u32 handle)
{
	commands_begin(c, UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR);
	commands_obj(c, UVERBS_ATTR_QUERY_MR_HANDLE, handle);
	commands_out(c, UVERBS_ATTR_QUERY_MR_RESP_LKEY, sizeof(u32));
	commands_out(c, UVERBS_ATTR_QUERY_MR_RESP_RKEY, sizeof(u32));
	commands_out(c, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, sizeof(u64));
	commands_out(c, UVERBS_ATTR_QUERY_MR_RESP_IOVA, sizeof(u64));
	return commands_ioctl(c);
}

static void a_region_tells_of_itself(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 handle = a_region(c, commands_pd(c));
	struct ib_mr *mr = mr_of(c, handle);

	KUNIT_ASSERT_EQ(test, query(c, handle), 0);
	KUNIT_EXPECT_EQ(test, commands_got_u32(c, UVERBS_ATTR_QUERY_MR_RESP_LKEY),
			mr->lkey);
	KUNIT_EXPECT_EQ(test, commands_got_u32(c, UVERBS_ATTR_QUERY_MR_RESP_RKEY),
			mr->rkey);
	KUNIT_EXPECT_EQ(test, commands_got_u64(c, UVERBS_ATTR_QUERY_MR_RESP_LENGTH), 8192);
	KUNIT_EXPECT_EQ(test, commands_got_u64(c, UVERBS_ATTR_QUERY_MR_RESP_IOVA), 0x10000);
	commands_check_attrs(c);
	/* A program of rdma-core 44 does not request the IOVA. */
	c->hdr.num_attrs--;
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), 0);
	KUNIT_ASSERT_EQ(test, destroy(c, handle), 0);
	commands_check_attrs(c);
}

static int advise(struct commands *c, u32 pd, u64 advice, u32 flags, size_t len)
{
	struct ib_uverbs_sge list[2] = { { .addr = 1 }, { .addr = 0x7000, .length = 5 } };

	commands_begin(c, UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR);
	commands_obj(c, UVERBS_ATTR_ADVISE_MR_PD_HANDLE, pd);
	commands_u64(c, UVERBS_ATTR_ADVISE_MR_ADVICE, advice);
	commands_u32(c, UVERBS_ATTR_ADVISE_MR_FLAGS, flags);
	commands_in(c, UVERBS_ATTR_ADVISE_MR_SGE_LIST, list, len);
	return commands_ioctl(c);
}

static void advice_reaches_the_driver(struct kunit *test)
{
	const size_t len = 2 * sizeof(struct ib_uverbs_sge);
	struct commands *c = test->priv;
	u32 pd = commands_pd(c);

	a_region(c, pd);
	KUNIT_ASSERT_EQ(test, advise(c, pd, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE,
				     IB_UVERBS_ADVISE_MR_FLAG_FLUSH, len), 0);
	KUNIT_EXPECT_EQ(test, c->hca->reg.advice,
			IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE);
	KUNIT_EXPECT_EQ(test, c->hca->reg.flags, IB_UVERBS_ADVISE_MR_FLAG_FLUSH);
	KUNIT_EXPECT_EQ(test, c->hca->reg.num_sge, 2);
	KUNIT_EXPECT_EQ(test, c->hca->reg.start, 0x7000);
	KUNIT_EXPECT_EQ(test, c->hca->reg.length, 5);
	commands_check_attrs(c);
	KUNIT_EXPECT_EQ(test, advise(c, pd, 0, 2, len), -EINVAL);
	KUNIT_EXPECT_EQ(test, advise(c, pd, BIT_ULL(40), 0, len), -EINVAL);
	KUNIT_EXPECT_EQ(test, advise(c, pd, 0, 0, len - 1), -EINVAL);
	c->hca->reg.error = -ENOENT;
	KUNIT_EXPECT_EQ(test, advise(c, pd, 0, 0, len), -ENOENT);
}

static int reg_dmabuf(struct commands *c, u32 pd, u64 offset, u64 iova, u32 fd,
		      u32 access)
{
	commands_begin(c, UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR);
	commands_new(c, UVERBS_ATTR_REG_DMABUF_MR_HANDLE);
	commands_obj(c, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, pd);
	commands_u64(c, UVERBS_ATTR_REG_DMABUF_MR_OFFSET, offset);
	commands_u64(c, UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 4096);
	commands_u64(c, UVERBS_ATTR_REG_DMABUF_MR_IOVA, iova);
	commands_u32(c, UVERBS_ATTR_REG_DMABUF_MR_FD, fd);
	commands_u32(c, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, access);
	commands_out(c, UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, sizeof(u32));
	commands_out(c, UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, sizeof(u32));
	return commands_ioctl(c);
}

static void a_region_of_a_dma_buf(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 pd = commands_pd(c), handle;
	struct ib_mr *mr;

	a_region(c, pd);
	KUNIT_ASSERT_EQ(test, reg_dmabuf(c, pd, 0x3000, 0x9000, 7, RW), 0);
	handle = commands_got_handle(c, UVERBS_ATTR_REG_DMABUF_MR_HANDLE);
	mr = mr_of(c, handle);
	KUNIT_ASSERT_NOT_NULL(test, mr);
	KUNIT_EXPECT_EQ(test, c->hca->reg.fd, 7);
	KUNIT_EXPECT_EQ(test, c->hca->reg.start, 0x3000);
	KUNIT_EXPECT_EQ(test, mr->iova, 0x9000);
	KUNIT_EXPECT_EQ(test, mr->length, 4096);
	KUNIT_EXPECT_EQ(test, commands_got_u32(c, UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY),
			mr->lkey);
	KUNIT_EXPECT_EQ(test, commands_got_u32(c, UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY),
			mr->rkey);
	commands_check_attrs(c);
	KUNIT_EXPECT_EQ(test, regions(c), 2);
	KUNIT_EXPECT_EQ(test, uses(c, pd), 2);
	KUNIT_EXPECT_EQ(test, reg_dmabuf(c, pd, 1, 2, 7, RW), -EINVAL);
	KUNIT_EXPECT_EQ(test, reg_dmabuf(c, pd, 0, 0, -1, RW), -EBADF);
	KUNIT_EXPECT_EQ(test, reg_dmabuf(c, pd, 0, 0, 7, IB_ACCESS_ON_DEMAND), -EINVAL);
	KUNIT_EXPECT_EQ(test, reg_dmabuf(c, pd, 0, 0, 7, IB_ACCESS_REMOTE_WRITE), -EINVAL);
	c->hca->reg.error = -EBADF;
	KUNIT_EXPECT_EQ(test, reg_dmabuf(c, pd, 0, 0, 7, RW), -EBADF);
	KUNIT_EXPECT_EQ(test, commands_objects(c), 3);
}

static u32 device_memory(struct commands *c)
{
	commands_begin(c, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC);
	commands_new(c, UVERBS_ATTR_ALLOC_DM_HANDLE);
	commands_u64(c, UVERBS_ATTR_ALLOC_DM_LENGTH, 4096);
	commands_u32(c, UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 0);
	KUNIT_ASSERT_EQ(c->test, commands_ioctl(c), 0);
	return commands_got_handle(c, UVERBS_ATTR_ALLOC_DM_HANDLE);
}

static int reg_dm(struct commands *c, u32 pd, u32 dm, u64 offset, u64 length, u32 access)
{
	commands_begin(c, UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG);
	commands_new(c, UVERBS_ATTR_REG_DM_MR_HANDLE);
	commands_u64(c, UVERBS_ATTR_REG_DM_MR_OFFSET, offset);
	commands_u64(c, UVERBS_ATTR_REG_DM_MR_LENGTH, length);
	commands_obj(c, UVERBS_ATTR_REG_DM_MR_PD_HANDLE, pd);
	commands_u32(c, UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, access);
	commands_obj(c, UVERBS_ATTR_REG_DM_MR_DM_HANDLE, dm);
	commands_out(c, UVERBS_ATTR_REG_DM_MR_RESP_LKEY, sizeof(u32));
	commands_out(c, UVERBS_ATTR_REG_DM_MR_RESP_RKEY, sizeof(u32));
	return commands_ioctl(c);
}

static void a_region_on_the_device(struct kunit *test)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct commands *c = test->priv;
	u32 pd = commands_pd(c), dm = device_memory(c), handle;
	const u32 access = RW | IB_ZERO_BASED;

	KUNIT_ASSERT_EQ(test, reg_dm(c, pd, dm, 4000, 96, access), 0);
	handle = commands_got_handle(c, UVERBS_ATTR_REG_DM_MR_HANDLE);
	KUNIT_EXPECT_EQ(test, mr_of(c, handle)->type, IB_MR_TYPE_DM);
	KUNIT_EXPECT_EQ(test, mr_of(c, handle)->length, 96);
	KUNIT_EXPECT_EQ(test, mr_of(c, handle)->iova, 0);
	KUNIT_EXPECT_EQ(test, c->hca->reg.start, 4000);
	commands_check_attrs(c);
	KUNIT_EXPECT_EQ(test, commands_destroy(c, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE,
					       dm), -EBUSY);
	KUNIT_EXPECT_EQ(test, rereg(c, handle, IB_MR_REREG_TRANS, pd, &resp), -EINVAL);
	KUNIT_EXPECT_EQ(test, reg_dm(c, pd, dm, 4000, 97, access), -EINVAL);
	KUNIT_EXPECT_EQ(test, reg_dm(c, pd, dm, 4097, 0, access), -EINVAL);
	KUNIT_EXPECT_EQ(test, reg_dm(c, pd, dm, 2, U64_MAX, access), -EINVAL);
	KUNIT_EXPECT_EQ(test, reg_dm(c, pd, dm, 0, 1, RW), -EINVAL);
	KUNIT_EXPECT_EQ(test, reg_dm(c, pd, dm, 0, 1, IB_ZERO_BASED |
				     IB_ACCESS_REMOTE_ATOMIC), -EINVAL);
	KUNIT_EXPECT_EQ(test, reg_dm(c, pd, dm, 0, 1, access | BIT(31)), -EINVAL);
	c->hca->reg.error = -ENOSPC;
	KUNIT_EXPECT_EQ(test, reg_dm(c, pd, dm, 0, 1, access), -ENOSPC);
	KUNIT_EXPECT_EQ(test, regions(c), 1);
	KUNIT_EXPECT_EQ(test, destroy(c, handle), 0);
	KUNIT_EXPECT_EQ(test, uses(c, pd), 0);
	KUNIT_EXPECT_EQ(test, commands_destroy(c, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE,
					       dm), 0);
}

static u32 fault_pd, fault_dm;

static int each_kind_of_region(struct kunit *test)
{
	struct ib_uverbs_rereg_mr_resp rereg_resp;
	struct ib_uverbs_reg_mr_resp resp;
	struct commands *c = test->priv;
	int ret;

	ret = reg(c, fault_pd, 0x10000, &resp);
	if (ret)
		return ret;
	ret = rereg(c, resp.mr_handle, IB_MR_REREG_TRANS, 0, &rereg_resp);
	dereg(c, resp.mr_handle);
	if (!ret)
		ret = reg_dmabuf(c, fault_pd, 0, 0, 3, RW);
	if (ret)
		return ret;
	destroy(c, commands_got_handle(c, UVERBS_ATTR_REG_DMABUF_MR_HANDLE));
	ret = reg_dm(c, fault_pd, fault_dm, 0, 8, RW | IB_ZERO_BASED);
	if (!ret)
		destroy(c, commands_got_handle(c, UVERBS_ATTR_REG_DM_MR_HANDLE));
	return ret;
}

static void each_allocation_may_fail(struct kunit *test)
{
	struct commands *c = test->priv;

	fault_pd = commands_pd(c);
	fault_dm = device_memory(c);
	c->hca->reg.rereg_new = true;
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, each_kind_of_region), 6);
	KUNIT_EXPECT_EQ(test, regions(c), 0);
	KUNIT_EXPECT_EQ(test, uses(c, fault_pd), 0);
	KUNIT_EXPECT_EQ(test, commands_objects(c), 2);
}

static struct kunit_case mr_cases[] = {
	KUNIT_CASE(a_region_is_registered_and_gone),
	KUNIT_CASE(a_region_has_an_address_of_its_own),
	KUNIT_CASE(what_no_region_can_be_of),
	KUNIT_CASE(a_region_changes_in_place),
	KUNIT_CASE(a_region_becomes_another),
	KUNIT_CASE(the_old_region_that_the_driver_keeps),
	KUNIT_CASE(what_no_change_can_be),
	KUNIT_CASE(a_region_tells_of_itself),
	KUNIT_CASE(advice_reaches_the_driver),
	KUNIT_CASE(a_region_of_a_dma_buf),
	KUNIT_CASE(a_region_on_the_device),
	KUNIT_CASE(each_allocation_may_fail),
	{}
};

static struct kunit_suite uverbs_mr_suite = {
	.name = "uverbs_mr",
	.init = commands_init,
	.exit = commands_exit,
	.test_cases = mr_cases,
};

kunit_test_suite(uverbs_mr_suite);
