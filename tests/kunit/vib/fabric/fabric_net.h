/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_FABRIC_NET_H
#define VIB_FABRIC_NET_H

/*
 * Fabrics for the suites of packets, ports, links and switches: adapters that keep each packet
 * that arrives, and with it its credits, until the test takes it; real switches; real links.
 *
 * At the test's end everything is removed.  A node that is not released then, because a packet
 * still refers to it, fails the test.
 */
#include <kunit/test.h>
#include "fabric/fabric.h"
#include "switch/switch.h"

#define FAB_NODES	10
#define FAB_LINKS	10
#define FAB_VLS		8	/* data VLs of each port, from 0 */
/* A HOQLife without limit: nothing is discarded because a machine is slow. */
#define FAB_FOREVER	20

struct fab_node {
	struct vib_node *node;
	struct vib_switch *sw;		/* NULL: an adapter */
	unsigned int ups, downs;	/* calls of link() */
	unsigned int events[IB_EVENT_WQ_FATAL + 1];

	/* Of the fixture */
	struct vib_node own;		/* an adapter's */
	struct vib_node_ops ops;	/* of the node: those below, behind them @base */
	const struct vib_node_ops *base;
	spinlock_t lock;		/* of the next */
	struct list_head rx;		/* packets that have arrived, in order */
	bool removed, released;
};

struct fab {
	struct kunit *test;
	struct vib_fabric fabric;
	struct fab_node *nodes[FAB_NODES];
	unsigned int nr_nodes;
	struct vib_link links[FAB_LINKS];
	unsigned int nr_links;
	u32 full;			/* credits of a VL of a port that has sent nothing */
};

/* An empty fabric; undone at the test's end. */
struct fab *fab_new(struct kunit *test);
struct fab_node *fab_ca(struct fab *fab, u8 ports);
struct fab_node *fab_switch(struct fab *fab, u8 ports);
/* A link that is not plugged in. */
struct vib_link *fab_cable(struct fab *fab);
/* As vib_link_plug(); on return the link has had the time to come up. */
int fab_plug(struct fab *fab, struct vib_link *link, struct vib_port *a, struct vib_port *b);
/* A link that is plugged in and up: both ports are in Init. */
struct vib_link *fab_link(struct fab *fab, struct vib_port *a, struct vib_port *b);
/* Takes the ports of all links that are up from Init to Active. */
void fab_activate(struct fab *fab);
void fab_cut(struct fab *fab, struct vib_link *link, bool cut);
/* As vib_node_remove(); fab_released() then tells whether the node's release() was called. */
void fab_remove(struct fab_node *fn);
bool fab_released(struct fab_node *fn);

static inline struct vib_port *fab_port(struct fab_node *fn, u8 num)
{
	return &fn->node->ports[num];
}

/* What a packet is made from. */
struct fab_spec {
	u8 vl, sl;
	u16 dlid, slid, pkey;
	u32 dqp, sqp, qkey, psn;
	u16 len;			/* of the payload, whose bytes count up from 0 */
	const void *mad;		/* the payload instead, of 256 bytes */
	const union ib_gid *sgid, *dgid;	/* both: it has a GRH */
};

/* A datagram, finished. */
struct vib_packet *fab_packet(struct kunit *test, const struct fab_spec *spec);
/* The same, and vib_port_xmit() by @port. */
void fab_send(struct fab *fab, struct vib_port *port, const struct fab_spec *spec);

/* Lets the works of links and transmitters run until there is nothing left for them. */
void fab_wait_idle(struct fab *fab);
/* How many packets @fn has, once the works have run. */
unsigned int fab_count(struct fab *fab, struct fab_node *fn);
/* The oldest of them, which is the caller's then, or NULL. */
struct vib_packet *fab_take(struct fab *fab, struct fab_node *fn);
/* The PSN of the oldest, which is freed; 0 if there is none. */
u32 fab_take_psn(struct fab *fab, struct fab_node *fn);
void fab_drop(struct fab_node *fn);

/* Takes all credits of a VL away, or gives some back. */
void fab_starve(struct vib_port *port, u8 vl);
void fab_feed(struct vib_port *port, u8 vl, u16 blocks);
/* A counter summed up over all ports of the nodes that were not removed. */
u64 fab_sum(struct fab *fab, enum vib_counter which);

#endif
