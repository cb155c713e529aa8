/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_CM_TEST_H
#define IBEX_CM_TEST_H

/*
 * Two fake adapters; the client's id requests a connection from the server's listener.
 * The test chooses what each side's handler does on an event.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include "fake_hca.h"
#include "messages/messages.h"

#define TEST_SERVICE	cpu_to_be64(0x100000000000acULL)

#define CM_MAX_AH	16	/* address handles that an adapter has */

/* The IPv4 addresses of RoCE adapters. */
#define CLIENT_IP	0x0a4d0201
#define SERVER_IP	0x0a4d0202

/* The timeouts of cm_request(), in exponents of 4.096 us. */
#define TEST_RESPONSE	14	/* 68 ms */
#define TEST_LIFE	10	/* 5 ms */
#define TEST_RETRIES	3
/* One try of the client: the response timeout, and the packet lifetime both ways. */
#define CLIENT_TRY_MS	(68 + 2 * 5)
/*
 * One try of the server.  It derives the packet lifetime from the REQ's ACK timeout, in
 * which the adapter's ACK delay of 15 dominates: the exponent is 14, 68 ms.
 */
#define SERVER_TRY_MS	(68 + 2 * 68)
#define TIMEWAIT_MS	135	/* the ACK timeout, 15 */

enum cm_answer { CM_WAIT, CM_GO_ON, CM_REJECT, CM_MRA, CM_FAIL, CM_DESTROY };

struct cm_side {
	struct net_device *ndev;	/* RoCE */
	struct fake_hca *hca;
	int idle_ahs;			/* address handles without a connection */
	struct ib_cm_id *id;		/* the connection's */
	struct ib_cm_id *listener;
	u32 qpn;
	enum cm_answer on_req, on_rep, on_dreq, on_lap;
	int (*answer_lap)(struct cm_side *side);	/* in place of @on_lap */
	char destroy_on;		/* letter of an event */
	char fail_on;			/* likewise: the handler returns an error */
	bool destroyed;			/* by its handler */
	bool told_after;		/* an event came after @destroyed */
	unsigned int slow_ms;		/* the handler sleeps before it returns */
	bool in_handler;

	void (*tune_rep)(struct ib_cm_rep_param *rep);	/* of cm_reply() */
	struct sa_path_rec path[2];	/* of the last REQ; [1]: or LAP */

	atomic_t nr_events;
	char events[64];		/* a letter each, see cm_letter() */
	unsigned long when;		/* jiffies of the last */
	int call;			/* the result of the last call in a handler */
	u8 private_data[256];		/* of the last message */
	struct ib_cm_event last;

	/*
	 * The messages that its adapter sends, by kind; @drop is how many to drop, -1
	 * for all.
	 */
	atomic_t wire[IBCM_KINDS];
	u8 mad[IBCM_KINDS][IB_MGMT_MAD_SIZE];	/* the last of each kind */
	u32 wire_port;			/* the port that sent the last */
	int drop[IBCM_KINDS];
	u16 duplicate, hold;		/* masks of kinds */
};

/* How far the two sides go, and the states that their ids are in then. */
enum cm_stage {
	REQ_HELD, REQ_SEEN, MRA_OF_REQ, REP_HELD, REP_SEEN, MRA_OF_REP, RTU_HELD,
	CONNECTED, DREQ_HELD, DREQ_SEEN, DREP_HELD, RELEASED, CM_STAGES
};

struct cm_stage_states {
	enum ib_cm_state client, server;	/* server: IDLE, it has no id yet */
};

extern const struct cm_stage_states cm_stage_states[CM_STAGES];

struct cm_pair {
	struct cm_side client, server;
	bool roce;
	u32 ports;
	/* A test's changes to what cm_request() sends. */
	void (*tune_req)(struct cm_pair *pair, struct ib_cm_req_param *req);
};

int cm_pair_init(struct kunit *test, struct cm_pair *pair);
int cm_pair_init_ports(struct kunit *test, struct cm_pair *pair, u32 ports);
int cm_pair_init_roce(struct kunit *test, struct cm_pair *pair);
/* Port 1 has a netdev; the caller adds those of the other ports. */
int cm_pair_init_roce_ports(struct kunit *test, struct cm_pair *pair, u32 ports);
void cm_pair_exit(struct cm_pair *pair);
int cm_listen(struct cm_side *server);
int cm_request(struct cm_pair *pair);
int cm_reply(struct cm_side *server);
int cm_resolve(struct cm_pair *pair);
int cm_sidr_reply(struct cm_side *server);
/* Waits until the side's events are @events exactly; a minute of virtual time. */
bool cm_wait(struct cm_side *side, const char *events);
void cm_quiesce(struct cm_pair *pair);
int cm_go_to(struct cm_pair *pair, enum cm_stage stage);
char cm_letter(enum ib_cm_event_type event);
/* Listens and connects; then forgets both sides' events. */
void cm_connect(struct kunit *test, struct cm_pair *pair);
void cm_forget(struct cm_side *side);
/* Releases a connection of which the server has had "QU", and forgets all events. */
void cm_release(struct kunit *test, struct cm_pair *pair);
/* Returns the number of address handles beyond those of an idle adapter. */
int cm_ahs(struct cm_side *side);
void cm_drop_id(struct cm_side *side);
int cm_handler(struct ib_cm_id *cm_id, const struct ib_cm_event *event);
void cm_path(struct cm_pair *pair, struct sa_path_rec *path);
/* The GID that @side's adapter has at @port; RoCE: of its IPv4 address. */
void cm_gid(struct cm_side *side, u32 port, union ib_gid *gid);
/* Returns the first of the messages that @side's adapter sent and that are held. */
void *cm_held(struct cm_side *side);
/*
 * cm_mad() makes the message of @kind that @from would send to @to in their connection;
 * cm_inject() has a message arrive at @to's adapter.
 */
void cm_mad(struct cm_side *from, struct cm_side *to, enum ibcm_kind kind, void *mad);
/* Fills in what all packets from @from's QP1 to @to's QP1 have in common. */
void cm_packet(struct cm_side *from, struct cm_side *to, struct fake_hca_packet *packet);
void cm_inject(struct cm_side *from, struct cm_side *to, const void *mad, u32 len);
void cm_expect_ms(struct kunit *test, unsigned long since, unsigned long until,
		  unsigned int ms);

#endif
