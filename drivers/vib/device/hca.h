/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_HCA_H
#define VIB_HCA_H

/*
 * Channel adapters: the RDMA device that consumers see, and its objects.
 *
 * Lock order, outermost first:
 *	vib_hca.lock		who has QP0 and QP1, members of multicast groups; a mutex
 *	vib_qp.lock		a queue pair's state and attributes; bottom halves off
 *	  vib_qp.sq_lock	producers of its send queue; interrupts off
 *	    vib_rq.lock		producers of its receive queue; interrupts off
 *	vib_srq.lock		consumers of a shared receive queue; bottom halves off
 *	  vib_rq.lock		its producers; interrupts off
 *	vib_qp.rx_lock		packets that it has yet to take in; bottom halves off
 *	vib_cq.lock		a completion queue; interrupts off
 * The last two are not held while another lock is taken.  Posting a datagram reads its memory
 * with vib_qp.sq_lock held, under vib_key.lock (memory/key.h).  Consumers post, poll and arm
 * with interrupts off as well as on, hence the locks that these take have interrupts off.  No
 * lock of a queue pair is held while a packet is sent.
 */
#include <linux/mutex.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include "fabric/fabric.h"

struct vib_qp_ref;

/* What a port's adapter drops for itself, beside what the port counts (vib_counter). */
enum vib_drop {
	VIB_DROP_LID,		/* to another port's LID */
	VIB_DROP_GRH,		/* bad GRH, or not one of the port's GIDs */
	VIB_DROP_QP,		/* no such QP, or not in a state that receives */
	VIB_DROP_OPCODE,	/* one that the QP's type does not take */
	VIB_DROP_PKEY,
	VIB_DROP_QKEY,
	VIB_DROP_MEMBER,	/* multicast, and no QP is a member that takes it */
	VIB_DROP_LENGTH,	/* a MAD that is not 256 bytes long */
	VIB_DROP_NO_RECEIVE,	/* no receive request was posted */
	VIB_DROP_BACKLOG,	/* without link credits, for a QP that lags behind */
	VIB_DROP_NO_MEMORY,
	VIB_DROP_SEND_PKEY,	/* to be sent by an empty entry of the P_Key table */
	VIB_DROP_PATH,		/* not from where a connected QP's path leads to */
	VIB_DROP_RESPONSE,	/* late, twice, or to no request at all (9.7.6.2) */
	VIB_DROP_SEQUENCE,	/* a request before which packets are missing (9.7.4.1.2) */
	VIB_DROP_REQUEST,	/* of UC, not valid; of RC, no duplicate of a request */
	VIB_DROPS
};

/* What connected QPs of a port have had to do beside sending and receiving. */
enum vib_rc_event {
	VIB_RC_TIMEOUT,		/* the retry timer was over */
	VIB_RC_SEQ_NAK,		/* came: the responder missed a packet */
	VIB_RC_IMPLIED_NAK,	/* a response was missed */
	VIB_RC_RNR_NAK,		/* came: the responder was not ready */
	VIB_RC_MIGRATED,	/* to the alternate path */
	VIB_RC_DUPLICATE,	/* a request came again (9.7.5.1.3) */
	VIB_RC_SENT_SEQ_NAK,	/* a request was missed */
	VIB_RC_SENT_RNR_NAK,	/* no receive request was posted */
	VIB_RC_SENT_ERROR_NAK,	/* a request failed */
	VIB_RC_EVENTS
};

/* What an adapter has for each port beside the node's struct vib_port. */
struct vib_ca_port {
	struct vib_qp_ref __rcu *special[2];	/* QP0, QP1; written under hca->lock */
	atomic64_t drops[VIB_DROPS];
	atomic64_t rc_events[VIB_RC_EVENTS];
};

struct vib_hca {
	struct ib_device ib;
	struct vib_node node;
	struct vib_ca_port *ports;	/* [0 to node.num_ports]; [0] is not used */
	struct mutex lock;
	struct xarray qps;		/* number -> vib_qp_ref; lookups under RCU */
	u32 next_qpn;			/* for xa_alloc_cyclic() */
	struct xarray groups;		/* MLID -> vib_group, mcast.c; lookups under RCU */
	struct xarray srqs;		/* number -> vib_srq_ref of XRC; lookups under RCU */
	u32 next_srqn;			/* for xa_alloc_cyclic() */
	struct xarray keys;		/* index -> vib_key, memory/; lookups under RCU */
	u32 next_key;			/* for xa_alloc_cyclic() */
	bool registered;		/* events are passed on; READ_ONCE under RCU */
};

static inline struct vib_hca *to_vib_hca(struct ib_device *ibdev)
{
	return container_of(ibdev, struct vib_hca, ib);
}

static inline struct vib_hca *vib_port_hca(const struct vib_port *port)
{
	return container_of(port->node, struct vib_hca, node);
}

static inline struct vib_ca_port *vib_ca_port(const struct vib_port *port)
{
	return &vib_port_hca(port)->ports[port->num];
}

/* Whether @lid is one of the 2^LMC LIDs of @port (IBA vol. 1, 4.1.3). */
static inline bool vib_port_has_lid(const struct vib_port *port, u16 lid)
{
	u16 base = READ_ONCE(port->lid);

	return base && !((base ^ lid) >> READ_ONCE(port->lmc));
}

/* An entry of the port's P_Key table; 0, which is no P_Key, beyond it. */
static inline u16 vib_port_pkey(const struct vib_port *port, u16 index)
{
	return index < port->node->pkeys ? be16_to_cpu(READ_ONCE(port->pkeys[index])) : 0;
}

static inline bool vib_lid_is_mcast(u16 lid)
{
	return lid >= VIB_LID_MCAST && lid != VIB_LID_PERMISSIVE;
}

/* ---- hca.c ---- */

/* An adapter that is in no fabric; or ERR_PTR: -ENOMEM, -EINVAL. */
struct vib_hca *vib_hca_create(const struct vib_node_attr *attr);
/* Of one that is in no fabric. */
void vib_hca_destroy(struct vib_hca *hca);
/*
 * The parent of all RDMA devices, in the place of the PCI device that an adapter of hardware
 * has: some ULPs take it for granted, such as IPoIB when ethtool(8) asks for the bus.
 */
extern struct device *vib_parent;

/*
 * Shows the adapter, whose node is in a fabric, to consumers.  On error the caller removes
 * the node.  May sleep.
 */
int vib_hca_register(struct vib_hca *hca);
/* Before vib_node_remove(): returns when no consumer uses the adapter.  May sleep. */
void vib_hca_unregister(struct vib_hca *hca);

/* ---- port.c ---- */
extern const struct ib_device_ops vib_port_ops;

/* ---- rx.c: packets that arrive ---- */

/* The node's receive(). */
void vib_hca_receive(struct vib_port *port, struct vib_packet *pkt);
/*
 * Sends @pkt, which is finished, from @port of an adapter: as vib_port_xmit(), but what is
 * for a LID of @port itself, or for a multicast group with members here, is received here
 * as well (IBA vol. 1, 17.2).  Softirq or process context.
 */
void vib_hca_xmit(struct vib_port *port, struct vib_packet *pkt);
/* Counts @pkt as dropped for @why, and frees it. */
void vib_drop(struct vib_port *port, struct vib_packet *pkt, enum vib_drop why);

/* ---- mad.c, counters.c ---- */
extern const struct ib_device_ops vib_mad_ops;
extern const struct ib_device_ops vib_counter_ops;

#endif
