/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef FAKE_HCA_QUIRKS_H
#define FAKE_HCA_QUIRKS_H

#include <linux/types.h>
#include <rdma/ib_user_ioctl_verbs.h>

/*
 * Behaviour of a stock provider that differs from that of an obliging adapter. quirks.c
 * has a row for each provider, taken from its driver (see Documentation/providers.rst).
 * An adapter has the quirks of the provider that the module parameter names; a test may
 * change them before it registers the adapter.  All zero is the obliging adapter.
 */
struct fake_hca_quirks {
	const char *provider;
	enum rdma_driver_id driver;	/* 0: RDMA_DRIVER_UNKNOWN */

	/* Special QPs */
	bool recv_from_rtr;		/* QP1 takes receives from RTR on only */
	bool byte_len_without_grh;	/* byte_len of QP1's receives lacks the GRH */
	bool byte_len_missing;		/* byte_len is 0 in every other receive on QP1 */
	bool no_src_qp;			/* src_qp is 0 in receives on QP1 */
	u8 byte_len_extra;		/* bytes that the provider put behind the MAD */
	/* The receive CQ of QP1 polls both its queues; a full queue looks empty there. */
	bool joint_poll;
	bool reset_keeps_sends;		/* ERR and RESET of QP1 affect receives only */
	bool reset_is_a_note;		/* a QP that has been in ERR or RESET never gets to INIT */
	bool reset_keeps_ring;		/* completions after RESET start with an old send's */
	bool grh_required;		/* on an InfiniBand port, too */
	bool qp1_state_is_a_note;	/* no state of QP1 flushes or forgets anything */
	bool qp1_reports_rts;		/* query_qp of QP1 reports RTS in any state */
	bool one_send_a_call;		/* QP1 takes one work request a call */
	bool special_once;		/* QP0 and QP1 of a port are created only once */
	/* Sends of QP1 are reported from a work item that destroy_cq does not wait for. */
	bool soft_sends;

	/* Contents of completions */
	bool wc_unset_stays;		/* fields that are not set keep their values */
	bool wc_own_qp;			/* wc->qp of QP1's receives is the provider's */
	bool wc_no_net_type;		/* RoCE: no network_hdr_type, no flag for it */
	bool wc_no_smac;		/* RoCE: no smac, no flag for it */
	bool wc_vlan_ffff;		/* RoCE: vlan_id is always set, 0xffff if none */

	/* CQs */
	bool comp_under_lock;		/* handlers are called under the CQ's lock */
	bool arm_fires;			/* arming raises missed events, reports none */

	/* GIDs and P_Keys */
	bool gid_has_smac;		/* add_gid programs the netdev's address */
	bool del_gid_needs_ndev;
	bool gids_unique;		/* add_gid refuses a GID that it has already */
	/* An own table: one counted place for a GID and VLAN, by type or of all types */
	enum { FAKE_NO_PLACES, FAKE_PLACE_A_TYPE, FAKE_PLACE_A_GID } gid_places;
	bool gid_ops_fail_detached;	/* add_gid fails while the netdev is down */
	bool del_gid_fails_with_qp1;	/* for the first entry, while QP1 exists */
	bool one_pkey;			/* RoCE */

	/* Address handles */
	u32 max_ah;			/* 0: as many as memory allows */
	bool ah_only_sleeping;		/* create_ah refuses atomic context */
	bool ah_always_sleeps;		/* create_ah, destroy_ah, whatever the flags say */
	bool ah_queries_port;		/* create_ah calls ib_query_port() */

	/* Contexts */
	bool query_port_rtnl;		/* Ethernet: query_port takes rtnl */
	bool port_event_rtnl;		/* RoCE: ports raise events under rtnl */
	bool events_atomic;		/* all events are raised with interrupts off */

	/* process_mad's result for MADs that no test handles; 0: no process_mad */
	enum { FAKE_NO_PROCESS_MAD, FAKE_TAKES_NONE, FAKE_EINVAL } process_mad;
	bool process_mad_sleeps;

	/* Verbs that are not supported, and limits */
	bool no_resize_cq;
	bool no_srq;
	bool no_fast_reg;		/* no alloc_mr, no map_mr_sg */
	bool no_local_dma_lkey;		/* each PD has a region of its own */
	bool no_posts_in_err;		/* posts in ERR are refused, not flushed */
	bool bad_wr_unset;		/* if post_send refuses because of the state */
	u32 max_recv_sge, max_sge_rd;	/* 0: the usual number */

	/* XRC */
	bool no_xrc;			/* no domains */
	/* A target's PD and CQs are found by its domain; a kernel's has no receives. */
	bool target_by_domain;
	bool target_without_user;	/* destroy_qp of a target must not get user data */

	/* The rq_psn that query_qp reports: the expected PSN, the one set, or 0 */
	enum { FAKE_PSN_LIVE, FAKE_PSN_AS_GIVEN, FAKE_PSN_NONE } rq_psn;
};

/* Returns the row of @provider, or NULL; "" and NULL name the obliging adapter. */
const struct fake_hca_quirks *fake_hca_quirks_of(const char *provider);
/* Returns the n-th row, from 0, or NULL. */
const struct fake_hca_quirks *fake_hca_quirks_nth(unsigned int n);
/* Returns the row that the module parameter names; never NULL. */
const struct fake_hca_quirks *fake_hca_quirks_default(void);

#endif
