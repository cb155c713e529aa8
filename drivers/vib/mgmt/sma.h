/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_MGMT_SMA_H
#define VIB_MGMT_SMA_H

/* The subnet management agent: what its files share. */
#include "mgmt/mgmt.h"

/* A SubnGet or SubnSet that has passed the M_Key check. */
struct vib_sma_req {
	struct vib_port *in;		/* the port by which the SMP came in */
	const struct ib_smp *smp;
	u32 mod;			/* the attribute modifier */
	u8 *data;			/* of the response, IB_SMP_DATA_SIZE zeroed bytes */
	bool reregister;		/* a Set of PortInfo had ClientReregister */
};

/*
 * get fills in the response.  set applies req->smp->data, all of it or nothing; get is called
 * after it, as the response to a Set has the present values.  Both return an
 * IB_MGMT_MAD_STATUS.
 */
typedef u16 (*vib_sma_method)(struct vib_sma_req *req);

static inline bool vib_sma_on_switch(const struct vib_sma_req *req)
{
	return req->in->node->type == RDMA_NODE_IB_SWITCH;
}

/* The port whose LID, M_Key and GUIDs the agent uses: of a switch port 0. */
static inline struct vib_port *vib_sma_end_port(struct vib_port *in)
{
	struct vib_node *node = in->node;

	return node->type == RDMA_NODE_IB_SWITCH ? &node->ports[0] : in;
}

/*
 * The port that an attribute modifier selects by @num.  Of an adapter, 0 selects the port by
 * which the SMP came in.  NULL if the node has no such port.
 */
struct vib_port *vib_sma_port(const struct vib_sma_req *req, u32 num);
/* Calls the node's event() for each enum ib_event_type whose bit is set in @events. */
void vib_sma_events(struct vib_port *port, unsigned long events);

/* sma_node.c */
u16 vib_sma_get_node_desc(struct vib_sma_req *req);
u16 vib_sma_get_node_info(struct vib_sma_req *req);
u16 vib_sma_get_led_info(struct vib_sma_req *req);
u16 vib_sma_set_led_info(struct vib_sma_req *req);
u16 vib_sma_get_guid_info(struct vib_sma_req *req);
u16 vib_sma_set_guid_info(struct vib_sma_req *req);

/* sma_port.c */
u16 vib_sma_get_port_info(struct vib_sma_req *req);
u16 vib_sma_set_port_info(struct vib_sma_req *req);

/* sma_tables.c */
u16 vib_sma_get_pkeys(struct vib_sma_req *req);
u16 vib_sma_set_pkeys(struct vib_sma_req *req);
u16 vib_sma_get_sl_to_vl(struct vib_sma_req *req);
u16 vib_sma_set_sl_to_vl(struct vib_sma_req *req);
u16 vib_sma_get_vl_arb(struct vib_sma_req *req);
u16 vib_sma_set_vl_arb(struct vib_sma_req *req);

/* sma_switch.c */
u16 vib_sma_get_switch_info(struct vib_sma_req *req);
u16 vib_sma_set_switch_info(struct vib_sma_req *req);
u16 vib_sma_get_lft(struct vib_sma_req *req);
u16 vib_sma_set_lft(struct vib_sma_req *req);
u16 vib_sma_get_mft(struct vib_sma_req *req);
u16 vib_sma_set_mft(struct vib_sma_req *req);

#endif
