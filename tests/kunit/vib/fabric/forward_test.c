// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Where a switch sends packets, and which it does not send (IBA vol. 1, 7.6.6, 10.9, 18.2.4).
 *
 * An adapter is at each of the ports 1 to 4 of a switch with LID 10; its LID is the number of
 * the port, and the switch's tables say so.  The adapter at port 4 runs the subnet manager.
 */
#include <linux/sched.h>
#include "fabric_net.h"
#include "mgmt/mgmt.h"
#include "wait.h"

#define PORTS		4
#define SW_LID		10
#define MANAGER		4
/* Bits of the adapters that receive a packet */
#define TO(_port)	BIT(_port)
#define NOBODY		0

static struct fab *fab;
static struct fab_node *swn, *ca[PORTS + 1];
static struct vib_switch *sw;

static int forward_test_init(struct kunit *test)
{
	unsigned int i;

	fab = fab_new(test);
	swn = fab_switch(fab, PORTS);
	sw = swn->sw;
	sw->node.ports[0].lid = SW_LID;
	for (i = 1; i <= PORTS; i++) {
		ca[i] = fab_ca(fab, 1);
		ca[i]->node->ports[1].lid = i;
		sw->lft[i] = i;
		fab_link(fab, fab_port(swn, i), fab_port(ca[i], 1));
	}
	fab_activate(fab);
	return 0;
}

static struct vib_port *sw_port(u8 num)
{
	return fab_port(swn, num);
}

static u64 counted(u8 num, enum vib_counter which)
{
	return vib_port_counter(sw_port(num), which);
}

/* A datagram to QP 5, for the default partition. */
static struct fab_spec data_to(u16 dlid)
{
	return (struct fab_spec){
		.dlid = dlid, .slid = 1, .pkey = 0xffff, .dqp = 5, .sqp = 6, .qkey = 0x99,
		.psn = 1, .len = 64,
	};
}

static struct fab_spec smp_to(u16 dlid)
{
	return (struct fab_spec){
		.vl = VIB_VL_MGMT, .dlid = dlid, .slid = 1, .pkey = 0x1234, .len = 256,
	};
}

/* Who has received what was sent since, a bit each; nobody may have it twice. */
static unsigned int receivers(struct kunit *test)
{
	unsigned int i, count, mask = 0;

	for (i = 1; i <= PORTS; i++) {
		count = fab_count(fab, ca[i]);
		KUNIT_EXPECT_LE_MSG(test, count, 1, "adapter %u", i);
		if (count)
			mask |= TO(i);
		fab_drop(ca[i]);
	}
	return mask;
}

/* @spec goes from the adapter at port @from to those in @to. */
static void expect_path(struct kunit *test, u8 from, const struct fab_spec *spec,
			unsigned int to)
{
	fab_send(fab, fab_port(ca[from], 1), spec);
	KUNIT_EXPECT_EQ_MSG(test, receivers(test), to, "from %u to LID %x", from, spec->dlid);
}

/* ---- the linear table ---- */

#define TOP	100

struct lft_case {
	u16 dlid;
	u8 entry;
	u16 top;
	unsigned int to;
	bool error;	/* PortRcvSwitchRelayErrors of the port it came in by */
};

static const struct lft_case lft_cases[] = {
	{ 1, 2, TOP, TO(2), false },
	{ TOP, 3, TOP, TO(3), false },
	{ TOP + 1, 3, TOP, NOBODY, true },
	{ TOP + 1, 3, TOP + 1, TO(3), false },
	{ 1, 2, 0, NOBODY, true },
	/* The first and the last of the unicast LIDs, and one that is none */
	{ 0x0001, 4, 0xbfff, TO(4), false },
	{ 0xbfff, 4, 0xbfff, TO(4), false },
	{ 0x0000, 2, TOP, NOBODY, true },
	/* Ports that the switch does not have, and the entry for none */
	{ 50, PORTS, TOP, TO(4), false },
	{ 50, PORTS + 1, TOP, NOBODY, true },
	{ 50, 254, TOP, NOBODY, true },
	{ 50, VIB_NO_PORT, TOP, NOBODY, true },
};

static void the_linear_table_is_followed(struct kunit *test)
{
	const struct lft_case *c;
	struct fab_spec spec;
	unsigned int i;
	u64 before;

	for (i = 0; i < ARRAY_SIZE(lft_cases); i++) {
		c = &lft_cases[i];
		sw->lft[c->dlid] = c->entry;
		sw->lft_top = c->top;
		before = counted(1, VIB_RCV_SWITCH_RELAY_ERRORS);
		spec = data_to(c->dlid);
		fab_send(fab, fab_port(ca[1], 1), &spec);
		KUNIT_EXPECT_EQ_MSG(test, receivers(test), c->to, "case %u", i);
		KUNIT_EXPECT_EQ_MSG(test, counted(1, VIB_RCV_SWITCH_RELAY_ERRORS) - before,
				    c->error, "case %u", i);
	}
	KUNIT_EXPECT_EQ(test, ca[1]->node->ports[1].tx.credits[0], fab->full);
}

static void smps_are_forwarded_by_lid_as_well(struct kunit *test)
{
	struct fab_spec spec = smp_to(3);
	struct vib_packet *pkt;

	spec.sl = 2;
	fab_send(fab, fab_port(ca[1], 1), &spec);
	pkt = fab_take(fab, ca[3]);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	KUNIT_EXPECT_EQ(test, pkt->vl, VIB_VL_MGMT);
	KUNIT_EXPECT_EQ(test, ib_get_sc(&pkt->hdr), VIB_VL_MGMT);
	KUNIT_EXPECT_EQ(test, vib_packet_sl(pkt), 2);
	KUNIT_EXPECT_EQ(test, vib_packet_dlid(pkt), 3);
	KUNIT_EXPECT_EQ(test, vib_packet_slid(pkt), 1);
	vib_packet_free(pkt);
	KUNIT_EXPECT_EQ(test, receivers(test), NOBODY);
}

static void a_lid_of_port_0_is_for_the_switch(struct kunit *test)
{
	struct fab_spec spec = data_to(50);

	/* By the table, and as its own LID, whatever the table says.  QP 5 it does not have. */
	sw->lft[50] = 0;
	expect_path(test, 1, &spec, NOBODY);
	KUNIT_EXPECT_EQ(test, counted(1, VIB_RCV_ERRORS), 1);
	sw->lft[SW_LID] = 3;
	spec = data_to(SW_LID);
	expect_path(test, 1, &spec, NOBODY);
	KUNIT_EXPECT_EQ(test, counted(1, VIB_RCV_ERRORS), 2);
	KUNIT_EXPECT_EQ(test, counted(1, VIB_RCV_SWITCH_RELAY_ERRORS), 0);
}

/* 4.1.3: LID 0 is nobody's, also while the switch has no LID. */
static void lid_0_is_no_address(struct kunit *test)
{
	struct fab_spec spec = data_to(0);

	sw->node.ports[0].lid = 0;
	expect_path(test, 1, &spec, NOBODY);
	KUNIT_EXPECT_EQ(test, counted(1, VIB_RCV_SWITCH_RELAY_ERRORS), 1);
	KUNIT_EXPECT_EQ(test, counted(1, VIB_RCV_ERRORS), 0);
}

/* 16.1.3.5, PortRcvSwitchRelayErrors: the output port is the input port. */
static void a_packet_does_not_go_back_where_it_came_from(struct kunit *test)
{
	struct fab_spec spec = data_to(1);

	expect_path(test, 1, &spec, NOBODY);
	KUNIT_EXPECT_EQ(test, counted(1, VIB_RCV_SWITCH_RELAY_ERRORS), 1);
	expect_path(test, 2, &spec, TO(1));
}

/* ---- the multicast table ---- */

static void mft_set(struct vib_switch *to, u16 mlid, unsigned int port)
{
	set_bit(port, &to->mft[(mlid - VIB_LID_MCAST) * to->mft_longs]);
}

static void mft_set_ports(u16 mlid, unsigned int ports)
{
	unsigned int i;

	for (i = 0; i <= PORTS; i++) {
		if (ports & TO(i))
			mft_set(sw, mlid, i);
	}
}

struct mft_case {
	u16 mlid;
	unsigned int ports;
	unsigned int to;	/* of a packet that comes in by port 1 */
};

static const struct mft_case mft_cases[] = {
	{ 0xc000, TO(2), TO(2) },
	/* Each other port once, and not the one that it has come by */
	{ 0xc001, TO(1) | TO(2) | TO(3) | TO(4), TO(2) | TO(3) | TO(4) },
	{ 0xc002, TO(1) | TO(4), TO(4) },
	{ 0xc003, TO(1), NOBODY },
	/* Behind port 0 there is no member. */
	{ 0xc005, TO(0), NOBODY },
	{ 0xc006, TO(0) | TO(3), TO(3) },
	{ 0xc3ff, TO(2) | TO(3), TO(2) | TO(3) },
};

static void the_multicast_table_is_followed(struct kunit *test)
{
	const struct mft_case *c;
	struct fab_spec spec;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mft_cases); i++) {
		c = &mft_cases[i];
		mft_set_ports(c->mlid, c->ports);
		spec = data_to(c->mlid);
		expect_path(test, 1, &spec, c->to);
	}
	/* What goes to nobody is not forwarded (16.1.3.5). */
	KUNIT_EXPECT_EQ(test, counted(1, VIB_RCV_SWITCH_RELAY_ERRORS), 2);
	KUNIT_EXPECT_EQ(test, ca[1]->node->ports[1].tx.credits[0], fab->full);
	for (i = 1; i <= PORTS; i++)
		KUNIT_EXPECT_EQ_MSG(test, sw_port(i)->tx.credits[0], fab->full, "port %u", i);
}

static void multicast_lids_without_an_entry(struct kunit *test)
{
	static const u16 mlids[] = { 0xc400, 0xfffe, 0xffff };
	struct fab_spec spec;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mlids); i++) {
		spec = data_to(mlids[i]);
		expect_path(test, 1, &spec, NOBODY);
		KUNIT_EXPECT_EQ(test, counted(1, VIB_RCV_SWITCH_RELAY_ERRORS), i + 1);
	}
}

/* One that the table has room for, and no port */
static void nobody_is_in_an_unknown_group(struct kunit *test)
{
	struct fab_spec spec = data_to(0xc004);

	expect_path(test, 1, &spec, NOBODY);
	KUNIT_EXPECT_EQ(test, counted(1, VIB_RCV_SWITCH_RELAY_ERRORS), 1);
	KUNIT_EXPECT_EQ(test, ca[1]->node->ports[1].tx.credits[0], fab->full);
}

/* 14.2.1 */
static void smps_are_not_multicast(struct kunit *test)
{
	struct fab_spec spec = smp_to(0xc001);

	mft_set_ports(0xc001, TO(2) | TO(3));
	expect_path(test, 1, &spec, NOBODY);
	KUNIT_EXPECT_EQ(test, counted(1, VIB_RCV_SWITCH_RELAY_ERRORS), 1);
}

static void copies_share_what_they_carry(struct kunit *test)
{
	struct fab_spec spec = data_to(0xc001);
	struct vib_packet *two, *three;
	u8 bytes[64];
	unsigned int i;

	mft_set_ports(0xc001, TO(2) | TO(3));
	fab_send(fab, fab_port(ca[1], 1), &spec);
	two = fab_take(fab, ca[2]);
	three = fab_take(fab, ca[3]);
	KUNIT_ASSERT_NOT_NULL(test, two);
	KUNIT_ASSERT_NOT_NULL(test, three);
	KUNIT_EXPECT_PTR_EQ(test, two->payload, three->payload);
	KUNIT_EXPECT_TRUE(test, !memcmp(&two->hdr, &three->hdr, sizeof(two->hdr)));
	/* Each has the credits of its own link. */
	KUNIT_EXPECT_PTR_EQ(test, two->held, &sw_port(2)->tx);
	KUNIT_EXPECT_PTR_EQ(test, three->held, &sw_port(3)->tx);
	vib_packet_free(two);
	KUNIT_EXPECT_TRUE(test, vib_packet_read(three, 0, bytes, sizeof(bytes)));
	for (i = 0; i < sizeof(bytes); i++)
		KUNIT_EXPECT_EQ(test, bytes[i], i);
	vib_packet_free(three);
}

static void without_memory_one_copy_is_lost(struct kunit *test)
{
	struct fab_spec spec = data_to(0xc001);
	struct vib_packet *pkt = fab_packet(test, &spec);

	mft_set_ports(0xc001, TO(2) | TO(3));
#ifdef CONFIG_FAULT_INJECTION
	current->fail_nth = 1;
	vib_port_xmit(fab_port(ca[1], 1), pkt);
	current->fail_nth = 0;
	KUNIT_EXPECT_EQ(test, receivers(test), TO(3));
	KUNIT_EXPECT_EQ(test, counted(2, VIB_XMIT_DISCARDS), 1);
	KUNIT_EXPECT_EQ(test, counted(3, VIB_XMIT_DISCARDS), 0);
#else
	vib_packet_free(pkt);
	kunit_skip(test, "without fault injection");
#endif
}

/* A word of the table has 64 ports. */
static void ports_beyond_the_first_word(struct kunit *test)
{
	static const u8 nums[] = { 63, 64, 100 };
	struct fab_node *big = fab_switch(fab, 100), *at[ARRAY_SIZE(nums)];
	struct fab_node *from = fab_ca(fab, 1);
	unsigned int i;

	fab_link(fab, fab_port(big, 1), fab_port(from, 1));
	for (i = 0; i < ARRAY_SIZE(nums); i++) {
		at[i] = fab_ca(fab, 1);
		fab_link(fab, fab_port(big, nums[i]), fab_port(at[i], 1));
		mft_set(big->sw, 0xc002, nums[i]);
	}
	mft_set(big->sw, 0xc003, 64);
	fab_activate(fab);
	fab_send(fab, fab_port(from, 1), &(struct fab_spec){ .dlid = 0xc002, .slid = 1 });
	for (i = 0; i < ARRAY_SIZE(nums); i++) {
		KUNIT_EXPECT_EQ_MSG(test, fab_count(fab, at[i]), 1, "port %u", nums[i]);
		fab_drop(at[i]);
	}
	fab_send(fab, fab_port(from, 1), &(struct fab_spec){ .dlid = 0xc003, .slid = 1 });
	for (i = 0; i < ARRAY_SIZE(nums); i++)
		KUNIT_EXPECT_EQ_MSG(test, fab_count(fab, at[i]), nums[i] == 64, "port %u",
				    nums[i]);
}

/* ---- P_Keys at the switch's ports ---- */

struct pkey_case {
	u16 entry, pkey;
	bool in, out;		/* passes */
};

/* 10.9.1, 18.2.4.2.1 */
static const struct pkey_case pkey_cases[] = {
	{ 0xffff, 0xffff, true, true }, { 0xffff, 0x7fff, true, true },
	{ 0x7fff, 0xffff, true, true }, { 0xffff, 0x8001, false, false },
	{ 0x8001, 0x8001, true, true }, { 0x8001, 0x0001, true, true },
	{ 0x0001, 0x8001, true, true },
	/* From a limited member, and from one to another */
	{ 0x7fff, 0x7fff, true, false }, { 0x0001, 0x0001, true, false },
	/* No P_Keys */
	{ 0x8000, 0x8000, false, false }, { 0x0000, 0x8000, false, false },
	{ 0x0000, 0x0000, false, false }, { 0x0000, 0xffff, false, false },
};

static void enforce(u8 num, u8 flags)
{
	sw_port(num)->info.operationalvl_pei_peo_fpi_fpo |= flags;
}

/* Port @num enforces, @which counts what it keeps out, of packets from port 1 to port 2. */
static void expect_enforced(struct kunit *test, u8 num, enum vib_counter which)
{
	struct fab_spec spec = data_to(2);
	struct vib_port *port = sw_port(num);
	u64 kept_out = 0;
	unsigned int i;
	bool passes;

	for (i = 0; i < ARRAY_SIZE(pkey_cases); i++) {
		port->pkeys[0] = cpu_to_be16(pkey_cases[i].entry);
		spec.pkey = pkey_cases[i].pkey;
		passes = which == VIB_RCV_CONSTRAINT_ERRORS ? pkey_cases[i].in : pkey_cases[i].out;
		fab_send(fab, fab_port(ca[1], 1), &spec);
		KUNIT_EXPECT_EQ_MSG(test, receivers(test), passes ? TO(2) : NOBODY, "case %u", i);
		kept_out += !passes;
		KUNIT_EXPECT_EQ_MSG(test, counted(num, which), kept_out, "case %u", i);
		KUNIT_EXPECT_EQ_MSG(test, be16_to_cpu(port->info.pkey_violations), kept_out,
				    "case %u", i);
	}
	/* By any entry of the table */
	port->pkeys[0] = 0;
	port->pkeys[7] = cpu_to_be16(0x8005);
	spec.pkey = 5;
	expect_path(test, 1, &spec, TO(2));
	/* QP0 has no P_Key. */
	spec = smp_to(2);
	expect_path(test, 1, &spec, TO(2));
	KUNIT_EXPECT_EQ(test, counted(num, which), kept_out);
	KUNIT_EXPECT_EQ(test, fab_sum(fab, VIB_RCV_SWITCH_RELAY_ERRORS), 0);
}

static void what_comes_in_has_to_have_the_pkey(struct kunit *test)
{
	enforce(1, VIB_PEI);
	expect_enforced(test, 1, VIB_RCV_CONSTRAINT_ERRORS);
	KUNIT_EXPECT_EQ(test, fab_sum(fab, VIB_XMIT_CONSTRAINT_ERRORS), 0);
}

static void what_goes_out_has_to_have_the_pkey(struct kunit *test)
{
	enforce(2, VIB_PEO);
	expect_enforced(test, 2, VIB_XMIT_CONSTRAINT_ERRORS);
	KUNIT_EXPECT_EQ(test, fab_sum(fab, VIB_RCV_CONSTRAINT_ERRORS), 0);
}

static void each_direction_is_enforced_by_itself(struct kunit *test)
{
	struct fab_spec spec = data_to(2);

	spec.pkey = 0x8001;
	/* Nobody asks for it: all pass. */
	expect_path(test, 1, &spec, TO(2));
	enforce(1, VIB_PEO);
	enforce(2, VIB_PEI);
	expect_path(test, 1, &spec, TO(2));
	spec = data_to(1);
	spec.pkey = 0x8001;
	expect_path(test, 3, &spec, NOBODY);
	KUNIT_EXPECT_EQ(test, counted(1, VIB_XMIT_CONSTRAINT_ERRORS), 1);
	KUNIT_EXPECT_EQ(test, counted(3, VIB_RCV_CONSTRAINT_ERRORS), 0);
}

static void a_port_keeps_out_its_copy_alone(struct kunit *test)
{
	struct fab_spec spec = data_to(0xc001);

	spec.pkey = 0x8001;
	mft_set_ports(0xc001, TO(2) | TO(3) | TO(4));
	enforce(3, VIB_PEO);
	expect_path(test, 1, &spec, TO(2) | TO(4));
	enforce(4, VIB_PEO);
	expect_path(test, 1, &spec, TO(2));
	KUNIT_EXPECT_EQ(test, counted(3, VIB_XMIT_CONSTRAINT_ERRORS), 2);
	KUNIT_EXPECT_EQ(test, counted(4, VIB_XMIT_CONSTRAINT_ERRORS), 1);
}

/* ---- trap 259 ---- */

/* Offsets in its details (14.2.5.1) */
#define T259_VALID	0
#define T259_LID1	2
#define T259_LID2	4
#define T259_PKEY	6
#define T259_SL_QP1	8
#define T259_QP2	12
#define T259_GID1	16
#define T259_GID2	32
#define T259_SW_LID	48
#define T259_PORT	50

/* Takes packets of the manager's until one is a Notice with @number. */
static bool take_notice(u16 number, struct ib_mad_notice_attr *notice)
{
	struct vib_packet *pkt;
	struct ib_smp smp;

	while ((pkt = fab_take(fab, ca[MANAGER]))) {
		memset(&smp, 0, sizeof(smp));
		vib_packet_read(pkt, 0, &smp, sizeof(smp));
		vib_packet_free(pkt);
		memcpy(notice, smp.data, sizeof(*notice));
		if (smp.method == IB_MGMT_METHOD_TRAP && smp.attr_id == IB_SMP_ATTR_NOTICE &&
		    be16_to_cpu(notice->trap_num) == number)
			return true;
	}
	return false;
}

static void manage(void)
{
	struct vib_port *port0 = sw_port(0);

	port0->sm_lid = MANAGER;
	/* 4.096 us * 2^18, 1 s: no trap is repeated soon. */
	port0->info.clientrereg_resv_subnetto = 18;
}

static void the_manager_is_told_of_a_wrong_pkey(struct kunit *test)
{
	union ib_gid sgid = { .raw = { 0xfe, 0x80, [15] = 1 } };
	union ib_gid dgid = { .raw = { 0xfe, 0x80, [15] = 2 } };
	struct fab_spec spec = data_to(2);
	struct ib_mad_notice_attr notice;
	const u8 *details = notice.details.raw_data.details;

	manage();
	enforce(1, VIB_PEI);
	spec.pkey = 0x8123;
	spec.sl = 3;
	spec.sgid = &sgid;
	spec.dgid = &dgid;
	fab_send(fab, fab_port(ca[1], 1), &spec);
	KUNIT_ASSERT_TRUE(test, wait_within(take_notice(259, &notice), 5000));
	KUNIT_EXPECT_EQ(test, notice.generic_type, 0x80 | IB_NOTICE_TYPE_SECURITY);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(notice.issuer_lid), SW_LID);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(details + T259_VALID), 0xff);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(details + T259_LID1), 1);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(details + T259_LID2), 2);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(details + T259_PKEY), 0x8123);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(details + T259_SL_QP1), 0x30000006);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(details + T259_QP2), 5);
	KUNIT_EXPECT_TRUE(test, !memcmp(details + T259_GID1, &sgid, 16));
	KUNIT_EXPECT_TRUE(test, !memcmp(details + T259_GID2, &dgid, 16));
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(details + T259_SW_LID), SW_LID);
	KUNIT_EXPECT_EQ(test, details[T259_PORT], 1);
	KUNIT_EXPECT_EQ(test, fab_count(fab, ca[2]), 0);
}

static void the_port_that_keeps_it_out_is_named(struct kunit *test)
{
	struct fab_spec spec = data_to(2);
	struct ib_mad_notice_attr notice;
	const u8 *details = notice.details.raw_data.details;

	manage();
	enforce(2, VIB_PEO);
	spec.pkey = 0x8123;
	fab_send(fab, fab_port(ca[1], 1), &spec);
	KUNIT_ASSERT_TRUE(test, wait_within(take_notice(259, &notice), 5000));
	KUNIT_EXPECT_EQ(test, details[T259_PORT], 2);
	/* Without a GRH there are no GIDs. */
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(details + T259_VALID), 0x3f);
}

/* ---- VLs ---- */

static u8 *sl_table(u8 in, u8 out)
{
	return sw->sl_to_vl[in * (PORTS + 1) + out];
}

static void expect_vl(struct kunit *test, u8 from, u8 sl, u8 vl)
{
	struct fab_spec spec = data_to(2);
	struct vib_packet *pkt;

	spec.sl = sl;
	fab_send(fab, fab_port(ca[from], 1), &spec);
	pkt = fab_take(fab, ca[2]);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	KUNIT_EXPECT_EQ_MSG(test, pkt->vl, vl, "from %u, SL %u", from, sl);
	KUNIT_EXPECT_EQ_MSG(test, ib_get_sc(&pkt->hdr), vl, "from %u, SL %u", from, sl);
	KUNIT_EXPECT_EQ_MSG(test, vib_packet_sl(pkt), sl, "from %u, SL %u", from, sl);
	vib_packet_free(pkt);
}

static void the_vl_is_of_the_sl_and_both_ports(struct kunit *test)
{
	unsigned int sl;

	for (sl = 0; sl < 16; sl++) {
		sl_table(1, 2)[sl] = (sl + 3) % FAB_VLS;
		sl_table(3, 2)[sl] = 7 - sl / 2;
		/* The other way is another table. */
		sl_table(2, 1)[sl] = VIB_VL_MGMT;
	}
	for (sl = 0; sl < 16; sl++) {
		expect_vl(test, 1, sl, (sl + 3) % FAB_VLS);
		expect_vl(test, 3, sl, 7 - sl / 2);
	}
}

/* 7.6.6: data that would leave by VL15 does not leave; of a VL not in use neither. */
static void lanes_that_data_may_not_take(struct kunit *test)
{
	struct fab_spec spec = data_to(2);

	spec.sl = 5;
	sl_table(1, 2)[5] = VIB_VL_MGMT;
	expect_path(test, 1, &spec, NOBODY);
	KUNIT_EXPECT_EQ(test, counted(1, VIB_RCV_SWITCH_RELAY_ERRORS), 1);
	sl_table(1, 2)[5] = 4;
	expect_path(test, 1, &spec, TO(2));
	sw_port(2)->op_vls = 4;
	expect_path(test, 1, &spec, NOBODY);
	KUNIT_EXPECT_EQ(test, counted(2, VIB_XMIT_DISCARDS), 1);
	KUNIT_EXPECT_EQ(test, counted(1, VIB_RCV_SWITCH_RELAY_ERRORS), 1);
	/* An SMP has the VL that it has. */
	spec = smp_to(2);
	spec.sl = 5;
	sl_table(1, 2)[5] = 0;
	expect_path(test, 1, &spec, TO(2));
}

/* ---- what the input port is ready for ---- */

/* 7.2.7.3: in Init a port takes SMPs and nothing else. */
static void a_port_in_init_takes_no_data(struct kunit *test)
{
	struct fab_spec spec = data_to(2);

	sw_port(1)->state = IB_PORT_INIT;
	expect_path(test, 1, &spec, NOBODY);
	KUNIT_EXPECT_EQ(test, sw_port(1)->state, IB_PORT_INIT);
	spec = smp_to(2);
	expect_path(test, 1, &spec, TO(2));
}

static void a_port_that_is_armed_takes_data(struct kunit *test)
{
	struct fab_spec spec = data_to(2);

	sw_port(1)->state = IB_PORT_ARMED;
	expect_path(test, 1, &spec, TO(2));
	KUNIT_EXPECT_EQ(test, sw_port(1)->state, IB_PORT_ACTIVE);
	/* That it goes out by an armed port does not make that one active. */
	sw_port(2)->state = IB_PORT_ARMED;
	expect_path(test, 1, &spec, NOBODY);
	KUNIT_EXPECT_EQ(test, sw_port(2)->state, IB_PORT_ARMED);
	KUNIT_EXPECT_EQ(test, counted(2, VIB_XMIT_DISCARDS), 1);
}

/* ---- loops ---- */

#define RING	3

/* In a ring whose tables lead round and round, a packet ends after VIB_MAX_HOPS links. */
static void a_loop_comes_to_an_end(struct kunit *test)
{
	struct fab_node *ring[RING], *from = fab_ca(fab, 1);
	u64 before, discards;
	unsigned int i;

	for (i = 0; i < RING; i++) {
		ring[i] = fab_switch(fab, 3);
		ring[i]->sw->lft[9] = 2;
	}
	for (i = 0; i < RING; i++)
		fab_link(fab, fab_port(ring[i], 2), fab_port(ring[(i + 1) % RING], 1));
	fab_link(fab, fab_port(from, 1), fab_port(ring[0], 3));
	fab_activate(fab);
	before = fab_sum(fab, VIB_XMIT_PKTS);
	discards = fab_sum(fab, VIB_XMIT_DISCARDS);
	fab_send(fab, fab_port(from, 1), &(struct fab_spec){ .dlid = 9, .slid = 1 });
	KUNIT_EXPECT_TRUE(test, wait_within(fab_sum(fab, VIB_XMIT_DISCARDS) > discards, 5000));
	fab_wait_idle(fab);
	KUNIT_EXPECT_EQ(test, fab_sum(fab, VIB_XMIT_DISCARDS), discards + 1);
	KUNIT_EXPECT_EQ(test, fab_sum(fab, VIB_XMIT_PKTS), before + VIB_MAX_HOPS);
	for (i = 0; i < RING; i++)
		KUNIT_EXPECT_EQ_MSG(test, fab_port(ring[i], 2)->tx.credits[0], fab->full,
				    "switch %u", i);
}

static struct kunit_case forward_cases[] = {
	KUNIT_CASE(the_linear_table_is_followed),
	KUNIT_CASE(smps_are_forwarded_by_lid_as_well),
	KUNIT_CASE(a_lid_of_port_0_is_for_the_switch),
	KUNIT_CASE(lid_0_is_no_address),
	KUNIT_CASE(a_packet_does_not_go_back_where_it_came_from),
	KUNIT_CASE(the_multicast_table_is_followed),
	KUNIT_CASE(multicast_lids_without_an_entry),
	KUNIT_CASE(nobody_is_in_an_unknown_group),
	KUNIT_CASE(smps_are_not_multicast),
	KUNIT_CASE(copies_share_what_they_carry),
	KUNIT_CASE(without_memory_one_copy_is_lost),
	KUNIT_CASE(ports_beyond_the_first_word),
	KUNIT_CASE(what_comes_in_has_to_have_the_pkey),
	KUNIT_CASE(what_goes_out_has_to_have_the_pkey),
	KUNIT_CASE(each_direction_is_enforced_by_itself),
	KUNIT_CASE(a_port_keeps_out_its_copy_alone),
	KUNIT_CASE(the_manager_is_told_of_a_wrong_pkey),
	KUNIT_CASE(the_port_that_keeps_it_out_is_named),
	KUNIT_CASE(the_vl_is_of_the_sl_and_both_ports),
	KUNIT_CASE(lanes_that_data_may_not_take),
	KUNIT_CASE(a_port_in_init_takes_no_data),
	KUNIT_CASE(a_port_that_is_armed_takes_data),
	KUNIT_CASE(a_loop_comes_to_an_end),
	{}
};

static struct kunit_suite forward_suite = {
	.name = "vib_forward",
	.init = forward_test_init,
	.test_cases = forward_cases,
};

kunit_test_suite(forward_suite);
