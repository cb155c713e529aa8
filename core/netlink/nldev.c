// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RDMA_NL_NLDEV: devices, ports and resources as rdma(8) and libibverbs see
 * them.  This file has the table of commands, the policy of their attributes
 * and what all commands share; the commands are in nldev_*.c.
 *
 * A command on a device runs with a registration reference, so that the device
 * is not unregistered meanwhile and stays in its namespace.
 */
#include <net/netlink.h>
#include <net/sock.h>

#include "device/device.h"
#include "netlink/nldev.h"

/*
 * Only attributes that userspace may send; attributes used only in replies are
 * not listed.
 */
const struct nla_policy ibcore_nldev_policy[IBEX_NLDEV_ATTR_MAX] = {
	[RDMA_NLDEV_ATTR_DEV_INDEX] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_DEV_NAME] = {
		.type = NLA_NUL_STRING, .len = IB_DEVICE_NAME_MAX - 1 },
	[RDMA_NLDEV_ATTR_PORT_INDEX] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_DEV_DIM] = { .type = NLA_U8 },
	[RDMA_NLDEV_ATTR_DEV_TYPE] = { .type = NLA_U8 },
	[RDMA_NLDEV_ATTR_DRIVER_DETAILS] = { .type = NLA_U8 },
	[RDMA_NLDEV_ATTR_LINK_TYPE] = {
		.type = NLA_NUL_STRING, .len = RDMA_NLDEV_ATTR_ENTRY_STRLEN - 1 },
	[RDMA_NLDEV_ATTR_NDEV_NAME] = {
		.type = NLA_NUL_STRING, .len = IFNAMSIZ - 1 },
	[RDMA_NLDEV_ATTR_CHARDEV_TYPE] = {
		.type = NLA_NUL_STRING, .len = RDMA_NLDEV_ATTR_CHARDEV_TYPE_SIZE - 1 },
	[RDMA_NLDEV_ATTR_RES_LQPN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_CQN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_MRN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_PDN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_CM_IDN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_CTXN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_SRQN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_STAT_MODE] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_STAT_RES] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_STAT_COUNTER_ID] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS] = { .type = NLA_NESTED },
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX] = { .type = NLA_U32 },
	[RDMA_NLDEV_NET_NS_FD] = { .type = NLA_U32 },
	[RDMA_NLDEV_SYS_ATTR_NETNS_MODE] = { .type = NLA_U8 },
	[RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK] = { .type = NLA_U8 },
	[RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE] = { .type = NLA_U8 },
};

/* What is set up before a command's function runs. */
enum {
	NEEDS_DEV = BIT(0),	/* req->dev, from DEV_INDEX */
	NEEDS_PORT = BIT(1),	/* and req->port of it, from PORT_INDEX */
	HAS_REPLY = BIT(2),	/* req->msg, sent if the function returns 0 */
	/*
	 * What changes something has no attribute that is too long or nested for
	 * no reason, and no bytes behind the last one.  Old versions of rdma(8)
	 * are not so strict in what they query.
	 */
	STRICT = BIT(3),
};

struct nldev_op {
	ibcore_nldev_fn fn;
	u8 flags;
};

static const struct nldev_op nldev_ops[IBEX_NLDEV_NUM_OPS] = {
	[RDMA_NLDEV_CMD_GET] = {
		ibcore_nldev_dev_get, NEEDS_DEV | HAS_REPLY },
	[RDMA_NLDEV_CMD_SET] = {
		ibcore_nldev_dev_set, NEEDS_DEV | STRICT },
	[RDMA_NLDEV_CMD_NEWLINK] = {
		ibcore_nldev_newlink, STRICT },
	[RDMA_NLDEV_CMD_DELLINK] = {
		ibcore_nldev_dellink, NEEDS_DEV | STRICT },
	[RDMA_NLDEV_CMD_NEWDEV] = {
		ibcore_nldev_newdev, NEEDS_DEV | STRICT },
	[RDMA_NLDEV_CMD_DELDEV] = {
		ibcore_nldev_deldev, NEEDS_DEV | STRICT },
	[RDMA_NLDEV_CMD_PORT_GET] = {
		ibcore_nldev_port_get, NEEDS_DEV | NEEDS_PORT | HAS_REPLY },
	[RDMA_NLDEV_CMD_SYS_GET] = {
		ibcore_nldev_sys_get, HAS_REPLY },
	[RDMA_NLDEV_CMD_SYS_SET] = {
		ibcore_nldev_sys_set, STRICT },
	[RDMA_NLDEV_CMD_GET_CHARDEV] = {
		ibcore_nldev_chardev_get, HAS_REPLY },
	[RDMA_NLDEV_CMD_RES_GET] = {
		ibcore_nldev_res_summary, NEEDS_DEV | HAS_REPLY },
	[RDMA_NLDEV_CMD_RES_QP_GET] = {
		ibcore_nldev_res_get, NEEDS_DEV | HAS_REPLY },
	[RDMA_NLDEV_CMD_RES_CM_ID_GET] = {
		ibcore_nldev_res_get, NEEDS_DEV | HAS_REPLY },
	[RDMA_NLDEV_CMD_RES_CQ_GET] = {
		ibcore_nldev_res_get, NEEDS_DEV | HAS_REPLY },
	[RDMA_NLDEV_CMD_RES_MR_GET] = {
		ibcore_nldev_res_get, NEEDS_DEV | HAS_REPLY },
	[RDMA_NLDEV_CMD_RES_PD_GET] = {
		ibcore_nldev_res_get, NEEDS_DEV | HAS_REPLY },
	[RDMA_NLDEV_CMD_RES_CTX_GET] = {
		ibcore_nldev_res_get, NEEDS_DEV | HAS_REPLY },
	[RDMA_NLDEV_CMD_RES_SRQ_GET] = {
		ibcore_nldev_res_get, NEEDS_DEV | HAS_REPLY },
	[RDMA_NLDEV_CMD_RES_QP_GET_RAW] = {
		ibcore_nldev_res_get, NEEDS_DEV | HAS_REPLY },
	[RDMA_NLDEV_CMD_RES_CQ_GET_RAW] = {
		ibcore_nldev_res_get, NEEDS_DEV | HAS_REPLY },
	[RDMA_NLDEV_CMD_RES_MR_GET_RAW] = {
		ibcore_nldev_res_get, NEEDS_DEV | HAS_REPLY },
	[RDMA_NLDEV_CMD_RES_SRQ_GET_RAW] = {
		ibcore_nldev_res_get, NEEDS_DEV | HAS_REPLY },
	[RDMA_NLDEV_CMD_STAT_GET] = {
		ibcore_nldev_stat_get, NEEDS_DEV | HAS_REPLY },
	[RDMA_NLDEV_CMD_STAT_SET] = {
		ibcore_nldev_stat_set,
		NEEDS_DEV | NEEDS_PORT | HAS_REPLY | STRICT },
	[RDMA_NLDEV_CMD_STAT_DEL] = {
		ibcore_nldev_stat_del, NEEDS_DEV | NEEDS_PORT | HAS_REPLY },
	[RDMA_NLDEV_CMD_STAT_GET_STATUS] = {
		ibcore_nldev_stat_status, NEEDS_DEV | NEEDS_PORT | HAS_REPLY },
};

/* Size of one reply message: what rdma(8) can receive at once. */
#define NLDEV_REPLY_SIZE (SZ_8K - NLMSG_HDRLEN)

int ibcore_nldev_put_u64(struct sk_buff *msg, int attr, u64 value)
{
	return nla_put_u64_64bit(msg, attr, value, RDMA_NLDEV_ATTR_PAD);
}

int ibcore_nldev_put_name(struct sk_buff *msg, int attr,
			  const struct ib_device *dev)
{
	char name[IB_DEVICE_NAME_MAX];

	ibcore_device_name(dev, name);
	return nla_put_string(msg, attr, name);
}

int ibcore_nldev_put_handle(struct sk_buff *msg, struct ib_device *dev)
{
	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, dev->index) ||
	    ibcore_nldev_put_name(msg, RDMA_NLDEV_ATTR_DEV_NAME, dev))
		return -EMSGSIZE;
	return 0;
}

int ibcore_nldev_put_netdev(struct sk_buff *msg, struct ib_device *dev,
			    u32 port, const struct net *net)
{
	struct net_device *ndev = ib_device_get_netdev(dev, port);
	int ret = 0;

	if (!ndev)
		return 0;
	if (net_eq(dev_net(ndev), net) &&
	    (nla_put_u32(msg, RDMA_NLDEV_ATTR_NDEV_INDEX, ndev->ifindex) ||
	     nla_put_string(msg, RDMA_NLDEV_ATTR_NDEV_NAME, ndev->name)))
		ret = -EMSGSIZE;
	dev_put(ndev);
	return ret;
}

/* The device that DEV_INDEX names, with a registration reference. */
struct ib_device *ibcore_nldev_get_dev(const struct net *net,
				       struct nlattr **tb)
{
	struct nlattr *index = tb[RDMA_NLDEV_ATTR_DEV_INDEX];
	struct ib_device *dev;

	if (!index)
		return ERR_PTR(-EINVAL);
	dev = ibcore_device_get_by_index(net, nla_get_u32(index));
	return dev ?: ERR_PTR(-EINVAL);
}

/* Not parsed strictly: old versions of rdma(8) do not send strictly valid messages. */
int ibcore_nldev_dump_parse(struct netlink_callback *cb, struct nlattr **tb)
{
	return nlmsg_parse_deprecated(cb->nlh, 0, tb, IBEX_NLDEV_ATTR_MAX - 1,
				      ibcore_nldev_policy, cb->extack);
}

static int req_get_port(struct ibcore_nldev_req *req)
{
	struct nlattr *attr = req->tb[RDMA_NLDEV_ATTR_PORT_INDEX];

	if (!attr)
		return -EINVAL;
	req->port = nla_get_u32(attr);
	return rdma_is_port_valid(req->dev, req->port) ? 0 : -EINVAL;
}

static int req_start_reply(struct ibcore_nldev_req *req)
{
	req->msg = nlmsg_new(NLDEV_REPLY_SIZE, GFP_KERNEL);
	if (!req->msg)
		return -ENOMEM;
	if (!nlmsg_put(req->msg, NETLINK_CB(req->skb).portid,
		       req->nlh->nlmsg_seq, req->nlh->nlmsg_type, 0, 0))
		return -EMSGSIZE;
	return 0;
}

static int req_prepare(struct ibcore_nldev_req *req, u8 flags)
{
	int ret = 0;

	if (flags & NEEDS_DEV) {
		struct ib_device *dev = ibcore_nldev_get_dev(req->net, req->tb);

		if (IS_ERR(dev))
			return PTR_ERR(dev);
		req->dev = dev;
	}
	if (flags & NEEDS_PORT)
		ret = req_get_port(req);
	if (!ret && (flags & HAS_REPLY))
		ret = req_start_reply(req);
	return ret;
}

/* A command's function that takes over req->dev or req->msg sets it to NULL. */
static int req_run(struct ibcore_nldev_req *req, const struct nldev_op *op)
{
	int ret;

	ret = req_prepare(req, op->flags);
	if (!ret)
		ret = op->fn(req);

	if (req->dev)
		ib_device_put(req->dev);
	if (ret || !req->msg) {
		nlmsg_free(req->msg);
		return ret;
	}
	nlmsg_end(req->msg, nlmsg_hdr(req->msg));
	return rdma_nl_unicast(req->net, req->msg, NETLINK_CB(req->skb).portid);
}

static int nldev_doit(struct sk_buff *skb, struct nlmsghdr *nlh,
		      struct netlink_ext_ack *extack)
{
	const struct nldev_op *op =
		&nldev_ops[RDMA_NL_GET_OP(nlh->nlmsg_type)];
	struct nlattr *tb[IBEX_NLDEV_ATTR_MAX];
	struct ibcore_nldev_req req = {
		.skb = skb,
		.nlh = nlh,
		.tb = tb,
		.extack = extack,
		.net = sock_net(skb->sk),
		.admin = netlink_capable(skb, CAP_NET_ADMIN),
	};
	int ret;

	/* Not NL_VALIDATE_UNSPEC: what a command does not read is not checked. */
	ret = __nlmsg_parse(nlh, 0, tb, IBEX_NLDEV_ATTR_MAX - 1,
			    ibcore_nldev_policy,
			    op->flags & STRICT ?
			    NL_VALIDATE_STRICT & ~NL_VALIDATE_UNSPEC :
			    NL_VALIDATE_LIBERAL, extack);
	return ret ?: req_run(&req, op);
}

#define NLDEV_DOIT(cmd)							\
	[RDMA_NLDEV_CMD_##cmd] = { .doit = nldev_doit }
#define NLDEV_ADMIN(cmd)						\
	[RDMA_NLDEV_CMD_##cmd] = { .doit = nldev_doit,			\
				   .flags = RDMA_NL_ADMIN_PERM }
#define NLDEV_DUMP(cmd, fn)						\
	[RDMA_NLDEV_CMD_##cmd] = { .doit = nldev_doit,			\
				   .dump = ibcore_nldev_##fn }
#define NLDEV_RAW(cmd)							\
	[RDMA_NLDEV_CMD_##cmd] = { .doit = nldev_doit,			\
				   .dump = ibcore_nldev_res_dump,	\
				   .flags = RDMA_NL_ADMIN_PERM }

static const struct rdma_nl_cbs nldev_cbs[IBEX_NLDEV_NUM_OPS] = {
	NLDEV_DUMP(GET, dev_dump),
	NLDEV_ADMIN(SET),
	NLDEV_ADMIN(NEWLINK),
	NLDEV_ADMIN(DELLINK),
	NLDEV_ADMIN(NEWDEV),
	NLDEV_ADMIN(DELDEV),
	NLDEV_DUMP(PORT_GET, port_dump),
	NLDEV_DOIT(SYS_GET),
	NLDEV_ADMIN(SYS_SET),
	NLDEV_DOIT(GET_CHARDEV),
	NLDEV_DUMP(RES_GET, res_summary_dump),
	NLDEV_DUMP(RES_QP_GET, res_dump),
	NLDEV_DUMP(RES_CM_ID_GET, res_dump),
	NLDEV_DUMP(RES_CQ_GET, res_dump),
	NLDEV_DUMP(RES_MR_GET, res_dump),
	NLDEV_DUMP(RES_PD_GET, res_dump),
	NLDEV_DUMP(RES_CTX_GET, res_dump),
	NLDEV_DUMP(RES_SRQ_GET, res_dump),
	NLDEV_RAW(RES_QP_GET_RAW),
	NLDEV_RAW(RES_CQ_GET_RAW),
	NLDEV_RAW(RES_MR_GET_RAW),
	NLDEV_RAW(RES_SRQ_GET_RAW),
	NLDEV_DUMP(STAT_GET, stat_dump),
	NLDEV_ADMIN(STAT_SET),
	NLDEV_ADMIN(STAT_DEL),
	NLDEV_DOIT(STAT_GET_STATUS),
};

static int put_event(struct sk_buff *msg, struct ib_device *dev, u32 port,
		     enum rdma_nl_notify_event_type type, const struct net *net)
{
	int cmd = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_MONITOR);
	struct nlmsghdr *nlh;
	int ret;

	nlh = nlmsg_put(msg, 0, 0, cmd, 0, 0);
	if (!nlh || nla_put_u8(msg, RDMA_NLDEV_ATTR_EVENT_TYPE, type))
		return -EMSGSIZE;

	ret = ibcore_nldev_put_handle(msg, dev);
	if (!ret && (type == RDMA_NETDEV_ATTACH_EVENT ||
		     type == RDMA_NETDEV_DETACH_EVENT)) {
		ret = nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, port);
		if (!ret && type == RDMA_NETDEV_ATTACH_EVENT)
			ret = ibcore_nldev_put_netdev(msg, dev, port, net);
	}
	if (!ret)
		nlmsg_end(msg, nlh);
	return ret;
}

/*
 * Sends an event to the listeners, such as rdma-monitor(8), in the device's
 * namespace.  The caller keeps @dev in that namespace, by a registration
 * reference or by holding its unregistration_lock.  @port is 0 if @type
 * concerns the whole device.  May sleep.
 */
void ibcore_nldev_notify(struct ib_device *dev, u32 port,
			 enum rdma_nl_notify_event_type type)
{
	struct net *net = read_pnet(&dev->coredev.rdma_net);
	struct sk_buff *msg;

	msg = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg || put_event(msg, dev, port, type, net)) {
		dev_warn_ratelimited(&dev->dev,
				     "no memory to report event %d\n", type);
		nlmsg_free(msg);
		return;
	}
	/*
	 * It is no error if there is no listener; a listener that is too slow
	 * gets ENOBUFS.
	 */
	rdma_nl_multicast(net, msg, RDMA_NL_GROUP_NOTIFY, GFP_KERNEL);
}

int ibcore_nldev_init(void)
{
	rdma_nl_register(RDMA_NL_NLDEV, nldev_cbs);
	return 0;
}

void ibcore_nldev_exit(void)
{
	rdma_nl_unregister(RDMA_NL_NLDEV);
}

MODULE_ALIAS_RDMA_NETLINK(RDMA_NL_NLDEV, 5);
