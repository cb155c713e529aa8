// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Clients: the modules that core notifies of every device.
 *
 * A client is attached to a device from the success of its add() until its
 * remove() is called.  Both run under the device's client_lock, so that on one
 * device they run one at a time: add() in order of registration (the clients that a
 * client builds on are attached first), remove() in reverse order.  When the device
 * is registered, moved or unregistered, its unregistration_lock is held, too.  A
 * rename takes client_lock as well: a device keeps its name during add() and remove().
 *
 * Each pair of a device and a client is attached once at most, and none is missed.
 * A device enters the registry before it walks the clients, and a client is added to
 * the clients xarray before it walks the devices, hence at least one sees the other.
 * If both do, the second one finds the pair attached, or the device closed.
 *
 * Why no use of a client remains when ib_unregister_client() returns:
 *  (1) The client was removed from the xarray: no device finds it any more.  A device
 *	that found it before holds a count in client->uses, see (4).
 *  (2) Every device was visited under client_lock, with remove() called if the
 *	client was attached.  A device that is not in the registry any more
 *	removed its clients before it left.
 *  (3) get_net_dev_by_params(), rename() and get_nl_info() are called under
 *	client_data_rwsem of a device the client is attached to.  (2) took it for
 *	writing.
 *  (4) Each attachment, and each walk or netlink call that uses the client, holds a
 *	count in client->uses.  ib_unregister_client() waits for the last one.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include "device/device.h"

struct attachment {
	struct list_head node;		/* of ibcore_device.attached */
	struct ib_client *client;	/* holds a count in client->uses */
};

static DEFINE_XARRAY(clients);		/* protected by ibcore_registry_rwsem */
static u32 next_client_id;		/* protected by ibcore_registry_rwsem */

static void client_put(struct ib_client *client)
{
	if (refcount_dec_and_test(&client->uses))
		complete(&client->uses_zero);
}

/* Returns the client with the lowest id >= *@id, with a count in uses, or NULL. */
static struct ib_client *client_get_next(u32 *id)
{
	struct ib_client *client;
	unsigned long i = *id;

	down_read(&ibcore_registry_rwsem);
	client = xa_find(&clients, &i, U32_MAX, XA_PRESENT);
	if (client)
		refcount_inc(&client->uses);
	up_read(&ibcore_registry_rwsem);
	*id = i;
	return client;
}

/* ---- one pair ---- */

static struct attachment *find_attachment(struct ib_device *dev,
					  struct ib_client *client)
{
	struct ibcore_device *priv = ibcore_priv(dev);
	struct attachment *att;

	lockdep_assert_held(&priv->client_lock);
	list_for_each_entry(att, &priv->attached, node)
		if (att->client == client)
			return att;
	return NULL;
}

static void set_attached(struct ib_device *dev, struct attachment *att, bool on)
{
	down_write(&dev->client_data_rwsem);
	if (on)
		list_add_tail(&att->node, &ibcore_priv(dev)->attached);
	else
		list_del(&att->node);
	up_write(&dev->client_data_rwsem);
}

static void free_attachment(struct ib_device *dev, struct attachment *att)
{
	xa_erase(&dev->client_data, att->client->client_id);
	client_put(att->client);
	kfree(att);
}

/*
 * A client whose add() fails is not attached, and this returns 0; errors are only
 * those of core itself.
 */
static int attach(struct ib_device *dev, struct ib_client *client)
{
	struct attachment *att;
	int ret;

	if (!dev->kverbs_provider && !client->no_kverbs_req)
		return 0;
	if (find_attachment(dev, client))
		return 0;

	att = kmalloc(sizeof(*att), GFP_KERNEL);
	if (!att)
		return -ENOMEM;
	/* Reserves the slot of the client's data, so that storing it cannot fail. */
	ret = xa_insert(&dev->client_data, client->client_id, NULL, GFP_KERNEL);
	if (ret) {
		kfree(att);
		return ret;
	}
	att->client = client;
	refcount_inc(&client->uses);

	if (client->add && client->add(dev))
		free_attachment(dev, att);
	else
		set_attached(dev, att, true);
	return 0;
}

static void detach(struct ib_device *dev, struct attachment *att)
{
	struct ib_client *client = att->client;

	/* From here on the only callback that runs is remove(). */
	set_attached(dev, att, false);
	if (client->remove)
		client->remove(dev, xa_load(&dev->client_data,
					    client->client_id));
	free_attachment(dev, att);
}

/* ---- all clients of a device ---- */

void ibcore_clients_init(struct ib_device *dev)
{
	INIT_LIST_HEAD(&ibcore_priv(dev)->attached);
	init_rwsem(&dev->client_data_rwsem);
	xa_init_flags(&dev->client_data, XA_FLAGS_ALLOC);
}

int ibcore_clients_add(struct ib_device *dev)
{
	struct ibcore_device *priv = ibcore_priv(dev);
	struct ib_client *client;
	int ret = 0;
	u32 id;

	mutex_lock(&priv->client_lock);
	priv->clients_open = true;
	for (id = 0; !ret && (client = client_get_next(&id)); id++) {
		ret = attach(dev, client);
		client_put(client);
	}
	mutex_unlock(&priv->client_lock);
	return ret;
}

void ibcore_clients_remove(struct ib_device *dev)
{
	struct ibcore_device *priv = ibcore_priv(dev);

	mutex_lock(&priv->client_lock);
	priv->clients_open = false;
	while (!list_empty(&priv->attached))
		detach(dev, list_last_entry(&priv->attached, struct attachment,
					    node));
	mutex_unlock(&priv->client_lock);
}

void ibcore_clients_rename(struct ib_device *dev)
{
	struct ibcore_device *priv = ibcore_priv(dev);
	struct attachment *att;

	lockdep_assert_held(&priv->client_lock);
	down_read(&dev->client_data_rwsem);
	list_for_each_entry(att, &priv->attached, node)
		if (att->client->rename)
			att->client->rename(dev,
					    xa_load(&dev->client_data,
						    att->client->client_id));
	up_read(&dev->client_data_rwsem);
}

/* ---- all devices of a client ---- */

static int visit_attach(struct ib_device *dev, struct ib_client *client)
{
	/* A closed device will still walk the clients, or is being unregistered. */
	return ibcore_priv(dev)->clients_open ? attach(dev, client) : 0;
}

static int visit_detach(struct ib_device *dev, struct ib_client *client)
{
	struct attachment *att = find_attachment(dev, client);

	if (att)
		detach(dev, att);
	return 0;
}

static int visit_devices(struct ib_client *client,
			 int (*visit)(struct ib_device *, struct ib_client *))
{
	struct ib_device *dev;
	int ret = 0;
	u32 index;

	for (index = 0; !ret && (dev = ibcore_registry_next(&index)); index++) {
		mutex_lock(&ibcore_priv(dev)->client_lock);
		ret = visit(dev, client);
		mutex_unlock(&ibcore_priv(dev)->client_lock);
		put_device(&dev->dev);
	}
	return ret;
}

/* Ids grow and are never reused, so their order is the order of registration. */
static int insert_client(struct ib_client *client)
{
	int ret = -ENOSPC;

	down_write(&ibcore_registry_rwsem);
	if (next_client_id < U32_MAX) {
		client->client_id = next_client_id;
		ret = xa_insert(&clients, client->client_id, client, GFP_KERNEL);
		if (!ret)
			next_client_id++;
	}
	up_write(&ibcore_registry_rwsem);
	return ret;
}

/**
 * ib_register_client - subscribe to devices
 * @client: name and callbacks, valid until ib_unregister_client() returns
 *
 * When this returns, add() has been called for every registered device; it will be
 * called for each device registered later.  remove() is called for each device for
 * which add() returned 0.  Devices without the verbs that kernel users need are
 * skipped unless no_kverbs_req is set.
 *
 * Context: may sleep; not from a client's callback.
 * Return: 0, -ENOMEM, or -ENOSPC.
 */
int ib_register_client(struct ib_client *client)
{
	int ret;

	refcount_set(&client->uses, 1);
	init_completion(&client->uses_zero);
	ret = insert_client(client);
	if (ret)
		return ret;
	ret = visit_devices(client, visit_attach);
	if (ret)
		ib_unregister_client(client);
	return ret;
}
EXPORT_SYMBOL(ib_register_client);

/**
 * ib_unregister_client - unsubscribe from devices
 * @client: a registered client
 *
 * When this returns, remove() has returned for every device, also where another
 * thread called it, and no callback runs.
 *
 * Context: may sleep; not from a client's callback.
 */
void ib_unregister_client(struct ib_client *client)
{
	down_write(&ibcore_registry_rwsem);
	xa_erase(&clients, client->client_id);
	up_write(&ibcore_registry_rwsem);

	visit_devices(client, visit_detach);
	client_put(client);
	wait_for_completion(&client->uses_zero);
}
EXPORT_SYMBOL(ib_unregister_client);

/**
 * ib_set_client_data - Set what ib_get_client_data() returns
 * @dev: the device
 * @client: the client; attached to @dev, or in its add() for @dev
 * @data: any pointer; passed to the client's other callbacks
 *
 * Context: process; does not sleep.
 */
void ib_set_client_data(struct ib_device *dev, struct ib_client *client,
			void *data)
{
	void *old;

	/* attach() reserved the slot: nothing is allocated. */
	old = xa_store(&dev->client_data, client->client_id, data, GFP_NOWAIT);
	WARN_ON(xa_is_err(old));
}
EXPORT_SYMBOL(ib_set_client_data);

/**
 * ib_get_net_dev_by_params - The netdev a connection request is for
 * @dev: the device that received the request; the caller holds a reference
 * @port: its port
 * @pkey: P_Key, host byte order
 * @gid: the local GID, or NULL
 * @addr: the requested IP address
 *
 * Queries the clients that create netdevs on IB ports (IPoIB).  RFC 4391; IBA annex
 * A11, RDMA IP CM service.
 *
 * Context: may sleep.
 * Return: the netdev, referenced (dev_put), or NULL.
 */
struct net_device *ib_get_net_dev_by_params(struct ib_device *dev, u32 port,
					    u16 pkey, const union ib_gid *gid,
					    const struct sockaddr *addr)
{
	struct net_device *ndev = NULL;
	struct ib_client *client;
	struct attachment *att;

	if (!rdma_protocol_ib(dev, port))
		return NULL;

	down_read(&dev->client_data_rwsem);
	list_for_each_entry(att, &ibcore_priv(dev)->attached, node) {
		client = att->client;
		if (!client->get_net_dev_by_params)
			continue;
		ndev = client->get_net_dev_by_params(dev, port, pkey, gid, addr,
						     xa_load(&dev->client_data,
							     client->client_id));
		if (ndev)
			break;
	}
	up_read(&dev->client_data_rwsem);
	return ndev;
}
EXPORT_SYMBOL(ib_get_net_dev_by_params);

/* ---- netlink ---- */

static int device_nl_info(struct ib_device *dev, const char *client_name,
			  struct ib_client_nl_info *res)
{
	struct attachment *att;
	int ret = -ENOENT;

	/* The character device exists as long as its client is attached. */
	down_read(&dev->client_data_rwsem);
	list_for_each_entry(att, &ibcore_priv(dev)->attached, node) {
		if (strcmp(att->client->name, client_name))
			continue;
		ret = -EOPNOTSUPP;
		if (att->client->get_nl_info)
			ret = att->client->get_nl_info(dev,
						       xa_load(&dev->client_data,
							       att->client->client_id),
						       res);
		if (!ret)
			get_device(res->cdev);
		break;
	}
	up_read(&dev->client_data_rwsem);
	return ret;
}

static int global_nl_info(const char *client_name, struct ib_client_nl_info *res)
{
	struct ib_client *client;
	int ret = -ENOENT;
	u32 id;

	for (id = 0; (client = client_get_next(&id)); id++) {
		if (!strcmp(client->name, client_name)) {
			ret = -EOPNOTSUPP;
			if (client->get_global_nl_info)
				ret = client->get_global_nl_info(res);
			if (!ret)
				get_device(res->cdev);
			client_put(client);
			break;
		}
		client_put(client);
	}
	return ret;
}

static int find_nl_info(struct ib_device *dev, const char *client_name,
			struct ib_client_nl_info *res)
{
	return dev ? device_nl_info(dev, client_name, res) :
		     global_nl_info(client_name, res);
}

/* If no such client is registered, its module is loaded. */
int ibcore_client_nl_info(struct ib_device *dev, const char *client_name,
			  struct ib_client_nl_info *res)
{
	int ret = find_nl_info(dev, client_name, res);

	if (ret == -ENOENT) {
		request_module("rdma-client-%s", client_name);
		ret = find_nl_info(dev, client_name, res);
	}
	if (!ret && WARN_ON(!res->cdev))
		ret = -EINVAL;
	return ret;
}

void ibcore_clients_exit(void)
{
	WARN_ON(!xa_empty(&clients));
	xa_destroy(&clients);
}
