// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RMPP control MADs: ACK, STOP and ABORT (IBA vol. 1, 13.6.2).
 *
 * Each responds to a MAD of the transfer and is sent to its source, with the headers of
 * that MAD except for the response bit, which is inverted.
 */
#include "agent/agent.h"
#include "port/port.h"
#include "rmpp/rmpp.h"

/* The work request of a control MAD completed; on failure the peer's timers recover. */
void ibmad_rmpp_control_done(struct ibmad_send *send)
{
	struct ibmad_agent *agent = send_agent(send);

	spin_lock_irq(&agent->lock);
	list_del_init(&send->agent_link);
	spin_unlock_irq(&agent->lock);
	ibmad_rmpp_ah_put(send->buf.context[0]);
	ibmad_send_put(send);
	ibmad_agent_put(agent);
}

static struct ibmad_send *control_alloc(struct ibmad_agent *agent,
					const struct ibmad_recv *recv)
{
	const struct ib_rmpp_mad *from = (const void *)recv->mad;
	int hdr_len = ib_get_mad_data_offset(from->mad_hdr.mgmt_class);
	size_t len = recv->recv_wc.mad_seg_size;
	struct ibmad_send *send;
	struct ib_rmpp_mad *mad;

	send = ibmad_send_alloc(agent, IBMAD_RMPP_CONTROL, len, GFP_NOIO);
	if (!send)
		return NULL;
	send->buf.hdr_len = hdr_len;
	send->remote_qpn = recv->wc.src_qp;
	send->pkey_index = recv->wc.pkey_index;
	send->out_port = agent->port->port_num;
	send->lane = IBMAD_LANE_RESPONSE;
	send->length = len;

	mad = send->buf.mad;
	memcpy(mad, from, hdr_len);
	mad->mad_hdr.method ^= IB_MGMT_METHOD_RESP;
	mad->mad_hdr.status = 0;
	mad->rmpp_hdr.rmpp_version = agent->pub.rmpp_version;
	mad->rmpp_hdr.rmpp_status = IB_MGMT_RMPP_STATUS_SUCCESS;
	ib_set_rmpp_flags(&mad->rmpp_hdr, IB_MGMT_RMPP_FLAG_ACTIVE);
	ib_set_rmpp_resptime(&mad->rmpp_hdr, IB_MGMT_RMPP_NO_RESPTIME);
	return send;
}

/*
 * The caller holds a reference on the agent, and rmpp.mutex.  An agent that is being
 * deregistered posts no control MAD, since ibmad_rmpp_control_cancel() runs only once.
 */
static void control_post(struct ibmad_agent *agent, struct ibmad_send *send,
			 struct ibmad_rmpp_ah *rah)
{
	int ret = -ESHUTDOWN;

	send->buf.context[0] = ibmad_rmpp_ah_get(rah);
	send->buf.ah = ibmad_rmpp_ah_handle(rah);
	refcount_inc(&agent->refs);
	spin_lock_irq(&agent->lock);
	if (!agent->closing)
		ret = ibmad_sendq_post(send);
	if (!ret)
		list_add_tail(&send->agent_link, &agent->controls);
	spin_unlock_irq(&agent->lock);
	if (ret)
		ibmad_rmpp_control_done(send);
}

/* Takes back control MADs that wait for the QP; no others follow.  May sleep. */
void ibmad_rmpp_control_cancel(struct ibmad_agent *agent)
{
	struct ibmad_send *send, *next;
	LIST_HEAD(recalled);

	spin_lock_irq(&agent->lock);
	list_for_each_entry_safe(send, next, &agent->controls, agent_link)
		if (ibmad_sendq_withdraw(send))
			list_move_tail(&send->agent_link, &recalled);
	spin_unlock_irq(&agent->lock);
	list_for_each_entry_safe(send, next, &recalled, agent_link)
		ibmad_rmpp_control_done(send);
}

static void control_way_found(struct ibmad_rmpp_lookup *lookup)
{
	struct ibmad_send *send = lookup->context;

	if (lookup->rah)
		control_post(lookup->agent, send, lookup->rah);
	else
		ibmad_send_put(send);
}

static void control_post_to(struct ibmad_agent *agent, struct ibmad_send *send,
			    const struct ibmad_recv *recv,
			    struct ibmad_rmpp_ah *rah)
{
	if (rah)
		control_post(agent, send, rah);
	else if (!ibmad_rmpp_look_up(agent, recv, control_way_found, send))
		ibmad_send_put(send);
}

void ibmad_rmpp_send_ack(struct ibmad_agent *agent,
			 const struct ibmad_recv *recv,
			 struct ibmad_rmpp_ah *rah, u32 seg_num, u32 window)
{
	struct ibmad_send *send = control_alloc(agent, recv);
	struct ib_rmpp_mad *mad;

	/*
	 * Without memory no ACK is sent: the peer sends the segment again and gets one
	 * then.
	 */
	if (!send)
		return;
	mad = send->buf.mad;
	mad->rmpp_hdr.rmpp_type = IB_MGMT_RMPP_TYPE_ACK;
	mad->rmpp_hdr.seg_num = cpu_to_be32(seg_num);
	mad->rmpp_hdr.paylen_newwin = cpu_to_be32(window);
	control_post_to(agent, send, recv, rah);
}

/* A STOP if @status is IB_MGMT_RMPP_STATUS_RESX, an ABORT otherwise. */
void ibmad_rmpp_send_abort(struct ibmad_agent *agent,
			   const struct ibmad_recv *recv,
			   struct ibmad_rmpp_ah *rah, u8 status)
{
	struct ibmad_send *send = control_alloc(agent, recv);
	struct ib_rmpp_mad *mad;

	ibmad_count(agent->port, IBMAD_RMPP_ABORTED);
	if (!send)
		return;
	mad = send->buf.mad;
	mad->rmpp_hdr.rmpp_type = status == IB_MGMT_RMPP_STATUS_RESX ?
				  IB_MGMT_RMPP_TYPE_STOP :
				  IB_MGMT_RMPP_TYPE_ABORT;
	mad->rmpp_hdr.rmpp_status = status;
	mad->rmpp_hdr.seg_num = 0;
	mad->rmpp_hdr.paylen_newwin = 0;
	control_post_to(agent, send, recv, rah);
}
