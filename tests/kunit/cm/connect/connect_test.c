// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Connections made, refused and released. */
#include <linux/hrtimer.h>
#include "cm/cm_test.h"

static struct cm_pair pair;

static int connect_test_init(struct kunit *test)
{
	return cm_pair_init(test, &pair);
}

static void connect_test_exit(struct kunit *test)
{
	cm_pair_exit(&pair);
}

static void both_sides_agree(struct kunit *test)
{
	struct ib_cm_event *seen;
	unsigned long start;
	int reqs;

	pair.server.on_req = CM_WAIT;
	pair.client.on_rep = CM_WAIT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_REQ_SENT);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "Q"));
	seen = &pair.server.last;
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_REQ_RCVD);
	KUNIT_EXPECT_EQ(test, seen->param.req_rcvd.remote_qpn, pair.client.qpn);
	KUNIT_EXPECT_EQ(test, seen->param.req_rcvd.starting_psn, 0x123456u);
	KUNIT_EXPECT_EQ(test, seen->param.req_rcvd.responder_resources, 6);
	KUNIT_EXPECT_EQ(test, seen->param.req_rcvd.initiator_depth, 4);
	KUNIT_EXPECT_EQ(test, (u32)seen->param.req_rcvd.retry_count, 7u);
	KUNIT_EXPECT_EQ(test, (u32)seen->param.req_rcvd.rnr_retry_count, 6u);
	KUNIT_EXPECT_EQ(test, (u32)seen->param.req_rcvd.flow_control, 1u);
	KUNIT_EXPECT_EQ(test, seen->param.req_rcvd.port, 1);
	KUNIT_EXPECT_EQ(test, seen->param.req_rcvd.bth_pkey, 0xffff);
	KUNIT_EXPECT_EQ(test, seen->param.req_rcvd.qp_type, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, seen->param.req_rcvd.ece.vendor_id, 0x123456u);
	KUNIT_EXPECT_EQ(test, seen->param.req_rcvd.ece.attr_mod, 0x2468ace0u);
	KUNIT_EXPECT_PTR_EQ(test, seen->param.req_rcvd.listen_id, pair.server.listener);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(seen->param.req_rcvd.remote_ca_guid),
			be64_to_cpu(pair.client.hca->ibdev.node_guid));
	KUNIT_EXPECT_STREQ(test, (char *)pair.server.private_data, "request");

	KUNIT_ASSERT_EQ(test, cm_reply(&pair.server), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "P"));
	seen = &pair.client.last;
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_REP_SENT);
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_REP_RCVD);
	KUNIT_EXPECT_EQ(test, seen->param.rep_rcvd.remote_qpn, pair.server.qpn);
	KUNIT_EXPECT_EQ(test, seen->param.rep_rcvd.starting_psn, 0x654321u);
	KUNIT_EXPECT_EQ(test, (u32)seen->param.rep_rcvd.rnr_retry_count, 5u);
	KUNIT_EXPECT_EQ(test, (u32)seen->param.rep_rcvd.target_ack_delay, 15u);
	KUNIT_EXPECT_EQ(test, seen->param.rep_rcvd.ece.vendor_id, 0xabcdefu);
	KUNIT_EXPECT_EQ(test, seen->param.rep_rcvd.ece.attr_mod, 0x13579bdfu);
	KUNIT_EXPECT_STREQ(test, (char *)pair.client.private_data, "reply");
	KUNIT_EXPECT_EQ(test, be32_to_cpu(pair.client.id->remote_id),
			be32_to_cpu(pair.server.id->local_id));

	KUNIT_ASSERT_EQ(test, ib_send_cm_rtu(pair.client.id, "ready", 6), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "QU"));
	KUNIT_EXPECT_STREQ(test, (char *)pair.server.private_data, "ready");
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_ESTABLISHED);
	reqs = atomic_read(&pair.client.wire[IBCM_REQ]);
	msleep(2000);
	/* No timer is left to send a message again. */
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.client.wire[IBCM_REQ]), reqs);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.wire[IBCM_REP]), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.client.wire[IBCM_RTU]), 1);

	start = jiffies;
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, "over", 5), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QUDT"));
	cm_expect_ms(test, start, pair.server.when, TIMEWAIT_MS);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "PRT"));
	cm_expect_ms(test, start, pair.client.when, TIMEWAIT_MS);
	KUNIT_EXPECT_EQ(test, pair.server.call, 0);
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_IDLE);
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_IDLE);
}

static void qp_attributes(struct kunit *test)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR };
	int mask = 0;

	cm_connect(test, &pair);
	KUNIT_ASSERT_EQ(test, ib_cm_init_qp_attr(pair.client.id, &attr, &mask), 0);
	/* A starting PSN is where the other side begins (12.7.31). */
	KUNIT_EXPECT_EQ(test, attr.dest_qp_num, pair.server.qpn);
	KUNIT_EXPECT_EQ(test, attr.rq_psn, 0x123456u);
	KUNIT_EXPECT_EQ(test, attr.path_mtu, IB_MTU_1024);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&attr.ah_attr),
			(u32)pair.server.hca->port[1].lid);
	KUNIT_EXPECT_TRUE(test, ib_modify_qp_is_ok(IB_QPS_INIT, IB_QPS_RTR, IB_QPT_RC,
						   mask));
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IB_QPS_RTS;
	KUNIT_ASSERT_EQ(test, ib_cm_init_qp_attr(pair.client.id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, attr.sq_psn, 0x654321u);
	KUNIT_EXPECT_TRUE(test, ib_modify_qp_is_ok(IB_QPS_RTR, IB_QPS_RTS, IB_QPT_RC,
						   mask));
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IB_QPS_RTR;
	KUNIT_ASSERT_EQ(test, ib_cm_init_qp_attr(pair.server.id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, attr.dest_qp_num, pair.client.qpn);
	KUNIT_EXPECT_EQ(test, attr.rq_psn, 0x654321u);
}

static void nobody_listens(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "J"));
	KUNIT_EXPECT_EQ(test, pair.client.last.param.rej_rcvd.reason,
			IB_CM_REJ_INVALID_SERVICE_ID);
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_IDLE);
	/* The same id may try again. */
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "JP"));
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QU"));
}

static void the_server_rejects(struct kunit *test)
{
	pair.server.on_req = CM_REJECT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "J"));
	KUNIT_EXPECT_EQ(test, pair.server.call, 0);
	KUNIT_EXPECT_EQ(test, pair.client.last.param.rej_rcvd.reason,
			IB_CM_REJ_NO_RESOURCES);
	KUNIT_EXPECT_EQ(test, pair.client.last.param.rej_rcvd.ari_length, 4);
	KUNIT_EXPECT_STREQ(test, (char *)pair.client.private_data, "no");
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_IDLE);
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_IDLE);
}

static void the_servers_handler_fails(struct kunit *test)
{
	pair.server.on_req = CM_WAIT;
	pair.server.fail_on = 'Q';
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "J"));
	KUNIT_EXPECT_EQ(test, pair.client.last.param.rej_rcvd.reason,
			IB_CM_REJ_CONSUMER_DEFINED);
}

static void the_client_rejects_the_reply(struct kunit *test)
{
	int replies;

	pair.client.on_rep = CM_REJECT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "QJ"));
	KUNIT_EXPECT_EQ(test, pair.server.last.param.rej_rcvd.reason,
			IB_CM_REJ_NO_RESOURCES);
	KUNIT_EXPECT_EQ(test, pair.client.call, 0);
	replies = atomic_read(&pair.server.wire[IBCM_REP]);
	msleep(2000);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.wire[IBCM_REP]), replies);
}

static void the_server_gives_up_its_reply(struct kunit *test)
{
	pair.client.on_rep = CM_WAIT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "P"));
	KUNIT_EXPECT_EQ(test, ib_send_cm_rej(pair.server.id, IB_CM_REJ_UNSUPPORTED, NULL,
					     0, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "PJ"));
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_IDLE);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QT"));
}

/* The client waits for as long as the server asks it to, and sends its REQ meanwhile. */
static void an_mra_gains_time(struct kunit *test)
{
	pair.server.on_req = CM_MRA;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "M"));
	KUNIT_EXPECT_EQ(test, pair.server.call, 0);
	KUNIT_EXPECT_EQ(test, pair.client.last.param.mra_rcvd.service_timeout, 18);
	KUNIT_EXPECT_STREQ(test, (char *)pair.client.private_data, "later");
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_MRA_REQ_RCVD);
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_MRA_REQ_SENT);
	msleep(900);	/* the MRA requested 1074 ms */
	KUNIT_EXPECT_GE(test, atomic_read(&pair.client.wire[IBCM_REQ]), 2);
	KUNIT_EXPECT_LE(test, atomic_read(&pair.client.wire[IBCM_REQ]), 4);
	KUNIT_ASSERT_EQ(test, cm_reply(&pair.server), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "MP"));
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QU"));
}

static void an_mra_of_the_reply(struct kunit *test)
{
	pair.client.on_rep = CM_MRA;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "QM"));
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_MRA_REP_SENT);
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_MRA_REP_RCVD);
	msleep(900);
	KUNIT_ASSERT_EQ(test, ib_send_cm_rtu(pair.client.id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QMU"));
}

/* With IB_CM_MRA_FLAG_DELAY the MRA is sent only when the REQ is received again. */
static void a_delayed_mra(struct kunit *test)
{
	pair.server.on_req = CM_WAIT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "Q"));
	KUNIT_ASSERT_EQ(test, ib_send_cm_mra(pair.server.id, 18 | IB_CM_MRA_FLAG_DELAY,
					     NULL, 0), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.wire[IBCM_MRA]), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "M"));
	KUNIT_EXPECT_GE(test, atomic_read(&pair.client.wire[IBCM_REQ]), 2);
	KUNIT_ASSERT_EQ(test, cm_reply(&pair.server), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "MP"));
}

static void as_xrc(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	req->qp_type = IB_QPT_XRC_INI;
}

/*
 * An XRC target QP stays connected when the id that accepted it is destroyed, but not
 * if the RTU has not arrived yet.
 */
static void an_xrc_target_outlives_its_id(struct kunit *test)
{
	pair.tune_req = as_xrc;
	cm_connect(test, &pair);
	cm_drop_id(&pair.server);
	msleep(1000);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.wire[IBCM_DREQ]), 0);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "");
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_ESTABLISHED);
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "RT"));

	cm_drop_id(&pair.client);
	cm_forget(&pair.client);
	pair.client.hold = BIT(IBCM_RTU);
	pair.client.qpn++;
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "P"));
	cm_drop_id(&pair.server);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "PJ"));
}

struct notifier {
	struct hrtimer timer;
	struct timer_list soft;
	struct ib_cm_id *id;
	int ret;
	bool done;
};

static enum hrtimer_restart notify_in_hardirq(struct hrtimer *timer)
{
	struct notifier *n = container_of(timer, struct notifier, timer);

	n->ret = ib_cm_notify(n->id, IB_EVENT_COMM_EST);
	WRITE_ONCE(n->done, true);
	return HRTIMER_NORESTART;
}

static void notify_in_softirq(struct timer_list *timer)
{
	struct notifier *n = from_timer(n, timer, soft);

	n->ret = ib_cm_notify(n->id, IB_EVENT_COMM_EST);
	WRITE_ONCE(n->done, true);
}

static void without_an_rtu(struct kunit *test, int context)
{
	struct notifier *n = kunit_kzalloc(test, sizeof(*n), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, n);
	pair.client.hold = BIT(IBCM_RTU);
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "P"));
	n->id = pair.server.id;
	timer_setup(&n->soft, notify_in_softirq, 0);
	hrtimer_init(&n->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	n->timer.function = notify_in_hardirq;
	switch (context) {
	case 0:
		n->ret = ib_cm_notify(n->id, IB_EVENT_COMM_EST);
		n->done = true;
		break;
	case 1:
		mod_timer(&n->soft, jiffies + 1);
		break;
	case 2:
		hrtimer_start(&n->timer, ms_to_ktime(1), HRTIMER_MODE_REL_HARD);
		break;
	}
	for (i = 0; i < 100 && !READ_ONCE(n->done); i++)
		msleep(20);
	timer_delete_sync(&n->soft);
	hrtimer_cancel(&n->timer);
	KUNIT_EXPECT_TRUE(test, n->done);
	KUNIT_EXPECT_EQ(test, n->ret, 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QE"));
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, ib_cm_notify(pair.server.id, IB_EVENT_COMM_EST), -EISCONN);
	/* The RTU arrives late and causes no event. */
	pair.client.hold = 0;
	fake_hca_release_held(pair.client.hca);
	msleep(3000);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "QE");
	KUNIT_EXPECT_EQ(test, ib_cm_notify(pair.client.id, IB_EVENT_QP_FATAL), -EINVAL);
}

static void data_before_the_rtu_process(struct kunit *test)
{
	without_an_rtu(test, 0);
}

static void data_before_the_rtu_softirq(struct kunit *test)
{
	without_an_rtu(test, 1);
}

static void data_before_the_rtu_hardirq(struct kunit *test)
{
	without_an_rtu(test, 2);
}

static void both_release_at_once(struct kunit *test)
{
	cm_connect(test, &pair);
	pair.client.hold = BIT(IBCM_DREQ);
	pair.server.hold = BIT(IBCM_DREQ);
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.server.id, NULL, 0), 0);
	cm_quiesce(&pair);
	pair.client.hold = 0;
	pair.server.hold = 0;
	fake_hca_release_held(pair.client.hca);
	fake_hca_release_held(pair.server.hca);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "DT"));
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "DT"));
}

static void expect_refusals(struct kunit *test, struct ib_cm_id *id, const char *allowed)
{
	struct ib_cm_rep_param rep = { .qp_num = 1 };
	enum ib_cm_state state = id->state;

	if (!strchr(allowed, 'P'))
		KUNIT_EXPECT_EQ(test, ib_send_cm_rep(id, &rep), -EINVAL);
	if (!strchr(allowed, 'U'))
		KUNIT_EXPECT_EQ(test, ib_send_cm_rtu(id, NULL, 0), -EINVAL);
	if (!strchr(allowed, 'D'))
		KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(id, NULL, 0), -EINVAL);
	if (!strchr(allowed, 'R'))
		KUNIT_EXPECT_EQ(test, ib_send_cm_drep(id, NULL, 0), -EINVAL);
	if (!strchr(allowed, 'J'))
		KUNIT_EXPECT_EQ(test, ib_send_cm_rej(id, IB_CM_REJ_NO_QP, NULL, 0, NULL, 0),
				-EINVAL);
	if (!strchr(allowed, 'M'))
		KUNIT_EXPECT_EQ(test, ib_send_cm_mra(id, 10, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_cm_listen(id, cpu_to_be64(77)), -EINVAL);
	KUNIT_EXPECT_EQ(test, id->state, state);
}

/* A call that the state has no transition for fails and changes nothing. */
static void calls_in_the_wrong_state(struct kunit *test)
{
	pair.server.on_req = CM_WAIT;
	pair.client.on_rep = CM_WAIT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	expect_refusals(test, pair.server.listener, "");
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_EXPECT_EQ(test, cm_request(&pair), -EINVAL);
	/* No data can have arrived: no REP has been sent. */
	KUNIT_EXPECT_EQ(test, ib_cm_notify(pair.client.id, IB_EVENT_COMM_EST), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_cm_notify(pair.server.listener, IB_EVENT_COMM_EST), -EINVAL);
	expect_refusals(test, pair.client.id, "J");
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "Q"));
	expect_refusals(test, pair.server.id, "PJM");
	KUNIT_ASSERT_EQ(test, cm_reply(&pair.server), 0);
	expect_refusals(test, pair.server.id, "J");
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "P"));
	expect_refusals(test, pair.client.id, "UJM");
	KUNIT_ASSERT_EQ(test, ib_send_cm_rtu(pair.client.id, NULL, 0), 0);
	expect_refusals(test, pair.client.id, "D");
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "QU"));
	expect_refusals(test, pair.server.id, "D");
	pair.server.on_dreq = CM_WAIT;
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	expect_refusals(test, pair.client.id, "");
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "QUD"));
	expect_refusals(test, pair.server.id, "R");
	KUNIT_ASSERT_EQ(test, ib_send_cm_drep(pair.server.id, NULL, 0), 0);
	expect_refusals(test, pair.server.id, "");
}

static void too_much_private_data(struct kunit *test)
{
	static char data[255];
	struct ib_cm_rep_param rep = {
		.private_data = data, .private_data_len = IB_CM_REP_PRIVATE_DATA_SIZE + 1,
	};

	pair.server.on_req = CM_WAIT;
	pair.client.on_rep = CM_WAIT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "Q"));
	KUNIT_EXPECT_EQ(test, ib_send_cm_rep(pair.server.id, &rep), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_send_cm_mra(pair.server.id, 5, data,
					     IB_CM_MRA_PRIVATE_DATA_SIZE + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_send_cm_mra(pair.server.id, 5, NULL, 4), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_send_cm_rej(pair.server.id, 1, data,
					     IB_CM_REJ_ARI_LENGTH + 1, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_send_cm_rej(pair.server.id, 1, NULL, 0, data,
					     IB_CM_REJ_PRIVATE_DATA_SIZE + 1), -EINVAL);
	KUNIT_ASSERT_EQ(test, cm_reply(&pair.server), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "P"));
	KUNIT_EXPECT_EQ(test, ib_send_cm_rtu(pair.client.id, data,
					     IB_CM_RTU_PRIVATE_DATA_SIZE + 1), -EINVAL);
	KUNIT_ASSERT_EQ(test, ib_send_cm_rtu(pair.client.id, data,
					     IB_CM_RTU_PRIVATE_DATA_SIZE), 0);
	KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(pair.client.id, data,
					      IB_CM_DREQ_PRIVATE_DATA_SIZE + 1), -EINVAL);
}

static void listeners(struct kunit *test)
{
	struct ib_device *ibdev = &pair.server.hca->ibdev;
	struct ib_cm_id *one, *two, *three;

	one = ib_cm_insert_listen(ibdev, cm_handler, TEST_SERVICE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(one));
	two = ib_cm_insert_listen(ibdev, cm_handler, TEST_SERVICE);
	KUNIT_EXPECT_PTR_EQ(test, one, two);
	three = ib_create_cm_id(ibdev, cm_handler, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(three));
	KUNIT_EXPECT_EQ(test, ib_cm_listen(three, TEST_SERVICE), -EBUSY);
	KUNIT_EXPECT_EQ(test, three->state, IB_CM_IDLE);
	KUNIT_EXPECT_EQ(test, ib_cm_listen(three, cpu_to_be64(0x0200000000000077ULL)),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ib_cm_listen(three, IB_CM_ASSIGN_SERVICE_ID), 0);
	KUNIT_EXPECT_EQ(test, three->state, IB_CM_LISTEN);
	KUNIT_EXPECT_NE(test, be64_to_cpu(three->service_id),
			be64_to_cpu(IB_CM_ASSIGN_SERVICE_ID));
	ib_destroy_cm_id(one);
	/* The listener is shared: the second reference keeps it. */
	KUNIT_EXPECT_EQ(test, two->state, IB_CM_LISTEN);
	ib_destroy_cm_id(two);
	ib_destroy_cm_id(three);
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
}

static struct kunit_case connect_cases[] = {
	KUNIT_CASE(both_sides_agree),
	KUNIT_CASE(qp_attributes),
	KUNIT_CASE(nobody_listens),
	KUNIT_CASE(the_server_rejects),
	KUNIT_CASE(the_servers_handler_fails),
	KUNIT_CASE(the_client_rejects_the_reply),
	KUNIT_CASE(the_server_gives_up_its_reply),
	KUNIT_CASE(an_mra_gains_time),
	KUNIT_CASE(an_mra_of_the_reply),
	KUNIT_CASE(a_delayed_mra),
	KUNIT_CASE(an_xrc_target_outlives_its_id),
	KUNIT_CASE(data_before_the_rtu_process),
	KUNIT_CASE(data_before_the_rtu_softirq),
	KUNIT_CASE(data_before_the_rtu_hardirq),
	KUNIT_CASE(both_release_at_once),
	KUNIT_CASE(calls_in_the_wrong_state),
	KUNIT_CASE(too_much_private_data),
	KUNIT_CASE(listeners),
	{}
};

static struct kunit_suite ibcm_connect_suite = {
	.name = "ib_cm_connect",
	.init = connect_test_init,
	.exit = connect_test_exit,
	.test_cases = connect_cases,
};

kunit_test_suite(ibcm_connect_suite);
