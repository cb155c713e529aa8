// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Path records on InfiniBand, which the SA is queried for.  IBA vol. 1, 15.2.5.16. */
#include <linux/slab.h>
#include <rdma/ib_user_sa.h>

#include "id/id.h"
#include "resolve/resolve.h"

struct ib_sa_client cma_sa_client;

int cma_sa_init(void)
{
	ib_sa_register_client(&cma_sa_client);
	return 0;
}

void cma_sa_exit(void)
{
	ib_sa_unregister_client(&cma_sa_client);
}

/*
 * Several records may describe one connection: the path of the CM's own messages, and
 * the inbound and outbound paths of the data, if these differ.
 */
static void cma_sa_store(struct rdma_route *route,
			 const struct sa_path_rec *rec)
{
	struct sa_path_rec **where;

	if (!rec->flags || (rec->flags & IB_PATH_GMP)) {
		*route->path_rec = *rec;
		return;
	}
	where = rec->flags & IB_PATH_INBOUND ? &route->path_rec_inbound :
					       &route->path_rec_outbound;
	kfree(*where);
	*where = kmemdup(rec, sizeof(*rec), GFP_ATOMIC);
}

/* Runs in the SA's context and drops the query's reference to the id; see event.c. */
static void cma_sa_done(int status, struct sa_path_rec *resp,
			IBEX_SA_NUM num_prs, void *context)
{
	struct cma_id *idp = context;
	IBEX_SA_NUM i;

	if (!status) {
		for (i = 0; i < num_prs; i++)
			cma_sa_store(&idp->id.route, &resp[i]);
		idp->id.route.num_pri_alt_paths = 1;
	}
	WRITE_ONCE(idp->query, NULL);
	idp->route_status = status;
	cma_id_post(idp, CMA_POST_ROUTE);
	cma_id_put(idp);
}

/* Sets the field of a path record that requests the consumer's quality of service. */
static ib_sa_comp_mask cma_sa_qos(struct cma_id *idp, struct sa_path_rec *rec)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)cma_src(idp);
	struct sockaddr_ib *ib = (struct sockaddr_ib *)cma_src(idp);

	switch (cma_family(idp)) {
	case AF_INET:
		rec->qos_class = cpu_to_be16(cma_id_tos(idp));
		return IB_SA_PATH_REC_QOS_CLASS;
	case AF_INET6:
		rec->traffic_class = be32_to_cpu(in6->sin6_flowinfo) >> 20;
		return IB_SA_PATH_REC_TRAFFIC_CLASS;
	default:
		rec->traffic_class = be32_to_cpu(ib->sib_flowinfo) >> 20;
		return IB_SA_PATH_REC_TRAFFIC_CLASS;
	}
}

/*
 * cma_route_ib() - query the SA for the path between the two GIDs
 *
 * Return: 0 if cma_sa_done() will be called, or an error.
 */
int cma_route_ib(struct cma_id *idp, unsigned long timeout_ms)
{
	struct rdma_cm_id *id = &idp->id;
	struct rdma_dev_addr *dev_addr = &id->route.addr.dev_addr;
	struct sa_path_rec rec = {
		.rec_type = rdma_cap_opa_ah(id->device, id->port_num) ?
			    SA_PATH_REC_TYPE_OPA : SA_PATH_REC_TYPE_IB,
		.pkey = cpu_to_be16(ib_addr_get_pkey(dev_addr)),
		.numb_path = 1,
		.reversible = 1,
		.service_id = rdma_get_service_id(id, cma_dst(idp)),
	};
	ib_sa_comp_mask mask = IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_SGID |
			       IB_SA_PATH_REC_PKEY | IB_SA_PATH_REC_NUMB_PATH |
			       IB_SA_PATH_REC_REVERSIBLE |
			       IB_SA_PATH_REC_SERVICE_ID;
	int query_id, err;

	err = cma_route_alloc(idp, 1);
	if (err)
		return err;
	rdma_addr_get_sgid(dev_addr, &rec.sgid);
	rdma_addr_get_dgid(dev_addr, &rec.dgid);
	mask |= cma_sa_qos(idp, &rec);

	if (!cma_id_tryget(idp))
		return -EINVAL;
	query_id = ib_sa_path_rec_get(&cma_sa_client, id->device, id->port_num,
				      &rec, mask, timeout_ms, GFP_KERNEL,
				      cma_sa_done, idp, &idp->query);
	if (query_id < 0) {
		cma_id_put(idp);
		return query_id;
	}
	idp->query_id = query_id;
	return 0;
}

/* Cancels a query that is in progress: its callback is called now, with -EINTR. */
void cma_route_ib_cancel(struct cma_id *idp)
{
	struct ib_sa_query *query = READ_ONCE(idp->query);

	if (query)
		ib_sa_cancel_query(idp->query_id, query);
}
