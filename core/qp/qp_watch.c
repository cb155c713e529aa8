// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Watches: a watch notifies its owner that the peer has sent something on a QP, or that the
 * QP has migrated to its alternate path.
 *
 * A watch is found by its QP under RCU, from two places: core's handler of QP
 * events, for IB_EVENT_COMM_EST, and core's polling of the kernel's CQs, for
 * the first receive that completes successfully, because some providers (rxe,
 * siw, irdma, bnxt_re) report nothing else.  Each CQ counts the watches that
 * wait on its QPs, and polling looks for watches only if the count is not 0.
 * What neither place sees, such as the completions of a process, shows in the
 * QP's expected PSN (qp_probe.c).
 *
 * Why no reference remains:
 *  (1) ibcore_qp_unwatch() disarms the watch under its lock, which is held while
 *	arrival() runs, and removes it from the table and its CQs' lists; the
 *	memory is freed a grace period after the last reference was put.
 *  (2) A QP that is destroyed first removes its watch from the table and disarms
 *	it while its CQs still exist; only the watch's memory is left, which
 *	its owner has a reference on.
 *  (3) A probe holds the QP's resource tracking entry, which destruction waits for
 *	before the provider destroys the QP.  A QP without an entry is not
 *	probed.
 */
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "qp/qp_watch.h"

static const struct rhashtable_params qp_watch_params = {
	.key_len = sizeof(struct ib_qp *),
	.key_offset = offsetof(struct ibcore_qp_watch, qp),
	.head_offset = offsetof(struct ibcore_qp_watch, node),
	.automatic_shrinking = true,
};

static struct rhashtable qp_watches;
static atomic_t nr_qp_watches;	/* those in the table, or about to be added */

/* No more notifications follow. */
static void qp_watch_disarm(struct ibcore_qp_watch *watch)
{
	lockdep_assert_held(&watch->lock);
	if (watch->awaited)
		atomic_dec(watch->awaited);
	watch->awaited = NULL;
	watch->arrival = NULL;
}

/*
 * Removes @watch from everything that it can be found by.  Both the owner and
 * the QP's destruction may do this.  The table is last: after a QP has found
 * nothing there, the QP and then its CQs may be freed.
 */
static void qp_watch_end(struct ibcore_qp_watch *watch)
{
	unsigned long flags;

	spin_lock_irqsave(&watch->lock, flags);
	qp_watch_disarm(watch);
	ibcore_cq_unhook(watch);
	spin_unlock_irqrestore(&watch->lock, flags);
	/* Pairs with qp_watch_find(). */
	if (!rhashtable_remove_fast(&qp_watches, &watch->node, qp_watch_params))
		atomic_dec_return_release(&nr_qp_watches);
}

/*
 * Notifies the owner of @watch of @proof, unless the watch is disarmed.  Any
 * context.
 */
void ibcore_qp_watch_tell(struct ibcore_qp_watch *watch,
			  enum ibcore_qp_proof proof)
{
	unsigned long flags;

	spin_lock_irqsave(&watch->lock, flags);
	if (watch->arrival && watch->arrival(watch->context, proof))
		qp_watch_disarm(watch);
	spin_unlock_irqrestore(&watch->lock, flags);
}

/* Notifies the owner of @qp's watch, if there is one, of @proof.  Any context. */
void ibcore_qp_arrived(struct ib_qp *qp, enum ibcore_qp_proof proof)
{
	struct ibcore_qp_watch *watch;

	rcu_read_lock();
	watch = rhashtable_lookup(&qp_watches, &qp, qp_watch_params);
	if (watch)
		ibcore_qp_watch_tell(watch, proof);
	rcu_read_unlock();
}

/* Calls ibcore_qp_arrived() for each successful receive among @n completions. */
void ibcore_qp_received(const struct ib_wc *wc, int n)
{
	for (; n > 0; n--, wc++)
		if (wc->status == IB_WC_SUCCESS && (wc->opcode & IB_WC_RECV))
			ibcore_qp_arrived(wc->qp, IBCORE_QP_RECEIVED);
}

/*
 * Returns the watch of @qp, to be put, or NULL; costs little while there are no
 * watches.
 */
static struct ibcore_qp_watch *qp_watch_find(struct ib_qp *qp)
{
	struct ibcore_qp_watch *watch;

	/*
	 * Pairs with qp_watch_end(): if this is 0, no watch uses a QP's CQs any
	 * more, either.
	 */
	if (!atomic_read_acquire(&nr_qp_watches))
		return NULL;
	rcu_read_lock();
	watch = rhashtable_lookup(&qp_watches, &qp, qp_watch_params);
	if (watch && !refcount_inc_not_zero(&watch->ref))
		watch = NULL;
	rcu_read_unlock();
	return watch;
}

/*
 * The owner is about to stop or destroy @qp: this is the last chance to see
 * whether the peer has sent something.  May sleep.
 */
void ibcore_qp_last_probe(struct ib_qp *qp)
{
	struct ibcore_qp_watch *watch = qp_watch_find(qp);

	if (!watch)
		return;
	ibcore_qp_probe(watch, false);
	ibcore_qp_watch_put(watch);
}

/* Called when the provider has destroyed @qp; its CQs still exist. */
void ibcore_qp_watch_gone(struct ib_qp *qp)
{
	struct ibcore_qp_watch *watch = qp_watch_find(qp);

	if (!watch)
		return;
	qp_watch_end(watch);
	ibcore_qp_watch_put(watch);
}

/**
 * ibcore_qp_watch_hold() - take a reference on a watch's memory
 * @watch: watch whose owner has not ended it
 *
 * For ibcore_qp_probe(), which ibcore_qp_unwatch() does not wait for.
 *
 * Context: any.
 */
void ibcore_qp_watch_hold(struct ibcore_qp_watch *watch)
{
	refcount_inc(&watch->ref);
}
EXPORT_SYMBOL(ibcore_qp_watch_hold);

/**
 * ibcore_qp_watch_put() - put a reference on a watch's memory
 * @watch: held watch
 *
 * Context: any.
 */
void ibcore_qp_watch_put(struct ibcore_qp_watch *watch)
{
	if (refcount_dec_and_test(&watch->ref))
		kfree_rcu(watch, rcu);
}
EXPORT_SYMBOL(ibcore_qp_watch_put);

/* A QP that is not tracked, for lack of memory, cannot be held while it is queried. */
static bool qp_can_be_probed(const struct ib_qp *qp)
{
	const struct rdma_restrack_entry *res = &qp->real_qp->res;

	return ibcore_tells_psn(qp->device) && res->valid && !res->no_track;
}

/* Returns a watch that is not in the table, or NULL without memory. */
static struct ibcore_qp_watch *qp_watch_new(struct ib_qp *qp,
					    ibcore_qp_arrival arrival,
					    void *context)
{
	struct ibcore_qp_watch *watch = kzalloc(sizeof(*watch), GFP_KERNEL);

	if (!watch)
		return NULL;
	refcount_set(&watch->ref, 1);
	spin_lock_init(&watch->lock);
	watch->qp = qp;
	watch->arrival = arrival;
	watch->context = context;
	return watch;
}

static int qp_watch_insert(struct ibcore_qp_watch *watch)
{
	int ret;

	atomic_inc(&nr_qp_watches);
	ret = rhashtable_lookup_insert_fast(&qp_watches, &watch->node,
					    qp_watch_params);
	if (ret)
		atomic_dec(&nr_qp_watches);
	return ret;
}

/**
 * ibcore_qp_watch() - be notified when the peer has sent something on a QP
 * @qp: connected QP, which the caller keeps from being destroyed during the
 *	call
 * @arrival: called, until it returns true, for IB_EVENT_COMM_EST, before the
 *	consumer's handler; for receives that complete successfully, before
 *	their done methods, if core polls their CQ; and when the expected PSN is
 *	found to have moved
 * @context: passed to @arrival
 *
 * The PSN is probed after completion events of CQs that core does not poll,
 * before the QP's owner stops or destroys it, and by ibcore_qp_probe().
 * Nothing is reported after the QP is destroyed.
 *
 * Context: process, may sleep.
 * Return: the watch, to be ended by ibcore_qp_unwatch(), or ERR_PTR: -EEXIST if
 * the QP is already watched; -ENOMEM.
 */
struct ibcore_qp_watch *ibcore_qp_watch(struct ib_qp *qp,
					ibcore_qp_arrival arrival,
					void *context)
{
	struct ibcore_qp_watch *watch;
	int ret;

	watch = qp_watch_new(qp, arrival, context);
	if (!watch)
		return ERR_PTR(-ENOMEM);
	watch->can_probe = qp_can_be_probed(qp);
	if (qp->recv_cq)
		watch->awaited = ibcore_cq_awaited(qp->recv_cq);
	/*
	 * Count first: once the watch is hooked or in the table, it may be
	 * disarmed, which decrements the count.
	 */
	if (watch->awaited)
		atomic_inc(watch->awaited);
	ret = watch->can_probe ? ibcore_cq_hook(watch) : 0;
	if (!ret)
		ret = qp_watch_insert(watch);
	if (!ret)
		return watch;
	qp_watch_end(watch);	/* a probe may already hold it */
	ibcore_qp_watch_put(watch);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL(ibcore_qp_watch);

/**
 * ibcore_qp_watch_migration() - be notified when a QP uses its alternate path
 * @qp: as for ibcore_qp_watch()
 * @arrival: called for IB_EVENT_PATH_MIG, before the consumer's handler, as often as
 *	the provider raises it; COMM_EST is reported, too, but no CQ is looked at
 * @context: passed to @arrival
 *
 * IBA vol. 1, 17.2.8.  For QPs whose consumer need not be asked; it costs nothing while
 * the QP does not migrate.
 *
 * Context: process, may sleep.
 * Return: as for ibcore_qp_watch().
 */
struct ibcore_qp_watch *
ibcore_qp_watch_migration(struct ib_qp *qp, ibcore_qp_arrival arrival,
			  void *context)
{
	struct ibcore_qp_watch *watch = qp_watch_new(qp, arrival, context);
	int ret;

	if (!watch)
		return ERR_PTR(-ENOMEM);
	ret = qp_watch_insert(watch);
	if (!ret)
		return watch;
	ibcore_qp_watch_put(watch);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL(ibcore_qp_watch_migration);

/**
 * ibcore_qp_watch_num() - watch a QP given by its number
 * @dev: device of the QP
 * @qp_num: its number
 * @user: true: the QP must be the current process's; false: the kernel's
 * @arrival: as for ibcore_qp_watch()
 * @context: as for ibcore_qp_watch()
 *
 * Context: process, may sleep.
 * Return: the watch, or ERR_PTR: -ENOENT if there is no such QP, or it is owned
 * by another process or the kernel; or the errors of ibcore_qp_watch().
 */
struct ibcore_qp_watch *ibcore_qp_watch_num(struct ib_device *dev, u32 qp_num,
					    bool user,
					    ibcore_qp_arrival arrival,
					    void *context)
{
	struct ibcore_qp_watch *watch = ERR_PTR(-ENOENT);
	struct rdma_restrack_entry *res;

	res = rdma_restrack_get_byid(dev, RDMA_RESTRACK_QP, qp_num);
	if (IS_ERR(res))
		return ERR_CAST(res);
	/* Destruction of the QP waits for the references on its entry. */
	if (user ? res->task == current->group_leader :
		   rdma_is_kernel_res(res))
		watch = ibcore_qp_watch(container_of(res, struct ib_qp, res),
					arrival, context);
	rdma_restrack_put(res);
	return watch;
}
EXPORT_SYMBOL(ibcore_qp_watch_num);

/**
 * ibcore_qp_unwatch() - end a watch
 * @watch: watch from ibcore_qp_watch(), whose reference is put
 *
 * When this returns, arrival() is not running and will not be called any more.
 *
 * Context: process; the caller must hold no lock that arrival() takes.
 */
void ibcore_qp_unwatch(struct ibcore_qp_watch *watch)
{
	qp_watch_end(watch);
	ibcore_qp_watch_put(watch);
}
EXPORT_SYMBOL(ibcore_qp_unwatch);

int ibcore_qp_watch_init(void)
{
	int ret = rhashtable_init(&qp_watches, &qp_watch_params);

	if (ret)
		return ret;
	ret = ibcore_cq_hooks_init();
	if (ret)
		rhashtable_destroy(&qp_watches);
	return ret;
}

void ibcore_qp_watch_exit(void)
{
	ibcore_cq_hooks_exit();
	rhashtable_destroy(&qp_watches);
}
