// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Receiving: the receive queue of a special QP, validation of received MADs (IBA
 * 13.5.3), and their dispatch to agents.
 *
 * The CQ's work handles one MAD at a time.  A slot that gives up its buffer is posted
 * again at once with a new one; if none can be allocated the MAD is dropped and its
 * buffer posted again.  Allocations for MADs of QP1 do not wait for I/O, which may need
 * the connection that MADs behind this one establish.
 */
#include <linux/export.h>
#include "agent/agent.h"
#include "port/port.h"
#include "rmpp/rmpp.h"
#include "smi/smi.h"
#include "trace.h"

static size_t recv_dma_size(const struct ibmad_qp *mqp)
{
	return sizeof(struct ib_grh) + mqp->port->mad_size;
}

/*
 * Clears what a MAD that is too short by a GRH leaves unwritten, and base_version,
 * which shows whether anything was received; see recv_mad_len().
 */
static void recv_clear(struct ibmad_recv *recv)
{
	((struct ib_mad_hdr *)recv->mad)->base_version = 0;
	memset(recv->mad + IB_MGMT_MAD_SIZE - sizeof(struct ib_grh), 0,
	       sizeof(struct ib_grh));
}

/* ---- the queue ---- */

static int recv_post(struct ibmad_qp *mqp, struct ibmad_recv_slot *slot)
{
	struct ib_device *device = mqp->port->device;
	struct ibmad_recv *recv = slot->recv;
	struct ib_sge sge = {
		.length = recv_dma_size(mqp),
		.lkey = mqp->port->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &slot->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};
	int ret;

	lockdep_assert_held(&mqp->recv_lock);
	WARN_ON_ONCE(slot->posted || mqp->recv_posted >= ibmad_recv_depth);
	list_del_init(&slot->unposted);
	recv_clear(recv);
	recv->dma_addr = ib_dma_map_single(device, &recv->grh, sge.length,
					   DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(device, recv->dma_addr))
		return -ENOMEM;
	sge.addr = recv->dma_addr;
	ret = ib_post_recv(mqp->qp, &wr, NULL);
	if (ret) {
		ib_dma_unmap_single(device, recv->dma_addr, sge.length,
				    DMA_FROM_DEVICE);
		return ret;
	}
	slot->posted = true;
	mqp->recv_posted++;
	return 0;
}

/* Posts @slot; if that fails (no memory, no mapping) it is tried again later. */
static int recv_try_post(struct ibmad_qp *mqp, struct ibmad_recv_slot *slot)
{
	int ret = recv_post(mqp, slot);

	if (ret)
		list_add_tail(&slot->unposted, &mqp->unposted);
	return ret;
}

/*
 * Posts @slot, and one more of the slots that could not be posted, so that all are
 * posted again as MADs arrive.  Returns whether any slot is posted.
 */
static bool recv_repost(struct ibmad_qp *mqp, struct ibmad_recv_slot *slot)
{
	struct ibmad_recv_slot *other;

	lockdep_assert_held(&mqp->recv_lock);
	if (recv_try_post(mqp, slot))
		return mqp->recv_posted;
	other = list_first_entry_or_null(&mqp->unposted, struct ibmad_recv_slot,
					 unposted);
	if (other)
		recv_try_post(mqp, other);
	return true;
}

/* The slot's work request has ended; this layer owns its buffer again. */
static void recv_unpost(struct ibmad_qp *mqp, struct ibmad_recv_slot *slot)
{
	lockdep_assert_held(&mqp->recv_lock);
	slot->posted = false;
	ib_dma_unmap_single(mqp->port->device, slot->recv->dma_addr,
			    recv_dma_size(mqp), DMA_FROM_DEVICE);
	if (!--mqp->recv_posted)
		wake_up(&mqp->idle);
}

int ibmad_recvq_open(struct ibmad_qp *mqp)
{
	unsigned int i;
	int ret = 0;

	lockdep_assert_held(&mqp->reset_mutex);
	for (i = 0; i < ibmad_recv_depth; i++) {
		struct ibmad_recv_slot *slot = &mqp->recv_slots[i];

		/*
		 * Slots have no buffer only before the first opening, when the QP has
		 * no user yet.
		 */
		if (!slot->recv)
			slot->recv = ibmad_recv_alloc(mqp->pool, GFP_KERNEL);
		if (!slot->recv)
			return -ENOMEM;
	}

	/*
	 * Take the lock for each slot: hundreds of doorbells take too long with
	 * interrupts off.
	 */
	for (i = 0; i < ibmad_recv_depth; i++) {
		spin_lock_irq(&mqp->recv_lock);
		mqp->recv_open = true;
		if (!mqp->recv_slots[i].posted)
			ret = recv_try_post(mqp, &mqp->recv_slots[i]) ?: ret;
		spin_unlock_irq(&mqp->recv_lock);
	}
	/*
	 * As long as one slot is posted, the others are tried again when that
	 * completes.
	 */
	return READ_ONCE(mqp->recv_posted) ? 0 : ret;
}

void ibmad_recvq_close(struct ibmad_qp *mqp)
{
	spin_lock_irq(&mqp->recv_lock);
	mqp->recv_open = false;
	spin_unlock_irq(&mqp->recv_lock);
}

void ibmad_recvq_reclaim(struct ibmad_qp *mqp)
{
	unsigned int i;

	lockdep_assert_held(&mqp->reset_mutex);
	spin_lock_irq(&mqp->recv_lock);
	for (i = 0; i < ibmad_recv_depth; i++)
		if (mqp->recv_slots[i].posted)
			recv_unpost(mqp, &mqp->recv_slots[i]);
	WARN_ON_ONCE(mqp->recv_posted);
	spin_unlock_irq(&mqp->recv_lock);
}

/*
 * Ends the work request of @slot and posts the next.  Returns the buffer that
 * was received into, or NULL if there is nothing to process.
 */
static struct ibmad_recv *recv_take(struct ibmad_recv_slot *slot,
				    const struct ib_wc *wc, bool *broken)
{
	struct ibmad_qp *mqp = slot->mqp;
	struct ibmad_recv *recv = NULL, *fresh;
	unsigned long flags;

	fresh = wc->status ? NULL : ibmad_recv_alloc(mqp->pool, GFP_NOWAIT);

	spin_lock_irqsave(&mqp->recv_lock, flags);
	if (!slot->posted) {
		ibmad_count(mqp->port, IBMAD_STRAY_WC);
		goto unlock;
	}
	recv_unpost(mqp, slot);
	if (wc->status) {
		*broken = mqp->recv_open;
		goto unlock;
	}
	if (fresh) {
		recv = slot->recv;
		slot->recv = fresh;
		fresh = NULL;
	} else {
		ibmad_count(mqp->port, IBMAD_RECV_NO_BUFFER);
	}
	/* If others are posted the QP is in error, which their flush will report. */
	*broken = mqp->recv_open && !recv_repost(mqp, slot);
unlock:
	spin_unlock_irqrestore(&mqp->recv_lock, flags);
	if (fresh)
		ibmad_recv_free(fresh);
	return recv;
}

/* ---- validation ---- */

/*
 * The length of the MAD that was received.  An IB MAD has a fixed length, and not every
 * provider reports it: qedr does not count the GRH, mlx4 adds a header of its own in a
 * virtual function, bnxt_re reports the length of the Ethernet frame if the hardware
 * does, and else 0; if nothing was received base_version is 0, too.  So any length that
 * is large enough is accepted.  On QP1 a MAD that is too short by less than a GRH
 * cannot be told from a whole one whose GRH was not counted: its end is zeros.  Each
 * MAD is judged by itself, since any peer chooses the length of what it sends to QP1.
 */
static size_t recv_mad_len(const struct ibmad_qp *mqp, const struct ibmad_recv *recv,
			   u32 byte_len)
{
	const struct ib_mad_hdr *hdr = (const void *)recv->mad;
	u32 len = byte_len > sizeof(struct ib_grh) ?
		  byte_len - sizeof(struct ib_grh) : 0;
	bool qp1 = mqp == &mqp->port->qp[1];

	if (!mqp->port->opa && hdr->base_version == IB_MGMT_BASE_VERSION &&
	    ((qp1 ? byte_len : len) >= IB_MGMT_MAD_SIZE || (qp1 && !byte_len)))
		return IB_MGMT_MAD_SIZE;
	return len;
}

static bool recv_valid_length(const struct ibmad_qp *mqp,
			      const struct ib_mad_hdr *hdr, size_t len)
{
	if (len < IB_MGMT_MAD_HDR)
		return false;
	if (hdr->base_version == IB_MGMT_BASE_VERSION)
		return len == IB_MGMT_MAD_SIZE;
	return mqp->port->opa && hdr->base_version == OPA_MGMT_BASE_VERSION &&
	       len <= OPA_MGMT_MAD_SIZE && len >= ibmad_class_hdr_len(hdr->mgmt_class);
}

/*
 * Messages of the connection manager are sent by Send; Get and Set are for its
 * ClassPortInfo only (IBA vol. 1, 16.7).
 */
static bool recv_valid_method(const struct ib_mad_hdr *hdr)
{
	return hdr->mgmt_class != IB_MGMT_CLASS_CM ||
	       hdr->method == IB_MGMT_METHOD_SEND ||
	       hdr->attr_id == IB_MGMT_CLASSPORTINFO_ATTR_ID;
}

/*
 * Checks length and base version, the class against the QP, and the method: SMPs are sent
 * between QP0s only, other classes never use them (IBA 13.5.3.2, C13-10).
 */
bool ibmad_recv_valid(const struct ibmad_qp *mqp, const struct ibmad_recv *recv,
		      size_t len)
{
	const struct ib_mad_hdr *hdr = (const void *)recv->mad;
	bool qp0 = mqp == &mqp->port->qp[0];

	return recv_valid_length(mqp, hdr, len) && recv_valid_method(hdr) &&
	       ibmad_class_is_smp(hdr->mgmt_class) == qp0 &&
	       (!qp0 || recv->wc.src_qp == 0);
}

void ibmad_recv_init_wc(struct ibmad_recv *recv, size_t len)
{
	struct ib_mad_recv_wc *recv_wc = &recv->recv_wc;

	/* Buffers are reused: no client may see what another received. */
	if (len < recv->pool->mad_size)
		memset(recv->mad + len, 0, recv->pool->mad_size - len);
	recv_wc->wc = &recv->wc;
	recv_wc->recv_buf.grh = &recv->grh;
	recv_wc->recv_buf.mad = (struct ib_mad *)recv->mad;
	recv_wc->mad_len = len;
	recv_wc->mad_seg_size = recv->pool->mad_size;
	if (((struct ib_mad_hdr *)recv->mad)->base_version ==
	    IB_MGMT_BASE_VERSION)
		recv_wc->mad_seg_size = IB_MGMT_MAD_SIZE;
	INIT_LIST_HEAD(&recv_wc->rmpp_list);
	list_add(&recv_wc->recv_buf.list, &recv_wc->rmpp_list);
}

/* ---- dispatch ---- */

static enum rdma_network_type recv_network(const struct ibmad_recv *recv)
{
	const union rdma_network_hdr *hdr = (const void *)&recv->grh;

	if (recv->wc.wc_flags & IB_WC_WITH_NETWORK_HDR_TYPE)
		return recv->wc.network_hdr_type;
	if (ib_get_rdma_header_version(hdr) == 4)
		return RDMA_NETWORK_IPV4;
	return recv->grh.next_hdr == IPPROTO_UDP ? RDMA_NETWORK_IPV6 :
						   RDMA_NETWORK_IB;
}

bool ibmad_recv_sgid(const struct ibmad_recv *recv, union ib_gid *sgid)
{
	const union rdma_network_hdr *hdr = (const void *)&recv->grh;
	union ib_gid dgid;

	return (recv->wc.wc_flags & IB_WC_GRH) &&
	       !ib_get_gids_from_rdma_hdr(hdr, recv_network(recv), sgid, &dgid);
}

bool ibmad_recv_is_rmpp(const struct ibmad_recv *recv)
{
	struct ib_rmpp_mad *mad = (struct ib_rmpp_mad *)recv->mad;

	return ib_is_mad_class_rmpp(mad->mad_hdr.mgmt_class) &&
	       (ib_get_rmpp_flags(&mad->rmpp_hdr) & IB_MGMT_RMPP_FLAG_ACTIVE);
}

/*
 * Whether a client gets the response @recv even if it matches no request: a segment, if the
 * client does RMPP itself or nobody does, and the response of this node to its own SM,
 * which may wait for it without telling.
 */
static bool recv_is_unasked(const struct ibmad_agent *agent,
			    const struct ibmad_recv *recv)
{
	return recv->local ||
	       (!ib_mad_kernel_rmpp_agent(&agent->pub) && ibmad_recv_is_rmpp(recv));
}

/*
 * Returns the counter for what became of @recv; it is consumed if that is
 * IBMAD_RECV_DELIVERED.
 */
static enum ibmad_counter recv_to_agent(struct ibmad_agent *agent,
					struct ibmad_recv *recv, bool response)
{
	if (response) {
		if (ibmad_send_answer(agent, recv))
			return IBMAD_RECV_DELIVERED;
		if (!recv_is_unasked(agent, recv))
			return IBMAD_RECV_UNMATCHED;
	}
	return ibmad_deliver_recv(agent, recv, NULL) ? IBMAD_RECV_DELIVERED :
						       IBMAD_RECV_OVERFLOW;
}

void ibmad_recv_dispatch(struct ibmad_qp *mqp, struct ibmad_recv *recv)
{
	const struct ib_mad_hdr *hdr = (const void *)recv->mad;
	bool response = ib_response_mad(hdr);
	struct ibmad_agent *agent;
	enum ibmad_counter outcome;
	bool direct;

	agent = response ? ibmad_agent_by_tid(mqp, hdr->tid) :
			   ibmad_dispatch_find(mqp, hdr);
	if (agent && ib_mad_kernel_rmpp_agent(&agent->pub) &&
	    ibmad_recv_is_rmpp(recv)) {
		ibmad_rmpp_receive(agent, recv);
		ibmad_agent_put(agent);
		return;
	}

	outcome = response ? IBMAD_RECV_UNMATCHED : IBMAD_RECV_NO_AGENT;
	if (agent) {
		direct = ibmad_deliver_begin(agent);
		outcome = recv_to_agent(agent, recv, response);
		if (direct)
			ibmad_deliver_end(agent);
		ibmad_agent_put(agent);
	}
	ibmad_count(mqp->port, outcome);
	if (outcome == IBMAD_RECV_NO_AGENT)
		ibmad_local_unmatched(mqp, recv);
	else if (outcome != IBMAD_RECV_DELIVERED)
		ibmad_recv_free(recv);
}

static void recv_process(struct ibmad_qp *mqp, struct ibmad_recv *recv,
			 const struct ib_wc *wc)
{
	size_t len = recv_mad_len(mqp, recv, wc->byte_len);

	recv->wc = *wc;
	recv->wc.wr_id = 0;
	recv->wc.qp = &mqp->pub;
	recv->untold = !wc->byte_len;
	recv->wc.byte_len = len + sizeof(struct ib_grh);
	/* qedr does not report src_qp; and a QP0 never sends to a QP1 (C13-10). */
	if (!recv->wc.src_qp && mqp == &mqp->port->qp[1])
		recv->wc.src_qp = 1;
	if (!ibmad_recv_valid(mqp, recv, len)) {
		ibmad_count(mqp->port, IBMAD_RECV_MALFORMED);
		ibmad_recv_free(recv);
		return;
	}
	trace_ib_mad_recv_done_handler(mqp, wc, (struct ib_mad_hdr *)recv->mad);
	ibmad_count_received(mqp->port, (struct ib_mad_hdr *)recv->mad);
	ibmad_recv_init_wc(recv, len);
	if (!ibmad_local_receive(mqp, recv, len))
		ibmad_recv_dispatch(mqp, recv);
}

/* Handles a receive completion, in the CQ's work: one at a time for each QP. */
void ibmad_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ibmad_recv_slot *slot =
		container_of(wc->wr_cqe, struct ibmad_recv_slot, cqe);
	struct ibmad_recv *recv;
	bool broken = false;

	recv = recv_take(slot, wc, &broken);
	if (broken)
		ibmad_qp_recover(slot->mqp);
	if (recv)
		recv_process(slot->mqp, recv, wc);
}

/**
 * ib_free_recv_mad - give back a received MAD
 * @mad_recv_wc: what the recv_handler was given, with all segments of a transfer
 *
 * Allowed at any later time, even after the agent is unregistered and the device removed.
 *
 * Context: any.
 */
void ib_free_recv_mad(struct ib_mad_recv_wc *mad_recv_wc)
{
	struct ib_mad_recv_buf *buf, *next;
	LIST_HEAD(bufs);

	/* The list's head is in the first of the buffers. */
	list_splice_init(&mad_recv_wc->rmpp_list, &bufs);
	list_for_each_entry_safe(buf, next, &bufs, list)
		ibmad_recv_free(container_of(buf, struct ibmad_recv,
					     recv_wc.recv_buf));
}
EXPORT_SYMBOL(ib_free_recv_mad);
