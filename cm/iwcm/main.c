// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Module init and exit of the iWARP communication manager. */
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>
#include <ibex/compat/sysctl.h>

#include "iwcm.h"
#include "iwpm/iwpm.h"

MODULE_DESCRIPTION("iWARP CM");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(IBEX_VERSION);

struct workqueue_struct *iwcm_wq;
unsigned int iwcm_default_backlog = 256;

static struct ctl_table_header *iwcm_ctl_header;

static struct ctl_table iwcm_ctl_table[] = {
	{
		.procname	= "default_backlog",
		.data		= &iwcm_default_backlog,
		.maxlen		= sizeof(iwcm_default_backlog),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ONE,
		.extra2		= SYSCTL_INT_MAX,
	},
	IBEX_SYSCTL_END
};

static int __init iwcm_init(void)
{
	int ret = -ENOMEM;

	/* WQ_MEM_RECLAIM, as storage may have to reconnect when memory is short. */
	iwcm_wq = alloc_workqueue("iw_cm", WQ_UNBOUND | WQ_MEM_RECLAIM,
				  WQ_UNBOUND_MAX_ACTIVE);
	if (!iwcm_wq)
		return -ENOMEM;
	iwcm_ctl_header = register_net_sysctl(&init_net, "net/iw_cm",
					      iwcm_ctl_table);
	if (!iwcm_ctl_header)
		goto destroy_wq;
	ret = iwpm_start();
	if (ret)
		goto unregister_sysctl;
	return 0;

unregister_sysctl:
	unregister_net_sysctl_table(iwcm_ctl_header);
destroy_wq:
	destroy_workqueue(iwcm_wq);
	return ret;
}

/*
 * No id is left, and no provider's reference to one, as each id holds a reference on the
 * module.  But a provider, which need not depend on this module, may not have returned
 * from iwcm_id_release() for the last id.  If a task was preempted there,
 * synchronize_rcu_tasks() waits until that task switches voluntarily.  If it runs in an
 * interrupt or with preemption disabled, the module loader waits for a grace period
 * before it frees the text.
 */
static void __exit iwcm_exit(void)
{
	iwpm_stop();
	unregister_net_sysctl_table(iwcm_ctl_header);
	destroy_workqueue(iwcm_wq);
	synchronize_rcu_tasks();
}

module_init(iwcm_init);
module_exit(iwcm_exit);
