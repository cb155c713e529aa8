// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The outcome of received MADs: agents of all kinds, and the counters. */
#include "outcome.h"

const struct outcome_kind outcome_kinds[OUTCOME_AGENTS] = {
	{ IB_QPT_GSI, TEST_CLASS, 1 },
	{ IB_QPT_GSI, IB_MGMT_CLASS_SUBN_ADM, 2, IB_MGMT_RMPP_VERSION },
	{ IB_QPT_GSI, IB_MGMT_CLASS_VENDOR_RANGE2_START, 1, IB_MGMT_RMPP_VERSION },
	{ IB_QPT_GSI, IB_MGMT_CLASS_VENDOR_RANGE2_END, 1, IB_MGMT_RMPP_VERSION,
	  IB_MAD_USER_RMPP },
	{ IB_QPT_SMI, IB_MGMT_CLASS_SUBN_LID_ROUTED, 1 },
};

const u8 outcome_methods[] = {
	IB_MGMT_METHOD_GET, IB_MGMT_METHOD_SET, IB_MGMT_METHOD_SEND,
	IB_MGMT_METHOD_TRAP, IB_MGMT_METHOD_REPORT,
};

/* The counters of the outcomes; each valid MAD received is counted by one of them. */
static const enum ibmad_counter outcomes[] = {
	IBMAD_RECV_DELIVERED, IBMAD_RECV_UNMATCHED, IBMAD_RECV_NO_AGENT,
	IBMAD_RECV_OVERFLOW, IBMAD_RECV_SMI_DROPPED, IBMAD_RECV_FORWARDED,
	IBMAD_RECV_PROVIDER, IBMAD_RMPP_SEGMENTS, IBMAD_RMPP_CONTROLS,
	IBMAD_RMPP_DROPPED,
};

struct fake_hca *outcome_hca;
struct ib_mad_agent *outcome_agents[OUTCOME_AGENTS];
struct ib_ah *outcome_paths[OUTCOME_AGENTS];
struct outcome_seen outcome_seen;
atomic_t outcome_sent, outcome_single, outcome_whole;

static struct fake_hca *far;		/* has the LID, but no agent */

static void test_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	ib_free_send_mad(wc->send_buf);
	atomic_inc(&outcome_sent);
}

static void test_received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
			  struct ib_mad_recv_wc *wc)
{
	struct ib_rmpp_mad *mad = (void *)wc->recv_buf.mad;
	bool rmpp = ib_is_mad_class_rmpp(mad->mad_hdr.mgmt_class) &&
		    mad->rmpp_hdr.rmpp_rtime_flags & IB_MGMT_RMPP_FLAG_ACTIVE;

	atomic_inc(rmpp && ib_mad_kernel_rmpp_agent(agent) ? &outcome_whole : &outcome_single);
	ib_free_recv_mad(wc);
}

static enum fake_hca_verdict test_verdict(struct fake_hca *from,
					  struct fake_hca_packet *packet, void *arg)
{
	const struct ib_mad_hdr *hdr = (const void *)packet->data;

	if (!ib_response_mad(hdr))
		memcpy(&outcome_seen.mad[outcome_seen.n++ % ARRAY_SIZE(outcome_seen.mad)], hdr,
		       min_t(u32, packet->len, IB_MGMT_MAD_SIZE));
	return FAKE_DROP;
}

/* The adapter responds to performance management itself. */
static int test_process_mad(struct fake_hca *at, u32 port, const struct ib_wc *wc,
			    const struct ib_mad *in, struct ib_mad *out,
			    size_t *out_len)
{
	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT)
		return IB_MAD_RESULT_SUCCESS;
	*out = *in;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	return IB_MAD_RESULT_SUCCESS |
	       (in->mad_hdr.method == IB_MGMT_METHOD_GET ? IB_MAD_RESULT_REPLY :
							   IB_MAD_RESULT_CONSUMED);
}

bool outcome_is_smp(u8 mgmt_class)
{
	return mgmt_class == IB_MGMT_CLASS_SUBN_LID_ROUTED ||
	       mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
}

static int register_agent(unsigned int i)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = outcome_kinds[i].mgmt_class,
		.mgmt_class_version = outcome_kinds[i].version,
		.oui = { 0, 0x14, 5 },
	};
	struct ib_mad_agent *agent;
	int m;

	for (m = 0; m < ARRAY_SIZE(outcome_methods); m++)
		set_bit(outcome_methods[m], req.method_mask);
	agent = ib_register_mad_agent(&outcome_hca->ibdev, 1, outcome_kinds[i].qp_type, &req,
				      outcome_kinds[i].rmpp_version, test_sent,
				      test_received, NULL, outcome_kinds[i].flags);
	if (IS_ERR(agent))
		return PTR_ERR(agent);
	outcome_agents[i] = agent;
	outcome_paths[i] = mad_path(agent, far);
	return PTR_ERR_OR_ZERO(outcome_paths[i]);
}

int outcome_up(bool opa)
{
	const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND, .sma = true, .opa = opa,
	};
	int i, ret = 0;

	memset(&outcome_seen, 0, sizeof(outcome_seen));
	atomic_set(&outcome_sent, 0);
	atomic_set(&outcome_single, 0);
	atomic_set(&outcome_whole, 0);
	outcome_hca = fake_hca_create(&params);
	far = fake_hca_create(&params);
	if (!outcome_hca || !far)
		return -ENOMEM;
	outcome_hca->process_mad = test_process_mad;
	outcome_hca->verdict = test_verdict;
	for (i = 0; i < OUTCOME_AGENTS && !ret; i++)
		ret = register_agent(i);
	return ret;
}

void outcome_down(void)
{
	int i;

	for (i = 0; i < OUTCOME_AGENTS; i++) {
		if (outcome_agents[i])
			ib_unregister_mad_agent(outcome_agents[i]);
		if (!IS_ERR_OR_NULL(outcome_paths[i]))
			rdma_destroy_ah(outcome_paths[i], RDMA_DESTROY_AH_SLEEPABLE);
		outcome_agents[i] = NULL;
		outcome_paths[i] = NULL;
	}
	if (outcome_hca)
		fake_hca_destroy(outcome_hca);
	if (far)
		fake_hca_destroy(far);
	outcome_hca = NULL;
	far = NULL;
}

u64 outcome_counter(enum ibmad_counter which)
{
	return mad_counter(outcome_agents[PLAIN], which);
}

u64 outcome_sum(void)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(outcomes); i++)
		sum += outcome_counter(outcomes[i]);
	return sum;
}

void outcome_print(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(outcomes); i++)
		kunit_info(test, "counter %d: %llu", outcomes[i], outcome_counter(outcomes[i]));
}

bool outcome_has_tid(__be64 tid)
{
	int i;

	for (i = 0; i < OUTCOME_AGENTS; i++)
		if (outcome_agents[i]->hi_tid == be64_to_cpu(tid) >> 32)
			return true;
	return false;
}

bool outcome_quiesce(void)
{
	u64 delivered = atomic_read(&outcome_hca->delivered);
	int i;

	for (i = 0; i < 3000; i++) {
		fake_hca_flush(outcome_hca);
		if (outcome_sum() + outcome_counter(IBMAD_RECV_MALFORMED) +
		    outcome_counter(IBMAD_RECV_NO_BUFFER) == delivered)
			return true;
		usleep_range(1000, 1100);
	}
	return false;
}

void outcome_request(union outcome_mad *mad, unsigned int i)
{
	memset(mad, 0, sizeof(*mad));
	mad->hdr.base_version = IB_MGMT_BASE_VERSION;
	mad->hdr.mgmt_class = outcome_kinds[i].mgmt_class;
	mad->hdr.class_version = outcome_kinds[i].version;
	mad->hdr.method = IB_MGMT_METHOD_GET;
	mad->hdr.tid = cpu_to_be64(1000 + i);
	if (i == RMPP || i == USER_RMPP)
		memcpy(mad->vendor.oui, "\x00\x14\x05", 3);
}

void outcome_segment(union outcome_mad *mad, unsigned int i, u32 seg, u8 flags)
{
	outcome_request(mad, i);
	mad->hdr.method = IB_MGMT_METHOD_SEND;
	mad->rmpp.rmpp_hdr.rmpp_version = IB_MGMT_RMPP_VERSION;
	mad->rmpp.rmpp_hdr.rmpp_type = IB_MGMT_RMPP_TYPE_DATA;
	mad->rmpp.rmpp_hdr.rmpp_rtime_flags = IB_MGMT_RMPP_FLAG_ACTIVE | flags;
	mad->rmpp.rmpp_hdr.seg_num = cpu_to_be32(seg);
	mad->rmpp.rmpp_hdr.paylen_newwin = cpu_to_be32(IB_MGMT_MAD_SIZE / 2);
}

void outcome_inject(const union outcome_mad *mad, u32 dst_qpn, u32 src_qpn, u32 len)
{
	struct fake_hca_packet like = {
		.src_qpn = src_qpn, .slid = far->port[1].lid,
	};
	static u8 data[OPA_MGMT_MAD_SIZE];

	memcpy(data, mad, sizeof(*mad));
	fake_hca_inject(outcome_hca, dst_qpn, &like, data, len);
}

u32 outcome_qpn(unsigned int agent)
{
	return outcome_kinds[agent].qp_type == IB_QPT_GSI;
}
