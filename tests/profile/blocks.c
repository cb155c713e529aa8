// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A plugin of QEMU that counts, between two marks (tests/vm/programs/mark), how often each
 * block of instructions is executed, on a machine with one processor:
 *
 *	-plugin blocks.so,out=FILE
 *
 * If there are marks of parts in between, also in the kernel, only what is between a part's
 * beginning and its end is counted.
 *
 * At the end mark FILE gets a line for each block of the kernel: its address, its instructions,
 * how often it was executed, and where the call or jump goes with which it ends, if that is in
 * the instruction itself, or 0.  All user space is one line with address 0, whose block has one
 * instruction.  A block that a fault or interrupt leaves counts as a whole.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "marks.h"
#include "plugin.h"

#define KERNEL		0x800000000000ULL	/* where addresses of user space end */
#define CHUNK		65536

#define exported	__attribute__((visibility("default")))

exported int qemu_plugin_version = 1;

struct block {
	__u64 address, insns, executed, target;
	__u64 in_parts;		/* of executed, in the parts that have ended */
};

/* Blocks that are translated again have another entry: code may have changed. */
struct chunk {
	struct chunk *next;
	unsigned int used;
	struct block blocks[CHUNK];
};

static struct chunk *chunks;
static __u64 user_insns;
static bool has_parts;
static const char *out;

static struct block *new_block(void)
{
	if (!chunks || chunks->used == CHUNK) {
		struct chunk *chunk = calloc(1, sizeof(*chunk));

		if (!chunk) {
			perror("blocks");
			abort();
		}
		chunk->next = chunks;
		chunks = chunk;
	}
	return &chunks->blocks[chunks->used++];
}

static void begin(unsigned int vcpu, void *arg)
{
	(void)vcpu;
	(void)arg;
	user_insns = 0;
	has_parts = false;
	for (struct chunk *c = chunks; c; c = c->next)
		for (unsigned int i = 0; i < c->used; i++) {
			c->blocks[i].executed = 0;
			c->blocks[i].in_parts = 0;
		}
}

static void part_begin(unsigned int vcpu, void *arg)
{
	(void)vcpu;
	(void)arg;
	has_parts = true;
	for (struct chunk *c = chunks; c; c = c->next)
		for (unsigned int i = 0; i < c->used; i++)
			c->blocks[i].executed = 0;
}

static void part_end(unsigned int vcpu, void *arg)
{
	(void)vcpu;
	(void)arg;
	for (struct chunk *c = chunks; c; c = c->next)
		for (unsigned int i = 0; i < c->used; i++)
			c->blocks[i].in_parts += c->blocks[i].executed;
}

static void end(unsigned int vcpu, void *arg)
{
	FILE *file = fopen(out, "w");

	(void)vcpu;
	(void)arg;
	if (!file) {
		perror(out);
		abort();
	}
	if (!has_parts)
		fprintf(file, "0 1 %llu 0\n", user_insns);
	for (struct chunk *c = chunks; c; c = c->next)
		for (unsigned int i = 0; i < c->used; i++) {
			const struct block *b = &c->blocks[i];
			__u64 executed = has_parts ? b->in_parts : b->executed;

			if (executed)
				fprintf(file, "%llx %llu %llu %llx\n",
					b->address, b->insns, executed, b->target);
		}
	if (fclose(file)) {
		perror(out);
		abort();
	}
}

/* Where a call or jump with a 32-bit offset goes, or 0. */
static __u64 target_of(const struct qemu_plugin_insn *insn)
{
	const __u8 *bytes = qemu_plugin_insn_data(insn);
	size_t size = qemu_plugin_insn_size(insn);
	__s32 offset;

	if (size != 5 || (bytes[0] != 0xe8 && bytes[0] != 0xe9))
		return 0;
	memcpy(&offset, bytes + 1, sizeof(offset));
	return qemu_plugin_insn_vaddr(insn) + size + offset;
}

static const struct mark {
	__u32 number;
	void (*passed)(unsigned int vcpu, void *arg);
} marks[] = {
	{ MARK_BEGIN, begin },
	{ MARK_END, end },
	{ MARK_PART_BEGIN, part_begin },
	{ MARK_PART_END, part_end },
	{}
};

static void look_for_mark(struct qemu_plugin_insn *insn)
{
	static const __u8 nopl[] = { 0x0f, 0x1f, 0x84, 0x00 };
	const __u8 *bytes = qemu_plugin_insn_data(insn);
	__u32 number;

	if (qemu_plugin_insn_size(insn) != sizeof(nopl) + sizeof(number) ||
	    memcmp(bytes, nopl, sizeof(nopl)))
		return;
	memcpy(&number, bytes + sizeof(nopl), sizeof(number));
	for (const struct mark *mark = marks; mark->passed; mark++)
		if (number == mark->number)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, mark->passed,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	__u64 address = qemu_plugin_tb_vaddr(tb);
	size_t n = qemu_plugin_tb_n_insns(tb);
	struct block *block;

	(void)id;
	for (size_t i = 0; i < n; i++)
		look_for_mark(qemu_plugin_tb_get_insn(tb, i));
	if (address < KERNEL) {
		qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64,
							 &user_insns, n);
		return;
	}
	block = new_block();
	block->address = address;
	block->insns = n;
	block->target = target_of(qemu_plugin_tb_get_insn(tb, n - 1));
	qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64,
						 &block->executed, 1);
}

exported int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
				 char **argv)
{
	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			out = strdup(argv[i] + 4);
	if (!out || !info->system_emulation || info->system.smp_vcpus != 1) {
		fputs("blocks: needs out=FILE, and a machine with one processor\n", stderr);
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
