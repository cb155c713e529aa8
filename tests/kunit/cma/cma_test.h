/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_CMA_TEST_H
#define IBEX_CMA_TEST_H

/*
 * Two hosts in one: the client has a netdev with an IPv4 and an IPv6 address and an
 * adapter on it, and so has the server.  The local routes of these addresses are
 * removed from the routing tables, so that either side finds the other through its own
 * netdev.  Each side's handler records its events and responds as the test chose.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <rdma/iw_cm.h>
#include <rdma/rdma_cm.h>
#include <rdma/rdma_cm_ib.h>
#include "fake_hca.h"
#include "ibcm/id.h"
#include "connect/connect.h"
#include "id/id.h"

#define TEST_PORT	4791
#define TEST_TIMEOUT	2000	/* ms, of resolutions */

enum cma_answer { CMA_WAIT, CMA_ACCEPT, CMA_REJECT, CMA_FAIL };

/* What an iWARP provider's verbs were last called with, and what they return. */
struct cma_prov {
	struct iw_cm_id *cm_id;		/* referenced, of connect and accept */
	struct iw_cm_id *listener;
	struct iw_cm_conn_param param;
	char data[256];
	int result[FAKE_IW_VERBS];
};

struct cma_side {
	struct net_device *ndev;
	struct fake_hca *hca;
	struct cma_prov *prov;		/* of an iWARP adapter */
	struct net_device *ndev2;	/* of its second port */
	struct ib_pd *pd;
	struct ib_cq *cq;
	int idle[FAKE_OBJECTS];		/* objects alive without a connection */
	__be32 ip4;
	struct in6_addr ip6;

	struct rdma_cm_id *id;		/* the connection's */
	struct rdma_cm_id *listener;
	enum cma_answer on_request, on_response, on_disconnect;
	char destroy_on;		/* letter of the event that has the id destroyed */
	bool destroyed;
	bool own_qp;			/* the consumer owns the QP; CMA knows only qpn */
	u32 qpn;
	enum ib_qp_type qp_type;
	void (*qp_event)(struct ib_event *event, void *context);	/* of its QPs */
	struct rdma_conn_param param;	/* to connect or accept with */
	struct rdma_ucm_ece ece;

	atomic_t nr_events;
	char events[64];		/* a letter each, see cma_letter() */
	unsigned long when;		/* jiffies of the last */
	int call;			/* the result of the last call in a handler */
	struct rdma_cm_event last;
	u8 private_data[256];		/* of the last event that had any */

	/*
	 * The messages that its adapter sends, by kind; @drop is how many to drop, -1
	 * for all.
	 */
	atomic_t wire[IBCM_KINDS];
	int drop[IBCM_KINDS];
	u16 duplicate, hold;		/* masks of kinds */
	void (*forge)(struct cma_side *side, void *mad);	/* its requests */

	/* InfiniBand only, see ib.c. */
	enum { SA_ANSWERS, SA_REFUSES, SA_SILENT } sa;
	atomic_t sa_asked;
	u8 sa_record[64];		/* of the last query */
	bool hidden;			/* no netdev is found for its requests */
	struct net_device *by;		/* the netdev that is found, if not NULL */
	u16 pkey_asked;			/* of the last lookup of a netdev */
	int fail_request;		/* the n-th allocation after a lookup fails */
	bool spared;			/* there were fewer than n */
};

struct cma_pair {
	struct cma_side client, server;
};

/* How far an id is: the client's, for the last two the server's. */
enum cma_stage {
	AT_IDLE, AT_BOUND, AT_ADDR_QUERY, AT_ADDR_RESOLVED, AT_ROUTE_QUERY,
	AT_ROUTE_RESOLVED, AT_CONNECT, AT_UP, AT_DISCONNECT, AT_LISTEN, AT_REQUEST,
	CMA_STAGES
};

/* stage.c */
extern const char * const cma_stage_names[CMA_STAGES];
/*
 * Brings an id to @stage and returns it, or NULL after a failure.  At AT_ROUTE_QUERY
 * the id's handler is locked, as nothing else keeps the id in that state.
 */
struct rdma_cm_id *cma_go_to(struct kunit *test, struct cma_pair *pair,
			     enum cma_stage stage);
/* Destroys all ids; messages are no longer held or dropped. */
void cma_leave(struct kunit *test, struct cma_pair *pair);

/* pair.c */
int cma_pair_init(struct kunit *test, struct cma_pair *pair);
void cma_pair_exit(struct kunit *test, struct cma_pair *pair);
void cma_pair_addrs(struct cma_pair *pair);
int cma_side_net(struct cma_side *side);
int cma_know_peer(struct cma_side *side, const struct cma_side *peer);
int cma_side_start(struct cma_side *side);
void cma_side_stop(struct kunit *test, struct cma_side *side);
int cma_handler(struct rdma_cm_id *id, struct rdma_cm_event *event);
struct rdma_cm_id *cma_new_id(struct cma_side *side, enum rdma_ucm_port_space ps,
			      enum ib_qp_type type);
int cma_make_qp(struct cma_side *side);
/* Listens for connections on the server's IPv4 address. */
int cma_listen(struct cma_pair *pair);
int cma_listen_at(struct cma_side *side, enum rdma_ucm_port_space ps,
		  const struct sockaddr *addr);
/* Brings the client's id to ROUTE_RESOLVED, with a QP unless own_qp. */
void cma_resolve(struct kunit *test, struct cma_pair *pair);
void cma_resolve_to(struct kunit *test, struct cma_side *client,
		    enum rdma_ucm_port_space ps, const struct sockaddr *dst);
int cma_request(struct cma_side *client);
/* Listens, resolves and connects; then forgets both sides' events. */
void cma_connect(struct kunit *test, struct cma_pair *pair);
/* Connects until the server has accepted; every RTU is dropped. */
void cma_connect_without_rtu(struct kunit *test, struct cma_pair *pair);
void cma_drop_id(struct cma_side *side);
void cma_drop_listener(struct cma_side *side);
/* Waits until the side's events are @events exactly; bounded. */
bool cma_wait(struct cma_side *side, const char *events);
void cma_forget(struct cma_side *side);
void cma_quiesce(struct cma_pair *pair);
/* Returns the number of objects of a kind beyond those of an idle adapter. */
int cma_alive(struct cma_side *side, enum fake_hca_object kind);
/* Returns how many GID table entries of the adapter have the side's IP address. */
int cma_hw_gids(struct cma_side *side, sa_family_t family);
int cma_sent(struct cma_side *side, enum ibcm_kind kind);
struct cma_id *cma_of(struct rdma_cm_id *id);
enum rdma_cm_state cma_at(struct rdma_cm_id *id);
/* Returns the IB CM's id of the side's connection. */
struct ibcm_id *cma_ibcm(struct cma_side *side);

/* ib.c */
int cma_pair_init_ib(struct kunit *test, struct cma_pair *pair);
void cma_pair_exit_ib(struct kunit *test, struct cma_pair *pair);
enum fake_hca_verdict cma_sa_verdict(struct cma_side *side,
				     struct fake_hca_packet *packet);
/* The AF_IB address of a side, or of any. */
void cma_sin_ib(struct sockaddr_storage *at, struct cma_side *side,
		enum rdma_ucm_port_space ps, u16 port);

/* iw.c */
/* Like cma_pair_init(), for iWARP; if @server is NULL, that host is an address only. */
int cma_pair_init_iw(struct kunit *test, struct cma_pair *pair, struct cma_prov *client,
		     struct cma_prov *server);
void cma_pair_exit_iw(struct kunit *test, struct cma_pair *pair);
void cma_prov_let_go(struct cma_prov *prov);
/* The addresses may be NULL. */
int cma_prov_report(struct cma_prov *prov, struct iw_cm_id *cm_id,
		    enum iw_cm_event_type type, int status, const char *data,
		    const struct sockaddr *local, const struct sockaddr *remote);

/* raise.c */
enum cma_raise { FROM_PROCESS, FROM_SOFTIRQ, FROM_HARDIRQ, RAISE_CONTEXTS };

extern bool cma_raised;		/* the event was raised, in the right context */
/* Raises COMM_EST on @qp after @ms ms; call cma_raise_end() before @qp is destroyed. */
void cma_raise_in(struct ib_qp *qp, enum cma_raise from, unsigned int ms);
void cma_raise_end(void);
/* Raises COMM_EST within milliseconds, checks the context, and ends. */
void cma_raise_now(struct kunit *test, struct ib_qp *qp, enum cma_raise from);

/* net.c: what ip(8) would do */
struct sockaddr *cma_sin(struct sockaddr_storage *at, __be32 ip, u16 port);
struct sockaddr *cma_sin6(struct sockaddr_storage *at, const struct in6_addr *ip,
			  u16 port);
struct net_device *cma_net_create(void);
int cma_net_addr(struct net_device *ndev, bool add, sa_family_t family,
		 const void *ip, u8 prefix_len);
int cma_net_route(struct net_device *ndev, bool add, sa_family_t family,
		  const void *dst, u8 prefix_len, const void *gateway);
int cma_net_hide_local(struct net_device *ndev, sa_family_t family, const void *ip);
/* Creates a VLAN on @ndev and brings it up; returns NULL on failure. */
struct net_device *cma_net_vlan(struct net_device *ndev, u16 id);
void cma_net_vlan_end(struct net_device *vlan);
int cma_net_neigh(struct net_device *ndev, sa_family_t family, const void *ip,
		  const u8 *lladdr, u8 nud);

#endif
