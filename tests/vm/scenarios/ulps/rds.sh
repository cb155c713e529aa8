# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: RDS messages, both ways; a cable, an adapter and the listener go and come back
# timeout: 300
. /ibex/lib/vib.sh

# exchange: checks that the messages cross the wire
exchange() {
	local before bytes
	before=$(wire_bytes)
	bytes=$(python3 /ibex/tools/rds.py $A $B) || fail "RDS: $bytes"
	before=$(($(wire_bytes) - before))
	say "$bytes bytes of messages, $before bytes on the wire"
	[ "$before" -ge "$bytes" ] || fail "they do not cross the wire"
}

vib_up
record_core
subnet_up 2
ipoib_pair
load rds rds_rdma
say "messages"
exchange
say "a cable is pulled and put back"
vibctl link ca1:1 down
wait_for 10 port_is vib1 DOWN || fail "the port stays up"
vibctl link ca1:1 up
wait_for 60 port_is vib1 ACTIVE || fail "the port does not come back"
wait_for 60 ping -c 1 -W 1 -I $A $B || fail "no ping"
exchange
say "an adapter is removed and comes back"
removal "rmdir $FABRIC/nodes/ca1" vib1
adapter_again 1 vb
exchange
say "RDS's listener, which is the module's, goes and comes back"
modprobe -r rds_rdma || fail "modprobe -r rds_rdma"
load rds_rdma
exchange
modprobe -r rds_rdma || fail "modprobe -r rds_rdma"
rmmod ib_ipoib
opensm_down vib0
vib_down
