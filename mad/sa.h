/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_SA_H
#define IBEX_SA_H

/*
 * The client of subnet administration: one agent a port, queries on it, and the
 * multicast groups joined through it.
 *
 * Lock order: port->groups_lock -> group->lock.  port->lock nests in neither.
 * No callback of a client runs under any of them.
 */
#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_sa.h>

/* The way to the subnet manager; replaced as a whole when it changes. */
struct sa_sm_ah {
	struct kref ref;		/* the port's, and one a query in flight */
	struct ib_ah *ah;
	u16 pkey_index;
};

struct sa_port {
	struct ib_device *device;
	u32 num;
	struct ib_mad_agent *agent;	/* NULL: no InfiniBand on this port */
	spinlock_t lock;		/* irq safe */
	struct sa_sm_ah *sm_ah;		/* protected by lock */
	struct work_struct update;	/* reads the SM's address anew */
	struct mutex groups_lock;
	struct list_head groups;	/* protected by groups_lock */
	refcount_t users;		/* the device's, and one a group */
	struct completion unused;
};

struct sa_device {
	struct ib_device *device;
	struct ib_event_handler events;
	struct sa_port port[];
};

/*
 * One request.  References: the send, until its send handler ran; and a canceller
 * while it works on the buffer.
 */
struct ib_sa_query {
	struct kref ref;
	struct ib_sa_client *client;	/* its users counts this query; or NULL */
	struct sa_port *port;
	struct sa_sm_ah *sm_ah;		/* reference */
	struct ib_mad_send_buf *buf;
	int id;
	/* Exactly once: @mad the response, or NULL with an error. */
	void (*done)(struct ib_sa_query *query, int status,
		     const struct ib_sa_mad *mad);
	void *callback;			/* the caller's */
	void *context;
};

int ibmad_sa_init(void);
void ibmad_sa_exit(void);

/* The port, valid while its device is registered; NULL when it has no SA. */
struct sa_port *ibmad_sa_port(struct ib_device *device, u32 port_num);
/*
 * Sends @method of @attr_id with the @len bytes at @record.  Answers the query's
 * number; @out is set before @done can be called.
 */
int ibmad_sa_query(struct ib_sa_client *client, struct sa_port *port, u8 method,
		   u16 attr_id, ib_sa_comp_mask comp_mask, const void *record,
		   size_t len, unsigned long timeout_ms, gfp_t gfp,
		   struct ib_sa_query *query, struct ib_sa_query **out);

/* sa_mcast.c */
void ibmad_sa_mcast_reset(struct sa_port *port);
void ibmad_sa_mcast_close(struct sa_port *port);
int ibmad_sa_mcast_init(void);
void ibmad_sa_mcast_exit(void);

#endif
