// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The counters of a port in sysfs: MADs sent and received, by class. */
#include <linux/file.h>
#include <linux/fs.h>
#include "mad/mad_test.h"

static struct mad_pair pair;
static struct ib_mad_agent *sm;	/* on the asker's QP0 */

static int stats_test_init(struct kunit *test)
{
	int ret = mad_pair_init(test, &pair, IB_LINK_LAYER_INFINIBAND);

	if (ret)
		return ret;
	pair.server.answers = false;
	sm = ib_register_mad_agent(&pair.asker.hca->ibdev, 1, IB_QPT_SMI, NULL, 0,
				   mad_sent, mad_received, &pair.asker, 0);
	return PTR_ERR_OR_ZERO(sm);
}

static void stats_test_exit(struct kunit *test)
{
	if (!IS_ERR_OR_NULL(sm))
		ib_unregister_mad_agent(sm);
	sm = NULL;
	mad_pair_exit(&pair);
}

/* The value in the file, or -1. */
static s64 shown(struct mad_side *side, const char *group, const char *name)
{
	char path[128], text[32] = "";
	struct file *file;
	loff_t pos = 0;
	s64 value = -1;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/%s/%s",
		 dev_name(&side->hca->ibdev.dev), group, name);
	file = filp_open(path, O_RDONLY, 0);
	if (IS_ERR(file))
		return -1;
	if (kernel_read(file, text, sizeof(text) - 1, &pos) < 0 ||
	    kstrtos64(strim(text), 10, &value))
		value = -1;
	__fput_sync(file);
	return value;
}

static struct {
	const char *name;
	u8 first, last;
	int count;		/* number of classes, counted by the test */
} classes[] = {
	{ "sm_lid", 0x01, 0x01 }, { "sm_directed", 0x81, 0x81 }, { "sa", 0x03, 0x03 },
	{ "performance", 0x04, 0x04 }, { "board", 0x05, 0x05 },
	{ "device_mgmt", 0x06, 0x06 }, { "cm", 0x07, 0x07 }, { "snmp", 0x08, 0x08 },
	{ "vendor", 0x09, 0x0f }, { "device_adm", 0x10, 0x10 }, { "boot", 0x11, 0x11 },
	{ "bis", 0x12, 0x12 }, { "cc", 0x21, 0x21 }, { "vendor_oui", 0x30, 0x4f },
	/* The last entry has all other classes. */
	{ "other", 0x00, 0xff },
};

static void count_class(u8 mgmt_class)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(classes); i++) {
		if (mgmt_class >= classes[i].first && mgmt_class <= classes[i].last) {
			classes[i].count++;
			return;
		}
	}
}

static int send_class(struct kunit *test, struct ib_mad_agent *agent, u8 mgmt_class)
{
	struct ib_mad_send_buf *buf;
	struct ib_smp *smp;

	buf = ib_create_send_mad(agent, agent == sm ? 0 : 1, 0, 0, IB_MGMT_MAD_HDR,
				 IB_MGMT_MAD_DATA, GFP_KERNEL, IB_MGMT_BASE_VERSION);
	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	smp = buf->mad;
	smp->base_version = IB_MGMT_BASE_VERSION;
	smp->mgmt_class = mgmt_class;
	smp->class_version = 1;
	smp->method = IB_MGMT_METHOD_SEND;
	if (mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE) {
		smp->hop_cnt = 1;
		smp->initial_path[1] = 1;
		smp->dr_slid = IB_LID_PERMISSIVE;
		smp->dr_dlid = IB_LID_PERMISSIVE;
	}
	buf->ah = pair.asker.ah;
	count_class(mgmt_class);
	return ib_post_send_mad(buf, NULL);
}

static void expect_sums(struct kunit *test)
{
	s64 sent = 0, received = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(classes); i++) {
		sent += shown(&pair.asker, "mad_sent", classes[i].name);
		received += shown(&pair.server, "mad_received", classes[i].name);
	}
	KUNIT_EXPECT_EQ(test, sent, shown(&pair.asker, "mad", "sent"));
	KUNIT_EXPECT_EQ(test, received, shown(&pair.server, "mad", "received"));
}

static void each_class_has_its_counter(struct kunit *test)
{
	int i, smp;

	for (i = 0; i < ARRAY_SIZE(classes); i++)
		classes[i].count = 0;
	for (i = 0; i <= U8_MAX; i++) {
		smp = i == IB_MGMT_CLASS_SUBN_LID_ROUTED ||
		      i == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
		KUNIT_ASSERT_EQ(test, send_class(test, smp ? sm : pair.asker.agent, i), 0);
	}
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, U8_MAX + 1));
	mad_quiesce(&pair);
	for (i = 0; i < ARRAY_SIZE(classes); i++) {
		KUNIT_EXPECT_EQ_MSG(test, shown(&pair.asker, "mad_sent", classes[i].name),
				    classes[i].count, "%s", classes[i].name);
		KUNIT_EXPECT_EQ_MSG(test, shown(&pair.server, "mad_received",
						classes[i].name),
				    classes[i].count, "%s", classes[i].name);
	}
	KUNIT_EXPECT_EQ(test, shown(&pair.server, "mad", "received"), U8_MAX + 1);
	expect_sums(test);
}

/* A request counts each time it is sent, and does not count if its work request fails. */
static void work_requests_are_counted_once(struct kunit *test)
{
	pair.drop_requests = 2;
	pair.server.answers = true;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 100, 3), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, shown(&pair.asker, "mad_sent", "vendor"), 3);
	KUNIT_EXPECT_EQ(test, shown(&pair.server, "mad_received", "vendor"), 1);
	KUNIT_EXPECT_EQ(test, shown(&pair.server, "mad_sent", "vendor"), 1);
	KUNIT_EXPECT_EQ(test, shown(&pair.asker, "mad_received", "vendor"), 1);

	pair.asker.hca->send_status = IB_WC_LOC_QP_OP_ERR;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 100, 0), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 2));
	KUNIT_EXPECT_EQ(test, shown(&pair.asker, "mad_sent", "vendor"), 3);
	KUNIT_EXPECT_EQ(test, shown(&pair.asker, "mad", "send_errors"), 1);
	expect_sums(test);
}

/* An invalid MAD is counted in no class. */
static void malformed_mads_have_no_class(struct kunit *test)
{
	const struct fake_hca_packet like = { .port = 1, .src_qpn = 1 };
	struct ib_mad mad = { .mad_hdr.mgmt_class = TEST_CLASS };

	mad.mad_hdr.base_version = 7;
	KUNIT_ASSERT_EQ(test, fake_hca_inject(pair.server.hca, 1, &like, &mad,
					      sizeof(mad)), 0);
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, shown(&pair.server, "mad", "recv_malformed"), 1);
	KUNIT_EXPECT_EQ(test, shown(&pair.server, "mad_received", "vendor"), 0);
	expect_sums(test);
}

static const char * const events[] = {
	"sent", "send_errors", "retries", "timeouts", "cancelled", "backlogged", "held",
	"stray_completions", "qp_resets", "received", "recv_malformed",
	"recv_delivered", "recv_unmatched", "recv_no_agent", "recv_no_buffer",
	"recv_overflow", "recv_smi_dropped", "recv_forwarded", "recv_provider",
	"recv_replied", "rmpp_sent", "rmpp_received", "rmpp_resent", "rmpp_aborted",
	"rmpp_segments", "rmpp_controls", "rmpp_dropped", "sa_shared",
};

static_assert(ARRAY_SIZE(events) == IBMAD_NR_COUNTERS);

/* Each file in mad/ shows another counter. */
static void each_event_has_its_counter(struct kunit *test)
{
	struct ibmad_stats *stats = get_cpu_ptr(to_agent(pair.asker.agent)->port->stats);
	u64 seen = 0;
	s64 value;
	int i;

	for (i = 0; i < IBMAD_NR_COUNTERS; i++)
		stats->count[i] = i;
	put_cpu_ptr(stats);
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		value = shown(&pair.asker, "mad", events[i]);
		KUNIT_EXPECT_GE_MSG(test, value, 0, "%s", events[i]);
		if (value >= 0)
			seen |= BIT_ULL(value);
	}
	KUNIT_EXPECT_EQ(test, seen, BIT_ULL(IBMAD_NR_COUNTERS) - 1);
}

static struct kunit_case stats_cases[] = {
	KUNIT_CASE(each_class_has_its_counter),
	KUNIT_CASE(work_requests_are_counted_once),
	KUNIT_CASE(malformed_mads_have_no_class),
	KUNIT_CASE(each_event_has_its_counter),
	{}
};

static struct kunit_suite ibmad_stats_suite = {
	.name = "ib_mad_stats",
	.init = stats_test_init,
	.exit = stats_test_exit,
	.test_cases = stats_cases,
};

kunit_test_suite(ibmad_stats_suite);
