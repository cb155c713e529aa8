// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The devices, each with a responder; and their removal. */
#include <linux/slab.h>
#include "mad.h"

static DEFINE_MUTEX(ports_lock);	/* taken outside of port->lock */
static LIST_HEAD(ports);		/* protected by ports_lock */

static void port_free(struct kref *ref)
{
	kfree(container_of(ref, struct port, ref));
}

void port_put(struct port *port)
{
	kref_put(&port->ref, port_free);
}

struct port *port_find(const char *name)
{
	struct port *port, *found = NULL;

	mutex_lock(&ports_lock);
	list_for_each_entry(port, &ports, link) {
		if (strcmp(dev_name(&port->device->dev), name))
			continue;
		kref_get(&port->ref);
		found = port;
		break;
	}
	mutex_unlock(&ports_lock);
	return found;
}

/* Returns a requester of the port with a reference, or NULL. */
static struct requester *port_next(struct port *port, bool standing_only)
{
	struct requester *rq, *found = NULL;

	mutex_lock(&port->lock);
	list_for_each_entry(rq, &port->requesters, link) {
		if (standing_only && !test_bit(REQUESTER_STANDING, &rq->bits))
			continue;
		kref_get(&rq->ref);
		found = rq;
		break;
	}
	mutex_unlock(&port->lock);
	return found;
}

/* requester_stop() takes the requester off the list. */
static void port_stop(struct port *port, bool standing_only)
{
	struct requester *rq;

	while ((rq = port_next(port, standing_only))) {
		requester_stop(rq);
		requester_put(rq);
	}
}

void ports_drop_standing(void)
{
	struct port *port;

	mutex_lock(&ports_lock);
	list_for_each_entry(port, &ports, link)
		port_stop(port, true);
	mutex_unlock(&ports_lock);
}

static int port_add(struct ib_device *device)
{
	struct port *port;
	int ret;

	if (!rdma_cap_ib_mad(device, ECHO_PORT))
		return -EOPNOTSUPP;
	port = kzalloc(sizeof(*port), GFP_KERNEL);
	if (!port)
		return -ENOMEM;
	kref_init(&port->ref);
	port->device = device;
	mutex_init(&port->lock);
	INIT_LIST_HEAD(&port->requesters);
	port->responder = responder_start(port);
	if (IS_ERR(port->responder)) {
		ret = PTR_ERR(port->responder);
		port_put(port);
		return ret;
	}
	ib_set_client_data(device, &mad_client, port);
	mutex_lock(&ports_lock);
	list_add_tail(&port->link, &ports);
	mutex_unlock(&ports_lock);
	return 0;
}

/*
 * Why nothing of this module is left on the device: @gone prevents new requesters; the
 * existing ones are on the list, and requester_stop() returns when the agent is
 * unregistered, whichever caller stops it.
 */
static void port_remove(struct ib_device *device, void *client_data)
{
	struct port *port = client_data;
	ktime_t start = ktime_get();

	mad_count(MAD_REMOVALS);
	mutex_lock(&ports_lock);
	list_del(&port->link);
	mutex_unlock(&ports_lock);
	mutex_lock(&port->lock);
	port->gone = true;
	mutex_unlock(&port->lock);

	port_stop(port, false);
	responder_stop(port->responder);
	mad_note_longest(&mad_remove_us, start);
	port_put(port);
}

struct ib_client mad_client = {
	.name = "ibex_mad",
	.add = port_add,
	.remove = port_remove,
};
