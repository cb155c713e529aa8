// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Asynchronous event descriptors: what happens to a device, its ports, and the user
 * objects that have events (struct uverbs_event_object).
 *
 * A file may have many.  Each hears of the device and the ports; an object's events go to
 * the one it was made with, or else to the file's first.  An object holds that
 * descriptor's memory, so an event that comes after its close is merely dropped.
 *
 * Events are taken in from hard interrupts.  A descriptor holds UVERBS_ASYNC_MAX that
 * are not read; what comes beyond that is dropped and counted.  That the device is gone
 * is never dropped: that event is part of the descriptor.
 */
#include <linux/export.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <kunit/visibility.h>
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/uverbs_named_ioctl.h>
#include <rdma/uverbs_std_types.h>

#include "uverbs.h"

#define UVERBS_ASYNC_MAX 4096

struct async_event {
	struct uverbs_event base;
	struct list_head of_object;	/* obj->events; under the queue's lock */
	struct uverbs_event_object *obj; /* NULL: the device's or a port's */
	struct ib_uverbs_async_event_desc desc;
};

struct uverbs_async {
	struct uverbs_event_queue queue;
	struct ib_event_handler handler;
	unsigned int nr_unread;		/* under queue.lock */
	unsigned int nr_dropped;	/* likewise */
	struct async_event fatal;	/* the device is gone */
};

static struct uverbs_async *to_async(struct uverbs_event_queue *queue)
{
	return container_of(queue, struct uverbs_async, queue);
}

static void async_put(struct uverbs_async *async)
{
	uverbs_uobject_put(&async->queue.uobject);
}

static void free_event(struct uverbs_async *async, struct async_event *event)
{
	if (event != &async->fatal)
		kfree(event);
}

/* ---- taking events in ---- */

static void queue_event(struct uverbs_async *async, struct async_event *event,
			struct uverbs_event_object *obj, u64 element,
			enum ib_event_type type)
{
	lockdep_assert_held(&async->queue.lock);
	event->desc.element = element;
	event->desc.event_type = type;
	event->desc.reserved = 0;
	event->obj = obj;
	INIT_LIST_HEAD(&event->of_object);
	if (obj)
		list_add_tail(&event->of_object, &obj->events);
	list_add_tail(&event->base.ready, &async->queue.ready);
	async->nr_unread++;
}

/* Whether there was room and memory for it. */
static bool take_in(struct uverbs_async *async, struct uverbs_event_object *obj,
		    u64 element, enum ib_event_type type)
{
	struct async_event *event = NULL;

	if (async->nr_unread < UVERBS_ASYNC_MAX)
		event = kmalloc(sizeof(*event), GFP_ATOMIC | __GFP_NOWARN);
	if (event)
		queue_event(async, event, obj, element, type);
	else
		async->nr_dropped++;
	return event;
}

static void async_notify(struct uverbs_async *async, struct uverbs_event_object *obj,
			 u64 element, enum ib_event_type type)
{
	unsigned long flags;
	bool closed, taken = false;

	spin_lock_irqsave(&async->queue.lock, flags);
	closed = async->queue.closed;
	if (!closed)
		taken = take_in(async, obj, element, type);
	spin_unlock_irqrestore(&async->queue.lock, flags);
	if (taken)
		uverbs_event_queue_wake(&async->queue);
	else if (!closed)
		pr_warn_ratelimited("ib_uverbs: event \"%s\" is dropped, one of %u: %u wait to be read\n",
				    ib_event_msg(type), READ_ONCE(async->nr_dropped),
				    READ_ONCE(async->nr_unread));
}

static void async_device_event(struct ib_event_handler *handler,
			       struct ib_event *event)
{
	async_notify(container_of(handler, struct uverbs_async, handler), NULL,
		     event->element.port_num, event->event);
}

/* ---- objects ---- */

/* The file's first descriptor with a reference, or NULL. */
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

	INIT_LIST_HEAD(&obj->events);
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
 * No reference to the object remains at its descriptor: (1) its driver raises no event
 * any more; (2) those it raised are off the queue; (3) a reader that has one in its hands
 * has a reference of its own, and sees that the object has no descriptor.
 */
void uverbs_event_object_exit(struct uverbs_event_object *obj)
{
	struct uverbs_async *async = obj->async;
	struct async_event *event, *next;
	LIST_HEAD(unread);

	if (!async)
		return;
	spin_lock_irq(&async->queue.lock);
	list_for_each_entry(event, &obj->events, of_object) {
		list_del(&event->base.ready);
		async->nr_unread--;
	}
	list_splice_init(&obj->events, &unread);
	obj->async = NULL;
	spin_unlock_irq(&async->queue.lock);

	list_for_each_entry_safe(event, next, &unread, of_object)
		kfree(event);
	async_put(async);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_event_object_exit);

void uverbs_event_object_notify(struct uverbs_event_object *obj,
				enum ib_event_type event)
{
	if (obj->async)
		async_notify(obj->async, obj, obj->uobject.user_handle, event);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_event_object_notify);

/* ---- reading ---- */

static void async_take(struct uverbs_event_queue *queue, struct uverbs_event *base,
		       void *desc)
{
	struct async_event *event = container_of(base, struct async_event, base);
	struct uverbs_event_object *obj = event->obj;

	memcpy(desc, &event->desc, sizeof(event->desc));
	list_del(&event->base.ready);
	to_async(queue)->nr_unread--;
	if (obj) {
		list_del(&event->of_object);
		obj->events_reported++;
		uverbs_uobject_get(&obj->uobject);
	}
}

static void async_untake(struct uverbs_event_queue *queue, struct uverbs_event *base)
{
	struct async_event *event = container_of(base, struct async_event, base);
	struct uverbs_event_object *obj = event->obj;

	if (obj && !obj->async) {
		free_event(to_async(queue), event);
	} else {
		list_add(&event->base.ready, &queue->ready);
		to_async(queue)->nr_unread++;
		if (obj) {
			list_add(&event->of_object, &obj->events);
			obj->events_reported--;
		}
	}
	if (obj)
		uverbs_uobject_put(&obj->uobject);
}

static void async_read(struct uverbs_event_queue *queue, struct uverbs_event *base)
{
	struct async_event *event = container_of(base, struct async_event, base);

	if (event->obj)
		uverbs_uobject_put(&event->obj->uobject);
	free_event(to_async(queue), event);
}

static const struct uverbs_event_ops async_ops = {
	.desc_size = sizeof(struct ib_uverbs_async_event_desc),
	.take = async_take,
	.untake = async_untake,
	.read = async_read,
};
/*
 * A driver that keeps an object even in the end may raise events yet: for that one, what
 * they refer to stays for good.
 */
void uverbs_event_object_refused(struct uverbs_event_object *obj,
				 enum rdma_remove_reason why)
{
	if (why == RDMA_REMOVE_DRIVER_FAILURE)
		uverbs_uobject_get(&obj->uobject);
}


/* ---- descriptors ---- */

static void async_init(struct uverbs_async *async)
{
	struct ib_uobject *uobj = &async->queue.uobject;

	uverbs_event_queue_init(&async->queue, &async_ops);
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
	struct async_event *event, *next;
	LIST_HEAD(unread);

	spin_lock_irq(&async->queue.lock);
	list_for_each_entry(event, &async->queue.ready, base.ready)
		list_del(&event->of_object);
	list_splice_init(&async->queue.ready, &unread);
	async->nr_unread = 0;
	spin_unlock_irq(&async->queue.lock);

	list_for_each_entry_safe(event, next, &unread, base.ready)
		free_event(async, event);
}

/* Its file lets go of the default descriptor if that is @async, or any if it is NULL. */
static void async_unset_default(struct ib_uverbs_file *file, struct uverbs_async *async)
{
	if (cmpxchg(&file->async, async, NULL) == async)
		async_put(async);
}

/* The reader, if there is one, may go on with what is there. */
static void async_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why)
{
	struct uverbs_async *async = container_of(uobj, struct uverbs_async,
						  queue.uobject);

	ib_unregister_event_handler(&async->handler);
	uverbs_event_queue_close(&async->queue);
	if (why == RDMA_REMOVE_ABORT) {
		/* It has no release that would. */
		async_drop_unread(async);
		async_unset_default(uobj->ufile, async);
	}
}

/* The queue is closed, so what is dropped here was the last. */
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
	queue_event(async, &async->fatal, NULL, 0, IB_EVENT_DEVICE_FATAL);
	spin_unlock_irq(&async->queue.lock);
	uverbs_event_queue_wake(&async->queue);
}

void uverbs_async_device_fatal(struct ib_uverbs_file *file)
{
	struct ib_uobject *uobj;

	/* Nobody else touches the list. */
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
