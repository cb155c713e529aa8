// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See methods.h. */
#define UVERBS_MODULE_NAME thing_drv
#include <linux/file.h>
#include <rdma/uverbs_named_ioctl.h>
#include <rdma/uverbs_std_types.h>
#include "methods.h"
#include "user/fixture.h"
#include "call/call.h"

struct methods_seen methods_seen;

static int UVERBS_HANDLER(THING_CREATE)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(attrs, CREATE_HANDLE);
	struct methods_seen *seen = &methods_seen;
	u32 out = 0xabcd;
	int ret;

	seen->calls++;
	uobj->object = seen;
	if (seen->finalize)
		uverbs_finalize_uobj_create(attrs, CREATE_HANDLE);
	ret = uverbs_copy_from(&seen->value, attrs, CREATE_VALUE);
	if (IS_UVERBS_COPY_ERR(ret))
		return ret;
	ret = uverbs_copy_from_or_zero(&seen->st, attrs, CREATE_STRUCT);
	if (IS_UVERBS_COPY_ERR(ret))
		return ret;
	ret = uverbs_copy_from(&seen->sh, attrs, CREATE_SHORT);
	if (IS_UVERBS_COPY_ERR(ret))
		return ret;
	seen->copy_len = uverbs_attr_get_len(attrs, CREATE_COPY);
	if (seen->copy_len > 0)
		memcpy(seen->copy, uverbs_attr_get_alloced_ptr(attrs, CREATE_COPY),
		       min_t(size_t, seen->copy_len, sizeof(seen->copy)));
	seen->kind = uverbs_attr_get_enum_id(attrs, CREATE_KIND);
	seen->inlen = attrs->driver_udata.inlen;
	seen->outlen = attrs->driver_udata.outlen;
	ret = uverbs_copy_to(attrs, CREATE_OUT, &out, sizeof(out));
	if (IS_UVERBS_COPY_ERR(ret))
		return ret;
	return seen->ret;
}

static int UVERBS_HANDLER(THING_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject **many;
	u64 out = 7;

	methods_seen.calls++;
	methods_seen.nr_many = uverbs_attr_get_uobjs_arr(attrs, QUERY_MANY, &many);
	if (uverbs_get_raw_fd(&methods_seen.raw_fd, attrs, QUERY_RAW_FD))
		methods_seen.raw_fd = -1;
	return uverbs_copy_to_struct_or_zero(attrs, QUERY_OUT, &out, sizeof(out));
}

static int UVERBS_HANDLER(THING_OPEN)(struct uverbs_attr_bundle *attrs)
{
	methods_seen.calls++;
	return methods_seen.ret;
}

static int method_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
			  struct uverbs_attr_bundle *attrs)
{
	return fixture_note(uobj, why);
}

static void method_fd_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why)
{
	fixture_note(uobj, why);
}

static const struct file_operations method_fops = {
	.owner = THIS_MODULE,
	.release = uverbs_uobject_fd_release,
};

static const struct uverbs_attr_spec kinds[] = {
	[0] = { .type = UVERBS_ATTR_TYPE_PTR_IN, UVERBS_ATTR_TYPE(u32) },
	[2] = { .type = UVERBS_ATTR_TYPE_PTR_IN, UVERBS_ATTR_NO_DATA() },
};

DECLARE_UVERBS_NAMED_METHOD(
	THING_CREATE,
	UVERBS_ATTR_IDR(CREATE_HANDLE, THING_OBJECT, UVERBS_ACCESS_NEW,
			UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(CREATE_VALUE, UVERBS_ATTR_TYPE(u64), UA_OPTIONAL),
	UVERBS_ATTR_PTR_IN(CREATE_STRUCT,
			   UVERBS_ATTR_STRUCT(struct thing_struct, b), UA_OPTIONAL),
	UVERBS_ATTR_PTR_IN(CREATE_SHORT, UVERBS_ATTR_STRUCT(struct thing_short, a),
			   UA_OPTIONAL),
	UVERBS_ATTR_PTR_IN(CREATE_COPY, UVERBS_ATTR_MIN_SIZE(1), UA_OPTIONAL,
			   UA_ALLOC_AND_COPY),
	UVERBS_ATTR_PTR_OUT(CREATE_OUT, UVERBS_ATTR_TYPE(u32), UA_OPTIONAL),
	UVERBS_ATTR_ENUM_IN(CREATE_KIND, kinds, UA_OPTIONAL),
	UVERBS_ATTR_UHW());

DECLARE_UVERBS_NAMED_METHOD(
	THING_QUERY,
	UVERBS_ATTR_IDR(QUERY_HANDLE, UVERBS_IDR_ANY_OBJECT, UVERBS_ACCESS_READ,
			UA_OPTIONAL),
	UVERBS_ATTR_IDRS_ARR(QUERY_MANY, THING_OBJECT, UVERBS_ACCESS_WRITE, 1, 4,
			     UA_OPTIONAL),
	UVERBS_ATTR_FD(QUERY_FD, THING_FD_OBJECT, UVERBS_ACCESS_READ, UA_OPTIONAL),
	UVERBS_ATTR_RAW_FD(QUERY_RAW_FD, UA_OPTIONAL),
	UVERBS_ATTR_PTR_OUT(QUERY_OUT, UVERBS_ATTR_STRUCT(struct thing_struct, a),
			    UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD_DESTROY(
	THING_DESTROY,
	UVERBS_ATTR_IDR(DESTROY_HANDLE, THING_OBJECT, UVERBS_ACCESS_DESTROY,
			UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	THING_OPEN,
	UVERBS_ATTR_FD(OPEN_FD, THING_FD_OBJECT, UVERBS_ACCESS_NEW, UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(THING_OBJECT,
			    UVERBS_TYPE_ALLOC_IDR_SZ(sizeof(struct fixture_object),
						     method_destroy),
			    &UVERBS_METHOD(THING_CREATE),
			    &UVERBS_METHOD(THING_QUERY),
			    &UVERBS_METHOD(THING_DESTROY));

DECLARE_UVERBS_NAMED_OBJECT(THING_FD_OBJECT,
			    UVERBS_TYPE_ALLOC_FD(sizeof(struct fixture_object),
						 method_fd_destroy, &method_fops,
						 "[method]", O_RDONLY),
			    &UVERBS_METHOD(THING_OPEN));

static int write_command(struct uverbs_attr_bundle *attrs)
{
	return 0;
}

/* Creates an object if requested, and responds with what it got. */
static int write_answer(struct uverbs_attr_bundle *attrs)
{
	struct methods_seen *seen = &methods_seen;
	struct ib_uobject *uobj;
	int ret;

	seen->calls++;
	seen->core = attrs->ucore;
	seen->inlen = attrs->driver_udata.inlen;
	seen->outlen = attrs->driver_udata.outlen;
	ret = uverbs_request(attrs, &seen->req, sizeof(seen->req));
	if (ret)
		return ret;
	if (seen->req.make) {
		uobj = rdma_alloc_begin_uobject(uobj_get_type(attrs, THING_OBJECT),
						attrs);
		if (IS_ERR(uobj))
			return PTR_ERR(uobj);
		uobj->object = seen;
		uobj_finalize_uobj_create(uobj, attrs);
	}
	if (seen->ret)
		return seen->ret;
	return uverbs_response(attrs, &seen->req, sizeof(seen->req));
}

/* Sums the numbers that follow the request. */
static int write_sum(struct uverbs_attr_bundle *attrs)
{
	struct uverbs_tail tail;
	struct write_req req;
	u32 value;
	int ret;

	ret = uverbs_request_begin(attrs, &tail, &req, sizeof(req));
	methods_seen.value = 0;
	while (!ret && req.n--) {
		ret = uverbs_request_next(&tail, &value, sizeof(value));
		methods_seen.value += ret ? 0 : value;
	}
	return ret ?: uverbs_request_end(&tail);
}

static bool never(struct ib_device *ibdev)
{
	return false;
}

static const struct uapi_definition more_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(THING_FD_OBJECT),
	{},
};

const struct uapi_definition methods_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(THING_OBJECT),
	UAPI_DEF_CHAIN(more_defs),
	DECLARE_UVERBS_OBJECT(
		THING_LACKED_OBJECT,
		DECLARE_UVERBS_WRITE(WRITE_LACKED_OBJECT, write_command, .write.req_size = 4),
		UAPI_DEF_IS_OBJ_SUPPORTED(never)),
	DECLARE_UVERBS_OBJECT(
		THING_OBJECT,
		DECLARE_UVERBS_WRITE(WRITE_PLAIN, write_command, .write.req_size = 4),
		DECLARE_UVERBS_WRITE(WRITE_LACKED, write_command, .write.req_size = 4,
				     UAPI_DEF_METHOD_NEEDS_FN(create_flow)),
		DECLARE_UVERBS_WRITE_EX(WRITE_PLAIN, write_command, .write.req_size = 8),
		DECLARE_UVERBS_WRITE(WRITE_ANSWER, write_answer,
				     UVERBS_REQ_RESP_UDATA(write_req, write_req)),
		DECLARE_UVERBS_WRITE_EX(WRITE_ANSWER, write_answer,
					UVERBS_EX_REQ_RESP(write_req, make,
							   write_req, make)),
		DECLARE_UVERBS_WRITE(WRITE_SUM, write_sum, UVERBS_REQ(write_req)),
		DECLARE_UVERBS_WRITE(WRITE_DRIVER, write_answer,
				     UVERBS_REQ_UDATA(write_req))),
	{},
};
