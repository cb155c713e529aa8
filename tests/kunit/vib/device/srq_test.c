// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared receive queues: who takes from them, limit, size, numbers (IBA vol. 1, 10.2.9). */
#include <linux/kthread.h>
#include "queue/srq.h"
#include "faults.h"
#include "../memory/region.h"

#define SRQ_WR	8
#define BUF_LEN	(GRH_LEN + 64)

static struct hca_pair pair;
static struct hca_talk talk;	/* its receiver has no SRQ */
static struct ib_srq *srq;	/* b's, of SRQ_WR requests */
static struct ib_qp *one, *two;	/* b's, which use it */
static u8 *out, *in;
static unsigned int limits;	/* events */

static void srq_event(struct ib_event *event, void *context)
{
	if (event->event == IB_EVENT_SRQ_LIMIT_REACHED && event->element.srq == srq)
		limits++;
}

static struct ib_srq_init_attr srq_init(void)
{
	return (struct ib_srq_init_attr){
		.event_handler = srq_event,
		.attr = { .max_wr = SRQ_WR, .max_sge = 2 },
		.srq_type = IB_SRQT_BASIC,
	};
}

static struct ib_srq *srq_new(const struct ib_srq_init_attr *like)
{
	struct ib_srq_init_attr init = *like;

	return ib_create_srq(pair.b.pd, &init);
}

static struct ib_qp *qp_with_srq(struct kunit *test)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_UD,
		.send_cq = pair.b.cq,
		.recv_cq = pair.b.cq,
		.srq = srq,
		.cap = { .max_send_wr = 4, .max_send_sge = 1, .max_recv_wr = 4 },
	};
	struct ib_qp *qp = ib_create_qp(pair.b.pd, &init);

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	KUNIT_EXPECT_EQ(test, init.cap.max_recv_wr, 0);
	KUNIT_ASSERT_EQ(test, hca_qp_to(qp, IB_QPS_RTS), 0);
	return qp;
}

static int srq_test_init(struct kunit *test)
{
	struct ib_srq_init_attr init = srq_init();
	int ret = hca_pair_init(test, &pair);

	if (ret)
		return ret;
	limits = 0;
	out = hca_buf(test, 64, 1);
	in = hca_buf(test, BUF_LEN, 0);
	srq = srq_new(&init);
	KUNIT_ASSERT_FALSE(test, IS_ERR(srq));
	one = qp_with_srq(test);
	two = qp_with_srq(test);
	hca_talk_init(test, &pair, &talk);
	return 0;
}

static void srq_test_exit(struct kunit *test)
{
	hca_talk_exit(&talk);
	if (one)
		ib_destroy_qp(one);
	if (two)
		ib_destroy_qp(two);
	if (!IS_ERR_OR_NULL(srq))
		ib_destroy_srq(srq);
	one = NULL;
	two = NULL;
	srq = NULL;
	hca_pair_exit(&pair);
}

/* ---- requests ---- */

static int post_to(struct ib_srq *to, u64 wr_id)
{
	struct ib_sge sge = {
		.addr = ib_dma_map_single(&pair.b.hca->ib, in, BUF_LEN, DMA_FROM_DEVICE),
		.length = BUF_LEN,
		.lkey = pair.b.pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 };

	return ib_post_srq_recv(to, &wr, NULL);
}

/* Requests @first and the @n - 1 that follow it. */
static void post(struct kunit *test, u64 first, int n)
{
	while (n--)
		KUNIT_ASSERT_EQ(test, post_to(srq, first++), 0);
}

static bool take(u64 *wr_id)
{
	struct vib_recv recv;
	bool taken = vib_srq_take(to_vib_srq(srq), &recv);

	*wr_id = taken ? recv.wr_id : U64_MAX;
	return taken;
}

/* Takes @n requests, of which @first is the oldest. */
static void expect(struct kunit *test, u64 first, int n)
{
	u64 wr_id;

	for (; n--; first++) {
		KUNIT_EXPECT_TRUE(test, take(&wr_id));
		KUNIT_EXPECT_EQ(test, wr_id, first);
	}
}

static void expect_empty(struct kunit *test)
{
	u64 wr_id;

	KUNIT_EXPECT_FALSE(test, take(&wr_id));
}

static void send_to(struct kunit *test, struct ib_qp *qp)
{
	struct ib_wc wc;

	KUNIT_ASSERT_EQ(test, hca_send(talk.from, &pair.a, talk.ah, qp->qp_num, out, 64), 0);
	KUNIT_ASSERT_TRUE(test, hca_poll(pair.a.cq, &wc));
}

static void expect_received(struct kunit *test, struct ib_qp *qp, u64 wr_id)
{
	struct ib_wc wc = {};

	KUNIT_ASSERT_TRUE(test, hca_poll(pair.b.cq, &wc));
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.wr_id, wr_id);
	KUNIT_EXPECT_PTR_EQ(test, wc.qp, qp);
}

static void queue_pairs_take_requests_in_turn(struct kunit *test)
{
	post(test, 10, 3);
	send_to(test, one);
	expect_received(test, one, 10);
	send_to(test, two);
	expect_received(test, two, 11);
	KUNIT_EXPECT_EQ(test, memcmp(in + GRH_LEN, out, 64), 0);
	send_to(test, one);
	expect_received(test, one, 12);
	send_to(test, two);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.b.cq));
	KUNIT_EXPECT_EQ(test, hca_dropped(&pair.b, VIB_DROP_NO_RECEIVE), 1);
}

static void a_qp_with_an_srq_has_no_queue_of_its_own(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, hca_recv(one, &pair.b, in, BUF_LEN, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, hca_recv(talk.to, &pair.b, in, BUF_LEN, 1), 0);
	send_to(test, talk.to);
	expect_received(test, talk.to, 1);
}

static void what_does_not_fit_is_refused(struct kunit *test)
{
	struct ib_sge sge[3] = {};
	struct ib_recv_wr more = { .wr_id = 2, .sg_list = sge, .num_sge = 3 };
	struct ib_recv_wr wr = { .wr_id = 1, .sg_list = sge, .num_sge = 2, .next = &more };
	const struct ib_recv_wr *bad = NULL;

	KUNIT_EXPECT_EQ(test, ib_post_srq_recv(srq, &wr, &bad), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, bad, &more);
	more.num_sge = -1;
	KUNIT_EXPECT_EQ(test, ib_post_srq_recv(srq, &more, &bad), -EINVAL);
	post(test, 2, SRQ_WR - 1);
	KUNIT_EXPECT_EQ(test, post_to(srq, 99), -ENOMEM);
	expect(test, 1, SRQ_WR);
	expect_empty(test);
}

/* A process may say what it likes in an entry, also after it was posted. */
static void an_entry_is_not_believed(struct kunit *test)
{
	struct vib_abi_recv_wqe *wqe;
	struct vib_recv recv;

	post(test, 1, 1);
	wqe = vib_queue_peek(&to_vib_srq(srq)->rq.queue, NULL);
	wqe->num_sge = U32_MAX;
	KUNIT_ASSERT_TRUE(test, vib_srq_take(to_vib_srq(srq), &recv));
	KUNIT_EXPECT_EQ(test, recv.num_sge, 0);
	KUNIT_EXPECT_PTR_EQ(test, recv.pd, pair.b.pd);
}

/* It is the SRQ's, which QPs of others may use (10.2.9). */
static void keys_are_of_the_srqs_domain(struct kunit *test)
{
	struct ib_pd *mine = pair.b.pd, *other = ib_alloc_pd(&pair.b.hca->ib, 0);
	struct region region;
	struct ib_recv_wr wr = {};
	struct ib_qp *qp;
	struct ib_sge sge;

	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	pair.b.pd = other;
	qp = qp_with_srq(test);
	pair.b.pd = mine;
	region_init_registered(test, &region, one);
	sge = (struct ib_sge){ region.addr, BUF_LEN, region.mr->lkey };
	wr.sg_list = &sge;
	wr.num_sge = 1;
	KUNIT_ASSERT_EQ(test, ib_post_srq_recv(srq, &wr, NULL), 0);
	send_to(test, qp);
	expect_received(test, qp, 0);
	KUNIT_EXPECT_EQ(test, memcmp(region_byte(&region, GRH_LEN), out, 64), 0);
	region_exit(&region);
	ib_destroy_qp(qp);
	ib_dealloc_pd(other);
}

static void an_error_leaves_the_requests_to_others(struct kunit *test)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	post(test, 5, 2);
	KUNIT_ASSERT_EQ(test, ib_modify_qp(one, &attr, IB_QP_STATE), 0);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.b.cq));
	send_to(test, two);
	expect_received(test, two, 5);
	KUNIT_EXPECT_EQ(test, hca_qp_state(one), IB_QPS_ERR);
	expect(test, 6, 1);
}

static unsigned int last_wqes;

static void qp_event(struct ib_event *event, void *context)
{
	if (event->event == IB_EVENT_QP_LAST_WQE_REACHED)
		last_wqes++;
}

/* It tells the consumer that the QP takes no more of the SRQ's requests: once. */
static void the_last_request_of_a_qp_is_told(struct kunit *test)
{
	struct ib_qp_init_attr init = {
		.event_handler = qp_event,
		.qp_type = IB_QPT_UD,
		.send_cq = pair.b.cq,
		.recv_cq = pair.b.cq,
		.srq = srq,
		.cap.max_send_wr = 1,
	};
	struct ib_qp *qp = ib_create_qp(pair.b.pd, &init);
	int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	for (i = 0; i < 2; i++) {
		last_wqes = 0;
		KUNIT_ASSERT_EQ(test, hca_qp_to(qp, IB_QPS_RTR), 0);
		KUNIT_EXPECT_TRUE(test, hca_nothing(pair.b.cq));
		KUNIT_EXPECT_EQ(test, last_wqes, 0);
		KUNIT_ASSERT_EQ(test, hca_qp_modify(qp, IB_QPS_ERR), 0);
		KUNIT_ASSERT_EQ(test, hca_qp_modify(qp, IB_QPS_ERR), 0);
		KUNIT_EXPECT_TRUE(test, hca_nothing(pair.b.cq));
		KUNIT_EXPECT_EQ(test, last_wqes, 1);
		KUNIT_ASSERT_EQ(test, hca_qp_modify(qp, IB_QPS_RESET), 0);
	}
	ib_destroy_qp(qp);
}

/* ---- limit ---- */

static int arm(u32 limit)
{
	struct ib_srq_attr attr = { .srq_limit = limit };

	return ib_modify_srq(srq, &attr, IB_SRQ_LIMIT);
}

static u32 armed(struct kunit *test)
{
	struct ib_srq_attr attr;

	KUNIT_EXPECT_EQ(test, ib_query_srq(srq, &attr), 0);
	return attr.srq_limit;
}

static void falling_below_the_limit_is_told_once(struct kunit *test)
{
	post(test, 0, 5);
	KUNIT_ASSERT_EQ(test, arm(4), 0);
	KUNIT_EXPECT_EQ(test, armed(test), 4);
	expect(test, 0, 1);
	KUNIT_EXPECT_EQ(test, limits, 0);
	expect(test, 1, 1);
	KUNIT_EXPECT_EQ(test, limits, 1);
	KUNIT_EXPECT_EQ(test, armed(test), 0);
	expect(test, 2, 3);
	post(test, 5, 5);
	expect(test, 5, 5);
	expect_empty(test);
	KUNIT_EXPECT_EQ(test, limits, 1);

	post(test, 10, 5);
	KUNIT_ASSERT_EQ(test, arm(5), 0);
	KUNIT_EXPECT_EQ(test, limits, 1);
	expect(test, 10, 1);
	KUNIT_EXPECT_EQ(test, limits, 2);
}

static void a_message_may_be_what_reaches_it(struct kunit *test)
{
	post(test, 0, 1);
	KUNIT_ASSERT_EQ(test, arm(1), 0);
	send_to(test, one);
	expect_received(test, one, 0);
	KUNIT_EXPECT_EQ(test, limits, 1);
}

/* There would be nothing to take that could tell the consumer later. */
static void a_limit_that_is_reached_already_is_told_at_once(struct kunit *test)
{
	post(test, 0, 2);
	KUNIT_ASSERT_EQ(test, arm(2), 0);
	KUNIT_EXPECT_EQ(test, limits, 0);
	KUNIT_ASSERT_EQ(test, arm(3), 0);
	KUNIT_EXPECT_EQ(test, limits, 1);
	KUNIT_EXPECT_EQ(test, armed(test), 0);
}

static void a_limit_is_disarmed_by_zero(struct kunit *test)
{
	post(test, 0, 2);
	KUNIT_ASSERT_EQ(test, arm(2), 0);
	KUNIT_ASSERT_EQ(test, arm(0), 0);
	expect(test, 0, 2);
	expect_empty(test);
	KUNIT_EXPECT_EQ(test, limits, 0);
}

static void a_limit_beyond_the_size_is_refused(struct kunit *test)
{
	post(test, 0, SRQ_WR);
	KUNIT_EXPECT_EQ(test, arm(SRQ_WR + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, arm(U32_MAX), -EINVAL);
	KUNIT_EXPECT_EQ(test, armed(test), 0);
	KUNIT_EXPECT_EQ(test, arm(SRQ_WR), 0);
	KUNIT_EXPECT_EQ(test, limits, 0);
}

/* ---- size ---- */

static int resize(u32 max_wr)
{
	struct ib_srq_attr attr = { .max_wr = max_wr };

	return ib_modify_srq(srq, &attr, IB_SRQ_MAX_WR);
}

static u32 size(struct kunit *test)
{
	struct ib_srq_attr attr;

	KUNIT_EXPECT_EQ(test, ib_query_srq(srq, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.max_sge, 2);
	return attr.max_wr;
}

/* The ring has been gone round when it is replaced. */
static void requests_outlast_a_change_of_size(struct kunit *test)
{
	post(test, 0, 6);
	expect(test, 0, 6);
	post(test, 6, SRQ_WR);
	KUNIT_ASSERT_EQ(test, resize(4 * SRQ_WR), 0);
	KUNIT_EXPECT_EQ(test, size(test), 4 * SRQ_WR);
	post(test, 6 + SRQ_WR, 3 * SRQ_WR);
	KUNIT_EXPECT_EQ(test, post_to(srq, 99), -ENOMEM);
	expect(test, 6, 3 * SRQ_WR);
	KUNIT_ASSERT_EQ(test, resize(SRQ_WR), 0);
	KUNIT_EXPECT_EQ(test, size(test), SRQ_WR);
	expect(test, 6 + 3 * SRQ_WR, SRQ_WR);
	expect_empty(test);
}

static void a_size_that_is_too_small_is_refused(struct kunit *test)
{
	post(test, 0, 5);
	KUNIT_EXPECT_EQ(test, resize(4), -EINVAL);
	KUNIT_EXPECT_EQ(test, resize(0), -EINVAL);
	KUNIT_EXPECT_EQ(test, resize(VIB_MAX_WR + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, size(test), SRQ_WR);
	expect(test, 0, 2);
	KUNIT_EXPECT_EQ(test, resize(4), 0);
	expect(test, 2, 3);
}

/* Of two attributes that are set together both are, or none is. */
static void attributes_are_set_together(struct kunit *test)
{
	const int both = IB_SRQ_MAX_WR | IB_SRQ_LIMIT;
	struct ib_srq_attr attr = { .max_wr = 4, .srq_limit = 5 };

	post(test, 0, 4);
	KUNIT_EXPECT_EQ(test, ib_modify_srq(srq, &attr, both), -EINVAL);
	KUNIT_EXPECT_EQ(test, size(test), SRQ_WR);
	KUNIT_EXPECT_EQ(test, armed(test), 0);
	attr.srq_limit = 4;
	KUNIT_EXPECT_EQ(test, ib_modify_srq(srq, &attr, both), 0);
	KUNIT_EXPECT_EQ(test, size(test), 4);
	KUNIT_EXPECT_EQ(test, armed(test), 4);
	/* The limit that is armed already counts, too. */
	KUNIT_EXPECT_EQ(test, resize(2), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_modify_srq(srq, &attr, both << 1), -EOPNOTSUPP);
}

/* ---- XRC ---- */

static struct ib_xrcd *domain(struct kunit *test)
{
	struct ib_xrcd *xrcd = ib_alloc_xrcd_user(&pair.b.hca->ib, NULL, NULL);

	KUNIT_ASSERT_FALSE(test, IS_ERR(xrcd));
	return xrcd;
}

static struct ib_srq *xrc_srq(struct ib_xrcd *xrcd)
{
	struct ib_srq_init_attr init = srq_init();

	init.srq_type = IB_SRQT_XRC;
	init.ext.cq = pair.b.cq;
	init.ext.xrc.xrcd = xrcd;
	return srq_new(&init);
}

static void a_number_leads_to_an_srq_of_its_domain(struct kunit *test)
{
	struct ib_xrcd *xrcd = domain(test), *other = domain(test);
	struct ib_srq *new = xrc_srq(xrcd);
	struct vib_srq *found;
	u32 num;

	KUNIT_ASSERT_FALSE(test, IS_ERR(new));
	num = new->ext.xrc.srq_num;
	found = vib_srq_find(xrcd, num);
	KUNIT_ASSERT_PTR_EQ(test, found, to_vib_srq(new));
	KUNIT_EXPECT_PTR_EQ(test, found->cq, pair.b.cq);
	vib_srq_put(found);
	KUNIT_EXPECT_NULL(test, vib_srq_find(other, num));
	KUNIT_EXPECT_NULL(test, vib_srq_find(xrcd, num + 1));
	KUNIT_EXPECT_NULL(test, vib_srq_find(xrcd, 0));
	KUNIT_EXPECT_NULL(test, vib_srq_find(xrcd, U32_MAX));
	ib_destroy_srq(new);
	KUNIT_EXPECT_NULL(test, vib_srq_find(xrcd, num));

	new = xrc_srq(xrcd);
	KUNIT_ASSERT_FALSE(test, IS_ERR(new));
	KUNIT_EXPECT_GT(test, new->ext.xrc.srq_num, num);
	ib_destroy_srq(new);
	ib_dealloc_xrcd_user(other, NULL);
	ib_dealloc_xrcd_user(xrcd, NULL);
}

static bool is_found(struct ib_xrcd *xrcd, u32 num)
{
	struct vib_srq *found = vib_srq_find(xrcd, num);

	if (found)
		vib_srq_put(found);
	return found;
}

static int destroyer(void *arg)
{
	ib_destroy_srq(arg);
	return 0;
}

/* Who takes a packet in has the SRQ until it is done. */
static void the_end_awaits_packets(struct kunit *test)
{
	struct ib_xrcd *xrcd = domain(test);
	struct ib_srq *new = xrc_srq(xrcd);
	struct task_struct *task;
	struct vib_srq *found;
	u32 num;

	KUNIT_ASSERT_FALSE(test, IS_ERR(new));
	num = new->ext.xrc.srq_num;
	found = vib_srq_find(xrcd, num);
	KUNIT_ASSERT_NOT_NULL(test, found);
	task = kthread_run(destroyer, new, "destroyer");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	KUNIT_EXPECT_TRUE(test, wait_within(!is_found(xrcd, num), 5000));
	/* It is still there: the domain counts it. */
	KUNIT_EXPECT_EQ(test, atomic_read(&xrcd->usecnt), 1);
	vib_srq_put(found);
	KUNIT_EXPECT_TRUE(test, wait_within(!atomic_read(&xrcd->usecnt), 5000));
	kthread_stop_put(task);
	ib_dealloc_xrcd_user(xrcd, NULL);
}

static void an_srq_of_xrc_is_not_a_qps(struct kunit *test)
{
	struct ib_xrcd *xrcd = domain(test);
	struct ib_srq *new = xrc_srq(xrcd);
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_UD,
		.send_cq = pair.b.cq,
		.recv_cq = pair.b.cq,
		.srq = new,
		.cap.max_send_wr = 1,
	};

	KUNIT_ASSERT_FALSE(test, IS_ERR(new));
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_create_qp(pair.b.pd, &init)), -EINVAL);
	ib_destroy_srq(new);
	ib_dealloc_xrcd_user(xrcd, NULL);
}

/* ---- creation ---- */

static int create_with(const struct ib_srq_init_attr *init)
{
	struct ib_srq *new = srq_new(init);

	if (IS_ERR(new))
		return PTR_ERR(new);
	ib_destroy_srq(new);
	return 0;
}

static void what_is_not_supported_is_refused(struct kunit *test)
{
	struct ib_srq_init_attr init = srq_init();

	init.attr.max_wr = 0;
	KUNIT_EXPECT_EQ(test, create_with(&init), -EINVAL);
	init.attr.max_wr = VIB_MAX_WR + 1;
	KUNIT_EXPECT_EQ(test, create_with(&init), -EINVAL);
	init.attr.max_wr = VIB_MAX_WR;
	KUNIT_EXPECT_EQ(test, create_with(&init), 0);
	init.attr.max_sge = VIB_MAX_SGE + 1;
	KUNIT_EXPECT_EQ(test, create_with(&init), -EINVAL);
	init = srq_init();
	init.srq_type = IB_SRQT_TM;
	KUNIT_EXPECT_EQ(test, create_with(&init), -EOPNOTSUPP);
	init.srq_type = IB_SRQT_XRC;
	KUNIT_EXPECT_EQ(test, create_with(&init), -EINVAL);
}

static int create_and_resize(struct kunit *test)
{
	struct ib_xrcd *xrcd = ib_alloc_xrcd_user(&pair.b.hca->ib, NULL, NULL);
	struct ib_srq_attr attr = { .max_wr = 100 };
	struct ib_srq *new;
	int ret;

	if (IS_ERR(xrcd))
		return PTR_ERR(xrcd);
	new = xrc_srq(xrcd);
	ret = PTR_ERR_OR_ZERO(new);
	if (!ret) {
		ret = ib_modify_srq(new, &attr, IB_SRQ_MAX_WR);
		ib_destroy_srq(new);
	}
	ib_dealloc_xrcd_user(xrcd, NULL);
	return ret;
}

static void creation_may_fail_at_each_allocation(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, create_and_resize), 4);
}

static struct kunit_case srq_cases[] = {
	KUNIT_CASE(queue_pairs_take_requests_in_turn),
	KUNIT_CASE(a_qp_with_an_srq_has_no_queue_of_its_own),
	KUNIT_CASE(what_does_not_fit_is_refused),
	KUNIT_CASE(an_entry_is_not_believed),
	KUNIT_CASE(keys_are_of_the_srqs_domain),
	KUNIT_CASE(an_error_leaves_the_requests_to_others),
	KUNIT_CASE(the_last_request_of_a_qp_is_told),
	KUNIT_CASE(falling_below_the_limit_is_told_once),
	KUNIT_CASE(a_message_may_be_what_reaches_it),
	KUNIT_CASE(a_limit_that_is_reached_already_is_told_at_once),
	KUNIT_CASE(a_limit_is_disarmed_by_zero),
	KUNIT_CASE(a_limit_beyond_the_size_is_refused),
	KUNIT_CASE(requests_outlast_a_change_of_size),
	KUNIT_CASE(a_size_that_is_too_small_is_refused),
	KUNIT_CASE(attributes_are_set_together),
	KUNIT_CASE(a_number_leads_to_an_srq_of_its_domain),
	KUNIT_CASE(the_end_awaits_packets),
	KUNIT_CASE(an_srq_of_xrc_is_not_a_qps),
	KUNIT_CASE(what_is_not_supported_is_refused),
	KUNIT_CASE(creation_may_fail_at_each_allocation),
	{}
};

static struct kunit_suite vib_srq_suite = {
	.name = "vib_srq",
	.init = srq_test_init,
	.exit = srq_test_exit,
	.test_cases = srq_cases,
};

kunit_test_suite(vib_srq_suite);
