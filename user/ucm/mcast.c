// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast groups of ids.
 *
 * A process leaves a group by the number of its join, rdma_cm by the group's address.
 * If an id has joined a group several times, rdma_cm leaves the oldest join.  So if
 * the process leaves another join, the oldest one takes over that join's slot, which
 * identifies what rdma_cm keeps of it.
 */
#include <linux/slab.h>

#include "ucm.h"

/* As with ids, a number can be looked up once it was reported to the process. */
static DEFINE_XARRAY_ALLOC(ucm_mcasts);

void ucm_mcast_put(struct ucm_mcast *mc)
{
	if (refcount_dec_and_test(&mc->refs))
		kfree_rcu(mc, rcu);
}

/* Returns the group of @id with this context in rdma_cm, or NULL.  The file is locked. */
struct ucm_mcast *ucm_mcast_by_slot(struct ucm_id *id, const void *context)
{
	struct ucm_mcast *mc;

	list_for_each_entry(mc, &id->mcasts, node)
		if (mc->slot == (uintptr_t)context)
			return mc;
	return NULL;
}

static struct ucm_mcast *ucm_mcast_alloc(struct ucm_id *id, const void *addr, u64 uid)
{
	struct ucm_mcast *mc;
	int err;

	mc = kzalloc(sizeof(*mc), GFP_KERNEL_ACCOUNT);
	if (!mc)
		return ERR_PTR(-ENOMEM);
	err = xa_alloc(&ucm_mcasts, &mc->nr, NULL, xa_limit_31b, GFP_KERNEL);
	if (err) {
		kfree(mc);
		return ERR_PTR(err);
	}
	refcount_set(&mc->refs, 1);
	mc->owner = id;
	mc->uid = uid;
	mc->slot = id->next_slot++;
	memcpy(&mc->addr, addr, rdma_addr_size(addr));
	return mc;
}

static void ucm_mcast_link(struct ucm_mcast *mc)
{
	struct ucm_file *file = ucm_id_lock_file(mc->owner);

	list_add_tail(&mc->node, &mc->owner->mcasts);
	ucm_file_unlock(file);
}

/* Returns the oldest join of @addr, of which there is at least one. */
static struct ucm_mcast *ucm_mcast_oldest(struct ucm_id *id,
					  const struct sockaddr_storage *addr)
{
	struct ucm_mcast *mc;

	list_for_each_entry(mc, &id->mcasts, node)
		if (!memcmp(&mc->addr, addr, sizeof(*addr)))
			break;
	return mc;
}

/*
 * Unlinks the group and moves its unread events to @events.  Returns how many were
 * read.  @joined: rdma_cm has joined, and is going to leave the oldest join of the
 * address.
 */
static u32 ucm_mcast_unlink(struct ucm_mcast *mc, bool joined, struct list_head *events)
{
	struct ucm_id *id = mc->owner;
	struct ucm_event *ev, *next;
	struct ucm_file *file;
	u32 reported;

	file = ucm_id_lock_file(id);
	if (joined)
		ucm_mcast_oldest(id, &mc->addr)->slot = mc->slot;
	list_del(&mc->node);
	mc->left = true;
	list_for_each_entry_safe(ev, next, &id->events, id_node)
		if (ev->mcast == mc)
			ucm_event_unlink(ev, events);
	reported = mc->events_reported;
	ucm_file_unlock(file);
	return reported;
}

/* Called under its owner's mutex.  Returns how many of the group's events were read. */
static u32 ucm_mcast_leave(struct ucm_mcast *mc)
{
	struct rdma_cm_id *cm_id = mc->owner->cm_id;
	LIST_HEAD(events);
	u32 reported;

	lockdep_assert_held(&mc->owner->mutex);
	xa_erase(&ucm_mcasts, mc->nr);
	reported = ucm_mcast_unlink(mc, true, &events);
	if (cm_id)
		rdma_leave_multicast(cm_id, (struct sockaddr *)&mc->addr);
	ucm_events_drop(&events);
	ucm_mcast_put(mc);
	return reported;
}

/* After the cm_id was destroyed: rdma_cm has left all groups, no event is queued. */
void ucm_mcasts_end(struct ucm_id *id)
{
	struct ucm_mcast *mc, *next;

	list_for_each_entry_safe(mc, next, &id->mcasts, node) {
		xa_erase(&ucm_mcasts, mc->nr);
		list_del(&mc->node);
		ucm_mcast_put(mc);
	}
}

/* Joins and links a group.  Returns it with a reference for the caller. */
static struct ucm_mcast *ucm_mcast_join(struct ucm_id *id, void *addr, u64 uid,
					u8 join_state)
{
	LIST_HEAD(events);
	struct ucm_mcast *mc;
	int err;

	mc = ucm_mcast_alloc(id, addr, uid);
	if (IS_ERR(mc))
		return mc;
	/* The first event may occur before rdma_join_multicast() returns. */
	ucm_mcast_link(mc);
	err = rdma_join_multicast(id->cm_id, addr, join_state,
				  (void *)(uintptr_t)mc->slot);
	if (err) {
		ucm_mcast_unlink(mc, false, &events);
		ucm_events_drop(&events);
		xa_erase(&ucm_mcasts, mc->nr);
		ucm_mcast_put(mc);
		return ERR_PTR(err);
	}
	refcount_inc(&mc->refs);
	return mc;
}

/*
 * Publishes the number that was copied to the process; leaves the group if it could
 * not be copied (@err).  Meanwhile no command could leave the group, but its id may
 * have ended.
 */
static int ucm_mcast_finish(struct ucm_mcast *mc, struct ucm_id *id, int err)
{
	mutex_lock(&id->mutex);
	if (id->destroyed)
		err = err ?: -ENOENT;
	else if (err)
		ucm_mcast_leave(mc);
	else
		xa_store(&ucm_mcasts, mc->nr, mc, GFP_KERNEL);	/* reserved */
	mutex_unlock(&id->mutex);
	ucm_mcast_put(mc);
	return err;
}

static int ucm_do_join(struct ucm_call *call, u32 nr, void *addr, u64 uid, u16 flags,
		       u64 response)
{
	struct rdma_ucm_create_id_resp resp = {};
	struct ucm_mcast *mc;
	struct ucm_id *id;
	u8 join_state;
	int err;

	if (flags == RDMA_MC_JOIN_FLAG_FULLMEMBER)
		join_state = BIT(FULLMEMBER_JOIN);
	else if (flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER)
		join_state = BIT(SENDONLY_FULLMEMBER_JOIN);
	else
		return -EINVAL;

	id = ucm_id_get_bound(call->file, nr);
	if (IS_ERR(id))
		return PTR_ERR(id);
	mc = ucm_mcast_join(id, addr, uid, join_state);
	mutex_unlock(&id->mutex);
	err = PTR_ERR_OR_ZERO(mc);
	if (!err) {
		resp.id = mc->nr;
		err = ucm_respond(call, response, &resp, sizeof(resp));
		err = ucm_mcast_finish(mc, id, err);
	}
	ucm_id_put(id);
	return err;
}

int ucm_join_ip_mcast(struct ucm_call *call)
{
	struct rdma_ucm_join_ip_mcast *cmd = &call->cmd.join_ip_mcast;

	if (!rdma_addr_size_in6(&cmd->addr))
		return -EINVAL;
	return ucm_do_join(call, cmd->id, &cmd->addr, cmd->uid,
			   RDMA_MC_JOIN_FLAG_FULLMEMBER, cmd->response);
}

int ucm_join_mcast(struct ucm_call *call)
{
	struct rdma_ucm_join_mcast *cmd = &call->cmd.join_mcast;

	if (!cmd->addr_size || cmd->addr_size != rdma_addr_size_kss(&cmd->addr))
		return -EINVAL;
	return ucm_do_join(call, cmd->id, &cmd->addr, cmd->uid, cmd->join_flags,
			   cmd->response);
}

/* Returns the id that owns group @nr, with its mutex held, or an error. */
static struct ucm_id *ucm_mcast_owner(struct ucm_file *file, u32 nr)
{
	struct ucm_mcast *mc;
	struct ucm_id *id = NULL;
	int err;

	rcu_read_lock();
	mc = xa_load(&ucm_mcasts, nr);
	if (mc && ucm_id_tryget(mc->owner))
		id = mc->owner;
	rcu_read_unlock();
	if (!id)
		return ERR_PTR(-ENOENT);

	mutex_lock(&id->mutex);
	err = ucm_id_check(id, file);
	if (!err)
		return id;
	ucm_id_release(id);
	return ERR_PTR(err);
}

/*
 * Returns group @nr of @id, or NULL if another command left it first.  The number may
 * then be that of another id's group, which may be freed at any time; a group of @id
 * stays while the id's mutex is held.
 */
static struct ucm_mcast *ucm_mcast_of(const struct ucm_id *id, u32 nr)
{
	struct ucm_mcast *mc;

	lockdep_assert_held(&id->mutex);
	rcu_read_lock();
	mc = xa_load(&ucm_mcasts, nr);
	if (mc && mc->owner != id)
		mc = NULL;
	rcu_read_unlock();
	return mc;
}

int ucm_leave_mcast(struct ucm_call *call)
{
	const struct rdma_ucm_destroy_id *cmd = &call->cmd.destroy_id;
	struct rdma_ucm_destroy_id_resp resp = {};
	struct ucm_mcast *mc;
	struct ucm_id *id;

	id = ucm_mcast_owner(call->file, cmd->id);
	if (IS_ERR(id))
		return PTR_ERR(id);
	mc = ucm_mcast_of(id, cmd->id);
	if (!mc) {
		ucm_id_release(id);
		return -ENOENT;
	}
	resp.events_reported = ucm_mcast_leave(mc);
	ucm_id_release(id);
	return ucm_respond(call, cmd->response, &resp, sizeof(resp));
}
