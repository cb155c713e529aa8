// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The backlog of a send queue: the order of its sends, and what they hold. */
#include "mad/mad_test.h"

static struct mad_pair pair;
static char wire[128];			/* what was sent: r a response, q a request */

static enum fake_hca_verdict sendq_verdict(struct fake_hca *hca,
					   struct fake_hca_packet *packet, void *arg)
{
	const struct ib_mad_hdr *hdr = (const void *)packet->data;
	size_t len = strlen(wire);

	if (hdr->mgmt_class == TEST_CLASS && len < sizeof(wire) - 1)
		wire[len] = ib_response_mad(hdr) ? 'r' : 'q';
	return FAKE_DROP;
}

static int sendq_test_init(struct kunit *test)
{
	int ret = mad_pair_init(test, &pair, IB_LINK_LAYER_INFINIBAND);

	if (!ret)
		pair.asker.hca->verdict = sendq_verdict;
	return ret;
}

static void sendq_test_exit(struct kunit *test)
{
	mad_pair_exit(&pair);
}

static void post(struct kunit *test, int n, u8 method)
{
	struct ib_mad_send_buf *buf;

	while (n--) {
		buf = mad_request(&pair.asker, 0, 0);
		KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
		((struct ib_mad_hdr *)buf->mad)->method = method;
		KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	}
}

static char *put(char *at, int n, char c)
{
	memset(at, c, n);
	return at + n;
}

/*
 * A request waits for a limited number of responses, and
 * responses wait for one request at a time.
 */
static void responses_go_first_in_bursts(struct kunit *test)
{
	int responses = 2 * IBMAD_RESPONSE_BURST + 5;
	char expected[sizeof(wire)] = {}, *at = expected;

	pair.asker.hca->hold_send_completions = true;
	post(test, SEND_DEPTH, IB_MGMT_METHOD_GET);
	mad_quiesce(&pair);
	memset(wire, 0, sizeof(wire));
	post(test, 4, IB_MGMT_METHOD_GET);
	post(test, responses, IB_MGMT_METHOD_GET_RESP);
	fake_hca_release_completions(pair.asker.hca);
	KUNIT_ASSERT_TRUE(test, mad_wait(&pair.asker.sent, SEND_DEPTH + 4 + responses));
	mad_quiesce(&pair);
	at = put(at, IBMAD_RESPONSE_BURST, 'r');
	at = put(at, 1, 'q');
	at = put(at, IBMAD_RESPONSE_BURST, 'r');
	at = put(at, 1, 'q');
	at = put(at, 5, 'r');
	put(at, 2, 'q');
	KUNIT_EXPECT_STREQ(test, wire, expected);
}

static void queue_state(struct ibmad_qp *mqp, enum ibmad_qp_state state)
{
	spin_lock_irq(&mqp->send_lock);
	mqp->state = state;
	spin_unlock_irq(&mqp->send_lock);
}

/* The buffer is mapped before any lock is taken, and unmapped before completion. */
static void a_send_is_mapped_before_it_waits(struct kunit *test)
{
	struct ibmad_qp *mqp = to_agent(pair.asker.agent)->mqp;
	struct ib_mad_send_buf *buf = mad_request(&pair.asker, 1000, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	pair.asker.keep_sends = true;
	queue_state(mqp, IBMAD_QP_HELD);
	KUNIT_EXPECT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	KUNIT_EXPECT_EQ(test, to_send(buf)->place, IBMAD_IN_LANE);
	KUNIT_EXPECT_TRUE(test, to_send(buf)->mapped);
	KUNIT_EXPECT_EQ(test, ib_modify_mad(buf, 0), 0);
	queue_state(mqp, IBMAD_QP_LIVE);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	KUNIT_EXPECT_FALSE(test, to_send(buf)->mapped);
	ib_free_send_mad(buf);
}

static struct kunit_case sendq_cases[] = {
	KUNIT_CASE(responses_go_first_in_bursts),
	KUNIT_CASE(a_send_is_mapped_before_it_waits),
	{}
};

static struct kunit_suite ibmad_sendq_suite = {
	.name = "ib_mad_sendq",
	.init = sendq_test_init,
	.exit = sendq_test_exit,
	.test_cases = sendq_cases,
};

kunit_test_suite(ibmad_sendq_suite);
