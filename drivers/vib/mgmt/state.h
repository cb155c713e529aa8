/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_MGMT_STATE_H
#define VIB_MGMT_STATE_H

/* The agents' own state of a port, beside its attributes. */
#include <linux/workqueue.h>
#include "mgmt/mgmt.h"

/* The PMA attributes that show the counters; each is reset on its own. */
enum vib_pma_view {
	VIB_PMA_COUNTERS,	/* PortCounters: narrow, saturating */
	VIB_PMA_EXTENDED,	/* PortCountersExtended */
	VIB_PMA_VIEWS
};

/* One for each trap number that a port may have to send. */
#define VIB_TRAP_SLOTS	9

struct vib_trap_slot {
	struct ib_mad_notice_attr notice;
	__be64 tid;
	u64 next;			/* jiffies: earliest time of the next one */
	u8 left;			/* times it will still be sent; 0: free */
};

/* A port's, from vib_node_init() to vib_node_cleanup(). */
struct vib_mgmt {
	struct vib_port *port;
	spinlock_t lock;		/* everything below; no other is taken under it */
	/* What a counter of the port was when it was last reset */
	u64 base[VIB_PMA_VIEWS][VIB_COUNTERS];
	bool led;			/* READ_ONCE, WRITE_ONCE: without the lock */
	struct vib_trap_slot traps[VIB_TRAP_SLOTS];
	struct delayed_work trap_work;	/* sends what is due in @traps; trap.c */
};

void vib_trap_work(struct work_struct *work);

#endif
