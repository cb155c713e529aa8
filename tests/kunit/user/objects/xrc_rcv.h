/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_USER_XRC_RCV_H
#define IBEX_USER_XRC_RCV_H

/* Processes that have receive QPs made for an XRC domain, which they share by a file. */
#include <uapi/ibex/xrc.h>
#include "user/queues/process_queues.h"

#define RCV_NEEDED	(IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_AV | \
			 IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN)
#define RCV_OPTIONAL	(IB_QP_MIN_RNR_TIMER | IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_ALT_PATH)
#define RCV_ALL		(RCV_NEEDED | RCV_OPTIONAL)

/* A descriptor of a new file in memory. */
int rcv_file(struct kunit *test);
int rcv_open_domain(struct commands *c, int fd, u32 *handle);
int rcv_close_domain(struct commands *c, u32 handle);
/* Attributes that are valid with RCV_ALL. */
void rcv_attr(struct ib_uverbs_qp_attr *attr);
/* The ioctl itself; @qpn is set if it works. */
int rcv_call(struct commands *c, u32 xrcd, const struct ib_uverbs_qp_attr *attr, u32 mask,
	     u32 *qpn);
/* The same with rcv_attr() and RCV_ALL. */
int rcv_alloc(struct commands *c, u32 xrcd, u32 *qpn);
/* The provider's QP, or NULL. */
struct ib_qp *rcv_qp(struct commands *c, u32 qpn);
int rcv_alive(struct commands *c, enum fake_hca_object kind);

#endif
