// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Monitors (capture.h).  A monitor sends nothing: what it is given to send, the network stack
 * shows to packet sockets first, and then it is freed.
 */
#include <linux/if_arp.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <ibex/compat/kernel.h>
#include "capture/capture.h"
#include "fabric/fabric.h"

/* The longest packet: headers, payload, both CRCs. */
#define MOST_BYTES	(sizeof(struct ib_header) + VIB_MAX_MTU + VIB_ICRC_LEN + VIB_VCRC_LEN)

struct monitor {
	atomic_long_t lost;		/* packets that there was no memory to show */
};

/* True while a monitor of any fabric is up. */
DEFINE_STATIC_KEY_FALSE(vib_capture_key);

/* Which monitors there are.  Taken before the RTNL. */
static DEFINE_MUTEX(capture_lock);

/* ---- the network device ---- */

static int monitor_open(struct net_device *dev)
{
	static_branch_inc(&vib_capture_key);
	return 0;
}

static int monitor_stop(struct net_device *dev)
{
	static_branch_dec(&vib_capture_key);
	return 0;
}

/* What processes send to it goes nowhere, either. */
static netdev_tx_t monitor_xmit(struct sk_buff *skb, struct net_device *dev)
{
	dev_lstats_add(dev, skb->len);
	consume_skb(skb);
	return NETDEV_TX_OK;
}

static void monitor_stats(struct net_device *dev, struct rtnl_link_stats64 *stats)
{
	const struct monitor *monitor = netdev_priv(dev);

	dev_lstats_read(dev, &stats->tx_packets, &stats->tx_bytes);
	stats->tx_dropped = atomic_long_read(&monitor->lost);
}

static const struct net_device_ops monitor_ops = {
	.ndo_open = monitor_open,
	.ndo_stop = monitor_stop,
	.ndo_start_xmit = monitor_xmit,
	.ndo_get_stats64 = monitor_stats,
};

/*
 * There is no hardware type for what is on an InfiniBand link: ARPHRD_INFINIBAND is that of
 * IPoIB's interfaces, which would be configured as such.
 */
static void monitor_setup(struct net_device *dev)
{
	dev->netdev_ops = &monitor_ops;
	dev->type = ARPHRD_VOID;
	dev->flags = IFF_NOARP;
	dev->priv_flags |= IFF_NO_QUEUE;
	ibex_set_lltx(dev);
	dev->pcpu_stat_type = NETDEV_PCPU_STAT_LSTATS;
	dev->mtu = MOST_BYTES;
	dev->max_mtu = MOST_BYTES;
}

/* ---- packets ---- */

/* The bytes of @pkt on the wire. */
static void packet_fill(struct sk_buff *skb, const struct vib_packet *pkt)
{
	u32 pad = ALIGN(pkt->len, 4) - pkt->len, icrc;
	u16 vcrc;

	skb_put_data(skb, &pkt->hdr, pkt->hdr_len);
	vib_packet_read(pkt, 0, skb_put(skb, pkt->len), pkt->len);
	skb_put_zero(skb, pad);
	icrc = vib_icrc(skb->data, skb->len);
	put_unaligned_le32(icrc, skb_put(skb, VIB_ICRC_LEN));
	vcrc = vib_vcrc(skb->data, skb->len);
	put_unaligned_le16(pkt->corrupt ? ~vcrc : vcrc, skb_put(skb, VIB_VCRC_LEN));
}

static struct sk_buff *packet_skb(const struct vib_packet *pkt)
{
	struct sk_buff *skb;

	skb = alloc_skb(vib_packet_wire_len(pkt) + VIB_VCRC_LEN, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	packet_fill(skb, pkt);
	skb_reset_network_header(skb);
	/* Nobody takes it by its protocol; IEEE has this number for what is in it. */
	skb->protocol = htons(ETH_P_IBOE);
	return skb;
}

static void show_packet(const struct vib_captured *what, const struct vib_packet *pkt)
{
	struct net_device *dev = rcu_dereference_bh(what->monitor);
	struct monitor *monitor;
	struct sk_buff *skb;

	if (!dev || !netif_running(dev))
		return;
	monitor = netdev_priv(dev);
	skb = packet_skb(pkt);
	if (!skb) {
		atomic_long_inc(&monitor->lost);
		return;
	}
	skb->dev = dev;
	dev_queue_xmit(skb);
}

void vib_capture_packet(const struct vib_port *port, const struct vib_packet *pkt)
{
	const struct vib_link *link = rcu_dereference_bh(port->link);

	if (link)
		show_packet(&link->captured, pkt);
	show_packet(&port->node->fabric->captured, pkt);
}

/* ---- monitors come and go ---- */

int vib_capture_start(struct vib_captured *what)
{
	struct net_device *dev;
	int ret = -EBUSY;

	mutex_lock(&capture_lock);
	if (rcu_access_pointer(what->monitor))
		goto out;
	dev = alloc_netdev(sizeof(struct monitor), "vibmon%d", NET_NAME_ENUM, monitor_setup);
	ret = dev ? register_netdev(dev) : -ENOMEM;
	if (!ret)
		rcu_assign_pointer(what->monitor, dev);
	else if (dev)
		free_netdev(dev);
out:
	mutex_unlock(&capture_lock);
	return ret;
}

/*
 * Why nothing uses the monitor afterwards: (1) no packet finds it, since @what has none and a
 * grace period is over; (2) unregister_netdev() has taken it down and waited for whoever had a
 * reference, packet sockets included.
 */
void vib_capture_stop(struct vib_captured *what)
{
	struct net_device *dev;

	mutex_lock(&capture_lock);
	dev = rcu_replace_pointer(what->monitor, NULL, lockdep_is_held(&capture_lock));
	if (dev) {
		synchronize_rcu();
		unregister_netdev(dev);
		free_netdev(dev);
	}
	mutex_unlock(&capture_lock);
}

ssize_t vib_capture_show(struct vib_captured *what, char *page)
{
	const struct net_device *dev;
	ssize_t len;

	mutex_lock(&capture_lock);
	dev = rcu_dereference_protected(what->monitor, lockdep_is_held(&capture_lock));
	/* An administrator may rename it. */
	rtnl_lock();
	len = sysfs_emit(page, "%s\n", dev ? dev->name : "");
	rtnl_unlock();
	mutex_unlock(&capture_lock);
	return len;
}
