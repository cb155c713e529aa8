/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_MAD_RMPP_H
#define IBEX_MAD_RMPP_H

/*
 * Reliable multi-packet transfers (IBA vol. 1, 13.6).
 *
 * Lock order: agent->rmpp.mutex, then agent->lock; the mutex, then port->rahs_lock.
 * Reassemblies live under the mutex (they are touched in process context alone),
 * transfers being sent under the spinlock, as sends are.
 */
#include <linux/xarray.h>
#include "agent/agent.h"
#include "port/port.h"

/* The one double-sided method: request and response are transfers (15.2.2). */
#define IBMAD_SA_GET_MULTI	0x14

/* ---- recv.c, send.c: for agents, and for sends of their clients ---- */
int ibmad_rmpp_agent_init(struct ibmad_agent *agent);
/* Drops every reassembly; none starts any more.  May sleep. */
void ibmad_rmpp_agent_exit(struct ibmad_agent *agent);
void ibmad_rmpp_agent_free(struct ibmad_agent *agent);
/* A MAD of an active transfer, for an agent of kernel RMPP; consumes @recv. */
void ibmad_rmpp_receive(struct ibmad_agent *agent, struct ibmad_recv *recv);

int ibmad_rmpp_send_init(struct ibmad_send *send, gfp_t gfp);
void ibmad_rmpp_send_free(struct ibmad_send *send);
/* The next two under agent->lock. */
int ibmad_rmpp_send_start(struct ibmad_send *send);
/* Returns the references on the agent to release after the lock. */
unsigned int ibmad_rmpp_send_withdraw(struct ibmad_agent *agent,
				      struct ibmad_send *send);

/* ---- rmpp/reasm.c: reassemblies; under agent->rmpp.mutex ---- */
struct ibmad_rmpp_source {
	union ib_gid sgid;		/* zero without a GRH */
	u32 slid;			/* zero with one */
	u32 reserved;
};

struct ibmad_rmpp_key {
	__be64 tid;
	struct ibmad_rmpp_source source;
	u32 src_qp;
	u8 mgmt_class;
	u8 method;
	u8 reserved[2];
};

struct ibmad_rmpp_recv {
	struct rhash_head node;		/* agent->rmpp.recvs */
	struct ibmad_rmpp_key key;	/* fixed */
	struct rhlist_head source_node;	/* agent->rmpp.unasked, while @counted */
	struct list_head link;		/* agent->rmpp.active or rmpp_done */
	struct ibmad_agent *agent;	/* outlives this: ibmad_rmpp_agent_exit() */
	struct ibmad_rmpp_ah *rah;	/* for the ACKs; NULL while looked for, and done */
	struct ibmad_rmpp_lookup *lookup; /* that; NULL otherwise */
	struct ibmad_recv *held;	/* what came first, for as long */
	struct ibmad_recv *first;	/* with the rest chained; NULL when done */
	struct xarray early;		/* out of order, by segment number */
	unsigned long seen;		/* jiffies of the last MAD of the transfer */
	u32 expected;			/* the next in order */
	u32 high;			/* the highest that came */
	u32 window;			/* the last segment granted */
	u32 last;			/* the number of segments; 0: not known */
	u32 gap;			/* the missing one that ACKs tell of; 0: none */
	u32 overtook;			/* early ones since the first told of it */
	u32 bytes;			/* first's chain and early, counted in agent */
	bool solicited;
	bool counted;			/* in its source's share: unasked, not done */
	bool done;
};

static inline struct ib_rmpp_mad *rmpp_mad(const struct ibmad_recv *recv)
{
	return (struct ib_rmpp_mad *)recv->mad;
}

/* The reassembly that @recv belongs to. */
struct ibmad_rmpp_recv *
ibmad_reasm_find(struct ibmad_agent *agent, const struct ibmad_recv *recv);
/*
 * Begins one that holds @recv until it knows the way back: ibmad_rmpp_way_found()
 * follows then.  If it answers false, *@outcome is what became of @recv, unless dropped.
 */
bool ibmad_reasm_create(struct ibmad_agent *agent, struct ibmad_recv *recv,
			enum ibmad_counter *outcome);
void ibmad_reasm_destroy(struct ibmad_rmpp_recv *rr);
/* All of it came: from here on it is only known to have been. */
void ibmad_reasm_finish(struct ibmad_rmpp_recv *rr);
/* The transfer is alive: to the end of its list. */
void ibmad_reasm_touch(struct ibmad_rmpp_recv *rr);

/* ---- rmpp/recv.c ---- */
void ibmad_rmpp_way_found(struct ibmad_rmpp_lookup *lookup);

/* ---- rmpp/send.c ---- */
void ibmad_rmpp_segment_done(struct ibmad_send *seg, enum ib_wc_status status,
			     u32 vendor_err);
unsigned int ibmad_rmpp_send_end(struct ibmad_agent *agent,
				 struct ibmad_send *send,
				 enum ib_wc_status status, u32 vendor_err);
unsigned int ibmad_rmpp_send_timeout(struct ibmad_agent *agent,
				     struct ibmad_send *send);
u8 ibmad_rmpp_send_acked(struct ibmad_agent *agent, struct ibmad_send *send,
			 const struct ib_rmpp_hdr *hdr, unsigned int *puts,
			 bool *turn);

/* ---- rmpp/way.c: ways back to peers ---- */

/*
 * The search for the way back to who sent a MAD.  An address may have to be resolved
 * for it, a second long if nobody has it: the port and the agent's other transfers
 * do not wait for that.
 */
struct ibmad_rmpp_lookup {
	struct work_struct work;
	struct ibmad_agent *agent;	/* referenced */
	struct ib_wc wc;		/* of the MAD */
	struct ib_grh grh;
	bool solicited;			/* it is of a response */
	struct ibmad_rmpp_ah *rah;	/* what was found, or NULL */
	/* Told of it, under rmpp.mutex; takes a reference on rah if it keeps it. */
	void (*done)(struct ibmad_rmpp_lookup *lookup);
	void *context;			/* done's; rmpp.mutex */
};

/* Under rmpp.mutex; NULL if there is no memory, or if there are too many. */
struct ibmad_rmpp_lookup *
ibmad_rmpp_look_up(struct ibmad_agent *agent, const struct ibmad_recv *recv,
		   void (*done)(struct ibmad_rmpp_lookup *lookup), void *context);
/* Who has a reference has the handle. */
struct ibmad_rmpp_ah *ibmad_rmpp_ah_get(struct ibmad_rmpp_ah *rah);
void ibmad_rmpp_ah_put(struct ibmad_rmpp_ah *rah);
struct ib_ah *ibmad_rmpp_ah_handle(const struct ibmad_rmpp_ah *rah);

/* ---- rmpp/control.c: ACK, STOP and ABORT MADs ---- */

/*
 * Answers @recv.  @rah may be NULL: the way back is looked for, for this MAD alone.
 * Under rmpp.mutex.
 */
void ibmad_rmpp_send_ack(struct ibmad_agent *agent,
			 const struct ibmad_recv *recv,
			 struct ibmad_rmpp_ah *rah, u32 seg_num, u32 window);
void ibmad_rmpp_send_abort(struct ibmad_agent *agent,
			   const struct ibmad_recv *recv,
			   struct ibmad_rmpp_ah *rah, u8 status);
void ibmad_rmpp_control_done(struct ibmad_send *send);
void ibmad_rmpp_control_cancel(struct ibmad_agent *agent);

#endif
