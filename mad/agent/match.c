// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which send a received MAD belongs to: the request that it answers, or the RMPP
 * transfer that it is a control MAD of.  An agent's table of TIDs leads there; the
 * class, the method and the peer have to be right as well (IBA vol. 1, 13.4.6.4 and
 * 13.5.4).
 *
 * One send at a time is not in the table but agent->lone: many a client never has
 * more out than one, and for each the table costs a hundred instructions three times.
 */
#include <rdma/opa_addr.h>
#include "agent/agent.h"
#include "port/port.h"

#define MATCH_MAX_LMC	7	/* a port has 128 LIDs at most (IBA 4.1.3) */

/*
 * TIDs are mostly counted up, which a multiplication spreads best.  Who chooses them
 * to make its chains long waits for those itself: a table is one agent's.
 */
static u32 match_hash(const void *key, u32 len, u32 seed)
{
	return hash_64(be64_to_cpup(key) ^ seed, 32);
}

static const struct rhashtable_params tid_params = {
	.key_len = sizeof_field(struct ibmad_send, tid),
	.key_offset = offsetof(struct ibmad_send, tid),
	.head_offset = offsetof(struct ibmad_send, tid_node),
	.hashfn = match_hash,
	/* A client that has a hundred out, then none, is not to resize it. */
	.min_size = 256,
	.automatic_shrinking = true,
};

int ibmad_match_init(struct ibmad_agent *agent)
{
	return rhltable_init(&agent->by_tid, &tid_params);
}

void ibmad_match_exit(struct ibmad_agent *agent)
{
	rhltable_destroy(&agent->by_tid);
}

/* ---- from where, to where ---- */

/* Whether @dgid is one that its port answers by. */
static bool match_is_port_gid(const union ib_gid *dgid)
{
	/* The SA's well-known GUID is nobody's; Omni-Path puts long LIDs into GIDs. */
	return dgid->global.interface_id != cpu_to_be64(IB_SA_WELL_KNOWN_GUID) &&
	       !ib_is_opa_gid(dgid);
}

/*
 * Whether @slid is @dlid, or can be the base LID of its port: one that has many (by
 * its LMC, of which nobody here knows) may answer from that.
 */
static bool match_is_base_lid(u32 slid, u32 dlid)
{
	unsigned int lmc;

	if (slid == dlid)
		return true;
	for (lmc = 1; slid && lmc <= MATCH_MAX_LMC; lmc++)
		if (slid == (dlid & ~(BIT(lmc) - 1)))
			return true;
	return false;
}

/* Its whole LID: one of Omni-Path that is too long for the completion is in the GID. */
static u32 match_slid(const struct ibmad_recv *recv)
{
	union ib_gid sgid;

	if (ibmad_recv_sgid(recv, &sgid) && ib_is_opa_gid(&sgid))
		return opa_get_lid_from_gid(&sgid);
	return recv->wc.slid;
}

/* How sure it is that a MAD is from where a send went. */
enum match_source {
	MATCH_ELSEWHERE,
	MATCH_PERHAPS,		/* the LID is another, which its port may have too */
	MATCH_SURE,		/* or nothing would make another surer */
};

static enum match_source match_lid(u32 slid, u32 dlid)
{
	if (slid == dlid)
		return MATCH_SURE;
	return dlid == be16_to_cpu(IB_LID_PERMISSIVE) || match_is_base_lid(slid, dlid) ?
	       MATCH_PERHAPS : MATCH_ELSEWHERE;
}

/*
 * Whether @recv comes from where @send went (IBA 13.5.4: a response goes back
 * along the path of its request).
 */
static enum match_source match_from_peer(const struct ibmad_send *send,
					 const struct ibmad_recv *recv)
{
	struct rdma_ah_attr attr = {};
	union ib_gid sgid;

	/* A directed route has no address to compare. */
	if (((const struct ib_mad_hdr *)recv->mad)->mgmt_class ==
	    IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		return MATCH_SURE;
	/* Providers that cannot tell: the TID and the class have to do. */
	if (rdma_query_ah(send->buf.ah, &attr))
		return MATCH_SURE;
	if ((rdma_ah_get_ah_flags(&attr) & IB_AH_GRH) &&
	    match_is_port_gid(&rdma_ah_read_grh(&attr)->dgid))
		return ibmad_recv_sgid(recv, &sgid) &&
		       !memcmp(&sgid, &rdma_ah_read_grh(&attr)->dgid, sizeof(sgid)) ?
		       MATCH_SURE : MATCH_ELSEWHERE;
	return match_lid(match_slid(recv), rdma_ah_get_dlid(&attr));
}

/* Whether @a and @b go to the same QP, as far as the provider can tell. */
static bool match_same_peer(const struct ibmad_send *a, const struct ibmad_send *b)
{
	struct rdma_ah_attr to_a = {}, to_b = {};

	if (a->remote_qpn != b->remote_qpn)
		return false;
	if (a->buf.ah == b->buf.ah)
		return true;
	if (rdma_query_ah(a->buf.ah, &to_a) || rdma_query_ah(b->buf.ah, &to_b) ||
	    rdma_ah_get_ah_flags(&to_a) != rdma_ah_get_ah_flags(&to_b))
		return false;
	if (rdma_ah_get_ah_flags(&to_a) & IB_AH_GRH)
		return !memcmp(&rdma_ah_read_grh(&to_a)->dgid,
			       &rdma_ah_read_grh(&to_b)->dgid,
			       sizeof(union ib_gid));
	return rdma_ah_get_dlid(&to_a) == rdma_ah_get_dlid(&to_b);
}

/* ---- the table; under agent->lock ---- */

/* Whether one could not tell the ACKs of two transfers apart that have one TID. */
static bool match_clashes(const struct ibmad_send *a, const struct ibmad_send *b)
{
	const struct ib_mad_hdr *hdr_a = a->buf.mad, *hdr_b = b->buf.mad;

	return a->rmpp && hdr_a->mgmt_class == hdr_b->mgmt_class &&
	       hdr_a->method == hdr_b->method && match_same_peer(a, b);
}

static bool match_is_ambiguous(struct ibmad_agent *agent,
			       const struct ibmad_send *send)
{
	struct ibmad_send *known = agent->lone;
	struct rhlist_head *list, *node;
	bool found = false;

	if (known && known->tid == send->tid && match_clashes(known, send))
		return true;
	rcu_read_lock();
	list = rhltable_lookup(&agent->by_tid, &send->tid, tid_params);
	rhl_for_each_entry_rcu(known, node, list, tid_node) {
		found = match_clashes(known, send);
		if (found)
			break;
	}
	rcu_read_unlock();
	return found;
}

int ibmad_match_add(struct ibmad_agent *agent, struct ibmad_send *send)
{
	lockdep_assert_held(&agent->lock);
	if (send->rmpp && match_is_ambiguous(agent, send))
		return -EEXIST;
	if (agent->lone)
		return rhltable_insert(&agent->by_tid, &send->tid_node, tid_params);
	agent->lone = send;
	return 0;
}

void ibmad_match_del(struct ibmad_agent *agent, struct ibmad_send *send)
{
	lockdep_assert_held(&agent->lock);
	if (agent->lone == send)
		agent->lone = NULL;
	else
		rhltable_remove(&agent->by_tid, &send->tid_node, tid_params);
}

/* Whether a MAD with header @hdr can be what @send waits for. */
static bool match_is_due(const struct ibmad_send *send,
			 const struct ib_mad_hdr *hdr, bool control)
{
	const struct ib_mad_hdr *sent = send->buf.mad;

	if (sent->mgmt_class != hdr->mgmt_class || send->state == IBMAD_HELD)
		return false;
	if (control)
		return send->rmpp &&
		       (sent->method ^ IB_MGMT_METHOD_RESP) == hdr->method;
	return send->expects && !ib_response_mad(sent);
}

/* Whether @recv is due to @send, whose TID it has, and how sure that is. */
static enum match_source match_send(const struct ibmad_send *send,
				    const struct ibmad_recv *recv, bool control)
{
	return match_is_due(send, (const void *)recv->mad, control) ?
	       match_from_peer(send, recv) : MATCH_ELSEWHERE;
}

/*
 * Peers choose the TIDs of what they are answered: two of them may have chosen alike, and
 * the LID of one may be one that the other's port could have.  So whoever is sure goes
 * before those that may be it.
 */
struct ibmad_send *ibmad_match_find(struct ibmad_agent *agent,
				    const struct ibmad_recv *recv, bool control)
{
	const struct ib_mad_hdr *hdr = (const void *)recv->mad;
	struct ibmad_send *send = agent->lone, *found = NULL;
	enum match_source best = MATCH_ELSEWHERE, source;
	struct rhlist_head *list, *node;

	lockdep_assert_held(&agent->lock);
	if (send && send->tid == hdr->tid) {
		best = match_send(send, recv, control);
		if (best == MATCH_SURE)
			return send;
		found = best == MATCH_PERHAPS ? send : NULL;
	}
	rcu_read_lock();
	list = rhltable_lookup(&agent->by_tid, &hdr->tid, tid_params);
	rhl_for_each_entry_rcu(send, node, list, tid_node) {
		source = match_send(send, recv, control);
		if (source > best) {
			best = source;
			found = send;
		}
	}
	rcu_read_unlock();
	return found;
}
