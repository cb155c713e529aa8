# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: the cost of the MAD layer, in the in-tree core and ours by turns in one boot
# timeout: 300
# debug: off
#
# Prints one line for each measurement (the "head" line below names the columns). Args:
# "full" for all sizes and rxe; "cost" or "rate" for that part alone. No time is asserted,
# but every MAD must complete as it should.
. /ibex/lib/bench.sh
BENCH=/sys/kernel/debug/ibex_bench_mad

rounds=1 sizes='1 100 1000' reps=5 timeouts=5 many=1000 rate_reps=2 memory=1000
providers=instant parts='cost rate'
for arg in $IBEX_ARGS; do
	case $arg in
	full)
		rounds=2 sizes='1 100 1000 10000 50000' reps=40 timeouts=40
		many=10000 rate_reps=5 memory=50000 providers='instant rxe'
		;;
	cost | rate) parts=$arg ;;
	*) fail "what is $arg?" ;;
	esac
done

# --- measuring ---------------------------------------------------------------
row() { echo "row | $round | $core | $* | $(sed 's/^[^ ]* //; s/ /|/g' $BENCH/result)"; }

cost() {
	local n k what count
	run_on 1
	run open instant0 instant0
	for n in $sizes; do
		run fill "$n"
		# finishes work that fill has left, such as growing a hash table
		run cost match 1 1000
		for what in match cancel timeout modify post; do
			count=$reps
			[ $what != timeout ] || count=$timeouts
			for k in 1 64; do
				[ $k -le "$n" ] || continue
				run cost $what $k "$count"
				row "$what | instant | $n | $k"
			done
		done
	done
	run close
	run_on "$all_cpus"
}

rate() {
	local what window count
	run open "$2" "$3"
	[ "$1" != instant ] || run loop 1
	for what in roundtrip oneway; do
		for window in 1 64; do
			count=$((window == 1 ? many / 4 : many))
			run rate $what $window $count "$rate_reps"
			row "$what | $1 | 0 | $window"
		done
	done
	[ "$1" != instant ] || run loop 0
	run close
}

memory() {
	local slab free
	run open instant0 instant0
	echo 3 >/proc/sys/vm/drop_caches
	slab=$(slab_kb) free=$(free_kb)
	run fill "$memory"
	slab=$((($(slab_kb) - slab) * 1024 / memory))
	free=$(((free - $(free_kb)) * 1024 / memory))
	echo "row | $round | $core | bytes | instant | $memory | 1 | $free|$free|$free"
	echo "row | $round | $core | slab | instant | $memory | 1 | $slab|$slab|$slab"
	run close
}

measure() {
	local part
	for part in $parts; do
		[ "$part" != cost ] || { memory; cost; }
		[ "$part" != rate ] || rate instant instant0 instant0
	done
}

measure_rxe() {
	# not by name: that would load modules of the other core
	modprobe -a udp_tunnel ip6_udp_tunnel
	insmod "$(modinfo -F filename rdma_rxe)"
	rxe_add rxe_a va
	rxe_add rxe_b vb
	rate rxe rxe_a rxe_b
	rdma link delete rxe_a
	rdma link delete rxe_b
}

case $providers in *rxe*) net_up ;; esac
echo "head | round | core | what | provider | outstanding | batch | median | low | high"
for round in $(seq "$rounds"); do
	for core in $cores; do
		# no limit of requests to one peer, so that N requests can be outstanding
		[ "$core" = stock ] || modprobe ib_mad request_window=0
		core_up "$core" ib_core ib_uverbs
		insmod /ibex/bench/ibex_instant.ko
		insmod /ibex/bench/ibex_bench_mad.ko
		measure
		case "$providers $parts" in *rxe*rate*) measure_rxe ;; esac
		record_core
		core_down ibex_bench_mad ibex_instant rdma_rxe ib_uverbs ib_mad ib_core
	done
done
say "done"
