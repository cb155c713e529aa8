// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Agents of a file.  The file's table holds a use of each agent; a writer takes
 * another one while it works on the device.  Unregistration removes the agent from the
 * table, waits for the writers, and then for the MAD layer to complete all sends of
 * the agent.
 */
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "umad.h"

/* ---- uses ---- */

struct umad_agent *umad_agent_get(struct ib_umad_file *file, u32 id)
{
	struct umad_agent *agent;

	if (id >= UMAD_MAX_AGENTS)
		return NULL;
	rcu_read_lock();
	agent = rcu_dereference(file->agents[id]);
	if (agent && !refcount_inc_not_zero(&agent->uses))
		agent = NULL;
	rcu_read_unlock();
	return agent;
}

void umad_agent_put(struct umad_agent *agent)
{
	if (refcount_dec_and_test(&agent->uses))
		complete(&agent->unused);
}

/* ---- register ---- */

static int umad_free_id(struct ib_umad_file *file)
{
	int id;

	lockdep_assert_held(&file->lock);
	for (id = 0; id < UMAD_MAX_AGENTS; id++)
		if (!rcu_access_pointer(file->agents[id]))
			return id;
	return -ENOMEM;
}

static struct umad_agent *umad_agent_create(struct ib_umad_file *file, u32 id)
{
	struct umad_agent *agent = kzalloc(sizeof(*agent), GFP_KERNEL_ACCOUNT);

	if (!agent)
		return NULL;
	agent->file = file;
	agent->id = id;
	refcount_set(&agent->uses, 1);
	init_completion(&agent->unused);
	return agent;
}

/* Writers may still find it in the table under RCU. */
static void umad_agent_free(struct umad_agent *agent)
{
	kfree_rcu(agent, rcu);
}

/* MADs may be received before this returns: handlers use the agent's file and id. */
static int umad_mad_register(struct umad_agent *agent, struct umad_registration *reg)
{
	struct umad_port *port = agent->file->port;
	struct ib_mad_agent *mad;

	mad = ib_register_mad_agent(port->ib_dev, port->port_num,
				    reg->qpn ? IB_QPT_GSI : IB_QPT_SMI,
				    reg->req.mgmt_class ? &reg->req : NULL,
				    reg->rmpp_version, umad_send_done, umad_received,
				    agent, reg->flags);
	if (IS_ERR(mad))
		return PTR_ERR(mad);
	agent->mad = mad;
	return 0;
}

/* The first registration decides the header layout of the file. */
static void umad_set_layout(struct ib_umad_file *file, bool pkey)
{
	lockdep_assert_held(&file->lock);
	if (file->used)
		return;
	file->used = true;
	if (pkey)
		WRITE_ONCE(file->pkey, true);
	if (!file->pkey)
		dev_notice_ratelimited(&file->port->umad.dev,
				       "%s uses the deprecated header without P_Key index (see Documentation/infiniband/user_mad.rst)\n",
				       current->comm);
}

static int umad_register_locked(struct ib_umad_file *file,
				struct umad_registration *reg, u32 *id, u64 *serial)
{
	struct umad_agent *agent;
	int ret;

	lockdep_assert_held(&file->lock);
	if (file->gone)
		return -EPIPE;
	ret = umad_free_id(file);
	if (ret < 0)
		return ret;
	agent = umad_agent_create(file, ret);
	if (!agent)
		return -ENOMEM;
	ret = umad_mad_register(agent, reg);
	if (ret) {
		umad_agent_free(agent);
		/* The error of the ABI for a method that another agent has. */
		return ret == -EBUSY ? -EINVAL : ret;
	}
	agent->serial = ++file->next_serial;
	*id = agent->id;
	*serial = agent->serial;
	rcu_assign_pointer(file->agents[agent->id], agent);
	umad_set_layout(file, reg->pkey);
	return 0;
}

/* -EPIPE: the device was removed.  -ENOMEM: also if the file has 32 agents already. */
int umad_agent_register(struct ib_umad_file *file, struct umad_registration *reg,
			u32 *id, u64 *serial)
{
	int ret;

	mutex_lock(&file->lock);
	ret = umad_register_locked(file, reg, id, serial);
	mutex_unlock(&file->lock);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(umad_agent_register);

/* ---- unregister ---- */

/*
 * Why nothing refers to the agent when it is freed:
 * (1) it is not in the table, and the uses taken there have ended;
 * (2) ib_unregister_mad_agent() has ended its handlers and completed its sends, so
 *     that none of file->sends is its;
 * (3) readers of the table under RCU are waited for by kfree_rcu().
 */
static void umad_agent_end(struct ib_umad_file *file, struct umad_agent *agent)
{
	lockdep_assert_held(&file->lock);
	RCU_INIT_POINTER(file->agents[agent->id], NULL);
	umad_agent_put(agent);
	wait_for_completion(&agent->unused);
	ib_unregister_mad_agent(agent->mad);
	umad_agent_free(agent);
}

int umad_agent_unregister(struct ib_umad_file *file, u32 id, u64 serial)
{
	struct umad_agent *agent;
	int ret = -EINVAL;

	if (id >= UMAD_MAX_AGENTS)
		return -EINVAL;
	mutex_lock(&file->lock);
	agent = rcu_dereference_protected(file->agents[id],
					  lockdep_is_held(&file->lock));
	if (agent && (!serial || agent->serial == serial)) {
		umad_agent_end(file, agent);
		ret = 0;
	}
	mutex_unlock(&file->lock);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(umad_agent_unregister);

void umad_agents_unregister(struct ib_umad_file *file)
{
	struct umad_agent *agent;
	int id;

	lockdep_assert_held(&file->lock);
	for (id = 0; id < UMAD_MAX_AGENTS; id++) {
		agent = rcu_dereference_protected(file->agents[id],
						  lockdep_is_held(&file->lock));
		if (agent)
			umad_agent_end(file, agent);
	}
}
