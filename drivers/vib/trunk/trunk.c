// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Trunks: opened, plugged in and closed. */
#include <linux/in.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include "trunk/trunk.h"

/*
 * Why nothing uses the trunk any more: (1) vib_trunk_close() ended its works, closed its
 * socket and unplugged its link; (2) no packet holds credits of the far port or the net port,
 * or release() would not run.
 */
static void trunk_release(struct vib_node *node)
{
	struct vib_trunk *trunk = container_of(node, struct vib_trunk, node);

	vib_node_cleanup(node);
	kfree(trunk->rx_buf);
	kfree(trunk->tx_buf);
	kfree(trunk);
}

static const struct vib_node_ops trunk_ops = {
	.receive = vib_trunk_queue,
	.link = vib_trunk_link_changed,
	.release = trunk_release,
};

/* It has whatever the real ports at both ends may agree on. */
static int trunk_init_node(struct vib_trunk *trunk)
{
	const struct vib_node_attr attr = {
		.name = "trunk",
		.num_ports = VIB_TRUNK_NET,
		.pkeys = 1,
		.guids = 1,
		.data_vls = 15,
		.mtu = IB_MTU_4096,
	};
	struct vib_port *far;
	int ret;

	ret = vib_node_init(&trunk->node, RDMA_NODE_UNSPECIFIED, &trunk_ops, &attr);
	if (ret)
		return ret;
	/* A link that goes down, for whatever reason, waits for the handshake. */
	far = vib_trunk_far(trunk);
	far->info.portphysstate_linkdown = IB_PORT_PHYS_STATE_DISABLED;
	far->phys_state = IB_PORT_PHYS_STATE_DISABLED;
	vib_trunk_net(trunk)->tx.returned = vib_trunk_returned;
	return 0;
}

static void trunk_init(struct vib_trunk *trunk, const struct vib_trunk_attr *attr)
{
	unsigned int vl;

	trunk->peer = attr->peer;
	trunk->interval = attr->interval;
	spin_lock_init(&trunk->lock);
	vib_trunk_session_init(&trunk->session);
	for (vl = 0; vl < VIB_VLS; vl++)
		INIT_LIST_HEAD(&trunk->queue[vl]);
	INIT_WORK(&trunk->receive, vib_trunk_receive_work);
	INIT_WORK(&trunk->send, vib_trunk_send_work);
	INIT_DELAYED_WORK(&trunk->tick, vib_trunk_tick_work);
	INIT_DELAYED_WORK(&trunk->probe, vib_trunk_probe_work);
}

/* The peer is one host, and of the family of the local address. */
static bool addresses_ok(const struct sockaddr_storage *local,
			 const struct sockaddr_storage *peer)
{
	const struct sockaddr_in *in = (const void *)peer;
	const struct sockaddr_in6 *in6 = (const void *)peer;

	if (local->ss_family != peer->ss_family)
		return false;
	if (peer->ss_family == AF_INET)
		return in->sin_port && in->sin_addr.s_addr &&
		       !ipv4_is_multicast(in->sin_addr.s_addr) &&
		       !ipv4_is_lbcast(in->sin_addr.s_addr);
	return peer->ss_family == AF_INET6 && in6->sin6_port &&
	       !ipv6_addr_any(&in6->sin6_addr) && !ipv6_addr_is_multicast(&in6->sin6_addr);
}

struct vib_trunk *vib_trunk_open(struct vib_fabric *fabric, const struct vib_trunk_attr *attr)
{
	struct vib_trunk *trunk;
	int ret;

	if (!addresses_ok(&attr->local, &attr->peer) ||
	    attr->interval < VIB_TRUNK_MIN_INTERVAL || attr->interval > VIB_TRUNK_MAX_INTERVAL)
		return ERR_PTR(-EINVAL);
	trunk = kzalloc(sizeof(*trunk), GFP_KERNEL);
	if (!trunk)
		return ERR_PTR(-ENOMEM);
	trunk->rx_buf = kmalloc(VIB_TRUNK_MAX_MSG + 1, GFP_KERNEL);
	trunk->tx_buf = kmalloc(VIB_TRUNK_MAX_MSG, GFP_KERNEL);
	ret = trunk->rx_buf && trunk->tx_buf ? trunk_init_node(trunk) : -ENOMEM;
	if (ret)
		goto err_free;
	trunk_init(trunk, attr);
	trunk->node.fabric = fabric;
	vib_link_init(&trunk->link, fabric);
	trunk->net = get_net(attr->net);
	ret = vib_trunk_bind(trunk, &attr->local);
	if (!ret)
		return trunk;
	put_net(trunk->net);
	trunk_release(&trunk->node);
	return ERR_PTR(ret);

err_free:
	kfree(trunk->rx_buf);
	kfree(trunk->tx_buf);
	kfree(trunk);
	return ERR_PTR(ret);
}

int vib_trunk_plug(struct vib_trunk *trunk, struct vib_port *port)
{
	int ret = vib_link_plug(&trunk->link, port, vib_trunk_far(trunk));

	if (!ret)
		mod_delayed_work(vib_trunk_wq, &trunk->tick, 0);
	return ret;
}

/*
 * Why nothing runs for the trunk afterwards: (1) its link is unplugged, so no packet is queued
 * and link() is not called; if the link was up, the HELLO by which the peer's link goes down is
 * sent before send is disabled; (2) the socket does not queue receive any more; (3) all works
 * have ended and stay disabled, so whoever queues one, as a packet that gives its credits back
 * may, queues nothing; (4) none of them uses the socket then, which is closed here: the address
 * is free, though packets may hold the node; (5) the queues are empty, since link() took what
 * was in them, and nothing was added.  What is left is memory, for trunk_release().
 */
void vib_trunk_close(struct vib_trunk *trunk)
{
	vib_link_unplug(&trunk->link);
	flush_work(&trunk->send);
	vib_trunk_unlisten(trunk);
	disable_delayed_work_sync(&trunk->tick);
	disable_delayed_work_sync(&trunk->probe);
	disable_work_sync(&trunk->receive);
	disable_work_sync(&trunk->send);
	sock_release(trunk->sock);
	put_net(trunk->net);
	vib_node_remove(&trunk->node);
}
