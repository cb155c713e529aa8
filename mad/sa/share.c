// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Identical queries for a path share one MAD.
 *
 * The first of them leads: its MAD is sent.  Identical queries on the same port follow
 * it meanwhile: their own MADs are ready but not sent, and they get the leader's
 * response.  If the leader ends without a response, because it timed out or was
 * cancelled, the first follower that has time left is sent instead, and the others
 * follow that one.
 *
 * So no query gets a worse result, or gets it much later, than if it had been sent
 * alone: a follower whose time is over when its leader ends times out; one that has
 * time left gets it.
 */
#include <linux/jhash.h>
#include "mad.h"
#include "sa.h"

/* What must be equal in identical queries: component mask and record, from the MAD. */
static const void *share_key(const struct ib_sa_query *query)
{
	const struct ib_sa_mad *mad = query->buf->mad;

	static_assert(offsetof(struct ib_sa_mad, data) ==
		      offsetof(struct ib_sa_mad, sa_hdr.comp_mask) +
		      sizeof(ib_sa_comp_mask));
	return &mad->sa_hdr.comp_mask;
}

#define SHARE_KEY_LEN (sizeof(ib_sa_comp_mask) + sizeof(struct sa_path_wire))

static u32 share_hash_key(const void *key, u32 len, u32 seed)
{
	return jhash(key, SHARE_KEY_LEN, seed);
}

static u32 share_hash_query(const void *query, u32 len, u32 seed)
{
	return share_hash_key(share_key(query), len, seed);
}

static int share_compare(struct rhashtable_compare_arg *arg, const void *query)
{
	return memcmp(arg->key, share_key(query), SHARE_KEY_LEN);
}

static const struct rhashtable_params share_params = {
	.head_offset = offsetof(struct ib_sa_query, share.node),
	.hashfn = share_hash_key,
	.obj_hashfn = share_hash_query,
	.obj_cmpfn = share_compare,
	.automatic_shrinking = true,
};

/* Removes and returns the first query on @list; or NULL. */
static struct ib_sa_query *share_pop(struct sa_port *port, struct list_head *list)
{
	struct ib_sa_query *query;

	spin_lock_irq(&port->share_lock);
	query = list_first_entry_or_null(list, struct ib_sa_query, share.link);
	if (query)
		list_del_init(&query->share.link);
	spin_unlock_irq(&port->share_lock);
	return query;
}

static void share_done(struct ib_sa_query *query, int status,
		       const struct ib_sa_mad *mad)
{
	query->done(query, status, mad);
	ibmad_sa_query_end(query);
}

static void share_left_work(struct work_struct *work)
{
	struct sa_port *port = container_of(work, struct sa_port, left_work);
	struct ib_sa_query *query;

	while ((query = share_pop(port, &port->left)))
		share_done(query, -EINTR, NULL);
}

int ibmad_sa_share_open(struct sa_port *port)
{
	spin_lock_init(&port->share_lock);
	INIT_LIST_HEAD(&port->left);
	INIT_WORK(&port->left_work, share_left_work);
	return rhashtable_init(&port->leaders, &share_params);
}

/* No query leads or follows any more; some that left may still have to be completed. */
void ibmad_sa_share_close(struct sa_port *port)
{
	flush_work(&port->left_work);
	rhashtable_destroy(&port->leaders);
}

/*
 * A leader does not suit if it may keep @query waiting longer than @query's own
 * timeout, or if it was sent to another address of the SM.
 */
static bool share_suits(const struct ib_sa_query *query,
			const struct ib_sa_query *leader)
{
	return time_before_eq(leader->deadline, query->deadline) &&
	       leader->sm_ah == query->sm_ah;
}

bool ibmad_sa_share_join(struct ib_sa_query *query)
{
	struct sa_port *port = query->port;
	struct ib_sa_query *leader;
	unsigned long flags;

	if (!query->share.wanted)
		return false;
	spin_lock_irqsave(&port->share_lock, flags);
	leader = rhashtable_lookup_fast(&port->leaders, share_key(query),
					share_params);
	if (leader && !share_suits(query, leader))
		leader = NULL;
	if (leader)
		list_add_tail(&query->share.link, &leader->share.followers);
	spin_unlock_irqrestore(&port->share_lock, flags);
	if (leader)
		ibmad_count_shared(port->agent);
	return leader;
}

/* Called after the post, so that no query follows one that could not be sent. */
void ibmad_sa_share_lead(struct ib_sa_query *query)
{
	struct sa_port *port = query->port;
	unsigned long flags;

	if (!query->share.wanted)
		return;
	spin_lock_irqsave(&port->share_lock, flags);
	/*
	 * If another query leads by now, or memory is lacking, this one gets no
	 * followers.
	 */
	if (!query->share.over)
		query->share.leads =
			!rhashtable_lookup_insert_key(&port->leaders, share_key(query),
						      &query->share.node,
						      share_params);
	spin_unlock_irqrestore(&port->share_lock, flags);
}

/*
 * @query has ended: no query can follow it any more; its followers move to @followers.
 */
static void share_end(struct ib_sa_query *query, struct list_head *followers)
{
	struct sa_port *port = query->port;

	spin_lock_irq(&port->share_lock);
	query->share.over = true;
	if (query->share.leads)
		rhashtable_remove_fast(&port->leaders, &query->share.node,
				       share_params);
	query->share.leads = false;
	list_splice_tail_init(&query->share.followers, followers);
	spin_unlock_irq(&port->share_lock);
}

void ibmad_sa_share_answer(struct ib_sa_query *query, int status,
			   const struct ib_sa_mad *mad)
{
	struct ib_sa_query *follower;
	LIST_HEAD(followers);

	if (!query->share.wanted)
		return;
	share_end(query, &followers);
	while ((follower = share_pop(query->port, &followers)))
		share_done(follower, status, mad);
}

/* Returns 0 if @query goes on: it was sent, or follows another. */
static int share_go_on(struct ib_sa_query *query)
{
	if (test_bit(SA_QUERY_CANCELLED, &query->flags))
		return -EINTR;
	if (!ibmad_sa_time_left(query))
		return -ETIMEDOUT;
	return ibmad_sa_send_again(query) ? -EIO : 0;
}

void ibmad_sa_share_pass_on(struct ib_sa_query *query)
{
	struct ib_sa_query *follower;
	LIST_HEAD(followers);
	int ret;

	if (!query->share.wanted)
		return;
	share_end(query, &followers);
	while ((follower = share_pop(query->port, &followers))) {
		ret = share_go_on(follower);
		if (ret)
			share_done(follower, ret, NULL);
	}
}

void ibmad_sa_share_leave(struct ib_sa_query *query)
{
	struct sa_port *port = query->port;
	unsigned long flags;

	if (!query->share.wanted)
		return;
	spin_lock_irqsave(&port->share_lock, flags);
	if (!list_empty(&query->share.link)) {
		list_move_tail(&query->share.link, &port->left);
		queue_work(ibmad_wq, &port->left_work);
	}
	spin_unlock_irqrestore(&port->share_lock, flags);
}
