// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Events that the provider reports, and their delivery to the consumer. */
#include <linux/sched.h>
#include <linux/slab.h>

#include "iwcm.h"

static bool iwcm_event_of(enum iw_cm_event_type type, int status,
			  enum iwcm_event *ev)
{
	switch (type) {
	case IW_CM_EVENT_CONNECT_REPLY:
		*ev = status ? IWCM_EV_REPLY_ERR : IWCM_EV_REPLY;
		return true;
	case IW_CM_EVENT_ESTABLISHED:
		*ev = status ? IWCM_EV_ESTABLISHED_ERR : IWCM_EV_ESTABLISHED;
		return true;
	case IW_CM_EVENT_DISCONNECT:
		*ev = IWCM_EV_DISCONNECT;
		return true;
	case IW_CM_EVENT_CLOSE:
		*ev = IWCM_EV_CLOSE;
		return true;
	default:
		return false;
	}
}

/* Notes @event for delivery; takes over *@private_data of a reply.  Lock held. */
static void iwcm_note(struct iwcm_id *id, u8 tell,
		      const struct iw_cm_event *event, int status,
		      void **private_data)
{
	lockdep_assert_held(&id->lock);
	if (tell == IW_CM_EVENT_CLOSE) {
		id->pending |= BIT(IWCM_PEND_CLOSE);
		return;
	}
	id->pending |= BIT(IWCM_PEND_OUTCOME);
	id->outcome = tell;
	id->status = status;
	id->ord = event->ord;
	id->ird = event->ird;
	if (tell != IW_CM_EVENT_CONNECT_REPLY)
		return;
	/*
	 * With a mapped port the provider knows the mapped addresses only, and for a
	 * failed connect it may know none: keep the addresses of the consumer then.
	 */
	if (!status && !id->port) {
		id->id.local_addr = event->local_addr;
		id->id.remote_addr = event->remote_addr;
	}
	if (*private_data) {
		swap(id->private_data, *private_data);
		id->private_data_len = event->private_data_len;
	}
}

/* Returns a copy of a reply's private data, NULL if there is none, or an ERR_PTR. */
static void *iwcm_reply_data(const struct iw_cm_event *event)
{
	void *copy;

	if (event->event != IW_CM_EVENT_CONNECT_REPLY || !event->private_data ||
	    !event->private_data_len)
		return NULL;
	copy = kmemdup(event->private_data, event->private_data_len, GFP_ATOMIC);
	return copy ?: ERR_PTR(-ENOMEM);
}

/*
 * Called by the provider, in any context.  If the private data of a reply cannot be
 * copied, the connect fails, as the consumer may depend on the data.  This also returns
 * the error to the provider, which may ignore it, so the failure is reported to the
 * consumer in any case.
 */
static int iwcm_report(struct iwcm_id *id, const struct iw_cm_event *event)
{
	void *private_data = iwcm_reply_data(event);
	const struct iwcm_step *step;
	int status = event->status;
	unsigned long flags;
	enum iwcm_event ev;
	struct ib_qp *qp;
	int ret = 0;

	if (IS_ERR(private_data)) {
		ret = PTR_ERR(private_data);
		private_data = NULL;
		status = status ?: ret;
	}
	if (!iwcm_event_of(event->event, status, &ev))
		return -EINVAL;

	spin_lock_irqsave(&id->lock, flags);
	step = iwcm_step(id, ev, &qp);
	if (step && step->tell) {
		iwcm_note(id, step->tell, event, status, &private_data);
		iwcm_id_kick(id);
	}
	spin_unlock_irqrestore(&id->lock, flags);

	/* Put it now, as a consumer's handler may wait for it when it destroys the QP. */
	iwcm_qp_put(qp);
	kfree(private_data);
	return ret;
}

int iwcm_event(struct iw_cm_id *cm_id, struct iw_cm_event *event)
{
	struct iwcm_id *id = to_iwcm(cm_id);

	if (event->event == IW_CM_EVENT_CONNECT_REQUEST)
		return iwcm_request(id, event);
	return iwcm_report(id, event);
}

/* Fills @event with the pending event @what.  Lock held. */
static void iwcm_event_fill(struct iwcm_id *id, enum iwcm_pending what,
			    struct iw_cm_event *event)
{
	memset(event, 0, sizeof(*event));
	event->local_addr = id->id.local_addr;
	event->remote_addr = id->id.remote_addr;
	event->provider_data = id->id.provider_data;
	switch (what) {
	case IWCM_PEND_REQUEST:
		event->event = IW_CM_EVENT_CONNECT_REQUEST;
		break;
	case IWCM_PEND_OUTCOME:
		event->event = id->outcome;
		event->status = id->status;
		break;
	case IWCM_PEND_CLOSE:
		event->event = IW_CM_EVENT_CLOSE;
		return;
	}
	event->ord = id->ord;
	event->ird = id->ird;
	event->private_data = id->private_data;
	event->private_data_len = id->private_data_len;
	id->private_data = NULL;
	id->private_data_len = 0;
}

static bool iwcm_next(struct iwcm_id *id, struct iw_cm_event *event)
{
	enum iwcm_pending what;
	bool more = false;

	spin_lock_irq(&id->lock);
	if (!id->dying && !id->calling && id->pending) {
		what = __ffs(id->pending);
		id->pending &= ~BIT(what);
		iwcm_event_fill(id, what, event);
		more = true;
	}
	spin_unlock_irq(&id->lock);
	return more;
}

/*
 * The listener of a request is released only after the request was delivered or
 * rejected: once the listener is destroyed, the device may be removed, whose verb
 * rejects the request.
 */
static void iwcm_tell(struct iwcm_id *id, struct iw_cm_event *event)
{
	struct iwcm_id *listener = id->req_of;
	int ret;

	if (listener)
		iwcm_map_request(listener, id, event);
	/* A request whose listener is being destroyed is not delivered, but rejected. */
	if (listener && READ_ONCE(listener->dying))
		ret = -ECONNREFUSED;
	else
		ret = id->id.cm_handler(&id->id, event);
	kfree(event->private_data);
	if (ret && !READ_ONCE(id->dying))
		iwcm_id_destroy(id);
	if (listener) {
		id->req_of = NULL;
		iwcm_request_told(listener);
	}
}

void iwcm_work(struct work_struct *work)
{
	struct iwcm_id *id = container_of(work, struct iwcm_id, work);
	struct iw_cm_event event;

	WRITE_ONCE(id->runner, current);
	while (iwcm_next(id, &event))
		iwcm_tell(id, &event);
	WRITE_ONCE(id->runner, NULL);
	iwcm_id_put(id);
}
