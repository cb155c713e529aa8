// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The objects that a flow steering rule uses: the use count of each flow action and
 * each counters object that its specs name includes the rule.
 */
#include <linux/overflow.h>
#include <linux/slab.h>
#include <rdma/uverbs_std_types.h>

/**
 * flow_resources_alloc() - allocate the record of objects that a flow rule uses
 * @num_specs: specs of the rule, each of which may name one object
 *
 * Context: process; may sleep.
 * Return: an empty record, freed by ib_uverbs_flow_resources_free(); or NULL.
 */
struct ib_uflow_resources *flow_resources_alloc(size_t num_specs)
{
	struct ib_uflow_resources *res;
	size_t slots;

	/* Both tables follow the record in memory. */
	slots = size_mul(num_specs, sizeof(*res->counters) +
				    sizeof(*res->collection));
	res = kzalloc(size_add(sizeof(*res), slots), GFP_KERNEL | __GFP_NOWARN);
	if (!res)
		return NULL;
	res->max = num_specs;
	if (num_specs) {
		res->counters = (struct ib_counters **)(res + 1);
		res->collection = (struct ib_flow_action **)(res->counters +
							     num_specs);
	}
	return res;
}
EXPORT_SYMBOL(flow_resources_alloc);

/**
 * flow_resources_add() - count an object as used by a flow rule
 * @uflow_res: record with room left
 * @type: type of @ibobj: IB_FLOW_SPEC_ACTION_HANDLE or IB_FLOW_SPEC_ACTION_COUNT
 * @ibobj: the struct ib_flow_action or struct ib_counters; pinned by the caller
 *
 * Context: any.
 */
void flow_resources_add(struct ib_uflow_resources *uflow_res,
			enum ib_flow_spec_type type, void *ibobj)
{
	struct ib_flow_action *action = ibobj;
	struct ib_counters *counters = ibobj;

	if (WARN_ON(uflow_res->num >= uflow_res->max))
		return;

	if (type == IB_FLOW_SPEC_ACTION_HANDLE) {
		atomic_inc(&action->usecnt);
		uflow_res->collection[uflow_res->collection_num++] = action;
	} else if (type == IB_FLOW_SPEC_ACTION_COUNT) {
		atomic_inc(&counters->usecnt);
		uflow_res->counters[uflow_res->counters_num++] = counters;
	} else {
		WARN_ON(1);
		return;
	}
	uflow_res->num++;
}
EXPORT_SYMBOL(flow_resources_add);

/**
 * ib_uverbs_flow_resources_free() - drop a flow rule's uses of objects
 * @uflow_res: record, or NULL; the rule itself was destroyed or never made
 *
 * Context: any.
 */
void ib_uverbs_flow_resources_free(struct ib_uflow_resources *uflow_res)
{
	if (!uflow_res)
		return;
	while (uflow_res->collection_num)
		atomic_dec(&uflow_res->collection[--uflow_res->collection_num]->usecnt);
	while (uflow_res->counters_num)
		atomic_dec(&uflow_res->counters[--uflow_res->counters_num]->usecnt);
	kfree(uflow_res);
}
EXPORT_SYMBOL(ib_uverbs_flow_resources_free);
