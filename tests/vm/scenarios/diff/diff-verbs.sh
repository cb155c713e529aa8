# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: calls to uverbs, which scripts/vm-diff compares; words: SEED NUMBER...
# timeout: 1200
# debug: off
. /ibex/lib/user.sh
. /ibex/lib/diff.sh

user_up
wait_for 10 gid_index rxe_a "$A" >/dev/null || fail "no GID of $A"
wait_for 10 gid_index rxe_b "$B" >/dev/null || fail "no GID of $B"
# the driver logs each refusal, and the serial line is slow
dmesg -n 1
diff_calls /ibex/bin/diffverbs 0 1
user_down
