/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_USER_COMMANDS_H
#define IBEX_USER_COMMANDS_H

/*
 * A process that has a node of a fake adapter open, with a context, and says what it
 * wants by write() and by ioctl(), from memory of its own.
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
	struct ib_uverbs_file *file;	/* what it writes to; a case may open more */

	bool invoke;			/* commands go by UVERBS_METHOD_INVOKE_WRITE */
	/* With invoke: so many bytes at the end of a request are the driver's. */
	size_t driver_in;

	/* Its memory: the request, the response, the attributes, what they point to. */
	unsigned long mem;
	size_t used;			/* of the last part, by the call in the making */
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[COMMANDS_ATTRS];	/* as sent */
	struct ib_uverbs_attr got[COMMANDS_ATTRS];	/* as the user has them after */
};

int commands_init(struct kunit *test);
/* With a RoCE adapter or other parameters; commands_init() has an InfiniBand port. */
int commands_init_hca(struct kunit *test, const struct fake_hca_params *params);
/* Of a device whose driver has definitions of its own. */
int commands_init_driver(struct kunit *test, const struct fake_hca_params *params,
			 const struct uapi_definition *driver);
/* Likewise, without a context. */
int commands_init_bare(struct kunit *test, const struct fake_hca_params *params);
/* Expects that nothing is left on the adapter once the file is closed. */
void commands_exit(struct kunit *test);
/* Another open of the node, with a context; uverbs_file_close() ends it. */
struct ib_uverbs_file *commands_open(struct commands *c);
/* Closes c->file now. */
void commands_close(struct commands *c);
/* Objects of c->file. */
int commands_objects(struct commands *c);

/*
 * One command, a plain one or (IB_USER_VERBS_CMD_FLAG_EXTENDED) an extended one.  If
 * @resp_len, a plain request's first member becomes the address of the response; @resp
 * is set to what is there afterwards.
 */
int commands_write(struct commands *c, u32 command, const void *req, size_t len,
		   void *resp, size_t resp_len);
/* The same with a header of the caller's, and @count bytes behind it, as they are. */
int commands_write_raw(struct commands *c, const struct ib_uverbs_cmd_hdr *hdr,
		       const void *data, size_t count);
/* Where commands_write() has the response put. */
unsigned long commands_resp_at(const struct commands *c);

/* One ioctl: begin it, give it attributes, call. */
void commands_begin(struct commands *c, u16 object, u16 method);
struct ib_uverbs_attr *commands_attr(struct commands *c, u16 id, u16 len, u64 data);
struct ib_uverbs_attr *commands_in(struct commands *c, u16 id, const void *data,
				   u16 len);
void commands_u32(struct commands *c, u16 id, u32 value);
void commands_u64(struct commands *c, u16 id, u64 value);	/* a constant, too */
void commands_obj(struct commands *c, u16 id, u32 handle);
void commands_fd(struct commands *c, u16 id, int fd);
void commands_new(struct commands *c, u16 id);		/* an object or a descriptor */
void commands_out(struct commands *c, u16 id, u16 len);
int commands_ioctl(struct commands *c);
/* After the call: what the user sees. */
const struct ib_uverbs_attr *commands_got(struct commands *c, u16 id);
u32 commands_got_handle(struct commands *c, u16 id);
u32 commands_got_u32(struct commands *c, u16 id);
u64 commands_got_u64(struct commands *c, u16 id);
void commands_got_data(struct commands *c, u16 id, void *to, size_t len);
bool commands_is_written(struct commands *c, u16 id);

/* Object @handle is destroyed by method @method, its only attribute being the first. */
int commands_destroy(struct commands *c, u16 object, u16 method, u32 handle);
/* The handle of a new PD; asserts. */
u32 commands_pd(struct commands *c);
/* The kernel's object of a handle, or NULL. */
void *commands_object(struct commands *c, u16 object, u32 handle);

/*
 * What each command must answer to what is no proper call of it: a request of @len
 * bytes and a response of @resp_len that work as they are must fail when either is
 * shorter, when the count is no multiple of the word or not what the header says, when
 * the memory is not there, and (but for commands whose driver has a part) when there
 * are bytes behind the request that are not 0.  Nothing may be left of them.
 */
void commands_check_lengths(struct commands *c, u32 command, const void *req,
			    size_t len, size_t resp_len, bool udata);
/*
 * Likewise for the ioctl that was just made and worked, and, unless it destroys, can be
 * called again: an unknown attribute that the user insists on; each mandatory attribute
 * missing, too short, too long, twice; memory that is not there.
 */
void commands_check_attrs(struct commands *c);

#endif
