// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * mpi [spoil]
 *
 * Messages between all ranks, collective operations in both orders of ranks, and one-sided
 * operations; what arrives is compared. With "spoil" the last rank sends one byte that is wrong.
 * A rank ends with status 1 if it found something wrong; the first one prints what was compared.
 */
#include <stdio.h>
#include <string.h>
#include "compare.h"

int rank, ranks;
bool spoil;

/* All ranks in the opposite order. */
static void turned(void)
{
	MPI_Comm comm;

	MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &comm);
	groups(comm);
	MPI_Comm_free(&comm);
}

static unsigned long sum(unsigned long own)
{
	unsigned long all;

	MPI_Reduce(&own, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	return all;
}

int main(int argc, char **argv)
{
	unsigned long bytes, mistakes;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	spoil = argc > 1 && !strcmp(argv[1], "spoil") && rank == ranks - 1;
	points();
	groups(MPI_COMM_WORLD);
	turned();
	windows();
	bytes = sum(compared);
	mistakes = sum(wrong);
	if (!rank)
		printf("mpi: %d ranks, %lu bytes compared, %lu wrong\n", ranks, bytes, mistakes);
	MPI_Finalize();
	return wrong ? 1 : 0;
}
