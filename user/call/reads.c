// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The objects that a command names by handle, which by ioctl are attributes. */
#include <rdma/uverbs_std_types.h>

#include "call/call.h"
#include "queues/queues.h"

/*
 * The object of @type with handle @id, locked for reading until uverbs_reads_put(),
 * which the caller owes in any case.  ERR_PTR: those of a lookup.
 */
struct ib_uobject *uverbs_reads_get(struct uverbs_reads *reads, u16 type, u32 id)
{
	const struct uverbs_api_object *obj = uobj_get_type(reads->attrs, type);
	struct ib_uobject *uobj;

	/* Lookups take no type for any type. */
	if (!obj)
		return ERR_PTR(-EOPNOTSUPP);
	if (WARN_ON(reads->n == ARRAY_SIZE(reads->uobjs)))
		return ERR_PTR(-EINVAL);
	uobj = rdma_lookup_get_uobject(obj, reads->attrs->ufile, id,
				       UVERBS_LOOKUP_READ, reads->attrs);
	if (!IS_ERR(uobj))
		reads->uobjs[reads->n++] = uobj;
	return uobj;
}

/* Likewise, for those who need no more than the driver's object. */
void *uverbs_reads_object(struct uverbs_reads *reads, u16 type, u32 id)
{
	struct ib_uobject *uobj = uverbs_reads_get(reads, type, id);

	return IS_ERR(uobj) ? ERR_CAST(uobj) : uobj->object;
}

void uverbs_reads_put(struct uverbs_reads *reads)
{
	while (reads->n)
		uobj_put_read(reads->uobjs[--reads->n]);
}

/* For structs that end in response_length: as much of the response as the user takes. */
u32 uverbs_response_length(const struct uverbs_attr_bundle *attrs, size_t size)
{
	return min(size, attrs->ucore.outlen);
}

/*
 * Destroys an object whose user object begins with struct uverbs_event_object.
 * *@events_reported: how many of its events were read, which will not change any more.
 */
int uverbs_destroy_event_object(struct uverbs_attr_bundle *attrs, u16 type, u32 id,
				u32 *events_reported)
{
	struct ib_uobject *gone = __uobj_get_destroy(uobj_get_type(attrs, type), id,
						     attrs);

	if (IS_ERR(gone))
		return PTR_ERR(gone);
	*events_reported = container_of(gone, struct uverbs_event_object,
					uobject)->events_reported;
	uobj_put_destroy(gone);
	return 0;
}
