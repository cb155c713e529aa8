// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Events and completions: two connected QPs send to one another, by the queues that rdma_rxe
 * shares with a process.  What must come is waited for, with a bound.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <rdma/rdma_user_rxe.h>
#include "diffverbs.h"

#define BOUND	3000	/* ms */

/* enum ib_event_type */
enum { CQ_ERROR, SQ_DRAINED = 5, SRQ_LIMIT = 15, LAST_WQE, TYPES_OF_EVENTS };

/* ---- descriptors ---- */

static bool readable(int fd, int timeout)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, timeout) > 0;
}

static bool read_async(struct object *o, int timeout, struct ib_uverbs_async_event_desc *event)
{
	return readable(o->handle, timeout) &&
	       read(o->handle, event, sizeof(*event)) == sizeof(*event);
}

/*
 * Reads until there was an event of each type of @mask, and what is there besides.  How often
 * rdma_rxe repeats some, and in which order those of several objects come, is chance.
 */
static void read_async_events(struct object *o, __u32 mask)
{
	struct ib_uverbs_async_event_desc event;
	__u64 elements[TYPES_OF_EVENTS];
	__u32 seen = 0;
	unsigned int i;

	while (read_async(o, mask & ~seen ? BOUND : 0, &event)) {
		if (event.event_type < TYPES_OF_EVENTS && !event.reserved &&
		    mask & 1u << event.event_type) {
			seen |= 1u << event.event_type;
			elements[event.event_type] = event.element;
		} else if (event.event_type != CQ_ERROR && event.event_type != LAST_WQE) {
			printf("  event of async%u: type %u element %llx %x\n", ordinal(o),
			       event.event_type, event.element, event.reserved);
		}
	}
	for (i = 0; i < TYPES_OF_EVENTS; i++) {
		if (seen & 1u << i)
			printf("  event of async%u: type %u element %llx\n", ordinal(o), i,
			       elements[i]);
		else if (mask & 1u << i)
			printf("  no event of async%u: type %u\n", ordinal(o), i);
	}
}

/* Reads a completion event if there must be one, and what is there besides. */
static void read_comp_events(struct object *o, bool must)
{
	struct ib_uverbs_comp_event_desc event;

	while (readable(o->handle, must ? BOUND : 0) &&
	       read(o->handle, &event, sizeof(event)) == sizeof(event)) {
		printf("  event of channel%u: %llx\n", ordinal(o), event.cq_handle);
		must = false;
	}
	if (must)
		printf("  no event of channel%u\n", ordinal(o));
}

/* A QP's events go to the descriptor that it was made with, or the first. */
static struct object *async_of(const struct object *qp)
{
	unsigned int i;

	for (i = 0; i < PARENTS && qp->parents[i]; i++)
		if (qp->parents[i]->type == ASYNC)
			return qp->parents[i];
	return first_object(ASYNC);
}

static bool has_srq(const struct object *qp)
{
	unsigned int i;

	for (i = 0; i < PARENTS && qp->parents[i]; i++)
		if (qp->parents[i]->type == SRQ)
			return true;
	return false;
}

void state_events(struct object *qp)
{
	if (qp->state == 4)		/* SQD */
		read_async_events(async_of(qp), 1u << SQ_DRAINED);
	else if (qp->state == 6 && has_srq(qp))
		read_async_events(async_of(qp), 1u << LAST_WQE);
}

/* ---- queues ---- */

static struct rxe_queue_buf *map_queue(const struct mminfo *at)
{
	void *queue = mmap(NULL, at->size, PROT_READ | PROT_WRITE, MAP_SHARED, device,
			   at->offset);

	if (queue == MAP_FAILED) {
		printf("  no queue\n");
		return NULL;
	}
	return queue;
}

static void *next_entry(struct rxe_queue_buf *q)
{
	return q->data + ((size_t)(q->producer_index & q->index_mask) << q->log2_elem_size);
}

static void produce(struct rxe_queue_buf *q)
{
	__atomic_store_n(&q->producer_index, (q->producer_index + 1) & q->index_mask,
			 __ATOMIC_RELEASE);
}

static struct rxe_dma_info one_sge(__u32 length)
{
	return (struct rxe_dma_info){ .length = length, .resid = length, .num_sge = 1 };
}

static void put_sge(struct rxe_dma_info *dma, const struct object *mr, __u32 length)
{
	const struct rxe_sge sge = { .addr = ARENA, .length = length, .lkey = mr->number };

	*dma = one_sge(length);
	memcpy(dma->sge, &sge, sizeof(sge));
}

static void post_receive(struct rxe_queue_buf *q, const struct object *mr)
{
	struct rxe_recv_wqe *wqe = next_entry(q);

	memset(wqe, 0, sizeof(*wqe));
	put_sge(&wqe->dma, mr, 64);
	produce(q);
}

static void put_send(struct rxe_queue_buf *q, const struct object *mr, bool solicited)
{
	struct rxe_send_wqe *wqe = next_entry(q);

	memset(wqe, 0, sizeof(*wqe));
	wqe->wr.opcode = IB_UVERBS_WR_SEND;
	wqe->wr.send_flags = 2 | (solicited ? 4 : 0);	/* signaled */
	put_sge(&wqe->dma, mr, 8);
	wqe->iova = ARENA;
	produce(q);
}

static unsigned int completions(const struct rxe_queue_buf *q)
{
	return (__atomic_load_n(&q->producer_index, __ATOMIC_ACQUIRE) - q->consumer_index) &
	       q->index_mask;
}

static void await_completions(const struct rxe_queue_buf *q, unsigned int number)
{
	const struct timespec step = { .tv_nsec = 1000000 };
	unsigned int ms;

	for (ms = 0; completions(q) < number && ms < BOUND; ms++)
		nanosleep(&step, NULL);
	printf("  %u completions\n", completions(q));
}

/* ---- the scene ---- */

static struct {
	struct object *channel, *cq, *srq, *mr, *qps[2];
	struct rxe_queue_buf *cq_at, *receives, *sends;
	bool small;			/* the CQ */
	bool solicited;			/* the messages are */
	bool only_solicited;		/* completions cause an event */
	bool limited;			/* the SRQ has a limit */
	__u32 caused;			/* types of asynchronous events that are not read */
	unsigned int number, sent;	/* receives, messages */
} s;

static void want_region(struct call *c)
{
	set_field(c, "start", ARENA);
	set_field(c, "hca_va", ARENA);
	set_field(c, "length", 4096);
	set_field(c, "access_flags", 7);
}

static void want_cq(struct call *c)
{
	set_field(c, "cqe", s.small ? 1 : 100);
	set_field(c, "comp_channel", s.channel->handle);
}

static void want_srq(struct call *c)
{
	set_field(c, "max_wr", 16);
	set_field(c, "srq_limit", 0);
}

static void want_qp(struct call *c)
{
	set_field(c, "qp_type", IB_UVERBS_QPT_RC);
	set_field(c, "max_recv_wr", 16);
	set_field(c, "max_send_wr", 16);
	set_field(c, "is_srq", 0);
	field_is_unused(c, "srq_handle");
	if (!s.srq)
		return;
	set_field(c, "is_srq", 1);
	set_field(c, "srq_handle", s.srq->handle);
}

static void want_limit(struct call *c)
{
	set_field(c, "attr_mask", 2);
	set_field(c, "srq_limit", s.number + 1);
}

static bool make_memory(void)
{
	if (!do_right("alloc_pd") || !do_call(command("reg_mr"), false, want_region) ||
	    !do_right("create_comp_channel"))
		return false;
	s.mr = some_object(MR);
	s.channel = some_object(CHANNEL);
	if (!do_call(command(one_in(2) ? "create_cq" : "create_cq_ex"), false, want_cq))
		return false;
	s.cq = some_object(CQ);
	s.cq_at = map_queue((const struct mminfo *)driver_answer);
	if (one_in(2))
		return s.cq_at;
	if (!do_call(command("create_srq"), false, want_srq))
		return false;
	s.srq = some_object(SRQ);
	s.limited = one_in(2);
	s.receives = map_queue((const struct mminfo *)driver_answer);
	return s.cq_at && s.receives;
}

static bool make_qp(unsigned int i)
{
	const struct rxe_create_qp_resp *at = (const void *)driver_answer;

	if (!do_call(command(one_in(2) ? "create_qp" : "create_qp_ex"), false, want_qp))
		return false;
	s.qps[i] = last_object(QP);
	if (i == 0)
		s.sends = map_queue(&at->sq_mi);
	else if (!s.srq)
		s.receives = map_queue(&at->rq_mi);
	return s.sends && (i == 0 || s.receives);
}

static void want_notify(struct call *c)
{
	set_field(c, "solicited_only", s.only_solicited);
}

static void receive_and_send(void)
{
	unsigned int i;

	for (i = 0; i < s.number; i++)
		post_receive(s.receives, s.mr);
	if (s.limited)
		do_call(command("modify_srq"), false, want_limit);
	do_call(command("req_notify_cq"), false, want_notify);
	for (i = 0; i < s.sent; i++)
		put_send(s.sends, s.mr, s.solicited);
	prefer(QP, s.qps[0]);
	do_right("post_send");
	prefer(QP, NULL);
	/* Those of both ends; for the second there is no room in a small CQ. */
	await_completions(s.cq_at, s.small ? 1 : 2 * s.sent);
	s.caused = (s.small ? 1u << CQ_ERROR : 0) | (s.limited ? 1u << SRQ_LIMIT : 0);
	if (one_in(3))
		return;
	read_comp_events(s.channel, !s.only_solicited || s.solicited);
	read_async_events(first_object(ASYNC), s.caused);
	s.caused = 0;
}

/*
 * Receives that are left are flushed, which is an error of a CQ without room, unless they are
 * in an SRQ: then the QP says that it takes no more of them.
 */
static void end_of_qp(void)
{
	unsigned int flushed = s.srq ? 0 : s.number - s.sent;

	modify_to(s.qps[1], 6);
	/* With an SRQ there was an event to wait for, and the others were read with it. */
	if (s.srq)
		s.caused = 0;
	await_completions(s.cq_at, s.small ? 1 : 2 * s.sent + flushed);
	if (s.small && flushed)
		s.caused |= 1u << CQ_ERROR;
	read_async_events(first_object(ASYNC), s.caused);
}

/* Destroys in an order that works; the answers tell how many events were read. */
static void destroy_all(void)
{
	do_right(one_in(2) ? "destroy_qp" : "ioctl_qp_destroy");
	if (one_in(2))
		do_call(command("destroy_cq"), true, NULL);
	do_right(one_in(2) ? "destroy_qp" : "ioctl_qp_destroy");
	if (s.srq)
		do_right(one_in(2) ? "destroy_srq" : "ioctl_srq_destroy");
	do_right(one_in(2) ? "destroy_cq" : "ioctl_cq_destroy");
}

void some_events(void)
{
	memset(&s, 0, sizeof(s));
	s.small = one_in(4);
	s.number = 1 + rnd(4);
	s.sent = s.small ? 1 : 1 + rnd(s.number);
	s.solicited = one_in(2);
	s.only_solicited = one_in(2);
	if (!make_memory() || !make_qp(0) || !make_qp(1))
		return;
	connect_to(s.qps[0], s.qps[1]->number);
	connect_to(s.qps[1], s.qps[0]->number);
	receive_and_send();
	end_of_qp();
	destroy_all();
}
