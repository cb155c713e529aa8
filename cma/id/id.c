// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RDMA CM ids: creation, references, callbacks, destruction.
 *
 * An id belongs to its consumer.  Only the consumer destroys it, by
 * rdma_destroy_id() or by returning non-zero from its callback.  References
 * (cma_id.refs) only keep the memory while other code uses the id for a moment: a
 * queued cma_event_work(), an SA query, a request that pins its listener, a
 * notifier.  Destruction waits for these references; all of them are dropped
 * without any action of the consumer.
 */
#include <linux/nsproxy.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <ibex/cm.h>

#include "bind/bind.h"
#include "connect/connect.h"
#include "id/id.h"
#include "multicast/multicast.h"
#include "resolve/resolve.h"
#include "trace.h"

static void cma_id_query(const struct rdma_restrack_cm_id *track,
			 struct rdma_restrack_cm_state *out)
{
	const struct cma_id *idp = container_of(track, struct cma_id, track);
	struct ib_cm_id *cm_id;

	out->state = cma_state(idp);
	out->qp_num = READ_ONCE(idp->qp_num);
	if (!rdma_cap_ib_cm(idp->id.device, idp->id.port_num))
		return;
	/* RCU: another attempt to connect may replace the CM's id, and destroys this one. */
	rcu_read_lock();
	cm_id = smp_load_acquire(&idp->cm.ib);	/* pairs with cma_ib_new_cm_id() */
	if (cm_id)
		ibex_cm_query_wait(cm_id, &out->wait);
	rcu_read_unlock();
}

struct cma_id *cma_id_alloc(struct net *net, rdma_cm_event_handler handler,
			    void *context, enum rdma_ucm_port_space ps,
			    enum ib_qp_type qp_type)
{
	struct cma_id *idp;

	idp = kzalloc(sizeof(*idp), GFP_KERNEL);
	if (!idp)
		return NULL;

	idp->id.context = context;
	idp->id.event_handler = handler;
	idp->id.ps = ps;
	idp->id.qp_type = qp_type;
	idp->id.route.addr.dev_addr.net = get_net(net);
	INIT_WORK(&idp->id.net_work, cma_event_work);
	idp->track.id = &idp->id;
	idp->track.query = cma_id_query;
	idp->state = RDMA_CM_IDLE;
	refcount_set(&idp->refs, 1);
	init_completion(&idp->idle);
	mutex_init(&idp->handler_mutex);
	mutex_init(&idp->qp_mutex);
	spin_lock_init(&idp->lock);
	INIT_LIST_HEAD(&idp->dev_node);
	INIT_LIST_HEAD(&idp->listens);
	INIT_LIST_HEAD(&idp->any_node);
	INIT_LIST_HEAD(&idp->mcasts);
	idp->seq_num = get_random_u32() & 0xffffff;
	rdma_restrack_new(&idp->track.res, RDMA_RESTRACK_CM_ID);
	return idp;
}

/* Allocates the id for a request to @listener; both have the same consumer. */
struct cma_id *cma_id_alloc_child(struct cma_id *listener,
				  enum ib_qp_type qp_type)
{
	struct cma_id *idp;

	idp = cma_id_alloc(cma_net(listener), listener->id.event_handler,
			   listener->id.context, listener->id.ps, qp_type);
	if (!idp)
		return NULL;
	idp->passive = true;
	idp->tos = listener->tos;
	idp->tos_set = listener->tos_set;
	rdma_restrack_parent_name(&idp->track.res, &listener->track.res);
	return idp;
}

/* For a caller that found the id in a table, under RCU or the table's lock. */
bool cma_id_tryget(struct cma_id *idp)
{
	return refcount_inc_not_zero(&idp->refs);
}

void cma_id_put(struct cma_id *idp)
{
	if (refcount_dec_and_test(&idp->refs))
		complete(&idp->idle);
}

/**
 * __rdma_create_kernel_id() - create an id for a kernel consumer
 * @net: network namespace of the id's addresses; the id holds a reference to it
 * @event_handler: called for the id's events, one at a time, may sleep
 * @context: the consumer's pointer, stored in rdma_cm_id.context
 * @ps: port space, which is part of the service id (IBA annex A11)
 * @qp_type: type of the QPs that will communicate
 * @caller: name the id is reported under, usually KBUILD_MODNAME
 *
 * Context: may sleep.
 * Return: the id, or ERR_PTR(-ENOMEM).
 */
struct rdma_cm_id *
__rdma_create_kernel_id(struct net *net, rdma_cm_event_handler event_handler,
			void *context, enum rdma_ucm_port_space ps,
			enum ib_qp_type qp_type, const char *caller)
{
	struct cma_id *idp;

	idp = cma_id_alloc(net, event_handler, context, ps, qp_type);
	if (!idp)
		return ERR_PTR(-ENOMEM);
	rdma_restrack_set_name(&idp->track.res, caller);
	return &idp->id;
}
EXPORT_SYMBOL(__rdma_create_kernel_id);

/**
 * rdma_create_user_id() - create an id on behalf of the current process
 * @event_handler: called for the id's events, one at a time, may sleep
 * @context: the consumer's pointer, stored in rdma_cm_id.context
 * @ps: port space, which is part of the service id (IBA annex A11)
 * @qp_type: type of the QPs that will communicate
 *
 * The id belongs to the network namespace of the current process, and is reported
 * as belonging to that process.
 *
 * Context: process context of the owner; may sleep.
 * Return: the id, or ERR_PTR(-ENOMEM).
 */
struct rdma_cm_id *rdma_create_user_id(rdma_cm_event_handler event_handler,
				       void *context,
				       enum rdma_ucm_port_space ps,
				       enum ib_qp_type qp_type)
{
	struct cma_id *idp;

	idp = cma_id_alloc(current->nsproxy->net_ns, event_handler, context, ps,
			   qp_type);
	if (!idp)
		return ERR_PTR(-ENOMEM);
	rdma_restrack_set_name(&idp->track.res, NULL);
	return &idp->id;
}
EXPORT_SYMBOL(rdma_create_user_id);

int cma_id_deliver(struct cma_id *idp, struct rdma_cm_event *event)
{
	int ret;

	lockdep_assert_held(&idp->handler_mutex);
	cma_count_event(event);
	trace_cm_event_handler(idp, event);
	WRITE_ONCE(idp->handler_task, current);
	ret = idp->id.event_handler(&idp->id, event);
	WRITE_ONCE(idp->handler_task, NULL);
	trace_cm_event_done(idp, event, ret);
	return ret;
}

/*
 * cma_id_post() - have cma_event_work() do @what
 *
 * The caller must know that the id was not yet destroyed, or that its destruction
 * waits for the caller.  A queued work holds one reference.  Setting a bit while
 * the work is already queued takes no further reference, as the work reads all bits
 * when it runs.
 *
 * Context: any.
 */
void cma_id_post(struct cma_id *idp, enum cma_post what)
{
	unsigned long flags;

	spin_lock_irqsave(&idp->lock, flags);
	if (idp->state != RDMA_CM_DESTROYING) {
		set_bit(what, &idp->pending);
		refcount_inc(&idp->refs);
		if (!queue_work(cma_wq, &idp->id.net_work))
			refcount_dec(&idp->refs);
	}
	spin_unlock_irqrestore(&idp->lock, flags);
}

static void cma_cm_destroy(struct cma_id *idp)
{
	if (!idp->cm.ib)
		return;
	if (rdma_cap_iw_cm(idp->id.device, idp->id.port_num))
		iw_destroy_cm_id(idp->cm.iw);
	else
		ib_destroy_cm_id(idp->cm.ib);
	idp->cm.ib = NULL;
}

static void cma_route_free(struct rdma_route *route)
{
	kfree(route->path_rec);
	kfree(route->path_rec_inbound);
	kfree(route->path_rec_outbound);
}

/*
 * Frees an id in state DESTROYING.  The caller holds no lock, as all steps here may
 * wait.
 *
 * Why no reference remains when the memory is freed:
 * (1) The consumer's: it gave up its reference by destroying the id.
 * (2) Callbacks: each takes handler_mutex and checks the state first; a callback that
 *     runs after DESTROYING was set does nothing.
 * (3) Address resolution: when rdma_addr_cancel() returns, its callback neither runs
 *     nor will run.  That callback only calls cma_id_post().
 * (4) An SA path query holds a reference until its callback, which cancellation
 *     triggers at once.
 * (5) Listeners: the id is first removed from the table of listeners, so no further
 *     request can pin it; a request that has pinned it drops its reference when the
 *     child's callback returns.  iWARP requests do not use that table:
 *     iw_destroy_cm_id() ends them.
 * (6) The CM's id: when ib_destroy_cm_id() or iw_destroy_cm_id() returns, no callback
 *     runs or will run.  When we are called from such a callback, idp->cm was cleared,
 *     and the CM destroys its id after the callback.  To check whether this id sent a
 *     request, source.c reads it under the lock of the CM's id, and only while the
 *     CM's id waits for a response: not after the destruction of the CM's id has
 *     begun, nor while it reports an outcome.
 * (7) Multicast joins: ib_sa_free_multicast() waits for the callback.
 * (8) Neighbour notifications find the id in the table of peers, under RCU.  The id is
 *     removed from the table, and its memory is freed by kfree_rcu().
 * (9) cma_event_work(): cma_id_post() refuses in state DESTROYING, so the work cannot
 *     be queued again.  If it is queued, it is cancelled and its reference dropped; if
 *     it runs, it drops its reference itself.
 * (10) Device removal finds the id on dev->ids and takes a reference under dev->lock,
 *     for which this function waits; netdev notifications only call cma_id_post() (9)
 *     under that lock.  The id leaves the list before it drops its reference to the
 *     device.
 * (11) Resource tracking: rdma_restrack_del() waits for its readers.  It is called
 *     before the CM's id is destroyed, as a driver's reader may use that
 *     (rdma_iw_cm_id()).
 * (12) The watch of the QP belongs to the CM's id: it calls only the CM's id, and ends
 *     with it (6).  In state DESTROYING no watch is started.
 */
static void cma_id_free(struct cma_id *idp)
{
	struct rdma_addr *addr = &idp->id.route.addr;

	if (idp->addr_asked)
		rdma_addr_cancel(&addr->dev_addr);
	cma_route_ib_cancel(idp);
	cma_listen_stop(idp);
	cma_peer_unwatch(idp);
	cma_mcast_leave_all(idp);
	if (work_pending(&idp->id.net_work) && cancel_work(&idp->id.net_work))
		cma_id_put(idp);

	if (!refcount_dec_and_test(&idp->refs))
		wait_for_completion(&idp->idle);

	rdma_restrack_del(&idp->track.res);
	cma_cm_destroy(idp);
	cma_id_detach(idp);
	cma_port_put(idp);
	cma_route_free(&idp->id.route);
	put_net(addr->dev_addr.net);
	mutex_destroy(&idp->handler_mutex);
	mutex_destroy(&idp->qp_mutex);
	kfree_rcu(idp, rcu);
}

void cma_id_destroy_locked(struct cma_id *idp)
{
	lockdep_assert_held(&idp->handler_mutex);
	trace_cm_id_destroy(idp);
	WARN_ON_ONCE(cma_id_step(idp, CMA_T_DESTROY));
	mutex_unlock(&idp->handler_mutex);
	cma_id_free(idp);
}

void cma_id_destroy_pinned(struct cma_id *idp)
{
	/* Never the last reference: the initial one still exists. */
	cma_id_put(idp);
	cma_id_destroy_locked(idp);
}

/**
 * rdma_destroy_id() - destroy an id and end all its operations
 * @id: the id; its QP, if rdma_create_qp() made one, must be destroyed already
 *
 * When this returns, no callback of the id runs or will run, and the id's port,
 * listeners, multicast groups and CM id are released.  An established connection is
 * disconnected.  As this waits for running callbacks, it must not be called from a
 * callback of @id: return non-zero there instead.  Nor may it be called, if @id is
 * a listener, from the callback of a request to @id.
 *
 * Context: may sleep; waits for running callbacks.
 */
void rdma_destroy_id(struct rdma_cm_id *id)
{
	struct cma_id *idp = to_cma(id);

	/* Consumers destroy one id from the callback of another. */
	mutex_lock_nested(&idp->handler_mutex, SINGLE_DEPTH_NESTING);
	cma_id_destroy_locked(idp);
}
EXPORT_SYMBOL(rdma_destroy_id);

/**
 * rdma_lock_handler() - keep an id's callbacks from running
 * @id: the id
 *
 * No callback of @id runs until rdma_unlock_handler().  rdma_accept() and
 * rdma_connect_locked() must be called under this lock or from a callback.
 *
 * Context: may sleep; not from a callback of @id, which already holds the lock.
 */
void rdma_lock_handler(struct rdma_cm_id *id)
{
	mutex_lock(&to_cma(id)->handler_mutex);
}
EXPORT_SYMBOL(rdma_lock_handler);

/**
 * rdma_unlock_handler() - let an id's callbacks run again
 * @id: the id that was locked by rdma_lock_handler()
 *
 * Context: the task that called rdma_lock_handler().
 */
void rdma_unlock_handler(struct rdma_cm_id *id)
{
	mutex_unlock(&to_cma(id)->handler_mutex);
}
EXPORT_SYMBOL(rdma_unlock_handler);

/**
 * rdma_res_to_id() - get the id of a resource tracking entry
 * @res: entry of type RDMA_RESTRACK_CM_ID, to which the caller holds a reference
 *
 * Context: any.
 * Return: the id.
 */
struct rdma_cm_id *rdma_res_to_id(struct rdma_restrack_entry *res)
{
	return container_of(res, struct rdma_restrack_cm_id, res)->id;
}
EXPORT_SYMBOL(rdma_res_to_id);

/**
 * rdma_iw_cm_id() - get the iWARP CM's id of an RDMA CM id
 * @id: the id
 *
 * Context: any; the caller keeps @id from being destroyed.
 * Return: the iWARP CM's id, or NULL if there is none, or @id is not on iWARP.
 */
struct iw_cm_id *rdma_iw_cm_id(struct rdma_cm_id *id)
{
	if (id->event_handler == cma_listen_shown) {
		struct cma_listen *l = container_of(id, struct cma_listen, id);

		return l->iwarp ? l->cm.iw : NULL;
	}
	if (!id->device || !rdma_cap_iw_cm(id->device, id->port_num))
		return NULL;
	return to_cma(id)->cm.iw;
}
EXPORT_SYMBOL(rdma_iw_cm_id);
