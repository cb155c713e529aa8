// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Sizes of socket addresses, and link addresses of this host's IP addresses. */
#include <linux/inetdevice.h>
#include <net/ipv6_stubs.h>
#include <net/route.h>
#include <rdma/ib.h>
#include <rdma/ib_addr.h>
#include "addr/addr.h"
#include "device/device.h"

/**
 * rdma_addr_size - size in bytes of a socket address
 * @addr: the address
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
 * rdma_addr_size_in6 - size in bytes of a socket address stored in a sockaddr_in6
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
 * rdma_addr_size_kss - size in bytes of a socket address in a sockaddr_storage
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

/* Fills the rest of the MAX_ADDR_LEN bytes of @to with zeroes. */
void ibcore_addr_copy_l2(unsigned char *to, const void *from,
			 const struct net_device *dev)
{
	unsigned int len = min_t(unsigned int, dev->addr_len, MAX_ADDR_LEN);

	memset(to, 0, MAX_ADDR_LEN);
	memcpy(to, from, len);
}

/**
 * rdma_copy_src_l2_addr - fill in the source side of an address from a net_device
 * @dev_addr: receives the type, hardware and broadcast address and index of @dev
 * @dev: the net_device
 *
 * Context: any, with a reference on @dev or under rcu_read_lock.
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
 * rdma_translate_ip - find the link address of a local IP address
 * @addr: an IPv4 or IPv6 address of this host
 * @dev_addr: receives the source side; @net must be set.  If bound_dev_if is set, it
 *	gives the net_device and @addr is not looked up
 *
 * Context: any but hardirq.
 * Return: 0, -ENODEV if bound_dev_if does not exist, -EADDRNOTAVAIL if no
 * net_device has @addr, -EINVAL for any other family.
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
