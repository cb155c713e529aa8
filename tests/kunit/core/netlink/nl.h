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
#define NL_BUFFER	4096		/* what rdma(8) receives at once */

struct nl {
	struct socket *sock;
	struct file *file;
	u32 seq;
	/* Of the last nl_call(): */
	int pages;			/* datagrams received */
	int n;				/* messages in them, but acknowledgments */
	struct nlmsghdr *msg[NL_MSGS];
	u8 *store;
	size_t used;
	void (*between)(struct nl *nl);	/* called after each page of a dump */
	void *arg;
};

int nl_open(struct nl *nl, struct net *net);
void nl_close(struct nl *nl);
/* A request for @nl; attributes may be put before nl_call(). */
struct sk_buff *nl_new(struct nl *nl, int type, u16 flags);
/* RDMA_NLDEV_CMD_@cmd, for the device and port if they are not 0. */
struct sk_buff *nl_dev_req(struct nl *nl, int cmd, struct fake_hca *hca, u32 port);
struct sk_buff *nl_dev_dump(struct nl *nl, int cmd, struct fake_hca *hca, u32 port);
/*
 * Sends @req, which it consumes, and receives until the answer ends.  Returns what
 * the acknowledgment or the end of the dump says, or -ENODATA if none comes.
 */
int nl_call(struct nl *nl, struct sk_buff *req);
/* Sends @req as it is, with the lengths it says. */
int nl_send_raw(struct nl *nl, struct sk_buff *req);
/* Receives what is there: its length, or an error.  Messages go to nl->msg[]. */
int nl_receive(struct nl *nl, int *result, bool *ended);
/* The attributes of message @i of the answer, all NULL if there is none. */
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

/* From here on the caller has no capability, until it is given back. */
const struct cred *nl_drop_caps(void);
void nl_regain_caps(const struct cred *old);

/* A network namespace, and the process that lives in it. */
struct test_ns {
	pid_t pid;
	struct net *net;	/* a reference */
	int fd;			/* of the current process, or -1 */
};

int test_ns_create(struct test_ns *ns);
/* Ends the process and puts the reference: the namespace exits soon. */
void test_ns_end(struct test_ns *ns);

/* The content of a file in /sys, or an error. */
int sys_read(char *buf, size_t size, const char *format, ...) __printf(3, 4);
int sys_write(const char *value, const char *format, ...) __printf(2, 3);

/*
 * Between the two each allocation of the current task fails, also those that an
 * XArray tries twice, which ibex_each_allocation() cannot fail.
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
	int counters;			/* alive at the driver */
	int bound;			/* QPs */
	int fail_read, fail_bind, fail_unbind, fail_modify, fail_update;
	bool no_stats;			/* alloc_hw_port_stats() has none to offer */
	bool no_memory;			/* or fails */
	unsigned long lifespan;
};

extern struct stats_state stats_state;

/* To be registered; forgets what was. */
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
int test_objects_create(struct test_objects *o, struct fake_hca *hca, int qps,
			bool user, enum ib_qp_type type);
void test_objects_destroy(struct test_objects *o);
int test_qp_init(struct ib_qp *qp, u32 port);

#endif
