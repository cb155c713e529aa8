/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_CORE_NL_H
#define IBEX_CORE_NL_H

/*
 * What the netlink, statistics and namespace suites share: a NETLINK_RDMA socket
 * that sends and receives as rdma(8) does, a network namespace, an adapter that
 * counts, and the reading of files in /sys.
 */
#include <kunit/test.h>
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <net/netlink.h>
#include <rdma/rdma_counter.h>
#include <rdma/rdma_netlink.h>
#include "fake_hca.h"
#include "wait.h"

#define NL_MSGS		512
#define NL_STORE	SZ_256K
#define NL_BUFFER	4096		/* receive buffer of rdma(8) */

struct nl {
	struct socket *sock;
	struct file *file;
	u32 seq;
	/* About the last nl_call(): */
	int pages;			/* datagrams received */
	int n;				/* messages in them, without acknowledgments */
	struct nlmsghdr *msg[NL_MSGS];
	u8 *store;
	size_t used;
	void (*between)(struct nl *nl);	/* called after each page of a dump */
	void *arg;
};

int nl_open(struct nl *nl, struct net *net);
void nl_close(struct nl *nl);
/* A new request; the caller may add attributes before nl_call(). */
struct sk_buff *nl_new(struct nl *nl, int type, u16 flags);
/* A request RDMA_NLDEV_CMD_@cmd for the device and port, unless these are 0. */
struct sk_buff *nl_dev_req(struct nl *nl, int cmd, struct fake_hca *hca, u32 port);
struct sk_buff *nl_dev_dump(struct nl *nl, int cmd, struct fake_hca *hca, u32 port);
/*
 * Sends @req, which it consumes, and receives until the response ends.  Returns the
 * error of the acknowledgment or of the end of the dump, or -ENODATA if neither arrives.
 */
int nl_call(struct nl *nl, struct sk_buff *req);
/* Sends @req unchanged, with the lengths in its headers. */
int nl_send_raw(struct nl *nl, struct sk_buff *req);
/* Receives one datagram: its length, or an error.  Stores its messages in nl->msg[]. */
int nl_receive(struct nl *nl, int *result, bool *ended);
/* The attributes of message @i of the response, all NULL if there is no such message. */
void nl_attrs(struct nl *nl, int i, struct nlattr **tb);
void nl_nested(const struct nlattr *nest, struct nlattr **tb);
bool nl_join(struct nl *nl, int group);

static inline u32 nl_u32(const struct nlattr *attr)
{
	return attr ? nla_get_u32(attr) : U32_MAX;
}

static inline u64 nl_u64(const struct nlattr *attr)
{
	return attr ? nla_get_u64(attr) : U64_MAX;
}

static inline u8 nl_u8(const struct nlattr *attr)
{
	return attr ? nla_get_u8(attr) : U8_MAX;
}

static inline const char *nl_str(const struct nlattr *attr)
{
	return attr ? nla_data(attr) : "(none)";
}

/* Drops all capabilities of the caller, until nl_regain_caps(). */
const struct cred *nl_drop_caps(void);
void nl_regain_caps(const struct cred *old);

/* A network namespace, and the process in it. */
struct test_ns {
	pid_t pid;
	struct net *net;	/* a reference */
	int fd;			/* of the current process, or -1 */
};

int test_ns_create(struct test_ns *ns);
/* Ends the process and puts the reference: the namespace exits soon after. */
void test_ns_end(struct test_ns *ns);

/* The content of a file in /sys, or an error. */
int sys_read(char *buf, size_t size, const char *format, ...) __printf(3, 4);
int sys_write(const char *value, const char *format, ...) __printf(2, 3);

/*
 * Between the two each allocation of the current task fails, also those that an XArray
 * tries twice, which ibex_each_allocation() cannot make fail.
 */
int no_memory_begin(void);
void no_memory_end(void);

/* Ten seconds at most. */
#define wait_until(cond) wait_within(cond, 10000)

/*
 * An adapter with counters.  Port P counts 10 * P, 10 * P + 1 and so on; the
 * device itself 1000, 1001; a QP counter number N has 100 * N for each counter.
 */
enum { STAT_RX, STAT_TX, STAT_OPT_A, STAT_OPT_B, STATS };

struct stats_state {
	int reads;			/* get_hw_stats() of a port */
	int updates;			/* counter_update_stats() */
	int locked_updates;		/* of these, under the port's lock */
	int modified[STATS];		/* modify_hw_stat(): on - off */
	u32 next_id;
	int counters;			/* that the driver has */
	int bound;			/* QPs bound to a counter */
	int fail_read, fail_bind, fail_unbind, fail_modify, fail_update;
	bool no_stats;			/* alloc_hw_port_stats() returns none */
	bool no_memory;			/* alloc_hw_port_stats() fails */
	unsigned long lifespan;
};

extern struct stats_state stats_state;

/* Resets stats_state; the caller registers the adapter. */
struct fake_hca *stats_hca_alloc(const struct fake_hca_params *params);
struct fake_hca *stats_hca_create(const struct fake_hca_params *params);
/* The end of a suite: closes both and expects that nothing is left on @hca. */
void nl_hca_exit(struct kunit *test, struct nl *nl, struct fake_hca **hca);

/* A PD, a CQ and QPs on them. */
#define TEST_QPS 4
struct test_objects {
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp[TEST_QPS];
	int nr_qps;
};

/* @user: the current process owns the QPs. */
/* Who made them: modules that share its source are named together. */
extern const char test_objects_owner[];

int test_objects_create(struct test_objects *o, struct fake_hca *hca, int qps,
			bool user, enum ib_qp_type type);
void test_objects_destroy(struct test_objects *o);
int test_qp_init(struct ib_qp *qp, u32 port);

#endif
