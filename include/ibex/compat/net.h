/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_COMPAT_NET_H
#define IBEX_COMPAT_NET_H

/* What updates of 6.1 changed in netdevs and sockets; headers.mk looks at their headers. */
#include <linux/netdevice.h>
#include <net/sock.h>

/* Without the netdev's lock, so that the state may change; it is a bit-field in earlier updates. */
static inline int ibex_reg_state(const struct net_device *ndev)
{
#ifdef IBEX_REG_STATE_BITS
	return ndev->reg_state;
#else
	return READ_ONCE(ndev->reg_state);
#endif
}

/*
 * Has @sk, which allocates without __GFP_FS, not use the page fragment of the task that sends,
 * which may be within reclaim.  Earlier updates see that by sk_allocation.
 */
static inline void ibex_use_sk_frag(struct sock *sk)
{
#ifndef IBEX_NO_TASK_FRAG
	sk->sk_use_task_frag = false;
#endif
}

#endif
