// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Dispatch of unsolicited MADs: QP, class, version and (second vendor range) OUI
 * lead to a table of 128 methods.  Readers walk it under RCU and end with a
 * reference on the agent; writers hold port->reg_mutex.
 *
 * Classes are few (each costs a registration by a privileged client), so a hash
 * bucket holds one or two.
 */
#include <linux/slab.h>
#include "agent/agent.h"
#include "port/port.h"

static u32 class_oui(const u8 oui[3])
{
	return oui[0] << 16 | oui[1] << 8 | oui[2];
}

static struct ibmad_class *class_find(struct ibmad_qp *mqp, u8 mgmt_class,
				      u8 version, u32 oui)
{
	struct ibmad_class *class;

	hash_for_each_possible_rcu(mqp->classes, class, node, mgmt_class,
				   lockdep_is_held(&mqp->port->reg_mutex))
		if (class->mgmt_class == mgmt_class &&
		    class->version == version && class->oui == oui)
			return class;
	return NULL;
}

static struct ibmad_class *class_get(struct ibmad_qp *mqp,
				     const struct ib_mad_reg_req *req)
{
	u32 oui = ibmad_class_is_vendor2(req->mgmt_class) ?
		  class_oui(req->oui) : 0;
	struct ibmad_class *class;

	class = class_find(mqp, req->mgmt_class, req->mgmt_class_version, oui);
	if (!class) {
		class = kzalloc(sizeof(*class), GFP_KERNEL);
		if (!class)
			return NULL;
		class->mgmt_class = req->mgmt_class;
		class->version = req->mgmt_class_version;
		class->oui = oui;
		hash_add_rcu(mqp->classes, &class->node, class->mgmt_class);
	}
	class->users++;
	return class;
}

static void class_put(struct ibmad_class *class)
{
	if (--class->users)
		return;
	hash_del_rcu(&class->node);
	kfree_rcu(class, rcu);
}

/* -EBUSY if another agent has one of the methods. */
int ibmad_dispatch_add(struct ibmad_agent *agent,
		       const struct ib_mad_reg_req *req)
{
	struct mutex *reg_mutex = &agent->port->reg_mutex;
	struct ibmad_class *class;
	unsigned int method;

	lockdep_assert_held(reg_mutex);
	class = class_get(agent->mqp, req);
	if (!class)
		return -ENOMEM;

	for_each_set_bit(method, req->method_mask, IB_MGMT_MAX_METHODS) {
		if (rcu_access_pointer(class->method[method])) {
			class_put(class);
			return -EBUSY;
		}
	}
	bitmap_copy(agent->methods, req->method_mask, IB_MGMT_MAX_METHODS);
	for_each_set_bit(method, agent->methods, IB_MGMT_MAX_METHODS)
		rcu_assign_pointer(class->method[method], agent);
	agent->class = class;
	return 0;
}

void ibmad_dispatch_del(struct ibmad_agent *agent)
{
	struct ibmad_class *class = agent->class;
	unsigned int method;

	lockdep_assert_held(&agent->port->reg_mutex);
	if (!class)
		return;
	for_each_set_bit(method, agent->methods, IB_MGMT_MAX_METHODS)
		RCU_INIT_POINTER(class->method[method], NULL);
	agent->class = NULL;
	class_put(class);
}

struct ibmad_agent *ibmad_dispatch_find(struct ibmad_qp *mqp,
					const struct ib_mad_hdr *hdr)
{
	struct ibmad_agent *agent = NULL;
	struct ibmad_class *class;
	u32 oui = 0;

	if (hdr->method >= IB_MGMT_MAX_METHODS)
		return NULL;
	if (ibmad_class_is_vendor2(hdr->mgmt_class))
		oui = class_oui(((const struct ib_vendor_mad *)hdr)->oui);

	rcu_read_lock();
	class = class_find(mqp, hdr->mgmt_class, hdr->class_version, oui);
	if (class)
		agent = rcu_dereference(class->method[hdr->method]);
	if (agent && !refcount_inc_not_zero(&agent->refs))
		agent = NULL;
	rcu_read_unlock();
	return agent;
}
