// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Events: from the handler of an id to the reader of its file.
 *
 * The events of a file are read in the order in which they occurred, regardless of
 * their ids.  Each event is on its id's list, too, which the end and the migration of
 * the id walk.
 */
#include <linux/slab.h>
#include <rdma/ib_marshall.h>

#include "ucm.h"

/* Returns the length. */
static u8 ucm_copy_private_data(u8 *to, const void *from, u8 len)
{
	if (len)
		memcpy(to, from, len);
	return len;
}

/* A multicast event's private_data is a context, not data, but has length 0. */
static void ucm_ud_to_user(struct rdma_ucm_ud_param *to, struct ib_device *device,
			   const struct rdma_ud_param *from)
{
	struct rdma_ah_attr ah_attr = from->ah_attr;

	to->qkey = from->qkey;
	to->qp_num = from->qp_num;
	to->private_data_len = ucm_copy_private_data(to->private_data, from->private_data,
						     from->private_data_len);
	ib_copy_ah_attr_to_user(device, &to->ah_attr, &ah_attr);
}

static void ucm_conn_to_user(struct rdma_ucm_conn_param *to,
			     const struct rdma_conn_param *from)
{
	ucm_copy_conn_fields(to, from);
	to->private_data_len = ucm_copy_private_data(to->private_data, from->private_data,
						     from->private_data_len);
}

/* Allocates the event that reports @event to @id; @cm_id is @id's or a new request's. */
struct ucm_event *ucm_event_alloc(struct ucm_id *id, struct rdma_cm_id *cm_id,
				  const struct rdma_cm_event *event, gfp_t gfp)
{
	struct ucm_event *ev;

	ev = kzalloc(sizeof(*ev), gfp);
	if (!ev)
		return NULL;
	ev->id = id;
	ev->resp.uid = id->uid;
	ev->resp.id = id->nr;
	ev->resp.event = event->event;
	ev->resp.status = event->status;
	ev->resp.ece = event->ece;
	if (cm_id->qp_type == IB_QPT_UD)
		ucm_ud_to_user(&ev->resp.param.ud, cm_id->device, &event->param.ud);
	else
		ucm_conn_to_user(&ev->resp.param.conn, &event->param.conn);
	return ev;
}

static void ucm_event_link(struct ucm_event *ev, struct ucm_file *file)
{
	lockdep_assert_held(&file->lock);
	list_add_tail(&ev->file_node, &file->events);
	list_add_tail(&ev->id_node, &ev->id->events);
	/* Under the lock: once the id has left the file, the file may be freed. */
	wake_up_interruptible(&file->wait);
}

/* Called under the lock of its id's file. */
void ucm_event_unlink(struct ucm_event *ev, struct list_head *to)
{
	if (ev->request)
		ev->id->waiting--;
	list_del(&ev->file_node);
	list_move_tail(&ev->id_node, to);
}

static void ucm_event_drop(struct ucm_event *ev)
{
	if (ev->request) {
		mutex_lock(&ev->request->mutex);
		ucm_id_end(ev->request);
	}
	kfree(ev);
}

/* Frees events that are linked by id_node only, and rejects the requests among them. */
void ucm_events_drop(struct list_head *list)
{
	struct ucm_event *ev, *next;

	list_for_each_entry_safe(ev, next, list, id_node)
		ucm_event_drop(ev);
}

/* One unread ADDR_CHANGE is enough: a link that flaps must not fill the memory. */
static bool ucm_event_is_news(const struct ucm_event *ev)
{
	const struct ucm_event *last;

	if (ev->resp.event != RDMA_CM_EVENT_ADDR_CHANGE || list_empty(&ev->id->events))
		return true;
	last = list_last_entry(&ev->id->events, struct ucm_event, id_node);
	return last->resp.event != RDMA_CM_EVENT_ADDR_CHANGE;
}

/* Takes over @ev, whose id must have a file. */
void ucm_event_queue(struct ucm_event *ev)
{
	struct ucm_file *file = ucm_id_lock_file(ev->id);
	bool queue = ucm_event_is_news(ev);

	if (queue)
		ucm_event_link(ev, file);
	ucm_file_unlock(file);
	if (!queue)
		kfree(ev);
}

static bool ucm_event_is_mcast(const struct rdma_cm_event *event)
{
	return event->event == RDMA_CM_EVENT_MULTICAST_JOIN ||
	       event->event == RDMA_CM_EVENT_MULTICAST_ERROR;
}

/* Like ucm_event_queue(), for a group's event; drops it if the group was just left. */
static void ucm_event_queue_mcast(struct ucm_event *ev, const void *context)
{
	struct ucm_file *file = ucm_id_lock_file(ev->id);
	struct ucm_mcast *mc = ucm_mcast_by_slot(ev->id, context);

	if (mc) {
		ev->mcast = mc;
		ev->resp.uid = mc->uid;
		ev->resp.id = mc->nr;
		ucm_event_link(ev, file);
	}
	ucm_file_unlock(file);
	if (!mc)
		kfree(ev);
}

/*
 * The id of a request has no uid before the process accepts the request, so events
 * before that cannot be reported and are dropped; accepting then fails.
 *
 * A lost event would make the process wait forever, so the allocation waits for
 * memory.
 */
static void ucm_event_report(struct ucm_id *id, struct rdma_cm_id *cm_id,
			     const struct rdma_cm_event *event)
{
	struct ucm_event *ev;

	if (!id->named)
		return;
	ev = ucm_event_alloc(id, cm_id, event, GFP_KERNEL | __GFP_NOFAIL);
	if (ucm_event_is_mcast(event))
		ucm_event_queue_mcast(ev, event->param.ud.private_data);
	else
		ucm_event_queue(ev);
}

static bool ucm_request_queue(struct ucm_event *ev)
{
	struct ucm_file *file = ucm_id_lock_file(ev->id);
	bool queue = ev->id->waiting < ev->id->backlog;

	if (queue) {
		ev->id->waiting++;
		ucm_event_link(ev, file);
	}
	ucm_file_unlock(file);
	return queue;
}

/*
 * Creates the id for a request; it belongs to its event until the event is read.
 *
 * Return: 0; an error, on which rdma_cm rejects the request and destroys @cm_id.
 */
static int ucm_request(struct ucm_id *listener, struct rdma_cm_id *cm_id,
		       const struct rdma_cm_event *event)
{
	struct ucm_event *ev;
	struct ucm_id *id;

	ev = ucm_event_alloc(listener, cm_id, event, GFP_KERNEL);
	if (!ev)
		return -ENOMEM;
	id = ucm_id_alloc(NULL);
	if (IS_ERR(id)) {
		kfree(ev);
		return PTR_ERR(id);
	}
	id->cm_id = cm_id;
	cm_id->context = id;
	ev->request = id;
	ev->resp.id = id->nr;
	if (ucm_request_queue(ev))
		return 0;

	/* The caller, rdma_cm, destroys cm_id. */
	ucm_id_discard(id);
	kfree(ev);
	return -EBUSY;
}

/*
 * ucm_event_handler() - the handler of all ids
 *
 * The removal of a device waits until the device's ids are destroyed.  An id cannot be
 * destroyed in its own handler, and its destruction must not be left to the process,
 * so ucm_id_close() does it.
 */
int ucm_event_handler(struct rdma_cm_id *cm_id, struct rdma_cm_event *event)
{
	struct ucm_id *id = cm_id->context;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return ucm_request(id, cm_id, event);
	ucm_event_report(id, cm_id, event);
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
		ucm_id_close_later(id);
	return 0;
}

/* ---- reading ---- */

/* Takes the file's first event, or returns NULL.  From here on it counts as reported. */
static struct ucm_event *ucm_event_take(struct ucm_file *file)
{
	struct ucm_event *ev;

	spin_lock(&file->lock);
	ev = list_first_entry_or_null(&file->events, struct ucm_event, file_node);
	if (ev) {
		list_del(&ev->file_node);
		list_del(&ev->id_node);
		refcount_inc(&ev->id->refs);
		ev->id->events_reported++;
		if (ev->request)
			ev->id->waiting--;
		if (ev->mcast) {
			refcount_inc(&ev->mcast->refs);
			ev->mcast->events_reported++;
		}
	}
	spin_unlock(&file->lock);
	return ev;
}

static void ucm_event_put_owners(struct ucm_id *id, struct ucm_mcast *mc)
{
	if (mc)
		ucm_mcast_put(mc);
	ucm_id_put(id);
}

/* Puts the event back to where it was: before all others. */
static void ucm_event_relink(struct ucm_event *ev, struct ucm_file *file)
{
	lockdep_assert_held(&file->lock);
	list_add(&ev->file_node, &file->events);
	list_add(&ev->id_node, &ev->id->events);
	if (ev->request)
		ev->id->waiting++;
	wake_up_interruptible(&file->wait);
}

/*
 * Puts back an event that could not be copied to the process, as if it had not been
 * taken, or drops it if its id or group has ended meanwhile.
 */
static void ucm_event_return(struct ucm_event *ev)
{
	struct ucm_mcast *mc = ev->mcast;
	struct ucm_id *id = ev->id;
	struct ucm_file *file;
	bool back = false;

	file = ucm_id_lock_file(id);
	if (file) {
		id->events_reported--;
		if (mc)
			mc->events_reported--;
		back = !mc || !mc->left;
		if (back)
			ucm_event_relink(ev, file);
		ucm_file_unlock(file);
	}
	if (!back)
		ucm_event_drop(ev);
	ucm_event_put_owners(id, mc);
}

static int ucm_event_wait(struct ucm_call *call, struct ucm_event **ev)
{
	struct ucm_file *file = call->file;

	while (!(*ev = ucm_event_take(file))) {
		if (call->nonblock)
			return -EAGAIN;
		if (wait_event_interruptible_exclusive(file->wait,
						       !list_empty(&file->events)))
			return -ERESTARTSYS;
	}
	return 0;
}

int ucm_get_event(struct ucm_call *call)
{
	struct ucm_event *ev;
	int err;

	err = ucm_event_wait(call, &ev);
	if (err)
		return err;
	err = ucm_respond(call, call->cmd.get_event.response, &ev->resp,
			  sizeof(ev->resp));
	if (err) {
		ucm_event_return(ev);
		return err;
	}
	if (ev->request)
		ucm_id_publish(ev->request, call->file);
	ucm_event_put_owners(ev->id, ev->mcast);
	kfree(ev);
	return 0;
}
