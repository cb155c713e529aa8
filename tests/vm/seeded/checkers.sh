# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# kernel: debug
# expect: bad lines in dmesg
# expect: lockdep is off
# expect: memory that nothing points to
# expect-dmesg: KASAN: slab-use-after-free in use_after_free
# expect-dmesg: ODEBUG: free active
# expect-dmesg: scheduling while atomic
# expect-dmesg: possible circular locking dependency
# expect-report: lock_order
load rdma_rxe
insmod /ibex/mistakes/ibex_mistakes.ko
# The lock order first: lockdep is off after any report.
for mistake in lock-order use-after-free free-with-timer sleep-in-atomic lose-memory; do
	echo $mistake >/sys/module/ibex_mistakes/parameters/make
done
