// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The subnet management interface: directed-route SMPs, hop by hop (IBA vol. 1,
 * 14.2.2).  Pure functions on one SMP; the hop pointer is advanced, and the
 * return path recorded, in place.
 *
 * A route has hop_cnt hops; hop_ptr says how far the SMP has come.  Outbound it
 * counts up, and hop_cnt + 1 means "given to the SMA of the last node"; on the
 * way back it counts down, and 0 means "given to the SM that sent it".
 */
#include "port/port.h"
#include "smi/smi.h"
#include "trace.h"

/* The fields of a directed route, in a base or an OPA SMP. */
struct smi_route {
	u8 *hop_ptr;
	u8 hop_cnt;
	u8 *initial_path;
	u8 *return_path;
	bool from_local_lid;	/* DrSLID permissive: starts at the requester */
	bool to_local_lid;	/* DrDLID permissive: ends at the responder */
	bool returning;		/* the D bit */
};

static void smi_get_route(void *mad, bool opa, struct smi_route *route)
{
	struct ib_smp *ib = mad;

	route->hop_ptr = &ib->hop_ptr;
	route->hop_cnt = ib->hop_cnt;
	route->returning = ib_get_smp_direction(ib);
	if (opa) {
		struct opa_smp *smp = mad;

		route->initial_path = smp->route.dr.initial_path;
		route->return_path = smp->route.dr.return_path;
		route->from_local_lid = smp->route.dr.dr_slid == OPA_LID_PERMISSIVE;
		route->to_local_lid = smp->route.dr.dr_dlid == OPA_LID_PERMISSIVE;
	} else {
		route->initial_path = ib->initial_path;
		route->return_path = ib->return_path;
		route->from_local_lid = ib->dr_slid == IB_LID_PERMISSIVE;
		route->to_local_lid = ib->dr_dlid == IB_LID_PERMISSIVE;
	}
}

static enum ibmad_smi_verdict smi_out(const struct ibmad_smi_node *node,
				      u8 port, u32 *out_port)
{
	if (node->is_switch ? !port || port > node->num_ports :
			      port != node->port_num)
		return IBMAD_SMI_DISCARD;
	*out_port = port;
	return IBMAD_SMI_SEND;
}

/* C14-9; the comments have the numbers of its cases. */
static enum ibmad_smi_verdict smi_outbound(struct smi_route *r,
					   const struct ibmad_smi_node *node,
					   bool received, u32 *out_port)
{
	u8 ptr = *r->hop_ptr;

	/* 1: at the SM, which must not have received it from the wire */
	if (r->hop_cnt && !ptr) {
		if (received && !node->is_switch)
			return IBMAD_SMI_DISCARD;
		*r->hop_ptr = 1;
		return smi_out(node, r->initial_path[1], out_port);
	}
	/* 2: in the middle, where only switches are */
	if (ptr && ptr < r->hop_cnt) {
		if (!node->is_switch || !received)
			return IBMAD_SMI_DISCARD;
		r->return_path[ptr] = node->port_num;
		*r->hop_ptr = ptr + 1;
		return smi_out(node, r->initial_path[ptr + 1], out_port);
	}
	/* 3: at the end of the route; beyond it lies a LID, or the SMA */
	if (ptr == r->hop_cnt) {
		if (ptr)
			r->return_path[ptr] = node->port_num;
		if (!r->to_local_lid)
			return IBMAD_SMI_DISCARD;
		*r->hop_ptr = ptr + 1;
		return IBMAD_SMI_LOCAL;
	}
	/* 4: beyond the directed route, by LID routing; 5: hop pointer too large */
	if (ptr == r->hop_cnt + 1)
		return IBMAD_SMI_LOCAL;
	return IBMAD_SMI_DISCARD;
}

/* C14-13; the comments have the numbers of its cases. */
static enum ibmad_smi_verdict smi_inbound(struct smi_route *r,
					  const struct ibmad_smi_node *node,
					  bool received, u32 *out_port)
{
	u8 ptr = *r->hop_ptr;

	/* 1: leaving the responder, or the switch that a LID led it to */
	if (r->hop_cnt && ptr == r->hop_cnt + 1) {
		if (received && !node->is_switch)
			return IBMAD_SMI_DISCARD;
		*r->hop_ptr = ptr - 1;
		return smi_out(node, r->return_path[ptr - 1], out_port);
	}
	/* 2: in the middle */
	if (ptr >= 2 && ptr <= r->hop_cnt) {
		if (!node->is_switch || !received)
			return IBMAD_SMI_DISCARD;
		*r->hop_ptr = ptr - 1;
		return smi_out(node, r->return_path[ptr - 1], out_port);
	}
	/* 3: back at the start of the route; the SM is here or at a LID */
	if (ptr == 1) {
		if (!r->from_local_lid)
			return IBMAD_SMI_DISCARD;
		*r->hop_ptr = 0;
		return IBMAD_SMI_LOCAL;
	}
	/* 4: at the SM, by LID routing; 5: hop pointer too large */
	return ptr ? IBMAD_SMI_DISCARD : IBMAD_SMI_LOCAL;
}

static bool smi_route_valid(const struct smi_route *route)
{
	return route->hop_cnt < IB_SMP_MAX_PATH_HOPS &&
	       *route->hop_ptr <= IB_SMP_MAX_PATH_HOPS;
}

/*
 * Decides what to do with a directed-route SMP received on @node->port_num.  For
 * IBMAD_SMI_SEND, the SMP (changed in place) must be sent out of *@out_port.
 */
enum ibmad_smi_verdict
ibmad_smi_receive(void *smp, bool opa, const struct ibmad_smi_node *node,
		  u32 *out_port)
{
	struct smi_route route;

	if (opa)
		trace_ib_mad_handle_opa_smi(smp);
	else
		trace_ib_mad_handle_ib_smi(smp);
	smi_get_route(smp, opa, &route);
	if (!smi_route_valid(&route))
		return IBMAD_SMI_DISCARD;
	if (route.returning)
		return smi_inbound(&route, node, true, out_port);
	return smi_outbound(&route, node, true, out_port);
}
EXPORT_SYMBOL_IF_KUNIT(ibmad_smi_receive);

/*
 * Decides what to do with a directed-route SMP that this node sends: a request of a
 * local SM, or a response of the SMA.  Sent without directed routing are a request
 * whose first part is LID routed (DrSLID is a LID), a response whose first part is LID
 * routed (DrDLID is a LID), and a response whose directed route ends here but whose SM
 * is at a LID.
 */
enum ibmad_smi_verdict
ibmad_smi_originate(void *smp, bool opa, const struct ibmad_smi_node *node,
		    u32 *out_port)
{
	struct smi_route route;

	if (opa)
		trace_ib_mad_handle_out_opa_smi(smp);
	else
		trace_ib_mad_handle_out_ib_smi(smp);
	smi_get_route(smp, opa, &route);
	if (!smi_route_valid(&route))
		return IBMAD_SMI_DISCARD;

	*out_port = node->port_num;
	if (!route.returning) {
		if (!route.from_local_lid && !*route.hop_ptr)
			return IBMAD_SMI_SEND;
		return smi_outbound(&route, node, false, out_port);
	}
	/*
	 * The request was LID routed to this node from the end of its directed route.
	 */
	if (!route.to_local_lid && *route.hop_ptr == route.hop_cnt + 1)
		return IBMAD_SMI_SEND;
	if (*route.hop_ptr == 1 && !route.from_local_lid) {
		*route.hop_ptr = 0;
		return IBMAD_SMI_SEND;
	}
	return smi_inbound(&route, node, false, out_port);
}
EXPORT_SYMBOL_IF_KUNIT(ibmad_smi_originate);

bool ibmad_smi_is_opa(const struct ibmad_port *port,
		      const struct ib_mad_hdr *hdr)
{
	return port->opa && hdr->base_version == OPA_MGMT_BASE_VERSION &&
	       hdr->class_version == OPA_SM_CLASS_VERSION;
}
