/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_RESTRACK_H
#define IBEX_RESTRACK_H

/*
 * Resource tracking, as core offers it to the CMA and the user ABIs beyond
 * <rdma/restrack.h>.  An entry goes new -> set_name or parent_name -> add -> del.
 */
#include <rdma/restrack.h>

void rdma_restrack_new(struct rdma_restrack_entry *res,
		       enum rdma_restrack_type type);
void rdma_restrack_set_name(struct rdma_restrack_entry *res,
			    const char *caller);
void rdma_restrack_parent_name(struct rdma_restrack_entry *dst,
			       const struct rdma_restrack_entry *parent);

/* Destruction that may fail: begin hides the entry, abort shows it again. */
void rdma_restrack_begin_del(struct rdma_restrack_entry *res);
void rdma_restrack_abort_del(struct rdma_restrack_entry *res);
void rdma_restrack_commit_del(struct rdma_restrack_entry *res);
void rdma_restrack_sync(struct rdma_restrack_entry *res);

#endif
