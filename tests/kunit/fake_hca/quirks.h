/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef FAKE_HCA_QUIRKS_H
#define FAKE_HCA_QUIRKS_H

#include <linux/types.h>

/*
 * What a stock provider does that an obliging adapter does not: a row a provider
 * in quirks.c, read off its driver (Documentation/providers.rst tells where).  An
 * adapter takes those of the provider that the module parameter names, which a
 * test may change before it registers the adapter.  Zero is the obliging adapter.
 */
struct fake_hca_quirks {
	const char *provider;

	/* Special QPs */
	bool recv_from_rtr;		/* QP1 takes receives from RTR on only */
	bool byte_len_without_grh;	/* of receives on QP1 */
	u8 byte_len_extra;		/* bytes that the provider put behind the MAD */
	bool joint_poll;		/* both queues of QP1 are polled by its receive CQ */
	bool reset_keeps_sends;		/* ERR and RESET of QP1 are those of receives alone */
	bool grh_required;		/* on an InfiniBand port, too */

	/* GIDs */
	bool gid_has_smac;		/* add_gid programs the netdev's address */
	bool del_gid_needs_ndev;
	bool gids_unique;		/* add_gid refuses a GID that it has already */
	bool gid_ops_fail_detached;	/* add_gid fails while the netdev is down */

	/* Address handles */
	u32 max_ah;			/* 0: as many as memory allows */
	bool ah_only_sleeping;		/* create_ah refuses atomic context */

	/* What a verb does not do */
	bool no_query_qp_state;		/* query_qp answers what was set last */
	bool no_resize_cq;
	bool no_srq;
};

/* The row of @provider, or NULL; "" and NULL name the obliging adapter. */
const struct fake_hca_quirks *fake_hca_quirks_of(const char *provider);
/* The one that the module parameter names; never NULL. */
const struct fake_hca_quirks *fake_hca_quirks_default(void);

#endif
