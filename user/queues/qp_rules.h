/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef UVERBS_QP_RULES_H
#define UVERBS_QP_RULES_H

/* The objects that QPs of processes are made of. */
#include "queues/queues.h"

enum uverbs_qp_part {
	QP_PD, QP_XRCD, QP_SEND_CQ, QP_RECV_CQ, QP_SRQ, QP_IND_TBL, QP_PARTS
};

extern const struct uverbs_qp_part_ids {
	u16 type;	/* UVERBS_OBJECT_... */
	u16 attr;	/* by which ioctl names the part */
} uverbs_qp_parts[QP_PARTS];

/* Bitmaps of enum uverbs_qp_part. */
struct uverbs_qp_rule {
	u8 needs;
	u8 allows;	/* in addition to needs */
};

/* The QP that a process requests, by command or by ioctl. */
struct uverbs_qp_create {
	struct ib_uqp_object *obj;
	struct ib_uobject *parts[QP_PARTS];	/* locked for reading, or NULL */
	struct ib_qp_init_attr attr;		/* without the parts, at first */
};

/* NULL for types that processes cannot make; @rss: with an indirection table. */
const struct uverbs_qp_rule *uverbs_qp_rule(u32 type, bool rss);
/* -EINVAL for parts that do not fit the type, -EPERM if CAP_NET_RAW is missing. */
int uverbs_qp_check(const struct uverbs_qp_create *create);
/*
 * Makes the QP of create->obj, whose events go to the descriptor that attribute
 * @fd_attr names.  On success create->attr.cap has the granted capacities.
 */
int uverbs_qp_make(struct uverbs_qp_create *create, struct uverbs_attr_bundle *attrs,
		   u16 fd_attr);

#endif
