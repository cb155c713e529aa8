/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_RESTRACK_H
#define IBEX_RESTRACK_H

/*
 * Resource tracking, as core offers it to the CMA and the user ABIs beyond
 * <rdma/restrack.h>.  An entry goes new -> set_name or parent_name -> add -> del.
 */
#include <rdma/restrack.h>
#include <ibex/cm.h>

void rdma_restrack_new(struct rdma_restrack_entry *res,
		       enum rdma_restrack_type type);
void rdma_restrack_set_name(struct rdma_restrack_entry *res,
			    const char *caller);
void rdma_restrack_parent_name(struct rdma_restrack_entry *dst,
			       const struct rdma_restrack_entry *parent);
void rdma_restrack_add(struct rdma_restrack_entry *res);
void rdma_restrack_del(struct rdma_restrack_entry *res);

/* Destruction that may fail: begin hides the entry, abort shows it again. */
void rdma_restrack_begin_del(struct rdma_restrack_entry *res);
void rdma_restrack_abort_del(struct rdma_restrack_entry *res);
void rdma_restrack_commit_del(struct rdma_restrack_entry *res);
void rdma_restrack_sync(struct rdma_restrack_entry *res);

struct rdma_cm_id;

/* State of a CM_ID that is reported in addition to struct rdma_cm_id. */
struct rdma_restrack_cm_state {
	u8 state;	/* IDLE .. DESTROYING, as rdma-resource(8) prints them */
	u32 qp_num;	/* 0 if none */
	struct ibex_cm_wait wait;	/* the IB CM's view; all zero if it has none */
};

/*
 * The CMA embeds its entries of type RDMA_RESTRACK_CM_ID in this struct, so
 * that core needs nothing else of the CMA to report them.  @id is constant, and
 * so is @id->device between rdma_restrack_add() and rdma_restrack_del().
 * @query is called with a reference on @res and must not sleep.
 */
struct rdma_restrack_cm_id {
	struct rdma_restrack_entry res;
	struct rdma_cm_id *id;
	void (*query)(const struct rdma_restrack_cm_id *cm_id,
		      struct rdma_restrack_cm_state *out);
};

#endif
