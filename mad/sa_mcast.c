// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Membership in InfiniBand multicast groups (IBA volume 1, 15.2.5.17 and 10.5).
 *
 * All members on a port share one group for an MGID.  A group has at most one
 * request to subnet administration on its way; its work item, which no other group
 * waits for, looks at what is wanted and what is joined, sends the next request or
 * tells the next member, and runs again when the answer comes.
 *
 * References on a group: each member, the work item while queued or running, and
 * the request on its way.  A group with none leaves its port's list.
 */
#include <linux/mutex.h>
#include <rdma/ib_cache.h>
#include "sa.h"

#define SA_MCAST_TIMEOUT_MS	10000
#define SA_MCAST_STATES		(BIT(NUM_JOIN_MEMBERSHIP_TYPES) - 1)

/* IBA volume 1, 15.2.5.17 */
struct sa_mcmember_wire {
	union ib_gid mgid;
	union ib_gid port_gid;
	__be32 qkey;
	__be16 mlid;
	u8 mtu;			/* selector 2, 6 */
	u8 traffic_class;
	__be16 pkey;
	u8 rate;		/* selector 2, 6 */
	u8 life_time;		/* selector 2, 6 */
	__be32 sl_flow_hop;	/* 4, 20, 8 */
	u8 scope_join;		/* 4, 4 */
	u8 proxy;		/* 1, 7 reserved */
	__be16 reserved;
} __packed;

static_assert(sizeof(struct sa_mcmember_wire) == 52);

struct sa_group;

struct sa_member {
	struct ib_sa_multicast mc;
	struct sa_group *group;		/* reference */
	struct ib_sa_client *client;	/* its users counts this member */
	struct list_head on_group;	/* group->pending or active; group->lock */
	bool active;			/* counted in group->members; group->lock */
	bool answered;			/* @result is the SA's word; group->lock */
	int result;			/* group->lock */
	refcount_t ref;			/* the owner's, and a callback's */
	struct completion gone;
};

struct sa_group {
	struct sa_port *port;		/* counted in port->users */
	struct list_head on_port;	/* port->groups_lock */
	union ib_gid mgid;		/* zero: to be given by the SA, not shared */
	refcount_t ref;
	struct work_struct work;
	spinlock_t lock;		/* what says so below; irq safe */
	struct ib_sa_mcmember_rec rec;	/* of the group; valid while joined; lock */
	u8 joined;			/* states joined with the SA; lock */
	u8 asked;			/* states in the request on its way; lock */
	bool busy;			/* a request is on its way; lock */
	bool leaving;			/* and it is a leave; lock */
	unsigned int members[NUM_JOIN_MEMBERSHIP_TYPES];	/* lock */
	struct list_head pending, active, reset;		/* lock */
	struct sa_member *joining;	/* whom the request is for; lock */
};

static struct workqueue_struct *sa_mcast_wq;

static void wire_pack(const struct ib_sa_mcmember_rec *rec,
		      struct sa_mcmember_wire *wire)
{
	memset(wire, 0, sizeof(*wire));
	wire->mgid = rec->mgid;
	wire->port_gid = rec->port_gid;
	wire->qkey = rec->qkey;
	wire->mlid = rec->mlid;
	wire->mtu = rec->mtu_selector << 6 | rec->mtu;
	wire->traffic_class = rec->traffic_class;
	wire->pkey = rec->pkey;
	wire->rate = rec->rate_selector << 6 | rec->rate;
	wire->life_time = rec->packet_life_time_selector << 6 |
			  rec->packet_life_time;
	wire->sl_flow_hop = cpu_to_be32(rec->sl << 28 |
					(be32_to_cpu(rec->flow_label) & 0xfffff) << 8 |
					rec->hop_limit);
	wire->scope_join = rec->scope << 4 | (rec->join_state & 0xf);
	wire->proxy = rec->proxy_join << 7;
}

static void wire_unpack(const struct sa_mcmember_wire *wire,
			struct ib_sa_mcmember_rec *rec)
{
	u32 sl_flow_hop = be32_to_cpu(wire->sl_flow_hop);

	rec->mgid = wire->mgid;
	rec->port_gid = wire->port_gid;
	rec->qkey = wire->qkey;
	rec->mlid = wire->mlid;
	rec->mtu_selector = wire->mtu >> 6;
	rec->mtu = wire->mtu & 0x3f;
	rec->traffic_class = wire->traffic_class;
	rec->pkey = wire->pkey;
	rec->rate_selector = wire->rate >> 6;
	rec->rate = wire->rate & 0x3f;
	rec->packet_life_time_selector = wire->life_time >> 6;
	rec->packet_life_time = wire->life_time & 0x3f;
	rec->sl = sl_flow_hop >> 28;
	rec->flow_label = cpu_to_be32(sl_flow_hop >> 8 & 0xfffff);
	rec->hop_limit = sl_flow_hop;
	rec->scope = wire->scope_join >> 4;
	rec->join_state = wire->scope_join & 0xf;
	rec->proxy_join = wire->proxy >> 7;
}

static void group_put(struct sa_group *group)
{
	struct sa_port *port = group->port;

	if (!refcount_dec_and_mutex_lock(&group->ref, &port->groups_lock))
		return;
	list_del(&group->on_port);
	mutex_unlock(&port->groups_lock);
	kfree(group);
	if (refcount_dec_and_test(&port->users))
		complete(&port->unused);
}

static void group_kick(struct sa_group *group)
{
	refcount_inc(&group->ref);
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

/* A field that the member gave must be as the group has it. */
static bool fits(const struct ib_sa_mcmember_rec *group, const struct sa_member *m)
{
	const struct ib_sa_mcmember_rec *want = &m->mc.rec;
	ib_sa_comp_mask mask = m->mc.comp_mask;

	if (mask & IB_SA_MCMEMBER_REC_QKEY && want->qkey != group->qkey)
		return false;
	if (mask & IB_SA_MCMEMBER_REC_MLID && want->mlid != group->mlid)
		return false;
	if (mask & IB_SA_MCMEMBER_REC_PKEY && want->pkey != group->pkey)
		return false;
	if (mask & IB_SA_MCMEMBER_REC_TRAFFIC_CLASS &&
	    want->traffic_class != group->traffic_class)
		return false;
	if (mask & IB_SA_MCMEMBER_REC_SL && want->sl != group->sl)
		return false;
	if (mask & IB_SA_MCMEMBER_REC_FLOW_LABEL &&
	    want->flow_label != group->flow_label)
		return false;
	if (mask & IB_SA_MCMEMBER_REC_MTU &&
	    mask & IB_SA_MCMEMBER_REC_MTU_SELECTOR &&
	    want->mtu_selector == IB_SA_EQ && want->mtu != group->mtu)
		return false;
	return true;
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
 * Tells a member that the caller refers to.  One that answers non-zero has given
 * up its own reference, and the group's work item is the only other place that
 * takes one: it is freed here.
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

static void group_answer(struct ib_sa_query *query, int status,
			 const struct ib_sa_mad *mad)
{
	struct sa_group *group = query->context;
	bool leaving;

	spin_lock_irq(&group->lock);
	leaving = group->leaving;
	/* A leave that failed: the SA forgets ports that it cannot reach. */
	if (leaving)
		group->joined &= ~group->asked;
	else if (!status)
		group->joined |= group->asked;
	if (!leaving && !status)
		wire_unpack((const void *)mad->data, &group->rec);
	if (group->joining && status) {
		group->joining->answered = true;
		group->joining->result = status;
	}
	group->joining = NULL;
	group->busy = false;
	spin_unlock_irq(&group->lock);
	group_kick(group);
	group_put(group);
}

/* Sends a request for @states; group->busy is set and keeps others away. */
static int group_ask(struct sa_group *group, struct ib_sa_mcmember_rec *rec,
		     ib_sa_comp_mask mask, bool leave)
{
	struct sa_mcmember_wire wire;
	struct ib_sa_query *query, *started;
	int ret;

	query = kzalloc(sizeof(*query), GFP_KERNEL);
	if (!query)
		return -ENOMEM;
	query->done = group_answer;
	query->context = group;
	wire_pack(rec, &wire);
	refcount_inc(&group->ref);
	ret = ibmad_sa_query(NULL, group->port,
			     leave ? IB_SA_METHOD_DELETE : IB_MGMT_METHOD_SET,
			     IB_SA_ATTR_MC_MEMBER_REC, mask, &wire, sizeof(wire),
			     SA_MCAST_TIMEOUT_MS, GFP_KERNEL, query, &started);
	if (ret < 0)
		group_put(group);
	return ret < 0 ? ret : 0;
}

/* The next request is a join for @m; unlocks. */
static void group_join(struct sa_group *group, struct sa_member *m)
	__releases(&group->lock)
{
	struct ib_sa_mcmember_rec rec = m->mc.rec;
	ib_sa_comp_mask mask = m->mc.comp_mask;
	int ret;

	group->busy = true;
	group->leaving = false;
	group->joining = m;
	group->asked = rec.join_state & SA_MCAST_STATES;
	spin_unlock_irq(&group->lock);
	ret = group_ask(group, &rec, mask, false);
	if (!ret)
		return;
	spin_lock_irq(&group->lock);
	if (group->joining) {
		group->joining->answered = true;
		group->joining->result = ret;
		group->joining = NULL;
	}
	group->busy = false;
	spin_unlock_irq(&group->lock);
	group_kick(group);
}

/* The next request leaves @states; unlocks. */
static void group_leave(struct sa_group *group, u8 states)
	__releases(&group->lock)
{
	struct ib_sa_mcmember_rec rec = group->rec;

	rec.join_state = states;
	group->busy = true;
	group->leaving = true;
	group->asked = states;
	spin_unlock_irq(&group->lock);
	if (!group_ask(group, &rec, IB_SA_MCMEMBER_REC_MGID |
				    IB_SA_MCMEMBER_REC_PORT_GID |
				    IB_SA_MCMEMBER_REC_JOIN_STATE, true))
		return;
	spin_lock_irq(&group->lock);
	group->joined &= ~states;
	group->busy = false;
	spin_unlock_irq(&group->lock);
	group_kick(group);
}

/* Moves a pending member on; answers what to tell it. */
static int member_settle(struct sa_group *group, struct sa_member *m)
{
	int status = m->answered ? m->result : 0;
	u8 states = m->mc.rec.join_state & SA_MCAST_STATES;

	lockdep_assert_held(&group->lock);
	if (!status && !fits(&group->rec, m))
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
		status = member_settle(group, m);
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

static struct sa_group *group_get(struct sa_port *port, const union ib_gid *mgid)
{
	struct sa_group *group;

	mutex_lock(&port->groups_lock);
	list_for_each_entry(group, &port->groups, on_port) {
		if (!rdma_is_zero_gid(mgid) &&
		    !memcmp(&group->mgid, mgid, sizeof(*mgid)) &&
		    refcount_inc_not_zero(&group->ref))
			goto out;
	}
	group = kzalloc(sizeof(*group), GFP_KERNEL);
	if (!group)
		goto out;
	group->port = port;
	group->mgid = *mgid;
	refcount_set(&group->ref, 1);
	INIT_WORK(&group->work, group_work);
	spin_lock_init(&group->lock);
	INIT_LIST_HEAD(&group->pending);
	INIT_LIST_HEAD(&group->active);
	INIT_LIST_HEAD(&group->reset);
	refcount_inc(&port->users);
	list_add(&group->on_port, &port->groups);
out:
	mutex_unlock(&port->groups_lock);
	return group;
}

/**
 * ib_sa_join_multicast - join a multicast group
 * @client: the caller
 * @device: device of the port that joins
 * @port_num: that port, an InfiniBand one
 * @rec: what is known of the group; its join_state is wanted
 * @comp_mask: IB_SA_MCMEMBER_REC_*: which fields of @rec are known
 * @gfp_mask: must allow sleeping
 * @callback: called in process context with 0 and the group's record; or with
 *	-ETIMEDOUT, -EIO, -EINVAL (the group's record is another); later perhaps with
 *	-ENETRESET, when the membership was lost.  Non-zero from it frees the
 *	membership
 * @context: kept in the result
 *
 * Context: may sleep.
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
	struct sa_member *m;
	struct sa_port *port;

	port = ibmad_sa_port(device, port_num);
	if (!port)
		return ERR_PTR(-ENODEV);
	if (!(rec->join_state & SA_MCAST_STATES))
		return ERR_PTR(-EINVAL);
	m = kzalloc(sizeof(*m), gfp_mask);
	if (!m)
		return ERR_PTR(-ENOMEM);
	m->group = group_get(port, &rec->mgid);
	if (!m->group) {
		kfree(m);
		return ERR_PTR(-ENOMEM);
	}
	m->mc.rec = *rec;
	m->mc.comp_mask = comp_mask;
	m->mc.callback = callback;
	m->mc.context = context;
	m->client = client;
	atomic_inc(&client->users);
	refcount_set(&m->ref, 1);
	init_completion(&m->gone);
	spin_lock_irq(&m->group->lock);
	list_add_tail(&m->on_group, &m->group->pending);
	spin_unlock_irq(&m->group->lock);
	group_kick(m->group);
	return &m->mc;
}
EXPORT_SYMBOL(ib_sa_join_multicast);

/**
 * ib_sa_free_multicast - give up a membership
 * @multicast: from ib_sa_join_multicast(), joined, failed or not yet answered
 *
 * Its callback does not run afterwards.  The last member of a port leaves the
 * group.
 *
 * Context: may sleep; not from the callback, which answers non-zero instead.
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
 * Context: may sleep.
 * Return: 0; -ENODEV: the port has no subnet administration; -EADDRNOTAVAIL: it
 * has not joined such a group.
 */
int ib_sa_get_mcmember_rec(struct ib_device *device, u32 port_num,
			   union ib_gid *mgid, struct ib_sa_mcmember_rec *rec)
{
	struct sa_port *port = ibmad_sa_port(device, port_num);
	struct sa_group *group;
	int ret = -EADDRNOTAVAIL;

	if (!port)
		return -ENODEV;
	mutex_lock(&port->groups_lock);
	list_for_each_entry(group, &port->groups, on_port) {
		if (memcmp(&group->mgid, mgid, sizeof(*mgid)))
			continue;
		spin_lock_irq(&group->lock);
		if (group->joined) {
			*rec = group->rec;
			ret = 0;
		}
		spin_unlock_irq(&group->lock);
	}
	mutex_unlock(&port->groups_lock);
	return ret;
}
EXPORT_SYMBOL(ib_sa_get_mcmember_rec);

/* The SA forgot, or is another: members are told and must join again. */
void ibmad_sa_mcast_reset(struct sa_port *port)
{
	struct sa_group *group;
	struct sa_member *m;

	mutex_lock(&port->groups_lock);
	list_for_each_entry(group, &port->groups, on_port) {
		spin_lock_irq(&group->lock);
		list_for_each_entry(m, &group->active, on_group) {
			count_states(group, m->mc.rec.join_state, -1);
			m->active = false;
		}
		list_splice_tail_init(&group->active, &group->reset);
		group->joined = 0;
		spin_unlock_irq(&group->lock);
		if (refcount_inc_not_zero(&group->ref)) {
			if (!queue_work(sa_mcast_wq, &group->work))
				refcount_dec(&group->ref);
		}
	}
	mutex_unlock(&port->groups_lock);
}

/*
 * No group remains: its members were freed by their owners, clients of ib_mad that
 * left the device before; what is left is the last leave, which the agent ends.
 */
void ibmad_sa_mcast_close(struct sa_port *port)
{
	if (!refcount_dec_and_test(&port->users))
		wait_for_completion(&port->unused);
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
