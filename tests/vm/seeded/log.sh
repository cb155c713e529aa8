# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# expect: 1 bad lines in dmesg
# expect: dmesg does not begin at boot
# expect: taint
load rdma_rxe
echo 1024 >/proc/sys/kernel/tainted
busybox dmesg -c >/dev/null
echo 'infiniband rxe_a: port 1: send queue stalled, resetting QP1' >/dev/kmsg
