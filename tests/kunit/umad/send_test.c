// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * write(): the MADs that arrive, the responses and errors that are read, the writes
 * that are refused, and what is left of them.
 */
#include "faults.h"
#include "umad_test.h"

#define SILENT	IB_MGMT_METHOD_SEND	/* no process answers it */

/* b's process responds to the MAD that it has read. */
static ssize_t answer(void)
{
	fixture_mad->mad.method |= IB_MGMT_METHOD_RESP;
	fixture_mad->hdr.timeout_ms = 0;
	return fixture_write(&ends.b, IB_MGMT_MAD_SIZE);
}

static void exchange(struct kunit *test)
{
	size_t heada = umad_hdr_size(ends.a.file), headb = umad_hdr_size(ends.b.file);
	u64 tid;

	fixture_request(ends.ida, &ends.b, IB_MGMT_METHOD_GET, 0x1122334455667788ULL, 1000);
	KUNIT_ASSERT_EQ(test, fixture_write(&ends.a, IB_MGMT_MAD_SIZE),
			heada + IB_MGMT_MAD_SIZE);
	KUNIT_ASSERT_TRUE(test, fixture_wait(&ends.b));
	KUNIT_ASSERT_EQ(test, fixture_read(&ends.b, IB_MGMT_MAD_SIZE),
			headb + IB_MGMT_MAD_SIZE);
	KUNIT_EXPECT_EQ(test, fixture_mad->hdr.id, ends.idb);
	KUNIT_EXPECT_EQ(test, fixture_mad->hdr.status, 0u);
	KUNIT_EXPECT_EQ(test, fixture_mad->hdr.length, headb + IB_MGMT_MAD_SIZE);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(fixture_mad->hdr.qpn), 1u);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(fixture_mad->hdr.lid), ends.a.hca->port[1].lid);
	KUNIT_EXPECT_EQ(test, fixture_mad->hdr.grh_present, 0);
	KUNIT_EXPECT_EQ(test, fixture_mad->mad.method, IB_MGMT_METHOD_GET);
	/* The kernel has set the upper half of the TID. */
	tid = be64_to_cpu(fixture_mad->mad.tid);
	KUNIT_EXPECT_EQ(test, lower_32_bits(tid), 0x55667788u);
	KUNIT_EXPECT_NE(test, upper_32_bits(tid), 0x11223344u);

	KUNIT_ASSERT_EQ(test, answer(), headb + IB_MGMT_MAD_SIZE);
	KUNIT_ASSERT_TRUE(test, fixture_wait(&ends.a));
	KUNIT_ASSERT_EQ(test, fixture_read(&ends.a, IB_MGMT_MAD_SIZE),
			heada + IB_MGMT_MAD_SIZE);
	KUNIT_EXPECT_EQ(test, fixture_mad->hdr.id, ends.ida);
	KUNIT_EXPECT_EQ(test, fixture_mad->mad.method, IB_MGMT_METHOD_GET_RESP);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(fixture_mad->mad.tid), tid);

	/* No other MAD arrives, and nothing is left of the sends. */
	msleep(3000);
	KUNIT_EXPECT_FALSE(test, fixture_readable(&ends.a));
	KUNIT_EXPECT_EQ(test, fixture_sends(&ends.a), 0);
	KUNIT_EXPECT_EQ(test, fixture_sends(&ends.b), 0);
}

static void a_request_gets_its_response(struct kunit *test)
{
	exchange(test);
}

static void the_old_header_does_too(struct kunit *test)
{
	fixture_close(&ends.a);
	KUNIT_ASSERT_EQ(test, fixture_open(&ends.a, O_NONBLOCK), 0);
	KUNIT_ASSERT_EQ(test, fixture_register_old(&ends.a, TEST_CLASS, 0, 0), 0);
	exchange(test);
	fixture_close(&ends.b);
	KUNIT_ASSERT_EQ(test, fixture_open(&ends.b, O_NONBLOCK), 0);
	KUNIT_ASSERT_EQ(test, fixture_register_old(&ends.b, TEST_CLASS, IB_MGMT_METHOD_GET,
						   0), 0);
	exchange(test);
}

static void a_timeout_is_read(struct kunit *test)
{
	struct umad_mad *mad = fixture_request(ends.ida, &ends.b, SILENT, 0x1234, 200);
	unsigned long start = jiffies;

	mad->hdr.retries = 2;
	mad->hdr.length = 0x1111;
	mad->hdr.qkey = cpu_to_be32(IB_QP1_QKEY);
	KUNIT_ASSERT_EQ(test, fixture_write(&ends.a, IB_MGMT_MAD_SIZE), 64 + 256);
	KUNIT_EXPECT_EQ(test, fixture_sends(&ends.a), 1);
	KUNIT_ASSERT_TRUE(test, fixture_wait(&ends.a));
	KUNIT_EXPECT_GE(test, jiffies_to_msecs(jiffies - start), 600u);
	KUNIT_EXPECT_LE(test, took_ms(jiffies - start), 900u);
	/* The process reads its own header, with the status. */
	KUNIT_EXPECT_EQ(test, fixture_read(&ends.a, 23), -EINVAL);
	KUNIT_ASSERT_EQ(test, fixture_read(&ends.a, IB_MGMT_MAD_SIZE), 64 + 24);
	KUNIT_EXPECT_EQ(test, fixture_mad->hdr.id, ends.ida);
	KUNIT_EXPECT_EQ(test, fixture_mad->hdr.status, ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, fixture_mad->hdr.timeout_ms, 200u);
	KUNIT_EXPECT_EQ(test, fixture_mad->hdr.retries, 2u);
	KUNIT_EXPECT_EQ(test, fixture_mad->hdr.length, 0x1111u);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(fixture_mad->hdr.qkey), IB_QP1_QKEY);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(fixture_mad->hdr.lid), ends.b.hca->port[1].lid);
	KUNIT_EXPECT_EQ(test, fixture_mad->mad.method, SILENT);
	KUNIT_EXPECT_EQ(test, lower_32_bits(be64_to_cpu(fixture_mad->mad.tid)), 0x1234u);
	KUNIT_EXPECT_EQ(test, fixture_sends(&ends.a), 0);
}

/* Cancelled sends are not reported, as the process cancelled them itself. */
static void unregistering_cancels(struct kunit *test)
{
	int i;

	for (i = 0; i < 300; i++) {
		fixture_request(ends.ida, &ends.b, SILENT, i, i & 1 ? 60000 : ~0u);
		KUNIT_ASSERT_EQ(test, fixture_write(&ends.a, IB_MGMT_MAD_SIZE), 64 + 256);
	}
	fixture_quiesce();
	KUNIT_EXPECT_EQ(test, fixture_sends(&ends.a), 300);
	KUNIT_EXPECT_EQ(test, fixture_unregister(&ends.a, ends.ida), 0);
	KUNIT_EXPECT_EQ(test, fixture_sends(&ends.a), 0);
	KUNIT_EXPECT_FALSE(test, fixture_readable(&ends.a));
	/* Closing the file cancels sends, too. */
	ends.ida = fixture_register(&ends.a, TEST_CLASS, 0, 0, 0);
	fixture_request(ends.ida, &ends.b, SILENT, 1, 60000);
	KUNIT_EXPECT_EQ(test, fixture_write(&ends.a, IB_MGMT_MAD_SIZE), 64 + 256);
	fixture_close(&ends.a);
	KUNIT_EXPECT_EQ(test, fixture_sends(&ends.a), 0);
}

struct bad_write {
	u32 id;
	size_t len;
	u8 base_version;
	u8 grh_present, gid_index;
	int error;
};

static const struct bad_write bad_writes[] = {
	{ 0, 0, 1, 0, 0, -EINVAL },
	{ 0, 35, 1, 0, 0, -EINVAL },
	{ 0, 257, 1, 0, 0, -EINVAL },
	{ 0, 2048, OPA_MGMT_BASE_VERSION, 0, 0, -EINVAL },
	{ 0, 60000, 1, 0, 0, -EINVAL },
	{ 1, 256, 1, 0, 0, -EIO },
	{ 31, 256, 1, 0, 0, -EIO },
	{ 32, 256, 1, 0, 0, -EINVAL },
	{ ~0, 256, 1, 0, 0, -EINVAL },
	{ 0, 256, 1, 1, 200, -EINVAL },
};

static void bad_writes_are_refused(struct kunit *test)
{
	const struct bad_write *bad;
	struct umad_mad *mad;
	ssize_t ret;
	int i;

	for (i = 0; i < ARRAY_SIZE(bad_writes); i++) {
		bad = &bad_writes[i];
		mad = fixture_request(bad->id, &ends.b, IB_MGMT_METHOD_GET, 1, 0);
		mad->mad.base_version = bad->base_version;
		mad->hdr.grh_present = bad->grh_present;
		mad->hdr.gid_index = bad->gid_index;
		ret = fixture_write(&ends.a, bad->len);
		/*
		 * The creation of the address handle determines the error for a bad
		 * address.
		 */
		KUNIT_EXPECT_TRUE_MSG(test, ret == bad->error ||
				      (bad->grh_present && ret < 0),
				      "case %d: %zd", i, ret);
	}
	fixture_quiesce();
	KUNIT_EXPECT_FALSE(test, fixture_readable(&ends.b));
	KUNIT_EXPECT_EQ(test, fixture_sends(&ends.a), 0);
	/* The headers of the class must be there, and that of RMPP if the agent has it. */
	fixture_request(ends.ida, &ends.b, SILENT, 1, 0)->mad.mgmt_class =
		IB_MGMT_CLASS_SUBN_ADM;
	KUNIT_EXPECT_EQ(test, fixture_write(&ends.a, IB_MGMT_SA_HDR - 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, fixture_write(&ends.a, IB_MGMT_SA_HDR), 64 + IB_MGMT_SA_HDR);
	KUNIT_ASSERT_EQ(test, fixture_register(&ends.a, TEST_RMPP_CLASS, 0, 1,
					       IB_USER_MAD_USER_RMPP), 1);
	fixture_request(1, &ends.b, SILENT, 1, 0);
	KUNIT_EXPECT_EQ(test, fixture_write(&ends.a, IB_MGMT_MAD_SIZE), -EINVAL);
	/* The shortest MAD that is accepted is filled up with zeroes. */
	fixture_request(ends.ida, &ends.b, IB_MGMT_METHOD_GET, 1, 0);
	KUNIT_EXPECT_EQ(test, fixture_write(&ends.a, 36), 64 + 36);
	KUNIT_ASSERT_TRUE(test, fixture_wait(&ends.b));
	KUNIT_EXPECT_EQ(test, fixture_read(&ends.b, IB_MGMT_MAD_SIZE), 64 + 256);
}

static ssize_t write_at(struct umad_end *end, unsigned long addr, size_t len)
{
	return end->filp->f_op->write(end->filp, (void __user *)addr, len,
				      &end->filp->f_pos);
}

/* The memory ends in the header, in the headers of the MAD, in its data. */
static void bad_memory_sends_nothing(struct kunit *test)
{
	static const size_t there[] = { 32, 64 + 32, 64 + 64, 64 + 200 };
	size_t len = fixture_transfer(1, &ends.b, 1, 1, 5000);
	struct fixture_page page = {};
	int i;

	KUNIT_ASSERT_EQ(test, fixture_register(&ends.a, TEST_RMPP_CLASS, 0, 1, 0), 1);
	KUNIT_EXPECT_EQ(test, write_at(&ends.a, 8, 320), -EFAULT);
	fixture_page_map(test, &page, PROT_READ);
	for (i = 0; i < ARRAY_SIZE(there); i++) {
		unsigned long at = PAGE_SIZE - there[i];

		fixture_transfer(1, &ends.b, 1, 1, 5000);
		memcpy(page.data + at, fixture_mad, there[i]);
		KUNIT_EXPECT_EQ(test, write_at(&ends.a, page.addr + at, 64 + len), -EFAULT);
		fixture_request(ends.ida, &ends.b, IB_MGMT_METHOD_GET, 1, 0);
		memcpy(page.data + at, fixture_mad, there[i]);
		KUNIT_EXPECT_EQ(test, write_at(&ends.a, page.addr + at, 64 + 256),
				-EFAULT);
	}
	fixture_quiesce();
	KUNIT_EXPECT_FALSE(test, fixture_readable(&ends.b));
	KUNIT_EXPECT_EQ(test, fixture_sends(&ends.a), 0);
	fixture_page_free(&page);
}

static void unregister_a(void *arg)
{
	struct kunit *test = arg;

	KUNIT_EXPECT_EQ(test, umad_agent_unregister(ends.a.file, ends.ida, 0), 0);
}

static void replace_a(void *arg)
{
	struct umad_registration reg = { .qpn = 1 };
	struct kunit *test = arg;
	u64 serial;
	u32 id;

	unregister_a(test);
	KUNIT_EXPECT_EQ(test, umad_agent_register(ends.a.file, &reg, &id, &serial), 0);
	KUNIT_EXPECT_EQ(test, id, ends.ida);
	/* The serial of the old agent does not unregister the new one. */
	KUNIT_EXPECT_EQ(test, umad_agent_unregister(ends.a.file, id, serial - 1), -EINVAL);
}

/* An agent may be unregistered while a write waits for memory (userfaultfd). */
static void an_agent_may_go_while_its_mad_is_copied(struct kunit *test)
{
	static void (*const fns[])(void *) = { unregister_a, replace_a };
	struct fixture_page page;
	int i;

	for (i = 0; i < ARRAY_SIZE(fns); i++) {
		/* The headers are on the first page, the data on the second. */
		page = (struct fixture_page){ .fn = fns[i], .arg = test };
		fixture_page_map(test, &page, PROT_READ);
		fixture_request(ends.ida, &ends.b, IB_MGMT_METHOD_GET, 1, 0);
		memcpy(page.data + PAGE_SIZE - 128, fixture_mad, 128);
		KUNIT_EXPECT_EQ(test, write_at(&ends.a, page.addr + PAGE_SIZE - 128,
					       64 + 256), -EIO);
		KUNIT_EXPECT_TRUE(test, page.touched);
		fixture_page_free(&page);
		if (!i)
			KUNIT_EXPECT_EQ(test, fixture_register(&ends.a, TEST_CLASS, 0, 0, 0), 0);
	}
	KUNIT_EXPECT_EQ(test, fixture_sends(&ends.a), 0);
}

static ssize_t again(struct umad_end *to, u8 mgmt_class, u8 method, u64 tid)
{
	fixture_request(ends.ida, to, method, tid, 60000)->mad.mgmt_class = mgmt_class;
	return fixture_write(&ends.a, IB_MGMT_MAD_SIZE);
}

/* Sends whose responses or ACKs could be mistaken for each other's are refused. */
static void sends_alike_are_refused(struct kunit *test)
{
	const u8 resp = IB_MGMT_METHOD_GET_RESP;

	KUNIT_EXPECT_EQ(test, again(&ends.b, TEST_CLASS, SILENT, 9), 320);
	KUNIT_EXPECT_EQ(test, again(&ends.b, TEST_CLASS, SILENT, 9), -EINVAL);
	KUNIT_EXPECT_EQ(test, again(&ends.b, TEST_CLASS, SILENT, 9 | 5ULL << 32), -EINVAL);
	KUNIT_EXPECT_EQ(test, again(&ends.b, TEST_CLASS, 5, 9), -EINVAL);
	KUNIT_EXPECT_EQ(test, again(&ends.a, TEST_CLASS, SILENT, 9), -EINVAL);
	KUNIT_EXPECT_EQ(test, again(&ends.b, TEST_CLASS + 1, SILENT, 9), 320);
	KUNIT_EXPECT_EQ(test, again(&ends.b, TEST_CLASS, SILENT, 10), 320);
	/* Its response would be taken for that of the other. */
	fixture_request(ends.ida, &ends.b, SILENT, 9, 0);
	KUNIT_EXPECT_EQ(test, fixture_write(&ends.a, IB_MGMT_MAD_SIZE), -EINVAL);
	/*
	 * A response has its requester's TID, so responses to different requesters may
	 * share one.
	 */
	KUNIT_EXPECT_EQ(test, again(&ends.b, TEST_CLASS, resp, 9), 320);
	KUNIT_EXPECT_EQ(test, again(&ends.b, TEST_CLASS, resp, 9), -EINVAL);
	KUNIT_EXPECT_EQ(test, again(&ends.a, TEST_CLASS, resp, 9), 320);
	KUNIT_EXPECT_EQ(test, again(&ends.b, TEST_CLASS, resp, 9 | 5ULL << 32), 320);
	/* Another agent has other TIDs for its requests, but not for responses. */
	KUNIT_ASSERT_EQ(test, fixture_register(&ends.a, 0, 0, 0, 0), 1);
	fixture_request(1, &ends.b, SILENT, 9, 60000);
	KUNIT_EXPECT_EQ(test, fixture_write(&ends.a, IB_MGMT_MAD_SIZE), 320);
	fixture_request(1, &ends.b, resp, 9, 60000);
	KUNIT_EXPECT_EQ(test, fixture_write(&ends.a, IB_MGMT_MAD_SIZE), -EINVAL);
	KUNIT_EXPECT_EQ(test, fixture_unregister(&ends.a, 1), 0);
	fixture_quiesce();
	KUNIT_EXPECT_EQ(test, fixture_sends(&ends.a), 6);
	KUNIT_EXPECT_EQ(test, fixture_unregister(&ends.a, ends.ida), 0);
	KUNIT_EXPECT_EQ(test, fixture_sends(&ends.a), 0);
}

/*
 * Responses with the same TID: peers are distinguished by their GIDs if they have GRHs.
 */
static void responses_differ_by_gid(struct kunit *test)
{
	struct umad_mad *mad;
	int i;

	for (i = 0; i < 4; i++) {
		mad = fixture_request(ends.ida, &ends.b, IB_MGMT_METHOD_GET_RESP, 3, 60000);
		mad->hdr.grh_present = i > 0;
		memcpy(mad->hdr.gid, ends.b.hca->port[1].gids[0].raw, 16);
		mad->hdr.gid[15] += i > 1;
		KUNIT_EXPECT_EQ_MSG(test, fixture_write(&ends.a, IB_MGMT_MAD_SIZE),
				    i < 3 ? 320 : -EINVAL, "case %d", i);
	}
}

/* The process has read its response; that its request is sent is not known yet. */
static void a_tid_is_free_once_it_is_answered(struct kunit *test)
{
	ends.a.hca->hold_send_completions = true;
	fixture_request(ends.ida, &ends.b, IB_MGMT_METHOD_GET, 9, 60000);
	KUNIT_ASSERT_EQ(test, fixture_write(&ends.a, IB_MGMT_MAD_SIZE), 320);
	KUNIT_ASSERT_TRUE(test, fixture_wait(&ends.b));
	KUNIT_ASSERT_EQ(test, fixture_read(&ends.b, IB_MGMT_MAD_SIZE), 320);
	KUNIT_ASSERT_EQ(test, answer(), 320);
	KUNIT_ASSERT_TRUE(test, fixture_wait(&ends.a));
	KUNIT_ASSERT_EQ(test, fixture_read(&ends.a, IB_MGMT_MAD_SIZE), 320);
	KUNIT_EXPECT_EQ(test, fixture_sends(&ends.a), 1);
	KUNIT_EXPECT_EQ(test, again(&ends.b, TEST_CLASS, IB_MGMT_METHOD_GET, 9), 320);
	KUNIT_EXPECT_EQ(test, again(&ends.b, TEST_CLASS, IB_MGMT_METHOD_GET, 9), -EINVAL);
	fake_hca_release_completions(ends.a.hca);
	fixture_quiesce();
	KUNIT_EXPECT_EQ(test, fixture_sends(&ends.a), 1);
	/* The end of the first has not made the TID of the second free. */
	KUNIT_EXPECT_EQ(test, again(&ends.b, TEST_CLASS, IB_MGMT_METHOD_GET, 9), -EINVAL);
}

static void what_expects_nothing_may_be_repeated(struct kunit *test)
{
	int i;

	for (i = 0; i < 20; i++) {
		fixture_request(ends.ida, &ends.b, SILENT, 9, 0);
		KUNIT_EXPECT_EQ(test, fixture_write(&ends.a, IB_MGMT_MAD_SIZE), 320);
	}
	fixture_quiesce();
	KUNIT_EXPECT_EQ(test, fixture_sends(&ends.a), 0);
}

static void what_the_provider_refuses_is_undone(struct kunit *test)
{
	atomic_set(&ends.a.hca->fail_create[FAKE_AH], 1);
	KUNIT_EXPECT_LT(test, again(&ends.b, TEST_CLASS, SILENT, 9), 0);
	atomic_set(&ends.a.hca->fail_post_send, 1);
	KUNIT_EXPECT_LT(test, again(&ends.b, TEST_CLASS, SILENT, 9), 0);
	KUNIT_EXPECT_EQ(test, fixture_sends(&ends.a), 0);
	/* Neither send is outstanding. */
	KUNIT_EXPECT_EQ(test, again(&ends.b, TEST_CLASS, SILENT, 9), 320);
}

/* A send that fails otherwise than by a timeout is not reported. */
static void a_failed_send_is_freed(struct kunit *test)
{
	ends.a.hca->send_status = IB_WC_REM_OP_ERR;
	KUNIT_EXPECT_EQ(test, again(&ends.b, TEST_CLASS, SILENT, 9), 320);
	fixture_quiesce();
	KUNIT_EXPECT_EQ(test, fixture_sends(&ends.a), 0);
	KUNIT_EXPECT_FALSE(test, fixture_readable(&ends.a));
	ends.a.hca->send_status = IB_WC_SUCCESS;
}

static size_t fault_len;

/* Uses an agent of its own, so that one call leaves nothing for the next. */
static int write_once(struct kunit *test)
{
	int nth = current->fail_nth;
	ssize_t ret;

	current->fail_nth = 0;
	KUNIT_EXPECT_EQ(test, fixture_register(&ends.a, TEST_RMPP_CLASS, 0, 1, 0), 1);
	current->fail_nth = nth;
	ret = fixture_write(&ends.a, fault_len);
	nth = current->fail_nth;
	current->fail_nth = 0;
	if (ret < 0)
		KUNIT_EXPECT_EQ(test, fixture_sends(&ends.a), 0);
	fixture_unregister(&ends.a, 1);
	KUNIT_EXPECT_EQ(test, fixture_sends(&ends.a), 0);
	current->fail_nth = nth;
	return ret < 0 ? ret : 0;
}

static void each_failed_allocation_is_survived(struct kunit *test)
{
	fixture_request(1, &ends.b, SILENT, 9, 1000)->mad.mgmt_class = TEST_RMPP_CLASS;
	fault_len = IB_MGMT_MAD_SIZE;
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, write_once), 3u);
	fault_len = fixture_transfer(1, &ends.b, SILENT, 10, 1000);
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, write_once), 4u);
}

static int test_process_mad(struct fake_hca *at, u32 port, const struct ib_wc *wc,
			    const struct ib_mad *in, struct ib_mad *out, size_t *out_len)
{
	*out = *in;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	out->mad_hdr.status = IB_SMP_DIRECTION;
	((struct ib_smp *)out)->data[0] = 0xd0;
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

/* A directed route of no hops: the node's own SMA answers (IBA 14.2.2). */
static void a_directed_route_reaches_the_node_itself(struct kunit *test)
{
	static const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND, .sma = true,
	};
	struct umad_end sm = {};
	struct umad_mad *mad;
	int id;

	KUNIT_ASSERT_EQ(test, fixture_end_init(&sm, &params), 0);
	sm.hca->process_mad = test_process_mad;
	id = fixture_register(&sm, IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, id, 0);
	mad = fixture_request(id, &sm, IB_MGMT_METHOD_GET, 0x77, 1000);
	mad->hdr.qpn = 0;
	mad->hdr.lid = IB_LID_PERMISSIVE;
	mad->smp.mgmt_class = IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
	mad->smp.attr_id = IB_SMP_ATTR_NODE_INFO;
	mad->smp.dr_slid = IB_LID_PERMISSIVE;
	mad->smp.dr_dlid = IB_LID_PERMISSIVE;
	KUNIT_EXPECT_EQ(test, fixture_write(&sm, IB_MGMT_MAD_SIZE), 320);
	KUNIT_EXPECT_TRUE(test, fixture_wait(&sm));
	KUNIT_EXPECT_EQ(test, fixture_read(&sm, IB_MGMT_MAD_SIZE), 320);
	KUNIT_EXPECT_EQ(test, fixture_mad->mad.method, IB_MGMT_METHOD_GET_RESP);
	KUNIT_EXPECT_EQ(test, fixture_mad->smp.data[0], 0xd0);
	KUNIT_EXPECT_EQ(test, lower_32_bits(be64_to_cpu(fixture_mad->mad.tid)), 0x77u);

	/* A route of too many hops is refused. */
	mad = fixture_request(id, &sm, IB_MGMT_METHOD_GET, 0x78, 1000);
	mad->hdr.lid = IB_LID_PERMISSIVE;
	mad->smp.mgmt_class = IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
	mad->smp.hop_cnt = 65;
	KUNIT_EXPECT_EQ(test, fixture_write(&sm, IB_MGMT_MAD_SIZE), -EINVAL);
	fixture_end_exit(&sm);
}

static struct kunit_case send_cases[] = {
	KUNIT_CASE(a_request_gets_its_response),
	KUNIT_CASE(the_old_header_does_too),
	KUNIT_CASE(a_timeout_is_read),
	KUNIT_CASE(unregistering_cancels),
	KUNIT_CASE(bad_writes_are_refused),
	KUNIT_CASE(bad_memory_sends_nothing),
	KUNIT_CASE(an_agent_may_go_while_its_mad_is_copied),
	KUNIT_CASE(sends_alike_are_refused),
	KUNIT_CASE(responses_differ_by_gid),
	KUNIT_CASE(a_tid_is_free_once_it_is_answered),
	KUNIT_CASE(what_expects_nothing_may_be_repeated),
	KUNIT_CASE(what_the_provider_refuses_is_undone),
	KUNIT_CASE(a_failed_send_is_freed),
	KUNIT_CASE(each_failed_allocation_is_survived),
	KUNIT_CASE(a_directed_route_reaches_the_node_itself),
	{}
};

static struct kunit_suite umad_send_suite = {
	.name = "umad_send",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = send_cases,
};

kunit_test_suite(umad_send_suite);
