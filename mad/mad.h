/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_MAD_H
#define IBEX_MAD_H

/*
 * What all files of ib_mad share; what a folder offers the others is in its own header.
 *
 * Lock order, outermost first:
 *	mqp->reset_mutex		(qp.c)		one recovery at a time
 *	port->reg_mutex			(agent.c)	registrations of a port
 *	agent->rmpp.mutex		(rmpp/recv.c)	its reassemblies
 *	  port->rahs_lock		(rmpp/way.c)	address handles of its transfers
 *	  agent->lock			(send.c)	its sends, their states, the TID table
 *	    mqp->send_lock		(sendq.c)	slots, lanes, the QP's send queue
 *	    mqp->recv_lock		(recv.c)	receive slots and posting
 *	    pool->lock			(pool.c)
 * All but the mutexes are taken with interrupts off: providers post MADs
 * under locks of their own that their interrupt handlers take.  No client
 * callback runs under any of them.
 *
 * The life of a send (IBA vol. 1, 13.4.6.3 for the requester's timers):
 *
 *  - From ib_post_send_mad() until it is completed, a send is on its agent's
 *    list (agent->sends).  From then until its work request completes it is on
 *    one of its port's as well: a lane of the backlog, or the QP's slots.  A
 *    resend puts it there again.  A request that flow control keeps back (HELD)
 *    is on its flow's list instead, until there is credit for it; it keeps that
 *    credit through all resends, until it is completed.
 *  - Each work request handed to the port holds a reference on the agent, taken
 *    before the device is asked for anything, released when that has completed.
 *    A send that expects a response holds one more, released when the response
 *    arrives, the wait times out or it is cancelled: the only one that a HELD send
 *    has.  An RMPP transfer is a work request of its own here (it ends with the
 *    last ACK, and not before its segments); each of its segments in flight holds
 *    another.
 *  - Each search for the way back to who sent an RMPP MAD holds a reference on the
 *    agent.  It ends by itself within the time of an address resolution.
 *  - A completed send and a received MAD go to the agent's inbox while a
 *    reference is held, so no reference means nothing more can enter the inbox.
 *  - Deregistration closes the agent to new sends, cancels those that wait for
 *    a response, in a lane or for credit, takes back what RMPP has in a lane, lets
 *    the posted ones finish (within IBMAD_DRAIN_MS; then the QP is reset, which
 *    completes them), waits until no reference remains and then until the inbox
 *    has been delivered.
 */
#include <linux/completion.h>
#include <linux/hashtable.h>
#include <linux/kref.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/rhashtable.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <kunit/visibility.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_smi.h>
#include <rdma/opa_smi.h>

#define IBMAD_DRAIN_MS		5000	/* a destroy waits this long for completions */
#define IBMAD_FLUSH_MS		2000	/* a QP in error flushes within this */
#define IBMAD_REMAKE_MS		1000U	/* no memory for a QP: the first pause */
#define IBMAD_REMAKE_MAX_MS	60000U	/* each is twice the last, up to this */
#define IBMAD_STALL_MS		20000	/* a lost completion has the QP reset */
#define IBMAD_MAX_REDO		3	/* reposts of a send flushed by another's error */
#define IBMAD_RESPONSE_BURST	16	/* responses sent before a waiting request */
#define IBMAD_MAX_ANSWERS	256	/* of this layer's own, that wait to be posted */
#define IBMAD_MAX_REPLIES	64	/* whose way back is still looked for */
#define IBMAD_SEND_SGE		1
#define IBMAD_MAX_TID_HI	((1U << 24) - 1) /* mlx4 takes the top byte */

struct ibmad_agent;
struct ibmad_flow;
struct ibmad_port;
struct ibmad_qp;
struct ibmad_recv;
struct ibmad_rmpp_send;
struct ibmad_send;

/* ---- main.c ---- */
extern unsigned int ibmad_send_depth;
extern unsigned int ibmad_recv_depth;
extern unsigned int ibmad_request_window;
extern unsigned long ibmad_rmpp_max_bytes;
extern struct workqueue_struct *ibmad_wq;	/* deliveries, recoveries */
extern struct workqueue_struct *ibmad_lookup_wq; /* ways to peers: a second each */

/* ---- agent/delivery.c: a send that is done, or a MAD, in an agent's inbox ---- */
enum ibmad_item_kind {
	IBMAD_ITEM_SENT,
	IBMAD_ITEM_RECEIVED,
};

struct ibmad_item {
	struct llist_node node;
	u8 kind;			/* enum ibmad_item_kind */
};

/* ---- agent/agent.c, agent/send.c: for sa/, beside <rdma/ib_mad.h> ---- */
/* One more of the queries for paths that share another's MAD. */
void ibmad_count_shared(struct ib_mad_agent *agent);
/* Of a send that is not posted yet; what ib_create_send_mad() was given no longer holds. */
void ibmad_send_set_pkey(struct ib_mad_send_buf *buf, u16 pkey_index);

#endif
