# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# kernel: kcsan
# expect: bad lines in dmesg
# expect-dmesg: KCSAN: data-race in count
load rdma_rxe
insmod /ibex/mistakes/ibex_mistakes.ko
echo data-race >/sys/module/ibex_mistakes/parameters/make
