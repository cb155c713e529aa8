// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The devices the CMA serves, and the ids bound to each.
 *
 * A cma_dev exists from the client's add to the end of its remove, which waits
 * until the consumers have destroyed every id bound to the device.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <ibex/device.h>

#include "bind/bind.h"
#include "connect/connect.h"
#include "id/id.h"
#include "trace.h"

/* Written when a device is added or removed, or an id starts or stops listening. */
DECLARE_RWSEM(cma_topology);
LIST_HEAD(cma_devices);		/* cma_dev.node; under cma_topology or RCU */

static struct ib_client cma_client;

/* The initial settings of each port; configfs changes those of one port. */
static unsigned int cm_timeout_ms = 4295;
module_param(cm_timeout_ms, uint, 0444);
MODULE_PARM_DESC(cm_timeout_ms, "How long one try of a connect waits for an answer (4295)");

static unsigned int cm_retries = CMA_CM_RETRIES_MAX;
module_param(cm_retries, uint, 0444);
MODULE_PARM_DESC(cm_retries, "How often a connect is tried again, up to 15 (15)");

int cma_timeout_of_ms(unsigned int ms)
{
	u8 timeout;

	if (!ms)
		return -EINVAL;
	for (timeout = 0; timeout <= CMA_CM_TIMEOUT_MAX; timeout++)
		if (ibcm_time_ms(timeout) >= ms)
			return timeout;
	return -ERANGE;
}

struct cma_port *cma_id_port(struct cma_id *idp)
{
	return &idp->dev->ports[idp->id.port_num];
}

bool cma_dev_tryget(struct cma_dev *dev)
{
	return refcount_inc_not_zero(&dev->refs);
}

void cma_dev_put(struct cma_dev *dev)
{
	if (refcount_dec_and_test(&dev->refs))
		complete(&dev->idle);
}

struct cma_dev *cma_dev_get_by_name(const char *name)
{
	struct cma_dev *dev, *found = NULL;
	char its_name[IB_DEVICE_NAME_MAX];

	down_read(&cma_topology);
	list_for_each_entry(dev, &cma_devices, node) {
		ibcore_device_name(dev->device, its_name);
		if (strcmp(its_name, name))
			continue;
		if (cma_dev_tryget(dev))
			found = dev;
		break;
	}
	up_read(&cma_topology);
	return found;
}

/*
 * cma_id_attach() - bind an id to the device, port and SGID of @binding
 *
 * Takes over the references of @binding, even on failure.
 *
 * Return: 0; -ENODEV if the device is being removed; -EINVAL if the id is of RDMA_PS_IPOIB,
 * whose Q_Key is that of IPoIB's broadcast group, and the port is not InfiniBand's.
 */
int cma_id_attach(struct cma_id *idp, struct cma_binding *binding)
{
	struct rdma_dev_addr *dev_addr = &idp->id.route.addr.dev_addr;
	struct cma_dev *dev = binding->dev;
	int err = 0;

	idp->sgid_attr = binding->sgid_attr;
	dev_addr->sgid_attr = binding->sgid_attr;
	dev_addr->transport = rdma_node_get_transport(dev->device->node_type);
	idp->id.port_num = binding->port;
	idp->id.device = dev->device;

	spin_lock(&dev->lock);
	if (dev->dead)
		err = -ENODEV;
	else if (idp->id.ps == RDMA_PS_IPOIB && !rdma_protocol_ib(dev->device, binding->port))
		err = -EINVAL;
	if (!err) {
		idp->dev = dev;
		list_add_tail(&idp->dev_node, &dev->ids);
	}
	spin_unlock(&dev->lock);

	if (err) {
		idp->sgid_attr = NULL;
		dev_addr->sgid_attr = NULL;
		idp->id.device = NULL;
		idp->id.port_num = 0;
		if (binding->sgid_attr)
			rdma_put_gid_attr(binding->sgid_attr);
		cma_dev_put(dev);
		return err;
	}
	rdma_restrack_add(&idp->track.res);
	trace_cm_id_attach(idp, dev->device);
	return 0;
}

/* Called on destruction, after rdma_restrack_del(), which needs the device. */
void cma_id_detach(struct cma_id *idp)
{
	struct rdma_dev_addr *dev_addr = &idp->id.route.addr.dev_addr;
	struct cma_dev *dev = idp->dev;

	if (!dev)
		return;
	if (idp->sgid_attr)
		rdma_put_gid_attr(idp->sgid_attr);
	idp->sgid_attr = NULL;
	dev_addr->sgid_attr = NULL;

	spin_lock(&dev->lock);
	list_del_init(&idp->dev_node);
	spin_unlock(&dev->lock);
	idp->dev = NULL;
	idp->id.device = NULL;
	idp->id.port_num = 0;
	cma_dev_put(dev);
}

/* Notifies the consumer of the removal of the device; drops the caller's reference. */
static void cma_id_remove(struct cma_id *idp)
{
	struct rdma_cm_event event = { .event = RDMA_CM_EVENT_DEVICE_REMOVAL };

	mutex_lock(&idp->handler_mutex);
	if (!cma_id_step(idp, CMA_T_REMOVE) &&
	    cma_id_deliver(idp, &event)) {
		cma_id_destroy_pinned(idp);
		return;
	}
	mutex_unlock(&idp->handler_mutex);
	cma_id_put(idp);
}

static void cma_dev_remove_ids(struct cma_dev *dev)
{
	struct cma_id *idp;

	spin_lock(&dev->lock);
	while ((idp = list_first_entry_or_null(&dev->ids, struct cma_id,
					       dev_node))) {
		list_move_tail(&idp->dev_node, &dev->removed_ids);
		/* An id without references is at the end of its destruction. */
		if (!cma_id_tryget(idp))
			continue;
		spin_unlock(&dev->lock);
		cma_id_remove(idp);
		spin_lock(&dev->lock);
	}
	spin_unlock(&dev->lock);
}

static bool cma_device_supported(struct ib_device *device)
{
	u32 port;

	rdma_for_each_port(device, port)
		if (rdma_cap_ib_cm(device, port) || rdma_cap_iw_cm(device, port))
			return true;
	return false;
}

/* RoCE v2 if the port supports it, as only RoCE v2 packets can be routed. */
static enum ib_gid_type cma_preferred_gid_type(struct ib_device *device,
					       u32 port)
{
	unsigned long types = roce_gid_type_mask_support(device, port);

	if (!types || (types & BIT(IB_GID_TYPE_ROCE_UDP_ENCAP)))
		return IB_GID_TYPE_ROCE_UDP_ENCAP;
	return __ffs(types);
}

static int cma_add_one(struct ib_device *device)
{
	struct cma_dev *dev;
	u32 port;

	if (!cma_device_supported(device))
		return -EOPNOTSUPP;

	dev = kzalloc(struct_size(dev, ports, rdma_end_port(device) + 1),
		      GFP_KERNEL);
	if (!dev)
		return -ENOMEM;
	dev->device = device;
	refcount_set(&dev->refs, 1);
	init_completion(&dev->idle);
	spin_lock_init(&dev->lock);
	INIT_LIST_HEAD(&dev->ids);
	INIT_LIST_HEAD(&dev->removed_ids);
	INIT_LIST_HEAD(&dev->hints);
	INIT_LIST_HEAD(&dev->listens);
	rdma_for_each_port(device, port) {
		dev->ports[port].default_gid_type =
			cma_preferred_gid_type(device, port);
		dev->ports[port].cm_timeout = cma_timeout_of_ms(cm_timeout_ms);
		dev->ports[port].cm_retries = cm_retries;
	}

	ib_set_client_data(device, &cma_client, dev);
	down_write(&cma_topology);
	list_add_tail_rcu(&dev->node, &cma_devices);
	cma_listen_device_added(dev);
	up_write(&cma_topology);
	trace_cm_add_one(device);
	return 0;
}

/*
 * Why no reference to the device remains when this returns:
 * (1) Lookups of a device: it is removed from cma_devices under cma_topology, and
 *     its hints are purged.  Either lookup takes a reference, for which this
 *     function waits.  Netdev notifications, and the search for the sender of a
 *     request (source.c), walk cma_devices under RCU: the memory is freed by
 *     kfree_rcu(), and they call no function of the device.
 * (2) New ids and listeners: refused once dead is set.
 * (3) CM listeners: destroyed here, or by the destruction of their id; each holds a
 *     reference until then.
 * (4) Ids: each gets DEVICE_REMOVAL once, after which its consumer must destroy it;
 *     an id holds a reference until its CM id is destroyed.
 * So after the wait the CMA no longer uses the device.
 */
static void cma_remove_one(struct ib_device *device, void *client_data)
{
	struct cma_dev *dev = client_data;

	trace_cm_remove_one(device);
	down_write(&cma_topology);
	list_del_rcu(&dev->node);
	up_write(&cma_topology);
	spin_lock(&dev->lock);
	dev->dead = true;
	spin_unlock(&dev->lock);

	cma_listen_device_removed(dev);
	cma_gid_hint_purge(dev);
	cma_dev_remove_ids(dev);

	cma_dev_put(dev);
	wait_for_completion(&dev->idle);
	kfree_rcu(dev, rcu);
}

static struct ib_client cma_client = {
	.name = "cma",
	.add = cma_add_one,
	.remove = cma_remove_one,
};

int cma_device_init(void)
{
	if (cma_timeout_of_ms(cm_timeout_ms) < 0 || cm_retries > CMA_CM_RETRIES_MAX) {
		pr_err("rdma_cm: cm_timeout_ms=%u or cm_retries=%u is out of range\n",
		       cm_timeout_ms, cm_retries);
		return -EINVAL;
	}
	return ib_register_client(&cma_client);
}

void cma_device_exit(void)
{
	ib_unregister_client(&cma_client);
}
