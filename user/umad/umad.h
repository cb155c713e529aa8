/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_UMAD_H
#define IBEX_UMAD_H

/*
 * Declarations shared by the files of ib_umad.  The ABI is described in
 * Documentation/infiniband/user_mad.rst of the kernel's source, and <rdma/ib_user_mad.h>.
 *
 * Lock order, outermost first:
 *	umad_port.lock			files of the port, issm (port.c, issm.c)
 *	  ib_umad_file.lock		registrations of one file (agent.c)
 *	    ib_umad_file.recv_lock	packets to be read (recv.c)
 *	ib_umad_file.send_lock		sends of one file (send.c)
 * No lock and no reference to an agent is held while user memory is accessed: the process
 * can delay such an access for any time (userfaultfd), and must not delay the removal of
 * the device by that.  The MAD layer's handlers take only the last two locks.
 *
 * Lifetime of a send: a struct umad_packet belongs to the writer until the MAD is
 * posted, then to the MAD layer.  The MAD layer completes each send exactly once, on a
 * response, timeout, error, cancellation or the end of the agent, by calling
 * umad_send_done(), which frees the packet, or passes it to the readers if the send
 * timed out.
 *
 * Why nothing of a file uses the device once umad_file_disconnect() has returned:
 * (1) gone is set under the file's lock, so no agent can be registered any more.
 * (2) Each agent was removed from the table.  A task that found it there before holds a
 *	use of it (umad_agent_get()), and the end of the last use is waited for.
 * (3) The agent was then unregistered, which completes its sends, destroys their address
 *	handles with them, and ends its handlers.
 * (4) The MADs that were not read are in buffers that outlive the device
 *	(ib_free_recv_mad()), and are freed.
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
#include <ibex/compat.h>

#define UMAD_MAX_AGENTS		32	/* per file; libibumad's UMAD_CA_MAX_AGENTS */
#define UMAD_MAX_PORTS		8192	/* for scalable functions */
#define UMAD_MIN_MAD		IB_MGMT_RMPP_HDR

/* ---- port.c: a port and its two devices ---- */
struct umad_chardev {
	struct device dev;
	struct cdev cdev;
	struct umad_port *port;		/* referenced until the release of dev */
};

/*
 * One reference from the client (add to remove), and one from each of the devices,
 * which open files hold.
 */
struct umad_port {
	struct kref ref;
	struct ib_device *ib_dev;	/* memory referenced; used until gone is set */
	u32 port_num;
	int number;			/* N of umadN and issmN */
	bool has_issm;			/* never changes */
	struct umad_chardev umad;
	struct umad_chardev issm;
	atomic_long_t dropped;		/* received MADs that were dropped */

	struct mutex lock;		/* see lock order */
	bool gone;			/* protected by lock; READ_ONCE() by waiters */
	struct list_head files;		/* ib_umad_file.on_port; protected by lock */
	bool is_sm;			/* an issm file is open; protected by lock */
	wait_queue_head_t sm_free;	/* waits for is_sm or gone to change */
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
extern IBEX_CONST struct class umad_class;
dev_t umad_devt(int number);
dev_t umad_issm_devt(int number);
int umad_number_get(void);
void umad_number_put(int number);
#if IS_ENABLED(CONFIG_KUNIT)
struct umad_port *umad_find_port(struct ib_device *ib_dev, u32 port_num);
#endif

/* ---- file.c: an open umad device ---- */
struct ib_umad_file {
	struct umad_port *port;		/* referenced by its cdev */
	struct list_head on_port;	/* protected by port->lock */

	struct mutex lock;		/* see lock order */
	bool gone;			/* set under lock and recv_lock, once */
	bool used;			/* header layout is fixed; protected by lock */
	bool pkey;			/* headers have pkey_index; lock, READ_ONCE() */
	u64 next_serial;		/* protected by lock */
	struct umad_agent __rcu *agents[UMAD_MAX_AGENTS]; /* written under lock */

	spinlock_t send_lock;		/* see lock order */
	struct rhltable sends;		/* outstanding, by TID; protected by send_lock */

	spinlock_t recv_lock;		/* see lock order */
	struct list_head packets;	/* to be read, oldest first; recv_lock */
	size_t packet_bytes;		/* size of packets; protected by recv_lock */
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
	struct ib_umad_file *file;	/* outlives the agent */
	struct ib_mad_agent *mad;	/* valid while a use is held */
	u32 id;
	u64 serial;			/* distinguishes agents that had the same id */
	refcount_t uses;		/* 1 for the table, 1 per user */
	struct completion unused;	/* uses fell to 0 */
	struct rcu_head rcu;
};

/* A registration that a process requests by either ioctl. */
struct umad_registration {
	u32 qpn;
	u32 flags;
	u8 rmpp_version;
	bool pkey;			/* implies headers with pkey_index */
	struct ib_mad_reg_req req;
};

int umad_agent_register(struct ib_umad_file *file, struct umad_registration *reg,
			u32 *id, u64 *serial);
/* If @serial is not 0, unregisters the agent only if it has that serial. */
int umad_agent_unregister(struct ib_umad_file *file, u32 id, u64 serial);
void umad_agents_unregister(struct ib_umad_file *file);
/* The agent stays registered until put, so no unbounded operation may come in between. */
struct umad_agent *umad_agent_get(struct ib_umad_file *file, u32 id);
void umad_agent_put(struct umad_agent *agent);

/* ---- packet: a MAD that is being sent, or is to be read ---- */
struct umad_packet {
	struct list_head entry;		/* file->packets; file->recv_lock */
	struct ib_user_mad_hdr hdr;
	size_t length;			/* bytes of the MAD that can be read */
	struct ib_mad_recv_wc *recv;	/* the received MAD; NULL: a send */
	struct ib_mad_hdr mad_hdr;	/* as sent; its TID is the key of node */
	struct umad_agent *agent;	/* valid until the send completes */
	bool listed;			/* node is in use; once posted, for handlers */
	struct rhlist_head node;	/* file->sends; file->send_lock */
};

/* ---- send.c ---- */
int umad_sends_init(struct ib_umad_file *file);
void umad_sends_exit(struct ib_umad_file *file);
void umad_send_done(struct ib_mad_agent *mad_agent, struct ib_mad_send_wc *wc);
/* The response to a send has come: its TID is free, though the send may not be done yet. */
void umad_send_answered(struct ib_mad_send_buf *buf);
ssize_t umad_write(struct file *filp, const char __user *buf, size_t count,
		   loff_t *pos);

/* ---- recv.c ---- */
extern unsigned long umad_recv_bytes;	/* module parameter */

void umad_received(struct ib_mad_agent *mad_agent, struct ib_mad_send_buf *send_buf,
		   struct ib_mad_recv_wc *recv);
/* Queues @packet for readers; frees it if the file is disconnected or full. */
void umad_recv_queue(struct ib_umad_file *file, struct umad_packet *packet);
void umad_recv_purge(struct ib_umad_file *file);
ssize_t umad_read(struct file *filp, char __user *buf, size_t count, loff_t *pos);

#endif
