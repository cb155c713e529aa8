/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_COMPAT_SOCKET_H
#define IBEX_COMPAT_SOCKET_H

#include <net/sock.h>

/*
 * Has @sk, which allocates without __GFP_FS, not use the page fragment of the task that sends,
 * which may be within reclaim.  Earlier updates of 6.1 see that by sk_allocation.
 */
static inline void ibex_use_sk_frag(struct sock *sk)
{
#ifndef IBEX_NO_TASK_FRAG
	sk->sk_use_task_frag = false;
#endif
}

#endif
