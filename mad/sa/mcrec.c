// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* MCMemberRecords: their wire form, and whether a group is what was requested. */
#include "sa.h"

void ibmad_sa_mcrec_pack(const struct ib_sa_mcmember_rec *rec,
			 struct sa_mcmember_wire *wire)
{
	memset(wire, 0, sizeof(*wire));
	wire->mgid = rec->mgid;
	wire->port_gid = rec->port_gid;
	wire->qkey = rec->qkey;
	wire->mlid = rec->mlid;
	wire->mtu = sa_selector(rec->mtu_selector, rec->mtu);
	wire->traffic_class = rec->traffic_class;
	wire->pkey = rec->pkey;
	wire->rate = sa_selector(rec->rate_selector, rec->rate);
	wire->life_time = sa_selector(rec->packet_life_time_selector,
				      rec->packet_life_time);
	wire->sl_flow_hop = cpu_to_be32((u32)(rec->sl & 0xf) << 28 |
					(be32_to_cpu(rec->flow_label) & 0xfffff) << 8 |
					rec->hop_limit);
	wire->scope_join = (rec->scope & 0xf) << 4 | (rec->join_state & 0xf);
	wire->proxy = !!rec->proxy_join << 7;
}

void ibmad_sa_mcrec_unpack(const struct sa_mcmember_wire *wire,
			   struct ib_sa_mcmember_rec *rec)
{
	u32 sl_flow_hop = be32_to_cpu(wire->sl_flow_hop);

	rec->mgid = wire->mgid;
	rec->port_gid = wire->port_gid;
	rec->qkey = wire->qkey;
	rec->mlid = wire->mlid;
	rec->mtu_selector = wire->mtu >> 6;
	rec->mtu = wire->mtu & 0x3f;
	rec->traffic_class = wire->traffic_class;
	rec->pkey = wire->pkey;
	rec->rate_selector = wire->rate >> 6;
	rec->rate = wire->rate & 0x3f;
	rec->packet_life_time_selector = wire->life_time >> 6;
	rec->packet_life_time = wire->life_time & 0x3f;
	rec->sl = sl_flow_hop >> 28;
	rec->flow_label = cpu_to_be32(sl_flow_hop >> 8 & 0xfffff);
	rec->hop_limit = sl_flow_hop;
	rec->scope = wire->scope_join >> 4;
	rec->join_state = wire->scope_join & 0xf;
	rec->proxy_join = wire->proxy >> 7;
}

/* IBA volume 1, 15.2.5.17: a selector says how the value is to be read. */
static bool meets(u8 sel, int wanted, int actual)
{
	switch (sel) {
	case IB_SA_GT:
		return actual > wanted;
	case IB_SA_LT:
		return actual < wanted;
	case IB_SA_EQ:
		return actual == wanted;
	default:
		return true;	/* the best available */
	}
}

/* Rate codes are not in the order of speed. */
static bool meets_rate(u8 sel, u8 wanted, u8 actual)
{
	if (sel == IB_SA_EQ)
		return actual == wanted;
	return meets(sel, ib_rate_to_mbps(wanted), ib_rate_to_mbps(actual));
}

static bool both(ib_sa_comp_mask mask, ib_sa_comp_mask one,
		 ib_sa_comp_mask other)
{
	return mask & one && mask & other;
}

static bool numbers_fit(const struct ib_sa_mcmember_rec *group,
			const struct ib_sa_mcmember_rec *want,
			ib_sa_comp_mask mask)
{
	if (both(mask, IB_SA_MCMEMBER_REC_MTU_SELECTOR, IB_SA_MCMEMBER_REC_MTU) &&
	    !meets(want->mtu_selector, want->mtu, group->mtu))
		return false;
	if (both(mask, IB_SA_MCMEMBER_REC_RATE_SELECTOR, IB_SA_MCMEMBER_REC_RATE) &&
	    !meets_rate(want->rate_selector, want->rate, group->rate))
		return false;
	return !both(mask, IB_SA_MCMEMBER_REC_PACKET_LIFE_TIME_SELECTOR,
		     IB_SA_MCMEMBER_REC_PACKET_LIFE_TIME) ||
	       meets(want->packet_life_time_selector, want->packet_life_time,
		     group->packet_life_time);
}

/* Whether @group meets the fields of @want that @mask selects. */
bool ibmad_sa_mcrec_fits(const struct ib_sa_mcmember_rec *group,
			 const struct ib_sa_mcmember_rec *want,
			 ib_sa_comp_mask mask)
{
	if (mask & IB_SA_MCMEMBER_REC_QKEY && want->qkey != group->qkey)
		return false;
	if (mask & IB_SA_MCMEMBER_REC_MLID && want->mlid != group->mlid)
		return false;
	if (mask & IB_SA_MCMEMBER_REC_PKEY && want->pkey != group->pkey)
		return false;
	if (mask & IB_SA_MCMEMBER_REC_TRAFFIC_CLASS &&
	    want->traffic_class != group->traffic_class)
		return false;
	if (mask & IB_SA_MCMEMBER_REC_SL && want->sl != group->sl)
		return false;
	if (mask & IB_SA_MCMEMBER_REC_FLOW_LABEL &&
	    want->flow_label != group->flow_label)
		return false;
	if (mask & IB_SA_MCMEMBER_REC_HOP_LIMIT &&
	    want->hop_limit != group->hop_limit)
		return false;
	return numbers_fit(group, want, mask);
}
