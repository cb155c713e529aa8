// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The local service: questions put to RDMA_NL_GROUP_LS, and what comes back.
 *
 * A question that waits is in a table, by the sequence number of its message.
 * Whoever takes it out (an answer, the timer, a canceller) alone decides how it
 * ends, and queues its work, once; then it belongs to that work.
 *
 * The table's lock is innermost but for the timers'.
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
static u32 ls_next_seq;			/* lock of ls_questions */
static u32 ls_timeout_ms = LS_TIMEOUT_MS;	/* of the questions to come */

/* Takes @question out, if it is still there. */
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

/* Takes out the question numbered @seq, if there is one of that kind. */
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

/* By who took @question out; it may be gone on return. */
static void ls_complete(struct ibcore_ls_question *question, int status)
{
	question->status = status;
	queue_work(question->wq, &question->work);
}

static void ls_work(struct work_struct *work)
{
	struct ibcore_ls_question *question =
		container_of(work, struct ibcore_ls_question, work);

	/* It may be running, and find that it came too late. */
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
 * ibcore_ls_new() - start a question
 * @op: RDMA_NL_LS_OP_
 * @header: what the message begins with, as the operation has it
 * @len: bytes of @header
 * @room: bytes of the attributes to come, nla_total_size() of each
 * @gfp: how to allocate
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
 * ibcore_ls_put() - add to a question what the answer must heed
 * @skb: from ibcore_ls_new(), with room for it
 * @type: LS_NLA_TYPE_
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

/* A number for a question, and its place in the table. */
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
 * ibcore_ls_ask() - put a question to the local service
 * @question: the asker's, never asked before, until its ended() is called
 * @skb: what is asked, from ibcore_ls_new(); consumed
 * @gfp: how to allocate
 *
 * An answer is waited for as long as RDMA_NL_LS_OP_SET_TIMEOUT said last.
 * The first one counts.
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
	/* Its place is reserved: this allocates nothing. */
	__xa_store(&ls_questions, seq, question, 0);
	mod_timer(&question->timer,
		  jiffies + msecs_to_jiffies(READ_ONCE(ls_timeout_ms)));
	xa_unlock_irqrestore(&ls_questions, flags);

	/* From here on it may end, and be gone, at any time. */
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
 * ibcore_ls_cancel() - wait no longer for an answer
 * @question: zeroed memory, or asked, whether it has ended or not
 *
 * Context: any but hard interrupt.
 * Return: true if this ends it: ended() will be called with -ECANCELED, or is
 * being called.  false: it was not asked yet, or ends otherwise.
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
 * @nlh: the message; nothing but attributes follows its header
 * @attr: called for each in turn, with its LS_NLA_TYPE_; 0, -EOPNOTSUPP if it
 *	knows none of that type, or what is wrong
 * @context: passed to it
 *
 * Context: as @attr.
 * Return: 0, -EINVAL if the lengths contradict each other, -EOPNOTSUPP for an
 * attribute that must be understood and is not, or what @attr said.
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

/* ---- what the daemon sends ---- */

/* One that comes late, or second, or was never asked for, is passed over. */
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

/* Who answers decides where connections lead: that takes an administrator. */
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
 * No question is left:
 * (1) those of modules above: each waited for its own before it went;
 * (2) those about addresses were cancelled with the requests they are for, and
 *	are taken out; their works end with their queue, which goes after this;
 * (3) one that the timer took out is queued by now: no timer runs any more once
 *	a grace period has passed.
 */
void ibcore_ls_exit(void)
{
	rdma_nl_unregister(RDMA_NL_LS);
	synchronize_rcu();
	WARN_ON(!xa_empty(&ls_questions));
}
