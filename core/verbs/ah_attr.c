// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Address attributes: ownership of the reference on their source GID entry, and
 * attributes made from a received packet.
 *
 * rdma_ah_attr.grh.sgid_attr, when not NULL, is a counted reference that the
 * attributes own; copying the struct by hand does not copy the reference.
 */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>

#include "addr/addr.h"
#include "gid/gid.h"
#include "verbs/verbs.h"

static void ah_attr_hold(const struct rdma_ah_attr *attr)
{
	if (attr->grh.sgid_attr)
		rdma_hold_gid_attr(attr->grh.sgid_attr);
}

/**
 * rdma_destroy_ah_attr() - put the reference that attributes hold
 * @ah_attr: attributes; may be reused afterwards
 *
 * Context: any.
 */
void rdma_destroy_ah_attr(struct rdma_ah_attr *ah_attr)
{
	const struct ib_gid_attr *sgid_attr = ah_attr->grh.sgid_attr;

	ah_attr->grh.sgid_attr = NULL;
	if (sgid_attr)
		rdma_put_gid_attr(sgid_attr);
}
EXPORT_SYMBOL(rdma_destroy_ah_attr);

/**
 * rdma_copy_ah_attr() - copy attributes
 * @dest: overwritten; must not hold a reference
 * @src: source, which keeps its reference; @dest gets another one
 *
 * Context: any.
 */
void rdma_copy_ah_attr(struct rdma_ah_attr *dest,
		       const struct rdma_ah_attr *src)
{
	ah_attr_hold(src);
	*dest = *src;
}
EXPORT_SYMBOL(rdma_copy_ah_attr);

/**
 * rdma_replace_ah_attr() - replace attributes by a copy of others
 * @old: replaced; its reference is put
 * @new: source, which keeps its reference; may share its GID with @old
 *
 * Context: any.
 */
void rdma_replace_ah_attr(struct rdma_ah_attr *old,
			  const struct rdma_ah_attr *new)
{
	const struct ib_gid_attr *gone = old->grh.sgid_attr;

	rdma_copy_ah_attr(old, new);
	if (gone)
		rdma_put_gid_attr(gone);
}
EXPORT_SYMBOL(rdma_replace_ah_attr);

/**
 * rdma_move_ah_attr() - move attributes
 * @dest: replaced; its reference is put
 * @src: source, whose reference @dest takes over
 *
 * Context: any.
 */
void rdma_move_ah_attr(struct rdma_ah_attr *dest, struct rdma_ah_attr *src)
{
	rdma_destroy_ah_attr(dest);
	*dest = *src;
	src->grh.sgid_attr = NULL;
}
EXPORT_SYMBOL(rdma_move_ah_attr);

/**
 * rdma_move_grh_sgid_attr() - set a global route
 * @attr: attributes that hold no reference on a GID entry yet
 * @dgid: destination GID, or NULL to leave it as it is
 * @flow_label: in host byte order
 * @hop_limit: hop limit
 * @traffic_class: traffic class
 * @sgid_attr: source GID entry; @attr takes over the caller's reference
 *
 * Context: any.
 */
void rdma_move_grh_sgid_attr(struct rdma_ah_attr *attr, union ib_gid *dgid,
			     u32 flow_label, u8 hop_limit, u8 traffic_class,
			     const struct ib_gid_attr *sgid_attr)
{
	struct ib_global_route *grh = rdma_ah_retrieve_grh(attr);

	rdma_ah_set_ah_flags(attr, IB_AH_GRH);
	if (dgid)
		grh->dgid = *dgid;
	grh->sgid_attr = sgid_attr;
	grh->sgid_index = sgid_attr->index;
	grh->flow_label = flow_label;
	grh->hop_limit = hop_limit;
	grh->traffic_class = traffic_class;
}
EXPORT_SYMBOL(rdma_move_grh_sgid_attr);

static bool ah_attr_valid(struct ib_device *dev,
			  const struct rdma_ah_attr *attr)
{
	const struct ib_gid_attr *sgid_attr = attr->grh.sgid_attr;

	if (!rdma_is_port_valid(dev, attr->port_num))
		return false;
	if (!(attr->ah_flags & IB_AH_GRH))
		return attr->type != RDMA_AH_ATTR_TYPE_ROCE &&
		       !rdma_is_grh_required(dev, attr->port_num);
	return !sgid_attr || (sgid_attr->device == dev &&
			      sgid_attr->index == attr->grh.sgid_index &&
			      sgid_attr->port_num == attr->port_num);
}

/*
 * Checks that @attr is valid for @dev, then makes @attr own a reference on its
 * source GID entry and count as a user of that entry (ibcore_gid_use()).  If
 * the caller did not set the entry, it is looked up by index.  Returns -ENODEV
 * if the entry accepts no new users, such as one that was removed from the
 * table: the driver keeps its state of such an entry only for the QPs and AHs
 * that already use it.  On error @attr holds no new reference.
 */
int ibcore_ah_attr_pin(struct ib_device *dev, struct rdma_ah_attr *attr)
{
	const struct ib_gid_attr *sgid_attr;

	if (!ah_attr_valid(dev, attr))
		return -EINVAL;

	if (!(attr->ah_flags & IB_AH_GRH)) {
		attr->grh.sgid_attr = NULL;
		return 0;
	}
	sgid_attr = attr->grh.sgid_attr;
	if (sgid_attr)
		rdma_hold_gid_attr(sgid_attr);
	else
		sgid_attr = rdma_get_gid_attr(dev, attr->port_num,
					      attr->grh.sgid_index);
	if (IS_ERR(sgid_attr))
		return PTR_ERR(sgid_attr);
	if (!ibcore_gid_use(sgid_attr)) {
		rdma_put_gid_attr(sgid_attr);
		return -ENODEV;
	}
	attr->grh.sgid_attr = sgid_attr;
	return 0;
}

/*
 * Ends the use of @sgid_attr by a QP, an AH or pinned attributes, and puts
 * their reference on it.  @sgid_attr may be NULL.
 */
void ibcore_sgid_unpin(const struct ib_gid_attr *sgid_attr)
{
	if (!sgid_attr)
		return;
	ibcore_gid_unuse(sgid_attr);
	rdma_put_gid_attr(sgid_attr);
}

/* Replaces rdma_destroy_ah_attr() for pinned attributes. */
void ibcore_ah_attr_unpin(struct rdma_ah_attr *attr)
{
	ibcore_sgid_unpin(attr->grh.sgid_attr);
	attr->grh.sgid_attr = NULL;
}

static int ah_resolve_unicast(struct rdma_ah_attr *attr)
{
	struct ib_global_route *grh = rdma_ah_retrieve_grh(attr);
	struct in6_addr *dgid = (struct in6_addr *)grh->dgid.raw;
	int hop_limit = grh->hop_limit;
	int ret;

	/*
	 * A link-local GID of RoCE v1 is made from the MAC.  A link-local GID
	 * of RoCE v2 is an IPv6 address with an arbitrary interface id, so the
	 * neighbour must be resolved.
	 */
	if (rdma_link_local_addr(dgid) &&
	    grh->sgid_attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP) {
		rdma_get_ll_mac(dgid, attr->roce.dmac);
		return 0;
	}

	ret = ibcore_addr_l2_by_grh(&grh->sgid_attr->gid, &grh->dgid,
				    attr->roce.dmac, grh->sgid_attr,
				    &hop_limit);
	if (!ret)
		grh->hop_limit = hop_limit;
	return ret;
}

/*
 * @attr holds a reference on its source GID entry.  Sleeps until the neighbour
 * is resolved.
 */
int ibcore_ah_resolve_dmac(struct ib_device *dev, struct rdma_ah_attr *attr)
{
	struct in6_addr *dgid = (struct in6_addr *)attr->grh.dgid.raw;
	char *dmac = (char *)attr->roce.dmac;

	if (!rdma_is_multicast_addr(dgid))
		return ah_resolve_unicast(attr);

	if (ipv6_addr_v4mapped(dgid))
		ip_eth_mc_map(dgid->s6_addr32[3], dmac);
	else
		ipv6_eth_mc_map(dgid, dmac);
	return 0;
}

/**
 * ib_get_rdma_header_version() - get the IP version of a network header
 * @hdr: the 40 bytes before the transport header; an IPv4 header is in the
 *	last 20
 *
 * The 20 bytes before an IPv4 header are undefined and may look like the start
 * of an IPv6 header; a valid IPv4 checksum then shows that the header is IPv4.
 * RoCE annex A17.
 *
 * Context: any.
 * Return: 4, 6, or 0 if it is neither.
 */
int ib_get_rdma_header_version(const union rdma_network_hdr *hdr)
{
	const struct iphdr *ip4 = &hdr->roce4grh;
	struct iphdr copy;	/* aligned as the checksum routine wants it */

	if (be32_to_cpu(hdr->ibgrh.version_tclass_flow) >> 28 != 6)
		return ip4->version == 4 ? 4 : 0;
	if (ip4->version != 4 || ip4->ihl != 5)
		return 6;

	memcpy(&copy, ip4, sizeof(copy));
	return ip_fast_csum(&copy, copy.ihl) ? 6 : 4;
}
EXPORT_SYMBOL(ib_get_rdma_header_version);

/**
 * ib_get_gids_from_rdma_hdr() - get the source and destination GIDs of a header
 * @hdr: network header: the 40 bytes before the transport header
 * @net_type: type of the header that they hold
 * @sgid: set to the packet's source
 * @dgid: set to the packet's destination
 *
 * Context: any.
 * Return: 0, or -EINVAL for an unknown @net_type.
 */
int ib_get_gids_from_rdma_hdr(const union rdma_network_hdr *hdr,
			      enum rdma_network_type net_type,
			      union ib_gid *sgid, union ib_gid *dgid)
{
	__be32 saddr, daddr;

	switch (net_type) {
	case RDMA_NETWORK_IPV4:
		memcpy(&saddr, &hdr->roce4grh.saddr, sizeof(saddr));
		memcpy(&daddr, &hdr->roce4grh.daddr, sizeof(daddr));
		ipv6_addr_set_v4mapped(saddr, (struct in6_addr *)sgid);
		ipv6_addr_set_v4mapped(daddr, (struct in6_addr *)dgid);
		return 0;
	case RDMA_NETWORK_IB:
	case RDMA_NETWORK_ROCE_V1:
	case RDMA_NETWORK_IPV6:
		*sgid = hdr->ibgrh.sgid;
		*dgid = hdr->ibgrh.dgid;
		return 0;
	default:
		return -EINVAL;
	}
}
EXPORT_SYMBOL(ib_get_gids_from_rdma_hdr);

/* What a received packet tells about its sender, as needed for a reply. */
struct ah_origin {
	enum rdma_network_type net_type;
	union ib_gid remote;
	union ib_gid local;
	u32 flow_label;
	u8 hop_limit;
	u8 traffic_class;
};

static enum rdma_network_type
ah_guess_net_type(struct ib_device *dev, u32 port_num, const struct ib_grh *grh)
{
	if (!rdma_protocol_roce(dev, port_num))
		return RDMA_NETWORK_IB;
	if (ib_get_rdma_header_version((const union rdma_network_hdr *)grh) == 4)
		return RDMA_NETWORK_IPV4;
	return grh->next_hdr == IPPROTO_UDP ? RDMA_NETWORK_IPV6 :
					      RDMA_NETWORK_ROCE_V1;
}

static int ah_origin_of(struct ib_device *dev, u32 port_num,
			const struct ib_wc *wc, const struct ib_grh *grh,
			struct ah_origin *o)
{
	const union rdma_network_hdr *hdr = (const void *)grh;

	if (rdma_protocol_roce(dev, port_num) &&
	    wc->wc_flags & IB_WC_WITH_NETWORK_HDR_TYPE)
		o->net_type = wc->network_hdr_type;
	else
		o->net_type = ah_guess_net_type(dev, port_num, grh);

	if (o->net_type == RDMA_NETWORK_IPV4) {
		o->flow_label = 0;
		o->traffic_class = hdr->roce4grh.tos;
	} else {
		u32 word = be32_to_cpu(grh->version_tclass_flow);

		o->flow_label = word & IB_GRH_FLOWLABEL_MASK;
		o->traffic_class = word >> 20;
	}
	/* The remaining hop limit of the packet says nothing about the path back. */
	o->hop_limit = 0xff;
	return ib_get_gids_from_rdma_hdr(hdr, o->net_type, &o->remote,
					 &o->local);
}

struct ah_vlan_match {
	enum ib_gid_type gid_type;
	u16 vlan_id;		/* 0xffff: untagged */
};

static bool ah_gid_on_vlan(const union ib_gid *gid,
			   const struct ib_gid_attr *attr, void *context)
{
	const struct ah_vlan_match *want = context;
	u16 vlan_id;

	return attr->gid_type == want->gid_type &&
	       !rdma_read_gid_l2_fields(attr, &vlan_id, NULL) &&
	       vlan_id == want->vlan_id;
}

/*
 * Finds the entry of the packet's destination GID on the VLAN that the packet
 * arrived on.
 */
static const struct ib_gid_attr *
ah_roce_local(struct ib_device *dev, u32 port_num, const struct ib_wc *wc,
	      const struct ah_origin *o)
{
	struct ah_vlan_match match = {
		.gid_type = ib_network_to_gid_type(o->net_type),
		.vlan_id = wc->wc_flags & IB_WC_WITH_VLAN ? wc->vlan_id :
							    0xffff,
	};
	const struct ib_gid_attr *attr;

	attr = rdma_find_gid_by_filter(dev, &o->local, port_num,
				       ah_gid_on_vlan, &match);
	if (!IS_ERR(attr) || match.vlan_id)
		return attr;
	/*
	 * VLAN id 0 means no VLAN: the tag has only a priority (IEEE 802.1Q,
	 * table 9-2).  As in the network stack, a netdev that has VLAN id 0
	 * nevertheless takes precedence, so untagged netdevs are tried second.
	 */
	match.vlan_id = 0xffff;
	return rdma_find_gid_by_filter(dev, &o->local, port_num,
				       ah_gid_on_vlan, &match);
}

static int ah_from_roce(struct ib_device *dev, u32 port_num,
			const struct ib_wc *wc, struct ah_origin *o,
			struct rdma_ah_attr *attr)
{
	const struct ib_gid_attr *sgid_attr;
	int ret;

	sgid_attr = ah_roce_local(dev, port_num, wc, o);
	if (IS_ERR(sgid_attr))
		return PTR_ERR(sgid_attr);

	rdma_move_grh_sgid_attr(attr, &o->remote, o->flow_label, o->hop_limit,
				o->traffic_class, sgid_attr);
	ret = ibcore_ah_resolve_dmac(dev, attr);
	if (ret)
		rdma_destroy_ah_attr(attr);
	return ret;
}

static int ah_from_ib(struct ib_device *dev, u32 port_num,
		      struct ah_origin *o, struct rdma_ah_attr *attr)
{
	const struct ib_gid_attr *sgid_attr;

	/* No port has the SA's well-known GUID: reply from the first GID. */
	if (o->local.global.interface_id == cpu_to_be64(IB_SA_WELL_KNOWN_GUID))
		sgid_attr = rdma_get_gid_attr(dev, port_num, 0);
	else
		sgid_attr = rdma_find_gid_by_port(dev, &o->local,
						  IB_GID_TYPE_IB, port_num,
						  NULL);
	if (IS_ERR(sgid_attr))
		return PTR_ERR(sgid_attr);

	rdma_move_grh_sgid_attr(attr, &o->remote, o->flow_label, o->hop_limit,
				o->traffic_class, sgid_attr);
	return 0;
}

/**
 * ib_init_ah_attr_from_wc() - get the address of a received datagram's sender
 * @device: device that received the datagram
 * @port_num: port that received the datagram
 * @wc: completion of the receive
 * @grh: first 40 bytes of the receive buffer; read only if @wc has IB_WC_GRH:
 *	then they hold a GRH or an IP header
 * @ah_attr: set to the address for a reply; released by rdma_destroy_ah_attr()
 *
 * IBA vol. 1, 11.4.2.1 and 13.5.4.2; RoCE annexes A16 and A17.
 *
 * Context: process; for RoCE sleeps until the neighbour is resolved.
 * Return: 0; -EPROTOTYPE if a RoCE packet has no GRH; -EINVAL for a port or
 * network type that does not exist; -ENOENT if the destination is not a GID of
 * this port; or the error of address resolution.
 */
int ib_init_ah_attr_from_wc(struct ib_device *device, u32 port_num,
			    const struct ib_wc *wc, const struct ib_grh *grh,
			    struct rdma_ah_attr *ah_attr)
{
	bool has_grh = wc->wc_flags & IB_WC_GRH;
	struct ah_origin o;
	int ret;

	might_sleep();
	if (!rdma_is_port_valid(device, port_num))
		return -EINVAL;
	memset(ah_attr, 0, sizeof(*ah_attr));
	ah_attr->type = rdma_ah_find_type(device, port_num);
	rdma_ah_set_port_num(ah_attr, port_num);
	rdma_ah_set_sl(ah_attr, wc->sl);

	if (has_grh) {
		ret = ah_origin_of(device, port_num, wc, grh, &o);
		if (ret)
			return ret;
	}

	if (rdma_protocol_roce(device, port_num))
		return has_grh ? ah_from_roce(device, port_num, wc, &o,
					      ah_attr) : -EPROTOTYPE;

	rdma_ah_set_dlid(ah_attr, wc->slid);
	rdma_ah_set_path_bits(ah_attr, wc->dlid_path_bits);
	return has_grh ? ah_from_ib(device, port_num, &o, ah_attr) : 0;
}
EXPORT_SYMBOL(ib_init_ah_attr_from_wc);
