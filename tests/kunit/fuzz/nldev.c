// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The netlink messages of rdma(8), about an adapter and objects on it. */
#include <linux/device.h>
#include "../core/netlink/nl.h"
#include "fuzz.h"

#define DUMP	BIT(0)

struct nldev_state {
	struct nl nl;
	struct fake_hca *hca;
	struct test_objects o;
	struct ib_mr *mr;
	struct net_device *ndev;
};

/* A link that a message has made; the core frees it. */
static struct fake_hca *linked;

#define OP(name, command, fields, needs, takes, makes, flags) { \
	name, needs, takes, makes, fields, RDMA_NLDEV_CMD_##command, FUZZ_MESSAGE, 0, flags }

/* Kinds: c a counter of QPs, l a link.  Fields: see put_field(). */
static const struct fuzz_op nldev_ops[] = {
	OP("get", GET, "D", "", "", "", 0),
	OP("get_dump", GET, "", "", "", "", DUMP),
	OP("rename", SET, "DN", "", "", "", 0),
	OP("set_dim", SET, "DA", "", "", "", 0),
	OP("link_add", NEWLINK, "LTI", "", "", "l", 0),
	OP("link_del", DELLINK, "l", "l", "l", "", 0),
	OP("port", PORT_GET, "DP", "", "", "", 0),
	OP("port_dump", PORT_GET, "D", "", "", "", DUMP),
	OP("sys", SYS_GET, "", "", "", "", 0),
	OP("sys_set", SYS_SET, "S", "", "", "", 0),
	OP("sys_qkey", SYS_SET, "K", "", "", "", 0),
	OP("chardev", GET_CHARDEV, "DPU", "", "", "", 0),
	OP("chardev_cm", GET_CHARDEV, "V", "", "", "", 0),
	OP("res", RES_GET, "D", "", "", "", 0),
	OP("res_details", RES_GET, "DE", "", "", "", 0),
	OP("res_dump", RES_GET, "", "", "", "", DUMP),
	OP("qp", RES_QP_GET, "DQ", "", "", "", 0),
	OP("qp_dump", RES_QP_GET, "D", "", "", "", DUMP),
	OP("qp_raw", RES_QP_GET_RAW, "DQ", "", "", "", 0),
	OP("qp_raw_dump", RES_QP_GET_RAW, "D", "", "", "", DUMP),
	OP("cq", RES_CQ_GET, "DC", "", "", "", 0),
	OP("cq_dump", RES_CQ_GET, "D", "", "", "", DUMP),
	OP("pd", RES_PD_GET, "DF", "", "", "", 0),
	OP("pd_dump", RES_PD_GET, "D", "", "", "", DUMP),
	OP("mr", RES_MR_GET, "DM", "", "", "", 0),
	OP("mr_dump", RES_MR_GET, "D", "", "", "", DUMP),
	OP("cm_id_dump", RES_CM_ID_GET, "D", "", "", "", DUMP),
	OP("ctx_dump", RES_CTX_GET, "D", "", "", "", DUMP),
	OP("srq_dump", RES_SRQ_GET, "D", "", "", "", DUMP),
	OP("stat", STAT_GET, "DP", "", "", "", 0),
	OP("stat_mode", STAT_GET, "DPR1", "", "", "", 0),
	OP("stat_dump", STAT_GET, "DR", "", "", "", DUMP),
	OP("stat_mr", STAT_GET, "DXM", "", "", "", 0),
	OP("stat_auto", STAT_SET, "DPR1B", "", "", "", 0),
	OP("stat_off", STAT_SET, "DPR1", "", "", "", 0),
	OP("stat_bind", STAT_SET, "DPR2Q", "", "", "c", 0),
	OP("stat_bind_to", STAT_SET, "DPR2Qc", "c", "", "", 0),
	OP("stat_counter", STAT_GET, "DRc", "c", "", "", 0),
	OP("stat_unbind", STAT_DEL, "DPRQc", "c", "c", "", 0),
	OP("stat_enable", STAT_SET, "DPH", "", "", "", 0),
	OP("stat_status", STAT_GET_STATUS, "DP", "", "", "", 0),
};

static void put_attr(struct fuzz *f, u16 type, const void *data, u16 len)
{
	struct nlattr *nla = (void *)f->msg + f->len;

	nla->nla_type = type;
	nla->nla_len = NLA_HDRLEN + len;
	memcpy(nla + 1, data, len);
	f->len += NLA_ALIGN(nla->nla_len);
}

static void put_u32(struct fuzz *f, u16 type, u32 value)
{
	put_attr(f, type, &value, sizeof(value));
}

static void put_u8(struct fuzz *f, u16 type, u8 value)
{
	put_attr(f, type, &value, sizeof(value));
}

static void put_string(struct fuzz *f, u16 type, const char *value)
{
	put_attr(f, type, value, strlen(value) + 1);
}

static u32 some_qp(struct fuzz *f)
{
	struct nldev_state *state = f->priv;

	return state->o.qp[fuzz_rnd(f, state->o.nr_qps)]->qp_num;
}

/* Optional counters of the port that are on from now on. */
static void put_counters(struct fuzz *f)
{
	struct nlattr *nest = (void *)f->msg + f->len;
	u8 *start = f->msg + f->len;

	f->len += NLA_HDRLEN;
	put_u32(f, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX, STAT_OPT_A + fuzz_rnd(f, 2));
	nest->nla_type = RDMA_NLDEV_ATTR_STAT_HWCOUNTERS | NLA_F_NESTED;
	nest->nla_len = f->msg + f->len - start;
}

static void put_res(struct fuzz *f, char field)
{
	struct nldev_state *state = f->priv;

	switch (field) {
	case 'Q':
		put_u32(f, RDMA_NLDEV_ATTR_RES_LQPN, some_qp(f));
		break;
	case 'C':
		put_u32(f, RDMA_NLDEV_ATTR_RES_CQN, state->o.cq->res.id);
		break;
	case 'F':
		put_u32(f, RDMA_NLDEV_ATTR_RES_PDN, state->o.pd->res.id);
		break;
	case 'M':
		put_u32(f, RDMA_NLDEV_ATTR_RES_MRN, state->mr->res.id);
		break;
	case 'E':
		put_u8(f, RDMA_NLDEV_ATTR_DRIVER_DETAILS, 1);
		break;
	}
}

static void put_stat(struct fuzz *f, char field)
{
	switch (field) {
	case 'R':
		put_u32(f, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP);
		break;
	case 'X':
		put_u32(f, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_MR);
		break;
	case '1':
		put_u32(f, RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_AUTO);
		break;
	case '2':
		put_u32(f, RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_MANUAL);
		break;
	case 'B':
		put_u32(f, RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK, 1 + fuzz_rnd(f, 3));
		break;
	case 'c':
		put_u32(f, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, fuzz_handle(f, 'c'));
		break;
	case 'H':
		put_counters(f);
		break;
	}
}

static void put_field(struct fuzz *f, char field)
{
	struct nldev_state *state = f->priv;
	char name[16];

	switch (field) {
	case 'D':
		put_u32(f, RDMA_NLDEV_ATTR_DEV_INDEX, state->hca->ibdev.index);
		break;
	case 'l':
		put_u32(f, RDMA_NLDEV_ATTR_DEV_INDEX, fuzz_handle(f, 'l'));
		break;
	case 'P':
		put_u32(f, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
		break;
	case 'N':
	case 'L':
		snprintf(name, sizeof(name), "%c%u", field, fuzz_rnd(f, 4));
		put_string(f, RDMA_NLDEV_ATTR_DEV_NAME, name);
		break;
	case 'T':
		put_string(f, RDMA_NLDEV_ATTR_LINK_TYPE, "fuzz");
		break;
	case 'I':
		put_string(f, RDMA_NLDEV_ATTR_NDEV_NAME, state->ndev->name);
		break;
	case 'A':
		put_u8(f, RDMA_NLDEV_ATTR_DEV_DIM, fuzz_rnd(f, 2));
		break;
	case 'S':
		put_u8(f, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 1);
		break;
	case 'K':
		put_u8(f, RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE, fuzz_rnd(f, 2));
		break;
	case 'U':
		put_string(f, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "umad");
		break;
	case 'V':
		put_string(f, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "rdma_cm");
		break;
	default:
		put_res(f, field);
		put_stat(f, field);
	}
}

/* The response: its error, or 0. */
static int receive(struct nl *nl)
{
	int ret, result = 0;
	bool ended = false;

	while (!ended) {
		ret = nl_receive(nl, &result, &ended);
		if (ret < 0)
			return ret;
	}
	return result;
}

static u32 counter_of(struct nl *nl)
{
	static struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];

	nl_attrs(nl, 0, tb);
	return nl_u32(tb[RDMA_NLDEV_ATTR_STAT_COUNTER_ID]);
}

static bool nldev_call(struct fuzz *f, const struct fuzz_op *op)
{
	struct nldev_state *state = f->priv;
	struct nlmsghdr *nlh = (void *)f->msg;
	struct sk_buff *skb;
	const char *s;
	u32 made = 0;

	f->len = NLMSG_HDRLEN;
	for (s = op->fields; *s; s++)
		put_field(f, *s);
	nlh->nlmsg_len = f->len;
	nlh->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op->number);
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | (op->flags & DUMP ? NLM_F_DUMP : 0);
	nlh->nlmsg_seq = ++state->nl.seq;
	fuzz_spoil(f);
	skb = alloc_skb(f->len + 1, GFP_KERNEL | __GFP_NOFAIL);
	skb_put_data(skb, f->msg, f->len);
	if (nl_send_raw(&state->nl, skb) || receive(&state->nl))
		return false;
	if (*op->makes == 'c')
		made = counter_of(&state->nl);
	else if (*op->makes == 'l' && linked)
		made = linked->ibdev.index;
	fuzz_account(f, op, (u32[]) { made, 0 });
	return true;
}

/* ---- links ---- */

static void linked_dealloc(struct ib_device *dev)
{
	destroy_workqueue(to_fake_hca(dev)->wq);
	if (linked == to_fake_hca(dev))
		linked = NULL;
}

static int linked_query_device(struct ib_device *dev, struct ib_device_attr *attr,
			       struct ib_udata *udata)
{
	attr->max_pkeys = FAKE_HCA_PKEYS;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY | IBK_ALLOW_USER_UNREG;
	return 0;
}

static int newlink(const char *name, struct net_device *dev)
{
	static const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
	};
	struct fake_hca *hca;
	int ret;

	if (linked)
		return -EBUSY;
	hca = fake_hca_alloc(&params);
	if (!hca)
		return -ENOMEM;
	hca->ibdev.ops.query_device = linked_query_device;
	hca->ibdev.ops.dealloc_driver = linked_dealloc;
	ret = ib_register_device(&hca->ibdev, name, NULL);
	if (ret)
		ib_dealloc_device(&hca->ibdev);
	else
		linked = hca;
	return ret;
}

static struct rdma_link_ops link_ops = { .type = "fuzz", .newlink = newlink };

/* ---- the adapter ---- */

static int fill_raw_qp(struct sk_buff *msg, struct ib_qp *qp)
{
	return nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_RAW, qp->qp_num);
}

static int nldev_begin(struct fuzz *f)
{
	struct nldev_state *state = f->priv;
	int ret, i;

	ret = test_objects_create(&state->o, state->hca, TEST_QPS, true, IB_QPT_RC);
	if (ret)
		return ret;
	state->mr = ib_alloc_mr(state->o.pd, IB_MR_TYPE_MEM_REG, 4);
	if (IS_ERR(state->mr))
		return PTR_ERR(state->mr);
	for (i = 0; i < TEST_QPS - 1 && !ret; i++)
		ret = test_qp_init(state->o.qp[i], 1);
	return ret ?: nl_open(&state->nl, &init_net);
}

static void set_back(struct nldev_state *state, int cmd, int attr, const void *data, int len)
{
	struct sk_buff *req = nl_dev_req(&state->nl, cmd, state->hca, 1);

	nla_put(req, attr, len, data);
	if (cmd == RDMA_NLDEV_CMD_STAT_SET)
		nla_put_u32(req, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP);
	nl_call(&state->nl, req);
}

/* Sets back what messages may have changed: an adapter for each input would take too long. */
static void nldev_end(struct fuzz *f)
{
	static const u32 mode = RDMA_COUNTER_MODE_AUTO;
	static const u8 off, on = 1;
	struct nldev_state *state = f->priv;

	if (linked)
		nl_call(&state->nl, nl_dev_req(&state->nl, RDMA_NLDEV_CMD_DELLINK, linked, 0));
	set_back(state, RDMA_NLDEV_CMD_SYS_SET, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, &on, 1);
	set_back(state, RDMA_NLDEV_CMD_SYS_SET, RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE,
		 &off, 1);
	set_back(state, RDMA_NLDEV_CMD_SET, RDMA_NLDEV_ATTR_DEV_NAME, "fuzzed", 7);
	set_back(state, RDMA_NLDEV_CMD_SET, RDMA_NLDEV_ATTR_DEV_DIM, &off, 1);
	set_back(state, RDMA_NLDEV_CMD_STAT_SET,
		 RDMA_NLDEV_ATTR_STAT_HWCOUNTERS | NLA_F_NESTED, NULL, 0);
	ib_dereg_mr(state->mr);
	test_objects_destroy(&state->o);
	/* Only without counters that are bound. */
	set_back(state, RDMA_NLDEV_CMD_STAT_SET, RDMA_NLDEV_ATTR_STAT_MODE, &mode, 4);
	nl_close(&state->nl);
}

/* All counters of QPs, and their bindings, went with the QPs. */
static int nldev_left(struct fuzz *f)
{
	return stats_state.counters + stats_state.bound + !!linked;
}

static int nldev_init(struct fuzz *f)
{
	static const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
	};
	struct nldev_state *state = kunit_kzalloc(f->test, sizeof(*state), GFP_KERNEL);

	f->priv = state;
	if (!state)
		return -ENOMEM;
	state->ndev = fake_netdev_create("fuzz%d");
	if (!state->ndev)
		return -ENOMEM;
	rdma_link_register(&link_ops);
	state->hca = stats_hca_create(&params);
	if (!state->hca)
		return -ENOMEM;
	state->hca->ibdev.ops.fill_res_qp_entry_raw = fill_raw_qp;
	return 0;
}

static void nldev_exit(struct fuzz *f)
{
	struct nldev_state *state = f->priv;

	if (!state || !state->ndev)
		return;
	if (state->hca)
		fake_hca_destroy(state->hca);
	rdma_link_unregister(&link_ops);
	fake_netdev_destroy(state->ndev);
}

const struct fuzz_target fuzz_nldev = {
	.name = "nldev",
	.ops = nldev_ops,
	.nr_ops = ARRAY_SIZE(nldev_ops),
	.init = nldev_init,
	.exit = nldev_exit,
	.begin = nldev_begin,
	.end = nldev_end,
	.call = nldev_call,
	.left = nldev_left,
};
