// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A node whose adapter processes MADs itself, and what the adapter and the wire got. */
#include "faults.h"
#include "local.h"

struct local_world local;

static int test_process_mad(struct fake_hca *at, u32 port, const struct ib_wc *wc,
			    const struct ib_mad *in, struct ib_mad *out,
			    size_t *out_len)
{
	local.agent.port = port;
	local.agent.wc = *wc;
	local.agent.method = in->mad_hdr.method;
	if (local.agent.result & IB_MAD_RESULT_REPLY) {
		if (local.agent.bare)
			out->mad_hdr = in->mad_hdr;
		else
			*out = *in;
		out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
		out->mad_hdr.status = cpu_to_be16(local.agent.status);
		if (in->mad_hdr.mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
			out->mad_hdr.status |= IB_SMP_DIRECTION;
		if (!local.agent.bare)
			((struct ib_smp *)out)->data[0] = 0xd0;
		if (local.agent.len)
			*out_len = local.agent.len;
	}
	current->fail_nth = local.agent.fail_nth;
	atomic_inc(&local.agent.calls);
	return local.agent.result;
}

static enum fake_hca_verdict test_verdict(struct fake_hca *from,
					  struct fake_hca_packet *packet, void *arg)
{
	current->fail_nth = 0;
	local.wire.port = packet->port;
	local.wire.dst_qpn = packet->dst_qpn;
	local.wire.dlid = packet->dlid;
	local.wire.len = packet->len;
	memcpy(&local.wire.smp, packet->data, sizeof(local.wire.smp));
	atomic_inc(&local.wire.packets);
	return FAKE_DROP;
}

static void note(char c)
{
	if (local.seen.events < (int)sizeof(local.seen.order) - 1)
		local.seen.order[local.seen.events++] = c;
}

static void sm_sent(struct ib_mad_agent *mad_agent, struct ib_mad_send_wc *wc)
{
	note('S');
	local.seen.status = wc->status;
	ib_free_send_mad(wc->send_buf);
	atomic_inc(&local.seen.sent);
}

static void sm_received(struct ib_mad_agent *mad_agent, struct ib_mad_send_buf *buf,
			struct ib_mad_recv_wc *wc)
{
	note('R');
	memcpy(&local.seen.smp, wc->recv_buf.mad, sizeof(local.seen.smp));
	local.seen.mad_len = wc->mad_len;
	ib_free_recv_mad(wc);
	atomic_inc(&local.seen.received);
}

static void sma_sent(struct ib_mad_agent *mad_agent, struct ib_mad_send_wc *wc)
{
	ib_free_send_mad(wc->send_buf);
}

/* A software SMA: responds to SMPs that the adapter does not process. */
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
		answer->ah = local.ah;
		if (ib_post_send_mad(answer, NULL))
			ib_free_send_mad(answer);
	}
	ib_free_recv_mad(wc);
	atomic_inc(&local.seen.requests);
}

static int local_open(bool has_sma, bool is_switch)
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

	memset(&local, 0, sizeof(local));
	local.hca = fake_hca_alloc(&params);
	if (!local.hca)
		return -ENOMEM;
	/* A switch's port requires no GRH: the SMPs it forwards have no DGID. */
	if (is_switch)
		local.hca->quirks.grh_required = false;
	if (fake_hca_register(local.hca)) {
		fake_hca_free(local.hca);
		local.hca = NULL;
		return -ENOMEM;
	}
	local.peer = fake_hca_create(&peer_params);
	if (!local.peer)
		return -ENOMEM;
	local.hca->process_mad = test_process_mad;
	local.hca->verdict = test_verdict;
	local.sm = ib_register_mad_agent(&local.hca->ibdev, port, IB_QPT_SMI, NULL, 0,
					 sm_sent, sm_received, NULL, 0);
	if (IS_ERR(local.sm))
		return PTR_ERR(local.sm);
	local.ah = mad_path(local.sm, local.peer);
	return PTR_ERR_OR_ZERO(local.ah);
}

int local_test_init(struct kunit *test)
{
	return local_open(true, false);
}

void local_close(void)
{
	if (!IS_ERR_OR_NULL(local.sma))
		ib_unregister_mad_agent(local.sma);
	if (!IS_ERR_OR_NULL(local.sm))
		ib_unregister_mad_agent(local.sm);
	if (!IS_ERR_OR_NULL(local.ah))
		rdma_destroy_ah(local.ah, RDMA_DESTROY_AH_SLEEPABLE);
	local.sma = NULL;
	local.sm = NULL;
	local.ah = NULL;
}

void local_test_exit(struct kunit *test)
{
	/* An armed failure that did not occur must not hit another case. */
	ibex_workers_disarm();
	local_close();
	if (local.hca)
		fake_hca_destroy(local.hca);
	if (local.peer)
		fake_hca_destroy(local.peer);
	memset(&local, 0, sizeof(local));
}

int local_restart(bool has_sma, bool is_switch)
{
	local_test_exit(NULL);
	return local_open(has_sma, is_switch);
}

void local_start_sma(struct kunit *test, u8 mgmt_class)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = mgmt_class, .mgmt_class_version = 1,
	};

	set_bit(IB_MGMT_METHOD_GET, req.method_mask);
	local.sma = ib_register_mad_agent(&local.hca->ibdev, 1, IB_QPT_SMI, &req, 0,
					  sma_sent, sma_received, NULL, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(local.sma));
}

struct ib_smp local_route(u8 hop_cnt, u8 hop_ptr)
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

struct ib_mad_send_buf *local_smp(const struct ib_smp *smp, u32 timeout_ms)
{
	static u32 serial;
	struct ib_mad_send_buf *buf;

	buf = ib_create_send_mad(local.sm, 0, 0, 0, IB_MGMT_MAD_HDR, IB_MGMT_MAD_DATA,
				 GFP_KERNEL, IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf))
		return buf;
	memcpy(buf->mad, smp, sizeof(*smp));
	((struct ib_smp *)buf->mad)->tid =
		cpu_to_be64((u64)local.sm->hi_tid << 32 | ++serial);
	buf->ah = local.ah;
	buf->timeout_ms = timeout_ms;
	return buf;
}

int local_post(const struct ib_smp *smp, u32 timeout_ms)
{
	return mad_post_buf(local_smp(smp, timeout_ms));
}

void local_from_wire(const void *smp, u32 qpn, u32 port)
{
	struct fake_hca_packet like = {
		.src_qpn = qpn, .slid = local.peer->port[1].lid, .port = port,
	};

	fake_hca_inject(local.hca, qpn, &like, smp, IB_MGMT_MAD_SIZE);
}

void local_quiesce(void)
{
	int i;

	for (i = 0; i < 5; i++) {
		fake_hca_flush(local.hca);
		msleep(20);
	}
}

u64 local_counter(enum ibmad_counter c)
{
	return mad_counter(local.sm, c);
}
