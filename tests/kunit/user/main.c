// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <linux/module.h>
#include "commands.h"
#include "events.h"
#include "queues.h"
#include "race.h"
#include "things.h"
#include "uverbs_test.h"

kunit_test_suites(&uverbs_umem_suite, &uverbs_pgsz_suite, &uverbs_odp_suite,
		  &uverbs_dmabuf_suite, &uverbs_umap_suite, &uverbs_attr_suite,
		  &uverbs_marshal_suite, &uverbs_flow_suite,
		  &uverbs_uobject_suite, &uverbs_fd_suite, &uverbs_ioctl_suite,
		  &uverbs_write_suite, &uverbs_node_suite,
		  &uverbs_pd_suite, &uverbs_mr_suite, &uverbs_xrcd_suite,
		  &uverbs_handles_suite, &uverbs_query_suite,
		  &uverbs_event_suite, &uverbs_async_suite, &uverbs_cq_suite,
		  &uverbs_qp_create_suite, &uverbs_qp_modify_suite,
		  &uverbs_post_suite, &uverbs_srq_suite, &uverbs_wq_suite,
		  &uverbs_flow_rule_suite,
		  &uverbs_race_suite, &uverbs_race_end_suite,
		  &uverbs_race_event_suite, &uverbs_event_fd_suite,
		  &uverbs_xrc_share_suite, &uverbs_left_suite,
		  &uverbs_api_suite, &uverbs_tables_suite);

MODULE_DESCRIPTION("KUnit suites of ib_uverbs");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
MODULE_IMPORT_NS(DMA_BUF);
