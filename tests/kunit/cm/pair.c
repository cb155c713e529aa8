// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Two adapters, a client's and a server's, and the events of their ids. */
#include "cm_test.h"
#include "wait.h"

char cm_letter(enum ib_cm_event_type event)
{
	static const char letters[] = {
		[IB_CM_REQ_ERROR]		= 'q',
		[IB_CM_REQ_RECEIVED]		= 'Q',
		[IB_CM_REP_ERROR]		= 'p',
		[IB_CM_REP_RECEIVED]		= 'P',
		[IB_CM_RTU_RECEIVED]		= 'U',
		[IB_CM_USER_ESTABLISHED]	= 'E',
		[IB_CM_DREQ_ERROR]		= 'd',
		[IB_CM_DREQ_RECEIVED]		= 'D',
		[IB_CM_DREP_RECEIVED]		= 'R',
		[IB_CM_TIMEWAIT_EXIT]		= 'T',
		[IB_CM_MRA_RECEIVED]		= 'M',
		[IB_CM_REJ_RECEIVED]		= 'J',
		[IB_CM_LAP_ERROR]		= 'l',
		[IB_CM_LAP_RECEIVED]		= 'L',
		[IB_CM_APR_RECEIVED]		= 'A',
		[IB_CM_SIDR_REQ_ERROR]		= 's',
		[IB_CM_SIDR_REQ_RECEIVED]	= 'S',
		[IB_CM_SIDR_REP_RECEIVED]	= 'I',
	};

	return event < sizeof(letters) ? letters[event] : '?';
}

int cm_reply(struct cm_side *server)
{
	struct ib_cm_rep_param rep = {
		.qp_num = server->qpn,
		.starting_psn = 0x654321,
		.responder_resources = 2,
		.initiator_depth = 3,
		.rnr_retry_count = 5,
		.private_data = "reply",
		.private_data_len = 6,
		.ece = { .vendor_id = 0xabcdef, .attr_mod = 0x13579bdf },
	};

	if (server->tune_rep)
		server->tune_rep(&rep);
	return ib_send_cm_rep(server->id, &rep);
}

int cm_sidr_reply(struct cm_side *server)
{
	struct ib_cm_sidr_rep_param rep = {
		.qp_num = server->qpn,
		.qkey = 0x11223344,
		.status = IB_SIDR_SUCCESS,
		.info = "info",
		.info_length = 5,
		.private_data = "sidr",
		.private_data_len = 5,
	};

	return ib_send_cm_sidr_rep(server->id, &rep);
}

static enum cm_answer cm_answer_to(struct cm_side *side, enum ib_cm_event_type event)
{
	switch (event) {
	case IB_CM_REQ_RECEIVED:
	case IB_CM_SIDR_REQ_RECEIVED:
		return side->on_req;
	case IB_CM_REP_RECEIVED:
		return side->on_rep;
	case IB_CM_DREQ_RECEIVED:
		return side->on_dreq;
	case IB_CM_LAP_RECEIVED:
		return side->on_lap;
	default:
		return CM_WAIT;
	}
}

static int cm_go_on(struct cm_side *side, enum ib_cm_event_type event)
{
	switch (event) {
	case IB_CM_REQ_RECEIVED:
		return cm_reply(side);
	case IB_CM_SIDR_REQ_RECEIVED:
		return cm_sidr_reply(side);
	case IB_CM_REP_RECEIVED:
		return ib_send_cm_rtu(side->id, "ready", 6);
	default:
		return ib_send_cm_drep(side->id, "bye", 4);
	}
}

static void cm_record(struct cm_side *side, const struct ib_cm_event *event)
{
	int n = atomic_read(&side->nr_events);

	side->last = *event;
	side->when = jiffies;
	if (event->event == IB_CM_REQ_RECEIVED) {
		side->path[0] = *event->param.req_rcvd.primary_path;
		if (event->param.req_rcvd.alternate_path)
			side->path[1] = *event->param.req_rcvd.alternate_path;
	} else if (event->event == IB_CM_LAP_RECEIVED) {
		side->path[1] = *event->param.lap_rcvd.alternate_path;
	}
	if (event->private_data)
		memcpy(side->private_data, event->private_data,
		       event->event == IB_CM_REQ_RECEIVED ?
		       IB_CM_REQ_PRIVATE_DATA_SIZE : IB_CM_SIDR_REP_PRIVATE_DATA_SIZE);
	if (n < (int)sizeof(side->events) - 1)
		side->events[n] = cm_letter(event->event);
	atomic_inc(&side->nr_events);
}

int cm_handler(struct ib_cm_id *cm_id, const struct ib_cm_event *event)
{
	struct cm_side *side = cm_id->context;
	char letter = cm_letter(event->event);
	int ret = 0;

	if (event->event == IB_CM_REQ_RECEIVED ||
	    event->event == IB_CM_SIDR_REQ_RECEIVED) {
		/* A test that expects one connection refuses a second. */
		if (side->id) {
			cm_record(side, event);
			return -EBUSY;
		}
		side->id = cm_id;
	}
	if (cm_id != side->id) {
		side->told_after = side->destroyed;
		return 0;
	}
	if (event->event == IB_CM_LAP_RECEIVED && side->answer_lap)
		side->call = side->answer_lap(side);
	switch (cm_answer_to(side, event->event)) {
	case CM_GO_ON:
		side->call = cm_go_on(side, event->event);
		break;
	case CM_REJECT:
		side->call = ib_send_cm_rej(cm_id, IB_CM_REJ_NO_RESOURCES, "ari", 4,
					    "no", 3);
		break;
	case CM_MRA:
		side->call = ib_send_cm_mra(cm_id, 18, "later", 6);
		break;
	default:
		break;
	}
	if (letter == side->destroy_on) {
		side->id = NULL;
		side->destroyed = true;
		ib_destroy_cm_id(cm_id);
	}
	if (letter == side->fail_on) {
		side->id = NULL;
		side->destroyed = true;
		ret = -ECANCELED;
	}
	cm_record(side, event);
	if (side->slow_ms) {
		WRITE_ONCE(side->in_handler, true);
		msleep(side->slow_ms);
		WRITE_ONCE(side->in_handler, false);
	}
	return ret;
}

static enum fake_hca_verdict cm_verdict(struct fake_hca *hca,
					struct fake_hca_packet *packet, void *arg)
{
	struct ib_mad_hdr *hdr = (void *)packet->data;
	struct cm_side *side = arg;
	u16 kind = be16_to_cpu(hdr->attr_id) - be16_to_cpu(CM_REQ_ATTR_ID);

	if (hdr->mgmt_class != IB_MGMT_CLASS_CM || kind >= IBCM_KINDS)
		return FAKE_DELIVER;
	atomic_inc(&side->wire[kind]);
	memcpy(side->mad[kind], hdr, IB_MGMT_MAD_SIZE);
	side->wire_port = packet->port;
	if (side->drop[kind]) {
		if (side->drop[kind] > 0)
			side->drop[kind]--;
		return FAKE_DROP;
	}
	if (side->hold & BIT(kind))
		return FAKE_HOLD;
	return side->duplicate & BIT(kind) ? FAKE_DUPLICATE : FAKE_DELIVER;
}

static int cm_side_netdev(struct cm_side *side, struct fake_hca_params *params,
			  __be32 addr)
{
	side->ndev = fake_netdev_create("fnet%d");
	if (!side->ndev)
		return -ENOMEM;
	params->link_layer = IB_LINK_LAYER_ETHERNET;
	params->ndev = side->ndev;
	return fake_netdev_add_ipv4(side->ndev, addr, 24);
}

static int cm_side_init(struct cm_pair *pair, struct cm_side *side)
{
	__be32 addr = htonl(side == &pair->client ? CLIENT_IP : SERVER_IP);
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
		.ports = pair->ports,
	};
	int ret;

	if (pair->roce) {
		ret = cm_side_netdev(side, &params, addr);
		if (ret)
			return ret;
	}
	side->hca = fake_hca_alloc(&params);
	if (!side->hca)
		return -ENOMEM;
	/* However many connections a test makes, it must not need more. */
	if (!side->hca->quirks.max_ah || side->hca->quirks.max_ah > CM_MAX_AH)
		side->hca->quirks.max_ah = CM_MAX_AH;
	if (fake_hca_register(side->hca)) {
		fake_hca_free(side->hca);
		side->hca = NULL;
		return -ENOMEM;
	}
	/*
	 * ib_sa creates one address handle for each port in a work item, and RoCE GIDs
	 * are added in one: wait for both.
	 */
	msleep(100);
	side->idle_ahs = atomic_read(&side->hca->alive[FAKE_AH]);
	side->hca->verdict = cm_verdict;
	side->hca->verdict_arg = side;
	side->on_req = CM_GO_ON;
	side->on_rep = CM_GO_ON;
	side->on_dreq = CM_GO_ON;
	return 0;
}

static int cm_pair_make(struct cm_pair *pair, u32 ports, bool roce)
{
	int ret;

	memset(pair, 0, sizeof(*pair));
	pair->ports = ports;
	pair->roce = roce;
	pair->client.qpn = 0x100;
	pair->server.qpn = 0x200;
	ret = cm_side_init(pair, &pair->client);
	return ret ?: cm_side_init(pair, &pair->server);
}

int cm_pair_init(struct kunit *test, struct cm_pair *pair)
{
	return cm_pair_make(pair, 1, false);
}

int cm_pair_init_ports(struct kunit *test, struct cm_pair *pair, u32 ports)
{
	return cm_pair_make(pair, ports, false);
}

int cm_pair_init_roce(struct kunit *test, struct cm_pair *pair)
{
	return cm_pair_make(pair, 1, true);
}

int cm_pair_init_roce_ports(struct kunit *test, struct cm_pair *pair, u32 ports)
{
	return cm_pair_make(pair, ports, true);
}

int cm_ahs(struct cm_side *side)
{
	return atomic_read(&side->hca->alive[FAKE_AH]) - side->idle_ahs;
}

void cm_drop_id(struct cm_side *side)
{
	struct ib_cm_id *id = side->id;

	side->id = NULL;
	if (id)
		ib_destroy_cm_id(id);
}

static void cm_side_exit(struct cm_side *side)
{
	cm_drop_id(side);
	if (side->listener)
		ib_destroy_cm_id(side->listener);
	side->listener = NULL;
}

void cm_pair_exit(struct cm_pair *pair)
{
	cm_side_exit(&pair->client);
	cm_side_exit(&pair->server);
	/* An id that a request made while the listener was being destroyed. */
	cm_drop_id(&pair->server);
	if (pair->client.hca)
		fake_hca_destroy(pair->client.hca);
	if (pair->server.hca)
		fake_hca_destroy(pair->server.hca);
	if (pair->client.ndev)
		fake_netdev_destroy(pair->client.ndev);
	if (pair->server.ndev)
		fake_netdev_destroy(pair->server.ndev);
	memset(pair, 0, sizeof(*pair));
}

int cm_listen(struct cm_side *server)
{
	int ret;

	server->listener = ib_create_cm_id(&server->hca->ibdev, cm_handler, server);
	if (IS_ERR(server->listener)) {
		ret = PTR_ERR(server->listener);
		server->listener = NULL;
		return ret;
	}
	return ib_cm_listen(server->listener, TEST_SERVICE);
}

void cm_path(struct cm_pair *pair, struct sa_path_rec *path)
{
	memset(path, 0, sizeof(*path));
	path->rec_type = SA_PATH_REC_TYPE_IB;
	cm_gid(&pair->client, 1, &path->sgid);
	cm_gid(&pair->server, 1, &path->dgid);
	path->service_id = TEST_SERVICE;
	path->reversible = 1;
	path->pkey = cpu_to_be16(0xffff);
	path->mtu_selector = IB_SA_EQ;
	path->mtu = IB_MTU_1024;
	path->rate_selector = IB_SA_EQ;
	path->rate = IB_RATE_10_GBPS;
	path->packet_life_time_selector = IB_SA_EQ;
	path->packet_life_time = TEST_LIFE;
	if (pair->roce) {
		path->rec_type = SA_PATH_REC_TYPE_ROCE_V2;
		path->hop_limit = 64;
		ether_addr_copy(path->roce.dmac, pair->server.ndev->dev_addr);
		path->roce.route_resolved = true;
		return;
	}
	sa_path_set_slid(path, pair->client.hca->port[1].lid);
	sa_path_set_dlid(path, pair->server.hca->port[1].lid);
}

int cm_request(struct cm_pair *pair)
{
	struct sa_path_rec path;
	struct ib_cm_req_param req = {
		.primary_path = &path,
		.service_id = TEST_SERVICE,
		.qp_num = pair->client.qpn,
		.qp_type = IB_QPT_RC,
		.starting_psn = 0x123456,
		.private_data = "request",
		.private_data_len = 8,
		.responder_resources = 4,
		.initiator_depth = 6,
		.remote_cm_response_timeout = TEST_RESPONSE,
		.local_cm_response_timeout = TEST_RESPONSE,
		.flow_control = 1,
		.retry_count = 7,
		.rnr_retry_count = 6,
		.max_cm_retries = TEST_RETRIES,
		.ece = { .vendor_id = 0x123456, .attr_mod = 0x2468ace0 },
	};
	int ret;

	cm_path(pair, &path);
	if (pair->tune_req)
		pair->tune_req(pair, &req);
	if (!pair->client.id) {
		pair->client.id = ib_create_cm_id(&pair->client.hca->ibdev, cm_handler,
						  &pair->client);
		if (IS_ERR(pair->client.id)) {
			ret = PTR_ERR(pair->client.id);
			pair->client.id = NULL;
			return ret;
		}
	}
	return ib_send_cm_req(pair->client.id, &req);
}

int cm_resolve(struct cm_pair *pair)
{
	struct sa_path_rec path;
	struct ib_cm_sidr_req_param req = {
		.path = &path,
		.service_id = TEST_SERVICE,
		.timeout_ms = 100,
		.max_cm_retries = 3,
		.private_data = "where",
		.private_data_len = 6,
	};

	cm_path(pair, &path);
	if (!pair->client.id) {
		pair->client.id = ib_create_cm_id(&pair->client.hca->ibdev, cm_handler,
						  &pair->client);
		if (IS_ERR(pair->client.id))
			return PTR_ERR(xchg(&pair->client.id, NULL));
	}
	return ib_send_cm_sidr_req(pair->client.id, &req);
}

bool cm_wait(struct cm_side *side, const char *events)
{
	int i, n = strlen(events);

	for (i = 0; i < 3000 && atomic_read(&side->nr_events) < n; i++)
		msleep(20);
	return !strcmp(side->events, events);
}

/* Takes less time than a try of the client, so that nothing is sent again meanwhile. */
void cm_quiesce(struct cm_pair *pair)
{
	int i;

	for (i = 0; i < 3; i++) {
		fake_hca_flush(pair->client.hca);
		fake_hca_flush(pair->server.hca);
		usleep_range(5000, 6000);
	}
}

void cm_forget(struct cm_side *side)
{
	memset(side->events, 0, sizeof(side->events));
	atomic_set(&side->nr_events, 0);
}

void cm_release(struct kunit *test, struct cm_pair *pair)
{
	cm_drop_id(&pair->client);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair->server, "QUDT"));
	cm_drop_id(&pair->server);
	cm_forget(&pair->client);
	cm_forget(&pair->server);
}

void cm_connect(struct kunit *test, struct cm_pair *pair)
{
	KUNIT_ASSERT_EQ(test, cm_listen(&pair->server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair->server, "QU"));
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair->client, "P"));
	KUNIT_ASSERT_EQ(test, pair->client.id->state, IB_CM_ESTABLISHED);
	KUNIT_ASSERT_EQ(test, pair->server.id->state, IB_CM_ESTABLISHED);
	cm_forget(&pair->client);
	cm_forget(&pair->server);
}

/* Allows for rounding by the timer wheel: an eighth at most, and some jiffies. */
void cm_expect_ms(struct kunit *test, unsigned long since, unsigned long until,
		  unsigned int ms)
{
	unsigned int took = jiffies_to_msecs(until - since);

	KUNIT_EXPECT_GE(test, took + 10, ms);
	KUNIT_EXPECT_LE(test, took / fake_hca_slow, ms + ms / 8 + 60);
}

const struct cm_stage_states cm_stage_states[CM_STAGES] = {
	[REQ_HELD]	= { IB_CM_REQ_SENT, IB_CM_IDLE },
	[REQ_SEEN]	= { IB_CM_REQ_SENT, IB_CM_REQ_RCVD },
	[MRA_OF_REQ]	= { IB_CM_MRA_REQ_RCVD, IB_CM_MRA_REQ_SENT },
	[REP_HELD]	= { IB_CM_REQ_SENT, IB_CM_REP_SENT },
	[REP_SEEN]	= { IB_CM_REP_RCVD, IB_CM_REP_SENT },
	[MRA_OF_REP]	= { IB_CM_MRA_REP_SENT, IB_CM_MRA_REP_RCVD },
	[RTU_HELD]	= { IB_CM_ESTABLISHED, IB_CM_REP_SENT },
	[CONNECTED]	= { IB_CM_ESTABLISHED, IB_CM_ESTABLISHED },
	[DREQ_HELD]	= { IB_CM_DREQ_SENT, IB_CM_ESTABLISHED },
	[DREQ_SEEN]	= { IB_CM_DREQ_SENT, IB_CM_DREQ_RCVD },
	[DREP_HELD]	= { IB_CM_DREQ_SENT, IB_CM_TIMEWAIT },
	[RELEASED]	= { IB_CM_TIMEWAIT, IB_CM_TIMEWAIT },
};

int cm_go_to(struct cm_pair *pair, enum cm_stage stage)
{
	int ret;

	pair->client.hold = (stage == REQ_HELD ? BIT(IBCM_REQ) : 0) |
			   (stage == RTU_HELD ? BIT(IBCM_RTU) : 0) |
			   (stage == DREQ_HELD ? BIT(IBCM_DREQ) : 0);
	pair->server.hold = (stage == REP_HELD ? BIT(IBCM_REP) : 0) |
			   (stage == DREP_HELD ? BIT(IBCM_DREP) : 0);
	pair->server.on_req = stage == REQ_SEEN ? CM_WAIT :
			     stage == MRA_OF_REQ ? CM_MRA : CM_GO_ON;
	pair->client.on_rep = stage == REP_SEEN ? CM_WAIT :
			     stage == MRA_OF_REP ? CM_MRA : CM_GO_ON;
	pair->server.on_dreq = stage == DREQ_SEEN ? CM_WAIT : CM_GO_ON;
	ret = cm_listen(&pair->server);
	if (!ret)
		ret = cm_request(pair);
	cm_quiesce(pair);
	if (!ret && stage >= DREQ_HELD) {
		ret = ib_send_cm_dreq(pair->client.id, NULL, 0);
		cm_quiesce(pair);
	}
	return ret;
}
