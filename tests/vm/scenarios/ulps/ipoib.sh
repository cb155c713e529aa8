# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: IPoIB, with ARP, TCP, multicast, partitions and a link that flaps
# timeout: 240
. /ibex/lib/vib.sh

# All are in one partition; the first two in another.
partitions() {
	cat > /run/partitions <<-END
		Default=0x7fff, ipoib : ALL=full;
		Two=0x0002, ipoib : 0x$(guid vib0)=full, 0x$(guid vib1)=full;
	END
}

flood() {
	say "datagrams"
	wait_for 60 ping -c 1 -W 1 10.1.0.2 || fail "no ping"
	wait_for 60 ping -c 1 -W 1 10.1.0.3 || fail "no ping to the third"
	pings 50 10.1.0.2 -s 1900 || fail "pings are lost"
	pings 20 10.1.0.3 -s 8000 || fail "pings in fragments are lost"
}

# neighbour_is N ADDRESS: ib0 knows ADDRESS as that of hostN. A link address of IPoIB ends with a GID.
neighbour_is() {
	ip neigh show dev ib0 "$2" |
		grep -q " lladdr [0-9a-f:]*$(guid "vib$1" | sed 's/../:&/g') "
}

# ping_to N ADDRESS: hostN answers
ping_to() { ping -c 1 -W 1 "$2" && neighbour_is "$1" "$2"; }

neighbours() {
	local n
	say "neighbours"
	ip neigh flush dev ib0
	for n in 1 2; do
		wait_for 20 ping_to $n 10.1.0.$((n + 1)) || fail "no ARP of host$n"
	done
	! ping -c 1 -W 2 10.1.0.77 || fail "nobody answers"
	ip neigh show dev ib0 10.1.0.77 | grep -Eq 'INCOMPLETE|FAILED' || fail "nobody is a neighbour"
	# An address that moves: ib0 asks its old host, who does not answer, and then all.
	on_host 2 ip addr add 10.1.0.9/24 dev ib2
	wait_for 20 ping_to 2 10.1.0.9 || fail "no ARP of another address"
	on_host 2 ip addr del 10.1.0.9/24 dev ib2
	on_host 1 ip addr add 10.1.0.9/24 dev ib1
	wait_for 60 ping_to 1 10.1.0.9 || fail "an address that moves is lost"
	on_host 1 ip addr del 10.1.0.9/24 dev ib1
}

# Streams of TCP, each way
streams() {
	local way server
	for way in "" -R; do
		on_host 1 iperf3 -s -1 > /run/out/iperf3-server &
		server=$!
		wait_for 20 on_host 1 grep -q ':1451 ' /proc/net/tcp /proc/net/tcp6 ||
			fail "iperf3 does not listen"
		# shellcheck disable=SC2086 # an option, or none
		iperf3 -c 10.1.0.2 -n 4M $way > /run/out/iperf3 ||
			{ cat /run/out/iperf3; fail "iperf3 $way"; }
		wait $server || fail "iperf3's server"
		say "iperf3 $way: $(grep receiver /run/out/iperf3)"
	done
}

multicast() {
	local host
	say "multicast"
	for host in host1 host2; do
		ip netns exec $host sysctl -qw net.ipv4.icmp_echo_ignore_broadcasts=0
	done
	# Both answer each one: one reply is the ping's, the other a duplicate.
	ping -c 5 -W 2 -I ib0 224.0.0.1 > /run/out/mcast || fail "no reply"
	[ "$(grep -c 'bytes from 10.1.0.2' /run/out/mcast)" = 5 ] || fail "ca1 misses some"
	[ "$(grep -c 'bytes from 10.1.0.3' /run/out/mcast)" -ge 4 ] || fail "ca2 misses some"
}

has_carrier() { [ "$(on_host "$1" cat "/sys/class/net/ib$1.8002/carrier")" = 1 ]; }

partitioned() {
	local n
	say "partitions"
	for n in 0 1 2; do
		ipoib_child $n 8002
	done
	wait_for 60 ping -c 1 -W 1 10.2.0.2 || fail "no ping in the partition"
	pings 20 10.2.0.2 || fail "pings are lost in the partition"
	! has_carrier 2 || fail "who is no member has joined"
	! ping -c 2 -W 1 10.2.0.3 || fail "who is no member answers"
	for n in 0 1 2; do
		on_host $n ip link del ib$n.8002
	done
}

flap() {
	local cut="$FABRIC/links/sw0:2-ca1:1/cut" i
	say "a link that flaps"
	for i in 1 2 3; do
		echo 1 > "$cut"
		wait_for 5 port_is vib1 DOWN || fail "the port stays up"
		echo 0 > "$cut"
		wait_for 60 port_is vib1 ACTIVE || fail "the port does not come back"
	done
	wait_for 60 ping -c 1 -W 1 10.1.0.2 || fail "no ping after it"
	pings 20 10.1.0.2 || fail "pings are lost after it"
}

removed() {
	say "an adapter is removed under load"
	ping -q -f -s 1900 10.1.0.3 > /dev/null &
	wait_for 10 grown || fail "no load"
	rmdir "$FABRIC/nodes/ca2"
	kill $!
	! ip netns exec host2 test -e /sys/class/net/ib2 || fail "the interface is still there"
	pings 20 10.1.0.2 || fail "pings to the other are lost"
}

grown() { [ "$(cat /sys/class/infiniband/vib2/ports/1/hw_counters/rcv_packets)" -gt 500 ]; }

# As udev asks, and IPoIB by the device's parent
driver() {
	ethtool -i ib0 > /run/out/driver || fail "ethtool -i ib0"
	grep -q '^driver: ib_ipoib' /run/out/driver && grep -q '^bus-info: vib' /run/out/driver ||
		{ cat /run/out/driver; fail "not the driver of ib0"; }
}

vib_up
record_core
vib_star 3
wait_for 20 ports_are INIT 3 || fail "ports do not come up"
partitions
opensm_up vib0 -P /run/partitions
wait_for 60 ports_are ACTIVE 3 || fail "opensm leaves ports inactive"
ipoib_up
driver
flood
neighbours
streams
multicast
partitioned
flap
removed
ipoib_down
opensm_down vib0
vib_down
