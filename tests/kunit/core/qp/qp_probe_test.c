// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The expected PSN of a QP as proof that its peer sent something; when it is queried. */
#include <kunit/test.h>
#include <linux/kthread.h>
#include <ibex/qp_watch.h>
#include "faults.h"
#include "core/objects.h"

#define START	0x123456
#define PERIOD	4	/* ms; at most one query per period follows from events of a CQ */

static struct fake_hca *hca;
static struct ib_pd *pd;
static struct ib_cq *cq;	/* polled by its owner */
static atomic_t cq_events;	/* that reached the owner's handler */

struct heard {
	atomic_t calls;
	enum ibcore_qp_proof last;
};

static bool on_arrival(void *context, enum ibcore_qp_proof proof)
{
	struct heard *heard = context;

	heard->last = proof;
	atomic_inc(&heard->calls);
	return true;
}

static void own_handler(struct ib_cq *of, void *context)
{
	atomic_inc(&cq_events);
}

static int qp_probe_test_init(struct kunit *test)
{
	struct fake_hca_params params = { .link_layer = IB_LINK_LAYER_INFINIBAND };
	struct ib_cq_init_attr attr = { .cqe = 64 };

	hca = fake_hca_create(&params);
	if (!hca)
		return -ENOMEM;
	hca->quirks.rq_psn = FAKE_PSN_LIVE;
	hca->ibdev.ops.driver_id = RDMA_DRIVER_RXE;
	atomic_set(&cq_events, 0);
	pd = ib_alloc_pd(&hca->ibdev, 0);
	cq = ib_create_cq(&hca->ibdev, own_handler, NULL, NULL, &attr);
	return IS_ERR(pd) || IS_ERR(cq) ? -ENOMEM : 0;
}

static void qp_probe_test_exit(struct kunit *test)
{
	if (!hca)
		return;
	ib_destroy_cq(cq);
	ib_dealloc_pd(pd);
	fake_hca_destroy(hca);
	hca = NULL;
}

static int to_rtr(struct ib_qp *qp, u32 psn)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT, .port_num = 1, .rq_psn = psn,
		.dest_qp_num = qp->qp_num, .path_mtu = IB_MTU_1024,
	};
	int ret = ib_modify_qp(qp, &attr, RC_INIT);

	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTR;
	attr.ah_attr.type = RDMA_AH_ATTR_TYPE_IB;
	attr.ah_attr.port_num = 1;
	rdma_ah_set_dlid(&attr.ah_attr, hca->port[1].lid);
	return ib_modify_qp(qp, &attr, RC_RTR);
}

static int to_state(struct ib_qp *qp, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };

	return ib_modify_qp(qp, &attr, IB_QP_STATE);
}

static struct ib_qp *new_qp(struct kunit *test)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC, .port_num = 1, .send_cq = cq, .recv_cq = cq,
	};
	struct ib_qp *qp = ib_create_qp(pd, &init);

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	return qp;
}

/* A QP that expects @psn from its peer. */
static struct ib_qp *new_ready(struct kunit *test, u32 psn)
{
	struct ib_qp *qp = new_qp(test);

	KUNIT_ASSERT_EQ(test, to_rtr(qp, psn), 0);
	return qp;
}

static struct ibcore_qp_watch *watch_on(struct kunit *test, struct ib_qp *qp,
					struct heard *heard)
{
	struct ibcore_qp_watch *watch = ibcore_qp_watch(qp, on_arrival, heard);

	KUNIT_ASSERT_FALSE(test, IS_ERR(watch));
	return watch;
}

static void one_that_has_moved_is_proof(struct kunit *test)
{
	struct ib_qp *qp = new_ready(test, START);
	struct heard heard = {};
	struct ibcore_qp_watch *watch = watch_on(test, qp, &heard);

	KUNIT_EXPECT_FALSE(test, ibcore_qp_probe(watch, true));
	KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), 0);
	fake_hca_qp_psn(qp, START + 1);
	KUNIT_EXPECT_TRUE(test, ibcore_qp_probe(watch, true));
	KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), 1);
	KUNIT_EXPECT_EQ(test, heard.last, IBCORE_QP_PSN);
	/* After the proof the provider is not queried any more. */
	KUNIT_EXPECT_FALSE(test, ibcore_qp_probe(watch, true));
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->queries), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), 1);
	ibcore_qp_unwatch(watch);
	ib_destroy_qp(qp);
}

static void psns_are_compared_on_a_circle(struct kunit *test)
{
	static const struct {
		u32 start, psn;
		bool past;
	} cases[] = {
		{ 0xffffff, 0, true },
		{ 0xfffff0, 0x10, true },
		{ 0, 1, true },
		{ START, START + 0x7fffff, true },
		{ START, START + 0x800000, false },
		{ START, START - 1, false },	/* a PSN that the peer has sent before */
		{ 0, 0xffffff, false },
		{ 5, 5, false },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ib_qp *qp = new_ready(test, cases[i].start);
		struct heard heard = {};
		struct ibcore_qp_watch *watch = watch_on(test, qp, &heard);

		fake_hca_qp_psn(qp, cases[i].psn & 0xffffff);
		KUNIT_EXPECT_EQ_MSG(test, ibcore_qp_probe(watch, true), cases[i].past,
				    "%#x after %#x", cases[i].psn, cases[i].start);
		KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), cases[i].past);
		ibcore_qp_unwatch(watch);
		ib_destroy_qp(qp);
	}
}

static void one_without_a_start_proves_nothing(struct kunit *test)
{
	struct ib_qp *qp = new_qp(test);
	struct heard heard = {};
	struct ibcore_qp_watch *watch = watch_on(test, qp, &heard);

	fake_hca_qp_psn(qp, 7);
	KUNIT_EXPECT_FALSE(test, ibcore_qp_probe(watch, true));
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->queries), 0);
	KUNIT_ASSERT_EQ(test, to_rtr(qp, START), 0);
	atomic_set(&hca->fail_query_qp, 1);
	fake_hca_qp_psn(qp, START + 1);
	KUNIT_EXPECT_FALSE(test, ibcore_qp_probe(watch, true));
	/* After RESET the PSN that the QP expected before is no proof. */
	ibcore_qp_unwatch(watch);
	KUNIT_ASSERT_EQ(test, to_state(qp, IB_QPS_RESET), 0);
	watch = watch_on(test, qp, &heard);
	KUNIT_EXPECT_FALSE(test, ibcore_qp_probe(watch, true));
	KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), 0);
	ibcore_qp_unwatch(watch);
	ib_destroy_qp(qp);
}

static void a_provider_that_says_nothing_is_not_asked(struct kunit *test)
{
	static const enum rdma_driver_id silent[] = {
		RDMA_DRIVER_SIW, RDMA_DRIVER_CXGB4, RDMA_DRIVER_EFA,
		RDMA_DRIVER_IRDMA, RDMA_DRIVER_MANA, RDMA_DRIVER_USNIC,
	};
	struct ib_qp *qp = new_ready(test, START);
	struct heard heard = {};
	struct ibcore_qp_watch *watch;
	int i;

	fake_hca_qp_psn(qp, START + 1);
	for (i = 0; i < ARRAY_SIZE(silent); i++) {
		hca->ibdev.ops.driver_id = silent[i];
		watch = watch_on(test, qp, &heard);
		KUNIT_EXPECT_FALSE(test, ibcore_qp_can_probe(watch));
		KUNIT_EXPECT_FALSE(test, ibcore_qp_probe(watch, true));
		/* The owner's completion handler is not replaced either. */
		KUNIT_EXPECT_PTR_EQ(test, cq->comp_handler, (ib_comp_handler)own_handler);
		ibcore_qp_unwatch(watch);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->queries), 0);
	ib_destroy_qp(qp);
}

/* A PSN reported by firmware is trusted once it was seen to change. */
static void a_provider_nobody_knows_is_believed_when_seen_to_move(struct kunit *test)
{
	struct ib_qp *first = new_ready(test, START), *second = new_ready(test, 9);
	struct heard heard = {}, later = {};
	struct ibcore_qp_watch *watch = watch_on(test, first, &heard);

	hca->ibdev.ops.driver_id = RDMA_DRIVER_QEDR;
	/* Until then it may be any number. */
	fake_hca_qp_psn(first, START + 7);
	KUNIT_EXPECT_FALSE(test, ibcore_qp_probe(watch, true));
	KUNIT_EXPECT_FALSE(test, ibcore_qp_probe(watch, true));
	fake_hca_qp_psn(first, START);
	KUNIT_EXPECT_FALSE(test, ibcore_qp_probe(watch, true));
	KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), 0);
	fake_hca_qp_psn(first, START + 7);
	KUNIT_EXPECT_TRUE(test, ibcore_qp_probe(watch, true));
	KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), 1);
	ibcore_qp_unwatch(watch);

	watch = watch_on(test, second, &later);
	fake_hca_qp_psn(second, 10);
	KUNIT_EXPECT_TRUE(test, ibcore_qp_probe(watch, true));
	ibcore_qp_unwatch(watch);
	ib_destroy_qp(first);
	ib_destroy_qp(second);
}

static void raise_cq(void)
{
	unsigned long flags;

	local_irq_save(flags);
	cq->comp_handler(cq, cq->cq_context);
	local_irq_restore(flags);
}

static void an_event_of_the_owners_cq_leads_to_a_look(struct kunit *test)
{
	struct ib_qp *qp = new_ready(test, START);
	struct heard heard = {};
	struct ibcore_qp_watch *watch;
	int i;

	KUNIT_EXPECT_PTR_EQ(test, cq->comp_handler, (ib_comp_handler)own_handler);
	watch = watch_on(test, qp, &heard);
	raise_cq();
	KUNIT_EXPECT_TRUE(test, wait_until(atomic_read(&hca->queries) == 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), 0);
	/* Many events: one query, and another when the period is over. */
	for (i = 0; i < 1000; i++)
		raise_cq();
	KUNIT_EXPECT_LE(test, atomic_read(&hca->queries), 2);
	KUNIT_EXPECT_TRUE(test, wait_until(atomic_read(&hca->queries) == 2));
	KUNIT_EXPECT_EQ(test, atomic_read(&cq_events), 1001);
	fake_hca_qp_psn(qp, START + 1);
	raise_cq();
	KUNIT_EXPECT_TRUE(test, wait_until(atomic_read(&heard.calls) == 1));
	KUNIT_EXPECT_EQ(test, heard.last, IBCORE_QP_PSN);
	ibcore_qp_unwatch(watch);
	KUNIT_EXPECT_PTR_EQ(test, cq->comp_handler, (ib_comp_handler)own_handler);
	raise_cq();
	KUNIT_EXPECT_EQ(test, atomic_read(&cq_events), 1003);
	ib_destroy_qp(qp);
}

#define SLOW_MS	10

static unsigned int nr_slow;
static unsigned long slow_begun[5], slow_ended[5];	/* jiffies */

static void slow_and_raise(struct fake_hca *of, struct ib_qp *qp)
{
	if (nr_slow == ARRAY_SIZE(slow_begun))
		return;
	slow_begun[nr_slow] = jiffies;
	raise_cq();
	msleep(SLOW_MS);
	slow_ended[nr_slow++] = jiffies;
}

/* An event arrives during each query: the next query waits nevertheless. */
static void a_slow_adapter_has_its_rest(struct kunit *test)
{
	struct ib_qp *qp = new_ready(test, START);
	struct heard heard = {};
	struct ibcore_qp_watch *watch = watch_on(test, qp, &heard);
	int i;

	nr_slow = 0;
	hca->on_query_qp = slow_and_raise;
	raise_cq();
	KUNIT_EXPECT_TRUE(test, wait_until(atomic_read(&hca->queries) >
					   ARRAY_SIZE(slow_begun)));
	for (i = 1; i < ARRAY_SIZE(slow_begun); i++)
		KUNIT_EXPECT_GE(test, slow_begun[i] - slow_ended[i - 1],
				msecs_to_jiffies(PERIOD));
	hca->on_query_qp = NULL;
	ibcore_qp_unwatch(watch);
	ib_destroy_qp(qp);
}

#define MANY	20
#define BATCH	8

static unsigned long asked[MANY];	/* when it was queried, in jiffies */

static void note_query(struct fake_hca *of, struct ib_qp *qp)
{
	int n = atomic_read(&of->queries) - 1;

	if (n < MANY)
		asked[n] = jiffies;
}

/* Each QP is queried, few at a time, and the next round begins with another one. */
static void an_event_reaches_each_of_many(struct kunit *test)
{
	struct ibcore_qp_watch *watches[MANY];
	struct ib_qp *qps[MANY];
	struct heard heard[MANY];
	int i, calls = 0;

	hca->on_query_qp = note_query;
	memset(heard, 0, sizeof(heard));
	for (i = 0; i < MANY; i++) {
		qps[i] = new_ready(test, i);
		watches[i] = watch_on(test, qps[i], &heard[i]);
		if (i % 2)
			fake_hca_qp_psn(qps[i], i + 1);
	}
	raise_cq();
	KUNIT_EXPECT_TRUE(test, wait_until(atomic_read(&hca->queries) >= MANY));
	for (i = BATCH; i < MANY; i += BATCH)
		KUNIT_EXPECT_GE(test, asked[i] - asked[i - 1],
				msecs_to_jiffies(PERIOD));
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->queries), MANY);
	for (i = 0; i < MANY; i++) {
		wait_until(atomic_read(&heard[i].calls) == i % 2);
		calls += atomic_read(&heard[i].calls);
	}
	KUNIT_EXPECT_EQ(test, calls, MANY / 2);
	for (i = 0; i < MANY; i++) {
		ibcore_qp_unwatch(watches[i]);
		KUNIT_EXPECT_EQ(test, cq->comp_handler == own_handler, i == MANY - 1);
		ib_destroy_qp(qps[i]);
	}
}

static struct ibcore_qp_watch *reset_watch;
static bool moved_in_reset;

/* Like hfi1: the PSN is reset before the QP's state changes. */
static void reset_psn(struct fake_hca *of, struct ib_qp *qp, enum ib_qp_state next)
{
	if (next != IB_QPS_RESET)
		return;
	fake_hca_qp_psn(qp, 0);
	moved_in_reset = ibcore_qp_probe(reset_watch, true);
}

static void what_a_reset_makes_of_it_is_no_proof(struct kunit *test)
{
	const u32 start = 0x900000;	/* on the circle of PSNs 0 is after it */
	struct ib_qp *qp = new_ready(test, start);
	struct heard heard = {};

	reset_watch = watch_on(test, qp, &heard);
	hca->on_modify_qp = reset_psn;
	KUNIT_EXPECT_EQ(test, to_state(qp, IB_QPS_RESET), 0);
	KUNIT_EXPECT_FALSE(test, moved_in_reset);
	/* A transition that fails changes nothing. */
	hca->on_modify_qp = NULL;
	KUNIT_ASSERT_EQ(test, to_rtr(qp, start), 0);
	atomic_set(&hca->fail_modify_qp, 1);
	KUNIT_EXPECT_NE(test, to_state(qp, IB_QPS_RESET), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), 0);
	fake_hca_qp_psn(qp, start + 1);
	KUNIT_EXPECT_TRUE(test, ibcore_qp_probe(reset_watch, true));
	ibcore_qp_unwatch(reset_watch);
	ib_destroy_qp(qp);
}

static void before_the_queue_is_stopped(struct kunit *test)
{
	static const enum ib_qp_state stops[] = { IB_QPS_ERR, IB_QPS_RESET };
	struct heard heard[3] = {};
	struct ibcore_qp_watch *watch;
	struct ib_qp *qp;
	int i;

	for (i = 0; i < ARRAY_SIZE(stops); i++) {
		qp = new_ready(test, START);
		watch = watch_on(test, qp, &heard[i]);
		fake_hca_qp_psn(qp, START + 1);
		KUNIT_EXPECT_EQ(test, to_state(qp, stops[i]), 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&heard[i].calls), 1);
		ibcore_qp_unwatch(watch);
		ib_destroy_qp(qp);
	}
	qp = new_ready(test, START);
	watch = watch_on(test, qp, &heard[i]);
	fake_hca_qp_psn(qp, START + 1);
	ib_destroy_qp(qp);
	KUNIT_EXPECT_EQ(test, atomic_read(&heard[i].calls), 1);
	ibcore_qp_unwatch(watch);
	/* A QP without a watch is not queried. */
	i = atomic_read(&hca->queries);
	qp = new_ready(test, START);
	KUNIT_EXPECT_EQ(test, to_state(qp, IB_QPS_ERR), 0);
	ib_destroy_qp(qp);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->queries), i);
}

/* ---- a provider that is slow ---- */

static struct completion slow_go;
static atomic_t slow_waiting;

static void slow_query(struct fake_hca *of, struct ib_qp *qp)
{
	atomic_inc(&slow_waiting);
	wait_for_completion(&slow_go);
}

static void slow_begin(void)
{
	init_completion(&slow_go);
	atomic_set(&slow_waiting, 0);
	hca->on_query_qp = slow_query;
}

struct prober {
	struct ibcore_qp_watch *watch;
	struct completion done;
	bool moved;
};

static int probe_thread(void *arg)
{
	struct prober *prober = arg;

	prober->moved = ibcore_qp_probe(prober->watch, true);
	ibcore_qp_watch_put(prober->watch);
	complete(&prober->done);
	return 0;
}

static void probe_beside(struct kunit *test, struct prober *prober,
			 struct ibcore_qp_watch *watch)
{
	prober->watch = watch;
	init_completion(&prober->done);
	ibcore_qp_watch_hold(watch);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(probe_thread, prober, "prober")));
}

#define AT_ONCE 8

static void no_more_than_so_many_at_once(struct kunit *test)
{
	struct prober probers[AT_ONCE];
	struct ib_qp *qp = new_ready(test, START);
	struct heard heard = {};
	struct ibcore_qp_watch *watch = watch_on(test, qp, &heard);
	int i;

	fake_hca_qp_psn(qp, START + 1);
	slow_begin();
	for (i = 0; i < AT_ONCE; i++)
		probe_beside(test, &probers[i], watch);
	KUNIT_EXPECT_TRUE(test, wait_until(atomic_read(&slow_waiting) == AT_ONCE));
	KUNIT_EXPECT_FALSE(test, ibcore_qp_probe(watch, true));
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->queries), AT_ONCE);
	complete_all(&slow_go);
	for (i = 0; i < AT_ONCE; i++) {
		wait_for_completion(&probers[i].done);
		KUNIT_EXPECT_TRUE(test, probers[i].moved);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), 1);
	ibcore_qp_unwatch(watch);
	ib_destroy_qp(qp);
}

static struct ib_qp *slow_qp;

static void slow_query_of_one(struct fake_hca *of, struct ib_qp *qp)
{
	if (qp == slow_qp)
		slow_query(of, qp);
}

/* The last query, before the QP leaves RTR, is made even if many are in progress. */
static void who_asks_last_does_not_give_way(struct kunit *test)
{
	struct prober probers[AT_ONCE];
	struct ib_qp *qp = new_ready(test, START);
	struct heard heard[2] = {};
	struct ibcore_qp_watch *slow, *watch;
	int i;

	slow_qp = new_ready(test, START);
	slow = watch_on(test, slow_qp, &heard[0]);
	watch = watch_on(test, qp, &heard[1]);
	slow_begin();
	hca->on_query_qp = slow_query_of_one;
	for (i = 0; i < AT_ONCE; i++)
		probe_beside(test, &probers[i], slow);
	KUNIT_EXPECT_TRUE(test, wait_until(atomic_read(&slow_waiting) == AT_ONCE));
	fake_hca_qp_psn(qp, START + 1);
	KUNIT_EXPECT_FALSE(test, ibcore_qp_probe(watch, true));
	KUNIT_EXPECT_EQ(test, to_state(qp, IB_QPS_ERR), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&heard[1].calls), 1);
	complete_all(&slow_go);
	for (i = 0; i < AT_ONCE; i++)
		wait_for_completion(&probers[i].done);
	ibcore_qp_unwatch(watch);
	ibcore_qp_unwatch(slow);
	ib_destroy_qp(qp);
	ib_destroy_qp(slow_qp);
}

static int (*create_qp)(struct ib_qp *qp, struct ib_qp_init_attr *init,
			struct ib_udata *udata);
static u32 taken_num, own_num;

static int create_qp_of_taken_number(struct ib_qp *qp, struct ib_qp_init_attr *init,
				     struct ib_udata *udata)
{
	int ret = create_qp(qp, init, udata);

	own_num = qp->qp_num;
	qp->qp_num = taken_num;
	return ret;
}

/* The destruction of a QP that is not tracked would not wait for a query. */
static void a_queue_that_is_not_tracked_is_not_asked(struct kunit *test)
{
	struct ib_qp *first = new_ready(test, START), *qp;
	struct ibcore_qp_watch *watch;
	struct heard heard = {};

	taken_num = first->qp_num;
	create_qp = hca->ibdev.ops.create_qp;
	hca->ibdev.ops.create_qp = create_qp_of_taken_number;
	qp = new_qp(test);
	hca->ibdev.ops.create_qp = create_qp;
	qp->qp_num = own_num;
	KUNIT_EXPECT_FALSE(test, qp->res.valid);
	KUNIT_ASSERT_EQ(test, to_rtr(qp, START), 0);
	watch = watch_on(test, qp, &heard);
	KUNIT_EXPECT_FALSE(test, ibcore_qp_can_probe(watch));
	fake_hca_qp_psn(qp, START + 1);
	KUNIT_EXPECT_FALSE(test, ibcore_qp_probe(watch, false));
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->queries), 0);
	ibcore_qp_unwatch(watch);
	ib_destroy_qp(qp);
	ib_destroy_qp(first);
}

static int destroy_thread(void *arg)
{
	struct prober *prober = arg;

	ib_destroy_qp((struct ib_qp *)prober->watch);
	complete(&prober->done);
	return 0;
}

/* The destruction waits for the provider's response, which finds the watch ended. */
static void the_queue_goes_while_it_is_asked(struct kunit *test)
{
	struct ib_qp *qp = new_ready(test, START);
	struct prober prober, destroyer;
	struct heard heard = {};
	struct ibcore_qp_watch *watch = watch_on(test, qp, &heard);

	fake_hca_qp_psn(qp, START + 1);
	slow_begin();
	probe_beside(test, &prober, watch);
	KUNIT_EXPECT_TRUE(test, wait_until(atomic_read(&slow_waiting) == 1));
	ibcore_qp_unwatch(watch);
	destroyer.watch = (void *)qp;
	init_completion(&destroyer.done);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(destroy_thread, &destroyer, "destroyer")));
	KUNIT_EXPECT_EQ(test, wait_for_completion_timeout(&destroyer.done, HZ / 10), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_QP]), 1);
	complete_all(&slow_go);
	wait_for_completion(&destroyer.done);
	wait_for_completion(&prober.done);
	KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_QP]), 0);
}

/* ---- coming and going ---- */

static bool end_events;

static int event_thread(void *arg)
{
	while (!READ_ONCE(end_events)) {
		raise_cq();
		atomic_inc((atomic_t *)arg);
		usleep_range(50, 500);
	}
	complete(&slow_go);
	return 0;
}

/* Each event reaches the owner once, through whichever handler the CQ has at the time. */
static void events_while_watches_come_and_go(struct kunit *test)
{
	struct ib_qp *one = new_ready(test, START), *two = new_ready(test, START);
	struct heard heard[2] = {};
	struct ibcore_qp_watch *watch[2] = {};
	atomic_t raised = ATOMIC_INIT(0);
	int i, n;

	end_events = false;
	init_completion(&slow_go);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(event_thread, &raised, "events")));
	for (i = 0; i < 600; i++) {
		n = i % 2;
		if (watch[n])
			ibcore_qp_unwatch(watch[n]);
		watch[n] = NULL;
		if (i % 3)
			watch[n] = watch_on(test, n ? one : two, &heard[n]);
		usleep_range(100, 3000);
	}
	WRITE_ONCE(end_events, true);
	wait_for_completion(&slow_go);
	for (n = 0; n < 2; n++)
		if (watch[n])
			ibcore_qp_unwatch(watch[n]);
	KUNIT_EXPECT_EQ(test, atomic_read(&cq_events), atomic_read(&raised));
	KUNIT_EXPECT_GT(test, atomic_read(&hca->queries), 10);
	KUNIT_EXPECT_PTR_EQ(test, cq->comp_handler, (ib_comp_handler)own_handler);
	ib_destroy_qp(one);
	ib_destroy_qp(two);
}

static struct ib_qp *fault_qp;

static int watch_and_unwatch(struct kunit *test)
{
	struct heard heard = {};
	struct ibcore_qp_watch *watch = ibcore_qp_watch(fault_qp, on_arrival, &heard);

	if (IS_ERR(watch))
		return PTR_ERR(watch);
	ibcore_qp_unwatch(watch);
	return 0;
}

static void without_memory_the_cq_is_its_owners(struct kunit *test)
{
	fault_qp = new_qp(test);
	/* The allocations of the watch and of the hook. */
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, watch_and_unwatch), 2);
	KUNIT_EXPECT_PTR_EQ(test, cq->comp_handler, (ib_comp_handler)own_handler);
	ib_destroy_qp(fault_qp);
}

static struct kunit_case qp_probe_cases[] = {
	KUNIT_CASE(one_that_has_moved_is_proof),
	KUNIT_CASE(psns_are_compared_on_a_circle),
	KUNIT_CASE(one_without_a_start_proves_nothing),
	KUNIT_CASE(a_provider_that_says_nothing_is_not_asked),
	KUNIT_CASE(a_provider_nobody_knows_is_believed_when_seen_to_move),
	KUNIT_CASE(an_event_of_the_owners_cq_leads_to_a_look),
	KUNIT_CASE(a_slow_adapter_has_its_rest),
	KUNIT_CASE(an_event_reaches_each_of_many),
	KUNIT_CASE(what_a_reset_makes_of_it_is_no_proof),
	KUNIT_CASE(before_the_queue_is_stopped),
	KUNIT_CASE(no_more_than_so_many_at_once),
	KUNIT_CASE(who_asks_last_does_not_give_way),
	KUNIT_CASE(a_queue_that_is_not_tracked_is_not_asked),
	KUNIT_CASE(the_queue_goes_while_it_is_asked),
	KUNIT_CASE(events_while_watches_come_and_go),
	KUNIT_CASE(without_memory_the_cq_is_its_owners),
	{}
};

static struct kunit_suite ibcore_qp_probe_suite = {
	.name = "ibcore_qp_probe",
	.init = qp_probe_test_init,
	.exit = qp_probe_test_exit,
	.test_cases = qp_probe_cases,
};

kunit_test_suite(ibcore_qp_probe_suite);
