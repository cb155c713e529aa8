// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The provider's own agents: SMA, PMA and vendor agents that a device offers through
 * process_mad, to peers on the wire and to the local SM.
 *
 * Each QP has a responder, an internal agent that sends the provider's responses (and,
 * on a switch, forwarded SMPs).  SMPs that the local SM sends to this node never reach
 * the QP; they are processed from a work item, since they may be posted in atomic
 * context and process_mad may sleep.
 */
#include <linux/slab.h>
#include "agent/agent.h"
#include "port/port.h"
#include "smi/smi.h"

static bool mad_is_opa(const struct ibmad_qp *mqp, const void *mad)
{
	return mqp->port->opa &&
	       ((const struct ib_mad_hdr *)mad)->base_version ==
	       OPA_MGMT_BASE_VERSION;
}

static void local_node(const struct ibmad_port *port, u32 port_num,
		       struct ibmad_smi_node *node)
{
	node->is_switch = rdma_cap_ib_switch(port->device);
	node->port_num = port_num;
	node->num_ports = port->device->phys_port_cnt;
}

/* The port an SMP arrived on: on a switch, only the completion tells it. */
static u32 local_in_port(const struct ibmad_qp *mqp, const struct ib_wc *wc)
{
	return rdma_cap_ib_switch(mqp->port->device) ? wc->port_num :
						       mqp->port->port_num;
}

static void responder_sent(struct ib_mad_agent *agent,
			   struct ib_mad_send_wc *send_wc)
{
	rdma_destroy_ah(send_wc->send_buf->ah, RDMA_DESTROY_AH_SLEEPABLE);
	ib_free_send_mad(send_wc->send_buf);
}

/* Sends @mad to the source of @recv; with @out_port, out of that port, past the SMI. */
static int local_send(struct ibmad_qp *mqp, const struct ibmad_recv *recv,
		      const void *mad, size_t len, u16 pkey_index, u32 out_port)
{
	const struct ib_mad_hdr *hdr = mad;
	struct ib_mad_send_buf *buf;
	struct ib_ah *ah;
	int ret;

	ah = ib_create_ah_from_wc(mqp->port->pd, &recv->wc, &recv->grh,
				  mqp->port->port_num);
	if (IS_ERR(ah))
		return PTR_ERR(ah);
	buf = ib_create_send_mad(mqp->responder, recv->wc.src_qp, pkey_index, 0,
				 IB_MGMT_MAD_HDR, len - IB_MGMT_MAD_HDR,
				 GFP_KERNEL, hdr->base_version);
	if (IS_ERR(buf)) {
		ret = PTR_ERR(buf);
		goto err_ah;
	}
	memcpy(buf->mad, mad, len);
	buf->ah = ah;
	if (out_port) {
		to_send(buf)->kind = IBMAD_FORWARD;
		to_send(buf)->out_port = out_port;
	}
	ret = ib_post_send_mad(buf, NULL);
	if (ret)
		goto err_buf;
	return 0;

err_buf:
	ib_free_send_mad(buf);
err_ah:
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	return ret;
}

/* True if the SMI has forwarded or discarded the SMP: this node must not process it. */
static bool local_route_received(struct ibmad_qp *mqp, struct ibmad_recv *recv,
				 size_t len)
{
	struct ib_mad_hdr *hdr = (struct ib_mad_hdr *)recv->mad;
	struct ibmad_smi_node node;
	u32 out_port;

	if (hdr->mgmt_class != IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		return false;
	local_node(mqp->port, local_in_port(mqp, &recv->wc), &node);

	switch (ibmad_smi_receive(hdr, ibmad_smi_is_opa(mqp->port, hdr), &node,
				  &out_port)) {
	case IBMAD_SMI_LOCAL:
		return false;
	case IBMAD_SMI_SEND:
		if (node.is_switch &&
		    !local_send(mqp, recv, hdr, len, recv->wc.pkey_index,
				out_port)) {
			ibmad_count(mqp->port, IBMAD_RECV_FORWARDED);
			return true;
		}
		fallthrough;
	default:
		ibmad_count(mqp->port, IBMAD_RECV_SMI_DROPPED);
		return true;
	}
}

/* ---- replies ---- */

/*
 * A reply on QP1 that is being sent.  The address of its destination may have to be
 * resolved first, which takes a second if there is no such neighbour: receiving does
 * not wait for that, nor do other replies.
 */
struct local_reply {
	struct work_struct work;
	struct ibmad_qp *mqp;		/* its port is referenced */
	struct ibmad_recv *recv;	/* holds the reply by now */
	size_t len;
	u16 pkey_index;
};

static void local_reply_now(struct ibmad_qp *mqp, struct ibmad_recv *recv,
			    size_t len, u16 pkey_index)
{
	if (!local_send(mqp, recv, recv->mad, len, pkey_index, 0))
		ibmad_count(mqp->port, IBMAD_RECV_REPLIED);
	ibmad_recv_free(recv);
}

static void local_reply_put(struct ibmad_qp *mqp)
{
	if (atomic_dec_and_test(&mqp->replies))
		wake_up(&mqp->idle);
}

static void local_reply_work(struct work_struct *work)
{
	struct local_reply *reply = container_of(work, struct local_reply, work);
	struct ibmad_port *port = reply->mqp->port;

	local_reply_now(reply->mqp, reply->recv, reply->len, reply->pkey_index);
	local_reply_put(reply->mqp);
	kfree(reply);
	/* ibmad_local_exit() waited for it; the port may have been released since. */
	ibmad_port_put(port);
}

static bool local_reply_later(struct ibmad_qp *mqp, struct ibmad_recv *recv,
			      size_t len, u16 pkey_index)
{
	struct local_reply *reply = NULL;

	if (atomic_inc_return(&mqp->replies) <= IBMAD_MAX_REPLIES)
		reply = kmalloc(sizeof(*reply), GFP_NOIO);
	if (!reply) {
		local_reply_put(mqp);
		return false;
	}
	reply->mqp = mqp;
	reply->recv = recv;
	reply->len = len;
	reply->pkey_index = pkey_index;
	kref_get(&mqp->port->kref);
	INIT_WORK(&reply->work, local_reply_work);
	queue_work(ibmad_lookup_wq, &reply->work);
	return true;
}

/* Sends the reply in @recv to its source, if possible; consumes @recv. */
static void local_reply(struct ibmad_qp *mqp, struct ibmad_recv *recv,
			size_t len, u16 pkey_index)
{
	/* On QP0 all addresses are LIDs, which need not be resolved. */
	if (mqp == &mqp->port->qp[0])
		local_reply_now(mqp, recv, len, pkey_index);
	else if (!local_reply_later(mqp, recv, len, pkey_index))
		ibmad_recv_free(recv);
}

static int local_process(struct ibmad_qp *mqp, const struct ibmad_recv *recv,
			 const void *in, void *out, size_t *out_len,
			 u16 *pkey_index)
{
	struct ib_device *device = mqp->port->device;

	*out_len = mad_is_opa(mqp, in) ? OPA_MGMT_MAD_SIZE : IB_MGMT_MAD_SIZE;
	*pkey_index = recv->wc.pkey_index;
	memset(out, 0, *out_len);
	return device->ops.process_mad(device, 0, local_in_port(mqp, &recv->wc),
				       &recv->wc, &recv->grh, in, out, out_len,
				       pkey_index);
}

static bool local_len_valid(const struct ibmad_qp *mqp, size_t len)
{
	return len >= IB_MGMT_MAD_HDR && len <= mqp->port->mad_size;
}

bool ibmad_local_receive(struct ibmad_qp *mqp, struct ibmad_recv *recv,
			 size_t len)
{
	size_t out_len;
	u16 pkey_index;
	int result;

	if (local_route_received(mqp, recv, len))
		goto consumed;
	if (!mqp->port->device->ops.process_mad)
		return false;

	result = local_process(mqp, recv, recv->mad, mqp->scratch, &out_len,
			       &pkey_index);
	if (!(result & IB_MAD_RESULT_SUCCESS) ||
	    !(result & (IB_MAD_RESULT_REPLY | IB_MAD_RESULT_CONSUMED)))
		return false;
	ibmad_count(mqp->port, IBMAD_RECV_PROVIDER);
	if (!(result & IB_MAD_RESULT_CONSUMED) && local_len_valid(mqp, out_len)) {
		memcpy(recv->mad, mqp->scratch, out_len);
		local_reply(mqp, recv, out_len, pkey_index);
		return true;
	}
consumed:
	ibmad_recv_free(recv);
	return true;
}

/* Whether @recv is the first segment of an RMPP transfer. */
static bool local_is_first_segment(const struct ibmad_recv *recv)
{
	const struct ib_rmpp_hdr *hdr = &((const struct ib_rmpp_mad *)recv->mad)->rmpp_hdr;

	return hdr->rmpp_type == IB_MGMT_RMPP_TYPE_DATA && be32_to_cpu(hdr->seg_num) == 1;
}

/*
 * A Get or Set is answered, except one that the local SM sent to this node itself, and
 * except a MAD of an RMPP transfer that is not its first: its sender has the answer to
 * that, or it is an ACK of its sender's transfer.
 */
static bool local_wants_answer(const struct ibmad_recv *recv)
{
	u8 method = ((const struct ib_mad_hdr *)recv->mad)->method;

	return !recv->local &&
	       (method == IB_MGMT_METHOD_GET || method == IB_MGMT_METHOD_SET) &&
	       (!ibmad_recv_is_rmpp(recv) || local_is_first_segment(recv));
}

/*
 * A Get or Set that no agent takes is answered, so that its sender need not wait out
 * its timeouts (IBA 13.4.7: unsupported method and attribute combination).  The answer
 * is one MAD: with an RMPP header like that of the request it would be taken for a
 * transfer.  If the provider did not report the length, the bytes behind the headers may
 * be from another MAD: clear them.
 */
void ibmad_local_unmatched(struct ibmad_qp *mqp, struct ibmad_recv *recv)
{
	struct ib_mad_hdr *hdr = (struct ib_mad_hdr *)recv->mad;
	size_t kept = ibmad_class_hdr_len(hdr->mgmt_class);

	if (!local_wants_answer(recv)) {
		ibmad_recv_free(recv);
		return;
	}
	hdr->method = IB_MGMT_METHOD_GET_RESP;
	hdr->status = cpu_to_be16(IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
	if (hdr->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		hdr->status |= IB_SMP_DIRECTION;
	if (ibmad_recv_is_rmpp(recv))
		memset(&((struct ib_rmpp_mad *)recv->mad)->rmpp_hdr, 0,
		       sizeof(struct ib_rmpp_hdr));
	if (recv->untold)
		memset(recv->mad + kept, 0, mqp->port->mad_size - kept);
	local_reply(mqp, recv, recv->recv_wc.mad_len, recv->wc.pkey_index);
}

/* ---- SMPs of the local SM for this node ---- */

int ibmad_local_route(struct ibmad_send *send)
{
	struct ibmad_port *port = send_agent(send)->port;
	struct ib_mad_hdr *hdr = send->buf.mad;
	struct ibmad_smi_node node;

	local_node(port, port->port_num, &node);
	switch (ibmad_smi_originate(hdr, ibmad_smi_is_opa(port, hdr), &node,
				    &send->out_port)) {
	case IBMAD_SMI_LOCAL:
		send->route = IBMAD_LOCAL;
		return 0;
	case IBMAD_SMI_SEND:
		send->route = IBMAD_WIRE;
		return 0;
	default:
		return -EINVAL;
	}
}

void ibmad_local_queue(struct ibmad_send *send)
{
	struct ibmad_qp *mqp = send_agent(send)->mqp;

	/* send->item is unused here: it enters the inbox only when the send is DONE. */
	if (llist_add(&send->item.node, &mqp->local))
		queue_work(ibmad_wq, &mqp->local_work);
}

/* Fills in the completion that an SMP looped back here would have had from the wire. */
static void local_fill_wc(struct ibmad_qp *mqp, struct ibmad_recv *recv,
			  const struct ibmad_send *send)
{
	recv->wc = (struct ib_wc) {
		.status = IB_WC_SUCCESS,
		.opcode = IB_WC_RECV,
		.qp = &mqp->pub,
		.byte_len = send->length + sizeof(struct ib_grh),
		.slid = be16_to_cpu(IB_LID_PERMISSIVE),
		.pkey_index = send->pkey_index,
		.port_num = mqp->port->port_num,
	};
	memset(&recv->grh, 0, sizeof(recv->grh));
	recv->local = true;
}

/*
 * Whether the route of the provider's response ends here, where it started; if not the
 * response is dropped.
 */
static bool local_returns(struct ibmad_qp *mqp, struct ib_mad_hdr *hdr)
{
	struct ibmad_smi_node node;
	u32 out_port;

	if (hdr->mgmt_class != IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		return true;
	local_node(mqp->port, mqp->port->port_num, &node);
	return ibmad_smi_originate(hdr, ibmad_smi_is_opa(mqp->port, hdr), &node,
				   &out_port) == IBMAD_SMI_LOCAL;
}

/* Has the provider process @send.  Returns whether @recv holds a MAD to dispatch. */
static bool local_turn_around(struct ibmad_qp *mqp, struct ibmad_recv *recv,
			      const struct ibmad_send *send)
{
	int result = IB_MAD_RESULT_SUCCESS;
	size_t len = send->length;
	u16 pkey_index;

	/*
	 * This includes TrapRepress, which has no response bit but is matched as a
	 * response.
	 */
	if (mqp->port->device->ops.process_mad &&
	    !(((const struct ib_mad_hdr *)send->buf.mad)->method &
	      IB_MGMT_METHOD_RESP))
		result = local_process(mqp, recv, send->buf.mad, recv->mad,
				       &len, &pkey_index);
	if (!(result & IB_MAD_RESULT_SUCCESS) ||
	    result & IB_MAD_RESULT_CONSUMED)
		return false;
	if (result & IB_MAD_RESULT_REPLY) {
		if (!local_len_valid(mqp, len) ||
		    !local_returns(mqp, (struct ib_mad_hdr *)recv->mad))
			return false;
	} else {
		len = send->length;
		memcpy(recv->mad, send->buf.mad, len);
	}
	ibmad_recv_init_wc(recv, len);
	return true;
}

static void local_send_one(struct ibmad_qp *mqp, struct ibmad_send *send)
{
	struct ibmad_recv *recv = ibmad_recv_alloc(mqp->pool, GFP_KERNEL);
	bool dispatch;

	if (!recv) {
		ibmad_send_wr_done(send, IB_WC_LOC_QP_OP_ERR, 0);
		return;
	}
	local_fill_wc(mqp, recv, send);
	dispatch = local_turn_around(mqp, recv, send);
	/* @send may be freed after this, unless it waits for its response. */
	ibmad_send_wr_done(send, IB_WC_SUCCESS, 0);
	if (dispatch)
		ibmad_recv_dispatch(mqp, recv);
	else
		ibmad_recv_free(recv);
}

void ibmad_local_work(struct work_struct *work)
{
	struct ibmad_qp *mqp = container_of(work, struct ibmad_qp, local_work);
	struct llist_node *list = llist_reverse_order(llist_del_all(&mqp->local));
	struct ibmad_send *send, *next;

	llist_for_each_entry_safe(send, next, list, item.node)
		local_send_one(mqp, send);
}

int ibmad_local_init(struct ibmad_qp *mqp)
{
	struct ibmad_agent *agent;

	agent = ibmad_agent_create(mqp, NULL, 0, responder_sent, NULL, NULL, 0);
	if (IS_ERR(agent))
		return PTR_ERR(agent);
	mqp->responder = &agent->pub;
	return 0;
}

/* The QP receives nothing any more. */
void ibmad_local_exit(struct ibmad_qp *mqp)
{
	if (!mqp->responder)
		return;
	wait_event(mqp->idle, !atomic_read(&mqp->replies));
	ib_unregister_mad_agent(mqp->responder);
	mqp->responder = NULL;
}
