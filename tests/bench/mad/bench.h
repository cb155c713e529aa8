/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_BENCH_MAD_H
#define IBEX_BENCH_MAD_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>
#include "../instant/instant.h"

#define BENCH_STANDING	50000	/* most requests outstanding */
#define BENCH_BATCH	64	/* most requests of a measured batch */
#define BENCH_REPS	1024	/* most repetitions of one measurement */
#define BENCH_LONG_MS	(30 * 60 * 1000)
#define BENCH_PATIENCE	(20 * HZ)

/* ---- peer.c: the two ends ---- */
struct bench {
	struct ib_device *device[2];	/* of the client, of the server */
	struct ib_ah *ah[2];		/* from each to the other */
	struct ib_mad_agent *client;	/* sends requests */
	struct ib_mad_agent *server;	/* answers them */
};

extern struct bench bench;

int bench_open(const char *client, const char *server);
void bench_close(void);
/* Returns a request of the client with a new TID, or an ERR_PTR. */
struct ib_mad_send_buf *bench_request(u8 method, int timeout_ms);
/* Returns the server's response to the MAD at @request, or an ERR_PTR. */
struct ib_mad_send_buf *bench_response(const void *request);
/* Writes the response to @request to @response. */
void bench_answer(void *response, const void *request);

/* ---- standing.c: requests that wait for a response ---- */
/*
 * Handlers for the requests of standing.c: context[0] is set in these, not in rate.c's.
 */
void standing_sent(struct ib_mad_send_buf *buf, enum ib_wc_status status);
void standing_received(struct ib_mad_send_buf *buf);
/* Makes @n requests outstanding; on error those made so far stay outstanding. */
int standing_fill(unsigned int n);
unsigned int standing_count(void);
/* Draws @k different outstanding requests at random: standing_drawn(0) to (@k - 1). */
void standing_draw(unsigned int k);
struct ib_mad_send_buf *standing_drawn(unsigned int i);
/*
 * Replaces the first @k requests, which are complete, by new ones; the caller posts
 * them.
 */
int standing_renew(unsigned int k, int timeout_ms);
int standing_post(unsigned int k);
/* To be called before and after the client agent is unregistered. */
void standing_close(void);
void standing_closed(void);
/* The next @k completions must have @status, and a response each if @answered. */
void standing_expect(unsigned int k, enum ib_wc_status status, bool answered);
int standing_wait(void);
bool standing_none_came(void);
int standing_init(void);
void standing_exit(void);

/* ---- cost.c, rate.c: the measurements ---- */
int cost_run(const char *what, unsigned int k, unsigned int reps,
	     struct bench_result *result);
int rate_run(const char *what, unsigned int window, unsigned int count,
	     unsigned int reps, struct bench_result *result);
void rate_sent(struct ib_mad_send_buf *buf, enum ib_wc_status status);
void rate_request(struct ib_mad_recv_wc *wc);
void rate_answered(struct ib_mad_send_buf *buf);

#endif
