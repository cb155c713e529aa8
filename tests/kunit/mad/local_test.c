// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The adapter's own agents: behind the wire, behind the local SM, on a switch. */
#include "faults.h"
#include "mad_test.h"

#define UNKNOWN_CLASS	0x0c

/* A node and its neighbour, whose LID is where everything comes from and goes. */
static struct fake_hca *hca, *peer;
static struct ib_mad_agent *sm, *sma;	/* on the node's QP0: sends; answers */
static struct ib_ah *ah;

/* What process_mad is to make of a MAD, and what it was given. */
static struct {
	atomic_t calls;
	int result;
	u16 status;			/* of its reply, host order */
	size_t len;			/* of its reply; 0: as it was told */
	int fail_nth;			/* allocation of what follows */
	u32 port;
	struct ib_wc wc;
	u8 method;
} agent;

/* What left the node. */
static struct {
	atomic_t packets;
	u32 port, dst_qpn, len;
	u16 dlid;
	struct ib_smp smp;
} wire;

/* What the SM's handlers, and the software SMA's, saw. */
static struct {
	atomic_t sent, received, requests;
	enum ib_wc_status status;
	struct ib_smp smp;
	u32 mad_len;
	char order[8];
	int events;
} seen;

static int test_process_mad(struct fake_hca *at, u32 port, const struct ib_wc *wc,
			    const struct ib_mad *in, struct ib_mad *out,
			    size_t *out_len)
{
	agent.port = port;
	agent.wc = *wc;
	agent.method = in->mad_hdr.method;
	if (agent.result & IB_MAD_RESULT_REPLY) {
		*out = *in;
		out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
		out->mad_hdr.status = cpu_to_be16(agent.status);
		if (in->mad_hdr.mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
			out->mad_hdr.status |= IB_SMP_DIRECTION;
		((struct ib_smp *)out)->data[0] = 0xd0;
		if (agent.len)
			*out_len = agent.len;
	}
	current->fail_nth = agent.fail_nth;
	atomic_inc(&agent.calls);
	return agent.result;
}

static enum fake_hca_verdict test_verdict(struct fake_hca *from,
					  struct fake_hca_packet *packet, void *arg)
{
	current->fail_nth = 0;
	wire.port = packet->port;
	wire.dst_qpn = packet->dst_qpn;
	wire.dlid = packet->dlid;
	wire.len = packet->len;
	memcpy(&wire.smp, packet->data, sizeof(wire.smp));
	atomic_inc(&wire.packets);
	return FAKE_DROP;
}

static void note(char c)
{
	if (seen.events < (int)sizeof(seen.order) - 1)
		seen.order[seen.events++] = c;
}

static void sm_sent(struct ib_mad_agent *mad_agent, struct ib_mad_send_wc *wc)
{
	note('S');
	seen.status = wc->status;
	ib_free_send_mad(wc->send_buf);
	atomic_inc(&seen.sent);
}

static void sm_received(struct ib_mad_agent *mad_agent, struct ib_mad_send_buf *buf,
			struct ib_mad_recv_wc *wc)
{
	note('R');
	memcpy(&seen.smp, wc->recv_buf.mad, sizeof(seen.smp));
	seen.mad_len = wc->mad_len;
	ib_free_recv_mad(wc);
	atomic_inc(&seen.received);
}

static void sma_sent(struct ib_mad_agent *mad_agent, struct ib_mad_send_wc *wc)
{
	ib_free_send_mad(wc->send_buf);
}

/* An SMA in software: answers what the adapter leaves to it. */
static void sma_received(struct ib_mad_agent *mad_agent, struct ib_mad_send_buf *buf,
			 struct ib_mad_recv_wc *wc)
{
	struct ib_mad_send_buf *answer;
	struct ib_smp *smp;

	answer = ib_create_send_mad(mad_agent, 0, 0, 0, IB_MGMT_MAD_HDR,
				    IB_MGMT_MAD_DATA, GFP_KERNEL, IB_MGMT_BASE_VERSION);
	if (!IS_ERR(answer)) {
		smp = answer->mad;
		memcpy(smp, wc->recv_buf.mad, sizeof(*smp));
		smp->method = IB_MGMT_METHOD_GET_RESP;
		smp->status = IB_SMP_DIRECTION;
		smp->data[0] = 0x5a;
		answer->ah = ah;
		if (ib_post_send_mad(answer, NULL))
			ib_free_send_mad(answer);
	}
	ib_free_recv_mad(wc);
	atomic_inc(&seen.requests);
}

static int local_init(bool has_sma, bool is_switch)
{
	const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
		.sma = has_sma, .is_switch = is_switch,
		.ports = is_switch ? 2 : 1,
	};
	const struct fake_hca_params peer_params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
	};
	u32 port = !is_switch;

	memset(&agent, 0, sizeof(agent));
	memset(&wire, 0, sizeof(wire));
	memset(&seen, 0, sizeof(seen));
	hca = fake_hca_create(&params);
	peer = fake_hca_create(&peer_params);
	if (!hca || !peer)
		return -ENOMEM;
	hca->process_mad = test_process_mad;
	hca->verdict = test_verdict;
	sm = ib_register_mad_agent(&hca->ibdev, port, IB_QPT_SMI, NULL, 0, sm_sent,
				   sm_received, NULL, 0);
	if (IS_ERR(sm))
		return PTR_ERR(sm);
	ah = mad_path(sm, peer);
	return PTR_ERR_OR_ZERO(ah);
}

static int local_test_init(struct kunit *test)
{
	return local_init(true, false);
}

static void local_test_exit(struct kunit *test)
{
	/* What was to fail and did not come must not hit another. */
	ibex_workers_disarm();
	if (!IS_ERR_OR_NULL(sma))
		ib_unregister_mad_agent(sma);
	if (!IS_ERR_OR_NULL(sm))
		ib_unregister_mad_agent(sm);
	if (!IS_ERR_OR_NULL(ah))
		rdma_destroy_ah(ah, 0);
	if (hca)
		fake_hca_destroy(hca);
	if (peer)
		fake_hca_destroy(peer);
	sm = NULL;
	sma = NULL;
	ah = NULL;
	hca = NULL;
	peer = NULL;
}

static int restart(bool has_sma, bool is_switch)
{
	local_test_exit(NULL);
	return local_init(has_sma, is_switch);
}

static void start_sma(struct kunit *test, u8 mgmt_class)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = mgmt_class, .mgmt_class_version = 1,
	};

	set_bit(IB_MGMT_METHOD_GET, req.method_mask);
	sma = ib_register_mad_agent(&hca->ibdev, 1, IB_QPT_SMI, &req, 0, sma_sent,
				    sma_received, NULL, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(sma));
}

static struct ib_smp route(u8 hop_cnt, u8 hop_ptr)
{
	struct ib_smp smp = {
		.base_version = IB_MGMT_BASE_VERSION,
		.mgmt_class = IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE,
		.class_version = 1,
		.method = IB_MGMT_METHOD_GET,
		.hop_cnt = hop_cnt,
		.hop_ptr = hop_ptr,
		.dr_slid = IB_LID_PERMISSIVE,
		.dr_dlid = IB_LID_PERMISSIVE,
		.initial_path = { 0, 1, 2, 1 },
		.return_path = { 0, 1, 2, 1 },
	};

	return smp;
}

/* Sends @smp from the local SM. */
static struct ib_mad_send_buf *smp_from_sm(const struct ib_smp *smp, u32 timeout_ms)
{
	static u32 serial;
	struct ib_mad_send_buf *buf;

	buf = ib_create_send_mad(sm, 0, 0, 0, IB_MGMT_MAD_HDR, IB_MGMT_MAD_DATA,
				 GFP_KERNEL, IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf))
		return buf;
	memcpy(buf->mad, smp, sizeof(*smp));
	((struct ib_smp *)buf->mad)->tid =
		cpu_to_be64((u64)sm->hi_tid << 32 | ++serial);
	buf->ah = ah;
	buf->timeout_ms = timeout_ms;
	return buf;
}

static int post_from_sm(const struct ib_smp *smp, u32 timeout_ms)
{
	struct ib_mad_send_buf *buf = smp_from_sm(smp, timeout_ms);
	int ret;

	if (IS_ERR(buf))
		return PTR_ERR(buf);
	ret = ib_post_send_mad(buf, NULL);
	if (ret)
		ib_free_send_mad(buf);
	return ret;
}

/* Puts @smp on the node's QP as if its neighbour had sent it. */
static void from_wire(const void *smp, u32 qpn, u32 port)
{
	struct fake_hca_packet like = {
		.src_qpn = qpn, .slid = peer->port[1].lid, .port = port,
	};

	fake_hca_inject(hca, qpn, &like, smp, IB_MGMT_MAD_SIZE);
}

static void settle(void)
{
	int i;

	for (i = 0; i < 5; i++) {
		fake_hca_flush(hca);
		msleep(20);
	}
}

static u64 counter(enum ibmad_counter c)
{
	struct mad_side side = { .agent = sm };

	return mad_counter(&side, c);
}

static void a_local_smp_is_answered_by_the_adapter(struct kunit *test)
{
	struct ib_smp smp = route(0, 0);

	agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	KUNIT_ASSERT_EQ(test, post_from_sm(&smp, 1000), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&seen.sent, 1));
	KUNIT_EXPECT_EQ(test, seen.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_STREQ(test, seen.order, "RS");
	KUNIT_EXPECT_EQ(test, seen.smp.data[0], 0xd0);
	KUNIT_EXPECT_EQ(test, seen.smp.hop_ptr, 0);
	KUNIT_EXPECT_EQ(test, seen.mad_len, 256u);
	/* As if the wire had brought it. */
	KUNIT_EXPECT_EQ(test, agent.port, 1u);
	KUNIT_EXPECT_EQ(test, agent.wc.slid, 0xffffu);
	KUNIT_EXPECT_EQ(test, agent.wc.src_qp, 0u);
	KUNIT_EXPECT_EQ(test, agent.wc.byte_len, 296u);
	KUNIT_EXPECT_PTR_EQ(test, agent.wc.qp, sm->qp);
	KUNIT_EXPECT_EQ(test, atomic_read(&wire.packets), 0);
}

/* Several at once: each is answered, in the order they were sent. */
static void local_smps_keep_their_order(struct kunit *test)
{
	struct ib_smp smp = route(0, 0);
	struct ib_mad_send_buf *buf[3];
	int i;

	agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	for (i = 0; i < 3; i++) {
		buf[i] = smp_from_sm(&smp, 1000);
		KUNIT_ASSERT_FALSE(test, IS_ERR(buf[i]));
	}
	buf[0]->next = buf[1];
	buf[1]->next = buf[2];
	smp = *(struct ib_smp *)buf[2]->mad;
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf[0], NULL), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&seen.sent, 3));
	KUNIT_EXPECT_STREQ(test, seen.order, "RSRSRS");
	KUNIT_EXPECT_EQ(test, seen.smp.tid, smp.tid);
}

static void a_local_smp_that_nobody_answers(struct kunit *test)
{
	static const int results[] = {
		IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED,
		IB_MAD_RESULT_FAILURE, IB_MAD_RESULT_SUCCESS,
	};
	struct ib_smp smp = route(0, 0);
	int i;

	for (i = 0; i < ARRAY_SIZE(results); i++) {
		agent.result = results[i];
		KUNIT_ASSERT_EQ(test, post_from_sm(&smp, 200), 0);
		KUNIT_ASSERT_TRUE(test, mad_wait(&seen.sent, 2 * i + 1));
		KUNIT_EXPECT_EQ(test, seen.status, IB_WC_RESP_TIMEOUT_ERR);
		KUNIT_ASSERT_EQ(test, post_from_sm(&smp, 0), 0);
		KUNIT_ASSERT_TRUE(test, mad_wait(&seen.sent, 2 * i + 2));
		KUNIT_EXPECT_EQ(test, seen.status, IB_WC_SUCCESS);
	}
	/* A reply longer than a MAD, or shorter than its header, is none. */
	agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	agent.len = 300;
	KUNIT_ASSERT_EQ(test, post_from_sm(&smp, 200), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&seen.sent, 7));
	KUNIT_EXPECT_EQ(test, seen.status, IB_WC_RESP_TIMEOUT_ERR);
	agent.len = 20;
	KUNIT_ASSERT_EQ(test, post_from_sm(&smp, 200), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&seen.sent, 8));
	KUNIT_EXPECT_EQ(test, seen.status, IB_WC_RESP_TIMEOUT_ERR);
	KUNIT_EXPECT_EQ(test, atomic_read(&seen.received), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&wire.packets), 0);
}

static void expect_software_answer(struct kunit *test)
{
	struct ib_smp smp = route(0, 0);

	start_sma(test, IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE);
	agent.result = IB_MAD_RESULT_SUCCESS;
	KUNIT_ASSERT_EQ(test, post_from_sm(&smp, 1000), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&seen.sent, 1));
	KUNIT_EXPECT_EQ(test, seen.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_STREQ(test, seen.order, "RS");
	KUNIT_EXPECT_EQ(test, seen.smp.data[0], 0x5a);
	KUNIT_EXPECT_EQ(test, seen.smp.hop_ptr, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&seen.requests), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&wire.packets), 0);
}

static void what_the_adapter_leaves_goes_to_an_agent(struct kunit *test)
{
	expect_software_answer(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&agent.calls), 1);
}

static void an_adapter_without_agents(struct kunit *test)
{
	struct ib_smp smp = route(1, 1);

	KUNIT_ASSERT_EQ(test, restart(false, false), 0);
	expect_software_answer(test);
	/* From the wire too. */
	from_wire(&smp, 0, 1);
	KUNIT_EXPECT_TRUE(test, mad_wait(&seen.requests, 2));
	KUNIT_EXPECT_TRUE(test, mad_wait(&wire.packets, 1));
	KUNIT_EXPECT_EQ(test, wire.smp.hop_ptr, 1);
	KUNIT_EXPECT_EQ(test, wire.smp.data[0], 0x5a);
}

static void routes_that_leave_the_node(struct kunit *test)
{
	struct ib_smp smp = route(1, 0);

	KUNIT_ASSERT_EQ(test, post_from_sm(&smp, 0), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&wire.packets, 1));
	KUNIT_EXPECT_EQ(test, wire.smp.hop_ptr, 1);
	KUNIT_EXPECT_EQ(test, wire.dst_qpn, 0u);
	/* Nowhere: the client is told, and has its buffer back. */
	smp.initial_path[1] = 2;
	KUNIT_EXPECT_EQ(test, post_from_sm(&smp, 100), -EINVAL);
	smp = route(1, 3);
	KUNIT_EXPECT_EQ(test, post_from_sm(&smp, 100), -EINVAL);
	KUNIT_EXPECT_EQ(test, atomic_read(&agent.calls), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&seen.sent, 1));
}

static void an_smp_from_the_wire_is_answered(struct kunit *test)
{
	struct ib_smp smp = route(1, 1);

	agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	from_wire(&smp, 0, 1);
	KUNIT_ASSERT_TRUE(test, mad_wait(&wire.packets, 1));
	KUNIT_EXPECT_EQ(test, agent.port, 1u);
	KUNIT_EXPECT_EQ(test, wire.smp.method, IB_MGMT_METHOD_GET_RESP);
	KUNIT_EXPECT_EQ(test, wire.smp.data[0], 0xd0);
	KUNIT_EXPECT_EQ(test, wire.smp.hop_ptr, 1);
	KUNIT_EXPECT_EQ(test, wire.smp.return_path[1], 1);
	KUNIT_EXPECT_EQ(test, wire.dst_qpn, 0u);
	KUNIT_EXPECT_EQ(test, wire.dlid, peer->port[1].lid);
	/* LID routed */
	smp.mgmt_class = IB_MGMT_CLASS_SUBN_LID_ROUTED;
	smp.hop_cnt = 0;
	smp.hop_ptr = 0;
	from_wire(&smp, 0, 1);
	KUNIT_ASSERT_TRUE(test, mad_wait(&wire.packets, 2));
	KUNIT_EXPECT_EQ(test, wire.smp.mgmt_class, IB_MGMT_CLASS_SUBN_LID_ROUTED);
	KUNIT_EXPECT_EQ(test, counter(IBMAD_RECV_PROVIDER), 2);
	KUNIT_EXPECT_EQ(test, counter(IBMAD_RECV_REPLIED), 2);
	/* Consumed: no reply, and nobody else gets it. */
	start_sma(test, IB_MGMT_CLASS_SUBN_LID_ROUTED);
	agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED |
		       IB_MAD_RESULT_REPLY;
	from_wire(&smp, 0, 1);
	settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&agent.calls), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&wire.packets), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&seen.requests), 0);
	KUNIT_EXPECT_EQ(test, counter(IBMAD_RECV_PROVIDER), 3);
	/* Failed: left to whoever registered. */
	agent.result = IB_MAD_RESULT_FAILURE | IB_MAD_RESULT_REPLY;
	from_wire(&smp, 0, 1);
	KUNIT_EXPECT_TRUE(test, mad_wait(&seen.requests, 1));
	/* The reply's address handle, and the software agent's own, are gone. */
	settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_AH]), 2);
}

static void an_smp_that_is_not_for_this_node(struct kunit *test)
{
	struct ib_smp smp = route(2, 1);

	agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	from_wire(&smp, 0, 1);
	smp = route(1, 0);
	from_wire(&smp, 0, 1);
	smp = route(1, 2);
	smp.status = IB_SMP_DIRECTION;
	from_wire(&smp, 0, 1);
	settle();
	KUNIT_EXPECT_EQ(test, counter(IBMAD_RECV_SMI_DROPPED), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&agent.calls), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&wire.packets), 0);
}

/* An answer to the local SM goes by the adapter's agents, to whom it means nothing. */
static void an_answer_to_the_local_sm(struct kunit *test)
{
	struct ib_smp smp = route(1, 0);
	struct ib_smp answer;

	agent.result = IB_MAD_RESULT_SUCCESS;
	KUNIT_ASSERT_EQ(test, post_from_sm(&smp, 10000), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&wire.packets, 1));
	answer = wire.smp;
	answer.method = IB_MGMT_METHOD_GET_RESP;
	answer.status = IB_SMP_DIRECTION;
	from_wire(&answer, 0, 1);
	KUNIT_ASSERT_TRUE(test, mad_wait(&seen.sent, 1));
	KUNIT_EXPECT_STREQ(test, seen.order, "RS");
	KUNIT_EXPECT_EQ(test, seen.smp.hop_ptr, 0);
}

/* IBA volume 1, 13.4.7: status 3 in bits 2 to 4 of what nobody supports. */
static void requests_nobody_takes(struct kunit *test)
{
	struct ib_smp smp = route(1, 1);
	int i;

	agent.result = IB_MAD_RESULT_SUCCESS;
	from_wire(&smp, 0, 1);
	KUNIT_ASSERT_TRUE(test, mad_wait(&wire.packets, 1));
	KUNIT_EXPECT_EQ(test, wire.smp.method, IB_MGMT_METHOD_GET_RESP);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(wire.smp.status), 0x800c);
	KUNIT_EXPECT_EQ(test, wire.smp.hop_ptr, 1);
	smp.mgmt_class = UNKNOWN_CLASS;
	smp.method = IB_MGMT_METHOD_SET;
	from_wire(&smp, 1, 1);
	KUNIT_ASSERT_TRUE(test, mad_wait(&wire.packets, 2));
	KUNIT_EXPECT_EQ(test, be16_to_cpu(wire.smp.status), 0x000c);
	KUNIT_EXPECT_EQ(test, wire.dst_qpn, 1u);
	KUNIT_EXPECT_EQ(test, counter(IBMAD_RECV_REPLIED), 2);
	/* What asks for no answer gets none; nor does an answer. */
	for (i = 0; i < 256; i++) {
		smp.method = i;
		if (i != IB_MGMT_METHOD_GET && i != IB_MGMT_METHOD_SET)
			from_wire(&smp, 1, 1);
		if (i % 16 == 0)
			settle();
	}
	settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&wire.packets), 2);
}

/* Replies need an address handle, a buffer, a work request: all may be lacking. */
static void replies_survive_failures(struct kunit *test)
{
	struct ib_smp smp = route(1, 1);
	int n, packets;

	agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	atomic_set(&hca->fail_create[FAKE_AH], 1);
	from_wire(&smp, 0, 1);
	settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&wire.packets), 0);
	atomic_set(&hca->fail_post_send, 1);
	from_wire(&smp, 0, 1);
	settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&wire.packets), 0);
	KUNIT_EXPECT_EQ(test, counter(IBMAD_RECV_PROVIDER), 2);
	KUNIT_EXPECT_EQ(test, counter(IBMAD_RECV_REPLIED), 0);
	for (n = 1; n < 8; n++) {
		agent.fail_nth = n;
		from_wire(&smp, 0, 1);
		settle();
	}
	packets = atomic_read(&wire.packets);
	KUNIT_EXPECT_GE(test, packets, 1);
	KUNIT_EXPECT_LE(test, packets, 4);
	/* The same where nobody takes the request. */
	agent.result = IB_MAD_RESULT_SUCCESS;
	for (n = 1; n < 8; n++) {
		agent.fail_nth = n;
		from_wire(&smp, 0, 1);
		settle();
	}
	KUNIT_EXPECT_GT(test, atomic_read(&wire.packets), packets);
	KUNIT_EXPECT_LE(test, atomic_read(&wire.packets), packets + 4);
	agent.fail_nth = 0;
	packets = atomic_read(&wire.packets);
	from_wire(&smp, 0, 1);
	KUNIT_EXPECT_TRUE(test, mad_wait(&wire.packets, packets + 1));
	settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_AH]), 2);
}

/* Without a buffer to answer in, a local SMP fails; the next does not. */
static void a_local_smp_without_memory(struct kunit *test)
{
	struct ib_smp smp = route(0, 0);
	struct ib_mad_send_buf *one = smp_from_sm(&smp, 100);
	struct ib_mad_send_buf *two = smp_from_sm(&smp, 100);

	KUNIT_ASSERT_FALSE(test, IS_ERR(one) || IS_ERR(two));
	agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;
	/* One work item runs both: what the first sets hits the second. */
	agent.fail_nth = 1;
	one->next = two;
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(one, NULL), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&seen.sent, 2));
	KUNIT_EXPECT_LE(test, atomic_read(&agent.calls), 2);
	agent.fail_nth = 0;
	agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	KUNIT_ASSERT_EQ(test, post_from_sm(&smp, 1000), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&seen.sent, 3));
	KUNIT_EXPECT_EQ(test, seen.status, IB_WC_SUCCESS);
}

static void a_switch_forwards(struct kunit *test)
{
	struct ib_smp smp = route(3, 1);

	KUNIT_ASSERT_EQ(test, restart(true, true), 0);
	agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	/* In by port 1, out by 2; back in by 2, out by 1. */
	from_wire(&smp, 0, 1);
	KUNIT_ASSERT_TRUE(test, mad_wait(&wire.packets, 1));
	KUNIT_EXPECT_EQ(test, wire.port, 2u);
	KUNIT_EXPECT_EQ(test, wire.smp.hop_ptr, 2);
	KUNIT_EXPECT_EQ(test, wire.smp.return_path[1], 1);
	KUNIT_EXPECT_EQ(test, wire.smp.method, IB_MGMT_METHOD_GET);
	smp = wire.smp;
	smp.status = IB_SMP_DIRECTION;
	smp.method = IB_MGMT_METHOD_GET_RESP;
	from_wire(&smp, 0, 2);
	KUNIT_ASSERT_TRUE(test, mad_wait(&wire.packets, 2));
	KUNIT_EXPECT_EQ(test, wire.port, 1u);
	KUNIT_EXPECT_EQ(test, wire.smp.hop_ptr, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&agent.calls), 0);
	KUNIT_EXPECT_EQ(test, counter(IBMAD_RECV_FORWARDED), 2);
	/* What ends here is answered, by the port it came in on. */
	smp = route(1, 1);
	from_wire(&smp, 0, 2);
	KUNIT_ASSERT_TRUE(test, mad_wait(&wire.packets, 3));
	KUNIT_EXPECT_EQ(test, agent.port, 2u);
	KUNIT_EXPECT_EQ(test, wire.smp.return_path[1], 2);
	KUNIT_EXPECT_EQ(test, wire.port, 2u);
	/* Without the means to forward it is dropped, and that is counted. */
	atomic_set(&hca->fail_create[FAKE_AH], 1);
	smp = route(3, 1);
	from_wire(&smp, 0, 1);
	settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&wire.packets), 3);
	KUNIT_EXPECT_EQ(test, counter(IBMAD_RECV_SMI_DROPPED), 1);
}

static struct kunit_case local_cases[] = {
	KUNIT_CASE(a_local_smp_is_answered_by_the_adapter),
	KUNIT_CASE(local_smps_keep_their_order),
	KUNIT_CASE(a_local_smp_that_nobody_answers),
	KUNIT_CASE(what_the_adapter_leaves_goes_to_an_agent),
	KUNIT_CASE(an_adapter_without_agents),
	KUNIT_CASE(routes_that_leave_the_node),
	KUNIT_CASE(an_smp_from_the_wire_is_answered),
	KUNIT_CASE(an_smp_that_is_not_for_this_node),
	KUNIT_CASE(an_answer_to_the_local_sm),
	KUNIT_CASE(requests_nobody_takes),
	KUNIT_CASE(replies_survive_failures),
	KUNIT_CASE(a_local_smp_without_memory),
	KUNIT_CASE(a_switch_forwards),
	{}
};

struct kunit_suite ibmad_local_suite = {
	.name = "ib_mad_local",
	.init = local_test_init,
	.exit = local_test_exit,
	.test_cases = local_cases,
};
