// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The adapter as a device: what it says of itself and its ports, events, counters, its end. */
#include <rdma/ib_cache.h>
#include "faults.h"
#include "hca_pair.h"

static struct hca_pair pair;

static int hca_test_init(struct kunit *test)
{
	return hca_pair_init(test, &pair);
}

static void hca_test_exit(struct kunit *test)
{
	hca_pair_exit(&pair);
}

/* ---- what it says ---- */

static void a_device_is_one_of_infiniband(struct kunit *test)
{
	struct ib_device *ibdev = &pair.a.hca->ib;

	KUNIT_EXPECT_TRUE(test, rdma_protocol_ib(ibdev, 1));
	KUNIT_EXPECT_TRUE(test, rdma_cap_ib_mad(ibdev, 1));
	KUNIT_EXPECT_TRUE(test, rdma_cap_ib_smi(ibdev, 1));
	KUNIT_EXPECT_TRUE(test, rdma_cap_ib_sa(ibdev, 1));
	KUNIT_EXPECT_TRUE(test, rdma_cap_ib_cm(ibdev, 1));
	KUNIT_EXPECT_EQ(test, rdma_port_get_link_layer(ibdev, 1), IB_LINK_LAYER_INFINIBAND);
	KUNIT_EXPECT_TRUE(test, ib_uses_virt_dma(ibdev));
	KUNIT_EXPECT_EQ(test, be64_to_cpu(ibdev->node_guid), 0x0200000000010000ULL);
	KUNIT_EXPECT_EQ(test, ibdev->attrs.max_pkeys, PAIR_PKEYS);
	KUNIT_EXPECT_STREQ(test, ibdev->node_desc, "a");
}

static void a_port_says_what_the_manager_has_set(struct kunit *test)
{
	struct ib_port_attr attr;
	struct vib_port *port = pair.b.port;

	port->sm_lid = 4;
	port->sm_sl = 3;
	port->info.pkey_violations = cpu_to_be16(7);
	port->info.qkey_violations = cpu_to_be16(9);
	port->info.clientrereg_resv_subnetto = 18;
	KUNIT_ASSERT_EQ(test, ib_query_port(&pair.b.hca->ib, 1, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.state, IB_PORT_ACTIVE);
	KUNIT_EXPECT_EQ(test, attr.phys_state, IB_PORT_PHYS_STATE_LINK_UP);
	KUNIT_EXPECT_EQ(test, attr.lid, 8);
	KUNIT_EXPECT_EQ(test, attr.lmc, 2);
	KUNIT_EXPECT_EQ(test, attr.sm_lid, 4);
	KUNIT_EXPECT_EQ(test, attr.sm_sl, 3);
	KUNIT_EXPECT_EQ(test, attr.max_mtu, IB_MTU_4096);
	KUNIT_EXPECT_EQ(test, attr.active_mtu, IB_MTU_4096);
	KUNIT_EXPECT_EQ(test, attr.active_width, IB_WIDTH_4X);
	KUNIT_EXPECT_EQ(test, attr.active_speed, IB_SPEED_QDR);
	KUNIT_EXPECT_EQ(test, attr.bad_pkey_cntr, 7);
	KUNIT_EXPECT_EQ(test, attr.qkey_viol_cntr, 9);
	KUNIT_EXPECT_EQ(test, attr.subnet_timeout, 18);
	KUNIT_EXPECT_EQ(test, attr.pkey_tbl_len, PAIR_PKEYS);
	KUNIT_EXPECT_EQ(test, attr.gid_tbl_len, PAIR_GUIDS);
	KUNIT_EXPECT_EQ(test, ib_query_port(&pair.b.hca->ib, 2, &attr), -EINVAL);
}

static void tables_are_read_by_index(struct kunit *test)
{
	struct ib_device *ibdev = &pair.a.hca->ib;
	union ib_gid gid, want = hca_gid(&pair.a);
	u16 pkey;

	KUNIT_ASSERT_EQ(test, ib_query_pkey(ibdev, 1, 0, &pkey), 0);
	KUNIT_EXPECT_EQ(test, pkey, 0xffff);
	KUNIT_ASSERT_EQ(test, ib_query_pkey(ibdev, 1, PAIR_PKEYS - 1, &pkey), 0);
	KUNIT_EXPECT_EQ(test, pkey, 0);
	KUNIT_EXPECT_EQ(test, ib_query_pkey(ibdev, 1, PAIR_PKEYS, &pkey), -EINVAL);
	KUNIT_ASSERT_EQ(test, ibdev->ops.query_gid(ibdev, 1, 0, &gid), 0);
	KUNIT_EXPECT_MEMEQ(test, &gid, &want, sizeof(gid));
	KUNIT_ASSERT_EQ(test, ibdev->ops.query_gid(ibdev, 1, 1, &gid), 0);
	KUNIT_EXPECT_TRUE(test, rdma_is_zero_gid(&gid));
	KUNIT_EXPECT_EQ(test, ibdev->ops.query_gid(ibdev, 1, PAIR_GUIDS, &gid), -EINVAL);
}

static void a_port_is_modified(struct kunit *test)
{
	struct ib_port_modify modify = { .set_port_cap_mask = IB_PORT_SM, .init_type = 5 };
	struct ib_device *ibdev = &pair.a.hca->ib;
	struct ib_port_info *info = &pair.a.port->info;
	struct ib_port_attr attr;

	info->qkey_violations = cpu_to_be16(3);
	KUNIT_ASSERT_EQ(test, ib_modify_port(ibdev, 1, IB_PORT_INIT_TYPE |
					     IB_PORT_RESET_QKEY_CNTR, &modify), 0);
	KUNIT_EXPECT_EQ(test, info->vlcap_inittype & 0xf, 5);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(info->qkey_violations), 0);
	KUNIT_ASSERT_EQ(test, ib_query_port(ibdev, 1, &attr), 0);
	KUNIT_EXPECT_TRUE(test, attr.port_cap_flags & IB_PORT_SM);
	modify = (struct ib_port_modify){ .clr_port_cap_mask = IB_PORT_SM };
	KUNIT_ASSERT_EQ(test, ib_modify_port(ibdev, 1, 0, &modify), 0);
	KUNIT_ASSERT_EQ(test, ib_query_port(ibdev, 1, &attr), 0);
	KUNIT_EXPECT_FALSE(test, attr.port_cap_flags & IB_PORT_SM);
	KUNIT_EXPECT_EQ(test, ib_modify_port(ibdev, 1, IB_PORT_OPA_MASK_CHG, &modify),
			-EOPNOTSUPP);
}

static void a_description_is_the_nodes_too(struct kunit *test)
{
	struct ib_device_modify modify = { .node_desc = "somebody's laptop" };
	struct vib_hca *hca = pair.a.hca;

	KUNIT_ASSERT_EQ(test, ib_modify_device(&hca->ib, IB_DEVICE_MODIFY_NODE_DESC, &modify),
			0);
	KUNIT_EXPECT_STREQ(test, hca->ib.node_desc, "somebody's laptop");
	KUNIT_EXPECT_STREQ(test, hca->node.desc, "somebody's laptop");
}

/* ---- counters ---- */

/* The value of counter @name, or -1. */
static s64 counter(struct kunit *test, const char *name)
{
	struct ib_device *ibdev = &pair.b.hca->ib;
	struct rdma_hw_stats *stats = ibdev->ops.alloc_hw_port_stats(ibdev, 1);
	s64 value = -1;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, stats);
	KUNIT_EXPECT_EQ(test, ibdev->ops.get_hw_stats(ibdev, stats, 1, 0),
			stats->num_counters);
	for (i = 0; i < stats->num_counters; i++) {
		KUNIT_EXPECT_NOT_NULL(test, stats->descs[i].name);
		if (!strcmp(stats->descs[i].name, name))
			value = stats->value[i];
	}
	rdma_free_hw_stats_struct(stats);
	return value;
}

static void counters_have_names(struct kunit *test)
{
	u8 *out = hca_buf(test, 100, 0);
	struct hca_talk talk;

	hca_talk_init(test, &pair, &talk);
	KUNIT_EXPECT_EQ(test, hca_send(talk.from, &pair.a, talk.ah, talk.to->qp_num, out, 100),
			0);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.b.cq));
	KUNIT_EXPECT_EQ(test, counter(test, "rcv_packets"), 1);
	/* LRH, BTH, DETH, payload, ICRC, in words */
	KUNIT_EXPECT_EQ(test, counter(test, "rcv_data"), (8 + 12 + 8 + 100 + 4) / 4);
	KUNIT_EXPECT_EQ(test, counter(test, "drop_no_receive"), 1);
	KUNIT_EXPECT_EQ(test, counter(test, "drop_qkey"), 0);
	hca_talk_exit(&talk);
}

/* ---- events ---- */

static struct {
	struct ib_event_handler handler;
	atomic_t down, up;
} watch;

static void watch_event(struct ib_event_handler *handler, struct ib_event *event)
{
	if (event->element.port_num != 1)
		return;
	if (event->event == IB_EVENT_PORT_ERR)
		atomic_inc(&watch.down);
	else if (event->event == IB_EVENT_PORT_ACTIVE)
		atomic_inc(&watch.up);
}

static void consumers_are_told_of_the_link(struct kunit *test)
{
	struct ib_port_attr attr;

	memset(&watch, 0, sizeof(watch));
	INIT_IB_EVENT_HANDLER(&watch.handler, &pair.b.hca->ib, watch_event);
	ib_register_event_handler(&watch.handler);
	vib_link_cut(&pair.link, true);
	KUNIT_EXPECT_TRUE(test, wait_within(atomic_read(&watch.down) == 1, 5000));
	KUNIT_ASSERT_EQ(test, ib_query_port(&pair.b.hca->ib, 1, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.state, IB_PORT_DOWN);
	vib_link_cut(&pair.link, false);
	KUNIT_ASSERT_EQ(test, hca_pair_activate(&pair), 0);
	KUNIT_EXPECT_TRUE(test, wait_within(atomic_read(&watch.up) == 1, 5000));
	ib_unregister_event_handler(&watch.handler);
}

static void a_port_that_is_shut_down_takes_the_link_with_it(struct kunit *test)
{
	struct ib_port_modify modify = {};

	KUNIT_ASSERT_EQ(test, ib_modify_port(&pair.a.hca->ib, 1, IB_PORT_SHUTDOWN, &modify), 0);
	KUNIT_EXPECT_TRUE(test, wait_within(READ_ONCE(pair.b.port->state) == IB_PORT_DOWN,
					    5000));
}

/* ---- life ---- */

static int make_and_destroy(struct kunit *test)
{
	struct vib_node_attr attr = {
		.name = "c", .num_ports = 2, .guid = cpu_to_be64(0x0200000000030000ULL),
	};
	struct vib_hca *hca = vib_hca_create(&attr);

	if (IS_ERR(hca))
		return PTR_ERR(hca);
	vib_hca_destroy(hca);
	return 0;
}

static void creation_may_fail_at_each_allocation(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, make_and_destroy), 8);
}

static void attributes_out_of_range_are_refused(struct kunit *test)
{
	struct vib_node_attr attr = { .name = "c", .num_ports = 0 };

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(vib_hca_create(&attr)), -EINVAL);
	attr.num_ports = 1;
	attr.mtu = IB_MTU_4096 + 1;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(vib_hca_create(&attr)), -EINVAL);
}

/*
 * The adapter that has sent them goes while its packets wait at the other: their credits are
 * of a transmitter that is freed with the last of them.
 */
static void an_adapter_may_go_before_its_packets(struct kunit *test)
{
	u8 *out = hca_buf(test, 100, 0), *in = hca_buf(test, 200, 0);
	struct hca_talk talk;
	struct ib_wc wc;
	int i;

	hca_talk_init(test, &pair, &talk);
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, hca_recv(talk.to, &pair.b, in, 200, i), 0);
	disable_work_sync(&to_vib_qp(talk.to)->recv_work);
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, hca_send(talk.from, &pair.a, talk.ah, talk.to->qp_num,
					       out, 100), 0);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.b.cq));
	rdma_destroy_ah(talk.ah, 0);
	ib_destroy_qp(talk.from);
	ib_destroy_cq(pair.a.cq);
	ib_dealloc_pd(pair.a.pd);
	vib_hca_unregister(pair.a.hca);
	vib_node_remove(&pair.a.hca->node);
	memset(&pair.a, 0, sizeof(pair.a));
	rcu_barrier();
	flush_workqueue(vib_free_wq);
	KUNIT_EXPECT_EQ(test, to_vib_qp(talk.to)->rx_len, 10);
	enable_work(&to_vib_qp(talk.to)->recv_work);
	queue_work(vib_wq, &to_vib_qp(talk.to)->recv_work);
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_TRUE(test, hca_poll(pair.b.cq, &wc));
	KUNIT_EXPECT_TRUE(test, wait_within(READ_ONCE(pair.b.port->state) == IB_PORT_DOWN,
					    5000));
	ib_destroy_qp(talk.to);
}

static struct kunit_case hca_cases[] = {
	KUNIT_CASE(a_device_is_one_of_infiniband),
	KUNIT_CASE(a_port_says_what_the_manager_has_set),
	KUNIT_CASE(tables_are_read_by_index),
	KUNIT_CASE(a_port_is_modified),
	KUNIT_CASE(a_description_is_the_nodes_too),
	KUNIT_CASE(counters_have_names),
	KUNIT_CASE(consumers_are_told_of_the_link),
	KUNIT_CASE(a_port_that_is_shut_down_takes_the_link_with_it),
	KUNIT_CASE(creation_may_fail_at_each_allocation),
	KUNIT_CASE(attributes_out_of_range_are_refused),
	KUNIT_CASE(an_adapter_may_go_before_its_packets),
	{}
};

static struct kunit_suite vib_hca_suite = {
	.name = "vib_hca",
	.init = hca_test_init,
	.exit = hca_test_exit,
	.test_cases = hca_cases,
};

kunit_test_suite(vib_hca_suite);
