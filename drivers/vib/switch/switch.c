// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Switches: made, and what becomes of them. */
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "mgmt/mgmt.h"
#include "switch/switch.h"

static void switch_free(struct vib_switch *sw)
{
	vfree(sw->lft);
	vfree(sw->mft);
	kvfree(sw->sl_to_vl);
	kfree(sw);
}

static void switch_release(struct vib_node *node)
{
	vib_node_cleanup(node);
	switch_free(to_vib_switch(node));
}

/* A link of its that comes up or goes down is what a subnet manager looks for (14.2.5.4). */
static void switch_link(struct vib_port *port, bool up)
{
	WRITE_ONCE(to_vib_switch(port->node)->port_changed, true);
	vib_trap_link_state(port->node);
}

static const struct vib_node_ops switch_ops = {
	.receive = vib_switch_receive,
	.link = switch_link,
	.release = switch_release,
};

struct vib_switch *vib_switch_create(const struct vib_node_attr *attr)
{
	unsigned int i, ports = attr->num_ports + 1, pairs = ports * ports;
	struct vib_switch *sw;
	int ret;

	sw = kzalloc(sizeof(*sw), GFP_KERNEL);
	if (!sw)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&sw->lock);
	sw->mft_longs = BITS_TO_LONGS(ports);
	sw->lft = vmalloc(VIB_LID_MCAST);
	sw->mft = vzalloc(array3_size(VIB_MFT_SIZE, sw->mft_longs, sizeof(long)));
	sw->sl_to_vl = kvcalloc(pairs, sizeof(*sw->sl_to_vl), GFP_KERNEL);
	if (!sw->lft || !sw->mft || !sw->sl_to_vl) {
		switch_free(sw);
		return ERR_PTR(-ENOMEM);
	}
	memset(sw->lft, VIB_NO_PORT, VIB_LID_MCAST);
	sw->lft_top = VIB_LID_MCAST - 1;
	for (i = 0; i < pairs * 16; i++)
		sw->sl_to_vl[i / 16][i % 16] = i % 8;
	ret = vib_node_init(&sw->node, RDMA_NODE_IB_SWITCH, &switch_ops, attr);
	if (ret) {
		switch_free(sw);
		return ERR_PTR(ret);
	}
	return sw;
}

void vib_switch_destroy(struct vib_switch *sw)
{
	switch_release(&sw->node);
}
