// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One call of a uverbs method, and the memory that is freed when it ends.
 *
 * Most handlers need little memory, which they get from the end of the buffer that
 * holds the call itself.  What does not fit there is allocated separately and linked to
 * the call.
 */
#include <linux/align.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <kunit/visibility.h>

#include "call/call.h"
#include "uverbs/uverbs.h"

#define ARENA_ALIGN sizeof(u64)

struct uverbs_spill {
	struct uverbs_spill *next;
	u64 data[];
};

size_t uverbs_call_size(unsigned int nr_attrs, size_t arena)
{
	return size_add(struct_size_t(struct uverbs_call, bundle.attrs, nr_attrs),
			arena);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_call_size);

struct uverbs_call *uverbs_call_init(void *buf, size_t size,
				     unsigned int nr_attrs,
				     struct ib_uverbs_file *file)
{
	size_t used = uverbs_call_size(nr_attrs, 0);
	struct uverbs_call *call = buf;

	if (WARN_ON(size < used || nr_attrs > UVERBS_API_ATTR_BKEY_LEN))
		return NULL;
	memset(call, 0, used);
	call->bundle.ufile = file;
	call->room = buf + min(ALIGN(used, ARENA_ALIGN), size);
	call->room_end = buf + size;
	return call;
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_call_init);

void uverbs_call_finish(struct uverbs_call *call)
{
	struct uverbs_spill *spill;

	while ((spill = call->spills)) {
		call->spills = spill->next;
		kvfree(spill);
	}
	call->room = call->room_end;
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_call_finish);

static void *uverbs_alloc_spill(struct uverbs_call *call, size_t size,
				gfp_t flags)
{
	struct uverbs_spill *spill;

	spill = kvmalloc(size_add(sizeof(*spill), size), flags);
	if (!spill)
		return ERR_PTR(-ENOMEM);
	spill->next = call->spills;
	call->spills = spill;
	return spill->data;
}

/**
 * _uverbs_alloc() - allocate memory until the end of a method call
 * @bundle: attributes of the call
 * @size: bytes; 0 is allowed
 * @flags: GFP_KERNEL or the like, with __GFP_ZERO for zeroed memory
 *
 * The memory is freed when the call ends, whether it succeeds or not.
 *
 * Context: the calling thread of the method; may sleep if @flags say so.
 * Return: memory aligned to 8 bytes, or an ERR_PTR: -EOVERFLOW if @size is more than any
 * allocation can have, -ENOMEM.
 */
void *_uverbs_alloc(struct uverbs_attr_bundle *bundle, size_t size,
		    gfp_t flags)
{
	struct uverbs_call *call = uverbs_call_of(bundle);
	void *mem = call->room;

	if (size > INT_MAX - sizeof(struct uverbs_spill))
		return ERR_PTR(-EOVERFLOW);
	if (ALIGN(size, ARENA_ALIGN) > call->room_end - call->room)
		return uverbs_alloc_spill(call, size, flags);

	call->room += ALIGN(size, ARENA_ALIGN);
	if (flags & __GFP_ZERO)
		memset(mem, 0, size);
	return mem;
}
EXPORT_SYMBOL(_uverbs_alloc);
