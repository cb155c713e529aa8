// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * All methods of ib_uverbs: each file has those of one object, called by write() and
 * by ioctl alike.
 */
#include <kunit/visibility.h>

#include "call/call.h"

const struct uapi_definition uverbs_core_definitions[] = {
	UAPI_DEF_CHAIN(uverbs_write_definitions),
	UAPI_DEF_CHAIN(uverbs_context_definitions),
	UAPI_DEF_CHAIN(uverbs_query_definitions),
	UAPI_DEF_CHAIN(uverbs_pd_definitions),
	UAPI_DEF_CHAIN(uverbs_mr_definitions),
	UAPI_DEF_CHAIN(uverbs_mw_definitions),
	UAPI_DEF_CHAIN(uverbs_ah_definitions),
	UAPI_DEF_CHAIN(uverbs_dm_definitions),
	UAPI_DEF_CHAIN(uverbs_counters_definitions),
	UAPI_DEF_CHAIN(uverbs_xrcd_definitions),
	UAPI_DEF_CHAIN(uverbs_xrc_rcv_definitions),
	UAPI_DEF_CHAIN(uverbs_async_definitions),
	UAPI_DEF_CHAIN(uverbs_comp_channel_definitions),
	UAPI_DEF_CHAIN(uverbs_cq_definitions),
	UAPI_DEF_CHAIN(uverbs_srq_definitions),
	UAPI_DEF_CHAIN(uverbs_wq_definitions),
	UAPI_DEF_CHAIN(uverbs_rwq_ind_definitions),
	UAPI_DEF_CHAIN(uverbs_qp_definitions),
	UAPI_DEF_CHAIN(uverbs_qp_create_definitions),
	UAPI_DEF_CHAIN(uverbs_qp_open_definitions),
	UAPI_DEF_CHAIN(uverbs_qp_modify_definitions),
	UAPI_DEF_CHAIN(uverbs_mcast_definitions),
	UAPI_DEF_CHAIN(uverbs_post_definitions),
	UAPI_DEF_CHAIN(uverbs_flow_definitions),
	{}
};
EXPORT_SYMBOL_IF_KUNIT(uverbs_core_definitions);
