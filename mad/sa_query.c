// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Queries of subnet administration (IBA volume 1, chapter 15).
 *
 * A query that was sent ends with its send handler, which the MAD layer calls
 * exactly once: after the receive handler, when a response came; with a status
 * when none did.  ib_unregister_mad_agent() returns after the last of them.
 *
 * A query for a path may be with the local service before (sa_ls.c): it is sent, or
 * ends, when its question has ended.
 *
 * A cancellation is marked before the MAD is, and whoever posts the MAD looks for
 * the mark afterwards: the agent's lock, which both take, leaves no gap.
 */
#include <linux/wait_bit.h>
#include <linux/xarray.h>
#include <kunit/visibility.h>
#include <rdma/ib_cache.h>
#include "mad.h"
#include "sa.h"

/* A request is repeated in equal steps within the time its caller gives. */
#define SA_RETRIES 9
#define SA_UPDATE_MS 1000	/* after which a failed look for the SM is repeated */

static DEFINE_XARRAY_FLAGS(sa_queries, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
static u32 sa_next_id;			/* protected by sa_queries' lock */
static atomic_t sa_tid = ATOMIC_INIT(0);
static struct ib_client sa_ib_client;

static void sa_sm_ah_release(struct kref *ref)
{
	struct sa_sm_ah *sm_ah = container_of(ref, struct sa_sm_ah, ref);

	rdma_destroy_ah(sm_ah->ah, 0);
	kfree(sm_ah);
}

static void sa_sm_ah_replace(struct sa_port *port, struct sa_sm_ah *sm_ah)
{
	struct sa_sm_ah *old;

	spin_lock_irq(&port->lock);
	old = port->sm_ah;
	port->sm_ah = sm_ah;
	spin_unlock_irq(&port->lock);
	if (old)
		kref_put(&old->ref, sa_sm_ah_release);
}

static struct sa_sm_ah *sa_sm_ah_get(struct sa_port *port)
{
	struct sa_sm_ah *sm_ah;
	unsigned long flags;

	spin_lock_irqsave(&port->lock, flags);
	sm_ah = port->sm_ah;
	if (sm_ah)
		kref_get(&sm_ah->ref);
	spin_unlock_irqrestore(&port->lock, flags);
	return sm_ah;
}

static void sa_sm_attr(const struct sa_port *port,
		       const struct ib_port_attr *port_attr,
		       struct rdma_ah_attr *attr)
{
	__be64 id = cpu_to_be64(IB_SA_WELL_KNOWN_GUID);

	attr->type = rdma_ah_find_type(port->device, port->num);
	rdma_ah_set_dlid(attr, port_attr->sm_lid);
	rdma_ah_set_sl(attr, port_attr->sm_sl);
	rdma_ah_set_port_num(attr, port->num);
	if (!rdma_is_grh_required(port->device, port->num))
		return;
	if (attr->type == RDMA_AH_ATTR_TYPE_OPA)
		id = OPA_MAKE_ID(port_attr->sm_lid);
	rdma_ah_set_ah_flags(attr, IB_AH_GRH);
	rdma_ah_set_subnet_prefix(attr, cpu_to_be64(port_attr->subnet_prefix));
	rdma_ah_set_interface_id(attr, id);
}

static struct sa_sm_ah *sa_sm_ah_create(const struct sa_port *port,
					const struct ib_port_attr *port_attr)
{
	struct rdma_ah_attr attr = {};
	struct sa_sm_ah *sm_ah;
	int ret;

	sm_ah = kzalloc(sizeof(*sm_ah), GFP_KERNEL);
	if (!sm_ah)
		return ERR_PTR(-ENOMEM);
	kref_init(&sm_ah->ref);
	if (ib_find_cached_pkey(port->device, port->num, IB_DEFAULT_PKEY_FULL,
				&sm_ah->pkey_index))
		sm_ah->pkey_index = 0;
	sa_sm_attr(port, port_attr, &attr);
	sm_ah->ah = rdma_create_ah(port->agent->qp->pd, &attr,
				   RDMA_CREATE_AH_SLEEPABLE);
	if (IS_ERR(sm_ah->ah)) {
		ret = PTR_ERR(sm_ah->ah);
		kfree(sm_ah);
		return ERR_PTR(ret);
	}
	return sm_ah;
}

/* Where no SM is known, an event will tell of one; all other errors may pass. */
static void sa_update_work(struct work_struct *work)
{
	struct sa_port *port = container_of(to_delayed_work(work),
					    struct sa_port, update);
	struct ib_port_attr port_attr;
	struct sa_sm_ah *sm_ah;
	int ret;

	ret = ib_query_port(port->device, port->num, &port_attr);
	if (!ret && !port_attr.sm_lid)
		return;
	if (!ret) {
		sm_ah = sa_sm_ah_create(port, &port_attr);
		ret = PTR_ERR_OR_ZERO(sm_ah);
	}
	if (ret)
		queue_delayed_work(system_unbound_wq, &port->update,
				   msecs_to_jiffies(SA_UPDATE_MS));
	else
		sa_sm_ah_replace(port, sm_ah);
}

static void sa_query_release(struct kref *ref)
{
	struct ib_sa_query *query = container_of(ref, struct ib_sa_query, ref);

	if (query->buf)
		ib_free_send_mad(query->buf);
	if (query->sm_ah)
		kref_put(&query->sm_ah->ref, sa_sm_ah_release);
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

static void sa_send_done(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct ib_sa_query *query = wc->send_buf->context[0];

	switch (wc->status) {
	case IB_WC_SUCCESS:
		break;		/* the receive handler was called */
	case IB_WC_RESP_TIMEOUT_ERR:
		query->done(query, -ETIMEDOUT, NULL);
		break;
	case IB_WC_WR_FLUSH_ERR:
		query->done(query, -EINTR, NULL);
		break;
	default:
		query->done(query, -EIO, NULL);
	}
	ibmad_sa_query_end(query);
}

static void sa_received(struct ib_mad_agent *agent,
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
	}
	ib_free_recv_mad(wc);
}

static struct sa_port *sa_find_port(struct sa_device *sa, u32 port_num)
{
	u32 i = port_num - sa->first_port;

	return i < sa->nr_ports && sa->port[i].agent ? &sa->port[i] : NULL;
}

struct sa_port *ibmad_sa_port(struct ib_device *device, u32 port_num)
{
	struct sa_device *sa = ib_get_client_data(device, &sa_ib_client);

	return sa ? sa_find_port(sa, port_num) : NULL;
}
EXPORT_SYMBOL_IF_KUNIT(ibmad_sa_port);

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

/* The time for all tries together; ib_mad takes an int of milliseconds. */
static int sa_try_ms(unsigned long timeout_ms)
{
	return clamp(timeout_ms / (SA_RETRIES + 1), 1UL, (unsigned long)INT_MAX);
}

/* On 0 the query's reference has gone to the send. */
static int sa_query_send(struct ib_sa_query *query)
{
	int ret;

	ibmad_sa_query_get(query);
	ret = ib_post_send_mad(query->buf, NULL);
	/* A canceller that came before the post did not find it. */
	if (!ret && test_bit(SA_QUERY_CANCELLED, &query->flags))
		ib_cancel_mad(query->buf);
	ibmad_sa_query_put(query);
	return ret;
}

/*
 * The manager may have moved meanwhile.  While no other address is known the request
 * goes where it would have gone: the fate of one that is under way.
 */
int ibmad_sa_send_late(struct ib_sa_query *query)
{
	struct sa_sm_ah *sm_ah = sa_sm_ah_get(query->port);

	if (sm_ah) {
		kref_put(&query->sm_ah->ref, sa_sm_ah_release);
		query->sm_ah = sm_ah;
		query->buf->ah = sm_ah->ah;
		to_send(query->buf)->pkey_index = sm_ah->pkey_index;
	}
	return sa_query_send(query);
}

/* The reference is the caller's. */
static int sa_query_prepare(struct ib_sa_query *query, unsigned long timeout_ms,
			    gfp_t gfp)
{
	query->sm_ah = sa_sm_ah_get(query->port);
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
	/* The query may be gone when it has been asked or posted. */
	*out = query;
	if (attr_id == IB_SA_ATTR_PATH_REC && ibmad_sa_ls_ask(query, gfp))
		return id;
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
		ib_cancel_mad(query->buf);
	ibmad_sa_query_put(query);
}

/**
 * ib_sa_cancel_query - give up a query
 * @id: what starting it returned
 * @query: what starting it set
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
 * ib_sa_register_client - prepare to query
 * @client: the caller's, until ib_sa_unregister_client()
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

static void sa_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct sa_device *sa = container_of(handler, struct sa_device, events);
	struct sa_port *port;

	switch (event->event) {
	case IB_EVENT_PORT_ERR:
	case IB_EVENT_PORT_ACTIVE:
	case IB_EVENT_LID_CHANGE:
	case IB_EVENT_SM_CHANGE:
	case IB_EVENT_PKEY_CHANGE:
	case IB_EVENT_CLIENT_REREGISTER:
		break;
	default:
		return;
	}
	port = sa_find_port(sa, event->element.port_num);
	if (!port)
		return;
	/* The subnet manager forgot the memberships, or may have moved. */
	if (event->event != IB_EVENT_PORT_ACTIVE)
		ibmad_sa_mcast_reset(port, event->event == IB_EVENT_PKEY_CHANGE);
	sa_sm_ah_replace(port, NULL);
	mod_delayed_work(system_unbound_wq, &port->update, 0);
}

static void sa_port_close(struct sa_port *port)
{
	if (!port->agent)
		return;
	ibmad_sa_mcast_close(port);
	cancel_delayed_work_sync(&port->update);
	/* What is with the local service has no MAD that the agent could end. */
	ibmad_sa_cancel_all(port);
	wait_var_event(&port->asked, !atomic_read(&port->asked));
	ib_unregister_mad_agent(port->agent);
	sa_sm_ah_replace(port, NULL);
}

static int sa_port_open(struct sa_device *sa, struct sa_port *port, u32 num)
{
	struct ib_mad_agent *agent;

	port->device = sa->device;
	port->num = num;
	spin_lock_init(&port->lock);
	spin_lock_init(&port->groups_lock);
	INIT_LIST_HEAD(&port->groups);
	hash_init(port->by_mgid);
	INIT_DELAYED_WORK(&port->update, sa_update_work);
	refcount_set(&port->users, 1);
	init_completion(&port->unused);
	if (!rdma_cap_ib_sa(sa->device, num))
		return 0;
	agent = ib_register_mad_agent(sa->device, num, IB_QPT_GSI, NULL, 0,
				      sa_send_done, sa_received, port, 0);
	if (IS_ERR(agent))
		return PTR_ERR(agent);
	port->agent = agent;
	return 0;
}

static bool sa_wanted(struct ib_device *device)
{
	u32 port_num;

	rdma_for_each_port(device, port_num)
		if (rdma_cap_ib_sa(device, port_num))
			return true;
	return false;
}

static struct sa_device *sa_alloc(struct ib_device *device)
{
	u32 first = rdma_start_port(device);
	u32 nr = rdma_end_port(device) - first + 1;
	struct sa_device *sa = kzalloc(struct_size(sa, port, nr), GFP_KERNEL);

	if (!sa)
		return NULL;
	sa->nr_ports = nr;
	sa->first_port = first;
	sa->device = device;
	return sa;
}

static int sa_add(struct ib_device *device)
{
	struct sa_device *sa;
	u32 i;
	int ret;

	if (!sa_wanted(device))
		return -EOPNOTSUPP;
	sa = sa_alloc(device);
	if (!sa)
		return -ENOMEM;
	for (i = 0; i < sa->nr_ports; i++) {
		ret = sa_port_open(sa, &sa->port[i], sa->first_port + i);
		if (ret)
			goto err;
	}
	ib_set_client_data(device, &sa_ib_client, sa);
	INIT_IB_EVENT_HANDLER(&sa->events, device, sa_event);
	ib_register_event_handler(&sa->events);
	/* By the work alone, so that no older answer follows a newer one. */
	for (i = 0; i < sa->nr_ports; i++)
		if (sa->port[i].agent)
			mod_delayed_work(system_unbound_wq, &sa->port[i].update, 0);
	for (i = 0; i < sa->nr_ports; i++)
		flush_delayed_work(&sa->port[i].update);
	return 0;
err:
	while (i--)
		sa_port_close(&sa->port[i]);
	kfree(sa);
	return ret;
}

/*
 * No reference to a port remains: (1) no event arrives any more; (2) groups are
 * waited for, and they belong to clients of ours, which left the device before us;
 * (3) no query is with the local service: those that were are waited for, and have
 * been completed or sent; none begins, as those clients are gone; (4) the agent is
 * deregistered, so each query that was sent has been completed.
 */
static void sa_remove(struct ib_device *device, void *data)
{
	struct sa_device *sa = data;
	u32 i;

	ib_unregister_event_handler(&sa->events);
	for (i = 0; i < sa->nr_ports; i++)
		sa_port_close(&sa->port[i]);
	kfree(sa);
}

static struct ib_client sa_ib_client = {
	.name	= "sa",
	.add	= sa_add,
	.remove	= sa_remove,
};

int ibmad_sa_init(void)
{
	int ret = ibmad_sa_mcast_init();

	if (ret)
		return ret;
	ret = ib_register_client(&sa_ib_client);
	if (ret)
		ibmad_sa_mcast_exit();
	return ret;
}

void ibmad_sa_exit(void)
{
	ib_unregister_client(&sa_ib_client);
	ibmad_sa_mcast_exit();
	xa_destroy(&sa_queries);
}
