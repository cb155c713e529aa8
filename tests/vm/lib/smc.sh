# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# SMC-R between rxe_a and rxe_b, and a server of tests/vm/programs/smc. On rdma_rxe, whose GIDs are
# of RoCE v2 only, it needs version 2 with an EID of the user, and a PNETID for each netdev.
#
# shellcheck disable=SC2154 # used by scripts sourced after this one

SMC_PORT=5000
SMC_ENDED=3	# the program's exit status if its sockets ended
SMC_SERVER=

smc() { python3 /ibex/tools/smc.py "$@" || fail "smc.py $*"; }

smc_up() {
	load smc smc_diag
	smc eid IBEX
	smc pnet NETA va rxe_a
	smc pnet NETB vb rxe_b
}

smc_serve() {
	/ibex/bin/smc serve $A $SMC_PORT > /run/out/smc-server 2>&1 &
	SMC_SERVER=$!
	wait_for 20 smc_listens || fail "the server does not listen: $(cat /run/out/smc-server)"
}

smc_listens() { python3 /ibex/tools/smc.py sockets | grep -q '^listen'; }

smc_serve_no_more() {
	kill $SMC_SERVER
	wait $SMC_SERVER || :
}

no_sockets() {
	python3 /ibex/tools/smc.py sockets > /run/sockets
	[ ! -s /run/sockets ]
}

smc_down() {
	smc flush
	# A connection that has been closed says so to its peer, and ends a little later.
	wait_for 60 no_sockets || { cat /run/sockets; fail "sockets are left"; }
	rmmod smc_diag
	wait_for 10 unused smc || fail "smc: $(cat /sys/module/smc/refcnt) references"
	rmmod smc || fail "rmmod smc"
}

# QPs of SMC-R that rdma_rxe has ended by itself (known.rst), as the kernel's log has it
smc_lost() { dmesg | grep -c 'make_send_cqe: non-flush error status = 9' || :; }

# Sockets that are opened and closed, and the same link group again and again. The steps of the
# program are not waited for. Sockets end with their QP, and new ones are opened then.
smc_talk() {
	local lost status=0
	lost=$(smc_lost)
	sh -c "yes '' 2> /dev/null | /ibex/bin/smc talk $B $A $SMC_PORT 4 100000 2" || status=$?
	[ "$status" != $SMC_ENDED ] || [ "$(smc_lost)" = "$lost" ] || status=0
	return $status
}
