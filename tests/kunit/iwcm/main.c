// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <linux/module.h>
#include "iwcm_test.h"

kunit_test_suites(&iwcm_state_suite, &iwcm_connect_suite, &iwcm_listen_suite,
		  &iwcm_lifetime_suite, &iwcm_order_suite, &iwcm_parallel_suite,
		  &iwcm_race_suite, &iwcm_fixes_suite, &iwcm_iwpm_suite,
		  &iwcm_iwpm_restart_suite);

MODULE_DESCRIPTION("KUnit suites of iw_cm");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
