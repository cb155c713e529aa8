/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_PROCESS_H
#define VIB_PROCESS_H

/*
 * A process that has opened the node of an adapter: it makes its calls by write(), and uses the
 * rings of its objects as a library does, or as none would.  The suite gets at a ring through
 * the kernel's object; process_map() maps one.
 */
#include <rdma/ib_user_verbs.h>
#include <rdma/uverbs_std_types.h>
#include "../device/hca_pair.h"
#include "queue/srq.h"
#include "user/user.h"
#include "uverbs/uverbs.h"

#define PROCESS_DATA	(4 * PAGE_SIZE)	/* bytes at process->data */
#define PROCESS_CQE	32
#define PROCESS_WR	8
#define PROCESS_SGE	2
#define PROCESS_INLINE	64
#define PROCESS_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |		\
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |		\
			 IB_ACCESS_MW_BIND)

struct process {
	struct kunit *test;
	struct hca_side *side;
	struct uverbs_device *udev;
	struct file *filp;
	struct ib_uverbs_file *file;
	unsigned long mem;	/* a page for requests, one for responses */
	unsigned long data;
	u32 pd, cq;		/* handles */
	u32 key;		/* of all of its data, with PROCESS_ACCESS */
};

/* One without a context; with one, and the objects above. */
int process_open_bare(struct kunit *test, struct process *p, struct hca_side *side);
int process_open(struct kunit *test, struct process *p, struct hca_side *side);
/* The end of it; of one that was never opened, too. */
void process_close(struct process *p);

/* A call; @resp is what the process has in the place of the response afterwards. */
int process_call(struct process *p, u32 command, const void *req, size_t len, void *resp,
		 size_t resp_len);
/* The same, with the response at an address that is not mapped. */
int process_call_unmapped(struct process *p, u32 command, const void *req, size_t len,
			  size_t resp_len);
/* The kernel's object of a handle, or NULL. */
void *process_object(struct process *p, u32 handle);
/* How many objects, and pages of rings, it has. */
int process_objects(struct process *p);
unsigned int process_ring_pages(struct process *p);

/* Data of it. */
void process_fill(struct process *p, u32 offset, const void *from, u32 len);
void process_get(struct process *p, u32 offset, void *to, u32 len);

/* ---- objects ---- */

struct process_cq_resp {
	struct ib_uverbs_create_cq_resp base;
	struct vib_create_cq_resp vib;
};

struct process_srq_resp {
	struct ib_uverbs_create_srq_resp base;
	struct vib_create_srq_resp vib;
};

struct process_qp_resp {
	struct ib_uverbs_create_qp_resp base;
	struct vib_create_qp_resp vib;
};

/* Zeroes are defaults. */
struct process_qp_want {
	enum ib_qp_type type;	/* RC */
	u32 srq;		/* a handle */
	u32 xrcd;		/* a handle */
	u32 wr;			/* PROCESS_WR */
};

int process_create_cq(struct process *p, u32 cqe, struct process_cq_resp *resp);
int process_create_srq(struct process *p, u32 max_wr, struct process_srq_resp *resp);
int process_create_xsrq(struct process *p, u32 xrcd, struct process_srq_resp *resp);
int process_create_qp(struct process *p, const struct process_qp_want *want,
		      struct process_qp_resp *resp);
int process_destroy(struct process *p, u32 command, u32 handle);
/* Each asserts that it works. */
u32 process_xrcd(struct process *p);
struct vib_qp *process_qp(struct process *p, const struct process_qp_want *want, u32 *handle);
u32 process_reg_mr(struct process *p, int access);

/* Connects @qp to QP @qpn of @side, as far as RTS. */
int process_connect(struct vib_qp *qp, struct hca_side *peer, u32 qpn);
/* @qp in ERR. */
int process_fail(struct vib_qp *qp);

/* ---- rings ---- */

static inline struct vib_cq *process_cq(struct process *p)
{
	return to_vib_cq(process_object(p, p->cq));
}

/* An entry that is to be added, by the index that the ring shows; zeroed. */
void *process_entry(struct vib_queue *queue);
/* Adds it. */
void process_add(struct vib_queue *queue);
int process_doorbell(struct process *p, u32 command, u32 handle);
/* Adds a receive request of @len bytes of data at @offset. */
void process_recv(struct process *p, struct vib_queue *queue, u64 wr_id, u32 offset, u32 len);
/* One completion, for which it waits up to 5 s; false: none came. */
bool process_poll(struct vib_cq *cq, struct vib_abi_cqe *cqe);
/* A completion of @wr_id with @status. */
bool process_completed(struct vib_cq *cq, u64 wr_id, enum ib_wc_status status);
/* Lets the works run dry, then says whether there is no completion. */
bool process_nothing(struct vib_cq *cq);
/* Maps a ring; the address, or an error. */
unsigned long process_map(struct process *p, u64 offset, size_t len, unsigned long flags);

#endif
