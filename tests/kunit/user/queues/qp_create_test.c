// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* QPs of processes: their creation from other objects, and their end. */
#include "faults.h"
#include "process_queues.h"
#include "user/uverbs_test.h"

static struct ib_qp *qp_of(struct commands *c, u32 handle)
{
	return commands_object(c, UVERBS_OBJECT_QP, handle);
}

static int create(struct commands *c, const struct ib_uverbs_ex_create_qp *cmd)
{
	struct ib_uverbs_ex_create_qp_resp resp;

	return queues_create_qp(c, cmd, &resp);
}

static void a_qp_is_made_as_asked_for(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_ex_create_qp_resp resp;
	struct ib_uverbs_ex_create_qp cmd;
	const struct ib_qp_init_attr *asked = &c->hca->queues.qp;
	struct ib_uobject *uobj;
	struct ib_qp *qp;

	queues_qp_cmd(&cmd, IB_QPT_RC);
	cmd.sq_sig_all = 1;
	cmd.create_flags = IB_QP_CREATE_SCATTER_FCS;
	cmd.source_qpn = 9;
	KUNIT_ASSERT_EQ(test, queues_create_qp(c, &cmd, &resp), 0);
	qp = qp_of(c, resp.base.qp_handle);
	KUNIT_ASSERT_NOT_NULL(test, qp);
	KUNIT_EXPECT_EQ(test, resp.base.qpn, qp->qp_num);
	KUNIT_EXPECT_EQ(test, resp.response_length, (u32)sizeof(resp));
	KUNIT_EXPECT_EQ(test, resp.comp_mask, 0u);
	KUNIT_EXPECT_EQ(test, resp.base.max_send_wr, 4u);
	KUNIT_EXPECT_EQ(test, resp.base.max_recv_wr, 5u);
	KUNIT_EXPECT_EQ(test, resp.base.max_send_sge, 2u);
	KUNIT_EXPECT_EQ(test, resp.base.max_recv_sge, 3u);
	KUNIT_EXPECT_EQ(test, resp.base.max_inline_data, 24u);
	KUNIT_EXPECT_EQ(test, (int)asked->sq_sig_type, IB_SIGNAL_ALL_WR);
	KUNIT_EXPECT_EQ(test, asked->create_flags, (u32)IB_QP_CREATE_SCATTER_FCS);
	KUNIT_EXPECT_EQ(test, asked->source_qpn, 0u);
	KUNIT_EXPECT_EQ(test, (int)qp->qp_type, IB_QPT_RC);
	uobj = &qp->uobject->event.uobject;
	KUNIT_EXPECT_EQ(test, uobj->user_handle, 0x1122334455667788ull);
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->pd->usecnt), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->send_cq->usecnt), 2);
	KUNIT_EXPECT_EQ(test, queues_destroy_qp(c, resp.base.qp_handle), 0);
	queues_expect_idle(c);
}

static void each_command_makes_one(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_create_qp cmd = {
		.pd_handle = queues.pd, .send_cq_handle = queues.cq,
		.recv_cq_handle = queues.cq, .max_send_wr = 1, .qp_type = IB_QPT_UD,
		.srq_handle = queues_srq(c), .is_srq = 1,
	};
	struct ib_uverbs_create_qp_resp resp;
	int by_ioctl;

	for (by_ioctl = 0; by_ioctl < 2; by_ioctl++) {
		c->invoke = by_ioctl;
		KUNIT_ASSERT_EQ(test, commands_write(c, CMD(CREATE_QP), &cmd, sizeof(cmd),
						     &resp, sizeof(resp)), 0);
		KUNIT_EXPECT_PTR_EQ(test, (void *)qp_of(c, resp.qp_handle)->srq,
				    commands_object(c, UVERBS_OBJECT_SRQ, cmd.srq_handle));
		KUNIT_EXPECT_EQ(test, queues_destroy_srq(c, cmd.srq_handle), -EBUSY);
		KUNIT_EXPECT_EQ(test, queues_destroy(c, UVERBS_OBJECT_QP,
						     UVERBS_METHOD_QP_DESTROY,
						     resp.qp_handle), 0);
		KUNIT_EXPECT_EQ(test, commands_got_u32(c, UVERBS_ATTR_DESTROY_QP_RESP),
				0u);
	}
	KUNIT_EXPECT_EQ(test, queues_destroy_srq(c, cmd.srq_handle), 0);
	queues_expect_idle(c);
}

static void add_ioctl(struct commands *c, u32 type)
{
	struct ib_uverbs_qp_cap cap = { .max_send_wr = 7, .max_inline_data = 8 };

	commands_begin(c, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
	commands_new(c, UVERBS_ATTR_CREATE_QP_HANDLE);
	commands_u64(c, UVERBS_ATTR_CREATE_QP_USER_HANDLE, 0x99);
	commands_in(c, UVERBS_ATTR_CREATE_QP_CAP, &cap, sizeof(cap));
	commands_u64(c, UVERBS_ATTR_CREATE_QP_TYPE, type);
	commands_out(c, UVERBS_ATTR_CREATE_QP_RESP_CAP, sizeof(cap));
	commands_out(c, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, sizeof(u32));
}

static void add_ordinary(struct commands *c, u32 type)
{
	add_ioctl(c, type);
	commands_obj(c, UVERBS_ATTR_CREATE_QP_PD_HANDLE, queues.pd);
	commands_obj(c, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, queues.cq);
	commands_obj(c, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, queues.cq);
}

static void one_is_made_by_ioctl(struct kunit *test)
{
	struct commands *c = test->priv;
	const struct ib_qp_init_attr *asked = &c->hca->queues.qp;
	struct ib_uverbs_qp_cap cap;
	struct ib_uobject *uobj;
	struct ib_qp *qp;
	u32 handle;

	add_ordinary(c, IB_UVERBS_QPT_RAW_PACKET);
	commands_u32(c, UVERBS_ATTR_CREATE_QP_FLAGS,
		     IB_UVERBS_QP_CREATE_SQ_SIG_ALL | IB_UVERBS_QP_CREATE_CVLAN_STRIPPING);
	commands_u32(c, UVERBS_ATTR_CREATE_QP_SOURCE_QPN, 5);
	KUNIT_ASSERT_EQ(test, commands_ioctl(c), 0);
	handle = commands_got_handle(c, UVERBS_ATTR_CREATE_QP_HANDLE);
	qp = qp_of(c, handle);
	KUNIT_ASSERT_NOT_NULL(test, qp);
	commands_got_data(c, UVERBS_ATTR_CREATE_QP_RESP_CAP, &cap, sizeof(cap));
	KUNIT_EXPECT_EQ(test, cap.max_send_wr, 7u);
	KUNIT_EXPECT_EQ(test, cap.max_inline_data, 16u);
	KUNIT_EXPECT_EQ(test, commands_got_u32(c, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM),
			qp->qp_num);
	KUNIT_EXPECT_TRUE(test, commands_is_written(c, UVERBS_ATTR_CREATE_QP_RESP_CAP));
	KUNIT_EXPECT_EQ(test, (int)asked->sq_sig_type, IB_SIGNAL_ALL_WR);
	KUNIT_EXPECT_EQ(test, asked->create_flags,
			(u32)(IB_QP_CREATE_CVLAN_STRIPPING | IB_QP_CREATE_SOURCE_QPN));
	KUNIT_EXPECT_EQ(test, asked->source_qpn, 5u);
	uobj = &qp->uobject->event.uobject;
	KUNIT_EXPECT_EQ(test, uobj->user_handle, 0x99ull);
	KUNIT_EXPECT_EQ(test, queues_destroy_qp(c, handle), 0);
	queues_expect_idle(c);
}

static void what_is_no_proper_call(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_create_qp plain = {
		.pd_handle = queues.pd, .send_cq_handle = queues.cq,
		.recv_cq_handle = queues.cq, .qp_type = IB_QPT_RC,
	};
	struct ib_uverbs_destroy_qp destroy = {};
	struct ib_uverbs_ex_create_qp cmd;
	u32 srq = queues_srq(c);

	queues_qp_cmd(&cmd, IB_QPT_RC);
	commands_check_lengths(c, CMD(CREATE_QP), &plain, sizeof(plain),
			       sizeof(struct ib_uverbs_create_qp_resp), true);
	/* An older program's request is shorter. */
	commands_check_lengths(c, EX(CREATE_QP), &cmd,
			       offsetofend(struct ib_uverbs_ex_create_qp, comp_mask),
			       sizeof(struct ib_uverbs_ex_create_qp_resp), true);
	destroy.qp_handle = queues_qp(c, IB_QPT_RC);
	queues_check_destroy(c, CMD(DESTROY_QP), &destroy, sizeof(destroy),
			     sizeof(struct ib_uverbs_destroy_qp_resp));
	add_ordinary(c, IB_UVERBS_QPT_RC);
	commands_obj(c, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, srq);
	commands_check_attrs(c);
}

static void flags_and_masks_that_are_not_known(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_ex_create_qp cmd;

	queues_qp_cmd(&cmd, IB_QPT_RC);
	cmd.comp_mask = 2;
	KUNIT_EXPECT_EQ(test, create(c, &cmd), -EINVAL);
	cmd.comp_mask = 0;
	cmd.create_flags = IB_QP_CREATE_RESERVED_START;
	KUNIT_EXPECT_EQ(test, create(c, &cmd), -EINVAL);
	cmd.create_flags = IB_QP_CREATE_NETIF_QP;
	KUNIT_EXPECT_EQ(test, create(c, &cmd), -EINVAL);
	cmd.create_flags = 0;
	cmd.reserved = 1;
	KUNIT_EXPECT_EQ(test, create(c, &cmd), -EINVAL);
	add_ordinary(c, IB_UVERBS_QPT_RC);
	commands_u32(c, UVERBS_ATTR_CREATE_QP_FLAGS, IB_QP_CREATE_CROSS_CHANNEL);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EINVAL);
	queues_expect_idle(c);
}

static void flags_that_a_type_has(struct kunit *test)
{
	static const u32 flags[] = {
		IB_UVERBS_QP_CREATE_SQ_SIG_ALL, IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK,
		IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING, IB_UVERBS_QP_CREATE_SCATTER_FCS,
		IB_UVERBS_QP_CREATE_CVLAN_STRIPPING,
	};
	static const struct {
		u32 type;
		unsigned int has;	/* of the flags, from the first */
	} types[] = {
		{ IB_UVERBS_QPT_RC, 1 }, { IB_UVERBS_QPT_UC, 1 }, { IB_UVERBS_QPT_UD, 3 },
		{ IB_UVERBS_QPT_RAW_PACKET, 5 },
	};
	struct commands *c = test->priv;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		for (j = 0; j < ARRAY_SIZE(flags); j++) {
			add_ordinary(c, types[i].type);
			commands_u32(c, UVERBS_ATTR_CREATE_QP_FLAGS, flags[j]);
			KUNIT_EXPECT_EQ_MSG(test, commands_ioctl(c),
					    j < types[i].has ? 0 : -EINVAL,
					    "type %u, flag %#x", types[i].type, flags[j]);
		}
	}
}

static void types_that_a_process_may_have(struct kunit *test)
{
	static const u8 good[] = { IB_QPT_RC, IB_QPT_UC, IB_QPT_UD, IB_QPT_RAW_PACKET,
				   IB_QPT_DRIVER, IB_QPT_XRC_INI };
	static const u8 bad[] = { IB_QPT_SMI, IB_QPT_GSI, IB_QPT_RAW_IPV6, IB_QPT_MAX,
				  0xfe };
	struct commands *c = test->priv;
	struct ib_uverbs_ex_create_qp cmd;
	int i;

	for (i = 0; i < ARRAY_SIZE(good); i++)
		KUNIT_EXPECT_EQ(test, queues_destroy_qp(c, queues_qp(c, good[i])), 0);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		queues_qp_cmd(&cmd, bad[i]);
		KUNIT_EXPECT_EQ(test, create(c, &cmd), -EINVAL);
		add_ordinary(c, bad[i]);
		KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EINVAL);
	}
	queues_expect_idle(c);
}

static void packets_of_others_are_privileged(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_ex_create_qp raw, source;
	const struct cred *old;

	queues_qp_cmd(&raw, IB_QPT_RAW_PACKET);
	queues_qp_cmd(&source, IB_QPT_UD);
	source.create_flags = IB_QP_CREATE_SOURCE_QPN;
	source.source_qpn = 3;
	old = queues_drop_net_raw(test);
	KUNIT_EXPECT_EQ(test, create(c, &raw), -EPERM);
	KUNIT_EXPECT_EQ(test, create(c, &source), -EPERM);
	add_ordinary(c, IB_UVERBS_QPT_UD);
	commands_u32(c, UVERBS_ATTR_CREATE_QP_SOURCE_QPN, 3);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EPERM);
	queues_expect_idle(c);
	user_restore(old);
	KUNIT_EXPECT_EQ(test, create(c, &raw), 0);
	KUNIT_EXPECT_EQ(test, create(c, &source), 0);
	KUNIT_EXPECT_EQ(test, c->hca->queues.qp.source_qpn, 3u);
}

static void parents_that_are_not_there(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_ex_create_qp cmd;

	queues_qp_cmd(&cmd, IB_QPT_RC);
	cmd.pd_handle = NO_SUCH_HANDLE;
	KUNIT_EXPECT_EQ(test, create(c, &cmd), -ENOENT);
	cmd.pd_handle = queues.cq;
	KUNIT_EXPECT_EQ(test, create(c, &cmd), -EINVAL);
	queues_qp_cmd(&cmd, IB_QPT_RC);
	cmd.send_cq_handle = queues.pd;
	KUNIT_EXPECT_EQ(test, create(c, &cmd), -EINVAL);
	queues_qp_cmd(&cmd, IB_QPT_RC);
	cmd.recv_cq_handle = NO_SUCH_HANDLE;
	KUNIT_EXPECT_EQ(test, create(c, &cmd), -ENOENT);
	/* The handle of the receive CQ is ignored for a QP that does not receive. */
	cmd.qp_type = IB_QPT_XRC_INI;
	KUNIT_EXPECT_EQ(test, create(c, &cmd), 0);
	KUNIT_EXPECT_EQ(test, c->hca->queues.qp.cap.max_recv_wr, 0u);
	KUNIT_EXPECT_NULL(test, c->hca->queues.qp.recv_cq);
	queues_qp_cmd(&cmd, IB_QPT_RC);
	cmd.is_srq = 1;
	cmd.srq_handle = queues.cq;
	KUNIT_EXPECT_EQ(test, create(c, &cmd), -EINVAL);
}

static void parents_that_a_type_lacks_or_must_not_have(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 srq = queues_srq(c);

	add_ioctl(c, IB_UVERBS_QPT_RC);
	commands_obj(c, UVERBS_ATTR_CREATE_QP_PD_HANDLE, queues.pd);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -ENOENT);
	commands_obj(c, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, queues.cq);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -ENOENT);
	add_ordinary(c, IB_UVERBS_QPT_XRC_INI);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EINVAL);
	add_ioctl(c, IB_UVERBS_QPT_XRC_INI);
	commands_obj(c, UVERBS_ATTR_CREATE_QP_PD_HANDLE, queues.pd);
	commands_obj(c, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, queues.cq);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), 0);
	commands_obj(c, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, srq);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EINVAL);
	add_ioctl(c, IB_UVERBS_QPT_XRC_TGT);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -ENOENT);
	add_ordinary(c, IB_UVERBS_QPT_XRC_TGT);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EINVAL);
}

static void receive_side_scaling(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 wq = queues_wq(c), tbl = queues_ind_tbl(c, wq);
	struct ib_uverbs_ex_create_qp_resp resp;
	struct ib_uverbs_ex_create_qp cmd;

	queues_qp_cmd(&cmd, IB_QPT_RAW_PACKET);
	cmd.comp_mask = IB_UVERBS_CREATE_QP_MASK_IND_TABLE;
	cmd.rwq_ind_tbl_handle = tbl;
	KUNIT_EXPECT_EQ(test, create(c, &cmd), -EINVAL);
	cmd.max_recv_wr = 0;
	KUNIT_EXPECT_EQ(test, create(c, &cmd), -EINVAL);
	cmd.max_recv_sge = 0;
	cmd.is_srq = 1;
	KUNIT_EXPECT_EQ(test, create(c, &cmd), -EINVAL);
	cmd.is_srq = 0;
	cmd.qp_type = IB_QPT_XRC_INI;
	KUNIT_EXPECT_EQ(test, create(c, &cmd), -EINVAL);
	cmd.qp_type = IB_QPT_RAW_PACKET;
	cmd.rwq_ind_tbl_handle = wq;
	KUNIT_EXPECT_EQ(test, create(c, &cmd), -EINVAL);
	cmd.rwq_ind_tbl_handle = tbl;
	cmd.max_send_wr = 0;
	cmd.send_cq_handle = NO_SUCH_HANDLE;
	KUNIT_ASSERT_EQ(test, queues_create_qp(c, &cmd, &resp), 0);
	KUNIT_EXPECT_NULL(test, c->hca->queues.qp.send_cq);
	KUNIT_EXPECT_EQ(test, queues_destroy_ind_tbl(c, tbl), -EBUSY);
	KUNIT_EXPECT_EQ(test, queues_destroy_qp(c, resp.base.qp_handle), 0);
	/* An RSS QP may also send, and needs a send CQ for that. */
	add_ioctl(c, IB_UVERBS_QPT_RAW_PACKET);
	commands_obj(c, UVERBS_ATTR_CREATE_QP_PD_HANDLE, queues.pd);
	commands_obj(c, UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, tbl);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EINVAL);
	commands_obj(c, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, queues.cq);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), 0);
	commands_obj(c, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, queues.cq);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EINVAL);
}

static void target_qps_are_the_domain_s(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 xrcd = queues_xrcd(c), handle;
	struct ib_uverbs_open_qp open = { .pd_handle = xrcd, .qp_type = IB_QPT_XRC_TGT,
					  .user_handle = 3 };
	struct ib_uverbs_close_xrcd close = { .xrcd_handle = xrcd };
	struct ib_uverbs_ex_create_qp_resp resp;
	struct ib_uverbs_ex_create_qp cmd;
	struct ib_uverbs_create_qp_resp opened;

	queues_qp_cmd(&cmd, IB_QPT_XRC_TGT);
	KUNIT_EXPECT_EQ(test, create(c, &cmd), -EINVAL);
	cmd.pd_handle = xrcd;
	cmd.recv_cq_handle = NO_SUCH_HANDLE;
	cmd.send_cq_handle = NO_SUCH_HANDLE;
	KUNIT_ASSERT_EQ(test, queues_create_qp(c, &cmd, &resp), 0);
	open.qpn = resp.base.qpn;
	KUNIT_ASSERT_EQ(test, commands_write(c, CMD(OPEN_QP), &open, sizeof(open),
					     &opened, sizeof(opened)), 0);
	KUNIT_EXPECT_EQ(test, opened.qpn, resp.base.qpn);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->alive[FAKE_QP]), 1);
	open.qpn++;
	KUNIT_EXPECT_EQ(test, commands_write(c, CMD(OPEN_QP), &open, sizeof(open),
					     &opened, sizeof(opened)), -EINVAL);
	open.qpn--;
	open.qp_type = IB_QPT_RC;
	KUNIT_EXPECT_EQ(test, commands_write(c, CMD(OPEN_QP), &open, sizeof(open),
					     &opened, sizeof(opened)), -EINVAL);
	KUNIT_EXPECT_EQ(test, queues_destroy_qp(c, resp.base.qp_handle), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->alive[FAKE_QP]), 1);
	KUNIT_EXPECT_EQ(test, commands_write(c, CMD(CLOSE_XRCD), &close, sizeof(close),
					     NULL, 0), -EBUSY);
	KUNIT_EXPECT_EQ(test, queues_destroy_qp(c, opened.qp_handle), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->alive[FAKE_QP]), 0);
	add_ioctl(c, IB_UVERBS_QPT_XRC_TGT);
	commands_obj(c, UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, xrcd);
	KUNIT_ASSERT_EQ(test, commands_ioctl(c), 0);
	handle = commands_got_handle(c, UVERBS_ATTR_CREATE_QP_HANDLE);
	KUNIT_EXPECT_EQ(test, queues_destroy_qp(c, handle), 0);
	KUNIT_EXPECT_EQ(test, commands_write(c, CMD(CLOSE_XRCD), &close, sizeof(close),
					     NULL, 0), 0);
	queues_expect_idle(c);
}

static void events_of_a_qp_come_with_its_user_handle(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_qp *qp = qp_of(c, queues_qp(c, IB_QPT_RC));

	/* There is no descriptor for the events, which is not an error. */
	fake_hca_qp_event(qp, IB_EVENT_COMM_EST);
	KUNIT_EXPECT_EQ(test, qp->uobject->event.events_reported, 0u);
	KUNIT_EXPECT_PTR_EQ(test, qp->qp_context, (void *)qp->uobject);
}

static void a_qp_that_cannot_go_stays(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 handle = queues_qp(c, IB_QPT_RC);
	struct ib_qp *qp = qp_of(c, handle);

	atomic_inc(&qp->usecnt);
	KUNIT_EXPECT_EQ(test, queues_destroy_qp(c, handle), -EBUSY);
	atomic_dec(&qp->usecnt);
	atomic_set(&c->hca->fail_destroy[FAKE_QP], 1);
	KUNIT_EXPECT_EQ(test, queues_destroy(c, UVERBS_OBJECT_QP,
					     UVERBS_METHOD_QP_DESTROY, handle), -EIO);
	KUNIT_EXPECT_PTR_EQ(test, (void *)qp_of(c, handle), (void *)qp);
	KUNIT_EXPECT_EQ(test, atomic_read(&qp->pd->usecnt), 1);
	KUNIT_EXPECT_EQ(test, queues_destroy_qp(c, handle), 0);
	KUNIT_EXPECT_EQ(test, queues_destroy_qp(c, handle), -ENOENT);
	queues_expect_idle(c);
}

static void a_qp_that_the_driver_refuses_leaves_nothing(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_ex_create_qp cmd;

	queues_qp_cmd(&cmd, IB_QPT_RC);
	atomic_set(&c->hca->fail_create[FAKE_QP], 1);
	KUNIT_EXPECT_EQ(test, create(c, &cmd), -ENOMEM);
	queues_expect_idle(c);
}

static void closing_the_file_ends_what_hangs_together(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_attach_mcast attach = { .gid = { 0xff, 0x12 }, .mlid = 0xc001 };

	attach.qp_handle = queues_qp(c, IB_QPT_UD);
	KUNIT_ASSERT_EQ(test, commands_write(c, CMD(ATTACH_MCAST), &attach,
					     sizeof(attach), NULL, 0), 0);
	queues_qp(c, IB_QPT_RC);
	queues_ind_tbl(c, queues_wq(c));
	queues_srq(c);
	commands_close(c);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(c->hca), 0);
}

#define RACERS 3

struct race {
	struct commands *c;
	u32 handle;
	atomic_t won, lost, odd;
};

/*
 * Stands for a thread of the process.  It has no user
 * memory, so it calls the lookup directly.
 */
static void race_to_destroy(struct kunit *test, void *arg)
{
	struct race *race = arg;
	u64 buf[64];
	struct uverbs_call *call;
	int idx, ret;

	idx = uverbs_section_begin(race->c->file);
	call = uverbs_call_init(buf, sizeof(buf), 0, race->c->file);
	ret = uobj_perform_destroy(UVERBS_OBJECT_QP, race->handle, &call->bundle);
	uverbs_section_end(race->c->file, idx);
	if (!ret)
		atomic_inc(&race->won);
	else if (ret == -ENOENT || ret == -EBUSY)
		atomic_inc(&race->lost);
	else
		atomic_inc(&race->odd);
}

static void one_of_many_destroys_wins(struct kunit *test)
{
	struct user_thread threads[RACERS];
	struct race race = { .c = test->priv };
	int round, i;

	for (round = 0; round < 20; round++) {
		race.handle = queues_qp(race.c, IB_QPT_RC);
		atomic_set(&race.won, 0);
		for (i = 0; i < RACERS; i++) {
			threads[i] = (struct user_thread) {
				.fn = race_to_destroy, .test = test, .arg = &race };
			KUNIT_ASSERT_EQ(test, user_thread_start(&threads[i]), 0);
		}
		for (i = 0; i < RACERS; i++)
			user_thread_join(&threads[i]);
		KUNIT_EXPECT_EQ(test, atomic_read(&race.won), 1);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&race.odd), 0);
	queues_expect_idle(race.c);
}

static int make_and_destroy(struct kunit *test)
{
	struct ib_uverbs_ex_create_qp_resp resp;
	struct ib_uverbs_ex_create_qp cmd;
	struct commands *c = test->priv;
	int ret;

	queues_qp_cmd(&cmd, IB_QPT_RC);
	ret = queues_create_qp(c, &cmd, &resp);
	return ret ?: queues_destroy_qp(c, resp.base.qp_handle);
}

static void each_allocation_may_fail(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, make_and_destroy), 2);
	queues_expect_idle(test->priv);
}

static struct kunit_case qp_create_cases[] = {
	KUNIT_CASE(a_qp_is_made_as_asked_for),
	KUNIT_CASE(each_command_makes_one),
	KUNIT_CASE(one_is_made_by_ioctl),
	KUNIT_CASE(what_is_no_proper_call),
	KUNIT_CASE(flags_and_masks_that_are_not_known),
	KUNIT_CASE(flags_that_a_type_has),
	KUNIT_CASE(types_that_a_process_may_have),
	KUNIT_CASE(packets_of_others_are_privileged),
	KUNIT_CASE(parents_that_are_not_there),
	KUNIT_CASE(parents_that_a_type_lacks_or_must_not_have),
	KUNIT_CASE(receive_side_scaling),
	KUNIT_CASE(target_qps_are_the_domain_s),
	KUNIT_CASE(events_of_a_qp_come_with_its_user_handle),
	KUNIT_CASE(a_qp_that_cannot_go_stays),
	KUNIT_CASE(a_qp_that_the_driver_refuses_leaves_nothing),
	KUNIT_CASE(closing_the_file_ends_what_hangs_together),
	KUNIT_CASE(one_of_many_destroys_wins),
	KUNIT_CASE(each_allocation_may_fail),
	{}
};

static struct kunit_suite uverbs_qp_create_suite = {
	.name = "uverbs_qp_create",
	.init = queues_init,
	.exit = commands_exit,
	.test_cases = qp_create_cases,
};

kunit_test_suite(uverbs_qp_create_suite);
