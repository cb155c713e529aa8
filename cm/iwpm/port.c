// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The local ports that the daemon has mapped, by their real address.
 *
 * The daemon counts how often it was requested to map an address, and this client counts
 * its users: a listener on all addresses requests the mapping once for each device.  A
 * daemon that is started later is sent each port only once, so the counts may differ.
 *
 * A port exists as long as it has users, each of which is an id.  The lock of its bucket
 * orders the messages about it.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <rdma/iw_cm.h>

#include "iwpm.h"

struct iwpm_port {
	struct hlist_node node;
	struct iwpm_addr local;		/* does not change */
	struct iwpm_addr mapped;	/* this and the rest: lock of the bucket */
	u32 flags;			/* IWPM_FLAGS_ */
	unsigned int users;
	unsigned int told;		/* uses that the daemon has counted */
};

#define IWPM_BUCKETS	64

static struct iwpm_bucket {
	struct mutex lock;		/* protects the list and the ports in it */
	struct hlist_head ports;
} iwpm_buckets[IWPM_BUCKETS];

static struct iwpm_bucket *iwpm_bucket_of(const struct iwpm_addr *local)
{
	return &iwpm_buckets[iwpm_addr_hash(local) % IWPM_BUCKETS];
}

static struct iwpm_port *iwpm_port_find(struct iwpm_bucket *bucket,
					const struct iwpm_addr *local)
{
	struct iwpm_port *port;

	lockdep_assert_held(&bucket->lock);
	hlist_for_each_entry(port, &bucket->ports, node)
		if (iwpm_addr_same(&port->local, local))
			return port;
	return NULL;
}

/* Sends @port to a daemon that may not know it.  Bucket's lock held. */
static bool iwpm_port_tell(struct iwpm_port *port, u32 portid, u16 version)
{
	bool sent = !iwpm_daemon_send(portid,
				      iwpm_msg_mapinfo(&port->local,
						       &port->mapped,
						       port->flags, version));
	port->told = sent;
	return sent;
}

/* Adds a user to the port that @dest has mapped; uses @spare, or frees it. */
static struct iwpm_port *iwpm_port_enter(struct iwpm_port *spare,
					 const struct iwpm_dest *dest,
					 const struct iwpm_map *map, u32 flags)
{
	struct iwpm_bucket *bucket = iwpm_bucket_of(&map->local);
	struct iwpm_port *port;

	mutex_lock(&bucket->lock);
	port = iwpm_port_find(bucket, &map->local);
	if (port) {
		kfree(spare);
	} else {
		port = spare;
		port->local = map->local;
		hlist_add_head(&port->node, &bucket->ports);
	}
	port->mapped = map->mapped_local;
	port->flags = flags;
	port->users++;
	port->told++;
	/* A new daemon was sent the other ports meanwhile, or is about to be. */
	if (dest->portid != iwpm_daemon_portid())
		iwpm_port_tell(port, iwpm_daemon_portid(), iwpm_daemon_version());
	mutex_unlock(&bucket->lock);
	return port;
}

struct iwpm_port *iwpm_port_get(const struct ib_device *device, u8 op,
				struct iwpm_map *map)
{
	u32 flags = device->iw_driver_flags & IW_F_NO_PORT_MAP ?
		    IWPM_FLAGS_NO_PORT_MAP : 0;
	struct iwpm_dest dest;
	struct iwpm_port *port;
	int ret;

	ret = iwpm_reach(device, &dest);
	/* A daemon of version 3 does not know the flag and would map the port. */
	if (ret || (flags && dest.version == IWPM_UABI_VERSION_MIN))
		return NULL;
	port = kzalloc(sizeof(*port), GFP_KERNEL);
	if (!port)
		return NULL;
	ret = iwpm_ask(&dest, op, map, flags);
	if (!ret)
		return iwpm_port_enter(port, &dest, map, flags);
	kfree(port);
	/* The daemon may have mapped the port, with a late or an invalid response. */
	if (ret != -EREMOTEIO)
		iwpm_daemon_send(dest.portid, iwpm_msg_remove(&map->local));
	return NULL;
}

/*
 * Without memory, or room in the queue, the removal is not sent to the daemon, which
 * then holds the port until iwpm_port_retell() sends the ports again.
 */
void iwpm_port_put(struct iwpm_port *port)
{
	struct iwpm_bucket *bucket;

	if (!port)
		return;
	bucket = iwpm_bucket_of(&port->local);
	mutex_lock(&bucket->lock);
	port->users--;
	for (; port->told > port->users; port->told--)
		iwpm_daemon_send(iwpm_daemon_portid(),
				 iwpm_msg_remove(&port->local));
	if (!port->users) {
		hlist_del(&port->node);
		kfree(port);
	}
	mutex_unlock(&bucket->lock);
}

/* Sends all mappings to a daemon that was started after they were made. */
void iwpm_port_retell(u32 portid, u16 version)
{
	struct iwpm_bucket *bucket;
	struct iwpm_port *port;
	u32 num = 0;

	for (bucket = iwpm_buckets; bucket < iwpm_buckets + IWPM_BUCKETS; bucket++) {
		mutex_lock(&bucket->lock);
		hlist_for_each_entry(port, &bucket->ports, node)
			num += iwpm_port_tell(port, portid, version);
		mutex_unlock(&bucket->lock);
	}
	iwpm_daemon_send(portid, iwpm_msg_mapinfo_num(num));
}

void iwpm_port_start(void)
{
	int i;

	for (i = 0; i < IWPM_BUCKETS; i++)
		mutex_init(&iwpm_buckets[i].lock);
}

/* No id is left, so no port may have users. */
void iwpm_port_stop(void)
{
	int i;

	for (i = 0; i < IWPM_BUCKETS; i++)
		WARN_ON(!hlist_empty(&iwpm_buckets[i].ports));
}
