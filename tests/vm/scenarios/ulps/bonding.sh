# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: two IPoIB interfaces as a bond; the active one's cable is pulled, ping goes on
# timeout: 300
. /ibex/lib/vib.sh

BOND=(ip netns exec bonded)

# ib1 and ib2, in a namespace of their own, are a bond with 10.1.0.2.
bond_up() {
	local dev
	modprobe ib_ipoib
	load bonding
	ip addr add 10.1.0.1/24 dev ib0
	ip link set ib0 up
	ip netns add bonded
	"${BOND[@]}" ip link add bond0 type bond mode active-backup miimon 50 fail_over_mac active
	for dev in ib1 ib2; do
		ip link set $dev netns bonded
		"${BOND[@]}" ip link set $dev master bond0
	done
	"${BOND[@]}" ip addr add 10.1.0.2/24 dev bond0
	"${BOND[@]}" ip link set bond0 up
}

bond_down() {
	"${BOND[@]}" ip link del bond0
	"${BOND[@]}" ip link set ib1 netns 1
	"${BOND[@]}" ip link set ib2 netns 1
	ip netns del bonded
	rmmod bonding ib_ipoib
}

active() { "${BOND[@]}" cat /sys/class/net/bond0/bonding/active_slave; }

active_is() { [ "$(active)" = "$1" ]; }

# whether bonding has the link of this interface as up
has_link() { "${BOND[@]}" grep -qx up "/sys/class/net/$1/bonding_slave/mii_status"; }

answers() { grep -c 'bytes from' "$1" || true; }

# pulled ACTIVE OTHER: the cable of ibN is that of caN, vibN
pulled() {
	local from=$1 to=$2 log=/run/out/ping-$1 before
	say "$from is active; its cable is pulled"
	active_is "$from" || fail "$(active) is active"
	has_link "$to" || fail "$to has no link"
	ping -c 200 -i 0.05 -W 2 10.1.0.2 > "$log" &
	wait_for 10 grep -q 'bytes from' "$log" || fail "no ping"
	vibctl link "ca${from#ib}:1" down
	wait_for 20 active_is "$to" || fail "$(active) is still active"
	wait $! || true
	say "$(answers "$log") of 200 are answered"
	grep -q '^64 bytes .* icmp_seq=200 ' "$log" || fail "ping does not go on"

	before=$(counter "vib${to#ib}" rcv_packets)
	pings 50 10.1.0.2 || fail "pings are lost by $to"
	[ "$(counter "vib${to#ib}" rcv_packets)" -ge $((before + 50)) ] ||
		fail "they did not come by $to"
	vibctl link "ca${from#ib}:1" up
	wait_for 60 has_link "$from" || fail "$from does not come back"
	active_is "$to" || fail "$from is active again"
}

vib_up
record_core
subnet_up 3
bond_up
wait_for 60 ping -c 1 -W 1 10.1.0.2 || fail "no ping"
wait_for 60 has_link ib1 || fail "ib1 has no link"
wait_for 60 has_link ib2 || fail "ib2 has no link"
first=$(active)
second=ib$((3 - ${first#ib}))
pulled "$first" "$second"
pulled "$second" "$first"
bond_down
opensm_down vib0
vib_down
