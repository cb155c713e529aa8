// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Handlers of the messages that the port mapper daemon sends.
 *
 * A daemon that starts sends HELLO with its protocol version and gets ours.  Then it
 * requests the mappings (MAPINFO) and gets one message for each, and their number
 * (MAPINFO_NUM).  It responds with the number of mappings that it could restore.  A
 * daemon of version 3 does not send HELLO.
 *
 * The handlers run in the sender's context, in parallel; ib_core ensures that the
 * sender may administer the network.
 */
#include <linux/module.h>
#include <net/netlink.h>
#include <rdma/iw_portmap.h>

#include "iwpm.h"

static u32 iwpm_sender(struct sk_buff *skb)
{
	return NETLINK_CB(skb).portid;
}

static int iwpm_parse(const struct nlmsghdr *nlh, struct iwpm_reply *reply,
		      struct netlink_ext_ack *extack)
{
	int ret = iwpm_msg_parse(nlh, reply, extack);

	if (!ret)
		iwpm_daemon_answered();
	return ret;
}

static int iwpm_check_version(u16 version, struct netlink_ext_ack *extack)
{
	if (version >= IWPM_UABI_VERSION_MIN && version <= IWPM_UABI_VERSION)
		return 0;
	NL_SET_ERR_MSG(extack, "Version not supported");
	return -EPROTONOSUPPORT;
}

/* From now on both sides use the lower of the two versions. */
static int iwpm_hello(struct sk_buff *skb, struct nlmsghdr *nlh,
		      struct netlink_ext_ack *extack)
{
	u32 portid = iwpm_sender(skb);
	struct iwpm_reply reply;
	u16 version;
	int ret;

	ret = iwpm_parse(nlh, &reply, extack);
	if (ret)
		return ret;
	version = min_t(u16, reply.version, IWPM_UABI_VERSION);
	ret = iwpm_check_version(version, extack);
	if (ret)
		return ret;
	iwpm_daemon_found(portid, version, false);
	return iwpm_daemon_send(portid, iwpm_msg_hello(version));
}

static int iwpm_mapinfo(struct sk_buff *skb, struct nlmsghdr *nlh,
			struct netlink_ext_ack *extack)
{
	u32 portid = iwpm_sender(skb);
	struct iwpm_reply reply;
	int ret;

	ret = iwpm_parse(nlh, &reply, extack) ?:
	      iwpm_check_version(reply.version, extack);
	if (ret)
		return ret;
	iwpm_daemon_found(portid, reply.version, false);
	iwpm_port_retell(portid, reply.version);
	return 0;
}

static int iwpm_mapinfo_num(struct sk_buff *skb, struct nlmsghdr *nlh,
			    struct netlink_ext_ack *extack)
{
	struct iwpm_reply reply;
	int ret;

	ret = iwpm_parse(nlh, &reply, extack);
	if (!ret && reply.known < reply.sent)
		pr_warn_ratelimited("iw_cm: the port mapper could not restore %u of %u mappings\n",
				    reply.sent - reply.known, reply.sent);
	return ret;
}

/*
 * The response to a registration, which may have timed out meanwhile: in either case the
 * daemon has registered this client.
 */
static int iwpm_registered(struct sk_buff *skb, struct nlmsghdr *nlh,
			   struct netlink_ext_ack *extack)
{
	u32 portid = iwpm_sender(skb);
	struct iwpm_reply reply;
	int ret;

	ret = iwpm_parse(nlh, &reply, extack);
	if (ret)
		return ret;
	ret = iwpm_check_version(reply.version, extack);
	if (ret)
		reply.err = IWPM_USER_LIB_INFO_ERR;
	if (!reply.err)
		iwpm_daemon_found(portid, reply.version, true);
	iwpm_answered(&reply, RDMA_NL_IWPM_REG_PID, portid);
	return ret;
}

static int iwpm_mapped(struct sk_buff *skb, struct nlmsghdr *nlh,
		       struct netlink_ext_ack *extack)
{
	struct iwpm_reply reply;

	return iwpm_parse(nlh, &reply, extack) ?:
	       iwpm_answered(&reply, RDMA_NL_GET_OP(nlh->nlmsg_type),
			     iwpm_sender(skb));
}

static int iwpm_remote_info(struct sk_buff *skb, struct nlmsghdr *nlh,
			    struct netlink_ext_ack *extack)
{
	struct iwpm_reply reply;
	int ret;

	ret = iwpm_parse(nlh, &reply, extack);
	if (ret || reply.err)
		return ret;
	return iwpm_peer_note(&reply.map.mapped_remote, &reply.map.remote);
}

static int iwpm_handle_err(struct sk_buff *skb, struct nlmsghdr *nlh,
			   struct netlink_ext_ack *extack)
{
	struct iwpm_reply reply;
	int ret;

	ret = iwpm_parse(nlh, &reply, extack);
	if (!ret)
		iwpm_refused(&reply, iwpm_sender(skb));
	return ret;
}

#define IWPM_CB(fn)	{ .doit = (fn), .flags = RDMA_NL_ADMIN_PERM }

static const struct rdma_nl_cbs iwpm_cbs[RDMA_NL_IWPM_NUM_OPS] = {
	[RDMA_NL_IWPM_REG_PID]		= IWPM_CB(iwpm_registered),
	[RDMA_NL_IWPM_ADD_MAPPING]	= IWPM_CB(iwpm_mapped),
	[RDMA_NL_IWPM_QUERY_MAPPING]	= IWPM_CB(iwpm_mapped),
	[RDMA_NL_IWPM_REMOTE_INFO]	= IWPM_CB(iwpm_remote_info),
	[RDMA_NL_IWPM_HANDLE_ERR]	= IWPM_CB(iwpm_handle_err),
	[RDMA_NL_IWPM_MAPINFO]		= IWPM_CB(iwpm_mapinfo),
	[RDMA_NL_IWPM_MAPINFO_NUM]	= IWPM_CB(iwpm_mapinfo_num),
	[RDMA_NL_IWPM_HELLO]		= IWPM_CB(iwpm_hello),
};

int iwpm_start(void)
{
	int ret;

	iwpm_port_start();
	iwpm_peer_start();
	ret = iwpm_daemon_start();
	if (!ret)
		rdma_nl_register(RDMA_NL_IWCM, iwpm_cbs);
	return ret;
}

/*
 * Why no user of the client is left:
 * (1) No id is left, so that no request is made or waits, and no port has a user.
 * (2) rdma_nl_unregister(): no message of the daemon is being handled or will be.
 * (3) So no message to it is queued any more; iwpm_daemon_stop() waits for the work.
 * (4) iwpm_peer_stop() frees the addresses of peers.
 */
void iwpm_stop(void)
{
	rdma_nl_unregister(RDMA_NL_IWCM);
	iwpm_daemon_stop();
	iwpm_port_stop();
	iwpm_peer_stop();
}

MODULE_ALIAS_RDMA_NETLINK(RDMA_NL_IWCM, 2);
