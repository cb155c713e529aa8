// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The behaviour of the fake adapter that depends on hca->quirks. */
#include <linux/rtnetlink.h>
#include <rdma/ib_mad.h>
#include "fake_qp.h"

#define UNSET	0x5a	/* a byte of a completion that the provider did not set */

static bool on_ethernet(const struct fake_hca *hca)
{
	return hca->link_layer == IB_LINK_LAYER_ETHERNET;
}

/* ---- the device ---- */

void fake_contract_attrs(const struct fake_hca *hca, struct ib_device_attr *attrs)
{
	const struct fake_hca_quirks *quirks = &hca->quirks;

	if (quirks->max_ah)
		attrs->max_ah = quirks->max_ah;
	if (quirks->max_recv_sge)
		attrs->max_recv_sge = quirks->max_recv_sge;
	if (quirks->max_sge_rd)
		attrs->max_sge_rd = quirks->max_sge_rd;
	if (quirks->no_fast_reg)
		attrs->device_cap_flags &= ~IB_DEVICE_MEM_MGT_EXTENSIONS;
	if (quirks->no_local_dma_lkey)
		attrs->kernel_cap_flags &= ~IBK_LOCAL_DMA_LKEY;
}

u32 fake_contract_pkeys(const struct fake_hca *hca)
{
	return hca->quirks.one_pkey && on_ethernet(hca) ? 1 : FAKE_HCA_PKEYS;
}

void fake_contract_query_port(const struct fake_hca *hca)
{
	/* With ah_queries_port, create_ah calls this where it must not sleep. */
	if (!hca->quirks.ah_queries_port)
		might_sleep();
	if (hca->quirks.query_port_rtnl && on_ethernet(hca)) {
		rtnl_lock();
		rtnl_unlock();
	}
}

/* The result of ops.process_mad for a MAD that no test handles. */
int fake_contract_process_mad(const struct fake_hca *hca, const struct ib_mad *in)
{
	if (hca->quirks.process_mad == FAKE_EINVAL && on_ethernet(hca) &&
	    in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT)
		return -EINVAL;
	return IB_MAD_RESULT_SUCCESS;
}

/* Called at registration, as a test may change the quirks until then. */
void fake_contract_ops(struct fake_hca *hca)
{
	struct ib_device_ops *ops = &hca->ibdev.ops;

	if (hca->quirks.driver)
		ops->driver_id = hca->quirks.driver;
	if (hca->quirks.no_resize_cq)
		ops->resize_cq = NULL;
	if (hca->quirks.no_srq) {
		ops->create_srq = NULL;
		ops->destroy_srq = NULL;
		ops->modify_srq = NULL;
		ops->query_srq = NULL;
		ops->post_srq_recv = NULL;
	}
	if (hca->quirks.no_xrc) {
		ops->alloc_xrcd = NULL;
		ops->dealloc_xrcd = NULL;
	}
	if (hca->quirks.no_fast_reg) {
		ops->alloc_mr = NULL;
		ops->map_mr_sg = NULL;
	}
	if (hca->quirks.process_mad && !hca->iwarp && !ops->process_mad)
		ops->process_mad = fake_hca_process_mad;
}

/* ---- address handles ---- */

int fake_contract_create_ah(struct ib_ah *ah, const struct rdma_ah_attr *attr)
{
	const struct fake_hca *hca = to_fake_hca(ah->device);
	struct ib_port_attr port;

	if (hca->quirks.ah_always_sleeps)
		might_sleep();
	if (hca->quirks.ah_queries_port)
		return ib_query_port(ah->device, rdma_ah_get_port_num(attr), &port);
	return 0;
}

void fake_contract_destroy_ah(const struct fake_hca *hca)
{
	if (hca->quirks.ah_always_sleeps)
		might_sleep();
}

/* ---- XRC targets ---- */

bool fake_contract_refuses_target(const struct fake_hca *hca,
				  const struct ib_qp_init_attr *init,
				  const struct ib_udata *udata)
{
	return init->qp_type == IB_QPT_XRC_TGT && hca->quirks.target_by_domain && !udata &&
	       init->cap.max_recv_wr;
}

/* What the providers would crash of, in modify_qp and destroy_qp. */
void fake_contract_target(const struct fake_hca *hca, const struct ib_qp *qp,
			  const struct ib_udata *udata, bool destroy)
{
	if (qp->qp_type != IB_QPT_XRC_TGT)
		return;
	WARN_ONCE(hca->quirks.target_by_domain && !qp->xrcd, "a target without its domain\n");
	WARN_ONCE(hca->quirks.target_without_user && destroy && udata,
		  "a target is destroyed with user data\n");
}

/* ---- GRHs ---- */

void fake_hca_lid_gid(u16 lid, union ib_gid *gid)
{
	struct fake_hca *hca;
	u32 p;

	*gid = (union ib_gid){
		.global.subnet_prefix = cpu_to_be64(0xfe80000000000000ULL),
		.global.interface_id = cpu_to_be64(lid),
	};
	mutex_lock(&fake_fabric_lock);
	list_for_each_entry(hca, &fake_fabric, on_fabric)
		for (p = 1; p <= hca->ibdev.phys_port_cnt; p++)
			if (lid && hca->port[p].lid == lid)
				*gid = hca->port[p].gids[0];
	mutex_unlock(&fake_fabric_lock);
}
EXPORT_SYMBOL_GPL(fake_hca_lid_gid);

/* A port that requires GRHs also receives no packets without one: adds a GRH. */
void fake_contract_arrives(const struct fake_hca *hca, struct fake_hca_packet *packet)
{
	u32 port = packet->port ?: 1;

	if (packet->grh || !hca->quirks.grh_required || hca->opa ||
	    hca->link_layer != IB_LINK_LAYER_INFINIBAND)
		return;
	packet->grh = true;
	fake_hca_lid_gid(packet->slid, &packet->sgid);
	packet->dgid = hca->port[port].gids[0];
}

/* ---- completions ---- */

/* Shapes what a completion on RoCE reports of layers 2 and 3. */
static void shape_roce(const struct fake_hca_quirks *quirks, struct ib_wc *wc)
{
	if (quirks->wc_no_net_type)
		wc->wc_flags &= ~IB_WC_WITH_NETWORK_HDR_TYPE;
	if (quirks->wc_no_smac)
		wc->wc_flags &= ~IB_WC_WITH_SMAC;
	if (quirks->wc_vlan_ffff && !(wc->wc_flags & IB_WC_WITH_VLAN)) {
		wc->wc_flags |= IB_WC_WITH_VLAN;
		wc->vlan_id = 0xffff;
	}
}

/* Shapes the completion of a datagram received by @qp, before it enters the CQ. */
void fake_contract_received(struct fake_hca *hca, struct fake_qp *qp,
			    struct ib_wc *wc)
{
	const struct fake_hca_quirks *quirks = &hca->quirks;

	if (on_ethernet(hca))
		shape_roce(quirks, wc);
	if (qp->ibqp.qp_type != IB_QPT_GSI)
		return;
	if (quirks->wc_own_qp)
		wc->qp = &qp->own;
}

static void set_receive(struct ib_wc *to, const struct ib_wc *from)
{
	to->byte_len = from->byte_len;
	to->src_qp = from->src_qp;
	to->slid = from->slid;
	to->sl = from->sl;
	to->dlid_path_bits = from->dlid_path_bits;
	to->pkey_index = from->pkey_index;
	if (from->wc_flags & IB_WC_WITH_SMAC)
		memcpy(to->smac, from->smac, sizeof(to->smac));
	if (from->wc_flags & IB_WC_WITH_VLAN)
		to->vlan_id = from->vlan_id;
	if (from->wc_flags & IB_WC_WITH_NETWORK_HDR_TYPE)
		to->network_hdr_type = from->network_hdr_type;
	/* Only a switch has to know the port that received the packet. */
	if (rdma_cap_ib_switch(from->qp->device))
		to->port_num = from->port_num;
}

/* What ib_poll_cq() puts into the caller's @to. */
void fake_contract_polled(const struct fake_hca *hca, struct ib_wc *to,
			  const struct ib_wc *from)
{
	if (!hca->quirks.wc_unset_stays || !from->qp) {
		*to = *from;
		return;
	}
	memset(to, UNSET, sizeof(*to));
	to->wr_cqe = from->wr_cqe;
	to->qp = from->qp;
	to->status = from->status;
	to->vendor_err = from->vendor_err;
	if (from->status)
		return;
	to->opcode = from->opcode;
	to->wc_flags = from->wc_flags;
	if (from->opcode & IB_WC_RECV)
		set_receive(to, from);
	else if (from->opcode == IB_WC_RDMA_READ)
		to->byte_len = from->byte_len;
	if (from->wc_flags & (IB_WC_WITH_IMM | IB_WC_WITH_INVALIDATE))
		to->ex = from->ex;
}

/* ---- work requests ---- */

/* Returns whether @qp refuses a send because of its state. */
bool fake_contract_refuses_send(const struct fake_hca *hca, const struct fake_qp *qp)
{
	if (fake_qp_state(qp) == IB_QPS_ERR && hca->quirks.no_posts_in_err)
		return true;
	return fake_qp_state(qp) != IB_QPS_RTS && hca->quirks.qp1_state_is_a_note &&
	       qp->ibqp.qp_type == IB_QPT_GSI;
}

/* Returns whether modify_qp only records the new state. */
bool fake_contract_only_notes(const struct fake_hca *hca, const struct fake_qp *qp)
{
	return hca->quirks.qp1_state_is_a_note && qp->ibqp.qp_type == IB_QPT_GSI;
}

/* ---- QPs that are not as new after RESET ---- */

/* Like irdma, which only records RESET and stays in error: INIT is refused after that. */
bool fake_contract_takes_state(const struct fake_hca *hca, struct fake_qp *qp,
				   enum ib_qp_state next)
{
	if (next == IB_QPS_ERR || next == IB_QPS_RESET)
		qp->spent = true;
	return next != IB_QPS_INIT || !qp->spent || !hca->quirks.reset_is_a_note;
}

void fake_contract_reset(const struct fake_hca *hca, struct fake_qp *qp)
{
	if (hca->quirks.reset_keeps_ring)
		qp->old_sent = qp->last_sent;
}

/*
 * Like bnxt_re: after RESET it completes everything from its old place in the ring to
 * that of the hardware, which has started again.  One such old send is completed here.
 */
void fake_contract_sent(const struct fake_hca *hca, struct fake_qp *qp,
			const struct ib_wc *wc)
{
	struct ib_wc old = *wc;

	old.wr_cqe = qp->old_sent;
	qp->old_sent = NULL;
	qp->last_sent = wc->wr_cqe;
	if (old.wr_cqe)
		fake_sent(&qp->ibqp, &old);
}

/* ---- events ---- */

/* Both raise the event in the context in which the provider would. */
void fake_contract_port_event(struct fake_hca *hca, struct ib_event *event)
{
	unsigned long flags;

	if (hca->quirks.events_atomic) {
		local_irq_save(flags);
		ib_dispatch_event(event);
		local_irq_restore(flags);
	} else if (hca->quirks.port_event_rtnl && on_ethernet(hca)) {
		rtnl_lock();
		ib_dispatch_event(event);
		rtnl_unlock();
	} else {
		ib_dispatch_event(event);
	}
}

void fake_contract_qp_event(struct fake_hca *hca, struct ib_event *event)
{
	struct ib_qp *qp = event->element.qp;
	unsigned long flags;

	if (!qp->event_handler)
		return;
	if (!hca->quirks.events_atomic) {
		qp->event_handler(event, qp->qp_context);
		return;
	}
	local_irq_save(flags);
	qp->event_handler(event, qp->qp_context);
	local_irq_restore(flags);
}
