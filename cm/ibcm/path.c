// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Paths that MADs are sent along, and their address handles.
 *
 * A port has one struct ibcm_path for each address that MADs are sent to, shared by all
 * ids and messages that use it.  Some adapters have few address handles (ocrdma has
 * 512, irdma a few hundred in small profiles) but many connections.  So a path has a
 * handle only while messages are outstanding and for IBCM_AH_LINGER more, since one
 * message is often followed by another.  If an adapter has no handle left, the idle
 * handles are destroyed, and the creation is tried again once the handles that were
 * being destroyed are free.
 *
 * Handles are created and destroyed in process context only: some adapters (bnxt_re,
 * irdma, erdma) need a firmware command for it and would poll for its completion in
 * other contexts.
 *
 * References on a path: one of each id and message that uses it, and one of its handle.
 * A handle has users, the outstanding messages, or is on the port's list of idle ones.
 */
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "ibcm/port.h"
#include "messages/messages.h"

#define IBCM_AH_LINGER		(HZ / 10)
#define IBCM_MAX_IDLE_AHS	32	/* per port; beyond it the oldest is destroyed */

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

/*
 * Without the flow label of RoCE, which spreads the data of connections over links.  MADs
 * do not need it, and with it each connection would have a path of its own.
 */
static void ibcm_path_key_fill(struct ibcm_path_key *key, struct ibcm_port *port,
			       const struct rdma_ah_attr *ah_attr)
{
	bool roce = ah_attr->type == RDMA_AH_ATTR_TYPE_ROCE;

	memset(key, 0, sizeof(*key));
	key->port = port;
	key->sl = ah_attr->sl;
	key->static_rate = ah_attr->static_rate;
	key->dlid = rdma_ah_get_dlid(ah_attr);
	key->path_bits = rdma_ah_get_path_bits(ah_attr);
	key->make_grd = rdma_ah_get_make_grd(ah_attr);
	if (roce)
		ether_addr_copy(key->dmac, ah_attr->roce.dmac);
	if (rdma_ah_get_ah_flags(ah_attr) & IB_AH_GRH) {
		key->sgid_attr = ah_attr->grh.sgid_attr;
		key->dgid = ah_attr->grh.dgid;
		key->flow_label = roce ? 0 : ah_attr->grh.flow_label;
		key->hop_limit = ah_attr->grh.hop_limit;
		key->traffic_class = ah_attr->grh.traffic_class;
	}
}

static void ibcm_path_free(struct ibcm_path *path)
{
	struct ibcm_device *dev = path->key.port->dev;

	rdma_destroy_ah_attr(&path->ah_attr);
	kfree_rcu(path, rcu);
	/* Device removal waits for the last path: do not use the ib_device after this. */
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

/* Returns a new path, not in the table yet; NULL if there is no memory. */
static struct ibcm_path *ibcm_path_new(const struct ibcm_path_key *key,
				       const struct rdma_ah_attr *ah_attr)
{
	struct ibcm_path *path = kzalloc(sizeof(*path), GFP_KERNEL);

	if (!path)
		return NULL;
	refcount_set(&path->ref, 1);
	mutex_init(&path->making);
	INIT_LIST_HEAD(&path->idle);
	rdma_copy_ah_attr(&path->ah_attr, ah_attr);
	path->ah_attr.grh.flow_label = key->flow_label;
	path->key = *key;
	atomic_inc(&key->port->dev->nr_paths);
	return path;
}

/* Returns the path in the table, with a reference, or NULL. */
static struct ibcm_path *ibcm_path_find(const struct ibcm_path_key *key)
{
	struct ibcm_path *path;

	rcu_read_lock();
	path = rhashtable_lookup(&ibcm_paths, key, ibcm_path_params);
	if (path && !refcount_inc_not_zero(&path->ref))
		path = NULL;
	rcu_read_unlock();
	return path;
}

/*
 * Inserts the new @path into the table.  If the table has an equal path, frees @path
 * and returns that one, with a reference.
 */
static struct ibcm_path *ibcm_path_enter(struct ibcm_path *path)
{
	struct ibcm_path *old;

	rcu_read_lock();
	for (;;) {
		old = rhashtable_lookup_get_insert_fast(&ibcm_paths, &path->node,
							ibcm_path_params);
		if (!old || IS_ERR(old) || refcount_inc_not_zero(&old->ref))
			break;
		/* Its last user is about to remove it: whoever is first does so. */
		rhashtable_remove_fast(&ibcm_paths, &old->node, ibcm_path_params);
	}
	rcu_read_unlock();
	if (!old)
		return path;
	ibcm_path_free(path);
	return old;
}

static struct ibcm_path *ibcm_path_add(const struct ibcm_path_key *key,
				       const struct rdma_ah_attr *ah_attr)
{
	struct ibcm_path *path = ibcm_path_new(key, ah_attr);

	return path ? ibcm_path_enter(path) : ERR_PTR(-ENOMEM);
}

/*
 * Returns the path for @ah_attr from @port, with a reference.  May sleep.  -ENODEV if
 * the port is being removed; removal waits for the paths created before.
 */
struct ibcm_path *ibcm_path_get(struct ibcm_port *port,
				const struct rdma_ah_attr *ah_attr)
{
	struct ibcm_path *path = ERR_PTR(-ENODEV);
	struct ibcm_path_key key;
	int idx;

	ibcm_path_key_fill(&key, port, ah_attr);
	idx = srcu_read_lock(&ibcm_srcu);
	if (srcu_dereference(port->agent, &ibcm_srcu)) {
		path = ibcm_path_find(&key);
		if (!path)
			path = ibcm_path_add(&key, ah_attr);
	}
	srcu_read_unlock(&ibcm_srcu, idx);
	return path;
}

/*
 * Returns the path back to the sender of @rx, with a reference and its address handle
 * in use.  Taking the handle now means that a request that could not be answered for
 * lack of one is dropped as if lost on the wire.  May sleep, on RoCE until the sender's
 * address is resolved.  On success the caller must destroy @ah_attr.
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
	/* Last, as device removal may complete when this path is freed. */
	ibcm_path_put(path);
}

/*
 * Takes the oldest idle handle from its path, for destruction, if it has lingered long
 * enough, there are too many, or @any is set.  Otherwise returns NULL and sets *@wait to
 * the jiffies that the oldest has left, or to 0 if there is none.
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

/* Destroys the idle handles of all ports. */
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
 * Waits until as many handles are destroyed as are being destroyed now, which may take
 * the adapter a command each.  Returns whether any was destroyed since ahs_ended was
 * @before.
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

/* Adds a user to the path's handle; false if the path has none. */
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
	/* The error does not say whether the adapter has no handle left: try again. */
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
 * Creates the path's handle, path->ah, if needed, and keeps it until ibcm_path_unuse().
 * May sleep.  Returns 0, the provider's error, or -ENODEV.
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
 * Called on device removal, when no port has an agent, so that no path and no handle is
 * created any more, and the ids have put their paths.  The remaining references belong
 * to messages and ids that are being released.
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
