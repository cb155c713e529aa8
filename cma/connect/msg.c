// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Descriptions of events and reasons for rejection. */
#include "cma.h"

static const char * const cma_event_msgs[] = {
	/* In the order of a successful connection. */
	[RDMA_CM_EVENT_ADDR_RESOLVED] = "address resolved",
	[RDMA_CM_EVENT_ROUTE_RESOLVED] = "route resolved",
	[RDMA_CM_EVENT_CONNECT_REQUEST] = "connect request",
	[RDMA_CM_EVENT_CONNECT_RESPONSE] = "connect response",
	[RDMA_CM_EVENT_ESTABLISHED] = "established",
	[RDMA_CM_EVENT_DISCONNECTED] = "disconnected",
	[RDMA_CM_EVENT_MULTICAST_JOIN] = "multicast join",
	[RDMA_CM_EVENT_TIMEWAIT_EXIT] = "timewait exit",
	/* Events that may occur instead or in addition. */
	[RDMA_CM_EVENT_ADDR_ERROR] = "address error",
	[RDMA_CM_EVENT_ROUTE_ERROR] = "route error",
	[RDMA_CM_EVENT_CONNECT_ERROR] = "connect error",
	[RDMA_CM_EVENT_UNREACHABLE] = "unreachable",
	[RDMA_CM_EVENT_REJECTED] = "rejected",
	[RDMA_CM_EVENT_DEVICE_REMOVAL] = "device removal",
	[RDMA_CM_EVENT_MULTICAST_ERROR] = "multicast error",
	[RDMA_CM_EVENT_ADDR_CHANGE] = "address change",
};

/**
 * rdma_event_msg() - describe an event
 * @event: the event
 *
 * Context: any.
 * Return: a constant string, never NULL.
 */
const char *__attribute_const__ rdma_event_msg(enum rdma_cm_event_type event)
{
	if ((unsigned int)event < ARRAY_SIZE(cma_event_msgs))
		return cma_event_msgs[event];
	return "unrecognized event";
}
EXPORT_SYMBOL(rdma_event_msg);

/**
 * rdma_reject_msg() - describe the reason of a rejection
 * @id: the id that got RDMA_CM_EVENT_REJECTED
 * @reason: the event's status: a reject reason of the IB CM, or an errno on iWARP
 *
 * Context: any.
 * Return: a constant string, never NULL.
 */
const char *__attribute_const__ rdma_reject_msg(struct rdma_cm_id *id,
						int reason)
{
	if (id->device && rdma_cap_iw_cm(id->device, id->port_num))
		return iwcm_reject_msg(reason);
	if (id->device && rdma_cap_ib_cm(id->device, id->port_num))
		return ibcm_reject_msg(reason);
	return "unrecognized transport";
}
EXPORT_SYMBOL(rdma_reject_msg);

/**
 * rdma_consumer_reject_data() - get the data that the peer's consumer rejected with
 * @id: the id that got the event
 * @ev: RDMA_CM_EVENT_REJECTED
 * @data_len: where to store the length of the data; 0 if there is none
 *
 * Context: the callback that got @ev; the data is part of that event's memory.
 * Return: the data, or NULL if the rejection was not by the peer's consumer.
 */
const void *rdma_consumer_reject_data(struct rdma_cm_id *id,
				      struct rdma_cm_event *ev, u8 *data_len)
{
	int reason = IB_CM_REJ_CONSUMER_DEFINED;

	*data_len = 0;
	if (!id->device)
		return NULL;
	if (rdma_cap_iw_cm(id->device, id->port_num))
		reason = -ECONNREFUSED;
	if (ev->status != reason)
		return NULL;
	*data_len = ev->param.conn.private_data_len;
	return ev->param.conn.private_data;
}
EXPORT_SYMBOL(rdma_consumer_reject_data);
