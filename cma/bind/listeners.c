// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The table of listeners: one hash table, keyed by (namespace, port space, port,
 * address), and read under RCU for every incoming request.  port_space.c decides which
 * listeners may be in it at the same time.
 */
#include <linux/jhash.h>
#include <linux/rhashtable.h>
#include <net/net_namespace.h>

#include "bind/bind.h"
#include "id/id.h"

struct cma_listen_key {
	const struct net *net;
	u16 ps;
	__be16 port;
	const struct cma_addr_key *addr;
};

static u32 cma_listen_hash(const struct cma_listen_key *key, u32 seed)
{
	seed = jhash_3words(key->ps, (__force u16)key->port, net_hash_mix(key->net),
			    seed);
	return jhash2((const u32 *)key->addr, sizeof(*key->addr) / sizeof(u32),
		      seed);
}

static void cma_listen_key_of(const struct cma_id *idp,
			      struct cma_listen_key *key)
{
	key->net = cma_net(idp);
	key->ps = idp->port_ps;
	key->port = cma_addr_port((const void *)&idp->id.route.addr.src_addr);
	key->addr = &idp->claim_key;
}

static u32 cma_listen_key_hash(const void *data, u32 len, u32 seed)
{
	return cma_listen_hash(data, seed);
}

static u32 cma_listen_obj_hash(const void *data, u32 len, u32 seed)
{
	struct cma_listen_key key;

	cma_listen_key_of(data, &key);
	return cma_listen_hash(&key, seed);
}

static int cma_listen_obj_cmp(struct rhashtable_compare_arg *arg,
			      const void *obj)
{
	const struct cma_listen_key *want = arg->key;
	struct cma_listen_key key;

	cma_listen_key_of(obj, &key);
	return !net_eq(key.net, want->net) || key.ps != want->ps ||
	       key.port != want->port ||
	       memcmp(key.addr, want->addr, sizeof(*key.addr));
}

static const struct rhashtable_params cma_listeners_params = {
	.head_offset = offsetof(struct cma_id, listen_node),
	.key_len = sizeof(struct cma_listen_key),
	.hashfn = cma_listen_key_hash,
	.obj_hashfn = cma_listen_obj_hash,
	.obj_cmpfn = cma_listen_obj_cmp,
	.automatic_shrinking = true,
};

static struct rhashtable cma_listeners;

int cma_listeners_init(void)
{
	return rhashtable_init(&cma_listeners, &cma_listeners_params);
}

void cma_listeners_exit(void)
{
	rhashtable_destroy(&cma_listeners);
}

/* Lets requests find an id that has claimed its port.  Returns an error of the table. */
int cma_listeners_add(struct cma_id *idp)
{
	return rhashtable_insert_fast(&cma_listeners, &idp->listen_node,
				      cma_listeners_params);
}

void cma_listeners_del(struct cma_id *idp)
{
	rhashtable_remove_fast(&cma_listeners, &idp->listen_node,
			       cma_listeners_params);
}

static struct cma_id *cma_listener_get(const struct cma_listen_key *key,
				       bool dual)
{
	struct cma_id *idp;

	idp = rhashtable_lookup(&cma_listeners, key, cma_listeners_params);
	if (!idp || (dual && !idp->claim_dual) || !cma_id_tryget(idp))
		return NULL;
	return idp;
}

/*
 * cma_port_find_listener_at() - find the listener bound to an address
 * @addr: the address; its port is ignored
 *
 * Context: any.
 * Return: the listener with a reference (cma_id_put()), or NULL.
 */
struct cma_id *cma_port_find_listener_at(struct net *net,
					 enum rdma_ucm_port_space ps, __be16 port,
					 const struct sockaddr *addr)
{
	struct cma_addr_key want;
	struct cma_listen_key key = {
		.net = net, .ps = ps, .port = port, .addr = &want
	};
	struct cma_id *idp;

	cma_addr_key_init(&want, addr);
	rcu_read_lock();
	idp = cma_listener_get(&key, false);
	rcu_read_unlock();
	return idp;
}

/*
 * cma_port_find_listener() - find the listener for requests to an address
 * @addr: the destination address of the request; its port is ignored
 *
 * The most specific listener is used: one on @addr, else one on the wildcard of its
 * family, else, for IPv4, one on the IPv6 wildcard.
 *
 * Context: any.
 * Return: the listener with a reference (cma_id_put()), or NULL.
 */
struct cma_id *cma_port_find_listener(struct net *net,
				      enum rdma_ucm_port_space ps, __be16 port,
				      const struct sockaddr *addr)
{
	struct cma_addr_key want, any = { .family = addr->sa_family };
	struct cma_listen_key key = { .net = net, .ps = ps, .port = port };
	struct cma_id *idp;

	cma_addr_key_init(&want, addr);
	rcu_read_lock();
	key.addr = &want;
	idp = cma_listener_get(&key, false);
	if (!idp) {
		key.addr = &any;
		idp = cma_listener_get(&key, false);
	}
	if (!idp && addr->sa_family == AF_INET) {
		any.family = AF_INET6;
		idp = cma_listener_get(&key, true);
	}
	rcu_read_unlock();
	return idp;
}
