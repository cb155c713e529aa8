# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: a short run of mad-fuzz; words: [COUNT [SEED]]
# timeout: 200
IBEX_ARGS=${IBEX_ARGS:-50000}
. /ibex/scenarios/mad/mad-fuzz.sh
