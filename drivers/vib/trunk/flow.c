// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Sequence numbers and credits of a pair of sessions. */
#include <linux/string.h>
#include "trunk/flow.h"

#define WINDOW	64		/* bits of rx_window */

void vib_flow_init(struct vib_trunk_flow *flow)
{
	memset(flow, 0, sizeof(*flow));
}

enum vib_flow_verdict vib_flow_sequence(struct vib_trunk_flow *flow, u32 seq, s32 *lost)
{
	s32 ahead = seq - flow->rx_seq;
	u32 back = -ahead - 1;

	*lost = 0;
	if (ahead >= 0) {
		*lost = ahead;
		flow->rx_window = ahead + 1 < WINDOW ? flow->rx_window << (ahead + 1) : 0;
		flow->rx_window |= 1;
		flow->rx_seq = seq + 1;
		return VIB_FLOW_NEXT;
	}
	/* Of what is older than the window nobody knows whether it has come before. */
	if (back >= WINDOW)
		return VIB_FLOW_LATE;
	if (flow->rx_window & BIT_ULL(back))
		return VIB_FLOW_DUPLICATE;
	flow->rx_window |= BIT_ULL(back);
	*lost = -1;
	return VIB_FLOW_LATE;
}

bool vib_flow_receive(struct vib_trunk_flow *flow, u8 vl, u32 total, u16 blocks, u32 *lost)
{
	u32 since = total - flow->vl[vl].received;
	u32 most = flow->vl[vl].told - flow->vl[vl].received;

	*lost = 0;
	if (since < blocks || since > most)
		return false;
	*lost = since - blocks;
	flow->vl[vl].received = total;
	return true;
}

bool vib_flow_recover(struct vib_trunk_flow *flow, u8 vl, u32 total, u32 *lost)
{
	return vib_flow_receive(flow, vl, total, 0, lost);
}

u32 vib_flow_tell(struct vib_trunk_flow *flow, u8 vl, u32 room)
{
	u32 told = flow->vl[vl].received + room;

	/* What was told once stands. */
	if ((s32)(told - flow->vl[vl].told) > 0)
		flow->vl[vl].told = told;
	return flow->vl[vl].told;
}

bool vib_flow_limit(struct vib_trunk_flow *flow, u8 vl, u32 limit)
{
	if ((s32)(limit - flow->vl[vl].limit) <= 0)
		return false;
	flow->vl[vl].limit = limit;
	return true;
}

bool vib_flow_send(struct vib_trunk_flow *flow, u8 vl, u16 blocks)
{
	if (flow->vl[vl].limit - flow->vl[vl].sent < blocks)
		return false;
	flow->vl[vl].sent += blocks;
	return true;
}
