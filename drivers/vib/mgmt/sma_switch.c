// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Attributes of switches: SwitchInfo and both forwarding tables (IBA vol. 1, 14.2.5.4,
 * 14.2.5.10, 14.2.5.12).  Packets read the tables without a lock.
 */
#include "mgmt/sma.h"
#include "switch/switch.h"

/* MulticastForwardingTable: an SMP has 16 ports of each LID. */
#define MFT_PORTS	16U

/* 14.2.5.4 */
struct switch_info {
	__be16 linear_cap;
	__be16 random_cap;
	__be16 mcast_cap;
	__be16 linear_top;
	u8 default_port;
	u8 mcast_primary;
	u8 mcast_secondary;
	u8 life_change_sl2vl;		/* 5 bits, PortStateChange, 2 bits */
	__be16 lids_per_port;
	__be16 enforcement_cap;
	u8 caps;
	u8 reserved;
	__be16 mcast_top;
} __packed;

#define PORT_STATE_CHANGE	BIT(2)
#define ENFORCEMENT_IN_CAP	BIT(7)
#define ENFORCEMENT_OUT_CAP	BIT(6)

static struct vib_switch *req_switch(const struct vib_sma_req *req)
{
	return to_vib_switch(req->in->node);
}

u16 vib_sma_get_switch_info(struct vib_sma_req *req)
{
	struct switch_info *info = (struct switch_info *)req->data;
	struct vib_switch *sw = req_switch(req);

	info->linear_cap = cpu_to_be16(VIB_LID_MCAST);
	info->mcast_cap = cpu_to_be16(VIB_MFT_SIZE);
	info->enforcement_cap = cpu_to_be16(sw->node.pkeys);
	info->caps = ENFORCEMENT_IN_CAP | ENFORCEMENT_OUT_CAP;
	spin_lock_bh(&sw->lock);
	info->linear_top = cpu_to_be16(sw->lft_top);
	info->mcast_primary = sw->mcast_primary;
	info->mcast_secondary = sw->mcast_secondary;
	info->life_change_sl2vl = sw->life << 3;
	if (READ_ONCE(sw->port_changed))
		info->life_change_sl2vl |= PORT_STATE_CHANGE;
	spin_unlock_bh(&sw->lock);
	return 0;
}

/* Writing 1 to PortStateChange clears it. */
u16 vib_sma_set_switch_info(struct vib_sma_req *req)
{
	const struct switch_info *new = (const struct switch_info *)req->smp->data;
	struct vib_switch *sw = req_switch(req);
	u16 top = be16_to_cpu(new->linear_top);

	if (top >= VIB_LID_MCAST)
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	spin_lock_bh(&sw->lock);
	WRITE_ONCE(sw->lft_top, top);
	sw->mcast_primary = new->mcast_primary;
	sw->mcast_secondary = new->mcast_secondary;
	sw->life = new->life_change_sl2vl >> 3;
	if (new->life_change_sl2vl & PORT_STATE_CHANGE)
		WRITE_ONCE(sw->port_changed, false);
	spin_unlock_bh(&sw->lock);
	return 0;
}

/* ---- LinearForwardingTable: the modifier is the number of a block of 64 LIDs ---- */

/* The ports of the block, or NULL. */
static u8 *lft_block(const struct vib_sma_req *req)
{
	BUILD_BUG_ON(VIB_LFT_BLOCK != IB_SMP_DATA_SIZE);
	if (req->mod >= VIB_LID_MCAST / VIB_LFT_BLOCK)
		return NULL;
	return req_switch(req)->lft + req->mod * VIB_LFT_BLOCK;
}

u16 vib_sma_get_lft(struct vib_sma_req *req)
{
	const u8 *block = lft_block(req);
	unsigned int i;

	if (!block)
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	for (i = 0; i < VIB_LFT_BLOCK; i++)
		req->data[i] = READ_ONCE(block[i]);
	return 0;
}

/* Any number is stored: packets for a port that does not exist are discarded (18.2.4.3). */
u16 vib_sma_set_lft(struct vib_sma_req *req)
{
	struct vib_switch *sw = req_switch(req);
	u8 *block = lft_block(req);
	unsigned int i;

	if (!block)
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	spin_lock_bh(&sw->lock);
	for (i = 0; i < VIB_LFT_BLOCK; i++)
		WRITE_ONCE(block[i], req->smp->data[i]);
	spin_unlock_bh(&sw->lock);
	return 0;
}

/*
 * ---- MulticastForwardingTable: which 16 ports in the modifier's upper 4 bits, a block of
 * 32 LIDs in the lower 9 ----
 */

struct mft_block {
	unsigned long *first;		/* the word of the block's first LID */
	unsigned int shift;		/* of the 16 ports in it */
	unsigned long ports;		/* those of the 16 that exist */
};

static bool mft_block(const struct vib_sma_req *req, struct mft_block *block)
{
	unsigned int position = req->mod >> 28, lids = req->mod & 0x1ff;
	unsigned int bit = position * MFT_PORTS;
	struct vib_switch *sw = req_switch(req);

	if (bit > sw->node.num_ports || lids >= VIB_MFT_SIZE / VIB_MFT_BLOCK)
		return false;
	block->first = sw->mft + lids * VIB_MFT_BLOCK * sw->mft_longs + BIT_WORD(bit);
	block->shift = bit % BITS_PER_LONG;
	block->ports = GENMASK(min(sw->node.num_ports - bit, MFT_PORTS - 1), 0);
	return true;
}

u16 vib_sma_get_mft(struct vib_sma_req *req)
{
	struct vib_switch *sw = req_switch(req);
	__be16 *to = (__be16 *)req->data;
	struct mft_block block;
	unsigned int i;
	u16 ports;

	if (!mft_block(req, &block))
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	for (i = 0; i < VIB_MFT_BLOCK; i++) {
		ports = READ_ONCE(block.first[i * sw->mft_longs]) >> block.shift;
		to[i] = cpu_to_be16(ports);
	}
	return 0;
}

u16 vib_sma_set_mft(struct vib_sma_req *req)
{
	const __be16 *from = (const __be16 *)req->smp->data;
	struct vib_switch *sw = req_switch(req);
	unsigned long *word, ports;
	struct mft_block block;
	unsigned int i;

	if (!mft_block(req, &block))
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	spin_lock_bh(&sw->lock);
	for (i = 0; i < VIB_MFT_BLOCK; i++) {
		word = &block.first[i * sw->mft_longs];
		ports = be16_to_cpu(from[i]) & block.ports;
		/* One write: packets never miss a port that stays in the mask. */
		WRITE_ONCE(*word, (*word & ~(0xffffUL << block.shift)) | ports << block.shift);
	}
	spin_unlock_bh(&sw->lock);
	return 0;
}
