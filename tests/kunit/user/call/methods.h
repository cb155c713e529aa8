/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_USER_METHODS_H
#define IBEX_USER_METHODS_H

/* Methods that a driver adds: with one attribute of each kind. */
#include <rdma/uverbs_ioctl.h>

#define NS ((u32)BIT(UVERBS_ID_NS_SHIFT))

enum { THING_OBJECT = NS, THING_FD_OBJECT, THING_LACKED_OBJECT };
enum { THING_CREATE = NS, THING_QUERY, THING_DESTROY, THING_OPEN };

enum {
	CREATE_HANDLE = UVERBS_ID_DRIVER_NS_WITH_UHW,
	CREATE_VALUE,
	CREATE_STRUCT,
	CREATE_COPY,
	CREATE_OUT,
	CREATE_KIND,
	CREATE_SHORT,
};

enum { QUERY_HANDLE = NS, QUERY_MANY, QUERY_FD, QUERY_RAW_FD, QUERY_OUT };
enum { DESTROY_HANDLE = NS };
enum { OPEN_FD = NS };

/* Numbers that ib_uverbs has no command for. */
enum {
	WRITE_PLAIN = 41,
	WRITE_LACKED,
	WRITE_LACKED_OBJECT,
	WRITE_ANSWER,
	WRITE_SUM,
	WRITE_DRIVER,
	WRITE_NONE,
};

struct write_req {
	u64 response;
	u32 make;
	u32 n;
};

struct thing_struct {
	u64 a;
	u64 b;
	u64 c;		/* newer than the others */
};

/* Short enough to be inline, unless a newer program's is longer. */
struct thing_short {
	u32 a;
};

/* What the handlers do, and what they got; one test runs at a time. */
struct methods_seen {
	int ret;			/* return value of the handler */
	bool finalize;
	bool fail_copy;			/* return the error of copying */
	unsigned int calls;
	u64 value;
	struct thing_struct st;
	struct thing_short sh;
	u8 copy[32];
	int copy_len;
	int kind;
	int nr_many;
	int raw_fd;
	size_t inlen, outlen;		/* of the driver's part */
	struct ib_udata core;
	struct write_req req;
	bool destroyed_before;		/* the object was gone before it ran */
};

extern struct methods_seen methods_seen;
extern const struct uapi_definition methods_defs[];

#endif
