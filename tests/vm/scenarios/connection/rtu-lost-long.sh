# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: rtu-lost with perftest, rsockets, NVMe and iSER; on a clean wire as well
# timeout: 600
IBEX_ARGS="queries clean lost more"
. /ibex/scenarios/connection/rtu-lost.sh
