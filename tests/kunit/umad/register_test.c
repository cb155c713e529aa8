// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Devices, opening them, and the two ABIs of registration. */
#include "faults.h"
#include "umad_test.h"

static void both_abis_register(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, fixture_register(&ends.a, TEST_CLASS, IB_MGMT_METHOD_GET, 0, 0),
			1);
	KUNIT_EXPECT_EQ(test, fixture_register_old(&ends.a, TEST_CLASS, IB_MGMT_METHOD_SET, 0),
			2);
	/* Each agent has its own method, and only that. */
	KUNIT_EXPECT_EQ(test, fixture_register(&ends.a, TEST_CLASS, IB_MGMT_METHOD_SET, 0, 0),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fixture_register_old(&ends.a, TEST_CLASS, IB_MGMT_METHOD_GET, 0),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fixture_register(&ends.a, TEST_CLASS, 120, 0, 0), 3);
	KUNIT_EXPECT_EQ(test, fixture_register_old(&ends.a, TEST_CLASS, 120, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fixture_register_old(&ends.a, 0, 0, 0), 4);
	KUNIT_EXPECT_EQ(test, fixture_agents(&ends.a), 5u);
}

static void the_oui_tells_vendors_apart(struct kunit *test)
{
	struct ib_user_mad_reg_req old = {
		.qpn = 1, .mgmt_class = TEST_RMPP_CLASS, .mgmt_class_version = 1,
		.method_mask = { 2 }, .oui = { 0x00, 0x02, 0xc9 },
	};

	KUNIT_EXPECT_EQ(test, fixture_register(&ends.a, TEST_RMPP_CLASS, 1, 0, 0), 1);
	KUNIT_EXPECT_EQ(test, fixture_register_old(&ends.a, TEST_RMPP_CLASS, 1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fixture_ioctl(&ends.a, IB_USER_MAD_REGISTER_AGENT, &old,
					    sizeof(old)), 0l);
	KUNIT_EXPECT_EQ(test, old.id, 2u);
}

static long enable_pkey(struct umad_end *end)
{
	return fixture_ioctl(end, IB_USER_MAD_ENABLE_PKEY, NULL, 0);
}

/* "before a file descriptor is used for anything else" (user_mad.rst). */
static void the_first_use_fixes_the_header(struct kunit *test)
{
	size_t old = sizeof(struct ib_user_mad_hdr_old);

	/* The files of both ends were first used with the second ABI. */
	KUNIT_EXPECT_EQ(test, umad_hdr_size(ends.a.file), old + 8);
	KUNIT_EXPECT_EQ(test, enable_pkey(&ends.a), -EINVAL);

	fixture_close(&ends.a);
	KUNIT_ASSERT_EQ(test, fixture_open(&ends.a, 0), 0);
	KUNIT_EXPECT_EQ(test, umad_hdr_size(ends.a.file), old);
	KUNIT_EXPECT_EQ(test, fixture_register_old(&ends.a, TEST_CLASS, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, enable_pkey(&ends.a), -EINVAL);
	KUNIT_EXPECT_EQ(test, fixture_register(&ends.a, TEST_CLASS, 2, 0, 0), 1);
	KUNIT_EXPECT_EQ(test, umad_hdr_size(ends.a.file), old);

	fixture_close(&ends.a);
	KUNIT_ASSERT_EQ(test, fixture_open(&ends.a, 0), 0);
	KUNIT_EXPECT_EQ(test, enable_pkey(&ends.a), 0l);
	KUNIT_EXPECT_EQ(test, enable_pkey(&ends.a), 0l);
	KUNIT_EXPECT_EQ(test, fixture_register_old(&ends.a, TEST_CLASS, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, umad_hdr_size(ends.a.file), old + 8);
}

/* A registration that is refused does not count as a use. */
static void a_refused_registration_fixes_nothing(struct kunit *test)
{
	fixture_close(&ends.a);
	KUNIT_ASSERT_EQ(test, fixture_open(&ends.a, 0), 0);
	KUNIT_EXPECT_EQ(test, fixture_register_old(&ends.a, 0xff, 1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, enable_pkey(&ends.a), 0l);
}

static const struct ib_user_mad_reg_req2 bad_registrations[] = {
	{ .qpn = 2, .mgmt_class = TEST_CLASS, .mgmt_class_version = 1 },
	{ .qpn = 0, .mgmt_class = TEST_CLASS, .mgmt_class_version = 1 },
	{ .qpn = 1, .mgmt_class = IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE },
	{ .qpn = 1, .mgmt_class = 0x8a },
	{ .qpn = 1, .mgmt_class = TEST_CLASS, .rmpp_version = 1 },
	{ .qpn = 1, .mgmt_class = TEST_RMPP_CLASS, .oui = 1, .rmpp_version = 2 },
	{ .qpn = 1, .mgmt_class = TEST_RMPP_CLASS },
	{ .qpn = 1, .mgmt_class = TEST_RMPP_CLASS, .oui = 0x1000001 },
	{ .qpn = 1, .mgmt_class = IB_MGMT_CLASS_VENDOR_RANGE2_END + 1 },
	{ .qpn = 1, .mgmt_class = TEST_CLASS, .mgmt_class_version = 0x83 },
	{ .qpn = 1, .flags = IB_USER_MAD_USER_RMPP },
	{ .qpn = 1, .mgmt_class = TEST_CLASS, .flags = 2 },
	{ .qpn = 1, .mgmt_class = TEST_CLASS, .flags = 0x80000001 },
};

static void bad_registrations_are_refused(struct kunit *test)
{
	struct ib_user_mad_reg_req2 req;
	int i;

	for (i = 0; i < ARRAY_SIZE(bad_registrations); i++) {
		req = bad_registrations[i];
		KUNIT_EXPECT_EQ_MSG(test, fixture_ioctl(&ends.a, IB_USER_MAD_REGISTER_AGENT2,
							&req, sizeof(req)), -EINVAL,
				    "case %d", i);
	}
	/* The last request returned the flags that there are. */
	KUNIT_EXPECT_EQ(test, req.flags, IB_USER_MAD_REG_FLAGS_CAP);
	/* Not for a QP that there is not. */
	req.qpn = 2;
	req.flags = 2;
	KUNIT_EXPECT_EQ(test, fixture_ioctl(&ends.a, IB_USER_MAD_REGISTER_AGENT2, &req,
					    sizeof(req)), -EINVAL);
	KUNIT_EXPECT_EQ(test, req.flags, 2u);
	KUNIT_EXPECT_EQ(test, fixture_register_old(&ends.a, 0x8a, 1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fixture_register_old(&ends.a, TEST_CLASS, 1, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, fixture_ioctl(&ends.a, _IO(RDMA_IOCTL_MAGIC, 0x77), NULL, 0),
			-ENOIOCTLCMD);
	KUNIT_EXPECT_EQ(test, fixture_agents(&ends.a), 1u);
}

static void a_file_has_32_agents(struct kunit *test)
{
	int id;

	for (id = 1; id < UMAD_MAX_AGENTS; id++)
		KUNIT_ASSERT_EQ(test, fixture_register(&ends.a, 0, 0, 0, 0), id);
	KUNIT_EXPECT_EQ(test, fixture_register(&ends.a, 0, 0, 0, 0), -ENOMEM);
	KUNIT_EXPECT_EQ(test, fixture_unregister(&ends.a, 7), 0);
	KUNIT_EXPECT_EQ(test, fixture_register_old(&ends.a, 0, 0, 0), 7);
}

static void an_agent_is_unregistered_once(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, fixture_unregister(&ends.b, ends.idb), 0);
	KUNIT_EXPECT_EQ(test, fixture_unregister(&ends.b, ends.idb), -EINVAL);
	KUNIT_EXPECT_EQ(test, fixture_unregister(&ends.b, UMAD_MAX_AGENTS), -EINVAL);
	KUNIT_EXPECT_EQ(test, fixture_unregister(&ends.b, ~0u), -EINVAL);
	/* Its method is free again. */
	KUNIT_EXPECT_EQ(test, fixture_register(&ends.b, TEST_CLASS, IB_MGMT_METHOD_GET, 0, 0),
			0);
}

static void bad_memory_registers_nothing(struct kunit *test)
{
	static const unsigned int cmds[] = {
		IB_USER_MAD_REGISTER_AGENT, IB_USER_MAD_REGISTER_AGENT2,
		IB_USER_MAD_UNREGISTER_AGENT,
	};
	const struct ib_user_mad_reg_req2 req = { .qpn = 1 }, flags = { .flags = 8 };
	const struct ib_user_mad_reg_req old = { .qpn = 1 };
	struct file *filp = ends.a.filp;
	struct fixture_page page = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(cmds); i++)
		KUNIT_EXPECT_EQ(test, filp->f_op->unlocked_ioctl(filp, cmds[i], 8),
				-EFAULT);
	/* The request can be read, but the id cannot be written. */
	fixture_page_map(test, &page, PROT_READ);
	memcpy(page.data, &req, sizeof(req));
	memcpy(page.data + 100, &old, sizeof(old));
	memcpy(page.data + 200, &flags, sizeof(flags));
	KUNIT_EXPECT_EQ(test, filp->f_op->unlocked_ioctl(filp, IB_USER_MAD_REGISTER_AGENT2,
							 page.addr), -EFAULT);
	KUNIT_EXPECT_EQ(test, filp->f_op->unlocked_ioctl(filp, IB_USER_MAD_REGISTER_AGENT,
							 page.addr + 100), -EFAULT);
	KUNIT_EXPECT_EQ(test, filp->f_op->unlocked_ioctl(filp, IB_USER_MAD_REGISTER_AGENT2,
							 page.addr + 200), -EFAULT);
	KUNIT_EXPECT_EQ(test, fixture_agents(&ends.a), 1u);
	fixture_page_free(&page);
}

static int register_once(struct kunit *test)
{
	int id = fixture_register(&ends.a, TEST_RMPP_CLASS, 1, 1, 0);

	return id < 0 ? id : fixture_unregister(&ends.a, id);
}

static int open_once(struct kunit *test)
{
	struct umad_end end = ends.a;
	int ret = fixture_open(&end, 0);

	if (!ret)
		fixture_close(&end);
	return ret;
}

static void each_failed_allocation_is_survived(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, register_once), 3u);
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, open_once), 1u);
}

/* devices.txt has numbers for 64 ports; there may be more. */
static void ports_beyond_64_have_numbers_too(struct kunit *test)
{
	static const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND, .ports = 2,
	};
	struct fake_hca *hcas[33] = {};
	struct umad_port *last = NULL;
	struct umad_end end = {};
	int i, highest = 0;

	for (i = 0; i < ARRAY_SIZE(hcas); i++) {
		hcas[i] = fake_hca_create(&params);
		if (!hcas[i])
			break;
		last = umad_find_port(&hcas[i]->ibdev, 2);
		if (last->number < 64) {
			KUNIT_EXPECT_EQ(test, last->umad.dev.devt,
					MKDEV(231, last->number));
			KUNIT_EXPECT_EQ(test, last->issm.dev.devt,
					MKDEV(231, 64 + last->number));
		}
		highest = max(highest, last->number);
	}
	KUNIT_EXPECT_EQ(test, i, ARRAY_SIZE(hcas));
	KUNIT_EXPECT_EQ(test, highest, 67);
	if (highest > 64) {
		KUNIT_EXPECT_NE(test, MAJOR(last->umad.dev.devt), 231u);
		KUNIT_EXPECT_EQ(test, MAJOR(last->issm.dev.devt),
				MAJOR(last->umad.dev.devt));
		end.port = last;
		KUNIT_EXPECT_EQ(test, fixture_open(&end, 0), 0);
		fixture_close(&end);
	}
	while (i--)
		fake_hca_destroy(hcas[i]);
}

static void a_port_without_mads_has_no_device(struct kunit *test)
{
	const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_ETHERNET,
		.iwarp = true,
		.ndev = fake_netdev_create("fumad%d"),
	};
	struct fake_hca *hca;

	KUNIT_ASSERT_NOT_NULL(test, params.ndev);
	hca = fake_hca_create(&params);
	KUNIT_EXPECT_NOT_NULL(test, hca);
	if (hca) {
		KUNIT_EXPECT_NULL(test, umad_find_port(&hca->ibdev, 1));
		fake_hca_destroy(hca);
	}
	fake_netdev_destroy(params.ndev);
	KUNIT_EXPECT_NULL(test, umad_find_port(&ends.a.hca->ibdev, 0));
	KUNIT_EXPECT_NULL(test, umad_find_port(&ends.a.hca->ibdev, 2));
}

/*
 * Creates a device with the @nth allocation failing; @used is how many were made.
 * Returns NULL on failure.
 */
static struct fake_hca *create_failing(int nth, int *used)
{
	static const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND, .ports = 2,
	};
	struct fake_hca *one;

	current->fail_nth = nth;
	one = fake_hca_create(&params);
	*used = nth - current->fail_nth;
	current->fail_nth = 0;
	return one;
}

/* This client is added last: a sample of the last allocations fails. */
static void a_device_survives_failed_allocations(struct kunit *test)
{
	struct fake_hca *one;
	int n, all, used, without = 0;

	one = create_failing(1 << 20, &all);
	KUNIT_ASSERT_NOT_NULL(test, one);
	fake_hca_destroy(one);
	for (n = max(1, all - 240); n <= all; n += 3) {
		one = create_failing(n, &used);
		if (!one)
			continue;
		without += !umad_find_port(&one->ibdev, 1);
		fake_hca_destroy(one);
	}
	KUNIT_EXPECT_GE(test, without, 10);
}

static struct kunit_case register_cases[] = {
	KUNIT_CASE(both_abis_register),
	KUNIT_CASE(the_oui_tells_vendors_apart),
	KUNIT_CASE(the_first_use_fixes_the_header),
	KUNIT_CASE(a_refused_registration_fixes_nothing),
	KUNIT_CASE(bad_registrations_are_refused),
	KUNIT_CASE(a_file_has_32_agents),
	KUNIT_CASE(an_agent_is_unregistered_once),
	KUNIT_CASE(bad_memory_registers_nothing),
	KUNIT_CASE(each_failed_allocation_is_survived),
	KUNIT_CASE(ports_beyond_64_have_numbers_too),
	KUNIT_CASE(a_port_without_mads_has_no_device),
	KUNIT_CASE_SLOW(a_device_survives_failed_allocations),
	{}
};

static struct kunit_suite umad_register_suite = {
	.name = "umad_register",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = register_cases,
};

kunit_test_suite(umad_register_suite);
