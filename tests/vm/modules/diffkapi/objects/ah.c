// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Address handles, of attributes and of received datagrams. */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <rdma/ib_hdrs.h>
#include "objects/qp.h"

static struct object *ah_made(struct object *pd, struct ib_ah *ah)
{
	struct object *with[PARENTS] = { pd }, *o;

	if (IS_ERR(ah)) {
		answer(PTR_ERR(ah));
		return NULL;
	}
	answer_with(0, "type %u attr %d pd users %d", ah->type, !!ah->sgid_attr,
		    atomic_read(&ah->pd->usecnt));
	o = new_object(AH, pd->dev, ah, with);
	return o;
}

static const char *spoil(struct rdma_ah_attr *a, const struct kdev *dev)
{
	switch (rnd(5)) {
	case 0:
		a->port_num = one_of(0, 2, 255, 0x10001);
		return "port";
	case 1:
		a->type = one_of(RDMA_AH_ATTR_TYPE_UNDEFINED, RDMA_AH_ATTR_TYPE_OPA,
				 is_vib(dev) ? RDMA_AH_ATTR_TYPE_ROCE : RDMA_AH_ATTR_TYPE_IB);
		return "type";
	case 2:
		if (!is_vib(dev)) {
			a->ah_flags = 0;
			return "no GRH";
		}
		a->ib.dlid = 0;
		return "LID 0";
	case 3:
		if (a->ah_flags & IB_AH_GRH) {
			a->grh.sgid_index = one_of(100, 200, 255);
			return "sgid_index";
		}
		return "none";
	default:
		if (!is_vib(dev)) {
			memset(&a->grh.dgid, 0, sizeof(a->grh.dgid));
			a->grh.dgid.raw[0] = one_of(0, 0xfe);
			a->grh.dgid.raw[15] = 1;
			return "GID of nobody";
		}
		a->sl = one_of(16, 255);
		return "sl";
	}
}

static void create_ah(void)
{
	struct object *pd = some_object(PD, NULL), *o;
	const char *wrong = "none";
	struct rdma_ah_attr a;
	u32 flags = RDMA_CREATE_AH_SLEEPABLE;
	struct ib_ah *ah;

	if (!pd || alive(AH) >= 8)
		return;
	right_ah_attr(&a, pd->dev, one_in(4) ? pd->dev : peer_of(pd->dev));
	if (one_in(4))
		wrong = spoil(&a, pd->dev);
	call("rdma_create_ah ah%u %s wrong %s ", next_number(AH), pd->dev->name, wrong);
	say_ah_attr(&a);
	ah = rdma_create_ah(pd->ptr, &a, flags);
	o = ah_made(pd, ah);
	if (o)
		o->attr = a;
}

void destroy_ah(struct object *o)
{
	call("rdma_destroy_ah_user ah%u", o->n);
	answer(rdma_destroy_ah_user(o->ptr, RDMA_DESTROY_AH_SLEEPABLE, NULL));
	object_gone(o);
}

static void free_ah(void)
{
	struct object *o = some_unused(AH);

	if (o && alive(AH) > 2)
		destroy_ah(o);
}

static void query_ah(void)
{
	struct object *o = some_object(AH, NULL);
	struct rdma_ah_attr a = {};
	int ret;

	if (!o)
		return;
	call("rdma_query_ah ah%u %s%s", o->n, o->dev->name,
	     o->of_datagram ? " of a datagram" : "");
	ret = answer_more(rdma_query_ah(o->ptr, &a));
	if (!ret) {
		say(" ");
		say_ah_attr(&a);
		rdma_destroy_ah_attr(&a);
	}
	answer_end();
}

static void modify_ah(void)
{
	struct object *o = some_object(AH, NULL);
	const char *wrong = "none";
	struct rdma_ah_attr a;

	if (!o)
		return;
	right_ah_attr(&a, o->dev, peer_of(o->dev));
	if (one_in(3))
		wrong = spoil(&a, o->dev);
	call("rdma_modify_ah ah%u %s wrong %s ", o->n, o->dev->name, wrong);
	say_ah_attr(&a);
	answer(rdma_modify_ah(o->ptr, &a));
}

/* ---- copies of attributes and their references ---- */

static void copy_attr(void)
{
	struct rdma_ah_attr *a[2], b[2] = {};
	struct kdev *dev = some_device();
	const struct ib_gid_attr *attr;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		a[i] = &b[i];
		right_ah_attr(a[i], dev, peer_of(dev));
	}
	attr = rdma_get_gid_attr(dev->device, 1, dev->gid_index);
	call("rdma_get_gid_attr %s %d", dev->name, dev->gid_index);
	if (answer(PTR_ERR_OR_ZERO(attr)))
		return;
	call("rdma_move_grh_sgid_attr");
	rdma_move_grh_sgid_attr(a[0], &dev->gid, 0xabcde, 3, 7, attr);
	answer_more(0);
	say(" ");
	say_ah_attr(a[0]);
	answer_end();
	switch (rnd(3)) {
	case 0:
		call("rdma_copy_ah_attr");
		rdma_copy_ah_attr(a[1], a[0]);
		break;
	case 1:
		call("rdma_replace_ah_attr");
		rdma_replace_ah_attr(a[1], a[0]);
		break;
	default:
		call("rdma_move_ah_attr");
		rdma_move_ah_attr(a[1], a[0]);
	}
	answer_more(0);
	for (i = 0; i < 2; i++) {
		say(" | ");
		say_ah_attr(a[i]);
	}
	answer_end();
	for (i = 0; i < 2; i++) {
		call("rdma_destroy_ah_attr");
		rdma_destroy_ah_attr(a[i]);
		answer_with(0, "flags %x attr %d", b[i].ah_flags, !!b[i].grh.sgid_attr);
	}
}

/* ---- received datagrams ---- */

/* What is in front of a datagram: the 40 bytes of a GRH, or an IPv4 header in the last 20. */
static void fill_network(union rdma_network_hdr *hdr, const struct kdev *from,
			 const struct kdev *to,
			 bool ipv4)
{
	memset(hdr, 0, sizeof(*hdr));
	if (ipv4) {
		struct iphdr *ip = &hdr->roce4grh;

		ip->version = 4;
		ip->ihl = 5;
		ip->ttl = 64;
		ip->tos = one_in(6) ? 8 : 0;
		ip->protocol = IPPROTO_UDP;
		memcpy(&ip->saddr, from->gid.raw + 12, 4);
		memcpy(&ip->daddr, to->gid.raw + 12, 4);
		ip->check = ip_fast_csum(ip, 5);
		return;
	}
	hdr->ibgrh.version_tclass_flow = cpu_to_be32(6 << 28 | 8 << 20 | 0x12345);
	hdr->ibgrh.next_hdr = IPPROTO_UDP;
	hdr->ibgrh.hop_limit = 64;
	hdr->ibgrh.sgid = from->gid;
	hdr->ibgrh.dgid = to->gid;
}

static void header_version(void)
{
	struct kdev *to = some_device(), *from = peer_of(to);
	union rdma_network_hdr hdr;
	union ib_gid sgid, dgid;
	unsigned int at = 20 + rnd(20);
	u8 bits = rnd(256);
	enum rdma_network_type type = one_of(RDMA_NETWORK_IB, RDMA_NETWORK_ROCE_V1,
					     RDMA_NETWORK_IPV4, RDMA_NETWORK_IPV6, 9);
	int ret;

	fill_network(&hdr, from, to, one_in(2));
	if (one_in(3))
		hdr.reserved[at] ^= bits;
	call("ib_get_rdma_header_version ");
	say_bytes(&hdr, sizeof(hdr));
	answer_with(0, "%d", ib_get_rdma_header_version(&hdr));
	call("ib_get_gids_from_rdma_hdr type %d", type);
	memset(&sgid, 0, sizeof(sgid));
	memset(&dgid, 0, sizeof(dgid));
	ret = answer_more(ib_get_gids_from_rdma_hdr(&hdr, type, &sgid, &dgid));
	if (!ret) {
		say(" from ");
		say_gid(&sgid);
		say(" to ");
		say_gid(&dgid);
	}
	answer_end();
}

static void fill_wc(struct ib_wc *wc, const struct kdev *from, const struct kdev *to, bool ipv4)
{
	memset(wc, 0, sizeof(*wc));
	wc->status = IB_WC_SUCCESS;
	wc->opcode = IB_WC_RECV;
	wc->byte_len = 100;
	wc->src_qp = 1;
	wc->slid = from->lid;
	wc->port_num = 1;
	if (is_vib(to))
		return;
	wc->wc_flags = IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE;
	wc->network_hdr_type = ipv4 ? RDMA_NETWORK_IPV4 : RDMA_NETWORK_IPV6;
	if (one_in(4)) {
		wc->wc_flags |= IB_WC_WITH_SMAC;
		memcpy(wc->smac, "\x02\x00\x00\x00\x00\x01", 6);
	}
}

static const char *spoil_wc(struct ib_wc *wc, union rdma_network_hdr *hdr, u32 *port, bool ipv4)
{
	switch (rnd(4)) {
	case 0:
		if (!(wc->wc_flags & IB_WC_GRH))
			return "none";
		wc->wc_flags &= ~IB_WC_GRH;
		return "no GRH";
	case 1:
		if (!(wc->wc_flags & IB_WC_GRH))
			return "none";
		/* the destination, which is no GID of this port then */
		hdr->reserved[ipv4 ? 38 : 30] ^= 0x55;
		return "destination";
	case 2:
		wc->wc_flags &= ~IB_WC_WITH_NETWORK_HDR_TYPE;
		return "type not told";
	default:
		return "none";
	}
}

static void ah_from_wc(void)
{
	struct object *pd = some_object(PD, NULL), *o;
	union rdma_network_hdr hdr;
	struct rdma_ah_attr a = {};
	const char *wrong = "none";
	struct kdev *from;
	struct ib_wc wc;
	bool ipv4, create;
	u32 port = 1;
	int ret;

	if (!pd)
		return;
	from = peer_of(pd->dev);
	ipv4 = !is_vib(pd->dev);
	create = one_in(2) && alive(AH) < 8;
	fill_wc(&wc, from, pd->dev, ipv4);
	if (is_vib(pd->dev) && one_in(2))
		wc.wc_flags |= IB_WC_GRH;
	fill_network(&hdr, from, pd->dev, ipv4);
	if (one_in(3))
		wrong = spoil_wc(&wc, &hdr, &port, ipv4);
	call("%s %s wrong %s flags %x type %u port %u", create ? "ib_create_ah_from_wc" :
	     "ib_init_ah_attr_from_wc", pd->dev->name, wrong, wc.wc_flags, wc.network_hdr_type,
	     port);
	if (create) {
		o = ah_made(pd, ib_create_ah_from_wc(pd->ptr, &wc, &hdr.ibgrh, port));
		if (o)
			o->of_datagram = true;
		return;
	}
	ret = answer_more(ib_init_ah_attr_from_wc(pd->dev->device, port, &wc, &hdr.ibgrh, &a));
	if (!ret) {
		say(" ");
		say_ah_attr(&a);
		rdma_destroy_ah_attr(&a);
	}
	answer_end();
}

void ah_ops(void)
{
	static const struct op ops[] = {
		{ create_ah, 8 }, { free_ah, 2 }, { query_ah, 3 }, { modify_ah, 3 },
		{ copy_attr, 2 }, { header_version, 2 }, { ah_from_wc, 4 },
	};

	random_ops(ops, ARRAY_SIZE(ops), 1);
}
