// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Resolving IP addresses, on the two ends of the Ethernet link. */
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/ib_addr.h>
#include "kapi.h"

#define REQUESTS	4

struct request {
	struct source events;
	struct rdma_dev_addr addr;
	struct sockaddr_storage src, dst;
};

static void say_addr(const struct sockaddr_storage *ss)
{
	if (ss->ss_family == AF_INET || ss->ss_family == AF_INET6)
		say("%pISc", ss);
	else
		say("family %u", ss->ss_family);
}

static void address(struct sockaddr_storage *ss, unsigned int family, unsigned int host)
{
	memset(ss, 0, sizeof(*ss));
	ss->ss_family = family;
	if (family == AF_INET) {
		struct sockaddr_in *in = (struct sockaddr_in *)ss;

		in->sin_addr.s_addr = htonl(10 << 24 | host);
	} else {
		struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;

		in6->sin6_addr.s6_addr[0] = 0xfd;
		in6->sin6_addr.s6_addr[15] = host;
	}
}

static void resolved(int status, struct sockaddr *src, struct rdma_dev_addr *addr, void *context)
{
	struct request *r = context;

	if (status) {
		event(&r->events, "answer: status %d", status);
		return;
	}
	event(&r->events,
	      "answer: status %d from %pISc by %*phN to %*phN type %u network %u hops %d if %d",
	      status, src, 6, addr->src_dev_addr, 6, addr->dst_dev_addr,
	      addr->dev_type, addr->network, addr->hoplimit,
	      !!addr->bound_dev_if);
}

static void translate(void)
{
	struct rdma_dev_addr addr = { .net = &init_net };
	struct sockaddr_storage ss;
	int ret;

	address(&ss, one_of(AF_INET, AF_INET6), one_of(1, 2, 1, 2, 77));
	if (one_in(8))
		ss.ss_family = one_of(AF_UNSPEC, AF_IB, AF_UNIX);
	call("rdma_translate_ip ");
	say_addr(&ss);
	ret = rdma_translate_ip((struct sockaddr *)&ss, &addr);
	answer_with(ret, "%*phN type %u if %d", 6, addr.src_dev_addr, addr.dev_type,
		    !!addr.bound_dev_if);
}

static void resolve(struct request *r)
{
	unsigned int family = one_of(AF_INET, AF_INET, AF_INET6), from = 1 + rnd(2);
	bool nobody = one_in(6), no_source = one_in(4), cancel = one_in(5);
	unsigned long timeout = nobody ? 100 : 2000;
	int ret;

	source_init(&r->events);
	memset(&r->addr, 0, sizeof(r->addr));
	r->addr.net = &init_net;
	address(&r->src, family, from);
	address(&r->dst, family, nobody ? 77 : 3 - from);
	switch (rnd(12)) {
	case 0:
		r->dst.ss_family = family == AF_INET ? AF_INET6 : AF_INET;
		break;
	case 1:
		address(&r->src, family, 78);
		break;
	}
	if (no_source) {
		memset(&r->src, 0, sizeof(r->src));
		r->src.ss_family = family;
	}
	call("rdma_resolve_ip from ");
	say_addr(&r->src);
	say(" to ");
	say_addr(&r->dst);
	say(" timeout %lu", timeout);
	ret = answer(rdma_resolve_ip((struct sockaddr *)&r->src, (struct sockaddr *)&r->dst,
				     &r->addr,
				     timeout, resolved, false, r));
	if (ret)
		return;
	/* It is cancelled, or was just resolved. */
	if (nobody && cancel) {
		call("rdma_addr_cancel");
		rdma_addr_cancel(&r->addr);
		answer_with(0, "events %u", r->events.came);
		events_left(&r->events);
		return;
	}
	take_events(&r->events, 1);
	call("rdma_addr_cancel of one that has ended");
	rdma_addr_cancel(&r->addr);
	answer(0);
}

void resolving(u64 number)
{
	struct request *r = kzalloc(sizeof(*r), GFP_KERNEL);
	unsigned int calls = 6 + rnd(6);

	while (r && calls--) {
		if (one_in(3))
			translate();
		else
			resolve(r);
	}
	/* Those that did not end in time are ended. */
	if (r)
		rdma_addr_cancel(&r->addr);
	kfree(r);
}
