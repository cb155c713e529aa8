// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Agents: what a client registers to send MADs and to receive the responses and,
 * with a class and methods, requests.  Lifetime rules: head of mad.h.
 */
#include <linux/slab.h>
#include <linux/xarray.h>
#include <ibex/mad_agent.h>
#include "agent/agent.h"
#include "port/port.h"
#include "rmpp/rmpp.h"
#include "trace.h"

/* Agents by hi_tid.  Readers: RCU, then refcount_inc_not_zero(&agent->refs). */
static DEFINE_XARRAY_ALLOC1(agent_ids);
VISIBLE_IF_KUNIT u32 ibmad_agent_next_id;
EXPORT_SYMBOL_IF_KUNIT(ibmad_agent_next_id);

void ibmad_agent_release(struct kref *kref)
{
	struct ibmad_agent *agent = container_of(kref, struct ibmad_agent, kref);

	WARN_ON(!list_empty(&agent->sends) || !list_empty(&agent->controls) ||
		!llist_empty(&agent->inbox) ||
		!list_empty(&agent->port_link) || refcount_read(&agent->refs));
	ibmad_port_put(agent->port);
	kfree_rcu(agent, rcu);
}

struct ibmad_agent *ibmad_agent_by_tid(struct ibmad_qp *mqp, __be64 tid)
{
	struct ibmad_agent *agent;

	rcu_read_lock();
	agent = xa_load(&agent_ids, be64_to_cpu(tid) >> 32);
	if (agent && (agent->mqp != mqp || !agent->pub.recv_handler ||
		      !refcount_inc_not_zero(&agent->refs)))
		agent = NULL;
	rcu_read_unlock();
	return agent;
}

void ibmad_count_shared(struct ib_mad_agent *agent)
{
	ibmad_count(to_agent(agent)->port, IBMAD_SA_SHARED);
}

static int agent_check_class(enum ib_qp_type qp_type, u8 rmpp_version,
			     const struct ib_mad_reg_req *req)
{
	static const u8 no_oui[3];
	enum ib_qp_type wanted;

	if (!req->mgmt_class)
		return -EINVAL;
	wanted = ibmad_class_is_smp(req->mgmt_class) ? IB_QPT_SMI : IB_QPT_GSI;
	if (qp_type != wanted)
		return -EINVAL;
	if (req->mgmt_class_version > IBMAD_MAX_CLASS_VERSION)
		return -EINVAL;
	/* IBA 13.4.4: the classes behind those of vendors are reserved. */
	if (req->mgmt_class > IB_MGMT_CLASS_VENDOR_RANGE2_END &&
	    req->mgmt_class != IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		return -EINVAL;
	if (ibmad_class_is_vendor2(req->mgmt_class) &&
	    !memcmp(req->oui, no_oui, sizeof(no_oui)))
		return -EINVAL;
	if (rmpp_version && !ib_is_mad_class_rmpp(req->mgmt_class))
		return -EINVAL;
	return 0;
}

static int agent_check(enum ib_qp_type qp_type,
		       const struct ib_mad_reg_req *req, u8 rmpp_version,
		       ib_mad_send_handler send_handler,
		       ib_mad_recv_handler recv_handler, u32 flags)
{
	if (rmpp_version && rmpp_version != IB_MGMT_RMPP_VERSION)
		return -EINVAL;
	if (flags & ~(u32)(IB_MAD_USER_RMPP | IBEX_MAD_DIRECT))
		return -EINVAL;
	if ((flags & IBEX_MAD_DIRECT) && (rmpp_version || (flags & IB_MAD_USER_RMPP)))
		return -EINVAL;
	/* Without a class there are no transfers that the client could do. */
	if (!req)
		return send_handler && !flags ? 0 : -EINVAL;
	if (!recv_handler)
		return -EINVAL;
	return agent_check_class(qp_type, rmpp_version, req);
}

static struct ibmad_agent *agent_alloc(struct ibmad_port *port,
				       struct ibmad_qp *mqp)
{
	struct ibmad_agent *agent = kzalloc(sizeof(*agent), GFP_KERNEL);
	int ret;

	if (!agent)
		return ERR_PTR(-ENOMEM);
	ret = ibmad_match_init(agent);
	if (ret)
		goto err_agent;
	ret = ibmad_flow_init(agent);
	if (ret)
		goto err_table;
	agent->port = port;
	agent->mqp = mqp;
	kref_init(&agent->kref);
	refcount_set(&agent->refs, 1);
	init_completion(&agent->idle);
	init_completion(&agent->ended);
	init_llist_head(&agent->inbox);
	INIT_WORK(&agent->deliver, ibmad_deliver_work);
	INIT_LIST_HEAD(&agent->port_link);
	INIT_LIST_HEAD(&agent->sends);
	INIT_LIST_HEAD(&agent->controls);
	spin_lock_init(&agent->lock);
	return agent;

err_table:
	ibmad_match_exit(agent);
err_agent:
	kfree(agent);
	return ERR_PTR(ret);
}

/*
 * Adds the agent to the port's list, agent_ids and the dispatch tables: to all of them
 * or, on error, to none.
 */
static int agent_publish(struct ibmad_agent *agent,
			 const struct ib_mad_reg_req *req)
{
	struct ibmad_port *port = agent->port;
	u32 id;
	int ret;

	mutex_lock(&port->reg_mutex);
	if (port->dead) {
		ret = -ENODEV;
		goto unlock;
	}
	/* Only reserve the id: hi_tid must be set before a reader finds the agent. */
	ret = xa_alloc_cyclic(&agent_ids, &id, NULL,
			      XA_LIMIT(1, IBMAD_MAX_TID_HI),
			      &ibmad_agent_next_id, GFP_KERNEL);
	if (ret < 0)
		goto unlock;
	agent->pub.hi_tid = id;

	ret = req ? ibmad_dispatch_add(agent, req) : 0;
	if (ret) {
		xa_erase(&agent_ids, id);
		goto unlock;
	}
	xa_store(&agent_ids, id, agent, GFP_KERNEL);
	list_add_tail(&agent->port_link, &port->agents);
unlock:
	mutex_unlock(&port->reg_mutex);
	return ret;
}

/*
 * Removes the agent from agent_ids and the dispatch tables; false if another caller
 * did.
 */
static bool agent_unpublish(struct ibmad_agent *agent)
{
	bool first;

	mutex_lock(&agent->port->reg_mutex);
	first = !agent->ending;
	if (first) {
		agent->ending = true;
		ibmad_dispatch_del(agent);
		xa_erase(&agent_ids, agent->pub.hi_tid);
	}
	mutex_unlock(&agent->port->reg_mutex);
	return first;
}

/* As ib_register_mad_agent(), for arguments that have been checked. */
struct ibmad_agent *ibmad_agent_create(struct ibmad_qp *mqp,
				       const struct ib_mad_reg_req *req,
				       u8 rmpp_version,
				       ib_mad_send_handler send_handler,
				       ib_mad_recv_handler recv_handler,
				       void *context, u32 flags)
{
	struct ibmad_port *port = mqp->port;
	struct ibmad_agent *agent;
	int ret;

	agent = agent_alloc(port, mqp);
	if (IS_ERR(agent))
		return agent;
	agent->pub.device = port->device;
	agent->pub.qp = &mqp->pub;
	agent->pub.port_num = port->port_num;
	agent->pub.send_handler = send_handler;
	agent->pub.recv_handler = recv_handler;
	agent->pub.context = context;
	agent->pub.flags = flags;
	agent->pub.rmpp_version = rmpp_version;
	if (req) {
		agent->mgmt_class = req->mgmt_class;
		agent->mgmt_class_version = req->mgmt_class_version;
	}

	ret = ibmad_rmpp_agent_init(agent);
	if (ret)
		goto err_tables;
	ret = agent_publish(agent, req);
	if (ret)
		goto err_rmpp;
	kref_get(&port->kref);
	trace_ib_mad_create_agent(agent);
	return agent;

err_rmpp:
	ibmad_rmpp_agent_exit(agent);
	ibmad_rmpp_agent_free(agent);
err_tables:
	ibmad_flow_exit(agent);
	ibmad_match_exit(agent);
	kfree(agent);
	return ERR_PTR(ret);
}

/**
 * ib_register_mad_agent - register to send and receive MADs on a special QP
 * @device: the device
 * @port_num: its port
 * @qp_type: IB_QPT_SMI for QP0, IB_QPT_GSI for QP1
 * @mad_reg_req: the class, version and methods (and OUI, for the second vendor
 *	range) of the requests to receive, or NULL to receive only responses
 * @rmpp_version: 0, or IB_MGMT_RMPP_VERSION if MADs carry an RMPP header
 * @send_handler: called for each completed send; may be NULL if nothing is sent
 * @recv_handler: called for each received MAD; required with @mad_reg_req and for
 *	sends that expect a response
 * @context: kept for the client in ib_mad_agent.context
 * @registration_flags: 0, IB_MAD_USER_RMPP (the client does RMPP itself) or
 *	IBEX_MAD_DIRECT (<ibex/mad_agent.h>: its handlers do not sleep; only with
 *	@mad_reg_req and without RMPP)
 *
 * Handlers of one agent run one at a time, in process context, in the order of
 * the events; they may sleep, unless IBEX_MAD_DIRECT is set, and may call any function of
 * this interface except ib_unregister_mad_agent() for their own agent.  IBA vol. 1, 13.4.3
 * and 13.5.2.
 *
 * Context: may sleep.  The caller keeps @device registered.
 * Return: the agent, or ERR_PTR: -EINVAL for arguments that contradict each
 * other, -EPROTONOSUPPORT for a port without MADs or a QP that the port does not
 * have, -ENODEV for a port that is not there yet or any more, -EBUSY if another
 * agent has one of the methods, -ENOMEM.
 */
struct ib_mad_agent *ib_register_mad_agent(struct ib_device *device,
					   u32 port_num,
					   enum ib_qp_type qp_type,
					   struct ib_mad_reg_req *mad_reg_req,
					   u8 rmpp_version,
					   ib_mad_send_handler send_handler,
					   ib_mad_recv_handler recv_handler,
					   void *context,
					   u32 registration_flags)
{
	struct ibmad_agent *agent;
	struct ibmad_port *port;
	struct ibmad_qp *mqp;
	int ret;

	if (qp_type != IB_QPT_SMI && qp_type != IB_QPT_GSI)
		return ERR_PTR(-EINVAL);
	if (!rdma_is_port_valid(device, port_num) || !rdma_cap_ib_mad(device, port_num))
		return ERR_PTR(-EPROTONOSUPPORT);
	port = ibmad_port_get(device, port_num);
	if (!port)
		return ERR_PTR(-ENODEV);
	/* First: no arguments are right for a QP that there is not. */
	mqp = &port->qp[qp_type == IB_QPT_GSI];
	ret = ibmad_qp_exists(mqp) ?
	      agent_check(qp_type, mad_reg_req, rmpp_version, send_handler,
			  recv_handler, registration_flags) : -EPROTONOSUPPORT;
	if (ret)
		goto err_port;

	agent = ibmad_agent_create(mqp, mad_reg_req, rmpp_version, send_handler,
				   recv_handler, context, registration_flags);
	if (IS_ERR(agent)) {
		ret = PTR_ERR(agent);
		goto err_port;
	}
	ibmad_port_put(port);
	return &agent->pub;

err_port:
	ibmad_port_put(port);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL(ib_register_mad_agent);

/*
 * Ends all activity of an unpublished agent.  Why no callback runs afterwards:
 * (1) It is in no table (agent_unpublish), so dispatch does not find it; a reader that
 *     found it before either holds a reference (agent->refs) or fails to take one.
 * (2) closing is set under agent->lock, so nothing more is posted.
 * (3) ibmad_send_cancel_all() completes the sends that wait for a response, in a lane
 *     or for credit (flow.c starts no others in their place), and RMPP transfers with
 *     their segments; sends on the QP complete with their work requests.
 * (4) ibmad_rmpp_agent_exit() has destroyed the RMPP reassemblies, cancelled their
 *     reaper, and taken back control MADs in a lane; an address lookup for one of them
 *     finds the reassembly destroyed or the agent closing, and ends.
 * (5) refs reaches 0 once all of those are in the inbox.  If a provider has lost a
 *     completion it does not: if a work request has been the oldest for IBMAD_DRAIN_MS,
 *     the CQ is polled, and then the QP is reset, which completes each whether the
 *     provider does or not.
 * (6) Items are added to the inbox only while a reference is held, so none is added any
 *     more; and a completion queue's work that delivers holds one, so none does.  The
 *     flush of the work item is the last delivery.
 * (7) Timers that run late hold a reference on their send and see its state.
 */
static void agent_quiesce(struct ibmad_agent *agent)
{
	unsigned long timeout = msecs_to_jiffies(IBMAD_DRAIN_MS);

	WARN_ON_ONCE(!agent->ending || current_work() == &agent->deliver);

	spin_lock_irq(&agent->lock);
	WRITE_ONCE(agent->closing, true);
	spin_unlock_irq(&agent->lock);

	ibmad_send_cancel_all(agent);
	ibmad_rmpp_agent_exit(agent);

	ibmad_agent_put(agent);
	/* It may also be that a slow provider still runs process_mad or create_ah. */
	while (!wait_for_completion_timeout(&agent->idle, timeout))
		ibmad_qp_unstick(agent->mqp, IBMAD_DRAIN_MS);
	flush_work(&agent->deliver);
	ibmad_rmpp_agent_free(agent);
	WARN_ON(!llist_empty(&agent->inbox));
	WARN_ON(!list_empty(&agent->sends));
	ibmad_flow_exit(agent);
	ibmad_match_exit(agent);
}

/*
 * Ends an agent, exactly once, for its client or for the removal of its port.  Both
 * callers return only when that is done; returns whether this call did it.  The agent
 * leaves the port's list last, so that port removal waits for it.
 */
static bool agent_end(struct ibmad_agent *agent)
{
	if (!agent_unpublish(agent)) {
		wait_for_completion(&agent->ended);
		return false;
	}
	trace_ib_mad_unregister_agent(agent);
	agent_quiesce(agent);
	agent->pub.qp = NULL;

	mutex_lock(&agent->port->reg_mutex);
	list_del_init(&agent->port_link);
	mutex_unlock(&agent->port->reg_mutex);
	complete_all(&agent->ended);
	return true;
}

/**
 * ib_unregister_mad_agent - end a registration
 * @mad_agent: what ib_register_mad_agent() returned
 *
 * Sends still outstanding are completed with IB_WC_WR_FLUSH_ERR (those whose
 * response has been received or aborted already, with that result).  On return
 * every send has been completed to the client, and no handler runs or will run.
 * The function waits for the handlers; a provider that loses completions delays
 * it by a bounded time.
 *
 * Context: may sleep; not from one of the agent's own handlers, nor with a lock
 * held that they take.
 */
void ib_unregister_mad_agent(struct ib_mad_agent *mad_agent)
{
	struct ibmad_agent *agent = to_agent(mad_agent);

	agent_end(agent);
	kref_put(&agent->kref, ibmad_agent_release);
}
EXPORT_SYMBOL(ib_unregister_mad_agent);

/*
 * Marks the port dead.  Returns its next agent that is not a responder, with a
 * reference, or NULL.
 */
static struct ibmad_agent *agent_detach_next(struct ibmad_port *port)
{
	struct ibmad_agent *agent, *found = NULL;

	mutex_lock(&port->reg_mutex);
	port->dead = true;
	list_for_each_entry(agent, &port->agents, port_link) {
		if (agent->mqp->responder == &agent->pub)
			continue;
		kref_get(&agent->kref);
		found = agent;
		break;
	}
	mutex_unlock(&port->reg_mutex);
	return found;
}

/*
 * The port is being destroyed, but some clients have not deregistered their agents when
 * the device was removed from them.  Ends those agents; only their memory remains,
 * which the clients still refer to.
 */
void ibmad_agents_detach(struct ibmad_port *port)
{
	struct ibmad_agent *agent;

	while ((agent = agent_detach_next(port))) {
		if (agent_end(agent))
			dev_warn(&port->device->dev,
				 "port %u: a client left its MAD agent behind (class 0x%02x)\n",
				 port->port_num, agent->mgmt_class);
		kref_put(&agent->kref, ibmad_agent_release);
	}
}
