// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Random datagrams at a trunk, whose peer the test is: each is taken, or a counter has it; what
 * does not belong to the sessions changes nothing; and each packet that is taken gets to the
 * port, or is discarded before it and counted.
 */
#include <linux/slab.h>
#include "../trunk/trunk_net.h"
#include "fuzz.h"

#define BATCH		32	/* after so many the link is mended */
#define PEER_GUID	0x0200000000990000ULL

static struct tn *tn;
static struct vib_trunk *trunk;
static struct fuzz fuzz;
static u8 *buf;
static u64 passed;		/* packets that have come to the port, or were discarded */

static int trunk_fuzz_init(struct kunit *test)
{
	tn = tn_new(test);
	buf = kunit_kzalloc(test, VIB_TRUNK_MAX_MSG, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	KUNIT_ASSERT_EQ(test, tn_open(tn, 0), 0);
	trunk = tn->end[0].trunk;
	/* Nothing comes but from the test. */
	disable_work_sync(&trunk->receive);
	passed = 0;
	return 0;
}

/* ---- what becomes of a datagram ---- */

/* Of the trunk, what messages change. */
struct look {
	struct vib_trunk_session session;
	u32 rx_seq, received[VIB_VLS], limit[VIB_VLS];
	u64 challenge, count[VIB_TRUNK_COUNTERS];
};

static void look_at(struct look *look)
{
	unsigned int vl;

	memset(look, 0, sizeof(*look));
	spin_lock_bh(&trunk->lock);
	look->session = trunk->session;
	look->rx_seq = trunk->flow.rx_seq;
	for (vl = 0; vl < VIB_VLS; vl++) {
		look->received[vl] = trunk->flow.vl[vl].received;
		look->limit[vl] = trunk->flow.vl[vl].limit;
	}
	look->challenge = trunk->challenge;
	memcpy(look->count, trunk->count, sizeof(look->count));
	spin_unlock_bh(&trunk->lock);
}

static u64 more(const struct look *before, const struct look *after,
		enum vib_trunk_counter which)
{
	return after->count[which] - before->count[which];
}

static bool same(const struct look *before, const struct look *after)
{
	return !memcmp(before, after, offsetof(struct look, count));
}

/* @heard: it was of the peer's session. */
static void check_one(const struct look *before, const struct look *after, bool heard)
{
	static const enum vib_trunk_counter drops[] = {
		VIB_TRUNK_FOREIGN, VIB_TRUNK_MALFORMED, VIB_TRUNK_STRAY,
		VIB_TRUNK_DUPLICATES, VIB_TRUNK_LATE, VIB_TRUNK_OVERRUNS,
	};
	u64 dropped = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(drops); i++)
		dropped += more(before, after, drops[i]);
	if (!heard && !dropped)
		/* A HELLO of an unknown sender, who is asked whether it is there. */
		fuzz_expect(&fuzz, after->challenge && !memcmp(&before->session,
			    &after->session, sizeof(after->session)), "neither taken nor counted");
	if (!heard && dropped)
		fuzz_expect(&fuzz, dropped == 1 && same(before, after),
			    "dropped, but not without effect");
	if (more(before, after, VIB_TRUNK_RECEIVED))
		fuzz_expect(&fuzz, heard && !dropped, "a packet both taken and dropped");
}

/* Who does not know both sessions gets nothing by it but the challenge. */
static void check_sessions(const struct look *before, const struct vib_trunk_hdr *hdr)
{
	u64 from = be64_to_cpu(hdr->from), to = be64_to_cpu(hdr->to);
	const struct vib_trunk_session *session = &before->session;

	if (hdr->type == VIB_TRUNK_HELLO)
		fuzz_expect(&fuzz, to == session->own || from == session->peer,
			    "a HELLO of a stranger was taken");
	else
		fuzz_expect(&fuzz, to == session->own && from == session->peer &&
			    session->state == VIB_TRUNK_UP, "it was not of the sessions");
}

static void arrive(size_t len)
{
	struct sockaddr_storage from = trunk->peer;
	bool foreign = !fuzz_below(&fuzz, 32), heard;
	struct look before, after;
	unsigned long never;
	void *copy;

	/* Of just this length: KASAN guards what is behind. */
	copy = kmemdup(buf, len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(fuzz.test, copy);
	fuzz.last = (struct vib_packet){
		.hdr_len = min(len, sizeof(fuzz.last.hdr)),
		.len = len,
	};
	memcpy(&fuzz.last.hdr, copy, fuzz.last.hdr_len);
	if (foreign)
		((struct sockaddr_in *)&from)->sin_port ^= htons(BIT(fuzz_below(&fuzz, 16)));
	look_at(&before);
	spin_lock_bh(&trunk->lock);
	never = jiffies - 1;
	trunk->last_rx = never;
	spin_unlock_bh(&trunk->lock);
	vib_trunk_datagram(trunk, &from, copy, len);
	heard = READ_ONCE(trunk->last_rx) != never;
	look_at(&after);
	check_one(&before, &after, heard);
	if (heard)
		check_sessions(&before, copy);
	kfree(copy);
	fuzz_expect(&fuzz, more(&before, &after, VIB_TRUNK_FOREIGN) == foreign,
		    "wrong about the address");
}

/* ---- the trunk ---- */

/* All that was taken has come to the port, or was discarded on its way there. */
static void drain(void)
{
	struct vib_packet *pkt;

	tn_wait_idle(tn);
	while ((pkt = fab_take(tn->fab, tn->end[0].ca))) {
		vib_packet_free(pkt);
		passed++;
	}
	fuzz_expect(&fuzz, tn_count(tn, 0, VIB_TRUNK_RECEIVED) ==
		    passed + vib_port_counter(vib_trunk_far(trunk), VIB_XMIT_DISCARDS),
		    "packets that were taken are missing");
	/* What has room now is told to the peer, which may send more then. */
	tn_wait_idle(tn);
}

static struct vib_trunk_msg hello(void)
{
	return (struct vib_trunk_msg){
		.type = VIB_TRUNK_HELLO,
		.flags = VIB_TRUNK_READY | VIB_TRUNK_LINKED,
		.from = trunk->session.peer ?: 1,
		.to = trunk->session.own,
		.hello = {
			.guid = PEER_GUID, .port = 1, .node_type = RDMA_NODE_IB_SWITCH,
			.width = IB_WIDTH_1X | IB_WIDTH_4X, .speed = 7, .mtu = IB_MTU_4096,
			.vls = 8, .interval = VIB_TRUNK_MAX_INTERVAL,
		},
	};
}

static bool works(void)
{
	return READ_ONCE(trunk->session.state) == VIB_TRUNK_UP &&
	       READ_ONCE(trunk->carrying) && tn->end[0].port->state == IB_PORT_ACTIVE;
}

/* With a peer that begins anew, as one that was restarted. */
static void mend(void)
{
	struct vib_trunk_msg msg;
	int ret;

	if (works())
		return;
	msg = hello();
	do {
		msg.from = (u64)prandom_u32_state(&fuzz.rnd) << 32 | fuzz.n;
	} while (msg.from == trunk->session.peer || msg.from == trunk->session.last);
	vib_trunk_datagram(trunk, &trunk->peer, buf, vib_trunk_put(buf, &msg));
	KUNIT_ASSERT_TRUE(fuzz.test, wait_within(READ_ONCE(trunk->carrying), TN_LONG));
	ret = vib_port_set_state(tn->end[0].port, IB_PORT_ARMED);
	if (!ret)
		ret = vib_port_set_state(tn->end[0].port, IB_PORT_ACTIVE);
	KUNIT_ASSERT_EQ(fuzz.test, ret, 0);
	tn_wait_idle(tn);
}

/* ---- datagrams ---- */

static size_t put_data(struct vib_trunk_msg *msg)
{
	struct fab_spec spec = {
		.vl = fuzz_below(&fuzz, 8), .dlid = 2, .slid = 1, .pkey = 0xffff, .dqp = 5,
		.len = fuzz_below(&fuzz, 8) ? fuzz_below(&fuzz, 256) : VIB_MAX_MTU,
	};
	struct vib_packet *pkt = fab_packet(fuzz.test, &spec);
	size_t len;

	msg->data.total = trunk->flow.vl[pkt->vl].received + pkt->blocks;
	if (!fuzz_below(&fuzz, 8))
		msg->data.total += fuzz_edge(&fuzz);
	len = vib_trunk_put_packet(buf, msg, pkt);
	vib_packet_free(pkt);
	return len;
}

static size_t put_credit(struct vib_trunk_msg *msg)
{
	unsigned int vl;

	for (vl = 0; vl < VIB_VLS; vl++) {
		msg->credit.sent[vl] = trunk->flow.vl[vl].received;
		msg->credit.limit[vl] = trunk->flow.vl[vl].limit + fuzz_below(&fuzz, 100);
		if (!fuzz_below(&fuzz, 16))
			msg->credit.sent[vl] += fuzz_edge(&fuzz);
		if (!fuzz_below(&fuzz, 16))
			msg->credit.limit[vl] += fuzz_edge(&fuzz);
	}
	msg->flags = fuzz_below(&fuzz, 2) ? VIB_TRUNK_WANT : 0;
	return vib_trunk_put(buf, msg);
}

/* One that is right; now and then late, or of another session. */
static size_t put_message(void)
{
	static const u8 types[] = {
		VIB_TRUNK_DATA, VIB_TRUNK_DATA, VIB_TRUNK_DATA, VIB_TRUNK_CREDIT, VIB_TRUNK_HELLO,
	};
	struct vib_trunk_msg msg = hello();

	msg.type = types[fuzz_below(&fuzz, ARRAY_SIZE(types))];
	if (!fuzz_below(&fuzz, 32))
		msg.from ^= BIT_ULL(fuzz_below(&fuzz, 64));
	if (!fuzz_below(&fuzz, 32))
		msg.to ^= BIT_ULL(fuzz_below(&fuzz, 64));
	if (msg.type == VIB_TRUNK_HELLO)
		return vib_trunk_put(buf, &msg);
	msg.flags = 0;
	msg.seq = trunk->flow.rx_seq;
	if (!fuzz_below(&fuzz, 8))
		msg.seq += (int)fuzz_below(&fuzz, 200) - 100;
	return msg.type == VIB_TRUNK_DATA ? put_data(&msg) : put_credit(&msg);
}

static size_t change(size_t len)
{
	u32 changes = fuzz_below(&fuzz, 4), at;

	while (changes--) {
		at = fuzz_below(&fuzz, min_t(u32, len, 256));
		switch (fuzz_below(&fuzz, 4)) {
		case 0:
			len = 1 + fuzz_below(&fuzz, VIB_TRUNK_MAX_MSG);
			break;
		case 1:
			len = clamp_t(int, len + (int)fuzz_below(&fuzz, 9) - 4, 1,
				      VIB_TRUNK_MAX_MSG);
			break;
		case 2:
			buf[at] ^= BIT(fuzz_below(&fuzz, 8));
			break;
		default:
			put_unaligned_be32(fuzz_edge(&fuzz), buf + ALIGN_DOWN(at, 4));
			break;
		}
	}
	return len;
}

static size_t put_random(void)
{
	struct vib_trunk_hdr *hdr = (struct vib_trunk_hdr *)buf;
	size_t len = 1 + fuzz_below(&fuzz, 400);

	prandom_bytes_state(&fuzz.rnd, buf, len);
	if (len < sizeof(*hdr) || !fuzz_below(&fuzz, 4))
		return len;
	/* All of it random would not come past the first of the checks. */
	hdr->magic = cpu_to_be32(VIB_TRUNK_MAGIC);
	hdr->version = VIB_TRUNK_VERSION;
	hdr->type = fuzz_below(&fuzz, 5);
	hdr->flags = 0;
	if (fuzz_below(&fuzz, 2)) {
		hdr->from = cpu_to_be64(trunk->session.peer ?: 1);
		hdr->to = cpu_to_be64(trunk->session.own);
	}
	return len;
}

/* ---- cases ---- */

/* It works as before. */
static void expect_passage(struct kunit *test)
{
	struct fab_spec spec = { .dlid = 2, .slid = 1, .pkey = 0xffff, .psn = 77 };
	struct vib_packet *pkt = fab_packet(test, &spec);
	struct vib_trunk_msg msg = hello();

	msg.type = VIB_TRUNK_DATA;
	msg.flags = 0;
	msg.seq = trunk->flow.rx_seq;
	msg.data.total = trunk->flow.vl[0].received + pkt->blocks;
	vib_trunk_datagram(trunk, &trunk->peer, buf, vib_trunk_put_packet(buf, &msg, pkt));
	vib_packet_free(pkt);
	KUNIT_EXPECT_EQ(test, fab_take_psn(tn->fab, tn->end[0].ca), 77);
}

static void run(struct kunit *test, bool sense)
{
	fuzz_begin(&fuzz, test, vib_trunk_net(trunk));
	mend();
	while (fuzz_next(&fuzz)) {
		arrive(sense ? change(put_message()) : put_random());
		if (fuzz.n % BATCH)
			continue;
		drain();
		mend();
	}
	drain();
	mend();
	if (sense)
		KUNIT_EXPECT_GT(test, tn_count(tn, 0, VIB_TRUNK_RECEIVED), fuzz.n / 100);
	expect_passage(test);
	fuzz_end(&fuzz);
}

static void random_messages(struct kunit *test)
{
	run(test, true);
}

static void bytes_without_sense(struct kunit *test)
{
	run(test, false);
}

static struct kunit_case trunk_fuzz_cases[] = {
	KUNIT_CASE_SLOW(random_messages),
	KUNIT_CASE_SLOW(bytes_without_sense),
	{}
};

static struct kunit_suite trunk_fuzz_suite = {
	.name = "vib_fuzz_trunk",
	.init = trunk_fuzz_init,
	.test_cases = trunk_fuzz_cases,
};

kunit_test_suite(trunk_fuzz_suite);
