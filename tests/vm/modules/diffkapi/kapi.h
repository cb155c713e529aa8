/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_TESTS_KAPI_H
#define IBEX_TESTS_KAPI_H

/*
 * Calls of the functions that a ULP calls, of which most are right and each other one is wrong in
 * one way only, and what the core answers: the same sequences of calls on two cores are compared
 * line by line (scripts/vm-diff).  An in-kernel caller is trusted, so calls that the contract
 * forbids, such as one with a pointer that is none, are not made.
 *
 * All calls of a sequence are made by one thread.  Handlers only leave lines in a source of events,
 * which that thread prints when it waits for them.
 */
#include <linux/scatterlist.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

/* ---- random numbers, which depend on the seed and the number of the sequence (rnd.c) ---- */

void seed_sequence(u64 seed, u64 sequence);
u64 rnd64(void);
u32 rnd(u32 below);

static inline bool one_in(u32 n)
{
	return !rnd(n);
}

#define one_of(...) ({						\
	const u64 _values[] = { __VA_ARGS__ };			\
	_values[rnd(ARRAY_SIZE(_values))]; })

/* Mostly @usual, now and then one of the others, which are wrong. */
#define mostly(usual, ...)	(one_in(12) ? one_of(__VA_ARGS__) : (usual))

/* ---- what is printed (log.c) ---- */

extern char *log_text;
extern size_t log_used;
int log_start(void);
void log_end(void);

__printf(1, 2) void say(const char *fmt, ...);
/* A line of a call: its name and arguments, then its answer. */
__printf(1, 2) void call(const char *fmt, ...);
int answer(int ret);
/* If @ret is no error, what follows is part of the answer. */
__printf(2, 3) int answer_with(int ret, const char *fmt, ...);
/* More of the answer; only behind answer_more(). */
int answer_more(int ret);
void answer_end(void);
const char *result_of(int ret);
void say_gid(const union ib_gid *gid);
void say_bytes(const void *bytes, size_t len);

/* ---- events (event.c) ---- */

#define EVENT_LINES	48
#define EVENT_BYTES	200
#define EVENT_WAIT	(8 * HZ)

/* Something whose events come in an order. Memory of the sequence, so handlers may come late. */
struct source {
	spinlock_t lock;		/* of came and lines */
	wait_queue_head_t wait;
	unsigned int came;		/* protected by lock */
	unsigned int printed;
	char lines[EVENT_LINES][EVENT_BYTES];
};

void source_init(struct source *s);
/* Any context. */
__printf(2, 3) void event(struct source *s, const char *fmt, ...);
/* Wait for so many more, and print them; false if they do not come. */
bool take_events(struct source *s, unsigned int count);
/* Those that have come, without waiting. */
unsigned int events_left(struct source *s);

/* ---- devices (main.c) ---- */

enum { RXE_A, RXE_B, VIB0, VIB1, DEVICES };

struct kdev {
	const char *name;
	struct ib_device *device;
	union ib_gid gid;		/* of its IPv4 address, or its first */
	int gid_index;
	enum ib_gid_type gid_type;
	u16 lid;
	struct ib_device_attr *attrs;
};

extern struct kdev kdevs[DEVICES];

static inline bool is_vib(const struct kdev *d)
{
	return d >= &kdevs[VIB0];
}

static inline struct kdev *peer_of(struct kdev *d)
{
	return &kdevs[(d - kdevs) ^ 1];
}

struct kdev *some_device(void);

/* ---- objects of verbs (objects/objects.c), which end with the sequence ---- */

enum type { PD, CQ, SRQ, QP, MR, AH, XRCD, TYPES };

#define OBJECTS	64
#define PARENTS	5

struct object {
	enum type type;
	unsigned int n;			/* in its type */
	bool alive;
	void *ptr;
	struct kdev *dev;
	struct object *parents[PARENTS];
	unsigned int users;		/* objects that were made with it */
	/* of a CQ */
	bool alloced, pooled, direct;
	unsigned int cqe;
	/* of a QP */
	u8 qp_type, state;
	bool has_srq, connected;
	/* of an MR */
	u32 max_sg;
	bool user;
	/* of an AH */
	struct rdma_ah_attr attr;
	bool of_datagram;
	/* of an XRC domain */
	bool has_targets;
};

extern const char * const type_names[];

void forget_objects(void);
struct object *new_object(enum type type, struct kdev *dev, void *ptr,
			  struct object *const *parents);
void object_gone(struct object *o);
unsigned int alive(enum type type);
unsigned int next_number(enum type type);
/* One of the type, of @dev unless it is NULL; NULL if there is none. */
struct object *some_object(enum type type, struct kdev *dev);
struct object *some_unused(enum type type);
/* All that are left, the newest first. */
void destroy_objects(void);

/* ---- what the sequences do; each is a file ---- */

struct op {
	void (*run)(void);
	unsigned int weight;
};

void random_ops(const struct op *ops, unsigned int count, unsigned int calls);

/* objects/pd_cq.c */
struct object *make_pd(struct kdev *dev, u32 flags);
struct object *make_cq(struct kdev *dev);
void pd_ops(void);
void cq_ops(void);
void destroy_pd(struct object *o);
void destroy_cq(struct object *o);

/* objects/qp.c, qp_modify.c */
struct object *make_qp(struct object *pd, u8 type);
void qp_ops(void);
void destroy_qp(struct object *o);
void modify_right(struct object *qp, u8 to);
void transitions(u64 number);
void transition_table(u64 number);

/* the other files of objects/, port/, mad/ and connect/ */
void srq_ops(void);
void destroy_srq(struct object *o);
void xrcd_ops(void);
void destroy_xrcd(struct object *o);
void ah_ops(void);
void destroy_ah(struct object *o);
void mr_ops(void);
void destroy_mr(struct object *o);

void verbs_objects(u64 number);
void rw_contexts(u64 number);
void wires(u64 number);
void ports(u64 number);
void gids(u64 number);
void pure_functions(u64 number);
void headers(u64 number);
void clients(u64 number);
void resolving(u64 number);
void mads(u64 number);
void sa_queries(u64 number);
void ib_connections(u64 number);
void cm_connections(u64 number);

/* sg.c: memory, and lists of pieces of it */
#define ARENA_ORDER	6
#define ARENA_BYTES	(PAGE_SIZE << ARENA_ORDER)
extern void *arena;

struct pieces {
	struct scatterlist sg[40];
	unsigned int count;		/* made */
	unsigned int mapped;
	unsigned int bytes;
};

/* Prints what they are, as arguments of a call. */
void make_pieces(struct pieces *p, unsigned int count, bool gaps);
void say_pieces(const struct pieces *p);
u64 arena_dma(struct kdev *dev);

#endif /* IBEX_TESTS_KAPI_H */
