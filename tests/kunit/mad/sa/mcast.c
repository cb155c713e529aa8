// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Members of multicast groups, and the calls of their callbacks. */
#include "mcast.h"

struct fake_sa *mcast_sa;
struct fake_hca *mcast_hca;
struct ib_sa_client mcast_client;

struct mcast_member one, two, three;

const union ib_gid mcast_mgid = {
	.raw = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
};

int mcast_test_init(struct kunit *test)
{
	memset(&one, 0, sizeof(one));
	memset(&two, 0, sizeof(two));
	memset(&three, 0, sizeof(three));
	return fake_sa_begin(&mcast_sa, &mcast_hca, &mcast_client);
}

void mcast_leave(struct mcast_member *m)
{
	if (m->mc)
		ib_sa_free_multicast(m->mc);
	m->mc = NULL;
}

void mcast_test_exit(struct kunit *test)
{
	mcast_leave(&one);
	mcast_leave(&two);
	mcast_leave(&three);
	fake_sa_end(&mcast_sa, &mcast_hca);
}

int mcast_told(int status, struct ib_sa_multicast *mc)
{
	struct mcast_member *m = mc->context;
	bool refuses = m->refuses;

	m->status = status;
	if (m->sleep_ms)
		msleep(m->sleep_ms);
	if (!status) {
		m->rec = mc->rec;
		atomic_inc(&m->joined);
	}
	if (status == -ENETRESET) {
		refuses |= m->refuses_resets;
		atomic_inc(&m->resets);
	}
	if (refuses)
		m->mc = NULL;
	current->fail_nth = m->fail_nth;
	atomic_inc(&m->calls);
	return refuses ? -ECANCELED : 0;
}

struct ib_sa_mcmember_rec mcast_record(u8 states)
{
	return (struct ib_sa_mcmember_rec){
		.mgid = mcast_mgid,
		.port_gid = mcast_hca->port[1].gids[0],
		.pkey = cpu_to_be16(0xffff),
		.join_state = states,
	};
}

int mcast_join_as(struct mcast_member *m, struct ib_sa_mcmember_rec *rec,
		  ib_sa_comp_mask mask)
{
	struct ib_sa_multicast *mc;

	mc = ib_sa_join_multicast(&mcast_client, &mcast_hca->ibdev, 1, rec, mask, GFP_KERNEL,
				  mcast_told, m);
	if (IS_ERR(mc))
		return PTR_ERR(mc);
	if (!m->refuses)
		m->mc = mc;
	return 0;
}

int mcast_join(struct mcast_member *m, u8 states)
{
	struct ib_sa_mcmember_rec rec = mcast_record(states);

	return mcast_join_as(m, &rec, MCAST_MASK);
}

int mcast_joined(struct ib_sa_mcmember_rec *rec)
{
	union ib_gid gid = mcast_mgid;

	return ib_sa_get_mcmember_rec(&mcast_hca->ibdev, 1, &gid, rec);
}

void mcast_wait_left(void)
{
	struct sa_port *port = ibmad_sa_port(&mcast_hca->ibdev, 1);
	int i;

	for (i = 0; i < 1000 && !list_empty(&port->groups); i++)
		msleep(20);
}

void mcast_expect_left(struct kunit *test)
{
	struct sa_port *port = ibmad_sa_port(&mcast_hca->ibdev, 1);
	struct ib_sa_mcmember_rec rec;

	mcast_wait_left();
	fake_sa_quiesce(mcast_hca);
	KUNIT_EXPECT_TRUE(test, list_empty(&port->groups));
	KUNIT_EXPECT_TRUE(test, hash_empty(port->by_mgid));
	KUNIT_EXPECT_EQ(test, refcount_read(&port->users), 1u);
	KUNIT_EXPECT_EQ(test, atomic_read(&mcast_client.users), 1);
	KUNIT_EXPECT_EQ(test, refcount_read(&to_agent(port->agent)->refs), 1u);
	KUNIT_EXPECT_EQ(test, mcast_joined(&rec), -EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, fake_sa_states(mcast_sa, &mcast_mgid), 0);
}

