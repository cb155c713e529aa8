// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Asynchronous events of devices and ports (IBA vol. 1, 11.6.3).
 *
 * A driver may report an event in a hard interrupt.  Each device has a queue, which
 * one work item processes in order, so that events of one device are ordered and
 * those of different devices run in parallel.  Each event first refreshes the caches
 * and then reaches the handlers, which thus read values no older than the event.
 */
#include <linux/slab.h>
#include "device/device.h"
#include "gid/gid.h"

struct queued_event {
	struct list_head node;		/* of ibcore_device.events */
	struct ib_event event;
};

static struct workqueue_struct *event_wq;

/* ---- queues ---- */

static struct queued_event *pop_event(struct ibcore_device *priv)
{
	struct queued_event *ev;

	spin_lock_irq(&priv->event_lock);
	ev = list_first_entry_or_null(&priv->events, struct queued_event, node);
	if (ev)
		list_del(&ev->node);
	spin_unlock_irq(&priv->event_lock);
	return ev;
}

static void call_handlers(struct ib_device *dev, struct ib_event *event)
{
	struct ib_event_handler *handler;

	down_read(&dev->event_handler_rwsem);
	list_for_each_entry(handler, &dev->event_handler_list, list)
		handler->handler(handler, event);
	up_read(&dev->event_handler_rwsem);
}

static void event_work(struct work_struct *work)
{
	struct ibcore_device *priv =
		container_of(work, struct ibcore_device, event_work);
	struct queued_event *ev;

	while ((ev = pop_event(priv))) {
		ibcore_cache_event(&ev->event);
		call_handlers(&priv->ib, &ev->event);
		kfree(ev);
	}
}

void ibcore_events_init(struct ib_device *dev)
{
	struct ibcore_device *priv = ibcore_priv(dev);

	spin_lock_init(&priv->event_lock);
	INIT_LIST_HEAD(&priv->events);
	INIT_WORK(&priv->event_work, event_work);
	init_rwsem(&dev->event_handler_rwsem);
	INIT_LIST_HEAD(&dev->event_handler_list);
}

int ibcore_events_open(struct ib_device *dev)
{
	struct ibcore_device *priv = ibcore_priv(dev);

	spin_lock_irq(&priv->event_lock);
	priv->events_open = true;
	spin_unlock_irq(&priv->event_lock);
	return 0;
}

void ibcore_events_close(struct ib_device *dev)
{
	struct ibcore_device *priv = ibcore_priv(dev);
	struct queued_event *ev;

	spin_lock_irq(&priv->event_lock);
	priv->events_open = false;
	spin_unlock_irq(&priv->event_lock);
	cancel_work_sync(&priv->event_work);
	/* All clients have been removed: no handler waits for these events. */
	while ((ev = pop_event(priv)))
		kfree(ev);
}

void ibcore_events_flush(struct ib_device *dev)
{
	flush_work(&ibcore_priv(dev)->event_work);
}

static bool queue_event(struct ibcore_device *priv, struct queued_event *ev)
{
	unsigned long flags;
	bool open;

	spin_lock_irqsave(&priv->event_lock, flags);
	open = priv->events_open;
	if (open) {
		list_add_tail(&ev->node, &priv->events);
		queue_work(event_wq, &priv->event_work);
	}
	spin_unlock_irqrestore(&priv->event_lock, flags);
	return open;
}

/**
 * ib_dispatch_event - Report an asynchronous event
 * @event: of a device or port; copied
 *
 * The event is dropped if the device is not registered: it has no handlers then.
 *
 * Context: any, hard interrupts included.
 */
void ib_dispatch_event(const struct ib_event *event)
{
	struct ibcore_device *priv = ibcore_priv(event->device);
	struct queued_event *ev;

	if (!READ_ONCE(priv->events_open))
		return;
	ev = kmalloc(sizeof(*ev), GFP_ATOMIC);
	if (!ev) {
		dev_err_ratelimited(&event->device->dev,
				    "event lost, no memory: %s\n",
				    ib_event_msg(event->event));
		return;
	}
	ev->event = *event;
	if (!queue_event(priv, ev))
		kfree(ev);
}
EXPORT_SYMBOL(ib_dispatch_event);

/* ---- handlers ---- */

/**
 * ib_register_event_handler - subscribe to a device's asynchronous events
 * @event_handler: initialized by INIT_IB_EVENT_HANDLER()
 *
 * The handler is called in process context, for one event at a time, and may sleep;
 * it must not (un)register handlers of the device.
 *
 * Context: may sleep.
 */
void ib_register_event_handler(struct ib_event_handler *event_handler)
{
	struct ib_device *dev = event_handler->device;

	down_write(&dev->event_handler_rwsem);
	list_add_tail(&event_handler->list, &dev->event_handler_list);
	up_write(&dev->event_handler_rwsem);
}
EXPORT_SYMBOL(ib_register_event_handler);

/**
 * ib_unregister_event_handler - unsubscribe from events
 * @event_handler: a registered handler
 *
 * When this returns, the handler is not running and will not be called again.
 *
 * Context: may sleep; not from a handler of the device.
 */
void ib_unregister_event_handler(struct ib_event_handler *event_handler)
{
	struct ib_device *dev = event_handler->device;

	down_write(&dev->event_handler_rwsem);
	list_del(&event_handler->list);
	up_write(&dev->event_handler_rwsem);
}
EXPORT_SYMBOL(ib_unregister_event_handler);

/* ---- names of events and statuses ---- */

/**
 * ib_event_msg - The name of an asynchronous event
 * @event: IBA vol. 1, 11.6.3
 *
 * Context: any.
 * Return: a constant string, also if @event is not a valid event.
 */
const char *__attribute_const__ ib_event_msg(enum ib_event_type event)
{
	switch (event) {
	/* ports and devices */
	case IB_EVENT_PORT_ACTIVE:		return "port active";
	case IB_EVENT_PORT_ERR:			return "port error";
	case IB_EVENT_LID_CHANGE:		return "LID change";
	case IB_EVENT_PKEY_CHANGE:		return "P_key change";
	case IB_EVENT_GID_CHANGE:		return "GID changed";
	case IB_EVENT_SM_CHANGE:		return "SM change";
	case IB_EVENT_CLIENT_REREGISTER:	return "client reregister";
	case IB_EVENT_DEVICE_FATAL:		return "device fatal error";
	/* QPs */
	case IB_EVENT_COMM_EST:			return "communication established";
	case IB_EVENT_SQ_DRAINED:		return "send queue drained";
	case IB_EVENT_QP_LAST_WQE_REACHED:	return "last WQE reached";
	case IB_EVENT_PATH_MIG:			return "path migration successful";
	case IB_EVENT_PATH_MIG_ERR:		return "path migration error";
	case IB_EVENT_QP_ACCESS_ERR:		return "QP access error";
	case IB_EVENT_QP_REQ_ERR:		return "QP request error";
	case IB_EVENT_QP_FATAL:			return "QP fatal error";
	/* other queues */
	case IB_EVENT_CQ_ERR:			return "CQ error";
	case IB_EVENT_SRQ_LIMIT_REACHED:	return "SRQ limit reached";
	case IB_EVENT_SRQ_ERR:			return "SRQ error";
	case IB_EVENT_WQ_FATAL:			return "WQ fatal error";
	}
	return "unrecognized event";
}
EXPORT_SYMBOL(ib_event_msg);

/**
 * ib_wc_status_msg - The name of a completion status
 * @status: IBA vol. 1, 11.6.2
 *
 * Context: any.
 * Return: a constant string, also if @status is not a valid status.
 */
const char *__attribute_const__ ib_wc_status_msg(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_SUCCESS:		return "success";
	/* detected by the requester */
	case IB_WC_WR_FLUSH_ERR:	return "WR flushed";
	case IB_WC_RETRY_EXC_ERR:	return "transport retry counter exceeded";
	case IB_WC_RNR_RETRY_EXC_ERR:	return "RNR retry counter exceeded";
	case IB_WC_RESP_TIMEOUT_ERR:	return "response timeout error";
	case IB_WC_BAD_RESP_ERR:	return "bad response error";
	case IB_WC_MW_BIND_ERR:		return "memory bind operation error";
	case IB_WC_LOC_LEN_ERR:		return "local length error";
	case IB_WC_LOC_PROT_ERR:	return "local protection error";
	case IB_WC_LOC_ACCESS_ERR:	return "local access error";
	case IB_WC_LOC_QP_OP_ERR:	return "local QP operation error";
	/* reported by the responder */
	case IB_WC_REM_OP_ERR:		return "remote operation error";
	case IB_WC_REM_ACCESS_ERR:	return "remote access error";
	case IB_WC_REM_INV_REQ_ERR:	return "remote invalid request error";
	case IB_WC_REM_INV_RD_REQ_ERR:	return "remote invalid RD request";
	case IB_WC_REM_ABORT_ERR:	return "operation aborted";
	/* reliable datagrams */
	case IB_WC_LOC_RDD_VIOL_ERR:	return "local RDD violation error";
	case IB_WC_LOC_EEC_OP_ERR:	return "local EE context operation error";
	case IB_WC_INV_EECN_ERR:	return "invalid EE context number";
	case IB_WC_INV_EEC_STATE_ERR:	return "invalid EE context state";
	case IB_WC_GENERAL_ERR:		return "general error";
	case IB_WC_FATAL_ERR:		return "fatal error";
	}
	return "unrecognized status";
}
EXPORT_SYMBOL(ib_wc_status_msg);

int ibcore_event_init(void)
{
	event_wq = alloc_workqueue("ib_event", WQ_UNBOUND, 0);
	return event_wq ? 0 : -ENOMEM;
}

void ibcore_event_exit(void)
{
	destroy_workqueue(event_wq);
}
