// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Questions to the local service: how they are sent, and each way they end. */
#include <kunit/test.h>
#include <linux/kthread.h>
#include <ibex/ls.h>
#include "faults.h"
#include "ls_daemon.h"
#include "core/netlink/nl.h"

#define DEFAULT_MS	2000u
#define MANY		32

struct asker {
	struct ibcore_ls_question question;
	atomic_t answers, ended;
	int result;			/* that answered() returns */
	unsigned int slow_ms;		/* that answered() takes */
	int status;
	unsigned long when;
	bool in_process;
};

static struct ls_daemon lsd;
static struct asker asker, askers[MANY];

static struct asker *to_asker(struct ibcore_ls_question *question)
{
	return container_of(question, struct asker, question);
}

static int test_answered(struct ibcore_ls_question *question,
			 const struct nlmsghdr *nlh)
{
	struct asker *a = to_asker(question);

	if (a->slow_ms)
		msleep(a->slow_ms);
	atomic_inc(&a->answers);
	return a->result;
}

static void test_ended(struct ibcore_ls_question *question, int status)
{
	struct asker *a = to_asker(question);

	a->status = status;
	a->when = jiffies;
	a->in_process = current_work() == &question->work;
	atomic_inc(&a->ended);
}

static const struct ibcore_ls_ops test_ops = {
	.answered = test_answered,
	.ended = test_ended,
};

static void prepare(struct asker *a)
{
	memset(a, 0, sizeof(*a));
	a->question.ops = &test_ops;
	a->question.wq = system_unbound_wq;
}

/* The caller has prepared @a. */
static int put(struct asker *a, gfp_t gfp)
{
	struct rdma_ls_ip_resolve_header header = { .ifindex = 0x12345678 };
	__be32 ip = htonl(0x0a010203);
	struct sk_buff *skb;

	skb = ibcore_ls_new(RDMA_NL_LS_OP_IP_RESOLVE, &header, sizeof(header),
			    nla_total_size(sizeof(ip)), gfp);
	if (!skb)
		return -ENOMEM;
	ibcore_ls_put(skb, LS_NLA_TYPE_IPV4, sizeof(ip), &ip);
	return ibcore_ls_ask(&a->question, skb, gfp);
}

static int ask(struct asker *a)
{
	prepare(a);
	return put(a, GFP_KERNEL);
}

static void expect_end(struct kunit *test, struct asker *a, int status)
{
	KUNIT_ASSERT_TRUE(test, wait_until(atomic_read(&a->ended)));
	KUNIT_EXPECT_EQ(test, a->status, status);
	KUNIT_EXPECT_TRUE(test, a->in_process);
}

/* Waits until nothing more can arrive, then checks that the question ended once. */
static void expect_once(struct kunit *test, struct asker *a)
{
	msleep(DEFAULT_MS + 500);
	KUNIT_EXPECT_EQ(test, atomic_read(&a->ended), 1);
}

static int ls_test_init(struct kunit *test)
{
	int ret = lsd_open(&lsd);

	return ret ?: lsd_set_timeout(&lsd, DEFAULT_MS);
}

static void ls_test_exit(struct kunit *test)
{
	if (!lsd.nl.file)
		lsd_open(&lsd);
	lsd_set_timeout(&lsd, DEFAULT_MS);
	lsd_close(&lsd);
}

/* The layout that <rdma/rdma_netlink.h> documents. */
static void a_question_on_the_wire(struct kunit *test)
{
	const struct nlmsghdr *nlh = lsd_msg(&lsd);
	const struct nlattr *ip;
	u32 first;

	KUNIT_ASSERT_EQ(test, ask(&asker), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_type,
			RDMA_NL_GET_TYPE(RDMA_NL_LS, RDMA_NL_LS_OP_IP_RESOLVE));
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_flags, NLM_F_REQUEST);
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_pid, 0u);
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_len, 16 + 4 + 8);
	KUNIT_EXPECT_EQ(test, *(u32 *)nlmsg_data(nlh), 0x12345678);
	ip = lsd_attr(&lsd, 4, LS_NLA_TYPE_IPV4);
	KUNIT_ASSERT_NOT_NULL(test, ip);
	KUNIT_EXPECT_EQ(test, nla_len(ip), 4);
	KUNIT_EXPECT_EQ(test, nla_get_be32(ip), htonl(0x0a010203));
	first = nlh->nlmsg_seq;
	KUNIT_EXPECT_NE(test, first, 0u);
	KUNIT_ASSERT_EQ(test, ask(&askers[0]), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	KUNIT_EXPECT_NE(test, nlh->nlmsg_seq, first);
	KUNIT_EXPECT_TRUE(test, ibcore_ls_cancel(&asker.question));
	KUNIT_EXPECT_TRUE(test, ibcore_ls_cancel(&askers[0].question));
	expect_end(test, &asker, -ECANCELED);
	expect_end(test, &askers[0], -ECANCELED);
}

static void an_answer_ends_it(struct kunit *test)
{
	unsigned long start = jiffies;

	KUNIT_ASSERT_EQ(test, ask(&asker), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	/* As ibacm does: no NLM_F_REQUEST, no NLM_F_ACK, sent to the group. */
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, lsd_answer(&lsd, 0)), LSD_NO_ACK);
	expect_end(test, &asker, 0);
	KUNIT_EXPECT_LE(test, took_ms(asker.when - start), 50u);
	expect_once(test, &asker);
	KUNIT_EXPECT_EQ(test, atomic_read(&asker.answers), 1);
}

static void a_refusal_ends_it(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, ask(&asker), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	KUNIT_EXPECT_EQ(test, lsd_refuse(&lsd), LSD_NO_ACK);
	expect_end(test, &asker, -ENOENT);
	KUNIT_EXPECT_EQ(test, atomic_read(&asker.answers), 0);
	expect_once(test, &asker);
}

static void an_answer_of_no_use(struct kunit *test)
{
	static const int results[] = { -EINVAL, -EOPNOTSUPP, -ENOMEM };
	int i;

	for (i = 0; i < ARRAY_SIZE(results); i++) {
		prepare(&asker);
		asker.result = results[i];
		KUNIT_ASSERT_EQ(test, put(&asker, GFP_KERNEL), 0);
		KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
		/* The daemon gets the error. */
		KUNIT_EXPECT_EQ(test, lsd_send(&lsd, lsd_answer(&lsd, 0)), results[i]);
		expect_end(test, &asker, results[i]);
		KUNIT_EXPECT_EQ(test, lsd_send(&lsd, lsd_answer(&lsd, NLM_F_ACK)), 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&asker.answers), 1);
	}
}

/* Second, unsolicited or mismatched responses are ignored. */
static void other_answers_change_nothing(struct kunit *test)
{
	u32 seq;

	KUNIT_ASSERT_EQ(test, ask(&asker), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	seq = lsd_msg(&lsd)->nlmsg_seq;
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, lsd_new(RDMA_NL_LS_OP_IP_RESOLVE, seq + 1,
						     NLM_F_ACK)), 0);
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, lsd_new(RDMA_NL_LS_OP_IP_RESOLVE, 0,
						     NLM_F_ACK)), 0);
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, lsd_new(RDMA_NL_LS_OP_RESOLVE, seq,
						     NLM_F_ACK)), 0);
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, lsd_new(RDMA_NL_LS_OP_RESOLVE, seq,
						     NLM_F_ACK | RDMA_NL_LS_F_ERR)), 0);
	msleep(100);
	KUNIT_EXPECT_EQ(test, atomic_read(&asker.ended), 0);
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, lsd_answer(&lsd, NLM_F_ACK)), 0);
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, lsd_answer(&lsd, NLM_F_ACK)), 0);
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, lsd_answer(&lsd, NLM_F_ACK |
							RDMA_NL_LS_F_ERR)), 0);
	expect_end(test, &asker, 0);
	expect_once(test, &asker);
	KUNIT_EXPECT_EQ(test, atomic_read(&asker.answers), 1);
}

static void the_first_of_two_daemons_counts(struct kunit *test)
{
	struct ls_daemon *other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, other);
	KUNIT_ASSERT_EQ(test, lsd_open(other), 0);
	KUNIT_ASSERT_EQ(test, ask(&asker), 0);
	KUNIT_EXPECT_TRUE(test, lsd_question(&lsd));
	KUNIT_EXPECT_TRUE(test, lsd_question(other));
	KUNIT_EXPECT_EQ(test, lsd_msg(&lsd)->nlmsg_seq, lsd_msg(other)->nlmsg_seq);
	KUNIT_EXPECT_EQ(test, lsd_send(other, lsd_answer(other, NLM_F_ACK)), 0);
	KUNIT_EXPECT_EQ(test, lsd_refuse(&lsd), LSD_NO_ACK);
	expect_end(test, &asker, 0);
	lsd_close(other);
}

/* A timer that is far in the future may fire an eighth late. */
static void expect_timeout(struct kunit *test, u32 ms)
{
	unsigned int took, late = ms + 100 + ms / 7;
	unsigned long start = jiffies;

	KUNIT_ASSERT_EQ(test, ask(&asker), 0);
	KUNIT_ASSERT_TRUE(test, wait_within(atomic_read(&asker.ended), late));
	KUNIT_EXPECT_EQ(test, asker.status, -ETIMEDOUT);
	took = jiffies_to_msecs(asker.when - start);
	KUNIT_EXPECT_GE(test, took, ms);
	KUNIT_EXPECT_LE(test, took / fake_hca_slow, late);
}

static void silence_ends_it_in_time(struct kunit *test)
{
	expect_timeout(test, DEFAULT_MS);
	/* The response arrives too late. */
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, lsd_answer(&lsd, NLM_F_ACK)), 0);
	msleep(100);
	KUNIT_EXPECT_EQ(test, atomic_read(&asker.answers), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&asker.ended), 1);
}

static void the_time_can_be_set_within_bounds(struct kunit *test)
{
	static const struct {
		u32 set, is;
	} times[] = {
		{ 500, 500 }, { 200, 200 }, { 199, 200 }, { 0, 200 },
		{ 200001, 200000 },	/* a case may take 300 s */
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		KUNIT_EXPECT_EQ(test, lsd_set_timeout(&lsd, times[i].set), 0);
		expect_timeout(test, times[i].is);
	}
	/* A new timeout does not change that of a question asked before. */
	KUNIT_EXPECT_EQ(test, lsd_set_timeout(&lsd, 1000), 0);
	KUNIT_ASSERT_EQ(test, ask(&askers[0]), 0);
	KUNIT_EXPECT_EQ(test, lsd_set_timeout(&lsd, 400), 0);
	expect_timeout(test, 400);
	KUNIT_EXPECT_EQ(test, atomic_read(&askers[0].ended), 0);
	expect_end(test, &askers[0], -ETIMEDOUT);
}

static int set_timeout_by(struct ls_daemon *d, int type, int len)
{
	struct sk_buff *skb = lsd_new(RDMA_NL_LS_OP_SET_TIMEOUT, 0, NLM_F_ACK);
	u64 value = 700;

	nla_put_u32(skb, LS_NLA_TYPE_TIMEOUT, 300);
	nla_put(skb, type, len, &value);
	return lsd_send(d, skb);
}

static void malformed_messages_set_nothing(struct kunit *test)
{
	struct sk_buff *skb;
	u16 *len;

	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, lsd_new(RDMA_NL_LS_OP_SET_TIMEOUT, 0,
						     NLM_F_ACK)), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_timeout_by(&lsd, LS_NLA_TYPE_TIMEOUT, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_timeout_by(&lsd, LS_NLA_TYPE_TIMEOUT, 8), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_timeout_by(&lsd, LS_NLA_TYPE_TIMEOUT, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_timeout_by(&lsd, LS_NLA_TYPE_MAX |
					     RDMA_NLA_F_MANDATORY, 4), -EOPNOTSUPP);
	/* An attribute that is longer than the message, or shorter than itself. */
	skb = lsd_new(RDMA_NL_LS_OP_SET_TIMEOUT, 0, NLM_F_ACK);
	nla_put_u32(skb, LS_NLA_TYPE_TIMEOUT, 300);
	len = &((struct nlattr *)nlmsg_data(nlmsg_hdr(skb)))->nla_len;
	*len = 12;
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, skb), -EINVAL);
	skb = lsd_new(RDMA_NL_LS_OP_SET_TIMEOUT, 0, NLM_F_ACK);
	nla_put_u32(skb, LS_NLA_TYPE_TIMEOUT, 300);
	len = &((struct nlattr *)nlmsg_data(nlmsg_hdr(skb)))->nla_len;
	*len = 3;
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, skb), -EINVAL);
	expect_timeout(test, DEFAULT_MS);
	/* Unknown optional attributes are ignored; flags are not part of the type. */
	KUNIT_EXPECT_EQ(test, set_timeout_by(&lsd, LS_NLA_TYPE_MAX, 4), 0);
	expect_timeout(test, 300);
	KUNIT_EXPECT_EQ(test, set_timeout_by(&lsd, LS_NLA_TYPE_TIMEOUT |
					     RDMA_NLA_F_MANDATORY, 4), 0);
	expect_timeout(test, 700);
}

/* A response decides where connections lead, so it requires a capability. */
static void who_may_answer(struct kunit *test)
{
	const struct cred *old;

	KUNIT_ASSERT_EQ(test, ask(&asker), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	old = nl_drop_caps();
	/* Sending to a group requires a capability by itself. */
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, lsd_answer(&lsd, 0)), -EPERM);
	lsd.alone = true;
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, lsd_answer(&lsd, 0)), -EPERM);
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, lsd_new(RDMA_NL_LS_OP_RESOLVE, 1, 0)), -EPERM);
	KUNIT_EXPECT_EQ(test, lsd_set_timeout(&lsd, 300), -EPERM);
	nl_regain_caps(old);
	KUNIT_EXPECT_EQ(test, atomic_read(&asker.answers), 0);
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, lsd_answer(&lsd, NLM_F_ACK)), 0);
	expect_end(test, &asker, 0);
	expect_timeout(test, DEFAULT_MS);
}

static void another_namespace_has_no_say(struct kunit *test)
{
	static struct test_ns ns;
	static struct nl nl;

	KUNIT_ASSERT_EQ(test, test_ns_create(&ns), 0);
	KUNIT_EXPECT_EQ(test, nl_open(&nl, ns.net), 0);
	KUNIT_EXPECT_EQ(test, ask(&asker), 0);
	KUNIT_EXPECT_TRUE(test, lsd_question(&lsd));
	KUNIT_EXPECT_EQ(test, nl_call(&nl, lsd_answer(&lsd, NLM_F_ACK)), -EINVAL);
	KUNIT_EXPECT_EQ(test, atomic_read(&asker.answers), 0);
	nl_close(&nl);
	test_ns_end(&ns);
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, lsd_answer(&lsd, NLM_F_ACK)), 0);
	expect_end(test, &asker, 0);
}

static void without_a_daemon_it_ends_at_once(struct kunit *test)
{
	unsigned long start = jiffies;

	lsd_close(&lsd);
	KUNIT_ASSERT_EQ(test, ask(&asker), 0);
	expect_end(test, &asker, -ESRCH);
	KUNIT_EXPECT_LE(test, took_ms(asker.when - start), 20u);
	expect_once(test, &asker);
}

static void a_question_given_up(struct kunit *test)
{
	prepare(&asker);
	KUNIT_EXPECT_FALSE(test, ibcore_ls_cancel(&asker.question));
	KUNIT_ASSERT_EQ(test, put(&asker, GFP_KERNEL), 0);
	KUNIT_EXPECT_TRUE(test, ibcore_ls_cancel(&asker.question));
	KUNIT_EXPECT_FALSE(test, ibcore_ls_cancel(&asker.question));
	expect_end(test, &asker, -ECANCELED);
	KUNIT_EXPECT_FALSE(test, ibcore_ls_cancel(&asker.question));
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, lsd_answer(&lsd, NLM_F_ACK)), 0);
	expect_once(test, &asker);
	KUNIT_EXPECT_EQ(test, atomic_read(&asker.answers), 0);
}

static int answer_in_thread(void *arg)
{
	lsd_send(&lsd, lsd_answer(&lsd, 0));
	complete(arg);
	return 0;
}

/* Once a response is being read, neither a cancel nor the timeout ends the question. */
static void the_answer_under_way_wins(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(done);

	prepare(&asker);
	asker.slow_ms = 4000;
	KUNIT_ASSERT_EQ(test, put(&asker, GFP_KERNEL), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(answer_in_thread, &done, "lsd")));
	msleep(500);
	KUNIT_EXPECT_FALSE(test, ibcore_ls_cancel(&asker.question));
	/* The timeout passes too. */
	msleep(2500);
	KUNIT_EXPECT_EQ(test, atomic_read(&asker.ended), 0);
	wait_for_completion(&done);
	expect_end(test, &asker, 0);
	expect_once(test, &asker);
}

/* Each question ends once, whichever of the three comes first. */
static void answers_meet_cancels_and_time(struct kunit *test)
{
	static u32 seq[MANY];
	int i, answered = 0;

	KUNIT_ASSERT_EQ(test, lsd_set_timeout(&lsd, 200), 0);
	for (i = 0; i < MANY; i++) {
		KUNIT_ASSERT_EQ(test, ask(&askers[i]), 0);
		KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
		seq[i] = lsd_msg(&lsd)->nlmsg_seq;
	}
	for (i = 0; i < MANY; i++) {
		if (i % 3 == 0)
			ibcore_ls_cancel(&askers[i].question);
		if (i % 3 != 2)
			lsd_send(&lsd, lsd_new(RDMA_NL_LS_OP_IP_RESOLVE, seq[i], 0));
		/* Some responses arrive just as the timeout expires. */
		msleep(i < MANY / 2 ? 10 : 5);
		if (i % 2)
			ibcore_ls_cancel(&askers[i].question);
	}
	msleep(1000);
	for (i = 0; i < MANY; i++) {
		KUNIT_EXPECT_EQ(test, atomic_read(&askers[i].ended), 1);
		KUNIT_EXPECT_EQ(test, !askers[i].status,
				atomic_read(&askers[i].answers) == 1);
		answered += !askers[i].status;
	}
	KUNIT_EXPECT_GT(test, answered, 0);
}

static void asked_under_a_callers_lock(struct kunit *test)
{
	static DEFINE_SPINLOCK(lock);
	unsigned long flags;
	bool off;
	int ret;

	prepare(&asker);
	spin_lock_irqsave(&lock, flags);
	ret = put(&asker, GFP_ATOMIC);
	off = irqs_disabled();
	spin_unlock_irqrestore(&lock, flags);
	KUNIT_ASSERT_EQ(test, ret, 0);
	KUNIT_EXPECT_TRUE(test, off);
	spin_lock_irqsave(&lock, flags);
	ibcore_ls_cancel(&asker.question);
	off = irqs_disabled();
	spin_unlock_irqrestore(&lock, flags);
	KUNIT_EXPECT_TRUE(test, off);
	expect_end(test, &asker, -ECANCELED);
}

static int ask_once(struct kunit *test)
{
	int ret = ask(&asker);

	if (ret)
		return ret;
	/* The question was sent without an error, so it must end. */
	if (!atomic_read(&asker.ended) && lsd_question(&lsd))
		lsd_refuse(&lsd);
	KUNIT_EXPECT_TRUE(test, wait_until(atomic_read(&asker.ended)));
	KUNIT_EXPECT_EQ(test, atomic_read(&asker.ended), 1);
	return 0;
}

static void a_question_survives_each_failed_allocation(struct kunit *test)
{
	int ret;

	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, ask_once), 1u);
	prepare(&asker);
	KUNIT_ASSERT_EQ(test, no_memory_begin(), 0);
	ret = put(&asker, GFP_KERNEL);
	no_memory_end();
	KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	KUNIT_EXPECT_FALSE(test, ibcore_ls_cancel(&asker.question));
	KUNIT_EXPECT_EQ(test, atomic_read(&asker.ended), 0);
}

static struct kunit_case ls_cases[] = {
	KUNIT_CASE(a_question_on_the_wire),
	KUNIT_CASE(an_answer_ends_it),
	KUNIT_CASE(a_refusal_ends_it),
	KUNIT_CASE(an_answer_of_no_use),
	KUNIT_CASE(other_answers_change_nothing),
	KUNIT_CASE(the_first_of_two_daemons_counts),
	KUNIT_CASE(silence_ends_it_in_time),
	KUNIT_CASE_SLOW(the_time_can_be_set_within_bounds),
	KUNIT_CASE(malformed_messages_set_nothing),
	KUNIT_CASE(who_may_answer),
	KUNIT_CASE(another_namespace_has_no_say),
	KUNIT_CASE(without_a_daemon_it_ends_at_once),
	KUNIT_CASE(a_question_given_up),
	KUNIT_CASE(the_answer_under_way_wins),
	KUNIT_CASE(answers_meet_cancels_and_time),
	KUNIT_CASE(asked_under_a_callers_lock),
	KUNIT_CASE(a_question_survives_each_failed_allocation),
	{}
};

static struct kunit_suite ibcore_ls_suite = {
	.name = "ib_core_ls",
	.init = ls_test_init,
	.exit = ls_test_exit,
	.test_cases = ls_cases,
};

kunit_test_suite(ibcore_ls_suite);
