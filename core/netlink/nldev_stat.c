// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RDMA netlink: rdma-statistic(8).  The hardware counters of a port, which of
 * the optional ones are enabled, and counters of QPs and MRs.
 */
#include <net/netlink.h>
#include <rdma/rdma_counter.h>

#include "device/device.h"
#include "netlink/nldev.h"

/* ---- the counters of a port ---- */

static int put_stat_handle(struct ibcore_nldev_req *req)
{
	if (ibcore_nldev_put_handle(req->msg, req->dev) ||
	    nla_put_u32(req->msg, RDMA_NLDEV_ATTR_PORT_INDEX, req->port))
		return -EMSGSIZE;
	return 0;
}

/* Reads the port's current values, and which counters are disabled. */
static int read_port_stats(struct ibcore_nldev_req *req,
			   struct rdma_hw_stats *stats, u64 *values,
			   unsigned long *disabled)
{
	int n = stats->num_counters;
	int ret;

	mutex_lock(&stats->lock);
	ret = ibcore_hw_stats_refresh(req->dev, stats, req->port, n);
	memcpy(values, stats->value, n * sizeof(*values));
	bitmap_copy(disabled, stats->is_disabled, n);
	mutex_unlock(&stats->lock);
	if (!ret)
		ibcore_counter_add_hwstats(req->dev, req->port, 0, n, values);
	return ret;
}

static int put_values(struct sk_buff *msg, const struct rdma_hw_stats *stats,
		      const u64 *values, const unsigned long *disabled)
{
	struct nlattr *table;
	int i;

	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	if (!table)
		return -EMSGSIZE;
	for (i = 0; i < stats->num_counters; i++)
		if (!test_bit(i, disabled) &&
		    rdma_nl_stat_hwcounter_entry(msg, stats->descs[i].name,
						 values[i]))
			return -EMSGSIZE;
	nla_nest_end(msg, table);
	return 0;
}

static int port_stat_get(struct ibcore_nldev_req *req)
{
	struct rdma_hw_stats *stats;
	unsigned long *disabled;
	int ret = -ENOMEM;
	u64 *values;

	stats = ibcore_hw_stats_get_port(req->dev, req->port);
	if (!stats)
		return -EINVAL;
	if (put_stat_handle(req))
		return -EMSGSIZE;

	values = kcalloc(stats->num_counters, sizeof(*values), GFP_KERNEL);
	disabled = bitmap_zalloc(stats->num_counters, GFP_KERNEL);
	if (!values || !disabled)
		goto out;
	ret = read_port_stats(req, stats, values, disabled);
	if (!ret)
		ret = put_values(req->msg, stats, values, disabled);
out:
	bitmap_free(disabled);
	kfree(values);
	return ret;
}

static int put_status(struct sk_buff *msg, const struct rdma_hw_stats *stats,
		      int i)
{
	struct nlattr *nest;

	nest = nla_nest_start(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
	if (!nest ||
	    nla_put_string(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME,
			   stats->descs[i].name) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX, i))
		return -EMSGSIZE;
	if (ibcore_hw_stats_is_optional(stats, i) &&
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC,
		       !test_bit(i, stats->is_disabled)))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

/* Reports which counters the port has, and which optional ones are enabled. */
int ibcore_nldev_stat_status(struct ibcore_nldev_req *req)
{
	struct rdma_hw_stats *stats;
	struct nlattr *table;
	int i, ret = 0;

	stats = ibcore_hw_stats_get_port(req->dev, req->port);
	if (!stats)
		return -EINVAL;
	if (put_stat_handle(req))
		return -EMSGSIZE;
	table = nla_nest_start(req->msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	if (!table)
		return -EMSGSIZE;

	mutex_lock(&stats->lock);
	for (i = 0; i < stats->num_counters && !ret; i++)
		ret = put_status(req->msg, stats, i);
	mutex_unlock(&stats->lock);
	if (!ret)
		nla_nest_end(req->msg, table);
	return ret;
}

/* Parses the list of optional counters from userspace into a bitmap. */
static int parse_wanted(struct ibcore_nldev_req *req,
			const struct rdma_hw_stats *stats, unsigned long *wanted)
{
	struct nlattr *entry;
	int rem;
	u32 i;

	nla_for_each_nested(entry, req->tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS],
			    rem) {
		if (nla_type(entry) != RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX ||
		    nla_len(entry) != sizeof(u32))
			return -EINVAL;
		i = nla_get_u32(entry);
		if (i >= stats->num_counters ||
		    !ibcore_hw_stats_is_optional(stats, i))
			return -EINVAL;
		__set_bit(i, wanted);
	}
	return 0;
}

/*
 * Enables the wanted optional counters and disables the others; stops at the
 * first failure.
 */
static int apply_wanted(struct ibcore_nldev_req *req,
			struct rdma_hw_stats *stats,
			const unsigned long *wanted)
{
	struct ib_device *dev = req->dev;
	int i, ret;

	lockdep_assert_held(&stats->lock);
	for (i = 0; i < stats->num_counters; i++) {
		bool on = test_bit(i, wanted);

		if (!ibcore_hw_stats_is_optional(stats, i) ||
		    on != test_bit(i, stats->is_disabled))
			continue;
		ret = dev->ops.modify_hw_stat(dev, req->port, i, on);
		if (ret)
			return ret;
		__change_bit(i, stats->is_disabled);
	}
	return 0;
}

static int set_optional_counters(struct ibcore_nldev_req *req)
{
	struct rdma_hw_stats *stats;
	unsigned long *wanted;
	int ret;

	stats = ibcore_hw_stats_get_port(req->dev, req->port);
	if (!stats)
		return -EINVAL;
	/* No optional counter can be enabled, so only an empty list is valid. */
	if (!req->dev->ops.modify_hw_stat)
		return nla_len(req->tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS]) ?
		       -EINVAL : 0;
	wanted = bitmap_zalloc(stats->num_counters, GFP_KERNEL);
	if (!wanted)
		return -ENOMEM;

	ret = parse_wanted(req, stats, wanted);
	if (!ret) {
		mutex_lock(&stats->lock);
		ret = apply_wanted(req, stats, wanted);
		mutex_unlock(&stats->lock);
	}
	bitmap_free(wanted);
	return ret;
}

/* ---- the counters of QPs ---- */

static bool counter_of_qp(const struct ib_qp *qp, u32 *id)
{
	const struct rdma_counter *counter;

	/* As when QPs are bound manually: raw packet QPs require CAP_NET_RAW. */
	if (qp->qp_type == IB_QPT_RAW_PACKET && !capable(CAP_NET_RAW))
		return false;
	/* The counter may be unbound at any time. */
	rcu_read_lock();
	counter = READ_ONCE(qp->counter);
	if (counter)
		*id = counter->id;
	rcu_read_unlock();
	return counter;
}

static int fill_counter(struct sk_buff *msg, bool admin,
			struct rdma_restrack_entry *res, u32 port)
{
	struct rdma_counter *counter =
		container_of(res, struct rdma_counter, res);
	int ret;

	if (port && port != counter->port)
		return -EAGAIN;
	ret = ibcore_nldev_put_owner(msg, res);
	if (ret)
		return ret;
	ret = ibcore_counter_query(counter);
	if (ret)
		return ret;

	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, counter->port) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, counter->id))
		return -EMSGSIZE;
	if ((counter->mode.mask & RDMA_COUNTER_MASK_QP_TYPE) &&
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_RES_TYPE,
		       counter->mode.param.qp_type))
		return -EMSGSIZE;
	/*
	 * Optional counters count only for ports; in a QP counter's stats they
	 * are disabled.
	 */
	return put_values(msg, counter->stats, counter->stats->value,
			  counter->stats->is_disabled);
}

const struct ibcore_nldev_res_kind ibcore_nldev_counter_kind = {
	.type = RDMA_RESTRACK_COUNTER,
	.table = RDMA_NLDEV_ATTR_STAT_COUNTER,
	.entry = RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY,
	.id = RDMA_NLDEV_ATTR_STAT_COUNTER_ID,
	.fill = fill_counter,
	.of_qp = counter_of_qp,
};

static int put_mode(struct ibcore_nldev_req *req)
{
	enum rdma_nl_counter_mode mode;
	enum rdma_nl_counter_mask mask;
	int ret;

	ret = ibcore_counter_get_mode(req->dev, req->port, &mode, &mask);
	if (ret)
		return ret;
	if (put_stat_handle(req) ||
	    nla_put_u32(req->msg, RDMA_NLDEV_ATTR_STAT_MODE, mode))
		return -EMSGSIZE;
	if (mode == RDMA_COUNTER_MODE_AUTO &&
	    nla_put_u32(req->msg, RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK, mask))
		return -EMSGSIZE;
	return 0;
}

/* ---- the counters of MRs ---- */

static int fill_mr_stat(struct sk_buff *msg, bool admin,
			struct rdma_restrack_entry *res, u32 port)
{
	struct ib_mr *mr = container_of(res, struct ib_mr, res);

	/* RES_MR_GET names the owner. */
	if (!ibcore_nldev_owner_seen(res))
		return -EAGAIN;
	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_MRN, res->id))
		return -EMSGSIZE;
	if (!mr->device->ops.fill_stat_mr_entry)
		return 0;
	return mr->device->ops.fill_stat_mr_entry(msg, mr);
}

const struct ibcore_nldev_res_kind ibcore_nldev_mr_stat_kind = {
	.type = RDMA_RESTRACK_MR,
	.table = RDMA_NLDEV_ATTR_RES_MR,
	.entry = RDMA_NLDEV_ATTR_RES_MR_ENTRY,
	.id = RDMA_NLDEV_ATTR_RES_MRN,
	.fill = fill_mr_stat,
};

/* ---- the commands ---- */

/* Returns the resource that STAT_RES requests, or 0. */
static u32 stat_res(struct nlattr **tb)
{
	return tb[RDMA_NLDEV_ATTR_STAT_RES] ?
		nla_get_u32(tb[RDMA_NLDEV_ATTR_STAT_RES]) : 0;
}

static int need_port(struct ibcore_nldev_req *req)
{
	if (!req->tb[RDMA_NLDEV_ATTR_PORT_INDEX])
		return -EINVAL;
	req->port = nla_get_u32(req->tb[RDMA_NLDEV_ATTR_PORT_INDEX]);
	return rdma_is_port_valid(req->dev, req->port) ? 0 : -EINVAL;
}

int ibcore_nldev_stat_get(struct ibcore_nldev_req *req)
{
	if (!req->tb[RDMA_NLDEV_ATTR_STAT_RES])
		return need_port(req) ?: port_stat_get(req);

	switch (stat_res(req->tb)) {
	case RDMA_NLDEV_ATTR_RES_QP:
		if (req->tb[RDMA_NLDEV_ATTR_STAT_MODE])
			return need_port(req) ?: put_mode(req);
		return ibcore_nldev_put_res(req, &ibcore_nldev_counter_kind);
	case RDMA_NLDEV_ATTR_RES_MR:
		return ibcore_nldev_put_res(req, &ibcore_nldev_mr_stat_kind);
	default:
		return -EINVAL;
	}
}

int ibcore_nldev_stat_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *tb[IBEX_NLDEV_ATTR_MAX];
	int ret;

	ret = ibcore_nldev_dump_parse(cb, tb);
	if (ret)
		return ret;

	switch (stat_res(tb)) {
	case RDMA_NLDEV_ATTR_RES_QP:
		return ibcore_nldev_dump_res(skb, cb,
					     &ibcore_nldev_counter_kind, tb);
	case RDMA_NLDEV_ATTR_RES_MR:
		return ibcore_nldev_dump_res(skb, cb,
					     &ibcore_nldev_mr_stat_kind, tb);
	default:
		return -EINVAL;
	}
}

static int set_auto_mode(struct ibcore_nldev_req *req)
{
	struct nlattr *mask = req->tb[RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK];

	return ibcore_counter_set_auto(req->dev, req->port,
				       mask ? nla_get_u32(mask) : 0,
				       req->extack);
}

static int put_bound(struct ibcore_nldev_req *req, u32 counter_id, u32 qp_num)
{
	if (nla_put_u32(req->msg, RDMA_NLDEV_ATTR_STAT_COUNTER_ID,
			counter_id) ||
	    nla_put_u32(req->msg, RDMA_NLDEV_ATTR_RES_LQPN, qp_num))
		return -EMSGSIZE;
	return 0;
}

static int bind_qp(struct ibcore_nldev_req *req)
{
	struct nlattr **tb = req->tb;
	u32 qp_num, counter_id = 0;
	int ret;

	if (!tb[RDMA_NLDEV_ATTR_RES_LQPN])
		return -EINVAL;
	qp_num = nla_get_u32(tb[RDMA_NLDEV_ATTR_RES_LQPN]);
	if (tb[RDMA_NLDEV_ATTR_STAT_COUNTER_ID])
		counter_id = nla_get_u32(tb[RDMA_NLDEV_ATTR_STAT_COUNTER_ID]);

	ret = ibcore_counter_bind_qpn(req->dev, req->port, qp_num, &counter_id);
	if (ret)
		return ret;
	ret = put_bound(req, counter_id, qp_num);
	if (ret)
		ibcore_counter_unbind_qpn(req->dev, req->port, qp_num,
					  counter_id);
	return ret;
}

static int set_mode(struct ibcore_nldev_req *req)
{
	if (stat_res(req->tb) != RDMA_NLDEV_ATTR_RES_QP)
		return -EINVAL;

	switch (nla_get_u32(req->tb[RDMA_NLDEV_ATTR_STAT_MODE])) {
	case RDMA_COUNTER_MODE_AUTO:
		return set_auto_mode(req);
	case RDMA_COUNTER_MODE_MANUAL:
		return bind_qp(req);
	default:
		return -EINVAL;
	}
}

int ibcore_nldev_stat_set(struct ibcore_nldev_req *req)
{
	struct nlattr **tb = req->tb;
	int ret = -EINVAL;

	if (!tb[RDMA_NLDEV_ATTR_STAT_MODE] &&
	    !tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS])
		return -EINVAL;
	/*
	 * Before anything is changed, so that nothing must be undone if @msg is
	 * full.
	 */
	if (put_stat_handle(req))
		return -EMSGSIZE;
	if (tb[RDMA_NLDEV_ATTR_STAT_MODE])
		ret = set_mode(req);
	if (tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS] &&
	    (!ret || !tb[RDMA_NLDEV_ATTR_STAT_MODE]))
		ret = set_optional_counters(req);
	return ret;
}

int ibcore_nldev_stat_del(struct ibcore_nldev_req *req)
{
	struct nlattr **tb = req->tb;
	u32 qp_num, counter_id;

	if (stat_res(tb) != RDMA_NLDEV_ATTR_RES_QP ||
	    !tb[RDMA_NLDEV_ATTR_STAT_COUNTER_ID] ||
	    !tb[RDMA_NLDEV_ATTR_RES_LQPN])
		return -EINVAL;

	counter_id = nla_get_u32(tb[RDMA_NLDEV_ATTR_STAT_COUNTER_ID]);
	qp_num = nla_get_u32(tb[RDMA_NLDEV_ATTR_RES_LQPN]);
	if (put_stat_handle(req) || put_bound(req, counter_id, qp_num))
		return -EMSGSIZE;
	return ibcore_counter_unbind_qpn(req->dev, req->port, qp_num,
					 counter_id);
}
