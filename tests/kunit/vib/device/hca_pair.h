/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_HCA_PAIR_H
#define VIB_HCA_PAIR_H

/*
 * Two adapters with a port each, joined by a link, both Active:
 *
 *	a: LID 4, LMC 0 ---------- b: LIDs 8 to 11, LMC 2
 *
 * The MAD layer does not attach to them: their QP0 and QP1 are the suites'.
 */
#include <kunit/test.h>
#include <rdma/ib_mad.h>
#include "queue/cq.h"
#include "device/hca.h"
#include "device/qp.h"
#include "wait.h"

#define PAIR_QKEY	0x1234
#define PAIR_PKEYS	8
#define PAIR_GUIDS	4
#define PAIR_CQE	256
#define PAIR_MAX_WR	64
#define PAIR_MLID	0xc005
#define GRH_LEN		40

struct hca_side {
	struct vib_hca *hca;
	struct vib_port *port;
	struct ib_pd *pd;
	struct ib_cq *cq;		/* which the suite polls */
	unsigned int comp_events;	/* of it */
	unsigned int cq_errors;
	unsigned int qp_events[IB_EVENT_WQ_FATAL + 1];
};

struct hca_pair {
	struct vib_fabric fabric;
	struct vib_link link;
	struct hca_side a, b;
};

int hca_pair_init(struct kunit *test, struct hca_pair *pair);
void hca_pair_exit(struct hca_pair *pair);
/* Sets what a subnet manager would have, and both ports Active. */
int hca_pair_activate(struct hca_pair *pair);

/* What a test asks for of a QP; zeroes are defaults. */
struct hca_qp_want {
	bool sig_all;
	u32 flags;		/* enum ib_qp_create_flags */
	u32 wr;			/* of each queue */
	u32 sge;
	struct ib_cq *cq;
};

/* A QP of @type in RESET, or ERR_PTR. */
struct ib_qp *hca_qp_create(struct hca_side *side, enum ib_qp_type type,
			    const struct hca_qp_want *want);
/* From RESET to @state by the states between. */
int hca_qp_to(struct ib_qp *qp, enum ib_qp_state state);
int hca_qp_modify(struct ib_qp *qp, enum ib_qp_state state);
enum ib_qp_state hca_qp_state(struct ib_qp *qp);
/* A UD QP in RTS, with 64 requests a queue and 4 SGEs. */
struct ib_qp *hca_qp_rts(struct kunit *test, struct hca_side *side);

/* Without a GRH. */
struct ib_ah *hca_ah(struct kunit *test, struct hca_side *side, u16 dlid);
/* With one, to @dgid. */
struct ib_ah *hca_ah_grh(struct kunit *test, struct hca_side *side, u16 dlid,
			 const union ib_gid *dgid);
/* GID 0 of the port. */
union ib_gid hca_gid(const struct hca_side *side);
/* ff12::@last */
union ib_gid hca_mgid(u8 last);

/* A buffer of @len bytes that begin with @seed and count up; the test frees it. */
u8 *hca_buf(struct kunit *test, u32 len, u8 seed);

/* A send request as the helpers below make it, to be changed before it is posted. */
struct hca_send {
	struct ib_ud_wr ud;
	struct ib_sge sge;
};

/* Of @len bytes at @buf to QP @qpn by @ah; wr_id is @qpn. */
struct hca_send hca_send_wr(struct hca_side *side, struct ib_ah *ah, u32 qpn, void *buf,
			    u32 len);
int hca_post_send(struct ib_qp *qp, struct hca_send *send);
int hca_send(struct ib_qp *qp, struct hca_side *side, struct ib_ah *ah, u32 qpn, void *buf,
	     u32 len);
int hca_recv(struct ib_qp *qp, struct hca_side *side, void *buf, u32 len, u64 wr_id);

/* One completion, for which it waits up to 5 s; false: none came. */
bool hca_poll(struct ib_cq *cq, struct ib_wc *wc);
/* Lets the works run dry, then says whether the CQ is empty. */
bool hca_nothing(struct ib_cq *cq);
u64 hca_dropped(const struct hca_side *side, enum vib_drop why);

/* QPs of a test with an address handle from a to b. */
struct hca_talk {
	struct ib_qp *from, *to;
	struct ib_ah *ah;
};

void hca_talk_init(struct kunit *test, struct hca_pair *pair, struct hca_talk *talk);
void hca_talk_exit(struct hca_talk *talk);

#endif
