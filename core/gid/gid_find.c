// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reading the GID tables: by index, by GID, by a filter.  Nothing here takes a
 * lock or sleeps; RCU keeps an entry readable, and entries are returned with a
 * reference.
 */
#include <kunit/visibility.h>
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/nospec.h>
#include <linux/rculist.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include "device/device.h"
#include "gid/gid.h"

union ib_gid zgid;
EXPORT_SYMBOL(zgid);

/* sysfs has always shown one name for the two types without a UDP header. */
static const char * const gid_type_name[] = {
	[IB_GID_TYPE_IB]		= "IB/RoCE v1",
	[IB_GID_TYPE_ROCE]		= "IB/RoCE v1",
	[IB_GID_TYPE_ROCE_UDP_ENCAP]	= "RoCE v2",
};

/**
 * ib_cache_gid_type_str - the name of a GID type, as sysfs shows it
 * @gid_type: the type
 *
 * Context: any.
 * Return: a constant string, also if @gid_type is not a valid type.
 */
const char *ib_cache_gid_type_str(enum ib_gid_type gid_type)
{
	if ((unsigned int)gid_type >= ARRAY_SIZE(gid_type_name))
		return "Invalid GID type";
	return gid_type_name[gid_type];
}
EXPORT_SYMBOL(ib_cache_gid_type_str);

/**
 * ib_cache_gid_parse_type_str - parse the name of a GID type
 * @buf: a name as ib_cache_gid_type_str() returns it, optionally with a newline
 *
 * The shared name means RoCE v1 here, as only on RoCE the type can be chosen.
 *
 * Context: any.
 * Return: enum ib_gid_type, or -EINVAL for any other name.
 */
int ib_cache_gid_parse_type_str(const char *buf)
{
	int type = IB_GID_TYPE_SIZE;

	while (--type > IB_GID_TYPE_IB)
		if (sysfs_streq(buf, gid_type_name[type]))
			return type;
	return -EINVAL;
}
EXPORT_SYMBOL(ib_cache_gid_parse_type_str);

/**
 * rdma_is_zero_gid - whether a GID is all zeros, which is not a valid GID
 * @gid: the GID
 *
 * Context: any.
 * Return: true if it is.
 */
bool rdma_is_zero_gid(const union ib_gid *gid)
{
	return !(gid->global.subnet_prefix | gid->global.interface_id);
}
EXPORT_SYMBOL(rdma_is_zero_gid);

/* Under rcu_read_lock; returns NULL for an index outside of the table. */
static struct ibcore_gid_entry *gid_at(struct ib_gid_table *table, int index)
{
	if (index < 0 || index >= table->len)
		return NULL;
	index = array_index_nospec(index, table->len);
	return rcu_dereference(table->slot[index]);
}

/**
 * rdma_query_gid - the GID at an index (IBA 4.1.1, 11.2.1.2)
 * @device: the device
 * @port_num: port number, counted from 1
 * @index: index in the port's table
 * @gid: receives the GID, in network byte order
 *
 * Context: any.
 * Return: 0, -EINVAL for a port or index that does not exist, -ENOENT for an
 * index without a GID.
 */
int rdma_query_gid(struct ib_device *device, u32 port_num, int index,
		   union ib_gid *gid)
{
	struct ib_gid_table *table = ibcore_gid_table(device, port_num);
	struct ibcore_gid_entry *entry;

	if (!table || index < 0 || index >= table->len)
		return -EINVAL;
	rcu_read_lock();
	entry = gid_at(table, index);
	if (entry)
		*gid = entry->attr.gid;
	rcu_read_unlock();
	return entry ? 0 : -ENOENT;
}
EXPORT_SYMBOL(rdma_query_gid);

/**
 * rdma_get_gid_attr - take a reference on the GID table entry at an index
 * @device: the device
 * @port_num: port number, counted from 1
 * @index: index in the port's table
 *
 * Context: any.
 * Return: the entry, for rdma_put_gid_attr(), or ERR_PTR: -EINVAL for a port or
 * index that does not exist, -ENODATA for an index without a GID.
 */
const struct ib_gid_attr *rdma_get_gid_attr(struct ib_device *device,
					    u32 port_num, int index)
{
	struct ib_gid_table *table = ibcore_gid_table(device, port_num);
	const struct ib_gid_attr *attr = ERR_PTR(-ENODATA);
	struct ibcore_gid_entry *entry;

	if (!table || index < 0 || index >= table->len)
		return ERR_PTR(-EINVAL);
	rcu_read_lock();
	entry = gid_at(table, index);
	if (entry && refcount_inc_not_zero(&entry->ref))
		attr = &entry->attr;
	rcu_read_unlock();
	return attr;
}
EXPORT_SYMBOL(rdma_get_gid_attr);

/* Returns the match with the lowest index, with a reference, or NULL. */
static const struct ib_gid_attr *gid_find(struct ib_gid_table *table,
					  const union ib_gid *gid,
					  enum ib_gid_type type,
					  const struct net_device *ndev)
{
	struct hlist_head *bucket = ibcore_gid_bucket(table, gid);
	struct ibcore_gid_entry *entry, *best;

	rcu_read_lock();
	do {
		best = NULL;
		hlist_for_each_entry_rcu(entry, bucket, hash) {
			if (entry->attr.gid_type != type ||
			    memcmp(&entry->attr.gid, gid, sizeof(*gid)))
				continue;
			if (ndev && rcu_access_pointer(entry->attr.ndev) != ndev)
				continue;
			if (!best || entry->attr.index < best->attr.index)
				best = entry;
		}
		/* An entry without references has left the hash: the loop ends. */
	} while (best && !refcount_inc_not_zero(&best->ref));
	rcu_read_unlock();
	return best ? &best->attr : NULL;
}

/**
 * rdma_find_gid_by_port - take a reference on the entry of a GID on one port
 * @ib_dev: the device
 * @gid: the GID, in network byte order
 * @gid_type: its type
 * @port: port number, counted from 1
 * @ndev: the entry's net_device, or NULL for any
 *
 * The cost does not depend on the size of the table.
 *
 * Context: any.
 * Return: the entry with the lowest index, for rdma_put_gid_attr(), or
 * ERR_PTR(-ENOENT).
 */
const struct ib_gid_attr *rdma_find_gid_by_port(struct ib_device *ib_dev,
						const union ib_gid *gid,
						enum ib_gid_type gid_type,
						u32 port,
						struct net_device *ndev)
{
	struct ib_gid_table *table = ibcore_gid_table(ib_dev, port);
	const struct ib_gid_attr *attr = NULL;

	if (table)
		attr = gid_find(table, gid, gid_type, ndev);
	return attr ?: ERR_PTR(-ENOENT);
}
EXPORT_SYMBOL(rdma_find_gid_by_port);

/**
 * rdma_find_gid - take a reference on the entry of a GID on any port
 * @device: the device
 * @gid: the GID, in network byte order
 * @gid_type: its type
 * @ndev: the entry's net_device, or NULL for any
 *
 * Context: any.
 * Return: the entry on the lowest port that has it, for rdma_put_gid_attr(), or
 * ERR_PTR(-ENOENT).
 */
const struct ib_gid_attr *rdma_find_gid(struct ib_device *device,
					const union ib_gid *gid,
					enum ib_gid_type gid_type,
					struct net_device *ndev)
{
	const struct ib_gid_attr *attr;
	u32 port;

	rdma_for_each_port(device, port) {
		attr = rdma_find_gid_by_port(device, gid, gid_type, port, ndev);
		if (!IS_ERR(attr))
			return attr;
	}
	return ERR_PTR(-ENOENT);
}
EXPORT_SYMBOL(rdma_find_gid);

/**
 * rdma_find_gid_by_filter - take a reference on the first entry a filter accepts
 * @device: the device
 * @gid: the GID to look for, in network byte order
 * @port_num: RoCE port of the device, counted from 1
 * @filter: called under rcu_read_lock for each entry of @gid, in no particular order
 * @context: third argument of @filter
 *
 * Context: any; @filter may not sleep.
 * Return: the entry, for rdma_put_gid_attr(), or ERR_PTR: -EPROTONOSUPPORT if
 * @port_num is not a RoCE port, -ENOENT if no entry is accepted.
 */
const struct ib_gid_attr *
rdma_find_gid_by_filter(struct ib_device *device, const union ib_gid *gid,
			u32 port_num,
			bool (*filter)(const union ib_gid *gid,
				       const struct ib_gid_attr *attr,
				       void *context),
			void *context)
{
	struct ib_gid_table *table = ibcore_gid_table(device, port_num);
	const struct ib_gid_attr *found = ERR_PTR(-ENOENT);
	struct ibcore_gid_entry *entry;

	if (!table || !table->roce)
		return ERR_PTR(-EPROTONOSUPPORT);
	rcu_read_lock();
	hlist_for_each_entry_rcu(entry, ibcore_gid_bucket(table, gid), hash) {
		if (memcmp(&entry->attr.gid, gid, sizeof(*gid)) ||
		    !filter(gid, &entry->attr, context) ||
		    !refcount_inc_not_zero(&entry->ref))
			continue;
		found = &entry->attr;
		break;
	}
	rcu_read_unlock();
	return found;
}
EXPORT_SYMBOL_IF_KUNIT(rdma_find_gid_by_filter);

/**
 * ib_find_gid - find the port and index of a GID of an InfiniBand port
 * @device: the device
 * @gid: the GID, in network byte order
 * @port_num: receives the port number, counted from 1
 * @index: receives the index; may be NULL
 *
 * Only InfiniBand ports are searched: on other ports a GID alone does not identify an
 * entry.
 *
 * Context: any.
 * Return: 0, -ENOENT.
 */
int ib_find_gid(struct ib_device *device, union ib_gid *gid, u32 *port_num,
		u16 *index)
{
	const struct ib_gid_attr *attr;
	u32 port;

	rdma_for_each_port(device, port) {
		if (!rdma_protocol_ib(device, port))
			continue;
		attr = rdma_find_gid_by_port(device, gid, IB_GID_TYPE_IB, port,
					     NULL);
		if (IS_ERR(attr))
			continue;
		*port_num = port;
		if (index)
			*index = attr->index;
		rdma_put_gid_attr(attr);
		return 0;
	}
	return -ENOENT;
}
EXPORT_SYMBOL(ib_find_gid);

/* Under rcu_read_lock. */
static void gid_to_uapi(const struct ib_gid_attr *attr,
			struct ib_uverbs_gid_entry *out)
{
	const struct net_device *ndev = rcu_dereference(attr->ndev);

	memset(out, 0, sizeof(*out));
	memcpy(out->gid, attr->gid.raw, sizeof(attr->gid));
	out->gid_index = attr->index;
	out->port_num = attr->port_num;
	out->gid_type = attr->gid_type;
	out->netdev_ifindex = ndev ? READ_ONCE(ndev->ifindex) : 0;
}

/**
 * rdma_query_gid_table - read all GIDs of all ports of a device
 * @device: the device
 * @entries: receives the GIDs, in order of port and index
 * @max_entries: size of @entries
 *
 * Context: any.
 * Return: the number of GIDs, -EINVAL if there are more than @max_entries.
 */
ssize_t rdma_query_gid_table(struct ib_device *device,
			     struct ib_uverbs_gid_entry *entries,
			     size_t max_entries)
{
	struct ib_gid_table *table;
	struct ibcore_gid_entry *entry;
	ssize_t n = 0;
	u32 port;
	int i;

	rcu_read_lock();
	rdma_for_each_port(device, port) {
		table = ibcore_gid_table(device, port);
		for (i = 0; table && i < table->len; i++) {
			entry = gid_at(table, i);
			if (!entry)
				continue;
			if (n >= max_entries) {
				n = -EINVAL;
				goto out;
			}
			gid_to_uapi(&entry->attr, &entries[n++]);
		}
	}
out:
	rcu_read_unlock();
	return n;
}
EXPORT_SYMBOL(rdma_query_gid_table);

/**
 * rdma_read_gid_hw_context - the context that the driver's add_gid set for an entry
 * @attr: an entry the caller has a reference on
 *
 * For drivers, in verbs to which core passes @attr.  The context stays while a QP or an
 * address handle uses @attr, also after the entry was removed from the table.
 *
 * Context: any.
 * Return: the driver's pointer.
 */
void *rdma_read_gid_hw_context(const struct ib_gid_attr *attr)
{
	return container_of(attr, struct ibcore_gid_entry, attr)->context;
}
EXPORT_SYMBOL(rdma_read_gid_hw_context);

/**
 * rdma_read_gid_attr_ndev_rcu - the net_device of a GID table entry
 * @attr: an entry the caller has a reference on
 *
 * Context: under rcu_read_lock, which protects the net_device.
 * Return: the net_device, ERR_PTR(-ENODEV) if the entry has none or was removed
 * from the table.
 */
struct net_device *rdma_read_gid_attr_ndev_rcu(const struct ib_gid_attr *attr)
{
	return rcu_dereference(attr->ndev) ?: ERR_PTR(-ENODEV);
}
EXPORT_SYMBOL(rdma_read_gid_attr_ndev_rcu);

struct vlan_walk {
	struct net_device *port_ndev;	/* only compared; NULL: not known */
	u16 vlan_id;
};

static int gid_is_port(struct net_device *lower, struct netdev_nested_priv *priv)
{
	return lower == priv->data;
}

/* Whether packets of the port pass through @vlan, which is above or below its net_device. */
static bool gid_on_port(struct net_device *vlan, struct net_device *port_ndev)
{
	struct netdev_nested_priv priv = { .data = port_ndev };

	return !port_ndev || vlan == port_ndev ||
	       netdev_walk_all_lower_dev_rcu(vlan, gid_is_port, &priv) ||
	       netdev_has_upper_dev_all_rcu(vlan, port_ndev);
}

static int gid_lower_vlan(struct net_device *lower,
			  struct netdev_nested_priv *priv)
{
	struct vlan_walk *walk = priv->data;

	if (!is_vlan_dev(lower) || !gid_on_port(lower, walk->port_ndev))
		return 0;
	walk->vlan_id = rdma_vlan_dev_vlan_id(lower);
	return 1;
}

/*
 * Also finds the VLAN of a device on top of a VLAN device, such as a macvlan or a bridge.
 * A bridge may have ports of several adapters: only VLANs of the GID's own port count.
 * Under rcu_read_lock.
 */
static u16 gid_vlan_id(const struct ibcore_gid_entry *entry,
		       struct net_device *ndev)
{
	struct vlan_walk walk = {
		.port_ndev = READ_ONCE(entry->table->port_ndev),
		.vlan_id = rdma_vlan_dev_vlan_id(ndev),
	};
	struct netdev_nested_priv priv = { .data = &walk };

	if (walk.vlan_id == 0xffff)
		netdev_walk_all_lower_dev_rcu(ndev, gid_lower_vlan, &priv);
	return walk.vlan_id;
}

u16 ibcore_gid_vlan_id(const struct ibcore_gid_entry *entry)
{
	u16 vlan_id;

	rcu_read_lock();
	vlan_id = gid_vlan_id(entry, entry->ndev);
	rcu_read_unlock();
	return vlan_id;
}

/**
 * rdma_read_gid_l2_fields - VLAN and source MAC of packets from a GID
 * @attr: a RoCE entry the caller has a reference on
 * @vlan_id: receives the VLAN id, 0xffff for untagged; may be NULL
 * @smac: receives the six bytes of the MAC; may be NULL
 *
 * Context: any.
 * Return: 0, -ENODEV if the entry has no net_device or was removed from the table.
 */
int rdma_read_gid_l2_fields(const struct ib_gid_attr *attr, u16 *vlan_id,
			    u8 *smac)
{
	struct net_device *ndev;
	int ret = -ENODEV;

	rcu_read_lock();
	ndev = rcu_dereference(attr->ndev);
	if (ndev) {
		if (smac)
			ether_addr_copy(smac, ndev->dev_addr);
		if (vlan_id)
			*vlan_id = gid_vlan_id(container_of(attr, struct ibcore_gid_entry,
							    attr), ndev);
		ret = 0;
	}
	rcu_read_unlock();
	return ret;
}
EXPORT_SYMBOL(rdma_read_gid_l2_fields);

/* Whether @port has an entry whose net_device is @ndev. */
bool ibcore_gid_has_netdev(struct ib_device *dev, u32 port,
			   struct net_device *ndev)
{
	struct ib_gid_table *table = ibcore_gid_table(dev, port);
	struct ibcore_gid_entry *entry;
	bool found = false;
	int i;

	rcu_read_lock();
	for (i = 0; table && i < table->len && !found; i++) {
		entry = gid_at(table, i);
		found = entry && rcu_access_pointer(entry->attr.ndev) == ndev;
	}
	rcu_read_unlock();
	return found;
}
