/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef UVERBS_QP_RULES_H
#define UVERBS_QP_RULES_H

/* What the QPs of processes are made of. */
#include "queues/queues.h"

enum uverbs_qp_part {
	QP_PD, QP_XRCD, QP_SEND_CQ, QP_RECV_CQ, QP_SRQ, QP_IND_TBL, QP_PARTS
};

extern const struct uverbs_qp_part_ids {
	u16 type;	/* UVERBS_OBJECT_... */
	u16 attr;	/* by which the ioctl names it */
} uverbs_qp_parts[QP_PARTS];

/* By part, one bit each. */
struct uverbs_qp_rule {
	u8 needs;
	u8 allows;	/* beyond that */
};

/* What a process asks for, in whatever form. */
struct uverbs_qp_create {
	struct ib_uqp_object *obj;
	struct ib_uobject *parts[QP_PARTS];	/* locked for reading, or NULL */
	struct ib_qp_init_attr attr;		/* but for the parts */
};

/* NULL for types that processes cannot have; @rss: with a table of WQs. */
const struct uverbs_qp_rule *uverbs_qp_rule(u32 type, bool rss);
/* -EINVAL for parts that do not fit the type, -EPERM for what takes CAP_NET_RAW. */
int uverbs_qp_check(const struct uverbs_qp_create *create);
/*
 * Makes the QP of create->obj, whose events go to the descriptor that attribute
 * @fd_attr names.  On success create->attr.cap says what was granted.
 */
int uverbs_qp_make(struct uverbs_qp_create *create, struct uverbs_attr_bundle *attrs,
		   u16 fd_attr);

#endif
