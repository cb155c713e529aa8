/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef FAKE_HCA_QUIRKS_H
#define FAKE_HCA_QUIRKS_H

#include <linux/types.h>
#include <rdma/ib_user_ioctl_verbs.h>

/*
 * What a stock provider does that an obliging adapter does not: a row a provider
 * in quirks.c, read off its driver (Documentation/providers.rst tells where).  An
 * adapter takes those of the provider that the module parameter names, which a
 * test may change before it registers the adapter.  Zero is the obliging adapter.
 */
struct fake_hca_quirks {
	const char *provider;
	enum rdma_driver_id driver;	/* 0: RDMA_DRIVER_UNKNOWN */

	/* Special QPs */
	bool recv_from_rtr;		/* QP1 takes receives from RTR on only */
	bool byte_len_without_grh;	/* of receives on QP1 */
	bool byte_len_missing;		/* of every other receive on QP1: 0 */
	bool no_src_qp;			/* of receives on QP1: 0 */
	u8 byte_len_extra;		/* bytes that the provider put behind the MAD */
	bool joint_poll;		/* both queues of QP1 are polled by its receive CQ */
	bool reset_keeps_sends;		/* ERR and RESET of QP1 are those of receives alone */
	bool reset_is_a_note;		/* a QP that has been in ERR or RESET never gets to INIT */
	bool reset_keeps_ring;		/* completions after RESET start with an old send's */
	bool grh_required;		/* on an InfiniBand port, too */
	bool qp1_state_is_a_note;	/* no state of QP1 flushes or forgets anything */
	bool qp1_reports_rts;		/* query_qp of QP1 says so in any state */
	bool one_send_a_call;		/* of several work requests QP1 takes the first */

	/* What a completion says */
	bool wc_unset_stays;		/* what it does not set is what was there */
	bool wc_own_qp;			/* of receives on QP1: a QP of the provider's */
	bool wc_no_net_type;		/* RoCE: nor a flag for it */
	bool wc_no_smac;		/* RoCE, the same */
	bool wc_vlan_ffff;		/* RoCE: flagged, and 0xffff if there was none */

	/* CQs */
	bool comp_under_lock;		/* completion handlers, of the CQ's own lock */
	bool arm_fires;			/* for what is there; reports nothing missed */

	/* GIDs and P_Keys */
	bool gid_has_smac;		/* add_gid programs the netdev's address */
	bool del_gid_needs_ndev;
	bool gids_unique;		/* add_gid refuses a GID that it has already */
	/* A table of its own: one place, counted, for a GID of a VLAN, of a type or all */
	enum { FAKE_NO_PLACES, FAKE_PLACE_A_TYPE, FAKE_PLACE_A_GID } gid_places;
	bool gid_ops_fail_detached;	/* add_gid fails while the netdev is down */
	bool del_gid_fails_with_qp1;	/* for the first entry, while there is QP1 */
	bool one_pkey;			/* RoCE */

	/* Address handles */
	u32 max_ah;			/* 0: as many as memory allows */
	bool ah_only_sleeping;		/* create_ah refuses atomic context */
	bool ah_always_sleeps;		/* create_ah, destroy_ah, whatever the flags say */
	bool ah_queries_port;		/* create_ah calls ib_query_port() */

	/* Contexts */
	bool query_port_rtnl;		/* Ethernet: it takes rtnl */
	bool port_event_rtnl;		/* RoCE: ports raise events under rtnl */
	bool events_atomic;		/* all are raised with interrupts off */

	/* What a MAD that no test minds gets from process_mad; 0: there is none */
	enum { FAKE_NO_PROCESS_MAD, FAKE_TAKES_NONE, FAKE_EINVAL } process_mad;
	bool process_mad_sleeps;

	/* What a verb does not do, and limits */
	bool no_resize_cq;
	bool no_srq;
	bool no_fast_reg;		/* no alloc_mr, no map_mr_sg */
	bool no_local_dma_lkey;		/* each PD has a region of its own */
	bool no_posts_in_err;		/* they are refused, not flushed */
	bool bad_wr_unset;		/* by a post_send that refuses the state */
	u32 max_recv_sge, max_sge_rd;	/* 0: as many as else */

	/* What query_qp says of the expected PSN */
	enum { FAKE_PSN_LIVE, FAKE_PSN_AS_GIVEN, FAKE_PSN_NONE } rq_psn;
};

/* The row of @provider, or NULL; "" and NULL name the obliging adapter. */
const struct fake_hca_quirks *fake_hca_quirks_of(const char *provider);
/* The n-th row, from 0, or NULL. */
const struct fake_hca_quirks *fake_hca_quirks_nth(unsigned int n);
/* The one that the module parameter names; never NULL. */
const struct fake_hca_quirks *fake_hca_quirks_default(void);

#endif
