// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Processes that share an XRC domain and a target QP in it through a file. */
#include <linux/fcntl.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/shmem_fs.h>
#include "user/queues/events.h"
#include "user/queues/process_queues.h"
#include "user/uverbs/race.h"
#include "user/fixture.h"

#define PROCESSES	3
#define RACES		300

struct process {
	struct ib_uverbs_file *file;	/* NULL: it has exited */
	int async;
	u32 xrcd, qp;			/* handles */
};

static struct process processes[PROCESSES];
static struct ib_qp *real;		/* the QP that they share */
static u32 qpn;
static int domain_fd;

static int a_file(struct kunit *test)
{
	struct file *file = shmem_file_setup("xrcd", PAGE_SIZE, 0);
	int fd = get_unused_fd_flags(O_CLOEXEC);

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_ASSERT_GE(test, fd, 0);
	fd_install(fd, file);
	return fd;
}

static int open_domain(struct commands *c, int fd, u32 *handle)
{
	struct ib_uverbs_open_xrcd cmd = { .fd = fd, .oflags = O_CREAT };
	struct ib_uverbs_open_xrcd_resp resp;
	int ret;

	ret = commands_write(c, CMD(OPEN_XRCD), &cmd, sizeof(cmd), &resp, sizeof(resp));
	*handle = resp.xrcd_handle;
	return ret;
}

static int close_domain(struct commands *c, u32 handle)
{
	struct ib_uverbs_close_xrcd cmd = { .xrcd_handle = handle };

	return commands_write(c, CMD(CLOSE_XRCD), &cmd, sizeof(cmd), NULL, 0);
}

/* Opens the QP with the user handle @name. */
static int open_qp(struct commands *c, u32 xrcd, u64 name, u32 *handle)
{
	struct ib_uverbs_open_qp cmd = { .user_handle = name, .pd_handle = xrcd,
					 .qpn = qpn, .qp_type = IB_QPT_XRC_TGT };
	struct ib_uverbs_create_qp_resp resp;
	int ret;

	ret = commands_write(c, CMD(OPEN_QP), &cmd, sizeof(cmd), &resp, sizeof(resp));
	*handle = resp.qp_handle;
	return ret;
}

static int destroy_qp(struct commands *c, u32 handle, u32 *events)
{
	struct ib_uverbs_destroy_qp cmd = { .qp_handle = handle };
	struct ib_uverbs_destroy_qp_resp resp;
	int ret;

	ret = commands_write(c, CMD(DESTROY_QP), &cmd, sizeof(cmd), &resp, sizeof(resp));
	*events = resp.events_reported;
	return ret;
}

static void make_qp(struct commands *c, struct process *p)
{
	struct ib_uverbs_ex_create_qp_resp resp;
	struct ib_uverbs_ex_create_qp cmd;
	struct ib_qp *qp;

	queues_qp_cmd(&cmd, IB_QPT_XRC_TGT);
	cmd.user_handle = p - processes;
	cmd.pd_handle = p->xrcd;
	KUNIT_ASSERT_EQ(c->test, queues_create_qp(c, &cmd, &resp), 0);
	p->qp = resp.base.qp_handle;
	qpn = resp.base.qpn;
	qp = commands_object(c, UVERBS_OBJECT_QP, p->qp);
	real = qp->real_qp;
	KUNIT_ASSERT_PTR_NE(c->test, real, qp);
}

/* The first process creates the QP, the others open it. */
static void start(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_file *own = c->file;
	struct process *p;

	domain_fd = a_file(test);
	for (p = processes; p < processes + PROCESSES; p++) {
		c->file = commands_open(c);
		p->file = c->file;
		p->async = events_async(c);
		KUNIT_ASSERT_EQ(test, open_domain(c, domain_fd, &p->xrcd), 0);
		if (p == processes)
			make_qp(c, p);
		else
			KUNIT_ASSERT_EQ(test, open_qp(c, p->xrcd, p - processes, &p->qp), 0);
	}
	c->file = own;
	KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->alive[FAKE_XRCD]), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->alive[FAKE_QP]), 1);
}

/* Raises an event of the QP, which all openers get with their own user handle. */
static void raise_and_read(struct commands *c)
{
	struct ib_uverbs_async_event_desc desc;
	int i;

	fake_hca_qp_event(real, IB_EVENT_QP_LAST_WQE_REACHED);
	for (i = 0; i < PROCESSES; i++) {
		if (!processes[i].file)
			continue;
		desc = events_next(c, processes[i].async);
		KUNIT_EXPECT_EQ(c->test, (int)desc.event_type, IB_EVENT_QP_LAST_WQE_REACHED);
		KUNIT_EXPECT_EQ(c->test, desc.element, (u64)i);
		desc = events_next(c, processes[i].async);
		KUNIT_EXPECT_EQ(c->test, (int)desc.event_type, -1);
	}
}

enum leave { LEAVE_IN_ORDER, LEAVE_EXIT, LEAVE_KEEP_FD, NR_LEAVES };

static void leave(struct commands *c, struct process *p, enum leave how, u32 read)
{
	struct ib_uverbs_file *own = c->file;
	u32 events;

	if (how == LEAVE_KEEP_FD)
		fixture_close_fd(p->async);
	if (how == LEAVE_IN_ORDER) {
		c->file = p->file;
		KUNIT_EXPECT_EQ(c->test, close_domain(c, p->xrcd), -EBUSY);
		KUNIT_EXPECT_EQ(c->test, destroy_qp(c, p->qp, &events), 0);
		KUNIT_EXPECT_EQ(c->test, events, read);
		KUNIT_EXPECT_EQ(c->test, close_domain(c, p->xrcd), 0);
		c->file = own;
	}
	uverbs_file_close(p->file);
	p->file = NULL;
	if (how != LEAVE_KEEP_FD)
		fixture_close_fd(p->async);
}

static void check_order(struct kunit *test, const u8 *order, enum leave how)
{
	struct commands *c = test->priv;
	int i;

	start(test);
	for (i = 0; i < PROCESSES; i++) {
		raise_and_read(c);
		if (i == 1)
			close_fd(domain_fd);
		KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->alive[FAKE_XRCD]), 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->alive[FAKE_QP]), 1);
		leave(c, &processes[order[i]], how, i + 1);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->alive[FAKE_XRCD]), 0);
	queues_expect_idle(c);
}

static void they_leave_in_any_order(struct kunit *test)
{
	static const u8 orders[][PROCESSES] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
	};
	int i, how;

	for (i = 0; i < ARRAY_SIZE(orders); i++)
		for (how = 0; how < NR_LEAVES; how++)
			check_order(test, orders[i], how);
}

static void unread_events_go_with_the_handle_they_are_of(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_file *own = c->file;
	struct ib_uverbs_async_event_desc desc;
	u32 events;
	int i;

	start(test);
	for (i = 0; i < 5; i++)
		fake_hca_qp_event(real, IB_EVENT_COMM_EST);
	desc = events_next(c, processes[1].async);
	KUNIT_EXPECT_EQ(test, desc.element, 1ull);
	c->file = processes[1].file;
	KUNIT_EXPECT_EQ(test, destroy_qp(c, processes[1].qp, &events), 0);
	KUNIT_EXPECT_EQ(test, events, 1u);
	c->file = own;
	desc = events_next(c, processes[1].async);
	KUNIT_EXPECT_EQ(test, (int)desc.event_type, -1);
	for (i = 0; i < 5; i++) {
		desc = events_next(c, processes[0].async);
		KUNIT_EXPECT_EQ(test, (int)desc.event_type, IB_EVENT_COMM_EST);
		desc = events_next(c, processes[2].async);
		KUNIT_EXPECT_EQ(test, desc.element, 2ull);
	}
	for (i = 0; i < PROCESSES; i++)
		leave(c, &processes[i], LEAVE_EXIT, 0);
	close_fd(domain_fd);
	queues_expect_idle(c);
}

static void another_file_is_another_domain(struct kunit *test)
{
	struct commands *c = test->priv;
	int other = a_file(test), i;
	u32 xrcd, handle;

	start(test);
	KUNIT_ASSERT_EQ(test, open_domain(c, other, &xrcd), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->alive[FAKE_XRCD]), 2);
	KUNIT_EXPECT_EQ(test, open_qp(c, xrcd, 9, &handle), -EINVAL);
	KUNIT_EXPECT_EQ(test, close_domain(c, xrcd), 0);
	/* In the others' domain it can open any number of handles. */
	KUNIT_ASSERT_EQ(test, open_domain(c, domain_fd, &xrcd), 0);
	KUNIT_ASSERT_EQ(test, open_qp(c, xrcd, 8, &handle), 0);
	KUNIT_ASSERT_EQ(test, open_qp(c, xrcd, 9, &handle), 0);
	for (i = 0; i < PROCESSES; i++)
		leave(c, &processes[i], LEAVE_EXIT, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->alive[FAKE_QP]), 1);
	KUNIT_ASSERT_EQ(test, open_qp(c, xrcd, 7, &handle), 0);
	close_fd(domain_fd);
	close_fd(other);
	commands_close(c);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(c->hca), 0);
}

static void the_device_goes(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_async_event_desc desc;
	int i;

	start(test);
	fake_hca_qp_event(real, IB_EVENT_COMM_EST);
	ib_unregister_device(&c->hca->ibdev);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(c->hca), 0);
	for (i = 0; i < PROCESSES; i++) {
		desc = events_next(c, processes[i].async);
		KUNIT_EXPECT_EQ(test, (int)desc.event_type, IB_EVENT_DEVICE_FATAL);
		leave(c, &processes[i], LEAVE_EXIT, 0);
	}
	close_fd(domain_fd);
}

/* ---- at the same time ---- */

static int open_and_leave(struct racer *r)
{
	u32 xrcd, qp, events;
	int i, ret;

	for (i = 0; i < RACES; i++) {
		race_delay(3);
		ret = open_domain(&r->c, domain_fd, &xrcd);
		if (ret)
			return ret;
		ret = open_qp(&r->c, xrcd, 100, &qp);
		if (!ret) {
			r->counts[0]++;
			race_delay(3);
			ret = destroy_qp(&r->c, qp, &events);
			r->counts[1] += events;
		} else if (ret == -EINVAL) {
			/* All processes that had it open have closed it. */
			r->counts[2]++;
			ret = 0;
		}
		ret = ret ?: close_domain(&r->c, xrcd);
		if (ret)
			return ret;
	}
	return 0;
}

static int raise_often(struct racer *r)
{
	int i;

	for (i = 0; i < 2 * RACES; i++) {
		race_delay(3);
		fake_hca_qp_event(real, IB_EVENT_COMM_EST);
	}
	return 0;
}

/* The first process keeps the QP open all the time. */
static void handles_come_and_go_among_events(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_file *own = c->file;
	int i;

	start(test);
	race_shuffle(c, 333);
	for (i = 1; i < PROCESSES; i++) {
		c->file = processes[i].file;
		racer_go(c, &racers[i], open_and_leave);
	}
	c->file = own;
	racer_go(c, &racers[0], raise_often);
	for (i = 0; i < PROCESSES; i++)
		KUNIT_EXPECT_EQ(test, racer_wait(test, &racers[i]), 0);
	KUNIT_EXPECT_EQ(test, racers[1].counts[0] + racers[2].counts[0], 2u * RACES);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->alive[FAKE_QP]), 1);
	for (i = 0; i < PROCESSES; i++)
		leave(c, &processes[i], LEAVE_EXIT, 0);
	close_fd(domain_fd);
	queues_expect_idle(c);
}

/* The last process that has it open closes it while others try to open it. */
static void a_qp_is_opened_while_it_goes(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_file *own = c->file;
	unsigned int opened = 0, late = 0;
	int i, round;

	for (round = 1; round <= 20; round++) {
		race_shuffle(c, 0);
		start(test);
		race_shuffle(c, 5000 + round);
		for (i = 1; i < PROCESSES; i++) {
			u32 events;

			racers[i].counts[0] = 0;
			racers[i].counts[2] = 0;
			c->file = processes[i].file;
			KUNIT_EXPECT_EQ(test, destroy_qp(c, processes[i].qp, &events), 0);
			racer_go(c, &racers[i], open_and_leave);
		}
		c->file = own;
		race_delay(200);
		leave(c, &processes[0], LEAVE_EXIT, 0);
		for (i = 1; i < PROCESSES; i++) {
			KUNIT_EXPECT_EQ_MSG(test, racer_wait(test, &racers[i]), 0,
					    "seed %d", 5000 + round);
			opened += racers[i].counts[0];
			late += racers[i].counts[2];
			leave(c, &processes[i], LEAVE_EXIT, 0);
		}
		close_fd(domain_fd);
		queues_expect_idle(c);
	}
	KUNIT_EXPECT_GT(test, opened, 100u);
	KUNIT_EXPECT_GT(test, late, 100u);
}

static struct kunit_case xrc_share_cases[] = {
	KUNIT_CASE(they_leave_in_any_order),
	KUNIT_CASE(unread_events_go_with_the_handle_they_are_of),
	KUNIT_CASE(another_file_is_another_domain),
	KUNIT_CASE(the_device_goes),
	KUNIT_CASE_SLOW(handles_come_and_go_among_events),
	KUNIT_CASE_SLOW(a_qp_is_opened_while_it_goes),
	{}
};

static struct kunit_suite uverbs_xrc_share_suite = {
	.name = "uverbs_xrc_share",
	.init = race_init,
	.exit = race_exit,
	.test_cases = xrc_share_cases,
};

kunit_test_suite(uverbs_xrc_share_suite);
