// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Questions to the port mapper's daemon.
 *
 * A question lies on the stack of who asks and, by its sequence number, in a
 * table.  Whoever takes it out of there, the asker or the bringer of an answer,
 * ends it; the bringer touches it last when it completes it.
 */
#include <linux/completion.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <rdma/iw_portmap.h>

#include "iwpm.h"

struct iwpm_question {
	u8 op;
	u32 portid;			/* whom it went to; 0: to the group */
	struct iwpm_map *map;		/* the asker's; written with the answer */
	int status;			/* likewise */
	struct completion done;
};

/* As the op of whatever question has a sequence number. */
#define IWPM_ANY_OP	RDMA_NL_IWPM_NUM_OPS

static DEFINE_XARRAY_ALLOC1(iwpm_questions);
static u32 iwpm_next_seq;		/* lock of iwpm_questions */

static struct iwpm_question *iwpm_take(u32 seq, u8 op, u32 portid)
{
	struct iwpm_question *question;

	xa_lock(&iwpm_questions);
	question = xa_load(&iwpm_questions, seq);
	if (question && (op == question->op || op == IWPM_ANY_OP) &&
	    (portid == question->portid || !question->portid))
		__xa_erase(&iwpm_questions, seq);
	else
		question = NULL;
	xa_unlock(&iwpm_questions);
	return question;
}

static void iwpm_complete(struct iwpm_question *question, int status)
{
	question->status = status;
	complete(&question->done);
}

static int iwpm_begin(struct iwpm_question *question, u32 *seq)
{
	init_completion(&question->done);
	return min(0, xa_alloc_cyclic(&iwpm_questions, seq, question,
				      XA_LIMIT(1, U32_MAX), &iwpm_next_seq,
				      GFP_KERNEL));
}

/* @ret: of sending it */
static int iwpm_await(struct iwpm_question *question, u32 seq, int ret)
{
	if (!ret && wait_for_completion_timeout(&question->done, IWPM_TIMEOUT))
		return question->status;
	if (iwpm_take(seq, question->op, question->portid))
		return ret ?: -ETIMEDOUT;
	/* Another has taken it, and completes it at any moment. */
	wait_for_completion(&question->done);
	return question->status;
}

/* Each asker registers for itself, in parallel: the daemon takes no offence. */
static int iwpm_register(const struct ib_device *device)
{
	struct iwpm_question question = { .op = RDMA_NL_IWPM_REG_PID };
	struct sk_buff *skb;
	u32 seq;
	int ret;

	ret = iwpm_begin(&question, &seq);
	if (ret)
		return ret;
	skb = iwpm_msg_register(seq, device);
	ret = skb ? rdma_nl_multicast(&init_net, skb, RDMA_NL_GROUP_IWPM,
				      GFP_KERNEL) : -ENOMEM;
	return iwpm_await(&question, seq, ret);
}

int iwpm_reach(const struct ib_device *device, struct iwpm_dest *dest)
{
	int ret;

	if (iwpm_daemon_ready(dest))
		return 0;
	if (!iwpm_daemon_may_answer())
		return -ENOTCONN;
	ret = iwpm_register(device);
	if (ret == -ETIMEDOUT)
		iwpm_daemon_silent();
	return iwpm_daemon_ready(dest) ? 0 : -ENOTCONN;
}

/*
 * The daemon knows by itself what it maps.  For the mapping of a peer's address
 * it depends on the peer's daemon, and says nothing where that one does not.
 */
static void iwpm_timed_out(const struct iwpm_dest *dest, u8 op)
{
	if (op == RDMA_NL_IWPM_QUERY_MAPPING)
		iwpm_daemon_doubt(dest->portid);
	else
		iwpm_daemon_silent();
}

int iwpm_ask(const struct iwpm_dest *dest, u8 op, struct iwpm_map *map,
	     u32 flags)
{
	struct iwpm_question question = {
		.op = op,
		.portid = dest->portid,
		.map = map,
	};
	struct sk_buff *skb;
	u32 seq;
	int ret;

	ret = iwpm_begin(&question, &seq);
	if (ret)
		return ret;
	skb = iwpm_msg_ask(op, seq, map, flags, dest->version);
	ret = iwpm_await(&question, seq, iwpm_daemon_send(dest->portid, skb));
	if (ret == -ETIMEDOUT)
		iwpm_timed_out(dest, op);
	return ret;
}

/*
 * A peer whose daemon has no mapping of the port listens on the port itself: the
 * answer then has that as the mapped one.
 */
static int iwpm_verdict(const struct iwpm_question *question,
			const struct iwpm_reply *reply)
{
	const struct iwpm_map *asked = question->map, *got = &reply->map;
	bool query = question->op == RDMA_NL_IWPM_QUERY_MAPPING;

	if (reply->err && !(query && reply->err == IWPM_REMOTE_QUERY_REJECT))
		return -EREMOTEIO;
	if (!asked)
		return 0;
	if (!iwpm_addr_same(&asked->local, &got->local) ||
	    asked->local.family != got->mapped_local.family)
		return -EPROTO;
	if (query && (!iwpm_addr_same(&asked->remote, &got->remote) ||
		      asked->remote.family != got->mapped_remote.family))
		return -EPROTO;
	return 0;
}

/*
 * An answer that nobody waits for any more is none to complain of.
 *
 * Return: 0; -EPROTO if it is not one to the question.
 */
int iwpm_answered(const struct iwpm_reply *reply, u8 op, u32 portid)
{
	struct iwpm_question *question = iwpm_take(reply->seq, op, portid);
	int status;

	if (!question)
		return 0;
	status = iwpm_verdict(question, reply);
	if (!status && question->map) {
		question->map->mapped_local = reply->map.mapped_local;
		question->map->mapped_remote = reply->map.mapped_remote;
	}
	iwpm_complete(question, status);
	return status == -EPROTO ? status : 0;
}

void iwpm_refused(const struct iwpm_reply *reply, u32 portid)
{
	struct iwpm_question *question =
		iwpm_take(reply->seq, IWPM_ANY_OP, portid);

	if (question)
		iwpm_complete(question, -EREMOTEIO);
}

/* That daemon will not answer. */
void iwpm_ask_no_more(u32 portid)
{
	struct iwpm_question *question;
	unsigned long seq;

	xa_lock(&iwpm_questions);
	xa_for_each(&iwpm_questions, seq, question) {
		if (question->portid != portid)
			continue;
		__xa_erase(&iwpm_questions, seq);
		iwpm_complete(question, -ECONNRESET);
	}
	xa_unlock(&iwpm_questions);
}
