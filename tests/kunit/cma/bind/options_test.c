// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Options, the QP of an id, and the defaults that configfs sets. */
#include <linux/fs.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/umh.h>
#include <rdma/ib_cache.h>
#include "cma/cma_test.h"
#include "wait.h"

#define CONFIG_DIR	"/sys/kernel/config/rdma_cm"

static struct cma_pair pair;

static int options_test_init(struct kunit *test)
{
	return cma_pair_init(test, &pair);
}

static void options_test_exit(struct kunit *test)
{
	cma_pair_exit(test, &pair);
}

static void the_class_of_service(struct kunit *test)
{
	struct sockaddr_storage addr;
	struct sa_path_rec *path;
	int i;

	rtnl_lock();
	netdev_set_num_tc(pair.client.ndev, 4);
	for (i = 0; i < 16; i++)
		netdev_set_prio_tc_map(pair.client.ndev, i, i & 3);
	rtnl_unlock();
	pair.client.id = cma_new_id(&pair.client, RDMA_PS_TCP, IB_QPT_RC);
	rdma_set_service_type(pair.client.id, 0x10);	/* priority 6: interactive */
	KUNIT_ASSERT_EQ(test, rdma_resolve_addr(pair.client.id, NULL,
						cma_sin(&addr, pair.server.ip4,
							TEST_PORT), TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "A"));
	KUNIT_ASSERT_EQ(test, rdma_resolve_route(pair.client.id, TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "AR"));
	path = pair.client.id->route.path_rec;
	KUNIT_EXPECT_EQ(test, path->traffic_class, 0x10);
	KUNIT_EXPECT_EQ(test, path->sl, 6 & 3);
}

static void requests_inherit_the_class_of_service(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	rdma_set_service_type(pair.server.listener, 0x28);
	cma_connect(test, &pair);
	KUNIT_EXPECT_TRUE(test, cma_of(pair.server.id)->tos_set);
	KUNIT_EXPECT_EQ(test, cma_of(pair.server.id)->tos, 0x28);
}

static void the_path_of_a_link(struct kunit *test)
{
	struct sa_path_rec *path;

	cma_resolve(test, &pair);
	path = pair.client.id->route.path_rec;
	KUNIT_EXPECT_EQ(test, path->rec_type, SA_PATH_REC_TYPE_ROCE_V2);
	KUNIT_EXPECT_EQ(test, path->mtu, IB_MTU_4096);
	KUNIT_EXPECT_EQ(test, path->packet_life_time, CMA_ROCE_PACKET_LIFETIME);
	KUNIT_EXPECT_MEMEQ(test, path->roce.dmac, pair.server.ndev->dev_addr, ETH_ALEN);
	KUNIT_EXPECT_NE(test, path->flow_label, 0);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(path->flow_label) & ~0xfffff, 0);
	KUNIT_EXPECT_EQ(test, pair.client.id->route.num_pri_alt_paths, 1);
}

static void a_link_too_small_for_any_path(struct kunit *test)
{
	struct rdma_cm_id *id;

	id = cma_go_to(test, &pair, AT_ADDR_RESOLVED);
	KUNIT_ASSERT_NOT_NULL(test, id);
	WRITE_ONCE(pair.client.ndev->mtu, 200);
	KUNIT_EXPECT_EQ(test, rdma_resolve_route(id, TEST_TIMEOUT), -EINVAL);
	KUNIT_EXPECT_EQ(test, cma_at(id), RDMA_CM_ADDR_RESOLVED);
	WRITE_ONCE(pair.client.ndev->mtu, 1500);
	KUNIT_EXPECT_EQ(test, rdma_resolve_route(id, TEST_TIMEOUT), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "AR"));
	KUNIT_EXPECT_EQ(test, id->route.path_rec->mtu, IB_MTU_1024);
}

static void timers_of_the_qp(struct kunit *test)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR };
	struct sockaddr_storage addr;
	struct rdma_cm_id *ud;
	int mask = 0;

	ud = cma_new_id(&pair.client, RDMA_PS_UDP, IB_QPT_UD);
	KUNIT_EXPECT_EQ(test, rdma_set_ack_timeout(ud, 14), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_set_min_rnr_timer(ud, 14), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_init_qp_attr(ud, &attr, &mask), -ENODEV);
	rdma_destroy_id(ud);

	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	KUNIT_EXPECT_EQ(test, rdma_init_qp_attr(pair.server.listener, &attr, &mask), -EINVAL);
	pair.client.id = cma_new_id(&pair.client, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, rdma_set_ack_timeout(pair.client.id, 32), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_set_min_rnr_timer(pair.client.id, 32), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_set_ack_timeout(pair.client.id, 21), 0);
	KUNIT_EXPECT_EQ(test, rdma_set_min_rnr_timer(pair.client.id, 9), 0);
	KUNIT_ASSERT_EQ(test, rdma_resolve_addr(pair.client.id, NULL,
						cma_sin(&addr, pair.server.ip4,
							TEST_PORT), TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "A"));
	KUNIT_ASSERT_EQ(test, rdma_resolve_route(pair.client.id, TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "AR"));
	KUNIT_EXPECT_EQ(test, pair.client.id->route.path_rec->packet_life_time, 20);
	KUNIT_ASSERT_EQ(test, cma_make_qp(&pair.client), 0);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "ARE"));
	KUNIT_EXPECT_EQ(test, rdma_init_qp_attr(pair.client.id, &attr, &mask), 0);
	KUNIT_EXPECT_TRUE(test, mask & IB_QP_MIN_RNR_TIMER);
	KUNIT_EXPECT_EQ(test, attr.min_rnr_timer, 9);
	KUNIT_EXPECT_EQ(test, attr.dest_qp_num, pair.server.id->qp->qp_num);
	KUNIT_EXPECT_EQ(test, attr.rq_psn, cma_of(pair.client.id)->seq_num);
	attr.qp_state = IB_QPS_RTS;
	KUNIT_EXPECT_EQ(test, rdma_init_qp_attr(pair.client.id, &attr, &mask), 0);
	KUNIT_EXPECT_TRUE(test, mask & IB_QP_TIMEOUT);
	KUNIT_EXPECT_EQ(test, attr.timeout, 21);
	KUNIT_EXPECT_EQ(test, attr.sq_psn, cma_of(pair.server.id)->seq_num);
}

static void gids_of_an_id_without_a_device(struct kunit *test)
{
	struct rdma_cm_id *id = cma_new_id(&pair.client, RDMA_PS_TCP, IB_QPT_RC);
	union ib_gid sgid, dgid;

	memset(&sgid, 0xee, sizeof(sgid));
	memset(&dgid, 0xee, sizeof(dgid));
	rdma_read_gids(id, &sgid, &dgid);
	KUNIT_EXPECT_TRUE(test, rdma_is_zero_gid(&sgid));
	KUNIT_EXPECT_TRUE(test, rdma_is_zero_gid(&dgid));
	rdma_destroy_id(id);
}

static void gids_on_roce_are_the_addresses(struct kunit *test)
{
	union ib_gid sgid, dgid;

	cma_resolve(test, &pair);
	rdma_read_gids(pair.client.id, &sgid, NULL);
	rdma_read_gids(pair.client.id, NULL, &dgid);
	KUNIT_EXPECT_MEMEQ(test, &sgid.raw[12], &pair.client.ip4, 4);
	KUNIT_EXPECT_MEMEQ(test, &dgid.raw[12], &pair.server.ip4, 4);
}

static int make_qp_in(struct rdma_cm_id *id, struct ib_pd *pd, struct ib_cq *cq)
{
	struct ib_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = id->qp_type,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	return rdma_create_qp(id, pd, &init);
}

static void a_qp_is_made_once(struct kunit *test)
{
	struct sockaddr_storage addr;

	pair.client.id = cma_new_id(&pair.client, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, cma_make_qp(&pair.client), -EINVAL);	/* no device */
	KUNIT_ASSERT_EQ(test, rdma_bind_addr(pair.client.id,
					     cma_sin(&addr, pair.client.ip4, 0)), 0);
	KUNIT_EXPECT_EQ(test, make_qp_in(pair.client.id, pair.server.pd, pair.server.cq),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, cma_make_qp(&pair.client), 0);
	KUNIT_EXPECT_EQ(test, cma_alive(&pair.client, FAKE_QP), 1);
	KUNIT_EXPECT_EQ(test, cma_make_qp(&pair.client), -EINVAL);
	KUNIT_EXPECT_EQ(test, cma_alive(&pair.client, FAKE_QP), 1);
	rdma_destroy_qp(pair.client.id);
	KUNIT_EXPECT_EQ(test, cma_alive(&pair.client, FAKE_QP), 0);
	KUNIT_EXPECT_NULL(test, pair.client.id->qp);
	rdma_destroy_qp(pair.client.id);
	KUNIT_EXPECT_EQ(test, cma_make_qp(&pair.client), 0);
}

static void a_qp_that_cannot_be_made(struct kunit *test)
{
	struct sockaddr_storage addr;
	int ud, nth;

	for (ud = 0; ud < 2; ud++) {
		pair.client.qp_type = ud ? IB_QPT_UD : IB_QPT_RC;
		pair.client.id = cma_new_id(&pair.client, ud ? RDMA_PS_UDP : RDMA_PS_TCP,
					    pair.client.qp_type);
		KUNIT_ASSERT_EQ(test, rdma_bind_addr(pair.client.id,
						     cma_sin(&addr, pair.client.ip4, 0)),
				0);
		atomic_set(&pair.client.hca->fail_create[FAKE_QP], 1);
		KUNIT_EXPECT_EQ(test, cma_make_qp(&pair.client), -ENOMEM);
		/* The QP cannot be modified to INIT; for datagrams to RTR or RTS, too. */
		for (nth = 1; nth <= (ud ? 3 : 1); nth++) {
			atomic_set(&pair.client.hca->fail_modify_qp, nth);
			KUNIT_EXPECT_EQ_MSG(test, cma_make_qp(&pair.client), -EIO,
					    "%d %d", ud, nth);
			KUNIT_EXPECT_EQ(test, cma_alive(&pair.client, FAKE_QP), 0);
		}
		KUNIT_EXPECT_NULL(test, pair.client.id->qp);
		KUNIT_EXPECT_EQ(test, cma_make_qp(&pair.client), 0);
		cma_drop_id(&pair.client);
	}
}

static void a_users_id(struct kunit *test)
{
	struct rdma_cm_id *id;
	struct sockaddr_storage addr;

	id = rdma_create_user_id(cma_handler, &pair.client, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_ASSERT_FALSE(test, IS_ERR(id));
	KUNIT_EXPECT_PTR_EQ(test, id->route.addr.dev_addr.net, &init_net);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, cma_sin(&addr, pair.client.ip4, 0)), 0);
	rdma_destroy_id(id);
}

/* ---- configfs ---- */

static int run_shell(const char *fmt, const char *name)
{
	static char *envp[] = { "PATH=/bin:/sbin:/usr/bin:/usr/sbin", NULL };
	char command[160];
	char *argv[] = { "/bin/sh", "-c", command, NULL };

	snprintf(command, sizeof(command), fmt, name);
	return call_usermodehelper(argv[0], argv, envp, UMH_WAIT_PROC);
}

static struct file *open_attr(const char *name, const char *attr, int flags)
{
	char path[160];

	snprintf(path, sizeof(path), CONFIG_DIR "/%s/ports/1/%s", name, attr);
	return filp_open(path, flags, 0);
}

static ssize_t write_attr(const char *name, const char *attr, const char *value)
{
	struct file *file = open_attr(name, attr, O_WRONLY);
	loff_t pos = 0;
	ssize_t ret;

	if (IS_ERR(file))
		return PTR_ERR(file);
	ret = kernel_write(file, value, strlen(value), &pos);
	filp_close(file, NULL);
	return ret;
}

static ssize_t read_attr(const char *name, const char *attr, char *buf, size_t len)
{
	struct file *file = open_attr(name, attr, O_RDONLY);
	loff_t pos = 0;
	ssize_t ret;

	if (IS_ERR(file))
		return PTR_ERR(file);
	memset(buf, 0, len);
	ret = kernel_read(file, buf, len - 1, &pos);
	filp_close(file, NULL);
	return ret;
}

static char config_name[IB_DEVICE_NAME_MAX];

static void make_dir(struct kunit *test)
{
	strscpy(config_name, dev_name(&pair.client.hca->ibdev.dev));
	KUNIT_ASSERT_EQ(test, run_shell("mkdir " CONFIG_DIR "/%s", config_name), 0);
}

static void remove_dir(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, run_shell("rmdir " CONFIG_DIR "/%s", config_name), 0);
}

static void the_default_class_of_service(struct kunit *test)
{
	char buf[32];

	make_dir(test);
	KUNIT_EXPECT_GT(test, read_attr(config_name, "default_roce_tos", buf, 32), 0);
	KUNIT_EXPECT_STREQ(test, buf, "0\n");
	KUNIT_EXPECT_EQ(test, write_attr(config_name, "default_roce_tos", "256"), -ERANGE);
	KUNIT_EXPECT_EQ(test, write_attr(config_name, "default_roce_tos", "many"),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, write_attr(config_name, "default_roce_tos", "106"), 3);
	KUNIT_EXPECT_GT(test, read_attr(config_name, "default_roce_tos", buf, 32), 0);
	KUNIT_EXPECT_STREQ(test, buf, "106\n");
	remove_dir(test);
	cma_resolve(test, &pair);
	KUNIT_EXPECT_EQ(test, pair.client.id->route.path_rec->traffic_class, 106);
}

static void the_default_gid_type(struct kunit *test)
{
	char buf[32];

	make_dir(test);
	KUNIT_EXPECT_GT(test, read_attr(config_name, "default_roce_mode", buf, 32), 0);
	KUNIT_EXPECT_STREQ(test, buf, "RoCE v2\n");
	KUNIT_EXPECT_EQ(test, write_attr(config_name, "default_roce_mode", "RoCE v3"),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, write_attr(config_name, "default_roce_mode",
					 "IB/RoCE v1\n"), 11);
	KUNIT_EXPECT_GT(test, read_attr(config_name, "default_roce_mode", buf, 32), 0);
	KUNIT_EXPECT_STREQ(test, buf, "IB/RoCE v1\n");
	cma_resolve(test, &pair);
	KUNIT_EXPECT_EQ(test, pair.client.id->route.path_rec->rec_type,
			SA_PATH_REC_TYPE_ROCE_V1);
	KUNIT_EXPECT_EQ(test, pair.client.id->route.path_rec->hop_limit, 1);
	remove_dir(test);
}

static void expect_attr(struct kunit *test, const char *attr, const char *value)
{
	char buf[32];

	KUNIT_EXPECT_GT(test, read_attr(config_name, attr, buf, 32), 0);
	KUNIT_EXPECT_STREQ(test, buf, value);
}

/* Nobody answers: the id is told after the time that the port's settings make. */
static void the_default_cm_timeout(struct kunit *test)
{
	static const char timeout[] = "default_cm_timeout_ms", retries[] = "default_cm_retries";
	unsigned long start;

	make_dir(test);
	expect_attr(test, timeout, "4295\n");
	expect_attr(test, retries, "15\n");
	KUNIT_EXPECT_EQ(test, write_attr(config_name, timeout, "0"), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_attr(config_name, timeout, "soon"), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_attr(config_name, timeout, "8796095"), -ERANGE);
	KUNIT_EXPECT_EQ(test, write_attr(config_name, timeout, "8796094"), 7);
	expect_attr(test, timeout, "8796094\n");
	KUNIT_EXPECT_EQ(test, write_attr(config_name, timeout, "1"), 1);
	expect_attr(test, timeout, "1\n");
	KUNIT_EXPECT_EQ(test, write_attr(config_name, timeout, "250"), 3);
	expect_attr(test, timeout, "269\n");	/* 4.096 us * 2^16 */
	KUNIT_EXPECT_EQ(test, write_attr(config_name, retries, "16"), -ERANGE);
	KUNIT_EXPECT_EQ(test, write_attr(config_name, retries, "-1"), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_attr(config_name, retries, "3"), 1);
	expect_attr(test, retries, "3\n");
	remove_dir(test);

	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	cma_resolve(test, &pair);
	pair.client.drop[IBCM_REQ] = -1;
	start = jiffies;
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "u"));
	/* Each of the four tries adds twice the packet lifetime, 2^16. */
	KUNIT_EXPECT_GE(test, took_ms(jiffies - start) + 10, 4 * 3 * 268u);
	KUNIT_EXPECT_LE(test, took_ms(jiffies - start), 4 * 3 * 269u * 9 / 8 + 100);
}

/* So a script may write the same to all ports that it has read. */
static void the_gid_type_of_infiniband(struct kunit *test)
{
	char buf[32];

	cma_pair_exit(test, &pair);
	KUNIT_ASSERT_EQ(test, cma_pair_init_ib(test, &pair), 0);
	make_dir(test);
	KUNIT_EXPECT_GT(test, read_attr(config_name, "default_roce_mode", buf, 32), 0);
	KUNIT_EXPECT_STREQ(test, buf, "IB/RoCE v1\n");
	KUNIT_EXPECT_EQ(test, write_attr(config_name, "default_roce_mode", buf), 11);
	KUNIT_EXPECT_EQ(test, write_attr(config_name, "default_roce_mode", "RoCE v2\n"),
			-EINVAL);
	remove_dir(test);
	cma_pair_exit_ib(test, &pair);
}

/* Packets to a gateway are RoCE v2, whatever the default GID type. */
static void routed_packets_are_roce_v2(struct kunit *test)
{
	__be32 net = htonl(0x0a090000), far = htonl(0x0a090001);
	struct sockaddr_storage addr;
	struct sa_path_rec *path;

	KUNIT_ASSERT_EQ(test, cma_net_route(pair.client.ndev, true, AF_INET, &net, 24,
					    &pair.server.ip4), 0);
	make_dir(test);
	KUNIT_EXPECT_EQ(test, write_attr(config_name, "default_roce_mode",
					 "IB/RoCE v1\n"), 11);
	remove_dir(test);
	cma_resolve_to(test, &pair.client, RDMA_PS_TCP, cma_sin(&addr, far, TEST_PORT));
	path = pair.client.id->route.path_rec;
	KUNIT_EXPECT_EQ(test, path->rec_type, SA_PATH_REC_TYPE_ROCE_V2);
	KUNIT_EXPECT_GT(test, path->hop_limit, 1);
	KUNIT_EXPECT_EQ(test, cma_of(pair.client.id)->sgid_attr->gid_type,
			IB_GID_TYPE_ROCE_UDP_ENCAP);
}

static void the_device_of_a_directory_goes(struct kunit *test)
{
	char buf[32];

	KUNIT_EXPECT_NE(test, run_shell("mkdir " CONFIG_DIR "/%s 2>/dev/null", "nosuch0"), 0);
	make_dir(test);
	cma_side_stop(test, &pair.client);
	fake_hca_destroy(pair.client.hca);
	pair.client.hca = NULL;
	KUNIT_EXPECT_EQ(test, read_attr(config_name, "default_roce_tos", buf, 32),
			-ENODEV);
	KUNIT_EXPECT_EQ(test, read_attr(config_name, "default_roce_mode", buf, 32),
			-ENODEV);
	KUNIT_EXPECT_EQ(test, write_attr(config_name, "default_roce_tos", "1"), -ENODEV);
	KUNIT_EXPECT_EQ(test, read_attr(config_name, "default_cm_timeout_ms", buf, 32),
			-ENODEV);
	KUNIT_EXPECT_EQ(test, read_attr(config_name, "default_cm_retries", buf, 32),
			-ENODEV);
	KUNIT_EXPECT_EQ(test, write_attr(config_name, "default_cm_timeout_ms", "1"),
			-ENODEV);
	KUNIT_EXPECT_EQ(test, write_attr(config_name, "default_cm_retries", "1"), -ENODEV);
	KUNIT_EXPECT_EQ(test, write_attr(config_name, "default_roce_mode", "RoCE v2\n"),
			-ENODEV);
	remove_dir(test);
}

static struct kunit_case options_cases[] = {
	KUNIT_CASE(the_class_of_service),
	KUNIT_CASE(requests_inherit_the_class_of_service),
	KUNIT_CASE(the_path_of_a_link),
	KUNIT_CASE(a_link_too_small_for_any_path),
	KUNIT_CASE(timers_of_the_qp),
	KUNIT_CASE(gids_of_an_id_without_a_device),
	KUNIT_CASE(gids_on_roce_are_the_addresses),
	KUNIT_CASE(a_qp_is_made_once),
	KUNIT_CASE(a_qp_that_cannot_be_made),
	KUNIT_CASE(a_users_id),
	KUNIT_CASE(the_default_class_of_service),
	KUNIT_CASE(the_default_gid_type),
	KUNIT_CASE(the_default_cm_timeout),
	KUNIT_CASE(the_gid_type_of_infiniband),
	KUNIT_CASE(routed_packets_are_roce_v2),
	KUNIT_CASE(the_device_of_a_directory_goes),
	{}
};

static struct kunit_suite cma_options_suite = {
	.name = "rdma_cm_options",
	.init = options_test_init,
	.exit = options_test_exit,
	.test_cases = options_cases,
};

kunit_test_suite(cma_options_suite);
