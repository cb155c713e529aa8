/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_TRUNK_FLOW_H
#define VIB_TRUNK_FLOW_H

/*
 * What is counted of a pair of sessions: numbers of messages, and credits.
 *
 * Totals are of 32 bits and wrap; they are compared within half of their circle.  Of each VL
 * the sender has sent @sent blocks and may send up to @limit; the receiver has @received,
 * with those that were lost, and has told the sender that it may send up to @told.  So in each
 * direction
 *	received <= sent <= limit <= told
 * whatever is lost or late.  A DATA message has the sender's total, and so makes up for what
 * was lost before it; a CREDIT does at the end of a burst.
 */
#include "fabric/fabric.h"

struct vib_trunk_flow {
	u32 tx_seq;			/* of the next message */
	u32 rx_seq;			/* that is expected */
	u64 rx_window;			/* bit n: rx_seq - 1 - n has come */
	struct {
		u32 sent, limit;	/* to the peer */
		u32 received, told;	/* from the peer */
	} vl[VIB_VLS];
};

enum vib_flow_verdict {
	VIB_FLOW_NEXT,			/* in order; some before it may be missing */
	VIB_FLOW_DUPLICATE,
	VIB_FLOW_LATE,			/* overtaken by others */
};

void vib_flow_init(struct vib_trunk_flow *flow);

/* ---- the receiver ---- */

/* A message has come.  @lost: how many more are missing than before; negative: less. */
enum vib_flow_verdict vib_flow_sequence(struct vib_trunk_flow *flow, u32 seq, s32 *lost);
/*
 * A packet of @blocks has come, by which the sender has sent @total; @lost: blocks before it
 * that were lost.  False: it had not the credits.
 */
bool vib_flow_receive(struct vib_trunk_flow *flow, u8 vl, u32 total, u16 blocks, u32 *lost);
/* The same by a CREDIT, without a packet. */
bool vib_flow_recover(struct vib_trunk_flow *flow, u8 vl, u32 total, u32 *lost);
/* There is room for @room blocks: how many the sender may send in all. */
u32 vib_flow_tell(struct vib_trunk_flow *flow, u8 vl, u32 room);

/* ---- the sender ---- */

/* The receiver has told @limit; false: it had told as much or more before. */
bool vib_flow_limit(struct vib_trunk_flow *flow, u8 vl, u32 limit);
/* Takes credits for @blocks, and counts them as sent; false: there are not enough. */
bool vib_flow_send(struct vib_trunk_flow *flow, u8 vl, u16 blocks);

#endif
