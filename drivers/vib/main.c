// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* vib: an InfiniBand fabric in software.  Documentation/vib.rst says how to use it. */
#include <linux/device.h>
#include <linux/module.h>
#include "config/config.h"
#include "device/hca.h"
#include "trunk/trunk.h"

struct workqueue_struct *vib_wq;
struct workqueue_struct *vib_free_wq;
struct workqueue_struct *vib_trunk_wq;
struct device *vib_parent;

static int __init vib_init(void)
{
	int ret = -ENOMEM;

	vib_wq = alloc_workqueue("vib", WQ_BH, 0);
	vib_free_wq = alloc_workqueue("vib_free", WQ_UNBOUND, 0);
	/* File systems may write by a trunk when memory is short. */
	vib_trunk_wq = alloc_workqueue("vib_trunk", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!vib_wq || !vib_free_wq || !vib_trunk_wq)
		goto err;
	vib_parent = root_device_register("vib");
	if (IS_ERR(vib_parent)) {
		ret = PTR_ERR(vib_parent);
		goto err;
	}
	ret = vib_config_init();
	if (!ret)
		return 0;
	root_device_unregister(vib_parent);
err:
	if (vib_trunk_wq)
		destroy_workqueue(vib_trunk_wq);
	if (vib_free_wq)
		destroy_workqueue(vib_free_wq);
	if (vib_wq)
		destroy_workqueue(vib_wq);
	return ret;
}

/*
 * Why nothing of the module is in use afterwards: (1) a fabric's folder keeps the module
 * loaded, so there is no fabric, and each node was removed; (2) a node whose last packet
 * is freed late is freed by a work item, which destroy_workqueue() awaits; (3) the
 * percpu_ref of it was put under RCU, which rcu_barrier() awaits before; (4) a trunk's folder
 * closes it when it goes, which ends the trunk's works.
 */
static void __exit vib_exit(void)
{
	vib_config_exit();
	rcu_barrier();
	destroy_workqueue(vib_free_wq);
	destroy_workqueue(vib_trunk_wq);
	destroy_workqueue(vib_wq);
	root_device_unregister(vib_parent);
}

module_init(vib_init);
module_exit(vib_exit);
MODULE_DESCRIPTION("Software InfiniBand fabric");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(IBEX_VERSION);
