// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The subnet management agent: attributes and M_Keys (IBA vol. 1, 14.2.4, 14.2.5). */
#include "mgmt_node.h"
#include "wait.h"

static struct ib_smp smp, out;

#define GET	IB_MGMT_METHOD_GET
#define SET	IB_MGMT_METHOD_SET

/* MAD status: a value, or a combination of method and attribute, that is not supported */
#define BAD_VALUE	0x1c
#define BAD_ATTR	0xc

static int get(struct vib_port *port, __be16 attr, u32 mod)
{
	mgmt_smp(&smp, GET, attr, mod);
	return mgmt_sma(port, &smp, &out);
}

/* A Set of what out holds, which the caller has got and changed. */
static int set(struct vib_port *port, __be16 attr, u32 mod)
{
	mgmt_smp(&smp, SET, attr, mod);
	memcpy(smp.data, out.data, sizeof(smp.data));
	return mgmt_sma(port, &smp, &out);
}

static struct ib_port_info *port_info(struct kunit *test, struct vib_port *port, u32 mod)
{
	KUNIT_EXPECT_EQ(test, get(port, IB_SMP_ATTR_PORT_INFO, mod), 0);
	return (struct ib_port_info *)out.data;
}

/* ---- the node ---- */

static void an_adapter_says_what_it_is(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 2);
	struct ib_node_info *info = (void *)out.data;

	KUNIT_EXPECT_EQ(test, get(&mn->node.ports[2], IB_SMP_ATTR_NODE_INFO, 0), 0);
	KUNIT_EXPECT_EQ(test, out.method, IB_MGMT_METHOD_GET_RESP);
	KUNIT_EXPECT_EQ(test, info->base_version, 1);
	KUNIT_EXPECT_EQ(test, info->class_version, 1);
	KUNIT_EXPECT_EQ(test, info->node_type, 1);
	KUNIT_EXPECT_EQ(test, info->num_ports, 2);
	KUNIT_EXPECT_EQ(test, info->local_port_num, 2);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(info->node_guid), 0x0200000000001000);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(info->port_guid), 0x0200000000001002);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(info->partition_cap), 40);
}

static void a_switch_says_what_it_is(struct kunit *test)
{
	struct vib_switch *sw = mgmt_switch_new(test, 4);
	struct ib_node_info *info = (void *)out.data;

	KUNIT_EXPECT_EQ(test, get(&sw->node.ports[3], IB_SMP_ATTR_NODE_INFO, 0), 0);
	KUNIT_EXPECT_EQ(test, info->node_type, 2);
	KUNIT_EXPECT_EQ(test, info->num_ports, 4);
	KUNIT_EXPECT_EQ(test, info->local_port_num, 3);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(info->port_guid), 0x0200000000002000);
	KUNIT_EXPECT_EQ(test, get(&sw->node.ports[3], IB_SMP_ATTR_NODE_DESC, 0), 0);
	KUNIT_EXPECT_STREQ(test, (char *)out.data, "sw");
}

static void a_directed_route_turns_back(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);

	mgmt_smp(&smp, GET, IB_SMP_ATTR_NODE_INFO, 0);
	smp.mgmt_class = IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
	smp.hop_cnt = 3;
	smp.hop_ptr = 4;
	smp.return_path[3] = 1;
	KUNIT_EXPECT_EQ(test, mgmt_sma(&mn->node.ports[1], &smp, &out), 0x8000);
	KUNIT_EXPECT_EQ(test, out.hop_ptr, 4);
	KUNIT_EXPECT_EQ(test, out.return_path[3], 1);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(out.tid), 0x1234);
}

static void what_it_does_not_have(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_switch *sw = mgmt_switch_new(test, 1);
	struct vib_port *port = &mn->node.ports[1];

	KUNIT_EXPECT_EQ(test, get(port, IB_SMP_ATTR_SWITCH_INFO, 0), BAD_ATTR);
	KUNIT_EXPECT_EQ(test, get(port, IB_SMP_ATTR_LINEAR_FORWARD_TABLE, 0), BAD_ATTR);
	KUNIT_EXPECT_EQ(test, get(&sw->node.ports[1], IB_SMP_ATTR_RANDOM_FORWARD_TABLE, 0),
			BAD_ATTR);
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_NODE_INFO, 0), BAD_ATTR);
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_NODE_DESC, 0), BAD_ATTR);
	mgmt_smp(&smp, GET, IB_SMP_ATTR_NODE_INFO, 0);
	smp.class_version = 2;
	KUNIT_EXPECT_EQ(test, mgmt_sma(port, &smp, &out), 0x4);
}

static void what_is_left_to_the_host(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = &mn->node.ports[1];

	mgmt_smp(&smp, GET, IB_SMP_ATTR_SM_INFO, 0);
	KUNIT_EXPECT_EQ(test, vib_sma_handle(port, &smp, &out), VIB_MAD_HOST);
	mgmt_smp(&smp, IB_MGMT_METHOD_GET_RESP, IB_SMP_ATTR_NODE_INFO, 0);
	KUNIT_EXPECT_EQ(test, vib_sma_handle(port, &smp, &out), VIB_MAD_HOST);
	mgmt_smp(&smp, IB_MGMT_METHOD_TRAP, IB_SMP_ATTR_NOTICE, 0);
	KUNIT_EXPECT_EQ(test, vib_sma_handle(port, &smp, &out), VIB_MAD_HOST);
}

/* ---- PortInfo ---- */

static void the_modifier_names_a_port(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 2);
	struct vib_switch *sw = mgmt_switch_new(test, 2);

	mn->node.ports[1].lid = 11;
	mn->node.ports[2].lid = 12;
	KUNIT_EXPECT_EQ(test, be16_to_cpu(port_info(test, &mn->node.ports[1], 0)->lid), 11);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(port_info(test, &mn->node.ports[1], 2)->lid), 12);
	KUNIT_EXPECT_EQ(test, port_info(test, &mn->node.ports[1], 2)->local_port_num, 1);
	KUNIT_EXPECT_EQ(test, get(&mn->node.ports[1], IB_SMP_ATTR_PORT_INFO, 3), BAD_VALUE);
	sw->node.ports[0].lid = 13;
	KUNIT_EXPECT_EQ(test, be16_to_cpu(port_info(test, &sw->node.ports[2], 0)->lid), 13);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(port_info(test, &sw->node.ports[2], 2)->lid), 0);
	KUNIT_EXPECT_EQ(test, get(&sw->node.ports[2], IB_SMP_ATTR_PORT_INFO, 3), BAD_VALUE);
}

static void port_info_shows_the_port(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = &mn->node.ports[1];
	struct ib_port_info *info;

	port->state = IB_PORT_ARMED;
	port->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	port->lmc = 2;
	port->sm_lid = 0x21;
	port->sm_sl = 6;
	port->mtu = IB_MTU_2048;
	port->op_vls = 8;
	port->info.cap_mask = cpu_to_be32(IB_PORT_SM);
	info = port_info(test, port, 1);
	KUNIT_EXPECT_EQ(test, info->linkspeed_portstate & 0xf, 3);
	KUNIT_EXPECT_EQ(test, info->portphysstate_linkdown, 5 << 4 | 2);
	KUNIT_EXPECT_EQ(test, info->mkeyprot_resv_lmc, 2);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(info->sm_lid), 0x21);
	KUNIT_EXPECT_EQ(test, info->neighbormtu_mastersmsl, 4 << 4 | 6);
	KUNIT_EXPECT_EQ(test, info->operationalvl_pei_peo_fpi_fpo, 4 << 4);
	KUNIT_EXPECT_TRUE(test, be32_to_cpu(info->cap_mask) & IB_PORT_SM);
	KUNIT_EXPECT_TRUE(test, be32_to_cpu(info->cap_mask) & IB_PORT_TRAP_SUP);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(info->gid_prefix), 0xfe80000000000000);
	KUNIT_EXPECT_EQ(test, info->guid_cap, 12);
}

static void what_a_manager_sets_is_in_the_port(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = &mn->node.ports[1];
	struct ib_port_info *info = port_info(test, port, 1);

	info->lid = cpu_to_be16(0x100);
	info->mkeyprot_resv_lmc = 3;
	info->sm_lid = cpu_to_be16(0x20);
	info->neighbormtu_mastersmsl = IB_MTU_2048 << 4 | 5;
	info->operationalvl_pei_peo_fpi_fpo = 3 << 4;
	info->clientrereg_resv_subnetto = 18;
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_PORT_INFO, 1), 0);
	KUNIT_EXPECT_EQ(test, port->lid, 0x100);
	KUNIT_EXPECT_EQ(test, port->lmc, 3);
	KUNIT_EXPECT_EQ(test, port->sm_lid, 0x20);
	KUNIT_EXPECT_EQ(test, port->sm_sl, 5);
	KUNIT_EXPECT_EQ(test, port->mtu, IB_MTU_2048);
	KUNIT_EXPECT_EQ(test, port->op_vls, 4);
	KUNIT_EXPECT_EQ(test, port->info.clientrereg_resv_subnetto, 18);
	KUNIT_EXPECT_EQ(test, mn->events, BIT(IB_EVENT_LID_CHANGE) | BIT(IB_EVENT_SM_CHANGE));
	/* The response says what holds now. */
	KUNIT_EXPECT_EQ(test, be16_to_cpu(info->lid), 0x100);
}

static void each_event_has_its_cause(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = &mn->node.ports[1];

	port_info(test, port, 1);
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_PORT_INFO, 1), 0);
	KUNIT_EXPECT_EQ(test, mn->events, 0);

	port_info(test, port, 1)->mkeyprot_resv_lmc = 1;
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_PORT_INFO, 1), 0);
	KUNIT_EXPECT_EQ(test, mn->events, BIT(IB_EVENT_LID_CHANGE));

	mn->events = 0;
	port_info(test, port, 1)->neighbormtu_mastersmsl |= 1;
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_PORT_INFO, 1), 0);
	KUNIT_EXPECT_EQ(test, mn->events, BIT(IB_EVENT_SM_CHANGE));

	mn->events = 0;
	port_info(test, port, 1)->gid_prefix = cpu_to_be64(0xfec0000000000000);
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_PORT_INFO, 1), 0);
	KUNIT_EXPECT_EQ(test, mn->events, BIT(IB_EVENT_GID_CHANGE));
}

static void a_reregistration_is_asked_for_once(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = &mn->node.ports[1];
	struct ib_port_info *info = port_info(test, port, 1);

	info->clientrereg_resv_subnetto |= BIT(7);
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_PORT_INFO, 1), 0);
	KUNIT_EXPECT_EQ(test, mn->events, BIT(IB_EVENT_CLIENT_REREGISTER));
	KUNIT_EXPECT_TRUE(test, info->clientrereg_resv_subnetto & BIT(7));
	info = port_info(test, port, 1);
	KUNIT_EXPECT_FALSE(test, info->clientrereg_resv_subnetto & BIT(7));
}

/* One component each, by its byte, that may not have that value at a port that is down. */
static const struct {
	u8 byte, value;
} illegal[] = {
	{ offsetof(struct ib_port_info, lid), 0xc0 },
	{ offsetof(struct ib_port_info, lid), 0xff },
	{ offsetof(struct ib_port_info, sm_lid), 0xc0 },
	{ offsetof(struct ib_port_info, link_width_enabled), IB_WIDTH_12X },
	{ offsetof(struct ib_port_info, linkspeedactive_enabled), 8 },
	{ offsetof(struct ib_port_info, linkspeed_portstate), IB_PORT_INIT },
	{ offsetof(struct ib_port_info, linkspeed_portstate), IB_PORT_ARMED },
	{ offsetof(struct ib_port_info, linkspeed_portstate), IB_PORT_ACTIVE },
	{ offsetof(struct ib_port_info, linkspeed_portstate), 5 },
	{ offsetof(struct ib_port_info, portphysstate_linkdown), 3 },
	{ offsetof(struct ib_port_info, portphysstate_linkdown), 4 << 4 },
	{ offsetof(struct ib_port_info, portphysstate_linkdown), 5 << 4 },
	{ offsetof(struct ib_port_info, portphysstate_linkdown), 7 << 4 },
	{ offsetof(struct ib_port_info, neighbormtu_mastersmsl), 0 },
	{ offsetof(struct ib_port_info, neighbormtu_mastersmsl), 6 << 4 },
	{ offsetof(struct ib_port_info, operationalvl_pei_peo_fpi_fpo), 4 << 4 },
};

static void an_illegal_value_changes_nothing(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = &mn->node.ports[1];
	struct ib_port_info *info = (void *)out.data;
	struct ib_port_info before;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(illegal); i++) {
		before = *port_info(test, port, 1);
		info->gid_prefix = 0;
		info->mkey = cpu_to_be64(1);
		info->sm_lid = cpu_to_be16(7);
		out.data[illegal[i].byte] = illegal[i].value;
		KUNIT_EXPECT_EQ_MSG(test, set(port, IB_SMP_ATTR_PORT_INFO, 1), BAD_VALUE,
				    "case %u", i);
		KUNIT_EXPECT_TRUE_MSG(test, !memcmp(info, &before, sizeof(before)),
				      "case %u", i);
		KUNIT_EXPECT_EQ_MSG(test, mn->events, 0, "case %u", i);
	}
}

static void zero_is_no_change_and_all_ones_is_all(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = &mn->node.ports[1];
	struct ib_port_info *info = port_info(test, port, 1);

	info->link_width_enabled = IB_WIDTH_1X;
	info->linkspeedactive_enabled = 3;
	info->portphysstate_linkdown = IB_PORT_PHYS_STATE_SLEEP;
	info->operationalvl_pei_peo_fpi_fpo = 2 << 4;
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_PORT_INFO, 1), 0);
	info->link_width_enabled = 0;
	info->linkspeedactive_enabled = 0;
	info->portphysstate_linkdown = 0;
	info->operationalvl_pei_peo_fpi_fpo = 0;
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_PORT_INFO, 1), 0);
	KUNIT_EXPECT_EQ(test, info->link_width_enabled, IB_WIDTH_1X);
	KUNIT_EXPECT_EQ(test, info->linkspeedactive_enabled & 0xf, 3);
	KUNIT_EXPECT_EQ(test, info->portphysstate_linkdown & 0xf, 1);
	KUNIT_EXPECT_EQ(test, port->op_vls, 2);
	info->link_width_enabled = 0xff;
	info->linkspeedactive_enabled = 0xf;
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_PORT_INFO, 1), 0);
	KUNIT_EXPECT_EQ(test, info->link_width_enabled, info->link_width_supported);
	KUNIT_EXPECT_EQ(test, info->linkspeedactive_enabled & 0xf,
			info->linkspeed_portstate >> 4);
}

/* Sets PortState and PortPhysicalState alone. */
static int set_state(struct kunit *test, struct vib_port *port, u8 state, u8 phys)
{
	struct ib_port_info *info = port_info(test, port, port->num);

	info->linkspeed_portstate = state;
	info->portphysstate_linkdown = phys << 4;
	return set(port, IB_SMP_ATTR_PORT_INFO, port->num);
}

/* The port does what it was asked for after the response, or without one in a while. */
static void left(struct vib_port *port)
{
	flush_delayed_work(&port->leave);
}

static void states_follow_one_another(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = &mn->node.ports[1];

	port->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	port->state = IB_PORT_INIT;
	KUNIT_EXPECT_EQ(test, set_state(test, port, IB_PORT_ACTIVE, 0), BAD_VALUE);
	KUNIT_EXPECT_EQ(test, port->state, IB_PORT_INIT);
	KUNIT_EXPECT_EQ(test, set_state(test, port, IB_PORT_ARMED, 0), 0);
	KUNIT_EXPECT_EQ(test, port->state, IB_PORT_ARMED);
	KUNIT_EXPECT_EQ(test, mn->events, 0);
	KUNIT_EXPECT_EQ(test, set_state(test, port, IB_PORT_ACTIVE, 0), 0);
	KUNIT_EXPECT_EQ(test, port->state, IB_PORT_ACTIVE);
	KUNIT_EXPECT_EQ(test, mn->events, BIT(IB_EVENT_PORT_ACTIVE));
	/* As it is: no change, nor an event. */
	mn->events = 0;
	KUNIT_EXPECT_EQ(test, set_state(test, port, IB_PORT_ACTIVE, 5), 0);
	KUNIT_EXPECT_EQ(test, mn->events, 0);
	KUNIT_EXPECT_EQ(test, set_state(test, port, IB_PORT_ARMED, 0), BAD_VALUE);
	KUNIT_EXPECT_EQ(test, set_state(test, port, IB_PORT_DOWN, 0), 0);
	left(port);
	KUNIT_EXPECT_EQ(test, port->state, IB_PORT_DOWN);
}

static void a_port_is_up_until_it_has_responded(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = &mn->node.ports[1];

	port->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	port->state = IB_PORT_ACTIVE;
	KUNIT_EXPECT_EQ(test, set_state(test, port, IB_PORT_DOWN, 0), 0);
	KUNIT_EXPECT_EQ(test, port->state, IB_PORT_ACTIVE);
	KUNIT_EXPECT_EQ(test, port->leave_to, IB_PORT_PHYS_STATE_POLLING);
	vib_port_sent_smp(port);
	KUNIT_EXPECT_TRUE(test, wait_within(port->state == IB_PORT_DOWN, 5000));
	KUNIT_EXPECT_EQ(test, port->leave_to, 0);
}

static void a_port_is_disabled_and_enabled(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = &mn->node.ports[1];

	port->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	port->state = IB_PORT_ACTIVE;
	KUNIT_EXPECT_EQ(test, set_state(test, port, IB_PORT_ACTIVE,
					IB_PORT_PHYS_STATE_DISABLED), BAD_VALUE);
	KUNIT_EXPECT_EQ(test, set_state(test, port, 0, IB_PORT_PHYS_STATE_DISABLED), 0);
	left(port);
	KUNIT_EXPECT_EQ(test, port->state, IB_PORT_DOWN);
	KUNIT_EXPECT_EQ(test, port->phys_state, IB_PORT_PHYS_STATE_DISABLED);
	/* Down alone does not enable it. */
	KUNIT_EXPECT_EQ(test, set_state(test, port, IB_PORT_DOWN, 0), 0);
	left(port);
	KUNIT_EXPECT_EQ(test, port->phys_state, IB_PORT_PHYS_STATE_DISABLED);
	KUNIT_EXPECT_EQ(test, set_state(test, port, IB_PORT_DOWN,
					IB_PORT_PHYS_STATE_POLLING), 0);
	left(port);
	KUNIT_EXPECT_EQ(test, port->phys_state, IB_PORT_PHYS_STATE_POLLING);
}

static void a_link_that_goes_down_may_sleep(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = &mn->node.ports[1];

	port->info.portphysstate_linkdown = IB_PORT_PHYS_STATE_SLEEP;
	port->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	port->state = IB_PORT_ACTIVE;
	KUNIT_EXPECT_EQ(test, set_state(test, port, IB_PORT_DOWN, 0), 0);
	left(port);
	KUNIT_EXPECT_EQ(test, port->phys_state, IB_PORT_PHYS_STATE_SLEEP);
}

static void an_external_port_has_a_link_alone(struct kunit *test)
{
	struct vib_switch *sw = mgmt_switch_new(test, 2);
	struct vib_port *port = &sw->node.ports[1];
	struct ib_port_info *info = port_info(test, port, 1);

	KUNIT_EXPECT_EQ(test, be64_to_cpu(info->gid_prefix), 0);
	info->lid = cpu_to_be16(0xffff);
	info->sm_lid = cpu_to_be16(3);
	info->mkey = cpu_to_be64(1);
	info->operationalvl_pei_peo_fpi_fpo |= VIB_PEI | VIB_PEO | 3;
	info->vlstallcnt_hoqlife = 0x47;
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_PORT_INFO, 1), 0);
	KUNIT_EXPECT_EQ(test, port->lid, 0);
	KUNIT_EXPECT_EQ(test, port->sm_lid, 0);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(port->info.mkey), 0);
	KUNIT_EXPECT_EQ(test, info->operationalvl_pei_peo_fpi_fpo & 0xf, VIB_PEI | VIB_PEO);
	KUNIT_EXPECT_EQ(test, port->info.vlstallcnt_hoqlife, 0x47);
}

static void port_zero_has_no_link(struct kunit *test)
{
	struct vib_switch *sw = mgmt_switch_new(test, 2);
	struct vib_port *port = &sw->node.ports[0];
	struct ib_port_info *info = port_info(test, &sw->node.ports[1], 0);

	info->lid = cpu_to_be16(4);
	info->linkspeed_portstate = IB_PORT_ARMED;
	info->portphysstate_linkdown = 3 << 4;
	info->neighbormtu_mastersmsl = 2;
	KUNIT_EXPECT_EQ(test, set(&sw->node.ports[1], IB_SMP_ATTR_PORT_INFO, 0), 0);
	KUNIT_EXPECT_EQ(test, port->lid, 4);
	KUNIT_EXPECT_EQ(test, port->sm_sl, 2);
	KUNIT_EXPECT_EQ(test, port->state, IB_PORT_ACTIVE);
	info->mkeyprot_resv_lmc = 1;
	KUNIT_EXPECT_EQ(test, set(&sw->node.ports[1], IB_SMP_ATTR_PORT_INFO, 0), BAD_VALUE);
	KUNIT_EXPECT_EQ(test, port->lmc, 0);
}

static void violations_are_reset_by_a_zero(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = &mn->node.ports[1];
	struct ib_port_info *info;

	port->info.mkey_violations = cpu_to_be16(3);
	port->info.pkey_violations = cpu_to_be16(4);
	port->info.qkey_violations = cpu_to_be16(5);
	info = port_info(test, port, 1);
	info->pkey_violations = 0;
	info->qkey_violations = cpu_to_be16(1);
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_PORT_INFO, 1), 0);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(info->mkey_violations), 3);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(info->pkey_violations), 0);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(info->qkey_violations), 5);
}

/* ---- tables ---- */

static void pkeys_by_block(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = &mn->node.ports[1];
	__be16 *pkeys = (void *)out.data;

	KUNIT_EXPECT_EQ(test, get(port, IB_SMP_ATTR_PKEY_TABLE, 0), 0);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(pkeys[0]), 0xffff);
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_PKEY_TABLE, 0), 0);
	KUNIT_EXPECT_EQ(test, mn->events, 0);
	memset(out.data, 0x81, sizeof(out.data));
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_PKEY_TABLE, 1), 0);
	KUNIT_EXPECT_EQ(test, mn->events, BIT(IB_EVENT_PKEY_CHANGE));
	KUNIT_EXPECT_EQ(test, be16_to_cpu(port->pkeys[32]), 0x8181);
	/* The table has 40 entries. */
	KUNIT_EXPECT_EQ(test, be16_to_cpu(pkeys[7]), 0x8181);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(pkeys[8]), 0);
	KUNIT_EXPECT_EQ(test, get(port, IB_SMP_ATTR_PKEY_TABLE, 2), BAD_VALUE);
}

static void pkeys_of_a_port_of_a_switch(struct kunit *test)
{
	struct vib_switch *sw = mgmt_switch_new(test, 2);
	__be16 *pkeys = (void *)out.data;

	memset(out.data, 0, sizeof(out.data));
	pkeys[1] = cpu_to_be16(0x8005);
	KUNIT_EXPECT_EQ(test, set(&sw->node.ports[1], IB_SMP_ATTR_PKEY_TABLE, 2 << 16), 0);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(sw->node.ports[2].pkeys[1]), 0x8005);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(sw->node.ports[1].pkeys[1]), 0);
	KUNIT_EXPECT_EQ(test, get(&sw->node.ports[1], IB_SMP_ATTR_PKEY_TABLE, 3 << 16),
			BAD_VALUE);
}

static void the_first_guid_is_fixed(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = &mn->node.ports[1];
	u64 first = be64_to_cpu(port->guids[0]);
	__be64 *guids = (void *)out.data;

	memset(out.data, 0, sizeof(out.data));
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_GUID_INFO, 0), 0);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(guids[0]), first);
	KUNIT_EXPECT_EQ(test, mn->events, 0);
	guids[1] = cpu_to_be64(5);
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_GUID_INFO, 0), 0);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(port->guids[1]), 5);
	KUNIT_EXPECT_EQ(test, mn->events, BIT(IB_EVENT_GID_CHANGE));
	/* 12 of them */
	memset(out.data, 0x42, sizeof(out.data));
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_GUID_INFO, 1), 0);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(port->guids[11]), 0x4242424242424242);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(guids[4]), 0);
	KUNIT_EXPECT_EQ(test, get(port, IB_SMP_ATTR_GUID_INFO, 2), BAD_VALUE);
}

static void sls_are_mapped_by_pair_of_ports(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_switch *sw = mgmt_switch_new(test, 3);
	unsigned int i;

	for (i = 0; i < 8; i++)
		out.data[i] = i << 4 | 15;
	KUNIT_EXPECT_EQ(test, set(&mn->node.ports[1], IB_SMP_ATTR_SL_TO_VL_TABLE, 0), 0);
	KUNIT_EXPECT_EQ(test, mn->node.ports[1].sl_to_vl[6], 3);
	KUNIT_EXPECT_EQ(test, mn->node.ports[1].sl_to_vl[7], 15);
	KUNIT_EXPECT_EQ(test, out.data[3], 3 << 4 | 15);
	KUNIT_EXPECT_EQ(test, set(&sw->node.ports[1], IB_SMP_ATTR_SL_TO_VL_TABLE, 1 << 8 | 3),
			0);
	KUNIT_EXPECT_EQ(test, vib_switch_vl(sw, 1, 3, 6), 3);
	KUNIT_EXPECT_EQ(test, vib_switch_vl(sw, 3, 1, 6), 6);
	KUNIT_EXPECT_EQ(test, get(&sw->node.ports[1], IB_SMP_ATTR_SL_TO_VL_TABLE, 4),
			BAD_VALUE);
	KUNIT_EXPECT_EQ(test, get(&sw->node.ports[1], IB_SMP_ATTR_SL_TO_VL_TABLE, 4 << 8),
			BAD_VALUE);
}

static void lanes_are_arbitrated_by_two_tables(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = &mn->node.ports[1];

	memset(out.data, 0xf7, sizeof(out.data));
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_VL_ARB_TABLE, 3 << 16), 0);
	KUNIT_EXPECT_EQ(test, port->vl_high[31].vl, 7);
	KUNIT_EXPECT_EQ(test, port->vl_high[31].weight, 0xf7);
	KUNIT_EXPECT_EQ(test, port->vl_low[31].vl, 7);
	KUNIT_EXPECT_EQ(test, port->vl_low[31].weight, 1);
	KUNIT_EXPECT_EQ(test, get(port, IB_SMP_ATTR_VL_ARB_TABLE, 1 << 16), 0);
	KUNIT_EXPECT_EQ(test, out.data[2], 1);
	KUNIT_EXPECT_EQ(test, get(port, IB_SMP_ATTR_VL_ARB_TABLE, 0), BAD_VALUE);
	KUNIT_EXPECT_EQ(test, get(port, IB_SMP_ATTR_VL_ARB_TABLE, 2 << 16), BAD_VALUE);
	KUNIT_EXPECT_EQ(test, get(port, IB_SMP_ATTR_VL_ARB_TABLE, 5 << 16), BAD_VALUE);
}

static void a_led_is_lit(struct kunit *test)
{
	struct vib_switch *sw = mgmt_switch_new(test, 2);
	struct vib_port *port = &sw->node.ports[1];

	KUNIT_EXPECT_EQ(test, get(port, IB_SMP_ATTR_LED_INFO, 2), 0);
	KUNIT_EXPECT_EQ(test, out.data[0], 0);
	out.data[0] = 0xff;
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_LED_INFO, 2), 0);
	KUNIT_EXPECT_EQ(test, out.data[0], 0x80);
	KUNIT_EXPECT_EQ(test, get(port, IB_SMP_ATTR_LED_INFO, 1), 0);
	KUNIT_EXPECT_EQ(test, out.data[0], 0);
	KUNIT_EXPECT_EQ(test, get(port, IB_SMP_ATTR_LED_INFO, 3), BAD_VALUE);
}

/* ---- switches ---- */

static void switch_info_by_byte(struct kunit *test)
{
	struct vib_switch *sw = mgmt_switch_new(test, 2);
	struct vib_port *port = &sw->node.ports[1];

	sw->port_changed = true;
	KUNIT_EXPECT_EQ(test, get(port, IB_SMP_ATTR_SWITCH_INFO, 0), 0);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(out.data), 0xc000);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(out.data + 4), VIB_MFT_SIZE);
	KUNIT_EXPECT_EQ(test, out.data[11], 4);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(out.data + 14), 40);
	KUNIT_EXPECT_EQ(test, out.data[16], 0xc0);
	put_unaligned_be16(0x40, out.data + 6);
	out.data[11] = 18 << 3;
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_SWITCH_INFO, 0), 0);
	KUNIT_EXPECT_EQ(test, sw->lft_top, 0x40);
	/* PortStateChange is cleared by a 1 alone. */
	KUNIT_EXPECT_EQ(test, out.data[11], 18 << 3 | 4);
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_SWITCH_INFO, 0), 0);
	KUNIT_EXPECT_EQ(test, out.data[11], 18 << 3);
	put_unaligned_be16(0xc000, out.data + 6);
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_SWITCH_INFO, 0), BAD_VALUE);
	KUNIT_EXPECT_EQ(test, sw->lft_top, 0x40);
}

static void linear_tables_by_block(struct kunit *test)
{
	struct vib_switch *sw = mgmt_switch_new(test, 2);
	struct vib_port *port = &sw->node.ports[1];

	memset(out.data, VIB_NO_PORT, sizeof(out.data));
	out.data[3] = 2;
	KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_LINEAR_FORWARD_TABLE, 767), 0);
	KUNIT_EXPECT_EQ(test, sw->lft[767 * 64 + 3], 2);
	KUNIT_EXPECT_EQ(test, out.data[3], 2);
	KUNIT_EXPECT_EQ(test, get(port, IB_SMP_ATTR_LINEAR_FORWARD_TABLE, 768), BAD_VALUE);
}

static void multicast_tables_by_block_and_position(struct kunit *test)
{
	struct vib_switch *sw = mgmt_switch_new(test, 36);
	struct vib_port *port = &sw->node.ports[1];
	__be16 *masks = (void *)out.data;
	u32 position;

	for (position = 0; position < 3; position++) {
		memset(out.data, 0, sizeof(out.data));
		masks[5] = cpu_to_be16(0xff01);
		KUNIT_EXPECT_EQ(test, set(port, IB_SMP_ATTR_MCAST_FORWARD_TABLE,
					  position << 28 | 31), 0);
	}
	/* Of the last 16 there are ports 32 to 36. */
	KUNIT_EXPECT_EQ(test, be16_to_cpu(masks[5]), 1);
	KUNIT_EXPECT_EQ(test, get(port, IB_SMP_ATTR_MCAST_FORWARD_TABLE, 1 << 28 | 31), 0);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(masks[5]), 0xff01);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(masks[4]), 0);
	KUNIT_EXPECT_TRUE(test, test_bit(8, &sw->mft[(31 * 32 + 5) * sw->mft_longs]));
	KUNIT_EXPECT_FALSE(test, test_bit(7, &sw->mft[(31 * 32 + 5) * sw->mft_longs]));
	KUNIT_EXPECT_TRUE(test, test_bit(31, &sw->mft[(31 * 32 + 5) * sw->mft_longs]));
	KUNIT_EXPECT_EQ(test, get(port, IB_SMP_ATTR_MCAST_FORWARD_TABLE, 3 << 28), BAD_VALUE);
	KUNIT_EXPECT_EQ(test, get(port, IB_SMP_ATTR_MCAST_FORWARD_TABLE, 32), BAD_VALUE);
}

/* ---- M_Keys ---- */

#define KEY	0x1122334455667788

static struct vib_port *protected_port(struct mgmt_node *mn, u8 protect)
{
	struct vib_port *port = &mn->node.ports[1];

	port->info.mkey = cpu_to_be64(KEY);
	port->info.mkeyprot_resv_lmc = protect << 6;
	return port;
}

/* PortInfo by @method with @key: the status, or -1. */
static int with_key(struct vib_port *port, u8 method, u64 key)
{
	mgmt_smp(&smp, method, IB_SMP_ATTR_PORT_INFO, port->num);
	smp.mkey = cpu_to_be64(key);
	memcpy(smp.data, &port->info, sizeof(port->info));
	((struct ib_port_info *)smp.data)->neighbormtu_mastersmsl = port->mtu << 4;
	((struct ib_port_info *)smp.data)->linkspeed_portstate = 0;
	((struct ib_port_info *)smp.data)->mkey_violations = cpu_to_be16(1);
	return mgmt_sma(port, &smp, &out);
}

/* 14.2.4.1: what is let through without the key, and whether PortInfo shows it. */
static const struct {
	bool get, shown;
} protection[] = { { true, true }, { true, false }, { false, false }, { false, false } };

static void a_key_protects_as_its_bits_say(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct ib_port_info *info = (void *)out.data;
	struct vib_port *port;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(protection); i++) {
		port = protected_port(mn, i);
		port->info.mkey_violations = 0;
		KUNIT_EXPECT_EQ_MSG(test, with_key(port, GET, KEY), 0, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, be64_to_cpu(info->mkey), KEY, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, with_key(port, SET, KEY), 0, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, with_key(port, GET, 5), protection[i].get ? 0 : -1,
				    "%u", i);
		if (protection[i].get)
			KUNIT_EXPECT_EQ_MSG(test, be64_to_cpu(info->mkey),
					    protection[i].shown ? KEY : 0, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, with_key(port, SET, 5), -1, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, be16_to_cpu(port->info.mkey_violations),
				    protection[i].get ? 1 : 2, "%u", i);
	}
	port->info.mkey = 0;
	KUNIT_EXPECT_EQ(test, with_key(port, SET, 5), 0);
}

static void a_new_key_is_shown_to_who_set_it(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = protected_port(mn, 1);
	struct ib_port_info *info = port_info(test, port, 1);

	mgmt_smp(&smp, SET, IB_SMP_ATTR_PORT_INFO, 1);
	smp.mkey = cpu_to_be64(KEY);
	memcpy(smp.data, info, sizeof(*info));
	((struct ib_port_info *)smp.data)->mkey = cpu_to_be64(77);
	KUNIT_EXPECT_EQ(test, mgmt_sma(port, &smp, &out), 0);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(info->mkey), 77);
	KUNIT_EXPECT_EQ(test, with_key(port, SET, KEY), -1);
}

static void violations_stay_at_their_end(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = protected_port(mn, 2);

	port->info.mkey_violations = cpu_to_be16(0xfffe);
	with_key(port, GET, 1);
	with_key(port, GET, 1);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(port->info.mkey_violations), 0xffff);
}

static void a_lease_that_is_over_lets_others_read(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = protected_port(mn, 3);

	port->info.mkey_lease_period = cpu_to_be16(10);
	KUNIT_EXPECT_EQ(test, with_key(port, GET, 1), -1);
	KUNIT_EXPECT_NE(test, port->mkey_expires, 0);
	KUNIT_EXPECT_EQ(test, with_key(port, GET, 1), -1);
	port->mkey_expires = jiffies;
	KUNIT_EXPECT_EQ(test, with_key(port, GET, 1), 0);
	KUNIT_EXPECT_EQ(test, port->info.mkeyprot_resv_lmc >> 6, 0);
	/* To read, not to write. */
	KUNIT_EXPECT_EQ(test, with_key(port, SET, 1), -1);
}

static void the_key_ends_the_lease(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = protected_port(mn, 2);

	port->info.mkey_lease_period = cpu_to_be16(10);
	KUNIT_EXPECT_EQ(test, with_key(port, GET, 1), -1);
	KUNIT_EXPECT_EQ(test, with_key(port, GET, KEY), 0);
	KUNIT_EXPECT_EQ(test, port->mkey_expires, 0);
	/* Without a period, none begins. */
	port->info.mkey_lease_period = 0;
	KUNIT_EXPECT_EQ(test, with_key(port, GET, 1), -1);
	KUNIT_EXPECT_EQ(test, port->mkey_expires, 0);
}

static void a_key_of_another_port_protects_it(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 2);

	protected_port(mn, 2);
	KUNIT_EXPECT_EQ(test, get(&mn->node.ports[2], IB_SMP_ATTR_PORT_INFO, 2), 0);
	KUNIT_EXPECT_EQ(test, get(&mn->node.ports[2], IB_SMP_ATTR_PORT_INFO, 1), -1);
	KUNIT_EXPECT_EQ(test, get(&mn->node.ports[2], IB_SMP_ATTR_NODE_INFO, 0), 0);
	KUNIT_EXPECT_EQ(test, get(&mn->node.ports[1], IB_SMP_ATTR_NODE_INFO, 0), -1);
}

static void a_switch_has_one_key(struct kunit *test)
{
	struct vib_switch *sw = mgmt_switch_new(test, 2);

	sw->node.ports[0].info.mkey = cpu_to_be64(KEY);
	sw->node.ports[0].info.mkeyprot_resv_lmc = 2 << 6;
	KUNIT_EXPECT_EQ(test, get(&sw->node.ports[2], IB_SMP_ATTR_PORT_INFO, 1), -1);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(sw->node.ports[0].info.mkey_violations), 1);
}

static struct kunit_case sma_cases[] = {
	KUNIT_CASE(an_adapter_says_what_it_is),
	KUNIT_CASE(a_switch_says_what_it_is),
	KUNIT_CASE(a_directed_route_turns_back),
	KUNIT_CASE(what_it_does_not_have),
	KUNIT_CASE(what_is_left_to_the_host),
	KUNIT_CASE(the_modifier_names_a_port),
	KUNIT_CASE(port_info_shows_the_port),
	KUNIT_CASE(what_a_manager_sets_is_in_the_port),
	KUNIT_CASE(each_event_has_its_cause),
	KUNIT_CASE(a_reregistration_is_asked_for_once),
	KUNIT_CASE(an_illegal_value_changes_nothing),
	KUNIT_CASE(zero_is_no_change_and_all_ones_is_all),
	KUNIT_CASE(states_follow_one_another),
	KUNIT_CASE(a_port_is_up_until_it_has_responded),
	KUNIT_CASE(a_port_is_disabled_and_enabled),
	KUNIT_CASE(a_link_that_goes_down_may_sleep),
	KUNIT_CASE(an_external_port_has_a_link_alone),
	KUNIT_CASE(port_zero_has_no_link),
	KUNIT_CASE(violations_are_reset_by_a_zero),
	KUNIT_CASE(pkeys_by_block),
	KUNIT_CASE(pkeys_of_a_port_of_a_switch),
	KUNIT_CASE(the_first_guid_is_fixed),
	KUNIT_CASE(sls_are_mapped_by_pair_of_ports),
	KUNIT_CASE(lanes_are_arbitrated_by_two_tables),
	KUNIT_CASE(a_led_is_lit),
	KUNIT_CASE(switch_info_by_byte),
	KUNIT_CASE(linear_tables_by_block),
	KUNIT_CASE(multicast_tables_by_block_and_position),
	KUNIT_CASE(a_key_protects_as_its_bits_say),
	KUNIT_CASE(a_new_key_is_shown_to_who_set_it),
	KUNIT_CASE(violations_stay_at_their_end),
	KUNIT_CASE(a_lease_that_is_over_lets_others_read),
	KUNIT_CASE(the_key_ends_the_lease),
	KUNIT_CASE(a_key_of_another_port_protects_it),
	KUNIT_CASE(a_switch_has_one_key),
	{}
};

static struct kunit_suite sma_suite = {
	.name = "vib_sma",
	.test_cases = sma_cases,
};

kunit_test_suite(sma_suite);
