// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Directed routes and MADs at a switch (IBA vol. 1, 14.2.2, 18.2.4.1). */
#include <rdma/ib_pma.h>
#include "mgmt_node.h"

#define PORTS	4

enum { OUT, BACK };
/* Are DrSLID and DrDLID permissive: nothing before, behind the directed part? */
enum { NEITHER = 0, SLID = 1, DLID = 2, BOTH = 3 };

#define LOCAL	VIB_SMP_LOCAL
#define SEND	VIB_SMP_SEND
#define TO_LID	VIB_SMP_LID
#define DISCARD	VIB_SMP_DISCARD

struct hop_case {
	u8 direction, permissive;
	u8 port;		/* it came in by */
	u8 hop_cnt, hop_ptr;
	u8 verdict;
	u8 out;			/* port with SEND, LID with TO_LID */
	u8 ptr_after;
	u8 returns_at;		/* entry of the return path that is set to port */
};

/* The path out is 1 2 3 4, the path back 4 3 2 1; DrSLID is 5, DrDLID is 6. */
static const struct hop_case hop_cases[] = {
	/* 14.2.2.2, C14-9: 1, a LID has led it to where its directed part begins */
	{ OUT, DLID,	3, 2, 0, SEND, 1, 1, 0 },
	{ OUT, NEITHER,	3, 2, 0, SEND, 1, 1, 0 },
	{ OUT, DLID,	3, 63, 0, SEND, 1, 1, 0 },
	{ OUT, DLID,	3, 64, 0, DISCARD, 0, 0, 0 },
	/* 2, in the middle */
	{ OUT, BOTH,	3, 2, 1, SEND, 2, 2, 1 },
	{ OUT, BOTH,	3, 3, 1, SEND, 2, 2, 1 },
	{ OUT, BOTH,	3, 3, 2, SEND, 3, 3, 2 },
	{ OUT, NEITHER,	1, 4, 3, SEND, 4, 4, 3 },
	/* 3, the end of the directed part */
	{ OUT, BOTH,	3, 1, 1, LOCAL, 0, 2, 1 },
	{ OUT, DLID,	3, 2, 2, LOCAL, 0, 3, 2 },
	{ OUT, SLID,	3, 2, 2, TO_LID, 6, 3, 2 },
	{ OUT, NEITHER,	3, 2, 2, TO_LID, 6, 3, 2 },
	{ OUT, BOTH,	3, 63, 63, LOCAL, 0, 64, 63 },
	{ OUT, BOTH,	3, 0, 0, LOCAL, 0, 1, 0 },
	{ OUT, SLID,	3, 0, 0, TO_LID, 6, 1, 0 },
	/* 4, LID routed to the responder; 5, beyond it */
	{ OUT, SLID,	3, 2, 3, LOCAL, 0, 3, 0 },
	{ OUT, BOTH,	3, 63, 64, LOCAL, 0, 64, 0 },
	{ OUT, BOTH,	3, 2, 4, DISCARD, 0, 4, 0 },
	{ OUT, BOTH,	3, 0, 2, DISCARD, 0, 2, 0 },
	{ OUT, BOTH,	3, 1, 255, DISCARD, 0, 255, 0 },
	{ OUT, BOTH,	3, 255, 1, DISCARD, 0, 1, 0 },

	/* 14.2.2.4, C14-13: 1, from the responder, or LID routed from it */
	{ BACK, BOTH,	0, 3, 4, SEND, 2, 3, 0 },
	{ BACK, SLID,	2, 3, 4, SEND, 2, 3, 0 },
	{ BACK, BOTH,	0, 1, 2, SEND, 4, 1, 0 },
	/* 2, in the middle */
	{ BACK, BOTH,	2, 3, 3, SEND, 3, 2, 0 },
	{ BACK, BOTH,	2, 3, 2, SEND, 4, 1, 0 },
	/* 3, back where the directed part began */
	{ BACK, BOTH,	1, 2, 1, LOCAL, 0, 0, 0 },
	{ BACK, DLID,	1, 2, 1, TO_LID, 5, 0, 0 },
	{ BACK, DLID,	0, 0, 1, TO_LID, 5, 0, 0 },
	/* 4, LID routed to the manager; 5, past it */
	{ BACK, DLID,	1, 2, 0, LOCAL, 0, 0, 0 },
	{ BACK, BOTH,	1, 2, 4, DISCARD, 0, 4, 0 },
	{ BACK, BOTH,	1, 0, 2, DISCARD, 0, 2, 0 },
	{ BACK, BOTH,	1, 64, 1, DISCARD, 0, 1, 0 },
};

static struct ib_smp smp, before;

static void smp_fill(const struct hop_case *c)
{
	unsigned int i;

	mgmt_smp(&smp, IB_MGMT_METHOD_GET, IB_SMP_ATTR_NODE_INFO, 0);
	smp.mgmt_class = IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
	smp.status = c->direction == BACK ? IB_SMP_DIRECTION : 0;
	smp.hop_cnt = c->hop_cnt;
	smp.hop_ptr = c->hop_ptr;
	smp.dr_slid = c->permissive & SLID ? IB_LID_PERMISSIVE : cpu_to_be16(5);
	smp.dr_dlid = c->permissive & DLID ? IB_LID_PERMISSIVE : cpu_to_be16(6);
	for (i = 1; i <= PORTS; i++) {
		smp.initial_path[i] = i;
		smp.return_path[i] = PORTS + 1 - i;
	}
}

static void every_boundary_of_a_route(struct kunit *test)
{
	struct vib_switch *sw = mgmt_switch_new(test, PORTS);
	const struct hop_case *c;
	struct vib_smp_next next;
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(hop_cases); n++) {
		c = &hop_cases[n];
		smp_fill(c);
		before = smp;
		next = vib_smp_hop(&sw->node, c->port, &smp);
		KUNIT_EXPECT_EQ_MSG(test, next.verdict, c->verdict, "case %u", n);
		if (c->verdict == SEND)
			KUNIT_EXPECT_EQ_MSG(test, next.out, c->out, "case %u", n);
		if (c->verdict == TO_LID)
			KUNIT_EXPECT_EQ_MSG(test, next.lid, c->out, "case %u", n);
		if (c->verdict == DISCARD)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, smp.hop_ptr, c->ptr_after, "case %u", n);
		/* Nothing but hop pointer and return path changes, and that at one place. */
		before.hop_ptr = smp.hop_ptr;
		if (c->returns_at)
			before.return_path[c->returns_at] = c->port;
		KUNIT_EXPECT_TRUE_MSG(test, !memcmp(&smp, &before, sizeof(smp)), "case %u", n);
	}
}

/* A path may name any port, also those that are not there. */
static void paths_through_ports_that_are_not_there(struct kunit *test)
{
	static const struct hop_case out = { OUT, BOTH, 1, 3, 1, 0, 0, 0, 0 };
	static const struct hop_case back = { BACK, BOTH, 1, 3, 3, 0, 0, 0, 0 };
	struct vib_switch *sw = mgmt_switch_new(test, PORTS);
	unsigned int port;

	for (port = 0; port < 256; port++) {
		enum vib_smp_verdict verdict = port >= 1 && port <= PORTS ? SEND : DISCARD;

		smp_fill(&out);
		smp.initial_path[2] = port;
		KUNIT_EXPECT_EQ_MSG(test, vib_smp_hop(&sw->node, 1, &smp).verdict, verdict,
				    "port %u", port);
		smp_fill(&back);
		smp.return_path[2] = port;
		KUNIT_EXPECT_EQ_MSG(test, vib_smp_hop(&sw->node, 1, &smp).verdict, verdict,
				    "port %u", port);
	}
}

/* Behind the directed part lies a unicast LID, or nothing. */
static void parts_that_end_at_no_lid(struct kunit *test)
{
	struct vib_switch *sw = mgmt_switch_new(test, PORTS);
	static const u16 lids[] = { 0, 0xc000, 0xfffe };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lids); i++) {
		smp_fill(&(struct hop_case){ OUT, SLID, 1, 2, 2, 0, 0, 0, 0 });
		smp.dr_dlid = cpu_to_be16(lids[i]);
		KUNIT_EXPECT_EQ_MSG(test, vib_smp_hop(&sw->node, 1, &smp).verdict, DISCARD,
				    "LID %u", lids[i]);
	}
}

/* ---- packets ---- */

/* Two adapters, a at port 1 with LID 8, b at port 2 with LID 9, of a switch with LID 3. */
struct star {
	struct vib_switch *sw;
	struct mgmt_node *a, *b;
};

static void star_init(struct kunit *test, struct star *star)
{
	star->sw = mgmt_switch_new(test, PORTS);
	star->a = mgmt_node_new(test, 1);
	star->b = mgmt_node_new(test, 1);
	mgmt_join(&star->sw->node.ports[1], &star->a->node.ports[1], IB_PORT_ACTIVE);
	mgmt_join(&star->sw->node.ports[2], &star->b->node.ports[1], IB_PORT_ACTIVE);
	star->sw->node.ports[0].lid = 3;
	star->sw->lft[3] = 0;
	star->sw->lft[8] = 1;
	star->sw->lft[9] = 2;
}

static const struct mgmt_addr directed = {
	.vl = VIB_VL_MGMT, .dlid = VIB_LID_PERMISSIVE, .slid = VIB_LID_PERMISSIVE,
	.pkey = 0xffff,
};

/* From a to the switch. */
static const struct mgmt_addr by_lid = {
	.vl = VIB_VL_MGMT, .dlid = 3, .slid = 8, .pkey = 0xffff,
};

static const struct mgmt_addr gmp = {
	.dlid = 3, .slid = 8, .dqp = 1, .sqp = 1, .pkey = 0xffff, .qkey = IB_QP1_QKEY,
};

static void arrive(struct kunit *test, struct star *star, u8 port, const void *mad,
		   const struct mgmt_addr *addr)
{
	mgmt_arrive(&star->sw->node.ports[port], mgmt_packet(test, mad, addr));
}

static void expect_lids(struct kunit *test, struct mgmt_node *mn, u16 dlid, u16 slid)
{
	KUNIT_EXPECT_EQ(test, ib_get_dlid(&mn->hdr), dlid);
	KUNIT_EXPECT_EQ(test, ib_get_slid(&mn->hdr), slid);
}

/* From a by the switch's port 2, as it is on the link to the switch. */
static void fill_crossing(void)
{
	smp_fill(&(struct hop_case){ OUT, BOTH, 1, 2, 1, 0, 0, 0, 0 });
	memset(smp.return_path, 0, sizeof(smp.return_path));
}

static void an_smp_crosses_and_comes_back(struct kunit *test)
{
	struct star star;

	star_init(test, &star);
	fill_crossing();
	arrive(test, &star, 1, &smp, &directed);
	KUNIT_ASSERT_EQ(test, star.b->packets, 1);
	KUNIT_EXPECT_EQ(test, star.a->packets, 0);
	KUNIT_EXPECT_EQ(test, star.b->vl, VIB_VL_MGMT);
	expect_lids(test, star.b, VIB_LID_PERMISSIVE, VIB_LID_PERMISSIVE);
	KUNIT_EXPECT_EQ(test, star.b->smp.hop_ptr, 2);
	KUNIT_EXPECT_EQ(test, star.b->smp.return_path[1], 1);

	/* b's own SMI has set entry 2 and counted to 3, then back to 2. */
	smp = star.b->smp;
	smp.return_path[2] = 1;
	smp.method = IB_MGMT_METHOD_GET_RESP;
	smp.status = IB_SMP_DIRECTION;
	arrive(test, &star, 2, &smp, &directed);
	KUNIT_ASSERT_EQ(test, star.a->packets, 1);
	KUNIT_EXPECT_EQ(test, star.a->smp.hop_ptr, 1);
}

/* A link that is not up yet as far as data goes passes SMPs. */
static void smps_pass_before_the_manager(struct kunit *test)
{
	struct star star;

	star_init(test, &star);
	star.sw->node.ports[0].lid = 0;
	mgmt_join(&star.sw->node.ports[2], &star.b->node.ports[1], IB_PORT_INIT);
	fill_crossing();
	arrive(test, &star, 1, &smp, &directed);
	KUNIT_EXPECT_EQ(test, star.b->packets, 1);
	star.sw->node.ports[2].state = IB_PORT_DOWN;
	arrive(test, &star, 1, &smp, &directed);
	KUNIT_EXPECT_EQ(test, star.b->packets, 1);
}

static void a_switch_answers_the_way_it_was_asked(struct kunit *test)
{
	struct ib_node_info *info;
	struct star star;

	star_init(test, &star);
	smp_fill(&(struct hop_case){ OUT, BOTH, 1, 1, 1, 0, 0, 0, 0 });
	arrive(test, &star, 1, &smp, &directed);
	KUNIT_ASSERT_EQ(test, star.a->packets, 1);
	expect_lids(test, star.a, VIB_LID_PERMISSIVE, VIB_LID_PERMISSIVE);
	KUNIT_EXPECT_EQ(test, star.a->smp.method, IB_MGMT_METHOD_GET_RESP);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(star.a->smp.status), 0x8000);
	KUNIT_EXPECT_EQ(test, star.a->smp.hop_ptr, 1);
	KUNIT_EXPECT_EQ(test, star.a->smp.return_path[1], 1);
	info = (struct ib_node_info *)star.a->smp.data;
	KUNIT_EXPECT_EQ(test, info->node_type, 2);
	KUNIT_EXPECT_EQ(test, info->local_port_num, 1);
}

static void what_comes_back_to_a_switch_is_dropped(struct kunit *test)
{
	struct star star;

	star_init(test, &star);
	smp_fill(&(struct hop_case){ BACK, BOTH, 1, 2, 1, 0, 0, 0, 0 });
	smp.method = IB_MGMT_METHOD_GET_RESP;
	arrive(test, &star, 1, &smp, &directed);
	KUNIT_EXPECT_EQ(test, star.a->packets + star.b->packets, 0);
	KUNIT_EXPECT_EQ(test, vib_port_counter(&star.sw->node.ports[1], VIB_VL15_DROPPED), 1);
}

/* Its memory may be the sender's, or shared with other packets. */
static void what_a_sender_keeps_is_not_changed(struct kunit *test)
{
	struct vib_payload *payload;
	struct vib_packet *pkt;
	struct star star;

	star_init(test, &star);
	fill_crossing();
	pkt = mgmt_packet(test, &smp, &directed);
	payload = pkt->payload;
	refcount_inc(&payload->ref);
	mgmt_arrive(&star.sw->node.ports[1], pkt);
	KUNIT_EXPECT_EQ(test, star.b->packets, 1);
	KUNIT_EXPECT_TRUE(test, !memcmp(payload->data, &smp, sizeof(smp)));
	KUNIT_EXPECT_EQ(test, refcount_read(&payload->ref), 1);
	vib_payload_put(payload);
}

static void a_directed_part_ends_at_a_lid(struct kunit *test)
{
	struct star star;

	/* One hop to the switch, then by LID to b. */
	star_init(test, &star);
	smp_fill(&(struct hop_case){ OUT, SLID, 1, 1, 1, 0, 0, 0, 0 });
	smp.dr_dlid = cpu_to_be16(9);
	arrive(test, &star, 1, &smp, &directed);
	KUNIT_ASSERT_EQ(test, star.b->packets, 1);
	expect_lids(test, star.b, 9, 3);
	KUNIT_EXPECT_EQ(test, star.b->smp.hop_ptr, 2);

	/* b answers the switch's LID, and it goes on as it came. */
	smp = star.b->smp;
	smp.method = IB_MGMT_METHOD_GET_RESP;
	smp.status = IB_SMP_DIRECTION;
	arrive(test, &star, 2, &smp, &(struct mgmt_addr){
		.vl = VIB_VL_MGMT, .dlid = 3, .slid = 9, .pkey = 0xffff,
	});
	KUNIT_ASSERT_EQ(test, star.a->packets, 1);
	expect_lids(test, star.a, VIB_LID_PERMISSIVE, VIB_LID_PERMISSIVE);
	KUNIT_EXPECT_EQ(test, star.a->smp.hop_ptr, 1);
}

static void a_directed_part_begins_at_a_lid(struct kunit *test)
{
	struct star star;

	/* By LID to the switch, then one hop to b. */
	star_init(test, &star);
	smp_fill(&(struct hop_case){ OUT, DLID, 1, 1, 0, 0, 0, 0, 0 });
	smp.dr_slid = cpu_to_be16(8);
	smp.initial_path[1] = 2;
	arrive(test, &star, 1, &smp, &by_lid);
	KUNIT_ASSERT_EQ(test, star.b->packets, 1);
	expect_lids(test, star.b, VIB_LID_PERMISSIVE, VIB_LID_PERMISSIVE);
	KUNIT_EXPECT_EQ(test, star.b->smp.hop_ptr, 1);

	smp = star.b->smp;
	smp.method = IB_MGMT_METHOD_GET_RESP;
	smp.status = IB_SMP_DIRECTION;
	arrive(test, &star, 2, &smp, &directed);
	KUNIT_ASSERT_EQ(test, star.a->packets, 1);
	expect_lids(test, star.a, 8, 3);
	KUNIT_EXPECT_EQ(test, star.a->smp.hop_ptr, 0);
}

static void a_switch_answers_at_the_end_of_a_lid(struct kunit *test)
{
	struct star star;

	star_init(test, &star);
	smp_fill(&(struct hop_case){ OUT, SLID, 1, 2, 3, 0, 0, 0, 0 });
	smp.dr_dlid = cpu_to_be16(3);
	arrive(test, &star, 1, &smp, &by_lid);
	KUNIT_ASSERT_EQ(test, star.a->packets, 1);
	expect_lids(test, star.a, 8, 3);
	KUNIT_EXPECT_EQ(test, star.a->smp.hop_ptr, 3);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(star.a->smp.status), 0x8000);
}

/* ---- to the switch's LID ---- */

static void an_smp_to_the_lid_is_answered(struct kunit *test)
{
	struct star star;

	star_init(test, &star);
	mgmt_smp(&smp, IB_MGMT_METHOD_GET, IB_SMP_ATTR_NODE_INFO, 0);
	arrive(test, &star, 1, &smp, &by_lid);
	KUNIT_ASSERT_EQ(test, star.a->packets, 1);
	expect_lids(test, star.a, 8, 3);
	KUNIT_EXPECT_EQ(test, star.a->vl, VIB_VL_MGMT);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(star.a->smp.status), 0);
	KUNIT_EXPECT_EQ(test, ib_bth_get_qpn(&star.a->hdr.u.oth), 0);
	/* There is no manager that could take the other one. */
	mgmt_smp(&smp, IB_MGMT_METHOD_GET, IB_SMP_ATTR_SM_INFO, 0);
	arrive(test, &star, 1, &smp, &by_lid);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(star.a->smp.status), 0xc);
	mgmt_smp(&smp, IB_MGMT_METHOD_GET_RESP, IB_SMP_ATTR_NODE_INFO, 0);
	arrive(test, &star, 1, &smp, &by_lid);
	KUNIT_EXPECT_EQ(test, star.a->packets, 2);
}

static void an_smp_to_the_next_node_needs_no_lid(struct kunit *test)
{
	struct star star;

	star_init(test, &star);
	mgmt_smp(&smp, IB_MGMT_METHOD_GET, IB_SMP_ATTR_NODE_INFO, 0);
	arrive(test, &star, 2, &smp, &directed);
	KUNIT_ASSERT_EQ(test, star.b->packets, 1);
	expect_lids(test, star.b, VIB_LID_PERMISSIVE, VIB_LID_PERMISSIVE);
	KUNIT_EXPECT_EQ(test, star.b->smp.method, IB_MGMT_METHOD_GET_RESP);
}

static void perf_get(struct ib_mad *mad)
{
	memset(mad, 0, sizeof(*mad));
	mad->mad_hdr.base_version = IB_MGMT_BASE_VERSION;
	mad->mad_hdr.mgmt_class = IB_MGMT_CLASS_PERF_MGMT;
	mad->mad_hdr.class_version = 1;
	mad->mad_hdr.method = IB_MGMT_METHOD_GET;
	mad->mad_hdr.attr_id = IB_PMA_CLASS_PORT_INFO;
}

static void counters_are_asked_for_at_qp1(struct kunit *test)
{
	struct mgmt_addr addr = gmp;
	struct star star;
	struct ib_mad mad;

	star_init(test, &star);
	perf_get(&mad);
	addr.sqp = 0x345;
	arrive(test, &star, 1, &mad, &addr);
	KUNIT_ASSERT_EQ(test, star.a->packets, 1);
	expect_lids(test, star.a, 8, 3);
	KUNIT_EXPECT_EQ(test, star.a->vl, 0);
	KUNIT_EXPECT_EQ(test, star.a->mad.mad_hdr.method, IB_MGMT_METHOD_GET_RESP);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(star.a->mad.mad_hdr.status), 0);
	KUNIT_EXPECT_EQ(test, ib_bth_get_qpn(&star.a->hdr.u.oth), 0x345);
	KUNIT_EXPECT_EQ(test, ib_get_sqpn(&star.a->hdr.u.oth), 1);
	KUNIT_EXPECT_EQ(test, ib_get_qkey(&star.a->hdr.u.oth), IB_QP1_QKEY);
	KUNIT_EXPECT_EQ(test, ib_bth_get_pkey(&star.a->hdr.u.oth), 0xffff);

	mad.mad_hdr.mgmt_class = IB_MGMT_CLASS_DEVICE_MGMT;
	arrive(test, &star, 1, &mad, &gmp);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(star.a->mad.mad_hdr.status), 0xc);
}

static void wrong_keys_are_counted(struct kunit *test)
{
	struct mgmt_addr bad_pkey = gmp, bad_qkey = gmp;
	struct ib_port_info *info;
	struct star star;
	struct ib_mad mad;

	star_init(test, &star);
	info = &star.sw->node.ports[0].info;
	perf_get(&mad);
	bad_pkey.pkey = 0x8001;
	arrive(test, &star, 1, &mad, &bad_pkey);
	bad_qkey.qkey = 1;
	arrive(test, &star, 1, &mad, &bad_qkey);
	KUNIT_EXPECT_EQ(test, star.a->packets, 0);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(info->pkey_violations), 1);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(info->qkey_violations), 1);
}

/* What is no MAD, or of a class that does not come that way. */
static void what_no_agent_takes_is_counted(struct kunit *test)
{
	struct mgmt_addr addr;
	struct vib_packet *pkt;
	struct vib_port *port;
	struct star star;
	struct ib_mad mad;

	star_init(test, &star);
	port = &star.sw->node.ports[1];
	perf_get(&mad);
	mgmt_smp(&smp, IB_MGMT_METHOD_GET, IB_SMP_ATTR_NODE_INFO, 0);
	/* SMPs by a data VL, or to QP1; GMPs by VL15 */
	arrive(test, &star, 1, &smp, &gmp);
	addr = by_lid;
	addr.vl = 0;
	arrive(test, &star, 1, &smp, &addr);
	KUNIT_EXPECT_EQ(test, vib_port_counter(port, VIB_RCV_ERRORS), 2);
	arrive(test, &star, 1, &mad, &by_lid);
	addr = by_lid;
	addr.dqp = 1;
	arrive(test, &star, 1, &smp, &addr);
	addr = directed;
	addr.dqp = 2;
	arrive(test, &star, 1, &smp, &addr);
	KUNIT_EXPECT_EQ(test, vib_port_counter(port, VIB_VL15_DROPPED), 3);
	/* Too short, and another opcode */
	pkt = mgmt_packet(test, &smp, &directed);
	pkt->len = 100;
	vib_packet_finish(pkt, VIB_VL_MGMT, 0, VIB_LID_PERMISSIVE, VIB_LID_PERMISSIVE);
	mgmt_arrive(port, pkt);
	pkt = mgmt_packet(test, &smp, &directed);
	pkt->hdr.u.oth.bth[0] = cpu_to_be32(IB_OPCODE_RC_SEND_ONLY << IB_BTH_OPCODE_SHIFT);
	mgmt_arrive(port, pkt);
	KUNIT_EXPECT_EQ(test, vib_port_counter(port, VIB_VL15_DROPPED), 5);
	KUNIT_EXPECT_EQ(test, star.a->packets + star.b->packets, 0);
}

/* A response would have nowhere to go. */
static void senders_without_a_lid_get_no_answer(struct kunit *test)
{
	static const u16 lids[] = { 0, 0xc001, 0x77 };
	struct mgmt_addr addr = by_lid;
	struct star star;
	unsigned int i;

	star_init(test, &star);
	mgmt_smp(&smp, IB_MGMT_METHOD_GET, IB_SMP_ATTR_NODE_INFO, 0);
	for (i = 0; i < ARRAY_SIZE(lids); i++) {
		addr.slid = lids[i];
		arrive(test, &star, 1, &smp, &addr);
	}
	KUNIT_EXPECT_EQ(test, star.a->packets + star.b->packets, 0);
	KUNIT_EXPECT_EQ(test, vib_port_counter(&star.sw->node.ports[0], VIB_RCV_ERRORS), 2);
}

static struct kunit_case smp_route_cases[] = {
	KUNIT_CASE(every_boundary_of_a_route),
	KUNIT_CASE(paths_through_ports_that_are_not_there),
	KUNIT_CASE(parts_that_end_at_no_lid),
	KUNIT_CASE(an_smp_crosses_and_comes_back),
	KUNIT_CASE(smps_pass_before_the_manager),
	KUNIT_CASE(a_switch_answers_the_way_it_was_asked),
	KUNIT_CASE(what_comes_back_to_a_switch_is_dropped),
	KUNIT_CASE(what_a_sender_keeps_is_not_changed),
	KUNIT_CASE(a_directed_part_ends_at_a_lid),
	KUNIT_CASE(a_directed_part_begins_at_a_lid),
	KUNIT_CASE(a_switch_answers_at_the_end_of_a_lid),
	KUNIT_CASE(an_smp_to_the_lid_is_answered),
	KUNIT_CASE(an_smp_to_the_next_node_needs_no_lid),
	KUNIT_CASE(counters_are_asked_for_at_qp1),
	KUNIT_CASE(wrong_keys_are_counted),
	KUNIT_CASE(what_no_agent_takes_is_counted),
	KUNIT_CASE(senders_without_a_lid_get_no_answer),
	{}
};

static struct kunit_suite smp_route_suite = {
	.name = "vib_smp_route",
	.test_cases = smp_route_cases,
};

kunit_test_suite(smp_route_suite);
