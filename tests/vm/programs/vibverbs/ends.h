/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef ENDS_H
#define ENDS_H

/* Two adapters of one subnet in one process, each with memory, a CQ and a QP. */
#include <stdbool.h>
#include <stdnoreturn.h>
#include <infiniband/verbs.h>

#define ROOM	65536	/* bytes of an end's memory */
#define DEPTH	64	/* entries of its queues */
#define QKEY	0x11111111

struct end {
	struct ibv_context *context;
	struct ibv_port_attr port;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	char *mem;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

extern struct end a, b;

/* Every failure ends the program, with the test's name and the reason. */
#define fail(what)	do_fail(__FILE__, __LINE__, what, NULL)
#define check(x)	((x) ? (void)0 : fail(#x))
#define fail_wc(what, wc)	do_fail(__FILE__, __LINE__, what, wc)
noreturn void do_fail(const char *file, int line, const char *what, const struct ibv_wc *wc);

void ends_open(const char *device_a, const char *device_b);
void ends_close(void);

/* The word there, which the adapter may write. */
uint64_t word_at(const struct end *end, unsigned int offset);
/* Fills an end's memory with bytes that depend on @seed. */
void mem_fill(struct end *end, int seed);

/* An attribute for a QP of @end, of its CQ and DEPTH requests of 4 SGEs. */
struct ibv_qp_init_attr_ex qp_attr(struct end *end, enum ibv_qp_type type);
struct ibv_qp *qp_make(struct end *end, struct ibv_qp_init_attr_ex *attr);
void to_reset(struct ibv_qp *qp);
void to_init(struct ibv_qp *qp);
void to_rtr(struct ibv_qp *qp, const struct end *peer, uint32_t peer_qpn);
void to_rts(struct ibv_qp *qp);
void to_error(struct ibv_qp *qp);
/* From Reset to RTS, with each other. */
void connect_qps(struct ibv_qp *qp_a, struct ibv_qp *qp_b);
/* a.qp and b.qp, connected, or UD in RTS; with operations of ibv_wr_start(). */
void pair_up(enum ibv_qp_type type);
void pair_down(void);

/* Requests in an end's memory. */
struct ibv_sge mem_sge(const struct end *end, unsigned int offset, unsigned int length);
int post_wr(struct ibv_qp *qp, struct ibv_send_wr *wr);
/* Posts one that is signalled and has one SGE, and whose wr_id is @id. */
int post_send(struct end *end, uint64_t id, unsigned int offset, unsigned int length);
int post_recv(struct end *end, uint64_t id, unsigned int offset, unsigned int length);
struct ibv_send_wr rdma_wr(enum ibv_wr_opcode opcode, uint64_t id, const struct end *to,
			   unsigned int offset);

/* The next completion, which has to come within some seconds. */
struct ibv_wc next_wc(struct ibv_cq *cq);
struct ibv_wc expect(struct ibv_cq *cq, uint64_t id, enum ibv_wc_status status);
/* The same of @count requests from @id on, in any order. */
void expect_all(struct ibv_cq *cq, uint64_t id, unsigned int count, enum ibv_wc_status status);
void expect_none(struct ibv_cq *cq);
/* The next event of this type on @context. */
void expect_event(struct ibv_context *context, enum ibv_event_type type);
/* The next event at all, which has to be this one. */
void expect_event_of(struct ibv_qp *qp, enum ibv_event_type type);
void expect_no_event(struct ibv_context *context);

/* Tests, by file. */
void test_inline(void);
void test_rdma(void);
void test_atomics(void);
void test_bad_keys(void);
void test_windows(void);
void test_states(void);
void test_comm_est(void);
void test_full(void);
void test_resize_cq(void);
void test_clean(void);
void test_poll_ex(void);
void test_cq_event(void);
void test_threads(void);
void test_wr(void);
void test_wr_ud(void);
void test_srq(void);
void test_srq_resize(void);
void test_xrc(void);
void test_refused(void);

#endif
