// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The two ends: an agent that sends requests and one that answers them, on one
 * device or on two, with an address handle each way.
 */
#include <linux/err.h>
#include <rdma/ib_cache.h>
#include "bench.h"

#define BENCH_CLASS	0x3e	/* a vendor class with an OUI */

struct bench bench;
static const u8 bench_oui[3] = { 0x00, 0x14, 0x05 };
static atomic_t next_tid;

static void client_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	if (wc->send_buf->context[0])
		standing_sent(wc->send_buf, wc->status);
	else
		rate_sent(wc->send_buf, wc->status);
}

static void client_received(struct ib_mad_agent *agent,
			    struct ib_mad_send_buf *buf,
			    struct ib_mad_recv_wc *wc)
{
	if (buf && buf->context[0])
		standing_received(buf);
	ib_free_recv_mad(wc);
}

static void server_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	rate_answered(wc->send_buf);
}

static void server_received(struct ib_mad_agent *agent,
			    struct ib_mad_send_buf *buf,
			    struct ib_mad_recv_wc *wc)
{
	rate_request(wc);
}

static struct ib_mad_send_buf *new_mad(struct ib_mad_agent *agent, struct ib_ah *ah)
{
	struct ib_mad_send_buf *buf;

	buf = ib_create_send_mad(agent, 1, 0, 0, IB_MGMT_VENDOR_HDR,
				 IB_MGMT_VENDOR_DATA, GFP_KERNEL,
				 IB_MGMT_BASE_VERSION);
	if (!IS_ERR(buf))
		buf->ah = ah;
	return buf;
}

struct ib_mad_send_buf *bench_request(u8 method, int timeout_ms)
{
	struct ib_mad_send_buf *buf = new_mad(bench.client, bench.ah[0]);
	struct ib_vendor_mad *mad;

	if (IS_ERR(buf))
		return buf;
	buf->timeout_ms = timeout_ms;
	mad = buf->mad;
	mad->mad_hdr.base_version = IB_MGMT_BASE_VERSION;
	mad->mad_hdr.mgmt_class = BENCH_CLASS;
	mad->mad_hdr.class_version = 1;
	mad->mad_hdr.method = method;
	mad->mad_hdr.tid = cpu_to_be64((u64)bench.client->hi_tid << 32 |
				       (u32)atomic_inc_return(&next_tid));
	memcpy(mad->oui, bench_oui, sizeof(mad->oui));
	return buf;
}

void bench_answer(void *response, const void *request)
{
	struct ib_mad_hdr *hdr = response;

	memcpy(response, request, IB_MGMT_MAD_SIZE);
	hdr->method |= IB_MGMT_METHOD_RESP;
}

struct ib_mad_send_buf *bench_response(const void *request)
{
	struct ib_mad_send_buf *buf = new_mad(bench.server, bench.ah[1]);

	if (!IS_ERR(buf))
		bench_answer(buf->mad, request);
	return buf;
}

/* ---- addresses ---- */

/*
 * RoCE: returns a GID of the port that is an IPv6 address, with a reference.  The
 * in-tree core cannot match a response received over IPv4 to its request.
 */
static const struct ib_gid_attr *ipv6_gid(struct ib_device *device)
{
	const struct ib_gid_attr *gid;
	int i;

	for (i = 0; i < device->port_data[1].immutable.gid_tbl_len; i++) {
		gid = rdma_get_gid_attr(device, 1, i);
		if (IS_ERR(gid))
			continue;
		if (gid->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
		    !ipv6_addr_v4mapped((const struct in6_addr *)&gid->gid))
			return gid;
		rdma_put_gid_attr(gid);
	}
	return ERR_PTR(-EADDRNOTAVAIL);
}

static int copy_mac(const struct ib_gid_attr *gid, u8 *mac)
{
	struct net_device *ndev;
	int ret = 0;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(gid);
	if (IS_ERR(ndev))
		ret = PTR_ERR(ndev);
	else
		memcpy(mac, ndev->dev_addr, ETH_ALEN);
	rcu_read_unlock();
	return ret;
}

/* An address handle can only be used with QPs of its own PD. */
static struct ib_pd *agent_pd(int from)
{
	return from ? bench.server->qp->pd : bench.client->qp->pd;
}

static struct ib_ah *roce_ah(int from)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_ROCE };
	const struct ib_gid_attr *src, *dst;
	union ib_gid dgid;
	struct ib_ah *ah;
	int ret;

	dst = ipv6_gid(bench.device[!from]);
	if (IS_ERR(dst))
		return ERR_CAST(dst);
	dgid = dst->gid;
	ret = copy_mac(dst, attr.roce.dmac);
	rdma_put_gid_attr(dst);
	if (ret)
		return ERR_PTR(ret);
	src = ipv6_gid(bench.device[from]);
	if (IS_ERR(src))
		return ERR_CAST(src);
	rdma_ah_set_port_num(&attr, 1);
	rdma_move_grh_sgid_attr(&attr, &dgid, 0, 64, 0, src);
	ah = rdma_create_ah(agent_pd(from), &attr, RDMA_CREATE_AH_SLEEPABLE);
	rdma_destroy_ah_attr(&attr);
	return ah;
}

static struct ib_ah *ib_ah(int from)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_IB };
	struct ib_port_attr port;
	int ret;

	ret = ib_query_port(bench.device[!from], 1, &port);
	if (ret)
		return ERR_PTR(ret);
	rdma_ah_set_port_num(&attr, 1);
	rdma_ah_set_dlid(&attr, port.lid);
	return rdma_create_ah(agent_pd(from), &attr, RDMA_CREATE_AH_SLEEPABLE);
}

/* ---- open and close ---- */

/* Releases what has been set up of end @i. */
static void end_close(int i)
{
	if (!IS_ERR_OR_NULL(bench.ah[i]))
		rdma_destroy_ah(bench.ah[i], RDMA_DESTROY_AH_SLEEPABLE);
	if (bench.device[i])
		ib_device_put(bench.device[i]);
}

void bench_close(void)
{
	standing_close();
	if (!IS_ERR_OR_NULL(bench.client))
		ib_unregister_mad_agent(bench.client);
	standing_closed();
	if (!IS_ERR_OR_NULL(bench.server))
		ib_unregister_mad_agent(bench.server);
	end_close(0);
	end_close(1);
	memset(&bench, 0, sizeof(bench));
}

static int end_open(int i, const char *name)
{
	bench.device[i] = ib_device_get_by_name(name, RDMA_DRIVER_UNKNOWN);
	return bench.device[i] ? 0 : -ENODEV;
}

static int end_address(int i)
{
	bench.ah[i] = rdma_protocol_roce(bench.device[i], 1) ? roce_ah(i) : ib_ah(i);
	return PTR_ERR_OR_ZERO(bench.ah[i]);
}

static int register_agents(void)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = BENCH_CLASS,
		.mgmt_class_version = 1,
	};

	memcpy(req.oui, bench_oui, sizeof(req.oui));
	bench.client = ib_register_mad_agent(bench.device[0], 1, IB_QPT_GSI, NULL,
					     0, client_sent, client_received,
					     NULL, 0);
	if (IS_ERR(bench.client))
		return PTR_ERR(bench.client);
	__set_bit(IB_MGMT_METHOD_GET, req.method_mask);
	__set_bit(IB_MGMT_METHOD_SEND, req.method_mask);
	bench.server = ib_register_mad_agent(bench.device[1], 1, IB_QPT_GSI, &req,
					     0, server_sent, server_received,
					     NULL, 0);
	return PTR_ERR_OR_ZERO(bench.server);
}

int bench_open(const char *client, const char *server)
{
	int ret;

	bench_close();
	ret = end_open(0, client);
	if (!ret)
		ret = end_open(1, server);
	if (!ret)
		ret = register_agents();
	if (!ret)
		ret = end_address(0);
	if (!ret)
		ret = end_address(1);
	if (ret)
		bench_close();
	return ret;
}
