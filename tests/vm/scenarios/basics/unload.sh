# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: every module is unloaded after use, loaded and used again; nothing is left behind
# timeout: 120
rounds=${IBEX_ARGS:-3}

# the order of unloading: consumers, then providers, then the core from the top
all='ibex_ulp svcrdma xprtrdma rpcrdma rdma_rxe rdma_ucm rdma_cm iw_cm ib_umad
	ib_uverbs ib_cm ib_mad ib_core'

use() {
	load rdma_rxe
	if is_server; then rxe_add rxe_a va; fi
	if is_client; then rxe_add rxe_b vb; fi
	ulp_up
	ulp listen "$A 7471"
	ulp connect "$B $A 7471 20 4"
	ulp_check completed=20 established=20
	ulp listen off
	record_core
}

# Modules that are in use must refuse to be unloaded.
busy() {
	local m
	for m in rdma_cm ib_core; do
		! rmmod "$m" 2>/dev/null || fail "$m unloaded while in use"
	done
}

unload_all() {
	local m
	rdma link delete rxe_a
	[ "$1" != 2 ] || say "second round: the module goes with a device still there"
	[ "$1" = 2 ] || rdma link delete rxe_b
	for m in $all; do
		loaded "$m" || continue
		rmmod "$m" || fail "rmmod $m: $(cat "/sys/module/$m/refcnt") references"
	done
	for m in $all; do
		! loaded "$m" || fail "$m is still there"
	done
}

used() { awk '/^(Slab|SUnreclaim):/ { s += $2 } END { print s }' /proc/meminfo; }

net_up
for round in $(seq "$rounds"); do
	use
	busy
	rmmod ibex_ulp
	unload_all "$round"
	core_leftovers
	no_lost_objects
	echo 3 >/proc/sys/vm/drop_caches
	say "round $round: loaded, used, unloaded; slab $(used) kB"
done
