// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connections established by the QP's expected PSN: consumers poll their CQ themselves,
 * and the adapter raises no COMM_EST.  Also, all proofs at once.
 */
#include <linux/kthread.h>
#include <linux/prandom.h>
#include <ibex/cm.h>
#include "cma/cma_test.h"
#include "wait.h"

#define ROUNDS		200

static struct cma_pair pair;
static struct ib_cq *polled_by_core, *own_cq;

static void says_psn(struct fake_hca *hca)
{
	hca->ibdev.ops.driver_id = RDMA_DRIVER_RXE;
	hca->quirks.rq_psn = FAKE_PSN_LIVE;
}

static int psn_test_init(struct kunit *test)
{
	struct ib_cq_init_attr attr = { .cqe = 4 };
	int ret = cma_pair_init(test, &pair);

	own_cq = NULL;
	if (ret)
		return ret;
	says_psn(pair.server.hca);
	own_cq = ib_create_cq(&pair.server.hca->ibdev, NULL, NULL, NULL, &attr);
	if (IS_ERR(own_cq))
		return PTR_ERR(own_cq);
	polled_by_core = pair.server.cq;
	pair.server.cq = own_cq;
	return 0;
}

static void psn_test_exit(struct kunit *test)
{
	cma_drop_id(&pair.client);
	cma_drop_listener(&pair.server);
	cma_drop_id(&pair.server);
	if (!IS_ERR_OR_NULL(own_cq)) {
		pair.server.cq = polled_by_core;
		ib_destroy_cq(own_cq);
	}
	cma_pair_exit(test, &pair);
}

/* The peer's first packet arrives at the QP that rdma_accept() has moved to RTR. */
static void data_arrive(struct ib_qp *qp)
{
	fake_hca_qp_psn(qp, (cma_of(pair.server.id)->seq_num + 1) & 0xffffff);
}

static long stat(enum ibcm_stat which)
{
	return atomic_long_read(&cma_ibcm(&pair.server)->dev->ports[0].stats[which]);
}

static void nobody_tells_but_the_psn(struct kunit *test)
{
	cma_connect_without_rtu(test, &pair);
	KUNIT_ASSERT_NOT_NULL(test, cma_ibcm(&pair.server)->watch);
	data_arrive(pair.server.id->qp);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QE"));
	KUNIT_EXPECT_EQ(test, stat(IBCM_STAT_EST_BY_PSN), 1);
	KUNIT_EXPECT_EQ(test, cma_sent(&pair.server, IBCM_REP), 1);
	/* The outcome is known: the QP is no longer watched. */
	KUNIT_EXPECT_NULL(test, cma_ibcm(&pair.server)->watch);
	msleep(80000);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "QE");
}

/* The consumer creates the QP itself; rdma_accept() gets its number. */
static void of_a_queue_named_by_number(struct kunit *test)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC, .sq_sig_type = IB_SIGNAL_REQ_WR, .port_num = 1,
		.send_cq = own_cq, .recv_cq = own_cq,
	};
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	struct ib_qp *qp = ib_create_qp(pair.server.pd, &init);
	int mask;

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	pair.server.own_qp = true;
	pair.server.qpn = qp->qp_num;
	pair.server.on_request = CMA_WAIT;
	pair.client.drop[IBCM_RTU] = -1;
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	cma_resolve(test, &pair);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, "Q"));
	KUNIT_ASSERT_EQ(test, rdma_init_qp_attr(pair.server.id, &attr, &mask), 0);
	KUNIT_ASSERT_EQ(test, ib_modify_qp(qp, &attr, mask), 0);
	attr.qp_state = IB_QPS_RTR;
	KUNIT_ASSERT_EQ(test, rdma_init_qp_attr(pair.server.id, &attr, &mask), 0);
	KUNIT_ASSERT_EQ(test, ib_modify_qp(qp, &attr, mask), 0);
	pair.server.param.qp_num = qp->qp_num;
	rdma_lock_handler(pair.server.id);
	KUNIT_EXPECT_EQ(test, rdma_accept(pair.server.id, &pair.server.param), 0);
	rdma_unlock_handler(pair.server.id);
	data_arrive(qp);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QE"));
	KUNIT_EXPECT_EQ(test, stat(IBCM_STAT_EST_BY_PSN), 1);
	cma_leave(test, &pair);
	ib_destroy_qp(qp);
}

static void disconnected_before_it_was_told(struct kunit *test)
{
	cma_connect_without_rtu(test, &pair);
	data_arrive(pair.server.id->qp);
	KUNIT_EXPECT_EQ(test, rdma_disconnect(pair.server.id), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QEDT"));
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "EDT"));
	KUNIT_EXPECT_EQ(test, cma_sent(&pair.server, IBCM_DREQ), 1);
	KUNIT_EXPECT_EQ(test, cma_sent(&pair.server, IBCM_REJ), 0);
}

/* In SRP's order: the id is destroyed, then its QP. */
static void destroyed_before_it_was_told(struct kunit *test)
{
	struct ib_qp *qp;

	cma_connect_without_rtu(test, &pair);
	qp = pair.server.id->qp;
	data_arrive(qp);
	rdma_destroy_id(pair.server.id);
	pair.server.id = NULL;
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "ED"));
	KUNIT_EXPECT_EQ(test, cma_sent(&pair.server, IBCM_DREQ), 1);
	KUNIT_EXPECT_EQ(test, cma_sent(&pair.server, IBCM_REJ), 0);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "Q");
	ib_destroy_qp(qp);
}

/* In the other order: the QP is destroyed, then its id. */
static void its_queue_goes_first(struct kunit *test)
{
	cma_connect_without_rtu(test, &pair);
	data_arrive(pair.server.id->qp);
	rdma_destroy_qp(pair.server.id);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QE"));
	cma_drop_id(&pair.server);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "ED"));
	KUNIT_EXPECT_EQ(test, cma_sent(&pair.server, IBCM_REJ), 0);
}

/* ---- all proofs at once ---- */

static struct ib_cqe ignored;
static struct rnd_state rnd;

static struct {
	struct completion go;
	atomic_t left;
	struct ib_qp *qp;
	unsigned int delay[4];		/* us */
} race;

static void ignore(struct ib_cq *cq, struct ib_wc *wc)
{
}

static void rtu_comes(void)
{
	pair.client.hold = 0;
	fake_hca_release_held(pair.client.hca);
}

static void event_comes(void)
{
	fake_hca_qp_event(race.qp, IB_EVENT_COMM_EST);
}

static void receive_completes(void)
{
	struct ib_wc wc = { .wr_cqe = &ignored, .qp = race.qp, .opcode = IB_WC_RECV };

	fake_hca_complete(race.qp->recv_cq, &wc);
}

static void psn_is_seen(void)
{
	struct ibcm_id *id = cma_ibcm(&pair.server);
	struct ibcore_qp_watch *watch;

	spin_lock_irq(&id->lock);
	watch = id->watch;
	if (watch)
		ibcore_qp_watch_hold(watch);
	spin_unlock_irq(&id->lock);
	if (!watch)
		return;
	ibcore_qp_probe(watch, true);
	ibcore_qp_watch_put(watch);
}

static void (*const proofs[])(void) = {
	rtu_comes, event_comes, receive_completes, psn_is_seen,
};

static int prove(void *arg)
{
	long which = (long)arg;

	wait_for_completion(&race.go);
	if (race.delay[which])
		usleep_range(race.delay[which], race.delay[which] + 1);
	proofs[which]();
	atomic_dec(&race.left);
	return 0;
}

static long established(void)
{
	return stat(IBCM_STAT_EST_BY_RTU) + stat(IBCM_STAT_EST_BY_COMM_EST) +
	       stat(IBCM_STAT_EST_BY_RECEIVED) + stat(IBCM_STAT_EST_BY_PSN);
}

/*
 * Half the time all proofs have happened before the consumer gets the event of the
 * first.
 */
static void one_race(struct kunit *test)
{
	bool locked = prandom_u32_state(&rnd) % 2;
	long i, before;

	cma_resolve(test, &pair);
	pair.client.hold = BIT(IBCM_RTU);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "E"));
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, "Q"));
	before = established();
	race.qp = pair.server.id->qp;
	init_completion(&race.go);
	atomic_set(&race.left, ARRAY_SIZE(proofs));
	for (i = 0; i < ARRAY_SIZE(proofs); i++) {
		race.delay[i] = prandom_u32_state(&rnd) % 3 * 50;
		KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(prove, (void *)i, "proof")));
	}
	data_arrive(race.qp);
	if (locked)
		rdma_lock_handler(pair.server.id);
	complete_all(&race.go);
	KUNIT_EXPECT_TRUE(test, wait_within(!atomic_read(&race.left), 10000));
	if (locked) {
		fake_hca_flush(pair.client.hca);
		rdma_unlock_handler(pair.server.id);
	}
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QE"));
	cma_quiesce(&pair);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "QE");
	KUNIT_EXPECT_EQ(test, established() - before, 1);
}

static void all_proofs_at_once(struct kunit *test)
{
	struct ib_cq *cq = pair.server.cq;
	long by[4] = {};
	int i;

	prandom_seed_state(&rnd, 11);
	ignored.done = ignore;
	pair.server.cq = polled_by_core;
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	for (i = 0; i < ROUNDS && test->status == KUNIT_SUCCESS; i++) {
		one_race(test);
		by[0] = stat(IBCM_STAT_EST_BY_RTU);
		by[1] = stat(IBCM_STAT_EST_BY_COMM_EST);
		by[2] = stat(IBCM_STAT_EST_BY_RECEIVED);
		by[3] = stat(IBCM_STAT_EST_BY_PSN);
		cma_drop_id(&pair.server);
		cma_drop_id(&pair.client);
		cma_quiesce(&pair);
		cma_forget(&pair.client);
		cma_forget(&pair.server);
	}
	pair.server.cq = cq;
	kunit_info(test, "by RTU %ld, COMM_EST %ld, receive %ld, PSN %ld", by[0], by[1],
		   by[2], by[3]);
	/* Each proof was the first at least once. */
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_GT_MSG(test, by[i], 0, "proof %d", i);
}

static struct kunit_case psn_cases[] = {
	KUNIT_CASE_SLOW(nobody_tells_but_the_psn),
	KUNIT_CASE(of_a_queue_named_by_number),
	KUNIT_CASE(disconnected_before_it_was_told),
	KUNIT_CASE(destroyed_before_it_was_told),
	KUNIT_CASE(its_queue_goes_first),
	KUNIT_CASE_SLOW(all_proofs_at_once),
	{}
};

static struct kunit_suite cma_psn_suite = {
	.name = "cma_psn",
	.init = psn_test_init,
	.exit = psn_test_exit,
	.test_cases = psn_cases,
};

kunit_test_suite(cma_psn_suite);
