// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ib_mad: management datagrams (IBA vol. 1, chapters 13 to 16) over the special
 * QPs of every port that has them.
 */
#include <linux/module.h>
#include "port/port.h"
#include "sa/sa.h"

unsigned int ibmad_send_depth = 128;
module_param_named(send_queue_size, ibmad_send_depth, uint, 0444);
MODULE_PARM_DESC(send_queue_size, "Work requests on the send queue of a special QP");

unsigned int ibmad_recv_depth = 512;
module_param_named(recv_queue_size, ibmad_recv_depth, uint, 0444);
MODULE_PARM_DESC(recv_queue_size, "Receive buffers posted to a special QP");

/*
 * Half of the receive buffers that a peer posts by default: it takes two agents to fill
 * its queue.
 */
unsigned int ibmad_request_window = 256;
EXPORT_SYMBOL_IF_KUNIT(ibmad_request_window);
module_param_named(request_window, ibmad_request_window, uint, 0644);
MODULE_PARM_DESC(request_window,
		 "Requests that an agent has out to one destination; 0: no limit");

unsigned long ibmad_rmpp_max_bytes = 16 << 20;
EXPORT_SYMBOL_IF_KUNIT(ibmad_rmpp_max_bytes);
module_param_named(rmpp_recv_bytes, ibmad_rmpp_max_bytes, ulong, 0644);
MODULE_PARM_DESC(rmpp_recv_bytes,
		 "Bytes of RMPP transfers that an agent may hold unread; half of it for requests");

struct workqueue_struct *ibmad_wq;
struct workqueue_struct *ibmad_lookup_wq;

static int __init ibmad_init(void)
{
	int ret;

	ibmad_send_depth = clamp(ibmad_send_depth, 64U, 8192U);
	ibmad_recv_depth = clamp(ibmad_recv_depth, 64U, 8192U);
	ibmad_stats_init();

	/*
	 * WQ_MEM_RECLAIM: clients deregister agents in reclaim paths, and
	 * deregistration waits for work on this queue.  WQ_UNBOUND, like the queue of
	 * the CQs: on a CPU that is busy with interrupts, responses to a subnet manager
	 * would be late.  Both queues share a pool of workers, so the worker that
	 * polled a CQ may go on to deliver if no other is faster.
	 */
	ibmad_wq = alloc_workqueue("ib_mad", WQ_UNBOUND | WQ_HIGHPRI |
				   WQ_MEM_RECLAIM, 0);
	if (!ibmad_wq)
		return -ENOMEM;
	/*
	 * A queue of its own, so that no delivery waits for address resolution.
	 * WQ_MEM_RECLAIM: a driver's recovery may add its device in a reclaim path, and
	 * adding it waits for the address handle of the subnet manager (sa/port.c).
	 */
	ibmad_lookup_wq = alloc_workqueue("ib_mad_lookup",
					  WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!ibmad_lookup_wq) {
		ret = -ENOMEM;
		goto err_wq;
	}

	ret = ib_register_client(&ibmad_client);
	if (ret)
		goto err_lookup_wq;
	/* After the ports exist: the SA client registers an agent on each of them. */
	ret = ibmad_sa_init();
	if (ret)
		goto err_client;
	return 0;

err_client:
	ib_unregister_client(&ibmad_client);
err_lookup_wq:
	destroy_workqueue(ibmad_lookup_wq);
err_wq:
	destroy_workqueue(ibmad_wq);
	return ret;
}

/*
 * No reference remains after this:
 * (1) Every client module uses our exports, so none is loaded.
 * (2) ib_unregister_client() has run ibmad_client.remove for every device:
 *     QPs, CQs and their work have been destroyed (port.c).
 * (3) No timer is pending: each was disarmed when its send completed, at the
 *     latest by its agent's deregistration.  A handler that had fired just before may
 *     still run in softirq; synchronize_rcu() waits for it.
 * (4) Work items that dropped the last reference may still be returning;
 *     destroy_workqueue() waits for them.
 */
static void __exit ibmad_exit(void)
{
	ibmad_sa_exit();
	ib_unregister_client(&ibmad_client);
	synchronize_rcu();
	destroy_workqueue(ibmad_lookup_wq);
	destroy_workqueue(ibmad_wq);
}

module_init(ibmad_init);
module_exit(ibmad_exit);

MODULE_DESCRIPTION("InfiniBand management datagrams");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(IBEX_VERSION);
