// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The table of a node's ports in configfs: configfs hands out as much as was announced. */
#include "config/config.h"
#include "../mgmt/mgmt_node.h"

#define LINE_LEN	34

/* The table of @node, with its length; nothing is written beyond it. */
static char *table(struct kunit *test, struct vib_node *node, size_t *len)
{
	char *text;

	*len = vib_config_ports_read(node, NULL, 0);
	KUNIT_ASSERT_GT(test, *len, 0);
	text = kunit_kzalloc(test, *len + 1, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_ASSERT_EQ(test, vib_config_ports_read(node, text, *len), *len);
	KUNIT_EXPECT_EQ(test, strlen(text), *len);
	return text;
}

static void each_port_of_an_adapter_has_a_line(struct kunit *test)
{
	struct vib_node *node = &mgmt_node_new(test, 2)->node;
	size_t len;
	char *text;

	node->ports[2].lid = 0xbfff;
	node->ports[2].lmc = 7;
	node->ports[2].state = IB_PORT_ACTIVE;
	node->ports[2].phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	node->ports[2].info.link_width_active = IB_WIDTH_1X;
	node->ports[2].info.linkspeedactive_enabled = IB_SPEED_DDR << 4;
	text = table(test, node, &len);
	KUNIT_EXPECT_STREQ(test, text,
			   "  1 Down   Polling      0 0     -\n"
			   "  2 Active LinkUp   49151 7 1xDDR\n");
}

static void port_0_of_a_switch_is_the_first(struct kunit *test)
{
	size_t len, i;
	char *text;

	text = table(test, &mgmt_switch_new(test, VIB_MAX_PORTS)->node, &len);
	KUNIT_EXPECT_EQ(test, len, (VIB_MAX_PORTS + 1) * LINE_LEN);
	KUNIT_EXPECT_EQ(test, strncmp(text, "  0 Active LinkUp       0 0     -\n", LINE_LEN),
			0);
	for (i = LINE_LEN - 1; i < len; i += LINE_LEN)
		KUNIT_EXPECT_EQ(test, text[i], '\n');
}

static void states_that_do_not_exist_leave_the_length(struct kunit *test)
{
	struct vib_node *node = &mgmt_node_new(test, 1)->node;
	size_t len;

	memset(&node->ports[1].info, 0xff, sizeof(node->ports[1].info));
	node->ports[1].state = 0xff;
	node->ports[1].phys_state = 0xff;
	node->ports[1].lmc = 0xff;
	node->ports[1].lid = 0xffff;
	table(test, node, &len);
	KUNIT_EXPECT_EQ(test, len, LINE_LEN);
}

static void another_size_is_refused(struct kunit *test)
{
	struct vib_node *node = &mgmt_node_new(test, 2)->node;
	char text[3 * LINE_LEN];
	size_t size;

	memset(text, 0x5a, sizeof(text));
	for (size = 0; size <= sizeof(text); size++) {
		if (size != 2 * LINE_LEN)
			KUNIT_EXPECT_EQ(test, vib_config_ports_read(node, text, size), -EAGAIN);
	}
	KUNIT_EXPECT_PTR_EQ(test, memchr_inv(text, 0x5a, sizeof(text)), NULL);
}

static struct kunit_case ports_cases[] = {
	KUNIT_CASE(each_port_of_an_adapter_has_a_line),
	KUNIT_CASE(port_0_of_a_switch_is_the_first),
	KUNIT_CASE(states_that_do_not_exist_leave_the_length),
	KUNIT_CASE(another_size_is_refused),
	{}
};

static struct kunit_suite ports_suite = {
	.name = "vib_ports",
	.test_cases = ports_cases,
};

kunit_test_suite(ports_suite);
