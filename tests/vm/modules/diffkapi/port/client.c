// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Clients: the devices that they are told of, in which order, and their data; events of devices. */
#include <linux/slab.h>
#include <net/net_namespace.h>
#include "kapi.h"

#define CLIENTS		3
#define HANDLERS	3

struct test_client {
	struct ib_client client;
	struct source *events;
	int refuse;			/* the device whose add() fails */
	bool with_data;
	bool registered;
};

static struct test_client *clients_of[CLIENTS];

/* Its number, or of a device that no sequence uses, which is not told. */
static int device_number(const struct ib_device *device)
{
	int i;

	for (i = 0; i < DEVICES; i++)
		if (kdevs[i].device == device)
			return i;
	return -1;
}

static int add_one(struct ib_device *device, unsigned int n)
{
	struct test_client *c = clients_of[n];
	int number = device_number(device);

	if (number < 0)
		return 0;
	if (number == c->refuse) {
		event(c->events, "of client %u: add %s refused", n, kdevs[number].name);
		return -EOPNOTSUPP;
	}
	event(c->events, "of client %u: add %s data %d", n, kdevs[number].name,
	      !!ib_get_client_data(device, &c->client));
	if (c->with_data)
		ib_set_client_data(device, &c->client, &kdevs[number]);
	return 0;
}

static void remove_one(struct ib_device *device, void *data, unsigned int n)
{
	struct test_client *c = clients_of[n];
	int number = device_number(device);

	if (number >= 0)
		event(c->events, "of client %u: remove %s data %d", n, kdevs[number].name,
		      data == &kdevs[number]);
}

static int add_0(struct ib_device *device)
{
	return add_one(device, 0);
}

static int add_1(struct ib_device *device)
{
	return add_one(device, 1);
}

static int add_2(struct ib_device *device)
{
	return add_one(device, 2);
}

static void remove_0(struct ib_device *device, void *data)
{
	remove_one(device, data, 0);
}

static void remove_1(struct ib_device *device, void *data)
{
	remove_one(device, data, 1);
}

static void remove_2(struct ib_device *device, void *data)
{
	remove_one(device, data, 2);
}

static const struct ib_client templates[CLIENTS] = {
	{ .name = "ibex_kapi_0", .add = add_0, .remove = remove_0 },
	{ .name = "ibex_kapi_1", .add = add_1, .remove = remove_1 },
	{ .name = "ibex_kapi_2", .add = add_2, .remove = remove_2 },
};

static void register_one(unsigned int n)
{
	struct test_client *c = clients_of[n];

	memset(&c->client, 0, sizeof(c->client));
	c->client = templates[n];
	c->client.no_kverbs_req = one_in(4);
	c->refuse = one_in(3) ? (int)rnd(DEVICES) : -1;
	c->with_data = !one_in(3);
	call("ib_register_client %u refuse %d data %d no_kverbs %d", n, c->refuse, c->with_data,
	     c->client.no_kverbs_req);
	c->registered = !answer(ib_register_client(&c->client));
	events_left(c->events);
}

static void unregister_one(unsigned int n)
{
	call("ib_unregister_client %u", n);
	ib_unregister_client(&clients_of[n]->client);
	answer(0);
	clients_of[n]->registered = false;
	events_left(clients_of[n]->events);
}

static void client_data(unsigned int n)
{
	struct test_client *c = clients_of[n];
	struct kdev *dev = some_device();

	call("ib_get_client_data %u of %s", n, dev->name);
	answer_with(0, "%d", ib_get_client_data(dev->device, &c->client) == dev);
	/* What it refused is not its device. */
	if (dev - kdevs == c->refuse || !one_in(2))
		return;
	call("ib_set_client_data %u of %s", n, dev->name);
	ib_set_client_data(dev->device, &c->client, one_in(4) ? NULL : dev);
	answer_with(0, "%d", ib_get_client_data(dev->device, &c->client) == dev);
}

static void some_client(void)
{
	unsigned int n = rnd(CLIENTS);

	if (!clients_of[n]->registered)
		register_one(n);
	else if (one_in(3))
		unregister_one(n);
	else
		client_data(n);
}

/* ---- events ---- */

struct handler {
	struct ib_event_handler handler;
	struct source *events;
	struct kdev *dev;
	unsigned int n;
};

static void on_event(struct ib_event_handler *handler, struct ib_event *ev)
{
	struct handler *h = container_of(handler, struct handler, handler);

	event(h->events, "to handler %u: %s of port %u, same device %d", h->n,
	      ib_event_msg(ev->event), ev->element.port_num, ev->device == h->dev->device);
}

/* On RoCE, where nobody who answers these has anything to do. */
static void some_handlers(struct source *s)
{
	struct kdev *dev = &kdevs[one_of(RXE_A, RXE_B)];
	unsigned int i, count = 1 + rnd(HANDLERS), events = 1 + rnd(3);
	struct handler handlers[HANDLERS];
	struct ib_event ev = { .device = dev->device, .element.port_num = 1 };

	for (i = 0; i < count; i++) {
		handlers[i].events = s;
		handlers[i].dev = dev;
		handlers[i].n = i;
		INIT_IB_EVENT_HANDLER(&handlers[i].handler, dev->device, on_event);
		call("ib_register_event_handler %u of %s", i, dev->name);
		ib_register_event_handler(&handlers[i].handler);
		answer(0);
	}
	while (events--) {
		ev.event = one_of(IB_EVENT_PORT_ACTIVE, IB_EVENT_LID_CHANGE, IB_EVENT_PKEY_CHANGE,
				  IB_EVENT_SM_CHANGE);
		call("ib_dispatch_event %u of %s", ev.event, dev->name);
		ib_dispatch_event(&ev);
		answer(0);
		take_events(s, count);
	}
	for (i = 0; i < count; i++) {
		call("ib_unregister_event_handler %u", i);
		ib_unregister_event_handler(&handlers[i].handler);
		answer(0);
	}
}

void clients(u64 number)
{
	struct source *s = kmalloc(sizeof(*s), GFP_KERNEL);
	unsigned int i, calls = 4 + rnd(10);

	for (i = 0; i < CLIENTS; i++) {
		clients_of[i] = kzalloc(sizeof(*clients_of[i]), GFP_KERNEL);
		if (!clients_of[i])
			goto out;
		clients_of[i]->events = s;
	}
	if (!s)
		goto out;
	source_init(s);
	while (calls-- && s->came < EVENT_LINES - 2 * DEVICES * CLIENTS)
		some_client();
	for (i = 0; i < CLIENTS; i++)
		if (clients_of[i]->registered)
			unregister_one(i);
	source_init(s);
	if (one_in(2))
		some_handlers(s);
out:
	for (i = 0; i < CLIENTS; i++) {
		kfree(clients_of[i]);
		clients_of[i] = NULL;
	}
	kfree(s);
}
