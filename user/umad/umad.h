/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_UMAD_H
#define IBEX_UMAD_H

/*
 * What the files of ib_umad share.  The ABI is Documentation/infiniband/user_mad.rst
 * of the kernel's source, and <rdma/ib_user_mad.h>.
 *
 * Lock order, outermost first:
 *	umad_port.lock			files of the port, issm (port.c, issm.c)
 *	  ib_umad_file.lock		registrations of one file (agent.c)
 *	    ib_umad_file.recv_lock	what is to be read (recv.c)
 *	umad_agent.lock			its sends (send.c)
 * No lock, and no reference on an agent, is held while memory of the process is
 * touched: that may take as long as the process likes (userfaultfd), and nothing of
 * it may hold up the removal of the device.  The MAD layer's handlers take none but
 * the last two.
 *
 * The life of a send: a struct umad_packet belongs to the writer until the MAD is
 * posted, then to the MAD layer, which completes each send exactly once - response,
 * timeout, error, cancel, end of the agent - to umad_send_done(), and that one frees
 * it, or passes it to the readers if it timed out.
 *
 * Why nothing of a file uses the device once umad_file_disconnect() has returned:
 * (1) gone is set under the file's lock, so no agent is registered any more.
 * (2) Each agent left the table; who found it there before holds a use of it
 *	(umad_agent_get), and the last of those is awaited.
 * (3) It was then deregistered, which completes its sends - and with them destroys
 *	their address handles - and ends its handlers.
 * (4) What is left to read is in buffers that outlive the device
 *	(ib_free_recv_mad), and is freed.
 */
#include <linux/cdev.h>
#include <linux/completion.h>
#include <linux/device.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/rhashtable.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <kunit/visibility.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_user_mad.h>
#include <rdma/ib_verbs.h>

#define UMAD_MAX_AGENTS		32	/* a file; libibumad's UMAD_CA_MAX_AGENTS */
#define UMAD_MAX_PORTS		8192	/* scalable functions */
#define UMAD_MIN_MAD		IB_MGMT_RMPP_HDR

/* ---- port.c: a port and its two devices ---- */
struct umad_chardev {
	struct device dev;
	struct cdev cdev;
	struct umad_port *port;		/* a reference, from the device's to its release */
};

/*
 * One reference from the client (add to remove), one of each of the devices, which
 * open files keep.
 */
struct umad_port {
	struct kref ref;
	struct ib_device *ib_dev;	/* its memory; in use until the port is gone */
	u32 port_num;
	int number;			/* N of umadN and issmN */
	bool has_issm;			/* fixed */
	struct umad_chardev umad;
	struct umad_chardev issm;
	atomic_long_t dropped;		/* received, and no room to keep them */

	struct mutex lock;		/* see lock order */
	bool gone;			/* protected by lock; READ_ONCE() by waiters */
	struct list_head files;		/* ib_umad_file.on_port; protected by lock */
	bool is_sm;			/* an issm file is open; protected by lock */
	wait_queue_head_t sm_free;	/* is_sm or gone changed */
};

extern const struct file_operations umad_fops;
extern const struct file_operations umad_issm_fops;

struct umad_port *umad_port_create(struct ib_device *ib_dev, u32 port_num);
void umad_port_remove(struct umad_port *port);
int umad_port_access(const struct umad_port *port);

static inline struct umad_port *umad_inode_port(struct inode *inode)
{
	return container_of(inode->i_cdev, struct umad_chardev, cdev)->port;
}

/* ---- main.c: the class, device numbers, clients ---- */
extern const struct class umad_class;
dev_t umad_devt(int number);
dev_t umad_issm_devt(int number);
int umad_number_get(void);
void umad_number_put(int number);
#if IS_ENABLED(CONFIG_KUNIT)
struct umad_port *umad_find_port(struct ib_device *ib_dev, u32 port_num);
#endif

/* ---- file.c: an open umad device ---- */
struct ib_umad_file {
	struct umad_port *port;		/* its cdev's reference */
	struct list_head on_port;	/* protected by port->lock */

	struct mutex lock;		/* see lock order */
	bool gone;			/* set under lock and recv_lock, once */
	bool used;			/* the layout of headers is fixed; lock */
	bool pkey;			/* headers have pkey_index; lock, READ_ONCE() */
	u64 next_serial;		/* protected by lock */
	struct umad_agent __rcu *agents[UMAD_MAX_AGENTS]; /* written under lock */

	spinlock_t recv_lock;		/* see lock order */
	struct list_head packets;	/* to be read, oldest first; recv_lock */
	size_t packet_bytes;		/* of those; protected by recv_lock */
	wait_queue_head_t readers;
};

static inline size_t umad_hdr_size(const struct ib_umad_file *file)
{
	return READ_ONCE(file->pkey) ? sizeof(struct ib_user_mad_hdr) :
				       sizeof(struct ib_user_mad_hdr_old);
}

void umad_file_disconnect(struct ib_umad_file *file);

/* ---- agent.c: what a file has registered ---- */
struct umad_agent {
	struct ib_umad_file *file;	/* outlives it */
	struct ib_mad_agent *mad;	/* valid with a use of the agent */
	u32 id;
	u64 serial;			/* tells it from others that had its id */
	refcount_t uses;		/* the table's, and one of each user */
	struct completion unused;	/* uses fell to 0 */
	spinlock_t lock;		/* sends */
	struct rhltable sends;		/* outstanding, by TID; protected by lock */
	struct rcu_head rcu;
};

/* What a process asks to register, of either ABI. */
struct umad_registration {
	u32 qpn;
	u32 flags;
	u8 rmpp_version;
	bool pkey;			/* implies headers with pkey_index */
	struct ib_mad_reg_req req;
};

int umad_agent_register(struct ib_umad_file *file, struct umad_registration *reg,
			u32 *id, u64 *serial);
/* With @serial not 0: only that one. */
int umad_agent_unregister(struct ib_umad_file *file, u32 id, u64 serial);
void umad_agents_unregister(struct ib_umad_file *file);
/* Between the two the agent stays registered; nothing unbounded may happen. */
struct umad_agent *umad_agent_get(struct ib_umad_file *file, u32 id);
void umad_agent_put(struct umad_agent *agent);

/* ---- packet: a MAD on its way, a send or what is to be read ---- */
struct umad_packet {
	struct list_head entry;		/* file->packets; file->recv_lock */
	struct ib_user_mad_hdr hdr;
	size_t length;			/* bytes of the MAD that can be read */
	struct ib_mad_recv_wc *recv;	/* what was received, or NULL: a send */
	struct ib_mad_hdr mad_hdr;	/* as sent; its TID is the key of node */
	struct umad_agent *agent;	/* valid until the send completes */
	bool listed;			/* node is in use; fixed while posted */
	struct rhlist_head node;	/* agent->sends; agent->lock */
};

/* ---- send.c ---- */
int umad_sends_init(struct umad_agent *agent);
void umad_sends_exit(struct umad_agent *agent);
void umad_send_done(struct ib_mad_agent *mad_agent, struct ib_mad_send_wc *wc);
ssize_t umad_write(struct file *filp, const char __user *buf, size_t count,
		   loff_t *pos);

/* ---- recv.c ---- */
extern unsigned long umad_recv_bytes;	/* a parameter */

void umad_received(struct ib_mad_agent *mad_agent, struct ib_mad_send_buf *send_buf,
		   struct ib_mad_recv_wc *recv);
/* For the readers; frees @packet if there are none or no room. */
void umad_recv_queue(struct ib_umad_file *file, struct umad_packet *packet);
void umad_recv_purge(struct ib_umad_file *file);
ssize_t umad_read(struct file *filp, char __user *buf, size_t count, loff_t *pos);

#endif
