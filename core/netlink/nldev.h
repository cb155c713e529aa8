/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCORE_NLDEV_H
#define IBCORE_NLDEV_H

/* RDMA netlink: what rdma(8) queries and sets. */
#include <rdma/rdma_netlink.h>
#include <ibex/netlink.h>

#include "core.h"

/* ---- netlink.c, nldev*.c ---- */
struct ibcore_net;

int ibcore_nl_init(void);
void ibcore_nl_exit(void);
int ibcore_nl_net_init(struct ibcore_net *cnet);
void ibcore_nl_net_exit(struct ibcore_net *cnet);
int ibcore_nldev_init(void);
void ibcore_nldev_exit(void);

/* One request of userspace; @dev and @port are found from its attributes. */
struct ibcore_nldev_req {
	struct sk_buff *skb;		/* the request */
	struct nlmsghdr *nlh;
	struct nlattr **tb;		/* by RDMA_NLDEV_ATTR_ */
	struct netlink_ext_ack *extack;
	struct net *net;		/* of the requester */
	struct ib_device *dev;		/* registration reference, or NULL */
	u32 port;
	struct sk_buff *msg;		/* the reply, if the command has one */
	bool admin;			/* requester has CAP_NET_ADMIN */
};

typedef int (*ibcore_nldev_fn)(struct ibcore_nldev_req *req);

extern const struct nla_policy ibcore_nldev_policy[IBEX_NLDEV_ATTR_MAX];

/* Parses the request of a dump into @tb. */
int ibcore_nldev_dump_parse(struct netlink_callback *cb, struct nlattr **tb);
struct ib_device *ibcore_nldev_get_dev(const struct net *net,
				       struct nlattr **tb);
int ibcore_nldev_put_handle(struct sk_buff *msg, struct ib_device *dev);
int ibcore_nldev_put_u64(struct sk_buff *msg, int attr, u64 value);
int ibcore_nldev_put_name(struct sk_buff *msg, int attr,
			  const struct ib_device *dev);
/* Adds the RDMA_NLDEV_ATTR_NDEV_ attributes of @port's netdev if it is in @net. */
int ibcore_nldev_put_netdev(struct sk_buff *msg, struct ib_device *dev,
			    u32 port, const struct net *net);

int ibcore_nldev_dev_get(struct ibcore_nldev_req *req);
typedef int (*ibcore_nldev_put_fn)(struct sk_buff *msg, struct ib_device *dev);
int ibcore_nldev_dump_devs(struct sk_buff *skb, struct netlink_callback *cb,
			   ibcore_nldev_put_fn put);
int ibcore_nldev_dev_dump(struct sk_buff *skb, struct netlink_callback *cb);
int ibcore_nldev_dev_set(struct ibcore_nldev_req *req);
int ibcore_nldev_newdev(struct ibcore_nldev_req *req);
int ibcore_nldev_deldev(struct ibcore_nldev_req *req);
int ibcore_nldev_port_get(struct ibcore_nldev_req *req);
int ibcore_nldev_port_dump(struct sk_buff *skb, struct netlink_callback *cb);
int ibcore_nldev_newlink(struct ibcore_nldev_req *req);
int ibcore_nldev_dellink(struct ibcore_nldev_req *req);
int ibcore_nldev_sys_get(struct ibcore_nldev_req *req);
int ibcore_nldev_sys_set(struct ibcore_nldev_req *req);
int ibcore_nldev_chardev_get(struct ibcore_nldev_req *req);
int ibcore_nldev_res_summary(struct ibcore_nldev_req *req);
int ibcore_nldev_res_summary_dump(struct sk_buff *skb,
				  struct netlink_callback *cb);
int ibcore_nldev_res_get(struct ibcore_nldev_req *req);
int ibcore_nldev_res_dump(struct sk_buff *skb, struct netlink_callback *cb);
int ibcore_nldev_stat_get(struct ibcore_nldev_req *req);
int ibcore_nldev_stat_dump(struct sk_buff *skb, struct netlink_callback *cb);
int ibcore_nldev_stat_set(struct ibcore_nldev_req *req);
int ibcore_nldev_stat_del(struct ibcore_nldev_req *req);
int ibcore_nldev_stat_status(struct ibcore_nldev_req *req);

/* A kind of resource: how its entries are named, numbered and described. */
struct ibcore_nldev_res_kind {
	enum rdma_restrack_type type;
	u16 table;	/* RDMA_NLDEV_ATTR_ of the nest around a page */
	u16 entry;	/* of the nest around each entry */
	u16 id;		/* of the number that an entry is requested by */
	/* -EAGAIN: the entry is not shown; -EMSGSIZE: @msg is full */
	int (*fill)(struct sk_buff *msg, bool admin,
		    struct rdma_restrack_entry *res, u32 port);
	/*
	 * For kinds that QPs belong to: whether @qp belongs to an entry, and
	 * the number of that entry.
	 */
	bool (*of_qp)(const struct ib_qp *qp, u32 *id);
	bool qp_ranges;	/* QPs of successive numbers are shown as a range */
};

/* ---- nldev_qps.c ---- */
struct ibcore_nldev_qps;

struct ibcore_nldev_qps *
ibcore_nldev_qps_collect(struct ib_device *dev,
			 const struct ibcore_nldev_res_kind *kind);
int ibcore_nldev_qps_put(struct sk_buff *msg, const struct ibcore_nldev_qps *qps,
			 const struct ibcore_nldev_res_kind *kind, u32 owner);

extern const struct ibcore_nldev_res_kind ibcore_nldev_counter_kind;
extern const struct ibcore_nldev_res_kind ibcore_nldev_mr_stat_kind;
const struct ibcore_nldev_res_kind *ibcore_nldev_res_kind(u32 cmd);
/* Whether the reader may see a resource of this owner. */
bool ibcore_nldev_owner_seen(const struct rdma_restrack_entry *res);
int ibcore_nldev_put_owner(struct sk_buff *msg,
			   const struct rdma_restrack_entry *res);
int ibcore_nldev_put_res(struct ibcore_nldev_req *req,
			 const struct ibcore_nldev_res_kind *kind);
int ibcore_nldev_dump_res(struct sk_buff *skb, struct netlink_callback *cb,
			  const struct ibcore_nldev_res_kind *kind,
			  struct nlattr **tb);
/* Sends an event about a device or port to RDMA_NL_GROUP_NOTIFY. */
void ibcore_nldev_notify(struct ib_device *dev, u32 port,
			 enum rdma_nl_notify_event_type type);

#endif
