// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* RDMA netlink: ports, rdma-link(8) show. */
#include <net/netlink.h>
#include <net/sock.h>

#include "netlink/nldev.h"

/* Attributes that only an InfiniBand port has: PortInfo, IBA 14.2.5.6. */
static int put_ib_port(struct sk_buff *msg, const struct ib_port_attr *attr)
{
	u64 caps = attr->port_cap_flags | (u64)attr->port_cap_flags2 << 32;

	if (ibcore_nldev_put_u64(msg, RDMA_NLDEV_ATTR_CAP_FLAGS, caps) ||
	    ibcore_nldev_put_u64(msg, RDMA_NLDEV_ATTR_SUBNET_PREFIX,
				 attr->subnet_prefix) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_LID, attr->lid) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_SM_LID, attr->sm_lid) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_LMC, attr->lmc))
		return -EMSGSIZE;
	return 0;
}

static int put_port(struct sk_buff *msg, struct ib_device *dev, u32 port,
		    const struct net *net)
{
	struct ib_port_attr attr;
	int ret;

	if (ibcore_nldev_put_handle(msg, dev) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, port))
		return -EMSGSIZE;

	ret = ib_query_port(dev, port, &attr);
	if (ret)
		return ret;
	if (rdma_protocol_ib(dev, port) && put_ib_port(msg, &attr))
		return -EMSGSIZE;
	if (nla_put_u8(msg, RDMA_NLDEV_ATTR_PORT_STATE, attr.state) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, attr.phys_state))
		return -EMSGSIZE;
	return ibcore_nldev_put_netdev(msg, dev, port, net);
}

int ibcore_nldev_port_get(struct ibcore_nldev_req *req)
{
	return put_port(req->msg, req->dev, req->port, req->net);
}

static int dump_port(struct sk_buff *skb, struct netlink_callback *cb,
		     struct ib_device *dev, u32 port)
{
	struct nlmsghdr *nlh;
	int ret;

	nlh = nlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			cb->nlh->nlmsg_type, 0, NLM_F_MULTI);
	if (!nlh)
		return -EMSGSIZE;

	ret = put_port(skb, dev, port, sock_net(skb->sk));
	if (ret)
		nlmsg_cancel(skb, nlh);
	else
		nlmsg_end(skb, nlh);
	return ret;
}

/* Dumps the ports of one device. cb->args[0] is how many ports were dumped before. */
int ibcore_nldev_port_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *tb[IBEX_NLDEV_ATTR_MAX];
	struct ib_device *dev;
	u32 port;
	int ret;

	ret = ibcore_nldev_dump_parse(cb, tb);
	if (ret)
		return ret;
	dev = ibcore_nldev_get_dev(sock_net(skb->sk), tb);
	if (IS_ERR(dev))
		return PTR_ERR(dev);

	for (port = rdma_start_port(dev) + cb->args[0];
	     port <= rdma_end_port(dev); port++) {
		ret = dump_port(skb, cb, dev, port);
		if (ret)
			break;
		cb->args[0]++;
	}
	ib_device_put(dev);
	return skb->len ?: ret;
}
