// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Work requests that the kernel posts for a process. */
#include "faults.h"
#include "process_queues.h"
#include "user/uverbs_test.h"

#define MAX_WRS		3
#define MAX_SGES	6

/* A request in the layout of the libraries. */
struct post_cmd {
	struct ib_uverbs_post_send hdr;
	u8 tail[MAX_WRS * 64 + MAX_SGES * sizeof(struct ib_uverbs_sge)];
	u32 used;
};

static void begin(struct post_cmd *cmd, u32 handle, u32 wqe_size)
{
	memset(cmd, 0, sizeof(*cmd));
	cmd->hdr.qp_handle = handle;
	cmd->hdr.wqe_size = wqe_size;
}

static void add_send(struct post_cmd *cmd, const struct ib_uverbs_send_wr *wr)
{
	memcpy(cmd->tail + cmd->used, wr, sizeof(*wr));
	cmd->used += cmd->hdr.wqe_size;
	cmd->hdr.wr_count++;
}

static void add_recv(struct post_cmd *cmd, const struct ib_uverbs_recv_wr *wr)
{
	memcpy(cmd->tail + cmd->used, wr, sizeof(*wr));
	cmd->used += cmd->hdr.wqe_size;
	cmd->hdr.wr_count++;
}

/* Must be called after the work requests were added. */
static void add_sge(struct post_cmd *cmd, u64 addr)
{
	struct ib_uverbs_sge sge = { .addr = addr, .length = 64, .lkey = 5 };

	memcpy(cmd->tail + cmd->used, &sge, sizeof(sge));
	cmd->used += sizeof(sge);
	cmd->hdr.sge_count++;
}

static int post(struct commands *c, u32 command, const struct post_cmd *cmd, u32 *bad)
{
	struct ib_uverbs_post_send_resp resp = {};
	int ret;

	ret = commands_write(c, command, cmd, sizeof(cmd->hdr) + cmd->used, &resp,
			     sizeof(resp));
	if (bad)
		*bad = resp.bad_wr;
	return ret;
}

static int post_one(struct commands *c, u32 qp, const struct ib_uverbs_send_wr *wr)
{
	struct post_cmd cmd;

	begin(&cmd, qp, sizeof(*wr));
	add_send(&cmd, wr);
	return post(c, CMD(POST_SEND), &cmd, NULL);
}

static void a_doorbell_posts_nothing(struct kunit *test)
{
	static const enum rdma_driver_id drivers[] = {
		RDMA_DRIVER_RXE, RDMA_DRIVER_SIW, RDMA_DRIVER_UNKNOWN,
	};
	struct commands *c = test->priv;
	struct post_cmd cmd;
	u32 bad, i;

	/* The size of the struct in libibverbs. */
	begin(&cmd, queues_qp(c, IB_QPT_RC), 128);
	for (i = 0; i < ARRAY_SIZE(drivers); i++) {
		c->hca->ibdev.ops.driver_id = drivers[i];
		KUNIT_EXPECT_EQ(test, post(c, CMD(POST_SEND), &cmd, &bad), 0);
		KUNIT_EXPECT_EQ(test, c->hca->queues.posts, i + 1);
		KUNIT_EXPECT_EQ(test, c->hca->queues.posted, 0u);
	}
	c->hca->queues.error = -EIO;
	KUNIT_EXPECT_EQ(test, post(c, CMD(POST_SEND), &cmd, &bad), -EIO);
	KUNIT_EXPECT_EQ(test, bad, 0u);
}

/* rdmavt would dereference the first request of an empty list. */
static void an_empty_list_is_for_those_that_take_it(struct kunit *test)
{
	struct commands *c = test->priv;
	struct post_cmd cmd;
	u32 bad;

	c->hca->ibdev.ops.driver_id = RDMA_DRIVER_HFI1;
	begin(&cmd, queues_qp(c, IB_QPT_RC), sizeof(struct ib_uverbs_send_wr));
	KUNIT_EXPECT_EQ(test, post(c, CMD(POST_SEND), &cmd, &bad), 0);
	KUNIT_EXPECT_EQ(test, bad, 0u);
	KUNIT_EXPECT_EQ(test, c->hca->queues.posts, 0u);
}

static void requests_and_their_entries(struct kunit *test)
{
	struct commands *c = test->priv;
	struct fake_hca_queues *q = &c->hca->queues;
	struct ib_uverbs_send_wr wr = {
		.wr_id = 11, .num_sge = 2, .opcode = IB_UVERBS_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IB_SEND_SIGNALED | IB_SEND_INLINE,
		.ex.imm_data = cpu_to_be32(7),
		.wr.rdma = { .remote_addr = 0x1000, .rkey = 3 },
	};
	struct post_cmd cmd;
	u32 bad;

	/* The work requests of a newer program are longer. */
	begin(&cmd, queues_qp(c, IB_QPT_RC), 64);
	add_send(&cmd, &wr);
	wr.wr_id = 12;
	wr.num_sge = 0;
	wr.opcode = IB_UVERBS_WR_SEND;
	wr.send_flags = 0;
	add_send(&cmd, &wr);
	wr.wr_id = 13;
	wr.num_sge = 1;
	wr.opcode = IB_UVERBS_WR_ATOMIC_CMP_AND_SWP;
	wr.wr.atomic.remote_addr = 0x2000;
	wr.wr.atomic.compare_add = 1;
	wr.wr.atomic.swap = 2;
	wr.wr.atomic.rkey = 4;
	add_send(&cmd, &wr);
	add_sge(&cmd, 0xa000);
	add_sge(&cmd, 0xb000);
	add_sge(&cmd, 0xc000);
	KUNIT_ASSERT_EQ(test, post(c, CMD(POST_SEND), &cmd, &bad), 0);
	KUNIT_EXPECT_EQ(test, bad, 0u);
	KUNIT_ASSERT_EQ(test, q->posted, 3u);
	KUNIT_EXPECT_EQ(test, q->send[0].wr.wr_id, 11ull);
	KUNIT_EXPECT_EQ(test, q->send[0].wr.num_sge, 2);
	KUNIT_EXPECT_EQ(test, q->send[0].wr.ex.imm_data, cpu_to_be32(7));
	KUNIT_EXPECT_EQ(test, q->send[0].rdma.remote_addr, 0x1000ull);
	KUNIT_EXPECT_EQ(test, q->send[0].rdma.rkey, 3u);
	/* IB_SEND_INLINE was dropped, as the driver would copy kernel memory. */
	KUNIT_EXPECT_EQ(test, q->send[0].wr.send_flags, (int)IB_SEND_SIGNALED);
	KUNIT_EXPECT_EQ(test, q->sge[0].addr, 0xa000ull);
	KUNIT_EXPECT_EQ(test, q->sge[0].lkey, 5u);
	KUNIT_EXPECT_NULL(test, q->send[1].wr.sg_list);
	KUNIT_EXPECT_EQ(test, q->sge[2].addr, 0xc000ull);
	KUNIT_EXPECT_EQ(test, q->send[2].atomic.swap, 2ull);
	KUNIT_EXPECT_EQ(test, q->send[2].atomic.compare_add, 1ull);
	KUNIT_EXPECT_EQ(test, q->send[2].atomic.rkey, 4u);
	q->bad = 2;
	KUNIT_EXPECT_EQ(test, post(c, CMD(POST_SEND), &cmd, &bad), -ENOMEM);
	KUNIT_EXPECT_EQ(test, bad, 2u);
}

static void operations_that_a_process_may_ask_for(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 qp = queues_qp(c, IB_QPT_RC), op;
	u32 good = BIT(IB_UVERBS_WR_RDMA_WRITE) | BIT(IB_UVERBS_WR_RDMA_WRITE_WITH_IMM) |
		   BIT(IB_UVERBS_WR_SEND) | BIT(IB_UVERBS_WR_SEND_WITH_IMM) |
		   BIT(IB_UVERBS_WR_RDMA_READ) | BIT(IB_UVERBS_WR_ATOMIC_CMP_AND_SWP) |
		   BIT(IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD) | BIT(IB_UVERBS_WR_SEND_WITH_INV);

	for (op = 0; op < 20; op++) {
		struct ib_uverbs_send_wr wr = { .opcode = op, .ex.invalidate_rkey = 9 };

		KUNIT_EXPECT_EQ_MSG(test, post_one(c, qp, &wr),
				    good & BIT(op) ? 0 : -EINVAL, "operation %u", op);
	}
	KUNIT_EXPECT_EQ(test, post_one(c, qp, &(struct ib_uverbs_send_wr) {
				.opcode = IB_WR_REG_MR }), -EINVAL);
	KUNIT_EXPECT_EQ(test, post_one(c, qp, &(struct ib_uverbs_send_wr) {
				.opcode = IB_UVERBS_WR_SEND,
				.send_flags = IB_SEND_RESERVED_START }), -EINVAL);
	KUNIT_EXPECT_EQ(test, post_one(c, qp, &(struct ib_uverbs_send_wr) {
				.opcode = IB_UVERBS_WR_SEND_WITH_INV,
				.ex.invalidate_rkey = 9 }), 0);
	KUNIT_EXPECT_EQ(test, c->hca->queues.send[0].wr.ex.invalidate_rkey, 9u);
}

static u32 make_ah(struct commands *c)
{
	struct ib_uverbs_create_ah cmd = {
		.pd_handle = queues.pd, .attr.port_num = 1, .attr.dlid = 4,
	};
	struct ib_uverbs_create_ah_resp resp;
	int ret;

	ret = commands_write(c, CMD(CREATE_AH), &cmd, sizeof(cmd), &resp, sizeof(resp));
	if (ret == -EOPNOTSUPP)
		kunit_skip(c->test, "no address handles");
	KUNIT_ASSERT_EQ(c->test, ret, 0);
	return resp.ah_handle;
}

static void datagrams_name_an_address_handle(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 ah = make_ah(c), qp = queues_qp(c, IB_QPT_UD);
	struct fake_hca_queues *q = &c->hca->queues;
	struct ib_uverbs_send_wr wr = {
		.opcode = IB_UVERBS_WR_SEND_WITH_IMM, .ex.imm_data = cpu_to_be32(5),
		.wr.ud = { .ah = ah, .remote_qpn = 1, .remote_qkey = 2 },
	};
	struct ib_uverbs_destroy_ah destroy = { .ah_handle = ah };
	struct post_cmd cmd;

	begin(&cmd, qp, sizeof(wr));
	add_send(&cmd, &wr);
	add_send(&cmd, &wr);
	KUNIT_EXPECT_EQ(test, post(c, CMD(POST_SEND), &cmd, NULL), 0);
	KUNIT_EXPECT_PTR_EQ(test, (void *)q->send[1].ud.ah,
			    commands_object(c, UVERBS_OBJECT_AH, ah));
	KUNIT_EXPECT_EQ(test, q->send[1].ud.remote_qpn, 1u);
	KUNIT_EXPECT_EQ(test, q->send[1].ud.remote_qkey, 2u);
	/* The handle of the second is invalid: the first address handle is released. */
	wr.wr.ud.ah = queues.cq;
	begin(&cmd, qp, sizeof(wr));
	cmd.used = sizeof(wr);
	cmd.hdr.wr_count = 1;
	((struct ib_uverbs_send_wr *)cmd.tail)->opcode = IB_UVERBS_WR_SEND;
	((struct ib_uverbs_send_wr *)cmd.tail)->wr.ud.ah = ah;
	add_send(&cmd, &wr);
	KUNIT_EXPECT_EQ(test, post(c, CMD(POST_SEND), &cmd, NULL), -EINVAL);
	wr.opcode = IB_UVERBS_WR_RDMA_WRITE;
	KUNIT_EXPECT_EQ(test, post_one(c, qp, &wr), -EINVAL);
	KUNIT_EXPECT_EQ(test, commands_write(c, CMD(DESTROY_AH), &destroy,
					     sizeof(destroy), NULL, 0), 0);
}

static void hostile_sizes(struct kunit *test)
{
	static const u32 sizes[] = { 1, 2, 100, 0x4924924, 0x10000000, 0x80000000, ~0u };
	struct commands *c = test->priv;
	u32 qp = queues_qp(c, IB_QPT_RC);
	struct ib_uverbs_send_wr wr = { .opcode = IB_UVERBS_WR_SEND };
	struct post_cmd cmd;
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		begin(&cmd, qp, sizeof(wr));
		cmd.hdr.wr_count = sizes[i];
		KUNIT_EXPECT_EQ(test, post(c, CMD(POST_SEND), &cmd, NULL), -ENOSPC);
		begin(&cmd, qp, sizeof(wr));
		cmd.hdr.sge_count = sizes[i];
		KUNIT_EXPECT_EQ(test, post(c, CMD(POST_SEND), &cmd, NULL), -ENOSPC);
		begin(&cmd, qp, sizes[i]);
		cmd.hdr.wr_count = sizes[i];
		KUNIT_EXPECT_EQ(test, post(c, CMD(POST_SEND), &cmd, NULL),
				sizes[i] < sizeof(wr) ? -EINVAL : -ENOSPC);
		begin(&cmd, qp, sizeof(wr));
		wr.num_sge = sizes[i];
		add_send(&cmd, &wr);
		KUNIT_EXPECT_EQ(test, post(c, CMD(POST_SEND), &cmd, NULL), -EINVAL);
		KUNIT_EXPECT_EQ(test, post(c, CMD(POST_RECV), &cmd, NULL), -EINVAL);
	}
	begin(&cmd, qp, sizeof(wr) - 1);
	KUNIT_EXPECT_EQ(test, post(c, CMD(POST_SEND), &cmd, NULL), -EINVAL);
	begin(&cmd, qp, 15);
	KUNIT_EXPECT_EQ(test, post(c, CMD(POST_RECV), &cmd, NULL), -EINVAL);
	/* Bytes after the header that are no work request. */
	begin(&cmd, qp, sizeof(wr));
	memset(cmd.tail, 1, 8);
	cmd.used = 8;
	KUNIT_EXPECT_EQ(test, post(c, CMD(POST_SEND), &cmd, NULL), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, c->hca->queues.posts, 0u);
	cmd.used = 0;
	commands_check_lengths(c, CMD(POST_SEND), &cmd, sizeof(cmd.hdr),
			       sizeof(struct ib_uverbs_post_send_resp), false);
	commands_check_lengths(c, CMD(POST_RECV), &cmd, sizeof(cmd.hdr),
			       sizeof(struct ib_uverbs_post_recv_resp), false);
}

static void what_cannot_be_posted_to(struct kunit *test)
{
	struct commands *c = test->priv;
	struct post_cmd cmd;

	begin(&cmd, queues.cq, 64);
	KUNIT_EXPECT_EQ(test, post(c, CMD(POST_SEND), &cmd, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, post(c, CMD(POST_RECV), &cmd, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, post(c, CMD(POST_SRQ_RECV), &cmd, NULL), -EINVAL);
	begin(&cmd, queues_qp(c, IB_QPT_RC), 64);
	KUNIT_EXPECT_EQ(test, post(c, CMD(POST_SRQ_RECV), &cmd, NULL), -EINVAL);
}

/* Those of a driver whose receive queues processes write by themselves. */
static void doorbells_of_receive_queues(struct kunit *test)
{
	struct commands *c = test->priv;
	struct post_cmd cmd;
	u32 bad;

	begin(&cmd, queues_qp(c, IB_QPT_RC), 128);
	KUNIT_EXPECT_EQ(test, post(c, CMD(POST_RECV), &cmd, &bad), 0);
	KUNIT_EXPECT_EQ(test, c->hca->queues.posts, 1u);
	begin(&cmd, queues_srq(c), 128);
	KUNIT_EXPECT_EQ(test, post(c, CMD(POST_SRQ_RECV), &cmd, &bad), 0);
	KUNIT_EXPECT_EQ(test, c->hca->queues.posts, 2u);
	KUNIT_EXPECT_EQ(test, c->hca->queues.posted, 0u);
}

static void receives(struct kunit *test)
{
	struct commands *c = test->priv;
	struct fake_hca_queues *q = &c->hca->queues;
	struct { u32 command, handle; } to[] = {
		{ CMD(POST_RECV), queues_qp(c, IB_QPT_RC) },
		{ CMD(POST_SRQ_RECV), queues_srq(c) },
	};
	struct ib_uverbs_recv_wr wr = { .wr_id = 21, .num_sge = 1 };
	struct post_cmd cmd;
	u32 bad;
	int i;

	for (i = 0; i < ARRAY_SIZE(to); i++) {
		q->bad = 0;
		begin(&cmd, to[i].handle, sizeof(wr));
		KUNIT_EXPECT_EQ(test, post(c, to[i].command, &cmd, &bad), 0);
		wr.wr_id = 21;
		add_recv(&cmd, &wr);
		wr.wr_id = 22;
		add_recv(&cmd, &wr);
		add_sge(&cmd, 0xd000);
		KUNIT_EXPECT_EQ(test, post(c, to[i].command, &cmd, &bad), -EINVAL);
		add_sge(&cmd, 0xe000);
		KUNIT_ASSERT_EQ(test, post(c, to[i].command, &cmd, &bad), 0);
		KUNIT_EXPECT_EQ(test, bad, 0u);
		KUNIT_EXPECT_EQ(test, q->posted, 2u);
		KUNIT_EXPECT_EQ(test, q->recv[1].wr_id, 22ull);
		KUNIT_EXPECT_EQ(test, q->sge[0].addr, 0xd000ull);
		KUNIT_EXPECT_EQ(test, q->sge[1].addr, 0xe000ull);
		q->bad = 1;
		KUNIT_EXPECT_EQ(test, post(c, to[i].command, &cmd, &bad), -ENOMEM);
		KUNIT_EXPECT_EQ(test, bad, 1u);
		/* The process cannot learn which request was refused. */
		KUNIT_EXPECT_EQ(test, commands_write_nowhere(c, to[i].command, &cmd,
							     sizeof(cmd.hdr) + cmd.used,
							     sizeof(bad)), -EFAULT);
	}
}

/* Drivers have post_send() for kernel users; not all of them support it for processes. */
static void drivers_are_asked_only_if_they_want_to(struct kunit *test)
{
	static const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND, .user = true,
	};
	struct fake_hca *hca = fake_hca_alloc(&params);
	struct uverbs_device *udev;

	KUNIT_ASSERT_NOT_NULL(test, hca);
	hca->ibdev.uverbs_cmd_mask &= ~BIT_ULL(CMD(POST_SEND));
	if (fake_hca_register(hca)) {
		fake_hca_free(hca);
		KUNIT_FAIL(test, "no device");
		return;
	}
	udev = uverbs_device_get(&hca->ibdev);
	KUNIT_EXPECT_NULL(test, uverbs_api_write(udev->uapi, CMD(POST_SEND), false));
	KUNIT_EXPECT_NOT_NULL(test, uverbs_api_write(udev->uapi, CMD(POST_RECV), false));
	uverbs_device_put(udev);
	fake_hca_destroy(hca);
}

static u32 fault_qp;

static int post_both(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_send_wr wr = { .opcode = IB_UVERBS_WR_SEND, .num_sge = 1 };
	struct ib_uverbs_recv_wr recv = { .num_sge = 1 };
	struct post_cmd cmd;
	int ret;

	begin(&cmd, fault_qp, sizeof(wr));
	add_send(&cmd, &wr);
	add_sge(&cmd, 1);
	ret = post(c, CMD(POST_SEND), &cmd, NULL);
	if (ret)
		return ret;
	begin(&cmd, fault_qp, sizeof(recv));
	add_recv(&cmd, &recv);
	add_sge(&cmd, 1);
	return post(c, CMD(POST_RECV), &cmd, NULL);
}

static void each_allocation_may_fail(struct kunit *test)
{
	fault_qp = queues_qp(test->priv, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, ibex_each_allocation(test, post_both), 4);
}

static struct kunit_case post_cases[] = {
	KUNIT_CASE(a_doorbell_posts_nothing),
	KUNIT_CASE(an_empty_list_is_for_those_that_take_it),
	KUNIT_CASE(requests_and_their_entries),
	KUNIT_CASE(operations_that_a_process_may_ask_for),
	KUNIT_CASE(datagrams_name_an_address_handle),
	KUNIT_CASE(hostile_sizes),
	KUNIT_CASE(what_cannot_be_posted_to),
	KUNIT_CASE(doorbells_of_receive_queues),
	KUNIT_CASE(receives),
	KUNIT_CASE(drivers_are_asked_only_if_they_want_to),
	KUNIT_CASE(each_allocation_may_fail),
	{}
};

static struct kunit_suite uverbs_post_suite = {
	.name = "uverbs_post",
	.init = queues_init,
	.exit = commands_exit,
	.test_cases = post_cases,
};

kunit_test_suite(uverbs_post_suite);
