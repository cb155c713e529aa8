# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: the cost of connections, in the in-tree core and ours by turns in one boot
# timeout: 300
# debug: off
#
# Prints one line for each measurement (the "head" line below names the columns). Args:
# "full" for all sizes, up to 64,000 connections; "cost", "user", "iwarp", "rate", "ports" for
# these parts alone. No time is asserted, but every connection must be made and end as it should.
# "profile": connects on the core of the mode between two marks, for scripts/profile-connect;
# "step=STEP" with it: that step alone is marked.
. /ibex/lib/bench.sh
. /ibex/lib/profile.sh
BENCH=/sys/kernel/debug/ibex_bench_cm
SRC=10.77.0.1 DST=10.77.0.2

sizes='1 1000' reps=10 count=640 rate_reps=2 parts='' many=1000 range=300 step=''
for arg in $IBEX_ARGS; do
	case $arg in
	full) sizes='1 1000 16000 64000' reps=50 count=2560 rate_reps=5 many=64000 range=28232 ;;
	cost | user | iwarp | rate | ports) parts+=" $arg" ;;
	step=*) step=${arg#step=} ;;
	profile) parts=$arg cores=$IBEX_MODE ;;
	*) fail "what is $arg?" ;;
	esac
done
parts=${parts:-cost user iwarp rate ports}

# row ALIVE BATCH [PREFIX]: prints the results of the last command
row() { sed "s/ /|/g; s/^/row | $core | $1 | $2 | ${3-}/" $BENCH/result; }

# bench_up [PARAMETER...]: an adapter that others have not used
bench_up() {
	core_down ibex_bench_cm ibex_instant
	insmod /ibex/bench/ibex_instant.ko netdev=bench0 "$@"
	insmod /ibex/bench/ibex_bench_cm.ko
}

# open_one: one listener, with a port for each connection, as only connections to different
# destinations share one
open_one() {
	echo 1024 65535 >/proc/sys/net/ipv4/ip_local_port_range
	run open $SRC $DST 1
}

# bytes WHAT KB: a row of what each of the connections that were made takes
bytes() {
	local each=$(($2 * 1024 / made))
	echo "row | $core | $alive | 1 | $1|$each|$each|$each"
}

# fill N MADE: prints the bytes of memory that each connection takes, and those in each kind of
# slab that has more than 16
fill() {
	local alive=$1 made=$(($1 - $2)) slab free kind kb
	echo 3 >/proc/sys/vm/drop_caches
	slabs_kb >/tmp/slabs
	slab=$(slab_kb) free=$(free_kb)
	run fill "$1"
	[ "$1" -gt 100 ] || return 0
	bytes bytes $((free - $(free_kb)))
	bytes slab $(($(slab_kb) - slab))
	slabs_kb | awk -v least=$((made / 64)) 'NR == FNR { before[$1] = $2; next }
		$2 - before[$1] > least { print $1, $2 - before[$1] }' /tmp/slabs - |
		while read -r kind kb; do
			bytes "slab-$kind" "$kb"
		done
}

cost() {
	local n k made=0
	run_on 1
	open_one
	for n in $sizes; do
		say "$core: $n alive"
		fill "$n" $made
		made=$n
		for k in 1 64; do
			run cost $k "$reps"
			row "$n" $k
		done
	done
	run unplug
	row "$made" 1
	run_on "$all_cpus"
}

# on iWARP, one at a time
iwarp() {
	local n
	bench_up iwarp=1
	run_on 1
	open_one
	for n in $sizes; do
		say "$core, iWARP: $n alive"
		run fill "$n"
		run cost 1 "$reps"
		row "$n" 1 iwarp-
	done
	run close
	run_on "$all_cpus"
}

# connections of a process
user() {
	core_up "$core" ib_uverbs rdma_ucm
	# the device is to receive what it sends
	open_one
	run_on 1
	# shellcheck disable=SC2086 # words
	/ibex/bin/ucmacost $SRC $DST 7470 "$reps" $sizes >/tmp/user || fail "$core, ucmacost"
	run_on "$all_cpus"
	run close
	awk -v core="$core" '{ printf "row | %s | %s | 1 | user-%s|%s|%s|%s\n", core, $1, $2, $3, $4, $5 }' \
		/tmp/user
	core_down rdma_ucm ib_uverbs
}

# one task on one CPU, and as many tasks as there are CPUs
rate() {
	local cpus
	cpus=$(nproc)
	open_one
	run_on 1
	run rate 1 "$count" "$rate_reps"
	row 0 1
	run_on "$all_cpus"
	run rate "$cpus" "$count" "$rate_reps"
	row 0 "$cpus"
	run close
}

# more connections to four listeners than there are ephemeral ports
ports() {
	echo 32768 $((32768 + range - 1)) >/proc/sys/net/ipv4/ip_local_port_range
	run open $SRC $DST 4
	run fill "$many"
	row "$many" 4
	run close
}

# a batch of 64 at a time
profile() {
	local what
	run open $SRC $DST 1
	[ -z "$step" ] || run mark "$step"
	run_on 1
	run cost 64 20
	for what in instructions works; do
		$what begin
		run cost 64 20
		$what end
	done
	symbols
	run close
	run_on "$all_cpus"
}

ip link add bench0 type dummy
ip addr add $SRC/24 dev bench0
ip addr add $DST/24 dev bench0
ip link set bench0 up
# not with rdma_cm, which is loaded by file name
modprobe configfs
echo "head | core | alive | batch | what|median|low|high"
for core in $cores; do
	core_up "$core" ib_core ib_cm iw_cm rdma_cm
	for part in $parts; do
		bench_up
		$part
	done
	record_core
	core_down ibex_bench_cm ibex_instant rdma_cm iw_cm ib_cm ib_mad ib_core
done
say "done"
