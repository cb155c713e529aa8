/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_H
#define VIB_H

/*
 * libvib: the provider of libibverbs for vib, the software InfiniBand fabric.
 *
 * Locks: those of queues are mutexes, because the thread that has one may lose its
 * processor to another that wants it.  A thread holds at most one of them, except that
 * between ibv_start_poll() and ibv_end_poll(), and between ibv_wr_start() and
 * ibv_wr_complete(), the application has a CQ's or a send queue's.
 */
#include <pthread.h>
#include "provider.h"
#include "ring.h"

struct vib_device {
	struct verbs_device ibv;
};

struct vib_context {
	struct verbs_context ibv;	/* last in the public part: grows upwards */
	uint32_t max_inline;
};

struct vib_cq {
	struct verbs_cq ibv;
	bool unlocked;			/* the application has one thread for it */
	pthread_mutex_t lock;		/* all below */
	struct ring ring;		/* of struct vib_abi_cqe; we consume */
	const struct vib_abi_cqe *cqe;	/* that ibv_wc_read_*() are about */
};

/* Receive requests, of a QP or of an SRQ. */
struct vib_rq {
	pthread_mutex_t lock;		/* all below */
	uint32_t max_sge;
	struct ring ring;		/* of struct vib_abi_recv_wqe; we produce */
};

struct vib_srq {
	struct verbs_srq ibv;
	struct vib_rq rq;
};

union vib_send_wqe {
	struct vib_abi_rc_wqe rc;
	struct vib_abi_ud_wqe ud;
};

struct vib_qp {
	struct verbs_qp ibv;
	bool sig_all;
	uint32_t max_send_sge;
	uint32_t max_inline;
	pthread_mutex_t sq_lock;	/* all below, but rq */
	struct ring sq;			/* of vib_abi_ud_wqe or vib_abi_rc_wqe; we produce */
	/* between ibv_wr_start() and ibv_wr_complete(): */
	uint32_t wr_first;		/* sq.next before */
	int wr_error;
	union vib_send_wqe *wqe;	/* of the request that is being made, or NULL */
	struct vib_rq rq;
};

struct vib_ah {
	struct ibv_ah ibv;
	struct vib_abi_av av;
};

static inline struct vib_context *to_vib_context(struct ibv_context *context)
{
	return (void *)((char *)context - offsetof(struct vib_context, ibv.context));
}

/* The public structs are the first members of ours. */
static inline struct vib_cq *to_vib_cq(struct ibv_cq *cq)
{
	return (void *)cq;
}

static inline struct vib_srq *to_vib_srq(struct ibv_srq *srq)
{
	return (void *)srq;
}

static inline struct vib_qp *to_vib_qp(struct ibv_qp *qp)
{
	return (void *)qp;
}

static inline struct vib_ah *to_vib_ah(struct ibv_ah *ah)
{
	return (void *)ah;
}

static inline bool is_ud(const struct vib_qp *qp)
{
	return qp->ibv.qp.qp_type == IBV_QPT_UD;
}

/* Reset, Init and RTR take no send requests (IBA vol. 1, 10.3.1). */
static inline bool takes_sends(const struct vib_qp *qp)
{
	return qp->sq.shared && qp->ibv.qp.state >= IBV_QPS_RTS;
}

/*
 * What to do with @error of a command that destroys: 0 if the object is to be freed.  The
 * kernel has none of a device that is gone, and the application may not want to know.
 */
static inline int destroy_error(int error)
{
	return error == EIO && verbs_allow_disassociate_destroy ? 0 : error;
}

/* memory.c */
struct ibv_pd *vib_alloc_pd(struct ibv_context *context);
int vib_dealloc_pd(struct ibv_pd *pd);
struct ibv_mr *vib_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
			  int access);
int vib_rereg_mr(struct verbs_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		 int access);
int vib_dereg_mr(struct verbs_mr *mr);
struct ibv_mw *vib_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int vib_dealloc_mw(struct ibv_mw *mw);
struct ibv_xrcd *vib_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr);
int vib_close_xrcd(struct ibv_xrcd *xrcd);
struct ibv_ah *vib_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int vib_destroy_ah(struct ibv_ah *ah);

/* cq.c */
struct ibv_cq *vib_create_cq(struct ibv_context *context, int cqe,
			     struct ibv_comp_channel *channel, int vector);
struct ibv_cq_ex *vib_create_cq_ex(struct ibv_context *context,
				   struct ibv_cq_init_attr_ex *attr);
int vib_resize_cq(struct ibv_cq *cq, int cqe);
int vib_destroy_cq(struct ibv_cq *cq);
int vib_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
/* Takes the completions of @qp_num out of @cq, which may be NULL. */
void vib_cq_clean(struct ibv_cq *cq, uint32_t qp_num);

/* poll.c: the functions of a CQ that vib_create_cq_ex() made */
void vib_cq_set_poll(struct ibv_cq_ex *cq, uint64_t wc_flags);
unsigned int vib_wc_flags(const struct vib_abi_cqe *cqe);

/* recv.c */
int vib_rq_init(struct vib_rq *rq, int fd, const struct vib_abi_map *map, uint32_t max_sge);
void vib_rq_destroy(struct vib_rq *rq);
int vib_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int vib_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/* srq.c */
struct ibv_srq *vib_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
struct ibv_srq *vib_create_srq_ex(struct ibv_context *context,
				  struct ibv_srq_init_attr_ex *attr);
int vib_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask);
int vib_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);
int vib_destroy_srq(struct ibv_srq *srq);
int vib_get_srq_num(struct ibv_srq *srq, uint32_t *num);

/* qp.c */
struct ibv_qp *vib_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *vib_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
struct ibv_qp *vib_open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr);
int vib_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init_attr);
int vib_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int vib_destroy_qp(struct ibv_qp *qp);

/* send.c */
int vib_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
/*
 * Rings the doorbell for what is in the send queue from @first on.  0; or an errno value, and
 * the queue is as it was.  With qp->sq_lock.
 */
int vib_sq_submit(struct vib_qp *qp, uint32_t first);
/* Operations that QPs of this type have, as bits 1 << enum ibv_wr_opcode; 0: no such type. */
uint32_t vib_send_ops(enum ibv_qp_type type);
/* Inline data, piece by piece.  EINVAL: more than the QP takes. */
void vib_wqe_begin_inline(struct vib_qp *qp, union vib_send_wqe *wqe);
int vib_wqe_add_inline(struct vib_qp *qp, union vib_send_wqe *wqe, const void *addr,
		       size_t length);
int vib_wqe_set_sge(struct vib_qp *qp, union vib_send_wqe *wqe, const struct ibv_sge *sge,
		    size_t count);
int vib_wqe_set_bind(struct vib_abi_rc_wqe *wqe, const struct ibv_mw *mw, uint32_t rkey,
		     const struct ibv_mw_bind_info *info);

/* wr.c: the functions of a QP that was made with operations */
/* EOPNOTSUPP: @wanted has operations that are not in @possible. */
int vib_qp_set_wr(struct vib_qp *qp, uint32_t possible, uint64_t wanted);

#endif
