// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Ids that move from one event channel to another, with their unread events. */
#include <linux/anon_inodes.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include "ucm/ucm_test.h"

static u32 pending_id(struct kunit *test, struct chan *chan, u64 uid)
{
	struct ucm_hosts *host = test->priv;
	struct sockaddr_storage src, dst;
	u32 id;

	KUNIT_ASSERT_EQ(test, chan_create(chan, RDMA_PS_TCP, uid, &id), 0);
	KUNIT_ASSERT_EQ(test, chan_resolve(chan, id, cma_sin(&src, host->pair.client.ip4, 0),
					   cma_sin(&dst, host->pair.server.ip4, TEST_PORT)),
			0);
	msleep(300);
	return id;
}

static void expect_uid(struct kunit *test, struct chan *chan, u64 uid)
{
	struct rdma_ucm_event_resp event;

	KUNIT_ASSERT_EQ(test, chan_read(chan, &event), 0);
	KUNIT_EXPECT_EQ(test, event.uid, uid);
}

static void an_id_takes_its_events_along(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_event_resp event;
	u32 id, reported;

	pending_id(test, &host->server, 1);
	id = pending_id(test, &host->client, 2);
	pending_id(test, &host->client, 3);
	KUNIT_ASSERT_EQ(test, chan_route(&host->client, id), 0);
	msleep(300);
	KUNIT_ASSERT_EQ(test, chan_migrate(&host->server, &host->client, id, &reported), 0);
	KUNIT_EXPECT_EQ(test, reported, 0);

	expect_uid(test, &host->client, 3);
	KUNIT_EXPECT_EQ(test, chan_read(&host->client, &event), -EAGAIN);
	expect_uid(test, &host->server, 1);
	KUNIT_ASSERT_EQ(test, chan_read(&host->server, &event), 0);
	KUNIT_EXPECT_EQ(test, event.event, RDMA_CM_EVENT_ADDR_RESOLVED);
	KUNIT_ASSERT_EQ(test, chan_read(&host->server, &event), 0);
	KUNIT_EXPECT_EQ(test, event.event, RDMA_CM_EVENT_ROUTE_RESOLVED);
	KUNIT_EXPECT_EQ(test, event.uid, 2);
	KUNIT_EXPECT_EQ(test, event.id, id);
	KUNIT_EXPECT_EQ(test, chan_read(&host->server, &event), -EAGAIN);

	/* The id is in the new file and no longer in the old one; then it moves back. */
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->client, id, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, chan_migrate(&host->server, &host->client, id, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, chan_migrate(&host->client, &host->server, id, &reported), 0);
	KUNIT_EXPECT_EQ(test, reported, 2);
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->client, id, &reported), 0);
	KUNIT_EXPECT_EQ(test, reported, 2);
}

static void later_events_come_to_the_new_file(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	u32 id = pending_id(test, &host->client, 1);

	expect_uid(test, &host->client, 1);
	KUNIT_ASSERT_EQ(test, chan_migrate(&host->server, &host->client, id, NULL), 0);
	/* The file that it was in may be closed. */
	chan_close(&host->client);
	KUNIT_ASSERT_EQ(test, chan_route(&host->server, id), 0);
	KUNIT_EXPECT_TRUE(test, chan_expect(test, &host->server,
					    RDMA_CM_EVENT_ROUTE_RESOLVED, NULL));
}

/* An unread request moves with its listener. */
static void a_listener_takes_its_requests_along(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_event_resp event;

	listen_up(test, RDMA_PS_TCP, 8);
	resolve_up(test, RDMA_PS_TCP);
	KUNIT_ASSERT_EQ(test, chan_connect(&host->client, host->id, NULL, 0), 0);
	msleep(1000);
	KUNIT_ASSERT_EQ(test, chan_migrate(&host->client, &host->server, host->listener,
					   NULL), 0);
	KUNIT_EXPECT_TRUE(test, chan_is_empty(&host->server));
	KUNIT_ASSERT_TRUE(test, chan_expect(test, &host->client,
					    RDMA_CM_EVENT_CONNECT_REQUEST, &event));
	KUNIT_EXPECT_EQ(test, chan_accept(&host->server, event.id, 'S'), -EINVAL);
	KUNIT_EXPECT_EQ(test, chan_accept(&host->client, event.id, 'S'), 0);
	/* A request that was read stays in the file that read it. */
	host->child = event.id;
	KUNIT_ASSERT_EQ(test, chan_migrate(&host->server, &host->client, host->listener,
					   NULL), 0);
	KUNIT_EXPECT_EQ(test, chan_reject(&host->server, host->child, 0), -EINVAL);
}

static const struct file_operations other_fops;

static void descriptors_that_do_not_fit(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct chan other = {};
	struct file *filp;
	u32 id, reported;

	KUNIT_ASSERT_EQ(test, chan_create(&host->client, RDMA_PS_TCP, 'C', &id), 0);
	other.fd = 12345;
	KUNIT_EXPECT_EQ(test, chan_migrate(&host->server, &other, id, NULL), -ENOENT);
	filp = anon_inode_getfile("other", &other_fops, NULL, O_RDWR);
	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	other.fd = get_unused_fd_flags(O_CLOEXEC);
	KUNIT_ASSERT_GE(test, other.fd, 0);
	fd_install(other.fd, filp);
	KUNIT_EXPECT_EQ(test, chan_migrate(&host->server, &other, id, NULL), -EINVAL);
	close_fd(other.fd);
	KUNIT_EXPECT_EQ(test, chan_migrate(&host->client, &host->client, id, &reported), 0);
	KUNIT_EXPECT_EQ(test, reported, 0);
	KUNIT_EXPECT_EQ(test, chan_migrate(&host->client, &host->client, id + 77, NULL),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, chan_migrate(&host->client, &host->server, id, NULL), -EINVAL);
	/* The id has moved even if the response cannot be written. */
	host->server.bad_resp = true;
	KUNIT_EXPECT_EQ(test, chan_migrate(&host->server, &host->client, id, NULL), -EFAULT);
	host->server.bad_resp = false;
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->server, id, NULL), 0);
}

/* ---- concurrently ---- */

/* Each task moves the id from the other's file to its own. */
static int to_and_fro(struct racer *r)
{
	struct chan from = { .fd = r->mc };
	int i, moves = 0;

	for (i = 0; i < 2000; i++) {
		moves += !chan_migrate(&r->chan, &from, r->id, NULL);
		if (!(i & 15))
			usleep_range(1, 2);
	}
	return moves;
}

static void two_files_pull_at_an_id(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_event_resp event;
	struct racer r[2];
	int moves, got = 0;
	u32 id, other;

	id = pending_id(test, &host->client, 1);
	other = pending_id(test, &host->server, 2);
	race_start(test, &r[0], &host->client, to_and_fro, id, host->server.fd);
	race_start(test, &r[1], &host->server, to_and_fro, id, host->client.fd);
	moves = race_join(test, &r[0]) + race_join(test, &r[1]);
	KUNIT_EXPECT_GE(test, moves, 1);
	while (!chan_read(&host->client, &event) || !chan_read(&host->server, &event))
		got++;
	KUNIT_EXPECT_EQ(test, got, 2);
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->server, other, NULL), 0);
	KUNIT_EXPECT_TRUE(test, !chan_destroy(&host->client, id, NULL) ||
				!chan_destroy(&host->server, id, NULL));
}

static int read_here(struct racer *r)
{
	int n = 0, idle = 0;

	while (idle < 200) {
		if (!chan_read(&r->chan, &r->event)) {
			n++;
			continue;
		}
		usleep_range(100, 200);
		idle++;
	}
	return n;
}

/* No event is lost or reported twice, whichever file it is read from. */
static void events_are_read_while_their_id_moves(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_cm_event event = { .event = RDMA_CM_EVENT_DISCONNECTED };
	static struct racer reader[2], mover[2];
	struct rdma_ucm_event_resp resp;
	struct rdma_cm_id *cm_id;
	struct ucm_file *file;
	int i, got;
	u32 id;

	KUNIT_ASSERT_EQ(test, chan_create(&host->client, RDMA_PS_TCP, 'C', &id), 0);
	file = host->client.filp->private_data;
	cm_id = list_first_entry(&file->ids, struct ucm_id, file_node)->cm_id;
	race_start(test, &reader[0], &host->client, read_here, id, 0);
	race_start(test, &reader[1], &host->server, read_here, id, 0);
	race_start(test, &mover[0], &host->client, to_and_fro, id, host->server.fd);
	race_start(test, &mover[1], &host->server, to_and_fro, id, host->client.fd);
	for (i = 0; i < 500; i++) {
		rdma_lock_handler(cm_id);
		cm_id->event_handler(cm_id, &event);
		rdma_unlock_handler(cm_id);
		usleep_range(1, 2);
	}
	for (i = 0, got = 0; i < 2; i++) {
		race_join(test, &mover[i]);
		got += race_join(test, &reader[i]);
	}
	/* Events that were added when the readers had given up. */
	while (!chan_read(&host->client, &resp) || !chan_read(&host->server, &resp))
		got++;
	KUNIT_EXPECT_EQ(test, got, 500);
}

static struct kunit_case migrate_cases[] = {
	KUNIT_CASE(an_id_takes_its_events_along),
	KUNIT_CASE(later_events_come_to_the_new_file),
	KUNIT_CASE(a_listener_takes_its_requests_along),
	KUNIT_CASE(descriptors_that_do_not_fit),
	KUNIT_CASE(two_files_pull_at_an_id),
	KUNIT_CASE(events_are_read_while_their_id_moves),
	{}
};

static struct kunit_suite ucm_migrate_suite = {
	.name = "ucm_migrate",
	.init = hosts_init,
	.exit = hosts_exit,
	.test_cases = migrate_cases,
};

kunit_test_suite(ucm_migrate_suite);
