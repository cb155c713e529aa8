/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_UVERBS_H
#define IBEX_UVERBS_H

/*
 * Devices, files, user contexts, user objects and mappings of ib_uverbs.
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

#endif
