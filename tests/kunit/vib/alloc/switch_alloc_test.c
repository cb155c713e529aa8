// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a switch, a link with faults, or a port that has a trap to send has no memory for: it is
 * lost, and counted.
 *
 *	a, LID 1 --- 1 sw, LID 10 2 --- b, LID 2
 *			 3 --- c, LID 3
 */
#include <linux/sched.h>
#include <rdma/ib_pma.h>
#include "../fabric/fabric_net.h"
#include "../mgmt/mgmt_node.h"
#include "mgmt/state.h"

#define PORTS	3
#define SW_LID	10
#define MLID	0xc001

static struct fab *fab;
static struct fab_node *swn, *ca[PORTS + 1];
static struct vib_link *link_to_b;
static struct vib_port *in;
static struct ib_mad mad;

static int switch_alloc_init(struct kunit *test)
{
	struct vib_link *link;
	unsigned int i;

	fab = fab_new(test);
	swn = fab_switch(fab, PORTS);
	for (i = 1; i <= PORTS; i++) {
		ca[i] = fab_ca(fab, 1);
		link = fab_link(fab, fab_port(swn, i), fab_port(ca[i], 1));
		if (i == 2)
			link_to_b = link;
		swn->sw->lft[i] = i;
	}
	in = fab_port(swn, 1);
	fab_port(swn, 0)->lid = SW_LID;
	swn->sw->mft[(MLID - VIB_LID_MCAST) * swn->sw->mft_longs] = BIT(1) | BIT(2) | BIT(3);
	fab_activate(fab);
	return 0;
}

/* Sends a packet of @spec from a, with the @nth allocation on its way failing. */
static void send_without(struct kunit *test, const struct fab_spec *spec, unsigned int nth)
{
	struct vib_packet *pkt = fab_packet(test, spec);
	unsigned int left;

	local_bh_disable();
	current->fail_nth = nth;
	vib_port_xmit(fab_port(ca[1], 1), pkt);
	left = current->fail_nth;
	current->fail_nth = 0;
	local_bh_enable();
	KUNIT_EXPECT_EQ_MSG(test, left, 0, "there was no such allocation");
}

static u64 counted(unsigned int port, enum vib_counter which)
{
	return vib_port_counter(fab_port(swn, port), which);
}

static void a_copy_for_a_port(struct kunit *test)
{
	struct fab_spec spec = { .dlid = MLID, .slid = 1, .pkey = 0xffff, .len = 30 };

	send_without(test, &spec, 1);
	KUNIT_EXPECT_EQ(test, fab_count(fab, ca[2]) + fab_count(fab, ca[3]), 1);
	KUNIT_EXPECT_EQ(test, counted(2, VIB_XMIT_DISCARDS) + counted(3, VIB_XMIT_DISCARDS), 1);
	fab_drop(ca[2]);
	fab_drop(ca[3]);
}

static struct fab_spec smp(void)
{
	mgmt_smp((struct ib_smp *)&mad, IB_MGMT_METHOD_GET, IB_SMP_ATTR_NODE_INFO, 0);
	return (struct fab_spec){
		.vl = VIB_VL_MGMT, .dlid = SW_LID, .slid = 1, .pkey = 0xffff, .mad = &mad,
	};
}

static struct fab_spec directed(void)
{
	struct fab_spec spec = smp();
	struct ib_smp *s = (struct ib_smp *)&mad;

	s->mgmt_class = IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
	s->hop_cnt = 1;
	s->hop_ptr = 1;
	s->dr_slid = IB_LID_PERMISSIVE;
	s->dr_dlid = IB_LID_PERMISSIVE;
	spec.dlid = VIB_LID_PERMISSIVE;
	spec.slid = VIB_LID_PERMISSIVE;
	return spec;
}

static struct fab_spec gmp(void)
{
	memset(&mad, 0, sizeof(mad));
	mad.mad_hdr.base_version = IB_MGMT_BASE_VERSION;
	mad.mad_hdr.mgmt_class = IB_MGMT_CLASS_PERF_MGMT;
	mad.mad_hdr.class_version = 1;
	mad.mad_hdr.method = IB_MGMT_METHOD_GET;
	mad.mad_hdr.attr_id = IB_PMA_CLASS_PORT_INFO;
	return (struct fab_spec){
		.dlid = SW_LID, .slid = 1, .pkey = 0xffff, .dqp = 1, .sqp = 1,
		.qkey = IB_QP1_QKEY, .mad = &mad,
	};
}

static void an_answer(struct kunit *test)
{
	struct fab_spec spec = smp();

	send_without(test, &spec, 1);
	KUNIT_EXPECT_EQ(test, counted(1, VIB_VL15_DROPPED), 1);
	spec = directed();
	send_without(test, &spec, 1);
	KUNIT_EXPECT_EQ(test, counted(1, VIB_VL15_DROPPED), 2);
	spec = gmp();
	send_without(test, &spec, 1);
	KUNIT_EXPECT_EQ(test, counted(1, VIB_RCV_ERRORS), 1);
	KUNIT_EXPECT_EQ(test, fab_count(fab, ca[1]), 0);
	fab_send(fab, fab_port(ca[1], 1), &spec);
	KUNIT_EXPECT_EQ(test, fab_count(fab, ca[1]), 1);
	fab_drop(ca[1]);
}

/* A MAD in memory that the switch may not write to is copied first. */
static void a_mad_of_its_own(struct kunit *test)
{
	struct fab_spec spec = smp();
	struct vib_packet *pkt = fab_packet(test, &spec), *other;
	unsigned int left;

	other = vib_packet_clone(pkt, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, other);
	rcu_read_lock_bh();
	current->fail_nth = 1;
	in->node->ops->receive(in, pkt);
	left = current->fail_nth;
	current->fail_nth = 0;
	rcu_read_unlock_bh();
	KUNIT_EXPECT_EQ(test, left, 0);
	vib_packet_free(other);
	KUNIT_EXPECT_EQ(test, counted(1, VIB_VL15_DROPPED), 1);
	KUNIT_EXPECT_EQ(test, fab_count(fab, ca[1]), 0);
}

/* It is due again after an interval, as if it were lost on its way. */
static void a_trap(struct kunit *test)
{
	struct vib_port *port0 = fab_port(swn, 0);
	struct delayed_work *work = &port0->mgmt->trap_work;
	unsigned int nth, left, lost = 0;

	disable_delayed_work_sync(work);
	port0->sm_lid = 2;
	for (nth = 1, left = 0; !left; nth++) {
		vib_trap_link_state(swn->node);
		/* As if the interval since the last one were over. */
		port0->mgmt->traps[0].next = 0;
		current->fail_nth = nth;
		work->work.func(&work->work);
		left = current->fail_nth;
		current->fail_nth = 0;
		lost += !fab_count(fab, ca[2]);
		fab_drop(ca[2]);
		KUNIT_EXPECT_EQ(test, counted(0, VIB_XMIT_DISCARDS), lost);
		KUNIT_EXPECT_GT(test, port0->mgmt->traps[0].left, 0);
	}
	/* The MAD, and the packet */
	KUNIT_EXPECT_EQ(test, lost, 2);
	enable_delayed_work(work);
}

/* One that could not be made has not struck. */
static void a_duplicate(struct kunit *test)
{
	struct fab_spec spec = { .dlid = 2, .slid = 1, .pkey = 0xffff, .len = 30 };

	KUNIT_ASSERT_EQ(test, vib_fault_set_rate(&link_to_b->fault, VIB_FAULT_DUP, VIB_FAULT_ALL),
			0);
	send_without(test, &spec, 1);
	KUNIT_EXPECT_EQ(test, fab_count(fab, ca[2]), 1);
	KUNIT_EXPECT_EQ(test, vib_fault_struck(&link_to_b->fault, VIB_FAULT_DUP), 0);
	fab_drop(ca[2]);
}

static struct kunit_case switch_alloc_cases[] = {
	KUNIT_CASE(a_copy_for_a_port),
	KUNIT_CASE(an_answer),
	KUNIT_CASE(a_mad_of_its_own),
	KUNIT_CASE(a_trap),
	KUNIT_CASE(a_duplicate),
	{}
};

static struct kunit_suite vib_alloc_switch_suite = {
	.name = "vib_alloc_switch",
	.init = switch_alloc_init,
	.test_cases = switch_alloc_cases,
};

kunit_test_suite(vib_alloc_switch_suite);
