// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Headers of datagrams, and fields of packed structs, as bytes. */
#include <rdma/ib_pack.h>
#include <rdma/ib_sa.h>
#include "kapi.h"

#define BYTES	160

static void fill(void *at, size_t len)
{
	u8 *byte = at;

	while (len--)
		*byte++ = rnd(256);
}

/* Fields as wide as they are on the wire, whatever they are stored in. */
static void fill_fields(struct ib_ud_header *h)
{
	struct ib_ud_header kept = *h;

	fill(&h->lrh, sizeof(h->lrh));
	fill(&h->eth, sizeof(h->eth));
	fill(&h->vlan, sizeof(h->vlan));
	fill(&h->grh.traffic_class, 1);
	fill(&h->grh.flow_label, 4);
	fill(&h->grh.source_gid, 32);
	fill(&h->ip4.id, 2);
	fill(&h->ip4.saddr, 8);
	fill(&h->udp.sport, 2);
	fill(&h->bth.pkey, 2);
	fill(&h->bth.destination_qpn, 4);
	fill(&h->bth.psn, 4);
	fill(&h->deth, sizeof(h->deth));
	fill(&h->immediate_data, 4);
	/* what the length of the packet has decided */
	h->lrh.packet_length = kept.lrh.packet_length;
	h->lrh.link_next_header = kept.lrh.link_next_header;
	h->lrh.link_version = kept.lrh.link_version;
}

static void say_header(const struct ib_ud_header *h)
{
	say(" has %d%d%d%d%d%d%d lrh %x %x grh %x %x %x ip4 %x %x %x %x udp %x bth %x %x pad %x",
	    h->lrh_present, h->eth_present, h->vlan_present, h->grh_present, h->ipv4_present,
	    h->udp_present, h->immediate_present, h->lrh.link_next_header,
	    be16_to_cpu(h->lrh.packet_length), h->grh.ip_version,
	    be16_to_cpu(h->grh.payload_length), h->grh.next_header, h->ip4.ver, h->ip4.hdr_len,
	    be16_to_cpu(h->ip4.tot_len), h->ip4.protocol, be16_to_cpu(h->udp.length), h->bth.opcode,
	    h->bth.transport_header_version, h->bth.pad_count);
}

static void datagram(void)
{
	static u8 bytes[BYTES];
	static struct ib_ud_header h, back;
	int payload = rnd(2048), lrh = rnd(2), eth = rnd(2), vlan = rnd(2), grh = rnd(2);
	int version = one_of(0, 4, 4, 6), udp = rnd(2), imm = one_in(8), ret, len;

	/* A packet of InfiniBand, or of one version of RoCE. */
	if (lrh) {
		eth = 0;
		vlan = 0;
		version = 0;
		udp = 0;
	} else {
		eth = 1;
		udp = version && udp;
	}
	if (!lrh && one_in(8))
		version = one_of(1, 5);
	/* That lengths count all that is sent is asked now and then. */
	if (!lrh && !one_in(8))
		payload &= ~3;
	memset(&h, 0xff, sizeof(h));
	call("ib_ud_header_init payload %d lrh %d eth %d vlan %d grh %d ip %d udp %d imm %d%s",
	     payload, lrh, eth, vlan, grh, version, udp, imm, payload & 3 ? " odd" : "");
	ret = answer_more(ib_ud_header_init(payload, lrh, eth, vlan, grh, version, udp, imm, &h));
	if (ret) {
		answer_end();
		return;
	}
	say_header(&h);
	answer_end();
	if (h.ipv4_present) {
		call("ib_ud_ip4_csum");
		answer_with(0, "%x", (__force u16)ib_ud_ip4_csum(&h));
	}
	fill_fields(&h);
	memset(bytes, 0, sizeof(bytes));
	call("ib_ud_header_pack");
	len = answer_more(ib_ud_header_pack(&h, bytes));
	say(" %d ", len);
	say_bytes(bytes, len);
	answer_end();
	/* It reads those of InfiniBand. */
	if (!h.lrh_present || h.eth_present || h.ipv4_present || h.udp_present || h.vlan_present)
		return;
	if (one_in(4))
		bytes[rnd(len)] ^= 1 << rnd(8);
	memset(&back, 0, sizeof(back));
	/* which it may leave to who knows that there is one */
	back.lrh_present = 1;
	call("ib_ud_header_unpack ");
	say_bytes(bytes, len);
	ret = answer_more(ib_ud_header_unpack(bytes, &back));
	say_header(&back);
	say(" %x %x %x %x", be32_to_cpu(back.bth.destination_qpn), be32_to_cpu(back.bth.psn),
	    be32_to_cpu(back.deth.qkey), be32_to_cpu(back.deth.source_qpn));
	answer_end();
}

/* ---- any fields ---- */

struct any {
	u8 a;
	__be16 b;
	__be32 c;
	__be64 d;
	u8 e[12];
	u8 f;
};

/* A word's bits are numbered from the most significant. */
#define FIELD(name, word, bit, size)					\
	{ .struct_offset_bytes = offsetof(struct any, name),		\
	  .struct_size_bytes = sizeof_field(struct any, name),		\
	  .offset_words = word, .offset_bits = bit, .size_bits = size }

#define NOTHING(word, size)	{ .offset_words = word, .size_bits = size, RESERVED }

static const struct ib_field layouts[][6] = {
	{ FIELD(a, 0, 0, 8), FIELD(f, 0, 8, 8), FIELD(b, 0, 16, 16), FIELD(c, 1, 0, 32),
	  NOTHING(2, 64), FIELD(e, 4, 0, 96) },
	{ FIELD(a, 0, 0, 3), { .offset_words = 0, .offset_bits = 3, .size_bits = 5, RESERVED },
	  FIELD(b, 0, 8, 12), FIELD(f, 0, 20, 4), FIELD(c, 1, 5, 20), FIELD(e, 2, 0, 96) },
	{ FIELD(d, 0, 16, 48), FIELD(c, 2, 1, 31), FIELD(f, 3, 0, 1), FIELD(a, 3, 1, 7),
	  FIELD(b, 3, 8, 16), NOTHING(4, 32) },
	/* more than a word behind the first, alone, as in-tree it is read elsewhere */
	{ FIELD(d, 2, 0, 64), NOTHING(0, 32), NOTHING(1, 32), NOTHING(4, 32), NOTHING(5, 32),
	  NOTHING(6, 32) },
};

static void fields(void)
{
	u32 n = one_in(8) ? 3 : rnd(3);
	const struct ib_field *layout = layouts[n];
	struct any any, back;
	u8 bytes[32] = {};

	fill(&any, sizeof(any));
	call("ib_pack layout %u ", n);
	say_bytes(&any, sizeof(any));
	ib_pack(layout, 6, &any, bytes);
	answer_more(0);
	say(" ");
	say_bytes(bytes, sizeof(bytes));
	answer_end();
	fill(bytes, sizeof(bytes));
	memset(&back, 0, sizeof(back));
	call("ib_unpack layout %u ", n);
	say_bytes(bytes, sizeof(bytes));
	ib_unpack(layout, 6, bytes, &back);
	answer_more(0);
	say(" ");
	say_bytes(&back, sizeof(back));
	answer_end();
}

/* ---- path records ---- */

static void paths(void)
{
	struct sa_path_rec rec = {}, back = {};
	u8 wire[64];

	fill(&rec.dgid, 32);
	fill(&rec.service_id, 8);
	rec.rec_type = SA_PATH_REC_TYPE_IB;
	rec.flow_label = cpu_to_be32(rnd(1 << 20));
	rec.hop_limit = rnd(256);
	rec.traffic_class = rnd(256);
	rec.reversible = rnd(2);
	rec.numb_path = rnd(128);
	rec.pkey = cpu_to_be16(rnd(65536));
	rec.qos_class = cpu_to_be16(rnd(1 << 12));
	rec.sl = rnd(16);
	rec.mtu_selector = rnd(4);
	rec.mtu = rnd(64);
	rec.rate_selector = rnd(4);
	rec.rate = rnd(64);
	rec.packet_life_time_selector = rnd(4);
	rec.packet_life_time = rnd(64);
	rec.preference = rnd(256);
	rec.ib.dlid = cpu_to_be16(rnd(65536));
	rec.ib.slid = cpu_to_be16(rnd(65536));
	rec.ib.raw_traffic = rnd(2);
	memset(wire, 0, sizeof(wire));
	call("ib_sa_pack_path");
	ib_sa_pack_path(&rec, wire);
	answer_more(0);
	say(" ");
	say_bytes(wire, sizeof(wire));
	answer_end();
	if (one_in(2))
		fill(wire, sizeof(wire));
	back.rec_type = SA_PATH_REC_TYPE_IB;
	call("ib_sa_unpack_path ");
	say_bytes(wire, sizeof(wire));
	ib_sa_unpack_path(wire, &back);
	answer_more(0);
	say(" %llx flow %x hop %u class %u rev %u numb %u pkey %x qos %x sl %u",
	    be64_to_cpu(back.service_id), be32_to_cpu(back.flow_label), back.hop_limit,
	    back.traffic_class, back.reversible, back.numb_path, be16_to_cpu(back.pkey),
	    be16_to_cpu(back.qos_class), back.sl);
	say(" mtu %u %u rate %u %u life %u %u pref %u lids %u %u raw %u type %u ",
	    back.mtu_selector, back.mtu, back.rate_selector, back.rate,
	    back.packet_life_time_selector, back.packet_life_time, back.preference,
	    be16_to_cpu(back.ib.dlid), be16_to_cpu(back.ib.slid), back.ib.raw_traffic,
	    back.rec_type);
	say_gid(&back.dgid);
	say(" ");
	say_gid(&back.sgid);
	answer_end();
}

void headers(u64 number)
{
	static const struct op ops[] = { { datagram, 4 }, { fields, 2 }, { paths, 2 } };

	random_ops(ops, ARRAY_SIZE(ops), 20 + rnd(20));
}
