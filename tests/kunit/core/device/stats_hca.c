// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The adapter with counters of nl.h, and the objects whose counters the suites test. */
#include <ibex/qp.h>
#include "core/netlink/nl.h"

struct stats_state stats_state;

static const struct rdma_stat_desc stats_descs[STATS] = {
	[STAT_RX] = { .name = "rx_frames" },
	[STAT_TX] = { .name = "tx_frames" },
	[STAT_OPT_A] = { .name = "opt_a", .flags = IB_STAT_FLAG_OPTIONAL },
	[STAT_OPT_B] = { .name = "opt_b", .flags = IB_STAT_FLAG_OPTIONAL },
};

static struct rdma_hw_stats *stats_alloc_port(struct ib_device *dev, u32 port)
{
	struct rdma_hw_stats *stats;

	if (stats_state.no_memory)
		return NULL;
	stats = rdma_alloc_hw_stats_struct(stats_descs, STATS, stats_state.lifespan);
	if (!stats)
		return NULL;
	if (stats_state.no_stats)
		stats->num_counters = 0;
	bitmap_set(stats->is_disabled, STAT_OPT_A, 2);
	return stats;
}

static struct rdma_hw_stats *stats_alloc_device(struct ib_device *dev)
{
	if (stats_state.no_memory)
		return NULL;
	return rdma_alloc_hw_stats_struct(stats_descs, STAT_OPT_A,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

static int stats_get(struct ib_device *dev, struct rdma_hw_stats *stats, u32 port,
		     int index)
{
	int i;

	if (stats_state.fail_read)
		return stats_state.fail_read;
	if (port)
		stats_state.reads++;
	for (i = 0; i < stats->num_counters; i++)
		stats->value[i] = (port ? 10 * port : 1000) + i;
	return stats->num_counters;
}

static int stats_modify(struct ib_device *dev, u32 port, unsigned int index, bool on)
{
	if (stats_state.fail_modify)
		return stats_state.fail_modify;
	stats_state.modified[index] += on ? 1 : -1;
	return 0;
}

static int stats_bind(struct rdma_counter *counter, struct ib_qp *qp)
{
	if (stats_state.fail_bind)
		return stats_state.fail_bind;
	if (!counter->id) {
		counter->id = ++stats_state.next_id;
		stats_state.counters++;
	}
	stats_state.bound++;
	return 0;
}

static int stats_unbind(struct ib_qp *qp)
{
	if (stats_state.fail_unbind)
		return stats_state.fail_unbind;
	stats_state.bound--;
	return 0;
}

static int stats_dealloc(struct rdma_counter *counter)
{
	stats_state.counters--;
	return 0;
}

static struct rdma_hw_stats *stats_alloc_counter(struct rdma_counter *counter)
{
	return rdma_alloc_hw_stats_struct(stats_descs, STATS, 0);
}

static int stats_update(struct rdma_counter *counter)
{
	int i;

	if (stats_state.fail_update)
		return stats_state.fail_update;
	stats_state.updates++;
	if (mutex_is_locked(&counter->device->port_data[counter->port].port_counter.lock))
		stats_state.locked_updates++;
	for (i = 0; i < counter->stats->num_counters; i++)
		counter->stats->value[i] = 100 * counter->id;
	return 0;
}

static const struct ib_device_ops stats_ops = {
	.alloc_hw_device_stats	= stats_alloc_device,
	.alloc_hw_port_stats	= stats_alloc_port,
	.get_hw_stats		= stats_get,
	.modify_hw_stat		= stats_modify,
	.counter_bind_qp	= stats_bind,
	.counter_unbind_qp	= stats_unbind,
	.counter_dealloc	= stats_dealloc,
	.counter_alloc_stats	= stats_alloc_counter,
	.counter_update_stats	= stats_update,
};

struct fake_hca *stats_hca_alloc(const struct fake_hca_params *params)
{
	struct fake_hca *hca = fake_hca_alloc(params);

	memset(&stats_state, 0, sizeof(stats_state));
	stats_state.lifespan = RDMA_HW_STATS_DEFAULT_LIFESPAN;
	if (hca)
		ib_set_device_ops(&hca->ibdev, &stats_ops);
	return hca;
}

struct fake_hca *stats_hca_create(const struct fake_hca_params *params)
{
	struct fake_hca *hca = stats_hca_alloc(params);

	if (hca && fake_hca_register(hca)) {
		fake_hca_free(hca);
		return NULL;
	}
	return hca;
}

/* ---- objects ---- */

void nl_hca_exit(struct kunit *test, struct nl *nl, struct fake_hca **hca)
{
	nl_close(nl);
	if (*hca) {
		KUNIT_EXPECT_EQ(test, fake_hca_objects(*hca), 0);
		KUNIT_EXPECT_EQ(test, stats_state.counters, 0);
		fake_hca_destroy(*hca);
	}
	*hca = NULL;
}

void test_objects_destroy(struct test_objects *o)
{
	while (o->nr_qps)
		ib_destroy_qp(o->qp[--o->nr_qps]);
	if (!IS_ERR_OR_NULL(o->cq))
		ib_free_cq(o->cq);
	if (!IS_ERR_OR_NULL(o->pd))
		ib_dealloc_pd(o->pd);
	memset(o, 0, sizeof(*o));
}

static struct ib_qp *create_user_qp(struct ib_pd *pd, struct ib_qp_init_attr *init)
{
	struct ib_udata udata = {};
	struct ib_qp *qp;

	qp = ib_create_qp_user(pd->device, pd, init, &udata, NULL, NULL);
	if (!IS_ERR(qp))
		ib_qp_usecnt_inc(qp);
	return qp;
}

const char test_objects_owner[] = KBUILD_MODNAME;

int test_objects_create(struct test_objects *o, struct fake_hca *hca, int qps,
			bool user, enum ib_qp_type type)
{
	struct ib_qp_init_attr init = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.qp_type = type,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
	};
	struct ib_qp *qp;
	int ret;

	memset(o, 0, sizeof(*o));
	o->pd = ib_alloc_pd(&hca->ibdev, 0);
	if (IS_ERR(o->pd))
		return PTR_ERR(o->pd);
	o->cq = ib_alloc_cq(&hca->ibdev, NULL, 64, 0, IB_POLL_SOFTIRQ);
	ret = PTR_ERR_OR_ZERO(o->cq);
	init.send_cq = o->cq;
	init.recv_cq = o->cq;
	while (!ret && o->nr_qps < qps) {
		qp = user ? create_user_qp(o->pd, &init) : ib_create_qp(o->pd, &init);
		ret = PTR_ERR_OR_ZERO(qp);
		if (!ret)
			o->qp[o->nr_qps++] = qp;
	}
	if (ret)
		test_objects_destroy(o);
	return ret;
}

int test_qp_init(struct ib_qp *qp, u32 port)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = port };
	int mask = IB_QP_STATE | IB_QP_PORT;

	if (qp->qp_type == IB_QPT_UD)
		mask |= IB_QP_PKEY_INDEX | IB_QP_QKEY;
	else if (qp->qp_type != IB_QPT_RAW_PACKET)
		mask |= IB_QP_PKEY_INDEX | IB_QP_ACCESS_FLAGS;
	return ib_modify_qp(qp, &attr, mask);
}
