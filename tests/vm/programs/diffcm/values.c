// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Values for calls: mostly sensible, now and then out of range. */
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>
#include "values.h"

static const char * const hosts4[] = {
	"10.0.0.1", "10.0.0.2", "0.0.0.0", "127.0.0.1", "192.0.2.1", "239.1.1.1", "255.255.255.255",
};

static const char * const hosts6[] = {
	"fd00::1", "fd00::2", "::", "::1", "2001:db8::1", "ff0e::1", "::ffff:10.0.0.1", "fe80::1",
};

#define HOSTS4	(sizeof(hosts4) / sizeof(*hosts4))
#define HOSTS6	(sizeof(hosts6) / sizeof(*hosts6))

__u16 some_port(void)
{
	switch (rnd(16)) {
	case 0:
		return 0;
	case 1:
		return 111;		/* not for everybody, but for root */
	default:
		return base_port + rnd(4);
	}
}

size_t set_address(struct __kernel_sockaddr_storage *to, const char *host, __u16 port)
{
	struct sockaddr_in *in = (void *)to;
	struct sockaddr_in6 *in6 = (void *)to;

	memset(to, 0, sizeof(*to));
	if (inet_pton(AF_INET, host, &in->sin_addr)) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		return sizeof(*in);
	}
	inet_pton(AF_INET6, host, &in6->sin6_addr);
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(port);
	return sizeof(*in6);
}

/* An address of InfiniBand, with a GID of a device or none, and a service id of a port space. */
static size_t some_ib(struct __kernel_sockaddr_storage *to)
{
	struct sockaddr_ib_bytes ib = {
		.family = AF_IB_FAMILY,
		.pkey = htons(one_of(3, 0xffff, 0, 0x7fff)),
		.sid = htobe64((__u64)one_of(4, RDMA_PS_IB, RDMA_PS_TCP, RDMA_PS_UDP, 0) << 16 |
			       some_port()),
		.sid_mask = one_in(3) ? 0 : htobe64(one_in(3) ? rnd(0x10000) : ~0ULL),
	};
	struct sockaddr_in6 in6;

	set_address((void *)to, one_in(4) ? "::" : one_in(2) ? "::ffff:10.0.0.1" : "fd00::2", 0);
	memcpy(&in6, to, sizeof(in6));
	memcpy(ib.addr, &in6.sin6_addr, sizeof(ib.addr));
	memcpy(to, &ib, sizeof(ib));
	return sizeof(ib);
}

size_t some_address(struct __kernel_sockaddr_storage *to)
{
	size_t size;

	/* Those of the two devices most of the time. */
	if (one_in(3))
		size = set_address(to, hosts6[rnd(one_in(3) ? HOSTS6 : 3)],
				   some_port());
	else
		size = set_address(to, hosts4[rnd(one_in(3) ? HOSTS4 : 3)],
				   some_port());
	if (one_in(20))
		((struct sockaddr_in6 *)to)->sin6_scope_id = rnd(4);
	if (one_in(40))
		size = some_ib(to);
	if (one_in(30))
		((struct sockaddr *)to)->sa_family = one_of(6, AF_UNSPEC, AF_UNIX, 27 /* AF_IB */,
							    AF_INET, AF_INET6, 0xffff);
	if (one_in(20))
		size = one_of(13, 0, 1, 2, 15, 16, 17, 27, 28, 29, 48, 128, 129, 0xffff);
	return size;
}

void some_multicast(struct __kernel_sockaddr_storage *to)
{
	static const char * const groups[] = {
		"239.1.1.1", "239.1.1.2", "224.0.0.1", "ff0e::1", "ff02::1", "10.0.0.1", "0.0.0.0",
	};

	set_address(to, groups[rnd(sizeof(groups) / sizeof(*groups))],
		    one_in(3) ? some_port() : 0);
}

static void some_bytes(__u8 *to, unsigned int length)
{
	while (length--)
		*to++ = rnd(256);
}

void some_conn_param(struct rdma_ucm_conn_param *p, __u32 qpn)
{
	memset(p, 0, sizeof(*p));
	p->qp_num = qpn;
	p->valid = !one_in(30);
	p->responder_resources = one_in(10) ? rnd(256) : 1;
	p->initiator_depth = one_in(10) ? rnd(256) : 1;
	p->retry_count = one_in(10) ? rnd(256) : 7;
	p->rnr_retry_count = one_in(10) ? rnd(256) : 7;
	p->flow_control = rnd(2);
	p->srq = one_in(8) ? rnd(3) : 0;
	p->qkey = one_in(8) ? rnd(0x1000) << 16 : 0;
	if (one_in(2))
		return;
	if (one_in(3))
		p->private_data_len = one_in(2) ? rnd(256) :
			one_of(13, 55, 56, 57, 91, 92, 93, 136, 137, 147, 148, 149, 196, 197);
	else
		p->private_data_len = rnd(57);
	some_bytes(p->private_data, p->private_data_len);
}

void some_reject(struct rdma_ucm_reject *r)
{
	if (one_in(3))
		r->reason = rnd(64);
	if (one_in(2))
		return;
	r->private_data_len = one_in(3) ? rnd(256) : rnd(137);
	some_bytes(r->private_data, r->private_data_len);
}
