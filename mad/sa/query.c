// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Queries of subnet administration (IBA volume 1, chapter 15).
 *
 * A query that was sent ends with its send handler, which the MAD layer calls exactly
 * once: after the receive handler if a response arrived, else with an error status.
 * ib_unregister_mad_agent() returns after the last of them.
 *
 * A path query may first be put to the local service (sa/ls.c): it is sent, or ends,
 * when that question has ended.
 *
 * A query that is identical to one in flight is not sent (sa/share.c).
 *
 * Cancelling sets SA_QUERY_CANCELLED before it cancels the MAD, and the sender checks
 * the flag after it has posted the MAD (or followed another query).  Both take the
 * agent's lock (or the port's share_lock) in between, so no cancellation is missed.
 */
#include <linux/xarray.h>
#include "mad.h"
#include "sa.h"

/* A request is repeated at equal intervals within the timeout of its caller. */
#define SA_RETRIES 9

static DEFINE_XARRAY_FLAGS(sa_queries, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
static u32 sa_next_id;			/* protected by sa_queries' lock */
static atomic_t sa_tid = ATOMIC_INIT(0);

static void sa_query_release(struct kref *ref)
{
	struct ib_sa_query *query = container_of(ref, struct ib_sa_query, ref);

	if (query->buf)
		ib_free_send_mad(query->buf);
	if (query->sm_ah)
		ibmad_sa_sm_ah_put(query->sm_ah);
	kfree(query->answer);
	if (query->client && atomic_dec_and_test(&query->client->users))
		complete(&query->client->comp);
	kfree(query);
}

void ibmad_sa_query_get(struct ib_sa_query *query)
{
	kref_get(&query->ref);
}

void ibmad_sa_query_put(struct ib_sa_query *query)
{
	kref_put(&query->ref, sa_query_release);
}

/* May be called with interrupts off. */
static int sa_query_number(struct ib_sa_query *query, gfp_t gfp)
{
	unsigned long flags;
	int ret;

	xa_lock_irqsave(&sa_queries, flags);
	ret = __xa_alloc_cyclic(&sa_queries, &query->id, query,
				XA_LIMIT(1, INT_MAX), &sa_next_id, gfp);
	xa_unlock_irqrestore(&sa_queries, flags);
	return ret < 0 ? ret : 0;
}

static void sa_query_forget(int id)
{
	unsigned long flags;

	xa_lock_irqsave(&sa_queries, flags);
	__xa_erase(&sa_queries, id);
	xa_unlock_irqrestore(&sa_queries, flags);
}

void ibmad_sa_query_end(struct ib_sa_query *query)
{
	sa_query_forget(query->id);
	ibmad_sa_query_put(query);
}

void ibmad_sa_send_done(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct ib_sa_query *query = wc->send_buf->context[0];

	switch (wc->status) {
	case IB_WC_SUCCESS:	/* the receive handler was called */
		ibmad_sa_query_end(query);
		return;
	case IB_WC_RESP_TIMEOUT_ERR:
		query->done(query, -ETIMEDOUT, NULL);
		break;
	case IB_WC_WR_FLUSH_ERR:
		query->done(query, -EINTR, NULL);
		break;
	default:
		query->done(query, -EIO, NULL);
	}
	ibmad_sa_share_pass_on(query);
	ibmad_sa_query_end(query);
}

void ibmad_sa_received(struct ib_mad_agent *agent,
		       struct ib_mad_send_buf *send_buf,
		       struct ib_mad_recv_wc *wc)
{
	struct ib_sa_mad *mad = (struct ib_sa_mad *)wc->recv_buf.mad;
	const struct ib_sa_mad *asked;
	struct ib_sa_query *query;
	int status = 0;

	if (send_buf) {
		query = send_buf->context[0];
		asked = send_buf->mad;
		if (mad->mad_hdr.status ||
		    mad->mad_hdr.attr_id != asked->mad_hdr.attr_id)
			status = -EINVAL;
		query->done(query, status, mad);
		ibmad_sa_share_answer(query, status, mad);
	}
	ib_free_recv_mad(wc);
}

static void sa_fill(struct ib_sa_query *query, u8 method, u16 attr_id,
		    ib_sa_comp_mask comp_mask, const void *record, size_t len)
{
	struct ib_sa_mad *mad = query->buf->mad;

	mad->mad_hdr.base_version = IB_MGMT_BASE_VERSION;
	mad->mad_hdr.mgmt_class = IB_MGMT_CLASS_SUBN_ADM;
	mad->mad_hdr.class_version = IB_SA_CLASS_VERSION;
	mad->mad_hdr.method = method;
	mad->mad_hdr.attr_id = cpu_to_be16(attr_id);
	mad->mad_hdr.tid = cpu_to_be64((u64)query->port->agent->hi_tid << 32 |
				       (u32)atomic_inc_return(&sa_tid));
	mad->sa_hdr.comp_mask = comp_mask;
	memcpy(mad->data, record, len);
}

/*
 * The timeout of each try; @timeout_ms is for all tries together. ib_mad takes an int.
 */
static int sa_try_ms(unsigned long timeout_ms)
{
	return clamp(timeout_ms / (SA_RETRIES + 1), 1UL, (unsigned long)INT_MAX);
}

/*
 * Each does nothing unless it applies: the MAD is outstanding; the query follows
 * another.
 */
static void sa_query_withdraw(struct ib_sa_query *query)
{
	ib_cancel_mad(query->buf);
	ibmad_sa_share_leave(query);
}

static int sa_query_post(struct ib_sa_query *query)
{
	int ret;

	if (ibmad_sa_share_join(query))
		return 0;
	ret = ib_post_send_mad(query->buf, NULL);
	if (!ret)
		ibmad_sa_share_lead(query);
	return ret;
}

/* On 0 the query's reference has passed to the send, or to the leader. */
static int sa_query_send(struct ib_sa_query *query)
{
	int ret;

	ibmad_sa_query_get(query);
	ret = sa_query_post(query);
	/* An earlier cancellation found neither the MAD outstanding nor a leader. */
	if (!ret && test_bit(SA_QUERY_CANCELLED, &query->flags))
		sa_query_withdraw(query);
	ibmad_sa_query_put(query);
	return ret;
}

static void sa_query_start_clock(struct ib_sa_query *query)
{
	query->deadline = jiffies + msecs_to_jiffies(query->buf->timeout_ms) *
				    (SA_RETRIES + 1);
}

/*
 * The subnet manager may have moved meanwhile.  While its new address is not known the
 * request is sent to the old one, as one in flight would be.
 */
static void sa_query_readdress(struct ib_sa_query *query)
{
	struct sa_sm_ah *sm_ah = ibmad_sa_sm_ah_get(query->port);

	if (!sm_ah)
		return;
	ibmad_sa_sm_ah_put(query->sm_ah);
	query->sm_ah = sm_ah;
	query->buf->ah = sm_ah->ah;
	ibmad_send_set_pkey(query->buf, sm_ah->pkey_index);
}

int ibmad_sa_send_late(struct ib_sa_query *query)
{
	sa_query_readdress(query);
	sa_query_start_clock(query);
	return sa_query_send(query);
}

/* Whether there is time for at least one more try, of the length of the others. */
bool ibmad_sa_time_left(const struct ib_sa_query *query)
{
	return time_before_eq(jiffies + msecs_to_jiffies(query->buf->timeout_ms),
			      query->deadline);
}

int ibmad_sa_send_again(struct ib_sa_query *query)
{
	unsigned long left = query->deadline - jiffies;

	sa_query_readdress(query);
	query->buf->timeout_ms = sa_try_ms(jiffies_to_msecs(left));
	return sa_query_send(query);
}

/* On error the caller drops the query's reference. */
static int sa_query_prepare(struct ib_sa_query *query, unsigned long timeout_ms,
			    gfp_t gfp)
{
	query->sm_ah = ibmad_sa_sm_ah_get(query->port);
	if (!query->sm_ah)
		return -EAGAIN;
	query->buf = ib_create_send_mad(query->port->agent, 1,
					query->sm_ah->pkey_index, 0,
					IB_MGMT_SA_HDR, IB_MGMT_SA_DATA, gfp,
					IB_MGMT_BASE_VERSION);
	if (IS_ERR(query->buf)) {
		int ret = PTR_ERR(query->buf);

		query->buf = NULL;
		return ret;
	}
	query->buf->ah = query->sm_ah->ah;
	query->buf->context[0] = query;
	query->buf->retries = SA_RETRIES;
	query->buf->timeout_ms = sa_try_ms(timeout_ms);
	return 0;
}

int ibmad_sa_query(struct ib_sa_client *client, struct sa_port *port, u8 method,
		   u16 attr_id, ib_sa_comp_mask comp_mask, const void *record,
		   size_t len, unsigned long timeout_ms, gfp_t gfp,
		   struct ib_sa_query *query, struct ib_sa_query **out)
{
	int ret, id;

	kref_init(&query->ref);
	INIT_LIST_HEAD(&query->share.link);
	INIT_LIST_HEAD(&query->share.followers);
	query->share.wanted = attr_id == IB_SA_ATTR_PATH_REC;
	query->port = port;
	query->client = client;
	if (client)
		atomic_inc(&client->users);
	ret = sa_query_prepare(query, timeout_ms, gfp);
	if (ret)
		goto err;
	sa_fill(query, method, attr_id, comp_mask, record, len);
	ret = sa_query_number(query, gfp);
	if (ret)
		goto err;
	id = query->id;
	/*
	 * The query may be freed once it has been put to the local service or posted.
	 */
	*out = query;
	if (attr_id == IB_SA_ATTR_PATH_REC && ibmad_sa_ls_ask(query, gfp))
		return id;
	sa_query_start_clock(query);
	ret = sa_query_send(query);
	if (!ret)
		return id;
	*out = ERR_PTR(ret);
	sa_query_forget(id);
err:
	ibmad_sa_query_put(query);
	return ret;
}

static void sa_query_cancel(struct ib_sa_query *query)
{
	set_bit(SA_QUERY_CANCELLED, &query->flags);
	if (!ibcore_ls_cancel(&query->question))
		sa_query_withdraw(query);
	ibmad_sa_query_put(query);
}

/**
 * ib_sa_cancel_query - give up a query
 * @id: the number returned when it was started
 * @query: the pointer set when it was started
 *
 * Its callback is called with -EINTR, unless it has been called already.  Nothing
 * happens if there is no such query any more.
 *
 * Context: any but hard interrupt.
 */
void ib_sa_cancel_query(int id, struct ib_sa_query *query)
{
	struct ib_sa_query *found;
	unsigned long flags;

	xa_lock_irqsave(&sa_queries, flags);
	found = xa_load(&sa_queries, id);
	if (found && (found != query || !kref_get_unless_zero(&found->ref)))
		found = NULL;
	xa_unlock_irqrestore(&sa_queries, flags);
	if (found)
		sa_query_cancel(found);
}
EXPORT_SYMBOL(ib_sa_cancel_query);

/* The first query of @port from number *@id on, with a reference; or NULL. */
static struct ib_sa_query *sa_query_next(struct sa_port *port, unsigned long *id)
{
	struct ib_sa_query *query;
	unsigned long flags;

	xa_lock_irqsave(&sa_queries, flags);
	xa_for_each_start(&sa_queries, *id, query, *id)
		if (query->port == port && kref_get_unless_zero(&query->ref))
			break;
	xa_unlock_irqrestore(&sa_queries, flags);
	return query;
}

void ibmad_sa_cancel_all(struct sa_port *port)
{
	struct ib_sa_query *query;
	unsigned long id = 0;

	for (; (query = sa_query_next(port, &id)); id++)
		sa_query_cancel(query);
}

/**
 * ib_sa_register_client - prepare a client for queries
 * @client: kept by the caller until ib_sa_unregister_client()
 *
 * Context: any.
 */
void ib_sa_register_client(struct ib_sa_client *client)
{
	atomic_set(&client->users, 1);
	init_completion(&client->comp);
}
EXPORT_SYMBOL(ib_sa_register_client);

/**
 * ib_sa_unregister_client - wait until no query of a client is left
 * @client: from ib_sa_register_client()
 *
 * No callback runs afterwards.
 *
 * Context: may sleep.
 */
void ib_sa_unregister_client(struct ib_sa_client *client)
{
	if (!atomic_dec_and_test(&client->users))
		wait_for_completion(&client->comp);
}
EXPORT_SYMBOL(ib_sa_unregister_client);
