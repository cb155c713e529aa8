/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_TESTS_MAD_H
#define IBEX_TESTS_MAD_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/ib_mad.h>

#define ECHO_CLASS	0x3b		/* vendor range 2: with an OUI, and RMPP */
#define ECHO_VERSION	1
#define ECHO_OUI	{ 0x02, 0x1b, 0xe8 }
#define ECHO_PORT	1

#define MAX_WINDOW	100000
#define MAX_AHS		1024
#define MAX_SIZE	(4 << 20)

/* What is counted; main.c has the names that debugfs shows. */
enum mad_stat {
	MAD_POSTED,		/* requests that ib_post_send_mad() accepted */
	MAD_REFUSED,		/* requests that it refused */
	MAD_COMPLETED,		/* requests that came back to send_handler */
	MAD_SUCCEEDED,		/* of these, IB_WC_SUCCESS */
	MAD_TIMED_OUT,		/* IB_WC_RESP_TIMEOUT_ERR */
	MAD_FLUSHED,		/* IB_WC_WR_FLUSH_ERR */
	MAD_ABORTED,		/* IB_WC_REM_ABORT_ERR */
	MAD_FAILED,		/* any other status */
	MAD_RETRIES,		/* retries that completed requests had used */
	MAD_RESPONSES,		/* responses given to recv_handler with their request */
	MAD_MISMATCHED,		/* of these, not with the requested data */
	MAD_DUPLICATES,		/* a second completion or response of a request */
	MAD_DISORDER,		/* success before the response, or without one */
	MAD_SPURNED,		/* a response, then a completion without success */
	MAD_LATE,		/* handlers called after ib_unregister_mad_agent() */
	MAD_LOST,		/* requests that had not completed by then */
	MAD_STRAY,		/* MADs for the requester that answer no request */
	MAD_HUNG,		/* runs not over within wait_s */
	MAD_SETUP_ERROR,	/* no memory, no address handle, no agent */
	MAD_REQUESTS,		/* requests that the responder received */
	MAD_BAD_REQUESTS,	/* of these, not as they were sent */
	MAD_DROPPED,		/* of these, left unanswered on purpose */
	MAD_ANSWERED,		/* answers posted */
	MAD_ANSWERS_DONE,	/* answers that came back to send_handler */
	MAD_ANSWERS_FAILED,	/* of these, not IB_WC_SUCCESS */
	MAD_REMOVALS,		/* devices removed */
	MAD_NSTATS
};

/* A device that has a responder.  Its requesters hold references. */
struct port {
	struct kref ref;
	struct ib_device *device;	/* valid until the client's remove() */
	struct responder *responder;
	struct list_head link;		/* protected by ports_lock */
	struct mutex lock;
	bool gone;			/* protected by lock */
	struct list_head requesters;	/* protected by lock */
};

/* The content of a request or a response, @length bytes long. */
struct payload {
	u64 cookie;
	u32 length;
	u32 reply;		/* the length of the answer; 0: echo the request */
};

#define PAYLOAD_MIN	16
#define PAYLOAD_MAD	IB_MGMT_VENDOR_DATA	/* fits in one MAD */

enum slot_state {
	SLOT_FREE,
	SLOT_POSTED,
	SLOT_ANSWERED,
};

/* A slot has one request at a time. */
struct slot {
	struct requester *owner;
	struct ib_mad_send_buf *buf;
	struct payload payload;
	atomic_t state;			/* enum slot_state */
};

enum requester_bits {
	REQUESTER_STOPPING,		/* set under lock */
	REQUESTER_STOPPED,		/* its agent is unregistered */
	REQUESTER_STANDING,		/* constant: runs until it is dropped */
};

/* The parameters of requests; an agent keeps those that it was created with. */
struct knobs {
	u32 size;
	u32 reply;
	u32 method;
	u32 timeout_ms;
	u32 retries;
	u32 ahs;
	bool rmpp;
};

/*
 * An agent with a window of requests.  The memory stays after the agent is
 * unregistered, until requesters_forget(), so that a handler that runs too late is
 * counted.
 */
struct requester {
	struct kref ref;
	struct port *port;		/* referenced */
	struct ib_mad_agent *agent;
	struct knobs knobs;
	struct ib_ah **ah;		/* knobs.ahs, some of them may be NULL */
	unsigned long bits;		/* enum requester_bits, atomic */
	struct mutex lock;		/* serialises requester_begin() and stopping */
	atomic64_t left;		/* requests not yet posted */
	atomic_t active;		/* busy slots, and requester_begin() */
	struct completion idle;		/* active fell to 0 */
	struct completion stopped;
	struct list_head link;		/* port->requesters; its lock */
	struct list_head retired_link;	/* protected by retired_lock */
	unsigned int window;
	struct slot *slots;		/* not used once stopped */
};

extern atomic_t mad_stats[MAD_NSTATS];
extern atomic_t mad_live;		/* requesters with an agent */
extern atomic_t mad_stop_us;		/* the longest ib_unregister_mad_agent() */
extern atomic_t mad_remove_us;		/* the longest removal of a device */

/* knobs of debugfs */
extern struct knobs mad_knobs;
extern u32 mad_linger_us;
extern u32 mad_wait_s;
extern u32 mad_drop_every;
extern u32 mad_silent;
extern u32 mad_delay_ms;

static inline void mad_count(enum mad_stat stat)
{
	atomic_inc(&mad_stats[stat]);
}

/* main.c */
void mad_note_longest(atomic_t *longest, ktime_t start);

/* payload.c */
u64 payload_cookie(void);
bool payload_fits(const struct payload *payload);
void payload_fill(struct ib_mad_send_buf *buf, const struct payload *payload);
void payload_copy(struct ib_mad_send_buf *buf, struct ib_mad_recv_wc *from,
		  const struct payload *payload);
bool payload_get(struct ib_mad_recv_wc *wc, struct payload *payload);
bool payload_good(struct ib_mad_recv_wc *wc, const struct payload *payload);
bool mad_is_transfer(struct ib_mad_recv_wc *wc);

/* port.c */
extern struct ib_client mad_client;
struct port *port_find(const char *name);
void port_put(struct port *port);
void ports_drop_standing(void);

/* responder.c */
struct responder *responder_start(struct port *port);
void responder_stop(struct responder *responder);

/* requester.c */
struct requester *requester_new(struct port *port, const union ib_gid *peer,
				unsigned int window, s64 count, bool standing);
void requester_begin(struct requester *rq);
void requester_stop(struct requester *rq);
void requester_put(struct requester *rq);
void requesters_forget(void);

/* run.c */
struct order {
	char device[32];
	union ib_gid peer;
	unsigned int count;
	unsigned int window;
};

int run_count(const struct order *order);
int run_standing(const struct order *order);
int run_churn(const struct order *order);

#endif /* IBEX_TESTS_MAD_H */
