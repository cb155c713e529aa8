/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef FAKE_HCA_H
#define FAKE_HCA_H

/*
 * A host channel adapter in software, for the KUnit suites.  All fake adapters
 * are joined by one fabric: a datagram sent to a GID or LID reaches the port that
 * has it.  A test may refuse verbs, drop, duplicate or hold datagrams, hold or
 * spoil completions, and raise events, and sees how many objects are alive.
 */
#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>
#include "quirks.h"

#define FAKE_HCA_MAX_PORTS	2
#define FAKE_HCA_GIDS		32
#define FAKE_HCA_PKEYS		8
#define FAKE_HCA_FIRST_QPN	16

enum fake_hca_object {
	FAKE_PD, FAKE_AH, FAKE_CQ, FAKE_QP, FAKE_SRQ, FAKE_MR,
	FAKE_WQ, FAKE_IND_TBL, FAKE_FLOW, FAKE_FLOW_ACTION, FAKE_MCAST,
	FAKE_UCONTEXT, FAKE_MW, FAKE_XRCD, FAKE_DM, FAKE_COUNTERS, FAKE_GID,
	FAKE_OBJECTS
};

enum fake_hca_verdict { FAKE_DELIVER, FAKE_DROP, FAKE_DUPLICATE, FAKE_HOLD };

enum fake_iw_verb {
	FAKE_IW_CONNECT, FAKE_IW_ACCEPT, FAKE_IW_REJECT, FAKE_IW_LISTEN,
	FAKE_IW_UNLISTEN, FAKE_IW_VERBS
};

struct fake_hca;

struct fake_hca_packet {
	struct list_head entry;		/* on hca->wire or hca->held */
	struct fake_hca *hca;		/* sender, referenced by its wire */
	u32 port;
	u32 src_qpn;
	u32 dst_qpn;
	u32 qkey;
	u16 pkey_index;
	u16 slid, dlid;
	bool grh, ipv4;
	bool roce_v1;			/* on Ethernet; otherwise v2 */
	union ib_gid sgid, dgid;
	u8 smac[ETH_ALEN];
	u32 len;
	u8 data[];
};

struct fake_hca_params {
	enum rdma_link_layer link_layer;
	bool iwarp;
	u32 ports;			/* 1 when zero */
	struct net_device *ndev;	/* of port 1 of a RoCE adapter */
	bool sma;			/* has process_mad */
	bool opa;			/* MADs of 2 KiB */
	bool is_switch;			/* one port, number 0, of the node itself */
	bool user;			/* serves processes: user.c */
};

/* The parameters of the last registration, and what rereg_user_mr must do. */
struct fake_hca_reg {
	u64 start, length, iova;
	int access, flags, fd;
	u32 alignment, advice, num_sge;
	bool rereg_new;			/* make another region, leave the old one */
	int error;			/* the result; 0: go on */
};

/* The last parameters of CQ verbs; error: the result of resize_cq and modify_cq. */
struct fake_hca_cq_seen {
	u32 flags, vector;
	enum ib_cq_notify_flags notify;
	u16 count, period;
	int error;
};

#define FAKE_HCA_POSTED 4

union fake_hca_send_wr {
	struct ib_send_wr wr;
	struct ib_rdma_wr rdma;
	struct ib_atomic_wr atomic;
	struct ib_ud_wr ud;
};

/* The last parameters of the verbs on queues of processes, and their results. */
struct fake_hca_queues {
	struct ib_qp_init_attr qp;
	struct ib_qp_attr qp_attr;
	int qp_mask;
	struct ib_srq_init_attr srq;
	struct ib_srq_attr srq_attr;
	int srq_mask;
	struct ib_wq_init_attr wq;
	struct ib_wq_attr wq_attr;
	u32 wq_mask;

	u32 posts;			/* calls */
	u32 posted;			/* requests of the last one, with the bad one */
	u32 bad;			/* the n-th request fails; 0: none does */
	union fake_hca_send_wr send[FAKE_HCA_POSTED];
	struct ib_recv_wr recv[FAKE_HCA_POSTED];
	struct ib_sge sge[FAKE_HCA_POSTED];	/* the first of each */

	u64 flow[64];			/* a struct ib_flow_attr and its specs */
	int error;			/* result of the verbs, if not 0 */
};

/*
 * A place in the GID table of a provider that has its own (quirks.gid_places).  All
 * entries of a GID share it: the first add_gid allocates it, the last del_gid frees it.
 */
struct fake_gid_place {
	int at;				/* index in the port's gids[] and others */
	int entries;
};

struct fake_hca_port {
	enum ib_port_state state;
	u16 lid, sm_lid;
	u16 pkeys[FAKE_HCA_PKEYS];
	/* IB: the table; RoCE: set by add_gid, at the entry's index or place */
	union ib_gid gids[FAKE_HCA_GIDS];
	bool gid_used[FAKE_HCA_GIDS];
	enum ib_gid_type gid_type[FAKE_HCA_GIDS];	/* set by add_gid */
	u16 gid_vlan[FAKE_HCA_GIDS];
	u8 gid_smac[FAKE_HCA_GIDS][ETH_ALEN];	/* with quirks.gid_has_smac */
	struct fake_gid_place *place[FAKE_HCA_GIDS];
	u32 cap_mask;			/* set by modify_port */
};

struct fake_hca {
	struct ib_device ibdev;
	enum rdma_link_layer link_layer;
	bool iwarp;
	bool opa;
	u32 core_cap_flags;		/* of its ports; 0: the usual ones */
	struct fake_hca_quirks quirks;	/* the test may change them before use */
	struct fake_hca_port port[FAKE_HCA_MAX_PORTS + 1];
	struct list_head on_fabric;	/* protected by fake_fabric_lock */
	struct xarray qps;
	struct ib_qp *special[FAKE_HCA_MAX_PORTS + 1][2];
	bool special_made[FAKE_HCA_MAX_PORTS + 1][2];

	atomic_t alive[FAKE_OBJECTS];
	/* The n-th verb of a kind from now on fails; 0: none does. */
	atomic_t fail_create[FAKE_OBJECTS];
	atomic_t fail_destroy[FAKE_OBJECTS];
	atomic_t fail_modify_qp;
	atomic_t fail_query_qp;
	atomic_t fail_modify_port;
	atomic_t fail_post_send;
	atomic_t fail_post_recv;

	/* The test decides what happens to each datagram; called in process context. */
	enum fake_hca_verdict (*verdict)(struct fake_hca *hca,
					 struct fake_hca_packet *packet,
					 void *arg);
	void *verdict_arg;
	/* Called first by the verbs that make and destroy objects of processes. */
	void (*on_verb)(struct fake_hca *hca, enum fake_hca_object kind, bool create);
	/* Called first by modify_qp, with the requested state. */
	void (*on_modify_qp)(struct fake_hca *hca, struct ib_qp *qp,
			     enum ib_qp_state next);
	/* Called first by query_qp, which may sleep. */
	void (*on_query_qp)(struct fake_hca *hca, struct ib_qp *qp);
	atomic_t queries;		/* calls of query_qp, not of special QPs */
	/* Called first by a create_ah that may sleep. */
	void (*on_create_ah)(struct fake_hca *hca);
	/* Returns whether post_recv refuses @wr; called in any context. */
	bool (*refuses_recv)(struct fake_hca *hca, const struct ib_recv_wr *wr);
	/* Called last by create_qp, and by query_ah. */
	void (*on_create_qp)(struct fake_hca *hca, struct ib_qp *qp);
	void (*on_query_ah)(struct fake_hca *hca);
	/* Handles a MAD like the adapter's own agents; with params->sma. */
	int (*process_mad)(struct fake_hca *hca, u32 port, const struct ib_wc *wc,
			   const struct ib_mad *in, struct ib_mad *out,
			   size_t *out_len);
	bool hold_send_completions;	/* held until released */
	bool lose_completions;		/* none for sends or flushed requests */
	atomic_t recv_overruns;		/* receives posted beyond a queue's size */
	enum ib_wc_status send_status;	/* of all sends, when not IB_WC_SUCCESS */
	atomic_t sent, delivered, dropped;

	spinlock_t wire_lock;		/* wire, held, parameters of QPs in queues; irq safe */
	struct list_head wire, held;
	struct work_struct wire_work;
	struct workqueue_struct *wq;

	/* iWARP: the test does the work of a verb and returns its result; NULL: 0. */
	int (*iw_verb)(struct fake_hca *hca, enum fake_iw_verb verb,
		       struct iw_cm_id *cm_id,
		       const struct iw_cm_conn_param *param, void *arg);
	void *iw_arg;
	atomic_t iw_calls[FAKE_IW_VERBS];
	atomic_t iw_qp_refs;		/* of all QPs */

	struct fake_hca_reg reg;	/* with params->user */
	struct fake_hca_cq_seen cq;
	struct fake_hca_queues queues;	/* likewise */

	bool freed;			/* set by dealloc_driver */
	int remove_count;
};

static inline struct fake_hca *to_fake_hca(struct ib_device *ibdev)
{
	return container_of(ibdev, struct fake_hca, ibdev);
}

struct fake_mr {
	struct ib_mr ibmr;
	u32 npages, max;
};

/* For the verbs: whether the test makes this call fail; how many objects are alive. */
static inline bool fault(atomic_t *countdown)
{
	return atomic_dec_if_positive(countdown) == 0;
}

static inline bool refuse(struct ib_device *ibdev, enum fake_hca_object kind)
{
	struct fake_hca *hca = to_fake_hca(ibdev);

	if (hca->on_verb)
		hca->on_verb(hca, kind, true);
	if (fault(&hca->fail_create[kind]))
		return true;
	atomic_inc(&hca->alive[kind]);
	return false;
}

static inline int retire(struct ib_device *ibdev, enum fake_hca_object kind)
{
	struct fake_hca *hca = to_fake_hca(ibdev);

	if (hca->on_verb)
		hca->on_verb(hca, kind, false);
	if (fault(&hca->fail_destroy[kind]))
		return -EIO;
	WARN_ON(atomic_dec_return(&hca->alive[kind]) < 0);
	return 0;
}

/* Allocates without registering; fake_hca_free() frees it. */
struct fake_hca *fake_hca_alloc(const struct fake_hca_params *params);
int fake_hca_register(struct fake_hca *hca);
void fake_hca_free(struct fake_hca *hca);
/* Allocates and registers; NULL on failure. */
struct fake_hca *fake_hca_create(const struct fake_hca_params *params);
void fake_hca_destroy(struct fake_hca *hca);
/* Unregisters, without fake_hca_free(). */
void fake_hca_unregister(struct fake_hca *hca);

void fake_hca_port_event(struct fake_hca *hca, u32 port, enum ib_event_type type);
void fake_hca_qp_event(struct ib_qp *qp, enum ib_event_type type);
/* Sets the PSN that @qp expects, as if packets had arrived. */
void fake_hca_qp_psn(struct ib_qp *qp, u32 psn);
/* Both call handlers as an interrupt would, with interrupts off. */
void fake_hca_cq_event(struct ib_cq *cq, enum ib_event_type type);
void fake_hca_complete(struct ib_cq *cq, const struct ib_wc *wc);
/*
 * Moves @qp to SQE or ERR as if the adapter had met an error, and flushes what is
 * posted.
 */
void fake_hca_qp_error(struct ib_qp *qp, enum ib_qp_state state);
/*
 * Like fake_hca_qp_error(), with the event that tells of it, for QP0 or QP1 of @port; false
 * if there is none now, or it is not in RTS.
 */
bool fake_hca_special_error(struct fake_hca *hca, u32 port, u32 qpn, enum ib_qp_state state);
/* Waits until the wire is empty and all handlers ran. */
void fake_hca_flush(struct fake_hca *hca);
/* Delivers what FAKE_HOLD kept. */
void fake_hca_release_held(struct fake_hca *hca);
void fake_hca_release_completions(struct fake_hca *hca);
/* Completes the oldest held send of @qp with @status; false if there is none. */
bool fake_hca_complete_held(struct ib_qp *qp, enum ib_wc_status status);
/* Discards the oldest held send of @qp without a completion; false if there is none. */
bool fake_hca_lose_held(struct ib_qp *qp);
unsigned int fake_hca_posted_recvs(struct ib_qp *qp);
/* Puts a datagram on the wire as if another node had sent it. */
int fake_hca_inject(struct fake_hca *hca, u32 dst_qpn,
		    const struct fake_hca_packet *like, const void *data,
		    u32 len);
/* The GID of the InfiniBand port that has @lid, or one made of @lid if no port has it. */
void fake_hca_lid_gid(u16 lid, union ib_gid *gid);
int fake_hca_objects(struct fake_hca *hca);	/* all alive except GIDs */

/* An event as an iWARP provider reports it: @data is a string or NULL; no addresses. */
struct iw_cm_event fake_iw_event(enum iw_cm_event_type type, int status,
				 const char *data, void *provider_data);

/* Creates an Ethernet netdev, up, that drops what it is given to transmit. */
struct net_device *fake_netdev_create(const char *name);
/* Creates an IPoIB netdev, up, with the 20 bytes at @lladdr as its address. */
struct net_device *fake_ipoib_create(const u8 *lladdr);
void fake_netdev_destroy(struct net_device *ndev);
int fake_netdev_add_ipv4(struct net_device *ndev, __be32 addr, int prefix_len);
int fake_netdev_del_ipv4(struct net_device *ndev, __be32 addr, int prefix_len);
/* Creates a VLAN, up, that is destroyed with @lower; NULL on failure. */
struct net_device *fake_netdev_vlan(struct net_device *lower, u16 id);

extern struct list_head fake_fabric;
extern struct mutex fake_fabric_lock;

/* iwarp.c */
extern const struct ib_device_ops fake_hca_iwarp_ops;

/* cq.c */
int fake_hca_resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata);
int fake_hca_modify_cq(struct ib_cq *ibcq, u16 count, u16 period);

/* qp.c */
extern const struct ib_device_ops fake_hca_qp_ops;
void fake_hca_wire_run(struct work_struct *work);
struct ib_mr *fake_hca_new_mr(struct ib_pd *pd, u32 max);
int fake_hca_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		       struct ib_udata *udata);

/* RoCE: the GID from which packets by @ah or @qp are now sent, or NULL. */
const union ib_gid *fake_hca_ah_sgid(struct ib_ah *ah);
const union ib_gid *fake_hca_qp_sgid(struct ib_qp *qp);

/* gid.c */
extern const struct ib_device_ops fake_hca_roce_ops;
/* The index at which the adapter has @attr's GID, or a negative error. */
int fake_hca_gid_at(const struct ib_gid_attr *attr);
void fake_hca_free_places(struct fake_hca *hca);

/* queues.c */
extern const struct ib_device_ops fake_hca_queue_ops;

/* user.c */
extern const struct ib_device_ops fake_hca_user_ops;

#endif
