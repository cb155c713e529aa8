/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_APM_H
#define IBEX_APM_H

#include <linux/completion.h>
#include <linux/workqueue.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>

#define APM_SERVICE	cpu_to_be64(0x1000000000000a99ULL)
#define APM_RECVS	16
#define APM_MESSAGE	64	/* bytes; the first eight are its number */

enum apm_stat {
	APM_SENT, APM_RECEIVED, APM_BAD, APM_ERRORS,
	APM_MIGRATED_A, APM_MIGRATED_B, APM_MIG_ERRORS, APM_ALTERNATES,
	APM_LAPS, APM_APRS, APM_LAP_ERRORS, APM_APR_STATUS, APM_STATS
};

extern atomic_t apm_stats[APM_STATS];
extern bool apm_refuse;		/* the passive side refuses LAPs */
extern bool apm_wait;		/* it answers them later, when apm_answer() is called */

/* One end of the connection.  All but id is written before the QP can receive. */
struct apm_side {
	struct ib_device *dev;	/* with a reference */
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct ib_cm_id *id;
	struct ib_cqe recv, send;
	u8 *buf;
	u64 dma;
	u32 psn;		/* that the peer starts with; constant */
	bool active;
	bool used;		/* the QP has left RESET */
};

extern struct apm_side apm_a, apm_b;

/* ---- side.c ---- */
int side_open(struct apm_side *side, const char *device);
void side_close(struct apm_side *side);
int side_modify(struct apm_side *side, enum ib_qp_state state);
int side_receive(struct apm_side *side);
int side_load(struct apm_side *side, const struct apm_side *peer, u32 port);
int side_migrate(struct apm_side *side);
int side_query(struct apm_side *side, struct ib_qp_attr *attr);
void traffic_start(void);
void traffic_stop(void);

/* ---- conn.c ---- */
int apm_connect(const char *a, const char *b, u32 port, u32 alternate);
int apm_lap(u32 port_a, u32 port_b);
int apm_answer(void);
void apm_disconnect(void);

#endif
