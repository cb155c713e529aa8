/* SPDX-License-Identifier: ((GPL-2.0-only WITH Linux-syscall-note) OR Linux-OpenIB) */
#ifndef VIB_ABI_H
#define VIB_ABI_H

/*
 * What a process and vib share: rings that the process maps, and what the commands of
 * uverbs answer with beside their own fields.
 *
 * A ring has one producer and one consumer.  Both indices are free-running; entry i is at
 * entries + (i & (number - 1)) * size.  The producer writes an entry, then stores tail with
 * release semantics; the consumer stores head likewise when it has read the entry.  vib
 * keeps its own index privately and believes nothing of what it reads here: what a process
 * writes to its rings can harm nobody but itself.
 */
#include <linux/types.h>

#define VIB_ABI_VERSION		1

struct vib_abi_ring {
	__u32 head;		/* entries taken; the consumer's */
	__u32 flags;		/* VIB_RING_*; the consumer's */
	__u32 reserved0[14];	/* a cache line for each side */
	__u32 tail;		/* entries added; the producer's */
	__u32 reserved1[15];
	__u8 entries[];
};

/*
 * Of a receive queue: whoever has stored tail rings the doorbell, IB_USER_VERBS_CMD_POST_RECV
 * without any request, if it then finds this flag set (after a full barrier): the queue pair
 * is in the error state and flushes its requests.
 */
#define VIB_RING_DOORBELL	(1U << 0)

/* How to map a ring: mmap() of the command file. */
struct vib_abi_map {
	__aligned_u64 offset;
	__aligned_u64 length;	/* 0: there is no such ring */
	__u32 entries;		/* a power of two */
	__u32 entry_size;
};

struct vib_alloc_ucontext_resp {
	__u32 max_inline;
	__u32 reserved;
};

struct vib_create_cq_resp {
	struct vib_abi_map ring;	/* of struct vib_abi_cqe; vib produces */
};

/*
 * IB_USER_VERBS_CMD_RESIZE_CQ: the new ring, whose head is 0, has what was left in the old one,
 * as many entries as its tail says.  The process unmaps the old one.  Nobody polls meanwhile.
 */
struct vib_resize_cq_resp {
	struct vib_abi_map ring;
};

struct vib_create_srq_resp {
	struct vib_abi_map ring;	/* of struct vib_abi_recv_wqe; vib consumes */
	__u32 srqn;			/* of XRC */
	__u32 reserved;
};

/*
 * IB_USER_VERBS_CMD_MODIFY_SRQ has no response: the map of a ring of a new size is stored at
 * @map_addr.  It has what was left in the old one, as with a CQ; nobody posts meanwhile.
 */
struct vib_modify_srq_cmd {
	__aligned_u64 map_addr;		/* struct vib_abi_map */
};

/*
 * Requests are sent when the doorbell is rung: IB_USER_VERBS_CMD_POST_SEND without any
 * request.  If vib is at work then, one may be sent as soon as tail is stored.  When the QP
 * enters RESET vib drops all entries without a completion: head becomes tail in both rings.
 */
struct vib_create_qp_resp {
	struct vib_abi_map sq;		/* of vib_abi_ud_wqe (UD), or vib_abi_rc_wqe */
	struct vib_abi_map rq;		/* of vib_abi_recv_wqe; length 0 with an SRQ, or XRC */
};

/* ---- entries ---- */

struct vib_abi_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 lkey;
};

struct vib_abi_recv_wqe {
	__aligned_u64 wr_id;
	__u32 num_sge;
	__u32 reserved;
	struct vib_abi_sge sge[];
};

/* Of a connected queue pair's send queue. */
struct vib_abi_rc_wqe {
	__aligned_u64 wr_id;
	__aligned_u64 addr;		/* remote; BIND_MW: the window's */
	__aligned_u64 compare_add;	/* atomics; BIND_MW: the length */
	__aligned_u64 swap;		/* compare and swap */
	__u32 rkey;			/* remote; LOCAL_INV, BIND_MW: the key it is about */
	__u32 ex;			/* immediate data as it is sent, or the key to invalidate */
	__u32 xrc_srqn;
	__u32 access;			/* BIND_MW: enum ib_uverbs_access_flags */
	__u32 mw_lkey;			/* BIND_MW: of the region */
	__u32 mw_rkey;			/* BIND_MW: that the window had */
	__u32 num_sge;			/* behind the entry; or inline: bytes there */
	__u8 opcode;			/* enum ib_uverbs_wr_opcode */
	__u8 flags;			/* enum ib_send_flags, without IB_SEND_IP_CSUM */
	__u16 reserved;
};

/* An address vector. */
struct vib_abi_av {
	__u16 dlid;
	__u8 port;
	__u8 sl;
	__u8 path_bits;		/* of the source LID, below the LMC */
	__u8 static_rate;
	__u8 grh;		/* whether there is one, of which: */
	__u8 sgid_index;
	__u8 hop_limit;
	__u8 traffic_class;
	__u16 reserved;
	__u32 flow_label;
	__u8 dgid[16];
};

/* Of a datagram queue pair's send queue. */
struct vib_abi_ud_wqe {
	__aligned_u64 wr_id;
	struct vib_abi_av av;
	__u32 remote_qpn;
	__u32 remote_qkey;	/* the highest bit: the queue pair's own is sent (11.4.1.1) */
	__u32 ex;		/* immediate data as it is sent */
	__u32 num_sge;		/* behind the entry; or inline: bytes there */
	__u8 opcode;		/* enum ib_uverbs_wr_opcode */
	__u8 flags;		/* enum ib_send_flags, without IB_SEND_IP_CSUM */
	__u16 reserved0;
	__u32 reserved1;
};

struct vib_abi_cqe {
	__aligned_u64 wr_id;
	__aligned_u64 timestamp;	/* when it was added: nanoseconds of CLOCK_REALTIME */
	__u32 qp_num;
	__u32 byte_len;
	__u32 ex;			/* immediate data as it came, or the key invalidated */
	__u32 src_qp;
	__u32 vendor_err;
	__u16 wc_flags;			/* enum ib_wc_flags: 1 GRH, 2 immediate, 4 invalidate */
	__u16 pkey_index;
	__u16 slid;
	__u8 status;			/* enum ib_wc_status: 0 is success */
	__u8 opcode;			/* enum ib_uverbs_wc_opcode, or 128 and more: receive */
	__u8 sl;
	__u8 dlid_path_bits;
	__u8 reserved[18];
};

#endif
