// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What processes write to uverbs, and the methods that they call. */
#include <linux/fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include "fake_hca.h"
#include "uverbs.h"

#define W(name, number, type, out, fields, needs, takes, makes) { \
	name, needs, takes, makes, fields, IB_USER_VERBS_CMD_##number, \
	sizeof(struct ib_uverbs_##type), out, 0 }
#define RESP(type) sizeof(struct ib_uverbs_##type##_resp)
#define X(name, number, in, out, fields, needs, takes, makes) { \
	name, needs, takes, makes, fields, IB_USER_VERBS_EX_CMD_##number, in, out, EXTENDED }
#define M(name, object, method, attrs, needs, takes, makes) { \
	name, needs, takes, makes, attrs, UVERBS_OBJECT_##object << 16 | UVERBS_METHOD_##method, \
	FUZZ_MESSAGE, 0, METHOD }
#define POST(type, wr) (sizeof(struct ib_uverbs_##type) + sizeof(struct wr) + \
			sizeof(struct ib_uverbs_sge))
#define FLOW (8 + sizeof(struct ib_uverbs_flow_attr) + sizeof(struct ib_uverbs_flow_spec_eth))
#define FLOW_COUNT (FLOW + sizeof(struct ib_uverbs_flow_spec_action_count))

/*
 * Kinds: f the descriptor of events, h of completions, p PD, c CQ, q QP, i in INIT, r in RTR,
 * y in RTS, u for datagrams, o of XRC or RSS, z open twice, s SRQ, m MR, w window, a address
 * handle, x XRC domain, v WQ, t table of WQs, l flow rule, d device memory, k counters, n those
 * of a rule, b an attached group.
 */
static const struct fuzz_op uverbs_ops[] = {
	W("get_context", GET_CONTEXT, get_context, RESP(get_context), "R", "", "", "f"),
	W("query_device", QUERY_DEVICE, query_device, RESP(query_device), "R", "f", "", ""),
	W("query_port", QUERY_PORT, query_port, RESP(query_port), "R10", "f", "", ""),
	W("alloc_pd", ALLOC_PD, alloc_pd, RESP(alloc_pd), "R", "f", "", "p"),
	W("dealloc_pd", DEALLOC_PD, dealloc_pd, 0, "p", "p", "p", ""),
	W("open_xrcd", OPEN_XRCD, open_xrcd, RESP(open_xrcd), "RM", "f", "", "x"),
	W("close_xrcd", CLOSE_XRCD, close_xrcd, 0, "x", "x", "x", ""),
	W("reg_mr", REG_MR, reg_mr, RESP(reg_mr), "RPLPp7", "p", "", "m"),
	W("rereg_mr", REREG_MR, rereg_mr, RESP(rereg_mr), "Rm7PLPp7", "mp", "", ""),
	W("dereg_mr", DEREG_MR, dereg_mr, 0, "m", "m", "m", ""),
	W("alloc_mw", ALLOC_MW, alloc_mw, RESP(alloc_mw), "Rp1", "p", "", "w"),
	W("dealloc_mw", DEALLOC_MW, dealloc_mw, 0, "w", "w", "w", ""),
	W("comp_channel", CREATE_COMP_CHANNEL, create_comp_channel, RESP(create_comp_channel),
	  "R", "f", "", "h"),
	W("create_cq", CREATE_CQ, create_cq, RESP(create_cq), "RUN0M0", "f", "", "c"),
	W("create_cq_channel", CREATE_CQ, create_cq, RESP(create_cq), "RUN0h0", "h", "", "c"),
	W("resize_cq", RESIZE_CQ, resize_cq, RESP(resize_cq), "RcN", "c", "", ""),
	W("destroy_cq", DESTROY_CQ, destroy_cq, RESP(destroy_cq), "Rc0", "c", "c", ""),
	W("poll_cq", POLL_CQ, poll_cq, 512, "RcY", "c", "", ""),
	W("notify_cq", REQ_NOTIFY_CQ, req_notify_cq, 0, "cB", "c", "", ""),
	W("create_qp", CREATE_QP, create_qp, RESP(create_qp), "RUpcc0NN110Q", "pc", "", "q"),
	W("create_qp_ud", CREATE_QP, create_qp, RESP(create_qp), "RUpcc0NN110Q", "pc", "", "u"),
	W("create_qp_srq", CREATE_QP, create_qp, RESP(create_qp), "RUpccsNN110Q", "pcs", "", "q"),
	W("create_qp_tgt", CREATE_QP, create_qp, RESP(create_qp), "RUx00000000Q", "x", "", "o"),
	W("open_qp", OPEN_QP, open_qp, RESP(create_qp), "RUx", "xo", "", "z"),
	W("query_qp", QUERY_QP, query_qp, RESP(query_qp), "RqX", "q", "", ""),
	W("modify_init", MODIFY_QP, modify_qp, 0, "", "q", "q", "i"),
	W("modify_rtr", MODIFY_QP, modify_qp, 0, "", "i", "i", "r"),
	W("modify_rts", MODIFY_QP, modify_qp, 0, "", "r", "r", "y"),
	W("modify_reset", MODIFY_QP, modify_qp, 0, "", "y", "y", "q"),
	W("destroy_qp", DESTROY_QP, destroy_qp, RESP(destroy_qp), "Rq0", "q", "q", ""),
	W("destroy_qp_rts", DESTROY_QP, destroy_qp, RESP(destroy_qp), "Ry0", "y", "y", ""),
	{ "post_send", "y", "", "", "Ry11", IB_USER_VERBS_CMD_POST_SEND,
	  POST(post_send, ib_uverbs_send_wr), RESP(post_send), 0 },
	{ "post_send_ud", "ua", "", "", "Ru10", IB_USER_VERBS_CMD_POST_SEND,
	  POST(post_send, ib_uverbs_send_wr), RESP(post_send), 0 },
	{ "post_recv", "i", "", "", "Ri11", IB_USER_VERBS_CMD_POST_RECV,
	  POST(post_recv, ib_uverbs_recv_wr), RESP(post_recv), 0 },
	{ "post_srq_recv", "s", "", "", "Rs11", IB_USER_VERBS_CMD_POST_SRQ_RECV,
	  POST(post_srq_recv, ib_uverbs_recv_wr), RESP(post_srq_recv), 0 },
	W("attach", ATTACH_MCAST, attach_mcast, 0, "GuX", "u", "", "b"),
	W("detach", DETACH_MCAST, detach_mcast, 0, "GuX", "ub", "b", ""),
	W("create_srq", CREATE_SRQ, create_srq, RESP(create_srq), "RUpN10", "p", "", "s"),
	W("create_xsrq", CREATE_XSRQ, create_xsrq, RESP(create_srq), "RU1pN100xc", "pxc", "",
	  "s"),
	W("modify_srq", MODIFY_SRQ, modify_srq, 0, "s201", "s", "", ""),
	W("query_srq", QUERY_SRQ, query_srq, RESP(query_srq), "Rs0", "s", "", ""),
	W("destroy_srq", DESTROY_SRQ, destroy_srq, RESP(destroy_srq), "Rs0", "s", "s", ""),
	W("create_ah", CREATE_AH, create_ah, RESP(create_ah), "RUp0H", "p", "", "a"),
	W("destroy_ah", DESTROY_AH, destroy_ah, 0, "a", "a", "a", ""),
	X("x_query_device", QUERY_DEVICE, 8, 304, "00", "f", "", ""),
	X("x_create_cq", CREATE_CQ, 32, 16, "UN0M000", "f", "", "c"),
	X("x_create_qp", CREATE_QP, 64, 48, "Upcc0NN110Q0000", "pc", "", "q"),
	X("x_modify_init", MODIFY_QP, 120, 8, "", "q", "q", "i"),
	X("x_create_flow", CREATE_FLOW, FLOW, 8, "0u", "u", "", "l"),
	X("x_create_flow_count", CREATE_FLOW, FLOW_COUNT, 8, "0u", "uk", "k", "ln"),
	X("x_destroy_flow", DESTROY_FLOW, 8, 0, "0l", "l", "l", ""),
	X("x_create_wq", CREATE_WQ, 40, 24, "00UpcN100", "pc", "", "v"),
	X("x_modify_wq", MODIFY_WQ, 24, 0, "1v10", "v", "", ""),
	X("x_destroy_wq", DESTROY_WQ, 8, 8, "0v", "v", "v", ""),
	X("x_create_table", CREATE_RWQ_IND_TBL, 16, 16, "01vv", "v", "", "t"),
	X("x_destroy_table", DESTROY_RWQ_IND_TBL, 8, 0, "0t", "t", "t", ""),
	X("x_create_qp_rss", CREATE_QP, 64, 48, "Up00000000Q10t0", "tp", "", "o"),
	X("x_modify_cq", MODIFY_CQ, 16, 0, "c1N", "c", "", ""),

	M("m_handles", DEVICE, INFO_HANDLES, "0E1o2O", "f", "", ""),
	M("m_query_port", DEVICE, QUERY_PORT, "0F1O", "f", "", ""),
	M("m_get_context", DEVICE, GET_CONTEXT, "0o1u", "", "", "f"),
	M("m_query_context", DEVICE, QUERY_CONTEXT, "0o1u", "f", "", ""),
	M("m_gid_table", DEVICE, QUERY_GID_TABLE, "0g102O3u", "f", "", ""),
	M("m_gid_entry", DEVICE, QUERY_GID_ENTRY, "0F1E203G", "f", "", ""),
	M("m_destroy_pd", PD, PD_DESTROY, "0p", "p", "p", ""),
	M("m_create_cq", CQ, CQ_CREATE, "0z1N2U406o", "f", "", "c"),
	M("m_create_cq_channel", CQ, CQ_CREATE, "0z1N2U3h40506o", "h", "", "c"),
	M("m_destroy_cq", CQ, CQ_DESTROY, "0c1u", "c", "c", ""),
	M("m_create_qp", QP, QP_CREATE, "0z2p4c5c7U8C9T=W>o", "pc", "", "q"),
	M("m_destroy_qp", QP, QP_DESTROY, "0q1o", "q", "q", ""),
	M("m_create_srq", SRQ, SRQ_CREATE, "0z1p4U5N61719E;o<o=o", "p", "", "s"),
	M("m_destroy_srq", SRQ, SRQ_DESTROY, "0s1o", "s", "s", ""),
	M("m_destroy_mr", MR, MR_DESTROY, "0m", "m", "m", ""),
	M("m_query_mr", MR, QUERY_MR, "0m1o2o3u4u", "m", "", ""),
	M("m_advise_mr", MR, ADVISE_MR, "0p1E213S", "p", "", ""),
	M("m_destroy_mw", MW, MW_DESTROY, "0w", "w", "w", ""),
	M("m_destroy_ah", AH, AH_DESTROY, "0a", "a", "a", ""),
	M("m_destroy_xrcd", XRCD, XRCD_DESTROY, "0x", "x", "x", ""),
	M("m_create_wq", WQ, WQ_CREATE, "0z1p2c3U4E6N71809o:o;o", "pc", "", "v"),
	M("m_destroy_wq", WQ, WQ_DESTROY, "0v1o", "v", "v", ""),
	M("m_alloc_dm", DM, DM_ALLOC, "0z1L2N", "f", "", "d"),
	M("m_free_dm", DM, DM_FREE, "0d", "d", "d", ""),
	M("m_create_counters", COUNTERS, COUNTERS_CREATE, "0z", "f", "", "k"),
	M("m_read_counters", COUNTERS, COUNTERS_READ, "0n1O20", "n", "", ""),
	M("m_destroy_counters", COUNTERS, COUNTERS_DESTROY, "0k", "k", "k", ""),
	M("m_async_event", ASYNC_EVENT, ASYNC_EVENT_ALLOC, "0z", "f", "", "f"),
	{ "read_channel", "h", "", "", "h", 0, 4, 0, READ_FD },
};

/* ---- commands ---- */

static void fill_modify(struct fuzz *f, const struct fuzz_op *op,
			struct ib_uverbs_modify_qp *cmd)
{
	cmd->qp_handle = fuzz_handle(f, *op->takes);
	cmd->port_num = 1;
	switch (*op->makes) {
	case 'i':
		cmd->attr_mask = IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
				 IB_QP_ACCESS_FLAGS;
		cmd->qp_state = IB_QPS_INIT;
		cmd->qp_access_flags = IB_ACCESS_REMOTE_WRITE;
		break;
	case 'r':
		cmd->attr_mask = IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
				 IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
		cmd->qp_state = IB_QPS_RTR;
		cmd->path_mtu = IB_MTU_1024;
		cmd->dest_qp_num = 0x123;
		cmd->dest.dlid = 1;
		cmd->dest.port_num = 1;
		break;
	case 'y':
		cmd->attr_mask = IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
				 IB_QP_RNR_RETRY | IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC;
		cmd->qp_state = IB_QPS_RTS;
		cmd->timeout = 14;
		cmd->retry_cnt = 7;
		break;
	default:
		cmd->attr_mask = IB_QP_STATE;
		cmd->qp_state = IB_QPS_RESET;
	}
}

static void fill_type(const struct fuzz_op *op, u32 *words)
{
	u8 type = IB_QPT_RC;

	if (*op->makes == 'u')
		type = IB_QPT_UD;
	else if (*op->makes == 'o')
		type = op->flags & EXTENDED ? IB_QPT_RAW_PACKET : IB_QPT_XRC_TGT;
	words[op->flags & EXTENDED ? 11 : 13] =
		type << 8 | (u32)(op->needs[1] == 'c' && op->needs[2] == 's') << 16;
}

static void fill_post(struct fuzz *f, const struct fuzz_op *op, void *body)
{
	struct ib_uverbs_post_send *send = body;
	struct ib_uverbs_post_recv *recv = body;
	struct ib_uverbs_send_wr *wr = (void *)(send + 1);

	if (op->number != IB_USER_VERBS_CMD_POST_SEND) {
		struct ib_uverbs_recv_wr *rwr = (void *)(recv + 1);

		recv->wqe_size = sizeof(*rwr);
		rwr->num_sge = 1;
		return;
	}
	send->wqe_size = sizeof(*wr);
	wr->num_sge = send->sge_count;
	if (send->sge_count) {
		wr->opcode = fuzz_rnd(f, IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD + 1);
		return;
	}
	wr->opcode = IB_UVERBS_WR_SEND;
	wr->wr.ud.ah = fuzz_handle(f, 'a');
	wr->wr.ud.remote_qpn = 1;
}

static void fill_flow(struct fuzz *f, const struct fuzz_op *op,
		      struct ib_uverbs_create_flow *cmd)
{
	struct ib_uverbs_flow_spec_eth *eth = (void *)(&cmd->flow_attr + 1);
	struct ib_uverbs_flow_spec_action_count *count = (void *)(eth + 1);

	cmd->flow_attr.size = sizeof(*eth);
	cmd->flow_attr.num_of_specs = 1;
	cmd->flow_attr.port = 1;
	eth->type = IB_FLOW_SPEC_ETH;
	eth->size = sizeof(*eth);
	eth->mask.dst_mac[0] = 0xff;
	if (*op->takes != 'k')
		return;
	cmd->flow_attr.size += sizeof(*count);
	cmd->flow_attr.num_of_specs++;
	count->type = IB_FLOW_SPEC_ACTION_COUNT;
	count->size = sizeof(*count);
	count->handle = fuzz_handle(f, 'k');
}

static void fill_reg(struct fuzz *f, const struct fuzz_op *op, void *body)
{
	struct ib_uverbs_rereg_mr *rereg = body;
	struct ib_uverbs_reg_mr *reg = body;

	if (op->number == IB_USER_VERBS_CMD_REG_MR)
		reg->hca_va = reg->start;
	else
		rereg->hca_va = rereg->start;
}

static void fill_xrc(const struct fuzz_op *op, void *body)
{
	struct ib_uverbs_open_xrcd *open = body;
	struct ib_uverbs_open_qp *qp = body;

	if (op->number == IB_USER_VERBS_CMD_OPEN_XRCD) {
		open->oflags = O_CREAT;
	} else {
		qp->qpn = FAKE_HCA_FIRST_QPN;
		qp->qp_type = IB_QPT_XRC_TGT;
	}
}

void uverbs_fill_rest(struct fuzz *f, const struct fuzz_op *op, void *body)
{
	struct ib_uverbs_attach_mcast *attach = body;
	struct ib_uverbs_create_ah *ah = body;

	switch (op->number) {
	case IB_USER_VERBS_CMD_MODIFY_QP:
		fill_modify(f, op, body);
		break;
	case IB_USER_VERBS_CMD_CREATE_QP:
		fill_type(op, body);
		break;
	case IB_USER_VERBS_CMD_POST_SEND:
	case IB_USER_VERBS_CMD_POST_RECV:
	case IB_USER_VERBS_CMD_POST_SRQ_RECV:
		fill_post(f, op, body);
		break;
	case IB_USER_VERBS_EX_CMD_CREATE_FLOW:
		fill_flow(f, op, body);
		break;
	case IB_USER_VERBS_CMD_REG_MR:
	case IB_USER_VERBS_CMD_REREG_MR:
		fill_reg(f, op, body);
		break;
	case IB_USER_VERBS_CMD_OPEN_XRCD:
	case IB_USER_VERBS_CMD_OPEN_QP:
		fill_xrc(op, body);
		break;
	case IB_USER_VERBS_CMD_ATTACH_MCAST:
	case IB_USER_VERBS_CMD_DETACH_MCAST:
		attach->gid[0] = 0xff;
		attach->gid[15] = 1 + fuzz_rnd(f, 2);
		attach->mlid = 0xc001;
		break;
	case IB_USER_VERBS_CMD_CREATE_AH:
		ah->attr.dlid = 1 + fuzz_rnd(f, 4);
		ah->attr.port_num = 1;
		break;
	}
}

/* ---- methods ---- */

/*
 * A pair of letters is an attribute: its number from '0' on, and what it is.  Handles and values
 * as for commands, and z the new object; o, u and O room for 4, 8 and many bytes, G for a GID's
 * entry; E, F and T constants, g the size of an entry, C a QP's capabilities, S a list
 * of ranges of memory, W room for capabilities.
 */
static void put_attr(struct fuzz *f, struct ib_uverbs_attr *attr, u8 id, char what)
{
	void __user *input = (void __user *)f->mem;
	struct ib_uverbs_qp_cap cap = { 4, 4, 1, 1 };
	struct ib_uverbs_sge sge = { f->mem, 64, 0x1000 };
	u32 words[2] = {};

	attr->attr_id = id;
	attr->flags = UVERBS_ATTR_F_MANDATORY;
	switch (what) {
	case 'z':
		break;
	case 'o':
	case 'u':
	case 'O':
	case 'G':
	case 'W':
		attr->len = what == 'o' ? 4 : what == 'u' ? 8 : what == 'O' ? 1024 :
			    what == 'W' ? sizeof(cap) : sizeof(struct ib_uverbs_gid_entry);
		attr->data = fuzz_resp_at(f);
		break;
	case 'C':
		attr->len = sizeof(cap);
		attr->data = f->mem;
		WARN_ON(copy_to_user(input, &cap, sizeof(cap)));
		break;
	case 'S':
		attr->len = sizeof(sge);
		attr->data = f->mem;
		WARN_ON(copy_to_user(input, &sge, sizeof(sge)));
		break;
	case 'E':
	case 'F':
	case 'T':
		attr->len = 8;
		attr->data = what == 'T' ? IB_UVERBS_QPT_RC : what == 'F';
		break;
	case 'g':
		attr->len = 8;
		attr->data = sizeof(struct ib_uverbs_gid_entry);
		break;
	default:
		fuzz_fill(f, (char[]) { what, 0 }, words, 2);
		attr->len = strchr("UL", what) ? 8 : what >= 'a' && what <= 'z' ? 0 : 4;
		memcpy(&attr->data, words, sizeof(words));
	}
}

unsigned int uverbs_attrs(struct fuzz *f, const struct fuzz_op *op,
			  struct ib_uverbs_attr *attrs)
{
	unsigned int n = 0;
	const char *s;

	for (s = op->fields; *s; s += 2)
		put_attr(f, &attrs[n++], *s - '0', s[1]);
	return n;
}

const struct fuzz_target fuzz_uverbs = {
	.name = "uverbs",
	.ops = uverbs_ops,
	.nr_ops = ARRAY_SIZE(uverbs_ops),
	.init = uverbs_init,
	.exit = uverbs_exit,
	.begin = uverbs_begin,
	.end = uverbs_end,
	.call = uverbs_call,
	.left = uverbs_left,
};
