// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* REJ (IBA vol. 1, 12.6.7): refuses or gives up a connection. */
#include <linux/export.h>

#include "ibcm/id.h"
#include "ibcm/port.h"
#include "messages/messages.h"
#include "trace.h"

void ibcm_rej_fill(struct ibcm_msg *msg, u8 rejected, u16 reason, const void *ari,
		   u8 ari_len)
{
	struct cm_rej_msg *rej = msg->buf->mad;

	ibcm_count_rej(msg->port, IBCM_REJ_SENT, reason);
	IBA_SET(CM_REJ_MESSAGE_REJECTED, rej, rejected);
	IBA_SET(CM_REJ_REASON, rej, reason);
	if (ari && ari_len) {
		IBA_SET(CM_REJ_REJECTED_INFO_LENGTH, rej, ari_len);
		IBA_SET_MEM(CM_REJ_ARI, rej, ari, ari_len);
	}
}

static void *ibcm_rej_start(struct ibcm_msg *msg)
{
	struct ibcm_id *id = msg->id;
	struct cm_rej_msg *rej = ibcm_msg_mad(msg, id->tid);

	IBA_SET(CM_REJ_LOCAL_COMM_ID, rej, be32_to_cpu(id->id.local_id));
	IBA_SET(CM_REJ_REMOTE_COMM_ID, rej, be32_to_cpu(id->id.remote_id));
	return rej;
}

static void ibcm_rej_post(struct ibcm_msg *msg, u8 rejected, u16 reason,
			  const void *ari, u8 ari_len)
{
	ibcm_rej_start(msg);
	ibcm_rej_fill(msg, rejected, reason, ari, ari_len);
	trace_icm_send_rej(&msg->id->id, reason);
	ibcm_msg_post(msg);
}

/* Sends a REJ of the CM itself.  It may be lost, so errors are ignored.  May sleep. */
void ibcm_send_rej(struct ibcm_id *id, u8 rejected, u16 reason,
		   const void *ari, u8 ari_len)
{
	struct ibcm_msg *msg = ibcm_msg_alloc(id, IBCM_REJ);

	if (!IS_ERR(msg))
		ibcm_rej_post(msg, rejected, reason, ari, ari_len);
}

/*
 * Sends the REJ of an id that has given up waiting for the peer.  A peer whose messages
 * never arrived finds its id by our communication id and CA GUID (12.6.7.2).  The device
 * may have been removed: it certainly exists only while a message is allocated and not
 * posted yet.
 */
void ibcm_send_rej_timeout(struct ibcm_id *id)
{
	struct ibcm_msg *msg = ibcm_msg_alloc(id, IBCM_REJ);
	__be64 guid;

	if (IS_ERR(msg))
		return;
	guid = msg->port->dev->ibdev->node_guid;
	ibcm_rej_post(msg, IBCM_FIELD_OTHER, IB_CM_REJ_TIMEOUT, &guid,
		      sizeof(guid));
}

/* Returns which message a REJ sent in @state rejects. */
static u8 ibcm_rejected_in(enum ib_cm_state state)
{
	switch (state) {
	case IB_CM_REQ_RCVD:
	case IB_CM_MRA_REQ_SENT:
		return IBCM_FIELD_REQ;
	case IB_CM_REP_RCVD:
	case IB_CM_MRA_REP_SENT:
		return IBCM_FIELD_REP;
	default:
		return IBCM_FIELD_OTHER;
	}
}

/**
 * ib_send_cm_rej - refuse or give up a connection
 * @cm_id: An id whose connection is not established yet.
 * @reason: Why the connection is rejected.
 * @ari: Additional rejection information that @reason calls for, or NULL.
 * @ari_length: Its length, up to IB_CM_REJ_ARI_LENGTH bytes.
 * @private_data: For the peer, or NULL.
 * @private_data_len: Its length, up to IB_CM_REJ_PRIVATE_DATA_SIZE bytes.
 *
 * IBA vol. 1, 12.6.7.  Afterwards the id is idle, or in timewait if a REP was sent;
 * also if posting the REJ failed.  If data on the watched QP has established the
 * connection, the REJ fails and the connection must be released with a DREQ.
 *
 * Context: May sleep.
 *
 * Return: 0; -EINVAL for bad data or an id in another state; -ENODEV after the
 * device's removal; -ENOMEM; or the error of sending.
 */
int ib_send_cm_rej(struct ib_cm_id *cm_id,
		   enum ib_cm_rej_reason reason,
		   void *ari,
		   u8 ari_length,
		   const void *private_data,
		   u8 private_data_len)
{
	struct ibcm_id *id = to_ibcm(cm_id);
	struct cm_rej_msg *rej;
	struct ibcm_todo todo;
	struct ibcm_msg *msg;
	bool moved;

	if (private_data_len > IB_CM_REJ_PRIVATE_DATA_SIZE ||
	    ari_length > IB_CM_REJ_ARI_LENGTH ||
	    (private_data_len && !private_data) || (ari_length && !ari))
		return -EINVAL;
	ibcm_probe(id, false);
	msg = ibcm_msg_alloc(id, IBCM_REJ);
	if (IS_ERR(msg))
		return PTR_ERR(msg);
	rej = ibcm_rej_start(msg);
	if (private_data_len)
		IBA_SET_MEM(CM_REJ_PRIVATE_DATA, rej, private_data,
			    private_data_len);

	spin_lock_irq(&id->lock);
	moved = ibcm_step(id, IBCM_TX_REJ, &todo);
	spin_unlock_irq(&id->lock);
	if (!moved) {
		trace_icm_send_unknown_rej_err(cm_id);
		ibcm_msg_drop(msg);
		return -EINVAL;
	}
	ibcm_rej_fill(msg, ibcm_rejected_in(todo.from), reason, ari, ari_length);
	trace_icm_send_rej(cm_id, reason);
	ibcm_step_finish(id, &todo);
	return ibcm_msg_post(msg);
}
EXPORT_SYMBOL(ib_send_cm_rej);

/*
 * Finds the id for a REJ (timeout) of a peer that does not know our communication id, as
 * it has received no reply.
 */
static struct ibcm_id *ibcm_find_given_up(struct cm_rej_msg *rej)
{
	__be32 remote_id = cpu_to_be32(IBA_GET(CM_REJ_LOCAL_COMM_ID, rej));
	struct ibcm_id *id;
	__be64 guid;
	bool known;

	if (IBA_GET(CM_REJ_REJECTED_INFO_LENGTH, rej) < sizeof(guid))
		return NULL;
	memcpy(&guid, IBA_GET_MEM_PTR(CM_REJ_ARI, rej), sizeof(guid));
	id = ibcm_peer_find_comm(guid, remote_id, &known);
	if (!id)
		trace_icm_remote_no_priv_err(be32_to_cpu(remote_id));
	return id;
}

/*
 * Finds the id that a REJ is for, by our communication id.  The peer's communication id
 * may be 0, as it may have created no id for a REQ that it rejects.
 */
struct ibcm_id *ibcm_find_rejected(struct cm_rej_msg *rej)
{
	__be32 local_id = cpu_to_be32(IBA_GET(CM_REJ_REMOTE_COMM_ID, rej));
	__be32 peer_id = cpu_to_be32(IBA_GET(CM_REJ_LOCAL_COMM_ID, rej));
	struct ibcm_id *id;
	__be32 remote_id;

	if (!local_id)
		return IBA_GET(CM_REJ_REASON, rej) == IB_CM_REJ_TIMEOUT ?
		       ibcm_find_given_up(rej) : NULL;

	id = ibcm_id_find(local_id);
	if (!id)
		return NULL;
	remote_id = READ_ONCE(id->id.remote_id);
	/* 0 is the communication id in a REJ of a peer that no longer has an id. */
	if (!remote_id || !peer_id || remote_id == peer_id)
		return id;
	ibcm_id_put(id);
	return NULL;
}

int ibcm_rx_rej(struct ibcm_id *id, struct ibcm_rx *rx)
{
	struct cm_rej_msg *rej = ibcm_rx_mad(rx);
	u16 reason = IBA_GET(CM_REJ_REASON, rej);
	struct ib_cm_event event = {};
	struct ibcm_todo todo;

	event.param.rej_rcvd.reason = reason;
	event.param.rej_rcvd.ari = IBA_GET_MEM_PTR(CM_REJ_ARI, rej);
	event.param.rej_rcvd.ari_length =
		min_t(u8, IBA_GET(CM_REJ_REJECTED_INFO_LENGTH, rej),
		      IB_CM_REJ_ARI_LENGTH);
	event.private_data = IBA_GET_MEM_PTR(CM_REJ_PRIVATE_DATA, rej);

	spin_lock_irq(&id->lock);
	ibcm_step(id, reason == IB_CM_REJ_STALE_CONN ? IBCM_RX_REJ_STALE :
		  IBCM_RX_REJ, &todo);
	/* A peer that has given up does not answer. */
	if (todo.stop && reason != IB_CM_REJ_TIMEOUT)
		ibcm_answered(id, todo.stop, todo.from);
	spin_unlock_irq(&id->lock);
	if (todo.step)
		ibcm_count_rej(rx->port, IBCM_REJ_RECEIVED, reason);
	else
		trace_icm_rej_unknown_err(&id->id);
	return ibcm_rx_finish(id, rx, &todo, &event);
}

static const struct {
	u8 reason;
	const char *text;
} ibcm_reject_msgs[] = {
	{ IB_CM_REJ_CONSUMER_DEFINED, "consumer defined" },
	{ IB_CM_REJ_DUPLICATE_LOCAL_COMM_ID, "duplicate local comm ID" },
	{ IB_CM_REJ_INSUFFICIENT_RESP_RESOURCES, "insufficient resp resources" },
	{ IB_CM_REJ_INVALID_ALT_FLOW_LABEL, "invalid alt flow label" },
	{ IB_CM_REJ_INVALID_ALT_GID, "invalid alt GID" },
	{ IB_CM_REJ_INVALID_ALT_HOP_LIMIT, "invalid alt hop limit" },
	{ IB_CM_REJ_INVALID_ALT_LID, "invalid alt LID" },
	{ IB_CM_REJ_INVALID_ALT_PACKET_RATE, "invalid alt packet rate" },
	{ IB_CM_REJ_INVALID_ALT_SL, "invalid alt SL" },
	{ IB_CM_REJ_INVALID_ALT_TRAFFIC_CLASS, "invalid alt traffic class" },
	{ IB_CM_REJ_INVALID_CLASS_VERSION, "invalid class version" },
	{ IB_CM_REJ_INVALID_COMM_ID, "invalid comm ID" },
	{ IB_CM_REJ_INVALID_COMM_INSTANCE, "invalid comm instance" },
	{ IB_CM_REJ_INVALID_FLOW_LABEL, "invalid flow label" },
	{ IB_CM_REJ_INVALID_GID, "invalid GID" },
	{ IB_CM_REJ_INVALID_HOP_LIMIT, "invalid hop limit" },
	{ IB_CM_REJ_INVALID_LID, "invalid LID" },
	{ IB_CM_REJ_INVALID_MTU, "invalid MTU" },
	{ IB_CM_REJ_INVALID_PACKET_RATE, "invalid packet rate" },
	{ IB_CM_REJ_INVALID_RNR_RETRY, "invalid RNR retry" },
	{ IB_CM_REJ_INVALID_SERVICE_ID, "invalid service ID" },
	{ IB_CM_REJ_INVALID_SL, "invalid SL" },
	{ IB_CM_REJ_INVALID_TRAFFIC_CLASS, "invalid traffic class" },
	{ IB_CM_REJ_INVALID_TRANSPORT_TYPE, "invalid transport type" },
	{ IB_CM_REJ_NO_EEC, "no EEC" },
	{ IB_CM_REJ_NO_QP, "no QP" },
	{ IB_CM_REJ_NO_RESOURCES, "no resources" },
	{ IB_CM_REJ_PORT_CM_REDIRECT, "port CM redirect" },
	{ IB_CM_REJ_PORT_REDIRECT, "port redirect" },
	{ IB_CM_REJ_RDC_NOT_EXIST, "RDC not exist" },
	{ IB_CM_REJ_STALE_CONN, "stale conn" },
	{ IB_CM_REJ_TIMEOUT, "timeout" },
	{ IB_CM_REJ_UNSUPPORTED, "unsupported" },
	{ IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED, "vendor option is not supported" },
};

/**
 * ibcm_reject_msg - describe the reason of a REJ
 * @reason: The reason in an IB_CM_REJ_RECEIVED event.
 *
 * Context: Any.
 *
 * Return: A constant string, also for a reason that is not defined.
 */
const char *__attribute_const__ ibcm_reject_msg(int reason)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ibcm_reject_msgs); i++)
		if (ibcm_reject_msgs[i].reason == reason)
			return ibcm_reject_msgs[i].text;
	return "unrecognized reason";
}
EXPORT_SYMBOL(ibcm_reject_msg);
