// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Mistakes of each kind that the debug kernels must find, to see that they do.  Writing a name
 * to the parameter "make" makes the mistake.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timer.h>

struct thing {
	struct timer_list timer;
	u8 value;
};

static u8 seen;
static unsigned long shared;

static void thing_expired(struct timer_list *timer)
{
}

static int use_after_free(void)
{
	struct thing *thing = kzalloc(sizeof(*thing), GFP_KERNEL);

	if (!thing)
		return -ENOMEM;
	OPTIMIZER_HIDE_VAR(thing);
	kfree(thing);
	seen = READ_ONCE(thing->value);
	return 0;
}

static int free_with_timer(void)
{
	struct thing *thing = kzalloc(sizeof(*thing), GFP_KERNEL);

	if (!thing)
		return -ENOMEM;
	timer_setup(&thing->timer, thing_expired, 0);
	mod_timer(&thing->timer, jiffies + HZ / 10);
	kfree(thing);
	return 0;
}

static int sleep_in_atomic(void)
{
	static DEFINE_SPINLOCK(lock);

	spin_lock(&lock);
	msleep(20);
	spin_unlock(&lock);
	return 0;
}

static int lock_order(void)
{
	static DEFINE_MUTEX(one);
	static DEFINE_MUTEX(two);

	mutex_lock(&one);
	mutex_lock(&two);
	mutex_unlock(&two);
	mutex_unlock(&one);
	mutex_lock(&two);
	mutex_lock(&one);
	mutex_unlock(&one);
	mutex_unlock(&two);
	return 0;
}

static int lose_memory(void)
{
	void *lost = kzalloc(777, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(lost);
	return lost ? 0 : -ENOMEM;
}

static int count(void *unused)
{
	unsigned long end = jiffies + 3 * HZ;

	while (time_before(jiffies, end) && !kthread_should_stop()) {
		shared++;
		cond_resched();
	}
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static int race_for_data(void)
{
	struct task_struct *tasks[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		tasks[i] = kthread_run_on_cpu(count, NULL, i, "mistakes/%u");
		if (IS_ERR(tasks[i]))
			return PTR_ERR(tasks[i]);
	}
	msleep(3000);
	for (i = 0; i < 2; i++)
		kthread_stop(tasks[i]);
	return 0;
}

static const struct {
	const char *name;
	int (*make)(void);
} mistakes[] = {
	{ "use-after-free", use_after_free },
	{ "free-with-timer", free_with_timer },
	{ "sleep-in-atomic", sleep_in_atomic },
	{ "lock-order", lock_order },
	{ "lose-memory", lose_memory },
	{ "data-race", race_for_data },
};

static int make_set(const char *name, const struct kernel_param *kp)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mistakes); i++)
		if (sysfs_streq(name, mistakes[i].name))
			return mistakes[i].make();
	return -EINVAL;
}

static const struct kernel_param_ops make_ops = {
	.set = make_set,
};

module_param_cb(make, &make_ops, NULL, 0200);
MODULE_PARM_DESC(make, "Makes the mistake of that name");

static int __init mistakes_init(void)
{
	return 0;
}

static void __exit mistakes_exit(void)
{
}

module_init(mistakes_init);
module_exit(mistakes_exit);
MODULE_DESCRIPTION("Mistakes that debug kernels must find");
MODULE_LICENSE("Dual BSD/GPL");
