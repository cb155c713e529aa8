// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Receiving: malformed MADs, floods, MADs without an agent. */
#include "mad/mad_test.h"

static struct mad_pair pair;

static int recv_test_init(struct kunit *test)
{
	return mad_pair_init(test, &pair, IB_LINK_LAYER_INFINIBAND);
}

static void recv_test_exit(struct kunit *test)
{
	mad_pair_exit(&pair);
}

static struct ib_mad_hdr request(void)
{
	return (struct ib_mad_hdr){
		.base_version = IB_MGMT_BASE_VERSION,
		.mgmt_class = TEST_CLASS,
		.class_version = 1,
		.method = IB_MGMT_METHOD_GET,
		.tid = cpu_to_be64(7),
	};
}

/* Injects a MAD of @len bytes that begins with @size bytes at @start. */
static int inject_bytes(const void *start, size_t size, u32 len)
{
	struct fake_hca_packet like = {
		.src_qpn = 1,
		.slid = pair.asker.hca->port[1].lid,
		.dlid = pair.server.hca->port[1].lid,
	};
	u8 data[512] = {};

	memcpy(data, start, size);
	return fake_hca_inject(pair.server.hca, 1, &like, data, len);
}

static int inject(const struct ib_mad_hdr *hdr, u32 len)
{
	return inject_bytes(hdr, sizeof(*hdr), len);
}

static void malformed_mads_are_dropped(struct kunit *test)
{
	/* The length may be short by a GRH that was not counted; see recv_mad_len(). */
	int least = IB_MGMT_MAD_SIZE - !pair.server.hca->quirks.byte_len_without_grh *
				       sizeof(struct ib_grh);
	struct ib_mad_hdr hdr;
	u64 malformed = 0;
	int i, well = 0;

	pair.server.answers = false;
	for (i = 0; i <= 300; i += 4) {
		hdr = request();
		well += i >= least && i <= IB_MGMT_MAD_SIZE;
		KUNIT_ASSERT_EQ(test, inject(&hdr, i), 0);
		msleep(20);
	}
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.received), well);
	malformed = mad_counter(pair.server.agent, IBMAD_RECV_MALFORMED);
	/* MADs that are too long are completed with an error. */
	KUNIT_EXPECT_EQ(test, malformed, least / 4);

	hdr = request();
	hdr.base_version = 2;
	inject(&hdr, IB_MGMT_MAD_SIZE);
	hdr = request();
	hdr.base_version = OPA_MGMT_BASE_VERSION;
	inject(&hdr, IB_MGMT_MAD_SIZE);
	hdr = request();
	hdr.mgmt_class = IB_MGMT_CLASS_SUBN_LID_ROUTED;
	inject(&hdr, IB_MGMT_MAD_SIZE);
	hdr.mgmt_class = IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
	inject(&hdr, IB_MGMT_MAD_SIZE);
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.server.agent, IBMAD_RECV_MALFORMED),
			malformed + 4);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.received), well);

	hdr = request();
	inject(&hdr, IB_MGMT_MAD_SIZE);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.server.received, well + 1));
}

static void nobody_wants_them(struct kunit *test)
{
	struct ib_mad_hdr hdr;

	hdr = request();
	hdr.method = IB_MGMT_METHOD_SET;
	inject(&hdr, IB_MGMT_MAD_SIZE);
	hdr = request();
	hdr.class_version = 2;
	inject(&hdr, IB_MGMT_MAD_SIZE);
	hdr = request();
	hdr.mgmt_class = TEST_CLASS + 1;
	inject(&hdr, IB_MGMT_MAD_SIZE);
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.server.agent, IBMAD_RECV_NO_AGENT), 3);
	/* Responses without a request: with the TID of no agent, and of an agent. */
	hdr = request();
	hdr.method = IB_MGMT_METHOD_GET_RESP;
	hdr.tid = cpu_to_be64(0xffffff00000001ULL);
	inject(&hdr, IB_MGMT_MAD_SIZE);
	hdr.tid = cpu_to_be64((u64)pair.server.agent->hi_tid << 32 | 0xdead);
	inject(&hdr, IB_MGMT_MAD_SIZE);
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.server.agent, IBMAD_RECV_UNMATCHED), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.received), 0);
}

static atomic_t taken;

static void take(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
		 struct ib_mad_recv_wc *wc)
{
	ib_free_recv_mad(wc);
	atomic_inc(&taken);
}

/* A connection manager sends messages by Send; Get and Set are for its ClassPortInfo. */
static void methods_of_connection_managers(struct kunit *test)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = IB_MGMT_CLASS_CM, .mgmt_class_version = 2,
	};
	struct ib_mad_hdr hdr = request();
	struct ib_mad_agent *agent;

	atomic_set(&taken, 0);
	set_bit(IB_MGMT_METHOD_GET, req.method_mask);
	set_bit(IB_MGMT_METHOD_SEND, req.method_mask);
	agent = ib_register_mad_agent(&pair.server.hca->ibdev, 1, IB_QPT_GSI, &req, 0,
				      NULL, take, NULL, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(agent));
	hdr.mgmt_class = IB_MGMT_CLASS_CM;
	hdr.class_version = 2;
	hdr.attr_id = cpu_to_be16(0x15);
	inject(&hdr, IB_MGMT_MAD_SIZE);
	hdr.method = IB_MGMT_METHOD_GET_RESP;
	inject(&hdr, IB_MGMT_MAD_SIZE);
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, mad_counter(agent, IBMAD_RECV_MALFORMED), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&taken), 0);
	hdr.method = IB_MGMT_METHOD_SEND;
	inject(&hdr, IB_MGMT_MAD_SIZE);
	hdr.method = IB_MGMT_METHOD_GET;
	hdr.attr_id = IB_MGMT_CLASSPORTINFO_ATTR_ID;
	inject(&hdr, IB_MGMT_MAD_SIZE);
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, mad_counter(agent, IBMAD_RECV_MALFORMED), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&taken), 2);
	ib_unregister_mad_agent(agent);
}

/* A client of an agent without RMPP may do it itself, and gets ACKs of its responses. */
static void segments_for_an_agent_without_rmpp(struct kunit *test)
{
	struct ib_rmpp_mad mad = { .mad_hdr = request() };

	mad.mad_hdr.mgmt_class = IB_MGMT_CLASS_SUBN_ADM;
	mad.mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	mad.mad_hdr.tid = cpu_to_be64((u64)pair.server.agent->hi_tid << 32 | 0xdead);
	inject_bytes(&mad, sizeof(mad.mad_hdr) + sizeof(mad.rmpp_hdr), IB_MGMT_MAD_SIZE);
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.server.agent, IBMAD_RECV_UNMATCHED), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.received), 0);
	ib_set_rmpp_flags(&mad.rmpp_hdr, IB_MGMT_RMPP_FLAG_ACTIVE);
	pair.server.answers = false;
	inject_bytes(&mad, sizeof(mad.mad_hdr) + sizeof(mad.rmpp_hdr), IB_MGMT_MAD_SIZE);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.server.received, 1));
	KUNIT_EXPECT_EQ(test, mad_counter(pair.server.agent, IBMAD_RECV_UNMATCHED), 1);
}

/* A client slower than the wire loses what its inbox cannot hold; others lose nothing. */
static void a_flood(struct kunit *test)
{
	struct ib_mad_hdr hdr = request();
	int i, received;

	pair.server.answers = false;
	pair.server.sleep_ms = 5;
	for (i = 0; i < 20000; i++) {
		inject(&hdr, IB_MGMT_MAD_SIZE);
		if (i % 16 == 0)
			usleep_range(100, 200);
	}
	pair.server.sleep_ms = 0;
	mad_quiesce(&pair);
	received = atomic_read(&pair.server.received);
	KUNIT_EXPECT_GT(test, received, 0);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.server.agent, IBMAD_RECEIVED),
			received + mad_counter(pair.server.agent, IBMAD_RECV_OVERFLOW));
	KUNIT_EXPECT_GT(test, mad_counter(pair.server.agent, IBMAD_RECV_OVERFLOW), 0);
	pair.server.answers = true;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 2), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
}

/* Deregistration during a flood: after it returns no handler runs. */
static void deregister_in_a_flood(struct kunit *test)
{
	struct ib_mad_agent *agent = pair.server.agent;
	struct ib_mad_hdr hdr = request();
	int i, received;

	pair.server.answers = false;
	for (i = 0; i < 500; i++)
		inject(&hdr, IB_MGMT_MAD_SIZE);
	pair.server.agent = NULL;
	ib_unregister_mad_agent(agent);
	received = atomic_read(&pair.server.received);
	for (i = 0; i < 100; i++)
		inject(&hdr, IB_MGMT_MAD_SIZE);
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.received), received);
}

static unsigned int pool_length(struct ibmad_pool *pool)
{
	const struct llist_node *node;
	unsigned int n = 0;

	spin_lock_irq(&pool->lock);
	for (node = pool->free; node; node = node->next)
		n++;
	spin_unlock_irq(&pool->lock);
	return n;
}

static struct ib_mad_recv_wc *kept[2];
static atomic_t nr_kept;

static void keep(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
		 struct ib_mad_recv_wc *wc)
{
	kept[atomic_inc_return(&nr_kept) - 1] = wc;
}

/*
 * The buffer of a received MAD is the client's until freed, even if the agent
 * and the device are removed; after that it is freed.
 */
static void a_received_mad_outlives_its_device(struct kunit *test)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = TEST_CLASS, .mgmt_class_version = 1,
	};
	struct ib_mad_hdr hdr = request();
	struct ib_mad_agent *agent;
	struct ibmad_pool *pool;

	atomic_set(&nr_kept, 0);
	set_bit(IB_MGMT_METHOD_SET, req.method_mask);
	agent = ib_register_mad_agent(&pair.server.hca->ibdev, 1, IB_QPT_GSI, &req, 0,
				      NULL, keep, NULL, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(agent));
	hdr.method = IB_MGMT_METHOD_SET;
	inject(&hdr, IB_MGMT_MAD_SIZE);
	inject(&hdr, IB_MGMT_MAD_SIZE);
	KUNIT_ASSERT_TRUE(test, mad_wait(&nr_kept, 2));
	ib_unregister_mad_agent(agent);
	mad_pair_exit(&pair);
	KUNIT_EXPECT_MEMEQ(test, kept[0]->recv_buf.mad, &hdr, sizeof(hdr));
	/* The other MAD holds the pool, which keeps no buffers after its QP. */
	pool = container_of(kept[1], struct ibmad_recv, recv_wc)->pool;
	ib_free_recv_mad(kept[0]);
	KUNIT_EXPECT_EQ(test, pool_length(pool), 0u);
	ib_free_recv_mad(kept[1]);
}

/* After any number of MADs there is one buffer more than at first. */
static void buffers_are_used_again(struct kunit *test)
{
	struct ibmad_pool *pool = to_agent(pair.server.agent)->mqp->pool;
	struct ib_mad_hdr hdr = request();
	int i;

	pair.server.answers = false;
	for (i = 1; i <= 100; i++) {
		inject(&hdr, IB_MGMT_MAD_SIZE);
		KUNIT_ASSERT_TRUE(test, mad_wait(&pair.server.received, i));
	}
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, pool_length(pool), 1u);
	KUNIT_EXPECT_EQ(test, pool->nr_free, 1u);
}

static struct kunit_case recv_cases[] = {
	KUNIT_CASE(malformed_mads_are_dropped),
	KUNIT_CASE(nobody_wants_them),
	KUNIT_CASE(methods_of_connection_managers),
	KUNIT_CASE(segments_for_an_agent_without_rmpp),
	KUNIT_CASE_SLOW(a_flood),
	KUNIT_CASE(deregister_in_a_flood),
	KUNIT_CASE(a_received_mad_outlives_its_device),
	KUNIT_CASE(buffers_are_used_again),
	{}
};

static struct kunit_suite ibmad_recv_suite = {
	.name = "ib_mad_recv",
	.init = recv_test_init,
	.exit = recv_test_exit,
	.test_cases = recv_cases,
};

kunit_test_suite(ibmad_recv_suite);
