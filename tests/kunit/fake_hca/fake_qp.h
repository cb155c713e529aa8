/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef FAKE_QP_H
#define FAKE_QP_H

/* A QP of the fake adapter: what is posted to it, and what it keeps back. */
#include "fake_hca.h"

struct fake_recv {
	struct list_head entry;
	struct ib_cqe *cqe;
	void *addr;
	u32 length;
};

struct fake_qp {
	struct ib_qp ibqp;
	struct ib_qp_attr attr;
	enum ib_sig_type sq_sig_type;
	u32 max_recv;
	spinlock_t lock;	/* protects state, recvs, nr_recvs, held */
	enum ib_qp_state state;
	struct list_head recvs;
	unsigned int nr_recvs;
	struct list_head held;	/* completions kept back */
	bool deaf;		/* sends are flushed, and the state does not tell */
};

/* A provider to which the QP's state is that of its receives. */
static inline bool fake_qp_keeps_sends(const struct fake_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_GSI &&
	       to_fake_hca(qp->ibqp.device)->quirks.reset_keeps_sends;
}

/* A completion of the send queue. */
void fake_sent(struct ib_qp *ibqp, const struct ib_wc *wc);

struct fake_completion {
	struct list_head entry;
	struct ib_wc wc;
	const u8 *payload;	/* not read by the adapter yet; NULL: it was */
};

#endif
