// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ports as clients of subnet administration: the agent, the address handle of the
 * subnet manager, the events after which it may have changed, and removal.
 */
#include <linux/wait_bit.h>
#include <kunit/visibility.h>
#include <rdma/ib_cache.h>
#include "mad.h"
#include "sa.h"

#define SA_UPDATE_MS 1000	/* after which a failed SM query is repeated */

static struct ib_client sa_ib_client;

static void sa_sm_ah_end(struct work_struct *work)
{
	struct sa_sm_ah *sm_ah = container_of(work, struct sa_sm_ah, end);
	struct sa_port *port = sm_ah->port;

	rdma_destroy_ah(sm_ah->ah, RDMA_DESTROY_AH_SLEEPABLE);
	kfree(sm_ah);
	if (atomic_dec_and_test(&port->sm_ahs))
		wake_up_var(&port->sm_ahs);
}

/* The last query may end in any context; not every provider destroys handles in any. */
static void sa_sm_ah_release(struct kref *ref)
{
	queue_work(ibmad_lookup_wq, &container_of(ref, struct sa_sm_ah, ref)->end);
}

void ibmad_sa_sm_ah_put(struct sa_sm_ah *sm_ah)
{
	kref_put(&sm_ah->ref, sa_sm_ah_release);
}

static void sa_sm_ah_replace(struct sa_port *port, struct sa_sm_ah *sm_ah)
{
	struct sa_sm_ah *old;

	spin_lock_irq(&port->lock);
	old = port->sm_ah;
	port->sm_ah = sm_ah;
	spin_unlock_irq(&port->lock);
	if (old)
		ibmad_sa_sm_ah_put(old);
}

struct sa_sm_ah *ibmad_sa_sm_ah_get(struct sa_port *port)
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

static struct sa_sm_ah *sa_sm_ah_create(struct sa_port *port,
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
	INIT_WORK(&sm_ah->end, sa_sm_ah_end);
	sm_ah->port = port;
	atomic_inc(&port->sm_ahs);
	return sm_ah;
}

/*
 * If the port has no SM, an event will report one; after any other error try again.
 * Even then, drop the handle that an earlier run found: that run may have ended after
 * the event that this one follows.
 */
static void sa_update_work(struct work_struct *work)
{
	struct sa_port *port = container_of(to_delayed_work(work),
					    struct sa_port, update);
	struct sa_sm_ah *sm_ah = NULL;
	struct ib_port_attr port_attr;
	int ret;

	ret = ib_query_port(port->device, port->num, &port_attr);
	if (!ret && port_attr.sm_lid) {
		sm_ah = sa_sm_ah_create(port, &port_attr);
		ret = PTR_ERR_OR_ZERO(sm_ah);
	}
	sa_sm_ah_replace(port, ret ? NULL : sm_ah);
	if (ret)
		queue_delayed_work(ibmad_lookup_wq, &port->update,
				   msecs_to_jiffies(SA_UPDATE_MS));
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
	/*
	 * The memberships may be lost, but not when another subnet manager takes over:
	 * it knows them, or requests all of them again (CLIENT_REREGISTER); nor at
	 * PORT_ACTIVE, since PORT_ERR came before it.  IPoIB ignores the reset: it joins
	 * again by itself on each of these events except SM_CHANGE, and on PKEY_CHANGE
	 * only if its P_Key has changed.
	 */
	if (event->event != IB_EVENT_PORT_ACTIVE &&
	    event->event != IB_EVENT_SM_CHANGE)
		ibmad_sa_mcast_reset(port, event->event == IB_EVENT_PKEY_CHANGE);
	sa_sm_ah_replace(port, NULL);
	mod_delayed_work(ibmad_lookup_wq, &port->update, 0);
}

static void sa_port_close(struct sa_port *port)
{
	if (!port->agent)
		return;
	ibmad_sa_mcast_close(port);
	cancel_delayed_work_sync(&port->update);
	/* Queries at the local service have no posted MAD that ends with the agent. */
	ibmad_sa_cancel_all(port);
	wait_var_event(&port->asked, !atomic_read(&port->asked));
	ib_unregister_mad_agent(port->agent);
	ibmad_sa_share_close(port);
	sa_sm_ah_replace(port, NULL);
	wait_var_event(&port->sm_ahs, !atomic_read(&port->sm_ahs));
}

static int sa_port_open(struct sa_device *sa, struct sa_port *port, u32 num)
{
	struct ib_mad_agent *agent;
	int ret;

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
	ret = ibmad_sa_share_open(port);
	if (ret)
		return ret;
	agent = ib_register_mad_agent(sa->device, num, IB_QPT_GSI, NULL, 0,
				      ibmad_sa_send_done, ibmad_sa_received,
				      port, 0);
	if (IS_ERR(agent)) {
		ibmad_sa_share_close(port);
		return PTR_ERR(agent);
	}
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
	/*
	 * Only the work item queries the SM's address, so that no older result follows
	 * a newer one.
	 */
	for (i = 0; i < sa->nr_ports; i++)
		if (sa->port[i].agent)
			mod_delayed_work(ibmad_lookup_wq, &sa->port[i].update, 0);
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
 * Why no reference to a port remains:
 * (1) No event arrives any more.
 * (2) Groups are waited for; they belong to clients of ib_mad, which were removed from
 *     the device before.
 * (3) No query is at the local service: those that were are waited for, and have been
 *     completed or sent; no new ones begin, as those clients have been removed.
 * (4) The agent is deregistered, so each query that was sent has been completed.
 * (5) The address handles that those queries used are waited for.
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
}
