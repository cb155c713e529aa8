// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Two hosts, a client and a server, and the events of their ids. */
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>
#include "cma_test.h"

static char cma_letter(enum rdma_cm_event_type event)
{
	static const char letters[] = {
		[RDMA_CM_EVENT_ADDR_RESOLVED]	= 'A',
		[RDMA_CM_EVENT_ADDR_ERROR]	= 'a',
		[RDMA_CM_EVENT_ROUTE_RESOLVED]	= 'R',
		[RDMA_CM_EVENT_ROUTE_ERROR]	= 'r',
		[RDMA_CM_EVENT_CONNECT_REQUEST]	= 'Q',
		[RDMA_CM_EVENT_CONNECT_RESPONSE] = 'P',
		[RDMA_CM_EVENT_CONNECT_ERROR]	= 'c',
		[RDMA_CM_EVENT_UNREACHABLE]	= 'u',
		[RDMA_CM_EVENT_REJECTED]	= 'J',
		[RDMA_CM_EVENT_ESTABLISHED]	= 'E',
		[RDMA_CM_EVENT_DISCONNECTED]	= 'D',
		[RDMA_CM_EVENT_DEVICE_REMOVAL]	= 'X',
		[RDMA_CM_EVENT_MULTICAST_JOIN]	= 'M',
		[RDMA_CM_EVENT_MULTICAST_ERROR]	= 'm',
		[RDMA_CM_EVENT_ADDR_CHANGE]	= 'C',
		[RDMA_CM_EVENT_TIMEWAIT_EXIT]	= 'T',
	};

	return event < sizeof(letters) ? letters[event] : '?';
}

struct cma_id *cma_of(struct rdma_cm_id *id)
{
	return container_of(id, struct cma_id, id);
}

struct ibcm_id *cma_ibcm(struct cma_side *side)
{
	return to_ibcm(cma_of(side->id)->cm.ib);
}

enum rdma_cm_state cma_at(struct rdma_cm_id *id)
{
	return READ_ONCE(cma_of(id)->state);
}

static bool is_conn_event(enum rdma_cm_event_type event)
{
	return event == RDMA_CM_EVENT_CONNECT_REQUEST ||
	       event == RDMA_CM_EVENT_CONNECT_RESPONSE ||
	       event == RDMA_CM_EVENT_REJECTED || event == RDMA_CM_EVENT_ESTABLISHED;
}

static void cma_record(struct cma_side *side, const struct rdma_cm_event *event)
{
	int n = atomic_read(&side->nr_events);

	side->last = *event;
	side->when = jiffies;
	/* conn and ud begin alike: private data, then its length. */
	if (is_conn_event(event->event) && event->param.conn.private_data) {
		memset(side->private_data, 0, sizeof(side->private_data));
		memcpy(side->private_data, event->param.conn.private_data,
		       event->param.conn.private_data_len);
	}
	if (n < (int)sizeof(side->events) - 1)
		side->events[n] = cma_letter(event->event);
	atomic_inc(&side->nr_events);
}

static int make_qp(struct cma_side *side, struct rdma_cm_id *id)
{
	struct ib_qp_init_attr init = {
		.send_cq = side->cq,
		.recv_cq = side->cq,
		.cap = {
			.max_send_wr = 4, .max_recv_wr = 4,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = side->qp_type,
		.event_handler = side->qp_event,
		.qp_context = side,
	};

	return rdma_create_qp(id, side->pd, &init);
}

int cma_make_qp(struct cma_side *side)
{
	return make_qp(side, side->id);
}

/* side->id is NULL already if the test destroys it meanwhile. */
static int cma_do_accept(struct cma_side *side, struct rdma_cm_id *id)
{
	int ret = side->own_qp ? 0 : make_qp(side, id);

	if (side->own_qp)
		side->param.qp_num = side->qpn;
	return ret ?: rdma_accept_ece(id, &side->param, &side->ece);
}

static int cma_answer(struct cma_side *side, struct rdma_cm_id *id,
		      enum rdma_cm_event_type event)
{
	enum cma_answer answer = CMA_WAIT;

	if (event == RDMA_CM_EVENT_CONNECT_REQUEST)
		answer = side->on_request;
	else if (event == RDMA_CM_EVENT_CONNECT_RESPONSE)
		answer = side->on_response;
	else if (event == RDMA_CM_EVENT_DISCONNECTED)
		answer = side->on_disconnect;

	switch (answer) {
	case CMA_ACCEPT:
		if (event == RDMA_CM_EVENT_CONNECT_REQUEST)
			side->call = cma_do_accept(side, id);
		else if (event == RDMA_CM_EVENT_CONNECT_RESPONSE)
			side->call = rdma_accept(id, NULL);
		else
			side->call = rdma_disconnect(id);
		return 0;
	case CMA_REJECT:
		side->call = rdma_reject(id, "no", 3, IB_CM_REJ_CONSUMER_DEFINED);
		return 0;
	case CMA_FAIL:
		return -ECANCELED;
	default:
		return 0;
	}
}

int cma_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct cma_side *side = id->context;
	int ret;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		if (side->fail_request) {
			side->spared = current->fail_nth;
			current->fail_nth = 0;
		}
		/* A test that expects one connection refuses a second. */
		if (side->id) {
			cma_record(side, event);
			return -EBUSY;
		}
		side->id = id;
	}
	ret = cma_answer(side, id, event->event);
	if (!ret && side->destroy_on && cma_letter(event->event) == side->destroy_on)
		ret = 1;
	if (ret) {
		if (id->qp)
			rdma_destroy_qp(id);
		if (id == side->id)
			side->id = NULL;
		side->destroyed = true;
	}
	cma_record(side, event);
	return ret;
}

static enum fake_hca_verdict cma_verdict(struct fake_hca *hca,
					 struct fake_hca_packet *packet, void *arg)
{
	struct ib_mad_hdr *hdr = (void *)packet->data;
	struct cma_side *side = arg;
	u16 kind = be16_to_cpu(hdr->attr_id) - be16_to_cpu(CM_REQ_ATTR_ID);

	if (packet->dst_qpn == 1 && hdr->mgmt_class == IB_MGMT_CLASS_SUBN_ADM)
		return cma_sa_verdict(side, packet);
	if (packet->dst_qpn != 1 || hdr->mgmt_class != IB_MGMT_CLASS_CM ||
	    kind >= IBCM_KINDS)
		return FAKE_DELIVER;
	atomic_inc(&side->wire[kind]);
	if (side->forge && (kind == IBCM_REQ || kind == IBCM_SIDR_REQ))
		side->forge(side, packet->data);
	if (side->drop[kind]) {
		if (side->drop[kind] > 0)
			side->drop[kind]--;
		return FAKE_DROP;
	}
	if (side->hold & BIT(kind))
		return FAKE_HOLD;
	return side->duplicate & BIT(kind) ? FAKE_DUPLICATE : FAKE_DELIVER;
}

/* Records the objects of the idle adapter: no others must be left in the end. */
int cma_side_start(struct cma_side *side)
{
	int i;

	side->pd = ib_alloc_pd(&side->hca->ibdev, 0);
	if (IS_ERR(side->pd))
		return PTR_ERR(side->pd);
	side->cq = ib_alloc_cq_any(&side->hca->ibdev, NULL, 16, IB_POLL_WORKQUEUE);
	if (IS_ERR(side->cq)) {
		ib_dealloc_pd(side->pd);
		return PTR_ERR(side->cq);
	}
	for (i = 0; i < FAKE_OBJECTS; i++)
		side->idle[i] = atomic_read(&side->hca->alive[i]);
	side->hca->verdict = cma_verdict;
	side->hca->verdict_arg = side;
	side->on_request = CMA_ACCEPT;
	side->on_response = CMA_ACCEPT;
	side->on_disconnect = CMA_ACCEPT;
	side->qp_type = IB_QPT_RC;
	side->param.responder_resources = 2;
	side->param.initiator_depth = 3;
	side->param.retry_count = 7;
	side->param.rnr_retry_count = 6;
	return 0;
}

/* Returns whether the port has the RoCE v2 GIDs of both IP addresses. */
static bool cma_gid_there(struct cma_side *side)
{
	const struct ib_gid_attr *attr;
	struct sockaddr_storage ip;
	union ib_gid gid;
	int i;

	for (i = 0; i < 2; i++) {
		rdma_ip2gid(i ? cma_sin6(&ip, &side->ip6, 0) :
				cma_sin(&ip, side->ip4, 0), &gid);
		attr = rdma_find_gid_by_port(&side->hca->ibdev, &gid,
					     IB_GID_TYPE_ROCE_UDP_ENCAP, 1, side->ndev);
		if (IS_ERR(attr))
			return false;
		rdma_put_gid_attr(attr);
	}
	return true;
}

int cma_side_net(struct cma_side *side)
{
	int ret, i;

	ret = cma_net_addr(side->ndev, true, AF_INET, &side->ip4, 24);
	if (!ret)
		ret = cma_net_addr(side->ndev, true, AF_INET6, &side->ip6, 64);
	if (!ret)
		ret = cma_net_hide_local(side->ndev, AF_INET, &side->ip4);
	/* IPv6 adds its local route in a work item. */
	for (i = 0; !ret && i < 100; i++) {
		msleep(20);
		if (!cma_net_hide_local(side->ndev, AF_INET6, &side->ip6))
			return 0;
	}
	return ret ?: -ENODEV;
}

static int cma_roce_init(struct cma_side *side)
{
	struct fake_hca_params params = { .link_layer = IB_LINK_LAYER_ETHERNET };
	int ret, i;

	side->ndev = cma_net_create();
	if (!side->ndev)
		return -ENOMEM;
	params.ndev = side->ndev;
	ret = cma_side_net(side);
	if (ret)
		return ret;
	side->hca = fake_hca_create(&params);
	if (!side->hca)
		return -ENOMEM;
	for (i = 0; i < 100 && !cma_gid_there(side); i++)
		msleep(20);
	return cma_gid_there(side) ? cma_side_start(side) : -ENODEV;
}

int cma_know_peer(struct cma_side *side, const struct cma_side *peer)
{
	int ret;

	ret = cma_net_neigh(side->ndev, AF_INET, &peer->ip4, peer->ndev->dev_addr,
			    NUD_PERMANENT);
	return ret ?: cma_net_neigh(side->ndev, AF_INET6, &peer->ip6,
				    peer->ndev->dev_addr, NUD_PERMANENT);
}

void cma_pair_addrs(struct cma_pair *pair)
{
	struct cma_side *client = &pair->client, *server = &pair->server;

	memset(pair, 0, sizeof(*pair));
	client->ip4 = htonl(0x0a010001);
	server->ip4 = htonl(0x0a010002);
	client->ip6.s6_addr[0] = 0xfd;
	client->ip6.s6_addr[15] = 1;
	server->ip6.s6_addr[0] = 0xfd;
	server->ip6.s6_addr[15] = 2;
	client->qpn = 0x100;
	server->qpn = 0x200;
}

int cma_pair_init(struct kunit *test, struct cma_pair *pair)
{
	int ret;

	cma_pair_addrs(pair);
	ret = cma_roce_init(&pair->client);
	if (!ret)
		ret = cma_roce_init(&pair->server);
	if (!ret)
		ret = cma_know_peer(&pair->client, &pair->server);
	return ret ?: cma_know_peer(&pair->server, &pair->client);
}

int cma_alive(struct cma_side *side, enum fake_hca_object kind)
{
	return atomic_read(&side->hca->alive[kind]) - side->idle[kind];
}

int cma_sent(struct cma_side *side, enum ibcm_kind kind)
{
	return atomic_read(&side->wire[kind]);
}

void cma_drop_id(struct cma_side *side)
{
	struct rdma_cm_id *id = side->id;

	side->id = NULL;
	if (!id)
		return;
	if (id->qp)
		rdma_destroy_qp(id);
	rdma_destroy_id(id);
}

void cma_drop_listener(struct cma_side *side)
{
	if (side->listener)
		rdma_destroy_id(side->listener);
	side->listener = NULL;
}

static bool cma_idle(struct cma_side *side)
{
	int i;

	for (i = 0; i < FAKE_GID; i++)
		if (i != FAKE_CQ && cma_alive(side, i))
			return false;
	return true;
}

/* Expects that no object of any connection is left; frees the CQ and PD. */
void cma_side_stop(struct kunit *test, struct cma_side *side)
{
	int i;

	if (!side->hca)
		return;
	if (!IS_ERR_OR_NULL(side->cq)) {
		/* Wait for timewait, and whatever else ends by itself. */
		for (i = 0; i < 6000 && !cma_idle(side); i++)
			msleep(20);
		for (i = 0; i < FAKE_GID; i++)
			if (i != FAKE_CQ)
				KUNIT_EXPECT_EQ_MSG(test, cma_alive(side, i), 0,
						    "objects of kind %d", i);
		ib_free_cq(side->cq);
		ib_dealloc_pd(side->pd);
	}
}

int cma_hw_gids(struct cma_side *side, sa_family_t family)
{
	struct fake_hca_port *port = &side->hca->port[1];
	union ib_gid gid;
	int i, n = 0;

	if (family == AF_INET)
		ipv6_addr_set_v4mapped(side->ip4, (struct in6_addr *)&gid);
	else
		memcpy(&gid, &side->ip6, sizeof(gid));
	for (i = 0; i < FAKE_HCA_GIDS; i++)
		n += port->gid_used[i] && !memcmp(&port->gids[i], &gid, sizeof(gid));
	return n;
}

static bool cma_has_ip_gids(struct cma_side *side)
{
	return cma_hw_gids(side, AF_INET) || cma_hw_gids(side, AF_INET6);
}

static void cma_host_exit(struct kunit *test, struct cma_side *side)
{
	int i;

	cma_side_stop(test, side);
	if (side->ndev && side->hca) {
		cma_net_addr(side->ndev, false, AF_INET, &side->ip4, 24);
		cma_net_addr(side->ndev, false, AF_INET6, &side->ip6, 64);
		for (i = 0; i < 100 && cma_has_ip_gids(side); i++)
			msleep(20);
		KUNIT_EXPECT_FALSE_MSG(test, cma_has_ip_gids(side), "GIDs are referenced");
	}
	if (side->hca)
		fake_hca_destroy(side->hca);
	if (side->ndev)
		fake_netdev_destroy(side->ndev);
}

void cma_pair_exit(struct kunit *test, struct cma_pair *pair)
{
	cma_drop_id(&pair->client);
	cma_drop_listener(&pair->client);
	cma_drop_listener(&pair->server);
	cma_drop_id(&pair->server);
	cma_host_exit(test, &pair->client);
	cma_host_exit(test, &pair->server);
	memset(pair, 0, sizeof(*pair));
}

struct rdma_cm_id *cma_new_id(struct cma_side *side, enum rdma_ucm_port_space ps,
			      enum ib_qp_type type)
{
	return rdma_create_id(&init_net, cma_handler, side, ps, type);
}

int cma_listen_at(struct cma_side *side, enum rdma_ucm_port_space ps,
		  const struct sockaddr *addr)
{
	struct rdma_cm_id *id = cma_new_id(side, ps, side->qp_type);
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	ret = rdma_bind_addr(id, (struct sockaddr *)addr);
	if (!ret)
		ret = rdma_listen(id, 8);
	if (ret)
		rdma_destroy_id(id);
	else
		side->listener = id;
	return ret;
}

int cma_listen(struct cma_pair *pair)
{
	struct sockaddr_storage addr;

	return cma_listen_at(&pair->server, RDMA_PS_TCP,
			     cma_sin(&addr, pair->server.ip4, TEST_PORT));
}

bool cma_wait(struct cma_side *side, const char *events)
{
	int i, n = strlen(events);

	for (i = 0; i < 10000 && atomic_read(&side->nr_events) < n; i++)
		msleep(20);
	return !strcmp(side->events, events);
}

void cma_forget(struct cma_side *side)
{
	memset(side->events, 0, sizeof(side->events));
	atomic_set(&side->nr_events, 0);
}

void cma_quiesce(struct cma_pair *pair)
{
	int i;

	for (i = 0; i < 3; i++) {
		fake_hca_flush(pair->client.hca);
		fake_hca_flush(pair->server.hca);
		usleep_range(5000, 6000);
	}
}

void cma_resolve_to(struct kunit *test, struct cma_side *client,
		    enum rdma_ucm_port_space ps, const struct sockaddr *dst)
{
	struct rdma_cm_id *id = cma_new_id(client, ps, client->qp_type);
	struct sockaddr_storage addr;
	struct sockaddr *src;

	KUNIT_ASSERT_FALSE(test, IS_ERR(id));
	client->id = id;
	/*
	 * Both sides' addresses are this host's: without a source it might choose the
	 * peer's.
	 */
	src = dst->sa_family == AF_INET6 ? cma_sin6(&addr, &client->ip6, 0) :
					   cma_sin(&addr, client->ip4, 0);
	KUNIT_ASSERT_EQ(test, rdma_resolve_addr(id, src, dst, TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE_MSG(test, cma_wait(client, "A"), "%s %d", client->events,
			      client->last.status);
	KUNIT_ASSERT_EQ(test, rdma_resolve_route(client->id, TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE_MSG(test, cma_wait(client, "AR"), "%s %d", client->events,
			      client->last.status);
	if (!client->own_qp)
		KUNIT_ASSERT_EQ(test, cma_make_qp(client), 0);
	cma_forget(client);
}

void cma_resolve(struct kunit *test, struct cma_pair *pair)
{
	struct sockaddr_storage dst;

	cma_resolve_to(test, &pair->client, RDMA_PS_TCP,
		       cma_sin(&dst, pair->server.ip4, TEST_PORT));
}

int cma_request(struct cma_side *client)
{
	if (client->own_qp)
		client->param.qp_num = client->qpn;
	return rdma_connect_ece(client->id, &client->param, &client->ece);
}

void cma_connect(struct kunit *test, struct cma_pair *pair)
{
	if (!pair->server.listener)
		KUNIT_ASSERT_EQ(test, cma_listen(pair), 0);
	cma_resolve(test, pair);
	KUNIT_ASSERT_EQ(test, cma_request(&pair->client), 0);
	KUNIT_ASSERT_TRUE_MSG(test, cma_wait(&pair->client, "E"), "client: %s",
			      pair->client.events);
	KUNIT_ASSERT_TRUE_MSG(test, cma_wait(&pair->server, "QE"), "server: %s",
			      pair->server.events);
	cma_forget(&pair->client);
	cma_forget(&pair->server);
}

void cma_connect_without_rtu(struct kunit *test, struct cma_pair *pair)
{
	KUNIT_ASSERT_EQ(test, cma_listen(pair), 0);
	cma_resolve(test, pair);
	pair->client.drop[IBCM_RTU] = -1;
	KUNIT_ASSERT_EQ(test, cma_request(&pair->client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair->client, "E"));
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair->server, "Q"));
}
