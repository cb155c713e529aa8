// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Storage ULPs with protection information, as iSER and NVMe do it: an initiator's region, by
 * IB_WR_REG_MR_INTEGRITY, and a target's RDMA READ or WRITE by the core's rw API, on a link that
 * may lose packets.
 */
#include <rdma/rw.h>
#include "protected.h"

#define MTU		256
#define REMOTE		(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE)
#define LOSS		(VIB_FAULT_ALL / 20)

static struct hca_pair pair;
static struct ib_qp *initiator, *target;	/* of a, of b */
static struct ib_mr *mr;			/* the initiator's */
static struct ib_cqe cqe;			/* of the target's requests; never called */

/* ---- connections ---- */

static struct ib_qp *create(struct hca_side *side, u32 flags, u32 ctxs)
{
	struct ib_qp_init_attr init = {
		.send_cq = side->cq,
		.recv_cq = side->cq,
		.cap = {
			.max_send_wr = 8,
			.max_recv_wr = 8,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_rdma_ctxs = ctxs,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
		.create_flags = flags,
		.port_num = 1,
	};

	return ib_create_qp(side->pd, &init);
}

static int to_init(struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = REMOTE,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			    IB_QP_ACCESS_FLAGS);
}

static int to_rtr(struct ib_qp *qp, struct ib_qp *peer, const struct hca_side *side)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = IB_MTU_256,
		.dest_qp_num = peer->qp_num,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 12,
		.ah_attr.type = RDMA_AH_ATTR_TYPE_IB,
	};

	rdma_ah_set_dlid(&attr.ah_attr, side->port->lid);
	rdma_ah_set_port_num(&attr.ah_attr, 1);
	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
			    IB_QP_DEST_QPN | IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
			    IB_QP_MIN_RNR_TIMER);
}

static int to_rts(struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.timeout = 8,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 4,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_TIMEOUT |
			    IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC);
}

static int connect_pair(void)
{
	return to_init(initiator) ?: to_init(target) ?: to_rtr(initiator, target, &pair.b) ?:
	       to_rtr(target, initiator, &pair.a) ?: to_rts(initiator) ?: to_rts(target);
}

static int transfer_init(struct kunit *test)
{
	int ret = hca_pair_init(test, &pair);

	if (ret)
		return ret;
	initiator = create(&pair.a, IB_QP_CREATE_INTEGRITY_EN, 0);
	target = create(&pair.b, IB_QP_CREATE_INTEGRITY_EN, 2);
	mr = ib_alloc_mr_integrity(pair.a.pd, PI_PIECES, PI_PIECES);
	if (IS_ERR(initiator) || IS_ERR(target) || IS_ERR(mr))
		return -ENOMEM;
	return connect_pair();
}

static void transfer_exit(struct kunit *test)
{
	if (!IS_ERR_OR_NULL(mr))
		ib_dereg_mr(mr);
	if (!IS_ERR_OR_NULL(initiator))
		ib_destroy_qp(initiator);
	if (!IS_ERR_OR_NULL(target))
		ib_destroy_qp(target);
	mr = NULL;
	initiator = NULL;
	target = NULL;
	hca_pair_exit(&pair);
}

/* ---- the initiator ---- */

static enum ib_wc_status completion(struct hca_side *side)
{
	struct ib_wc wc = {};

	return hca_poll(side->cq, &wc) ? wc.status : IB_WC_GENERAL_ERR;
}

static int post_reg(struct ib_qp *qp, int access)
{
	struct ib_reg_wr reg = {
		.wr = { .opcode = IB_WR_REG_MR_INTEGRITY, .send_flags = IB_SEND_SIGNALED },
		.mr = mr,
		.access = access,
	};

	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	reg.key = mr->rkey;
	return ib_post_send(qp, &reg.wr, NULL);
}

static int post_inv(u32 key)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = key,
		.send_flags = IB_SEND_SIGNALED,
	};

	return ib_post_send(initiator, &wr, NULL);
}

static void offer(struct kunit *test, struct protected *p, const struct ib_sig_attrs *attrs)
{
	*mr->sig_attrs = *attrs;
	protected_map_dma(test, p, pair.a.pd->device);
	KUNIT_ASSERT_EQ(test, ib_map_mr_sg_pi(mr, p->data.sg, p->data.count, NULL, p->meta.sg,
					      p->meta.count, NULL, SZ_4K), 0);
	KUNIT_ASSERT_EQ(test, post_reg(initiator, REMOTE), 0);
	KUNIT_ASSERT_EQ(test, completion(&pair.a), IB_WC_SUCCESS);
}

static void take_back(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, post_inv(mr->rkey), 0);
	KUNIT_EXPECT_EQ(test, completion(&pair.a), IB_WC_SUCCESS);
}

/* ---- the target ---- */

/* Reads the initiator's memory into @p, or writes it from there; what its region found. */
static int transfer(struct kunit *test, struct protected *p, struct ib_sig_attrs *attrs,
		    enum dma_data_direction dir, struct ib_sig_err *err)
{
	struct rdma_rw_ctx ctx = {};
	int status, wrs;

	wrs = rdma_rw_ctx_signature_init(&ctx, target, 1, p->data.sg, p->data.count, p->meta.sg,
					 p->meta.count, attrs, mr->iova, mr->rkey, dir);
	KUNIT_ASSERT_GT(test, wrs, 1);
	KUNIT_ASSERT_EQ(test, rdma_rw_ctx_post(&ctx, target, 1, &cqe, NULL), 0);
	KUNIT_EXPECT_EQ(test, completion(&pair.b), IB_WC_SUCCESS);
	status = pi_status(ctx.reg->mr, err);
	rdma_rw_ctx_destroy_signature(&ctx, target, 1, p->data.sg, p->data.count, p->meta.sg,
				      p->meta.count, dir);
	return status;
}

/* ---- both ---- */

/* What an initiator and a target have in memory, and what goes from one to the other. */
struct way {
	enum pi_kind initiator, wire, target;
};

/* Normal operations of SCSI and NVMe: pass, insert and strip, at either end. */
static const struct way ways[] = {
	{ PI_CRC, PI_CRC, PI_CRC },
	{ PI_CSUM, PI_CRC, PI_CRC },
	{ PI_NONE, PI_CRC, PI_CRC },
	{ PI_CRC, PI_CRC, PI_NONE },
	{ PI_CRC, PI_NONE, PI_CRC },
	{ PI_NONE, PI_NONE, PI_CRC },
	{ PI_CSUM, PI_CSUM, PI_NONE },
};

static void go(struct kunit *test, const struct way *way, u32 block, bool write)
{
	struct ib_sig_attrs near = pi_attrs(way->initiator, way->wire, block);
	struct ib_sig_attrs far = pi_attrs(way->target, way->wire, block);
	struct protected p, q;

	protected_init(test, &p, block, way->initiator, write ? 1 : 2);
	protected_init(test, &q, block, way->target, write ? 2 : 1);
	offer(test, &p, &near);
	KUNIT_EXPECT_EQ(test, transfer(test, &q, &far, write ? DMA_FROM_DEVICE : DMA_TO_DEVICE,
				       NULL), 0);
	KUNIT_EXPECT_EQ(test, pi_status(mr, NULL), 0);
	KUNIT_EXPECT_TRUE_MSG(test, protected_has(test, &p, way->initiator, 1) &&
			      protected_has(test, &q, way->target, 1),
			      "%s: %d, %d, %d; blocks of %u", write ? "write" : "read",
			      way->initiator, way->wire, way->target, block);
	take_back(test);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq) && hca_nothing(pair.b.cq));
}

static void go_all(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		go(test, &ways[i], 512, true);
		go(test, &ways[i], 512, false);
		go(test, &ways[i], 4096, true);
		go(test, &ways[i], 4096, false);
	}
}

static void data_goes_both_ways(struct kunit *test)
{
	go_all(test);
}

static void lost_packets_change_nothing(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, vib_fault_set_rate(&pair.link.fault, VIB_FAULT_DROP, LOSS), 0);
	KUNIT_ASSERT_EQ(test, vib_fault_set_rate(&pair.link.fault, VIB_FAULT_DUP, LOSS), 0);
	go_all(test);
	KUNIT_EXPECT_GT(test, vib_fault_struck(&pair.link.fault, VIB_FAULT_DROP), 20);
	KUNIT_EXPECT_GT(test, vib_fault_struck(&pair.link.fault, VIB_FAULT_DUP), 20);
}

/* ---- errors ---- */

static void spoil(struct protected *p, u32 n)
{
	u8 byte;

	pieces_read(&p->data, n * p->block + 100, &byte, 1);
	byte ^= 1;
	pieces_write(&p->data, n * p->block + 100, &byte, 1);
}

/* What has a wrong guard is found by who has it in memory, and by who gets it. */
static void both_ends_find_what_is_wrong(struct kunit *test)
{
	struct ib_sig_attrs attrs = pi_attrs(PI_CRC, PI_CRC, 512);
	struct ib_sig_err here, there;
	struct protected p, q;
	int dir;

	for (dir = 0; dir < 2; dir++) {
		protected_init(test, &p, 512, PI_CRC, 1);
		protected_init(test, &q, 512, PI_CRC, 1);
		spoil(dir ? &p : &q, 2);
		offer(test, &p, &attrs);
		KUNIT_EXPECT_EQ(test, transfer(test, &q, &attrs, dir ? DMA_FROM_DEVICE :
					       DMA_TO_DEVICE, &there), IB_MR_CHECK_SIG_STATUS);
		KUNIT_EXPECT_EQ(test, pi_status(mr, &here), IB_MR_CHECK_SIG_STATUS);
		KUNIT_EXPECT_EQ(test, here.err_type, IB_SIG_BAD_GUARD);
		KUNIT_EXPECT_EQ(test, there.err_type, IB_SIG_BAD_GUARD);
		KUNIT_EXPECT_EQ(test, here.sig_err_offset, 2 * 520);
		KUNIT_EXPECT_EQ(test, there.sig_err_offset, 2 * 520);
		KUNIT_EXPECT_EQ(test, here.actual, there.actual);
		KUNIT_EXPECT_EQ(test, here.key, mr->lkey);
		take_back(test);
	}
}

/* The ends do not mean the same blocks. */
static void another_reference_tag_is_found_by_the_receiver(struct kunit *test)
{
	struct ib_sig_attrs near = pi_attrs(PI_NONE, PI_CRC, 4096);
	struct ib_sig_attrs far = pi_attrs(PI_NONE, PI_CRC, 4096);
	struct ib_sig_err err;
	struct protected p, q;

	protected_init(test, &p, 4096, PI_NONE, 1);
	protected_init(test, &q, 4096, PI_NONE, 2);
	far.wire.sig.dif.ref_tag = PI_REF + 1;
	offer(test, &p, &near);
	KUNIT_EXPECT_EQ(test, transfer(test, &q, &far, DMA_FROM_DEVICE, &err),
			IB_MR_CHECK_SIG_STATUS);
	KUNIT_EXPECT_EQ(test, err.err_type, IB_SIG_BAD_REFTAG);
	KUNIT_EXPECT_EQ(test, err.expected, PI_REF + 1);
	KUNIT_EXPECT_EQ(test, err.actual, PI_REF);
	KUNIT_EXPECT_EQ(test, pi_status(mr, NULL), 0);
	KUNIT_EXPECT_TRUE(test, protected_has(test, &q, PI_NONE, 1));
	take_back(test);
}

/* ---- keys ---- */

/* A SEND with invalidate ends the initiator's key, as iSER's responses do. */
static void a_peer_may_invalidate_the_key(struct kunit *test)
{
	struct ib_sig_attrs attrs = pi_attrs(PI_CRC, PI_CRC, 512);
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND_WITH_INV,
		.send_flags = IB_SEND_SIGNALED,
	};
	u8 *buf = hca_buf(test, 8, 0);
	struct protected p, q;
	struct ib_wc wc = {};

	protected_init(test, &p, 512, PI_CRC, 1);
	protected_init(test, &q, 512, PI_CRC, 2);
	spoil(&p, 0);
	offer(test, &p, &attrs);
	KUNIT_ASSERT_EQ(test, hca_recv(initiator, &pair.a, buf, 8, 7), 0);
	KUNIT_EXPECT_EQ(test, transfer(test, &q, &attrs, DMA_FROM_DEVICE, NULL),
			IB_MR_CHECK_SIG_STATUS);
	wr.ex.invalidate_rkey = mr->rkey;
	KUNIT_ASSERT_EQ(test, ib_post_send(target, &wr, NULL), 0);
	KUNIT_EXPECT_EQ(test, completion(&pair.b), IB_WC_SUCCESS);
	KUNIT_ASSERT_TRUE(test, hca_poll(pair.a.cq, &wc));
	KUNIT_EXPECT_EQ(test, wc.wc_flags & IB_WC_WITH_INVALIDATE, IB_WC_WITH_INVALIDATE);
	/* What was found stays known. */
	KUNIT_EXPECT_EQ(test, pi_status(mr, NULL), IB_MR_CHECK_SIG_STATUS);
	/* It is mapped again without a LOCAL_INV. */
	offer(test, &p, &attrs);
	take_back(test);
}

static void what_cannot_be_registered_completes_in_error(struct kunit *test)
{
	struct ib_sig_attrs attrs = pi_attrs(PI_CRC, PI_CRC, 512);
	struct protected p;

	protected_init(test, &p, 512, PI_CRC, 1);
	attrs.wire.sig.dif.pi_interval = 4096;
	*mr->sig_attrs = attrs;
	protected_map_dma(test, &p, pair.a.pd->device);
	KUNIT_ASSERT_EQ(test, ib_map_mr_sg_pi(mr, p.data.sg, p.data.count, NULL, p.meta.sg,
					      p.meta.count, NULL, SZ_4K), 0);
	KUNIT_EXPECT_EQ(test, post_reg(initiator, REMOTE), 0);
	KUNIT_EXPECT_EQ(test, completion(&pair.a), IB_WC_MW_BIND_ERR);
	KUNIT_EXPECT_EQ(test, hca_qp_state(initiator), IB_QPS_ERR);
}

/* A QP has to have been made for it, and is of a reliable connection. */
static void only_a_qp_that_was_made_for_it_registers(struct kunit *test)
{
	struct ib_qp *own = initiator;

	initiator = create(&pair.a, 0, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(initiator));
	KUNIT_ASSERT_EQ(test, to_init(initiator) ?: to_rtr(initiator, target, &pair.b) ?:
			to_rts(initiator), 0);
	KUNIT_EXPECT_EQ(test, post_reg(initiator, REMOTE), -EINVAL);
	ib_destroy_qp(initiator);
	initiator = own;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(hca_qp_create(&pair.a, IB_QPT_UC,
			&(struct hca_qp_want){ .flags = IB_QP_CREATE_INTEGRITY_EN })),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(hca_qp_create(&pair.a, IB_QPT_UD,
			&(struct hca_qp_want){ .flags = IB_QP_CREATE_INTEGRITY_EN })),
			-EOPNOTSUPP);
}

static struct kunit_case transfer_cases[] = {
	KUNIT_CASE(data_goes_both_ways),
	KUNIT_CASE(lost_packets_change_nothing),
	KUNIT_CASE(both_ends_find_what_is_wrong),
	KUNIT_CASE(another_reference_tag_is_found_by_the_receiver),
	KUNIT_CASE(a_peer_may_invalidate_the_key),
	KUNIT_CASE(what_cannot_be_registered_completes_in_error),
	KUNIT_CASE(only_a_qp_that_was_made_for_it_registers),
	{}
};

static struct kunit_suite vib_transfer_suite = {
	.name = "vib_integrity_transfer",
	.init = transfer_init,
	.exit = transfer_exit,
	.test_cases = transfer_cases,
};

kunit_test_suite(vib_transfer_suite);
