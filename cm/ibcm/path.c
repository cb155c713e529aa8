// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Where MADs go, and address handles for them.
 *
 * A port has one path for each way to a peer, shared by all ids and messages that
 * go there.  Address handles are few with some adapters (ocrdma has 512, irdma a
 * few hundred in small profiles), connections are not: a path has a handle only
 * while messages are out, and for IBCM_AH_LINGER more, since one is often followed
 * by another.  An adapter that has no handle left is given back those that linger,
 * and asked again when it has those that were on their way.
 *
 * Handles are made and destroyed in process context alone: that takes a command to
 * the firmware with some (bnxt_re, irdma, erdma), which otherwise is polled for.
 *
 * References on a path: one of each id and message that has it, and its handle's.
 * What a handle has: users, the messages out; or a place on the port's list.
 */
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "ibcm/port.h"
#include "messages/messages.h"

#define IBCM_AH_LINGER		(HZ / 10)
#define IBCM_MAX_IDLE_AHS	32	/* of a port; the oldest goes at once */

static struct rhashtable ibcm_paths;

static const struct rhashtable_params ibcm_path_params = {
	.key_len	= sizeof(struct ibcm_path_key),
	.key_offset	= offsetof(struct ibcm_path, key),
	.head_offset	= offsetof(struct ibcm_path, node),
	.automatic_shrinking = true,
};

int ibcm_paths_init(void)
{
	return rhashtable_init(&ibcm_paths, &ibcm_path_params);
}

void ibcm_paths_exit(void)
{
	rhashtable_destroy(&ibcm_paths);
}

static void ibcm_path_key_fill(struct ibcm_path_key *key, struct ibcm_port *port,
			       const struct rdma_ah_attr *ah_attr)
{
	memset(key, 0, sizeof(*key));
	key->port = port;
	key->sl = ah_attr->sl;
	key->static_rate = ah_attr->static_rate;
	key->dlid = rdma_ah_get_dlid(ah_attr);
	key->path_bits = rdma_ah_get_path_bits(ah_attr);
	key->make_grd = rdma_ah_get_make_grd(ah_attr);
	if (ah_attr->type == RDMA_AH_ATTR_TYPE_ROCE)
		ether_addr_copy(key->dmac, ah_attr->roce.dmac);
	if (rdma_ah_get_ah_flags(ah_attr) & IB_AH_GRH) {
		key->sgid_attr = ah_attr->grh.sgid_attr;
		key->dgid = ah_attr->grh.dgid;
		key->flow_label = ah_attr->grh.flow_label;
		key->hop_limit = ah_attr->grh.hop_limit;
		key->traffic_class = ah_attr->grh.traffic_class;
	}
}

static void ibcm_path_free(struct ibcm_path *path)
{
	struct ibcm_device *dev = path->key.port->dev;

	rdma_destroy_ah_attr(&path->ah_attr);
	kfree_rcu(path, rcu);
	/* Removal waits for the last; the device is not ours any more then. */
	if (atomic_dec_and_test(&dev->nr_paths))
		complete(&dev->no_paths);
}

/* Any context. */
void ibcm_path_put(struct ibcm_path *path)
{
	if (!path || !refcount_dec_and_test(&path->ref))
		return;
	rhashtable_remove_fast(&ibcm_paths, &path->node, ibcm_path_params);
	ibcm_path_free(path);
}

/* NULL: no memory, or the port is going. */
static struct ibcm_path *ibcm_path_new(struct ibcm_port *port,
				       const struct rdma_ah_attr *ah_attr)
{
	struct ibcm_path *path = kzalloc(sizeof(*path), GFP_KERNEL);

	if (!path)
		return NULL;
	refcount_set(&path->ref, 1);
	mutex_init(&path->making);
	INIT_LIST_HEAD(&path->idle);
	rdma_copy_ah_attr(&path->ah_attr, ah_attr);
	/*
	 * The label that spreads connections over links would give each a path of
	 * its own; nothing asks for it in the MADs that set them up.
	 */
	if (ah_attr->type == RDMA_AH_ATTR_TYPE_ROCE)
		path->ah_attr.grh.flow_label = 0;
	ibcm_path_key_fill(&path->key, port, &path->ah_attr);
	atomic_inc(&port->dev->nr_paths);
	return path;
}

/* @path, not published yet, or the one that is there, with a reference. */
static struct ibcm_path *ibcm_path_enter(struct ibcm_path *path)
{
	struct ibcm_path *old;

	rcu_read_lock();
	for (;;) {
		old = rhashtable_lookup_get_insert_fast(&ibcm_paths, &path->node,
							ibcm_path_params);
		if (!old || IS_ERR(old) || refcount_inc_not_zero(&old->ref))
			break;
		/* It is about to leave; either of us takes it out. */
		rhashtable_remove_fast(&ibcm_paths, &old->node, ibcm_path_params);
	}
	rcu_read_unlock();
	if (!old)
		return path;
	ibcm_path_free(path);
	return old;
}

/*
 * The path for @ah_attr from @port, with a reference.  May sleep.  -ENODEV once
 * the port is going: what was made before, removal waits for.
 */
struct ibcm_path *ibcm_path_get(struct ibcm_port *port,
				const struct rdma_ah_attr *ah_attr)
{
	struct ibcm_path *path = ERR_PTR(-ENODEV);
	int idx;

	idx = srcu_read_lock(&ibcm_srcu);
	if (srcu_dereference(port->agent, &ibcm_srcu)) {
		path = ibcm_path_new(port, ah_attr);
		path = path ? ibcm_path_enter(path) : ERR_PTR(-ENOMEM);
	}
	srcu_read_unlock(&ibcm_srcu, idx);
	return path;
}

/*
 * The path back to who sent @rx, with a reference and its handle in use: what could
 * not be answered now because there is none is as if it had been lost.  May sleep, on
 * RoCE until the sender's address is resolved.  @ah_attr is the caller's to destroy.
 */
struct ibcm_path *ibcm_path_back(const struct ibcm_rx *rx,
				 struct rdma_ah_attr *ah_attr)
{
	struct ibcm_path *path;
	int ret;

	ret = ib_init_ah_attr_from_wc(rx->port->dev->ibdev, rx->port->num,
				      rx->wc->wc, rx->wc->recv_buf.grh, ah_attr);
	if (ret)
		return ERR_PTR(ret);
	path = ibcm_path_get(rx->port, ah_attr);
	if (!IS_ERR(path)) {
		ret = ibcm_path_use(path);
		if (!ret)
			return path;
		ibcm_path_put(path);
		path = ERR_PTR(ret);
	}
	rdma_destroy_ah_attr(ah_attr);
	return path;
}

/* ---- address handles ---- */

static void ibcm_ah_destroy(struct ibcm_path *path, struct ib_ah *ah)
{
	struct ibcm_device *dev = path->key.port->dev;

	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	atomic_inc(&dev->ahs_ended);
	wake_up_all(&dev->ah_wait);
	/* The device may go once this path has. */
	ibcm_path_put(path);
}

/*
 * Takes the oldest handle that nobody uses from its path, for its destruction:
 * one that has lingered enough, or @any.  Otherwise @wait is how long the oldest
 * has left, 0 without one.
 */
static struct ibcm_path *ibcm_ah_take(struct ibcm_port *port, bool any,
				      struct ib_ah **ah, unsigned long *wait)
{
	struct ibcm_path *path;
	unsigned long end;

	*wait = 0;
	spin_lock_irq(&port->ah_lock);
	path = list_first_entry_or_null(&port->idle_ahs, struct ibcm_path, idle);
	if (path && !any && port->nr_idle_ahs <= IBCM_MAX_IDLE_AHS) {
		end = path->idle_since + port->ah_linger;
		if (time_before(jiffies, end)) {
			*wait = end - jiffies;
			path = NULL;
		}
	}
	if (path) {
		list_del_init(&path->idle);
		port->nr_idle_ahs--;
		*ah = path->ah;
		path->ah = NULL;
		atomic_inc(&port->dev->ahs_ending);
	}
	spin_unlock_irq(&port->ah_lock);
	return path;
}

static void ibcm_ah_work(struct work_struct *work)
{
	struct ibcm_port *port = container_of(to_delayed_work(work),
					      struct ibcm_port, ah_work);
	struct ibcm_path *path;
	unsigned long wait;
	struct ib_ah *ah;

	while ((path = ibcm_ah_take(port, false, &ah, &wait)))
		ibcm_ah_destroy(path, ah);
	if (wait)
		queue_delayed_work(ibcm_wq, &port->ah_work, wait);
}

/* Gives the adapter back what handles nobody uses. */
static void ibcm_ahs_spare(struct ibcm_device *dev)
{
	struct ibcm_path *path;
	unsigned long wait;
	struct ib_ah *ah;
	u32 i;

	for (i = 0; i < dev->nr_ports; i++)
		while ((path = ibcm_ah_take(&dev->ports[i], true, &ah, &wait)))
			ibcm_ah_destroy(path, ah);
}

/*
 * Waits for as many handles as are on their way back to the adapter, which take it
 * a command each.  Whether there were any since ahs_ended was @before.
 */
static bool ibcm_ahs_await(struct ibcm_device *dev, int before)
{
	int ending = atomic_read(&dev->ahs_ending);

	wait_event(dev->ah_wait, atomic_read(&dev->ahs_ended) - ending >= 0);
	return ending != before;
}

static struct ib_ah *ibcm_ah_create(struct ibcm_path *path)
{
	struct ib_ah *ah = ERR_PTR(-ENODEV);
	struct ib_mad_agent *agent;
	int idx;

	idx = srcu_read_lock(&ibcm_srcu);
	agent = srcu_dereference(path->key.port->agent, &ibcm_srcu);
	if (agent)
		ah = rdma_create_ah(agent->qp->pd, &path->ah_attr,
				    RDMA_CREATE_AH_SLEEPABLE);
	srcu_read_unlock(&ibcm_srcu, idx);
	return ah;
}

/* One more user of the handle, if there is one. */
static bool ibcm_ah_reuse(struct ibcm_path *path)
{
	struct ibcm_port *port = path->key.port;
	bool there;

	spin_lock_irq(&port->ah_lock);
	there = path->ah;
	if (there && !path->users++) {
		list_del_init(&path->idle);
		port->nr_idle_ahs--;
	}
	spin_unlock_irq(&port->ah_lock);
	return there;
}

static int ibcm_ah_make(struct ibcm_path *path)
{
	struct ibcm_port *port = path->key.port;
	int before = atomic_read(&port->dev->ahs_ended);
	struct ib_ah *ah;

	lockdep_assert_held(&path->making);
	ah = ibcm_ah_create(path);
	/* There is no telling an adapter that has none left from other errors. */
	if (IS_ERR(ah)) {
		ibcm_ahs_spare(port->dev);
		if (ibcm_ahs_await(port->dev, before))
			ah = ibcm_ah_create(path);
	}
	if (IS_ERR(ah))
		return PTR_ERR(ah);
	refcount_inc(&path->ref);
	spin_lock_irq(&port->ah_lock);
	path->ah = ah;
	path->users = 1;
	spin_unlock_irq(&port->ah_lock);
	return 0;
}

/*
 * Until ibcm_path_unuse() the path has its handle, path->ah.  May sleep.  An
 * error of the provider's, or -ENODEV.
 */
int ibcm_path_use(struct ibcm_path *path)
{
	int ret = 0;

	if (ibcm_ah_reuse(path))
		return 0;
	mutex_lock(&path->making);
	if (!ibcm_ah_reuse(path))
		ret = ibcm_ah_make(path);
	mutex_unlock(&path->making);
	return ret;
}

/* Any context. */
void ibcm_path_unuse(struct ibcm_path *path)
{
	struct ibcm_port *port = path->key.port;
	unsigned long flags;

	spin_lock_irqsave(&port->ah_lock, flags);
	if (!--path->users) {
		path->idle_since = jiffies;
		list_add_tail(&path->idle, &port->idle_ahs);
		if (++port->nr_idle_ahs > IBCM_MAX_IDLE_AHS)
			mod_delayed_work(ibcm_wq, &port->ah_work, 0);
		else
			queue_delayed_work(ibcm_wq, &port->ah_work,
					   port->ah_linger);
	}
	spin_unlock_irqrestore(&port->ah_lock, flags);
}

/* ---- the port ---- */

void ibcm_port_paths_init(struct ibcm_port *port)
{
	spin_lock_init(&port->ah_lock);
	INIT_LIST_HEAD(&port->idle_ahs);
	INIT_DELAYED_WORK(&port->ah_work, ibcm_ah_work);
	port->ah_linger = IBCM_AH_LINGER;
}

static void ibcm_ahs_end_linger(struct ibcm_port *port)
{
	spin_lock_irq(&port->ah_lock);
	port->ah_linger = 0;
	mod_delayed_work(ibcm_wq, &port->ah_work, 0);
	spin_unlock_irq(&port->ah_lock);
}

/*
 * Device removal: none of the ports has an agent, so that no path and no handle is
 * made any more, and the ids have given up theirs.  What is left are references of
 * messages and ids that are being released.
 */
void ibcm_paths_stop(struct ibcm_device *dev)
{
	u32 i;

	for (i = 0; i < dev->nr_ports; i++)
		ibcm_ahs_end_linger(&dev->ports[i]);
	if (!atomic_dec_and_test(&dev->nr_paths))
		wait_for_completion(&dev->no_paths);
	for (i = 0; i < dev->nr_ports; i++)
		cancel_delayed_work_sync(&dev->ports[i].ah_work);
}
