// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The peer in RMPP transfers, played by the test. */
#include "rmpp_peer.h"

struct fake_hca *peer_hca;
struct ib_mad_agent *peer_agent;
struct ib_ah *peer_ah;
struct peer_seen peer_seen;
struct peer_client peer_client;
int peer_fail_nth;

static struct fake_hca *far;		/* has the LID, but no agent */

static void note_data(u32 seg)
{
	if (seg <= peer_seen.data_seg)
		atomic_inc(&peer_seen.again);
	peer_seen.data_seg = max(seg, peer_seen.data_seg);
	atomic_inc(&peer_seen.data);
}

static enum fake_hca_verdict peer_verdict(struct fake_hca *from,
					  struct fake_hca_packet *packet, void *arg)
{
	struct ib_rmpp_mad *mad = (void *)packet->data;
	u32 seg = be32_to_cpu(mad->rmpp_hdr.seg_num);

	if (mad->mad_hdr.mgmt_class != to_agent(peer_agent)->mgmt_class)
		return FAKE_DROP;
	peer_seen.tid = be64_to_cpu(mad->mad_hdr.tid);
	switch (mad->rmpp_hdr.rmpp_type) {
	case IB_MGMT_RMPP_TYPE_DATA:
		note_data(seg);
		break;
	case IB_MGMT_RMPP_TYPE_ACK:
		peer_seen.ack_seg = seg;
		peer_seen.ack_window = be32_to_cpu(mad->rmpp_hdr.paylen_newwin);
		peer_seen.ack_method = mad->mad_hdr.method;
		atomic_inc(&peer_seen.acks);
		break;
	case IB_MGMT_RMPP_TYPE_STOP:
		peer_seen.stop_status = mad->rmpp_hdr.rmpp_status;
		atomic_inc(&peer_seen.stops);
		break;
	case IB_MGMT_RMPP_TYPE_ABORT:
		peer_seen.abort_status = mad->rmpp_hdr.rmpp_status;
		atomic_inc(&peer_seen.aborts);
		break;
	}
	return FAKE_DROP;
}

static void peer_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	peer_client.status = wc->status;
	peer_client.vendor_err = wc->vendor_err;
	ib_free_send_mad(wc->send_buf);
	atomic_inc(&peer_client.sent);
}

static void peer_received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
			  struct ib_mad_recv_wc *wc)
{
	struct list_head *entry;
	int n = 0;

	list_for_each(entry, &wc->rmpp_list)
		n++;
	peer_client.segments = n;
	peer_client.mad_len = wc->mad_len;
	peer_client.matched = buf;
	if (peer_client.sleep_ms)
		msleep(peer_client.sleep_ms);
	ib_free_recv_mad(wc);
	atomic_inc(&peer_client.received);
}

/* Called when a MAD is received: the next allocations are those of receiving it. */
static int peer_process_mad(struct fake_hca *at, u32 port, const struct ib_wc *wc,
			    const struct ib_mad *in, struct ib_mad *out,
			    size_t *out_len)
{
	current->fail_nth = peer_fail_nth;
	return IB_MAD_RESULT_SUCCESS;
}

static struct ib_mad_agent *peer_register(u8 mgmt_class)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = mgmt_class,
		.mgmt_class_version = 1,
		.oui = { 0, 0x14, 5 },
	};

	set_bit(IB_MGMT_METHOD_GET, req.method_mask);
	set_bit(IB_MGMT_METHOD_SEND, req.method_mask);
	return ib_register_mad_agent(&peer_hca->ibdev, 1, IB_QPT_GSI, &req,
				     IB_MGMT_RMPP_VERSION, peer_sent, peer_received,
				     NULL, 0);
}

int peer_init(u8 mgmt_class)
{
	const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND, .sma = true,
	};

	memset(&peer_seen, 0, sizeof(peer_seen));
	memset(&peer_client, 0, sizeof(peer_client));
	peer_fail_nth = 0;
	peer_hca = fake_hca_create(&params);
	far = fake_hca_create(&params);
	if (!peer_hca || !far)
		return -ENOMEM;
	peer_agent = peer_register(mgmt_class);
	if (IS_ERR(peer_agent))
		return PTR_ERR(peer_agent);
	peer_hca->process_mad = peer_process_mad;
	peer_hca->verdict = peer_verdict;
	peer_ah = mad_path(peer_agent, far);
	return PTR_ERR_OR_ZERO(peer_ah);
}

int peer_test_init(struct kunit *test)
{
	return peer_init(PEER_CLASS);
}

void peer_test_exit(struct kunit *test)
{
	if (peer_hca) {
		fake_hca_release_completions(peer_hca);
		fake_hca_flush(peer_hca);
	}
	if (!IS_ERR_OR_NULL(peer_agent))
		ib_unregister_mad_agent(peer_agent);
	if (!IS_ERR_OR_NULL(peer_ah))
		rdma_destroy_ah(peer_ah, RDMA_DESTROY_AH_SLEEPABLE);
	if (peer_hca)
		fake_hca_destroy(peer_hca);
	if (far)
		fake_hca_destroy(far);
	peer_agent = NULL;
	peer_ah = NULL;
	peer_hca = NULL;
	far = NULL;
}

void peer_push(const struct peer_mad *m)
{
	struct fake_hca_packet like = { .src_qpn = 1, .slid = far->port[1].lid };
	union {
		struct ib_rmpp_mad rmpp;
		struct ib_vendor_mad vendor;
		u8 raw[IB_MGMT_MAD_SIZE];
	} mad = {};

	if (m->slid)
		like.slid = m->slid;
	mad.rmpp.mad_hdr.base_version = IB_MGMT_BASE_VERSION;
	mad.rmpp.mad_hdr.mgmt_class = m->mgmt_class ?: to_agent(peer_agent)->mgmt_class;
	mad.rmpp.mad_hdr.class_version = 1;
	mad.rmpp.mad_hdr.method = m->method ?: IB_MGMT_METHOD_SEND;
	mad.rmpp.mad_hdr.tid = cpu_to_be64(m->whole_tid ?: m->tid);
	mad.rmpp.rmpp_hdr.rmpp_version = m->version ?: IB_MGMT_RMPP_VERSION;
	mad.rmpp.rmpp_hdr.rmpp_type = m->type ?: IB_MGMT_RMPP_TYPE_DATA;
	mad.rmpp.rmpp_hdr.rmpp_rtime_flags = IB_MGMT_RMPP_FLAG_ACTIVE | m->flags;
	mad.rmpp.rmpp_hdr.rmpp_status = m->status;
	mad.rmpp.rmpp_hdr.seg_num = cpu_to_be32(m->seg);
	mad.rmpp.rmpp_hdr.paylen_newwin = cpu_to_be32(m->paylen_newwin);
	if (mad.rmpp.mad_hdr.mgmt_class == PEER_CLASS) {
		mad.vendor.oui[1] = 0x14;
		mad.vendor.oui[2] = 5;
	}
	fake_hca_inject(peer_hca, 1, &like, &mad, sizeof(mad));
}

void peer_quiesce(void)
{
	int i;

	for (i = 0; i < 3; i++) {
		msleep(20);
		fake_hca_flush(peer_hca);
	}
}

void peer_send(const struct peer_mad *m)
{
	peer_push(m);
	peer_quiesce();
}

struct ib_mad_send_buf *peer_request(u8 method, int rmpp, int len, u32 timeout_ms,
				     int retries)
{
	u8 mgmt_class = to_agent(peer_agent)->mgmt_class;
	static u32 serial;
	struct ib_mad_send_buf *buf;
	struct ib_vendor_mad *mad;

	buf = ib_create_send_mad(peer_agent, 1, 0, rmpp,
				 ib_get_mad_data_offset(mgmt_class), len, GFP_KERNEL,
				 IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf))
		return buf;
	mad = buf->mad;
	mad->mad_hdr.base_version = IB_MGMT_BASE_VERSION;
	mad->mad_hdr.mgmt_class = mgmt_class;
	mad->mad_hdr.class_version = 1;
	mad->mad_hdr.method = method;
	mad->mad_hdr.tid = cpu_to_be64((u64)peer_agent->hi_tid << 32 | ++serial);
	if (mgmt_class == PEER_CLASS) {
		mad->oui[1] = 0x14;
		mad->oui[2] = 5;
	}
	buf->ah = peer_ah;
	buf->timeout_ms = timeout_ms;
	buf->retries = retries;
	return buf;
}

int peer_post(u8 method, int rmpp, int len, u32 timeout_ms, int retries)
{
	return mad_post_buf(peer_request(method, rmpp, len, timeout_ms, retries));
}

u64 peer_counter(enum ibmad_counter counter)
{
	return mad_counter(peer_agent, counter);
}

long peer_bytes(void)
{
	return atomic_long_read(&to_agent(peer_agent)->rmpp.bytes);
}

unsigned int peer_reassemblies(void)
{
	return READ_ONCE(to_agent(peer_agent)->rmpp.nr);
}
