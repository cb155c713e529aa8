// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Multicast membership: shared and single joins, leaves, errors of the SA. */
#include "mcast.h"

/* IBA volume 1, 15.2.5.17 */
static const u8 member_bytes[52] = {
	0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
	0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8,
	0x00, 0x00, 0x0b, 0x1b,			/* Q_Key */
	0xc0, 0x03,				/* MLID */
	0x84, 0x20,				/* MTU, traffic class */
	0xff, 0xff,				/* P_Key */
	0x43, 0x92,				/* rate, packet life time */
	0xca, 0xbc, 0xde, 0x3f,			/* SL, flow label, hop limit */
	0x25, 0x80, 0, 0,			/* scope, join state; proxy */
};

static const struct ib_sa_mcmember_rec full_record = {
	.mgid.raw = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
	.port_gid.raw = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8 },
	.qkey = cpu_to_be32(0x0b1b),
	.mlid = cpu_to_be16(0xc003),
	.mtu_selector = IB_SA_EQ,
	.mtu = IB_MTU_2048,
	.traffic_class = 0x20,
	.pkey = cpu_to_be16(0xffff),
	.rate_selector = IB_SA_LT,
	.rate = IB_RATE_10_GBPS,
	.packet_life_time_selector = IB_SA_EQ,
	.packet_life_time = 18,
	.sl = 0xc,
	.flow_label = cpu_to_be32(0xabcde),
	.hop_limit = 0x3f,
	.scope = 2,
	.join_state = 5,
	.proxy_join = 1,
};

static void a_join_on_the_wire(struct kunit *test)
{
	struct ib_sa_mcmember_rec rec = full_record;
	const struct ib_sa_mad *mad = &mcast_sa->last;

	mcast_sa->has_reply = true;
	memcpy(mcast_sa->reply, member_bytes, sizeof(member_bytes));
	KUNIT_ASSERT_EQ(test, mcast_join_as(&one, &rec, MCAST_MASK), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&one.calls, 1));
	KUNIT_EXPECT_EQ(test, one.status, 0);
	KUNIT_EXPECT_EQ(test, mad->mad_hdr.method, IB_MGMT_METHOD_SET);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(mad->mad_hdr.attr_id), 0x38);
	KUNIT_EXPECT_EQ(test, be64_to_cpu((__force __be64)mad->sa_hdr.comp_mask),
			BIT_ULL(0) | BIT_ULL(1) | BIT_ULL(7) | BIT_ULL(16));
	KUNIT_EXPECT_MEMEQ(test, mad->data, member_bytes, sizeof(member_bytes));
	KUNIT_EXPECT_MEMEQ(test, &one.rec, &full_record, sizeof(full_record));

	mcast_leave(&one);
	KUNIT_ASSERT_TRUE(test, mad_wait(&mcast_sa->deletes, 1));
	KUNIT_EXPECT_EQ(test, mad->mad_hdr.method, IB_SA_METHOD_DELETE);
	KUNIT_EXPECT_EQ(test, be64_to_cpu((__force __be64)mad->sa_hdr.comp_mask),
			BIT_ULL(0) | BIT_ULL(1) | BIT_ULL(16));
	KUNIT_EXPECT_MEMEQ(test, mad->data, member_bytes, 32);
	KUNIT_EXPECT_EQ(test, mad->data[48] & 0xf, 5);
	mcast_expect_left(test);
}

static void members_of_a_port_share_the_join(struct kunit *test)
{
	struct ib_sa_mcmember_rec rec;

	KUNIT_EXPECT_EQ(test, mcast_joined(&rec), -EADDRNOTAVAIL);
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&one.joined, 1));
	KUNIT_EXPECT_EQ(test, mcast_joined(&rec), 0);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(rec.qkey), 0x0b1bu);
	KUNIT_ASSERT_EQ(test, mcast_join(&two, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&two.joined, 1));
	KUNIT_EXPECT_EQ(test, two.rec.mlid, one.rec.mlid);
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_sa->sets), 1);
	/* Another member is left, so no leave is sent. */
	mcast_leave(&one);
	fake_sa_quiesce(mcast_hca);
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_sa->deletes), 0);
	KUNIT_EXPECT_EQ(test, mcast_joined(&rec), 0);
	mcast_leave(&two);
	KUNIT_EXPECT_TRUE(test, mad_wait(&mcast_sa->deletes, 1));
	mcast_expect_left(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_sa->requests), 2);
}

static void joins_while_one_is_on_its_way(struct kunit *test)
{
	mcast_sa->hold = true;
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&mcast_sa->requests, 1));
	KUNIT_ASSERT_EQ(test, mcast_join(&two, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_EQ(test, mcast_join(&three, BIT(FULLMEMBER_JOIN)), 0);
	fake_sa_quiesce(mcast_hca);
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_sa->requests), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&two.calls), 0);
	fake_sa_release(mcast_sa);
	KUNIT_EXPECT_TRUE(test, mad_wait(&one.joined, 1));
	KUNIT_EXPECT_TRUE(test, mad_wait(&two.joined, 1));
	KUNIT_EXPECT_TRUE(test, mad_wait(&three.joined, 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_sa->requests), 1);
}

static void each_join_state_is_its_own(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&one.joined, 1));
	KUNIT_ASSERT_EQ(test, mcast_join(&two, BIT(SENDONLY_FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&two.joined, 1));
	KUNIT_EXPECT_EQ(test, two.rec.join_state, BIT(SENDONLY_FULLMEMBER_JOIN));
	KUNIT_EXPECT_EQ(test, one.rec.join_state, BIT(FULLMEMBER_JOIN));
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_sa->sets), 2);
	KUNIT_EXPECT_EQ(test, fake_sa_states(mcast_sa, &mcast_mgid), 9);
	/* Join states that other members have need no request. */
	KUNIT_ASSERT_EQ(test, mcast_join(&three, BIT(SENDONLY_FULLMEMBER_JOIN) |
						BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&three.joined, 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_sa->sets), 2);

	mcast_leave(&one);
	mcast_leave(&two);
	fake_sa_quiesce(mcast_hca);
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_sa->deletes), 0);
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&one.joined, 2));
	mcast_leave(&three);
	/* A state that no member has any more is left, the other stays. */
	KUNIT_EXPECT_TRUE(test, mad_wait(&mcast_sa->deletes, 1));
	KUNIT_EXPECT_EQ(test, mcast_sa->last.data[48] & 0xf,
			BIT(SENDONLY_FULLMEMBER_JOIN));
	KUNIT_EXPECT_EQ(test, fake_sa_states(mcast_sa, &mcast_mgid),
			BIT(FULLMEMBER_JOIN));
	mcast_leave(&one);
	mcast_expect_left(test);
}

static void a_refused_join(struct kunit *test)
{
	struct ib_sa_mcmember_rec rec;

	mcast_sa->status = 0x0200;
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&one.calls, 1));
	KUNIT_EXPECT_EQ(test, one.status, -EINVAL);
	KUNIT_EXPECT_EQ(test, mcast_joined(&rec), -EADDRNOTAVAIL);
	/* The next member sends a new join. */
	mcast_sa->status = 0;
	KUNIT_ASSERT_EQ(test, mcast_join(&two, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&two.joined, 1));
	mcast_leave(&one);
	mcast_leave(&two);
	mcast_expect_left(test);
}

static void a_join_nobody_answers(struct kunit *test)
{
	unsigned long start = jiffies;

	mcast_sa->deaf = true;
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&one.calls, 1));
	KUNIT_EXPECT_EQ(test, one.status, -ETIMEDOUT);
	KUNIT_EXPECT_GE(test, jiffies_to_msecs(jiffies - start), 10000u);
	mcast_leave(&one);
	mcast_expect_left(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_sa->deletes), 0);
}

static void a_join_that_cannot_be_sent(struct kunit *test)
{
	fake_sa_move(mcast_hca, NULL, IB_EVENT_SM_CHANGE);
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&one.calls, 1));
	KUNIT_EXPECT_EQ(test, one.status, -EAGAIN);
	mcast_leave(&one);
	mcast_expect_left(test);
	/* A leave cannot be sent either: the group is freed nevertheless. */
	fake_sa_move(mcast_hca, mcast_sa, IB_EVENT_PORT_ACTIVE);
	KUNIT_ASSERT_EQ(test, mcast_join(&two, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&two.joined, 1));
	fake_sa_move(mcast_hca, NULL, IB_EVENT_PORT_ACTIVE);
	mcast_leave(&two);
	fake_sa_forget(mcast_sa);
	mcast_expect_left(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_sa->deletes), 0);
}

static void joins_that_make_no_sense(struct kunit *test)
{
	struct ib_sa_mcmember_rec rec = mcast_record(0);
	union ib_gid gid = mcast_mgid;

	KUNIT_EXPECT_EQ(test, mcast_join_as(&one, &rec, MCAST_MASK), -EINVAL);
	rec.join_state = 0xf0;
	KUNIT_EXPECT_EQ(test, mcast_join_as(&one, &rec, MCAST_MASK), -EINVAL);
	rec.join_state = 1;
	KUNIT_EXPECT_EQ(test,
			PTR_ERR_OR_ZERO(ib_sa_join_multicast(&mcast_client,
							     &mcast_hca->ibdev, 3,
							     &rec, MCAST_MASK,
							     GFP_KERNEL, mcast_told,
							     &one)), -ENODEV);
	KUNIT_EXPECT_EQ(test, ib_sa_get_mcmember_rec(&mcast_hca->ibdev, 3, &gid, &rec),
			-ENODEV);
	mcast_expect_left(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_sa->requests), 0);
}

#define AT(field)	offsetof(struct ib_sa_mcmember_rec, field)
#define MTU	(IB_SA_MCMEMBER_REC_MTU | IB_SA_MCMEMBER_REC_MTU_SELECTOR)
#define RATE	(IB_SA_MCMEMBER_REC_RATE | IB_SA_MCMEMBER_REC_RATE_SELECTOR)
#define LIFE	(IB_SA_MCMEMBER_REC_PACKET_LIFE_TIME | \
		 IB_SA_MCMEMBER_REC_PACKET_LIFE_TIME_SELECTOR)

/* Changes of two bytes of full_record. */
struct other_record {
	ib_sa_comp_mask mask;
	size_t at, other_at;
	u8 value, other_value;
	int status;
};

static const struct other_record other_records[] = {
	{ IB_SA_MCMEMBER_REC_QKEY, AT(qkey), AT(qkey), 0, 9, -EINVAL },
	{ IB_SA_MCMEMBER_REC_MLID, AT(mlid), AT(mlid), 0, 0xc1, -EINVAL },
	{ IB_SA_MCMEMBER_REC_PKEY, AT(pkey), AT(pkey), 0, 0x7f, -EINVAL },
	{ IB_SA_MCMEMBER_REC_TRAFFIC_CLASS, AT(traffic_class), AT(traffic_class),
	  0, 0x21, -EINVAL },
	{ IB_SA_MCMEMBER_REC_SL, AT(sl), AT(sl), 0, 3, -EINVAL },
	{ IB_SA_MCMEMBER_REC_FLOW_LABEL, AT(flow_label), AT(flow_label), 0, 1, -EINVAL },
	{ IB_SA_MCMEMBER_REC_HOP_LIMIT, AT(hop_limit), AT(hop_limit), 0, 1, -EINVAL },
	{ MTU, AT(mtu_selector), AT(mtu), IB_SA_EQ, IB_MTU_4096, -EINVAL },
	{ MTU, AT(mtu_selector), AT(mtu), IB_SA_GT, IB_MTU_1024, 0 },
	{ MTU, AT(mtu_selector), AT(mtu), IB_SA_GT, IB_MTU_2048, -EINVAL },
	{ MTU, AT(mtu_selector), AT(mtu), IB_SA_LT, IB_MTU_4096, 0 },
	{ MTU, AT(mtu_selector), AT(mtu), IB_SA_LT, IB_MTU_2048, -EINVAL },
	{ MTU, AT(mtu_selector), AT(mtu), IB_SA_BEST, IB_MTU_256, 0 },
	{ RATE, AT(rate_selector), AT(rate), IB_SA_EQ, IB_RATE_10_GBPS, 0 },
	{ RATE, AT(rate_selector), AT(rate), IB_SA_EQ, IB_RATE_5_GBPS, -EINVAL },
	/* The encoding of 5 Gb/s is 5, that of 10 Gb/s is 3. */
	{ RATE, AT(rate_selector), AT(rate), IB_SA_GT, IB_RATE_5_GBPS, 0 },
	{ RATE, AT(rate_selector), AT(rate), IB_SA_LT, IB_RATE_5_GBPS, -EINVAL },
	{ LIFE, AT(packet_life_time_selector),
	  AT(packet_life_time), IB_SA_EQ, 18, 0 },
	{ LIFE, AT(packet_life_time_selector),
	  AT(packet_life_time), IB_SA_LT, 18, -EINVAL },
	/* A value without its selector is ignored. */
	{ IB_SA_MCMEMBER_REC_MTU, AT(mtu_selector), AT(mtu), IB_SA_EQ, IB_MTU_4096, 0 },
};

/* A join of a group that the port is in must match the record of the group. */
static void records_that_differ(struct kunit *test)
{
	const struct other_record *o;
	struct ib_sa_mcmember_rec rec;
	int i;

	mcast_sa->has_reply = true;
	memcpy(mcast_sa->reply, member_bytes, sizeof(member_bytes));
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&one.joined, 1));
	for (i = 0; i < ARRAY_SIZE(other_records); i++) {
		o = &other_records[i];
		rec = full_record;
		rec.join_state = BIT(FULLMEMBER_JOIN);
		((u8 *)&rec)[o->at] = o->value;
		((u8 *)&rec)[o->other_at] = o->other_value;
		KUNIT_ASSERT_EQ(test, mcast_join_as(&two, &rec, o->mask), 0);
		KUNIT_ASSERT_TRUE(test, mad_wait(&two.calls, 2 * i + 1));
		KUNIT_EXPECT_EQ_MSG(test, two.status, o->status, "record %d", i);
		mcast_leave(&two);
		/* Components that are not in the mask are ignored. */
		KUNIT_ASSERT_EQ(test, mcast_join_as(&two, &rec, MCAST_MASK &
						    ~IB_SA_MCMEMBER_REC_PKEY), 0);
		KUNIT_ASSERT_TRUE(test, mad_wait(&two.calls, 2 * i + 2));
		KUNIT_EXPECT_EQ_MSG(test, two.status, 0, "record %d", i);
		mcast_leave(&two);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_sa->requests), 1);
	mcast_leave(&one);
	mcast_expect_left(test);
}

/* Members find a group whose MGID the SA chose by that MGID. */
static void a_group_that_the_sa_names(struct kunit *test)
{
	struct ib_sa_mcmember_rec rec = mcast_record(BIT(FULLMEMBER_JOIN)), found;
	union ib_gid given = { .raw = { 0xff, [15] = 0x77 } };
	struct ib_device *ibdev = &mcast_hca->ibdev;
	union ib_gid zero = {};

	rec.mgid = zero;
	KUNIT_ASSERT_EQ(test, mcast_join_as(&one, &rec, MCAST_MASK), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&one.joined, 1));
	KUNIT_EXPECT_MEMEQ(test, &one.rec.mgid, &given, sizeof(given));
	KUNIT_EXPECT_EQ(test, ib_sa_get_mcmember_rec(ibdev, 1, &given, &found), 0);
	KUNIT_EXPECT_EQ(test, ib_sa_get_mcmember_rec(ibdev, 1, &zero, &found),
			-EADDRNOTAVAIL);
	rec.mgid = given;
	KUNIT_ASSERT_EQ(test, mcast_join_as(&two, &rec, MCAST_MASK), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&two.joined, 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_sa->sets), 1);
	mcast_leave(&one);
	fake_sa_quiesce(mcast_hca);
	KUNIT_EXPECT_EQ(test, fake_sa_states(mcast_sa, &given), 1);
	mcast_leave(&two);
	mcast_expect_left(test);
	KUNIT_EXPECT_EQ(test, fake_sa_states(mcast_sa, &given), 0);
}

/* The member leaves while its join is in flight: the port leaves after the response. */
static void leave_before_the_answer(struct kunit *test)
{
	mcast_sa->hold = true;
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&mcast_sa->requests, 1));
	mcast_leave(&one);
	fake_sa_release(mcast_sa);
	KUNIT_EXPECT_TRUE(test, mad_wait(&mcast_sa->deletes, 1));
	mcast_expect_left(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&one.calls), 0);
}

/* Another member waits for the same join, and takes it over. */
static void leave_with_another_waiting(struct kunit *test)
{
	mcast_sa->hold = true;
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&mcast_sa->requests, 1));
	KUNIT_ASSERT_EQ(test, mcast_join(&two, BIT(FULLMEMBER_JOIN)), 0);
	mcast_leave(&one);
	fake_sa_release(mcast_sa);
	KUNIT_EXPECT_TRUE(test, mad_wait(&two.joined, 1));
	fake_sa_quiesce(mcast_hca);
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_sa->requests), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&one.calls), 0);
}

/* A join during a leave is sent after the leave. */
static void join_behind_a_leave(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&one.joined, 1));
	mcast_sa->hold = true;
	mcast_leave(&one);
	KUNIT_ASSERT_TRUE(test, mad_wait(&mcast_sa->deletes, 1));
	KUNIT_ASSERT_EQ(test, mcast_join(&two, BIT(FULLMEMBER_JOIN)), 0);
	fake_sa_quiesce(mcast_hca);
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_sa->sets), 1);
	fake_sa_release(mcast_sa);
	KUNIT_EXPECT_TRUE(test, mad_wait(&two.joined, 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_sa->sets), 2);
	KUNIT_EXPECT_EQ(test, fake_sa_states(mcast_sa, &mcast_mgid), 1);
}

static void the_callback_gives_the_membership_up(struct kunit *test)
{
	one.refuses = true;
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&one.calls, 1));
	KUNIT_EXPECT_TRUE(test, mad_wait(&mcast_sa->deletes, 1));
	mcast_expect_left(test);
	/* Also when the join failed, as IPoIB's callback does. */
	mcast_sa->status = 0x0100;
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&one.calls, 2));
	mcast_expect_left(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_sa->deletes), 1);
}

static void free_waits_for_the_callback(struct kunit *test)
{
	one.sleep_ms = 500;
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&mcast_sa->sets, 1));
	fake_sa_quiesce(mcast_hca);
	KUNIT_EXPECT_EQ(test, atomic_read(&one.calls), 0);
	mcast_leave(&one);
	KUNIT_EXPECT_EQ(test, atomic_read(&one.calls), 1);
	mcast_expect_left(test);
}

static void a_client_waits_for_its_members(struct kunit *test)
{
	one.refuses = true;
	one.sleep_ms = 500;
	KUNIT_ASSERT_EQ(test, mcast_join(&one, BIT(FULLMEMBER_JOIN)), 0);
	ib_sa_unregister_client(&mcast_client);
	KUNIT_EXPECT_EQ(test, atomic_read(&one.calls), 1);
	ib_sa_register_client(&mcast_client);
	mcast_expect_left(test);
}

/* IPoIB joins, and looks up groups, under a lock that interrupt handlers take. */
static void joins_under_a_callers_lock(struct kunit *test)
{
	static DEFINE_SPINLOCK(lock);
	struct ib_sa_mcmember_rec rec = mcast_record(BIT(FULLMEMBER_JOIN)), found;
	struct ib_sa_multicast *mc;
	union ib_gid gid = mcast_mgid;
	unsigned long flags;
	bool off;
	int ret;

	spin_lock_irqsave(&lock, flags);
	mc = ib_sa_join_multicast(&mcast_client, &mcast_hca->ibdev, 1, &rec,
				  MCAST_MASK, GFP_ATOMIC, mcast_told, &one);
	off = irqs_disabled();
	spin_unlock_irqrestore(&lock, flags);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mc));
	one.mc = mc;
	KUNIT_EXPECT_TRUE(test, off);
	KUNIT_ASSERT_TRUE(test, mad_wait(&one.joined, 1));
	spin_lock_irqsave(&lock, flags);
	ret = ib_sa_get_mcmember_rec(&mcast_hca->ibdev, 1, &gid, &found);
	off = irqs_disabled();
	spin_unlock_irqrestore(&lock, flags);
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_TRUE(test, off);
}

static struct kunit_case mcast_cases[] = {
	KUNIT_CASE(a_join_on_the_wire),
	KUNIT_CASE(members_of_a_port_share_the_join),
	KUNIT_CASE(joins_while_one_is_on_its_way),
	KUNIT_CASE(each_join_state_is_its_own),
	KUNIT_CASE(a_refused_join),
	KUNIT_CASE_SLOW(a_join_nobody_answers),
	KUNIT_CASE(a_join_that_cannot_be_sent),
	KUNIT_CASE(joins_that_make_no_sense),
	KUNIT_CASE(records_that_differ),
	KUNIT_CASE(a_group_that_the_sa_names),
	KUNIT_CASE(leave_before_the_answer),
	KUNIT_CASE(leave_with_another_waiting),
	KUNIT_CASE(join_behind_a_leave),
	KUNIT_CASE(the_callback_gives_the_membership_up),
	KUNIT_CASE(free_waits_for_the_callback),
	KUNIT_CASE(a_client_waits_for_its_members),
	KUNIT_CASE(joins_under_a_callers_lock),
	{}
};

static struct kunit_suite ibmad_mcast_suite = {
	.name = "ib_mad_mcast",
	.init = mcast_test_init,
	.exit = mcast_test_exit,
	.test_cases = mcast_cases,
};

kunit_test_suite(ibmad_mcast_suite);
