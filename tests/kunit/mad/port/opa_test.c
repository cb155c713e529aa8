// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MADs of 2 KiB between two Omni-Path ports, and transfers of 2 MiB in both directions
 * with segments of either size, over a wire that loses some of them.
 */
#include <linux/prandom.h>
#include <rdma/opa_addr.h>
#include "mad/mad_test.h"
#include "wait.h"

#define BIG_CLASS	IB_MGMT_CLASS_VENDOR_RANGE2_START
#define BIG_BYTES	(2 << 20)
#define WINDOW		64		/* IBMAD_RMPP_WINDOW */
#define ROUND		576		/* more than ib_mad.recv_queue_size by default */

#define SHORT_ATTR	40		/* bytes of data in an SMA's response */

static struct fake_hca *hca[2];
static struct ib_mad_agent *agent[2];
static struct ib_ah *path;

static struct {
	atomic_t sent, answered, received, wrong;
	enum ib_wc_status status;
	int len, seg_size, segments;
	u8 last;
	bool stale;			/* bytes of another MAD follow a short one */
	u32 data;			/* segments on the wire */
	u32 lost;			/* MADs of RMPP that the wire dropped */
	u32 timers;			/* RMPP timers that fired */
} seen;

static struct rnd_state dice;
static u32 loss;			/* per mille */

static size_t smp_header(u8 mgmt_class)
{
	return mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE ?
	       offsetof(struct opa_smp, route.dr.data) :
	       offsetof(struct opa_smp, route.lid.data);
}

/* ---- two agents ---- */

static void big_sent(struct ib_mad_agent *from, struct ib_mad_send_wc *wc)
{
	seen.timers += wc->send_buf->retries;
	if (wc->send_buf->context[0]) {
		rdma_destroy_ah(wc->send_buf->ah, RDMA_DESTROY_AH_SLEEPABLE);
		atomic_inc(&seen.answered);
	} else {
		seen.status = wc->status;
		atomic_inc(&seen.sent);
	}
	ib_free_send_mad(wc->send_buf);
}

static u8 payload_byte(int n)
{
	return n * 31 + (n >> 9);
}

static void fill(struct ib_mad_send_buf *buf)
{
	int seg, i, n = 0;
	u8 *data;

	for (seg = 1; seg <= buf->seg_count; seg++) {
		data = ib_get_rmpp_segment(buf, seg);
		for (i = 0; i < buf->seg_size && n < buf->data_len; i++)
			data[i] = payload_byte(n++);
	}
}

/* The number of payload bytes that differ from those of fill(). */
static int compare(const struct ib_mad_recv_wc *wc, int hdr_len)
{
	int i, n = 0, wrong = 0, len = wc->mad_len - hdr_len;
	struct ib_mad_recv_buf *seg;
	const u8 *data;

	seen.segments = 0;
	list_for_each_entry(seg, &wc->rmpp_list, list) {
		seen.segments++;
		data = (const u8 *)seg->mad + hdr_len;
		for (i = 0; i < wc->mad_seg_size - hdr_len && n < len; i++)
			wrong += data[i] != payload_byte(n++);
	}
	return wrong + (n != len);
}

static struct ib_mad_send_buf *big_mad(struct ib_mad_agent *from, u8 version, u8 method,
				       int len, __be64 tid)
{
	struct ib_mad_send_buf *buf;
	struct ib_vendor_mad *mad;

	buf = ib_create_send_mad(from, 1, 0, 1, IB_MGMT_VENDOR_HDR, len, GFP_KERNEL,
				 version);
	if (IS_ERR(buf))
		return NULL;
	mad = buf->mad;
	mad->mad_hdr.base_version = version;
	mad->mad_hdr.mgmt_class = BIG_CLASS;
	mad->mad_hdr.class_version = 1;
	mad->mad_hdr.method = method;
	mad->mad_hdr.tid = tid;
	mad->oui[2] = 5;
	fill(buf);
	return buf;
}

/* The responder returns as much data. */
static void big_answer(struct ib_mad_agent *from, const struct ib_mad_recv_wc *wc)
{
	const struct ib_mad_hdr *hdr = &wc->recv_buf.mad->mad_hdr;
	struct ib_mad_send_buf *buf;

	buf = big_mad(from, hdr->base_version, IB_MGMT_METHOD_GET_RESP,
		      wc->mad_len - IB_MGMT_VENDOR_HDR, hdr->tid);
	if (!buf)
		return;
	buf->ah = ib_create_ah_from_wc(from->qp->pd, wc->wc, wc->recv_buf.grh, 1);
	buf->context[0] = from;
	buf->retries = 5;
	if (IS_ERR(buf->ah)) {
		ib_free_send_mad(buf);
	} else if (ib_post_send_mad(buf, NULL)) {
		rdma_destroy_ah(buf->ah, RDMA_DESTROY_AH_SLEEPABLE);
		ib_free_send_mad(buf);
	}
}

static void big_received(struct ib_mad_agent *at, struct ib_mad_send_buf *buf,
			 struct ib_mad_recv_wc *wc)
{
	seen.len = wc->mad_len;
	seen.seg_size = wc->mad_seg_size;
	seen.last = ((u8 *)wc->recv_buf.mad)[min_t(int, wc->mad_len, seen.seg_size) - 1];
	if (seen.len < seen.seg_size)
		seen.stale |= !!memchr_inv((u8 *)wc->recv_buf.mad + seen.len, 0,
					   seen.seg_size - seen.len);
	if (at->rmpp_version)
		atomic_add(compare(wc, IB_MGMT_VENDOR_HDR), &seen.wrong);
	if (wc->recv_buf.mad->mad_hdr.method == IB_MGMT_METHOD_GET)
		big_answer(at, wc);
	ib_free_recv_mad(wc);
	atomic_inc(&seen.received);
}

static enum fake_hca_verdict count_data(struct fake_hca *from,
					struct fake_hca_packet *packet, void *arg)
{
	struct ib_rmpp_mad *mad = (void *)packet->data;

	if (mad->mad_hdr.mgmt_class != BIG_CLASS)
		return FAKE_DELIVER;
	if (mad->rmpp_hdr.rmpp_type == IB_MGMT_RMPP_TYPE_DATA)
		seen.data++;
	if (prandom_u32_state(&dice) % 1000 >= loss)
		return FAKE_DELIVER;
	seen.lost++;
	return FAKE_DROP;
}

/* As hfi1 does: the response has only its header and its data. */
static int answer_shortly(struct fake_hca *at, u32 port, const struct ib_wc *wc,
			  const struct ib_mad *in, struct ib_mad *out, size_t *out_len)
{
	size_t len = wc->byte_len - sizeof(struct ib_grh);
	struct opa_smp *smp = (struct opa_smp *)out;

	if (in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MAD_RESULT_SUCCESS;
	seen.stale |= !!memchr_inv((const u8 *)in + len, 0, OPA_MGMT_MAD_SIZE - len);
	len = smp_header(in->mad_hdr.mgmt_class);
	memcpy(smp, in, len);
	smp->method = IB_MGMT_METHOD_GET_RESP;
	if (smp->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		smp->status = IB_SMP_DIRECTION;
	memset((u8 *)smp + len, 0x77, SHORT_ATTR);
	*out_len = len + SHORT_ATTR;
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

static struct ib_mad_agent *big_agent(struct fake_hca *at, u8 mgmt_class)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = mgmt_class, .mgmt_class_version = 1, .oui = { 0, 0, 5 },
	};

	set_bit(IB_MGMT_METHOD_GET, req.method_mask);
	set_bit(IB_MGMT_METHOD_SEND, req.method_mask);
	if (mgmt_class == IB_MGMT_CLASS_SUBN_LID_ROUTED)
		return ib_register_mad_agent(&at->ibdev, 1, IB_QPT_SMI, NULL, 0, big_sent,
					     big_received, NULL, 0);
	return ib_register_mad_agent(&at->ibdev, 1, IB_QPT_GSI, &req,
				     mgmt_class == BIG_CLASS ? IB_MGMT_RMPP_VERSION : 0,
				     big_sent, big_received, NULL, 0);
}

static void two_agents(struct kunit *test, bool opa, u8 mgmt_class)
{
	const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND, .opa = opa,
		.sma = mgmt_class == IB_MGMT_CLASS_SUBN_LID_ROUTED,
	};
	int i;

	memset(&seen, 0, sizeof(seen));
	loss = 0;
	for (i = 0; i < 2; i++) {
		hca[i] = fake_hca_create(&params);
		KUNIT_ASSERT_NOT_NULL(test, hca[i]);
		agent[i] = big_agent(hca[i], mgmt_class);
		KUNIT_ASSERT_FALSE(test, IS_ERR(agent[i]));
		hca[i]->verdict = count_data;
		hca[i]->process_mad = params.sma ? answer_shortly : NULL;
	}
	path = mad_path(agent[0], hca[1]);
	KUNIT_ASSERT_FALSE(test, IS_ERR(path));
}

static void opa_test_exit(struct kunit *test)
{
	int i;

	for (i = 0; i < 2; i++)
		if (!IS_ERR_OR_NULL(agent[i]))
			ib_unregister_mad_agent(agent[i]);
	if (!IS_ERR_OR_NULL(path))
		rdma_destroy_ah(path, RDMA_DESTROY_AH_SLEEPABLE);
	for (i = 0; i < 2; i++)
		if (hca[i])
			fake_hca_destroy(hca[i]);
	memset(hca, 0, sizeof(hca));
	memset(agent, 0, sizeof(agent));
	path = NULL;
}

/* ---- transfers ---- */

static u32 resent(void)
{
	return mad_counter(agent[0], IBMAD_RMPP_RESENT) +
	       mad_counter(agent[1], IBMAD_RMPP_RESENT);
}

static void there_and_back(struct kunit *test, u8 version, int len)
{
	__be64 tid = cpu_to_be64((u64)agent[0]->hi_tid << 32 | 7);
	struct ib_mad_send_buf *buf = big_mad(agent[0], version, IB_MGMT_METHOD_GET,
					      len, tid);
	int segments;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	KUNIT_EXPECT_EQ(test, buf->seg_rmpp_size, buf->seg_size + IB_MGMT_VENDOR_HDR -
						  IB_MGMT_RMPP_HDR);
	segments = buf->seg_count;
	KUNIT_EXPECT_EQ(test, segments, DIV_ROUND_UP(len, buf->seg_size));
	buf->ah = path;
	buf->timeout_ms = 5000;
	buf->retries = 5;
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	KUNIT_EXPECT_TRUE(test, wait_within(atomic_read(&seen.sent), 1200000));
	KUNIT_EXPECT_TRUE(test, wait_within(atomic_read(&seen.answered), 20000));
	KUNIT_EXPECT_EQ(test, seen.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, atomic_read(&seen.received), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&seen.wrong), 0);
	KUNIT_EXPECT_EQ(test, seen.len, IB_MGMT_VENDOR_HDR + len);
	KUNIT_EXPECT_EQ(test, seen.segments, segments);
	KUNIT_EXPECT_EQ(test, seen.data, 2u * segments + resent());
}

static void two_mebibytes_there_and_back(struct kunit *test)
{
	two_agents(test, false, BIG_CLASS);
	there_and_back(test, IB_MGMT_BASE_VERSION, BIG_BYTES);
	KUNIT_EXPECT_EQ(test, seen.segments, 9710);
}

static void two_mebibytes_in_large_segments(struct kunit *test)
{
	two_agents(test, true, BIG_CLASS);
	there_and_back(test, OPA_MGMT_BASE_VERSION, BIG_BYTES + 1);
	KUNIT_EXPECT_EQ(test, seen.seg_size, OPA_MGMT_MAD_SIZE);
}

/*
 * A lost segment is noticed by the segments after it, so a transfer
 * needs a timer only if there are none: for its first and last segment,
 * for their ACKs, and for what is lost twice.
 */
static void with_losses(struct kunit *test, u8 version, u32 per_mille, u32 seed)
{
	two_agents(test, version == OPA_MGMT_BASE_VERSION, BIG_CLASS);
	loss = per_mille;
	prandom_seed_state(&dice, seed);
	there_and_back(test, version, BIG_BYTES);
	KUNIT_EXPECT_GT(test, seen.lost, 0u);
	KUNIT_EXPECT_LE_MSG(test, seen.timers, 2 + seen.lost / 20, "%u lost", seen.lost);
	/*
	 * Each timer resends a window at most; else little
	 * more than what was lost is resent.
	 */
	KUNIT_EXPECT_LE_MSG(test, resent(), 2 * seen.lost + WINDOW * seen.timers,
			    "%u lost, %u timers", seen.lost, seen.timers);
	opa_test_exit(test);
}

static void two_mebibytes_with_losses(struct kunit *test)
{
	with_losses(test, IB_MGMT_BASE_VERSION, 10, 1);
}

static void large_segments_with_losses(struct kunit *test)
{
	u32 seed;

	for (seed = 1; seed <= 5; seed++)
		with_losses(test, OPA_MGMT_BASE_VERSION, 10 * seed, seed);
}

/* A MAD of the InfiniBand base version has segments of its size on Omni-Path, too. */
static void small_segments_on_omni_path(struct kunit *test)
{
	two_agents(test, true, BIG_CLASS);
	there_and_back(test, IB_MGMT_BASE_VERSION, 100000);
	KUNIT_EXPECT_EQ(test, seen.seg_size, IB_MGMT_MAD_SIZE);
}

/* ---- single MADs ---- */

static int post_one(int data_len, u8 version)
{
	struct ib_mad_send_buf *buf;
	struct ib_mad_hdr *hdr;

	buf = ib_create_send_mad(agent[0], 1, 0, 0, IB_MGMT_MAD_HDR, data_len,
				 GFP_KERNEL, version);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	hdr = buf->mad;
	hdr->base_version = version;
	hdr->mgmt_class = TEST_CLASS;
	hdr->class_version = 1;
	hdr->method = IB_MGMT_METHOD_SEND;
	((u8 *)buf->mad)[IB_MGMT_MAD_HDR + data_len - 1] = 0x77;
	buf->ah = path;
	return ib_post_send_mad(buf, NULL);
}

static void expect_one(struct kunit *test, int data_len, u8 version, int len, int seg_size)
{
	int n = atomic_read(&seen.received) + 1;

	KUNIT_ASSERT_EQ(test, post_one(data_len, version), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&seen.received, n));
	KUNIT_EXPECT_TRUE(test, mad_wait(&seen.sent, n));
	KUNIT_EXPECT_EQ(test, seen.len, len);
	KUNIT_EXPECT_EQ(test, seen.seg_size, seg_size);
	KUNIT_EXPECT_EQ(test, seen.last, len == IB_MGMT_MAD_HDR + data_len ? 0x77 : 0);
}

static void mads_of_two_kibibytes(struct kunit *test)
{
	two_agents(test, true, TEST_CLASS);
	expect_one(test, 2024, OPA_MGMT_BASE_VERSION, 2048, 2048);
	/* A shorter one is sent with its length, rounded up to 8 bytes. */
	expect_one(test, 1000, OPA_MGMT_BASE_VERSION, 1024, 2048);
	expect_one(test, 1001, OPA_MGMT_BASE_VERSION, 1032, 2048);
	expect_one(test, 232, IB_MGMT_BASE_VERSION, 256, 256);
	KUNIT_EXPECT_EQ(test, post_one(2025, OPA_MGMT_BASE_VERSION), -EINVAL);
	KUNIT_EXPECT_EQ(test, post_one(233, IB_MGMT_BASE_VERSION), -EINVAL);
}

/* Receive buffers are reused: a short MAD shows no bytes of a longer one before it. */
static void a_short_mad_has_nothing_of_a_long_one(struct kunit *test)
{
	int i;

	two_agents(test, true, TEST_CLASS);
	for (i = 1; i <= 2 * ROUND; i++) {
		KUNIT_ASSERT_EQ(test, post_one(i <= ROUND ? 2024 : 100,
					       OPA_MGMT_BASE_VERSION), 0);
		if (i % (ROUND / 8) == 0)
			KUNIT_ASSERT_TRUE(test, mad_wait(&seen.received, i));
	}
	KUNIT_EXPECT_EQ(test, seen.len, 128);
	KUNIT_EXPECT_FALSE(test, seen.stale);
}

/* A port without large MADs refuses one. */
static void a_port_of_small_mads(struct kunit *test)
{
	two_agents(test, false, TEST_CLASS);
	KUNIT_EXPECT_EQ(test, post_one(1000, OPA_MGMT_BASE_VERSION), -EINVAL);
	expect_one(test, 232, IB_MGMT_BASE_VERSION, 256, 256);
}

/* ---- SMPs ---- */

static void expect_short_smp(struct kunit *test, u8 mgmt_class, int n)
{
	struct ib_mad_send_buf *buf;
	struct opa_smp *smp;

	buf = ib_create_send_mad(agent[0], 0, 0, 0, IB_MGMT_MAD_HDR,
				 smp_header(mgmt_class) - IB_MGMT_MAD_HDR, GFP_KERNEL,
				 OPA_MGMT_BASE_VERSION);
	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	smp = buf->mad;
	smp->base_version = OPA_MGMT_BASE_VERSION;
	smp->mgmt_class = mgmt_class;
	smp->class_version = OPA_SM_CLASS_VERSION;
	smp->method = IB_MGMT_METHOD_GET;
	smp->tid = cpu_to_be64((u64)agent[0]->hi_tid << 32 | n);
	if (mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE) {
		smp->hop_cnt = 1;
		smp->route.dr.dr_slid = OPA_LID_PERMISSIVE;
		smp->route.dr.dr_dlid = OPA_LID_PERMISSIVE;
		smp->route.dr.initial_path[1] = 1;
	}
	buf->ah = path;
	buf->timeout_ms = 2000;
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&seen.sent, n));
	KUNIT_EXPECT_EQ(test, seen.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, atomic_read(&seen.received), n);
	KUNIT_EXPECT_EQ(test, seen.len, (int)smp_header(mgmt_class) + SHORT_ATTR);
	KUNIT_EXPECT_EQ(test, seen.last, 0x77);
	KUNIT_EXPECT_FALSE(test, seen.stale);
}

static void smps_as_long_as_what_they_tell(struct kunit *test)
{
	two_agents(test, true, IB_MGMT_CLASS_SUBN_LID_ROUTED);
	expect_short_smp(test, IB_MGMT_CLASS_SUBN_LID_ROUTED, 1);
	expect_short_smp(test, IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE, 2);
}

/* ---- long LIDs ---- */

#define LONG_LID	0x12345

/* As hfi1's address handle to a long LID: with a GRH whose GID contains the LID. */
static struct ib_ah *long_path(void)
{
	struct rdma_ah_attr attr = {
		.type = RDMA_AH_ATTR_TYPE_OPA, .port_num = 1, .ah_flags = IB_AH_GRH,
		.grh.dgid.global.interface_id = OPA_MAKE_ID(LONG_LID),
	};

	rdma_ah_set_dlid(&attr, LONG_LID);
	return rdma_create_ah(agent[0]->qp->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
}

/* Injects a response from @lid; the completion has 16 bits of it. */
static void answer_from(struct kunit *test, u32 lid, __be64 tid)
{
	struct fake_hca_packet like = {
		.src_qpn = 1, .slid = lid, .grh = true,
		.sgid.global.interface_id = OPA_MAKE_ID(lid),
	};
	union {
		struct ib_mad_hdr hdr;
		u8 raw[IB_MGMT_MAD_SIZE];
	} mad = { .hdr = {
		.base_version = IB_MGMT_BASE_VERSION, .mgmt_class = TEST_CLASS,
		.class_version = 1, .method = IB_MGMT_METHOD_GET_RESP, .tid = tid,
	} };

	KUNIT_ASSERT_EQ(test, fake_hca_inject(hca[0], 1, &like, &mad, sizeof(mad)), 0);
}

static void a_response_from_a_long_lid(struct kunit *test)
{
	struct ib_mad_send_buf *buf;
	struct ib_mad_hdr *hdr;
	struct ib_ah *ah;

	two_agents(test, true, TEST_CLASS);
	ah = long_path();
	KUNIT_ASSERT_FALSE(test, IS_ERR(ah));
	buf = ib_create_send_mad(agent[0], 1, 0, 0, IB_MGMT_MAD_HDR, IB_MGMT_MAD_DATA,
				 GFP_KERNEL, IB_MGMT_BASE_VERSION);
	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	hdr = buf->mad;
	*hdr = (struct ib_mad_hdr){
		.base_version = IB_MGMT_BASE_VERSION, .mgmt_class = TEST_CLASS,
		.class_version = 1, .method = IB_MGMT_METHOD_GET,
		.tid = cpu_to_be64((u64)agent[0]->hi_tid << 32 | 7),
	};
	buf->ah = ah;
	buf->timeout_ms = 2000;
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	/* A LID that has the same last 16 bits, or is those, does not match. */
	answer_from(test, 0x10000 + LONG_LID, hdr->tid);
	answer_from(test, (u16)LONG_LID, hdr->tid);
	KUNIT_EXPECT_TRUE(test, wait_within(mad_counter(agent[0], IBMAD_RECV_UNMATCHED) == 2,
					    1000));
	KUNIT_EXPECT_EQ(test, atomic_read(&seen.received), 0);
	answer_from(test, LONG_LID, hdr->tid);
	KUNIT_EXPECT_TRUE(test, mad_wait(&seen.sent, 1));
	KUNIT_EXPECT_EQ(test, seen.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, atomic_read(&seen.received), 1);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
}

static struct kunit_case opa_cases[] = {
	KUNIT_CASE_SLOW(two_mebibytes_there_and_back),
	KUNIT_CASE_SLOW(two_mebibytes_in_large_segments),
	KUNIT_CASE_SLOW(two_mebibytes_with_losses),
	KUNIT_CASE_SLOW(large_segments_with_losses),
	KUNIT_CASE(small_segments_on_omni_path),
	KUNIT_CASE(mads_of_two_kibibytes),
	KUNIT_CASE(a_short_mad_has_nothing_of_a_long_one),
	KUNIT_CASE(a_port_of_small_mads),
	KUNIT_CASE(smps_as_long_as_what_they_tell),
	KUNIT_CASE(a_response_from_a_long_lid),
	{}
};

static struct kunit_suite ibmad_opa_suite = {
	.name = "ib_mad_opa",
	.exit = opa_test_exit,
	.test_cases = opa_cases,
};

kunit_test_suite(ibmad_opa_suite);
