// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * LAPs and APRs as they arrive (IBA vol. 1, 12.8): every field of a LAP that can be wrong
 * and the status that refuses it; messages for no connection; random contents.
 */
#include <linux/random.h>
#include "cm/lap.h"

static struct cm_pair pair;

static int lap_wire_init(struct kunit *test)
{
	return cm_pair_init_ports(test, &pair, 2);
}

static void lap_wire_exit(struct kunit *test)
{
	cm_pair_exit(&pair);
}

/* Makes a LAP that the server accepts, from port 2 to port 2. */
static void make_lap(struct cm_lap_msg *lap)
{
	cm_mad(&pair.client, &pair.server, IBCM_LAP, lap);
	IBA_SET(CM_LAP_ALTERNATE_SUBNET_LOCAL, lap, 1);
	IBA_SET(CM_LAP_ALTERNATE_LOCAL_PORT_LID, lap, pair.client.hca->port[2].lid);
	IBA_SET(CM_LAP_ALTERNATE_REMOTE_PORT_LID, lap, pair.server.hca->port[2].lid);
	cm_gid(&pair.client, 2, IBA_GET_MEM_PTR(CM_LAP_ALTERNATE_LOCAL_PORT_GID, lap));
	cm_gid(&pair.server, 2, IBA_GET_MEM_PTR(CM_LAP_ALTERNATE_REMOTE_PORT_GID, lap));
}

static void send(const void *mad)
{
	cm_inject(&pair.client, &pair.server, mad, IB_MGMT_MAD_SIZE);
	cm_quiesce(&pair);
}

/* The status of the server's last APR. */
static int status(void)
{
	return IBA_GET(CM_APR_AR_STATUS, (struct cm_apr_msg *)pair.server.mad[IBCM_APR]);
}

static void wrong_qpn(struct cm_lap_msg *lap)
{
	IBA_SET(CM_LAP_REMOTE_QPN_EECN, lap, pair.server.qpn + 1);
}

static void peer_lid_zero(struct cm_lap_msg *lap)
{
	IBA_SET(CM_LAP_ALTERNATE_LOCAL_PORT_LID, lap, 0);
}

static void peer_lid_multicast(struct cm_lap_msg *lap)
{
	IBA_SET(CM_LAP_ALTERNATE_LOCAL_PORT_LID, lap, 0xc000);
}

static void peer_lid_permissive(struct cm_lap_msg *lap)
{
	IBA_SET(CM_LAP_ALTERNATE_LOCAL_PORT_LID, lap, 0xffff);
}

static void our_lid_wrong(struct cm_lap_msg *lap)
{
	IBA_SET(CM_LAP_ALTERNATE_REMOTE_PORT_LID, lap, pair.server.hca->port[2].lid + 1);
}

static void our_lid_of_another_port(struct cm_lap_msg *lap)
{
	IBA_SET(CM_LAP_ALTERNATE_REMOTE_PORT_LID, lap, pair.server.hca->port[1].lid);
}

static void our_gid_unknown(struct cm_lap_msg *lap)
{
	union ib_gid *gid = IBA_GET_MEM_PTR(CM_LAP_ALTERNATE_REMOTE_PORT_GID, lap);

	gid->raw[15] ^= 0xff;
}

static void rate_reserved(struct cm_lap_msg *lap)
{
	IBA_SET(CM_LAP_ALTERNATE_PACKET_RATE, lap, 1);
}

static void rate_zero(struct cm_lap_msg *lap)
{
	IBA_SET(CM_LAP_ALTERNATE_PACKET_RATE, lap, 0);
}

static void rate_unknown(struct cm_lap_msg *lap)
{
	IBA_SET(CM_LAP_ALTERNATE_PACKET_RATE, lap, 63);
}

static void beyond_a_router_no_hops(struct cm_lap_msg *lap)
{
	IBA_SET(CM_LAP_ALTERNATE_SUBNET_LOCAL, lap, 0);
	IBA_SET(CM_LAP_ALTERNATE_HOP_LIMIT, lap, 1);
}

static void the_path_in_use(struct cm_lap_msg *lap)
{
	IBA_SET(CM_LAP_ALTERNATE_LOCAL_PORT_LID, lap, pair.client.hca->port[1].lid);
	IBA_SET(CM_LAP_ALTERNATE_REMOTE_PORT_LID, lap, pair.server.hca->port[1].lid);
	cm_gid(&pair.client, 1, IBA_GET_MEM_PTR(CM_LAP_ALTERNATE_LOCAL_PORT_GID, lap));
	cm_gid(&pair.server, 1, IBA_GET_MEM_PTR(CM_LAP_ALTERNATE_REMOTE_PORT_GID, lap));
}

/* The CM refuses these; the consumer is not notified, and the next LAP is taken. */
static void fields_that_are_wrong(struct kunit *test)
{
	static const struct {
		void (*change)(struct cm_lap_msg *lap);
		enum ib_cm_apr_status status;
	} wrong[] = {
		{ wrong_qpn, IB_CM_APR_INVALID_QPN_EECN },
		{ peer_lid_zero, IB_CM_APR_INVALID_LID },
		{ peer_lid_multicast, IB_CM_APR_INVALID_LID },
		{ peer_lid_permissive, IB_CM_APR_INVALID_LID },
		{ our_lid_wrong, IB_CM_APR_INVALID_LID },
		{ our_lid_of_another_port, IB_CM_APR_INVALID_LID },
		{ our_gid_unknown, IB_CM_APR_INVALID_GID },
		{ rate_reserved, IB_CM_APR_INVALID_PACKET_RATE },
		{ rate_zero, IB_CM_APR_INVALID_PACKET_RATE },
		{ rate_unknown, IB_CM_APR_INVALID_PACKET_RATE },
		{ beyond_a_router_no_hops, IB_CM_APR_INVALID_HOP_LIMIT },
		{ the_path_in_use, IB_CM_APR_IS_CURRENT },
	};
	u8 mad[IB_MGMT_MAD_SIZE];
	int i;

	pair.server.answer_lap = lap_accept;
	cm_connect(test, &pair);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		make_lap((void *)mad);
		wrong[i].change((void *)mad);
		send(mad);
		KUNIT_EXPECT_EQ_MSG(test, atomic_read(&pair.server.wire[IBCM_APR]), i + 1,
				    "case %d", i);
		KUNIT_EXPECT_EQ_MSG(test, status(), (int)wrong[i].status, "case %d", i);
	}
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
	KUNIT_EXPECT_EQ(test, pair.server.id->lap_state, IB_CM_LAP_IDLE);
	/* A copy of the last one is refused again. */
	send(mad);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.wire[IBCM_APR]), i + 1);
	make_lap((void *)mad);
	send(mad);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "L");
	KUNIT_EXPECT_EQ(test, status(), IB_CM_APR_SUCCESS);
}

/* Beyond a router the LIDs of the LAP are those of the routers' ports. */
static void a_path_through_a_router(struct kunit *test)
{
	struct cm_lap_msg *lap;
	u8 mad[IB_MGMT_MAD_SIZE];

	lap = (void *)mad;
	pair.server.answer_lap = lap_accept;
	cm_connect(test, &pair);
	make_lap(lap);
	IBA_SET(CM_LAP_ALTERNATE_SUBNET_LOCAL, lap, 0);
	IBA_SET(CM_LAP_ALTERNATE_HOP_LIMIT, lap, 5);
	IBA_SET(CM_LAP_ALTERNATE_LOCAL_PORT_LID, lap, 0x77);
	send(mad);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "L");
	KUNIT_EXPECT_EQ(test, pair.server.path[1].hop_limit, 5);
	KUNIT_EXPECT_EQ(test, status(), IB_CM_APR_SUCCESS);
}

static void an_adapter_that_cannot_migrate(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];

	pair.server.answer_lap = lap_accept;
	cm_connect(test, &pair);
	pair.server.hca->ibdev.attrs.device_cap_flags &= ~IB_DEVICE_AUTO_PATH_MIG;
	make_lap((void *)mad);
	send(mad);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
	KUNIT_EXPECT_EQ(test, status(), IB_CM_APR_UNSUPPORTED);
}

/* Each status that the specification has, and one that it has not, is reported as it is. */
static void every_status(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];
	struct cm_apr_msg *apr = (void *)mad;
	int s;

	cm_connect(test, &pair);
	pair.client.hold = BIT(IBCM_LAP);
	for (s = 1; s <= IB_CM_APR_INVALID_SL + 1; s++) {
		KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
		cm_quiesce(&pair);
		cm_mad(&pair.server, &pair.client, IBCM_APR, mad);
		apr->hdr.tid = ((struct ib_mad_hdr *)pair.client.mad[IBCM_LAP])->tid;
		IBA_SET(CM_APR_AR_STATUS, apr, s);
		/* More than there is room for. */
		IBA_SET(CM_APR_ADDITIONAL_INFORMATION_LENGTH, apr, 255);
		cm_forget(&pair.client);
		cm_inject(&pair.server, &pair.client, mad, sizeof(mad));
		KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "A"));
		KUNIT_EXPECT_EQ(test, (int)pair.client.last.param.apr_rcvd.ap_status, s);
		KUNIT_EXPECT_EQ(test, pair.client.last.param.apr_rcvd.info_len,
				IB_CM_APR_INFO_LENGTH);
		KUNIT_EXPECT_NULL(test, to_ibcm(pair.client.id)->alt);
	}
}

/* APRs that answer nothing: no LAP was sent, or the transaction id is another's. */
static void aprs_that_answer_nothing(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];

	cm_connect(test, &pair);
	cm_mad(&pair.server, &pair.client, IBCM_APR, mad);
	((struct ib_mad_hdr *)mad)->tid = 0;
	cm_inject(&pair.server, &pair.client, mad, sizeof(mad));
	cm_quiesce(&pair);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "");
	pair.client.hold = BIT(IBCM_LAP);
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	cm_inject(&pair.server, &pair.client, mad, sizeof(mad));
	cm_quiesce(&pair);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "");
	KUNIT_EXPECT_EQ(test, pair.client.id->lap_state, IB_CM_LAP_SENT);
}

/* A LAP whose communication ids are no connection's is answered all the same (12.8). */
static void a_lap_for_no_connection(struct kunit *test)
{
	struct cm_apr_msg *apr = (void *)pair.server.mad[IBCM_APR];
	u8 mad[IB_MGMT_MAD_SIZE];

	cm_connect(test, &pair);
	make_lap((void *)mad);
	IBA_SET(CM_LAP_REMOTE_COMM_ID, (struct cm_lap_msg *)mad, 0x1234567);
	send(mad);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.wire[IBCM_APR]), 1);
	KUNIT_EXPECT_EQ(test, status(), IB_CM_APR_INVALID_COMM_ID);
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_APR_LOCAL_COMM_ID, apr), 0x1234567);
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_APR_REMOTE_COMM_ID, apr),
			be32_to_cpu(pair.client.id->local_id));
	KUNIT_EXPECT_EQ(test, be64_to_cpu(apr->hdr.tid), 0x1122334455667788ULL);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
}

/* The client learns that the server has destroyed its id and lost its timewait, too. */
static void the_connection_is_unknown(struct kunit *test)
{
	cm_connect(test, &pair);
	pair.client.hold = BIT(IBCM_LAP);
	pair.server.drop[IBCM_DREQ] = -1;
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_ASSERT_NOT_NULL(test, cm_held(&pair.client));
	cm_drop_id(&pair.server);
	pair.client.hold = 0;
	fake_hca_release_held(pair.client.hca);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "A"));
	KUNIT_EXPECT_EQ(test, (int)pair.client.last.param.apr_rcvd.ap_status,
			IB_CM_APR_INVALID_COMM_ID);
}

/* Whatever is behind the communication ids: nothing but an answer or silence. */
static void random_contents(struct kunit *test)
{
	static const enum ibcm_kind kinds[] = { IBCM_LAP, IBCM_APR };
	u8 mad[IB_MGMT_MAD_SIZE];
	int i, j;

	pair.server.answer_lap = lap_refuse;
	cm_connect(test, &pair);
	for (i = 0; i < 300; i++) {
		cm_mad(&pair.client, &pair.server, kinds[i % 2], mad);
		get_random_bytes(mad + sizeof(struct ib_mad_hdr) + 8,
				 sizeof(mad) - sizeof(struct ib_mad_hdr) - 8);
		/* Some of them get beyond the first checks. */
		if (i % 4) {
			IBA_SET(CM_LAP_REMOTE_QPN_EECN, (struct cm_lap_msg *)mad,
				pair.server.qpn);
			cm_gid(&pair.server, 1 + i % 2,
			       IBA_GET_MEM_PTR(CM_LAP_ALTERNATE_REMOTE_PORT_GID,
					       (struct cm_lap_msg *)mad));
		}
		for (j = 0; j <= i % 3; j++)
			cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
		if (i % 8 == 7)
			cm_quiesce(&pair);
	}
	cm_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, pair.server.id->lap_state, IB_CM_LAP_IDLE);
	KUNIT_EXPECT_GE(test, atomic_read(&pair.server.wire[IBCM_APR]), 100);
	KUNIT_EXPECT_NULL(test, to_ibcm(pair.server.id)->alt);
	pair.server.answer_lap = lap_accept;
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "A"));
	KUNIT_EXPECT_TRUE(test, lap_loads(&pair.server, &pair.client));
}

static struct kunit_case lap_wire_cases[] = {
	KUNIT_CASE(fields_that_are_wrong),
	KUNIT_CASE(a_path_through_a_router),
	KUNIT_CASE(an_adapter_that_cannot_migrate),
	KUNIT_CASE(every_status),
	KUNIT_CASE(aprs_that_answer_nothing),
	KUNIT_CASE(a_lap_for_no_connection),
	KUNIT_CASE(the_connection_is_unknown),
	KUNIT_CASE(random_contents),
	{}
};

static struct kunit_suite ibcm_lap_wire_suite = {
	.name = "ib_cm_lap_wire",
	.init = lap_wire_init,
	.exit = lap_wire_exit,
	.test_cases = lap_wire_cases,
};

kunit_test_suite(ibcm_lap_wire_suite);
