# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: all of rtu-lost: also perftest, rsockets, NVMe, iSER; then a wire that loses 20 %
# timeout: 600
IBEX_ARGS="queries clean lost more loss"
. /ibex/rtu-lost.sh
