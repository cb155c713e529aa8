/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_PM_DAEMON_H
#define IBEX_PM_DAEMON_H

/*
 * A port mapper's daemon, in a thread: it records the messages that it gets, and
 * responds as iwpmd(8) does, unless the test tells it not to.
 */
#include <kunit/test.h>
#include "../nl_daemon.h"
#include "../wait.h"

#define PMD_OPS		RDMA_NL_IWPM_NUM_OPS
#define PMD_MAPS	10000		/* from a local port to the mapped one */
#define PMD_PEER_MAPS	20000		/* likewise, of a peer's */

/* The contents of the last message of an operation. */
struct pmd_heard {
	u32 seq;			/* of the header */
	u32 attr_seq;
	u16 len;			/* of the message */
	struct sockaddr_storage addr[2];	/* in order */
	int nr_addr;
	u32 value;			/* the attribute after them, or the version */
	bool has_value;
	char names[3][32];		/* of the registration, and how long they are */
	int name_len[3];
};

struct pm_daemon {
	struct nl_daemon nl;
	struct task_struct *task;
	u8 buf[1024] __aligned(8);

	/* How it behaves */
	u16 version;
	bool paused;			/* reads nothing */
	bool mute[PMD_OPS];
	u16 refuse[PMD_OPS];		/* by a HANDLE_ERR with this code */
	u16 err[PMD_OPS];		/* in the response */
	bool unmapped_peer;		/* peers' ports are not mapped */
	int twice;			/* how many more times it responds */
	void (*spoil)(struct sk_buff *skb);	/* changes a response */

	/* What it has recorded */
	char log[256];			/* a letter a message, by operation */
	int nr_log;
	struct pmd_heard heard[PMD_OPS];
	int holds;			/* mappings requested and not removed */
	int acks;			/* results from the kernel */
	int verdict;			/* the last */
};

extern struct pm_daemon pmd;

int pmd_up(void);
void pmd_down(void);
u32 pmd_portid(void);
/* Return whether this is so within a second. */
bool pmd_hears(const char *log);
bool pmd_holds(int num);

/* Messages made by the test; the functions that send one return the kernel's result. */
struct sk_buff *pmd_new(u8 op);
void pmd_put_addr(struct sk_buff *skb, int type, const char *ip, u16 port);
int pmd_tell(struct sk_buff *skb);
int pmd_hello(u16 version);
int pmd_ask_mapinfo(u16 version);
int pmd_remote_info(const char *mapped_ip, u16 mapped, const char *ip, u16 port);
/* Responds to the last request of that operation, as the thread would. */
int pmd_answer(u8 op);

#endif
