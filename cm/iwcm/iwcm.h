/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_IWCM_H
#define IBEX_IWCM_H

/*
 * Declarations that the files of iw_cm share.
 *
 * An iWARP provider sets up connections itself, with the iw_* verbs of its
 * struct ib_device_ops, and reports events by iw_cm_id.event_handler, in any context.
 * The event handler changes the id's state at once, under the id's lock.  The id's work
 * item, which the workqueue never runs twice at once, delivers events to the consumer.
 * So the events of one id are ordered and those of different ids run in parallel.
 *
 * No memory is allocated for an event: an id gets at most one of each kind, so a bit and
 * a few fields of the id describe it.  For a connection request, the new id itself is
 * the queue entry.
 *
 * Lock: id->lock, of one id; taken in hard interrupt context.  The workqueue's lock is
 * taken, and the provider's iw_add_ref called, with it held.  Neither the consumer nor
 * any other verb is called with it held.
 */
#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <kunit/visibility.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

/* ---- iwcm/main.c ---- */
extern struct workqueue_struct *iwcm_wq;	/* unbound: deliveries */
extern unsigned int iwcm_default_backlog;	/* net.iw_cm.default_backlog */

/* ---- iwcm/state.c: the state machine of connections and listeners ---- */
enum iwcm_state {
	IWCM_IDLE,
	IWCM_LISTEN,
	IWCM_CONN_RECV,		/* the consumer has a request to decide on */
	IWCM_ACCEPTING,
	IWCM_CONN_SENT,
	IWCM_ESTABLISHED,
	IWCM_CLOSING,
	IWCM_STATES
};

enum iwcm_event {
	/* events reported by the provider */
	IWCM_EV_REQUEST,
	IWCM_EV_REPLY,
	IWCM_EV_REPLY_ERR,
	IWCM_EV_ESTABLISHED,
	IWCM_EV_ESTABLISHED_ERR,
	IWCM_EV_DISCONNECT,
	IWCM_EV_CLOSE,
	/* calls of the consumer */
	IWCM_DO_LISTEN,
	IWCM_DO_CONNECT,
	IWCM_DO_ACCEPT,
	IWCM_DO_REJECT,
	IWCM_DO_DISCONNECT,	/* orderly close */
	IWCM_DO_RESET,
	IWCM_DO_SET_UP_QP,	/* query QP attributes */
	IWCM_DO_DESTROY,
	/* the provider's verb failed */
	IWCM_FAILED,
	IWCM_EVENTS
};

enum iwcm_step_flags {
	IWCM_F_VALID	= BIT(0),
	IWCM_F_PUT_QP	= BIT(1),	/* release the connection's QP */
	IWCM_F_ABORT	= BIT(2),	/* move the QP to ERR */
	IWCM_F_CLOSE	= BIT(3),	/* move the QP to SQD */
	IWCM_F_REJECT	= BIT(4),	/* call the iw_reject verb */
	IWCM_F_UNLISTEN	= BIT(5),	/* call the iw_destroy_listen verb */
};

struct iwcm_step {
	u8 next;	/* enum iwcm_state */
	u8 tell;	/* enum iw_cm_event_type, 0: nothing */
	u8 flags;	/* enum iwcm_step_flags */
};

struct iwcm_id;

const struct iwcm_step *iwcm_step_of(enum iwcm_state state,
				     enum iwcm_event event);
/* Lock held.  *@qp is set to the QP that the step releases, for the caller to put. */
const struct iwcm_step *iwcm_step(struct iwcm_id *id, enum iwcm_event event,
				  struct ib_qp **qp);

/* ---- iwcm/id.c: ids and their teardown ---- */

/* Events to be delivered to the consumer, in this order. */
enum iwcm_pending {
	IWCM_PEND_REQUEST,
	IWCM_PEND_OUTCOME,	/* CONNECT_REPLY or ESTABLISHED */
	IWCM_PEND_CLOSE,
};

struct iwcm_id {
	struct iw_cm_id id;
	spinlock_t lock;		/* hard interrupt context; see above */
	refcount_t ref;			/* owner, provider, queued work, verb calls */
	u8 state;			/* enum iwcm_state; protected by lock */
	u8 pending;			/* BIT(enum iwcm_pending); protected by lock */
	u8 outcome;			/* enum iw_cm_event_type; of IWCM_PEND_OUTCOME */
	bool dying;			/* nothing more is delivered; protected by lock */
	bool calling;			/* in a verb: deliver later; protected by lock */
	struct work_struct work;
	struct task_struct *runner;	/* task that runs the work, or NULL */
	struct ib_qp *qp;		/* with a reference; protected by lock */
	struct iwpm_port *port;		/* mapped, one use; protected by lock */
	struct iwcm_id *req_of;		/* listener, until the request is delivered */

	/* Of the request or outcome: set with its pending bit, read by the work */
	void *private_data;
	u8 private_data_len;
	u8 ord;
	u8 ird;
	int status;

	/* Of a listener */
	refcount_t untold;		/* 1 + number of undelivered requests */
	unsigned int backlog;
	struct completion all_told;
};

static inline struct iwcm_id *to_iwcm(struct iw_cm_id *id)
{
	return container_of(id, struct iwcm_id, id);
}

struct iwcm_id *iwcm_id_alloc(struct ib_device *device, iw_cm_handler handler,
			      void *context, gfp_t gfp);
void iwcm_id_release(struct iwcm_id *id);
void iwcm_id_destroy(struct iwcm_id *id);
/* Lock held. */
void iwcm_id_kick(struct iwcm_id *id);

static inline void iwcm_id_get(struct iwcm_id *id)
{
	refcount_inc(&id->ref);
}

static inline void iwcm_id_put(struct iwcm_id *id)
{
	if (refcount_dec_and_test(&id->ref))
		iwcm_id_release(id);
}

/* ---- iwcm/event.c ---- */
int iwcm_event(struct iw_cm_id *cm_id, struct iw_cm_event *event);
void iwcm_work(struct work_struct *work);

/* ---- iwcm/listen.c ---- */
int iwcm_request(struct iwcm_id *listener, const struct iw_cm_event *event);
void iwcm_request_told(struct iwcm_id *listener);
void iwcm_listen_stop(struct iwcm_id *id);

/* ---- iwcm/map.c: address mapping by the port mapper, if there is one ---- */
void iwcm_map_listen(struct iwcm_id *id);
int iwcm_map_connect(struct iwcm_id *id);
void iwcm_map_request(struct iwcm_id *listener, struct iwcm_id *id,
		      struct iw_cm_event *event);
void iwcm_unmap(struct iwcm_id *id);

/* ---- iwcm/qp.c ---- */
struct ib_qp *iwcm_qp_get(struct ib_device *device, u32 qpn);
void iwcm_qp_put(struct ib_qp *qp);		/* NULL allowed */
void iwcm_qp_move(struct ib_qp *qp, enum ib_qp_state state);

#endif
