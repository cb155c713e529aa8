// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A memory region in a dma-buf: memory of another driver, which the process names by
 * file descriptor.
 *
 * A region holds, from get to release: a reference on the dma-buf and an attachment to
 * it; while pinned, a pin; while mapped, the sg_table of the attachment.  All that
 * changes after get is protected by the dma-buf's reservation lock.
 *
 * There are three kinds.  A movable region follows the exporter: its driver has a
 * move_notify method, unmaps the pages there and maps them again on the next fault.  A
 * pinned region stays where it is until released.  A revocable region is pinned too,
 * but the exporter can take it back: the driver's revoke callback stops the device
 * first.
 *
 * ib_umem.sgt_append describes exactly the region's pages while they are mapped.
 * Because the sg_table is of the whole buffer, its entries are cut in place at both
 * ends of the region, and made whole again before it goes back to the exporter.
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include <ibex/compat.h>

static struct dma_resv *dmabuf_resv(struct ib_umem_dmabuf *umem_dmabuf)
{
	return umem_dmabuf->attach->dmabuf->resv;
}

/**
 * ib_umem_dmabuf_revoke_lock() - keep a region from being revoked
 * @umem_dmabuf: region
 *
 * Takes the dma-buf's reservation lock.
 *
 * Context: process; may sleep.
 */
void ib_umem_dmabuf_revoke_lock(struct ib_umem_dmabuf *umem_dmabuf)
{
	dma_resv_lock(dmabuf_resv(umem_dmabuf), NULL);
}
EXPORT_SYMBOL(ib_umem_dmabuf_revoke_lock);

/**
 * ib_umem_dmabuf_revoke_unlock() - let a region be revoked again
 * @umem_dmabuf: region
 *
 * Context: process that holds the lock.
 */
void ib_umem_dmabuf_revoke_unlock(struct ib_umem_dmabuf *umem_dmabuf)
{
	dma_resv_unlock(dmabuf_resv(umem_dmabuf));
}
EXPORT_SYMBOL(ib_umem_dmabuf_revoke_unlock);

/* Where a region lies in its sg_table, in whole pages. */
struct dmabuf_span {
	struct scatterlist *first, *last;
	unsigned long first_offset;	/* bytes of first before the region */
	unsigned long last_trim;	/* bytes of last after it */
	unsigned int nents;
};

static int dmabuf_find_span(struct sg_table *sgt, u64 begin, u64 end,
			    struct dmabuf_span *span)
{
	u64 from = 0, to = 0;
	struct scatterlist *sg;
	unsigned int i;

	memset(span, 0, sizeof(*span));
	for_each_sgtable_dma_sg(sgt, sg, i) {
		from = to;
		to += sg_dma_len(sg);
		if (to <= begin)
			continue;
		if (!span->nents++) {
			span->first = sg;
			span->first_offset = begin - from;
		}
		span->last = sg;
		if (to >= end)
			break;
	}
	/* An exporter may give less than it promised. */
	if (!span->nents || to < end)
		return -EINVAL;
	span->last_trim = to - end;
	return 0;
}

static int dmabuf_cut(struct ib_umem_dmabuf *umem_dmabuf, struct sg_table *sgt)
{
	struct ib_umem *umem = &umem_dmabuf->umem;
	struct dmabuf_span span;
	int ret;

	ret = dmabuf_find_span(sgt, PAGE_ALIGN_DOWN(umem->address),
			       PAGE_ALIGN(umem->address + umem->length), &span);
	if (ret)
		return ret;

	sg_dma_address(span.first) += span.first_offset;
	sg_dma_len(span.first) -= span.first_offset;
	sg_dma_len(span.last) -= span.last_trim;
	umem_dmabuf->first_sg = span.first;
	umem_dmabuf->first_sg_offset = span.first_offset;
	umem_dmabuf->last_sg = span.last;
	umem_dmabuf->last_sg_trim = span.last_trim;
	/* DMA addresses only: an importer must not touch the pages, if there are any. */
	umem->sgt_append.sgt.sgl = span.first;
	umem->sgt_append.sgt.nents = span.nents;
	return 0;
}

static void dmabuf_uncut(struct ib_umem_dmabuf *umem_dmabuf)
{
	struct scatterlist *first = umem_dmabuf->first_sg;
	struct scatterlist *last = umem_dmabuf->last_sg;

	sg_dma_len(last) += umem_dmabuf->last_sg_trim;
	sg_dma_len(first) += umem_dmabuf->first_sg_offset;
	sg_dma_address(first) -= umem_dmabuf->first_sg_offset;
	umem_dmabuf->first_sg = NULL;
	umem_dmabuf->first_sg_offset = 0;
	umem_dmabuf->last_sg = NULL;
	umem_dmabuf->last_sg_trim = 0;
	umem_dmabuf->umem.sgt_append.sgt.sgl = NULL;
	umem_dmabuf->umem.sgt_append.sgt.nents = 0;
}

static int dmabuf_map(struct ib_umem_dmabuf *umem_dmabuf)
{
	struct dma_buf_attachment *attach = umem_dmabuf->attach;
	struct sg_table *sgt;
	int ret;

	sgt = dma_buf_map_attachment(attach, DMA_BIDIRECTIONAL);
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	ret = dmabuf_cut(umem_dmabuf, sgt);
	if (ret)
		dma_buf_unmap_attachment(attach, sgt, DMA_BIDIRECTIONAL);
	else
		umem_dmabuf->sgt = sgt;
	return ret;
}

/**
 * ib_umem_dmabuf_map_pages() - map a region's pages for its device
 * @umem_dmabuf: region; if it is mapped already, it stays mapped
 *
 * Waits until the exporter has finished moving the buffer, so the device may use the
 * addresses at once.
 *
 * Context: process, under the dma-buf's reservation lock; may sleep.
 * Return: 0, -EINVAL if the region was revoked or the exporter gave too little, or
 * the exporter's error.
 */
int ib_umem_dmabuf_map_pages(struct ib_umem_dmabuf *umem_dmabuf)
{
	bool was_mapped = umem_dmabuf->sgt;
	long left;
	int ret;

	dma_resv_assert_held(dmabuf_resv(umem_dmabuf));
	if (ibex_dmabuf_revoked(umem_dmabuf))
		return -EINVAL;
	if (!was_mapped) {
		ret = dmabuf_map(umem_dmabuf);
		if (ret)
			return ret;
	}

	/*
	 * A dynamic importer must wait for these fences itself; they are sure to
	 * signal.
	 */
	left = dma_resv_wait_timeout(dmabuf_resv(umem_dmabuf),
				     DMA_RESV_USAGE_KERNEL, false,
				     MAX_SCHEDULE_TIMEOUT);
	if (left > 0)
		return 0;
	if (!was_mapped)
		ib_umem_dmabuf_unmap_pages(umem_dmabuf);
	return left ?: -ETIMEDOUT;
}
EXPORT_SYMBOL(ib_umem_dmabuf_map_pages);

/**
 * ib_umem_dmabuf_unmap_pages() - give a region's pages back to the exporter
 * @umem_dmabuf: region; nothing happens if it is not mapped
 *
 * The device must have stopped using the pages.
 *
 * Context: process, under the dma-buf's reservation lock; may sleep.
 */
void ib_umem_dmabuf_unmap_pages(struct ib_umem_dmabuf *umem_dmabuf)
{
	struct sg_table *sgt = umem_dmabuf->sgt;

	dma_resv_assert_held(dmabuf_resv(umem_dmabuf));
	if (!sgt)
		return;
	dmabuf_uncut(umem_dmabuf);
	umem_dmabuf->sgt = NULL;
	dma_buf_unmap_attachment(umem_dmabuf->attach, sgt, DMA_BIDIRECTIONAL);
}
EXPORT_SYMBOL(ib_umem_dmabuf_unmap_pages);

/* Unmaps and unpins for good, under the reservation lock. */
static void dmabuf_let_go(struct ib_umem_dmabuf *umem_dmabuf)
{
	ib_umem_dmabuf_unmap_pages(umem_dmabuf);
	if (umem_dmabuf->pinned) {
		dma_buf_unpin(umem_dmabuf->attach);
		umem_dmabuf->pinned = 0;
	}
	ibex_dmabuf_revoked(umem_dmabuf) = 1;
}

static void dmabuf_revoke_locked(struct ib_umem_dmabuf *umem_dmabuf)
{
	dma_resv_assert_held(dmabuf_resv(umem_dmabuf));
	if (ibex_dmabuf_revoked(umem_dmabuf))
		return;
	if (ibex_dmabuf_pinned_revoke(umem_dmabuf))
		ibex_dmabuf_pinned_revoke(umem_dmabuf)(umem_dmabuf->private);
	dmabuf_let_go(umem_dmabuf);
}

/* Allocates the region [@offset, @offset + @size) of a dma-buf and sets it up. */
static struct ib_umem_dmabuf *dmabuf_new(struct ib_device *device,
					 struct dma_buf *dmabuf,
					 unsigned long offset, size_t size,
					 int access)
{
	struct ibex_umem_dmabuf *new;
	struct ib_umem_dmabuf *umem_dmabuf;
	struct ib_umem *umem;
	unsigned long end;

	if (!size || check_add_overflow(offset, (unsigned long)size, &end) ||
	    end > dmabuf->size || end > ULONG_MAX - PAGE_SIZE)
		return ERR_PTR(-EINVAL);
	new = kzalloc(sizeof(*new), GFP_KERNEL);
	if (!new)
		return ERR_PTR(-ENOMEM);
	umem_dmabuf = &new->ib;
	umem = &umem_dmabuf->umem;
	umem->ibdev = device;
	umem->address = offset;
	/* Drivers use the offset as IOVA until they set another. */
	umem->iova = offset;
	umem->length = size;
	umem->writable = ib_access_writable(access);
	umem->is_dmabuf = 1;
	return umem_dmabuf;
}

/* The region takes over the reference on the dma-buf that dma_buf_get() took. */
static struct ib_umem_dmabuf *
dmabuf_attach(struct ib_device *device, struct device *dma_device,
	      unsigned long offset, size_t size, int fd, int access,
	      const struct dma_buf_attach_ops *ops)
{
	struct ib_umem_dmabuf *umem_dmabuf;
	struct dma_buf *dmabuf;
	int ret;

	/* A device without DMA accesses pages by CPU; a dma-buf has none for it. */
	if (!dma_device || !ops || !ops->move_notify)
		return ERR_PTR(-EINVAL);
	dmabuf = dma_buf_get(fd);
	if (IS_ERR(dmabuf))
		return ERR_CAST(dmabuf);

	umem_dmabuf = dmabuf_new(device, dmabuf, offset, size, access);
	if (IS_ERR(umem_dmabuf)) {
		ret = PTR_ERR(umem_dmabuf);
		goto put;
	}
	umem_dmabuf->attach = dma_buf_dynamic_attach(dmabuf, dma_device, ops,
						     umem_dmabuf);
	if (!IS_ERR(umem_dmabuf->attach))
		return umem_dmabuf;
	ret = PTR_ERR(umem_dmabuf->attach);
	kfree(umem_dmabuf);
put:
	dma_buf_put(dmabuf);
	return ERR_PTR(ret);
}

/**
 * ib_umem_dmabuf_get() - attach a device to a movable region of a dma-buf
 * @device: device that will access it
 * @offset: first byte of the region in the dma-buf, need not be aligned
 * @size: bytes
 * @fd: descriptor of the dma-buf
 * @access: enum ib_access_flags
 * @ops: with a move_notify method, which unmaps the pages; importer_priv of its
 *	argument is the region.  It may be called before this function returns.
 *
 * No page is mapped until ib_umem_dmabuf_map_pages() is called.
 *
 * Context: process with the descriptor; may sleep.
 * Return: the region, or an ERR_PTR: -EINVAL for a descriptor that is no dma-buf, a
 * region that is empty or not all inside the dma-buf, or a device without DMA; -EBADF,
 * -ENOMEM, the exporter's error.
 */
struct ib_umem_dmabuf *ib_umem_dmabuf_get(struct ib_device *device,
					  unsigned long offset, size_t size,
					  int fd, int access,
					  const struct dma_buf_attach_ops *ops)
{
	return dmabuf_attach(device, device->dma_device, offset, size, fd,
			     access, ops);
}
EXPORT_SYMBOL(ib_umem_dmabuf_get);

/* A pinned buffer must not move; warns about an exporter that moves it. */
static void dmabuf_pinned_move(struct dma_buf_attachment *attach)
{
	struct ib_umem_dmabuf *umem_dmabuf = attach->importer_priv;

	ibdev_warn_ratelimited(umem_dmabuf->umem.ibdev,
			       "exporter %s would move a pinned dma-buf\n",
			       attach->dmabuf->exp_name);
}

static const struct dma_buf_attach_ops dmabuf_pinned_ops = {
	.allow_peer2peer = true,
	.move_notify = dmabuf_pinned_move,
};

static void dmabuf_revocable_move(struct dma_buf_attachment *attach)
{
	struct ib_umem_dmabuf *umem_dmabuf = attach->importer_priv;

	/* May be called before dma_buf_dynamic_attach() has returned @attach. */
	umem_dmabuf->attach = attach;
	dmabuf_revoke_locked(umem_dmabuf);
}

static const struct dma_buf_attach_ops dmabuf_revocable_ops = {
	.allow_peer2peer = true,
	.move_notify = dmabuf_revocable_move,
};

/* Attaches, pins and maps; on success the reservation lock is held. */
static struct ib_umem_dmabuf *
dmabuf_get_pinned_and_lock(struct ib_device *device, struct device *dma_device,
			   unsigned long offset, size_t size, int fd, int access,
			   const struct dma_buf_attach_ops *ops)
{
	struct ib_umem_dmabuf *umem_dmabuf;
	int ret;

	umem_dmabuf = dmabuf_attach(device, dma_device, offset, size, fd, access,
				    ops);
	if (IS_ERR(umem_dmabuf))
		return umem_dmabuf;

	ib_umem_dmabuf_revoke_lock(umem_dmabuf);
	ret = dma_buf_pin(umem_dmabuf->attach);
	if (ret)
		goto release;
	umem_dmabuf->pinned = 1;
	/* Fails if the exporter took the buffer back since it was attached. */
	ret = ib_umem_dmabuf_map_pages(umem_dmabuf);
	if (!ret)
		return umem_dmabuf;
release:
	ib_umem_dmabuf_revoke_unlock(umem_dmabuf);
	ib_umem_dmabuf_release(umem_dmabuf);
	return ERR_PTR(ret);
}

/**
 * ib_umem_dmabuf_get_pinned_revocable_and_lock() - attach to a revocable pinned region
 * @device: device that will access it
 * @offset: first byte of the region in the dma-buf
 * @size: bytes
 * @fd: descriptor of the dma-buf
 * @access: enum ib_access_flags
 *
 * The region is mapped, and the reservation lock is held: under it the driver sets
 * up its device, calls ib_umem_dmabuf_set_revoke_locked(), and then
 * ib_umem_dmabuf_revoke_unlock().
 *
 * Context: process with the descriptor; may sleep.
 * Return: as ib_umem_dmabuf_get(); the lock is held only on success.
 */
struct ib_umem_dmabuf *
ib_umem_dmabuf_get_pinned_revocable_and_lock(struct ib_device *device,
					     unsigned long offset, size_t size,
					     int fd, int access)
{
	return dmabuf_get_pinned_and_lock(device, device->dma_device, offset,
					  size, fd, access,
					  &dmabuf_revocable_ops);
}
EXPORT_SYMBOL(ib_umem_dmabuf_get_pinned_revocable_and_lock);

static struct ib_umem_dmabuf *
dmabuf_get_pinned(struct ib_device *device, struct device *dma_device,
		  unsigned long offset, size_t size, int fd, int access)
{
	struct ib_umem_dmabuf *region;

	region = dmabuf_get_pinned_and_lock(device, dma_device, offset, size,
					    fd, access, &dmabuf_pinned_ops);
	if (!IS_ERR(region))
		ib_umem_dmabuf_revoke_unlock(region);
	return region;
}

/**
 * ib_umem_dmabuf_get_pinned() - attach a device to a pinned region of a dma-buf
 * @device: device that will access it
 * @offset: first byte of the region in the dma-buf
 * @size: bytes
 * @fd: descriptor of the dma-buf
 * @access: enum ib_access_flags
 *
 * Context: process with the descriptor; may sleep.
 * Return: the region, mapped; errors as ib_umem_dmabuf_get().
 */
struct ib_umem_dmabuf *ib_umem_dmabuf_get_pinned(struct ib_device *device,
						 unsigned long offset,
						 size_t size, int fd,
						 int access)
{
	return dmabuf_get_pinned(device, device->dma_device, offset, size, fd,
				 access);
}
EXPORT_SYMBOL(ib_umem_dmabuf_get_pinned);

/**
 * ib_umem_dmabuf_get_pinned_with_dma_device() - attach a DMA device to a pinned region
 * @device: RDMA device it is registered with
 * @dma_device: device that will access it
 * @offset: first byte of the region in the dma-buf
 * @size: bytes
 * @fd: descriptor of the dma-buf
 * @access: enum ib_access_flags
 *
 * Context: process with the descriptor; may sleep.
 * Return: the region, mapped; errors as ib_umem_dmabuf_get().
 */
struct ib_umem_dmabuf *
ib_umem_dmabuf_get_pinned_with_dma_device(struct ib_device *device,
					  struct device *dma_device,
					  unsigned long offset, size_t size,
					  int fd, int access)
{
	return dmabuf_get_pinned(device, dma_device, offset, size, fd, access);
}
EXPORT_SYMBOL(ib_umem_dmabuf_get_pinned_with_dma_device);

/**
 * ib_umem_dmabuf_set_revoke_locked() - set the callback that stops the device
 * @umem_dmabuf: revocable region
 * @revoke: called under the reservation lock, at most once, when the exporter takes
 *	the buffer back; on its return the device no longer uses the pages
 * @priv: argument of @revoke
 *
 * Context: under the dma-buf's reservation lock.
 */
void ib_umem_dmabuf_set_revoke_locked(struct ib_umem_dmabuf *umem_dmabuf,
				      void (*revoke)(void *priv), void *priv)
{
	dma_resv_assert_held(dmabuf_resv(umem_dmabuf));
	umem_dmabuf->private = priv;
	ibex_dmabuf_pinned_revoke(umem_dmabuf) = revoke;
}
EXPORT_SYMBOL(ib_umem_dmabuf_set_revoke_locked);

/**
 * ib_umem_dmabuf_revoke() - give a region's memory back to the exporter for good
 * @umem_dmabuf: region; its device has stopped using it, or does so in its revoke
 *	callback
 *
 * The region is unmapped and unpinned, and cannot be mapped again.  Calling this again
 * is harmless.
 *
 * Context: process; may sleep.
 */
void ib_umem_dmabuf_revoke(struct ib_umem_dmabuf *umem_dmabuf)
{
	ib_umem_dmabuf_revoke_lock(umem_dmabuf);
	dmabuf_revoke_locked(umem_dmabuf);
	ib_umem_dmabuf_revoke_unlock(umem_dmabuf);
}
EXPORT_SYMBOL(ib_umem_dmabuf_revoke);

/*
 * Frees a region, for ib_umem_release().  No reference to it remains: (1) the caller
 * guarantees that its device has stopped using it; (2) detaching takes the reservation
 * lock, under which move_notify runs, so afterwards no such call runs and the exporter
 * does not know the region; (3) the reference on the dma-buf is dropped last.
 */
void ib_umem_dmabuf_release(struct ib_umem_dmabuf *umem_dmabuf)
{
	struct dma_buf *dmabuf = umem_dmabuf->attach->dmabuf;

	dma_resv_lock(dmabuf->resv, NULL);
	dmabuf_let_go(umem_dmabuf);
	dma_resv_unlock(dmabuf->resv);

	dma_buf_detach(dmabuf, umem_dmabuf->attach);
	dma_buf_put(dmabuf);
	kfree(umem_dmabuf);
}
