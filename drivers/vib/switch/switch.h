/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_SWITCH_H
#define VIB_SWITCH_H

/* Switches (IBA vol. 1, 18.2): forwarding by the tables that a subnet manager writes. */
#include "fabric/fabric.h"

#define VIB_LFT_BLOCK	64	/* entries that one SMP reads or writes */
#define VIB_MFT_BLOCK	32
#define VIB_MFT_SIZE	1024	/* multicast LIDs a switch knows */
#define VIB_NO_PORT	255

/* PortInfo's PartitionEnforcementInbound and -Outbound */
#define VIB_PEI		BIT(3)
#define VIB_PEO		BIT(2)

struct vib_switch {
	struct vib_node node;
	spinlock_t lock;	/* the tables' writers; packets read entries without it */
	u8 *lft;		/* VIB_LID_MCAST entries: a port, or VIB_NO_PORT */
	/* A bit a port for each multicast LID: mft[lid * longs + ...] */
	unsigned long *mft;
	u16 mft_longs;
	u16 lft_top;		/* LinearFDBTop; lock */
	u8 (*sl_to_vl)[16];	/* [in * (num_ports + 1) + out] */
	u8 life;		/* SwitchInfo's LifeTimeValue; lock */
	u8 mcast_primary, mcast_secondary;	/* default multicast ports; lock */
	bool port_changed;	/* SwitchInfo's PortStateChange; lock */
};

static inline struct vib_switch *to_vib_switch(struct vib_node *node)
{
	return container_of(node, struct vib_switch, node);
}

struct vib_switch *vib_switch_create(const struct vib_node_attr *attr);
/* Of one that is in no fabric. */
void vib_switch_destroy(struct vib_switch *sw);
void vib_switch_receive(struct vib_port *in, struct vib_packet *pkt);
/* A MAD for the agents behind port 0 that came in by @in; agent.c.  Consumes @pkt. */
void vib_switch_agent(struct vib_switch *sw, struct vib_port *in, struct vib_packet *pkt);
/* The VL by which a packet of @sl leaves by @out that came in by @in; 15: it does not. */
u8 vib_switch_vl(const struct vib_switch *sw, u8 in, u8 out, u8 sl);

#endif
