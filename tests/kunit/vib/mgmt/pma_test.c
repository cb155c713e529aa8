// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The performance management agent (IBA vol. 1, 16.1). */
#include <rdma/ib_pma.h>
#include "mgmt_node.h"

static struct ib_pma_mad in, out;

static void pma_init(u8 method, __be16 attr)
{
	memset(&in, 0, sizeof(in));
	in.mad_hdr.base_version = IB_MGMT_BASE_VERSION;
	in.mad_hdr.mgmt_class = IB_MGMT_CLASS_PERF_MGMT;
	in.mad_hdr.class_version = 1;
	in.mad_hdr.method = method;
	in.mad_hdr.attr_id = attr;
	in.mad_hdr.tid = cpu_to_be64(0x77);
}

static int pma_run(struct vib_port *port)
{
	memset(&out, 0xa5, sizeof(out));
	if (vib_pma_handle(port, (struct ib_mad *)&in, (struct ib_mad *)&out) != VIB_MAD_REPLY)
		return -1;
	return be16_to_cpu(out.mad_hdr.status);
}

/* The counters of port @select, in out. */
static struct ib_pma_portcounters *narrow(struct kunit *test, struct vib_port *port, u8 select)
{
	pma_init(IB_MGMT_METHOD_GET, IB_PMA_PORT_COUNTERS);
	in.data[1] = select;
	KUNIT_EXPECT_EQ(test, pma_run(port), 0);
	return (struct ib_pma_portcounters *)out.data;
}

static struct ib_pma_portcounters_ext *extended(struct kunit *test, struct vib_port *port,
						u8 select)
{
	pma_init(IB_MGMT_METHOD_GET, IB_PMA_PORT_COUNTERS_EXT);
	in.data[1] = select;
	KUNIT_EXPECT_EQ(test, pma_run(port), 0);
	return (struct ib_pma_portcounters_ext *)out.data;
}

static void count_all(struct vib_port *port, u64 n)
{
	enum vib_counter counter;

	for (counter = 0; counter < VIB_COUNTERS; counter++)
		vib_count(port, counter, n);
}

static void the_class_says_what_it_can(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct ib_class_port_info *info = (void *)out.data;

	pma_init(IB_MGMT_METHOD_GET, IB_PMA_CLASS_PORT_INFO);
	KUNIT_EXPECT_EQ(test, pma_run(&mn->node.ports[1]), 0);
	KUNIT_EXPECT_EQ(test, out.mad_hdr.method, IB_MGMT_METHOD_GET_RESP);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(out.mad_hdr.tid), 0x77);
	KUNIT_EXPECT_EQ(test, info->base_version, 1);
	KUNIT_EXPECT_EQ(test, info->class_version, 1);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(info->capability_mask), BIT(8) | BIT(9) | BIT(12));
}

static void a_port_counts_from_nothing(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 2);
	struct vib_port *port = &mn->node.ports[1];
	struct ib_pma_portcounters *counters;

	counters = narrow(test, port, 1);
	KUNIT_EXPECT_EQ(test, counters->port_select, 1);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(counters->port_xmit_data), 0);
	vib_count(port, VIB_XMIT_DATA, 7);
	vib_count(port, VIB_LINK_DOWNED, 2);
	vib_count(port, VIB_XMIT_WAIT, 3);
	counters = narrow(test, port, 1);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(counters->port_xmit_data), 7);
	KUNIT_EXPECT_EQ(test, counters->link_downed_counter, 2);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(counters->port_xmit_wait), 3);
	/* The other port's are its own. */
	counters = narrow(test, port, 2);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(counters->port_xmit_data), 0);
}

static void narrow_counters_stop_at_their_end(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = &mn->node.ports[1];
	struct ib_pma_portcounters *counters;
	struct ib_pma_portcounters_ext *ext;

	count_all(port, 1ULL << 40);
	counters = narrow(test, port, 1);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(counters->symbol_error_counter), 0xffff);
	KUNIT_EXPECT_EQ(test, counters->link_error_recovery_counter, 0xff);
	KUNIT_EXPECT_EQ(test, counters->port_rcv_constraint_errors, 0xff);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(counters->vl15_dropped), 0xffff);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(counters->port_rcv_packets), 0xffffffff);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(counters->port_xmit_wait), 0xffffffff);
	KUNIT_EXPECT_EQ(test, counters->link_overrun_errors, 0);
	ext = extended(test, port, 1);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(ext->port_xmit_data), 1ULL << 40);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(ext->port_multicast_rcv_packets), 1ULL << 40);
}

/* By bit of CounterSelect, CounterSelect2 above it: where the counter is, how wide. */
static const struct {
	u8 offset, bytes;
} narrow_layout[] = {
	{ 4, 2 }, { 6, 1 }, { 7, 1 }, { 8, 2 }, { 10, 2 }, { 12, 2 }, { 14, 2 }, { 16, 1 },
	{ 17, 1 }, { 0, 0 }, { 0, 0 }, { 22, 2 }, { 24, 4 }, { 28, 4 }, { 32, 4 }, { 36, 4 },
	{ 40, 4 },
};

static u64 layout_read(const u8 *from, u8 bytes)
{
	u64 value = 0;

	while (bytes--)
		value = value << 8 | *from++;
	return value;
}

static void each_bit_selects_one_counter(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = &mn->node.ports[1];
	unsigned int bit, other;

	count_all(port, 5);
	for (bit = 0; bit < ARRAY_SIZE(narrow_layout); bit++) {
		if (!narrow_layout[bit].bytes)
			continue;
		pma_init(IB_MGMT_METHOD_SET, IB_PMA_PORT_COUNTERS);
		in.data[1] = 1;
		put_unaligned_be16(bit < 16 ? BIT(bit) : 0, in.data + 2);
		/* Its new value is 0; all the others have one that is not to be taken. */
		memset(in.data + 4, 0x33, 40);
		in.data[18] = bit == 16;
		memset(in.data + narrow_layout[bit].offset, 0, narrow_layout[bit].bytes);
		KUNIT_EXPECT_EQ(test, pma_run(port), 0);
		for (other = 0; other < ARRAY_SIZE(narrow_layout); other++) {
			u64 value = layout_read(out.data + narrow_layout[other].offset,
						narrow_layout[other].bytes);

			if (narrow_layout[other].bytes)
				KUNIT_EXPECT_EQ_MSG(test, value, other <= bit ? 0 : 5,
						    "bit %u, counter %u", bit, other);
		}
	}
}

static void a_counter_goes_on_from_what_was_set(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = &mn->node.ports[1];
	struct ib_pma_portcounters *new = (void *)in.data;

	vib_count(port, VIB_RCV_DATA, 100);
	pma_init(IB_MGMT_METHOD_SET, IB_PMA_PORT_COUNTERS);
	new->port_select = 1;
	new->counter_select = IB_PMA_SEL_PORT_RCV_DATA;
	new->port_rcv_data = cpu_to_be32(0xfffffff0);
	KUNIT_EXPECT_EQ(test, pma_run(port), 0);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(narrow(test, port, 1)->port_rcv_data), 0xfffffff0);
	vib_count(port, VIB_RCV_DATA, 3);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(narrow(test, port, 1)->port_rcv_data), 0xfffffff3);
	vib_count(port, VIB_RCV_DATA, 100);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(narrow(test, port, 1)->port_rcv_data), 0xffffffff);
	/* The fabric's own, and the wide one, know nothing of it. */
	KUNIT_EXPECT_EQ(test, vib_port_counter(port, VIB_RCV_DATA), 203);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(extended(test, port, 1)->port_rcv_data), 203);
}

static void wide_counters_are_set_by_themselves(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = &mn->node.ports[1];
	struct ib_pma_portcounters_ext *new = (void *)in.data, *ext;

	count_all(port, 9);
	pma_init(IB_MGMT_METHOD_SET, IB_PMA_PORT_COUNTERS_EXT);
	new->port_select = 1;
	new->counter_select = IB_PMA_SELX_PORT_XMIT_DATA | IB_PMA_SELX_PORT_MULTI_RCV_PACKETS;
	KUNIT_EXPECT_EQ(test, pma_run(port), 0);
	ext = extended(test, port, 1);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(ext->port_xmit_data), 0);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(ext->port_rcv_data), 9);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(ext->port_unicast_xmit_packets), 9);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(ext->port_multicast_rcv_packets), 0);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(narrow(test, port, 1)->port_xmit_data), 9);
}

static void port_255_is_all_of_them(struct kunit *test)
{
	struct vib_switch *sw = mgmt_switch_new(test, 3);
	struct vib_port *ports = sw->node.ports;
	struct ib_pma_portcounters *new = (void *)in.data;
	unsigned int i;

	for (i = 0; i <= 3; i++)
		vib_count(&ports[i], VIB_RCV_PKTS, 1 << i);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(narrow(test, &ports[2], 255)->port_rcv_packets), 15);
	pma_init(IB_MGMT_METHOD_SET, IB_PMA_PORT_COUNTERS);
	new->port_select = 255;
	new->counter_select = IB_PMA_SEL_PORT_RCV_PACKETS;
	KUNIT_EXPECT_EQ(test, pma_run(&ports[2]), 0);
	for (i = 0; i <= 3; i++)
		KUNIT_EXPECT_EQ(test, be32_to_cpu(narrow(test, ports, i)->port_rcv_packets), 0);
}

static void ports_that_are_not_there(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 2);
	struct vib_switch *sw = mgmt_switch_new(test, 2);
	unsigned int select;

	for (select = 0; select < 256; select++) {
		bool there = select == 1 || select == 2 || select == 255;

		pma_init(IB_MGMT_METHOD_GET, IB_PMA_PORT_COUNTERS);
		in.data[1] = select;
		KUNIT_EXPECT_EQ_MSG(test, pma_run(&mn->node.ports[1]), there ? 0 : 0x1c,
				    "port %u", select);
		there |= !select;
		KUNIT_EXPECT_EQ_MSG(test, pma_run(&sw->node.ports[0]), there ? 0 : 0x1c,
				    "port %u of the switch", select);
	}
}

static void what_it_does_not_have(struct kunit *test)
{
	struct mgmt_node *mn = mgmt_node_new(test, 1);
	struct vib_port *port = &mn->node.ports[1];

	pma_init(IB_MGMT_METHOD_GET, IB_PMA_PORT_SAMPLES_CONTROL);
	KUNIT_EXPECT_EQ(test, pma_run(port), 0xc);
	pma_init(IB_MGMT_METHOD_GET, IB_PMA_CLASS_PORT_INFO);
	in.mad_hdr.class_version = 2;
	KUNIT_EXPECT_EQ(test, pma_run(port), 0x4);
	pma_init(IB_MGMT_METHOD_GET_RESP, IB_PMA_PORT_COUNTERS);
	KUNIT_EXPECT_EQ(test, pma_run(port), -1);
	KUNIT_EXPECT_EQ(test,
			vib_pma_handle(port, (struct ib_mad *)&in, (struct ib_mad *)&out),
			VIB_MAD_HOST);
}

static struct kunit_case pma_cases[] = {
	KUNIT_CASE(the_class_says_what_it_can),
	KUNIT_CASE(a_port_counts_from_nothing),
	KUNIT_CASE(narrow_counters_stop_at_their_end),
	KUNIT_CASE(each_bit_selects_one_counter),
	KUNIT_CASE(a_counter_goes_on_from_what_was_set),
	KUNIT_CASE(wide_counters_are_set_by_themselves),
	KUNIT_CASE(port_255_is_all_of_them),
	KUNIT_CASE(ports_that_are_not_there),
	KUNIT_CASE(what_it_does_not_have),
	{}
};

static struct kunit_suite pma_suite = {
	.name = "vib_pma",
	.test_cases = pma_cases,
};

kunit_test_suite(pma_suite);
