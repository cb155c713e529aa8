/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_USER_QUEUES_H
#define IBEX_USER_QUEUES_H

/* A process with a PD and a CQ, and functions that create queues of all types in them. */
#include "user/call/commands.h"

#define EX(command)	(IB_USER_VERBS_EX_CMD_##command | IB_USER_VERBS_CMD_FLAG_EXTENDED)
#define CMD(command)	IB_USER_VERBS_CMD_##command
#define NO_SUCH_HANDLE	0x7ffffff0

struct queues {
	u32 pd;
	u32 cq;
};

extern struct queues queues;	/* one case runs at a time */

/* The suite's init: commands_init(), then a PD and a CQ. */
int queues_init(struct kunit *test);
/* Expects that only the context, the PD and the CQ are left. */
void queues_expect_idle(struct commands *c);

/* Each asserts that it works, and returns the handle. */
u32 queues_cq(struct commands *c);
u32 queues_srq(struct commands *c);
u32 queues_wq(struct commands *c);
/* Add the attributes of a create by ioctl, except its handle and the user handle. */
void queues_add_srq(struct commands *c, u32 type);
void queues_add_wq(struct commands *c);
u32 queues_ind_tbl(struct commands *c, u32 wq);
u32 queues_qp(struct commands *c, u8 type);
/* Skips the case if the adapter has no XRC domains. */
u32 queues_xrcd(struct commands *c);

/*
 * A valid request, except for XRC_TGT, whose pd_handle the
 * caller must set to the XRC domain's.
 */
void queues_qp_cmd(struct ib_uverbs_ex_create_qp *cmd, u8 type);
/* Creates a QP by the extended command. */
int queues_create_qp(struct commands *c, const struct ib_uverbs_ex_create_qp *cmd,
		     struct ib_uverbs_ex_create_qp_resp *resp);
int queues_destroy_qp(struct commands *c, u32 handle);
int queues_destroy_srq(struct commands *c, u32 handle);
int queues_destroy_wq(struct commands *c, u32 handle);
int queues_destroy_ind_tbl(struct commands *c, u32 handle);
/* Destroys by ioctl: attribute 0 is the handle, 1 the response of 4 bytes. */
int queues_destroy(struct commands *c, u16 object, u16 method, u32 handle);

/*
 * Checks the lengths of a destroy, for which commands_check_lengths() would
 * destroy the object before the response fails.
 */
void queues_check_destroy(struct commands *c, u32 command, const void *req, size_t len,
			  size_t resp_len);

/* Drops CAP_NET_RAW until user_restore(). */
const struct cred *queues_drop_net_raw(struct kunit *test);

#endif
