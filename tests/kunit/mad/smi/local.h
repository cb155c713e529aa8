/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_LOCAL_H
#define IBEX_LOCAL_H

/*
 * A node whose adapter processes MADs itself, and its neighbour, whose LID is the source
 * and destination of all packets.  What the node sends is noted and dropped.
 */
#include "mad/mad_test.h"

struct local_world {
	struct fake_hca *hca, *peer;
	struct ib_mad_agent *sm, *sma;	/* on the node's QP0: the sender, the responder */
	struct ib_ah *ah;

	/* What process_mad does with a MAD, and what it got. */
	struct {
		atomic_t calls;
		int result;
		u16 status;		/* of its reply, host order */
		size_t len;		/* of its reply; 0: unchanged */
		bool bare;		/* it writes only the header of its reply */
		int fail_nth;		/* the allocation that fails after it */
		u32 port;
		struct ib_wc wc;
		u8 method;
	} agent;

	/* The last packet that the node sent. */
	struct {
		atomic_t packets;
		u32 port, dst_qpn, len;
		u16 dlid;
		struct ib_smp smp;
	} wire;

	/* What the handlers of the SM and of the software SMA got. */
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
/* Unregisters the clients of the node's adapter, which may be removed then. */
void local_close(void);
/* Replaces the node by another. */
int local_restart(bool has_sma, bool is_switch);
/* Starts a software SMA, for SMPs that the adapter does not process. */
void local_start_sma(struct kunit *test, u8 mgmt_class);

/* An SMP with a directed route from, or to, the node. */
struct ib_smp local_route(u8 hop_cnt, u8 hop_ptr);
/* Creates a send of the local SM for @smp; local_post() also posts it. */
struct ib_mad_send_buf *local_smp(const struct ib_smp *smp, u32 timeout_ms);
int local_post(const struct ib_smp *smp, u32 timeout_ms);
/* Injects @smp into the node's QP as if its neighbour had sent it. */
void local_from_wire(const void *smp, u32 qpn, u32 port);
void local_quiesce(void);
u64 local_counter(enum ibmad_counter c);

#endif
