// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <linux/module.h>
#include "ucm_test.h"

kunit_test_suites(&ucm_input_suite, &ucm_event_suite, &ucm_conn_suite,
		  &ucm_mcast_suite, &ucm_migrate_suite, &ucm_fault_suite,
		  &ucm_ib_suite);

MODULE_DESCRIPTION("KUnit suites of rdma_ucm");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
