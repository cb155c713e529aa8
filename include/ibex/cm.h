/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_IB_CM_H
#define IBEX_IB_CM_H

/* What ib_cm offers beyond <rdma/ib_cm.h>. */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <rdma/ib_cm.h>

/*
 * Converts an IBA time, 4.096 us * 2^n, to ms, rounded up.  A path record has 6 bits
 * for n, a QP's timeout 5; values of n above 31 are taken as 31.
 */
static inline unsigned int ibcm_time_ms(u8 iba_time)
{
	return DIV_ROUND_UP_ULL(4096ULL << min_t(u8, iba_time, 31), NSEC_PER_MSEC);
}

/* ---- the RDMA CM ---- */

/* For an id that is about to accept: data received on its QP count as the RTU. */
int ib_cm_watch_qp(struct ib_cm_id *cm_id, struct ib_qp *qp);
int ib_cm_watch_qp_num(struct ib_cm_id *cm_id, u32 qp_num, bool user);
/* For an established one: its messages take the path that the QP has migrated to. */
int ib_cm_watch_migration(struct ib_cm_id *cm_id, struct ib_qp *qp);
void ib_cm_unwatch_qp(struct ib_cm_id *cm_id);

/* Whether a request was sent by this host, by an id for which @match returns true. */
bool ib_cm_sent_here(struct ib_cm_id *cm_id,
		     bool (*match)(const struct ib_cm_id *sender,
				   const void *arg),
		     const void *arg);

/**
 * struct ibex_cm_wait - what an id waits for
 * @state: The name of its state, as in enum ib_cm_state, or NULL.
 * @for_what: The message that the peer has not sent yet, such as "REP"; "consumer" if the
 *	consumer has not replied; "path", "timewait"; or NULL: the id waits for nothing.
 * @resent: How often this side's message was sent again.
 * @waited_ms: The time since it was first sent; 0 if this side has sent none.
 */
struct ibex_cm_wait {
	const char *state;
	const char *for_what;
	u32 resent;
	u32 waited_ms;
};

void ibex_cm_query_wait(struct ib_cm_id *cm_id, struct ibex_cm_wait *wait);

/* ---- alternate paths of established connections (IBA vol. 1, 12.8) ---- */

/**
 * struct ibex_cm_lap_param - a request for another alternate path
 * @path: The path, from this side to the peer.
 * @sgid_attr: The entry of its SGID, or NULL to look it up.
 * @private_data: For the peer, or NULL.
 * @private_data_len: Its length, up to IB_CM_LAP_PRIVATE_DATA_SIZE bytes.
 * @remote_cm_response_timeout: The time that the peer may take to answer, 4.096 us * 2^n
 *	with n up to 31.
 */
struct ibex_cm_lap_param {
	struct sa_path_rec *path;
	const struct ib_gid_attr *sgid_attr;
	const void *private_data;
	u8 private_data_len;
	u8 remote_cm_response_timeout;
};

/**
 * struct ibex_cm_apr_param - the answer to such a request
 * @status: IB_CM_APR_SUCCESS, or why the path is refused.
 * @info: Additional information, or NULL.
 * @info_len: Its length, up to IB_CM_APR_INFO_LENGTH bytes.
 * @private_data: For the peer, or NULL.
 * @private_data_len: Its length, up to IB_CM_APR_PRIVATE_DATA_SIZE bytes.
 */
struct ibex_cm_apr_param {
	enum ib_cm_apr_status status;
	const void *info;
	u8 info_len;
	const void *private_data;
	u8 private_data_len;
};

int ibex_cm_send_lap(struct ib_cm_id *cm_id, const struct ibex_cm_lap_param *param);
int ibex_cm_send_apr(struct ib_cm_id *cm_id, const struct ibex_cm_apr_param *param);

#endif
