/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_FABRIC_H
#define VIB_FABRIC_H

/*
 * Fabrics: nodes, their ports, and the links between them.
 *
 * Lock order, outermost first:
 *	vib_fabric.lock		nodes and links; what is plugged into what
 *	vib_trunk.lock		of a trunk (trunk/trunk.h)
 *	vib_port.lock		attributes of a port, which the SMA reads and writes
 *	vib_tx.lock		queues and credits of a port's transmitter
 *	vib_fault.lock		faults of a link, and the packets that are late by them
 * The last four are taken with bottom halves off.  Packets move under RCU alone: from a port
 * to its peer, and to the node the peer is of.
 */
#include <linux/mutex.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <rdma/ib_smi.h>
#include <ibex/compat/kernel.h>
#include <ibex/compat/verbs.h>
#include <ibex/compat/work.h>
#include "capture/capture.h"
#include "fabric/fault.h"
#include "packet/packet.h"

#define VIB_GID_PREFIX	0xfe80000000000000ULL	/* link-local, of a subnet without a manager */
#define VIB_VLS		16
#define VIB_MAX_PORTS	254	/* of a switch; 255 is "no port" in a forwarding table */
#define VIB_MAX_HOPS	64	/* links a packet may pass: more is a loop */
/* Room for each VL at the receiving end, in blocks: 16 packets of the largest MTU. */
#define VIB_VL_CREDITS	(16 * 68)

struct vib_port;
struct vib_mgmt;

/* ---- port.c: what a port is and does ---- */

enum vib_counter {
	VIB_XMIT_DATA,		/* in units of 4 bytes */
	VIB_RCV_DATA,
	VIB_XMIT_PKTS,
	VIB_RCV_PKTS,
	VIB_UCAST_XMIT_PKTS,
	VIB_UCAST_RCV_PKTS,
	VIB_MCAST_XMIT_PKTS,
	VIB_MCAST_RCV_PKTS,
	VIB_XMIT_DISCARDS,	/* port down, too long for the neighbour, or HOQ lifetime */
	VIB_XMIT_CONSTRAINT_ERRORS,
	VIB_RCV_CONSTRAINT_ERRORS,	/* P_Key of another partition at a switch */
	VIB_RCV_ERRORS,		/* malformed */
	VIB_RCV_DISCARDS,	/* the port's state does not let it in; no agent for it */
	VIB_RCV_REMPHYS_ERRORS,
	VIB_RCV_SWITCH_RELAY_ERRORS,	/* no route */
	VIB_VL15_DROPPED,
	VIB_XMIT_WAIT,		/* packets that found no credit */
	VIB_LINK_DOWNED,
	VIB_LINK_RECOVERY,
	VIB_SYMBOL_ERRORS,
	VIB_COUNTERS
};

struct vib_port_counters {
	u64 count[VIB_COUNTERS];
};

/*
 * The sending half of a port, and the credits it has of the buffer at the other end of its
 * link.  A packet keeps the credits until it has left that buffer: for the next link, or for
 * the queue pair it is for.
 */
struct vib_tx {
	struct vib_port *port;
	spinlock_t lock;			/* with bottom halves off */
	struct list_head queue[VIB_VLS];	/* no credits; in order.  lock */
	u32 queued[VIB_VLS];			/* packets in each; lock */
	u32 total;				/* in all of them; lock */
	u8 last_vl;				/* the data VL that had its turn; lock */
	bool working;				/* the work delivers a packet; lock */
	u32 credits[VIB_VLS];			/* blocks; lock */
	u32 era;				/* of the link: credits of one before are void */
	struct list_head waiters;		/* of vib_waiter; lock */
	struct work_struct work;		/* sends what is queued */
	struct timer_list lifetime;		/* armed while packets are queued */
	/* Of the link, for all that is sent; NULL: it has no faults.  vib_fault.lock */
	struct vib_fault_way __rcu *fault;
	/*
	 * Told, with lock held, of @blocks that have come back.  NULL, or fixed before a packet
	 * holds credits.
	 */
	void (*returned)(struct vib_tx *tx, u8 vl, u16 blocks);
};

/* Who has more to send than a transmitter takes: its work is queued when there is room. */
struct vib_waiter {
	struct list_head entry;		/* empty: does not wait; tx->lock */
	u8 vl;				/* that it has more for; tx->lock */
	struct work_struct *work;
};

struct vib_port {
	struct vib_node *node;
	u8 num;
	struct vib_port __rcu *peer;	/* at the other end of the link, while it is up */
	struct vib_link __rcu *link;	/* plugged in; written under fabric->lock */
	struct vib_tx tx;
	struct vib_port_counters __percpu *counters;
	struct vib_mgmt *mgmt;		/* of the agents, mgmt/state.h; fixed */

	/*
	 * Attributes, as PortInfo has them (IBA vol. 1, 14.2.5.6), written under lock.
	 * Packets look at those that have a field of their own, without the lock.
	 */
	spinlock_t lock;
	struct ib_port_info info;
	u8 state;			/* enum ib_port_state */
	u8 phys_state;			/* enum ib_port_phys_state */
	u8 lmc;
	u8 mtu;				/* enum ib_mtu: what the neighbour takes */
	u8 op_vls;			/* data VLs in use */
	u16 lid;			/* base LID; of a switch: port 0 */
	u16 sm_lid;
	u8 sm_sl;
	u8 sl_to_vl[16];		/* a CA's; a switch has them by input port */
	__be16 *pkeys;			/* node->pkeys of them */
	__be64 *guids;			/* node->guids of them; [0] is fixed */
	struct ib_vl_weight_elem vl_high[32], vl_low[32];
	unsigned long mkey_expires;	/* jiffies; 0: no lease runs */

	/* enum ib_port_phys_state that a manager asked for, until @leave does it; or 0 */
	u8 leave_to;
	struct delayed_work leave;
};

static inline void vib_count(struct vib_port *port, enum vib_counter which, u64 n)
{
	this_cpu_add(port->counters->count[which], n);
}

u64 vib_port_counter(const struct vib_port *port, enum vib_counter which);

/*
 * Sends @pkt, which is finished (vib_packet_finish()), by the link of @port: at once, or when
 * there are credits for it.  Discards it where the port's state, its neighbour's MTU or
 * the absence of a link forbids it.  Softirq or process context.
 */
void vib_port_xmit(struct vib_port *port, struct vib_packet *pkt);
/*
 * Whether @port takes another packet of a queue pair for @vl.  If not, @waiter's work is
 * queued once it does.  vib_port_forget() takes it off.
 */
bool vib_port_ready(struct vib_port *port, u8 vl, struct vib_waiter *waiter);
void vib_port_forget(struct vib_port *port, struct vib_waiter *waiter);
/*
 * @pkt, which @tx has sent, has come to the other end of the link, @peer.  Consumes @pkt.
 * Softirq or with bottom halves off, under RCU, as @peer was found.
 */
void vib_tx_arrive(struct vib_tx *tx, struct vib_port *peer, struct vib_packet *pkt);
/*
 * For a transmitter whose packets come from elsewhere, by a trunk: the credits of @vl, and
 * whether there are enough for @pkt, which holds them then.
 */
u32 vib_tx_room(struct vib_tx *tx, u8 vl);
bool vib_tx_admit(struct vib_tx *tx, struct vib_packet *pkt);
/* A packet has left the buffer in which it had @blocks since @era; packet.c. */
void vib_tx_credit(struct vib_tx *tx, u8 vl, u16 blocks, u32 era);
void vib_tx_init(struct vib_tx *tx, struct vib_port *port);
/*
 * Discards what is queued; the next link begins with all credits.  The port has no peer,
 * and whoever saw one has gone on.
 */
void vib_tx_reset(struct vib_tx *tx);
/* After the last reset.  May sleep. */
void vib_tx_stop(struct vib_tx *tx);

/* Whether @port in its present state sends @pkt: the length, too. */
bool vib_port_passes(const struct vib_port *port, const struct vib_packet *pkt);
/* Whether its state lets @pkt in (7.2.7). */
bool vib_port_takes(const struct vib_port *port, const struct vib_packet *pkt);
/*
 * Whether @gid is one of the port's, by the subnet's prefix or the link-local one, which is
 * always valid (4.1.1).
 */
bool vib_port_has_gid(const struct vib_port *port, const union ib_gid *gid);
/* A data packet has come in: an armed port becomes active by it (7.2.7.4). */
void vib_port_saw_data(struct vib_port *port);

/*
 * Port states (IBA vol. 1, 7.2.7): Armed and Active.  -EINVAL for one that cannot follow
 * the present one.
 */
int vib_port_set_state(struct vib_port *port, enum ib_port_state state);
/*
 * Sleep, Polling or Disabled; -EINVAL for another.  The link goes down, and the neighbour
 * leaves LinkUp, too; in Polling the link comes up again.
 */
int vib_port_set_phys(struct vib_port *port, enum ib_port_phys_state state);
/*
 * As vib_port_set_phys(), once the port has sent its next SMP or 100 ms are over: the response
 * to who asks for it would be lost with the link otherwise.  Any context but hard interrupt.
 */
void vib_port_leave(struct vib_port *port, enum ib_port_phys_state state);
/* The port has sent an SMP. */
void vib_port_sent_smp(struct vib_port *port);
void vib_port_leave_work(struct work_struct *work);
/* The index of @pkey in the port's table, full or limited members alike; or -1. */
int vib_port_find_pkey(const struct vib_port *port, u16 pkey);

/*
 * Of link.c, under fabric->lock, in this order: whether both ends have a width and a speed in
 * common; the link to @peer comes up, before either has the other as its peer (false: @port is
 * not polling any more); that is undone, since the other end is not polling; the link goes
 * down, and @port has no peer any more; the node is told.
 */
bool vib_ports_agree(const struct vib_port *a, const struct vib_port *b);
bool vib_port_link_up(struct vib_port *port, const struct vib_port *peer);
void vib_port_link_undo(struct vib_port *port);
void vib_port_link_down(struct vib_port *port);
void vib_port_link_changed(struct vib_port *port, bool up);

/* ---- node.c ---- */

struct vib_node_ops {
	/*
	 * A packet has arrived at @port, which is up.  Softirq or with bottom halves off,
	 * under RCU; on several processors at once.
	 */
	void (*receive)(struct vib_port *port, struct vib_packet *pkt);
	/* The port's state or an attribute has changed; process context or softirq. */
	void (*event)(struct vib_port *port, enum ib_event_type event);
	/* The port's link has come up or gone down; process context, fabric->lock. */
	void (*link)(struct vib_port *port, bool up);
	/* No packet holds credits of the removed node any more; process context. */
	void (*release)(struct vib_node *node);
};

struct vib_node {
	struct vib_fabric *fabric;
	struct list_head entry;		/* fabric->nodes; fabric->lock */
	const char *name;		/* in the topology, such as "ca0" */
	const struct vib_node_ops *ops;
	struct percpu_ref ref;		/* the owner's, and each packet's with its credits */
	struct work_struct free;
	u8 type;			/* RDMA_NODE_IB_CA or _SWITCH, as in NodeInfo */
	u8 num_ports;			/* beside a switch's port 0 */
	u16 pkeys;			/* entries of each P_Key table */
	u8 guids;			/* entries of each GUID table */
	__be64 guid, sys_guid;
	char desc[IB_DEVICE_NODE_DESC_MAX];	/* desc_lock */
	spinlock_t desc_lock;
	struct vib_port *ports;		/* [0 to num_ports]; a CA does not use 0 */
};

/* What a node is made from; zeroes are replaced by defaults. */
struct vib_node_attr {
	const char *name;
	u8 num_ports;
	u16 pkeys;
	u8 guids;
	u8 data_vls;
	enum ib_mtu mtu;
	__be64 guid;
	__be64 sys_guid;		/* 0: guid */
	const char *desc;		/* NULL: name */
};

/* Fills in @node; 0, -ENOMEM, or -EINVAL. */
int vib_node_init(struct vib_node *node, u8 type, const struct vib_node_ops *ops,
		  const struct vib_node_attr *attr);
/* Frees what vib_node_init() allocated: the node was never added, or is being released. */
void vib_node_cleanup(struct vib_node *node);
/* -EEXIST: the fabric has a node of that name or GUID. */
int vib_node_add(struct vib_fabric *fabric, struct vib_node *node);
/*
 * Unplugs the node's links, takes it out of the fabric and drops the owner's reference.  On
 * return nothing calls its receive() or event(); release() follows.  May sleep.
 */
void vib_node_remove(struct vib_node *node);

/* ---- link.c ---- */

struct vib_link {
	struct vib_fabric *fabric;
	struct list_head entry;		/* fabric->links; fabric->lock */
	struct vib_port *end[2];
	bool up;			/* fabric->lock */
	bool cut;			/* like a pulled cable; fabric->lock */
	struct vib_captured captured;
	struct vib_fault fault;
	struct work_struct train;
};

void vib_link_init(struct vib_link *link, struct vib_fabric *fabric);
/*
 * Under fabric->lock.  -EBUSY: one of the ports has a link; -EINVAL: both are one port, or
 * one is a switch's port 0.
 */
int vib_link_plug(struct vib_link *link, struct vib_port *a, struct vib_port *b);
/* Takes the link from its ports, if it has any; under fabric->lock. */
void vib_link_detach(struct vib_link *link);
/* The same; on return nothing uses the link, and its owner may free it. */
void vib_link_unplug(struct vib_link *link);
/* False: it never was, or a node that was removed has taken it. */
bool vib_link_is_plugged(struct vib_link *link);
/* Takes the link down as if the cable were pulled, or lets it come up again. */
void vib_link_cut(struct vib_link *link, bool cut);
/* @port has left LinkUp, or may come up again: its link looks at both ends.  Any context. */
void vib_link_train(struct vib_port *port);

/* ---- fabric.c ---- */

struct vib_fabric {
	struct vib_captured captured;
	struct mutex lock;		/* the two lists, and what is plugged into what */
	struct list_head nodes;
	struct list_head links;
};

void vib_fabric_init(struct vib_fabric *fabric);
/* The caller has removed all nodes and links. */
void vib_fabric_cleanup(struct vib_fabric *fabric);
/* Under fabric->lock. */
struct vib_node *vib_fabric_find(struct vib_fabric *fabric, const char *name);

/* What moves packets: in softirq context; and what frees nodes, which may sleep. */
extern struct workqueue_struct *vib_wq;
extern struct workqueue_struct *vib_free_wq;

#endif
