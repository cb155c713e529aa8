// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What all ranks of a communicator do together. */
#include <stdio.h>
#include <stdlib.h>
#include "compare.h"

static int self, members;

/* Everyone gets what @root has. */
static void broadcast(MPI_Comm comm, int root, size_t size)
{
	unsigned int seed = seed_of(root, 0, size, 1);
	unsigned char *data = self == root ? filled_space(size, seed) : space(size);

	MPI_Bcast(data, size, MPI_BYTE, root, comm);
	compare_whole("MPI_Bcast", data, size, seed);
	free(data);
}

/* A part of @size bytes to each, and one from each. */
static void all_to_all(MPI_Comm comm, size_t size)
{
	unsigned char *out = space(members * size), *in = space(members * size);
	int i;

	for (i = 0; i < members; i++)
		fill(out + i * size, size, seed_of(self, i, size, 2));
	MPI_Alltoall(out, size, MPI_BYTE, in, size, MPI_BYTE, comm);
	for (i = 0; i < members; i++)
		compare("MPI_Alltoall", in + i * size, size, seed_of(i, self, size, 2));
	free(out);
	free(in);
}

/* What goes from one member to another is as large as both numbers say. */
static void all_to_all_parts(MPI_Comm comm, size_t size)
{
	int *counts = calloc(4 * members, sizeof(int)), *places = counts + members;
	int *in_counts = places + members, *in_places = in_counts + members, i;
	unsigned char *out = space(members * members * size), *in = space(members * members * size);

	for (i = 0; i < members; i++) {
		counts[i] = size * (self + i) / members;
		in_counts[i] = counts[i];
		places[i] = i * members * size;
		in_places[i] = places[i];
		fill(out + places[i], counts[i], seed_of(self, i, size, 3));
	}
	MPI_Alltoallv(out, counts, places, MPI_BYTE, in, in_counts, in_places, MPI_BYTE, comm);
	for (i = 0; i < members; i++)
		compare("MPI_Alltoallv", in + in_places[i], in_counts[i],
			seed_of(i, self, size, 3));
	free(out);
	free(in);
	free(counts);
}

static void gather_and_scatter(MPI_Comm comm, int root, size_t size)
{
	unsigned char *all = space(members * size);
	unsigned char *own = filled_space(size, seed_of(self, root, size, 4));
	int i;

	MPI_Gather(own, size, MPI_BYTE, all, size, MPI_BYTE, root, comm);
	for (i = 0; i < members && self == root; i++)
		compare("MPI_Gather", all + i * size, size, seed_of(i, root, size, 4));
	for (i = 0; i < members && self == root; i++)
		fill(all + i * size, size, seed_of(root, i, size, 5));
	MPI_Scatter(all, size, MPI_BYTE, own, size, MPI_BYTE, root, comm);
	compare_whole("MPI_Scatter", own, size, seed_of(root, self, size, 5));
	fill(own, size, seed_of(self, 0, size, 6));
	MPI_Allgather(own, size, MPI_BYTE, all, size, MPI_BYTE, comm);
	for (i = 0; i < members; i++)
		compare("MPI_Allgather", all + i * size, size, seed_of(i, 0, size, 6));
	free(all);
	free(own);
}

/* Member m has (m + 1) * (i + 1) at place i. */
static void sums(MPI_Comm comm, int count)
{
	long *own = calloc(3 * count, sizeof(long)), *all = own + count, *up_to = all + count;
	long weight = members * (members + 1) / 2, before = (self + 1) * (self + 2) / 2;
	double part = 1.0 / (self + 1), largest;
	int i;

	for (i = 0; i < count; i++)
		own[i] = (long)(self + 1) * (i + 1);
	MPI_Allreduce(own, all, count, MPI_LONG, MPI_SUM, comm);
	MPI_Scan(own, up_to, count, MPI_LONG, MPI_SUM, comm);
	for (i = 0; i < count; i++) {
		compare_value("MPI_Allreduce", all[i], weight * (i + 1));
		compare_value("MPI_Scan", up_to[i], before * (i + 1));
	}
	MPI_Allreduce(&part, &largest, 1, MPI_DOUBLE, MPI_MAX, comm);
	compare_value("the largest", largest == 1.0, true);
	free(own);
}

/* Each member gets the sums of its own part. */
static void sums_of_parts(MPI_Comm comm, int count)
{
	long *own = calloc((members + 1) * count, sizeof(long)), *sum = own + members * count;
	int i;

	for (i = 0; i < members * count; i++)
		own[i] = (long)(self + 1) * i;
	MPI_Reduce_scatter_block(own, sum, count, MPI_LONG, MPI_SUM, comm);
	for (i = 0; i < count; i++)
		compare_value("MPI_Reduce_scatter_block", sum[i],
			      (long)(members * (members + 1) / 2) * (self * count + i));
	free(own);
}

void groups(MPI_Comm comm)
{
	static const size_t sizes[] = { 1, 13, 1000, 4096, 33000, 100001, 0 };
	const size_t *size;
	int root;

	MPI_Comm_rank(comm, &self);
	MPI_Comm_size(comm, &members);
	for (size = sizes; *size; size++) {
		for (root = 0; root < members; root++) {
			broadcast(comm, root, *size);
			gather_and_scatter(comm, root, *size);
		}
		all_to_all(comm, *size);
		all_to_all_parts(comm, *size);
		sums(comm, *size / 4 + 1);
		sums_of_parts(comm, *size / 8 + 1);
	}
}
