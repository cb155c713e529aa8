// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What an adapter does with packets as they come from the link: each header that is not as
 * it must be has the packet dropped, and counted (IBA vol. 1, 7.7, 8.3, 9.6.1, 10.9).
 */
#include <linux/prandom.h>
#include "hca_pair.h"

static struct hca_pair pair;
static struct ib_qp *qp;	/* b's, with receives posted */
static u8 *in;

/* A packet as a would send it, each field to be changed by a test. */
struct rx_packet {
	u8 vl, sl, lver, lnh, opcode, tver, pad;
	u16 dlid, slid, len;
	u16 pkey;
	u32 dqp, sqp, qkey;
	s16 pkt_len_off;	/* added to LRH's length, in words */
	s16 hdr_len_off;
	struct {
		u8 version, next_hdr;
		s16 paylen_off;
		union ib_gid dgid;
	} grh;
};

static struct rx_packet rx_good(void)
{
	return (struct rx_packet){
		.lnh = IB_LNH_IBA_LOCAL,
		.opcode = IB_OPCODE_UD_SEND_ONLY,
		.dlid = pair.b.port->lid,
		.slid = pair.a.port->lid,
		.len = 30,
		.pkey = 0xffff,
		.dqp = qp->qp_num,
		.sqp = 55,
		.qkey = PAIR_QKEY,
		.grh = { .version = 6, .next_hdr = 0x1b, .dgid = hca_gid(&pair.b) },
	};
}

static struct rx_packet rx_good_grh(void)
{
	struct rx_packet rx = rx_good();

	rx.lnh = IB_LNH_IBA_GLOBAL;
	return rx;
}

static struct rx_packet rx_mcast(u8 group)
{
	struct rx_packet rx = rx_good_grh();

	rx.dlid = PAIR_MLID;
	rx.dqp = IB_MULTICAST_QPN;
	rx.grh.dgid = hca_mgid(group);
	return rx;
}

static struct rx_packet rx_smp(void)
{
	struct rx_packet rx = rx_good();

	rx.vl = VIB_VL_MGMT;
	rx.dqp = 0;
	rx.sqp = 0;
	rx.qkey = 0;
	rx.len = 256;
	return rx;
}

static void rx_fill_grh(const struct rx_packet *rx, struct ib_grh *grh)
{
	grh->version_tclass_flow = cpu_to_be32(rx->grh.version << IB_GRH_VERSION_SHIFT);
	grh->next_hdr = rx->grh.next_hdr;
	grh->paylen = cpu_to_be16(be16_to_cpu(grh->paylen) + rx->grh.paylen_off);
	grh->sgid = hca_gid(&pair.a);
	grh->dgid = rx->grh.dgid;
}

static struct vib_packet *rx_build(struct kunit *test, const struct rx_packet *rx)
{
	struct vib_packet *pkt = vib_packet_alloc(GFP_KERNEL);
	struct ib_other_headers *oth;
	struct vib_payload *payload;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	pkt->hdr.lrh[0] = cpu_to_be16(rx->lnh);
	pkt->hdr_len = IB_LRH_BYTES + IB_BTH_BYTES + IB_DETH_BYTES +
		       (rx->lnh == IB_LNH_IBA_GLOBAL ? IB_GRH_BYTES : 0);
	if (rx->len) {
		payload = vib_payload_alloc(rx->len, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, payload);
		memset(payload->data, 0x5a, rx->len);
		vib_packet_attach(pkt, payload, 0, rx->len);
		vib_payload_put(payload);
	}
	oth = vib_packet_bth(pkt);
	oth->bth[0] = cpu_to_be32(rx->opcode << IB_BTH_OPCODE_SHIFT |
				  rx->tver << IB_BTH_TVER_SHIFT | rx->pkey);
	oth->bth[1] = cpu_to_be32(rx->dqp);
	oth->u.ud.deth[0] = cpu_to_be32(rx->qkey);
	oth->u.ud.deth[1] = cpu_to_be32(rx->sqp);
	vib_packet_finish(pkt, rx->vl, rx->sl, rx->dlid, rx->slid);
	oth->bth[0] ^= cpu_to_be32(rx->pad << IB_BTH_PAD_SHIFT);
	pkt->hdr.lrh[0] |= cpu_to_be16(rx->lver << IB_LVER_SHIFT);
	pkt->hdr.lrh[2] = cpu_to_be16(be16_to_cpu(pkt->hdr.lrh[2]) + rx->pkt_len_off);
	if (rx->lnh == IB_LNH_IBA_GLOBAL)
		rx_fill_grh(rx, &pkt->hdr.u.l.grh);
	pkt->hdr_len += rx->hdr_len_off;
	return pkt;
}

static void rx_arrive(struct vib_packet *pkt)
{
	rcu_read_lock_bh();
	vib_hca_receive(pair.b.port, pkt);
	rcu_read_unlock_bh();
	flush_workqueue(vib_wq);
	flush_workqueue(vib_wq);
}

/* Whether b takes @rx in. */
static bool rx_taken(struct kunit *test, const struct rx_packet *rx)
{
	struct ib_wc wc;

	rx_arrive(rx_build(test, rx));
	return ib_poll_cq(pair.b.cq, 1, &wc) == 1 && wc.status == IB_WC_SUCCESS;
}

static void expect_dropped(struct kunit *test, const struct rx_packet *rx, enum vib_drop why)
{
	u64 before = hca_dropped(&pair.b, why);

	KUNIT_EXPECT_FALSE(test, rx_taken(test, rx));
	KUNIT_EXPECT_EQ(test, hca_dropped(&pair.b, why), before + 1);
}

static void expect_malformed(struct kunit *test, const struct rx_packet *rx)
{
	u64 before = vib_port_counter(pair.b.port, VIB_RCV_ERRORS);

	KUNIT_EXPECT_FALSE(test, rx_taken(test, rx));
	KUNIT_EXPECT_EQ(test, vib_port_counter(pair.b.port, VIB_RCV_ERRORS), before + 1);
}

static int rx_test_init(struct kunit *test)
{
	int i, ret = hca_pair_init(test, &pair);

	if (ret)
		return ret;
	in = hca_buf(test, GRH_LEN + 4096, 0);
	qp = hca_qp_rts(test, &pair.b);
	for (i = 0; i < PAIR_MAX_WR; i++)
		KUNIT_ASSERT_EQ(test, hca_recv(qp, &pair.b, in, GRH_LEN + 4096, i), 0);
	return 0;
}

static void rx_test_exit(struct kunit *test)
{
	if (!IS_ERR_OR_NULL(qp))
		ib_destroy_qp(qp);
	qp = NULL;
	hca_pair_exit(&pair);
}

/* ---- the link's header ---- */

static void what_is_right_is_taken_in(struct kunit *test)
{
	struct rx_packet rx = rx_good();

	KUNIT_EXPECT_TRUE(test, rx_taken(test, &rx));
	rx = rx_good_grh();
	KUNIT_EXPECT_TRUE(test, rx_taken(test, &rx));
	rx.len = 0;
	KUNIT_EXPECT_TRUE(test, rx_taken(test, &rx));
	rx.len = 4096;
	KUNIT_EXPECT_TRUE(test, rx_taken(test, &rx));
}

static void a_malformed_packet_is_an_error_of_the_link(struct kunit *test)
{
	struct rx_packet rx = rx_good();

	rx.lver = 1;
	expect_malformed(test, &rx);
	rx = rx_good();
	rx.lnh = IB_LNH_RAW;
	expect_malformed(test, &rx);
	rx.lnh = IB_LNH_IP;
	expect_malformed(test, &rx);
	rx = rx_good();
	rx.pkt_len_off = 1;
	expect_malformed(test, &rx);
	rx.pkt_len_off = -1;
	expect_malformed(test, &rx);
	rx = rx_good();
	rx.tver = 1;
	expect_malformed(test, &rx);
	rx = rx_good();
	rx.pad = 3;
	expect_malformed(test, &rx);
	rx = rx_good();
	rx.slid = 0;
	expect_malformed(test, &rx);
	rx.slid = PAIR_MLID;
	expect_malformed(test, &rx);
	rx.slid = VIB_LID_PERMISSIVE;
	expect_malformed(test, &rx);
}

static void what_is_longer_than_the_port_can_take_is_malformed(struct kunit *test)
{
	struct rx_packet rx = rx_good();

	pair.b.port->info.inittypereply_mtucap = IB_MTU_1024;
	rx.len = 1024;
	KUNIT_EXPECT_TRUE(test, rx_taken(test, &rx));
	rx.len = 1025;
	expect_malformed(test, &rx);
}

static void a_lid_of_another_port_is_none_of_ours(struct kunit *test)
{
	static const u16 lids[] = { 0, 4, 7, 12, VIB_LID_PERMISSIVE };
	struct rx_packet rx;
	int i;

	for (i = 0; i < ARRAY_SIZE(lids); i++) {
		rx = rx_good();
		rx.dlid = lids[i];
		expect_dropped(test, &rx, VIB_DROP_LID);
	}
}

static void a_port_takes_what_its_state_lets_in(struct kunit *test)
{
	struct rx_packet rx = rx_good();

	WRITE_ONCE(pair.b.port->state, IB_PORT_INIT);
	KUNIT_EXPECT_FALSE(test, rx_taken(test, &rx));
	WRITE_ONCE(pair.b.port->state, IB_PORT_DOWN);
	KUNIT_EXPECT_FALSE(test, rx_taken(test, &rx));
	KUNIT_EXPECT_EQ(test, vib_port_counter(pair.b.port, VIB_RCV_DISCARDS), 2);
	WRITE_ONCE(pair.b.port->state, IB_PORT_ACTIVE);
	KUNIT_EXPECT_TRUE(test, rx_taken(test, &rx));
}

/* ---- GRH ---- */

static void a_grh_is_checked(struct kunit *test)
{
	struct rx_packet rx = rx_good_grh();

	rx.grh.version = 4;
	expect_dropped(test, &rx, VIB_DROP_GRH);
	rx = rx_good_grh();
	rx.grh.next_hdr = 17;
	expect_dropped(test, &rx, VIB_DROP_GRH);
	rx = rx_good_grh();
	rx.grh.paylen_off = 4;
	expect_dropped(test, &rx, VIB_DROP_GRH);
}

static void a_dgid_is_one_of_the_ports(struct kunit *test)
{
	struct rx_packet rx = rx_good_grh();

	rx.grh.dgid = hca_gid(&pair.a);
	expect_dropped(test, &rx, VIB_DROP_GRH);
	rx.grh.dgid = hca_mgid(1);
	expect_dropped(test, &rx, VIB_DROP_GRH);
	/* One that the manager has set; an entry that is empty is no GID. */
	pair.b.port->guids[2] = cpu_to_be64(0x77);
	rx.grh.dgid = hca_gid(&pair.b);
	rx.grh.dgid.global.interface_id = cpu_to_be64(0x77);
	KUNIT_EXPECT_TRUE(test, rx_taken(test, &rx));
	rx.grh.dgid.global.interface_id = 0;
	expect_dropped(test, &rx, VIB_DROP_GRH);
	/* The link-local prefix stays valid whatever that of the subnet is (4.1.1). */
	rx = rx_good_grh();
	pair.b.port->info.gid_prefix = cpu_to_be64(0xfec0000000000001);
	KUNIT_EXPECT_TRUE(test, rx_taken(test, &rx));
	rx.grh.dgid = hca_gid(&pair.b);
	KUNIT_EXPECT_TRUE(test, rx_taken(test, &rx));
	rx.grh.dgid.global.subnet_prefix = cpu_to_be64(0xfec0000000000002);
	expect_dropped(test, &rx, VIB_DROP_GRH);
}

/* ---- queue pairs ---- */

static void a_packet_for_no_qp_is_dropped(struct kunit *test)
{
	struct rx_packet rx = rx_good();

	rx.dqp = qp->qp_num + 1;
	expect_dropped(test, &rx, VIB_DROP_QP);
	rx.dqp = 1;
	expect_dropped(test, &rx, VIB_DROP_QP);
	rx.dqp = IB_MULTICAST_QPN;
	expect_dropped(test, &rx, VIB_DROP_QP);
	rx = rx_mcast(1);
	rx.dqp = qp->qp_num;
	expect_dropped(test, &rx, VIB_DROP_QP);
}

static void qp0_is_reached_by_vl15_alone_and_nothing_else_is(struct kunit *test)
{
	struct rx_packet rx = rx_smp();
	struct ib_qp *smi;

	expect_dropped(test, &rx, VIB_DROP_QP);
	smi = hca_qp_create(&pair.b, IB_QPT_SMI, &(struct hca_qp_want){});
	KUNIT_ASSERT_FALSE(test, IS_ERR(smi));
	KUNIT_ASSERT_EQ(test, hca_qp_to(smi, IB_QPS_RTS), 0);
	KUNIT_ASSERT_EQ(test, hca_recv(smi, &pair.b, in, GRH_LEN + 256, 1), 0);
	rx.vl = 0;
	expect_dropped(test, &rx, VIB_DROP_QP);
	rx = rx_smp();
	rx.dqp = qp->qp_num;
	expect_dropped(test, &rx, VIB_DROP_QP);
	rx = rx_smp();
	rx.lnh = IB_LNH_IBA_GLOBAL;
	rx.grh = rx_good_grh().grh;
	expect_dropped(test, &rx, VIB_DROP_GRH);
	rx = rx_smp();
	rx.dlid = PAIR_MLID;
	expect_dropped(test, &rx, VIB_DROP_LID);
	/* Whatever its P_Key and Q_Key are. */
	rx = rx_smp();
	rx.dlid = VIB_LID_PERMISSIVE;
	rx.slid = VIB_LID_PERMISSIVE;
	rx.pkey = 0x1234;
	rx.qkey = 99;
	KUNIT_EXPECT_TRUE(test, rx_taken(test, &rx));
	expect_dropped(test, &rx, VIB_DROP_NO_RECEIVE);
	KUNIT_EXPECT_EQ(test, vib_port_counter(pair.b.port, VIB_VL15_DROPPED), 1);
	ib_destroy_qp(smi);
}

static void a_qp_takes_packets_from_rtr_on(struct kunit *test)
{
	struct ib_qp *other = hca_qp_create(&pair.b, IB_QPT_UD, &(struct hca_qp_want){});
	struct rx_packet rx = rx_good();
	enum ib_qp_state state;

	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	rx.dqp = other->qp_num;
	expect_dropped(test, &rx, VIB_DROP_QP);
	KUNIT_ASSERT_EQ(test, hca_qp_modify(other, IB_QPS_INIT), 0);
	KUNIT_ASSERT_EQ(test, hca_recv(other, &pair.b, in, GRH_LEN + 256, 1), 0);
	expect_dropped(test, &rx, VIB_DROP_QP);
	for (state = IB_QPS_RTR; state <= IB_QPS_SQD; state++) {
		KUNIT_ASSERT_EQ(test, hca_qp_modify(other, state), 0);
		KUNIT_EXPECT_TRUE(test, rx_taken(test, &rx));
		KUNIT_ASSERT_EQ(test, hca_recv(other, &pair.b, in, GRH_LEN + 256, 1), 0);
	}
	KUNIT_ASSERT_EQ(test, hca_qp_modify(other, IB_QPS_ERR), 0);
	expect_dropped(test, &rx, VIB_DROP_QP);
	ib_destroy_qp(other);
}

static void opcodes_of_other_services_are_dropped(struct kunit *test)
{
	struct rx_packet rx = rx_good();
	unsigned int opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		/* Immediate data takes four bytes more of headers than there are. */
		if (opcode == IB_OPCODE_UD_SEND_ONLY)
			continue;
		rx.opcode = opcode;
		expect_dropped(test, &rx, VIB_DROP_OPCODE);
	}
}

/* ---- keys ---- */

static u16 violations(__be16 *counter)
{
	return be16_to_cpu(*counter);
}

static void a_pkey_that_does_not_match_is_a_violation(struct kunit *test)
{
	__be16 *counter = &pair.b.port->info.pkey_violations;
	struct rx_packet rx = rx_good();

	rx.pkey = 0x8001;
	expect_dropped(test, &rx, VIB_DROP_PKEY);
	KUNIT_EXPECT_EQ(test, violations(counter), 1);
	rx.pkey = 0;
	expect_dropped(test, &rx, VIB_DROP_PKEY);
	rx.pkey = 0x8000;
	expect_dropped(test, &rx, VIB_DROP_PKEY);
	KUNIT_EXPECT_EQ(test, violations(counter), 3);
	/* In the table, but not the QP's. */
	pair.b.port->pkeys[1] = cpu_to_be16(0x8001);
	rx.pkey = 0x8001;
	expect_dropped(test, &rx, VIB_DROP_PKEY);
	/* It counts up to the greatest value, and stays there. */
	*counter = cpu_to_be16(0xffff);
	expect_dropped(test, &rx, VIB_DROP_PKEY);
	KUNIT_EXPECT_EQ(test, violations(counter), 0xffff);
}

static void two_limited_members_do_not_talk(struct kunit *test)
{
	struct rx_packet rx = rx_good();

	rx.pkey = 0x7fff;
	KUNIT_EXPECT_TRUE(test, rx_taken(test, &rx));
	WRITE_ONCE(pair.b.port->pkeys[0], cpu_to_be16(0x7fff));
	expect_dropped(test, &rx, VIB_DROP_PKEY);
	rx.pkey = 0xffff;
	KUNIT_EXPECT_TRUE(test, rx_taken(test, &rx));
}

static void qp1_takes_each_pkey_of_the_port(struct kunit *test)
{
	struct ib_qp *gsi = hca_qp_create(&pair.b, IB_QPT_GSI, &(struct hca_qp_want){});
	struct rx_packet rx = rx_good();

	KUNIT_ASSERT_FALSE(test, IS_ERR(gsi));
	KUNIT_ASSERT_EQ(test, hca_qp_to(gsi, IB_QPS_RTS), 0);
	KUNIT_ASSERT_EQ(test, hca_recv(gsi, &pair.b, in, GRH_LEN + 256, 1), 0);
	pair.b.port->pkeys[6] = cpu_to_be16(0x8099);
	rx.dqp = 1;
	rx.qkey = IB_QP1_QKEY;
	rx.len = 256;
	rx.pkey = 0x8098;
	expect_dropped(test, &rx, VIB_DROP_PKEY);
	rx.pkey = 0x0099;
	KUNIT_EXPECT_TRUE(test, rx_taken(test, &rx));
	ib_destroy_qp(gsi);
}

static void a_qkey_that_does_not_match_is_a_violation(struct kunit *test)
{
	struct rx_packet rx = rx_good();

	rx.qkey = PAIR_QKEY + 1;
	expect_dropped(test, &rx, VIB_DROP_QKEY);
	KUNIT_EXPECT_EQ(test, violations(&pair.b.port->info.qkey_violations), 1);
	KUNIT_EXPECT_EQ(test, violations(&pair.b.port->info.pkey_violations), 0);
}

/* ---- multicast, backlog ---- */

static void a_member_with_other_keys_gets_nothing_and_it_is_no_violation(struct kunit *test)
{
	struct rx_packet rx = rx_mcast(1);
	union ib_gid mgid = hca_mgid(1);

	expect_dropped(test, &rx, VIB_DROP_MEMBER);
	KUNIT_ASSERT_EQ(test, ib_attach_mcast(qp, &mgid, PAIR_MLID), 0);
	KUNIT_EXPECT_TRUE(test, rx_taken(test, &rx));
	rx.qkey++;
	expect_dropped(test, &rx, VIB_DROP_MEMBER);
	rx = rx_mcast(1);
	rx.pkey = 0x8001;
	expect_dropped(test, &rx, VIB_DROP_MEMBER);
	rx = rx_mcast(1);
	rx.dlid++;
	expect_dropped(test, &rx, VIB_DROP_MEMBER);
	rx = rx_mcast(1);
	rx.grh.dgid = hca_gid(&pair.b);
	expect_dropped(test, &rx, VIB_DROP_GRH);
	KUNIT_EXPECT_EQ(test, violations(&pair.b.port->info.pkey_violations), 0);
	KUNIT_EXPECT_EQ(test, violations(&pair.b.port->info.qkey_violations), 0);
	KUNIT_EXPECT_EQ(test, ib_detach_mcast(qp, &mgid, PAIR_MLID), 0);
}

/* What no credits bound is bounded by the QP: bottom halves are off, so nothing is taken in. */
static void what_lags_behind_too_far_is_lost(struct kunit *test)
{
	struct rx_packet rx = rx_good();
	static struct vib_packet *pkts[VIB_MAX_BACKLOG + 3];
	int i;

	for (i = 0; i < ARRAY_SIZE(pkts); i++)
		pkts[i] = rx_build(test, &rx);
	rcu_read_lock_bh();
	for (i = 0; i < ARRAY_SIZE(pkts); i++)
		vib_hca_receive(pair.b.port, pkts[i]);
	rcu_read_unlock_bh();
	KUNIT_EXPECT_EQ(test, hca_dropped(&pair.b, VIB_DROP_BACKLOG), 3);
	KUNIT_EXPECT_EQ(test, hca_dropped(&pair.b, VIB_DROP_NO_RECEIVE),
			VIB_MAX_BACKLOG - PAIR_MAX_WR);
}

/* Whatever comes, it is taken in or dropped, and nothing of it stays behind. */
static void any_packet_at_all_does_no_harm(struct kunit *test)
{
	struct rnd_state rnd;
	struct vib_packet *pkt;
	struct rx_packet rx;
	struct ib_wc wc;
	u8 *hdr;
	int i;

	prandom_seed_state(&rnd, 7);
	for (i = 0; i < 20000; i++) {
		rx = i & 1 ? rx_good() : rx_good_grh();
		rx.len = prandom_u32_state(&rnd) % 300;
		pkt = rx_build(test, &rx);
		hdr = (u8 *)&pkt->hdr;
		hdr[prandom_u32_state(&rnd) % sizeof(pkt->hdr)] = prandom_u32_state(&rnd);
		if (!(i & 6))
			prandom_bytes_state(&rnd, hdr, sizeof(pkt->hdr));
		pkt->vl = prandom_u32_state(&rnd) % 16 ? 0 : VIB_VL_MGMT;
		rx_arrive(pkt);
		while (ib_poll_cq(pair.b.cq, 1, &wc))
			hca_recv(qp, &pair.b, in, GRH_LEN + 4096, 0);
	}
	rx = rx_good();
	KUNIT_EXPECT_TRUE(test, rx_taken(test, &rx));
}

static struct kunit_case rx_cases[] = {
	KUNIT_CASE(what_is_right_is_taken_in),
	KUNIT_CASE(a_malformed_packet_is_an_error_of_the_link),
	KUNIT_CASE(what_is_longer_than_the_port_can_take_is_malformed),
	KUNIT_CASE(a_lid_of_another_port_is_none_of_ours),
	KUNIT_CASE(a_port_takes_what_its_state_lets_in),
	KUNIT_CASE(a_grh_is_checked),
	KUNIT_CASE(a_dgid_is_one_of_the_ports),
	KUNIT_CASE(a_packet_for_no_qp_is_dropped),
	KUNIT_CASE(qp0_is_reached_by_vl15_alone_and_nothing_else_is),
	KUNIT_CASE(a_qp_takes_packets_from_rtr_on),
	KUNIT_CASE(opcodes_of_other_services_are_dropped),
	KUNIT_CASE(a_pkey_that_does_not_match_is_a_violation),
	KUNIT_CASE(two_limited_members_do_not_talk),
	KUNIT_CASE(qp1_takes_each_pkey_of_the_port),
	KUNIT_CASE(a_qkey_that_does_not_match_is_a_violation),
	KUNIT_CASE(a_member_with_other_keys_gets_nothing_and_it_is_no_violation),
	KUNIT_CASE(what_lags_behind_too_far_is_lost),
	KUNIT_CASE(any_packet_at_all_does_no_harm),
	{}
};

static struct kunit_suite vib_rx_suite = {
	.name = "vib_rx",
	.init = rx_test_init,
	.exit = rx_test_exit,
	.test_cases = rx_cases,
};

kunit_test_suite(vib_rx_suite);
