// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Malformed MADs with one fault each. */
#include "mad/agent/outcome.h"

static int malformed_test_init(struct kunit *test)
{
	return outcome_up(false);
}

static void malformed_test_exit(struct kunit *test)
{
	outcome_down();
}

/* Expects that @mad is counted as @outcome, and by no other counter. */
static void expect(struct kunit *test, const union outcome_mad *mad, u32 qpn, u32 len,
		   enum ibmad_counter outcome)
{
	u64 received = outcome_counter(IBMAD_RECEIVED), all = outcome_sum();
	u64 before = outcome_counter(outcome);
	int arrived = atomic_read(&outcome_single);
	bool well = outcome != IBMAD_RECV_MALFORMED;

	outcome_inject(mad, qpn, qpn, len);
	KUNIT_ASSERT_TRUE(test, outcome_quiesce());
	KUNIT_EXPECT_EQ_MSG(test, outcome_counter(outcome), before + 1,
			    "class %#x, %u bytes, method %#x", mad->hdr.mgmt_class,
			    len, mad->hdr.method);
	KUNIT_EXPECT_EQ(test, outcome_sum(), all + well);
	KUNIT_EXPECT_EQ(test, outcome_counter(IBMAD_RECEIVED), received + well);
	KUNIT_EXPECT_TRUE(test, mad_wait(&outcome_single, arrived +
					 (outcome == IBMAD_RECV_DELIVERED)));
}

static void truncated(struct kunit *test)
{
	/*
	 * QP1 accepts a length that is too short by a GRH, which the provider
	 * may not have counted; see recv_mad_len().
	 */
	u32 grh = outcome_hca->quirks.byte_len_without_grh ? 0 : sizeof(struct ib_grh);
	union outcome_mad mad;
	unsigned int i;
	u32 len, least;

	for (i = 0; i < OUTCOME_AGENTS; i++) {
		outcome_request(&mad, i);
		least = IB_MGMT_MAD_SIZE - outcome_qpn(i) * grh;
		for (len = 0; len < IB_MGMT_MAD_SIZE; len += len < 48 ? 1 : 13)
			expect(test, &mad, outcome_qpn(i), len,
			       len < least ? IBMAD_RECV_MALFORMED :
					     IBMAD_RECV_DELIVERED);
		expect(test, &mad, outcome_qpn(i), IB_MGMT_MAD_SIZE,
		       IBMAD_RECV_DELIVERED);
	}
}

/* An OPA MAD may be short, but not shorter than the headers of its class. */
static void truncated_opa(struct kunit *test)
{
	static const u32 least[] = {
		[PLAIN] = IB_MGMT_MAD_HDR, [SA] = IB_MGMT_RMPP_HDR,
		[RMPP] = IB_MGMT_VENDOR_HDR, [USER_RMPP] = IB_MGMT_VENDOR_HDR,
		[SMP] = offsetof(struct opa_smp, route),
	};
	union outcome_mad mad;
	unsigned int i;
	u32 len;

	outcome_down();
	KUNIT_ASSERT_EQ(test, outcome_up(true), 0);
	for (i = 0; i < OUTCOME_AGENTS; i++) {
		outcome_request(&mad, i);
		expect(test, &mad, outcome_qpn(i), IB_MGMT_MAD_SIZE - 8,
		       IBMAD_RECV_MALFORMED);
		expect(test, &mad, outcome_qpn(i), IB_MGMT_MAD_SIZE + 8,
		       IBMAD_RECV_MALFORMED);
		mad.hdr.base_version = OPA_MGMT_BASE_VERSION;
		for (len = 0; len < least[i]; len++)
			expect(test, &mad, outcome_qpn(i), len, IBMAD_RECV_MALFORMED);
		for (; len <= OPA_MGMT_MAD_SIZE; len += len < 300 ? 13 : 97)
			expect(test, &mad, outcome_qpn(i), len, IBMAD_RECV_DELIVERED);
		expect(test, &mad, outcome_qpn(i), OPA_MGMT_MAD_SIZE,
		       IBMAD_RECV_DELIVERED);
	}
	/* The directed route of this MAD is invalid. */
	mad.hdr.mgmt_class = IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
	for (len = 0; len < offsetof(struct opa_smp, route.dr.data); len++)
		expect(test, &mad, 0, len, IBMAD_RECV_MALFORMED);
	for (; len <= OPA_MGMT_MAD_SIZE; len += len < 300 ? 13 : 97)
		expect(test, &mad, 0, len, IBMAD_RECV_SMI_DROPPED);
}

static void wrong_versions(struct kunit *test)
{
	union outcome_mad mad;
	unsigned int i, v;

	for (i = 0; i < OUTCOME_AGENTS; i++) {
		for (v = 0; v < 256; v += v < 4 ? 1 : 31) {
			outcome_request(&mad, i);
			mad.hdr.class_version = v;
			expect(test, &mad, outcome_qpn(i), IB_MGMT_MAD_SIZE,
			       v == outcome_kinds[i].version ? IBMAD_RECV_DELIVERED :
						       IBMAD_RECV_NO_AGENT);
			outcome_request(&mad, i);
			mad.hdr.base_version = v;
			expect(test, &mad, outcome_qpn(i), IB_MGMT_MAD_SIZE,
			       v == IB_MGMT_BASE_VERSION ? IBMAD_RECV_DELIVERED :
							   IBMAD_RECV_MALFORMED);
		}
		outcome_request(&mad, i);
		mad.hdr.base_version = OPA_MGMT_BASE_VERSION;
		expect(test, &mad, outcome_qpn(i), IB_MGMT_MAD_SIZE, IBMAD_RECV_MALFORMED);
	}
}

/* Only QP0 accepts SMPs, and it accepts nothing else, whatever agents registered. */
static void the_wrong_qp(struct kunit *test)
{
	union outcome_mad mad;
	unsigned int class;

	for (class = 0; class < 256; class++) {
		outcome_request(&mad, PLAIN);
		mad.hdr.mgmt_class = class;
		expect(test, &mad, outcome_is_smp(class), IB_MGMT_MAD_SIZE,
		       IBMAD_RECV_MALFORMED);
	}
	/* and SMPs must be sent by a QP0 */
	outcome_request(&mad, SMP);
	outcome_inject(&mad, 0, 1, IB_MGMT_MAD_SIZE);
	KUNIT_EXPECT_TRUE(test, outcome_quiesce());
	KUNIT_EXPECT_EQ(test, outcome_counter(IBMAD_RECV_MALFORMED), 256 + 1);
}

static void wrong_classes(struct kunit *test)
{
	union outcome_mad mad;
	unsigned int i, m;

	for (i = PLAIN; i <= USER_RMPP; i++) {
		outcome_request(&mad, i);
		mad.hdr.mgmt_class ^= 1;
		expect(test, &mad, 1, IB_MGMT_MAD_SIZE, IBMAD_RECV_NO_AGENT);
		for (m = 0; m < 128; m++) {
			outcome_request(&mad, i);
			mad.hdr.method = m;
			if (m == IB_MGMT_METHOD_TRAP_REPRESS)
				expect(test, &mad, 1, IB_MGMT_MAD_SIZE,
				       IBMAD_RECV_UNMATCHED);
			else if (!memchr(outcome_methods, m, sizeof(outcome_methods)))
				expect(test, &mad, 1, IB_MGMT_MAD_SIZE,
				       IBMAD_RECV_NO_AGENT);
		}
	}
}

static void vendors_without_their_oui(struct kunit *test)
{
	static const u8 ouis[][3] = {
		{ 0, 0, 0 }, { 0, 0x14, 4 }, { 5, 0x14, 0 }, { 0xff, 0xff, 0xff },
	};
	union outcome_mad mad;
	int i;

	for (i = 0; i < ARRAY_SIZE(ouis); i++) {
		outcome_request(&mad, RMPP);
		memcpy(mad.vendor.oui, ouis[i], 3);
		expect(test, &mad, 1, IB_MGMT_MAD_SIZE, IBMAD_RECV_NO_AGENT);
		outcome_segment(&mad, RMPP, 1, IB_MGMT_RMPP_FLAG_FIRST);
		memcpy(mad.vendor.oui, ouis[i], 3);
		expect(test, &mad, 1, IB_MGMT_MAD_SIZE, IBMAD_RECV_NO_AGENT);
	}
}

/* The upper half of the TID is that of an agent or of none; no request has this TID. */
static void unknown_tids(struct kunit *test)
{
	union outcome_mad mad;
	unsigned int i, hi;

	for (i = 0; i < OUTCOME_AGENTS; i++) {
		for (hi = 0; hi < 40; hi++) {
			outcome_request(&mad, i);
			mad.hdr.method = IB_MGMT_METHOD_GET_RESP;
			mad.hdr.tid = cpu_to_be64((u64)(outcome_agents[i]->hi_tid +
						     hi - 20) << 32 | hi);
			expect(test, &mad, outcome_qpn(i), IB_MGMT_MAD_SIZE,
			       IBMAD_RECV_UNMATCHED);
		}
	}
}

/* MADs of each RMPP type, of a transfer that does not exist. */
static void segments_of_no_transfer(struct kunit *test)
{
	static const u32 segs[] = { 0, 2, 64, 65, 1 << 15, 1U << 31, U32_MAX };
	union outcome_mad mad;
	unsigned int i, type, k;

	for (i = SA; i <= RMPP; i++) {
		for (type = 0; type < 256; type += type < 6 ? 1 : 41) {
			for (k = 0; k < ARRAY_SIZE(segs); k++) {
				outcome_segment(&mad, i, segs[k], 0);
				mad.rmpp.rmpp_hdr.rmpp_type = type;
				expect(test, &mad, 1, IB_MGMT_MAD_SIZE,
				       IBMAD_RMPP_DROPPED);
			}
		}
		/* also a response, with the TID of an agent that expects none */
		outcome_segment(&mad, i, 1, IB_MGMT_RMPP_FLAG_FIRST);
		mad.hdr.method |= IB_MGMT_METHOD_RESP;
		mad.hdr.tid = cpu_to_be64((u64)outcome_agents[i]->hi_tid << 32);
		expect(test, &mad, 1, IB_MGMT_MAD_SIZE, IBMAD_RMPP_DROPPED);
		KUNIT_EXPECT_EQ(test, to_agent(outcome_agents[i])->rmpp.nr, 0u);
	}
}

/* MADs that the adapter itself processes are not passed to agents. */
static void to_the_provider(struct kunit *test)
{
	union outcome_mad mad;

	outcome_request(&mad, PLAIN);
	mad.hdr.mgmt_class = IB_MGMT_CLASS_PERF_MGMT;
	expect(test, &mad, 1, IB_MGMT_MAD_SIZE, IBMAD_RECV_PROVIDER);
	mad.hdr.method = IB_MGMT_METHOD_SET;
	expect(test, &mad, 1, IB_MGMT_MAD_SIZE, IBMAD_RECV_PROVIDER);
	KUNIT_EXPECT_EQ(test, outcome_counter(IBMAD_RECV_REPLIED), 1);
}

static void sleep_long(struct fake_hca *hca)
{
	msleep(5000);
}

/* A slow search for the path to a sender delays only replies to that sender. */
static void unknown_senders(struct kunit *test)
{
	unsigned long start = jiffies;
	union outcome_mad mad;
	int i;

	outcome_hca->on_create_ah = sleep_long;
	outcome_request(&mad, PLAIN);
	mad.hdr.class_version = 2;
	for (i = 0; i < IBMAD_MAX_REPLIES + 6; i++)
		outcome_inject(&mad, 1, 1, IB_MGMT_MAD_SIZE);
	KUNIT_EXPECT_TRUE(test, outcome_quiesce());
	outcome_request(&mad, PLAIN);
	expect(test, &mad, 1, IB_MGMT_MAD_SIZE, IBMAD_RECV_DELIVERED);
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, start + HZ));
	KUNIT_EXPECT_EQ(test, outcome_counter(IBMAD_RECV_REPLIED), 0);
	msleep(6000);
	KUNIT_EXPECT_EQ(test, outcome_counter(IBMAD_RECV_REPLIED), IBMAD_MAX_REPLIES);
	/* The adapter is removed while it looks for the path of another reply. */
	mad.hdr.class_version = 2;
	outcome_inject(&mad, 1, 1, IB_MGMT_MAD_SIZE);
	KUNIT_EXPECT_TRUE(test, outcome_quiesce());
}

static struct kunit_case malformed_cases[] = {
	KUNIT_CASE_SLOW(truncated),
	KUNIT_CASE_SLOW(truncated_opa),
	KUNIT_CASE_SLOW(wrong_versions),
	KUNIT_CASE_SLOW(the_wrong_qp),
	KUNIT_CASE_SLOW(wrong_classes),
	KUNIT_CASE(vendors_without_their_oui),
	KUNIT_CASE_SLOW(unknown_tids),
	KUNIT_CASE_SLOW(segments_of_no_transfer),
	KUNIT_CASE(to_the_provider),
	KUNIT_CASE_SLOW(unknown_senders),
	{}
};

static struct kunit_suite ibmad_malformed_suite = {
	.name = "ib_mad_malformed",
	.init = malformed_test_init,
	.exit = malformed_test_exit,
	.test_cases = malformed_cases,
};

kunit_test_suite(ibmad_malformed_suite);
