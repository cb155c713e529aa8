/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_PACKET_H
#define VIB_PACKET_H

/* Packets: headers in wire form, and a payload that is not copied on its way. */
#include <linux/bvec.h>
#include <linux/ktime.h>
#include <linux/refcount.h>
#include <linux/uio.h>
#include <rdma/ib_hdrs.h>
#include <rdma/ib_pack.h>

#define VIB_MAX_MTU		4096
#define VIB_LID_PERMISSIVE	0xffff
#define VIB_LID_MCAST		0xc000	/* the first multicast LID */
#define VIB_VL_MGMT		15

/*
 * What packets carry: bytes of its own behind the struct (@data), or pages of the sender's
 * memory (@vec) that stay as they are until release() is called.  Shared by the copies of a
 * multicast packet and by the packets of one message.
 */
struct vib_payload {
	refcount_t ref;
	u32 len;			/* bytes */
	u32 nr_vec;
	const struct bio_vec *vec;	/* &own for data[] */
	struct bio_vec own;
	void (*release)(struct vib_payload *payload);	/* softirq or process; NULL: kfree() */
	u8 data[];
};

struct vib_tx;

/*
 * A packet belongs to whoever has the pointer; vib_port_xmit() and a node's receive() take
 * it over.
 */
struct vib_packet {
	struct list_head entry;		/* of the queue it is in */
	/* The transmitter whose credits it holds, with a reference on that one's node */
	struct vib_tx *held;
	u32 held_era;
	u16 held_blocks;
	u8 held_vl;
	u16 blocks;			/* of 64 bytes: what it takes of the next buffer */
	u8 vl;				/* of the next link */
	u8 hops;			/* links passed; see VIB_MAX_HOPS */
	u8 nested;			/* of those, in one chain of calls */
	bool corrupt;			/* by a fault of the link that it is on */
	union {
		unsigned long since;	/* jiffies: in the transmitter's queue that it is in */
		ktime_t due;		/* at the other end of a link with faults */
	};
	u16 hdr_len;			/* from LRH to the last extended header */
	u16 len;			/* of the payload, without pad and ICRC */
	u32 offset;			/* of its part of @payload */
	struct vib_payload *payload;	/* with a reference; NULL if len is 0 */
	struct ib_header hdr;
};

/* A payload of @len bytes in data[], or NULL. */
struct vib_payload *vib_payload_alloc(u32 len, gfp_t gfp);
void vib_payload_put(struct vib_payload *payload);

/* A packet without payload, headers zeroed; or NULL. */
struct vib_packet *vib_packet_alloc(gfp_t gfp);
/* Another with the same headers and payload, which holds no credits; or NULL. */
struct vib_packet *vib_packet_clone(const struct vib_packet *pkt, gfp_t gfp);
/* Both return the credits that it holds.  Process context or softirq. */
void vib_packet_release(struct vib_packet *pkt);
void vib_packet_free(struct vib_packet *pkt);

/* Takes a reference on @payload for its bytes from @offset, @len of them. */
void vib_packet_attach(struct vib_packet *pkt, struct vib_payload *payload, u32 offset,
		       u16 len);
/*
 * Completes the headers: LRH with VL, SL, LIDs and length; pad count of the BTH.  @hdr_len
 * and the payload are set before.
 */
void vib_packet_finish(struct vib_packet *pkt, u8 vl, u8 sl, u16 dlid, u16 slid);
/*
 * Whether the LRH has the right version and length, and the packet the headers of the
 * transport (7.7); and whether version and pad count of the BTH are right (9.2).  There are no
 * raw packets here: whoever has seen to the first may look at the BTH.
 */
bool vib_packet_well_formed(const struct vib_packet *pkt);
bool vib_packet_bth_valid(struct vib_packet *pkt);
/* Version, next header and length of the GRH, which @pkt has (8.3). */
bool vib_packet_grh_valid(const struct vib_packet *pkt);
/* The payload, as a source of copies.  Of a packet without any: nothing. */
void vib_packet_iter(const struct vib_packet *pkt, struct iov_iter *iter);
/* Copies @len bytes from @offset of the payload; false if it has not so many. */
bool vib_packet_read(const struct vib_packet *pkt, u32 offset, void *to, u32 len);

static inline bool vib_packet_has_grh(const struct vib_packet *pkt)
{
	return ib_get_lnh((struct ib_header *)&pkt->hdr) == IB_LNH_IBA_GLOBAL;
}

static inline struct ib_other_headers *vib_packet_bth(struct vib_packet *pkt)
{
	return vib_packet_has_grh(pkt) ? &pkt->hdr.u.l.oth : &pkt->hdr.u.oth;
}

static inline u16 vib_packet_dlid(const struct vib_packet *pkt)
{
	return be16_to_cpu(pkt->hdr.lrh[1]);
}

static inline u16 vib_packet_slid(const struct vib_packet *pkt)
{
	return be16_to_cpu(pkt->hdr.lrh[3]);
}

static inline u8 vib_packet_sl(const struct vib_packet *pkt)
{
	return be16_to_cpu(pkt->hdr.lrh[0]) >> 4 & 0xf;
}

/* Bytes from LRH to ICRC: what the link carries but for the VCRC. */
static inline u32 vib_packet_wire_len(const struct vib_packet *pkt)
{
	return pkt->hdr_len + ALIGN(pkt->len, 4) + IB_ICRC_BYTES;
}

/* What @wire_len bytes take of a buffer: credits count the VCRC too (7.9.4.3). */
static inline u16 vib_blocks(u32 wire_len)
{
	return DIV_ROUND_UP(wire_len + 2, 64);
}

#endif
