// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast groups: joins and leaves, also concurrent ones, and joins whose response
 * cannot be written.
 */
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include "ucm/ucm_test.h"

#define GROUP	htonl(0xef010203)

/* Returns how often the host has joined the group. */
static int members(struct net_device *ndev)
{
	struct in_device *in_dev;
	struct ip_mc_list *mc;
	int users = 0;

	rtnl_lock();
	in_dev = __in_dev_get_rtnl(ndev);
	for (mc = in_dev ? rtnl_dereference(in_dev->mc_list) : NULL; mc;
	     mc = rtnl_dereference(mc->next_rcu))
		if (mc->multiaddr == GROUP)
			users += mc->users;
	rtnl_unlock();
	return users;
}

static u32 bound_id(struct kunit *test, struct chan *chan)
{
	struct ucm_hosts *host = test->priv;
	struct sockaddr_storage addr;
	u32 id;

	KUNIT_ASSERT_EQ(test, chan_create(chan, RDMA_PS_UDP, 'C', &id), 0);
	KUNIT_ASSERT_EQ(test, chan_bind(chan, id, cma_sin(&addr, host->pair.client.ip4, 0)),
			0);
	return id;
}

static int join(struct chan *chan, u32 id, u16 flags, u64 uid, u32 *mc)
{
	struct sockaddr_storage addr;

	return chan_join(chan, id, cma_sin(&addr, GROUP, 0), flags, uid, mc);
}

static void a_group_is_joined_and_left(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct chan *chan = &host->client;
	struct rdma_ucm_event_resp event;
	u32 id = bound_id(test, chan), mc, reported;

	KUNIT_ASSERT_EQ(test, join(chan, id, RDMA_MC_JOIN_FLAG_FULLMEMBER, 'M', &mc), 0);
	KUNIT_EXPECT_EQ(test, members(host->pair.client.ndev), 1);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, chan, RDMA_CM_EVENT_MULTICAST_JOIN,
					    &event));
	KUNIT_EXPECT_EQ(test, event.uid, 'M');
	KUNIT_EXPECT_EQ(test, event.id, mc);
	KUNIT_EXPECT_EQ(test, event.param.ud.qp_num, 0xffffff);
	KUNIT_EXPECT_EQ(test, event.param.ud.qkey, RDMA_UDP_QKEY);
	KUNIT_EXPECT_EQ(test, event.param.ud.ah_attr.grh.dgid[15], 3);
	KUNIT_EXPECT_EQ(test, chan_leave(&host->server, mc, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, chan_leave(chan, mc, &reported), 0);
	KUNIT_EXPECT_EQ(test, reported, 1);
	KUNIT_EXPECT_EQ(test, members(host->pair.client.ndev), 0);
	KUNIT_EXPECT_EQ(test, chan_leave(chan, mc, &reported), -ENOENT);
	/* The event counts as one of the id, too. */
	KUNIT_EXPECT_EQ(test, chan_destroy(chan, id, &reported), 0);
	KUNIT_EXPECT_EQ(test, reported, 1);
}

static void a_group_by_the_older_command(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_join_ip_mcast cmd = {
		.response = chan_resp_at(&host->client), .uid = 'M',
	};
	struct sockaddr_storage addr;

	cmd.id = bound_id(test, &host->client);
	KUNIT_EXPECT_EQ(test, chan_do(&host->client, JOIN_IP_MCAST, cmd, 4), -EINVAL);
	cma_sin(&addr, GROUP, 0);
	memcpy(&cmd.addr, &addr, sizeof(cmd.addr));
	KUNIT_EXPECT_EQ(test, chan_do(&host->client, JOIN_IP_MCAST, cmd, 4), 0);
	KUNIT_EXPECT_TRUE(test, chan_expect(test, &host->client,
					    RDMA_CM_EVENT_MULTICAST_JOIN, NULL));
	/* The destruction of the id leaves the group. */
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->client, cmd.id, NULL), 0);
	KUNIT_EXPECT_EQ(test, members(host->pair.client.ndev), 0);
}

static void joins_that_make_no_sense(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct chan *chan = &host->client;
	struct rdma_ucm_join_mcast cmd = { .response = chan_resp_at(chan) };
	struct sockaddr_storage addr;
	u32 id = bound_id(test, chan), mc;

	KUNIT_EXPECT_EQ(test, join(chan, id, RDMA_MC_JOIN_FLAG_RESERVED, 'M', &mc), -EINVAL);
	cmd.id = id;
	memcpy(&cmd.addr, cma_sin(&addr, GROUP, 0), sizeof(cmd.addr));
	KUNIT_EXPECT_EQ(test, chan_do(chan, JOIN_MCAST, cmd, 4), -EINVAL);
	cmd.addr_size = 15;
	KUNIT_EXPECT_EQ(test, chan_do(chan, JOIN_MCAST, cmd, 4), -EINVAL);
	KUNIT_EXPECT_EQ(test, members(host->pair.client.ndev), 0);
}

static void a_sender_is_no_member(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct chan *chan = &host->client;
	u32 id = bound_id(test, chan), mc;

	KUNIT_ASSERT_EQ(test, join(chan, id, RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER, 'M',
				   &mc), 0);
	KUNIT_EXPECT_TRUE(test, chan_expect(test, chan, RDMA_CM_EVENT_MULTICAST_JOIN, NULL));
	KUNIT_EXPECT_EQ(test, members(host->pair.client.ndev), 0);
}

/* An unread event of the group is discarded with it; those of other groups stay. */
static void a_group_is_left_with_its_event_unread(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct chan *chan = &host->client;
	struct rdma_ucm_event_resp event;
	struct sockaddr_storage addr;
	u32 id = bound_id(test, chan), mc[2], reported;

	KUNIT_ASSERT_EQ(test, join(chan, id, 0, 'M', &mc[0]), 0);
	KUNIT_ASSERT_EQ(test, chan_join(chan, id, cma_sin(&addr, htonl(0xef010204), 0), 0,
					'N', &mc[1]), 0);
	msleep(500);
	KUNIT_EXPECT_EQ(test, chan_leave(chan, mc[0], &reported), 0);
	KUNIT_EXPECT_EQ(test, reported, 0);
	KUNIT_EXPECT_TRUE(test, chan_expect(test, chan, RDMA_CM_EVENT_MULTICAST_JOIN,
					    &event));
	KUNIT_EXPECT_EQ(test, event.uid, 'N');
	KUNIT_EXPECT_TRUE(test, chan_is_empty(chan));
}

/*
 * Section 5, 4: if the response cannot be written, the process is not a member, and the
 * number of the join was never seen.
 */
static void a_join_that_cannot_be_told(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct chan *chan = &host->client;
	u32 id = bound_id(test, chan), mc, first;

	KUNIT_ASSERT_EQ(test, join(chan, id, 0, 'M', &first), 0);
	chan->bad_resp = true;
	KUNIT_EXPECT_EQ(test, join(chan, id, 0, 'N', &mc), -EFAULT);
	chan->bad_resp = false;
	KUNIT_EXPECT_EQ(test, members(host->pair.client.ndev), 1);
	KUNIT_EXPECT_EQ(test, chan_leave(chan, first + 1, NULL), -ENOENT);
	/* The older join of that address is unchanged. */
	KUNIT_EXPECT_TRUE(test, chan_expect(test, chan, RDMA_CM_EVENT_MULTICAST_JOIN, NULL));
	KUNIT_EXPECT_TRUE(test, chan_is_empty(chan));
	KUNIT_EXPECT_EQ(test, chan_leave(chan, first, NULL), 0);
	KUNIT_EXPECT_EQ(test, members(host->pair.client.ndev), 0);
}

static struct ucm_id *first_id(struct chan *chan)
{
	struct ucm_file *file = chan->filp->private_data;

	return list_first_entry(&file->ids, struct ucm_id, file_node);
}

static void tell_error(struct ucm_id *id, u32 slot)
{
	struct rdma_cm_event event = {
		.event = RDMA_CM_EVENT_MULTICAST_ERROR, .status = -ENETRESET,
		.param.ud.private_data = (void *)(uintptr_t)slot,
	};

	rdma_lock_handler(id->cm_id);
	id->cm_id->event_handler(id->cm_id, &event);
	rdma_unlock_handler(id->cm_id);
}

/*
 * rdma_cm leaves the oldest join of an address, whichever the process means.  Events of
 * the join that rdma_cm has left over are reported for the one that the process has
 * left over.
 */
static void the_younger_of_two_joins_is_left(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct chan *chan = &host->client;
	struct rdma_ucm_event_resp event;
	u32 id = bound_id(test, chan), mc[2];

	KUNIT_ASSERT_EQ(test, join(chan, id, 0, 'M', &mc[0]), 0);
	KUNIT_ASSERT_EQ(test, join(chan, id, 0, 'N', &mc[1]), 0);
	KUNIT_EXPECT_TRUE(test, chan_expect(test, chan, RDMA_CM_EVENT_MULTICAST_JOIN, NULL));
	KUNIT_EXPECT_TRUE(test, chan_expect(test, chan, RDMA_CM_EVENT_MULTICAST_JOIN, NULL));
	KUNIT_EXPECT_EQ(test, chan_leave(chan, mc[1], NULL), 0);
	tell_error(first_id(chan), 1);
	KUNIT_EXPECT_TRUE(test, chan_is_empty(chan));
	tell_error(first_id(chan), 2);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, chan, RDMA_CM_EVENT_MULTICAST_ERROR,
					    &event));
	KUNIT_EXPECT_EQ(test, event.uid, 'M');
	KUNIT_EXPECT_EQ(test, event.id, mc[0]);
	KUNIT_EXPECT_EQ(test, (int)event.status, -ENETRESET);
	KUNIT_EXPECT_EQ(test, chan_leave(chan, mc[0], NULL), 0);
	KUNIT_EXPECT_EQ(test, members(host->pair.client.ndev), 0);
}

/* A group and its unread event move to another file with their id. */
static void a_group_moves_with_its_id(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	u32 id = bound_id(test, &host->client), mc;

	KUNIT_ASSERT_EQ(test, join(&host->client, id, 0, 'M', &mc), 0);
	KUNIT_ASSERT_EQ(test, chan_migrate(&host->server, &host->client, id, NULL), 0);
	KUNIT_EXPECT_EQ(test, chan_leave(&host->client, mc, NULL), -EINVAL);
	KUNIT_EXPECT_TRUE(test, chan_expect(test, &host->server,
					    RDMA_CM_EVENT_MULTICAST_JOIN, NULL));
	KUNIT_EXPECT_EQ(test, chan_leave(&host->server, mc, NULL), 0);
}

/* ---- concurrently ---- */

static int leave_it(struct racer *r)
{
	return !chan_leave(&r->chan, r->mc, NULL);
}

/* Section 5, 2: of many concurrent leaves exactly one succeeds. */
static void a_group_is_left_by_many(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	u32 id = bound_id(test, &host->client), mc, round;
	static struct racer r[4];
	int i, left;

	for (round = 0; round < 5; round++) {
		KUNIT_ASSERT_EQ(test, join(&host->client, id, 0, 'M', &mc), 0);
		for (i = 0, left = 0; i < 4; i++)
			race_start(test, &r[i], &host->client, leave_it, id, mc);
		for (i = 0; i < 4; i++)
			left += race_join(test, &r[i]);
		KUNIT_EXPECT_EQ(test, left, 1);
		KUNIT_EXPECT_EQ(test, members(host->pair.client.ndev), 0);
	}
}

/* Leaves a group; another id's next join gets the number of the one that was left. */
static int leave_and_join(struct racer *r)
{
	int left = leave_it(r);

	join(&r->chan, r->id, 0, 'N', &r->mc);
	return left;
}

static struct ucm_id *ucm_id_of(struct chan *chan, u32 nr)
{
	struct ucm_file *file = chan->filp->private_data;
	struct ucm_id *id;

	list_for_each_entry(id, &file->ids, file_node)
		if (id->nr == nr)
			return id;
	return NULL;
}

/*
 * Two tasks wait for the id's mutex to leave its group; when the first has left it, the
 * number is that of another id's join.
 */
static void a_number_passes_to_another_id(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	u32 one = bound_id(test, &host->client), other = bound_id(test, &host->client), mc;
	struct ucm_id *id = ucm_id_of(&host->client, one);
	struct racer a, b;

	KUNIT_ASSERT_NOT_NULL(test, id);
	KUNIT_ASSERT_EQ(test, join(&host->client, one, 0, 'M', &mc), 0);
	mutex_lock(&id->mutex);
	race_start(test, &a, &host->client, leave_and_join, other, mc);
	msleep(1);
	race_start(test, &b, &host->client, leave_it, other, mc);
	msleep(1);
	mutex_unlock(&id->mutex);
	KUNIT_EXPECT_EQ(test, race_join(test, &a) + race_join(test, &b), 1);
	KUNIT_EXPECT_EQ(test, a.mc, mc);
	KUNIT_EXPECT_EQ(test, members(host->pair.client.ndev), 1);
	KUNIT_EXPECT_EQ(test, chan_leave(&host->client, a.mc, NULL), 0);
}

/* Leaves all numbers that there may be, as fast as possible. */
static int leave_all(struct racer *r)
{
	int i, left = 0;

	for (i = 0; i < 300; i++) {
		left += !chan_leave(&r->chan, i % 3, NULL);
		usleep_range(1, 2);
	}
	return left;
}

/* Section 5, 4: a task leaves groups while they are being joined, and the join fails. */
static void joins_that_fail_race_with_leaves(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	u32 id = bound_id(test, &host->client), mc;
	struct racer r;
	int i;

	race_start(test, &r, &host->client, leave_all, id, 0);
	for (i = 0; i < 200; i++) {
		host->client.bad_resp = i & 1;
		KUNIT_EXPECT_EQ(test, join(&host->client, id, 0, 'M', &mc),
				i & 1 ? -EFAULT : 0);
		host->client.bad_resp = false;
		if (!(i & 1))
			chan_leave(&host->client, mc, NULL);
		usleep_range(1, 2);
	}
	race_join(test, &r);
	KUNIT_EXPECT_EQ(test, members(host->pair.client.ndev), 0);
}

static int destroy_it(struct racer *r)
{
	return !chan_destroy(&r->chan, r->id, NULL);
}

static void an_id_ends_while_it_joins(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	u32 round, id, mc;
	struct racer r;
	int ret;

	for (round = 0; round < 20; round++) {
		id = bound_id(test, &host->client);
		race_start(test, &r, &host->client, destroy_it, id, 0);
		do {
			ret = join(&host->client, id, 0, 'M', &mc);
			usleep_range(1, 2);
		} while (!ret);
		KUNIT_EXPECT_EQ(test, ret, -ENOENT);
		KUNIT_EXPECT_EQ(test, race_join(test, &r), 1);
		KUNIT_EXPECT_EQ(test, members(host->pair.client.ndev), 0);
	}
}

static struct kunit_case mcast_cases[] = {
	KUNIT_CASE(a_group_is_joined_and_left),
	KUNIT_CASE(a_group_by_the_older_command),
	KUNIT_CASE(joins_that_make_no_sense),
	KUNIT_CASE(a_sender_is_no_member),
	KUNIT_CASE(a_group_is_left_with_its_event_unread),
	KUNIT_CASE(a_join_that_cannot_be_told),
	KUNIT_CASE(the_younger_of_two_joins_is_left),
	KUNIT_CASE(a_group_moves_with_its_id),
	KUNIT_CASE(a_group_is_left_by_many),
	KUNIT_CASE(a_number_passes_to_another_id),
	KUNIT_CASE(joins_that_fail_race_with_leaves),
	KUNIT_CASE(an_id_ends_while_it_joins),
	{}
};

static struct kunit_suite ucm_mcast_suite = {
	.name = "ucm_mcast",
	.init = hosts_init,
	.exit = hosts_exit,
	.test_cases = mcast_cases,
};

kunit_test_suite(ucm_mcast_suite);
