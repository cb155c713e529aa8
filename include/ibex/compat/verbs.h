/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_COMPAT_VERBS_H
#define IBEX_COMPAT_VERBS_H

/* Structs, methods and functions of the RDMA core; include/ibex/compat.h. */
#include <linux/version.h>
#include <linux/completion.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
/* What no provider of 6.1 reports; processes know it by the same numbers. */
#define IB_DEVICE_FLUSH_GLOBAL		BIT_ULL(38)
#define IB_DEVICE_FLUSH_PERSISTENT	BIT_ULL(39)
#define IB_ACCESS_FLUSH_GLOBAL		BIT(8)
#define IB_ACCESS_FLUSH_PERSISTENT	BIT(9)
#define IB_SPEED_XDR			256
#define IB_RATE_800_GBPS		23

/* Of the callback of ib_sa_path_rec_get(): the number of paths. */
#define IBEX_SA_NUM int

/* What the core keeps of a QP; behind the provider's struct, since ib_qp has no room for it. */
struct ibex_qp_extra {
	void (*handler)(struct ib_event *event, void *context);
	struct completion srq_completion;
};

static inline size_t ibex_qp_extra_offset(const struct ib_device *dev)
{
	return ALIGN(dev->ops.size_ib_qp, __alignof__(struct ibex_qp_extra));
}

static inline size_t ibex_qp_size(const struct ib_device *dev)
{
	return ibex_qp_extra_offset(dev) + sizeof(struct ibex_qp_extra);
}

static inline struct ibex_qp_extra *ibex_qp_extra(const struct ib_qp *qp)
{
	return (void *)qp + ibex_qp_extra_offset(qp->device);
}

/* Of QPs that ibex_qp_size() is the size of; handles of a target QP are none. */
#define ibex_qp_handler(qp) (ibex_qp_extra(qp)->handler)
#define ibex_qp_srq_completion(qp) (&ibex_qp_extra(qp)->srq_completion)

/* A region in a dma-buf as the core allocates it. */
struct ibex_umem_dmabuf {
	struct ib_umem_dmabuf ib;
	void (*pinned_revoke)(void *priv);
	bool revoked;
};

#define ibex_dmabuf_revoked(region)					\
	(container_of(region, struct ibex_umem_dmabuf, ib)->revoked)
#define ibex_dmabuf_pinned_revoke(region)				\
	(container_of(region, struct ibex_umem_dmabuf, ib)->pinned_revoke)

/* A port has no tracker of its reference on its netdev. */
static inline netdevice_tracker ibex_port_tracker(const struct ib_port_data *pdata)
{
	return (netdevice_tracker){};
}

static inline void ibex_port_hold(struct ib_port_data *pdata, struct net_device *ndev)
{
	dev_hold(ndev);
}

static inline void ibex_port_put(struct net_device *ndev, netdevice_tracker *tracker)
{
	dev_put(ndev);
}

/* Methods that later take the attributes of a process's call take only the driver's data. */
#define IBEX_DRIVER_DATA struct ib_udata

static inline struct ib_udata *ibex_driver_data(struct uverbs_attr_bundle *attrs)
{
	return &attrs->driver_udata;
}

static inline struct ib_udata *ibex_to_udata(struct ib_udata *data)
{
	return data;
}

static inline int ibex_fill_res_srq(struct sk_buff *msg, struct ib_srq *srq)
{
	return 0;
}

static inline int ibex_fill_res_srq_raw(struct sk_buff *msg, struct ib_srq *srq)
{
	return -EINVAL;
}

/* The last bytes, reserved in this release's header, have the speed in later ones. */
#define IBEX_QUERY_PORT_LAST reserved

static inline void ibex_set_speed_ex(struct ib_uverbs_query_port_resp_ex *resp, u32 speed)
{
	memcpy(&resp->reserved[2], &speed, sizeof(speed));
}

static inline void *ib_virt_dma_to_ptr(u64 dma_addr)
{
	return (void *)(uintptr_t)dma_addr;
}

/* The core exports these for the providers of later releases. */
struct net_device *ib_device_get_netdev(struct ib_device *ib_dev, u32 port);
void rdma_roce_rescan_port(struct ib_device *ib_dev, u32 port);
void roce_del_all_netdev_gids(struct ib_device *ib_dev, u32 port, struct net_device *ndev);
void rdma_user_mmap_disassociate(struct ib_device *device);
int ib_umem_check_rereg(struct ib_umem *umem, int flags, int new_access_flags);
struct ib_umem_dmabuf *
ib_umem_dmabuf_get_pinned_revocable_and_lock(struct ib_device *device, unsigned long offset,
					     size_t size, int fd, int access);
void ib_umem_dmabuf_set_revoke_locked(struct ib_umem_dmabuf *umem_dmabuf,
				      void (*revoke)(void *priv), void *priv);
struct ib_umem_dmabuf *
ib_umem_dmabuf_get_pinned_with_dma_device(struct ib_device *device, struct device *dma_device,
					  unsigned long offset, size_t size, int fd,
					  int access);
void ib_umem_dmabuf_revoke_lock(struct ib_umem_dmabuf *umem_dmabuf);
void ib_umem_dmabuf_revoke_unlock(struct ib_umem_dmabuf *umem_dmabuf);
void ib_umem_dmabuf_revoke(struct ib_umem_dmabuf *umem_dmabuf);
#else
#define IBEX_SA_NUM unsigned int

static inline size_t ibex_qp_size(const struct ib_device *dev)
{
	return dev->ops.size_ib_qp;
}

#define ibex_qp_handler(qp) ((qp)->registered_event_handler)
#define ibex_qp_srq_completion(qp) (&(qp)->srq_completion)

struct ibex_umem_dmabuf {
	struct ib_umem_dmabuf ib;
};

#define ibex_dmabuf_revoked(region) ((region)->revoked)
#define ibex_dmabuf_pinned_revoke(region) ((region)->pinned_revoke)

static inline netdevice_tracker ibex_port_tracker(const struct ib_port_data *pdata)
{
	return pdata->netdev_tracker;
}

static inline void ibex_port_hold(struct ib_port_data *pdata, struct net_device *ndev)
{
	netdev_hold(ndev, &pdata->netdev_tracker, GFP_ATOMIC);
}

static inline void ibex_port_put(struct net_device *ndev, netdevice_tracker *tracker)
{
	netdev_put(ndev, tracker);
}

#define IBEX_DRIVER_DATA struct uverbs_attr_bundle

static inline struct uverbs_attr_bundle *ibex_driver_data(struct uverbs_attr_bundle *attrs)
{
	return attrs;
}

static inline struct ib_udata *ibex_to_udata(struct uverbs_attr_bundle *attrs)
{
	return attrs ? &attrs->driver_udata : NULL;
}

static inline int ibex_fill_res_srq(struct sk_buff *msg, struct ib_srq *srq)
{
	const struct ib_device_ops *ops = &srq->device->ops;

	return ops->fill_res_srq_entry ? ops->fill_res_srq_entry(msg, srq) : 0;
}

static inline int ibex_fill_res_srq_raw(struct sk_buff *msg, struct ib_srq *srq)
{
	const struct ib_device_ops *ops = &srq->device->ops;

	return ops->fill_res_srq_entry_raw ? ops->fill_res_srq_entry_raw(msg, srq) : -EINVAL;
}

#define IBEX_QUERY_PORT_LAST active_speed_ex

static inline void ibex_set_speed_ex(struct ib_uverbs_query_port_resp_ex *resp, u32 speed)
{
	resp->active_speed_ex = speed;
}
#endif

#endif
