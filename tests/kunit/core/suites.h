/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_CORE_SUITES_H
#define IBEX_CORE_SUITES_H

#include <kunit/test.h>

extern struct kunit_suite ibcore_device_suite;
extern struct kunit_suite ibcore_cache_suite;
extern struct kunit_suite ibcore_verbs_suite;
extern struct kunit_suite ibcore_netlink_suite;
extern struct kunit_suite ibcore_nldev_dev_suite;
extern struct kunit_suite ibcore_nldev_link_suite;
extern struct kunit_suite ibcore_lag_suite;
extern struct kunit_suite ibcore_client_suite;
extern struct kunit_suite ibcore_register_suite;
extern struct kunit_suite ibcore_netns_suite;
extern struct kunit_suite ibcore_counters_suite;
extern struct kunit_suite ibcore_restrack_suite;
extern struct kunit_suite ibcore_sysfs_suite;
extern struct kunit_suite ibcore_nldev_stat_suite;
extern struct kunit_suite ibcore_nldev_res_suite;
extern struct kunit_suite ibcore_addr_suite;
extern struct kunit_suite ibcore_addr_cancel_suite;
extern struct kunit_suite ibcore_rw_suite;
extern struct kunit_suite ibcore_rw_sig_suite;
extern struct kunit_suite ibcore_mr_suite;
extern struct kunit_suite ibcore_ah_suite;
extern struct kunit_suite ibcore_ah_path_suite;
extern struct kunit_suite ibcore_ah_roce_suite;
extern struct kunit_suite ibcore_pack_suite;
extern struct kunit_suite ibcore_gid_suite;
extern struct kunit_suite ibcore_gid_hw_suite;
extern struct kunit_suite ibcore_gid_place_suite;
extern struct kunit_suite ibcore_roce_suite;
extern struct kunit_suite ibcore_bond_suite;
extern struct kunit_suite ibcore_port_suite;
extern struct kunit_suite ibcore_qp_suite;
extern struct kunit_suite ibcore_xrcd_suite;
extern struct kunit_suite ibcore_srq_suite;
extern struct kunit_suite ibcore_cq_suite;
extern struct kunit_suite ibcore_drain_suite;
extern struct kunit_suite ibcore_umap_suite;
extern struct kunit_suite ibcore_nldev_many_suite;
extern struct kunit_suite ibcore_qp_probe_suite;
extern struct kunit_suite ibcore_qp_watch_suite;
extern struct kunit_suite ibcore_nldev_linear_suite;
extern struct kunit_suite ibcore_ls_suite;
extern struct kunit_suite ibcore_addr_ls_suite;
extern struct kunit_suite ibcore_name_suite;
extern struct kunit_suite ibcore_provider_suite;

#endif
