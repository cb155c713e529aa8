// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RoCE: every message has a network header, paths have MAC addresses, GIDs are removed.
 */
#include <linux/rtnetlink.h>
#include <net/ipv6.h>
#include "cm/cm_test.h"
#include "faults.h"
#include "netns.h"
#include "wait.h"

static struct cm_pair pair;

static int roce_test_init(struct kunit *test)
{
	return cm_pair_init_roce(test, &pair);
}

static void roce_test_exit(struct kunit *test)
{
	cm_pair_exit(&pair);
}

static void a_connection_over_ethernet(struct kunit *test)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR };
	struct sa_path_rec *seen = &pair.server.path[0];
	union ib_gid gid;
	int mask;

	cm_connect(test, &pair);
	KUNIT_EXPECT_EQ(test, seen->rec_type, SA_PATH_REC_TYPE_ROCE_V2);
	cm_gid(&pair.server, 1, &gid);
	KUNIT_EXPECT_MEMEQ(test, &seen->sgid, &gid, sizeof(gid));
	cm_gid(&pair.client, 1, &gid);
	KUNIT_EXPECT_MEMEQ(test, &seen->dgid, &gid, sizeof(gid));
	KUNIT_EXPECT_TRUE(test, seen->roce.route_resolved);

	KUNIT_ASSERT_EQ(test, ib_cm_init_qp_attr(pair.client.id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, attr.ah_attr.type, RDMA_AH_ATTR_TYPE_ROCE);
	KUNIT_EXPECT_MEMEQ(test, attr.ah_attr.roce.dmac, pair.server.ndev->dev_addr,
			   ETH_ALEN);
	KUNIT_EXPECT_EQ(test, rdma_ah_read_grh(&attr.ah_attr)->sgid_attr->gid_type,
			IB_GID_TYPE_ROCE_UDP_ENCAP);
	KUNIT_ASSERT_EQ(test, ib_cm_init_qp_attr(pair.server.id, &attr, &mask), 0);
	KUNIT_EXPECT_MEMEQ(test, &rdma_ah_read_grh(&attr.ah_attr)->dgid, &gid,
			   sizeof(gid));

	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "RT"));
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "DT"));
}

static void near(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	req->primary_path->hop_limit = 3;
}

/* The hop limit of the client's packets does not apply to the server's. */
static void each_side_has_its_own_hop_limit(struct kunit *test)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR };
	int mask;

	pair.tune_req = near;
	cm_connect(test, &pair);
	KUNIT_EXPECT_GT(test, pair.server.path[0].hop_limit, 3);
	KUNIT_ASSERT_EQ(test, ib_cm_init_qp_attr(pair.server.id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, attr.ah_attr.grh.hop_limit, pair.server.path[0].hop_limit);
	KUNIT_ASSERT_EQ(test, ib_cm_init_qp_attr(pair.client.id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, attr.ah_attr.grh.hop_limit, 3);
}

static void a_request_is_told_its_gid(struct kunit *test)
{
	const struct ib_gid_attr *attr;

	pair.server.on_req = CM_WAIT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "Q"));
	attr = pair.server.last.param.req_rcvd.ppath_sgid_attr;
	KUNIT_ASSERT_NOT_NULL(test, attr);
	KUNIT_EXPECT_EQ(test, attr->gid_type, IB_GID_TYPE_ROCE_UDP_ENCAP);
	KUNIT_EXPECT_EQ(test, attr->port_num, 1u);
}

static void a_service_is_resolved_over_ethernet(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_resolve(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "I"));
	KUNIT_EXPECT_NOT_NULL(test, pair.server.last.param.sidr_req_rcvd.sgid_attr);
	KUNIT_EXPECT_NOT_NULL(test, pair.client.last.param.sidr_rep_rcvd.sgid_attr);
	KUNIT_EXPECT_EQ(test, pair.client.last.param.sidr_rep_rcvd.qkey, 0x11223344u);
}

/* A repeated SIDR_REQ is recognized by its sender's GID. */
static void resolutions_are_told_apart_by_gid(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];

	pair.server.on_req = CM_WAIT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	cm_mad(&pair.client, &pair.server, IBCM_SIDR_REQ, mad);
	cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
	cm_quiesce(&pair);
	cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
	cm_quiesce(&pair);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "S");
	/*
	 * The same request ID from another sender is a new request; the test's handler
	 * refuses it.
	 */
	cm_inject(&pair.server, &pair.server, mad, sizeof(mad));
	cm_quiesce(&pair);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "SS");
}

/* A message without a network header is dropped: there is no GID to respond to. */
static void messages_without_a_network_header(struct kunit *test)
{
	static const enum ibcm_kind kinds[] = {
		IBCM_REQ, IBCM_SIDR_REQ, IBCM_DREQ, IBCM_REP,
	};
	struct fake_hca_packet like = { .src_qpn = 1, .slid = 3 };
	u8 mad[IB_MGMT_MAD_SIZE];
	int i, ahs;

	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	ahs = cm_ahs(&pair.server);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		cm_mad(&pair.client, &pair.server, kinds[i], mad);
		fake_hca_inject(pair.server.hca, 1, &like, mad, sizeof(mad));
		cm_quiesce(&pair);
	}
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
	KUNIT_EXPECT_NULL(test, pair.server.id);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.server), ahs);
	/* They left no communication IDs behind that a valid REQ would collide with. */
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QU"));
}

static void other_source(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	union ib_gid *gid = &req->primary_path->sgid;

	gid->raw[15] = 0x99;
}

static void a_source_that_is_not_there(struct kunit *test)
{
	pair.tune_req = other_source;
	KUNIT_EXPECT_EQ(test, cm_request(&pair), -ENOENT);
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_IDLE);
}

/* ---- REQs whose primary path is not the one that they arrived by ---- */

#define OTHER_IP	0x0a4d0403

/* Returns whether the port has the GID of the IPv4 address. */
static bool has_gid(struct cm_side *side, u32 port_num, u32 addr)
{
	const struct fake_hca_port *port = &side->hca->port[port_num];
	struct in6_addr ip;
	int i;

	ipv6_addr_set_v4mapped(htonl(addr), &ip);
	for (i = 0; i < FAKE_HCA_GIDS; i++)
		if (port->gid_used[i] && !memcmp(&port->gids[i], &ip, sizeof(ip)))
			return true;
	return false;
}

static void add_other_ip(struct kunit *test, struct net_device *ndev, u32 port_num)
{
	KUNIT_ASSERT_EQ(test, fake_netdev_add_ipv4(ndev, htonl(OTHER_IP), 24), 0);
	KUNIT_ASSERT_TRUE(test, wait_within(has_gid(&pair.server, port_num, OTHER_IP),
					    5000));
}

/* Sends a REQ to SERVER_IP whose primary path ends at OTHER_IP. */
static void request_other_ip(struct kunit *test)
{
	struct cm_req_msg *req;
	struct in6_addr ip;

	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	pair.server.on_req = CM_WAIT;
	pair.client.hold = BIT(IBCM_REQ);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	req = cm_held(&pair.client);
	KUNIT_ASSERT_NOT_NULL(test, req);
	ipv6_addr_set_v4mapped(htonl(OTHER_IP), &ip);
	memcpy(IBA_GET_MEM_PTR(CM_REQ_PRIMARY_REMOTE_PORT_GID, req), &ip, sizeof(ip));
	pair.client.hold = 0;
	pair.client.drop[IBCM_REQ] = -1;
	fake_hca_release_held(pair.client.hca);
}

/* The REJ has the GID that would be accepted: the one that the REQ was sent to. */
static void expect_invalid_gid(struct kunit *test)
{
	struct cm_rej_msg *rej = (void *)pair.server.mad[IBCM_REJ];
	union ib_gid gid;

	cm_gid(&pair.server, 1, &gid);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "J"));
	KUNIT_EXPECT_EQ(test, pair.client.last.param.rej_rcvd.reason,
			IB_CM_REJ_INVALID_GID);
	KUNIT_EXPECT_EQ(test, pair.client.last.param.rej_rcvd.ari_length, sizeof(gid));
	KUNIT_EXPECT_MEMEQ(test, IBA_GET_MEM_PTR(CM_REJ_ARI, rej), &gid, sizeof(gid));
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
}

static void a_path_to_another_address_of_the_netdev(struct kunit *test)
{
	const struct ib_gid_attr *attr;
	struct in6_addr ip;

	add_other_ip(test, pair.server.ndev, 1);
	request_other_ip(test);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "Q"));
	attr = pair.server.last.param.req_rcvd.ppath_sgid_attr;
	KUNIT_ASSERT_NOT_NULL(test, attr);
	ipv6_addr_set_v4mapped(htonl(OTHER_IP), &ip);
	KUNIT_EXPECT_MEMEQ(test, &attr->gid, &ip, sizeof(ip));
	KUNIT_EXPECT_EQ(test, attr->gid_type, IB_GID_TYPE_ROCE_UDP_ENCAP);
}

/* A sender cannot choose the network in which it is served. */
static void a_path_into_another_vlan(struct kunit *test)
{
	struct net_device *vlan = fake_netdev_vlan(pair.server.ndev, 7);

	KUNIT_ASSERT_NOT_NULL(test, vlan);
	add_other_ip(test, vlan, 1);
	request_other_ip(test);
	expect_invalid_gid(test);
}

static void a_path_to_another_port(struct kunit *test)
{
	struct net_device *ndev;

	cm_pair_exit(&pair);
	KUNIT_ASSERT_EQ(test, cm_pair_init_roce_ports(test, &pair, 2), 0);
	ndev = fake_netdev_create("fnet%d");
	KUNIT_ASSERT_NOT_NULL(test, ndev);
	KUNIT_ASSERT_EQ(test, ib_device_set_netdev(&pair.server.hca->ibdev, ndev, 2), 0);
	add_other_ip(test, ndev, 2);
	request_other_ip(test);
	expect_invalid_gid(test);
	cm_pair_exit(&pair);
	fake_netdev_destroy(ndev);
}

/* Sends a REQ to SERVER_IP whose primary path ends at OTHER_IP. */
static void a_path_to_be_resolved(struct kunit *test)
{
	static u32 n = 0x70000;
	struct cm_req_msg *req;
	u8 mad[IB_MGMT_MAD_SIZE];
	struct in6_addr ip;

	req = (void *)mad;
	cm_mad(&pair.client, &pair.server, IBCM_REQ, mad);
	IBA_SET(CM_REQ_LOCAL_COMM_ID, req, ++n);
	IBA_SET(CM_REQ_LOCAL_QPN, req, n);
	ipv6_addr_set_v4mapped(htonl(OTHER_IP), &ip);
	memcpy(IBA_GET_MEM_PTR(CM_REQ_PRIMARY_REMOTE_PORT_GID, req), &ip, sizeof(ip));
	cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
	cm_quiesce(&pair);
	/*
	 * The REQ is reported, or dropped and sent again by its sender; it is not
	 * rejected.
	 */
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.wire[IBCM_REJ]), 0);
}

static void forget_the_request(struct kunit *test)
{
	cm_drop_id(&pair.server);
	cm_quiesce(&pair);
	atomic_set(&pair.server.wire[IBCM_REJ], 0);
}

static void no_memory_is_no_reason(struct kunit *test)
{
	pair.server.on_req = CM_WAIT;
	add_other_ip(test, pair.server.ndev, 1);
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_EXPECT_GE(test, ibex_each_worker_allocation(test, a_path_to_be_resolved,
							  forget_the_request), 3u);
	KUNIT_EXPECT_GE(test, atomic_read(&pair.server.nr_events), 1);
}

/* Sends the server a LAP for a path that ends at OTHER_IP. */
static void send_lap(struct kunit *test, struct in6_addr *ip)
{
	struct cm_lap_msg *lap;
	u8 mad[IB_MGMT_MAD_SIZE];

	lap = (void *)mad;
	cm_mad(&pair.client, &pair.server, IBCM_LAP, mad);
	ipv6_addr_set_v4mapped(htonl(OTHER_IP), ip);
	memcpy(IBA_GET_MEM_PTR(CM_LAP_ALTERNATE_REMOTE_PORT_GID, lap), ip, sizeof(*ip));
	cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
	cm_quiesce(&pair);
}

static void a_lap_over_ethernet(struct kunit *test)
{
	struct in6_addr ip;

	cm_connect(test, &pair);
	add_other_ip(test, pair.server.ndev, 1);
	send_lap(test, &ip);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "L");
	KUNIT_EXPECT_EQ(test, pair.server.path[1].rec_type, SA_PATH_REC_TYPE_ROCE_V2);
	KUNIT_EXPECT_MEMEQ(test, &pair.server.path[1].sgid, &ip, sizeof(ip));
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.wire[IBCM_APR]), 1);
}

/* Sends a REQ to SERVER_IP whose alternate path ends at OTHER_IP, from its subnet. */
static void request_with_alternate(struct kunit *test)
{
	struct cm_req_msg *req;
	u8 mad[IB_MGMT_MAD_SIZE];
	struct in6_addr ip, peer;

	req = (void *)mad;
	pair.server.on_req = CM_WAIT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	cm_mad(&pair.client, &pair.server, IBCM_REQ, mad);
	ipv6_addr_set_v4mapped(htonl(OTHER_IP), &ip);
	ipv6_addr_set_v4mapped(htonl(OTHER_IP ^ 0x40), &peer);
	memcpy(IBA_GET_MEM_PTR(CM_REQ_ALTERNATE_REMOTE_PORT_GID, req), &ip, sizeof(ip));
	memcpy(IBA_GET_MEM_PTR(CM_REQ_ALTERNATE_LOCAL_PORT_GID, req), &peer, sizeof(peer));
	IBA_SET(CM_REQ_ALTERNATE_LOCAL_ACK_TIMEOUT, req, TEST_LIFE + 1);
	cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
}

static void an_alternate_path_by_another_netdev(struct kunit *test)
{
	struct net_device *vlan = fake_netdev_vlan(pair.server.ndev, 7);

	KUNIT_ASSERT_NOT_NULL(test, vlan);
	add_other_ip(test, vlan, 1);
	request_with_alternate(test);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "Q"));
	KUNIT_EXPECT_NOT_NULL(test, pair.server.last.param.req_rcvd.alternate_path);
}

/* A sender cannot choose the network namespace either. */
static void paths_into_another_namespace(struct kunit *test, bool by_lap)
{
	struct net_device *vlan = fake_netdev_vlan(pair.server.ndev, 7);
	struct cm_apr_msg *apr = (void *)pair.server.mad[IBCM_APR];
	struct cm_rej_msg *rej = (void *)pair.server.mad[IBCM_REJ];
	struct in6_addr ip;
	struct net *net;
	pid_t pid;

	KUNIT_ASSERT_NOT_NULL(test, vlan);
	KUNIT_ASSERT_EQ(test, test_net_begin(&pid, &net), 0);
	rtnl_lock();
	KUNIT_EXPECT_EQ(test, dev_change_net_namespace(vlan, net, NULL), 0);
	KUNIT_EXPECT_EQ(test, dev_open(vlan, NULL), 0);
	rtnl_unlock();
	add_other_ip(test, vlan, 1);
	if (by_lap) {
		cm_connect(test, &pair);
		send_lap(test, &ip);
		KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.wire[IBCM_APR]), 1);
		KUNIT_EXPECT_EQ(test, IBA_GET(CM_APR_AR_STATUS, apr), IB_CM_APR_INVALID_GID);
	} else {
		request_with_alternate(test);
		KUNIT_EXPECT_TRUE(test,
				  wait_within(atomic_read(&pair.server.wire[IBCM_REJ]), 5000));
		KUNIT_EXPECT_EQ(test, IBA_GET(CM_REJ_REASON, rej), IB_CM_REJ_INVALID_ALT_GID);
	}
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
	cm_pair_exit(&pair);
	test_net_end(pid, net);
}

static void an_alternate_path_into_another_namespace(struct kunit *test)
{
	paths_into_another_namespace(test, false);
}

static void a_lap_into_another_namespace(struct kunit *test)
{
	paths_into_another_namespace(test, true);
}

/* ---- what is removed while a connection uses it ---- */

/*
 * The address is removed while a connection uses it: the connection keeps the GID table
 * entry, but no response arrives at the address any more.  The connection ends all the
 * same.
 */
static void the_address_goes(struct kunit *test)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR };
	int mask, ret;

	cm_connect(test, &pair);
	KUNIT_ASSERT_EQ(test, fake_netdev_del_ipv4(pair.client.ndev, htonl(CLIENT_IP), 24),
			0);
	KUNIT_EXPECT_TRUE(test, wait_within(!has_gid(&pair.client, 1, CLIENT_IP), 5000));
	KUNIT_EXPECT_EQ(test, ib_cm_init_qp_attr(pair.client.id, &attr, &mask), 0);
	/* This fails if the address handle is created only now. */
	ret = ib_send_cm_dreq(pair.client.id, NULL, 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, ret ? "T" : "dT"));
}

/* The connection also ends when the address handle for the DREQ has been destroyed. */
static void the_address_and_its_handle_go(struct kunit *test)
{
	cm_connect(test, &pair);
	KUNIT_ASSERT_EQ(test, fake_netdev_del_ipv4(pair.client.ndev, htonl(CLIENT_IP), 24),
			0);
	KUNIT_EXPECT_TRUE(test, wait_within(!atomic_read(&pair.client.hca->alive[FAKE_AH]),
					    60000));
	KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), -ENODEV);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "T"));
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_IDLE);
}

/* Ids that outlive their adapter hold no references to its GID table. */
static void the_adapter_goes(struct kunit *test, enum cm_stage stage, bool server)
{
	struct cm_side *side = server ? &pair.server : &pair.client;
	int err;

	KUNIT_ASSERT_EQ(test, cm_go_to(&pair, stage), 0);
	KUNIT_ASSERT_NOT_NULL(test, side->id);
	ib_unregister_device(&side->hca->ibdev);
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&side->hca->alive[FAKE_GID]), 0, "stage %d",
			    stage);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(side->hca), 0);
	KUNIT_EXPECT_NULL_MSG(test, to_ibcm(side->id)->av.ah_attr.grh.sgid_attr,
			      "stage %d", stage);
	err = ibcm_step_of(side->id->state, IBCM_TX_DREQ) ? -ENODEV : -EINVAL;
	KUNIT_EXPECT_EQ_MSG(test, ib_send_cm_dreq(side->id, NULL, 0), err, "stage %d", stage);
	fake_hca_destroy(side->hca);
	side->hca = NULL;
	pair.client.hold = 0;
	pair.server.hold = 0;
	cm_pair_exit(&pair);
	KUNIT_ASSERT_EQ(test, cm_pair_init_roce(test, &pair), 0);
}

static void ids_outlive_their_adapter(struct kunit *test)
{
	enum cm_stage stage;

	for (stage = REQ_HELD; stage < CM_STAGES; stage++) {
		the_adapter_goes(test, stage, false);
		if (stage != REQ_HELD)
			the_adapter_goes(test, stage, true);
	}
}

static struct kunit_case roce_cases[] = {
	KUNIT_CASE(a_connection_over_ethernet),
	KUNIT_CASE(each_side_has_its_own_hop_limit),
	KUNIT_CASE(a_request_is_told_its_gid),
	KUNIT_CASE(a_service_is_resolved_over_ethernet),
	KUNIT_CASE(resolutions_are_told_apart_by_gid),
	KUNIT_CASE(a_lap_over_ethernet),
	KUNIT_CASE(messages_without_a_network_header),
	KUNIT_CASE(a_source_that_is_not_there),
	KUNIT_CASE(a_path_to_another_address_of_the_netdev),
	KUNIT_CASE(a_path_into_another_vlan),
	KUNIT_CASE(a_path_to_another_port),
	KUNIT_CASE_SLOW(no_memory_is_no_reason),
	KUNIT_CASE(an_alternate_path_by_another_netdev),
	KUNIT_CASE(an_alternate_path_into_another_namespace),
	KUNIT_CASE(a_lap_into_another_namespace),
	KUNIT_CASE(the_address_goes),
	KUNIT_CASE(the_address_and_its_handle_go),
	KUNIT_CASE(ids_outlive_their_adapter),
	{}
};

static struct kunit_suite ibcm_roce_suite = {
	.name = "ib_cm_roce",
	.init = roce_test_init,
	.exit = roce_test_exit,
	.test_cases = roce_cases,
};

kunit_test_suite(ibcm_roce_suite);
