// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The fake adapter as a device: registration, ports, tables, faults. */
#include <linux/module.h>
#include <net/addrconf.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_user_verbs.h>
#include "fake_qp.h"

LIST_HEAD(fake_fabric);			/* protected by fake_fabric_lock */
DEFINE_MUTEX(fake_fabric_lock);
static atomic_t fake_hca_serial = ATOMIC_INIT(0);

static void fake_hca_fill_attrs(struct ib_device_attr *attrs)
{
	attrs->max_mr_size = U64_MAX;
	attrs->page_size_cap = PAGE_SIZE;
	attrs->max_qp = 100000;
	attrs->max_qp_wr = 16384;
	attrs->max_send_sge = 8;
	attrs->max_recv_sge = 8;
	attrs->max_sge_rd = 8;
	attrs->max_cq = 100000;
	attrs->max_cqe = 65536;
	attrs->max_mr = 100000;
	attrs->max_pd = 100000;
	attrs->max_qp_rd_atom = 16;
	attrs->max_qp_init_rd_atom = 16;
	attrs->max_srq = 1000;
	attrs->max_srq_wr = 4096;
	attrs->max_srq_sge = 4;
	attrs->max_ah = 100000;
	attrs->max_fast_reg_page_list_len = 256;
	attrs->max_pkeys = FAKE_HCA_PKEYS;
	attrs->local_ca_ack_delay = 15;
	attrs->device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS |
				  IB_DEVICE_AUTO_PATH_MIG;
	attrs->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
}

static int fake_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			     struct ib_udata *udata)
{
	fake_hca_fill_attrs(attr);
	fake_contract_attrs(to_fake_hca(ibdev), attr);
	return 0;
}

static int fake_query_port(struct ib_device *ibdev, u32 port,
			   struct ib_port_attr *attr)
{
	struct fake_hca *hca = to_fake_hca(ibdev);

	fake_contract_query_port(hca);
	attr->state = hca->port[port].state;
	attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = IB_MTU_4096;
	attr->gid_tbl_len = FAKE_HCA_GIDS;
	attr->pkey_tbl_len = fake_contract_pkeys(hca);
	attr->lid = hca->port[port].lid;
	attr->sm_lid = hca->port[port].sm_lid;
	attr->port_cap_flags = hca->port[port].cap_mask;
	attr->max_msg_sz = SZ_1G;
	attr->active_width = IB_WIDTH_4X;
	attr->active_speed = IB_SPEED_EDR;
	attr->max_vl_num = 1;
	return 0;
}

static int fake_port_immutable(struct ib_device *ibdev, u32 port,
			       struct ib_port_immutable *immutable)
{
	struct fake_hca *hca = to_fake_hca(ibdev);

	immutable->gid_tbl_len = FAKE_HCA_GIDS;
	immutable->pkey_tbl_len = fake_contract_pkeys(hca);
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	if (hca->iwarp) {
		immutable->core_cap_flags = RDMA_CORE_PORT_IWARP;
		immutable->gid_tbl_len = 1;
		immutable->pkey_tbl_len = 1;
		immutable->max_mad_size = 0;
	} else if (hca->link_layer == IB_LINK_LAYER_ETHERNET) {
		immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE |
					    RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP;
	} else {
		immutable->core_cap_flags = RDMA_CORE_PORT_IBA_IB;
	}
	if (hca->quirks.grh_required && !hca->iwarp)
		immutable->core_cap_flags |= RDMA_CORE_CAP_IB_GRH_REQUIRED;
	if (hca->opa) {
		immutable->core_cap_flags = RDMA_CORE_PORT_INTEL_OPA;
		immutable->max_mad_size = OPA_MGMT_MAD_SIZE;
	}
	if (hca->core_cap_flags)
		immutable->core_cap_flags = hca->core_cap_flags;
	return 0;
}

static enum rdma_link_layer fake_get_link_layer(struct ib_device *ibdev, u32 port)
{
	return to_fake_hca(ibdev)->link_layer;
}

static int fake_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	if (index >= fake_contract_pkeys(to_fake_hca(ibdev)))
		return -EINVAL;
	*pkey = to_fake_hca(ibdev)->port[port].pkeys[index];
	return 0;
}

static int fake_query_gid(struct ib_device *ibdev, u32 port, int index,
			  union ib_gid *gid)
{
	if (index >= FAKE_HCA_GIDS)
		return -EINVAL;
	*gid = to_fake_hca(ibdev)->port[port].gids[index];
	return 0;
}

static int fake_modify_port(struct ib_device *ibdev, u32 port, int mask,
			    struct ib_port_modify *modify)
{
	struct fake_hca *hca = to_fake_hca(ibdev);

	if (atomic_dec_if_positive(&hca->fail_modify_port) == 0)
		return -EIO;
	hca->port[port].cap_mask |= modify->set_port_cap_mask;
	hca->port[port].cap_mask &= ~modify->clr_port_cap_mask;
	return 0;
}

int fake_hca_process_mad(struct ib_device *ibdev, int flags, u32 port,
			 const struct ib_wc *wc, const struct ib_grh *grh,
			 const struct ib_mad *in, struct ib_mad *out,
			 size_t *out_len, u16 *pkey_index)
{
	struct fake_hca *hca = to_fake_hca(ibdev);

	if (hca->quirks.process_mad_sleeps)
		might_sleep();
	return hca->process_mad ?
	       hca->process_mad(hca, port, wc, in, out, out_len) :
	       fake_contract_process_mad(hca, in);
}

static const struct ib_device_ops fake_hca_sma_ops = {
	.process_mad		= fake_hca_process_mad,
};

static const struct ib_device_ops fake_hca_ops = {
	.owner			= THIS_MODULE,
	.driver_id		= RDMA_DRIVER_UNKNOWN,
	.query_device		= fake_query_device,
	.query_port		= fake_query_port,
	.modify_port		= fake_modify_port,
	.get_port_immutable	= fake_port_immutable,
	.get_link_layer		= fake_get_link_layer,
	.query_pkey		= fake_query_pkey,
	.query_gid		= fake_query_gid,
};

struct fake_hca *fake_hca_alloc(const struct fake_hca_params *params)
{
	int serial = atomic_inc_return(&fake_hca_serial);
	struct fake_hca *hca;
	u32 p;

	hca = ib_alloc_device(fake_hca, ibdev);
	if (!hca)
		return NULL;
	/*
	 * WQ_MEM_RECLAIM, as hns and bnxt_re have, whose workqueues destroy_qp flushes,
	 * too.
	 */
	hca->wq = alloc_ordered_workqueue("fake_hca", WQ_MEM_RECLAIM);
	if (!hca->wq) {
		ib_dealloc_device(&hca->ibdev);
		return NULL;
	}
	hca->link_layer = params->link_layer;
	hca->iwarp = params->iwarp;
	hca->opa = params->opa;
	hca->quirks = *fake_hca_quirks_default();
	hca->ibdev.node_type = params->iwarp ? RDMA_NODE_RNIC :
			       params->is_switch ? RDMA_NODE_IB_SWITCH :
						   RDMA_NODE_IB_CA;
	hca->ibdev.is_switch = params->is_switch;
	hca->ibdev.phys_port_cnt = params->ports ?: 1;
	hca->ibdev.num_comp_vectors = 4;
	hca->ibdev.local_dma_lkey = 0;
	hca->ibdev.node_guid = cpu_to_be64(0x0002c90300000000ULL + serial * 16);
	for (p = !params->is_switch; p <= hca->ibdev.phys_port_cnt; p++) {
		struct fake_hca_port *port = &hca->port[p];

		port->state = IB_PORT_ACTIVE;
		port->lid = serial * 3 + p;
		port->sm_lid = 1;
		port->pkeys[0] = 0xffff;
		port->pkeys[1] = 0x8001;
		if (params->link_layer == IB_LINK_LAYER_ETHERNET && !params->iwarp)
			continue;
		port->gids[0].global.subnet_prefix = cpu_to_be64(0xfe80000000000000ULL);
		port->gids[0].global.interface_id =
			cpu_to_be64(be64_to_cpu(hca->ibdev.node_guid) + p);
	}
	xa_init_flags(&hca->qps, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	spin_lock_init(&hca->wire_lock);
	INIT_LIST_HEAD(&hca->wire);
	INIT_LIST_HEAD(&hca->held);
	INIT_LIST_HEAD(&hca->on_fabric);
	INIT_WORK(&hca->wire_work, fake_hca_wire_run);
	hca->send_status = IB_WC_SUCCESS;
	ib_set_device_ops(&hca->ibdev, &fake_hca_ops);
	hca->ibdev.ops.driver_id = hca->quirks.driver;
	/* ib_set_device_ops() keeps what is set already. */
	if (params->user) {
		ib_set_device_ops(&hca->ibdev, &fake_hca_queue_ops);
		hca->ibdev.uverbs_cmd_mask = U64_MAX;
	}
	ib_set_device_ops(&hca->ibdev, &fake_hca_qp_ops);
	ib_set_device_ops(&hca->ibdev, &fake_hca_cq_ops);
	if (params->user) {
		ib_set_device_ops(&hca->ibdev, &fake_hca_user_ops);
		/* Also the commands that a driver must enable itself. */
		hca->ibdev.uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POLL_CQ) |
					      BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
	}
	if (params->sma)
		ib_set_device_ops(&hca->ibdev, &fake_hca_sma_ops);
	if (params->link_layer == IB_LINK_LAYER_ETHERNET && !params->iwarp)
		ib_set_device_ops(&hca->ibdev, &fake_hca_roce_ops);
	if (params->iwarp)
		ib_set_device_ops(&hca->ibdev, &fake_hca_iwarp_ops);
	if (params->ndev && ib_device_set_netdev(&hca->ibdev, params->ndev, 1)) {
		fake_hca_free(hca);
		return NULL;
	}
	return hca;
}
EXPORT_SYMBOL_GPL(fake_hca_alloc);

int fake_hca_register(struct fake_hca *hca)
{
	int ret;

	mutex_lock(&fake_fabric_lock);
	list_add(&hca->on_fabric, &fake_fabric);
	mutex_unlock(&fake_fabric_lock);
	fake_contract_ops(hca);
	ret = ib_register_device(&hca->ibdev, "fake%d", NULL);
	if (ret) {
		mutex_lock(&fake_fabric_lock);
		list_del_init(&hca->on_fabric);
		mutex_unlock(&fake_fabric_lock);
	}
	return ret;
}
EXPORT_SYMBOL_GPL(fake_hca_register);

void fake_hca_free(struct fake_hca *hca)
{
	destroy_workqueue(hca->wq);
	WARN_ON(!xa_empty(&hca->qps));
	fake_hca_free_places(hca);
	ib_dealloc_device(&hca->ibdev);
}
EXPORT_SYMBOL_GPL(fake_hca_free);

struct fake_hca *fake_hca_create(const struct fake_hca_params *params)
{
	struct fake_hca *hca = fake_hca_alloc(params);

	if (hca && fake_hca_register(hca)) {
		fake_hca_free(hca);
		return NULL;
	}
	return hca;
}
EXPORT_SYMBOL_GPL(fake_hca_create);

void fake_hca_unregister(struct fake_hca *hca)
{
	struct fake_hca_packet *packet, *next;

	ib_unregister_device(&hca->ibdev);
	mutex_lock(&fake_fabric_lock);
	list_del_init(&hca->on_fabric);
	mutex_unlock(&fake_fabric_lock);
	flush_workqueue(hca->wq);
	list_for_each_entry_safe(packet, next, &hca->held, entry)
		kfree(packet);
}
EXPORT_SYMBOL_GPL(fake_hca_unregister);

void fake_hca_destroy(struct fake_hca *hca)
{
	fake_hca_unregister(hca);
	fake_hca_free(hca);
}
EXPORT_SYMBOL_GPL(fake_hca_destroy);

void fake_hca_port_event(struct fake_hca *hca, u32 port, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &hca->ibdev,
		.element.port_num = port,
		.event = type,
	};

	fake_contract_port_event(hca, &event);
}
EXPORT_SYMBOL_GPL(fake_hca_port_event);

void fake_hca_qp_event(struct ib_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device = qp->device,
		.element.qp = qp,
		.event = type,
	};

	fake_contract_qp_event(to_fake_hca(qp->device), &event);
}
EXPORT_SYMBOL_GPL(fake_hca_qp_event);

int fake_hca_objects(struct fake_hca *hca)
{
	int i, n = 0;

	for (i = 0; i < FAKE_GID; i++)
		n += atomic_read(&hca->alive[i]);
	return n;
}
EXPORT_SYMBOL_GPL(fake_hca_objects);

unsigned int fake_hca_slow = 1;
EXPORT_SYMBOL_GPL(fake_hca_slow);
module_param_named(slow, fake_hca_slow, uint, 0444);
MODULE_PARM_DESC(slow, "How many times longer than on an idle machine things may take");

MODULE_DESCRIPTION("Host channel adapter in memory, for tests");
MODULE_LICENSE("Dual BSD/GPL");
