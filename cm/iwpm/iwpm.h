/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_IWPM_H
#define IBEX_IWPM_H

/*
 * The client of the iWARP port mapper, iwpmd(8).
 *
 * An adapter's TCP knows nothing of the host's, which could give one port to
 * both.  The daemon sees to that: for each address that a consumer listens on or
 * connects from it binds a socket of the host's to a free port, the mapped one,
 * which the adapter then uses; daemons tell each other which port stands for
 * which.  A provider with IW_F_NO_PORT_MAP uses the host's TCP: its ports stand
 * for themselves, but its peers' may be mapped.
 *
 *	iwpm/msg.c	messages, built and read (RDMA netlink, RDMA_NL_IWCM)
 *	iwpm/daemon.c	who the daemon is; the queue of messages to it
 *	iwpm/ask.c	questions that wait for an answer, by sequence number
 *	iwpm/port.c	ports mapped for ids of ours; told again to a new daemon
 *	iwpm/peer.c	what mapped ports of peers stand for
 *	iwpm.c		what the daemon sends
 *	iwcm/map.c	the addresses of an id
 *
 * Nothing depends on the daemon: where it is not there, does not answer in time
 * or answers nonsense, ports are not mapped.  Nobody waits with a lock held, and
 * whoever waits does so for IWPM_TIMEOUT, once for its question and, where the
 * daemon does not know us yet, once for the registration before.
 *
 * Locks: a bucket's of iwpm/port.c, and inside it the daemon's; a bucket's of
 * iwpm/peer.c and the questions' on their own.  All are taken in process context
 * alone and held for a few instructions, or an allocation.
 */
#include <linux/in6.h>
#include <linux/netlink.h>
#include <linux/socket.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_netlink.h>

#define IWPM_TIMEOUT	(3 * HZ)	/* for an answer */

/* ---- iwpm/msg.c ---- */

/* An address that can be mapped; what makes two of them one comes first. */
struct iwpm_addr {
	sa_family_t family;
	__be16 port;
	struct in6_addr ip;		/* of AF_INET: the first 32 bits, then 0 */
	u32 scope;			/* of a link-local address, where known */
};

#define IWPM_ADDR_KEY	offsetof(struct iwpm_addr, scope)

static inline bool iwpm_addr_same(const struct iwpm_addr *a,
				  const struct iwpm_addr *b)
{
	return !memcmp(a, b, IWPM_ADDR_KEY);
}

/* False: not an address with a port. */
bool iwpm_addr_get(struct iwpm_addr *addr, const struct sockaddr_storage *ss);
/* Address and port alone: what else @ss has, it keeps. */
void iwpm_addr_set(const struct iwpm_addr *addr, struct sockaddr_storage *ss);
u32 iwpm_addr_hash(const struct iwpm_addr *addr);

/* What a question is about, and what the answer adds. */
struct iwpm_map {
	struct iwpm_addr local;
	struct iwpm_addr remote;		/* IWPM_QUERY_MAPPING */
	struct iwpm_addr mapped_local;
	struct iwpm_addr mapped_remote;		/* IWPM_QUERY_MAPPING */
};

/* A message of the daemon's; which fields it has, depends on the operation. */
struct iwpm_reply {
	u32 seq;		/* of the question */
	u16 err;		/* IWPM_*_ERR */
	u16 version;
	u32 sent;		/* mappings: told, and understood */
	u32 known;
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

/* Whether there is one that knows us: @dest. */
bool iwpm_daemon_ready(struct iwpm_dest *dest);
/* Whether one may answer to a registration. */
bool iwpm_daemon_may_answer(void);
/* A message came from @portid, which speaks @version. */
void iwpm_daemon_found(u32 portid, u16 version, bool registered);
/* Any message that makes sense. */
void iwpm_daemon_answered(void);
/* It is to register us again. */
void iwpm_daemon_doubt(u32 portid);
/* It lets questions lie that it could answer at once. */
void iwpm_daemon_silent(void);
void iwpm_daemon_lost(u32 portid);
/* Queues @skb for @portid, if that is the daemon; consumes @skb, if not NULL. */
int iwpm_daemon_send(u32 portid, struct sk_buff *skb);
u32 iwpm_daemon_portid(void);		/* 0: none is known */
u16 iwpm_daemon_version(void);
int iwpm_daemon_start(void);
void iwpm_daemon_stop(void);

/* ---- iwpm/ask.c ---- */
/* 0: @dest is a daemon that knows us. */
int iwpm_reach(const struct ib_device *device, struct iwpm_dest *dest);
/* 0: @map is filled in; -EREMOTEIO: refused; else the daemon may have mapped. */
int iwpm_ask(const struct iwpm_dest *dest, u8 op, struct iwpm_map *map,
	     u32 flags);
int iwpm_answered(const struct iwpm_reply *reply, u8 op, u32 portid);
void iwpm_refused(const struct iwpm_reply *reply, u32 portid);
void iwpm_ask_no_more(u32 portid);

/* ---- iwpm/port.c ---- */
struct iwpm_port;

/* Has the daemon do @op, and fills in @map; NULL: not mapped. */
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

/* ---- iwpm.c ---- */
int iwpm_start(void);
void iwpm_stop(void);

#endif
