/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef TABLE_H
#define TABLE_H

/* How the tables of commands and methods are written. */
#include "diffverbs.h"

#define MEMBER(s, m)							\
	.name = #m, .at = offsetof(struct ib_uverbs_##s, m),		\
	.size = sizeof(((struct ib_uverbs_##s *)0)->m)

#define GOOD(...)							\
	.choices = sizeof((const __u32[]){ __VA_ARGS__ }) / sizeof(__u32), .good = { __VA_ARGS__ }

#define H(s, m, t)	{ MEMBER(s, m), .kind = 'h', .type = t }
/* A handle that need not be given: fill() says when it counts. */
#define HO(s, m, t)	{ MEMBER(s, m), .kind = 'h', .type = t, .optional = true }
#define FD(s, m, t)	{ MEMBER(s, m), .kind = 'f', .type = t, .optional = true }
#define N(s, m, max, ...)	{ MEMBER(s, m), .kind = 'v', .limit = max, GOOD(__VA_ARGS__) }
#define E(s, m, ...)	{ MEMBER(s, m), .kind = 'e', GOOD(__VA_ARGS__) }
#define M(s, m, ...)	{ MEMBER(s, m), .kind = 'm', GOOD(__VA_ARGS__) }
#define R(s, m)		{ MEMBER(s, m), .kind = 'r' }
#define K(k, s, m)	{ MEMBER(s, m), .kind = k }

#define FIELDS(...)	.fields = (const struct field[]){ __VA_ARGS__, {} }
#define NO_FIELDS	.fields = (const struct field[]){ {} }

#define IN(s)		.in = sizeof(struct ib_uverbs_##s)
#define OUT(s)		.out = sizeof(struct ib_uverbs_##s##_resp)

#define COMMAND(n, s, command)						\
	.name = n, .form = WRITE, .number = IB_USER_VERBS_CMD_##command, IN(s)
#define COMMAND_EX(n, s, command)					\
	.name = n, .form = WRITE_EX, .number = IB_USER_VERBS_EX_CMD_##command, IN(s)

/* Attributes of methods. */
#define A(attr)		.at = UVERBS_ATTR_##attr
#define AH(n, attr, t)	{ .name = n, A(attr), .size = 4, .kind = 'h', .type = t }
#define AHO(n, attr, t)	{ .name = n, A(attr), .size = 4, .kind = 'h', .type = t, .optional = true }
#define AFD(n, attr, t)	{ .name = n, A(attr), .size = 4, .kind = 'f', .type = t, .optional = true }
#define AN(n, attr, bytes, max, ...)					\
	{ .name = n, A(attr), .size = bytes, .kind = 'v', .limit = max, GOOD(__VA_ARGS__) }
#define AE(n, attr, ...)	{ .name = n, A(attr), .size = 8, .kind = 'e', GOOD(__VA_ARGS__) }
#define AM(n, attr, bytes, need, ...)					\
	{ .name = n, A(attr), .size = bytes, .kind = 'm', .optional = need, GOOD(__VA_ARGS__) }
#define ANEW(attr)	{ .name = "handle", A(attr), .kind = 'n' }
#define AOUT(n, attr, bytes)	{ .name = n, A(attr), .size = bytes, .kind = '>' }
#define AOUTO(n, attr, bytes)						\
	{ .name = n, A(attr), .size = bytes, .kind = '>', .optional = true }
#define AKEY(n, attr)	{ .name = n, A(attr), .size = 4, .kind = '>', .shows = "k" }
#define AIN(n, attr, bytes)	{ .name = n, A(attr), .size = bytes, .kind = 'p' }

#define CALL(n, obj, m)							\
	.name = "ioctl_" n, .form = METHOD, .object = UVERBS_OBJECT_##obj,	\
	.number = UVERBS_METHOD_##m

#endif
