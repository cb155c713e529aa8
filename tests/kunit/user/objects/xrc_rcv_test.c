// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Receive QPs that belong to an XRC domain: what is asked for, and what goes wrong. */
#include <linux/fdtable.h>
#include "faults.h"
#include "log.h"
#include "user/queues/events.h"
#include "xrc_rcv.h"

static u32 xrcd;

static int rcv_test_init(struct kunit *test)
{
	int ret = queues_init(test);

	if (!ret)
		xrcd = queues_xrcd(test->priv);
	return ret;
}

/* Expects that only the process's own objects are left, among them its domain. */
static void expect_none(struct commands *c)
{
	struct ib_xrcd *x = commands_object(c, UVERBS_OBJECT_XRCD, xrcd);

	KUNIT_EXPECT_EQ(c->test, rcv_alive(c, FAKE_QP), 0);
	KUNIT_EXPECT_EQ(c->test, rcv_alive(c, FAKE_XRCD), 1);
	KUNIT_EXPECT_EQ(c->test, commands_objects(c), 3);
	KUNIT_EXPECT_EQ(c->test, atomic_read(&x->usecnt), 0);
	KUNIT_EXPECT_TRUE(c->test, xa_empty(&x->tgt_qps));
}

/* ---- what is asked for ---- */

static struct {
	struct ib_qp_attr attr[2];
	enum ib_qp_state state[2];
	int mask[2], n;
} seen;

static void note_modify(struct fake_hca *hca, struct ib_qp *qp, enum ib_qp_state next)
{
	if (seen.n < 2) {
		seen.attr[seen.n] = hca->queues.qp_attr;
		seen.mask[seen.n] = hca->queues.qp_mask;
		seen.state[seen.n] = next;
	}
	seen.n++;
}

static struct ib_qp_attr *seen_rtr(struct commands *c, u32 mask)
{
	struct ib_uverbs_qp_attr attr;
	u32 qpn;

	seen.n = 0;
	c->hca->on_modify_qp = note_modify;
	rcv_attr(&attr);
	KUNIT_ASSERT_EQ(c->test, rcv_call(c, xrcd, &attr, mask, &qpn), 0);
	KUNIT_ASSERT_EQ(c->test, seen.n, 2);
	KUNIT_EXPECT_EQ(c->test, (int)seen.state[0], IB_QPS_INIT);
	KUNIT_EXPECT_EQ(c->test, (int)seen.state[1], IB_QPS_RTR);
	return &seen.attr[1];
}

static void it_is_made_and_connected(struct kunit *test)
{
	struct commands *c = test->priv;
	const struct ib_qp_attr *rtr = seen_rtr(c, RCV_ALL), *init = &seen.attr[0];
	const struct ib_qp_init_attr *made = &c->hca->queues.qp;

	KUNIT_EXPECT_EQ(test, (int)made->qp_type, IB_QPT_XRC_TGT);
	KUNIT_EXPECT_PTR_EQ(test, made->xrcd, commands_object(c, UVERBS_OBJECT_XRCD, xrcd));
	KUNIT_EXPECT_EQ(test, made->cap.max_send_wr, 1u);
	KUNIT_EXPECT_EQ(test, made->cap.max_send_sge, 1u);
	KUNIT_EXPECT_EQ(test, made->cap.max_recv_wr, 0u);
	KUNIT_EXPECT_EQ(test, made->cap.max_recv_sge, 0u);
	KUNIT_EXPECT_EQ(test, made->cap.max_inline_data, 0u);

	KUNIT_EXPECT_EQ(test, seen.mask[0], IB_QP_STATE | IB_QP_ACCESS_FLAGS |
			IB_QP_PKEY_INDEX | IB_QP_PORT);
	KUNIT_EXPECT_EQ(test, init->qp_access_flags,
			IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ);
	KUNIT_EXPECT_EQ(test, init->pkey_index, 2);
	KUNIT_EXPECT_EQ(test, init->port_num, 1u);

	KUNIT_EXPECT_EQ(test, seen.mask[1], IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
			IB_QP_DEST_QPN | IB_QP_RQ_PSN | IB_QP_MIN_RNR_TIMER |
			IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_ALT_PATH);
	KUNIT_EXPECT_EQ(test, (int)rtr->path_mtu, IB_MTU_1024);
	KUNIT_EXPECT_EQ(test, rtr->dest_qp_num, 0x654321u);
	KUNIT_EXPECT_EQ(test, rtr->rq_psn, 0x123456u);
	KUNIT_EXPECT_EQ(test, rtr->min_rnr_timer, 12);
	KUNIT_EXPECT_EQ(test, rtr->max_dest_rd_atomic, 4);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&rtr->ah_attr), 7u);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_sl(&rtr->ah_attr), 3);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_path_bits(&rtr->ah_attr), 1);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_static_rate(&rtr->ah_attr), IB_RATE_10_GBPS);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&rtr->alt_ah_attr), 8u);
	KUNIT_EXPECT_EQ(test, rtr->alt_port_num, 1u);
	KUNIT_EXPECT_EQ(test, rtr->alt_pkey_index, 3);
	KUNIT_EXPECT_EQ(test, rtr->alt_timeout, 14);
}

static void a_global_path(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_qp_attr attr;
	const struct ib_global_route *grh;
	u32 qpn;

	rcv_attr(&attr);
	attr.ah_attr.is_global = 1;
	attr.ah_attr.grh = (struct ib_uverbs_global_route) {
		.dgid = { 0xfe, 0x80, [15] = 9 }, .flow_label = 0xfffff,
		.hop_limit = 64, .traffic_class = 5,
	};
	seen.n = 0;
	c->hca->on_modify_qp = note_modify;
	KUNIT_ASSERT_EQ(test, rcv_call(c, xrcd, &attr, RCV_NEEDED | IB_QP_MAX_DEST_RD_ATOMIC,
				       &qpn), 0);
	grh = rdma_ah_read_grh(&seen.attr[1].ah_attr);
	KUNIT_EXPECT_MEMEQ(test, grh->dgid.raw, attr.ah_attr.grh.dgid, 16);
	KUNIT_EXPECT_EQ(test, grh->flow_label, 0xfffffu);
	KUNIT_EXPECT_EQ(test, grh->hop_limit, 64);
	KUNIT_EXPECT_EQ(test, grh->traffic_class, 5);
	/* Out of range, or no such GID. */
	attr.ah_attr.grh.flow_label++;
	KUNIT_EXPECT_EQ(test, rcv_call(c, xrcd, &attr, RCV_ALL, &qpn), -EINVAL);
	attr.ah_attr.grh.flow_label = 0;
	attr.ah_attr.grh.sgid_index = FAKE_HCA_GIDS;
	KUNIT_EXPECT_EQ(test, rcv_call(c, xrcd, &attr, RCV_ALL, &qpn), -EINVAL);
	attr.ah_attr.grh.sgid_index = FAKE_HCA_GIDS - 1;
	KUNIT_EXPECT_LT(test, rcv_call(c, xrcd, &attr, RCV_ALL, &qpn), 0);
	KUNIT_EXPECT_EQ(test, rcv_alive(c, FAKE_QP), 1);
}

/* What the mask does not name is 0, though what the user has there is no valid value. */
static void what_is_not_named_is_not_read(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_qp_attr attr;
	u32 qpn;

	memset(&attr, 0xff, sizeof(attr));
	attr.path_mtu = IB_MTU_256;
	attr.rq_psn = 1;
	attr.dest_qp_num = 2;
	attr.qp_access_flags = IB_ACCESS_LOCAL_WRITE;
	memset(&attr.ah_attr, 0, sizeof(attr.ah_attr));
	attr.ah_attr.dlid = 3;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.reserved = 0xff;
	memset(&attr.ah_attr.grh, 0xff, sizeof(attr.ah_attr.grh));
	attr.pkey_index = 0;
	attr.port_num = 1;
	seen.n = 0;
	c->hca->on_modify_qp = note_modify;
	KUNIT_ASSERT_EQ(test, rcv_call(c, xrcd, &attr, RCV_NEEDED, &qpn), 0);
	KUNIT_EXPECT_EQ(test, seen.mask[1], IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
			IB_QP_DEST_QPN | IB_QP_RQ_PSN | IB_QP_MIN_RNR_TIMER |
			IB_QP_MAX_DEST_RD_ATOMIC);
	KUNIT_EXPECT_EQ(test, seen.attr[1].min_rnr_timer, 0);
	KUNIT_EXPECT_EQ(test, seen.attr[1].max_dest_rd_atomic, 0);
	KUNIT_EXPECT_EQ(test, seen.attr[1].alt_timeout, 0);
	KUNIT_EXPECT_EQ(test, seen.attr[1].alt_port_num, 0u);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_ah_flags(&seen.attr[1].ah_attr), 0);
}

static void each_bit_of_the_mask(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_qp_attr attr;
	u32 qpn, bit;

	rcv_attr(&attr);
	for (bit = 0; bit < 32; bit++) {
		u32 mask = RCV_ALL ^ BIT(bit);
		/* With remote access, only these two can be left out. */
		bool fine = BIT(bit) & (IB_QP_MIN_RNR_TIMER | IB_QP_ALT_PATH);

		KUNIT_EXPECT_EQ_MSG(test, rcv_call(c, xrcd, &attr, mask, &qpn),
				    fine ? 0 : -EINVAL, "bit %u", bit);
	}
	KUNIT_EXPECT_EQ(test, rcv_call(c, xrcd, &attr, 0, &qpn), -EINVAL);
	KUNIT_EXPECT_EQ(test, rcv_alive(c, FAKE_QP), 2);
	/* Without remote access, nothing to read or to operate on needs a limit. */
	attr.qp_access_flags = 0;
	KUNIT_EXPECT_EQ(test, rcv_call(c, xrcd, &attr, RCV_NEEDED, &qpn), 0);
	for (bit = IB_ACCESS_REMOTE_WRITE; bit <= IB_ACCESS_REMOTE_ATOMIC; bit <<= 1) {
		attr.qp_access_flags = bit;
		KUNIT_EXPECT_EQ(test, rcv_call(c, xrcd, &attr, RCV_NEEDED, &qpn), -EINVAL);
	}
	KUNIT_EXPECT_EQ(test, rcv_alive(c, FAKE_QP), 3);
}

#define BAD(member, value) { offsetof(struct ib_uverbs_qp_attr, member),	\
			     sizeof_field(struct ib_uverbs_qp_attr, member), value, #member }

static void each_value_out_of_range(struct kunit *test)
{
	static const struct { size_t at, size; u32 value; const char *name; } bad[] = {
		BAD(path_mtu, 0), BAD(path_mtu, 6), BAD(path_mtu, U32_MAX),
		BAD(rq_psn, 1 << 24), BAD(dest_qp_num, 1 << 24),
		BAD(qp_access_flags, IB_ACCESS_MW_BIND), BAD(qp_access_flags, BIT(31)),
		BAD(pkey_index, FAKE_HCA_PKEYS), BAD(pkey_index, U16_MAX),
		BAD(port_num, 0), BAD(port_num, 2), BAD(port_num, 255),
		BAD(max_dest_rd_atomic, 17), BAD(min_rnr_timer, 32),
		BAD(ah_attr.port_num, 0), BAD(ah_attr.port_num, 2), BAD(ah_attr.dlid, 0),
		BAD(ah_attr.dlid, 0xc000), BAD(ah_attr.sl, 16), BAD(ah_attr.static_rate, 1),
		BAD(ah_attr.static_rate, 255), BAD(ah_attr.src_path_bits, 128),
		BAD(alt_ah_attr.port_num, 0), BAD(alt_ah_attr.port_num, 255),
		BAD(alt_ah_attr.dlid, 0xffff), BAD(alt_ah_attr.sl, 16),
		BAD(alt_port_num, 0), BAD(alt_port_num, 2),
		BAD(alt_pkey_index, FAKE_HCA_PKEYS), BAD(alt_timeout, 32),
	};
	struct commands *c = test->priv;
	struct ib_uverbs_qp_attr attr;
	u32 qpn;
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		rcv_attr(&attr);
		memcpy((u8 *)&attr + bad[i].at, &bad[i].value, bad[i].size);
		KUNIT_EXPECT_EQ_MSG(test, rcv_call(c, xrcd, &attr, RCV_ALL, &qpn), -EINVAL,
				    "%s %#x", bad[i].name, bad[i].value);
	}
	expect_none(c);
	/* The largest values. */
	rcv_attr(&attr);
	attr.path_mtu = IB_MTU_4096;
	attr.rq_psn = 0xffffff;
	attr.dest_qp_num = 0xffffff;
	attr.qp_access_flags = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
			       IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC;
	attr.pkey_index = FAKE_HCA_PKEYS - 1;
	attr.max_dest_rd_atomic = 16;
	attr.min_rnr_timer = 31;
	attr.alt_timeout = 31;
	attr.ah_attr.sl = 15;
	attr.ah_attr.dlid = 0xbfff;
	KUNIT_EXPECT_EQ(test, rcv_call(c, xrcd, &attr, RCV_ALL, &qpn), 0);
}

static void what_is_no_proper_call(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 qpn, closed;

	KUNIT_ASSERT_EQ(test, rcv_open_domain(c, -1, &closed), 0);
	KUNIT_ASSERT_EQ(test, rcv_close_domain(c, closed), 0);
	KUNIT_EXPECT_EQ(test, rcv_alloc(c, closed, &qpn), -ENOENT);
	KUNIT_EXPECT_EQ(test, rcv_alloc(c, queues.pd, &qpn), -EINVAL);
	KUNIT_EXPECT_EQ(test, rcv_alloc(c, NO_SUCH_HANDLE, &qpn), -ENOENT);
	commands_begin(c, UVERBS_OBJECT_XRCD, IBEX_METHOD_ALLOC_XRC_RCV_QP + 1);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EPROTONOSUPPORT);
	commands_begin(c, UVERBS_OBJECT_PD, IBEX_METHOD_ALLOC_XRC_RCV_QP);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EPROTONOSUPPORT);
	expect_none(c);
	/* Among others, its answer may have nowhere to go. */
	KUNIT_ASSERT_EQ(test, rcv_alloc(c, xrcd, &qpn), 0);
	commands_check_attrs(c);
	KUNIT_EXPECT_EQ(test, rcv_close_domain(c, xrcd), 0);
	queues_expect_idle(c);
}

static void the_number_cannot_be_told(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_qp_attr attr;
	u32 qpn;

	rcv_attr(&attr);
	KUNIT_ASSERT_EQ(test, rcv_alloc(c, xrcd, &qpn), 0);
	commands_begin(c, UVERBS_OBJECT_XRCD, IBEX_METHOD_ALLOC_XRC_RCV_QP);
	commands_obj(c, IBEX_ATTR_ALLOC_XRC_RCV_QP_XRCD, xrcd);
	commands_in(c, IBEX_ATTR_ALLOC_XRC_RCV_QP_ATTR, &attr, sizeof(attr));
	commands_u32(c, IBEX_ATTR_ALLOC_XRC_RCV_QP_MASK, RCV_ALL);
	commands_attr(c, IBEX_ATTR_ALLOC_XRC_RCV_QP_RESP_QP_NUM, sizeof(u32), 8);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EFAULT);
	KUNIT_EXPECT_EQ(test, rcv_alive(c, FAKE_QP), 1);
	KUNIT_EXPECT_NOT_NULL(test, rcv_qp(c, qpn));
	/* The provider keeps the QP, which goes with the domain then. */
	atomic_set(&c->hca->fail_destroy[FAKE_QP], 1);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EFAULT);
	KUNIT_EXPECT_EQ(test, rcv_alive(c, FAKE_QP), 2);
	KUNIT_EXPECT_EQ(test, rcv_close_domain(c, xrcd), 0);
	queues_expect_idle(c);
}

/* ---- what goes wrong ---- */

static void the_provider_refuses_each_step(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 qpn;
	int i;

	atomic_set(&c->hca->fail_create[FAKE_PD], 1);
	KUNIT_EXPECT_EQ(test, rcv_alloc(c, xrcd, &qpn), -ENOMEM);
	expect_none(c);
	atomic_set(&c->hca->fail_create[FAKE_QP], 1);
	KUNIT_EXPECT_EQ(test, rcv_alloc(c, xrcd, &qpn), -ENOMEM);
	expect_none(c);
	for (i = 1; i <= 2; i++) {
		atomic_set(&c->hca->fail_modify_qp, i);
		KUNIT_EXPECT_EQ(test, rcv_alloc(c, xrcd, &qpn), -EIO);
		KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->fail_modify_qp), 0);
		expect_none(c);
	}
	/* It does not even destroy what it refused to connect: the domain has it then. */
	atomic_set(&c->hca->fail_modify_qp, 2);
	atomic_set(&c->hca->fail_destroy[FAKE_QP], 1);
	KUNIT_EXPECT_EQ(test, rcv_alloc(c, xrcd, &qpn), -EIO);
	KUNIT_EXPECT_EQ(test, rcv_alive(c, FAKE_QP), 1);
	KUNIT_EXPECT_EQ(test, rcv_alloc(c, xrcd, &qpn), 0);
	KUNIT_EXPECT_EQ(test, rcv_close_domain(c, xrcd), 0);
	queues_expect_idle(c);
}

static int alloc_and_close(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 handle, qpn;
	int ret = rcv_open_domain(c, -1, &handle);

	if (ret)
		return ret;
	ret = rcv_alloc(c, handle, &qpn);
	if (ret)
		KUNIT_EXPECT_EQ(test, rcv_alive(c, FAKE_QP), 0);
	/* Its own allocations may fail, too. */
	if (rcv_close_domain(c, handle) && rcv_close_domain(c, handle))
		KUNIT_FAIL(test, "the domain stays open");
	return ret;
}

static void each_allocation_may_fail(struct kunit *test)
{
	struct commands *c = test->priv;

	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, alloc_and_close), 7);
	KUNIT_EXPECT_EQ(test, rcv_alive(c, FAKE_XRCD), 1);
	expect_none(c);
}

static void alloc_some(struct commands *c, int n)
{
	u32 qpn;

	while (n--)
		KUNIT_ASSERT_EQ(c->test, rcv_alloc(c, xrcd, &qpn), 0);
}

/* A close that is refused before anything was destroyed leaves all as it was. */
static void a_domain_in_use_keeps_them(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_xrcd *x = commands_object(c, UVERBS_OBJECT_XRCD, xrcd);

	alloc_some(c, 3);
	/* As an SRQ or a target QP counts. */
	atomic_inc(&x->usecnt);
	KUNIT_EXPECT_EQ(test, rcv_close_domain(c, xrcd), -EBUSY);
	KUNIT_EXPECT_EQ(test, rcv_alive(c, FAKE_QP), 3);
	atomic_dec(&x->usecnt);
	atomic_set(&c->hca->fail_destroy[FAKE_QP], 1);
	KUNIT_EXPECT_EQ(test, rcv_close_domain(c, xrcd), -EIO);
	KUNIT_EXPECT_EQ(test, rcv_alive(c, FAKE_QP), 3);
	alloc_some(c, 1);
	KUNIT_EXPECT_EQ(test, rcv_close_domain(c, xrcd), 0);
	queues_expect_idle(c);
}

/* What was destroyed before the provider refused cannot be made again; the rest stays. */
static void a_close_is_refused_halfway(struct kunit *test)
{
	struct commands *c = test->priv;

	alloc_some(c, 3);
	atomic_set(&c->hca->fail_destroy[FAKE_QP], 2);
	KUNIT_EXPECT_EQ(test, rcv_close_domain(c, xrcd), -EIO);
	KUNIT_EXPECT_EQ(test, rcv_alive(c, FAKE_QP), 2);
	KUNIT_EXPECT_EQ(test, rcv_alive(c, FAKE_XRCD), 1);
	alloc_some(c, 1);
	/* The kernel's PD, then the domain itself. */
	atomic_set(&c->hca->fail_destroy[FAKE_PD], 1);
	KUNIT_EXPECT_EQ(test, rcv_close_domain(c, xrcd), -EIO);
	expect_none(c);
	alloc_some(c, 1);
	atomic_set(&c->hca->fail_destroy[FAKE_XRCD], 1);
	KUNIT_EXPECT_EQ(test, rcv_close_domain(c, xrcd), -EIO);
	expect_none(c);
	alloc_some(c, 2);
	KUNIT_EXPECT_EQ(test, rcv_close_domain(c, xrcd), 0);
	queues_expect_idle(c);
}

/* ---- events ---- */

static void its_events_are_in_the_log(struct kunit *test)
{
	static const enum ib_event_type types[] = {
		IB_EVENT_QP_FATAL, IB_EVENT_QP_REQ_ERR, IB_EVENT_QP_ACCESS_ERR,
		IB_EVENT_COMM_EST, IB_EVENT_PATH_MIG, IB_EVENT_PATH_MIG_ERR,
		IB_EVENT_QP_LAST_WQE_REACHED,
	};
	struct commands *c = test->priv;
	struct ib_uverbs_async_event_desc desc;
	int async = events_async(c), i, before;
	char words[64], line[128];
	u32 qpn;

	KUNIT_ASSERT_EQ(test, rcv_alloc(c, xrcd, &qpn), 0);
	snprintf(words, sizeof(words), "receive QP %#x of XRC domain ", qpn);
	before = log_lines(words);
	for (i = 0; i < ARRAY_SIZE(types); i++)
		fake_hca_qp_event(rcv_qp(c, qpn), types[i]);
	KUNIT_EXPECT_EQ(test, log_lines(words), before + (int)ARRAY_SIZE(types));
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		snprintf(line, sizeof(line), ": %s", ib_event_msg(types[i]));
		KUNIT_EXPECT_GE(test, log_lines(line), 1);
	}
	/* They do not flood it. */
	for (i = 0; i < 1000; i++)
		fake_hca_qp_event(rcv_qp(c, qpn), IB_EVENT_QP_ACCESS_ERR);
	KUNIT_EXPECT_LT(test, log_lines(words), before + 50);
	/* No process is told. */
	desc = events_next(c, async);
	KUNIT_EXPECT_EQ(test, (int)desc.event_type, -1);
	close_fd(async);
	flush_delayed_fput();
}

static struct kunit_case xrc_rcv_cases[] = {
	KUNIT_CASE(it_is_made_and_connected),
	KUNIT_CASE(a_global_path),
	KUNIT_CASE(what_is_not_named_is_not_read),
	KUNIT_CASE(each_bit_of_the_mask),
	KUNIT_CASE(each_value_out_of_range),
	KUNIT_CASE(what_is_no_proper_call),
	KUNIT_CASE(the_number_cannot_be_told),
	KUNIT_CASE(the_provider_refuses_each_step),
	KUNIT_CASE(each_allocation_may_fail),
	KUNIT_CASE(a_domain_in_use_keeps_them),
	KUNIT_CASE(a_close_is_refused_halfway),
	KUNIT_CASE(its_events_are_in_the_log),
	{}
};

static struct kunit_suite uverbs_xrc_rcv_suite = {
	.name = "uverbs_xrc_rcv",
	.init = rcv_test_init,
	.exit = commands_exit,
	.test_cases = xrc_rcv_cases,
};

kunit_test_suite(uverbs_xrc_rcv_suite);
