// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See verbs.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "processes.h"
#include "verbs.h"

void open_device(struct end *e, const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;
	int i;

	MUST(list);
	for (i = 0; list[i] && strcmp(ibv_get_device_name(list[i]), name); i++)
		;
	if (!list[i])
		give_up("no device %s", name);
	e->ctx = ibv_open_device(list[i]);
	MUST(e->ctx);
	ibv_free_device_list(list);
	MUST(!ibv_query_port(e->ctx, 1, &port));
	e->lid = port.lid;
	e->pd = ibv_alloc_pd(e->ctx);
	MUST(e->pd);
}

void open_domain(struct end *e, const char *file)
{
	int fd = open(file, O_RDONLY | O_CREAT, 0600);
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd, .oflags = O_CREAT,
	};

	MUST(fd >= 0);
	e->xrcd = ibv_open_xrcd(e->ctx, &init);
	MUST(e->xrcd);
	close(fd);
}

static void make_memory(struct end *e)
{
	e->buf = calloc(DEPTH, MSG_SIZE);
	MUST(e->buf);
	e->mr = ibv_reg_mr(e->pd, e->buf, DEPTH * MSG_SIZE, IBV_ACCESS_LOCAL_WRITE);
	MUST(e->mr);
	e->cq = ibv_create_cq(e->ctx, 2 * DEPTH, NULL, NULL, 0);
	MUST(e->cq);
}

static void post_recv(struct end *e, __u64 id)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)e->buf + id * MSG_SIZE, .length = MSG_SIZE,
		.lkey = e->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 }, *bad;
	int ret = ibv_post_srq_recv(e->srq, &wr, &bad);

	if (ret)
		give_up("ibv_post_srq_recv %u: %s", (unsigned int)id, strerror(ret));
}

void open_receiver(struct end *e, const char *file)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = DEPTH, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
	};
	int i;

	open_domain(e, file);
	make_memory(e);
	init.pd = e->pd;
	init.cq = e->cq;
	init.xrcd = e->xrcd;
	e->srq = ibv_create_srq_ex(e->ctx, &init);
	MUST(e->srq);
	for (i = 0; i < DEPTH; i++)
		post_recv(e, i);
}

static void to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	MUST(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				       IBV_QP_ACCESS_FLAGS));
}

void open_sender(struct end *e)
{
	struct ibv_qp_init_attr_ex init = {
		.cap = { .max_send_wr = DEPTH, .max_send_sge = 1 },
		.qp_type = IBV_QPT_XRC_SEND, .comp_mask = IBV_QP_INIT_ATTR_PD,
	};

	make_memory(e);
	init.send_cq = e->cq;
	init.pd = e->pd;
	e->qp = ibv_create_qp_ex(e->ctx, &init);
	MUST(e->qp);
	to_init(e->qp);
}

static struct ibv_qp_attr rtr_attr(__u32 qpn, __u32 lid)
{
	return (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qpn,
		.rq_psn = FIRST_PSN, .min_rnr_timer = 1,
		.ah_attr = { .dlid = lid, .port_num = 1 },
	};
}

void connect_sender(struct end *e, __u32 qpn, __u32 lid, int timeout)
{
	struct ibv_qp_attr attr = rtr_attr(qpn, lid);
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS, .sq_psn = FIRST_PSN, .timeout = timeout, .retry_cnt = 7,
		.rnr_retry = 7,
	};

	MUST(!ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN));
	MUST(!ibv_modify_qp(e->qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
					 IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
					 IBV_QP_MAX_QP_RD_ATOMIC));
}

void post_message(struct end *e, __u32 srqn, __u64 number)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)e->buf, .length = MSG_SIZE, .lkey = e->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED, .qp_type.xrc.remote_srqn = srqn,
	}, *bad;

	memcpy(e->buf, &number, sizeof(number));
	MUST(!ibv_post_send(e->qp, &wr, &bad));
}

bool message_sent(struct end *e, enum ibv_wc_status *status)
{
	struct ibv_wc wc;
	int n = ibv_poll_cq(e->cq, 1, &wc);

	MUST(n >= 0);
	if (n)
		*status = wc.status;
	return n;
}

enum ibv_wc_status send_message(struct end *e, __u32 srqn, __u64 number)
{
	enum ibv_wc_status status;

	post_message(e, srqn, number);
	/* It ends, if only by "retry exceeded"; the receiver shares the processor. */
	while (!message_sent(e, &status))
		usleep(50);
	return status;
}

bool take_message(struct end *e, __u64 *number)
{
	struct ibv_wc wc;
	int n = ibv_poll_cq(e->cq, 1, &wc);

	MUST(n >= 0);
	if (!n)
		return false;
	MUST(wc.status == IBV_WC_SUCCESS);
	memcpy(number, e->buf + wc.wr_id * MSG_SIZE, sizeof(*number));
	post_recv(e, wc.wr_id);
	return true;
}

/* ---- the QP that receives ---- */

int receiver_attr(struct ibv_qp_attr *attr, __u32 qpn, __u32 lid)
{
	*attr = rtr_attr(qpn, lid);
	attr->port_num = 1;
	return IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_AV |
	       IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MIN_RNR_TIMER;
}

__u32 make_by_domain(struct end *e, __u32 qpn, __u32 lid)
{
	struct ibv_qp_attr attr;
	__u32 made;
	int mask = receiver_attr(&attr, qpn, lid);
	int ret = ibv_alloc_xrc_rcv_qp(e->pd, e->xrcd, &attr, mask, &made);

	if (ret)
		give_up("ibv_alloc_xrc_rcv_qp: %s", strerror(ret));
	return made;
}

__u32 make_legacy(struct end *e, __u32 qpn, __u32 lid)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = e->xrcd,
	};
	struct ibv_qp_attr attr = rtr_attr(qpn, lid);
	struct ibv_qp *qp = ibv_create_qp_ex(e->ctx, &init);

	MUST(qp);
	to_init(qp);
	MUST(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
				       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	return qp->qp_num;
}

void open_legacy(struct end *e, __u32 qpn)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = qpn, .xrcd = e->xrcd, .qp_type = IBV_QPT_XRC_RECV,
	};

	MUST(ibv_open_qp(e->ctx, &attr));
}
