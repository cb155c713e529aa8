// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Watches: who is to be notified that the peer has sent something on a QP.
 *
 * A watch is found by its QP under RCU, from two places: core's handler of QP
 * events, for IB_EVENT_COMM_EST, and the polling of the kernel's CQs, for the
 * first receive that completes well, which some providers (rxe, siw, irdma,
 * bnxt_re) never report otherwise.  A CQ counts the watches that wait on its
 * QPs; polling looks for none while there are none.  What neither sees, such as
 * the completions of a process, the QP's expected PSN shows (qp_probe.c).
 *
 * Why no reference remains:
 *  (1) ibcore_qp_unwatch() disarms the watch under its lock, which a call of
 *	arrival() holds, and takes it out of the table and its CQs' lists; the
 *	memory goes when who holds it has put it and no reader of the table is
 *	left.
 *  (2) A QP that is destroyed first takes its watch out of the table and disarms
 *	it while its CQs are still there; what remains is its owner's memory.
 *  (3) A probe holds the QP's entry of resource tracking, which destruction
 *	waits for before the provider's QP goes.  One without an entry is not
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
static atomic_t nr_qp_watches;	/* those in the table, or on their way there */

/* Nothing more is notified. */
static void qp_watch_disarm(struct ibcore_qp_watch *watch)
{
	lockdep_assert_held(&watch->lock);
	if (watch->awaited)
		atomic_dec(watch->awaited);
	watch->awaited = NULL;
	watch->arrival = NULL;
}

/*
 * Takes it out of all by which it is found; both ends of it may come here.  The
 * table is last: a QP that finds nothing there may go, and its CQs after it.
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

/* Notifies who waits of @proof.  Any context. */
void ibcore_qp_watch_tell(struct ibcore_qp_watch *watch,
			  enum ibcore_qp_proof proof)
{
	unsigned long flags;

	spin_lock_irqsave(&watch->lock, flags);
	if (watch->arrival && watch->arrival(watch->context, proof))
		qp_watch_disarm(watch);
	spin_unlock_irqrestore(&watch->lock, flags);
}

/* Notifies who watches @qp of @proof.  Any context. */
void ibcore_qp_arrived(struct ib_qp *qp, enum ibcore_qp_proof proof)
{
	struct ibcore_qp_watch *watch;

	rcu_read_lock();
	watch = rhashtable_lookup(&qp_watches, &qp, qp_watch_params);
	if (watch)
		ibcore_qp_watch_tell(watch, proof);
	rcu_read_unlock();
}

/* The same for each of @n completions that proves something. */
void ibcore_qp_received(const struct ib_wc *wc, int n)
{
	for (; n > 0; n--, wc++)
		if (wc->status == IB_WC_SUCCESS && (wc->opcode & IB_WC_RECV))
			ibcore_qp_arrived(wc->qp, IBCORE_QP_RECEIVED);
}

/* The watch of @qp, to be put, or NULL; costs nothing while there are none. */
static struct ibcore_qp_watch *qp_watch_find(struct ib_qp *qp)
{
	struct ibcore_qp_watch *watch;

	/* Of none there is nothing left to be done to a QP's CQs, either. */
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
 * @qp is about to be stopped or destroyed by its owner: the last chance to see
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

/* @qp's provider has destroyed it; its CQs are still there. */
void ibcore_qp_watch_gone(struct ib_qp *qp)
{
	struct ibcore_qp_watch *watch = qp_watch_find(qp);

	if (!watch)
		return;
	qp_watch_end(watch);
	ibcore_qp_watch_put(watch);
}

/**
 * ibcore_qp_watch_hold() - keep a watch's memory
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
 * ibcore_qp_watch_put() - no longer keep a watch's memory
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

/* A QP that resource tracking lacks memory for is not kept while it is asked about. */
static bool qp_can_be_probed(const struct ib_qp *qp)
{
	const struct rdma_restrack_entry *res = &qp->real_qp->res;

	return ibcore_tells_psn(qp->device) && res->valid && !res->no_track;
}

/**
 * ibcore_qp_watch() - be notified when the peer has sent something on a QP
 * @qp: connected QP, which the caller keeps from being destroyed meanwhile
 * @arrival: called for IB_EVENT_COMM_EST, before the consumer's handler; for
 *	receives that complete well if core polls their CQ, before their done
 *	methods; when the expected PSN is found to have moved; until it returns
 *	true
 * @context: passed to it
 *
 * The PSN is looked at after completion events of CQs that core does not poll,
 * before the QP's owner stops or destroys it, and by ibcore_qp_probe().  Nothing
 * is reported any more once the QP is destroyed.
 *
 * Context: process, may sleep.
 * Return: the watch, for ibcore_qp_unwatch(), or ERR_PTR: -EEXIST if the QP is
 * watched; -ENOMEM.
 */
struct ibcore_qp_watch *ibcore_qp_watch(struct ib_qp *qp,
					ibcore_qp_arrival arrival,
					void *context)
{
	struct ibcore_qp_watch *watch;
	int ret;

	watch = kzalloc(sizeof(*watch), GFP_KERNEL);
	if (!watch)
		return ERR_PTR(-ENOMEM);
	refcount_set(&watch->ref, 1);
	spin_lock_init(&watch->lock);
	watch->qp = qp;
	watch->arrival = arrival;
	watch->context = context;
	watch->can_probe = qp_can_be_probed(qp);
	if (qp->recv_cq)
		watch->awaited = ibcore_cq_awaited(qp->recv_cq);
	/* First: once it is hooked or in the table it may be disarmed. */
	if (watch->awaited)
		atomic_inc(watch->awaited);
	ret = watch->can_probe ? ibcore_cq_hook(watch) : 0;
	if (ret)
		goto err_end;

	atomic_inc(&nr_qp_watches);
	ret = rhashtable_lookup_insert_fast(&qp_watches, &watch->node,
					    qp_watch_params);
	if (!ret)
		return watch;
	atomic_dec(&nr_qp_watches);

err_end:
	qp_watch_end(watch);	/* a probe may have it already */
	ibcore_qp_watch_put(watch);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL(ibcore_qp_watch);

/**
 * ibcore_qp_watch_num() - watch the QP that a consumer names by its number
 * @dev: device of the QP
 * @qp_num: its number
 * @user: it must be the current process's; else the kernel's
 * @arrival: as of ibcore_qp_watch()
 * @context: as of ibcore_qp_watch()
 *
 * Context: process, may sleep.
 * Return: the watch, or ERR_PTR: -ENOENT if there is no such QP, or it is
 * another's; as of ibcore_qp_watch().
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
	/* Destruction waits for the entry's references before the QP goes. */
	if (user ? res->task == current->group_leader :
		   rdma_is_kernel_res(res))
		watch = ibcore_qp_watch(container_of(res, struct ib_qp, res),
					arrival, context);
	rdma_restrack_put(res);
	return watch;
}
EXPORT_SYMBOL(ibcore_qp_watch_num);

/**
 * ibcore_qp_unwatch() - end notification of a QP
 * @watch: what ibcore_qp_watch() returned; put
 *
 * When this returns arrival() neither runs nor will.
 *
 * Context: process; with no lock that arrival() takes.
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
