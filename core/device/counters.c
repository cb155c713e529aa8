// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Counters of selected QPs instead of a whole port, rdma-statistic(8).  QPs are bound
 * to them by hand, or automatically: each new userspace QP by its type and process.
 *
 * A port's rdma_port_counter.lock protects its counters, the binding of QPs to them,
 * its mode and its history.  A counter exists as long as a QP is bound to it:
 * counter->kref counts these QPs.  Its resource tracking entry only serves reports.
 * When a counter is freed, its values are added to the port's history, so that the
 * port's sums never decrease.
 *
 * Lock order: rdma_port_counter.lock, then counter->lock, which serializes the
 * driver's updates of counter->stats.  Neither is taken with the lock of the port's
 * own rdma_hw_stats held.  A holder of a counter's entry waits for counter->lock
 * only, so rdma_port_counter.lock may be held across rdma_restrack_del().
 */
#include <linux/capability.h>
#include <rdma/rdma_counter.h>

#include "device/device.h"

struct qp_counter {
	struct rdma_counter counter;
	struct rcu_head rcu;	/* qp->counter is read under RCU for port and id */
};

static struct rdma_port_counter *port_counter(struct ib_device *dev, u32 port)
{
	return &dev->port_data[port].port_counter;
}

static bool counters_supported(const struct ib_device *dev)
{
	return dev->ops.counter_bind_qp && dev->ops.counter_unbind_qp &&
	       dev->ops.counter_alloc_stats && dev->ops.counter_update_stats &&
	       dev->ops.counter_dealloc;
}

/* Reads the hardware and brings counter->stats up to date. */
static int counter_update(struct rdma_counter *counter)
{
	int ret;

	mutex_lock(&counter->lock);
	ret = counter->device->ops.counter_update_stats(counter);
	mutex_unlock(&counter->lock);
	return ret;
}

/* The caller holds a reference on the counter's entry, or its port's lock. */
int ibcore_counter_query(struct rdma_counter *counter)
{
	return counter_update(counter);
}

/* ---- allocating and freeing a counter ---- */

static struct rdma_counter *counter_alloc(struct ib_device *dev, u32 port,
					  const struct ib_qp *qp)
{
	struct qp_counter *qc;

	qc = kzalloc(sizeof(*qc), GFP_KERNEL);
	if (!qc)
		return NULL;

	qc->counter.device = dev;
	qc->counter.port = port;
	kref_init(&qc->counter.kref);
	mutex_init(&qc->counter.lock);
	qc->counter.stats = dev->ops.counter_alloc_stats(&qc->counter);
	if (!qc->counter.stats) {
		kfree(qc);
		return NULL;
	}
	rdma_restrack_new(&qc->counter.res, RDMA_RESTRACK_COUNTER);
	rdma_restrack_parent_name(&qc->counter.res, &qp->res);
	return &qc->counter;
}

static void counter_free(struct rdma_counter *counter)
{
	rdma_free_hw_stats_struct(counter->stats);
	mutex_destroy(&counter->lock);
	kfree_rcu(container_of(counter, struct qp_counter, counter), rcu);
}

static void counter_to_history(struct rdma_counter *counter)
{
	struct rdma_hw_stats *history =
		port_counter(counter->device, counter->port)->hstats;
	int i, n;

	/* If this fails, the values of the last successful read are added. */
	counter_update(counter);
	if (!history)
		return;
	n = min(history->num_counters, counter->stats->num_counters);
	for (i = 0; i < n; i++)
		history->value[i] += counter->stats->value[i];
}

/*
 * No reference remains when the counter is freed: (1) no QP is bound to it; (2)
 * rdma_restrack_del() removed its entry and waited for all holders of the entry;
 * (3) readers of qp->counter without the port's lock use RCU, and kfree_rcu() waits
 * for them.
 */
static void counter_last_put(struct kref *kref)
{
	struct rdma_counter *counter =
		container_of(kref, struct rdma_counter, kref);
	struct rdma_port_counter *pc =
		port_counter(counter->device, counter->port);

	lockdep_assert_held(&pc->lock);
	rdma_restrack_del(&counter->res);
	counter_to_history(counter);
	if (!--pc->num_counters && pc->mode.mode == RDMA_COUNTER_MODE_MANUAL)
		pc->mode.mode = RDMA_COUNTER_MODE_NONE;
	counter->device->ops.counter_dealloc(counter);
	counter_free(counter);
}

/* ---- binding; all under the port's lock ---- */

static int counter_attach(struct rdma_counter *counter, struct ib_qp *qp)
{
	int ret;

	mutex_lock(&counter->lock);
	ret = counter->device->ops.counter_bind_qp(counter, qp);
	mutex_unlock(&counter->lock);
	if (!ret)
		WRITE_ONCE(qp->counter, counter);
	return ret;
}

static int counter_join(struct rdma_counter *counter, struct ib_qp *qp)
{
	int ret;

	ret = counter_attach(counter, qp);
	if (!ret)
		kref_get(&counter->kref);
	return ret;
}

/* The driver gives the counter its number on the first bind. */
static struct rdma_counter *counter_create(struct rdma_port_counter *pc,
					   u32 port, struct ib_qp *qp,
					   const struct rdma_counter_mode *mode)
{
	struct rdma_counter *counter;
	int ret;

	lockdep_assert_held(&pc->lock);
	counter = counter_alloc(qp->device, port, qp);
	if (!counter)
		return ERR_PTR(-ENOMEM);

	counter->mode = *mode;
	counter->mode.param.qp_type = qp->qp_type;
	ret = counter_attach(counter, qp);
	if (ret) {
		rdma_restrack_put(&counter->res);
		counter_free(counter);
		return ERR_PTR(ret);
	}
	pc->num_counters++;
	rdma_restrack_add(&counter->res);
	return counter;
}

static int counter_detach(struct rdma_port_counter *pc, struct ib_qp *qp,
			  bool force)
{
	struct rdma_counter *counter = qp->counter;
	int ret;

	lockdep_assert_held(&pc->lock);
	mutex_lock(&counter->lock);
	ret = counter->device->ops.counter_unbind_qp(qp);
	mutex_unlock(&counter->lock);
	if (ret && !force)
		return ret;

	WRITE_ONCE(qp->counter, NULL);
	kref_put(&counter->kref, counter_last_put);
	return 0;
}

static bool counter_matches(const struct rdma_counter *counter,
			    const struct ib_qp *qp,
			    enum rdma_nl_counter_mask mask)
{
	if (counter->mode.mode != RDMA_COUNTER_MODE_AUTO ||
	    counter->mode.mask != mask)
		return false;
	if ((mask & RDMA_COUNTER_MASK_QP_TYPE) &&
	    counter->mode.param.qp_type != qp->qp_type)
		return false;
	if ((mask & RDMA_COUNTER_MASK_PID) &&
	    counter->res.task != qp->res.task)
		return false;
	return true;
}

/*
 * Returns the first counter of @port whose number is at least *@id and sets *@id
 * past it, or returns NULL.  Takes no reference: the port's lock keeps the counter.
 */
static struct rdma_counter *next_counter(struct ib_device *dev, u32 port,
					 unsigned long *id)
{
	struct rdma_restrack_entry *res;
	struct rdma_counter *counter;

	lockdep_assert_held(&port_counter(dev, port)->lock);
	while ((res = ibcore_restrack_next(dev, RDMA_RESTRACK_COUNTER, id,
					   true))) {
		bool here;

		counter = container_of(res, struct rdma_counter, res);
		here = counter->port == port;
		rdma_restrack_put(res);
		(*id)++;
		if (here)
			return counter;
	}
	return NULL;
}

static struct rdma_counter *find_auto_counter(struct ib_qp *qp, u32 port,
					      enum rdma_nl_counter_mask mask)
{
	struct rdma_counter *counter;
	unsigned long id = 0;

	while ((counter = next_counter(qp->device, port, &id)))
		if (counter_matches(counter, qp, mask))
			return counter;
	return NULL;
}

/* Binds a QP that is being moved to Init, if @port is in auto mode. */
int ibcore_counter_bind_qp_auto(struct ib_qp *qp, u32 port)
{
	struct ib_device *dev = qp->device;
	struct rdma_port_counter *pc;
	struct rdma_counter *counter;
	int ret = 0;

	if (!counters_supported(dev) || !rdma_is_port_valid(dev, port) ||
	    rdma_is_kernel_res(&qp->res) ||
	    !rdma_restrack_is_tracked(&qp->res))
		return 0;
	pc = port_counter(dev, port);
	if (READ_ONCE(pc->mode.mode) != RDMA_COUNTER_MODE_AUTO)
		return 0;

	mutex_lock(&pc->lock);
	if (pc->mode.mode != RDMA_COUNTER_MODE_AUTO || qp->counter)
		goto out;
	counter = find_auto_counter(qp, port, pc->mode.mask);
	if (counter)
		ret = counter_join(counter, qp);
	else
		ret = PTR_ERR_OR_ZERO(counter_create(pc, port, qp, &pc->mode));
out:
	mutex_unlock(&pc->lock);
	return ret;
}

/* Returns the port of the counter @qp is bound to, or 0; it may change at once. */
static u32 qp_counter_port(const struct ib_qp *qp)
{
	const struct rdma_counter *counter;
	u32 port;

	rcu_read_lock();
	counter = READ_ONCE(qp->counter);
	port = counter ? counter->port : 0;
	rcu_read_unlock();
	return port;
}

/* @force: unbind even if the driver fails, as the QP is being destroyed. */
int ibcore_counter_unbind_qp(struct ib_qp *qp, bool force)
{
	struct rdma_port_counter *pc;
	int ret = 0;
	u32 port;

	while ((port = qp_counter_port(qp))) {
		pc = port_counter(qp->device, port);
		mutex_lock(&pc->lock);
		if (qp->counter && qp->counter->port == port) {
			ret = counter_detach(pc, qp, force);
			mutex_unlock(&pc->lock);
			return ret;
		}
		mutex_unlock(&pc->lock);
	}
	return 0;
}

/* ---- rdma-statistic(8) ---- */

int ibcore_counter_get_mode(struct ib_device *dev, u32 port,
			    enum rdma_nl_counter_mode *mode,
			    enum rdma_nl_counter_mask *mask)
{
	struct rdma_port_counter *pc = port_counter(dev, port);

	mutex_lock(&pc->lock);
	*mode = pc->mode.mode;
	*mask = pc->mode.mask;
	mutex_unlock(&pc->lock);
	return 0;
}

/* @mask 0 turns auto mode off; bound QPs stay bound to their counters. */
int ibcore_counter_set_auto(struct ib_device *dev, u32 port,
			    enum rdma_nl_counter_mask mask,
			    struct netlink_ext_ack *extack)
{
	static const u32 known =
		RDMA_COUNTER_MASK_QP_TYPE | RDMA_COUNTER_MASK_PID;
	struct rdma_port_counter *pc = port_counter(dev, port);
	enum rdma_nl_counter_mode mode = RDMA_COUNTER_MODE_AUTO;
	int ret = 0;

	if (mask & ~known)
		return -EINVAL;
	if (!counters_supported(dev)) {
		if (!mask)
			return 0;	/* auto mode is off already */
		NL_SET_ERR_MSG(extack, "the driver has no counters for QPs");
		return -EOPNOTSUPP;
	}

	mutex_lock(&pc->lock);
	if (pc->mode.mode == RDMA_COUNTER_MODE_MANUAL) {
		NL_SET_ERR_MSG(extack, "QPs of this port are bound by hand");
		ret = -EBUSY;
		goto out;
	}
	/* The bound QPs were grouped by the current mask. */
	if (mask && pc->num_counters) {
		NL_SET_ERR_MSG(extack, "QPs of this port are bound already");
		ret = -EBUSY;
		goto out;
	}
	if (!mask)
		mode = pc->num_counters ? RDMA_COUNTER_MODE_MANUAL :
					  RDMA_COUNTER_MODE_NONE;
	pc->mode.mask = mask;
	WRITE_ONCE(pc->mode.mode, mode);
out:
	mutex_unlock(&pc->lock);
	return ret;
}

static int bind_by_hand(struct rdma_port_counter *pc, u32 port,
			struct ib_qp *qp, u32 *counter_id)
{
	struct rdma_counter_mode mode = { .mode = RDMA_COUNTER_MODE_MANUAL };
	struct rdma_counter *counter;
	unsigned long id = *counter_id;
	int ret;

	lockdep_assert_held(&pc->lock);
	if (pc->mode.mode == RDMA_COUNTER_MODE_AUTO || qp->counter)
		return -EBUSY;

	if (*counter_id) {
		counter = next_counter(qp->device, port, &id);
		if (!counter || counter->id != *counter_id)
			return -ENOENT;
		if (counter->res.task != qp->res.task)
			return -EINVAL;
		ret = counter_join(counter, qp);
		if (ret)
			return ret;
	} else {
		counter = counter_create(pc, port, qp, &mode);
		if (IS_ERR(counter))
			return PTR_ERR(counter);
		*counter_id = counter->id;
	}
	WRITE_ONCE(pc->mode.mode, RDMA_COUNTER_MODE_MANUAL);
	return 0;
}

/*
 * Returns the QP with a reference on its entry; -ENOENT if the QP is not on @port, or
 * is a raw packet QP, which sees other users' packets, and CAP_NET_RAW is missing.
 */
static struct ib_qp *get_qp(struct ib_device *dev, u32 port, u32 qp_num)
{
	struct rdma_restrack_entry *res;
	struct ib_qp *qp;

	res = rdma_restrack_get_byid(dev, RDMA_RESTRACK_QP, qp_num);
	if (IS_ERR(res))
		return ERR_CAST(res);
	qp = container_of(res, struct ib_qp, res);
	if (qp->port != port ||
	    (qp->qp_type == IB_QPT_RAW_PACKET && !capable(CAP_NET_RAW))) {
		rdma_restrack_put(res);
		return ERR_PTR(-ENOENT);
	}
	return qp;
}

int ibcore_counter_bind_qpn(struct ib_device *dev, u32 port, u32 qp_num,
			    u32 *counter_id)
{
	struct rdma_port_counter *pc = port_counter(dev, port);
	struct ib_qp *qp;
	int ret;

	if (!counters_supported(dev))
		return -EOPNOTSUPP;
	qp = get_qp(dev, port, qp_num);
	if (IS_ERR(qp))
		return PTR_ERR(qp);

	mutex_lock(&pc->lock);
	ret = bind_by_hand(pc, port, qp, counter_id);
	mutex_unlock(&pc->lock);
	rdma_restrack_put(&qp->res);
	return ret;
}

int ibcore_counter_unbind_qpn(struct ib_device *dev, u32 port, u32 qp_num,
			      u32 counter_id)
{
	struct rdma_port_counter *pc = port_counter(dev, port);
	struct ib_qp *qp;
	int ret;

	qp = get_qp(dev, port, qp_num);
	if (IS_ERR(qp))
		return PTR_ERR(qp);

	mutex_lock(&pc->lock);
	if (!qp->counter || qp->counter->id != counter_id ||
	    qp->counter->port != port)
		ret = -EINVAL;
	else
		ret = counter_detach(pc, qp, false);
	mutex_unlock(&pc->lock);
	rdma_restrack_put(&qp->res);
	return ret;
}

static void add_values(const struct rdma_hw_stats *stats, int first, int n,
		       u64 *sums)
{
	int i;

	for (i = 0; i < n && first + i < stats->num_counters; i++)
		sums[i] += stats->value[first + i];
}

/*
 * Updates all counters of @port from the hardware.  Each read takes a while, so the
 * port's lock, which binding and unbinding QPs takes, is not held.
 */
static void update_counters(struct ib_device *dev, u32 port)
{
	struct rdma_restrack_entry *res;
	struct rdma_counter *counter;
	unsigned long id;

	for (id = 0; (res = ibcore_restrack_next(dev, RDMA_RESTRACK_COUNTER,
						 &id, true)); id++) {
		counter = container_of(res, struct rdma_counter, res);
		if (counter->port == port)
			counter_update(counter);
		rdma_restrack_put(res);
	}
}

void ibcore_counter_add_hwstats(struct ib_device *dev, u32 port, int first,
				int n, u64 *sums)
{
	struct rdma_port_counter *pc = port_counter(dev, port);
	struct rdma_counter *counter;
	unsigned long id = 0;

	if (!counters_supported(dev))
		return;

	update_counters(dev, port);
	/*
	 * A counter freed since has added its values, which are no smaller, to the
	 * history.  A counter that could not be read contributes its last values.
	 */
	mutex_lock(&pc->lock);
	if (pc->hstats)
		add_values(pc->hstats, first, n, sums);
	while ((counter = next_counter(dev, port, &id))) {
		mutex_lock(&counter->lock);
		add_values(counter->stats, first, n, sums);
		mutex_unlock(&counter->lock);
	}
	mutex_unlock(&pc->lock);
}

/* If a port's history cannot be allocated, the values of freed counters are lost. */
void ibcore_counter_setup(struct ib_device *dev)
{
	struct rdma_port_counter *pc;
	u32 port;

	rdma_for_each_port(dev, port) {
		pc = port_counter(dev, port);
		mutex_init(&pc->lock);
		pc->mode.mode = RDMA_COUNTER_MODE_NONE;
		if (counters_supported(dev) && dev->ops.alloc_hw_port_stats)
			pc->hstats = dev->ops.alloc_hw_port_stats(dev, port);
	}
}

void ibcore_counter_release(struct ib_device *dev)
{
	struct rdma_port_counter *pc;
	u32 port;

	rdma_for_each_port(dev, port) {
		pc = port_counter(dev, port);
		WARN_ON(pc->num_counters);
		rdma_free_hw_stats_struct(pc->hstats);
		pc->hstats = NULL;
		mutex_destroy(&pc->lock);
	}
}
