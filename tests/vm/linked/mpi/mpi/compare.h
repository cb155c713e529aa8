/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef COMPARE_H
#define COMPARE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#define LARGEST		1048576	/* bytes of a message */

/* main.c: this process, how many there are, and whether one byte is to be sent wrong */
extern int rank, ranks;
extern bool spoil;

/*
 * compare.c: each byte depends on its place and on a seed, so that no message can be taken for
 * another one, nor a part of it for one at another place.
 */
unsigned int seed_of(int from, int to, size_t size, int round);
/* What is to be filled by others holds something else before that, also behind its end. */
unsigned char *space(size_t size);
unsigned char *filled_space(size_t size, unsigned int seed);
void fill(unsigned char *data, size_t size, unsigned int seed);
/* They count the bytes, and print what is wrong; the second is for all of a space(). */
void compare(const char *what, const unsigned char *data, size_t size, unsigned int seed);
void compare_whole(const char *what, const unsigned char *data, size_t size, unsigned int seed);
void compare_value(const char *what, long found, long expected);

extern unsigned long compared, wrong;

/* points.c: messages from a rank to another */
void points(void);
/* groups.c: what all ranks of a communicator do together */
void groups(MPI_Comm comm);
/* windows.c: memory that other ranks write, read and add to */
void windows(void);

#endif
