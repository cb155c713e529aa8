// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rdma_cm: connections by IP address over InfiniBand, RoCE and iWARP.
 *
 * Initialization and exit of the module, and the data of each network namespace.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "bind/bind.h"
#include "id/id.h"
#include "resolve/resolve.h"

MODULE_AUTHOR("The Ibex developers");
MODULE_DESCRIPTION("RDMA connection manager");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(IBEX_VERSION);

/* Runs cma_event_work(), one work item per id, in parallel. */
struct workqueue_struct *cma_wq;

static unsigned int cma_net_id;

static int cma_ps_index(enum rdma_ucm_port_space ps)
{
	switch (ps) {
	case RDMA_PS_TCP:
		return CMA_PS_TCP;
	case RDMA_PS_UDP:
		return CMA_PS_UDP;
	case RDMA_PS_IB:
		return CMA_PS_IB;
	case RDMA_PS_IPOIB:
		return CMA_PS_IPOIB;
	default:
		return -1;
	}
}

/* Returns NULL if there is no such port space. */
struct cma_port_space *cma_port_space(struct net *net,
				      enum rdma_ucm_port_space ps)
{
	struct cma_net *cnet = net_generic(net, cma_net_id);
	int i = cma_ps_index(ps);

	return i < 0 ? NULL : &cnet->ps[i];
}

static int __net_init cma_net_init(struct net *net)
{
	struct cma_net *cnet = net_generic(net, cma_net_id);
	int i;

	for (i = 0; i < CMA_NR_PS; i++) {
		xa_init_flags(&cnet->ps[i].buckets, XA_FLAGS_ALLOC);
		atomic_set(&cnet->ps[i].next, get_random_u32());
	}
	return 0;
}

/* Each id holds a reference to its namespace, so no port is in use any more. */
static void __net_exit cma_net_exit(struct net *net)
{
	struct cma_net *cnet = net_generic(net, cma_net_id);
	int i;

	for (i = 0; i < CMA_NR_PS; i++) {
		WARN_ON(!xa_empty(&cnet->ps[i].buckets));
		xa_destroy(&cnet->ps[i].buckets);
	}
}

static struct pernet_operations cma_net_ops = {
	.init = cma_net_init,
	.exit = cma_net_exit,
	.id = &cma_net_id,
	.size = sizeof(struct cma_net),
};

static int __init cma_wq_init(void)
{
	/* Storage must be able to reconnect when memory is short: needs a rescuer. */
	cma_wq = alloc_workqueue("rdma_cm", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return cma_wq ? 0 : -ENOMEM;
}

static void cma_wq_exit(void)
{
	destroy_workqueue(cma_wq);
}

static int __init cma_pernet_init(void)
{
	return register_pernet_subsys(&cma_net_ops);
}

static void cma_pernet_exit(void)
{
	unregister_pernet_subsys(&cma_net_ops);
}

/* In order of init; exit is in reverse order, for the parts that succeeded. */
static const struct {
	int (*init)(void);
	void (*exit)(void);
} cma_parts[] = {
	{ cma_events_init, cma_events_exit },
	{ cma_wq_init, cma_wq_exit },
	{ cma_listeners_init, cma_listeners_exit },
	{ cma_gid_hint_init, cma_gid_hint_exit },
	{ cma_pernet_init, cma_pernet_exit },
	{ cma_sa_init, cma_sa_exit },
	{ cma_netevent_init, cma_netevent_exit },
	{ cma_device_init, cma_device_exit },
	{ cma_configfs_init, cma_configfs_exit },
};

static void cma_parts_exit(int nr)
{
	while (nr--)
		cma_parts[nr].exit();
}

static int __init cma_init(void)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(cma_parts); i++) {
		err = cma_parts[i].init();
		if (err) {
			cma_parts_exit(i);
			return err;
		}
	}
	return 0;
}

static void __exit cma_exit(void)
{
	cma_parts_exit(ARRAY_SIZE(cma_parts));
}

module_init(cma_init);
module_exit(cma_exit);
