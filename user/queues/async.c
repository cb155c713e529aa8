// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Asynchronous event descriptors: they report what happens to a device, its ports, and
 * the user objects that have events (struct uverbs_event_object).
 *
 * A file may have many descriptors.  Each gets the events of the device and its ports;
 * the events of an object go to the descriptor that the object was made with, or else
 * to the file's first.  An object holds a reference on its descriptor's memory, so an
 * event that happens after the descriptor was closed is merely dropped.
 *
 * Events are queued in hard interrupts.  An object counts its own events by kind: they
 * take no memory, so none is lost.  This matters because some happen only once (the
 * limit of an SRQ is armed anew by the process that reads that it was reached).  Kinds
 * are read in the order in which they first happened; when one event of a kind was read
 * and there are more, the kind moves to the end of the queue.
 *
 * Events of the device and its ports are read one by one in their order.  A descriptor
 * holds up to UVERBS_ASYNC_MAX of them.  Further events replace the oldest, so that the
 * last state of a port is reported.  The event that reports the removal of the device
 * is never dropped: it is part of the descriptor.
 */
#include <linux/export.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <kunit/visibility.h>
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/uverbs_named_ioctl.h>
#include <rdma/uverbs_std_types.h>

#include "call/call.h"
#include "queues/queues.h"
#include "uverbs/uverbs.h"

#define UVERBS_ASYNC_MAX 4096

/* An event of the device or of a port. */
struct device_event {
	struct uverbs_async_event base;
	struct list_head of_device;	/* on async->device_events; under queue.lock */
	u32 port;			/* 0 for an event of the device */
};

struct uverbs_async {
	struct uverbs_event_queue queue;
	struct ib_event_handler handler;
	struct list_head device_events;	/* unread, oldest first; under queue.lock */
	unsigned int nr_device_events;	/* likewise */
	unsigned int nr_dropped;	/* likewise */
	struct device_event fatal;	/* device removed; only on the queue */
};

static struct uverbs_async *to_async(struct uverbs_event_queue *queue)
{
	return container_of(queue, struct uverbs_async, queue);
}

static struct uverbs_async_event *to_event(struct uverbs_event *event)
{
	return container_of(event, struct uverbs_async_event, event);
}

static struct device_event *to_device_event(struct uverbs_async_event *event)
{
	return container_of(event, struct device_event, base);
}

static void async_put(struct uverbs_async *async)
{
	uverbs_uobject_put(&async->queue.uobject);
}

static void free_device_event(struct uverbs_async *async, struct device_event *event)
{
	if (event != &async->fatal)
		kfree(event);
}

/* ---- queueing events ---- */

/* Finds the slot of @obj for events of @type, or a free one; NULL if there is neither. */
static struct uverbs_async_event *object_event(struct uverbs_event_object *obj, u32 type)
{
	struct uverbs_async_event *event, *unused = NULL;

	for (event = obj->events; event < obj->events + UVERBS_OBJECT_EVENTS; event++) {
		if (!event->unread && !event->reading)
			unused = unused ?: event;
		else if (event->type == type)
			return event;
	}
	if (unused) {
		unused->obj = obj;
		unused->type = type;
	}
	return unused;
}

/* Returns false if the event was dropped. */
static bool take_in_object_event(struct uverbs_async *async,
				 struct uverbs_event_object *obj, u32 type)
{
	struct uverbs_async_event *event = object_event(obj, type);

	lockdep_assert_held(&async->queue.lock);
	if (!event || event->unread == U32_MAX)
		return false;
	if (!event->unread++)
		list_add_tail(&event->event.ready, &async->queue.ready);
	return true;
}

static void unlink_device_event(struct uverbs_async *async, struct device_event *event)
{
	lockdep_assert_held(&async->queue.lock);
	list_del(&event->base.event.ready);
	if (event == &async->fatal)
		return;
	list_del(&event->of_device);
	async->nr_device_events--;
}

/* Takes the oldest event of the device off all lists; NULL if there is none. */
static struct device_event *oldest_device_event(struct uverbs_async *async)
{
	struct device_event *oldest =
		list_first_entry_or_null(&async->device_events, struct device_event,
					 of_device);

	if (oldest)
		unlink_device_event(async, oldest);
	return oldest;
}

/* Returns false if an event was dropped: the oldest, or this one if there is no other. */
static bool take_in_device_event(struct uverbs_async *async, u32 port, u32 type)
{
	struct device_event *event = NULL;
	bool kept;

	lockdep_assert_held(&async->queue.lock);
	if (async->nr_device_events < UVERBS_ASYNC_MAX)
		event = kzalloc(sizeof(*event), GFP_ATOMIC | __GFP_NOWARN);
	kept = event;
	if (!kept)
		event = oldest_device_event(async);
	if (!event)
		return false;
	event->port = port;
	event->base.type = type;
	list_add_tail(&event->base.event.ready, &async->queue.ready);
	list_add_tail(&event->of_device, &async->device_events);
	async->nr_device_events++;
	return kept;
}

/* @obj: object of the event; NULL for an event of the device or of @port. */
static void async_notify(struct uverbs_async *async, struct uverbs_event_object *obj,
			 u32 port, enum ib_event_type type)
{
	bool closed, kept = true;
	unsigned long flags;

	spin_lock_irqsave(&async->queue.lock, flags);
	closed = async->queue.closed;
	if (!closed)
		kept = obj ? take_in_object_event(async, obj, type) :
			     take_in_device_event(async, port, type);
	if (!kept)
		async->nr_dropped++;
	spin_unlock_irqrestore(&async->queue.lock, flags);
	if (!closed)
		uverbs_event_queue_wake(&async->queue);
	if (!kept)
		pr_warn_ratelimited("ib_uverbs: at event \"%s\" one is dropped, of %u so far: too many are not read\n",
				    ib_event_msg(type), READ_ONCE(async->nr_dropped));
}

static void async_device_event(struct ib_event_handler *handler,
			       struct ib_event *event)
{
	async_notify(container_of(handler, struct uverbs_async, handler), NULL,
		     event->element.port_num, event->event);
}

/* ---- objects ---- */

/* Returns the file's first descriptor with a reference, or NULL if it has none. */
static struct uverbs_async *default_async(struct ib_uverbs_file *file)
{
	struct uverbs_async *async;

	rcu_read_lock();
	async = READ_ONCE(file->async);
	if (async && !kref_get_unless_zero(&async->queue.uobject.ref))
		async = NULL;
	rcu_read_unlock();
	return async;
}

int uverbs_event_object_init(struct uverbs_event_object *obj,
			     struct uverbs_attr_bundle *attrs, u16 fd_attr)
{
	struct ib_uobject *uobj;

	if (fd_attr == UVERBS_NO_ATTR || !uverbs_attr_is_valid(attrs, fd_attr)) {
		obj->async = default_async(attrs->ufile);
		return 0;
	}
	uobj = uverbs_attr_get_uobject(attrs, fd_attr);
	uverbs_uobject_get(uobj);
	obj->async = container_of(uobj, struct uverbs_async, queue.uobject);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_event_object_init);

/*
 * No reference to the object remains at its descriptor: (1) its driver raises no more
 * events; (2) those it raised are off the queue; (3) a reader that is copying one of
 * them holds a reference of its own, and sees that the object has no descriptor any
 * more.
 */
void uverbs_event_object_exit(struct uverbs_event_object *obj)
{
	struct uverbs_async *async = obj->async;
	struct uverbs_async_event *event;

	if (!async)
		return;
	spin_lock_irq(&async->queue.lock);
	for (event = obj->events; event < obj->events + UVERBS_OBJECT_EVENTS; event++) {
		if (event->unread)
			list_del(&event->event.ready);
		event->unread = 0;
	}
	obj->async = NULL;
	spin_unlock_irq(&async->queue.lock);
	async_put(async);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_event_object_exit);

/*
 * A driver that refuses even the last call to destroy an object may still raise events
 * for it.  So the user object, to which these events refer, is never freed.
 */
void uverbs_event_object_refused(struct uverbs_event_object *obj,
				 enum rdma_remove_reason why)
{
	if (why == RDMA_REMOVE_DRIVER_FAILURE)
		uverbs_uobject_get(&obj->uobject);
}

void uverbs_event_object_notify(struct uverbs_event_object *obj,
				enum ib_event_type event)
{
	if (obj->async)
		async_notify(obj->async, obj, 0, event);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_event_object_notify);

/* ---- reading ---- */

static void async_take(struct uverbs_event_queue *queue, struct uverbs_event *base,
		       void *to)
{
	struct uverbs_async_event *event = to_event(base);
	struct uverbs_event_object *obj = event->obj;
	struct ib_uverbs_async_event_desc *desc = to;

	desc->event_type = event->type;
	desc->reserved = 0;
	if (!obj) {
		desc->element = to_device_event(event)->port;
		unlink_device_event(to_async(queue), to_device_event(event));
		return;
	}
	desc->element = obj->uobject.user_handle;
	obj->events_reported++;
	event->reading++;
	if (--event->unread)
		list_move_tail(&base->ready, &queue->ready);
	else
		list_del(&base->ready);
	uverbs_uobject_get(&obj->uobject);
}

static void put_back_object_event(struct uverbs_event_queue *queue,
				  struct uverbs_async_event *event)
{
	struct uverbs_event_object *obj = event->obj;

	event->reading--;
	if (obj->async) {
		obj->events_reported--;
		if (event->unread++)
			list_del(&event->event.ready);
		list_add(&event->event.ready, &queue->ready);
	}
	uverbs_uobject_put(&obj->uobject);
}

static void async_put_back(struct uverbs_event_queue *queue, struct uverbs_event *base)
{
	struct uverbs_async_event *event = to_event(base);
	struct uverbs_async *async = to_async(queue);

	if (event->obj) {
		put_back_object_event(queue, event);
		return;
	}
	list_add(&base->ready, &queue->ready);
	if (to_device_event(event) == &async->fatal)
		return;
	list_add(&to_device_event(event)->of_device, &async->device_events);
	async->nr_device_events++;
}

static void async_read(struct uverbs_event_queue *queue, struct uverbs_event *base)
{
	struct uverbs_async_event *event = to_event(base);
	struct uverbs_event_object *obj = event->obj;

	if (!obj) {
		free_device_event(to_async(queue), to_device_event(event));
		return;
	}
	spin_lock_irq(&queue->lock);
	event->reading--;
	spin_unlock_irq(&queue->lock);
	uverbs_uobject_put(&obj->uobject);
}

static const struct uverbs_event_ops async_ops = {
	.desc_size = sizeof(struct ib_uverbs_async_event_desc),
	.take = async_take,
	.put_back = async_put_back,
	.read = async_read,
};

/* ---- descriptors ---- */

static void async_init(struct uverbs_async *async)
{
	struct ib_uobject *uobj = &async->queue.uobject;

	uverbs_event_queue_init(&async->queue, &async_ops);
	INIT_LIST_HEAD(&async->device_events);
	async->fatal.base.type = IB_EVENT_DEVICE_FATAL;
	uverbs_uobject_get(uobj);
	if (cmpxchg(&uobj->ufile->async, NULL, async))
		uverbs_uobject_put(uobj);
	INIT_IB_EVENT_HANDLER(&async->handler, uobj->context->device,
			      async_device_event);
	ib_register_event_handler(&async->handler);
}

struct ib_uobject *uverbs_async_begin(struct uverbs_attr_bundle *attrs)
{
	struct ib_device *ibdev;
	struct ib_uobject *uobj = uobj_alloc(UVERBS_OBJECT_ASYNC_EVENT, attrs, &ibdev);

	if (!IS_ERR(uobj))
		async_init(container_of(uobj, struct uverbs_async, queue.uobject));
	return uobj;
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_async_begin);

static void async_drop_unread(struct uverbs_async *async)
{
	struct uverbs_async_event *event, *next;
	LIST_HEAD(unread);

	spin_lock_irq(&async->queue.lock);
	list_for_each_entry_safe(event, next, &async->queue.ready, event.ready) {
		event->unread = 0;
		if (event->obj)
			list_del(&event->event.ready);
	}
	list_splice_init(&async->queue.ready, &unread);
	INIT_LIST_HEAD(&async->device_events);
	async->nr_device_events = 0;
	spin_unlock_irq(&async->queue.lock);

	list_for_each_entry_safe(event, next, &unread, event.ready)
		free_device_event(async, to_device_event(event));
}

/* If @async is the file's default descriptor, drops the file's reference on it. */
static void async_unset_default(struct ib_uverbs_file *file, struct uverbs_async *async)
{
	if (cmpxchg(&file->async, async, NULL) == async)
		async_put(async);
}

/* Readers can still read the events that are queued. */
static void async_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why)
{
	struct uverbs_async *async = container_of(uobj, struct uverbs_async,
						  queue.uobject);

	ib_unregister_event_handler(&async->handler);
	uverbs_event_queue_close(&async->queue);
	if (why == RDMA_REMOVE_ABORT) {
		/* uverbs_async_release() does nothing for an aborted descriptor. */
		async_drop_unread(async);
		async_unset_default(uobj->ufile, async);
	}
}

/* The queue is closed by then, so no event is queued after those that are dropped. */
int uverbs_async_release(struct inode *inode, struct file *filp)
{
	struct ib_uobject *uobj = filp->private_data;
	int ret;

	if (!uobj)
		return 0;
	uverbs_uobject_get(uobj);
	ret = uverbs_uobject_fd_release(inode, filp);
	async_drop_unread(container_of(uobj, struct uverbs_async, queue.uobject));
	uverbs_uobject_put(uobj);
	return ret;
}

void uverbs_async_forget(struct ib_uverbs_file *file)
{
	if (file->async)
		async_unset_default(file, file->async);
}

static void async_set_fatal(struct uverbs_async *async)
{
	spin_lock_irq(&async->queue.lock);
	list_add_tail(&async->fatal.base.event.ready, &async->queue.ready);
	spin_unlock_irq(&async->queue.lock);
	uverbs_event_queue_wake(&async->queue);
}

void uverbs_async_device_fatal(struct ib_uverbs_file *file)
{
	struct ib_uobject *uobj;

	/* Nothing else changes the list during teardown. */
	lockdep_assert_held_write(&file->teardown_sem);
	list_for_each_entry(uobj, &file->objects, list)
		if (uobj_get_object_id(uobj) == UVERBS_OBJECT_ASYNC_EVENT)
			async_set_fatal(container_of(uobj, struct uverbs_async,
						     queue.uobject));
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_async_device_fatal);

/* ---- methods ---- */

static int UVERBS_HANDLER(UVERBS_METHOD_ASYNC_EVENT_ALLOC)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj =
		uverbs_attr_get_uobject(attrs, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE);

	async_init(container_of(uobj, struct uverbs_async, queue.uobject));
	uverbs_finalize_uobj_create(attrs, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE);
	return 0;
}

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_ASYNC_EVENT_ALLOC,
	UVERBS_ATTR_FD(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE,
		       UVERBS_OBJECT_ASYNC_EVENT, UVERBS_ACCESS_NEW, UA_MANDATORY));

static const struct file_operations async_fops = {
	.owner = THIS_MODULE,
	.read = uverbs_event_read,
	.poll = uverbs_event_poll,
	.fasync = uverbs_event_fasync,
	.release = uverbs_async_release,
};

DECLARE_UVERBS_NAMED_OBJECT(UVERBS_OBJECT_ASYNC_EVENT,
			    UVERBS_TYPE_ALLOC_FD(sizeof(struct uverbs_async),
						 async_destroy, &async_fops,
						 "[infinibandevent]", O_RDONLY),
			    &UVERBS_METHOD(UVERBS_METHOD_ASYNC_EVENT_ALLOC));

const struct uapi_definition uverbs_async_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_ASYNC_EVENT),
	{}
};
