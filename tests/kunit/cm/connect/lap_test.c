// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Alternate paths loaded by LAP and APR (IBA vol. 1, 12.8): the table, both sides, loss and
 * repetition, MRAs, migration.
 */
#include "cm/lap.h"

static struct cm_pair pair;

static int lap_test_init(struct kunit *test)
{
	return cm_pair_init_ports(test, &pair, 2);
}

static void lap_test_exit(struct kunit *test)
{
	cm_pair_exit(&pair);
}

/* ---- the table ---- */

/* A letter is the state that follows: Uninit, Idle, s/S LAP sent/received, m/M MRA. */
static const char lap_letters[IBCM_LAP_STATES] = {
	[IB_CM_LAP_UNINIT] = 'U', [IB_CM_LAP_IDLE] = 'I', [IB_CM_LAP_SENT] = 's',
	[IB_CM_LAP_RCVD] = 'S', [IB_CM_MRA_LAP_SENT] = 'm', [IB_CM_MRA_LAP_RCVD] = 'M',
};

static const struct {
	const char *next, *told, *reply;
} lap_expected[IBCM_LAP_STATES] = {
	/*
	 * Messages: LAP, copy of the unanswered one, of the answered one, MRA, APR; calls:
	 * LAP, MRA, APR; then: migrated, no answer, not posted, the connection ends.
	 */
	[IB_CM_LAP_UNINIT]	= { "S.U..s..I..U", "L...........", "..a........." },
	[IB_CM_LAP_IDLE]	= { "S.IIIs..I..U", "L...........", "..a........." },
	[IB_CM_LAP_SENT]	= { "...MI...sIIU", "...MA....l..", "............" },
	[IB_CM_MRA_LAP_RCVD]	= { "...MI...MI.U", "....A....l..", "............" },
	[IB_CM_LAP_RCVD]	= { ".S....mIS..U", "............", "............" },
	[IB_CM_MRA_LAP_SENT]	= { ".m.....Im.SU", "............", ".a.........." },
};

static void every_state_and_event(struct kunit *test)
{
	const struct ibcm_step *step;
	int s, e;

	for (s = 0; s < IBCM_LAP_STATES; s++) {
		KUNIT_ASSERT_EQ(test, strlen(lap_expected[s].next), IBCM_LAP_EVENTS);
		for (e = 0; e < IBCM_LAP_EVENTS; e++) {
			step = ibcm_lap_step_of(s, e);
			KUNIT_EXPECT_EQ_MSG(test, step ? lap_letters[step->next] : '.',
					    lap_expected[s].next[e], "state %d, event %d", s, e);
			KUNIT_EXPECT_EQ_MSG(test, step && step->event != IBCM_NO_EVENT ?
					    cm_letter(step->event) : '.',
					    lap_expected[s].told[e], "state %d, event %d", s, e);
			KUNIT_EXPECT_EQ_MSG(test, step && step->reply == IBCM_REPLY_LAP ?
					    'a' : '.',
					    lap_expected[s].reply[e], "state %d, event %d", s, e);
		}
	}
	KUNIT_EXPECT_NULL(test, ibcm_lap_step_of(IBCM_LAP_STATES, 0));
	KUNIT_EXPECT_NULL(test, ibcm_lap_step_of(0, IBCM_LAP_EVENTS));
}

/* Only the APR cancels the LAP: what ends the connection does so in the other table. */
static void what_the_steps_do(struct kunit *test)
{
	const struct ibcm_step *step;
	bool sent;
	int s, e;

	for (s = 0; s < IBCM_LAP_STATES; s++) {
		sent = s == IB_CM_LAP_SENT || s == IB_CM_MRA_LAP_RCVD;
		for (e = 0; e < IBCM_LAP_EVENTS; e++) {
			step = ibcm_lap_step_of(s, e);
			if (!step)
				continue;
			KUNIT_EXPECT_EQ(test, !!(step->flags & IBCM_F_CANCEL),
					sent && e == IBCM_LAP_RX_APR);
			KUNIT_EXPECT_EQ(test, !!(step->flags & IBCM_F_EXTEND),
					s == IB_CM_LAP_SENT && e == IBCM_LAP_RX_MRA);
			if (step->flags & IBCM_F_DUP) {
				KUNIT_EXPECT_EQ(test, step->next, s);
				KUNIT_EXPECT_EQ(test, step->event, IBCM_NO_EVENT);
			}
		}
	}
}

/* ---- both sides ---- */

static void expect_idle(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, pair.client.id->lap_state, IB_CM_LAP_IDLE);
	KUNIT_EXPECT_EQ(test, pair.server.id->lap_state, IB_CM_LAP_IDLE);
	KUNIT_EXPECT_NULL(test, to_ibcm(pair.client.id)->msg);
}

/* The path that the server's handler was to load, seen in the handler. */
static bool loads_in_handler;

static int look_and_accept(struct cm_side *side)
{
	loads_in_handler = lap_loads(side, &pair.client);
	return lap_accept(side);
}

static void expect_wire(struct kunit *test, const struct cm_lap_msg *lap)
{
	union ib_gid gid;

	KUNIT_EXPECT_EQ(test, IBA_GET(CM_LAP_LOCAL_COMM_ID, lap),
			be32_to_cpu(pair.client.id->local_id));
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_LAP_REMOTE_COMM_ID, lap),
			be32_to_cpu(pair.server.id->local_id));
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_LAP_REMOTE_QPN_EECN, lap), pair.server.qpn);
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_LAP_REMOTE_CM_RESPONSE_TIMEOUT, lap), TEST_RESPONSE);
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_LAP_ALTERNATE_LOCAL_PORT_LID, lap),
			pair.client.hca->port[2].lid);
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_LAP_ALTERNATE_REMOTE_PORT_LID, lap),
			pair.server.hca->port[2].lid);
	cm_gid(&pair.client, 2, &gid);
	KUNIT_EXPECT_MEMEQ(test, IBA_GET_MEM_PTR(CM_LAP_ALTERNATE_LOCAL_PORT_GID,
						 (struct cm_lap_msg *)lap), &gid, sizeof(gid));
	cm_gid(&pair.server, 2, &gid);
	KUNIT_EXPECT_MEMEQ(test, IBA_GET_MEM_PTR(CM_LAP_ALTERNATE_REMOTE_PORT_GID,
						 (struct cm_lap_msg *)lap), &gid, sizeof(gid));
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_LAP_ALTERNATE_FLOW_LABEL, lap), 0x12345);
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_LAP_ALTERNATE_TRAFFIC_CLASS, lap), 0x21);
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_LAP_ALTERNATE_SL, lap), 5);
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_LAP_ALTERNATE_PACKET_RATE, lap), IB_RATE_10_GBPS);
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_LAP_ALTERNATE_SUBNET_LOCAL, lap), 1);
	/* From twice the packet lifetime (13) and the adapter's ACK delay (15). */
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_LAP_ALTERNATE_LOCAL_ACK_TIMEOUT, lap), 15);
}

static void a_path_is_loaded(struct kunit *test)
{
	struct cm_lap_msg *lap = (void *)pair.client.mad[IBCM_LAP];
	struct cm_apr_msg *apr = (void *)pair.server.mad[IBCM_APR];
	struct ib_qp_attr attr;
	int mask;

	pair.server.answer_lap = look_and_accept;
	cm_connect(test, &pair);
	KUNIT_ASSERT_EQ(test, lap_rts(&pair.client, &attr, &mask), 0);
	KUNIT_EXPECT_FALSE(test, mask & IB_QP_PATH_MIG_STATE);
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "A"));
	KUNIT_EXPECT_STREQ(test, pair.server.events, "L");
	KUNIT_EXPECT_EQ(test, pair.server.call, 0);
	KUNIT_EXPECT_TRUE(test, loads_in_handler);
	expect_wire(test, lap);
	KUNIT_EXPECT_STREQ(test, (char *)pair.server.private_data, "load");
	KUNIT_EXPECT_EQ(test, be64_to_cpu(apr->hdr.tid), be64_to_cpu(lap->hdr.tid));
	KUNIT_EXPECT_EQ(test, (int)pair.client.last.param.apr_rcvd.ap_status,
			IB_CM_APR_SUCCESS);
	KUNIT_EXPECT_STREQ(test, (char *)pair.client.private_data, "loaded");
	/* Both QPs can be told, until another path is loaded. */
	KUNIT_EXPECT_TRUE(test, lap_loads(&pair.client, &pair.server));
	KUNIT_EXPECT_TRUE(test, lap_loads(&pair.server, &pair.client));
	KUNIT_ASSERT_EQ(test, lap_rts(&pair.client, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, attr.alt_timeout, 15);
	expect_idle(test);
	/* No other address handle is needed: the LAP took the connection's own path. */
	KUNIT_EXPECT_EQ(test, pair.client.wire_port, 1u);
	/* The two LAPs differ in their transaction ids. */
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "AA"));
	KUNIT_EXPECT_STREQ(test, pair.server.events, "LL");
}

static void a_path_is_refused(struct kunit *test)
{
	struct ib_qp_attr attr;
	int mask;

	pair.tune_req = lap_alternate;
	pair.server.answer_lap = lap_refuse;
	cm_connect(test, &pair);
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "A"));
	KUNIT_EXPECT_EQ(test, (int)pair.client.last.param.apr_rcvd.ap_status, IB_CM_APR_REJECT);
	KUNIT_EXPECT_EQ(test, pair.client.last.param.apr_rcvd.info_len, 8);
	KUNIT_EXPECT_STREQ(test, IBA_GET_MEM_PTR(CM_APR_ADDITIONAL_INFORMATION,
						 (struct cm_apr_msg *)
						 pair.server.mad[IBCM_APR]), "because");
	/* The path of the REQ stays, and is loaded on the way to RTS only. */
	KUNIT_ASSERT_EQ(test, lap_rts(&pair.client, &attr, &mask), 0);
	KUNIT_EXPECT_TRUE(test, mask & IB_QP_SQ_PSN);
	KUNIT_ASSERT_EQ(test, lap_rts(&pair.server, &attr, &mask), 0);
	KUNIT_EXPECT_TRUE(test, mask & IB_QP_SQ_PSN);
	expect_idle(test);
}

/* Most of the kernel's consumers do nothing on a LAP. */
static void a_consumer_that_does_not_know_laps(struct kunit *test)
{
	cm_connect(test, &pair);
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "A"));
	KUNIT_EXPECT_EQ(test, (int)pair.client.last.param.apr_rcvd.ap_status,
			IB_CM_APR_UNSUPPORTED);
	KUNIT_EXPECT_EQ(test, lap_accept(&pair.server), -EINVAL);
	expect_idle(test);
}

/* The refused path does not take the place of the one that was accepted before. */
static void a_refusal_after_an_acceptance(struct kunit *test)
{
	struct sa_path_rec path;

	pair.server.answer_lap = lap_accept;
	cm_connect(test, &pair);
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "A"));
	pair.server.answer_lap = lap_refuse;
	lap_path(&pair, &path);
	path.sl = 6;
	KUNIT_ASSERT_EQ(test, lap_send_path(&pair, &path), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "AA"));
	KUNIT_EXPECT_TRUE(test, lap_loads(&pair.client, &pair.server));
	KUNIT_EXPECT_TRUE(test, lap_loads(&pair.server, &pair.client));
}

/* ---- MRAs ---- */

static void answered_later(struct kunit *test)
{
	struct cm_mra_msg *mra = (void *)pair.server.mad[IBCM_MRA];
	struct cm_lap_msg *lap = (void *)pair.client.mad[IBCM_LAP];

	pair.server.answer_lap = lap_later;
	cm_connect(test, &pair);
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	cm_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, pair.server.call, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.wire[IBCM_MRA]), 0);
	KUNIT_EXPECT_EQ(test, pair.server.id->lap_state, IB_CM_MRA_LAP_SENT);
	KUNIT_EXPECT_TRUE(test, lap_loads(&pair.server, &pair.client));
	/* The client asks again. */
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "M"));
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_MRA_MESSAGE_MRAED, mra), 2);
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_MRA_SERVICE_TIMEOUT, mra), 18);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(mra->hdr.tid), be64_to_cpu(lap->hdr.tid));
	KUNIT_EXPECT_STREQ(test, (char *)pair.client.private_data, "later");
	KUNIT_EXPECT_EQ(test, pair.client.id->lap_state, IB_CM_MRA_LAP_RCVD);
	KUNIT_EXPECT_EQ(test, lap_accept(&pair.server), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "MA"));
	KUNIT_EXPECT_STREQ(test, pair.server.events, "L");
	KUNIT_EXPECT_TRUE(test, lap_loads(&pair.client, &pair.server));
	expect_idle(test);
}

static void an_mra_gives_time(struct kunit *test)
{
	unsigned long start = jiffies;

	pair.server.answer_lap = lap_mra;
	cm_connect(test, &pair);
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "M"));
	KUNIT_EXPECT_EQ(test, ib_send_cm_mra(pair.server.id, 18, NULL, 0), -EINVAL);
	/* It asks for 1074 ms, then the LAP is resent and answered with the MRA again. */
	msleep(700);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.client.wire[IBCM_LAP]), 1);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "M"));
	msleep(700);
	KUNIT_EXPECT_GE(test, atomic_read(&pair.client.wire[IBCM_LAP]), 2);
	KUNIT_EXPECT_GE(test, atomic_read(&pair.server.wire[IBCM_MRA]), 2);
	KUNIT_EXPECT_GE(test, jiffies_to_msecs(jiffies - start), 1074u);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "M");
	KUNIT_EXPECT_EQ(test, lap_refuse(&pair.server), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "MA"));
	expect_idle(test);
}

/* Once its retries are used up, the LAP has failed though an MRA has come. */
static void an_mra_and_no_answer(struct kunit *test)
{
	pair.server.answer_lap = lap_mra;
	cm_connect(test, &pair);
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "Ml"));
	KUNIT_EXPECT_EQ(test, pair.client.id->lap_state, IB_CM_LAP_IDLE);
	KUNIT_EXPECT_EQ(test, lap_accept(&pair.server), 0);
	cm_quiesce(&pair);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "Ml");
	expect_idle(test);
}

/* ---- loss and repetition ---- */

static void lost_messages_are_resent(struct kunit *test)
{
	pair.server.answer_lap = lap_accept;
	cm_connect(test, &pair);
	pair.client.drop[IBCM_LAP] = 1;
	pair.server.drop[IBCM_APR] = 1;
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "A"));
	KUNIT_EXPECT_STREQ(test, pair.server.events, "L");
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.client.wire[IBCM_LAP]), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.wire[IBCM_APR]), 2);
	KUNIT_EXPECT_EQ(test, (int)pair.client.last.param.apr_rcvd.ap_status,
			IB_CM_APR_SUCCESS);
	expect_idle(test);
}

static void nobody_answers(struct kunit *test)
{
	unsigned long start;

	pair.tune_req = lap_alternate;
	cm_connect(test, &pair);
	pair.client.drop[IBCM_LAP] = -1;
	start = jiffies;
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_EXPECT_EQ(test, pair.client.id->lap_state, IB_CM_LAP_SENT);
	KUNIT_EXPECT_EQ(test, lap_send(&pair), -EINVAL);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "l"));
	/* A try is the response time, 68 ms, and twice the packet lifetime, 17 ms. */
	cm_expect_ms(test, start, pair.client.when, (TEST_RETRIES + 1) * (68 + 2 * 17));
	KUNIT_EXPECT_EQ(test, pair.client.last.param.send_status, IB_WC_RESP_TIMEOUT_ERR);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.client.wire[IBCM_LAP]), TEST_RETRIES + 1);
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, pair.client.id->lap_state, IB_CM_LAP_IDLE);
	pair.client.drop[IBCM_LAP] = 0;
	pair.server.answer_lap = lap_accept;
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "lA"));
}

/* The APR of a LAP that was given up must not answer the next one. */
static void a_late_apr(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];

	pair.server.answer_lap = lap_accept;
	cm_connect(test, &pair);
	pair.server.drop[IBCM_APR] = -1;
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "l"));
	memcpy(mad, pair.server.mad[IBCM_APR], sizeof(mad));
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	cm_inject(&pair.server, &pair.client, mad, sizeof(mad));
	cm_quiesce(&pair);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "l");
	KUNIT_EXPECT_EQ(test, pair.client.id->lap_state, IB_CM_LAP_SENT);
	pair.server.drop[IBCM_APR] = 0;
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "lA"));
	/* A copy of the APR changes nothing. */
	memcpy(mad, pair.server.mad[IBCM_APR], sizeof(mad));
	cm_inject(&pair.server, &pair.client, mad, sizeof(mad));
	cm_quiesce(&pair);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "lA");
	expect_idle(test);
}

static void inject_lap(const u8 *mad)
{
	cm_inject(&pair.client, &pair.server, mad, IB_MGMT_MAD_SIZE);
	cm_quiesce(&pair);
}

static void copies_of_a_lap(struct kunit *test)
{
	u8 first[IB_MGMT_MAD_SIZE], second[IB_MGMT_MAD_SIZE];

	pair.server.answer_lap = lap_accept;
	cm_connect(test, &pair);
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "A"));
	memcpy(first, pair.client.mad[IBCM_LAP], sizeof(first));
	inject_lap(first);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.wire[IBCM_APR]), 2);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "L");
	/* A late copy of a LAP that was answered before the last one. */
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "AA"));
	memcpy(second, pair.client.mad[IBCM_LAP], sizeof(second));
	inject_lap(first);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "LL");
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.wire[IBCM_APR]), 3);
	/* The same transaction id with another path is another LAP. */
	IBA_SET(CM_LAP_ALTERNATE_SL, (struct cm_lap_msg *)second, 7);
	inject_lap(second);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "LLL");
	KUNIT_EXPECT_EQ(test, pair.server.path[1].sl, 7);
}

/* A LAP that was loaded before a migration is used up: the same one loads it again. */
static void the_same_lap_after_a_migration(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];

	pair.server.answer_lap = lap_accept;
	cm_connect(test, &pair);
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "A"));
	memcpy(mad, pair.client.mad[IBCM_LAP], sizeof(mad));
	KUNIT_EXPECT_EQ(test, ib_cm_notify(pair.server.id, IB_EVENT_PATH_MIG), 0);
	cm_quiesce(&pair);
	/* It asks for the path in use now; the CM itself refuses that. */
	inject_lap(mad);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "L");
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_APR_AR_STATUS,
				      (struct cm_apr_msg *)pair.server.mad[IBCM_APR]),
			IB_CM_APR_IS_CURRENT);
	KUNIT_EXPECT_EQ(test, ib_cm_notify(pair.server.id, IB_EVENT_PATH_MIG), 0);
	cm_quiesce(&pair);
	inject_lap(mad);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "LL");
}

/* While one LAP is to be answered, another is not taken: its sender resends it. */
static void a_second_lap_waits(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];

	pair.server.answer_lap = lap_later;
	cm_connect(test, &pair);
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "L"));
	memcpy(mad, pair.client.mad[IBCM_LAP], sizeof(mad));
	IBA_SET(CM_LAP_ALTERNATE_SL, (struct cm_lap_msg *)mad, 7);
	inject_lap(mad);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "L");
	KUNIT_EXPECT_EQ(test, lap_accept(&pair.server), 0);
	inject_lap(mad);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "LL");
}

/* ---- migration ---- */

static void migrations_between_laps(struct kunit *test)
{
	struct ib_qp_attr attr;
	int mask;

	pair.server.answer_lap = lap_accept;
	cm_connect(test, &pair);
	KUNIT_EXPECT_EQ(test, ib_cm_notify(pair.client.id, IB_EVENT_PATH_MIG), -EINVAL);
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "A"));
	KUNIT_ASSERT_EQ(test, ib_cm_notify(pair.client.id, IB_EVENT_PATH_MIG), 0);
	KUNIT_ASSERT_EQ(test, ib_cm_notify(pair.server.id, IB_EVENT_PATH_MIG), 0);
	cm_quiesce(&pair);
	/* The path that was the primary is offered for loading. */
	KUNIT_ASSERT_EQ(test, lap_rts(&pair.client, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, mask, IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE);
	KUNIT_EXPECT_EQ(test, attr.alt_port_num, 1);
	/* The path in use cannot be the alternate one. */
	KUNIT_EXPECT_EQ(test, lap_send(&pair), -EINVAL);
	pair.client.drop[IBCM_LAP] = -1;
	{
		struct sa_path_rec path;

		cm_path(&pair, &path);
		KUNIT_ASSERT_EQ(test, lap_send_path(&pair, &path), 0);
	}
	cm_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, pair.client.wire_port, 2u);
	/* Migrating once more while the LAP is outstanding is possible. */
	KUNIT_EXPECT_EQ(test, ib_cm_notify(pair.client.id, IB_EVENT_PATH_MIG), 0);
	KUNIT_EXPECT_EQ(test, pair.client.id->lap_state, IB_CM_LAP_SENT);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "Al"));
}

static void a_migration_while_a_lap_is_to_be_answered(struct kunit *test)
{
	struct ib_qp_attr attr;
	int mask;

	pair.tune_req = lap_alternate;
	pair.server.answer_lap = lap_later;
	cm_connect(test, &pair);
	{
		struct sa_path_rec path;

		lap_path(&pair, &path);
		path.sl = 9;
		KUNIT_ASSERT_EQ(test, lap_send_path(&pair, &path), 0);
	}
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "L"));
	KUNIT_EXPECT_EQ(test, ib_cm_notify(pair.server.id, IB_EVENT_PATH_MIG), 0);
	KUNIT_EXPECT_EQ(test, pair.server.id->lap_state, IB_CM_MRA_LAP_SENT);
	KUNIT_ASSERT_EQ(test, lap_rts(&pair.server, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_sl(&attr.alt_ah_attr), 9);
	KUNIT_EXPECT_EQ(test, lap_refuse(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, lap_rts(&pair.server, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, attr.alt_port_num, 1);
}

static struct kunit_case lap_cases[] = {
	KUNIT_CASE(every_state_and_event),
	KUNIT_CASE(what_the_steps_do),
	KUNIT_CASE(a_path_is_loaded),
	KUNIT_CASE(a_path_is_refused),
	KUNIT_CASE(a_consumer_that_does_not_know_laps),
	KUNIT_CASE(a_refusal_after_an_acceptance),
	KUNIT_CASE(answered_later),
	KUNIT_CASE(an_mra_gives_time),
	KUNIT_CASE(an_mra_and_no_answer),
	KUNIT_CASE(lost_messages_are_resent),
	KUNIT_CASE(nobody_answers),
	KUNIT_CASE(a_late_apr),
	KUNIT_CASE(copies_of_a_lap),
	KUNIT_CASE(the_same_lap_after_a_migration),
	KUNIT_CASE(a_second_lap_waits),
	KUNIT_CASE(migrations_between_laps),
	KUNIT_CASE(a_migration_while_a_lap_is_to_be_answered),
	{}
};

static struct kunit_suite ibcm_lap_suite = {
	.name = "ib_cm_lap",
	.init = lap_test_init,
	.exit = lap_test_exit,
	.test_cases = lap_cases,
};

kunit_test_suite(ibcm_lap_suite);
