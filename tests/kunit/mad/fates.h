/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_MAD_FATES_H
#define IBEX_MAD_FATES_H

/*
 * An adapter with agents of all kinds, and what became of each MAD that the test
 * puts on its wire.  What leaves it is noted and goes nowhere.
 */
#include "mad_test.h"

enum { PLAIN, SA, RMPP, USER_RMPP, SMP, FATES_AGENTS };

struct fates_kind {
	enum ib_qp_type qp_type;
	u8 mgmt_class;
	u8 version;
	u8 rmpp_version;
	u32 flags;
};

union fates_mad {
	struct ib_mad_hdr hdr;
	struct ib_rmpp_mad rmpp;
	struct ib_vendor_mad vendor;
	u8 raw[IB_MGMT_MAD_SIZE];
};

/* The last requests that left the adapter. */
struct fates_seen {
	union fates_mad mad[16];
	unsigned int n;
};

extern const struct fates_kind fates_kinds[FATES_AGENTS];
extern const u8 fates_methods[5];	/* that the agents are registered for */
extern struct fake_hca *fates_hca;
extern struct ib_mad_agent *fates_agents[FATES_AGENTS];
extern struct ib_ah *fates_paths[FATES_AGENTS];
extern struct fates_seen fates_seen;
extern atomic_t fates_sent;
extern atomic_t fates_single, fates_whole;	/* MADs and transfers delivered */

int fates_up(bool opa);
void fates_down(void);
u64 fates_counter(enum ibmad_counter which);
/* The sum of all those that say what became of a MAD. */
u64 fates_sum(void);
void fates_print(struct kunit *test);
/* Waits until all that the adapter has delivered has been dealt with. */
bool fates_settle(void);
bool fates_is_smp(u8 mgmt_class);
u32 fates_qpn(unsigned int agent);
/* A request for that agent; a segment of a transfer to it. */
void fates_request(union fates_mad *mad, unsigned int agent);
void fates_segment(union fates_mad *mad, unsigned int agent, u32 seg, u8 flags);
void fates_inject(const union fates_mad *mad, u32 dst_qpn, u32 src_qpn, u32 len);

#endif
