# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# expect: exit status 1
load rdma_rxe
[ -e /nowhere ]
