/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_USER_H
#define VIB_USER_H

/*
 * Processes (include/uapi/rdma/vib-abi.h):
 *
 *	context.c	contexts, and the commands that there are
 *	mapped.c	the memory of rings
 *	ud.c		datagrams from the ring of a process
 *
 * What a process maps is ordinary memory.  It may have it mapped after the object is destroyed,
 * and the adapter removed: nobody reads it then.  So neither waits for it.
 */
#include <rdma/ib_verbs.h>
#include <rdma/vib-abi.h>
#include "device/qp.h"

struct vib_ucontext {
	struct ib_ucontext ib;
};

/* ---- mapped.c ---- */

/*
 * Memory of a ring.  The object that the ring is of holds a reference, and so does each
 * mmap() while it runs; a mapping holds the pages alone.
 */
struct vib_mapped {
	struct rdma_user_mmap_entry entry;
	void *mem;
	size_t size;		/* whole pages */
};

/* At least @size zeroed bytes for the process of @udata, which pays for them; or ERR_PTR. */
struct vib_mapped *vib_mapped_create(struct ib_udata *udata, size_t size);
/* The caller is done with it.  May sleep. */
void vib_mapped_remove(struct vib_mapped *mapped);
/* The device's operations. */
int vib_mapped_mmap(struct ib_ucontext *context, struct vm_area_struct *vma);
void vib_mapped_free(struct rdma_user_mmap_entry *entry);

/* ---- context.c ---- */

/*
 * Whether @udata, of a process, has room for a response of @len bytes (or -EINVAL), and asks
 * for nothing that vib does not know (or -EOPNOTSUPP).
 */
int vib_udata_check(struct ib_udata *udata, size_t len);

extern const struct ib_device_ops vib_user_ops;
/* The commands that processes need, beside those that the core allows by itself. */
extern const u64 vib_user_cmd_mask;

/* ---- ud.c: in send_work ---- */

/* A request of a process: the kernel's copy of an entry. */
struct vib_ud_copy {
	struct vib_send_wqe wqe;
	struct vib_send_slot slot;
	const struct vib_abi_ud_wqe *entry;	/* in the ring: SGEs or data are behind it */
	u32 num_sge;				/* or bytes, as in the entry */
};

/*
 * Copies the oldest entry of the send queue, and checks it: slot.status.  False: there is none.
 */
bool vib_ud_copy(struct vib_qp *qp, struct vib_ud_copy *copy);
/*
 * Makes the payload of a copy without an error, or sets slot.status.  False: there is no memory
 * for it, and the datagram is lost.
 */
bool vib_ud_gather(struct vib_qp *qp, struct vib_ud_copy *copy);

#endif
