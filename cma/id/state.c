// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The states of an RDMA CM id, as a table.
 *
 *   IDLE -> ADDR_BOUND -> ADDR_QUERY -> ADDR_RESOLVED -> ROUTE_QUERY ->
 *   ROUTE_RESOLVED -> CONNECT -> DISCONNECT	the active side
 *   IDLE -> ADDR_BOUND -> LISTEN		a listener
 *   IDLE -> CONNECT -> DISCONNECT		an id made for a request
 *
 * A step that fails returns to the state in which it started, so that the consumer
 * can retry it.  DESTROYING can be reached from every other state, DEVICE_REMOVAL from
 * every other state except DESTROYING.  Only destruction leaves DEVICE_REMOVAL;
 * nothing leaves DESTROYING.
 */
#include <kunit/visibility.h>

#include "id/id.h"

#define TO(state)	((state) + 1)	/* so that 0 means: trigger refused */
static const u8 cma_states[CMA_NR_STATES][CMA_NR_TRIGGERS] = {
	[RDMA_CM_IDLE] = {
		[CMA_T_BIND] = TO(RDMA_CM_ADDR_BOUND),
		[CMA_T_REQUEST] = TO(RDMA_CM_CONNECT),
		[CMA_T_REMOVE] = TO(RDMA_CM_DEVICE_REMOVAL),
		[CMA_T_DESTROY] = TO(RDMA_CM_DESTROYING),
	},
	[RDMA_CM_ADDR_BOUND] = {
		[CMA_T_UNBIND] = TO(RDMA_CM_IDLE),
		[CMA_T_RESOLVE_ADDR] = TO(RDMA_CM_ADDR_QUERY),
		[CMA_T_LISTEN] = TO(RDMA_CM_LISTEN),
		[CMA_T_REMOVE] = TO(RDMA_CM_DEVICE_REMOVAL),
		[CMA_T_DESTROY] = TO(RDMA_CM_DESTROYING),
	},
	[RDMA_CM_ADDR_QUERY] = {
		[CMA_T_ADDR_DONE] = TO(RDMA_CM_ADDR_RESOLVED),
		[CMA_T_ADDR_FAILED] = TO(RDMA_CM_ADDR_BOUND),
		[CMA_T_REMOVE] = TO(RDMA_CM_DEVICE_REMOVAL),
		[CMA_T_DESTROY] = TO(RDMA_CM_DESTROYING),
	},
	[RDMA_CM_ADDR_RESOLVED] = {
		[CMA_T_RESOLVE_ROUTE] = TO(RDMA_CM_ROUTE_QUERY),
		[CMA_T_REMOVE] = TO(RDMA_CM_DEVICE_REMOVAL),
		[CMA_T_DESTROY] = TO(RDMA_CM_DESTROYING),
	},
	[RDMA_CM_ROUTE_QUERY] = {
		[CMA_T_ROUTE_DONE] = TO(RDMA_CM_ROUTE_RESOLVED),
		[CMA_T_ROUTE_FAILED] = TO(RDMA_CM_ADDR_RESOLVED),
		[CMA_T_REMOVE] = TO(RDMA_CM_DEVICE_REMOVAL),
		[CMA_T_DESTROY] = TO(RDMA_CM_DESTROYING),
	},
	[RDMA_CM_ROUTE_RESOLVED] = {
		[CMA_T_CONNECT] = TO(RDMA_CM_CONNECT),
		[CMA_T_REMOVE] = TO(RDMA_CM_DEVICE_REMOVAL),
		[CMA_T_DESTROY] = TO(RDMA_CM_DESTROYING),
	},
	[RDMA_CM_CONNECT] = {
		[CMA_T_CONNECT_FAILED] = TO(RDMA_CM_ROUTE_RESOLVED),
		[CMA_T_DISCONNECTED] = TO(RDMA_CM_DISCONNECT),
		[CMA_T_REMOVE] = TO(RDMA_CM_DEVICE_REMOVAL),
		[CMA_T_DESTROY] = TO(RDMA_CM_DESTROYING),
	},
	[RDMA_CM_DISCONNECT] = {
		[CMA_T_REMOVE] = TO(RDMA_CM_DEVICE_REMOVAL),
		[CMA_T_DESTROY] = TO(RDMA_CM_DESTROYING),
	},
	[RDMA_CM_LISTEN] = {
		[CMA_T_LISTEN_FAILED] = TO(RDMA_CM_ADDR_BOUND),
		[CMA_T_REMOVE] = TO(RDMA_CM_DEVICE_REMOVAL),
		[CMA_T_DESTROY] = TO(RDMA_CM_DESTROYING),
	},
	[RDMA_CM_DEVICE_REMOVAL] = {
		[CMA_T_DESTROY] = TO(RDMA_CM_DESTROYING),
	},
	/* No trigger leaves RDMA_CM_DESTROYING. */
};

/*
 * cma_next_state() - the state that @trigger leads to from @state
 *
 * Return: the next state, or CMA_NR_STATES if @trigger is refused in @state.
 */
VISIBLE_IF_KUNIT enum rdma_cm_state cma_next_state(enum rdma_cm_state state,
						   enum cma_trigger trigger)
{
	u8 to = cma_states[state][trigger];

	return to ? to - 1 : CMA_NR_STATES;
}
EXPORT_SYMBOL_IF_KUNIT(cma_next_state);

/*
 * cma_id_step() - apply a trigger to an id's state
 *
 * The step is atomic: of two callers whose triggers exclude each other, one gets
 * -EINVAL.
 *
 * The removal of the device can come between any two calls of a consumer, so it has an
 * error of its own.  After -ENETDOWN RPC tasks wait and connect again; -EINVAL ends them,
 * and I/O on a hard mount with them.
 *
 * Context: any.
 * Return: 0; -ENETDOWN if the id's device is being removed; -EINVAL if the table refuses
 * @trigger in the id's state.
 */
int cma_id_step(struct cma_id *idp, enum cma_trigger trigger)
{
	enum rdma_cm_state state, next;
	unsigned long flags;

	spin_lock_irqsave(&idp->lock, flags);
	state = idp->state;
	next = cma_next_state(state, trigger);
	if (next != CMA_NR_STATES)
		WRITE_ONCE(idp->state, next);
	spin_unlock_irqrestore(&idp->lock, flags);
	if (next != CMA_NR_STATES)
		return 0;
	return state == RDMA_CM_DEVICE_REMOVAL ? -ENETDOWN : -EINVAL;
}
