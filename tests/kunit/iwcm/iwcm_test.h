/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_IWCM_TEST_H
#define IBEX_IWCM_TEST_H

/*
 * One fake iWARP adapter with a QP.  The test is the provider: it sets what the verbs
 * do and return, and reports events with iw_report().
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include "fake_hca.h"
#include "iwcm/iwcm.h"

#define IW_MANY		40

struct iw_test {
	struct net_device *ndev;
	struct fake_hca *hca;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;

	/* The consumer */
	struct iw_cm_id *id;		/* the connection's, made by iw_id() or a request */
	struct iw_cm_id *listener;
	struct iw_cm_id *requests[IW_MANY];	/* the ids of all requests */
	int nr_requests;
	int on_request;			/* the handler's result for each */
	char destroy_on;		/* letter of an event */
	char fail_on;			/* likewise: the handler returns an error */
	bool slow;			/* the handler sleeps first */
	bool in_handler;
	atomic_t nr_events;
	char events[64];		/* a letter each, see iw_letter() */
	struct iw_cm_event last;
	u8 private_data[256];		/* of the last event */

	/* The provider */
	void (*during[FAKE_IW_VERBS])(struct iw_cm_id *cm_id);
	int answer[FAKE_IW_VERBS];
	struct iw_cm_id *held;		/* that the provider has a reference on */
	u32 qpn, ord, ird;		/* of the last connect or accept */
	u8 sent[256];			/* private data of the last verb */
	u16 sent_len;
	int seen;			/* set by a callback in during[] */
};

extern struct iw_test it;

int iw_init(struct kunit *test);
void iw_exit(struct kunit *test);
struct iw_cm_id *iw_id(void);
int iw_connect_id(struct iw_cm_id *cm_id);
int iw_accept_id(struct iw_cm_id *cm_id);
/* A provider's report, with private data if @data is not NULL. */
int iw_report(struct iw_cm_id *cm_id, enum iw_cm_event_type type, int status,
	      const char *data);
int iw_request(const char *data);
void iw_let_go(void);		/* drops the provider's reference */
bool iw_wait(const char *events);
void iw_forget(void);
void iw_quiesce(void);
int iw_listen_on(int backlog);
int iw_calls(enum fake_iw_verb verb);
enum ib_qp_state iw_qp_state(void);
int iw_qp_refs(void);
/* Brings it.id into @state, and asserts that. */
void iw_be(struct kunit *test, enum iwcm_state state);

/* Returns the references to the iWARP CM's module: its users', and one of each id. */
int iw_alive(void);

/* context.c */
enum iw_context { IW_PROCESS, IW_SOFTIRQ, IW_HARDIRQ, IW_CONTEXTS };

extern const char * const iw_context_names[IW_CONTEXTS];

/* A report that is made later; the caller sets cm_id, type, status and data. */
struct iw_reporter {
	struct timer_list soft;
	struct hrtimer hard;
	struct completion done;
	struct iw_cm_id *cm_id;
	enum iw_cm_event_type type;
	int status;
	const char *data;
	int ret;
	bool in_context;		/* the context was the right one */
};

void iw_reporter_init(struct iw_reporter *reporter);
void iw_reporter_start(struct iw_reporter *reporter, enum iw_context from,
		       unsigned int us);
void iw_reporter_stop(struct iw_reporter *reporter);
/* Makes a report from a context, waits for it, and returns its result. */
int iw_report_in(struct kunit *test, enum iw_context from, struct iw_cm_id *cm_id,
		 enum iw_cm_event_type type, int status);

#endif
