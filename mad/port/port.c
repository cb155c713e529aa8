// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ports: ib_mad is a client of every device with a port that supports MADs: on QP1 if
 * the port supports connection managers, on QP0 if it has an SMI.
 *
 * A port's memory is referenced by its device and by each agent.  Its QPs, CQs and PD
 * are destroyed when the device is removed, after all activity of its agents has ended.
 */
#include <linux/slab.h>
#include "agent/agent.h"
#include "port/port.h"

struct ibmad_device {
	u32 first_port;
	u32 nr_ports;
	struct ibmad_port *port[] __counted_by(nr_ports);
};

static void port_release(struct kref *kref)
{
	struct ibmad_port *port = container_of(kref, struct ibmad_port, kref);

	free_percpu(port->stats);
	WARN_ON(port->nr_rahs);
	mutex_destroy(&port->rahs_lock);
	mutex_destroy(&port->reg_mutex);
	kfree(port);
}

void ibmad_port_put(struct ibmad_port *port)
{
	kref_put(&port->kref, port_release);
}
EXPORT_SYMBOL_IF_KUNIT(ibmad_port_put);

/* The caller keeps @device registered, and this client on it, across the call. */
struct ibmad_port *ibmad_port_get(struct ib_device *device, u32 port_num)
{
	struct ibmad_device *mdev = ib_get_client_data(device, &ibmad_client);
	struct ibmad_port *port;

	if (!mdev || port_num < mdev->first_port ||
	    port_num - mdev->first_port >= mdev->nr_ports)
		return NULL;
	port = mdev->port[port_num - mdev->first_port];
	if (port)
		kref_get(&port->kref);
	return port;
}

static struct ibmad_port *port_alloc(struct ib_device *device, u32 port_num)
{
	struct ibmad_port *port = kzalloc(sizeof(*port), GFP_KERNEL);

	if (!port)
		return ERR_PTR(-ENOMEM);
	port->stats = alloc_percpu(struct ibmad_stats);
	if (!port->stats) {
		kfree(port);
		return ERR_PTR(-ENOMEM);
	}
	kref_init(&port->kref);
	mutex_init(&port->reg_mutex);
	INIT_LIST_HEAD(&port->agents);
	mutex_init(&port->rahs_lock);
	hash_init(port->rahs);
	port->device = device;
	port->port_num = port_num;
	port->opa = rdma_cap_opa_mad(device, port_num) &&
		    rdma_max_mad_size(device, port_num) >= OPA_MGMT_MAD_SIZE;
	port->mad_size = port->opa ? OPA_MGMT_MAD_SIZE : IB_MGMT_MAD_SIZE;
	return port;
}

/* The PD of a QP that could not be destroyed is never freed. */
static void port_free_pd(struct ibmad_port *port)
{
	if (!port->kept)
		ib_dealloc_pd(port->pd);
}

static int port_open(struct ibmad_port *port)
{
	int ret;

	port->pd = ib_alloc_pd(port->device, 0);
	if (IS_ERR(port->pd))
		return PTR_ERR(port->pd);

	if (rdma_cap_ib_smi(port->device, port->port_num)) {
		ret = ibmad_qp_create(port, &port->qp[0], IB_QPT_SMI);
		if (ret)
			goto err_pd;
	}
	/* An SMI sub-device of mlx5 has MADs, but its parent has the GSI QP. */
	if (rdma_cap_ib_cm(port->device, port->port_num)) {
		ret = ibmad_qp_create(port, &port->qp[1], IB_QPT_GSI);
		if (ret)
			goto err_qp0;
	}
	return 0;

err_qp0:
	ibmad_qp_destroy(&port->qp[0]);
err_pd:
	port_free_pd(port);
	return ret;
}

static struct ibmad_port *port_create(struct ib_device *device, u32 port_num)
{
	struct ibmad_port *port = port_alloc(device, port_num);
	int ret;

	if (IS_ERR(port))
		return port;
	ret = port_open(port);
	if (ret) {
		dev_err(&device->dev, "port %u: no MAD service: %d\n",
			port_num, ret);
		ibmad_port_put(port);
		return ERR_PTR(ret);
	}
	return port;
}

/*
 * Why no code of ib_mad runs for this port afterwards:
 * (1) ibmad_agents_detach() marks the port dead, so no agent can be added, and
 *     ends the agents that are left; there should be only the responders, since
 *     clients that use MADs were removed before this one.
 * (2) ibmad_qp_destroy() flushes both QPs, completes the sends they still held,
 *     destroys them and their CQs (which ends all receiving), then the local
 *     responder and all work items of the QP.
 * What remains is memory: clients' receive buffers refer to the pool, their
 * agents to the port.
 */
static void port_destroy(struct ibmad_port *port)
{
	ibmad_agents_detach(port);
	ibmad_qp_destroy(&port->qp[1]);
	ibmad_qp_destroy(&port->qp[0]);
	port_free_pd(port);
	ibmad_port_put(port);
}

static void device_destroy_ports(struct ibmad_device *mdev)
{
	u32 i;

	for (i = mdev->nr_ports; i--;)
		if (mdev->port[i])
			port_destroy(mdev->port[i]);
}

static void device_show_stats(struct ibmad_device *mdev)
{
	u32 i;

	for (i = 0; i < mdev->nr_ports; i++) {
		struct ibmad_port *port = mdev->port[i];

		if (!port)
			continue;
		port->stats_shown = !ibmad_stats_register(port);
		if (!port->stats_shown)
			dev_warn(&port->device->dev,
				 "port %u: MAD counters not shown\n",
				 port->port_num);
	}
}

static int ibmad_add_one(struct ib_device *device)
{
	u32 first = rdma_start_port(device);
	u32 nr = rdma_end_port(device) - first + 1;
	struct ibmad_device *mdev;
	bool any = false;
	u32 i;
	int ret;

	mdev = kzalloc(struct_size(mdev, port, nr), GFP_KERNEL);
	if (!mdev)
		return -ENOMEM;
	mdev->first_port = first;
	mdev->nr_ports = nr;

	for (i = 0; i < nr; i++) {
		struct ibmad_port *port;

		if (!rdma_cap_ib_mad(device, first + i))
			continue;
		port = port_create(device, first + i);
		if (IS_ERR(port)) {
			ret = PTR_ERR(port);
			goto err_ports;
		}
		mdev->port[i] = port;
		any = true;
	}
	if (!any) {
		ret = -EOPNOTSUPP;
		goto err_ports;
	}

	ib_set_client_data(device, &ibmad_client, mdev);
	device_show_stats(mdev);
	return 0;

err_ports:
	device_destroy_ports(mdev);
	kfree(mdev);
	return ret;
}

static void ibmad_remove_one(struct ib_device *device, void *client_data)
{
	struct ibmad_device *mdev = client_data;
	u32 i;

	for (i = 0; i < mdev->nr_ports; i++)
		if (mdev->port[i] && mdev->port[i]->stats_shown)
			ibmad_stats_unregister(mdev->port[i]);
	device_destroy_ports(mdev);
	kfree(mdev);
}

struct ib_client ibmad_client = {
	.name = "mad",
	.add = ibmad_add_one,
	.remove = ibmad_remove_one,
};
