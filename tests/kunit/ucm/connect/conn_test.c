// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Connections and datagram services: each command's effect and each event's payload. */
#include <net/ipv6.h>
#include <ibex/qp.h>
#include "ucm/ucm_test.h"

static void a_connection_from_request_to_end(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_event_resp event;
	u32 reported;

	listen_up(test, RDMA_PS_TCP, 8);
	resolve_up(test, RDMA_PS_TCP);
	KUNIT_ASSERT_EQ(test, chan_connect(&host->client, host->id, "hello", 6), 0);

	KUNIT_ASSERT_TRUE(test, chan_expect(test, &host->server,
					    RDMA_CM_EVENT_CONNECT_REQUEST, &event));
	KUNIT_EXPECT_EQ(test, event.uid, 'L');
	KUNIT_EXPECT_NE(test, event.id, host->listener);
	KUNIT_EXPECT_EQ(test, event.param.conn.qp_num, 0x123);
	KUNIT_EXPECT_EQ(test, event.param.conn.responder_resources, 3);
	KUNIT_EXPECT_EQ(test, event.param.conn.initiator_depth, 2);
	KUNIT_EXPECT_EQ(test, event.param.conn.retry_count, 7);
	KUNIT_EXPECT_EQ(test, event.param.conn.rnr_retry_count, 6);
	KUNIT_EXPECT_EQ(test, event.param.conn.private_data_len, 56);
	KUNIT_EXPECT_STREQ(test, (char *)event.param.conn.private_data, "hello");
	KUNIT_EXPECT_EQ(test, event.ece.vendor_id, 0x123456);
	KUNIT_EXPECT_EQ(test, event.ece.attr_mod, 0x654321);
	host->child = event.id;

	KUNIT_ASSERT_EQ(test, chan_accept(&host->server, host->child, 'S'), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, &host->client,
					    RDMA_CM_EVENT_CONNECT_RESPONSE, &event));
	KUNIT_EXPECT_EQ(test, event.uid, 'C');
	KUNIT_EXPECT_EQ(test, event.id, host->id);
	KUNIT_EXPECT_STREQ(test, (char *)event.param.conn.private_data, "welcome");
	KUNIT_ASSERT_EQ(test, chan_confirm(&host->client, host->id), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, &host->server,
					    RDMA_CM_EVENT_ESTABLISHED, &event));
	KUNIT_EXPECT_EQ(test, event.uid, 'S');
	KUNIT_EXPECT_EQ(test, event.id, host->child);

	KUNIT_ASSERT_EQ(test, chan_disconnect(&host->client, host->id), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, &host->server,
					    RDMA_CM_EVENT_DISCONNECTED, &event));
	KUNIT_EXPECT_EQ(test, event.uid, 'S');
	KUNIT_ASSERT_EQ(test, chan_disconnect(&host->server, host->child), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, &host->client,
					    RDMA_CM_EVENT_DISCONNECTED, NULL));

	/*
	 * The events read: ADDR, ROUTE, RESPONSE, DISCONNECTED; a TIMEWAIT_EXIT may be
	 * unread.
	 */
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->client, host->id, &reported), 0);
	KUNIT_EXPECT_EQ(test, reported, 4);
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->server, host->child, &reported), 0);
	KUNIT_EXPECT_EQ(test, reported, 2);
	/* A request is an event of the listener. */
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->server, host->listener, &reported), 0);
	KUNIT_EXPECT_EQ(test, reported, 1);
}

static void a_request_is_rejected(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_event_resp event;

	request_up(test);
	KUNIT_EXPECT_EQ(test, chan_reject(&host->server, host->child, 1), -EINVAL);
	KUNIT_ASSERT_EQ(test, chan_reject(&host->server, host->child,
					  IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, &host->client, RDMA_CM_EVENT_REJECTED,
					    &event));
	KUNIT_EXPECT_EQ(test, event.status, IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED);
	KUNIT_EXPECT_STREQ(test, (char *)event.param.conn.private_data, "no");
}

static void a_request_is_rejected_without_a_reason(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_event_resp event;

	request_up(test);
	KUNIT_ASSERT_EQ(test, chan_reject(&host->server, host->child, 0), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, &host->client, RDMA_CM_EVENT_REJECTED,
					    &event));
	KUNIT_EXPECT_EQ(test, event.status, IB_CM_REJ_CONSUMER_DEFINED);
}

/*
 * Until a request is accepted, its id has no uid, so none of its events can be
 * reported.
 */
static void a_request_that_ends_before_it_is_accepted(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;

	request_up(test);
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->client, host->id, NULL), 0);
	KUNIT_EXPECT_TRUE(test, chan_is_empty(&host->server));
	KUNIT_EXPECT_NE(test, chan_accept(&host->server, host->child, 'S'), 0);
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->server, host->child, NULL), 0);
}

static void the_program_notes_data_before_the_rtu(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_notify cmd = { .event = IB_EVENT_COMM_EST };

	request_up(test);
	KUNIT_ASSERT_EQ(test, chan_accept(&host->server, host->child, 'S'), 0);
	cmd.id = host->child;
	KUNIT_EXPECT_EQ(test, chan_do(&host->server, NOTIFY, cmd, 0), 0);
	KUNIT_EXPECT_TRUE(test, chan_expect(test, &host->server,
					    RDMA_CM_EVENT_ESTABLISHED, NULL));
	cmd.event = IB_EVENT_SQ_DRAINED;
	KUNIT_EXPECT_EQ(test, chan_do(&host->server, NOTIFY, cmd, 0), -EINVAL);
}

static struct ib_qp *process_qp(struct cma_side *side)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC, .port_num = 1, .send_cq = side->cq,
		.recv_cq = side->cq,
	};
	struct ib_qp *qp;

	qp = ib_create_qp_user(&side->hca->ibdev, side->pd, &init, NULL, NULL, NULL);
	if (!IS_ERR(qp))
		ib_qp_usecnt_inc(qp);
	return qp;
}

static struct cma_side *others_side;
static struct ib_qp *others_qp;

static int make_others_qp(struct racer *r)
{
	others_qp = process_qp(others_side);
	return PTR_ERR_OR_ZERO(others_qp);
}

/* The program does not notify the kernel, which knows the QP only by its number. */
static void data_establishes_the_programs_connection(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct ib_qp *qp = process_qp(&host->pair.server);

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	host->server.qp_num = qp->qp_num;
	request_up(test);
	KUNIT_ASSERT_EQ(test, chan_accept(&host->server, host->child, 'S'), 0);
	fake_hca_qp_event(qp, IB_EVENT_COMM_EST);
	KUNIT_EXPECT_TRUE(test, chan_expect(test, &host->server,
					    RDMA_CM_EVENT_ESTABLISHED, NULL));
	/* The RTU then causes no further event. */
	KUNIT_EXPECT_EQ(test, chan_confirm(&host->client, host->id), 0);
	cma_quiesce(&host->pair);
	KUNIT_EXPECT_TRUE(test, chan_is_empty(&host->server));
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->server, host->child, NULL), 0);
	ib_destroy_qp(qp);
}

static void data_of_another_program_establishes_nothing(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct racer other;

	others_side = &host->pair.server;
	race_start(test, &other, &host->server, make_others_qp, 0, 0);
	KUNIT_ASSERT_EQ(test, race_join(test, &other), 0);
	host->server.qp_num = others_qp->qp_num;
	request_up(test);
	KUNIT_ASSERT_EQ(test, chan_accept(&host->server, host->child, 'S'), 0);
	fake_hca_qp_event(others_qp, IB_EVENT_COMM_EST);
	cma_quiesce(&host->pair);
	KUNIT_EXPECT_TRUE(test, chan_is_empty(&host->server));
	ib_destroy_qp(others_qp);
}

static void a_datagram_service(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_event_resp event;

	listen_up(test, RDMA_PS_UDP, 8);
	resolve_up(test, RDMA_PS_UDP);
	KUNIT_ASSERT_EQ(test, chan_connect(&host->client, host->id, "hello", 6), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, &host->server,
					    RDMA_CM_EVENT_CONNECT_REQUEST, &event));
	KUNIT_EXPECT_STREQ(test, (char *)event.param.ud.private_data, "hello");
	KUNIT_EXPECT_EQ(test, event.param.ud.private_data_len, 180);
	KUNIT_ASSERT_EQ(test, chan_accept(&host->server, event.id, 'S'), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, &host->client,
					    RDMA_CM_EVENT_ESTABLISHED, &event));
	KUNIT_EXPECT_EQ(test, event.uid, 'C');
	KUNIT_EXPECT_EQ(test, event.param.ud.qp_num, 0x123);
	KUNIT_EXPECT_EQ(test, event.param.ud.qkey, RDMA_UDP_QKEY);
	KUNIT_EXPECT_EQ(test, event.param.ud.ah_attr.port_num, 1);
	KUNIT_EXPECT_EQ(test, event.param.ud.ah_attr.is_global, 1);
	KUNIT_EXPECT_STREQ(test, (char *)event.param.ud.private_data, "welcome");
}

static void an_address_that_nobody_has(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct sockaddr_storage src, dst;
	struct rdma_ucm_event_resp event;
	u32 id;

	KUNIT_ASSERT_EQ(test, chan_create(&host->client, RDMA_PS_TCP, 'C', &id), 0);
	KUNIT_ASSERT_EQ(test, chan_resolve(&host->client, id,
					   cma_sin(&src, host->pair.client.ip4, 0),
					   cma_sin(&dst, htonl(0x0a01004d), 1)), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, &host->client, RDMA_CM_EVENT_ADDR_ERROR,
					    &event));
	KUNIT_EXPECT_LT(test, (int)event.status, 0);
}

static void addresses_by_the_older_commands(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_resolve_ip resolve = { .timeout_ms = TEST_TIMEOUT };
	struct rdma_ucm_bind_ip bind = {};
	struct sockaddr_storage addr;

	KUNIT_ASSERT_EQ(test, chan_create(&host->server, RDMA_PS_TCP, 'L', &bind.id), 0);
	KUNIT_EXPECT_EQ(test, chan_do(&host->server, BIND_IP, bind, 0), -EINVAL);
	cma_sin(&addr, host->pair.server.ip4, TEST_PORT);
	memcpy(&bind.addr, &addr, sizeof(bind.addr));
	KUNIT_EXPECT_EQ(test, chan_do(&host->server, BIND_IP, bind, 0), 0);
	KUNIT_EXPECT_EQ(test, chan_do(&host->server, BIND_IP, bind, 0), -EINVAL);

	KUNIT_ASSERT_EQ(test, chan_create(&host->client, RDMA_PS_TCP, 'C', &resolve.id), 0);
	memcpy(&resolve.dst_addr, &addr, sizeof(resolve.dst_addr));
	resolve.src_addr.sin6_family = AF_IB;
	KUNIT_EXPECT_EQ(test, chan_do(&host->client, RESOLVE_IP, resolve, 0), -EINVAL);
	cma_sin(&addr, host->pair.client.ip4, 0);
	memcpy(&resolve.src_addr, &addr, sizeof(resolve.src_addr));
	KUNIT_EXPECT_EQ(test, chan_do(&host->client, RESOLVE_IP, resolve, 0), 0);
	KUNIT_EXPECT_TRUE(test, chan_expect(test, &host->client,
					    RDMA_CM_EVENT_ADDR_RESOLVED, NULL));
}

/* ---- queries ---- */

static int ask(struct chan *chan, u32 id, u32 option, void *resp, size_t room)
{
	struct rdma_ucm_query cmd = {
		.response = chan_resp_at(chan), .id = id, .option = option,
	};
	int ret;

	ret = chan_do(chan, QUERY, cmd, room);
	chan_resp(chan, resp, room);
	return ret;
}

static void what_an_unbound_id_is_asked(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_query_addr_resp addr;
	struct rdma_ucm_query_path_resp path;
	u32 id;

	KUNIT_ASSERT_EQ(test, chan_create(&host->client, RDMA_PS_TCP, 'C', &id), 0);
	KUNIT_EXPECT_EQ(test, ask(&host->client, id, RDMA_USER_CM_QUERY_ADDR, &addr,
				  sizeof(addr)), 0);
	KUNIT_EXPECT_EQ(test, addr.node_guid, 0);
	KUNIT_EXPECT_EQ(test, addr.src_size, 0);
	KUNIT_EXPECT_EQ(test, ask(&host->client, id, RDMA_USER_CM_QUERY_GID, &addr,
				  sizeof(addr)), 0);
	KUNIT_EXPECT_EQ(test, addr.src_size, sizeof(struct sockaddr_ib));
	KUNIT_EXPECT_EQ(test, ask(&host->client, id, RDMA_USER_CM_QUERY_PATH, &path,
				  sizeof(path)), 0);
	KUNIT_EXPECT_EQ(test, path.num_paths, 0);
	KUNIT_EXPECT_EQ(test, ask(&host->client, id, 3, &path, sizeof(path)), UCM_UNKNOWN);
}

static void what_a_resolved_id_is_asked(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct ib_device *device = &host->pair.client.hca->ibdev;
	struct {
		struct rdma_ucm_query_path_resp head;
		struct ib_path_rec_data data[6];
	} path;
	struct rdma_ucm_query_addr_resp addr;
	struct sockaddr_in *in = (void *)&addr.src_addr;
	struct sockaddr_ib *sib = (void *)&addr.dst_addr;
	struct sa_path_rec rec = {};
	union ib_gid gid = {};

	resolve_up(test, RDMA_PS_TCP);
	KUNIT_EXPECT_EQ(test, ask(&host->client, host->id, RDMA_USER_CM_QUERY_ADDR, &addr,
				  sizeof(addr)), 0);
	KUNIT_EXPECT_EQ(test, addr.node_guid, (__force u64)device->node_guid);
	KUNIT_EXPECT_EQ(test, addr.ibdev_index, device->index);
	KUNIT_EXPECT_EQ(test, addr.port_num, 1);
	KUNIT_EXPECT_EQ(test, addr.src_size, sizeof(*in));
	KUNIT_EXPECT_EQ(test, in->sin_addr.s_addr, host->pair.client.ip4);
	KUNIT_EXPECT_NE(test, in->sin_port, 0);

	KUNIT_EXPECT_EQ(test, ask(&host->client, host->id, RDMA_USER_CM_QUERY_GID, &addr,
				  sizeof(addr)), 0);
	ipv6_addr_set_v4mapped(host->pair.server.ip4, (void *)&gid);
	KUNIT_EXPECT_EQ(test, sib->sib_family, AF_IB);
	KUNIT_EXPECT_MEMEQ(test, &sib->sib_addr, &gid, sizeof(gid));
	KUNIT_EXPECT_EQ(test, be64_to_cpu(sib->sib_sid), RDMA_IB_IP_PS_TCP | TEST_PORT);

	KUNIT_EXPECT_EQ(test, ask(&host->client, host->id, RDMA_USER_CM_QUERY_PATH, &path,
				  sizeof(path)), 0);
	KUNIT_EXPECT_EQ(test, path.head.num_paths, 1);
	KUNIT_EXPECT_EQ(test, path.data[0].flags, IB_PATH_GMP | IB_PATH_PRIMARY |
						  IB_PATH_BIDIRECTIONAL);
	ib_sa_unpack_path(path.data[0].path_rec, &rec);
	KUNIT_EXPECT_MEMEQ(test, &rec.dgid, &gid, sizeof(gid));
	/* Without room for a path, the number of paths is returned all the same. */
	KUNIT_EXPECT_EQ(test, ask(&host->client, host->id, RDMA_USER_CM_QUERY_PATH, &path,
				  sizeof(path.head)), 0);
	KUNIT_EXPECT_EQ(test, path.head.num_paths, 1);
	KUNIT_EXPECT_EQ(test, ask(&host->client, host->id, RDMA_USER_CM_QUERY_PATH, &path,
				  sizeof(path.head) - 1), -ENOSPC);
	/* Programs older than ibdev_index have no room for it. */
	KUNIT_EXPECT_EQ(test, ask(&host->client, host->id, RDMA_USER_CM_QUERY_ADDR, &addr,
				  UCM_ADDR_MIN), 0);
	KUNIT_EXPECT_EQ(test, ask(&host->client, host->id, RDMA_USER_CM_QUERY_ADDR, &addr,
				  UCM_ADDR_MIN - 1), -ENOSPC);
}

static void what_the_older_query_tells(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_query cmd = { .response = chan_resp_at(&host->client) };
	struct sockaddr_storage addr;
	struct rdma_ucm_query_route_resp route;

	resolve_up(test, RDMA_PS_TCP);
	cmd.id = host->id;
	KUNIT_EXPECT_EQ(test, chan_do(&host->client, QUERY_ROUTE, cmd, sizeof(route)), 0);
	chan_resp(&host->client, &route, sizeof(route));
	KUNIT_EXPECT_EQ(test, route.num_paths, 1);
	KUNIT_EXPECT_EQ(test, route.port_num, 1);
	KUNIT_EXPECT_EQ(test, route.ib_route[0].sgid[15], 1);
	KUNIT_EXPECT_EQ(test, route.ib_route[0].dgid[15], 2);
	KUNIT_EXPECT_EQ(test, route.src_addr.sin6_family, AF_INET);

	/* Without a path the query returns the endpoints. */
	KUNIT_ASSERT_EQ(test, chan_create(&host->client, RDMA_PS_TCP, 'D', &cmd.id), 0);
	KUNIT_EXPECT_EQ(test, chan_do(&host->client, QUERY_ROUTE, cmd, sizeof(route)), 0);
	KUNIT_ASSERT_EQ(test, chan_bind(&host->client, cmd.id,
					cma_sin(&addr, host->pair.client.ip4, 0)), 0);
	KUNIT_EXPECT_EQ(test, chan_do(&host->client, QUERY_ROUTE, cmd, sizeof(route)), 0);
	chan_resp(&host->client, &route, sizeof(route));
	KUNIT_EXPECT_EQ(test, route.num_paths, 0);
	KUNIT_EXPECT_EQ(test, route.ib_route[0].sgid[15], 1);
	KUNIT_EXPECT_EQ(test, route.ib_route[0].pkey, htons(0xffff));
}

static void what_a_queue_pair_needs(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_init_qp_attr cmd = {
		.response = chan_resp_at(&host->server), .qp_state = IB_QPS_RTR,
	};
	struct ib_uverbs_qp_attr attr;

	request_up(test);
	cmd.id = host->child;
	KUNIT_EXPECT_EQ(test, chan_do(&host->server, INIT_QP_ATTR, cmd, sizeof(attr)), 0);
	chan_resp(&host->server, &attr, sizeof(attr));
	KUNIT_EXPECT_EQ(test, attr.dest_qp_num, 0x123);
	KUNIT_EXPECT_TRUE(test, attr.qp_attr_mask & IB_QP_DEST_QPN);
	KUNIT_EXPECT_EQ(test, attr.ah_attr.is_global, 1);
	cmd.qp_state = IB_QPS_ERR + 1;
	KUNIT_EXPECT_EQ(test, chan_do(&host->server, INIT_QP_ATTR, cmd, sizeof(attr)),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, chan_do(&host->server, INIT_QP_ATTR, cmd, sizeof(attr) - 1),
			-ENOSPC);
}

/* ---- options ---- */

static void options_of_an_id(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct chan *chan = &host->client;
	int one = 1;
	u8 byte = 7;
	u32 id;

	KUNIT_ASSERT_EQ(test, chan_create(chan, RDMA_PS_TCP, 'C', &id), 0);
	KUNIT_EXPECT_EQ(test, chan_option(chan, id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS,
					  &byte, 1), 0);
	KUNIT_EXPECT_EQ(test, chan_option(chan, id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS,
					  &one, 4), -EINVAL);
	KUNIT_EXPECT_EQ(test, chan_option(chan, id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS,
					  NULL, 1), -EFAULT);
	KUNIT_EXPECT_EQ(test, chan_option(chan, id, RDMA_OPTION_ID,
					  RDMA_OPTION_ID_ACK_TIMEOUT, &byte, 1), 0);
	KUNIT_EXPECT_EQ(test, chan_option(chan, id, RDMA_OPTION_ID,
					  RDMA_OPTION_ID_AFONLY, &one, 4), 0);
	KUNIT_EXPECT_EQ(test, chan_option(chan, id, RDMA_OPTION_ID,
					  RDMA_OPTION_ID_AFONLY, NULL, 4), -EFAULT);
	KUNIT_EXPECT_EQ(test, chan_option(chan, id, RDMA_OPTION_ID,
					  RDMA_OPTION_ID_REUSEADDR, &one, 4), 0);
	KUNIT_EXPECT_EQ(test, chan_option(chan, id, RDMA_OPTION_ID, 4, &one, 4), UCM_UNKNOWN);
	KUNIT_EXPECT_EQ(test, chan_option(chan, id, RDMA_OPTION_IB, 0, &one, 4), UCM_UNKNOWN);
	KUNIT_EXPECT_EQ(test, chan_option(chan, id, 2, 0, &one, 4), UCM_UNKNOWN);
	KUNIT_EXPECT_EQ(test, chan_option(chan, id + 1000, RDMA_OPTION_ID,
					  RDMA_OPTION_ID_TOS, &byte, 1), -ENOENT);
}

/* That ports can be shared shows that the option has taken effect. */
static void ports_are_shared_by_option(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct sockaddr_storage addr;
	u32 id[2], one = 1;
	int i;

	cma_sin(&addr, host->pair.client.ip4, TEST_PORT);
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, chan_create(&host->client, RDMA_PS_TCP, 1, &id[i]),
				0);
		if (i)
			KUNIT_EXPECT_EQ(test, chan_bind(&host->client, id[i], &addr),
					-EADDRINUSE);
		KUNIT_ASSERT_EQ(test, chan_option(&host->client, id[i], RDMA_OPTION_ID,
						  RDMA_OPTION_ID_REUSEADDR, &one, 4), 0);
		if (!i)
			KUNIT_EXPECT_EQ(test, chan_bind(&host->client, id[i], &addr), 0);
	}
	KUNIT_EXPECT_EQ(test, chan_bind(&host->client, id[1], &addr), 0);
}

static struct kunit_case conn_cases[] = {
	KUNIT_CASE(a_connection_from_request_to_end),
	KUNIT_CASE(a_request_is_rejected),
	KUNIT_CASE(a_request_is_rejected_without_a_reason),
	KUNIT_CASE(a_request_that_ends_before_it_is_accepted),
	KUNIT_CASE(the_program_notes_data_before_the_rtu),
	KUNIT_CASE(data_establishes_the_programs_connection),
	KUNIT_CASE(data_of_another_program_establishes_nothing),
	KUNIT_CASE(a_datagram_service),
	KUNIT_CASE(an_address_that_nobody_has),
	KUNIT_CASE(addresses_by_the_older_commands),
	KUNIT_CASE(what_an_unbound_id_is_asked),
	KUNIT_CASE(what_a_resolved_id_is_asked),
	KUNIT_CASE(what_the_older_query_tells),
	KUNIT_CASE(what_a_queue_pair_needs),
	KUNIT_CASE(options_of_an_id),
	KUNIT_CASE(ports_are_shared_by_option),
	{}
};

static struct kunit_suite ucm_conn_suite = {
	.name = "ucm_conn",
	.init = hosts_init,
	.exit = hosts_exit,
	.test_cases = conn_cases,
};

kunit_test_suite(ucm_conn_suite);
