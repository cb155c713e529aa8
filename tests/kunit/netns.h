/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_NETNS_H
#define IBEX_NETNS_H

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/umh.h>
#include <net/net_namespace.h>

static inline int test_net_process(struct subprocess_info *info, struct cred *new)
{
	*(pid_t *)info->data = task_pid_nr(current);
	return 0;
}

/*
 * Creates a network namespace: returns it with a reference, and the process that keeps
 * it.
 */
static inline int test_net_begin(pid_t *pid, struct net **net)
{
	static char *argv[] = { "/usr/bin/unshare", "-n", "/bin/sleep", "1000000",
				NULL };
	static char *envp[] = { "PATH=/usr/bin:/bin", NULL };
	struct subprocess_info *info;
	int ret, i;

	*net = NULL;
	info = call_usermodehelper_setup(argv[0], argv, envp, GFP_KERNEL,
					 test_net_process, NULL, pid);
	if (!info)
		return -ENOMEM;
	ret = call_usermodehelper_exec(info, UMH_WAIT_EXEC);
	if (ret)
		return ret;
	for (i = 0; i < 1000; i++) {
		*net = get_net_ns_by_pid(*pid);
		if (IS_ERR(*net) || !net_eq(*net, &init_net))
			return PTR_ERR_OR_ZERO(*net);
		put_net(*net);
		*net = NULL;
		msleep(10);
	}
	return -ETIME;
}

/* Ends the process and drops the reference; the namespace exits soon after. */
static inline void test_net_end(pid_t nr, struct net *net)
{
	struct pid *pid = find_get_pid(nr);

	if (pid)
		kill_pid(pid, SIGKILL, 1);
	put_pid(pid);
	if (!IS_ERR_OR_NULL(net))
		put_net(net);
}

#endif
