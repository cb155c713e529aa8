// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The QP of an iWARP connection: references, state changes, attributes. */
#include <linux/export.h>

#include "iwcm.h"

/* Returns the QP with a reference, or NULL if @device has no such QP. */
struct ib_qp *iwcm_qp_get(struct ib_device *device, u32 qpn)
{
	struct ib_qp *qp = device->ops.iw_get_qp(device, qpn);

	if (qp)
		device->ops.iw_add_ref(qp);
	return qp;
}

void iwcm_qp_put(struct ib_qp *qp)
{
	if (qp)
		qp->device->ops.iw_rem_ref(qp);
}

/* SQD closes in order, ERR resets.  Errors are ignored: the QP may be there already. */
void iwcm_qp_move(struct ib_qp *qp, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };

	ib_modify_qp(qp, &attr, IB_QP_STATE);
}

/**
 * iw_cm_init_qp_attr - attributes for the QP of an iWARP connection
 * @cm_id: The connection's id.
 * @qp_attr: In: @qp_attr->qp_state, the state to move to.  Out: its attributes.
 * @qp_attr_mask: Out: which attributes were set.
 *
 * The provider itself moves the QP to RTS when it connects (RFC 5040).
 *
 * Context: Any.
 *
 * Return: 0; -EINVAL if the id's state has no QP to set up, or for another QP state.
 */
int iw_cm_init_qp_attr(struct iw_cm_id *cm_id, struct ib_qp_attr *qp_attr,
		       int *qp_attr_mask)
{
	struct iwcm_id *id = to_iwcm(cm_id);
	const struct iwcm_step *step;
	unsigned long flags;
	struct ib_qp *none;

	spin_lock_irqsave(&id->lock, flags);
	step = iwcm_step(id, IWCM_DO_SET_UP_QP, &none);
	spin_unlock_irqrestore(&id->lock, flags);
	if (!step)
		return -EINVAL;

	switch (qp_attr->qp_state) {
	case IB_QPS_INIT:
	case IB_QPS_RTR:
		qp_attr->qp_access_flags = IB_ACCESS_REMOTE_WRITE |
					   IB_ACCESS_REMOTE_READ;
		*qp_attr_mask = IB_QP_STATE | IB_QP_ACCESS_FLAGS;
		return 0;
	case IB_QPS_RTS:
		*qp_attr_mask = 0;
		return 0;
	default:
		return -EINVAL;
	}
}
EXPORT_SYMBOL(iw_cm_init_qp_attr);
