// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Faults of a link: which packets they strike, what becomes of the credits, and that nothing
 * remains of late packets when the link or a node goes.
 *
 *	a: LID 4 ---------- b: LID 8
 *
 * Two nodes that do nothing but note which packets arrive, by the PSN in their BTH.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <rdma/ib_mad.h>
#include "fabric/fabric.h"
#include "wait.h"

#define LID_A		4
#define LID_B		8
#define DATA_LEN	2048
#define NOTES		2048
/* More than the buffer at the other end takes, and fewer than wait for it at most. */
#define MANY			200
#define LONG_DELAY	(10 * USEC_PER_SEC)

struct fault_end {
	struct vib_node node;
	struct vib_port *port;
	spinlock_t lock;		/* noted, psn */
	unsigned int noted;
	u32 psn[NOTES];			/* of what has arrived, in order */
	bool hold;			/* keeps packets, with their credits, in @held */
	struct list_head held;		/* lock */
	struct completion released;
};

static struct vib_fabric fabric;
static struct vib_link link;
static struct fault_end *a, *b;
static u32 all_credits;		/* that a port has at first */

/* ---- the two nodes ---- */

static struct fault_end *to_end(struct vib_node *node)
{
	return container_of(node, struct fault_end, node);
}

static void end_receive(struct vib_port *port, struct vib_packet *pkt)
{
	struct fault_end *end = to_end(port->node);
	bool hold;

	spin_lock_bh(&end->lock);
	if (end->noted < NOTES)
		end->psn[end->noted++] = be32_to_cpu(vib_packet_bth(pkt)->bth[2]);
	hold = end->hold;
	if (hold)
		list_add_tail(&pkt->entry, &end->held);
	spin_unlock_bh(&end->lock);
	if (!hold)
		vib_packet_free(pkt);
}

static void end_let_go(struct fault_end *end)
{
	struct vib_packet *pkt, *next;
	LIST_HEAD(held);

	spin_lock_bh(&end->lock);
	end->hold = false;
	list_splice_init(&end->held, &held);
	spin_unlock_bh(&end->lock);
	list_for_each_entry_safe(pkt, next, &held, entry) {
		list_del_init(&pkt->entry);
		vib_packet_free(pkt);
	}
}

static void end_release(struct vib_node *node)
{
	struct fault_end *end = to_end(node);

	vib_node_cleanup(node);
	complete(&end->released);
}

static const struct vib_node_ops end_ops = {
	.receive = end_receive,
	.release = end_release,
};

static struct fault_end *end_new(const char *name, u64 guid)
{
	struct vib_node_attr attr = { .name = name, .num_ports = 1, .guid = cpu_to_be64(guid) };
	struct fault_end *end = kzalloc(sizeof(*end), GFP_KERNEL);

	if (!end)
		return NULL;
	spin_lock_init(&end->lock);
	INIT_LIST_HEAD(&end->held);
	init_completion(&end->released);
	if (vib_node_init(&end->node, RDMA_NODE_IB_CA, &end_ops, &attr)) {
		kfree(end);
		return NULL;
	}
	end->port = &end->node.ports[1];
	vib_node_add(&fabric, &end->node);
	return end;
}

/* Whether no packet holds credits of the node any more, which it waits for. */
static bool end_remove(struct fault_end **which)
{
	struct fault_end *end = *which;
	bool released;

	if (!end)
		return true;
	*which = NULL;
	end_let_go(end);
	vib_node_remove(&end->node);
	released = wait_for_completion_timeout(&end->released, 10 * HZ);
	/* What is still used is not freed. */
	if (released)
		kfree(end);
	return released;
}

/* ---- the link ---- */

static void activate(struct kunit *test)
{
	KUNIT_ASSERT_TRUE(test, wait_within(READ_ONCE(a->port->state) == IB_PORT_INIT &&
					    READ_ONCE(b->port->state) == IB_PORT_INIT, 5000));
	a->port->lid = LID_A;
	b->port->lid = LID_B;
	KUNIT_ASSERT_EQ(test, vib_port_set_state(a->port, IB_PORT_ARMED), 0);
	KUNIT_ASSERT_EQ(test, vib_port_set_state(b->port, IB_PORT_ARMED), 0);
	KUNIT_ASSERT_EQ(test, vib_port_set_state(a->port, IB_PORT_ACTIVE), 0);
	KUNIT_ASSERT_EQ(test, vib_port_set_state(b->port, IB_PORT_ACTIVE), 0);
}

static void set_rate(struct kunit *test, enum vib_fault_kind kind, u32 rate)
{
	KUNIT_ASSERT_EQ(test, vib_fault_set_rate(&link.fault, kind, rate), 0);
}

static void set_delay(struct kunit *test, u32 us)
{
	KUNIT_ASSERT_EQ(test, vib_fault_set_delay(&link.fault, us), 0);
}

/* ---- packets ---- */

static struct vib_packet *packet(struct kunit *test, u32 psn, u8 vl, u16 dlid, u32 len)
{
	struct vib_packet *pkt = vib_packet_alloc(GFP_KERNEL);
	struct vib_payload *payload = vib_payload_alloc(len, GFP_KERNEL);
	struct ib_other_headers *bth;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	KUNIT_ASSERT_NOT_NULL(test, payload);
	memset(payload->data, 0, len);
	vib_packet_attach(pkt, payload, 0, len);
	vib_payload_put(payload);
	pkt->hdr.lrh[0] = cpu_to_be16(IB_LNH_IBA_LOCAL);
	pkt->hdr_len = IB_LRH_BYTES + IB_BTH_BYTES + IB_DETH_BYTES;
	bth = vib_packet_bth(pkt);
	bth->bth[0] = cpu_to_be32(IB_OPCODE_UD_SEND_ONLY << IB_BTH_OPCODE_SHIFT | 0xffff);
	bth->bth[2] = cpu_to_be32(psn);
	vib_packet_finish(pkt, vl, 0, dlid, dlid == LID_B ? LID_A : LID_B);
	return pkt;
}

/* From a to b. */
static void send(struct kunit *test, u32 psn)
{
	vib_port_xmit(a->port, packet(test, psn, 0, LID_B, DATA_LEN));
}

static void send_many(struct kunit *test, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		send(test, i);
}

/* Has packets that only wait for their turn arrive. */
static void run_dry(void)
{
	int i;

	for (i = 0; i < 4; i++)
		flush_workqueue(vib_wq);
}

static unsigned int arrived(struct fault_end *end)
{
	run_dry();
	return READ_ONCE(end->noted);
}

static void forget(struct fault_end *end)
{
	run_dry();
	WRITE_ONCE(end->noted, 0);
}

/* Blocks of 64 bytes, of all VLs. */
static u32 credits(struct vib_port *port)
{
	unsigned int vl;
	u32 sum = 0;

	spin_lock_bh(&port->tx.lock);
	for (vl = 0; vl < VIB_VLS; vl++)
		sum += port->tx.credits[vl];
	spin_unlock_bh(&port->tx.lock);
	return sum;
}

static u32 credits_missing(struct vib_port *port)
{
	return all_credits - credits(port);
}

static void expect_no_credits_lost(struct kunit *test)
{
	run_dry();
	KUNIT_EXPECT_EQ(test, credits_missing(a->port), 0);
	KUNIT_EXPECT_EQ(test, credits_missing(b->port), 0);
	KUNIT_EXPECT_EQ(test, a->port->tx.total, 0);
}

static void expect_in_order(struct kunit *test, struct fault_end *end, unsigned int count)
{
	unsigned int i;

	KUNIT_ASSERT_EQ(test, end->noted, count);
	for (i = 0; i < count; i++)
		KUNIT_ASSERT_EQ(test, end->psn[i], i);
}

static bool used_by_transmitters(void)
{
	return rcu_access_pointer(a->port->tx.fault) || rcu_access_pointer(b->port->tx.fault);
}

static int fault_test_init(struct kunit *test)
{
	int ret;

	vib_fabric_init(&fabric);
	vib_link_init(&link, &fabric);
	a = end_new("a", 0x0200000000010000ULL);
	b = end_new("b", 0x0200000000020000ULL);
	KUNIT_ASSERT_NOT_NULL(test, a);
	KUNIT_ASSERT_NOT_NULL(test, b);
	mutex_lock(&fabric.lock);
	ret = vib_link_plug(&link, a->port, b->port);
	mutex_unlock(&fabric.lock);
	KUNIT_ASSERT_EQ(test, ret, 0);
	activate(test);
	all_credits = credits(a->port);
	return 0;
}

static void fault_test_exit(struct kunit *test)
{
	vib_link_unplug(&link);
	KUNIT_EXPECT_TRUE(test, end_remove(&a));
	KUNIT_EXPECT_TRUE(test, end_remove(&b));
	rcu_barrier();
	flush_workqueue(vib_free_wq);
	vib_fabric_cleanup(&fabric);
}

/* ---- rates ---- */

static void a_link_has_no_faults_at_first(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, used_by_transmitters());
	send_many(test, 200);
	KUNIT_EXPECT_EQ(test, arrived(b), 200);
	expect_in_order(test, b, 200);
	expect_no_credits_lost(test);
}

/* More than the buffer at the other end takes at once. */
static void lost_packets_return_their_credits(struct kunit *test)
{
	set_rate(test, VIB_FAULT_DROP, VIB_FAULT_ALL);
	send_many(test, 200);
	KUNIT_EXPECT_EQ(test, arrived(b), 0);
	KUNIT_EXPECT_EQ(test, vib_fault_struck(&link.fault, VIB_FAULT_DROP), 200);
	KUNIT_EXPECT_EQ(test, vib_port_counter(a->port, VIB_XMIT_PKTS), 200);
	KUNIT_EXPECT_EQ(test, vib_port_counter(b->port, VIB_RCV_PKTS), 0);
	expect_no_credits_lost(test);
}

static void what_is_lost_is_neither_duplicated_nor_corrupted(struct kunit *test)
{
	set_rate(test, VIB_FAULT_DROP, VIB_FAULT_ALL);
	set_rate(test, VIB_FAULT_DUP, VIB_FAULT_ALL);
	set_rate(test, VIB_FAULT_CORRUPT, VIB_FAULT_ALL);
	send_many(test, 10);
	KUNIT_EXPECT_EQ(test, arrived(b), 0);
	KUNIT_EXPECT_EQ(test, vib_fault_struck(&link.fault, VIB_FAULT_DUP), 0);
	KUNIT_EXPECT_EQ(test, vib_fault_struck(&link.fault, VIB_FAULT_CORRUPT), 0);
	KUNIT_EXPECT_EQ(test, vib_port_counter(b->port, VIB_RCV_ERRORS), 0);
}

static void duplicates_follow_their_originals(struct kunit *test)
{
	unsigned int i;

	set_rate(test, VIB_FAULT_DUP, VIB_FAULT_ALL);
	send_many(test, 200);
	KUNIT_ASSERT_EQ(test, arrived(b), 400);
	for (i = 0; i < 400; i++)
		KUNIT_EXPECT_EQ(test, b->psn[i], i / 2);
	KUNIT_EXPECT_EQ(test, vib_port_counter(a->port, VIB_XMIT_PKTS), 200);
	KUNIT_EXPECT_EQ(test, vib_port_counter(b->port, VIB_RCV_PKTS), 400);
	expect_no_credits_lost(test);
}

static void duplicates_hold_no_credits(struct kunit *test)
{
	u32 one;

	b->hold = true;
	send(test, 0);
	one = credits_missing(a->port);
	KUNIT_EXPECT_GT(test, one, 0);
	set_rate(test, VIB_FAULT_DUP, VIB_FAULT_ALL);
	send(test, 1);
	KUNIT_EXPECT_EQ(test, arrived(b), 3);
	KUNIT_EXPECT_EQ(test, credits_missing(a->port), 2 * one);
	end_let_go(b);
	expect_no_credits_lost(test);
}

/* 16.1.3.5 */
static void corrupted_packets_are_counted_and_dropped_where_they_arrive(struct kunit *test)
{
	set_rate(test, VIB_FAULT_CORRUPT, VIB_FAULT_ALL);
	send_many(test, 200);
	KUNIT_EXPECT_EQ(test, arrived(b), 0);
	KUNIT_EXPECT_EQ(test, vib_port_counter(b->port, VIB_SYMBOL_ERRORS), 200);
	KUNIT_EXPECT_EQ(test, vib_port_counter(b->port, VIB_RCV_ERRORS), 200);
	KUNIT_EXPECT_EQ(test, vib_port_counter(b->port, VIB_RCV_PKTS), 200);
	KUNIT_EXPECT_EQ(test, vib_port_counter(a->port, VIB_RCV_ERRORS), 0);
	expect_no_credits_lost(test);
}

/* 7.2.7.4: it is a valid packet that makes an armed port active. */
static void a_corrupted_packet_does_not_activate_a_port(struct kunit *test)
{
	spin_lock_bh(&b->port->lock);
	b->port->state = IB_PORT_ARMED;
	spin_unlock_bh(&b->port->lock);
	set_rate(test, VIB_FAULT_CORRUPT, VIB_FAULT_ALL);
	send(test, 0);
	KUNIT_EXPECT_EQ(test, b->port->state, IB_PORT_ARMED);
	set_rate(test, VIB_FAULT_CORRUPT, 0);
	send(test, 1);
	KUNIT_EXPECT_EQ(test, b->port->state, IB_PORT_ACTIVE);
}

static void a_duplicate_of_a_corrupted_packet_is_intact(struct kunit *test)
{
	set_rate(test, VIB_FAULT_DUP, VIB_FAULT_ALL);
	set_rate(test, VIB_FAULT_CORRUPT, VIB_FAULT_ALL);
	send_many(test, 20);
	KUNIT_EXPECT_EQ(test, arrived(b), 20);
	expect_in_order(test, b, 20);
	KUNIT_EXPECT_EQ(test, vib_port_counter(b->port, VIB_RCV_ERRORS), 20);
}

static void both_directions_have_them(struct kunit *test)
{
	set_rate(test, VIB_FAULT_DROP, VIB_FAULT_ALL);
	send(test, 0);
	vib_port_xmit(b->port, packet(test, 0, 0, LID_A, DATA_LEN));
	KUNIT_EXPECT_EQ(test, arrived(a), 0);
	KUNIT_EXPECT_EQ(test, arrived(b), 0);
	KUNIT_EXPECT_EQ(test, vib_fault_struck(&link.fault, VIB_FAULT_DROP), 2);
	expect_no_credits_lost(test);
}

static void vl15_has_them(struct kunit *test)
{
	set_rate(test, VIB_FAULT_CORRUPT, VIB_FAULT_ALL);
	vib_port_xmit(a->port, packet(test, 0, VIB_VL_MGMT, LID_B, IB_MGMT_MAD_SIZE));
	KUNIT_EXPECT_EQ(test, arrived(b), 0);
	KUNIT_EXPECT_EQ(test, vib_port_counter(b->port, VIB_RCV_ERRORS), 1);
	set_rate(test, VIB_FAULT_CORRUPT, 0);
	vib_port_xmit(a->port, packet(test, 0, VIB_VL_MGMT, LID_B, IB_MGMT_MAD_SIZE));
	KUNIT_EXPECT_EQ(test, arrived(b), 1);
	expect_no_credits_lost(test);
}

/* Binomial: the count is within six standard deviations of the mean. */
static void a_rate_is_about_what_was_asked_for(struct kunit *test)
{
	set_rate(test, VIB_FAULT_DROP, VIB_FAULT_ALL / 10);
	send_many(test, 2000);
	KUNIT_EXPECT_GT(test, arrived(b), 1800 - 81);
	KUNIT_EXPECT_LT(test, arrived(b), 1800 + 81);
	KUNIT_EXPECT_EQ(test, arrived(b) + vib_fault_struck(&link.fault, VIB_FAULT_DROP), 2000);
}

static void impossible_settings_are_refused(struct kunit *test)
{
	struct vib_fault *fault = &link.fault;

	KUNIT_EXPECT_EQ(test, vib_fault_set_rate(fault, VIB_FAULT_DROP, VIB_FAULT_ALL + 1),
			-ERANGE);
	KUNIT_EXPECT_EQ(test, vib_fault_set_delay(fault, VIB_FAULT_MAX_DELAY + 1), -ERANGE);
	KUNIT_EXPECT_FALSE(test, used_by_transmitters());
}

static void without_faults_the_transmitters_forget_them(struct kunit *test)
{
	set_rate(test, VIB_FAULT_DUP, 1);
	KUNIT_EXPECT_TRUE(test, used_by_transmitters());
	set_delay(test, 1);
	set_rate(test, VIB_FAULT_DUP, 0);
	KUNIT_EXPECT_TRUE(test, used_by_transmitters());
	set_delay(test, 0);
	KUNIT_EXPECT_FALSE(test, used_by_transmitters());
}

/* ---- seeds ---- */

/* Which of MANY packets arrive with @seed when half of them are lost. */
static u32 *survivors(struct kunit *test, u64 seed)
{
	u32 *psn = kunit_kcalloc(test, NOTES, sizeof(*psn), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, psn);
	forget(b);
	vib_fault_set_seed(&link.fault, seed);
	set_rate(test, VIB_FAULT_DROP, VIB_FAULT_ALL / 2);
	send_many(test, MANY);
	KUNIT_EXPECT_GT(test, arrived(b), 0);
	memcpy(psn, b->psn, b->noted * sizeof(*psn));
	return psn;
}

static void a_seed_strikes_the_same_packets_again(struct kunit *test)
{
	u32 *first = survivors(test, 42), *other = survivors(test, 43);
	u32 *again = survivors(test, 42);

	KUNIT_EXPECT_LT(test, b->noted, MANY);
	KUNIT_EXPECT_MEMEQ(test, first, again, NOTES * sizeof(*first));
	KUNIT_EXPECT_MEMNEQ(test, first, other, NOTES * sizeof(*first));
}

static void another_fault_does_not_change_which_are_lost(struct kunit *test)
{
	u32 *alone = survivors(test, 42);
	unsigned int i, count = b->noted;

	set_rate(test, VIB_FAULT_DUP, VIB_FAULT_ALL);
	survivors(test, 42);
	KUNIT_ASSERT_EQ(test, b->noted, 2 * count);
	for (i = 0; i < count; i++)
		KUNIT_EXPECT_EQ(test, b->psn[2 * i], alone[i]);
}

static void the_directions_differ(struct kunit *test)
{
	u32 *there = survivors(test, 42);
	unsigned int i;

	vib_fault_set_seed(&link.fault, 42);
	for (i = 0; i < MANY; i++)
		vib_port_xmit(b->port, packet(test, i, 0, LID_A, 64));
	KUNIT_EXPECT_GT(test, arrived(a), MANY / 4);
	KUNIT_EXPECT_MEMNEQ(test, there, a->psn, MANY / 4 * sizeof(*there));
}

/* ---- MADs ---- */

/* A datagram of @len bytes to @qpn, which begins as a MAD of @class and @attr does. */
static void send_mad(struct kunit *test, u32 psn, u32 qpn, u8 class, u16 attr, u32 len)
{
	struct vib_packet *pkt = packet(test, psn, 0, LID_B, len);
	struct ib_mad_hdr mad = { .mgmt_class = class, .attr_id = cpu_to_be16(attr) };

	memcpy(pkt->payload->data, &mad, min_t(u32, len, sizeof(mad)));
	vib_packet_bth(pkt)->bth[1] = cpu_to_be32(qpn);
	vib_port_xmit(a->port, pkt);
}

/* One of each kind; bits of the PSNs of those that arrive. */
static unsigned long mads_that_arrive(struct kunit *test)
{
	unsigned long psns = 0;
	struct vib_packet *pkt;
	unsigned int i;

	forget(b);
	send_mad(test, 0, 1, 0x07, 0x14, IB_MGMT_MAD_SIZE);
	send_mad(test, 1, 1, 0x07, 0x13, IB_MGMT_MAD_SIZE);
	send_mad(test, 2, 1, 0x03, 0x14, IB_MGMT_MAD_SIZE);
	send_mad(test, 3, 0, 0x07, 0x14, IB_MGMT_MAD_SIZE);
	/* Not to the QPs that MADs are for; and no header of one. */
	send_mad(test, 4, 2, 0x07, 0x14, IB_MGMT_MAD_SIZE);
	send_mad(test, 5, 1, 0x07, 0x14, sizeof(struct ib_mad_hdr) - 1);
	/* Not a datagram */
	pkt = packet(test, 6, 0, LID_B, IB_MGMT_MAD_SIZE);
	((struct ib_mad_hdr *)pkt->payload->data)->mgmt_class = 0x07;
	((struct ib_mad_hdr *)pkt->payload->data)->attr_id = cpu_to_be16(0x14);
	vib_packet_bth(pkt)->bth[0] = cpu_to_be32(IB_OPCODE_RC_SEND_ONLY << IB_BTH_OPCODE_SHIFT);
	vib_packet_bth(pkt)->bth[1] = cpu_to_be32(1);
	vib_port_xmit(a->port, pkt);
	/* Without a payload */
	pkt = packet(test, 7, 0, LID_B, 4);
	vib_payload_put(pkt->payload);
	pkt->payload = NULL;
	pkt->len = 0;
	vib_packet_bth(pkt)->bth[1] = cpu_to_be32(1);
	vib_packet_finish(pkt, 0, 0, LID_B, LID_A);
	vib_port_xmit(a->port, pkt);

	run_dry();
	for (i = 0; i < b->noted; i++)
		psns |= BIT(b->psn[i]);
	return psns;
}

static void only_the_mads_asked_for_are_lost(struct kunit *test)
{
	struct vib_fault *fault = &link.fault;

	KUNIT_EXPECT_EQ(test, vib_fault_set_match(fault, VIB_FAULT_MATCH(0x07, 0x14)), 0);
	KUNIT_EXPECT_FALSE(test, used_by_transmitters());
	set_rate(test, VIB_FAULT_DROP, VIB_FAULT_ALL);
	KUNIT_EXPECT_EQ(test, mads_that_arrive(test), 0xff & ~(BIT(0) | BIT(3)));
	KUNIT_EXPECT_EQ(test, vib_fault_struck(fault, VIB_FAULT_DROP), 2);
	/* Of the class, with any attribute */
	KUNIT_EXPECT_EQ(test, vib_fault_set_match(fault, VIB_FAULT_MATCH(0x07, 0)), 0);
	KUNIT_EXPECT_EQ(test, mads_that_arrive(test), 0xff & ~(BIT(0) | BIT(1) | BIT(3)));
	/* All packets */
	KUNIT_EXPECT_EQ(test, vib_fault_set_match(fault, 0), 0);
	KUNIT_EXPECT_EQ(test, mads_that_arrive(test), 0);
	expect_no_credits_lost(test);
}

static void a_class_is_needed(struct kunit *test)
{
	struct vib_fault *fault = &link.fault;

	KUNIT_EXPECT_EQ(test, vib_fault_set_match(fault, VIB_FAULT_MATCH(0xff, 0xffff)), 0);
	KUNIT_EXPECT_EQ(test, vib_fault_set_match(fault, VIB_FAULT_MATCH(0, 0x14)), -EINVAL);
	KUNIT_EXPECT_EQ(test, vib_fault_set_match(fault, VIB_FAULT_MATCH_MAX + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, fault->match, VIB_FAULT_MATCH(0xff, 0xffff));
}

/* Which of MANY MADs arrive with seed 42, when half are lost, with @others before each */
static u32 *mads_survive(struct kunit *test, unsigned int others)
{
	u32 *psn = kunit_kcalloc(test, NOTES, sizeof(*psn), GFP_KERNEL);
	unsigned int i, j, count = 0;

	KUNIT_ASSERT_NOT_NULL(test, psn);
	forget(b);
	vib_fault_set_seed(&link.fault, 42);
	for (i = 0; i < MANY; i++) {
		for (j = 0; j < others; j++)
			send_mad(test, MANY, 5, 0x07, 0x14, IB_MGMT_MAD_SIZE);
		send_mad(test, i, 1, 0x07, 0x14, IB_MGMT_MAD_SIZE);
	}
	KUNIT_EXPECT_GT(test, arrived(b), others * MANY);
	for (i = 0; i < b->noted; i++) {
		if (b->psn[i] < MANY)
			psn[count++] = b->psn[i];
	}
	KUNIT_EXPECT_LT(test, count, MANY);
	return psn;
}

static void other_packets_do_not_change_which_mads_are_lost(struct kunit *test)
{
	u32 *alone, *among;

	KUNIT_EXPECT_EQ(test, vib_fault_set_match(&link.fault, VIB_FAULT_MATCH(0x07, 0x14)), 0);
	set_rate(test, VIB_FAULT_DROP, VIB_FAULT_ALL / 2);
	alone = mads_survive(test, 0);
	among = mads_survive(test, 3);
	KUNIT_EXPECT_MEMEQ(test, alone, among, NOTES * sizeof(*alone));
}

/* ---- delay ---- */

static void a_delay_is_for_all(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, vib_fault_set_match(&link.fault, VIB_FAULT_MATCH(0x07, 0x14)), 0);
	set_delay(test, LONG_DELAY);
	KUNIT_EXPECT_EQ(test, mads_that_arrive(test), 0);
	set_delay(test, 0);
	KUNIT_EXPECT_TRUE(test, wait_within(READ_ONCE(b->noted) == 8, 5000));
}

static void a_late_packet_takes_that_long(struct kunit *test)
{
	ktime_t start = ktime_get();

	set_delay(test, 30 * USEC_PER_MSEC);
	send(test, 0);
	KUNIT_EXPECT_TRUE(test, wait_within(READ_ONCE(b->noted) == 1, 5000));
	KUNIT_EXPECT_GE(test, ktime_us_delta(ktime_get(), start), 30 * USEC_PER_MSEC);
	expect_no_credits_lost(test);
}

static void late_packets_stay_in_order(struct kunit *test)
{
	set_delay(test, USEC_PER_MSEC);
	send_many(test, MANY);
	KUNIT_EXPECT_TRUE(test, wait_within(READ_ONCE(b->noted) == MANY, 10000));
	expect_in_order(test, b, MANY);
	expect_no_credits_lost(test);
}

static void late_packets_hold_their_credits(struct kunit *test)
{
	set_delay(test, LONG_DELAY);
	send_many(test, MANY);
	KUNIT_EXPECT_EQ(test, arrived(b), 0);
	KUNIT_EXPECT_GT(test, credits_missing(a->port), 0);
	/* The others wait for the transmitter. */
	KUNIT_EXPECT_GT(test, a->port->tx.total, MANY / 2);
	set_delay(test, 0);
	KUNIT_EXPECT_TRUE(test, wait_within(READ_ONCE(b->noted) == MANY, 10000));
	expect_in_order(test, b, MANY);
	expect_no_credits_lost(test);
}

static void a_packet_without_delay_does_not_overtake_one_with(struct kunit *test)
{
	struct vib_packet *next = packet(test, 2, 0, LID_B, DATA_LEN);

	set_delay(test, LONG_DELAY);
	send(test, 0);
	send(test, 1);
	/* The work that lets them arrive has not run when the next one is sent. */
	local_bh_disable();
	set_delay(test, 0);
	vib_port_xmit(a->port, next);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, wait_within(READ_ONCE(b->noted) == 3, 5000));
	expect_in_order(test, b, 3);
	KUNIT_EXPECT_TRUE(test, wait_within(!used_by_transmitters(), 5000));
}

static void late_packets_may_be_duplicated_and_corrupted(struct kunit *test)
{
	set_rate(test, VIB_FAULT_DUP, VIB_FAULT_ALL);
	set_rate(test, VIB_FAULT_CORRUPT, VIB_FAULT_ALL);
	set_delay(test, 1);
	send_many(test, 10);
	KUNIT_EXPECT_TRUE(test, wait_within(READ_ONCE(b->noted) == 10, 5000));
	expect_in_order(test, b, 10);
	KUNIT_EXPECT_EQ(test, vib_port_counter(b->port, VIB_SYMBOL_ERRORS), 10);
	expect_no_credits_lost(test);
}

/* ---- the end of a link ---- */

static void send_late(struct kunit *test, unsigned int count)
{
	set_rate(test, VIB_FAULT_DUP, VIB_FAULT_ALL);
	set_delay(test, LONG_DELAY);
	send_many(test, count);
	KUNIT_EXPECT_EQ(test, arrived(b), 0);
}

static void late_packets_are_lost_when_the_link_goes_down(struct kunit *test)
{
	send_late(test, 5);
	vib_link_cut(&link, true);
	KUNIT_EXPECT_TRUE(test, wait_within(READ_ONCE(b->port->state) == IB_PORT_DOWN, 5000));
	vib_link_cut(&link, false);
	activate(test);
	set_rate(test, VIB_FAULT_DUP, 0);
	set_delay(test, 0);
	send(test, 0);
	KUNIT_EXPECT_EQ(test, arrived(b), 1);
	expect_no_credits_lost(test);
}

static void faults_outlast_the_link(struct kunit *test)
{
	set_rate(test, VIB_FAULT_DROP, VIB_FAULT_ALL);
	vib_link_unplug(&link);
	KUNIT_EXPECT_FALSE(test, used_by_transmitters());
	mutex_lock(&fabric.lock);
	KUNIT_EXPECT_EQ(test, vib_link_plug(&link, a->port, b->port), 0);
	mutex_unlock(&fabric.lock);
	activate(test);
	send(test, 0);
	KUNIT_EXPECT_EQ(test, arrived(b), 0);
	KUNIT_EXPECT_EQ(test, vib_fault_struck(&link.fault, VIB_FAULT_DROP), 1);
}

static void a_link_is_unplugged_with_late_packets(struct kunit *test)
{
	send_late(test, 5);
	vib_link_unplug(&link);
	KUNIT_EXPECT_FALSE(test, used_by_transmitters());
	KUNIT_EXPECT_EQ(test, arrived(b), 0);
	/* Settings of a link without ports start nothing. */
	set_delay(test, 1);
	set_delay(test, 0);
}

/* The sender waits for no packet that is late: they are lost with the link. */
static void the_sender_goes_with_late_packets(struct kunit *test)
{
	send_late(test, 5);
	KUNIT_EXPECT_TRUE(test, end_remove(&a));
	set_delay(test, 0);
	KUNIT_EXPECT_EQ(test, arrived(b), 0);
}

static void the_receiver_goes_with_late_packets(struct kunit *test)
{
	send_late(test, 5);
	KUNIT_EXPECT_TRUE(test, end_remove(&b));
	set_delay(test, 0);
	run_dry();
	KUNIT_EXPECT_EQ(test, credits_missing(a->port), 0);
	/* Its end of the link is free for another. */
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(a->port->link));
}

static struct kunit_case fault_cases[] = {
	KUNIT_CASE(a_link_has_no_faults_at_first),
	KUNIT_CASE(lost_packets_return_their_credits),
	KUNIT_CASE(what_is_lost_is_neither_duplicated_nor_corrupted),
	KUNIT_CASE(duplicates_follow_their_originals),
	KUNIT_CASE(duplicates_hold_no_credits),
	KUNIT_CASE(corrupted_packets_are_counted_and_dropped_where_they_arrive),
	KUNIT_CASE(a_corrupted_packet_does_not_activate_a_port),
	KUNIT_CASE(a_duplicate_of_a_corrupted_packet_is_intact),
	KUNIT_CASE(both_directions_have_them),
	KUNIT_CASE(vl15_has_them),
	KUNIT_CASE(a_rate_is_about_what_was_asked_for),
	KUNIT_CASE(impossible_settings_are_refused),
	KUNIT_CASE(without_faults_the_transmitters_forget_them),
	KUNIT_CASE(a_seed_strikes_the_same_packets_again),
	KUNIT_CASE(another_fault_does_not_change_which_are_lost),
	KUNIT_CASE(the_directions_differ),
	KUNIT_CASE(only_the_mads_asked_for_are_lost),
	KUNIT_CASE(a_class_is_needed),
	KUNIT_CASE(other_packets_do_not_change_which_mads_are_lost),
	KUNIT_CASE(a_delay_is_for_all),
	KUNIT_CASE(a_late_packet_takes_that_long),
	KUNIT_CASE(late_packets_stay_in_order),
	KUNIT_CASE(late_packets_hold_their_credits),
	KUNIT_CASE(a_packet_without_delay_does_not_overtake_one_with),
	KUNIT_CASE(late_packets_may_be_duplicated_and_corrupted),
	KUNIT_CASE(late_packets_are_lost_when_the_link_goes_down),
	KUNIT_CASE(faults_outlast_the_link),
	KUNIT_CASE(a_link_is_unplugged_with_late_packets),
	KUNIT_CASE(the_sender_goes_with_late_packets),
	KUNIT_CASE(the_receiver_goes_with_late_packets),
	{}
};

static struct kunit_suite fault_suite = {
	.name = "vib_fault",
	.init = fault_test_init,
	.exit = fault_test_exit,
	.test_cases = fault_cases,
};

kunit_test_suite(fault_suite);
