// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Traps: Notices that a port sends to its subnet manager unsolicited (IBA vol. 1, 13.4.9,
 * 14.2.5.1, 14.3.8).
 *
 * A trap may be lost, so it is repeated until the manager represses it.  The number of
 * repetitions is bounded, as a manager that was stopped never does.  A port keeps one trap
 * of each number.  A newer trap of the same number replaces the older one and gets a TID of
 * its own, so that a TrapRepress for the older one does not stop the newer.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>
#include "mgmt/state.h"

/* How often one trap is sent. */
#define TRAP_TRIES	5

/* In the byte dr_trunc_hop: the rest of it is the hop count. */
#define TRAP_HOP_MASK	0x3f

static const u16 trap_numbers[VIB_TRAP_SLOTS] = {
	128, 129, 130, 131, 144, 256, 257, 258, 259
};

/* Trap 259, which <rdma/ib_mad.h> does not have. */
struct notice_259 {
	__be16 data_valid;
	__be16 lid1;
	__be16 lid2;
	__be16 pkey;
	__be32 sl_qp1;			/* SL: high 4 bits */
	__be32 qp2;
	union ib_gid gid1;
	union ib_gid gid2;
	__be16 sw_lid;
	u8 port_num;
} __packed;

/* DataValid of trap 259, in the order of the fields: LIDs, P_Key, SL, QPs; GIDs. */
#define NOTICE_259_LOCAL	0x3f
#define NOTICE_259_GIDS		0xc0

static atomic64_t trap_tid = ATOMIC64_INIT(0);

/* ---- sending ---- */

/* The port that sends the traps of @port; its PortInfo has the manager's LID. */
static struct vib_port *trap_source(struct vib_port *port)
{
	struct vib_node *node = port->node;

	return node->type == RDMA_NODE_IB_SWITCH ? &node->ports[0] : port;
}

/* SubnetTimeOut: the shortest time between two traps is 4.096 us * 2^value. */
static u64 trap_interval(const struct vib_port *source)
{
	u8 timeout = READ_ONCE(source->info.clientrereg_resv_subnetto) & 0x1f;

	return max(nsecs_to_jiffies(4096ULL << timeout), 1UL);
}

static void trap_fill(struct vib_port *source, struct ib_smp *smp,
		      const struct ib_mad_notice_attr *notice, __be64 tid)
{
	struct ib_mad_notice_attr *attr = (void *)smp->data;

	memset(smp, 0, sizeof(*smp));
	smp->base_version = IB_MGMT_BASE_VERSION;
	smp->mgmt_class = IB_MGMT_CLASS_SUBN_LID_ROUTED;
	smp->class_version = 1;
	smp->method = IB_MGMT_METHOD_TRAP;
	smp->tid = tid;
	smp->attr_id = IB_SMP_ATTR_NOTICE;
	*attr = *notice;
	attr->prod_type_lsb = source->node->type == RDMA_NODE_IB_SWITCH ?
			      IB_NOTICE_PROD_SWITCH : IB_NOTICE_PROD_CA;
	attr->issuer_lid = cpu_to_be16(READ_ONCE(source->lid));
}

/* From QP0 to QP0, whose Q_Key is 0. */
static struct vib_packet *trap_packet(struct vib_payload *smp)
{
	struct vib_packet *pkt = vib_packet_alloc(GFP_ATOMIC | __GFP_NOWARN);

	if (!pkt)
		return NULL;
	pkt->hdr.lrh[0] = cpu_to_be16(IB_LNH_IBA_LOCAL);
	pkt->hdr_len = IB_LRH_BYTES + IB_BTH_BYTES + IB_DETH_BYTES;
	pkt->hdr.u.oth.bth[0] = cpu_to_be32(IB_OPCODE_UD_SEND_ONLY << IB_BTH_OPCODE_SHIFT |
					    IB_DEFAULT_PKEY_FULL);
	vib_packet_attach(pkt, smp, 0, IB_MGMT_MAD_SIZE);
	return pkt;
}

static bool lid_is_of(u16 lid, const struct vib_port *port)
{
	return (lid ^ READ_ONCE(port->lid)) >> READ_ONCE(port->lmc) == 0;
}

/*
 * A switch forwards the packet by its table, as if it had come in by port 0.  An adapter
 * whose own host runs the subnet manager delivers it to itself.
 */
static void trap_send_packet(struct vib_port *source, struct vib_packet *pkt)
{
	if (source->node->type == RDMA_NODE_IB_SWITCH ||
	    lid_is_of(vib_packet_dlid(pkt), source))
		source->node->ops->receive(source, pkt);
	else
		vib_port_xmit(source, pkt);
}

static struct vib_packet *trap_make(struct vib_port *source,
				    const struct ib_mad_notice_attr *notice, __be64 tid)
{
	struct vib_payload *smp;
	struct vib_packet *pkt;

	smp = vib_payload_alloc(IB_MGMT_MAD_SIZE, GFP_ATOMIC | __GFP_NOWARN);
	if (!smp)
		return NULL;
	trap_fill(source, (struct ib_smp *)smp->data, notice, tid);
	pkt = trap_packet(smp);
	vib_payload_put(smp);
	return pkt;
}

/* Sends nothing unless the port is active and has been told the manager's LID. */
static void trap_send(struct vib_port *source, const struct ib_mad_notice_attr *notice,
		      __be64 tid)
{
	u16 lid = READ_ONCE(source->lid), sm_lid = READ_ONCE(source->sm_lid);
	struct vib_packet *pkt;

	if (READ_ONCE(source->state) != IB_PORT_ACTIVE || !lid || !sm_lid)
		return;
	pkt = trap_make(source, notice, tid);
	if (!pkt) {
		vib_count(source, VIB_XMIT_DISCARDS, 1);
		return;
	}
	vib_packet_finish(pkt, VIB_VL_MGMT, READ_ONCE(source->sm_sl), sm_lid, lid);
	rcu_read_lock_bh();
	trap_send_packet(source, pkt);
	rcu_read_unlock_bh();
}

/* ---- when ---- */

/* Queues the work for the trap that is due first, if there is one. */
static void trap_arm(struct vib_mgmt *mgmt)
{
	u64 now = get_jiffies_64(), first = U64_MAX;
	unsigned int i;

	lockdep_assert_held(&mgmt->lock);
	for (i = 0; i < VIB_TRAP_SLOTS; i++) {
		if (mgmt->traps[i].left)
			first = min(first, max(mgmt->traps[i].next, now));
	}
	if (first != U64_MAX)
		mod_delayed_work(system_wq, &mgmt->trap_work, first - now);
}

/* Takes out a trap that is due now; false if there is none. */
static bool trap_due(struct vib_mgmt *mgmt, u64 interval, struct vib_trap_slot *due)
{
	struct vib_trap_slot *slot;
	u64 now = get_jiffies_64();
	unsigned int i;

	lockdep_assert_held(&mgmt->lock);
	for (i = 0; i < VIB_TRAP_SLOTS; i++) {
		slot = &mgmt->traps[i];
		if (!slot->left || slot->next > now)
			continue;
		slot->left--;
		slot->next = now + interval;
		*due = *slot;
		return true;
	}
	return false;
}

void vib_trap_work(struct work_struct *work)
{
	struct vib_mgmt *mgmt = container_of(to_delayed_work(work), struct vib_mgmt, trap_work);
	struct vib_port *source = trap_source(mgmt->port);
	u64 interval = trap_interval(source);
	struct vib_trap_slot due;

	spin_lock_bh(&mgmt->lock);
	while (trap_due(mgmt, interval, &due)) {
		spin_unlock_bh(&mgmt->lock);
		trap_send(source, &due.notice, due.tid);
		spin_lock_bh(&mgmt->lock);
	}
	trap_arm(mgmt);
	spin_unlock_bh(&mgmt->lock);
}

void vib_trap(struct vib_port *port, const struct ib_mad_notice_attr *notice)
{
	struct vib_mgmt *mgmt = port->mgmt;
	struct vib_trap_slot *slot;
	unsigned int i;

	if (!mgmt)
		return;
	for (i = 0; i < VIB_TRAP_SLOTS; i++) {
		if (trap_numbers[i] == be16_to_cpu(notice->trap_num))
			break;
	}
	if (WARN_ON_ONCE(i == VIB_TRAP_SLOTS))
		return;
	slot = &mgmt->traps[i];
	spin_lock_bh(&mgmt->lock);
	slot->notice = *notice;
	slot->tid = cpu_to_be64(atomic64_inc_return(&trap_tid));
	slot->left = TRAP_TRIES;
	trap_arm(mgmt);
	spin_unlock_bh(&mgmt->lock);
}

void vib_trap_repress(struct vib_node *node, __be64 tid)
{
	struct vib_mgmt *mgmt;
	unsigned int i, slot;

	for (i = 0; i <= node->num_ports; i++) {
		mgmt = node->ports[i].mgmt;
		if (!mgmt)
			continue;
		spin_lock_bh(&mgmt->lock);
		for (slot = 0; slot < VIB_TRAP_SLOTS; slot++) {
			if (mgmt->traps[slot].tid == tid)
				mgmt->traps[slot].left = 0;
		}
		spin_unlock_bh(&mgmt->lock);
	}
}

/* ---- what ---- */

static void notice_init(struct ib_mad_notice_attr *notice, u8 type, u16 number)
{
	memset(notice, 0, sizeof(*notice));
	notice->generic_type = type;
	notice->trap_num = cpu_to_be16(number);
}

void vib_trap_link_state(struct vib_node *node)
{
	struct vib_port *port = &node->ports[0];
	struct ib_mad_notice_attr notice;

	notice_init(&notice, IB_NOTICE_TYPE_URGENT, 128);
	/* LIDADDR alone, at the beginning of the details. */
	put_unaligned_be16(READ_ONCE(port->lid), notice.details.raw_data.details);
	vib_trap(port, &notice);
}

void vib_trap_link_error(struct vib_port *port, __be16 trap)
{
	struct ib_mad_notice_attr notice;

	notice_init(&notice, IB_NOTICE_TYPE_URGENT, be16_to_cpu(trap));
	notice.details.ntc_129_131.lid = cpu_to_be16(READ_ONCE(trap_source(port)->lid));
	notice.details.ntc_129_131.port_num = port->num;
	vib_trap(port, &notice);
}

void vib_trap_local_change(struct vib_port *port, u8 flags)
{
	struct ib_mad_notice_attr notice;

	port = trap_source(port);
	notice_init(&notice, IB_NOTICE_TYPE_INFO, 144);
	notice.details.ntc_144.lid = cpu_to_be16(READ_ONCE(port->lid));
	notice.details.ntc_144.new_cap_mask = cpu_to_be32(vib_port_cap_mask(port));
	/* OtherLocalChanges: the flags are valid. */
	notice.details.ntc_144.local_changes = !!flags;
	notice.details.ntc_144.change_flags = flags;
	vib_trap(port, &notice);
}

/* Adds the hop count, and as much of the return path as fits. */
static void notice_add_path(struct ib_mad_notice_attr *notice, const struct ib_smp *smp)
{
	unsigned int room = sizeof(notice->details.ntc_256.dr_rtn_path);
	u8 hops = smp->hop_cnt & TRAP_HOP_MASK;

	notice->details.ntc_256.dr_slid = smp->dr_slid;
	notice->details.ntc_256.dr_trunc_hop = IB_NOTICE_TRAP_DR_NOTICE | hops;
	/* Entry 0 of the path is not used: a hop count of n takes n + 1 bytes. */
	if (hops >= room)
		notice->details.ntc_256.dr_trunc_hop |= IB_NOTICE_TRAP_DR_TRUNC;
	memcpy(notice->details.ntc_256.dr_rtn_path, smp->return_path,
	       min_t(unsigned int, hops + 1, room));
}

void vib_trap_bad_mkey(struct vib_port *port, const struct ib_smp *smp, u16 slid)
{
	struct ib_mad_notice_attr notice;

	notice_init(&notice, IB_NOTICE_TYPE_SECURITY, 256);
	notice.details.ntc_256.lid = cpu_to_be16(slid);
	notice.details.ntc_256.method = smp->method;
	notice.details.ntc_256.attr_id = smp->attr_id;
	notice.details.ntc_256.attr_mod = smp->attr_mod;
	notice.details.ntc_256.mkey = smp->mkey;
	if (smp->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		notice_add_path(&notice, smp);
	vib_trap(port, &notice);
}

/* SL in the high bits, source QP in the low ones: only datagrams carry a source QP. */
static __be32 packet_sl_qp1(struct vib_packet *pkt)
{
	struct ib_other_headers *oth = vib_packet_bth(pkt);
	u32 qp1 = 0;

	if ((ib_bth_get_opcode(oth) & 0xe0) == IB_OPCODE_UD)
		qp1 = ib_get_sqpn(oth);
	return cpu_to_be32(vib_packet_sl(pkt) << 28 | qp1);
}

static void trap_bad_key(struct vib_port *port, struct vib_packet *pkt, u16 number, u32 key)
{
	struct ib_mad_notice_attr notice;

	notice_init(&notice, IB_NOTICE_TYPE_SECURITY, number);
	notice.details.ntc_257_258.lid1 = cpu_to_be16(vib_packet_slid(pkt));
	notice.details.ntc_257_258.lid2 = cpu_to_be16(vib_packet_dlid(pkt));
	notice.details.ntc_257_258.key = cpu_to_be32(key);
	notice.details.ntc_257_258.sl_qp1 = packet_sl_qp1(pkt);
	notice.details.ntc_257_258.qp2 = cpu_to_be32(ib_bth_get_qpn(vib_packet_bth(pkt)));
	if (vib_packet_has_grh(pkt)) {
		notice.details.ntc_257_258.gid1 = pkt->hdr.u.l.grh.sgid;
		notice.details.ntc_257_258.gid2 = pkt->hdr.u.l.grh.dgid;
	}
	vib_trap(port, &notice);
}

static void trap_switch_pkey(struct vib_port *port, struct vib_packet *pkt, u16 pkey)
{
	u16 valid = NOTICE_259_LOCAL;
	struct notice_259 data = {
		.lid1 = cpu_to_be16(vib_packet_slid(pkt)),
		.lid2 = cpu_to_be16(vib_packet_dlid(pkt)),
		.pkey = cpu_to_be16(pkey),
		.sl_qp1 = packet_sl_qp1(pkt),
		.qp2 = cpu_to_be32(ib_bth_get_qpn(vib_packet_bth(pkt))),
		.sw_lid = cpu_to_be16(READ_ONCE(trap_source(port)->lid)),
		.port_num = port->num,
	};
	struct ib_mad_notice_attr notice;

	if (vib_packet_has_grh(pkt)) {
		data.gid1 = pkt->hdr.u.l.grh.sgid;
		data.gid2 = pkt->hdr.u.l.grh.dgid;
		valid |= NOTICE_259_GIDS;
	}
	data.data_valid = cpu_to_be16(valid);
	notice_init(&notice, IB_NOTICE_TYPE_SECURITY, 259);
	memcpy(notice.details.raw_data.details, &data, sizeof(data));
	vib_trap(port, &notice);
}

/* P_KeyViolations and Q_KeyViolations stay at their greatest value (14.2.5.6). */
static void count_violation(struct vib_port *port, __be16 *violations)
{
	spin_lock_bh(&port->lock);
	if (*violations != cpu_to_be16(U16_MAX))
		be16_add_cpu(violations, 1);
	spin_unlock_bh(&port->lock);
}

void vib_bad_pkey(struct vib_port *port, struct vib_packet *pkt)
{
	u16 pkey = ib_bth_get_pkey(vib_packet_bth(pkt));

	count_violation(port, &port->info.pkey_violations);
	if (port->node->type == RDMA_NODE_IB_SWITCH && port->num)
		trap_switch_pkey(port, pkt, pkey);
	else
		trap_bad_key(port, pkt, 257, pkey);
}

void vib_bad_qkey(struct vib_port *port, struct vib_packet *pkt)
{
	count_violation(port, &port->info.qkey_violations);
	trap_bad_key(port, pkt, 258, ib_get_qkey(vib_packet_bth(pkt)));
}
