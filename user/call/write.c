// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Commands: methods called with a struct rather than with attributes.
 *
 * Commands come by write(2) in two forms.  The older form is a header, the core's
 * request, which begins with the address of the response, and the driver's request;
 * lengths are in words of 4 bytes, and the command determines where each part ends.
 * The extended form has a second header, with the address of the response and a length
 * for each part, in words of 8 bytes.  UVERBS_METHOD_INVOKE_WRITE passes the same by
 * ioctl, with the parts as attributes.
 *
 * All forms look the same to a handler: attrs->ucore has the core's part, driver_udata
 * the driver's.  A new object that the handler gives to uobj_finalize_uobj_create() is
 * committed if the handler returns 0, else destroyed.
 *
 * After the device was removed, commands that destroy still work, on the objects that
 * it left behind.
 */
#include <linux/uaccess.h>
#include <kunit/visibility.h>
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/uverbs_named_ioctl.h>

#include "call/call.h"
#include "uverbs/uverbs.h"

/* Most handlers allocate this many bytes or fewer. */
#define WRITE_ARENA 256

/* ---- what handlers read and write ---- */

static int check_cleared(const void __user *at, size_t len)
{
	int zero = len ? check_zeroed_user(at, len) : 1;

	if (zero < 0)
		return zero;
	return zero ? 0 : -EOPNOTSUPP;
}

/*
 * Copies the request into a struct of @size bytes.  What an older program did not send
 * is zeroed; what a newer program sent beyond the struct must be zero.
 */
int uverbs_request(const struct uverbs_attr_bundle *attrs, void *req, size_t size)
{
	const struct ib_udata *ucore = &attrs->ucore;
	size_t len = min(size, ucore->inlen);

	if (copy_from_user(req, ucore->inbuf, len))
		return -EFAULT;
	memset(req + len, 0, size - len);
	return check_cleared(ucore->inbuf + len, ucore->inlen - len);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_request);

/* Writes as much of the response as the user has room for, and zeroes room beyond it. */
int uverbs_response(struct uverbs_attr_bundle *attrs, const void *resp, size_t size)
{
	const struct ib_udata *ucore = &attrs->ucore;
	size_t len = min(size, ucore->outlen);
	const struct uverbs_attr *attr;

	if (copy_to_user(ucore->outbuf, resp, len) ||
	    (ucore->outlen > len && clear_user(ucore->outbuf + len,
					       ucore->outlen - len)))
		return -EFAULT;
	/* If the command came by ioctl, the response is an attribute. */
	attr = uverbs_attr_get(attrs, UVERBS_ATTR_CORE_OUT);
	return IS_ERR(attr) ? 0 : uverbs_attr_written(attrs, attr);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_response);

int uverbs_command_made(struct ib_uobject *uobj, int ret,
			struct uverbs_attr_bundle *attrs)
{
	if (ret)
		uobj_alloc_abort(uobj, attrs);
	else
		uobj_finalize_uobj_create(uobj, attrs);
	return ret;
}

/* For requests with data after their struct; -ENOSPC if the request is shorter. */
int uverbs_request_begin(const struct uverbs_attr_bundle *attrs,
			 struct uverbs_tail *tail, void *req, size_t size)
{
	tail->at = attrs->ucore.inbuf;
	tail->end = tail->at + attrs->ucore.inlen;
	return uverbs_request_next(tail, req, size);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_request_begin);

int uverbs_request_next(struct uverbs_tail *tail, void *to, size_t size)
{
	const void __user *from = uverbs_request_next_ptr(tail, size);

	if (IS_ERR(from))
		return PTR_ERR(from);
	return copy_from_user(to, from, size) ? -EFAULT : 0;
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_request_next);

const void __user *uverbs_request_next_ptr(struct uverbs_tail *tail, size_t size)
{
	const void __user *from = tail->at;

	if (size > tail->end - tail->at)
		return (const void __user *)ERR_PTR(-ENOSPC);
	tail->at += size;
	return from;
}

int uverbs_request_end(const struct uverbs_tail *tail)
{
	return check_cleared(tail->at, tail->end - tail->at);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_request_end);

/* ---- dispatch ---- */

/* Commands that only destroy an object, which needs no section. */
static bool only_destroys(u32 command)
{
	switch (command) {
	case IB_USER_VERBS_CMD_DEALLOC_PD:
	case IB_USER_VERBS_CMD_DESTROY_AH:
	case IB_USER_VERBS_CMD_DEREG_MR:
	case IB_USER_VERBS_CMD_DEALLOC_MW:
	case IB_USER_VERBS_CMD_DESTROY_CQ:
	case IB_USER_VERBS_CMD_DESTROY_QP:
	case IB_USER_VERBS_CMD_DESTROY_SRQ:
	case IB_USER_VERBS_CMD_CLOSE_XRCD:
	case IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_DESTROY_FLOW:
	case IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_DESTROY_WQ:
	case IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL:
		return true;
	default:
		return false;
	}
}

static int find_command(const struct ib_uverbs_file *file, u32 command,
			const struct uverbs_write_method **method)
{
	bool ex = command & IB_USER_VERBS_CMD_FLAG_EXTENDED;
	u32 number = command & ~IB_USER_VERBS_CMD_FLAG_EXTENDED;

	if (READ_ONCE(file->device->gone) && !only_destroys(command))
		return -EIO;
	if (number & ~(u32)IB_USER_VERBS_CMD_COMMAND_MASK)
		return -EINVAL;
	*method = uverbs_api_write(file->device->uapi, number, ex);
	return *method ? 0 : -EOPNOTSUPP;
}

static int run_command(const struct uverbs_write_method *method,
		       struct uverbs_attr_bundle *attrs)
{
	int ret = method->handler(attrs);

	if (!attrs->uobject)
		return ret;
	if (ret)
		rdma_alloc_abort_uobject(attrs->uobject, attrs, true);
	else
		rdma_alloc_commit_uobject(attrs->uobject, attrs);
	attrs->uobject = NULL;
	return ret;
}

static void set_udata(struct ib_udata *udata, const void __user *in, size_t inlen,
		      void __user *out, size_t outlen)
{
	udata->inbuf = inlen ? in : NULL;
	udata->outbuf = outlen ? out : NULL;
	udata->inlen = inlen;
	udata->outlen = outlen;
}

/* Parses the older form of a command: the @count bytes after @hdr. */
static int take_command(struct uverbs_attr_bundle *attrs,
			const struct uverbs_write_method *method,
			const struct ib_uverbs_cmd_hdr *hdr,
			const char __user *in, size_t count)
{
	size_t out_len = hdr->out_words * 4, in_core = count, out_core = out_len;
	void __user *out = NULL;
	u64 response;

	if (hdr->in_words * 4 != count + sizeof(*hdr))
		return -EINVAL;
	if (count < method->req_size || out_len < method->resp_size)
		return -ENOSPC;
	if (method->has_resp) {
		if (copy_from_user(&response, in, sizeof(response)))
			return -EFAULT;
		out = u64_to_user_ptr(response);
	} else {
		out_core = 0;
		out_len = 0;
	}
	if (method->has_udata) {
		in_core = method->req_size;
		out_core = method->resp_size;
	}
	set_udata(&attrs->ucore, in, in_core, out, out_core);
	set_udata(&attrs->driver_udata, in + in_core, count - in_core,
		  out + out_core, out_len - out_core);
	return 0;
}

/* Parses the extended form of a command: the @count bytes after @hdr. */
static int take_command_ex(struct uverbs_attr_bundle *attrs,
			   const struct uverbs_write_method *method,
			   const struct ib_uverbs_cmd_hdr *hdr,
			   const char __user *in, size_t count)
{
	struct ib_uverbs_ex_cmd_hdr ex;
	size_t in_core = hdr->in_words * 8, in_driver;
	size_t out_core = hdr->out_words * 8, out_driver;
	void __user *out;

	if (count < sizeof(ex))
		return -EINVAL;
	if (copy_from_user(&ex, in, sizeof(ex)))
		return -EFAULT;
	in += sizeof(ex);
	in_driver = ex.provider_in_words * 8;
	out_driver = ex.provider_out_words * 8;
	if (in_core + in_driver != count - sizeof(ex) || ex.cmd_hdr_reserved ||
	    !ex.response != !(out_core + out_driver))
		return -EINVAL;
	if (in_core < method->req_size || out_core < method->resp_size)
		return -ENOSPC;
	out = u64_to_user_ptr(ex.response);
	if (!access_ok(out, out_core + out_driver))
		return -EFAULT;
	set_udata(&attrs->ucore, in, in_core, out, out_core);
	set_udata(&attrs->driver_udata, in + in_core, in_driver,
		  out + out_core, out_driver);
	return 0;
}

/*
 * Runs a write() of @count bytes at @buf.  Called in the context of the user, within a
 * section of the device unless the device was removed.  Returns the handler's result,
 * or: -EINVAL for a malformed command, -EOPNOTSUPP if the device does not have the
 * command, -ENOSPC if its request or the room for its response is too short, -EFAULT,
 * -EIO if the device was removed, and the errors of looking objects up.
 */
int uverbs_call_write(struct ib_uverbs_file *file, const char __user *buf,
		      size_t count)
{
	u64 mem[(sizeof(struct uverbs_call) + WRITE_ARENA) / sizeof(u64)];
	const struct uverbs_write_method *method;
	struct ib_uverbs_cmd_hdr hdr;
	struct uverbs_call *call;
	int ret;

	if (count < sizeof(hdr))
		return -EINVAL;
	if (copy_from_user(&hdr, buf, sizeof(hdr)))
		return -EFAULT;
	ret = find_command(file, hdr.command, &method);
	if (ret)
		return ret;

	call = uverbs_call_init(mem, sizeof(mem), 0, file);
	buf += sizeof(hdr);
	count -= sizeof(hdr);
	if (hdr.command & IB_USER_VERBS_CMD_FLAG_EXTENDED)
		ret = take_command_ex(&call->bundle, method, &hdr, buf, count);
	else
		ret = take_command(&call->bundle, method, &hdr, buf, count);
	if (!ret)
		ret = run_command(method, &call->bundle);
	uverbs_call_finish(call);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_call_write);

/* ---- by ioctl ---- */

/* The user address and length of input attribute @id; the length is 0 without it. */
static const void __user *user_in(const struct uverbs_attr_bundle *attrs, u16 id,
				  size_t *len)
{
	const struct uverbs_attr *attr = uverbs_attr_get(attrs, id);
	const struct uverbs_call *call = uverbs_call_of(attrs);

	*len = 0;
	if (IS_ERR(attr))
		return NULL;
	*len = attr->ptr_attr.len;
	if (uverbs_attr_ptr_is_inline(attr))
		return &call->user_attrs[attr->ptr_attr.uattr_idx].data;
	return u64_to_user_ptr(attr->ptr_attr.data);
}

static int UVERBS_HANDLER(UVERBS_METHOD_INVOKE_WRITE)(struct uverbs_attr_bundle *attrs)
{
	const struct uverbs_attr *out = uverbs_attr_get(attrs, UVERBS_ATTR_CORE_OUT);
	const struct uverbs_write_method *method;
	size_t inlen, outlen = 0;
	const void __user *in;
	void __user *to = NULL;
	u32 command;
	int ret;

	ret = uverbs_get_const(&command, attrs, UVERBS_ATTR_WRITE_CMD);
	if (!ret)
		ret = find_command(attrs->ufile, command, &method);
	if (ret)
		return ret;
	in = user_in(attrs, UVERBS_ATTR_CORE_IN, &inlen);
	if (!IS_ERR(out)) {
		to = u64_to_user_ptr(out->ptr_attr.data);
		outlen = out->ptr_attr.len;
	}
	if (inlen < method->req_size || outlen < method->resp_size)
		return -ENOSPC;
	set_udata(&attrs->ucore, in, inlen, to, outlen);
	return run_command(method, attrs);
}

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_INVOKE_WRITE,
	UVERBS_ATTR_PTR_IN(UVERBS_ATTR_CORE_IN, UVERBS_ATTR_MIN_SIZE(sizeof(u32)),
			   UA_OPTIONAL),
	UVERBS_ATTR_PTR_OUT(UVERBS_ATTR_CORE_OUT, UVERBS_ATTR_MIN_SIZE(0),
			    UA_OPTIONAL),
	UVERBS_ATTR_CONST_IN(UVERBS_ATTR_WRITE_CMD, enum ib_uverbs_write_cmds,
			     UA_MANDATORY),
	UVERBS_ATTR_UHW());

DECLARE_UVERBS_GLOBAL_METHODS(UVERBS_OBJECT_DEVICE,
			      &UVERBS_METHOD(UVERBS_METHOD_INVOKE_WRITE));

const struct uapi_definition uverbs_write_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_DEVICE),
	{}
};
