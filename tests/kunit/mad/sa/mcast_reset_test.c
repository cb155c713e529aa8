// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Multicast membership when the SA forgets it, the device is removed, memory runs out. */
#include "faults.h"
#include "mcast.h"
#include "wait.h"

static void events_reset_memberships(struct kunit *test)
{
	static const enum ib_event_type events[] = {
		IB_EVENT_LID_CHANGE, IB_EVENT_CLIENT_REREGISTER, IB_EVENT_PORT_ERR,
	};
	struct ib_sa_mcmember_rec rec;
	int i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
		KUNIT_ASSERT_TRUE(test, mad_wait(&one.joined, i + 1));
		KUNIT_ASSERT_EQ(test, mcast_join(&two, BIT(NONMEMBER_JOIN)), 0);
		KUNIT_ASSERT_TRUE(test, mad_wait(&two.joined, i + 1));
		fake_sa_forget(mcast_sa);
		fake_sa_move(mcast_hca, mcast_sa, events[i]);
		KUNIT_EXPECT_TRUE(test, mad_wait(&one.resets, i + 1));
		KUNIT_EXPECT_TRUE(test, mad_wait(&two.resets, i + 1));
		/* Until then the old record of the group is found. */
		KUNIT_EXPECT_EQ(test, mcast_joined(&rec), 0);
		/* The group is not joined, so leaving sends nothing. */
		mcast_leave(&one);
		mcast_leave(&two);
		mcast_expect_left(test);
		KUNIT_EXPECT_EQ(test, mcast_joined(&rec), -EADDRNOTAVAIL);
		KUNIT_EXPECT_EQ(test, atomic_read(&mcast_sa->deletes), 0);
	}
	/* Other events, and those of another port, reset nothing. */
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&one.joined, i + 1));
	fake_sa_move(mcast_hca, mcast_sa, IB_EVENT_PORT_ACTIVE);
	fake_sa_move(mcast_hca, mcast_sa, IB_EVENT_GID_CHANGE);
	/*
	 * IPoIB does not join again after an SM change; a new SM may
	 * ask for that by a reregister event.
	 */
	fake_sa_move(mcast_hca, mcast_sa, IB_EVENT_SM_CHANGE);
	fake_hca_port_event(mcast_hca, 2, IB_EVENT_CLIENT_REREGISTER);
	fake_sa_quiesce(mcast_hca);
	KUNIT_EXPECT_EQ(test, atomic_read(&one.resets), i);
	KUNIT_EXPECT_EQ(test, mcast_joined(&rec), 0);
}

/* If a P_Key moves or is removed, the groups of its partition are reset. */
static void pkeys_that_move(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&one.joined, 1));
	mcast_hca->port[1].pkeys[2] = 0x8002;
	fake_sa_move(mcast_hca, mcast_sa, IB_EVENT_PKEY_CHANGE);
	KUNIT_EXPECT_EQ(test, atomic_read(&one.resets), 0);
	mcast_hca->port[1].pkeys[0] = 0x8003;
	mcast_hca->port[1].pkeys[3] = 0xffff;
	fake_sa_move(mcast_hca, mcast_sa, IB_EVENT_PKEY_CHANGE);
	KUNIT_EXPECT_TRUE(test, mad_wait(&one.resets, 1));
	mcast_leave(&one);
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&one.joined, 2));
	mcast_hca->port[1].pkeys[3] = 0;
	fake_sa_move(mcast_hca, mcast_sa, IB_EVENT_PKEY_CHANGE);
	KUNIT_EXPECT_TRUE(test, mad_wait(&one.resets, 2));
}

static void joined_again_after_a_reset(struct kunit *test)
{
	struct ib_sa_mcmember_rec rec;

	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&one.joined, 1));
	fake_sa_forget(mcast_sa);
	fake_sa_move(mcast_hca, mcast_sa, IB_EVENT_CLIENT_REREGISTER);
	KUNIT_ASSERT_TRUE(test, mad_wait(&one.resets, 1));
	/* The old membership still exists, unused, while the new one begins. */
	KUNIT_ASSERT_EQ(test, mcast_join(&two, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&two.joined, 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_sa->sets), 2);
	mcast_leave(&one);
	fake_sa_quiesce(mcast_hca);
	KUNIT_EXPECT_EQ(test, mcast_joined(&rec), 0);
	KUNIT_EXPECT_EQ(test, fake_sa_states(mcast_sa, &mcast_mgid), 1);
	mcast_leave(&two);
	mcast_expect_left(test);
}

/* The SA forgot the port after the request was sent: the join is sent again. */
static void a_reset_under_a_join(struct kunit *test)
{
	mcast_sa->hold = true;
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&mcast_sa->requests, 1));
	fake_sa_move(mcast_hca, mcast_sa, IB_EVENT_CLIENT_REREGISTER);
	KUNIT_EXPECT_EQ(test, atomic_read(&one.calls), 0);
	fake_sa_release(mcast_sa);
	KUNIT_EXPECT_TRUE(test, mad_wait(&one.joined, 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_sa->sets), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&one.calls), 1);
}

/* No member waits for that join any more, so it is undone. */
static void a_reset_under_a_join_that_is_left(struct kunit *test)
{
	mcast_sa->hold = true;
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&mcast_sa->requests, 1));
	fake_sa_move(mcast_hca, mcast_sa, IB_EVENT_LID_CHANGE);
	mcast_leave(&one);
	fake_sa_release(mcast_sa);
	KUNIT_EXPECT_TRUE(test, mad_wait(&mcast_sa->deletes, 1));
	mcast_expect_left(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&one.calls), 0);
}

/* An error response of the former SM does not apply to the new one. */
static void a_reset_under_a_join_that_fails(struct kunit *test)
{
	struct fake_sa *other = fake_sa_create();

	KUNIT_ASSERT_NOT_NULL(test, other);
	mcast_sa->deaf = true;
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&mcast_sa->requests, 1));
	fake_sa_move(mcast_hca, other, IB_EVENT_CLIENT_REREGISTER);
	KUNIT_EXPECT_TRUE(test, mad_wait(&one.calls, 1));
	KUNIT_EXPECT_EQ(test, one.status, 0);
	KUNIT_EXPECT_EQ(test, fake_sa_states(other, &mcast_mgid), 1);
	mcast_leave(&one);
	mcast_expect_left(test);
	fake_sa_destroy(other);
}

/* A member whose callback returns non-zero after a reset is freed. */
static void a_reset_that_ends_members(struct kunit *test)
{
	one.refuses_resets = true;
	two.refuses_resets = true;
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_EQ(test, mcast_join(&two, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&one.joined, 1));
	KUNIT_ASSERT_TRUE(test, mad_wait(&two.joined, 1));
	fake_sa_forget(mcast_sa);
	fake_sa_move(mcast_hca, mcast_sa, IB_EVENT_CLIENT_REREGISTER);
	mcast_expect_left(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&one.resets), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&two.resets), 1);
}

/* Many events, joins and leaves at once: no join is lost, and no membership is left. */
static void resets_against_joins_and_leaves(struct kunit *test)
{
	int i;

	for (i = 0; i < 100; i++) {
		KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
		if (i & 1)
			usleep_range(i, i + 1);
		fake_hca_port_event(mcast_hca, 1, i & 2 ? IB_EVENT_PORT_ERR :
							  IB_EVENT_CLIENT_REREGISTER);
		KUNIT_ASSERT_EQ(test, mcast_join(&two, BIT(NONMEMBER_JOIN)), 0);
		if (i & 4)
			usleep_range(2 * i, 2 * i + 1);
		mcast_leave(&one);
		fake_hca_port_event(mcast_hca, 1, IB_EVENT_LID_CHANGE);
		mcast_leave(&two);
	}
	fake_sa_quiesce(mcast_hca);
	fake_sa_forget(mcast_sa);
	mcast_expect_left(test);
}

static void destroy_hca(void)
{
	fake_hca_destroy(mcast_hca);
	mcast_hca = NULL;
}

/* Removal of the device is not delayed by a last leave that the SA does not answer. */
static void the_device_goes_with_a_leave_in_flight(struct kunit *test)
{
	unsigned long start;

	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&one.joined, 1));
	mcast_sa->deaf = true;
	mcast_leave(&one);
	start = jiffies;
	destroy_hca();
	KUNIT_EXPECT_LT(test, took_ms(jiffies - start), 4000u);
	KUNIT_EXPECT_GE(test, atomic_read(&mcast_sa->deletes), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_client.users), 1);
}

static void the_device_goes_with_a_join_in_flight(struct kunit *test)
{
	unsigned long start;

	mcast_sa->hold = true;
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&mcast_sa->requests, 1));
	mcast_leave(&one);
	start = jiffies;
	destroy_hca();
	KUNIT_EXPECT_LT(test, took_ms(jiffies - start), 4000u);
	KUNIT_EXPECT_EQ(test, atomic_read(&one.calls), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_client.users), 1);
}

/* If the SA responds, it gets the leave even if the device is removed right after it. */
static void the_device_goes_after_its_leave(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&one.joined, 1));
	mcast_leave(&one);
	destroy_hca();
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_sa->deletes), 1);
	KUNIT_EXPECT_EQ(test, fake_sa_states(mcast_sa, &mcast_mgid), 0);
}

static int join_once(struct kunit *test)
{
	int calls = atomic_read(&one.calls), ret;

	ret = mcast_join(&one, BIT(FULLMEMBER_JOIN));
	if (ret)
		return ret;
	KUNIT_EXPECT_TRUE(test, mad_wait(&one.calls, calls + 1));
	KUNIT_EXPECT_EQ(test, one.status, 0);
	mcast_leave(&one);
	mcast_wait_left();
	return 0;
}

static void a_join_survives_each_failed_allocation(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ibex_each_allocation(test, join_once), 2u);
	mcast_expect_left(test);
}

/*
 * The next request is sent after the first member's callback, whose
 * task has its allocations fail one by one.
 */
static void requests_survive_failed_allocations(struct kunit *test)
{
	int n, failed = 0;

	for (n = 1; n < 10; n++) {
		atomic_set(&mcast_sa->requests, 0);
		mcast_sa->hold = true;
		one.fail_nth = n;
		KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
		KUNIT_ASSERT_TRUE(test, mad_wait(&mcast_sa->requests, 1));
		KUNIT_ASSERT_EQ(test, mcast_join(&two, BIT(NONMEMBER_JOIN)), 0);
		fake_sa_release(mcast_sa);
		KUNIT_ASSERT_TRUE(test, mad_wait(&one.calls, n));
		KUNIT_ASSERT_TRUE(test, mad_wait(&two.calls, n));
		failed += two.status == -ENOMEM;
		KUNIT_EXPECT_TRUE(test, !two.status || two.status == -ENOMEM);
		mcast_leave(&one);
		mcast_leave(&two);
		mcast_wait_left();
		fake_sa_quiesce(mcast_hca);
	}
	KUNIT_EXPECT_GE(test, failed, 3);
	KUNIT_EXPECT_LT(test, failed, 9);
	mcast_expect_left(test);
}

/* If a leave cannot be sent, the membership ends nevertheless. */
static void leaves_survive_failed_allocations(struct kunit *test)
{
	int n;

	one.refuses = true;
	for (n = 1; n < 8; n++) {
		one.fail_nth = n;
		KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
		KUNIT_ASSERT_TRUE(test, mad_wait(&one.joined, n));
		mcast_wait_left();
		fake_sa_quiesce(mcast_hca);
		fake_sa_forget(mcast_sa);
	}
	KUNIT_EXPECT_GE(test, atomic_read(&mcast_sa->deletes), 1);
	KUNIT_EXPECT_LE(test, atomic_read(&mcast_sa->deletes), 5);
	mcast_expect_left(test);
}

static struct kunit_case mcast_reset_cases[] = {
	KUNIT_CASE(events_reset_memberships),
	KUNIT_CASE(pkeys_that_move),
	KUNIT_CASE(joined_again_after_a_reset),
	KUNIT_CASE(a_reset_under_a_join),
	KUNIT_CASE(a_reset_under_a_join_that_is_left),
	KUNIT_CASE_SLOW(a_reset_under_a_join_that_fails),
	KUNIT_CASE(a_reset_that_ends_members),
	KUNIT_CASE(resets_against_joins_and_leaves),
	KUNIT_CASE(the_device_goes_with_a_leave_in_flight),
	KUNIT_CASE(the_device_goes_with_a_join_in_flight),
	KUNIT_CASE(the_device_goes_after_its_leave),
	KUNIT_CASE(a_join_survives_each_failed_allocation),
	KUNIT_CASE(requests_survive_failed_allocations),
	KUNIT_CASE(leaves_survive_failed_allocations),
	{}
};

static struct kunit_suite ibmad_mcast_reset_suite = {
	.name = "ib_mad_mcast_reset",
	.init = mcast_test_init,
	.exit = mcast_test_exit,
	.test_cases = mcast_reset_cases,
};

kunit_test_suite(ibmad_mcast_reset_suite);
