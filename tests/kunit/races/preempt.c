// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What is used without a reference may be freed meanwhile, but who frees it mostly waits for a
 * grace period of RCU, or two: only a thread that does not run for so long, between two
 * instructions, sees it.  A probe cannot wait for it, as probes are RCU sections themselves.  So a
 * thread of the highest priority takes the processor, when an RCU section of ours has ended, or
 * before a lock of ours is taken, for longer.  It takes one processor at a time, as a grace period
 * also waits for the RCU sections that it interrupts.  Places where threads come rarely are taken
 * more often; or only those of one function, where a mistake of one place is looked for.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include "delays.h"
#include "preempt.h"

static unsigned int preempt_ms = 100;
module_param(preempt_ms, uint, 0444);
MODULE_PARM_DESC(preempt_ms, "how long another thread runs at locks and the ends of RCU sections");

static char *preempt_at = "";
module_param(preempt_at, charp, 0444);
MODULE_PARM_DESC(preempt_at, "only in this function");

#define SITES_BITS	12
#define SITES_TRIES	16

/* A place in our code; written by all processors, and exact for none. */
static struct site {
	unsigned long ip;
	unsigned int visits;
	bool elsewhere;		/* than in preempt_at */
} sites[1 << SITES_BITS];

#define NOBODY	-1

static DEFINE_PER_CPU(struct task_struct *, intruders);
static atomic_t taken = ATOMIC_INIT(NOBODY);	/* the processor that an intruder has, or will */
static unsigned long rests_until;		/* in jiffies; written by who has set @taken */
static unsigned long times;			/* like @rests_until */
static atomic_t away;				/* probes that are not protected by RCU */

static int intrude(void *unused)
{
	int i, cpu = raw_smp_processor_id();

	while (!kthread_should_stop()) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (atomic_read_acquire(&taken) != cpu) {
			if (!kthread_should_stop())
				schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		for (i = 0; i < preempt_ms && !kthread_should_stop(); i++)
			mdelay(1);
		WRITE_ONCE(rests_until, jiffies +
			   msecs_to_jiffies(*preempt_at ? 0 : 3 * preempt_ms));
		atomic_set_release(&taken, NOBODY);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

static bool is_elsewhere(unsigned long ip)
{
	char name[KSYM_SYMBOL_LEN];

	if (!*preempt_at)
		return false;
	sprint_symbol_no_offset(name, ip);
	name[strcspn(name, " ")] = '\0';
	return strcmp(name, preempt_at);
}

/* NULL if there are too many. */
static struct site *site_of(unsigned long ip)
{
	unsigned int i, at = hash_long(ip, SITES_BITS);
	unsigned long entry;

	for (i = 0; i < SITES_TRIES; i++, at = (at + 1) % ARRAY_SIZE(sites)) {
		entry = READ_ONCE(sites[at].ip);
		if (!entry) {
			entry = cmpxchg(&sites[at].ip, 0, ip) ?: ip;
			if (entry == ip)
				WRITE_ONCE(sites[at].elsewhere, is_elsewhere(ip));
		}
		if (entry == ip)
			return &sites[at];
	}
	return NULL;
}

/*
 * Of a thousand visits to a place some 16 are chosen, half of them among the first hundred; or of
 * those to preempt_at each second one.
 */
static bool is_chosen(struct site *site, u32 random)
{
	unsigned int visits = READ_ONCE(site->visits);

	if (*preempt_at)
		return !READ_ONCE(site->elsewhere) && random % 2;
	WRITE_ONCE(site->visits, visits + 1);
	return random % (4 + visits / 4) == 0;
}

/* Of a probe, whose preemption count is 1, in @depth RCU sections: whether it is chosen. */
static bool preempt_soon(unsigned long ip, u32 random, int depth)
{
	struct task_struct *intruder = __this_cpu_read(intruders);
	struct site *site;

	if (!intruder || !in_task() || irqs_disabled() || preempt_count() != 1 ||
	    rcu_preempt_depth() != depth || atomic_read(&taken) != NOBODY ||
	    time_before(jiffies, READ_ONCE(rests_until)))
		return false;
	site = site_of(ip);
	if (!site || !is_chosen(site, random) ||
	    atomic_cmpxchg(&taken, NOBODY, smp_processor_id()) != NOBODY)
		return false;
	WRITE_ONCE(times, times + 1);
	wake_up_process(intruder);
	return true;
}

/* Called by a probe: the thread is preempted when that returns. */
void preempt_at_lock(unsigned long ip, u32 random)
{
	preempt_soon(ip, random, 0);
}

/* Whether the probe, which may be on another processor then, is to call preempt_rcu_end(). */
bool preempt_at_rcu_end(unsigned long ip, u32 random)
{
	return preempt_soon(ip, random, 1);
}

/* Lockdep is told just before the section ends, so it ends here already. */
void preempt_rcu_end(void)
{
	atomic_inc(&away);
	__rcu_read_unlock();
	preempt_enable_notrace();
	/* Here the other thread runs. */
	__rcu_read_lock();
	preempt_disable_notrace();
	atomic_dec(&away);
}

unsigned long preempt_times(void)
{
	return READ_ONCE(times);
}
EXPORT_SYMBOL_GPL(preempt_times);

bool preempt_possible(void)
{
	return raw_cpu_read(intruders) && !*preempt_at;
}
EXPORT_SYMBOL_GPL(preempt_possible);

/* The probes have been unregistered; those that are not protected by RCU go on for some time. */
void preempt_exit(void)
{
	int cpu;

	while (atomic_read(&away))
		msleep(1);
	synchronize_rcu();
	for_each_possible_cpu(cpu)
		if (per_cpu(intruders, cpu))
			kthread_stop(per_cpu(intruders, cpu));
}

/* On one processor, and where RCU sections are not preempted, it would only take time. */
int preempt_init(void)
{
	struct task_struct *task;
	int cpu;

	if (!IS_ENABLED(CONFIG_PREEMPT_RCU) || !preempt_ms || num_online_cpus() == 1)
		return 0;
	rests_until = jiffies;
	for_each_online_cpu(cpu) {
		task = kthread_create_on_cpu(intrude, NULL, cpu, "intruder/%u");
		if (IS_ERR(task)) {
			preempt_exit();
			return PTR_ERR(task);
		}
		sched_set_fifo(task);
		wake_up_process(task);
		per_cpu(intruders, cpu) = task;
	}
	return 0;
}
