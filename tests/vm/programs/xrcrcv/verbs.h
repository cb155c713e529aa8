/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef XRC_VERBS_H
#define XRC_VERBS_H

/* The verbs of each end; for other programs, too. */
#include <stdbool.h>
#include <infiniband/ibex.h>

#define DEPTH		64		/* receives posted */
#define MSG_SIZE	64
#define FIRST_PSN	0x123

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_xrcd *xrcd;		/* of receivers */
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_srq *srq;		/* of the receiver */
	struct ibv_qp *qp;		/* of the sender */
	char *buf;
	__u32 lid;
};

void open_device(struct end *e, const char *name);
void open_domain(struct end *e, const char *file);
/* With the domain of @file and an SRQ on which DEPTH receives are posted. */
void open_receiver(struct end *e, const char *file);
void open_sender(struct end *e);
/* It gives up on a peer after four timeouts, each of 4 us << @timeout. */
void connect_sender(struct end *e, __u32 qpn, __u32 lid, int timeout);
/* Posts a send of message @number to SRQ @srqn; one at a time. */
void post_message(struct end *e, __u32 srqn, __u64 number);
/* Sets *@status to that of the send that was posted; false: it is still on its way. */
bool message_sent(struct end *e, enum ibv_wc_status *status);
/* Both; waits. */
enum ibv_wc_status send_message(struct end *e, __u32 srqn, __u64 number);
/* Sets *@number to that of the next message, whose receive is posted again; false: none. */
bool take_message(struct end *e, __u64 *number);

/* What a receive QP for sender @qpn at @lid needs, and its mask. */
int receiver_attr(struct ibv_qp_attr *attr, __u32 qpn, __u32 lid);
/* Returns the number of the new QP. */
__u32 make_by_domain(struct end *e, __u32 qpn, __u32 lid);
/* As mainline has it: a QP of the process, and of those that open it. */
__u32 make_legacy(struct end *e, __u32 qpn, __u32 lid);
void open_legacy(struct end *e, __u32 qpn);

#endif
