# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: opensm brings a subnet of four adapters up; diagnostics; links and nodes go
# timeout: 240
. /ibex/lib/vib.sh

COUNT=4

# cas_found COUNT: so many adapters are in the subnet, and one switch
cas_found() {
	ibnetdiscover > /run/out/net || fail "ibnetdiscover"
	[ "$(grep -c '^Ca' /run/out/net)" = "$1" ] && [ "$(grep -c '^Switch' /run/out/net)" = 1 ]
}

# node_records COUNT: the SA knows so many nodes
node_records() {
	saquery > /run/out/saquery || fail "saquery"
	[ "$(grep -c 'NodeRecord dump' /run/out/saquery)" = "$1" ]
}

# ibstat shows each device and its port
stat() {
	local dev
	for dev in vib0 vib1; do
		ibstat $dev > /run/out/ibstat || fail "ibstat $dev"
		for what in 'State: Active' 'Physical state: LinkUp' 'Link layer: InfiniBand' \
			"Base lid: $(lid $dev)" "SM lid: $(lid vib0)" "Port GUID: 0x$(guid $dev)"; do
			grep -q "$what\$" /run/out/ibstat ||
				{ cat /run/out/ibstat; fail "ibstat $dev: no '$what'"; }
		done
	done
	ibstat -l | grep -qx vib3 || fail "ibstat -l"
}

# the port of a LID in a table that ibroute or dump_lfts has printed
port_of() { sed -nE "s/^0x0*$(printf %x "$1") ([0-9]+) .*/\1/p" /run/out/lft; }

# ibroute and dump_lfts show the switch's tables: vibN is behind port N + 1
tables() {
	local switch n
	switch=$(ibswitches | sed -n 's/.* lid \([0-9]*\) .*/\1/p')
	ibroute "$switch" > /run/out/lft || fail "ibroute"
	for ((n = 0; n < COUNT; n++)); do
		[ "$((10#$(port_of "$(lid vib$n)")))" = $((n + 1)) ] ||
			{ cat /run/out/lft; fail "ibroute: another port to vib$n"; }
	done
	dump_lfts > /run/out/lfts || fail "dump_lfts"
	grep -E '^0x' /run/out/lfts | sort > /run/lfts
	grep -E '^0x' /run/out/lft | sort | cmp - /run/lfts ||
		fail "dump_lfts and ibroute differ"
	ibroute -M "$switch" > /run/out/mft || fail "ibroute -M"
	grep -q 'Multicast mlids' /run/out/mft || fail "ibroute -M shows no table"
}

diags() {
	say "diagnostics"
	cas_found $COUNT || fail "not $COUNT adapters and a switch found"
	iblinkinfo > /run/out/linkinfo || fail "iblinkinfo"
	[ "$(grep -c 'Active/  LinkUp' /run/out/linkinfo)" = $((2 * COUNT)) ] ||
		fail "iblinkinfo does not show all links"
	sminfo | grep -q "sm lid $(lid vib0) .*SMINFO_MASTER" || fail "sminfo"
	node_records $((COUNT + 1)) || fail "the SA has not all nodes"
	ibtracert "$(lid vib0)" "$(lid vib1)" || fail "ibtracert"
	smpquery portinfo "$(lid vib1)" 1 > /run/out/portinfo || fail "smpquery"
	grep -q 'LinkState:\.*Active' /run/out/portinfo || fail "smpquery shows no active port"
	perfquery -x "$(lid vib1)" 1 > /run/out/perf || fail "perfquery"
	perfquery -R "$(lid vib1)" 1 || fail "perfquery does not reset"
	perfquery -x -R "$(lid vib1)" 1 || fail "perfquery does not reset extended counters"
	stat
	tables
	ibping -S -C vib1 -P 1 &
	ibping -c 5 -C vib0 -P 1 "$(lid vib1)" || fail "ibping"
	kill $!
}

changes() {
	local cut="$FABRIC/links/sw0:2-ca1:1/cut"

	say "a cable is pulled"
	echo 1 > "$cut"
	wait_for 5 port_is vib1 DOWN || fail "the port stays up"
	wait_for 30 node_records $COUNT || fail "the SA still has the node"
	echo 0 > "$cut"
	wait_for 60 port_is vib1 ACTIVE || fail "the port does not come back"
	wait_for 30 node_records $((COUNT + 1)) || fail "the SA has lost the node"

	say "a node is removed"
	rmdir "$FABRIC/nodes/ca3"
	wait_for 30 node_records $COUNT || fail "the SA still has the node"
	[ ! -e /sys/class/infiniband/vib3 ] || fail "the device is still there"
	cas_found $((COUNT - 1)) || fail "the node is still found"
}

vib_up
record_core
say "a star of $COUNT adapters"
subnet_up $COUNT
diags
changes
opensm_down vib0
vib_down
