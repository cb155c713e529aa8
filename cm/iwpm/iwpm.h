/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_IWPM_H
#define IBEX_IWPM_H

/*
 * The client of the iWARP port mapper daemon, iwpmd(8).
 *
 * An adapter with its own TCP and the host's TCP do not know of each other, so both may
 * use the same port.  The daemon prevents this: for each address that a consumer listens
 * on or connects from, it binds a host socket to a free port, the mapped port, which the
 * adapter then uses.  Daemons tell each other which mapped port belongs to which port.
 * A provider with IW_F_NO_PORT_MAP uses the host's TCP: its own ports are not mapped,
 * but its peers' ports may be.
 *
 *	iwpm/msg.c	builds and parses messages (RDMA netlink, RDMA_NL_IWCM)
 *	iwpm/daemon.c	the daemon's state; the queue of messages to it
 *	iwpm/ask.c	requests that wait for a response, by sequence number
 *	iwpm/port.c	ports mapped for local ids; sent again to a new daemon
 *	iwpm/peer.c	the real addresses of peers' mapped ports
 *	iwpm/iwpm.c	messages that the daemon sends
 *	iwcm/map.c	the addresses of an id
 *
 * The daemon is optional: if it is not running, does not respond in time, or sends
 * invalid responses, ports are not mapped.  No lock is held while waiting for it.  A
 * caller waits up to IWPM_TIMEOUT for the response to its request and, if the daemon has
 * not registered this client yet, up to IWPM_TIMEOUT for the registration before.
 *
 * Locks: a bucket's of iwpm/port.c, and inside it the daemon's; a bucket's of
 * iwpm/peer.c and that of the requests are not nested with others.  All are taken in
 * process context only and held for a few instructions, or an allocation.
 */
#include <linux/in6.h>
#include <linux/netlink.h>
#include <linux/socket.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_netlink.h>

#define IWPM_TIMEOUT	(3 * HZ)	/* for a response */

/* ---- iwpm/msg.c ---- */

/* An address that can be mapped.  The fields before scope identify it. */
struct iwpm_addr {
	sa_family_t family;
	__be16 port;
	struct in6_addr ip;		/* AF_INET: the first 32 bits, then 0 */
	u32 scope;			/* of a link-local address, if known */
};

#define IWPM_ADDR_KEY	offsetof(struct iwpm_addr, scope)

static inline bool iwpm_addr_same(const struct iwpm_addr *a,
				  const struct iwpm_addr *b)
{
	return !memcmp(a, b, IWPM_ADDR_KEY);
}

/* Returns false if @ss is not an address with a port. */
bool iwpm_addr_get(struct iwpm_addr *addr, const struct sockaddr_storage *ss);
/* Sets only family, address and port of @ss. */
void iwpm_addr_set(const struct iwpm_addr *addr, struct sockaddr_storage *ss);
u32 iwpm_addr_hash(const struct iwpm_addr *addr);

/* The addresses of a request, and the mapped ones of its response. */
struct iwpm_map {
	struct iwpm_addr local;
	struct iwpm_addr remote;		/* IWPM_QUERY_MAPPING */
	struct iwpm_addr mapped_local;
	struct iwpm_addr mapped_remote;		/* IWPM_QUERY_MAPPING */
};

/* A message of the daemon; the operation determines which fields are set. */
struct iwpm_reply {
	u32 seq;		/* of the request */
	u16 err;		/* IWPM_*_ERR */
	u16 version;
	u32 sent;		/* number of mappings that were sent to the daemon */
	u32 known;		/* number of these that the daemon has restored */
	struct iwpm_map map;
};

struct sk_buff *iwpm_msg_register(u32 seq, const struct ib_device *device);
struct sk_buff *iwpm_msg_hello(u16 version);
struct sk_buff *iwpm_msg_ask(u8 op, u32 seq, const struct iwpm_map *map,
			     u32 flags, u16 version);
struct sk_buff *iwpm_msg_remove(const struct iwpm_addr *local);
struct sk_buff *iwpm_msg_mapinfo(const struct iwpm_addr *local,
				 const struct iwpm_addr *mapped, u32 flags,
				 u16 version);
struct sk_buff *iwpm_msg_mapinfo_num(u32 num);
int iwpm_msg_parse(const struct nlmsghdr *nlh, struct iwpm_reply *reply,
		   struct netlink_ext_ack *extack);

/* ---- iwpm/daemon.c ---- */
struct iwpm_dest {
	u32 portid;
	u16 version;
};

/* Sets @dest; returns whether a daemon is known, has registered this client, responds. */
bool iwpm_daemon_ready(struct iwpm_dest *dest);
/* Whether a daemon may be running that responds to a registration. */
bool iwpm_daemon_may_answer(void);
/* A message was received from @portid, which uses protocol @version. */
void iwpm_daemon_found(u32 portid, u16 version, bool registered);
/* A valid message was received from a daemon. */
void iwpm_daemon_answered(void);
/* The next request must register with the daemon again. */
void iwpm_daemon_doubt(u32 portid);
/* The daemon did not respond to a request that it could answer at once. */
void iwpm_daemon_silent(void);
void iwpm_daemon_lost(u32 portid);
/* Queues @skb for @portid, if that is the daemon; consumes @skb, which may be NULL. */
int iwpm_daemon_send(u32 portid, struct sk_buff *skb);
u32 iwpm_daemon_portid(void);		/* 0: no daemon is known */
u16 iwpm_daemon_version(void);
int iwpm_daemon_start(void);
void iwpm_daemon_stop(void);

/* ---- iwpm/ask.c ---- */
/* Registers with the daemon if needed.  Returns 0, with @dest set, or -ENOTCONN. */
int iwpm_reach(const struct ib_device *device, struct iwpm_dest *dest);
/*
 * Returns 0 with @map filled in; -EREMOTEIO if the daemon has refused; after any other
 * error the daemon may have mapped the port.
 */
int iwpm_ask(const struct iwpm_dest *dest, u8 op, struct iwpm_map *map,
	     u32 flags);
int iwpm_answered(const struct iwpm_reply *reply, u8 op, u32 portid);
void iwpm_refused(const struct iwpm_reply *reply, u32 portid);
void iwpm_ask_no_more(u32 portid);

/* ---- iwpm/port.c ---- */
struct iwpm_port;

/* Requests @op of the daemon and fills in @map; NULL if the port is not mapped. */
struct iwpm_port *iwpm_port_get(const struct ib_device *device, u8 op,
				struct iwpm_map *map);
void iwpm_port_put(struct iwpm_port *port);		/* NULL allowed */
void iwpm_port_retell(u32 portid, u16 version);
void iwpm_port_start(void);
void iwpm_port_stop(void);

/* ---- iwpm/peer.c ---- */
int iwpm_peer_note(const struct iwpm_addr *mapped, const struct iwpm_addr *real);
bool iwpm_peer_find(const struct iwpm_addr *mapped, struct iwpm_addr *real);
void iwpm_peer_start(void);
void iwpm_peer_stop(void);

/* ---- iwpm/iwpm.c ---- */
int iwpm_start(void);
void iwpm_stop(void);

#endif
