// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Defects that MAD layers have had, with a case for each, named after the defect.
 * Others are tested elsewhere: umad's list (umad/recv_test.c), the GID of an address
 * handle whose creation fails (core/verbs/ah_test.c).
 */
#include <linux/kthread.h>
#include "mad/sa/fake_sa.h"
#include "ls_daemon.h"
#include "mad/rmpp/rmpp_peer.h"
#include "wait.h"

#define INBOX		(8 * 512)	/* 8 * ib_mad.recv_queue_size */
#define RECV_DEPTH	512

static struct mad_pair pair;

static int regress_test_init(struct kunit *test)
{
	return mad_pair_init(test, &pair, IB_LINK_LAYER_INFINIBAND);
}

static void regress_test_exit(struct kunit *test)
{
	mad_pair_exit(&pair);
}

static void inject_len(struct mad_side *at, u8 method, u32 len)
{
	struct fake_hca_packet like = { .src_qpn = 1, .slid = 0x700 };
	u8 mad[IB_MGMT_MAD_SIZE + 8] = {};
	struct ib_mad_hdr *hdr = (void *)mad;

	hdr->base_version = IB_MGMT_BASE_VERSION;
	hdr->mgmt_class = TEST_CLASS;
	hdr->class_version = 1;
	hdr->method = method;
	fake_hca_inject(at->hca, 1, &like, mad, len);
}

static void inject(struct mad_side *at, u8 method)
{
	inject_len(at, method, IB_MGMT_MAD_SIZE);
}

/* ---- an agent that is destroyed under a callback ---- */

static struct {
	struct completion entered, leave;
	bool posts;			/* tries to post before it returns */
	int post_error;
	atomic_t inside, calls;
} slow;

static void slow_received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
			  struct ib_mad_recv_wc *wc)
{
	struct ib_mad_send_buf *reply = NULL;

	atomic_inc(&slow.inside);
	atomic_inc(&slow.calls);
	complete_all(&slow.entered);
	wait_for_completion(&slow.leave);
	/* The agent is still valid, but accepts no new sends. */
	if (slow.posts)
		reply = mad_reply_new(agent, wc, IB_MGMT_MAD_HDR);
	if (reply) {
		slow.post_error = ib_post_send_mad(reply, NULL);
		rdma_destroy_ah(reply->ah, RDMA_DESTROY_AH_SLEEPABLE);
		ib_free_send_mad(reply);
	}
	ib_free_recv_mad(wc);
	atomic_dec(&slow.inside);
}

struct ending {
	struct task_struct *thread;
	struct completion done;
	struct ib_mad_agent *agent;
	struct fake_hca *hca;		/* to be removed instead of the agent */
};

static int end_thread(void *arg)
{
	struct ending *ending = arg;

	if (ending->hca)
		fake_hca_destroy(ending->hca);
	else
		ib_unregister_mad_agent(ending->agent);
	complete_all(&ending->done);
	return 0;
}

static void end_start(struct kunit *test, struct ending *ending)
{
	init_completion(&ending->done);
	ending->thread = kthread_create(end_thread, ending, "end");
	KUNIT_ASSERT_FALSE(test, IS_ERR(ending->thread));
	get_task_struct(ending->thread);
	wake_up_process(ending->thread);
}

static void end_wait(struct kunit *test, struct ending *ending)
{
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&ending->done, HZ * 30), 0);
	kthread_stop_put(ending->thread);
}

/* An agent on the server's port whose receive handler was called and does not return. */
static struct ib_mad_agent *agent_in_callback(struct kunit *test)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = TEST_CLASS, .mgmt_class_version = 1,
	};
	struct ib_mad_agent *agent;

	memset(&slow, 0, sizeof(slow));
	init_completion(&slow.entered);
	init_completion(&slow.leave);
	set_bit(IB_MGMT_METHOD_SET, req.method_mask);
	agent = ib_register_mad_agent(&pair.server.hca->ibdev, 1, IB_QPT_GSI, &req, 0,
				      mad_sent, slow_received, NULL, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(agent));
	inject(&pair.server, IB_MGMT_METHOD_SET);
	inject(&pair.server, IB_MGMT_METHOD_SET);
	KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&slow.entered, HZ), 0);
	return agent;
}

/* Defect 17: deregistration waits for the callback, in which the agent is still valid. */
static void agent_destroyed_under_a_callback(struct kunit *test)
{
	struct ending ending = { .agent = agent_in_callback(test) };

	slow.posts = true;
	end_start(test, &ending);
	msleep(1000);
	KUNIT_EXPECT_FALSE(test, completion_done(&ending.done));
	KUNIT_EXPECT_EQ(test, atomic_read(&slow.inside), 1);
	/* MADs from before the deregistration are delivered, later ones are not. */
	inject(&pair.server, IB_MGMT_METHOD_SET);
	complete_all(&slow.leave);
	end_wait(test, &ending);
	KUNIT_EXPECT_EQ(test, atomic_read(&slow.inside), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&slow.calls), 2);
	KUNIT_EXPECT_EQ(test, slow.post_error, -ESHUTDOWN);
	inject(&pair.server, IB_MGMT_METHOD_SET);
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, atomic_read(&slow.calls), 2);
}

/*
 * Defect 17, deregistered by the client and by the end of the port at the
 * same time: one of them does it, both wait for it.
 */
static void agent_destroyed_by_two(struct kunit *test)
{
	struct ending first = {}, second = {};
	int i;

	for (i = 0; i < 2; i++) {
		first = (struct ending){ .agent = agent_in_callback(test) };
		second = (struct ending){ .agent = first.agent };
		ib_unregister_mad_agent(pair.server.agent);
		pair.server.agent = NULL;
		if (i)
			first.hca = pair.server.hca;
		else
			second.hca = pair.server.hca;
		end_start(test, &first);
		msleep(100);
		end_start(test, &second);
		msleep(1000);
		KUNIT_EXPECT_FALSE(test, completion_done(&first.done));
		KUNIT_EXPECT_FALSE(test, completion_done(&second.done));
		complete_all(&slow.leave);
		end_wait(test, &first);
		end_wait(test, &second);
		KUNIT_EXPECT_EQ(test, atomic_read(&slow.inside), 0);
		pair.server.hca = NULL;
		mad_pair_exit(&pair);
		KUNIT_ASSERT_EQ(test, regress_test_init(test), 0);
	}
}

/* ---- RMPP ---- */

/* Defect 18: first, middle and last segments of responses that no request waits for. */
static void unmatched_rmpp_responses_are_not_reassembled(struct kunit *test)
{
	static const struct peer_mad segments[] = {
		{ .seg = 1, .flags = FIRST }, { .seg = 2 }, { .seg = 9, .flags = LAST },
		{ .seg = 1, .flags = FIRST | LAST },
	};
	struct peer_mad mad;
	int i, handles;

	KUNIT_ASSERT_EQ(test, peer_test_init(test), 0);
	handles = atomic_read(&peer_hca->alive[FAKE_AH]);
	for (i = 0; i < ARRAY_SIZE(segments); i++) {
		mad = segments[i];
		mad.method = IB_MGMT_METHOD_GET_RESP;
		mad.whole_tid = (u64)peer_agent->hi_tid << 32 | 0xbad;
		mad.paylen_newwin = PEER_CLASS_LEN + 8;
		peer_send(&mad);
		KUNIT_EXPECT_EQ_MSG(test, peer_reassemblies(), 0u, "segment %d", i);
	}
	/* Likewise after the request has been cancelled. */
	KUNIT_ASSERT_EQ(test, peer_post(IB_MGMT_METHOD_GET, 0, 100, 200, 0), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&peer_client.sent, 1));
	mad.whole_tid = peer_seen.tid;
	peer_send(&mad);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 0u);
	KUNIT_EXPECT_EQ(test, peer_bytes(), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.acks), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_hca->alive[FAKE_AH]), handles);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RMPP_DROPPED), ARRAY_SIZE(segments) + 1);
	peer_test_exit(test);
}

/* ---- receiving ---- */

/* Defect 19: any number of receives end in error while the QP recovers repeatedly. */
static void receives_posted_beyond_the_free_slots(struct kunit *test)
{
	static const enum ib_qp_state states[] = { IB_QPS_ERR, IB_QPS_SQE };
	/* Where a RESET is not enough, recovering makes another QP in place of this one. */
	struct ib_qp **qp = &pair.server.hca->special[1][1];
	struct ibmad_qp *mqp = to_agent(pair.server.agent)->mqp;
	int i, k;

	pair.server.answers = false;
	for (i = 0; i < 20; i++) {
		for (k = 0; k < RECV_DEPTH + 20; k++)
			inject_len(&pair.server, IB_MGMT_METHOD_GET,
				   IB_MGMT_MAD_SIZE + (k & 1 ? 8 : 0));
		if (*qp)
			fake_hca_qp_error(*qp, states[i & 1]);
		if (i & 2)
			mad_quiesce(&pair);
		if (*qp)
			KUNIT_EXPECT_LE(test, fake_hca_posted_recvs(*qp), RECV_DEPTH);
	}
	mad_quiesce(&pair);
	KUNIT_ASSERT_NOT_NULL(test, *qp);
	KUNIT_EXPECT_EQ(test, fake_hca_posted_recvs(*qp), RECV_DEPTH);
	KUNIT_EXPECT_EQ(test, mqp->recv_posted, RECV_DEPTH);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.hca->recv_overruns), 0);
}

/* Defect 20: a client that does not read gets a bounded queue; the rest is counted. */
static void unbounded_receive_list(struct kunit *test)
{
	struct ib_mad_agent *agent = agent_in_callback(test);
	struct ending ending = { .agent = agent };
	int i;

	for (i = 0; i < INBOX + 500; i++) {
		inject(&pair.server, IB_MGMT_METHOD_SET);
		if (i % 256 == 0)
			mad_quiesce(&pair);
	}
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, atomic_read(&to_agent(agent)->inbox_recvs), INBOX);
	KUNIT_EXPECT_GE(test, mad_counter(pair.server.agent, IBMAD_RECV_OVERFLOW), 500);
	/* Responses to its requests get through, and other agents are not affected. */
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 0), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
	complete_all(&slow.leave);
	end_start(test, &ending);
	end_wait(test, &ending);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.server.agent, IBMAD_RECV_OVERFLOW) +
			atomic_read(&slow.calls), INBOX + 500 + 2);
}

/* ---- subnet administration ---- */

enum quick_daemon { QUICK_ANSWERS, QUICK_REFUSES, QUICK_IS_SILENT, QUICK_DAEMONS };

/* A query that ends while the question to the local service is being sent. */
static struct {
	struct fake_sa *sa;
	struct fake_hca *hca;
	struct ib_sa_client client;
	struct ls_daemon lsd;
	struct sa_path_rec path;
	enum quick_daemon daemon;
	bool asked;
	atomic_t told;
	int status;
} quick;

static void quick_told(int status, struct sa_path_rec *path, unsigned int paths,
		       void *context)
{
	quick.status = status;
	atomic_inc(&quick.told);
}

static void quick_answer(void)
{
	struct ib_path_rec_data data = { .flags = IB_PATH_PRIMARY | IB_PATH_OUTBOUND };
	struct sk_buff *skb = lsd_answer(&quick.lsd, 0);

	ib_sa_pack_path(&quick.path, data.path_rec);
	nla_put(skb, LS_NLA_TYPE_PATH_RECORD, sizeof(data), &data);
	lsd_send(&quick.lsd, skb);
}

/* The daemon's socket got a message; its sender waits for this callback. */
static void quick_ready(struct sock *sk)
{
	if (quick.asked || !lsd_question(&quick.lsd))
		return;
	quick.asked = true;
	if (quick.daemon == QUICK_ANSWERS)
		quick_answer();
	else if (quick.daemon == QUICK_REFUSES)
		lsd_refuse(&quick.lsd);
	mad_wait(&quick.told, 1);
	fake_sa_quiesce(quick.hca);
}

static void quick_begin(struct kunit *test)
{
	memset(&quick, 0, sizeof(quick));
	KUNIT_ASSERT_EQ(test, lsd_open(&quick.lsd), 0);
	KUNIT_ASSERT_EQ(test, lsd_set_timeout(&quick.lsd, 200), 0);
	KUNIT_ASSERT_EQ(test, fake_sa_begin(&quick.sa, &quick.hca, &quick.client), 0);
	quick.path.rec_type = SA_PATH_REC_TYPE_IB;
	quick.path.dgid.raw[15] = 1;
	sa_path_set_dlid(&quick.path, 0x77);
	quick.lsd.nl.sock->sk->sk_data_ready = quick_ready;
}

static void quick_end(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, lsd_set_timeout(&quick.lsd, 2000), 0);
	lsd_close(&quick.lsd);
	fake_sa_end(&quick.sa, &quick.hca);
}

/* Defect 21: the query is sent or answered before ib_sa_path_rec_get() returns. */
static void sa_netlink_request_freed_before_it_is_listed(struct kunit *test)
{
	struct ib_sa_query *query;
	int id, sent = 0;

	quick_begin(test);
	for (quick.daemon = 0; quick.daemon < QUICK_DAEMONS; quick.daemon++) {
		quick.asked = false;
		atomic_set(&quick.told, 0);
		id = ib_sa_path_rec_get(&quick.client, &quick.hca->ibdev, 1,
					&quick.path, IB_SA_PATH_REC_DGID, 1000,
					GFP_KERNEL, quick_told, NULL, &query);
		KUNIT_EXPECT_GT(test, id, 0);
		KUNIT_EXPECT_TRUE(test, quick.asked);
		KUNIT_EXPECT_EQ(test, atomic_read(&quick.told), 1);
		KUNIT_EXPECT_EQ(test, quick.status, 0);
		sent += quick.daemon != QUICK_ANSWERS;
		KUNIT_EXPECT_EQ(test, atomic_read(&quick.sa->requests), sent);
		/* The query has ended, so there is nothing to cancel. */
		ib_sa_cancel_query(id, query);
		fake_sa_expect_idle(test, quick.hca, &quick.client);
		KUNIT_EXPECT_EQ(test, atomic_read(&quick.told), 1);
	}
	quick_end(test);
}

static struct kunit_case regress_cases[] = {
	KUNIT_CASE(agent_destroyed_under_a_callback),
	KUNIT_CASE(agent_destroyed_by_two),
	KUNIT_CASE(unmatched_rmpp_responses_are_not_reassembled),
	KUNIT_CASE(receives_posted_beyond_the_free_slots),
	KUNIT_CASE(unbounded_receive_list),
	KUNIT_CASE(sa_netlink_request_freed_before_it_is_listed),
	{}
};

static struct kunit_suite ibmad_regress_suite = {
	.name = "ib_mad_regress",
	.init = regress_test_init,
	.exit = regress_test_exit,
	.test_cases = regress_cases,
};

kunit_test_suite(ibmad_regress_suite);
