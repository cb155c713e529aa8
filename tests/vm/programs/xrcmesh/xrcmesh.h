/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef XRCMESH_H
#define XRCMESH_H

/* Hosts of several processes, of which each sends to all processes of the other hosts by XRC. */
#include "processes.h"
#include "verbs.h"

#define MAX_HOSTS	8
#define MAX_PROCESSES	64
#define MAKER		0	/* the process that has the receive QPs made */

/* What others know of a process. */
struct peer {
	__u32 lid, srqn;
	__u32 qpn[MAX_HOSTS];		/* of its sender to that host */
	__u32 target[MAX_HOSTS];	/* and of the receive QP there, for that sender */
};

/* Shared by all processes of this host. All but the peers is set before they are started. */
struct mesh {
	const char *device, *dir;
	int host, hosts, processes;
	__u64 messages;			/* of each process to each of the others */
	bool legacy;			/* the receive QPs are processes' */
	struct peer peers[MAX_HOSTS][MAX_PROCESSES];
};

extern struct mesh *mesh;

/* Orders to a process; it answers each with the same, and begins with an answer. */
enum order {
	MAKE,		/* the receive QPs of this host */
	OPEN,		/* those, as the maker made them, in legacy mode */
	CONNECT,	/* its senders with the receive QPs of other hosts */
	EXCHANGE,	/* messages; the answer is how many have arrived, and how many are wrong */
};

/* worker.c */
void worker(int fd, void *process);
/* Those that are left once the maker is killed exchange messages: so many for each of them. */
__u64 messages_expected(void);

/* peers.c: what hosts tell one another, as files in mesh->dir, HOST.senders and HOST.targets */
void write_senders(void);
void read_senders(void);
void write_targets(void);
void read_targets(void);

#endif
