# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: partitions with full and limited members; four LIDs a port; SLs and their VLs
# timeout: 300
. /ibex/lib/vib.sh

LMC=2
SWITCH_PORT=2	# of the switch, to which vib1 is linked

# All are in one partition.  Of the second, vib0 is a full member, vib1 and vib2 are limited
# ones, and vib3 is none; it uses SL 2.
partitions_conf() {
	cat > /run/partitions <<-END
		Default=0x7fff, ipoib : ALL=full;
		Three=0x0003, ipoib, sl=2 : 0x$(guid vib0)=full, 0x$(guid vib1)=limited,
			0x$(guid vib2)=limited;
	END
}

# SLs 0 to 3 have a VL each.  SL 4 has none at switches, SL 5 none at adapters.
qos_conf() {
	cat > /run/qos <<-END
		qos TRUE
		qos_max_vls 4
		qos_vlarb_high 0:64,1:64,2:64,3:64
		qos_vlarb_low 0:4,1:4,2:4,3:4
		qos_ca_sl2vl 0,1,2,3,0,15,0,0,0,0,0,0,0,0,0,0
		qos_swe_sl2vl 0,1,2,3,15,0,0,0,0,0,0,0,0,0,0,0
	END
}

gsi() { python3 /ibex/tools/gsi.py "$@" || fail "gsi $*"; }

# relay_errors: of the switch, at the port of vib1
relay_errors() {
	perfquery "$(switch_lid)" $SWITCH_PORT | sed -n 's/^PortRcvSwitchRelayErrors:\.*//p'
}

switch_lid() { ibswitches | sed -n 's/.* lid \([0-9]*\) .*/\1/p'; }

# violations LID PORT: of P_Keys, that this port has counted
violations() { smpquery portinfo "$1" "$2" | sed -n 's/^PkeyViolations:\.*//p'; }

# enforced 0|1: whether the switch enforces partitions where vib2 is linked to it
enforced() { smpquery portinfo "$(switch_lid)" 3 | grep -q "^PartEnforceOutb:\.*$1"; }

trapped() { grep -q "$1" /run/out/opensm-vib0.log; }

lids() {
	local dev k to
	say "four LIDs a port"
	for dev in vib0 vib1 vib2 vib3; do
		[ "$(cat /sys/class/infiniband/$dev/ports/1/lid_mask_count)" = $LMC ] ||
			fail "$dev has no LMC of $LMC"
		[ $(($(lid $dev) % (1 << LMC))) = 0 ] || fail "$dev has the base LID $(lid $dev)"
	done
	gsi lids vib0 vib1
	ibping -S -C vib1 -P 1 &
	for ((k = 0; k < 1 << LMC; k++)); do
		to=$(($(lid vib1) + k))
		saquery -p --slid "$(lid vib0)" --dlid $to > /run/out/path || fail "saquery $to"
		[ "$(grep -c "dlid\.*$to$" /run/out/path)" = 1 ] || fail "no path record to $to"
		perfquery $to 1 > /run/out/perf || fail "perfquery $to"
		ibping -c 3 -C vib0 -P 1 $to > /run/out/ibping || fail "ibping $to"
	done
	kill $!
}

service_levels() {
	local sl before
	say "service levels"
	smpquery sl2vl "$(lid vib0)" 1 | tee /run/out/sl2vl
	smpquery vlarb "$(lid vib0)" 1 > /run/out/vlarb
	for sl in 0 1 2 3; do
		gsi answered vib1 vib2 sl=$sl
	done
	before=$(relay_errors)
	gsi lost vib1 vib2 sl=4
	[ "$(relay_errors)" = $((before + 1)) ] || fail "the switch counts $(relay_errors) errors"
	before=$(counter vib1 xmit_discards)
	gsi lost vib1 vib2 sl=5
	[ "$(counter vib1 xmit_discards)" = $((before + 1)) ] ||
		fail "the adapter counts $(counter vib1 xmit_discards) discards"
}

# Limited members talk to full ones, and full ones to limited ones.
members() {
	say "members"
	gsi answered vib1 vib0 pkey=3 sl=2
	gsi answered vib0 vib2 pkey=3 sl=2
}

# The switch does not let out what nobody behind the port may take in.
refused_by_switch() {
	local switch
	say "limited members, by way of a switch that enforces partitions"
	switch=$(switch_lid)
	enforced 1 || fail "the switch does not enforce partitions"
	members
	gsi lost vib1 vib2 pkey=3 sl=2
	[ "$(violations "$switch" 3)" = 1 ] || fail "the switch counts $(violations "$switch" 3)"
	[ "$(violations "$(lid vib2)" 1)" = 0 ] || fail "it got to the adapter"
	wait_for 20 trapped 'num:259' || fail "no trap 259 gets to opensm"
}

refused_by_adapter() {
	local dev
	say "limited members, by way of a switch that does not"
	wait_for 20 enforced 0 || fail "the switch still enforces partitions"
	members
	gsi lost vib1 vib2 pkey=3 sl=2
	gsi lost vib0 vib3 pkey=3 sl=2
	for dev in vib2 vib3; do
		[ "$(violations "$(lid $dev)" 1)" = 1 ] ||
			fail "$dev counts $(violations "$(lid $dev)" 1) violations"
		[ "$(counter $dev drop_pkey)" = 1 ] ||
			fail "$dev counts $(counter $dev drop_pkey) drops"
		wait_for 20 trapped "Bad P_Key:0x[80]*3 on SL:2 from .* to LID2:$(lid $dev) " ||
			fail "no trap 257 of $dev gets to opensm"
	done
}

ipoib() {
	local n
	say "IPoIB"
	ipoib_up
	wait_for 60 ping -c 1 -W 1 10.1.0.2 || fail "no ping"
	pings 20 10.1.0.2 || fail "pings are lost"
	for n in 0 1 2 3; do
		ipoib_child $n 8003
	done
	for n in 1 2; do
		wait_for 60 ping -c 1 -W 1 "10.2.0.$((n + 1))" || fail "no ping to a limited member"
		pings 20 "10.2.0.$((n + 1))" || fail "pings to a limited member are lost"
	done
	! on_host 1 ping -c 3 -W 1 10.2.0.3 || fail "limited members talk to each other"
	! ping -c 3 -W 1 10.2.0.4 || fail "who is no member answers"
	saquery -p --slid "$(lid vib0)" --dlid "$(lid vib1)" --pkey 0x8003 > /run/out/path3
	grep -q 'sl\.*0x2$' /run/out/path3 || fail "the path in the partition has another SL"
	for n in 0 1 2 3; do
		on_host $n ip link del ib$n.8003
	done
	ipoib_down
}

vib_up
record_core
vib_star 4
wait_for 20 ports_are INIT 4 || fail "ports do not come up"
partitions_conf
qos_conf
opensm_up vib0 -l $LMC -P /run/partitions -F /run/qos
wait_for 60 ports_are ACTIVE 4 || fail "opensm leaves ports inactive"
lids
service_levels
refused_by_switch
ipoib
opensm_down vib0
opensm_up vib0 -l $LMC -P /run/partitions -F /run/qos -Z off
refused_by_adapter
opensm_down vib0
vib_down
