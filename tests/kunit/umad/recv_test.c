// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* read() and poll(): transfers in pieces, bad buffers, and the limit of unread MADs. */
#include <linux/poll.h>
#include <linux/uaccess.h>
#include "umad_test.h"

#define DATA	(IB_MGMT_MAD_SIZE - IB_MGMT_VENDOR_HDR)	/* of one segment */

static void send_to_b(struct kunit *test, u64 tid)
{
	fixture_request(ends.ida, &ends.b, IB_MGMT_METHOD_GET, tid, 0);
	KUNIT_EXPECT_EQ(test, fixture_write(&ends.a, IB_MGMT_MAD_SIZE), 320);
}

static unsigned int unread(struct umad_end *end)
{
	return list_count_nodes(&end->file->packets);
}

static bool data_is_right(size_t from, size_t len)
{
	size_t i;

	for (i = from; i < len; i++)
		if (fixture_mad->vendor.data[i] != (u8)(i * 7))
			return false;
	return true;
}

static void transfer(struct kunit *test, int ida, int idb, size_t len)
{
	size_t size = fixture_transfer(ida, &ends.b, IB_MGMT_METHOD_GET, len, len);

	KUNIT_ASSERT_EQ(test, fixture_write(&ends.a, size), 64 + size);
	KUNIT_ASSERT_TRUE(test, fixture_wait(&ends.b));
	if (len > DATA) {
		/*
		 * The buffer is too short: the header has the length, and the first
		 * segment follows.
		 */
		KUNIT_EXPECT_EQ(test, fixture_read(&ends.b, IB_MGMT_MAD_SIZE), -ENOSPC);
		KUNIT_EXPECT_EQ(test, fixture_mad->hdr.length, 64 + size);
		KUNIT_EXPECT_EQ(test, fixture_mad->mad.mgmt_class, TEST_RMPP_CLASS);
		KUNIT_EXPECT_TRUE(test, data_is_right(0, DATA));
		KUNIT_EXPECT_EQ(test, fixture_read(&ends.b, size - 1), -ENOSPC);
		/* Not even the first segment fits. */
		KUNIT_EXPECT_EQ(test, fixture_read(&ends.b, IB_MGMT_MAD_SIZE - 1), -EINVAL);
	}
	KUNIT_EXPECT_EQ(test, fixture_read(&ends.b, size), 64 + size);
	KUNIT_EXPECT_EQ(test, fixture_mad->hdr.length, 64 + size);
	KUNIT_EXPECT_EQ(test, fixture_mad->hdr.id, idb);
	KUNIT_EXPECT_EQ(test, fixture_mad->mad.method, IB_MGMT_METHOD_GET);
	KUNIT_EXPECT_TRUE(test, data_is_right(0, len));
	/* RRespTime is as the sender wrote it. */
	KUNIT_EXPECT_EQ(test, ib_get_rmpp_resptime(&fixture_mad->rmpp.rmpp_hdr), 5);
	KUNIT_EXPECT_FALSE(test, fixture_readable(&ends.b));
}

static void transfers_are_read_whole(struct kunit *test)
{
	static const size_t lens[] = { 0, 1, DATA - 1, DATA, DATA + 1, 2 * DATA, 5000, 20001 };
	int ida, idb, i;

	ida = fixture_register(&ends.a, TEST_RMPP_CLASS, 0, 1, 0);
	idb = fixture_register(&ends.b, TEST_RMPP_CLASS, IB_MGMT_METHOD_GET, 1, 0);
	KUNIT_ASSERT_EQ(test, ida, 1);
	KUNIT_ASSERT_EQ(test, idb, 1);
	for (i = 0; i < ARRAY_SIZE(lens); i++)
		transfer(test, ida, idb, lens[i]);
	/* No response arrives: the sender reads a timeout. */
	KUNIT_EXPECT_TRUE(test, fixture_wait(&ends.a));
	KUNIT_EXPECT_EQ(test, fixture_read(&ends.a, IB_MGMT_MAD_SIZE), 64 + 24);
	KUNIT_EXPECT_EQ(test, fixture_mad->hdr.status, ETIMEDOUT);
	/* A header that is cut off is refused. */
	fixture_transfer(ida, &ends.b, IB_MGMT_METHOD_GET, 1, 0);
	KUNIT_EXPECT_EQ(test, fixture_write(&ends.a, IB_MGMT_VENDOR_HDR - 1), -EINVAL);
}

/* MADs of a process that does RMPP itself are sent and received unchanged. */
static void a_process_may_do_rmpp_itself(struct kunit *test)
{
	int ida, idb, i;

	ida = fixture_register(&ends.a, TEST_RMPP_CLASS, 0, 1, IB_USER_MAD_USER_RMPP);
	idb = fixture_register(&ends.b, TEST_RMPP_CLASS, IB_MGMT_METHOD_GET, 1,
			       IB_USER_MAD_USER_RMPP);
	for (i = 1; i <= 3; i++) {
		/* Segments have the same TID, but are no duplicates. */
		fixture_transfer(ida, &ends.b, IB_MGMT_METHOD_GET, 7, 10);
		fixture_mad->rmpp.rmpp_hdr.seg_num = cpu_to_be32(i);
		KUNIT_EXPECT_EQ(test, fixture_write(&ends.a, IB_MGMT_MAD_SIZE), 320);
		KUNIT_ASSERT_TRUE(test, fixture_wait(&ends.b));
		KUNIT_EXPECT_EQ(test, fixture_read(&ends.b, IB_MGMT_MAD_SIZE), 320);
		KUNIT_EXPECT_EQ(test, fixture_mad->hdr.id, idb);
		KUNIT_EXPECT_EQ(test, be32_to_cpu(fixture_mad->rmpp.rmpp_hdr.seg_num), i);
		KUNIT_EXPECT_EQ(test, fixture_mad->rmpp.rmpp_hdr.rmpp_rtime_flags,
				IB_MGMT_RMPP_FLAG_ACTIVE | 5 << 3);
	}
	/* This is too long for one MAD. */
	fixture_transfer(ida, &ends.b, IB_MGMT_METHOD_GET, 7, DATA + 1);
	KUNIT_EXPECT_EQ(test, fixture_write(&ends.a, IB_MGMT_MAD_SIZE + 1), -EINVAL);
}

/* ACK, STOP and ABORT of a process that does RMPP itself */
static void control_mads_are_sent_as_they_are(struct kunit *test)
{
	int ida, idb;

	ida = fixture_register(&ends.a, TEST_RMPP_CLASS, 0, 1, IB_USER_MAD_USER_RMPP);
	idb = fixture_register(&ends.b, TEST_RMPP_CLASS, IB_MGMT_METHOD_GET, 1,
			       IB_USER_MAD_USER_RMPP);
	fixture_transfer(ida, &ends.b, IB_MGMT_METHOD_GET, 7, 0);
	fixture_mad->rmpp.rmpp_hdr.rmpp_type = IB_MGMT_RMPP_TYPE_ABORT;
	fixture_mad->rmpp.rmpp_hdr.rmpp_status = IB_MGMT_RMPP_STATUS_T2L;
	fixture_mad->hdr.timeout_ms = 0;
	KUNIT_EXPECT_EQ(test, fixture_write(&ends.a, IB_MGMT_MAD_SIZE), 320);
	KUNIT_ASSERT_TRUE(test, fixture_wait(&ends.b));
	KUNIT_EXPECT_EQ(test, fixture_read(&ends.b, IB_MGMT_MAD_SIZE), 320);
	KUNIT_EXPECT_EQ(test, fixture_mad->hdr.id, idb);
	KUNIT_EXPECT_EQ(test, fixture_mad->rmpp.rmpp_hdr.rmpp_type, IB_MGMT_RMPP_TYPE_ABORT);
	KUNIT_EXPECT_EQ(test, fixture_mad->rmpp.rmpp_hdr.rmpp_status, IB_MGMT_RMPP_STATUS_T2L);
}

/* If the kernel does RMPP, the process decides only whether a MAD is a transfer. */
static void the_kernel_writes_its_rmpp_header(struct kunit *test)
{
	static const struct ib_rmpp_hdr none;
	struct ib_rmpp_hdr *hdr = &fixture_mad->rmpp.rmpp_hdr;
	int ida, active;

	ida = fixture_register(&ends.a, TEST_RMPP_CLASS, 0, 1, 0);
	/* It gets MADs as they come. */
	KUNIT_ASSERT_EQ(test, fixture_register(&ends.b, TEST_RMPP_CLASS, IB_MGMT_METHOD_GET,
					       0, 0), 1);
	for (active = 0; active <= 1; active++) {
		fixture_transfer(ida, &ends.b, IB_MGMT_METHOD_GET, active, 0);
		hdr->rmpp_rtime_flags = active | 5 << 3;
		hdr->rmpp_type = IB_MGMT_RMPP_TYPE_ABORT;
		hdr->rmpp_status = IB_MGMT_RMPP_STATUS_T2L;
		hdr->seg_num = cpu_to_be32(9);
		fixture_mad->hdr.timeout_ms = 0;
		KUNIT_EXPECT_EQ(test, fixture_write(&ends.a, IB_MGMT_MAD_SIZE), 320);
		KUNIT_ASSERT_TRUE(test, fixture_wait(&ends.b));
		KUNIT_EXPECT_EQ(test, fixture_read(&ends.b, IB_MGMT_MAD_SIZE), 320);
		if (!active)
			KUNIT_EXPECT_MEMEQ(test, hdr, &none, sizeof(none));
	}
	KUNIT_EXPECT_EQ(test, hdr->rmpp_type, IB_MGMT_RMPP_TYPE_DATA);
	KUNIT_EXPECT_EQ(test, hdr->rmpp_rtime_flags, 5 << 3 | IB_MGMT_RMPP_FLAG_ACTIVE |
			IB_MGMT_RMPP_FLAG_FIRST | IB_MGMT_RMPP_FLAG_LAST);
	KUNIT_EXPECT_EQ(test, hdr->rmpp_status, IB_MGMT_RMPP_STATUS_SUCCESS);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(hdr->seg_num), 1u);
}

static void what_cannot_be_read_stays(struct kunit *test)
{
	struct file *filp = ends.b.filp;
	struct fixture_page page = {};
	int i;

	KUNIT_EXPECT_EQ(test, fixture_read(&ends.b, IB_MGMT_MAD_SIZE), -EAGAIN);
	for (i = 1; i < 5; i++) {
		send_to_b(test, i);
		KUNIT_ASSERT_TRUE(test, wait_within(unread(&ends.b) == i, 1000));
	}
	fixture_page_map(test, &page, PROT_READ);
	KUNIT_EXPECT_EQ(test, filp->f_op->read(filp, (void __user *)8, 63, &filp->f_pos),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, filp->f_op->read(filp, (void __user *)8, 64 + 255,
					       &filp->f_pos), -EINVAL);
	KUNIT_EXPECT_EQ(test, filp->f_op->read(filp, (void __user *)8, 64 + 256,
					       &filp->f_pos), -EFAULT);
	KUNIT_EXPECT_EQ(test, filp->f_op->read(filp, (void __user *)page.addr, 64 + 256,
					       &filp->f_pos), -EFAULT);
	fixture_page_free(&page);
	for (i = 1; i < 5; i++) {
		KUNIT_EXPECT_EQ(test, fixture_read(&ends.b, 1000), 320);
		KUNIT_EXPECT_EQ(test, lower_32_bits(be64_to_cpu(fixture_mad->mad.tid)), i);
	}
	KUNIT_EXPECT_EQ(test, ends.b.file->packet_bytes, 0ul);
}

/* The memory ends in the header, in the first segment, in a later one. */
static void a_transfer_that_cannot_be_read_stays(struct kunit *test)
{
	static const size_t there[] = { 32, 64 + 100, 64 + 256 + 100 };
	size_t size = fixture_transfer(1, &ends.b, IB_MGMT_METHOD_GET, 1, 1000);
	struct file *filp = ends.b.filp;
	struct fixture_page page = {};
	int i;

	KUNIT_ASSERT_EQ(test, fixture_register(&ends.a, TEST_RMPP_CLASS, 0, 1, 0), 1);
	KUNIT_ASSERT_EQ(test, fixture_register(&ends.b, TEST_RMPP_CLASS, 1, 1, 0), 1);
	fixture_transfer(1, &ends.b, IB_MGMT_METHOD_GET, 1, 1000);
	KUNIT_EXPECT_EQ(test, fixture_write(&ends.a, size), 64 + size);
	KUNIT_ASSERT_TRUE(test, fixture_wait(&ends.b));
	fixture_page_map(test, &page, PROT_READ | PROT_WRITE);
	for (i = 0; i < ARRAY_SIZE(there); i++)
		KUNIT_EXPECT_EQ(test, filp->f_op->read(filp, (void __user *)
						       (page.addr + PAGE_SIZE - there[i]),
						       64 + size, &filp->f_pos), -EFAULT);
	fixture_page_free(&page);
	KUNIT_EXPECT_EQ(test, fixture_read(&ends.b, size), 64 + size);
	KUNIT_EXPECT_TRUE(test, data_is_right(0, 1000));
}

/* Regression 20: the unread MADs of a process that does not read are limited. */
static void what_nobody_reads_is_bounded(struct kunit *test)
{
	unsigned long bound = umad_recv_bytes;
	int i;

	umad_recv_bytes = 5 * (sizeof(struct umad_packet) + IB_MGMT_MAD_SIZE);
	for (i = 1; i <= 20; i++)
		send_to_b(test, i);
	KUNIT_EXPECT_TRUE(test, wait_within(atomic_long_read(&ends.b.port->dropped) == 15,
					    5000));
	KUNIT_EXPECT_EQ(test, unread(&ends.b), 5u);
	/* The oldest are kept, and reading makes room. */
	for (i = 1; i <= 3; i++) {
		KUNIT_EXPECT_EQ(test, fixture_read(&ends.b, 256), 320);
		KUNIT_EXPECT_EQ(test, lower_32_bits(be64_to_cpu(fixture_mad->mad.tid)), i);
	}
	send_to_b(test, 21);
	KUNIT_EXPECT_TRUE(test, wait_within(unread(&ends.b) == 3, 1000));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ends.b.port->dropped), 15l);

	/* The limit is for timeouts, too. */
	umad_recv_bytes = sizeof(struct umad_packet);
	for (i = 1; i <= 3; i++) {
		fixture_request(ends.ida, &ends.b, IB_MGMT_METHOD_SEND, i, 10);
		KUNIT_EXPECT_EQ(test, fixture_write(&ends.a, IB_MGMT_MAD_SIZE), 320);
	}
	KUNIT_EXPECT_TRUE(test, wait_within(atomic_long_read(&ends.a.port->dropped) == 2,
					    5000));
	KUNIT_EXPECT_EQ(test, unread(&ends.a), 1u);
	umad_recv_bytes = bound;
}

/* A MAD longer than the limit is kept if no other is unread. */
static void one_mad_is_always_kept(struct kunit *test)
{
	unsigned long bound = umad_recv_bytes;

	umad_recv_bytes = 0;
	send_to_b(test, 1);
	KUNIT_EXPECT_TRUE(test, fixture_wait(&ends.b));
	send_to_b(test, 2);
	KUNIT_EXPECT_TRUE(test, wait_within(atomic_long_read(&ends.b.port->dropped) == 1,
					    1000));
	KUNIT_EXPECT_EQ(test, fixture_read(&ends.b, 256), 320);
	KUNIT_EXPECT_FALSE(test, fixture_readable(&ends.b));
	umad_recv_bytes = bound;
}

static void poll_says_what_can_be_done(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, vfs_poll(ends.b.filp, NULL), EPOLLOUT | EPOLLWRNORM);
	send_to_b(test, 1);
	KUNIT_EXPECT_TRUE(test, fixture_wait(&ends.b));
	KUNIT_EXPECT_EQ(test, vfs_poll(ends.b.filp, NULL),
			EPOLLOUT | EPOLLWRNORM | EPOLLIN | EPOLLRDNORM);
	KUNIT_EXPECT_EQ(test, fixture_read(&ends.b, 256), 320);
	KUNIT_EXPECT_EQ(test, vfs_poll(ends.b.filp, NULL), EPOLLOUT | EPOLLWRNORM);
}

static long read_one(struct fixture_waiter *waiter)
{
	unsigned long at = fixture_mmap(waiter->test, NULL, PAGE_SIZE, PROT_READ | PROT_WRITE);

	return waiter->filp->f_op->read(waiter->filp, (void __user *)at, 320,
					&waiter->filp->f_pos);
}

/* Each MAD wakes a reader; none is left asleep. */
static void readers_wait_for_mads(struct kunit *test)
{
	struct fixture_waiter waiters[2] = {};
	struct umad_end slow = ends.b;
	int i, id;

	KUNIT_ASSERT_EQ(test, fixture_open(&slow, 0), 0);
	id = fixture_register(&slow, TEST_CLASS, IB_MGMT_METHOD_SET, 0, 0);
	KUNIT_EXPECT_EQ(test, id, 0);
	for (i = 0; i < 2; i++) {
		waiters[i].fn = read_one;
		waiters[i].filp = slow.filp;
		fixture_waiter_start(test, &waiters[i]);
	}
	KUNIT_EXPECT_FALSE(test, waiters[0].done || waiters[1].done);
	for (i = 0; i < 2; i++) {
		fixture_request(ends.ida, &ends.b, IB_MGMT_METHOD_SET, i, 0);
		KUNIT_EXPECT_EQ(test, fixture_write(&ends.a, IB_MGMT_MAD_SIZE), 320);
	}
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_TRUE(test, fixture_waiter_join(&waiters[i]));
		KUNIT_EXPECT_EQ(test, waiters[i].result, 320l);
	}
	fixture_close(&slow);
}

/* The header has the fields of the received GRH, which a response needs. */
static void a_grh_is_told(struct kunit *test)
{
	struct umad_mad *mad = fixture_request(ends.ida, &ends.b, IB_MGMT_METHOD_GET, 1, 0);

	mad->hdr.grh_present = 1;
	mad->hdr.hop_limit = 3;
	mad->hdr.traffic_class = 9;
	mad->hdr.flow_label = cpu_to_be32(0x12345);
	memcpy(mad->hdr.gid, ends.b.hca->port[1].gids[0].raw, 16);
	KUNIT_EXPECT_EQ(test, fixture_write(&ends.a, IB_MGMT_MAD_SIZE), 320);
	KUNIT_ASSERT_TRUE(test, fixture_wait(&ends.b));
	KUNIT_EXPECT_EQ(test, fixture_read(&ends.b, 256), 320);
	KUNIT_EXPECT_EQ(test, fixture_mad->hdr.grh_present, 1);
	KUNIT_EXPECT_EQ(test, fixture_mad->hdr.gid_index, 0);
	KUNIT_EXPECT_EQ(test, memcmp(fixture_mad->hdr.gid, ends.a.hca->port[1].gids[0].raw, 16),
			0);
	/* A response with this header arrives. */
	fixture_mad->mad.method = IB_MGMT_METHOD_GET_RESP;
	KUNIT_EXPECT_EQ(test, fixture_write(&ends.b, IB_MGMT_MAD_SIZE), 320);
	fixture_quiesce();
	KUNIT_EXPECT_EQ(test, fake_hca_objects(ends.b.hca), fake_hca_objects(ends.a.hca));
}

/*
 * Takes a received MAD out of the queue, to be received once more; NULL if there is
 * none.
 */
static struct ib_mad_recv_wc *take_received(struct umad_end *end)
{
	struct umad_packet *packet;
	struct ib_mad_recv_wc *recv;

	packet = list_first_entry_or_null(&end->file->packets, struct umad_packet, entry);
	if (!packet)
		return NULL;
	list_del(&packet->entry);
	end->file->packet_bytes = 0;
	recv = packet->recv;
	kfree(packet);
	return recv;
}

static void what_cannot_be_kept_is_counted(struct kunit *test)
{
	struct ib_mad_agent *mad = rcu_access_pointer(ends.b.file->agents[ends.idb])->mad;
	struct ib_mad_recv_wc *recv;

	send_to_b(test, 1);
	KUNIT_ASSERT_TRUE(test, fixture_wait(&ends.b));
	recv = take_received(&ends.b);
	current->fail_nth = 1;
	mad->recv_handler(mad, NULL, recv);
	KUNIT_EXPECT_EQ(test, current->fail_nth, 0);
	current->fail_nth = 0;
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ends.b.port->dropped), 1l);

	/* A MAD was sent to a GID that the port does not have, or no longer has. */
	send_to_b(test, 2);
	KUNIT_ASSERT_TRUE(test, fixture_wait(&ends.b));
	recv = take_received(&ends.b);
	recv->wc->wc_flags |= IB_WC_GRH;
	memset(recv->recv_buf.grh, 0xee, sizeof(*recv->recv_buf.grh));
	mad->recv_handler(mad, NULL, recv);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&ends.b.port->dropped), 2l);
	KUNIT_EXPECT_FALSE(test, fixture_readable(&ends.b));
}

/* Omni-Path's LIDs do not fit the header, which then has the permissive LID. */
static void a_long_lid_is_permissive(struct kunit *test)
{
	struct ib_mad_agent *mad = rcu_access_pointer(ends.b.file->agents[ends.idb])->mad;
	struct ib_mad_recv_wc *recv;

	send_to_b(test, 1);
	KUNIT_ASSERT_TRUE(test, fixture_wait(&ends.b));
	recv = take_received(&ends.b);
	recv->wc->slid = 0x12345;
	mad->recv_handler(mad, NULL, recv);
	KUNIT_EXPECT_EQ(test, fixture_read(&ends.b, 256), 320);
	KUNIT_EXPECT_EQ(test, fixture_mad->hdr.lid, IB_LID_PERMISSIVE);
}

static struct kunit_case recv_cases[] = {
	KUNIT_CASE(transfers_are_read_whole),
	KUNIT_CASE(a_process_may_do_rmpp_itself),
	KUNIT_CASE(control_mads_are_sent_as_they_are),
	KUNIT_CASE(the_kernel_writes_its_rmpp_header),
	KUNIT_CASE(what_cannot_be_read_stays),
	KUNIT_CASE(a_transfer_that_cannot_be_read_stays),
	KUNIT_CASE(what_nobody_reads_is_bounded),
	KUNIT_CASE(one_mad_is_always_kept),
	KUNIT_CASE(poll_says_what_can_be_done),
	KUNIT_CASE(readers_wait_for_mads),
	KUNIT_CASE(a_grh_is_told),
	KUNIT_CASE(what_cannot_be_kept_is_counted),
	KUNIT_CASE(a_long_lid_is_permissive),
	{}
};

static struct kunit_suite umad_recv_suite = {
	.name = "umad_recv",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = recv_cases,
};

kunit_test_suite(umad_recv_suite);
