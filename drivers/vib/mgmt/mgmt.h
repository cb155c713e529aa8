/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_MGMT_H
#define VIB_MGMT_H

/* Agents of a node: subnet management (IBA vol. 1, 14), performance management (16.1). */
#include "fabric/fabric.h"

struct vib_switch;

/* What NodeInfo reports; the vendor ID is in the range for local administration. */
#define VIB_VENDOR_ID	0x020000
#define VIB_DEVICE_ID	0x7662
#define VIB_HW_REVISION	1

enum vib_mad_result {
	VIB_MAD_REPLY,		/* @out is the response */
	VIB_MAD_DROP,		/* none is due, such as for a wrong M_Key */
	VIB_MAD_HOST,		/* not the agent's: SMInfo, responses, other classes */
};

/* ---- sma.c ---- */

/*
 * Handles a SubnGet, SubnSet or SubnTrapRepress that arrived at @port; of a switch this is
 * the port by which the SMP came in.  @out becomes the response; DR fields and hop pointer
 * are as in @in.  Softirq or process context.
 */
enum vib_mad_result vib_sma_handle(struct vib_port *port, const struct ib_smp *in,
				   struct ib_smp *out);
/* The same for an SMP whose packet was sent by @slid, which trap 256 reports. */
enum vib_mad_result vib_sma_receive(struct vib_port *port, u16 slid,
				    const struct ib_smp *in, struct ib_smp *out);

/* ---- sma_port.c ---- */

/* PortInfo's CapabilityMask: the bits of port->info and those of the SMA itself. */
u32 vib_port_cap_mask(const struct vib_port *port);

/* ---- pma.c ---- */

/*
 * Handles a PerformanceGet or Set as vib_sma_handle() does; PortSelect chooses one of the
 * ports of @port's node.
 */
enum vib_mad_result vib_pma_handle(struct vib_port *port, const struct ib_mad *in,
				   struct ib_mad *out);

/* ---- smp_route.c ---- */

/*
 * SMPs with a directed route that have arrived at @port of a switch (14.2.2): sends the SMP
 * on, or has the switch's SMA handle it.  Consumes @pkt.
 */
void vib_smp_route(struct vib_port *port, struct vib_packet *pkt);

enum vib_smp_verdict {
	VIB_SMP_DISCARD,
	VIB_SMP_LOCAL,		/* for this node's SMA, or for its SM */
	VIB_SMP_SEND,		/* out of port @out */
	VIB_SMP_LID,		/* the directed part is over: on to LID @lid */
};

struct vib_smp_next {
	enum vib_smp_verdict verdict;
	u8 out;
	u16 lid;
};

/*
 * Decides what a switch does with a directed-route SMP that came in by port @in (14.2.2.2,
 * 14.2.2.4).  Advances the hop pointer and records the return path.
 */
struct vib_smp_next vib_smp_hop(const struct vib_node *node, u8 in, struct ib_smp *smp);

/*
 * The MAD of @pkt, in memory that only @pkt refers to: it may be changed.  NULL if @pkt is
 * not a single UD packet of 256 bytes, or without memory.
 */
void *vib_mad_own(struct vib_packet *pkt);
/* Makes @mad, of 256 bytes, what @pkt carries.  Takes over the reference on @mad. */
void vib_mad_replace(struct vib_packet *pkt, struct vib_payload *mad);

/* ---- switch/agent.c ---- */

/*
 * The response of the switch's SMA or PMA to the MAD @in, whose packet came from @slid by
 * port @port; NULL if there is none, which is counted if no memory or no agent is the reason.
 */
struct vib_payload *vib_switch_answer(struct vib_port *port, u16 slid,
				      const struct ib_mad *in);
/* Sends @answer in @pkt, which brought the request, to the requester.  Consumes both. */
void vib_switch_reply(struct vib_port *port, struct vib_packet *pkt,
		      struct vib_payload *answer);

/* ---- trap.c ---- */

/*
 * Sends a trap's Notice to the subnet manager of @port's node, and repeats it until it is
 * repressed, at least SubnetTimeOut apart (14.3.8, 13.4.9).  Fills in the producer type and
 * issuer LID.  Any context but hard interrupt; the caller may hold any lock of the fabric.
 */
void vib_trap(struct vib_port *port, const struct ib_mad_notice_attr *notice);
/* A SubnTrapRepress has arrived: stops repeating the trap of @node with this TID. */
void vib_trap_repress(struct vib_node *node, __be64 tid);

/* Trap 128: a link of the switch has come up or gone down. */
void vib_trap_link_state(struct vib_node *node);
/* Traps 129 to 131: local link integrity, buffer overrun, flow control watchdog. */
void vib_trap_link_error(struct vib_port *port, __be16 trap);
/* Trap 144: CapabilityMask has changed, or what @flags (IB_NOTICE_TRAP_*_CHG) name. */
void vib_trap_local_change(struct vib_port *port, u8 flags);
/* Trap 256: @smp, from @slid, did not have the M_Key of @port. */
void vib_trap_bad_mkey(struct vib_port *port, const struct ib_smp *smp, u16 slid);
/*
 * A packet that arrived at @port has a P_Key or Q_Key that does not match: counts the
 * violation and sends trap 257 or 258, or 259 for an external port of a switch.
 */
void vib_bad_pkey(struct vib_port *port, struct vib_packet *pkt);
void vib_bad_qkey(struct vib_port *port, struct vib_packet *pkt);

/* ---- state.c ---- */

/* The agents' state of @port, or NULL without memory. */
struct vib_mgmt *vib_mgmt_alloc(struct vib_port *port);
/*
 * Of a port that no packet and no owner uses any more: ends the work that repeats its traps,
 * which uses other ports of the node.  May sleep.  NULL is allowed, as below.
 */
void vib_mgmt_stop(struct vib_mgmt *mgmt);
/* After vib_mgmt_stop() of all ports of the node. */
void vib_mgmt_free(struct vib_mgmt *mgmt);

#endif
