/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_CMA_H
#define IBEX_CMA_H

/*
 * What all files of rdma_cm share; what a folder offers the others is in its own header.
 *
 * Lock order, outermost first:
 *	id->handler_mutex	one id's callbacks; a second id's is only taken
 *				inside to destroy that id
 *	  cma_topology		which devices exist and which ids listen on all
 *	    id->qp_mutex	the id's QP and the moves of its state
 *	      rtnl
 *		bucket->lock	who uses a port
 *		dev->lock	the ids of a device
 *		  id->lock	an id's state and short fields
 *
 * Nothing that waits for a callback (ib_destroy_cm_id, iw_destroy_cm_id,
 * rdma_addr_cancel, ib_sa_free_multicast, cma_id_free) is called under any of
 * these but rtnl's outside.
 */
#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>
#include <rdma/ib.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_cm.h>
#include <rdma/iw_cm.h>
#include <rdma/rdma_cm.h>
#include <rdma/rdma_cm_ib.h>
#include <ibex/addr.h>
#include <ibex/gid.h>
#include <ibex/restrack.h>

/* CM timing: 4.096 us * 2^20 = 4.3 s a response, 15 retries, 69 s for an MRA. */
#define CMA_RESPONSE_TIMEOUT	20
#define CMA_MAX_RETRIES		15
#define CMA_MRA_TIMEOUT		24
/* 4.096 us * 2^16: how long a RoCE fabric may hold a packet. */
#define CMA_ROCE_PACKET_LIFETIME	16

struct cma_bucket;
struct cma_dev;
struct cma_id;

/* ---- configfs.c ---- */
int cma_configfs_init(void);
void cma_configfs_exit(void);

#endif
