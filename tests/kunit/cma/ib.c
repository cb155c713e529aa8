// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The same two hosts on InfiniBand: IPoIB netdevs, whose link addresses contain the
 * ports' GIDs, and a fake subnet administration (SA) that answers queries on the wire.
 */
#include <linux/if_infiniband.h>
#include <rdma/ib_addr.h>
#include "cma_test.h"

#define SM_LID		1	/* sm_lid of the fake adapters' ports */
#define GROUP_LID	0xc001
#define GROUP_QKEY	0x0b1b

static struct cma_pair *ib_pair;	/* for the fake SA and IPoIB */

/* A PathRecord (IBA vol. 1, 15.2.5.16); all other fields are as in the query. */
static void sa_answer_path(const u8 *ask, u8 *rec)
{
	const struct cma_side *side[] = { &ib_pair->client, &ib_pair->server };
	int i;

	memcpy(rec, ask, 64);
	for (i = 0; i < 2; i++) {
		const struct fake_hca_port *port = &side[i]->hca->port[1];

		if (!memcmp(ask + 8, &port->gids[0], 16))
			*(__be16 *)(rec + 40) = cpu_to_be16(port->lid);
		if (!memcmp(ask + 24, &port->gids[0], 16))
			*(__be16 *)(rec + 42) = cpu_to_be16(port->lid);
	}
	rec[49] = 0x81;				/* reversible, one path */
	rec[54] = IB_SA_EQ << 6 | IB_MTU_2048;
	rec[55] = IB_SA_EQ << 6 | IB_RATE_10_GBPS;
	rec[56] = IB_SA_EQ << 6 | 12;
}

/* An MCMemberRecord (15.2.5.17). */
static void sa_answer_group(const u8 *ask, u8 *rec)
{
	static const u8 none[16];

	memcpy(rec, ask, 52);
	if (!memcmp(rec, none, 16)) {
		rec[0] = 0xff;
		rec[1] = 0x12;
		rec[2] = 0xa0;
		rec[3] = 0x1b;
	}
	if (!*(__be32 *)(rec + 32))
		*(__be32 *)(rec + 32) = cpu_to_be32(GROUP_QKEY);
	*(__be16 *)(rec + 36) = cpu_to_be16(GROUP_LID);
	rec[38] = IB_SA_EQ << 6 | IB_MTU_2048;
	rec[42] = IB_SA_EQ << 6 | IB_RATE_10_GBPS;
	rec[43] = IB_SA_EQ << 6 | 12;
}

enum fake_hca_verdict cma_sa_verdict(struct cma_side *side,
				     struct fake_hca_packet *packet)
{
	struct ib_sa_mad *ask = (void *)packet->data;
	struct fake_hca_packet like = {
		.port = 1,
		.src_qpn = 1,
		.slid = SM_LID,
		.dlid = side->hca->port[1].lid,
		.qkey = IB_QP1_QKEY,
		/* The reverse path of the query. */
		.grh = packet->grh,
		.sgid = packet->dgid,
		.dgid = packet->sgid,
	};
	struct ib_sa_mad *answer;

	atomic_inc(&side->sa_asked);
	if (side->sa == SA_SILENT)
		return FAKE_DROP;
	answer = kmemdup(ask, sizeof(*ask), GFP_KERNEL);
	if (!answer)
		return FAKE_DROP;
	answer->mad_hdr.method = ask->mad_hdr.method == IB_SA_METHOD_DELETE ?
				 IB_SA_METHOD_DELETE_RESP : IB_MGMT_METHOD_GET_RESP;
	if (side->sa == SA_REFUSES)
		answer->mad_hdr.status = cpu_to_be16(0x300);	/* no records */
	else if (be16_to_cpu(ask->mad_hdr.attr_id) == IB_SA_ATTR_PATH_REC)
		sa_answer_path(ask->data, answer->data);
	else
		sa_answer_group(ask->data, answer->data);
	memcpy(side->sa_record, ask->data, sizeof(side->sa_record));
	fake_hca_inject(side->hca, 1, &like, answer, sizeof(*answer));
	kfree(answer);
	return FAKE_DROP;
}

/* As IPoIB does for the CMA, returns the netdev that a request is for. */
static struct net_device *ib_net_dev(struct ib_device *device, u32 port, u16 pkey,
				     const union ib_gid *gid,
				     const struct sockaddr *addr, void *client_data)
{
	struct net_device *ndev;
	struct cma_side *side;

	if (!ib_pair)
		return NULL;
	side = device == &ib_pair->server.hca->ibdev ? &ib_pair->server : &ib_pair->client;
	side->pkey_asked = pkey;
	if (side->hidden)
		return NULL;
	if (side->fail_request)
		current->fail_nth = side->fail_request;
	ndev = side->by ?: side->ndev;
	dev_hold(ndev);
	return ndev;
}

static int ib_net_add(struct ib_device *device)
{
	return 0;
}

static void ib_net_remove(struct ib_device *device, void *client_data)
{
}

static struct ib_client ib_net_client = {
	.name = "cma_test",
	.add = ib_net_add,
	.remove = ib_net_remove,
	.get_net_dev_by_params = ib_net_dev,
};

static int ib_side_init(struct cma_side *side)
{
	static const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
	};
	u8 lladdr[INFINIBAND_ALEN] = { 0, 0, 1, 0 };
	int ret;

	side->hca = fake_hca_create(&params);
	if (!side->hca)
		return -ENOMEM;
	memcpy(lladdr + 4, &side->hca->port[1].gids[0], 16);
	side->ndev = fake_ipoib_create(lladdr);
	if (!side->ndev)
		return -ENOMEM;
	ret = cma_side_net(side);
	/* ib_sa creates an address handle in a work item: wait for that. */
	msleep(100);
	return ret ?: cma_side_start(side);
}

int cma_pair_init_ib(struct kunit *test, struct cma_pair *pair)
{
	int ret;

	cma_pair_addrs(pair);
	ret = ib_register_client(&ib_net_client);
	if (ret)
		return ret;
	ib_pair = pair;
	ret = ib_side_init(&pair->client);
	if (!ret)
		ret = ib_side_init(&pair->server);
	if (!ret)
		ret = cma_know_peer(&pair->client, &pair->server);
	return ret ?: cma_know_peer(&pair->server, &pair->client);
}

void cma_pair_exit_ib(struct kunit *test, struct cma_pair *pair)
{
	cma_pair_exit(test, pair);
	ib_pair = NULL;
	ib_unregister_client(&ib_net_client);
}

void cma_sin_ib(struct sockaddr_storage *at, struct cma_side *side,
		enum rdma_ucm_port_space ps, u16 port)
{
	struct sockaddr_ib *ib = (struct sockaddr_ib *)at;

	memset(at, 0, sizeof(*at));
	ib->sib_family = AF_IB;
	ib->sib_pkey = cpu_to_be16(0xffff);
	ib->sib_sid = cpu_to_be64(((u64)ps << 16) + port);
	ib->sib_sid_mask = cpu_to_be64(U64_MAX);
	if (side)
		memcpy(&ib->sib_addr, &side->hca->port[1].gids[0], 16);
}
