// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Links: how they come up and go down, and both ports with them (IBA vol. 1, 7.2, 14.2.5.6). */
#include "fabric_net.h"

#define DOWN	IB_PORT_DOWN
#define INIT	IB_PORT_INIT
#define SLEEP	IB_PORT_PHYS_STATE_SLEEP
#define POLLING	IB_PORT_PHYS_STATE_POLLING
#define OFF	IB_PORT_PHYS_STATE_DISABLED
#define LINKUP	IB_PORT_PHYS_STATE_LINK_UP

static struct fab *fab;
static struct fab_node *a, *b;
static struct vib_port *pa, *pb;	/* a:1, b:1 */

static int link_test_init(struct kunit *test)
{
	fab = fab_new(test);
	a = fab_ca(fab, 2);
	b = fab_ca(fab, 2);
	pa = fab_port(a, 1);
	pb = fab_port(b, 1);
	return 0;
}

static void expect_port(struct kunit *test, const struct vib_port *port, u8 state, u8 phys)
{
	KUNIT_EXPECT_EQ_MSG(test, port->state, state, "%s:%u", port->node->name, port->num);
	KUNIT_EXPECT_EQ_MSG(test, port->phys_state, phys, "%s:%u", port->node->name, port->num);
}

static void expect_joined(struct kunit *test, struct vib_port *one, struct vib_port *other)
{
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(one->peer), other);
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(other->peer), one);
}

/* Has no peer, and sends nothing: what it is given is discarded. */
static void expect_alone(struct kunit *test, struct vib_port *port)
{
	u64 before = vib_port_counter(port, VIB_XMIT_PKTS);

	KUNIT_EXPECT_NULL(test, rcu_access_pointer(port->peer));
	fab_send(fab, port, &(struct fab_spec){ .dlid = 2, .slid = 1 });
	KUNIT_EXPECT_EQ(test, vib_port_counter(port, VIB_XMIT_PKTS), before);
	KUNIT_EXPECT_EQ(test, port->tx.total, 0);
}

static u64 downs(const struct vib_port *port)
{
	return vib_port_counter(port, VIB_LINK_DOWNED);
}

/* As a subnet manager, or the port's own host, has it. */
static void set_phys(struct kunit *test, struct vib_port *port, u8 state)
{
	KUNIT_EXPECT_EQ(test, vib_port_set_phys(port, state), 0);
	fab_wait_idle(fab);
}

/* ---- up ---- */

static void a_link_brings_both_ends_to_init(struct kunit *test)
{
	expect_port(test, pa, DOWN, POLLING);
	expect_alone(test, pa);
	fab_link(fab, pa, pb);
	expect_port(test, pa, INIT, LINKUP);
	expect_port(test, pb, INIT, LINKUP);
	expect_joined(test, pa, pb);
	/* The other ports have nothing to do with it. */
	expect_port(test, fab_port(a, 2), DOWN, POLLING);
	KUNIT_EXPECT_EQ(test, a->ups, 1);
	KUNIT_EXPECT_EQ(test, b->ups, 1);
	KUNIT_EXPECT_EQ(test, a->downs + b->downs, 0);
	KUNIT_EXPECT_EQ(test, a->events[IB_EVENT_PORT_ERR], 0);
	KUNIT_EXPECT_EQ(test, a->events[IB_EVENT_PORT_ACTIVE], 0);
	KUNIT_EXPECT_EQ(test, downs(pa) + downs(pb), 0);
}

static void a_port_has_one_link(struct kunit *test)
{
	struct fab_node *sw = fab_switch(fab, 1);
	struct vib_link *link = fab_cable(fab);

	KUNIT_EXPECT_EQ(test, fab_plug(fab, link, pa, pa), -EINVAL);
	KUNIT_EXPECT_EQ(test, fab_plug(fab, link, fab_port(sw, 0), pa), -EINVAL);
	KUNIT_EXPECT_EQ(test, fab_plug(fab, link, pa, fab_port(sw, 0)), -EINVAL);
	fab_link(fab, pa, pb);
	KUNIT_EXPECT_EQ(test, fab_plug(fab, link, pa, fab_port(sw, 1)), -EBUSY);
	KUNIT_EXPECT_EQ(test, fab_plug(fab, link, fab_port(sw, 1), pb), -EBUSY);
	KUNIT_EXPECT_EQ(test, fab_plug(fab, link, pa, pb), -EBUSY);
	/* Nothing has become of what was refused. */
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(fab_port(sw, 1)->link));
	expect_port(test, fab_port(sw, 1), DOWN, POLLING);
	expect_joined(test, pa, pb);
	KUNIT_EXPECT_EQ(test, fab_plug(fab, link, fab_port(sw, 1), fab_port(a, 2)), 0);
	expect_joined(test, fab_port(sw, 1), fab_port(a, 2));
}

static void two_ports_of_one_node_are_joined(struct kunit *test)
{
	fab_link(fab, pa, fab_port(a, 2));
	expect_joined(test, pa, fab_port(a, 2));
	KUNIT_EXPECT_EQ(test, a->ups, 2);
	fab_activate(fab);
	fab_send(fab, pa, &(struct fab_spec){ .dlid = 2, .slid = 1, .psn = 7 });
	KUNIT_EXPECT_EQ(test, fab_take_psn(fab, a), 7);
	fab_remove(a);
	KUNIT_EXPECT_TRUE(test, fab_released(a));
}

struct common_case {
	u8 a, b;	/* enabled */
	u8 active;	/* 0: they have nothing in common */
};

/* 14.2.5.6: the widths 1X, 4X; the speeds 2.5, 5 and 10 Gb/s */
static const struct common_case widths[] = {
	{ 3, 3, 2 }, { 1, 3, 1 }, { 3, 1, 1 }, { 2, 3, 2 }, { 1, 1, 1 },
};

static const struct common_case speeds[] = {
	{ 7, 7, 4 }, { 3, 7, 2 }, { 7, 1, 1 }, { 5, 3, 1 }, { 6, 3, 2 },
};

static void retrain(struct kunit *test)
{
	set_phys(test, pa, POLLING);
	expect_port(test, pa, INIT, LINKUP);
}

static void the_best_that_both_can_becomes_active(struct kunit *test)
{
	unsigned int i;

	fab_link(fab, pa, pb);
	for (i = 0; i < ARRAY_SIZE(widths); i++) {
		pa->info.link_width_enabled = widths[i].a;
		pb->info.link_width_enabled = widths[i].b;
		retrain(test);
		KUNIT_EXPECT_EQ_MSG(test, pa->info.link_width_active, widths[i].active,
				    "width %u", i);
		KUNIT_EXPECT_EQ_MSG(test, pb->info.link_width_active, widths[i].active,
				    "width %u", i);
	}
	for (i = 0; i < ARRAY_SIZE(speeds); i++) {
		pa->info.linkspeedactive_enabled = speeds[i].a;
		pb->info.linkspeedactive_enabled = speeds[i].b;
		retrain(test);
		KUNIT_EXPECT_EQ_MSG(test, pa->info.linkspeedactive_enabled,
				    speeds[i].active << 4 | speeds[i].a, "speed %u", i);
		KUNIT_EXPECT_EQ_MSG(test, pb->info.linkspeedactive_enabled,
				    speeds[i].active << 4 | speeds[i].b, "speed %u", i);
	}
}

/* An active width or speed of none is no value that PortInfo has. */
static void ports_with_nothing_in_common_stay_down(struct kunit *test)
{
	struct vib_link *link = fab_cable(fab);

	pa->info.link_width_enabled = 1;
	pb->info.link_width_enabled = 2;
	KUNIT_EXPECT_EQ(test, fab_plug(fab, link, pa, pb), 0);
	expect_port(test, pa, DOWN, POLLING);
	expect_port(test, pb, DOWN, POLLING);
	pb->info.link_width_enabled = 3;
	pb->info.linkspeedactive_enabled = 4;
	pa->info.linkspeedactive_enabled = 3;
	set_phys(test, pa, POLLING);
	expect_port(test, pa, DOWN, POLLING);
	pb->info.linkspeedactive_enabled = 7;
	set_phys(test, pb, POLLING);
	expect_port(test, pa, INIT, LINKUP);
}

/* ---- down, and up again ---- */

static void a_cable_is_pulled_and_pushed_in(struct kunit *test)
{
	struct vib_link *link = fab_link(fab, pa, pb);

	fab_activate(fab);
	fab_cut(fab, link, true);
	expect_port(test, pa, DOWN, POLLING);
	expect_port(test, pb, DOWN, POLLING);
	expect_alone(test, pa);
	expect_alone(test, pb);
	KUNIT_EXPECT_EQ(test, a->downs, 1);
	KUNIT_EXPECT_EQ(test, b->downs, 1);
	KUNIT_EXPECT_EQ(test, a->events[IB_EVENT_PORT_ERR], 1);
	KUNIT_EXPECT_EQ(test, b->events[IB_EVENT_PORT_ERR], 1);
	/* Once more is no change. */
	fab_cut(fab, link, true);
	KUNIT_EXPECT_EQ(test, a->downs, 1);
	fab_cut(fab, link, false);
	/* Not Active: the manager has to come first. */
	expect_port(test, pa, INIT, LINKUP);
	expect_port(test, pb, INIT, LINKUP);
	expect_joined(test, pa, pb);
	KUNIT_EXPECT_EQ(test, a->ups, 2);
	KUNIT_EXPECT_EQ(test, a->events[IB_EVENT_PORT_ERR], 1);
	fab_cut(fab, link, false);
	KUNIT_EXPECT_EQ(test, a->ups, 2);
}

static void a_cut_cable_may_be_plugged_in(struct kunit *test)
{
	struct vib_link *link = fab_cable(fab);

	fab_cut(fab, link, true);
	KUNIT_EXPECT_EQ(test, fab_plug(fab, link, pa, pb), 0);
	expect_port(test, pa, DOWN, POLLING);
	KUNIT_EXPECT_EQ(test, a->ups + a->downs, 0);
	fab_cut(fab, link, false);
	expect_port(test, pa, INIT, LINKUP);
}

static void an_unplugged_port_takes_another_link(struct kunit *test)
{
	struct vib_link *link = fab_link(fab, pa, pb);

	vib_link_unplug(link);
	expect_port(test, pa, DOWN, POLLING);
	expect_port(test, pb, DOWN, POLLING);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(pa->link));
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(pb->link));
	KUNIT_EXPECT_TRUE(test, list_empty(&fab->fabric.links));
	expect_alone(test, pa);
	/* Of a link that is not plugged in this is nothing. */
	vib_link_unplug(link);
	set_phys(test, pa, POLLING);
	expect_port(test, pa, DOWN, POLLING);
	KUNIT_EXPECT_EQ(test, fab_plug(fab, link, pa, fab_port(b, 2)), 0);
	expect_joined(test, pa, fab_port(b, 2));
	expect_port(test, pb, DOWN, POLLING);
}

static void a_port_that_goes_down_takes_its_neighbour(struct kunit *test)
{
	fab_link(fab, pa, pb);
	fab_activate(fab);
	set_phys(test, pa, OFF);
	expect_port(test, pa, DOWN, OFF);
	expect_port(test, pb, DOWN, POLLING);
	expect_alone(test, pb);
	KUNIT_EXPECT_EQ(test, b->events[IB_EVENT_PORT_ERR], 1);
	KUNIT_EXPECT_EQ(test, b->downs, 1);
	/* The neighbour alone does not bring it back. */
	set_phys(test, pb, POLLING);
	expect_port(test, pa, DOWN, OFF);
	expect_port(test, pb, DOWN, POLLING);
	set_phys(test, pa, POLLING);
	expect_port(test, pa, INIT, LINKUP);
	expect_port(test, pb, INIT, LINKUP);
	expect_joined(test, pa, pb);
}

static void polling_takes_a_link_through_down(struct kunit *test)
{
	fab_link(fab, pa, pb);
	fab_activate(fab);
	set_phys(test, pb, POLLING);
	expect_port(test, pa, INIT, LINKUP);
	expect_port(test, pb, INIT, LINKUP);
	KUNIT_EXPECT_EQ(test, a->downs, 1);
	KUNIT_EXPECT_EQ(test, a->ups, 2);
	KUNIT_EXPECT_EQ(test, b->downs, 1);
	KUNIT_EXPECT_EQ(test, b->ups, 2);
}

/* LinkDownDefaultState is where a port goes when its neighbour has gone. */
static void a_neighbour_goes_where_it_was_told_to(struct kunit *test)
{
	fab_link(fab, pa, pb);
	pb->info.portphysstate_linkdown = SLEEP;
	set_phys(test, pa, POLLING);
	expect_port(test, pa, DOWN, POLLING);
	expect_port(test, pb, DOWN, SLEEP);
	set_phys(test, pb, POLLING);
	expect_port(test, pa, INIT, LINKUP);
	expect_port(test, pb, INIT, LINKUP);
}

static void downs_are_counted_once(struct kunit *test)
{
	struct vib_link *link = fab_link(fab, pa, pb);

	fab_cut(fab, link, true);
	KUNIT_EXPECT_EQ(test, downs(pa), 1);
	KUNIT_EXPECT_EQ(test, downs(pb), 1);
	/* What is down does not go down. */
	set_phys(test, pa, OFF);
	set_phys(test, pa, POLLING);
	KUNIT_EXPECT_EQ(test, downs(pa), 1);
	fab_cut(fab, link, false);
	KUNIT_EXPECT_EQ(test, downs(pa), 1);
	set_phys(test, pa, OFF);
	KUNIT_EXPECT_EQ(test, downs(pa), 2);
	KUNIT_EXPECT_EQ(test, downs(pb), 2);
	set_phys(test, pa, POLLING);
	vib_link_unplug(link);
	KUNIT_EXPECT_EQ(test, downs(pa), 3);
	KUNIT_EXPECT_EQ(test, downs(pb), 3);
	KUNIT_EXPECT_EQ(test, a->events[IB_EVENT_PORT_ERR], 3);
	KUNIT_EXPECT_EQ(test, b->events[IB_EVENT_PORT_ERR], 3);
}

/* 14.2.5.4: PortStateChange is set by a link that comes up or goes down. */
static void a_switch_notes_what_its_links_do(struct kunit *test)
{
	struct fab_node *sw = fab_switch(fab, 2);
	struct vib_link *link;

	KUNIT_EXPECT_FALSE(test, sw->sw->port_changed);
	link = fab_link(fab, pa, fab_port(sw, 2));
	KUNIT_EXPECT_TRUE(test, sw->sw->port_changed);
	sw->sw->port_changed = false;
	fab_activate(fab);
	KUNIT_EXPECT_FALSE(test, sw->sw->port_changed);
	fab_cut(fab, link, true);
	KUNIT_EXPECT_TRUE(test, sw->sw->port_changed);
	/* Port 0 is there all the time. */
	expect_port(test, fab_port(sw, 0), IB_PORT_ACTIVE, LINKUP);
}

/* What a port was told between the link's look at it and its coming up. */
static void a_port_disabled_while_its_link_trains_stays_down(struct kunit *test)
{
	struct vib_link *link = fab_cable(fab);

	set_phys(test, pa, OFF);
	KUNIT_EXPECT_FALSE(test, vib_port_link_up(pa, pb));
	expect_port(test, pa, DOWN, OFF);
	set_phys(test, pa, POLLING);
	/* The link takes the second end for one that trains, and it does not any more. */
	WRITE_ONCE(pb->phys_state, LINKUP);
	KUNIT_EXPECT_EQ(test, fab_plug(fab, link, pa, pb), 0);
	expect_port(test, pa, DOWN, POLLING);
	expect_port(test, pb, DOWN, LINKUP);
	expect_alone(test, pa);
	KUNIT_EXPECT_EQ(test, a->ups + a->downs, 0);
	KUNIT_EXPECT_EQ(test, downs(pa), 0);
	set_phys(test, pb, POLLING);
	expect_port(test, pa, INIT, LINKUP);
	expect_joined(test, pa, pb);
}

/* ---- nodes that come and go ---- */

static void a_node_takes_its_links_with_it(struct kunit *test)
{
	struct vib_link *one = fab_link(fab, pa, pb);
	struct vib_link *two = fab_link(fab, fab_port(a, 2), fab_port(b, 2));

	fab_activate(fab);
	fab_remove(a);
	KUNIT_EXPECT_TRUE(test, fab_released(a));
	expect_port(test, pb, DOWN, POLLING);
	expect_port(test, fab_port(b, 2), DOWN, POLLING);
	expect_alone(test, pb);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(pb->link));
	KUNIT_EXPECT_EQ(test, b->downs, 2);
	KUNIT_EXPECT_EQ(test, b->events[IB_EVENT_PORT_ERR], 2);
	KUNIT_EXPECT_EQ(test, downs(pb), 1);
	KUNIT_EXPECT_TRUE(test, list_empty(&fab->fabric.links));
	/* Their owner still has them: he may pull the cables, and use them again. */
	fab_cut(fab, one, true);
	fab_cut(fab, one, false);
	vib_link_unplug(one);
	KUNIT_EXPECT_EQ(test, fab_plug(fab, two, pb, fab_port(b, 2)), 0);
	expect_joined(test, pb, fab_port(b, 2));
}

static void links_of_others_stay(struct kunit *test)
{
	struct fab_node *c = fab_ca(fab, 1);

	fab_link(fab, pa, pb);
	fab_link(fab, fab_port(b, 2), fab_port(c, 1));
	fab_remove(a);
	expect_port(test, fab_port(b, 2), INIT, LINKUP);
	expect_joined(test, fab_port(b, 2), fab_port(c, 1));
	KUNIT_EXPECT_EQ(test, c->downs, 0);
	KUNIT_EXPECT_EQ(test, b->downs, 1);
}

/* Reports a port made before it was removed may still be on their way to the link. */
static void a_node_is_removed_while_its_link_trains(struct kunit *test)
{
	struct vib_link *link = fab_link(fab, pa, pb);

	vib_port_set_phys(pa, OFF);
	vib_link_cut(link, true);
	fab_remove(a);
	fab_wait_idle(fab);
	KUNIT_EXPECT_TRUE(test, fab_released(a));
	expect_port(test, pb, DOWN, POLLING);
}

static void node_refused(struct kunit *test, const char *name, __be64 guid)
{
	struct vib_node_attr attr = { .name = name, .num_ports = 1, .guid = guid };
	struct vib_node *node = kunit_kzalloc(test, sizeof(*node), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, node);
	KUNIT_ASSERT_EQ(test, vib_node_init(node, RDMA_NODE_IB_CA, &a->ops, &attr), 0);
	KUNIT_EXPECT_EQ(test, vib_node_add(&fab->fabric, node), -EEXIST);
	vib_node_cleanup(node);
}

static void names_and_guids_are_a_nodes_own(struct kunit *test)
{
	node_refused(test, b->node->name, cpu_to_be64(77));
	node_refused(test, "other", a->node->guid);
	mutex_lock(&fab->fabric.lock);
	KUNIT_EXPECT_PTR_EQ(test, vib_fabric_find(&fab->fabric, b->node->name), b->node);
	KUNIT_EXPECT_NULL(test, vib_fabric_find(&fab->fabric, "other"));
	KUNIT_EXPECT_NULL(test, vib_fabric_find(&fab->fabric, ""));
	KUNIT_EXPECT_EQ(test, list_count_nodes(&fab->fabric.nodes), 2);
	mutex_unlock(&fab->fabric.lock);
}

static struct kunit_case link_cases[] = {
	KUNIT_CASE(a_link_brings_both_ends_to_init),
	KUNIT_CASE(a_port_has_one_link),
	KUNIT_CASE(two_ports_of_one_node_are_joined),
	KUNIT_CASE(the_best_that_both_can_becomes_active),
	KUNIT_CASE(ports_with_nothing_in_common_stay_down),
	KUNIT_CASE(a_cable_is_pulled_and_pushed_in),
	KUNIT_CASE(a_cut_cable_may_be_plugged_in),
	KUNIT_CASE(an_unplugged_port_takes_another_link),
	KUNIT_CASE(a_port_that_goes_down_takes_its_neighbour),
	KUNIT_CASE(polling_takes_a_link_through_down),
	KUNIT_CASE(a_neighbour_goes_where_it_was_told_to),
	KUNIT_CASE(downs_are_counted_once),
	KUNIT_CASE(a_switch_notes_what_its_links_do),
	KUNIT_CASE(a_port_disabled_while_its_link_trains_stays_down),
	KUNIT_CASE(a_node_takes_its_links_with_it),
	KUNIT_CASE(links_of_others_stay),
	KUNIT_CASE(a_node_is_removed_while_its_link_trains),
	KUNIT_CASE(names_and_guids_are_a_nodes_own),
	{}
};

static struct kunit_suite link_suite = {
	.name = "vib_link",
	.init = link_test_init,
	.test_cases = link_cases,
};

kunit_test_suite(link_suite);
