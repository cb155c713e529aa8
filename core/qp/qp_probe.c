// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A QP's expected PSN as proof that the peer uses the connection: a responder
 * expects the PSN that was set in the transition to RTR until the first request
 * of its peer has arrived in order (IBA vol. 1, 9.7.2).  It does not matter
 * what that request is, nor whether anything completes on this side.  So an
 * expected PSN past the initial one is proof.
 */
#include "device/device.h"
#include "qp/qp_watch.h"

#define PSN_MASK	0xffffff
#define PSN_GIVEN	BIT(31)		/* in the QP's note: the initial PSN is set */
#define PROBES_AT_ONCE	8		/* per device: each may be a command to it */

/* What query_qp reports as rq_psn; see Documentation/providers.rst. */
enum psn_report {
	PSN_SAYS_NOTHING,	/* the initial PSN, or nothing */
	PSN_LIVE,
	PSN_UNKNOWN,		/* what the device returns, which may be either */
};

static enum psn_report psn_report(const struct ib_device *dev)
{
	switch (dev->ops.driver_id) {
	case RDMA_DRIVER_MLX5:
	case RDMA_DRIVER_MLX4:
	case RDMA_DRIVER_MTHCA:
	case RDMA_DRIVER_HNS:
	case RDMA_DRIVER_HFI1:
	case RDMA_DRIVER_QIB:
	case RDMA_DRIVER_RXE:
		return PSN_LIVE;
	case RDMA_DRIVER_BNXT_RE:
	case RDMA_DRIVER_ERDMA:
	case RDMA_DRIVER_OCRDMA:
	case RDMA_DRIVER_QEDR:
	case RDMA_DRIVER_VMW_PVRDMA:
	case RDMA_DRIVER_UNKNOWN:
		return PSN_UNKNOWN;
	default:
		return PSN_SAYS_NOTHING;
	}
}

/* Whether querying the PSNs of @dev's QPs is of any use. */
bool ibcore_tells_psn(const struct ib_device *dev)
{
	return psn_report(dev) != PSN_SAYS_NOTHING;
}

/* Core's note of the initial PSN, stored behind the provider's struct. */
static u32 *qp_psn_note(struct ib_qp *qp)
{
	return (void *)qp + ALIGN(ibex_qp_size(qp->device), sizeof(u32));
}

/* Allocates a zeroed QP with room for core's note. */
struct ib_qp *ibcore_qp_zalloc(struct ib_device *dev)
{
	size_t size = ALIGN(ibex_qp_size(dev), sizeof(u32)) + sizeof(u32);

	return rdma_zalloc_obj(dev, size, GFP_KERNEL, true);
}

/* Notes the initial PSN after @qp, which is not a handle, was modified. */
void ibcore_qp_psn_note(struct ib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	u32 *note = qp_psn_note(qp);

	if (mask & IB_QP_RQ_PSN)
		WRITE_ONCE(*note, (attr->rq_psn & PSN_MASK) | PSN_GIVEN);
	else if (mask & IB_QP_STATE && (attr->qp_state == IB_QPS_RESET ||
					attr->qp_state == IB_QPS_INIT))
		WRITE_ONCE(*note, 0);
}

/*
 * @qp is about to be moved to RESET.  That may change the expected PSN before
 * query_qp reports the new state, so query results no longer count.  Returns
 * the note, to be restored if the provider refuses.
 */
u32 ibcore_qp_psn_forget(struct ib_qp *qp)
{
	u32 *note = qp_psn_note(qp);
	u32 old = READ_ONCE(*note);

	WRITE_ONCE(*note, 0);
	return old;
}

void ibcore_qp_psn_restore(struct ib_qp *qp, u32 note)
{
	WRITE_ONCE(*qp_psn_note(qp), note);
}

/* A PSN is past another if it is less than half of the number space ahead of it. */
static bool psn_is_past(u32 psn, u32 start)
{
	u32 ahead = (psn - start) & PSN_MASK;

	return ahead && ahead <= PSN_MASK / 2;
}

/*
 * Whether a reported PSN past the initial one is believed to be the expected
 * PSN.  If the provider's source does not tell what query_qp reports
 * (PSN_UNKNOWN), it is believed if this QP was seen at its initial PSN before,
 * or if another QP of the device was seen to move on from its initial PSN.
 */
static bool psn_is_believed(struct ibcore_qp_watch *watch, struct ib_device *dev)
{
	struct ibcore_device *priv = ibcore_priv(dev);

	if (psn_report(dev) == PSN_LIVE || READ_ONCE(priv->psn_moves))
		return true;
	if (!READ_ONCE(watch->at_start))
		return false;
	WRITE_ONCE(priv->psn_moves, true);
	return true;
}

/* @qp is not a handle; the caller holds its resource tracking entry. */
static bool qp_psn_moved(struct ibcore_qp_watch *watch, struct ib_qp *qp)
{
	u32 note = READ_ONCE(*qp_psn_note(qp)), start = note & PSN_MASK, psn;
	struct ib_qp_init_attr init = {};
	struct ib_qp_attr attr = {};

	if (!(note & PSN_GIVEN) ||
	    ib_query_qp(qp, &attr, IB_QP_STATE | IB_QP_RQ_PSN, &init))
		return false;
	/* Reset meanwhile: the PSN belongs to no connection, or to the next one. */
	if (attr.qp_state == IB_QPS_RESET || attr.qp_state == IB_QPS_INIT ||
	    READ_ONCE(*qp_psn_note(qp)) != note)
		return false;
	psn = attr.rq_psn & PSN_MASK;
	if (psn == start)
		WRITE_ONCE(watch->at_start, true);
	return psn_is_past(psn, start) && psn_is_believed(watch, qp->device);
}

/*
 * Returns the watch's QP, held against destruction, or NULL if the watch is
 * disarmed or its QP cannot be probed.
 */
static struct ib_qp *qp_watch_hold_qp(struct ibcore_qp_watch *watch)
{
	struct ib_qp *qp = NULL;

	/* If armed, ibcore_qp_watch_gone() has not run, so the QP exists. */
	spin_lock_irq(&watch->lock);
	if (watch->arrival && watch->can_probe && rdma_restrack_get(&watch->qp->real_qp->res))
		qp = watch->qp->real_qp;
	spin_unlock_irq(&watch->lock);
	return qp;
}

/**
 * ibcore_qp_probe() - check whether the expected PSN of a watched QP has moved
 * @watch: held watch
 * @again: the caller will probe again if this finds nothing
 *
 * If it has moved, arrival() is called with IBCORE_QP_PSN.  This queries the
 * provider, unless its query_qp is known not to report the expected PSN.  With
 * @again, it does not query while PROBES_AT_ONCE such probes already query the
 * device.
 *
 * Context: process, may sleep for as long as the provider's query_qp takes.
 * Return: true if it has moved.
 */
bool ibcore_qp_probe(struct ibcore_qp_watch *watch, bool again)
{
	struct ib_qp *qp = qp_watch_hold_qp(watch);
	struct ibcore_device *priv;
	bool moved = false;

	might_sleep();
	if (!qp)
		return false;
	priv = ibcore_priv(qp->device);
	if (!again) {
		moved = qp_psn_moved(watch, qp);
	} else {
		if (atomic_inc_return(&priv->probes) <= PROBES_AT_ONCE)
			moved = qp_psn_moved(watch, qp);
		atomic_dec(&priv->probes);
	}
	/* Before the QP may be destroyed, which ends the watch. */
	if (moved)
		ibcore_qp_watch_tell(watch, IBCORE_QP_PSN);
	rdma_restrack_put(&qp->res);
	return moved;
}
EXPORT_SYMBOL(ibcore_qp_probe);

/**
 * ibcore_qp_can_probe() - check whether ibcore_qp_probe() is of any use
 * @watch: watch whose owner has not ended it, or that is held
 *
 * For callers that would have to defer the probe to a context that may sleep.
 *
 * Context: any.
 * Return: false if the provider does not report the expected PSN or the QP is
 * not tracked.
 */
bool ibcore_qp_can_probe(const struct ibcore_qp_watch *watch)
{
	return watch->can_probe;
}
EXPORT_SYMBOL(ibcore_qp_can_probe);
