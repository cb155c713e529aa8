// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Memory that other ranks write, read and add to, without a receive. */
#include <stdlib.h>
#include "compare.h"

#define ROUNDS	20

/* Each rank writes to a part of its own in the memory of all others, and reads it again. */
static void write_and_read(size_t size)
{
	unsigned char *memory, *out, *in = space(size);
	MPI_Win window;
	int i;

	MPI_Win_allocate(ranks * size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
	out = space(ranks * size);
	MPI_Win_fence(0, window);
	for (i = 0; i < ranks; i++) {
		fill(out + i * size, size, seed_of(rank, i, size, 7));
		MPI_Put(out + i * size, size, MPI_BYTE, i, rank * size, size, MPI_BYTE, window);
	}
	MPI_Win_fence(0, window);
	for (i = 0; i < ranks; i++)
		compare("MPI_Put", memory + i * size, size, seed_of(i, rank, size, 7));
	MPI_Win_fence(0, window);
	for (i = 0; i < ranks; i++) {
		MPI_Win_lock(MPI_LOCK_SHARED, i, 0, window);
		MPI_Get(in, size, MPI_BYTE, i, rank * size, size, MPI_BYTE, window);
		MPI_Win_unlock(i, window);
		compare_whole("MPI_Get", in, size, seed_of(rank, i, size, 7));
	}
	MPI_Win_free(&window);
	free(out);
	free(in);
}

/* All ranks count on one, each time a number that nobody else gets. */
static void count(int at)
{
	long *counter, one = 1, number, last = -1;
	MPI_Win window;
	int i;

	MPI_Win_allocate(sizeof(*counter), sizeof(*counter), MPI_INFO_NULL, MPI_COMM_WORLD,
			 &counter, &window);
	*counter = 0;
	MPI_Win_fence(0, window);
	for (i = 0; i < ROUNDS; i++) {
		MPI_Win_lock(MPI_LOCK_SHARED, at, 0, window);
		MPI_Fetch_and_op(&one, &number, MPI_LONG, at, 0, MPI_SUM, window);
		MPI_Win_unlock(at, window);
		compare_value("MPI_Fetch_and_op", number > last && number < ROUNDS * ranks, true);
		last = number;
	}
	MPI_Win_fence(0, window);
	compare_value("counter", *counter, rank == at ? ROUNDS * ranks : 0);
	MPI_Win_fence(0, window);
	MPI_Win_free(&window);
}

void windows(void)
{
	static const size_t sizes[] = { 1, 8, 5000, 200001, 0 };
	const size_t *size;
	int at;

	for (size = sizes; *size; size++)
		write_and_read(*size);
	for (at = 0; at < ranks; at++)
		count(at);
}
