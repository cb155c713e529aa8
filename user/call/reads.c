// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Objects that a command names by handle; in an ioctl call they are attributes. */
#include <rdma/uverbs_std_types.h>

#include "call/call.h"
#include "queues/queues.h"

/*
 * Finds the object of @type with handle @id and locks it for reading until
 * uverbs_reads_put().  If this fails, the caller must still call that to release the
 * objects found before.  ERR_PTR: those of a lookup.
 */
struct ib_uobject *uverbs_reads_get(struct uverbs_reads *reads, u16 type, u32 id)
{
	const struct uverbs_api_object *obj = uobj_get_type(reads->attrs, type);
	struct ib_uobject *uobj;

	/* rdma_lookup_get_uobject() would take NULL for any type. */
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

/* Like uverbs_reads_get(), for callers that need only the driver's object. */
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

/* The response_length of a response: how much of it the user has room for. */
u32 uverbs_response_length(const struct uverbs_attr_bundle *attrs, size_t size)
{
	return min(size, attrs->ucore.outlen);
}

/*
 * Destroys an object whose user object begins with struct uverbs_event_object.  Sets
 * *@events_reported to the number of its events that were read, which is final.
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
