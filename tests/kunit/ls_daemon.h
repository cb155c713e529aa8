/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_LS_DAEMON_H
#define IBEX_LS_DAEMON_H

/*
 * A local service: a socket in RDMA_NL_GROUP_LS that receives requests and sends its
 * responses to the group, without NLM_F_REQUEST, as ibacm(8) does.
 */
#include <linux/delay.h>
#include <rdma/ib_user_sa.h>
#include "nl_daemon.h"

#define LSD_NO_ACK	1		/* the result if there is no acknowledgment */

struct ls_daemon {
	struct nl_daemon nl;
	bool alone;			/* sends to the kernel only, not to the group */
	u8 buf[512] __aligned(8);	/* the last message */
};

static inline void lsd_close(struct ls_daemon *lsd)
{
	nld_close(&lsd->nl);
	memset(lsd, 0, sizeof(*lsd));
}

static inline int lsd_open(struct ls_daemon *lsd)
{
	memset(lsd, 0, sizeof(*lsd));
	return nld_open(&lsd->nl, RDMA_NL_GROUP_LS);
}

static inline struct nlmsghdr *lsd_msg(struct ls_daemon *lsd)
{
	return (struct nlmsghdr *)lsd->buf;
}

/* Receives the next message, if there is one. */
static inline bool lsd_receive(struct ls_daemon *lsd)
{
	return nld_receive(&lsd->nl, lsd->buf, sizeof(lsd->buf));
}

/* Waits up to a second for a request. */
static inline bool lsd_question(struct ls_daemon *lsd)
{
	int i;

	for (i = 0; i < 1000; i++) {
		while (lsd_receive(lsd))
			if (RDMA_NL_GET_CLIENT(lsd_msg(lsd)->nlmsg_type) ==
			    RDMA_NL_LS)
				return true;
		usleep_range(1000, 2000);
	}
	return false;
}

static inline struct sk_buff *lsd_new(u8 op, u32 seq, u16 flags)
{
	struct sk_buff *skb = nlmsg_new(1024, GFP_KERNEL | __GFP_NOFAIL);

	nlmsg_put(skb, 0, seq, RDMA_NL_GET_TYPE(RDMA_NL_LS, op), 0, flags);
	return skb;
}

/* A response to the last request. */
static inline struct sk_buff *lsd_answer(struct ls_daemon *lsd, u16 flags)
{
	const struct nlmsghdr *nlh = lsd_msg(lsd);

	return lsd_new(RDMA_NL_GET_OP(nlh->nlmsg_type), nlh->nlmsg_seq, flags);
}

/*
 * Sends and consumes @skb; returns the kernel's acknowledgment or LSD_NO_ACK.  Messages
 * that were queued before are lost.
 */
static inline int lsd_send(struct ls_daemon *lsd, struct sk_buff *skb)
{
	u8 saved[sizeof(lsd->buf)];
	int ret;

	nlmsg_end(skb, nlmsg_hdr(skb));
	ret = nld_send(&lsd->nl, skb, lsd->alone ? 0 : BIT(RDMA_NL_GROUP_LS - 1));
	if (ret < 0)
		return ret;
	/* The last request stays in buf. */
	memcpy(saved, lsd->buf, sizeof(saved));
	ret = LSD_NO_ACK;
	while (ret == LSD_NO_ACK && lsd_receive(lsd))
		if (lsd_msg(lsd)->nlmsg_type == NLMSG_ERROR)
			ret = ((struct nlmsgerr *)nlmsg_data(lsd_msg(lsd)))->error;
	memcpy(lsd->buf, saved, sizeof(saved));
	return ret;
}

static inline int lsd_refuse(struct ls_daemon *lsd)
{
	return lsd_send(lsd, lsd_answer(lsd, RDMA_NL_LS_F_ERR));
}

static inline int lsd_set_timeout(struct ls_daemon *lsd, u32 ms)
{
	struct sk_buff *skb = lsd_new(RDMA_NL_LS_OP_SET_TIMEOUT, 0, NLM_F_ACK);

	nla_put_u32(skb, LS_NLA_TYPE_TIMEOUT, ms);
	return lsd_send(lsd, skb);
}

/* Returns attribute @type of the last request, behind @header bytes; or NULL. */
static inline const struct nlattr *lsd_attr(struct ls_daemon *lsd, int header,
					    int type)
{
	const struct nlmsghdr *nlh = lsd_msg(lsd);
	const struct nlattr *nla;
	int rem;

	nla_for_each_attr(nla, nlmsg_attrdata(nlh, header),
			  nlmsg_attrlen(nlh, header), rem)
		if (nla->nla_type == (type | RDMA_NLA_F_MANDATORY))
			return nla;
	return NULL;
}

#endif
