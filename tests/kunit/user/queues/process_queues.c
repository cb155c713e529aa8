// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See process_queues.h. */
#include <linux/cred.h>
#include <linux/fcntl.h>
#include "process_queues.h"

struct queues queues;

int queues_init(struct kunit *test)
{
	struct commands *c;
	int ret = commands_init(test);

	if (ret)
		return ret;
	c = test->priv;
	queues.pd = commands_pd(c);
	queues.cq = queues_cq(c);
	return 0;
}

void queues_expect_idle(struct commands *c)
{
	struct ib_pd *pd = commands_object(c, UVERBS_OBJECT_PD, queues.pd);
	struct ib_cq *cq = commands_object(c, UVERBS_OBJECT_CQ, queues.cq);

	KUNIT_EXPECT_EQ(c->test, fake_hca_objects(c->hca), 3);
	KUNIT_EXPECT_EQ(c->test, commands_objects(c), 2);
	KUNIT_EXPECT_EQ(c->test, atomic_read(&pd->usecnt), 0);
	KUNIT_EXPECT_EQ(c->test, atomic_read(&cq->usecnt), 0);
}

u32 queues_cq(struct commands *c)
{
	struct ib_uverbs_create_cq cmd = { .cqe = 16, .comp_channel = -1 };
	struct ib_uverbs_create_cq_resp resp;

	KUNIT_ASSERT_EQ(c->test, commands_write(c, CMD(CREATE_CQ), &cmd, sizeof(cmd),
						&resp, sizeof(resp)), 0);
	return resp.cq_handle;
}

u32 queues_srq(struct commands *c)
{
	struct ib_uverbs_create_srq cmd = { .pd_handle = queues.pd, .max_wr = 8,
					    .max_sge = 1 };
	struct ib_uverbs_create_srq_resp resp;

	KUNIT_ASSERT_EQ(c->test, commands_write(c, CMD(CREATE_SRQ), &cmd, sizeof(cmd),
						&resp, sizeof(resp)), 0);
	return resp.srq_handle;
}

u32 queues_wq(struct commands *c)
{
	struct ib_uverbs_ex_create_wq cmd = { .pd_handle = queues.pd,
					      .cq_handle = queues.cq,
					      .max_wr = 8, .max_sge = 1 };
	struct ib_uverbs_ex_create_wq_resp resp;

	KUNIT_ASSERT_EQ(c->test, commands_write(c, EX(CREATE_WQ), &cmd, sizeof(cmd),
						&resp, sizeof(resp)), 0);
	return resp.wq_handle;
}

void queues_add_srq(struct commands *c, u32 type)
{
	commands_obj(c, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, queues.pd);
	commands_u32(c, UVERBS_ATTR_CREATE_SRQ_MAX_WR, 20);
	commands_u32(c, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 3);
	commands_u32(c, UVERBS_ATTR_CREATE_SRQ_LIMIT, 2);
	commands_u64(c, UVERBS_ATTR_CREATE_SRQ_TYPE, type);
	commands_out(c, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, sizeof(u32));
	commands_out(c, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, sizeof(u32));
}

void queues_add_wq(struct commands *c)
{
	commands_obj(c, UVERBS_ATTR_CREATE_WQ_PD_HANDLE, queues.pd);
	commands_obj(c, UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, queues.cq);
	commands_u64(c, UVERBS_ATTR_CREATE_WQ_TYPE, IB_UVERBS_WQT_RQ);
	commands_u32(c, UVERBS_ATTR_CREATE_WQ_MAX_WR, 6);
	commands_u32(c, UVERBS_ATTR_CREATE_WQ_MAX_SGE, 1);
	commands_out(c, UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, sizeof(u32));
	commands_out(c, UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, sizeof(u32));
	commands_out(c, UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, sizeof(u32));
}

u32 queues_ind_tbl(struct commands *c, u32 wq)
{
	u32 cmd[] = { 0, 1, wq, wq };
	struct ib_uverbs_ex_create_rwq_ind_table_resp resp;

	KUNIT_ASSERT_EQ(c->test, commands_write(c, EX(CREATE_RWQ_IND_TBL), cmd,
						sizeof(cmd), &resp, sizeof(resp)), 0);
	return resp.ind_tbl_handle;
}

u32 queues_xrcd(struct commands *c)
{
	struct ib_uverbs_open_xrcd cmd = { .fd = -1, .oflags = O_CREAT };
	struct ib_uverbs_open_xrcd_resp resp;
	int ret;

	ret = commands_write(c, CMD(OPEN_XRCD), &cmd, sizeof(cmd), &resp, sizeof(resp));
	if (ret == -EOPNOTSUPP)
		kunit_skip(c->test, "no XRC domains");
	KUNIT_ASSERT_EQ(c->test, ret, 0);
	return resp.xrcd_handle;
}

void queues_qp_cmd(struct ib_uverbs_ex_create_qp *cmd, u8 type)
{
	*cmd = (struct ib_uverbs_ex_create_qp) {
		.user_handle = 0x1122334455667788,
		.pd_handle = queues.pd,
		.send_cq_handle = queues.cq,
		.recv_cq_handle = queues.cq,
		.max_send_wr = 4,
		.max_recv_wr = 5,
		.max_send_sge = 2,
		.max_recv_sge = 3,
		.max_inline_data = 16,
		.qp_type = type,
	};
}

int queues_create_qp(struct commands *c, const struct ib_uverbs_ex_create_qp *cmd,
		     struct ib_uverbs_ex_create_qp_resp *resp)
{
	return commands_write(c, EX(CREATE_QP), cmd, sizeof(*cmd), resp, sizeof(*resp));
}

u32 queues_qp(struct commands *c, u8 type)
{
	struct ib_uverbs_ex_create_qp_resp resp;
	struct ib_uverbs_ex_create_qp cmd;

	queues_qp_cmd(&cmd, type);
	KUNIT_ASSERT_EQ(c->test, queues_create_qp(c, &cmd, &resp), 0);
	return resp.base.qp_handle;
}

int queues_destroy_qp(struct commands *c, u32 handle)
{
	struct ib_uverbs_destroy_qp cmd = { .qp_handle = handle };
	struct ib_uverbs_destroy_qp_resp resp;

	return commands_write(c, CMD(DESTROY_QP), &cmd, sizeof(cmd), &resp, sizeof(resp));
}

int queues_destroy_srq(struct commands *c, u32 handle)
{
	struct ib_uverbs_destroy_srq cmd = { .srq_handle = handle };
	struct ib_uverbs_destroy_srq_resp resp;

	return commands_write(c, CMD(DESTROY_SRQ), &cmd, sizeof(cmd), &resp,
			      sizeof(resp));
}

int queues_destroy_wq(struct commands *c, u32 handle)
{
	struct ib_uverbs_ex_destroy_wq cmd = { .wq_handle = handle };
	struct ib_uverbs_ex_destroy_wq_resp resp;

	return commands_write(c, EX(DESTROY_WQ), &cmd, sizeof(cmd), &resp, sizeof(resp));
}

int queues_destroy_ind_tbl(struct commands *c, u32 handle)
{
	struct ib_uverbs_ex_destroy_rwq_ind_table cmd = { .ind_tbl_handle = handle };

	return commands_write(c, EX(DESTROY_RWQ_IND_TBL), &cmd, sizeof(cmd), NULL, 0);
}

int queues_destroy(struct commands *c, u16 object, u16 method, u32 handle)
{
	commands_begin(c, object, method);
	commands_obj(c, 0, handle);
	commands_out(c, 1, sizeof(u32));
	return commands_ioctl(c);
}

void queues_check_destroy(struct commands *c, u32 command, const void *req, size_t len,
			  size_t resp_len)
{
	bool ex = command & IB_USER_VERBS_CMD_FLAG_EXTENDED;
	int before = commands_objects(c);
	u8 resp[64], longer[64] = {};

	KUNIT_EXPECT_EQ(c->test, commands_write(c, command, req, len - (ex ? 8 : 4), resp,
						resp_len), -ENOSPC);
	KUNIT_EXPECT_EQ(c->test, commands_write(c, command, req, len, NULL, 0), -ENOSPC);
	memcpy(longer, req, len);
	longer[len + 7] = 1;
	KUNIT_EXPECT_EQ(c->test, commands_write(c, command, longer, len + 8, resp,
						resp_len), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(c->test, commands_objects(c), before);
}

const struct cred *queues_drop_net_raw(struct kunit *test)
{
	struct cred *cred = prepare_creds();

	KUNIT_ASSERT_NOT_NULL(test, cred);
	cap_lower(cred->cap_effective, CAP_NET_RAW);
	return override_creds(cred);
}
