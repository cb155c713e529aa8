// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Watches: who wants to hear that the peer has sent something on a QP.
 *
 * A watch is found by its QP under RCU, from two places: core's handler of QP
 * events, for IB_EVENT_COMM_EST, and the polling of the kernel's CQs, for the
 * first receive that completes well, which some providers (rxe, siw, irdma,
 * bnxt_re) never report otherwise.  A CQ counts the watches that wait on its
 * QPs; polling looks for none while there are none.
 *
 * Why no reference remains:
 *  (1) ibcore_qp_unwatch() settles the watch under its lock, which a call of
 *	arrival() holds, and takes it out of the table; the memory goes when no
 *	reader of the table is left.
 *  (2) A QP that is destroyed first takes its watch out of the table and settles
 *	it while its CQ is still there; what remains is its owner's memory.
 */
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <ibex/qp_watch.h>

#include "core.h"

struct ibcore_qp_watch {
	struct rhash_head node;
	struct ib_qp *qp;		/* the key; fixed, and maybe gone */
	spinlock_t lock;		/* taken in hard interrupt context */
	ibcore_qp_arrival arrival;	/* lock; NULL: settled */
	void *context;
	atomic_t *awaited;		/* of the CQ; lock; NULL: not polled here */
	struct rcu_head rcu;
};

static const struct rhashtable_params qp_watch_params = {
	.key_len = sizeof(struct ib_qp *),
	.key_offset = offsetof(struct ibcore_qp_watch, qp),
	.head_offset = offsetof(struct ibcore_qp_watch, node),
	.automatic_shrinking = true,
};

static struct rhashtable qp_watches;

/* Nothing more is to be heard. */
static void qp_watch_settle(struct ibcore_qp_watch *watch)
{
	lockdep_assert_held(&watch->lock);
	if (watch->awaited)
		atomic_dec(watch->awaited);
	watch->awaited = NULL;
	watch->arrival = NULL;
}

/* Whoever watches @qp hears of @proof.  Any context. */
void ibcore_qp_arrived(struct ib_qp *qp, enum ibcore_qp_proof proof)
{
	struct ibcore_qp_watch *watch;
	unsigned long flags;

	rcu_read_lock();
	watch = rhashtable_lookup(&qp_watches, &qp, qp_watch_params);
	if (watch) {
		spin_lock_irqsave(&watch->lock, flags);
		if (watch->arrival && watch->arrival(watch->context, proof))
			qp_watch_settle(watch);
		spin_unlock_irqrestore(&watch->lock, flags);
	}
	rcu_read_unlock();
}

/* The same for each of @n completions that proves something. */
void ibcore_qp_received(const struct ib_wc *wc, int n)
{
	for (; n > 0; n--, wc++)
		if (wc->status == IB_WC_SUCCESS && (wc->opcode & IB_WC_RECV))
			ibcore_qp_arrived(wc->qp, IBCORE_QP_RECEIVED);
}

/* @qp's provider has destroyed it; its CQs are still there. */
void ibcore_qp_watch_gone(struct ib_qp *qp)
{
	struct ibcore_qp_watch *watch;

	rcu_read_lock();
	watch = rhashtable_lookup(&qp_watches, &qp, qp_watch_params);
	if (watch) {
		spin_lock_irq(&watch->lock);
		qp_watch_settle(watch);
		spin_unlock_irq(&watch->lock);
		rhashtable_remove_fast(&qp_watches, &watch->node,
				       qp_watch_params);
	}
	rcu_read_unlock();
}

/**
 * ibcore_qp_watch() - hear when the peer has sent something on a QP
 * @qp: connected QP, which the caller keeps from being destroyed meanwhile
 * @arrival: called for IB_EVENT_COMM_EST, before the consumer's handler, and
 *	for receives that complete well if core polls their CQ, before their done
 *	methods; until it returns true
 * @context: passed to it
 *
 * Nothing is heard any more once the QP is destroyed.
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
	spin_lock_init(&watch->lock);
	watch->qp = qp;
	watch->arrival = arrival;
	watch->context = context;
	if (qp->recv_cq)
		watch->awaited = ibcore_cq_awaited(qp->recv_cq);
	/* First: once it is in the table it may be settled. */
	if (watch->awaited)
		atomic_inc(watch->awaited);

	ret = rhashtable_lookup_insert_fast(&qp_watches, &watch->node,
					    qp_watch_params);
	if (ret) {
		if (watch->awaited)
			atomic_dec(watch->awaited);
		kfree(watch);
		return ERR_PTR(ret);
	}
	return watch;
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
 * ibcore_qp_unwatch() - hear no more of a QP
 * @watch: what ibcore_qp_watch() returned; freed
 *
 * When this returns arrival() neither runs nor will.
 *
 * Context: any but hard interrupt; with no lock that arrival() takes.
 */
void ibcore_qp_unwatch(struct ibcore_qp_watch *watch)
{
	unsigned long flags;

	spin_lock_irqsave(&watch->lock, flags);
	qp_watch_settle(watch);
	spin_unlock_irqrestore(&watch->lock, flags);
	/* A QP that is gone took it out. */
	rhashtable_remove_fast(&qp_watches, &watch->node, qp_watch_params);
	kfree_rcu(watch, rcu);
}
EXPORT_SYMBOL(ibcore_qp_unwatch);

int ibcore_qp_watch_init(void)
{
	return rhashtable_init(&qp_watches, &qp_watch_params);
}

void ibcore_qp_watch_exit(void)
{
	rhashtable_destroy(&qp_watches);
}
