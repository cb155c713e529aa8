// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Headers of unreliable datagrams, for providers that build those of QP0 and
 * QP1 in software (IBA vol. 1, 7.7, 8.3, 9.2, 9.3; RoCE annexes A16, A17).
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <net/ip.h>
#include <rdma/ib_pack.h>

#define UD_OFFSET(hdr, member)	offsetof(struct ib_unpacked_##hdr, member)
#define UD_SIZE(hdr, member)	sizeof_field(struct ib_unpacked_##hdr, member)

/*
 * One row per field: 32-bit word, first bit counted from its top, width;
 * header, member.
 */
#define UD_FIELD(word, bit, bits, ...) {				\
	.struct_offset_bytes = UD_OFFSET(__VA_ARGS__),			\
	.struct_size_bytes = UD_SIZE(__VA_ARGS__),			\
	.field_name = #__VA_ARGS__,					\
	.offset_words = (word), .offset_bits = (bit), .size_bits = (bits), \
}

#define UD_RSVD(word, bit, bits) {					\
	RESERVED,							\
	.offset_words = (word), .offset_bits = (bit), .size_bits = (bits), \
}

static const struct ib_field ud_lrh[] = {
	UD_FIELD(0, 0, 4, lrh, virtual_lane),
	UD_FIELD(0, 4, 4, lrh, link_version),
	UD_FIELD(0, 8, 4, lrh, service_level),
	UD_RSVD(0, 12, 2),
	UD_FIELD(0, 14, 2, lrh, link_next_header),
	UD_FIELD(0, 16, 16, lrh, destination_lid),
	UD_RSVD(1, 0, 5),
	UD_FIELD(1, 5, 11, lrh, packet_length),
	UD_FIELD(1, 16, 16, lrh, source_lid),
};

static const struct ib_field ud_eth[] = {
	UD_FIELD(0, 0, 32, eth, dmac_h),
	UD_FIELD(1, 0, 16, eth, dmac_l),
	UD_FIELD(1, 16, 16, eth, smac_h),
	UD_FIELD(2, 0, 32, eth, smac_l),
	UD_FIELD(3, 0, 16, eth, type),
};

static const struct ib_field ud_vlan[] = {
	UD_FIELD(0, 0, 16, vlan, tag),
	UD_FIELD(0, 16, 16, vlan, type),
};

static const struct ib_field ud_grh[] = {
	UD_FIELD(0, 0, 4, grh, ip_version),
	UD_FIELD(0, 4, 8, grh, traffic_class),
	UD_FIELD(0, 12, 20, grh, flow_label),
	UD_FIELD(1, 0, 16, grh, payload_length),
	UD_FIELD(1, 16, 8, grh, next_header),
	UD_FIELD(1, 24, 8, grh, hop_limit),
	UD_FIELD(2, 0, 128, grh, source_gid),
	UD_FIELD(6, 0, 128, grh, destination_gid),
};

static const struct ib_field ud_ip4[] = {
	UD_FIELD(0, 0, 4, ip4, ver),
	UD_FIELD(0, 4, 4, ip4, hdr_len),
	UD_FIELD(0, 8, 8, ip4, tos),
	UD_FIELD(0, 16, 16, ip4, tot_len),
	UD_FIELD(1, 0, 16, ip4, id),
	UD_FIELD(1, 16, 16, ip4, frag_off),
	UD_FIELD(2, 0, 8, ip4, ttl),
	UD_FIELD(2, 8, 8, ip4, protocol),
	UD_FIELD(2, 16, 16, ip4, check),
	UD_FIELD(3, 0, 32, ip4, saddr),
	UD_FIELD(4, 0, 32, ip4, daddr),
};

static const struct ib_field ud_udp[] = {
	UD_FIELD(0, 0, 16, udp, sport),
	UD_FIELD(0, 16, 16, udp, dport),
	UD_FIELD(1, 0, 16, udp, length),
	UD_FIELD(1, 16, 16, udp, csum),
};

static const struct ib_field ud_bth[] = {
	UD_FIELD(0, 0, 8, bth, opcode),
	UD_FIELD(0, 8, 1, bth, solicited_event),
	UD_FIELD(0, 9, 1, bth, mig_req),
	UD_FIELD(0, 10, 2, bth, pad_count),
	UD_FIELD(0, 12, 4, bth, transport_header_version),
	UD_FIELD(0, 16, 16, bth, pkey),
	UD_RSVD(1, 0, 8),
	UD_FIELD(1, 8, 24, bth, destination_qpn),
	UD_FIELD(2, 0, 1, bth, ack_req),
	UD_RSVD(2, 1, 7),
	UD_FIELD(2, 8, 24, bth, psn),
};

static const struct ib_field ud_deth[] = {
	UD_FIELD(0, 0, 32, deth, qkey),
	UD_RSVD(1, 0, 8),
	UD_FIELD(1, 8, 24, deth, source_qpn),
};

#define UD_NEXT_HEADER_IBA	0x1b	/* GRH NxtHdr of a raw IBA transport */

/* The headers in wire order. */
#define UD_ALWAYS	(-1)
#define UD_PART(name, len, present_at) {				\
	.desc = ud_##name, .fields = ARRAY_SIZE(ud_##name),		\
	.at = offsetof(struct ib_ud_header, name),			\
	.present = (present_at), .bytes = (len),			\
}

static const struct ud_part {
	const struct ib_field *desc;
	int fields;
	int at;		/* in struct ib_ud_header */
	int present;	/* offset there of the flag to send this header */
	int bytes;
} ud_parts[] = {
	UD_PART(lrh, IB_LRH_BYTES, offsetof(struct ib_ud_header, lrh_present)),
	UD_PART(eth, IB_ETH_BYTES, offsetof(struct ib_ud_header, eth_present)),
	UD_PART(vlan, IB_VLAN_BYTES,
		offsetof(struct ib_ud_header, vlan_present)),
	UD_PART(grh, IB_GRH_BYTES, offsetof(struct ib_ud_header, grh_present)),
	UD_PART(ip4, IB_IP4_BYTES, offsetof(struct ib_ud_header, ipv4_present)),
	UD_PART(udp, IB_UDP_BYTES, offsetof(struct ib_ud_header, udp_present)),
	UD_PART(bth, IB_BTH_BYTES, UD_ALWAYS),
	UD_PART(deth, IB_DETH_BYTES, UD_ALWAYS),
};

static bool ud_part_present(const struct ud_part *part, void *header)
{
	return part->present == UD_ALWAYS ||
	       *(int *)(header + part->present);
}

/**
 * ib_ud_ip4_csum() - checksum of a datagram's IPv4 header
 * @header: header whose ip4 part is filled in; its check field is ignored
 *
 * Context: any.
 * Return: the checksum, in network order.
 */
__sum16 ib_ud_ip4_csum(struct ib_ud_header *header)
{
	struct ib_unpacked_ip4 ip4 = header->ip4;
	u8 raw[IB_IP4_BYTES] __aligned(4) = {};

	/* A header of the fixed length: options are never sent. */
	ip4.ver = 4;
	ip4.hdr_len = IB_IP4_BYTES / 4;
	ip4.check = 0;
	ib_pack(ud_ip4, ARRAY_SIZE(ud_ip4), &ip4, raw);
	return ip_fast_csum(raw, IB_IP4_BYTES / 4);
}
EXPORT_SYMBOL(ib_ud_ip4_csum);

static void ud_init_network(struct ib_ud_header *header, int upper)
{
	if (header->udp_present) {
		upper += IB_UDP_BYTES;
		header->udp.length = cpu_to_be16(upper);
	}
	if (header->ipv4_present) {
		header->ip4.ver = 4;
		header->ip4.hdr_len = IB_IP4_BYTES / 4;
		header->ip4.protocol = IPPROTO_UDP;
		header->ip4.tot_len = cpu_to_be16(IB_IP4_BYTES + upper);
	}
	if (header->grh_present) {
		header->grh.ip_version = 6;
		header->grh.payload_length = cpu_to_be16(upper);
		header->grh.next_header = header->udp_present ?
					  IPPROTO_UDP : UD_NEXT_HEADER_IBA;
	}
}

/**
 * ib_ud_header_init() - start a UD packet's headers
 * @payload_bytes: length of the payload without padding
 * @lrh_present: the packet has an LRH
 * @eth_present: it has an Ethernet header
 * @vlan_present: the Ethernet header has a VLAN tag
 * @grh_present: the packet has a GRH; implied by @ip_version 6, ignored for 4
 * @ip_version: 4 or 6 for RoCE v2, 0 otherwise
 * @udp_present: it has a UDP header; ignored without an @ip_version
 * @immediate_present: it carries immediate data
 * @header: initialised: lengths, versions, next headers and the opcode are set,
 *	all else is zero
 *
 * Context: any.
 * Return: 0, or -EINVAL for any other @ip_version.
 */
int ib_ud_header_init(int payload_bytes, int lrh_present, int eth_present,
		      int vlan_present, int grh_present, int ip_version,
		      int udp_present, int immediate_present,
		      struct ib_ud_header *header)
{
	/* Transport headers, payload, its padding and the ICRC. */
	int upper = IB_BTH_BYTES + IB_DETH_BYTES + IB_ICRC_BYTES +
		    (immediate_present ? sizeof(header->immediate_data) : 0) +
		    ALIGN(payload_bytes, 4);

	memset(header, 0, sizeof(*header));
	if (ip_version && ip_version != 4 && ip_version != 6)
		return -EINVAL;

	header->lrh_present = lrh_present;
	header->eth_present = eth_present;
	header->vlan_present = vlan_present;
	header->grh_present = ip_version == 6 || (grh_present && !ip_version);
	header->ipv4_present = ip_version == 4;
	header->udp_present = udp_present && ip_version;
	header->immediate_present = immediate_present;

	if (vlan_present)
		header->eth.type = cpu_to_be16(ETH_P_8021Q);
	if (lrh_present) {
		int words = (IB_LRH_BYTES + upper +
			     (header->grh_present ? IB_GRH_BYTES : 0)) / 4;

		header->lrh.link_next_header = header->grh_present ?
					       IB_LNH_IBA_GLOBAL :
					       IB_LNH_IBA_LOCAL;
		header->lrh.packet_length = cpu_to_be16(words);
	}
	ud_init_network(header, upper);

	header->bth.opcode = immediate_present ?
			     IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE :
			     IB_OPCODE_UD_SEND_ONLY;
	header->bth.pad_count = -payload_bytes & 3;
	return 0;
}
EXPORT_SYMBOL(ib_ud_header_init);

/**
 * ib_ud_header_pack() - write the headers in wire format
 * @header: headers; those marked present are written, in wire order
 * @buf: destination
 *
 * Context: any.
 * Return: the number of bytes written.
 */
int ib_ud_header_pack(struct ib_ud_header *header, void *buf)
{
	const struct ud_part *part;
	int len = 0;

	for (part = ud_parts; part < ud_parts + ARRAY_SIZE(ud_parts); part++) {
		if (!ud_part_present(part, header))
			continue;
		ib_pack(part->desc, part->fields, (void *)header + part->at,
			buf + len);
		len += part->bytes;
	}

	if (header->immediate_present) {
		memcpy(buf + len, &header->immediate_data,
		       sizeof(header->immediate_data));
		len += sizeof(header->immediate_data);
	}
	return len;
}
EXPORT_SYMBOL(ib_ud_header_pack);

static int ud_unpack_link(void **buf, struct ib_ud_header *header)
{
	ib_unpack(ud_lrh, ARRAY_SIZE(ud_lrh), *buf, &header->lrh);
	*buf += IB_LRH_BYTES;
	header->lrh_present = 1;
	if (header->lrh.link_version)
		return -EINVAL;

	switch (header->lrh.link_next_header) {
	case IB_LNH_IBA_LOCAL:
		header->grh_present = 0;
		return 0;
	case IB_LNH_IBA_GLOBAL:
		break;
	default:
		return -EINVAL;	/* raw packets have no BTH */
	}

	ib_unpack(ud_grh, ARRAY_SIZE(ud_grh), *buf, &header->grh);
	*buf += IB_GRH_BYTES;
	header->grh_present = 1;
	if (header->grh.ip_version != 6 ||
	    header->grh.next_header != UD_NEXT_HEADER_IBA)
		return -EINVAL;
	return 0;
}

/**
 * ib_ud_header_unpack() - read the headers of an InfiniBand UD packet
 * @buf: packet, from its LRH on
 * @header: set to the packet's headers
 *
 * Context: any.
 * Return: 0, or -EINVAL if the packet is not a UD packet of this version.
 */
int ib_ud_header_unpack(void *buf, struct ib_ud_header *header)
{
	int ret;

	ret = ud_unpack_link(&buf, header);
	if (ret)
		return ret;

	ib_unpack(ud_bth, ARRAY_SIZE(ud_bth), buf, &header->bth);
	buf += IB_BTH_BYTES;
	if (header->bth.transport_header_version)
		return -EINVAL;

	switch (header->bth.opcode) {
	case IB_OPCODE_UD_SEND_ONLY:
		header->immediate_present = 0;
		break;
	case IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE:
		header->immediate_present = 1;
		break;
	default:
		return -EINVAL;
	}

	ib_unpack(ud_deth, ARRAY_SIZE(ud_deth), buf, &header->deth);
	if (header->immediate_present)
		memcpy(&header->immediate_data, buf + IB_DETH_BYTES,
		       sizeof(header->immediate_data));
	return 0;
}
EXPORT_SYMBOL(ib_ud_header_unpack);
