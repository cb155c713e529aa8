// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Requests from the IB CM: REQ and SIDR_REQ.
 *
 * The service id and the A11 header of a request contain its destination.  The netdev
 * that received it determines the network namespace; port and address determine the
 * listener, in one lookup.  The listener is pinned by a reference, not locked: only
 * the new id's handler_mutex is held while the consumer is called, so requests to one
 * listener are handled in parallel.
 */
#include <linux/if_arp.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>

#include "bind/bind.h"
#include "connect/connect.h"
#include "id/id.h"
#include "resolve/resolve.h"
#include "trace.h"

#define PKEY_BASE_MASK	0x7fff		/* without the membership bit */

struct cma_request {
	const struct ib_cm_event *event;
	struct ib_cm_id *cm_id;
	bool sidr;
	u32 port;
	u16 pkey;			/* of the request's partition */
	__be64 service_id;
	enum ib_qp_type qp_type;
	struct sa_path_rec *path;	/* REQ only: from us to the requester */
	const struct ib_gid_attr *sgid_attr;	/* the CM's; NULL on IB */
	const union ib_gid *local_gid;	/* NULL: not known */
	union ib_gid found_gid;		/* local_gid, if a listener's GID shows it */

	struct cma_hdr_info hdr;	/* .family AF_IB: there is no header */
	struct net_device *ndev;	/* with a reference, or NULL */
	struct net *net;		/* with a reference, or NULL */
};

static void cma_request_read(struct cma_request *req, struct ib_cm_id *cm_id,
			     const struct ib_cm_event *event)
{
	const struct ib_cm_sidr_req_event_param *sidr =
		&event->param.sidr_req_rcvd;
	const struct ib_cm_req_event_param *rc = &event->param.req_rcvd;

	memset(req, 0, sizeof(*req));
	req->event = event;
	req->cm_id = cm_id;
	req->sidr = event->event == IB_CM_SIDR_REQ_RECEIVED;
	if (req->sidr) {
		req->port = sidr->port;
		req->pkey = sidr->pkey;
		req->service_id = sidr->service_id;
		req->qp_type = IB_QPT_UD;
		req->sgid_attr = sidr->sgid_attr;
		req->local_gid = sidr->sgid_attr ? &sidr->sgid_attr->gid : NULL;
	} else {
		req->port = rc->port;
		req->pkey = be16_to_cpu(rc->primary_path->pkey);
		req->service_id = rc->primary_path->service_id;
		req->qp_type = rc->qp_type;
		req->sgid_attr = rc->ppath_sgid_attr;
		req->path = rc->primary_path;
		req->local_gid = &rc->primary_path->sgid;
	}
}

/* Returns the netdev that received the request, with a reference, or NULL. */
static struct net_device *cma_request_ndev(const struct cma_request *req)
{
	struct ib_device *device = req->cm_id->device;
	struct net_device *ndev;

	if (!rdma_protocol_roce(device, req->port))
		return ib_get_net_dev_by_params(device, req->port, req->pkey,
						req->local_gid,
						(void *)&req->hdr.dst);
	if (!req->sgid_attr)
		return NULL;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(req->sgid_attr);
	if (IS_ERR(ndev))
		ndev = NULL;
	dev_hold(ndev);
	rcu_read_unlock();
	return ndev;
}

/*
 * Finds the netdev that received the request, and its namespace.  The netdev may be
 * moved to another namespace at any time, and the old namespace may then end.  So all
 * lookups for the request use one namespace, to which the request holds a reference.
 */
static int cma_request_netdev(struct cma_request *req)
{
	req->ndev = cma_request_ndev(req);
	if (!req->ndev)
		return -ENODEV;
	rcu_read_lock();
	if (READ_ONCE(req->ndev->flags) & IFF_UP)
		req->net = maybe_get_net(dev_net(req->ndev));
	rcu_read_unlock();
	return req->net ? 0 : -ENODEV;
}

static void cma_request_put(struct cma_request *req)
{
	dev_put(req->ndev);
	req->ndev = NULL;
	if (req->net)
		put_net(req->net);
	req->net = NULL;
}

/* A link-local address means nothing without its interface. */
static void cma_scope(struct sockaddr_storage *addr, struct net_device *ndev)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;

	if (addr->ss_family == AF_INET6 &&
	    ipv6_addr_type(&in6->sin6_addr) & IPV6_ADDR_LINKLOCAL)
		in6->sin6_scope_id = ndev->ifindex;
}

/* Reads a request between IP addresses: its addresses and its namespace. */
static int cma_request_read_ip(struct cma_request *req)
{
	int err;

	if (cma_hdr_unpack(req->event->private_data, req->service_id,
			   &req->hdr))
		return -EPROTONOSUPPORT;
	err = cma_request_netdev(req);
	if (err)
		return err;
	if (!cma_source_ok(&req->hdr, req->net, req->ndev, req->cm_id,
			   req->event))
		return -EHOSTUNREACH;
	cma_scope(&req->hdr.src, req->ndev);
	cma_scope(&req->hdr.dst, req->ndev);
	return 0;
}

/* Reads a request between AF_IB addresses; all its private data is the consumer's. */
static int cma_request_read_ib(struct cma_request *req)
{
	struct sockaddr_ib *src = (struct sockaddr_ib *)&req->hdr.src;
	struct sockaddr_ib *dst = (struct sockaddr_ib *)&req->hdr.dst;

	if (!rdma_cap_af_ib(req->cm_id->device, req->port))
		return -EPROTONOSUPPORT;
	req->hdr.family = AF_IB;
	/* The device does not change its namespace while the CM handles a request. */
	req->net = maybe_get_net(read_pnet(&req->cm_id->device->coredev.rdma_net));
	if (!req->net)
		return -ENODEV;

	memset(src, 0, sizeof(req->hdr.src));
	memset(dst, 0, sizeof(req->hdr.dst));
	src->sib_family = AF_IB;
	dst->sib_family = AF_IB;
	dst->sib_sid = req->service_id;
	dst->sib_sid_mask = cpu_to_be64(U64_MAX);
	src->sib_sid_mask = cpu_to_be64(U64_MAX);
	src->sib_pkey = cpu_to_be16(req->pkey);
	dst->sib_pkey = cpu_to_be16(req->pkey);
	if (req->local_gid)
		memcpy(&dst->sib_addr, req->local_gid, sizeof(dst->sib_addr));
	if (!req->path)
		return 0;
	memcpy(&src->sib_addr, &req->path->dgid, sizeof(src->sib_addr));
	src->sib_flowinfo = req->path->flow_label;
	dst->sib_flowinfo = req->path->flow_label;
	return 0;
}

/*
 * Whether a request that the netdev of @req received may be for an address of another
 * netdev.  As in IP, an address belongs to the host: any IPoIB netdev may answer ARP
 * for it, for example that of the device's other port.  But both netdevs must be in
 * the same partition and in the same routing domain (VRF).  This never holds on RoCE,
 * where an address is a GID of its own netdev.
 */
static bool cma_same_subnet(struct rdma_dev_addr *dev_addr,
			    const struct cma_request *req)
{
	if (req->ndev->type != ARPHRD_INFINIBAND ||
	    dev_addr->dev_type != ARPHRD_INFINIBAND)
		return false;
	if ((ib_addr_get_pkey(dev_addr) ^ req->pkey) & PKEY_BASE_MASK)
		return false;
	return l3mdev_master_ifindex(req->ndev) ==
	       l3mdev_master_ifindex_by_index(req->net, dev_addr->bound_dev_if);
}

static bool cma_listener_wants(struct cma_id *listener,
			       const struct cma_request *req)
{
	struct rdma_dev_addr *dev_addr = &listener->id.route.addr.dev_addr;
	int ifindex = dev_addr->bound_dev_if;

	if (cma_state(listener) != RDMA_CM_LISTEN)
		return false;
	if (listener->dev && req->ndev && ifindex &&
	    ifindex != req->ndev->ifindex && !cma_same_subnet(dev_addr, req))
		return false;
	return !listener->id.qp_type || listener->id.qp_type == req->qp_type;
}

/* Returns the listener at the request's destination, with a reference, or an error. */
static struct cma_id *cma_request_listener(const struct cma_request *req)
{
	struct cma_id *listener;

	listener = cma_port_find_listener(req->net, cma_sid_ps(req->service_id),
					  cma_sid_port(req->service_id),
					  (void *)&req->hdr.dst);
	if (listener && !cma_listener_wants(listener, req)) {
		cma_id_put(listener);
		listener = NULL;
	}
	return listener ?: ERR_PTR(-ECONNREFUSED);
}

/*
 * As cma_request_listener(), for a request between AF_IB addresses.
 *
 * A SIDR_REQ without GRH does not contain the GID that it was sent to.  It was sent to the
 * port, so a listener at any GID of the port may get it.
 */
static struct cma_id *cma_request_listener_ib(struct cma_request *req)
{
	struct sockaddr_ib *dst = (struct sockaddr_ib *)&req->hdr.dst;
	struct ib_device *device = req->cm_id->device;
	struct cma_id *listener;
	int i, n;

	if (req->local_gid)
		return cma_request_listener(req);
	n = device->port_data[req->port].immutable.gid_tbl_len;
	for (i = 0; i < n; i++) {
		if (rdma_query_gid(device, req->port, i, &req->found_gid))
			continue;
		memcpy(&dst->sib_addr, &req->found_gid, sizeof(dst->sib_addr));
		listener = cma_port_find_listener_at(req->net,
						     cma_sid_ps(req->service_id),
						     cma_sid_port(req->service_id),
						     (void *)dst);
		if (!listener)
			continue;
		if (cma_listener_wants(listener, req)) {
			req->local_gid = &req->found_gid;
			return listener;
		}
		cma_id_put(listener);
	}
	memset(&dst->sib_addr, 0, sizeof(dst->sib_addr));
	return cma_request_listener(req);
}

/*
 * Returns the listener for the request, with a reference, or an error.
 *
 * In each port space, listeners may be at IP or at AF_IB addresses, and the private data
 * of a request between AF_IB addresses may look like an A11 header.  Only the existence
 * of a listener shows which of the two the request is.  The second lookup finds listeners
 * at AF_IB addresses only; if there is none, the first one's error is the reason.
 */
static struct cma_id *cma_request_find(struct cma_request *req)
{
	struct cma_id *listener, *ib;
	int err;

	err = cma_request_read_ip(req);
	listener = err ? ERR_PTR(err) : cma_request_listener(req);
	if (!IS_ERR(listener))
		return listener;

	cma_request_put(req);
	if (cma_request_read_ib(req))
		return listener;
	ib = cma_request_listener_ib(req);
	return IS_ERR(ib) ? listener : ib;
}

static int cma_child_set_paths(struct cma_id *idp,
			       const struct cma_request *req)
{
	const struct sa_path_rec *alternate;
	int err;

	if (!req->path)
		return 0;
	alternate = req->event->param.req_rcvd.alternate_path;
	err = cma_route_alloc(idp, alternate ? 2 : 1);
	if (err)
		return err;
	idp->id.route.path_rec[0] = *req->path;
	if (alternate)
		idp->id.route.path_rec[1] = *alternate;
	idp->id.route.num_pri_alt_paths = alternate ? 2 : 1;
	return 0;
}

/* Sets the addresses of a child: its source is the destination of the request. */
static void cma_child_set_addr(struct cma_id *idp,
			       const struct cma_request *req)
{
	struct rdma_dev_addr *dev_addr = &idp->id.route.addr.dev_addr;

	idp->id.route.addr.src_addr = req->hdr.dst;
	idp->id.route.addr.dst_addr = req->hdr.src;
	if (req->ndev) {
		rdma_copy_src_l2_addr(dev_addr, req->ndev);
	} else {
		dev_addr->dev_type = ARPHRD_INFINIBAND;
		ib_addr_set_pkey(dev_addr, req->pkey);
		if (req->local_gid)
			rdma_addr_set_sgid(dev_addr,
					   (union ib_gid *)req->local_gid);
	}
	if (!req->path)
		return;
	if (sa_path_is_roce(req->path))
		memcpy(dev_addr->dst_dev_addr, req->path->roce.dmac, ETH_ALEN);
	else
		rdma_addr_set_dgid(dev_addr, &req->path->dgid);
}

/* Takes over the reference to @dev. */
static int cma_child_attach(struct cma_id *idp, const struct cma_request *req,
			    struct cma_dev *dev)
{
	struct cma_binding binding = {
		.dev = dev,
		.port = req->port,
		.sgid_attr = req->sgid_attr,
	};

	if (binding.sgid_attr)
		rdma_hold_gid_attr(binding.sgid_attr);
	return cma_id_attach(idp, &binding);
}

/*
 * Creates the id for the request.  Returns it with its handler_mutex held, or an
 * error.  As long as idp->cm is not set, the destruction of the id does not touch the
 * CM's id of the request.
 */
static struct cma_id *cma_child_create(struct cma_id *listener,
				       const struct cma_request *req)
{
	struct cma_dev *dev;
	struct cma_id *idp;
	int err;

	dev = cma_listen_device(listener, req->cm_id->device);
	if (!dev)
		return ERR_PTR(-ENODEV);
	idp = cma_id_alloc_child(listener, req->qp_type);
	if (!idp) {
		cma_dev_put(dev);
		return ERR_PTR(-ENOMEM);
	}

	mutex_lock(&idp->handler_mutex);
	cma_child_set_addr(idp, req);
	err = cma_child_attach(idp, req, dev);
	if (!err)
		err = cma_child_set_paths(idp, req);
	if (!err)
		err = cma_id_step(idp, CMA_T_REQUEST);
	if (err) {
		cma_id_destroy_locked(idp);
		return ERR_PTR(err);
	}
	return idp;
}

static void cma_request_to_event(struct cma_id *idp,
				 const struct cma_request *req,
				 struct rdma_cm_event *event)
{
	const struct ib_cm_req_event_param *rc = &req->event->param.req_rcvd;
	u8 offset = cma_hdr_size(idp);

	memset(event, 0, sizeof(*event));
	event->event = RDMA_CM_EVENT_CONNECT_REQUEST;
	if (req->sidr) {
		event->param.ud.private_data =
			req->event->private_data + offset;
		event->param.ud.private_data_len =
			IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE - offset;
		return;
	}
	event->param.conn.private_data = req->event->private_data + offset;
	event->param.conn.private_data_len =
		IB_CM_REQ_PRIVATE_DATA_SIZE - offset;
	event->param.conn.responder_resources = rc->responder_resources;
	event->param.conn.initiator_depth = rc->initiator_depth;
	event->param.conn.flow_control = rc->flow_control;
	event->param.conn.retry_count = rc->retry_count;
	event->param.conn.rnr_retry_count = rc->rnr_retry_count;
	event->param.conn.srq = rc->srq;
	event->param.conn.qp_num = rc->remote_qpn;
	event->ece = rc->ece;
}

/*
 * Calls the consumer.  If this returns non-zero, the CM destroys its id, which rejects
 * the request.
 */
static int cma_request_deliver(struct cma_id *idp,
			       const struct cma_request *req)
{
	struct rdma_cm_event event;
	int ret;

	smp_store_release(&idp->cm.ib, req->cm_id);	/* pairs with cma_id_query() */
	idp->conn = CMA_CONN_PENDING;
	req->cm_id->context = idp;
	req->cm_id->cm_handler = cma_ib_event;
	cma_request_to_event(idp, req, &event);

	ret = cma_id_deliver(idp, &event);
	if (ret) {
		idp->cm.ib = NULL;
		cma_id_destroy_locked(idp);
		return ret;
	}
	/* If the consumer replies later and the REQ arrives again, ask for time (MRA). */
	if (!req->sidr && !READ_ONCE(idp->answered)) {
		trace_cm_send_mra(idp);
		ib_send_cm_mra(req->cm_id,
			       IB_CM_MRA_FLAG_DELAY | CMA_MRA_TIMEOUT, NULL, 0);
	}
	mutex_unlock(&idp->handler_mutex);
	return 0;
}

/*
 * Sends a REJ with the reason, if the CMA, not the consumer, refuses a REQ.  Sends
 * nothing if memory is short: the peer repeats the request, and there may be memory
 * then.
 */
static void cma_request_refuse(const struct cma_request *req, int err)
{
	if (req->sidr || err == -ENOMEM)
		return;
	ib_send_cm_rej(req->cm_id,
		       err == -EHOSTUNREACH ? IB_CM_REJ_INVALID_GID :
					      IB_CM_REJ_INVALID_SERVICE_ID,
		       NULL, 0, NULL, 0);
}

static int cma_request_handle(struct cma_request *req)
{
	struct cma_id *listener, *idp;
	int err;

	listener = cma_request_find(req);
	if (IS_ERR(listener)) {
		cma_request_refuse(req, PTR_ERR(listener));
		return PTR_ERR(listener);
	}

	trace_cm_req_handler(listener, req->event->event);
	idp = cma_child_create(listener, req);
	if (IS_ERR(idp)) {
		err = PTR_ERR(idp);
		cma_request_refuse(req, err);
	} else {
		err = cma_request_deliver(idp, req);
	}
	/* The consumer used the context of the listener, which had to exist until now. */
	cma_id_put(listener);
	return err;
}

/*
 * cma_ib_request() - the IB CM's handler of all our listeners
 *
 * Return: 0 if the new id has taken over the CM's id; otherwise the CM destroys it.
 */
int cma_ib_request(struct ib_cm_id *cm_id, const struct ib_cm_event *event)
{
	struct cma_request req;
	int err;

	if (event->event != IB_CM_REQ_RECEIVED &&
	    event->event != IB_CM_SIDR_REQ_RECEIVED)
		return -EINVAL;

	cma_request_read(&req, cm_id, event);
	err = cma_request_handle(&req);
	cma_request_put(&req);
	return err;
}
