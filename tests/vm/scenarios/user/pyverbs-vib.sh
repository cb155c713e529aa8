# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: rdma-core's own Python suite, one line per test (scripts/vm-parity --vib compares cores)
# image: pyverbs
# timeout: 500
. /ibex/lib/vib.sh
. /ibex/lib/user.sh

vib_up
load rdma_ucm
ulimit -l unlimited
record_core
subnet_up 2
core_resources vib0
# The suite uses one device for both ends.
modprobe ib_ipoib
ip -batch - <<-END
	link set lo up
	link set ib0 name va
	addr add $A/24 dev va
	link set va up
	route add 224.0.0.0/4 dev va
END
wait_for 60 grep -q 1 /sys/class/net/va/carrier || fail "IPoIB does not join"
say "the suite"
# shellcheck disable=SC2086 # options and patterns
python3 /ibex/tools/suite.py vib0 $IBEX_ARGS || fail "the suite did not run"
rmmod ib_ipoib
no_resources
opensm_down vib0
vib_down
