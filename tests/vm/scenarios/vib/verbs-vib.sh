# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: verbs of processes: pingpongs of each transport, a program with all the rest, rdma_cm
# timeout: 240
. /ibex/lib/vib.sh
. /ibex/lib/user.sh

devices() {
	local dev
	say "devices"
	for dev in vib0 vib1; do
		ibv_devinfo -v -d $dev > /run/out/info || fail "ibv_devinfo -v -d $dev"
		for what in 'transport:.*InfiniBand' 'state:.*PORT_ACTIVE' \
			'link_layer:.*InfiniBand' "port_lid:.*$(lid $dev)\$" 'sm_lid:' \
			'max_mtu:.*4096' 'completion timestamp_mask:' 'MEM_WINDOW_TYPE_2B' \
			"node_guid:.*$(cat /sys/class/infiniband/$dev/node_guid)"; do
			grep -Eq "$what" /run/out/info ||
				{ cat /run/out/info; fail "$dev: no '$what'"; }
		done
	done
}

# pingpong TRANSPORT OPTIONS...
pingpong() {
	local name=ibv_$1_pingpong
	shift
	next_port
	pair listens_tcp "$name -d vib0 -p $PORT -n 100 $*" \
		"$name -d vib1 -p $PORT -n 100 $* 127.0.0.1"
	pair_says client "^[0-9]+ bytes in"
	pair_says server "iters in .* usec/iter"
	say "$name $*: $(grep usec/iter /tmp/client)"
}

pingpongs() {
	local events
	for events in "" -e; do
		pingpong rc $events -c
		pingpong uc $events -c
		pingpong ud $events -c -s 2048
		pingpong srq $events -c -q 4
		# It has no option to check data, and its own for the number of clients.
		pingpong xsrq $events
	done
	pingpong rc -c -g 0 -s 65536 -m 4096 -r 20
	pingpong ud -c -g 0
	pingpong rc -N -t -c
}

by_rdma_cm() {
	say "rdma_cm"
	ipoib_pair
	cm rping "rping -s -a $A -p @ -C 20 -v" "rping -c -I $B -a $A -p @ -C 20 -v"
	cm ucmatose "ucmatose -b $A -p @ -c 10" "ucmatose -b $B -s $A -p @ -c 10"
	cm udaddy "udaddy -b $A -p @ -c 4" "udaddy -b $B -s $A -p @ -c 4"
	rmmod ib_ipoib
}

vib_up
load rdma_ucm
ip link set lo up
ulimit -l unlimited
record_core
subnet_up 2
core_resources vib0
devices
say "vibverbs"
/ibex/bin/vibverbs vib0 vib1 || fail "vibverbs"
pingpongs
by_rdma_cm
no_resources
no_warning
opensm_down vib0
vib_down
