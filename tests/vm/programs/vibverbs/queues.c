// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Queue pairs in all states, completion queues. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>
#include "ends.h"

static void refused_in_state(void)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(a.qp);

	check(post_send(&a, 1, 0, 10) == EINVAL);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	check(ibv_wr_complete(ex) == EINVAL);
}

/* Requests that a state does not take; a reset, which forgets those that there are. */
void test_states(void)
{
	int i;

	pair_up(IBV_QPT_RC);
	for (i = 0; i < 3; i++)
		check(!post_recv(&a, 100 + i, 0, 10));
	to_reset(a.qp);
	to_reset(b.qp);
	refused_in_state();
	check(post_recv(&a, 1, 0, 10) == EINVAL);
	to_init(a.qp);
	refused_in_state();
	check(!post_recv(&a, 2, 0, 10));
	to_rtr(a.qp, &b, b.qp->qp_num);
	refused_in_state();
	to_init(b.qp);
	to_rtr(b.qp, &a, a.qp->qp_num);
	to_rts(a.qp);
	to_rts(b.qp);
	check(!post_send(&b, 3, 0, 10));
	expect(b.cq, 3, IBV_WC_SUCCESS);
	expect(a.cq, 2, IBV_WC_SUCCESS);

	/* In the error state everything is flushed, whenever it was posted. */
	check(!post_recv(&a, 4, 0, 10));
	to_error(a.qp);
	expect(a.cq, 4, IBV_WC_WR_FLUSH_ERR);
	check(!post_recv(&a, 5, 0, 10));
	expect(a.cq, 5, IBV_WC_WR_FLUSH_ERR);
	check(!post_send(&a, 6, 0, 10));
	expect(a.cq, 6, IBV_WC_WR_FLUSH_ERR);
	pair_down();
}

/* The first message to a queue pair in RTR is told to its process, once. */
void test_comm_est(void)
{
	pair_up(IBV_QPT_RC);
	to_reset(a.qp);
	to_reset(b.qp);
	to_init(a.qp);
	to_init(b.qp);
	to_rtr(a.qp, &b, b.qp->qp_num);
	to_rtr(b.qp, &a, a.qp->qp_num);
	to_rts(a.qp);
	check(!post_recv(&b, 1, 0, 10));
	check(!post_recv(&b, 2, 0, 10));
	check(!post_send(&a, 3, 0, 10));
	check(!post_send(&a, 4, 0, 10));
	expect_event_of(b.qp, IBV_EVENT_COMM_EST);
	expect_all(a.cq, 3, 2, IBV_WC_SUCCESS);
	expect_all(b.cq, 1, 2, IBV_WC_SUCCESS);
	to_rts(b.qp);
	check(!post_recv(&a, 5, 0, 10));
	check(!post_send(&b, 6, 0, 10));
	expect(b.cq, 6, IBV_WC_SUCCESS);
	expect(a.cq, 5, IBV_WC_SUCCESS);
	expect_no_event(b.context);
	pair_down();
}

/* Queues fill up, and are full; nothing is lost. */
void test_full(void)
{
	unsigned int sent = 0, received = 0, i;
	int ret;

	pair_up(IBV_QPT_RC);
	mem_fill(&a, 5);
	memset(b.mem, 0, ROOM);
	/* Nobody receives yet. */
	while (!(ret = post_send(&a, sent, sent, 1)))
		check(++sent <= DEPTH);
	check(ret == ENOMEM && sent == DEPTH);
	/* Those that are posted are taken meanwhile. */
	while (!(ret = post_recv(&b, received, received, 1)))
		check(++received <= 2 * DEPTH);
	check(ret == ENOMEM && received >= DEPTH);
	for (i = 0; i < received; i++) {
		if (i >= sent)
			check(!post_send(&a, i, i, 1));
		expect(a.cq, i, IBV_WC_SUCCESS);
		expect(b.cq, i, IBV_WC_SUCCESS);
	}
	check(!memcmp(a.mem, b.mem, received));
	/* Around the rings a few times. */
	for (i = 0; i < 5 * DEPTH; i++) {
		check(!post_recv(&b, i, 0, 10));
		check(!post_send(&a, i, 0, 10));
		expect(a.cq, i, IBV_WC_SUCCESS);
		expect(b.cq, i, IBV_WC_SUCCESS);
	}
	pair_down();
}

/* A CQ of another size has what was in it; of too small a size it stays as it is. */
void test_resize_cq(void)
{
	struct ibv_cq *first = a.cq;
	int i, next = 0;

	a.cq = ibv_create_cq(a.context, 16, NULL, NULL, 0);
	check(a.cq);
	pair_up(IBV_QPT_RC);
	for (i = 0; i < 10; i++) {
		check(!post_recv(&b, i, 0, 10));
		check(!post_send(&a, i, 0, 10));
		expect(b.cq, i, IBV_WC_SUCCESS);
	}
	for (; next < 3; next++)
		expect(a.cq, next, IBV_WC_SUCCESS);
	check(!ibv_resize_cq(a.cq, 100) && a.cq->cqe >= 100);
	for (; next < 5; next++)
		expect(a.cq, next, IBV_WC_SUCCESS);
	check(ibv_resize_cq(a.cq, 2) == EINVAL && a.cq->cqe >= 100);
	expect(a.cq, next++, IBV_WC_SUCCESS);
	check(!ibv_resize_cq(a.cq, 8));
	for (; i < 14; i++) {
		check(!post_recv(&b, i, 0, 10));
		check(!post_send(&a, i, 0, 10));
		expect(b.cq, i, IBV_WC_SUCCESS);
		expect(a.cq, next++, IBV_WC_SUCCESS);
	}
	for (; next < i; next++)
		expect(a.cq, next, IBV_WC_SUCCESS);
	pair_down();
	check(!ibv_destroy_cq(a.cq));
	a.cq = first;
}

/* Posts 20 messages, those with even numbers from the first QP. */
static void send_by_two(struct ibv_qp *qp[2][2])
{
	int i;

	for (i = 0; i < 20; i++) {
		a.qp = qp[i % 2][0];
		b.qp = qp[i % 2][1];
		check(!post_recv(&b, i, 0, 10));
		check(!post_send(&a, i, 0, 10));
		expect(b.cq, i, IBV_WC_SUCCESS);
	}
}

/* Polls @count, of the 20 that are not in @seen yet. */
static void poll_some(unsigned int *seen, int count)
{
	struct ibv_wc wc;

	while (count--) {
		wc = next_wc(a.cq);
		check(!wc.status && wc.wr_id < 20 && !(*seen & 1U << wc.wr_id));
		*seen |= 1U << wc.wr_id;
	}
}

/*
 * When a QP is reset or destroyed its completions go, and no others.  The last of them may
 * not be there yet, since the receiver has its completion before the sender.
 */
void test_clean(void)
{
	const unsigned int odd = 0xaaaaa;
	struct ibv_qp_init_attr_ex attr;
	unsigned int seen, before;
	struct ibv_qp *qp[2][2];
	int i;

	for (i = 0; i < 2; i++) {
		attr = qp_attr(&a, IBV_QPT_RC);
		qp[i][0] = qp_make(&a, &attr);
		attr = qp_attr(&b, IBV_QPT_RC);
		qp[i][1] = qp_make(&b, &attr);
		connect_qps(qp[i][0], qp[i][1]);
	}
	for (i = 0; i < 2; i++) {
		send_by_two(qp);
		seen = 0;
		poll_some(&seen, 3);
		before = seen;
		if (i) {
			check(!ibv_destroy_qp(qp[0][0]));
		} else {
			to_reset(qp[0][0]);
			to_reset(qp[0][1]);
			connect_qps(qp[0][0], qp[0][1]);
		}
		poll_some(&seen, __builtin_popcount(odd & ~before));
		check((seen & ~before) == (odd & ~before));
		expect_none(a.cq);
	}
	check(!ibv_destroy_qp(qp[0][1]));
	check(!ibv_destroy_qp(qp[1][0]));
	check(!ibv_destroy_qp(qp[1][1]));
}

static uint64_t realtime(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* The sender knows already that it is on its way. */
static void poll_ex_start(struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr none = { 0 };
	time_t end = time(NULL) + 10;
	int ret;

	do {
		ret = ibv_start_poll(cq, &none);
	} while (ret == ENOENT && time(NULL) < end);
	check(!ret);
}

static void poll_ex_next(struct ibv_cq_ex *cq)
{
	time_t end = time(NULL) + 10;
	int ret;

	do {
		ret = ibv_next_poll(cq);
	} while (ret == ENOENT && time(NULL) < end);
	check(!ret);
}

static void poll_ex_entry(struct ibv_cq_ex *cq, uint64_t id, uint64_t since)
{
	check(cq->wr_id == id && cq->status == IBV_WC_SUCCESS);
	check(ibv_wc_read_opcode(cq) == IBV_WC_RECV);
	check(ibv_wc_read_byte_len(cq) == 10 + id);
	check(ibv_wc_read_qp_num(cq) == b.qp->qp_num);
	check(ibv_wc_read_wc_flags(cq) == 0);
	check(ibv_wc_read_completion_wallclock_ns(cq) >= since);
	check(ibv_wc_read_completion_wallclock_ns(cq) <= realtime());
	check(ibv_wc_read_completion_ts(cq) == ibv_wc_read_completion_wallclock_ns(cq));
}

static void poll_ex(uint32_t flags)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 16,
		.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = flags,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(b.context, &attr);
	struct ibv_poll_cq_attr none = { 0 };
	__u64 since = realtime();
	struct ibv_cq *first = b.cq;
	int i;

	check(cq);
	b.cq = ibv_cq_ex_to_cq(cq);
	pair_up(IBV_QPT_RC);
	check(ibv_start_poll(cq, &none) == ENOENT);
	for (i = 0; i < 30; i++) {
		check(!post_recv(&b, i, 0, 100));
		check(!post_send(&a, i, 0, 10 + i));
		expect(a.cq, i, IBV_WC_SUCCESS);
		if (i % 3 < 2)
			continue;
		poll_ex_start(cq);
		poll_ex_entry(cq, i - 2, since);
		poll_ex_next(cq);
		poll_ex_entry(cq, i - 1, since);
		poll_ex_next(cq);
		poll_ex_entry(cq, i, since);
		if (i % 2)
			check(ibv_next_poll(cq) == ENOENT);
		ibv_end_poll(cq);
	}
	check(ibv_start_poll(cq, &none) == ENOENT);
	pair_down();
	check(!ibv_destroy_cq(b.cq));
	b.cq = first;
}

void test_poll_ex(void)
{
	poll_ex(0);
	poll_ex(IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
}

/* An event for the next completion after the CQ was armed; or the next that is solicited. */
void test_cq_event(void)
{
	struct pollfd fd = { .fd = b.channel->fd, .events = POLLIN };
	struct ibv_sge sge = mem_sge(&a, 0, 10);
	struct ibv_send_wr wr = {
		.wr_id = 2,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED,
	};
	struct ibv_cq *cq;
	void *context;

	pair_up(IBV_QPT_RC);
	check(!ibv_req_notify_cq(b.cq, 1));
	check(!post_recv(&b, 1, 0, 10) && !post_recv(&b, 2, 0, 10));
	check(!post_send(&a, 1, 0, 10));
	expect(a.cq, 1, IBV_WC_SUCCESS);
	expect(b.cq, 1, IBV_WC_SUCCESS);
	check(!poll(&fd, 1, 0));
	check(!post_wr(a.qp, &wr));
	check(poll(&fd, 1, 10000) == 1);
	check(!ibv_get_cq_event(b.channel, &cq, &context));
	check(cq == b.cq && context == &b);
	ibv_ack_cq_events(cq, 1);
	expect(a.cq, 2, IBV_WC_SUCCESS);
	expect(b.cq, 2, IBV_WC_SUCCESS);
	pair_down();
}

/* ---- threads: four post to one QP, lists of requests; two poll its CQ ---- */

#define THREADS		4
#define LISTS		500
#define LIST		4
#define REQUESTS	(THREADS * LISTS * LIST)

/* What the CQ has room for: the send queue may be free again before anybody polls. */
static sem_t room;
static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char seen[REQUESTS];
static int seen_count;

static void post_list(__u64 id)
{
	struct ibv_send_wr wr[LIST], *next = wr, *bad;
	int i, ret;

	for (i = 0; i < LIST; i++) {
		sem_wait(&room);
		wr[i] = rdma_wr(IBV_WR_RDMA_WRITE, id + i, &b, 0);
		wr[i].next = i + 1 < LIST ? &wr[i + 1] : NULL;
	}
	while ((ret = ibv_post_send(a.qp, next, &bad)) == ENOMEM)
		next = bad;
	check(!ret);
}

static void *post_thread(void *arg)
{
	__u64 first = (uintptr_t)arg * LISTS * LIST;
	unsigned int i;

	for (i = 0; i < LISTS; i++)
		post_list(first + i * LIST);
	return NULL;
}

static void *poll_thread(void *arg)
{
	struct ibv_wc wc[8];
	int i, n, all;

	(void)arg;
	do {
		n = ibv_poll_cq(a.cq, 8, wc);
		check(n >= 0);
		pthread_mutex_lock(&seen_lock);
		for (i = 0; i < n; i++) {
			sem_post(&room);
			check(!wc[i].status && wc[i].wr_id < REQUESTS);
			check(!seen[wc[i].wr_id]++);
		}
		seen_count += n;
		all = seen_count == REQUESTS;
		pthread_mutex_unlock(&seen_lock);
	} while (!all);
	return NULL;
}

void test_threads(void)
{
	pthread_t threads[THREADS + 2];
	uintptr_t i;

	pair_up(IBV_QPT_RC);
	check(!sem_init(&room, 0, 2 * DEPTH));
	for (i = 0; i < THREADS; i++)
		check(!pthread_create(&threads[i], NULL, post_thread, (void *)i));
	for (; i < THREADS + 2; i++)
		check(!pthread_create(&threads[i], NULL, poll_thread, NULL));
	for (i = 0; i < THREADS + 2; i++)
		check(!pthread_join(threads[i], NULL));
	pair_down();
}
