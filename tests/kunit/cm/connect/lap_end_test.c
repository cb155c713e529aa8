// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * LAPs that end with their connection, their id or their adapter; calls that fail, by the
 * state of the id and by their parameters.
 */
#include "cm/lap.h"
#include "wait.h"

static struct cm_pair pair;

static int lap_end_init(struct kunit *test)
{
	return cm_pair_init_ports(test, &pair, 2);
}

static void lap_end_exit(struct kunit *test)
{
	cm_pair_exit(&pair);
}

static void start_over(struct kunit *test)
{
	cm_pair_exit(&pair);
	KUNIT_ASSERT_EQ(test, cm_pair_init_ports(test, &pair, 2), 0);
}

/* Connects; then the client's LAP is outstanding, and lost. */
static void ask_in_vain(struct kunit *test)
{
	cm_connect(test, &pair);
	pair.client.drop[IBCM_LAP] = -1;
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	cm_quiesce(&pair);
	KUNIT_ASSERT_EQ(test, pair.client.id->lap_state, IB_CM_LAP_SENT);
}

/* No LAP is sent any more, and the consumer was told of the end only. */
static void expect_ended(struct kunit *test, const char *events)
{
	int sent = atomic_read(&pair.client.wire[IBCM_LAP]);

	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, events));
	KUNIT_EXPECT_EQ(test, pair.client.id->lap_state, IB_CM_LAP_UNINIT);
	msleep(500);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.client.wire[IBCM_LAP]), sent);
	KUNIT_EXPECT_STREQ(test, pair.client.events, events);
	KUNIT_EXPECT_NULL(test, to_ibcm(pair.client.id)->msg);
	KUNIT_EXPECT_EQ(test, lap_send(&pair), -EINVAL);
	msleep(500);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.client), 0);
}

static void our_dreq_ends_it(struct kunit *test)
{
	ask_in_vain(test);
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	KUNIT_EXPECT_EQ(test, pair.client.id->lap_state, IB_CM_LAP_UNINIT);
	expect_ended(test, "RT");
}

static void the_peers_dreq_ends_it(struct kunit *test)
{
	ask_in_vain(test);
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.server.id, NULL, 0), 0);
	expect_ended(test, "DT");
}

static void a_rej_ends_it(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];

	ask_in_vain(test);
	cm_mad(&pair.server, &pair.client, IBCM_REJ, mad);
	cm_inject(&pair.server, &pair.client, mad, sizeof(mad));
	expect_ended(test, "JT");
}

/* The LAP has an MRA, and the DREQ is sent while the consumer still thinks about it. */
static void a_dreq_between_lap_and_apr(struct kunit *test)
{
	pair.server.answer_lap = lap_mra;
	cm_connect(test, &pair);
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "M"));
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "LDT"));
	KUNIT_EXPECT_EQ(test, pair.server.id->lap_state, IB_CM_LAP_UNINIT);
	KUNIT_EXPECT_EQ(test, lap_accept(&pair.server), -EINVAL);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.wire[IBCM_APR]), 0);
	expect_ended(test, "MRT");
}

static int dreq_in_handler(struct cm_side *side)
{
	return ib_send_cm_dreq(side->id, NULL, 0);
}

/* The consumer disconnects because of the LAP: nothing answers it. */
static void a_dreq_instead_of_an_apr(struct kunit *test)
{
	pair.server.answer_lap = dreq_in_handler;
	cm_connect(test, &pair);
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "DT"));
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.wire[IBCM_APR]), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "LRT"));
}

/* An APR that was on its way when the client sent its DREQ. */
static void an_apr_after_the_dreq(struct kunit *test)
{
	pair.server.answer_lap = lap_accept;
	cm_connect(test, &pair);
	pair.server.hold = BIT(IBCM_APR);
	pair.client.drop[IBCM_DREQ] = 1;
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	cm_quiesce(&pair);
	KUNIT_ASSERT_NOT_NULL(test, cm_held(&pair.server));
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	pair.server.hold = 0;
	fake_hca_release_held(pair.server.hca);
	expect_ended(test, "RT");
}

/* ---- ids and adapters that go ---- */

static void the_asking_id_goes(struct kunit *test)
{
	int sent;

	ask_in_vain(test);
	cm_drop_id(&pair.client);
	sent = atomic_read(&pair.client.wire[IBCM_LAP]);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "DT"));
	msleep(1000);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.client.wire[IBCM_LAP]), sent);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "");
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.client), 0);
}

static void the_asked_id_goes(struct kunit *test)
{
	pair.server.answer_lap = lap_later;
	cm_connect(test, &pair);
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "L"));
	cm_drop_id(&pair.server);
	/* The client may have had an MRA before. */
	KUNIT_EXPECT_TRUE(test, wait_within(strchr(pair.client.events, 'T'), 10000));
	KUNIT_EXPECT_NULL(test, strchr(pair.client.events, 'l'));
	msleep(500);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.server), 0);
}

static void handlers_destroy_their_ids(struct kunit *test)
{
	/* The server on the LAP; the client on the APR, on the error. */
	static const char letters[] = "LAl";
	struct cm_side *side;
	int i;

	for (i = 0; letters[i]; i++) {
		side = letters[i] == 'L' ? &pair.server : &pair.client;
		pair.server.answer_lap = lap_accept;
		cm_connect(test, &pair);
		side->destroy_on = letters[i];
		pair.client.drop[IBCM_LAP] = letters[i] == 'l' ? -1 : 0;
		KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
		KUNIT_EXPECT_TRUE(test, wait_within(READ_ONCE(side->destroyed), 5000));
		msleep(1000);
		KUNIT_EXPECT_FALSE(test, side->told_after);
		KUNIT_EXPECT_EQ(test, cm_ahs(side), 0);
		start_over(test);
	}
}

/* The adapter goes while its id has a path that was asked for, or accepted, or refused. */
static void an_adapter_goes(struct kunit *test)
{
	static int (*const answers[])(struct cm_side *side) = {
		lap_later, lap_accept, lap_refuse,
	};
	struct cm_side *side;
	int i;

	for (i = 0; i < 2 * ARRAY_SIZE(answers); i++) {
		pair.server.answer_lap = answers[i / 2];
		side = i % 2 ? &pair.client : &pair.server;
		cm_connect(test, &pair);
		KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
		KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "L"));
		cm_quiesce(&pair);
		/* The consumer, a client of the adapter, keeps its id for a while. */
		fake_hca_destroy(side->hca);
		side->hca = NULL;
		if (side == &pair.client)
			KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(side->id, NULL, 0), -ENODEV);
		start_over(test);
	}
}

/* ---- calls ---- */

static void calls_in_every_state(struct kunit *test)
{
	int stage;

	for (stage = 0; stage < CM_STAGES; stage++) {
		KUNIT_ASSERT_EQ(test, cm_go_to(&pair, stage), 0);
		KUNIT_EXPECT_EQ_MSG(test, lap_accept(&pair.client), -EINVAL, "%d", stage);
		if (pair.server.id)
			KUNIT_EXPECT_EQ_MSG(test, lap_accept(&pair.server), -EINVAL, "%d",
					    stage);
		/* RTU_HELD: the client is established, and the server drops its LAP. */
		KUNIT_EXPECT_EQ_MSG(test, lap_send(&pair),
				    stage == CONNECTED || stage == RTU_HELD ? 0 : -EINVAL,
				    "%d", stage);
		if (stage == RTU_HELD) {
			cm_quiesce(&pair);
			KUNIT_EXPECT_EQ(test, pair.server.id->lap_state, IB_CM_LAP_UNINIT);
			KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.wire[IBCM_APR]), 0);
		}
		start_over(test);
	}
}

/* Only the side that has requested the connection sends LAPs. */
static void the_passive_side_asks(struct kunit *test)
{
	struct sa_path_rec path;
	struct ibex_cm_lap_param param = { .path = &path };

	cm_connect(test, &pair);
	lap_path(&pair, &path);
	swap(path.sgid, path.dgid);
	sa_path_set_slid(&path, pair.server.hca->port[2].lid);
	sa_path_set_dlid(&path, pair.client.hca->port[2].lid);
	KUNIT_EXPECT_EQ(test, ibex_cm_send_lap(pair.server.id, &param), -EINVAL);
	KUNIT_EXPECT_EQ(test, pair.server.id->lap_state, IB_CM_LAP_UNINIT);
}

static void laps_that_cannot_be_sent(struct kunit *test)
{
	struct ib_device *ibdev = &pair.client.hca->ibdev;
	struct sa_path_rec path, good;
	struct ibex_cm_lap_param param = { .path = &path };
	u64 caps = ibdev->attrs.device_cap_flags;
	struct ib_cm_id *idle;

	cm_connect(test, &pair);
	lap_path(&pair, &good);

#define REFUSED(change, err) do {						\
		path = good;							\
		param = (struct ibex_cm_lap_param){ .path = &path };		\
		change;								\
		KUNIT_EXPECT_EQ_MSG(test, ibex_cm_send_lap(pair.client.id, &param), \
				    (err), #change);				\
	} while (0)

	REFUSED(param.path = NULL, -EINVAL);
	REFUSED(param.remote_cm_response_timeout = 32, -EINVAL);
	REFUSED(param.private_data_len = 1, -EINVAL);
	REFUSED((param.private_data = "x",
		 param.private_data_len = IB_CM_LAP_PRIVATE_DATA_SIZE + 1), -EINVAL);
	REFUSED(path.pkey = cpu_to_be16(0x8001), -EINVAL);
	REFUSED(path.mtu = IB_MTU_512, -EINVAL);
	REFUSED(path.sgid.raw[15] ^= 0xff, -ENOENT);
	REFUSED(cm_path(&pair, &path), -EINVAL);	/* the path in use */
	REFUSED(ibdev->attrs.device_cap_flags &= ~IB_DEVICE_AUTO_PATH_MIG, -EOPNOTSUPP);
	ibdev->attrs.device_cap_flags = caps;
#undef REFUSED

	KUNIT_EXPECT_EQ(test, pair.client.id->lap_state, IB_CM_LAP_UNINIT);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.client.wire[IBCM_LAP]), 0);
	idle = ib_create_cm_id(ibdev, cm_handler, &pair.client);
	KUNIT_ASSERT_FALSE(test, IS_ERR(idle));
	path = good;
	KUNIT_EXPECT_EQ(test, ibex_cm_send_lap(idle, &param), -EINVAL);
	ib_destroy_cm_id(idle);
}

static void aprs_that_cannot_be_sent(struct kunit *test)
{
	struct ibex_cm_apr_param param;

	pair.server.answer_lap = lap_later;
	cm_connect(test, &pair);
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "L"));

#define REFUSED(...) do {							\
		param = (struct ibex_cm_apr_param){ __VA_ARGS__ };		\
		KUNIT_EXPECT_EQ_MSG(test, ibex_cm_send_apr(pair.server.id, &param), \
				    -EINVAL, #__VA_ARGS__);			\
	} while (0)

	REFUSED(.status = IB_CM_APR_INVALID_SL + 1);
	REFUSED(.info_len = 1);
	REFUSED(.info = "x", .info_len = IB_CM_APR_INFO_LENGTH + 1);
	REFUSED(.private_data_len = 1);
	REFUSED(.private_data = "x", .private_data_len = IB_CM_APR_PRIVATE_DATA_SIZE + 1);
#undef REFUSED

	KUNIT_EXPECT_EQ(test, pair.server.id->lap_state, IB_CM_MRA_LAP_SENT);
	KUNIT_EXPECT_EQ(test, lap_accept(&pair.server), 0);
	KUNIT_EXPECT_EQ(test, lap_accept(&pair.server), -EINVAL);
}

/* LAPs, MRAs and APRs that are not posted, or whose sending completes with an error. */
static void sends_fail(struct kunit *test)
{
	pair.server.answer_lap = lap_later;
	cm_connect(test, &pair);
	atomic_set(&pair.client.hca->fail_post_send, 1);
	KUNIT_EXPECT_LT(test, lap_send(&pair), 0);
	KUNIT_EXPECT_EQ(test, pair.client.id->lap_state, IB_CM_LAP_IDLE);
	KUNIT_EXPECT_NULL(test, to_ibcm(pair.client.id)->msg);
	pair.client.drop[IBCM_LAP] = -1;
	pair.client.hca->send_status = IB_WC_LOC_QP_OP_ERR;
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "l"));
	pair.client.hca->send_status = IB_WC_SUCCESS;
	pair.client.drop[IBCM_LAP] = 0;
	/* The MRA: the LAP is still to be answered, and time may be asked for again. */
	pair.server.answer_lap = lap_mra;
	atomic_set(&pair.server.hca->fail_post_send, 1);
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "lA"));
	KUNIT_EXPECT_LT(test, pair.server.call, 0);
	KUNIT_EXPECT_EQ(test, (int)pair.client.last.param.apr_rcvd.ap_status,
			IB_CM_APR_UNSUPPORTED);
	/* The APR: a copy follows when the LAP comes again. */
	pair.server.answer_lap = lap_later;
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	cm_quiesce(&pair);
	atomic_set(&pair.server.hca->fail_post_send, 1);
	KUNIT_EXPECT_EQ(test, lap_accept(&pair.server), 0);
	KUNIT_EXPECT_TRUE(test, wait_within(strchr(pair.client.events + 2, 'A'), 5000));
	KUNIT_EXPECT_EQ(test, (int)pair.client.last.param.apr_rcvd.ap_status,
			IB_CM_APR_SUCCESS);
}

/*
 * The RTU was not posted, after another thread has sent a LAP: the id goes back to the
 * state before the RTU, and the LAP ends.
 */
static void an_rtu_that_was_not_sent(struct kunit *test)
{
	struct ibcm_todo todo = { .from = IB_CM_REP_RCVD };
	struct ibcm_msg *lap;
	struct ibcm_id *id;

	ask_in_vain(test);
	id = to_ibcm(pair.client.id);
	todo.step = ibcm_step_of(IB_CM_REP_RCVD, IBCM_TX_RTU);
	spin_lock_irq(&id->lock);
	lap = ibcm_step_failed(id, &todo);
	spin_unlock_irq(&id->lock);
	KUNIT_EXPECT_NOT_NULL(test, lap);
	ibcm_msg_stop(lap);
	KUNIT_EXPECT_EQ(test, pair.client.id->lap_state, IB_CM_LAP_UNINIT);
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_REP_RCVD);
	KUNIT_EXPECT_EQ(test, lap_send(&pair), -EINVAL);
}

static struct kunit_case lap_end_cases[] = {
	KUNIT_CASE(our_dreq_ends_it),
	KUNIT_CASE(the_peers_dreq_ends_it),
	KUNIT_CASE(a_rej_ends_it),
	KUNIT_CASE(a_dreq_between_lap_and_apr),
	KUNIT_CASE(a_dreq_instead_of_an_apr),
	KUNIT_CASE(an_apr_after_the_dreq),
	KUNIT_CASE(the_asking_id_goes),
	KUNIT_CASE(the_asked_id_goes),
	KUNIT_CASE(handlers_destroy_their_ids),
	KUNIT_CASE(an_adapter_goes),
	KUNIT_CASE(calls_in_every_state),
	KUNIT_CASE(the_passive_side_asks),
	KUNIT_CASE(laps_that_cannot_be_sent),
	KUNIT_CASE(aprs_that_cannot_be_sent),
	KUNIT_CASE(sends_fail),
	KUNIT_CASE(an_rtu_that_was_not_sent),
	{}
};

static struct kunit_suite ibcm_lap_end_suite = {
	.name = "ib_cm_lap_end",
	.init = lap_end_init,
	.exit = lap_end_exit,
	.test_cases = lap_end_cases,
};

kunit_test_suite(ibcm_lap_end_suite);
