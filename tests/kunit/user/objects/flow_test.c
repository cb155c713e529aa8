// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The uses that a flow rule counts. */
#include <rdma/uverbs_std_types.h>
#include "faults.h"
#include "user/uverbs_test.h"

static void a_rule_uses_its_objects_until_it_is_freed(struct kunit *test)
{
	struct ib_flow_action action[2] = {};
	struct ib_counters counters = {};
	struct ib_uflow_resources *res = flow_resources_alloc(4);

	KUNIT_ASSERT_NOT_NULL(test, res);
	KUNIT_EXPECT_EQ(test, res->max, 4ul);
	flow_resources_add(res, IB_FLOW_SPEC_ACTION_HANDLE, &action[0]);
	flow_resources_add(res, IB_FLOW_SPEC_ACTION_COUNT, &counters);
	flow_resources_add(res, IB_FLOW_SPEC_ACTION_HANDLE, &action[1]);
	flow_resources_add(res, IB_FLOW_SPEC_ACTION_HANDLE, &action[0]);
	KUNIT_EXPECT_EQ(test, res->num, 4ul);
	KUNIT_EXPECT_EQ(test, res->collection_num, 3ul);
	KUNIT_EXPECT_EQ(test, res->counters_num, 1ul);
	KUNIT_EXPECT_PTR_EQ(test, res->collection[1], &action[1]);
	KUNIT_EXPECT_PTR_EQ(test, res->counters[0], &counters);
	KUNIT_EXPECT_EQ(test, atomic_read(&action[0].usecnt), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&action[1].usecnt), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&counters.usecnt), 1);

	ib_uverbs_flow_resources_free(res);
	KUNIT_EXPECT_EQ(test, atomic_read(&action[0].usecnt), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&action[1].usecnt), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&counters.usecnt), 0);
}

static void each_table_has_room_for_all_specs(struct kunit *test)
{
	struct ib_flow_action action = {};
	struct ib_counters counters = {};
	struct ib_uflow_resources *res;
	int kind, i;

	for (kind = 0; kind < 2; kind++) {
		res = flow_resources_alloc(64);
		KUNIT_ASSERT_NOT_NULL(test, res);
		for (i = 0; i < 64; i++) {
			if (kind)
				flow_resources_add(res, IB_FLOW_SPEC_ACTION_COUNT,
						   &counters);
			else
				flow_resources_add(res, IB_FLOW_SPEC_ACTION_HANDLE,
						   &action);
		}
		ib_uverbs_flow_resources_free(res);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&action.usecnt), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&counters.usecnt), 0);
}

static void a_rule_without_specs_has_a_record_too(struct kunit *test)
{
	struct ib_uflow_resources *res = flow_resources_alloc(0);

	KUNIT_ASSERT_NOT_NULL(test, res);
	KUNIT_EXPECT_EQ(test, res->max, 0ul);
	ib_uverbs_flow_resources_free(res);
	ib_uverbs_flow_resources_free(NULL);
}

static void more_specs_than_memory_are_refused(struct kunit *test)
{
	KUNIT_EXPECT_NULL(test, flow_resources_alloc(SIZE_MAX));
	KUNIT_EXPECT_NULL(test, flow_resources_alloc(SIZE_MAX / 16 + 2));
}

static int flow_once(struct kunit *test)
{
	struct ib_uflow_resources *res = flow_resources_alloc(3);

	if (!res)
		return -ENOMEM;
	ib_uverbs_flow_resources_free(res);
	return 0;
}

static void a_record_survives_each_failed_allocation(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, flow_once), 1u);
}

static struct kunit_case flow_cases[] = {
	KUNIT_CASE(a_rule_uses_its_objects_until_it_is_freed),
	KUNIT_CASE(each_table_has_room_for_all_specs),
	KUNIT_CASE(a_rule_without_specs_has_a_record_too),
	KUNIT_CASE(more_specs_than_memory_are_refused),
	KUNIT_CASE(a_record_survives_each_failed_allocation),
	{}
};

static struct kunit_suite uverbs_flow_suite = {
	.name = "uverbs_flow",
	.test_cases = flow_cases,
};

kunit_test_suite(uverbs_flow_suite);
