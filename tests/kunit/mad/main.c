// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <linux/module.h>
#include "mad_test.h"

kunit_test_suites(&ibmad_agent_suite, &ibmad_send_suite, &ibmad_recv_suite,
		  &ibmad_rmpp_suite, &ibmad_sa_suite, &ibmad_sa_ls_suite,
		  &ibmad_sa_share_suite, &ibmad_mcast_suite, &ibmad_mcast_reset_suite,
		  &ibmad_smi_suite, &ibmad_local_suite, &ibmad_rmpp_recv_suite,
		  &ibmad_rmpp_bound_suite, &ibmad_rmpp_send_suite,
		  &ibmad_rmpp_way_suite,
		  &ibmad_flow_suite, &ibmad_flow_end_suite, &ibmad_stats_suite,
		  &ibmad_malformed_suite, &ibmad_random_suite,
		  &ibmad_refs_suite, &ibmad_refs_rmpp_suite, &ibmad_recover_suite,
		  &ibmad_lost_suite, &ibmad_regress_suite, &ibmad_match_suite,
		  &ibmad_opa_suite, &ibmad_reply_suite, &ibmad_sendq_suite,
		  &ibmad_provider_suite);

MODULE_DESCRIPTION("KUnit suites of ib_mad");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
