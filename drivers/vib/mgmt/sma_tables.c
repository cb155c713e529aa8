// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The tables of a port: P_Keys, SL to VL, VL arbitration (IBA vol. 1, 14.2.5.7 to 14.2.5.9).
 *
 * An adapter uses those of the port by which the SMP came in; for a switch the attribute
 * modifier selects the port, or for SL to VL the input and the output port.
 */
#include "mgmt/sma.h"
#include "switch/switch.h"

#define PKEY_BLOCK	32	/* P_Keys that one SMP reads or writes */
#define SLS		16

/* Blocks of VLArbitrationTable with the entries 0 to 31; the tables here have no others. */
#define VL_ARB_LOW	1
#define VL_ARB_HIGH	3

/* Port @num of a switch; of an adapter the port by which the SMP came in. */
static struct vib_port *table_port(const struct vib_sma_req *req, u32 num)
{
	return vib_sma_on_switch(req) ? vib_sma_port(req, num) : req->in;
}

/* ---- P_KeyTable: port in the modifier's upper half, block in the lower ---- */

static struct vib_port *pkey_block(const struct vib_sma_req *req, unsigned int *first)
{
	unsigned int block = req->mod & 0xffff;

	if (block >= DIV_ROUND_UP(req->in->node->pkeys, PKEY_BLOCK))
		return NULL;
	*first = block * PKEY_BLOCK;
	return table_port(req, req->mod >> 16);
}

u16 vib_sma_get_pkeys(struct vib_sma_req *req)
{
	__be16 *to = (__be16 *)req->data;
	struct vib_port *port;
	unsigned int first, i;

	port = pkey_block(req, &first);
	if (!port)
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	spin_lock_bh(&port->lock);
	for (i = 0; i < PKEY_BLOCK && first + i < port->node->pkeys; i++)
		to[i] = port->pkeys[first + i];
	spin_unlock_bh(&port->lock);
	return 0;
}

u16 vib_sma_set_pkeys(struct vib_sma_req *req)
{
	const __be16 *from = (const __be16 *)req->smp->data;
	struct vib_port *port;
	unsigned int first, i;
	bool changed = false;

	port = pkey_block(req, &first);
	if (!port)
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	spin_lock_bh(&port->lock);
	for (i = 0; i < PKEY_BLOCK && first + i < port->node->pkeys; i++) {
		if (port->pkeys[first + i] == from[i])
			continue;
		/* Packets are checked against the entries without the lock. */
		WRITE_ONCE(port->pkeys[first + i], from[i]);
		changed = true;
	}
	spin_unlock_bh(&port->lock);
	if (changed)
		vib_sma_events(port, BIT(IB_EVENT_PKEY_CHANGE));
	return 0;
}

/* ---- SLtoVLMappingTable: input port, then output port in a switch's modifier ---- */

/* The VLs by SL, and in @port the port whose lock protects them; or NULL. */
static u8 *sl_table(const struct vib_sma_req *req, struct vib_port **port)
{
	u32 in = req->mod >> 8 & 0xff, out = req->mod & 0xff;
	struct vib_node *node = req->in->node;

	if (!vib_sma_on_switch(req)) {
		*port = req->in;
		return req->in->sl_to_vl;
	}
	if (in > node->num_ports || out > node->num_ports)
		return NULL;
	*port = &node->ports[out];
	return to_vib_switch(node)->sl_to_vl[in * (node->num_ports + 1) + out];
}

u16 vib_sma_get_sl_to_vl(struct vib_sma_req *req)
{
	struct vib_port *port;
	const u8 *table = sl_table(req, &port);
	unsigned int sl;

	if (!table)
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	spin_lock_bh(&port->lock);
	for (sl = 0; sl < SLS; sl += 2)
		req->data[sl / 2] = table[sl] << 4 | table[sl + 1];
	spin_unlock_bh(&port->lock);
	return 0;
}

u16 vib_sma_set_sl_to_vl(struct vib_sma_req *req)
{
	const u8 *from = req->smp->data;
	struct vib_port *port;
	u8 *table = sl_table(req, &port);
	unsigned int sl;

	if (!table)
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	spin_lock_bh(&port->lock);
	for (sl = 0; sl < SLS; sl += 2) {
		WRITE_ONCE(table[sl], from[sl / 2] >> 4);
		WRITE_ONCE(table[sl + 1], from[sl / 2] & 0xf);
	}
	spin_unlock_bh(&port->lock);
	return 0;
}

/* ---- VLArbitrationTable: block in the modifier's upper half, port in the lower ---- */

static struct ib_vl_weight_elem *vl_arb_table(const struct vib_sma_req *req,
					      struct vib_port **port)
{
	u32 block = req->mod >> 16;

	BUILD_BUG_ON(sizeof((*port)->vl_low) != IB_SMP_DATA_SIZE);
	*port = table_port(req, req->mod & 0xffff);
	if (!*port)
		return NULL;
	if (block == VL_ARB_LOW)
		return (*port)->vl_low;
	return block == VL_ARB_HIGH ? (*port)->vl_high : NULL;
}

u16 vib_sma_get_vl_arb(struct vib_sma_req *req)
{
	struct ib_vl_weight_elem *table;
	struct vib_port *port;

	table = vl_arb_table(req, &port);
	if (!table)
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	spin_lock_bh(&port->lock);
	memcpy(req->data, table, IB_SMP_DATA_SIZE);
	spin_unlock_bh(&port->lock);
	return 0;
}

u16 vib_sma_set_vl_arb(struct vib_sma_req *req)
{
	const struct ib_vl_weight_elem *from = (const void *)req->smp->data;
	struct ib_vl_weight_elem *table;
	struct vib_port *port;
	unsigned int i;

	table = vl_arb_table(req, &port);
	if (!table)
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	spin_lock_bh(&port->lock);
	for (i = 0; i < ARRAY_SIZE(port->vl_low); i++) {
		table[i].vl = from[i].vl & 0xf;
		table[i].weight = from[i].weight;
	}
	spin_unlock_bh(&port->lock);
	return 0;
}
