// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Walks the DMA addresses of a mapped scatterlist in aligned blocks of one
 * size.  A block may span entries whose DMA addresses follow one another.
 */
#include <rdma/iter.h>

/**
 * __rdma_block_iter_start() - begin to walk a scatterlist in blocks
 * @biter: walk to start
 * @sglist: DMA-mapped list
 * @nents: entries of @sglist that are mapped
 * @pgsz: block size in bytes, a power of two
 *
 * The caller has checked that the list can be cut so (ib_umem_find_best_pgsz()).
 *
 * Context: any.
 */
void __rdma_block_iter_start(struct ib_block_iter *biter,
			     struct scatterlist *sglist, unsigned int nents,
			     unsigned long pgsz)
{
	*biter = (struct ib_block_iter) {
		.__sg = sglist,
		.__sg_nents = nents,
		.__pg_bit = __fls(pgsz),
	};
}
EXPORT_SYMBOL(__rdma_block_iter_start);

/* Moves on by @bytes, over as many entries as that takes. */
static void block_iter_skip(struct ib_block_iter *biter, u64 bytes)
{
	u64 at = biter->__sg_advance + bytes;

	while (biter->__sg_nents && at >= sg_dma_len(biter->__sg)) {
		at -= sg_dma_len(biter->__sg);
		biter->__sg = sg_next(biter->__sg);
		biter->__sg_nents--;
	}
	biter->__sg_advance = at;
}

/**
 * __rdma_block_iter_next() - go to the next block
 * @biter: walk that was started
 *
 * The block's address is rdma_block_iter_dma_address().
 *
 * Context: any.
 * Return: whether there is one.
 */
bool __rdma_block_iter_next(struct ib_block_iter *biter)
{
	u64 size = BIT_ULL(biter->__pg_bit);

	if (!biter->__sg_nents || !biter->__sg)
		return false;

	biter->__dma_addr = sg_dma_address(biter->__sg) + biter->__sg_advance;
	block_iter_skip(biter, size - (biter->__dma_addr & (size - 1)));
	return true;
}
EXPORT_SYMBOL(__rdma_block_iter_next);
