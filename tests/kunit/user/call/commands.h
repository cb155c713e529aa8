/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_USER_COMMANDS_H
#define IBEX_USER_COMMANDS_H

/*
 * A process that has opened the node of a fake adapter, has a context, and makes calls by
 * write() and ioctl() from its own memory.
 *
 *	commands_init() as the suite's init makes test->priv, commands_exit() ends it.
 *
 * By write(), or by ioctl with c->invoke:
 *	struct ib_uverbs_alloc_pd cmd = {};
 *	struct ib_uverbs_alloc_pd_resp resp;
 *	ret = commands_write(c, IB_USER_VERBS_CMD_ALLOC_PD, &cmd, sizeof(cmd),
 *			     &resp, sizeof(resp));
 *
 * By ioctl:
 *	commands_begin(c, UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR);
 *	commands_obj(c, UVERBS_ATTR_QUERY_MR_HANDLE, handle);
 *	commands_out(c, UVERBS_ATTR_QUERY_MR_RESP_LKEY, sizeof(u32));
 *	ret = commands_ioctl(c);
 *	lkey = commands_got_u32(c, UVERBS_ATTR_QUERY_MR_RESP_LKEY);
 */
#include <kunit/test.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/uverbs_std_types.h>
#include "fake_hca.h"
#include "call/call.h"
#include "objects/objects.h"
#include "queues/queues.h"
#include "uverbs/uverbs.h"

#define COMMANDS_ATTRS	24
#define COMMANDS_PAGES	8

struct commands {
	struct kunit *test;
	struct fake_hca *hca;
	struct uverbs_device *udev;
	struct ib_uverbs_file *file;	/* used by its calls; a case may open more */

	bool invoke;			/* commands go by UVERBS_METHOD_INVOKE_WRITE */
	/* With invoke: the last so many bytes of a request are for the driver. */
	size_t driver_in;

	/* The process's memory: request, response, attributes and their data. */
	unsigned long mem;
	size_t used;			/* bytes of data used by the current call */
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[COMMANDS_ATTRS];	/* as sent */
	struct ib_uverbs_attr got[COMMANDS_ATTRS];	/* as the user sees them after */
};

int commands_init(struct kunit *test);
/*
 * Like commands_init(), which has an InfiniBand port, with
 * a RoCE adapter or other parameters.
 */
int commands_init_hca(struct kunit *test, const struct fake_hca_params *params);
/* Like that, for a device whose driver has definitions of its own. */
int commands_init_driver(struct kunit *test, const struct fake_hca_params *params,
			 const struct uapi_definition *driver);
/* Like commands_init_hca(), without a context. */
int commands_init_bare(struct kunit *test, const struct fake_hca_params *params);
/* Expects that nothing is left on the adapter once the file is closed. */
void commands_exit(struct kunit *test);
/* Opens the node again, with a context; uverbs_file_close() closes it. */
struct ib_uverbs_file *commands_open(struct commands *c);
/* Closes c->file now. */
void commands_close(struct commands *c);
/* The number of objects of c->file. */
int commands_objects(struct commands *c);

/*
 * Sends a command, an extended one with IB_USER_VERBS_CMD_FLAG_EXTENDED.  If
 * @resp_len, the first member of a plain request becomes the address of the response.
 * @resp is set to the content of the response afterwards.
 */
int commands_write(struct commands *c, u32 command, const void *req, size_t len,
		   void *resp, size_t resp_len);
/* As commands_write(), but the response goes to where there is no memory. */
int commands_write_nowhere(struct commands *c, u32 command, const void *req, size_t len,
			   size_t resp_len);
/* Sends @hdr and @count bytes after it unchanged. */
int commands_write_raw(struct commands *c, const struct ib_uverbs_cmd_hdr *hdr,
		       const void *data, size_t count);
/* The address of the response of commands_write(). */
unsigned long commands_resp_at(const struct commands *c);

/* An ioctl: begin it, add its attributes, call it. */
void commands_begin(struct commands *c, u16 object, u16 method);
struct ib_uverbs_attr *commands_attr(struct commands *c, u16 id, u16 len, u64 data);
struct ib_uverbs_attr *commands_in(struct commands *c, u16 id, const void *data,
				   u16 len);
void commands_u32(struct commands *c, u16 id, u32 value);
void commands_u64(struct commands *c, u16 id, u64 value);	/* or a constant */
void commands_obj(struct commands *c, u16 id, u32 handle);
void commands_fd(struct commands *c, u16 id, int fd);
void commands_new(struct commands *c, u16 id);		/* a new object or descriptor */
void commands_out(struct commands *c, u16 id, u16 len);
int commands_ioctl(struct commands *c);
/* After the call: its results as the user sees them. */
const struct ib_uverbs_attr *commands_got(struct commands *c, u16 id);
u32 commands_got_handle(struct commands *c, u16 id);
u32 commands_got_u32(struct commands *c, u16 id);
u64 commands_got_u64(struct commands *c, u16 id);
void commands_got_data(struct commands *c, u16 id, void *to, size_t len);
bool commands_is_written(struct commands *c, u16 id);

/* Destroys object @handle by @method, whose only attribute is the handle. */
int commands_destroy(struct commands *c, u16 object, u16 method, u32 handle);
/* Creates a PD and returns its handle; asserts. */
u32 commands_pd(struct commands *c);
/* The kernel's object with a handle, or NULL. */
void *commands_object(struct commands *c, u16 object, u32 handle);

/*
 * Checks that a command refuses invalid calls.  A request of @len bytes and a
 * response of @resp_len, which are valid, must fail if either is shorter, if
 * the count is not a multiple of the word or differs from the header, if the
 * memory is not mapped, and (unless the driver has a part of it) if bytes
 * after the request are not 0.  No object may be left.
 */
void commands_check_lengths(struct commands *c, u32 command, const void *req,
			    size_t len, size_t resp_len, bool udata);
/*
 * Likewise for the last ioctl, which worked and, unless it destroys, can be called
 * again: an unknown attribute marked as mandatory; each mandatory attribute missing,
 * too short, too long, twice; memory that is not mapped.
 */
void commands_check_attrs(struct commands *c);

#endif
