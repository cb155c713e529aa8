/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef FAKE_QP_H
#define FAKE_QP_H

/* A QP of the fake adapter: what is posted to it, and the completions it holds. */
#include "fake_hca.h"

struct fake_recv {
	struct list_head entry;
	struct ib_cqe *cqe;
	void *addr;
	u32 length;
};

struct fake_qp {
	struct ib_qp ibqp;
	struct ib_qp own;	/* stands for the provider's own QP */
	struct ib_qp_attr attr;
	enum ib_sig_type sq_sig_type;
	u32 max_recv;
	int sgid_at;		/* RoCE: index in the port's table; -1: none yet */
	spinlock_t lock;	/* protects recvs, nr_recvs, held, and changes of state */
	enum ib_qp_state state;
	u32 psn;		/* expected; attr.rq_psn is what was set */
	bool met_error;		/* by fake_hca_qp_error() */
	struct list_head recvs;
	unsigned int nr_recvs;
	struct list_head held;	/* completions held back */
	bool deaf;		/* sends are flushed; the state does not show it */
	bool spent;		/* it has been in ERR or RESET: quirks.reset_is_a_note */
	struct ib_cqe *last_sent;	/* quirks.reset_keeps_ring */
	struct ib_cqe *old_sent;	/* last_sent at RESET; NULL: completed */
};

static inline enum ib_qp_state fake_qp_state(const struct fake_qp *qp)
{
	return READ_ONCE(qp->state);
}

/* Returns whether the QP's ERR and RESET affect its receives only. */
static inline bool fake_qp_keeps_sends(const struct fake_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_GSI &&
	       to_fake_hca(qp->ibqp.device)->quirks.reset_keeps_sends;
}

/* cq.c: a completion of the send queue, and one of the receive queue */
void fake_sent(struct ib_qp *ibqp, const struct ib_wc *wc);
void fake_received(struct ib_qp *ibqp, const struct ib_wc *wc);
extern const struct ib_device_ops fake_hca_cq_ops;

struct fake_completion {
	struct list_head entry;
	struct ib_wc wc;
	const u8 *payload;	/* not yet read by the adapter; NULL: read */
};

/* contract.c: the effects of an adapter's quirks */
void fake_contract_attrs(const struct fake_hca *hca, struct ib_device_attr *attrs);
u32 fake_contract_pkeys(const struct fake_hca *hca);
void fake_contract_query_port(const struct fake_hca *hca);
int fake_contract_process_mad(const struct fake_hca *hca, const struct ib_mad *in);
void fake_contract_ops(struct fake_hca *hca);
int fake_contract_create_ah(struct ib_ah *ah, const struct rdma_ah_attr *attr);
void fake_contract_destroy_ah(const struct fake_hca *hca);
bool fake_contract_refuses_target(const struct fake_hca *hca,
				  const struct ib_qp_init_attr *init,
				  const struct ib_udata *udata);
void fake_contract_target(const struct fake_hca *hca, const struct ib_qp *qp,
			  const struct ib_udata *udata, bool destroy);
/* Shapes a packet that is about to arrive at @hca. */
void fake_contract_arrives(const struct fake_hca *hca, struct fake_hca_packet *packet);
void fake_contract_received(struct fake_hca *hca, struct fake_qp *qp,
			    struct ib_wc *wc);
void fake_contract_polled(const struct fake_hca *hca, struct ib_wc *to,
			  const struct ib_wc *from);
bool fake_contract_refuses_send(const struct fake_hca *hca, const struct fake_qp *qp);
bool fake_contract_only_notes(const struct fake_hca *hca, const struct fake_qp *qp);
bool fake_contract_takes_state(const struct fake_hca *hca, struct fake_qp *qp,
				   enum ib_qp_state next);
void fake_contract_reset(const struct fake_hca *hca, struct fake_qp *qp);
void fake_contract_sent(const struct fake_hca *hca, struct fake_qp *qp,
			const struct ib_wc *wc);
void fake_contract_port_event(struct fake_hca *hca, struct ib_event *event);
void fake_contract_qp_event(struct fake_hca *hca, struct ib_event *event);

/* main.c */
int fake_hca_process_mad(struct ib_device *ibdev, int flags, u32 port,
			 const struct ib_wc *wc, const struct ib_grh *grh,
			 const struct ib_mad *in, struct ib_mad *out,
			 size_t *out_len, u16 *pkey_index);

#endif
