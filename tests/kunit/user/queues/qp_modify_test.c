// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Attributes of processes' QPs, and multicast groups. */
#include <rdma/ib_mad.h>
#include "faults.h"
#include "process_queues.h"
#include "user/uverbs_test.h"

#define TO_INIT	(IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS)
#define TO_RTR	(IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |	\
		 IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER)

static const struct ib_uverbs_modify_qp to_init = {
	.attr_mask = TO_INIT, .qp_state = IB_QPS_INIT, .port_num = 1,
	.qp_access_flags = IB_ACCESS_REMOTE_WRITE,
};

static const struct ib_uverbs_modify_qp to_rtr = {
	.attr_mask = TO_RTR, .qp_state = IB_QPS_RTR, .path_mtu = IB_MTU_1024,
	.dest_qp_num = 0x123, .rq_psn = 0x456, .max_dest_rd_atomic = 2,
	.min_rnr_timer = 12,
	.dest = { .dlid = 7, .sl = 3, .src_path_bits = 1, .static_rate = 4,
		  .port_num = 1 },
};

static int modify(struct commands *c, u32 handle, struct ib_uverbs_modify_qp cmd)
{
	cmd.qp_handle = handle;
	return commands_write(c, CMD(MODIFY_QP), &cmd, sizeof(cmd), NULL, 0);
}

static int modify_ex(struct commands *c, u32 handle, struct ib_uverbs_ex_modify_qp cmd)
{
	struct ib_uverbs_ex_modify_qp_resp resp;
	int ret;

	cmd.base.qp_handle = handle;
	ret = commands_write(c, EX(MODIFY_QP), &cmd, sizeof(cmd), &resp, sizeof(resp));
	if (!ret)
		KUNIT_EXPECT_EQ(c->test, resp.response_length, (u32)sizeof(resp));
	return ret;
}

static int query(struct commands *c, u32 handle, struct ib_uverbs_query_qp_resp *resp)
{
	struct ib_uverbs_query_qp cmd = { .qp_handle = handle, .attr_mask = IB_QP_STATE };

	return commands_write(c, CMD(QUERY_QP), &cmd, sizeof(cmd), resp, sizeof(*resp));
}

static void a_qp_goes_from_state_to_state(struct kunit *test)
{
	struct commands *c = test->priv;
	const struct ib_qp_attr *asked = &c->hca->queues.qp_attr;
	u32 qp = queues_qp(c, IB_QPT_RC);
	struct ib_uverbs_query_qp_resp resp;

	KUNIT_ASSERT_EQ(test, modify(c, qp, to_init), 0);
	KUNIT_EXPECT_EQ(test, c->hca->queues.qp_mask, TO_INIT);
	KUNIT_EXPECT_EQ(test, asked->port_num, 1u);
	KUNIT_EXPECT_EQ(test, asked->qp_access_flags, (int)IB_ACCESS_REMOTE_WRITE);
	KUNIT_ASSERT_EQ(test, modify(c, qp, to_rtr), 0);
	KUNIT_EXPECT_EQ(test, (int)asked->ah_attr.type, (int)RDMA_AH_ATTR_TYPE_IB);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&asked->ah_attr), 7u);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_sl(&asked->ah_attr), 3);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_path_bits(&asked->ah_attr), 1);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_static_rate(&asked->ah_attr), 4);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_ah_flags(&asked->ah_attr), 0u);
	KUNIT_EXPECT_EQ(test, asked->dest_qp_num, 0x123u);
	KUNIT_EXPECT_EQ(test, asked->rq_psn, 0x456u);
	KUNIT_ASSERT_EQ(test, query(c, qp, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.qp_state, IB_QPS_RTR);
	KUNIT_EXPECT_EQ(test, resp.port_num, 1);
	KUNIT_EXPECT_EQ(test, resp.dest_qp_num, 0x123u);
	KUNIT_EXPECT_EQ(test, resp.sq_sig_all, 0);
}

static void a_global_path_names_a_gid(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_modify_qp rtr = to_rtr;
	const struct ib_qp_attr *asked = &c->hca->queues.qp_attr;
	u32 qp = queues_qp(c, IB_QPT_RC);

	rtr.dest.is_global = 1;
	rtr.dest.dgid[0] = 0xfe;
	rtr.dest.dgid[15] = 9;
	rtr.dest.flow_label = 0x12345;
	rtr.dest.hop_limit = 2;
	rtr.dest.traffic_class = 6;
	KUNIT_ASSERT_EQ(test, modify(c, qp, to_init), 0);
	KUNIT_ASSERT_EQ(test, modify(c, qp, rtr), 0);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_ah_flags(&asked->ah_attr), (u32)IB_AH_GRH);
	KUNIT_EXPECT_EQ(test, asked->ah_attr.grh.dgid.raw[15], 9);
	KUNIT_EXPECT_EQ(test, asked->ah_attr.grh.flow_label, 0x12345u);
	KUNIT_EXPECT_EQ(test, asked->ah_attr.grh.hop_limit, 2);
	KUNIT_EXPECT_EQ(test, asked->ah_attr.grh.traffic_class, 6);
	rtr.dest.sgid_index = 200;
	KUNIT_EXPECT_NE(test, modify(c, qp, rtr), 0);
}

static void what_is_no_proper_call(struct kunit *test)
{
	struct ib_uverbs_ex_modify_qp ex = { .base = to_init };
	struct ib_uverbs_modify_qp plain = to_init;
	struct commands *c = test->priv;
	struct ib_uverbs_query_qp ask = {};
	u32 qp = queues_qp(c, IB_QPT_RC);

	ask.qp_handle = qp;
	plain.qp_handle = qp;
	ex.base.qp_handle = qp;
	commands_check_lengths(c, CMD(QUERY_QP), &ask, sizeof(ask),
			       sizeof(struct ib_uverbs_query_qp_resp), false);
	commands_check_lengths(c, CMD(MODIFY_QP), &plain, sizeof(plain), 0, true);
	commands_check_lengths(c, EX(MODIFY_QP), &ex, sizeof(ex.base),
			       sizeof(struct ib_uverbs_ex_modify_qp_resp), true);
	KUNIT_EXPECT_EQ(test, modify(c, queues.pd, to_init), -EINVAL);
	KUNIT_EXPECT_EQ(test, modify(c, NO_SUCH_HANDLE, to_init), -ENOENT);
	ask.qp_handle = queues.cq;
	{
		struct ib_uverbs_query_qp_resp resp;

		KUNIT_EXPECT_EQ(test, query(c, queues.cq, &resp), -EINVAL);
	}
}

static void masks_that_are_not_known(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_ex_modify_qp ex = { .base = to_init };
	u32 qp = queues_qp(c, IB_QPT_RC);
	struct ib_uverbs_modify_qp cmd = to_init;

	cmd.attr_mask = TO_INIT | IB_QP_RATE_LIMIT;
	KUNIT_EXPECT_EQ(test, modify(c, qp, cmd), -EOPNOTSUPP);
	cmd.attr_mask = TO_INIT | IB_QP_RESERVED1;
	KUNIT_EXPECT_EQ(test, modify(c, qp, cmd), -EOPNOTSUPP);
	cmd.attr_mask = TO_INIT | IB_QP_CAP;
	KUNIT_EXPECT_EQ(test, modify(c, qp, cmd), -EINVAL);
	cmd.attr_mask = IB_QP_CAP;
	KUNIT_EXPECT_EQ(test, modify(c, qp, cmd), -EINVAL);
	ex.base.attr_mask = BIT(31);
	KUNIT_EXPECT_EQ(test, modify_ex(c, qp, ex), -EOPNOTSUPP);
	ex.base = to_init;
	ex.reserved = 1;
	KUNIT_EXPECT_EQ(test, modify_ex(c, qp, ex), -EOPNOTSUPP);
	ex.reserved = 0;
	KUNIT_EXPECT_EQ(test, modify_ex(c, qp, ex), 0);
}

/* The test's driver ignores the rate, but gets it. */
static void a_rate_limit_is_handed_on(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_ex_modify_qp ex = { .base = to_init, .rate_limit = 1234 };
	u32 qp = queues_qp(c, IB_QPT_RC);

	ex.base.attr_mask |= IB_QP_RATE_LIMIT;
	modify_ex(c, qp, ex);
	KUNIT_EXPECT_EQ(test, c->hca->queues.qp_attr.rate_limit, 1234u);
	KUNIT_EXPECT_EQ(test, c->hca->queues.qp_mask, TO_INIT | IB_QP_RATE_LIMIT);
}

static int modify_by(struct commands *c, u32 mask, const struct ib_uverbs_modify_qp *like)
{
	struct ib_uverbs_modify_qp cmd = *like;

	cmd.attr_mask = mask;
	return modify(c, queues_qp(c, IB_QPT_RC), cmd);
}

static void states_and_ports_out_of_range(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_modify_qp cmd = {
		.qp_state = IB_QPS_ERR + 1, .cur_qp_state = IB_QPS_ERR + 1,
		.path_mig_state = IB_MIG_ARMED + 1, .port_num = 2, .alt_port_num = 2,
		.dest.port_num = 2, .alt_dest.port_num = 1,
	};

	KUNIT_EXPECT_EQ(test, modify_by(c, IB_QP_STATE, &cmd), -EINVAL);
	KUNIT_EXPECT_EQ(test, modify_by(c, IB_QP_CUR_STATE, &cmd), -EINVAL);
	KUNIT_EXPECT_EQ(test, modify_by(c, IB_QP_PATH_MIG_STATE, &cmd), -EINVAL);
	KUNIT_EXPECT_EQ(test, modify_by(c, IB_QP_PORT, &cmd), -EINVAL);
	KUNIT_EXPECT_EQ(test, modify_by(c, IB_QP_AV, &cmd), -EINVAL);
	KUNIT_EXPECT_EQ(test, modify_by(c, IB_QP_ALT_PATH, &cmd), -EINVAL);
	cmd.alt_port_num = 1;
	cmd.alt_dest.port_num = 0;
	KUNIT_EXPECT_EQ(test, modify_by(c, IB_QP_ALT_PATH, &cmd), -EINVAL);
	cmd.dest.port_num = 0;
	KUNIT_EXPECT_EQ(test, modify_by(c, IB_QP_AV, &cmd), -EINVAL);
	/* The driver was not called. */
	KUNIT_EXPECT_EQ(test, c->hca->queues.qp_mask, 0);
}

/* A driver that takes a path before INIT gets its port. */
static void a_path_has_a_port(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 qp = queues_qp(c, IB_QPT_RC);
	struct ib_uverbs_modify_qp path = { .attr_mask = IB_QP_AV, .dest.port_num = 1 };

	modify(c, qp, path);
	KUNIT_EXPECT_EQ(test, c->hca->queues.qp_mask, IB_QP_AV | IB_QP_PORT);
	KUNIT_EXPECT_EQ(test, c->hca->queues.qp_attr.port_num, 1);
	KUNIT_ASSERT_EQ(test, modify(c, qp, to_init), 0);
	modify(c, qp, path);
	KUNIT_EXPECT_EQ(test, c->hca->queues.qp_mask, IB_QP_AV);
}

/*
 * A QP whose send queue is drained may move to another port,
 * together with its path or before it.
 */
static void check_drained(struct commands *c, u32 qp)
{
	const struct ib_uverbs_modify_qp to_rts = {
		.attr_mask = IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			     IB_QP_RNR_RETRY | IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC,
		.qp_state = IB_QPS_RTS,
	};
	const struct ib_uverbs_modify_qp to_sqd = {
		.attr_mask = IB_QP_STATE, .qp_state = IB_QPS_SQD,
	};
	struct ib_uverbs_modify_qp move = to_rtr;

	KUNIT_ASSERT_EQ(c->test, modify(c, qp, to_rts), 0);
	KUNIT_ASSERT_EQ(c->test, modify(c, qp, to_sqd), 0);
	move.qp_state = IB_QPS_SQD;
	move.port_num = 1;
	move.dest.port_num = 2;
	move.attr_mask = IB_QP_STATE | IB_QP_AV;
	KUNIT_EXPECT_EQ(c->test, modify(c, qp, move), -EINVAL);
	move.attr_mask = IB_QP_AV;
	KUNIT_EXPECT_EQ(c->test, modify(c, qp, move), -EINVAL);
	move.attr_mask = IB_QP_STATE | IB_QP_AV | IB_QP_PORT;
	KUNIT_EXPECT_EQ(c->test, modify(c, qp, move), -EINVAL);
	move.port_num = 2;
	KUNIT_EXPECT_EQ(c->test, modify(c, qp, move), 0);
	/* The QP has the new port now, which comes with its path. */
	move.attr_mask = IB_QP_STATE | IB_QP_AV;
	move.port_num = 1;
	KUNIT_EXPECT_EQ(c->test, modify(c, qp, move), 0);
	KUNIT_EXPECT_EQ(c->test, c->hca->queues.qp_mask, IB_QP_STATE | IB_QP_AV | IB_QP_PORT);
	KUNIT_EXPECT_EQ(c->test, c->hca->queues.qp_attr.port_num, 2);
}

static void check_alternate(struct commands *c)
{
	struct ib_uverbs_modify_qp rtr = to_rtr;
	u32 qp = queues_qp(c, IB_QPT_RC);

	KUNIT_ASSERT_EQ(c->test, modify(c, qp, to_init), 0);
	rtr.attr_mask |= IB_QP_ALT_PATH;
	rtr.alt_dest = rtr.dest;
	rtr.alt_port_num = 2;
	KUNIT_EXPECT_EQ(c->test, modify(c, qp, rtr), -EINVAL);
	rtr.alt_dest.port_num = 2;
	KUNIT_EXPECT_EQ(c->test, modify(c, qp, rtr), 0);
}

static void a_path_goes_through_the_qp_s_port(struct kunit *test)
{
	static const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND, .ports = 2, .user = true,
	};
	struct ib_uverbs_modify_qp rtr = to_rtr;
	struct commands *c;
	u32 qp;

	commands_exit(test);
	KUNIT_ASSERT_EQ(test, commands_init_hca(test, &params), 0);
	c = test->priv;
	queues.pd = commands_pd(c);
	queues.cq = queues_cq(c);
	qp = queues_qp(c, IB_QPT_RC);
	KUNIT_ASSERT_EQ(test, modify(c, qp, to_init), 0);
	rtr.dest.port_num = 2;
	KUNIT_EXPECT_EQ(test, modify(c, qp, rtr), -EINVAL);
	rtr.dest.port_num = 1;
	KUNIT_EXPECT_EQ(test, modify(c, qp, rtr), 0);
	check_drained(c, qp);
	check_alternate(c);
}

/* The driver does not see attributes outside the mask, as they were not checked. */
static void what_the_mask_does_not_name_is_not_handed_on(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 qp = queues_qp(c, IB_QPT_RC);
	const struct ib_qp_attr *asked = &c->hca->queues.qp_attr;
	struct ib_uverbs_modify_qp cmd;
	struct ib_qp_attr none = {};

	memset(&cmd, 0xff, sizeof(cmd));
	cmd.attr_mask = TO_INIT;
	cmd.qp_state = IB_QPS_INIT;
	cmd.port_num = 1;
	cmd.pkey_index = 0;
	cmd.qp_access_flags = IB_ACCESS_REMOTE_WRITE;
	KUNIT_ASSERT_EQ(test, modify(c, qp, cmd), 0);
	none.qp_state = IB_QPS_INIT;
	none.port_num = 1;
	none.qp_access_flags = IB_ACCESS_REMOTE_WRITE;
	KUNIT_EXPECT_MEMEQ(test, asked, &none, sizeof(none));
}

static void controlled_qkeys_are_privileged(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_modify_qp cmd = to_init;
	u32 qp = queues_qp(c, IB_QPT_UD);
	const struct cred *old;

	cmd.attr_mask = IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY;
	cmd.qkey = IB_QP_SET_QKEY | 5;
	old = queues_drop_net_raw(test);
	KUNIT_EXPECT_EQ(test, modify(c, qp, cmd), -EPERM);
	cmd.qkey = 5;
	KUNIT_EXPECT_EQ(test, modify(c, qp, cmd), 0);
	user_restore(old);
	cmd.qkey = IB_QP_SET_QKEY | 5;
	KUNIT_EXPECT_EQ(test, modify(c, qp, cmd), 0);
	KUNIT_EXPECT_EQ(test, c->hca->queues.qp_attr.qkey, IB_QP_SET_QKEY | 5);
}

/* A library sets all attributes of an RC QP, half of which an XRC QP has. */
static void halves_of_an_xrc_connection(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 qp = queues_qp(c, IB_QPT_XRC_INI);

	KUNIT_ASSERT_EQ(test, modify(c, qp, to_init), 0);
	KUNIT_EXPECT_EQ(test, modify(c, qp, to_rtr), 0);
	KUNIT_EXPECT_EQ(test, c->hca->queues.qp_mask,
			TO_RTR & ~(IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER));
}

static void target_qps_have_the_other_half(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_modify_qp rts = {
		.attr_mask = IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			     IB_QP_RNR_RETRY | IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC,
		.qp_state = IB_QPS_RTS,
	};
	struct ib_uverbs_ex_create_qp_resp resp;
	struct ib_uverbs_query_qp_resp state;
	struct ib_uverbs_ex_create_qp cmd;

	queues_qp_cmd(&cmd, IB_QPT_XRC_TGT);
	cmd.pd_handle = queues_xrcd(c);
	KUNIT_ASSERT_EQ(test, queues_create_qp(c, &cmd, &resp), 0);
	KUNIT_EXPECT_EQ(test, modify(c, resp.base.qp_handle, to_init), 0);
	KUNIT_EXPECT_EQ(test, modify(c, resp.base.qp_handle, to_rtr), 0);
	KUNIT_EXPECT_EQ(test, modify(c, resp.base.qp_handle, rts), 0);
	KUNIT_EXPECT_EQ(test, c->hca->queues.qp_mask,
			IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_SQ_PSN);
	KUNIT_EXPECT_EQ(test, query(c, resp.base.qp_handle, &state), 0);
	KUNIT_EXPECT_EQ(test, state.qp_state, IB_QPS_RTS);
}

static void a_driver_that_refuses(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 qp = queues_qp(c, IB_QPT_RC);

	atomic_set(&c->hca->fail_modify_qp, 1);
	KUNIT_EXPECT_EQ(test, modify(c, qp, to_init), -EIO);
	KUNIT_EXPECT_EQ(test, modify(c, qp, to_init), 0);
}

/* ---- multicast ---- */

static const struct ib_uverbs_attach_mcast group = {
	.gid = { 0xff, 0x12, [15] = 1 }, .mlid = 0xc001,
};

static int change(struct commands *c, u32 command, u32 qp,
		  const struct ib_uverbs_attach_mcast *like)
{
	struct ib_uverbs_attach_mcast cmd = *like;

	cmd.qp_handle = qp;
	return commands_write(c, command, &cmd, sizeof(cmd), NULL, 0);
}

static int groups(struct commands *c)
{
	return atomic_read(&c->hca->alive[FAKE_MCAST]);
}

static void a_qp_in_a_group_stays(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_attach_mcast other = group;
	u32 qp = queues_qp(c, IB_QPT_UD);

	other.gid[15] = 2;
	KUNIT_EXPECT_EQ(test, change(c, CMD(DETACH_MCAST), qp, &group), -EINVAL);
	KUNIT_EXPECT_EQ(test, change(c, CMD(ATTACH_MCAST), qp, &group), 0);
	KUNIT_EXPECT_EQ(test, change(c, CMD(ATTACH_MCAST), qp, &other), 0);
	KUNIT_EXPECT_EQ(test, change(c, CMD(ATTACH_MCAST), qp, &group), 0);
	KUNIT_EXPECT_EQ(test, groups(c), 2);
	KUNIT_EXPECT_EQ(test, queues_destroy_qp(c, qp), -EBUSY);
	KUNIT_EXPECT_EQ(test, change(c, CMD(DETACH_MCAST), qp, &group), 0);
	KUNIT_EXPECT_EQ(test, groups(c), 1);
	KUNIT_EXPECT_EQ(test, queues_destroy_qp(c, qp), -EBUSY);
	atomic_set(&c->hca->fail_destroy[FAKE_MCAST], 1);
	KUNIT_EXPECT_EQ(test, change(c, CMD(DETACH_MCAST), qp, &other), -EIO);
	KUNIT_EXPECT_EQ(test, change(c, CMD(DETACH_MCAST), qp, &other), 0);
	KUNIT_EXPECT_EQ(test, queues_destroy_qp(c, qp), 0);
	queues_expect_idle(c);
}

/* A group is identified by its address and its LID. */
static void a_group_of_the_same_address(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_attach_mcast other = group;
	u32 qp = queues_qp(c, IB_QPT_UD);

	other.mlid++;
	KUNIT_EXPECT_EQ(test, change(c, CMD(ATTACH_MCAST), qp, &group), 0);
	KUNIT_EXPECT_EQ(test, change(c, CMD(DETACH_MCAST), qp, &other), -EINVAL);
	KUNIT_EXPECT_EQ(test, change(c, CMD(ATTACH_MCAST), qp, &other), 0);
	KUNIT_EXPECT_EQ(test, groups(c), 2);
	KUNIT_EXPECT_EQ(test, change(c, CMD(DETACH_MCAST), qp, &group), 0);
	KUNIT_EXPECT_EQ(test, change(c, CMD(DETACH_MCAST), qp, &group), -EINVAL);
	KUNIT_EXPECT_EQ(test, change(c, CMD(DETACH_MCAST), qp, &other), 0);
	KUNIT_EXPECT_EQ(test, groups(c), 0);
	KUNIT_EXPECT_EQ(test, queues_destroy_qp(c, qp), 0);
	queues_expect_idle(c);
}

/* On RoCE by its address only. */
static void a_group_without_a_lid(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_attach_mcast other = group;
	u32 qp = queues_qp(c, IB_QPT_UD);

	other.mlid = 0;
	c->hca->link_layer = IB_LINK_LAYER_ETHERNET;
	KUNIT_EXPECT_EQ(test, change(c, CMD(ATTACH_MCAST), qp, &group), 0);
	KUNIT_EXPECT_EQ(test, change(c, CMD(ATTACH_MCAST), qp, &other), 0);
	KUNIT_EXPECT_EQ(test, groups(c), 1);
	KUNIT_EXPECT_EQ(test, change(c, CMD(DETACH_MCAST), qp, &other), 0);
	KUNIT_EXPECT_EQ(test, groups(c), 0);
	KUNIT_EXPECT_EQ(test, queues_destroy_qp(c, qp), 0);
	queues_expect_idle(c);
}

static void what_is_no_group(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_attach_mcast bad = group;
	u32 ud = queues_qp(c, IB_QPT_UD);

	bad.gid[0] = 0xfe;
	KUNIT_EXPECT_EQ(test, change(c, CMD(ATTACH_MCAST), ud, &bad), -EINVAL);
	bad = group;
	bad.mlid = 0x1234;
	KUNIT_EXPECT_EQ(test, change(c, CMD(ATTACH_MCAST), ud, &bad), -EINVAL);
	KUNIT_EXPECT_EQ(test, change(c, CMD(ATTACH_MCAST), queues_qp(c, IB_QPT_RC),
				     &group), -EINVAL);
	KUNIT_EXPECT_EQ(test, change(c, CMD(ATTACH_MCAST), queues.cq, &group), -EINVAL);
	atomic_set(&c->hca->fail_create[FAKE_MCAST], 1);
	KUNIT_EXPECT_EQ(test, change(c, CMD(ATTACH_MCAST), ud, &group), -ENOMEM);
	KUNIT_EXPECT_EQ(test, groups(c), 0);
	KUNIT_EXPECT_EQ(test, queues_destroy_qp(c, ud), 0);
	bad = group;
	bad.qp_handle = queues_qp(c, IB_QPT_UD);
	commands_check_lengths(c, CMD(ATTACH_MCAST), &bad, sizeof(bad), 0, false);
	commands_check_lengths(c, CMD(DETACH_MCAST), &bad, sizeof(bad), 0, false);
}

/*
 * If the driver refuses, it is called again when the other
 * objects of the file were destroyed.
 */
static void the_end_of_the_file_leaves_all_groups(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 qp = queues_qp(c, IB_QPT_UD);

	KUNIT_EXPECT_EQ(test, change(c, CMD(ATTACH_MCAST), qp, &group), 0);
	atomic_set(&c->hca->fail_destroy[FAKE_MCAST], 1);
	commands_close(c);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(c->hca), 0);
}

static int attach_and_detach(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 qp = queues.pd + 1000;
	struct ib_uobject *uobj;
	unsigned long id;
	int ret;

	xa_for_each(&c->file->handles, id, uobj)
		if (uobj->uapi_object->id == UVERBS_OBJECT_QP)
			qp = id;
	ret = change(c, CMD(ATTACH_MCAST), qp, &group);
	return ret ?: change(c, CMD(DETACH_MCAST), qp, &group);
}

static int to_init_and_back(struct kunit *test)
{
	static const struct ib_uverbs_modify_qp to_reset = {
		.attr_mask = IB_QP_STATE, .qp_state = IB_QPS_RESET,
	};
	struct commands *c = test->priv;
	struct ib_uverbs_query_qp_resp resp;
	struct ib_uobject *uobj;
	unsigned long id;
	u32 qp = 0;
	int ret;

	xa_for_each(&c->file->handles, id, uobj)
		if (uobj->uapi_object->id == UVERBS_OBJECT_QP)
			qp = id;
	ret = modify(c, qp, to_init) ?: query(c, qp, &resp);
	if (ret)
		return ret;
	return modify(c, qp, to_reset);
}

static void each_allocation_may_fail(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 qp = queues_qp(c, IB_QPT_UD);

	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, attach_and_detach), 1);
	KUNIT_EXPECT_EQ(test, groups(c), 0);
	KUNIT_EXPECT_EQ(test, queues_destroy_qp(c, qp), 0);
	queues_qp(c, IB_QPT_RC);
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, to_init_and_back), 1);
}

static struct kunit_case qp_modify_cases[] = {
	KUNIT_CASE(a_qp_goes_from_state_to_state),
	KUNIT_CASE(a_global_path_names_a_gid),
	KUNIT_CASE(what_is_no_proper_call),
	KUNIT_CASE(masks_that_are_not_known),
	KUNIT_CASE(a_rate_limit_is_handed_on),
	KUNIT_CASE(states_and_ports_out_of_range),
	KUNIT_CASE(a_path_has_a_port),
	KUNIT_CASE(a_path_goes_through_the_qp_s_port),
	KUNIT_CASE(what_the_mask_does_not_name_is_not_handed_on),
	KUNIT_CASE(controlled_qkeys_are_privileged),
	KUNIT_CASE(halves_of_an_xrc_connection),
	KUNIT_CASE(target_qps_have_the_other_half),
	KUNIT_CASE(a_driver_that_refuses),
	KUNIT_CASE(a_qp_in_a_group_stays),
	KUNIT_CASE(a_group_of_the_same_address),
	KUNIT_CASE(a_group_without_a_lid),
	KUNIT_CASE(what_is_no_group),
	KUNIT_CASE(the_end_of_the_file_leaves_all_groups),
	KUNIT_CASE(each_allocation_may_fail),
	{}
};

static struct kunit_suite uverbs_qp_modify_suite = {
	.name = "uverbs_qp_modify",
	.init = queues_init,
	.exit = commands_exit,
	.test_cases = qp_modify_cases,
};

kunit_test_suite(uverbs_qp_modify_suite);
