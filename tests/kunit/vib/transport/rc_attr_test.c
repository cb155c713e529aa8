// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connected QPs: which there are, their attributes and states (IBA vol. 1, 10.3, 11.2.4), and
 * their paths: what comes by another, and migration (9.6.1.5, 17.2.8).
 */
#include "rc_peer.h"

static struct hca_pair pair;
static struct rc_peer peer;
static u8 *buf;

static int attr_init(struct kunit *test)
{
	int ret = hca_pair_init(test, &pair);

	if (ret)
		return ret;
	buf = hca_buf(test, 256, 1);
	rc_tap_open(&pair);
	return 0;
}

static void attr_exit(struct kunit *test)
{
	rc_peer_close(&peer);
	rc_tap_close(&pair);
	hca_pair_exit(&pair);
}

static void open_rc(struct kunit *test)
{
	rc_peer_open(test, &pair, &peer, &(struct rc_want){ .retry_cnt = 1, .rnr_retry = 6 });
}

static int post_send(u64 wr_id)
{
	return rc_post(&peer, &(struct rc_wr){ .opcode = IB_WR_SEND, .buf = buf, .len = 10,
			       .wr_id = wr_id });
}

/* ---- attributes ---- */

static void attributes_are_as_they_were_set(struct kunit *test)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	open_rc(test);
	KUNIT_ASSERT_EQ(test, ib_query_qp(peer.ib, &attr, 0, &init), 0);
	KUNIT_EXPECT_EQ(test, attr.qp_state, IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, attr.path_mtu, IB_MTU_256);
	KUNIT_EXPECT_EQ(test, attr.dest_qp_num, PEER_QPN);
	KUNIT_EXPECT_EQ(test, attr.sq_psn, PEER_PSN);
	KUNIT_EXPECT_EQ(test, attr.rq_psn, PEER_RQ_PSN);
	KUNIT_EXPECT_EQ(test, attr.retry_cnt, 1);
	KUNIT_EXPECT_EQ(test, attr.rnr_retry, 6);
	KUNIT_EXPECT_EQ(test, attr.max_rd_atomic, 2);
	KUNIT_EXPECT_EQ(test, attr.max_dest_rd_atomic, 4);
	KUNIT_EXPECT_EQ(test, attr.min_rnr_timer, 12);
	KUNIT_EXPECT_EQ(test, attr.path_mig_state, IB_MIG_MIGRATED);
	KUNIT_EXPECT_EQ(test, attr.qp_access_flags,
			IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&attr.ah_attr), pair.b.port->lid);
	KUNIT_EXPECT_EQ(test, init.qp_type, IB_QPT_RC);
	KUNIT_ASSERT_EQ(test, post_send(1), 0);
	KUNIT_ASSERT_EQ(test, ib_query_qp(peer.ib, &attr, 0, &init), 0);
	KUNIT_EXPECT_EQ(test, attr.sq_psn, PSN(1));
}

#define RTR_MASK	(IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |	\
			 IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER)
#define RTS_MASK	(IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |	\
			 IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC)

static struct ib_qp_attr rtr_attr(void)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = 5,
		.max_dest_rd_atomic = VIB_MAX_RD_ATOMIC,
		.min_rnr_timer = 31,
	};

	attr.ah_attr.type = RDMA_AH_ATTR_TYPE_IB;
	rdma_ah_set_dlid(&attr.ah_attr, 8);
	rdma_ah_set_port_num(&attr.ah_attr, 1);
	return attr;
}

static struct ib_qp *qp_in_init(struct kunit *test)
{
	struct ib_qp *qp = hca_qp_create(&pair.a, IB_QPT_RC, &(struct hca_qp_want){});
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1 };

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	attr.qp_access_flags = BIT(19);
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
					   IB_QP_PORT | IB_QP_ACCESS_FLAGS), -EINVAL);
	attr.qp_access_flags = 0;
	KUNIT_ASSERT_EQ(test, ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
					   IB_QP_PORT | IB_QP_ACCESS_FLAGS), 0);
	return qp;
}

static void values_that_cannot_be_are_refused_before_rtr(struct kunit *test)
{
	struct ib_qp *qp = qp_in_init(test);
	struct ib_qp_attr attr = rtr_attr();

	attr.path_mtu = IB_MTU_4096 + 1;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, RTR_MASK), -EINVAL);
	attr.path_mtu = 0;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, RTR_MASK), -EINVAL);
	attr = rtr_attr();
	attr.max_dest_rd_atomic++;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, RTR_MASK), -EINVAL);
	attr = rtr_attr();
	attr.min_rnr_timer++;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, RTR_MASK), -EINVAL);
	attr = rtr_attr();
	attr.dest_qp_num = 0x1000000;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, RTR_MASK), -EINVAL);
	attr = rtr_attr();
	rdma_ah_set_sl(&attr.ah_attr, 16);
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, RTR_MASK), -EINVAL);
	attr = rtr_attr();
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, RTR_MASK & ~IB_QP_AV), -EINVAL);
	attr.path_mig_state = IB_MIG_REARM;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, RTR_MASK | IB_QP_PATH_MIG_STATE),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, hca_qp_state(qp), IB_QPS_INIT);
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, RTR_MASK), 0);
	ib_destroy_qp(qp);
}

static void values_that_cannot_be_are_refused_before_rts(struct kunit *test)
{
	struct ib_qp_attr rtr = rtr_attr(), attr;
	struct ib_qp *qp = qp_in_init(test);
	const struct ib_qp_attr good = {
		.qp_state = IB_QPS_RTS,
		.timeout = 31,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = VIB_MAX_RD_ATOMIC,
	};

	KUNIT_ASSERT_EQ(test, ib_modify_qp(qp, &rtr, RTR_MASK), 0);
	attr = good;
	attr.timeout++;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, RTS_MASK), -EINVAL);
	attr = good;
	attr.retry_cnt++;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, RTS_MASK), -EINVAL);
	attr = good;
	attr.rnr_retry++;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, RTS_MASK), -EINVAL);
	attr = good;
	attr.max_rd_atomic++;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, RTS_MASK), -EINVAL);
	attr = good;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, RTS_MASK), 0);
	ib_destroy_qp(qp);
}

static void a_consumer_that_set_no_reads_gets_none(struct kunit *test)
{
	open_rc(test);
	peer.qp->rc->max_rd_atomic = 0;
	KUNIT_ASSERT_EQ(test, rc_post(&peer, &(struct rc_wr){ .opcode = IB_WR_RDMA_READ,
				      .buf = buf, .len = 8 }), 0);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 0, IB_WC_LOC_QP_OP_ERR));
}

/* ---- states ---- */

static void nothing_is_sent_before_rts(struct kunit *test)
{
	struct ib_qp_attr attr = rtr_attr();

	peer.pair = &pair;
	peer.ib = qp_in_init(test);
	peer.qp = to_vib_qp(peer.ib);
	KUNIT_EXPECT_EQ(test, post_send(1), -EINVAL);
	KUNIT_ASSERT_EQ(test, ib_modify_qp(peer.ib, &attr, RTR_MASK), 0);
	KUNIT_EXPECT_EQ(test, post_send(1), -EINVAL);
	KUNIT_EXPECT_TRUE(test, rc_silent(&peer));
}

static void xrc_has_the_queues_that_it_needs(struct kunit *test)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_XRC_INI,
		.send_cq = pair.a.cq,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
	};
	struct ib_send_wr wr = { .opcode = IB_WR_SEND };
	struct ib_recv_wr recv = {};
	struct ib_qp *qp;

	qp = ib_create_qp(pair.a.pd, &init);
	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	KUNIT_ASSERT_EQ(test, rc_qp_to_rts(&pair, qp, &(struct rc_want){}), 0);
	/* A request of the kernel's cannot say for which SRQ it is. */
	KUNIT_EXPECT_EQ(test, ib_post_send(qp, &wr, NULL), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, ib_post_recv(qp, &recv, NULL), -EINVAL);
	ib_destroy_qp(qp);
}

static void an_xrc_request_names_its_srq(struct kunit *test)
{
	struct rc_want want = { .type = IB_QPT_XRC_INI };
	struct vib_abi_rc_wqe *wqe;
	struct rc_seen seen;

	rc_peer_open(test, &pair, &peer, &want);
	wqe = vib_queue_slot(&peer.qp->sq, NULL);
	*wqe = (struct vib_abi_rc_wqe){ .opcode = IB_WR_RDMA_WRITE_WITH_IMM, .ex = 7,
				    .xrc_srqn = 0x345678, .flags = IB_SEND_SIGNALED };
	vib_queue_push(&peer.qp->sq);
	vib_qp_kick(peer.qp->sender);
	KUNIT_ASSERT_TRUE(test, rc_seen(&peer, &seen));
	KUNIT_EXPECT_EQ(test, ib_bth_get_opcode(vib_packet_bth(seen.pkt)),
			VIB_OPCODE_XRC | IB_OPCODE_RDMA_WRITE_ONLY_WITH_IMMEDIATE);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(vib_packet_ext(seen.pkt, VIB_EXT_XRC)),
			0x345678);
	KUNIT_EXPECT_EQ(test, seen.pkt->hdr_len, IB_LRH_BYTES + IB_BTH_BYTES + 4 + 16 + 4);
	rc_ack(test, &peer, 0);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 0, IB_WC_SUCCESS));
}

/* ---- paths ---- */

/* The alternate path goes to b's LID 9. */
static int rearm(void)
{
	struct ib_qp_attr attr = { .path_mig_state = IB_MIG_REARM, .alt_port_num = 1 };

	attr.alt_ah_attr.type = RDMA_AH_ATTR_TYPE_IB;
	rdma_ah_set_dlid(&attr.alt_ah_attr, pair.b.port->lid + 1);
	rdma_ah_set_port_num(&attr.alt_ah_attr, 1);
	return ib_modify_qp(peer.ib, &attr, IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE);
}

static enum ib_mig_state mig_state(void)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	return ib_query_qp(peer.ib, &attr, 0, &init) ? -1 : attr.path_mig_state;
}

/* An ACK of PSN 0, or a late one, from LID 8 or 9 of b. */
static void ack_from(struct kunit *test, u16 lid_bits, bool migrated)
{
	struct vib_packet *pkt = rc_packet(test, &peer, IB_OPCODE_ACKNOWLEDGE, 0, 0x1f000000,
					   0, NULL, 0);

	if (!migrated)
		vib_packet_bth(pkt)->bth[0] &= ~cpu_to_be32(IB_BTH_MIG_REQ);
	vib_packet_finish(pkt, 0, 0, pair.a.port->lid, pair.b.port->lid + lid_bits);
	rc_arrive(&peer, pkt);
}

static bool sends_to(u16 lid_bits, bool migrated)
{
	struct rc_seen seen;

	if (post_send(1) || !rc_seen(&peer, &seen))
		return false;
	return vib_packet_dlid(seen.pkt) == pair.b.port->lid + lid_bits &&
	       ib_bth_is_migration(vib_packet_bth(seen.pkt)) == migrated;
}

static bool migrated_events(unsigned int n)
{
	return wait_within(pair.a.qp_events[IB_EVENT_PATH_MIG] == n, 5000);
}

static void both_rearm_and_are_armed(struct kunit *test)
{
	open_rc(test);
	KUNIT_EXPECT_TRUE(test, sends_to(0, true));
	KUNIT_ASSERT_EQ(test, rearm(), 0);
	KUNIT_EXPECT_EQ(test, mig_state(), IB_MIG_REARM);
	KUNIT_EXPECT_TRUE(test, sends_to(0, false));
	ack_from(test, 0, true);
	KUNIT_EXPECT_EQ(test, mig_state(), IB_MIG_REARM);
	ack_from(test, 0, false);
	KUNIT_EXPECT_EQ(test, mig_state(), IB_MIG_ARMED);
}

static void a_peer_that_migrates_takes_us_along(struct kunit *test)
{
	open_rc(test);
	KUNIT_ASSERT_EQ(test, rearm(), 0);
	ack_from(test, 1, true);
	KUNIT_EXPECT_EQ(test, hca_dropped(&pair.a, VIB_DROP_PATH), 1);
	ack_from(test, 0, false);
	/* By the alternate path, but the peer has not migrated. */
	ack_from(test, 1, false);
	KUNIT_EXPECT_EQ(test, hca_dropped(&pair.a, VIB_DROP_PATH), 2);
	KUNIT_EXPECT_EQ(test, mig_state(), IB_MIG_ARMED);
	ack_from(test, 1, true);
	KUNIT_EXPECT_EQ(test, mig_state(), IB_MIG_MIGRATED);
	KUNIT_EXPECT_TRUE(test, migrated_events(1));
	KUNIT_EXPECT_TRUE(test, sends_to(1, true));
	ack_from(test, 0, false);
	KUNIT_EXPECT_EQ(test, hca_dropped(&pair.a, VIB_DROP_PATH), 3);
}

static void retries_that_are_used_up_migrate(struct kunit *test)
{
	struct rc_seen seen;

	open_rc(test);
	KUNIT_ASSERT_EQ(test, rearm(), 0);
	ack_from(test, 0, false);
	KUNIT_EXPECT_TRUE(test, sends_to(0, false));
	rc_expire(&peer);
	KUNIT_ASSERT_TRUE(test, rc_seen(&peer, &seen));
	KUNIT_EXPECT_EQ(test, vib_packet_dlid(seen.pkt), pair.b.port->lid);
	rc_expire(&peer);
	KUNIT_ASSERT_TRUE(test, rc_seen(&peer, &seen));
	KUNIT_EXPECT_EQ(test, vib_packet_dlid(seen.pkt), pair.b.port->lid + 1);
	KUNIT_EXPECT_TRUE(test, migrated_events(1));
	KUNIT_EXPECT_EQ(test, rc_events(&peer, VIB_RC_MIGRATED), 1);
	/* There the retries are as many again, and then it is over. */
	rc_expire(&peer);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
	rc_expire(&peer);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 1, IB_WC_RETRY_EXC_ERR));
}

static void a_consumer_migrates(struct kunit *test)
{
	struct ib_qp_attr attr = { .path_mig_state = IB_MIG_MIGRATED };

	open_rc(test);
	KUNIT_ASSERT_EQ(test, rearm(), 0);
	ack_from(test, 0, false);
	KUNIT_ASSERT_EQ(test, ib_modify_qp(peer.ib, &attr, IB_QP_PATH_MIG_STATE), 0);
	KUNIT_EXPECT_EQ(test, mig_state(), IB_MIG_MIGRATED);
	KUNIT_EXPECT_TRUE(test, migrated_events(1));
	KUNIT_EXPECT_TRUE(test, sends_to(1, true));
}

static struct kunit_case attr_cases[] = {
	KUNIT_CASE(attributes_are_as_they_were_set),
	KUNIT_CASE(values_that_cannot_be_are_refused_before_rtr),
	KUNIT_CASE(values_that_cannot_be_are_refused_before_rts),
	KUNIT_CASE(a_consumer_that_set_no_reads_gets_none),
	KUNIT_CASE(nothing_is_sent_before_rts),
	KUNIT_CASE(xrc_has_the_queues_that_it_needs),
	KUNIT_CASE(an_xrc_request_names_its_srq),
	KUNIT_CASE(both_rearm_and_are_armed),
	KUNIT_CASE(a_peer_that_migrates_takes_us_along),
	KUNIT_CASE(retries_that_are_used_up_migrate),
	KUNIT_CASE(a_consumer_migrates),
	{}
};

static struct kunit_suite vib_rc_attr_suite = {
	.name = "vib_rc_attr",
	.init = attr_init,
	.exit = attr_exit,
	.test_cases = attr_cases,
};

kunit_test_suite(vib_rc_attr_suite);
