# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: random calls to uverbs, which scripts/vm-diff compares; words: SEED NUMBER...
# timeout: 1200
# debug: off
. /ibex/lib/user.sh
. /ibex/lib/diff.sh

user_up
# the driver logs each refusal, and the serial line is slow
dmesg -n 1
diff_calls "/ibex/bin/fuzz --tell"
user_down
