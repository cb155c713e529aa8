# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: files of sysfs, configfs and /dev with rxe, siw and vib, which scripts/vm-diff compares
# timeout: 300
# debug: off
# image: siw
. /ibex/lib/user.sh
. /ibex/lib/vib.sh
. /ibex/lib/diff.sh

shown() { python3 /ibex/tools/sysfs.py "$@" >> /run/out/0.calls; }

load ib_core ib_cm rdma_cm ib_uverbs ib_umad rdma_ucm
mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
shown dump none
user_up
user_net6
shown dump rxe
shown write rxe
insmod /ibex/siw/libcrc32c.ko
insmod /ibex/siw/siw.ko
rdma link add siw_a type siw netdev va
wait_for 5 test -e /sys/class/infiniband/siw_a/ports/1/state
vib_up
vib_star 2
wait_for 10 test -e /sys/class/infiniband/vib1/ports/1/state || fail "no vib1"
shown dump all
shown write all
vib_down
rdma link delete siw_a
rmmod siw
user_down
shown dump gone
diff_count
