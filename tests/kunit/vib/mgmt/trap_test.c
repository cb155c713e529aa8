// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Traps (IBA vol. 1, 13.4.9, 14.2.5.1, 14.3.8): what they say, how often they are sent. */
#include <linux/delay.h>
#include "mgmt_node.h"

#define TRIES	5		/* of one trap, in all */
#define TIMEOUT	15		/* SubnetTimeOut: 4.096 us * 2^15, 134 ms */
#define LONG	18		/* the same: 1074 ms */

/*
 * The adapter runs its own subnet manager: traps come back to it, as does what a switch sends
 * for it through its port 1.
 */
static struct mgmt_node *manager_new(struct kunit *test, u8 timeout)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = &mn->node.ports[1];

	port->state = IB_PORT_ACTIVE;
	port->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	port->lid = 8;
	port->sm_lid = 8;
	port->info.clientrereg_resv_subnetto = timeout;
	return mn;
}

static const struct ib_mad_notice_attr *notice_of(struct mgmt_node *mn)
{
	return (const struct ib_mad_notice_attr *)mn->smp.data;
}

/* Waits until @mn has received @n packets, for some seconds at the most. */
static bool received(struct mgmt_node *mn, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < 5000 && READ_ONCE(mn->packets) < n; i++)
		msleep(1);
	return READ_ONCE(mn->packets) >= n;
}

static void repress(struct mgmt_node *mn, __be64 tid)
{
	struct ib_smp smp, out;

	mgmt_smp(&smp, IB_MGMT_METHOD_TRAP_REPRESS, IB_SMP_ATTR_NOTICE, 0);
	smp.tid = tid;
	vib_sma_handle(&mn->node.ports[1], &smp, &out);
}

static void a_trap_is_an_smp_to_the_manager(struct kunit *test)
{
	struct mgmt_node *mn = manager_new(test, LONG);
	const struct ib_mad_notice_attr *notice = notice_of(mn);

	mn->node.ports[1].sm_sl = 3;
	vib_trap_local_change(&mn->node.ports[1], IB_NOTICE_TRAP_NODE_DESC_CHG);
	KUNIT_ASSERT_TRUE(test, received(mn, 1));
	KUNIT_EXPECT_EQ(test, mn->vl, VIB_VL_MGMT);
	KUNIT_EXPECT_EQ(test, ib_get_dlid(&mn->hdr), 8);
	KUNIT_EXPECT_EQ(test, ib_get_slid(&mn->hdr), 8);
	KUNIT_EXPECT_EQ(test, ib_get_sl(&mn->hdr), 3);
	KUNIT_EXPECT_EQ(test, ib_bth_get_qpn(&mn->hdr.u.oth), 0);
	KUNIT_EXPECT_EQ(test, mn->smp.mgmt_class, IB_MGMT_CLASS_SUBN_LID_ROUTED);
	KUNIT_EXPECT_EQ(test, mn->smp.method, IB_MGMT_METHOD_TRAP);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(mn->smp.attr_id), 2);
	KUNIT_EXPECT_EQ(test, notice->generic_type, 0x84);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(notice->prod_type_lsb), 1);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(notice->trap_num), 144);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(notice->issuer_lid), 8);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(notice->details.ntc_144.lid), 8);
	KUNIT_EXPECT_EQ(test, notice->details.ntc_144.local_changes, 1);
	KUNIT_EXPECT_EQ(test, notice->details.ntc_144.change_flags, 1);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(notice->details.ntc_144.new_cap_mask),
			vib_port_cap_mask(&mn->node.ports[1]));
}

static void a_trap_is_repeated_not_for_ever(struct kunit *test)
{
	struct mgmt_node *mn = manager_new(test, TIMEOUT);
	unsigned long begun = jiffies;

	vib_trap_link_error(&mn->node.ports[1], IB_NOTICE_TRAP_LLI_THRESH);
	KUNIT_ASSERT_TRUE(test, received(mn, TRIES));
	/* At least the interval lay between two of them. */
	KUNIT_EXPECT_GE(test, jiffies - begun,
			(TRIES - 1) * nsecs_to_jiffies(4096ULL << TIMEOUT));
	msleep(500);
	KUNIT_EXPECT_EQ(test, mn->packets, TRIES);
	KUNIT_EXPECT_EQ(test, notice_of(mn)->details.ntc_129_131.port_num, 1);
}

static void a_repressed_trap_is_not_repeated(struct kunit *test)
{
	struct mgmt_node *mn = manager_new(test, TIMEOUT);

	vib_trap_local_change(&mn->node.ports[1], 0);
	KUNIT_ASSERT_TRUE(test, received(mn, 1));
	repress(mn, mn->smp.tid);
	msleep(500);
	KUNIT_EXPECT_EQ(test, mn->packets, 1);
}

static void an_old_repress_does_not_end_a_new_trap(struct kunit *test)
{
	struct mgmt_node *mn = manager_new(test, TIMEOUT);
	__be64 old;

	vib_trap_local_change(&mn->node.ports[1], 0);
	KUNIT_ASSERT_TRUE(test, received(mn, 1));
	old = mn->smp.tid;
	vib_trap_local_change(&mn->node.ports[1], 0);
	repress(mn, old);
	KUNIT_ASSERT_TRUE(test, received(mn, 2));
	KUNIT_EXPECT_NE(test, be64_to_cpu(mn->smp.tid), be64_to_cpu(old));
}

static void many_traps_become_few(struct kunit *test)
{
	struct mgmt_node *mn = manager_new(test, LONG);
	unsigned int i;

	vib_trap_local_change(&mn->node.ports[1], 0);
	KUNIT_ASSERT_TRUE(test, received(mn, 1));
	for (i = 0; i < 100; i++)
		vib_trap_local_change(&mn->node.ports[1], 0);
	msleep(500);
	KUNIT_EXPECT_EQ(test, mn->packets, 1);
	/* One of another number does not wait for these. */
	vib_trap_link_error(&mn->node.ports[1], IB_NOTICE_TRAP_EBO_THRESH);
	KUNIT_ASSERT_TRUE(test, received(mn, 2));
	KUNIT_EXPECT_EQ(test, be16_to_cpu(notice_of(mn)->trap_num), 130);
}

static void without_a_manager_nothing_is_sent(struct kunit *test)
{
	struct mgmt_node *mn = manager_new(test, 0);

	mn->node.ports[1].sm_lid = 0;
	vib_trap_local_change(&mn->node.ports[1], 0);
	msleep(500);
	mn->node.ports[1].sm_lid = 8;
	mn->node.ports[1].state = IB_PORT_ARMED;
	vib_trap_local_change(&mn->node.ports[1], 0);
	msleep(500);
	KUNIT_EXPECT_EQ(test, mn->packets, 0);
}

/* ---- what brings them about ---- */

static void a_wrong_key_is_told_of(struct kunit *test)
{
	struct mgmt_node *mn = manager_new(test, LONG);
	struct vib_port *port = &mn->node.ports[1];
	const struct ib_mad_notice_attr *notice = notice_of(mn);
	struct ib_smp smp, out;

	port->info.mkey = cpu_to_be64(1);
	mgmt_smp(&smp, IB_MGMT_METHOD_SET, IB_SMP_ATTR_PORT_INFO, 1);
	smp.mkey = cpu_to_be64(0xbad);
	smp.mgmt_class = IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
	smp.hop_cnt = 40;
	memset(smp.return_path, 9, sizeof(smp.return_path));
	KUNIT_EXPECT_EQ(test, vib_sma_receive(port, 77, &smp, &out), VIB_MAD_DROP);
	KUNIT_ASSERT_TRUE(test, received(mn, 1));
	KUNIT_EXPECT_EQ(test, notice->generic_type, 0x82);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(notice->trap_num), 256);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(notice->details.ntc_256.lid), 77);
	KUNIT_EXPECT_EQ(test, notice->details.ntc_256.method, IB_MGMT_METHOD_SET);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(notice->details.ntc_256.attr_id), 0x15);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(notice->details.ntc_256.attr_mod), 1);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(notice->details.ntc_256.mkey), 0xbad);
	/* By a directed route, whose path is longer than what there is room for */
	KUNIT_EXPECT_EQ(test, notice->details.ntc_256.dr_trunc_hop, 0x80 | 0x40 | 40);
	KUNIT_EXPECT_EQ(test, notice->details.ntc_256.dr_rtn_path[29], 9);
}

static struct vib_packet *bad_packet(struct kunit *test)
{
	static const u8 mad[IB_MGMT_MAD_SIZE];

	return mgmt_packet(test, mad, &(struct mgmt_addr){
		.dlid = 8, .slid = 0x30, .dqp = 5, .sqp = 6, .pkey = 0x8123, .qkey = 0x99,
	});
}

static void wrong_keys_of_packets_are_told_of(struct kunit *test)
{
	struct mgmt_node *mn = manager_new(test, LONG);
	struct vib_port *port = &mn->node.ports[1];
	const struct ib_mad_notice_attr *notice = notice_of(mn);
	struct vib_packet *pkt = bad_packet(test);

	vib_bad_pkey(port, pkt);
	KUNIT_ASSERT_TRUE(test, received(mn, 1));
	KUNIT_EXPECT_EQ(test, be16_to_cpu(port->info.pkey_violations), 1);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(notice->trap_num), 257);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(notice->details.ntc_257_258.lid1), 0x30);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(notice->details.ntc_257_258.lid2), 8);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(notice->details.ntc_257_258.key), 0x8123);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(notice->details.ntc_257_258.sl_qp1), 6);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(notice->details.ntc_257_258.qp2), 5);
	vib_bad_qkey(port, pkt);
	KUNIT_ASSERT_TRUE(test, received(mn, 2));
	KUNIT_EXPECT_EQ(test, be16_to_cpu(port->info.qkey_violations), 1);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(notice->trap_num), 258);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(notice->details.ntc_257_258.key), 0x99);
	vib_packet_free(pkt);
}

/* A switch whose manager is the node at its port 2. */
static struct vib_switch *managed_switch(struct kunit *test, struct mgmt_node *mn)
{
	struct vib_switch *sw = mgmt_switch_new(test, 2);

	mgmt_join(&sw->node.ports[2], &mn->node.ports[1], IB_PORT_ACTIVE);
	sw->node.ports[0].lid = 3;
	sw->node.ports[0].sm_lid = 8;
	sw->node.ports[0].info.clientrereg_resv_subnetto = LONG;
	sw->lft[8] = 2;
	return sw;
}

static void a_switch_tells_of_its_links(struct kunit *test)
{
	struct mgmt_node *mn = manager_new(test, LONG);
	struct vib_switch *sw = managed_switch(test, mn);
	const struct ib_mad_notice_attr *notice = notice_of(mn);

	vib_trap_link_state(&sw->node);
	KUNIT_ASSERT_TRUE(test, received(mn, 1));
	KUNIT_EXPECT_EQ(test, ib_get_slid(&mn->hdr), 3);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(notice->trap_num), 128);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(notice->prod_type_lsb), 2);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(notice->issuer_lid), 3);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(notice->details.raw_data.details), 3);
}

static void a_switch_tells_of_wrong_keys(struct kunit *test)
{
	struct mgmt_node *mn = manager_new(test, LONG);
	struct vib_switch *sw = managed_switch(test, mn);
	const struct ib_mad_notice_attr *notice = notice_of(mn);
	const u8 *details = notice->details.raw_data.details;
	struct vib_packet *pkt = bad_packet(test);

	vib_bad_pkey(&sw->node.ports[1], pkt);
	KUNIT_ASSERT_TRUE(test, received(mn, 1));
	KUNIT_EXPECT_EQ(test, be16_to_cpu(sw->node.ports[1].info.pkey_violations), 1);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(notice->trap_num), 259);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(details), 0x3f);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(details + 2), 0x30);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(details + 6), 0x8123);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(details + 12), 5);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(details + 48), 3);
	KUNIT_EXPECT_EQ(test, details[50], 1);
	vib_packet_free(pkt);
}

static struct kunit_case trap_cases[] = {
	KUNIT_CASE(a_trap_is_an_smp_to_the_manager),
	KUNIT_CASE(a_trap_is_repeated_not_for_ever),
	KUNIT_CASE(a_repressed_trap_is_not_repeated),
	KUNIT_CASE(an_old_repress_does_not_end_a_new_trap),
	KUNIT_CASE(many_traps_become_few),
	KUNIT_CASE(without_a_manager_nothing_is_sent),
	KUNIT_CASE(a_wrong_key_is_told_of),
	KUNIT_CASE(wrong_keys_of_packets_are_told_of),
	KUNIT_CASE(a_switch_tells_of_its_links),
	KUNIT_CASE(a_switch_tells_of_wrong_keys),
	{}
};

static struct kunit_suite trap_suite = {
	.name = "vib_trap",
	.test_cases = trap_cases,
};

kunit_test_suite(trap_suite);
