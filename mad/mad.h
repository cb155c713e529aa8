/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_MAD_H
#define IBEX_MAD_H

/*
 * Declarations that all files of ib_mad share; what a folder offers to the others is in a
 * header of its own.
 *
 * Lock order, outermost first:
 *	mqp->reset_mutex		(qp.c)		one recovery at a time
 *	port->reg_mutex			(agent.c)	registrations of a port
 *	agent->rmpp.mutex		(rmpp/recv.c)	its reassemblies
 *	  port->rahs_lock		(rmpp/way.c)	address handles of RMPP peers
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
 *    list (agent->sends).  Until its work request completes it is in a lane of
 *    the backlog of its port or in a slot of the QP as well, and again for each
 *    resend.  A request that flow control holds back (HELD) is on its flow's
 *    list instead, until there is credit for it; it keeps that credit through
 *    all resends, until it is completed.
 *  - Each work request handed to the port holds a reference on the agent, taken
 *    before the work request is posted and released when it has completed.  A
 *    send that expects a response holds one more, released when the response
 *    arrives, the wait times out or it is cancelled; a HELD send has only this
 *    one.  An RMPP transfer counts as one work request here (it ends with the
 *    last ACK, and not before its segments); each of its segments in flight
 *    holds another reference.
 *  - A completion queue's work that delivers (IBEX_MAD_DIRECT) holds a reference on the
 *    agent until it has delivered.
 *  - Each lookup of the address handle for the sender of an RMPP MAD holds a
 *    reference on the agent.  It ends by itself within the time of an address
 *    resolution.
 *  - A completed send and a received MAD go to the agent's inbox while a
 *    reference is held, so no reference means nothing more can enter the inbox.
 *  - Deregistration closes the agent to new sends, cancels those that wait for
 *    a response, in a lane or for credit, takes back RMPP's MADs in a lane, lets
 *    those on the QP finish (within IBMAD_DRAIN_MS; then the QP is reset, which
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
#include <ibex/compat.h>

#define IBMAD_DRAIN_MS		5000	/* deregistration waits this long for sends */
#define IBMAD_FLUSH_MS		2000	/* a QP in ERR flushes within this time */
#define IBMAD_REMAKE_MS		1000U	/* first delay before a lost QP is recreated */
#define IBMAD_REMAKE_MAX_MS	60000U	/* the delay doubles up to this */
#define IBMAD_STALL_MS		20000	/* the oldest send is seen to after this time */
#define IBMAD_MAX_REDO		3	/* reposts of a send flushed by another's error */
#define IBMAD_RESPONSE_BURST	16	/* responses sent before a waiting request */
#define IBMAD_MAX_ANSWERS	256	/* queued ACKs, replies and forwarded SMPs */
#define IBMAD_MAX_REPLIES	64	/* replies that wait for an address */
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
extern struct workqueue_struct *ibmad_lookup_wq; /* lookups of up to 1 s each */

/* ---- agent/delivery.c: completed sends and received MADs in an agent's inbox ---- */
enum ibmad_item_kind {
	IBMAD_ITEM_SENT,
	IBMAD_ITEM_RECEIVED,
};

struct ibmad_item {
	struct llist_node node;
	u8 kind;			/* enum ibmad_item_kind */
};

/* ---- agent/agent.c, agent/send.c: for sa/, in addition to <rdma/ib_mad.h> ---- */
/* Counts a path query that shares the MAD of another. */
void ibmad_count_shared(struct ib_mad_agent *agent);
/*
 * Replaces the P_Key index given to ib_create_send_mad(); the send is not posted yet.
 */
void ibmad_send_set_pkey(struct ib_mad_send_buf *buf, u16 pkey_index);

#endif
