# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: random calls of the kernel's RDMA interface, which scripts/vm-diff compares; words: SEED
#	NUMBER...
# timeout: 1200
# debug: off
# image: rnbd
. /ibex/lib/user.sh
. /ibex/lib/vib.sh
. /ibex/lib/diff.sh

user_up
user_net6
load rdma_cm ib_cm
vib_up
subnet_up 2
wait_for 10 gid_index rxe_a "$A" >/dev/null || fail "no GID of $A"
wait_for 10 gid_index rxe_b "$B" >/dev/null || fail "no GID of $B"
# each function of the core that a stock ULP calls is called here, too
python3 /ibex/tools/imports.py /ibex/diffkapi/ibex_kapi.ko /ibex/rnbd/rtrs-*.ko
insmod /ibex/diffkapi/ibex_kapi.ko || fail "insmod ibex_kapi"
# rather than be half dead until the time is over
echo 1 >/proc/sys/kernel/panic_on_oops
# the drivers log each refusal, and the serial line is slow
dmesg -n 1
diff_alone "python3 /ibex/tools/diff_kapi.py"
rmmod ibex_kapi || fail "rmmod ibex_kapi"
opensm_down vib0
vib_down
user_down
