/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_MAD_RMPP_H
#define IBEX_MAD_RMPP_H

/*
 * What the rmpp_*.c files share (IBA vol. 1, 13.6).
 *
 * Lock order: agent->rmpp_mutex, then agent->lock.  Reassemblies live under the
 * mutex (they are touched in process context alone), transfers being sent under
 * the spinlock, as sends are.
 */
#include "mad.h"

/* The one double-sided method: request and response are transfers (15.2.2). */
#define IBMAD_SA_GET_MULTI	0x14

/* ---- rmpp_send.c ---- */
void ibmad_rmpp_segment_done(struct ibmad_send *seg, enum ib_wc_status status,
			     u32 vendor_err);
unsigned int ibmad_rmpp_send_end(struct ibmad_agent *agent,
				 struct ibmad_send *send,
				 enum ib_wc_status status, u32 vendor_err);
unsigned int ibmad_rmpp_send_timeout(struct ibmad_agent *agent,
				     struct ibmad_send *send);
u8 ibmad_rmpp_send_acked(struct ibmad_agent *agent, struct ibmad_send *send,
			 const struct ib_rmpp_hdr *hdr, unsigned int *puts,
			 bool *turn);

/* ---- rmpp_control.c: ACK, STOP and ABORT MADs ---- */

/* An address handle that control MADs to one peer share. */
struct ibmad_rmpp_ah {
	refcount_t refs;
	struct ib_ah *ah;
};

struct ibmad_rmpp_ah *ibmad_rmpp_ah_create(struct ibmad_agent *agent,
					   const struct ibmad_recv *recv);
void ibmad_rmpp_ah_put(struct ibmad_rmpp_ah *rah);
/* Answers @recv; @rah may be NULL: one is made for this MAD.  May sleep. */
void ibmad_rmpp_send_ack(struct ibmad_agent *agent,
			 const struct ibmad_recv *recv,
			 struct ibmad_rmpp_ah *rah, u32 seg_num, u32 window);
void ibmad_rmpp_send_abort(struct ibmad_agent *agent,
			   const struct ibmad_recv *recv,
			   struct ibmad_rmpp_ah *rah, u8 status);
void ibmad_rmpp_control_done(struct ibmad_send *send);

#endif
