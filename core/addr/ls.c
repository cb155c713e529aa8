// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The local service: questions multicast to RDMA_NL_GROUP_LS, and their responses.
 *
 * A question that waits for a response is in ls_questions, by the sequence number of its
 * message.  Whichever removes it (a response, the timer, a canceller or a failed send)
 * sets its status and queues its work, once; from then on only that work uses it.
 *
 * Only the timers' locks nest in the lock of ls_questions.
 */
#include <linux/slab.h>
#include <linux/xarray.h>
#include <net/netlink.h>
#include <net/net_namespace.h>
#include <ibex/ls.h>

#include "addr/addr.h"
#include "device/device.h"

#define LS_TIMEOUT_MS		2000
#define LS_TIMEOUT_MIN_MS	200
#define LS_TIMEOUT_MAX_MS	200000

static DEFINE_XARRAY_FLAGS(ls_questions, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
static u32 ls_next_seq;			/* under the lock of ls_questions */
static u32 ls_timeout_ms = LS_TIMEOUT_MS;	/* of new questions */

/* Removes @question from ls_questions; returns whether it was still there. */
static bool ls_claim(struct ibcore_ls_question *question)
{
	unsigned long flags;
	bool mine;

	xa_lock_irqsave(&ls_questions, flags);
	mine = question->seq &&
	       xa_load(&ls_questions, question->seq) == question;
	if (mine)
		__xa_erase(&ls_questions, question->seq);
	xa_unlock_irqrestore(&ls_questions, flags);
	return mine;
}

/* Removes and returns the question with number @seq and operation @op, or NULL. */
static struct ibcore_ls_question *ls_take(u32 seq, u8 op)
{
	struct ibcore_ls_question *question;
	unsigned long flags;

	xa_lock_irqsave(&ls_questions, flags);
	question = xa_load(&ls_questions, seq);
	if (question && question->op == op)
		__xa_erase(&ls_questions, seq);
	else
		question = NULL;
	xa_unlock_irqrestore(&ls_questions, flags);
	return question;
}

/* Called after removing @question, which may be freed on return. */
static void ls_complete(struct ibcore_ls_question *question, int status)
{
	question->status = status;
	queue_work(question->wq, &question->work);
}

static void ls_work(struct work_struct *work)
{
	struct ibcore_ls_question *question =
		container_of(work, struct ibcore_ls_question, work);

	/* The timer may be running; it finds that the question has been removed. */
	timer_delete_sync(&question->timer);
	question->ops->ended(question, question->status);
}

static void ls_timeout(struct timer_list *timer)
{
	struct ibcore_ls_question *question = from_timer(question, timer, timer);

	if (ls_claim(question))
		ls_complete(question, -ETIMEDOUT);
}

/**
 * ibcore_ls_new() - allocate the message of a question
 * @op: RDMA_NL_LS_OP_*
 * @header: the operation's header, with which the message begins
 * @len: bytes of @header
 * @room: bytes for attributes, the sum of their nla_total_size()
 * @gfp: allocation flags
 *
 * Context: as @gfp.
 * Return: the message, for ibcore_ls_ask(), or NULL.
 */
struct sk_buff *ibcore_ls_new(u8 op, const void *header, int len, size_t room,
			      gfp_t gfp)
{
	struct sk_buff *skb = nlmsg_new(NLMSG_ALIGN(len) + room, gfp);
	struct nlmsghdr *nlh;

	if (!skb)
		return NULL;
	nlh = nlmsg_put(skb, 0, 0, RDMA_NL_GET_TYPE(RDMA_NL_LS, op), len,
			NLM_F_REQUEST);
	memcpy(nlmsg_data(nlh), header, len);
	return skb;
}
EXPORT_SYMBOL(ibcore_ls_new);

/**
 * ibcore_ls_put() - add a mandatory attribute to a question
 * @skb: from ibcore_ls_new(), with room for the attribute
 * @type: LS_NLA_TYPE_*
 * @len: bytes of @data
 * @data: the attribute's payload
 *
 * Context: any.
 */
void ibcore_ls_put(struct sk_buff *skb, int type, int len, const void *data)
{
	WARN_ON_ONCE(nla_put(skb, type | RDMA_NLA_F_MANDATORY, len, data));
}
EXPORT_SYMBOL(ibcore_ls_put);

/* Allocates a number for a question and reserves its slot in ls_questions. */
static int ls_reserve(u32 *seq, gfp_t gfp)
{
	unsigned long flags;
	int ret;

	xa_lock_irqsave(&ls_questions, flags);
	ret = __xa_alloc_cyclic(&ls_questions, seq, NULL, XA_LIMIT(1, U32_MAX),
				&ls_next_seq, gfp);
	xa_unlock_irqrestore(&ls_questions, flags);
	return min(ret, 0);
}

/**
 * ibcore_ls_ask() - send a question to the local service
 * @question: the caller's, not asked before; must stay valid until ended() is called
 * @skb: the message, from ibcore_ls_new(); consumed
 * @gfp: allocation flags
 *
 * The first response counts.  The timeout is what RDMA_NL_LS_OP_SET_TIMEOUT set last.
 *
 * Context: as @gfp; also with interrupts off; not hard interrupt.
 * Return: 0: ended() will be called, or has been; -ENOMEM.
 */
int ibcore_ls_ask(struct ibcore_ls_question *question, struct sk_buff *skb,
		  gfp_t gfp)
{
	struct nlmsghdr *nlh = nlmsg_hdr(skb);
	u8 op = RDMA_NL_GET_OP(nlh->nlmsg_type);
	unsigned long flags;
	u32 seq;
	int ret;

	ret = ls_reserve(&seq, gfp);
	if (ret) {
		kfree_skb(skb);
		return ret;
	}
	INIT_WORK(&question->work, ls_work);
	timer_setup(&question->timer, ls_timeout, 0);
	question->op = op;
	nlh->nlmsg_seq = seq;
	nlmsg_end(skb, nlh);

	xa_lock_irqsave(&ls_questions, flags);
	question->seq = seq;
	/* ls_reserve() reserved the slot: this allocates nothing. */
	__xa_store(&ls_questions, seq, question, 0);
	mod_timer(&question->timer,
		  jiffies + msecs_to_jiffies(READ_ONCE(ls_timeout_ms)));
	xa_unlock_irqrestore(&ls_questions, flags);

	/* From here on the question may end, and be freed, at any time. */
	ret = rdma_nl_multicast(&init_net, skb, RDMA_NL_GROUP_LS, gfp);
	if (ret) {
		question = ls_take(seq, op);
		if (question)
			ls_complete(question, ret);
	}
	return 0;
}
EXPORT_SYMBOL(ibcore_ls_ask);

/**
 * ibcore_ls_cancel() - stop waiting for a response
 * @question: zeroed memory, or a question that was asked and may have ended
 *
 * Context: any but hard interrupt.
 * Return: true if this ends the question: ended() will be called with -ECANCELED, or
 * has been.  false if it was not asked yet, has ended, or is ending for another reason.
 */
bool ibcore_ls_cancel(struct ibcore_ls_question *question)
{
	if (!ls_claim(question))
		return false;
	ls_complete(question, -ECANCELED);
	return true;
}
EXPORT_SYMBOL(ibcore_ls_cancel);

/**
 * ibcore_ls_parse() - read the attributes of a message of the local service
 * @nlh: the message; only attributes follow its header
 * @attr: called for each attribute in order, with its LS_NLA_TYPE_*; returns 0,
 *	-EOPNOTSUPP if it does not know the type, or another error
 * @context: passed to @attr
 *
 * Context: as @attr.
 * Return: 0, -EINVAL if the attributes' lengths do not fit the message, -EOPNOTSUPP
 * for a mandatory attribute of unknown type, or another error of @attr.
 */
int ibcore_ls_parse(const struct nlmsghdr *nlh,
		    int (*attr)(void *context, int type, const void *data,
				int len),
		    void *context)
{
	const struct nlattr *nla;
	int rem, ret;

	nla_for_each_attr(nla, nlmsg_attrdata(nlh, 0), nlmsg_attrlen(nlh, 0),
			  rem) {
		ret = attr(context, nla->nla_type & RDMA_NLA_TYPE_MASK,
			   nla_data(nla), nla_len(nla));
		if (ret == -EOPNOTSUPP &&
		    !(nla->nla_type & RDMA_NLA_F_MANDATORY))
			continue;
		if (ret)
			return ret;
	}
	return rem > 0 ? -EINVAL : 0;
}
EXPORT_SYMBOL(ibcore_ls_parse);

/* ---- messages from the daemon ---- */

/* Ignores a late, second or unsolicited response. */
static int ls_answer(struct sk_buff *skb, struct nlmsghdr *nlh,
		     struct netlink_ext_ack *extack)
{
	struct ibcore_ls_question *question;
	int ret;

	question = ls_take(nlh->nlmsg_seq, RDMA_NL_GET_OP(nlh->nlmsg_type));
	if (!question)
		return 0;
	if (nlh->nlmsg_flags & RDMA_NL_LS_F_ERR) {
		ls_complete(question, -ENOENT);
		return 0;
	}
	ret = question->ops->answered(question, nlh);
	ls_complete(question, ret);
	return ret;
}

static int ls_timeout_attr(void *context, int type, const void *data, int len)
{
	u32 *ms = context;

	if (type != LS_NLA_TYPE_TIMEOUT)
		return -EOPNOTSUPP;
	if (len != sizeof(*ms))
		return -EINVAL;
	memcpy(ms, data, sizeof(*ms));
	*ms = clamp(*ms, LS_TIMEOUT_MIN_MS, LS_TIMEOUT_MAX_MS);
	return 0;
}

static int ls_set_timeout(struct sk_buff *skb, struct nlmsghdr *nlh,
			  struct netlink_ext_ack *extack)
{
	u32 ms = 0;
	int ret = ibcore_ls_parse(nlh, ls_timeout_attr, &ms);

	if (ret)
		return ret;
	if (!ms)
		return -EINVAL;
	WRITE_ONCE(ls_timeout_ms, ms);
	return 0;
}

/* A response decides where connections lead, so only an administrator may send one. */
static const struct rdma_nl_cbs ls_cbs[RDMA_NL_LS_NUM_OPS] = {
	[RDMA_NL_LS_OP_RESOLVE] = {
		.doit = ls_answer,
		.flags = RDMA_NL_ADMIN_PERM,
	},
	[RDMA_NL_LS_OP_SET_TIMEOUT] = {
		.doit = ls_set_timeout,
		.flags = RDMA_NL_ADMIN_PERM,
	},
	[RDMA_NL_LS_OP_IP_RESOLVE] = {
		.doit = ls_answer,
		.flags = RDMA_NL_ADMIN_PERM,
	},
};

int ibcore_ls_init(void)
{
	rdma_nl_register(RDMA_NL_LS, ls_cbs);
	return 0;
}

/*
 * No question remains in ls_questions:
 * (1) modules that use ib_core waited for their questions before they were unloaded;
 * (2) questions of address resolution were cancelled with their requests, which removed
 *	them; their work ends when its queue is destroyed, after this;
 * (3) the work of a question that its timer removed is queued by now: no timer runs
 *	any more after a grace period.
 */
void ibcore_ls_exit(void)
{
	rdma_nl_unregister(RDMA_NL_LS);
	synchronize_rcu();
	WARN_ON(!xa_empty(&ls_questions));
}
