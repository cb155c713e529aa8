// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Registration: what is refused, what conflicts, what failures leave behind. */
#include "faults.h"
#include "mad/mad_test.h"
#include "wait.h"

static struct fake_hca *hca;

static int agent_test_init(struct kunit *test)
{
	const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
	};

	hca = fake_hca_create(&params);
	return hca ? 0 : -ENOMEM;
}

static void agent_test_exit(struct kunit *test)
{
	if (hca)
		fake_hca_destroy(hca);
	hca = NULL;
}

static void ignore_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
}

static void ignore_received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
			    struct ib_mad_recv_wc *wc)
{
	ib_free_recv_mad(wc);
}

static struct ib_mad_agent *agent_of(u8 mgmt_class, u8 version, u8 method, u32 oui)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = mgmt_class,
		.mgmt_class_version = version,
		.oui = { oui >> 16, oui >> 8, oui },
	};

	set_bit(method, req.method_mask);
	return ib_register_mad_agent(&hca->ibdev, 1, IB_QPT_GSI, &req, 0,
				     ignore_sent, ignore_received, NULL, 0);
}

static void one_agent_a_method(struct kunit *test)
{
	struct ib_mad_agent *first, *other[4];
	int i;

	first = agent_of(TEST_CLASS, 1, IB_MGMT_METHOD_GET, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(first));
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(agent_of(TEST_CLASS, 1,
						       IB_MGMT_METHOD_GET, 0)), -EBUSY);
	/* Another method, version or class does not conflict. */
	other[0] = agent_of(TEST_CLASS, 1, IB_MGMT_METHOD_SET, 0);
	other[1] = agent_of(TEST_CLASS, 2, IB_MGMT_METHOD_GET, 0);
	other[2] = agent_of(TEST_CLASS + 1, 1, IB_MGMT_METHOD_GET, 0);
	ib_unregister_mad_agent(first);
	other[3] = agent_of(TEST_CLASS, 1, IB_MGMT_METHOD_GET, 0);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_FALSE_MSG(test, IS_ERR(other[i]), "agent %d", i);
		if (!IS_ERR(other[i]))
			ib_unregister_mad_agent(other[i]);
	}
}

static void vendors_are_told_apart_by_oui(struct kunit *test)
{
	struct ib_mad_agent *one, *two;

	one = agent_of(IB_MGMT_CLASS_VENDOR_RANGE2_START, 1, IB_MGMT_METHOD_GET, 0x1405);
	KUNIT_ASSERT_FALSE(test, IS_ERR(one));
	KUNIT_EXPECT_EQ(test,
			PTR_ERR_OR_ZERO(agent_of(IB_MGMT_CLASS_VENDOR_RANGE2_START, 1,
						 IB_MGMT_METHOD_GET, 0x1405)), -EBUSY);
	two = agent_of(IB_MGMT_CLASS_VENDOR_RANGE2_START, 1, IB_MGMT_METHOD_GET, 0x2c9);
	KUNIT_EXPECT_FALSE(test, IS_ERR(two));
	KUNIT_EXPECT_EQ(test,
			PTR_ERR_OR_ZERO(agent_of(IB_MGMT_CLASS_VENDOR_RANGE2_START, 1,
						 IB_MGMT_METHOD_GET, 0)), -EINVAL);
	ib_unregister_mad_agent(one);
	if (!IS_ERR(two))
		ib_unregister_mad_agent(two);
}

/*
 * A conflict in the last of several methods registers neither the others nor the class.
 */
static void a_conflict_takes_nothing(struct kunit *test)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = TEST_CLASS,
		.mgmt_class_version = 1,
	};
	struct ib_mad_agent *set, *get;
	struct ibmad_qp *mqp;

	set = agent_of(TEST_CLASS, 1, IB_MGMT_METHOD_SET, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(set));
	mqp = to_agent(set)->mqp;
	set_bit(IB_MGMT_METHOD_GET, req.method_mask);
	set_bit(IB_MGMT_METHOD_SET, req.method_mask);
	KUNIT_EXPECT_EQ(test,
			PTR_ERR_OR_ZERO(ib_register_mad_agent(&hca->ibdev, 1, IB_QPT_GSI,
							      &req, 0, ignore_sent,
							      ignore_received, NULL, 0)),
			-EBUSY);
	get = agent_of(TEST_CLASS, 1, IB_MGMT_METHOD_GET, 0);
	KUNIT_EXPECT_FALSE(test, IS_ERR(get));
	if (!IS_ERR(get))
		ib_unregister_mad_agent(get);
	ib_unregister_mad_agent(set);
	KUNIT_EXPECT_TRUE(test, hash_empty(mqp->classes));
}

struct bad_registration {
	u32 port;
	enum ib_qp_type qp_type;
	u8 mgmt_class;		/* 0: without an ib_mad_reg_req */
	u8 rmpp_version;
	bool sends, receives;
	u32 flags;
	int error;
};

static const struct bad_registration bad_registrations[] = {
	{ 1, IB_QPT_RC, TEST_CLASS, 0, true, true, 0, -EINVAL },
	{ 1, IB_QPT_GSI, TEST_CLASS, 2, true, true, 0, -EINVAL },
	{ 1, IB_QPT_GSI, TEST_CLASS, 1, true, true, 0, -EINVAL },
	{ 1, IB_QPT_GSI, TEST_CLASS, 0, true, false, 0, -EINVAL },
	{ 1, IB_QPT_GSI, 0, 0, false, false, 0, -EINVAL },
	{ 1, IB_QPT_GSI, TEST_CLASS, 0, true, true, 0x80, -EINVAL },
	{ 1, IB_QPT_SMI, TEST_CLASS, 0, true, true, 0, -EINVAL },
	{ 1, IB_QPT_GSI, IB_MGMT_CLASS_SUBN_LID_ROUTED, 0, true, true, 0, -EINVAL },
	{ 1, IB_QPT_GSI, 0x8a, 0, true, true, 0, -EINVAL },
	{ 0, IB_QPT_GSI, TEST_CLASS, 0, true, true, 0, -EPROTONOSUPPORT },
	{ 9, IB_QPT_GSI, TEST_CLASS, 0, true, true, 0, -EPROTONOSUPPORT },
};

static void bad_arguments_are_refused(struct kunit *test)
{
	const struct bad_registration *bad;
	struct ib_mad_agent *agent;
	int i;

	for (i = 0; i < ARRAY_SIZE(bad_registrations); i++) {
		struct ib_mad_reg_req req = { .mgmt_class_version = 1 };

		bad = &bad_registrations[i];
		req.mgmt_class = bad->mgmt_class;
		set_bit(IB_MGMT_METHOD_GET, req.method_mask);
		agent = ib_register_mad_agent(&hca->ibdev, bad->port, bad->qp_type,
					      bad->mgmt_class ? &req : NULL,
					      bad->rmpp_version,
					      bad->sends ? ignore_sent : NULL,
					      bad->receives ? ignore_received : NULL,
					      NULL, bad->flags);
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(agent), bad->error,
				    "case %d", i);
		if (!IS_ERR(agent))
			ib_unregister_mad_agent(agent);
	}
}

static void agents_have_their_own_tids(struct kunit *test)
{
	struct ib_mad_agent *one = agent_of(TEST_CLASS, 1, IB_MGMT_METHOD_GET, 0);
	struct ib_mad_agent *two = agent_of(TEST_CLASS, 1, IB_MGMT_METHOD_SET, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(one) || IS_ERR(two));
	KUNIT_EXPECT_NE(test, one->hi_tid, 0u);
	KUNIT_EXPECT_NE(test, one->hi_tid, two->hi_tid);
	KUNIT_EXPECT_EQ(test, refcount_read(&to_agent(one)->refs), 1u);
	ib_unregister_mad_agent(one);
	ib_unregister_mad_agent(two);
}

/* A response whose TID has the agent number @id, and to which there is no request. */
static void respond(u32 id, u8 mgmt_class)
{
	struct fake_hca_packet like = { .src_qpn = 1, .slid = 0x700 };
	union {
		struct ib_rmpp_mad rmpp;
		u8 raw[IB_MGMT_MAD_SIZE];
	} mad = {};

	mad.rmpp.mad_hdr.base_version = IB_MGMT_BASE_VERSION;
	mad.rmpp.mad_hdr.mgmt_class = mgmt_class;
	mad.rmpp.mad_hdr.class_version = 1;
	mad.rmpp.mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	mad.rmpp.mad_hdr.tid = cpu_to_be64((u64)id << 32 | 1);
	mad.rmpp.rmpp_hdr.rmpp_rtime_flags = IB_MGMT_RMPP_FLAG_ACTIVE;
	fake_hca_inject(hca, 1, &like, &mad, sizeof(mad));
}

static void expect_unmatched(struct kunit *test, struct ib_mad_agent *agent, int n)
{
	KUNIT_EXPECT_TRUE(test, wait_within(mad_counter(agent, IBMAD_RECV_UNMATCHED) == n,
					    1000));
}

/* The number of an unregistered agent finds no agent, until another agent gets it. */
static void a_number_that_is_used_again(struct kunit *test)
{
	struct ib_mad_agent *one = agent_of(TEST_CLASS, 1, IB_MGMT_METHOD_GET, 0);
	struct ib_mad_agent *two = agent_of(TEST_CLASS, 1, IB_MGMT_METHOD_SET, 0);
	u32 id;

	KUNIT_ASSERT_FALSE(test, IS_ERR(one) || IS_ERR(two));
	id = one->hi_tid;
	ib_unregister_mad_agent(one);
	respond(id, TEST_CLASS);
	expect_unmatched(test, two, 1);
	ibmad_agent_next_id = id;
	one = agent_of(TEST_CLASS, 1, IB_MGMT_METHOD_GET, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(one));
	KUNIT_EXPECT_EQ(test, one->hi_tid, id);
	respond(id, TEST_CLASS);
	expect_unmatched(test, two, 2);
	ib_unregister_mad_agent(one);
	ib_unregister_mad_agent(two);
}

/* Numbers do not use the top byte of hi_tid; after the last they begin again. */
static void numbers_that_have_run_out(struct kunit *test)
{
	struct ib_mad_agent *last, *next;

	ibmad_agent_next_id = IBMAD_MAX_TID_HI;
	last = agent_of(TEST_CLASS, 1, IB_MGMT_METHOD_GET, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(last));
	KUNIT_EXPECT_EQ(test, last->hi_tid, IBMAD_MAX_TID_HI);
	next = agent_of(TEST_CLASS, 1, IB_MGMT_METHOD_SET, 0);
	KUNIT_EXPECT_FALSE(test, IS_ERR(next));
	if (!IS_ERR(next)) {
		KUNIT_EXPECT_NE(test, next->hi_tid, 0u);
		KUNIT_EXPECT_LT(test, next->hi_tid, last->hi_tid);
		ib_unregister_mad_agent(next);
	}
	ib_unregister_mad_agent(last);
}

/*
 * An agent with a send handler only expects no responses.  Without a class it has no
 * segments that it could handle itself.
 */
static void an_agent_that_only_sends(struct kunit *test)
{
	struct ib_mad_agent *agent;

	agent = ib_register_mad_agent(&hca->ibdev, 1, IB_QPT_GSI, NULL,
				      IB_MGMT_RMPP_VERSION, ignore_sent, NULL, NULL,
				      IB_MAD_USER_RMPP);
	KUNIT_EXPECT_PTR_EQ(test, agent, ERR_PTR(-EINVAL));
	agent = ib_register_mad_agent(&hca->ibdev, 1, IB_QPT_GSI, NULL,
				      IB_MGMT_RMPP_VERSION, ignore_sent, NULL, NULL, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(agent));
	respond(agent->hi_tid, IB_MGMT_CLASS_SUBN_ADM);
	expect_unmatched(test, agent, 1);
	ib_unregister_mad_agent(agent);
}

static int register_once(struct kunit *test)
{
	struct ib_mad_agent *agent = agent_of(TEST_CLASS, 1, IB_MGMT_METHOD_GET, 0);

	if (IS_ERR(agent))
		return PTR_ERR(agent);
	ib_unregister_mad_agent(agent);
	return 0;
}

static void registration_survives_each_failed_allocation(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, register_once), 2u);
}

/*
 * Allocations while a device is registered: the first ones, and a
 * sample of the others, many of which are alike.
 */
static void a_device_survives_failed_allocations(struct kunit *test)
{
	const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
	};
	unsigned int n, nth, failed = 0;
	struct fake_hca *one;

	for (n = 1; n < 4000; n += n < 50 ? 3 : 97) {
		current->fail_nth = n;
		one = fake_hca_create(&params);
		nth = current->fail_nth;
		current->fail_nth = 0;
		if (one)
			fake_hca_destroy(one);
		else
			failed++;
		if (nth)
			break;
	}
	KUNIT_EXPECT_GE(test, failed, 10u);
}

static void a_device_survives_a_refusing_provider(struct kunit *test)
{
	static const enum fake_hca_object kinds[] = { FAKE_PD, FAKE_CQ, FAKE_QP };
	const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND, .ports = 2,
	};
	struct fake_hca *one;
	int i, n;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		for (n = 1; n < 6; n++) {
			one = fake_hca_alloc(&params);
			KUNIT_ASSERT_NOT_NULL(test, one);
			atomic_set(&one->fail_create[kinds[i]], n);
			if (fake_hca_register(one)) {
				fake_hca_free(one);
				continue;
			}
			atomic_set(&one->fail_create[kinds[i]], 0);
			fake_hca_destroy(one);
		}
	}
	for (n = 1; n < 14; n += 2) {
		one = fake_hca_alloc(&params);
		KUNIT_ASSERT_NOT_NULL(test, one);
		atomic_set(&one->fail_modify_qp, n);
		if (fake_hca_register(one)) {
			fake_hca_free(one);
			continue;
		}
		atomic_set(&one->fail_modify_qp, 0);
		fake_hca_destroy(one);
	}
}

/* The client did not unregister: the device is removed, the agent's memory stays. */
static void an_agent_left_behind(struct kunit *test)
{
	struct ib_mad_agent *agent = agent_of(TEST_CLASS, 1, IB_MGMT_METHOD_GET, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(agent));
	fake_hca_destroy(hca);
	hca = NULL;
	ib_unregister_mad_agent(agent);
}

static int late_error;

static void register_late(struct fake_hca *at, struct ib_qp *qp, enum ib_qp_state next)
{
	struct ib_mad_agent *agent = agent_of(TEST_CLASS, 1, IB_MGMT_METHOD_GET, 0);

	at->on_modify_qp = NULL;
	late_error = PTR_ERR_OR_ZERO(agent);
	if (!late_error)
		ib_unregister_mad_agent(agent);
}

/* Once the agents of a port have been ended, none can be added. */
static void an_agent_for_a_port_that_goes(struct kunit *test)
{
	late_error = 0;
	hca->on_modify_qp = register_late;
	fake_hca_destroy(hca);
	hca = NULL;
	KUNIT_EXPECT_EQ(test, late_error, -ENODEV);
}

static void class_formats(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ib_get_mad_data_offset(IB_MGMT_CLASS_SUBN_ADM), 56);
	KUNIT_EXPECT_EQ(test, ib_get_mad_data_offset(IB_MGMT_CLASS_DEVICE_MGMT), 64);
	KUNIT_EXPECT_EQ(test, ib_get_mad_data_offset(0x30), 40);
	KUNIT_EXPECT_EQ(test, ib_get_mad_data_offset(0x4f), 40);
	KUNIT_EXPECT_EQ(test, ib_get_mad_data_offset(0x50), 24);
	KUNIT_EXPECT_EQ(test, ib_get_mad_data_offset(IB_MGMT_CLASS_CM), 24);
	KUNIT_EXPECT_TRUE(test, ib_is_mad_class_rmpp(IB_MGMT_CLASS_SUBN_ADM));
	KUNIT_EXPECT_FALSE(test, ib_is_mad_class_rmpp(IB_MGMT_CLASS_CM));
	KUNIT_EXPECT_FALSE(test, ib_is_mad_class_rmpp(TEST_CLASS));
}

static void responses(struct kunit *test)
{
	struct ib_mad_hdr hdr = { .mgmt_class = TEST_CLASS };

	hdr.method = IB_MGMT_METHOD_GET;
	KUNIT_EXPECT_FALSE(test, ib_response_mad(&hdr));
	hdr.method = IB_MGMT_METHOD_GET_RESP;
	KUNIT_EXPECT_TRUE(test, ib_response_mad(&hdr));
	hdr.method = IB_MGMT_METHOD_TRAP_REPRESS;
	KUNIT_EXPECT_TRUE(test, ib_response_mad(&hdr));
	hdr.method = IB_MGMT_METHOD_SEND;
	hdr.mgmt_class = IB_MGMT_CLASS_BM;
	KUNIT_EXPECT_FALSE(test, ib_response_mad(&hdr));
	hdr.attr_mod = IB_BM_ATTR_MOD_RESP;
	KUNIT_EXPECT_TRUE(test, ib_response_mad(&hdr));
}

static struct kunit_case agent_cases[] = {
	KUNIT_CASE(one_agent_a_method),
	KUNIT_CASE(vendors_are_told_apart_by_oui),
	KUNIT_CASE(a_conflict_takes_nothing),
	KUNIT_CASE(bad_arguments_are_refused),
	KUNIT_CASE(agents_have_their_own_tids),
	KUNIT_CASE(a_number_that_is_used_again),
	KUNIT_CASE(numbers_that_have_run_out),
	KUNIT_CASE(an_agent_that_only_sends),
	KUNIT_CASE(registration_survives_each_failed_allocation),
	KUNIT_CASE(a_device_survives_failed_allocations),
	KUNIT_CASE(a_device_survives_a_refusing_provider),
	KUNIT_CASE(an_agent_left_behind),
	KUNIT_CASE(an_agent_for_a_port_that_goes),
	KUNIT_CASE(class_formats),
	KUNIT_CASE(responses),
	{}
};

static struct kunit_suite ibmad_agent_suite = {
	.name = "ib_mad_agent",
	.init = agent_test_init,
	.exit = agent_test_exit,
	.test_cases = agent_cases,
};

kunit_test_suite(ibmad_agent_suite);
