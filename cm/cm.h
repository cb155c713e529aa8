/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_CM_H
#define IBEX_CM_H

/*
 * Declarations that all files of ib_cm share.  What one folder offers the others is
 * declared in that folder's headers.
 *
 * Contexts.  The MAD layer's receive handler only looks up the id that a message is
 * for (under RCU, without a lock shared between connections) and queues the message
 * to that id.  The id's work item, which the workqueue never runs twice at once, takes
 * queued messages, timeouts and notifications one by one through the state table and
 * calls the consumer.  So the events of one id are ordered, the events of different
 * ids run in parallel, and address handles are created where the code may sleep.
 *
 * Resolving the path back to an unknown sender may take a second, and anyone can send
 * messages whose source cannot be resolved.  So requests that no consumer has seen
 * yet, and messages for no id, are first handled on a workqueue of their port, each
 * with its own work item.  They delay neither established ids nor other ports, and
 * delay each other only when IBCM_MAX_RESOLVING of them are being resolved.  There is
 * no limit per sender, because an attacker can give each message another source.
 *
 * Lock order, outermost first:
 *	ibcm_listen_mutex (ibcm/listen.c)	shared listeners; not for connections
 *	ibcm_files_lock (report/counters.c)	files in debugfs
 *	ibcore_qp_watch.lock		ib_core's; held when it reports data on an id's QP
 *	path->making (ibcm/path.c)	creation of one path's address handle
 *	  listener->lock		one listener's requests waiting to be resolved
 *	  id->lock			one id; taken in hard interrupt context
 *	  port->ah_lock (ibcm/path.c)	users of a port's handles, a few instructions
 *	    bucket locks of the hash tables, ibcm_ids' lock, timer base, workqueue
 * No lock is held while a consumer's handler or the MAD layer is called.
 *
 * ibcm_srcu protects port->agent and everything created from it: a message is
 * allocated and posted, or an address handle created, within one read section.  Device
 * removal clears the pointers, waits for the read sections, and only then unregisters
 * the agents.
 */
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/etherdevice.h>
#include <linux/kref.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <kunit/visibility.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_sa.h>
#include <rdma/ibta_vol1_c12.h>
#include <ibex/compat.h>
#include <ibex/qp_watch.h>

#define IBCM_CLASS_VERSION	2
#define IBCM_MAX_RXQ		16	/* messages queued to one id */
#define IBCM_MAX_LEFT_DREQS 1024 /* per port: DREQs whose ids were destroyed */
#define IBCM_MAX_ORPHANS	256	/* per port: messages for no id, to be answered */
#define IBCM_MAX_RESOLVING	512	/* per port: being resolved or answered */
#define IBCM_MAX_UNDELIVERED	8192	/* per port: requests waiting for one listener */

struct ibcm_id;
struct ibcm_listener;
struct ibcm_msg;
struct ibcm_peer;
struct ibcm_rx;

/* ---- ibcm/main.c ---- */
extern struct workqueue_struct *ibcm_wq;	/* unbound: ids */

#endif
