# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: rdma-core's own Python suite, one line per test (scripts/vm-parity compares cores)
# image: pyverbs
# timeout: 400
. /ibex/lib/user.sh
is_both || fail "this scenario runs in one VM"
load veth rdma_rxe ib_uverbs rdma_ucm ib_umad
# The suite uses one device for both ends.
ip -batch - <<-END
	link set lo up
	link add va mtu 4200 address 02:00:00:00:00:01 type veth peer name vb mtu 4200
	addr add $A/24 dev va
	link set va up
	link set vb up
	route add 224.0.0.0/4 dev va
END
rxe_add rxe_a va
ulimit -l unlimited
record_core
say "the suite"
# shellcheck disable=SC2086 # options and patterns
python3 /ibex/tools/suite.py rxe_a $IBEX_ARGS || fail "the suite did not run"
no_resources
rdma link delete rxe_a
