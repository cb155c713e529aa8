// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Queue pairs: creation, states and what becomes of requests in them (IBA vol. 1, 10.3). */
#include "faults.h"
#include "hca_pair.h"

static struct hca_pair pair;
static struct hca_talk talk;
static u8 *out, *in;

static int qp_test_init(struct kunit *test)
{
	int ret = hca_pair_init(test, &pair);

	if (ret)
		return ret;
	out = hca_buf(test, 256, 1);
	in = hca_buf(test, GRH_LEN + 256, 0);
	hca_talk_init(test, &pair, &talk);
	return 0;
}

static void qp_test_exit(struct kunit *test)
{
	hca_talk_exit(&talk);
	hca_pair_exit(&pair);
}

/* A QP of its own to go from state to state with. */
static struct ib_qp *qp_new(struct kunit *test)
{
	struct ib_qp *qp = hca_qp_create(&pair.a, IB_QPT_UD, &(struct hca_qp_want){});

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	return qp;
}

static int post_sends(struct hca_side *side, struct ib_qp *qp, int n)
{
	int i, ret = 0;

	for (i = 0; !ret && i < n; i++)
		ret = hca_send(qp, side, talk.ah, talk.to->qp_num, out, 64);
	return ret;
}

static int post_recvs(struct hca_side *side, struct ib_qp *qp, int n)
{
	int i, ret = 0;

	for (i = 0; !ret && i < n; i++)
		ret = hca_recv(qp, side, in, GRH_LEN + 256, i);
	return ret;
}

/* Polls @n completions of @status from @side. */
static void expect_completions(struct kunit *test, struct hca_side *side, int n,
			       enum ib_wc_status status)
{
	struct ib_wc wc;
	int i;

	for (i = 0; i < n; i++) {
		KUNIT_ASSERT_TRUE(test, hca_poll(side->cq, &wc));
		KUNIT_EXPECT_EQ(test, wc.status, status);
	}
	KUNIT_EXPECT_TRUE(test, hca_nothing(side->cq));
}

/* ---- creation ---- */

static void numbers_are_unique_and_not_used_again_soon(struct kunit *test)
{
	u32 last = talk.from->qp_num;
	struct ib_qp *qp;
	int i;

	for (i = 0; i < 20; i++) {
		qp = qp_new(test);
		KUNIT_EXPECT_GT(test, qp->qp_num, last);
		last = qp->qp_num;
		ib_destroy_qp(qp);
	}
}

static void a_port_has_one_smi_and_one_gsi(struct kunit *test)
{
	static const enum ib_qp_type types[] = { IB_QPT_SMI, IB_QPT_GSI };
	struct ib_qp *qp, *other;
	int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		qp = hca_qp_create(&pair.a, types[i], &(struct hca_qp_want){});
		KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
		KUNIT_EXPECT_EQ(test, qp->qp_num, types[i]);
		other = hca_qp_create(&pair.a, types[i], &(struct hca_qp_want){});
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(other), -EBUSY);
		ib_destroy_qp(qp);
		qp = hca_qp_create(&pair.a, types[i], &(struct hca_qp_want){});
		KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
		ib_destroy_qp(qp);
	}
}

static int create_with(const struct ib_qp_init_attr *like)
{
	struct ib_qp_init_attr init = *like;
	struct ib_qp *qp;

	init.send_cq = pair.a.cq;
	init.recv_cq = pair.a.cq;
	qp = ib_create_qp(pair.a.pd, &init);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	ib_destroy_qp(qp);
	return 0;
}

static void what_is_not_supported_is_refused(struct kunit *test)
{
	struct ib_qp_init_attr ud = { .qp_type = IB_QPT_UD, .cap.max_send_wr = 1 };
	struct ib_qp_init_attr init;

	KUNIT_EXPECT_EQ(test, create_with(&ud), 0);
	init = ud;
	init.qp_type = IB_QPT_RAW_PACKET;
	KUNIT_EXPECT_EQ(test, create_with(&init), -EOPNOTSUPP);
	init = ud;
	init.create_flags = IB_QP_CREATE_SCATTER_FCS;
	KUNIT_EXPECT_EQ(test, create_with(&init), -EOPNOTSUPP);
	init = ud;
	init.cap.max_send_wr = VIB_MAX_WR + 1;
	KUNIT_EXPECT_EQ(test, create_with(&init), -EINVAL);
	init = ud;
	init.cap.max_recv_sge = VIB_MAX_SGE + 1;
	KUNIT_EXPECT_EQ(test, create_with(&init), -EINVAL);
	init = ud;
	init.cap.max_inline_data = VIB_MAX_INLINE + 1;
	KUNIT_EXPECT_EQ(test, create_with(&init), -EINVAL);
	init = ud;
	init.qp_type = IB_QPT_GSI;
	init.port_num = 2;
	KUNIT_EXPECT_EQ(test, create_with(&init), -EINVAL);
}

static int create_and_destroy(struct kunit *test)
{
	struct ib_qp_init_attr ud = {
		.qp_type = IB_QPT_UD,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_recv_sge = 1 },
	};

	return create_with(&ud);
}

static void creation_may_fail_at_each_allocation(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, create_and_destroy), 4);
}

/* At least what was asked for, and what is granted can be posted. */
static void a_queue_takes_what_it_promises(struct kunit *test)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;
	struct ib_qp *qp;

	qp = hca_qp_create(&pair.a, IB_QPT_UD, &(struct hca_qp_want){ .wr = 5 });
	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	KUNIT_ASSERT_EQ(test, ib_query_qp(qp, &attr, IB_QP_CAP, &init), 0);
	KUNIT_EXPECT_GE(test, attr.cap.max_recv_wr, 5);
	KUNIT_ASSERT_EQ(test, hca_qp_to(qp, IB_QPS_INIT), 0);
	KUNIT_EXPECT_EQ(test, post_recvs(&pair.a, qp, attr.cap.max_recv_wr), 0);
	KUNIT_EXPECT_EQ(test, post_recvs(&pair.a, qp, 1), -ENOMEM);
	ib_destroy_qp(qp);
}

static void a_query_tells_what_was_set(struct kunit *test)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT, .port_num = 1, .pkey_index = 3, .qkey = 77,
	};
	struct ib_qp *qp = qp_new(test);

	KUNIT_ASSERT_EQ(test, ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PORT |
					   IB_QP_PKEY_INDEX | IB_QP_QKEY), 0);
	KUNIT_ASSERT_EQ(test, ib_query_qp(qp, &attr, ~0, &init), 0);
	KUNIT_EXPECT_EQ(test, attr.qp_state, IB_QPS_INIT);
	KUNIT_EXPECT_EQ(test, attr.port_num, 1);
	KUNIT_EXPECT_EQ(test, attr.pkey_index, 3);
	KUNIT_EXPECT_EQ(test, attr.qkey, 77);
	KUNIT_EXPECT_EQ(test, init.qp_type, IB_QPT_UD);
	KUNIT_EXPECT_PTR_EQ(test, init.send_cq, pair.a.cq);
	ib_destroy_qp(qp);
}

/* ---- transitions ---- */

#define S(state) BIT(IB_QPS_##state)

/* To where each state may be left with what hca_qp_modify() comes with; 10.3.1. */
static const u8 next_states[] = {
	[IB_QPS_RESET]	= S(RESET) | S(INIT),
	[IB_QPS_INIT]	= S(RESET) | S(INIT) | S(RTR) | S(ERR),
	[IB_QPS_RTR]	= S(RESET) | S(RTS) | S(ERR),
	[IB_QPS_RTS]	= S(RESET) | S(RTS) | S(SQD) | S(ERR),
	[IB_QPS_SQD]	= S(RESET) | S(RTS) | S(SQD) | S(ERR),
	[IB_QPS_SQE]	= S(RESET) | S(RTS) | S(ERR),
	[IB_QPS_ERR]	= S(RESET) | S(ERR),
};

static int make_sqe(struct ib_qp *qp)
{
	struct hca_send send = hca_send_wr(&pair.a, talk.ah, talk.to->qp_num, out, 64);
	struct ib_wc wc;
	int ret;

	send.sge.lkey = 0xdeadbeef;
	ret = hca_qp_to(qp, IB_QPS_RTS) ?: hca_post_send(qp, &send);
	return ret ?: hca_poll(pair.a.cq, &wc) ? 0 : -ETIMEDOUT;
}

static int bring_to(struct ib_qp *qp, enum ib_qp_state state)
{
	switch (state) {
	case IB_QPS_RESET:
		return 0;
	case IB_QPS_SQE:
		return make_sqe(qp);
	case IB_QPS_ERR:
		return hca_qp_to(qp, IB_QPS_RTS) ?: hca_qp_modify(qp, IB_QPS_ERR);
	default:
		return hca_qp_to(qp, state);
	}
}

/* RESET to ERR is left out: the cores differ in it. */
static void each_state_is_left_as_the_specification_says(struct kunit *test)
{
	enum ib_qp_state from, to;
	struct ib_qp *qp;
	bool allowed;

	for (from = IB_QPS_RESET; from <= IB_QPS_ERR; from++) {
		for (to = IB_QPS_RESET; to <= IB_QPS_ERR; to++) {
			if (from == IB_QPS_RESET && to == IB_QPS_ERR)
				continue;
			qp = qp_new(test);
			KUNIT_ASSERT_EQ(test, bring_to(qp, from), 0);
			KUNIT_ASSERT_EQ(test, hca_qp_state(qp), from);
			allowed = next_states[from] & BIT(to);
			KUNIT_EXPECT_EQ_MSG(test, !hca_qp_modify(qp, to), allowed,
					    "%d to %d", from, to);
			KUNIT_EXPECT_EQ(test, hca_qp_state(qp), allowed ? to : from);
			ib_destroy_qp(qp);
		}
	}
}

static void each_attribute_that_a_transition_requires_is_missed(struct kunit *test)
{
	static const int init_masks[] = { IB_QP_PKEY_INDEX, IB_QP_PORT, IB_QP_QKEY };
	const int all = IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY;
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1 };
	struct ib_qp *qp = qp_new(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(init_masks); i++)
		KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, all & ~init_masks[i]), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, all | IB_QP_AV), -EINVAL);
	KUNIT_EXPECT_EQ(test, hca_qp_state(qp), IB_QPS_RESET);
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, all), 0);
	attr.qp_state = IB_QPS_RTR;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, IB_QP_STATE), 0);
	attr.qp_state = IB_QPS_RTS;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, IB_QP_STATE), -EINVAL);
	ib_destroy_qp(qp);
}

static void values_out_of_range_are_refused(struct kunit *test)
{
	const int mask = IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY;
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 2 };
	struct ib_qp *qp = qp_new(test);

	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, mask), -EINVAL);
	attr.port_num = 1;
	attr.pkey_index = PAIR_PKEYS;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, mask), -EINVAL);
	KUNIT_EXPECT_EQ(test, hca_qp_state(qp), IB_QPS_RESET);
	ib_destroy_qp(qp);
}

static void a_consumer_that_is_wrong_about_the_state_is_told(struct kunit *test)
{
	const int mask = IB_QP_STATE | IB_QP_CUR_STATE;
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS, .cur_qp_state = IB_QPS_SQE };
	struct ib_qp *qp = qp_new(test);

	KUNIT_ASSERT_EQ(test, hca_qp_to(qp, IB_QPS_RTS), 0);
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, mask), -EINVAL);
	attr.cur_qp_state = IB_QPS_RTS;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, mask), 0);
	ib_destroy_qp(qp);
}

/* ---- requests in each state ---- */

static void requests_are_taken_from_the_state_that_takes_them(struct kunit *test)
{
	struct ib_qp *qp = qp_new(test);

	KUNIT_EXPECT_EQ(test, post_recvs(&pair.a, qp, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, post_sends(&pair.a, qp, 1), -EINVAL);
	KUNIT_ASSERT_EQ(test, hca_qp_modify(qp, IB_QPS_INIT), 0);
	KUNIT_EXPECT_EQ(test, post_recvs(&pair.a, qp, 1), 0);
	KUNIT_EXPECT_EQ(test, post_sends(&pair.a, qp, 1), -EINVAL);
	KUNIT_ASSERT_EQ(test, hca_qp_modify(qp, IB_QPS_RTR), 0);
	KUNIT_EXPECT_EQ(test, post_sends(&pair.a, qp, 1), -EINVAL);
	KUNIT_ASSERT_EQ(test, hca_qp_modify(qp, IB_QPS_RTS), 0);
	KUNIT_EXPECT_EQ(test, post_sends(&pair.a, qp, 1), 0);
	expect_completions(test, &pair.a, 1, IB_WC_SUCCESS);
	ib_destroy_qp(qp);
}

static void an_error_flushes_what_is_posted_before_and_after(struct kunit *test)
{
	struct ib_wc wc;
	int i;

	KUNIT_ASSERT_EQ(test, post_recvs(&pair.b, talk.to, 8), 0);
	KUNIT_ASSERT_EQ(test, hca_qp_modify(talk.to, IB_QPS_ERR), 0);
	for (i = 0; i < 8; i++) {
		KUNIT_ASSERT_TRUE(test, hca_poll(pair.b.cq, &wc));
		KUNIT_EXPECT_EQ(test, wc.status, IB_WC_WR_FLUSH_ERR);
		KUNIT_EXPECT_EQ(test, wc.wr_id, i);
		KUNIT_EXPECT_PTR_EQ(test, wc.qp, talk.to);
	}
	KUNIT_ASSERT_EQ(test, post_recvs(&pair.b, talk.to, 2), 0);
	expect_completions(test, &pair.b, 2, IB_WC_WR_FLUSH_ERR);

	KUNIT_ASSERT_EQ(test, hca_qp_modify(talk.from, IB_QPS_ERR), 0);
	KUNIT_ASSERT_EQ(test, post_sends(&pair.a, talk.from, 3), 0);
	expect_completions(test, &pair.a, 3, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, hca_dropped(&pair.b, VIB_DROP_QP), 0);
}

/* What drains a queue is a request that no UD QP has. */
static void any_request_at_all_is_flushed(struct kunit *test)
{
	struct ib_rdma_wr wr = { .wr = { .wr_id = 77, .opcode = IB_WR_RDMA_WRITE } };
	struct ib_wc wc;

	KUNIT_EXPECT_EQ(test, ib_post_send(talk.from, &wr.wr, NULL), -EINVAL);
	KUNIT_ASSERT_EQ(test, hca_qp_modify(talk.from, IB_QPS_ERR), 0);
	KUNIT_ASSERT_EQ(test, ib_post_send(talk.from, &wr.wr, NULL), 0);
	KUNIT_ASSERT_TRUE(test, hca_poll(pair.a.cq, &wc));
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 77);
}

static int drain(struct ib_qp *qp, bool notify)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_SQD, .en_sqd_async_notify = notify };

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_EN_SQD_ASYNC_NOTIFY);
}

static void a_drained_queue_holds_what_is_posted(struct kunit *test)
{
	unsigned int *drained = &pair.a.qp_events[IB_EVENT_SQ_DRAINED];

	KUNIT_ASSERT_EQ(test, drain(talk.from, true), 0);
	KUNIT_EXPECT_TRUE(test, wait_within(READ_ONCE(*drained) == 1, 5000));
	KUNIT_ASSERT_EQ(test, post_sends(&pair.a, talk.from, 5), 0);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
	KUNIT_ASSERT_EQ(test, hca_qp_modify(talk.from, IB_QPS_RTS), 0);
	expect_completions(test, &pair.a, 5, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, *drained, 1);
}

static void a_drain_is_told_of_if_that_was_asked_for(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, drain(talk.from, false), 0);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
	KUNIT_EXPECT_EQ(test, pair.a.qp_events[IB_EVENT_SQ_DRAINED], 0);
}

/* Those behind it are flushed; receiving goes on; and so does sending, from RTS. */
static void a_failed_send_stops_the_send_queue_alone(struct kunit *test)
{
	struct hca_send bad = hca_send_wr(&pair.a, talk.ah, talk.to->qp_num, out, 64);
	struct ib_ah *back = hca_ah(test, &pair.b, pair.a.port->lid);
	struct ib_wc wc;

	bad.sge.lkey = 0xdeadbeef;
	KUNIT_ASSERT_EQ(test, drain(talk.from, false), 0);
	KUNIT_ASSERT_EQ(test, post_sends(&pair.a, talk.from, 1), 0);
	KUNIT_ASSERT_EQ(test, hca_post_send(talk.from, &bad), 0);
	KUNIT_ASSERT_EQ(test, post_sends(&pair.a, talk.from, 2), 0);
	KUNIT_ASSERT_EQ(test, hca_qp_modify(talk.from, IB_QPS_RTS), 0);
	KUNIT_ASSERT_TRUE(test, hca_poll(pair.a.cq, &wc));
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_ASSERT_TRUE(test, hca_poll(pair.a.cq, &wc));
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_LOC_PROT_ERR);
	expect_completions(test, &pair.a, 2, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, hca_qp_state(talk.from), IB_QPS_SQE);

	KUNIT_ASSERT_EQ(test, post_recvs(&pair.a, talk.from, 1), 0);
	KUNIT_ASSERT_EQ(test, hca_send(talk.to, &pair.b, back, talk.from->qp_num, out, 64), 0);
	expect_completions(test, &pair.a, 1, IB_WC_SUCCESS);
	KUNIT_ASSERT_EQ(test, post_sends(&pair.a, talk.from, 1), 0);
	expect_completions(test, &pair.a, 1, IB_WC_WR_FLUSH_ERR);
	KUNIT_ASSERT_EQ(test, hca_qp_modify(talk.from, IB_QPS_RTS), 0);
	KUNIT_ASSERT_EQ(test, post_sends(&pair.a, talk.from, 1), 0);
	expect_completions(test, &pair.a, 1, IB_WC_SUCCESS);
	rdma_destroy_ah(back, 0);
}

/* Nothing of it completes, and the next life begins with empty queues. */
static void a_reset_forgets_what_is_posted(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, post_recvs(&pair.b, talk.to, 4), 0);
	KUNIT_ASSERT_EQ(test, drain(talk.from, false), 0);
	KUNIT_ASSERT_EQ(test, post_sends(&pair.a, talk.from, 4), 0);
	KUNIT_ASSERT_EQ(test, hca_qp_modify(talk.from, IB_QPS_RESET), 0);
	KUNIT_ASSERT_EQ(test, hca_qp_modify(talk.to, IB_QPS_RESET), 0);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.b.cq));

	KUNIT_ASSERT_EQ(test, hca_qp_to(talk.from, IB_QPS_RTS), 0);
	KUNIT_ASSERT_EQ(test, hca_qp_to(talk.to, IB_QPS_RTS), 0);
	KUNIT_ASSERT_EQ(test, post_recvs(&pair.b, talk.to, 1), 0);
	KUNIT_ASSERT_EQ(test, post_sends(&pair.a, talk.from, 2), 0);
	expect_completions(test, &pair.a, 2, IB_WC_SUCCESS);
	expect_completions(test, &pair.b, 1, IB_WC_SUCCESS);
}

static void its_end_takes_its_completions_with_it(struct kunit *test)
{
	struct ib_qp *other = hca_qp_rts(test, &pair.a);
	struct ib_wc wc;

	KUNIT_ASSERT_EQ(test, post_sends(&pair.a, talk.from, 3), 0);
	KUNIT_ASSERT_EQ(test, post_sends(&pair.a, other, 1), 0);
	KUNIT_ASSERT_EQ(test, post_sends(&pair.a, talk.from, 3), 0);
	KUNIT_ASSERT_EQ(test, drain(talk.from, false), 0);
	KUNIT_ASSERT_EQ(test, post_sends(&pair.a, talk.from, 3), 0);
	ib_destroy_qp(talk.from);
	talk.from = NULL;
	KUNIT_ASSERT_TRUE(test, hca_poll(pair.a.cq, &wc));
	KUNIT_EXPECT_PTR_EQ(test, wc.qp, other);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
	ib_destroy_qp(other);
}

/* Packets keep coming for a QP that is made and destroyed all the while. */
static void packets_for_a_qp_that_goes_are_dropped(struct kunit *test)
{
	struct ib_qp *qp;
	struct ib_wc wc;
	int i, j;
	u32 qpn;

	for (i = 0; i < 50; i++) {
		qp = hca_qp_rts(test, &pair.b);
		qpn = qp->qp_num;
		for (j = 0; j < 16; j++) {
			if (j == 8)
				ib_destroy_qp(qp);
			KUNIT_ASSERT_EQ(test, hca_send(talk.from, &pair.a, talk.ah, qpn, out, 64),
					0);
		}
		for (j = 0; j < 16; j++)
			KUNIT_ASSERT_TRUE(test, hca_poll(pair.a.cq, &wc));
	}
	KUNIT_EXPECT_GE(test, hca_dropped(&pair.b, VIB_DROP_QP), 50 * 8);
}

static struct kunit_case qp_cases[] = {
	KUNIT_CASE(numbers_are_unique_and_not_used_again_soon),
	KUNIT_CASE(a_port_has_one_smi_and_one_gsi),
	KUNIT_CASE(what_is_not_supported_is_refused),
	KUNIT_CASE(creation_may_fail_at_each_allocation),
	KUNIT_CASE(a_queue_takes_what_it_promises),
	KUNIT_CASE(a_query_tells_what_was_set),
	KUNIT_CASE(each_state_is_left_as_the_specification_says),
	KUNIT_CASE(each_attribute_that_a_transition_requires_is_missed),
	KUNIT_CASE(values_out_of_range_are_refused),
	KUNIT_CASE(a_consumer_that_is_wrong_about_the_state_is_told),
	KUNIT_CASE(requests_are_taken_from_the_state_that_takes_them),
	KUNIT_CASE(an_error_flushes_what_is_posted_before_and_after),
	KUNIT_CASE(any_request_at_all_is_flushed),
	KUNIT_CASE(a_drained_queue_holds_what_is_posted),
	KUNIT_CASE(a_drain_is_told_of_if_that_was_asked_for),
	KUNIT_CASE(a_failed_send_stops_the_send_queue_alone),
	KUNIT_CASE(a_reset_forgets_what_is_posted),
	KUNIT_CASE(its_end_takes_its_completions_with_it),
	KUNIT_CASE(packets_for_a_qp_that_goes_are_dropped),
	{}
};

static struct kunit_suite vib_qp_suite = {
	.name = "vib_qp",
	.init = qp_test_init,
	.exit = qp_test_exit,
	.test_cases = qp_cases,
};

kunit_test_suite(vib_qp_suite);
