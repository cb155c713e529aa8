/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_TRUNK_H
#define VIB_TRUNK_H

/*
 * Trunks: links whose far end is on another host, over UDP.
 *
 * A trunk is a node with two ports, which is in no list of its fabric and has no LID: a cable
 * with a buffer.  Port 1 (the far port) is plugged to the port of a real node by an ordinary
 * link.  It stands for the port at the other end: it polls while the peer is there and ready,
 * with that port's width and speed, and is disabled otherwise.  So the link trains and goes
 * down as others do.  A packet that the real port sends comes to the trunk's node, which
 * queues it until the peer has given credits for it, and sends it as a datagram.  Meanwhile
 * it holds the credits of the real port's transmitter.
 *
 * Port 2 (the net port) is never plugged in.  Its transmitter stands for the peer's: its
 * credits are the room in this end's buffer, which a packet that comes in by UDP holds until
 * the real node has room for it.  They are what the peer is told that it may send.
 *
 *	real port  <- link ->  far port (1)  trunk  net port (2)  <- UDP ->  the peer's trunk
 *
 * Three works, on vib_trunk_wq: receive takes in datagrams; send writes what is due; tick
 * sends HELLOs and sees whether the peer or the port has gone.  Sending may sleep, hence no
 * message is sent in softirq.
 *
 * vib_trunk.lock (bottom halves off) is taken inside fabric->lock.  Inside it are taken
 * port->lock and tx->lock.  No packet is freed and none is sent with it held.
 */
#include <linux/in6.h>
#include <linux/socket.h>
#include "trunk/flow.h"
#include "trunk/session.h"

#define VIB_TRUNK_FAR	1	/* ports of a trunk's node */
#define VIB_TRUNK_NET	2

/* Silence of so many of the peer's intervals takes the link down. */
#define VIB_TRUNK_SILENCE	5

enum vib_trunk_counter {
	VIB_TRUNK_SENT,			/* packets */
	VIB_TRUNK_RECEIVED,
	VIB_TRUNK_SEND_ERRORS,		/* messages that the network layer refused */
	VIB_TRUNK_LOST,			/* messages that were sent and did not come */
	VIB_TRUNK_LATE,			/* that came after later ones: dropped */
	VIB_TRUNK_DUPLICATES,		/* that came again: dropped */
	VIB_TRUNK_FOREIGN,		/* datagrams from another address */
	VIB_TRUNK_MALFORMED,
	VIB_TRUNK_STRAY,		/* messages of another session */
	VIB_TRUNK_OVERRUNS,		/* packets, or totals, beyond the credits */
	VIB_TRUNK_NO_MEMORY,
	VIB_TRUNK_WAITS,		/* times that packets waited long for credits */
	VIB_TRUNK_DOWNS,		/* times that the handshake was over */
	VIB_TRUNK_COUNTERS
};

struct vib_trunk_attr {
	struct net *net;		/* the trunk takes a reference */
	struct sockaddr_storage local, peer;	/* of one family, with ports */
	u16 interval;			/* ms between HELLOs */
};

struct vib_trunk {
	struct vib_node node;		/* freed by its release() */
	struct vib_link link;		/* end 0: the real port; end 1: the far port */
	struct net *net;		/* with a reference */
	struct socket *sock;
	struct sockaddr_storage peer;	/* fixed */
	u16 interval;			/* fixed; ms */

	spinlock_t lock;		/* all that follows, but for the works and buffers */
	struct vib_trunk_session session;
	struct vib_trunk_flow flow;
	struct vib_trunk_params own;	/* of the real port, as it was last; guid 0: never */
	struct vib_trunk_params far;	/* what the peer last said of its port */
	unsigned long last_rx;	/* jiffies: the peer's last message */
	bool carrying;			/* the link is up: packets are queued */
	bool hello_due, credit_due;	/* to be sent */
	bool want;			/* that CREDIT asks for one */
	u64 challenge;			/* a session that is to be told ours; or 0 */
	struct list_head queue[VIB_VLS];	/* packets for the peer, in order */
	u8 last_vl;			/* the data VL that had its turn */
	u64 count[VIB_TRUNK_COUNTERS];

	/* Blocks that have come back since the peer was told last, by VL */
	atomic_t back[VIB_VLS];
	struct work_struct receive, send;
	struct delayed_work tick;
	struct delayed_work probe;	/* armed while packets wait for credits */
	void *rx_buf;			/* receive's: VIB_TRUNK_MAX_MSG + 1 */
	void *tx_buf;			/* send's: VIB_TRUNK_MAX_MSG */
};

static inline struct vib_port *vib_trunk_far(struct vib_trunk *trunk)
{
	return &trunk->node.ports[VIB_TRUNK_FAR];
}

static inline struct vib_port *vib_trunk_net(struct vib_trunk *trunk)
{
	return &trunk->node.ports[VIB_TRUNK_NET];
}

/* ---- trunk.c ---- */

/*
 * A trunk, whose socket is bound, that is not plugged in; or ERR_PTR: of the socket; -EINVAL:
 * addresses of two families, or a peer that is no single host.  May sleep.
 */
struct vib_trunk *vib_trunk_open(struct vib_fabric *fabric, const struct vib_trunk_attr *attr);
/* Plugs it to @port, and begins to look for the peer; as vib_link_plug(). */
int vib_trunk_plug(struct vib_trunk *trunk, struct vib_port *port);
/*
 * The peer is told.  On return the address is free, and no port has the trunk; its memory is
 * freed once no packet holds credits of it.  May sleep.
 */
void vib_trunk_close(struct vib_trunk *trunk);

/* ---- handshake.c ---- */

/* Looks at the real port, and says whether it polls or is up.  trunk->lock. */
bool vib_trunk_port_ready(struct vib_trunk *trunk);
/* A HELLO has come.  trunk->lock. */
void vib_trunk_hello(struct vib_trunk *trunk, const struct vib_trunk_msg *msg);
/* The far port's link has come up or gone down; the node's link(). */
void vib_trunk_link_changed(struct vib_port *port, bool up);
void vib_trunk_tick_work(struct work_struct *work);

/* ---- send.c ---- */

/* The node's receive(): @pkt is for the peer. */
void vib_trunk_queue(struct vib_port *port, struct vib_packet *pkt);
/* Takes all packets out of the queues, to be freed without the lock.  trunk->lock. */
void vib_trunk_take_all(struct vib_trunk *trunk, struct list_head *packets);
void vib_trunk_free_all(struct list_head *packets);
/* The net port's transmitter has credits back; tx->lock. */
void vib_trunk_returned(struct vib_tx *tx, u8 vl, u16 blocks);
void vib_trunk_send_work(struct work_struct *work);
void vib_trunk_probe_work(struct work_struct *work);

/* ---- receive.c ---- */

void vib_trunk_receive_work(struct work_struct *work);
/*
 * A datagram of @len bytes has come from @from.  @buf is aligned as from kmalloc().  Process
 * context.
 */
void vib_trunk_datagram(struct vib_trunk *trunk, const struct sockaddr_storage *from,
			const void *buf, size_t len);

/* ---- socket.c ---- */

int vib_trunk_bind(struct vib_trunk *trunk, const struct sockaddr_storage *local);
/* Nothing queues the receive work any more; the address is still taken. */
void vib_trunk_unlisten(struct vib_trunk *trunk);
bool vib_trunk_same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b);
/* Sends @len bytes to the peer.  May sleep, for a limited time. */
int vib_trunk_send_datagram(struct vib_trunk *trunk, void *buf, size_t len);
/* The next datagram, into rx_buf: its length, which may be one more than of any message;
 * -EAGAIN: there is none.
 */
int vib_trunk_next_datagram(struct vib_trunk *trunk, struct sockaddr_storage *from);

extern struct workqueue_struct *vib_trunk_wq;

#endif
