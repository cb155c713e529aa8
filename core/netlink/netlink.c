// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * NETLINK_RDMA: one kernel socket for each network namespace, and the clients
 * (port mapper, local service, nldev) that its messages are dispatched to.
 *
 * A client's callbacks run in the sender's context, in parallel.  Each client
 * has its own semaphore, so that unregistering a client, from its module's
 * exit, waits only for its own callbacks: a callback of another client may be
 * loading a module that depends on the module that exits.
 */
#include <linux/module.h>
#include <net/netlink.h>
#include <net/sock.h>

#include "device/device.h"
#include "netlink/nldev.h"

struct nl_client {
	struct rw_semaphore sem;		/* held for reading by callbacks */
	const struct rdma_nl_cbs *cbs;		/* protected by sem */
};

/* Number of operations of each client: the length of its table. */
static const unsigned int nl_num_ops[RDMA_NL_NUM_CLIENTS] = {
	[RDMA_NL_IWCM] = RDMA_NL_IWPM_NUM_OPS,
	[RDMA_NL_LS] = RDMA_NL_LS_NUM_OPS,
	[RDMA_NL_NLDEV] = IBEX_NLDEV_NUM_OPS,
};

static struct nl_client nl_clients[RDMA_NL_NUM_CLIENTS];

/* How long rdma_nl_unicast_wait() waits for room in a receiver's queue. */
#define NL_SEND_TIMEOUT (10 * HZ)

static struct sock *nl_sock(const struct net *net)
{
	struct ibcore_net *cnet = net_generic(net, ibcore_net_id);

	return cnet->nl_sock;
}

/**
 * rdma_nl_chk_listeners() - check whether a group has listeners
 * @group: RDMA_NL_GROUP_
 *
 * Context: any.
 * Return: true if a socket of the initial network namespace listens.
 */
bool rdma_nl_chk_listeners(unsigned int group)
{
	return netlink_has_listeners(nl_sock(&init_net), group);
}
EXPORT_SYMBOL(rdma_nl_chk_listeners);

/**
 * rdma_nl_register() - register a client's callbacks
 * @index: RDMA_NL_ number of the client
 * @cb_table: one entry for each operation; must exist until
 *	rdma_nl_unregister()
 *
 * Context: process, may sleep.
 */
void rdma_nl_register(unsigned int index, const struct rdma_nl_cbs cb_table[])
{
	struct nl_client *client;

	if (WARN_ON(index >= RDMA_NL_NUM_CLIENTS || !nl_num_ops[index]))
		return;

	client = &nl_clients[index];
	down_write(&client->sem);
	if (!WARN_ON(client->cbs))
		client->cbs = cb_table;
	up_write(&client->sem);
}
EXPORT_SYMBOL(rdma_nl_register);

/**
 * rdma_nl_unregister() - unregister a client's callbacks
 * @index: RDMA_NL_ number of the client
 *
 * On return none of the client's callbacks is running or will be called.
 *
 * Context: process, sleeps until running callbacks have returned.
 */
void rdma_nl_unregister(unsigned int index)
{
	struct nl_client *client;

	if (WARN_ON(index >= RDMA_NL_NUM_CLIENTS))
		return;

	client = &nl_clients[index];
	down_write(&client->sem);
	client->cbs = NULL;
	up_write(&client->sem);
}
EXPORT_SYMBOL(rdma_nl_unregister);

/**
 * ibnl_put_msg() - start a message
 * @skb: buffer
 * @nlh: set to the message's header
 * @seq: sequence number
 * @len: bytes of payload to reserve
 * @client: RDMA_NL_ number of the client
 * @op: the client's operation
 * @flags: NLM_F_
 *
 * Context: any.
 * Return: the payload, or NULL if @skb is full.
 */
void *ibnl_put_msg(struct sk_buff *skb, struct nlmsghdr **nlh, int seq,
		   int len, int client, int op, int flags)
{
	struct nlmsghdr *hdr;

	hdr = nlmsg_put(skb, 0, seq, RDMA_NL_GET_TYPE(client, op), len, flags);
	if (!hdr)
		return NULL;
	*nlh = hdr;
	return nlmsg_data(hdr);
}
EXPORT_SYMBOL(ibnl_put_msg);

/**
 * ibnl_put_attr() - append an attribute to a message
 * @skb: buffer
 * @nlh: header of the last message in @skb
 * @len: bytes of @data
 * @data: the attribute's payload
 * @type: the attribute's type
 *
 * Context: any.
 * Return: 0, or -EMSGSIZE if @skb is full.
 */
int ibnl_put_attr(struct sk_buff *skb, struct nlmsghdr *nlh, int len,
		  void *data, int type)
{
	int ret = nla_put(skb, type, len, data);

	if (!ret)
		nlmsg_end(skb, nlh);
	return ret;
}
EXPORT_SYMBOL(ibnl_put_attr);

/**
 * rdma_nl_unicast() - send a message to one socket, without waiting
 * @net: namespace of the socket
 * @skb: message; consumed
 * @pid: the socket's netlink port
 *
 * Context: any but hardirq.
 * Return: 0, -ECONNREFUSED if there is no such socket, -EAGAIN if its queue is
 * full.
 */
int rdma_nl_unicast(struct net *net, struct sk_buff *skb, u32 pid)
{
	int ret = netlink_unicast(nl_sock(net), skb, pid, MSG_DONTWAIT);

	return min(ret, 0);
}
EXPORT_SYMBOL(rdma_nl_unicast);

/**
 * rdma_nl_unicast_wait() - send a message to one socket, waiting for room
 * @net: namespace of the socket
 * @skb: message; consumed
 * @pid: the socket's netlink port
 *
 * Context: process, sleeps up to 10 seconds.
 * Return: 0, -ECONNREFUSED if there is no such socket, -EAGAIN if its queue
 * stays full.
 */
int rdma_nl_unicast_wait(struct net *net, struct sk_buff *skb, __u32 pid)
{
	int ret = netlink_unicast(nl_sock(net), skb, pid, 0);

	return min(ret, 0);
}
EXPORT_SYMBOL(rdma_nl_unicast_wait);

/**
 * rdma_nl_multicast() - send a message to a group
 * @net: namespace whose listeners get the message
 * @skb: message; consumed
 * @group: RDMA_NL_GROUP_
 * @flags: allocation flags for the copies
 *
 * Context: as @flags says.
 * Return: 0, -ESRCH if the group has no listeners.
 */
int rdma_nl_multicast(struct net *net, struct sk_buff *skb, unsigned int group,
		      gfp_t flags)
{
	return nlmsg_multicast(nl_sock(net), skb, 0, group, flags);
}
EXPORT_SYMBOL(rdma_nl_multicast);

/*
 * The port mapper and the local service do not support namespaces: their
 * daemons run in the initial one.
 */
static bool nl_allowed_in(const struct net *net, unsigned int index)
{
	return index == RDMA_NL_NLDEV || net_eq(net, &init_net);
}

/* Returns the client with its semaphore held, or NULL.  Loads its module if needed. */
static struct nl_client *nl_client_get(const struct net *net,
				       unsigned int index, unsigned int op)
{
	struct nl_client *client;

	if (index >= RDMA_NL_NUM_CLIENTS || op >= nl_num_ops[index] ||
	    !nl_allowed_in(net, index))
		return NULL;

	client = &nl_clients[index];
	down_read(&client->sem);
	if (client->cbs)
		return client;
	up_read(&client->sem);

	request_module("rdma-netlink-subsys-%u", index);
	down_read(&client->sem);
	if (client->cbs)
		return client;
	up_read(&client->sem);
	return NULL;
}

static int nl_start_dump(struct sk_buff *skb, struct nlmsghdr *nlh,
			 const struct rdma_nl_cbs *cb,
			 struct netlink_ext_ack *extack)
{
	struct netlink_dump_control control = {
		.dump = cb->dump,
		IBEX_DUMP_EXTACK(extack)
	};

	return netlink_dump_start(skb->sk, skb, nlh, &control);
}

static int nl_call(struct sk_buff *skb, struct nlmsghdr *nlh,
		   const struct rdma_nl_cbs *cb, struct netlink_ext_ack *extack)
{
	if ((cb->flags & RDMA_NL_ADMIN_PERM) &&
	    !netlink_capable(skb, CAP_NET_ADMIN))
		return -EPERM;

	/* What cannot be dumped is refused; the command is not carried out instead. */
	if (RDMA_NL_GET_CLIENT(nlh->nlmsg_type) == RDMA_NL_NLDEV && cb->doit && !cb->dump &&
	    (nlh->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP)
		return -EINVAL;
	if (cb->doit && !((nlh->nlmsg_flags & NLM_F_DUMP) && cb->dump))
		return cb->doit(skb, nlh, extack);
	/* An operation that has only a dump callback dumps for every message. */
	if (cb->dump)
		return nl_start_dump(skb, nlh, cb, extack);
	return -EOPNOTSUPP;
}

static int nl_dispatch(struct sk_buff *skb, struct nlmsghdr *nlh,
		       struct netlink_ext_ack *extack)
{
	unsigned int index = RDMA_NL_GET_CLIENT(nlh->nlmsg_type);
	unsigned int op = RDMA_NL_GET_OP(nlh->nlmsg_type);
	struct nl_client *client;
	int ret;

	client = nl_client_get(sock_net(skb->sk), index, op);
	if (!client)
		return -EINVAL;

	ret = nl_call(skb, nlh, &client->cbs[op], extack);
	up_read(&client->sem);
	return ret;
}

/*
 * Messages of the local service's daemon are replies to the kernel's requests,
 * without NLM_F_REQUEST.
 */
static bool nl_is_for_us(const struct nlmsghdr *nlh)
{
	return nlh->nlmsg_type >= NLMSG_MIN_TYPE &&
	       ((nlh->nlmsg_flags & NLM_F_REQUEST) ||
		RDMA_NL_GET_CLIENT(nlh->nlmsg_type) == RDMA_NL_LS);
}

static void nl_receive(struct sk_buff *skb)
{
	struct netlink_ext_ack extack;
	struct nlmsghdr *nlh;
	unsigned int len;
	int err;

	while (skb->len >= nlmsg_total_size(0)) {
		nlh = nlmsg_hdr(skb);
		if (nlh->nlmsg_len < NLMSG_HDRLEN || skb->len < nlh->nlmsg_len)
			return;

		memset(&extack, 0, sizeof(extack));
		err = nl_is_for_us(nlh) ? nl_dispatch(skb, nlh, &extack) : 0;
		/* -EINTR: a dump has started, and acknowledges the message itself */
		if (err != -EINTR && (err || (nlh->nlmsg_flags & NLM_F_ACK)))
			netlink_ack(skb, nlh, err, &extack);

		len = NLMSG_ALIGN(nlh->nlmsg_len);
		skb_pull(skb, min(len, skb->len));
	}
}

/* Called when a namespace is created; @cnet->net is set. */
int ibcore_nl_net_init(struct ibcore_net *cnet)
{
	struct netlink_kernel_cfg cfg = {
		.input = nl_receive,
	};
	struct sock *sk;

	sk = netlink_kernel_create(read_pnet(&cnet->net), NETLINK_RDMA, &cfg);
	if (!sk)
		return -ENOMEM;

	sk->sk_sndtimeo = NL_SEND_TIMEOUT;
	cnet->nl_sock = sk;
	return 0;
}

/* Called when a namespace exits: it has no device and no user socket any more. */
void ibcore_nl_net_exit(struct ibcore_net *cnet)
{
	netlink_kernel_release(cnet->nl_sock);
	cnet->nl_sock = NULL;
}

/* Called before the first namespace is set up. */
int ibcore_nl_init(void)
{
	int i;

	for (i = 0; i < RDMA_NL_NUM_CLIENTS; i++)
		init_rwsem(&nl_clients[i].sem);
	return 0;
}

/*
 * Called after the last namespace has exited.  No client is registered any
 * more, because every client's module depends on this one.
 */
void ibcore_nl_exit(void)
{
	int i;

	for (i = 0; i < RDMA_NL_NUM_CLIENTS; i++)
		WARN(nl_clients[i].cbs, "netlink client %d still registered\n",
		     i);
}

MODULE_ALIAS_NET_PF_PROTO(PF_NETLINK, NETLINK_RDMA);
