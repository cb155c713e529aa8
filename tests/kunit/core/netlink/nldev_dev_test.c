// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* RDMA netlink of devices, ports and the system, as rdma(8) uses it. */
#include <kunit/test.h>
#include "faults.h"
#include "nl.h"

static const struct fake_hca_params ib_params = {
	.link_layer = IB_LINK_LAYER_INFINIBAND,
	.ports = 2,
};

static struct nl nl;
static struct fake_hca *hca;
static struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];

static int nldev_test_init(struct kunit *test)
{
	hca = fake_hca_create(&ib_params);
	if (!hca)
		return -ENOMEM;
	return nl_open(&nl, &init_net);
}

static void nldev_test_exit(struct kunit *test)
{
	nl_close(&nl);
	if (hca)
		fake_hca_destroy(hca);
	hca = NULL;
}

static int get(int cmd, u32 port)
{
	int ret = nl_call(&nl, nl_dev_req(&nl, cmd, hca, port));

	nl_attrs(&nl, 0, tb);
	return ret;
}

/* ---- devices ---- */

static void fw_str(struct ib_device *dev, char *str)
{
	strscpy(str, "1.2.3", IB_FW_VERSION_NAME_MAX);
}

static void a_device_tells_what_it_is(struct kunit *test)
{
	struct ib_device *dev = &hca->ibdev;

	dev->ops.get_dev_fw_str = fw_str;
	KUNIT_ASSERT_EQ(test, get(RDMA_NLDEV_CMD_GET, 0), 0);
	KUNIT_EXPECT_EQ(test, nl.n, 1);
	KUNIT_EXPECT_EQ(test, nl.msg[0]->nlmsg_seq, nl.seq);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]), dev->index);
	KUNIT_EXPECT_STREQ(test, nl_str(tb[RDMA_NLDEV_ATTR_DEV_NAME]),
			   dev_name(&dev->dev));
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX]), 2);
	KUNIT_EXPECT_EQ(test, nl_u64(tb[RDMA_NLDEV_ATTR_CAP_FLAGS]),
			dev->attrs.device_cap_flags);
	KUNIT_EXPECT_EQ(test, nl_u64(tb[RDMA_NLDEV_ATTR_NODE_GUID]),
			be64_to_cpu(dev->node_guid));
	KUNIT_EXPECT_EQ(test, nl_u8(tb[RDMA_NLDEV_ATTR_DEV_NODE_TYPE]), RDMA_NODE_IB_CA);
	KUNIT_EXPECT_EQ(test, nl_u8(tb[RDMA_NLDEV_ATTR_DEV_DIM]), !!dev->use_cq_dim);
	KUNIT_EXPECT_STREQ(test, nl_str(tb[RDMA_NLDEV_ATTR_FW_VERSION]), "1.2.3");
	KUNIT_EXPECT_STREQ(test, nl_str(tb[RDMA_NLDEV_ATTR_DEV_PROTOCOL]), "ib");
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_PARENT_NAME]);
	dev->ops.get_dev_fw_str = NULL;
	KUNIT_ASSERT_EQ(test, get(RDMA_NLDEV_CMD_GET, 0), 0);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_FW_VERSION]);
}

static void a_device_tells_its_protocol(struct kunit *test)
{
	struct fake_hca_params params = {
		.iwarp = true, .link_layer = IB_LINK_LAYER_ETHERNET,
		.ndev = fake_netdev_create("fnet%d"),
	};
	static const struct { u32 flags; const char *name; } caps[] = {
		{ RDMA_CORE_PORT_INTEL_OPA, "opa" },
		{ RDMA_CORE_PORT_IBA_ROCE, "roce" },
		{ RDMA_CORE_PORT_USNIC, "usnic" },
		{ RDMA_CORE_PORT_RAW_PACKET, "(none)" },
	};
	struct fake_hca *iwarp = fake_hca_create(&params);
	u32 *flags = &hca->ibdev.port_data[1].immutable.core_cap_flags;
	u32 old = *flags;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, params.ndev);
	KUNIT_ASSERT_NOT_NULL(test, iwarp);
	KUNIT_EXPECT_EQ(test, nl_call(&nl, nl_dev_req(&nl, RDMA_NLDEV_CMD_GET, iwarp, 0)),
			0);
	nl_attrs(&nl, 0, tb);
	KUNIT_EXPECT_STREQ(test, nl_str(tb[RDMA_NLDEV_ATTR_DEV_PROTOCOL]), "iw");
	fake_hca_destroy(iwarp);
	fake_netdev_destroy(params.ndev);
	for (i = 0; i < ARRAY_SIZE(caps); i++) {
		*flags = caps[i].flags;
		get(RDMA_NLDEV_CMD_GET, 0);
		*flags = old;
		KUNIT_EXPECT_STREQ(test, nl_str(tb[RDMA_NLDEV_ATTR_DEV_PROTOCOL]),
				   caps[i].name);
	}
}

static void all_devices_are_listed_in_order(struct kunit *test)
{
	struct fake_hca *more[2];
	u32 last = 0;
	int i;

	for (i = 0; i < 2; i++) {
		more[i] = fake_hca_create(&ib_params);
		KUNIT_ASSERT_NOT_NULL(test, more[i]);
	}
	KUNIT_EXPECT_EQ(test, nl_call(&nl, nl_dev_dump(&nl, RDMA_NLDEV_CMD_GET, NULL, 0)),
			0);
	KUNIT_EXPECT_EQ(test, nl.n, 3);
	for (i = 0; i < nl.n; i++) {
		nl_attrs(&nl, i, tb);
		KUNIT_EXPECT_TRUE(test, nl.msg[i]->nlmsg_flags & NLM_F_MULTI);
		if (i)
			KUNIT_EXPECT_GT(test, nl_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]), last);
		last = nl_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
	}
	KUNIT_EXPECT_EQ(test, last, more[1]->ibdev.index);
	for (i = 0; i < 2; i++)
		fake_hca_destroy(more[i]);
}

static struct fake_hca *to_vanish;

static void vanish(struct nl *unused)
{
	if (to_vanish)
		fake_hca_destroy(to_vanish);
	to_vanish = NULL;
}

#define MANY 90

/* The devices take three pages at least; one that was not listed yet is removed. */
static void a_device_that_goes_during_a_list(struct kunit *test)
{
	struct fake_hca_params one = { .link_layer = IB_LINK_LAYER_INFINIBAND };
	struct fake_hca **many = kunit_kcalloc(test, MANY, sizeof(*many), GFP_KERNEL);
	u32 index, last = 0;
	int i;

	for (i = 0; i < MANY; i++) {
		many[i] = fake_hca_create(&one);
		KUNIT_ASSERT_NOT_NULL(test, many[i]);
	}
	to_vanish = many[MANY - 2];
	nl.between = vanish;
	KUNIT_EXPECT_EQ(test, nl_call(&nl, nl_dev_dump(&nl, RDMA_NLDEV_CMD_GET, NULL, 0)),
			0);
	nl.between = NULL;
	KUNIT_EXPECT_GT(test, nl.pages, 2);
	KUNIT_EXPECT_EQ(test, nl.n, MANY);
	for (i = 0; i < nl.n; i++) {
		nl_attrs(&nl, i, tb);
		index = nl_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
		if (i)
			KUNIT_EXPECT_GT(test, index, last);
		last = index;
	}
	KUNIT_EXPECT_EQ(test, last, many[MANY - 1]->ibdev.index);
	for (i = 0; i < MANY; i++)
		if (i != MANY - 2)
			fake_hca_destroy(many[i]);
}

/* ---- what is wrong with a request ---- */

static void a_request_needs_a_device_and_a_port(struct kunit *test)
{
	static const int cmds[] = {
		RDMA_NLDEV_CMD_GET, RDMA_NLDEV_CMD_SET, RDMA_NLDEV_CMD_DELLINK,
		RDMA_NLDEV_CMD_NEWDEV, RDMA_NLDEV_CMD_DELDEV, RDMA_NLDEV_CMD_PORT_GET,
		RDMA_NLDEV_CMD_RES_GET, RDMA_NLDEV_CMD_RES_QP_GET,
		RDMA_NLDEV_CMD_STAT_GET, RDMA_NLDEV_CMD_STAT_SET,
	};
	struct sk_buff *req;
	int i;

	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		KUNIT_EXPECT_EQ(test, nl_call(&nl, nl_dev_req(&nl, cmds[i], NULL, 0)),
				-EINVAL);
		req = nl_dev_req(&nl, cmds[i], NULL, 0);
		nla_put_u32(req, RDMA_NLDEV_ATTR_DEV_INDEX, 0x7ffffff0);
		KUNIT_EXPECT_EQ(test, nl_call(&nl, req), -EINVAL);
		/* A device index must have four octets. */
		req = nl_dev_req(&nl, cmds[i], NULL, 0);
		nla_put(req, RDMA_NLDEV_ATTR_DEV_INDEX, 3, &i);
		KUNIT_EXPECT_LT(test, nl_call(&nl, req), 0);
		KUNIT_EXPECT_EQ(test, nl.n, 0);
	}
	KUNIT_EXPECT_EQ(test, get(RDMA_NLDEV_CMD_PORT_GET, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, get(RDMA_NLDEV_CMD_PORT_GET, 3), -EINVAL);
	KUNIT_EXPECT_EQ(test, nl_call(&nl, nl_dev_dump(&nl, RDMA_NLDEV_CMD_PORT_GET,
						       NULL, 0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, nl_call(&nl, nl_dev_dump(&nl, RDMA_NLDEV_CMD_RES_QP_GET,
						       NULL, 0)), -EINVAL);
	req = nl_dev_dump(&nl, RDMA_NLDEV_CMD_PORT_GET, NULL, 0);
	nla_put(req, RDMA_NLDEV_ATTR_DEV_INDEX, 1, &i);
	KUNIT_EXPECT_LT(test, nl_call(&nl, req), 0);
}

static int set_name(const char *name, int len)
{
	struct sk_buff *req = nl_dev_req(&nl, RDMA_NLDEV_CMD_SET, hca, 0);

	nla_put(req, RDMA_NLDEV_ATTR_DEV_NAME, len, name);
	return nl_call(&nl, req);
}

static void a_dump_of_a_command_does_nothing(struct kunit *test)
{
	struct sk_buff *req = nl_dev_dump(&nl, RDMA_NLDEV_CMD_SET, hca, 0);

	nla_put(req, RDMA_NLDEV_ATTR_DEV_NAME, 7, "dumped");
	KUNIT_EXPECT_EQ(test, nl_call(&nl, req), -EINVAL);
	KUNIT_EXPECT_STRNEQ(test, dev_name(&hca->ibdev.dev), "dumped");
	KUNIT_EXPECT_EQ(test, nl_call(&nl, nl_dev_dump(&nl, RDMA_NLDEV_CMD_SYS_GET, NULL, 0)),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, nl_call(&nl, nl_dev_req(&nl, RDMA_NLDEV_CMD_SYS_GET, NULL, 0)), 0);
}

static int renames;

static void client_rename(struct ib_device *dev, void *data)
{
	if (data == &renames && !strcmp(dev_name(&dev->dev), "nice"))
		renames++;
}

static int client_add(struct ib_device *dev)
{
	return 0;
}

static struct ib_client rename_client = {
	.name = "test_rename", .add = client_add, .rename = client_rename,
};

static void a_new_name_is_known_everywhere(struct kunit *test)
{
	struct ib_device *found;
	char buf[64];
	char *old;

	renames = 0;
	old = kunit_kstrdup(test, dev_name(&hca->ibdev.dev), GFP_KERNEL);
	KUNIT_ASSERT_EQ(test, ib_register_client(&rename_client), 0);
	ib_set_client_data(&hca->ibdev, &rename_client, &renames);
	KUNIT_EXPECT_EQ(test, set_name("nice", 5), 0);
	KUNIT_EXPECT_STREQ(test, dev_name(&hca->ibdev.dev), "nice");
	KUNIT_EXPECT_STREQ(test, hca->ibdev.name, "nice");
	KUNIT_EXPECT_EQ(test, renames, 1);
	KUNIT_EXPECT_EQ(test, sys_read(buf, sizeof(buf), "nice/ports/1/state"), 0);
	KUNIT_EXPECT_EQ(test, sys_read(buf, sizeof(buf), "%s/ports/1/state", old),
			-ENOENT);
	found = ib_device_get_by_name("nice", RDMA_DRIVER_UNKNOWN);
	KUNIT_EXPECT_PTR_EQ(test, found, &hca->ibdev);
	if (found)
		ib_device_put(found);
	KUNIT_EXPECT_NULL(test, ib_device_get_by_name(old, RDMA_DRIVER_UNKNOWN));
	/* A rename to the current name does not call the clients' rename(). */
	KUNIT_EXPECT_EQ(test, set_name("nice", 5), 0);
	ib_unregister_client(&rename_client);
}

static void bad_names_are_refused(struct kunit *test)
{
	static const struct { const char *name; int len, ret; } bad[] = {
		{ "", 1, -EINVAL }, { ".", 2, -EINVAL }, { "..", 3, -EINVAL },
		{ "a/b", 4, -EINVAL }, { "a b", 4, -EINVAL }, { "mlx%d", 6, -EINVAL },
		{ "unterminated", 5, -EINVAL },
		{ "0123456789012345678901234567890123456789012345678901234567890123456",
		  68, -EINVAL },
	};
	struct fake_hca *other = fake_hca_create(&ib_params);
	char *old;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, other);
	old = kunit_kstrdup(test, dev_name(&hca->ibdev.dev), GFP_KERNEL);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, set_name(bad[i].name, bad[i].len), bad[i].ret,
				    "name %d", i);
	KUNIT_EXPECT_EQ(test, set_name(dev_name(&other->ibdev.dev),
				       strlen(dev_name(&other->ibdev.dev)) + 1),
			-EEXIST);
	KUNIT_EXPECT_STREQ(test, dev_name(&hca->ibdev.dev), old);
	fake_hca_destroy(other);
}

static int set_dim(u8 on)
{
	struct sk_buff *req = nl_dev_req(&nl, RDMA_NLDEV_CMD_SET, hca, 0);

	nla_put_u8(req, RDMA_NLDEV_ATTR_DEV_DIM, on);
	return nl_call(&nl, req);
}

static void adaptive_moderation_is_switched(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, set_dim(1), 0);
	KUNIT_EXPECT_TRUE(test, hca->ibdev.use_cq_dim);
	KUNIT_EXPECT_EQ(test, set_dim(2), -EINVAL);
	KUNIT_EXPECT_TRUE(test, hca->ibdev.use_cq_dim);
	KUNIT_EXPECT_EQ(test, set_dim(0), 0);
	KUNIT_EXPECT_FALSE(test, hca->ibdev.use_cq_dim);
	/* A request that sets nothing succeeds. */
	KUNIT_EXPECT_EQ(test, get(RDMA_NLDEV_CMD_SET, 0), 0);
}

/* What changes something is parsed strictly, what queries is not. */
static void a_change_is_parsed_strictly(struct kunit *test)
{
	static const int cmds[] = { RDMA_NLDEV_CMD_SET, RDMA_NLDEV_CMD_GET };
	struct sk_buff *req;
	int i;

	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		int ret = cmds[i] == RDMA_NLDEV_CMD_SET ? -EINVAL : 0;

		req = nl_dev_req(&nl, cmds[i], hca, 0);
		nla_put_u8(req, RDMA_NLDEV_ATTR_DEV_DIM | NLA_F_NESTED, 1);
		KUNIT_EXPECT_EQ(test, nl_call(&nl, req), ret);
		req = nl_dev_req(&nl, cmds[i], hca, 0);
		nla_put_u64_64bit(req, RDMA_NLDEV_ATTR_DEV_DIM, 1, 0);
		KUNIT_EXPECT_EQ(test, nl_call(&nl, req), ret);
		req = nl_dev_req(&nl, cmds[i], hca, 0);
		skb_put_zero(req, 3);
		KUNIT_EXPECT_EQ(test, nl_call(&nl, req), ret);
		/* An attribute that no command reads is not checked by any. */
		req = nl_dev_req(&nl, cmds[i], hca, 0);
		nla_put_u8(req, RDMA_NLDEV_ATTR_LID, 1);
		KUNIT_EXPECT_EQ(test, nl_call(&nl, req), 0);
	}
	KUNIT_EXPECT_FALSE(test, hca->ibdev.use_cq_dim);
}

/* ---- ports ---- */

static void an_ib_port_tells_its_state(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, get(RDMA_NLDEV_CMD_PORT_GET, 2), 0);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]), hca->ibdev.index);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX]), 2);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_LID]), hca->port[2].lid);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_SM_LID]), 1);
	KUNIT_EXPECT_EQ(test, nl_u8(tb[RDMA_NLDEV_ATTR_LMC]), 0);
	KUNIT_EXPECT_EQ(test, nl_u8(tb[RDMA_NLDEV_ATTR_PORT_STATE]), IB_PORT_ACTIVE);
	KUNIT_EXPECT_EQ(test, nl_u8(tb[RDMA_NLDEV_ATTR_PORT_PHYS_STATE]),
			IB_PORT_PHYS_STATE_LINK_UP);
	KUNIT_EXPECT_EQ(test, nl_u64(tb[RDMA_NLDEV_ATTR_SUBNET_PREFIX]),
			0xfe80000000000000ULL);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_NDEV_NAME]);
}

static void all_ports_are_listed(struct kunit *test)
{
	int i;

	KUNIT_EXPECT_EQ(test, nl_call(&nl, nl_dev_dump(&nl, RDMA_NLDEV_CMD_PORT_GET,
						       hca, 0)), 0);
	KUNIT_EXPECT_EQ(test, nl.n, 2);
	for (i = 0; i < 2; i++) {
		nl_attrs(&nl, i, tb);
		KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX]), i + 1);
	}
}

static int broken_port;

static int query_port(struct ib_device *dev, u32 port, struct ib_port_attr *attr)
{
	if (port == broken_port)
		return -EIO;
	attr->state = IB_PORT_DOWN;
	attr->gid_tbl_len = FAKE_HCA_GIDS;
	attr->pkey_tbl_len = FAKE_HCA_PKEYS;
	return 0;
}

static void a_port_that_does_not_answer(struct kunit *test)
{
	hca->ibdev.ops.query_port = query_port;
	broken_port = 2;
	KUNIT_EXPECT_EQ(test, get(RDMA_NLDEV_CMD_PORT_GET, 2), -EIO);
	KUNIT_EXPECT_EQ(test, nl.n, 0);
	/* The ports before it are listed. */
	KUNIT_EXPECT_EQ(test, nl_call(&nl, nl_dev_dump(&nl, RDMA_NLDEV_CMD_PORT_GET,
						       hca, 0)), -EIO);
	KUNIT_EXPECT_EQ(test, nl.n, 1);
	broken_port = 0;
	KUNIT_EXPECT_EQ(test, get(RDMA_NLDEV_CMD_PORT_GET, 2), 0);
	KUNIT_EXPECT_EQ(test, nl_u8(tb[RDMA_NLDEV_ATTR_PORT_STATE]), IB_PORT_DOWN);
}

static void a_roce_port_tells_its_netdev(struct kunit *test)
{
	struct net_device *ndev = fake_netdev_create("fnet%d");
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_ETHERNET, .ndev = ndev,
	};
	struct fake_hca *roce;

	KUNIT_ASSERT_NOT_NULL(test, ndev);
	roce = fake_hca_create(&params);
	KUNIT_ASSERT_NOT_NULL(test, roce);
	KUNIT_EXPECT_EQ(test, nl_call(&nl, nl_dev_req(&nl, RDMA_NLDEV_CMD_PORT_GET,
						      roce, 1)), 0);
	nl_attrs(&nl, 0, tb);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_NDEV_INDEX]), ndev->ifindex);
	KUNIT_EXPECT_STREQ(test, nl_str(tb[RDMA_NLDEV_ATTR_NDEV_NAME]), ndev->name);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_LID]);
	fake_hca_destroy(roce);
	fake_netdev_destroy(ndev);
}

/* ---- memory ---- */

static int ask_all_once(struct kunit *test)
{
	static const int cmds[] = {
		RDMA_NLDEV_CMD_GET, RDMA_NLDEV_CMD_PORT_GET, RDMA_NLDEV_CMD_RES_GET,
		RDMA_NLDEV_CMD_SYS_GET,
	};
	static const int dumps[] = {
		RDMA_NLDEV_CMD_GET, RDMA_NLDEV_CMD_PORT_GET, RDMA_NLDEV_CMD_RES_GET,
		RDMA_NLDEV_CMD_RES_PD_GET,
	};
	int i, ret = 0;

	for (i = 0; i < ARRAY_SIZE(cmds) && !ret; i++) {
		ret = get(cmds[i], 1);
		if (!ret)
			KUNIT_EXPECT_EQ(test, nl.n, 1);
	}
	for (i = 0; i < ARRAY_SIZE(dumps) && !ret; i++)
		ret = nl_call(&nl, nl_dev_dump(&nl, dumps[i], hca, 1));
	/* Receive the rest of a response that was cut short. */
	if (ret) {
		bool ended;
		int result;

		while (nl_receive(&nl, &result, &ended) > 0)
			;
	}
	return ret;
}

static void questions_survive_each_failed_allocation(struct kunit *test)
{
	KUNIT_EXPECT_GT(test, ibex_each_allocation(test, ask_all_once), 10u);
}

static int rename_once(struct kunit *test)
{
	const char *name = strcmp(hca->ibdev.name, "alpha") ? "alpha" : "beta";
	struct ib_device *found;
	int left, ret;

	ret = set_name(name, strlen(name) + 1);
	left = current->fail_nth;
	current->fail_nth = 0;
	/* Whether the rename failed or not, both names are the same. */
	KUNIT_EXPECT_STREQ(test, hca->ibdev.name, dev_name(&hca->ibdev.dev));
	found = ib_device_get_by_name(dev_name(&hca->ibdev.dev), RDMA_DRIVER_UNKNOWN);
	KUNIT_EXPECT_PTR_EQ(test, found, &hca->ibdev);
	if (found)
		ib_device_put(found);
	current->fail_nth = left;
	return ret;
}

static void a_rename_survives_each_failed_allocation(struct kunit *test)
{
	KUNIT_EXPECT_GT(test, ibex_each_allocation(test, rename_once), 5u);
}

static struct kunit_case nldev_dev_cases[] = {
	KUNIT_CASE(a_device_tells_what_it_is),
	KUNIT_CASE(a_device_tells_its_protocol),
	KUNIT_CASE(all_devices_are_listed_in_order),
	KUNIT_CASE(a_device_that_goes_during_a_list),
	KUNIT_CASE(a_request_needs_a_device_and_a_port),
	KUNIT_CASE(a_new_name_is_known_everywhere),
	KUNIT_CASE(bad_names_are_refused),
	KUNIT_CASE(a_dump_of_a_command_does_nothing),
	KUNIT_CASE(adaptive_moderation_is_switched),
	KUNIT_CASE(a_change_is_parsed_strictly),
	KUNIT_CASE(an_ib_port_tells_its_state),
	KUNIT_CASE(all_ports_are_listed),
	KUNIT_CASE(a_port_that_does_not_answer),
	KUNIT_CASE(a_roce_port_tells_its_netdev),
	KUNIT_CASE(questions_survive_each_failed_allocation),
	KUNIT_CASE(a_rename_survives_each_failed_allocation),
	{}
};

static struct kunit_suite ibcore_nldev_dev_suite = {
	.name = "ib_core_nldev_dev",
	.init = nldev_test_init,
	.exit = nldev_test_exit,
	.test_cases = nldev_dev_cases,
};

kunit_test_suite(ibcore_nldev_dev_suite);
