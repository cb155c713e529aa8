// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the kernel returns, as text.  Values that differ from run to run are shown by what is
 * known about them: ephemeral ports, packet sequence numbers, flow labels.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>
#include "diffcm.h"

/* enum ib_qp_attr_mask: a starting PSN that is not named means nothing. */
#define IB_QP_RQ_PSN	0x1000
#define IB_QP_SQ_PSN	0x10000

void show_bytes(const char *name, const void *bytes, size_t size)
{
	const __u8 *b = bytes;

	show(" %s ", name);
	while (size--)
		show("%02x", *b++);
}

static void show_port(__u16 port)
{
	if (!port)
		show(":0");
	else if (port >= base_port && port < base_port + PORTS)
		show(":P%u", port - base_port);
	else
		show(":random");
}

static void show_ib(const struct sockaddr_ib_bytes *ib)
{
	__u64 sid = be64toh(ib->sid);

	show("ib pkey %x", ntohs(ib->pkey));
	show_bytes("gid", ib->addr, sizeof(ib->addr));
	show(" sid %llx", (unsigned long long)sid >> 16);
	show_port(sid & 0xffff);
	show(" mask %llx scope %llx", (unsigned long long)be64toh(ib->sid_mask),
	     (unsigned long long)be64toh(ib->scope_id));
}

void show_address(const char *name, const void *address)
{
	const struct sockaddr *sa = address;
	const struct sockaddr_in *in = address;
	const struct sockaddr_in6 *in6 = address;
	char text[INET6_ADDRSTRLEN];

	show(" %s ", name);
	switch (sa->sa_family) {
	case AF_INET:
		show("%s", inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text)));
		show_port(ntohs(in->sin_port));
		break;
	case AF_INET6:
		show("%s%%%u", inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof(text)),
		     in6->sin6_scope_id);
		show_port(ntohs(in6->sin6_port));
		break;
	case AF_IB_FAMILY:
		show_ib(address);
		break;
	default:
		show("family %u", sa->sa_family);
	}
}

/* Private data: by its length and a hash (FNV-1a). */
static void show_data(const __u8 *data, unsigned int length)
{
	__u32 hash = 2166136261;
	unsigned int i;

	for (i = 0; i < length; i++)
		hash = (hash ^ data[i]) * 16777619;
	show(" data %u %x", length, length ? hash : 0);
}

static void show_qpn(const char *name, __u32 qpn)
{
	int index = qpn_index(qpn);

	if (index < 0)
		show(" %s %x", name, qpn);
	else
		show(" %s Q%d", name, index);
}

void show_conn_param(const struct rdma_ucm_conn_param *p)
{
	show_qpn("qpn", p->qp_num);
	show(" qkey %x srq %u responder %u initiator %u flow %u retry %u rnr %u valid %u",
	     p->qkey, p->srq, p->responder_resources, p->initiator_depth,
	     p->flow_control, p->retry_count, p->rnr_retry_count, p->valid);
	show_data(p->private_data, p->private_data_len);
}

static void show_ah(const struct ib_uverbs_ah_attr *ah)
{
	show(" dlid %x sl %u bits %u rate %u port %u", ah->dlid, ah->sl, ah->src_path_bits,
	     ah->static_rate, ah->port_num);
	if (!ah->is_global)
		return;
	show_bytes("dgid", ah->grh.dgid, sizeof(ah->grh.dgid));
	show(" flow %d index %u hops %u class %u", !!ah->grh.flow_label, ah->grh.sgid_index,
	     ah->grh.hop_limit, ah->grh.traffic_class);
}

void show_ud_param(const struct rdma_ucm_ud_param *p)
{
	show_qpn("qpn", p->qp_num);
	show(" qkey %x", p->qkey);
	show_ah(&p->ah_attr);
	show_data(p->private_data, p->private_data_len);
}

/* A path record (IBA vol. 1, 15.2.5.16), without the service id and the flow label. */
void show_path(const void *record)
{
	const __u8 *b = record;

	show_bytes("path", b + 8, 36);
	show(" hops %u", b[47]);
	show_bytes("then", b + 48, 16);
}

void show_qp_attr(const struct ib_uverbs_qp_attr *a)
{
	show(" mask %x state %u/%u mtu %u mig %u qkey %x psn %d/%d access %x",
	     a->qp_attr_mask, a->qp_state, a->cur_qp_state, a->path_mtu, a->path_mig_state,
	     a->qkey, a->qp_attr_mask & IB_QP_RQ_PSN && a->rq_psn,
	     a->qp_attr_mask & IB_QP_SQ_PSN && a->sq_psn, a->qp_access_flags);
	show_qpn("dest", a->dest_qp_num);
	show(" pkey %u/%u drain %u rd %u/%u rnr %u port %u timeout %u retry %u/%u alt %u/%u",
	     a->pkey_index, a->alt_pkey_index, a->en_sqd_async_notify, a->max_rd_atomic,
	     a->max_dest_rd_atomic, a->min_rnr_timer, a->port_num, a->timeout, a->retry_cnt,
	     a->rnr_retry, a->alt_port_num, a->alt_timeout);
	show_ah(&a->ah_attr);
	show_ah(&a->alt_ah_attr);
}
