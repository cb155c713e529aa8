// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Two adapters, a client's and a server's, and what their ids are told. */
#include "cm_test.h"

static char cm_letter(enum ib_cm_event_type event)
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

	return ib_send_cm_rep(server->id, &rep);
}

static int cm_sidr_reply(struct cm_side *server)
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

	if (event->event == IB_CM_REQ_RECEIVED ||
	    event->event == IB_CM_SIDR_REQ_RECEIVED) {
		/* A test that expects one connection refuses a second. */
		if (side->id) {
			cm_record(side, event);
			return -EBUSY;
		}
		side->id = cm_id;
	}
	if (cm_id != side->id)
		return 0;
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
	} else if (letter == side->fail_on) {
		side->id = NULL;
		side->destroyed = true;
		cm_record(side, event);
		return -ECANCELED;
	}
	cm_record(side, event);
	return 0;
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
	if (side->drop[kind]) {
		if (side->drop[kind] > 0)
			side->drop[kind]--;
		return FAKE_DROP;
	}
	if (side->hold & BIT(kind))
		return FAKE_HOLD;
	return side->duplicate & BIT(kind) ? FAKE_DUPLICATE : FAKE_DELIVER;
}

static int cm_side_init(struct cm_side *side)
{
	const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
	};

	side->hca = fake_hca_create(&params);
	if (!side->hca)
		return -ENOMEM;
	/* Subnet administration makes one for each port, from a work item. */
	msleep(100);
	side->idle_ahs = atomic_read(&side->hca->alive[FAKE_AH]);
	side->hca->verdict = cm_verdict;
	side->hca->verdict_arg = side;
	side->on_req = CM_GO_ON;
	side->on_rep = CM_GO_ON;
	side->on_dreq = CM_GO_ON;
	return 0;
}

int cm_pair_init(struct kunit *test, struct cm_pair *pair)
{
	int ret;

	memset(pair, 0, sizeof(*pair));
	pair->client.qpn = 0x100;
	pair->server.qpn = 0x200;
	ret = cm_side_init(&pair->client);
	return ret ?: cm_side_init(&pair->server);
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
	/* What a listener's end let through. */
	cm_drop_id(&pair->server);
	if (pair->client.hca)
		fake_hca_destroy(pair->client.hca);
	if (pair->server.hca)
		fake_hca_destroy(pair->server.hca);
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
	path->sgid = pair->client.hca->port[1].gids[0];
	path->dgid = pair->server.hca->port[1].gids[0];
	path->service_id = TEST_SERVICE;
	path->reversible = 1;
	path->pkey = cpu_to_be16(0xffff);
	path->mtu_selector = IB_SA_EQ;
	path->mtu = IB_MTU_1024;
	path->rate_selector = IB_SA_EQ;
	path->rate = IB_RATE_10_GBPS;
	path->packet_life_time_selector = IB_SA_EQ;
	path->packet_life_time = TEST_LIFE;
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

bool cm_wait(struct cm_side *side, const char *events)
{
	int i, n = strlen(events);

	for (i = 0; i < 3000 && atomic_read(&side->nr_events) < n; i++)
		msleep(20);
	return !strcmp(side->events, events);
}

/* Takes less than a try of the client's, so that nothing is sent again meanwhile. */
void cm_settle(struct cm_pair *pair)
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

/* Rounding by the timer wheel: an eighth at most, and some jiffies. */
void cm_expect_ms(struct kunit *test, unsigned long since, unsigned long until,
		  unsigned int ms)
{
	unsigned int took = jiffies_to_msecs(until - since);

	KUNIT_EXPECT_GE(test, took + 10, ms);
	KUNIT_EXPECT_LE(test, took, ms + ms / 8 + 60);
}
