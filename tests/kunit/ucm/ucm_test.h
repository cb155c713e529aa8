/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_UCM_TEST_H
#define IBEX_UCM_TEST_H

/*
 * A process that has two event channels open, on the two hosts of the RDMA CM's suites:
 * one is the client's, on the first host's addresses, the other the server's.
 */
#include <kunit/test.h>
#include "../cma/cma_test.h"
#include "../user/uverbs_test.h"
#include "faults.h"
#include "ucm/ucm.h"
#include "wait.h"

#define NO_MEMORY	8	/* an address without memory */

/* An open file, and memory for its commands and responses. */
struct chan {
	struct file *filp;
	unsigned long mem;	/* the command; the response at RESP_AT */
	int fd;			/* -1: none */
	int nr_qps;		/* made up so far: 0x123 and up */
	u32 qp_num;		/* of an existing QP; 0: made up */
	bool bad_resp;		/* responses go to NO_MEMORY */
};

#define RESP_AT		2048

struct ucm_hosts {
	struct kunit *test;
	struct cma_pair pair;
	struct chan client, server;
	u32 id, listener, child;	/* see connect_up() */
};

/* These use struct ucm_hosts in test->priv. */
int hosts_init(struct kunit *test);
int hosts_init_ib(struct kunit *test);
void hosts_exit(struct kunit *test);
void hosts_exit_ib(struct kunit *test);

int chan_open(struct chan *chan);
void chan_close(struct chan *chan);
/* The same file with other memory, for another thread. */
void chan_clone(struct kunit *test, struct chan *copy, const struct chan *chan);
u64 chan_resp_at(const struct chan *chan);
void chan_resp(struct chan *chan, void *resp, size_t len);
/* Returns 0 or the command's error; -EPROTO if not the whole length was written. */
int chan_write(struct chan *chan, u32 cmd, const void *body, size_t in, size_t out);
ssize_t chan_raw(struct chan *chan, const void *data, size_t len);

#define chan_do(chan, cmd, body, out) \
	chan_write(chan, RDMA_USER_CM_CMD_##cmd, &(body), sizeof(body), out)

int chan_create(struct chan *chan, enum rdma_ucm_port_space ps, u64 uid, u32 *id);
int chan_destroy(struct chan *chan, u32 id, u32 *reported);
int chan_bind(struct chan *chan, u32 id, const void *addr);
int chan_resolve(struct chan *chan, u32 id, const void *src, const void *dst);
int chan_route(struct chan *chan, u32 id);
int chan_listen(struct chan *chan, u32 id, u32 backlog);
int chan_connect(struct chan *chan, u32 id, const void *data, u8 len);
int chan_accept(struct chan *chan, u32 id, u64 uid);
int chan_confirm(struct chan *chan, u32 id);
int chan_reject(struct chan *chan, u32 id, u8 reason);
int chan_disconnect(struct chan *chan, u32 id);
int chan_option(struct chan *chan, u32 id, u32 level, u32 name, const void *value,
		u32 len);
int chan_join(struct chan *chan, u32 id, const void *addr, u16 flags, u64 uid, u32 *mc);
int chan_leave(struct chan *chan, u32 mc, u32 *reported);
int chan_migrate(struct chan *to, const struct chan *from, u32 id, u32 *reported);
/* Reads without waiting; -EAGAIN if there is no event. */
int chan_read(struct chan *chan, struct rdma_ucm_event_resp *event);
/* Waits for the next event, which must be of this kind. */
bool chan_expect(struct kunit *test, struct chan *chan, enum rdma_cm_event_type type,
		 struct rdma_ucm_event_resp *event);
bool chan_is_empty(struct chan *chan);

/* Makes the server's id host->listener, of uid 'L', listen at TEST_PORT. */
void listen_up(struct kunit *test, enum rdma_ucm_port_space ps, u32 backlog);
/* Makes the client's id host->id, of uid 'C', ready to connect. */
void resolve_up(struct kunit *test, enum rdma_ucm_port_space ps);
u32 resolve_one(struct kunit *test, enum rdma_ucm_port_space ps, u64 uid);
/* Does both, and reads a request; its id is host->child, which has no uid yet. */
void request_up(struct kunit *test);
/* Does so and accepts the request, with uid 'S'.  All events are read. */
void connect_up(struct kunit *test);

/* A thread of the process, which calls @fn once. */
struct racer {
	struct chan chan;		/* the same file, with its own memory */
	u32 id, mc;
	int ret;
	struct rdma_ucm_event_resp event;

	int (*fn)(struct racer *r);
	struct mm_struct *mm;
	const struct cred *cred;
	struct task_struct *task;
	bool done;
};

void race_start(struct kunit *test, struct racer *r, const struct chan *chan,
		int (*fn)(struct racer *r), u32 id, u32 mc);
/* Returns @fn's result.  A thread that hangs is killed. */
int race_join(struct kunit *test, struct racer *r);

#endif
