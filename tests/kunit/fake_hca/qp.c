// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The verbs objects of the fake adapter, and the fabric between adapters.
 *
 * Lock order: qp->lock -> cq->lock.  Both are taken with interrupts off.
 */
#include <linux/ip.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include "fake_qp.h"

struct fake_ah {
	struct ib_ah ibah;
	struct rdma_ah_attr attr;	/* without its reference on the GID */
	bool grh;
	bool roce_v1;
	union ib_gid sgid, dgid;
	int sgid_at;			/* RoCE: index in the port's table; -1: none */
	u16 dlid;
	u8 dmac[ETH_ALEN];
};

struct fake_pd {
	struct ib_pd ibpd;
};

struct fake_srq {
	struct ib_srq ibsrq;
};

static int fake_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return refuse(pd->device, FAKE_PD) ? -ENOMEM : 0;
}

static int fake_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return retire(pd->device, FAKE_PD);
}

/* Returns the index of the source GID; -1: there is none, or the port is an IB one. */
static int fake_sgid_at(struct fake_hca *hca, const struct rdma_ah_attr *attr)
{
	if (!(rdma_ah_get_ah_flags(attr) & IB_AH_GRH) || !hca->ibdev.ops.add_gid)
		return -1;
	return fake_hca_gid_at(rdma_ah_read_grh(attr)->sgid_attr);
}

const union ib_gid *fake_hca_ah_sgid(struct ib_ah *ibah)
{
	struct fake_ah *ah = container_of(ibah, struct fake_ah, ibah);

	if (ah->sgid_at < 0)
		return NULL;
	return &to_fake_hca(ibah->device)->port[ah->attr.port_num].gids[ah->sgid_at];
}
EXPORT_SYMBOL_GPL(fake_hca_ah_sgid);

const union ib_gid *fake_hca_qp_sgid(struct ib_qp *ibqp)
{
	struct fake_qp *qp = container_of(ibqp, struct fake_qp, ibqp);

	if (qp->sgid_at < 0)
		return NULL;
	return &to_fake_hca(ibqp->device)->port[qp->attr.port_num].gids[qp->sgid_at];
}
EXPORT_SYMBOL_GPL(fake_hca_qp_sgid);

int fake_hca_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		       struct ib_udata *udata)
{
	struct fake_ah *ah = container_of(ibah, struct fake_ah, ibah);
	struct fake_hca *hca = to_fake_hca(ibah->device);
	struct rdma_ah_attr *attr = init->ah_attr;

	if (hca->on_create_ah && init->flags & RDMA_CREATE_AH_SLEEPABLE)
		hca->on_create_ah(hca);
	if (hca->quirks.ah_only_sleeping) {
		if (!(init->flags & RDMA_CREATE_AH_SLEEPABLE))
			return -EOPNOTSUPP;
		might_sleep();
	}
	if (fake_contract_create_ah(ibah, attr))
		return -EINVAL;
	ah->sgid_at = fake_sgid_at(hca, attr);
	if (ah->sgid_at < -1)
		return ah->sgid_at;
	if (refuse(ibah->device, FAKE_AH))
		return -ENOMEM;
	if (hca->quirks.max_ah &&
	    atomic_read(&hca->alive[FAKE_AH]) > hca->quirks.max_ah) {
		atomic_dec(&hca->alive[FAKE_AH]);
		return -EAGAIN;
	}
	ah->attr = *attr;
	ah->attr.grh.sgid_attr = NULL;
	if (rdma_ah_get_ah_flags(attr) & IB_AH_GRH) {
		ah->grh = true;
		ah->sgid = rdma_ah_read_grh(attr)->sgid_attr->gid;
		ah->dgid = rdma_ah_read_grh(attr)->dgid;
		ah->roce_v1 = rdma_ah_read_grh(attr)->sgid_attr->gid_type ==
			      IB_GID_TYPE_ROCE;
	}
	if (attr->type == RDMA_AH_ATTR_TYPE_IB)
		ah->dlid = rdma_ah_get_dlid(attr);
	else
		memcpy(ah->dmac, attr->roce.dmac, ETH_ALEN);
	return 0;
}

static int fake_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	struct fake_hca *hca = to_fake_hca(ibah->device);

	if (hca->on_query_ah)
		hca->on_query_ah(hca);
	*attr = container_of(ibah, struct fake_ah, ibah)->attr;
	/* The reference is the handle's, not the caller's. */
	attr->grh.sgid_attr = NULL;
	return 0;
}

static int fake_destroy_ah(struct ib_ah *ah, u32 flags)
{
	fake_contract_destroy_ah(to_fake_hca(ah->device));
	if (to_fake_hca(ah->device)->quirks.ah_only_sleeping) {
		if (!(flags & RDMA_DESTROY_AH_SLEEPABLE))
			return -EOPNOTSUPP;
		might_sleep();
	}
	return retire(ah->device, FAKE_AH);
}

/* Keeps the last parameters: of calls at once, those of any. */
static void keep_params(struct fake_hca *hca, void *kept, const void *params, size_t size)
{
	unsigned long flags;

	spin_lock_irqsave(&hca->wire_lock, flags);
	memcpy(kept, params, size);
	spin_unlock_irqrestore(&hca->wire_lock, flags);
}

static int fake_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
			  struct ib_udata *udata)
{
	struct fake_qp *qp = container_of(ibqp, struct fake_qp, ibqp);
	struct fake_hca *hca = to_fake_hca(ibqp->device);
	bool special = init->qp_type == IB_QPT_SMI || init->qp_type == IB_QPT_GSI;
	u32 qpn = init->qp_type == IB_QPT_GSI;
	int ret;

	if (hca->quirks.max_recv_sge &&
	    init->cap.max_recv_sge > hca->quirks.max_recv_sge)
		return -EINVAL;
	if (fake_contract_refuses_target(hca, init, udata))
		return -EINVAL;
	if (special && hca->quirks.special_once && hca->special_made[init->port_num][qpn])
		return -EINVAL;
	if (refuse(ibqp->device, FAKE_QP))
		return -ENOMEM;
	spin_lock_init(&qp->lock);
	INIT_LIST_HEAD(&qp->recvs);
	INIT_LIST_HEAD(&qp->held);
	WRITE_ONCE(qp->state, IB_QPS_RESET);
	qp->sgid_at = -1;
	qp->sq_sig_type = init->sq_sig_type;
	qp->max_recv = init->cap.max_recv_wr;
	keep_params(hca, &hca->queues.qp, init, sizeof(*init));
	if (udata)
		init->cap.max_inline_data += 8;	/* more than requested */
	if (special) {
		WRITE_ONCE(hca->special[init->port_num][qpn], ibqp);
		hca->special_made[init->port_num][qpn] = true;
		ibqp->qp_num = qpn;
		qp->own.device = ibqp->device;
		qp->own.qp_num = qpn;
		qp->own.qp_type = IB_QPT_RESERVED2;
		if (hca->on_create_qp)
			hca->on_create_qp(hca, ibqp);
		return 0;
	}
	ret = xa_alloc_irq(&hca->qps, &qpn, ibqp,
			   XA_LIMIT(FAKE_HCA_FIRST_QPN, 0xfffffe), GFP_KERNEL);
	if (ret) {
		atomic_dec(&hca->alive[FAKE_QP]);
		return ret;
	}
	ibqp->qp_num = qpn;
	return 0;
}

static void fake_send_done(struct fake_qp *qp, const struct ib_send_wr *wr,
			   enum ib_wc_status status)
{
	struct fake_hca *hca = to_fake_hca(qp->ibqp.device);
	struct fake_completion *kept;
	struct ib_wc wc = {
		.wr_cqe = wr->wr_cqe,
		.status = status,
		.opcode = IB_WC_SEND,
		.qp = &qp->ibqp,
	};

	if (status == IB_WC_SUCCESS && qp->sq_sig_type != IB_SIGNAL_ALL_WR &&
	    !(wr->send_flags & IB_SEND_SIGNALED))
		return;
	if (hca->lose_completions)
		return;
	fake_contract_sent(hca, qp, &wc);
	/* Sends that are flushed as they are posted complete at once. */
	if (hca->hold_send_completions && !qp->deaf) {
		kept = kzalloc(sizeof(*kept), GFP_ATOMIC | __GFP_NOWARN);
		if (kept) {
			kept->wc = wc;
			if (fake_qp_keeps_sends(qp) && wr->num_sge)
				kept->payload = (void *)(uintptr_t)wr->sg_list[0].addr;
			list_add_tail(&kept->entry, &qp->held);
			return;
		}
	}
	fake_sent(&qp->ibqp, &wc);
}

/* Completes held sends and, with @recvs_too, all posted receives as flushed. */
static void fake_flush_some(struct fake_qp *qp, bool recvs_too)
{
	bool lost = to_fake_hca(qp->ibqp.device)->lose_completions;
	struct fake_completion *kept, *next_kept;
	struct fake_recv *recv, *next;
	unsigned long flags;
	LIST_HEAD(recvs);
	LIST_HEAD(held);

	spin_lock_irqsave(&qp->lock, flags);
	if (recvs_too) {
		list_splice_init(&qp->recvs, &recvs);
		qp->nr_recvs = 0;
	}
	if (!fake_qp_keeps_sends(qp) || qp->deaf)
		list_splice_init(&qp->held, &held);
	spin_unlock_irqrestore(&qp->lock, flags);
	list_for_each_entry_safe(recv, next, &recvs, entry) {
		struct ib_wc wc = {
			.wr_cqe = recv->cqe,
			.status = IB_WC_WR_FLUSH_ERR,
			.opcode = IB_WC_RECV,
			.qp = &qp->ibqp,
		};

		if (!lost)
			fake_received(&qp->ibqp, &wc);
		kfree(recv);
	}
	list_for_each_entry_safe(kept, next_kept, &held, entry) {
		kept->wc.status = IB_WC_WR_FLUSH_ERR;
		if (!lost)
			fake_sent(&qp->ibqp, &kept->wc);
		kfree(kept);
	}
}

static void fake_flush(struct fake_qp *qp)
{
	fake_flush_some(qp, true);
}

void fake_hca_qp_error(struct ib_qp *ibqp, enum ib_qp_state state)
{
	struct fake_qp *qp = container_of(ibqp, struct fake_qp, ibqp);

	if (fake_qp_keeps_sends(qp) && state == IB_QPS_SQE)
		qp->deaf = true;
	else
		WRITE_ONCE(qp->state, state);
	qp->met_error = true;
	fake_flush_some(qp, state == IB_QPS_ERR);
}
EXPORT_SYMBOL_GPL(fake_hca_qp_error);

bool fake_hca_special_error(struct fake_hca *hca, u32 port, u32 qpn, enum ib_qp_state state)
{
	struct ib_qp *ibqp;
	bool done;

	/* Its destruction waits for this lock. */
	mutex_lock(&fake_fabric_lock);
	ibqp = READ_ONCE(hca->special[port][qpn]);
	done = ibqp && fake_qp_state(container_of(ibqp, struct fake_qp, ibqp)) == IB_QPS_RTS;
	if (done) {
		fake_hca_qp_error(ibqp, state);
		fake_hca_qp_event(ibqp, IB_EVENT_QP_FATAL);
	}
	mutex_unlock(&fake_fabric_lock);
	return done;
}
EXPORT_SYMBOL_GPL(fake_hca_special_error);

/*
 * Discards what is posted without completions, as RESET does; but completions that are held
 * back, of QPs other than QP0 and QP1, count as on their way to the CQ.
 */
static void fake_discard(struct fake_qp *qp)
{
	struct fake_completion *kept, *next_kept;
	struct fake_recv *recv, *next;
	LIST_HEAD(recvs);
	LIST_HEAD(held);

	spin_lock_irq(&qp->lock);
	list_splice_init(&qp->recvs, &recvs);
	qp->nr_recvs = 0;
	if (qp->ibqp.qp_num <= 1 && !fake_qp_keeps_sends(qp))
		list_splice_init(&qp->held, &held);
	spin_unlock_irq(&qp->lock);
	list_for_each_entry_safe(recv, next, &recvs, entry)
		kfree(recv);
	list_for_each_entry_safe(kept, next_kept, &held, entry)
		kfree(kept);
}

static int fake_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
			  struct ib_udata *udata)
{
	struct fake_qp *qp = container_of(ibqp, struct fake_qp, ibqp);
	struct fake_hca *hca = to_fake_hca(ibqp->device);
	enum ib_qp_state cur = fake_qp_state(qp), next;

	fake_contract_target(hca, ibqp, udata, false);
	keep_params(hca, &hca->queues.qp_attr, attr, sizeof(*attr));
	keep_params(hca, &hca->queues.qp_mask, &mask, sizeof(mask));
	if (hca->on_modify_qp && mask & IB_QP_STATE)
		hca->on_modify_qp(hca, ibqp, attr->qp_state);
	if (fault(&hca->fail_modify_qp))
		return -EIO;
	next = mask & IB_QP_STATE ? attr->qp_state : cur;
	/* An iWARP provider moves its QPs with their connections. */
	if (!hca->iwarp && !ib_modify_qp_is_ok(cur, next, ibqp->qp_type, mask))
		return -EINVAL;
	if (!fake_contract_takes_state(hca, qp, next))
		return -EINVAL;
	if (mask & IB_QP_AV) {
		qp->sgid_at = fake_sgid_at(hca, &attr->ah_attr);
		if (qp->sgid_at < -1)
			return qp->sgid_at;
	}
	if (mask & IB_QP_QKEY)
		qp->attr.qkey = attr->qkey;
	if (mask & IB_QP_PKEY_INDEX)
		qp->attr.pkey_index = attr->pkey_index;
	if (mask & IB_QP_PORT)
		qp->attr.port_num = attr->port_num;
	if (mask & IB_QP_DEST_QPN)
		qp->attr.dest_qp_num = attr->dest_qp_num;
	if (mask & IB_QP_RQ_PSN) {
		qp->attr.rq_psn = attr->rq_psn;
		WRITE_ONCE(qp->psn, attr->rq_psn);
	}
	WRITE_ONCE(qp->state, next);
	if (fake_contract_only_notes(hca, qp))
		return 0;
	if (next == IB_QPS_ERR)
		fake_flush(qp);
	if (next == IB_QPS_RESET) {
		fake_discard(qp);
		fake_contract_reset(hca, qp);
	}
	return 0;
}

static int fake_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
			 struct ib_qp_init_attr *init)
{
	struct fake_qp *qp = container_of(ibqp, struct fake_qp, ibqp);
	struct fake_hca *hca = to_fake_hca(ibqp->device);

	/* Providers take a mutex or execute a command. */
	might_sleep();
	if (ibqp->qp_num > 1)
		atomic_inc(&hca->queries);
	if (hca->on_query_qp)
		hca->on_query_qp(hca, ibqp);
	if (fault(&hca->fail_query_qp))
		return -EIO;
	*attr = qp->attr;
	if (hca->quirks.rq_psn == FAKE_PSN_LIVE)
		attr->rq_psn = READ_ONCE(qp->psn);
	else if (hca->quirks.rq_psn == FAKE_PSN_NONE)
		attr->rq_psn = 0;
	attr->qp_state = fake_qp_state(qp);
	attr->cur_qp_state = fake_qp_state(qp);
	if (ibqp->qp_type == IB_QPT_GSI && !qp->met_error &&
	    hca->quirks.qp1_reports_rts)
		attr->qp_state = IB_QPS_RTS;
	return 0;
}

void fake_hca_qp_psn(struct ib_qp *ibqp, u32 psn)
{
	WRITE_ONCE(container_of(ibqp->real_qp, struct fake_qp, ibqp)->psn, psn);
}
EXPORT_SYMBOL_GPL(fake_hca_qp_psn);

static int fake_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct fake_qp *qp = container_of(ibqp, struct fake_qp, ibqp);
	struct fake_hca *hca = to_fake_hca(ibqp->device);
	struct fake_completion *kept, *next_kept;
	struct fake_recv *recv, *next;
	int ret;
	u32 p;

	fake_contract_target(hca, ibqp, udata, true);
	ret = retire(ibqp->device, FAKE_QP);
	if (ret)
		return ret;
	if (ibqp->qp_num < 2) {
		for (p = 0; p <= ibqp->device->phys_port_cnt; p++)
			if (hca->special[p][ibqp->qp_num] == ibqp)
				WRITE_ONCE(hca->special[p][ibqp->qp_num], NULL);
	} else {
		xa_erase_irq(&hca->qps, ibqp->qp_num);
	}
	/*
	 * The wire's work, of this adapter or of another, or fake_hca_special_error() may be
	 * using the QP.
	 */
	flush_work(&hca->wire_work);
	mutex_lock(&fake_fabric_lock);
	mutex_unlock(&fake_fabric_lock);
	list_for_each_entry_safe(recv, next, &qp->recvs, entry)
		kfree(recv);
	list_for_each_entry_safe(kept, next_kept, &qp->held, entry)
		kfree(kept);
	return 0;
}

static bool fake_takes_recv(const struct fake_qp *qp)
{
	const struct fake_hca_quirks *quirks = &to_fake_hca(qp->ibqp.device)->quirks;

	if (qp->ibqp.qp_type == IB_QPT_GSI && quirks->recv_from_rtr)
		return fake_qp_state(qp) == IB_QPS_RTR || fake_qp_state(qp) == IB_QPS_RTS;
	return fake_qp_state(qp) != IB_QPS_RESET &&
	       !(fake_qp_state(qp) == IB_QPS_ERR && quirks->no_posts_in_err);
}

static int fake_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
			  const struct ib_recv_wr **bad)
{
	struct fake_qp *qp = container_of(ibqp, struct fake_qp, ibqp);
	struct fake_hca *hca = to_fake_hca(ibqp->device);
	struct fake_recv *recv;
	unsigned long flags;

	for (; wr; wr = wr->next) {
		if (fault(&hca->fail_post_recv) ||
		    (hca->refuses_recv && hca->refuses_recv(hca, wr))) {
			*bad = wr;
			return -ENOMEM;
		}
		if (!fake_takes_recv(qp)) {
			*bad = wr;
			return -EINVAL;
		}
		recv = kzalloc(sizeof(*recv), GFP_ATOMIC | __GFP_NOWARN);
		if (!recv) {
			*bad = wr;
			return -ENOMEM;
		}
		recv->cqe = wr->wr_cqe;
		if (wr->num_sge) {
			recv->addr = (void *)(uintptr_t)wr->sg_list[0].addr;
			recv->length = wr->sg_list[0].length;
		}
		spin_lock_irqsave(&qp->lock, flags);
		list_add_tail(&recv->entry, &qp->recvs);
		if (++qp->nr_recvs > qp->max_recv)
			atomic_inc(&hca->recv_overruns);
		spin_unlock_irqrestore(&qp->lock, flags);
		if (fake_qp_state(qp) == IB_QPS_ERR)
			fake_flush(qp);
	}
	return 0;
}

static struct fake_hca_packet *fake_packet(struct fake_qp *qp,
					   const struct ib_send_wr *wr)
{
	struct fake_ah *ah = NULL;
	struct fake_hca_packet *packet;
	u32 len = 0, at = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		len += wr->sg_list[i].length;
	packet = kzalloc(struct_size(packet, data, len), GFP_ATOMIC | __GFP_NOWARN);
	if (!packet)
		return NULL;
	for (i = 0; i < wr->num_sge; at += wr->sg_list[i++].length)
		memcpy(packet->data + at,
		       (void *)(uintptr_t)wr->sg_list[i].addr,
		       wr->sg_list[i].length);
	packet->hca = to_fake_hca(qp->ibqp.device);
	packet->port = qp->ibqp.port ?: 1;
	packet->slid = packet->hca->port[packet->port].lid;
	packet->src_qpn = qp->ibqp.qp_num;
	packet->len = len;
	packet->dst_qpn = qp->attr.dest_qp_num;
	if (qp->ibqp.qp_type == IB_QPT_UD || qp->ibqp.qp_num < 2) {
		ah = container_of(ud_wr(wr)->ah, struct fake_ah, ibah);
		packet->dst_qpn = ud_wr(wr)->remote_qpn;
		packet->qkey = ud_wr(wr)->remote_qkey;
		packet->pkey_index = ud_wr(wr)->pkey_index;
		packet->grh = ah->grh;
		packet->sgid = packet->hca->quirks.gid_places && ah->sgid_at >= 0 ?
			       *fake_hca_ah_sgid(&ah->ibah) : ah->sgid;
		packet->dgid = ah->dgid;
		packet->dlid = ah->dlid;
		packet->roce_v1 = ah->roce_v1;
		packet->ipv4 = !ah->roce_v1 &&
			       ipv6_addr_v4mapped((struct in6_addr *)&ah->dgid);
		if (rdma_cap_ib_switch(qp->ibqp.device))
			packet->port = ud_wr(wr)->port_num;
	}
	return packet;
}

static int fake_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
			  const struct ib_send_wr **bad)
{
	struct fake_qp *qp = container_of(ibqp, struct fake_qp, ibqp);
	struct fake_hca *hca = to_fake_hca(ibqp->device);
	struct fake_hca_packet *packet;
	unsigned long flags;
	int taken = 0;

	for (; wr; wr = wr->next) {
		if (fake_qp_state(qp) < IB_QPS_RTS && hca->quirks.bad_wr_unset)
			return -EINVAL;
		*bad = wr;
		if (fault(&hca->fail_post_send))
			return -ENOMEM;
		if (fake_contract_refuses_send(hca, qp))
			return -EINVAL;
		if (fake_qp_state(qp) == IB_QPS_ERR || qp->deaf) {
			fake_send_done(qp, wr, IB_WC_WR_FLUSH_ERR);
			continue;
		}
		if (fake_qp_state(qp) != IB_QPS_RTS && fake_qp_state(qp) != IB_QPS_SQD)
			return -EINVAL;
		if (taken++ && hca->quirks.one_send_a_call &&
		    ibqp->qp_type == IB_QPT_GSI)
			return -EINVAL;
		if (wr->opcode != IB_WR_SEND && wr->opcode != IB_WR_SEND_WITH_INV) {
			fake_send_done(qp, wr, hca->send_status);
			continue;
		}
		packet = fake_packet(qp, wr);
		if (!packet)
			return -ENOMEM;
		atomic_inc(&hca->sent);
		spin_lock_irqsave(&hca->wire_lock, flags);
		list_add_tail(&packet->entry, &hca->wire);
		spin_unlock_irqrestore(&hca->wire_lock, flags);
		fake_send_done(qp, wr, hca->send_status);
		queue_work(hca->wq, &hca->wire_work);
	}
	return 0;
}

/* The adapter and @port that a datagram is for; fake_fabric_lock held. */
static struct fake_hca *fake_route(const struct fake_hca_packet *packet, u32 *port)
{
	struct fake_hca *hca;
	u32 p;
	int i;

	list_for_each_entry(hca, &fake_fabric, on_fabric) {
		for (p = 1; p <= hca->ibdev.phys_port_cnt; p++) {
			*port = p;
			if (hca->link_layer == IB_LINK_LAYER_INFINIBAND) {
				if (packet->dlid && hca->port[p].lid == packet->dlid)
					return hca;
				continue;
			}
			for (i = 0; packet->grh && i < FAKE_HCA_GIDS; i++)
				if (hca->port[p].gid_used[i] &&
				    !memcmp(&hca->port[p].gids[i], &packet->dgid,
					    sizeof(packet->dgid)))
					return hca;
		}
	}
	return NULL;
}

/* The 40 bytes before a datagram: a GRH, or an IPv4 header in the last 20. */
static void fake_put_grh(void *at, const struct fake_hca_packet *packet, bool ethernet)
{
	struct ib_grh *grh = at;
	struct iphdr *ip = at + 20;

	memset(at, 0, sizeof(*grh));
	if (packet->ipv4) {
		ip->version = 4;
		ip->ihl = 5;
		ip->ttl = 64;
		ip->protocol = IPPROTO_UDP;
		ip->saddr = *(__be32 *)&packet->sgid.raw[12];
		ip->daddr = *(__be32 *)&packet->dgid.raw[12];
		ip->check = ip_fast_csum(ip, 5);
		return;
	}
	grh->version_tclass_flow = cpu_to_be32(6 << 28);
	grh->paylen = cpu_to_be16(packet->len);
	grh->next_hdr = ethernet && !packet->roce_v1 ? IPPROTO_UDP : 0x1b;
	grh->hop_limit = 64;
	grh->sgid = packet->sgid;
	grh->dgid = packet->dgid;
}

static void fake_receive(struct fake_hca *hca, u32 port,
			 const struct fake_hca_packet *packet)
{
	bool ethernet = hca->link_layer == IB_LINK_LAYER_ETHERNET;
	struct fake_recv *recv;
	struct fake_qp *qp;
	struct ib_qp *ibqp;
	unsigned long flags;
	struct ib_wc wc = {
		.opcode = IB_WC_RECV,
		.src_qp = packet->src_qpn,
		.slid = packet->slid,
		.port_num = port,
		.pkey_index = packet->pkey_index,
	};

	if (packet->dst_qpn < 2)
		ibqp = READ_ONCE(hca->special[rdma_cap_ib_switch(&hca->ibdev) ? 0 : port]
					     [packet->dst_qpn]);
	else
		ibqp = xa_load(&hca->qps, packet->dst_qpn);
	if (!ibqp)
		goto drop;
	qp = container_of(ibqp, struct fake_qp, ibqp);
	spin_lock_irqsave(&qp->lock, flags);
	recv = list_first_entry_or_null(&qp->recvs, struct fake_recv, entry);
	if (!recv || (fake_qp_state(qp) != IB_QPS_RTS && fake_qp_state(qp) != IB_QPS_RTR)) {
		spin_unlock_irqrestore(&qp->lock, flags);
		goto drop;
	}
	list_del(&recv->entry);
	qp->nr_recvs--;
	spin_unlock_irqrestore(&qp->lock, flags);

	wc.wr_cqe = recv->cqe;
	wc.qp = ibqp;
	wc.byte_len = packet->len;
	if (qp->ibqp.qp_type == IB_QPT_UD || packet->dst_qpn < 2) {
		wc.byte_len += sizeof(struct ib_grh);
		if (wc.byte_len <= recv->length) {
			fake_put_grh(recv->addr, packet, ethernet);
			memcpy(recv->addr + sizeof(struct ib_grh), packet->data,
			       packet->len);
		}
		wc.wc_flags = packet->grh ? IB_WC_GRH : 0;
		if (ethernet) {
			wc.wc_flags |= IB_WC_WITH_NETWORK_HDR_TYPE | IB_WC_WITH_SMAC;
			wc.network_hdr_type = packet->roce_v1 ? RDMA_NETWORK_ROCE_V1 :
					      packet->ipv4 ? RDMA_NETWORK_IPV4 :
							     RDMA_NETWORK_IPV6;
			memcpy(wc.smac, packet->smac, ETH_ALEN);
		}
		fake_contract_received(hca, qp, &wc);
	} else if (wc.byte_len <= recv->length) {
		memcpy(recv->addr, packet->data, packet->len);
	}
	wc.status = wc.byte_len <= recv->length ? IB_WC_SUCCESS : IB_WC_LOC_LEN_ERR;
	/* Only hfi1 has OPA's MADs, and it reports the length of each. */
	if (packet->dst_qpn < 2 && !hca->opa) {
		if (packet->len >= IB_MGMT_MAD_SIZE)
			wc.byte_len += hca->quirks.byte_len_extra;
		if (packet->dst_qpn && hca->quirks.byte_len_without_grh)
			wc.byte_len -= sizeof(struct ib_grh);
		if (packet->dst_qpn && hca->quirks.no_src_qp)
			wc.src_qp = 0;
		if (packet->len >= IB_MGMT_MAD_SIZE && packet->dst_qpn &&
		    hca->quirks.byte_len_missing && atomic_read(&hca->delivered) & 1)
			wc.byte_len = 0;
	}
	kfree(recv);
	atomic_inc(&hca->delivered);
	fake_received(ibqp, &wc);
	return;
drop:
	atomic_inc(&hca->dropped);
}

static void fake_deliver(struct fake_hca *from, struct fake_hca_packet *packet,
			 enum fake_hca_verdict verdict)
{
	struct fake_hca *to;
	u32 port;

	mutex_lock(&fake_fabric_lock);
	if (packet->src_qpn >= 2 && !packet->grh && !packet->dlid) {
		to = NULL;	/* connected: the QP number alone decides */
		list_for_each_entry(to, &fake_fabric, on_fabric)
			if (xa_load(&to->qps, packet->dst_qpn))
				break;
		if (list_entry_is_head(to, &fake_fabric, on_fabric))
			to = NULL;
		port = 1;
	} else {
		to = fake_route(packet, &port);
	}
	if (to) {
		fake_receive(to, port, packet);
		if (verdict == FAKE_DUPLICATE)
			fake_receive(to, port, packet);
	} else {
		atomic_inc(&from->dropped);
	}
	mutex_unlock(&fake_fabric_lock);
}

void fake_hca_wire_run(struct work_struct *work)
{
	struct fake_hca *hca = container_of(work, struct fake_hca, wire_work);
	enum fake_hca_verdict verdict;
	struct fake_hca_packet *packet;

	for (;;) {
		spin_lock_irq(&hca->wire_lock);
		packet = list_first_entry_or_null(&hca->wire,
						  struct fake_hca_packet, entry);
		if (packet)
			list_del(&packet->entry);
		spin_unlock_irq(&hca->wire_lock);
		if (!packet)
			return;
		verdict = hca->verdict ?
			  hca->verdict(hca, packet, hca->verdict_arg) : FAKE_DELIVER;
		if (verdict == FAKE_HOLD) {
			spin_lock_irq(&hca->wire_lock);
			list_add_tail(&packet->entry, &hca->held);
			spin_unlock_irq(&hca->wire_lock);
			continue;
		}
		if (verdict == FAKE_DROP)
			atomic_inc(&hca->dropped);
		else
			fake_deliver(hca, packet, verdict);
		kfree(packet);
	}
}

void fake_hca_flush(struct fake_hca *hca)
{
	flush_workqueue(hca->wq);
}
EXPORT_SYMBOL_GPL(fake_hca_flush);

void fake_hca_release_held(struct fake_hca *hca)
{
	struct fake_hca_packet *packet, *next;
	LIST_HEAD(held);

	spin_lock_irq(&hca->wire_lock);
	list_splice_init(&hca->held, &held);
	spin_unlock_irq(&hca->wire_lock);
	list_for_each_entry_safe(packet, next, &held, entry) {
		fake_deliver(hca, packet, FAKE_DELIVER);
		kfree(packet);
	}
}
EXPORT_SYMBOL_GPL(fake_hca_release_held);

int fake_hca_inject(struct fake_hca *hca, u32 dst_qpn,
		    const struct fake_hca_packet *like, const void *data, u32 len)
{
	struct fake_hca_packet *packet;

	packet = kzalloc(struct_size(packet, data, len), GFP_KERNEL);
	if (!packet)
		return -ENOMEM;
	*packet = *like;
	memcpy(packet->data, data, len);
	packet->len = len;
	packet->dst_qpn = dst_qpn;
	packet->hca = hca;
	fake_contract_arrives(hca, packet);
	mutex_lock(&fake_fabric_lock);
	fake_receive(hca, like->port ?: 1, packet);
	mutex_unlock(&fake_fabric_lock);
	kfree(packet);
	return 0;
}
EXPORT_SYMBOL_GPL(fake_hca_inject);

struct ib_mr *fake_hca_new_mr(struct ib_pd *pd, u32 max)
{
	struct fake_mr *mr;

	if (refuse(pd->device, FAKE_MR))
		return ERR_PTR(-ENOMEM);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr) {
		atomic_dec(&to_fake_hca(pd->device)->alive[FAKE_MR]);
		return ERR_PTR(-ENOMEM);
	}
	mr->max = max;
	mr->ibmr.lkey = 0x100;
	mr->ibmr.rkey = 0x100;
	return &mr->ibmr;
}

static struct ib_mr *fake_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max)
{
	return fake_hca_new_mr(pd, max);
}

static struct ib_mr *fake_get_dma_mr(struct ib_pd *pd, int access)
{
	return fake_hca_new_mr(pd, 0);
}

static int fake_set_page(struct ib_mr *ibmr, u64 addr)
{
	struct fake_mr *mr = container_of(ibmr, struct fake_mr, ibmr);

	if (mr->npages == mr->max)
		return -ENOMEM;
	mr->npages++;
	return 0;
}

static int fake_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents,
			  unsigned int *offset)
{
	container_of(ibmr, struct fake_mr, ibmr)->npages = 0;
	return ib_sg_to_pages(ibmr, sg, nents, offset, fake_set_page);
}

static int fake_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	int ret = retire(ibmr->device, FAKE_MR);

	if (!ret)
		kfree(container_of(ibmr, struct fake_mr, ibmr));
	return ret;
}

static int fake_create_srq(struct ib_srq *srq, struct ib_srq_init_attr *init,
			   struct ib_udata *udata)
{
	return refuse(srq->device, FAKE_SRQ) ? -ENOMEM : 0;
}

static int fake_destroy_srq(struct ib_srq *srq, struct ib_udata *udata)
{
	return retire(srq->device, FAKE_SRQ);
}

const struct ib_device_ops fake_hca_qp_ops = {
	.alloc_pd	= fake_alloc_pd,
	.dealloc_pd	= fake_dealloc_pd,
	.create_ah	= fake_hca_create_ah,
	.query_ah	= fake_query_ah,
	.destroy_ah	= fake_destroy_ah,
	.create_qp	= fake_create_qp,
	.modify_qp	= fake_modify_qp,
	.query_qp	= fake_query_qp,
	.destroy_qp	= fake_destroy_qp,
	.post_send	= fake_post_send,
	.post_recv	= fake_post_recv,
	.alloc_mr	= fake_alloc_mr,
	.get_dma_mr	= fake_get_dma_mr,
	.map_mr_sg	= fake_map_mr_sg,
	.dereg_mr	= fake_dereg_mr,
	.create_srq	= fake_create_srq,
	.destroy_srq	= fake_destroy_srq,
	INIT_RDMA_OBJ_SIZE(ib_pd, fake_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_ah, fake_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_qp, fake_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, fake_srq, ibsrq),
};
