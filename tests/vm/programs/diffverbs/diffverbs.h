/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef DIFFVERBS_H
#define DIFFVERBS_H

/*
 * Calls to a uverbs device, of which most are right and each other one is wrong in one way only,
 * and what the kernel answers: the same sequences of calls on two cores are compared line by line
 * (scripts/vm-diff).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

/* ---- random numbers, which depend on the seed and the number of the sequence (main.c) ---- */

void seed_sequence(__u64 seed, __u64 sequence);
__u64 rnd64(void);
unsigned int rnd(unsigned int below);

static inline bool one_in(unsigned int n)
{
	return !rnd(n);
}

/* ---- what pointers point to ---- */

#define ARENA		0x600000000000ull	/* memory of which regions are made */
#define ARENA_SIZE	0x20000
#define ANSWER		(ARENA + ARENA_SIZE)	/* where the kernel writes to */
#define ANSWER_SIZE	0x10000
#define NOWHERE		0x500000000000ull	/* nothing is mapped there */
#define UNWRITTEN	0xa5			/* in each byte of ANSWER before a call */

extern int device;		/* the open file */
extern int no_device;		/* an open file of another kind */
extern __u8 own_gid[16];	/* the device's of its IPv4 address, and its index */
extern unsigned int own_gid_index;

/* ---- objects (objects.c) ---- */

enum type {
	NO_TYPE, PD, MR, MW, CQ, QP, SRQ, AH, CHANNEL, ASYNC, XRCD, WQ, TABLE, FLOW, COUNTERS, DM,
	TYPES,
};

#define OBJECTS		24	/* of a type in a sequence */
#define PARENTS		6
#define IS_FD(type)	((type) == CHANNEL || (type) == ASYNC)

struct object {
	__u32 handle;
	bool alive;
	enum type type;
	struct object *parents[PARENTS];	/* that it was made with */
	unsigned int users;			/* objects that were made with it */
	__u32 number;				/* of a QP; the key of an MR */
	__u8 qp_type;
	__u8 state;				/* of a QP */
};

extern const char * const type_names[];

void forget_objects(void);
unsigned int alive(enum type type);
unsigned int made(enum type type);
struct object *some_object(enum type type);
/* The object that some_object() is to return next, until it is NULL again. */
void prefer(enum type type, struct object *object);
struct object *first_object(enum type type);
struct object *last_object(enum type type);
struct object *object_of(enum type type, __u32 handle);
struct object *new_object(enum type type, __u32 handle);
void object_uses(struct object *object, struct object *parent);
void object_is_gone(struct object *object);
/* A handle that was destroyed, and is no other object's. */
bool gone_handle(enum type type, __u32 *handle);
unsigned int ordinal(const struct object *object);

/* ---- calls ---- */

enum form {
	WRITE,		/* a write command */
	WRITE_EX,	/* an extended one */
	METHOD,		/* an ioctl method */
};

/*
 * A field of a command's struct, or an attribute of a method. Kinds:
 *
 *	h	a handle, of an object of .type
 *	f	a file descriptor, of .type
 *	v	a number: one of .good, not above .limit
 *	e	a number: one of .good, which names something
 *	m	bits: one of .good
 *	r	reserved
 *	a	an address in the arena
 *	g	a GID, own_gid
 *	G	a GID of a multicast group
 *	x	bytes that the command's fill() sets
 *
 * and of a method, besides:
 *
 *	n	the handle of a new object, which the kernel sets
 *	>	.size bytes to be written
 *	p	a struct that is pointed to
 */
struct field {
	const char *name;
	__u16 at;		/* offset, or the id of the attribute */
	__u16 size;
	char kind;
	__u8 type;
	__u8 choices;		/* entries of .good */
	bool optional;		/* an attribute that need not be there */
	const char *shows;	/* the words of what is written, like those of a response */
	__u32 limit;
	__u32 good[8];
};

#define MAX_FIELDS	40
#define MAX_ATTRS	24

struct call;

struct command {
	const char *name;
	enum form form;
	__u16 object, number;		/* of a method; of a command only the number */
	__u16 in, out;			/* sizes of the core's parts of a command */
	__u16 driver_in, driver_out;	/* what rdma_rxe wants */
	bool uhw;			/* the method has attributes for the driver */
	enum type makes, ends;
	bool refused;			/* rdma_rxe does not have it */
	bool answers_error;		/* the response is written on failure, too */
	const char *shows;		/* the words of the response: h, k, or shown */
	const struct field *fields;
	/* Sets what depends on other fields; returns false if there is nothing to call it with. */
	bool (*fill)(struct call *c);
	void (*worked)(struct call *c);
};

extern const struct command commands[], methods[];
extern const size_t nr_commands, nr_methods;
const struct command *command(const char *name);

struct call {
	const struct command *cmd;
	bool by_ioctl;			/* a command */
	/* The core's part of a command, and the driver's. */
	union {
		__u8 in[1024];
		__u64 in_is_aligned;
	};
	size_t in_size;
	size_t out_size;
	size_t driver_in, driver_out;
	__u64 driver[8];
	__u64 unused;			/* fields that do not matter, by bit */
	int spoilt;			/* index of a field, or -1 */
	char mistake[64];		/* "" if there is none */
	const char *instead;		/* a name for the value of a spoilt field */
	struct object *made, *ended;

	/* What is passed to the kernel. */
	union {
		__u8 bytes[2048];
		struct {
			struct ib_uverbs_cmd_hdr hdr;
			struct ib_uverbs_ex_cmd_hdr ex;
		};
		struct {
			struct ib_uverbs_ioctl_hdr ioctl;
			struct ib_uverbs_attr attrs[MAX_ATTRS];
		};
	} to;
	size_t size;
	const struct field *of[MAX_ATTRS];	/* fields of the attributes of a method */
	int result;				/* 0 or an errno */
};

/* ---- fields (fields.c) ---- */

bool fill_fields(struct call *c);
void *field_at(struct call *c, const struct field *f);
__u64 field_value(struct call *c, const struct field *f);
void set_field(struct call *c, const char *name, __u64 value);
/* Sets a field that is printed as @shown. */
void name_field(struct call *c, const char *name, __u64 value, const char *shown);
__u64 get_field(struct call *c, const char *name);
void field_is_unused(struct call *c, const char *name);
unsigned int nr_fields(const struct command *cmd);
void show_fields(struct call *c);

/* ---- mistakes.c ---- */

/* Both make one mistake, if there is one to be made. */
void spoil_field(struct call *c);
void spoil_buffer(struct call *c);
void mistake(struct call *c, const char *format, ...);

/* ---- call.c ---- */

/* Makes a call with or without a mistake, and prints it; returns whether it succeeded. */
bool do_call(const struct command *cmd, bool wrong, void (*change)(struct call *c));
bool do_right(const char *name);
/* What the driver answered to the last call that succeeded. */
extern __u64 driver_answer[8];

/* ---- qp.c ---- */

bool fill_modify(struct call *c);
void qp_modified(struct call *c);
/* Every change of attributes between two states. */
void transitions(unsigned int number);
void modify_to(struct object *qp, unsigned int state);
void connect_to(struct object *qp, __u32 number);

/* ---- lengths.c ---- */

/* Every length of a command. */
void lengths(unsigned int number);

/* ---- posts.c ---- */

/* Sends that are posted, with and without mistakes. */
void posts(unsigned int number);

/* ---- events.c ---- */

/* Reads the event that a QP's new state causes. */
void state_events(struct object *qp);
void some_events(void);

#endif
