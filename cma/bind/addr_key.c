// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Hides the differences between the three address families of ids: addresses as keys
 * of tables, the tests for a wildcard and a loopback address, and the port.
 */
#include <net/ipv6.h>

#include "bind/bind.h"

bool cma_addr_family_ok(const struct sockaddr *addr)
{
	return addr->sa_family == AF_INET || addr->sa_family == AF_INET6 ||
	       addr->sa_family == AF_IB;
}

/* The key contains the address without its port. */
void cma_addr_key_init(struct cma_addr_key *key, const struct sockaddr *addr)
{
	const struct sockaddr_in6 *in6 = (const void *)addr;
	const struct sockaddr_ib *ib = (const void *)addr;
	const struct sockaddr_in *in = (const void *)addr;

	memset(key, 0, sizeof(*key));
	key->family = addr->sa_family;
	switch (addr->sa_family) {
	case AF_INET:
		memcpy(&key->addr.raw[12], &in->sin_addr, 4);
		break;
	case AF_INET6:
		memcpy(&key->addr, &in6->sin6_addr, 16);
		if (ipv6_addr_type(&in6->sin6_addr) & IPV6_ADDR_LINKLOCAL)
			key->scope = in6->sin6_scope_id;
		break;
	case AF_IB:
		memcpy(&key->addr, &ib->sib_addr, 16);
		break;
	}
}

bool cma_addr_any(const struct sockaddr *addr)
{
	struct cma_addr_key key;

	cma_addr_key_init(&key, addr);
	return cma_key_any(&key);
}

/* 127.0.0.0/8, ::1 */
bool cma_addr_loopback(const struct sockaddr *addr)
{
	const struct sockaddr_in6 *in6 = (const void *)addr;
	const struct sockaddr_in *in = (const void *)addr;

	switch (addr->sa_family) {
	case AF_INET:
		return ipv4_is_loopback(in->sin_addr.s_addr);
	case AF_INET6:
		return ipv6_addr_loopback(&in6->sin6_addr);
	default:
		return false;
	}
}

/* The port of an AF_IB address is the low 16 bits of its masked service id. */
__be16 cma_addr_port(const struct sockaddr *addr)
{
	const struct sockaddr_ib *ib = (const void *)addr;

	switch (addr->sa_family) {
	case AF_INET:
		return ((const struct sockaddr_in *)addr)->sin_port;
	case AF_INET6:
		return ((const struct sockaddr_in6 *)addr)->sin6_port;
	case AF_IB:
		return cpu_to_be16(be64_to_cpu(ib->sib_sid & ib->sib_sid_mask));
	default:
		return 0;
	}
}

void cma_addr_set_any(struct sockaddr *addr, sa_family_t family)
{
	memset(addr, 0, sizeof(struct sockaddr_storage));
	addr->sa_family = family;
}
