// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Delivery: a client's handlers run from its agent's own work item, one at a
 * time and in the order in which the agent's inbox was filled.  No timer,
 * completion queue or other agent waits for a handler that sleeps.  Handlers that do
 * not (IBEX_MAD_DIRECT) also run from the completion queue's work.
 *
 * Who delivers has set IBMAD_DELIVERING, and looks at the inbox once more after clearing
 * it.  So nobody else needs to be told of an item that is added while it is set.
 *
 * Items are added to the inbox only while a reference on the agent (agent->refs) is
 * held, and a completion queue's work delivers only with one.  So once none remains one
 * flush of the work item is the last delivery (agent.c).
 */
#include <ibex/mad_agent.h>

#include "agent/agent.h"
#include "port/port.h"
#include "trace.h"

static void deliver_push(struct ibmad_agent *agent, struct ibmad_item *item,
			 enum ibmad_item_kind kind)
{
	WARN_ON_ONCE(!refcount_read(&agent->refs));
	item->kind = kind;
	/*
	 * If the inbox was not empty, somebody will take this item already.  llist_add()
	 * is a full barrier; it pairs with the one in deliver_pass().
	 */
	if (llist_add(&item->node, &agent->inbox) &&
	    !test_bit(IBMAD_DELIVERING, &agent->delivering))
		queue_work(ibmad_wq, &agent->deliver);
}

/* @send is DONE, its status set. */
void ibmad_deliver_send(struct ibmad_agent *agent, struct ibmad_send *send)
{
	deliver_push(agent, &send->item, IBMAD_ITEM_SENT);
}

/*
 * Consumes @recv unless it returns false: the inbox is full.  Responses always fit:
 * there are no more of them than sends, for which clients allocate the memory.
 */
bool ibmad_deliver_recv(struct ibmad_agent *agent, struct ibmad_recv *recv,
			struct ib_mad_send_buf *send_buf)
{
	if (!send_buf &&
	    atomic_inc_return(&agent->inbox_recvs) > 8 * ibmad_recv_depth) {
		atomic_dec(&agent->inbox_recvs);
		return false;
	}
	recv->solicited = send_buf;
	recv->send_buf = send_buf;
	if (send_buf)
		recv->wc.wr_id = (unsigned long)send_buf;
	deliver_push(agent, &recv->item, IBMAD_ITEM_RECEIVED);
	return true;
}

static void deliver_sent(struct ibmad_agent *agent, struct ibmad_send *send)
{
	struct ib_mad_send_wc wc = {
		.send_buf = &send->buf,
		.status = send->status,
		.vendor_err = send->vendor_err,
	};

	trace_ib_mad_send_done_agent(agent);
	/* A send that was withdrawn or never started is still mapped. */
	ibmad_send_unmap(send);
	/* From here on the client owns the buffer and may free it or post it again. */
	WRITE_ONCE(send->state, IBMAD_IDLE);
	agent->pub.send_handler(&agent->pub, &wc);
}

static void deliver_received(struct ibmad_agent *agent, struct ibmad_recv *recv)
{
	trace_ib_mad_recv_done_agent(agent);
	if (!recv->solicited)
		atomic_dec(&agent->inbox_recvs);
	atomic_long_sub(recv->rmpp_bytes, &agent->rmpp.bytes);
	agent->pub.recv_handler(&agent->pub, recv->send_buf, &recv->recv_wc);
}

static void deliver_inbox(struct ibmad_agent *agent)
{
	struct llist_node *list = llist_reverse_order(llist_del_all(&agent->inbox));
	struct ibmad_item *item, *next;

	llist_for_each_entry_safe(item, next, list, node) {
		switch (item->kind) {
		case IBMAD_ITEM_SENT:
			deliver_sent(agent,
				     container_of(item, struct ibmad_send, item));
			break;
		case IBMAD_ITEM_RECEIVED:
			deliver_received(agent,
					 container_of(item, struct ibmad_recv, item));
			break;
		}
		cond_resched();
	}
}

/*
 * Delivers what is in the inbox, after IBMAD_DELIVERING was set, and clears it.  Returns
 * whether items were added meanwhile, of which nobody else may have been told.
 */
static bool deliver_pass(struct ibmad_agent *agent)
{
	deliver_inbox(agent);
	clear_bit_unlock(IBMAD_DELIVERING, &agent->delivering);
	smp_mb__after_atomic();	/* pairs with deliver_push() */
	return !llist_empty(&agent->inbox);
}

static bool deliver_claim(struct ibmad_agent *agent)
{
	return !test_and_set_bit(IBMAD_DELIVERING, &agent->delivering);
}

/* A flush of this work waits for all passes. */
void ibmad_deliver_work(struct work_struct *work)
{
	struct ibmad_agent *agent = container_of(work, struct ibmad_agent, deliver);

	while (deliver_claim(agent) && deliver_pass(agent))
		;
}

bool ibmad_deliver_begin(struct ibmad_agent *agent)
{
	if (!(agent->pub.flags & IBEX_MAD_DIRECT) || !deliver_claim(agent))
		return false;
	refcount_inc(&agent->refs);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(ibmad_deliver_begin);

/* One pass: the completion queue has others to serve. */
void ibmad_deliver_end(struct ibmad_agent *agent)
{
	if (deliver_pass(agent))
		queue_work(ibmad_wq, &agent->deliver);
	ibmad_agent_put(agent);
}
EXPORT_SYMBOL_IF_KUNIT(ibmad_deliver_end);
