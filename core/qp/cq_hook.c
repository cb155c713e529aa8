// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Completion events of CQs that core does not poll, but their owners: a process
 * or a part of the kernel.  Core does not see what completes there.  While a QP
 * of such a CQ is watched, core replaces the CQ's completion handler by its
 * own, which schedules probes of the QP's expected PSN and then calls the
 * owner's handler.  A CQ without watches keeps its own handler and has no
 * overhead.
 *
 * A hook exists while a CQ has watches.  After an event all watches of the hook
 * are probed, CQ_PROBE_BATCH of them at a time, with CQ_PROBE_MS milliseconds
 * between batches.  Events that arrive meanwhile cause one more round.
 *
 * Restoring the owner's handler does not wait for a provider that has just read
 * core's handler.  That is safe: the CQ still exists then, because the
 * provider's destroy_cq waits for its events, and cq_hook_event() calls the
 * owner's handler whether it finds the hook or not.
 */
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "qp/qp_watch.h"

#define CQ_PROBE_MS	4
#define CQ_PROBE_BATCH	8U

struct cq_hook {
	struct rhash_head node;
	struct ib_cq *cq;		/* the key; constant, the CQ may be freed */
	ib_comp_handler handler;	/* the owner's; protected by lock */
	refcount_t ref;			/* one of the table, one of queued work */
	spinlock_t lock;		/* taken in hard interrupt context */
	struct list_head links;		/* lock; the next watch to probe is first */
	unsigned int nr_links;		/* lock; 0: removed from the table for good */
	unsigned int due;		/* lock; number of watches left to probe */
	bool busy;			/* lock; a batch is being probed */
	unsigned long last;		/* lock; jiffies when the last batch ended */
	struct delayed_work work;
	struct rcu_head rcu;
};

static const struct rhashtable_params cq_hook_params = {
	.key_len = sizeof(struct ib_cq *),
	.key_offset = offsetof(struct cq_hook, cq),
	.head_offset = offsetof(struct cq_hook, node),
	.automatic_shrinking = true,
};

static struct rhashtable cq_hooks;
static struct workqueue_struct *cq_hook_wq;

static void cq_hook_put(struct cq_hook *hook)
{
	if (refcount_dec_and_test(&hook->ref))
		kfree_rcu(hook, rcu);
}

/*
 * Queues the next batch: CQ_PROBE_MS after the end of the last one, or now if
 * that time is over.
 */
static void cq_hook_queue(struct cq_hook *hook)
{
	unsigned long next = hook->last + msecs_to_jiffies(CQ_PROBE_MS);
	unsigned long now = jiffies;

	lockdep_assert_held(&hook->lock);
	if (queue_delayed_work(cq_hook_wq, &hook->work,
			       time_before(now, next) ? next - now : 0))
		refcount_inc(&hook->ref);
}

/* Begins a batch and returns how many watches it probes. */
static unsigned int cq_hook_begin(struct cq_hook *hook)
{
	unsigned int n;

	spin_lock_irq(&hook->lock);
	n = min(hook->due, CQ_PROBE_BATCH);
	hook->due -= n;
	hook->busy = true;
	spin_unlock_irq(&hook->lock);
	return n;
}

static void cq_hook_end(struct cq_hook *hook)
{
	spin_lock_irq(&hook->lock);
	hook->busy = false;
	hook->last = jiffies;
	if (hook->nr_links && hook->due)
		cq_hook_queue(hook);
	spin_unlock_irq(&hook->lock);
}

/*
 * Returns the next watch to probe, held, or NULL, and moves it to the end of
 * the list.
 */
static struct ibcore_qp_watch *cq_hook_next(struct cq_hook *hook)
{
	struct ibcore_qp_watch *watch = NULL;
	struct cq_hook_link *link;

	spin_lock_irq(&hook->lock);
	link = list_first_entry_or_null(&hook->links, struct cq_hook_link, node);
	if (link) {
		list_move_tail(&link->node, &hook->links);
		watch = link->watch;
		ibcore_qp_watch_hold(watch);
	}
	spin_unlock_irq(&hook->lock);
	return watch;
}

static void cq_hook_work(struct work_struct *work)
{
	struct cq_hook *hook = container_of(to_delayed_work(work),
					    struct cq_hook, work);
	struct ibcore_qp_watch *watch;
	unsigned int n;

	for (n = cq_hook_begin(hook); n; n--) {
		watch = cq_hook_next(hook);
		if (!watch)
			break;
		ibcore_qp_probe(watch, true);
		ibcore_qp_watch_put(watch);
	}
	cq_hook_end(hook);
	cq_hook_put(hook);
}

/* The CQ's completion handler while it is hooked.  Any context. */
static void cq_hook_event(struct ib_cq *cq, void *context)
{
	ib_comp_handler handler;
	struct cq_hook *hook;
	unsigned long flags;

	do {
		rcu_read_lock();
		hook = rhashtable_lookup(&cq_hooks, &cq, cq_hook_params);
		if (hook) {
			spin_lock_irqsave(&hook->lock, flags);
			handler = hook->handler;
			if (hook->nr_links) {
				hook->due = hook->nr_links;
				if (!hook->busy)
					cq_hook_queue(hook);
			}
			spin_unlock_irqrestore(&hook->lock, flags);
		} else {
			/*
			 * The hook was removed: this is the owner's handler,
			 * which was restored before; or cq_hook_event() if the
			 * CQ was hooked again.
			 */
			handler = READ_ONCE(cq->comp_handler);
		}
		rcu_read_unlock();
	} while (handler == cq_hook_event);
	handler(cq, context);
}

static struct cq_hook *cq_hook_new(struct ib_cq *cq)
{
	struct cq_hook *hook = kzalloc(sizeof(*hook), GFP_KERNEL);

	if (!hook)
		return NULL;
	hook->cq = cq;
	refcount_set(&hook->ref, 1);
	spin_lock_init(&hook->lock);
	INIT_LIST_HEAD(&hook->links);
	INIT_DELAYED_WORK(&hook->work, cq_hook_work);
	hook->last = jiffies - msecs_to_jiffies(CQ_PROBE_MS);
	return hook;
}

static void cq_hook_add(struct cq_hook *hook, struct cq_hook_link *link)
{
	lockdep_assert_held(&hook->lock);
	list_add_tail(&link->node, &hook->links);
	hook->nr_links++;
	link->hook = hook;
}

/* Adds @link to the hook of @cq; returns false if @cq has none. */
static bool cq_hook_join(struct ib_cq *cq, struct cq_hook_link *link)
{
	struct cq_hook *hook;
	bool joined = false;

	rcu_read_lock();
	hook = rhashtable_lookup(&cq_hooks, &cq, cq_hook_params);
	if (hook) {
		spin_lock_irq(&hook->lock);
		joined = hook->nr_links;
		if (joined)
			cq_hook_add(hook, link);
		spin_unlock_irq(&hook->lock);
	}
	rcu_read_unlock();
	return joined;
}

/*
 * The owner's handler is read after the new hook was added to the table: a
 * previous hook restored the owner's handler before it was removed.  The new
 * hook stays locked until it is complete.
 */
static int cq_hook_link(struct ib_cq *cq, struct cq_hook_link *link)
{
	struct cq_hook *hook;
	int ret;

	if (cq_hook_join(cq, link))
		return 0;
	hook = cq_hook_new(cq);
	if (!hook)
		return -ENOMEM;
	do {
		spin_lock_irq(&hook->lock);
		ret = rhashtable_lookup_insert_fast(&cq_hooks, &hook->node,
						    cq_hook_params);
		if (!ret) {
			cq_hook_add(hook, link);
			hook->handler = cq->comp_handler;
			/* A caller of cq_hook_event() finds the hook. */
			smp_store_release(&cq->comp_handler, cq_hook_event);
		}
		spin_unlock_irq(&hook->lock);
		if (!ret)
			return 0;
	} while (ret == -EEXIST && !cq_hook_join(cq, link));
	kfree(hook);
	return ret == -EEXIST ? 0 : ret;
}

static void cq_hook_unlink(struct cq_hook_link *link)
{
	struct cq_hook *hook = link->hook;
	unsigned long flags;
	bool last;

	if (!hook)
		return;
	link->hook = NULL;
	spin_lock_irqsave(&hook->lock, flags);
	list_del(&link->node);
	last = !--hook->nr_links;
	if (last) {
		/*
		 * Before the hook is removed.  Pairs with cq_hook_event(),
		 * which finds the hook or the owner's handler.
		 */
		smp_store_release(&hook->cq->comp_handler, hook->handler);
		if (cancel_delayed_work(&hook->work))
			refcount_dec(&hook->ref);
		rhashtable_remove_fast(&cq_hooks, &hook->node, cq_hook_params);
	}
	spin_unlock_irqrestore(&hook->lock, flags);
	if (last)
		cq_hook_put(hook);
}

static bool cq_is_hookable(const struct ib_cq *cq)
{
	/* Not if core polls it, or if its owner has no handler for its events. */
	return cq && !cq->wc && cq->comp_handler;
}

int ibcore_cq_hook(struct ibcore_qp_watch *watch)
{
	struct ib_cq *cqs[ARRAY_SIZE(watch->links)] = {
		watch->qp->recv_cq,
		watch->qp->send_cq == watch->qp->recv_cq ? NULL :
							   watch->qp->send_cq,
	};
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(cqs); i++) {
		watch->links[i].watch = watch;
		if (!cq_is_hookable(cqs[i]))
			continue;
		ret = cq_hook_link(cqs[i], &watch->links[i]);
		if (ret) {
			ibcore_cq_unhook(watch);
			return ret;
		}
	}
	return 0;
}

void ibcore_cq_unhook(struct ibcore_qp_watch *watch)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(watch->links); i++)
		cq_hook_unlink(&watch->links[i]);
}

int ibcore_cq_hooks_init(void)
{
	int ret = rhashtable_init(&cq_hooks, &cq_hook_params);

	if (ret)
		return ret;
	cq_hook_wq = alloc_workqueue("ib_qp_probe", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!cq_hook_wq) {
		rhashtable_destroy(&cq_hooks);
		return -ENOMEM;
	}
	return 0;
}

/*
 * No QP exists any more, hence no hook; destroy_workqueue() waits for the work
 * that is left.
 */
void ibcore_cq_hooks_exit(void)
{
	destroy_workqueue(cq_hook_wq);
	rhashtable_destroy(&cq_hooks);
}
