# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: most of rtu-lost-long, on a wire that loses 20 % of all packets
# timeout: 900
IBEX_ARGS=loss
. /ibex/scenarios/connection/rtu-lost.sh
