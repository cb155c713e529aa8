// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Connections: listening, connecting, accepting, rejecting, disconnecting. */
#include <linux/string.h>
#include <linux/uaccess.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_marshall.h>

#include "ucm.h"

static u32 ucm_backlog(int asked)
{
	int max = READ_ONCE(ucm_max_backlog);

	return asked > 0 && asked < max ? asked : max;
}

/* Returns the previous backlog. */
static u32 ucm_set_backlog(struct ucm_id *id, u32 backlog)
{
	struct ucm_file *file = ucm_id_lock_file(id);
	u32 was = id->backlog;

	id->backlog = backlog;
	ucm_file_unlock(file);
	return was;
}

/* Sets the backlog first, as requests may arrive before rdma_listen() returns. */
int ucm_listen(struct ucm_call *call)
{
	const struct rdma_ucm_listen *cmd = &call->cmd.listen;
	struct ucm_id *id;
	u32 backlog, was;
	int err;

	id = ucm_id_get_live(call->file, cmd->id);
	if (IS_ERR(id))
		return PTR_ERR(id);
	backlog = ucm_backlog(cmd->backlog);
	was = ucm_set_backlog(id, backlog);
	err = rdma_listen(id->cm_id, backlog);
	if (err)
		ucm_set_backlog(id, was);
	ucm_id_release(id);
	return err;
}

/*
 * The Q_Key is used with AF_IB only: programs older than that family leave its field
 * undefined.
 */
static void ucm_conn_param(struct rdma_conn_param *dst,
			   const struct rdma_ucm_conn_param *src,
			   const struct rdma_cm_id *cm_id)
{
	memset(dst, 0, sizeof(*dst));
	ucm_copy_conn_fields(dst, src);
	dst->private_data = src->private_data;
	dst->private_data_len = src->private_data_len;
	dst->qp_num &= 0xffffff;
	if (cm_id->route.addr.src_addr.ss_family == AF_IB)
		dst->qkey = src->qkey;
}

int ucm_connect(struct ucm_call *call)
{
	struct rdma_ucm_connect *cmd = &call->cmd.connect;
	struct rdma_conn_param param;
	struct ucm_id *id;
	int err;

	if (!cmd->conn_param.valid)
		return -EINVAL;
	id = ucm_id_get_bound(call->file, cmd->id);
	if (IS_ERR(id))
		return PTR_ERR(id);
	ucm_conn_param(&param, &cmd->conn_param, id->cm_id);
	err = rdma_connect_ece(id->cm_id, &param, &cmd->ece);
	ucm_id_release(id);
	return err;
}

/* Events with the new uid are not reported before the handler lock is released. */
static int ucm_accept_request(struct ucm_id *id, struct rdma_ucm_accept *cmd)
{
	struct rdma_conn_param param;
	int err;

	ucm_conn_param(&param, &cmd->conn_param, id->cm_id);
	rdma_lock_handler(id->cm_id);
	err = rdma_accept_ece(id->cm_id, &param, &cmd->ece);
	if (!err) {
		id->uid = cmd->uid;
		id->named = true;
	}
	rdma_unlock_handler(id->cm_id);
	return err;
}

/* The active side confirms a CONNECT_RESPONSE after it has moved its QP. */
static int ucm_confirm_response(struct ucm_id *id, struct rdma_ucm_accept *cmd)
{
	int err;

	rdma_lock_handler(id->cm_id);
	err = rdma_accept_ece(id->cm_id, NULL, &cmd->ece);
	rdma_unlock_handler(id->cm_id);
	return err;
}

int ucm_accept(struct ucm_call *call)
{
	struct rdma_ucm_accept *cmd = &call->cmd.accept;
	struct ucm_id *id;
	int err;

	id = ucm_id_get_bound(call->file, cmd->id);
	if (IS_ERR(id))
		return PTR_ERR(id);
	err = cmd->conn_param.valid ? ucm_accept_request(id, cmd) :
				      ucm_confirm_response(id, cmd);
	ucm_id_release(id);
	return err;
}

/* Programs older than the field have 0 there; others choose one of two reasons. */
static int ucm_reject_reason(u8 reason)
{
	switch (reason) {
	case 0:
		return IB_CM_REJ_CONSUMER_DEFINED;
	case IB_CM_REJ_CONSUMER_DEFINED:
	case IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED:
		return reason;
	default:
		return -EINVAL;
	}
}

int ucm_reject(struct ucm_call *call)
{
	const struct rdma_ucm_reject *cmd = &call->cmd.reject;
	int reason = ucm_reject_reason(cmd->reason);
	struct ucm_id *id;
	int err;

	if (reason < 0)
		return reason;
	id = ucm_id_get_bound(call->file, cmd->id);
	if (IS_ERR(id))
		return PTR_ERR(id);
	err = rdma_reject(id->cm_id, cmd->private_data, cmd->private_data_len, reason);
	ucm_id_release(id);
	return err;
}

int ucm_disconnect(struct ucm_call *call)
{
	struct ucm_id *id;
	int err;

	id = ucm_id_get_bound(call->file, call->cmd.disconnect.id);
	if (IS_ERR(id))
		return PTR_ERR(id);
	err = rdma_disconnect(id->cm_id);
	ucm_id_release(id);
	return err;
}

int ucm_notify(struct ucm_call *call)
{
	const struct rdma_ucm_notify *cmd = &call->cmd.notify;
	struct ucm_id *id;
	int err;

	id = ucm_id_get_bound(call->file, cmd->id);
	if (IS_ERR(id))
		return PTR_ERR(id);
	err = rdma_notify(id->cm_id, cmd->event);
	ucm_id_release(id);
	return err;
}

int ucm_init_qp_attr(struct ucm_call *call)
{
	const struct rdma_ucm_init_qp_attr *cmd = &call->cmd.init_qp_attr;
	struct ib_qp_attr attr = { .qp_state = cmd->qp_state };
	struct ib_uverbs_qp_attr resp = {};
	struct ucm_id *id;
	int mask = 0, err;

	if (cmd->qp_state > IB_QPS_ERR)
		return -EINVAL;
	id = ucm_id_get_bound(call->file, cmd->id);
	if (IS_ERR(id))
		return PTR_ERR(id);
	err = rdma_init_qp_attr(id->cm_id, &attr, &mask);
	if (!err)
		ib_copy_qp_attr_to_user(id->cm_id->device, &resp, &attr);
	ucm_id_release(id);
	if (err)
		return err;
	resp.qp_attr_mask = mask;
	return ucm_respond(call, cmd->response, &resp, sizeof(resp));
}
