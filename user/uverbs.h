/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_UVERBS_H
#define IBEX_UVERBS_H

/*
 * What the files of ib_uverbs share.
 */
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

struct ib_uverbs_file;

/* ---- call.c: one call of a method ---- */
struct uverbs_spill;

/*
 * A call: the bundle that handlers see, and what is not for them.  It lies in a
 * buffer of the dispatcher's, before the bundle's attributes and the arena; used by
 * the calling thread alone, so nothing in it is locked.
 */
struct uverbs_call {
	/* The user's attributes: a copy, and where they are; both NULL for write(). */
	const struct ib_uverbs_attr *uattrs;
	struct ib_uverbs_attr __user *user_attrs;
	unsigned int nr_uattrs;
	/* Arena of _uverbs_alloc(): what is left of the buffer, and what was not. */
	void *room, *room_end;
	struct uverbs_spill *spills;
	struct uverbs_attr_bundle bundle;	/* last: its attributes follow */
};

static inline struct uverbs_call *
uverbs_call_of(const struct uverbs_attr_bundle *bundle)
{
	return container_of(bundle, struct uverbs_call, bundle);
}

/* Bytes of a buffer for @nr_attrs attributes and @arena bytes of allocations. */
size_t uverbs_call_size(unsigned int nr_attrs, size_t arena);
/* Starts a call in @buf, aligned to 8 bytes; NULL if @size bytes are too few. */
struct uverbs_call *uverbs_call_init(void *buf, size_t size,
				     unsigned int nr_attrs,
				     struct ib_uverbs_file *file);
/* Frees all that was allocated for the call, but not the buffer. */
void uverbs_call_finish(struct uverbs_call *call);

#endif
