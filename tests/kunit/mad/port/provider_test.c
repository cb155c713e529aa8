// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Special QPs of providers that differ from rdma_rxe. */
#include "mad/mad_test.h"
#include "wait.h"

static struct mad_pair pair;

static void pair_up(struct kunit *test, const struct fake_hca_quirks *quirks)
{
	KUNIT_ASSERT_EQ(test, mad_pair_init_quirks(test, &pair, IB_LINK_LAYER_INFINIBAND,
						   quirks), 0);
}

static void provider_test_exit(struct kunit *test)
{
	mad_pair_exit(&pair);
}

/* Requests and responses, in both directions. */
static void expect_service(struct kunit *test)
{
	int i, n = 3;

	for (i = 1; i <= n; i++) {
		KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 0), 0);
		KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, i));
		KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.received), n);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.received), n);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.asker.agent, IBMAD_QP_RESETS), 0);
}

static void receives_from_rtr_on(struct kunit *test)
{
	const struct fake_hca_quirks quirks = { .recv_from_rtr = true };

	pair_up(test, &quirks);
	expect_service(test);
}

static void the_receive_cq_polls_both_queues(struct kunit *test)
{
	const struct fake_hca_quirks quirks = { .joint_poll = true };

	pair_up(test, &quirks);
	/* No MAD is received, which would have the CQ polled. */
	pair.drop_requests = -1;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 0, 0), 0);
	KUNIT_EXPECT_TRUE(test, wait_within(atomic_read(&pair.asker.sent) == 1,
					    IBMAD_STALL_MS / 2));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.asker.agent, IBMAD_QP_RESETS), 0);
}

/* The completions do not name the source QP: replies are sent to QP1. */
static void senders_that_are_not_told(struct kunit *test)
{
	const struct fake_hca_quirks quirks = { .no_src_qp = true };

	pair_up(test, &quirks);
	expect_service(test);
}

/*
 * The CQs are bound to no CPU, and QP0 has its own: a CPU that is busy with
 * interrupts, or with QP1, delays no heartbeat of QP0.
 */
static void each_qp_has_one_cq_bound_to_no_cpu(struct kunit *test)
{
	struct ib_cq *cq[2];
	struct ib_qp *qp;
	int i;

	pair_up(test, fake_hca_quirks_default());
	for (i = 0; i < 2; i++) {
		qp = pair.asker.hca->special[1][i];
		KUNIT_ASSERT_NOT_NULL(test, qp);
		cq[i] = qp->send_cq;
		KUNIT_EXPECT_PTR_EQ(test, qp->recv_cq, cq[i]);
		KUNIT_EXPECT_EQ(test, cq[i]->poll_ctx, IB_POLL_UNBOUND_WORKQUEUE);
		KUNIT_EXPECT_GE(test, cq[i]->cqe, SEND_DEPTH + 512);
	}
	KUNIT_EXPECT_PTR_NE(test, cq[0], cq[1]);
}

static void each_stock_provider(struct kunit *test)
{
	const struct fake_hca_quirks *quirks;
	int i;

	for (i = 0; (quirks = fake_hca_quirks_nth(i)); i++) {
		/* The pair's own handles have no GRH, and are created in any context. */
		if (quirks->grh_required || quirks->ah_only_sleeping)
			continue;
		pair_up(test, quirks);
		expect_service(test);
		mad_pair_exit(&pair);
	}
}

static void ignore_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
}

/* Like an SMI sub-device of mlx5, whose parent has the GSI QP. */
static void a_port_that_is_an_smi_alone(struct kunit *test)
{
	const struct fake_hca_params params = { .link_layer = IB_LINK_LAYER_INFINIBAND };
	struct fake_hca *hca = fake_hca_alloc(&params);
	struct ib_mad_agent *smi, *gsi;

	KUNIT_ASSERT_NOT_NULL(test, hca);
	hca->core_cap_flags = RDMA_CORE_CAP_IB_MAD | RDMA_CORE_CAP_IB_SMI;
	if (fake_hca_register(hca)) {
		fake_hca_free(hca);
		KUNIT_FAIL_AND_ABORT(test, "not registered");
	}
	KUNIT_EXPECT_NOT_NULL(test, hca->special[1][0]);
	KUNIT_EXPECT_NULL(test, hca->special[1][1]);
	smi = ib_register_mad_agent(&hca->ibdev, 1, IB_QPT_SMI, NULL, 0, ignore_sent,
				    NULL, NULL, 0);
	KUNIT_EXPECT_FALSE(test, IS_ERR(smi));
	if (!IS_ERR(smi))
		ib_unregister_mad_agent(smi);
	gsi = ib_register_mad_agent(&hca->ibdev, 1, IB_QPT_GSI, NULL, 0, ignore_sent,
				    NULL, NULL, 0);
	KUNIT_EXPECT_PTR_EQ(test, gsi, ERR_PTR(-EPROTONOSUPPORT));
	/* That there is no QP is told before what is wrong in the request. */
	gsi = ib_register_mad_agent(&hca->ibdev, 1, IB_QPT_GSI, NULL, 2, ignore_sent,
				    NULL, NULL, 0);
	KUNIT_EXPECT_PTR_EQ(test, gsi, ERR_PTR(-EPROTONOSUPPORT));
	fake_hca_destroy(hca);
}

/* ---- QPs that are not like new ones after RESET ---- */

/* After RESET the internal send QPs would still send, and read, the buffers they have. */
static void a_reset_that_keeps_sends(struct kunit *test)
{
	const struct fake_hca_quirks quirks = { .reset_keeps_sends = true };
	struct ib_qp *shown;

	pair_up(test, &quirks);
	shown = pair.asker.agent->qp;
	pair.asker.hca->hold_send_completions = true;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 0, 0), 0);
	fake_hca_qp_event(pair.asker.hca->special[1][1], IB_EVENT_QP_FATAL);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.errors, 1));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_WR_FLUSH_ERR);
	mad_quiesce(&pair);
	fake_hca_release_completions(pair.asker.hca);
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.asker.agent, IBMAD_STRAY_WC), 0);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.asker.agent, IBMAD_QP_RESETS), 1);
	/* Clients do not see that the QP was replaced. */
	KUNIT_EXPECT_PTR_EQ(test, pair.asker.agent->qp, shown);
	KUNIT_EXPECT_PTR_EQ(test, shown->device, &pair.asker.hca->ibdev);
	KUNIT_EXPECT_EQ(test, shown->qp_num, 1u);
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 2), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 2));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
}

/* All receives of qedr's QP1 complete before the CQ is polled: a full ring. */
static void a_full_ring_is_not_empty(struct kunit *test)
{
	const struct fake_hca_quirks quirks = {
		.driver = RDMA_DRIVER_QEDR,
		.joint_poll = true,
	};
	struct fake_hca_packet like = { .src_qpn = 1, .slid = 1 };
	u8 mad[IB_MGMT_MAD_SIZE] = {};
	struct fake_hca *hca;
	int i;

	pair_up(test, &quirks);
	hca = pair.asker.hca;
	for (i = 0; i < 512; i++)
		KUNIT_ASSERT_EQ(test, fake_hca_inject(hca, 1, &like, mad, sizeof(mad)), 0);
	KUNIT_EXPECT_EQ(test, fake_hca_posted_recvs(hca->special[1][1]), 0u);
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, fake_hca_posted_recvs(hca->special[1][1]), 512u);
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 2), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
}

/* The QP would write MADs to buffers that were taken back. */
static void a_reset_that_keeps_receives(struct kunit *test)
{
	const struct fake_hca_quirks quirks = { .qp1_state_is_a_note = true };
	struct fake_hca *hca;

	pair_up(test, &quirks);
	hca = pair.asker.hca;
	fake_hca_qp_event(hca->special[1][1], IB_EVENT_QP_FATAL);
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.asker.agent, IBMAD_QP_RESETS), 1);
	KUNIT_EXPECT_EQ(test, fake_hca_posted_recvs(hca->special[1][1]),
			to_agent(pair.asker.agent)->mqp->recv_posted);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->recv_overruns), 0);
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 2), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
}

/* One of the internal send QPs is in error, which the QP's state does not show. */
static void an_error_that_a_reset_keeps(struct kunit *test)
{
	const struct fake_hca_quirks quirks = { .reset_keeps_sends = true };

	pair_up(test, &quirks);
	fake_hca_qp_error(pair.asker.hca->special[1][1], IB_QPS_SQE);
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 0), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.asker.agent, IBMAD_QP_RESETS), 1);
}

static struct ibmad_qp *mqp(void)
{
	return to_agent(pair.asker.agent)->mqp;
}

/* A recovery hands a request back; after that requests are answered again. */
static void break_and_mend(struct kunit *test, int n)
{
	int sent = atomic_read(&pair.asker.sent);

	pair.asker.hca->hold_send_completions = true;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 0, 0), 0);
	fake_hca_qp_event(pair.asker.hca->special[1][1], IB_EVENT_QP_FATAL);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.errors, n));
	mad_quiesce(&pair);
	pair.asker.hca->hold_send_completions = false;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 2), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, sent + 2));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.asker.agent, IBMAD_QP_RESETS), n);
	KUNIT_EXPECT_EQ(test, mqp()->recv_posted, 512u);
}

/* The QP stays in ERR, which is noticed when INIT is refused. */
static void a_reset_that_does_nothing(struct kunit *test)
{
	const struct fake_hca_quirks quirks = { .reset_is_a_note = true };

	pair_up(test, &quirks);
	break_and_mend(test, 1);
	break_and_mend(test, 2);
}

/* Otherwise completions of old work requests would be taken for those of new ones. */
static void a_reset_that_keeps_the_ring(struct kunit *test)
{
	const struct fake_hca_quirks quirks = {
		.driver = RDMA_DRIVER_BNXT_RE, .reset_keeps_ring = true,
	};

	pair_up(test, &quirks);
	expect_service(test);
	break_and_mend(test, 1);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.asker.agent, IBMAD_STRAY_WC), 0);
	break_and_mend(test, 2);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.asker.agent, IBMAD_STRAY_WC), 0);
}

/* Loses the QP: its recovery fails at the step that @countdown selects. */
static void lose_qp(struct kunit *test, atomic_t *countdown)
{
	pair.asker.hca->hold_send_completions = true;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 0, 0), 0);
	atomic_set(countdown, 1);
	fake_hca_qp_event(pair.asker.hca->special[1][1], IB_EVENT_QP_FATAL);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.errors, 1));
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, atomic_read(countdown), 0);
	KUNIT_EXPECT_EQ(test, mad_post(&pair.asker, 1000, 0), -ENODEV);
	pair.asker.hca->hold_send_completions = false;
}

/* Whichever QP is destroyed next, that fails. */
static void refuse_to_destroy(struct fake_hca *hca, enum fake_hca_object kind, bool create)
{
	if (kind == FAKE_QP && !create)
		atomic_set(&hca->fail_destroy[FAKE_QP], 1);
}

/* The old QP cannot be destroyed at first; some time after that it has been replaced. */
static void a_qp_that_stays(struct kunit *test)
{
	const struct fake_hca_quirks quirks = { .reset_keeps_sends = true };

	pair_up(test, &quirks);
	lose_qp(test, &pair.asker.hca->fail_destroy[FAKE_QP]);
	KUNIT_EXPECT_TRUE(test, wait_within(READ_ONCE(mqp()->state) == IBMAD_QP_LIVE,
					    2 * IBMAD_REMAKE_MS));
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 2), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 2));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, mqp()->recv_posted, 512u);
}

/*
 * The QP can be destroyed neither in a recovery nor at the end, so the
 * buffers that it may write to are never freed.
 */
static void a_qp_that_stays_for_good(struct kunit *test)
{
	const struct fake_hca_quirks obliging = {};
	struct fake_hca_packet like = { .src_qpn = 1, .slid = 1 };
	u8 mad[IB_MGMT_MAD_SIZE] = {};
	struct fake_hca *hca;
	struct ib_qp *qp;
	struct ib_cq *cq;
	struct ib_pd *pd;

	pair_up(test, &obliging);
	hca = pair.asker.hca;
	qp = hca->special[1][1];
	cq = qp->recv_cq;
	pd = qp->pd;
	ib_unregister_mad_agent(pair.asker.agent);
	pair.asker.agent = NULL;
	rdma_destroy_ah(pair.asker.ah, 0);
	pair.asker.ah = NULL;
	/* As if the firmware did not respond. */
	atomic_set(&hca->fail_modify_qp, 1);
	atomic_set(&hca->fail_destroy[FAKE_QP], 1);
	fake_hca_unregister(hca);
	pair.asker.hca = NULL;
	KUNIT_EXPECT_PTR_EQ(test, hca->special[1][1], qp);
	KUNIT_EXPECT_NULL(test, hca->special[1][0]);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_PD]), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_CQ]), 1);
	/* KASAN reports this write if the buffer was freed; no agent gets the MAD. */
	KUNIT_EXPECT_EQ(test, fake_hca_inject(hca, 1, &like, mad, sizeof(mad)), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->delivered), 1);
	fake_hca_qp_event(qp, IB_EVENT_QP_FATAL);
	msleep(100);

	KUNIT_EXPECT_EQ(test, ib_destroy_qp(qp), 0);
	ib_free_cq(cq);
	ib_dealloc_pd(pd);
	fake_hca_free(hca);
}

/* Destroying the QP fails in the recovery only: it keeps its receives until its end. */
static void receives_of_a_qp_that_stays(struct kunit *test)
{
	const struct fake_hca_quirks quirks = { .qp1_state_is_a_note = true };
	struct fake_hca *hca;

	pair_up(test, &quirks);
	hca = pair.asker.hca;
	/* The first two: after the reset failed, and when the QP is given up. */
	hca->on_verb = refuse_to_destroy;
	fake_hca_qp_event(hca->special[1][1], IB_EVENT_QP_FATAL);
	mad_quiesce(&pair);
	msleep(2 * IBMAD_FLUSH_MS);
	KUNIT_EXPECT_EQ(test, mad_post(&pair.asker, 1000, 0), -ENODEV);
	KUNIT_EXPECT_EQ(test, mqp()->recv_posted, 512u);
	KUNIT_EXPECT_EQ(test, fake_hca_posted_recvs(hca->special[1][1]), 512u);
	hca->on_verb = NULL;
	atomic_set(&hca->fail_destroy[FAKE_QP], 0);
}

/* ---- a QP that is made once ---- */

static enum ib_qp_state refused;

static void refuse_state(struct fake_hca *hca, struct ib_qp *qp, enum ib_qp_state next)
{
	if (next != refused)
		return;
	hca->on_modify_qp = NULL;
	atomic_set(&hca->fail_modify_qp, 1);
}

static int receives_to_refuse;

static bool refuse_receives(struct fake_hca *hca, const struct ib_recv_wr *wr)
{
	return receives_to_refuse-- > 0;
}

/* @refuse: a transition to refuse once, IB_QPS_SQE for all receives, or IB_QPS_ERR. */
static void mend_once_made(struct kunit *test, enum ib_qp_state refuse)
{
	struct fake_hca *hca = pair.asker.hca;
	struct ib_qp *qp = hca->special[1][1];

	/* The send never completes, so that the QP is not idle. */
	hca->lose_completions = true;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 0, 0), 0);
	refused = refuse;
	if (refuse == IB_QPS_SQE) {
		receives_to_refuse = 512;
		hca->refuses_recv = refuse_receives;
	} else {
		hca->on_modify_qp = refuse_state;
	}
	fake_hca_qp_event(qp, IB_EVENT_QP_FATAL);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.errors, 1));
	hca->lose_completions = false;
	KUNIT_EXPECT_TRUE_MSG(test, wait_within(READ_ONCE(mqp()->state) == IBMAD_QP_LIVE,
						2 * IBMAD_FLUSH_MS + 2 * IBMAD_REMAKE_MS),
			      "state %d", refuse);
	KUNIT_EXPECT_PTR_EQ(test, hca->special[1][1], qp);
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 2), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 2));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, mqp()->recv_posted, 512u);
	KUNIT_EXPECT_EQ(test, fake_hca_posted_recvs(qp), 512u);
}

/* It is not destroyed, whatever fails, since it could not be created again. */
static void a_qp_that_is_made_once(struct kunit *test)
{
	static const enum rdma_driver_id drivers[] = {
		RDMA_DRIVER_OCRDMA, RDMA_DRIVER_HFI1, RDMA_DRIVER_QIB, RDMA_DRIVER_RXE,
	};
	static const enum ib_qp_state refuse[] = {
		IB_QPS_ERR, IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTS, IB_QPS_SQE,
	};
	struct fake_hca_quirks quirks = { .special_once = true };
	int i, n = ARRAY_SIZE(refuse);

	for (i = 0; i < ARRAY_SIZE(drivers) * n; i++) {
		quirks.driver = drivers[i / n];
		pair_up(test, &quirks);
		mend_once_made(test, refuse[i % n]);
		mad_pair_exit(&pair);
	}
}

/* ---- completions that are reported late ---- */

static void complete_a_send(struct fake_hca *hca, enum fake_hca_object kind, bool create)
{
	if (kind == FAKE_QP && !create && hca->special[1][1])
		fake_hca_complete_held(hca->special[1][1], IB_WC_SUCCESS);
}

/*
 * The work item that reports the completion is pending when the QP has been destroyed,
 * in a recovery and at removal: KASAN reports it if the CQ is freed before it runs.
 */
static void a_send_that_completes_as_its_qp_ends(struct kunit *test)
{
	const struct fake_hca_quirks quirks = {
		.driver = RDMA_DRIVER_MLX5, .reset_keeps_sends = true, .soft_sends = true,
	};
	struct fake_hca *hca;

	pair_up(test, &quirks);
	expect_service(test);
	hca = pair.asker.hca;
	hca->hold_send_completions = true;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 0, 0), 0);
	hca->on_verb = complete_a_send;
	fake_hca_qp_event(hca->special[1][1], IB_EVENT_QP_FATAL);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.errors, 1));
	mad_quiesce(&pair);
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 0, 0), 0);
	mad_pair_exit(&pair);
	/* The work item runs, if it was left behind. */
	__flush_workqueue(system_wq);
}

/* ---- a QP that breaks while it is made ---- */

static void break_as_made(struct fake_hca *hca, struct ib_qp *qp)
{
	hca->on_create_qp = NULL;
	fake_hca_qp_event(qp, IB_EVENT_QP_FATAL);
	/* Waits for any work that the event may have started. */
	msleep(100);
}

static void an_event_before_the_qp_is_started(struct kunit *test)
{
	const struct fake_hca_params params = { .link_layer = IB_LINK_LAYER_INFINIBAND };
	struct fake_hca *hca = fake_hca_alloc(&params);
	struct ib_mad_agent *agent;

	KUNIT_ASSERT_NOT_NULL(test, hca);
	hca->on_create_qp = break_as_made;
	if (fake_hca_register(hca)) {
		fake_hca_free(hca);
		KUNIT_FAIL_AND_ABORT(test, "not registered");
	}
	KUNIT_EXPECT_NULL(test, hca->on_create_qp);
	msleep(2 * IBMAD_FLUSH_MS);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_QP]), 2);
	agent = ib_register_mad_agent(&hca->ibdev, 1, IB_QPT_SMI, NULL, 0, ignore_sent,
				      NULL, NULL, 0);
	KUNIT_EXPECT_FALSE(test, IS_ERR(agent));
	if (!IS_ERR(agent)) {
		/* The event was not lost: it had the QP reset once. */
		KUNIT_EXPECT_EQ(test, mad_counter(agent, IBMAD_QP_RESETS), 1);
		KUNIT_EXPECT_EQ(test, READ_ONCE(to_agent(agent)->mqp->state),
				IBMAD_QP_LIVE);
		KUNIT_EXPECT_EQ(test, to_agent(agent)->mqp->recv_posted, 512u);
		ib_unregister_mad_agent(agent);
	}
	fake_hca_destroy(hca);
}

/* No memory for the CQ, or for the QP; lost_test.c has the case of the receives. */
static atomic_t *lack_of(int i)
{
	struct fake_hca *hca = pair.asker.hca;

	return &hca->fail_create[i ? FAKE_QP : FAKE_CQ];
}

/* The QP is made as soon as there is memory, after any number of failures, and works. */
static void a_qp_that_memory_lacks_for(struct kunit *test)
{
	const struct fake_hca_quirks quirks = { .reset_keeps_sends = true };
	int i, again;

	for (i = 0; i < 2; i++) {
		pair_up(test, &quirks);
		lose_qp(test, lack_of(i));
		for (again = 0; again < 2; again++) {
			atomic_set(lack_of(i), 1);
			KUNIT_EXPECT_TRUE_MSG(test, wait_within(!atomic_read(lack_of(i)),
								3 * IBMAD_REMAKE_MS),
					      "lack %d", i);
			msleep(IBMAD_REMAKE_MS / 2);
			KUNIT_EXPECT_EQ(test, mad_post(&pair.asker, 1000, 0), -ENODEV);
		}
		KUNIT_EXPECT_TRUE_MSG(test, wait_within(READ_ONCE(mqp()->state) ==
							IBMAD_QP_LIVE,
							5 * IBMAD_REMAKE_MS),
				      "lack %d", i);
		KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 2), 0);
		KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 2));
		KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, mqp()->flags, 0ul);
		KUNIT_EXPECT_EQ(test, mad_counter(pair.asker.agent, IBMAD_QP_RESETS), 1);
		mad_pair_exit(&pair);
	}
}

/* Likewise the QP is not created again when the adapter is removed. */
static void removal_for_want_of_memory(struct kunit *test)
{
	const struct fake_hca_quirks quirks = { .reset_keeps_sends = true };
	int i;

	for (i = 0; i < 2; i++) {
		pair_up(test, &quirks);
		lose_qp(test, lack_of(i));
		mad_pair_exit(&pair);
	}
}

/* ---- lengths ---- */

static u8 last[IB_MGMT_MAD_SIZE];
static u32 last_byte_len;
static atomic_t nr_last;

static void keep_last(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
		      struct ib_mad_recv_wc *wc)
{
	memcpy(last, wc->recv_buf.mad, sizeof(last));
	last_byte_len = wc->wc->byte_len;
	if (wc->mad_len == sizeof(last))
		atomic_inc(&nr_last);
	ib_free_recv_mad(wc);
}

static struct ib_mad_agent *hear(struct kunit *test)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = TEST_CLASS, .mgmt_class_version = 1,
	};
	struct ib_mad_agent *agent;

	set_bit(IB_MGMT_METHOD_SET, req.method_mask);
	agent = ib_register_mad_agent(&pair.server.hca->ibdev, 1, IB_QPT_GSI, &req, 0,
				      NULL, keep_last, NULL, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(agent));
	atomic_set(&nr_last, 0);
	return agent;
}

static void inject_hdr(struct kunit *test, const struct ib_mad_hdr *hdr, u32 len)
{
	struct fake_hca_packet like = { .src_qpn = 1, .slid = pair.asker.hca->port[1].lid };
	u8 data[IB_MGMT_MAD_SIZE];

	memset(data, 0xaa, sizeof(data));
	memcpy(data, hdr, sizeof(*hdr));
	KUNIT_ASSERT_EQ(test, fake_hca_inject(pair.server.hca, 1, &like, data, len), 0);
	mad_quiesce(&pair);
}

static void inject(struct kunit *test, u32 len)
{
	const struct ib_mad_hdr hdr = {
		.base_version = IB_MGMT_BASE_VERSION, .mgmt_class = TEST_CLASS,
		.class_version = 1, .method = IB_MGMT_METHOD_SET,
	};

	inject_hdr(test, &hdr, len);
}

static void expect_mad(struct kunit *test, u32 len)
{
	u8 rest[IB_MGMT_MAD_SIZE];
	int n = atomic_read(&nr_last);

	inject(test, len);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_last), n + 1);
	KUNIT_EXPECT_EQ(test, last_byte_len, IB_MGMT_MAD_SIZE + sizeof(struct ib_grh));
	memset(rest, 0xaa, len);
	memset(rest + len, 0, sizeof(rest) - len);
	KUNIT_EXPECT_MEMEQ(test, last + IB_MGMT_MAD_HDR, rest + IB_MGMT_MAD_HDR,
			   sizeof(rest) - IB_MGMT_MAD_HDR);
}

static void expect_no_mad(struct kunit *test, u32 len)
{
	int n = atomic_read(&nr_last);

	inject(test, len);
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&nr_last), n, "%u bytes", len);
}

static void lengths_without_the_grh(struct kunit *test)
{
	const struct fake_hca_quirks quirks = { .byte_len_without_grh = true };
	struct ib_mad_agent *agent;

	pair_up(test, &quirks);
	expect_service(test);
	agent = hear(test);
	expect_mad(test, IB_MGMT_MAD_SIZE);
	expect_no_mad(test, IB_MGMT_MAD_SIZE - 1);
	expect_no_mad(test, IB_MGMT_MAD_SIZE - sizeof(struct ib_grh));
	ib_unregister_mad_agent(agent);
}

static void lengths_with_something_more(struct kunit *test)
{
	const struct fake_hca_quirks quirks = { .byte_len_extra = 64 };
	struct ib_mad_agent *agent;

	pair_up(test, &quirks);
	expect_service(test);
	agent = hear(test);
	expect_mad(test, IB_MGMT_MAD_SIZE);
	expect_no_mad(test, IB_MGMT_MAD_SIZE - 65);
	ib_unregister_mad_agent(agent);
}

/* A MAD that is too long does not change how qedr's later lengths are understood. */
static void a_long_one_among_lengths_without_the_grh(struct kunit *test)
{
	const struct fake_hca_quirks quirks = { .byte_len_without_grh = true };
	struct ib_mad_agent *agent;

	pair_up(test, &quirks);
	agent = hear(test);
	pair.server.hca->quirks.byte_len_extra = sizeof(struct ib_grh);
	inject(test, IB_MGMT_MAD_SIZE);
	pair.server.hca->quirks.byte_len_extra = 0;
	expect_mad(test, IB_MGMT_MAD_SIZE);
	expect_no_mad(test, IB_MGMT_MAD_SIZE - 1);
	ib_unregister_mad_agent(agent);
}

/*
 * A MAD that is too short cannot be distinguished from a whole one
 * whose GRH was not counted: its end is zeros, not bytes of another
 * MAD, even in a buffer that was used before.
 */
static void lengths_that_are_too_short(struct kunit *test)
{
	const struct fake_hca_quirks obliging = {};
	struct ib_mad_agent *agent;
	int i;

	pair_up(test, &obliging);
	agent = hear(test);
	expect_mad(test, IB_MGMT_MAD_SIZE - 1);
	expect_mad(test, IB_MGMT_MAD_SIZE - sizeof(struct ib_grh));
	expect_no_mad(test, IB_MGMT_MAD_SIZE - sizeof(struct ib_grh) - 1);
	for (i = 0; i < 600; i++)
		expect_mad(test, IB_MGMT_MAD_SIZE);
	expect_mad(test, IB_MGMT_MAD_SIZE - 1);
	expect_mad(test, IB_MGMT_MAD_SIZE - sizeof(struct ib_grh));
	expect_no_mad(test, IB_MGMT_MAD_SIZE - sizeof(struct ib_grh) - 1);
	ib_unregister_mad_agent(agent);
}

/* An adapter that reported no length of a frame, and delivered what there was of it. */
static void lengths_that_are_missing(struct kunit *test)
{
	const struct fake_hca_quirks quirks = { .byte_len_missing = true };
	struct ib_mad_agent *agent;
	int i;

	pair_up(test, &quirks);
	expect_service(test);
	agent = hear(test);
	for (i = 0; i < 4; i++)
		expect_mad(test, IB_MGMT_MAD_SIZE);
	ib_unregister_mad_agent(agent);
}

/* A MAD without bytes, in a used buffer, is not taken for the MAD before it. */
static void a_length_that_is_none(struct kunit *test)
{
	const struct fake_hca_quirks quirks = { .byte_len_without_grh = true };
	struct ib_mad_agent *agent;
	int i;

	pair_up(test, &quirks);
	agent = hear(test);
	for (i = 0; i < 600; i++)
		expect_mad(test, IB_MGMT_MAD_SIZE);
	expect_no_mad(test, 0);
	ib_unregister_mad_agent(agent);
}

static u8 echoed[IB_MGMT_MAD_SIZE];
static atomic_t nr_echoed;

static enum fake_hca_verdict note_echo(struct fake_hca *hca,
				       struct fake_hca_packet *packet, void *arg)
{
	memcpy(echoed, packet->data, min_t(u32, packet->len, sizeof(echoed)));
	atomic_inc(&nr_echoed);
	return FAKE_DROP;
}

/*
 * A request that no agent takes is returned to its sender,
 * without bytes that may be of another MAD.
 */
static void what_is_echoed(struct kunit *test)
{
	static const struct {
		u8 mgmt_class;
		int kept;
	} classes[] = {
		{ TEST_CLASS, IB_MGMT_MAD_HDR },
		{ IB_MGMT_CLASS_SUBN_ADM, IB_MGMT_RMPP_HDR },
		{ IB_MGMT_CLASS_VENDOR_RANGE2_START, IB_MGMT_VENDOR_HDR },
	};
	const struct fake_hca_quirks quirks = { .byte_len_missing = true };
	struct ib_mad_hdr hdr = {
		.base_version = IB_MGMT_BASE_VERSION, .class_version = 77,
		.method = IB_MGMT_METHOD_GET,
	};
	int i, kept;
	bool told;

	pair_up(test, &quirks);
	pair.server.hca->verdict = note_echo;
	atomic_set(&nr_echoed, 0);
	for (i = 0; i < 2 * ARRAY_SIZE(classes); i++) {
		kept = classes[i / 2].kept;
		hdr.mgmt_class = classes[i / 2].mgmt_class;
		told = !(atomic_read(&pair.server.hca->delivered) & 1);
		inject_hdr(test, &hdr, IB_MGMT_MAD_SIZE);
		KUNIT_EXPECT_TRUE(test, mad_wait(&nr_echoed, i + 1));
		KUNIT_EXPECT_EQ(test, ((struct ib_mad_hdr *)echoed)->method,
				IB_MGMT_METHOD_GET_RESP);
		KUNIT_EXPECT_EQ(test, ((struct ib_mad_hdr *)echoed)->mgmt_class,
				hdr.mgmt_class);
		KUNIT_EXPECT_NULL(test, memchr_inv(echoed + IB_MGMT_MAD_HDR, 0xaa,
						   kept - IB_MGMT_MAD_HDR));
		KUNIT_EXPECT_NULL(test, memchr_inv(echoed + kept, told ? 0xaa : 0,
						   sizeof(echoed) - kept));
	}
}

static struct kunit_case provider_cases[] = {
	KUNIT_CASE(receives_from_rtr_on),
	KUNIT_CASE(the_receive_cq_polls_both_queues),
	KUNIT_CASE(senders_that_are_not_told),
	KUNIT_CASE(each_qp_has_one_cq_bound_to_no_cpu),
	KUNIT_CASE(each_stock_provider),
	KUNIT_CASE(a_port_that_is_an_smi_alone),
	KUNIT_CASE(a_reset_that_keeps_sends),
	KUNIT_CASE(a_full_ring_is_not_empty),
	KUNIT_CASE(a_reset_that_keeps_receives),
	KUNIT_CASE(an_error_that_a_reset_keeps),
	KUNIT_CASE(a_reset_that_does_nothing),
	KUNIT_CASE(a_reset_that_keeps_the_ring),
	KUNIT_CASE(a_qp_that_stays),
	KUNIT_CASE(a_qp_that_stays_for_good),
	KUNIT_CASE(receives_of_a_qp_that_stays),
	KUNIT_CASE_SLOW(a_qp_that_is_made_once),
	KUNIT_CASE(a_send_that_completes_as_its_qp_ends),
	KUNIT_CASE(an_event_before_the_qp_is_started),
	KUNIT_CASE_SLOW(a_qp_that_memory_lacks_for),
	KUNIT_CASE(removal_for_want_of_memory),
	KUNIT_CASE(lengths_without_the_grh),
	KUNIT_CASE(lengths_with_something_more),
	KUNIT_CASE(a_long_one_among_lengths_without_the_grh),
	KUNIT_CASE_SLOW(lengths_that_are_too_short),
	KUNIT_CASE(lengths_that_are_missing),
	KUNIT_CASE_SLOW(a_length_that_is_none),
	KUNIT_CASE(what_is_echoed),
	{}
};

static struct kunit_suite ibmad_provider_suite = {
	.name = "ib_mad_provider",
	.exit = provider_test_exit,
	.test_cases = provider_cases,
};

kunit_test_suite(ibmad_provider_suite);
