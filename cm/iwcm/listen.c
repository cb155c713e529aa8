// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Listeners, and the requests that they receive. */
#include <linux/slab.h>

#include "iwcm.h"

/* Counts one more request if the backlog has room.  Lock held. */
static int iwcm_request_admit(struct iwcm_id *listener)
{
	lockdep_assert_held(&listener->lock);
	if (listener->dying || !iwcm_step_of(listener->state, IWCM_EV_REQUEST))
		return -ECONNREFUSED;
	if (refcount_read(&listener->untold) > listener->backlog)
		return -ENOBUFS;
	refcount_inc(&listener->untold);
	return 0;
}

void iwcm_request_told(struct iwcm_id *listener)
{
	if (refcount_dec_and_test(&listener->untold))
		complete(&listener->all_told);
}

static struct iwcm_id *iwcm_request_id(struct iwcm_id *listener,
				       const struct iw_cm_event *event)
{
	struct iwcm_id *id;

	id = iwcm_id_alloc(listener->id.device, listener->id.cm_handler,
			   listener->id.context, GFP_ATOMIC);
	if (!id)
		return NULL;
	if (event->private_data && event->private_data_len) {
		id->private_data = kmemdup(event->private_data,
					   event->private_data_len, GFP_ATOMIC);
		if (!id->private_data) {
			iwcm_id_put(id);
			return NULL;
		}
		id->private_data_len = event->private_data_len;
	}
	id->id.local_addr = event->local_addr;
	id->id.remote_addr = event->remote_addr;
	id->id.m_local_addr = event->local_addr;
	id->id.m_remote_addr = event->remote_addr;
	id->id.provider_data = event->provider_data;
	id->ord = event->ord;
	id->ird = event->ird;
	id->state = IWCM_CONN_RECV;
	return id;
}

/*
 * Creates an id for a request and queues its delivery.  Any context.  After an error
 * the provider must refuse the request.
 */
int iwcm_request(struct iwcm_id *listener, const struct iw_cm_event *event)
{
	unsigned long flags;
	struct iwcm_id *id;
	int ret;

	spin_lock_irqsave(&listener->lock, flags);
	ret = iwcm_request_admit(listener);
	spin_unlock_irqrestore(&listener->lock, flags);
	if (ret)
		return ret;

	id = iwcm_request_id(listener, event);
	if (!id) {
		iwcm_request_told(listener);
		return -ENOMEM;
	}
	id->req_of = listener;
	spin_lock_irqsave(&id->lock, flags);
	id->pending = BIT(IWCM_PEND_REQUEST);
	iwcm_id_kick(id);
	spin_unlock_irqrestore(&id->lock, flags);
	return 0;
}

/*
 * Called when a listener is destroyed.  The provider stops listening; then this waits
 * until the requests that the provider has reported are delivered or rejected, in works
 * that do not wait for this function.
 */
void iwcm_listen_stop(struct iwcm_id *id)
{
	id->id.device->ops.iw_destroy_listen(&id->id);
	iwcm_request_told(id);
	wait_for_completion(&id->all_told);
}

/**
 * iw_cm_listen - listen for connection requests
 * @cm_id: An idle id, its local address set; its handler gets the requests,
 *	each with a new id.
 * @backlog: How many requests may wait for delivery; 0 for the default, sysctl
 *	net.iw_cm.default_backlog.  No memory is reserved for them.
 *
 * Context: May sleep, a few seconds if the port mapper daemon does not answer.
 *
 * Return: 0; -EINVAL if the id is not idle; or the provider's error.
 */
int iw_cm_listen(struct iw_cm_id *cm_id, int backlog)
{
	struct iwcm_id *id = to_iwcm(cm_id);
	const struct iwcm_step *step;
	struct ib_qp *none;
	int ret;

	if (backlog <= 0)
		backlog = READ_ONCE(iwcm_default_backlog);
	spin_lock_irq(&id->lock);
	step = iwcm_step(id, IWCM_DO_LISTEN, &none);
	if (step) {
		id->backlog = backlog;
		refcount_set(&id->untold, 1);
		init_completion(&id->all_told);
	}
	spin_unlock_irq(&id->lock);
	if (!step)
		return -EINVAL;

	iwcm_map_listen(id);
	ret = cm_id->device->ops.iw_create_listen(cm_id, backlog);
	if (!ret)
		return 0;

	spin_lock_irq(&id->lock);
	iwcm_step(id, IWCM_FAILED, &none);
	spin_unlock_irq(&id->lock);
	/* The provider may have reported requests before it failed. */
	iwcm_request_told(id);
	wait_for_completion(&id->all_told);
	return ret;
}
EXPORT_SYMBOL(iw_cm_listen);
