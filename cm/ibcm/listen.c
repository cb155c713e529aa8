// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Listeners, looked up by device and service id (IBA vol. 1, 12.7.3) under RCU.
 *
 * A listener of ib_cm_listen() has one user.  A listener of ib_cm_insert_listen() is
 * shared by all callers with the same device, service id and handler;
 * ibcm_listen_mutex serialises creating, sharing and unsharing such listeners.
 */
#include <linux/mutex.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "ibcm/id.h"
#include "ibcm/port.h"
#include "messages/messages.h"
#include "trace.h"

static DEFINE_MUTEX(ibcm_listen_mutex);
static struct rhashtable ibcm_listeners;
static atomic_t ibcm_next_service = ATOMIC_INIT(0);

static const struct rhashtable_params ibcm_listen_params = {
	.key_len	= sizeof(struct ibcm_listen_key),
	.key_offset	= offsetof(struct ibcm_listener, key),
	.head_offset	= offsetof(struct ibcm_listener, node),
	.automatic_shrinking = true,
};

int ibcm_listen_init(void)
{
	return rhashtable_init(&ibcm_listeners, &ibcm_listen_params);
}

void ibcm_listen_exit(void)
{
	rhashtable_destroy(&ibcm_listeners);
}

/* Returns the listener with a reference, or NULL. */
struct ibcm_listener *ibcm_listener_find(struct ib_device *device,
					 __be64 service_id)
{
	struct ibcm_listen_key key = {
		.device = device,
		.service_id = service_id,
	};
	struct ibcm_listener *listener;

	rcu_read_lock();
	listener = rhashtable_lookup(&ibcm_listeners, &key, ibcm_listen_params);
	if (listener && !refcount_inc_not_zero(&listener->ref))
		listener = NULL;
	rcu_read_unlock();
	return listener;
}

void ibcm_listener_put(struct ibcm_listener *listener)
{
	if (refcount_dec_and_test(&listener->ref))
		complete(&listener->released);
}

bool ibcm_listener_room(struct ibcm_listener *listener, struct ibcm_port *port)
{
	return atomic_inc_return(&listener->undelivered[port->num - 1]) <=
	       IBCM_MAX_UNDELIVERED;
}

void ibcm_listener_done(struct ibcm_listener *listener, struct ibcm_port *port)
{
	atomic_dec(&listener->undelivered[port->num - 1]);
	ibcm_listener_put(listener);
}

/* Any context.  A call after ibcm_listener_purge() finds that the id is dying. */
bool ibcm_listener_queue(struct ibcm_listener *listener, struct ibcm_rx *rx)
{
	unsigned long flags;
	bool queued = false;

	rx->purged = false;
	spin_lock_irqsave(&listener->lock, flags);
	if (!ibcm_listener_dying(listener)) {
		list_add_tail(&rx->node, &listener->waiting);
		queue_work(rx->port->stray_wq, &rx->work);
		queued = true;
	}
	spin_unlock_irqrestore(&listener->lock, flags);
	return queued;
}

bool ibcm_listener_begin(struct ibcm_listener *listener, struct ibcm_rx *rx)
{
	bool purged;

	spin_lock_irq(&listener->lock);
	purged = rx->purged;
	if (!purged)
		list_del(&rx->node);
	spin_unlock_irq(&listener->lock);
	return !purged;
}

/*
 * The id is dying.  Refuses the requests that are not being resolved yet: a work that
 * finds its request purged leaves the request to this function.
 */
static void ibcm_listener_purge(struct ibcm_listener *listener)
{
	struct ibcm_rx *rx, *next;
	LIST_HEAD(waiting);

	spin_lock_irq(&listener->lock);
	list_splice_init(&listener->waiting, &waiting);
	list_for_each_entry(rx, &waiting, node)
		rx->purged = true;
	spin_unlock_irq(&listener->lock);
	list_for_each_entry_safe(rx, next, &waiting, node) {
		cancel_work_sync(&rx->work);
		ibcm_rx_refuse(rx);
	}
}

/* False if @service_id is in the locally assigned range (12.7.3, AGN field 0x02). */
static bool ibcm_service_valid(__be64 service_id)
{
	return service_id == IB_CM_ASSIGN_SERVICE_ID ||
	       (service_id & IB_SERVICE_ID_AGN_MASK) != IB_CM_ASSIGN_SERVICE_ID;
}

static __be64 ibcm_service_assign(__be64 service_id)
{
	u64 n;

	if (service_id != IB_CM_ASSIGN_SERVICE_ID)
		return service_id;
	n = (u32)atomic_inc_return(&ibcm_next_service);
	return cpu_to_be64(be64_to_cpu(IB_CM_ASSIGN_SERVICE_ID) | n);
}

static struct ibcm_listener *ibcm_listener_new(struct ibcm_id *id,
					       __be64 service_id, bool shared)
{
	u32 nr_ports = id->dev->nr_ports;
	struct ibcm_listener *listener;

	listener = kzalloc(struct_size(listener, undelivered, nr_ports), GFP_KERNEL);
	if (!listener)
		return NULL;
	listener->nr_ports = nr_ports;
	listener->key.device = id->id.device;
	listener->key.service_id = service_id;
	listener->id = id;
	listener->shared = shared;
	listener->shares = 1;
	spin_lock_init(&listener->lock);
	INIT_LIST_HEAD(&listener->waiting);
	refcount_set(&listener->ref, 1);
	init_completion(&listener->released);
	return listener;
}

static int ibcm_listener_start(struct ibcm_id *id, __be64 service_id,
			       bool shared)
{
	struct ibcm_listener *listener;
	struct ibcm_todo todo;
	bool moved;
	int ret;

	if (!ibcm_service_valid(service_id))
		return -EINVAL;
	listener = ibcm_listener_new(id, ibcm_service_assign(service_id), shared);
	if (!listener)
		return -ENOMEM;

	spin_lock_irq(&id->lock);
	moved = ibcm_step(id, IBCM_DO_LISTEN, &todo);
	if (moved) {
		id->listener = listener;
		id->id.service_id = listener->key.service_id;
	}
	spin_unlock_irq(&id->lock);
	if (!moved) {
		kfree(listener);
		return -EINVAL;
	}

	ret = rhashtable_lookup_insert_fast(&ibcm_listeners, &listener->node,
					    ibcm_listen_params);
	if (!ret)
		return 0;
	spin_lock_irq(&id->lock);
	id->listener = NULL;
	id->id.service_id = 0;
	ibcm_step_failed(id, &todo);
	spin_unlock_irq(&id->lock);
	kfree(listener);
	return ret == -EEXIST ? -EBUSY : ret;
}

/*
 * Why no reference on the listener remains:
 * (1) The listener is removed from the table: only running lookups under RCU can still
 *     find it.  They find its reference count at zero, or take a reference as in (2).
 * (2) Each undelivered request holds a reference until the consumer's handler for it
 *     has returned, or the request is refused because the id is dying.  Requests that
 *     are not being resolved yet are refused here, without waiting for their turn; the
 *     others check whether the id is dying between any two steps that may take long, in
 *     works that do not wait for this function.
 * (3) kfree_rcu() waits for the lookups.
 */
void ibcm_listener_stop(struct ibcm_id *id)
{
	struct ibcm_listener *listener = id->listener;

	rhashtable_remove_fast(&ibcm_listeners, &listener->node,
			       ibcm_listen_params);
	ibcm_listener_purge(listener);
	ibcm_listener_put(listener);
	wait_for_completion(&listener->released);
	id->listener = NULL;
	kfree_rcu(listener, rcu);
}

bool ibcm_listener_unshare(struct ibcm_id *id)
{
	struct ibcm_listener *listener = id->listener;
	bool remains;

	if (!listener || !listener->shared)
		return false;
	mutex_lock(&ibcm_listen_mutex);
	remains = --listener->shares > 0;
	if (!remains) {
		/* No caller can share it from here on; the caller destroys the id. */
		rhashtable_remove_fast(&ibcm_listeners, &listener->node,
				       ibcm_listen_params);
	}
	mutex_unlock(&ibcm_listen_mutex);
	return remains;
}

/**
 * ib_cm_listen - listen for connection and service id resolution requests
 * @cm_id: An idle id; its handler gets the requests, each with a new id.
 * @service_id: The service, in network byte order.  With IB_CM_ASSIGN_SERVICE_ID the
 *	CM assigns a service id, which is in cm_id->service_id on return.
 *
 * IBA vol. 1, 12.7.3, 12.9.6.  A service has at most one listener per device.
 *
 * Context: May sleep.
 *
 * Return: 0; -EINVAL for a service id of the assigned range, or if the id is
 * not idle; -EBUSY if the service has a listener; -ENOMEM.
 */
int ib_cm_listen(struct ib_cm_id *cm_id, __be64 service_id)
{
	return ibcm_listener_start(to_ibcm(cm_id), service_id, false);
}
EXPORT_SYMBOL(ib_cm_listen);

/* Adds a user to a listener; consumes a reference.  Returns its id, or an error. */
static struct ib_cm_id *ibcm_listener_share(struct ibcm_listener *listener,
					    ib_cm_handler cm_handler)
{
	struct ib_cm_id *cm_id = ERR_PTR(-EINVAL);

	lockdep_assert_held(&ibcm_listen_mutex);
	if (listener->shared && listener->id->id.cm_handler == cm_handler) {
		listener->shares++;
		cm_id = &listener->id->id;
	}
	ibcm_listener_put(listener);
	return cm_id;
}

/**
 * ib_cm_insert_listen - listen for a service, sharing the id
 * @device: Device to listen on.
 * @cm_handler: Called with the requests.
 * @service_id: The service, in network byte order, or IB_CM_ASSIGN_SERVICE_ID.
 *
 * If an id of an earlier call already listens for @service_id on @device with the same
 * handler, that id is returned.  Each call needs one call of ib_destroy_cm_id().
 *
 * Context: May sleep.
 *
 * Return: The listening id, its context NULL; ERR_PTR(-EINVAL) if the service has a
 * listener with another handler or one of ib_cm_listen(); otherwise the errors of
 * ib_create_cm_id() and ib_cm_listen().
 */
struct ib_cm_id *ib_cm_insert_listen(struct ib_device *device,
				     ib_cm_handler cm_handler,
				     __be64 service_id)
{
	struct ibcm_listener *listener = NULL;
	struct ib_cm_id *cm_id;
	int ret;

	cm_id = ib_create_cm_id(device, cm_handler, NULL);
	if (IS_ERR(cm_id))
		return cm_id;

	mutex_lock(&ibcm_listen_mutex);
	ret = ibcm_listener_start(to_ibcm(cm_id), service_id, true);
	if (ret == -EBUSY)
		listener = ibcm_listener_find(device, service_id);
	if (ret) {
		ibcm_id_destroy(to_ibcm(cm_id));
		cm_id = listener ? ibcm_listener_share(listener, cm_handler) :
				   ERR_PTR(ret);
	}
	mutex_unlock(&ibcm_listen_mutex);
	return cm_id;
}
EXPORT_SYMBOL(ib_cm_insert_listen);
