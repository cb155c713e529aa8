// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ids: an rdma_cm_id, its number in commands, and the file it belongs to.
 *
 * The number is reserved when the id is created, and can be looked up once it was
 * reported to the process.  Until then the id belongs to the function that creates it,
 * or to the event that reports it.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/slab.h>

#include "ucm.h"

static DEFINE_XARRAY_ALLOC(ucm_ids);
static struct workqueue_struct *ucm_wq;

int ucm_ids_init(void)
{
	ucm_wq = alloc_workqueue("rdma_ucm", WQ_UNBOUND, 0);
	return ucm_wq ? 0 : -ENOMEM;
}

void ucm_ids_exit(void)
{
	destroy_workqueue(ucm_wq);
}

bool ucm_id_tryget(struct ucm_id *id)
{
	return refcount_inc_not_zero(&id->refs);
}

void ucm_id_put(struct ucm_id *id)
{
	if (!refcount_dec_and_test(&id->refs))
		return;
	mutex_destroy(&id->mutex);
	kfree_rcu(id, rcu);
}

/*
 * ucm_id_lock_file() - lock the file an id belongs to
 *
 * An id changes files under the locks of both.  The file that it left may be freed
 * after an RCU grace period.
 *
 * Return: the file; NULL, with nothing locked, if the id no longer belongs to a file.
 */
struct ucm_file *ucm_id_lock_file(struct ucm_id *id)
{
	struct ucm_file *file;

	rcu_read_lock();
	while ((file = READ_ONCE(id->file))) {
		spin_lock(&file->lock);
		if (likely(file == id->file)) {
			__release(&file->lock);	/* for sparse; unlocked later */
			break;
		}
		spin_unlock(&file->lock);
	}
	rcu_read_unlock();
	return file;
}

void ucm_file_unlock(struct ucm_file *file)
{
	__acquire(&file->lock);
	spin_unlock(&file->lock);
}

/* The device is being removed, which waits for the destruction of cm_id. */
static void ucm_id_close(struct work_struct *work)
{
	struct ucm_id *id = container_of(work, struct ucm_id, close_work);
	struct rdma_cm_id *cm_id;

	mutex_lock(&id->mutex);
	cm_id = id->cm_id;
	id->cm_id = NULL;
	mutex_unlock(&id->mutex);
	if (cm_id)
		rdma_destroy_id(cm_id);
	ucm_id_put(id);
}

/* For the handler, which cannot destroy its own cm_id. */
void ucm_id_close_later(struct ucm_id *id)
{
	refcount_inc(&id->refs);
	if (!queue_work(ucm_wq, &id->close_work))
		ucm_id_put(id);
}

/* @file: NULL for a request, which gets one when it is read. */
struct ucm_id *ucm_id_alloc(struct ucm_file *file)
{
	struct ucm_id *id;
	int err;

	id = kzalloc(sizeof(*id), GFP_KERNEL_ACCOUNT);
	if (!id)
		return ERR_PTR(-ENOMEM);
	err = xa_alloc(&ucm_ids, &id->nr, NULL, xa_limit_31b, GFP_KERNEL);
	if (err) {
		kfree(id);
		return ERR_PTR(err);
	}
	refcount_set(&id->refs, 1);
	mutex_init(&id->mutex);
	INIT_WORK(&id->close_work, ucm_id_close);
	INIT_LIST_HEAD(&id->file_node);
	INIT_LIST_HEAD(&id->events);
	INIT_LIST_HEAD(&id->mcasts);
	id->next_slot = 1;
	id->file = file;
	return id;
}

/* Frees an unreported id, but not its cm_id.  Takes no mutex, as the handler calls it. */
void ucm_id_discard(struct ucm_id *id)
{
	xa_erase(&ucm_ids, id->nr);
	ucm_id_put(id);
}

/* The number was reported to the process: from here on the id belongs to the file. */
void ucm_id_publish(struct ucm_id *id, struct ucm_file *file)
{
	spin_lock(&file->lock);
	id->file = file;
	list_add_tail(&id->file_node, &file->ids);
	spin_unlock(&file->lock);
	/* The entry is reserved, so this allocates no memory. */
	xa_store(&ucm_ids, id->nr, id, GFP_KERNEL);
}

/* Removes the id and its unread events from its file.  Returns how many were read. */
static u32 ucm_id_detach(struct ucm_id *id, struct list_head *events)
{
	struct ucm_event *ev, *next;
	struct ucm_file *file;
	u32 reported;

	file = ucm_id_lock_file(id);
	/* An unread request has no file and no events. */
	if (!file)
		return 0;
	WRITE_ONCE(id->file, NULL);
	list_del_init(&id->file_node);
	list_for_each_entry_safe(ev, next, &id->events, id_node)
		ucm_event_unlink(ev, events);
	reported = id->events_reported;
	ucm_file_unlock(file);
	return reported;
}

/*
 * ucm_id_end() - end an id that the caller owns and whose mutex it holds
 *
 * Why no reference remains except by those that notice that the id has ended:
 * (1) Commands: they run one at a time.  Those that wait for the mutex find destroyed
 *     set, and drop their reference.  None can find the number after it was erased.
 * (2) The handler: rdma_destroy_id() waits for it, also for that of requests to a
 *     listener.
 * (3) The close work: only the handler queues it.  It is cancelled or waited for: if
 *     it took cm_id first, it destroys cm_id.
 * (4) Its events, on its file's list and its own: removed under the lock, and freed;
 *     no handler is left to add one.
 * (5) An event that is being read holds a reference.  If it must be put back, it finds
 *     that the id has no file.
 * (6) Unread requests to the id belong to its events; each is ended, in this same way,
 *     when its event is freed.
 * (7) Multicast groups, by which LEAVE_MCAST finds the id: their numbers are erased.
 *     What rdma_cm had of them was freed with cm_id.
 *
 * Return: how many of its events were read.
 */
u32 ucm_id_end(struct ucm_id *id)
{
	struct rdma_cm_id *cm_id = id->cm_id;
	LIST_HEAD(events);
	u32 reported;

	id->destroyed = true;
	id->cm_id = NULL;
	mutex_unlock(&id->mutex);

	if (cm_id)
		rdma_destroy_id(cm_id);
	if (cancel_work_sync(&id->close_work))
		ucm_id_put(id);

	reported = ucm_id_detach(id, &events);
	xa_erase(&ucm_ids, id->nr);
	ucm_mcasts_end(id);
	ucm_events_drop(&events);
	ucm_id_put(id);
	return reported;
}

/* Whether @file may use @id, whose mutex is held: 0 or an error. */
int ucm_id_check(struct ucm_id *id, struct ucm_file *file)
{
	lockdep_assert_held(&id->mutex);
	if (id->destroyed)
		return -ENOENT;
	return id->file == file ? 0 : -EINVAL;
}

/*
 * ucm_id_get() - find an id by its number, for a command
 *
 * Return: the id, with a reference and its mutex held; -ENOENT if there is none;
 * -EINVAL if it belongs to another file.
 */
struct ucm_id *ucm_id_get(struct ucm_file *file, u32 nr)
{
	struct ucm_id *id;
	int err;

	rcu_read_lock();
	id = xa_load(&ucm_ids, nr);
	if (id && !ucm_id_tryget(id))
		id = NULL;
	rcu_read_unlock();
	if (!id)
		return ERR_PTR(-ENOENT);
	/* The mutex of another process's id may be held for a long time. */
	if (READ_ONCE(id->file) != file) {
		ucm_id_put(id);
		return ERR_PTR(-EINVAL);
	}

	mutex_lock(&id->mutex);
	err = ucm_id_check(id, file);
	if (!err)
		return id;
	ucm_id_release(id);
	return ERR_PTR(err);
}

void ucm_id_release(struct ucm_id *id)
{
	mutex_unlock(&id->mutex);
	ucm_id_put(id);
}

/* Like ucm_id_get(); -ENXIO if the device of the id was removed. */
struct ucm_id *ucm_id_get_live(struct ucm_file *file, u32 nr)
{
	struct ucm_id *id = ucm_id_get(file, nr);

	if (IS_ERR(id) || id->cm_id)
		return id;
	ucm_id_release(id);
	return ERR_PTR(-ENXIO);
}

/* Like ucm_id_get_live(); -EINVAL if the id is not bound to a device. */
struct ucm_id *ucm_id_get_bound(struct ucm_file *file, u32 nr)
{
	struct ucm_id *id = ucm_id_get_live(file, nr);

	if (IS_ERR(id) || id->cm_id->device)
		return id;
	ucm_id_release(id);
	return ERR_PTR(-EINVAL);
}

static int ucm_qp_type(const struct rdma_ucm_create_id *cmd, enum ib_qp_type *type)
{
	switch (cmd->ps) {
	case RDMA_PS_TCP:
		*type = IB_QPT_RC;
		return 0;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		*type = IB_QPT_UD;
		return 0;
	case RDMA_PS_IB:
		*type = cmd->qp_type;
		return 0;
	default:
		return -EINVAL;
	}
}

int ucm_create_id(struct ucm_call *call)
{
	const struct rdma_ucm_create_id *cmd = &call->cmd.create_id;
	struct rdma_ucm_create_id_resp resp = {};
	struct rdma_cm_id *cm_id;
	enum ib_qp_type qp_type;
	struct ucm_id *id;
	int err;

	err = ucm_qp_type(cmd, &qp_type);
	if (err)
		return err;
	id = ucm_id_alloc(call->file);
	if (IS_ERR(id))
		return PTR_ERR(id);
	id->uid = cmd->uid;
	id->named = true;

	cm_id = rdma_create_user_id(ucm_event_handler, id, cmd->ps, qp_type);
	if (IS_ERR(cm_id)) {
		err = PTR_ERR(cm_id);
		goto end;
	}
	id->cm_id = cm_id;
	resp.id = id->nr;
	err = ucm_respond(call, cmd->response, &resp, sizeof(resp));
	if (err)
		goto end;
	ucm_id_publish(id, call->file);
	return 0;

end:
	mutex_lock(&id->mutex);
	ucm_id_end(id);
	return err;
}

/* Reports how many of the id's events were read; none can be read after this. */
int ucm_destroy_id(struct ucm_call *call)
{
	const struct rdma_ucm_destroy_id *cmd = &call->cmd.destroy_id;
	struct rdma_ucm_destroy_id_resp resp = {};
	struct ucm_id *id;

	id = ucm_id_get(call->file, cmd->id);
	if (IS_ERR(id))
		return PTR_ERR(id);
	resp.events_reported = ucm_id_end(id);
	ucm_id_put(id);
	return ucm_respond(call, cmd->response, &resp, sizeof(resp));
}

static void ucm_files_lock(struct ucm_file *a, struct ucm_file *b)
	__acquires(&a->lock)
	__acquires(&b->lock)
{
	if (a > b)
		swap(a, b);
	spin_lock(&a->lock);
	spin_lock_nested(&b->lock, SINGLE_DEPTH_NESTING);
}

/* Moves an id and its events, which keep their order, behind @to's present events. */
static void ucm_id_move(struct ucm_id *id, struct ucm_file *from, struct ucm_file *to)
{
	struct ucm_event *ev;

	ucm_files_lock(from, to);
	WRITE_ONCE(id->file, to);
	list_move_tail(&id->file_node, &to->ids);
	list_for_each_entry(ev, &id->events, id_node)
		list_move_tail(&ev->file_node, &to->events);
	if (!list_empty(&id->events))
		wake_up_interruptible_all(&to->wait);
	spin_unlock(&from->lock);
	spin_unlock(&to->lock);
}

static int ucm_id_adopt(struct ucm_file *from, struct ucm_file *to, u32 nr,
			u32 *reported)
{
	struct ucm_file *file;
	struct ucm_id *id;

	id = ucm_id_get(from, nr);
	if (IS_ERR(id))
		return PTR_ERR(id);
	if (from != to)
		ucm_id_move(id, from, to);
	file = ucm_id_lock_file(id);
	*reported = id->events_reported;
	ucm_file_unlock(file);
	ucm_id_release(id);
	return 0;
}

/* Moves an id from the file that cmd->fd is to the file that is written to. */
int ucm_migrate_id(struct ucm_call *call)
{
	const struct rdma_ucm_migrate_id *cmd = &call->cmd.migrate_id;
	struct rdma_ucm_migrate_resp resp = {};
	struct file *from;
	int err = -EINVAL;

	from = fget(cmd->fd);
	if (!from)
		return -ENOENT;
	if (from->f_op == &ucm_fops)
		err = ucm_id_adopt(from->private_data, call->file, cmd->id,
				   &resp.events_reported);
	fput(from);
	return err ?: ucm_respond(call, cmd->response, &resp, sizeof(resp));
}
