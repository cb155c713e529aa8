// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RDMA CM ids: creation, references, callbacks, destruction.
 *
 * An id belongs to its consumer, who alone ends it: by rdma_destroy_id(), or by
 * returning non-zero from its callback.  References (cma_id.refs) only keep the
 * memory while somebody else works on the id for a moment: a queued
 * cma_event_work(), an SA query, a request that pins its listener, a notifier.
 * Destruction waits for them, and each of them ends by itself.
 */
#include <linux/nsproxy.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

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

	out->state = cma_state(idp);
	out->qp_num = READ_ONCE(idp->qp_num);
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

/* An id for a request that came to @listener; owned by the same consumer. */
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
 * @net: network namespace in which its addresses are meant; pinned by the id
 * @event_handler: called for the id's events, one at a time, may sleep
 * @context: the consumer's own, kept in rdma_cm_id.context
 * @ps: port space, which makes the service id (IBA annex A11)
 * @qp_type: of the QPs that will communicate
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
 * @context: the consumer's own, kept in rdma_cm_id.context
 * @ps: port space, which makes the service id (IBA annex A11)
 * @qp_type: of the QPs that will communicate
 *
 * The id lives in the network namespace of the current process, which it is
 * reported as belonging to.
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
 * The caller must know that the id was not yet destroyed, or that destruction
 * waits for it.  A queued work has one reference; a bit that is set while the
 * work is queued already needs none, as the work reads the bits when it runs.
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
 * Frees an id in state DESTROYING.  No lock is held: all of this waits.
 *
 * Why no reference remains when the memory goes:
 * (1) The consumer's: it gave it up, by calling us.
 * (2) Callbacks: each takes handler_mutex and looks at the state first; those
 *     that come after DESTROYING was set do nothing.
 * (3) Address resolution: rdma_addr_cancel() returns when its callback neither
 *     runs nor will.  That callback does nothing but cma_id_post().
 * (4) An SA path query has a reference until its callback, which cancelling
 *     brings about at once.
 * (5) Listeners: taken out of the table of listeners first, so no request can
 *     pin the id any more; a request that did drops its reference when the
 *     child's callback returns.  iw_destroy_cm_id() ends the iWARP ones.
 * (6) The CM's id: ib_destroy_cm_id() and iw_destroy_cm_id() return when no
 *     callback runs or will.  When we are called from such a callback, idp->cm
 *     was cleared, and the CM destroys its id after the callback.  A request that
 *     may be this id's (source.c) has it looked at under the lock of the CM's id,
 *     while that waits for an answer: no longer when its destruction has begun,
 *     nor when it tells of an outcome.
 * (7) Multicast joins: ib_sa_free_multicast() waits for the callback.
 * (8) Neighbour notifications find the id through the table of peers, under
 *     RCU; it is taken out, and the memory goes by kfree_rcu().
 * (9) cma_event_work(): cma_id_post() refuses in state DESTROYING, so it can be
 *     queued no more; queued, it is cancelled and its reference put; running,
 *     it drops its reference itself.
 * (10) Device removal and netdev notifications find the id on dev->ids and take
 *     a reference under dev->lock, which (8) and (9)'s wait covers; it leaves
 *     the list before the device's reference is dropped.
 * (11) Resource tracking: rdma_restrack_del() waits for its readers, before the
 *     CM's id goes, which a driver's may look at (rdma_iw_cm_id()).
 * (12) The watch of its QP is the CM's id's, calls that one, and ends with it (6); in
 *     state DESTROYING none begins.
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
	if (cancel_work(&idp->id.net_work))
		cma_id_put(idp);

	cma_id_put(idp);
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
	/* Not the last one: the id's own is still there. */
	cma_id_put(idp);
	cma_id_destroy_locked(idp);
}

/**
 * rdma_destroy_id() - end an id and whatever is under way on it
 * @id: the id; its QP, if rdma_create_qp() made one, must be destroyed already
 *
 * When this returns no callback of the id runs or will run, and what belonged
 * to it (port, listeners, multicast groups, CM id) is given back.  A connection
 * that was up is disconnected.  It waits for callbacks that run, hence must not
 * be called from a callback of @id, nor, for a listener, from that of a request
 * that came to it: there, return non-zero instead.
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
 * Until rdma_unlock_handler(), no callback of @id runs.  rdma_accept() and
 * rdma_connect_locked() are called under it, or from a callback.
 *
 * Context: may sleep; not from a callback of @id, which holds it already.
 */
void rdma_lock_handler(struct rdma_cm_id *id)
{
	mutex_lock(&to_cma(id)->handler_mutex);
}
EXPORT_SYMBOL(rdma_lock_handler);

/**
 * rdma_unlock_handler() - let an id's callbacks run again
 * @id: the id that rdma_lock_handler() was called for
 *
 * Context: the task that locked.
 */
void rdma_unlock_handler(struct rdma_cm_id *id)
{
	mutex_unlock(&to_cma(id)->handler_mutex);
}
EXPORT_SYMBOL(rdma_unlock_handler);

/**
 * rdma_res_to_id() - the id that a resource tracking entry stands for
 * @res: entry of type RDMA_RESTRACK_CM_ID, which the caller holds
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
 * rdma_iw_cm_id() - the iWARP CM's id under an RDMA CM id
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
