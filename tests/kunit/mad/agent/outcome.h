/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_MAD_OUTCOME_H
#define IBEX_MAD_OUTCOME_H

/*
 * An adapter with agents of all kinds, and the outcome of each MAD that the test
 * injects.  What the adapter sends is noted and dropped.
 */
#include "mad/mad_test.h"

enum { PLAIN, SA, RMPP, USER_RMPP, SMP, OUTCOME_AGENTS };

struct outcome_kind {
	enum ib_qp_type qp_type;
	u8 mgmt_class;
	u8 version;
	u8 rmpp_version;
	u32 flags;
};

union outcome_mad {
	struct ib_mad_hdr hdr;
	struct ib_rmpp_mad rmpp;
	struct ib_vendor_mad vendor;
	u8 raw[IB_MGMT_MAD_SIZE];
};

/* The last requests that the adapter sent. */
struct outcome_seen {
	union outcome_mad mad[16];
	unsigned int n;
};

extern const struct outcome_kind outcome_kinds[OUTCOME_AGENTS];
extern const u8 outcome_methods[5];	/* that the agents are registered for */
extern struct fake_hca *outcome_hca;
extern struct ib_mad_agent *outcome_agents[OUTCOME_AGENTS];
extern struct ib_ah *outcome_paths[OUTCOME_AGENTS];
extern struct outcome_seen outcome_seen;
extern atomic_t outcome_sent;
extern atomic_t outcome_single, outcome_whole;	/* MADs and transfers delivered */

int outcome_up(bool opa);
void outcome_down(void);
u64 outcome_counter(enum ibmad_counter which);
/* The sum of all counters of outcomes. */
u64 outcome_sum(void);
void outcome_print(struct kunit *test);
/* Whether @tid is one of the agents here. */
bool outcome_has_tid(__be64 tid);
/* Waits until all that the adapter has delivered has been processed. */
bool outcome_quiesce(void);
bool outcome_is_smp(u8 mgmt_class);
u32 outcome_qpn(unsigned int agent);
/* A request to that agent; a segment of a transfer to it. */
void outcome_request(union outcome_mad *mad, unsigned int agent);
void outcome_segment(union outcome_mad *mad, unsigned int agent, u32 seg, u8 flags);
void outcome_inject(const union outcome_mad *mad, u32 dst_qpn, u32 src_qpn, u32 len);

#endif
