// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Hosts with an iWARP adapter each; the test decides what its provider does. */
#include <rdma/iw_cm.h>
#include "cma_test.h"

void cma_prov_let_go(struct cma_prov *prov)
{
	if (prov->cm_id)
		prov->cm_id->rem_ref(prov->cm_id);
	prov->cm_id = NULL;
}

static int prov_verb(struct fake_hca *hca, enum fake_iw_verb verb,
		     struct iw_cm_id *cm_id, const struct iw_cm_conn_param *param,
		     void *arg)
{
	struct cma_prov *prov = arg;

	if (param) {
		prov->param = *param;
		memset(prov->data, 0, sizeof(prov->data));
		if (param->private_data)
			memcpy(prov->data, param->private_data, param->private_data_len);
	}
	if (verb == FAKE_IW_LISTEN && !prov->result[verb])
		prov->listener = cm_id;
	if (verb == FAKE_IW_UNLISTEN && prov->listener == cm_id)
		prov->listener = NULL;
	if (!prov->result[verb] && (verb == FAKE_IW_CONNECT || verb == FAKE_IW_ACCEPT)) {
		cma_prov_let_go(prov);
		cm_id->add_ref(cm_id);
		prov->cm_id = cm_id;
	}
	return prov->result[verb];
}

/*
 * As adapters do, ends a connection with its QP; nothing has a reference to the QP
 * then.
 */
static void prov_on_verb(struct fake_hca *hca, enum fake_hca_object kind, bool create)
{
	struct cma_prov *prov = hca->iw_arg;

	if (kind != FAKE_QP || create)
		return;
	if (prov->cm_id)
		cma_prov_report(prov, prov->cm_id, IW_CM_EVENT_CLOSE, 0, NULL, NULL, NULL);
	WARN_ON(atomic_read(&hca->iw_qp_refs));
}

static int iw_host(struct cma_side *side, struct cma_prov *prov)
{
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_ETHERNET,
		.iwarp = true,
		.ports = 2,
	};
	int ret;

	memset(prov, 0, sizeof(*prov));
	side->ndev = cma_net_create();
	if (!side->ndev)
		return -ENOMEM;
	ret = cma_side_net(side);
	if (ret)
		return ret;
	params.ndev = side->ndev;
	side->hca = fake_hca_alloc(&params);
	side->ndev2 = cma_net_create();
	if (!side->hca || !side->ndev2)
		return -ENOMEM;
	side->prov = prov;
	side->hca->iw_verb = prov_verb;
	side->hca->iw_arg = prov;
	side->hca->on_verb = prov_on_verb;
	ret = ib_device_set_netdev(&side->hca->ibdev, side->ndev2, 2);
	if (!ret)
		ret = fake_hca_register(side->hca);
	if (ret)
		return ret;
	msleep(200);
	return cma_side_start(side);
}

/* A host without an adapter is just an address of the other host's neighbour. */
static int iw_neighbour(struct cma_side *side, struct cma_side *peer)
{
	struct net_device *ndev = peer->ndev;
	int ret;

	if (!ndev)
		peer->ndev = side->ndev;
	ret = cma_know_peer(side, peer);
	peer->ndev = ndev;
	return ret;
}

int cma_pair_init_iw(struct kunit *test, struct cma_pair *pair, struct cma_prov *client,
		     struct cma_prov *server)
{
	int ret;

	cma_pair_addrs(pair);
	ret = iw_host(&pair->client, client);
	if (!ret && server)
		ret = iw_host(&pair->server, server);
	if (!ret)
		ret = iw_neighbour(&pair->client, &pair->server);
	if (!ret && server)
		ret = iw_neighbour(&pair->server, &pair->client);
	return ret;
}

void cma_pair_exit_iw(struct kunit *test, struct cma_pair *pair)
{
	struct net_device *ndevs[2] = { pair->client.ndev2, pair->server.ndev2 };
	struct cma_prov *provs[2] = { pair->client.prov, pair->server.prov };
	int i;

	cma_pair_exit(test, pair);
	for (i = 0; i < 2; i++) {
		if (provs[i])
			cma_prov_let_go(provs[i]);
		if (ndevs[i])
			fake_netdev_destroy(ndevs[i]);
	}
}

int cma_prov_report(struct cma_prov *prov, struct iw_cm_id *cm_id,
		    enum iw_cm_event_type type, int status, const char *data,
		    const struct sockaddr *local, const struct sockaddr *remote)
{
	struct iw_cm_event event = fake_iw_event(type, status, data, prov);

	if (local)
		memcpy(&event.local_addr, local, rdma_addr_size((struct sockaddr *)local));
	if (remote)
		memcpy(&event.remote_addr, remote,
		       rdma_addr_size((struct sockaddr *)remote));
	return cm_id->event_handler(cm_id, &event);
}
