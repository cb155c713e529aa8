/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_FAULT_H
#define VIB_FAULT_H

/*
 * Faults of a link, which an administrator asks for: packets that are lost, come twice, come
 * damaged, or come late.  They strike both directions and all VLs, VL15 too, after a packet
 * has left its transmitter and before it is in the buffer at the other end.
 *
 * Which packets they strike is decided by the seed, the port that sends, and the number of
 * the packet: the same seed strikes the same packets again.  All packets are counted for that,
 * or, if MADs are chosen, those alone.
 */
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct vib_packet;
struct vib_port;
struct vib_tx;

enum vib_fault_kind {
	VIB_FAULT_DROP,		/* lost */
	VIB_FAULT_DUP,		/* arrives twice; the second holds no credits */
	VIB_FAULT_CORRUPT,	/* arrives with a wrong CRC; a duplicate of it is intact */
	VIB_FAULT_KINDS
};

#define VIB_FAULT_ALL		1000000	/* the rate, in a million, that strikes each packet */
#define VIB_FAULT_MAX_DELAY	(10 * USEC_PER_SEC)

/* MADs, by their management class and attribute ID; attribute 0 is any. */
#define VIB_FAULT_MATCH(class, attr)	((u32)(class) << 16 | (attr))
#define VIB_FAULT_MATCH_MAX		VIB_FAULT_MATCH(0xff, 0xffff)

/* One direction. */
struct vib_fault_way {
	struct vib_fault *fault;
	struct vib_tx *tx;		/* that sends this way; NULL: in no port.  lock */
	u64 number;			/* of the next to strike, since the seed was set; lock */
	u64 struck[VIB_FAULT_KINDS];	/* packets; lock */
	struct list_head late;		/* packets, in the order they were sent; lock */
	bool arriving;			/* one of them is being handed over; lock */
	struct hrtimer timer;		/* armed while @late is not empty: queues @work */
	struct work_struct work;	/* hands over what is due */
};

struct vib_fault {
	spinlock_t lock;		/* bottom halves off; no other lock is taken under it */
	u32 rate[VIB_FAULT_KINDS];	/* packets in a million; lock */
	u32 match;			/* VIB_FAULT_MATCH(): whom rates strike; 0: all.  lock */
	u32 delay;			/* us, of all packets; lock */
	u64 seed;			/* lock */
	struct vib_fault_way way[2];	/* from end 0 and from end 1 of the link */
};

/* No faults, seed 0. */
void vib_fault_init(struct vib_fault *fault);
/*
 * Both take effect on packets that are sent from now on; a shorter delay on those that are
 * late already, too, which stay in order.  -ERANGE.  Process context.
 */
int vib_fault_set_rate(struct vib_fault *fault, enum vib_fault_kind kind, u32 rate);
int vib_fault_set_delay(struct vib_fault *fault, u32 us);
/* The rates are for such MADs alone, or for all packets again.  -EINVAL without a class. */
int vib_fault_set_match(struct vib_fault *fault, u32 match);
/* The packets of both directions are counted from 0 again. */
void vib_fault_set_seed(struct vib_fault *fault, u64 seed);
/* How many packets @kind has struck, in both directions. */
u64 vib_fault_struck(struct vib_fault *fault, enum vib_fault_kind kind);

/* ---- link.c, under fabric->lock ---- */

/* The link has been plugged into the ports of @a and @b. */
void vib_fault_plug(struct vib_fault *fault, struct vib_tx *a, struct vib_tx *b);
/* The link is down, and whoever saw it up has gone on: what is late is lost. */
void vib_fault_reset(struct vib_fault *fault);
/* The link, which is down, is taken from its ports. */
void vib_fault_unplug(struct vib_fault *fault);
/* After vib_fault_unplug(), without a lock: may sleep. */
void vib_fault_stop(struct vib_fault *fault);

/* ---- tx.c ---- */

/*
 * @pkt, which holds its credits, goes this way to @peer, which is its end.  Consumes @pkt.
 * Softirq or with bottom halves off, under RCU, as @peer was found.
 */
void vib_fault_send(struct vib_fault_way *way, struct vib_port *peer, struct vib_packet *pkt);

#endif
