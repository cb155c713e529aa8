/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_LS_H
#define IBEX_LS_H

/*
 * Questions to the local service: a daemon (ibacm(8), for one) that listens to
 * RDMA_NL_GROUP_LS and may know paths and addresses without asking the fabric.
 */
#include <linux/netlink.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <rdma/rdma_netlink.h>

struct ibcore_ls_question;

struct ibcore_ls_ops {
	/*
	 * Reads an answer that is no refusal, in the context of the process that
	 * gives it; may sleep.  0: it is of use.
	 */
	int (*answered)(struct ibcore_ls_question *question,
			const struct nlmsghdr *nlh);
	/*
	 * Exactly once for each question asked, as work of its queue; may free
	 * the question.  @status: 0: answered() was content; -ETIMEDOUT;
	 * -ECANCELED; else no answer of use came.
	 */
	void (*ended)(struct ibcore_ls_question *question, int status);
};

/* Part of the asker's object; ops and wq are the asker's to set, before it asks. */
struct ibcore_ls_question {
	const struct ibcore_ls_ops *ops;
	struct workqueue_struct *wq;
	u32 seq;			/* lock of the table; 0: not yet asked */
	u8 op;
	int status;			/* of who took it from the table */
	struct timer_list timer;
	struct work_struct work;
};

/* A question, to which ibcore_ls_put() may add attributes of @room bytes in all. */
struct sk_buff *ibcore_ls_new(u8 op, const void *header, int len, size_t room,
			      gfp_t gfp);
void ibcore_ls_put(struct sk_buff *skb, int type, int len, const void *data);
int ibcore_ls_ask(struct ibcore_ls_question *question, struct sk_buff *skb,
		  gfp_t gfp);
bool ibcore_ls_cancel(struct ibcore_ls_question *question);
int ibcore_ls_parse(const struct nlmsghdr *nlh,
		    int (*attr)(void *context, int type, const void *data,
				int len),
		    void *context);

#endif
