// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Specs of a flow steering rule: the headers that it matches and what it does with a
 * packet (ibv_create_flow(3), ibv_flow_action_esp(3), ibv_create_counters(3)).
 *
 * Filters have the same members in the user's structs and in the kernel's, but at other
 * offsets.  After its header a user's spec has a value and a mask of the same length.
 * Members that a shorter filter lacks are not matched; in a longer filter the mask must
 * be 0 beyond the members that the kernel knows.
 */
#include <rdma/uverbs_std_types.h>

#include "call/call.h"
#include "objects/objects.h"

struct flow_filter {
	u8 size;			/* of val or mask, in the kernel's struct */
	u8 spec_size;			/* of the kernel's struct */
	u8 val, mask;			/* their offsets in the kernel's struct */
	bool (*valid)(const union ib_flow_spec *spec);	/* or NULL */
};

/* Header fields that are narrower than the members that hold them. */
static bool flow_ipv6_valid(const union ib_flow_spec *spec)
{
	return ntohl(spec->ipv6.val.flow_label) < BIT(20) &&
	       ntohl(spec->ipv6.mask.flow_label) < BIT(20);
}

static bool flow_vni_valid(const union ib_flow_spec *spec)
{
	return ntohl(spec->tunnel.val.tunnel_id) < BIT(24) &&
	       ntohl(spec->tunnel.mask.tunnel_id) < BIT(24);
}

/* @last: the last member; padding may follow it. */
#define FLOW_FILTER(name, last, is_valid) {				\
	.size = offsetofend(struct ib_flow_##name##_filter, last),	\
	.spec_size = ALIGN(sizeof(struct ib_flow_spec_##name), 8),	\
	.val = offsetof(struct ib_flow_spec_##name, val),		\
	.mask = offsetof(struct ib_flow_spec_##name, mask),		\
	.valid = is_valid,						\
}

static const struct flow_filter flow_filter_eth = FLOW_FILTER(eth, vlan_tag, NULL);
static const struct flow_filter flow_filter_ipv4 = FLOW_FILTER(ipv4, flags, NULL);
static const struct flow_filter flow_filter_ipv6 = FLOW_FILTER(ipv6, hop_limit, flow_ipv6_valid);
static const struct flow_filter flow_filter_esp = FLOW_FILTER(esp, seq, NULL);
static const struct flow_filter flow_filter_tcp_udp = FLOW_FILTER(tcp_udp, src_port, NULL);
static const struct flow_filter flow_filter_tunnel = FLOW_FILTER(tunnel, tunnel_id, flow_vni_valid);
static const struct flow_filter flow_filter_gre = FLOW_FILTER(gre, key, NULL);
static const struct flow_filter flow_filter_mpls = FLOW_FILTER(mpls, tag, NULL);

static const struct flow_filter *flow_filter_of(u32 type)
{
	switch (type & ~IB_FLOW_SPEC_INNER) {
	case IB_FLOW_SPEC_ETH:
		return &flow_filter_eth;
	case IB_FLOW_SPEC_IPV4:
		return &flow_filter_ipv4;
	case IB_FLOW_SPEC_IPV6:
		return &flow_filter_ipv6;
	case IB_FLOW_SPEC_ESP:
		return &flow_filter_esp;
	case IB_FLOW_SPEC_TCP:
	case IB_FLOW_SPEC_UDP:
		return &flow_filter_tcp_udp;
	case IB_FLOW_SPEC_VXLAN_TUNNEL:
		return &flow_filter_tunnel;
	case IB_FLOW_SPEC_GRE:
		return &flow_filter_gre;
	case IB_FLOW_SPEC_MPLS:
		return &flow_filter_mpls;
	default:
		return NULL;
	}
}

/* @hdr is the start of the user's spec, hdr->size bytes; @to is zeroed. */
static int flow_take_filter(const struct flow_filter *filter,
			    const struct ib_uverbs_flow_spec_hdr *hdr,
			    union ib_flow_spec *to)
{
	const u8 *val = (const u8 *)(hdr + 1), *mask;
	size_t both = hdr->size - sizeof(*hdr), len = both / 2, known;

	if (!both || both % 2)
		return -EINVAL;
	mask = val + len;
	known = min_t(size_t, len, filter->size);
	if (len > known && memchr_inv(mask + known, 0, len - known))
		return -EOPNOTSUPP;
	memcpy((u8 *)to + filter->val, val, known);
	memcpy((u8 *)to + filter->mask, mask, known);
	to->type = hdr->type;
	to->size = filter->spec_size;
	return filter->valid && !filter->valid(to) ? -EINVAL : 0;
}

/* ---- actions ---- */

static int flow_take_tag(const struct ib_uverbs_flow_spec_hdr *hdr,
			 union ib_flow_spec *to)
{
	struct ib_uverbs_flow_spec_action_tag tag;

	if (hdr->size != sizeof(tag))
		return -EINVAL;
	memcpy(&tag, hdr, sizeof(tag));
	if (tag.reserved1)
		return -EINVAL;
	to->flow_tag.type = tag.type;
	to->flow_tag.size = ALIGN(sizeof(to->flow_tag), 8);
	to->flow_tag.tag_id = tag.tag_id;
	return 0;
}

static int flow_take_drop(const struct ib_uverbs_flow_spec_hdr *hdr,
			  union ib_flow_spec *to)
{
	if (hdr->size != sizeof(struct ib_uverbs_flow_spec_action_drop))
		return -EINVAL;
	to->drop.type = hdr->type;
	to->drop.size = ALIGN(sizeof(to->drop), 8);
	return 0;
}

/* Specs that name an object have the same form. */
static_assert(sizeof(struct ib_uverbs_flow_spec_action_handle) ==
	      sizeof(struct ib_uverbs_flow_spec_action_count));

/* Counts the object as used by the rule, so that it is not destroyed before the rule. */
static void *flow_take_object(struct uverbs_flow_specs *specs, u16 type,
			      const struct ib_uverbs_flow_spec_hdr *hdr)
{
	struct uverbs_reads reads = { .attrs = specs->attrs };
	struct ib_uverbs_flow_spec_action_handle spec;
	void *object;

	if (hdr->size != sizeof(spec))
		return ERR_PTR(-EINVAL);
	memcpy(&spec, hdr, sizeof(spec));
	if (spec.reserved1)
		return ERR_PTR(-EINVAL);
	object = uverbs_reads_object(&reads, type, spec.handle);
	if (!IS_ERR(object))
		flow_resources_add(specs->resources, hdr->type, object);
	uverbs_reads_put(&reads);
	return object;
}

static int flow_take_handle(struct uverbs_flow_specs *specs,
			    const struct ib_uverbs_flow_spec_hdr *hdr,
			    union ib_flow_spec *to)
{
	to->action.type = hdr->type;
	to->action.size = sizeof(to->action);
	to->action.act = flow_take_object(specs, UVERBS_OBJECT_FLOW_ACTION, hdr);
	return PTR_ERR_OR_ZERO(to->action.act);
}

static int flow_take_count(struct uverbs_flow_specs *specs,
			   const struct ib_uverbs_flow_spec_hdr *hdr,
			   union ib_flow_spec *to)
{
	to->flow_count.type = hdr->type;
	to->flow_count.size = sizeof(to->flow_count);
	to->flow_count.counters = flow_take_object(specs, UVERBS_OBJECT_COUNTERS, hdr);
	return PTR_ERR_OR_ZERO(to->flow_count.counters);
}

/* ---- all specs ---- */

static int flow_take_spec(struct uverbs_flow_specs *specs,
			  const struct ib_uverbs_flow_spec_hdr *hdr,
			  union ib_flow_spec *to)
{
	const struct flow_filter *filter;

	switch (hdr->type) {
	case IB_FLOW_SPEC_ACTION_TAG:
		return flow_take_tag(hdr, to);
	case IB_FLOW_SPEC_ACTION_DROP:
		return flow_take_drop(hdr, to);
	case IB_FLOW_SPEC_ACTION_HANDLE:
		return flow_take_handle(specs, hdr, to);
	case IB_FLOW_SPEC_ACTION_COUNT:
		return flow_take_count(specs, hdr, to);
	default:
		filter = flow_filter_of(hdr->type);
		return filter ? flow_take_filter(filter, hdr, to) : -EINVAL;
	}
}

/*
 * Drivers step from one spec to the next by its size.  The kernel's specs have a
 * multiple of 8 bytes, because some contain pointers.
 */
int uverbs_flow_specs_convert(struct uverbs_flow_specs *specs, unsigned int num)
{
	const struct ib_uverbs_flow_spec_hdr *hdr;
	union ib_flow_spec *to = specs->to->flows;
	int ret;

	for (; num; num--) {
		hdr = (const void *)specs->from;
		if (specs->end - specs->from < sizeof(*hdr) ||
		    hdr->size < sizeof(*hdr) || hdr->size > specs->end - specs->from ||
		    hdr->reserved)
			return -EINVAL;
		ret = flow_take_spec(specs, hdr, to);
		if (ret)
			return ret;
		specs->from += hdr->size;
		specs->to->num_of_specs++;
		specs->to->size += to->size;
		to = (void *)to + to->size;
	}
	return specs->from == specs->end ? 0 : -EINVAL;
}
