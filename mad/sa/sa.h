/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_SA_H
#define IBEX_SA_H

/*
 * The client of subnet administration: one agent for each port, queries on it, and the
 * multicast groups joined through it.
 *
 * Lock order: port->groups_lock, group->lock, port->lock and port->share_lock do not
 * nest in one another.  All are taken with interrupts off: queries and joins are
 * started under locks of their callers that interrupt handlers take.  No callback of a
 * client runs under any of them.
 */
#include <linux/completion.h>
#include <linux/hashtable.h>
#include <linux/kref.h>
#include <linux/refcount.h>
#include <linux/rhashtable.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_sa.h>
#include <ibex/compat.h>
#include <ibex/ls.h>

/* The address handle of the subnet manager; replaced as a whole when it changes. */
struct sa_sm_ah {
	struct kref ref;		/* one of the port, one of each query */
	struct sa_port *port;		/* counted by its sm_ahs */
	struct work_struct end;		/* destroys it in a context that may sleep */
	struct ib_ah *ah;
	u16 pkey_index;
};

struct sa_port {
	struct ib_device *device;
	u32 num;
	struct ib_mad_agent *agent;	/* NULL: no InfiniBand on this port */
	spinlock_t lock;		/* irq safe */
	struct sa_sm_ah *sm_ah;		/* protected by lock */
	atomic_t sm_ahs;		/* existing handles; port removal waits for 0 */
	struct delayed_work update;	/* queries the SM's address */
	spinlock_t groups_lock;		/* irq safe */
	struct list_head groups;	/* all groups; groups_lock */
	DECLARE_HASHTABLE(by_mgid, 6);	/* groups that have an MGID; groups_lock */
	refcount_t users;		/* one of the device, one of each group */
	struct completion unused;
	bool closing;			/* no more requests for groups */
	atomic_t asked;			/* queries pending at the local service */
	spinlock_t share_lock;		/* irq safe */
	struct rhashtable leaders;	/* queries that others may follow; share_lock */
	struct list_head left;		/* cancelled followers; share_lock */
	struct work_struct left_work;	/* completes them */
};

struct sa_device {
	struct ib_device *device;
	struct ib_event_handler events;
	u32 first_port, nr_ports;
	struct sa_port port[] __counted_by(nr_ports);
};

enum { SA_QUERY_CANCELLED };

/* Identical queries share one MAD; sa/share.c. */
struct sa_share {
	struct rhash_head node;		/* port->leaders; share_lock */
	struct list_head link;		/* a leader's followers, port->left; share_lock */
	struct list_head followers;	/* share_lock */
	bool wanted;			/* a path query, which may share; fixed */
	bool leads;			/* in port->leaders; share_lock */
	bool over;			/* has ended; share_lock */
};

/*
 * One request.  References: the question to the local service holds one until it has
 * ended, and then passes it to the send, until its send handler has run, or to the
 * query's leader, until the leader has ended.  Whoever sends or cancels the query holds
 * another meanwhile.
 */
struct ib_sa_query {
	struct kref ref;
	struct ib_sa_client *client;	/* its users counts this query; or NULL */
	struct sa_port *port;
	struct sa_sm_ah *sm_ah;		/* reference */
	struct ib_mad_send_buf *buf;
	int id;
	unsigned long flags;		/* atomic */
	unsigned long deadline;		/* jiffies; fixed when it is sent or follows */
	struct sa_share share;
	struct ibcore_ls_question question;
	struct sa_ls_answer *answer;	/* to it, or NULL; set by sa_ls_answered() */
	bool opa;			/* a path query with an OPA record */
	/*
	 * Called exactly once.  @mad is the response, even if it is an error, or NULL.
	 */
	void (*done)(struct ib_sa_query *query, int status,
		     const struct ib_sa_mad *mad);
	void *callback;			/* the caller's */
	void *context;
};

/* ---- sa/port.c ---- */
int ibmad_sa_init(void);
void ibmad_sa_exit(void);
struct sa_sm_ah *ibmad_sa_sm_ah_get(struct sa_port *port);
void ibmad_sa_sm_ah_put(struct sa_sm_ah *sm_ah);
/* The port, valid while its device is registered; NULL when it has no SA. */
struct sa_port *ibmad_sa_port(struct ib_device *device, u32 port_num);

/* ---- sa/query.c ---- */
/*
 * Sends @method of @attr_id with the @len bytes at @record.  Returns the query's number
 * or an error; @out is set before @done can be called.
 */
int ibmad_sa_query(struct ib_sa_client *client, struct sa_port *port, u8 method,
		   u16 attr_id, ib_sa_comp_mask comp_mask, const void *record,
		   size_t len, unsigned long timeout_ms, gfp_t gfp,
		   struct ib_sa_query *query, struct ib_sa_query **out);
/*
 * Sends a query that has waited for the local service; its timeout starts now.  On 0
 * its reference has passed to the send.
 */
int ibmad_sa_send_late(struct ib_sa_query *query);
/* As above, with what is left of its time. */
int ibmad_sa_send_again(struct ib_sa_query *query);
bool ibmad_sa_time_left(const struct ib_sa_query *query);
void ibmad_sa_query_get(struct ib_sa_query *query);
void ibmad_sa_query_put(struct ib_sa_query *query);
/* After done(): removes the query from the table and drops its reference. */
void ibmad_sa_query_end(struct ib_sa_query *query);
/* Cancels every query of a port. */
void ibmad_sa_cancel_all(struct sa_port *port);

/* The handlers of a port's agent. */
void ibmad_sa_send_done(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc);
void ibmad_sa_received(struct ib_mad_agent *agent,
		       struct ib_mad_send_buf *send_buf,
		       struct ib_mad_recv_wc *wc);

/* ---- sa/share.c ---- */
int ibmad_sa_share_open(struct sa_port *port);
void ibmad_sa_share_close(struct sa_port *port);
/* Whether @query now follows another query, which takes over its reference. */
bool ibmad_sa_share_join(struct ib_sa_query *query);
/* @query was sent: others may follow it. */
void ibmad_sa_share_lead(struct ib_sa_query *query);
/* @query was cancelled: if it follows another it leaves; a work item completes it. */
void ibmad_sa_share_leave(struct ib_sa_query *query);
/* @query got a response: completes its followers with it.  In process context. */
void ibmad_sa_share_answer(struct ib_sa_query *query, int status,
			   const struct ib_sa_mad *mad);
/* @query ended without a response: its followers go on.  In process context. */
void ibmad_sa_share_pass_on(struct ib_sa_query *query);

/* ---- sa/path.c ---- */
/* IBA volume 1, 15.2.5.16 */
struct sa_path_wire {
	__be64 service_id;
	union ib_gid dgid;
	union ib_gid sgid;
	__be16 dlid;
	__be16 slid;
	__be32 raw_flow_hop;	/* 1, 3 reserved, 20, 8 */
	u8 traffic_class;
	u8 rev_numb;		/* 1, 7 */
	__be16 pkey;
	__be16 qos_sl;		/* 12, 4 */
	u8 mtu;			/* selector 2, 6 */
	u8 rate;		/* selector 2, 6 */
	u8 life_time;		/* selector 2, 6 */
	u8 preference;
	u8 reserved[6];
} __packed;

static_assert(sizeof(struct sa_path_wire) == 64);

/* A value and how it is compared. */
static inline u8 sa_selector(u8 sel, u8 value)
{
	return (sel & 0x3) << 6 | (value & 0x3f);
}

/* ---- sa/ls.c ---- */
/*
 * Asks the local service for the path that @query requests.  If true, the query ends by
 * itself or is sent later; it may have been freed already.
 */
bool ibmad_sa_ls_ask(struct ib_sa_query *query, gfp_t gfp);

/* ---- sa/mcrec.c ---- */
/* IBA volume 1, 15.2.5.17 */
struct sa_mcmember_wire {
	union ib_gid mgid;
	union ib_gid port_gid;
	__be32 qkey;
	__be16 mlid;
	u8 mtu;			/* selector 2, 6 */
	u8 traffic_class;
	__be16 pkey;
	u8 rate;		/* selector 2, 6 */
	u8 life_time;		/* selector 2, 6 */
	__be32 sl_flow_hop;	/* 4, 20, 8 */
	u8 scope_join;		/* 4, 4 */
	u8 proxy;		/* 1, 7 reserved */
	__be16 reserved;
} __packed;

static_assert(sizeof(struct sa_mcmember_wire) == 52);

void ibmad_sa_mcrec_pack(const struct ib_sa_mcmember_rec *rec,
			 struct sa_mcmember_wire *wire);
void ibmad_sa_mcrec_unpack(const struct sa_mcmember_wire *wire,
			   struct ib_sa_mcmember_rec *rec);
bool ibmad_sa_mcrec_fits(const struct ib_sa_mcmember_rec *group,
			 const struct ib_sa_mcmember_rec *want,
			 ib_sa_comp_mask mask);

/* ---- sa/mcast.c ---- */
/*
 * The memberships of a port are lost: all, or with @pkey those in a partition
 * whose P_Key has moved in the table or left it.
 */
void ibmad_sa_mcast_reset(struct sa_port *port, bool pkey);
void ibmad_sa_mcast_close(struct sa_port *port);
int ibmad_sa_mcast_init(void);
void ibmad_sa_mcast_exit(void);

#endif
