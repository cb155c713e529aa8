// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The CRCs of a packet on the wire (IBA vol. 1, 7.8).  Both take the bits of each byte from
 * the lowest on, begin with all ones, and are sent inverted, lowest byte first.
 */
#include <linux/crc32.h>
#include <linux/string.h>
#include <rdma/ib_pack.h>
#include "capture/capture.h"

/* ---- ICRC: of what no switch and no router changes (7.8.1) ---- */

#define MASKED_LEN	(IB_LRH_BYTES + IB_GRH_BYTES + IB_BTH_BYTES)

/* The byte of the BTH that is reserved for what switches may change. */
#define BTH_RESV8A	4

/* In the GRH: traffic class and flow label share its first word with the version. */
#define GRH_HOP_LIMIT	7

/* What may change on the way counts as ones: the VL, and with a GRH all of the LRH. */
static void mask_variant(u8 *hdr, bool grh)
{
	if (!grh) {
		hdr[0] |= 0xf0;
		hdr[IB_LRH_BYTES + BTH_RESV8A] = 0xff;
		return;
	}
	memset(hdr, 0xff, IB_LRH_BYTES);
	hdr += IB_LRH_BYTES;
	hdr[0] |= 0x0f;
	memset(hdr + 1, 0xff, 3);
	hdr[GRH_HOP_LIMIT] = 0xff;
	hdr[IB_GRH_BYTES + BTH_RESV8A] = 0xff;
}

u32 vib_icrc(const u8 *packet, u32 len)
{
	bool grh = (packet[1] & 3) == IB_LNH_IBA_GLOBAL;
	u32 masked = min_t(u32, len, MASKED_LEN), crc;
	u8 hdr[MASKED_LEN] = {};

	/* A malformed packet may be shorter than what is masked. */
	memcpy(hdr, packet, masked);
	mask_variant(hdr, grh);
	crc = crc32_le(~0, hdr, masked);
	return ~crc32_le(crc, packet + masked, len - masked);
}

/* ---- VCRC: of all, the ICRC too (7.8.2) ---- */

/* x^16 + x^12 + x^3 + x + 1, by half bytes, lowest bit first */
static const u16 vcrc_table[16] = {
	0x0000, 0x1a01, 0x3402, 0x2e03, 0x6804, 0x7205, 0x5c06, 0x4607,
	0xd008, 0xca09, 0xe40a, 0xfe0b, 0xb80c, 0xa20d, 0x8c0e, 0x960f,
};

u16 vib_vcrc(const u8 *packet, u32 len)
{
	u16 crc = ~0;

	while (len--) {
		crc ^= *packet++;
		crc = crc >> 4 ^ vcrc_table[crc & 0xf];
		crc = crc >> 4 ^ vcrc_table[crc & 0xf];
	}
	return ~crc;
}
