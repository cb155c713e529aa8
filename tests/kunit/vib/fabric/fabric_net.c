// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "fabric_net.h"

/* ---- what nodes are told ---- */

static struct fab_node *to_fab_node(const struct vib_node *node)
{
	return container_of(node->ops, struct fab_node, ops);
}

static void node_receive(struct vib_port *port, struct vib_packet *pkt)
{
	struct fab_node *fn = to_fab_node(port->node);

	spin_lock_bh(&fn->lock);
	list_add_tail(&pkt->entry, &fn->rx);
	spin_unlock_bh(&fn->lock);
}

static void node_event(struct vib_port *port, enum ib_event_type event)
{
	struct fab_node *fn = to_fab_node(port->node);

	fn->events[event]++;
	if (fn->base && fn->base->event)
		fn->base->event(port, event);
}

static void node_link(struct vib_port *port, bool up)
{
	struct fab_node *fn = to_fab_node(port->node);

	if (up)
		fn->ups++;
	else
		fn->downs++;
	if (fn->base && fn->base->link)
		fn->base->link(port, up);
}

static void node_release(struct vib_node *node)
{
	struct fab_node *fn = to_fab_node(node);

	if (fn->base)
		fn->base->release(node);
	else
		vib_node_cleanup(node);
	WRITE_ONCE(fn->released, true);
}

/* ---- nodes ---- */

static struct fab_node *node_new(struct fab *fab)
{
	struct fab_node *fn;

	KUNIT_ASSERT_LT(fab->test, fab->nr_nodes, FAB_NODES);
	/* Not the test's: a node that is not released outlives it. */
	fn = kzalloc(sizeof(*fn), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(fab->test, fn);
	spin_lock_init(&fn->lock);
	INIT_LIST_HEAD(&fn->rx);
	fn->ops.receive = node_receive;
	fn->ops.event = node_event;
	fn->ops.link = node_link;
	fn->ops.release = node_release;
	return fn;
}

static struct vib_node_attr node_attr(const struct fab *fab, const char *name, u8 ports)
{
	return (struct vib_node_attr){
		.name = name,
		.num_ports = ports,
		.pkeys = 8,
		.guids = 2,
		.data_vls = FAB_VLS,
		.mtu = IB_MTU_4096,
		.guid = cpu_to_be64(0x0200000000010000ULL * (fab->nr_nodes + 1)),
	};
}

static void node_add(struct fab *fab, struct fab_node *fn)
{
	unsigned int i;

	for (i = 1; i <= fn->node->num_ports; i++)
		fn->node->ports[i].info.vlstallcnt_hoqlife = FAB_FOREVER;
	fab->full = fn->node->ports[1].tx.credits[0];
	KUNIT_ASSERT_EQ(fab->test, vib_node_add(&fab->fabric, fn->node), 0);
	fab->nodes[fab->nr_nodes++] = fn;
}

struct fab_node *fab_ca(struct fab *fab, u8 ports)
{
	struct fab_node *fn = node_new(fab);
	struct vib_node_attr attr;
	char name[16];

	scnprintf(name, sizeof(name), "ca%u", fab->nr_nodes);
	attr = node_attr(fab, name, ports);
	fn->node = &fn->own;
	KUNIT_ASSERT_EQ(fab->test, vib_node_init(&fn->own, RDMA_NODE_IB_CA, &fn->ops, &attr), 0);
	node_add(fab, fn);
	return fn;
}

struct fab_node *fab_switch(struct fab *fab, u8 ports)
{
	struct fab_node *fn = node_new(fab);
	struct vib_node_attr attr;
	char name[16];

	scnprintf(name, sizeof(name), "sw%u", fab->nr_nodes);
	attr = node_attr(fab, name, ports);
	fn->sw = vib_switch_create(&attr);
	KUNIT_ASSERT_FALSE(fab->test, IS_ERR(fn->sw));
	fn->node = &fn->sw->node;
	fn->base = fn->node->ops;
	fn->ops.receive = fn->base->receive;
	fn->node->ops = &fn->ops;
	node_add(fab, fn);
	return fn;
}

void fab_remove(struct fab_node *fn)
{
	fn->removed = true;
	vib_node_remove(fn->node);
}

bool fab_released(struct fab_node *fn)
{
	/* The reference goes by way of RCU, then a work item releases the node. */
	rcu_barrier();
	flush_workqueue(vib_free_wq);
	return READ_ONCE(fn->released);
}

/* ---- links ---- */

struct vib_link *fab_cable(struct fab *fab)
{
	struct vib_link *link;

	KUNIT_ASSERT_LT(fab->test, fab->nr_links, FAB_LINKS);
	link = &fab->links[fab->nr_links++];
	vib_link_init(link, &fab->fabric);
	return link;
}

int fab_plug(struct fab *fab, struct vib_link *link, struct vib_port *a, struct vib_port *b)
{
	int ret;

	mutex_lock(&fab->fabric.lock);
	ret = vib_link_plug(link, a, b);
	mutex_unlock(&fab->fabric.lock);
	fab_wait_idle(fab);
	return ret;
}

struct vib_link *fab_link(struct fab *fab, struct vib_port *a, struct vib_port *b)
{
	struct vib_link *link = fab_cable(fab);

	KUNIT_ASSERT_EQ(fab->test, fab_plug(fab, link, a, b), 0);
	KUNIT_ASSERT_EQ(fab->test, a->state, IB_PORT_INIT);
	KUNIT_ASSERT_EQ(fab->test, b->state, IB_PORT_INIT);
	return link;
}

void fab_activate(struct fab *fab)
{
	struct vib_port *port;
	unsigned int i;

	for (i = 0; i < 2 * fab->nr_links; i++) {
		if (!fab->links[i / 2].up)
			continue;
		port = fab->links[i / 2].end[i % 2];
		if (port->state != IB_PORT_INIT)
			continue;
		KUNIT_ASSERT_EQ(fab->test, vib_port_set_state(port, IB_PORT_ARMED), 0);
		KUNIT_ASSERT_EQ(fab->test, vib_port_set_state(port, IB_PORT_ACTIVE), 0);
	}
}

void fab_cut(struct fab *fab, struct vib_link *link, bool cut)
{
	vib_link_cut(link, cut);
	fab_wait_idle(fab);
}

/* ---- packets ---- */

static void packet_headers(struct vib_packet *pkt, const struct fab_spec *spec)
{
	struct ib_other_headers *oth;

	pkt->hdr.lrh[0] = cpu_to_be16(spec->dgid ? IB_LNH_IBA_GLOBAL : IB_LNH_IBA_LOCAL);
	pkt->hdr_len = IB_LRH_BYTES + IB_BTH_BYTES + IB_DETH_BYTES;
	if (spec->dgid) {
		pkt->hdr_len += IB_GRH_BYTES;
		pkt->hdr.u.l.grh.version_tclass_flow =
			cpu_to_be32(IB_GRH_VERSION << IB_GRH_VERSION_SHIFT);
		pkt->hdr.u.l.grh.next_hdr = IB_GRH_NEXT_HDR;
		pkt->hdr.u.l.grh.hop_limit = 1;
		pkt->hdr.u.l.grh.sgid = *spec->sgid;
		pkt->hdr.u.l.grh.dgid = *spec->dgid;
	}
	oth = vib_packet_bth(pkt);
	oth->bth[0] = cpu_to_be32(IB_OPCODE_UD_SEND_ONLY << IB_BTH_OPCODE_SHIFT | spec->pkey);
	oth->bth[1] = cpu_to_be32(spec->dqp);
	oth->bth[2] = cpu_to_be32(spec->psn);
	oth->u.ud.deth[0] = cpu_to_be32(spec->qkey);
	oth->u.ud.deth[1] = cpu_to_be32(spec->sqp);
}

struct vib_packet *fab_packet(struct kunit *test, const struct fab_spec *spec)
{
	u16 i, len = spec->mad ? IB_MGMT_MAD_SIZE : spec->len;
	struct vib_packet *pkt = vib_packet_alloc(GFP_KERNEL);
	struct vib_payload *payload;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	packet_headers(pkt, spec);
	if (len) {
		payload = vib_payload_alloc(len, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, payload);
		for (i = 0; i < len; i++)
			payload->data[i] = spec->mad ? ((const u8 *)spec->mad)[i] : i;
		vib_packet_attach(pkt, payload, 0, len);
		vib_payload_put(payload);
	}
	vib_packet_finish(pkt, spec->vl, spec->sl, spec->dlid, spec->slid);
	return pkt;
}

void fab_send(struct fab *fab, struct vib_port *port, const struct fab_spec *spec)
{
	vib_port_xmit(port, fab_packet(fab->test, spec));
}

void fab_wait_idle(struct fab *fab)
{
	unsigned int i;

	for (i = 0; i < fab->nr_links; i++)
		flush_work(&fab->links[i].train);
	/* The work of a port queues that of the next, which is a new round. */
	for (i = 0; i < 2 * FAB_NODES; i++)
		flush_workqueue(vib_wq);
}

unsigned int fab_count(struct fab *fab, struct fab_node *fn)
{
	unsigned int count;

	fab_wait_idle(fab);
	spin_lock_bh(&fn->lock);
	count = list_count_nodes(&fn->rx);
	spin_unlock_bh(&fn->lock);
	return count;
}

static struct vib_packet *node_pop(struct fab_node *fn)
{
	struct vib_packet *pkt;

	spin_lock_bh(&fn->lock);
	pkt = list_first_entry_or_null(&fn->rx, struct vib_packet, entry);
	if (pkt)
		list_del_init(&pkt->entry);
	spin_unlock_bh(&fn->lock);
	return pkt;
}

struct vib_packet *fab_take(struct fab *fab, struct fab_node *fn)
{
	fab_wait_idle(fab);
	return node_pop(fn);
}

u32 fab_take_psn(struct fab *fab, struct fab_node *fn)
{
	struct vib_packet *pkt = fab_take(fab, fn);
	u32 psn;

	if (!pkt)
		return 0;
	psn = ib_bth_get_psn(vib_packet_bth(pkt));
	vib_packet_free(pkt);
	return psn;
}

void fab_drop(struct fab_node *fn)
{
	struct vib_packet *pkt;

	while ((pkt = node_pop(fn)))
		vib_packet_free(pkt);
}

/* ---- credits and counters ---- */

void fab_starve(struct vib_port *port, u8 vl)
{
	spin_lock_bh(&port->tx.lock);
	port->tx.credits[vl] = 0;
	spin_unlock_bh(&port->tx.lock);
}

void fab_feed(struct vib_port *port, u8 vl, u16 blocks)
{
	vib_tx_credit(&port->tx, vl, blocks, port->tx.era);
}

u64 fab_sum(struct fab *fab, enum vib_counter which)
{
	struct vib_node *node;
	unsigned int i, num;
	u64 sum = 0;

	for (i = 0; i < fab->nr_nodes; i++) {
		if (fab->nodes[i]->removed)
			continue;
		node = fab->nodes[i]->node;
		for (num = fab->nodes[i]->sw ? 0 : 1; num <= node->num_ports; num++)
			sum += vib_port_counter(&node->ports[num], which);
	}
	return sum;
}

/* ---- the whole ---- */

static void fab_undo(void *ctx)
{
	struct fab *fab = ctx;
	struct fab_node *fn;
	unsigned int i;

	for (i = 0; i < fab->nr_links; i++)
		vib_link_unplug(&fab->links[i]);
	for (i = 0; i < fab->nr_nodes; i++)
		fab_drop(fab->nodes[i]);
	for (i = 0; i < fab->nr_nodes; i++) {
		if (!fab->nodes[i]->removed)
			fab_remove(fab->nodes[i]);
	}
	for (i = 0; i < fab->nr_nodes; i++) {
		fn = fab->nodes[i];
		if (fab_released(fn))
			kfree(fn);
		else
			KUNIT_FAIL(fab->test, "a packet still refers to node %u", i);
	}
	vib_fabric_cleanup(&fab->fabric);
}

struct fab *fab_new(struct kunit *test)
{
	struct fab *fab = kunit_kzalloc(test, sizeof(*fab), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fab);
	fab->test = test;
	vib_fabric_init(&fab->fabric);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fab_undo, fab), 0);
	return fab;
}
