// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Listeners: one CM listener (struct cma_listen) for each device that an id listens
 * on: the device of its address, or all devices for the wildcard and loopback addresses.
 *
 * IB requests find the id by port and address (listeners.c), not through the
 * cma_listen.  iWARP requests do find it through the CM listener, as the provider
 * demultiplexes them.
 *
 * cma_topology ensures that a new device and a new wildcard listener do not miss each
 * other.  As the destruction of a CM listener waits for consumers' callbacks, lists
 * are emptied under cma_topology and their entries are destroyed after it is released.
 */
#include <linux/slab.h>

#include "bind/bind.h"
#include "connect/connect.h"
#include "id/id.h"

/* Ids that listen on every device: cma_id.any_node; under cma_topology. */
static LIST_HEAD(cma_any_listeners);

static int cma_listen_ib(struct cma_listen *l)
{
	struct cma_id *idp = l->idp;
	struct ib_cm_id *cm_id;

	cm_id = ib_cm_insert_listen(l->dev->device, cma_ib_request,
				    rdma_get_service_id(&idp->id,
							cma_src(idp)));
	if (IS_ERR(cm_id))
		return PTR_ERR(cm_id);
	l->cm.ib = cm_id;
	return 0;
}

static int cma_listen_iw(struct cma_listen *l)
{
	struct cma_id *idp = l->idp;
	struct iw_cm_id *cm_id;
	int err;

	if (idp->id.qp_type == IB_QPT_UD)
		return -EOPNOTSUPP;
	cm_id = iw_create_cm_id(l->dev->device, cma_iw_request, idp);
	if (IS_ERR(cm_id))
		return PTR_ERR(cm_id);
	cm_id->tos = idp->tos;
	cm_id->tos_set = idp->tos_set;
	cm_id->afonly = idp->afonly;
	memcpy(&cm_id->local_addr, cma_src(idp),
	       rdma_addr_size(cma_src(idp)));
	err = iw_cm_listen(cm_id, idp->backlog);
	if (err) {
		iw_destroy_cm_id(cm_id);
		return err;
	}
	l->cm.iw = cm_id;
	return 0;
}

/*
 * Never called: marks the rdma_cm_id of a cma_listen, which exists only to be
 * reported.
 */
int cma_listen_shown(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	WARN_ON_ONCE(1);
	return 0;
}

static void cma_listen_query(const struct rdma_restrack_cm_id *track,
			     struct rdma_restrack_cm_state *out)
{
	out->state = RDMA_CM_LISTEN;
	out->qp_num = 0;
}

/* Reports @l to resource tracking; an id that is bound to a device is reported itself. */
static void cma_listen_show(struct cma_listen *l)
{
	struct cma_id *idp = l->idp;

	rdma_restrack_new(&l->track.res, RDMA_RESTRACK_CM_ID);
	if (idp->dev)
		return;
	l->id.device = l->dev->device;
	l->id.event_handler = cma_listen_shown;
	l->id.ps = idp->id.ps;
	l->id.qp_type = idp->id.qp_type;
	l->id.route.addr.src_addr = idp->id.route.addr.src_addr;
	l->track.id = &l->id;
	l->track.query = cma_listen_query;
	rdma_restrack_parent_name(&l->track.res, &idp->track.res);
	rdma_restrack_add(&l->track.res);
}

/* Removes @l from its lists and adds it to the caller's list @to. */
static void cma_listen_unlink(struct cma_listen *l, struct list_head *to)
{
	unsigned long flags;

	lockdep_assert_held_write(&cma_topology);
	spin_lock_irqsave(&l->idp->lock, flags);
	list_move(&l->id_node, to);
	spin_unlock_irqrestore(&l->idp->lock, flags);
	list_del_init(&l->dev_node);
}

static void cma_listen_free(struct cma_listen *l)
{
	cma_dev_put(l->dev);
	cma_id_put(l->idp);
	kfree(l);
}

static void cma_listen_destroy(struct cma_listen *l)
{
	lockdep_assert_not_held(&cma_topology);
	rdma_restrack_del(&l->track.res);
	if (l->iwarp)
		iw_destroy_cm_id(l->cm.iw);
	else
		ib_destroy_cm_id(l->cm.ib);
	cma_listen_free(l);
}

static void cma_listen_destroy_list(struct list_head *list)
{
	struct cma_listen *l, *next;

	list_for_each_entry_safe(l, next, list, id_node)
		cma_listen_destroy(l);
}

/* Listens on @dev; requests may arrive before this returns. */
static int cma_listen_on(struct cma_id *idp, struct cma_dev *dev)
{
	struct cma_listen *l;
	unsigned long flags;
	int err;

	lockdep_assert_held_write(&cma_topology);
	if (!cma_dev_tryget(dev))
		return -ENODEV;
	l = kzalloc(sizeof(*l), GFP_KERNEL);
	if (!l) {
		cma_dev_put(dev);
		return -ENOMEM;
	}
	/* The initial reference exists until destruction has called cma_listen_stop(). */
	refcount_inc(&idp->refs);
	l->idp = idp;
	l->dev = dev;
	l->iwarp = !rdma_cap_ib_cm(dev->device, rdma_start_port(dev->device));

	spin_lock_irqsave(&idp->lock, flags);
	list_add(&l->id_node, &idp->listens);
	spin_unlock_irqrestore(&idp->lock, flags);
	list_add(&l->dev_node, &dev->listens);

	err = l->iwarp ? cma_listen_iw(l) : cma_listen_ib(l);
	if (err) {
		LIST_HEAD(failed);

		cma_listen_unlink(l, &failed);
		cma_listen_free(l);
	} else {
		cma_listen_show(l);
	}
	return err;
}

static bool cma_listens_there(struct cma_id *idp, struct cma_dev *dev)
{
	u32 port = rdma_start_port(dev->device);

	if (!rdma_dev_access_netns(dev->device, cma_net(idp)))
		return false;
	if (cma_family(idp) == AF_IB)
		return rdma_cap_af_ib(dev->device, port);
	return idp->id.qp_type != IB_QPT_UD || rdma_cap_ib_cm(dev->device, port);
}

/*
 * A port of a loopback address is the host's: of several iWARP devices, whose provider takes it
 * from TCP, only the first gets it.
 */
static int cma_listen_on_all(struct cma_id *idp)
{
	bool one_is_enough = cma_addr_loopback(cma_src(idp));
	struct cma_dev *dev;
	int err, failed = 0;

	list_for_each_entry(dev, &cma_devices, node) {
		if (!cma_listens_there(idp, dev))
			continue;
		err = cma_listen_on(idp, dev);
		if (err && !one_is_enough)
			return err;
		failed = failed ?: err;
	}
	if (failed && list_empty(&idp->listens))
		return failed;
	list_add(&idp->any_node, &cma_any_listeners);
	return 0;
}

/*
 * cma_listen_start() - listen on the id's device, or on all present and future devices
 *
 * Return: 0, or an error, and then the id does not listen on any device.
 */
int cma_listen_start(struct cma_id *idp)
{
	int err;

	down_write(&cma_topology);
	if (!idp->dev)
		err = cma_listen_on_all(idp);
	else if (idp->dev->dead)
		err = -ENODEV;
	else
		err = cma_listen_on(idp, idp->dev);
	up_write(&cma_topology);

	if (err)
		cma_listen_stop(idp);
	return err;
}

/* Stops listening; no request finds the id when this returns. */
void cma_listen_stop(struct cma_id *idp)
{
	struct cma_listen *l, *next;
	LIST_HEAD(doomed);

	cma_port_unlisten(idp);
	if (list_empty(&idp->any_node) && list_empty_careful(&idp->listens))
		return;

	down_write(&cma_topology);
	list_del_init(&idp->any_node);
	list_for_each_entry_safe(l, next, &idp->listens, id_node)
		cma_listen_unlink(l, &doomed);
	up_write(&cma_topology);
	cma_listen_destroy_list(&doomed);
}

/* Called under cma_topology.  A listener that fails on @dev stays on other devices. */
void cma_listen_device_added(struct cma_dev *dev)
{
	struct cma_id *idp;
	int err;

	list_for_each_entry(idp, &cma_any_listeners, any_node) {
		if (!cma_listens_there(idp, dev))
			continue;
		err = cma_listen_on(idp, dev);
		if (err)
			ibdev_warn(dev->device,
				   "cannot listen on port %u: %d\n",
				   be16_to_cpu(cma_addr_port(cma_src(idp))),
				   err);
	}
}

/* Destroys all CM listeners on @dev, which accepts no new ones any more. */
void cma_listen_device_removed(struct cma_dev *dev)
{
	struct cma_listen *l, *next;
	LIST_HEAD(doomed);

	down_write(&cma_topology);
	list_for_each_entry_safe(l, next, &dev->listens, dev_node)
		cma_listen_unlink(l, &doomed);
	up_write(&cma_topology);
	cma_listen_destroy_list(&doomed);
}

/* Returns the cma_dev of a device that the id listens on, with a reference, or NULL. */
struct cma_dev *cma_listen_device(struct cma_id *idp, struct ib_device *device)
{
	struct cma_dev *dev = NULL;
	struct cma_listen *l;
	unsigned long flags;

	spin_lock_irqsave(&idp->lock, flags);
	list_for_each_entry(l, &idp->listens, id_node) {
		if (l->dev->device != device)
			continue;
		if (cma_dev_tryget(l->dev))
			dev = l->dev;
		break;
	}
	spin_unlock_irqrestore(&idp->lock, flags);
	return dev;
}

static int cma_bind_any4(struct rdma_cm_id *id)
{
	struct sockaddr_in any = { .sin_family = AF_INET };

	return rdma_bind_addr(id, (struct sockaddr *)&any);
}

/**
 * rdma_listen() - accept requests to an id's address and port
 * @id: a bound id; an unbound id is bound to the IPv4 wildcard and a free port
 * @backlog: how many requests a provider that queues them (iWARP) may queue
 *
 * An id bound to an address listens on the device that has the address, an id bound to
 * the wildcard or a loopback address on all present and future devices.  A new id is
 * created for each request, with the listener's callback and context.  The callback
 * gets RDMA_CM_EVENT_CONNECT_REQUEST on the new id; callbacks of different requests run
 * in parallel.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if @id is in the wrong state; -EADDRINUSE if other ids use the
 * address and port; -ENODEV or -ENETDOWN if the device is being removed; -EOPNOTSUPP
 * for datagrams on iWARP; -ENOMEM; an error of the underlying CM.  On error @id remains bound.
 */
int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	struct cma_id *idp = to_cma(id);
	int err;

	if (cma_state(idp) == RDMA_CM_IDLE) {
		err = cma_bind_any4(id);
		if (err)
			return err;
	}
	err = cma_id_step(idp, CMA_T_LISTEN);
	if (err)
		return err;

	idp->backlog = backlog;
	err = cma_port_listen(idp);
	if (!err)
		err = cma_listen_start(idp);
	if (err)
		cma_id_step(idp, CMA_T_LISTEN_FAILED);
	return err;
}
EXPORT_SYMBOL(rdma_listen);
