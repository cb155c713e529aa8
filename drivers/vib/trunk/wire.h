/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_TRUNK_WIRE_H
#define VIB_TRUNK_WIRE_H

/*
 * Messages of trunks, one in each UDP datagram.
 *
 * All begin with struct vib_trunk_hdr.  Each end of a trunk has a session, a random number:
 * messages carry the sender's (from) and the one that the sender has heard from the receiver
 * (to).  An address can be forged; who does not see the trunk's datagrams does not know the
 * sessions.
 *
 *	HELLO	that the end is there, and what its port can do.  Sent in each interval, and
 *		when something changes.
 *	CREDIT	for each VL what was sent and how far the receiver may send, both as totals since
 *		the session began, as FCTBS and FCCL are (IBA vol. 1, 7.9.4): a message that
 *		was lost is made up for by the next.
 *	DATA	a packet: the IB headers from LRH on, then the payload, without pad and CRCs.
 *		UDP's checksum takes the place of VCRC and ICRC.
 *
 * CREDIT and DATA are numbered (seq) from 0 when a pair of sessions begins.
 */
#include <linux/types.h>
#include "fabric/fabric.h"

#define VIB_TRUNK_MAGIC		0x76696274	/* "vibt" */
#define VIB_TRUNK_VERSION	1
#define VIB_TRUNK_PORT		18616		/* UDP, where none is given */
#define VIB_TRUNK_MIN_INTERVAL	10		/* ms */
#define VIB_TRUNK_MAX_INTERVAL	10000

enum vib_trunk_type {
	VIB_TRUNK_HELLO = 1,
	VIB_TRUNK_CREDIT,
	VIB_TRUNK_DATA,
};

/* Flags of a HELLO */
#define VIB_TRUNK_READY		BIT(0)	/* the port polls or is up, and hears the receiver */
#define VIB_TRUNK_LINKED	BIT(1)	/* the link is up at this end */
/* Of a CREDIT */
#define VIB_TRUNK_WANT		BIT(0)	/* packets wait for credits: answer with a CREDIT */

struct vib_trunk_hdr {
	__be32 magic;
	u8 version;
	u8 type;			/* enum vib_trunk_type */
	__be16 flags;
	__be64 from;			/* not 0 */
	__be64 to;			/* 0: has not heard one */
};

struct vib_trunk_hello {
	struct vib_trunk_hdr hdr;
	__be64 guid;			/* of the node */
	u8 port;
	u8 node_type;
	u8 width;			/* as PortInfo has them (14.2.5.6): enabled */
	u8 speed;
	u8 mtu;				/* NeighborMTU's encoding: the most it takes */
	u8 vls;				/* data VLs */
	__be16 interval;		/* ms between HELLOs */
};

struct vib_trunk_credit {
	struct vib_trunk_hdr hdr;
	__be32 seq;
	__be32 reserved;
	__be32 sent[VIB_VLS];		/* blocks of 64 bytes */
	__be32 limit[VIB_VLS];		/* how many the receiver may send */
};

struct vib_trunk_data {
	struct vib_trunk_hdr hdr;
	__be32 seq;
	__be32 total;			/* blocks sent on its VL, with this packet */
	__be16 hdr_len;			/* IB headers, which follow */
	u8 hops;			/* links passed */
	u8 reserved[5];
};

/* The longest message is a packet of the largest MTU. */
#define VIB_TRUNK_MAX_MSG	(sizeof(struct vib_trunk_data) + sizeof(struct ib_header) + \
				 VIB_MAX_MTU)

/* What a HELLO says of the port at the sender's end. */
struct vib_trunk_params {
	u64 guid;
	u8 port;
	u8 node_type;
	u8 width, speed;
	u8 mtu;
	u8 vls;
	u16 interval;
};

/* Where a packet's parts are in a DATA message. */
struct vib_trunk_parts {
	u32 total;
	u8 hops;
	u8 vl;
	u16 hdr_len, len;		/* IB headers, payload */
	u16 hdr_at, at;			/* their offsets */
	u16 blocks;
};

/* A message that was parsed. */
struct vib_trunk_msg {
	u8 type;
	u16 flags;
	u64 from, to;
	u32 seq;
	union {
		struct vib_trunk_params hello;
		struct {
			u32 sent[VIB_VLS], limit[VIB_VLS];
		} credit;
		struct vib_trunk_parts data;
	};
};

/*
 * What is in the @len bytes at @buf, aligned as from kmalloc().  -EBADMSG: something that no
 * trunk sends.
 */
int vib_trunk_parse(const void *buf, size_t len, struct vib_trunk_msg *msg);

/*
 * Write @msg to @buf and return its length.  Of a DATA message only total and seq of @msg are
 * looked at: the rest is @pkt's.
 */
size_t vib_trunk_put(void *buf, const struct vib_trunk_msg *msg);
size_t vib_trunk_put_packet(void *buf, const struct vib_trunk_msg *msg,
			    const struct vib_packet *pkt);

#endif
