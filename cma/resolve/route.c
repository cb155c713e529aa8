// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Routes: rdma_resolve_route(), rdma_set_ib_path().
 *
 * On InfiniBand the SA is queried for a path record.  On RoCE the path record is built
 * from the result of address resolution.  iWARP needs none.
 */
#include <linux/slab.h>

#include "id/id.h"
#include "resolve/resolve.h"

/*
 * cma_route_alloc() - replace an id's path records by zeroed ones
 *
 * Return: 0, or -ENOMEM, which leaves the records unchanged.
 */
int cma_route_alloc(struct cma_id *idp, int nr_paths)
{
	struct rdma_route *route = &idp->id.route;
	struct sa_path_rec *path;

	path = kcalloc(nr_paths, sizeof(*path), GFP_KERNEL);
	if (!path)
		return -ENOMEM;

	route->num_pri_alt_paths = 0;
	kfree(route->path_rec_inbound);
	kfree(route->path_rec_outbound);
	kfree(route->path_rec);
	route->path_rec_inbound = NULL;
	route->path_rec_outbound = NULL;
	route->path_rec = path;
	return 0;
}

u8 cma_id_tos(struct cma_id *idp)
{
	if (idp->tos_set || !idp->dev)
		return idp->tos;
	return READ_ONCE(idp->dev->ports[idp->id.port_num].default_tos);
}

static int cma_route_start(struct cma_id *idp, unsigned long timeout_ms)
{
	struct rdma_cm_id *id = &idp->id;
	int err = 0;

	if (rdma_cap_ib_sa(id->device, id->port_num))
		return cma_route_ib(idp, timeout_ms);
	if (rdma_protocol_roce(id->device, id->port_num))
		err = cma_route_roce(idp);
	else if (!rdma_protocol_iwarp(id->device, id->port_num))
		err = -EOPNOTSUPP;
	if (err)
		return err;

	idp->route_status = 0;
	cma_id_post(idp, CMA_POST_ROUTE);
	return 0;
}

/**
 * rdma_resolve_route() - find the path to the address that was resolved
 * @id: an id whose rdma_resolve_addr() succeeded
 * @timeout_ms: how long to wait for the SA's response
 *
 * The outcome is RDMA_CM_EVENT_ROUTE_RESOLVED, or RDMA_CM_EVENT_ROUTE_ERROR with the
 * reason in its status, after which this may be called again.  IBA vol. 1, 15.2.5.16
 * (PathRecord).
 *
 * Context: may sleep.  A callback of @id may call it.
 * Return: 0 if an event will follow.  On error none follows: -EINVAL if @id is in the
 * wrong state or @timeout_ms is 0; -ENETDOWN if the device is being removed or the netdev
 * no longer exists; -ENODEV if there never was one, on RoCE; -EOPNOTSUPP; -ENOMEM; an error
 * of ib_sa_path_rec_get().
 */
int rdma_resolve_route(struct rdma_cm_id *id, unsigned long timeout_ms)
{
	struct cma_id *idp = to_cma(id);
	int err;

	if (!timeout_ms)
		return -EINVAL;
	err = cma_id_step(idp, CMA_T_RESOLVE_ROUTE);
	if (err)
		return err;
	err = cma_route_start(idp, timeout_ms);
	if (err)
		cma_id_step(idp, CMA_T_ROUTE_FAILED);
	return err;
}
EXPORT_SYMBOL(rdma_resolve_route);

/* Reports the outcome of the resolution to the consumer; see event.c. */
int cma_route_event(struct cma_id *idp)
{
	struct rdma_cm_event event = {
		.event = RDMA_CM_EVENT_ROUTE_RESOLVED,
		.status = idp->route_status,
	};

	if (event.status)
		event.event = RDMA_CM_EVENT_ROUTE_ERROR;
	if (cma_id_step(idp, event.status ? CMA_T_ROUTE_FAILED :
			CMA_T_ROUTE_DONE))
		return 0;
	return cma_id_deliver(idp, &event);
}

/**
 * rdma_set_ib_path() - set the path record that an id connects with
 * @id: an id whose rdma_resolve_addr() succeeded, on InfiniBand or RoCE
 * @path_rec: the path; copied
 *
 * This replaces rdma_resolve_route(); no event follows.  On RoCE the link-layer fields
 * of the record are filled in from the resolved address.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if @id is in the wrong state; -ENETDOWN if the device is being
 * removed or the netdev no longer exists; -EOPNOTSUPP on iWARP; -ENOMEM.
 */
int rdma_set_ib_path(struct rdma_cm_id *id, struct sa_path_rec *path_rec)
{
	struct cma_id *idp = to_cma(id);
	int err, refused;

	/* In ROUTE_QUERY until the path is complete, so no caller can connect. */
	err = cma_id_step(idp, CMA_T_RESOLVE_ROUTE);
	if (err)
		return err;

	if (rdma_protocol_iwarp(id->device, id->port_num))
		err = -EOPNOTSUPP;
	else
		err = cma_route_alloc(idp, 1);
	if (!err) {
		*id->route.path_rec = *path_rec;
		if (rdma_protocol_roce(id->device, id->port_num))
			err = cma_route_roce_set_path(idp);
	}
	if (!err)
		id->route.num_pri_alt_paths = 1;
	refused = cma_id_step(idp, err ? CMA_T_ROUTE_FAILED : CMA_T_ROUTE_DONE);
	return err ?: refused;
}
EXPORT_SYMBOL(rdma_set_ib_path);
