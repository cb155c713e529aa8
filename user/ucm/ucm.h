/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_UCM_H
#define IBEX_UCM_H

/*
 * Declarations shared by the files of rdma_ucm: RDMA CM ids of user processes, by
 * write(2) on /dev/infiniband/rdma_cm (include/uapi/rdma/rdma_user_cm.h).
 *
 * Lock order, outermost first:
 *	ucm_id.mutex		one command of an id at a time
 *	  handler of the id's rdma_cm_id (rdma_lock_handler())
 *	    ucm_file.lock	the ids and events of a file; of two files the one at
 *				the lower address first
 *	      the xarrays' own locks, ucm_file.wait's
 * No lock is held while user memory is read or written, nor while an rdma_cm_id is
 * destroyed.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/rdma_cm.h>
#include <kunit/visibility.h>

/* ---- ucm/main.c ---- */
extern int ucm_max_backlog;	/* net.rdma_ucm.max_backlog; READ_ONCE() */

/* ---- ucm/file.c: an open file, and its commands ---- */
struct ucm_file {
	spinlock_t lock;		/* protects the lists, and fields of its ids */
	struct list_head ids;		/* ucm_id.file_node; protected by lock */
	struct list_head events;	/* of all ids, oldest first; protected by lock */
	wait_queue_head_t wait;		/* for events */
	struct rcu_head rcu;
};

/* One write(2). */
struct ucm_call {
	struct ucm_file *file;
	bool nonblock;
	u16 room;			/* size of the response buffer */
	union {
		struct rdma_ucm_create_id create_id;
		struct rdma_ucm_destroy_id destroy_id;
		struct rdma_ucm_bind_ip bind_ip;
		struct rdma_ucm_bind bind;
		struct rdma_ucm_resolve_ip resolve_ip;
		struct rdma_ucm_resolve_addr resolve_addr;
		struct rdma_ucm_resolve_route resolve_route;
		struct rdma_ucm_query query;
		struct rdma_ucm_connect connect;
		struct rdma_ucm_listen listen;
		struct rdma_ucm_accept accept;
		struct rdma_ucm_reject reject;
		struct rdma_ucm_disconnect disconnect;
		struct rdma_ucm_init_qp_attr init_qp_attr;
		struct rdma_ucm_notify notify;
		struct rdma_ucm_join_ip_mcast join_ip_mcast;
		struct rdma_ucm_join_mcast join_mcast;
		struct rdma_ucm_get_event get_event;
		struct rdma_ucm_set_option set_option;
		struct rdma_ucm_migrate_id migrate_id;
	} cmd;				/* zero beyond what the program sent */
};

/* The error for a command, query or option that the ABI does not have. */
#define UCM_UNKNOWN	(-ENOSYS)

/* The smallest response buffers that a program of this ABI passes. */
#define UCM_EVENT_MIN	offsetof(struct rdma_ucm_event_resp, reserved)
#define UCM_ROUTE_MIN	offsetof(struct rdma_ucm_query_route_resp, ibdev_index)
#define UCM_ADDR_MIN	offsetof(struct rdma_ucm_query_addr_resp, ibdev_index)
#define UCM_PATH_MIN	sizeof(struct rdma_ucm_query_path_resp)

extern const struct file_operations ucm_fops;
/* Copies as much of @resp as the response buffer of the program has room for. */
int ucm_respond(const struct ucm_call *call, u64 response, const void *resp,
		size_t len);

/* ---- ucm/id.c: ids ---- */
struct ucm_id {
	u32 nr;				/* the id's number in commands */
	refcount_t refs;		/* 1 until ucm_id_end(), 1 per user */
	struct mutex mutex;
	bool destroyed;			/* protected by mutex */
	struct rdma_cm_id *cm_id;	/* NULL: device removed; protected by mutex */
	struct work_struct close_work;	/* destroys cm_id; holds a reference */

	/* See ucm_id_lock_file().  NULL: an unread request, or the id has ended. */
	struct ucm_file *file;

	/* Protected by file->lock. */
	struct list_head file_node;	/* in file->ids */
	struct list_head events;	/* ucm_event.id_node */
	struct list_head mcasts;	/* ucm_mcast.node; changed under mutex too */
	u32 events_reported;		/* how many were read */
	u32 backlog;			/* how many requests may wait to be read */
	u32 waiting;			/* how many are waiting */

	u64 uid;			/* identifies it to the process in events */
	bool named;			/* uid is set; both under cm_id's handler lock */
	u32 next_slot;			/* next ucm_mcast.slot; protected by mutex */
	struct rcu_head rcu;
};

int ucm_ids_init(void);
void ucm_ids_exit(void);
struct ucm_id *ucm_id_alloc(struct ucm_file *file);
void ucm_id_discard(struct ucm_id *id);
void ucm_id_publish(struct ucm_id *id, struct ucm_file *file);
u32 ucm_id_end(struct ucm_id *id);
bool ucm_id_tryget(struct ucm_id *id);
void ucm_id_put(struct ucm_id *id);
void ucm_id_close_later(struct ucm_id *id);
struct ucm_file *ucm_id_lock_file(struct ucm_id *id);
void ucm_file_unlock(struct ucm_file *file);
int ucm_id_check(struct ucm_id *id, struct ucm_file *file);

/* Return the id with its mutex held, until ucm_id_release(), or an error. */
struct ucm_id *ucm_id_get(struct ucm_file *file, u32 nr);
struct ucm_id *ucm_id_get_live(struct ucm_file *file, u32 nr);	/* has a cm_id */
struct ucm_id *ucm_id_get_bound(struct ucm_file *file, u32 nr);	/* on a device */
void ucm_id_release(struct ucm_id *id);

int ucm_create_id(struct ucm_call *call);
int ucm_destroy_id(struct ucm_call *call);
int ucm_migrate_id(struct ucm_call *call);

/* ---- ucm/event.c: events of ids, until they are read ---- */
struct ucm_mcast;

struct ucm_event {
	struct list_head file_node;	/* in ucm_file.events */
	struct list_head id_node;	/* in ucm_id.events */
	struct ucm_id *id;		/* referenced while the event is being read */
	struct ucm_id *request;		/* the new id of a CONNECT_REQUEST */
	struct ucm_mcast *mcast;	/* referenced like id; NULL: not of a group */
	struct rdma_ucm_event_resp resp;
};

int ucm_event_handler(struct rdma_cm_id *cm_id, struct rdma_cm_event *event);
struct ucm_event *ucm_event_alloc(struct ucm_id *id, struct rdma_cm_id *cm_id,
				  const struct rdma_cm_event *event, gfp_t gfp);
void ucm_event_queue(struct ucm_event *ev);
void ucm_event_unlink(struct ucm_event *ev, struct list_head *to);
void ucm_events_drop(struct list_head *list);
int ucm_get_event(struct ucm_call *call);

/* Copies the fields with the same names in the ABI's and in rdma_cm's parameters. */
#define ucm_copy_conn_fields(to, from)					\
do {									\
	typeof(to) conn = (to);						\
	typeof(from) as = (from);					\
									\
	conn->qp_num = as->qp_num;					\
	conn->srq = as->srq;						\
	conn->flow_control = as->flow_control;				\
	conn->initiator_depth = as->initiator_depth;			\
	conn->responder_resources = as->responder_resources;		\
	conn->rnr_retry_count = as->rnr_retry_count;			\
	conn->retry_count = as->retry_count;				\
} while (0)

/* ---- ucm/mcast.c: multicast groups ---- */
struct ucm_mcast {
	u32 nr;				/* the group's number in commands */
	refcount_t refs;		/* 1 until left, 1 per user */
	struct ucm_id *owner;
	u64 uid;			/* identifies it to the process in events */
	struct sockaddr_storage addr;

	/* Protected by owner->file->lock. */
	struct list_head node;		/* in owner->mcasts */
	u32 slot;			/* its context in rdma_cm; by owner->mutex too */
	bool left;
	u32 events_reported;
	struct rcu_head rcu;
};

struct ucm_mcast *ucm_mcast_by_slot(struct ucm_id *id, const void *context);
void ucm_mcast_put(struct ucm_mcast *mc);
void ucm_mcasts_end(struct ucm_id *id);
int ucm_join_ip_mcast(struct ucm_call *call);
int ucm_join_mcast(struct ucm_call *call);
int ucm_leave_mcast(struct ucm_call *call);

/* ---- ucm/addr.c, ucm/conn.c, ucm/option.c, ucm/query.c: commands of an id ---- */
int ucm_bind_ip(struct ucm_call *call);
int ucm_bind(struct ucm_call *call);
int ucm_resolve_ip(struct ucm_call *call);
int ucm_resolve_addr(struct ucm_call *call);
int ucm_resolve_route(struct ucm_call *call);
int ucm_connect(struct ucm_call *call);
int ucm_listen(struct ucm_call *call);
int ucm_accept(struct ucm_call *call);
int ucm_reject(struct ucm_call *call);
int ucm_disconnect(struct ucm_call *call);
int ucm_notify(struct ucm_call *call);
int ucm_init_qp_attr(struct ucm_call *call);
int ucm_set_option(struct ucm_call *call);
int ucm_query_route(struct ucm_call *call);
int ucm_query(struct ucm_call *call);

#endif
