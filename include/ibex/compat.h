/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_COMPAT_H
#define IBEX_COMPAT_H

/*
 * What differs between the kernels that the modules are built for: the releases 6.1 and 6.12,
 * and their updates.  Where 6.1 lacks a function, it is defined here under its own name; where
 * a struct or a prototype differs, the sources use a helper ibex_*() or a macro IBEX_*.
 */
#include <ibex/compat/kernel.h>
#include <ibex/compat/work.h>
#include <ibex/compat/verbs.h>
#include <ibex/compat/netlink.h>

#endif
