// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See process.h. */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/mman.h>
#include <linux/sched/mm.h>
#include <linux/uaccess.h>
#include "call/call.h"
#include "process.h"

#define NOT_MAPPED	8ul

/* ---- the file ---- */

static int open_node(struct process *p)
{
	struct inode inode = { .i_cdev = &p->udev->cdev };
	int ret;

	p->filp = anon_inode_getfile("[vib]", p->udev->cdev.ops, NULL, O_RDWR);
	if (IS_ERR(p->filp))
		return PTR_ERR(p->filp);
	ret = p->filp->f_op->open(&inode, p->filp);
	KUNIT_ASSERT_EQ(p->test, ret, 0);
	p->file = p->filp->private_data;
	return 0;
}

static int begin_context(struct process *p)
{
	u64 buf[64];
	struct uverbs_call *call = uverbs_call_init(buf, sizeof(buf), 0, p->file);
	int idx = uverbs_section_begin(p->file), ret;

	ret = uverbs_context_begin(&call->bundle);
	if (!ret)
		uverbs_context_commit(&call->bundle);
	uverbs_section_end(p->file, idx);
	return ret;
}

static unsigned long new_pages(struct process *p, size_t len)
{
	bool had_mm = current->mm;
	unsigned long addr;

	addr = kunit_vm_mmap(p->test, NULL, 0, len, PROT_READ | PROT_WRITE,
			     MAP_ANONYMOUS | MAP_PRIVATE, 0);
	/* KUnit takes a reference on the mm that it creates, and never drops it. */
	if (!had_mm && current->mm)
		mmdrop(current->mm);
	KUNIT_ASSERT_NE(p->test, addr, 0ul);
	KUNIT_ASSERT_FALSE(p->test, IS_ERR_VALUE(addr));
	/* Touched here, so that a case causes no page faults that allocate. */
	KUNIT_ASSERT_EQ(p->test, clear_user((void __user *)addr, len), 0ul);
	return addr;
}

int process_open_bare(struct kunit *test, struct process *p, struct hca_side *side)
{
	int ret;

	*p = (struct process){ .test = test, .side = side };
	p->udev = uverbs_device_get(&side->hca->ib);
	if (!p->udev)
		return -ENODEV;
	ret = open_node(p);
	if (ret)
		return ret;
	p->mem = new_pages(p, 2 * PAGE_SIZE + PROCESS_DATA);
	p->data = p->mem + 2 * PAGE_SIZE;
	return 0;
}

int process_open(struct kunit *test, struct process *p, struct hca_side *side)
{
	struct ib_uverbs_alloc_pd_resp pd;
	struct ib_uverbs_alloc_pd cmd = {};
	struct process_cq_resp cq;
	int ret = process_open_bare(test, p, side);

	if (!ret)
		ret = begin_context(p);
	if (!ret)
		ret = process_call(p, IB_USER_VERBS_CMD_ALLOC_PD, &cmd, sizeof(cmd), &pd,
				   sizeof(pd));
	if (!ret)
		ret = process_create_cq(p, PROCESS_CQE, &cq);
	if (ret)
		return ret;
	p->pd = pd.pd_handle;
	p->cq = cq.base.cq_handle;
	p->key = process_reg_mr(p, PROCESS_ACCESS);
	return 0;
}

void process_close(struct process *p)
{
	if (!IS_ERR_OR_NULL(p->filp)) {
		fput(p->filp);
		/* The last fput() of a kernel thread is deferred to a work item. */
		flush_delayed_fput();
	}
	if (p->udev)
		uverbs_device_put(p->udev);
	*p = (struct process){};
}

/* ---- calls ---- */

static int call(struct process *p, u32 command, const void *req, size_t len,
		unsigned long resp_at, size_t resp_len)
{
	struct ib_uverbs_cmd_hdr hdr = {
		.command = command,
		.in_words = (sizeof(hdr) + len) / 4,
		.out_words = resp_len / 4,
	};
	char __user *at = (char __user *)p->mem;
	u64 resp = resp_at;
	ssize_t ret;

	KUNIT_ASSERT_EQ(p->test, copy_to_user(at, &hdr, sizeof(hdr)), 0ul);
	KUNIT_ASSERT_EQ(p->test, copy_to_user(at + sizeof(hdr), req, len), 0ul);
	/* A request that has a response begins with the address of it. */
	if (resp_len)
		KUNIT_ASSERT_EQ(p->test, copy_to_user(at + sizeof(hdr), &resp, sizeof(resp)),
				0ul);
	ret = p->filp->f_op->write(p->filp, at, sizeof(hdr) + len, NULL);
	return min_t(ssize_t, ret, 0);
}

int process_call(struct process *p, u32 command, const void *req, size_t len, void *resp,
		 size_t resp_len)
{
	unsigned long at = p->mem + PAGE_SIZE;
	int ret = call(p, command, req, len, at, resp_len);

	if (resp_len)
		KUNIT_ASSERT_EQ(p->test, copy_from_user(resp, (void __user *)at, resp_len),
				0ul);
	return ret;
}

int process_call_unmapped(struct process *p, u32 command, const void *req, size_t len,
			  size_t resp_len)
{
	return call(p, command, req, len, NOT_MAPPED, resp_len);
}

void *process_object(struct process *p, u32 handle)
{
	struct ib_uobject *uobj;
	void *object;

	rcu_read_lock();
	uobj = xa_load(&p->file->handles, handle);
	object = uobj ? uobj->object : NULL;
	rcu_read_unlock();
	return object;
}

int process_objects(struct process *p)
{
	return list_count_nodes(&p->file->objects);
}

unsigned int process_ring_pages(struct process *p)
{
	unsigned int pages = 0;
	unsigned long at;
	void *entry;

	xa_for_each(&p->file->context->mmap_xa, at, entry)
		pages++;
	return pages;
}

/* ---- data ---- */

void process_fill(struct process *p, u32 offset, const void *from, u32 len)
{
	KUNIT_ASSERT_EQ(p->test, copy_to_user((void __user *)p->data + offset, from, len), 0ul);
}

void process_get(struct process *p, u32 offset, void *to, u32 len)
{
	KUNIT_ASSERT_EQ(p->test, copy_from_user(to, (void __user *)p->data + offset, len), 0ul);
}

/* ---- objects ---- */

int process_create_cq(struct process *p, u32 cqe, struct process_cq_resp *resp)
{
	struct ib_uverbs_create_cq cmd = { .cqe = cqe, .comp_channel = -1 };

	return process_call(p, IB_USER_VERBS_CMD_CREATE_CQ, &cmd, sizeof(cmd), resp,
			    sizeof(*resp));
}

int process_create_srq(struct process *p, u32 max_wr, struct process_srq_resp *resp)
{
	struct ib_uverbs_create_srq cmd = {
		.pd_handle = p->pd,
		.max_wr = max_wr,
		.max_sge = PROCESS_SGE,
	};

	return process_call(p, IB_USER_VERBS_CMD_CREATE_SRQ, &cmd, sizeof(cmd), resp,
			    sizeof(*resp));
}

int process_create_xsrq(struct process *p, u32 xrcd, struct process_srq_resp *resp)
{
	struct ib_uverbs_create_xsrq cmd = {
		.srq_type = IB_SRQT_XRC,
		.pd_handle = p->pd,
		.max_wr = PROCESS_WR,
		.max_sge = PROCESS_SGE,
		.xrcd_handle = xrcd,
		.cq_handle = p->cq,
	};

	return process_call(p, IB_USER_VERBS_CMD_CREATE_XSRQ, &cmd, sizeof(cmd), resp,
			    sizeof(*resp));
}

int process_create_qp(struct process *p, const struct process_qp_want *want,
		      struct process_qp_resp *resp)
{
	struct ib_uverbs_create_qp cmd = {
		.pd_handle = p->pd,
		.send_cq_handle = p->cq,
		.recv_cq_handle = p->cq,
		.srq_handle = want->srq,
		.max_send_wr = want->wr ?: PROCESS_WR,
		.max_recv_wr = want->wr ?: PROCESS_WR,
		.max_send_sge = PROCESS_SGE,
		.max_recv_sge = PROCESS_SGE,
		.max_inline_data = PROCESS_INLINE,
		/* 0 is IB_QPT_SMI. */
		.qp_type = want->type ?: IB_QPT_RC,
		.is_srq = !!want->srq,
	};

	/* The domain of a target is in the place of the PD. */
	if (want->type == IB_QPT_XRC_TGT)
		cmd.pd_handle = want->xrcd;
	return process_call(p, IB_USER_VERBS_CMD_CREATE_QP, &cmd, sizeof(cmd), resp,
			    sizeof(*resp));
}

/* Their requests begin alike: the response, and then the handle. */
int process_destroy(struct process *p, u32 command, u32 handle)
{
	struct ib_uverbs_destroy_cq cmd = { .cq_handle = handle };
	struct ib_uverbs_destroy_cq_resp cq;
	struct ib_uverbs_destroy_qp qp = { .qp_handle = handle };
	struct ib_uverbs_destroy_qp_resp resp;
	u32 only = handle;

	switch (command) {
	case IB_USER_VERBS_CMD_DESTROY_CQ:
		return process_call(p, command, &cmd, sizeof(cmd), &cq, sizeof(cq));
	case IB_USER_VERBS_CMD_DESTROY_QP:
	case IB_USER_VERBS_CMD_DESTROY_SRQ:
		return process_call(p, command, &qp, sizeof(qp), &resp, sizeof(resp));
	default:
		return process_call(p, command, &only, sizeof(only), NULL, 0);
	}
}

u32 process_xrcd(struct process *p)
{
	struct ib_uverbs_open_xrcd cmd = { .fd = -1, .oflags = O_CREAT };
	struct ib_uverbs_open_xrcd_resp resp;

	KUNIT_ASSERT_EQ(p->test, process_call(p, IB_USER_VERBS_CMD_OPEN_XRCD, &cmd, sizeof(cmd),
					      &resp, sizeof(resp)), 0);
	return resp.xrcd_handle;
}

struct vib_qp *process_qp(struct process *p, const struct process_qp_want *want, u32 *handle)
{
	struct process_qp_resp resp;
	struct ib_qp *qp;

	KUNIT_ASSERT_EQ(p->test, process_create_qp(p, want, &resp), 0);
	if (handle)
		*handle = resp.base.qp_handle;
	qp = process_object(p, resp.base.qp_handle);
	KUNIT_ASSERT_NOT_NULL(p->test, qp);
	return to_vib_qp(qp->real_qp);
}

u32 process_reg_mr(struct process *p, int access)
{
	struct ib_uverbs_reg_mr cmd = {
		.start = p->data,
		.length = PROCESS_DATA,
		.hca_va = p->data,
		.pd_handle = p->pd,
		.access_flags = access,
	};
	struct ib_uverbs_reg_mr_resp resp;

	KUNIT_ASSERT_EQ(p->test, process_call(p, IB_USER_VERBS_CMD_REG_MR, &cmd, sizeof(cmd),
					      &resp, sizeof(resp)), 0);
	KUNIT_ASSERT_EQ(p->test, resp.lkey, resp.rkey);
	return resp.lkey;
}

/* ---- connections ---- */

static int connect_init(struct vib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE |
				   IB_ACCESS_REMOTE_ATOMIC,
	};

	return ib_modify_qp(&qp->ib, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			    IB_QP_ACCESS_FLAGS);
}

static int connect_rtr(struct vib_qp *qp, struct hca_side *peer, u32 qpn)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = IB_MTU_256,
		.dest_qp_num = qpn,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
		.ah_attr.type = RDMA_AH_ATTR_TYPE_IB,
	};
	int mask = IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN;

	rdma_ah_set_dlid(&attr.ah_attr, peer->port->lid);
	rdma_ah_set_port_num(&attr.ah_attr, 1);
	if (qp->ib.qp_type == IB_QPT_RC || qp->ib.qp_type == IB_QPT_XRC_TGT)
		mask |= IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
	return ib_modify_qp(&qp->ib, &attr, mask);
}

static int connect_rts(struct vib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 4,
	};
	int mask = IB_QP_STATE | IB_QP_SQ_PSN;

	if (qp->ib.qp_type == IB_QPT_XRC_TGT)
		mask |= IB_QP_TIMEOUT;
	else if (qp->ib.qp_type != IB_QPT_UC)
		mask |= IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			IB_QP_MAX_QP_RD_ATOMIC;
	return ib_modify_qp(&qp->ib, &attr, mask);
}

int process_connect(struct vib_qp *qp, struct hca_side *peer, u32 qpn)
{
	return connect_init(qp) ?: connect_rtr(qp, peer, qpn) ?: connect_rts(qp);
}

int process_fail(struct vib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	return ib_modify_qp(&qp->ib, &attr, IB_QP_STATE);
}

/* ---- rings ---- */

void *process_entry(struct vib_queue *queue)
{
	u32 at = queue->ring->tail & queue->mask;
	void *entry = queue->ring->entries + at * queue->entry_size;

	return memset(entry, 0, queue->entry_size);
}

void process_add(struct vib_queue *queue)
{
	/* The kernel sees the entry when it sees this. */
	smp_store_release(&queue->ring->tail, queue->ring->tail + 1);
}

int process_doorbell(struct process *p, u32 command, u32 handle)
{
	struct ib_uverbs_post_send cmd = {
		.qp_handle = handle,
		.wqe_size = sizeof(struct ib_uverbs_send_wr),
	};
	struct ib_uverbs_post_send_resp resp;

	return process_call(p, command, &cmd, sizeof(cmd), &resp, sizeof(resp));
}

void process_recv(struct process *p, struct vib_queue *queue, u64 wr_id, u32 offset, u32 len)
{
	struct vib_abi_recv_wqe *wqe = process_entry(queue);

	wqe->wr_id = wr_id;
	wqe->num_sge = 1;
	wqe->sge[0] = (struct vib_abi_sge){
		.addr = p->data + offset,
		.length = len,
		.lkey = p->key,
	};
	process_add(queue);
}

bool process_poll(struct vib_cq *cq, struct vib_abi_cqe *cqe)
{
	struct vib_abi_ring *ring = cq->queue.ring;
	u32 head = ring->head;

	/* Pairs with vib_queue_push(). */
	if (!wait_within(smp_load_acquire(&ring->tail) != head, 5000))
		return false;
	memcpy(cqe, ring->entries + (head & cq->queue.mask) * sizeof(*cqe), sizeof(*cqe));
	/* The kernel writes there again when it sees this. */
	smp_store_release(&ring->head, head + 1);
	return true;
}

bool process_completed(struct vib_cq *cq, u64 wr_id, enum ib_wc_status status)
{
	struct vib_abi_cqe cqe;

	return process_poll(cq, &cqe) && cqe.wr_id == wr_id && cqe.status == status;
}

bool process_nothing(struct vib_cq *cq)
{
	int i;

	/* Works queue one another: send, take in, complete. */
	for (i = 0; i < 4; i++)
		flush_workqueue(vib_wq);
	return READ_ONCE(cq->queue.ring->tail) == cq->queue.ring->head;
}

unsigned long process_map(struct process *p, u64 offset, size_t len, unsigned long flags)
{
	return vm_mmap(p->filp, 0, len, PROT_READ | PROT_WRITE, flags, offset);
}
