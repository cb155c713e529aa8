/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef UVERBS_QUEUES_H
#define UVERBS_QUEUES_H

/* Events, and the objects that have them: CQs, QPs, SRQs, WQs. */
#include "uverbs/uverbs.h"

/* ---- event.c: events that are read from a descriptor ---- */
struct uverbs_event_queue;

/* What can be read; a member of what holds an event until then. */
struct uverbs_event {
	struct list_head ready;		/* of the queue's; under its lock */
};

/* What differs between queues.  @lock is held by take() and put_back() only. */
struct uverbs_event_ops {
	size_t desc_size;	/* what the user reads of one */
	/* The first event is being read: describes it and takes it off. */
	void (*take)(struct uverbs_event_queue *queue, struct uverbs_event *event,
		     void *desc);
	/* It was not, after all: it is first again, unless its object is gone. */
	void (*put_back)(struct uverbs_event_queue *queue, struct uverbs_event *event);
	/* It was. */
	void (*read)(struct uverbs_event_queue *queue, struct uverbs_event *event);
};

/*
 * A queue has a descriptor; this is the first member of that descriptor's user object,
 * which each source of events holds by a reference.  Events are taken in from any
 * context.
 */
struct uverbs_event_queue {
	struct ib_uobject uobject;
	const struct uverbs_event_ops *ops;
	spinlock_t lock;		/* irq safe; innermost */
	bool closed;			/* takes none in any more; under lock */
	struct list_head ready;		/* of uverbs_event.ready, oldest first; under lock */
	wait_queue_head_t readers;
	struct fasync_struct *fasync;
};

void uverbs_event_queue_init(struct uverbs_event_queue *queue,
			     const struct uverbs_event_ops *ops);
/* After one event was added: for one reader. */
void uverbs_event_queue_wake(struct uverbs_event_queue *queue);
/* What is there can still be read, and then an error. */
void uverbs_event_queue_close(struct uverbs_event_queue *queue);
ssize_t uverbs_event_read(struct file *filp, char __user *buf, size_t count,
			  loff_t *pos);
__poll_t uverbs_event_poll(struct file *filp, struct poll_table_struct *wait);
int uverbs_event_fasync(int fd, struct file *filp, int on);
#if IS_ENABLED(CONFIG_KUNIT)
/* What a read does with one event before it copies it, and if that fails. */
struct uverbs_event *uverbs_event_take(struct uverbs_event_queue *queue, void *desc);
void uverbs_event_put_back(struct uverbs_event_queue *queue, struct uverbs_event *event);
#endif

/* ---- async.c: asynchronous events ---- */
/* One of a kind, however often it happened; protected by the queue's lock. */
struct uverbs_async_event {
	struct uverbs_event event;	/* on the queue while some are unread */
	struct uverbs_event_object *obj; /* NULL: it is the device's or a port's */
	u32 type;			/* enum ib_event_type */
	u32 unread;			/* of an object: how many wait to be read */
	u32 reading;			/* and how many readers have in their hands */
};

/* A QP has as many kinds of event (IBA vol. 1, 11.6.3), other objects fewer. */
#define UVERBS_OBJECT_EVENTS 8

/*
 * The first member of user objects that have asynchronous events: ib_uqp_object,
 * ib_usrq_object, ib_ucq_object, ib_uwq_object.
 */
struct uverbs_event_object {
	struct ib_uobject uobject;
	struct uverbs_async *async;	/* its events go there; a reference, or NULL */
	/* Of the kinds that are unread or being read; the rest are free. */
	struct uverbs_async_event events[UVERBS_OBJECT_EVENTS];
	u32 events_reported;		/* read so far; protected by the queue's lock */
};

/*
 * For a new object, before the driver makes it: its events are to go to the descriptor
 * that attribute @fd_attr names, or to the file's default if the user gave none.
 * @fd_attr: UVERBS_NO_ATTR for commands, which have none.
 */
#define UVERBS_NO_ATTR U16_MAX
int uverbs_event_object_init(struct uverbs_event_object *obj,
			     struct uverbs_attr_bundle *attrs, u16 fd_attr);
/* The object is gone from the driver, or was not made: what is not read is dropped. */
void uverbs_event_object_exit(struct uverbs_event_object *obj);
/* The driver did not destroy the object when it was asked to, for reason @why. */
void uverbs_event_object_refused(struct uverbs_event_object *obj,
				 enum rdma_remove_reason why);
/* An event for the user, whose name of the object is uobject.user_handle. */
void uverbs_event_object_notify(struct uverbs_event_object *obj,
				enum ib_event_type event);

/*
 * A new asynchronous event descriptor of the call's file: commit it, or abort it as one
 * that is complete (hw_obj_valid).
 */
struct ib_uobject *uverbs_async_begin(struct uverbs_attr_bundle *attrs);
/* Tells all descriptors of a file that its device is gone. */
void uverbs_async_device_fatal(struct ib_uverbs_file *file);
/* The file is about to be freed. */
void uverbs_async_forget(struct ib_uverbs_file *file);
/* The release method of their files, around uverbs_uobject_fd_release(). */
int uverbs_async_release(struct inode *inode, struct file *filp);

/* ---- cq.c, comp_channel.c ---- */
struct ib_ucq_object {
	struct uverbs_event_object base;
	/* Its completion events go there; a reference, or NULL. */
	struct uverbs_event_queue *channel;
	struct uverbs_event event;	/* on the channel's queue if pending */
	u32 comp_events_pending;	/* not read yet; under the channel's lock */
	u32 comp_events_reported;	/* read so far; likewise */
};

static inline struct ib_ucq_object *uverbs_ucq_object(struct ib_uobject *uobj)
{
	return container_of(uobj, struct ib_ucq_object, base.uobject);
}

/* For a new CQ; @channel: its user object, or NULL. */
void uverbs_ucq_channel_init(struct ib_ucq_object *ucq, struct ib_uobject *channel);
/* The CQ is gone from the driver, or was not made: what is not read is dropped. */
void uverbs_ucq_channel_exit(struct ib_ucq_object *ucq);
/* A completion event, from any context. */
void uverbs_ucq_channel_notify(struct ib_ucq_object *ucq);

/* ---- qp.c, and mcast.c for the last ---- */
struct ib_uqp_object {
	struct uverbs_event_object event;	/* first */
	struct mutex lock;		/* mcast; also one modification at a time */
	struct list_head mcast;		/* of uverbs_mcast: groups it is attached to */
	struct ib_uxrcd_object *uxrcd;	/* counted by it; NULL unless a target QP */
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
	struct ib_uxrcd_object *uxrcd;	/* counted by it; NULL unless of XRC */
};

/* ---- wq.c ---- */
struct ib_uwq_object {
	struct uverbs_event_object event;	/* first */
	struct mutex lock;		/* one modification at a time */
};

#endif
