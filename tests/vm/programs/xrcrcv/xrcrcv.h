/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef XRCRCV_H
#define XRCRCV_H

/* Processes that receive through a QP of an XRC domain, which one of them had made. */
#include <stdbool.h>
#include <stdint.h>
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
	struct ibv_srq *srq;		/* of the heir */
	struct ibv_qp *qp;		/* of the sender, and of the maker in legacy mode */
	char *buf;
	uint32_t lid;
};

/* Prints why and ends the process with status 2: the test could not be made. */
void give_up(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
#define MUST(cond)	do { if (!(cond)) give_up("%s", #cond); } while (0)

/* verbs.c */
void open_device(struct end *e, const char *name);
void open_domain(struct end *e);
void open_receiver(struct end *e);	/* with an SRQ on which DEPTH receives are posted */
void open_sender(struct end *e);
void post_recv(struct end *e, uint64_t id);
void connect_sender(struct end *e, uint32_t qpn, uint32_t lid);
/* Posts a send of message @number to SRQ @srqn; returns its completion's status. */
enum ibv_wc_status send_message(struct end *e, uint32_t srqn, uint64_t number);
/* What a receive QP for sender @qpn at @lid needs, and its mask. */
int receiver_attr(struct ibv_qp_attr *attr, uint32_t qpn, uint32_t lid);
/* Returns the number of the new QP. */
uint32_t make_by_domain(struct end *e, uint32_t qpn, uint32_t lid);
uint32_t make_legacy(struct end *e, uint32_t qpn, uint32_t lid);

/* errors.c, race.c */
int check_errors(const char *device);
int many(const char *device, int number);
int race(const char *device, int seconds, int processes);

#endif
