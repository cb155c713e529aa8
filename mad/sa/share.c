// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Identical queries for a path share one MAD.
 *
 * The first of them leads: its MAD is on its way.  Those that ask the same of the
 * same port meanwhile follow it, their own MADs ready but not sent, and are told
 * what it is told.  When it ends without an answer, because its time is over or it
 * was cancelled, the first follower that still has time is sent in its stead, and the
 * others follow that one.
 *
 * So no query is told less, or much later, than if it had gone alone: a follower whose
 * time is over when its leader ends is told so; one that has some left gets it.
 */
#include <linux/jhash.h>
#include "mad.h"
#include "sa.h"

/* What makes two queries identical, as it is in their MADs. */
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

/* The next of @list, which is off it then; or NULL. */
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

/* Nobody leads or follows any more; who left has perhaps not been told. */
void ibmad_sa_share_close(struct sa_port *port)
{
	flush_work(&port->left_work);
	rhashtable_destroy(&port->leaders);
}

/* Not one that may keep it waiting for longer, or went to where the SM was. */
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

/* After the post, so that none follows a query that could not be sent. */
void ibmad_sa_share_lead(struct ib_sa_query *query)
{
	struct sa_port *port = query->port;
	unsigned long flags;

	if (!query->share.wanted)
		return;
	spin_lock_irqsave(&port->share_lock, flags);
	/* Where another leads by now, or memory lacks, it goes alone. */
	if (!query->share.over)
		query->share.leads =
			!rhashtable_lookup_insert_key(&port->leaders, share_key(query),
						      &query->share.node,
						      share_params);
	spin_unlock_irqrestore(&port->share_lock, flags);
}

/* @query is over: nobody follows it any more; who did is on @followers. */
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

/* Answers 0 if @query goes on: sent, or riding with another. */
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
