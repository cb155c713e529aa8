// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The stock providers, as far as the fake adapter can behave like them. */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/string.h>
#include "quirks.h"

static const struct fake_hca_quirks obliging;

/*
 * In the order of Documentation/providers.rst. efa, mana and usnic have no verbs for
 * the kernel, erdma no QP1: their rows have the quirks that matter where they are used,
 * on an adapter that can do the rest.
 */
static const struct fake_hca_quirks providers[] = {
	{
		.provider = "mlx5",
		.driver = RDMA_DRIVER_MLX5,
		.reset_keeps_sends = true,
		.soft_sends = true,
		.wc_unset_stays = true,
		.wc_own_qp = true,
		.wc_no_smac = true,
		.arm_fires = true,
		.gid_has_smac = true,
		.del_gid_needs_ndev = true,
		.one_pkey = true,
		.port_event_rtnl = true,
		.process_mad = FAKE_TAKES_NONE,
		.process_mad_sleeps = true,
		.no_local_dma_lkey = true,
		.target_without_user = true,
	}, {
		/*
		 * A port whose firmware requires GRHs, as that of virtual functions
		 * may.
		 */
		.provider = "mlx5-grh",
		.driver = RDMA_DRIVER_MLX5,
		.reset_keeps_sends = true,
		.soft_sends = true,
		.grh_required = true,
		.wc_unset_stays = true,
		.wc_own_qp = true,
		.wc_no_smac = true,
		.arm_fires = true,
		.gid_has_smac = true,
		.del_gid_needs_ndev = true,
		.one_pkey = true,
		.port_event_rtnl = true,
		.process_mad = FAKE_TAKES_NONE,
		.process_mad_sleeps = true,
		.no_local_dma_lkey = true,
		.target_without_user = true,
	}, {
		.provider = "mlx4",
		.driver = RDMA_DRIVER_MLX4,
		.wc_unset_stays = true,
		.wc_no_net_type = true,
		.wc_vlan_ffff = true,
		.arm_fires = true,
		.gid_places = FAKE_PLACE_A_TYPE,
		.one_pkey = true,
		.port_event_rtnl = true,
		.process_mad = FAKE_EINVAL,
		.process_mad_sleeps = true,
		.target_by_domain = true,
	}, {
		/* A virtual function: each received MAD has a tunnel header. */
		.provider = "mlx4-vf",
		.driver = RDMA_DRIVER_MLX4,
		.byte_len_extra = 56,
		.wc_unset_stays = true,
		.wc_no_net_type = true,
		.wc_vlan_ffff = true,
		.arm_fires = true,
		.gid_places = FAKE_PLACE_A_TYPE,
		.one_pkey = true,
		.port_event_rtnl = true,
		.process_mad = FAKE_EINVAL,
		.process_mad_sleeps = true,
		.target_by_domain = true,
	}, {
		.provider = "mthca",
		.driver = RDMA_DRIVER_MTHCA,
		.wc_unset_stays = true,
		.arm_fires = true,
		.events_atomic = true,
		.process_mad = FAKE_TAKES_NONE,
		.process_mad_sleeps = true,
		.no_fast_reg = true,
		.no_local_dma_lkey = true,
		.no_xrc = true,
	}, {
		.provider = "irdma",
		.driver = RDMA_DRIVER_IRDMA,
		.reset_is_a_note = true,
		.wc_unset_stays = true,
		.one_pkey = true,
		.max_ah = 256,
		.query_port_rtnl = true,
		.port_event_rtnl = true,
		.no_srq = true,
		.rq_psn = FAKE_PSN_AS_GIVEN,
		.no_xrc = true,
	}, {
		.provider = "bnxt_re",
		.driver = RDMA_DRIVER_BNXT_RE,
		.reset_keeps_ring = true,
		.byte_len_missing = true,
		.gid_has_smac = true,
		.del_gid_fails_with_qp1 = true,
		.gid_places = FAKE_PLACE_A_GID,
		.one_pkey = true,
		.query_port_rtnl = true,
		.events_atomic = true,
		.no_xrc = true,
	}, {
		.provider = "efa",
		.driver = RDMA_DRIVER_EFA,
		.one_pkey = true,
		.ah_only_sleeping = true,
		.no_resize_cq = true,
		.no_srq = true,
		.no_fast_reg = true,
		.no_local_dma_lkey = true,
		.rq_psn = FAKE_PSN_NONE,
		.no_xrc = true,
	}, {
		.provider = "hns_roce",
		.driver = RDMA_DRIVER_HNS,
		.wc_unset_stays = true,
		.wc_no_net_type = true,
		.wc_no_smac = true,
		.arm_fires = true,
		.gid_has_smac = true,
		.one_pkey = true,
		.query_port_rtnl = true,
		.no_resize_cq = true,
		.no_local_dma_lkey = true,
	}, {
		.provider = "mana",
		.driver = RDMA_DRIVER_MANA,
		.gids_unique = true,
		.one_pkey = true,
		.query_port_rtnl = true,
		.no_resize_cq = true,
		.no_srq = true,
		.no_fast_reg = true,
		.no_local_dma_lkey = true,
		.rq_psn = FAKE_PSN_NONE,
		.no_xrc = true,
	}, {
		.provider = "erdma",
		.driver = RDMA_DRIVER_ERDMA,
		.wc_unset_stays = true,
		.one_pkey = true,
		.ah_always_sleeps = true,
		.query_port_rtnl = true,
		.events_atomic = true,
		.no_resize_cq = true,
		.no_srq = true,
		.max_recv_sge = 1,
		.max_sge_rd = 1,
		.no_xrc = true,
	}, {
		.provider = "ocrdma",
		.driver = RDMA_DRIVER_OCRDMA,
		.special_once = true,
		.wc_unset_stays = true,
		.wc_no_smac = true,
		.one_pkey = true,
		.max_ah = 512,
		.events_atomic = true,
		.process_mad = FAKE_TAKES_NONE,
		.no_posts_in_err = true,
		.no_xrc = true,
	}, {
		.provider = "qedr",
		.driver = RDMA_DRIVER_QEDR,
		.recv_from_rtr = true,
		.byte_len_without_grh = true,
		.no_src_qp = true,
		.joint_poll = true,
		.qp1_state_is_a_note = true,
		.qp1_reports_rts = true,
		.one_send_a_call = true,
		.wc_no_net_type = true,
		.one_pkey = true,
		.events_atomic = true,
		.process_mad = FAKE_TAKES_NONE,
		.no_resize_cq = true,
		.no_xrc = true,
	}, {
		.provider = "iw_cxgb4",
		.driver = RDMA_DRIVER_CXGB4,
		.query_port_rtnl = true,
		.events_atomic = true,
		.no_resize_cq = true,
		.max_sge_rd = 1,
		.rq_psn = FAKE_PSN_NONE,
		.no_xrc = true,
	}, {
		.provider = "hfi1",
		.driver = RDMA_DRIVER_HFI1,
		.special_once = true,
		.max_ah = 65535,
		.ah_queries_port = true,
		.process_mad = FAKE_TAKES_NONE,
		.no_local_dma_lkey = true,
		.bad_wr_unset = true,
		.no_xrc = true,
	}, {
		.provider = "ib_qib",
		.driver = RDMA_DRIVER_QIB,
		.special_once = true,
		.max_ah = 65535,
		.ah_queries_port = true,
		.process_mad = FAKE_TAKES_NONE,
		.no_local_dma_lkey = true,
		.bad_wr_unset = true,
		.no_xrc = true,
	}, {
		.provider = "usnic",
		.driver = RDMA_DRIVER_USNIC,
		.query_port_rtnl = true,
		.port_event_rtnl = true,
		.no_resize_cq = true,
		.no_srq = true,
		.no_fast_reg = true,
		.no_local_dma_lkey = true,
		.rq_psn = FAKE_PSN_NONE,
		.no_xrc = true,
	}, {
		.provider = "vmw_pvrdma",
		.driver = RDMA_DRIVER_VMW_PVRDMA,
		.wc_unset_stays = true,
		.wc_no_smac = true,
		.events_atomic = true,
		.no_resize_cq = true,
		.no_local_dma_lkey = true,
		.no_xrc = true,
	}, {
		.provider = "rxe",
		.driver = RDMA_DRIVER_RXE,
		.special_once = true,
		.wc_no_smac = true,
		.comp_under_lock = true,
		.one_pkey = true,
		.max_ah = 32767,
		.query_port_rtnl = true,
		.port_event_rtnl = true,
		.no_local_dma_lkey = true,
		.no_xrc = true,
	}, {
		.provider = "siw",
		.driver = RDMA_DRIVER_SIW,
		.query_port_rtnl = true,
		.port_event_rtnl = true,
		.no_resize_cq = true,
		.max_sge_rd = 1,
		.no_local_dma_lkey = true,
		.rq_psn = FAKE_PSN_NONE,
		.no_xrc = true,
	},
};

static char *provider = "";
module_param(provider, charp, 0444);
MODULE_PARM_DESC(provider, "stock provider to behave like");

const struct fake_hca_quirks *fake_hca_quirks_of(const char *name)
{
	int i;

	if (!name || !*name)
		return &obliging;
	for (i = 0; i < ARRAY_SIZE(providers); i++)
		if (!strcmp(providers[i].provider, name))
			return &providers[i];
	return NULL;
}
EXPORT_SYMBOL_GPL(fake_hca_quirks_of);

const struct fake_hca_quirks *fake_hca_quirks_nth(unsigned int n)
{
	return n < ARRAY_SIZE(providers) ? &providers[n] : NULL;
}
EXPORT_SYMBOL_GPL(fake_hca_quirks_nth);

const struct fake_hca_quirks *fake_hca_quirks_default(void)
{
	const struct fake_hca_quirks *quirks = fake_hca_quirks_of(provider);

	return WARN_ONCE(!quirks, "no provider %s\n", provider) ? &obliging : quirks;
}
EXPORT_SYMBOL_GPL(fake_hca_quirks_default);
