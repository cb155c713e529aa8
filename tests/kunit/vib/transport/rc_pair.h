/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_RC_PAIR_H
#define VIB_RC_PAIR_H

/*
 * A connected QP of adapter a as a responder: the suite makes its requests, packet by packet,
 * and looks at its replies (rc_peer.h).  The peer may use the memory of a region.
 */
#include "rc_peer.h"
#include "../memory/region.h"
#include "responder/responder.h"

#define PAIR_PSN	0xfffffc	/* the fifth packet has PSN 0 */
#define PAIR_MTU	256
#define PAIR_RNR_TIMER	12
#define PAIR_BUF	(8 * PAIR_MTU)
#define PAIR_ACCESS	(IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE |	\
			 IB_ACCESS_REMOTE_ATOMIC)

/* A PSN of requests, counted from the first. */
#define RQ(n)		vib_psn_add(PAIR_PSN, n)

struct rc_pair {
	struct hca_pair hca;
	bool tapped;			/* rc_tap_open() */
	struct rc_peer peer;		/* the QP */
	struct vib_responder *resp;	/* of it */
	struct ib_qp *owner;		/* of the region's PD, never connected */
	struct region region;
	u8 *out;			/* PAIR_BUF bytes that requests carry */
	u8 *in;				/* as many, for receive requests */
};

/* Of the QP; zeroes are defaults. */
struct rc_pair_want {
	enum ib_qp_type type;		/* RC */
	bool rtr;			/* stays in RTR; else RTS, but XRC targets */
	int no_access;			/* taken from PAIR_ACCESS */
	u8 rd_atomic;			/* 4 */
	bool no_rd_atomic;		/* 0 instead */
	struct ib_srq *srq;
	struct ib_xrcd *xrcd;
};

/* A request packet, of which the fields that its operation has are looked at. */
struct rc_pair_req {
	u8 operation;			/* without the transport */
	u32 n;				/* the PSN is RQ(n) */
	u32 len;			/* bytes of pair->out, from @from on */
	u32 from;
	bool ack_req, solicited;
	u64 at;				/* offset in the region */
	u32 rkey;			/* the region's */
	u32 dma_len;
	u64 swap_add, compare;
	u32 ex;				/* immediate data, or the key to invalidate */
	u32 srqn;
};

struct rc_pair_reply {
	u8 operation;
	u32 psn, len;
	u8 syndrome;			/* with an AETH */
	u32 msn;
	u64 value;			/* of an atomic */
	struct vib_packet *pkt;		/* until the next one is looked at */
};

/* Two adapters, a region, and no QP yet.  rc_pair_exit() after a failure, too. */
int rc_pair_init(struct kunit *test, struct rc_pair *pair);
void rc_pair_exit(struct rc_pair *pair);
/* The QP, which expects RQ(0). */
void rc_pair_open(struct kunit *test, struct rc_pair *pair, const struct rc_pair_want *want);
void rc_pair_close(struct rc_pair *pair);
/* The QP, which is in RESET, once more. */
int rc_pair_connect(struct rc_pair *pair, const struct rc_pair_want *want);

/* @req as a packet, finished. */
struct vib_packet *rc_pair_packet(struct kunit *test, struct rc_pair *pair,
				  const struct rc_pair_req *req);
/* Has @req arrive, and the QP do what it does then. */
void rc_pair_request(struct kunit *test, struct rc_pair *pair, const struct rc_pair_req *req);
/* While it is held back, the QP takes nothing in, and does nothing else. */
void rc_pair_hold(struct rc_pair *pair);
void rc_pair_release(struct rc_pair *pair);
/* While it is stopped, the port takes no more packets of QPs. */
void rc_pair_stop_port(struct rc_pair *pair);
void rc_pair_start_port(struct rc_pair *pair);

/* Receive request @wr_id of @len bytes at pair->in. */
int rc_pair_recv(struct rc_pair *pair, u64 wr_id, u32 len);
/* The next completion of the QP's, which is there already; all zeroes if there is none. */
struct ib_wc rc_pair_wc(struct rc_pair *pair);

bool rc_pair_reply(struct rc_pair *pair, struct rc_pair_reply *reply);
/* Whether the next reply is an ACK of RQ(@n) with @msn; a NAK of it with @syndrome; none. */
bool rc_pair_acked(struct rc_pair *pair, u32 n, u32 msn);
bool rc_pair_naked(struct rc_pair *pair, u32 n, u8 syndrome);
bool rc_pair_silent(struct rc_pair *pair);

unsigned int rc_pair_events(struct rc_pair *pair, enum ib_event_type type);
u64 rc_pair_dropped(struct rc_pair *pair, enum vib_drop why);
enum ib_qp_state rc_pair_state(struct rc_pair *pair);

#endif
