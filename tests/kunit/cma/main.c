// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <linux/module.h>
#include "cma_test.h"

kunit_test_suites(&cma_state_suite, &cma_connect_suite, &cma_loss_suite,
		  &cma_port_suite, &cma_listen_suite, &cma_dgram_suite,
		  &cma_ib_suite, &cma_ib_mcast_suite, &cma_iw_suite,
		  &cma_iw_listen_suite, &cma_iw_device_suite,
		  &cma_netevent_suite, &cma_remove_suite,
		  &cma_options_suite, &cma_addr_suite, &cma_loopback_suite,
		  &cma_loopback_ib_suite, &cma_loopback_iw_suite,
		  &cma_source_suite, &cma_source_ib_suite, &cma_fault_suite,
		  &cma_fault_ib_suite, &cma_established_suite,
		  &cma_order_suite, &cma_psn_suite, &cma_race_suite);

MODULE_DESCRIPTION("KUnit suites of rdma_cm");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
