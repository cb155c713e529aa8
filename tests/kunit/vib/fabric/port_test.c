// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Ports: states, what each of them lets through, leaving LinkUp, P_Keys (IBA vol. 1, 7.2.7). */
#include "fabric_net.h"
#include "wait.h"

#define DOWN	IB_PORT_DOWN
#define INIT	IB_PORT_INIT
#define ARMED	IB_PORT_ARMED
#define ACTIVE	IB_PORT_ACTIVE
#define POLLING	IB_PORT_PHYS_STATE_POLLING
#define OFF	IB_PORT_PHYS_STATE_DISABLED
#define LINKUP	IB_PORT_PHYS_STATE_LINK_UP

static struct fab *fab;
static struct fab_node *a, *b;
static struct vib_port *pa, *pb;
static struct vib_link *link;

static int port_test_init(struct kunit *test)
{
	fab = fab_new(test);
	a = fab_ca(fab, 1);
	b = fab_ca(fab, 1);
	pa = fab_port(a, 1);
	pb = fab_port(b, 1);
	link = fab_link(fab, pa, pb);
	return 0;
}

static void expect_port(struct kunit *test, const struct vib_port *port, u8 state, u8 phys)
{
	KUNIT_EXPECT_EQ_MSG(test, READ_ONCE(port->state), state, "%s", port->node->name);
	KUNIT_EXPECT_EQ_MSG(test, READ_ONCE(port->phys_state), phys, "%s", port->node->name);
}

static void send_data(struct vib_port *port)
{
	fab_send(fab, port, &(struct fab_spec){ .dlid = 2, .slid = 1, .len = 64 });
}

static void send_smp(struct vib_port *port)
{
	fab_send(fab, port, &(struct fab_spec){
		.vl = VIB_VL_MGMT, .dlid = VIB_LID_PERMISSIVE, .slid = VIB_LID_PERMISSIVE,
		.len = 256,
	});
}

/* ---- the states that a manager sets ---- */

/* 14.2.5.6: by the present state, and the one that is asked for; 0 is the NOP of PortInfo. */
static const bool legal[ACTIVE + 1][ACTIVE + 1] = {
	[DOWN]		= { [DOWN] = true },
	[INIT]		= { [INIT] = true, [ARMED] = true },
	[ARMED]		= { [ARMED] = true, [ACTIVE] = true },
	[ACTIVE]	= { [ACTIVE] = true },
};

static void states_follow_one_another(struct kunit *test)
{
	u8 from, to, after;
	unsigned int events;
	int ret;

	for (from = DOWN; from <= ACTIVE; from++) {
		for (to = 0; to <= ACTIVE + 1; to++) {
			pa->state = from;
			events = a->events[IB_EVENT_PORT_ACTIVE];
			ret = vib_port_set_state(pa, to);
			after = pa->state;
			if (to <= ACTIVE && legal[from][to]) {
				KUNIT_EXPECT_EQ_MSG(test, ret, 0, "%u to %u", from, to);
				KUNIT_EXPECT_EQ_MSG(test, after, to, "%u to %u", from, to);
			} else {
				KUNIT_EXPECT_EQ_MSG(test, ret, -EINVAL, "%u to %u", from, to);
				KUNIT_EXPECT_EQ_MSG(test, after, from, "%u to %u", from, to);
			}
			events = a->events[IB_EVENT_PORT_ACTIVE] - events;
			KUNIT_EXPECT_EQ_MSG(test, events, from == ARMED && to == ACTIVE,
					    "%u to %u", from, to);
		}
	}
	pa->state = INIT;
	KUNIT_EXPECT_EQ(test, vib_port_counter(pa, VIB_LINK_DOWNED), 0);
}

static void physical_states_that_may_be_set(struct kunit *test)
{
	unsigned int phys;

	for (phys = 0; phys < 16; phys++) {
		if (phys >= IB_PORT_PHYS_STATE_SLEEP && phys <= OFF)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, vib_port_set_phys(pa, phys), -EINVAL, "%u", phys);
		fab_wait_idle(fab);
		expect_port(test, pa, INIT, LINKUP);
	}
	for (phys = IB_PORT_PHYS_STATE_SLEEP; phys <= OFF; phys++) {
		KUNIT_EXPECT_EQ_MSG(test, vib_port_set_phys(pa, phys), 0, "%u", phys);
		/* At once, but for a link that may be back already. */
		if (phys != POLLING)
			expect_port(test, pa, DOWN, phys);
		fab_wait_idle(fab);
		expect_port(test, pa, phys == POLLING ? INIT : DOWN,
			    phys == POLLING ? LINKUP : phys);
	}
}

/* ---- what passes in each state ---- */

struct pass_case {
	u8 state;
	bool smp, data;
};

static const struct pass_case pass_cases[] = {
	{ DOWN, false, false },
	{ INIT, true, false },
	{ ARMED, true, false },
	{ ACTIVE, true, true },
};

static void each_state_lets_its_packets_through(struct kunit *test)
{
	const struct pass_case *c;
	unsigned int i;

	pb->state = ACTIVE;
	for (i = 0; i < ARRAY_SIZE(pass_cases); i++) {
		c = &pass_cases[i];
		pa->state = c->state;
		send_smp(pa);
		KUNIT_EXPECT_EQ_MSG(test, fab_count(fab, b), c->smp, "state %u", c->state);
		fab_drop(b);
		send_data(pa);
		KUNIT_EXPECT_EQ_MSG(test, fab_count(fab, b), c->data, "state %u", c->state);
		fab_drop(b);
	}
}

/* 7.2.7.4 */
static void data_makes_an_armed_port_active(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, vib_port_set_state(pa, ARMED), 0);
	KUNIT_ASSERT_EQ(test, vib_port_set_state(pa, ACTIVE), 0);
	KUNIT_ASSERT_EQ(test, vib_port_set_state(pb, ARMED), 0);
	send_smp(pa);
	expect_port(test, pb, ARMED, LINKUP);
	KUNIT_EXPECT_EQ(test, b->events[IB_EVENT_PORT_ACTIVE], 0);
	send_data(pa);
	expect_port(test, pb, ACTIVE, LINKUP);
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), 2);
	send_data(pa);
	KUNIT_EXPECT_EQ(test, b->events[IB_EVENT_PORT_ACTIVE], 1);
}

static void data_does_not_move_other_states(struct kunit *test)
{
	pa->state = ACTIVE;
	send_data(pa);
	expect_port(test, pb, INIT, LINKUP);
	pb->state = DOWN;
	send_data(pa);
	expect_port(test, pb, DOWN, LINKUP);
	pb->state = INIT;
	KUNIT_EXPECT_EQ(test, b->events[IB_EVENT_PORT_ACTIVE], 0);
	fab_drop(b);
}

/* ---- leaving LinkUp after the response ---- */

/* Has the work of @port, and what the link makes of it, run if it is due now. */
static void leave_if_due(struct vib_port *port)
{
	if (!timer_pending(&port->leave.timer))
		flush_delayed_work(&port->leave);
	fab_wait_idle(fab);
}

static void a_port_leaves_after_its_next_smp(struct kunit *test)
{
	vib_port_leave(pa, OFF);
	leave_if_due(pa);
	expect_port(test, pa, INIT, LINKUP);
	KUNIT_EXPECT_TRUE(test, timer_pending(&pa->leave.timer));
	send_smp(pa);
	leave_if_due(pa);
	/* It has arrived before the link went. */
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), 1);
	expect_port(test, pa, DOWN, OFF);
	expect_port(test, pb, DOWN, POLLING);
}

static void neither_data_nor_the_neighbours_smps_count(struct kunit *test)
{
	fab_activate(fab);
	vib_port_leave(pa, OFF);
	send_data(pa);
	send_smp(pb);
	leave_if_due(pa);
	expect_port(test, pa, ACTIVE, LINKUP);
	KUNIT_EXPECT_TRUE(test, timer_pending(&pa->leave.timer));
}

/* A response that never comes, or goes by another port: after 100 ms. */
static void a_port_leaves_without_an_smp_too(struct kunit *test)
{
	vib_port_leave(pa, POLLING);
	KUNIT_EXPECT_TRUE(test, wait_within(vib_port_counter(pa, VIB_LINK_DOWNED) == 1, 5000));
	leave_if_due(pa);
	expect_port(test, pa, INIT, LINKUP);
	expect_port(test, pb, INIT, LINKUP);
	KUNIT_EXPECT_EQ(test, b->downs, 1);
	/* Once: the SMPs of the new link are free. */
	send_smp(pa);
	leave_if_due(pa);
	KUNIT_EXPECT_EQ(test, b->downs, 1);
}

static void the_last_that_was_asked_for_counts(struct kunit *test)
{
	vib_port_leave(pa, POLLING);
	vib_port_leave(pa, OFF);
	send_smp(pa);
	leave_if_due(pa);
	expect_port(test, pa, DOWN, OFF);
	KUNIT_EXPECT_EQ(test, vib_port_counter(pa, VIB_LINK_DOWNED), 1);
}

/* The link that was to be left has gone by itself: the next one is not meant. */
static void a_new_link_is_not_left_for_the_one_before(struct kunit *test)
{
	vib_port_leave(pa, POLLING);
	fab_cut(fab, link, true);
	fab_cut(fab, link, false);
	expect_port(test, pa, INIT, LINKUP);
	send_smp(pa);
	leave_if_due(pa);
	KUNIT_EXPECT_EQ(test, vib_port_counter(pa, VIB_LINK_DOWNED), 1);
	KUNIT_EXPECT_EQ(test, b->downs, 1);
}

static void a_node_goes_before_its_port_leaves(struct kunit *test)
{
	vib_port_leave(pa, OFF);
	fab_remove(a);
	KUNIT_EXPECT_TRUE(test, fab_released(a));
	expect_port(test, pb, DOWN, POLLING);
	KUNIT_EXPECT_EQ(test, b->downs, 1);
}

/* ---- P_Keys ---- */

struct pkey_case {
	u16 pkey;
	int index;
};

/* 10.9.1: bit 15 tells full members from limited ones, which do not talk to each other. */
static const u16 table[] = { 0xffff, 0x0001, 0x8002, 0x0003, 0x8003, 0x8000, 0x0000, 0x8001 };

static const struct pkey_case pkey_cases[] = {
	{ 0xffff, 0 }, { 0x7fff, 0 },
	{ 0x8002, 2 }, { 0x0002, 2 },
	/* Limited at 1 and full at 7, limited at 3 and full at 4 */
	{ 0x8001, 1 }, { 0x0001, 7 }, { 0x8003, 3 }, { 0x0003, 4 },
	/* No member, and no P_Key at all, also if the table has it */
	{ 0x8004, -1 }, { 0x0004, -1 }, { 0xfffe, -1 }, { 0x8000, -1 }, { 0x0000, -1 },
};

static void a_pkey_matches_by_membership(struct kunit *test)
{
	unsigned int i;

	KUNIT_ASSERT_EQ(test, a->node->pkeys, ARRAY_SIZE(table));
	for (i = 0; i < ARRAY_SIZE(table); i++)
		pa->pkeys[i] = cpu_to_be16(table[i]);
	for (i = 0; i < ARRAY_SIZE(pkey_cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, vib_port_find_pkey(pa, pkey_cases[i].pkey),
				    pkey_cases[i].index, "P_Key %x", pkey_cases[i].pkey);
}

/* ---- what a port is at first ---- */

struct vl_case {
	u8 asked, vls, cap;
};

/* VLCap: 1, 2, 4, 8 or 15 data VLs */
static const struct vl_case vl_cases[] = {
	{ 0, 4, 3 }, { 1, 1, 1 }, { 2, 2, 2 }, { 3, 4, 3 }, { 4, 4, 3 }, { 5, 8, 4 },
	{ 8, 8, 4 }, { 9, 15, 5 }, { 15, 15, 5 },
};

static struct vib_node *node_of(struct kunit *test, const struct vib_node_attr *attr, u8 type)
{
	struct vib_node *node = kunit_kzalloc(test, sizeof(*node), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, node);
	KUNIT_ASSERT_EQ(test, vib_node_init(node, type, &a->ops, attr), 0);
	return node;
}

static void a_port_has_at_least_the_lanes_asked_for(struct kunit *test)
{
	struct vib_node_attr attr = { .name = "x", .num_ports = 1 };
	struct vib_node *node;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(vl_cases); i++) {
		attr.data_vls = vl_cases[i].asked;
		node = node_of(test, &attr, RDMA_NODE_IB_CA);
		KUNIT_EXPECT_EQ_MSG(test, node->ports[1].op_vls, vl_cases[i].vls, "case %u", i);
		KUNIT_EXPECT_EQ_MSG(test, node->ports[1].info.vlcap_inittype >> 4,
				    vl_cases[i].cap, "case %u", i);
		vib_node_cleanup(node);
	}
}

static void ports_have_guids_and_the_default_partition(struct kunit *test)
{
	struct vib_node_attr attr = {
		.name = "x", .num_ports = 2, .guid = cpu_to_be64(0x1000), .mtu = IB_MTU_1024,
	};
	struct vib_node *node = node_of(test, &attr, RDMA_NODE_IB_CA);

	KUNIT_EXPECT_EQ(test, be64_to_cpu(node->ports[1].guids[0]), 0x1001);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(node->ports[2].guids[0]), 0x1002);
	KUNIT_EXPECT_EQ(test, node->ports[2].num, 2);
	KUNIT_EXPECT_EQ(test, node->ports[2].state, DOWN);
	KUNIT_EXPECT_EQ(test, node->ports[2].mtu, IB_MTU_1024);
	KUNIT_EXPECT_EQ(test, vib_port_find_pkey(&node->ports[2], 0x7fff), 0);
	vib_node_cleanup(node);
	/* All of a switch's ports have the switch's GUID; port 0 is there at once (18.2.4.1). */
	node = node_of(test, &attr, RDMA_NODE_IB_SWITCH);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(node->ports[0].guids[0]), 0x1000);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(node->ports[2].guids[0]), 0x1000);
	KUNIT_EXPECT_EQ(test, node->ports[0].state, ACTIVE);
	KUNIT_EXPECT_EQ(test, node->ports[1].state, DOWN);
	vib_node_cleanup(node);
}

static const struct vib_node_attr bad_attrs[] = {
	{ .name = "x", .num_ports = 0 },
	{ .name = "x", .num_ports = 255 },
	{ .name = "x", .num_ports = 1, .data_vls = 16 },
	{ .name = "x", .num_ports = 1, .mtu = IB_MTU_4096 + 1 },
};

static void nodes_that_cannot_be_are_refused(struct kunit *test)
{
	struct vib_node *node = kunit_kzalloc(test, sizeof(*node), GFP_KERNEL);
	struct vib_switch *sw;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, node);
	for (i = 0; i < ARRAY_SIZE(bad_attrs); i++) {
		KUNIT_EXPECT_EQ_MSG(test, vib_node_init(node, RDMA_NODE_IB_CA, &a->ops,
							&bad_attrs[i]), -EINVAL, "case %u", i);
		sw = vib_switch_create(&bad_attrs[i]);
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(sw), -EINVAL, "case %u", i);
	}
}

static struct kunit_case port_cases[] = {
	KUNIT_CASE(states_follow_one_another),
	KUNIT_CASE(physical_states_that_may_be_set),
	KUNIT_CASE(each_state_lets_its_packets_through),
	KUNIT_CASE(data_makes_an_armed_port_active),
	KUNIT_CASE(data_does_not_move_other_states),
	KUNIT_CASE(a_port_leaves_after_its_next_smp),
	KUNIT_CASE(neither_data_nor_the_neighbours_smps_count),
	KUNIT_CASE(a_port_leaves_without_an_smp_too),
	KUNIT_CASE(the_last_that_was_asked_for_counts),
	KUNIT_CASE(a_new_link_is_not_left_for_the_one_before),
	KUNIT_CASE(a_node_goes_before_its_port_leaves),
	KUNIT_CASE(a_pkey_matches_by_membership),
	KUNIT_CASE(a_port_has_at_least_the_lanes_asked_for),
	KUNIT_CASE(ports_have_guids_and_the_default_partition),
	KUNIT_CASE(nodes_that_cannot_be_are_refused),
	{}
};

static struct kunit_suite port_suite = {
	.name = "vib_port",
	.init = port_test_init,
	.test_cases = port_cases,
};

kunit_test_suite(port_suite);
