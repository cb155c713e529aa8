// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Devices, clients and names.  Each racer has an adapter and a client, which it registers and
 * unregisters, a netlink socket, by which it renames any device and lists all of them, and a
 * network namespace, which it creates and ends; and it looks up devices by name, net_device and
 * index.  Each client must be added to each device once at most, and removed once, with its own
 * data, before its or the device's unregistration returns.
 */
#include <rdma/ib_cache.h>
#include <ibex/device.h>
#include "core/netlink/nl.h"
#include "crew.h"

#define STEPS		150	/* of a racer */
#define NAMES		6

struct dev_racer {
	struct racer *racer;
	struct net_device *ndev;
	struct fake_hca *hca;
	struct ib_client client;
	char client_name[16];
	bool has_client;
	atomic_t attached;		/* devices that the client has */
	struct test_ns ns;
	bool has_ns;
	struct nl nl;
};

static struct {
	struct kunit *test;
	struct crew crew;
	unsigned int nr;
	struct dev_racer racers[CREW_MOST];
} world;

static struct {
	atomic_t steps, registered, attached, renamed, found, found_by_ndev, dumped, namespaces;
} seen;

/* ---- clients ---- */

struct attached {
	struct dev_racer *by;
	struct ib_device *ibdev;
	char name[IB_DEVICE_NAME_MAX];
};

/* A callback says of which client it is only by what it was called with. */
static int add_of(struct ib_device *ibdev, struct dev_racer *by)
{
	struct attached *data;

	KUNIT_EXPECT_PTR_EQ(world.test, ib_get_client_data(ibdev, &by->client), NULL);
	data = kzalloc(sizeof(*data), GFP_KERNEL);
	if (!data)
		return -ENOMEM;
	data->by = by;
	data->ibdev = ibdev;
	/* In add() the name stays. */
	strscpy(data->name, dev_name(&ibdev->dev), sizeof(data->name));
	ib_set_client_data(ibdev, &by->client, data);
	atomic_inc(&by->attached);
	atomic_inc(&seen.attached);
	return 0;
}

#define ADD(n) static int add_##n(struct ib_device *ibdev) \
	{ return add_of(ibdev, &world.racers[n]); }
ADD(0) ADD(1) ADD(2) ADD(3) ADD(4) ADD(5) ADD(6) ADD(7)

static int (* const adds[CREW_MOST])(struct ib_device *ibdev) = {
	add_0, add_1, add_2, add_3, add_4, add_5, add_6, add_7,
};

static void client_remove(struct ib_device *ibdev, void *client_data)
{
	struct attached *data = client_data;

	KUNIT_EXPECT_NOT_NULL(world.test, data);
	if (!data)
		return;
	KUNIT_EXPECT_PTR_EQ(world.test, data->ibdev, ibdev);
	atomic_dec(&data->by->attached);
	kfree(data);
}

static void client_rename(struct ib_device *ibdev, void *client_data)
{
	struct attached *data = client_data;

	KUNIT_EXPECT_PTR_EQ(world.test, data->ibdev, ibdev);
	strscpy(data->name, dev_name(&ibdev->dev), sizeof(data->name));
}

static void toggle_client(struct dev_racer *r)
{
	if (r->has_client) {
		ib_unregister_client(&r->client);
		KUNIT_EXPECT_EQ(world.test, atomic_read(&r->attached), 0);
		r->has_client = false;
		return;
	}
	memset(&r->client, 0, sizeof(r->client));
	r->client.name = r->client_name;
	r->client.add = adds[r->racer->nr];
	r->client.remove = client_remove;
	r->client.rename = client_rename;
	KUNIT_EXPECT_EQ(world.test, ib_register_client(&r->client), 0);
	r->has_client = true;
}

/* ---- devices ---- */

static void toggle_device(struct dev_racer *r)
{
	struct fake_hca_params params = { .link_layer = IB_LINK_LAYER_ETHERNET };

	if (r->hca) {
		fake_hca_destroy(r->hca);
		r->hca = NULL;
		return;
	}
	switch (crew_pick(r->racer, 3)) {
	case 0:
		params.link_layer = IB_LINK_LAYER_INFINIBAND;
		break;
	case 1:
		params.iwarp = true;
		fallthrough;
	default:
		params.ndev = r->ndev;
		break;
	}
	r->hca = fake_hca_create(&params);
	KUNIT_EXPECT_NOT_NULL(world.test, r->hca);
	atomic_inc(&seen.registered);
}

static const char *some_name(struct dev_racer *r, char name[IB_DEVICE_NAME_MAX])
{
	snprintf(name, IB_DEVICE_NAME_MAX, crew_pick(r->racer, 2) ? "race%u" : "fake%u",
		 crew_pick(r->racer, NAMES));
	return name;
}

/* It stays registered as long as it is held, whoever unregisters it. */
static void use(struct dev_racer *r, struct ib_device *ibdev)
{
	struct ib_port_attr attr;
	char name[IB_DEVICE_NAME_MAX];

	KUNIT_EXPECT_EQ(world.test, ib_query_port(ibdev, 1, &attr), 0);
	ibcore_device_name(ibdev, name);
	KUNIT_EXPECT_TRUE(world.test, !strncmp(name, "race", 4) || !strncmp(name, "fake", 4));
	crew_pause(r->racer);
	KUNIT_EXPECT_EQ(world.test, ib_query_port(ibdev, 1, &attr), 0);
	ib_device_put(ibdev);
}

static void look_up(struct dev_racer *r)
{
	struct net_device *ndev = world.racers[crew_pick(r->racer, world.nr)].ndev;
	struct net_device *its;
	struct ib_device *ibdev;
	char name[IB_DEVICE_NAME_MAX];

	ibdev = ib_device_get_by_name(some_name(r, name), RDMA_DRIVER_UNKNOWN);
	if (ibdev) {
		atomic_inc(&seen.found);
		use(r, ibdev);
	}
	ibdev = ib_device_get_by_netdev(ndev, RDMA_DRIVER_UNKNOWN);
	if (ibdev) {
		atomic_inc(&seen.found_by_ndev);
		its = ib_device_get_netdev(ibdev, 1);
		KUNIT_EXPECT_PTR_EQ(world.test, its, ndev);
		dev_put(its);
		use(r, ibdev);
	}
}

/* ---- netlink and sysfs ---- */

static struct sk_buff *nl_name_req(struct dev_racer *r, int cmd, u32 index)
{
	struct sk_buff *req = nl_dev_req(&r->nl, cmd, NULL, 0);

	nla_put_u32(req, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	return req;
}

static void rename_one(struct dev_racer *r, u32 index)
{
	struct sk_buff *req = nl_name_req(r, RDMA_NLDEV_CMD_SET, index);
	char name[IB_DEVICE_NAME_MAX];
	int ret;

	nla_put_string(req, RDMA_NLDEV_ATTR_DEV_NAME, some_name(r, name));
	ret = nl_call(&r->nl, req);
	KUNIT_EXPECT_TRUE_MSG(world.test, !ret || ret == -EEXIST || ret == -EINVAL ||
			      ret == -ENODEV, "%d", ret);
	if (!ret)
		atomic_inc(&seen.renamed);
}

/* Lists all devices or objects, then asks for a device of the list, which may be gone. */
static void dump(struct dev_racer *r)
{
	static const int cmds[] = {
		RDMA_NLDEV_CMD_GET, RDMA_NLDEV_CMD_GET, RDMA_NLDEV_CMD_RES_GET,
	};
	int cmd = cmds[crew_pick(r->racer, ARRAY_SIZE(cmds))], ret;
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
	u32 index;

	ret = nl_call(&r->nl, nl_dev_dump(&r->nl, cmd, NULL, 0));
	KUNIT_EXPECT_EQ(world.test, ret, 0);
	if (ret || !r->nl.n)
		return;
	atomic_inc(&seen.dumped);
	nl_attrs(&r->nl, crew_pick(r->racer, r->nl.n), tb);
	index = nl_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
	if (crew_once(r->racer, 2)) {
		rename_one(r, index);
		return;
	}
	ret = nl_call(&r->nl, nl_name_req(r, RDMA_NLDEV_CMD_GET, index));
	KUNIT_EXPECT_TRUE_MSG(world.test, !ret || ret == -EINVAL || ret == -ENODEV, "%d", ret);
}

static void read_sysfs(struct dev_racer *r)
{
	static const char * const files[] = {
		"node_desc", "ports/1/state", "ports/1/gids/0", "ports/1/pkeys/0", "uevent",
	};
	char name[IB_DEVICE_NAME_MAX], page[256];

	/* The device may not exist. */
	sys_read(page, sizeof(page), "%s/%s", some_name(r, name),
		 files[crew_pick(r->racer, ARRAY_SIZE(files))]);
}

/* ---- namespaces ---- */

static void toggle_ns(struct dev_racer *r)
{
	if (r->has_ns) {
		test_ns_end(&r->ns);
	} else {
		KUNIT_EXPECT_EQ(world.test, test_ns_create(&r->ns), 0);
		atomic_inc(&seen.namespaces);
	}
	r->has_ns = !r->has_ns;
}

/* ---- racers ---- */

static void step(struct dev_racer *r)
{
	switch (crew_pick(r->racer, 40)) {
	case 0:
		toggle_ns(r);
		break;
	case 1 ... 5:
		toggle_client(r);
		break;
	case 6 ... 11:
		toggle_device(r);
		break;
	case 12 ... 17:
		read_sysfs(r);
		break;
	case 18 ... 25:
		dump(r);
		break;
	default:
		look_up(r);
		break;
	}
	if (crew_once(r->racer, 2))
		crew_pause(r->racer);
}

static void race(struct racer *racer)
{
	struct dev_racer *r = &world.racers[racer->nr];
	int i;

	for (i = 0; i < STEPS && !crew_late(&world.crew); i++) {
		step(r);
		atomic_inc(&seen.steps);
	}
}

/* Once all are quiet, each device has its files under the name that it has now. */
static void expect_files(struct kunit *test, struct fake_hca *hca)
{
	char name[IB_DEVICE_NAME_MAX], page[64], path[IB_DEVICE_NAME_MAX + 64];
	struct file *file;

	ibcore_device_name(&hca->ibdev, name);
	KUNIT_EXPECT_EQ_MSG(test, sys_read(page, sizeof(page), "%s/node_guid", name), 0, "%s",
			    name);
	if (!rdma_cap_ib_cm(&hca->ibdev, 1))
		return;
	snprintf(path, sizeof(path), "/sys/kernel/debug/ib_cm/%s-1", name);
	file = filp_open(path, O_RDONLY, 0);
	KUNIT_EXPECT_FALSE_MSG(test, IS_ERR(file), "%s", path);
	if (!IS_ERR(file))
		__fput_sync(file);
}

static void finish(struct kunit *test, struct dev_racer *r)
{
	if (r->hca)
		toggle_device(r);
	if (r->has_client)
		toggle_client(r);
	if (r->has_ns)
		toggle_ns(r);
	KUNIT_EXPECT_EQ(test, atomic_read(&r->attached), 0);
}

static void devices(struct kunit *test)
{
	unsigned int i;
	int steps;

	memset(&seen, 0, sizeof(seen));
	crew_seed(&world.crew, (unsigned long)test->param_value);
	for (i = 0; i < world.nr; i++)
		crew_add(&world.crew, race);
	crew_join(&world.crew);
	for (i = 0; i < world.nr; i++)
		if (world.racers[i].hca)
			expect_files(test, world.racers[i].hca);
	for (i = 0; i < world.nr; i++)
		finish(test, &world.racers[i]);
	steps = atomic_read(&seen.steps);
	kunit_info(test, "registered %d, attached %d, renamed %d, found %d, by net_device %d",
		   atomic_read(&seen.registered), atomic_read(&seen.attached),
		   atomic_read(&seen.renamed), atomic_read(&seen.found),
		   atomic_read(&seen.found_by_ndev));
	kunit_info(test, "steps %d, listed %d, namespaces %d", steps, atomic_read(&seen.dumped),
		   atomic_read(&seen.namespaces));
	/* Each was frequent enough. */
	KUNIT_EXPECT_GT(test, atomic_read(&seen.registered), steps / 40);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.attached), steps / 40);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.renamed), steps / 80);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.found), steps / 40);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.found_by_ndev), steps / 40);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.dumped), steps / 40);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.namespaces), 0);
}

static int race_device_init(struct kunit *test)
{
	unsigned int i;
	int ret;

	memset(&world, 0, sizeof(world));
	world.test = test;
	crew_init(&world.crew, test);
	world.nr = crew_size();
	for (i = 0; i < world.nr; i++) {
		struct dev_racer *r = &world.racers[i];

		r->racer = &world.crew.racers[i];
		snprintf(r->client_name, sizeof(r->client_name), "race_%u", i);
		r->ndev = fake_netdev_create("rnet%d");
		if (!r->ndev)
			return -ENOMEM;
		ret = nl_open(&r->nl, &init_net);
		if (ret)
			return ret;
	}
	return 0;
}

static void race_device_exit(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < world.nr; i++) {
		nl_close(&world.racers[i].nl);
		if (world.racers[i].ndev)
			fake_netdev_destroy(world.racers[i].ndev);
	}
}

static struct kunit_case race_device_cases[] = {
	KUNIT_CASE_PARAM(devices, crew_next_seed),
	{}
};

static struct kunit_suite race_device_suite = {
	.name = "race_device",
	.init = race_device_init,
	.exit = race_device_exit,
	.test_cases = race_device_cases,
};

kunit_test_suite(race_device_suite);
