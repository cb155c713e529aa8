# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# expect: a module that is gone has left memory behind
# expect: resources left, or not to be listed
# expect: exit status 1
# timeout: 90
rdma_up
no_resources
# check only once
wait_for() { "${@:2}" >/dev/null 2>&1; }
no_lost_objects
insmod /ibex/leak/ibex_leak.ko
rmmod ibex_leak
(no_lost_objects) || :
rdma() { return 1; }
no_resources
