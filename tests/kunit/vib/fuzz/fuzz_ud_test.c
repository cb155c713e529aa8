// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Random packets at an adapter's port, for its UD QPs, QP0, QP1, groups, and nobody: each has
 * one receive completion, or one counter has it.
 */
#include "../device/hca_pair.h"
#include "fuzz.h"

#define BUF_LEN		(GRH_LEN + VIB_MAX_MTU)
#define SHORT_LEN	(GRH_LEN + 16)

static struct hca_pair pair;
static struct fuzz fuzz;
static struct ib_qp *qps[2];		/* b's, of one type */
static u8 *in;

static int ud_fuzz_init(struct kunit *test)
{
	int ret = hca_pair_init(test, &pair);

	if (ret)
		return ret;
	in = hca_buf(test, BUF_LEN, 0);
	return 0;
}

static void ud_fuzz_exit(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(qps); i++) {
		if (!IS_ERR_OR_NULL(qps[i]))
			ib_destroy_qp(qps[i]);
		qps[i] = NULL;
	}
	hca_pair_exit(&pair);
}

/* ---- the QPs ---- */

static void post_all(struct ib_qp *qp, bool some_short)
{
	u32 len;
	int i;

	for (i = 0; i < PAIR_MAX_WR; i++) {
		len = some_short && !fuzz_below(&fuzz, 64) ? SHORT_LEN : BUF_LEN;
		if (hca_recv(qp, &pair.b, in, len, len))
			return;
	}
}

static struct ib_qp *open(struct kunit *test, enum ib_qp_type type, bool some_short)
{
	struct ib_qp *qp = hca_qp_create(&pair.b, type, &(struct hca_qp_want){});

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	KUNIT_ASSERT_EQ(test, hca_qp_to(qp, IB_QPS_RTS), 0);
	post_all(qp, some_short);
	return qp;
}

/* A receive that was too short has put it in error. */
static void reopen(struct kunit *test, struct ib_qp *qp)
{
	struct ib_wc wc;

	flush_workqueue(vib_wq);
	while (ib_poll_cq(pair.b.cq, 1, &wc) > 0)
		;
	KUNIT_ASSERT_EQ(test, hca_qp_modify(qp, IB_QPS_RESET), 0);
	KUNIT_ASSERT_EQ(test, hca_qp_to(qp, IB_QPS_RTS), 0);
	post_all(qp, true);
}

/* ---- what becomes of a packet ---- */

/* Counted as dropped, at either end of the link. */
static u64 dropped(void)
{
	u64 sum = vib_port_counter(pair.a.port, VIB_XMIT_DISCARDS) +
		  vib_port_counter(pair.b.port, VIB_RCV_ERRORS) +
		  vib_port_counter(pair.b.port, VIB_RCV_DISCARDS);
	unsigned int i;

	for (i = 0; i < VIB_DROPS; i++)
		sum += atomic64_read(&vib_ca_port(pair.b.port)->drops[i]);
	return sum;
}

/* Receive requests that packets have completed since; others are posted in their place. */
static unsigned int completed(struct kunit *test)
{
	unsigned int n = 0;
	struct ib_wc wc;

	while (ib_poll_cq(pair.b.cq, 1, &wc) > 0) {
		if (wc.status == IB_WC_WR_FLUSH_ERR)
			continue;
		n++;
		if (wc.status)
			reopen(test, wc.qp);
		else
			hca_recv(wc.qp, &pair.b, in, wc.wr_id, wc.wr_id);
	}
	return n;
}

/*
 * Has @pkt arrive; @copies is how many QPs take one that is taken.  QPs take it in before
 * fuzz_send() returns: their works run when bottom halves are enabled.
 */
static void arrive(struct kunit *test, struct vib_packet *pkt, unsigned int copies)
{
	u64 before = dropped();
	unsigned int taken;

	fuzz_send(&fuzz, pkt);
	taken = completed(test);
	fuzz_expect(&fuzz, taken % copies == 0, "taken by some members of a group");
	fuzz_expect(&fuzz, taken / copies + dropped() - before == 1,
		    "neither taken nor counted, or twice");
}

/* ---- packets that are right ---- */

struct shape {
	u8 vl, opcode;
	bool grh, imm;
	u16 len, dlid;
	u32 dqp, qkey;
	union ib_gid dgid;
};

static void fill_grh(const struct shape *shape, struct ib_grh *grh)
{
	grh->version_tclass_flow = cpu_to_be32(IB_GRH_VERSION << IB_GRH_VERSION_SHIFT);
	grh->next_hdr = IB_GRH_NEXT_HDR;
	grh->sgid = hca_gid(&pair.a);
	grh->dgid = shape->dgid;
}

static struct vib_packet *build(struct kunit *test, const struct shape *shape)
{
	struct vib_packet *pkt = vib_packet_alloc(GFP_KERNEL);
	struct ib_other_headers *oth;
	struct vib_payload *payload;
	u8 opcode = shape->imm ? IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE : IB_OPCODE_UD_SEND_ONLY;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	pkt->hdr.lrh[0] = cpu_to_be16(shape->grh ? IB_LNH_IBA_GLOBAL : IB_LNH_IBA_LOCAL);
	pkt->hdr_len = IB_LRH_BYTES + (shape->grh ? IB_GRH_BYTES : 0) + IB_BTH_BYTES +
		       IB_DETH_BYTES + (shape->imm ? sizeof(__be32) : 0);
	if (shape->grh)
		fill_grh(shape, &pkt->hdr.u.l.grh);
	oth = vib_packet_bth(pkt);
	oth->bth[0] = cpu_to_be32(opcode << IB_BTH_OPCODE_SHIFT | 0xffff);
	oth->bth[1] = cpu_to_be32(shape->dqp);
	oth->u.ud.deth[0] = cpu_to_be32(shape->qkey);
	oth->u.ud.deth[1] = cpu_to_be32(55);
	payload = vib_payload_alloc(shape->len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, payload);
	memset(payload->data, 0x5a, shape->len);
	vib_packet_attach(pkt, payload, 0, shape->len);
	vib_payload_put(payload);
	vib_packet_finish(pkt, shape->vl, 0, shape->dlid, pair.a.port->lid);
	return pkt;
}

/* To QP @qpn of b. */
static struct shape datagram(u32 qpn, u32 qkey, u16 len)
{
	return (struct shape){
		.vl = qpn ? fuzz_below(&fuzz, 4) : VIB_VL_MGMT,
		.grh = qpn && fuzz_below(&fuzz, 2),
		.imm = qpn > 1 && fuzz_below(&fuzz, 2),
		.len = len,
		.dlid = pair.b.port->lid + fuzz_below(&fuzz, 4),
		.dqp = qpn,
		.qkey = qkey,
		.dgid = hca_gid(&pair.b),
	};
}

static void run(struct kunit *test, u32 qkey, u16 mad_len)
{
	struct vib_packet *pkt;
	struct shape shape;
	u16 len;

	fuzz_begin(&fuzz, test, pair.a.port);
	while (fuzz_next(&fuzz)) {
		len = mad_len && fuzz_below(&fuzz, 8) ? mad_len : fuzz_below(&fuzz, 300);
		shape = datagram(qps[0]->qp_num, qkey, len);
		pkt = build(test, &shape);
		fuzz_change(&fuzz, pkt);
		arrive(test, pkt, 1);
	}
	fuzz_end(&fuzz);
}

/* After all of them the QP works as before. */
static void expect_works(struct kunit *test, u32 qkey, u16 len)
{
	struct shape shape = datagram(qps[0]->qp_num, qkey, len);

	vib_port_xmit(pair.a.port, build(test, &shape));
	KUNIT_EXPECT_EQ(test, completed(test), 1);
}

/* ---- cases ---- */

static void random_packets_for_a_ud_qp(struct kunit *test)
{
	qps[0] = open(test, IB_QPT_UD, true);
	run(test, PAIR_QKEY, 0);
	expect_works(test, PAIR_QKEY, 16);
}

static void random_packets_for_qp1(struct kunit *test)
{
	qps[0] = open(test, IB_QPT_GSI, true);
	run(test, IB_QP1_QKEY, IB_MGMT_MAD_SIZE);
	reopen(test, qps[0]);
	expect_works(test, IB_QP1_QKEY, IB_MGMT_MAD_SIZE);
}

static void random_packets_for_qp0(struct kunit *test)
{
	qps[0] = open(test, IB_QPT_SMI, true);
	run(test, 0, IB_MGMT_MAD_SIZE);
	reopen(test, qps[0]);
	expect_works(test, 0, IB_MGMT_MAD_SIZE);
}

/* Two members of one group, with the same keys: both take a packet, or neither does. */
static void random_packets_for_a_group(struct kunit *test)
{
	union ib_gid mgid = hca_mgid(1);
	struct vib_packet *pkt;
	struct shape shape;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		qps[i] = open(test, IB_QPT_UD, false);
		KUNIT_ASSERT_EQ(test, ib_attach_mcast(qps[i], &mgid, PAIR_MLID), 0);
	}
	fuzz_begin(&fuzz, test, pair.a.port);
	while (fuzz_next(&fuzz)) {
		shape = datagram(IB_MULTICAST_QPN, PAIR_QKEY, fuzz_below(&fuzz, 300));
		shape.grh |= fuzz_below(&fuzz, 2);
		shape.dlid = PAIR_MLID;
		shape.dgid = mgid;
		pkt = build(test, &shape);
		fuzz_change(&fuzz, pkt);
		arrive(test, pkt, 2);
	}
	fuzz_end(&fuzz);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, ib_detach_mcast(qps[i], &mgid, PAIR_MLID), 0);
}

static void bytes_without_sense(struct kunit *test)
{
	qps[0] = open(test, IB_QPT_UD, true);
	fuzz_begin(&fuzz, test, pair.a.port);
	while (fuzz_next(&fuzz))
		arrive(test, fuzz_random(&fuzz, pair.b.port->lid), 1);
	fuzz_end(&fuzz);
	expect_works(test, PAIR_QKEY, 16);
}

static struct kunit_case ud_fuzz_cases[] = {
	KUNIT_CASE_SLOW(random_packets_for_a_ud_qp),
	KUNIT_CASE_SLOW(random_packets_for_qp1),
	KUNIT_CASE_SLOW(random_packets_for_qp0),
	KUNIT_CASE_SLOW(random_packets_for_a_group),
	KUNIT_CASE_SLOW(bytes_without_sense),
	{}
};

static struct kunit_suite vib_fuzz_ud_suite = {
	.name = "vib_fuzz_ud",
	.init = ud_fuzz_init,
	.exit = ud_fuzz_exit,
	.test_cases = ud_fuzz_cases,
};

kunit_test_suite(vib_fuzz_ud_suite);
