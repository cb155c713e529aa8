// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Sending: write() of a header and a MAD.
 *
 * The agent is looked up twice: to allocate a buffer, and, once the buffer is filled
 * from user memory, to post it.  In between the agent may be unregistered.  The buffer
 * keeps the memory of its agent, so that another agent that got the same id meanwhile
 * can be distinguished from it.
 */
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "umad/trace.h"

/* The headers of a MAD of any class; those of device management are the longest. */
#define UMAD_LEAD	IB_MGMT_DEVICE_HDR

/* The state of one write(). */
struct umad_write {
	struct ib_umad_file *file;
	const char __user *data;	/* the MAD */
	size_t length;			/* of the MAD */
	size_t lead_len;		/* bytes of lead that were copied */
	union {
		u8 lead[UMAD_LEAD];
		struct ib_rmpp_mad mad;	/* only its headers */
	};
	bool transfer;			/* the MAD layer splits it into RMPP segments */
};

/* ---- outstanding sends ---- */

static const struct rhashtable_params umad_send_params = {
	.key_len = sizeof_field(struct ib_mad_hdr, tid),
	.key_offset = offsetof(struct umad_packet, mad_hdr.tid),
	.head_offset = offsetof(struct umad_packet, node),
	.automatic_shrinking = true,
};

int umad_sends_init(struct ib_umad_file *file)
{
	spin_lock_init(&file->send_lock);
	return rhltable_init(&file->sends, &umad_send_params);
}

void umad_sends_exit(struct ib_umad_file *file)
{
	WARN_ON(atomic_read(&file->sends.ht.nelems));
	rhltable_destroy(&file->sends);
}

static bool umad_same_peer(const struct ib_user_mad_hdr *a,
			   const struct ib_user_mad_hdr *b)
{
	if (a->grh_present || b->grh_present)
		return a->grh_present && b->grh_present &&
		       !memcmp(a->gid, b->gid, sizeof(a->gid));
	return a->lid == b->lid;
}

/*
 * Whether ACKs or responses could not be assigned to one of two sends with the same
 * TID.  The TID of a request was chosen by its agent, that of a response by the
 * requester.
 */
static bool umad_same_send(const struct umad_packet *a, const struct umad_packet *b)
{
	bool response = ib_response_mad(&a->mad_hdr);

	return a->mad_hdr.mgmt_class == b->mad_hdr.mgmt_class &&
	       response == !!ib_response_mad(&b->mad_hdr) &&
	       (!response || umad_same_peer(&a->hdr, &b->hdr));
}

static bool umad_send_is_listed(struct ib_umad_file *file,
				const struct umad_packet *packet)
{
	struct rhlist_head *list, *node;
	struct umad_packet *other;
	bool found = false;

	lockdep_assert_held(&file->send_lock);
	rcu_read_lock();
	list = rhltable_lookup(&file->sends, &packet->mad_hdr.tid, umad_send_params);
	rhl_for_each_entry_rcu(other, node, list, node) {
		found = umad_same_send(packet, other);
		if (found)
			break;
	}
	rcu_read_unlock();
	return found;
}

/*
 * Refuses @packet if another is outstanding that it could be mistaken for; lists it if it
 * @awaits a response or ACK itself.
 */
static int umad_send_enlist(struct ib_umad_file *file, struct umad_packet *packet,
			    bool awaits)
{
	int ret = 0;

	spin_lock(&file->send_lock);
	if (umad_send_is_listed(file, packet))
		ret = -EINVAL;
	else if (awaits)
		ret = rhltable_insert(&file->sends, &packet->node, umad_send_params);
	spin_unlock(&file->send_lock);
	packet->listed = awaits && !ret;
	return ret;
}

static void umad_send_unlist(struct ib_umad_file *file, struct umad_packet *packet)
{
	if (!packet->listed)
		return;
	spin_lock(&file->send_lock);
	rhltable_remove(&file->sends, &packet->node, umad_send_params);
	spin_unlock(&file->send_lock);
	packet->listed = false;
}

/* ---- completion ---- */

/*
 * A process that has read its response may use the TID again at once.  Handlers of an
 * agent run one at a time, so umad_send_done() has not freed the packet.
 */
void umad_send_answered(struct ib_mad_send_buf *buf)
{
	struct umad_packet *packet = buf->context[0];

	umad_send_unlist(packet->agent->file, packet);
}

/* The MAD layer has completed a send; see the head of umad.h. */
void umad_send_done(struct ib_mad_agent *mad_agent, struct ib_mad_send_wc *wc)
{
	struct umad_packet *packet = wc->send_buf->context[0];
	struct umad_agent *agent = packet->agent;

	umad_send_unlist(agent->file, packet);
	rdma_destroy_ah(wc->send_buf->ah, RDMA_DESTROY_AH_SLEEPABLE);
	ib_free_send_mad(wc->send_buf);
	if (wc->status != IB_WC_RESP_TIMEOUT_ERR) {
		kfree(packet);
		return;
	}
	/* The process reads back its own header and that of the MAD. */
	packet->hdr.status = ETIMEDOUT;
	packet->length = sizeof(packet->mad_hdr);
	umad_recv_queue(agent->file, packet);
}

/* ---- posting ---- */

static struct ib_ah *umad_create_ah(struct umad_agent *agent,
				    const struct ib_user_mad_hdr *hdr)
{
	struct umad_port *port = agent->file->port;
	struct rdma_ah_attr attr = {
		.type = rdma_ah_find_type(port->ib_dev, port->port_num),
	};
	union ib_gid dgid;

	rdma_ah_set_port_num(&attr, port->port_num);
	rdma_ah_set_sl(&attr, hdr->sl);
	rdma_ah_set_dlid(&attr, be16_to_cpu(hdr->lid));
	rdma_ah_set_path_bits(&attr, hdr->path_bits);
	if (hdr->grh_present) {
		memcpy(dgid.raw, hdr->gid, sizeof(dgid.raw));
		rdma_ah_set_grh(&attr, &dgid, be32_to_cpu(hdr->flow_label),
				hdr->gid_index, hdr->hop_limit, hdr->traffic_class);
	}
	return rdma_create_user_ah(agent->mad->qp->pd, &attr, NULL);
}

/* The MAD layer finds the agent of a response by the upper half of the request's TID. */
static void umad_set_tid(struct umad_agent *agent, struct ib_mad_hdr *hdr)
{
	u64 tid = be64_to_cpu(hdr->tid);

	if (!ib_response_mad(hdr))
		hdr->tid = cpu_to_be64((u64)agent->mad->hi_tid << 32 | lower_32_bits(tid));
}

/* Whether the MAD is a segment of an RMPP transfer that the process handles itself. */
static bool umad_is_segment(const struct umad_write *w)
{
	return !w->transfer && ib_is_mad_class_rmpp(w->mad.mad_hdr.mgmt_class) &&
	       (ib_get_rmpp_flags((struct ib_rmpp_hdr *)&w->mad.rmpp_hdr) &
		IB_MGMT_RMPP_FLAG_ACTIVE);
}

static int umad_post(const struct umad_write *w, struct umad_agent *agent,
		     struct umad_packet *packet, struct ib_mad_send_buf *buf)
{
	int ret;

	buf->ah = umad_create_ah(agent, &packet->hdr);
	if (IS_ERR(buf->ah))
		return PTR_ERR(buf->ah);
	buf->timeout_ms = packet->hdr.timeout_ms;
	buf->retries = min_t(u32, packet->hdr.retries, INT_MAX);
	buf->context[0] = packet;
	umad_set_tid(agent, buf->mad);
	packet->mad_hdr = *(struct ib_mad_hdr *)buf->mad;
	packet->agent = agent;
	trace_ib_umad_write(w->file, &packet->hdr, &packet->mad_hdr);

	ret = umad_is_segment(w) ? 0 :
	      umad_send_enlist(w->file, packet, w->transfer || packet->hdr.timeout_ms);
	if (ret)
		goto err_ah;
	ret = ib_post_send_mad(buf, NULL);
	if (ret)
		goto err_list;
	return 0;

err_list:
	umad_send_unlist(w->file, packet);
err_ah:
	rdma_destroy_ah(buf->ah, RDMA_DESTROY_AH_SLEEPABLE);
	return ret;
}

/* Consumes @packet and @buf unless it fails. */
static int umad_post_with_agent(const struct umad_write *w, struct umad_packet *packet,
				struct ib_mad_send_buf *buf)
{
	struct umad_agent *agent = umad_agent_get(w->file, packet->hdr.id);
	int ret = -EIO;

	if (!agent)
		return -EIO;
	if (agent->mad == buf->mad_agent)
		ret = umad_post(w, agent, packet, buf);
	umad_agent_put(agent);
	return ret;
}

/* ---- buffers ---- */

/*
 * Whether the MAD is an RMPP transfer that the MAD layer segments.  For an agent for
 * which it does RMPP it also sends the ACKs and the like, so the MAD cannot be one.
 */
static bool umad_is_transfer(const struct ib_mad_agent *mad,
			     struct ib_rmpp_mad *rmpp_mad)
{
	return ib_mad_kernel_rmpp_agent(mad) &&
	       (ib_get_rmpp_flags(&rmpp_mad->rmpp_hdr) & IB_MGMT_RMPP_FLAG_ACTIVE);
}

static struct ib_mad_send_buf *umad_alloc_buf(struct umad_write *w,
					      struct ib_mad_agent *mad,
					      const struct ib_user_mad_hdr *hdr)
{
	/* The process chooses the length: account the memory, do not retry forever. */
	gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN;
	u8 mgmt_class = w->mad.mad_hdr.mgmt_class;
	size_t hdr_len = ib_get_mad_data_offset(mgmt_class);

	if (w->length < hdr_len || w->length > INT_MAX)
		return ERR_PTR(-EINVAL);
	/* An agent for RMPP sends no MADs that have no header for it. */
	if (mad->rmpp_version && !ib_is_mad_class_rmpp(mgmt_class))
		return ERR_PTR(-EINVAL);
	w->transfer = umad_is_transfer(mad, &w->mad);
	if (w->transfer)
		w->lead_len = hdr_len;
	else
		hdr_len = IB_MGMT_MAD_HDR;
	return ib_create_send_mad(mad, be32_to_cpu(hdr->qpn), hdr->pkey_index,
				  w->transfer, hdr_len, w->length - hdr_len, gfp,
				  w->mad.mad_hdr.base_version);
}

static struct ib_mad_send_buf *umad_create_buf(struct umad_write *w,
					       const struct ib_user_mad_hdr *hdr)
{
	struct umad_agent *agent = umad_agent_get(w->file, hdr->id);
	struct ib_mad_send_buf *buf;

	if (!agent)
		return ERR_PTR(-EIO);
	buf = umad_alloc_buf(w, agent->mad, hdr);
	umad_agent_put(agent);
	return buf;
}

/*
 * Copies the headers.  If the MAD layer does RMPP for the agent the RMPP header is its
 * own, and the process determines only RRespTime of a transfer.
 */
static void umad_fill_headers(const struct umad_write *w, struct ib_mad_send_buf *buf)
{
	struct ib_rmpp_mad *mad = buf->mad;
	struct ib_rmpp_hdr rmpp = mad->rmpp_hdr;

	memcpy(mad, w->lead, w->lead_len);
	if (!ib_mad_kernel_rmpp_agent(buf->mad_agent))
		return;
	if (w->transfer)
		ib_set_rmpp_resptime(&rmpp, ib_get_rmpp_resptime(&mad->rmpp_hdr));
	mad->rmpp_hdr = rmpp;
}

static int umad_fill_segments(const struct umad_write *w, struct ib_mad_send_buf *buf)
{
	const char __user *from = w->data + w->lead_len;
	size_t left = w->length - w->lead_len;
	int seg;

	for (seg = 1; left; seg++) {
		size_t n = min_t(size_t, left, buf->seg_size);

		if (copy_from_user(ib_get_rmpp_segment(buf, seg), from, n))
			return -EFAULT;
		from += n;
		left -= n;
		cond_resched();
	}
	return 0;
}

/* Copies from user memory only what is not in lead yet. */
static int umad_fill_buf(const struct umad_write *w, struct ib_mad_send_buf *buf)
{
	umad_fill_headers(w, buf);
	if (w->transfer)
		return umad_fill_segments(w, buf);
	if (copy_from_user(buf->mad + w->lead_len, w->data + w->lead_len,
			   w->length - w->lead_len))
		return -EFAULT;
	return 0;
}

/* ---- write() ---- */

static int umad_send(struct umad_write *w, struct umad_packet *packet)
{
	struct ib_mad_send_buf *buf;
	int ret;

	buf = umad_create_buf(w, &packet->hdr);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	ret = umad_fill_buf(w, buf);
	if (!ret)
		ret = umad_post_with_agent(w, packet, buf);
	if (ret)
		ib_free_send_mad(buf);
	return ret;
}

/*
 * Returns -EINVAL if the MAD is too short or too long, the id is one that no agent can
 * have, the address is invalid, or an outstanding send cannot be distinguished from
 * this one; -EIO if there is no such agent, or the device was removed.
 */
ssize_t umad_write(struct file *filp, const char __user *buf, size_t count,
		   loff_t *pos)
{
	struct ib_umad_file *file = filp->private_data;
	size_t head = umad_hdr_size(file);
	struct umad_write w = { .file = file };
	struct umad_packet *packet;
	int ret;

	if (count < head + UMAD_MIN_MAD)
		return -EINVAL;
	w.data = buf + head;
	w.length = count - head;
	w.lead_len = min_t(size_t, w.length, UMAD_LEAD);

	packet = kzalloc(sizeof(*packet), GFP_KERNEL_ACCOUNT);
	if (!packet)
		return -ENOMEM;
	if (copy_from_user(&packet->hdr, buf, head) ||
	    copy_from_user(w.lead, w.data, w.lead_len)) {
		ret = -EFAULT;
		goto err;
	}
	ret = packet->hdr.id < UMAD_MAX_AGENTS ? umad_send(&w, packet) : -EINVAL;
	if (ret)
		goto err;
	return count;

err:
	kfree(packet);
	return ret;
}
