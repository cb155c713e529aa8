# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# What scripts/profile-connect needs of a scenario.
WORKS=/sys/kernel/tracing/events/workqueue/workqueue_execute_start/trigger

# instructions begin|end: they are counted in between
instructions() { /ibex/bin/mark "$1"; }

# works begin|end: work items are counted in between
works() {
	case $1 in
	begin)
		mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
		echo 'hist:keys=function.sym:size=4096' > $WORKS
		;;
	end)
		grep '^{' "${WORKS%trigger}hist" > /run/out/works
		echo '!hist:keys=function.sym' > $WORKS
		;;
	esac
}

# of everything that is loaded
symbols() { awk '$2 ~ /[tT]/ { print $1, $3, $4 }' /proc/kallsyms > /run/out/kallsyms; }
