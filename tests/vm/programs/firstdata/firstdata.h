/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_TESTS_FIRSTDATA_H
#define IBEX_TESTS_FIRSTDATA_H

#include <endian.h>
#include <linux/types.h>
#include <netinet/in.h>
#include <stdbool.h>

#include <rdma/rdma_cma.h>

#define DATA_SIZE	4096
#define STEP_MS		120000	/* limit for a step of either side; beyond it is a hang */

/* how the passive side learns of data */
enum kind {
	KIND_WRITE,		/* written into its memory; no completion at all */
	KIND_ARMED,		/* received; it sleeps until the CQ's event */
	KIND_POLLED,		/* received; it polls the CQ without a pause */
};

struct order {
	enum kind kind;
	unsigned int count;		/* connections, one after another */
	struct sockaddr_in passive;
	struct sockaddr_in active;	/* source address */
	int bound_ms;			/* longest wait for ESTABLISHED */
};

/* private data that the passive side accepts with: where to write */
struct offer {
	__be64 addr;
	__be32 rkey;
	__be32 unused;
};

/* the two processes take turns: a byte each way */
struct turns {
	int in;
	int out;
};

void die(const char *what);
void turn_give(const struct turns *turns);
void turn_take(const struct turns *turns);
void qp_wanted(struct ibv_qp_init_attr *attr);

int run_passive(const struct order *order, const struct turns *turns);
int run_active(const struct order *order, const struct turns *turns);

#endif
