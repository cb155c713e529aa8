// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Devices and ports with a communication manager, and the ports' MAD agents. */
#include <linux/slab.h>
#include <ibex/mad_agent.h>

#include "ibcm/id.h"
#include "ibcm/port.h"
#include "messages/messages.h"

DEFINE_SRCU(ibcm_srcu);

static void ibcm_device_free(struct kref *kref)
{
	kfree(container_of(kref, struct ibcm_device, kref));
}

struct ibcm_device *ibcm_device_get(struct ib_device *ibdev)
{
	struct ibcm_device *dev = ib_get_client_data(ibdev, &ibcm_client);

	if (dev)
		kref_get(&dev->kref);
	return dev;
}

void ibcm_device_put(struct ibcm_device *dev)
{
	kref_put(&dev->kref, ibcm_device_free);
}

static int ibcm_modify_cap(struct ibcm_port *port, bool set)
{
	struct ib_port_modify modify = {
		.set_port_cap_mask = set ? IB_PORT_CM_SUP : 0,
		.clr_port_cap_mask = set ? 0 : IB_PORT_CM_SUP,
	};
	int ret = ib_modify_port(port->dev->ibdev, port->num, 0, &modify);

	/* The capability mask does not matter for a provider without the verb. */
	return ret == -EOPNOTSUPP ? 0 : ret;
}

static int ibcm_port_start(struct ibcm_port *port)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = IB_MGMT_CLASS_CM,
		.mgmt_class_version = IBCM_CLASS_VERSION,
	};
	struct ib_mad_agent *agent;
	int ret;

	port->stray_wq = alloc_workqueue("ib_cm_strays", WQ_UNBOUND,
					 IBCM_MAX_RESOLVING);
	if (!port->stray_wq)
		return -ENOMEM;
	ret = ibcm_counters_register(port);
	if (ret)
		goto err_wq;
	set_bit(IB_MGMT_METHOD_SEND, req.method_mask);
	agent = ib_register_mad_agent(port->dev->ibdev, port->num, IB_QPT_GSI,
				      &req, 0, ibcm_msg_sent, ibcm_mad_received,
				      port, IBEX_MAD_DIRECT);
	if (IS_ERR(agent)) {
		ret = PTR_ERR(agent);
		goto err_counters;
	}
	rcu_assign_pointer(port->agent, agent);
	ret = ibcm_modify_cap(port, true);
	if (ret)
		goto err_agent;
	return 0;

err_agent:
	RCU_INIT_POINTER(port->agent, NULL);
	synchronize_srcu(&ibcm_srcu);
	ib_unregister_mad_agent(agent);
	ibcm_orphans_purge(port);
err_counters:
	ibcm_counters_unregister(port);
err_wq:
	destroy_workqueue(port->stray_wq);
	return ret;
}

/* No message is created for the port after this and synchronize_srcu(). */
static void ibcm_port_close(struct ibcm_port *port)
{
	port->closing = rcu_dereference_protected(port->agent, 1);
	if (port->closing)
		ibcm_modify_cap(port, false);
	RCU_INIT_POINTER(port->agent, NULL);
}

static void ibcm_port_end(struct ibcm_port *port)
{
	if (!port->closing)
		return;
	ib_unregister_mad_agent(port->closing);
	ibcm_orphans_purge(port);
	destroy_workqueue(port->stray_wq);
	ibcm_counters_unregister(port);
}

/*
 * Why no reference on the device or its MAD layer remains:
 * (1) No port has an agent any more, and synchronize_srcu() has waited for the
 *     sections that create messages, paths and address handles: each such message is
 *     posted, and none is created any more.
 * (2) ib_unregister_mad_agent() cancels outstanding messages and returns when the send
 *     handler was called for each.  The messages are freed, except REPs whose work
 *     probes the PSN: these are not posted again without an agent, and (5) waits for
 *     their paths.  Nothing is received afterwards.
 * (3) The works that answer orphans are cancelled or have ended.
 * (4) Consumers registered after this client and have destroyed their ids, so no id's
 *     work runs, and their listeners, so no request is being resolved or waits to be
 *     delivered; destroy_workqueue() waits for works that have dropped their listener
 *     but not returned yet.
 * (5) Ids that remain, because a reference or a consumer keeps them, lose their source
 *     GIDs and paths.  An id that is being released puts its GIDs and then its path:
 *     ibcm_paths_stop() waits for the last path.  The address handle of a path is
 *     destroyed before the path.  A remaining id holds a reference on struct
 *     ibcm_device, not on the ib_device.
 */
static void ibcm_stop(struct ibcm_device *dev)
{
	u32 i;

	for (i = 0; i < dev->nr_ports; i++)
		ibcm_port_close(&dev->ports[i]);
	synchronize_srcu(&ibcm_srcu);
	for (i = 0; i < dev->nr_ports; i++)
		ibcm_port_end(&dev->ports[i]);

	ibcm_ids_strip(dev);
	ibcm_paths_stop(dev);
}

static struct ibcm_device *ibcm_device_alloc(struct ib_device *ibdev)
{
	u32 nr_ports = ibdev->phys_port_cnt;
	struct ibcm_device *dev;
	u32 i;

	dev = kzalloc(struct_size(dev, ports, nr_ports), GFP_KERNEL);
	if (!dev)
		return NULL;
	dev->nr_ports = nr_ports;
	dev->ibdev = ibdev;
	kref_init(&dev->kref);
	atomic_set(&dev->nr_paths, 1);
	init_completion(&dev->no_paths);
	init_waitqueue_head(&dev->ah_wait);
	for (i = 0; i < nr_ports; i++) {
		struct ibcm_port *port = &dev->ports[i];

		port->dev = dev;
		port->num = i + 1;
		port->max_left_dreqs = clamp(ibdev->attrs.max_ah / 4, 1,
					     IBCM_MAX_LEFT_DREQS);
		spin_lock_init(&port->orphan_lock);
		INIT_LIST_HEAD(&port->orphans);
		ibcm_port_paths_init(port);
	}
	return dev;
}

static int ibcm_add_one(struct ib_device *ibdev)
{
	struct ibcm_device *dev;
	int ret = -EOPNOTSUPP;
	u32 num;

	rdma_for_each_port(ibdev, num)
		if (rdma_cap_ib_cm(ibdev, num))
			ret = 0;
	if (ret)
		return ret;

	dev = ibcm_device_alloc(ibdev);
	if (!dev)
		return -ENOMEM;
	ib_set_client_data(ibdev, &ibcm_client, dev);
	rdma_for_each_port(ibdev, num) {
		if (!rdma_cap_ib_cm(ibdev, num))
			continue;
		ret = ibcm_port_start(&dev->ports[num - 1]);
		if (ret)
			goto err;
	}
	return 0;

err:
	ibcm_stop(dev);
	ib_set_client_data(ibdev, &ibcm_client, NULL);
	ibcm_device_put(dev);
	return ret;
}

static void ibcm_remove_one(struct ib_device *ibdev, void *client_data)
{
	struct ibcm_device *dev = client_data;

	ibcm_stop(dev);
	ibcm_device_put(dev);
}

static void ibcm_rename_one(struct ib_device *ibdev, void *client_data)
{
	struct ibcm_device *dev = client_data;
	u32 i;

	for (i = 0; i < dev->nr_ports; i++)
		if (rcu_access_pointer(dev->ports[i].agent))
			ibcm_counters_rename(&dev->ports[i]);
}

struct ib_client ibcm_client = {
	.name = "cm",
	.add = ibcm_add_one,
	.remove = ibcm_remove_one,
	.rename = ibcm_rename_one,
};
