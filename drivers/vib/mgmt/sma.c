// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The subnet management agent: M_Key check and dispatch of SMPs (IBA vol. 1, 14.2.4, 14.2.5).
 * The attributes are in sma_node.c, sma_port.c, sma_tables.c and sma_switch.c.
 */
#include <linux/jiffies.h>
#include "mgmt/sma.h"

struct sma_attr {
	__be16 id;
	bool on_switch;			/* only switches have it */
	vib_sma_method get, set;	/* without set: read-only */
};

/* 14.2.5.  SMInfo is not here: it belongs to the subnet manager. */
static const struct sma_attr sma_attrs[] = {
	{ IB_SMP_ATTR_NODE_DESC, false, vib_sma_get_node_desc, NULL },
	{ IB_SMP_ATTR_NODE_INFO, false, vib_sma_get_node_info, NULL },
	{ IB_SMP_ATTR_SWITCH_INFO, true, vib_sma_get_switch_info, vib_sma_set_switch_info },
	{ IB_SMP_ATTR_GUID_INFO, false, vib_sma_get_guid_info, vib_sma_set_guid_info },
	{ IB_SMP_ATTR_PORT_INFO, false, vib_sma_get_port_info, vib_sma_set_port_info },
	{ IB_SMP_ATTR_PKEY_TABLE, false, vib_sma_get_pkeys, vib_sma_set_pkeys },
	{ IB_SMP_ATTR_SL_TO_VL_TABLE, false, vib_sma_get_sl_to_vl, vib_sma_set_sl_to_vl },
	{ IB_SMP_ATTR_VL_ARB_TABLE, false, vib_sma_get_vl_arb, vib_sma_set_vl_arb },
	{ IB_SMP_ATTR_LINEAR_FORWARD_TABLE, true, vib_sma_get_lft, vib_sma_set_lft },
	{ IB_SMP_ATTR_MCAST_FORWARD_TABLE, true, vib_sma_get_mft, vib_sma_set_mft },
	{ IB_SMP_ATTR_LED_INFO, false, vib_sma_get_led_info, vib_sma_set_led_info },
};

struct vib_port *vib_sma_port(const struct vib_sma_req *req, u32 num)
{
	struct vib_node *node = req->in->node;

	if (num > node->num_ports)
		return NULL;
	if (!num && !vib_sma_on_switch(req))
		return req->in;
	return &node->ports[num];
}

void vib_sma_events(struct vib_port *port, unsigned long events)
{
	unsigned int event;

	if (!port->node->ops->event)
		return;
	for_each_set_bit(event, &events, BITS_PER_LONG)
		port->node->ops->event(port, event);
}

/* ---- M_Keys ---- */

/*
 * 14.2.4.2: when the lease has expired, any manager may read the M_Key, which may be that of
 * a manager that no longer exists.
 */
static void mkey_expire(struct vib_port *port)
{
	lockdep_assert_held(&port->lock);
	if (!port->mkey_expires || time_before(jiffies, port->mkey_expires))
		return;
	port->mkey_expires = 0;
	port->info.mkeyprot_resv_lmc &= 0x3f;
}

/* M_KeyViolations stops at its greatest value (14.2.5.6). */
static void mkey_violated(struct vib_port *port)
{
	u16 period = be16_to_cpu(port->info.mkey_lease_period);

	lockdep_assert_held(&port->lock);
	if (port->info.mkey_violations != cpu_to_be16(U16_MAX))
		be16_add_cpu(&port->info.mkey_violations, 1);
	/* A period of 0 means that the M_Key never expires. */
	if (period && !port->mkey_expires)
		port->mkey_expires = (jiffies + period * HZ) ?: 1;
}

/*
 * 14.2.4.1: an SMP with the right M_Key is admitted and stops the lease timer.  One with a
 * wrong M_Key is admitted if it is a Get and M_KeyProtectBits are 0 or 1.
 */
static bool mkey_admits(struct vib_port *port, const struct ib_smp *smp)
{
	bool ok = true;

	spin_lock_bh(&port->lock);
	mkey_expire(port);
	if (!port->info.mkey || port->info.mkey == smp->mkey) {
		port->mkey_expires = 0;
	} else if (smp->method != IB_MGMT_METHOD_GET ||
		   port->info.mkeyprot_resv_lmc >> 6 >= 2) {
		mkey_violated(port);
		ok = false;
	}
	spin_unlock_bh(&port->lock);
	return ok;
}

/*
 * A PortInfo SMP to an adapter may select a port other than the one by which it came in.
 * That port has an M_Key of its own and may be in another subnet: both M_Keys are checked.
 */
static struct vib_port *sma_other_port(struct vib_port *in, const struct ib_smp *smp)
{
	u32 num = be32_to_cpu(smp->attr_mod) & 0xff;

	if (in->node->type == RDMA_NODE_IB_SWITCH || smp->attr_id != IB_SMP_ATTR_PORT_INFO ||
	    !num || num == in->num || num > in->node->num_ports)
		return NULL;
	return &in->node->ports[num];
}

static bool sma_admits(struct vib_port *in, const struct ib_smp *smp, u16 slid)
{
	struct vib_port *ports[] = { vib_sma_end_port(in), sma_other_port(in, smp) };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ports); i++) {
		if (ports[i] && !mkey_admits(ports[i], smp)) {
			vib_trap_bad_mkey(ports[i], smp, slid);
			return false;
		}
	}
	return true;
}

/* ---- dispatch ---- */

static const struct sma_attr *sma_find(const struct vib_node *node, __be16 id)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sma_attrs); i++) {
		if (sma_attrs[i].id != id)
			continue;
		if (sma_attrs[i].on_switch && node->type != RDMA_NODE_IB_SWITCH)
			return NULL;
		return &sma_attrs[i];
	}
	return NULL;
}

static u16 sma_process(struct vib_port *in, const struct ib_smp *smp, struct ib_smp *out)
{
	const struct sma_attr *attr = sma_find(in->node, smp->attr_id);
	bool set = smp->method == IB_MGMT_METHOD_SET;
	struct vib_sma_req req = {
		.in = in,
		.smp = smp,
		.mod = be32_to_cpu(smp->attr_mod),
		.data = out->data,
	};
	u16 status = 0, got;

	if (smp->base_version != IB_MGMT_BASE_VERSION || smp->class_version != 1)
		return IB_MGMT_MAD_STATUS_BAD_VERSION;
	if (!attr || (set && !attr->set))
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
	if (set)
		status = attr->set(&req);
	got = attr->get(&req);
	return status ?: got;
}

static void sma_respond(struct vib_port *in, const struct ib_smp *smp, struct ib_smp *out)
{
	u16 status;

	*out = *smp;
	memset(out->data, 0, sizeof(out->data));
	status = sma_process(in, smp, out);
	out->method = IB_MGMT_METHOD_GET_RESP;
	out->status = cpu_to_be16(status);
	if (out->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		out->status |= IB_SMP_DIRECTION;
}

enum vib_mad_result vib_sma_receive(struct vib_port *port, u16 slid,
				    const struct ib_smp *in, struct ib_smp *out)
{
	bool repress = in->method == IB_MGMT_METHOD_TRAP_REPRESS;

	if (in->method != IB_MGMT_METHOD_GET && in->method != IB_MGMT_METHOD_SET && !repress)
		return VIB_MAD_HOST;
	/* SMInfo is protected by the SM_Key, not by the M_Key (14.4.1). */
	if (in->attr_id == IB_SMP_ATTR_SM_INFO)
		return VIB_MAD_HOST;
	if (!sma_admits(port, in, slid))
		return VIB_MAD_DROP;
	if (repress) {
		vib_trap_repress(port->node, in->tid);
		return VIB_MAD_DROP;
	}
	sma_respond(port, in, out);
	return VIB_MAD_REPLY;
}

enum vib_mad_result vib_sma_handle(struct vib_port *port, const struct ib_smp *in,
				   struct ib_smp *out)
{
	return vib_sma_receive(port, 0, in, out);
}
