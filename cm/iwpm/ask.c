// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Requests to the port mapper daemon that wait for its response.
 *
 * A request is on the stack of its caller and, by its sequence number, in a table.  The
 * caller removes it from the table after a timeout or an error; otherwise the handler of
 * a response does, or iwpm_ask_no_more(), which then complete it.  Only the one that has
 * removed a request may end it, and does not access it after completing it.
 */
#include <linux/completion.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <rdma/iw_portmap.h>

#include "iwpm.h"

struct iwpm_question {
	u8 op;
	u32 portid;			/* netlink port it was sent to; 0: the group */
	struct iwpm_map *map;		/* the caller's; filled in from the response */
	int status;			/* set with the response */
	struct completion done;
};

/* In iwpm_take(): matches a request of any op. */
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

/* Waits for the response.  @ret: the result of sending the request. */
static int iwpm_await(struct iwpm_question *question, u32 seq, int ret)
{
	if (!ret && wait_for_completion_timeout(&question->done, IWPM_TIMEOUT))
		return question->status;
	if (iwpm_take(seq, question->op, question->portid))
		return ret ?: -ETIMEDOUT;
	/* A response handler has taken the request and is about to complete it. */
	wait_for_completion(&question->done);
	return question->status;
}

/* Callers may register in parallel: the daemon accepts repeated registrations. */
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
 * The daemon maps local addresses without help, so a timeout means that it does not
 * respond.  For the mapping of a peer's address it depends on the peer's daemon, and
 * does not respond if that one does not.
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
 * Returns the status of @question for @reply.  IWPM_REMOTE_QUERY_REJECT is no error: if
 * the peer's daemon has no mapping of the port, the peer listens on the port itself,
 * which the response then has as the mapped port.
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
 * A response to a request that has timed out is ignored.
 *
 * Return: 0; -EPROTO if the response does not fit the request.
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

/* Ends the requests to @portid, as that daemon will not respond. */
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
