/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCM_REPORT_H
#define IBCM_REPORT_H

/* What the operator is told: counters of each port, and what each id waits for. */
#include <rdma/ib_cm.h>

struct dentry;

/* ---- counters.c: what ports/N/cm_* in sysfs shows ---- */

/* In the order of the attribute ids, which begin at 0x10 (IBA vol. 1, table 102). */
enum ibcm_kind {
	IBCM_REQ,
	IBCM_MRA,
	IBCM_REJ,
	IBCM_REP,
	IBCM_RTU,
	IBCM_DREQ,
	IBCM_DREP,
	IBCM_SIDR_REQ,
	IBCM_SIDR_REP,
	IBCM_LAP,
	IBCM_APR,
	IBCM_KINDS
};

enum ibcm_counter_group {
	IBCM_TX_MSGS,
	IBCM_TX_RETRIES,
	IBCM_RX_MSGS,
	IBCM_RX_DUPLICATES,
	IBCM_COUNTER_GROUPS
};

/* How connections were established, and what was dropped; see counters.c. */
enum ibcm_stat {
	IBCM_STAT_RTU_RECEIVED,
	IBCM_STAT_RTU_LATE,		/* RTUs that did not establish the connection */
	IBCM_STAT_COMM_EST,		/* COMM_EST notifications, all */
	IBCM_STAT_EST_BY_RTU,
	IBCM_STAT_EST_BY_COMM_EST,
	IBCM_STAT_EST_BY_RECEIVED,	/* by a successful receive completion */
	IBCM_STAT_EST_BY_PSN,		/* by the QP's expected PSN */
	IBCM_STAT_EST_BY_DREQ,		/* by a DREQ, so that the RTU must be lost */
	IBCM_STAT_PSN_PROBES,		/* probes of that PSN */
	IBCM_STAT_REP_RESENT,
	IBCM_STAT_RX_MALFORMED,
	IBCM_STAT_RX_UNEXPECTED,	/* dropped: the id's state has no transition */
	IBCM_STAT_RX_UNKNOWN,		/* for no existing id */
	IBCM_STAT_RX_OVERFLOW,		/* dropped: a queue was full, or no memory */
	IBCM_STAT_SEND_ERROR,		/* the adapter completed a message in error */
	IBCM_STAT_SIDR_REFUSED,		/* received SIDR_REPs other than success */
	IBCM_STATS
};

/* Index 0 counts the reasons that are not defined. */
#define IBCM_REJ_REASONS	(IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED + 1)

enum ibcm_rej_way {
	IBCM_REJ_SENT,
	IBCM_REJ_RECEIVED,	/* those that ended an attempt to connect */
	IBCM_REJ_WAYS
};

struct ibcm_port;

/* Such as "sidr_req". */
const char *ibcm_kind_name(enum ibcm_kind kind);
void ibcm_counters_init(void);
void ibcm_counters_exit(void);
int ibcm_counters_register(struct ibcm_port *port);
void ibcm_counters_rename(struct ibcm_port *port);
void ibcm_counters_unregister(struct ibcm_port *port);

/* ---- waiting.c: the ids that wait, and for what ---- */
void ibcm_waiting_init(struct dentry *dir);

#endif
