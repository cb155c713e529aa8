/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_FLOW_H
#define IBEX_FLOW_H

/*
 * The pair of mad_test.h, with a record of the asker's requests.  Requests are numbered
 * in the order in which they are posted; the first 26 have letters.
 */
#include "mad/mad_test.h"

#define FLOW_SENDS	6000

struct flow_record {
	struct mad_pair pair;
	u32 first;			/* serial number of the first request */
	unsigned int posted;
	u8 completions[FLOW_SENDS];	/* of each request */
	unsigned int last;		/* the number completed last */
	bool disordered;		/* one was completed before an earlier one */
	char wire[64];			/* letters of the requests sent */
	char done[64];			/* letters of those completed */
	int peak;			/* most requests without their response */
};

extern struct flow_record flow;

/* Allows @window requests to a destination at a time. */
int flow_setup(struct kunit *test, unsigned int window);
/* Undoes flow_setup() and the changes of tests to the window. */
void flow_teardown(void);
void flow_unregister(void);

/* Posts a request to the server, or to @ah; if that succeeds it gets the next number. */
struct ib_mad_send_buf *flow_post(struct kunit *test, int timeout_ms, int retries);
struct ib_mad_send_buf *flow_post_to(struct kunit *test, struct ib_ah *ah,
				     int timeout_ms, int retries);
void flow_post_many(struct kunit *test, int n, int timeout_ms, int retries);
struct ib_ah *flow_ah(u16 dlid);

/*
 * The number of the asker's sends in @state, of references on
 * its agent, of destinations it knows.
 */
int flow_in_state(enum ibmad_send_state state);
unsigned int flow_refs(void);
int flow_known(void);
static inline u64 flow_count(enum ibmad_counter counter)
{
	return mad_counter(flow.pair.asker.agent, counter);
}

/* Expects that each request was completed once. */
void flow_expect_all_done(struct kunit *test);

#endif
