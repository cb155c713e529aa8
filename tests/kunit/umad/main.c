// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <linux/module.h>
#include "umad_test.h"

kunit_test_suites(&umad_register_suite, &umad_send_suite, &umad_recv_suite,
		  &umad_remove_suite, &umad_issm_suite);

MODULE_DESCRIPTION("KUnit suites of ib_umad");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
