// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Path queries that the local service gets before they are sent. */
#include "faults.h"
#include "fake_sa.h"
#include "ls_daemon.h"
#include "wait.h"

#define HEADER		NLMSG_ALIGN(sizeof(struct rdma_ls_resolve_header))
#define MASK_USUAL	(IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_SGID | \
			 IB_SA_PATH_REC_PKEY | IB_SA_PATH_REC_NUMB_PATH)
#define MASK_BOTH_WAYS	(MASK_USUAL | IB_SA_PATH_REC_REVERSIBLE)
#define MASK_CM		(MASK_BOTH_WAYS | IB_SA_PATH_REC_SERVICE_ID | \
			 IB_SA_PATH_REC_QOS_CLASS | IB_SA_PATH_REC_TRAFFIC_CLASS)
/* The flags ibacm sets for a path that suits every use. */
#define BOTH_WAYS	(IB_PATH_PRIMARY | IB_PATH_GMP | IB_PATH_BIDIRECTIONAL)

static struct ls_daemon lsd;
static struct fake_sa *sa;
static struct fake_hca *hca;
static struct ib_sa_client client;

static struct {
	atomic_t calls;
	int status;
	unsigned long when;
	struct sa_path_rec path[4];
	unsigned int paths;
} got;

static int sa_ls_test_init(struct kunit *test)
{
	memset(&got, 0, sizeof(got));
	return lsd_open(&lsd) ?: lsd_set_timeout(&lsd, 2000) ?:
	       fake_sa_begin(&sa, &hca, &client);
}

static void sa_ls_test_exit(struct kunit *test)
{
	lsd_set_timeout(&lsd, 2000);
	lsd_close(&lsd);
	fake_sa_end(&sa, &hca);
}

static void path_cb(int status, struct sa_path_rec *path, unsigned int paths,
		    void *context)
{
	got.status = status;
	got.paths = paths;
	got.when = jiffies;
	if (path)
		memcpy(got.path, path, min(paths, 4U) * sizeof(*path));
	might_sleep();
	atomic_inc(&got.calls);
}

static const struct sa_path_rec wanted = {
	.rec_type = SA_PATH_REC_TYPE_IB,
	.service_id = cpu_to_be64(0x1122334455667788ULL),
	.dgid.raw = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8 },
	.sgid.raw = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 9, 10, 11, 12, 13, 14, 15, 16 },
	.traffic_class = 0x5a,
	.reversible = 1,
	.numb_path = 1,
	.pkey = cpu_to_be16(0x8001),
	.qos_class = cpu_to_be16(0xcba),
	.sl = 0x9,
};

static int ask_for(ib_sa_comp_mask mask, gfp_t gfp, struct ib_sa_query **query)
{
	struct sa_path_rec rec = wanted;

	return ib_sa_path_rec_get(&client, &hca->ibdev, 1, &rec, mask, 10000, gfp,
				  path_cb, NULL, query);
}

static int ask(struct ib_sa_query **query)
{
	return ask_for(MASK_CM, GFP_KERNEL, query);
}

/* The path that the daemon responds with. */
static struct sa_path_rec known(void)
{
	struct sa_path_rec rec = wanted;

	rec.ib.dlid = cpu_to_be16(0x4321);
	rec.ib.slid = cpu_to_be16(0x8765);
	rec.flow_label = cpu_to_be32(0xabcde);
	rec.hop_limit = 3;
	rec.mtu_selector = IB_SA_EQ;
	rec.mtu = IB_MTU_4096;
	rec.rate_selector = IB_SA_EQ;
	rec.rate = IB_RATE_40_GBPS;
	rec.packet_life_time_selector = IB_SA_EQ;
	rec.packet_life_time = 14;
	return rec;
}

static void put_path(struct sk_buff *skb, u32 flags, const struct sa_path_rec *path)
{
	struct ib_path_rec_data data = { .flags = flags };
	struct sa_path_rec rec = *path;

	ib_sa_pack_path(&rec, data.path_rec);
	nla_put(skb, LS_NLA_TYPE_PATH_RECORD, sizeof(data), &data);
}

static int answer(u32 flags, const struct sa_path_rec *path)
{
	struct sk_buff *skb = lsd_answer(&lsd, NLM_F_ACK);

	put_path(skb, flags, path);
	return lsd_send(&lsd, skb);
}

static int answer_well(void)
{
	struct sa_path_rec rec = known();

	return answer(BOTH_WAYS, &rec);
}

static void expect_idle(struct kunit *test)
{
	fake_sa_expect_idle(test, hca, &client);
}

/* Expects that the SA was queried as if there were no local service. */
static void expect_by_mad(struct kunit *test, int calls)
{
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, calls));
	KUNIT_EXPECT_EQ(test, got.status, 0);
	KUNIT_EXPECT_EQ(test, got.paths, 1u);
	KUNIT_EXPECT_EQ(test, got.path[0].flags, 0u);
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->requests), calls);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(sa->last.mad_hdr.attr_id), 0x35);
}

static void the_question_on_the_wire(struct kunit *test)
{
	const struct rdma_ls_resolve_header *header = nlmsg_data(lsd_msg(&lsd));
	char name[LS_DEVICE_NAME_MAX] = {};
	struct ib_sa_query *query;
	const struct nlattr *nla;

	KUNIT_ASSERT_GT(test, ask(&query), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	KUNIT_EXPECT_EQ(test, lsd_msg(&lsd)->nlmsg_type,
			RDMA_NL_GET_TYPE(RDMA_NL_LS, RDMA_NL_LS_OP_RESOLVE));
	strscpy(name, dev_name(&hca->ibdev.dev), sizeof(name));
	KUNIT_EXPECT_MEMEQ(test, header->device_name, name, sizeof(name));
	KUNIT_EXPECT_EQ(test, header->port_num, 1);
	KUNIT_EXPECT_EQ(test, header->path_use, LS_RESOLVE_PATH_USE_ALL);

	nla = lsd_attr(&lsd, HEADER, LS_NLA_TYPE_SERVICE_ID);
	KUNIT_ASSERT_TRUE(test, nla && nla_len(nla) == 8);
	KUNIT_EXPECT_EQ(test, nla_get_u64(nla), 0x1122334455667788ULL);
	nla = lsd_attr(&lsd, HEADER, LS_NLA_TYPE_DGID);
	KUNIT_ASSERT_TRUE(test, nla && nla_len(nla) == 16);
	KUNIT_EXPECT_MEMEQ(test, nla_data(nla), &wanted.dgid, 16);
	nla = lsd_attr(&lsd, HEADER, LS_NLA_TYPE_SGID);
	KUNIT_ASSERT_TRUE(test, nla && nla_len(nla) == 16);
	KUNIT_EXPECT_MEMEQ(test, nla_data(nla), &wanted.sgid, 16);
	nla = lsd_attr(&lsd, HEADER, LS_NLA_TYPE_TCLASS);
	KUNIT_ASSERT_TRUE(test, nla && nla_len(nla) == 1);
	KUNIT_EXPECT_EQ(test, nla_get_u8(nla), 0x5a);
	nla = lsd_attr(&lsd, HEADER, LS_NLA_TYPE_PKEY);
	KUNIT_ASSERT_TRUE(test, nla && nla_len(nla) == 2);
	KUNIT_EXPECT_EQ(test, nla_get_u16(nla), 0x8001);
	/* In the layout of the SA: above the bits of the SL, which is not requested. */
	nla = lsd_attr(&lsd, HEADER, LS_NLA_TYPE_QOS_CLASS);
	KUNIT_ASSERT_TRUE(test, nla && nla_len(nla) == 2);
	KUNIT_EXPECT_EQ(test, nla_get_u16(nla), 0xcba0);
	KUNIT_EXPECT_EQ(test, lsd_msg(&lsd)->nlmsg_len,
			16 + 68 + 12 + 20 + 20 + 8 + 8 + 8);
	lsd_refuse(&lsd);
	expect_by_mad(test, 1);
}

static void what_is_asked_depends_on_the_mask(struct kunit *test)
{
	const struct rdma_ls_resolve_header *header = nlmsg_data(lsd_msg(&lsd));
	struct ib_sa_query *query;

	KUNIT_ASSERT_GT(test, ask_for(IB_SA_PATH_REC_DGID, GFP_KERNEL, &query), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	KUNIT_EXPECT_EQ(test, header->path_use, LS_RESOLVE_PATH_USE_UNIDIRECTIONAL);
	KUNIT_EXPECT_EQ(test, lsd_msg(&lsd)->nlmsg_len, 16 + 68 + 20);
	KUNIT_EXPECT_NOT_NULL(test, lsd_attr(&lsd, HEADER, LS_NLA_TYPE_DGID));
	lsd_refuse(&lsd);
	expect_by_mad(test, 1);
	KUNIT_ASSERT_GT(test, ask_for(MASK_BOTH_WAYS, GFP_KERNEL, &query), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	KUNIT_EXPECT_EQ(test, header->path_use, LS_RESOLVE_PATH_USE_GMP);
	lsd_refuse(&lsd);
	expect_by_mad(test, 2);
	/* A response has no MTU to compare with, so only the SA is queried. */
	KUNIT_ASSERT_GT(test, ask_for(MASK_CM | IB_SA_PATH_REC_MTU, GFP_KERNEL, &query), 0);
	expect_by_mad(test, 3);
	KUNIT_EXPECT_FALSE(test, lsd_receive(&lsd));
	expect_idle(test);
}

static void an_answer_ends_the_query_without_a_mad(struct kunit *test)
{
	struct sa_path_rec rec = known();
	struct ib_sa_query *query;
	unsigned long start = jiffies;
	struct sk_buff *skb;

	KUNIT_ASSERT_GT(test, ask(&query), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	skb = lsd_answer(&lsd, 0);
	put_path(skb, BOTH_WAYS, &rec);
	nlmsg_hdr(skb)->nlmsg_pid = 1234;
	/* ibacm's message has 16 + 4 + 72 bytes. */
	KUNIT_EXPECT_EQ(test, skb->len, 92u);
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, skb), LSD_NO_ACK);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 1));
	KUNIT_EXPECT_LE(test, took_ms(got.when - start), 50u);
	KUNIT_EXPECT_EQ(test, got.status, 0);
	KUNIT_ASSERT_EQ(test, got.paths, 1u);
	rec.flags = BOTH_WAYS;
	KUNIT_EXPECT_MEMEQ(test, &got.path[0], &rec, sizeof(rec));
	msleep(15000);
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->requests), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&got.calls), 1);
	expect_idle(test);
}

/* A caller of one path gets the one for every use first; alternate paths are dropped. */
static void several_paths_of_one_connection(struct kunit *test)
{
	const u32 in = IB_PATH_PRIMARY | IB_PATH_INBOUND;
	const u32 out = IB_PATH_PRIMARY | IB_PATH_OUTBOUND;
	const u32 gmp = IB_PATH_PRIMARY | IB_PATH_GMP;
	struct sa_path_rec rec = known(), back = known();
	struct ib_sa_query *query;
	struct sk_buff *skb;

	swap(back.dgid, back.sgid);
	KUNIT_ASSERT_GT(test, ask(&query), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	skb = lsd_answer(&lsd, NLM_F_ACK);
	rec.sl = 1;
	put_path(skb, in, &back);
	put_path(skb, IB_PATH_ALTERNATE | IB_PATH_GMP, &rec);
	put_path(skb, IB_PATH_PRIMARY | IB_PATH_INBOUND_REVERSE, &rec);
	rec.sl = 2;
	put_path(skb, out, &rec);
	rec.sl = 3;
	put_path(skb, gmp, &rec);
	rec.sl = 4;
	put_path(skb, gmp, &rec);
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, skb), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 1));
	KUNIT_ASSERT_EQ(test, got.paths, 3u);
	KUNIT_EXPECT_EQ(test, got.path[0].flags, gmp);
	KUNIT_EXPECT_EQ(test, got.path[0].sl, 3);
	KUNIT_EXPECT_EQ(test, got.path[1].flags, out);
	KUNIT_EXPECT_EQ(test, got.path[1].sl, 2);
	KUNIT_EXPECT_EQ(test, got.path[2].flags, in);
	KUNIT_EXPECT_MEMEQ(test, &got.path[2].dgid, &wanted.sgid, 16);
	expect_idle(test);
}

static void one_way_is_enough_for_datagrams(struct kunit *test)
{
	struct sa_path_rec rec = known();
	struct ib_sa_query *query;

	KUNIT_ASSERT_GT(test, ask_for(MASK_USUAL, GFP_KERNEL, &query), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	KUNIT_EXPECT_EQ(test, answer(IB_PATH_PRIMARY | IB_PATH_OUTBOUND, &rec), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 1));
	KUNIT_EXPECT_EQ(test, got.status, 0);
	KUNIT_EXPECT_EQ(test, got.paths, 1u);
	/* One direction is not enough if responses use the same path. */
	KUNIT_ASSERT_GT(test, ask_for(MASK_BOTH_WAYS, GFP_KERNEL, &query), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	KUNIT_EXPECT_EQ(test, answer(IB_PATH_PRIMARY | IB_PATH_OUTBOUND, &rec), -EINVAL);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 2));
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->requests), 1);
	expect_idle(test);
}

static void an_opa_path_is_answered_as_one(struct kunit *test)
{
	struct sa_path_rec rec = wanted, path = known();
	struct ib_sa_query *query;

	rec.rec_type = SA_PATH_REC_TYPE_OPA;
	KUNIT_ASSERT_GT(test, ib_sa_path_rec_get(&client, &hca->ibdev, 1, &rec, MASK_CM,
						 1000, GFP_KERNEL, path_cb, NULL,
						 &query), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	KUNIT_EXPECT_EQ(test, answer(BOTH_WAYS, &path), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 1));
	KUNIT_EXPECT_EQ(test, got.path[0].rec_type, SA_PATH_REC_TYPE_OPA);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(got.path[0].opa.dlid), 0x4321u);
	KUNIT_EXPECT_EQ(test, got.path[0].flags, BOTH_WAYS);
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->requests), 0);
}

static void refused_the_query_is_sent(struct kunit *test)
{
	struct ib_sa_query *query;
	unsigned long start = jiffies;

	KUNIT_ASSERT_GT(test, ask(&query), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	fake_sa_quiesce(hca);
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->requests), 0);
	KUNIT_EXPECT_EQ(test, lsd_refuse(&lsd), LSD_NO_ACK);
	expect_by_mad(test, 1);
	KUNIT_EXPECT_LE(test, took_ms(got.when - start), 300u);
	/* Errors of the SA are reported as usual. */
	sa->status = 0x0300;
	KUNIT_ASSERT_GT(test, ask(&query), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	lsd_refuse(&lsd);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 2));
	KUNIT_EXPECT_EQ(test, got.status, -EINVAL);
	expect_idle(test);
}

/* The caller's timeout is that of the SA query, which starts after that of the daemon. */
static void unanswered_the_query_is_sent(struct kunit *test)
{
	struct ib_sa_query *query;
	unsigned long start = jiffies;
	unsigned int took;

	KUNIT_ASSERT_GT(test, ask(&query), 0);
	expect_by_mad(test, 1);
	took = jiffies_to_msecs(got.when - start);
	KUNIT_EXPECT_GE(test, took, 2000u);
	KUNIT_EXPECT_LE(test, took / fake_hca_slow, 2200u);
	/* The response arrives too late. */
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	KUNIT_EXPECT_EQ(test, answer_well(), 0);
	expect_idle(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&got.calls), 1);

	sa->deaf = true;
	start = jiffies;
	KUNIT_ASSERT_GT(test, ask(&query), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 2));
	KUNIT_EXPECT_EQ(test, got.status, -ETIMEDOUT);
	KUNIT_EXPECT_GE(test, jiffies_to_msecs(got.when - start), 12000u);
	expect_idle(test);
}

static void malformed_answers_are_none(struct kunit *test)
{
	static const struct {
		u32 flags;
		int at;			/* which byte of the record is wrong, or -1 */
		int len;
	} bad[] = {
		{ BOTH_WAYS, 8, 72 },			/* DGID */
		{ BOTH_WAYS, 39, 72 },			/* SGID */
		{ BOTH_WAYS, 51, 72 },			/* P_Key */
		{ BOTH_WAYS, -1, 71 }, { BOTH_WAYS, -1, 73 }, { BOTH_WAYS, -1, 0 },
		{ BOTH_WAYS & ~IB_PATH_PRIMARY, -1, 72 },
		{ 0, -1, 72 }, { IB_PATH_PRIMARY, -1, 72 },
		{ IB_PATH_PRIMARY | IB_PATH_INBOUND, -1, 72 },
	};
	struct ib_path_rec_data data[2];
	struct sa_path_rec rec = known();
	struct ib_sa_query *query;
	struct sk_buff *skb;
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		KUNIT_ASSERT_GT(test, ask(&query), 0);
		KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
		memset(data, 0, sizeof(data));
		ib_sa_pack_path(&rec, data[0].path_rec);
		data[0].flags = bad[i].flags;
		if (bad[i].at >= 0)
			((u8 *)data[0].path_rec)[bad[i].at] ^= 0x10;
		skb = lsd_answer(&lsd, NLM_F_ACK);
		nla_put(skb, LS_NLA_TYPE_PATH_RECORD, bad[i].len, data);
		KUNIT_EXPECT_EQ_MSG(test, lsd_send(&lsd, skb), -EINVAL, "answer %d", i);
		expect_by_mad(test, i + 1);
	}
	/* A path without a destination. */
	rec.ib.dlid = 0;
	KUNIT_ASSERT_GT(test, ask(&query), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	KUNIT_EXPECT_EQ(test, answer(BOTH_WAYS, &rec), -EINVAL);
	expect_by_mad(test, ++i);
	/* A response without a path; one with an unknown mandatory attribute. */
	KUNIT_ASSERT_GT(test, ask(&query), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, lsd_answer(&lsd, NLM_F_ACK)), -EINVAL);
	expect_by_mad(test, ++i);
	rec = known();
	KUNIT_ASSERT_GT(test, ask(&query), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	skb = lsd_answer(&lsd, NLM_F_ACK);
	put_path(skb, BOTH_WAYS, &rec);
	nla_put_u32(skb, LS_NLA_TYPE_MAX | RDMA_NLA_F_MANDATORY, 1);
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, skb), -EOPNOTSUPP);
	expect_by_mad(test, ++i);
	expect_idle(test);
	/* An unknown attribute that is not mandatory is ignored. */
	KUNIT_ASSERT_GT(test, ask(&query), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	skb = lsd_answer(&lsd, NLM_F_ACK);
	nla_put_u32(skb, LS_NLA_TYPE_MAX, 1);
	put_path(skb, BOTH_WAYS, &rec);
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, skb), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, i + 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->requests), i);
}

static void cancelled_while_it_is_asked(struct kunit *test)
{
	struct ib_sa_query *query;
	int id = ask(&query);

	KUNIT_ASSERT_GT(test, id, 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	ib_sa_cancel_query(id, query);
	ib_sa_cancel_query(id, query);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 1));
	KUNIT_EXPECT_EQ(test, got.status, -EINTR);
	KUNIT_EXPECT_EQ(test, got.paths, 0u);
	KUNIT_EXPECT_EQ(test, answer_well(), 0);
	ib_sa_cancel_query(id, query);
	msleep(3000);
	expect_idle(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&got.calls), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->requests), 0);
}

static void cancelled_after_it_was_sent(struct kunit *test)
{
	struct ib_sa_query *query;
	int id;

	sa->hold = true;
	id = ask(&query);
	KUNIT_ASSERT_GT(test, id, 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	lsd_refuse(&lsd);
	KUNIT_ASSERT_TRUE(test, mad_wait(&sa->requests, 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&got.calls), 0);
	ib_sa_cancel_query(id, query);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 1));
	KUNIT_EXPECT_EQ(test, got.status, -EINTR);
	fake_sa_release(sa);
	expect_idle(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&got.calls), 1);
}

/* Cancelled between question and query: the query is not sent, or ends at once. */
static void cancelled_on_the_way(struct kunit *test)
{
	struct ib_sa_query *query;
	unsigned long start;
	int id, i;

	sa->deaf = true;
	for (i = 0; i < 40; i++) {
		id = ask(&query);
		KUNIT_ASSERT_GT(test, id, 0);
		KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
		start = jiffies;
		if (i & 1)
			lsd_refuse(&lsd);
		else
			answer_well();
		if (i & 2)
			usleep_range(i, i + 1);
		ib_sa_cancel_query(id, query);
		KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, i + 1));
		KUNIT_EXPECT_LE(test, took_ms(got.when - start), 500u);
		if (i & 1)
			KUNIT_EXPECT_EQ(test, got.status, -EINTR);
		else
			KUNIT_EXPECT_TRUE(test, !got.status || got.status == -EINTR);
	}
	expect_idle(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&got.calls), 40);
}

/* A question with a timeout of 200 seconds does not delay the removal of a device. */
static void the_device_goes_while_it_is_asked(struct kunit *test)
{
	struct ib_sa_query *query;
	unsigned long start;
	int i;

	KUNIT_ASSERT_EQ(test, lsd_set_timeout(&lsd, 200000), 0);
	sa->hold = true;
	KUNIT_ASSERT_GT(test, ask(&query), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	lsd_refuse(&lsd);
	KUNIT_ASSERT_TRUE(test, mad_wait(&sa->requests, 1));
	for (i = 0; i < 5; i++)
		KUNIT_ASSERT_GT(test, ask(&query), 0);
	start = jiffies;
	fake_hca_destroy(hca);
	hca = NULL;
	KUNIT_EXPECT_LT(test, took_ms(jiffies - start), 3000u);
	KUNIT_EXPECT_EQ(test, atomic_read(&got.calls), 6);
	KUNIT_EXPECT_EQ(test, got.status, -EINTR);
	KUNIT_EXPECT_EQ(test, atomic_read(&client.users), 1);
	/* A response after that is ignored. */
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	KUNIT_EXPECT_EQ(test, answer_well(), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&got.calls), 6);
}

/* The query is sent to the current SM, or if there is none to the last known one. */
static void the_manager_moves_while_it_is_asked(struct kunit *test)
{
	struct fake_sa *other = fake_sa_create();
	struct ib_sa_query *query;

	KUNIT_ASSERT_NOT_NULL(test, other);
	KUNIT_ASSERT_GT(test, ask(&query), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	fake_sa_move(hca, other, IB_EVENT_SM_CHANGE);
	lsd_refuse(&lsd);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 1));
	KUNIT_EXPECT_EQ(test, got.status, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&other->requests), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->requests), 0);
	expect_idle(test);
	/* There is one address handle per port: that of the former SM was destroyed. */
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_AH]), 2);

	KUNIT_ASSERT_GT(test, ask(&query), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	fake_sa_move(hca, NULL, IB_EVENT_SM_CHANGE);
	lsd_refuse(&lsd);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 2));
	KUNIT_EXPECT_EQ(test, got.status, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&other->requests), 2);
	expect_idle(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_AH]), 1);
	/* Without any SM the daemon is not asked either. */
	KUNIT_EXPECT_EQ(test, ask(&query), -EAGAIN);
	KUNIT_EXPECT_FALSE(test, lsd_receive(&lsd));
	fake_sa_move(hca, sa, IB_EVENT_SM_CHANGE);
	fake_sa_destroy(other);
}

static void a_send_that_fails_late(struct kunit *test)
{
	struct ib_sa_query *query;

	KUNIT_ASSERT_GT(test, ask(&query), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	atomic_set(&hca->fail_post_send, 1);
	lsd_refuse(&lsd);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 1));
	KUNIT_EXPECT_EQ(test, got.status, -EIO);
	expect_idle(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&got.calls), 1);
}

static void asked_under_a_callers_lock(struct kunit *test)
{
	static DEFINE_SPINLOCK(lock);
	struct ib_sa_query *query;
	unsigned long flags;
	bool off;
	int id;

	spin_lock_irqsave(&lock, flags);
	id = ask_for(MASK_USUAL, GFP_ATOMIC, &query);
	off = irqs_disabled();
	spin_unlock_irqrestore(&lock, flags);
	KUNIT_ASSERT_GT(test, id, 0);
	KUNIT_EXPECT_TRUE(test, off);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	spin_lock_irqsave(&lock, flags);
	ib_sa_cancel_query(id, query);
	off = irqs_disabled();
	spin_unlock_irqrestore(&lock, flags);
	KUNIT_EXPECT_TRUE(test, off);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 1));
	KUNIT_EXPECT_EQ(test, got.status, -EINTR);
	expect_idle(test);
}

static void a_client_waits_for_its_questions(struct kunit *test)
{
	struct ib_sa_query *query;
	unsigned long start = jiffies;

	KUNIT_ASSERT_GT(test, ask(&query), 0);
	ib_sa_unregister_client(&client);
	KUNIT_EXPECT_EQ(test, atomic_read(&got.calls), 1);
	KUNIT_EXPECT_GE(test, jiffies_to_msecs(jiffies - start), 2000u);
	ib_sa_register_client(&client);
}

static void without_a_daemon_it_is_sent_at_once(struct kunit *test)
{
	struct ib_sa_query *query;
	unsigned long start = jiffies;

	lsd_close(&lsd);
	KUNIT_ASSERT_GT(test, ask(&query), 0);
	expect_by_mad(test, 1);
	KUNIT_EXPECT_LE(test, took_ms(got.when - start), 100u);
	KUNIT_EXPECT_EQ(test, lsd_open(&lsd), 0);
}

static int query_once(struct kunit *test)
{
	int calls = atomic_read(&got.calls), ret;
	struct ib_sa_query *query;

	ret = ask(&query);
	if (ret < 0)
		return ret;
	if (lsd_question(&lsd))
		answer_well();
	KUNIT_EXPECT_TRUE(test, mad_wait(&got.calls, calls + 1));
	KUNIT_EXPECT_EQ(test, got.status, 0);
	return 0;
}

static void a_query_survives_each_failed_allocation(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, query_once), 2u);
	expect_idle(test);
	/* Without memory for the question, or for the response, the SA was queried. */
	KUNIT_EXPECT_GE(test, atomic_read(&sa->requests), 2);
}

static struct kunit_case sa_ls_cases[] = {
	KUNIT_CASE(the_question_on_the_wire),
	KUNIT_CASE(what_is_asked_depends_on_the_mask),
	KUNIT_CASE_SLOW(an_answer_ends_the_query_without_a_mad),
	KUNIT_CASE(several_paths_of_one_connection),
	KUNIT_CASE(one_way_is_enough_for_datagrams),
	KUNIT_CASE(an_opa_path_is_answered_as_one),
	KUNIT_CASE(refused_the_query_is_sent),
	KUNIT_CASE_SLOW(unanswered_the_query_is_sent),
	KUNIT_CASE(malformed_answers_are_none),
	KUNIT_CASE(cancelled_while_it_is_asked),
	KUNIT_CASE(cancelled_after_it_was_sent),
	KUNIT_CASE(cancelled_on_the_way),
	KUNIT_CASE(the_device_goes_while_it_is_asked),
	KUNIT_CASE(the_manager_moves_while_it_is_asked),
	KUNIT_CASE(a_send_that_fails_late),
	KUNIT_CASE(asked_under_a_callers_lock),
	KUNIT_CASE(a_client_waits_for_its_questions),
	KUNIT_CASE(without_a_daemon_it_is_sent_at_once),
	KUNIT_CASE_SLOW(a_query_survives_each_failed_allocation),
	{}
};

static struct kunit_suite ibmad_sa_ls_suite = {
	.name = "ib_mad_sa_ls",
	.init = sa_ls_test_init,
	.exit = sa_ls_test_exit,
	.test_cases = sa_ls_cases,
};

kunit_test_suite(ibmad_sa_ls_suite);
