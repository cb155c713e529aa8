/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef DIFFCM_H
#define DIFFCM_H

/*
 * Random calls to /dev/infiniband/rdma_cm, and what the kernel answers: the same sequences of
 * calls on two cores are compared line by line (scripts/vm-diff).
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>

#define CHANNELS	2
#define IDS		8
#define PORTS		16	/* that a process has for itself, from base_port on */

extern unsigned int base_port;
extern unsigned long long sequence_number;	/* the present one */

/* ---- random numbers, which depend on the seed and the number of the sequence only ---- */

void seed_sequence(__u64 seed, __u64 sequence);
unsigned int rnd(unsigned int below);

static inline bool one_in(unsigned int n)
{
	return !rnd(n);
}

/* One of @n numbers. */
__u32 one_of(unsigned int n, ...);

/*
 * The number of a QP, which does not exist: the connection manager only passes it on.  Each is
 * used in one sequence only, because of timewait.  qpn_index() is -1 for others.
 */
__u32 new_qpn(void);
int qpn_index(__u32 qpn);

/* ---- ids ---- */

/* What an id should be able to do next, as far as this program can tell. */
enum progress {
	FREE,		/* no id */
	MADE,
	BOUND,
	LISTENING,
	ADDRESS,	/* is resolved */
	ROUTE,		/* is resolved */
	CONNECTING,
	REQUESTED,	/* has a request that it may accept */
	ACCEPTED,	/* has replied to a request */
	RESPONDED,	/* has a response that it may accept */
	CONNECTED,
	ENDED,
};

struct id {
	enum progress progress;
	__u32 number;		/* the kernel's */
	unsigned int channel;
	__u16 ps;
	int peer;		/* other end of its connection, or -1 */
	__u32 qpn;		/* of its connection */
	/*
	 * The families of its addresses, and whether a destination was no single host's, as the
	 * in-tree core may see them: there, a resolve that is refused leaves its destination
	 * behind.
	 */
	__u16 src, dst;
	bool nowhere;
	bool refused, unbound;	/* the last resolve was; a bind was */
	bool failed;		/* a resolve has */
	bool refused_once;	/* a bind or resolve was */
	bool at_loopback;	/* such a source was, or is, its address */
	/* What others on its port are told of it: */
	struct __kernel_sockaddr_storage addr;
	struct __kernel_sockaddr_storage tried;	/* by a resolve that was refused; it may be bound */
	bool reuse, afonly;
	bool joined;
	__u32 group;		/* the number of its last join */
};

/* struct sockaddr_ib, of which <rdma/ib.h> has no header for programs */
#define AF_IB_FAMILY	27

struct sockaddr_ib_bytes {
	__u16 family;
	__be16 pkey;
	__be32 flowinfo;
	__u8 addr[16];
	__be64 sid, sid_mask, scope_id;
};

extern struct id ids[IDS];
extern int channels[CHANNELS];

/* ---- calls (calls.c) ---- */

/* Makes one random call, in a state and with values that are mostly sensible. */
void random_call(void);
/* Calls that lead to a connection, shared ports, or groups, with some mistakes; or none. */
void some_pattern(void);

/* ---- events (events.c) ---- */

/*
 * Waits until so many events have come, and prints them.  If one of them must come, its absence
 * is printed; if it may come, the wait is short.
 */
bool must_come(unsigned int events);
/* An answer to a request: of the peer, or that there is none. */
void answer_must_come(void);
/* The other end of id @i, if there is one, should learn of what was done. */
void peer_may_know(int i);
/* If @soon, they are expected. */
void may_come(unsigned int events, bool soon);

/* ---- a core that does not answer any more (watch.c) ---- */

void watch(void);
/* Around what the kernel should not take long to do. */
void call_begins(void);
void call_ends(void);
/* An expected answer did not come: ends the program if nobody is answered. */
void probe(void);

/* ---- output (show.c) ---- */

void show(const char *format, ...);
void show_bytes(const char *name, const void *bytes, size_t size);
/* Ports are shown by their distance from base_port, or as random. */
void show_address(const char *name, const void *address);
void show_conn_param(const struct rdma_ucm_conn_param *p);
void show_ud_param(const struct rdma_ucm_ud_param *p);
void show_path(const void *record);
void show_qp_attr(const struct ib_uverbs_qp_attr *a);

#endif
