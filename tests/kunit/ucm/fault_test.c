// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Each allocation of each code path fails once; afterwards everything is as before. */
#include <net/ipv6.h>
#include "ucm_test.h"

static int open_once(struct kunit *test)
{
	struct file *filp = kzalloc(sizeof(*filp), GFP_KERNEL | __GFP_NOFAIL);
	int ret = ucm_fops.open(NULL, filp);

	if (!ret)
		ucm_fops.release(NULL, filp);
	kfree(filp);
	return ret;
}

static void a_file(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, open_once), 1);
}

static int create_once(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	int ret;
	u32 id;

	ret = chan_create(&host->client, RDMA_PS_TCP, 'C', &id);
	return ret ?: chan_destroy(&host->client, id, NULL);
}

static void an_id(struct kunit *test)
{
	/*
	 * The ids of rdma_ucm and of rdma_cm; the place of the number is allocated
	 * already.
	 */
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, create_once), 2);
}

static int join_once(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct sockaddr_storage addr;
	u32 mc;
	int ret;

	ret = chan_join(&host->client, host->id, cma_sin(&addr, htonl(0xef010203), 0), 0,
			'M', &mc);
	return ret ?: chan_leave(&host->client, mc, NULL);
}

static void a_group(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct sockaddr_storage addr;

	KUNIT_ASSERT_EQ(test, chan_create(&host->client, RDMA_PS_UDP, 'C', &host->id), 0);
	KUNIT_ASSERT_EQ(test, chan_bind(&host->client, host->id,
					cma_sin(&addr, host->pair.client.ip4, 0)), 0);
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, join_once), 2);
	KUNIT_EXPECT_TRUE(test, chan_is_empty(&host->client));
}

static int set_path(struct ucm_hosts *host, u32 id)
{
	struct ib_path_rec_data data = {
		.flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL,
	};
	struct sa_path_rec rec = { .rec_type = SA_PATH_REC_TYPE_IB };

	ipv6_addr_set_v4mapped(host->pair.client.ip4, (struct in6_addr *)&rec.sgid);
	ipv6_addr_set_v4mapped(host->pair.server.ip4, (struct in6_addr *)&rec.dgid);
	ib_sa_pack_path(&rec, data.path_rec);
	return chan_option(&host->client, id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &data,
			   sizeof(data));
}

static int path_once(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	unsigned int nth = current->fail_nth;
	struct sockaddr_storage src, dst;
	u32 id;
	int ret;

	current->fail_nth = 0;
	KUNIT_ASSERT_EQ(test, chan_create(&host->client, RDMA_PS_TCP, 'C', &id), 0);
	KUNIT_ASSERT_EQ(test, chan_resolve(&host->client, id,
					   cma_sin(&src, host->pair.client.ip4, 0),
					   cma_sin(&dst, host->pair.server.ip4,
						   TEST_PORT)), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, &host->client,
					    RDMA_CM_EVENT_ADDR_RESOLVED, NULL));
	current->fail_nth = nth;
	ret = set_path(host, id);
	nth = current->fail_nth;
	current->fail_nth = 0;
	if (!ret)
		KUNIT_EXPECT_TRUE(test, chan_expect(test, &host->client,
						    RDMA_CM_EVENT_ROUTE_RESOLVED, NULL));
	KUNIT_EXPECT_TRUE(test, chan_is_empty(&host->client));
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->client, id, NULL), 0);
	current->fail_nth = nth;
	return ret;
}

static void a_path(struct kunit *test)
{
	/* The event and the path record. */
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, path_once), 2);
}

/*
 * A request for which there is no memory is refused, and rdma_cm destroys its id.  The
 * test calls the handler itself: in a worker, the other allocations of a request would
 * fail, too.
 */
static int request_once(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_cm_event event = { .event = RDMA_CM_EVENT_CONNECT_REQUEST };
	struct ucm_file *file = host->server.filp->private_data;
	struct rdma_ucm_event_resp resp;
	struct rdma_cm_id *cm_id;
	struct ucm_id *listener;
	unsigned int nth;
	int ret;

	listener = list_first_entry(&file->ids, struct ucm_id, file_node);
	nth = current->fail_nth;
	current->fail_nth = 0;
	cm_id = rdma_create_id(&init_net, listener->cm_id->event_handler, listener,
			       RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_ASSERT_FALSE(test, IS_ERR(cm_id));
	current->fail_nth = nth;
	ret = cm_id->event_handler(cm_id, &event);
	nth = current->fail_nth;
	current->fail_nth = 0;
	if (ret) {
		rdma_destroy_id(cm_id);
		KUNIT_EXPECT_EQ(test, chan_read(&host->server, &resp), -EAGAIN);
	} else {
		KUNIT_EXPECT_EQ(test, chan_read(&host->server, &resp), 0);
		KUNIT_EXPECT_EQ(test, chan_destroy(&host->server, resp.id, NULL), 0);
	}
	current->fail_nth = nth;
	return ret;
}

static void a_request(struct kunit *test)
{
	listen_up(test, RDMA_PS_TCP, 1);
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, request_once), 2);
}

/* Events that a worker reports are queued, whatever allocation fails meanwhile. */
static void resolve_once(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_event_resp event;
	struct sockaddr_storage src, dst;
	int ret = -EAGAIN, i;

	KUNIT_ASSERT_EQ(test, chan_create(&host->client, RDMA_PS_TCP, 'C', &host->id), 0);
	KUNIT_ASSERT_EQ(test, chan_resolve(&host->client, host->id,
					   cma_sin(&src, host->pair.client.ip4, 0),
					   cma_sin(&dst, host->pair.server.ip4,
						   TEST_PORT)), 0);
	for (i = 0; i < 5000 && ret == -EAGAIN; i++) {
		msleep(1);
		ret = chan_read(&host->client, &event);
	}
	KUNIT_EXPECT_EQ(test, ret, 0);
}

static void drop_id(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;

	KUNIT_EXPECT_EQ(test, chan_destroy(&host->client, host->id, NULL), 0);
}

static void an_event(struct kunit *test)
{
	ibex_each_worker_allocation(test, resolve_once, drop_id);
}

static struct kunit_case fault_cases[] = {
	KUNIT_CASE(a_file),
	KUNIT_CASE(an_id),
	KUNIT_CASE(a_group),
	KUNIT_CASE(a_path),
	KUNIT_CASE(a_request),
	KUNIT_CASE(an_event),
	{}
};

static struct kunit_suite ucm_fault_suite = {
	.name = "ucm_fault",
	.init = hosts_init,
	.exit = hosts_exit,
	.test_cases = fault_cases,
};

kunit_test_suite(ucm_fault_suite);
