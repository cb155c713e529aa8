// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Ids at each stage of their life. */
#include "cma_test.h"

const char * const cma_stage_names[CMA_STAGES] = {
	[AT_IDLE]		= "idle",
	[AT_BOUND]		= "bound",
	[AT_ADDR_QUERY]		= "address query",
	[AT_ADDR_RESOLVED]	= "address resolved",
	[AT_ROUTE_QUERY]	= "route query",
	[AT_ROUTE_RESOLVED]	= "route resolved",
	[AT_CONNECT]		= "connecting",
	[AT_UP]			= "connected",
	[AT_DISCONNECT]		= "disconnected",
	[AT_LISTEN]		= "listening",
	[AT_REQUEST]		= "requested",
};

static const enum rdma_cm_state stage_states[CMA_STAGES] = {
	[AT_IDLE]		= RDMA_CM_IDLE,
	[AT_BOUND]		= RDMA_CM_ADDR_BOUND,
	[AT_ADDR_QUERY]		= RDMA_CM_ADDR_QUERY,
	[AT_ADDR_RESOLVED]	= RDMA_CM_ADDR_RESOLVED,
	[AT_ROUTE_QUERY]	= RDMA_CM_ROUTE_QUERY,
	[AT_ROUTE_RESOLVED]	= RDMA_CM_ROUTE_RESOLVED,
	[AT_CONNECT]		= RDMA_CM_CONNECT,
	[AT_UP]			= RDMA_CM_CONNECT,
	[AT_DISCONNECT]		= RDMA_CM_DISCONNECT,
	[AT_LISTEN]		= RDMA_CM_LISTEN,
	[AT_REQUEST]		= RDMA_CM_CONNECT,
};

static int to_bound(struct cma_pair *pair)
{
	struct sockaddr_storage src;

	return rdma_bind_addr(pair->client.id, cma_sin(&src, pair->client.ip4, 0));
}

/* No host has this address, so its link address stays unresolved. */
static int to_addr_query(struct cma_pair *pair)
{
	struct sockaddr_storage dst;

	return rdma_resolve_addr(pair->client.id, NULL,
				 cma_sin(&dst, htonl(0x0a01004d), TEST_PORT), 60000);
}

static int to_addr_resolved(struct cma_pair *pair)
{
	struct sockaddr_storage dst;
	int ret;

	ret = rdma_resolve_addr(pair->client.id, NULL,
				cma_sin(&dst, pair->server.ip4, TEST_PORT),
				TEST_TIMEOUT);
	return ret ?: cma_wait(&pair->client, "A") ? 0 : -EPROTO;
}

static int to_route_resolved(struct cma_pair *pair)
{
	int ret = to_addr_resolved(pair);

	if (!ret)
		ret = rdma_resolve_route(pair->client.id, TEST_TIMEOUT);
	if (!ret && !cma_wait(&pair->client, "AR"))
		ret = -EPROTO;
	return ret ?: cma_make_qp(&pair->client);
}

static int to_request(struct cma_pair *pair, const char *client, const char *server)
{
	int ret = cma_listen(pair);

	if (!ret)
		ret = to_route_resolved(pair);
	if (!ret)
		ret = cma_request(&pair->client);
	if (!ret && (!cma_wait(&pair->client, client) ||
		     !cma_wait(&pair->server, server)))
		ret = -EPROTO;
	return ret;
}

static int stage_reach(struct cma_pair *pair, enum cma_stage stage)
{
	int ret;

	switch (stage) {
	case AT_IDLE:
		return 0;
	case AT_BOUND:
		return to_bound(pair);
	case AT_ADDR_QUERY:
		return to_addr_query(pair);
	case AT_ADDR_RESOLVED:
		return to_addr_resolved(pair);
	case AT_ROUTE_QUERY:
		ret = to_addr_resolved(pair);
		rdma_lock_handler(pair->client.id);
		return ret ?: rdma_resolve_route(pair->client.id, TEST_TIMEOUT);
	case AT_ROUTE_RESOLVED:
		return to_route_resolved(pair);
	case AT_CONNECT:
		pair->client.hold = BIT(IBCM_REQ);
		return to_request(pair, "AR", "");
	case AT_UP:
		return to_request(pair, "ARE", "QE");
	case AT_DISCONNECT:
		ret = to_request(pair, "ARE", "QE");
		if (!ret)
			ret = rdma_disconnect(pair->client.id);
		if (!ret && (!cma_wait(&pair->client, "AREDT") ||
			     !cma_wait(&pair->server, "QEDT")))
			ret = -EPROTO;
		return ret;
	case AT_LISTEN:
		return cma_listen(pair);
	default:
		pair->server.on_request = CMA_WAIT;
		return to_request(pair, "AR", "Q");
	}
}

struct rdma_cm_id *cma_go_to(struct kunit *test, struct cma_pair *pair,
			     enum cma_stage stage)
{
	struct rdma_cm_id *id;
	int ret;

	pair->client.id = cma_new_id(&pair->client, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(pair->client.id)) {
		pair->client.id = NULL;
		KUNIT_FAIL(test, "no id");
		return NULL;
	}
	ret = stage_reach(pair, stage);
	KUNIT_EXPECT_EQ_MSG(test, ret, 0, "to %s: client %s, server %s",
			    cma_stage_names[stage], pair->client.events,
			    pair->server.events);
	id = stage == AT_LISTEN ? pair->server.listener :
	     stage == AT_REQUEST ? pair->server.id : pair->client.id;
	if (ret || !id)
		return NULL;
	KUNIT_EXPECT_EQ_MSG(test, cma_at(id), stage_states[stage], "%s",
			    cma_stage_names[stage]);
	return id;
}

static void side_leave(struct cma_side *side)
{
	cma_drop_id(side);
	cma_forget(side);
	side->hold = 0;
	side->duplicate = 0;
	side->destroy_on = 0;
	side->on_request = CMA_ACCEPT;
	memset(side->drop, 0, sizeof(side->drop));
}

void cma_leave(struct kunit *test, struct cma_pair *pair)
{
	side_leave(&pair->client);
	cma_drop_listener(&pair->server);
	side_leave(&pair->server);
	fake_hca_release_held(pair->client.hca);
	fake_hca_release_held(pair->server.hca);
	cma_quiesce(pair);
}
