/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_MAD_AGENT_H
#define IBEX_MAD_AGENT_H

/* What ib_mad offers beyond <rdma/ib_mad.h>. */
#include <linux/bits.h>
#include <rdma/ib_mad.h>

/*
 * A flag of ib_register_mad_agent(), for agents with a class that have nothing to do with
 * RMPP: the handlers are short and do not sleep, so they may also run in the work of the
 * completion queue, which saves a work item for each MAD.  They still run one at a time and
 * in order.
 */
#define IBEX_MAD_DIRECT		BIT(31)

bool ibmad_take_back(struct ib_mad_send_buf *send_buf);

#endif
