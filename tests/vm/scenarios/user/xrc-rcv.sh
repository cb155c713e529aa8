# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: an XRC receive QP that belongs to its domain outlives the process that had it made
# timeout: 600
. /ibex/lib/vib.sh

CGROUP=/sys/fs/cgroup/xrc

targets() { rdma resource show qp | grep -w XRC_TGT; }
no_targets() { ! targets; }

in_cgroup() {
	echo $BASHPID > $CGROUP/cgroup.procs
	exec "$@"
}

# charged: how many objects the control group is charged for
charged() { sed -n 's/^vib1 .*hca_object=\([0-9]*\).*/\1/p' $CGROUP/rdma.current; }

# run_to STEP: lets the program go on until it is there; what it says meanwhile is in $SAID
run_to() {
	local line
	[ -z "$STEP" ] || echo >&"$TO"
	while read -r -t 120 -u "$FROM" line; do
		SAID+="$line;"
		echo "  $line"
		[ "$line" != "at $1" ] || { STEP=$1; return 0; }
	done
	return 1
}

start() {
	SAID=
	STEP=
	coproc XRCRCV { in_cgroup /ibex/bin/xrcrcv "$@" 2>&1; }
	XRC_PID=$XRCRCV_PID
	# The descriptors of a coprocess are closed when it ends.
	exec {FROM}<&"${XRCRCV[0]}" {TO}>&"${XRCRCV[1]}"
}

# ended STATUS: the program goes on to its end
ended() {
	local status=0
	run_to "the end" || :
	wait "$XRC_PID" || status=$?
	exec {FROM}<&- {TO}>&-
	[ "$status" = "$1" ] || fail "xrcrcv ended with $status, not $1"
}

# The QP is the kernel's and names its domain.
shown() {
	targets > /run/targets || fail "the QP is not shown"
	[ "$(wc -l < /run/targets)" = 1 ] || fail "$(cat /run/targets)"
	grep -q 'state RTR .*comm \[xrcd-[0-9]*\]' /run/targets || fail "$(cat /run/targets)"
	! grep -q 'pid' /run/targets || fail "it is a process's: $(cat /run/targets)"
	rdma resource show | grep -q 'vib1: .*xrc_rcv_qp 1' || fail "$(rdma resource show)"
}

receiver_goes_on() {
	say "the creator is killed, its receiver goes on receiving"
	start vib1 vib2 1000
	run_to made || fail "no transfer"
	shown
	rdma -dd resource show qp | grep -q "drv_xrcd_inode $(stat -c %i /run/xrcrcv.domain)" ||
		fail "no domain: $(rdma -dd resource show qp)"
	run_to killed
	shown
	run_to received || fail "messages are lost"
	shown
	run_to closed || fail "the sender was not told of the end"
	no_targets || fail "the QP outlives its domain"
	! rdma resource show | grep -q xrc_rcv_qp || fail "$(rdma resource show)"
	ended 0
	[[ $SAID = *"lost 0 of 900;"* ]] || fail "$SAID"
}

# What mainline has: the QP of a process dies with it.
receiver_is_cut_off() {
	say "the same with a QP of the process"
	start --legacy vib1 vib2 1000
	run_to made || fail "no transfer"
	run_to killed
	wait_for 5 no_targets || fail "the QP outlives its process"
	ended 1
	[[ $SAID = *"lost 900 of 900;"* ]] || fail "$SAID"
}

node() { echo "$2" > "$FABRIC/nodes/$1/live"; }

# memory: what a receive QP costs, in all: its own, the adapter's and the core's
memory() {
	say "memory of receive QPs"
	/ibex/bin/xrcrcv --many vib1 4096 || fail "there are not so many"
	wait_for 5 no_targets || fail "QPs are left: $(targets)"
}

removal() {
	say "the adapter is removed, with a receiver and a sender"
	start vib1 vib2 1000
	run_to made || fail "no transfer"
	run_to killed
	node ca1 0
	no_targets || fail "the QP outlives its device"
	[ ! -e /sys/class/infiniband/vib1 ] || fail "the device is still there"
	kill "$XRC_PID" || :
	wait "$XRC_PID" || :
	exec {FROM}<&- {TO}>&-
}

vib_up
subnet_up 3
mount -t cgroup2 cgroup2 /sys/fs/cgroup 2>/dev/null || :
echo +rdma > /sys/fs/cgroup/cgroup.subtree_control
mkdir $CGROUP
receiver_is_cut_off
say "errors"
/ibex/bin/xrcrcv --errors vib1 > /run/errors || fail "$(cat /run/errors)"
cat /run/errors
if [ "$IBEX_MODE" = stock ]; then
	grep -qx 'not this core' /run/errors || fail "it is another core"
else
	grep -qx 'errors as expected' /run/errors || fail "wrong errors"
	wait_for 5 no_targets || fail "$(targets)"
	receiver_goes_on
	say "20 processes open, make, close and die"
	(in_cgroup /ibex/bin/xrcrcv --race vib1 60 20) || fail "a process failed"
	wait_for 5 no_targets || fail "QPs are left: $(targets)"
	[ "$(charged)" = 0 ] || [ -z "$(charged)" ] || fail "$(cat $CGROUP/rdma.current)"
	memory
	removal
fi
opensm_down vib0
vib_down
