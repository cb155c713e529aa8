// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Membership in InfiniBand multicast groups (IBA volume 1, 15.2.5.17 and 10.5).
 *
 * All members on a port share one group for an MGID.  A group has at most one request
 * to subnet administration in flight; its work item, which no other group waits for,
 * compares the join states that are wanted and joined, sends the next request or calls
 * the next member's callback, and runs again when the response arrives.
 *
 * References on a group: each member, the work item while queued or running, and the
 * request in flight.  A group without references is removed from its port's list and
 * freed.
 */
#include <linux/jhash.h>
#include <rdma/ib_cache.h>
#include "sa.h"

#define SA_MCAST_TIMEOUT_MS	10000
#define SA_MCAST_CLOSE_MS	2000	/* for the last leaves when a device is removed */
#define SA_MCAST_STATES		(BIT(NUM_JOIN_MEMBERSHIP_TYPES) - 1)

struct sa_group;

struct sa_member {
	struct ib_sa_multicast mc;
	struct sa_group *group;		/* reference */
	struct ib_sa_client *client;	/* its users counts this member */
	struct list_head on_group;	/* group->pending or active; group->lock */
	bool active;			/* counted in group->members; group->lock */
	bool answered;			/* @result is the SA's response; group->lock */
	int result;			/* group->lock */
	refcount_t ref;			/* the owner's, and a callback's */
	struct completion gone;
};

struct sa_group {
	struct sa_port *port;		/* counted in port->users */
	struct list_head on_port;	/* port->groups_lock */
	struct hlist_node by_mgid;	/* port->by_mgid, if it has one; groups_lock */
	union ib_gid mgid;		/* zero: the SA will assign one; groups_lock */
	refcount_t ref;
	struct work_struct work;
	spinlock_t lock;		/* for what is marked with it below; irq safe */
	struct ib_sa_mcmember_rec rec;	/* of the group; valid while known; lock */
	bool known;			/* joined, or was until a reset; lock */
	u16 pkey_index;			/* of rec.pkey when it was joined; lock */
	u8 joined;			/* states joined with the SA; lock */
	u8 asked;			/* states in the request in flight; lock */
	bool busy;			/* a request is in flight; lock */
	bool leaving;			/* that request is a leave; lock */
	bool stale;			/* a reset made its response obsolete; lock */
	unsigned int members[NUM_JOIN_MEMBERSHIP_TYPES];	/* lock */
	struct list_head pending, active, reset;		/* lock */
	struct sa_member *joining;	/* the member that the request is for; lock */
};

static struct workqueue_struct *sa_mcast_wq;

static u32 mgid_hash(const union ib_gid *mgid)
{
	return jhash(mgid, sizeof(*mgid), 0);
}

static void group_put(struct sa_group *group)
{
	struct sa_port *port = group->port;
	unsigned long flags;

	if (!refcount_dec_and_lock_irqsave(&group->ref, &port->groups_lock,
					   &flags))
		return;
	__acquire(&port->groups_lock);	/* sparse does not know that it is taken */
	list_del(&group->on_port);
	hash_del(&group->by_mgid);
	spin_unlock_irqrestore(&port->groups_lock, flags);
	kfree(group);
	if (refcount_dec_and_test(&port->users))
		complete(&port->unused);
}

/* Takes over the caller's reference. */
static void group_kick(struct sa_group *group)
{
	if (!queue_work(sa_mcast_wq, &group->work))
		group_put(group);
}

static void member_put(struct sa_member *member)
{
	if (refcount_dec_and_test(&member->ref))
		complete(&member->gone);
}

static void count_states(struct sa_group *group, u8 states, int by)
{
	int i;

	lockdep_assert_held(&group->lock);
	for (i = 0; i < NUM_JOIN_MEMBERSHIP_TYPES; i++)
		if (states & BIT(i))
			group->members[i] += by;
}

static u8 wanted_states(struct sa_group *group)
{
	u8 states = 0;
	int i;

	lockdep_assert_held(&group->lock);
	for (i = 0; i < NUM_JOIN_MEMBERSHIP_TYPES; i++)
		if (group->members[i])
			states |= BIT(i);
	return states;
}

/* Takes @m out of its group for good; a callback may still be running. */
static void member_leave(struct sa_member *m)
{
	struct sa_group *group = m->group;

	spin_lock_irq(&group->lock);
	list_del_init(&m->on_group);
	if (m->active)
		count_states(group, m->mc.rec.join_state, -1);
	m->active = false;
	if (group->joining == m)
		group->joining = NULL;
	spin_unlock_irq(&group->lock);
	refcount_inc(&group->ref);
	group_kick(group);
}

static void member_free(struct sa_member *m)
{
	struct ib_sa_client *client = m->client;

	group_put(m->group);
	if (atomic_dec_and_test(&client->users))
		complete(&client->comp);
	kfree(m);
}

/*
 * Calls the callback of a member on which the caller holds a reference.  If it returns
 * non-zero it gives up the owner's reference as well; only the group's work item takes
 * another, so the member is freed here.
 */
static void member_tell(struct sa_member *m, int status)
{
	if (m->mc.callback(status, &m->mc)) {
		member_leave(m);
		member_free(m);
	} else {
		member_put(m);
	}
}

/* If the SA has assigned the group's MGID: from now on others may share the group. */
static void group_named(struct sa_group *group, const union ib_gid *mgid)
{
	struct sa_port *port = group->port;

	spin_lock_irq(&port->groups_lock);
	if (rdma_is_zero_gid(&group->mgid) && !rdma_is_zero_gid(mgid)) {
		group->mgid = *mgid;
		hash_add(port->by_mgid, &group->by_mgid, mgid_hash(mgid));
	}
	spin_unlock_irq(&port->groups_lock);
}

/* The index of the group's P_Key in the port's table, or U16_MAX. */
static u16 group_find_pkey(const struct sa_group *group)
{
	const struct sa_port *port = group->port;
	u16 index;

	if (ib_find_cached_pkey(port->device, port->num,
				be16_to_cpu(group->rec.pkey), &index))
		return U16_MAX;
	return index;
}

static void group_joined(struct sa_group *group, const struct ib_sa_mad *mad)
{
	lockdep_assert_held(&group->lock);
	ibmad_sa_mcrec_unpack((const void *)mad->data, &group->rec);
	group->pkey_index = group_find_pkey(group);
	group->joined |= group->asked;
	group->known = true;
}

/* The request in flight has ended; group->busy is cleared. */
static void group_ended(struct sa_group *group, int status,
			const struct ib_sa_mad *mad)
{
	lockdep_assert_held(&group->lock);
	/*
	 * A failed leave counts as done: the SA removes ports that it cannot reach.  A
	 * join response that is older than a reset is ignored, as the pending members
	 * join again; without pending members it is used, so that the group it joined
	 * is left.
	 */
	if (group->leaving) {
		group->joined &= ~group->asked;
		group->known = group->joined;
	} else if (!status && (!group->stale || list_empty(&group->pending))) {
		group_joined(group, mad);
	}
	if (group->joining && status && !group->stale) {
		group->joining->answered = true;
		group->joining->result = status;
	}
	group->joining = NULL;
	group->busy = false;
}

static void group_answer(struct ib_sa_query *query, int status,
			 const struct ib_sa_mad *mad)
{
	struct sa_group *group = query->context;
	union ib_gid mgid;

	spin_lock_irq(&group->lock);
	group_ended(group, status, mad);
	mgid = group->rec.mgid;
	spin_unlock_irq(&group->lock);
	group_named(group, &mgid);
	group_kick(group);	/* with the request's reference */
}

/*
 * Sends a join or, with @leave, a leave; group->busy, set by the caller, keeps out
 * others.
 */
static int group_ask(struct sa_group *group, struct ib_sa_mcmember_rec *rec,
		     ib_sa_comp_mask mask, bool leave)
{
	struct sa_mcmember_wire wire;
	struct ib_sa_query *query, *started;
	int ret;

	if (READ_ONCE(group->port->closing))
		return -ENODEV;
	query = kzalloc(sizeof(*query), GFP_KERNEL);
	if (!query)
		return -ENOMEM;
	query->done = group_answer;
	query->context = group;
	ibmad_sa_mcrec_pack(rec, &wire);
	refcount_inc(&group->ref);
	ret = ibmad_sa_query(NULL, group->port,
			     leave ? IB_SA_METHOD_DELETE : IB_MGMT_METHOD_SET,
			     IB_SA_ATTR_MC_MEMBER_REC, mask, &wire, sizeof(wire),
			     SA_MCAST_TIMEOUT_MS, GFP_KERNEL, query, &started);
	if (ret < 0)
		group_put(group);
	return ret < 0 ? ret : 0;
}

/* The request could not be sent, for @status. */
static void group_unasked(struct sa_group *group, int status)
{
	spin_lock_irq(&group->lock);
	group_ended(group, status, NULL);
	spin_unlock_irq(&group->lock);
	refcount_inc(&group->ref);
	group_kick(group);
}

/* Sends a join for @m; drops group->lock. */
static void group_join(struct sa_group *group, struct sa_member *m)
	__releases(&group->lock)
{
	struct ib_sa_mcmember_rec rec = m->mc.rec;
	ib_sa_comp_mask mask = m->mc.comp_mask;
	int ret;

	group->busy = true;
	group->leaving = false;
	group->stale = false;
	group->joining = m;
	group->asked = rec.join_state & SA_MCAST_STATES;
	spin_unlock_irq(&group->lock);
	ret = group_ask(group, &rec, mask, false);
	if (ret)
		group_unasked(group, ret);
}

/* Sends a leave of @states; drops group->lock. */
static void group_leave(struct sa_group *group, u8 states)
	__releases(&group->lock)
{
	struct ib_sa_mcmember_rec rec = group->rec;
	int ret;

	rec.join_state = states;
	group->busy = true;
	group->leaving = true;
	group->stale = false;
	group->asked = states;
	spin_unlock_irq(&group->lock);
	ret = group_ask(group, &rec, IB_SA_MCMEMBER_REC_MGID |
				     IB_SA_MCMEMBER_REC_PORT_GID |
				     IB_SA_MCMEMBER_REC_JOIN_STATE, true);
	if (ret)
		group_unasked(group, ret);
}

/* Takes a member off the pending list; returns the status for its callback. */
static int member_decide(struct sa_group *group, struct sa_member *m)
{
	int status = m->answered ? m->result : 0;
	u8 states = m->mc.rec.join_state & SA_MCAST_STATES;

	lockdep_assert_held(&group->lock);
	if (!status &&
	    !ibmad_sa_mcrec_fits(&group->rec, &m->mc.rec, m->mc.comp_mask))
		status = -EINVAL;
	list_del_init(&m->on_group);
	if (status)
		return status;
	m->mc.rec = group->rec;
	m->mc.rec.join_state = states;
	m->active = true;
	count_states(group, states, 1);
	list_add_tail(&m->on_group, &group->active);
	return 0;
}

static void group_work(struct work_struct *work)
{
	struct sa_group *group = container_of(work, struct sa_group, work);
	struct sa_member *m;
	u8 states;
	int status;

	for (;;) {
		spin_lock_irq(&group->lock);
		m = list_first_entry_or_null(&group->reset, struct sa_member,
					     on_group);
		if (m) {
			list_del_init(&m->on_group);
			status = -ENETRESET;
			goto tell;
		}
		if (group->busy)
			break;
		m = list_first_entry_or_null(&group->pending, struct sa_member,
					     on_group);
		if (!m)
			break;
		states = m->mc.rec.join_state & SA_MCAST_STATES;
		if (!m->answered && (group->joined & states) != states) {
			group_join(group, m);
			goto out;
		}
		status = member_decide(group, m);
tell:
		refcount_inc(&m->ref);
		spin_unlock_irq(&group->lock);
		member_tell(m, status);
	}
	states = group->joined & ~wanted_states(group);
	if (!group->busy && states) {
		group_leave(group, states);
		goto out;
	}
	spin_unlock_irq(&group->lock);
out:
	group_put(group);
}

/* Returns the group with a reference, or NULL. */
static struct sa_group *group_find(struct sa_port *port,
				   const union ib_gid *mgid)
{
	struct sa_group *group;

	lockdep_assert_held(&port->groups_lock);
	if (rdma_is_zero_gid(mgid))
		return NULL;
	hash_for_each_possible(port->by_mgid, group, by_mgid, mgid_hash(mgid))
		if (!memcmp(&group->mgid, mgid, sizeof(*mgid)) &&
		    refcount_inc_not_zero(&group->ref))
			return group;
	return NULL;
}

static struct sa_group *group_alloc(struct sa_port *port,
				    const union ib_gid *mgid, gfp_t gfp)
{
	struct sa_group *group = kzalloc(sizeof(*group), gfp);

	if (!group)
		return NULL;
	group->port = port;
	group->mgid = *mgid;
	refcount_set(&group->ref, 1);
	INIT_WORK(&group->work, group_work);
	INIT_HLIST_NODE(&group->by_mgid);
	spin_lock_init(&group->lock);
	INIT_LIST_HEAD(&group->pending);
	INIT_LIST_HEAD(&group->active);
	INIT_LIST_HEAD(&group->reset);
	return group;
}

static struct sa_group *group_get(struct sa_port *port,
				  const union ib_gid *mgid, gfp_t gfp)
{
	struct sa_group *fresh = group_alloc(port, mgid, gfp);
	struct sa_group *group;
	unsigned long flags;

	spin_lock_irqsave(&port->groups_lock, flags);
	group = group_find(port, mgid);
	if (!group && fresh) {
		refcount_inc(&port->users);
		list_add(&fresh->on_port, &port->groups);
		if (!rdma_is_zero_gid(mgid))
			hash_add(port->by_mgid, &fresh->by_mgid,
				 mgid_hash(mgid));
		swap(group, fresh);
	}
	spin_unlock_irqrestore(&port->groups_lock, flags);
	kfree(fresh);
	return group;
}

static struct sa_member *member_alloc(struct sa_port *port,
				      const union ib_gid *mgid, gfp_t gfp)
{
	struct sa_member *m = kzalloc(sizeof(*m), gfp);

	if (!m)
		return NULL;
	m->group = group_get(port, mgid, gfp);
	if (!m->group) {
		kfree(m);
		return NULL;
	}
	refcount_set(&m->ref, 1);
	init_completion(&m->gone);
	return m;
}

/**
 * ib_sa_join_multicast - join a multicast group
 * @client: the caller
 * @device: device of the port that joins
 * @port_num: that port, an InfiniBand one
 * @rec: what is known of the group; its join_state is required
 * @comp_mask: IB_SA_MCMEMBER_REC_*: which fields of @rec are known
 * @gfp_mask: for the allocations
 * @callback: called in process context with 0 and the group's record; or with
 *	-ETIMEDOUT, -EIO, -EAGAIN (the SA's address is not known now), -EINVAL
 *	(the response is an error, or the group's record does not match @rec); perhaps
 *	later with -ENETRESET, when the membership was lost.  If it returns non-zero
 *	the membership is freed
 * @context: kept in the result
 *
 * The callback may have run, and freed the membership, before this returns.
 *
 * Context: as @gfp_mask.
 * Return: the membership, for ib_sa_free_multicast(), or an ERR_PTR: -ENODEV: the
 * port has no subnet administration; -EINVAL: no join state; -ENOMEM.
 * IBA volume 1, 15.2.5.17.
 */
struct ib_sa_multicast *ib_sa_join_multicast(struct ib_sa_client *client,
					     struct ib_device *device,
					     u32 port_num,
					     struct ib_sa_mcmember_rec *rec,
					     ib_sa_comp_mask comp_mask,
					     gfp_t gfp_mask,
					     int (*callback)(int err,
							     struct ib_sa_multicast *mc),
					     void *context)
{
	struct sa_group *group;
	struct sa_member *m;
	struct sa_port *port;
	unsigned long flags;

	port = ibmad_sa_port(device, port_num);
	if (!port)
		return ERR_PTR(-ENODEV);
	if (!(rec->join_state & SA_MCAST_STATES))
		return ERR_PTR(-EINVAL);
	m = member_alloc(port, &rec->mgid, gfp_mask);
	if (!m)
		return ERR_PTR(-ENOMEM);
	m->mc.rec = *rec;
	m->mc.comp_mask = comp_mask;
	m->mc.callback = callback;
	m->mc.context = context;
	m->client = client;
	atomic_inc(&client->users);

	/* Once the member is listed, a callback may free it. */
	group = m->group;
	refcount_inc(&group->ref);
	spin_lock_irqsave(&group->lock, flags);
	list_add_tail(&m->on_group, &group->pending);
	spin_unlock_irqrestore(&group->lock, flags);
	group_kick(group);
	return &m->mc;
}
EXPORT_SYMBOL(ib_sa_join_multicast);

/**
 * ib_sa_free_multicast - give up a membership
 * @multicast: from ib_sa_join_multicast(), joined, failed or not yet answered
 *
 * Its callback does not run afterwards.  When the last member on a port is freed, the
 * port leaves the group.
 *
 * Context: may sleep; not from the callback, which returns non-zero instead.
 */
void ib_sa_free_multicast(struct ib_sa_multicast *multicast)
{
	struct sa_member *m = container_of(multicast, struct sa_member, mc);

	member_leave(m);
	member_put(m);
	wait_for_completion(&m->gone);
	member_free(m);
}
EXPORT_SYMBOL(ib_sa_free_multicast);

/**
 * ib_sa_get_mcmember_rec - record of a group that the port has joined
 * @device: the device
 * @port_num: the port
 * @mgid: the group's MGID
 * @rec: set to its record
 *
 * A group whose membership was lost keeps its record as long as it has members, who
 * join again: the record can be read meanwhile.
 *
 * Context: any.
 * Return: 0; -ENODEV: the port has no subnet administration; -EADDRNOTAVAIL: it
 * has not joined such a group.
 */
int ib_sa_get_mcmember_rec(struct ib_device *device, u32 port_num,
			   union ib_gid *mgid, struct ib_sa_mcmember_rec *rec)
{
	struct sa_port *port = ibmad_sa_port(device, port_num);
	struct sa_group *group;
	int ret = -EADDRNOTAVAIL;
	unsigned long flags;

	if (!port)
		return -ENODEV;
	spin_lock_irqsave(&port->groups_lock, flags);
	group = group_find(port, mgid);
	spin_unlock_irqrestore(&port->groups_lock, flags);
	if (!group)
		return ret;
	spin_lock_irqsave(&group->lock, flags);
	if (group->known) {
		*rec = group->rec;
		ret = 0;
	}
	spin_unlock_irqrestore(&group->lock, flags);
	group_put(group);
	return ret;
}
EXPORT_SYMBOL(ib_sa_get_mcmember_rec);

/* The group after @group on its port's list, with a reference; drops that on @group. */
static struct sa_group *group_next(struct sa_port *port, struct sa_group *group)
{
	struct sa_group *next;

	spin_lock_irq(&port->groups_lock);
	next = list_prepare_entry(group, &port->groups, on_port);
	list_for_each_entry_continue(next, &port->groups, on_port)
		if (refcount_inc_not_zero(&next->ref))
			break;
	if (list_entry_is_head(next, &port->groups, on_port))
		next = NULL;
	spin_unlock_irq(&port->groups_lock);
	if (group)
		group_put(group);
	return next;
}

static bool group_pkey_moved(const struct sa_group *group)
{
	lockdep_assert_held(&group->lock);
	return group->joined && group_find_pkey(group) != group->pkey_index;
}

static void group_reset(struct sa_group *group)
{
	struct sa_member *m;

	lockdep_assert_held(&group->lock);
	list_for_each_entry(m, &group->active, on_group) {
		count_states(group, m->mc.rec.join_state, -1);
		m->active = false;
	}
	list_splice_tail_init(&group->active, &group->reset);
	group->joined = 0;
	group->stale = true;
}

/*
 * Active members are notified and must join again; for pending ones the group joins
 * again.
 */
void ibmad_sa_mcast_reset(struct sa_port *port, bool pkey)
{
	struct sa_group *group = NULL;

	while ((group = group_next(port, group))) {
		spin_lock_irq(&group->lock);
		if (!pkey || group_pkey_moved(group))
			group_reset(group);
		spin_unlock_irq(&group->lock);
		refcount_inc(&group->ref);
		group_kick(group);
	}
}

/*
 * Why no group remains: its members were freed by their owners, clients of ib_mad that
 * were removed from the device before; only the last leave is left.  The SA gets
 * SA_MCAST_CLOSE_MS to respond to it, then it is cancelled, and no other request is
 * sent.
 */
void ibmad_sa_mcast_close(struct sa_port *port)
{
	unsigned long timeout = msecs_to_jiffies(SA_MCAST_CLOSE_MS);

	if (refcount_dec_and_test(&port->users))
		return;
	while (!wait_for_completion_timeout(&port->unused, timeout)) {
		WRITE_ONCE(port->closing, true);
		/* A request that was just being sent is cancelled in the next round. */
		ibmad_sa_cancel_all(port);
		timeout = msecs_to_jiffies(100);
	}
}

int ibmad_sa_mcast_init(void)
{
	sa_mcast_wq = alloc_workqueue("ib_sa_mcast", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return sa_mcast_wq ? 0 : -ENOMEM;
}

void ibmad_sa_mcast_exit(void)
{
	destroy_workqueue(sa_mcast_wq);
}
