// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Module init and exit of the InfiniBand communication manager. */
#include <linux/module.h>

#include "ibcm/id.h"
#include "ibcm/port.h"
#include "messages/messages.h"

MODULE_DESCRIPTION("InfiniBand CM");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(IBEX_VERSION);

struct workqueue_struct *ibcm_wq;

/*
 * Why no code of this module runs, and none of its objects is referenced, after
 * ibcm_exit():
 * (1) Its callers use its symbols and were unloaded before, so there is no consumer's
 *     id and no listener; the destruction of an id cancelled the id's work.
 * (2) ib_unregister_client() unregisters every MAD agent: no message is received, none
 *     is outstanding, and every port's work is cancelled.  A REP's work that probes the
 *     PSN has freed the message, but may not have returned.
 * (3) ibcm_ids_drain() ends every timewait: no timer is armed.
 * (4) destroy_workqueue() waits for works that are still queued; the last references
 *     on ids were dropped by (2) and by these works.
 * (5) ibcm_counters_exit() waits for readers of the files in debugfs, which hold ids.
 * (6) rcu_barrier() ends the RCU callbacks that free peers, paths and
 *     listeners.
 */
static void __exit ibcm_exit(void)
{
	ib_unregister_client(&ibcm_client);
	ibcm_ids_drain();
	destroy_workqueue(ibcm_wq);
	ibcm_counters_exit();
	ibcm_rx_exit();
	rcu_barrier();
	ibcm_ids_exit();
	ibcm_sidr_exit();
	ibcm_listen_exit();
	ibcm_paths_exit();
	ibcm_peers_exit();
}

static int __init ibcm_init(void)
{
	int ret;

	ibcm_ids_init();
	ret = ibcm_peers_init();
	if (ret)
		return ret;
	ret = ibcm_paths_init();
	if (ret)
		goto err_peers;
	ret = ibcm_listen_init();
	if (ret)
		goto err_paths;
	ret = ibcm_sidr_init();
	if (ret)
		goto err_listen;
	ret = ibcm_rx_init();
	if (ret)
		goto err_sidr;

	ret = -ENOMEM;
	/* WQ_MEM_RECLAIM, as storage may have to reconnect when memory is short. */
	ibcm_wq = alloc_workqueue("ib_cm", WQ_UNBOUND | WQ_MEM_RECLAIM,
				  WQ_UNBOUND_MAX_ACTIVE);
	if (!ibcm_wq)
		goto err_rx;
	ibcm_counters_init();

	ret = ib_register_client(&ibcm_client);
	if (ret)
		goto err_wq;
	return 0;

err_wq:
	ibcm_counters_exit();
	destroy_workqueue(ibcm_wq);
err_rx:
	ibcm_rx_exit();
err_sidr:
	ibcm_sidr_exit();
err_listen:
	ibcm_listen_exit();
err_paths:
	ibcm_paths_exit();
err_peers:
	ibcm_peers_exit();
	ibcm_ids_exit();
	return ret;
}

module_init(ibcm_init);
module_exit(ibcm_exit);
