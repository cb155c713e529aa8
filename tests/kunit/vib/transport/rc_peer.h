/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_RC_PEER_H
#define VIB_RC_PEER_H

/*
 * A connected QP of adapter a whose peer the suite itself is: what the QP sends is kept for
 * the suite to look at, packet by packet, and what it gets is what the suite sends.
 */
#include "../device/hca_pair.h"
#include "requester/requester.h"

#define PEER_QPN	0x123456
#define PEER_PSN	0xfffffe	/* the third packet has PSN 0 */
#define PEER_RQ_PSN	0x777
#define PEER_MTU	256
#define PEER_RKEY	0x8001
#define PEER_ADDR	0x1000000

/* A PSN of the QP's, counted from its first. */
#define PSN(n)		vib_psn_add(PEER_PSN, n)

/* Of the attributes; zeroes are zeroes but where something else is said. */
struct rc_want {
	enum ib_qp_type type;	/* RC */
	u8 timeout, retry_cnt, rnr_retry;
	u8 rd_atomic;		/* 2 */
	bool sig_all, grh;
	u32 wr;			/* of each queue: PAIR_MAX_WR */
};

struct rc_peer {
	struct hca_pair *pair;
	struct ib_qp *ib;
	struct vib_qp *qp;
	struct vib_requester *req;
	struct vib_packet *last;	/* that the suite was given */
};

/* What the QP has sent. */
struct rc_seen {
	struct vib_packet *pkt;		/* until the next one is looked at */
	u8 operation;			/* without the transport */
	u32 psn, len;
	bool ack_req, solicited;
};

/* A send request, of which the fields that its opcode has are looked at. */
struct rc_wr {
	enum ib_wr_opcode opcode;
	void *buf;
	u32 len;
	int flags;			/* SIGNALED, unless @silent */
	bool silent;
	u64 wr_id;
	u32 ex;				/* immediate data, or the key to invalidate */
	u64 compare_add, swap;
	u32 rkey;			/* PEER_RKEY */
	int num_sge;			/* 1: of @len; more share it */
};

/* From then on all that comes to b is kept.  Until rc_tap_close(). */
void rc_tap_open(struct hca_pair *pair);
void rc_tap_close(struct hca_pair *pair);

/* A QP in RTS. */
void rc_peer_open(struct kunit *test, struct hca_pair *pair, struct rc_peer *peer,
		  const struct rc_want *want);
void rc_peer_close(struct rc_peer *peer);
/* To RTS, with all attributes that it needs. */
int rc_qp_to_rts(struct hca_pair *pair, struct ib_qp *qp, const struct rc_want *want);
int rc_qp_modify(struct ib_qp *qp, enum ib_qp_state state);

int rc_post(struct rc_peer *peer, const struct rc_wr *wr);
/* Lets the works run dry, then takes the oldest packet that has not been looked at. */
bool rc_seen(struct rc_peer *peer, struct rc_seen *seen);
/* Whether the next packet is @operation with PSN(@n). */
bool rc_saw(struct rc_peer *peer, u8 operation, u32 n);
bool rc_silent(struct rc_peer *peer);

/* Packets to the QP, all with PSN(@n). */
void rc_ack(struct kunit *test, struct rc_peer *peer, u32 n);
void rc_nak(struct kunit *test, struct rc_peer *peer, u32 n, u8 syndrome);
void rc_read_response(struct kunit *test, struct rc_peer *peer, u8 operation, u32 n,
		      const void *data, u32 len);
void rc_atomic_response(struct kunit *test, struct rc_peer *peer, u32 n, u64 value);
/* Any: the AETH if the operation has one, and the value if it is an atomic's. */
struct vib_packet *rc_packet(struct kunit *test, struct rc_peer *peer, u8 operation, u32 n,
			     u32 aeth, u64 value, const void *data, u32 len);
void rc_arrive(struct rc_peer *peer, struct vib_packet *pkt);

/* What the timer is for, as if it were over. */
void rc_expire(struct rc_peer *peer);
u64 rc_events(struct rc_peer *peer, enum vib_rc_event event);

/* A completion of @wr_id with @status is the next; it comes within 5 s. */
bool rc_completed(struct rc_peer *peer, u64 wr_id, enum ib_wc_status status);

#endif
