// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Completions that the fake adapter holds, and the number of posted receives, for
 * tests.
 */
#include "fake_qp.h"

static void fake_release_qp(struct ib_qp *ibqp)
{
	struct fake_completion *kept, *next;
	struct fake_qp *qp;
	LIST_HEAD(held);

	if (!ibqp)
		return;
	qp = container_of(ibqp, struct fake_qp, ibqp);
	spin_lock_irq(&qp->lock);
	list_splice_init(&qp->held, &held);
	spin_unlock_irq(&qp->lock);
	list_for_each_entry_safe(kept, next, &held, entry) {
		/* KASAN reports the payload if it was freed. */
		if (kept->payload)
			READ_ONCE(*kept->payload);
		fake_sent(ibqp, &kept->wc);
		kfree(kept);
	}
}

void fake_hca_release_completions(struct fake_hca *hca)
{
	unsigned long qpn;
	struct ib_qp *qp;
	u32 p;

	hca->hold_send_completions = false;
	for (p = 0; p <= hca->ibdev.phys_port_cnt; p++) {
		fake_release_qp(hca->special[p][0]);
		fake_release_qp(hca->special[p][1]);
	}
	xa_for_each(&hca->qps, qpn, qp)
		fake_release_qp(qp);
}
EXPORT_SYMBOL_GPL(fake_hca_release_completions);

static struct fake_completion *fake_take_held(struct ib_qp *ibqp)
{
	struct fake_qp *qp = container_of(ibqp, struct fake_qp, ibqp);
	struct fake_completion *kept;

	spin_lock_irq(&qp->lock);
	kept = list_first_entry_or_null(&qp->held, struct fake_completion, entry);
	if (kept)
		list_del(&kept->entry);
	spin_unlock_irq(&qp->lock);
	return kept;
}

bool fake_hca_complete_held(struct ib_qp *qp, enum ib_wc_status status)
{
	struct fake_completion *kept = fake_take_held(qp);

	if (!kept)
		return false;
	kept->wc.status = status;
	fake_sent(qp, &kept->wc);
	kfree(kept);
	return true;
}
EXPORT_SYMBOL_GPL(fake_hca_complete_held);

bool fake_hca_lose_held(struct ib_qp *qp)
{
	struct fake_completion *kept = fake_take_held(qp);

	kfree(kept);
	return kept;
}
EXPORT_SYMBOL_GPL(fake_hca_lose_held);

unsigned int fake_hca_posted_recvs(struct ib_qp *ibqp)
{
	return READ_ONCE(container_of(ibqp, struct fake_qp, ibqp)->nr_recvs);
}
EXPORT_SYMBOL_GPL(fake_hca_posted_recvs);
