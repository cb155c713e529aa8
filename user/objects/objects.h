/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef UVERBS_OBJECTS_H
#define UVERBS_OBJECTS_H

/* Objects that are not queues. */
#include "uverbs/uverbs.h"

/* ---- xrcd.c ---- */
struct uverbs_xrcd;

/* One open of an XRC domain; uobject.object is the domain. */
struct ib_uxrcd_object {
	struct ib_uobject uobject;
	atomic_t refcnt;		/* QPs and SRQs made through it; they keep it */
	struct uverbs_xrcd *shared;
};

/* ---- flow_spec.c ---- */
struct uverbs_flow_specs {
	struct uverbs_attr_bundle *attrs;
	const u8 *from, *end;		/* a copy of the user's specs */
	struct ib_flow_attr *to;	/* with room for all specs */
	struct ib_uflow_resources *resources;
};

int uverbs_flow_specs_convert(struct uverbs_flow_specs *specs, unsigned int num);

#endif
