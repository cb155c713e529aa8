// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * PDs, AHs, CQs, the QP1 and RC QPs.
 *
 * Locks: qp->lock and cq->lock, neither taken inside the other; callers may hold
 * locks of their own, with interrupts off.
 */
#include <linux/export.h>
#include <linux/ip.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <net/checksum.h>
#include <rdma/ib_mad.h>
#include "instant.h"

struct instant_pd {
	struct ib_pd ibpd;
};

struct instant_ah {
	struct ib_ah ibah;
	struct rdma_ah_attr attr;
	__be32 saddr;			/* RoCE: of the GIDs */
	__be32 daddr;
};

struct instant_cq {
	struct ib_cq ibcq;
	spinlock_t lock;		/* protects all below */
	struct list_head link;		/* cqs; cqs_lock */
	struct ib_wc *ring;
	u32 head, tail, mask;
	bool armed;
};

struct instant_recv {
	struct ib_cqe *cqe;
	void *addr;
	bool grh;			/* one was received */
};

struct instant_qp {
	struct ib_qp ibqp;
	spinlock_t lock;		/* protects all below */
	enum ib_qp_state state;
	struct instant_recv *ring;
	u32 head, tail, mask;
	struct instant_iw iw;		/* of an RC QP; see instant.h */
};

static LIST_HEAD(cqs);			/* protected by cqs_lock */
static DEFINE_SPINLOCK(cqs_lock);
static DECLARE_WAIT_QUEUE_HEAD(all_idle);
static struct instant_qp *qp1;		/* NULL while it does not exist */
static bool loop;
static DEFINE_XARRAY_ALLOC(rc_qps);	/* by number */

static struct instant_ah *to_ah(struct ib_ah *ibah)
{
	return container_of(ibah, struct instant_ah, ibah);
}

static struct instant_cq *to_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct instant_cq, ibcq);
}

static struct instant_qp *to_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct instant_qp, ibqp);
}

/* ---- PDs, MRs, AHs ---- */

static int instant_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int instant_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static struct ib_mr *instant_get_dma_mr(struct ib_pd *pd, int access)
{
	struct ib_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	return mr ?: ERR_PTR(-ENOMEM);
}

static int instant_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	kfree(mr);
	return 0;
}

static struct ib_mr *instant_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
					 u64 virt_addr, int access,
					 struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static int instant_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
			     struct ib_udata *udata)
{
	struct instant_ah *ah = to_ah(ibah);

	ah->attr = *init->ah_attr;
	if (ah->attr.type == RDMA_AH_ATTR_TYPE_ROCE) {
		const struct ib_global_route *grh = rdma_ah_read_grh(&ah->attr);

		memcpy(&ah->saddr, &grh->sgid_attr->gid.raw[12], sizeof(ah->saddr));
		memcpy(&ah->daddr, &grh->dgid.raw[12], sizeof(ah->daddr));
	}
	return 0;
}

static int instant_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	*attr = to_ah(ibah)->attr;
	return 0;
}

static int instant_destroy_ah(struct ib_ah *ah, u32 flags)
{
	return 0;
}

/* ---- CQs ---- */

static int instant_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
			     IBEX_DRIVER_DATA *data)
{
	struct instant_cq *cq = to_cq(ibcq);
	u32 size = roundup_pow_of_two(attr->cqe + 1);

	cq->ring = kvcalloc(size, sizeof(*cq->ring), GFP_KERNEL);
	if (!cq->ring)
		return -ENOMEM;
	cq->mask = size - 1;
	spin_lock_init(&cq->lock);
	ibcq->cqe = attr->cqe;
	spin_lock_irq(&cqs_lock);
	list_add(&cq->link, &cqs);
	spin_unlock_irq(&cqs_lock);
	return 0;
}

static int instant_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct instant_cq *cq = to_cq(ibcq);

	spin_lock_irq(&cqs_lock);
	list_del(&cq->link);
	spin_unlock_irq(&cqs_lock);
	kvfree(cq->ring);
	return 0;
}

static int instant_poll_cq(struct ib_cq *ibcq, int max, struct ib_wc *wc)
{
	struct instant_cq *cq = to_cq(ibcq);
	unsigned long flags;
	int n;

	spin_lock_irqsave(&cq->lock, flags);
	for (n = 0; n < max && cq->head != cq->tail; n++)
		wc[n] = cq->ring[cq->tail++ & cq->mask];
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

static int instant_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags how)
{
	struct instant_cq *cq = to_cq(ibcq);
	unsigned long flags;
	bool missed;

	spin_lock_irqsave(&cq->lock, flags);
	cq->armed = true;
	missed = cq->head != cq->tail;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (!missed && wq_has_sleeper(&all_idle))
		wake_up(&all_idle);
	return missed && (how & IB_CQ_REPORT_MISSED_EVENTS);
}

static void cq_push(struct ib_cq *ibcq, const struct ib_wc *wc)
{
	struct instant_cq *cq = to_cq(ibcq);
	unsigned long flags;
	bool notify;

	spin_lock_irqsave(&cq->lock, flags);
	WARN_ON_ONCE(cq->head - cq->tail > cq->mask);
	cq->ring[cq->head++ & cq->mask] = *wc;
	notify = cq->armed;
	cq->armed = false;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (notify)
		ibcq->comp_handler(ibcq, ibcq->cq_context);
}

static bool cqs_idle(void)
{
	struct instant_cq *cq;
	bool yes = true;

	spin_lock_irq(&cqs_lock);
	list_for_each_entry(cq, &cqs, link) {
		spin_lock(&cq->lock);
		yes &= cq->armed && cq->head == cq->tail;
		spin_unlock(&cq->lock);
	}
	spin_unlock_irq(&cqs_lock);
	return yes;
}

int instant_quiesce(void)
{
	return wait_event_timeout(all_idle, cqs_idle(), 30 * HZ) ? 0 : -ETIMEDOUT;
}
EXPORT_SYMBOL_GPL(instant_quiesce);

/* ---- QPs ---- */

static int instant_create_rc(struct instant_qp *qp)
{
	instant_iw_init(&qp->iw);
	return xa_alloc(&rc_qps, &qp->ibqp.qp_num, qp, XA_LIMIT(2, 0xfffffe), GFP_KERNEL);
}

struct ib_qp *instant_find_qp(u32 qpn)
{
	struct instant_qp *qp = xa_load(&rc_qps, qpn);

	return qp ? &qp->ibqp : NULL;
}

struct instant_iw *instant_iw(struct ib_qp *qp)
{
	return &to_qp(qp)->iw;
}

static int instant_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
			     struct ib_udata *udata)
{
	struct instant_qp *qp = to_qp(ibqp);
	u32 size = roundup_pow_of_two(init->cap.max_recv_wr);

	if (init->qp_type == IB_QPT_RC)
		return instant_create_rc(qp);
	if (init->qp_type != IB_QPT_GSI)
		return -EOPNOTSUPP;
	qp->ring = kvcalloc(size, sizeof(*qp->ring), GFP_KERNEL);
	if (!qp->ring)
		return -ENOMEM;
	qp->mask = size - 1;
	spin_lock_init(&qp->lock);
	ibqp->qp_num = 1;
	qp1 = qp;
	return 0;
}

static int instant_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	if (ibqp->qp_type == IB_QPT_RC) {
		xa_erase(&rc_qps, ibqp->qp_num);
		instant_iw_destroy(&to_qp(ibqp)->iw);
		return 0;
	}
	qp1 = NULL;
	kvfree(to_qp(ibqp)->ring);
	return 0;
}

static bool qp_take_recv(struct instant_qp *qp, struct instant_recv *recv)
{
	unsigned long flags;
	bool any;

	spin_lock_irqsave(&qp->lock, flags);
	any = qp->head != qp->tail;
	if (any)
		*recv = qp->ring[qp->tail++ & qp->mask];
	spin_unlock_irqrestore(&qp->lock, flags);
	return any;
}

static int instant_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
			     struct ib_udata *udata)
{
	struct instant_qp *qp = to_qp(ibqp);
	struct instant_recv recv;

	if (mask & IB_QP_STATE)
		qp->state = attr->qp_state;
	if (ibqp->qp_type == IB_QPT_RC) {
		if (qp->state >= IB_QPS_SQD)
			instant_iw_close(&qp->iw);
		return 0;
	}
	while (qp->state == IB_QPS_ERR && qp_take_recv(qp, &recv)) {
		struct ib_wc wc = {
			.wr_cqe = recv.cqe,
			.status = IB_WC_WR_FLUSH_ERR,
			.qp = ibqp,
		};

		cq_push(ibqp->recv_cq, &wc);
	}
	return 0;
}

static int instant_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
			    struct ib_qp_init_attr *init)
{
	attr->qp_state = to_qp(ibqp)->state;
	return 0;
}

static int instant_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
			     const struct ib_recv_wr **bad)
{
	struct instant_qp *qp = to_qp(ibqp);
	unsigned long flags;
	int ret = 0;

	if (ibqp->qp_type == IB_QPT_RC) {
		*bad = wr;
		return -EOPNOTSUPP;
	}
	spin_lock_irqsave(&qp->lock, flags);
	for (; wr; wr = wr->next) {
		if (qp->head - qp->tail > qp->mask) {
			*bad = wr;
			ret = -ENOMEM;
			break;
		}
		qp->ring[qp->head++ & qp->mask] = (struct instant_recv) {
			.cqe = wr->wr_cqe,
			.addr = ib_virt_dma_to_ptr(wr->sg_list[0].addr),
		};
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	return ret;
}

/* RoCE v2 over IPv4: the last 20 bytes of the GRH are the IPv4 header. */
static void fill_grh(void *to, const struct instant_ah *ah)
{
	struct iphdr ip = {
		.version = 4,
		.ihl = sizeof(ip) / 4,
		.ttl = 64,
		.protocol = IPPROTO_UDP,
		.saddr = ah->saddr,
		.daddr = ah->daddr,
	};

	ip.check = ip_fast_csum(&ip, ip.ihl);
	memset(to, 0, sizeof(struct ib_grh) - sizeof(ip));
	memcpy(to + sizeof(struct ib_grh) - sizeof(ip), &ip, sizeof(ip));
}

/*
 * Puts @mad, sent to @ah or, without it, from INSTANT_LID, in the next receive; returns
 * false if there is none: the MAD is dropped.
 */
static bool qp_fill_recv(struct instant_qp *qp, const void *mad,
			 const struct instant_ah *ah, struct instant_recv *recv)
{
	if (!qp_take_recv(qp, recv))
		return false;
	recv->grh = ah && ah->attr.type == RDMA_AH_ATTR_TYPE_ROCE;
	if (recv->grh)
		fill_grh(recv->addr, ah);
	memcpy(recv->addr + sizeof(struct ib_grh), mad, IB_MGMT_MAD_SIZE);
	return true;
}

static void qp_received(struct instant_qp *qp, const struct instant_recv *recv)
{
	struct ib_wc wc = {
		.wr_cqe = recv->cqe,
		.opcode = IB_WC_RECV,
		.byte_len = sizeof(struct ib_grh) + IB_MGMT_MAD_SIZE,
		.qp = &qp->ibqp,
		.src_qp = 1,
		.slid = INSTANT_LID,
		.port_num = 1,
	};

	if (recv->grh) {
		wc.slid = 0;
		wc.wc_flags = IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE;
		wc.network_hdr_type = RDMA_NETWORK_IPV4;
	}
	cq_push(qp->ibqp.recv_cq, &wc);
}

static int instant_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
			     const struct ib_send_wr **bad)
{
	struct instant_qp *qp = to_qp(ibqp);

	if (ibqp->qp_type == IB_QPT_RC) {
		*bad = wr;
		return -EOPNOTSUPP;
	}
	for (; wr; wr = wr->next) {
		struct instant_recv recv;
		struct ib_wc wc = {
			.wr_cqe = wr->wr_cqe,
			.opcode = IB_WC_SEND,
			.qp = ibqp,
		};
		/* Copy the MAD before its completion, after which it and the AH may go. */
		bool back = READ_ONCE(loop) &&
			    qp_fill_recv(qp, ib_virt_dma_to_ptr(wr->sg_list[0].addr),
					 to_ah(ud_wr(wr)->ah), &recv);

		cq_push(ibqp->send_cq, &wc);
		if (back)
			qp_received(qp, &recv);
	}
	return 0;
}

void instant_loop(bool on)
{
	WRITE_ONCE(loop, on);
}
EXPORT_SYMBOL_GPL(instant_loop);

int instant_inject(const void *mad)
{
	struct instant_recv recv;

	if (!qp1)
		return -ENODEV;
	if (!qp_fill_recv(qp1, mad, NULL, &recv))
		return -ENOBUFS;
	qp_received(qp1, &recv);
	return 0;
}
EXPORT_SYMBOL_GPL(instant_inject);

const struct ib_device_ops instant_queue_ops = {
	.alloc_pd	= instant_alloc_pd,
	.dealloc_pd	= instant_dealloc_pd,
	.get_dma_mr	= instant_get_dma_mr,
	.reg_user_mr	= instant_reg_user_mr,
	.dereg_mr	= instant_dereg_mr,
	.create_ah	= instant_create_ah,
	.query_ah	= instant_query_ah,
	.destroy_ah	= instant_destroy_ah,
	.create_cq	= instant_create_cq,
	.destroy_cq	= instant_destroy_cq,
	.poll_cq	= instant_poll_cq,
	.req_notify_cq	= instant_req_notify_cq,
	.create_qp	= instant_create_qp,
	.modify_qp	= instant_modify_qp,
	.query_qp	= instant_query_qp,
	.destroy_qp	= instant_destroy_qp,
	.post_send	= instant_post_send,
	.post_recv	= instant_post_recv,
	INIT_RDMA_OBJ_SIZE(ib_pd, instant_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_ah, instant_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, instant_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_qp, instant_qp, ibqp),
};
