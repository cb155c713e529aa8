# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# What the scripts of both machines need: verdicts, and what tests/vm/lib/storage.sh calls.

# shellcheck disable=SC2034 # storage.sh uses them
A=10.77.0.1
B=10.77.0.2
condition="the targets and disks"
dir=/var/ibex-test
log=$dir/log

# ok WHAT COMMAND...
ok() {
	local what=$1
	shift
	if "$@" > $dir/said 2>&1; then
		echo "ok      $what"
	else
		echo "not ok  $what"
		sed 's/^/        /' $dir/said | tail -n 20
	fi
	{
		echo "--- $what"
		cat $dir/said
	} >> $log
}
not() { ! "$@"; }

say() { echo "        $*"; }

# Nothing after it would make sense.
fail() {
	echo "not ok  $*"
	systemctl poweroff
	exit 1
}

# within SECONDS COMMAND...
within() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.2
	done
}
wait_for() { within "$@" > /dev/null 2>&1; }

load() { modprobe -a "$@"; }

# The core in memory, by the taint: the distribution's has none.
core_is() {
	case $1 in
	ibex) [ -e /sys/module/ib_mad ] && grep -q O /sys/module/ib_core/taint ;;
	stock) [ ! -e /sys/module/ib_mad ] && [ -e /sys/module/ib_core ] &&
		! grep -q O /sys/module/ib_core/taint ;;
	esac
}

link_up() {
	rdma link show rxe0/1 2> /dev/null || rdma link add rxe0 type rxe netdev lan
}
