# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# expect: bad lines in dmesg
load rdma_rxe
echo 'WARNING: CPU: 0 PID: 1 at seeded.c:1 nothing+0x0/0x0' >/dev/kmsg
