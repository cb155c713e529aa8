// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared by the flow control suites: requests that are identified by numbers. */
#include "flow.h"

struct flow_record flow;

static unsigned int default_window;
static enum fake_hca_verdict (*pair_verdict)(struct fake_hca *hca,
					     struct fake_hca_packet *packet,
					     void *arg);

static void note(char *log, size_t size, unsigned int number)
{
	size_t len = strlen(log);

	if (number < 26 && len < size - 1)
		log[len] = 'a' + number;
}

/* The number of the request with @hdr; a large one if it is not numbered. */
static unsigned int number_of(const struct ib_mad_hdr *hdr)
{
	return (u32)be64_to_cpu(hdr->tid) - flow.first;
}

static enum fake_hca_verdict flow_verdict(struct fake_hca *hca,
					  struct fake_hca_packet *packet, void *arg)
{
	struct ib_mad_hdr *hdr = (void *)packet->data;
	enum fake_hca_verdict verdict = pair_verdict(hca, packet, arg);
	int out = atomic_read(&flow.pair.wire_requests) -
		  atomic_read(&flow.pair.wire_responses);

	if (hdr->mgmt_class == TEST_CLASS && !ib_response_mad(hdr)) {
		note(flow.wire, sizeof(flow.wire), number_of(hdr));
		flow.peak = max(flow.peak, out);
	}
	return verdict;
}

static void flow_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	unsigned int number = number_of(wc->send_buf->mad);

	if (number < FLOW_SENDS) {
		flow.completions[number]++;
		flow.disordered |= number < flow.last;
		flow.last = number;
		note(flow.done, sizeof(flow.done), number);
	}
	mad_sent(agent, wc);
}

int flow_setup(struct kunit *test, unsigned int window)
{
	int ret;

	memset(&flow, 0, sizeof(flow));
	default_window = ibmad_request_window;
	ibmad_request_window = window;
	ret = mad_pair_init(test, &flow.pair, IB_LINK_LAYER_INFINIBAND);
	if (ret)
		return ret;
	pair_verdict = flow.pair.asker.hca->verdict;
	flow.pair.asker.hca->verdict = flow_verdict;
	flow.pair.asker.agent->send_handler = flow_sent;
	return 0;
}

void flow_teardown(void)
{
	mad_pair_exit(&flow.pair);
	ibmad_request_window = default_window;
}

void flow_unregister(void)
{
	struct ib_mad_agent *agent = flow.pair.asker.agent;

	flow.pair.asker.agent = NULL;
	ib_unregister_mad_agent(agent);
}

struct ib_mad_send_buf *flow_post_to(struct kunit *test, struct ib_ah *ah,
				     int timeout_ms, int retries)
{
	struct ib_mad_send_buf *buf = mad_request(&flow.pair.asker, timeout_ms, retries);

	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	if (!flow.posted)
		flow.first = (u32)be64_to_cpu(((struct ib_mad_hdr *)buf->mad)->tid);
	flow.posted++;
	buf->ah = ah;
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	return buf;
}

struct ib_mad_send_buf *flow_post(struct kunit *test, int timeout_ms, int retries)
{
	return flow_post_to(test, flow.pair.asker.ah, timeout_ms, retries);
}

void flow_post_many(struct kunit *test, int n, int timeout_ms, int retries)
{
	while (n--)
		flow_post(test, timeout_ms, retries);
}

struct ib_ah *flow_ah(u16 dlid)
{
	return mad_ah_to(flow.pair.asker.agent, dlid);
}

int flow_in_state(enum ibmad_send_state state)
{
	struct ibmad_agent *agent = to_agent(flow.pair.asker.agent);
	struct ibmad_send *send;
	int n = 0;

	spin_lock_irq(&agent->lock);
	list_for_each_entry(send, &agent->sends, agent_link)
		n += send->state == state;
	spin_unlock_irq(&agent->lock);
	return n;
}

unsigned int flow_refs(void)
{
	return refcount_read(&to_agent(flow.pair.asker.agent)->refs);
}

int flow_known(void)
{
	return atomic_read(&to_agent(flow.pair.asker.agent)->flows.nelems);
}

void flow_expect_all_done(struct kunit *test)
{
	unsigned int i;

	KUNIT_EXPECT_TRUE(test, mad_wait(&flow.pair.asker.sent, flow.posted));
	for (i = 0; i < flow.posted; i++)
		KUNIT_EXPECT_EQ_MSG(test, flow.completions[i], 1, "request %u", i);
}
