// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* RDMA netlink: devices, rdma-dev(8). */
#include <net/netlink.h>
#include <net/sock.h>

#include "device/device.h"
#include "netlink/nldev.h"

/* Looks at the first port: all ports of a device use the same protocol. */
static const char *dev_protocol(struct ib_device *dev)
{
	u32 port = rdma_start_port(dev);

	if (rdma_cap_opa_mad(dev, port))
		return "opa";
	if (rdma_protocol_ib(dev, port))
		return "ib";
	if (rdma_protocol_iwarp(dev, port))
		return "iw";
	if (rdma_protocol_roce(dev, port))
		return "roce";
	if (rdma_protocol_usnic(dev, port))
		return "usnic";
	return NULL;
}

static int put_names(struct sk_buff *msg, struct ib_device *dev)
{
	const char *protocol = dev_protocol(dev);
	char fw[IB_FW_VERSION_NAME_MAX] = {};

	ib_get_device_fw_str(dev, fw);
	if (fw[0] && nla_put_string(msg, RDMA_NLDEV_ATTR_FW_VERSION, fw))
		return -EMSGSIZE;
	if (protocol &&
	    nla_put_string(msg, RDMA_NLDEV_ATTR_DEV_PROTOCOL, protocol))
		return -EMSGSIZE;
	if (!ibex_parent(dev))
		return 0;
	if (nla_put_u8(msg, RDMA_NLDEV_ATTR_DEV_TYPE, ibex_sub_device_type(dev)) ||
	    ibcore_nldev_put_name(msg, RDMA_NLDEV_ATTR_PARENT_NAME,
				  ibex_parent(dev)))
		return -EMSGSIZE;
	return 0;
}

static int put_dev(struct sk_buff *msg, struct ib_device *dev)
{
	if (ibcore_nldev_put_handle(msg, dev) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, rdma_end_port(dev)) ||
	    ibcore_nldev_put_u64(msg, RDMA_NLDEV_ATTR_CAP_FLAGS,
				 dev->attrs.device_cap_flags) ||
	    ibcore_nldev_put_u64(msg, RDMA_NLDEV_ATTR_NODE_GUID,
				 be64_to_cpu(dev->node_guid)) ||
	    ibcore_nldev_put_u64(msg, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID,
				 be64_to_cpu(dev->attrs.sys_image_guid)) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, dev->node_type) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_DEV_DIM, dev->use_cq_dim) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_NAME_ASSIGN_TYPE,
		       ibex_name_assign_type(dev)))
		return -EMSGSIZE;
	return put_names(msg, dev);
}

int ibcore_nldev_dev_get(struct ibcore_nldev_req *req)
{
	return put_dev(req->msg, req->dev);
}

struct dump_arg {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	ibcore_nldev_put_fn put;
};

/*
 * Adds one message for @dev. cb->args[0] is the device index where the next
 * page begins.
 */
static int dump_one(struct ib_device *dev, void *data)
{
	struct dump_arg *arg = data;
	struct nlmsghdr *nlh;

	arg->cb->args[0] = dev->index;
	nlh = nlmsg_put(arg->skb, NETLINK_CB(arg->cb->skb).portid,
			arg->cb->nlh->nlmsg_seq, arg->cb->nlh->nlmsg_type, 0,
			NLM_F_MULTI);
	if (!nlh)
		return -EMSGSIZE;
	if (arg->put(arg->skb, dev)) {
		nlmsg_cancel(arg->skb, nlh);
		return -EMSGSIZE;
	}
	nlmsg_end(arg->skb, nlh);
	arg->cb->args[0] = (unsigned long)dev->index + 1;
	return 0;
}

int ibcore_nldev_dump_devs(struct sk_buff *skb, struct netlink_callback *cb,
			   ibcore_nldev_put_fn put)
{
	struct dump_arg arg = { .skb = skb, .cb = cb, .put = put };
	int ret;

	if (cb->args[0] > U32_MAX)
		return 0;
	ret = ibcore_walk_devices(sock_net(skb->sk), cb->args[0], dump_one,
				  &arg);
	/* Netlink requests another page if this one is not empty. */
	return skb->len ?: ret;
}

int ibcore_nldev_dev_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return ibcore_nldev_dump_devs(skb, cb, put_dev);
}

static DEFINE_MUTEX(dim_mutex);

/*
 * Applies to CQs created from now on; has no effect if the driver cannot
 * moderate CQs.  The bit shares a word with other bits, but after registration
 * only requests from userspace write that word.
 */
static int set_dim(struct ib_device *dev, u8 on)
{
	if (on > 1)
		return -EINVAL;
	mutex_lock(&dim_mutex);
	dev->use_cq_dim = on;
	mutex_unlock(&dim_mutex);
	return 0;
}

static int set_name(struct ib_device *dev, const struct nlattr *attr)
{
	char name[IB_DEVICE_NAME_MAX];

	nla_strscpy(name, attr, sizeof(name));
	if (!name[0])
		return -EINVAL;
	return ibcore_device_rename(dev, name);
}

/* Changes only the first attribute found: rdma(8) sends only one. */
int ibcore_nldev_dev_set(struct ibcore_nldev_req *req)
{
	struct nlattr **tb = req->tb;
	struct ib_device *dev = req->dev;

	if (tb[RDMA_NLDEV_ATTR_DEV_NAME])
		return set_name(dev, tb[RDMA_NLDEV_ATTR_DEV_NAME]);

	if (tb[RDMA_NLDEV_NET_NS_FD]) {
		req->dev = NULL;
		return ibcore_device_set_netns(req->skb, dev,
				nla_get_u32(tb[RDMA_NLDEV_NET_NS_FD]));
	}

	if (tb[RDMA_NLDEV_ATTR_DEV_DIM])
		return set_dim(dev, nla_get_u8(tb[RDMA_NLDEV_ATTR_DEV_DIM]));
	return 0;
}

int ibcore_nldev_newdev(struct ibcore_nldev_req *req)
{
	struct nlattr **tb = req->tb;
	char name[IB_DEVICE_NAME_MAX];

	if (!tb[RDMA_NLDEV_ATTR_DEV_NAME] || !tb[RDMA_NLDEV_ATTR_DEV_TYPE])
		return -EINVAL;

	nla_strscpy(name, tb[RDMA_NLDEV_ATTR_DEV_NAME], sizeof(name));
	return ib_add_sub_device(req->dev,
				 nla_get_u8(tb[RDMA_NLDEV_ATTR_DEV_TYPE]),
				 name);
}

int ibcore_nldev_deldev(struct ibcore_nldev_req *req)
{
	struct ib_device *dev = req->dev;

	req->dev = NULL;
	return ib_del_sub_device_and_put(dev);
}
