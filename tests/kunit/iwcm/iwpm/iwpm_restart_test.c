// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The port mapper's daemon starts, ends, does not respond and starts again; ids are
 * destroyed while it has a request.
 */
#include <linux/cred.h>
#include <net/sock.h>
#include <rdma/iw_portmap.h>
#include "iwpm_test.h"

static bool pm_hears_op(char letter)
{
	return wait_within(strchr(pmd.log, letter), 1000);
}

static void pm_clear_log(void)
{
	pmd.nr_log = 0;
	memset(pmd.log, 0, sizeof(pmd.log));
}

/* ---- silence ---- */

/*
 * A query may get no response because the peer has no daemon: the local daemon still
 * gets the next query.
 */
static void a_query_is_given_up(struct kunit *test)
{
	unsigned int ms;

	pmd.mute[RDMA_NL_IWPM_QUERY_MAPPING] = true;
	ms = pm_connect_time();
	KUNIT_EXPECT_GE(test, ms, 3000u);
	KUNIT_EXPECT_LT(test, ms, 4000u);
	KUNIT_EXPECT_FALSE(test, it.id->mapped);
	KUNIT_EXPECT_TRUE(test, pmd_hears("RQX"));
	/* This response is too late. */
	KUNIT_EXPECT_EQ(test, pmd_answer(RDMA_NL_IWPM_QUERY_MAPPING), 0);
	KUNIT_EXPECT_FALSE(test, it.id->mapped);
	iw_let_go();
	iw_destroy_cm_id(it.id);

	pmd.mute[RDMA_NL_IWPM_QUERY_MAPPING] = false;
	it.id = NULL;
	KUNIT_EXPECT_LT(test, pm_connect_time(), 1000u);
	KUNIT_EXPECT_TRUE(test, it.id->mapped);
	KUNIT_EXPECT_STREQ(test, pmd.log, "RQXRQ");
}

/*
 * A daemon that does not respond to ADD_MAPPING gets no further request until it sends
 * something.
 */
static void a_daemon_that_hangs_is_waited_for_once(struct kunit *test)
{
	unsigned long start = jiffies;

	pmd.mute[RDMA_NL_IWPM_ADD_MAPPING] = true;
	KUNIT_EXPECT_EQ(test, iw_listen_on(0), 0);
	KUNIT_EXPECT_GE(test, jiffies_to_msecs(jiffies - start), 3000u);
	KUNIT_EXPECT_FALSE(test, it.listener->mapped);
	KUNIT_EXPECT_TRUE(test, pmd_hears("RAX"));
	it.id = pm_id(1001);
	KUNIT_EXPECT_LT(test, pm_connect_time(), 100u);
	KUNIT_EXPECT_FALSE(test, it.id->mapped);
	KUNIT_EXPECT_STREQ(test, pmd.log, "RAX");

	KUNIT_EXPECT_EQ(test, pmd_answer(RDMA_NL_IWPM_ADD_MAPPING), 0);
	iw_destroy_cm_id(it.id);
	iw_let_go();
	it.id = pm_id(1002);
	KUNIT_EXPECT_LT(test, pm_connect_time(), 1000u);
	KUNIT_EXPECT_TRUE(test, it.id->mapped);
}

static void a_registration_is_waited_for_once(struct kunit *test)
{
	unsigned int ms;

	pmd.mute[RDMA_NL_IWPM_REG_PID] = true;
	ms = pm_connect_time();
	KUNIT_EXPECT_GE(test, ms, 3000u);
	KUNIT_EXPECT_LT(test, ms, 4000u);
	iw_destroy_cm_id(it.id);
	iw_let_go();
	it.id = NULL;
	KUNIT_EXPECT_LT(test, pm_connect_time(), 100u);
	KUNIT_EXPECT_STREQ(test, pmd.log, "R");
	iw_destroy_cm_id(it.id);
	iw_let_go();
	it.id = NULL;

	/* A late response: the daemon has registered the client after all. */
	KUNIT_EXPECT_EQ(test, pmd_answer(RDMA_NL_IWPM_REG_PID), 0);
	KUNIT_EXPECT_LT(test, pm_connect_time(), 1000u);
	KUNIT_EXPECT_TRUE(test, it.id->mapped);
	KUNIT_EXPECT_STREQ(test, pmd.log, "RQ");
}

static void a_silence_has_an_end(struct kunit *test)
{
	pmd.mute[RDMA_NL_IWPM_REG_PID] = true;
	pm_connect_time();
	iw_destroy_cm_id(it.id);
	iw_let_go();
	it.id = NULL;
	pmd.mute[RDMA_NL_IWPM_REG_PID] = false;
	msleep(61 * MSEC_PER_SEC);
	KUNIT_EXPECT_LT(test, pm_connect_time(), 1000u);
	KUNIT_EXPECT_TRUE(test, it.id->mapped);
}

static void a_registration_may_be_refused(struct kunit *test)
{
	pmd.refuse[RDMA_NL_IWPM_REG_PID] = IWPM_USER_LIB_INFO_ERR;
	KUNIT_EXPECT_LT(test, pm_connect_time(), 1000u);
	KUNIT_EXPECT_FALSE(test, it.id->mapped);
	pmd.refuse[RDMA_NL_IWPM_REG_PID] = 0;
	pmd.err[RDMA_NL_IWPM_REG_PID] = IWPM_USER_LIB_INFO_ERR;
	KUNIT_EXPECT_EQ(test, iw_listen_on(0), 0);
	KUNIT_EXPECT_FALSE(test, it.listener->mapped);
	KUNIT_EXPECT_STREQ(test, pmd.log, "RR");
}

static void a_version_that_we_do_not_speak_is_not_used(struct kunit *test)
{
	pmd.version = 5;
	KUNIT_EXPECT_LT(test, pm_connect_time(), 1000u);
	KUNIT_EXPECT_FALSE(test, it.id->mapped);
	KUNIT_EXPECT_EQ(test, pmd.verdict, -EPROTONOSUPPORT);
	KUNIT_EXPECT_STREQ(test, pmd.log, "R");
}

/* Requests wait for their responses in parallel. */
static void questions_wait_side_by_side(struct kunit *test)
{
	struct iw_cm_id *ids[20];
	struct pm_call *calls[20];
	unsigned long start;
	int i;

	pmd.mute[RDMA_NL_IWPM_QUERY_MAPPING] = true;
	start = jiffies;
	for (i = 0; i < 20; i++) {
		ids[i] = pm_id(1100 + i);
		calls[i] = pm_call(test, ids[i]);
	}
	for (i = 0; i < 20; i++) {
		wait_for_completion(&calls[i]->done);
		KUNIT_EXPECT_EQ(test, calls[i]->ret, 0);
	}
	KUNIT_EXPECT_LT(test, took_ms(jiffies - start), 4000u);
	KUNIT_EXPECT_TRUE(test, pmd_holds(0));
	for (i = 0; i < 20; i++) {
		iw_destroy_cm_id(ids[i]);
		ids[i]->rem_ref(ids[i]);
	}
	it.held = NULL;
}

/*
 * Destruction does not wait for a daemon that reads nothing; messages to it are dropped
 * after a while.
 */
static void a_daemon_that_reads_nothing_is_given_up(struct kunit *test)
{
	struct iw_cm_id *ids[IW_MANY];
	unsigned long start;
	int i;

	pmd.nl.sock->sk->sk_rcvbuf = SOCK_MIN_RCVBUF;
	for (i = 0; i < IW_MANY; i++) {
		ids[i] = pm_id(1100 + i);
		KUNIT_ASSERT_EQ(test, iw_cm_listen(ids[i], 0), 0);
		KUNIT_ASSERT_TRUE(test, ids[i]->mapped);
	}
	WRITE_ONCE(pmd.paused, true);
	start = jiffies;
	for (i = 0; i < IW_MANY; i++)
		iw_destroy_cm_id(ids[i]);
	KUNIT_EXPECT_LT(test, took_ms(jiffies - start), 1000u);
	msleep(12 * MSEC_PER_SEC);
	WRITE_ONCE(pmd.paused, false);
	iw_quiesce();
	/* The other messages were dropped. */
	KUNIT_EXPECT_GT(test, pmd.holds, 0);
	pmd.holds = 0;
	pm_clear_log();
	KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
	KUNIT_EXPECT_TRUE(test, it.listener->mapped);
	KUNIT_EXPECT_STREQ(test, pmd.log, "RA");
}

/* ---- who may respond ---- */
static void none_but_administrators_answer(struct kunit *test)
{
	struct cred *cred;
	const struct cred *old;
	struct pm_call *call;
	int ret;

	pmd.mute[RDMA_NL_IWPM_QUERY_MAPPING] = true;
	it.id = iw_id();
	call = pm_call(test, it.id);
	KUNIT_ASSERT_TRUE(test, pm_hears_op('Q'));
	cred = prepare_creds();
	KUNIT_ASSERT_NOT_NULL(test, cred);
	cap_clear(cred->cap_effective);
	old = override_creds(cred);
	ret = pmd_answer(RDMA_NL_IWPM_QUERY_MAPPING);
	revert_creds(old);
	put_cred(cred);
	KUNIT_EXPECT_EQ(test, ret, -EPERM);
	KUNIT_EXPECT_FALSE(test, completion_done(&call->done));
	wait_for_completion(&call->done);
	KUNIT_EXPECT_FALSE(test, it.id->mapped);
}

static void none_but_the_daemon_answers(struct kunit *test)
{
	struct nl_daemon other, *mine = &pmd.nl;
	struct nl_daemon saved;
	struct pm_call *call;

	KUNIT_ASSERT_EQ(test, nld_open(&other, RDMA_NL_GROUP_NOTIFY), 0);
	pmd.mute[RDMA_NL_IWPM_QUERY_MAPPING] = true;
	it.id = iw_id();
	call = pm_call(test, it.id);
	KUNIT_ASSERT_TRUE(test, pm_hears_op('Q'));
	saved = *mine;
	*mine = other;
	KUNIT_EXPECT_EQ(test, pmd_answer(RDMA_NL_IWPM_QUERY_MAPPING), 0);
	KUNIT_EXPECT_FALSE(test, completion_done(&call->done));
	*mine = saved;
	KUNIT_EXPECT_EQ(test, pmd_answer(RDMA_NL_IWPM_QUERY_MAPPING), 0);
	wait_for_completion(&call->done);
	KUNIT_EXPECT_TRUE(test, it.id->mapped);
	nld_close(&other);
}

/* ---- start and end of a daemon ---- */
static void hello_finds_a_version(struct kunit *test)
{
	const struct pmd_heard *hello = &pmd.heard[RDMA_NL_IWPM_HELLO];

	KUNIT_EXPECT_EQ(test, pmd_hello(2), -EPROTONOSUPPORT);
	KUNIT_EXPECT_EQ(test, pmd_hello(3), 0);
	KUNIT_EXPECT_TRUE(test, pmd_hears("H"));
	KUNIT_EXPECT_EQ(test, hello->value, 3u);
	KUNIT_EXPECT_EQ(test, pmd_hello(5), 0);
	KUNIT_EXPECT_TRUE(test, pmd_hears("HH"));
	KUNIT_EXPECT_EQ(test, hello->value, 4u);
	KUNIT_EXPECT_EQ(test, pmd_ask_mapinfo(4), 0);
	KUNIT_EXPECT_TRUE(test, pmd_hears("HHN"));
	KUNIT_EXPECT_EQ(test, pmd_ask_mapinfo(5), -EPROTONOSUPPORT);
	/* The daemon is known, but the client is not yet registered with it. */
	KUNIT_EXPECT_LT(test, pm_connect_time(), 1000u);
	KUNIT_EXPECT_STREQ(test, pmd.log, "HHNRQ");
}

static void restart(struct kunit *test)
{
	pmd_down();
	KUNIT_ASSERT_EQ(test, pmd_up(), 0);
	KUNIT_EXPECT_EQ(test, pmd_hello(4), 0);
	KUNIT_EXPECT_EQ(test, pmd_ask_mapinfo(4), 0);
}

static void a_new_daemon_is_told_the_mappings(struct kunit *test)
{
	const struct pmd_heard *info = &pmd.heard[RDMA_NL_IWPM_MAPINFO];

	KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
	it.hca->ibdev.iw_driver_flags = IW_F_NO_PORT_MAP;
	it.id = pm_id(1001);
	KUNIT_ASSERT_EQ(test, iw_connect_id(it.id), 0);
	restart(test);
	KUNIT_EXPECT_TRUE(test, pmd_hears("HIIN"));
	KUNIT_EXPECT_EQ(test, pmd.heard[RDMA_NL_IWPM_MAPINFO_NUM].value, 2u);
	KUNIT_EXPECT_TRUE(test, info->has_value);
	if (info->value) {
		KUNIT_EXPECT_EQ(test, pm_port(&info->addr[0]), 1001);
		KUNIT_EXPECT_EQ(test, pm_port(&info->addr[1]), 1001);
	} else {
		KUNIT_EXPECT_EQ(test, pm_port(&info->addr[0]), 1000);
		KUNIT_EXPECT_EQ(test, pm_port(&info->addr[1]), 1000 + PMD_MAPS);
	}
	iw_destroy_cm_id(it.id);
	it.id = NULL;
	iw_destroy_cm_id(it.listener);
	it.listener = NULL;
	KUNIT_EXPECT_TRUE(test, pmd_hears("HIINXX"));
	/* The client is not registered with the new daemon. */
	KUNIT_EXPECT_EQ(test, iw_listen_on(0), 0);
	KUNIT_EXPECT_TRUE(test, pmd_hears("HIINXXRA"));
}

/*
 * A port that was mapped for two ids is reported to the new daemon once, and removed
 * once, with the last id.
 */
static void a_new_daemon_counts_anew(struct kunit *test)
{
	struct iw_cm_id *second = iw_id();

	KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
	KUNIT_ASSERT_EQ(test, iw_cm_listen(second, 0), 0);
	KUNIT_EXPECT_EQ(test, pmd.holds, 2);
	restart(test);
	KUNIT_EXPECT_TRUE(test, pmd_hears("HIN"));
	iw_destroy_cm_id(second);
	iw_quiesce();
	KUNIT_EXPECT_STREQ(test, pmd.log, "HIN");
	iw_destroy_cm_id(it.listener);
	it.listener = NULL;
	KUNIT_EXPECT_TRUE(test, pmd_hears("HINX"));
}

static void ports_go_while_there_is_no_daemon(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
	pmd_down();
	iw_destroy_cm_id(it.listener);
	it.listener = NULL;
	KUNIT_ASSERT_EQ(test, pmd_up(), 0);
	KUNIT_EXPECT_EQ(test, pmd_ask_mapinfo(3), 0);
	KUNIT_EXPECT_TRUE(test, pmd_hears("N"));
	KUNIT_EXPECT_EQ(test, pmd.heard[RDMA_NL_IWPM_MAPINFO_NUM].value, 0u);
}

static void a_connect_does_not_wait_for_the_dead(struct kunit *test)
{
	struct pm_call *call;
	unsigned long start;

	pmd.mute[RDMA_NL_IWPM_QUERY_MAPPING] = true;
	it.id = iw_id();
	call = pm_call(test, it.id);
	KUNIT_ASSERT_TRUE(test, pm_hears_op('Q'));
	start = jiffies;
	pmd_down();
	wait_for_completion(&call->done);
	KUNIT_EXPECT_LT(test, took_ms(jiffies - start), 100u);
	KUNIT_EXPECT_EQ(test, call->ret, 0);
	KUNIT_EXPECT_FALSE(test, it.id->mapped);
}

/* The end of another socket does not affect the daemon. */
static void others_come_and_go(struct kunit *test)
{
	struct nl_daemon other;

	KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
	KUNIT_ASSERT_EQ(test, nld_open(&other, RDMA_NL_GROUP_NOTIFY), 0);
	nld_close(&other);
	it.id = pm_id(1001);
	KUNIT_ASSERT_EQ(test, iw_connect_id(it.id), 0);
	KUNIT_EXPECT_STREQ(test, pmd.log, "RAQ");
}

/* ---- ids that are destroyed ---- */
static void an_id_goes_while_the_daemon_is_asked(struct kunit *test)
{
	struct iw_cm_id *cm_id = iw_id();
	struct pm_call *call;

	pmd.mute[RDMA_NL_IWPM_QUERY_MAPPING] = true;
	call = pm_call(test, cm_id);
	KUNIT_ASSERT_TRUE(test, pm_hears_op('Q'));
	iw_destroy_cm_id(cm_id);
	KUNIT_EXPECT_FALSE(test, completion_done(&call->done));
	KUNIT_EXPECT_EQ(test, iw_qp_refs(), 0);
	KUNIT_EXPECT_EQ(test, pmd_answer(RDMA_NL_IWPM_QUERY_MAPPING), 0);
	wait_for_completion(&call->done);
	KUNIT_EXPECT_EQ(test, call->ret, -ECANCELED);
	KUNIT_EXPECT_EQ(test, iw_calls(FAKE_IW_CONNECT), 0);
	KUNIT_EXPECT_TRUE(test, pmd_hears("RQX"));
}

static struct kunit_case restart_cases[] = {
	KUNIT_CASE(a_query_is_given_up),
	KUNIT_CASE(a_daemon_that_hangs_is_waited_for_once),
	KUNIT_CASE(a_registration_is_waited_for_once),
	KUNIT_CASE_SLOW(a_silence_has_an_end),
	KUNIT_CASE(a_registration_may_be_refused),
	KUNIT_CASE(a_version_that_we_do_not_speak_is_not_used),
	KUNIT_CASE(questions_wait_side_by_side),
	KUNIT_CASE_SLOW(a_daemon_that_reads_nothing_is_given_up),
	KUNIT_CASE(none_but_administrators_answer),
	KUNIT_CASE(none_but_the_daemon_answers),
	KUNIT_CASE(hello_finds_a_version),
	KUNIT_CASE(a_new_daemon_is_told_the_mappings),
	KUNIT_CASE(a_new_daemon_counts_anew),
	KUNIT_CASE(ports_go_while_there_is_no_daemon),
	KUNIT_CASE(a_connect_does_not_wait_for_the_dead),
	KUNIT_CASE(others_come_and_go),
	KUNIT_CASE(an_id_goes_while_the_daemon_is_asked),
	{}
};

static struct kunit_suite iwcm_iwpm_restart_suite = {
	.name = "iw_cm_iwpm_restart",
	.init = pm_init,
	.exit = pm_exit,
	.test_cases = restart_cases,
};

kunit_test_suite(iwcm_iwpm_restart_suite);
