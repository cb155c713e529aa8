/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_MGMT_NODE_H
#define VIB_MGMT_NODE_H

/*
 * Nodes for the suites of the agents: an adapter that keeps what it receives and which events
 * it is told of, and switches whose ports are joined to such adapters without a link.
 */
#include <kunit/test.h>
#include "mgmt/mgmt.h"
#include "switch/switch.h"

struct mgmt_node {
	struct vib_node node;
	unsigned long events;		/* bits of enum ib_event_type */
	unsigned int packets;		/* received */
	/* Of the last one */
	struct ib_header hdr;
	u8 vl, port;
	union {
		struct ib_mad mad;
		struct ib_smp smp;
	};
};

/* An adapter of @ports; undone at the test's end. */
struct mgmt_node *mgmt_node_new(struct kunit *test, u8 ports);
/* A switch of @ports, likewise. */
struct vib_switch *mgmt_switch_new(struct kunit *test, u8 ports);
/* Both ports are up, in @state, and have each other as their peers. */
void mgmt_join(struct vib_port *a, struct vib_port *b, enum ib_port_state state);

/* An SMP of class 0x01. */
void mgmt_smp(struct ib_smp *smp, u8 method, __be16 attr, u32 mod);
/* Has the SMA of @port handle @smp; the MAD status of @out, or -1 if there is no response. */
int mgmt_sma(struct vib_port *port, const struct ib_smp *smp, struct ib_smp *out);

struct mgmt_addr {
	u8 vl;
	u16 dlid, slid;
	u32 dqp, sqp;
	u16 pkey;
	u32 qkey;
};

/* A datagram with @mad. */
struct vib_packet *mgmt_packet(struct kunit *test, const void *mad,
			       const struct mgmt_addr *addr);
/* The node of @port receives @pkt by it. */
void mgmt_arrive(struct vib_port *port, struct vib_packet *pkt);

#endif
