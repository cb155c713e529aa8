/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_MAD_RMPP_H
#define IBEX_MAD_RMPP_H

/*
 * Reliable multi-packet transfers (IBA vol. 1, 13.6).
 *
 * Lock order: agent->rmpp.mutex, then agent->lock; the mutex, then port->rahs_lock.
 * The mutex protects reassemblies (they are accessed in process context only), the
 * spinlock protects transfers being sent, like all sends.
 */
#include <linux/xarray.h>
#include "agent/agent.h"
#include "port/port.h"

/* The one double-sided method: request and response are transfers (15.2.2). */
#define IBMAD_SA_GET_MULTI	0x14

/* ---- reasm.c, recv.c, send.c: for agents, and for sends of their clients ---- */
int ibmad_rmpp_agent_init(struct ibmad_agent *agent);
/* Destroys every reassembly and prevents new ones.  May sleep. */
void ibmad_rmpp_agent_exit(struct ibmad_agent *agent);
void ibmad_rmpp_agent_free(struct ibmad_agent *agent);
/*
 * Handles a MAD with RMPP active, for an agent for which RMPP is done here; consumes
 * @recv.
 */
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
	struct list_head link;		/* agent->rmpp.active or agent->rmpp.done */
	struct ibmad_agent *agent;	/* outlives this: ibmad_rmpp_agent_exit() */
	struct ibmad_rmpp_ah *rah;	/* for ACKs; NULL during lookup and when done */
	struct ibmad_rmpp_lookup *lookup; /* the lookup of rah; NULL otherwise */
	struct ibmad_recv *held;	/* the first segment, during the lookup */
	struct ibmad_recv *first;	/* heads the chain in order; NULL when done */
	struct xarray early;		/* segments out of order, by number */
	unsigned long seen;		/* jiffies of the last MAD of the transfer */
	u32 expected;			/* the next in order */
	u32 high;			/* the highest received */
	u32 window;			/* the last segment granted */
	u32 last;			/* the number of segments; 0: not known */
	u32 gap;			/* the missing segment in ACKs; 0: none */
	u32 overtook;			/* early segments since the first such ACK */
	u32 bytes;			/* in first's chain and early; part of agent's */
	bool solicited;
	bool counted;			/* in its source's share: unsolicited, not done */
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
 * Starts a reassembly that holds @recv until the address handle for its source is
 * found; then ibmad_rmpp_way_found() is called.  If it returns false @recv is not
 * consumed, and *@outcome is IBMAD_RECV_OVERFLOW if a limit was reached, else
 * unchanged.
 */
bool ibmad_reasm_create(struct ibmad_agent *agent, struct ibmad_recv *recv,
			enum ibmad_counter *outcome);
void ibmad_reasm_destroy(struct ibmad_rmpp_recv *rr);
/* All segments have arrived: from here on only the fact that they did is kept. */
void ibmad_reasm_finish(struct ibmad_rmpp_recv *rr);
/* The transfer was active: moves it to the end of its list. */
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

/* ---- rmpp/way.c: address handles of peers ---- */

/*
 * The lookup of an address handle for the sender of a MAD.  It may have to resolve an
 * address, which takes a second if no node has it: the port and the agent's other
 * transfers do not wait for that.
 */
struct ibmad_rmpp_lookup {
	struct work_struct work;
	struct ibmad_agent *agent;	/* referenced */
	struct ib_wc wc;		/* of the MAD */
	struct ib_grh grh;
	bool solicited;			/* the MAD is part of a response */
	struct ibmad_rmpp_ah *rah;	/* what was found, or NULL */
	/*
	 * Called at the end, under rmpp.mutex; takes a reference on rah if it keeps it.
	 */
	void (*done)(struct ibmad_rmpp_lookup *lookup);
	void *context;			/* for done(); rmpp.mutex */
};

/*
 * Starts a lookup.  Under rmpp.mutex; NULL if there is no memory or too many are in
 * progress.
 */
struct ibmad_rmpp_lookup *
ibmad_rmpp_look_up(struct ibmad_agent *agent, const struct ibmad_recv *recv,
		   void (*done)(struct ibmad_rmpp_lookup *lookup), void *context);
/* The handle is valid as long as a reference on @rah is held. */
struct ibmad_rmpp_ah *ibmad_rmpp_ah_get(struct ibmad_rmpp_ah *rah);
void ibmad_rmpp_ah_put(struct ibmad_rmpp_ah *rah);
struct ib_ah *ibmad_rmpp_ah_handle(const struct ibmad_rmpp_ah *rah);

/* ---- rmpp/control.c: ACK, STOP and ABORT MADs ---- */

/*
 * Send an ACK, STOP or ABORT in response to @recv.  If @rah is NULL an address handle
 * is looked up for this MAD alone.  Under rmpp.mutex.
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
