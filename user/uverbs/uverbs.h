/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_UVERBS_H
#define IBEX_UVERBS_H

/*
 * Devices, files, user contexts, user objects and mappings of ib_uverbs.
 *
 * Lock order, outermost first:
 *	uverbs_device.lock		the files of one device (device.c)
 *	  ib_uverbs_file.teardown_sem	destruction of a file's objects (file.c)
 *	    mm->mmap_lock		of any process that maps device memory
 *	      ib_uverbs_file.mmap_lock	mmap() of one file (node.c)
 *	        rdma_umaps.lock		the mappings of one file (umap.c)
 *	    uverbs_device.xrcds_lock	the XRC domains of one device (xrcd.c)
 *	    ib_uverbs_file.objects_lock, the xa_lock of ib_uverbs_file.handles
 *	dma_buf.resv			one dma-buf (umem/dmabuf.c); exporters call
 *					move_notify under it
 *	mm->mmap_lock
 *	  ib_umem_odp.umem_mutex	pages of one region (umem/odp.c); taken in MMU
 *					notifiers, so nothing may enter reclaim under it
 * The three groups do not nest in each other.  Taken under any of them, in any context:
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
#include <ibex/compat.h>
#include <ibex/mmap.h>

/* ---- device.c: what ib_uverbs keeps for each device, and its open files ---- */
struct uverbs_device {
	struct ib_device *ibdev;	/* valid within a section */
	struct uverbs_api *uapi;	/* likewise; see uobj_get_type() */
	struct device dev;		/* uverbsN (node.c); holds a reference */
	struct cdev cdev;
	struct kref ref;		/* held by client, node, each file and lookups */
	struct rcu_head rcu;
	struct srcu_struct srcu;	/* sections, in which the driver may be called */
	bool gone;			/* written under lock; READ_ONCE() in sections */
	struct mutex lock;		/* protects files */
	struct list_head files;		/* of ib_uverbs_file.on_device */
	struct mutex xrcds_lock;	/* protects xrcds */
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

/* ---- file.c: an open file and its teardown ---- */
struct uverbs_async;

struct ib_uverbs_file {
	struct rdma_umaps umaps;	/* must be first: see rdma_umaps_of() */
	struct kref ref;		/* of the open file and each descriptor object */
	struct uverbs_device *device;	/* holds a reference */
	struct list_head on_device;	/* protected by device->lock */
	struct address_space *mapping;	/* the node's; valid until the file is closed */
	struct mutex mmap_lock;		/* held over calls of the driver's mmap method */
	bool raw_maps;			/* the driver mapped device memory on its own */
	/*
	 * Set for a driver whose own mappings may outlive its device (file.c): pinned
	 * holds references on the device and its module, retired_context is the context
	 * that was torn down but not freed.
	 */
	struct ib_device *pinned;
	struct ib_ucontext *retired_context;
	/* Page that revoked mappings show; set once, under umaps.lock. */
	struct page *dummy_page;

	/* Teardown holds it for writing; destroys and descriptor releases for reading. */
	struct rw_semaphore teardown_sem;
	struct ib_ucontext *context;	/* set in a section; cleared under teardown_sem */
	int context_begun;		/* context is being made or was made; cmpxchg() */
	struct uverbs_async *async;	/* the default event descriptor: async.c */
	struct xarray handles;		/* struct ib_uobject by id; lookups under RCU */
	spinlock_t objects_lock;	/* protects objects, except in teardown */
	struct list_head objects;	/* of ib_uobject.list; newest first */
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
/* The mmap method of the file sets these before it calls the driver's. */
extern const struct vm_operations_struct uverbs_umap_ops;

/* Revokes all mappings of a file in all processes: they show a dummy page instead. */
void uverbs_umaps_revoke(struct ib_uverbs_file *file);

#endif
