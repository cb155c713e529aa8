// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* MADs with random errors: one counter has each, and none leaves anything behind. */
#include <linux/prandom.h>
#include "mad/agent/outcome.h"

#define RANDOM_MADS	100000
#define BATCH		64		/* less than the receive queue */
#define FORGOTTEN_MS	60000		/* more than the time that a reassembly is kept */

static atomic_t posted;

static int random_test_init(struct kunit *test)
{
	atomic_set(&posted, 0);
	return outcome_up(false);
}

static void random_test_exit(struct kunit *test)
{
	outcome_down();
}

static struct rnd_state rnd;

static u32 below(u32 n)
{
	return prandom_u32_state(&rnd) % n;
}

static u32 edge(void)
{
	static const u32 edges[] = {
		0, 1, 2, 63, 64, 65, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
	};

	return below(2) ? below(8) : edges[below(ARRAY_SIZE(edges))];
}

static void ask(void)
{
	unsigned int i = below(USER_RMPP);
	int hdr_len = ib_get_mad_data_offset(outcome_kinds[i].mgmt_class);
	bool rmpp = i != PLAIN && below(2);
	struct ib_mad_send_buf *buf;
	static u32 serial;
	union outcome_mad mad;

	buf = ib_create_send_mad(outcome_agents[i], 1, 0, rmpp, hdr_len, rmpp ? 2000 : 100,
				 GFP_KERNEL, IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf))
		return;
	outcome_request(&mad, i);
	mad.hdr.tid = cpu_to_be64((u64)outcome_agents[i]->hi_tid << 32 | ++serial);
	memcpy(buf->mad, &mad, IB_MGMT_MAD_HDR);
	if (i == RMPP || i == USER_RMPP)
		memcpy(buf->mad + IB_MGMT_RMPP_HDR, mad.raw + IB_MGMT_RMPP_HDR, 4);
	buf->ah = outcome_paths[i];
	buf->timeout_ms = 1 + below(200);
	buf->retries = below(2);
	if (ib_post_send_mad(buf, NULL))
		ib_free_send_mad(buf);
	else
		atomic_inc(&posted);
}

/* A valid MAD of a random kind. */
static void random_mad(union outcome_mad *mad)
{
	unsigned int i = below(OUTCOME_AGENTS);
	u32 seg = 1 + below(6);

	switch (below(5)) {
	case 0:
		outcome_request(mad, i);
		break;
	case 1:
		outcome_segment(mad, SA + below(3), seg,
				(seg == 1 ? IB_MGMT_RMPP_FLAG_FIRST : 0) |
				(seg == 6 ? IB_MGMT_RMPP_FLAG_LAST : 0));
		mad->hdr.tid = cpu_to_be64(below(40));
		break;
	case 2:
		outcome_request(mad, PLAIN);
		mad->hdr.mgmt_class = IB_MGMT_CLASS_PERF_MGMT;
		break;
	case 3:
		*mad = outcome_seen.mad[below(ARRAY_SIZE(outcome_seen.mad))];
		mad->hdr.method |= IB_MGMT_METHOD_RESP;
		break;
	default:
		*mad = outcome_seen.mad[below(ARRAY_SIZE(outcome_seen.mad))];
		mad->hdr.method ^= IB_MGMT_METHOD_RESP;
		mad->rmpp.rmpp_hdr.rmpp_type = IB_MGMT_RMPP_TYPE_ACK + below(3);
		mad->rmpp.rmpp_hdr.paylen_newwin = cpu_to_be32(edge());
	}
}

static void mutate(union outcome_mad *mad)
{
	int n;

	for (n = below(4); n; n--) {
		if (below(2))
			mad->raw[below(IB_MGMT_VENDOR_HDR)] ^= 1 << below(8);
		else
			((__be32 *)mad->raw)[6 + below(4)] = cpu_to_be32(edge());
	}
}

static void inject_random(void)
{
	union outcome_mad mad;
	u32 qpn;

	random_mad(&mad);
	mutate(&mad);
	/* Other agents, such as the SA client's, would get the response, and not count it. */
	if (!outcome_has_tid(mad.hdr.tid))
		mad.hdr.tid &= cpu_to_be64(U32_MAX);
	if (!below(50))
		ask();
	qpn = below(16) ? !outcome_is_smp(mad.hdr.mgmt_class) : below(2);
	outcome_inject(&mad, qpn, below(32) ? qpn : below(3),
		       below(64) ? IB_MGMT_MAD_SIZE : below(IB_MGMT_MAD_SIZE));
}

static void expect_nothing_left(struct kunit *test)
{
	int i;

	KUNIT_EXPECT_TRUE(test, mad_wait(&outcome_sent, atomic_read(&posted)));
	msleep(FORGOTTEN_MS);
	for (i = 0; i < OUTCOME_AGENTS; i++) {
		struct ibmad_agent *agent = to_agent(outcome_agents[i]);

		KUNIT_EXPECT_EQ(test, refcount_read(&agent->refs), 1u);
		KUNIT_EXPECT_TRUE(test, list_empty(&agent->sends));
		KUNIT_EXPECT_EQ(test, atomic_read(&agent->inbox_recvs), 0);
		KUNIT_EXPECT_EQ(test, agent->rmpp.nr, 0u);
		KUNIT_EXPECT_EQ(test, atomic_long_read(&agent->rmpp.bytes), 0);
	}
}

static void random_mads(struct kunit *test)
{
	union outcome_mad mad;
	int i, delivered;

	prandom_seed_state(&rnd, 4791);
	for (i = 1; i <= RANDOM_MADS; i++) {
		inject_random();
		if (i % BATCH == 0)
			KUNIT_ASSERT_TRUE(test, outcome_quiesce());
	}
	KUNIT_ASSERT_TRUE(test, outcome_quiesce());
	expect_nothing_left(test);
	delivered = atomic_read(&outcome_single);
	/* None was lost on the way, and each was counted once. */
	KUNIT_EXPECT_EQ(test, atomic_read(&outcome_hca->delivered), RANDOM_MADS);
	KUNIT_EXPECT_EQ(test, outcome_counter(IBMAD_RECEIVED), outcome_sum());
	KUNIT_EXPECT_EQ(test, outcome_counter(IBMAD_RECEIVED) +
			outcome_counter(IBMAD_RECV_MALFORMED), RANDOM_MADS);
	KUNIT_EXPECT_EQ(test, outcome_counter(IBMAD_RECV_DELIVERED),
			delivered);
	outcome_print(test);
	kunit_info(test, "%d transfers, %d requests", atomic_read(&outcome_whole),
		   atomic_read(&posted));
	/* The port works as before. */
	outcome_request(&mad, PLAIN);
	outcome_inject(&mad, 1, 1, IB_MGMT_MAD_SIZE);
	KUNIT_EXPECT_TRUE(test, mad_wait(&outcome_single, delivered + 1));
}

static struct kunit_case random_cases[] = {
	KUNIT_CASE_SLOW(random_mads),
	{}
};

static struct kunit_suite ibmad_random_suite = {
	.name = "ib_mad_random",
	.init = random_test_init,
	.exit = random_test_exit,
	.test_cases = random_cases,
};

kunit_test_suite(ibmad_random_suite);

