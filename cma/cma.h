/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_CMA_H
#define IBEX_CMA_H

/*
 * Declarations shared by all files of rdma_cm.  What a folder exports to the others is in
 * its own header.
 *
 * Lock order, outermost first:
 *	id->handler_mutex	one id's callbacks; a second id's handler_mutex is
 *				taken inside it only to destroy that second id
 *	  cma_topology		the devices, and the ids that listen on all of them
 *	    id->qp_mutex	the id's QP and its state transitions
 *	      rtnl
 *		bucket->lock	the users of a port; or the ids that connect to a
 *				peer (netevent.c), with nothing inside it
 *		dev->lock	the ids bound to a device
 *		  id->lock	an id's state and its short fields
 *
 * Some functions wait for a callback: ib_destroy_cm_id, iw_destroy_cm_id,
 * rdma_addr_cancel, ib_sa_free_multicast, cma_id_free.  Of these locks only a
 * handler_mutex may be held while they are called, and only one that the awaited
 * callback does not take.
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
#include <ibex/cm.h>
#include <ibex/compat.h>
#include <ibex/gid.h>
#include <ibex/restrack.h>

/* An MRA asks for 4.096 us * 2^24, which is 69 s. */
#define CMA_MRA_TIMEOUT		24
/* 4.096 us * 2^16: how long a RoCE fabric may hold a packet. */
#define CMA_ROCE_PACKET_LIFETIME	16

struct cma_bucket;
struct cma_dev;
struct cma_id;

/* ---- events.c: counters of events ---- */
void cma_count_event(const struct rdma_cm_event *event);
int cma_events_init(void);
void cma_events_exit(void);

/* ---- configfs.c ---- */
int cma_configfs_init(void);
void cma_configfs_exit(void);

#endif
