/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef CMA_CONNECT_H
#define CMA_CONNECT_H

/* Listening, requests, connections and datagram services. */
#include "id/id.h"

/* ---- listen.c ---- */
struct cma_listen {
	/* What resource tracking reports of a wildcard listener, one per device. */
	struct rdma_cm_id id;		/* .event_handler: cma_listen_shown() */
	struct rdma_restrack_cm_id track;
	struct cma_id *idp;		/* the id that listens; with a reference */
	struct cma_dev *dev;		/* with a reference */
	struct list_head id_node;	/* see cma_id.listens */
	struct list_head dev_node;	/* protected by cma_topology */
	union {
		struct ib_cm_id *ib;
		struct iw_cm_id *iw;
	} cm;
	bool iwarp;
};

int cma_listen_shown(struct rdma_cm_id *id, struct rdma_cm_event *event);
int cma_listen_start(struct cma_id *idp);
void cma_listen_stop(struct cma_id *idp);
void cma_listen_device_added(struct cma_dev *dev);
void cma_listen_device_removed(struct cma_dev *dev);
struct cma_dev *cma_listen_device(struct cma_id *idp, struct ib_device *device);

/* ---- cm_hdr.c: IBA annex A11 ---- */
#define CMA_HDR_SIZE	36

struct cma_hdr_info {
	sa_family_t family;		/* AF_INET or AF_INET6 */
	struct sockaddr_storage src;	/* the requester, with its port */
	struct sockaddr_storage dst;	/* the requested address; port from sid */
};

u8 cma_hdr_size(struct cma_id *idp);
int cma_hdr_unpack(const void *buf, __be64 service_id,
		   struct cma_hdr_info *info);
#if IS_ENABLED(CONFIG_KUNIT)
void cma_hdr_pack(struct cma_id *idp, void *buf);
#endif
int cma_private_data(struct cma_id *idp, const struct rdma_conn_param *param,
		     u8 max, void **buf, u8 *len);
enum rdma_ucm_port_space cma_sid_ps(__be64 service_id);
__be16 cma_sid_port(__be64 service_id);
__be64 cma_service_id(enum rdma_ucm_port_space ps, const struct sockaddr *addr);

/* ---- source.c: whether a request may come from its source address ---- */
bool cma_source_ok(const struct cma_hdr_info *hdr, struct net *net,
		   struct net_device *ndev, struct ib_cm_id *cm_id,
		   const struct ib_cm_event *event);

/* ---- request.c: incoming IB requests ---- */
int cma_ib_request(struct ib_cm_id *cm_id, const struct ib_cm_event *event);

/* ---- ib_handler.c, iw_handler.c, sidr.c ---- */
int cma_ib_event(struct ib_cm_id *cm_id, const struct ib_cm_event *event);
int cma_iw_event(struct iw_cm_id *cm_id, struct iw_cm_event *event);
int cma_iw_request(struct iw_cm_id *cm_id, struct iw_cm_event *event);
int cma_sidr_event(struct ib_cm_id *cm_id, const struct ib_cm_event *event);
int cma_sidr_connect(struct cma_id *idp, struct rdma_conn_param *param);
int cma_sidr_reply(struct cma_id *idp, enum ib_cm_sidr_status status, u32 qkey,
		   const void *private_data, u8 private_data_len);

/* ---- connect_ib.c, connect_iw.c: connect.c's calls for each CM ---- */
int cma_ib_new_cm_id(struct cma_id *idp, ib_cm_handler handler);
int cma_ib_connect(struct cma_id *idp, struct rdma_conn_param *param);
int cma_ib_accept(struct cma_id *idp, struct rdma_conn_param *param);
int cma_ib_confirm(struct cma_id *idp);
int cma_ib_disconnect(struct cma_id *idp);
int cma_iw_connect(struct cma_id *idp, struct rdma_conn_param *param);
int cma_iw_accept(struct cma_id *idp, struct rdma_conn_param *param);

/* ---- qp.c ---- */
int cma_qp_to_rtr(struct cma_id *idp, const struct rdma_conn_param *param);
int cma_qp_to_rts(struct cma_id *idp, const struct rdma_conn_param *param);
int cma_qp_to_err(struct cma_id *idp);
int cma_set_qkey(struct cma_id *idp, u32 qkey);

#endif
