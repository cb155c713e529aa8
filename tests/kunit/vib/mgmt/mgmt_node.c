// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <linux/slab.h>
#include "mgmt_node.h"

static struct mgmt_node *to_mgmt_node(struct vib_node *node)
{
	return container_of(node, struct mgmt_node, node);
}

static void mgmt_node_receive(struct vib_port *port, struct vib_packet *pkt)
{
	struct mgmt_node *mn = to_mgmt_node(port->node);

	mn->packets++;
	mn->hdr = pkt->hdr;
	mn->vl = pkt->vl;
	mn->port = port->num;
	memset(&mn->mad, 0, sizeof(mn->mad));
	vib_packet_read(pkt, 0, &mn->mad, sizeof(mn->mad));
	vib_packet_free(pkt);
}

static void mgmt_node_event(struct vib_port *port, enum ib_event_type event)
{
	to_mgmt_node(port->node)->events |= BIT(event);
}

/* Its nodes are in no fabric: nothing releases them. */
static const struct vib_node_ops mgmt_node_ops = {
	.receive = mgmt_node_receive,
	.event = mgmt_node_event,
};

static void mgmt_node_free(void *ctx)
{
	struct mgmt_node *mn = ctx;

	vib_node_cleanup(&mn->node);
}

struct mgmt_node *mgmt_node_new(struct kunit *test, u8 ports)
{
	struct vib_node_attr attr = {
		.name = "ca",
		.num_ports = ports,
		.pkeys = 40,
		.guids = 12,
		.guid = cpu_to_be64(0x0200000000001000),
	};
	struct mgmt_node *mn = kunit_kzalloc(test, sizeof(*mn), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mn);
	KUNIT_ASSERT_EQ(test, vib_node_init(&mn->node, RDMA_NODE_IB_CA, &mgmt_node_ops, &attr),
			0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, mgmt_node_free, mn), 0);
	return mn;
}

static void mgmt_switch_free(void *ctx)
{
	struct vib_switch *sw = ctx;

	vib_switch_destroy(sw);
}

struct vib_switch *mgmt_switch_new(struct kunit *test, u8 ports)
{
	struct vib_node_attr attr = {
		.name = "sw",
		.num_ports = ports,
		.pkeys = 40,
		.guids = 12,
		.guid = cpu_to_be64(0x0200000000002000),
	};
	struct vib_switch *sw = vib_switch_create(&attr);

	KUNIT_ASSERT_FALSE(test, IS_ERR(sw));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, mgmt_switch_free, sw), 0);
	return sw;
}

static void port_up(struct vib_port *port, struct vib_port *peer, enum ib_port_state state)
{
	port->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	port->state = state;
	port->mtu = IB_MTU_2048;
	rcu_assign_pointer(port->peer, peer);
}

void mgmt_join(struct vib_port *a, struct vib_port *b, enum ib_port_state state)
{
	port_up(a, b, state);
	port_up(b, a, state);
}

void mgmt_smp(struct ib_smp *smp, u8 method, __be16 attr, u32 mod)
{
	memset(smp, 0, sizeof(*smp));
	ib_init_query_mad(smp);
	smp->method = method;
	smp->attr_id = attr;
	smp->attr_mod = cpu_to_be32(mod);
	smp->tid = cpu_to_be64(0x1234);
}

int mgmt_sma(struct vib_port *port, const struct ib_smp *smp, struct ib_smp *out)
{
	memset(out, 0xa5, sizeof(*out));
	if (vib_sma_handle(port, smp, out) != VIB_MAD_REPLY)
		return -1;
	return be16_to_cpu(out->status);
}

struct vib_packet *mgmt_packet(struct kunit *test, const void *mad,
			       const struct mgmt_addr *addr)
{
	struct vib_payload *payload = vib_payload_alloc(IB_MGMT_MAD_SIZE, GFP_KERNEL);
	struct vib_packet *pkt = vib_packet_alloc(GFP_KERNEL);
	struct ib_other_headers *oth;

	KUNIT_ASSERT_NOT_NULL(test, payload);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	memcpy(payload->data, mad, IB_MGMT_MAD_SIZE);
	vib_packet_attach(pkt, payload, 0, IB_MGMT_MAD_SIZE);
	vib_payload_put(payload);
	pkt->hdr.lrh[0] = cpu_to_be16(IB_LNH_IBA_LOCAL);
	pkt->hdr_len = IB_LRH_BYTES + IB_BTH_BYTES + IB_DETH_BYTES;
	oth = vib_packet_bth(pkt);
	oth->bth[0] = cpu_to_be32(IB_OPCODE_UD_SEND_ONLY << IB_BTH_OPCODE_SHIFT | addr->pkey);
	oth->bth[1] = cpu_to_be32(addr->dqp);
	oth->u.ud.deth[0] = cpu_to_be32(addr->qkey);
	oth->u.ud.deth[1] = cpu_to_be32(addr->sqp);
	vib_packet_finish(pkt, addr->vl, 0, addr->dlid, addr->slid);
	return pkt;
}

void mgmt_arrive(struct vib_port *port, struct vib_packet *pkt)
{
	rcu_read_lock_bh();
	port->node->ops->receive(port, pkt);
	rcu_read_unlock_bh();
}
