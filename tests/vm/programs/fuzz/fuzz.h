/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The fuzzer of the RDMA character devices: what its files share.
 *
 * A command is described by a string, with one letter for each field (see fill()
 * in words.c), so that most commands are almost valid: handles of objects that
 * exist, pointers that can be read. Then some of their fields are spoilt.
 */
#ifndef IBEX_FUZZ_H
#define IBEX_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

/* kinds of handles, each with a pool of recently created ones */
#define KINDS "pcqsmwaxvtlkidfCFjz"	/* j: memory keys, z: numbers of QPs */
#define POOL 12

struct worker {
	__u64 rng;
	__u32 pool[sizeof(KINDS)][POOL];
	int uverbs;		/* the device file, and its number */
	int device;
	__u16 lid;		/* of vib's port 1 */
	int cm[2];
	int umad;
};

#define ARENA 65536		/* what pointers point to: input, and a response */

/* Completions that processes have polled: successes and errors. */
struct tally {
	__u64 done, failed;
};

extern struct worker w;
extern __u8 *arena;
extern __u8 *resp;
extern int on_vib;		/* the devices are vib's, with rings to map, and LIDs */
extern struct tally *tally;	/* this worker's */

/* words.c */
__u32 rnd(__u32 below);
__u64 rnd64(void);
int chance(unsigned int one_in);
__u32 handle(char kind);
void keep(char kind, __u32 value);
void fill(const char *fields, __u32 *out, size_t words);
size_t words_of(const char *fields);
void spoil(__u32 *buf, size_t words);
void put_sockaddr(__u32 *out);
void put_gid(__u32 *out);
__u16 lid(void);

/* do one operation each, and return true if the kernel accepted it */
int fuzz_write(void);
int fuzz_ioctl(void);
int fuzz_uverbs_file(void);
int fuzz_cm(void);
int fuzz_umad(void);
int fuzz_ring(void);

/* verbs.c: core part of a random write command, for INVOKE_WRITE */
struct command {
	__u32 number;
	__u32 in;		/* sizes of the core structures, bytes */
	__u32 out;
	const char *fields;
	char made;		/* kind of the handle in its response, or 0 */
	int extended;
};

const struct command *pick_command(void);
void build(const struct command *c, __u32 *buf);
/* ring.c */
void map_rings(const struct command *c, __u32 type, __u32 old);
void unmap_rings(void);
int check_commands(const struct command *c, size_t n);
int check_verbs(void);
int check_cm(void);

#endif
