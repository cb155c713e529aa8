# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Benchmarks that load both cores by turns in one boot (tests/bench).
# shellcheck disable=SC2034 # used by scripts sourced after this one
INTREE=/lib/modules/$(uname -r)/kernel/drivers/infiniband

cores='stock ours'
[ "$IBEX_MODE" = ours ] || cores=stock

# core_up CORE MODULE...: loads these modules of that core, in this order
core_up() {
	local core=$1 m
	shift
	for m in "$@"; do
		if [ "$core" = stock ]; then
			insmod "$INTREE/core/$m.ko"
		else
			modprobe "$m"
		fi
	done
	core_is "$core" || fail "that is not the core of $core"
	say "core: $core"
}

# the taint shows modules that were not built with the kernel
core_is() {
	local taint
	read -r taint </sys/module/ib_core/taint || :
	case $taint in
	*O*) [ "$1" = ours ] && [ -e /sys/module/ib_mad ] ;;
	*) [ "$1" = stock ] && [ ! -e /sys/module/ib_mad ] ;;
	esac
}

# core_down MODULE...: unloads these, in this order, if they are loaded
core_down() {
	local m
	for m in "$@"; do
		[ ! -e "/sys/module/$m/initstate" ] || rmmod "$m" || fail "rmmod $m"
	done
}

# run COMMAND...: of the benchmark whose directory is $BENCH
run() { echo "$*" >"$BENCH/run" || fail "$core, $*"; }

# run_on MASK: this script and all workers run on the CPUs of MASK
all_cpus=$(cat /sys/devices/virtual/workqueue/cpumask)
run_on() {
	echo "$1" >/sys/devices/virtual/workqueue/cpumask
	taskset -p "$1" $$ >/dev/null
}

# pages of the slabs, and all that is not free, in kB
slab_kb() { awk 'NR > 2 { s += $15 * $6 * 4 } END { print s }' /proc/slabinfo; }
# of each kind of slab
slabs_kb() { awk 'NR > 2 { print $1, $15 * $6 * 4 }' /proc/slabinfo; }
free_kb() { awk '/^MemFree:/ { print $2 }' /proc/meminfo; }
