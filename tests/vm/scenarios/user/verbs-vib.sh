# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: verbs of processes: pingpongs of each transport, a program with all the rest, rdma_cm
# timeout: 240
. /ibex/lib/vib.sh
. /ibex/lib/user.sh
PAIR_BOUND=90

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
	pair listens_tcp "$name -d vib0 -p $PORT -n 50 $*" \
		"$name -d vib1 -p $PORT -n 50 $* 127.0.0.1"
	if [ $name = ibv_xsrq_pingpong ]; then
		pair_says client "^success"
		pair_says server "^success"
		say "$name $*"
		return
	fi
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
		# It checks no data, and tells no time.
		pingpong xsrq $events
	done
	pingpong rc -c -g 0 -s 65536 -m 4096 -r 20
	pingpong ud -c -g 0
	pingpong rc -N -t -c
}

# The sender does not wait for its sends, so it may have to run again.
multicast() {
	local receiver n
	timeout -k 2 $((PAIR_BOUND * IBEX_SLOW)) stdbuf -oL mckey -m 239.1.1.1 -b $A -C 5 > /tmp/server 2>&1 &
	receiver=$!
	wait_for 15 grep -q "joined dgid: ff12" /tmp/server || pair_failed "mckey did not join"
	for n in $(seq 20); do
		timeout -k 2 $((PAIR_BOUND * IBEX_SLOW)) mckey -s -m 239.1.1.1 -b $B -C 20 > /tmp/client 2>&1 ||
			pair_failed "mckey's sender"
		kill -0 $receiver 2> /dev/null || break
	done
	wait $receiver || pair_failed "mckey's receiver"
	say "mckey, $n"
}

by_rdma_cm() {
	say "rdma_cm"
	ipoib_pair
	cm rping "rping -s -a $A -p @ -C 20 -v -V" "rping -c -I $B -a $A -p @ -C 20 -v -V"
	[ "$(grep -c '^ping data: rdma-ping-' /tmp/client)" = 20 ] || pair_failed "not 20 pings"
	cm ucmatose "ucmatose -b $A -p @ -c 10" "ucmatose -b $B -s $A -p @ -c 10"
	cm "rdma_xserver, XRC" "rdma_xserver -p @ -c x" "rdma_xclient -s $A -p @ -c x"
	pair_says client "end 0"
	PORT=7174	# udaddy cannot use another port
	pair listens_cm "udaddy -b $A -c 4 -C 5" "udaddy -s $A -b $B -c 4 -C 5"
	pair_says client "data transfers complete"
	say "udaddy"
	multicast
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
