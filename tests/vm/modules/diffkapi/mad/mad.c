// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MAD agents: registrations, and requests of an agent on one device to one on its peer, which
 * answers some of them.
 */
#include "mad/mad.h"
#include "objects/qp.h"

static struct mad_end *asker, *answerer;

/* ---- registrations, right or wrong in one way ---- */

static struct ib_mad_agent *register_agent(struct mad_end *e, struct ib_mad_reg_req *req, u8 rmpp)
{
	struct ib_mad_agent *agent;

	call("ib_register_mad_agent %s class %x version %u methods %lx rmpp %u", e->dev->name,
	     req ? req->mgmt_class : 0, req ? req->mgmt_class_version : 0,
	     req ? req->method_mask[0] : 0, rmpp);
	agent = ib_register_mad_agent(e->dev->device, 1, IB_QPT_GSI, req, rmpp, mad_sent,
				      mad_received, e, 0);
	if (IS_ERR(agent)) {
		answer(PTR_ERR(agent));
		return NULL;
	}
	answer_with(0, "port %u rmpp %u flags %x context %d", agent->port_num, agent->rmpp_version,
		    agent->flags, agent->context == e);
	return agent;
}

static void nothing_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	ib_free_send_mad(wc->send_buf);
}

static void nothing_received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
			     struct ib_mad_recv_wc *wc)
{
	ib_free_recv_mad(wc);
}

enum reg_wrong {
	PORT, QP_TYPE, CLASS, VERSION, METHODS, OUI, RMPP, REG_FLAGS, NO_RECV, REG_WRONGS,
};

static void some_registration(void)
{
	struct kdev *dev = some_device();
	struct ib_mad_reg_req req = { .mgmt_class = one_of(0x31, 0x3c, 0x10, 0x05, 0x0a),
				      .mgmt_class_version = 1 + rnd(2) };
	u32 port = 1, rmpp = 0, flags = 0, type = IB_QPT_GSI;
	int wrong = one_in(2) ? (int)rnd(REG_WRONGS) : -1;
	ib_mad_recv_handler recv = nothing_received;
	struct ib_mad_agent *agent, *second;
	bool none = one_in(6);

	req.oui[2] = 5;
	set_bit(one_of(IB_MGMT_METHOD_GET, IB_MGMT_METHOD_SET, IB_MGMT_METHOD_SEND),
		req.method_mask);
	switch (wrong) {
	case PORT:
		/* not above, which has no data of a port */
		port = 0;
		break;
	case QP_TYPE:
		type = one_of(IB_QPT_RC, IB_QPT_UD, 77);
		break;
	case CLASS:
		req.mgmt_class = one_of(0, 0x50, 0x80, 0xff, IB_MGMT_CLASS_SUBN_LID_ROUTED,
					IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE);
		break;
	case VERSION:
		req.mgmt_class_version = one_of(0, 7, 8, 83, 255);
		break;
	case METHODS:
		set_bit(one_of(0, 0x81, 127, 4), req.method_mask);
		break;
	case OUI:
		req.oui[2] = 0;
		break;
	case RMPP:
		rmpp = one_of(1, 2, 255);
		break;
	case REG_FLAGS:
		flags = one_of(IB_MAD_USER_RMPP, 2, 0x80000000);
		break;
	case NO_RECV:
		recv = NULL;
		break;
	}
	call("ib_register_mad_agent %s port %u type %u class %x version %u methods %lx %lx oui %x",
	     dev->name, port, type, req.mgmt_class, req.mgmt_class_version, req.method_mask[0],
	     req.method_mask[1], req.oui[2]);
	say(" rmpp %u flags %x recv %d none %d", rmpp, flags, !!recv, none);
	agent = ib_register_mad_agent(dev->device, port, type, none ? NULL : &req, rmpp,
				      nothing_sent, recv, NULL, flags);
	if (IS_ERR(agent)) {
		answer(PTR_ERR(agent));
		return;
	}
	answer_with(0, "port %u rmpp %u flags %x kernel rmpp %d", agent->port_num,
		    agent->rmpp_version, agent->flags, ib_mad_kernel_rmpp_agent(agent));
	if (!one_in(6))
		goto unregister;
	call("ib_register_mad_agent again");
	second = ib_register_mad_agent(dev->device, port, type, none ? NULL : &req, rmpp,
				       nothing_sent, recv, NULL, flags);
	answer(PTR_ERR_OR_ZERO(second));
	if (!IS_ERR(second))
		ib_unregister_mad_agent(second);
unregister:
	call("ib_unregister_mad_agent");
	ib_unregister_mad_agent(agent);
	answer(0);
}

/* ---- buffers ---- */

static void some_buffer(struct mad_end *e)
{
	u32 hdr = one_of(IB_MGMT_MAD_HDR, IB_MGMT_VENDOR_HDR, IB_MGMT_RMPP_HDR, IB_MGMT_SA_HDR);
	u32 data = one_in(2) ? 256 - hdr : rnd(256 - hdr), active = 0;
	u8 version = IB_MGMT_BASE_VERSION;
	struct ib_mad_send_buf *buf;
	void *segment, *first;
	int i;

	if (e->rmpp && one_in(2)) {
		active = 1;
		hdr = IB_MGMT_VENDOR_HDR;
		data = rnd(3000);
	}
	switch (rnd(8)) {
	case 0:
		if (!active)
			data = 257 - hdr + rnd(1000);
		break;
	case 1:
		active = !e->rmpp;
		break;
	}
	call("ib_create_send_mad %s rmpp %d active %u hdr %u data %u", e->dev->name, e->rmpp,
	     active, hdr, data);
	buf = ib_create_send_mad(e->agent, 1, 0, active, hdr, data, GFP_KERNEL, version);
	if (IS_ERR(buf)) {
		answer(PTR_ERR(buf));
		return;
	}
	answer_with(0, "hdr %d data %d segments %d of %d %d agent %d timeout %d retries %d",
		    buf->hdr_len, buf->data_len, buf->seg_count, buf->seg_count ? buf->seg_size : 0,
		    buf->seg_count ? buf->seg_rmpp_size : 0,
		    buf->mad_agent == e->agent, buf->timeout_ms, buf->retries);
	first = buf->seg_count ? ib_get_rmpp_segment(buf, 1) : NULL;
	for (i = 1; i <= buf->seg_count; i++) {
		call("ib_get_rmpp_segment %d", i);
		segment = ib_get_rmpp_segment(buf, i);
		answer_with(0, "%d", segment && (i == 1 || segment != first));
	}
	call("ib_free_send_mad");
	ib_free_send_mad(buf);
	answer(0);
}

/* ---- requests ---- */

static struct ib_mad_send_buf *make_request(u32 attr, u32 data)
{
	int active = asker->rmpp && data > IB_MGMT_VENDOR_DATA, i, at;
	struct ib_mad_send_buf *buf;
	struct ib_vendor_mad *mad;

	call("ib_create_send_mad request attr %x data %u", attr, data);
	buf = ib_create_send_mad(asker->agent, 1, 0, active, IB_MGMT_VENDOR_HDR, data, GFP_KERNEL,
				 IB_MGMT_BASE_VERSION);
	if (answer(PTR_ERR_OR_ZERO(buf)))
		return NULL;
	mad = buf->mad;
	mad_header(&mad->mad_hdr, IB_MGMT_METHOD_GET, attr,
		   (u64)asker->agent->hi_tid << 32 | ++asker->tid);
	memcpy(mad->oui, mad_oui, 3);
	if (active) {
		ib_set_rmpp_flags(&mad->rmpp_hdr, IB_MGMT_RMPP_FLAG_ACTIVE);
		for (i = 1, at = 0; i <= buf->seg_count; i++, at += buf->seg_size)
			memset(ib_get_rmpp_segment(buf, i), 0x40 + i,
			       min_t(int, buf->seg_size, (int)data - at));
	} else {
		memset(mad->data, 0x41, min_t(u32, data, IB_MGMT_VENDOR_DATA));
	}
	return buf;
}

static bool post(struct ib_mad_send_buf *buf, u32 timeout, u32 retries)
{
	call("ib_post_send_mad%s%s tid %u timeout %u retries %u", asker->ipv4 ? " to IPv4" : "",
	     buf->seg_count > 1 ? " in segments" : "", asker->tid, timeout, retries);
	buf->ah = asker->ah;
	buf->timeout_ms = timeout;
	buf->retries = retries;
	buf->context[0] = (void *)(uintptr_t)asker->tid;
	WRITE_ONCE(asker->awaited, buf);
	if (!answer(ib_post_send_mad(buf, NULL)))
		return true;
	WRITE_ONCE(asker->awaited, NULL);
	ib_free_send_mad(buf);
	return false;
}

/* If it is still awaited, the handler frees it from now on. */
static bool not_awaited(struct ib_mad_send_buf *buf)
{
	if (cmpxchg(&asker->awaited, buf, NULL) != buf)
		ib_free_send_mad(buf);
	return false;
}

/* So many events of the asker, of which the last is that it is over. */
static bool take_end(struct ib_mad_send_buf *buf, unsigned int events)
{
	if (!take_events(&asker->events, events) || READ_ONCE(asker->awaited) == buf)
		return not_awaited(buf);
	return true;
}

/* The agent that receives it sees one request. False: something has not come. */
static bool request(void)
{
	u32 attr = one_of(ATTR_ANSWER, ATTR_ANSWER, ATTR_ANSWER, ATTR_SILENT, ATTR_LATE);
	u32 data = asker->rmpp && one_in(3) ? IB_MGMT_VENDOR_DATA + rnd(2000) :
					      rnd(IB_MGMT_VENDOR_DATA + 1);
	unsigned int events = 1;
	struct ib_mad_send_buf *buf;

	if (attr != ATTR_ANSWER)
		data = rnd(IB_MGMT_VENDOR_DATA + 1);
	buf = make_request(attr, data);
	if (!buf)
		return false;
	switch (attr) {
	case ATTR_ANSWER:
		/* received by the peer; the response, then the completion */
		if (!post(buf, 3000, 1))
			return false;
		if (!take_events(&answerer->events, 1))
			return not_awaited(buf);
		events = 2;
		break;
	case ATTR_SILENT:
		if (!post(buf, 50, 1 + rnd(2)))
			return false;
		if (!take_events(&answerer->events, 1))
			return not_awaited(buf);
		break;
	default:
		/* Answered by nobody until it is cancelled, or its time is changed. */
		if (!post(buf, 60000, 0))
			return false;
		if (!take_events(&answerer->events, 1))
			return not_awaited(buf);
		if (one_in(2)) {
			call("ib_modify_mad timeout 0");
			answer(ib_modify_mad(buf, 0));
		} else {
			call("ib_modify_mad timeout 20");
			answer(ib_modify_mad(buf, 20));
		}
	}
	if (!take_end(buf, events))
		return false;
	/* Sometimes it is changed when it is over, which is refused. */
	if (one_in(4)) {
		call("ib_modify_mad of one that is over");
		answer(ib_modify_mad(buf, 1000));
	}
	ib_free_send_mad(buf);
	return true;
}

/* It expects no response: it ends when it is sent. */
static bool datagram(void)
{
	struct ib_mad_send_buf *buf = make_request(ATTR_DATAGRAM, rnd(IB_MGMT_VENDOR_DATA + 1));

	if (!buf || !post(buf, 0, 0) || !take_end(buf, 1))
		return false;
	ib_free_send_mad(buf);
	return take_events(&answerer->events, 1);
}

/* Unregistering the agent completes it. */
static void left_over(void)
{
	struct ib_mad_send_buf *buf = make_request(ATTR_LATE, 8);

	if (!buf || !post(buf, 60000, 0))
		return;
	not_awaited(buf);
	take_events(&answerer->events, 1);
	rdma_destroy_ah(asker->ah, RDMA_DESTROY_AH_SLEEPABLE);
	asker->ah = NULL;
	call("ib_unregister_mad_agent with a request");
	ib_unregister_mad_agent(asker->agent);
	asker->agent = NULL;
	answer(0);
	take_events(&asker->events, 1);
}

void mads(u64 number)
{
	struct ib_mad_reg_req req = { .mgmt_class = MAD_CLASS, .mgmt_class_version = 1 };
	struct kdev *dev = some_device();
	unsigned int calls = 6 + rnd(8);
	bool rmpp = one_in(2), good = true;

	if (one_in(3)) {
		while (calls--)
			some_registration();
		return;
	}
	memcpy(req.oui, mad_oui, 3);
	set_bit(IB_MGMT_METHOD_GET, req.method_mask);
	asker = mad_end(dev, rmpp);
	answerer = mad_end(peer_of(dev), rmpp);
	if (!asker || !answerer)
		goto out;
	answerer->answers = true;
	answerer->agent = register_agent(answerer, &req, rmpp);
	asker->agent = register_agent(asker, NULL, rmpp);
	if (!answerer->agent || !asker->agent || !mad_ah(asker, answerer->dev))
		goto out;
	while (good && calls--) {
		switch (rnd(8)) {
		case 0:
			some_buffer(asker);
			break;
		case 1:
			good = datagram();
			break;
		default:
			good = request();
		}
	}
	if (good && one_in(3))
		left_over();
out:
	mad_end_free(asker);
	mad_end_free(answerer);
}
