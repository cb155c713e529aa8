# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: an XRC receive QP that belongs to its domain outlives the process that had it made
# timeout: 600
. /ibex/lib/vib.sh
. /ibex/lib/steps.sh
. /ibex/lib/xrc.sh

start() { steps_start xrc in_cgroup /ibex/bin/xrcrcv "$@"; }

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
	steps_to xrc made || fail "no transfer"
	shown
	rdma -dd resource show qp | grep -q "drv_xrcd_inode $(stat -c %i /run/xrcrcv.domain)" ||
		fail "no domain: $(rdma -dd resource show qp)"
	steps_to xrc killed
	shown
	steps_to xrc received || fail "messages are lost"
	shown
	steps_to xrc closed || fail "the sender was not told of the end"
	no_targets || fail "the QP outlives its domain"
	! rdma resource show | grep -q xrc_rcv_qp || fail "$(rdma resource show)"
	steps_ended xrc 0
	[[ ${SAID[xrc]} = *"lost 0 of 900;"* ]] || fail "${SAID[xrc]}"
}

# What mainline has: the QP of a process dies with it.
receiver_is_cut_off() {
	say "the same with a QP of the process"
	start --legacy vib1 vib2 1000
	steps_to xrc made || fail "no transfer"
	steps_to xrc killed
	wait_for 5 no_targets || fail "the QP outlives its process"
	steps_ended xrc 1
	[[ ${SAID[xrc]} = *"lost 900 of 900;"* ]] || fail "${SAID[xrc]}"
}

max() { echo "vib1 hca_object=$1" > $CGROUP/rdma.max; }

# A control group that is at its limit gets no more, until it may have more
limit() {
	local made
	say "a control group at its limit"
	max 8
	start --limit vib1
	steps_to xrc limit || fail "no limit"
	[[ ${SAID[xrc]} = *": Resource temporarily unavailable;"* ]] || fail "${SAID[xrc]}"
	made=$(sed 's/.*made \([0-9]*\):.*/\1/' <<< "${SAID[xrc]}")
	# Its other objects are its PD and its domain, and what it needs for events.
	[ "$made" -ge 4 ] || fail "$made QPs"
	[ "$(target_count vib1)" = "$made" ] || fail "not $made QPs: $(targets)"
	[ "$(charged vib1)" = 8 ] || fail "$(cat $CGROUP/rdma.current)"
	max 9
	steps_to xrc raised || fail "it gets no more"
	[ "$(target_count vib1)" = $((made + 1)) ] || fail "not one more: $(targets)"
	[ "$(charged vib1)" = 9 ] || fail "$(cat $CGROUP/rdma.current)"
	steps_ended xrc 0
	max max
	wait_for 5 no_targets || fail "QPs are left: $(targets)"
	[ "$(charged vib1)" = 0 ] || fail "$(cat $CGROUP/rdma.current)"
}

node() { echo "$2" > "$FABRIC/nodes/$1/live"; }

# memory: what a receive QP costs, in all: its own, the adapter's and the core's
memory() {
	say "memory of receive QPs"
	/ibex/bin/xrcrcv --many vib1 4096 || fail "there are not so many"
	wait_for 5 no_targets || fail "QPs are left: $(targets)"
}

# Two hosts of four processes, which all send to, and receive from, those of the other host
removal() {
	local host step n files=/run/mesh
	say "the adapter is removed, with receivers and senders"
	mkdir $files
	for host in 0 1; do
		steps_start "host$host" /ibex/bin/xrcmesh "vib$((host + 1))" $files $host 2 4 100000
	done
	for step in prepared made connected killed; do
		for host in 0 1; do
			steps_to "host$host" $step || fail "host $host is not $step"
		done
	done
	[ "$(targets | wc -l)" = 8 ] || fail "not 8 QPs: $(targets)"
	for host in 0 1; do steps_go "host$host"; done
	n=$(counter vib1 rcv_packets)
	wait_for 30 has_received $((n + 1000)) || fail "nothing is sent"
	node ca1 0
	[ ! -e /sys/class/infiniband/vib1 ] || fail "the device is still there"
	# The other host's processes end when their sends fail, and with them its QPs.
	! targets vib1 || fail "QPs outlive their device"
	for host in 0 1; do steps_killed "host$host"; done
	wait_for 5 no_targets || fail "QPs are left: $(targets)"
}

has_received() { [ "$(counter vib1 rcv_packets)" -ge "$1" ]; }

vib_up
subnet_up 3
cgroup_up
receiver_is_cut_off
say "errors"
/ibex/bin/xrcrcv --errors vib1 > /run/errors || fail "$(cat /run/errors)"
cat /run/errors
if [ "$IBEX_MODE" = stock ]; then
	grep -qx 'not this core' /run/errors || fail "it is another core"
else
	grep -qx 'errors as expected' /run/errors || fail "wrong errors"
	wait_for 5 no_targets || fail "$(targets)"
	limit
	receiver_goes_on
	say "20 processes open, make, close and die"
	(in_cgroup /ibex/bin/xrcrcv --race vib1 60 20) || fail "a process failed"
	wait_for 5 no_targets || fail "QPs are left: $(targets)"
	[ "$(charged vib1)" = 0 ] || fail "$(cat $CGROUP/rdma.current)"
	memory
	removal
fi
opensm_down vib0
vib_down
