/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_USER_QUEUES_H
#define IBEX_USER_QUEUES_H

/* A process with a PD and a CQ, and what makes queues of all kinds in them. */
#include "user/call/commands.h"

#define EX(command)	(IB_USER_VERBS_EX_CMD_##command | IB_USER_VERBS_CMD_FLAG_EXTENDED)
#define CMD(command)	IB_USER_VERBS_CMD_##command
#define NO_SUCH_HANDLE	0x7ffffff0

struct queues {
	u32 pd;
	u32 cq;
};

extern struct queues queues;	/* one case runs at a time */

/* The suite's init: commands_init() and these two. */
int queues_init(struct kunit *test);
/* Nothing but the context, PD and CQ is left. */
void queues_expect_idle(struct commands *c);

/* Each asserts that it worked, and answers the handle. */
u32 queues_cq(struct commands *c);
u32 queues_srq(struct commands *c);
u32 queues_wq(struct commands *c);
/* The attributes of making one by ioctl, but for its handle and the user's name. */
void queues_add_srq(struct commands *c, u32 type);
void queues_add_wq(struct commands *c);
u32 queues_ind_tbl(struct commands *c, u32 wq);
u32 queues_qp(struct commands *c, u8 type);
/* Skips the case if there are none. */
u32 queues_xrcd(struct commands *c);

/* A request that works, but for XRC_TGT, whose pd_handle is to be the domain's. */
void queues_qp_cmd(struct ib_uverbs_ex_create_qp *cmd, u8 type);
/* By the extended command. */
int queues_create_qp(struct commands *c, const struct ib_uverbs_ex_create_qp *cmd,
		     struct ib_uverbs_ex_create_qp_resp *resp);
int queues_destroy_qp(struct commands *c, u32 handle);
int queues_destroy_srq(struct commands *c, u32 handle);
int queues_destroy_wq(struct commands *c, u32 handle);
int queues_destroy_ind_tbl(struct commands *c, u32 handle);
/* By ioctl: attribute 0 is the handle, 1 the answer of 4 bytes. */
int queues_destroy(struct commands *c, u16 object, u16 method, u32 handle);

/* A destroy's lengths; commands_check_lengths() would destroy before the response fails. */
void queues_check_destroy(struct commands *c, u32 command, const void *req, size_t len,
			  size_t resp_len);

/* Without CAP_NET_RAW until user_restore(). */
const struct cred *queues_drop_net_raw(struct kunit *test);

#endif
