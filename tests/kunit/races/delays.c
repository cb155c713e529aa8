// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Random delays at the locks of our modules, from when this module is loaded until it is
 * unloaded, without a hook in their code: probes of lockdep's tracepoints run before a lock
 * is taken, and before it is released.  Work items, timers and SRCU are locks for lockdep,
 * too.  The probes are called in any context, also with interrupts off, so a delay is a
 * busy wait.  Longer ones are made by preemptions (preempt.c).
 *
 * A lock is ours if its key is in the data of one of our modules.
 */
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/lockdep_types.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/tracepoint.h>
#include "delays.h"
#include "preempt.h"

static unsigned int seed = 1;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "of the random numbers");

static unsigned int one_in = 24;
module_param(one_in, uint, 0444);
MODULE_PARM_DESC(one_in, "so many locks have one delay on average");

static unsigned int most_us = 50;
module_param(most_us, uint, 0444);
MODULE_PARM_DESC(most_us, "the longest delay in microseconds");

static const char * const ours[] = {
	"[ib_core]", "[ib_mad]", "[ib_cm]", "[iw_cm]", "[rdma_cm]", "[ib_uverbs]",
	"[ib_umad]", "[rdma_ucm]", "[vib]",
};

/* Of a processor; used with preemption off. */
struct delays {
	u32 random;
	bool inside;		/* locks that a probe takes, or an interrupt meanwhile */
	unsigned long seen, made;
};

static DEFINE_PER_CPU(struct delays, delays);

/*
 * Addresses that have been looked up, keys and code; bit 0 says that they are ours.  An entry is
 * written once.  Code may have odd addresses: one of two neighbours stands for both.
 */
#define KNOWN_BITS	13
#define KNOWN_TRIES	16
static unsigned long known[1 << KNOWN_BITS];

static bool look_up(unsigned long key)
{
	char symbol[KSYM_SYMBOL_LEN];
	int i, len;

	len = sprint_symbol(symbol, key);
	for (i = 0; i < ARRAY_SIZE(ours); i++) {
		int n = strlen(ours[i]);

		if (len > n && !strcmp(symbol + len - n, ours[i]))
			return true;
	}
	return false;
}

static bool is_ours(unsigned long address)
{
	unsigned long entry, new, key = address & ~1UL;
	unsigned int i, at = hash_long(key, KNOWN_BITS);

	for (i = 0; i < KNOWN_TRIES; i++, at = (at + 1) % ARRAY_SIZE(known)) {
		entry = READ_ONCE(known[at]);
		if (!entry) {
			new = key | look_up(key);
			entry = cmpxchg(&known[at], 0, new) ?: new;
		}
		if ((entry & ~1UL) == key)
			return entry & 1;
	}
	return false;
}

static u32 next_random(struct delays *d)
{
	d->random ^= d->random << 13;
	d->random ^= d->random >> 17;
	d->random ^= d->random << 5;
	return d->random;
}

static void delay(struct delays *d)
{
	u32 random = next_random(d);

	d->seen++;
	if (random % one_in)
		return;
	d->made++;
	udelay(random / one_in % (most_us + 1));
}

/* Whether the probe may go on, to leave(); @d is of this processor. */
static bool enter(struct delays *d)
{
	if (in_nmi() || d->inside)
		return false;
	d->inside = true;
	barrier();
	return true;
}

static void leave(struct delays *d)
{
	barrier();
	d->inside = false;
}

#ifdef CONFIG_LOCKDEP
static bool is_our_lock(const struct lockdep_map *lock)
{
	/* The key of a lock that is defined statically is the lock. */
	return is_ours((unsigned long)lock->key ?: (unsigned long)lock);
}

static bool is_rcu(const struct lockdep_map *lock)
{
	return lock == &rcu_lock_map;
}
#else
/* Without tracepoints of locks no probe calls them. */
static bool is_our_lock(const struct lockdep_map *lock)
{
	return false;
}

static bool is_rcu(const struct lockdep_map *lock)
{
	return false;
}
#endif

static void on_acquire(void *data, struct lockdep_map *lock, unsigned int subclass,
		       int trylock, int read, int check, struct lockdep_map *nest_lock,
		       unsigned long ip)
{
	struct delays *d = this_cpu_ptr(&delays);

	if (!enter(d))
		return;
	if (is_our_lock(lock)) {
		delay(d);
		preempt_at_lock(ip, next_random(d));
	}
	leave(d);
}

/* RCU is a lock for lockdep, too, which it is told of when the section ends. */
static void on_release(void *data, struct lockdep_map *lock, unsigned long ip)
{
	struct delays *d = this_cpu_ptr(&delays);
	bool preempt = false;

	if (!enter(d))
		return;
	if (is_rcu(lock))
		preempt = is_ours(ip) && preempt_at_rcu_end(ip, next_random(d));
	else if (is_our_lock(lock))
		delay(d);
	leave(d);
	if (preempt)
		preempt_rcu_end();
}

static struct {
	const char *name;
	void *probe;
	struct tracepoint *tp;
} probes[] = {
	{ "lock_acquire", on_acquire },
	{ "lock_release", on_release },
};

static void find(struct tracepoint *tp, void *data)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (!strcmp(tp->name, probes[i].name))
			probes[i].tp = tp;
}

bool lock_delays_possible(void)
{
	return probes[0].tp;
}
EXPORT_SYMBOL_GPL(lock_delays_possible);

unsigned long lock_delays_made(void)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(&delays, cpu)->made);
	return sum;
}
EXPORT_SYMBOL_GPL(lock_delays_made);

static void delays_exit(void)
{
	unsigned long seen = 0;
	int i, cpu;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (probes[i].tp)
			tracepoint_probe_unregister(probes[i].tp, probes[i].probe, NULL);
	tracepoint_synchronize_unregister();
	preempt_exit();
	for_each_possible_cpu(cpu)
		seen += per_cpu_ptr(&delays, cpu)->seen;
	pr_info("lock_delays: %lu delays at %lu locks, %lu preemptions\n", lock_delays_made(),
		seen, preempt_times());
}

static int __init delays_init(void)
{
	int i, cpu, ret;

	if (!one_in)
		return -EINVAL;
	for_each_possible_cpu(cpu)
		per_cpu_ptr(&delays, cpu)->random = (seed * 2 + 1) * (cpu + 1);
	for_each_kernel_tracepoint(find, NULL);
	if (!lock_delays_possible()) {
		pr_info("lock_delays: this kernel has no tracepoints of locks: no delays\n");
		return 0;
	}
	ret = preempt_init();
	if (ret)
		return ret;
	pr_info("lock_delays: seed %u, one in %u, up to %u us\n", seed, one_in, most_us);
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		ret = tracepoint_probe_register(probes[i].tp, probes[i].probe, NULL);
		if (ret) {
			probes[i].tp = NULL;
			delays_exit();
			return ret;
		}
	}
	return 0;
}

module_init(delays_init);
module_exit(delays_exit);
MODULE_DESCRIPTION("Random delays at the locks of the RDMA core, for tests");
MODULE_LICENSE("Dual BSD/GPL");
