// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* An agent with its handlers: it leaves an event for each, and answers requests. */
#include <linux/crc32.h>
#include <linux/slab.h>
#include "mad/mad.h"
#include "objects/qp.h"

const u8 mad_oui[3] = { 0x02, 0x1b, 0xe8 };

void mad_header(struct ib_mad_hdr *hdr, u8 method, u32 attr, u64 tid)
{
	hdr->base_version = IB_MGMT_BASE_VERSION;
	hdr->mgmt_class = MAD_CLASS;
	hdr->class_version = 1;
	hdr->method = method;
	hdr->attr_id = cpu_to_be16(attr);
	hdr->tid = cpu_to_be64(tid);
}

/*
 * The asker frees its requests. That answers were sent is nothing that the asker's events do not
 * tell.
 */
void mad_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct mad_end *e = agent->context;

	if (!e->answers) {
		u32 tid = (uintptr_t)wc->send_buf->context[0];
		enum ib_wc_status status = wc->status;

		/* Before the event, which the thread waits for. */
		if (cmpxchg(&e->awaited, wc->send_buf, NULL) != wc->send_buf)
			ib_free_send_mad(wc->send_buf);
		event(&e->events, "sent: tid %u status %s", tid, ib_wc_status_msg(status));
		return;
	}
	rdma_destroy_ah(wc->send_buf->ah, RDMA_DESTROY_AH_SLEEPABLE);
	ib_free_send_mad(wc->send_buf);
}

/* Of all segments, behind the header of the class. */
static u32 sum_of(const struct ib_mad_recv_wc *wc, u32 hdr)
{
	u32 left = wc->mad_len - hdr, crc = 0, len;
	const struct ib_mad_recv_buf *buf;

	list_for_each_entry(buf, &wc->rmpp_list, list) {
		len = min_t(u32, left, 256 - hdr);
		crc = crc32_le(crc, (u8 *)buf->mad + hdr, len);
		left -= len;
	}
	return crc;
}

static void answer_request(struct mad_end *e, struct ib_mad_recv_wc *wc)
{
	const struct ib_vendor_mad *asked = (void *)wc->recv_buf.mad;
	struct ib_mad_send_buf *buf;
	struct ib_vendor_mad *mad;
	struct ib_ah *ah;

	ah = ib_create_ah_from_wc(e->agent->qp->pd, wc->wc, wc->recv_buf.grh, 1);
	if (IS_ERR(ah)) {
		event(&e->events, "no address of the asker: %ld", PTR_ERR(ah));
		return;
	}
	buf = ib_create_send_mad(e->agent, wc->wc->src_qp, wc->wc->pkey_index, 0,
				 IB_MGMT_VENDOR_HDR,
				 IB_MGMT_VENDOR_DATA, GFP_KERNEL, IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf)) {
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
		return;
	}
	mad = buf->mad;
	mad->mad_hdr = asked->mad_hdr;
	mad->mad_hdr.method |= IB_MGMT_METHOD_RESP;
	memcpy(mad->oui, asked->oui, 3);
	memset(mad->data, 0x61, sizeof(mad->data));
	buf->ah = ah;
	if (ib_post_send_mad(buf, NULL)) {
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
		ib_free_send_mad(buf);
	}
}

void mad_received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
		  struct ib_mad_recv_wc *wc)
{
	struct mad_end *e = agent->context;
	const struct ib_mad_hdr *hdr = &wc->recv_buf.mad->mad_hdr;
	u32 tid = be64_to_cpu(hdr->tid);

	/* Copies of a request depend on when its answer comes. */
	if (e->answers && tid <= e->tid) {
		ib_free_recv_mad(wc);
		return;
	}
	if (e->answers)
		e->tid = tid;
	event(&e->events,
	      "received: tid %u class %x method %x attr %x status %x len %d sum %08x request %d qp %u pkey %u flags %x",
	      tid, hdr->mgmt_class, hdr->method, be16_to_cpu(hdr->attr_id),
	      be16_to_cpu(hdr->status), wc->mad_len, sum_of(wc, IB_MGMT_VENDOR_HDR), !!buf,
	      wc->wc->src_qp, wc->wc->pkey_index, wc->wc->wc_flags & IB_WC_GRH);
	if (e->answers && hdr->attr_id == cpu_to_be16(ATTR_ANSWER))
		answer_request(e, wc);
	ib_free_recv_mad(wc);
}

struct mad_end *mad_end(struct kdev *dev, bool rmpp)
{
	struct mad_end *e = kzalloc(sizeof(*e), GFP_KERNEL);

	if (!e)
		return NULL;
	source_init(&e->events);
	e->dev = dev;
	e->rmpp = rmpp;
	return e;
}

/* Of the host of a RoCE device, in its table as an IPv6 address. */
static void ipv6_of(const struct kdev *dev, union ib_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	gid->raw[0] = 0xfd;
	gid->raw[15] = dev->gid.raw[15];
}

static bool use_ipv6(struct rdma_ah_attr *attr, const struct kdev *from, const struct kdev *to)
{
	const struct ib_gid_attr *gid_attr;
	union ib_gid sgid;

	ipv6_of(from, &sgid);
	ipv6_of(to, &attr->grh.dgid);
	gid_attr = rdma_find_gid_by_port(from->device, &sgid, IB_GID_TYPE_ROCE_UDP_ENCAP, 1, NULL);
	if (IS_ERR(gid_attr))
		return false;
	attr->grh.sgid_index = gid_attr->index;
	rdma_put_gid_attr(gid_attr);
	return true;
}

bool mad_ah(struct mad_end *e, struct kdev *to)
{
	struct rdma_ah_attr attr;
	struct ib_ah *ah;

	right_ah_attr(&attr, e->dev, to);
	e->ipv4 = !is_vib(e->dev) && one_in(4);
	if (!is_vib(e->dev) && !e->ipv4 && !use_ipv6(&attr, e->dev, to))
		return false;
	/* the domain of the QP that sends */
	ah = rdma_create_ah(e->agent->qp->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	if (IS_ERR(ah))
		return false;
	e->ah = ah;
	return true;
}

void mad_end_free(struct mad_end *e)
{
	if (!e)
		return;
	if (e->ah)
		rdma_destroy_ah(e->ah, RDMA_DESTROY_AH_SLEEPABLE);
	if (e->agent) {
		call("ib_unregister_mad_agent %s", e->dev->name);
		ib_unregister_mad_agent(e->agent);
		answer(0);
		/* What was outstanding has been given back before it returned. */
		if (!e->answers)
			events_left(&e->events);
	}
	kfree(e);
}
