/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef CMA_BIND_H
#define CMA_BIND_H

/* Addresses, ports and listeners: what an id is bound to, and shares with other ids. */
#include "cma.h"

/* ---- bind.c: which device and port an address belongs to ---- */
/* All set id.device, id.port_num and the SGID, or return an error. */
int cma_bind_device(struct cma_id *idp);	/* by src_addr and dev_addr */
int cma_bind_iwarp(struct cma_id *idp, struct cma_dev *dev);
int cma_bind_device_ib(struct cma_id *idp);	/* AF_IB: by the DGID's subnet */
bool cma_port_active(struct ib_device *device, u32 port);

/* ---- loopback.c: this host as its own peer ---- */
bool cma_is_this_host(const struct sockaddr *addr);
int cma_bind_loopback(struct cma_id *idp);	/* like bind.c's; any device will do */
int cma_resolve_loopback(struct cma_id *idp);
int cma_roce_gid(struct cma_id *idp, struct sockaddr *addr,
		 union ib_gid *gid);

/* ---- gid_hint.c: the device on which an address was found last ---- */
struct cma_gid_key {
	union ib_gid gid;
	const struct net *net;
	int ifindex;
	u32 dev_type;
};

int cma_gid_hint_init(void);
void cma_gid_hint_exit(void);
struct cma_dev *cma_gid_hint_find(const struct cma_gid_key *key, u32 *port);
void cma_gid_hint_add(struct cma_dev *dev, u32 port,
		      const struct cma_gid_key *key);
void cma_gid_hint_del(struct cma_dev *dev, const struct cma_gid_key *key);
void cma_gid_hint_purge(struct cma_dev *dev);

/* ---- addr_key.c: addresses as table keys, and their properties ---- */
struct cma_addr_key {
	u16 family;		/* AF_INET, AF_INET6 or AF_IB */
	u16 pad;
	u32 scope;		/* ifindex of a link-local IPv6 address, or 0 */
	union ib_gid addr;	/* IPv4 in its last four bytes; all 0: any */
};

/* The wildcard. */
static inline bool cma_key_any(const struct cma_addr_key *key)
{
	return rdma_is_zero_gid(&key->addr);
}

bool cma_addr_family_ok(const struct sockaddr *addr);
void cma_addr_key_init(struct cma_addr_key *key, const struct sockaddr *addr);
bool cma_addr_any(const struct sockaddr *addr);
bool cma_addr_loopback(const struct sockaddr *addr);
__be16 cma_addr_port(const struct sockaddr *addr);
void cma_addr_set_any(struct sockaddr *addr, sa_family_t family);

/* ---- listeners.c: the table of listeners ---- */
int cma_listeners_init(void);
void cma_listeners_exit(void);
int cma_listeners_add(struct cma_id *idp);
void cma_listeners_del(struct cma_id *idp);
struct cma_id *cma_port_find_listener_at(struct net *net,
					 enum rdma_ucm_port_space ps, __be16 port,
					 const struct sockaddr *addr);
struct cma_id *cma_port_find_listener(struct net *net,
				      enum rdma_ucm_port_space ps, __be16 port,
				      const struct sockaddr *addr);

/* ---- port_space.c: ports and their users ---- */
struct cma_port_space {
	struct xarray buckets;		/* struct cma_bucket by port */
	atomic_t next;			/* where the search for a free port starts */
};

int cma_port_get(struct cma_id *idp, const struct sockaddr *dst);
int cma_port_set_dst(struct cma_id *idp, const struct sockaddr *dst);
void cma_port_put(struct cma_id *idp);
void cma_port_rebind(struct cma_id *idp, const struct cma_addr_key *key);
int cma_port_set_sharing(struct cma_id *idp, bool *field, bool value);
int cma_port_listen(struct cma_id *idp);
void cma_port_unlisten(struct cma_id *idp);

/* ---- ../main.c: the port spaces of a namespace ---- */
enum {
	CMA_PS_TCP,
	CMA_PS_UDP,
	CMA_PS_IB,
	CMA_PS_IPOIB,
	CMA_NR_PS
};

struct cma_net {
	struct cma_port_space ps[CMA_NR_PS];
};

struct cma_port_space *cma_port_space(struct net *net,
				      enum rdma_ucm_port_space ps);

#endif
