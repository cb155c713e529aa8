// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connections through the iWARP CM.
 */
#include "connect/connect.h"
#include "id/id.h"
#include "trace.h"

/* Like cma_ib_new_cm_id(). */
static int cma_iw_new_cm_id(struct cma_id *idp)
{
	struct iw_cm_id *cm_id, *old = idp->cm.iw;

	lockdep_assert_held(&idp->handler_mutex);
	cm_id = iw_create_cm_id(idp->id.device, cma_iw_event, idp);
	if (IS_ERR(cm_id))
		return PTR_ERR(cm_id);
	cm_id->tos = idp->tos;
	cm_id->tos_set = idp->tos_set;
	memcpy(&cm_id->local_addr, cma_src(idp), rdma_addr_size(cma_src(idp)));
	memcpy(&cm_id->remote_addr, cma_dst(idp), rdma_addr_size(cma_dst(idp)));
	idp->cm.iw = cm_id;
	if (old)
		iw_destroy_cm_id(old);
	return 0;
}

static void cma_iw_param(struct cma_id *idp,
			 const struct rdma_conn_param *param,
			 struct iw_cm_conn_param *iw)
{
	iw->ord = param->initiator_depth;
	iw->ird = param->responder_resources;
	iw->private_data = param->private_data;
	iw->private_data_len = param->private_data_len;
	iw->qpn = idp->qp_num;
}

/* Sends the MPA request of rdma_connect(). */
int cma_iw_connect(struct cma_id *idp, struct rdma_conn_param *param)
{
	struct iw_cm_conn_param iw;
	int err;

	err = cma_iw_new_cm_id(idp);
	if (!err)
		err = cma_qp_to_rtr(idp, param);
	if (err)
		return err;
	cma_iw_param(idp, param, &iw);
	return iw_cm_connect(idp->cm.iw, &iw);
}

/* Sends the MPA reply of rdma_accept(). */
int cma_iw_accept(struct cma_id *idp, struct rdma_conn_param *param)
{
	struct iw_cm_conn_param iw;
	int err;

	err = cma_qp_to_rtr(idp, param);
	if (err)
		return err;
	cma_iw_param(idp, param, &iw);
	return iw_cm_accept(idp->cm.iw, &iw);
}
