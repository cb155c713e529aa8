// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* SA queries: wire format, responses, errors, timeouts, cancellation. */
#include "faults.h"
#include "fake_sa.h"
#include "wait.h"

static struct fake_sa *sa;
static struct fake_hca *hca;
static struct ib_sa_client client;

/* The calls of the callbacks. */
static struct {
	atomic_t calls;
	int status;
	unsigned long when;
	struct sa_path_rec path;
	unsigned int paths;
	struct ib_sa_guidinfo_rec guids;
	bool has_guids;
} got;

static int sa_test_init(struct kunit *test)
{
	memset(&got, 0, sizeof(got));
	return fake_sa_begin(&sa, &hca, &client);
}

static void sa_test_exit(struct kunit *test)
{
	fake_sa_end(&sa, &hca);
}

static void path_cb(int status, struct sa_path_rec *path, unsigned int paths,
		    void *context)
{
	got.status = status;
	got.paths = paths;
	got.when = jiffies;
	if (path)
		got.path = *path;
	if (context)
		msleep(*(int *)context);
	atomic_inc(&got.calls);
}

static const struct sa_path_rec asked_path = {
	.rec_type = SA_PATH_REC_TYPE_IB,
	.service_id = cpu_to_be64(0x1122334455667788ULL),
	.dgid.raw = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8 },
	.sgid.raw = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 9, 10, 11, 12, 13, 14, 15, 16 },
	.ib = { .dlid = cpu_to_be16(0x1234), .slid = cpu_to_be16(0x5678),
		.raw_traffic = 1 },
	.flow_label = cpu_to_be32(0xabcde),
	.hop_limit = 0x3f,
	.traffic_class = 0x5a,
	.reversible = 1,
	.numb_path = 3,
	.pkey = cpu_to_be16(0x8001),
	.qos_class = cpu_to_be16(0xcba),
	.sl = 0x9,
	.mtu_selector = IB_SA_EQ,
	.mtu = IB_MTU_2048,
	.rate_selector = IB_SA_BEST,
	.rate = IB_RATE_100_GBPS,
	.packet_life_time_selector = IB_SA_LT,
	.packet_life_time = 18,
	.preference = 7,
};

/* The same record in its wire format: IBA volume 1, 15.2.5.16. */
static const u8 path_bytes[64] = {
	0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
	0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8,
	0xfe, 0x80, 0, 0, 0, 0, 0, 0, 9, 10, 11, 12, 13, 14, 15, 16,
	0x12, 0x34, 0x56, 0x78,
	0x8a, 0xbc, 0xde, 0x3f,		/* raw, 3 reserved, flow label, hop limit */
	0x5a, 0x83,			/* class; reversible, 3 paths */
	0x80, 0x01,
	0xcb, 0xa9,			/* QoS class, SL */
	0x84, 0xd0, 0x52, 0x07,		/* MTU, rate, life time, preference */
};

static int ask_for(u8 preference, unsigned long timeout_ms, struct ib_sa_query **query)
{
	struct sa_path_rec rec = asked_path;

	rec.preference = preference;
	return ib_sa_path_rec_get(&client, &hca->ibdev, 1, &rec,
				  IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_SGID |
				  IB_SA_PATH_REC_PREFERENCE, timeout_ms,
				  GFP_KERNEL, path_cb, NULL, query);
}

static int ask(unsigned long timeout_ms, struct ib_sa_query **query)
{
	return ask_for(asked_path.preference, timeout_ms, query);
}

static void expect_idle(struct kunit *test)
{
	fake_sa_expect_idle(test, hca, &client);
}

static void a_query_on_the_wire(struct kunit *test)
{
	const struct ib_sa_mad *mad = &sa->last;
	struct ib_sa_query *query;
	u64 mask;

	KUNIT_ASSERT_GT(test, ask(1000, &query), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 1));
	KUNIT_EXPECT_EQ(test, mad->mad_hdr.base_version, 1);
	KUNIT_EXPECT_EQ(test, mad->mad_hdr.mgmt_class, 0x03);
	KUNIT_EXPECT_EQ(test, mad->mad_hdr.class_version, 2);
	KUNIT_EXPECT_EQ(test, mad->mad_hdr.method, 0x01);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(mad->mad_hdr.attr_id), 0x35);
	KUNIT_EXPECT_EQ(test, mad->mad_hdr.attr_mod, (__be32)0);
	KUNIT_EXPECT_EQ(test, mad->rmpp_hdr.rmpp_rtime_flags & 1, 0);
	mask = be64_to_cpu((__force __be64)mad->sa_hdr.comp_mask);
	KUNIT_EXPECT_EQ(test, mask, BIT_ULL(2) | BIT_ULL(3) | BIT_ULL(22));
	KUNIT_EXPECT_MEMEQ(test, mad->data, path_bytes, sizeof(path_bytes));
	KUNIT_EXPECT_EQ(test, sa->src_qp, 1u);
	KUNIT_EXPECT_EQ(test, sa->slid, hca->port[1].lid);

	/* The other direction: the SA responds with the record of the request. */
	KUNIT_EXPECT_EQ(test, got.status, 0);
	KUNIT_EXPECT_EQ(test, got.paths, 1u);
	KUNIT_EXPECT_MEMEQ(test, &got.path, &asked_path, sizeof(asked_path));
	expect_idle(test);
}

static void an_opa_record_comes_back_as_one(struct kunit *test)
{
	struct sa_path_rec rec = { .rec_type = SA_PATH_REC_TYPE_OPA };
	struct ib_sa_query *query;

	rec.opa.dlid = cpu_to_be32(0x1234);
	rec.opa.slid = cpu_to_be32(0x5678);
	rec.opa.raw_traffic = 1;
	KUNIT_ASSERT_GT(test, ib_sa_path_rec_get(&client, &hca->ibdev, 1, &rec,
						 IB_SA_PATH_REC_DLID, 1000,
						 GFP_KERNEL, path_cb, NULL, &query), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 1));
	KUNIT_EXPECT_EQ(test, sa->last.data[40], 0x12);
	KUNIT_EXPECT_EQ(test, sa->last.data[43], 0x78);
	KUNIT_EXPECT_EQ(test, sa->last.data[44], 0x80);
	KUNIT_EXPECT_EQ(test, got.path.rec_type, SA_PATH_REC_TYPE_OPA);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(got.path.opa.dlid), 0x1234u);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(got.path.opa.slid), 0x5678u);
	KUNIT_EXPECT_EQ(test, got.path.opa.raw_traffic, 1);
}

static void what_cannot_be_asked(struct kunit *test)
{
	struct sa_path_rec rec = { .rec_type = SA_PATH_REC_TYPE_ROCE_V2 };
	struct ib_sa_guidinfo_rec guids = {};
	struct ib_sa_query *query;

	KUNIT_EXPECT_EQ(test, ib_sa_path_rec_get(&client, &hca->ibdev, 1, &rec, 0, 100,
						 GFP_KERNEL, path_cb, NULL, &query),
			-EINVAL);
	rec = asked_path;
	KUNIT_EXPECT_EQ(test, ib_sa_path_rec_get(&client, &hca->ibdev, 0, &rec, 0, 100,
						 GFP_KERNEL, path_cb, NULL, &query),
			-ENODEV);
	KUNIT_EXPECT_EQ(test, ib_sa_path_rec_get(&client, &hca->ibdev, 3, &rec, 0, 100,
						 GFP_KERNEL, path_cb, NULL, &query),
			-ENODEV);
	KUNIT_EXPECT_EQ(test, ib_sa_guid_info_rec_query(&client, &hca->ibdev, 1, &guids,
							0, IB_MGMT_METHOD_SEND, 100,
							GFP_KERNEL, NULL, NULL, &query),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ib_sa_guid_info_rec_query(&client, &hca->ibdev, 3, &guids,
							0, IB_MGMT_METHOD_GET, 100,
							GFP_KERNEL, NULL, NULL, &query),
			-ENODEV);
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->requests), 0);
	expect_idle(test);
}

static void errors_of_the_sa(struct kunit *test)
{
	static const u16 errors[] = { 0x0001, 0x000c, 0x0100, 0x0300, 0x0700 };
	struct ib_sa_query *query;
	int i;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		sa->status = errors[i];
		KUNIT_ASSERT_GT(test, ask(1000, &query), 0);
		KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, i + 1));
		KUNIT_EXPECT_EQ(test, got.status, -EINVAL);
		KUNIT_EXPECT_EQ(test, got.paths, 0u);
	}
	/* A response with another attribute ID is an error. */
	sa->status = 0;
	sa->other_attr = IB_SA_ATTR_NODE_REC;
	KUNIT_ASSERT_GT(test, ask(1000, &query), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, i + 1));
	KUNIT_EXPECT_EQ(test, got.status, -EINVAL);
	expect_idle(test);
}

/* The timeout is that of all tries together; all have the same TID. */
static void an_sa_that_does_not_answer(struct kunit *test)
{
	static const unsigned int times[] = { 3, 500, 2000, 60000 };
	struct ib_sa_query *query;
	unsigned long start;
	unsigned int took;
	int i;

	sa->deaf = true;
	for (i = 0; i < ARRAY_SIZE(times); i++) {
		atomic_set(&sa->requests, 0);
		start = jiffies;
		KUNIT_ASSERT_GT(test, ask(times[i], &query), 0);
		KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, i + 1));
		KUNIT_EXPECT_EQ(test, got.status, -ETIMEDOUT);
		took = jiffies_to_msecs(got.when - start);
		KUNIT_EXPECT_GE(test, took, times[i]);
		KUNIT_EXPECT_LE(test, took / fake_hca_slow, times[i] + times[i] / 7 + 250);
		fake_sa_quiesce(hca);
		KUNIT_EXPECT_EQ(test, atomic_read(&sa->requests), 10);
	}
	expect_idle(test);
}

static void a_lost_query_is_repeated(struct kunit *test)
{
	struct ib_sa_query *query;
	__be64 tid;

	sa->deaf = true;
	KUNIT_ASSERT_GT(test, ask(10000, &query), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&sa->requests, 1));
	tid = sa->last.mad_hdr.tid;
	KUNIT_EXPECT_EQ(test, be64_to_cpu(tid) >> 32,
			ibmad_sa_port(&hca->ibdev, 1)->agent->hi_tid);
	KUNIT_ASSERT_TRUE(test, mad_wait(&sa->requests, 3));
	sa->deaf = false;
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 1));
	KUNIT_EXPECT_EQ(test, got.status, 0);
	KUNIT_EXPECT_EQ(test, sa->last.mad_hdr.tid, tid);
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->requests), 4);
	/* Another query has another TID. */
	KUNIT_ASSERT_GT(test, ask(1000, &query), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 2));
	KUNIT_EXPECT_NE(test, sa->last.mad_hdr.tid, tid);
}

static void queries_are_told_apart(struct kunit *test)
{
	struct ib_sa_query *one, *two, *three;
	int id[3];

	sa->hold = true;
	id[0] = ask_for(0, 1000000, &one);
	id[1] = ask_for(1, 1000000, &two);
	id[2] = ask_for(2, 1000000, &three);
	KUNIT_ASSERT_TRUE(test, mad_wait(&sa->requests, 3));
	KUNIT_EXPECT_NE(test, id[0], id[1]);
	KUNIT_EXPECT_NE(test, id[1], id[2]);
	KUNIT_EXPECT_EQ(test, atomic_read(&client.users), 4);
	/* An ID and a query that do not belong together cancel nothing. */
	ib_sa_cancel_query(id[0], two);
	ib_sa_cancel_query(id[0], NULL);
	ib_sa_cancel_query(0x7ffffff0, NULL);
	ib_sa_cancel_query(-1, ERR_PTR(-EAGAIN));
	fake_sa_quiesce(hca);
	KUNIT_EXPECT_EQ(test, atomic_read(&got.calls), 0);

	ib_sa_cancel_query(id[1], two);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 1));
	KUNIT_EXPECT_EQ(test, got.status, -EINTR);
	/* Cancelling again has no effect. */
	ib_sa_cancel_query(id[1], two);
	fake_sa_release(sa);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 3));
	KUNIT_EXPECT_EQ(test, got.status, 0);
	/* After the response there is nothing to cancel. */
	ib_sa_cancel_query(id[0], one);
	expect_idle(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&got.calls), 3);
}

/* Cancelled between response and callback: the callback is called once in each case. */
static void cancel_against_the_answer(struct kunit *test)
{
	struct ib_sa_query *query;
	int id, i;

	for (i = 0; i < 50; i++) {
		sa->hold = true;
		id = ask(10000, &query);
		KUNIT_ASSERT_GT(test, id, 0);
		KUNIT_ASSERT_TRUE(test, mad_wait(&sa->requests, i + 1));
		fake_sa_release(sa);
		if (i & 1)
			usleep_range(i, i + 1);
		ib_sa_cancel_query(id, query);
		KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, i + 1));
		KUNIT_EXPECT_TRUE(test, !got.status || got.status == -EINTR);
	}
	expect_idle(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&got.calls), 50);
}

/* IPoIB begins and cancels queries under a lock that interrupt handlers take. */
static void queries_under_a_callers_lock(struct kunit *test)
{
	static DEFINE_SPINLOCK(lock);
	struct sa_path_rec rec = asked_path;
	struct ib_sa_query *query;
	unsigned long flags;
	bool off;
	int id;

	sa->hold = true;
	spin_lock_irqsave(&lock, flags);
	id = ib_sa_path_rec_get(&client, &hca->ibdev, 1, &rec, IB_SA_PATH_REC_DGID,
				1000, GFP_ATOMIC, path_cb, NULL, &query);
	off = irqs_disabled();
	spin_unlock_irqrestore(&lock, flags);
	KUNIT_ASSERT_GT(test, id, 0);
	KUNIT_EXPECT_TRUE(test, off);
	spin_lock_irqsave(&lock, flags);
	ib_sa_cancel_query(id, query);
	off = irqs_disabled();
	spin_unlock_irqrestore(&lock, flags);
	KUNIT_EXPECT_TRUE(test, off);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 1));
	KUNIT_EXPECT_EQ(test, got.status, -EINTR);
	fake_sa_release(sa);

	/* A query that fails does not enable interrupts either. */
	atomic_set(&hca->fail_post_send, 1);
	spin_lock_irqsave(&lock, flags);
	id = ib_sa_path_rec_get(&client, &hca->ibdev, 1, &rec, IB_SA_PATH_REC_DGID,
				1000, GFP_ATOMIC, path_cb, NULL, &query);
	off = irqs_disabled();
	spin_unlock_irqrestore(&lock, flags);
	KUNIT_EXPECT_EQ(test, id, -ENOMEM);
	KUNIT_EXPECT_TRUE(test, IS_ERR(query));
	KUNIT_EXPECT_TRUE(test, off);
	expect_idle(test);
}

static void without_a_subnet_manager(struct kunit *test)
{
	struct ib_sa_query *query;

	fake_sa_move(hca, NULL, IB_EVENT_SM_CHANGE);
	KUNIT_EXPECT_EQ(test, ask(1000, &query), -EAGAIN);
	expect_idle(test);
	/* The other port still has one. */
	KUNIT_EXPECT_NOT_NULL(test, ibmad_sa_port(&hca->ibdev, 2)->sm_ah);
	fake_sa_move(hca, sa, IB_EVENT_PORT_ACTIVE);
	KUNIT_ASSERT_GT(test, ask(1000, &query), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 1));
	KUNIT_EXPECT_EQ(test, got.status, 0);
}

/* The SM is removed after its LID was read and before the address handle is created. */
static void manager_goes(struct fake_hca *hca)
{
	struct sa_port *port = ibmad_sa_port(&hca->ibdev, 1);

	hca->on_create_ah = NULL;
	hca->port[1].sm_lid = 0;
	fake_hca_port_event(hca, 1, IB_EVENT_SM_CHANGE);
	WARN_ON(!wait_within(delayed_work_pending(&port->update), 1000));
}

static void the_subnet_manager_goes_while_it_is_looked_for(struct kunit *test)
{
	struct ib_sa_query *query;

	hca->on_create_ah = manager_goes;
	fake_hca_port_event(hca, 1, IB_EVENT_SM_CHANGE);
	KUNIT_EXPECT_TRUE(test, wait_within(!hca->on_create_ah, 1000));
	fake_sa_quiesce(hca);
	KUNIT_EXPECT_EQ(test, ask(1000, &query), -EAGAIN);
	fake_sa_move(hca, sa, IB_EVENT_SM_CHANGE);
	KUNIT_ASSERT_GT(test, ask(1000, &query), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 1));
	KUNIT_EXPECT_EQ(test, got.status, 0);
}

static void the_subnet_manager_moves(struct kunit *test)
{
	static const enum ib_event_type events[] = {
		IB_EVENT_SM_CHANGE, IB_EVENT_LID_CHANGE, IB_EVENT_PORT_ACTIVE,
		IB_EVENT_CLIENT_REREGISTER, IB_EVENT_PORT_ERR, IB_EVENT_PKEY_CHANGE,
	};
	struct fake_sa *other = fake_sa_create(), *now;
	struct ib_sa_query *query;
	int i, before;

	KUNIT_ASSERT_NOT_NULL(test, other);
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		now = i & 1 ? sa : other;
		before = atomic_read(&now->requests);
		fake_sa_move(hca, now, events[i]);
		KUNIT_ASSERT_GT(test, ask(1000, &query), 0);
		KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, i + 1));
		KUNIT_EXPECT_EQ(test, got.status, 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&now->requests), before + 1);
	}
	/* An event that does not concern the SM changes nothing. */
	fake_sa_move(hca, other, IB_EVENT_GID_CHANGE);
	KUNIT_ASSERT_GT(test, ask(1000, &query), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, i + 1));
	KUNIT_EXPECT_EQ(test, sa->slid, hca->port[1].lid);
	/* The address handles of former SMs were destroyed: one per port is left. */
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_AH]), 2);
	fake_sa_move(hca, sa, IB_EVENT_SM_CHANGE);
	fake_sa_destroy(other);
}

/* The address handle of a query in flight remains until the query ends. */
static void the_manager_moves_under_a_query(struct kunit *test)
{
	struct fake_sa *other = fake_sa_create();
	struct ib_sa_query *query;

	KUNIT_ASSERT_NOT_NULL(test, other);
	sa->hold = true;
	KUNIT_ASSERT_GT(test, ask(100000, &query), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&sa->requests, 1));
	fake_sa_move(hca, other, IB_EVENT_SM_CHANGE);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_AH]), 3);
	fake_sa_release(sa);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 1));
	KUNIT_EXPECT_EQ(test, got.status, 0);
	fake_sa_quiesce(hca);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_AH]), 2);
	fake_sa_destroy(other);
}

/* If the address handle cannot be created, that is tried again later. */
static void a_failed_look_for_the_manager(struct kunit *test)
{
	struct ib_sa_query *query;

	atomic_set(&hca->fail_create[FAKE_AH], 1);
	fake_sa_move(hca, sa, IB_EVENT_LID_CHANGE);
	KUNIT_EXPECT_EQ(test, ask(1000, &query), -EAGAIN);
	msleep(2000);
	KUNIT_ASSERT_GT(test, ask(1000, &query), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 1));
	KUNIT_EXPECT_EQ(test, got.status, 0);
	/* The device is removed before the next try, which does not happen. */
	atomic_set(&hca->fail_create[FAKE_AH], 1);
	fake_sa_move(hca, sa, IB_EVENT_LID_CHANGE);
	KUNIT_EXPECT_EQ(test, ask(1000, &query), -EAGAIN);
}

static void a_send_that_fails(struct kunit *test)
{
	struct ib_sa_query *query = NULL;

	atomic_set(&hca->fail_post_send, 1);
	KUNIT_EXPECT_EQ(test, ask(1000, &query), -ENOMEM);
	KUNIT_EXPECT_TRUE(test, IS_ERR(query));
	expect_idle(test);
	hca->send_status = IB_WC_LOC_QP_OP_ERR;
	KUNIT_ASSERT_GT(test, ask(1000, &query), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, 1));
	KUNIT_EXPECT_EQ(test, got.status, -EIO);
	hca->send_status = IB_WC_SUCCESS;
	expect_idle(test);
}

static void guids_cb(int status, struct ib_sa_guidinfo_rec *rec, void *context)
{
	got.status = status;
	got.has_guids = rec;
	if (rec)
		got.guids = *rec;
	atomic_inc(&got.calls);
}

static int ask_guids(u8 method)
{
	struct ib_sa_guidinfo_rec rec = {
		.lid = cpu_to_be16(0x1234),
		.block_num = 5,
	};
	struct ib_sa_query *query;
	int i;

	for (i = 0; i < sizeof(rec.guid_info_list); i++)
		rec.guid_info_list[i] = i + 1;
	return ib_sa_guid_info_rec_query(&client, &hca->ibdev, 1, &rec,
					 IB_SA_GUIDINFO_REC_LID |
					 IB_SA_GUIDINFO_REC_GID7, method, 1000,
					 GFP_KERNEL, guids_cb, NULL, &query);
}

/* IBA volume 1, 15.2.5.18 */
static void guid_info_records(struct kunit *test)
{
	static const u8 methods[] = {
		IB_MGMT_METHOD_GET, IB_MGMT_METHOD_SET, IB_SA_METHOD_DELETE,
	};
	static const u8 head[8] = { 0x12, 0x34, 5 };
	const struct ib_sa_mad *mad = &sa->last;
	int i, k;

	for (i = 0; i < ARRAY_SIZE(methods); i++) {
		KUNIT_ASSERT_GT(test, ask_guids(methods[i]), 0);
		KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, i + 1));
		KUNIT_EXPECT_EQ(test, mad->mad_hdr.method, methods[i]);
		KUNIT_EXPECT_EQ(test, be16_to_cpu(mad->mad_hdr.attr_id), 0x30);
		KUNIT_EXPECT_EQ(test,
				be64_to_cpu((__force __be64)mad->sa_hdr.comp_mask),
				BIT_ULL(0) | BIT_ULL(11));
		KUNIT_EXPECT_MEMEQ(test, mad->data, head, sizeof(head));
		for (k = 0; k < 64; k++)
			KUNIT_EXPECT_EQ(test, mad->data[8 + k], k + 1);
		KUNIT_EXPECT_EQ(test, got.status, 0);
		KUNIT_EXPECT_EQ(test, be16_to_cpu(got.guids.lid), 0x1234);
		KUNIT_EXPECT_EQ(test, got.guids.block_num, 5);
		KUNIT_EXPECT_EQ(test, got.guids.guid_info_list[63], 64);
	}
	sa->deaf = true;
	KUNIT_ASSERT_GT(test, ask_guids(IB_MGMT_METHOD_GET), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&got.calls, i + 1));
	KUNIT_EXPECT_EQ(test, got.status, -ETIMEDOUT);
	KUNIT_EXPECT_FALSE(test, got.has_guids);
	expect_idle(test);
}

/* Unregistering a client waits for the callbacks of all its queries. */
static void a_client_waits_for_its_queries(struct kunit *test)
{
	struct sa_path_rec rec = asked_path;
	static int slow = 700;
	struct ib_sa_query *query;
	unsigned long start;

	sa->deaf = true;
	start = jiffies;
	KUNIT_ASSERT_GT(test, ask(2000, &query), 0);
	KUNIT_ASSERT_GT(test, ib_sa_path_rec_get(&client, &hca->ibdev, 1, &rec, 0, 2000,
						 GFP_KERNEL, path_cb, &slow, &query), 0);
	ib_sa_unregister_client(&client);
	KUNIT_EXPECT_EQ(test, atomic_read(&got.calls), 2);
	KUNIT_EXPECT_EQ(test, got.status, -ETIMEDOUT);
	KUNIT_EXPECT_GE(test, jiffies_to_msecs(jiffies - start), 2700u);
	ib_sa_register_client(&client);
}

/* Removing a device ends its queries; each client is called back for its own. */
static void the_device_goes_with_queries_in_flight(struct kunit *test)
{
	struct ib_sa_query *query;
	unsigned long start = jiffies;
	int i;

	sa->deaf = true;
	for (i = 0; i < 10; i++)
		KUNIT_ASSERT_GT(test, ask(100000, &query), 0);
	fake_hca_destroy(hca);
	hca = NULL;
	KUNIT_EXPECT_EQ(test, atomic_read(&got.calls), 10);
	KUNIT_EXPECT_EQ(test, got.status, -EINTR);
	KUNIT_EXPECT_LT(test, took_ms(jiffies - start), 3000u);
	KUNIT_EXPECT_EQ(test, atomic_read(&client.users), 1);
}

static int query_once(struct kunit *test)
{
	int calls = atomic_read(&got.calls), ret;
	struct ib_sa_query *query;

	ret = ask(2000, &query);
	if (ret < 0)
		return ret;
	KUNIT_EXPECT_TRUE(test, mad_wait(&got.calls, calls + 1));
	KUNIT_EXPECT_EQ(test, got.status, 0);
	return 0;
}

static void a_query_survives_each_failed_allocation(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, query_once), 3u);
	expect_idle(test);
}

static struct kunit_case sa_cases[] = {
	KUNIT_CASE(a_query_on_the_wire),
	KUNIT_CASE(an_opa_record_comes_back_as_one),
	KUNIT_CASE(what_cannot_be_asked),
	KUNIT_CASE(errors_of_the_sa),
	KUNIT_CASE_SLOW(an_sa_that_does_not_answer),
	KUNIT_CASE(a_lost_query_is_repeated),
	KUNIT_CASE(queries_are_told_apart),
	KUNIT_CASE(cancel_against_the_answer),
	KUNIT_CASE(queries_under_a_callers_lock),
	KUNIT_CASE(without_a_subnet_manager),
	KUNIT_CASE(the_subnet_manager_goes_while_it_is_looked_for),
	KUNIT_CASE(the_subnet_manager_moves),
	KUNIT_CASE(the_manager_moves_under_a_query),
	KUNIT_CASE(a_failed_look_for_the_manager),
	KUNIT_CASE(a_send_that_fails),
	KUNIT_CASE(guid_info_records),
	KUNIT_CASE(a_client_waits_for_its_queries),
	KUNIT_CASE(the_device_goes_with_queries_in_flight),
	KUNIT_CASE(a_query_survives_each_failed_allocation),
	{}
};

static struct kunit_suite ibmad_sa_suite = {
	.name = "ib_mad_sa",
	.init = sa_test_init,
	.exit = sa_test_exit,
	.test_cases = sa_cases,
};

kunit_test_suite(ibmad_sa_suite);
