// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds the send that a received MAD belongs to: the request that it answers, or the
 * RMPP transfer that it is a control MAD of.  Each agent has a table of sends by TID;
 * the class, the method and the peer must match as well (IBA vol. 1, 13.4.6.4 and
 * 13.5.4).
 *
 * One send at a time is kept in agent->lone instead of the table: many clients never
 * have more than one outstanding, and each of insertion, lookup and removal costs a
 * hundred instructions.
 */
#include <rdma/opa_addr.h>
#include "agent/agent.h"
#include "port/port.h"

#define MATCH_MAX_LMC	7	/* a port has 128 LIDs at most (IBA 4.1.3) */

/*
 * TIDs are mostly consecutive numbers, which a multiplication spreads best.  A client
 * that chooses TIDs that collide slows down only itself, since each agent has its own
 * table.
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
	/*
	 * Large enough that a client with a hundred requests, then none, does not
	 * resize it.
	 */
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

/* Whether a port addressed by @dgid has @dgid as the source GID of its responses. */
static bool match_is_port_gid(const union ib_gid *dgid)
{
	/* No port has the SA's well-known GUID; Omni-Path encodes long LIDs in GIDs. */
	return dgid->global.interface_id != cpu_to_be64(IB_SA_WELL_KNOWN_GUID) &&
	       !ib_is_opa_gid(dgid);
}

/*
 * Whether @slid is @dlid or can be the base LID of the port with @dlid: a port with
 * several LIDs (its LMC is not known here) may respond from its base LID.
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

/*
 * The full source LID: an Omni-Path LID that is too long for the completion is in the
 * GID.
 */
static u32 match_slid(const struct ibmad_recv *recv)
{
	union ib_gid sgid;

	if (ibmad_recv_sgid(recv, &sgid) && ib_is_opa_gid(&sgid))
		return opa_get_lid_from_gid(&sgid);
	return recv->wc.slid;
}

/* How certain it is that a MAD comes from the destination of a send. */
enum match_source {
	MATCH_ELSEWHERE,
	MATCH_PERHAPS,		/* another LID, which the same port may have */
	MATCH_SURE,		/* or no other match could be better */
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
	/* The provider cannot query the handle: TID and class must suffice. */
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

/* Whether the ACKs of two transfers with the same TID could not be told apart. */
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

/* How certain it is that @recv, which has the TID of @send, is what @send waits for. */
static enum match_source match_send(const struct ibmad_send *send,
				    const struct ibmad_recv *recv, bool control)
{
	return match_is_due(send, (const void *)recv->mad, control) ?
	       match_from_peer(send, recv) : MATCH_ELSEWHERE;
}

/*
 * The TID of a response was chosen by its requester.  Two peers may have chosen the
 * same TID, and one's LID may be one that the other's port could have as well.  So a
 * certain match is preferred to possible ones.
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
