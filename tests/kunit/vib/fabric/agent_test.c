// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MADs to a switch's LID (IBA vol. 1, 9.6.1, 10.9, 13.5, 18.2.4.1): which of them the agents
 * behind port 0 take, and the headers of their responses.
 *
 *	a, LID 1 --- 1 sw, LID 10 2 --- b, LID 2, the subnet manager
 */
#include <rdma/ib_pma.h>
#include "fabric_net.h"
#include "../mgmt/mgmt_node.h"
#include "wait.h"

#define A_LID	1
#define B_LID	2
#define SW_LID	10

static struct fab *fab;
static struct fab_node *swn, *a, *b;
static struct vib_port *port0, *in;	/* of the switch: in is the one a is at */
static struct ib_mad mad;

static int agent_test_init(struct kunit *test)
{
	fab = fab_new(test);
	swn = fab_switch(fab, 2);
	a = fab_ca(fab, 1);
	b = fab_ca(fab, 1);
	port0 = fab_port(swn, 0);
	in = fab_port(swn, 1);
	fab_link(fab, in, fab_port(a, 1));
	fab_link(fab, fab_port(swn, 2), fab_port(b, 1));
	port0->lid = SW_LID;
	swn->sw->lft[A_LID] = 1;
	swn->sw->lft[B_LID] = 2;
	fab_activate(fab);
	return 0;
}

/* A Get of NodeInfo, and one of the PMA's ClassPortInfo. */
static void fill_smp(void)
{
	mgmt_smp((struct ib_smp *)&mad, IB_MGMT_METHOD_GET, IB_SMP_ATTR_NODE_INFO, 0);
}

static void fill_gmp(void)
{
	memset(&mad, 0, sizeof(mad));
	mad.mad_hdr.base_version = IB_MGMT_BASE_VERSION;
	mad.mad_hdr.mgmt_class = IB_MGMT_CLASS_PERF_MGMT;
	mad.mad_hdr.class_version = 1;
	mad.mad_hdr.method = IB_MGMT_METHOD_GET;
	mad.mad_hdr.attr_id = IB_PMA_CLASS_PORT_INFO;
	mad.mad_hdr.tid = cpu_to_be64(0x4321);
}

static struct fab_spec smp(void)
{
	fill_smp();
	return (struct fab_spec){
		.vl = VIB_VL_MGMT, .dlid = SW_LID, .slid = A_LID, .pkey = 0xffff, .mad = &mad,
	};
}

static struct fab_spec gmp(void)
{
	fill_gmp();
	return (struct fab_spec){
		.dlid = SW_LID, .slid = A_LID, .pkey = 0xffff, .dqp = 1, .sqp = 1,
		.qkey = IB_QP1_QKEY, .mad = &mad,
	};
}

static union ib_gid gid(__be64 guid)
{
	return (union ib_gid){
		.global.subnet_prefix = cpu_to_be64(VIB_GID_PREFIX),
		.global.interface_id = guid,
	};
}

/* What comes back to a, which is the caller's; NULL if nothing does. */
static struct vib_packet *ask(const struct fab_spec *spec)
{
	fab_send(fab, fab_port(a, 1), spec);
	return fab_take(fab, a);
}

static void read_mad(struct kunit *test, const struct vib_packet *pkt, struct ib_mad *to)
{
	KUNIT_ASSERT_TRUE(test, vib_packet_read(pkt, 0, to, sizeof(*to)));
}

static void expect_answer(struct kunit *test, const struct fab_spec *spec, bool answered,
			  const char *what)
{
	struct vib_packet *pkt = ask(spec);
	struct ib_mad out;

	KUNIT_EXPECT_EQ_MSG(test, !!pkt, answered, "%s", what);
	KUNIT_EXPECT_EQ_MSG(test, fab_count(fab, a), 0, "%s", what);
	KUNIT_EXPECT_EQ_MSG(test, fab_count(fab, b), 0, "%s", what);
	if (!pkt)
		return;
	read_mad(test, pkt, &out);
	KUNIT_EXPECT_EQ_MSG(test, out.mad_hdr.method, IB_MGMT_METHOD_GET_RESP, "%s", what);
	KUNIT_EXPECT_EQ_MSG(test, be64_to_cpu(out.mad_hdr.tid),
			    be64_to_cpu(((struct ib_mad *)spec->mad)->mad_hdr.tid), "%s", what);
	vib_packet_free(pkt);
}

/* ---- QP0 ---- */

static void smps_come_by_vl15_to_qp0(struct kunit *test)
{
	struct fab_spec spec = smp();
	union ib_gid from = gid(cpu_to_be64(1)), to = gid(port0->guids[0]);

	expect_answer(test, &spec, true, "an SMP");
	KUNIT_EXPECT_EQ(test, vib_port_counter(in, VIB_VL15_DROPPED), 0);
	spec.dqp = 1;
	expect_answer(test, &spec, false, "to QP1");
	spec.dqp = 2;
	expect_answer(test, &spec, false, "to QP2");
	spec = smp();
	spec.sgid = &from;
	spec.dgid = &to;
	expect_answer(test, &spec, false, "with a GRH");
	spec = gmp();
	spec.vl = VIB_VL_MGMT;
	spec.dqp = 0;
	expect_answer(test, &spec, false, "a GMP");
	KUNIT_EXPECT_EQ(test, vib_port_counter(in, VIB_VL15_DROPPED), 4);
	spec = smp();
	spec.vl = 0;
	expect_answer(test, &spec, false, "by VL 0");
	spec = smp();
	spec.vl = 0;
	spec.dqp = 1;
	spec.qkey = IB_QP1_QKEY;
	expect_answer(test, &spec, false, "by VL 0 to QP1");
	KUNIT_EXPECT_EQ(test, vib_port_counter(in, VIB_RCV_ERRORS), 2);
}

/* 9.6.1, 10.2.5: QP0 checks neither. */
static void qp0_takes_any_key(struct kunit *test)
{
	static const u16 pkeys[] = { 0xffff, 0x7fff, 0x1234, 0x8000, 0 };
	struct fab_spec spec = smp();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pkeys); i++) {
		spec.pkey = pkeys[i];
		spec.qkey = i;
		expect_answer(test, &spec, true, "any P_Key");
	}
	KUNIT_EXPECT_EQ(test, be16_to_cpu(port0->info.pkey_violations), 0);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(port0->info.qkey_violations), 0);
}

static void an_smps_response_has_the_headers_of_one(struct kunit *test)
{
	struct fab_spec spec = smp();
	struct ib_other_headers *oth;
	struct vib_packet *pkt;

	spec.sl = 3;
	spec.pkey = 0x1234;
	spec.qkey = 77;
	spec.psn = 99;
	spec.sqp = 0;
	pkt = ask(&spec);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	oth = vib_packet_bth(pkt);
	KUNIT_EXPECT_EQ(test, ib_get_lnh(&pkt->hdr), IB_LNH_IBA_LOCAL);
	KUNIT_EXPECT_EQ(test, ib_get_sc(&pkt->hdr), VIB_VL_MGMT);
	KUNIT_EXPECT_EQ(test, pkt->vl, VIB_VL_MGMT);
	KUNIT_EXPECT_EQ(test, vib_packet_sl(pkt), 3);
	KUNIT_EXPECT_EQ(test, vib_packet_dlid(pkt), A_LID);
	KUNIT_EXPECT_EQ(test, vib_packet_slid(pkt), SW_LID);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(pkt->hdr.lrh[2]), 72);
	KUNIT_EXPECT_EQ(test, ib_bth_get_opcode(oth), IB_OPCODE_UD_SEND_ONLY);
	KUNIT_EXPECT_EQ(test, ib_bth_get_qpn(oth), 0);
	KUNIT_EXPECT_EQ(test, ib_get_sqpn(oth), 0);
	KUNIT_EXPECT_EQ(test, ib_get_qkey(oth), 0);
	KUNIT_EXPECT_EQ(test, pkt->len, IB_MGMT_MAD_SIZE);
	vib_packet_free(pkt);
}

/* ---- QP1 ---- */

static void gmps_come_by_a_data_lane_to_qp1(struct kunit *test)
{
	struct fab_spec spec = gmp();

	expect_answer(test, &spec, true, "a GMP");
	spec.vl = FAB_VLS - 1;
	expect_answer(test, &spec, true, "by another VL");
	KUNIT_EXPECT_EQ(test, vib_port_counter(in, VIB_RCV_ERRORS), 0);
	spec = gmp();
	spec.dqp = 0;
	expect_answer(test, &spec, false, "to QP0");
	spec.dqp = 2;
	expect_answer(test, &spec, false, "to QP2");
	spec.dqp = 0xffffff;
	expect_answer(test, &spec, false, "to the QP of groups");
	KUNIT_EXPECT_EQ(test, vib_port_counter(in, VIB_RCV_ERRORS), 3);
	spec = gmp();
	spec.vl = VIB_VL_MGMT;
	expect_answer(test, &spec, false, "by VL15");
	KUNIT_EXPECT_EQ(test, vib_port_counter(in, VIB_VL15_DROPPED), 1);
}

struct pkey_case {
	u16 pkey, reply;	/* reply 0: none */
};

/* Of port 0: a full member of 0x7fff and 5, a limited one of 6. */
static const struct pkey_case pkey_cases[] = {
	{ 0xffff, 0xffff }, { 0x7fff, 0xffff },
	{ 0x8005, 0x8005 }, { 0x0005, 0x8005 },
	/* The membership in the response is the switch's. */
	{ 0x8006, 0x0006 }, { 0x0006, 0 },
	{ 0x8007, 0 }, { 0x8000, 0 }, { 0x0000, 0 },
};

static void qp1_takes_the_pkeys_of_port_0(struct kunit *test)
{
	struct fab_spec spec = gmp();
	unsigned int i, refused = 0;
	struct vib_packet *pkt;
	u16 pkey;

	port0->pkeys[3] = cpu_to_be16(0x8005);
	port0->pkeys[7] = cpu_to_be16(0x0006);
	for (i = 0; i < ARRAY_SIZE(pkey_cases); i++) {
		spec.pkey = pkey_cases[i].pkey;
		pkt = ask(&spec);
		pkey = pkt ? ib_bth_get_pkey(vib_packet_bth(pkt)) : 0;
		KUNIT_EXPECT_EQ_MSG(test, pkey, pkey_cases[i].reply, "P_Key %x", spec.pkey);
		refused += !pkey_cases[i].reply;
		KUNIT_EXPECT_EQ_MSG(test, be16_to_cpu(port0->info.pkey_violations), refused,
				    "P_Key %x", spec.pkey);
		if (pkt)
			vib_packet_free(pkt);
	}
	KUNIT_EXPECT_EQ(test, be16_to_cpu(in->info.pkey_violations), 0);
}

static void qp1_takes_one_qkey(struct kunit *test)
{
	static const u32 qkeys[] = { 0, 1, 0x80010001, 0x00010000, U32_MAX };
	struct fab_spec spec = gmp();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(qkeys); i++) {
		spec.qkey = qkeys[i];
		expect_answer(test, &spec, false, "another Q_Key");
		KUNIT_EXPECT_EQ(test, be16_to_cpu(port0->info.qkey_violations), i + 1);
	}
	/* Which does not count if the P_Key is wrong already. */
	spec.pkey = 0x8001;
	expect_answer(test, &spec, false, "both wrong");
	KUNIT_EXPECT_EQ(test, be16_to_cpu(port0->info.qkey_violations), i);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(port0->info.pkey_violations), 1);
}

static void a_gmps_response_goes_to_the_qp_that_asked(struct kunit *test)
{
	struct fab_spec spec = gmp();
	struct ib_other_headers *oth;
	struct vib_packet *pkt;

	/* From port 0 to port 1, SL 2 takes VL 6. */
	swn->sw->sl_to_vl[0 * 3 + 1][2] = 6;
	spec.sl = 2;
	spec.sqp = 0x345;
	spec.psn = 99;
	pkt = ask(&spec);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	oth = vib_packet_bth(pkt);
	KUNIT_EXPECT_EQ(test, ib_get_lnh(&pkt->hdr), IB_LNH_IBA_LOCAL);
	KUNIT_EXPECT_EQ(test, vib_packet_sl(pkt), 2);
	KUNIT_EXPECT_EQ(test, pkt->vl, 6);
	KUNIT_EXPECT_EQ(test, ib_get_sc(&pkt->hdr), 6);
	KUNIT_EXPECT_EQ(test, vib_packet_dlid(pkt), A_LID);
	KUNIT_EXPECT_EQ(test, vib_packet_slid(pkt), SW_LID);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(pkt->hdr.lrh[2]), 72);
	KUNIT_EXPECT_EQ(test, ib_bth_get_opcode(oth), IB_OPCODE_UD_SEND_ONLY);
	KUNIT_EXPECT_EQ(test, ib_bth_get_pad(oth), 0);
	KUNIT_EXPECT_EQ(test, ib_bth_get_qpn(oth), 0x345);
	KUNIT_EXPECT_EQ(test, ib_get_sqpn(oth), 1);
	KUNIT_EXPECT_EQ(test, ib_get_qkey(oth), IB_QP1_QKEY);
	KUNIT_EXPECT_EQ(test, ib_bth_get_pkey(oth), 0xffff);
	vib_packet_free(pkt);
}

/* 13.5.4: one with a GRH has a response with one. */
static void a_gmp_with_a_grh_is_answered_with_one(struct kunit *test)
{
	union ib_gid from = gid(a->node->ports[1].guids[0]), to = gid(port0->guids[0]);
	struct fab_spec spec = gmp();
	struct vib_packet *pkt;
	struct ib_grh *grh;

	spec.sgid = &from;
	spec.dgid = &to;
	pkt = ask(&spec);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	grh = &pkt->hdr.u.l.grh;
	KUNIT_EXPECT_TRUE(test, vib_packet_has_grh(pkt));
	KUNIT_EXPECT_TRUE(test, !memcmp(&grh->sgid, &to, sizeof(to)));
	KUNIT_EXPECT_TRUE(test, !memcmp(&grh->dgid, &from, sizeof(from)));
	KUNIT_EXPECT_EQ(test, grh->hop_limit, 0xff);
	KUNIT_EXPECT_EQ(test, grh->next_hdr, IB_GRH_NEXT_HDR);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(grh->paylen), 280);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(pkt->hdr.lrh[2]), 82);
	vib_packet_free(pkt);
}

/* 8.3: whoever has another GID does not answer in its name. */
static void a_gmp_to_anothers_gid_is_not_answered(struct kunit *test)
{
	union ib_gid from = gid(a->node->ports[1].guids[0]);
	union ib_gid to = gid(b->node->ports[1].guids[0]);
	struct fab_spec spec = gmp();

	spec.sgid = &from;
	spec.dgid = &to;
	expect_answer(test, &spec, false, "to b's GID");
	to = gid(port0->guids[0]);
	to.global.subnet_prefix = cpu_to_be64(0xfec0000000000001ULL);
	expect_answer(test, &spec, false, "of another subnet");
	to = (union ib_gid){ .raw = { 0xff, 0x12 } };
	expect_answer(test, &spec, false, "to a group's GID");
}

/* 8.3.1, 8.3.5: IPVer and NxtHdr */
static void a_grh_has_to_be_one(struct kunit *test)
{
	union ib_gid from = gid(a->node->ports[1].guids[0]), to = gid(port0->guids[0]);
	struct fab_spec spec = gmp();
	struct vib_packet *pkt;

	spec.sgid = &from;
	spec.dgid = &to;
	pkt = fab_packet(test, &spec);
	pkt->hdr.u.l.grh.version_tclass_flow = cpu_to_be32(4U << IB_GRH_VERSION_SHIFT);
	vib_port_xmit(fab_port(a, 1), pkt);
	KUNIT_EXPECT_EQ(test, fab_count(fab, a), 0);
	fab_drop(a);
	pkt = fab_packet(test, &spec);
	pkt->hdr.u.l.grh.next_hdr = 6;
	vib_port_xmit(fab_port(a, 1), pkt);
	KUNIT_EXPECT_EQ(test, fab_count(fab, a), 0);
}

/* ---- classes and methods ---- */

struct class_case {
	u8 mgmt_class, method;
	bool answered;
	u16 status;
};

static const struct class_case class_cases[] = {
	{ IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_GET, true, 0 },
	/* 13.4.7: what no agent has is answered, if there is an answer to it. */
	{ IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_GET_RESP, false, 0 },
	{ IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_TRAP, false, 0 },
	{ IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_TRAP_REPRESS, false, 0 },
	{ IB_MGMT_CLASS_DEVICE_MGMT, IB_MGMT_METHOD_GET, true, 0xc },
	{ IB_MGMT_CLASS_DEVICE_MGMT, IB_MGMT_METHOD_SET, true, 0xc },
	{ IB_MGMT_CLASS_DEVICE_MGMT, IB_MGMT_METHOD_GET_RESP, false, 0 },
	{ IB_MGMT_CLASS_SUBN_ADM, IB_MGMT_METHOD_GET, true, 0xc },
	{ IB_MGMT_CLASS_CM, IB_MGMT_METHOD_SEND, false, 0 },
};

static void classes_without_an_agent(struct kunit *test)
{
	const struct class_case *c;
	struct fab_spec spec;
	struct vib_packet *pkt;
	struct ib_mad out;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(class_cases); i++) {
		c = &class_cases[i];
		spec = gmp();
		mad.mad_hdr.mgmt_class = c->mgmt_class;
		mad.mad_hdr.method = c->method;
		pkt = ask(&spec);
		KUNIT_EXPECT_EQ_MSG(test, !!pkt, c->answered, "case %u", i);
		if (!pkt)
			continue;
		read_mad(test, pkt, &out);
		KUNIT_EXPECT_EQ_MSG(test, be16_to_cpu(out.mad_hdr.status), c->status,
				    "case %u", i);
		KUNIT_EXPECT_EQ_MSG(test, out.mad_hdr.mgmt_class, c->mgmt_class, "case %u", i);
		vib_packet_free(pkt);
	}
	/* None of them is an error of the link. */
	KUNIT_EXPECT_EQ(test, vib_port_counter(in, VIB_RCV_ERRORS), 0);
	KUNIT_EXPECT_EQ(test, vib_port_counter(in, VIB_RCV_DISCARDS), 5);
}

/* What the LRH says is no transport packet is none, whatever is behind the LRH (7.7). */
static void raw_packets_are_no_mads(struct kunit *test)
{
	static const u8 lnhs[] = { IB_LNH_RAW, IB_LNH_IP };
	struct fab_spec specs[] = { smp(), gmp() };
	struct vib_packet *pkt;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		if (i / 2)
			fill_gmp();
		else
			fill_smp();
		pkt = fab_packet(test, &specs[i / 2]);
		pkt->hdr.lrh[0] &= ~cpu_to_be16(IB_LNH_MASK);
		pkt->hdr.lrh[0] |= cpu_to_be16(lnhs[i % 2]);
		vib_port_xmit(fab_port(a, 1), pkt);
		KUNIT_EXPECT_EQ_MSG(test, fab_count(fab, a), 0, "packet %u", i);
	}
	KUNIT_EXPECT_EQ(test, vib_port_counter(in, VIB_RCV_ERRORS), 4);
}

/* Nor is one whose length is not the one that its LRH has (7.7). */
static void a_mad_of_another_length_is_malformed(struct kunit *test)
{
	struct fab_spec spec = smp();
	struct vib_packet *pkt = fab_packet(test, &spec);

	be16_add_cpu(&pkt->hdr.lrh[2], 1);
	vib_port_xmit(fab_port(a, 1), pkt);
	KUNIT_EXPECT_EQ(test, fab_count(fab, a), 0);
	KUNIT_EXPECT_EQ(test, vib_port_counter(in, VIB_RCV_ERRORS), 1);
}

static void what_is_no_mad_is_not_answered(struct kunit *test)
{
	static const u16 lens[] = { 0, 24, 255, 257, 4096 };
	struct fab_spec spec = gmp();
	struct vib_packet *pkt;
	unsigned int i;

	spec.mad = NULL;
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		spec.len = lens[i];
		KUNIT_EXPECT_NULL_MSG(test, ask(&spec), "%u bytes", lens[i]);
	}
	/* With immediate data, and of a connection */
	spec = gmp();
	pkt = fab_packet(test, &spec);
	pkt->hdr_len += 4;
	pkt->hdr.u.oth.bth[0] |= cpu_to_be32(1 << IB_BTH_OPCODE_SHIFT);
	vib_packet_finish(pkt, 0, 0, SW_LID, A_LID);
	vib_port_xmit(fab_port(a, 1), pkt);
	pkt = fab_packet(test, &spec);
	pkt->hdr.u.oth.bth[0] &= cpu_to_be32(~(0xffU << IB_BTH_OPCODE_SHIFT));
	vib_port_xmit(fab_port(a, 1), pkt);
	KUNIT_EXPECT_EQ(test, fab_count(fab, a), 0);
	KUNIT_EXPECT_EQ(test, vib_port_counter(in, VIB_RCV_ERRORS), ARRAY_SIZE(lens) + 2);
}

/* ---- the way back ---- */

static void a_response_is_forwarded_by_the_tables(struct kunit *test)
{
	struct fab_spec spec = gmp();
	struct vib_packet *pkt;

	spec.slid = B_LID;
	KUNIT_EXPECT_NULL(test, ask(&spec));
	pkt = fab_take(fab, b);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	KUNIT_EXPECT_EQ(test, vib_packet_dlid(pkt), B_LID);
	vib_packet_free(pkt);
	spec = smp();
	spec.slid = B_LID;
	KUNIT_EXPECT_NULL(test, ask(&spec));
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), 1);
	/* To a LID that leads nowhere */
	spec.slid = 77;
	KUNIT_EXPECT_NULL(test, ask(&spec));
	KUNIT_EXPECT_EQ(test, vib_port_counter(port0, VIB_RCV_SWITCH_RELAY_ERRORS), 1);
}

/* Requests in the switch's own name come to no end but one. */
static void a_switch_does_not_talk_to_itself(struct kunit *test)
{
	struct fab_spec spec = gmp();

	spec.slid = SW_LID;
	KUNIT_EXPECT_NULL(test, ask(&spec));
	spec = smp();
	spec.slid = SW_LID;
	KUNIT_EXPECT_NULL(test, ask(&spec));
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), 0);
	KUNIT_EXPECT_EQ(test, a->node->ports[1].tx.credits[0], fab->full);
	KUNIT_EXPECT_EQ(test, a->node->ports[1].tx.credits[15], fab->full);
}

static void a_request_is_long_gone_when_it_is_answered(struct kunit *test)
{
	struct fab_spec spec = smp();
	struct vib_packet *pkt = fab_packet(test, &spec);

	/* The response may go as far as the request came. */
	pkt->hops = VIB_MAX_HOPS - 1;
	vib_port_xmit(fab_port(a, 1), pkt);
	pkt = fab_take(fab, a);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	KUNIT_EXPECT_EQ(test, pkt->hops, 1);
	vib_packet_free(pkt);
}

/* It is made in the request's packet, which has its room until the response has some. */
static void a_response_waits_in_the_requests_place(struct kunit *test)
{
	struct fab_spec spec = gmp();

	fab_starve(in, 0);
	KUNIT_EXPECT_NULL(test, ask(&spec));
	KUNIT_EXPECT_EQ(test, in->tx.total, 1);
	KUNIT_EXPECT_EQ(test, a->node->ports[1].tx.credits[0], fab->full - 5);
	fab_feed(in, 0, 5);
	KUNIT_EXPECT_EQ(test, fab_count(fab, a), 1);
	KUNIT_EXPECT_EQ(test, a->node->ports[1].tx.credits[0], fab->full);
	fab_drop(a);
	KUNIT_EXPECT_EQ(test, in->tx.credits[0], 5);
}

/* ---- traps 257 and 258 ---- */

/* Takes b's packets until one is a Notice with @number. */
static bool take_notice(u16 number, struct ib_mad_notice_attr *notice)
{
	struct vib_packet *pkt;
	struct ib_smp trap;

	while ((pkt = fab_take(fab, b))) {
		memset(&trap, 0, sizeof(trap));
		vib_packet_read(pkt, 0, &trap, sizeof(trap));
		vib_packet_free(pkt);
		memcpy(notice, trap.data, sizeof(*notice));
		if (trap.method == IB_MGMT_METHOD_TRAP && trap.attr_id == IB_SMP_ATTR_NOTICE &&
		    be16_to_cpu(notice->trap_num) == number)
			return true;
	}
	return false;
}

static void the_manager_is_told_of_wrong_keys(struct kunit *test)
{
	struct fab_spec spec = gmp();
	struct ib_mad_notice_attr notice;

	port0->sm_lid = B_LID;
	port0->info.clientrereg_resv_subnetto = 18;
	spec.pkey = 0x8123;
	spec.sl = 4;
	spec.sqp = 0x345;
	KUNIT_EXPECT_NULL(test, ask(&spec));
	KUNIT_ASSERT_TRUE(test, wait_within(take_notice(257, &notice), 5000));
	KUNIT_EXPECT_EQ(test, be16_to_cpu(notice.issuer_lid), SW_LID);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(notice.prod_type_lsb), 2);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(notice.details.ntc_257_258.lid1), A_LID);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(notice.details.ntc_257_258.lid2), SW_LID);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(notice.details.ntc_257_258.key), 0x8123);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(notice.details.ntc_257_258.sl_qp1), 0x40000345);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(notice.details.ntc_257_258.qp2), 1);
	spec = gmp();
	spec.qkey = 0x77;
	KUNIT_EXPECT_NULL(test, ask(&spec));
	KUNIT_ASSERT_TRUE(test, wait_within(take_notice(258, &notice), 5000));
	KUNIT_EXPECT_EQ(test, be32_to_cpu(notice.details.ntc_257_258.key), 0x77);
}

static struct kunit_case agent_cases[] = {
	KUNIT_CASE(smps_come_by_vl15_to_qp0),
	KUNIT_CASE(qp0_takes_any_key),
	KUNIT_CASE(an_smps_response_has_the_headers_of_one),
	KUNIT_CASE(gmps_come_by_a_data_lane_to_qp1),
	KUNIT_CASE(qp1_takes_the_pkeys_of_port_0),
	KUNIT_CASE(qp1_takes_one_qkey),
	KUNIT_CASE(a_gmps_response_goes_to_the_qp_that_asked),
	KUNIT_CASE(a_gmp_with_a_grh_is_answered_with_one),
	KUNIT_CASE(a_gmp_to_anothers_gid_is_not_answered),
	KUNIT_CASE(a_grh_has_to_be_one),
	KUNIT_CASE(classes_without_an_agent),
	KUNIT_CASE(raw_packets_are_no_mads),
	KUNIT_CASE(a_mad_of_another_length_is_malformed),
	KUNIT_CASE(what_is_no_mad_is_not_answered),
	KUNIT_CASE(a_response_is_forwarded_by_the_tables),
	KUNIT_CASE(a_switch_does_not_talk_to_itself),
	KUNIT_CASE(a_request_is_long_gone_when_it_is_answered),
	KUNIT_CASE(a_response_waits_in_the_requests_place),
	KUNIT_CASE(the_manager_is_told_of_wrong_keys),
	{}
};

static struct kunit_suite agent_suite = {
	.name = "vib_agent",
	.init = agent_test_init,
	.test_cases = agent_cases,
};

kunit_test_suite(agent_suite);
