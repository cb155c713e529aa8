/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef UVERBS_QUEUES_H
#define UVERBS_QUEUES_H

/* Events, and the objects that have them: CQs, QPs, SRQs, WQs. */
#include "uverbs/uverbs.h"

/* ---- event.c: events that are read from a descriptor ---- */
struct uverbs_event_queue;

/* An event that can be read; a member of the struct that holds it until then. */
struct uverbs_event {
	struct list_head ready;		/* on the queue's ready list; under its lock */
};

/* What differs between queues; only take() and put_back() run under the queue's lock. */
struct uverbs_event_ops {
	size_t desc_size;	/* bytes that the user reads for an event */
	/* Takes the first event off the queue to read it, and describes it in @desc. */
	void (*take)(struct uverbs_event_queue *queue, struct uverbs_event *event,
		     void *desc);
	/* Read failed: makes the event first again, unless its object was destroyed. */
	void (*put_back)(struct uverbs_event_queue *queue, struct uverbs_event *event);
	/* The event was read. */
	void (*read)(struct uverbs_event_queue *queue, struct uverbs_event *event);
};

/*
 * The event queue of a descriptor; the first member of the descriptor's user object, on
 * which each source of events holds a reference.  Events are queued in any context.
 */
struct uverbs_event_queue {
	struct ib_uobject uobject;
	const struct uverbs_event_ops *ops;
	spinlock_t lock;		/* irq safe; innermost */
	bool closed;			/* no more events are queued; under lock */
	struct list_head ready;		/* of uverbs_event.ready, oldest first; under lock */
	wait_queue_head_t readers;
	struct fasync_struct *fasync;
};

void uverbs_event_queue_init(struct uverbs_event_queue *queue,
			     const struct uverbs_event_ops *ops);
/* Wakes one reader, after one event was queued. */
void uverbs_event_queue_wake(struct uverbs_event_queue *queue);
/* Queued events can still be read; after them reads fail. */
void uverbs_event_queue_close(struct uverbs_event_queue *queue);
ssize_t uverbs_event_read(struct file *filp, char __user *buf, size_t count,
			  loff_t *pos);
__poll_t uverbs_event_poll(struct file *filp, struct poll_table_struct *wait);
int uverbs_event_fasync(int fd, struct file *filp, int on);
#if IS_ENABLED(CONFIG_KUNIT)
/* What read() does with an event before it copies it, and if the copy fails. */
struct uverbs_event *uverbs_event_take(struct uverbs_event_queue *queue, void *desc);
void uverbs_event_put_back(struct uverbs_event_queue *queue, struct uverbs_event *event);
#endif

/* ---- async.c: asynchronous events ---- */
/* Events of one kind, however many there are; protected by the queue's lock. */
struct uverbs_async_event {
	struct uverbs_event event;	/* on the queue while some are unread */
	struct uverbs_event_object *obj; /* NULL for events of the device or a port */
	u32 type;			/* enum ib_event_type */
	u32 unread;			/* of an object: number of events to read */
	u32 reading;			/* and number that readers are copying */
};

/* A QP has this many kinds of event (IBA vol. 1, 11.6.3), other objects fewer. */
#define UVERBS_OBJECT_EVENTS 8

/*
 * The first member of user objects that have asynchronous events: ib_uqp_object,
 * ib_usrq_object, ib_ucq_object, ib_uwq_object.
 */
struct uverbs_event_object {
	struct ib_uobject uobject;
	struct uverbs_async *async;	/* reports its events; a reference, or NULL */
	/* The kinds of which events are unread or being read; the others are free. */
	struct uverbs_async_event events[UVERBS_OBJECT_EVENTS];
	u32 events_reported;		/* read so far; protected by the queue's lock */
};

/*
 * Called for a new object before the driver makes it: its events will go to the
 * descriptor that attribute @fd_attr names, or to the file's default descriptor if the
 * user named none.  Commands have no such attribute and pass UVERBS_NO_ATTR.
 */
#define UVERBS_NO_ATTR U16_MAX
int uverbs_event_object_init(struct uverbs_event_object *obj,
			     struct uverbs_attr_bundle *attrs, u16 fd_attr);
/* The driver destroyed the object, or did not make it: drops its unread events. */
void uverbs_event_object_exit(struct uverbs_event_object *obj);
/* The driver refused to destroy the object for reason @why. */
void uverbs_event_object_refused(struct uverbs_event_object *obj,
				 enum rdma_remove_reason why);
/* Reports an event to the user, who knows the object by uobject.user_handle. */
void uverbs_event_object_notify(struct uverbs_event_object *obj,
				enum ib_event_type event);

/*
 * Makes an asynchronous event descriptor for the file of the call.  The caller commits
 * it, or aborts it as a complete object (hw_obj_valid).
 */
struct ib_uobject *uverbs_async_begin(struct uverbs_attr_bundle *attrs);
/* Reports to all event descriptors of a file that its device was removed. */
void uverbs_async_device_fatal(struct ib_uverbs_file *file);
/* Drops the default descriptor of a file that is about to be freed. */
void uverbs_async_forget(struct ib_uverbs_file *file);
/* The release method of event descriptors; calls uverbs_uobject_fd_release(). */
int uverbs_async_release(struct inode *inode, struct file *filp);

/* ---- cq.c, comp_channel.c ---- */
struct ib_ucq_object {
	struct uverbs_event_object base;
	/* Reports its completion events; a reference, or NULL. */
	struct uverbs_event_queue *channel;
	struct uverbs_event event;	/* on the channel's queue while any is pending */
	u32 comp_events_pending;	/* not read yet; under the channel's lock */
	u32 comp_events_reported;	/* read so far; likewise */
};

static inline struct ib_ucq_object *uverbs_ucq_object(struct ib_uobject *uobj)
{
	return container_of(uobj, struct ib_ucq_object, base.uobject);
}

/* Called for a new CQ; @channel is the user object of its channel, or NULL. */
void uverbs_ucq_channel_init(struct ib_ucq_object *ucq, struct ib_uobject *channel);
/* The driver destroyed the CQ, or did not make it: drops its unread completion events. */
void uverbs_ucq_channel_exit(struct ib_ucq_object *ucq);
/* Reports a completion event to the user.  Context: any. */
void uverbs_ucq_channel_notify(struct ib_ucq_object *ucq);

/* ---- qp.c; the last function is in mcast.c ---- */
struct ib_uqp_object {
	struct uverbs_event_object event;	/* first */
	struct mutex lock;		/* protects mcast; serialises modifications */
	struct list_head mcast;		/* of uverbs_mcast: groups it is attached to */
	struct ib_uxrcd_object *uxrcd;	/* counts the QP; NULL unless a target QP */
};

struct ib_uqp_object *uverbs_qp_object(struct ib_uobject *uobj);
void uverbs_qp_object_init(struct ib_uqp_object *obj, struct ib_uobject *xrcd);
void uverbs_qp_object_set(struct ib_uqp_object *obj, struct ib_qp *qp);
void uverbs_qp_event(struct ib_event *event, void *context);
void uverbs_qp_fill_resp(struct ib_uverbs_create_qp_resp *resp,
			 const struct ib_uobject *uobj, const struct ib_qp_cap *cap);
int uverbs_mcast_detach_all(struct ib_uqp_object *obj, struct ib_qp *qp);

/* ---- srq.c ---- */
struct ib_usrq_object {
	struct uverbs_event_object event;	/* first */
	struct ib_uxrcd_object *uxrcd;	/* counts the SRQ; NULL unless of XRC */
};

/* ---- wq.c ---- */
struct ib_uwq_object {
	struct uverbs_event_object event;	/* first */
	struct mutex lock;		/* serialises modifications */
};

#endif
