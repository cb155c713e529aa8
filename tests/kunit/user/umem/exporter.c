// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include "exporter.h"

static int exporter_attach(struct dma_buf *dmabuf, struct dma_buf_attachment *attach)
{
	((struct exporter *)dmabuf->priv)->attached++;
	return 0;
}

static void exporter_detach(struct dma_buf *dmabuf, struct dma_buf_attachment *attach)
{
	((struct exporter *)dmabuf->priv)->attached--;
}

static int exporter_pin(struct dma_buf_attachment *attach)
{
	struct exporter *exp = attach->dmabuf->priv;

	if (exp->fail_pin)
		return exp->fail_pin;
	exp->pinned++;
	return 0;
}

static void exporter_unpin(struct dma_buf_attachment *attach)
{
	((struct exporter *)attach->dmabuf->priv)->pinned--;
}

static struct sg_table *exporter_map(struct dma_buf_attachment *attach,
				     enum dma_data_direction dir)
{
	struct exporter *exp = attach->dmabuf->priv;
	struct scatterlist *sg;
	struct sg_table *sgt;
	int i;

	if (exp->move_while_mapping)
		dma_buf_move_notify(attach->dmabuf);
	if (exp->fail_map)
		return ERR_PTR(exp->fail_map);
	sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);
	if (!sgt)
		return ERR_PTR(-ENOMEM);
	if (sg_alloc_table(sgt, exp->segs, GFP_KERNEL)) {
		kfree(sgt);
		return ERR_PTR(-ENOMEM);
	}
	for_each_sgtable_dma_sg(sgt, sg, i) {
		sg_dma_address(sg) = EXPORT_DMA(i);
		sg_dma_len(sg) = EXPORT_SEG;
	}
	exp->mapped++;
	exp->maps++;
	return sgt;
}

static void exporter_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
			   enum dma_data_direction dir)
{
	struct exporter *exp = attach->dmabuf->priv;
	struct scatterlist *sg;
	int i;

	for_each_sgtable_dma_sg(sgt, sg, i)
		if (sg_dma_address(sg) != EXPORT_DMA(i) || sg_dma_len(sg) != EXPORT_SEG)
			exp->spoilt = true;
	exp->mapped--;
	sg_free_table(sgt);
	kfree(sgt);
}

static void exporter_release(struct dma_buf *dmabuf)
{
}

static const struct dma_buf_ops exporter_ops = {
	.attach = exporter_attach,
	.detach = exporter_detach,
	.map_dma_buf = exporter_map,
	.unmap_dma_buf = exporter_unmap,
	.release = exporter_release,
};

static const struct dma_buf_ops exporter_dynamic_ops = {
	.attach = exporter_attach,
	.detach = exporter_detach,
	.pin = exporter_pin,
	.unpin = exporter_unpin,
	.map_dma_buf = exporter_map,
	.unmap_dma_buf = exporter_unmap,
	.release = exporter_release,
};

int exporter_open(struct exporter *exp, bool dynamic)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);

	memset(exp, 0, sizeof(*exp));
	exp->segs = EXPORT_SEGS;
	info.ops = dynamic ? &exporter_dynamic_ops : &exporter_ops;
	info.size = EXPORT_SIZE;
	info.flags = O_RDWR;
	info.priv = exp;
	exp->dmabuf = dma_buf_export(&info);
	if (IS_ERR(exp->dmabuf))
		return PTR_ERR(exp->dmabuf);
	exp->fd = dma_buf_fd(exp->dmabuf, O_CLOEXEC);
	if (exp->fd >= 0)
		return 0;
	dma_buf_put(exp->dmabuf);
	return exp->fd;
}

void exporter_close(struct exporter *exp)
{
	close_fd(exp->fd);
	flush_delayed_fput();
}

void exporter_move(struct exporter *exp)
{
	dma_resv_lock(exp->dmabuf->resv, NULL);
	dma_buf_move_notify(exp->dmabuf);
	dma_resv_unlock(exp->dmabuf->resv);
}

void exporter_expect_idle(struct kunit *test, struct exporter *exp)
{
	KUNIT_EXPECT_EQ(test, exp->attached, 0);
	KUNIT_EXPECT_EQ(test, exp->pinned, 0);
	KUNIT_EXPECT_EQ(test, exp->mapped, 0);
	KUNIT_EXPECT_FALSE(test, exp->spoilt);
	KUNIT_EXPECT_FALSE(test, dma_resv_is_locked(exp->dmabuf->resv));
	KUNIT_EXPECT_TRUE(test, list_empty(&exp->dmabuf->attachments));
	KUNIT_EXPECT_EQ(test, file_count(exp->dmabuf->file), 1l);
}
