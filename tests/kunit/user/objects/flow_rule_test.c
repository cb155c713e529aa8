// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Flow steering rules of processes. */
#include "faults.h"
#include "user/queues/process_queues.h"
#include "user/uverbs_test.h"

struct rule {
	struct ib_uverbs_create_flow cmd;
	u8 specs[512];
};

static u32 rule_qp;

static void begin(struct rule *rule, u32 qp)
{
	memset(rule, 0, sizeof(*rule));
	rule->cmd.qp_handle = qp;
	rule->cmd.flow_attr.port = 1;
	rule->cmd.flow_attr.priority = 2;
}

static void *add(struct rule *rule, u32 type, u16 size)
{
	struct ib_uverbs_flow_spec_hdr *hdr =
		(void *)rule->specs + rule->cmd.flow_attr.size;

	hdr->type = type;
	hdr->size = size;
	rule->cmd.flow_attr.size += size;
	rule->cmd.flow_attr.num_of_specs++;
	return hdr;
}

static int create(struct commands *c, struct rule *rule, u32 *handle)
{
	struct ib_uverbs_create_flow_resp resp = {};
	int ret;

	ret = commands_write(c, EX(CREATE_FLOW), rule,
			     sizeof(rule->cmd) + rule->cmd.flow_attr.size, &resp,
			     sizeof(resp));
	if (handle)
		*handle = resp.flow_handle;
	return ret;
}

static int destroy(struct commands *c, u32 handle)
{
	struct ib_uverbs_destroy_flow cmd = { .flow_handle = handle };

	return commands_write(c, EX(DESTROY_FLOW), &cmd, sizeof(cmd), NULL, 0);
}

/* Creates a rule of one spec, and destroys it if that worked. */
static int try_rule(struct commands *c, struct rule *rule)
{
	u32 handle;
	int ret = create(c, rule, &handle);

	if (!ret)
		KUNIT_EXPECT_EQ(c->test, destroy(c, handle), 0);
	return ret;
}

static const struct ib_flow_attr *made(struct commands *c)
{
	return (const struct ib_flow_attr *)c->hca->queues.flow;
}

static int flow_init(struct kunit *test)
{
	int ret = queues_init(test);

	if (!ret)
		rule_qp = queues_qp(test->priv, IB_QPT_RAW_PACKET);
	return ret;
}

static void a_rule_of_several_headers(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_flow_spec_tcp_udp *udp;
	struct ib_uverbs_flow_spec_action_tag *tag;
	struct ib_uverbs_flow_spec_ipv6 *ip;
	struct ib_uverbs_flow_spec_eth *eth;
	const union ib_flow_spec *spec;
	struct rule rule;
	struct ib_qp *qp = commands_object(c, UVERBS_OBJECT_QP, rule_qp);
	u32 handle;

	begin(&rule, rule_qp);
	rule.cmd.flow_attr.flags = IB_FLOW_ATTR_FLAGS_DONT_TRAP;
	eth = add(&rule, IB_FLOW_SPEC_ETH, sizeof(*eth));
	memset(eth->val.dst_mac, 0x11, 6);
	memset(eth->mask.dst_mac, 0xff, 6);
	eth->mask.vlan_tag = cpu_to_be16(0xfff);
	ip = add(&rule, IB_FLOW_SPEC_IPV6 | IB_FLOW_SPEC_INNER, sizeof(*ip));
	ip->val.src_ip[15] = 4;
	ip->mask.hop_limit = 0xff;
	udp = add(&rule, IB_FLOW_SPEC_UDP, sizeof(*udp));
	udp->val.src_port = cpu_to_be16(99);
	tag = add(&rule, IB_FLOW_SPEC_ACTION_TAG, sizeof(*tag));
	tag->tag_id = 0xabc;
	add(&rule, IB_FLOW_SPEC_ACTION_DROP,
	    sizeof(struct ib_uverbs_flow_spec_action_drop));
	KUNIT_ASSERT_EQ(test, create(c, &rule, &handle), 0);

	KUNIT_EXPECT_EQ(test, made(c)->num_of_specs, 5);
	KUNIT_EXPECT_EQ(test, made(c)->priority, 2);
	KUNIT_EXPECT_EQ(test, made(c)->port, 1u);
	KUNIT_EXPECT_EQ(test, made(c)->flags, (u32)IB_FLOW_ATTR_FLAGS_DONT_TRAP);
	spec = made(c)->flows;
	KUNIT_EXPECT_EQ(test, spec->type, (u32)IB_FLOW_SPEC_ETH);
	KUNIT_EXPECT_EQ(test, spec->eth.val.dst_mac[5], 0x11);
	KUNIT_EXPECT_EQ(test, spec->eth.mask.dst_mac[5], 0xff);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(spec->eth.mask.vlan_tag), 0xfff);
	spec = (const void *)spec + spec->size;
	KUNIT_EXPECT_EQ(test, spec->type, (u32)(IB_FLOW_SPEC_IPV6 | IB_FLOW_SPEC_INNER));
	KUNIT_EXPECT_EQ(test, spec->ipv6.val.src_ip[15], 4);
	KUNIT_EXPECT_EQ(test, spec->ipv6.mask.hop_limit, 0xff);
	spec = (const void *)spec + spec->size;
	KUNIT_EXPECT_EQ(test, be16_to_cpu(spec->tcp_udp.val.src_port), 99);
	spec = (const void *)spec + spec->size;
	KUNIT_EXPECT_EQ(test, spec->flow_tag.tag_id, 0xabcu);
	spec = (const void *)spec + spec->size;
	KUNIT_EXPECT_EQ(test, spec->type, (u32)IB_FLOW_SPEC_ACTION_DROP);
	KUNIT_EXPECT_EQ(test, (long)made(c)->size,
			(long)((const void *)spec + spec->size - (const void *)made(c)));

	KUNIT_EXPECT_EQ(test, atomic_read(&qp->usecnt), 1);
	KUNIT_EXPECT_EQ(test, queues_destroy_qp(c, rule_qp), -EBUSY);
	atomic_set(&c->hca->fail_destroy[FAKE_FLOW], 1);
	KUNIT_EXPECT_EQ(test, destroy(c, handle), -EIO);
	KUNIT_EXPECT_EQ(test, commands_destroy(c, UVERBS_OBJECT_FLOW,
					       UVERBS_METHOD_FLOW_DESTROY, handle), 0);
	KUNIT_EXPECT_EQ(test, queues_destroy_qp(c, rule_qp), 0);
	queues_expect_idle(c);
}

static void filters_of_every_type(struct kunit *test)
{
	static const struct { u32 type; u16 size; } types[] = {
		{ IB_FLOW_SPEC_ETH, sizeof(struct ib_uverbs_flow_spec_eth) },
		{ IB_FLOW_SPEC_IPV4, sizeof(struct ib_uverbs_flow_spec_ipv4) },
		{ IB_FLOW_SPEC_IPV6, sizeof(struct ib_uverbs_flow_spec_ipv6) },
		{ IB_FLOW_SPEC_ESP, sizeof(struct ib_uverbs_flow_spec_esp) },
		{ IB_FLOW_SPEC_TCP, sizeof(struct ib_uverbs_flow_spec_tcp_udp) },
		{ IB_FLOW_SPEC_UDP, sizeof(struct ib_uverbs_flow_spec_tcp_udp) },
		{ IB_FLOW_SPEC_VXLAN_TUNNEL, sizeof(struct ib_uverbs_flow_spec_tunnel) },
		{ IB_FLOW_SPEC_GRE, sizeof(struct ib_uverbs_flow_spec_gre) },
		{ IB_FLOW_SPEC_MPLS, sizeof(struct ib_uverbs_flow_spec_mpls) },
	};
	struct commands *c = test->priv;
	struct rule rule;
	int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		begin(&rule, rule_qp);
		add(&rule, types[i].type, types[i].size);
		KUNIT_EXPECT_EQ_MSG(test, try_rule(c, &rule), 0, "type %#x",
				    types[i].type);
		begin(&rule, rule_qp);
		add(&rule, types[i].type, 8);
		KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EINVAL);
		begin(&rule, rule_qp);
		add(&rule, types[i].type, types[i].size - 1);
		KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EINVAL);
		/* A newer program's spec: a value is ignored where its mask is 0. */
		begin(&rule, rule_qp);
		add(&rule, types[i].type, types[i].size + 16);
		rule.specs[8 + (types[i].size - 8) / 2 + 7] = 1;
		KUNIT_EXPECT_EQ(test, try_rule(c, &rule), 0);
		rule.specs[types[i].size + 15] = 1;
		KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EOPNOTSUPP);
	}
}

static void an_older_ipv4_filter(struct kunit *test)
{
	struct commands *c = test->priv;
	const union ib_flow_spec *spec = made(c)->flows;
	struct rule rule;
	u8 *at;

	/* Source and destination, of the value and of the mask. */
	begin(&rule, rule_qp);
	at = add(&rule, IB_FLOW_SPEC_IPV4, 24);
	at[8 + 7] = 5;
	at[16 + 7] = 0xff;
	KUNIT_ASSERT_EQ(test, try_rule(c, &rule), 0);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(spec->ipv4.val.dst_ip), 5u);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(spec->ipv4.mask.dst_ip), 0xffu);
	KUNIT_EXPECT_EQ(test, spec->ipv4.mask.tos, 0);
}

static void fields_that_are_too_wide(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_flow_spec_tunnel *vxlan;
	struct ib_uverbs_flow_spec_ipv6 *ip;
	struct rule rule;

	begin(&rule, rule_qp);
	ip = add(&rule, IB_FLOW_SPEC_IPV6, sizeof(*ip));
	ip->mask.flow_label = cpu_to_be32(BIT(20) - 1);
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), 0);
	ip->mask.flow_label = cpu_to_be32(BIT(20));
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EINVAL);
	begin(&rule, rule_qp);
	vxlan = add(&rule, IB_FLOW_SPEC_VXLAN_TUNNEL, sizeof(*vxlan));
	vxlan->val.tunnel_id = cpu_to_be32(BIT(24));
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EINVAL);
}

static void what_is_no_rule(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_flow_spec_hdr *hdr;
	const struct cred *old;
	struct rule rule;
	int i;

	begin(&rule, rule_qp);
	old = queues_drop_net_raw(test);
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EPERM);
	user_restore(old);
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), 0);
	rule.cmd.comp_mask = 1;
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EINVAL);
	begin(&rule, rule_qp);
	rule.cmd.flow_attr.type = IB_FLOW_ATTR_SNIFFER + 1;
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EINVAL);
	rule.cmd.flow_attr.type = IB_FLOW_ATTR_MC_DEFAULT;
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), 0);
	rule.cmd.flow_attr.flags = IB_FLOW_ATTR_FLAGS_DONT_TRAP;
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EINVAL);
	begin(&rule, rule_qp);
	rule.cmd.flow_attr.flags = IB_FLOW_ATTR_FLAGS_RESERVED;
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EINVAL);
	begin(&rule, rule_qp);
	rule.cmd.flow_attr.reserved[1] = 1;
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EINVAL);
	begin(&rule, rule_qp);
	for (i = 0; i < IB_FLOW_SPEC_SUPPORT_LAYERS; i++)
		add(&rule, IB_FLOW_SPEC_ACTION_DROP, 8);
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), 0);
	add(&rule, IB_FLOW_SPEC_ACTION_DROP, 8);
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EINVAL);

	/* The number or length of the specs differs from that in the header. */
	begin(&rule, rule_qp);
	hdr = add(&rule, IB_FLOW_SPEC_ACTION_DROP, 8);
	rule.cmd.flow_attr.num_of_specs = 2;
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EINVAL);
	rule.cmd.flow_attr.num_of_specs = 0;
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EINVAL);
	rule.cmd.flow_attr.num_of_specs = 1;
	hdr->size = 16;
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EINVAL);
	hdr->size = 0;
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EINVAL);
	hdr->size = 8;
	hdr->reserved = 1;
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EINVAL);
	hdr->reserved = 0;
	hdr->type = IB_FLOW_SPEC_IB;
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EINVAL);
	hdr->type = IB_FLOW_SPEC_ACTION_DROP | IB_FLOW_SPEC_INNER;
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EINVAL);
	hdr->type = IB_FLOW_SPEC_ACTION_TAG;
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EINVAL);
	hdr->type = IB_FLOW_SPEC_ACTION_COUNT;
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EINVAL);
	begin(&rule, queues_qp(c, IB_QPT_RC));
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EINVAL);
	begin(&rule, queues.cq);
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -EINVAL);
	begin(&rule, rule_qp);
	atomic_set(&c->hca->fail_create[FAKE_FLOW], 1);
	KUNIT_EXPECT_EQ(test, try_rule(c, &rule), -ENOMEM);
}

static void what_is_no_proper_call(struct kunit *test)
{
	struct ib_uverbs_destroy_flow gone = { .comp_mask = 1 };
	struct commands *c = test->priv;
	struct rule rule;

	begin(&rule, rule_qp);
	commands_check_lengths(c, EX(CREATE_FLOW), &rule.cmd, sizeof(rule.cmd),
			       sizeof(struct ib_uverbs_create_flow_resp), false);
	KUNIT_ASSERT_EQ(test, create(c, &rule, &gone.flow_handle), 0);
	KUNIT_EXPECT_EQ(test, commands_write(c, EX(DESTROY_FLOW), &gone, sizeof(gone),
					     NULL, 0), -EINVAL);
	gone.comp_mask = 0;
	commands_check_lengths(c, EX(DESTROY_FLOW), &gone, sizeof(gone), 0, false);
	KUNIT_EXPECT_EQ(test, destroy(c, rule_qp), -EINVAL);
	/* The number of specs is larger than what was sent. */
	rule.cmd.flow_attr.size = 8;
	rule.cmd.flow_attr.num_of_specs = 1;
	KUNIT_EXPECT_EQ(test, commands_write(c, EX(CREATE_FLOW), &rule.cmd,
					     sizeof(rule.cmd), &gone, 8), -ENOSPC);
}

/* Drivers have methods that create actions; here the case does it. */
static u32 make_action(struct commands *c)
{
	struct ib_flow_action *action = kzalloc(sizeof(*action), GFP_KERNEL);
	u64 buf[64];
	struct uverbs_call *call = uverbs_call_init(buf, sizeof(buf), 0, c->file);
	struct ib_device *ibdev;
	struct ib_uobject *uobj;
	u32 handle;

	KUNIT_ASSERT_NOT_NULL(c->test, action);
	uobj = uobj_alloc(UVERBS_OBJECT_FLOW_ACTION, &call->bundle, &ibdev);
	KUNIT_ASSERT_FALSE(c->test, IS_ERR(uobj));
	uverbs_flow_action_fill_action(action, uobj, ibdev, IB_FLOW_ACTION_ESP);
	atomic_inc(&c->hca->alive[FAKE_FLOW_ACTION]);
	handle = uobj->id;
	rdma_alloc_commit_uobject(uobj, &call->bundle);
	return handle;
}

static void a_rule_uses_its_actions(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_flow_spec_action_handle *spec;
	u32 action = make_action(c), handle;
	struct rule rule;

	begin(&rule, rule_qp);
	spec = add(&rule, IB_FLOW_SPEC_ACTION_HANDLE, sizeof(*spec));
	spec->handle = action;
	spec->reserved1 = 1;
	KUNIT_EXPECT_EQ(test, create(c, &rule, &handle), -EINVAL);
	spec->reserved1 = 0;
	KUNIT_ASSERT_EQ(test, create(c, &rule, &handle), 0);
	KUNIT_EXPECT_PTR_EQ(test, (void *)made(c)->flows[0].action.act,
			    commands_object(c, UVERBS_OBJECT_FLOW_ACTION, action));
	KUNIT_EXPECT_EQ(test, commands_destroy(c, UVERBS_OBJECT_FLOW_ACTION,
					       UVERBS_METHOD_FLOW_ACTION_DESTROY, action),
			-EBUSY);
	KUNIT_EXPECT_EQ(test, destroy(c, handle), 0);
	/* A rule that fails after it took its action releases it. */
	add(&rule, IB_FLOW_SPEC_IB, 8);
	KUNIT_EXPECT_EQ(test, create(c, &rule, &handle), -EINVAL);
	KUNIT_EXPECT_EQ(test, commands_destroy(c, UVERBS_OBJECT_FLOW_ACTION,
					       UVERBS_METHOD_FLOW_ACTION_DESTROY, action),
			0);
	begin(&rule, rule_qp);
	spec = add(&rule, IB_FLOW_SPEC_ACTION_HANDLE, sizeof(*spec));
	spec->handle = queues.cq;
	KUNIT_EXPECT_EQ(test, create(c, &rule, &handle), -EINVAL);
	begin(&rule, rule_qp);
	spec = add(&rule, IB_FLOW_SPEC_ACTION_COUNT, sizeof(*spec));
	spec->handle = queues.cq;
	KUNIT_EXPECT_LT(test, create(c, &rule, &handle), 0);
}

static void a_rule_uses_its_counters(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_flow_spec_action_count *spec;
	struct rule rule;
	u32 counters, handle;
	int ret;

	commands_begin(c, UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE);
	commands_new(c, UVERBS_ATTR_CREATE_COUNTERS_HANDLE);
	ret = commands_ioctl(c);
	if (ret == -EPROTONOSUPPORT)
		kunit_skip(test, "no counters");
	KUNIT_ASSERT_EQ(test, ret, 0);
	counters = commands_got_handle(c, UVERBS_ATTR_CREATE_COUNTERS_HANDLE);
	begin(&rule, rule_qp);
	spec = add(&rule, IB_FLOW_SPEC_ACTION_COUNT, sizeof(*spec));
	spec->handle = counters;
	KUNIT_ASSERT_EQ(test, create(c, &rule, &handle), 0);
	KUNIT_EXPECT_EQ(test, commands_destroy(c, UVERBS_OBJECT_COUNTERS,
					       UVERBS_METHOD_COUNTERS_DESTROY, counters),
			-EBUSY);
	KUNIT_EXPECT_EQ(test, destroy(c, handle), 0);
	KUNIT_EXPECT_EQ(test, commands_destroy(c, UVERBS_OBJECT_COUNTERS,
					       UVERBS_METHOD_COUNTERS_DESTROY, counters),
			0);
}

static void closing_the_file_ends_its_rules(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_flow_spec_action_handle *spec;
	struct rule rule;

	begin(&rule, rule_qp);
	spec = add(&rule, IB_FLOW_SPEC_ACTION_HANDLE, sizeof(*spec));
	spec->handle = make_action(c);
	KUNIT_ASSERT_EQ(test, create(c, &rule, NULL), 0);
	commands_close(c);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(c->hca), 0);
}

static int make_and_destroy(struct kunit *test)
{
	struct commands *c = test->priv;
	struct rule rule;
	u32 handle;
	int ret;

	begin(&rule, rule_qp);
	add(&rule, IB_FLOW_SPEC_ACTION_DROP, 8);
	ret = create(c, &rule, &handle);
	return ret ?: destroy(c, handle);
}

static void each_allocation_may_fail(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, make_and_destroy), 5);
	KUNIT_EXPECT_EQ(test, queues_destroy_qp(test->priv, rule_qp), 0);
	queues_expect_idle(test->priv);
}

static struct kunit_case flow_rule_cases[] = {
	KUNIT_CASE(a_rule_of_several_headers),
	KUNIT_CASE(filters_of_every_type),
	KUNIT_CASE(an_older_ipv4_filter),
	KUNIT_CASE(fields_that_are_too_wide),
	KUNIT_CASE(what_is_no_rule),
	KUNIT_CASE(what_is_no_proper_call),
	KUNIT_CASE(a_rule_uses_its_actions),
	KUNIT_CASE(a_rule_uses_its_counters),
	KUNIT_CASE(closing_the_file_ends_its_rules),
	KUNIT_CASE(each_allocation_may_fail),
	{}
};

static struct kunit_suite uverbs_flow_rule_suite = {
	.name = "uverbs_flow_rule",
	.init = flow_init,
	.exit = commands_exit,
	.test_cases = flow_rule_cases,
};

kunit_test_suite(uverbs_flow_rule_suite);
