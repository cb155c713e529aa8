/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Instructions by which a program or a module in a virtual machine tells tests/profile's plugin
 * what to count: a nop with an operand, nopl NUMBER(%rax,%rax,1), whose number no compiler emits.
 */
#ifndef MARKS_H
#define MARKS_H

#define MARK_BEGIN	0x1bec0b01
#define MARK_END	0x1bec0e02
/* The same for parts of what is between these two. */
#define MARK_PART_BEGIN	0x1bec0b03
#define MARK_PART_END	0x1bec0e04

static inline void mark_begin(void)
{
	asm volatile("nopl %c0(%%rax,%%rax,1)" : : "i" (MARK_BEGIN) : "memory");
}

static inline void mark_end(void)
{
	asm volatile("nopl %c0(%%rax,%%rax,1)" : : "i" (MARK_END) : "memory");
}

static inline void mark_part_begin(void)
{
	asm volatile("nopl %c0(%%rax,%%rax,1)" : : "i" (MARK_PART_BEGIN) : "memory");
}

static inline void mark_part_end(void)
{
	asm volatile("nopl %c0(%%rax,%%rax,1)" : : "i" (MARK_PART_END) : "memory");
}

#endif
