/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_UVERBS_H
#define IBEX_UVERBS_H

/*
 * What the files of ib_uverbs share.
 *
 * Lock order, outermost first:
 *	uverbs_device.lock		the files of one device (device.c)
 *	  ib_uverbs_file.teardown_sem	its objects, against their end (file.c)
 *	    mm->mmap_lock		of any process that maps one
 *	      ib_uverbs_file.mmap_lock	mmap() of one file (node.c)
 *	        rdma_umaps.lock		the mappings of one file (umap.c)
 *	    uverbs_device.xrcds_lock	the XRC domains of one device (xrcd.c)
 *	    ib_uverbs_file.objects_lock, the lock of its handles
 *	dma_buf.resv			one dma-buf (umem/dmabuf.c); exporters call
 *					move_notify under it
 *	mm->mmap_lock
 *	  ib_umem_odp.umem_mutex	pages of one region (umem/odp.c); taken in MMU
 *					notifiers: nothing that reclaims under it
 * The three groups do not nest in each other.  Under any of them, and in any context:
 *	uverbs_event_queue.lock		the events of one descriptor (event.c)
 */
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_std_types.h>
#include <ibex/mmap.h>

/* ---- device.c: what ib_uverbs keeps beside each device, and its open files ---- */
struct uverbs_device {
	struct ib_device *ibdev;	/* valid within a section */
	struct uverbs_api *uapi;	/* likewise; see uobj_get_type() */
	struct device dev;		/* uverbsN: node.c; holds one reference */
	struct cdev cdev;
	struct kref ref;		/* the client's, the node's, one a file, lookups' */
	struct rcu_head rcu;
	struct srcu_struct srcu;	/* sections: calls of the driver for a process */
	bool gone;			/* written under lock; READ_ONCE() in sections */
	struct mutex lock;		/* files */
	struct list_head files;		/* of ib_uverbs_file.on_device */
	struct mutex xrcds_lock;	/* xrcds */
	struct rb_root xrcds;		/* of struct uverbs_xrcd, by inode: xrcd.c */
};

struct ib_uverbs_file;

int uverbs_devices_init(void);
void uverbs_devices_exit(void);
struct uverbs_device *uverbs_device_get(struct ib_device *ibdev);
void uverbs_device_put(struct uverbs_device *udev);
bool uverbs_device_add_file(struct uverbs_device *udev,
			    struct ib_uverbs_file *file);
void uverbs_device_del_file(struct ib_uverbs_file *file);
int uverbs_device_section_begin(struct uverbs_device *udev);
void uverbs_device_section_end(struct uverbs_device *udev, int idx);
int uverbs_section_begin(struct ib_uverbs_file *file);
void uverbs_section_end(struct ib_uverbs_file *file, int idx);

/* ---- node.c: the character device ---- */
int uverbs_nodes_init(void);
void uverbs_nodes_exit(void);
int uverbs_node_add(struct uverbs_device *udev);
void uverbs_node_del(struct uverbs_device *udev);

/* ---- file.c: an open file, and its end ---- */
struct uverbs_async;

struct ib_uverbs_file {
	struct rdma_umaps umaps;	/* first: core finds it there */
	struct kref ref;		/* the open file's, and one a descriptor object */
	struct uverbs_device *device;	/* a reference */
	struct list_head on_device;	/* protected by device->lock */
	struct address_space *mapping;	/* the node's; valid until the file is closed */
	struct mutex mmap_lock;		/* held over calls of the driver's mmap method */
	bool raw_maps;			/* the driver mapped the device by itself */
	/*
	 * Of a driver whose own mappings may outlive its device (file.c): references
	 * on device and module, and the context, once it ended.
	 */
	struct ib_device *pinned;
	struct ib_ucontext *retired_context;
	/* What revoked mappings show; set once, under umaps.lock. */
	struct page *dummy_page;

	/* For writing: teardown.  For reading: destroys, releases of descriptors. */
	struct rw_semaphore teardown_sem;
	struct ib_ucontext *context;	/* set once in a section; teardown_sem after */
	int context_begun;		/* someone makes the context, or has; cmpxchg() */
	struct uverbs_async *async;	/* the default one: async.c */
	struct xarray handles;		/* struct ib_uobject by id; lookups under RCU */
	spinlock_t objects_lock;	/* objects, but for teardown */
	struct list_head objects;	/* ib_uobject.list, committed; newest first */
};

struct ib_uverbs_file *uverbs_file_create(struct uverbs_device *udev);
void uverbs_file_close(struct ib_uverbs_file *file);
void uverbs_file_get(struct ib_uverbs_file *file);
void uverbs_file_put(struct ib_uverbs_file *file);
void uverbs_file_teardown(struct ib_uverbs_file *file,
			  enum rdma_remove_reason why);

/* ---- context.c: the file's user context ---- */
int uverbs_context_begin(struct uverbs_attr_bundle *attrs);
void uverbs_context_commit(struct uverbs_attr_bundle *attrs);
void uverbs_context_abort(struct uverbs_attr_bundle *attrs);
void uverbs_context_disassociate(struct ib_uverbs_file *file);
void uverbs_context_teardown(struct ib_uverbs_file *file);

/* ---- uobject.c, uobject_idr.c, uobject_fd.c: see <rdma/uverbs_types.h>, too ---- */
struct ib_uobject *uverbs_uobject_new(const struct uverbs_api_object *obj,
				      struct uverbs_attr_bundle *attrs);
void uverbs_uobject_closed(struct ib_uobject *uobj);
void uverbs_objects_teardown(struct ib_uverbs_file *file,
			     enum rdma_remove_reason why);
bool uverbs_handle_leave(struct ib_uobject *uobj);
void uverbs_handles_drop(struct ib_uverbs_file *file);

/* ---- umap.c: mappings of device memory ---- */
/* The file's mmap method sets them before it calls the driver's. */
extern const struct vm_operations_struct uverbs_umap_ops;

/* Ends all mappings of a file now, in all processes; they show a dummy page instead. */
void uverbs_umaps_revoke(struct ib_uverbs_file *file);

/* ---- call.c: one call of a method ---- */
struct uverbs_spill;

/*
 * A call: the bundle that handlers see, and what is not for them.  It lies in a
 * buffer of the dispatcher's, before the bundle's attributes and the arena; used by
 * the calling thread alone, so nothing in it is locked.
 */
struct uverbs_call {
	/* The user's attributes: a copy, and where they are; both NULL for write(). */
	const struct ib_uverbs_attr *uattrs;
	struct ib_uverbs_attr __user *user_attrs;
	unsigned int nr_uattrs;
	/* Arena of _uverbs_alloc(): what is left of the buffer, and what was not. */
	void *room, *room_end;
	struct uverbs_spill *spills;
	/* New objects that are complete: by place in the bundle. */
	DECLARE_BITMAP(finalized, UVERBS_API_ATTR_BKEY_LEN);
	struct uverbs_attr_bundle bundle;	/* last: its attributes follow */
};

static inline struct uverbs_call *
uverbs_call_of(const struct uverbs_attr_bundle *bundle)
{
	return container_of(bundle, struct uverbs_call, bundle);
}

/* Bytes of a buffer for @nr_attrs attributes and @arena bytes of allocations. */
size_t uverbs_call_size(unsigned int nr_attrs, size_t arena);
/* Starts a call in @buf, aligned to 8 bytes; NULL if @size bytes are too few. */
struct uverbs_call *uverbs_call_init(void *buf, size_t size,
				     unsigned int nr_attrs,
				     struct ib_uverbs_file *file);
/* Frees all that was allocated for the call, but not the buffer. */
void uverbs_call_finish(struct uverbs_call *call);

/* ---- attr.c ---- */
/* Flags an output attribute as written, in the user's array. */
int uverbs_attr_written(const struct uverbs_attr_bundle *bundle,
			const struct uverbs_attr *attr);

/* ---- write.c: commands, by write() or by ioctl ---- */
int uverbs_call_write(struct ib_uverbs_file *file, const char __user *buf,
		      size_t count);
int uverbs_request(const struct uverbs_attr_bundle *attrs, void *req, size_t size);
int uverbs_response(struct uverbs_attr_bundle *attrs, const void *resp,
		    size_t size);

/* What follows the fixed part of a request. */
struct uverbs_tail {
	const void __user *at, *end;
};

int uverbs_request_begin(const struct uverbs_attr_bundle *attrs,
			 struct uverbs_tail *tail, void *req, size_t size);
int uverbs_request_next(struct uverbs_tail *tail, void *to, size_t size);
const void __user *uverbs_request_next_ptr(struct uverbs_tail *tail, size_t size);
int uverbs_request_end(const struct uverbs_tail *tail);

/*
 * What DECLARE_UVERBS_WRITE() is told of a command.  Its request is struct @req, its
 * response struct @resp; UDATA: the driver's part follows each of them.
 */
#define UVERBS_REQ(req) .write.req_size = sizeof(struct req)
#define UVERBS_REQ_RESP(req, resp)					\
	.write.req_size = sizeof(struct req),				\
	.write.resp_size = sizeof(struct resp),				\
	.write.has_resp = 1
#define UVERBS_REQ_UDATA(req)	UVERBS_REQ(req), .write.has_udata = 1
#define UVERBS_REQ_RESP_UDATA(req, resp)				\
	UVERBS_REQ_RESP(req, resp), .write.has_udata = 1
/* Of DECLARE_UVERBS_WRITE_EX(): to be at least as long as to the end of a member. */
#define UVERBS_EX_REQ(req, last)					\
	.write.req_size = offsetofend(struct req, last)
#define UVERBS_EX_REQ_RESP(req, last, resp, resp_last)			\
	UVERBS_EX_REQ(req, last),					\
	.write.resp_size = offsetofend(struct resp, resp_last),		\
	.write.has_resp = 1

/* ---- reads.c: objects that a command names ---- */
#define UVERBS_MAX_READS 6

struct uverbs_reads {
	struct uverbs_attr_bundle *attrs;
	unsigned int n;
	struct ib_uobject *uobjs[UVERBS_MAX_READS];
};

struct ib_uobject *uverbs_reads_get(struct uverbs_reads *reads, u16 type, u32 id);
void *uverbs_reads_object(struct uverbs_reads *reads, u16 type, u32 id);
void uverbs_reads_put(struct uverbs_reads *reads);
u32 uverbs_response_length(const struct uverbs_attr_bundle *attrs, size_t size);
int uverbs_destroy_event_object(struct uverbs_attr_bundle *attrs, u16 type, u32 id,
				u32 *events_reported);

/* Attributes that many methods have; @need: UA_MANDATORY or UA_OPTIONAL. */
#define UVERBS_MAKES(id, type)						\
	UVERBS_ATTR_IDR(id, UVERBS_OBJECT_##type, UVERBS_ACCESS_NEW, UA_MANDATORY)
#define UVERBS_ENDS(id, type)						\
	UVERBS_ATTR_IDR(id, UVERBS_OBJECT_##type, UVERBS_ACCESS_DESTROY, UA_MANDATORY)
#define UVERBS_USES(id, type, need)					\
	UVERBS_ATTR_IDR(id, UVERBS_OBJECT_##type, UVERBS_ACCESS_READ, need)
#define UVERBS_IN(id, type, need)					\
	UVERBS_ATTR_PTR_IN(id, UVERBS_ATTR_TYPE(type), need)
#define UVERBS_OUT(id, type, need)					\
	UVERBS_ATTR_PTR_OUT(id, UVERBS_ATTR_TYPE(type), need)
#define UVERBS_EVENT_FD(id)						\
	UVERBS_ATTR_FD(id, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_ACCESS_READ,	\
		       UA_OPTIONAL)

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

/* ---- umem.c: pinned memory regions ---- */
#if IS_ENABLED(CONFIG_KUNIT)
unsigned long umem_dma_attrs(struct ib_umem *umem);
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

/* ---- xrcd.c ---- */
struct uverbs_xrcd;

/* One opening of a domain, which is uobject.object. */
struct ib_uxrcd_object {
	struct ib_uobject uobject;
	atomic_t refcnt;		/* QPs and SRQs made through it: it stays */
	struct uverbs_xrcd *shared;
};

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

/* ---- qp_create.c, qp_open.c, mcast.c ---- */
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

/* ---- flow_spec.c ---- */
struct uverbs_flow_specs {
	struct uverbs_attr_bundle *attrs;
	const u8 *from, *end;		/* the user's, in a copy */
	struct ib_flow_attr *to;	/* with room for all of them */
	struct ib_uflow_resources *resources;
};

int uverbs_flow_specs_convert(struct uverbs_flow_specs *specs, unsigned int num);

/* ---- methods.c: all of them, and a file for those of each object ---- */
extern const struct uapi_definition uverbs_core_definitions[];

extern const struct uapi_definition uverbs_write_definitions[];
extern const struct uapi_definition uverbs_context_definitions[];
extern const struct uapi_definition uverbs_query_definitions[];
extern const struct uapi_definition uverbs_pd_definitions[];
extern const struct uapi_definition uverbs_mr_definitions[];
extern const struct uapi_definition uverbs_mw_definitions[];
extern const struct uapi_definition uverbs_ah_definitions[];
extern const struct uapi_definition uverbs_dm_definitions[];
extern const struct uapi_definition uverbs_counters_definitions[];
extern const struct uapi_definition uverbs_xrcd_definitions[];
extern const struct uapi_definition uverbs_async_definitions[];
extern const struct uapi_definition uverbs_comp_channel_definitions[];
extern const struct uapi_definition uverbs_cq_definitions[];
extern const struct uapi_definition uverbs_srq_definitions[];
extern const struct uapi_definition uverbs_wq_definitions[];
extern const struct uapi_definition uverbs_rwq_ind_definitions[];
extern const struct uapi_definition uverbs_qp_definitions[];
extern const struct uapi_definition uverbs_qp_open_definitions[];
extern const struct uapi_definition uverbs_qp_modify_definitions[];
extern const struct uapi_definition uverbs_mcast_definitions[];
extern const struct uapi_definition uverbs_post_definitions[];
extern const struct uapi_definition uverbs_flow_definitions[];

/* ---- api.c: what a process may ask of a device ---- */
#define UVERBS_NR_TYPES		BIT(UVERBS_API_OBJ_KEY_BITS)
#define UVERBS_NR_METHODS	(UVERBS_API_METHOD_IS_WRITE >> UVERBS_API_METHOD_KEY_SHIFT)

/* A method that is called by ioctl. */
struct uverbs_method {
	int (*handler)(struct uverbs_attr_bundle *attrs);
	bool driver;			/* the driver has a part in it */
	bool driver_handler;		/* and that is in the driver's module */
	bool destroys;			/* one attribute is an object to destroy */
	/*
	 * Runs without a section, too, if the device is gone.  Its driver's module may be
	 * gone as well, so its attrs are copies, which are here; or NULL.
	 */
	struct uverbs_attr_spec *kept;
	u8 nr_attrs;
	DECLARE_BITMAP(mandatory, UVERBS_API_ATTR_BKEY_LEN);
	const struct uverbs_attr_spec *attrs[];	/* by place in the bundle; or NULL */
};

struct uverbs_api_type {
	struct uverbs_api_object object;	/* type_class NULL: methods alone */
	struct uverbs_method *methods[UVERBS_NR_METHODS];
};

/* A command that is called by write. */
struct uverbs_write_method {
	int (*handler)(struct uverbs_attr_bundle *attrs);
	const struct uverbs_api_type *type;	/* the object it is about */
	bool disabled;
	bool has_udata;
	bool has_resp;
	u8 req_size;
	u8 resp_size;
};

/* Not changed once it is made. */
struct uverbs_api {
	u32 driver_id;
	struct uverbs_api_type *types[UVERBS_NR_TYPES];
	struct uverbs_write_method writes[2][UVERBS_API_WRITE_KEY_NUM]; /* [extended] */
};

struct uverbs_api *uverbs_api_create(struct ib_device *ibdev,
				     const struct uapi_definition *core);
void uverbs_api_free(struct uverbs_api *api);
const struct uverbs_api_object *uapi_get_object(const struct uverbs_api *api, u16 id);
const struct uverbs_method *uverbs_api_method(const struct uverbs_api *api,
					      u16 object_id, u16 method_id);
const struct uverbs_attr_spec *
uverbs_method_attr(const struct uverbs_method *method, u16 id, unsigned int *bkey);
const struct uverbs_write_method *
uverbs_api_write(const struct uverbs_api *api, unsigned int command, bool ex);

/* ---- ioctl.c ---- */
int uverbs_call_ioctl(struct ib_uverbs_file *file,
		      const struct ib_uverbs_ioctl_hdr *hdr,
		      struct ib_uverbs_attr __user *user_attrs);

#endif
