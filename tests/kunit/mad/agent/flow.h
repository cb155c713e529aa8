/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_FLOW_H
#define IBEX_FLOW_H

/*
 * The pair of mad_test.h with a record of what the asker's requests did.  They are
 * numbered as they are posted; the first 26 have letters.
 */
#include "mad/mad_test.h"

#define FLOW_SENDS	6000

struct flow_record {
	struct mad_pair pair;
	u32 first;			/* the first request's serial */
	unsigned int posted;
	u8 completions[FLOW_SENDS];	/* of each request */
	unsigned int last;		/* the number completed last */
	bool disordered;		/* one was completed before an earlier one */
	char wire[64];			/* letters of what went out */
	char done[64];			/* of what was completed */
	int peak;			/* most requests without their response */
};

extern struct flow_record flow;

/* With @window requests to a destination. */
int flow_setup(struct kunit *test, unsigned int window);
/* Undoes it all, and all tests' changes to the window. */
void flow_teardown(void);
void flow_unregister(void);

/* Posts a request to the server, or to @ah; its number, unless it failed, is next. */
struct ib_mad_send_buf *flow_post(struct kunit *test, int timeout_ms, int retries);
struct ib_mad_send_buf *flow_post_to(struct kunit *test, struct ib_ah *ah,
				     int timeout_ms, int retries);
void flow_post_many(struct kunit *test, int n, int timeout_ms, int retries);
struct ib_ah *flow_ah(u16 dlid);

/* The asker's sends in @state; the references on its agent; its destinations. */
int flow_in_state(enum ibmad_send_state state);
unsigned int flow_refs(void);
int flow_known(void);
static inline u64 flow_count(enum ibmad_counter counter)
{
	return mad_counter(flow.pair.asker.agent, counter);
}

/* That each request was completed once. */
void flow_expect_all_done(struct kunit *test);

#endif
