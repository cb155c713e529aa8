// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reassemblies of RMPP transfers: their lookup and their lifetime.
 *
 * A reassembly is found by TID, class, method and source in a hash table of its agent.
 * A finished one is kept for a while without its segments, to acknowledge again
 * segments that the sender repeats because our ACK was lost (the address handle is
 * looked up again then), or until the same transfer begins again because its sender
 * lacks the response.  Both lists are in the order of the last activity, so the reaper
 * looks only at their heads.
 *
 * A new one holds its first segment until the address handle is found; its sender has a
 * window of one segment until then, so no other segment of it can arrive.
 *
 * Everything here is protected by agent->rmpp.mutex; the reaper is delayed work.
 */
#include <linux/slab.h>
#include "agent/agent.h"
#include "port/port.h"
#include "rmpp/rmpp.h"

#define IBMAD_RMPP_MAX_RECVS	1024	/* reassemblies of an agent */
#define IBMAD_RMPP_MAX_SHARE	128	/* unsolicited and unfinished ones of a source */
#define IBMAD_RMPP_SILENCE_MS	20000	/* an unfinished one is aborted */
#define IBMAD_RMPP_LINGER_MS	10000	/* a finished one is destroyed */

static const struct rhashtable_params reasm_params = {
	.key_len = sizeof_field(struct ibmad_rmpp_recv, key),
	.key_offset = offsetof(struct ibmad_rmpp_recv, key),
	.head_offset = offsetof(struct ibmad_rmpp_recv, node),
	.automatic_shrinking = true,
};

static const struct rhashtable_params source_params = {
	.key_len = sizeof_field(struct ibmad_rmpp_recv, key.source),
	.key_offset = offsetof(struct ibmad_rmpp_recv, key.source),
	.head_offset = offsetof(struct ibmad_rmpp_recv, source_node),
	.automatic_shrinking = true,
};

static void reasm_get_key(const struct ibmad_recv *recv,
			  struct ibmad_rmpp_key *key)
{
	const struct ib_mad_hdr *hdr = &rmpp_mad(recv)->mad_hdr;

	memset(key, 0, sizeof(*key));
	key->tid = hdr->tid;
	key->mgmt_class = hdr->mgmt_class;
	key->method = hdr->method;
	key->src_qp = recv->wc.src_qp;
	if (!ibmad_recv_sgid(recv, &key->source.sgid))
		key->source.slid = recv->wc.slid;
}

struct ibmad_rmpp_recv *
ibmad_reasm_find(struct ibmad_agent *agent, const struct ibmad_recv *recv)
{
	struct ibmad_rmpp_key key;

	reasm_get_key(recv, &key);
	return rhashtable_lookup_fast(&agent->rmpp.recvs, &key, reasm_params);
}

/*
 * Whether the source of @rr may start one more: each source leaves room for the others.
 */
static bool reasm_has_share(struct ibmad_rmpp_recv *rr)
{
	struct rhltable *table = &rr->agent->rmpp.unasked;
	struct rhlist_head *list, *node;
	unsigned int n = 0;

	rcu_read_lock();
	list = rhltable_lookup(table, &rr->key.source, source_params);
	rhl_for_each_rcu(node, list)
		n++;
	rcu_read_unlock();
	return n < IBMAD_RMPP_MAX_SHARE;
}

static int reasm_count(struct ibmad_rmpp_recv *rr)
{
	int ret = rhltable_insert(&rr->agent->rmpp.unasked, &rr->source_node,
				  source_params);

	rr->counted = !ret;
	return ret;
}

static void reasm_uncount(struct ibmad_rmpp_recv *rr)
{
	if (rr->counted)
		rhltable_remove(&rr->agent->rmpp.unasked, &rr->source_node,
				source_params);
	rr->counted = false;
}

static void reasm_free_segments(struct ibmad_rmpp_recv *rr)
{
	struct ibmad_recv *recv;
	unsigned long seg_num;

	xa_for_each(&rr->early, seg_num, recv)
		ibmad_recv_free(recv);
	xa_destroy(&rr->early);
	if (rr->first)
		ib_free_recv_mad(&rr->first->recv_wc);
	rr->first = NULL;
	atomic_long_sub(rr->bytes, &rr->agent->rmpp.bytes);
	rr->bytes = 0;
}

void ibmad_reasm_destroy(struct ibmad_rmpp_recv *rr)
{
	struct ibmad_agent *agent = rr->agent;

	lockdep_assert_held(&agent->rmpp.mutex);
	if (rr->lookup)
		rr->lookup->context = NULL;
	if (rr->held) {
		ibmad_count(agent->port, IBMAD_RMPP_DROPPED);
		ibmad_recv_free(rr->held);
	}
	rhashtable_remove_fast(&agent->rmpp.recvs, &rr->node, reasm_params);
	reasm_uncount(rr);
	list_del(&rr->link);
	agent->rmpp.nr--;
	reasm_free_segments(rr);
	ibmad_rmpp_ah_put(rr->rah);
	/* Table lookups are under the mutex too: no reader is left. */
	kfree(rr);
}

void ibmad_reasm_touch(struct ibmad_rmpp_recv *rr)
{
	struct ibmad_agent *agent = rr->agent;

	rr->seen = jiffies;
	list_move_tail(&rr->link, rr->done ? &agent->rmpp.done :
					     &agent->rmpp.active);
}

void ibmad_reasm_finish(struct ibmad_rmpp_recv *rr)
{
	rr->first = NULL;
	rr->bytes = 0;
	rr->done = true;
	reasm_uncount(rr);
	/* The ACK seldom has to be repeated: release the handle for others. */
	ibmad_rmpp_ah_put(rr->rah);
	rr->rah = NULL;
	ibmad_reasm_touch(rr);
}

/* No segment has come for long: the sender is told (13.6.3), if it can be. */
static void reasm_abort(struct ibmad_rmpp_recv *rr)
{
	if (rr->first)
		ibmad_rmpp_send_abort(rr->agent, rr->first, rr->rah,
				      IB_MGMT_RMPP_STATUS_T2L);
	else
		ibmad_count(rr->agent->port, IBMAD_RMPP_ABORTED);
}

/*
 * Destroys reassemblies on @list that had no activity for @ms; returns whether any is
 * left.
 */
static bool reasm_reap_list(struct ibmad_agent *agent, struct list_head *list,
			    unsigned int ms)
{
	struct ibmad_rmpp_recv *rr, *next;

	list_for_each_entry_safe(rr, next, list, link) {
		if (time_before(jiffies, rr->seen + msecs_to_jiffies(ms)))
			return true;
		if (!rr->done)
			reasm_abort(rr);
		ibmad_reasm_destroy(rr);
	}
	return false;
}

static void reasm_reap_work(struct work_struct *work)
{
	struct ibmad_agent *agent = container_of(to_delayed_work(work),
						 struct ibmad_agent, rmpp.reap);
	bool more;

	mutex_lock(&agent->rmpp.mutex);
	more = reasm_reap_list(agent, &agent->rmpp.active, IBMAD_RMPP_SILENCE_MS);
	more |= reasm_reap_list(agent, &agent->rmpp.done, IBMAD_RMPP_LINGER_MS);
	if (more && !agent->rmpp.closed)
		queue_delayed_work(ibmad_wq, &agent->rmpp.reap,
				   msecs_to_jiffies(IBMAD_RMPP_LINGER_MS));
	mutex_unlock(&agent->rmpp.mutex);
}

/* Makes room for one more reassembly; finished ones are destroyed for it. */
static bool reasm_make_room(struct ibmad_agent *agent, bool solicited)
{
	unsigned int max = IBMAD_RMPP_MAX_RECVS / (solicited ? 1 : 2);
	struct ibmad_rmpp_recv *rr;

	while (agent->rmpp.nr >= max) {
		rr = list_first_entry_or_null(&agent->rmpp.done,
					      struct ibmad_rmpp_recv, link);
		if (!rr)
			return false;
		ibmad_reasm_destroy(rr);
	}
	return true;
}

static struct ibmad_rmpp_recv *reasm_alloc(struct ibmad_agent *agent,
					   const struct ibmad_recv *recv)
{
	struct ibmad_rmpp_recv *rr = kzalloc(sizeof(*rr), GFP_NOIO);

	if (!rr)
		return NULL;
	reasm_get_key(recv, &rr->key);
	rr->agent = agent;
	rr->solicited = ib_response_mad(&rmpp_mad(recv)->mad_hdr);
	rr->expected = 1;
	rr->window = 1;
	INIT_LIST_HEAD(&rr->link);
	xa_init(&rr->early);
	return rr;
}

/* Adds @rr to the tables; sets *@outcome if there is no room for it. */
static bool reasm_enter(struct ibmad_rmpp_recv *rr, enum ibmad_counter *outcome)
{
	struct ibmad_agent *agent = rr->agent;

	if ((!rr->solicited && !reasm_has_share(rr)) ||
	    !reasm_make_room(agent, rr->solicited)) {
		*outcome = IBMAD_RECV_OVERFLOW;
		return false;
	}
	if (!rr->solicited && reasm_count(rr))
		return false;
	if (rhashtable_insert_fast(&agent->rmpp.recvs, &rr->node, reasm_params)) {
		reasm_uncount(rr);
		return false;
	}
	agent->rmpp.nr++;
	ibmad_reasm_touch(rr);
	return true;
}

bool ibmad_reasm_create(struct ibmad_agent *agent, struct ibmad_recv *recv,
			enum ibmad_counter *outcome)
{
	struct ibmad_rmpp_recv *rr = reasm_alloc(agent, recv);

	if (!rr)
		return false;
	if (!reasm_enter(rr, outcome)) {
		kfree(rr);
		return false;
	}
	rr->lookup = ibmad_rmpp_look_up(agent, recv, ibmad_rmpp_way_found, rr);
	if (!rr->lookup) {
		ibmad_reasm_destroy(rr);
		return false;
	}
	rr->held = recv;
	/* Does nothing if it is queued already. */
	queue_delayed_work(ibmad_wq, &agent->rmpp.reap,
			   msecs_to_jiffies(IBMAD_RMPP_LINGER_MS));
	return true;
}

int ibmad_rmpp_agent_init(struct ibmad_agent *agent)
{
	int ret;

	if (!ib_mad_kernel_rmpp_agent(&agent->pub))
		return 0;
	mutex_init(&agent->rmpp.mutex);
	INIT_LIST_HEAD(&agent->rmpp.active);
	INIT_LIST_HEAD(&agent->rmpp.done);
	INIT_DELAYED_WORK(&agent->rmpp.reap, reasm_reap_work);
	ret = rhashtable_init(&agent->rmpp.recvs, &reasm_params);
	if (ret)
		return ret;
	ret = rhltable_init(&agent->rmpp.unasked, &source_params);
	if (ret)
		rhashtable_destroy(&agent->rmpp.recvs);
	return ret;
}

/*
 * Why no reassembly remains: rmpp.closed keeps the receive path from creating one and
 * the reaper from being queued; all existing ones were on one of the two lists.  An
 * address lookup no longer points to its reassembly; it holds a reference on the agent,
 * for which deregistration waits.
 */
void ibmad_rmpp_agent_exit(struct ibmad_agent *agent)
{
	struct ibmad_rmpp_recv *rr, *next;

	if (!ib_mad_kernel_rmpp_agent(&agent->pub))
		return;
	mutex_lock(&agent->rmpp.mutex);
	agent->rmpp.closed = true;
	list_splice_tail_init(&agent->rmpp.done, &agent->rmpp.active);
	list_for_each_entry_safe(rr, next, &agent->rmpp.active, link)
		ibmad_reasm_destroy(rr);
	mutex_unlock(&agent->rmpp.mutex);
	cancel_delayed_work_sync(&agent->rmpp.reap);
	ibmad_rmpp_control_cancel(agent);
}

/* No reference on the agent is left, so no receive path uses its tables. */
void ibmad_rmpp_agent_free(struct ibmad_agent *agent)
{
	if (!ib_mad_kernel_rmpp_agent(&agent->pub))
		return;
	rhltable_destroy(&agent->rmpp.unasked);
	rhashtable_destroy(&agent->rmpp.recvs);
	mutex_destroy(&agent->rmpp.mutex);
}
