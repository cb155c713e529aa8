// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the operator is told in debugfs: counters of a port, and what ids wait for. */
#include <ibex/cm.h>
#include "cm_test.h"
#include "seq_text.h"
#include "wait.h"

#define TEXT_SIZE	SZ_16K

static struct cm_pair pair;
static char *text;

static int report_test_init(struct kunit *test)
{
	text = kunit_kzalloc(test, TEXT_SIZE, GFP_KERNEL);
	return text ? cm_pair_init(test, &pair) : -ENOMEM;
}

static void report_test_exit(struct kunit *test)
{
	cm_pair_exit(&pair);
}

static int read_file(const char *name, unsigned int piece)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/kernel/debug/ib_cm/%s", name);
	return seq_text(path, text, TEXT_SIZE, piece);
}

static int read_port(struct cm_side *side)
{
	char name[IB_DEVICE_NAME_MAX + 4];

	snprintf(name, sizeof(name), "%s-1", dev_name(&side->hca->ibdev.dev));
	return read_file(name, TEXT_SIZE);
}

static void expect_line(struct kunit *test, const char *line)
{
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(text, line), "no \"%s\" in %s", line, text);
}

static void connections_are_counted_by_how_they_came(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];

	cm_connect(test, &pair);
	KUNIT_EXPECT_EQ(test, ib_cm_notify(pair.server.id, IB_EVENT_COMM_EST), -EISCONN);
	cm_mad(&pair.client, &pair.server, IBCM_APR, mad);
	cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
	cm_mad(&pair.client, &pair.server, IBCM_RTU, mad);
	cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
	IBA_SET(CM_RTU_REMOTE_COMM_ID, (struct cm_rtu_msg *)mad, 0x1234567);
	cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
	((struct ib_mad_hdr *)mad)->attr_id =
		cpu_to_be16(be16_to_cpu(CM_REQ_ATTR_ID) + IBCM_KINDS);
	cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
	cm_quiesce(&pair);
	KUNIT_ASSERT_EQ(test, read_port(&pair.server), 0);
	expect_line(test, "established_by_rtu 1\n");
	expect_line(test, "established_by_comm_est 0\n");
	expect_line(test, "comm_est_events 1\n");
	expect_line(test, "rtu_received 2\n");
	expect_line(test, "rtu_after_established 1\n");
	expect_line(test, "rx_unexpected 1\n");
	expect_line(test, "rx_unknown_id 1\n");
	expect_line(test, "rx_malformed 1\n");
	expect_line(test, "rx_overflow 0\n");
}

static void requests_without_an_answer_are_counted(struct kunit *test)
{
	pair.client.drop[IBCM_REQ] = -1;
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "q"));
	KUNIT_ASSERT_EQ(test, read_port(&pair.client), 0);
	expect_line(test, "unanswered_req 1\n");
	expect_line(test, "unanswered_rep 0\n");
	expect_line(test, "send_error 0\n");
}

static void a_dreq_without_an_answer_is_counted(struct kunit *test)
{
	cm_connect(test, &pair);
	pair.client.drop[IBCM_DREQ] = -1;
	/* The id is gone before its DREQ is given up. */
	cm_drop_id(&pair.client);
	KUNIT_EXPECT_TRUE(test, wait_within(!read_port(&pair.client) &&
					    strstr(text, "unanswered_dreq 1\n"), 20000));
}

static void rejections_are_counted_by_reason(struct kunit *test)
{
	/* Nobody listens. */
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "J"));
	cm_forget(&pair.client);
	cm_drop_id(&pair.client);
	pair.server.on_req = CM_REJECT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "J"));
	KUNIT_ASSERT_EQ(test, read_port(&pair.client), 0);
	expect_line(test, "rej_received_8 1 (invalid service ID)\n");
	expect_line(test, "rej_received_3 1 (no resources)\n");
	KUNIT_EXPECT_NULL(test, strstr(text, "rej_sent"));
	KUNIT_ASSERT_EQ(test, read_port(&pair.server), 0);
	expect_line(test, "rej_sent_8 1 (invalid service ID)\n");
	expect_line(test, "rej_sent_3 1 (no resources)\n");
	KUNIT_EXPECT_NULL(test, strstr(text, "rej_received"));
}

/* A reason of 16 bits from the wire. */
static void an_unknown_reason_is_counted(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];

	KUNIT_ASSERT_EQ(test, cm_go_to(&pair, REQ_SEEN), 0);
	cm_mad(&pair.server, &pair.client, IBCM_REJ, mad);
	IBA_SET(CM_REJ_REASON, (struct cm_rej_msg *)mad, 0xffff);
	cm_inject(&pair.server, &pair.client, mad, sizeof(mad));
	cm_quiesce(&pair);
	KUNIT_ASSERT_EQ(test, read_port(&pair.client), 0);
	expect_line(test, "rej_received_0 1 (unrecognized reason)\n");
}

static const char *waits_for(struct cm_side *side)
{
	struct ibex_cm_wait wait = {};

	if (side->id)
		ibex_cm_query_wait(side->id, &wait);
	return wait.for_what ?: "-";
}

static void ids_wait_for_the_next_message(struct kunit *test)
{
	static const char *const want[CM_STAGES][2] = {
		[REQ_HELD]	= { "REP", "-" },
		[REQ_SEEN]	= { "REP", "consumer" },
		[MRA_OF_REQ]	= { "REP", "consumer" },
		[REP_HELD]	= { "REP", "RTU" },
		[REP_SEEN]	= { "consumer", "RTU" },
		[MRA_OF_REP]	= { "consumer", "RTU" },
		[RTU_HELD]	= { "-", "RTU" },
		[CONNECTED]	= { "-", "-" },
		[DREQ_HELD]	= { "DREP", "-" },
		[DREQ_SEEN]	= { "DREP", "consumer" },
		[DREP_HELD]	= { "DREP", "timewait" },
		[RELEASED]	= { "timewait", "timewait" },
	};
	int stage;

	for (stage = 0; stage < CM_STAGES; stage++) {
		KUNIT_ASSERT_EQ(test, cm_go_to(&pair, stage), 0);
		KUNIT_EXPECT_STREQ_MSG(test, waits_for(&pair.client), want[stage][0],
				       "client, stage %d", stage);
		KUNIT_EXPECT_STREQ_MSG(test, waits_for(&pair.server), want[stage][1],
				       "server, stage %d", stage);
		cm_pair_exit(&pair);
		KUNIT_ASSERT_EQ(test, cm_pair_init(test, &pair), 0);
	}
}

static void a_repeated_request_is_told(struct kunit *test)
{
	struct ibex_cm_wait wait;
	char line[160];

	pair.client.drop[IBCM_REQ] = -1;
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_EXPECT_TRUE(test, wait_within(atomic_read(&pair.client.wire[IBCM_REQ]) == 3,
					    1000));
	ibex_cm_query_wait(pair.client.id, &wait);
	KUNIT_EXPECT_STREQ(test, wait.state, "REQ_SENT");
	KUNIT_EXPECT_EQ(test, wait.resent, 2);
	KUNIT_EXPECT_GE(test, wait.waited_ms, 2 * CLIENT_TRY_MS);
	KUNIT_EXPECT_LE(test, wait.waited_ms, 1000);
	KUNIT_ASSERT_EQ(test, read_file("waiting", TEXT_SIZE), 0);
	expect_line(test, "device port peer local_id remote_id qpn state ");
	snprintf(line, sizeof(line), "%s 1 ", dev_name(&pair.client.hca->ibdev.dev));
	expect_line(test, line);
	snprintf(line, sizeof(line), " %u 0 %u REQ_SENT REP 2 ",
		 be32_to_cpu(pair.client.id->local_id), pair.client.qpn);
	expect_line(test, line);
}

static int lines(void)
{
	int n = 0;
	char *at;

	for (at = text; *at; at++)
		n += *at == '\n';
	return n;
}

#define MANY	200

/* Reading goes on behind the last id that was shown, also of many that do not wait. */
static void each_id_is_told_once(struct kunit *test)
{
	struct ib_cm_id **ids = kunit_kcalloc(test, MANY, sizeof(*ids), GFP_KERNEL);
	int i, before;
	char line[64];

	KUNIT_ASSERT_NOT_NULL(test, ids);
	KUNIT_ASSERT_EQ(test, read_file("waiting", TEXT_SIZE), 0);
	before = lines();
	for (i = 0; i < MANY; i++) {
		ids[i] = ib_create_cm_id(&pair.client.hca->ibdev, cm_handler, &pair.client);
		KUNIT_ASSERT_FALSE(test, IS_ERR(ids[i]));
		ids[i]->state = i % 4 ? IB_CM_IDLE : IB_CM_REP_RCVD;
	}
	KUNIT_EXPECT_EQ(test, read_file("waiting", 100), 0);
	KUNIT_EXPECT_EQ(test, lines(), before + MANY / 4);
	for (i = 0; i < MANY; i++) {
		snprintf(line, sizeof(line), "\n- - - %u 0 0 REP_RCVD consumer 0 0\n",
			 be32_to_cpu(ids[i]->local_id));
		KUNIT_EXPECT_EQ_MSG(test, !!strstr(text, line), i % 4 == 0, "id %d", i);
		ids[i]->state = IB_CM_IDLE;
		ib_destroy_cm_id(ids[i]);
	}
	KUNIT_ASSERT_EQ(test, read_file("waiting", TEXT_SIZE), 0);
	KUNIT_EXPECT_EQ(test, lines(), before);
}

/* Ids outlive their device: there is no path to show any more. */
static void ids_of_a_removed_device(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cm_go_to(&pair, REP_SEEN), 0);
	fake_hca_destroy(pair.client.hca);
	pair.client.hca = NULL;
	KUNIT_EXPECT_STREQ(test, waits_for(&pair.client), "consumer");
	KUNIT_ASSERT_EQ(test, read_file("waiting", TEXT_SIZE), 0);
	expect_line(test, "\n- - - ");
}

static struct kunit_case report_cases[] = {
	KUNIT_CASE(connections_are_counted_by_how_they_came),
	KUNIT_CASE(requests_without_an_answer_are_counted),
	KUNIT_CASE(a_dreq_without_an_answer_is_counted),
	KUNIT_CASE(rejections_are_counted_by_reason),
	KUNIT_CASE(an_unknown_reason_is_counted),
	KUNIT_CASE(ids_wait_for_the_next_message),
	KUNIT_CASE(a_repeated_request_is_told),
	KUNIT_CASE(each_id_is_told_once),
	KUNIT_CASE(ids_of_a_removed_device),
	{}
};

static struct kunit_suite ibcm_report_suite = {
	.name = "ibcm_report",
	.init = report_test_init,
	.exit = report_test_exit,
	.test_cases = report_cases,
};

kunit_test_suite(ibcm_report_suite);
