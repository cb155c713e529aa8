# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: the packets of a fabric and of a link to files, which tshark decodes afterwards
# timeout: 300
# host-check: vib-decode.py
. /ibex/lib/vib.sh

# capture_start FILE [ARG...]: vibctl capture, which has begun on return
capture_start() {
	CAPTURED=/run/out/$1
	/ibex/vibctl/vibctl capture "$CAPTURED" "${@:2}" 2> "$CAPTURED.said" &
	CAPTURE=$!
	wait_for 20 test -s "$CAPTURED" || fail "no capture: $(cat "$CAPTURED.said")"
}

capture_ended() {
	wait "$CAPTURE" || fail "the capture failed: $(cat "$CAPTURED.said")"
	say "  ${CAPTURED##*/}: $(cat "$CAPTURED.said")"
	grep -q '^[1-9][0-9]* packets$' "$CAPTURED.said" || fail "no packets, or some are lost"
}

capture_stop() {
	kill "$CAPTURE"
	capture_ended
}

monitors() { find /sys/class/net -name 'vibmon*' | wc -l; }

# Connections: those of IPoIB's connected mode, and NFS, which reads and writes by RDMA
traffic() {
	local dev
	for dev in va vb; do
		ip link set $dev down
		echo connected > /sys/class/net/$dev/mode
		ip link set $dev mtu 65520 up
	done
	net_ends
	wait_for 60 ping -c 1 -W 1 -I $A -s 60000 $B || fail "no ping in connected mode"
	nfs_server_up
	nfs_mount 4.2 /mnt/nfs
	dd if=/dev/urandom of=/run/data bs=64k count=16 status=none
	cp /run/data /mnt/nfs/data
	sync
	umount /mnt/nfs
	echo 3 > /proc/sys/vm/drop_caches
	nfs_mount 4.2 /mnt/nfs
	cmp /run/data /mnt/nfs/data || fail "NFS reads other data"
	umount /mnt/nfs
	nfs_server_down
}

vib_up
record_core
say "a fabric, from its first packet on"
capture_start fabric.pcap --erf
[ "$(monitors)" = 1 ] || fail "no monitor"
subnet_up 2
ipoib_pair
pings 5 $B -I $A || fail "pings are lost"
capture_stop
[ "$(monitors)" = 0 ] || fail "a monitor is left"
[ -z "$(cat $FABRIC/capture)" ] || fail "the fabric still has a monitor"

say "a link"
capture_start link.pcap ca1:1 --erf
traffic
capture_stop

say "two at once, and a number of packets"
capture_start other.pcap --erf
FIRST=$CAPTURE
capture_start some.pcap ca0:1 --packets 20
pings 20 $B -I $A || fail "pings are lost"
capture_ended
kill "$FIRST"
wait "$FIRST" || fail "the first capture failed"

say "a link that goes"
capture_start gone.pcap ca1:1 --erf
pings 5 $B -I $A || fail "pings are lost"
rmdir "$FABRIC/links/sw0:2-ca1:1"
capture_ended
[ "$(monitors)" = 0 ] || fail "a monitor is left"

rmmod ib_ipoib
opensm_down vib0
vib_down
