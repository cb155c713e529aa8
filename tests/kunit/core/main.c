// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <linux/module.h>
#include "suites.h"

kunit_test_suites(&ibcore_device_suite, &ibcore_cache_suite,
		  &ibcore_verbs_suite, &ibcore_netlink_suite,
		  &ibcore_nldev_dev_suite, &ibcore_nldev_link_suite,
		  &ibcore_lag_suite, &ibcore_client_suite,
		  &ibcore_register_suite, &ibcore_netns_suite,
		  &ibcore_counters_suite, &ibcore_restrack_suite,
		  &ibcore_sysfs_suite, &ibcore_nldev_stat_suite,
		  &ibcore_nldev_res_suite, &ibcore_addr_suite,
		  &ibcore_addr_cancel_suite, &ibcore_rw_suite,
		  &ibcore_rw_sig_suite, &ibcore_mr_suite, &ibcore_ah_suite,
		  &ibcore_ah_path_suite, &ibcore_ah_roce_suite,
		  &ibcore_pack_suite, &ibcore_gid_suite, &ibcore_gid_hw_suite,
		  &ibcore_gid_place_suite, &ibcore_roce_suite,
		  &ibcore_bond_suite, &ibcore_port_suite, &ibcore_qp_suite,
		  &ibcore_xrcd_suite, &ibcore_srq_suite, &ibcore_cq_suite,
		  &ibcore_drain_suite, &ibcore_umap_suite,
		  &ibcore_nldev_many_suite, &ibcore_nldev_linear_suite,
		  &ibcore_qp_watch_suite, &ibcore_qp_probe_suite, &ibcore_ls_suite,
		  &ibcore_addr_ls_suite, &ibcore_name_suite,
		  &ibcore_provider_suite);

MODULE_DESCRIPTION("KUnit suites of ib_core");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
