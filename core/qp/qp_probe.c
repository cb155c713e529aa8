// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A QP's expected PSN as proof: a responder expects the PSN it was given on the
 * way to RTR until the first request of its peer has arrived in order (IBA vol. 1,
 * 9.7.2), whatever it was, and whether or not anything completes here.  So a PSN
 * past that one proves that the peer uses the connection.
 */
#include "device/device.h"
#include "qp/qp_watch.h"

#define PSN_MASK	0xffffff
#define PSN_GIVEN	BIT(31)		/* of the QP's note: it has been to RTR */
#define PROBES_AT_ONCE	8		/* of a device: each may be a command */

/* What query_qp says of rq_psn; see Documentation/providers.rst. */
enum psn_report {
	PSN_SAYS_NOTHING,	/* what it was given, or no such thing */
	PSN_LIVE,
	PSN_UNKNOWN,		/* what the device answers, which may be either */
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

/* Whether asking @dev about its QPs' PSNs is of any use. */
bool ibcore_tells_psn(const struct ib_device *dev)
{
	return psn_report(dev) != PSN_SAYS_NOTHING;
}

/* Core's note of the PSN, behind the provider's struct. */
static u32 *qp_psn_note(struct ib_qp *qp)
{
	size_t size = qp->device->ops.size_ib_qp;

	return (void *)qp + ALIGN(size, sizeof(u32));
}

/* A QP and what core keeps with it; zeroed. */
struct ib_qp *ibcore_qp_zalloc(struct ib_device *dev)
{
	size_t size = ALIGN(dev->ops.size_ib_qp, sizeof(u32)) + sizeof(u32);

	return rdma_zalloc_obj(dev, size, GFP_KERNEL, true);
}

/* @qp, not a handle, was modified. */
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
 * @qp is about to be RESET, which takes its PSN away before it tells so: no answer
 * counts any more.  Returns the note, for when the provider refuses.
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

/* Of two PSNs the one that is less than half the circle ahead is the later. */
static bool psn_is_past(u32 psn, u32 start)
{
	u32 ahead = (psn - start) & PSN_MASK;

	return ahead && ahead <= PSN_MASK / 2;
}

/*
 * Whether a PSN past its start is believed to be what the QP expects.  Where the
 * provider's text does not tell, it is when this QP was seen at its start before, or
 * another of the device to move on from there.
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

/* @qp is not a handle, and held by resource tracking. */
static bool qp_psn_moved(struct ibcore_qp_watch *watch, struct ib_qp *qp)
{
	u32 note = READ_ONCE(*qp_psn_note(qp)), start = note & PSN_MASK, psn;
	struct ib_qp_init_attr init = {};
	struct ib_qp_attr attr = {};

	if (!(note & PSN_GIVEN) ||
	    ib_query_qp(qp, &attr, IB_QP_STATE | IB_QP_RQ_PSN, &init))
		return false;
	/* Reset meanwhile: the PSN is of no connection, or of the next one. */
	if (attr.qp_state == IB_QPS_RESET || attr.qp_state == IB_QPS_INIT ||
	    READ_ONCE(*qp_psn_note(qp)) != note)
		return false;
	psn = attr.rq_psn & PSN_MASK;
	if (psn == start)
		WRITE_ONCE(watch->at_start, true);
	return psn_is_past(psn, start) && psn_is_believed(watch, qp->device);
}

/* The watch's QP, held against destruction; NULL if nothing is awaited of it. */
static struct ib_qp *qp_watch_hold_qp(struct ibcore_qp_watch *watch)
{
	struct ib_qp *qp = NULL;

	/* Armed: ibcore_qp_watch_gone() has not been, so the QP is there. */
	spin_lock_irq(&watch->lock);
	if (watch->arrival && watch->can_probe && rdma_restrack_get(&watch->qp->real_qp->res))
		qp = watch->qp->real_qp;
	spin_unlock_irq(&watch->lock);
	return qp;
}

/**
 * ibcore_qp_probe() - look whether the expected PSN of a watched QP has moved
 * @watch: held watch
 * @again: the caller will look again if this finds nothing
 *
 * If so arrival() is told IBCORE_QP_PSN.  The provider is asked, unless its
 * answers are known to say nothing.  Those that look again give way where as many
 * of them as may be at once ask the device.
 *
 * Context: process, may sleep, as long as the provider's query_qp.
 * Return: whether it has moved.
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
	/* Before the QP may go, which ends the watch. */
	if (moved)
		ibcore_qp_watch_tell(watch, IBCORE_QP_PSN);
	rdma_restrack_put(&qp->res);
	return moved;
}
EXPORT_SYMBOL(ibcore_qp_probe);

/**
 * ibcore_qp_can_probe() - whether ibcore_qp_probe() may ever find something
 * @watch: watch whose owner has not ended it, or that is held
 *
 * For callers that go another way to be able to sleep.
 *
 * Context: any.
 * Return: false if what the provider answers says nothing of the expected PSN.
 */
bool ibcore_qp_can_probe(const struct ibcore_qp_watch *watch)
{
	return watch->can_probe;
}
EXPORT_SYMBOL(ibcore_qp_can_probe);
