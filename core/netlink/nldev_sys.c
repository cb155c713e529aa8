// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* RDMA netlink: rdma-system(8), and the character devices of clients. */
#include <linux/types.h>
#include <linux/kdev_t.h>
#include <net/netlink.h>

#include "device/device.h"
#include "netlink/nldev.h"

static bool sys_privileged_qkey;

/**
 * rdma_nl_get_privileged_qkey() - get who may set privileged Q_Keys
 *
 * A Q_Key with the high bit set is for privileged consumers (IBA 10.2.5).
 *
 * Context: any.
 * Return: true if processes with CAP_NET_RAW may set one, false if only the
 * kernel may.
 */
bool rdma_nl_get_privileged_qkey(void)
{
	return READ_ONCE(sys_privileged_qkey);
}
EXPORT_SYMBOL(rdma_nl_get_privileged_qkey);

int ibcore_nldev_sys_get(struct ibcore_nldev_req *req)
{
	struct sk_buff *msg = req->msg;

	/*
	 * COPY_ON_FORK: since 5.12 the pages of a memory region are copied on
	 * fork(), so that userspace need not madvise() them.  MONITOR_MODE:
	 * this core sends events to monitor.
	 */
	if (nla_put_u8(msg, RDMA_NLDEV_SYS_ATTR_NETNS_MODE,
		       ibcore_netns_shared()) ||
	    nla_put_u8(msg, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, 1) ||
	    nla_put_u8(msg, RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE,
		       rdma_nl_get_privileged_qkey()) ||
	    nla_put_u8(msg, RDMA_NLDEV_SYS_ATTR_MONITOR_MODE, 1))
		return -EMSGSIZE;
	return 0;
}

static bool is_mode(const struct nlattr *attr)
{
	return !attr || nla_get_u8(attr) <= 1;
}

int ibcore_nldev_sys_set(struct ibcore_nldev_req *req)
{
	const struct nlattr *netns, *qkey;
	int ret = 0;

	/* These settings apply to the whole host. */
	if (!net_eq(req->net, &init_net))
		return -EPERM;

	netns = req->tb[RDMA_NLDEV_SYS_ATTR_NETNS_MODE];
	qkey = req->tb[RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE];
	if ((!netns && !qkey) || !is_mode(netns) || !is_mode(qkey))
		return -EINVAL;

	if (netns)
		ret = ibcore_netns_set_shared(nla_get_u8(netns));
	if (!ret && qkey)
		WRITE_ONCE(sys_privileged_qkey, nla_get_u8(qkey));
	return ret;
}

static int put_chardev(struct sk_buff *msg,
		       const struct ib_client_nl_info *info)
{
	if (ibcore_nldev_put_u64(msg, RDMA_NLDEV_ATTR_CHARDEV,
				 huge_encode_dev(info->cdev->devt)) ||
	    ibcore_nldev_put_u64(msg, RDMA_NLDEV_ATTR_CHARDEV_ABI, info->abi) ||
	    nla_put_string(msg, RDMA_NLDEV_ATTR_CHARDEV_NAME,
			   dev_name(info->cdev)))
		return -EMSGSIZE;
	return 0;
}

/* The request has a device index if the character device belongs to an RDMA device. */
static int chardev_of_dev(struct ibcore_nldev_req *req, const char *type,
			  struct ib_client_nl_info *info)
{
	struct nlattr **tb = req->tb;
	struct ib_device *dev;

	if (!tb[RDMA_NLDEV_ATTR_DEV_INDEX])
		return ibcore_client_nl_info(NULL, type, info);

	dev = ibcore_nldev_get_dev(req->net, tb);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	req->dev = dev;

	if (tb[RDMA_NLDEV_ATTR_PORT_INDEX]) {
		info->port = nla_get_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX]);
		if (!rdma_is_port_valid(dev, info->port))
			return -EINVAL;
	}
	if (ibcore_nldev_put_handle(req->msg, dev))
		return -EMSGSIZE;
	return ibcore_client_nl_info(dev, type, info);
}

int ibcore_nldev_chardev_get(struct ibcore_nldev_req *req)
{
	char type[RDMA_NLDEV_ATTR_CHARDEV_TYPE_SIZE];
	struct ib_client_nl_info info = {
		.nl_msg = req->msg,
		.port = U32_MAX,	/* no port was named */
	};
	int ret;

	if (!req->tb[RDMA_NLDEV_ATTR_CHARDEV_TYPE])
		return -EINVAL;
	nla_strscpy(type, req->tb[RDMA_NLDEV_ATTR_CHARDEV_TYPE], sizeof(type));

	ret = chardev_of_dev(req, type, &info);
	if (ret)
		return ret;
	ret = put_chardev(req->msg, &info);
	put_device(info.cdev);
	return ret;
}
