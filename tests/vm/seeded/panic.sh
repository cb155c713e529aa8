# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# expect: vm died
load rdma_rxe
echo c >/proc/sysrq-trigger
