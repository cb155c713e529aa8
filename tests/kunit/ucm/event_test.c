// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Events: their order, which reader gets them, and what becomes of unread ones. */
#include <linux/sched/signal.h>
#include <linux/poll.h>
#include "ucm_test.h"

static bool readable(struct chan *chan)
{
	return ucm_fops.poll(chan->filp, NULL) == (EPOLLIN | EPOLLRDNORM);
}

/* Resolves one id after the other and leaves their events unread. */
static void pend_events(struct kunit *test, struct chan *chan, u32 *ids, int nr)
{
	struct ucm_hosts *host = test->priv;
	struct sockaddr_storage src, dst;
	int i;

	for (i = 0; i < nr; i++) {
		KUNIT_ASSERT_EQ(test, chan_create(chan, RDMA_PS_TCP, 100 + i, &ids[i]), 0);
		KUNIT_ASSERT_EQ(test, chan_resolve(chan, ids[i],
						   cma_sin(&src, host->pair.client.ip4, 0),
						   cma_sin(&dst, host->pair.server.ip4,
							   TEST_PORT)), 0);
		msleep(300);
	}
}

static void read_in_order(struct kunit *test, struct chan *chan, const char *uids)
{
	struct rdma_ucm_event_resp event;

	for (; *uids; uids++) {
		KUNIT_ASSERT_EQ(test, chan_read(chan, &event), 0);
		KUNIT_EXPECT_EQ(test, event.uid, 100 + *uids - '0');
	}
	KUNIT_EXPECT_EQ(test, chan_read(chan, &event), -EAGAIN);
}

static void all_ids_of_a_file_in_one_order(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	u32 ids[4];
	int i;

	KUNIT_EXPECT_FALSE(test, readable(&host->client));
	pend_events(test, &host->client, ids, 4);
	KUNIT_EXPECT_TRUE(test, readable(&host->client));
	KUNIT_EXPECT_FALSE(test, readable(&host->server));
	/* The second events follow all the first ones. */
	for (i = 3; i >= 0; i--) {
		KUNIT_ASSERT_EQ(test, chan_route(&host->client, ids[i]), 0);
		msleep(300);
	}
	read_in_order(test, &host->client, "01233210");
	KUNIT_EXPECT_FALSE(test, readable(&host->client));
}

static void an_id_is_destroyed_with_its_events(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	u32 ids[4], reported;

	pend_events(test, &host->client, ids, 4);
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->client, ids[1], &reported), 0);
	KUNIT_EXPECT_EQ(test, reported, 0);
	read_in_order(test, &host->client, "023");
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->client, ids[2], &reported), 0);
	KUNIT_EXPECT_EQ(test, reported, 1);
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->client, ids[2], &reported), -ENOENT);
}

/*
 * An event that cannot be written to the process's memory is the next that it reads,
 * and counts once.
 */
static void an_event_that_cannot_be_told(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_event_resp event;
	u32 ids[3], reported;

	pend_events(test, &host->client, ids, 3);
	host->client.bad_resp = true;
	KUNIT_EXPECT_EQ(test, chan_read(&host->client, &event), -EFAULT);
	KUNIT_EXPECT_EQ(test, chan_read(&host->client, &event), -EFAULT);
	host->client.bad_resp = false;
	read_in_order(test, &host->client, "012");
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->client, ids[0], &reported), 0);
	KUNIT_EXPECT_EQ(test, reported, 1);
}

static void a_request_that_cannot_be_told(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_event_resp event;
	u32 reported;

	listen_up(test, RDMA_PS_TCP, 1);
	resolve_up(test, RDMA_PS_TCP);
	KUNIT_ASSERT_EQ(test, chan_connect(&host->client, host->id, NULL, 0), 0);
	msleep(1000);
	host->server.bad_resp = true;
	KUNIT_EXPECT_EQ(test, chan_read(&host->server, &event), -EFAULT);
	host->server.bad_resp = false;
	/* The request's id does not belong to the process yet. */
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->server, host->id + 1, NULL), -ENOENT);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, &host->server,
					    RDMA_CM_EVENT_CONNECT_REQUEST, &event));
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->server, host->listener, &reported), 0);
	KUNIT_EXPECT_EQ(test, reported, 1);
	/*
	 * The process that has read the request owns its id, even without the listener.
	 */
	KUNIT_EXPECT_EQ(test, chan_accept(&host->server, event.id, 'S'), 0);
	KUNIT_EXPECT_TRUE(test, chan_expect(test, &host->client,
					    RDMA_CM_EVENT_CONNECT_RESPONSE, NULL));
}

static void requests_beyond_the_backlog(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_event_resp event;
	u32 ids[3], i;

	listen_up(test, RDMA_PS_TCP, 2);
	for (i = 0; i < 3; i++)
		ids[i] = resolve_one(test, RDMA_PS_TCP, 100 + i);
	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, chan_connect(&host->client, ids[i], NULL, 0), 0);
		msleep(300);
	}
	KUNIT_ASSERT_TRUE(test, chan_expect(test, &host->client, RDMA_CM_EVENT_REJECTED,
					    &event));
	KUNIT_EXPECT_EQ(test, event.uid, 102);
	/* A request that is read makes room in the backlog. */
	KUNIT_ASSERT_TRUE(test, chan_expect(test, &host->server,
					    RDMA_CM_EVENT_CONNECT_REQUEST, NULL));
	ids[2] = resolve_one(test, RDMA_PS_TCP, 103);
	KUNIT_ASSERT_EQ(test, chan_connect(&host->client, ids[2], NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, chan_is_empty(&host->client));
	for (i = 0; i < 2; i++)
		KUNIT_ASSERT_TRUE(test, chan_expect(test, &host->server,
						    RDMA_CM_EVENT_CONNECT_REQUEST, NULL));
	KUNIT_EXPECT_TRUE(test, chan_is_empty(&host->server));
}

/* A second listen fails, and the backlog stays. */
static void a_second_listen(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;

	listen_up(test, RDMA_PS_TCP, 1);
	KUNIT_EXPECT_NE(test, chan_listen(&host->server, host->listener, 5), 0);
	resolve_up(test, RDMA_PS_TCP);
	KUNIT_ASSERT_EQ(test, chan_connect(&host->client, host->id, NULL, 0), 0);
	msleep(300);
	host->id = resolve_one(test, RDMA_PS_TCP, 'D');
	KUNIT_ASSERT_EQ(test, chan_connect(&host->client, host->id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, chan_expect(test, &host->client, RDMA_CM_EVENT_REJECTED,
					    NULL));
}

static void a_listener_ends_with_unread_requests(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	u32 reported;

	listen_up(test, RDMA_PS_TCP, 8);
	resolve_up(test, RDMA_PS_TCP);
	KUNIT_ASSERT_EQ(test, chan_connect(&host->client, host->id, NULL, 0), 0);
	msleep(1000);
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->server, host->listener, &reported), 0);
	KUNIT_EXPECT_EQ(test, reported, 0);
	KUNIT_EXPECT_TRUE(test, chan_expect(test, &host->client, RDMA_CM_EVENT_REJECTED,
					    NULL));
	KUNIT_EXPECT_TRUE(test, chan_is_empty(&host->server));
}

static void a_file_is_closed_with_all_that_it_has(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	u32 ids[3];

	connect_up(test);
	host->id = resolve_one(test, RDMA_PS_TCP, 'D');
	KUNIT_ASSERT_EQ(test, chan_connect(&host->client, host->id, NULL, 0), 0);
	pend_events(test, &host->server, ids, 3);
	chan_close(&host->server);
	KUNIT_EXPECT_TRUE(test, chan_expect(test, &host->client,
					    RDMA_CM_EVENT_REJECTED, NULL));
	KUNIT_EXPECT_TRUE(test, chan_expect(test, &host->client,
					    RDMA_CM_EVENT_DISCONNECTED, NULL));
}

/* ---- readers that wait ---- */

static int read_one(struct racer *r)
{
	return chan_read(&r->chan, &r->event);
}

static void reader_start(struct kunit *test, struct racer *r, const struct chan *chan)
{
	race_start(test, r, chan, read_one, 0, 0);
}

static void readers_wait(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct racer r[2];
	u32 ids[2];
	int i;

	host->client.filp->f_flags &= ~O_NONBLOCK;
	for (i = 0; i < 2; i++)
		reader_start(test, &r[i], &host->client);
	msleep(100);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(r[0].done) || READ_ONCE(r[1].done));
	pend_events(test, &host->client, ids, 2);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, race_join(test, &r[i]), 0);
	/* Each reader got one event. */
	KUNIT_EXPECT_EQ(test, r[0].event.uid + r[1].event.uid, 201);
	host->client.filp->f_flags |= O_NONBLOCK;
}

static void a_waiting_reader_is_interrupted(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct racer r;

	host->client.filp->f_flags &= ~O_NONBLOCK;
	reader_start(test, &r, &host->client);
	msleep(100);
	send_sig(SIGKILL, r.task, 1);
	KUNIT_EXPECT_EQ(test, race_join(test, &r), -ERESTARTSYS);
	host->client.filp->f_flags |= O_NONBLOCK;
}

/*
 * Events of an id are queued by its handler while one task reads and another destroys
 * the id.
 */
static void destroys_race_with_reads(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_event_resp event;
	struct sockaddr_storage src, dst;
	u32 id, reported, round;
	struct racer r;

	host->client.filp->f_flags &= ~O_NONBLOCK;
	for (round = 0; round < 30; round++) {
		KUNIT_ASSERT_EQ(test, chan_create(&host->client, RDMA_PS_TCP, round, &id),
				0);
		reader_start(test, &r, &host->client);
		KUNIT_ASSERT_EQ(test, chan_resolve(&host->client, id,
						   cma_sin(&src, host->pair.client.ip4, 0),
						   cma_sin(&dst, host->pair.server.ip4,
							   TEST_PORT)), 0);
		usleep_range(round * 20, round * 20 + 1);
		KUNIT_EXPECT_EQ(test, chan_destroy(&host->client, id, &reported), 0);
		if (!reported)
			send_sig(SIGKILL, r.task, 1);
		KUNIT_EXPECT_EQ(test, race_join(test, &r), reported ? 0 : -ERESTARTSYS);
	}
	host->client.filp->f_flags |= O_NONBLOCK;
	KUNIT_EXPECT_EQ(test, chan_read(&host->client, &event), -EAGAIN);
}

/* ---- the device is removed ---- */

static void a_device_goes_under_its_ids(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct cma_side *side = &host->pair.server;
	struct rdma_ucm_event_resp event;
	u32 unread, reported;

	connect_up(test);
	/* A request that is read and not accepted, and one that is not read. */
	host->id = resolve_one(test, RDMA_PS_TCP, 'D');
	KUNIT_ASSERT_EQ(test, chan_connect(&host->client, host->id, NULL, 0), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, &host->server,
					    RDMA_CM_EVENT_CONNECT_REQUEST, &event));
	unread = event.id;
	host->id = resolve_one(test, RDMA_PS_TCP, 'E');
	KUNIT_ASSERT_EQ(test, chan_connect(&host->client, host->id, NULL, 0), 0);
	msleep(1000);

	ib_free_cq(side->cq);
	ib_dealloc_pd(side->pd);
	side->cq = NULL;
	/* No event is read meanwhile: removal does not wait for the process. */
	fake_hca_destroy(side->hca);
	side->hca = NULL;

	KUNIT_EXPECT_TRUE(test, chan_expect(test, &host->server,
					    RDMA_CM_EVENT_CONNECT_REQUEST, &event));
	KUNIT_EXPECT_TRUE(test, chan_expect(test, &host->server,
					    RDMA_CM_EVENT_DEVICE_REMOVAL, NULL));
	KUNIT_EXPECT_TRUE(test, chan_expect(test, &host->server,
					    RDMA_CM_EVENT_DEVICE_REMOVAL, NULL));
	KUNIT_EXPECT_TRUE(test, chan_is_empty(&host->server));
	KUNIT_EXPECT_EQ(test, chan_disconnect(&host->server, host->child), -ENXIO);
	KUNIT_EXPECT_EQ(test, chan_accept(&host->server, unread, 'T'), -ENXIO);
	KUNIT_EXPECT_EQ(test, chan_accept(&host->server, event.id, 'U'), -ENXIO);
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->server, host->child, &reported), 0);
	KUNIT_EXPECT_EQ(test, reported, 2);
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->server, host->listener, &reported), 0);
	KUNIT_EXPECT_EQ(test, reported, 4);
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->server, event.id, NULL), 0);
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->server, unread, NULL), 0);
}

/* However often a link address changes, there is only one unread event of it. */
static void address_changes_do_not_pile_up(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_cm_event change = { .event = RDMA_CM_EVENT_ADDR_CHANGE };
	struct rdma_ucm_event_resp event;
	struct ucm_file *file = host->client.filp->private_data;
	struct ucm_id *id;
	int i;

	resolve_up(test, RDMA_PS_TCP);
	id = list_first_entry(&file->ids, struct ucm_id, file_node);
	rdma_lock_handler(id->cm_id);
	for (i = 0; i < 100; i++)
		KUNIT_EXPECT_EQ(test, id->cm_id->event_handler(id->cm_id, &change), 0);
	rdma_unlock_handler(id->cm_id);
	KUNIT_EXPECT_EQ(test, chan_read(&host->client, &event), 0);
	KUNIT_EXPECT_EQ(test, event.event, RDMA_CM_EVENT_ADDR_CHANGE);
	KUNIT_EXPECT_EQ(test, chan_read(&host->client, &event), -EAGAIN);
}

static struct kunit_case event_cases[] = {
	KUNIT_CASE(all_ids_of_a_file_in_one_order),
	KUNIT_CASE(an_id_is_destroyed_with_its_events),
	KUNIT_CASE(an_event_that_cannot_be_told),
	KUNIT_CASE(a_request_that_cannot_be_told),
	KUNIT_CASE(requests_beyond_the_backlog),
	KUNIT_CASE(a_second_listen),
	KUNIT_CASE(a_listener_ends_with_unread_requests),
	KUNIT_CASE(a_file_is_closed_with_all_that_it_has),
	KUNIT_CASE(readers_wait),
	KUNIT_CASE(a_waiting_reader_is_interrupted),
	KUNIT_CASE(destroys_race_with_reads),
	KUNIT_CASE(a_device_goes_under_its_ids),
	KUNIT_CASE(address_changes_do_not_pile_up),
	{}
};

static struct kunit_suite ucm_event_suite = {
	.name = "ucm_event",
	.init = hosts_init,
	.exit = hosts_exit,
	.test_cases = event_cases,
};

kunit_test_suite(ucm_event_suite);
