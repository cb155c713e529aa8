/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef UVERBS_CALL_H
#define UVERBS_CALL_H

/* Calls: the methods that a process may call on a device, and how calls are parsed. */
#include "uverbs/uverbs.h"

/* ---- call.c: one call of a method ---- */
struct uverbs_spill;

/*
 * A call: the bundle that handlers see, and what is private to the dispatcher.  It is
 * at the start of a buffer of the dispatcher, followed by the attributes of the bundle
 * and the arena.  Only the calling thread uses it, so nothing in it is locked.
 */
struct uverbs_call {
	/* The user's attributes: a copy, and their user address; NULL for write(). */
	const struct ib_uverbs_attr *uattrs;
	struct ib_uverbs_attr __user *user_attrs;
	unsigned int nr_uattrs;
	/* Arena of _uverbs_alloc(): rest of the buffer; allocations that did not fit. */
	void *room, *room_end;
	struct uverbs_spill *spills;
	/* New objects that are complete, by index in the bundle. */
	DECLARE_BITMAP(finalized, UVERBS_API_ATTR_BKEY_LEN);
	struct uverbs_attr_bundle bundle;	/* last: its attributes follow */
};

static inline struct uverbs_call *
uverbs_call_of(const struct uverbs_attr_bundle *bundle)
{
	return container_of(bundle, struct uverbs_call, bundle);
}

/* Size in bytes of a buffer for @nr_attrs attributes and @arena bytes of allocations. */
size_t uverbs_call_size(unsigned int nr_attrs, size_t arena);
/* Starts a call in @buf, aligned to 8 bytes; NULL if @size bytes are too few. */
struct uverbs_call *uverbs_call_init(void *buf, size_t size,
				     unsigned int nr_attrs,
				     struct ib_uverbs_file *file);
/* Frees all that was allocated for the call, but not the buffer. */
void uverbs_call_finish(struct uverbs_call *call);

/* ---- attr.c ---- */
/* Flags an output attribute as written, in the user's array. */
int uverbs_attr_written(const struct uverbs_attr_bundle *bundle,
			const struct uverbs_attr *attr);

/* ---- write.c: commands, by write() or by ioctl ---- */
int uverbs_call_write(struct ib_uverbs_file *file, const char __user *buf,
		      size_t count);
int uverbs_request(const struct uverbs_attr_bundle *attrs, void *req, size_t size);
int uverbs_response(struct uverbs_attr_bundle *attrs, const void *resp,
		    size_t size);
/*
 * Called when the driver has made the object of @uobj, or failed with @ret.  On
 * success, the dispatcher will commit @uobj, which uobj_alloc() began, or destroy it if
 * the handler fails after all; otherwise @uobj is aborted.  Returns @ret.
 */
int uverbs_command_made(struct ib_uobject *uobj, int ret,
			struct uverbs_attr_bundle *attrs);

/* The part of a request that follows its fixed struct. */
struct uverbs_tail {
	const void __user *at, *end;
};

int uverbs_request_begin(const struct uverbs_attr_bundle *attrs,
			 struct uverbs_tail *tail, void *req, size_t size);
int uverbs_request_next(struct uverbs_tail *tail, void *to, size_t size);
const void __user *uverbs_request_next_ptr(struct uverbs_tail *tail, size_t size);
int uverbs_request_end(const struct uverbs_tail *tail);

/*
 * Arguments of DECLARE_UVERBS_WRITE().  The request of the command is struct @req, its
 * response struct @resp; with UDATA, the driver's part follows each of them.
 */
#define UVERBS_REQ(req) .write.req_size = sizeof(struct req)
#define UVERBS_REQ_RESP(req, resp)					\
	.write.req_size = sizeof(struct req),				\
	.write.resp_size = sizeof(struct resp),				\
	.write.has_resp = 1
#define UVERBS_REQ_UDATA(req)	UVERBS_REQ(req), .write.has_udata = 1
#define UVERBS_REQ_RESP_UDATA(req, resp)				\
	UVERBS_REQ_RESP(req, resp), .write.has_udata = 1
/* For DECLARE_UVERBS_WRITE_EX(): each part must reach at least the end of a member. */
#define UVERBS_EX_REQ(req, last)					\
	.write.req_size = offsetofend(struct req, last)
#define UVERBS_EX_REQ_RESP(req, last, resp, resp_last)			\
	UVERBS_EX_REQ(req, last),					\
	.write.resp_size = offsetofend(struct resp, resp_last),		\
	.write.has_resp = 1

/* ---- reads.c: objects that a command names ---- */
#define UVERBS_MAX_READS 6

struct uverbs_reads {
	struct uverbs_attr_bundle *attrs;
	unsigned int n;
	struct ib_uobject *uobjs[UVERBS_MAX_READS];
};

struct ib_uobject *uverbs_reads_get(struct uverbs_reads *reads, u16 type, u32 id);
void *uverbs_reads_object(struct uverbs_reads *reads, u16 type, u32 id);
void uverbs_reads_put(struct uverbs_reads *reads);
u32 uverbs_response_length(const struct uverbs_attr_bundle *attrs, size_t size);
int uverbs_destroy_event_object(struct uverbs_attr_bundle *attrs, u16 type, u32 id,
				u32 *events_reported);

/* Attributes that many methods have; @need: UA_MANDATORY or UA_OPTIONAL. */
#define UVERBS_MAKES(id, type)						\
	UVERBS_ATTR_IDR(id, UVERBS_OBJECT_##type, UVERBS_ACCESS_NEW, UA_MANDATORY)
#define UVERBS_ENDS(id, type)						\
	UVERBS_ATTR_IDR(id, UVERBS_OBJECT_##type, UVERBS_ACCESS_DESTROY, UA_MANDATORY)
#define UVERBS_USES(id, type, need)					\
	UVERBS_ATTR_IDR(id, UVERBS_OBJECT_##type, UVERBS_ACCESS_READ, need)
#define UVERBS_IN(id, type, need)					\
	UVERBS_ATTR_PTR_IN(id, UVERBS_ATTR_TYPE(type), need)
#define UVERBS_OUT(id, type, need)					\
	UVERBS_ATTR_PTR_OUT(id, UVERBS_ATTR_TYPE(type), need)
#define UVERBS_EVENT_FD(id)						\
	UVERBS_ATTR_FD(id, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_ACCESS_READ,	\
		       UA_OPTIONAL)

/* ---- methods.c: all methods; each object's file has its own ---- */
extern const struct uapi_definition uverbs_core_definitions[];

extern const struct uapi_definition uverbs_write_definitions[];
extern const struct uapi_definition uverbs_context_definitions[];
extern const struct uapi_definition uverbs_query_definitions[];
extern const struct uapi_definition uverbs_pd_definitions[];
extern const struct uapi_definition uverbs_mr_definitions[];
extern const struct uapi_definition uverbs_mw_definitions[];
extern const struct uapi_definition uverbs_ah_definitions[];
extern const struct uapi_definition uverbs_dm_definitions[];
extern const struct uapi_definition uverbs_counters_definitions[];
extern const struct uapi_definition uverbs_xrcd_definitions[];
extern const struct uapi_definition uverbs_xrc_rcv_definitions[];
extern const struct uapi_definition uverbs_async_definitions[];
extern const struct uapi_definition uverbs_comp_channel_definitions[];
extern const struct uapi_definition uverbs_cq_definitions[];
extern const struct uapi_definition uverbs_srq_definitions[];
extern const struct uapi_definition uverbs_wq_definitions[];
extern const struct uapi_definition uverbs_rwq_ind_definitions[];
extern const struct uapi_definition uverbs_qp_definitions[];
extern const struct uapi_definition uverbs_qp_create_definitions[];
extern const struct uapi_definition uverbs_qp_open_definitions[];
extern const struct uapi_definition uverbs_qp_modify_definitions[];
extern const struct uapi_definition uverbs_mcast_definitions[];
extern const struct uapi_definition uverbs_post_definitions[];
extern const struct uapi_definition uverbs_flow_definitions[];

/* ---- api.c: the methods that a process may call on a device ---- */
#define UVERBS_NR_TYPES		BIT(UVERBS_API_OBJ_KEY_BITS)
/* Those of the kernel and of drivers, then our own: <uapi/ibex/xrc.h>. */
#define UVERBS_FIRST_OWN_METHOD	(UVERBS_API_METHOD_IS_WRITE >> UVERBS_API_METHOD_KEY_SHIFT)
#define UVERBS_NR_METHODS	(UVERBS_FIRST_OWN_METHOD + 1)

/* A method that is called by ioctl. */
struct uverbs_method {
	int (*handler)(struct uverbs_attr_bundle *attrs);
	bool driver_handler;		/* its handler is in the driver's module */
	bool destroys;			/* one attribute is an object to destroy */
	/*
	 * Not NULL if the method also runs without a section, after the device was
	 * removed.  The driver's module may be unloaded by then, so attrs[] refers to
	 * the copies here.
	 */
	struct uverbs_attr_spec *kept;
	u8 nr_attrs;
	DECLARE_BITMAP(mandatory, UVERBS_API_ATTR_BKEY_LEN);
	const struct uverbs_attr_spec *attrs[];	/* by index in the bundle; or NULL */
};

struct uverbs_api_type {
	struct uverbs_api_object object;	/* no type_class: it has only methods */
	struct uverbs_method *methods[UVERBS_NR_METHODS];
};

/* A command, called by write() or by UVERBS_METHOD_INVOKE_WRITE. */
struct uverbs_write_method {
	int (*handler)(struct uverbs_attr_bundle *attrs);
	const struct uverbs_api_type *type;	/* the type of its object */
	bool disabled;
	bool has_udata;
	bool has_resp;
	u8 req_size;
	u8 resp_size;
};

/* The methods of a device; not changed once it was created. */
struct uverbs_api {
	u32 driver_id;
	struct uverbs_api_type *types[UVERBS_NR_TYPES];
	struct uverbs_write_method writes[2][UVERBS_API_WRITE_KEY_NUM]; /* [extended] */
};

struct uverbs_api *uverbs_api_create(struct ib_device *ibdev,
				     const struct uapi_definition *core);
void uverbs_api_free(struct uverbs_api *api);
const struct uverbs_api_object *uapi_get_object(const struct uverbs_api *api, u16 id);
const struct uverbs_method *uverbs_api_method(const struct uverbs_api *api,
					      u16 object_id, u16 method_id);
const struct uverbs_attr_spec *
uverbs_method_attr(const struct uverbs_method *method, u16 id, unsigned int *bkey);
const struct uverbs_write_method *
uverbs_api_write(const struct uverbs_api *api, unsigned int command, bool ex);

/* ---- ioctl.c ---- */
int uverbs_call_ioctl(struct ib_uverbs_file *file,
		      const struct ib_uverbs_ioctl_hdr *hdr,
		      struct ib_uverbs_attr __user *user_attrs);

#endif
