// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A pair whose asker's QP1 the tests break. */
#include "recover.h"

struct mad_pair pair;
struct noted wire, told;

static void note(struct noted *noted, __be64 tid)
{
	if (noted->n < NOTED)
		noted->serial[noted->n++] = (u32)be64_to_cpu(tid);
}

static void recover_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	note(&told, ((struct ib_mad_hdr *)wc->send_buf->mad)->tid);
	mad_sent(agent, wc);
}

static enum fake_hca_verdict recover_verdict(struct fake_hca *hca,
					     struct fake_hca_packet *packet, void *arg)
{
	struct ib_mad_hdr *hdr = (void *)packet->data;

	if (hdr->mgmt_class != TEST_CLASS)
		return FAKE_DELIVER;
	note(&wire, hdr->tid);
	return pair.drop_requests ? FAKE_DROP : FAKE_DELIVER;
}

int recover_init(struct kunit *test)
{
	struct ib_mad_agent *agent;
	int ret;

	memset(&wire, 0, sizeof(wire));
	memset(&told, 0, sizeof(told));
	ret = mad_pair_init(test, &pair, IB_LINK_LAYER_INFINIBAND);
	if (ret)
		return ret;
	agent = ib_register_mad_agent(&pair.asker.hca->ibdev, 1, IB_QPT_GSI, NULL, 0,
				      recover_sent, mad_received, &pair.asker, 0);
	if (IS_ERR(agent))
		return PTR_ERR(agent);
	ib_unregister_mad_agent(pair.asker.agent);
	pair.asker.agent = agent;
	pair.asker.hca->verdict = recover_verdict;
	pair.drop_requests = -1;
	return 0;
}

void recover_exit(struct kunit *test)
{
	if (pair.asker.hca) {
		pair.asker.hca->on_modify_qp = NULL;
		pair.asker.hca->lose_completions = false;
		fake_hca_release_completions(pair.asker.hca);
	}
	mad_pair_exit(&pair);
}

struct ib_qp *qp1(void)
{
	return pair.asker.hca->special[1][1];
}

struct ibmad_qp *mqp(void)
{
	return to_agent(pair.asker.agent)->mqp;
}

u64 resets(void)
{
	return mad_counter(pair.asker.agent, IBMAD_QP_RESETS);
}

void post(struct kunit *test, int n)
{
	while (n--)
		KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 0, 0), 0);
}

bool handed_back(int n)
{
	static_assert(BOUND_MS < IBMAD_STALL_MS);
	return wait_within(atomic_read(&pair.asker.errors) == n, BOUND_MS);
}

void expect_in_order(struct kunit *test, const struct noted *noted, int n)
{
	int i;

	KUNIT_ASSERT_LE(test, n, noted->n);
	for (i = 1; i < n; i++)
		KUNIT_EXPECT_GT_MSG(test, noted->serial[i], noted->serial[i - 1],
				    "number %d", i);
}

void expect_well(struct kunit *test)
{
	int sent;

	pair.asker.hca->lose_completions = false;
	fake_hca_release_completions(pair.asker.hca);
	mad_quiesce(&pair);
	sent = atomic_read(&pair.asker.sent);
	pair.drop_requests = 0;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 2), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, sent + 1));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, refcount_read(&to_agent(pair.asker.agent)->refs), 1u);
	KUNIT_EXPECT_EQ(test, mqp()->inflight, 0u);
	KUNIT_EXPECT_EQ(test, fake_hca_posted_recvs(qp1()), RECV_DEPTH);
	KUNIT_EXPECT_EQ(test, mqp()->recv_posted, RECV_DEPTH);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.hca->recv_overruns), 0);
}

void turn_slots(struct kunit *test, int n)
{
	int sent = atomic_read(&pair.asker.sent);

	post(test, n);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, sent + n));
	mad_quiesce(&pair);
	wire.n = 0;
	told.n = 0;
	atomic_set(&pair.asker.sent, 0);
	atomic_set(&pair.asker.errors, 0);
}

void expect_removal(struct kunit *test, int sent)
{
	unsigned long since = jiffies;

	ib_unregister_mad_agent(pair.asker.agent);
	pair.asker.agent = NULL;
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.sent), sent);
	rdma_destroy_ah(pair.asker.ah, RDMA_DESTROY_AH_SLEEPABLE);
	pair.asker.ah = NULL;
	fake_hca_destroy(pair.asker.hca);
	pair.asker.hca = NULL;
	KUNIT_EXPECT_LT(test, took_ms(jiffies - since), BOUND_MS);
}
