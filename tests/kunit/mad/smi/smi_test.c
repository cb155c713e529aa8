// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Directed routes: every boundary of IBA volume 1, 14.2.2, for CAs and switches. */
#include "mad/mad_test.h"

#define PORTS	4		/* of the switch */

/* The node that processes the SMP. */
enum { CA, SWITCH };
/* Whether the SMP was received, or is sent by this node's own SM or SMA. */
enum { RECEIVED, SENT };
enum { OUT, BACK };
/* Which of DrSLID, DrDLID is permissive: nothing is LID routed before, or after. */
enum { NEITHER = 0, SLID = 1, DLID = 2, BOTH = 3 };

#define LOCAL	IBMAD_SMI_LOCAL
#define SEND	IBMAD_SMI_SEND
#define DISCARD	IBMAD_SMI_DISCARD

struct smi_case {
	u8 node, way, direction, permissive;
	u32 port;		/* the one that received it, or that sends it */
	u8 hop_cnt, hop_ptr;
	u8 verdict;
	u8 out_port;		/* with SEND */
	u8 ptr_after;
	u8 returns_at;		/* entry of the return path that is set to port */
};

/* The initial path is 1 2 3 4, the return path 4 3 2 1. */
static const struct smi_case smi_cases[] = {
	/* 14.2.2.2, C14-9: 1, the requester's node */
	{ CA,	  SENT,	    OUT, BOTH,	  1, 1,  0,  SEND, 1, 1, 0 },
	{ CA,	  SENT,	    OUT, BOTH,	  1, 63, 0,  SEND, 1, 1, 0 },
	{ CA,	  SENT,	    OUT, SLID,	  1, 1,  0,  SEND, 1, 1, 0 },
	{ CA,	  SENT,	    OUT, BOTH,	  2, 1,  0,  DISCARD, 0, 1, 0 },
	{ CA,	  SENT,	    OUT, BOTH,	  1, 64, 0,  DISCARD, 0, 0, 0 },
	{ CA,	  RECEIVED, OUT, BOTH,	  1, 1,  0,  DISCARD, 0, 0, 0 },
	{ SWITCH, SENT,	    OUT, BOTH,	  0, 2,  0,  SEND, 1, 1, 0 },
	/* LID routed to the switch where the directed part begins */
	{ CA,	  SENT,	    OUT, DLID,	  1, 2,  0,  SEND, 1, 0, 0 },
	{ CA,	  SENT,	    OUT, NEITHER, 2, 2,  0,  SEND, 2, 0, 0 },
	{ SWITCH, RECEIVED, OUT, DLID,	  3, 2,  0,  SEND, 1, 1, 0 },
	/* 2, in the middle */
	{ CA,	  RECEIVED, OUT, BOTH,	  1, 2,  1,  DISCARD, 0, 1, 0 },
	{ CA,	  SENT,	    OUT, BOTH,	  1, 2,  1,  DISCARD, 0, 1, 0 },
	{ SWITCH, SENT,	    OUT, BOTH,	  0, 2,  1,  DISCARD, 0, 1, 0 },
	{ SWITCH, RECEIVED, OUT, BOTH,	  3, 2,  1,  SEND, 2, 2, 1 },
	{ SWITCH, RECEIVED, OUT, BOTH,	  3, 3,  1,  SEND, 2, 2, 1 },
	{ SWITCH, RECEIVED, OUT, BOTH,	  3, 3,  2,  SEND, 3, 3, 2 },
	{ SWITCH, RECEIVED, OUT, NEITHER, 1, 4,  3,  SEND, 4, 4, 3 },
	/* 3, the end of the directed part */
	{ CA,	  RECEIVED, OUT, BOTH,	  2, 1,  1,  LOCAL, 0, 2, 1 },
	{ CA,	  RECEIVED, OUT, DLID,	  2, 1,  1,  LOCAL, 0, 2, 1 },
	{ CA,	  RECEIVED, OUT, SLID,	  2, 1,  1,  DISCARD, 0, 1, 1 },
	{ CA,	  RECEIVED, OUT, BOTH,	  1, 63, 63, LOCAL, 0, 64, 63 },
	{ CA,	  RECEIVED, OUT, BOTH,	  1, 64, 64, DISCARD, 0, 64, 0 },
	{ CA,	  RECEIVED, OUT, BOTH,	  1, 0,  0,  LOCAL, 0, 1, 0 },
	{ CA,	  RECEIVED, OUT, SLID,	  1, 0,  0,  DISCARD, 0, 0, 0 },
	{ CA,	  SENT,	    OUT, BOTH,	  1, 0,  0,  LOCAL, 0, 1, 0 },
	{ CA,	  SENT,	    OUT, SLID,	  1, 0,  0,  DISCARD, 0, 0, 0 },
	{ SWITCH, SENT,	    OUT, BOTH,	  0, 0,  0,  LOCAL, 0, 1, 0 },
	{ SWITCH, RECEIVED, OUT, BOTH,	  3, 2,  2,  LOCAL, 0, 3, 2 },
	{ SWITCH, RECEIVED, OUT, SLID,	  3, 2,  2,  DISCARD, 0, 2, 2 },
	/* 4, LID routed to the responder; 5, beyond it */
	{ CA,	  RECEIVED, OUT, SLID,	  1, 1,  2,  LOCAL, 0, 2, 0 },
	{ CA,	  RECEIVED, OUT, BOTH,	  1, 63, 64, LOCAL, 0, 64, 0 },
	{ CA,	  RECEIVED, OUT, BOTH,	  1, 0,  1,  LOCAL, 0, 1, 0 },
	{ SWITCH, RECEIVED, OUT, SLID,	  3, 2,  3,  LOCAL, 0, 3, 0 },
	{ CA,	  RECEIVED, OUT, BOTH,	  1, 1,  3,  DISCARD, 0, 3, 0 },
	{ CA,	  RECEIVED, OUT, BOTH,	  1, 0,  2,  DISCARD, 0, 2, 0 },
	{ CA,	  RECEIVED, OUT, BOTH,	  1, 1,  65, DISCARD, 0, 65, 0 },
	{ CA,	  RECEIVED, OUT, BOTH,	  1, 1, 255, DISCARD, 0, 255, 0 },
	{ CA,	  RECEIVED, OUT, BOTH,	  1, 255, 1, DISCARD, 0, 1, 0 },
	{ SWITCH, RECEIVED, OUT, BOTH,	  3, 2,  4,  DISCARD, 0, 4, 0 },

	/* 14.2.2.4, C14-13: 1, the responder's node */
	{ CA,	  SENT,	    BACK, BOTH,	  4, 1,  2,  SEND, 4, 1, 0 },
	{ CA,	  SENT,	    BACK, BOTH,	  3, 2,  3,  SEND, 3, 2, 0 },
	/* with a LID routed part between the responder and the directed part */
	{ CA,	  SENT,	    BACK, NEITHER, 3, 2, 3,  SEND, 3, 3, 0 },
	{ CA,	  SENT,	    BACK, SLID,	  1, 2,  3,  SEND, 1, 3, 0 },
	{ CA,	  SENT,	    BACK, SLID,	  1, 1,  2,  SEND, 1, 2, 0 },
	{ CA,	  SENT,	    BACK, BOTH,	  1, 2,  3,  DISCARD, 0, 2, 0 },
	{ SWITCH, SENT,	    BACK, BOTH,	  0, 3,  4,  SEND, 2, 3, 0 },
	{ CA,	  RECEIVED, BACK, BOTH,	  4, 1,  2,  DISCARD, 0, 2, 0 },
	/* LID routed to the switch where the directed part ended */
	{ SWITCH, RECEIVED, BACK, SLID,	  2, 3,  4,  SEND, 2, 3, 0 },
	/* 2, in the middle */
	{ CA,	  RECEIVED, BACK, BOTH,	  3, 2,  2,  DISCARD, 0, 2, 0 },
	{ CA,	  SENT,	    BACK, BOTH,	  3, 2,  2,  DISCARD, 0, 2, 0 },
	{ SWITCH, SENT,	    BACK, BOTH,	  0, 3,  2,  DISCARD, 0, 2, 0 },
	{ SWITCH, RECEIVED, BACK, BOTH,	  2, 3,  3,  SEND, 3, 2, 0 },
	{ SWITCH, RECEIVED, BACK, BOTH,	  2, 3,  2,  SEND, 4, 1, 0 },
	{ SWITCH, RECEIVED, BACK, BOTH,	  2, 2,  2,  SEND, 4, 1, 0 },
	/* 3, back where the directed part began */
	{ CA,	  RECEIVED, BACK, BOTH,	  1, 2,  1,  LOCAL, 0, 0, 0 },
	{ CA,	  RECEIVED, BACK, SLID,	  1, 2,  1,  LOCAL, 0, 0, 0 },
	{ CA,	  RECEIVED, BACK, DLID,	  1, 2,  1,  DISCARD, 0, 1, 0 },
	{ CA,	  SENT,	    BACK, BOTH,	  1, 0,  1,  LOCAL, 0, 0, 0 },
	{ SWITCH, RECEIVED, BACK, BOTH,	  1, 2,  1,  LOCAL, 0, 0, 0 },
	{ SWITCH, RECEIVED, BACK, DLID,	  1, 2,  1,  DISCARD, 0, 1, 0 },
	/* with a LID routed part from there to the SM */
	{ CA,	  SENT,	    BACK, DLID,	  1, 0,  1,  SEND, 1, 0, 0 },
	{ SWITCH, SENT,	    BACK, DLID,	  0, 0,  1,  SEND, 0, 0, 0 },
	/* 4, LID routed to the SM; 5, past it */
	{ CA,	  RECEIVED, BACK, DLID,	  1, 2,  0,  LOCAL, 0, 0, 0 },
	{ SWITCH, RECEIVED, BACK, BOTH,	  1, 2,  0,  LOCAL, 0, 0, 0 },
	{ CA,	  RECEIVED, BACK, BOTH,	  1, 2,  4,  DISCARD, 0, 4, 0 },
	{ CA,	  RECEIVED, BACK, BOTH,	  1, 0,  2,  DISCARD, 0, 2, 0 },
	{ CA,	  RECEIVED, BACK, BOTH,	  1, 64, 1,  DISCARD, 0, 1, 0 },
	{ CA,	  RECEIVED, BACK, BOTH,	  1, 2,  65, DISCARD, 0, 65, 0 },
	{ SWITCH, RECEIVED, BACK, BOTH,	  2, 3,  5,  DISCARD, 0, 5, 0 },
};

/* An SMP in the layout of InfiniBand or of OPA, which differ from dr_slid on. */
struct smi_smp {
	union {
		struct ib_smp ib;
		struct opa_smp opa;
	};
	u8 *initial, *returned;
};

static struct smi_smp smp, before;	/* 2 KiB each */

static void smi_fill(const struct smi_case *c, bool opa)
{
	int i;

	memset(&smp, 0, sizeof(smp));
	smp.ib.mgmt_class = IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
	smp.ib.method = IB_MGMT_METHOD_GET;
	smp.ib.status = c->direction == BACK ? IB_SMP_DIRECTION : 0;
	smp.ib.hop_cnt = c->hop_cnt;
	smp.ib.hop_ptr = c->hop_ptr;
	if (opa) {
		smp.opa.route.dr.dr_slid = c->permissive & SLID ?
					    OPA_LID_PERMISSIVE : cpu_to_be32(5);
		smp.opa.route.dr.dr_dlid = c->permissive & DLID ?
					    OPA_LID_PERMISSIVE : cpu_to_be32(6);
		smp.initial = smp.opa.route.dr.initial_path;
		smp.returned = smp.opa.route.dr.return_path;
	} else {
		smp.ib.dr_slid = c->permissive & SLID ? IB_LID_PERMISSIVE :
							 cpu_to_be16(5);
		smp.ib.dr_dlid = c->permissive & DLID ? IB_LID_PERMISSIVE :
							 cpu_to_be16(6);
		smp.initial = smp.ib.initial_path;
		smp.returned = smp.ib.return_path;
	}
	for (i = 1; i <= PORTS; i++) {
		smp.initial[i] = i;
		smp.returned[i] = PORTS + 1 - i;
	}
}

static enum ibmad_smi_verdict smi_run(const struct smi_case *c, bool opa,
				      u32 *out_port)
{
	struct ibmad_smi_node node = {
		.is_switch = c->node == SWITCH,
		.port_num = c->port,
		.num_ports = PORTS,
	};

	return c->way == RECEIVED ?
	       ibmad_smi_receive(&smp, opa, &node, out_port) :
	       ibmad_smi_originate(&smp, opa, &node, out_port);
}

static void smi_check(struct kunit *test, int n, bool opa)
{
	const struct smi_case *c = &smi_cases[n];
	u32 out_port = 99;

	smi_fill(c, opa);
	before = smp;
	KUNIT_EXPECT_EQ_MSG(test, smi_run(c, opa, &out_port), c->verdict,
			    "case %d, opa %d", n, opa);
	if (c->verdict == SEND)
		KUNIT_EXPECT_EQ_MSG(test, out_port, c->out_port, "case %d, opa %d", n,
				    opa);
	/* The rest of a discarded SMP does not matter. */
	if (c->verdict == DISCARD)
		return;
	KUNIT_EXPECT_EQ_MSG(test, smp.ib.hop_ptr, c->ptr_after, "case %d, opa %d", n,
			    opa);
	/* Only the hop pointer and one entry of the return path may change. */
	if (c->returns_at) {
		KUNIT_EXPECT_EQ_MSG(test, smp.returned[c->returns_at], c->port,
				    "case %d, opa %d", n, opa);
		smp.returned[c->returns_at] = c->returns_at > PORTS ? 0 :
					      PORTS + 1 - c->returns_at;
	}
	smp.ib.hop_ptr = before.ib.hop_ptr;
	KUNIT_EXPECT_TRUE_MSG(test, !memcmp(&smp.opa, &before.opa, sizeof(smp.opa)),
			      "case %d, opa %d", n, opa);
}

static void every_boundary_of_a_route(struct kunit *test)
{
	int n;

	for (n = 0; n < ARRAY_SIZE(smi_cases); n++) {
		smi_check(test, n, false);
		smi_check(test, n, true);
	}
}

/* A path may name any port number, even of ports that do not exist. */
static void paths_through_ports_that_are_not_there(struct kunit *test)
{
	static const struct smi_case out = {
		SWITCH, RECEIVED, OUT, BOTH, 1, 3, 1, 0, 0, 0, 0
	};
	static const struct smi_case back = {
		SWITCH, RECEIVED, BACK, BOTH, 1, 3, 3, 0, 0, 0, 0
	};
	u32 out_port;
	int port;

	for (port = 0; port < 256; port++) {
		bool there = port >= 1 && port <= PORTS;

		smi_fill(&out, false);
		smp.initial[2] = port;
		KUNIT_EXPECT_EQ_MSG(test, smi_run(&out, false, &out_port),
				    there ? SEND : DISCARD, "port %d", port);
		if (there)
			KUNIT_EXPECT_EQ(test, out_port, port);
		smi_fill(&back, false);
		smp.returned[2] = port;
		KUNIT_EXPECT_EQ_MSG(test, smi_run(&back, false, &out_port),
				    there ? SEND : DISCARD, "port %d", port);
		if (there)
			KUNIT_EXPECT_EQ(test, out_port, port);
	}
}

/* From a CA through three switches to another CA and back, by all steps of 14.2.2. */
static void there_and_back(struct kunit *test)
{
	static const u8 in_ports[] = { 3, 1, 2 };
	struct ibmad_smi_node ca = { .port_num = 1, .num_ports = 1 };
	struct ibmad_smi_node sw = { .is_switch = true, .num_ports = PORTS };
	u32 out_port;
	int i;

	smi_fill(&(struct smi_case){ .permissive = BOTH, .hop_cnt = 4 }, false);
	memset(smp.returned, 0, IB_SMP_MAX_PATH_HOPS);
	KUNIT_EXPECT_EQ(test, ibmad_smi_originate(&smp, false, &ca, &out_port), SEND);
	KUNIT_EXPECT_EQ(test, out_port, 1u);
	for (i = 0; i < 3; i++) {
		sw.port_num = in_ports[i];
		KUNIT_EXPECT_EQ(test, ibmad_smi_receive(&smp, false, &sw, &out_port), SEND);
		KUNIT_EXPECT_EQ(test, out_port, i + 2);
	}
	KUNIT_EXPECT_EQ(test, ibmad_smi_receive(&smp, false, &ca, &out_port), LOCAL);
	KUNIT_EXPECT_EQ(test, smp.ib.hop_ptr, 5);

	smp.ib.status = IB_SMP_DIRECTION;
	KUNIT_EXPECT_EQ(test, ibmad_smi_originate(&smp, false, &ca, &out_port), SEND);
	KUNIT_EXPECT_EQ(test, out_port, 1u);
	for (i = 2; i >= 0; i--) {
		sw.port_num = i + 2;
		KUNIT_EXPECT_EQ(test, ibmad_smi_receive(&smp, false, &sw, &out_port), SEND);
		KUNIT_EXPECT_EQ(test, out_port, in_ports[i]);
	}
	KUNIT_EXPECT_EQ(test, ibmad_smi_receive(&smp, false, &ca, &out_port), LOCAL);
	KUNIT_EXPECT_EQ(test, smp.ib.hop_ptr, 0);
}

static struct kunit_case smi_kunit_cases[] = {
	KUNIT_CASE(every_boundary_of_a_route),
	KUNIT_CASE(paths_through_ports_that_are_not_there),
	KUNIT_CASE(there_and_back),
	{}
};

static struct kunit_suite ibmad_smi_suite = {
	.name = "ib_mad_smi",
	.test_cases = smi_kunit_cases,
};

kunit_test_suite(ibmad_smi_suite);
