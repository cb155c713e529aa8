// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One connection: its verbs objects, its messages and its end. A connection is freed
 * only by its release work, which is queued once, by the first to set CONN_CLOSING: the
 * thread that made it, a drop, or the event handler (device removal; on the passive
 * side any ending).
 */
#include <linux/slab.h>
#include <linux/string.h>
#include "ulp.h"

/* protects standing and conn->link; conn->lock is not taken inside */
static DEFINE_SPINLOCK(standing_lock);
static LIST_HEAD(standing);	/* accepted connections, and those left by hold */

static void conn_free(struct kref *ref)
{
	struct conn *conn = container_of(ref, struct conn, ref);

	kfree(conn);
	atomic_dec(&ulp_live);
}

void conn_put(struct conn *conn)
{
	kref_put(&conn->ref, conn_free);
}

/* Safe in any context; the first caller wins. */
void conn_close(struct conn *conn)
{
	if (!test_and_set_bit(CONN_CLOSING, &conn->bits))
		queue_work(ulp_release_wq, &conn->release);
}

static void conn_unmap(struct conn *conn, struct buffer *buf,
		       enum dma_data_direction way)
{
	if (buf->dma)
		ib_dma_unmap_single(conn->id->device, buf->dma, MSG_SIZE, way);
	buf->dma = 0;
}

void conn_free_verbs(struct conn *conn)
{
	if (conn->id->qp) {
		ib_drain_qp(conn->id->qp);
		rdma_destroy_qp(conn->id);
	}
	conn_unmap(conn, &conn->rx, DMA_FROM_DEVICE);
	conn_unmap(conn, &conn->tx, DMA_TO_DEVICE);
	if (conn->cq && conn->pool_cqes)
		ib_cq_pool_put(conn->cq, conn->pool_cqes);
	else if (conn->cq)
		ib_free_cq(conn->cq);
	if (conn->pd)
		ib_dealloc_pd(conn->pd);
}

/*
 * Why no reference remains when the work ends:
 * (1) completions: the QP is drained and destroyed, and its CQ freed;
 * (2) events: rdma_destroy_id returns only when no handler runs or will run;
 * (3) the list of standing connections: unlinked here;
 * (4) the thread that made the connection has a reference of its own.
 */
static void conn_release(struct work_struct *work)
{
	struct conn *conn = container_of(work, struct conn, release);

	spin_lock(&standing_lock);
	list_del_init(&conn->link);
	spin_unlock(&standing_lock);

	mutex_lock(&conn->lock);
	if (!ulp_abrupt && test_bit(CONN_CONNECTED, &conn->bits))
		rdma_disconnect(conn->id);
	conn_free_verbs(conn);
	mutex_unlock(&conn->lock);
	rdma_destroy_id(conn->id);
	complete_all(&conn->released);
	conn_put(conn);
}

struct conn *conn_alloc(bool active)
{
	struct conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);

	if (!conn)
		return NULL;
	atomic_inc(&ulp_live);
	kref_init(&conn->ref);
	mutex_init(&conn->lock);
	if (active)
		__set_bit(CONN_ACTIVE, &conn->bits);
	init_completion(&conn->event);
	init_completion(&conn->echoed);
	init_completion(&conn->over);
	init_completion(&conn->released);
	atomic_set(&conn->sends_left, ulp_rounds);
	atomic_set(&conn->echoes_due, ulp_rounds);
	INIT_WORK(&conn->release, conn_release);
	INIT_LIST_HEAD(&conn->link);
	return conn;
}

/* --- messages -------------------------------------------------------------- */

static void message_fill(struct message *msg, u64 cookie)
{
	msg->cookie = cpu_to_be64(cookie);
	memset(msg->fill, (u8)cookie, sizeof(msg->fill));
}

static bool message_good(const struct message *msg, u64 cookie)
{
	return be64_to_cpu(msg->cookie) == cookie &&
	       !memchr_inv(msg->fill, (u8)cookie, sizeof(msg->fill));
}

static void io_failed(struct conn *conn, const struct ib_wc *wc)
{
	if (wc->status != IB_WC_WR_FLUSH_ERR &&
	    !test_bit(CONN_DISCONNECTED, &conn->bits) &&
	    !test_bit(CONN_CLOSING, &conn->bits)) {
		ulp_count(ULP_IO_ERROR);
		pr_info("completion failed: %s\n", ib_wc_status_msg(wc->status));
	}
	complete(&conn->echoed);
}

static void sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct conn *conn = container_of(wc->wr_cqe, struct conn, tx.cqe);

	if (wc->status != IB_WC_SUCCESS)
		io_failed(conn, wc);
}

int conn_post_message(struct conn *conn)
{
	struct ib_sge sge = {
		.addr = conn->tx.dma,
		.length = MSG_SIZE,
		.lkey = conn->pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.wr_cqe = &conn->tx.cqe,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};

	message_fill(&conn->tx.msg, conn->cookie);
	ib_dma_sync_single_for_device(conn->id->device, conn->tx.dma, MSG_SIZE,
				      DMA_TO_DEVICE);
	return ib_post_send(conn->id->qp, &wr, NULL);
}

int conn_post_receive(struct conn *conn)
{
	struct ib_sge sge = {
		.addr = conn->rx.dma,
		.length = MSG_SIZE,
		.lkey = conn->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &conn->rx.cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ib_post_recv(conn->id->qp, &wr, NULL);
}

/*
 * After a received message, posts its buffer again, then answers it or sends the next.
 * Nothing is posted after the last one, so that a drain comes last.
 */
static int post_again(struct conn *conn)
{
	int ret = 0;

	if (atomic_dec_return(&conn->recvs_left) >= 0)
		ret = conn_post_receive(conn);
	if (ret)
		return ret;
	if (test_bit(CONN_ACTIVE, &conn->bits) &&
	    atomic_dec_return(&conn->sends_left) < 0)
		return 0;
	return conn_post_message(conn);
}

/* Every message of a connection is alike, so all share its two buffers. */
int conn_exchange(struct conn *conn)
{
	unsigned int i;
	int ret = 0;

	if (test_bit(CONN_DIRECT, &conn->bits))
		return conn_poll(conn);
	for (i = 0; i < ulp_window && !ret; i++)
		if (atomic_dec_return(&conn->sends_left) >= 0)
			ret = conn_post_message(conn);
	return ret;
}

static void received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct conn *conn = container_of(wc->wr_cqe, struct conn, rx.cqe);

	if (wc->status != IB_WC_SUCCESS) {
		io_failed(conn, wc);
		return;
	}
	ib_dma_sync_single_for_cpu(conn->id->device, conn->rx.dma, MSG_SIZE,
				   DMA_FROM_DEVICE);
	if (wc->byte_len != MSG_SIZE || !message_good(&conn->rx.msg, conn->cookie))
		ulp_count(ULP_BAD_DATA);
	times_received(conn->times);
	if (!test_bit(CONN_DIRECT, &conn->bits) && post_again(conn))
		ulp_count(ULP_IO_ERROR);
	if (!atomic_dec_return(&conn->echoes_due)) {
		set_bit(CONN_ECHOED, &conn->bits);
		complete(&conn->echoed);
	}
}

/* --- verbs objects --------------------------------------------------------- */

static int conn_map(struct conn *conn, struct buffer *buf,
		    enum dma_data_direction way)
{
	struct ib_device *dev = conn->id->device;
	u64 dma = ib_dma_map_single(dev, &buf->msg, MSG_SIZE, way);

	if (ib_dma_mapping_error(dev, dma))
		return -EIO;
	buf->dma = dma;
	return 0;
}

/* The active side has CQs of its own, the passive side shares the pool's. */
static int conn_get_cq(struct conn *conn)
{
	struct ib_device *dev = conn->id->device;
	unsigned int cqes = 3 * ulp_window + 6;
	struct ib_cq *cq;

	if (test_bit(CONN_ACTIVE, &conn->bits) && ulp_direct) {
		set_bit(CONN_DIRECT, &conn->bits);
		cq = ib_alloc_cq_any(dev, NULL, cqes, IB_POLL_DIRECT);
	} else if (test_bit(CONN_ACTIVE, &conn->bits) || ulp_own_cq) {
		cq = ib_alloc_cq_any(dev, NULL, cqes, IB_POLL_WORKQUEUE);
	} else {
		cq = ib_cq_pool_get(dev, cqes, -1, IB_POLL_SOFTIRQ);
		conn->pool_cqes = IS_ERR(cq) ? 0 : cqes;
	}
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	conn->cq = cq;
	return 0;
}

static int post_receives(struct conn *conn)
{
	unsigned int i, n = ulp_silent ? 0 : min(ulp_window, ulp_rounds);
	int ret = 0;

	atomic_set(&conn->recvs_left, ulp_rounds - n);
	for (i = 0; i < n && !ret; i++)
		ret = conn_post_receive(conn);
	return ret;
}

int conn_make_verbs(struct conn *conn)
{
	struct ib_qp_init_attr attr = {
		.cap = {
			/* a receive may be seen before an earlier send's completion */
			.max_send_wr = 2 * ulp_window + 1,
			.max_recv_wr = ulp_window + 1,	/* and a drain's */
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	struct ib_pd *pd;
	int ret;

	pd = ib_alloc_pd(conn->id->device, 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	conn->pd = pd;
	conn->rx.cqe.done = received;
	conn->tx.cqe.done = sent;

	ret = conn_get_cq(conn);
	if (!ret)
		ret = conn_map(conn, &conn->rx, DMA_FROM_DEVICE);
	if (!ret)
		ret = conn_map(conn, &conn->tx, DMA_TO_DEVICE);
	if (ret)
		return ret;
	attr.send_cq = conn->cq;
	attr.recv_cq = conn->cq;
	ret = rdma_create_qp(conn->id, conn->pd, &attr);
	return ret ?: post_receives(conn);
}

void conn_param(struct rdma_conn_param *param, const __be64 *cookie)
{
	memset(param, 0, sizeof(*param));
	param->private_data = cookie;
	param->private_data_len = sizeof(*cookie);
	param->responder_resources = 1;
	param->initiator_depth = 1;
	param->retry_count = 7;
	param->rnr_retry_count = 7;
}

void conn_stand(struct conn *conn)
{
	spin_lock(&standing_lock);
	if (!test_bit(CONN_CLOSING, &conn->bits))
		list_add_tail(&conn->link, &standing);
	spin_unlock(&standing_lock);
}

void conn_drop_standing(bool active_only)
{
	struct conn *conn;

	spin_lock(&standing_lock);
	list_for_each_entry(conn, &standing, link)
		if (!active_only || test_bit(CONN_ACTIVE, &conn->bits))
			conn_close(conn);
	spin_unlock(&standing_lock);
	flush_workqueue(ulp_release_wq);
}
