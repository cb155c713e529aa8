// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the agents remember of ports: bases of counters, traps that are being repeated. */
#include <linux/slab.h>
#include "mgmt/state.h"

struct vib_mgmt *vib_mgmt_alloc(struct vib_port *port)
{
	struct vib_mgmt *mgmt = kzalloc(sizeof(*mgmt), GFP_KERNEL);

	if (!mgmt)
		return NULL;
	mgmt->port = port;
	spin_lock_init(&mgmt->lock);
	INIT_DELAYED_WORK(&mgmt->trap_work, vib_trap_work);
	return mgmt;
}

/* Disabled: what another port of the node still sends may be the cause of a trap here. */
void vib_mgmt_stop(struct vib_mgmt *mgmt)
{
	if (mgmt)
		disable_delayed_work_sync(&mgmt->trap_work);
}

/*
 * Why nothing uses the state afterwards: (1) the node is being released, so no packet and no
 * owner calls the agents for the port; (2) the works that repeat traps, of all ports of the
 * node, have ended and stay disabled.
 */
void vib_mgmt_free(struct vib_mgmt *mgmt)
{
	kfree(mgmt);
}
