// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Matching responses by TID, class and sender, and the counters of the outcome. */
#include <linux/fs.h>
#include "mad/mad_test.h"

static struct mad_pair pair;

/* Each case decides what has a GRH, even if the provider requires one. */
static int match_test_init(struct kunit *test)
{
	struct fake_hca_quirks quirks = *fake_hca_quirks_default();
	int ret;

	quirks.grh_required = false;
	ret = mad_pair_init_quirks(test, &pair, IB_LINK_LAYER_INFINIBAND, &quirks);
	pair.server.answers = false;
	return ret;
}

static void match_test_exit(struct kunit *test)
{
	mad_pair_exit(&pair);
}

/* Injects a response from @slid; if @gid is set, with a GRH from there. */
static void answer_at(struct mad_side *at, u16 slid, const union ib_gid *gid,
		      u8 mgmt_class, __be64 tid)
{
	struct fake_hca_packet like = {
		.src_qpn = 1, .slid = slid, .grh = gid,
	};
	u8 data[IB_MGMT_MAD_SIZE] = {};
	struct ib_mad_hdr *hdr = (void *)data;

	hdr->base_version = IB_MGMT_BASE_VERSION;
	hdr->mgmt_class = mgmt_class;
	hdr->class_version = 1;
	hdr->method = IB_MGMT_METHOD_GET_RESP;
	hdr->tid = tid;
	if (gid)
		like.sgid = *gid;
	fake_hca_inject(at->hca, 1, &like, data, sizeof(data));
	mad_quiesce(&pair);
}

static void answer_from(u16 slid, const union ib_gid *gid, u8 mgmt_class, __be64 tid)
{
	answer_at(&pair.asker, slid, gid, mgmt_class, tid);
}

/* Posts a request through @ah and returns its TID. */
static __be64 ask(struct kunit *test, struct ib_ah *ah)
{
	struct ib_mad_send_buf *buf = mad_request(&pair.asker, 10000, 0);
	__be64 tid;

	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	buf->ah = ah;
	tid = ((struct ib_mad_hdr *)buf->mad)->tid;
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	mad_quiesce(&pair);
	return tid;
}

static void expect_answered(struct kunit *test, int n)
{
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, n));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.received), n);
}

static void an_answer_comes_from_where_the_request_went(struct kunit *test)
{
	u16 lid = pair.server.hca->port[1].lid;
	__be64 tid = ask(test, pair.asker.ah);

	answer_from(lid + 1, NULL, TEST_CLASS, tid);
	answer_from(lid, NULL, TEST_CLASS + 1, tid);
	answer_from(lid, NULL, TEST_CLASS, tid ^ cpu_to_be64(0x100));
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.received), 0);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.asker.agent, IBMAD_RECV_UNMATCHED), 3);
	answer_from(lid, NULL, TEST_CLASS, tid);
	expect_answered(test, 1);
}

/* A port with several LIDs may respond from its base LID to a request for any of them. */
static void an_answer_from_the_base_lid(struct kunit *test)
{
	static const u16 bases[] = { 0x10c5, 0x10c4, 0x10c0, 0x1080 };
	static const u16 others[] = { 0x10c6, 0x10c1, 0x10c8, 0x1040, 0x1000 };
	struct rdma_ah_attr attr = {
		.type = RDMA_AH_ATTR_TYPE_IB, .port_num = 1,
	};
	struct ib_ah *ah;
	__be64 tid;
	int i;

	rdma_ah_set_dlid(&attr, bases[0]);
	ah = rdma_create_ah(pair.asker.agent->qp->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ah));
	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		tid = ask(test, ah);
		answer_from(bases[i], NULL, TEST_CLASS, tid);
		expect_answered(test, i + 1);
	}
	tid = ask(test, ah);
	for (i = 0; i < ARRAY_SIZE(others); i++)
		answer_from(others[i], NULL, TEST_CLASS, tid);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.received), ARRAY_SIZE(bases));
	answer_from(bases[0], NULL, TEST_CLASS, tid);
	expect_answered(test, ARRAY_SIZE(bases) + 1);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
}

/* No port has LID 0, though a low LID may differ from it in LMC bits only. */
static void an_answer_without_a_lid(struct kunit *test)
{
	struct rdma_ah_attr attr = {
		.type = RDMA_AH_ATTR_TYPE_IB, .port_num = 1,
	};
	struct ib_ah *ah;
	__be64 tid;

	rdma_ah_set_dlid(&attr, 0x45);
	ah = rdma_create_ah(pair.asker.agent->qp->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ah));
	tid = ask(test, ah);
	answer_from(0, NULL, TEST_CLASS, tid);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.received), 0);
	answer_from(0x44, NULL, TEST_CLASS, tid);
	expect_answered(test, 1);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
}

/* An agent receives from its own port only, even MADs with its TID. */
static void an_answer_at_another_port(struct kunit *test)
{
	u16 lid = pair.server.hca->port[1].lid;
	__be64 tid = ask(test, pair.asker.ah);

	answer_at(&pair.server, lid, NULL, TEST_CLASS, tid);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.received), 0);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.server.agent, IBMAD_RECV_UNMATCHED), 1);
	answer_from(lid, NULL, TEST_CLASS, tid);
	expect_answered(test, 1);
}

/* If the request had a GRH, the response must have one, and its GID must match. */
static void an_answer_to_a_request_with_a_grh(struct kunit *test)
{
	const union ib_gid *gid = &pair.server.hca->port[1].gids[0];
	u16 lid = pair.server.hca->port[1].lid;
	struct rdma_ah_attr attr = {
		.type = RDMA_AH_ATTR_TYPE_IB, .port_num = 1,
	};
	union ib_gid other = *gid;
	struct ib_ah *ah;
	__be64 tid;

	other.raw[15] ^= 1;
	rdma_ah_set_dlid(&attr, lid);
	rdma_ah_set_grh(&attr, (union ib_gid *)gid, 0, 0, 64, 0);
	ah = rdma_create_ah(pair.asker.agent->qp->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ah));
	tid = ask(test, ah);
	answer_from(lid, NULL, TEST_CLASS, tid);
	answer_from(lid, &other, TEST_CLASS, tid);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.received), 0);
	answer_from(lid, gid, TEST_CLASS, tid);
	expect_answered(test, 1);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
}

/* No port has the SA's well-known GUID: a port that is asked there has another GID. */
static void an_answer_of_whoever_has_the_well_known_guid(struct kunit *test)
{
	const union ib_gid *gid = &pair.server.hca->port[1].gids[0];
	u16 lid = pair.server.hca->port[1].lid;
	struct rdma_ah_attr attr = {
		.type = RDMA_AH_ATTR_TYPE_IB, .port_num = 1,
	};
	union ib_gid dgid = *gid;
	struct ib_ah *ah;
	__be64 tid;

	dgid.global.interface_id = cpu_to_be64(IB_SA_WELL_KNOWN_GUID);
	rdma_ah_set_dlid(&attr, lid);
	rdma_ah_set_grh(&attr, &dgid, 0, 0, 64, 0);
	ah = rdma_create_ah(pair.asker.agent->qp->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ah));
	tid = ask(test, ah);
	answer_from(lid + 1, gid, TEST_CLASS, tid);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.received), 0);
	answer_from(lid, gid, TEST_CLASS, tid);
	expect_answered(test, 1);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
}

/* QP0 and QP1 come up even if the P_Key table lacks the default P_Key. */
static void a_port_without_the_default_pkey(struct kunit *test)
{
	const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
	};
	struct fake_hca *hca = fake_hca_alloc(&params);

	KUNIT_ASSERT_NOT_NULL(test, hca);
	hca->port[1].pkeys[0] = 0x8123;
	KUNIT_EXPECT_EQ(test, fake_hca_register(hca), 0);
	KUNIT_EXPECT_NOT_NULL(test, hca->special[1][0]);
	KUNIT_EXPECT_NOT_NULL(test, hca->special[1][1]);
	fake_hca_destroy(hca);
}

static long read_counter(struct fake_hca *hca, const char *name)
{
	char path[96], text[32] = {};
	struct file *file;
	long value = -1;
	loff_t at = 0;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/mad/%s",
		 dev_name(&hca->ibdev.dev), name);
	file = filp_open(path, O_RDONLY, 0);
	if (IS_ERR(file))
		return PTR_ERR(file);
	if (kernel_read(file, text, sizeof(text) - 1, &at) <= 0 ||
	    kstrtol(strim(text), 10, &value))
		value = -1;
	filp_close(file, NULL);
	return value;
}

static void counters_in_sysfs(struct kunit *test)
{
	pair.server.answers = true;
	KUNIT_EXPECT_EQ(test, read_counter(pair.asker.hca, "sent"), 0);
	ask(test, pair.asker.ah);
	ask(test, pair.asker.ah);
	expect_answered(test, 2);
	KUNIT_EXPECT_EQ(test, read_counter(pair.asker.hca, "sent"), 2);
	KUNIT_EXPECT_EQ(test, read_counter(pair.asker.hca, "received"), 2);
	KUNIT_EXPECT_EQ(test, read_counter(pair.asker.hca, "timeouts"), 0);
	pair.drop_requests = -1;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 50, 3), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 3));
	KUNIT_EXPECT_EQ(test, read_counter(pair.asker.hca, "timeouts"), 1);
	KUNIT_EXPECT_EQ(test, read_counter(pair.asker.hca, "retries"), 3);
	KUNIT_EXPECT_EQ(test, read_counter(pair.asker.hca, "rmpp_dropped"), 0);
	KUNIT_EXPECT_EQ(test, read_counter(pair.asker.hca, "no_such_counter"), -ENOENT);
}

static struct kunit_case match_cases[] = {
	KUNIT_CASE(an_answer_comes_from_where_the_request_went),
	KUNIT_CASE(an_answer_from_the_base_lid),
	KUNIT_CASE(an_answer_without_a_lid),
	KUNIT_CASE(an_answer_at_another_port),
	KUNIT_CASE(an_answer_to_a_request_with_a_grh),
	KUNIT_CASE(an_answer_of_whoever_has_the_well_known_guid),
	KUNIT_CASE(a_port_without_the_default_pkey),
	KUNIT_CASE(counters_in_sysfs),
	{}
};

static struct kunit_suite ibmad_match_suite = {
	.name = "ib_mad_match",
	.init = match_test_init,
	.exit = match_test_exit,
	.test_cases = match_cases,
};

kunit_test_suite(ibmad_match_suite);
