/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_XRC_H
#define IBEX_XRC_H

#include <rdma/ib_verbs.h>

/* Makes a receive QP that @xrcd owns, and sets *@qpn to its number: Documentation/xrc.rst. */
int ibcore_xrc_rcv_alloc(struct ib_xrcd *xrcd, const struct ib_qp_attr *attr, int mask,
			 u32 *qpn);
/* Destroys one again whose number its maker could not pass on. */
void ibcore_xrc_rcv_undo(struct ib_xrcd *xrcd, u32 qpn);

#endif
