/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_UVERBS_H
#define IBEX_UVERBS_H

/*
 * What the files of ib_uverbs share.
 *
 * Lock order, outermost first:
 *	uverbs_device.lock		the files of one device (device.c)
 *	  mm->mmap_lock			of any process that maps one
 *	    rdma_umaps.lock		the mappings of one file (umap.c)
 *	dma_buf.resv			one dma-buf (umem_dmabuf.c); exporters call
 *					move_notify under it
 *	mm->mmap_lock
 *	  ib_umem_odp.umem_mutex	pages of one region (umem_odp.c); taken in MMU
 *					notifiers: nothing that reclaims under it
 * The three groups do not nest in each other.
 */
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include <ibex/mmap.h>

/* ---- device.c: what ib_uverbs keeps beside each device, and its open files ---- */
struct uverbs_device {
	struct kref ref;		/* the client's, and one a file */
	struct mutex lock;		/* files */
	struct list_head files;		/* of ib_uverbs_file.on_device */
};

struct ib_uverbs_file {
	struct rdma_umaps umaps;	/* first: core finds it there */
	struct uverbs_device *device;	/* a reference */
	struct list_head on_device;	/* protected by device->lock */
	/* What revoked mappings show; set once, under umaps.lock. */
	struct page *sink;
};

int uverbs_devices_init(void);
void uverbs_devices_exit(void);
/* Enters a file, zeroed by the caller, into its device's list: 0 or -ENODEV. */
int uverbs_file_open(struct ib_uverbs_file *file, struct ib_device *device);
/* The file's last mapping is gone; it is the caller's to free. */
void uverbs_file_close(struct ib_uverbs_file *file);

/* ---- umap.c: mappings of device memory ---- */
/* The file's mmap method sets them before it calls the driver's. */
extern const struct vm_operations_struct uverbs_umap_ops;

/* Ends all mappings of a file now, in all processes; they show the sink instead. */
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

#endif
