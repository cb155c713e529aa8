/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_TESTS_ULP_H
#define IBEX_TESTS_ULP_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#define MSG_SIZE	64
#define MAX_PARALLEL	1024
#define MAX_WINDOW	64

/* What is counted; main.c has the names that debugfs shows. */
enum ulp_stat {
	ULP_ATTEMPTS,			/* active connections begun */
	ULP_COMPLETED,			/* active: message echoed, closed */
	ULP_ESTABLISHED,		/* active ESTABLISHED events */
	ULP_DISCONNECTED,		/* active DISCONNECTED events */
	ULP_TIMEWAIT,			/* TIMEWAIT_EXIT events, both sides */
	ULP_REJECTED,			/* active REJECTED events */
	ULP_UNREACHABLE,		/* UNREACHABLE events, both sides */
	ULP_ADDR_ERROR,			/* ADDR_ERROR events */
	ULP_ROUTE_ERROR,		/* ROUTE_ERROR events */
	ULP_CONNECT_ERROR,		/* CONNECT_ERROR events, both sides */
	ULP_REMOVALS,			/* DEVICE_REMOVAL events, all ids */
	ULP_SETUP_ERROR,		/* a call failed before connecting */
	ULP_TIMEOUTS,			/* no event, or no answer, within wait_s */
	ULP_UNANSWERED,			/* of these: no answer */
	ULP_IO_ERROR,			/* failed completions before closing */
	ULP_BAD_DATA,			/* wrong message or private data */
	ULP_DUPLICATES,			/* a second ESTABLISHED or DISCONNECTED */
	ULP_UNEXPECTED,			/* an event that is not expected */
	ULP_REQUESTS,			/* passive CONNECT_REQUEST events */
	ULP_ACCEPTED,			/* passive: rdma_accept succeeded */
	ULP_PASSIVE_ESTABLISHED,	/* passive ESTABLISHED events */
	ULP_PASSIVE_DISCONNECTED,	/* passive DISCONNECTED events */
	ULP_LAST_REJECT,		/* reason of the last REJECTED */
	ULP_NSTATS
};

enum conn_bits {
	CONN_ACTIVE,
	CONN_CLOSING,		/* release work is queued */
	CONN_CONNECTED,		/* connect or accept was issued */
	CONN_ECHOED,
	CONN_DIRECT,		/* its CQ is polled by hand */
	CONN_ESTABLISHED,
	CONN_DISCONNECTED,
};

/*
 * The times of the events of a connection, in ns since boot, 0 for never. Events of one id
 * are serialised; the receive completion may run concurrently with them, and writes
 * received only, and the thread that disconnects, which writes ended only.
 */
struct times {
	u64 began;			/* before rdma_accept or rdma_connect */
	u64 received;			/* first good receive completion */
	u64 ended;			/* before rdma_disconnect */
	u64 established;		/* the first of each */
	u64 disconnected;
	unsigned int n_established;
	unsigned int n_disconnected;
};

struct message {
	__be64 cookie;
	u8 fill[MSG_SIZE - sizeof(__be64)];
};

struct buffer {
	struct message msg;
	struct ib_cqe cqe;
	u64 dma;
};

struct conn {
	struct kref ref;
	unsigned long bits;		/* enum conn_bits, atomic */
	struct mutex lock;		/* serialises steps of the thread and release */
	struct rdma_cm_id *id;
	struct ib_pd *pd;
	struct ib_cq *cq;
	unsigned int pool_cqes;		/* taken from the CQ pool, or 0 */
	struct buffer rx;
	struct buffer tx;
	u64 cookie;
	atomic_t recvs_left;		/* receives not yet posted */
	atomic_t sends_left;		/* active: messages not yet sent */
	atomic_t echoes_due;		/* active: answers still awaited */
	struct times *times;		/* NULL when there is no room */
	ktime_t started;
	struct completion event;	/* active: the awaited event arrived */
	struct completion echoed;	/* echoed, or never will be: see CONN_ECHOED */
	struct completion over;		/* disconnected, or never will be */
	struct completion released;
	int status;			/* written before event is completed */
	struct work_struct release;
	struct list_head link;		/* protected by standing_lock */
};

struct run {
	struct sockaddr_storage src;
	struct sockaddr_storage dst;
	atomic_t left;
	atomic_t threads;
	struct completion done;
};

extern atomic_t ulp_stats[ULP_NSTATS];
extern atomic_t ulp_live;		/* connections not yet freed */
extern atomic64_t ulp_connect_us;	/* rdma_connect to ESTABLISHED, summed */
extern atomic_t ulp_connect_max_us;
extern atomic64_t ulp_exchange_us;	/* first send to last echo, summed */
extern struct workqueue_struct *ulp_release_wq;

/* knobs of debugfs */
extern bool ulp_hold;
extern bool ulp_abrupt;
extern bool ulp_reject;
extern bool ulp_silent;
extern bool ulp_own_cq;
extern bool ulp_direct;
extern u32 ulp_wait_s;
extern u32 ulp_rounds;
extern u32 ulp_window;
extern u32 ulp_backlog;

static inline void ulp_count(enum ulp_stat stat)
{
	atomic_inc(&ulp_stats[stat]);
}

/* conn.c */
struct conn *conn_alloc(bool active);
void conn_put(struct conn *conn);
void conn_close(struct conn *conn);
void conn_stand(struct conn *conn);
void conn_drop_standing(bool active_only);
int conn_make_verbs(struct conn *conn);
void conn_free_verbs(struct conn *conn);
int conn_post_message(struct conn *conn);
int conn_post_receive(struct conn *conn);
int conn_exchange(struct conn *conn);
void conn_param(struct rdma_conn_param *param, const __be64 *cookie);

/* event.c */
bool event_cookie(const struct rdma_cm_event *event, u64 *cookie);
int conn_event(struct rdma_cm_id *id, struct rdma_cm_event *event);

/* server.c */
struct rdma_cm_id *listen_id(const struct sockaddr_storage *addr,
			     rdma_cm_event_handler handler, void *context, int backlog);
int listen_start(const struct sockaddr_storage *addr);
void listen_stop(void);
bool listen_on(void);

/* idle.c */
int idle_start(const struct sockaddr_storage *addr, unsigned int count, int backlog);
void idle_stop(void);

/* times.c */
struct times *times_new(bool is_active);
void times_received(struct times *times);
void times_ended(struct times *times);
void times_event(struct times *times, enum rdma_cm_event_type event);
void times_clear(void);
int times_show(struct seq_file *seq, void *unused);
int connects_show(struct seq_file *seq, void *unused);

/* poll.c */
extern atomic_t ulp_polled;		/* completions, with direct */
extern atomic64_t ulp_poll_ns;		/* spent in polling them */
extern u64 ulp_poll_best_ps;		/* per completion, best call of all */
int conn_poll(struct conn *conn);
void poll_clear(void);

/* client.c */
u64 client_run(struct run *run, unsigned int parallel);

#endif /* IBEX_TESTS_ULP_H */
