/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_COMPAT_H
#define IBEX_COMPAT_H

/*
 * What differs between the releases that the modules are built for, 6.1 and 6.12.  Where 6.1
 * lacks a function, it is defined here under its own name; where a struct or a prototype
 * differs, the sources use a helper ibex_*() or a macro IBEX_*.  What updates of a release
 * changed is in compat/updates.h, in netdevs and sockets in compat/net.h, and what tables of
 * sysctls need in compat/sysctl.h.
 */
#include <ibex/compat/kernel.h>
#include <ibex/compat/work.h>
#include <ibex/compat/verbs.h>
#include <ibex/compat/netlink.h>

#endif
