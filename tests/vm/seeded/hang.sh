# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# expect: exit status timeout
# timeout: 5
load rdma_rxe
sleep 1000
