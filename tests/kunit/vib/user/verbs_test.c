// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The verbs of processes: what they answer with, what they refuse, and what they leave. */
#include <linux/fdtable.h>
#include <linux/mman.h>
#include <linux/uaccess.h>
#include "faults.h"
#include "process.h"

#define CMD(name)	IB_USER_VERBS_CMD_##name

static struct hca_pair pair;
static struct process p;

static int verbs_init(struct kunit *test)
{
	int ret = hca_pair_init(test, &pair);

	return ret ?: process_open(test, &p, &pair.a);
}

static void verbs_exit(struct kunit *test)
{
	process_close(&p);
	hca_pair_exit(&pair);
}

/* ---- contexts ---- */

static void a_context_says_how_much_is_inline(struct kunit *test)
{
	struct ib_uverbs_get_context cmd = {};
	struct {
		struct ib_uverbs_get_context_resp base;
		struct vib_alloc_ucontext_resp vib;
	} resp;
	struct process other;

	KUNIT_ASSERT_EQ(test, process_open_bare(test, &other, &pair.b), 0);
	KUNIT_ASSERT_EQ(test, process_call(&other, CMD(GET_CONTEXT), &cmd, sizeof(cmd), &resp,
					   sizeof(resp)), 0);
	KUNIT_EXPECT_EQ(test, resp.vib.max_inline, VIB_MAX_INLINE);
	KUNIT_EXPECT_EQ(test, pair.a.hca->ib.ops.uverbs_abi_ver, VIB_ABI_VERSION);
	KUNIT_EXPECT_EQ(test, close_fd(resp.base.async_fd), 0);
	process_close(&other);
}

/* ---- where the rings are ---- */

static void expect_ring(struct kunit *test, const struct vib_abi_map *map,
			const struct vib_queue *queue, u32 entry_size)
{
	KUNIT_EXPECT_EQ(test, map->length % PAGE_SIZE, 0);
	KUNIT_EXPECT_GE(test, map->length,
			sizeof(struct vib_abi_ring) + map->entries * (u64)entry_size);
	KUNIT_EXPECT_EQ(test, map->entry_size, entry_size);
	KUNIT_EXPECT_EQ(test, map->entries, vib_queue_size(queue));
	KUNIT_EXPECT_PTR_EQ(test, queue->mapped->mem, (void *)queue->ring);
	KUNIT_EXPECT_EQ(test, map->offset, rdma_user_mmap_get_offset(&queue->mapped->entry));
}

static void expect_none(struct kunit *test, const struct vib_abi_map *map)
{
	KUNIT_EXPECT_EQ(test, map->length, 0);
	KUNIT_EXPECT_EQ(test, map->entries, 0);
}

static void a_cq_is_a_ring(struct kunit *test)
{
	struct process_cq_resp resp;
	struct vib_cq *cq;

	KUNIT_ASSERT_EQ(test, process_create_cq(&p, 20, &resp), 0);
	cq = to_vib_cq(process_object(&p, resp.base.cq_handle));
	KUNIT_EXPECT_EQ(test, resp.base.cqe, 32);
	expect_ring(test, &resp.vib.ring, &cq->queue, 64);
	KUNIT_EXPECT_EQ(test, process_create_cq(&p, 0, &resp), -EINVAL);
	KUNIT_EXPECT_EQ(test, process_create_cq(&p, VIB_MAX_CQE + 1, &resp), -EINVAL);
}

static void an_srq_is_a_ring(struct kunit *test)
{
	struct process_srq_resp resp;
	struct vib_srq *srq;

	KUNIT_ASSERT_EQ(test, process_create_srq(&p, 5, &resp), 0);
	srq = to_vib_srq(process_object(&p, resp.base.srq_handle));
	KUNIT_EXPECT_EQ(test, resp.base.max_wr, 8);
	expect_ring(test, &resp.vib.ring, &srq->rq.queue, 16 + 16 * PROCESS_SGE);
	KUNIT_EXPECT_EQ(test, resp.vib.srqn, 0);
	KUNIT_EXPECT_EQ(test, process_create_srq(&p, VIB_MAX_WR + 1, &resp), -EINVAL);

	KUNIT_ASSERT_EQ(test, process_create_xsrq(&p, process_xrcd(&p), &resp), 0);
	srq = to_vib_srq(process_object(&p, resp.base.srq_handle));
	expect_ring(test, &resp.vib.ring, &srq->rq.queue, 16 + 16 * PROCESS_SGE);
	KUNIT_EXPECT_NE(test, resp.vib.srqn, 0);
	KUNIT_EXPECT_EQ(test, resp.vib.srqn, srq->ib.ext.xrc.srq_num);
	KUNIT_EXPECT_EQ(test, resp.base.srqn, resp.vib.srqn);
}

static void expect_qp(struct kunit *test, enum ib_qp_type type, bool with_srq, bool sq, bool rq)
{
	u32 wqe = type == IB_QPT_UD ? sizeof(struct vib_abi_ud_wqe) :
				      sizeof(struct vib_abi_rc_wqe);
	struct process_qp_want want = { .type = type };
	struct process_srq_resp srq;
	struct process_qp_resp resp;
	struct vib_qp *qp;

	if (with_srq) {
		KUNIT_ASSERT_EQ(test, process_create_srq(&p, 5, &srq), 0);
		want.srq = srq.base.srq_handle;
	}
	if (type == IB_QPT_XRC_TGT)
		want.xrcd = process_xrcd(&p);
	KUNIT_ASSERT_EQ(test, process_create_qp(&p, &want, &resp), 0);
	qp = to_vib_qp(((struct ib_qp *)process_object(&p, resp.base.qp_handle))->real_qp);
	if (sq)
		expect_ring(test, &resp.vib.sq, &qp->sq, wqe + PROCESS_INLINE);
	else
		expect_none(test, &resp.vib.sq);
	if (rq)
		expect_ring(test, &resp.vib.rq, &qp->rq.queue, 16 + 16 * PROCESS_SGE);
	else
		expect_none(test, &resp.vib.rq);
}

static void a_queue_of_a_qp_is_a_ring(struct kunit *test)
{
	expect_qp(test, IB_QPT_RC, false, true, true);
	expect_qp(test, IB_QPT_UC, false, true, true);
	expect_qp(test, IB_QPT_UD, false, true, true);
	expect_qp(test, IB_QPT_RC, true, true, false);
	expect_qp(test, IB_QPT_UD, true, true, false);
	expect_qp(test, IB_QPT_XRC_INI, false, true, false);
	expect_qp(test, IB_QPT_XRC_TGT, false, false, false);
}

/* ---- what is refused ---- */

static void qps_of_the_port_are_not_for_processes(struct kunit *test)
{
	struct ib_uverbs_create_qp cmd = {
		.pd_handle = p.pd,
		.send_cq_handle = p.cq,
		.recv_cq_handle = p.cq,
		.max_send_wr = 1,
		.qp_type = IB_QPT_GSI,
	};
	struct process_qp_resp resp;

	KUNIT_EXPECT_NE(test, process_call(&p, CMD(CREATE_QP), &cmd, sizeof(cmd), &resp,
					   sizeof(resp)), 0);
	cmd.qp_type = IB_QPT_SMI;
	KUNIT_EXPECT_NE(test, process_call(&p, CMD(CREATE_QP), &cmd, sizeof(cmd), &resp,
					   sizeof(resp)), 0);
	KUNIT_EXPECT_EQ(test, process_objects(&p), 3);
}

/* A create of each, with @resp_len bytes of room, and @more bytes for vib. */
static int create_cq(struct process *p, size_t resp_len, u32 more, bool mapped)
{
	struct {
		struct ib_uverbs_create_cq base;
		u64 vib;
	} cmd = { { .cqe = 4, .comp_channel = -1 }, 1 };
	struct process_cq_resp resp;

	if (!mapped)
		return process_call_unmapped(p, CMD(CREATE_CQ), &cmd, sizeof(cmd.base), resp_len);
	return process_call(p, CMD(CREATE_CQ), &cmd, sizeof(cmd.base) + more, &resp, resp_len);
}

static int create_srq(struct process *p, size_t resp_len, u32 more, bool mapped)
{
	struct {
		struct ib_uverbs_create_srq base;
		u64 vib;
	} cmd = { { .pd_handle = p->pd, .max_wr = 4, .max_sge = 1 }, 1 };
	struct process_srq_resp resp;

	if (!mapped)
		return process_call_unmapped(p, CMD(CREATE_SRQ), &cmd, sizeof(cmd.base), resp_len);
	return process_call(p, CMD(CREATE_SRQ), &cmd, sizeof(cmd.base) + more, &resp, resp_len);
}

static int create_qp(struct process *p, size_t resp_len, u32 more, bool mapped)
{
	struct {
		struct ib_uverbs_create_qp base;
		u64 vib;
	} cmd = { {
		.pd_handle = p->pd,
		.send_cq_handle = p->cq,
		.recv_cq_handle = p->cq,
		.max_send_wr = 4,
		.max_recv_wr = 4,
		.qp_type = IB_QPT_UD,
	}, 1 };
	struct process_qp_resp resp;

	if (!mapped)
		return process_call_unmapped(p, CMD(CREATE_QP), &cmd, sizeof(cmd.base), resp_len);
	return process_call(p, CMD(CREATE_QP), &cmd, sizeof(cmd.base) + more, &resp, resp_len);
}

static void who_cannot_learn_of_a_ring_gets_none(struct kunit *test)
{
	static const struct {
		int (*create)(struct process *p, size_t resp_len, u32 more, bool mapped);
		size_t resp_len;
	} verbs[] = {
		{ create_cq, sizeof(struct process_cq_resp) },
		{ create_srq, sizeof(struct process_srq_resp) },
		{ create_qp, sizeof(struct process_qp_resp) },
	};
	unsigned int pages = process_ring_pages(&p);
	int i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++) {
		KUNIT_EXPECT_EQ(test, verbs[i].create(&p, verbs[i].resp_len - 8, 0, true),
				-EINVAL);
		KUNIT_EXPECT_EQ(test, verbs[i].create(&p, verbs[i].resp_len, 8, true),
				-EOPNOTSUPP);
		KUNIT_EXPECT_EQ(test, verbs[i].create(&p, verbs[i].resp_len, 0, false), -EFAULT);
		KUNIT_EXPECT_EQ(test, process_objects(&p), 3);
		KUNIT_EXPECT_EQ(test, process_ring_pages(&p), pages);
	}
}

static int post_one(struct process *p, u32 command, u32 handle)
{
	struct {
		struct ib_uverbs_post_send base;
		struct ib_uverbs_send_wr wr;
	} send = {
		{ .qp_handle = handle, .wr_count = 1, .wqe_size = sizeof(send.wr) },
		{ .opcode = IB_UVERBS_WR_SEND },
	};
	struct {
		struct ib_uverbs_post_recv base;
		struct ib_uverbs_recv_wr wr;
	} recv = { { .qp_handle = handle, .wr_count = 1, .wqe_size = sizeof(recv.wr) } };
	struct ib_uverbs_post_send_resp resp;
	int ret;

	if (command == CMD(POST_SEND))
		ret = process_call(p, command, &send, sizeof(send), &resp, sizeof(resp));
	else
		ret = process_call(p, command, &recv, sizeof(recv), &resp, sizeof(resp));
	KUNIT_EXPECT_EQ(p->test, resp.bad_wr, 1);
	return ret;
}

/* The kernel is not the producer of their rings. */
static void requests_are_posted_by_the_process_alone(struct kunit *test)
{
	struct process_srq_resp srq;
	struct vib_qp *qp;
	u32 handle;

	qp = process_qp(&p, &(struct process_qp_want){}, &handle);
	KUNIT_ASSERT_EQ(test, process_connect(qp, &pair.b, 77), 0);
	KUNIT_EXPECT_EQ(test, post_one(&p, CMD(POST_SEND), handle), -EINVAL);
	KUNIT_EXPECT_EQ(test, post_one(&p, CMD(POST_RECV), handle), -EINVAL);
	KUNIT_EXPECT_EQ(test, qp->sq.ring->tail, 0);
	KUNIT_EXPECT_EQ(test, qp->rq.queue.ring->tail, 0);
	KUNIT_ASSERT_EQ(test, process_create_srq(&p, 5, &srq), 0);
	KUNIT_EXPECT_EQ(test, post_one(&p, CMD(POST_SRQ_RECV), srq.base.srq_handle), -EINVAL);
	KUNIT_EXPECT_EQ(test, process_doorbell(&p, CMD(POST_SRQ_RECV), srq.base.srq_handle), 0);
	/* It polls by itself, too. */
	KUNIT_EXPECT_EQ(test, ib_poll_cq(&process_cq(&p)->ib, 1, &(struct ib_wc){}),
			-EOPNOTSUPP);
}

/* ---- mappings ---- */

static void a_ring_is_mapped_as_a_whole_and_shared(struct kunit *test)
{
	struct process_cq_resp resp;
	struct vib_abi_ring *ring;
	unsigned long at;
	u64 offset, len;
	u32 value;

	KUNIT_ASSERT_EQ(test, process_create_cq(&p, 200, &resp), 0);
	ring = to_vib_cq(process_object(&p, resp.base.cq_handle))->queue.ring;
	offset = resp.vib.ring.offset;
	len = resp.vib.ring.length;
	KUNIT_EXPECT_GT(test, len, 2 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, (long)process_map(&p, offset, len, MAP_PRIVATE), -EINVAL);
	KUNIT_EXPECT_EQ(test, (long)process_map(&p, offset, len + PAGE_SIZE, MAP_SHARED), -EINVAL);
	KUNIT_EXPECT_EQ(test, (long)process_map(&p, offset, PAGE_SIZE, MAP_SHARED), -EINVAL);
	KUNIT_EXPECT_EQ(test, (long)process_map(&p, offset + PAGE_SIZE, len - PAGE_SIZE,
						MAP_SHARED), -EINVAL);
	at = process_map(&p, offset, len, MAP_SHARED);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(at));
	value = 0x12345678;
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)at, &value, sizeof(value)), 0ul);
	KUNIT_EXPECT_EQ(test, ring->head, value);
	ring->entries[len - sizeof(*ring) - 1] = 0x5a;
	KUNIT_ASSERT_EQ(test, copy_from_user(&value, (void __user *)at + len - 1, 1), 0ul);
	KUNIT_EXPECT_EQ(test, value & 0xff, 0x5a);

	/* The memory is the process's still when the object is no more. */
	KUNIT_EXPECT_EQ(test, process_destroy(&p, CMD(DESTROY_CQ), resp.base.cq_handle), 0);
	KUNIT_ASSERT_EQ(test, copy_from_user(&value, (void __user *)at, sizeof(value)), 0ul);
	KUNIT_EXPECT_EQ(test, value, 0x12345678);
	KUNIT_EXPECT_EQ(test, (long)process_map(&p, offset, len, MAP_SHARED), -EINVAL);
	vm_munmap(at, len);
}

static void unplug(struct hca_side *side)
{
	struct vib_hca *hca = side->hca;

	ib_destroy_cq(side->cq);
	ib_dealloc_pd(side->pd);
	vib_hca_unregister(hca);
	vib_node_remove(&hca->node);
	*side = (struct hca_side){};
}

static void an_adapter_goes_while_a_process_has_it(struct kunit *test)
{
	struct process_qp_resp resp;
	unsigned long at;
	u32 value = 7;

	KUNIT_ASSERT_EQ(test, process_create_qp(&p, &(struct process_qp_want){}, &resp), 0);
	at = process_map(&p, resp.vib.sq.offset, resp.vib.sq.length, MAP_SHARED);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(at));
	/* Nothing of it has to stay for the sake of the process. */
	KUNIT_EXPECT_NULL(test, p.file->pinned);
	unplug(&pair.a);
	KUNIT_EXPECT_EQ(test, process_doorbell(&p, CMD(POST_SEND), resp.base.qp_handle), -EIO);
	KUNIT_EXPECT_EQ(test, copy_to_user((void __user *)at, &value, sizeof(value)), 0ul);
	KUNIT_EXPECT_EQ(test, process_destroy(&p, CMD(DESTROY_QP), resp.base.qp_handle), 0);
	vm_munmap(at, resp.vib.sq.length);
}

/* ---- memory ---- */

static int make_all(struct kunit *test)
{
	struct process_srq_resp srq;
	struct process_qp_resp qp;
	struct process_cq_resp cq;
	int ret;

	/* So long that the table of rings grows, too. */
	ret = process_create_cq(&p, 8192, &cq);
	if (ret)
		return ret;
	ret = process_create_srq(&p, 4, &srq);
	if (!ret) {
		ret = process_create_qp(&p, &(struct process_qp_want){}, &qp);
		if (!ret)
			process_destroy(&p, CMD(DESTROY_QP), qp.base.qp_handle);
		process_destroy(&p, CMD(DESTROY_SRQ), srq.base.srq_handle);
	}
	process_destroy(&p, CMD(DESTROY_CQ), cq.base.cq_handle);
	return ret;
}

static void each_allocation_may_fail(struct kunit *test)
{
	unsigned int pages = process_ring_pages(&p);

	KUNIT_EXPECT_GT(test, ibex_each_allocation(test, make_all), 20);
	KUNIT_EXPECT_EQ(test, process_objects(&p), 3);
	KUNIT_EXPECT_EQ(test, process_ring_pages(&p), pages);
}

/* ---- the other verbs ---- */

static void address_handles_domains_and_windows(struct kunit *test)
{
	struct ib_uverbs_create_ah ah = { .pd_handle = p.pd, .attr = { .dlid = 8, .port_num = 1 } };
	struct ib_uverbs_alloc_mw mw = { .pd_handle = p.pd, .mw_type = IB_MW_TYPE_2 };
	struct ib_uverbs_create_ah_resp ah_resp;
	struct ib_uverbs_alloc_mw_resp mw_resp;

	KUNIT_EXPECT_EQ(test, process_call(&p, CMD(CREATE_AH), &ah, sizeof(ah), &ah_resp,
					   sizeof(ah_resp)), 0);
	KUNIT_EXPECT_EQ(test, process_destroy(&p, CMD(DESTROY_AH), ah_resp.ah_handle), 0);
	ah.attr.sl = 16;
	KUNIT_EXPECT_EQ(test, process_call(&p, CMD(CREATE_AH), &ah, sizeof(ah), &ah_resp,
					   sizeof(ah_resp)), -EINVAL);
	KUNIT_EXPECT_EQ(test, process_call(&p, CMD(ALLOC_MW), &mw, sizeof(mw), &mw_resp,
					   sizeof(mw_resp)), 0);
	KUNIT_EXPECT_NE(test, mw_resp.rkey, 0);
	KUNIT_EXPECT_EQ(test, process_destroy(&p, CMD(DEALLOC_MW), mw_resp.mw_handle), 0);
	mw.mw_type = IB_MW_TYPE_1;
	KUNIT_EXPECT_EQ(test, process_call(&p, CMD(ALLOC_MW), &mw, sizeof(mw), &mw_resp,
					   sizeof(mw_resp)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, process_destroy(&p, CMD(CLOSE_XRCD), process_xrcd(&p)), 0);
	KUNIT_EXPECT_EQ(test, process_objects(&p), 3);
}

static struct kunit_case verbs_cases[] = {
	KUNIT_CASE(a_context_says_how_much_is_inline),
	KUNIT_CASE(a_cq_is_a_ring),
	KUNIT_CASE(an_srq_is_a_ring),
	KUNIT_CASE(a_queue_of_a_qp_is_a_ring),
	KUNIT_CASE(qps_of_the_port_are_not_for_processes),
	KUNIT_CASE(who_cannot_learn_of_a_ring_gets_none),
	KUNIT_CASE(requests_are_posted_by_the_process_alone),
	KUNIT_CASE(a_ring_is_mapped_as_a_whole_and_shared),
	KUNIT_CASE(an_adapter_goes_while_a_process_has_it),
	KUNIT_CASE(each_allocation_may_fail),
	KUNIT_CASE(address_handles_domains_and_windows),
	{}
};

static struct kunit_suite verbs_suite = {
	.name = "vib_user_verbs",
	.init = verbs_init,
	.exit = verbs_exit,
	.test_cases = verbs_cases,
};

kunit_test_suite(verbs_suite);
