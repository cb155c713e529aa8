// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The RDMA IP CM service, IBA vol. 1 annex A11: how the IB CM's REQ and SIDR_REQ carry
 * IP addresses and ports.
 *
 * The service id consists of the port space and the port.  The first 36 bytes of the
 * private data contain the addresses of both ends, the rest is the consumer's:
 *
 *	0	major version (4 bits), minor version (4 bits): 0
 *	1	IP version (4 bits), reserved (4 bits)
 *	2-3	the requester's port
 *	4-19	the requester's address; IPv4 in the last four of these
 *	20-35	the destination address, likewise
 *
 * Requests between AF_IB addresses have no such header.
 */
#include <kunit/visibility.h>
#include <linux/slab.h>

#include "bind/bind.h"
#include "connect/connect.h"
#include "id/id.h"

struct cma_wire_addr {
	__be32 zero[3];			/* before an IPv4 address */
	__be32 ip4;
};

struct cma_wire_hdr {
	u8 version;
	u8 ip_version;
	__be16 port;
	union cma_wire_ip {
		struct in6_addr ip6;
		struct cma_wire_addr ip4;
	} src, dst;
} __packed;

static_assert(sizeof(struct cma_wire_hdr) == CMA_HDR_SIZE);

#define CMA_WIRE_VERSION	0
#define CMA_WIRE_IP4		(4 << 4)
#define CMA_WIRE_IP6		(6 << 4)
#define CMA_WIRE_IP_MASK	0xf0

/* The size of the header in the private data of @idp's requests. */
u8 cma_hdr_size(struct cma_id *idp)
{
	return cma_family(idp) == AF_IB ? 0 : CMA_HDR_SIZE;
}

/* Writes the header; @buf has CMA_HDR_SIZE bytes. */
VISIBLE_IF_KUNIT void cma_hdr_pack(struct cma_id *idp, void *buf)
{
	struct sockaddr_in6 *src6 = (struct sockaddr_in6 *)cma_src(idp);
	struct sockaddr_in6 *dst6 = (struct sockaddr_in6 *)cma_dst(idp);
	struct sockaddr_in *src = (struct sockaddr_in *)cma_src(idp);
	struct sockaddr_in *dst = (struct sockaddr_in *)cma_dst(idp);
	struct cma_wire_hdr *hdr = buf;

	memset(hdr, 0, sizeof(*hdr));
	hdr->version = CMA_WIRE_VERSION;
	hdr->port = cma_addr_port(cma_src(idp));
	if (cma_family(idp) == AF_INET) {
		hdr->ip_version = CMA_WIRE_IP4;
		hdr->src.ip4.ip4 = src->sin_addr.s_addr;
		hdr->dst.ip4.ip4 = dst->sin_addr.s_addr;
	} else {
		hdr->ip_version = CMA_WIRE_IP6;
		hdr->src.ip6 = src6->sin6_addr;
		hdr->dst.ip6 = dst6->sin6_addr;
	}
}
EXPORT_SYMBOL_IF_KUNIT(cma_hdr_pack);

static void cma_wire_to_sockaddr(struct sockaddr_storage *out, bool ip4,
				 const union cma_wire_ip *ip, __be16 port)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;
	struct sockaddr_in *in = (struct sockaddr_in *)out;

	memset(out, 0, sizeof(*out));
	if (ip4) {
		in->sin_family = AF_INET;
		in->sin_addr.s_addr = ip->ip4.ip4;
		in->sin_port = port;
	} else {
		in6->sin6_family = AF_INET6;
		in6->sin6_addr = ip->ip6;
		in6->sin6_port = port;
	}
}

/*
 * cma_hdr_unpack() - read the header of a request
 * @buf: at least CMA_HDR_SIZE bytes
 * @service_id: of the request; contains the destination port
 *
 * Return: 0, or -EPROTONOSUPPORT if the header has an unknown version.
 */
int cma_hdr_unpack(const void *buf, __be64 service_id,
		   struct cma_hdr_info *info)
{
	const struct cma_wire_hdr *hdr = buf;
	u8 ip = hdr->ip_version & CMA_WIRE_IP_MASK;

	if (hdr->version != CMA_WIRE_VERSION ||
	    (ip != CMA_WIRE_IP4 && ip != CMA_WIRE_IP6))
		return -EPROTONOSUPPORT;

	info->family = ip == CMA_WIRE_IP4 ? AF_INET : AF_INET6;
	cma_wire_to_sockaddr(&info->src, ip == CMA_WIRE_IP4, &hdr->src,
			     hdr->port);
	cma_wire_to_sockaddr(&info->dst, ip == CMA_WIRE_IP4, &hdr->dst,
			     cma_sid_port(service_id));
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cma_hdr_unpack);

/*
 * cma_private_data() - build a request's private data: header and consumer's data
 * @max: the size of the message's private data
 * @buf: to be freed by kfree(); NULL if there is nothing to send
 *
 * Return: 0, -EINVAL if the consumer's data is too long, -ENOMEM.
 */
int cma_private_data(struct cma_id *idp, const struct rdma_conn_param *param,
		     u8 max, void **buf, u8 *len)
{
	u8 offset = cma_hdr_size(idp);

	*buf = NULL;
	*len = 0;
	if (param->private_data_len && !param->private_data)
		return -EINVAL;
	if (param->private_data_len > max - offset)
		return -EINVAL;
	if (!offset && !param->private_data_len)
		return 0;

	*len = offset + param->private_data_len;
	*buf = kzalloc(*len, GFP_KERNEL);
	if (!*buf)
		return -ENOMEM;
	if (offset)
		cma_hdr_pack(idp, *buf);
	if (param->private_data_len)
		memcpy(*buf + offset, param->private_data,
		       param->private_data_len);
	return 0;
}

enum rdma_ucm_port_space cma_sid_ps(__be64 service_id)
{
	return (be64_to_cpu(service_id) >> 16) & 0xffff;
}

__be16 cma_sid_port(__be64 service_id)
{
	return cpu_to_be16(be64_to_cpu(service_id) & 0xffff);
}

__be64 cma_service_id(enum rdma_ucm_port_space ps, const struct sockaddr *addr)
{
	if (addr->sa_family == AF_IB)
		return ((const struct sockaddr_ib *)addr)->sib_sid;
	return cpu_to_be64(((u64)ps << 16) + be16_to_cpu(cma_addr_port(addr)));
}

/**
 * rdma_get_service_id() - get the IB service id for an address
 * @id: the id, whose port space is used
 * @addr: an AF_INET or AF_INET6 address, of which the port is used, or an AF_IB
 *	address, which contains the service id
 *
 * IBA vol. 1, annex A11.2.
 *
 * Context: any.
 * Return: the service id, network byte order.
 */
__be64 rdma_get_service_id(struct rdma_cm_id *id, struct sockaddr *addr)
{
	return cma_service_id(id->ps, addr);
}
EXPORT_SYMBOL(rdma_get_service_id);
