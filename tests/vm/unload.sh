# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: after use every module unloads, and loads and works again; nothing is left
# timeout: 120
rounds=${IBEX_ARGS:-3}

# leave first: consumers, then providers, then the core from the top
all='ibex_ulp svcrdma xprtrdma rpcrdma rdma_rxe rdma_ucm rdma_cm iw_cm ib_umad
	ib_uverbs ib_cm ib_mad ib_core'

loaded() { [ -e "/sys/module/$1/initstate" ]; }

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

# What must refuse to go while it is in use.
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

leftovers() {
	local what
	for what in /sys/class/infiniband /sys/class/infiniband_verbs \
		/sys/class/infiniband_mad /sys/class/infiniband_cm /dev/infiniband \
		/proc/sys/net/rdma_ucm; do
		[ ! -e "$what" ] || fail "$what is left"
	done
	! grep -wE 'ib_core|rdma_rxe|ib_cm|rdma_cm' /proc/modules || fail "modules left"
	# threads and slab caches that a module left behind
	! busybox ps | grep -E '\[(k?worker.*)?(ib_|rdma_|iw_cm|rxe)' || fail "threads left"
	! grep -E '^(ib_|rdma_|rxe)' /proc/slabinfo || fail "slab caches left"
}

used() { awk '/^(Slab|SUnreclaim):/ { s += $2 } END { print s }' /proc/meminfo; }

net_up
for round in $(seq "$rounds"); do
	use
	busy
	rmmod ibex_ulp
	unload_all "$round"
	leftovers
	echo 3 >/proc/sys/vm/drop_caches
	say "round $round: loaded, used, unloaded; slab $(used) kB"
done
