/* SPDX-License-Identifier: ((GPL-2.0-only WITH Linux-syscall-note) OR Linux-OpenIB) */
#ifndef IBEX_XRC_ABI_H
#define IBEX_XRC_ABI_H

/*
 * XRC receive QPs that belong to their domain: a method of UVERBS_OBJECT_XRCD, called with
 * RDMA_VERBS_IOCTL (Documentation/xrc.rst).  ibv_alloc_xrc_rcv_qp(3) is made of it.
 *
 * Bits 12 to 15 of an id say whose it is: 0 the kernel's own, 1 the driver's.  Ours are in a
 * range that the kernel neither uses nor can: it answers EPROTONOSUPPORT to them.
 */
#include <rdma/ib_user_verbs.h>

#define IBEX_UVERBS_ID_NS	0xe000

/* Methods of UVERBS_OBJECT_XRCD. */
enum {
	IBEX_METHOD_ALLOC_XRC_RCV_QP = IBEX_UVERBS_ID_NS,
};

/* Attributes of IBEX_METHOD_ALLOC_XRC_RCV_QP; all are mandatory. */
enum {
	/* Handle of the XRC domain. */
	IBEX_ATTR_ALLOC_XRC_RCV_QP_XRCD,
	/*
	 * struct ib_uverbs_qp_attr, of the QP in RTR.  What the mask does not name is not
	 * read, nor is qp_attr_mask.
	 */
	IBEX_ATTR_ALLOC_XRC_RCV_QP_ATTR,
	/* __u32: the bits of enum ibv_qp_attr_mask that say which members of it are given. */
	IBEX_ATTR_ALLOC_XRC_RCV_QP_MASK,
	/* __u32, out: the number of the new QP. */
	IBEX_ATTR_ALLOC_XRC_RCV_QP_RESP_QP_NUM,
};

#endif
