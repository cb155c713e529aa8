// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ids: an rdma_cm_id, what the process calls it, and which file it belongs to.
 *
 * The number is reserved when the id is made, and can be looked up when the process
 * was told: until then the id belongs to who makes it, or to the event that tells.
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
 * An id changes files under the locks of both; the file that it left may be gone as
 * soon as RCU lets it.
 *
 * Return: the file; NULL, and nothing is locked, if the id is in none any more.
 */
struct ucm_file *ucm_id_lock_file(struct ucm_id *id)
{
	struct ucm_file *file;

	rcu_read_lock();
	while ((file = READ_ONCE(id->file))) {
		spin_lock(&file->lock);
		if (likely(file == id->file)) {
			__release(&file->lock);	/* ucm_file_unlock() really does */
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

/* The device is to go, and waits for cm_id's end. */
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

/* For the handler, which cannot end its own cm_id. */
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

/* One that nobody was told of, nor is its cm_id ours.  In a handler no mutex is taken. */
void ucm_id_discard(struct ucm_id *id)
{
	xa_erase(&ucm_ids, id->nr);
	ucm_id_put(id);
}

/* The process knows it: from here on it is the file's. */
void ucm_id_publish(struct ucm_id *id, struct ucm_file *file)
{
	spin_lock(&file->lock);
	id->file = file;
	list_add_tail(&id->file_node, &file->ids);
	spin_unlock(&file->lock);
	/* Reserved, so it takes no memory. */
	xa_store(&ucm_ids, id->nr, id, GFP_KERNEL);
}

/* Takes what a process might yet read of it; answers how many it did read. */
static u32 ucm_id_detach(struct ucm_id *id, struct list_head *events)
{
	struct ucm_event *ev, *next;
	struct ucm_file *file;
	u32 reported;

	file = ucm_id_lock_file(id);
	/* A request that was not read has no events. */
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
 * ucm_id_end() - end an id whose mutex the caller holds, and who owns it
 *
 * Why no reference remains but those that see that it is over:
 * (1) Commands: one at a time; those that wait for the mutex find destroyed set,
 *     and drop their reference.  None can find the number after it was erased.
 * (2) The handler: rdma_destroy_id() waits for it; requests to a listener included.
 * (3) The close work: only the handler queues it.  It is cancelled, or waited for:
 *     if it got hold of cm_id first, it is who destroys it.
 * (4) Its events, in its file's list and its own: taken out under the lock, and
 *     freed; no handler is left to add one.
 * (5) An event that is being read has a reference, and finds no file should it want
 *     to go back.
 * (6) Requests not read: events; they are ended as we are.
 * (7) Multicast groups, by which LEAVE_MCAST finds the id: their numbers are erased.
 *     rdma_cm's part of them went with cm_id.
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

/* Whether @file may speak of @id, whose mutex is held. */
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
 * Return: the id, with a reference and its mutex; -ENOENT if there is none; -EINVAL
 * if it is of another file.
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
	/* Another process's may be busy for long. */
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

/* As ucm_id_get(); -ENXIO if the device was removed under it. */
struct ucm_id *ucm_id_get_live(struct ucm_file *file, u32 nr)
{
	struct ucm_id *id = ucm_id_get(file, nr);

	if (IS_ERR(id) || id->cm_id)
		return id;
	ucm_id_release(id);
	return ERR_PTR(-ENXIO);
}

/* As ucm_id_get_live(); -EINVAL if it is not on a device. */
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

/*
 * Of what is read of the id's events before this returns, the process is told the
 * count; after, nothing is.
 */
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

/* With its events, which keep their order, behind those that are there. */
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

/* To the file that is written to, from the one that cmd->fd is. */
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
