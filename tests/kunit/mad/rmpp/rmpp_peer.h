/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_RMPP_PEER_H
#define IBEX_RMPP_PEER_H

/*
 * An agent with RMPP on one adapter; the other end of the wire has no agent.  The test
 * itself injects each segment, and sees what the agent sends.
 */
#include "mad/mad_test.h"

#define PEER_CLASS	IB_MGMT_CLASS_VENDOR_RANGE2_START
#define PEER_SEG_BYTES	(IB_MGMT_MAD_SIZE - IB_MGMT_VENDOR_HDR)
#define PEER_CLASS_LEN	(IB_MGMT_VENDOR_HDR - IB_MGMT_RMPP_HDR)

#define FIRST		IB_MGMT_RMPP_FLAG_FIRST
#define LAST		IB_MGMT_RMPP_FLAG_LAST

/* A MAD that the test injects. */
struct peer_mad {
	u32 tid;
	u32 seg;
	u32 paylen_newwin;
	u8 flags;			/* besides ACTIVE */
	u8 type;			/* 0: DATA */
	u8 status;
	u8 version;			/* 0: the valid one */
	u8 method;			/* 0: Send */
	u8 mgmt_class;			/* 0: the agent's */
	u64 whole_tid;			/* instead of tid */
	u16 slid;			/* 0: that of the other adapter */
};

/* What the adapter sent, by RMPP type, and the last of each. */
struct peer_seen {
	atomic_t data, acks, stops, aborts;
	atomic_t again;			/* DATA segments sent again */
	u32 data_seg, ack_seg, ack_window;
	u8 ack_method;
	u8 abort_status, stop_status;
	u64 tid;			/* of the last MAD of any type */
};

/* What the agent's client got. */
struct peer_client {
	atomic_t sent, received;
	enum ib_wc_status status;
	u32 vendor_err;
	int mad_len, segments;
	bool matched;			/* it is the response to a request */
	unsigned int sleep_ms;		/* time that the receive handler takes */
};

extern struct fake_hca *peer_hca;
extern struct ib_mad_agent *peer_agent;
extern struct ib_ah *peer_ah;
extern struct peer_seen peer_seen;
extern struct peer_client peer_client;
extern int peer_fail_nth;		/* fails in receiving the next MAD */

int peer_test_init(struct kunit *test);
void peer_test_exit(struct kunit *test);
/* Like peer_test_init(), with an agent of another class. */
int peer_init(u8 mgmt_class);
/* Injects a MAD and waits until it has been processed. */
void peer_send(const struct peer_mad *mad);
/* Injects a MAD and does not wait. */
void peer_push(const struct peer_mad *mad);
void peer_quiesce(void);
struct ib_mad_send_buf *peer_request(u8 method, int rmpp, int len, u32 timeout_ms,
				     int retries);
int peer_post(u8 method, int rmpp, int len, u32 timeout_ms, int retries);
u64 peer_counter(enum ibmad_counter counter);
long peer_bytes(void);			/* held by the agent */
unsigned int peer_reassemblies(void);

#endif
