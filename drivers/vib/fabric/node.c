// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Nodes: channel adapters and switches, as the fabric sees them. */
#include <linux/log2.h>
#include <linux/slab.h>
#include "mgmt/mgmt.h"

/* Ports have 1, 2, 4, 8 or 15 data VLs: at least what was asked for. */
static u8 data_vls(const struct vib_node_attr *attr)
{
	return attr->data_vls > 8 ? 15 : roundup_pow_of_two(attr->data_vls ?: 4);
}

/* What PortInfo says of each port from the beginning (IBA vol. 1, 14.2.5.6). */
static void port_info_init(struct vib_port *port, const struct vib_node_attr *attr)
{
	struct ib_port_info *info = &port->info;
	u8 mtu = attr->mtu ?: IB_MTU_4096;

	info->local_port_num = port->num;
	info->link_width_supported = IB_WIDTH_1X | IB_WIDTH_4X;
	info->link_width_enabled = info->link_width_supported;
	info->link_width_active = IB_WIDTH_4X;
	/* 2.5, 5 and 10 Gb/s a lane. */
	info->linkspeed_portstate = 7 << 4;
	info->linkspeedactive_enabled = IB_SPEED_QDR << 4 | 7;
	/* A link that goes down polls for the next. */
	info->portphysstate_linkdown = IB_PORT_PHYS_STATE_POLLING;
	info->neighbormtu_mastersmsl = IB_MTU_256 << 4;
	/* VLCap: 1 to 5 are 1, 2, 4, 8 and 15 data VLs. */
	info->vlcap_inittype = (fls(port->op_vls) + (port->op_vls == 15)) << 4;
	info->vl_arb_high_cap = ARRAY_SIZE(port->vl_high);
	info->vl_arb_low_cap = ARRAY_SIZE(port->vl_low);
	info->inittypereply_mtucap = mtu;
	info->vlstallcnt_hoqlife = 0x10;
	info->operationalvl_pei_peo_fpi_fpo = 1 << 4;
	info->guid_cap = port->node->guids;
	info->resv_resptimevalue = 0x10;
	info->gid_prefix = cpu_to_be64(VIB_GID_PREFIX);
}

static int port_init(struct vib_port *port, struct vib_node *node, u8 num,
		     const struct vib_node_attr *attr)
{
	unsigned int i;

	port->node = node;
	port->num = num;
	spin_lock_init(&port->lock);
	vib_tx_init(&port->tx, port);
	port->state = IB_PORT_DOWN;
	port->phys_state = IB_PORT_PHYS_STATE_POLLING;
	/* The manager lowers both to what the other end has; they outlast the link. */
	port->mtu = attr->mtu ?: IB_MTU_4096;
	port->op_vls = data_vls(attr);
	INIT_DELAYED_WORK(&port->leave, vib_port_leave_work);
	for (i = 0; i < ARRAY_SIZE(port->vl_low); i++)
		port->vl_low[i] = (struct ib_vl_weight_elem){ .vl = i % 8, .weight = 1 };
	port->counters = alloc_percpu(struct vib_port_counters);
	port->pkeys = kcalloc(node->pkeys, sizeof(*port->pkeys), GFP_KERNEL);
	port->guids = kcalloc(node->guids, sizeof(*port->guids), GFP_KERNEL);
	port->mgmt = vib_mgmt_alloc(port);
	if (!port->counters || !port->pkeys || !port->guids || !port->mgmt)
		return -ENOMEM;
	/* The default partition, of which all are full members at first. */
	port->pkeys[0] = cpu_to_be16(IB_DEFAULT_PKEY_FULL);
	port->guids[0] = node->type == RDMA_NODE_IB_SWITCH ? node->guid :
			 cpu_to_be64(be64_to_cpu(node->guid) + num);
	port_info_init(port, attr);
	/* Port 0 of a switch has no link: it is always there (18.2.4.1). */
	if (!num) {
		port->state = IB_PORT_ACTIVE;
		port->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
		port->mtu = port->info.inittypereply_mtucap;
	}
	return 0;
}

/* @port is zeroed, if port_init() was never called. */
static void port_cleanup(struct vib_port *port)
{
	if (!port->node)
		return;
	cancel_delayed_work_sync(&port->leave);
	vib_tx_stop(&port->tx);
	vib_mgmt_free(port->mgmt);
	free_percpu(port->counters);
	kfree(port->pkeys);
	kfree(port->guids);
}

static void node_free(struct work_struct *work)
{
	struct vib_node *node = container_of(work, struct vib_node, free);

	node->ops->release(node);
}

/* In softirq, perhaps: freeing waits for timers and works. */
static void node_unused(struct percpu_ref *ref)
{
	struct vib_node *node = container_of(ref, struct vib_node, ref);

	queue_work(vib_free_wq, &node->free);
}

int vib_node_init(struct vib_node *node, u8 type, const struct vib_node_ops *ops,
		  const struct vib_node_attr *attr)
{
	unsigned int i;
	int ret;

	if (!attr->num_ports || attr->num_ports > VIB_MAX_PORTS || attr->data_vls > 15 ||
	    (attr->mtu && (attr->mtu < IB_MTU_256 || attr->mtu > IB_MTU_4096)))
		return -EINVAL;
	node->type = type;
	node->ops = ops;
	node->num_ports = attr->num_ports;
	node->pkeys = attr->pkeys ?: 32;
	node->guids = attr->guids ?: 8;
	node->guid = attr->guid;
	node->sys_guid = attr->sys_guid ?: attr->guid;
	spin_lock_init(&node->desc_lock);
	INIT_LIST_HEAD(&node->entry);
	INIT_WORK(&node->free, node_free);
	ret = percpu_ref_init(&node->ref, node_unused, 0, GFP_KERNEL);
	if (ret)
		return ret;
	node->name = kstrdup(attr->name, GFP_KERNEL);
	node->ports = kcalloc(node->num_ports + 1, sizeof(*node->ports), GFP_KERNEL);
	ret = node->name && node->ports ? 0 : -ENOMEM;
	for (i = type == RDMA_NODE_IB_SWITCH ? 0 : 1; !ret && i <= node->num_ports; i++)
		ret = port_init(&node->ports[i], node, i, attr);
	if (ret) {
		vib_node_cleanup(node);
		return ret;
	}
	strscpy(node->desc, attr->desc ?: node->name, sizeof(node->desc));
	return 0;
}

void vib_node_cleanup(struct vib_node *node)
{
	unsigned int i;

	/* Traps of one port are sent, and counted, by others. */
	for (i = 0; node->ports && i <= node->num_ports; i++)
		vib_mgmt_stop(node->ports[i].mgmt);
	for (i = 0; node->ports && i <= node->num_ports; i++)
		port_cleanup(&node->ports[i]);
	kfree(node->ports);
	kfree(node->name);
	percpu_ref_exit(&node->ref);
}

int vib_node_add(struct vib_fabric *fabric, struct vib_node *node)
{
	struct vib_node *other;
	int ret = 0;

	mutex_lock(&fabric->lock);
	list_for_each_entry(other, &fabric->nodes, entry) {
		if (!strcmp(other->name, node->name) || other->guid == node->guid) {
			ret = -EEXIST;
			break;
		}
	}
	if (!ret) {
		node->fabric = fabric;
		list_add_tail(&node->entry, &fabric->nodes);
	}
	mutex_unlock(&fabric->lock);
	return ret;
}

/*
 * Why nothing calls the node afterwards: (1) it has no link, so no port has it as its peer,
 * and link_down() waited for those that saw it; (2) a link's work does nothing once the
 * link is detached; (3) what else reports events is the owner's, who has stopped it.
 * Packets may still hold credits of its ports; the last of them lets release() free it.
 */
void vib_node_remove(struct vib_node *node)
{
	struct vib_fabric *fabric = node->fabric;
	struct vib_link *link;
	unsigned int i;

	mutex_lock(&fabric->lock);
	for (i = 0; i <= node->num_ports; i++) {
		link = rcu_dereference_protected(node->ports[i].link,
						 lockdep_is_held(&fabric->lock));
		if (link)
			vib_link_detach(link);
	}
	list_del_init(&node->entry);
	mutex_unlock(&fabric->lock);
	/* vib_link_train() looks at ports under RCU. */
	synchronize_rcu_expedited();
	percpu_ref_kill(&node->ref);
}
