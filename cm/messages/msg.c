// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Messages to send: allocated, posted, answered or given up.
 *
 * An id has at most one outstanding request (REQ, REP, DREQ, LAP or SIDR_REQ), in
 * id->msg; the MAD layer resends it until it is stopped or its retries are used up, and
 * the CM itself resends a REP.  All other messages are sent once.
 *
 * References on a message: its creator's until it is posted or dropped, that of id->msg,
 * and the MAD layer's until the send handler.  For an unanswered REP, the send handler
 * passes the MAD layer's reference to the work that probes the PSN, and from there to
 * the next posting.  A DREQ whose id is destroyed has the reference of peer->dreq in
 * place of that of id->msg.
 */
#include <linux/slab.h>
#include <ibex/mad_agent.h>

#include "ibcm/id.h"
#include "ibcm/port.h"
#include "messages/messages.h"
#include "trace.h"

/*
 * One function begins the read section and another ends it.  So this uses the
 * semaphore-like calls, which lockdep does not track, and annotations that balance
 * the section for sparse.
 */
static int ibcm_section_begin(void)
{
	int idx = srcu_down_read(&ibcm_srcu);

	__release(&ibcm_srcu);
	return idx;
}

static void ibcm_section_end(int idx)
{
	__acquire(&ibcm_srcu);
	srcu_up_read(&ibcm_srcu, idx);
}

/* Begins the read section and allocates the buffer, to be sent along @msg->path. */
static int ibcm_msg_buf(struct ibcm_msg *msg, u32 qpn, u16 pkey_index)
{
	struct ib_mad_send_buf *buf = ERR_PTR(-ENODEV);
	struct ib_mad_agent *agent;

	msg->srcu_idx = ibcm_section_begin();
	agent = rcu_dereference_check(msg->port->agent, true);
	if (agent)
		buf = ib_create_send_mad(agent, qpn, pkey_index, 0,
					 IB_MGMT_MAD_HDR, IB_MGMT_MAD_DATA,
					 GFP_KERNEL, IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf)) {
		ibcm_section_end(msg->srcu_idx);
		return PTR_ERR(buf);
	}
	buf->ah = msg->path->ah;
	buf->context[0] = msg;
	msg->buf = buf;
	return 0;
}

/* Takes a reference on @path. */
static struct ibcm_msg *ibcm_msg_new(struct ibcm_path *path, u32 qpn,
				     u16 pkey_index, enum ibcm_kind kind)
{
	struct ibcm_msg *msg;
	int ret;

	msg = kzalloc(sizeof(*msg), GFP_KERNEL);
	if (!msg)
		return ERR_PTR(-ENOMEM);
	refcount_set(&msg->ref, 1);
	msg->port = path->key.port;
	msg->path = path;
	msg->kind = kind;

	ret = ibcm_path_use(path);
	if (ret)
		goto err_free;
	ret = ibcm_msg_buf(msg, qpn, pkey_index);
	if (ret)
		goto err_unuse;
	refcount_inc(&path->ref);
	return msg;

err_unuse:
	ibcm_path_unuse(path);
err_free:
	kfree(msg);
	return ERR_PTR(ret);
}

/* Allocates a message of @id along @path, which may not be id->path yet.  May sleep. */
struct ibcm_msg *ibcm_msg_alloc_by(struct ibcm_id *id, struct ibcm_path *path,
				   u16 pkey_index, enum ibcm_kind kind)
{
	struct ibcm_msg *msg = ibcm_msg_new(path, id->id.remote_cm_qpn,
					    pkey_index, kind);

	if (!IS_ERR(msg)) {
		ibcm_id_get(id);
		msg->id = id;
	}
	return msg;
}

/*
 * Allocates a message to the peer of @id.  -EINVAL if the id has no peer yet; -ENODEV
 * after removal of the device or the source address; -ENOMEM; or the provider's error
 * if it can create no address handle.  May sleep.
 */
struct ibcm_msg *ibcm_msg_alloc(struct ibcm_id *id, enum ibcm_kind kind)
{
	struct ibcm_path *path;
	struct ibcm_msg *msg;
	u16 pkey_index;
	bool known;

	spin_lock_irq(&id->lock);
	path = id->path;
	pkey_index = id->pkey_index;
	known = id->av.port;
	if (path)
		refcount_inc(&path->ref);
	spin_unlock_irq(&id->lock);
	/* An id with an address vector but no path lost the path on device removal. */
	if (!path)
		return ERR_PTR(known ? -ENODEV : -EINVAL);
	msg = ibcm_msg_alloc_by(id, path, pkey_index, kind);
	ibcm_path_put(path);
	return msg;
}

/* Allocates a message to the sender of @wc, without an id.  May sleep. */
struct ibcm_msg *ibcm_msg_alloc_to(struct ibcm_port *port,
				   const struct ib_mad_recv_wc *wc,
				   enum ibcm_kind kind)
{
	struct rdma_ah_attr ah_attr;
	struct ibcm_path *path;
	struct ibcm_msg *msg;
	int ret;

	ret = ib_init_ah_attr_from_wc(port->dev->ibdev, port->num, wc->wc,
				      wc->recv_buf.grh, &ah_attr);
	if (ret)
		return ERR_PTR(ret);
	path = ibcm_path_get(port, &ah_attr);
	rdma_destroy_ah_attr(&ah_attr);
	if (IS_ERR(path))
		return ERR_CAST(path);
	msg = ibcm_msg_new(path, wc->wc->src_qp, wc->wc->pkey_index, kind);
	ibcm_path_put(path);
	return msg;
}

/*
 * Frees the buffer before it puts the path, as device removal waits for the last path.
 * The buffer keeps what it needs of its agent, which may be unregistered.
 */
void ibcm_msg_put(struct ibcm_msg *msg)
{
	if (!refcount_dec_and_test(&msg->ref))
		return;
	ib_free_send_mad(msg->buf);
	ibcm_path_unuse(msg->path);
	ibcm_path_put(msg->path);
	if (msg->id)
		ibcm_id_put(msg->id);
	kfree(msg);
}

/* Fills in the header (IBA vol. 1, 13.4.3, 16.7.1). */
void ibcm_mad_hdr(struct ib_mad_hdr *hdr, enum ibcm_kind kind, __be64 tid)
{
	hdr->base_version = IB_MGMT_BASE_VERSION;
	hdr->mgmt_class = IB_MGMT_CLASS_CM;
	hdr->class_version = IBCM_CLASS_VERSION;
	hdr->method = IB_MGMT_METHOD_SEND;
	hdr->attr_id = cpu_to_be16(be16_to_cpu(CM_REQ_ATTR_ID) + kind);
	hdr->tid = tid;
}

/* Fills in the header and returns the MAD. */
void *ibcm_msg_mad(struct ibcm_msg *msg, __be64 tid)
{
	ibcm_mad_hdr(msg->buf->mad, msg->kind, tid);
	return msg->buf->mad;
}

/* Returns a transaction id for a new exchange of the message's id. */
__be64 ibcm_new_tid(const struct ibcm_msg *msg)
{
	u32 low = be32_to_cpu(msg->id->id.local_id) ^ ((u32)msg->kind << 28);

	return cpu_to_be64((u64)msg->buf->mad_agent->hi_tid << 32 | low);
}

int ibcm_msg_post(struct ibcm_msg *msg)
{
	int ret;

	refcount_inc(&msg->ref);
	msg->sent = ktime_get();
	ret = ib_post_send_mad(msg->buf, NULL);
	if (ret) {
		refcount_dec(&msg->ref);
	} else {
		WRITE_ONCE(msg->posted, true);
		ibcm_count(msg->port, IBCM_TX_MSGS, msg->kind);
		/* Pairs with ibcm_msg_stop(): one of the two cancels the posted MAD. */
		smp_mb();
		if (READ_ONCE(msg->stopped))
			ib_cancel_mad(msg->buf);
	}
	ibcm_section_end(msg->srcu_idx);
	ibcm_msg_put(msg);
	return ret;
}

void ibcm_msg_drop(struct ibcm_msg *msg)
{
	ibcm_section_end(msg->srcu_idx);
	ibcm_msg_put(msg);
}

void ibcm_msg_repeat(struct ibcm_msg *msg, u32 timeout_ms, u8 retries)
{
	msg->request = true;
	msg->buf->timeout_ms = timeout_ms;
	msg->buf->retries = retries;
}

/* Returns the request that @msg replaces, for ibcm_msg_stop(). */
struct ibcm_msg *ibcm_msg_attach(struct ibcm_id *id, struct ibcm_msg *msg,
				 u32 timeout_ms, u8 retries)
{
	struct ibcm_msg *old = ibcm_msg_detach(id);

	refcount_inc(&msg->ref);
	ibcm_msg_repeat(msg, timeout_ms, retries);
	id->msg = msg;
	return old;
}

struct ibcm_msg *ibcm_msg_detach(struct ibcm_id *id)
{
	struct ibcm_msg *msg = id->msg;

	lockdep_assert_held(&id->lock);
	id->msg = NULL;
	return msg;
}

int ibcm_step_post(struct ibcm_id *id, struct ibcm_msg *msg,
		   const struct ibcm_todo *todo)
{
	struct ibcm_msg *lap = NULL;
	bool detached = false;
	int ret;

	refcount_inc(&msg->ref);
	ret = ibcm_msg_post(msg);
	if (ret) {
		spin_lock_irq(&id->lock);
		if (id->msg == msg) {
			id->msg = NULL;
			detached = true;
		}
		if (msg->request == detached)
			lap = ibcm_step_failed(id, todo);
		spin_unlock_irq(&id->lock);
		ibcm_msg_stop(lap);
	}
	if (detached)
		ibcm_msg_put(msg);
	ibcm_msg_put(msg);
	return ret;
}

/* The request has completed in the MAD layer and is not resent any more. */
static void ibcm_request_done(struct ibcm_msg *msg, enum ib_wc_status status)
{
	struct ibcm_id *id = msg->id;
	unsigned long flags;
	bool detached = false, left;

	spin_lock_irqsave(&id->lock, flags);
	msg->over = true;
	left = msg->left;
	if (id->msg == msg) {
		detached = true;
		id->msg = NULL;
		id->failed_status = status;
		ibcm_id_kick(id, IBCM_PEND_SEND_FAILED);
	}
	spin_unlock_irqrestore(&id->lock, flags);
	if ((detached || left) && status == IB_WC_RESP_TIMEOUT_ERR) {
		atomic_long_inc(&msg->port->unanswered[msg->kind]);
		trace_icm_unanswered(&id->id, ibcm_kind_name(msg->kind), msg->resent);
	}
	if (detached)
		ibcm_msg_put(msg);
	if (left)
		ibcm_dreq_done(msg);
}

bool ibcm_unanswered(struct ibcm_msg *msg)
{
	if (ibcm_retry(msg))
		return true;
	ibcm_request_done(msg, IB_WC_RESP_TIMEOUT_ERR);
	return false;
}

/* Returns true if the REP's work or the next posting took over the MAD layer's reference. */
static bool ibcm_request_sent(struct ibcm_msg *msg, enum ib_wc_status status)
{
	if (status == IB_WC_RESP_TIMEOUT_ERR && ibcm_is_retried(msg))
		return (msg->kind == IBCM_REP && ibcm_rep_look(msg)) || ibcm_unanswered(msg);
	ibcm_request_done(msg, status);
	return false;
}

/* The MAD layer has given back @msg, and its reference. */
static void ibcm_msg_returned(struct ibcm_msg *msg, enum ib_wc_status status)
{
	if (status != IB_WC_SUCCESS && status != IB_WC_RESP_TIMEOUT_ERR &&
	    status != IB_WC_WR_FLUSH_ERR)
		ibcm_stat(msg->port, IBCM_STAT_SEND_ERROR);
	if (msg->request) {
		atomic_long_add(msg->buf->retries,
				&msg->port->counters[IBCM_TX_MSGS][msg->kind]);
		atomic_long_add(msg->buf->retries,
				&msg->port->counters[IBCM_TX_RETRIES][msg->kind]);
		if (ibcm_request_sent(msg, status))
			return;
	}
	ibcm_msg_put(msg);
}

/*
 * Cancels a detached request, in O(1), and puts the reference that id->msg had.  Takes
 * id->lock.
 */
void ibcm_msg_stop(struct ibcm_msg *msg)
{
	if (!msg)
		return;
	WRITE_ONCE(msg->stopped, true);
	smp_mb();	/* pairs with ibcm_msg_post() and ibcm_retry() */
	if (ibmad_take_back(msg->buf))
		ibcm_msg_returned(msg, IB_WC_WR_FLUSH_ERR);
	ibcm_msg_put(msg);
}
EXPORT_SYMBOL_IF_KUNIT(ibcm_msg_stop);

/*
 * The MAD layer's send handler, in the work of the completion queue or of the agent.  Does not
 * sleep (IBEX_MAD_DIRECT).
 */
void ibcm_msg_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	ibcm_msg_returned(wc->send_buf->context[0], wc->status);
}
