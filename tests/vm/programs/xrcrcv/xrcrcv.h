/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef XRCRCV_H
#define XRCRCV_H

/* Processes that receive through a QP of an XRC domain, which one of them had made. */
#include <stdbool.h>
#include <infiniband/ibex.h>

#define DOMAIN_FILE	"/run/xrcrcv.domain"
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
	struct ibv_qp *qp;		/* of the sender, and of the creator in legacy mode */
	char *buf;
	__u32 lid;
};

/* Prints why and ends the process with status 2: the test could not be made. */
void give_up(const char *format, ...);
#define MUST(cond)	do { if (!(cond)) give_up("%s", #cond); } while (0)

/* verbs.c */
void open_device(struct end *e, const char *name);
void open_domain(struct end *e);
void open_receiver(struct end *e);	/* with an SRQ on which DEPTH receives are posted */
void open_sender(struct end *e);
void post_recv(struct end *e, __u64 id);
void connect_sender(struct end *e, __u32 qpn, __u32 lid);
/* Posts a send of message @number to SRQ @srqn; returns its completion's status. */
enum ibv_wc_status send_message(struct end *e, __u32 srqn, __u64 number);
/* What a receive QP for sender @qpn at @lid needs, and its mask. */
int receiver_attr(struct ibv_qp_attr *attr, __u32 qpn, __u32 lid);
/* Returns the number of the new QP. */
__u32 make_by_domain(struct end *e, __u32 qpn, __u32 lid);
__u32 make_legacy(struct end *e, __u32 qpn, __u32 lid);

/* errors.c, race.c */
int check_errors(const char *device);
int many(const char *device, int number);
int race(const char *device, int seconds, int processes);

#endif
