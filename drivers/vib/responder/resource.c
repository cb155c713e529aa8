// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Responder resources: RDMA READ and atomic requests that have been accepted (IBA vol. 1, 9.4.4,
 * 9.4.5, 9.7.5.1.3).
 *
 * The requester has at most max_dest_rd_atomic of them outstanding, and so many are kept, also
 * after their responses were sent, as those may be lost.  A duplicate of a READ reads the memory
 * again; a duplicate of an atomic gets the saved result, as it must not be executed twice.
 *
 * A request that is accepted when all resources are in use shows that the requester has the
 * result of the oldest, if the responses of that one have been sent.  If they have not, the
 * requester has more requests outstanding than it may.
 */
#include <linux/atomic.h>
#include "responder/responder.h"

/* PSNs in use at once: less than half of all, so that old and new can be told (9.7.2). */
#define MAX_RESPONSES	0x7fffff

/* ---- the ring ---- */

static struct vib_resource *resource_at(struct vib_responder *resp, u8 i)
{
	return &resp->resources[(resp->first + i) % VIB_MAX_RD_ATOMIC];
}

static bool is_read(const struct vib_resource *r)
{
	return r->operation == IB_OPCODE_RDMA_READ_REQUEST;
}

/* Room for another; false: the requester has too many outstanding (9.7.4.1.4). */
static bool make_room(const struct vib_rc *rc, struct vib_responder *resp)
{
	/* The consumer may have lowered the limit, so one may not be enough. */
	while (resp->count >= rc->max_dest_rd_atomic) {
		if (!resp->count || !resource_at(resp, 0)->answered)
			return false;
		resp->first = (resp->first + 1) % VIB_MAX_RD_ATOMIC;
		resp->count--;
	}
	return true;
}

/*
 * @r, which is accepted, with @packets responses, becomes the newest.  The first response
 * acknowledges all requests before it, so no ACK of those is due any more.
 */
static void resource_add(struct vib_qp *qp, struct vib_packet *pkt,
			 const struct vib_resource *r, u32 packets)
{
	struct vib_responder *resp = &qp->rc->resp;
	struct vib_resource *slot = resource_at(resp, resp->count++);

	*slot = *r;
	slot->operation = VIB_OPERATION(ib_bth_get_opcode(vib_packet_bth(pkt)));
	slot->srqn = vib_request_srqn(pkt);
	slot->psn = resp->psn;
	slot->last_psn = vib_psn_add(resp->psn, packets - 1);
	slot->start_psn = resp->psn;
	slot->send_psn = resp->psn;
	slot->replying = true;
	vib_responder_advance(qp, packets, true);
	slot->msn = resp->msn;
	vib_reply_none(resp);
}

struct vib_resource *vib_resource_replying(struct vib_responder *resp)
{
	struct vib_resource *r;
	u8 i;

	for (i = 0; i < resp->count; i++) {
		r = resource_at(resp, i);
		if (r->replying)
			return r;
	}
	return NULL;
}

void vib_resource_sent(struct vib_resource *r)
{
	if (r->send_psn == r->last_psn) {
		r->replying = false;
		r->answered = true;
	}
	r->send_psn = vib_psn_add(r->send_psn, 1);
}

void vib_resources_forget(struct vib_responder *resp)
{
	resp->count = 0;
}

/* ---- RDMA READ ---- */

static struct vib_resource read_parse(struct vib_packet *pkt)
{
	struct ib_reth *reth = vib_packet_ext(pkt, VIB_EXT_RETH);

	return (struct vib_resource){
		.addr = get_ib_reth_vaddr(reth),
		.rkey = be32_to_cpu(reth->rkey),
		.len = be32_to_cpu(reth->length),
	};
}

/* 9.7.2: even an empty one has a response. */
static u32 read_packets(const struct vib_qp *qp, u32 len)
{
	return max(DIV_ROUND_UP_ULL(len, qp->rc->mtu), 1ULL);
}

enum vib_verdict vib_read_check(struct vib_qp *qp, struct vib_packet *pkt)
{
	struct vib_resource r = read_parse(pkt);

	if (!(qp->rc->access & IB_ACCESS_REMOTE_READ) || !make_room(qp->rc, &qp->rc->resp))
		return VIB_BAD_REQUEST;
	if (!vib_remote_walk(qp, r.rkey, r.addr, r.len, IB_ACCESS_REMOTE_READ, NULL, NULL))
		return VIB_BAD_ACCESS;
	if (pkt->len || r.len > VIB_MAX_MSG || read_packets(qp, r.len) > MAX_RESPONSES)
		return VIB_BAD_REQUEST;
	return VIB_TAKEN;
}

/* The memory is read when the responses are made. */
enum vib_verdict vib_read_take(struct vib_qp *qp, struct vib_packet *pkt)
{
	struct vib_resource r = read_parse(pkt);

	resource_add(qp, pkt, &r, read_packets(qp, r.len));
	return VIB_TAKEN;
}

/* ---- atomics ---- */

struct atomic_request {
	u8 operation;
	u64 swap_add, compare;
	u64 original;		/* what was there before */
};

static struct vib_resource atomic_parse(struct vib_packet *pkt)
{
	struct ib_atomic_eth *eth = vib_packet_ext(pkt, VIB_EXT_ATOMIC);

	return (struct vib_resource){
		.addr = get_ib_ateth_vaddr(eth),
		.rkey = be32_to_cpu(eth->rkey),
		.len = sizeof(u64),
	};
}

enum vib_verdict vib_atomic_check(struct vib_qp *qp, struct vib_packet *pkt)
{
	struct vib_resource r = atomic_parse(pkt);

	if (!(qp->rc->access & IB_ACCESS_REMOTE_ATOMIC) || !make_room(qp->rc, &qp->rc->resp))
		return VIB_BAD_REQUEST;
	if (!IS_ALIGNED(r.addr, sizeof(u64)) || pkt->len)
		return VIB_BAD_REQUEST;
	return vib_remote_atomic(qp, r.rkey, r.addr, NULL, NULL) ? VIB_TAKEN : VIB_BAD_ACCESS;
}

/*
 * Other QPs, of this and other ports, may have their turn at the same memory at the same time,
 * and so may the consumer.  The values are integers of the host (9.4.5).
 */
static void atomic_execute(void *mem, u32 len, void *context)
{
	struct atomic_request *request = context;

	if (request->operation == IB_OPCODE_COMPARE_SWAP)
		request->original = atomic64_cmpxchg(mem, request->compare, request->swap_add);
	else
		request->original = atomic64_fetch_add(request->swap_add, mem);
}

enum vib_verdict vib_atomic_take(struct vib_qp *qp, struct vib_packet *pkt)
{
	struct ib_atomic_eth *eth = vib_packet_ext(pkt, VIB_EXT_ATOMIC);
	struct atomic_request request = {
		.operation = VIB_OPERATION(ib_bth_get_opcode(vib_packet_bth(pkt))),
		.swap_add = get_ib_ateth_swap(eth),
		.compare = get_ib_ateth_compare(eth),
	};
	struct vib_resource r = atomic_parse(pkt);

	if (!vib_remote_atomic(qp, r.rkey, r.addr, atomic_execute, &request))
		return VIB_BAD_ACCESS;
	r.value = request.original;
	resource_add(qp, pkt, &r, 1);
	return VIB_TAKEN;
}

/* ---- duplicates (9.7.5.1.3) ---- */

/* Of a READ the requester may ask for what it misses: from its PSN on, to the end. */
static bool is_duplicate_of(const struct vib_qp *qp, const struct vib_resource *r,
			    struct vib_packet *pkt)
{
	u8 operation = VIB_OPERATION(ib_bth_get_opcode(vib_packet_bth(pkt)));
	u32 offset = vib_psn_diff(vib_packet_psn(pkt), r->psn) * qp->rc->mtu;
	struct vib_resource again;

	if (operation != r->operation || pkt->len)
		return false;
	if (!is_read(r)) {
		again = atomic_parse(pkt);
		return again.addr == r->addr && again.rkey == r->rkey;
	}
	again = read_parse(pkt);
	return again.addr == r->addr + offset && again.rkey == r->rkey &&
	       again.len == r->len - offset;
}

static bool resource_has(const struct vib_resource *r, u32 psn)
{
	return vib_psn_diff(psn, r->psn) >= 0 && vib_psn_diff(psn, r->last_psn) <= 0;
}

/* Sends from @psn on; what is before it, and has not been sent yet, is sent as well. */
static void rewind_to(struct vib_resource *r, u32 psn)
{
	if (r->replying && vib_psn_diff(r->send_psn, psn) <= 0)
		return;
	r->replying = true;
	r->start_psn = psn;
	r->send_psn = psn;
}

/*
 * The requester expects the responses of later requests after those of this one, from their
 * beginning.  Those that are being sent begin anew, so that there is no gap in them; for the
 * others the requester will ask.
 */
void vib_resource_replay(struct vib_qp *qp, struct vib_packet *pkt)
{
	struct vib_responder *resp = &qp->rc->resp;
	u32 psn = vib_packet_psn(pkt);
	struct vib_resource *r;
	bool found = false;
	u8 i;

	for (i = 0; i < resp->count; i++) {
		r = resource_at(resp, i);
		if (found && r->replying) {
			rewind_to(r, r->psn);
		} else if (!found && resource_has(r, psn)) {
			if (!is_duplicate_of(qp, r, pkt))
				break;
			rewind_to(r, psn);
			found = true;
		}
	}
	if (!found)
		atomic64_inc(&vib_ca_port(qp->port)->drops[VIB_DROP_REQUEST]);
}
