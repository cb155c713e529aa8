// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Two adapters with an agent each, and the MADs that they exchange. */
#include "mad_test.h"
#include "wait.h"

static void note(struct mad_side *side, char c)
{
	if (side->events < (int)sizeof(side->order) - 1)
		side->order[side->events++] = c;
}

void mad_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct mad_side *side = agent->context;

	/* A response made by the server has an address handle of its own. */
	if (wc->send_buf->context[0]) {
		rdma_destroy_ah(wc->send_buf->ah, RDMA_DESTROY_AH_SLEEPABLE);
		ib_free_send_mad(wc->send_buf);
		return;
	}
	note(side, 'S');
	side->status = wc->status;
	side->retries = wc->send_buf->retries;
	side->completed = jiffies;
	if (!side->keep_sends)
		ib_free_send_mad(wc->send_buf);
	if (wc->status)
		atomic_inc(&side->errors);
	atomic_inc(&side->sent);
}

struct ib_mad_send_buf *mad_reply_new(struct ib_mad_agent *agent,
				      const struct ib_mad_recv_wc *wc,
				      int hdr_len)
{
	struct ib_mad_send_buf *buf;
	struct ib_ah *ah;

	ah = ib_create_ah_from_wc(agent->qp->pd, wc->wc, wc->recv_buf.grh, 1);
	if (IS_ERR(ah))
		return NULL;
	buf = ib_create_send_mad(agent, wc->wc->src_qp, wc->wc->pkey_index, 0,
				 hdr_len, IB_MGMT_MAD_SIZE - hdr_len, GFP_KERNEL,
				 IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf)) {
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
		return NULL;
	}
	buf->ah = ah;
	return buf;
}

void mad_reply_post(struct ib_mad_send_buf *buf)
{
	struct ib_ah *ah = buf->ah;

	if (ib_post_send_mad(buf, NULL)) {
		ib_free_send_mad(buf);
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	}
}

static void mad_answer(struct mad_side *side, struct ib_mad_recv_wc *wc)
{
	struct ib_mad_send_buf *buf = mad_reply_new(side->agent, wc,
						    IB_MGMT_MAD_HDR);

	if (!buf)
		return;
	memcpy(buf->mad, wc->recv_buf.mad, IB_MGMT_MAD_SIZE);
	((struct ib_mad_hdr *)buf->mad)->method |= IB_MGMT_METHOD_RESP;
	buf->context[0] = side;
	mad_reply_post(buf);
}

void mad_received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
		  struct ib_mad_recv_wc *wc)
{
	struct mad_side *side = agent->context;

	note(side, 'R');
	side->matched = buf;
	side->tid = wc->recv_buf.mad->mad_hdr.tid;
	if (side->sleep_ms)
		msleep(side->sleep_ms);
	if (side->answers && !buf)
		mad_answer(side, wc);
	ib_free_recv_mad(wc);
	atomic_inc(&side->received);
}

static bool take_one(int *n)
{
	if (!*n)
		return false;
	if (*n > 0)
		--*n;
	return true;
}

static enum fake_hca_verdict mad_verdict(struct fake_hca *hca,
					 struct fake_hca_packet *packet, void *arg)
{
	struct ib_mad_hdr *hdr = (void *)packet->data;
	struct mad_pair *pair = arg;
	bool response;

	if (hdr->mgmt_class != TEST_CLASS)
		return FAKE_DELIVER;
	response = ib_response_mad(hdr);
	atomic_inc(response ? &pair->wire_responses : &pair->wire_requests);
	if (take_one(response ? &pair->drop_responses : &pair->drop_requests))
		return FAKE_DROP;
	if (response && pair->hold_responses)
		return FAKE_HOLD;
	return pair->duplicate ? FAKE_DUPLICATE : FAKE_DELIVER;
}

static void no_init(struct fake_hca *hca, struct ib_qp *qp, enum ib_qp_state next)
{
	if (next == IB_QPS_INIT)
		atomic_set(&hca->fail_modify_qp, 1);
}

void mad_refuse_init(struct fake_hca *hca)
{
	hca->on_modify_qp = no_init;
}

struct ib_ah *mad_ah_to(struct ib_mad_agent *from, u16 dlid)
{
	struct rdma_ah_attr attr = {
		.type = RDMA_AH_ATTR_TYPE_IB,
		.port_num = from->port_num,
	};
	union ib_gid dgid;

	rdma_ah_set_dlid(&attr, dlid);
	if (rdma_is_grh_required(from->device, from->port_num)) {
		fake_hca_lid_gid(dlid, &dgid);
		rdma_ah_set_grh(&attr, &dgid, 0, 0, 64, 0);
	}
	return rdma_create_ah(from->qp->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
}

struct ib_ah *mad_path(struct ib_mad_agent *from, struct fake_hca *to)
{
	return mad_ah_to(from, to->port[1].lid);
}

static int mad_side_init(struct mad_side *side, struct mad_pair *pair)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = TEST_CLASS,
		.mgmt_class_version = 1,
	};

	set_bit(IB_MGMT_METHOD_GET, req.method_mask);
	side->agent = ib_register_mad_agent(&side->hca->ibdev, 1, IB_QPT_GSI, &req,
					    0, mad_sent, mad_received, side, 0);
	if (IS_ERR(side->agent)) {
		int ret = PTR_ERR(side->agent);

		side->agent = NULL;
		return ret;
	}
	side->hca->verdict = mad_verdict;
	side->hca->verdict_arg = pair;
	return 0;
}

static struct fake_hca *mad_hca(enum rdma_link_layer link_layer,
				const struct fake_hca_quirks *quirks)
{
	const struct fake_hca_params params = { .link_layer = link_layer };
	struct fake_hca *hca = fake_hca_alloc(&params);

	if (!hca)
		return NULL;
	hca->quirks = *quirks;
	/* fake_hca_alloc() has set that of the default provider. */
	hca->ibdev.ops.driver_id = quirks->driver;
	if (fake_hca_register(hca)) {
		fake_hca_free(hca);
		return NULL;
	}
	return hca;
}

int mad_pair_init(struct kunit *test, struct mad_pair *pair,
		  enum rdma_link_layer link_layer)
{
	return mad_pair_init_quirks(test, pair, link_layer, fake_hca_quirks_default());
}

int mad_pair_init_quirks(struct kunit *test, struct mad_pair *pair,
			 enum rdma_link_layer link_layer,
			 const struct fake_hca_quirks *quirks)
{
	int ret;

	memset(pair, 0, sizeof(*pair));
	pair->asker.hca = mad_hca(link_layer, quirks);
	pair->server.hca = mad_hca(link_layer, quirks);
	if (!pair->asker.hca || !pair->server.hca)
		return -ENOMEM;
	ret = mad_side_init(&pair->asker, pair);
	if (!ret)
		ret = mad_side_init(&pair->server, pair);
	if (ret)
		return ret;
	pair->server.answers = true;
	pair->asker.ah = mad_path(pair->asker.agent, pair->server.hca);
	return PTR_ERR_OR_ZERO(pair->asker.ah);
}

static void mad_side_exit(struct mad_side *side)
{
	if (side->agent)
		ib_unregister_mad_agent(side->agent);
	if (!IS_ERR_OR_NULL(side->ah))
		rdma_destroy_ah(side->ah, RDMA_DESTROY_AH_SLEEPABLE);
	if (side->hca)
		fake_hca_destroy(side->hca);
}

void mad_pair_exit(struct mad_pair *pair)
{
	if (pair->asker.hca)
		fake_hca_flush(pair->asker.hca);
	if (pair->server.hca)
		fake_hca_flush(pair->server.hca);
	mad_side_exit(&pair->asker);
	mad_side_exit(&pair->server);
	memset(pair, 0, sizeof(*pair));
}

struct ib_mad_send_buf *mad_request(struct mad_side *side, u32 timeout_ms,
				    int retries)
{
	static u32 serial;
	struct ib_mad_send_buf *buf;
	struct ib_mad_hdr *hdr;

	buf = ib_create_send_mad(side->agent, 1, 0, 0, IB_MGMT_MAD_HDR,
				 IB_MGMT_MAD_DATA, GFP_KERNEL,
				 IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf))
		return buf;
	hdr = buf->mad;
	hdr->base_version = IB_MGMT_BASE_VERSION;
	hdr->mgmt_class = TEST_CLASS;
	hdr->class_version = 1;
	hdr->method = IB_MGMT_METHOD_GET;
	hdr->tid = cpu_to_be64((u64)side->agent->hi_tid << 32 | ++serial);
	buf->ah = side->ah;
	buf->timeout_ms = timeout_ms;
	buf->retries = retries;
	return buf;
}

int mad_post_buf(struct ib_mad_send_buf *buf)
{
	int ret;

	if (IS_ERR(buf))
		return PTR_ERR(buf);
	ret = ib_post_send_mad(buf, NULL);
	if (ret)
		ib_free_send_mad(buf);
	return ret;
}

int mad_post(struct mad_side *side, u32 timeout_ms, int retries)
{
	return mad_post_buf(mad_request(side, timeout_ms, retries));
}

bool mad_wait(atomic_t *counter, int n)
{
	int i;

	for (i = 0; i < 3000 && atomic_read(counter) < n; i++)
		msleep(20);
	return atomic_read(counter) == n;
}

static void finish_recovery(const struct mad_side *side)
{
	if (side->agent)
		flush_work(&to_agent(side->agent)->mqp->recover_work);
}

void mad_quiesce(struct mad_pair *pair)
{
	int i;

	for (i = 0; i < 5; i++) {
		fake_hca_flush(pair->asker.hca);
		fake_hca_flush(pair->server.hca);
		finish_recovery(&pair->asker);
		finish_recovery(&pair->server);
		msleep(20);
	}
}

u64 mad_counter(struct ib_mad_agent *agent, enum ibmad_counter counter)
{
	struct ibmad_port *port = to_agent(agent)->port;
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(port->stats, cpu)->count[counter];
	return sum;
}

/* The timer wheel may add up to an eighth, and some jiffies. */
void mad_expect_ms(struct kunit *test, unsigned long since, unsigned long until,
		   unsigned int ms)
{
	unsigned int took = jiffies_to_msecs(until - since);

	KUNIT_EXPECT_GE(test, took, ms);
	KUNIT_EXPECT_LE(test, took / fake_hca_slow, ms + ms / 8 + 60);
}

void mad_fire_late(struct ibmad_send *send)
{
	refcount_inc(&send->refs);	/* the timer's reference, put by it */
	local_bh_disable();
	send->timer.function(&send->timer);
	local_bh_enable();
}
