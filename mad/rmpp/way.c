// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Address handles for the senders of RMPP MADs: work items look them up, and all
 * transfers and control MADs for one address share one handle.
 *
 * Some adapters have few address handles (ocrdma has 512, irdma 256 in small profiles),
 * and others need them, too: RMPP uses at most a quarter of them for a port, half of
 * that for unsolicited transfers.  A finished transfer holds none.
 *
 * The work item that adds an entry to the table creates its handle, without a lock,
 * since that may take a command to the firmware; others that need the same handle wait
 * for it meanwhile.  port->rahs_lock protects the table.
 */
#include <linux/etherdevice.h>
#include <linux/jhash.h>
#include <linux/slab.h>
#include "agent/agent.h"
#include "port/port.h"
#include "rmpp/rmpp.h"

#define IBMAD_RMPP_MAX_LOOKUPS	128	/* of an agent; half for unsolicited MADs */
#define IBMAD_RMPP_MAX_AHS	1024	/* of a port; half for unsolicited MADs */

/*
 * The handle for one address.  References: of reassemblies, control MADs and lookups.
 */
struct ibmad_rmpp_ah {
	refcount_t refs;
	struct hlist_node node;		/* in port->rahs, until it failed; rahs_lock */
	struct ibmad_port *port;	/* outlives this: each user holds an agent */
	struct rdma_ah_attr attr;
	struct completion made;
	struct ib_ah *ah;		/* or an error; fixed once made is complete */
};

/* The maximum number of handles for @port. */
static unsigned int rah_limit(const struct ibmad_port *port, bool solicited)
{
	int handles = port->device->attrs.max_ah;
	unsigned int limit = IBMAD_RMPP_MAX_AHS;

	/* Some providers do not report max_ah. */
	if (handles > 0)
		limit = clamp(handles / 4U, 2U, limit);
	return solicited ? limit : limit / 2;
}

/* Whether @a and @b, both of one port, are the same address. */
static bool rah_attr_same(const struct rdma_ah_attr *a, const struct rdma_ah_attr *b)
{
	const struct ib_global_route *grh_a = rdma_ah_read_grh(a);
	const struct ib_global_route *grh_b = rdma_ah_read_grh(b);

	if (a->type != b->type || a->sl != b->sl || a->ah_flags != b->ah_flags ||
	    rdma_ah_get_dlid(a) != rdma_ah_get_dlid(b) ||
	    rdma_ah_get_path_bits(a) != rdma_ah_get_path_bits(b))
		return false;
	if (a->type == RDMA_AH_ATTR_TYPE_ROCE &&
	    !ether_addr_equal(a->roce.dmac, b->roce.dmac))
		return false;
	return !(a->ah_flags & IB_AH_GRH) ||
	       (grh_a->sgid_attr == grh_b->sgid_attr &&
		!memcmp(&grh_a->dgid, &grh_b->dgid, sizeof(grh_a->dgid)) &&
		grh_a->flow_label == grh_b->flow_label &&
		grh_a->hop_limit == grh_b->hop_limit &&
		grh_a->traffic_class == grh_b->traffic_class);
}

static u32 rah_hash(const struct rdma_ah_attr *attr)
{
	return jhash(&attr->grh.dgid, sizeof(attr->grh.dgid), rdma_ah_get_dlid(attr));
}

static struct ibmad_rmpp_ah *rah_new(struct ibmad_port *port,
				     const struct rdma_ah_attr *attr)
{
	struct ibmad_rmpp_ah *rah = kzalloc(sizeof(*rah), GFP_KERNEL);

	if (!rah)
		return NULL;
	refcount_set(&rah->refs, 1);
	rah->port = port;
	rdma_copy_ah_attr(&rah->attr, attr);
	init_completion(&rah->made);
	return rah;
}

static void rah_free(struct ibmad_rmpp_ah *rah)
{
	rdma_destroy_ah_attr(&rah->attr);
	kfree(rah);
}

/* May sleep. */
void ibmad_rmpp_ah_put(struct ibmad_rmpp_ah *rah)
{
	struct ibmad_port *port;

	if (!rah)
		return;
	port = rah->port;
	if (!refcount_dec_and_mutex_lock(&rah->refs, &port->rahs_lock))
		return;
	hash_del(&rah->node);
	port->nr_rahs--;
	mutex_unlock(&port->rahs_lock);
	if (!IS_ERR(rah->ah))
		rdma_destroy_ah(rah->ah, RDMA_DESTROY_AH_SLEEPABLE);
	rah_free(rah);
}

struct ibmad_rmpp_ah *ibmad_rmpp_ah_get(struct ibmad_rmpp_ah *rah)
{
	refcount_inc(&rah->refs);
	return rah;
}

struct ib_ah *ibmad_rmpp_ah_handle(const struct ibmad_rmpp_ah *rah)
{
	return rah->ah;
}

/*
 * Returns the existing entry, with a reference, or @new if one more is allowed; or
 * NULL.
 */
static struct ibmad_rmpp_ah *rah_enter(struct ibmad_port *port, struct ibmad_rmpp_ah *new,
				       bool solicited)
{
	u32 key = rah_hash(&new->attr);
	struct ibmad_rmpp_ah *rah;

	mutex_lock(&port->rahs_lock);
	hash_for_each_possible(port->rahs, rah, node, key)
		if (rah_attr_same(&rah->attr, &new->attr)) {
			ibmad_rmpp_ah_get(rah);
			goto unlock;
		}
	rah = NULL;
	if (port->nr_rahs < rah_limit(port, solicited)) {
		port->nr_rahs++;
		hash_add(port->rahs, &new->node, key);
		rah = new;
	}
unlock:
	mutex_unlock(&port->rahs_lock);
	return rah;
}

/* If creation fails the entry leaves the table, so that the next user tries again. */
static void rah_make(struct ibmad_rmpp_ah *rah)
{
	rah->ah = rdma_create_ah(rah->port->pd, &rah->attr, RDMA_CREATE_AH_SLEEPABLE);
	if (IS_ERR(rah->ah)) {
		mutex_lock(&rah->port->rahs_lock);
		hash_del(&rah->node);
		mutex_unlock(&rah->port->rahs_lock);
	}
	complete_all(&rah->made);
}

/* May sleep, also for the firmware; NULL if no handle is available. */
static struct ibmad_rmpp_ah *rah_find(struct ibmad_port *port,
				      const struct rdma_ah_attr *attr, bool solicited)
{
	struct ibmad_rmpp_ah *new = rah_new(port, attr), *rah;

	if (!new)
		return NULL;
	rah = rah_enter(port, new, solicited);
	if (rah == new)
		rah_make(rah);
	else
		rah_free(new);
	if (!rah)
		return NULL;
	wait_for_completion(&rah->made);
	if (IS_ERR(rah->ah)) {
		ibmad_rmpp_ah_put(rah);
		return NULL;
	}
	return rah;
}

/* ---- lookups ---- */

static void rmpp_lookup_work(struct work_struct *work)
{
	struct ibmad_rmpp_lookup *lookup =
		container_of(work, struct ibmad_rmpp_lookup, work);
	struct ibmad_agent *agent = lookup->agent;
	struct ibmad_port *port = agent->port;
	struct rdma_ah_attr attr;

	if (!ib_init_ah_attr_from_wc(port->device, port->port_num, &lookup->wc,
				     &lookup->grh, &attr)) {
		lookup->rah = rah_find(port, &attr, lookup->solicited);
		rdma_destroy_ah_attr(&attr);
	}
	mutex_lock(&agent->rmpp.mutex);
	agent->rmpp.lookups--;
	lookup->done(lookup);
	mutex_unlock(&agent->rmpp.mutex);
	ibmad_rmpp_ah_put(lookup->rah);
	kfree(lookup);
	ibmad_agent_put(agent);
}

struct ibmad_rmpp_lookup *
ibmad_rmpp_look_up(struct ibmad_agent *agent, const struct ibmad_recv *recv,
		   void (*done)(struct ibmad_rmpp_lookup *lookup), void *context)
{
	bool solicited = ib_response_mad(&rmpp_mad(recv)->mad_hdr);
	struct ibmad_rmpp_lookup *lookup;

	lockdep_assert_held(&agent->rmpp.mutex);
	if (agent->rmpp.lookups >= IBMAD_RMPP_MAX_LOOKUPS / (solicited ? 1 : 2))
		return NULL;
	lookup = kzalloc(sizeof(*lookup), GFP_NOIO);
	if (!lookup)
		return NULL;
	INIT_WORK(&lookup->work, rmpp_lookup_work);
	lookup->wc = recv->wc;
	lookup->grh = recv->grh;
	lookup->solicited = solicited;
	lookup->done = done;
	lookup->context = context;
	/* The caller, which received @recv, holds one, so refs is not 0. */
	refcount_inc(&agent->refs);
	lookup->agent = agent;
	agent->rmpp.lookups++;
	queue_work(ibmad_lookup_wq, &lookup->work);
	return lookup;
}
