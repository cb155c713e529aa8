/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_CM_H
#define IBEX_CM_H

/*
 * What all files of ib_cm share; what a folder offers the other is in its own headers.
 *
 * Contexts.  The MAD layer's receive handler only finds the id a message is for
 * (RCU, no lock shared between connections) and queues the message there.  The
 * id's work item, which the workqueue never runs twice at once, takes queued
 * messages, timeouts and notifications one by one through the state table and
 * calls the consumer.  So the events of one id are ordered, those of different
 * ids run in parallel, and address handles are made where it may sleep.
 *
 * Where the way back to the sender is not known yet, looking for it may take a
 * second, and anybody can send what has none.  So requests that have no consumer
 * yet, and messages for no id, begin on a queue of their port's own, each with a
 * work item: they hold up neither connections nor another port's, and one another
 * only when IBCM_MAX_RESOLVING look for theirs.  Senders are not told apart there:
 * whoever floods a port can give each message another source.
 *
 * Lock order, outermost first:
 *	ibcm_listen_mutex (ibcm/listen.c)	shared listeners; never on a connection
 *	ibcore_qp_watch.lock		core's: tells of data on an id's QP
 *	path->making (ibcm/path.c)	the making of one path's address handle
 *	  listener->lock		REQs of one that wait to be resolved
 *	  id->lock			one id; taken in hard interrupt context
 *	  port->ah_lock (ibcm/path.c)	users of a port's handles, a few instructions
 *	    bucket locks of the hash tables, ibcm_ids' lock, timer base, workqueue
 * No lock is held while a consumer's handler or the MAD layer is called.
 *
 * ibcm_srcu guards port->agent and what is made from it: a message is made and
 * posted, an address handle made, within one read section.  Device removal
 * clears the pointers, waits for the sections and only then deregisters.
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
#include <ibex/qp_watch.h>

#define IBCM_CLASS_VERSION	2
#define IBCM_MAX_RXQ		16	/* messages waiting for one id */
#define IBCM_MAX_LEFT_DREQS 1024 /* a port's DREQs whose ids have gone */
#define IBCM_MAX_ORPHANS	256	/* messages waiting for a port's answer */
#define IBCM_MAX_RESOLVING	512	/* of a port: being resolved or answered */
#define IBCM_MAX_UNDELIVERED	8192	/* of a port: REQs waiting for one listener */

struct ibcm_id;
struct ibcm_listener;
struct ibcm_msg;
struct ibcm_peer;
struct ibcm_rx;

/* ---- ibcm/main.c ---- */
extern struct workqueue_struct *ibcm_wq;	/* unbound: ids */

#endif
