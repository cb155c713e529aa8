// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Socket addresses, and the link addresses of this host's own. */
#include <linux/inetdevice.h>
#include <net/ipv6_stubs.h>
#include <net/route.h>
#include <rdma/ib.h>
#include <rdma/ib_addr.h>
#include "addr/addr.h"
#include "device/device.h"

/**
 * rdma_addr_size - bytes of a socket address
 * @addr: an address of which as many bytes can be read as its family says
 *
 * Context: any.
 * Return: the size, 0 if the family is not IPv4, IPv6 or IB.
 */
int rdma_addr_size(const struct sockaddr *addr)
{
	switch (addr->sa_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	case AF_IB:
		return sizeof(struct sockaddr_ib);
	}
	return 0;
}
EXPORT_SYMBOL(rdma_addr_size);

static int addr_size_within(const void *addr, size_t room)
{
	int size = rdma_addr_size(addr);

	return size <= room ? size : 0;
}

/**
 * rdma_addr_size_in6 - bytes of a socket address in the room of an IPv6 one
 * @addr: the address
 *
 * Context: any.
 * Return: the size, 0 if the family is unknown or does not fit.
 */
int rdma_addr_size_in6(struct sockaddr_in6 *addr)
{
	return addr_size_within(addr, sizeof(*addr));
}
EXPORT_SYMBOL(rdma_addr_size_in6);

/**
 * rdma_addr_size_kss - bytes of a socket address in storage for any
 * @addr: the address
 *
 * Context: any.
 * Return: the size, 0 if the family is unknown.
 */
int rdma_addr_size_kss(struct __kernel_sockaddr_storage *addr)
{
	return addr_size_within(addr, sizeof(*addr));
}
EXPORT_SYMBOL(rdma_addr_size_kss);

/* The bytes a link address does not have are zero. */
void ibcore_addr_copy_l2(unsigned char *to, const void *from,
			 const struct net_device *dev)
{
	unsigned int len = min_t(unsigned int, dev->addr_len, MAX_ADDR_LEN);

	memcpy(to, from, len);
	memset(to + len, 0, MAX_ADDR_LEN - len);
}

/**
 * rdma_copy_src_l2_addr - make a net_device the source of an address
 * @dev_addr: gets the type, hardware and broadcast address and index of @dev
 * @dev: the net_device
 *
 * Context: any, with @dev referred to or under rcu_read_lock.
 */
void rdma_copy_src_l2_addr(struct rdma_dev_addr *dev_addr,
			   const struct net_device *dev)
{
	dev_addr->dev_type = dev->type;
	ibcore_addr_copy_l2(dev_addr->src_dev_addr, dev->dev_addr, dev);
	ibcore_addr_copy_l2(dev_addr->broadcast, dev->broadcast, dev);
	dev_addr->bound_dev_if = dev->ifindex;
}
EXPORT_SYMBOL(rdma_copy_src_l2_addr);

/* The net_device that has the address @sa, or NULL.  Under rcu_read_lock. */
struct net_device *ibcore_addr_owner(struct net *net, const struct sockaddr *sa)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)sa;
	struct net_device *dev;

	if (sa->sa_family == AF_INET)
		return __ip_dev_find(net, ((const struct sockaddr_in *)
					   sa)->sin_addr.s_addr, false);
	if (!IS_ENABLED(CONFIG_IPV6) || sa->sa_family != AF_INET6)
		return NULL;
	if (in6->sin6_scope_id &&
	    ipv6_addr_type(&in6->sin6_addr) & IPV6_ADDR_LINKLOCAL)
		return dev_get_by_index_rcu(net, in6->sin6_scope_id);
	dev = ipv6_stub->ipv6_dev_find(net, &in6->sin6_addr, NULL);
	return IS_ERR(dev) ? NULL : dev;
}

/**
 * rdma_translate_ip - the link address of a local IP address
 * @addr: an IPv4 or IPv6 address of this host
 * @dev_addr: @net must be set; where bound_dev_if is, it names the net_device
 *	and @addr is not looked up; gets the source side
 *
 * Context: any but hardirq.
 * Return: 0, -ENODEV if bound_dev_if does not exist, -EADDRNOTAVAIL if no
 * net_device has @addr, -EINVAL for another family.
 */
int rdma_translate_ip(const struct sockaddr *addr,
		      struct rdma_dev_addr *dev_addr)
{
	struct net_device *dev;
	int ret = 0;

	if (addr->sa_family != AF_INET && addr->sa_family != AF_INET6)
		return -EINVAL;
	rcu_read_lock();
	if (dev_addr->bound_dev_if)
		dev = dev_get_by_index_rcu(dev_addr->net,
					   dev_addr->bound_dev_if);
	else
		dev = ibcore_addr_owner(dev_addr->net, addr);
	if (dev)
		rdma_copy_src_l2_addr(dev_addr, dev);
	else
		ret = dev_addr->bound_dev_if ? -ENODEV : -EADDRNOTAVAIL;
	rcu_read_unlock();
	return ret;
}
EXPORT_SYMBOL(rdma_translate_ip);
