// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Random packets at a switch: those for others are forwarded, those for port 0 answered, or a
 * counter has them.
 *
 *	a, LID 1 --- 1 sw, LID 10 2 --- b, LID 2
 *			 3 --- c, LID 3
 */
#include <rdma/ib_pma.h>
#include "../fabric/fabric_net.h"
#include "../mgmt/mgmt_node.h"
#include "fuzz.h"

#define PORTS		3
#define SW_LID		10
#define MLID		0xc001
#define BATCH		64	/* after so many the switch is as it was */

static struct fab *fab;
static struct fab_node *swn, *ca[PORTS + 1];	/* ca[N] is at port N, and has LID N */
static struct fuzz fuzz;
static struct ib_mad mad;
static struct vib_port_saved {
	struct ib_port_info info;
	u8 mtu, op_vls;
} saved[PORTS + 1];

static struct vib_port *sw_port(unsigned int num)
{
	return fab_port(swn, num);
}

static int switch_fuzz_init(struct kunit *test)
{
	unsigned int i;

	fab = fab_new(test);
	swn = fab_switch(fab, PORTS);
	for (i = 1; i <= PORTS; i++) {
		ca[i] = fab_ca(fab, 1);
		fab_link(fab, sw_port(i), fab_port(ca[i], 1));
	}
	fab_activate(fab);
	for (i = 0; i <= PORTS; i++) {
		saved[i].info = sw_port(i)->info;
		saved[i].mtu = sw_port(i)->mtu;
		saved[i].op_vls = sw_port(i)->op_vls;
	}
	return 0;
}

/* ---- the switch as a manager sets it up, whatever SMPs have made of it ---- */

static void port_mend(unsigned int num)
{
	struct vib_port *port = sw_port(num);

	spin_lock_bh(&port->lock);
	port->info = saved[num].info;
	port->mtu = saved[num].mtu;
	port->op_vls = saved[num].op_vls;
	port->lid = num ? 0 : SW_LID;
	port->lmc = 0;
	port->sm_lid = 0;
	memset(port->pkeys, 0, port->node->pkeys * sizeof(*port->pkeys));
	port->pkeys[0] = cpu_to_be16(0xffff);
	/* Some partitions are enforced, some not. */
	if (num == 2)
		port->info.operationalvl_pei_peo_fpi_fpo |= VIB_PEI | VIB_PEO;
	spin_unlock_bh(&port->lock);
	if (num && (port->state != IB_PORT_ACTIVE ||
		    port->phys_state != IB_PORT_PHYS_STATE_LINK_UP)) {
		vib_port_set_phys(port, IB_PORT_PHYS_STATE_POLLING);
		fab_wait_idle(fab);
	}
}

static void switch_mend(void)
{
	struct vib_switch *sw = swn->sw;
	unsigned int i;

	/* What ports were told to do after the next SMP, they do now. */
	for (i = 1; i <= PORTS; i++)
		flush_delayed_work(&sw_port(i)->leave);
	fab_wait_idle(fab);
	for (i = 0; i <= PORTS; i++)
		port_mend(i);
	fab_activate(fab);
	memset(sw->lft, VIB_NO_PORT, VIB_LID_MCAST);
	for (i = 1; i <= PORTS; i++)
		sw->lft[i] = i;
	sw->lft_top = VIB_LID_MCAST - 1;
	bitmap_zero(sw->mft, VIB_MFT_SIZE * sw->mft_longs * BITS_PER_LONG);
	sw->mft[(MLID - VIB_LID_MCAST) * sw->mft_longs] = BIT(1) | BIT(2) | BIT(3);
	for (i = 0; i < (PORTS + 1) * (PORTS + 1) * 16; i++)
		sw->sl_to_vl[i / 16][i % 16] = i % FAB_VLS;
}

static void ca_drop_all(void)
{
	unsigned int i;

	for (i = 1; i <= PORTS; i++)
		fab_drop(ca[i]);
}

/* ---- what becomes of a packet ---- */

/* Sent on or answered, or counted as dropped. */
static u64 accounted(void)
{
	static const enum vib_counter counters[] = {
		VIB_XMIT_PKTS, VIB_XMIT_DISCARDS, VIB_XMIT_CONSTRAINT_ERRORS,
		VIB_RCV_CONSTRAINT_ERRORS, VIB_RCV_ERRORS, VIB_RCV_DISCARDS,
		VIB_RCV_SWITCH_RELAY_ERRORS, VIB_VL15_DROPPED,
	};
	u64 sum = vib_port_counter(fab_port(ca[1], 1), VIB_XMIT_DISCARDS);
	struct vib_port *port;
	unsigned int i, num;

	for (num = 0; num <= PORTS; num++) {
		port = sw_port(num);
		for (i = 0; i < ARRAY_SIZE(counters); i++)
			sum += vib_port_counter(port, counters[i]);
		sum += be16_to_cpu(port->info.mkey_violations) +
		       be16_to_cpu(port->info.pkey_violations) +
		       be16_to_cpu(port->info.qkey_violations);
	}
	return sum;
}

/* A TrapRepress is taken in without an answer. */
static bool is_repress(const struct vib_packet *pkt)
{
	struct ib_mad_hdr hdr;

	return vib_packet_read(pkt, 0, &hdr, sizeof(hdr)) &&
	       hdr.method == IB_MGMT_METHOD_TRAP_REPRESS;
}

static void arrive(struct vib_packet *pkt)
{
	bool repress = is_repress(pkt);
	u64 before = accounted();

	fuzz_send(&fuzz, pkt);
	/* A violation's counter may be one that the SMP has set. */
	fuzz_expect(&fuzz, repress || accounted() != before,
		    "neither forwarded, answered nor counted");
	if (fuzz.n % BATCH)
		return;
	ca_drop_all();
	switch_mend();
}

static struct fab_spec data(void)
{
	static const u16 dlids[] = { 1, 2, 3, 7, 0, SW_LID, MLID, MLID + 1, 0xfffe };

	return (struct fab_spec){
		.vl = fuzz_below(&fuzz, FAB_VLS),
		.sl = fuzz_below(&fuzz, 16),
		.dlid = fuzz_below(&fuzz, 2) ? 2 + fuzz_below(&fuzz, 2) :
			dlids[fuzz_below(&fuzz, ARRAY_SIZE(dlids))],
		.slid = 1,
		.pkey = fuzz_below(&fuzz, 4) ? 0xffff : fuzz_edge(&fuzz),
		.dqp = 2 + fuzz_below(&fuzz, 100),
		.qkey = 5,
		.len = fuzz_below(&fuzz, 300),
	};
}

/* Any attribute that an SMA has, with any modifier. */
static struct fab_spec smp(void)
{
	static const __be16 attrs[] = {
		IB_SMP_ATTR_NODE_DESC, IB_SMP_ATTR_NODE_INFO, IB_SMP_ATTR_SWITCH_INFO,
		IB_SMP_ATTR_GUID_INFO, IB_SMP_ATTR_PORT_INFO, IB_SMP_ATTR_PKEY_TABLE,
		IB_SMP_ATTR_SL_TO_VL_TABLE, IB_SMP_ATTR_VL_ARB_TABLE,
		IB_SMP_ATTR_LINEAR_FORWARD_TABLE, IB_SMP_ATTR_MCAST_FORWARD_TABLE,
		IB_SMP_ATTR_LED_INFO, IB_SMP_ATTR_SM_INFO, IB_SMP_ATTR_NOTICE,
	};
	static const u8 methods[] = {
		IB_MGMT_METHOD_GET, IB_MGMT_METHOD_GET, IB_MGMT_METHOD_SET,
		IB_MGMT_METHOD_SET, IB_MGMT_METHOD_GET_RESP, IB_MGMT_METHOD_TRAP,
		IB_MGMT_METHOD_TRAP_REPRESS,
	};
	struct ib_smp *s = (struct ib_smp *)&mad;
	bool directed = fuzz_below(&fuzz, 2);

	mgmt_smp(s, methods[fuzz_below(&fuzz, ARRAY_SIZE(methods))],
		 attrs[fuzz_below(&fuzz, ARRAY_SIZE(attrs))],
		 fuzz_below(&fuzz, 2) ? fuzz_below(&fuzz, PORTS + 2) : fuzz_edge(&fuzz));
	if (fuzz_below(&fuzz, 2))
		prandom_bytes_state(&fuzz.rnd, s->data, sizeof(s->data));
	if (directed) {
		s->mgmt_class = IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
		s->hop_cnt = fuzz_below(&fuzz, 4) ? fuzz_below(&fuzz, 4) : fuzz_edge(&fuzz);
		s->hop_ptr = fuzz_below(&fuzz, 4) ? 1 : fuzz_edge(&fuzz);
		s->dr_slid = fuzz_below(&fuzz, 8) ? IB_LID_PERMISSIVE : cpu_to_be16(1);
		s->dr_dlid = fuzz_below(&fuzz, 8) ? IB_LID_PERMISSIVE : cpu_to_be16(2);
		memset(s->initial_path, fuzz_below(&fuzz, PORTS + 2), sizeof(s->initial_path));
		if (!fuzz_below(&fuzz, 4))
			s->status |= IB_SMP_DIRECTION;
	}
	return (struct fab_spec){
		.vl = VIB_VL_MGMT,
		.dlid = directed ? VIB_LID_PERMISSIVE : SW_LID,
		.slid = directed ? VIB_LID_PERMISSIVE : 1,
		.pkey = 0xffff,
		.mad = &mad,
	};
}

static struct fab_spec gmp(void)
{
	static const __be16 attrs[] = {
		IB_PMA_CLASS_PORT_INFO, IB_PMA_PORT_COUNTERS, IB_PMA_PORT_COUNTERS_EXT,
		IB_PMA_PORT_SAMPLES_CONTROL,
	};

	memset(&mad, 0, sizeof(mad));
	mad.mad_hdr.base_version = IB_MGMT_BASE_VERSION;
	mad.mad_hdr.mgmt_class = fuzz_below(&fuzz, 8) ? IB_MGMT_CLASS_PERF_MGMT :
				 fuzz_edge(&fuzz);
	mad.mad_hdr.class_version = 1;
	mad.mad_hdr.method = 1 + fuzz_below(&fuzz, 3);
	mad.mad_hdr.attr_id = attrs[fuzz_below(&fuzz, ARRAY_SIZE(attrs))];
	mad.data[offsetof(struct ib_pma_mad, data) - sizeof(mad.mad_hdr) + 1] =
		fuzz_below(&fuzz, 2) ? fuzz_below(&fuzz, PORTS + 2) : 255;
	return (struct fab_spec){
		.dlid = SW_LID, .slid = 1, .pkey = 0xffff, .dqp = 1, .sqp = 1,
		.qkey = IB_QP1_QKEY, .mad = &mad,
	};
}

static void run(struct kunit *test, struct fab_spec (*make)(void))
{
	struct vib_packet *pkt;
	struct fab_spec spec;
	unsigned int i;

	switch_mend();
	fuzz_begin(&fuzz, test, fab_port(ca[1], 1));
	while (fuzz_next(&fuzz)) {
		if (make) {
			spec = make();
			pkt = fab_packet(test, &spec);
			fuzz_change(&fuzz, pkt);
		} else {
			pkt = fuzz_random(&fuzz, fuzz_below(&fuzz, 2) ? SW_LID : 2);
		}
		arrive(pkt);
	}
	ca_drop_all();
	switch_mend();
	fuzz_end(&fuzz);
	for (i = 1; i <= PORTS; i++)
		KUNIT_EXPECT_EQ_MSG(test, sw_port(i)->tx.credits[0], fab->full, "port %u", i);
	/* It works as before. */
	spec = (struct fab_spec){ .dlid = 3, .slid = 1, .pkey = 0xffff, .psn = 77 };
	fab_send(fab, fab_port(ca[1], 1), &spec);
	KUNIT_EXPECT_EQ(test, fab_take_psn(fab, ca[3]), 77);
}

static void random_packets_to_be_forwarded(struct kunit *test)
{
	run(test, data);
}

static void random_smps_for_port_0(struct kunit *test)
{
	run(test, smp);
}

static void random_gmps_for_port_0(struct kunit *test)
{
	run(test, gmp);
}

static void bytes_without_sense(struct kunit *test)
{
	run(test, NULL);
}

static struct kunit_case switch_fuzz_cases[] = {
	KUNIT_CASE_SLOW(random_packets_to_be_forwarded),
	KUNIT_CASE_SLOW(random_smps_for_port_0),
	KUNIT_CASE_SLOW(random_gmps_for_port_0),
	KUNIT_CASE_SLOW(bytes_without_sense),
	{}
};

static struct kunit_suite vib_fuzz_switch_suite = {
	.name = "vib_fuzz_switch",
	.init = switch_fuzz_init,
	.test_cases = switch_fuzz_cases,
};

kunit_test_suite(vib_fuzz_switch_suite);
