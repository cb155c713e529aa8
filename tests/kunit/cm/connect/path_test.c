// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Paths: routed and alternate paths, migration; LAP and APR; the attributes that a QP
 * is modified with, by its type.
 */
#include "cm/cm_test.h"

static struct cm_pair pair;

static int path_test_init(struct kunit *test)
{
	return cm_pair_init_ports(test, &pair, 2);
}

static void path_test_exit(struct kunit *test)
{
	cm_pair_exit(&pair);
}

static struct sa_path_rec alternate, inbound, outbound;

/* Adds an alternate path from port 2 to port 2. */
static void with_alternate(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	cm_path(pair, &alternate);
	cm_gid(&pair->client, 2, &alternate.sgid);
	cm_gid(&pair->server, 2, &alternate.dgid);
	sa_path_set_slid(&alternate, pair->client.hca->port[2].lid);
	sa_path_set_dlid(&alternate, pair->server.hca->port[2].lid);
	alternate.packet_life_time = TEST_LIFE + 2;
	alternate.sl = 5;
	alternate.flow_label = cpu_to_be32(0x12345);
	alternate.traffic_class = 0x21;
	req->alternate_path = &alternate;
}

static void connect_with_alternate(struct kunit *test)
{
	pair.tune_req = with_alternate;
	cm_connect(test, &pair);
}

static void both_sides_know_the_alternate_path(struct kunit *test)
{
	struct cm_req_msg *req = (void *)pair.client.mad[IBCM_REQ];
	struct sa_path_rec *seen = &pair.server.path[1];
	union ib_gid gid;

	connect_with_alternate(test);
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_REQ_ALTERNATE_SUBNET_LOCAL, req), 1);
	/* The event has the path as the server uses it, from server to client. */
	cm_gid(&pair.server, 2, &gid);
	KUNIT_EXPECT_MEMEQ(test, &seen->sgid, &gid, sizeof(gid));
	cm_gid(&pair.client, 2, &gid);
	KUNIT_EXPECT_MEMEQ(test, &seen->dgid, &gid, sizeof(gid));
	KUNIT_EXPECT_EQ(test, be32_to_cpu(sa_path_get_dlid(seen)),
			(u32)pair.client.hca->port[2].lid);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(sa_path_get_slid(seen)),
			(u32)pair.server.hca->port[2].lid);
	KUNIT_EXPECT_EQ(test, seen->sl, 5);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(seen->flow_label), 0x12345u);
	KUNIT_EXPECT_EQ(test, seen->traffic_class, 0x21);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(seen->pkey), 0xffff);
	KUNIT_EXPECT_EQ(test, seen->mtu, IB_MTU_1024);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(seen->service_id), be64_to_cpu(TEST_SERVICE));
}

static void expect_alternate(struct kunit *test, struct cm_side *side,
			     struct cm_side *peer)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR };
	int mask;

	KUNIT_ASSERT_EQ(test, ib_cm_init_qp_attr(side->id, &attr, &mask), 0);
	KUNIT_EXPECT_TRUE(test, mask & IB_QP_ALT_PATH);
	KUNIT_EXPECT_EQ(test, attr.alt_port_num, 2);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&attr.alt_ah_attr),
			(u32)peer->hca->port[2].lid);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_sl(&attr.alt_ah_attr), 5);
	/* From twice the packet lifetime (13) and the adapter's ACK delay (15). */
	KUNIT_EXPECT_EQ(test, attr.alt_timeout, 15);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&attr.ah_attr),
			(u32)peer->hca->port[1].lid);
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IB_QPS_RTS;
	KUNIT_ASSERT_EQ(test, ib_cm_init_qp_attr(side->id, &attr, &mask), 0);
	KUNIT_EXPECT_TRUE(test, mask & IB_QP_PATH_MIG_STATE);
	KUNIT_EXPECT_EQ(test, attr.path_mig_state, IB_MIG_REARM);
	KUNIT_EXPECT_TRUE(test, mask & IB_QP_SQ_PSN);
}

static void qps_are_given_the_alternate_path(struct kunit *test)
{
	connect_with_alternate(test);
	expect_alternate(test, &pair.client, &pair.server);
	expect_alternate(test, &pair.server, &pair.client);
}

static void bad_pkey(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	with_alternate(pair, req);
	alternate.pkey = cpu_to_be16(0x8001);
}

static void bad_mtu(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	with_alternate(pair, req);
	alternate.mtu = IB_MTU_2048;
}

static void bad_sgid(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	with_alternate(pair, req);
	alternate.sgid.raw[15] ^= 0xff;
}

static void no_path(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	req->primary_path = NULL;
}

static void no_such_pkey(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	req->primary_path->pkey = cpu_to_be16(0x8123);
}

static void primary_sgid(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	req->primary_path->sgid.raw[15] ^= 0xff;
}

static void datagrams(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	req->qp_type = IB_QPT_UD;
}

static void lost_data(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	req->private_data = NULL;
}

static void much_data(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	req->private_data_len = IB_CM_REQ_PRIVATE_DATA_SIZE + 1;
}

static void another_devices_gid(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	req->ppath_sgid_attr = rdma_get_gid_attr(&pair->server.hca->ibdev, 1, 0);
}

/* Such requests fail at once, nothing is sent, and the id may be used again. */
static void requests_that_cannot_be_made(struct kunit *test)
{
	static const struct {
		void (*tune)(struct cm_pair *pair, struct ib_cm_req_param *req);
		int ret;
	} bad[] = {
		{ bad_pkey, -EINVAL }, { bad_mtu, -EINVAL }, { bad_sgid, -ENOENT },
		{ no_path, -EINVAL }, { no_such_pkey, -ENOENT }, { primary_sgid, -ENOENT },
		{ datagrams, -EINVAL }, { lost_data, -EINVAL }, { much_data, -EINVAL },
		{ another_devices_gid, -EINVAL },
	};
	const struct ib_gid_attr *attr;
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		pair.tune_req = bad[i].tune;
		KUNIT_EXPECT_EQ_MSG(test, cm_request(&pair), bad[i].ret, "case %d", i);
		KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_IDLE);
	}
	/* Drop two references: the one taken here and the one that the last case took. */
	attr = rdma_get_gid_attr(&pair.server.hca->ibdev, 1, 0);
	rdma_put_gid_attr(attr);
	rdma_put_gid_attr(attr);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.client.wire[IBCM_REQ]), 0);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.client), 0);
	pair.tune_req = NULL;
	cm_connect(test, &pair);
}

static void migration(struct kunit *test)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS };
	int mask;

	connect_with_alternate(test);
	KUNIT_EXPECT_EQ(test, pair.client.wire_port, 1u);
	KUNIT_ASSERT_EQ(test, ib_cm_notify(pair.client.id, IB_EVENT_PATH_MIG), 0);
	cm_quiesce(&pair);
	/* The path that was the primary is armed as the alternate. */
	KUNIT_ASSERT_EQ(test, ib_cm_init_qp_attr(pair.client.id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, mask, IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE);
	KUNIT_EXPECT_EQ(test, attr.path_mig_state, IB_MIG_REARM);
	KUNIT_EXPECT_EQ(test, attr.alt_port_num, 1);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&attr.alt_ah_attr),
			(u32)pair.server.hca->port[1].lid);
	/* CM messages use the same path as data. */
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "RT"));
	KUNIT_EXPECT_EQ(test, pair.client.wire_port, 2u);
	KUNIT_EXPECT_EQ(test, ib_cm_notify(pair.client.id, IB_EVENT_PATH_MIG), -EINVAL);
}

static void migration_without_an_alternate_path(struct kunit *test)
{
	cm_connect(test, &pair);
	KUNIT_EXPECT_EQ(test, ib_cm_notify(pair.client.id, IB_EVENT_PATH_MIG), -EINVAL);
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "RT"));
	KUNIT_EXPECT_EQ(test, pair.client.wire_port, 1u);
}

/*
 * If no address handle can be created for the new path, CM messages use the old path,
 * and the connection stays.
 */
static void migration_without_a_handle(struct kunit *test)
{
	connect_with_alternate(test);
	/* Wait until no idle handle is left that could be destroyed to make room. */
	msleep(500);
	atomic_set(&pair.client.hca->fail_create[FAKE_AH], 1);
	KUNIT_EXPECT_EQ(test, ib_cm_notify(pair.client.id, IB_EVENT_PATH_MIG), 0);
	cm_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.client.hca->fail_create[FAKE_AH]), 0);
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "RT"));
	KUNIT_EXPECT_EQ(test, pair.client.wire_port, 1u);
}

static void send_lap(void)
{
	u8 mad[IB_MGMT_MAD_SIZE];

	cm_mad(&pair.client, &pair.server, IBCM_LAP, mad);
	strscpy(IBA_GET_MEM_PTR(CM_LAP_PRIVATE_DATA, (struct cm_lap_msg *)mad), "lap", 4);
	cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
	cm_quiesce(&pair);
}

static void an_alternate_path_is_offered(struct kunit *test)
{
	struct cm_apr_msg *apr = (void *)pair.server.mad[IBCM_APR];
	struct sa_path_rec *seen = &pair.server.path[1];
	union ib_gid gid;

	cm_connect(test, &pair);
	send_lap();
	KUNIT_EXPECT_STREQ(test, pair.server.events, "L");
	KUNIT_EXPECT_STREQ(test, (char *)pair.server.private_data, "lap");
	cm_gid(&pair.server, 1, &gid);
	KUNIT_EXPECT_MEMEQ(test, &seen->sgid, &gid, sizeof(gid));
	cm_gid(&pair.client, 1, &gid);
	KUNIT_EXPECT_MEMEQ(test, &seen->dgid, &gid, sizeof(gid));
	KUNIT_EXPECT_EQ(test, be32_to_cpu(sa_path_get_dlid(seen)), 0x123u);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(sa_path_get_slid(seen)),
			(u32)pair.server.hca->port[1].lid);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(seen->pkey), 0xffff);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(seen->flow_label), 0xabcdeu);
	KUNIT_EXPECT_EQ(test, seen->traffic_class, 0x77);
	KUNIT_EXPECT_EQ(test, seen->hop_limit, 9);
	KUNIT_EXPECT_EQ(test, seen->rate, IB_RATE_20_GBPS);
	KUNIT_EXPECT_EQ(test, seen->sl, 3);
	KUNIT_EXPECT_EQ(test, seen->mtu, IB_MTU_1024);
	KUNIT_EXPECT_EQ(test, seen->packet_life_time, 16);
	/* The consumer has neither answered nor asked for time. */
	KUNIT_ASSERT_EQ(test, atomic_read(&pair.server.wire[IBCM_APR]), 1);
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_APR_AR_STATUS, apr), IB_CM_APR_UNSUPPORTED);
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_APR_REMOTE_COMM_ID, apr),
			be32_to_cpu(pair.client.id->local_id));
	KUNIT_EXPECT_EQ(test, be64_to_cpu(apr->hdr.tid), 0x1122334455667788ULL);
	/* A copy of the LAP is answered with a copy of the APR. */
	send_lap();
	KUNIT_EXPECT_STREQ(test, pair.server.events, "L");
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.wire[IBCM_APR]), 2);
}

static void a_lap_that_ends_the_connection(struct kunit *test)
{
	cm_connect(test, &pair);
	pair.server.fail_on = 'L';
	send_lap();
	KUNIT_EXPECT_TRUE(test, pair.server.destroyed);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.wire[IBCM_APR]), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "DT"));
}

static void a_lap_after_migration(struct kunit *test)
{
	connect_with_alternate(test);
	KUNIT_ASSERT_EQ(test, ib_cm_notify(pair.server.id, IB_EVENT_PATH_MIG), 0);
	cm_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, pair.server.id->lap_state, IB_CM_LAP_IDLE);
	send_lap();
	KUNIT_EXPECT_STREQ(test, pair.server.events, "L");
	KUNIT_EXPECT_EQ(test, pair.server.id->lap_state, IB_CM_LAP_IDLE);
	KUNIT_EXPECT_EQ(test, ib_cm_notify(pair.server.id, IB_EVENT_PATH_MIG), 0);
	cm_quiesce(&pair);
}

static void routed(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	req->primary_path->hop_limit = 7;
	req->primary_path->flow_label = cpu_to_be32(0x54321);
	req->primary_path->traffic_class = 0x33;
}

/*
 * LIDs have no meaning beyond a router: the server takes the LIDs of the received
 * packet.
 */
static void a_path_through_a_router(struct kunit *test)
{
	struct cm_req_msg *req = (void *)pair.client.mad[IBCM_REQ];
	struct sa_path_rec *seen = &pair.server.path[0];
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR };
	int mask;

	pair.tune_req = routed;
	cm_connect(test, &pair);
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_REQ_PRIMARY_SUBNET_LOCAL, req), 0);
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_REQ_PRIMARY_LOCAL_PORT_LID, req),
			be16_to_cpu(IB_LID_PERMISSIVE));
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_REQ_PRIMARY_REMOTE_PORT_LID, req),
			be16_to_cpu(IB_LID_PERMISSIVE));
	KUNIT_EXPECT_EQ(test, be32_to_cpu(sa_path_get_dlid(seen)),
			(u32)pair.client.hca->port[1].lid);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(sa_path_get_slid(seen)), 0u);
	KUNIT_EXPECT_EQ(test, seen->hop_limit, 7);
	KUNIT_EXPECT_EQ(test, seen->traffic_class, 0x33);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(seen->flow_label), 0x54321u);
	KUNIT_ASSERT_EQ(test, ib_cm_init_qp_attr(pair.server.id, &attr, &mask), 0);
	KUNIT_EXPECT_TRUE(test, rdma_ah_get_ah_flags(&attr.ah_attr) & IB_AH_GRH);
	KUNIT_EXPECT_EQ(test, rdma_ah_read_grh(&attr.ah_attr)->hop_limit, 7);
	KUNIT_EXPECT_NOT_NULL(test, rdma_ah_read_grh(&attr.ah_attr)->sgid_attr);
}

static void one_way_paths(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	cm_path(pair, &inbound);
	cm_path(pair, &outbound);
	sa_path_set_dlid(&inbound, 0x4321);
	sa_path_set_dlid(&outbound, 0x1234);
	req->primary_path_inbound = &inbound;
	req->primary_path_outbound = &outbound;
}

/* CM messages use the reversible path, data the paths of one direction. */
static void paths_that_differ_by_direction(struct kunit *test)
{
	struct cm_req_msg *req = (void *)pair.client.mad[IBCM_REQ];
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR };
	int mask;

	pair.tune_req = one_way_paths;
	cm_connect(test, &pair);
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_REQ_PRIMARY_LOCAL_PORT_LID, req), 0x4321);
	KUNIT_ASSERT_EQ(test, ib_cm_init_qp_attr(pair.client.id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&attr.ah_attr), 0x1234u);
	KUNIT_ASSERT_EQ(test, ib_cm_init_qp_attr(pair.server.id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&attr.ah_attr), 0x4321u);
}

static void extended_lids(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	struct sa_path_rec *path = req->primary_path;

	path->rec_type = SA_PATH_REC_TYPE_OPA;
	sa_path_set_slid(path, 0x12345);
	sa_path_set_dlid(path, 0x23456);
}

/* OPA's LIDs of 32 bits do not fit the REQ's LID fields: they are sent in the GIDs. */
static void lids_of_32_bits(struct kunit *test)
{
	struct cm_req_msg *req;
	union ib_gid *gid;

	pair.client.hold = BIT(IBCM_REQ);
	pair.tune_req = extended_lids;
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	req = cm_held(&pair.client);
	KUNIT_ASSERT_NOT_NULL(test, req);
	gid = IBA_GET_MEM_PTR(CM_REQ_PRIMARY_LOCAL_PORT_GID, req);
	KUNIT_EXPECT_EQ(test, opa_get_lid_from_gid(gid), 0x12345u);
	KUNIT_EXPECT_TRUE(test, ib_is_opa_gid(gid));
	gid = IBA_GET_MEM_PTR(CM_REQ_PRIMARY_REMOTE_PORT_GID, req);
	KUNIT_EXPECT_EQ(test, opa_get_lid_from_gid(gid), 0x23456u);
}

#define INIT_MASK (IB_QP_STATE | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX | IB_QP_PORT)

static int attr_mask(struct cm_side *side, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };
	int mask, ret;

	ret = ib_cm_init_qp_attr(side->id, &attr, &mask);
	return ret ?: mask;
}

static void expect_moves(struct kunit *test, struct cm_side *side, enum ib_qp_type type)
{
	KUNIT_EXPECT_TRUE(test, ib_modify_qp_is_ok(IB_QPS_RESET, IB_QPS_INIT, type,
						   attr_mask(side, IB_QPS_INIT)));
	KUNIT_EXPECT_TRUE(test, ib_modify_qp_is_ok(IB_QPS_INIT, IB_QPS_RTR, type,
						   attr_mask(side, IB_QPS_RTR)));
	KUNIT_EXPECT_TRUE(test, ib_modify_qp_is_ok(IB_QPS_RTR, IB_QPS_RTS, type,
						   attr_mask(side, IB_QPS_RTS)));
}

static enum ib_qp_type wanted_type;

static void typed(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	req->qp_type = wanted_type;
}

static void each_type_of_qp(struct kunit *test)
{
	static const struct {
		enum ib_qp_type active, passive;
	} types[] = {
		{ IB_QPT_RC, IB_QPT_RC },
		{ IB_QPT_UC, IB_QPT_UC },
		{ IB_QPT_XRC_INI, IB_QPT_XRC_TGT },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		wanted_type = types[i].active;
		pair.tune_req = typed;
		pair.server.on_req = CM_WAIT;
		KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
		KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
		KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "Q"));
		KUNIT_EXPECT_EQ(test, pair.server.last.param.req_rcvd.qp_type,
				types[i].passive);
		KUNIT_ASSERT_EQ(test, cm_reply(&pair.server), 0);
		KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "P"));
		/*
		 * Also for an XRC target, whose QPN is in the field of RD's EE context.
		 */
		KUNIT_EXPECT_EQ(test, pair.client.last.param.rep_rcvd.remote_qpn,
				pair.server.qpn);
		KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "QU"));
		expect_moves(test, &pair.client, types[i].active);
		expect_moves(test, &pair.server, types[i].passive);
		cm_pair_exit(&pair);
		KUNIT_ASSERT_EQ(test, path_test_init(test), 0);
	}
}

static void no_reads(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	req->responder_resources = 0;
	req->initiator_depth = 0;
}

static void no_reads_either(struct ib_cm_rep_param *rep)
{
	rep->responder_resources = 0;
	rep->initiator_depth = 0;
}

static u32 access_flags(struct cm_side *side)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	int mask;

	return ib_cm_init_qp_attr(side->id, &attr, &mask) ? 0 : attr.qp_access_flags;
}

/* The QP's access flags allow the peer only what resources were granted for. */
static void access_by_resources(struct kunit *test)
{
	const u64 flush = IB_DEVICE_FLUSH_GLOBAL | IB_DEVICE_FLUSH_PERSISTENT;
	const u32 reads = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
			  IB_ACCESS_REMOTE_ATOMIC;

	cm_connect(test, &pair);
	KUNIT_EXPECT_EQ(test, access_flags(&pair.client), reads);
	pair.client.hca->ibdev.attrs.device_cap_flags |= flush;
	KUNIT_EXPECT_EQ(test, access_flags(&pair.client), reads | IB_ACCESS_FLUSH_GLOBAL |
			IB_ACCESS_FLUSH_PERSISTENT);
	cm_pair_exit(&pair);
	KUNIT_ASSERT_EQ(test, path_test_init(test), 0);
	pair.tune_req = no_reads;
	pair.server.tune_rep = no_reads_either;
	cm_connect(test, &pair);
	KUNIT_EXPECT_EQ(test, access_flags(&pair.client), (u32)IB_ACCESS_REMOTE_WRITE);
	KUNIT_EXPECT_EQ(test, access_flags(&pair.server), (u32)IB_ACCESS_REMOTE_WRITE);
}

/* QP attributes are returned only in states in which they are known. */
static void attributes_by_state(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	pair.server.id = pair.server.listener;
	KUNIT_EXPECT_EQ(test, attr_mask(&pair.server, IB_QPS_INIT), -EINVAL);
	KUNIT_EXPECT_EQ(test, attr_mask(&pair.server, IB_QPS_RTR), -EINVAL);
	KUNIT_EXPECT_EQ(test, attr_mask(&pair.server, IB_QPS_RTS), -EINVAL);
	pair.server.id = NULL;
	pair.client.hold = BIT(IBCM_REQ);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_EXPECT_EQ(test, attr_mask(&pair.client, IB_QPS_INIT), INIT_MASK);
	KUNIT_EXPECT_EQ(test, attr_mask(&pair.client, IB_QPS_RTR), -EINVAL);
	KUNIT_EXPECT_EQ(test, attr_mask(&pair.client, IB_QPS_RTS), -EINVAL);
	KUNIT_EXPECT_EQ(test, attr_mask(&pair.client, IB_QPS_SQD), -EINVAL);
}

static struct kunit_case path_cases[] = {
	KUNIT_CASE(both_sides_know_the_alternate_path),
	KUNIT_CASE(qps_are_given_the_alternate_path),
	KUNIT_CASE(requests_that_cannot_be_made),
	KUNIT_CASE(migration),
	KUNIT_CASE(migration_without_an_alternate_path),
	KUNIT_CASE(migration_without_a_handle),
	KUNIT_CASE(an_alternate_path_is_offered),
	KUNIT_CASE(a_lap_that_ends_the_connection),
	KUNIT_CASE(a_lap_after_migration),
	KUNIT_CASE(a_path_through_a_router),
	KUNIT_CASE(paths_that_differ_by_direction),
	KUNIT_CASE(lids_of_32_bits),
	KUNIT_CASE(each_type_of_qp),
	KUNIT_CASE(access_by_resources),
	KUNIT_CASE(attributes_by_state),
	{}
};

static struct kunit_suite ibcm_path_suite = {
	.name = "ib_cm_path",
	.init = path_test_init,
	.exit = path_test_exit,
	.test_cases = path_cases,
};

kunit_test_suite(ibcm_path_suite);
