// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Messages of trunks, written and parsed.  Anybody can send a datagram: nothing is looked at
 * before its length is known to be enough, and each field is checked against its range.
 */
#include "trunk/wire.h"

/* ---- parse ---- */

static bool hello_ok(const struct vib_trunk_params *params)
{
	return params->guid && params->port && params->port <= VIB_MAX_PORTS &&
	       (params->node_type == RDMA_NODE_IB_CA ||
		params->node_type == RDMA_NODE_IB_SWITCH) &&
	       params->width && !(params->width & ~(IB_WIDTH_1X | IB_WIDTH_4X)) &&
	       params->speed && !(params->speed & ~7) &&
	       params->mtu >= IB_MTU_256 && params->mtu <= IB_MTU_4096 &&
	       params->vls && params->vls <= 15 &&
	       params->interval >= VIB_TRUNK_MIN_INTERVAL &&
	       params->interval <= VIB_TRUNK_MAX_INTERVAL;
}

static int parse_hello(const void *buf, size_t len, struct vib_trunk_msg *msg)
{
	const struct vib_trunk_hello *wire = buf;

	if (len != sizeof(*wire) || msg->flags & ~(VIB_TRUNK_READY | VIB_TRUNK_LINKED))
		return -EBADMSG;
	msg->hello = (struct vib_trunk_params){
		.guid = be64_to_cpu(wire->guid),
		.port = wire->port,
		.node_type = wire->node_type,
		.width = wire->width,
		.speed = wire->speed,
		.mtu = wire->mtu,
		.vls = wire->vls,
		.interval = be16_to_cpu(wire->interval),
	};
	return hello_ok(&msg->hello) ? 0 : -EBADMSG;
}

static int parse_credit(const void *buf, size_t len, struct vib_trunk_msg *msg)
{
	const struct vib_trunk_credit *wire = buf;
	unsigned int vl;

	if (len != sizeof(*wire) || msg->flags & ~VIB_TRUNK_WANT || !msg->to || wire->reserved)
		return -EBADMSG;
	msg->seq = be32_to_cpu(wire->seq);
	for (vl = 0; vl < VIB_VLS; vl++) {
		msg->credit.sent[vl] = be32_to_cpu(wire->sent[vl]);
		msg->credit.limit[vl] = be32_to_cpu(wire->limit[vl]);
	}
	return 0;
}

/* The IB headers: long enough for what the LRH says that they are (7.7). */
static bool headers_ok(const __be16 *lrh, u16 hdr_len)
{
	u16 least = IB_LRH_BYTES + IB_BTH_BYTES;

	if (hdr_len % 4 || hdr_len > sizeof(struct ib_header) || hdr_len < least)
		return false;
	switch (be16_to_cpu(lrh[0]) & IB_LNH_MASK) {
	case IB_LNH_IBA_LOCAL:
		/* No longer than they can be without a GRH. */
		return hdr_len <= sizeof(struct ib_header) - IB_GRH_BYTES;
	case IB_LNH_IBA_GLOBAL:
		return hdr_len >= least + IB_GRH_BYTES;
	default:
		return false;
	}
}

static bool data_reserved_ok(const struct vib_trunk_data *wire)
{
	return !memchr_inv(wire->reserved, 0, sizeof(wire->reserved));
}

static int parse_data(const void *buf, size_t len, struct vib_trunk_msg *msg)
{
	const struct vib_trunk_data *wire = buf;
	const __be16 *lrh = (const __be16 *)(wire + 1);
	struct vib_trunk_parts *parts = &msg->data;
	u32 wire_len;

	if (len < sizeof(*wire) + IB_LRH_BYTES || msg->flags || !msg->to ||
	    !data_reserved_ok(wire) || wire->hops > VIB_MAX_HOPS)
		return -EBADMSG;
	msg->seq = be32_to_cpu(wire->seq);
	*parts = (struct vib_trunk_parts){
		.total = be32_to_cpu(wire->total),
		.hops = wire->hops,
		.vl = be16_to_cpu(lrh[0]) >> IB_SC_SHIFT,
		.hdr_len = be16_to_cpu(wire->hdr_len),
		.hdr_at = sizeof(*wire),
	};
	if (!headers_ok(lrh, parts->hdr_len) || len < sizeof(*wire) + parts->hdr_len)
		return -EBADMSG;
	len -= sizeof(*wire) + parts->hdr_len;
	if (len > (parts->vl == VIB_VL_MGMT ? IB_MGMT_MAD_SIZE : VIB_MAX_MTU))
		return -EBADMSG;
	parts->at = parts->hdr_at + parts->hdr_len;
	parts->len = len;
	/* The LRH counts words, from itself to the ICRC (7.7.5). */
	wire_len = parts->hdr_len + ALIGN(parts->len, 4) + IB_ICRC_BYTES;
	if ((be16_to_cpu(lrh[2]) & 0x7ff) != wire_len / 4)
		return -EBADMSG;
	parts->blocks = vib_blocks(wire_len);
	return 0;
}

int vib_trunk_parse(const void *buf, size_t len, struct vib_trunk_msg *msg)
{
	const struct vib_trunk_hdr *hdr = buf;

	if (len < sizeof(*hdr) || hdr->magic != cpu_to_be32(VIB_TRUNK_MAGIC) ||
	    hdr->version != VIB_TRUNK_VERSION || !hdr->from)
		return -EBADMSG;
	msg->type = hdr->type;
	msg->flags = be16_to_cpu(hdr->flags);
	msg->from = be64_to_cpu(hdr->from);
	msg->to = be64_to_cpu(hdr->to);
	msg->seq = 0;
	switch (hdr->type) {
	case VIB_TRUNK_HELLO:
		return parse_hello(buf, len, msg);
	case VIB_TRUNK_CREDIT:
		return parse_credit(buf, len, msg);
	case VIB_TRUNK_DATA:
		return parse_data(buf, len, msg);
	default:
		return -EBADMSG;
	}
}

/* ---- write ---- */

static void put_hdr(struct vib_trunk_hdr *hdr, const struct vib_trunk_msg *msg)
{
	*hdr = (struct vib_trunk_hdr){
		.magic = cpu_to_be32(VIB_TRUNK_MAGIC),
		.version = VIB_TRUNK_VERSION,
		.type = msg->type,
		.flags = cpu_to_be16(msg->flags),
		.from = cpu_to_be64(msg->from),
		.to = cpu_to_be64(msg->to),
	};
}

static size_t put_hello(void *buf, const struct vib_trunk_params *params)
{
	struct vib_trunk_hello *wire = buf;

	wire->guid = cpu_to_be64(params->guid);
	wire->port = params->port;
	wire->node_type = params->node_type;
	wire->width = params->width;
	wire->speed = params->speed;
	wire->mtu = params->mtu;
	wire->vls = params->vls;
	wire->interval = cpu_to_be16(params->interval);
	return sizeof(*wire);
}

static size_t put_credit(void *buf, const struct vib_trunk_msg *msg)
{
	struct vib_trunk_credit *wire = buf;
	unsigned int vl;

	wire->seq = cpu_to_be32(msg->seq);
	wire->reserved = 0;
	for (vl = 0; vl < VIB_VLS; vl++) {
		wire->sent[vl] = cpu_to_be32(msg->credit.sent[vl]);
		wire->limit[vl] = cpu_to_be32(msg->credit.limit[vl]);
	}
	return sizeof(*wire);
}

size_t vib_trunk_put(void *buf, const struct vib_trunk_msg *msg)
{
	put_hdr(buf, msg);
	return msg->type == VIB_TRUNK_HELLO ? put_hello(buf, &msg->hello) : put_credit(buf, msg);
}

size_t vib_trunk_put_packet(void *buf, const struct vib_trunk_msg *msg,
			    const struct vib_packet *pkt)
{
	struct vib_trunk_data *wire = buf;
	u8 *at = (u8 *)(wire + 1);

	BUILD_BUG_ON(sizeof(struct vib_trunk_hello) != 40 ||
		     sizeof(struct vib_trunk_credit) != 160 || sizeof(*wire) != 40);
	put_hdr(&wire->hdr, msg);
	wire->seq = cpu_to_be32(msg->seq);
	wire->total = cpu_to_be32(msg->data.total);
	wire->hdr_len = cpu_to_be16(pkt->hdr_len);
	wire->hops = pkt->hops;
	memset(wire->reserved, 0, sizeof(wire->reserved));
	memcpy(at, &pkt->hdr, pkt->hdr_len);
	/* The consumer's memory may have gone with the consumer: then it is zeroes. */
	if (pkt->len && !vib_packet_read(pkt, 0, at + pkt->hdr_len, pkt->len))
		memset(at + pkt->hdr_len, 0, pkt->len);
	return sizeof(*wire) + pkt->hdr_len + pkt->len;
}
