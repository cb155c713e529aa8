// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Reliable multi-packet transfers between two adapters (IBA volume 1, 13.6). */
#include "mad/mad_test.h"

#define RMPP_CLASS	IB_MGMT_CLASS_VENDOR_RANGE2_START
#define SEG_BYTES	(IB_MGMT_MAD_SIZE - IB_MGMT_VENDOR_HDR)

static struct fake_hca *sender_hca, *receiver_hca;
static struct ib_mad_agent *sender, *receiver;
static struct ib_ah *path;
static atomic_t sent, received, wrong;
static enum ib_wc_status status;
static int last_len;
/* DATA segments seen on the wire; those with the numbers in lose[] are dropped once. */
static atomic_t data_seen, acks_seen;
static u32 lose[4];
static bool lose_all_data, lose_all_acks, twice;
static u32 stop_at;	/* this segment is replaced by a STOP from the receiver */

static void rmpp_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	status = wc->status;
	ib_free_send_mad(wc->send_buf);
	atomic_inc(&sent);
}

static void rmpp_received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
			  struct ib_mad_recv_wc *wc)
{
	struct ib_mad_recv_buf *seg;
	int n = 0, i;

	last_len = wc->mad_len;
	list_for_each_entry(seg, &wc->rmpp_list, list) {
		u8 *data = (u8 *)seg->mad + IB_MGMT_VENDOR_HDR;

		n++;
		for (i = 0; i < 8; i++)
			if (data[i] != (u8)n)
				atomic_inc(&wrong);
	}
	ib_free_recv_mad(wc);
	atomic_inc(&received);
}

static enum fake_hca_verdict rmpp_verdict(struct fake_hca *hca,
					  struct fake_hca_packet *packet, void *arg)
{
	struct ib_rmpp_mad *mad = (void *)packet->data;
	u32 seg = be32_to_cpu(mad->rmpp_hdr.seg_num);
	int i;

	if (mad->mad_hdr.mgmt_class != RMPP_CLASS)
		return FAKE_DELIVER;
	if (mad->rmpp_hdr.rmpp_type == IB_MGMT_RMPP_TYPE_ACK) {
		atomic_inc(&acks_seen);
		return lose_all_acks ? FAKE_DROP : FAKE_DELIVER;
	}
	if (mad->rmpp_hdr.rmpp_type != IB_MGMT_RMPP_TYPE_DATA)
		return FAKE_DELIVER;
	atomic_inc(&data_seen);
	if (lose_all_data)
		return FAKE_DROP;
	for (i = 0; i < ARRAY_SIZE(lose); i++) {
		if (lose[i] == seg) {
			lose[i] = 0;
			return FAKE_DROP;
		}
	}
	if (stop_at == seg)
		mad->rmpp_hdr.rmpp_version = 9;
	return twice ? FAKE_DUPLICATE : FAKE_DELIVER;
}

static struct ib_mad_agent *rmpp_agent(struct fake_hca *hca)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = RMPP_CLASS,
		.mgmt_class_version = 1,
		.oui = { 0, 0x14, 5 },
	};

	set_bit(IB_MGMT_METHOD_SEND, req.method_mask);
	return ib_register_mad_agent(&hca->ibdev, 1, IB_QPT_GSI, &req,
				     IB_MGMT_RMPP_VERSION, rmpp_sent, rmpp_received,
				     NULL, 0);
}

static int rmpp_test_init(struct kunit *test)
{
	const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
	};

	atomic_set(&sent, 0);
	atomic_set(&received, 0);
	atomic_set(&wrong, 0);
	atomic_set(&data_seen, 0);
	atomic_set(&acks_seen, 0);
	memset(lose, 0, sizeof(lose));
	lose_all_data = false;
	lose_all_acks = false;
	twice = false;
	stop_at = 0;
	sender_hca = fake_hca_create(&params);
	receiver_hca = fake_hca_create(&params);
	if (!sender_hca || !receiver_hca)
		return -ENOMEM;
	sender_hca->verdict = rmpp_verdict;
	receiver_hca->verdict = rmpp_verdict;
	sender = rmpp_agent(sender_hca);
	receiver = rmpp_agent(receiver_hca);
	if (IS_ERR(sender) || IS_ERR(receiver))
		return -ENOMEM;
	path = mad_path(sender, receiver_hca);
	return PTR_ERR_OR_ZERO(path);
}

static void rmpp_test_exit(struct kunit *test)
{
	if (!IS_ERR_OR_NULL(sender))
		ib_unregister_mad_agent(sender);
	if (!IS_ERR_OR_NULL(receiver))
		ib_unregister_mad_agent(receiver);
	if (!IS_ERR_OR_NULL(path))
		rdma_destroy_ah(path, RDMA_DESTROY_AH_SLEEPABLE);
	if (sender_hca)
		fake_hca_destroy(sender_hca);
	if (receiver_hca)
		fake_hca_destroy(receiver_hca);
	sender = NULL;
	receiver = NULL;
	path = NULL;
	sender_hca = NULL;
	receiver_hca = NULL;
}

static int transfer(int len, u32 timeout_ms, int retries)
{
	static u32 serial;
	struct ib_mad_send_buf *buf;
	struct ib_vendor_mad *mad;
	int i, ret;

	buf = ib_create_send_mad(sender, 1, 0, 1, IB_MGMT_VENDOR_HDR, len, GFP_KERNEL,
				 IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	mad = buf->mad;
	mad->mad_hdr.base_version = IB_MGMT_BASE_VERSION;
	mad->mad_hdr.mgmt_class = RMPP_CLASS;
	mad->mad_hdr.class_version = 1;
	mad->mad_hdr.method = IB_MGMT_METHOD_SEND;
	mad->mad_hdr.tid = cpu_to_be64((u64)sender->hi_tid << 32 | ++serial);
	mad->oui[1] = 0x14;
	mad->oui[2] = 5;
	for (i = 1; i <= buf->seg_count; i++)
		memset(ib_get_rmpp_segment(buf, i), i, 8);
	buf->ah = path;
	buf->timeout_ms = timeout_ms;
	buf->retries = retries;
	ret = ib_post_send_mad(buf, NULL);
	if (ret)
		ib_free_send_mad(buf);
	return ret;
}

static void expect_transfer(struct kunit *test, int len, int n)
{
	int segments = max(1, DIV_ROUND_UP(len, SEG_BYTES));

	KUNIT_ASSERT_EQ(test, transfer(len, 0, 5), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&sent, n));
	KUNIT_EXPECT_EQ(test, status, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, mad_wait(&received, n));
	KUNIT_EXPECT_EQ(test, atomic_read(&wrong), 0);
	KUNIT_EXPECT_GE(test, last_len, IB_MGMT_VENDOR_HDR + len);
	KUNIT_EXPECT_GE(test, atomic_read(&data_seen), segments);
}

static void transfers_of_all_sizes(struct kunit *test)
{
	static const int lengths[] = {
		8, SEG_BYTES, SEG_BYTES + 1, 5 * SEG_BYTES, 64 * SEG_BYTES,
		65 * SEG_BYTES + 7, 250 * SEG_BYTES,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		atomic_set(&data_seen, 0);
		expect_transfer(test, lengths[i], i + 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&data_seen),
				DIV_ROUND_UP(lengths[i], SEG_BYTES));
	}
	KUNIT_EXPECT_EQ(test, refcount_read(&to_agent(sender)->refs), 1u);
}

static void lost_segments_are_sent_again(struct kunit *test)
{
	static const u32 lost[][4] = {
		{ 1 }, { 2 }, { 40 }, { 3, 4, 5 }, { 1, 20, 39, 40 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(lost); i++) {
		memcpy(lose, lost[i], sizeof(lose));
		expect_transfer(test, 40 * SEG_BYTES, i + 1);
		KUNIT_EXPECT_EQ(test, lose[0] | lose[1] | lose[2] | lose[3], 0u);
	}
}

static void segments_that_come_twice(struct kunit *test)
{
	twice = true;
	expect_transfer(test, 40 * SEG_BYTES, 1);
	msleep(100);
	KUNIT_EXPECT_EQ(test, atomic_read(&received), 1);
}

static void nobody_acknowledges(struct kunit *test)
{
	lose_all_acks = true;
	KUNIT_ASSERT_EQ(test, transfer(10 * SEG_BYTES, 500, 2), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&sent, 1));
	KUNIT_EXPECT_NE(test, status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, refcount_read(&to_agent(sender)->refs), 1u);
	lose_all_acks = false;
	lose_all_data = true;
	KUNIT_ASSERT_EQ(test, transfer(10 * SEG_BYTES, 500, 2), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&sent, 2));
	KUNIT_EXPECT_NE(test, status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, refcount_read(&to_agent(sender)->refs), 1u);
}

/* A segment of another RMPP version: the receiver aborts the transfer. */
static void a_bad_version_aborts(struct kunit *test)
{
	stop_at = 5;
	KUNIT_ASSERT_EQ(test, transfer(40 * SEG_BYTES, 500, 2), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&sent, 1));
	KUNIT_EXPECT_NE(test, status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, atomic_read(&received), 0);
}

static void deregister_amid_transfers(struct kunit *test)
{
	struct ib_mad_agent *agent;
	int i;

	lose_all_acks = true;
	for (i = 0; i < 5; i++)
		KUNIT_ASSERT_EQ(test, transfer(40 * SEG_BYTES, 5000, 5), 0);
	msleep(100);
	agent = receiver;
	receiver = NULL;
	ib_unregister_mad_agent(agent);
	agent = sender;
	sender = NULL;
	ib_unregister_mad_agent(agent);
	KUNIT_EXPECT_EQ(test, atomic_read(&sent), 5);
}

/* If a peer sends nothing more, its segments are freed after a time. */
static void an_unfinished_transfer_is_forgotten(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, transfer(40 * SEG_BYTES, 500, 1), 0);
	lose_all_data = true;
	KUNIT_EXPECT_TRUE(test, mad_wait(&sent, 1));
	msleep(60000);
	KUNIT_EXPECT_EQ(test, READ_ONCE(to_agent(receiver)->rmpp.nr), 0u);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&to_agent(receiver)->rmpp.bytes), 0L);
}

static struct kunit_case rmpp_cases[] = {
	KUNIT_CASE(transfers_of_all_sizes),
	KUNIT_CASE(lost_segments_are_sent_again),
	KUNIT_CASE(segments_that_come_twice),
	KUNIT_CASE(nobody_acknowledges),
	KUNIT_CASE(a_bad_version_aborts),
	KUNIT_CASE(deregister_amid_transfers),
	KUNIT_CASE_SLOW(an_unfinished_transfer_is_forgotten),
	{}
};

static struct kunit_suite ibmad_rmpp_suite = {
	.name = "ib_mad_rmpp",
	.init = rmpp_test_init,
	.exit = rmpp_test_exit,
	.test_cases = rmpp_cases,
};

kunit_test_suite(ibmad_rmpp_suite);
