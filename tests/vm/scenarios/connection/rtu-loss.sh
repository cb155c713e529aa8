# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: all of rtu-lost-long on a wire that loses 20 % of everything
# timeout: 900
IBEX_ARGS=loss
. /ibex/scenarios/connection/rtu-lost.sh
