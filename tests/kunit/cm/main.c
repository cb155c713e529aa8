// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <linux/module.h>
#include "cm_test.h"

kunit_test_suites(&ibcm_state_suite, &ibcm_matrix_suite, &ibcm_connect_suite,
		  &ibcm_path_suite, &ibcm_roce_suite, &ibcm_loss_suite,
		  &ibcm_psn_suite,
		  &ibcm_malformed_suite, &ibcm_sidr_suite, &ibcm_port_suite,
		  &ibcm_handle_suite, &ibcm_stray_suite,
		  &ibcm_destroy_suite, &ibcm_fault_suite);

MODULE_DESCRIPTION("KUnit suites of ib_cm");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
