/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_MMAP_H
#define IBEX_MMAP_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

/*
 * The mappings of one uverbs file.  struct ib_uverbs_file, which is private to
 * ib_uverbs, begins with this struct: core reaches it through ib_ucontext.ufile
 * and through the private_data of a mapping's file.
 */
struct rdma_umaps {
	struct mutex lock;	/* also serialises insertion of mmap entries */
	struct list_head list;	/* of rdma_umap_priv; protected by lock */
};

static inline struct rdma_umaps *rdma_umaps_of(struct ib_uverbs_file *ufile)
{
	return (struct rdma_umaps *)ufile;
}

/* One mapping of device memory into a process; on the uverbs file's list. */
struct rdma_umap_priv {
	struct vm_area_struct *vma;
	struct list_head list;			/* protected by rdma_umaps.lock */
	struct rdma_user_mmap_entry *entry;	/* a reference, or NULL */
};

void rdma_umap_priv_init(struct rdma_umap_priv *priv,
			 struct vm_area_struct *vma,
			 struct rdma_user_mmap_entry *entry);

#endif
