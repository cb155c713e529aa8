/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_LS_H
#define IBEX_LS_H

/*
 * Questions to the local service: a daemon, such as ibacm(8), that listens to
 * RDMA_NL_GROUP_LS and may know paths and addresses without querying the
 * fabric.
 */
#include <linux/netlink.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <rdma/rdma_netlink.h>

struct ibcore_ls_question;

struct ibcore_ls_ops {
	/*
	 * Reads an answer other than an error, in the context of the process
	 * that sent it; may sleep.  Returns 0 if the answer is usable.
	 */
	int (*answered)(struct ibcore_ls_question *question,
			const struct nlmsghdr *nlh);
	/*
	 * Called exactly once for each question asked, by its work on wq; may
	 * free the question.  @status: 0 if answered() returned 0; -ETIMEDOUT;
	 * -ECANCELED; any other error if no usable answer was received.
	 */
	void (*ended)(struct ibcore_ls_question *question, int status);
};

/* Embedded in the asker's object; the asker sets ops and wq before it asks. */
struct ibcore_ls_question {
	const struct ibcore_ls_ops *ops;
	struct workqueue_struct *wq;
	u32 seq;			/* lock of the table; 0: not asked yet */
	u8 op;
	int status;			/* set after removal from the table */
	struct timer_list timer;
	struct work_struct work;
};

/*
 * Creates a question, to which ibcore_ls_put() may add attributes of @room
 * bytes in total.
 */
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
