/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_CORE_H
#define IBEX_CORE_H

/*
 * Declarations that all files of ib_core share.  Each folder has a header of
 * its own, with a section for each file, for what its files share or offer.
 * Functions exported to other modules are declared by the kernel's <rdma/...>
 * headers or by <ibex/...>.
 *
 * Lock order, outermost first:
 *	device->unregistration_lock	the life of one device (device.c)
 *	  ibcore_device.client_lock	add() and remove() of its clients (client.c),
 *					and its name (registry.c)
 *	    device->client_data_rwsem	which clients are attached to it
 *	      device->event_handler_rwsem
 *	  ibcore_nets_rwsem		the set of namespaces (netns.c)
 *	    device->compat_devs_mutex	may be taken under client_lock
 *	      ibcore_registry_rwsem	the sets of devices and clients (registry.c);
 *					taken on (un)registration only, innermost
 *	A sub device's unregistration_lock nests in its parent's.
 *	ib_core never waits for rtnl with a lock of the GID tables held.
 */
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>
#include <rdma/ib_cache.h>
#include <ibex/compat.h>

/* ---- main.c: module init and exit call each file's init and exit in turn ---- */
extern struct workqueue_struct *ib_comp_wq;		/* bound, IB_POLL_WORKQUEUE */
extern struct workqueue_struct *ib_comp_unbound_wq;	/* IB_POLL_UNBOUND_WORKQUEUE */

#endif
