// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Options of ids: rdma_set_option(3). */
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/ib_sa.h>
#include <rdma/rdma_cm_ib.h>

#include "ucm.h"

/* The most path records that a program may pass.  The first suitable one is used. */
#define UCM_MAX_PATHS	64

struct ucm_option {
	int (*set)(struct rdma_cm_id *cm_id, u32 value);
	u32 size;
};

static int ucm_set_tos(struct rdma_cm_id *cm_id, u32 value)
{
	rdma_set_service_type(cm_id, value);
	return 0;
}

static int ucm_set_reuseaddr(struct rdma_cm_id *cm_id, u32 value)
{
	return rdma_set_reuseaddr(cm_id, !!value);
}

static int ucm_set_afonly(struct rdma_cm_id *cm_id, u32 value)
{
	return rdma_set_afonly(cm_id, !!value);
}

static int ucm_set_ack_timeout(struct rdma_cm_id *cm_id, u32 value)
{
	return rdma_set_ack_timeout(cm_id, value);
}

static const struct ucm_option ucm_id_options[] = {
	[RDMA_OPTION_ID_TOS] = { ucm_set_tos, sizeof(u8) },
	[RDMA_OPTION_ID_REUSEADDR] = { ucm_set_reuseaddr, sizeof(int) },
	[RDMA_OPTION_ID_AFONLY] = { ucm_set_afonly, sizeof(int) },
	[RDMA_OPTION_ID_ACK_TIMEOUT] = { ucm_set_ack_timeout, sizeof(u8) },
};

static int ucm_option_value(const struct rdma_ucm_set_option *cmd, u32 *value)
{
	const void __user *optval = u64_to_user_ptr(cmd->optval);
	u8 byte;

	if (cmd->optlen == sizeof(*value))
		return copy_from_user(value, optval, sizeof(*value)) ? -EFAULT : 0;
	if (copy_from_user(&byte, optval, sizeof(byte)))
		return -EFAULT;
	*value = byte;
	return 0;
}

static int ucm_set_id_option(struct ucm_file *file,
			     const struct rdma_ucm_set_option *cmd)
{
	const struct ucm_option *option;
	struct ucm_id *id;
	u32 value;
	int err;

	if (cmd->optname >= ARRAY_SIZE(ucm_id_options))
		return UCM_UNKNOWN;
	option = &ucm_id_options[array_index_nospec(cmd->optname,
						    ARRAY_SIZE(ucm_id_options))];
	if (cmd->optlen != option->size)
		return -EINVAL;
	err = ucm_option_value(cmd, &value);
	if (err)
		return err;

	id = ucm_id_get_live(file, cmd->id);
	if (IS_ERR(id))
		return PTR_ERR(id);
	err = option->set(id->cm_id, value);
	ucm_id_release(id);
	return err;
}

/* Only a path for all messages and data, in both directions, is suitable. */
static bool ucm_path_fits(const struct ib_path_rec_data *data)
{
	return data->flags == (IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL);
}

static int ucm_find_path(const struct rdma_ucm_set_option *cmd, struct sa_path_rec *rec)
{
	const struct ib_path_rec_data __user *from = u64_to_user_ptr(cmd->optval);
	u32 i, nr = cmd->optlen / sizeof(*from);
	struct ib_path_rec_data data;

	if (cmd->optlen % sizeof(*from) || nr > UCM_MAX_PATHS)
		return -EINVAL;
	for (i = 0; i < nr; i++) {
		if (copy_from_user(&data, from + i, sizeof(data)))
			return -EFAULT;
		if (ucm_path_fits(&data)) {
			memset(rec, 0, sizeof(*rec));
			ib_sa_unpack_path(data.path_rec, rec);
			return 0;
		}
	}
	return -EINVAL;
}

/* Sets the path, and reports ROUTE_RESOLVED, which librdmacm waits for. */
static int ucm_apply_path(struct ucm_id *id, struct sa_path_rec *rec)
{
	struct rdma_cm_event event = { .event = RDMA_CM_EVENT_ROUTE_RESOLVED };
	struct rdma_cm_id *cm_id = id->cm_id;
	struct sa_path_rec opa;
	struct ucm_event *ev;
	int err;

	ev = ucm_event_alloc(id, cm_id, &event, GFP_KERNEL);
	if (!ev)
		return -ENOMEM;
	if (rdma_cap_opa_ah(cm_id->device, cm_id->port_num)) {
		sa_convert_path_ib_to_opa(&opa, rec);
		rec = &opa;
	}

	/* The handler reads the route, and must report no event in between. */
	rdma_lock_handler(cm_id);
	err = rdma_set_ib_path(cm_id, rec);
	if (!err)
		ucm_event_queue(ev);
	rdma_unlock_handler(cm_id);
	if (err)
		kfree(ev);
	return err;
}

static int ucm_set_ib_option(struct ucm_file *file,
			     const struct rdma_ucm_set_option *cmd)
{
	struct sa_path_rec rec;
	struct ucm_id *id;
	int err;

	if (cmd->optname != RDMA_OPTION_IB_PATH)
		return UCM_UNKNOWN;
	err = ucm_find_path(cmd, &rec);
	if (err)
		return err;
	id = ucm_id_get_bound(file, cmd->id);
	if (IS_ERR(id))
		return PTR_ERR(id);
	err = ucm_apply_path(id, &rec);
	ucm_id_release(id);
	return err;
}

int ucm_set_option(struct ucm_call *call)
{
	const struct rdma_ucm_set_option *cmd = &call->cmd.set_option;

	switch (cmd->level) {
	case RDMA_OPTION_ID:
		return ucm_set_id_option(call->file, cmd);
	case RDMA_OPTION_IB:
		return ucm_set_ib_option(call->file, cmd);
	default:
		return UCM_UNKNOWN;
	}
}
