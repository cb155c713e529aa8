// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The active side, which connects and sends. Its ids have no event channel, so their
 * calls return when the operation has ended.
 */
#include <errno.h>
#include <stdalign.h>
#include <string.h>

#include <rdma/rdma_verbs.h>

#include "firstdata.h"

static alignas(4096) unsigned char data[DATA_SIZE];

static struct rdma_cm_id *connected(const struct order *order, struct offer *offer)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct sockaddr_in src = order->active, dst = order->passive;
	struct ibv_qp_init_attr attr;
	struct rdma_cm_id *id;

	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP))
		die("rdma_create_id");
	if (rdma_resolve_addr(id, (struct sockaddr *)&src, (struct sockaddr *)&dst, 5000))
		die("rdma_resolve_addr");
	if (rdma_resolve_route(id, 5000))
		die("rdma_resolve_route");
	qp_wanted(&attr);
	if (rdma_create_qp(id, NULL, &attr))
		die("rdma_create_qp");
	if (rdma_connect(id, &param))
		die("rdma_connect");
	errno = EPROTO;
	if (id->event->param.conn.private_data_len < sizeof(*offer))
		die("the accepting side's private data");
	memcpy(offer, id->event->param.conn.private_data, sizeof(*offer));
	return id;
}

static void send_data(struct rdma_cm_id *id, const struct order *order,
		      const struct offer *offer)
{
	struct ibv_wc wc;
	struct ibv_mr *mr;
	int ret;

	mr = rdma_reg_msgs(id, data, sizeof(data));
	if (!mr)
		die("rdma_reg_msgs");
	if (order->kind == KIND_WRITE)
		ret = rdma_post_write(id, NULL, data, sizeof(data), mr, IBV_SEND_SIGNALED,
				      be64toh(offer->addr), be32toh(offer->rkey));
	else
		ret = rdma_post_send(id, NULL, data, sizeof(data), mr, IBV_SEND_SIGNALED);
	if (ret)
		die("posting the data");
	errno = EIO;
	if (rdma_get_send_comp(id, &wc) != 1 || wc.status != IBV_WC_SUCCESS)
		die("sending the data");
	rdma_dereg_mr(mr);
}

int run_active(const struct order *order, const struct turns *turns)
{
	struct rdma_cm_id *id;
	struct offer offer;
	unsigned int i;

	memset(data, 0x5a, sizeof(data));
	for (i = 0; i < order->count; i++) {
		turn_take(turns);	/* the passive side listens */
		id = connected(order, &offer);
		send_data(id, order, &offer);
		turn_take(turns);	/* the passive side is established, or gave up */
		if (rdma_disconnect(id))
			die("rdma_disconnect");
		rdma_destroy_ep(id);
		turn_give(turns);
	}
	return 0;
}
