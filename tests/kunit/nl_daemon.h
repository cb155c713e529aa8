/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_NL_DAEMON_H
#define IBEX_NL_DAEMON_H

/* A daemon's socket in a group of RDMA netlink, with a file and thus credentials. */
#include <linux/file.h>
#include <linux/net.h>
#include <net/net_namespace.h>
#include <net/netlink.h>
#include <net/sock.h>
#include <rdma/rdma_netlink.h>

struct nl_daemon {
	struct file *file;
	struct socket *sock;
};

static inline void nld_close(struct nl_daemon *nld)
{
	if (nld->file)
		__fput_sync(nld->file);
	memset(nld, 0, sizeof(*nld));
}

static inline int nld_open(struct nl_daemon *nld, unsigned int group)
{
	struct sockaddr_nl me = {
		.nl_family = AF_NETLINK,
		.nl_groups = BIT(group - 1),
	};
	struct file *file;
	int ret;

	memset(nld, 0, sizeof(*nld));
	ret = sock_create_kern(&init_net, AF_NETLINK, SOCK_RAW, NETLINK_RDMA,
			       &nld->sock);
	if (ret)
		return ret;
	file = sock_alloc_file(nld->sock, 0, NULL);
	if (IS_ERR(file))
		return PTR_ERR(file);
	nld->file = file;
	ret = kernel_bind(nld->sock, (struct sockaddr *)&me, sizeof(me));
	if (ret)
		nld_close(nld);
	return ret;
}

/* Receives the next message, if there is one. */
static inline bool nld_receive(struct nl_daemon *nld, void *buf, size_t len)
{
	struct kvec vec = { .iov_base = buf, .iov_len = len };
	struct msghdr hdr = {};

	return kernel_recvmsg(nld->sock, &hdr, &vec, 1, len, MSG_DONTWAIT) >=
	       NLMSG_HDRLEN;
}

/* Sends @skb to the kernel and to @groups; consumes @skb. */
static inline int nld_send(struct nl_daemon *nld, struct sk_buff *skb, u32 groups)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK, .nl_groups = groups };
	struct msghdr hdr = { .msg_name = &to, .msg_namelen = sizeof(to) };
	struct kvec vec = { .iov_base = skb->data, .iov_len = skb->len };
	int ret = kernel_sendmsg(nld->sock, &hdr, &vec, 1, skb->len);

	kfree_skb(skb);
	return min(ret, 0);
}

#endif
