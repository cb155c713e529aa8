# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: random calls to umad, which scripts/vm-diff compares; words: SEED NUMBER...
# timeout: 1200
# debug: off
. /ibex/lib/user.sh
. /ibex/lib/vib.sh
. /ibex/lib/diff.sh

user_up
vib_up
vib_star 2
wait_for 10 test -e /sys/class/infiniband_mad/umad3 || fail "no umad of vib1"
# the LIDs stay when the subnet manager has ended, which would answer in its own time
opensm_up vib0
wait_for 30 ports_are ACTIVE 4 || fail "no subnet"
opensm_down vib0
dmesg -n 1
diff_alone "python3 /ibex/tools/diff_umad.py"
vib_down
user_down
