// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a connected QP has beside other QPs, and the work that does all for it. */
#include <linux/slab.h>
#include "requester/requester.h"

/* ---- the work ---- */

/*
 * Packets hold the credits of a link while they wait, so they are taken in whatever state the
 * QP is in, and whether or not it can send.
 */
static void take_packet(struct vib_qp *qp, struct vib_packet *pkt)
{
	const struct vib_op *op = vib_op(ib_bth_get_opcode(vib_packet_bth(pkt)));

	if (!vib_qp_receives(qp))
		vib_drop(qp->port, pkt, VIB_DROP_QP);
	else if (!vib_path_takes(qp, pkt))
		vib_drop(qp->port, pkt, VIB_DROP_PATH);
	else if (op->flags & VIB_OP_RESPONSE)
		vib_rc_complete(qp, pkt);
	else
		vib_rc_respond(qp, pkt);
}

static bool take_packets(struct vib_qp *qp)
{
	struct vib_packet *pkt;
	unsigned int i;

	for (i = 0; i < VIB_BATCH; i++) {
		pkt = vib_qp_next_packet(qp);
		if (!pkt)
			return false;
		take_packet(qp, pkt);
	}
	return true;
}

/* 10.3.1.6, 10.3.1.7: SQE flushes send requests, ERR both queues. */
static bool flush(struct vib_qp *qp)
{
	enum ib_qp_state state = READ_ONCE(qp->state);
	unsigned int i;

	if (state != IB_QPS_SQE && state != IB_QPS_ERR)
		return false;
	if (vib_requests_flush(qp))
		return true;
	if (state != IB_QPS_ERR)
		return false;
	for (i = 0; i < VIB_BATCH; i++) {
		if (!vib_rc_flush_recv(qp))
			return false;
	}
	return true;
}

IBEX_BH_WORK(vib_rc_work)
{
	struct vib_qp *qp = container_of(work, struct vib_qp, recv_work);
	bool more;

	more = take_packets(qp);
	vib_requester_timer(qp);
	more |= vib_rc_send_replies(qp);
	more |= vib_rc_send(qp);
	more |= flush(qp);
	if (more)
		queue_work(vib_wq, work);
}

/* ---- the QP ---- */

int vib_rc_create(struct vib_qp *qp, const struct ib_qp_cap *cap, struct ib_udata *udata)
{
	qp->rc = kzalloc(sizeof(*qp->rc), GFP_KERNEL_ACCOUNT);
	if (!qp->rc)
		return -ENOMEM;
	qp->rc->qp = qp;
	qp->rc->mig_state = IB_MIG_MIGRATED;
	return vib_requester_init(qp, cap, udata);
}

void vib_rc_free(struct vib_qp *qp)
{
	if (!qp->rc)
		return;
	vib_requester_free(qp);
	kfree(qp->rc);
	qp->rc = NULL;
}

/* The next connection begins without attributes (10.3.1.1). */
static void forget_attrs(struct vib_qp *qp)
{
	struct vib_rc *rc = qp->rc;

	spin_lock_bh(&qp->lock);
	memset(rc, 0, offsetof(struct vib_rc, req));
	rc->qp = qp;
	rc->mig_state = IB_MIG_MIGRATED;
	spin_unlock_bh(&qp->lock);
}

void vib_rc_reset(struct vib_qp *qp)
{
	/* Its timer has ended then, which would look at what follows. */
	vib_requester_reset(qp);
	vib_rc_responder_reset(qp);
	forget_attrs(qp);
}
