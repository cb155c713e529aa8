// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The port mapper daemon: its netlink port and state, and the queue of messages to it.
 *
 * The queue keeps messages in order, which decides whether a port that is mapped again
 * stays mapped, and lets a work item wait for room in the daemon's socket.  All queued
 * messages are for the known daemon; the queue is purged when that daemon is lost or
 * replaced.
 */
#include <linux/jiffies.h>
#include <linux/netlink.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <net/net_namespace.h>

#include "iwcm/iwcm.h"
#include "iwpm.h"

/* A daemon that reads nothing must not fill memory. */
#define IWPM_QUEUE_MAX	16384

/* How long a daemon that did not respond gets no request, unless it sends a message. */
#define IWPM_SILENCE	(60 * HZ)

static struct {
	spinlock_t lock;		/* protects all fields but work */
	struct iwpm_dest dest;		/* portid 0: no daemon is known */
	bool registered;		/* the daemon has registered this client */
	bool silent;			/* until silence_ends, or it sends a message */
	unsigned long silence_ends;
	struct sk_buff_head queue;
	struct work_struct work;
} iwpm_daemon;

bool iwpm_daemon_ready(struct iwpm_dest *dest)
{
	bool ready;

	spin_lock(&iwpm_daemon.lock);
	*dest = iwpm_daemon.dest;
	ready = dest->portid && iwpm_daemon.registered && !iwpm_daemon.silent;
	spin_unlock(&iwpm_daemon.lock);
	return ready;
}

u32 iwpm_daemon_portid(void)
{
	return READ_ONCE(iwpm_daemon.dest.portid);
}

u16 iwpm_daemon_version(void)
{
	return READ_ONCE(iwpm_daemon.dest.version);
}

bool iwpm_daemon_may_answer(void)
{
	bool may;

	if (!rdma_nl_chk_listeners(RDMA_NL_GROUP_IWPM))
		return false;
	spin_lock(&iwpm_daemon.lock);
	may = !iwpm_daemon.silent ||
	      time_after(jiffies, iwpm_daemon.silence_ends);
	spin_unlock(&iwpm_daemon.lock);
	return may;
}

void iwpm_daemon_answered(void)
{
	spin_lock(&iwpm_daemon.lock);
	iwpm_daemon.silent = false;
	spin_unlock(&iwpm_daemon.lock);
}

void iwpm_daemon_silent(void)
{
	spin_lock(&iwpm_daemon.lock);
	iwpm_daemon.registered = false;
	iwpm_daemon.silent = true;
	iwpm_daemon.silence_ends = jiffies + IWPM_SILENCE;
	spin_unlock(&iwpm_daemon.lock);
}

void iwpm_daemon_doubt(u32 portid)
{
	spin_lock(&iwpm_daemon.lock);
	if (iwpm_daemon.dest.portid == portid)
		iwpm_daemon.registered = false;
	spin_unlock(&iwpm_daemon.lock);
}

/* Lock held. */
static void iwpm_daemon_set(u32 portid, u16 version, bool registered)
{
	lockdep_assert_held(&iwpm_daemon.lock);
	if (iwpm_daemon.dest.portid != portid)
		__skb_queue_purge(&iwpm_daemon.queue);
	WRITE_ONCE(iwpm_daemon.dest.portid, portid);
	WRITE_ONCE(iwpm_daemon.dest.version, version);
	iwpm_daemon.registered = registered;
	iwpm_daemon.silent = false;
}

void iwpm_daemon_found(u32 portid, u16 version, bool registered)
{
	u32 old;

	spin_lock(&iwpm_daemon.lock);
	old = iwpm_daemon.dest.portid;
	iwpm_daemon_set(portid, version, registered);
	spin_unlock(&iwpm_daemon.lock);
	if (old && old != portid)
		iwpm_ask_no_more(old);
}

void iwpm_daemon_lost(u32 portid)
{
	bool lost;

	spin_lock(&iwpm_daemon.lock);
	lost = portid && portid == iwpm_daemon.dest.portid;
	if (lost)
		iwpm_daemon_set(0, 0, false);
	spin_unlock(&iwpm_daemon.lock);
	if (lost)
		iwpm_ask_no_more(portid);
}

int iwpm_daemon_send(u32 portid, struct sk_buff *skb)
{
	int ret = 0;

	if (!skb)
		return -ENOMEM;
	spin_lock(&iwpm_daemon.lock);
	if (!portid || portid != iwpm_daemon.dest.portid)
		ret = -ECONNREFUSED;
	else if (skb_queue_len(&iwpm_daemon.queue) >= IWPM_QUEUE_MAX)
		ret = -ENOBUFS;
	else
		__skb_queue_tail(&iwpm_daemon.queue, skb);
	spin_unlock(&iwpm_daemon.lock);
	if (ret)
		kfree_skb(skb);
	else
		queue_work(iwcm_wq, &iwpm_daemon.work);
	return ret;
}

static struct sk_buff *iwpm_daemon_next(u32 *portid)
{
	struct sk_buff *skb;

	spin_lock(&iwpm_daemon.lock);
	*portid = iwpm_daemon.dest.portid;
	skb = __skb_dequeue(&iwpm_daemon.queue);
	spin_unlock(&iwpm_daemon.lock);
	return skb;
}

/* A daemon is given up if its socket stays full for as long as netlink waits. */
static void iwpm_daemon_work(struct work_struct *work)
{
	struct sk_buff *skb;
	u32 portid;

	while ((skb = iwpm_daemon_next(&portid)))
		if (rdma_nl_unicast_wait(&init_net, skb, portid))
			iwpm_daemon_lost(portid);
}

/* A netlink socket was closed.  If it is the daemon's, ends the requests to it. */
static int iwpm_daemon_event(struct notifier_block *nb, unsigned long event,
			     void *data)
{
	const struct netlink_notify *notify = data;

	if (event == NETLINK_URELEASE && notify->protocol == NETLINK_RDMA &&
	    net_eq(notify->net, &init_net))
		iwpm_daemon_lost(notify->portid);
	return NOTIFY_DONE;
}

static struct notifier_block iwpm_daemon_nb = {
	.notifier_call = iwpm_daemon_event,
};

int iwpm_daemon_start(void)
{
	spin_lock_init(&iwpm_daemon.lock);
	__skb_queue_head_init(&iwpm_daemon.queue);
	INIT_WORK(&iwpm_daemon.work, iwpm_daemon_work);
	return netlink_register_notifier(&iwpm_daemon_nb);
}

/* No message can be queued any more: no id is left, no message is being received. */
void iwpm_daemon_stop(void)
{
	netlink_unregister_notifier(&iwpm_daemon_nb);
	iwpm_daemon_lost(iwpm_daemon_portid());
	cancel_work_sync(&iwpm_daemon.work);
}
