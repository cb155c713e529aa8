// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "ends.h"

#define BOUND	10	/* seconds for anything to happen */

struct end a, b;

void do_fail(const char *file, int line, const char *what, const struct ibv_wc *wc)
{
	fprintf(stderr, "%s:%d: %s (errno: %s)\n",
		strrchr(file, '/') ? strrchr(file, '/') + 1 : file, line, what, strerror(errno));
	if (wc)
		fprintf(stderr, "completion %llu: %s\n", (unsigned long long)wc->wr_id,
			ibv_wc_status_str(wc->status));
	exit(1);
}

static struct ibv_context *device_open(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;
	int i;

	for (i = 0; list && list[i]; i++) {
		if (!strcmp(ibv_get_device_name(list[i]), name))
			context = ibv_open_device(list[i]);
	}
	if (!context)
		fail(name);
	ibv_free_device_list(list);
	return context;
}

static void end_open(struct end *end, const char *name)
{
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
		     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;

	end->context = device_open(name);
	check(!ibv_query_port(end->context, 1, &end->port));
	check(end->port.state == IBV_PORT_ACTIVE && end->port.lid);
	end->pd = ibv_alloc_pd(end->context);
	check(end->pd);
	end->mem = aligned_alloc(4096, ROOM);
	check(end->mem);
	end->mr = ibv_reg_mr(end->pd, end->mem, ROOM, access);
	check(end->mr);
	end->channel = ibv_create_comp_channel(end->context);
	check(end->channel);
	end->cq = ibv_create_cq(end->context, 2 * DEPTH, end, end->channel, 0);
	check(end->cq);
}

static void end_close(struct end *end)
{
	expect_none(end->cq);
	check(!ibv_destroy_cq(end->cq));
	check(!ibv_destroy_comp_channel(end->channel));
	check(!ibv_dereg_mr(end->mr));
	check(!ibv_dealloc_pd(end->pd));
	check(!ibv_close_device(end->context));
	free(end->mem);
}

void ends_open(const char *device_a, const char *device_b)
{
	end_open(&a, device_a);
	end_open(&b, device_b);
}

void ends_close(void)
{
	end_close(&a);
	end_close(&b);
}

uint64_t word_at(const struct end *end, unsigned int offset)
{
	return __atomic_load_n((uint64_t *)(end->mem + offset), __ATOMIC_SEQ_CST);
}

void mem_fill(struct end *end, int seed)
{
	int i;

	for (i = 0; i < ROOM; i++)
		end->mem[i] = seed * 31 + i * 7 + (i >> 8);
}

/* ---- queue pairs ---- */

struct ibv_qp_init_attr_ex qp_attr(struct end *end, enum ibv_qp_type type)
{
	return (struct ibv_qp_init_attr_ex){
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.cap = {
			.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = 4,
			.max_recv_sge = 4,
			.max_inline_data = 64,
		},
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = end->pd,
	};
}

struct ibv_qp *qp_make(struct end *end, struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *qp = ibv_create_qp_ex(end->context, attr);

	check(qp);
	return qp;
}

void to_reset(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	check(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
}

void to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = QKEY,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};
	bool ud = qp->qp_type == IBV_QPT_UD;

	if (qp->qp_type == IBV_QPT_UC)
		attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	check(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			     (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)));
}

void to_rtr(struct ibv_qp *qp, const struct end *peer, uint32_t peer_qpn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer_qpn,
		.rq_psn = 77,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
		.ah_attr = { .dlid = peer->port.lid, .port_num = 1 },
	};
	int mask = IBV_QP_STATE;

	if (qp->qp_type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_XRC_RECV)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	check(!ibv_modify_qp(qp, &attr, mask));
}

void to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = 77,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 4,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_XRC_SEND)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	check(!ibv_modify_qp(qp, &attr, mask));
}

void to_error(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	check(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
}

void connect_qps(struct ibv_qp *qp_a, struct ibv_qp *qp_b)
{
	to_init(qp_a);
	to_init(qp_b);
	to_rtr(qp_a, &b, qp_b->qp_num);
	to_rtr(qp_b, &a, qp_a->qp_num);
	to_rts(qp_a);
	to_rts(qp_b);
}

static uint64_t operations(enum ibv_qp_type type)
{
	__u64 ops = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;

	if (type == IBV_QPT_UD)
		return ops;
	ops |= IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
	if (type == IBV_QPT_UC)
		return ops;
	return ops | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
	       IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV |
	       IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV;
}

static void end_make_qp(struct end *end, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr_ex attr = qp_attr(end, type);

	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = operations(type);
	end->qp = qp_make(end, &attr);
	check(attr.cap.max_inline_data >= 64 && attr.cap.max_send_wr >= DEPTH);
}

void pair_up(enum ibv_qp_type type)
{
	end_make_qp(&a, type);
	end_make_qp(&b, type);
	connect_qps(a.qp, b.qp);
}

void pair_down(void)
{
	check(!ibv_destroy_qp(a.qp));
	check(!ibv_destroy_qp(b.qp));
}

/* ---- requests ---- */

struct ibv_sge mem_sge(const struct end *end, unsigned int offset, unsigned int length)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)end->mem + offset,
		.length = length,
		.lkey = end->mr->lkey,
	};
}

int post_wr(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;
	int ret = ibv_post_send(qp, wr, &bad);

	if (ret)
		check(bad);
	return ret;
}

int post_send(struct end *end, uint64_t id, unsigned int offset, unsigned int length)
{
	struct ibv_sge sge = mem_sge(end, offset, length);
	struct ibv_send_wr wr = {
		.wr_id = id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};

	return post_wr(end->qp, &wr);
}

int post_recv(struct end *end, uint64_t id, unsigned int offset, unsigned int length)
{
	struct ibv_sge sge = mem_sge(end, offset, length);
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 }, *bad;

	return ibv_post_recv(end->qp, &wr, &bad);
}

struct ibv_send_wr rdma_wr(enum ibv_wr_opcode opcode, uint64_t id, const struct end *to,
			   unsigned int offset)
{
	return (struct ibv_send_wr){
		.wr_id = id,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)to->mem + offset, to->mr->rkey },
	};
}

/* ---- completions and events ---- */

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

struct ibv_wc next_wc(struct ibv_cq *cq)
{
	double end = BOUND + now();
	struct ibv_wc wc;
	int n;

	do {
		n = ibv_poll_cq(cq, 1, &wc);
	} while (!n && now() < end);
	if (n != 1)
		fail(n ? "the CQ cannot be polled" : "no completion");
	return wc;
}

struct ibv_wc expect(struct ibv_cq *cq, uint64_t id, enum ibv_wc_status status)
{
	struct ibv_wc wc = next_wc(cq);

	if (wc.wr_id != id || wc.status != status)
		fail_wc(ibv_wc_status_str(status), &wc);
	return wc;
}

void expect_all(struct ibv_cq *cq, uint64_t id, unsigned int count, enum ibv_wc_status status)
{
	unsigned int seen = 0, at, i;
	struct ibv_wc wc;

	for (i = 0; i < count; i++) {
		wc = next_wc(cq);
		at = wc.wr_id - id;
		if (at >= count || seen >> at & 1 || wc.status != status)
			fail_wc(ibv_wc_status_str(status), &wc);
		seen |= 1U << at;
	}
}

void expect_none(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	if (ibv_poll_cq(cq, 1, &wc))
		fail_wc("a completion too many", &wc);
}

void expect_event(struct ibv_context *context, enum ibv_event_type type)
{
	struct pollfd fd = { .fd = context->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	enum ibv_event_type got;

	do {
		if (poll(&fd, 1, BOUND * 1000) != 1)
			fail(ibv_event_type_str(type));
		check(!ibv_get_async_event(context, &event));
		got = event.event_type;
		ibv_ack_async_event(&event);
	} while (got != type);
}

void expect_event_of(struct ibv_qp *qp, enum ibv_event_type type)
{
	struct pollfd fd = { .fd = qp->context->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	if (poll(&fd, 1, BOUND * 1000) != 1)
		fail(ibv_event_type_str(type));
	check(!ibv_get_async_event(qp->context, &event));
	check(event.event_type == type && event.element.qp == qp);
	ibv_ack_async_event(&event);
}

void expect_no_event(struct ibv_context *context)
{
	struct pollfd fd = { .fd = context->async_fd, .events = POLLIN };

	check(!poll(&fd, 1, 0));
}
