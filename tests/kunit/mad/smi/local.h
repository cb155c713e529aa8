/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_LOCAL_H
#define IBEX_LOCAL_H

/*
 * A node whose adapter has agents of its own, and its neighbour, whose LID is where
 * everything comes from and goes; what leaves the node is noted and goes nowhere.
 */
#include "mad/mad_test.h"

struct local_world {
	struct fake_hca *hca, *peer;
	struct ib_mad_agent *sm, *sma;	/* on the node's QP0: sends; answers */
	struct ib_ah *ah;

	/* What process_mad is to make of a MAD, and what it was given. */
	struct {
		atomic_t calls;
		int result;
		u16 status;		/* of its reply, host order */
		size_t len;		/* of its reply; 0: as it was told */
		bool bare;		/* it writes no more than the header */
		int fail_nth;		/* allocation of what follows */
		u32 port;
		struct ib_wc wc;
		u8 method;
	} agent;

	/* What left the node. */
	struct {
		atomic_t packets;
		u32 port, dst_qpn, len;
		u16 dlid;
		struct ib_smp smp;
	} wire;

	/* What the SM's handlers, and the software SMA's, saw. */
	struct {
		atomic_t sent, received, requests;
		enum ib_wc_status status;
		struct ib_smp smp;
		u32 mad_len;
		char order[8];
		int events;
	} seen;
};

extern struct local_world local;

int local_test_init(struct kunit *test);
void local_test_exit(struct kunit *test);
/* The clients of the node's adapter, which may go then. */
void local_close(void);
/* Another node instead. */
int local_restart(bool has_sma, bool is_switch);
/* An SMA in software, for what the adapter leaves to it. */
void local_start_sma(struct kunit *test, u8 mgmt_class);

/* A directed route from, or to, the node. */
struct ib_smp local_route(u8 hop_cnt, u8 hop_ptr);
/* @smp as the local SM's; the second posts it. */
struct ib_mad_send_buf *local_smp(const struct ib_smp *smp, u32 timeout_ms);
int local_post(const struct ib_smp *smp, u32 timeout_ms);
/* Puts @smp on the node's QP as if its neighbour had sent it. */
void local_from_wire(const void *smp, u32 qpn, u32 port);
void local_quiesce(void);
u64 local_counter(enum ibmad_counter c);

#endif
