// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Messages that a hostile or confused peer might send, field by field. */
#include "cm/cm_test.h"

static struct cm_pair pair;

static int malformed_test_init(struct kunit *test)
{
	return cm_pair_init(test, &pair);
}

static void malformed_test_exit(struct kunit *test)
{
	cm_pair_exit(&pair);
}

static long stat(struct cm_side *side, enum ibcm_stat which)
{
	struct ibcm_device *dev = to_ibcm(side->listener)->dev;

	return atomic_long_read(&dev->ports[0].stats[which]);
}

/* Messages of every kind, filled with zeroes, ones and patterns, and of wrong lengths. */
static void malformed_messages(struct kunit *test)
{
	struct ib_mad_hdr *hdr;
	u8 mad[IB_MGMT_MAD_SIZE];
	int kind, fill;

	cm_connect(test, &pair);
	for (kind = -1; kind <= IBCM_KINDS; kind++) {
		for (fill = 0; fill < 256; fill += 15) {
			memset(mad, fill, sizeof(mad));
			hdr = (void *)mad;
			hdr->base_version = IB_MGMT_BASE_VERSION;
			hdr->mgmt_class = IB_MGMT_CLASS_CM;
			hdr->class_version = IBCM_CLASS_VERSION;
			hdr->method = IB_MGMT_METHOD_SEND;
			hdr->status = 0;
			hdr->attr_id = cpu_to_be16(be16_to_cpu(CM_REQ_ATTR_ID) + kind);
			cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
			cm_inject(&pair.client, &pair.server, mad, sizeof(mad) - 1);
			cm_inject(&pair.client, &pair.server, mad, sizeof(*hdr));
			cm_inject(&pair.client, &pair.server, mad, fill);
			msleep(20);
		}
	}
	msleep(3000);
	/* The connection is not affected. */
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_ESTABLISHED);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "RT"));
}

/*
 * Each byte of a good message is inverted in turn: only that connection may be
 * affected.
 */
static void one_byte_of_each_message(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];
	int kind, at;

	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	for (kind = 0; kind < IBCM_KINDS; kind++) {
		for (at = sizeof(struct ib_mad_hdr); at < 120; at++) {
			if (!pair.client.id) {
				KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
				cm_quiesce(&pair);
			}
			cm_mad(&pair.client, &pair.server, kind, mad);
			mad[at] ^= 0xff;
			cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
			usleep_range(1000, 1500);
			if (pair.server.id && pair.server.id->state == IB_CM_ESTABLISHED)
				continue;
			cm_drop_id(&pair.client);
			cm_drop_id(&pair.server);
			msleep(2 * TIMEWAIT_MS);
			cm_forget(&pair.server);
		}
	}
	cm_drop_id(&pair.client);
	cm_drop_id(&pair.server);
	msleep(5000);
	cm_drop_id(&pair.server);
	cm_forget(&pair.client);
	cm_forget(&pair.server);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.server), 0);
	pair.client.qpn = 0x105;
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "P"));
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QU"));
}

static void no_such_service(struct cm_req_msg *req)
{
	IBA_SET(CM_REQ_SERVICE_ID, req, 0x99);
}

static void reliable_datagrams(struct cm_req_msg *req)
{
	IBA_SET(CM_REQ_TRANSPORT_SERVICE_TYPE, req, 2);
}

static void unknown_extension(struct cm_req_msg *req)
{
	IBA_SET(CM_REQ_TRANSPORT_SERVICE_TYPE, req, 3);
	IBA_SET(CM_REQ_EXTENDED_TRANSPORT_TYPE, req, 2);
}

static void no_qp(struct cm_req_msg *req)
{
	IBA_SET(CM_REQ_LOCAL_QPN, req, 0);
}

static void no_mtu(struct cm_req_msg *req)
{
	IBA_SET(CM_REQ_PATH_PACKET_PAYLOAD_MTU, req, 0);
}

static void great_mtu(struct cm_req_msg *req)
{
	IBA_SET(CM_REQ_PATH_PACKET_PAYLOAD_MTU, req, 6);
}

static void not_our_gid(struct cm_req_msg *req)
{
	memset(IBA_GET_MEM_PTR(CM_REQ_PRIMARY_REMOTE_PORT_GID, req), 0x55, 16);
}

static void not_our_pkey(struct cm_req_msg *req)
{
	IBA_SET(CM_REQ_PARTITION_KEY, req, 0x8123);
}

static void alternate_lid_only(struct cm_req_msg *req)
{
	IBA_SET(CM_REQ_ALTERNATE_LOCAL_PORT_LID, req, 77);
}

static void not_our_alternate_gid(struct cm_req_msg *req)
{
	memset(IBA_GET_MEM_PTR(CM_REQ_ALTERNATE_LOCAL_PORT_GID, req), 0x44, 16);
	memset(IBA_GET_MEM_PTR(CM_REQ_ALTERNATE_REMOTE_PORT_GID, req), 0x55, 16);
}

struct bad_req {
	void (*spoil)(struct cm_req_msg *req);
	int reason;
	u8 ari_len;
};

static const struct bad_req bad_reqs[] = {
	{ no_such_service, IB_CM_REJ_INVALID_SERVICE_ID },
	{ reliable_datagrams, IB_CM_REJ_INVALID_TRANSPORT_TYPE },
	{ unknown_extension, IB_CM_REJ_INVALID_TRANSPORT_TYPE },
	{ no_qp, IB_CM_REJ_INVALID_TRANSPORT_TYPE },
	{ no_mtu, IB_CM_REJ_INVALID_MTU, 1 },
	{ great_mtu, IB_CM_REJ_INVALID_MTU, 1 },
	{ not_our_gid, IB_CM_REJ_INVALID_GID, 16 },
	{ not_our_pkey, IB_CM_REJ_INVALID_GID, 16 },
	{ alternate_lid_only, IB_CM_REJ_INVALID_ALT_GID, 16 },
	{ not_our_alternate_gid, IB_CM_REJ_INVALID_ALT_GID, 16 },
};

static void expect_refusal(struct kunit *test, const struct bad_req *bad, int i)
{
	const struct ib_cm_rej_event_param *rej = &pair.client.last.param.rej_rcvd;
	struct cm_rej_msg *mad = (void *)pair.server.mad[IBCM_REJ];
	union ib_gid gid;

	KUNIT_EXPECT_EQ_MSG(test, rej->reason, bad->reason, "case %d", i);
	KUNIT_EXPECT_EQ_MSG(test, rej->ari_length, bad->ari_len, "case %d", i);
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_REJ_MESSAGE_REJECTED, mad), 0);
	/* The REJ has the value that would be accepted. */
	cm_gid(&pair.server, 1, &gid);
	if (bad->ari_len == 16)
		KUNIT_EXPECT_MEMEQ(test, IBA_GET_MEM_PTR(CM_REJ_ARI, mad), &gid, 16);
	else if (bad->ari_len == 1)
		KUNIT_EXPECT_EQ(test, *(u8 *)IBA_GET_MEM_PTR(CM_REJ_ARI, mad),
				IB_MTU_1024);
	KUNIT_EXPECT_NULL_MSG(test, pair.server.id, "case %d", i);
}

/*
 * A bad REQ is rejected with the reason; its communication ID is free for the same REQ
 * with the field corrected.
 */
static void reqs_with_a_bad_field(struct kunit *test)
{
	u8 good[IB_MGMT_MAD_SIZE];
	struct cm_req_msg *req;
	int i;

	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	for (i = 0; i < ARRAY_SIZE(bad_reqs); i++) {
		pair.client.hold = BIT(IBCM_REQ);
		KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
		req = cm_held(&pair.client);
		KUNIT_ASSERT_NOT_NULL(test, req);
		memcpy(good, req, sizeof(good));
		pair.client.hold = 0;
		pair.client.drop[IBCM_REQ] = -1;
		bad_reqs[i].spoil(req);
		fake_hca_release_held(pair.client.hca);
		KUNIT_EXPECT_TRUE_MSG(test, cm_wait(&pair.client, "J"), "case %d", i);
		expect_refusal(test, &bad_reqs[i], i);

		pair.server.on_req = CM_REJECT;
		cm_inject(&pair.client, &pair.server, good, sizeof(good));
		KUNIT_EXPECT_TRUE_MSG(test, cm_wait(&pair.server, "Q"), "case %d", i);
		pair.server.on_req = CM_GO_ON;
		pair.client.drop[IBCM_REQ] = 0;
		cm_drop_id(&pair.server);
		cm_forget(&pair.client);
		cm_forget(&pair.server);
	}
}

/*
 * The client's id is destroyed and its REJ lost: the REP is rejected, so that the
 * server need not wait for an RTU.
 */
static void a_rep_to_nobody(struct kunit *test)
{
	pair.server.hold = BIT(IBCM_REP);
	pair.client.drop[IBCM_REJ] = 1;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "Q"));
	cm_drop_id(&pair.client);
	fake_hca_release_held(pair.server.hca);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QJ"));
	KUNIT_EXPECT_EQ(test, pair.server.last.param.rej_rcvd.reason,
			IB_CM_REJ_INVALID_COMM_ID);
}

/*
 * A REP with another id's communication ID is rejected; the REJ does not affect the
 * server's id, whose communication ID it does not have.
 */
static void a_rep_to_another(struct kunit *test)
{
	struct cm_rep_msg *rep;

	pair.server.hold = BIT(IBCM_REP);
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "Q"));
	rep = cm_held(&pair.server);
	KUNIT_ASSERT_NOT_NULL(test, rep);
	IBA_SET(CM_REP_REMOTE_COMM_ID, rep, 0x1234567);
	pair.server.hold = 0;
	fake_hca_release_held(pair.server.hca);
	cm_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.client.wire[IBCM_REJ]), 1);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "P"));
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QU"));
}

/* Once the client knows the server's communication ID, a REP with another is ignored. */
static void a_rep_from_another(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];
	int rtus;

	cm_connect(test, &pair);
	rtus = atomic_read(&pair.client.wire[IBCM_RTU]);
	cm_mad(&pair.server, &pair.client, IBCM_REP, mad);
	IBA_SET(CM_REP_LOCAL_COMM_ID, (struct cm_rep_msg *)mad, 0x1234567);
	cm_inject(&pair.server, &pair.client, mad, sizeof(mad));
	cm_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.client.wire[IBCM_RTU]), rtus);
	cm_mad(&pair.server, &pair.client, IBCM_REP, mad);
	cm_inject(&pair.server, &pair.client, mad, sizeof(mad));
	cm_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.client.wire[IBCM_RTU]), rtus + 1);
}

/* Sets aside the two ids of the present connection, to make a second one. */
static void set_aside(struct ib_cm_id *old[2])
{
	old[0] = pair.client.id;
	old[1] = pair.server.id;
	pair.client.id = NULL;
	pair.server.id = NULL;
	cm_forget(&pair.client);
	cm_forget(&pair.server);
	pair.client.qpn++;
}

/* The server's REP has a QPN that the client knows from another connection. */
static void a_rep_with_a_qp_in_use(struct kunit *test)
{
	struct ib_cm_id *old[2];

	cm_connect(test, &pair);
	set_aside(old);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "J"));
	KUNIT_EXPECT_EQ(test, pair.client.last.param.rej_rcvd.reason,
			IB_CM_REJ_STALE_CONN);
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_IDLE);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QJT"));
	/* The old connection is released. */
	KUNIT_EXPECT_EQ(test, old[0]->state, IB_CM_DREQ_SENT);
	KUNIT_EXPECT_EQ(test, old[1]->state, IB_CM_DREQ_RCVD);
	ib_destroy_cm_id(old[0]);
	ib_destroy_cm_id(old[1]);
}

static void a_rep_with_an_id_in_use(struct kunit *test)
{
	struct ib_cm_id *old[2];
	struct cm_rep_msg *rep;

	cm_connect(test, &pair);
	set_aside(old);
	pair.server.qpn++;
	pair.server.hold = BIT(IBCM_REP);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "Q"));
	rep = cm_held(&pair.server);
	KUNIT_ASSERT_NOT_NULL(test, rep);
	IBA_SET(CM_REP_LOCAL_COMM_ID, rep, be32_to_cpu(old[1]->local_id));
	pair.server.drop[IBCM_REP] = -1;
	pair.server.hold = 0;
	fake_hca_release_held(pair.server.hca);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "J"));
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_IDLE);
	/* Both ids of the connection in use stay. */
	KUNIT_EXPECT_EQ(test, old[0]->state, IB_CM_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, old[1]->state, IB_CM_ESTABLISHED);
	ib_destroy_cm_id(old[0]);
	ib_destroy_cm_id(old[1]);
}

/* The client connects again with the same QP before it ever sent an RTU. */
static void a_stale_connection_without_an_rtu(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	pair.server.drop[IBCM_REP] = -1;
	pair.client.drop[IBCM_REJ] = -1;
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "Q"));
	cm_drop_id(&pair.client);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "J"));
	KUNIT_EXPECT_EQ(test, pair.client.last.param.rej_rcvd.reason,
			IB_CM_REJ_STALE_CONN);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "Qp"));
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_TIMEWAIT);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QpT"));
}

/*
 * The server's id is in timewait and its consumer has destroyed it: the REQ is still
 * rejected as stale.
 */
static void a_req_of_a_connection_in_timewait(struct kunit *test)
{
	struct cm_rej_msg *rej = (void *)pair.server.mad[IBCM_REJ];
	u8 mad[IB_MGMT_MAD_SIZE];

	cm_connect(test, &pair);
	memcpy(mad, pair.client.mad[IBCM_REQ], sizeof(mad));
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	cm_quiesce(&pair);
	KUNIT_ASSERT_EQ(test, pair.server.id->state, IB_CM_TIMEWAIT);
	cm_drop_id(&pair.server);
	cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
	cm_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.wire[IBCM_REJ]), 1);
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_REJ_REASON, rej), IB_CM_REJ_STALE_CONN);
	/* After timewait its communication IDs are free again. */
	msleep(2 * TIMEWAIT_MS);
	pair.server.on_req = CM_WAIT;
	cm_forget(&pair.server);
	cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "Q"));
}

static void send_rej(u32 local, u32 remote, u16 reason, const void *ari, u8 ari_len)
{
	u8 mad[IB_MGMT_MAD_SIZE];
	struct cm_rej_msg *rej = (void *)mad;

	cm_mad(&pair.client, &pair.server, IBCM_REJ, mad);
	IBA_SET(CM_REJ_LOCAL_COMM_ID, rej, local);
	IBA_SET(CM_REJ_REMOTE_COMM_ID, rej, remote);
	IBA_SET(CM_REJ_REASON, rej, reason);
	IBA_SET(CM_REJ_REJECTED_INFO_LENGTH, rej, ari_len);
	if (ari)
		IBA_SET_MEM(CM_REJ_ARI, rej, ari, min(ari_len, 8));
	cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
	cm_quiesce(&pair);
}

/*
 * A client that gave up does not know the server's communication ID: its REJ identifies
 * the server's id by the client's communication ID and GUID.
 */
static void rejections_by_guid(struct kunit *test)
{
	__be64 guid, wrong;
	u32 local;

	pair.server.on_req = CM_WAIT;
	pair.client.drop[IBCM_REJ] = -1;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "Q"));
	local = be32_to_cpu(pair.client.id->local_id);
	guid = pair.client.hca->ibdev.node_guid;
	wrong = guid ^ cpu_to_be64(1);
	send_rej(local, 0, IB_CM_REJ_TIMEOUT, &guid, 7);
	send_rej(local, 0, IB_CM_REJ_NO_QP, &guid, 8);
	send_rej(local, 0, IB_CM_REJ_TIMEOUT, &wrong, 8);
	send_rej(local + 1, 0, IB_CM_REJ_TIMEOUT, &guid, 8);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "Q");
	send_rej(local, 0, IB_CM_REJ_TIMEOUT, &guid, 8);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "QJ");
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_IDLE);
}

/* Lengths reported to the consumer never exceed the size of the field. */
static void lengths_that_are_not(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];

	cm_connect(test, &pair);
	send_rej(be32_to_cpu(pair.client.id->local_id),
		 be32_to_cpu(pair.server.id->local_id), 0xffff, NULL, 127);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "JT"));
	KUNIT_EXPECT_STREQ(test, ibcm_reject_msg(0xffff), "unrecognized reason");

	cm_pair_exit(&pair);
	KUNIT_ASSERT_EQ(test, cm_pair_init(test, &pair), 0);
	pair.client.hold = BIT(IBCM_SIDR_REQ);
	KUNIT_ASSERT_EQ(test, cm_resolve(&pair), 0);
	cm_mad(&pair.server, &pair.client, IBCM_SIDR_REP, mad);
	IBA_SET(CM_SIDR_REP_ADDITIONAL_INFORMATION_LENGTH, (struct cm_sidr_rep_msg *)mad,
		255);
	IBA_SET(CM_SIDR_REP_STATUS, (struct cm_sidr_rep_msg *)mad, 99);
	cm_inject(&pair.server, &pair.client, mad, sizeof(mad));
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "I"));
	KUNIT_EXPECT_EQ(test, pair.client.last.param.sidr_rep_rcvd.info_len,
			IB_CM_SIDR_REP_INFO_LENGTH);
	KUNIT_EXPECT_EQ(test, (int)pair.client.last.param.sidr_rep_rcvd.status, 99);
}

static void an_ari_that_is_too_long(struct kunit *test)
{
	pair.server.on_req = CM_WAIT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "Q"));
	pair.client.drop[IBCM_REQ] = -1;	/* another would be a new request */
	send_rej(be32_to_cpu(pair.client.id->local_id),
		 be32_to_cpu(pair.server.id->local_id), 9, NULL, 127);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "QJ"));
	KUNIT_EXPECT_EQ(test, pair.server.last.param.rej_rcvd.ari_length,
			IB_CM_REJ_ARI_LENGTH);
	KUNIT_EXPECT_EQ(test, pair.server.last.param.rej_rcvd.reason, 9);
}

/* More messages arrive for one id than may wait while its handler sleeps. */
static void a_flood_for_one_id(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];
	int i;

	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "QU"));
	cm_mad(&pair.client, &pair.server, IBCM_LAP, mad);
	pair.server.slow_ms = 2000;
	cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
	while (!READ_ONCE(pair.server.in_handler))
		msleep(20);
	pair.server.slow_ms = 0;
	cm_mad(&pair.client, &pair.server, IBCM_RTU, mad);
	for (i = 0; i < IBCM_MAX_RXQ + 5; i++) {
		cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
		usleep_range(1000, 1100);
	}
	KUNIT_EXPECT_TRUE(test, READ_ONCE(pair.server.in_handler));
	KUNIT_EXPECT_EQ(test, stat(&pair.server, IBCM_STAT_RX_OVERFLOW), 5);
	msleep(3000);
	KUNIT_EXPECT_EQ(test, stat(&pair.server, IBCM_STAT_RX_OVERFLOW), 5);
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_ESTABLISHED);
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "PRT"));
}

static void sleep_once(struct fake_hca *hca)
{
	hca->on_create_ah = NULL;
	msleep(5000);
}

/* More messages that match no id arrive than a port answers at a time. */
static void a_flood_for_nobody(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];
	int i;

	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	cm_mad(&pair.client, &pair.server, IBCM_DREQ, mad);
	IBA_SET(CM_DREQ_REMOTE_COMM_ID, (struct cm_dreq_msg *)mad, 0x7654321);
	pair.server.hca->on_create_ah = sleep_once;
	cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
	usleep_range(2000, 2100);
	for (i = 0; i < IBCM_MAX_ORPHANS + 6; i++) {
		cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
		usleep_range(1000, 1100);
	}
	KUNIT_EXPECT_EQ(test, stat(&pair.server, IBCM_STAT_RX_OVERFLOW), 7);
	msleep(6000);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.wire[IBCM_DREP]),
			IBCM_MAX_ORPHANS);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.server), 0);
}

static struct kunit_case malformed_cases[] = {
	KUNIT_CASE_SLOW(malformed_messages),
	KUNIT_CASE_SLOW(one_byte_of_each_message),
	KUNIT_CASE(reqs_with_a_bad_field),
	KUNIT_CASE(a_rep_to_nobody),
	KUNIT_CASE(a_rep_to_another),
	KUNIT_CASE(a_rep_from_another),
	KUNIT_CASE(a_rep_with_a_qp_in_use),
	KUNIT_CASE(a_rep_with_an_id_in_use),
	KUNIT_CASE(a_stale_connection_without_an_rtu),
	KUNIT_CASE(a_req_of_a_connection_in_timewait),
	KUNIT_CASE(rejections_by_guid),
	KUNIT_CASE(lengths_that_are_not),
	KUNIT_CASE(an_ari_that_is_too_long),
	KUNIT_CASE(a_flood_for_one_id),
	KUNIT_CASE_SLOW(a_flood_for_nobody),
	{}
};

static struct kunit_suite ibcm_malformed_suite = {
	.name = "ib_cm_malformed",
	.init = malformed_test_init,
	.exit = malformed_test_exit,
	.test_cases = malformed_cases,
};

kunit_test_suite(ibcm_malformed_suite);
