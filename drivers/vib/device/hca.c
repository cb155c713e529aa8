// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Channel adapters: made, shown to consumers, and removed.
 *
 * An adapter is an RDMA device and a node in one struct, which both have to be done with
 * before it is freed:
 *
 *	vib_hca_create()	neither is in use
 *	vib_node_add()		links may be plugged in; packets find no queue pair yet
 *	vib_hca_register()	consumers
 *	vib_hca_unregister()	none any more, nor events to them
 *	vib_node_remove()	no packet arrives any more
 *	hca_release()		no packet has credits of its ports any more
 */
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_mad.h>
#include "device/ah.h"
#include "queue/cq.h"
#include "device/hca.h"
#include "device/qp.h"
#include "queue/srq.h"
#include "memory/mr.h"
#include "mgmt/mgmt.h"
#include "transport/rc.h"
#include "user/user.h"

/* Of objects that nothing but memory limits there are as many as anybody counts. */
#define MAX_OBJECTS	0x100000
#define MAX_GROUPS	(VIB_LID_PERMISSIVE - VIB_LID_MCAST)

/* ---- the device ---- */

static int vib_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			    struct ib_udata *udata)
{
	const struct vib_node *node = &to_vib_hca(ibdev)->node;

	*attr = (struct ib_device_attr){
		.sys_image_guid = node->sys_guid,
		.max_mr_size = U64_MAX,
		.page_size_cap = VIB_PAGE_SIZES,
		.vendor_id = VIB_VENDOR_ID,
		.vendor_part_id = VIB_DEVICE_ID,
		.hw_ver = VIB_HW_REVISION,
		.max_qp = IB_MULTICAST_QPN - VIB_FIRST_QPN,
		.max_qp_wr = VIB_MAX_WR,
		.device_cap_flags = IB_DEVICE_BAD_PKEY_CNTR | IB_DEVICE_BAD_QKEY_CNTR |
				    IB_DEVICE_UD_AV_PORT_ENFORCE | IB_DEVICE_AUTO_PATH_MIG |
				    IB_DEVICE_RC_RNR_NAK_GEN |
				    IB_DEVICE_CURR_QP_STATE_MOD | IB_DEVICE_SHUTDOWN_PORT |
				    IB_DEVICE_PORT_ACTIVE_EVENT | IB_DEVICE_SYS_IMAGE_GUID |
				    IB_DEVICE_SRQ_RESIZE | IB_DEVICE_MEM_MGT_EXTENSIONS |
				    IB_DEVICE_MEM_WINDOW_TYPE_2B | IB_DEVICE_XRC,
		.kernel_cap_flags = IBK_LOCAL_DMA_LKEY | IBK_BLOCK_MULTICAST_LOOPBACK |
				    IBK_INTEGRITY_HANDOVER,
		.max_send_sge = VIB_MAX_SGE,
		.max_recv_sge = VIB_MAX_SGE,
		.max_sge_rd = VIB_MAX_SGE,
		.max_qp_rd_atom = VIB_MAX_RD_ATOMIC,
		.max_qp_init_rd_atom = VIB_MAX_RD_ATOMIC,
		.max_res_rd_atom = MAX_OBJECTS,
		.max_cq = MAX_OBJECTS,
		.max_cqe = VIB_MAX_CQE,
		.max_mr = MAX_OBJECTS,
		.max_mw = MAX_OBJECTS,
		.max_fast_reg_page_list_len = VIB_MAX_FAST_PAGES,
		.max_pi_fast_reg_page_list_len = VIB_MAX_SEGMENTS,
		.sig_prot_cap = IB_PROT_T10DIF_TYPE_1 | IB_PROT_T10DIF_TYPE_2 |
				IB_PROT_T10DIF_TYPE_3,
		.sig_guard_cap = IB_GUARD_T10DIF_CRC | IB_GUARD_T10DIF_CSUM,
		.max_pd = MAX_OBJECTS,
		.max_srq = MAX_OBJECTS,
		.max_srq_wr = VIB_MAX_WR,
		.max_srq_sge = VIB_MAX_SGE,
		.max_ah = MAX_OBJECTS,
		.max_mcast_grp = MAX_GROUPS,
		.max_mcast_qp_attach = MAX_OBJECTS,
		.max_total_mcast_qp_attach = MAX_OBJECTS,
		.max_pkeys = node->pkeys,
		.atomic_cap = IB_ATOMIC_HCA,
		.local_ca_ack_delay = 15,
	};
	return 0;
}

/* Each port's subnet manager is told of a new description (14.2.5.1, trap 144). */
static void hca_set_desc(struct vib_hca *hca, const char *desc)
{
	unsigned int i;

	spin_lock_bh(&hca->node.desc_lock);
	memcpy(hca->node.desc, desc, sizeof(hca->node.desc));
	memcpy(hca->ib.node_desc, desc, sizeof(hca->ib.node_desc));
	spin_unlock_bh(&hca->node.desc_lock);
	for (i = 1; i <= hca->node.num_ports; i++)
		vib_trap_local_change(&hca->node.ports[i], IB_NOTICE_TRAP_NODE_DESC_CHG);
}

static int vib_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *modify)
{
	struct vib_hca *hca = to_vib_hca(ibdev);

	if (mask & ~(IB_DEVICE_MODIFY_SYS_IMAGE_GUID | IB_DEVICE_MODIFY_NODE_DESC))
		return -EOPNOTSUPP;
	if (mask & IB_DEVICE_MODIFY_SYS_IMAGE_GUID)
		WRITE_ONCE(hca->node.sys_guid, cpu_to_be64(modify->sys_image_guid));
	if (mask & IB_DEVICE_MODIFY_NODE_DESC)
		hca_set_desc(hca, modify->node_desc);
	return 0;
}

static const struct ib_device_ops hca_ops = {
	.owner		= THIS_MODULE,
	.query_device	= vib_query_device,
	.modify_device	= vib_modify_device,
};

static const struct ib_device_ops * const hca_all_ops[] = {
	&hca_ops, &vib_port_ops, &vib_mad_ops, &vib_counter_ops, &vib_cq_ops, &vib_mr_ops,
	&vib_ah_ops, &vib_qp_ops, &vib_post_ops, &vib_mcast_ops, &vib_srq_ops,
	&vib_fast_ops, &vib_integrity_ops, &vib_window_ops, &vib_user_ops,
};

static void device_init(struct vib_hca *hca)
{
	unsigned int i;

	hca->ib.node_type = RDMA_NODE_IB_CA;
	hca->ib.phys_port_cnt = hca->node.num_ports;
	hca->ib.num_comp_vectors = num_online_cpus();
	hca->ib.node_guid = hca->node.guid;
	hca->ib.local_dma_lkey = VIB_LOCAL_DMA_LKEY;
	hca->ib.uverbs_cmd_mask |= vib_user_cmd_mask;
	memcpy(hca->ib.node_desc, hca->node.desc, sizeof(hca->ib.node_desc));
	for (i = 0; i < ARRAY_SIZE(hca_all_ops); i++)
		ib_set_device_ops(&hca->ib, hca_all_ops[i]);
}

/* ---- the node ---- */

static void hca_dispatch(struct vib_hca *hca, u32 port_num, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &hca->ib,
		.event = type,
		.element.port_num = port_num,
	};

	ib_dispatch_event(&event);
}

/* The core takes events of a device that is registered, and of no other. */
static void hca_event(struct vib_port *port, enum ib_event_type type)
{
	struct vib_hca *hca = vib_port_hca(port);

	rcu_read_lock();
	if (READ_ONCE(hca->registered))
		hca_dispatch(hca, port->num, type);
	rcu_read_unlock();
}

static void hca_free(struct vib_hca *hca)
{
	WARN_ON(!xa_empty(&hca->qps) || !xa_empty(&hca->groups) || !xa_empty(&hca->keys) ||
		!xa_empty(&hca->srqs));
	xa_destroy(&hca->qps);
	xa_destroy(&hca->groups);
	xa_destroy(&hca->srqs);
	xa_destroy(&hca->keys);
	mutex_destroy(&hca->lock);
	kfree(hca->ports);
	ib_dealloc_device(&hca->ib);
}

/*
 * Why nothing uses the adapter any more: (1) no consumer does, since vib_hca_unregister();
 * with the consumers went their queue pairs, and what waited in them; (2) no packet arrives
 * and no event comes from the ports, since vib_node_remove(); (3) no packet, wherever it is,
 * refers to a transmitter of the node's; (4) traps are repeated until vib_node_cleanup() ends
 * that.  The core may still hold the device's memory.
 */
static void hca_release(struct vib_node *node)
{
	struct vib_hca *hca = container_of(node, struct vib_hca, node);

	vib_node_cleanup(node);
	hca_free(hca);
}

static const struct vib_node_ops hca_node_ops = {
	.receive = vib_hca_receive,
	.event = hca_event,
	.release = hca_release,
};

struct vib_hca *vib_hca_create(const struct vib_node_attr *attr)
{
	struct vib_hca *hca = ib_alloc_device(vib_hca, ib);
	int ret;

	if (!hca)
		return ERR_PTR(-ENOMEM);
	mutex_init(&hca->lock);
	xa_init_flags(&hca->qps, XA_FLAGS_ALLOC);
	xa_init(&hca->groups);
	xa_init_flags(&hca->srqs, XA_FLAGS_ALLOC1);
	xa_init_flags(&hca->keys, XA_FLAGS_ALLOC1);
	hca->next_qpn = VIB_FIRST_QPN;
	ret = vib_node_init(&hca->node, RDMA_NODE_IB_CA, &hca_node_ops, attr);
	if (ret)
		goto err_free;
	hca->ports = kcalloc(hca->node.num_ports + 1, sizeof(*hca->ports), GFP_KERNEL);
	if (!hca->ports) {
		ret = -ENOMEM;
		goto err_node;
	}
	device_init(hca);
	return hca;

err_node:
	vib_node_cleanup(&hca->node);
err_free:
	hca_free(hca);
	return ERR_PTR(ret);
}

void vib_hca_destroy(struct vib_hca *hca)
{
	hca_release(&hca->node);
}

/* ---- consumers ---- */

/*
 * Events begin when the device is whole.  What has become of the ports meanwhile the core's
 * caches and the consumers may have missed: an event each makes them look again.
 */
int vib_hca_register(struct vib_hca *hca)
{
	unsigned int i;
	int ret;

	hca->ib.dev.parent = vib_parent;
	ret = ib_register_device(&hca->ib, "vib%d", NULL);
	if (ret)
		return ret;
	WRITE_ONCE(hca->registered, true);
	for (i = 1; i <= hca->node.num_ports; i++) {
		if (READ_ONCE(hca->node.ports[i].state) == IB_PORT_ACTIVE)
			hca_event(&hca->node.ports[i], IB_EVENT_PORT_ACTIVE);
	}
	return 0;
}

void vib_hca_unregister(struct vib_hca *hca)
{
	WRITE_ONCE(hca->registered, false);
	/* An event that is being dispatched reaches the core before the device goes. */
	synchronize_rcu_expedited();
	ib_unregister_device(&hca->ib);
}
