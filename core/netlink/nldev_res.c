// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RDMA netlink: rdma-resource(8).  One dump and one get serve every kind of
 * resource; nldev_res_fill.c adds the attributes of each kind.
 *
 * A dump walks the tracked entries in order of their numbers and stores the
 * next number in cb->args[0], so that each page starts where the last one
 * ended, even if entries were added and removed in between.  A dump that shows
 * QPs keeps the QPs it has collected in cb->args[1] from page to page.
 */
#include <linux/mm.h>
#include <linux/pid_namespace.h>
#include <net/netlink.h>
#include <net/sock.h>
#include <ibex/compat/updates.h>

#include "device/device.h"
#include "netlink/nldev.h"

/* ---- how many of each: RDMA_NLDEV_CMD_RES_GET ---- */

static const char * const res_names[RDMA_RESTRACK_MAX] = {
	[RDMA_RESTRACK_PD] = "pd",
	[RDMA_RESTRACK_CQ] = "cq",
	[RDMA_RESTRACK_QP] = "qp",
	[RDMA_RESTRACK_CM_ID] = "cm_id",
	[RDMA_RESTRACK_MR] = "mr",
	[RDMA_RESTRACK_CTX] = "ctx",
	[RDMA_RESTRACK_SRQ] = "srq",
};

static int put_count(struct sk_buff *msg, const char *name, u64 count)
{
	struct nlattr *nest;

	nest = nla_nest_start(msg, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);
	if (!nest ||
	    nla_put_string(msg, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, name) ||
	    ibcore_nldev_put_u64(msg, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR,
				 count))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

/* Receive QPs of XRC domains, which are among the QPs, if there are any. */
static int put_xrc_count(struct sk_buff *msg, struct ib_device *dev)
{
	int n = atomic_read(&ibcore_priv(dev)->xrc_rcv_qps);

	return n ? put_count(msg, "xrc_rcv_qp", n) : 0;
}

static int put_summary(struct sk_buff *msg, struct ib_device *dev, bool dd)
{
	struct nlattr *nest;
	int i;

	if (ibcore_nldev_put_handle(msg, dev))
		return -EMSGSIZE;
	nest = nla_nest_start(msg, RDMA_NLDEV_ATTR_RES_SUMMARY);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < RDMA_RESTRACK_MAX; i++)
		if (res_names[i] &&
		    put_count(msg, res_names[i],
			      rdma_restrack_count(dev, i, dd)))
			return -EMSGSIZE;
	if (put_xrc_count(msg, dev))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static bool wants_details(struct nlattr **tb)
{
	struct nlattr *attr = tb[RDMA_NLDEV_ATTR_DRIVER_DETAILS];

	return attr && nla_get_u8(attr);
}

int ibcore_nldev_res_summary(struct ibcore_nldev_req *req)
{
	return put_summary(req->msg, req->dev, wants_details(req->tb));
}

static int put_plain_summary(struct sk_buff *msg, struct ib_device *dev)
{
	return put_summary(msg, dev, false);
}

int ibcore_nldev_res_summary_dump(struct sk_buff *skb,
				  struct netlink_callback *cb)
{
	return ibcore_nldev_dump_devs(skb, cb, put_plain_summary);
}

/* ---- the entries of a kind ---- */

/* The owner's PID in the reader's namespace, or 0. */
static pid_t owner_pid(const struct rdma_restrack_entry *res)
{
	return res->task ?
		task_pid_nr_ns(res->task, task_active_pid_ns(current)) : 0;
}

/*
 * A resource of a process is shown to readers whose PID namespace has the
 * process, a resource of the kernel to readers in the initial PID namespace.
 * A resource whose owner has exited is not shown.
 */
bool ibcore_nldev_owner_seen(const struct rdma_restrack_entry *res)
{
	if (rdma_is_kernel_res(res))
		return task_active_pid_ns(current) == &init_pid_ns;
	return owner_pid(res);
}

/* Adds the owner of @res; -EAGAIN if the reader may not see it. */
int ibcore_nldev_put_owner(struct sk_buff *msg,
			   const struct rdma_restrack_entry *res)
{
	pid_t pid;

	if (rdma_is_kernel_res(res))
		return ibcore_nldev_owner_seen(res) ?
			nla_put_string(msg, RDMA_NLDEV_ATTR_RES_KERN_NAME,
				       res->kern_name ?: "kernel") : -EAGAIN;

	/* Once: the owner may exit meanwhile. */
	pid = owner_pid(res);
	return pid ? nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_PID, pid) : -EAGAIN;
}

/* Adds the QPs of one object; for dumps see dump_qps(). */
static int put_own_qps(struct sk_buff *msg, struct ib_device *dev,
		       const struct ibcore_nldev_res_kind *kind, u32 id)
{
	struct ibcore_nldev_qps *qps;
	int ret;

	if (!kind->of_qp)
		return 0;
	qps = ibcore_nldev_qps_collect(dev, kind);
	if (IS_ERR(qps))
		return PTR_ERR(qps);
	ret = ibcore_nldev_qps_put(msg, qps, kind, id);
	kvfree(qps);
	return ret;
}

int ibcore_nldev_put_res(struct ibcore_nldev_req *req,
			 const struct ibcore_nldev_res_kind *kind)
{
	struct rdma_restrack_entry *res;
	u32 port = 0;
	int ret;

	if (!req->tb[kind->id])
		return -EINVAL;
	if (req->tb[RDMA_NLDEV_ATTR_PORT_INDEX]) {
		port = nla_get_u32(req->tb[RDMA_NLDEV_ATTR_PORT_INDEX]);
		if (!rdma_is_port_valid(req->dev, port))
			return -EINVAL;
	}
	if (ibcore_nldev_put_handle(req->msg, req->dev))
		return -EMSGSIZE;

	res = rdma_restrack_get_byid(req->dev, kind->type,
				     nla_get_u32(req->tb[kind->id]));
	if (IS_ERR(res))
		return PTR_ERR(res);
	ret = kind->fill(req->msg, req->admin, res, port) ?:
	      put_own_qps(req->msg, req->dev, kind, res->id);
	rdma_restrack_put(res);
	return ret == -EAGAIN ? -ENOENT : ret;
}

int ibcore_nldev_res_get(struct ibcore_nldev_req *req)
{
	u32 cmd = RDMA_NL_GET_OP(req->nlh->nlmsg_type);

	return ibcore_nldev_put_res(req, ibcore_nldev_res_kind(cmd));
}

struct res_dump {
	const struct ibcore_nldev_res_kind *kind;
	struct ib_device *dev;
	const struct ibcore_nldev_qps *qps;	/* of kinds with of_qp() */
	u32 port;	/* 0: all ports */
	bool details;
	bool admin;
};

static int dump_entry(struct sk_buff *skb, const struct res_dump *dump,
		      struct rdma_restrack_entry *res)
{
	struct nlattr *nest;
	int ret;

	nest = nla_nest_start(skb, dump->kind->entry);
	if (!nest)
		return -EMSGSIZE;

	ret = dump->kind->fill(skb, dump->admin, res, dump->port);
	if (!ret && dump->qps)
		ret = ibcore_nldev_qps_put(skb, dump->qps, dump->kind, res->id);
	if (ret)
		nla_nest_cancel(skb, nest);
	else
		nla_nest_end(skb, nest);
	return ret;
}

/* Adds as many entries from *@id on as fit in @skb; returns how many, or an error. */
static int dump_entries(struct sk_buff *skb, const struct res_dump *dump,
			unsigned long *id)
{
	struct rdma_restrack_entry *res;
	int filled = 0, ret;

	for (;; (*id)++) {
		res = ibcore_restrack_next(dump->dev, dump->kind->type, id,
					   dump->details);
		if (!res)
			return filled;

		ret = dump_entry(skb, dump, res);
		rdma_restrack_put(res);
		if (!ret)
			filled++;
		else if (ret != -EAGAIN)
			return filled ?: ret;
	}
}

static int res_dump_page(struct sk_buff *skb, struct netlink_callback *cb,
			 const struct res_dump *dump)
{
	unsigned long id = cb->args[0];
	struct nlattr *table;
	struct nlmsghdr *nlh;
	int ret;

	nlh = nlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			cb->nlh->nlmsg_type, 0, NLM_F_MULTI);
	if (!nlh || ibcore_nldev_put_handle(skb, dump->dev))
		return -EMSGSIZE;
	table = nla_nest_start(skb, dump->kind->table);
	if (!table)
		return -EMSGSIZE;

	ret = dump_entries(skb, dump, &id);
	cb->args[0] = id;
	if (ret <= 0) {
		nlmsg_cancel(skb, nlh);
		return ret;
	}
	nla_nest_end(skb, table);
	nlmsg_end(skb, nlh);
	return skb->len;
}

static int dump_qps_done(struct netlink_callback *cb)
{
	kvfree((void *)cb->args[1]);
	return 0;
}

/* All pages of a dump show the QPs as they were when the dump began. */
static int dump_qps(struct netlink_callback *cb, struct res_dump *dump)
{
	struct ibcore_nldev_qps *qps = (void *)cb->args[1];

	if (!dump->kind->of_qp)
		return 0;
	if (!qps) {
		qps = ibcore_nldev_qps_collect(dump->dev, dump->kind);
		if (IS_ERR(qps))
			return PTR_ERR(qps);
		cb->args[1] = (long)qps;
		cb->done = dump_qps_done;
	}
	dump->qps = qps;
	return 0;
}

int ibcore_nldev_dump_res(struct sk_buff *skb, struct netlink_callback *cb,
			  const struct ibcore_nldev_res_kind *kind,
			  struct nlattr **tb)
{
	struct res_dump dump = {
		.kind = kind,
		.details = wants_details(tb),
		.admin = netlink_capable(cb->skb, CAP_NET_ADMIN),
	};
	int ret;

	dump.dev = ibcore_nldev_get_dev(sock_net(skb->sk), tb);
	if (IS_ERR(dump.dev))
		return PTR_ERR(dump.dev);

	ret = -EINVAL;
	if (tb[RDMA_NLDEV_ATTR_PORT_INDEX]) {
		dump.port = nla_get_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX]);
		if (!rdma_is_port_valid(dump.dev, dump.port))
			goto out;
	}
	ret = dump_qps(cb, &dump) ?: res_dump_page(skb, cb, &dump);
out:
	ib_device_put(dump.dev);
	return ret;
}

int ibcore_nldev_res_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	u32 cmd = RDMA_NL_GET_OP(cb->nlh->nlmsg_type);
	struct nlattr *tb[IBEX_NLDEV_ATTR_MAX];
	int ret;

	ret = ibcore_nldev_dump_parse(cb, tb);
	if (ret)
		return ret;
	return ibcore_nldev_dump_res(skb, cb, ibcore_nldev_res_kind(cmd), tb);
}
