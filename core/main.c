// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Module init and exit of ib_core: inits its parts in order and exits them in
 * reverse order.
 */
#include <linux/module.h>
#include "addr/addr.h"
#include "device/device.h"
#include "gid/gid.h"
#include "netlink/nldev.h"
#include "qp/qp.h"

/* The rdma_core trace events are defined in this object. */
#define CREATE_TRACE_POINTS
#include <trace/events/rdma_core.h>

/*
 * ib_wq is for ULPs.  Completions are polled in separate work queues, which
 * make progress when memory is short, because storage depends on them.
 */
struct workqueue_struct *ib_wq;
EXPORT_SYMBOL_GPL(ib_wq);
struct workqueue_struct *ib_comp_wq;
struct workqueue_struct *ib_comp_unbound_wq;

static void workqueues_exit(void)
{
	if (ib_comp_unbound_wq)
		destroy_workqueue(ib_comp_unbound_wq);
	if (ib_comp_wq)
		destroy_workqueue(ib_comp_wq);
	if (ib_wq)
		destroy_workqueue(ib_wq);
}

static int workqueues_init(void)
{
	const unsigned int comp = WQ_HIGHPRI | WQ_MEM_RECLAIM | WQ_SYSFS;

	ib_wq = alloc_workqueue("infiniband", 0, 0);
	ib_comp_wq = alloc_workqueue("ib-comp-wq", comp, 0);
	ib_comp_unbound_wq = alloc_workqueue("ib-comp-unb-wq",
					     comp | WQ_UNBOUND,
					     WQ_UNBOUND_MAX_ACTIVE);
	if (ib_wq && ib_comp_wq && ib_comp_unbound_wq)
		return 0;
	workqueues_exit();
	return -ENOMEM;
}

/*
 * Work queues come first.  Netlink requests are delivered as soon as namespaces
 * are set up, so the namespaces come after all parts that such requests can
 * reach.  Netdev events come last.
 */
static const struct {
	int (*init)(void);
	void (*exit)(void);
} parts[] = {
	{ workqueues_init,	workqueues_exit },
	{ ibcore_event_init,	ibcore_event_exit },
	{ ibcore_device_init,	ibcore_device_exit },
	{ ibcore_addr_init,	ibcore_addr_exit },
	{ ibcore_qp_watch_init,	ibcore_qp_watch_exit },
	{ ibcore_nl_init,	ibcore_nl_exit },
	{ ibcore_nldev_init,	ibcore_nldev_exit },
	{ ibcore_ls_init,	ibcore_ls_exit },
	{ ibcore_netns_init,	ibcore_netns_exit },
	{ ibcore_roce_init,	ibcore_roce_exit },
};

static void parts_exit(unsigned int n)
{
	while (n--)
		parts[n].exit();
}

static int __init ibcore_init(void)
{
	unsigned int i;
	int ret;

	if (IS_ENABLED(CONFIG_SECURITY_INFINIBAND))
		pr_warn("ib_core: security modules are not asked about P_Keys and MAD agents\n");
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		ret = parts[i].init();
		if (ret) {
			parts_exit(i);
			return ret;
		}
	}
	return 0;
}

static void __exit ibcore_exit(void)
{
	parts_exit(ARRAY_SIZE(parts));
}

module_init(ibcore_init);
module_exit(ibcore_exit);

module_param_named(netns_mode, ibcore_netns_mode, bool, 0444);
MODULE_PARM_DESC(netns_mode,
		 "Share device among net namespaces; default=1 (shared)");

MODULE_DESCRIPTION("Ibex RDMA core: devices, verbs, addresses");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(IBEX_VERSION);
/* Providers with process_mad() expect the MAD layer to be loaded. */
MODULE_SOFTDEP("post: ib_mad");
