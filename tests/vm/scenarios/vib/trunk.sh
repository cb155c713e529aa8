# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: two fabrics joined by a trunk, over a network that goes away, loses and repeats
# timeout: 300
#
#   fabric f0: vib0 - sw0:1, sw0:2 - trunk t0 10.9.0.1  <-- veth -->  10.9.0.2 (namespace far)
#   fabric f1: vib1 - sw0:1, sw0:2 - trunk t1 10.9.0.2
. /ibex/lib/vib.sh

F1=/sys/kernel/config/vib/f1
# A trunk notices silence after 5 intervals; and an emulated machine is slow.
INTERVAL=500
NOTICE=15

in_far() { nsenter --net=/run/netns/far "$@"; }

network() {
	modprobe veth
	modprobe sch_netem
	ip netns add far
	ip link add t0 type veth peer name t1 netns far
	ip addr add 10.9.0.1/24 dev t0
	ip link set t0 up
	in_far ip addr add 10.9.0.2/24 dev t1
	in_far ip link set t1 up
	in_far ip link set lo up
}

trunks() {
	vibctl trunk sw0:2 10.9.0.1 10.9.0.2 --interval $INTERVAL
	in_far /ibex/vibctl/vibctl trunk sw0:2 10.9.0.2 10.9.0.1 --interval $INTERVAL --fabric f1
}

# the ports at both ends
both_are() { switch_port_is f0 2 "$1" && switch_port_is f1 2 "$1"; }
both_down() { both_are Down; }
both_active() { both_are Active; }

# counter FABRIC NAME
counter() { sed -n "s/^$2 //p" "/sys/kernel/config/vib/$1/trunks/sw0:2/counters"; }

# all_answered WHAT COUNT [OPTION...]
all_answered() {
	local what=$1 count=$2
	shift 2
	pings "$count" $B -I $A "$@" && return
	cat /run/ping
	vibctl trunk sw0:2 | paste -sd' '
	vibctl trunk sw0:2 --fabric f1 | paste -sd' '
	fail "$what: pings are lost"
}

# Not one of these counts anything in a network that behaves.
no_errors() {
	local fabric name
	for fabric in f0 f1; do
		for name in "$@" foreign malformed overruns no_memory; do
			[ "$(counter $fabric "$name")" = 0 ] ||
				fail "$fabric: $name: $(vibctl trunk sw0:2 --fabric $fabric | paste -sd' ')"
		done
	done
}

subnet() {
	local fabric
	vibctl up --star 1 --spare 1
	vibctl up --star 1 --spare 1 --fabric f1
	trunks
	wait_for 20 both_are Init || fail "the trunk does not come up"
	opensm_up vib0
	wait_for 60 ports_are ACTIVE 2 || fail "opensm leaves ports inactive"
	wait_for 20 both_active || fail "opensm leaves the trunk inactive"
	for fabric in f0 f1; do
		vibctl show --fabric $fabric
	done
	# From either end all four nodes are seen, with the ports that the other end has.
	ibnetdiscover -C vib1 > /run/out/net
	[ "$(grep -cE '^(Switch|Ca)' /run/out/net)" = 4 ] || fail "ibnetdiscover sees another net"
	[ "$(grep -c '^\[2\].*"S-.*4xQDR' /run/out/net)" = 2 ] || fail "the trunk is not in the net"
}

traffic() {
	say "IPoIB"
	all_answered "IPoIB" 50 -s 1900
	all_answered "fragments" 20 -s 8000
	no_errors lost late duplicates send_errors
}

connections() {
	say "connections: $1"
	ulp stats 0
	ulp connect "$B $A 7471 50 8"
	ulp_check attempts=50 completed=50 established=50 disconnected=50
	ulp_check_clean
}

# again WHAT: after it has happened, all is as before
again() {
	wait_for 60 both_active || fail "$1: the trunk does not come up again"
	wait_for 60 ping -c 1 -W 1 -I $A $B || fail "$1: no ping"
	all_answered "$1" 20 -s 1900
}

gone() {
	say "the network goes"
	ip link set t0 down
	wait_for $NOTICE both_down || fail "the trunk stays up without a network"
	# Nothing else has gone.
	port_is vib0 ACTIVE && port_is vib1 ACTIVE || fail "adapters are down"
	! ping -c 1 -W 1 -I $A $B || fail "pings go by another way"
	ip link set t0 up
	again "a network that is back"

	say "the address goes"
	in_far ip addr del 10.9.0.2/24 dev t1
	wait_for $NOTICE both_down || fail "the trunk stays up without an address"
	in_far ip addr add 10.9.0.2/24 dev t1
	again "an address that is back"

	say "nothing passes in one direction"
	tc qdisc add dev t0 root netem loss 100%
	wait_for $NOTICE both_down || fail "the trunk stays up in one direction"
	tc qdisc del dev t0 root
	again "both directions"

	say "a cable that is pulled"
	vibctl link sw0:2 down
	# By a message, and not by silence
	wait_for $NOTICE both_down || fail "the other end stays up"
	vibctl link sw0:2 up
	again "a cable that is pushed in"
}

# A file by NFS over RDMA, written, read back and compared
file() {
	local dir=/mnt/nfs
	busybox dd if=/dev/urandom of=/run/file bs=64k count=32 2> /dev/null
	nfs_mount 4.2 $dir
	cp /run/file $dir/file
	umount $dir
	cmp /run/file /srv/nfs/file || fail "the server has another file"
	nfs_mount 4.2 $dir
	cmp /run/file $dir/file || fail "another file is read back"
	rm $dir/file
	umount $dir
}

lossy() {
	local before lost
	# A packet in one frame: of three, one is lost three times as often.
	ip link set t0 mtu 4300
	in_far ip link set t1 mtu 4300
	say "1 % of all packets are lost"
	before=$(counter f1 lost)
	tc qdisc add dev t0 root netem loss 1%
	in_far tc qdisc add dev t1 root netem loss 1%
	ping -q -c 200 -i 0.01 -W 2 -I $A -s 1000 $B > /run/ping || fail "no ping at all"
	grep transmitted /run/ping
	# Of 200 there and back 2 %, with a generous margin
	[ "$(sed -n 's/.*transmitted, \([0-9]*\) received.*/\1/p' /run/ping)" -gt 170 ] ||
		fail "more pings are lost than packets"
	connections "with losses"
	file
	lost=$(($(counter f1 lost) - before))
	[ $lost -gt 0 ] || fail "nothing was lost"
	both_active || fail "losses take the trunk down"
	say "$lost messages were lost"
	no_errors

	say "10 % of all packets come twice, or late"
	tc qdisc change dev t0 root netem duplicate 10% delay 1ms reorder 10%
	in_far tc qdisc del dev t1 root
	connections "with duplicates"
	[ "$(counter f1 duplicates)" -gt 0 ] || fail "nothing came twice"
	[ "$(counter f1 late)" -gt 0 ] || fail "nothing came late"
	both_active || fail "duplicates take the trunk down"
	tc qdisc del dev t0 root
	no_errors
}

# From the peer's address, but not from its port
garbage() {
	say "garbage"
	in_far bash -c 'for i in {1..100}; do echo "garbage $i" > /dev/udp/10.9.0.1/18616; done'
	wait_for 5 has_foreign 100 || fail "foreign datagrams are not counted"
	both_active || fail "garbage takes the trunk down"
}

has_foreign() { [ "$(counter f0 foreign)" = "$1" ]; }

# The address is free at once, whatever packets are on the way.
reopened() {
	local i
	say "trunks closed under load"
	for i in 1 2 3; do
		ping -q -f -s 1900 -I $A $B > /dev/null &
		wait_for 10 sent_some || fail "no load"
		vibctl trunk sw0:2 clear
		in_far /ibex/vibctl/vibctl trunk sw0:2 clear --fabric f1
		trunks || fail "the addresses are in use"
		kill $!
		again "trunks that were closed"
	done
}

sent_some() { [ "$(counter f0 sent)" -gt 100 ]; }

vib_load
network
record_core
subnet
ipoib_pair
traffic
ulp_up
ulp listen "$A 7471"
connections "without losses"
nfs_server_up
gone
lossy
garbage
reopened
nfs_server_down
ulp_down
rmmod ib_ipoib
opensm_down vib0
vibctl down
# A namespace lives as long as the trunk in it.
ip netns del far
[ -d $F1/trunks/sw0:2 ] || fail "the trunk is gone"
vibctl down --fabric f1
rmmod vib
say "done"
