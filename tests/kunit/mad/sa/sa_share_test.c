// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Identical path queries share a MAD, and each has the result that it would have alone.
 */
#include <linux/kthread.h>
#include <linux/prandom.h>
#include "faults.h"
#include "fake_sa.h"
#include "wait.h"

#define ASKED	8
#define MANY	1000
#define ALIKE	(IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_PREFERENCE)

static struct fake_sa *sa;
static struct fake_hca *hca;
static struct ib_sa_client client;
static atomic_t told;

/* A query, and the calls of its callback. */
static struct asked {
	struct ib_sa_query *query;
	int id;
	unsigned int calls;
	int status;
	unsigned long when;
	u16 dlid;
} asked[MANY];

static int share_test_init(struct kunit *test)
{
	memset(asked, 0, sizeof(asked));
	atomic_set(&told, 0);
	return fake_sa_begin(&sa, &hca, &client);
}

static void share_test_exit(struct kunit *test)
{
	fake_sa_end(&sa, &hca);
}

static void path_cb(int status, struct sa_path_rec *path, unsigned int paths,
		    void *context)
{
	struct asked *a = context;

	a->calls++;
	a->status = status;
	a->when = jiffies;
	a->dlid = path ? be32_to_cpu(sa_path_get_dlid(path)) : 0;
	atomic_inc(&told);
}

struct question {
	unsigned long timeout_ms;	/* 10000 if 0 */
	u32 port;			/* 1 if 0 */
	u8 preference;
	ib_sa_comp_mask more;
};

static int ask_one(int i, const struct question *question)
{
	struct sa_path_rec rec = {
		.rec_type = SA_PATH_REC_TYPE_IB,
		.dgid.raw = { 0xfe, 0x80, [15] = 1 },
		.preference = question->preference,
	};

	sa_path_set_dlid(&rec, 0x77);
	asked[i].id = ib_sa_path_rec_get(&client, &hca->ibdev, question->port ?: 1, &rec,
					 ALIKE | question->more,
					 question->timeout_ms ?: 10000, GFP_KERNEL,
					 path_cb, &asked[i], &asked[i].query);
	return asked[i].id;
}

/* @n identical queries, numbered from 0; the SA gets the first. */
static void ask_alike(struct kunit *test, int n)
{
	const struct question question = {};
	int i;

	for (i = 0; i < n; i++)
		KUNIT_ASSERT_GT(test, ask_one(i, &question), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&sa->requests, 1));
}

static u64 shared(void)
{
	return mad_counter(ibmad_sa_port(&hca->ibdev, 1)->agent, IBMAD_SA_SHARED);
}

static void expect_all(struct kunit *test, int from, int to, int status)
{
	for (; from < to; from++) {
		KUNIT_EXPECT_EQ_MSG(test, asked[from].calls, 1u, "query %d", from);
		KUNIT_EXPECT_EQ_MSG(test, asked[from].status, status, "query %d", from);
		KUNIT_EXPECT_EQ_MSG(test, asked[from].dlid, status ? 0 : 0x77,
				    "query %d", from);
	}
}

static void expect_idle(struct kunit *test)
{
	struct sa_port *port = ibmad_sa_port(&hca->ibdev, 1);

	fake_sa_expect_idle(test, hca, &client);
	KUNIT_EXPECT_EQ(test, atomic_read(&port->leaders.nelems), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&port->left));
}

static void a_thousand_share_one_mad(struct kunit *test)
{
	sa->hold = true;
	ask_alike(test, MANY);
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->requests), 1);
	KUNIT_EXPECT_EQ(test, shared(), MANY - 1);
	fake_sa_release(sa);
	KUNIT_ASSERT_TRUE(test, mad_wait(&told, MANY));
	expect_all(test, 0, MANY, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->requests), 1);
	expect_idle(test);
}

static void after_the_answer_it_is_asked_anew(struct kunit *test)
{
	const struct question question = {};
	int i;

	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_GT(test, ask_one(i, &question), 0);
		KUNIT_ASSERT_TRUE(test, mad_wait(&told, i + 1));
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->requests), 3);
	KUNIT_EXPECT_EQ(test, shared(), 0);
	expect_idle(test);
}

static void what_is_not_alike(struct kunit *test)
{
	static const struct question different[] = {
		{}, { .preference = 1 }, { .port = 2 },
		{ .more = IB_SA_PATH_REC_SGID },
		/* It would have to wait for the first one's timeout. */
		{ .timeout_ms = 500 },
	};
	int i;

	sa->hold = true;
	for (i = 0; i < ARRAY_SIZE(different); i++) {
		KUNIT_ASSERT_GT(test, ask_one(i, &different[i]), 0);
		KUNIT_ASSERT_TRUE(test, mad_wait(&sa->requests, i + 1));
	}
	KUNIT_EXPECT_EQ(test, shared(), 0);
	fake_sa_release(sa);
	KUNIT_ASSERT_TRUE(test, mad_wait(&told, i));
	expect_all(test, 0, i, 0);
	expect_idle(test);
}

static void an_error_is_told_to_all(struct kunit *test)
{
	sa->hold = true;
	sa->status = 0x0300;
	ask_alike(test, ASKED);
	fake_sa_release(sa);
	KUNIT_ASSERT_TRUE(test, mad_wait(&told, ASKED));
	expect_all(test, 0, ASKED, -EINVAL);
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->requests), 1);
	expect_idle(test);
}

static void the_first_is_cancelled(struct kunit *test)
{
	sa->hold = true;
	ask_alike(test, ASKED);
	ib_sa_cancel_query(asked[0].id, asked[0].query);
	KUNIT_ASSERT_TRUE(test, mad_wait(&told, 1));
	expect_all(test, 0, 1, -EINTR);
	/* The second query is sent, and the others share it. */
	KUNIT_ASSERT_TRUE(test, mad_wait(&sa->requests, 2));
	fake_sa_quiesce(hca);
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->requests), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&told), 1);
	fake_sa_release(sa);
	KUNIT_ASSERT_TRUE(test, mad_wait(&told, ASKED));
	expect_all(test, 1, ASKED, 0);
	expect_idle(test);
}

static void one_that_rides_is_cancelled(struct kunit *test)
{
	sa->hold = true;
	ask_alike(test, ASKED);
	ib_sa_cancel_query(asked[3].id, asked[3].query);
	KUNIT_ASSERT_TRUE(test, mad_wait(&told, 1));
	expect_all(test, 3, 4, -EINTR);
	ib_sa_cancel_query(asked[3].id, asked[3].query);
	fake_sa_quiesce(hca);
	KUNIT_EXPECT_EQ(test, atomic_read(&told), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->requests), 1);
	fake_sa_release(sa);
	KUNIT_ASSERT_TRUE(test, mad_wait(&told, ASKED));
	expect_all(test, 0, 3, 0);
	expect_all(test, 4, ASKED, 0);
	expect_idle(test);
}

static void all_are_cancelled(struct kunit *test)
{
	int i;

	sa->hold = true;
	ask_alike(test, ASKED);
	for (i = ASKED; i--;)
		ib_sa_cancel_query(asked[i].id, asked[i].query);
	KUNIT_ASSERT_TRUE(test, mad_wait(&told, ASKED));
	expect_all(test, 0, ASKED, -EINTR);
	expect_idle(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->requests), 1);
}

static void those_in_time_together_end_together(struct kunit *test)
{
	unsigned long start = jiffies;

	sa->deaf = true;
	ask_alike(test, ASKED);
	KUNIT_ASSERT_TRUE(test, mad_wait(&told, ASKED));
	expect_all(test, 0, ASKED, -ETIMEDOUT);
	KUNIT_EXPECT_LE(test, took_ms(asked[ASKED - 1].when - start), 11700);
	fake_sa_quiesce(hca);
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->requests), 10);
	expect_idle(test);
}

/* It began later: when the first query ends it is sent, with its own timeout. */
static void one_that_came_later_has_its_time(struct kunit *test)
{
	const struct question question = {};
	unsigned long start;

	sa->deaf = true;
	ask_alike(test, 2);
	msleep(5000);
	start = jiffies;
	KUNIT_ASSERT_GT(test, ask_one(2, &question), 0);
	KUNIT_ASSERT_GT(test, ask_one(3, &question), 0);
	KUNIT_EXPECT_EQ(test, shared(), 3);
	KUNIT_ASSERT_TRUE(test, mad_wait(&told, 2));
	expect_all(test, 0, 2, -ETIMEDOUT);
	KUNIT_ASSERT_TRUE(test, mad_wait(&told, 4));
	expect_all(test, 2, 4, -ETIMEDOUT);
	KUNIT_EXPECT_GE(test, jiffies_to_msecs(asked[2].when - start), 9000u);
	KUNIT_EXPECT_LE(test, took_ms(asked[2].when - start), 11700u);
	fake_sa_quiesce(hca);
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->requests), 20);
	expect_idle(test);
}

static void one_that_came_later_is_answered(struct kunit *test)
{
	const struct question question = {};

	sa->deaf = true;
	ask_alike(test, 1);
	msleep(5000);
	KUNIT_ASSERT_GT(test, ask_one(1, &question), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&told, 1));
	sa->deaf = false;
	KUNIT_ASSERT_TRUE(test, mad_wait(&told, 2));
	expect_all(test, 0, 1, -ETIMEDOUT);
	expect_all(test, 1, 2, 0);
	expect_idle(test);
}

/* A new query does not share one that was sent to the former SM either. */
static void the_manager_moves(struct kunit *test)
{
	struct fake_sa *other = fake_sa_create();
	const struct question question = {};

	KUNIT_ASSERT_NOT_NULL(test, other);
	sa->hold = true;
	ask_alike(test, 2);
	fake_sa_move(hca, other, IB_EVENT_SM_CHANGE);
	KUNIT_ASSERT_GT(test, ask_one(2, &question), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&told, 1));
	expect_all(test, 2, 3, 0);
	/* The waiting queries are sent to the new SM when the first one ends. */
	ib_sa_cancel_query(asked[0].id, asked[0].query);
	KUNIT_ASSERT_TRUE(test, mad_wait(&told, 3));
	expect_all(test, 0, 1, -EINTR);
	expect_all(test, 1, 2, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&other->requests), 2);
	fake_sa_move(hca, sa, IB_EVENT_SM_CHANGE);
	fake_sa_destroy(other);
}

static void the_next_cannot_be_sent(struct kunit *test)
{
	sa->hold = true;
	ask_alike(test, 3);
	atomic_set(&hca->fail_post_send, 1);
	ib_sa_cancel_query(asked[0].id, asked[0].query);
	KUNIT_ASSERT_TRUE(test, mad_wait(&told, 2));
	expect_all(test, 0, 1, -EINTR);
	expect_all(test, 1, 2, -EIO);
	fake_sa_release(sa);
	KUNIT_ASSERT_TRUE(test, mad_wait(&told, 3) || mad_wait(&sa->requests, 2));
	fake_sa_release(sa);
	KUNIT_ASSERT_TRUE(test, mad_wait(&told, 3));
	expect_all(test, 2, 3, 0);
	expect_idle(test);
}

static void the_device_goes(struct kunit *test)
{
	sa->hold = true;
	ask_alike(test, ASKED);
	fake_hca_destroy(hca);
	hca = NULL;
	KUNIT_EXPECT_EQ(test, atomic_read(&told), ASKED);
	expect_all(test, 0, ASKED, -EINTR);
	KUNIT_EXPECT_EQ(test, atomic_read(&client.users), 1);
}

static int ask_with_a_fault(struct kunit *test)
{
	const struct question question = {};
	int before = atomic_read(&told), n = 0, ret;

	asked[0] = (struct asked) {};
	asked[1] = (struct asked) {};
	ret = ask_one(0, &question);
	n += ret > 0;
	ret = ask_one(1, &question);
	n += ret > 0;
	KUNIT_EXPECT_TRUE(test, mad_wait(&told, before + n));
	return n == 2 ? 0 : -ENOMEM;
}

static void each_allocation_fails(struct kunit *test)
{
	KUNIT_EXPECT_GT(test, ibex_each_allocation(test, ask_with_a_fault), 0);
	expect_idle(test);
}

/* ---- many at once ---- */

#define ROUNDS	20
#define CROWD	40

static int cancel_some(void *seed)
{
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, (unsigned long)seed);
	for (i = 0; i < CROWD; i++) {
		struct asked *a = &asked[prandom_u32_state(&rnd) % CROWD];

		if (prandom_u32_state(&rnd) % 3)
			ib_sa_cancel_query(a->id, a->query);
		usleep_range(1, 1 + prandom_u32_state(&rnd) % 200);
	}
	return 0;
}

/* Each query is called back once, whether cancelled, answered or timed out. */
static void cancelled_against_answered(struct kunit *test)
{
	const struct question question = { .timeout_ms = 200 };
	unsigned long seed;
	int i;

	for (seed = 1; seed <= ROUNDS; seed++) {
		struct task_struct *task;

		memset(asked, 0, sizeof(asked));
		atomic_set(&told, 0);
		sa->hold = true;
		sa->deaf = seed % 4 == 0;
		for (i = 0; i < CROWD; i++)
			KUNIT_ASSERT_GT(test, ask_one(i, &question), 0);
		task = kthread_create(cancel_some, (void *)seed, "cancel");
		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
		get_task_struct(task);
		wake_up_process(task);
		usleep_range(seed * 50, seed * 60);
		fake_sa_release(sa);
		KUNIT_ASSERT_TRUE(test, mad_wait(&told, CROWD));
		kthread_stop_put(task);
		fake_sa_quiesce(hca);
		for (i = 0; i < CROWD; i++)
			KUNIT_EXPECT_EQ(test, asked[i].calls, 1u);
		expect_idle(test);
	}
}

static struct kunit_case share_cases[] = {
	KUNIT_CASE(a_thousand_share_one_mad),
	KUNIT_CASE(after_the_answer_it_is_asked_anew),
	KUNIT_CASE(what_is_not_alike),
	KUNIT_CASE(an_error_is_told_to_all),
	KUNIT_CASE(the_first_is_cancelled),
	KUNIT_CASE(one_that_rides_is_cancelled),
	KUNIT_CASE(all_are_cancelled),
	KUNIT_CASE_SLOW(those_in_time_together_end_together),
	KUNIT_CASE_SLOW(one_that_came_later_has_its_time),
	KUNIT_CASE_SLOW(one_that_came_later_is_answered),
	KUNIT_CASE(the_manager_moves),
	KUNIT_CASE(the_next_cannot_be_sent),
	KUNIT_CASE(the_device_goes),
	KUNIT_CASE(each_allocation_fails),
	KUNIT_CASE_SLOW(cancelled_against_answered),
	{}
};

static struct kunit_suite ibmad_sa_share_suite = {
	.name = "ibmad_sa_share",
	.init = share_test_init,
	.exit = share_test_exit,
	.test_cases = share_cases,
};

kunit_test_suite(ibmad_sa_share_suite);
