// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * An open /dev/infiniband/rdma_cm, which librdmacm calls an event channel: its
 * commands, each of which is one write(2), and its release.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/ib.h>

#include "ucm.h"

struct ucm_command {
	int (*run)(struct ucm_call *call);
	u16 min_in;		/* what the oldest program of this ABI sends */
	u16 in;			/* what we know; anything beyond is ignored */
	u16 min_out;
};

#define UCM_COMMAND(_run, _type, _last, _min_out) {			\
	.run = _run,							\
	.min_in = offsetofend(struct rdma_ucm_##_type, _last),		\
	.in = sizeof(struct rdma_ucm_##_type),				\
	.min_out = _min_out,						\
}

#define UCM_ID_RESP	sizeof(struct rdma_ucm_create_id_resp)
#define UCM_END_RESP	sizeof(struct rdma_ucm_destroy_id_resp)
#define UCM_QP_RESP	sizeof(struct ib_uverbs_qp_attr)
#define UCM_MOVE_RESP	sizeof(struct rdma_ucm_migrate_resp)

/* GET_OPTION has never existed. */
static const struct ucm_command ucm_commands[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] =
		UCM_COMMAND(ucm_create_id, create_id, reserved, UCM_ID_RESP),
	[RDMA_USER_CM_CMD_DESTROY_ID] =
		UCM_COMMAND(ucm_destroy_id, destroy_id, id, UCM_END_RESP),
	[RDMA_USER_CM_CMD_BIND_IP] = UCM_COMMAND(ucm_bind_ip, bind_ip, id, 0),
	[RDMA_USER_CM_CMD_RESOLVE_IP] =
		UCM_COMMAND(ucm_resolve_ip, resolve_ip, timeout_ms, 0),
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] =
		UCM_COMMAND(ucm_resolve_route, resolve_route, timeout_ms, 0),
	[RDMA_USER_CM_CMD_QUERY_ROUTE] =
		UCM_COMMAND(ucm_query_route, query, id, UCM_ROUTE_MIN),
	[RDMA_USER_CM_CMD_CONNECT] = UCM_COMMAND(ucm_connect, connect, reserved, 0),
	[RDMA_USER_CM_CMD_LISTEN] = UCM_COMMAND(ucm_listen, listen, backlog, 0),
	[RDMA_USER_CM_CMD_ACCEPT] = UCM_COMMAND(ucm_accept, accept, reserved, 0),
	[RDMA_USER_CM_CMD_REJECT] = UCM_COMMAND(ucm_reject, reject, private_data, 0),
	[RDMA_USER_CM_CMD_DISCONNECT] = UCM_COMMAND(ucm_disconnect, disconnect, id, 0),
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] =
		UCM_COMMAND(ucm_init_qp_attr, init_qp_attr, qp_state, UCM_QP_RESP),
	[RDMA_USER_CM_CMD_GET_EVENT] =
		UCM_COMMAND(ucm_get_event, get_event, response, UCM_EVENT_MIN),
	[RDMA_USER_CM_CMD_SET_OPTION] =
		UCM_COMMAND(ucm_set_option, set_option, optlen, 0),
	[RDMA_USER_CM_CMD_NOTIFY] = UCM_COMMAND(ucm_notify, notify, event, 0),
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] =
		UCM_COMMAND(ucm_join_ip_mcast, join_ip_mcast, id, UCM_ID_RESP),
	[RDMA_USER_CM_CMD_LEAVE_MCAST] =
		UCM_COMMAND(ucm_leave_mcast, destroy_id, id, UCM_END_RESP),
	[RDMA_USER_CM_CMD_MIGRATE_ID] =
		UCM_COMMAND(ucm_migrate_id, migrate_id, fd, UCM_MOVE_RESP),
	[RDMA_USER_CM_CMD_QUERY] = UCM_COMMAND(ucm_query, query, option, 0),
	[RDMA_USER_CM_CMD_BIND] = UCM_COMMAND(ucm_bind, bind, addr, 0),
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] =
		UCM_COMMAND(ucm_resolve_addr, resolve_addr, dst_addr, 0),
	[RDMA_USER_CM_CMD_JOIN_MCAST] =
		UCM_COMMAND(ucm_join_mcast, join_mcast, addr, UCM_ID_RESP),
};

int ucm_respond(const struct ucm_call *call, u64 response, const void *resp,
		size_t len)
{
	len = min_t(size_t, len, call->room);
	return copy_to_user(u64_to_user_ptr(response), resp, len) ? -EFAULT : 0;
}

/*
 * The data in user memory tells the kernel what to do and where to write.  It must be
 * written with the credentials of the opener, not by a privileged process that was
 * given the file as its output.
 */
static bool ucm_writer_ok(struct file *filp)
{
	if (ib_safe_file_access(filp))
		return true;
	pr_warn_ratelimited("rdma_ucm: %s (pid %d) has other credentials than who opened the file\n",
			    current->comm, task_tgid_vnr(current));
	return false;
}

static ssize_t ucm_write(struct file *filp, const char __user *buf, size_t len,
			 loff_t *pos)
{
	struct ucm_call call = {
		.file = filp->private_data,
		.nonblock = filp->f_flags & O_NONBLOCK,
	};
	const struct ucm_command *command;
	struct rdma_ucm_cmd_hdr hdr;
	int err;

	if (!ucm_writer_ok(filp))
		return -EACCES;
	if (len < sizeof(hdr))
		return -EINVAL;
	if (copy_from_user(&hdr, buf, sizeof(hdr)))
		return -EFAULT;
	if (hdr.cmd >= ARRAY_SIZE(ucm_commands) || hdr.in > len - sizeof(hdr))
		return -EINVAL;

	command = &ucm_commands[array_index_nospec(hdr.cmd, ARRAY_SIZE(ucm_commands))];
	if (!command->run)
		return UCM_UNKNOWN;
	if (hdr.in < command->min_in)
		return -EINVAL;
	if (hdr.out < command->min_out)
		return -ENOSPC;
	if (copy_from_user(&call.cmd, buf + sizeof(hdr), min(hdr.in, command->in)))
		return -EFAULT;

	call.room = hdr.out;
	err = command->run(&call);
	return err ?: len;
}

static __poll_t ucm_poll(struct file *filp, struct poll_table_struct *wait)
{
	struct ucm_file *file = filp->private_data;

	poll_wait(filp, &file->wait, wait);
	return list_empty(&file->events) ? 0 : EPOLLIN | EPOLLRDNORM;
}

static int ucm_open(struct inode *inode, struct file *filp)
{
	struct ucm_file *file;

	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return -ENOMEM;
	spin_lock_init(&file->lock);
	INIT_LIST_HEAD(&file->ids);
	INIT_LIST_HEAD(&file->events);
	init_waitqueue_head(&file->wait);
	filp->private_data = file;
	return stream_open(inode, filp);
}

static struct ucm_id *ucm_file_first_id(struct ucm_file *file)
{
	struct ucm_id *id;

	spin_lock(&file->lock);
	id = list_first_entry_or_null(&file->ids, struct ucm_id, file_node);
	spin_unlock(&file->lock);
	return id;
}

/*
 * Why no reference to the file remains when its memory is freed:
 * (1) Commands: each holds the struct file, which is released only after the last of
 *     them.  MIGRATE_ID, a command of another file, holds it as well.  So no id joins
 *     or leaves the file meanwhile, and this function owns the ids that it finds.
 * (2) Its ids: each leaves the file under its lock, in ucm_id_end().  An unread
 *     request belongs to an event of its listener, and ends with that event.
 * (3) Events: each belongs to one of the file's ids.
 * (4) Handlers of an id that has moved to another file: they look at this file under
 *     RCU, and find under its lock that the id has moved; the memory is freed by
 *     kfree_rcu().
 */
static int ucm_release(struct inode *inode, struct file *filp)
{
	struct ucm_file *file = filp->private_data;
	struct ucm_id *id;

	while ((id = ucm_file_first_id(file))) {
		mutex_lock(&id->mutex);
		ucm_id_end(id);
	}
	WARN_ON(!list_empty(&file->events));
	kfree_rcu(file, rcu);
	return 0;
}

const struct file_operations ucm_fops = {
	.owner		= THIS_MODULE,
	.open		= ucm_open,
	.release	= ucm_release,
	.write		= ucm_write,
	.poll		= ucm_poll,
};
EXPORT_SYMBOL_IF_KUNIT(ucm_fops);
