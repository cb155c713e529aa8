// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Messages from a rank to another. */
#include <stdlib.h>
#include "compare.h"

#define AT_ONCE	32	/* messages that are on the way */
#define COLUMNS	64	/* of a matrix of doubles, and four times as many lines */

/* Both ends send and receive, so that neither may wait for the other to receive first. */
static void both_ways(size_t size, int places)
{
	int to = (rank + places) % ranks, from = (rank + ranks - places) % ranks, count;
	unsigned char *out = filled_space(size, seed_of(rank, to, size, places));
	unsigned char *in = space(LARGEST + 1);
	MPI_Status status;

	MPI_Sendrecv(out, size, MPI_BYTE, to, places, in, LARGEST + 1, MPI_BYTE, from, places,
		     MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_BYTE, &count);
	compare_value("size of a message", count, size);
	compare("message", in, size, seed_of(from, rank, size, places));
	free(out);
	free(in);
}

static void all_sizes(int places)
{
	size_t size;

	both_ways(0, places);
	for (size = 2; size <= LARGEST; size *= 2) {
		both_ways(size - 1, places);
		both_ways(size, places);
		both_ways(size + 1, places);
	}
}

/* ---- messages of which the receiver knows nothing before ---- */

static size_t unknown_size(int from, int round)
{
	return (round * 7919u + from * 104729u) % 40000;
}

static void send_unknown(int to, int round)
{
	size_t size = unknown_size(rank, round);
	unsigned char *out = filled_space(size, seed_of(rank, to, size, round));

	/* Ends only when it has been matched. */
	MPI_Ssend(out, size, MPI_BYTE, to, round, MPI_COMM_WORLD);
	free(out);
}

static void receive_unknown(void)
{
	int from, round, size;
	unsigned char *in;
	MPI_Status status;

	MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_BYTE, &size);
	from = status.MPI_SOURCE;
	round = status.MPI_TAG;
	compare_value("size of an unknown message", size, unknown_size(from, round));
	in = space(size);
	MPI_Recv(in, size, MPI_BYTE, from, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	compare_whole("unknown message", in, size, seed_of(from, rank, size, round));
	free(in);
}

/* All others send to one. */
static void unknown(int to)
{
	int i;

	for (i = 0; i < AT_ONCE; i++) {
		if (rank != to)
			send_unknown(to, i);
		else
			for (int from = 1; from < ranks; from++)
				receive_unknown();
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- many at once, received in another order ---- */

static size_t size_at_once(int i)
{
	return (size_t)1 << (i % 18);
}

static void at_once(int places)
{
	int to = (rank + places) % ranks, from = (rank + ranks - places) % ranks, i, n;
	unsigned char *out[AT_ONCE], *in[AT_ONCE];
	MPI_Request requests[2 * AT_ONCE];

	for (i = 0; i < AT_ONCE; i++) {
		out[i] = filled_space(size_at_once(i), seed_of(rank, to, size_at_once(i), i));
		MPI_Isend(out[i], size_at_once(i), MPI_BYTE, to, i, MPI_COMM_WORLD, &requests[i]);
	}
	for (i = AT_ONCE - 1, n = AT_ONCE; i >= 0; i--, n++) {
		in[i] = space(size_at_once(i));
		MPI_Irecv(in[i], size_at_once(i), MPI_BYTE, from, i, MPI_COMM_WORLD, &requests[n]);
	}
	MPI_Waitall(2 * AT_ONCE, requests, MPI_STATUSES_IGNORE);
	for (i = 0; i < AT_ONCE; i++) {
		compare_whole("one of many messages", in[i], size_at_once(i),
			      seed_of(from, rank, size_at_once(i), i));
		free(out[i]);
		free(in[i]);
	}
}

/* ---- a column of a matrix, which becomes a line ---- */

static void column(void)
{
	int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks, i;
	static double matrix[4 * COLUMNS][COLUMNS], line[4 * COLUMNS];
	MPI_Datatype type;

	for (i = 0; i < 4 * COLUMNS * COLUMNS; i++)
		matrix[i / COLUMNS][i % COLUMNS] = i + rank * 1000000;
	MPI_Type_vector(4 * COLUMNS, 1, COLUMNS, MPI_DOUBLE, &type);
	MPI_Type_commit(&type);
	MPI_Sendrecv(&matrix[0][3], 1, type, to, 0, line, 4 * COLUMNS, MPI_DOUBLE, from, 0,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Type_free(&type);
	for (i = 0; i < 4 * COLUMNS; i++)
		compare_value("column", line[i], i * COLUMNS + 3 + from * 1000000);
}

void points(void)
{
	int i;

	for (i = 1; i < ranks; i++) {
		all_sizes(i);
		at_once(i);
	}
	for (i = 0; i < ranks; i++)
		unknown(i);
	column();
}
