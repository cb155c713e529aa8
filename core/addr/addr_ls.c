// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The GID of a destination behind an IB router.  IP only knows the router as next hop
 * of a destination that is not on link; the local service may know the GID.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <net/netlink.h>
#include <rdma/ib_addr.h>

#include "addr/addr.h"
#include "device/device.h"

/* Offset of the GID in an IPoIB link address: RFC 4391, section 9.1.1 */
#define ADDR_LS_GID_OFFSET	4

static int addr_ls_dgid(void *context, int type, const void *data, int len)
{
	struct ibcore_addr_ls *ls = context;

	if (type != LS_NLA_TYPE_DGID)
		return -EOPNOTSUPP;
	if (len != sizeof(ls->dgid))
		return -EINVAL;
	memcpy(&ls->dgid, data, sizeof(ls->dgid));
	return 0;
}

static int addr_ls_answered(struct ibcore_ls_question *question,
			    const struct nlmsghdr *nlh)
{
	struct ibcore_addr_ls *ls =
		container_of(question, struct ibcore_addr_ls, question);
	int ret = ibcore_ls_parse(nlh, addr_ls_dgid, ls);

	if (ret)
		return ret;
	/* Connections need the GID of a single port. */
	if (rdma_is_zero_gid(&ls->dgid) ||
	    rdma_is_multicast_addr((struct in6_addr *)ls->dgid.raw))
		return -EINVAL;
	return 0;
}

static void addr_ls_ended(struct ibcore_ls_question *question, int status)
{
	struct ibcore_addr_ls *ls =
		container_of(question, struct ibcore_addr_ls, question);

	spin_lock_bh(&ls->lock);
	ls->state = status ? IBCORE_ADDR_LS_FAILED : IBCORE_ADDR_LS_ANSWERED;
	if (!ls->closed)
		mod_delayed_work(question->wq, ls->work, 0);
	spin_unlock_bh(&ls->lock);
	ibcore_addr_ls_put(ls);
}

static const struct ibcore_ls_ops addr_ls_ops = {
	.answered = addr_ls_answered,
	.ended = addr_ls_ended,
};

/* @ls is zeroed.  @work is queued on @wq when the question has ended. */
void ibcore_addr_ls_init(struct ibcore_addr_ls *ls, struct workqueue_struct *wq,
			 struct delayed_work *work)
{
	spin_lock_init(&ls->lock);
	ls->work = work;
	ls->question.ops = &addr_ls_ops;
	ls->question.wq = wq;
}

static struct sk_buff *addr_ls_build(const struct sockaddr *dst, int ifindex)
{
	struct rdma_ls_ip_resolve_header header = { .ifindex = ifindex };
	struct sk_buff *skb;

	skb = ibcore_ls_new(RDMA_NL_LS_OP_IP_RESOLVE, &header, sizeof(header),
			    nla_total_size(sizeof(struct in6_addr)),
			    GFP_ATOMIC);
	if (!skb)
		return NULL;
	if (dst->sa_family == AF_INET)
		ibcore_ls_put(skb, LS_NLA_TYPE_IPV4, sizeof(struct in_addr),
			      &((const struct sockaddr_in *)dst)->sin_addr);
	else
		ibcore_ls_put(skb, LS_NLA_TYPE_IPV6, sizeof(struct in6_addr),
			      &((const struct sockaddr_in6 *)dst)->sin6_addr);
	return skb;
}

/* Sends the question, at most once. */
static int addr_ls_ask(struct ibcore_addr_ls *ls, const struct sockaddr *dst,
		       int ifindex)
{
	struct sk_buff *skb;

	if (!rdma_nl_chk_listeners(RDMA_NL_GROUP_LS))
		return -EADDRNOTAVAIL;
	skb = addr_ls_build(dst, ifindex);
	if (!skb)
		return -ENOMEM;
	ls->ifindex = ifindex;
	/* Set before addr_ls_ended() can run. */
	ls->state = IBCORE_ADDR_LS_ASKED;
	ibcore_addr_ls_get(ls);
	if (!ibcore_ls_ask(&ls->question, skb, GFP_ATOMIC))
		return -ENODATA;
	ls->state = IBCORE_ADDR_LS_FAILED;
	ibcore_addr_ls_put(ls);
	return -ENOMEM;
}

/*
 * Copies the GID of @dst, which is behind an IB router, into the link address @ha, which
 * is MAX_ADDR_LEN zeroes.  @ifindex is the route's net_device in init_net.  Returns
 * -ENODATA while the local service is being queried; its response will queue the work.
 * Returns -EADDRNOTAVAIL if the service does not listen, does not know @dst, or was
 * queried for another net_device.  Only called by the request's work, under
 * rcu_read_lock.
 */
int ibcore_addr_ls_resolve(struct ibcore_addr_ls *ls, const struct sockaddr *dst,
			   int ifindex, u8 *ha)
{
	enum ibcore_addr_ls_state state;

	spin_lock_bh(&ls->lock);
	state = ls->state;
	spin_unlock_bh(&ls->lock);
	switch (state) {
	case IBCORE_ADDR_LS_UNASKED:
		return addr_ls_ask(ls, dst, ifindex);
	case IBCORE_ADDR_LS_ASKED:
		return -ENODATA;
	case IBCORE_ADDR_LS_ANSWERED:
		if (ls->ifindex != ifindex)
			return -EADDRNOTAVAIL;
		memcpy(ha + ADDR_LS_GID_OFFSET, &ls->dgid, sizeof(ls->dgid));
		return 0;
	default:
		return -EADDRNOTAVAIL;
	}
}

/*
 * Afterwards no response queues the work; the caller may cancel work queued before.
 * Must not run concurrently with ibcore_addr_ls_resolve().
 */
void ibcore_addr_ls_close(struct ibcore_addr_ls *ls)
{
	spin_lock_bh(&ls->lock);
	ls->closed = true;
	spin_unlock_bh(&ls->lock);
	ibcore_ls_cancel(&ls->question);
}
