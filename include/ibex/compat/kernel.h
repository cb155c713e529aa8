/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_COMPAT_KERNEL_H
#define IBEX_COMPAT_KERNEL_H

/* Functions and prototypes outside of RDMA; include/ibex/compat.h. */
#include <linux/compiler.h>
#include <linux/overflow.h>
#include <linux/stddef.h>
#include <linux/version.h>

/* Earlier updates of 6.1 do not have these. */
#ifndef __counted_by
#define __counted_by(member)
#endif
#ifndef struct_size_t
#define struct_size_t(type, member, count) struct_size((type *)NULL, member, count)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#include <linux/bvec.h>
#include <linux/ethtool.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/srcu.h>
#include <asm/unaligned.h>

/* What later releases take as const: classes, and the devices of their methods. */
#define IBEX_CONST

/* Sets a __string() of a trace event; later releases remember the source. */
#define ibex_assign_str(dst, src) __assign_str(dst, src)

/* Member of struct netlink_dump_control: 6.1 gives each dump an extack of its own. */
#define IBEX_DUMP_EXTACK(from)

#define SPEED_800000 800000

/* A read section that one function begins and another ends, in another task perhaps. */
static inline int srcu_down_read(struct srcu_struct *ssp) __acquires(ssp)
{
	return __srcu_read_lock(ssp);
}

static inline void srcu_up_read(struct srcu_struct *ssp, int idx) __releases(ssp)
{
	__srcu_read_unlock(ssp, idx);
}

static inline void bvec_set_virt(struct bio_vec *bv, void *at, unsigned int len)
{
	bv->bv_page = virt_to_page(at);
	bv->bv_offset = offset_in_page(at);
	bv->bv_len = len;
}

/* For mmap(), which holds mmap_lock for writing. */
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

/* A net_device whose ndo_start_xmit() needs no lock; before it is registered. */
static inline void ibex_set_lltx(struct net_device *dev)
{
	dev->features |= NETIF_F_LLTX;
}
#else
#include <linux/netdevice.h>
#include <linux/unaligned.h>

#define IBEX_CONST const
#define ibex_assign_str(dst, src) __assign_str(dst)
#define IBEX_DUMP_EXTACK(from) .extack = (from),

static inline void ibex_set_lltx(struct net_device *dev)
{
	dev->lltx = true;
}
#endif

#endif
