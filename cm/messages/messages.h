/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCM_MESSAGES_H
#define IBCM_MESSAGES_H

/* Sending, receiving and answering messages; each kind of message has a file. */
#include "ibcm/id.h"

/* ---- msg.c: messages to be sent ---- */
struct ibcm_msg {
	refcount_t ref;		/* of its creator, of id->msg, of the MAD layer or look */
	struct ib_mad_send_buf *buf;
	struct ibcm_port *port;
	struct ibcm_id *id;	/* with a reference; NULL if sent without an id */
	struct ibcm_path *path;	/* with a reference; its handle is in use */
	struct work_struct look;	/* REP: probes; owns the MAD layer's reference */
	ktime_t sent;		/* first posting */
	u32 waited_ms;		/* sum of its waits; see retry.c for those for an MRA */
	u32 mra_ms;		/* how long an MRA asked for; protected by id->lock */
	unsigned long mra_end;	/* when that time ends; protected by id->lock */
	u8 kind;		/* enum ibcm_kind */
	u8 tries;		/* how often resent, apart from an MRA's time; id->lock */
	u8 mra_renewals;	/* how often an MRA's time began anew; protected by id->lock */
	u32 resent;		/* how often resent by retry.c, all told; id->lock */
	bool request;		/* outstanding until answered or given up */
	bool posted;		/* the MAD layer has accepted it; set once */
	bool stopped;		/* ibcm_msg_stop() was called: never resent */
	bool mraed;		/* mra_end is not reached; protected by id->lock */
	bool over;		/* completed by the MAD layer; protected by id->lock */
	struct ibcm_peer *left;	/* of a DREQ whose id was destroyed, or NULL; id->lock */
	int srcu_idx;		/* of the creator's read section */
};

#ifndef CONFIG_LOCKDEP
/* One for each message that is sent: no larger than the slab cache that it fills */
static_assert(sizeof(struct ibcm_msg) <= 128);
#endif

/*
 * Allocating a message begins a read section of ibcm_srcu; ibcm_msg_post() and
 * ibcm_msg_drop() end it and put the creator's reference.
 */
struct ibcm_msg *ibcm_msg_alloc(struct ibcm_id *id, enum ibcm_kind kind);
struct ibcm_msg *ibcm_msg_alloc_by(struct ibcm_id *id, struct ibcm_path *path,
				   u16 pkey_index, enum ibcm_kind kind);
struct ibcm_msg *ibcm_msg_alloc_to(struct ibcm_port *port,
				   const struct ib_mad_recv_wc *wc,
				   enum ibcm_kind kind);
int ibcm_msg_post(struct ibcm_msg *msg);
void ibcm_msg_drop(struct ibcm_msg *msg);
void ibcm_msg_put(struct ibcm_msg *msg);
void ibcm_mad_hdr(struct ib_mad_hdr *hdr, enum ibcm_kind kind, __be64 tid);
void *ibcm_msg_mad(struct ibcm_msg *msg, __be64 tid);
__be64 ibcm_new_tid(const struct ibcm_msg *msg);
/* Makes @msg the outstanding request.  Caller holds id->lock. */
struct ibcm_msg *ibcm_msg_attach(struct ibcm_id *id, struct ibcm_msg *msg,
				 u32 timeout_ms, u8 retries);
/*
 * Makes @msg, not posted yet, a request: it waits @timeout_ms for its answer, and the MAD
 * layer resends it @retries times, before retry.c does.
 */
void ibcm_msg_repeat(struct ibcm_msg *msg, u32 timeout_ms, u8 retries);
struct ibcm_msg *ibcm_msg_detach(struct ibcm_id *id);
void ibcm_msg_stop(struct ibcm_msg *msg);	/* NULL allowed */
void ibcm_msg_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc);
/* Posts the message of the step @todo; undoes the step if that fails. */
int ibcm_step_post(struct ibcm_id *id, struct ibcm_msg *msg,
		   const struct ibcm_todo *todo);
/* Resends @msg, which was not answered, or gives it up; true if resent. */
bool ibcm_unanswered(struct ibcm_msg *msg);

/* ---- retry.c: when a request is sent again ---- */
/* A LAP is not: the MAD layer resends it. */
static inline bool ibcm_is_retried(const struct ibcm_msg *msg)
{
	return msg->kind == IBCM_REQ || msg->kind == IBCM_REP || msg->kind == IBCM_DREQ ||
	       msg->kind == IBCM_SIDR_REQ;
}

unsigned int ibcm_first_wait_ms(const struct ibcm_id *id, const struct ibcm_port *port,
				enum ibcm_kind kind);
unsigned int ibcm_wait_ms(const struct ibcm_id *id, const struct ibcm_msg *msg);
unsigned int ibcm_mraed(struct ibcm_id *id, struct ibcm_msg *msg, unsigned int ms);
void ibcm_mraed_again(struct ibcm_id *id, struct ibcm_msg *msg, unsigned int ms);
bool ibcm_retry(struct ibcm_msg *msg);
void ibcm_answered(const struct ibcm_id *id, const struct ibcm_msg *msg,
		   enum ib_cm_state from);

/* ---- rx.c: received messages ---- */
struct ibcm_rx {
	struct list_head node;		/* id->rxq, listener->waiting or port->orphans */
	struct work_struct work;	/* on port->stray_wq */
	struct ib_mad_recv_wc *wc;	/* owned */
	struct ibcm_port *port;
	struct ibcm_id *id;		/* created for this request, until resolved */
	bool purged;			/* owned by the list's purge; the list's lock */
	u8 kind;			/* enum ibcm_kind */
	u8 reason;			/* orphan REQ: enum ib_cm_rej_reason */
};

int ibcm_rx_init(void);
void ibcm_rx_exit(void);
void ibcm_rx_free(struct ibcm_rx *rx);
void ibcm_mad_received(struct ib_mad_agent *agent,
		       struct ib_mad_send_buf *send_buf,
		       struct ib_mad_recv_wc *wc);
/* Runs the handler of @rx in the id's work; returns what the consumer's handler did. */
int ibcm_rx_process(struct ibcm_id *id, struct ibcm_rx *rx);
/*
 * Queues the request @rx, for which @id was created, to resolve the path to its sender.
 * Returns false, with the id abandoned, if the listener is being destroyed.
 */
bool ibcm_rx_resolve(struct ibcm_id *id, struct ibcm_rx *rx);
/* Answers @rx, whose listener is being destroyed, like a request without a listener. */
void ibcm_rx_refuse(struct ibcm_rx *rx);
u16 ibcm_rx_bth_pkey(const struct ibcm_rx *rx);

static inline void *ibcm_rx_mad(const struct ibcm_rx *rx)
{
	return rx->wc->recv_buf.mad;
}

/* The common end of an rx handler: finish the step, then notify the consumer. */
int ibcm_rx_finish(struct ibcm_id *id, const struct ibcm_rx *rx,
		   const struct ibcm_todo *todo, struct ib_cm_event *event);

/* ---- orphan.c: answers to messages that are for no id ---- */
void ibcm_orphans_purge(struct ibcm_port *port);
/* Queues @rx to be answered by its own work; consumes @rx. */
void ibcm_orphan_queue(struct ibcm_rx *rx, u8 reason);

/* ---- messages/: req, req_rx, rep, rtu, rej, dreq, mra, lap, apr ---- */
void ibcm_req_arrived(struct ibcm_rx *rx);	/* consumes @rx */
int ibcm_req_resolve(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_rx_req(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_rx_rep(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_rx_rtu(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_rx_rej(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_rx_dreq(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_rx_drep(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_rx_mra(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_rx_lap(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_rx_apr(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_sidr_resolve(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_rx_sidr_req(struct ibcm_id *id, struct ibcm_rx *rx);
int ibcm_rx_sidr_rep(struct ibcm_id *id, struct ibcm_rx *rx);
void ibcm_sidr_req_arrived(struct ibcm_rx *rx);	/* consumes @rx */

struct ibcm_id *ibcm_find_rejected(struct cm_rej_msg *rej);
int ibcm_established(struct ibcm_id *id);	/* IBCM_PEND_EST, in the work */
int ibcm_migrated(struct ibcm_id *id);		/* IBCM_PEND_MIGRATED */
int ibcm_path_mig(struct ibcm_id *id);		/* ib_cm_notify; any context */

void ibcm_send_rtu_again(struct ibcm_id *id);
void ibcm_send_rep_again(struct ibcm_id *id);
void ibcm_send_drep(struct ibcm_id *id);
struct ibcm_msg *ibcm_dreq_last(struct ibcm_id *id, struct ibcm_todo *todo);
bool ibcm_dreq_leave(struct ibcm_id *id, struct ibcm_peer *peer,
		     struct ibcm_msg *msg);
void ibcm_dreq_stop(struct ibcm_msg *msg);
void ibcm_dreq_done(struct ibcm_msg *msg);
bool ibcm_dreq_answered(u32 local_id, __be32 remote_id);
void ibcm_send_mra(struct ibcm_id *id, u8 mraed);
void ibcm_send_rej(struct ibcm_id *id, u8 rejected, u16 reason,
		   const void *ari, u8 ari_len);
void ibcm_send_rej_timeout(struct ibcm_id *id);
void ibcm_sidr_reject(struct ibcm_id *id);
/* The "message MRAed" / "message rejected" field (IBA 12.6.6, 12.6.7). */
enum ibcm_msg_field {
	IBCM_FIELD_REQ,
	IBCM_FIELD_REP,
	IBCM_FIELD_OTHER,	/* REJ: other; MRA: LAP */
};

/* Fills in and counts the REJ that @msg is. */
void ibcm_rej_fill(struct ibcm_msg *msg, u8 rejected, u16 reason, const void *ari,
		   u8 ari_len);
u32 ibcm_req_qpn(const struct cm_req_msg *req, enum ib_qp_type *type);

/* How a message names the LIDs and GIDs of a path that this side proposes. */
struct ibcm_lids {
	u16 local;
	u16 remote;
};

struct ibcm_lids ibcm_path_lids(struct sa_path_rec *path,
				const struct sa_path_rec *inbound);
void ibcm_path_gids(struct sa_path_rec *path, union ib_gid *local,
		    union ib_gid *remote);

/*
 * Both paths of a REQ have the same layout (IBA vol. 1, 12.6.5).  Applied to the pointer
 * that this returns, the CM_REQ_PRIMARY_... fields are those of the chosen path.
 */
static inline struct cm_req_msg *ibcm_req_path(struct cm_req_msg *req, bool alternate)
{
	const size_t bytes = 96 - 52;	/* from the primary to the alternate path */

	return (struct cm_req_msg *)((u8 *)req + (alternate ? bytes : 0));
}

/* ---- lap.c, apr.c ---- */
#define IBCM_LAPS_SEEN	4

/* A LAP that was answered; a copy of it may still arrive. */
struct ibcm_lap_seen {
	__be64 tid;
	u32 hash;		/* of the whole MAD */
};

/* The LAPs of a connection; allocated for the first.  Protected by id->lock. */
struct ibcm_lap {
	struct ibcm_av *av;	/* the path of the last LAP unless accepted, or NULL */
	__be64 sent_tid;	/* of the last LAP sent */
	u32 nr_sent;

	struct ibcm_lap_seen now;	/* the last LAP received */
	struct ibcm_lap_seen seen[IBCM_LAPS_SEEN];	/* answered ones, last first */
	u8 nr_seen;
	u8 answer[IB_MGMT_MAD_SIZE];	/* the MRA or APR for @now, or for seen[0] */
};

/* Returns the id's struct ibcm_lap, allocated if need be; NULL: no memory.  May sleep. */
struct ibcm_lap *ibcm_lap_of(struct ibcm_id *id);
void ibcm_lap_free(struct ibcm_lap *lap);	/* NULL allowed */
/* The alternate path becomes that of the LAP.  Returns the former one, to be freed. */
struct ibcm_av *ibcm_lap_accepted(struct ibcm_id *id);
void ibcm_av_free(struct ibcm_av *av);		/* NULL allowed */
/* Writes the APR for the last LAP received to lap->answer.  Caller holds id->lock. */
void ibcm_apr_answer(struct ibcm_id *id, u8 status, const void *info, u8 info_len,
		     const void *private_data, u8 private_data_len);
void ibcm_send_lap_answer(struct ibcm_id *id);

/* ---- sidr.c ---- */
struct ibcm_sidr_key {
	union ib_gid gid;	/* of the sender; zero without a GRH */
	__be32 request_id;
	u32 lid;		/* of the sender; IB */
	u32 port;
	u32 pad;
	struct ib_device *device;
};

struct ibcm_sidr {
	struct rhash_head node;
	struct ibcm_sidr_key key;
	struct rcu_head rcu;
};

int ibcm_sidr_init(void);
void ibcm_sidr_exit(void);
void ibcm_sidr_unhash(struct ibcm_id *id);	/* caller holds id->lock */

#endif
