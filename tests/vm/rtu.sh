# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# Loses, delays or duplicates the RTUs that rxe_b sends, on the wire: a filter
# on vb steers them into a netem of their own, or a policer drops the first few.
#
# What is matched, by offsets from the IP header: UDP (9) to port 4791 (22),
# to QP 1 (BTH at 28, QPN at 33), management class CM (MAD at 48, class at 49),
# attribute id RTU (64).
RTU_MATCH='match ip protocol 17 0xff match u16 4791 0xffff at 22
	match u32 1 0x00ffffff at 32 match u8 7 0xff at 49 match u16 0x0014 0xffff at 64'
RTU_BYTES=322	# Ethernet 14, IP 20, UDP 8, BTH 12, DETH 8, MAD 256, ICRC 4
CM_STATS=/sys/kernel/debug/ib_cm/rxe_a-1

rtu_seen=0 rtu_seen_again=0 rep_seen=0

rtu_wire() {
	rtu_clean
	tc qdisc add dev vb root handle 1: prio bands 4 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
	# shellcheck disable=SC2086 # words
	case $1 in
	first)	# rtu_wire first N: policed to next to nothing, what is lost is the burst
		# (a slow rate has a bound on its burst)
		tc filter add dev vb parent 1: protocol ip prio 1 u32 $RTU_MATCH \
			action police rate $(($2 > 10 ? 320 : 160))bit burst $((RTU_BYTES * $2 + 20)) \
			conform-exceed pipe/drop
		;;
	*)	# rtu_wire NETEM-OPTIONS...
		tc qdisc add dev vb parent 1:4 handle 40: netem "$@"
		tc filter add dev vb parent 1: protocol ip prio 1 u32 $RTU_MATCH flowid 1:4
		;;
	esac
	rtu_seen=$(rtu_received)
	rtu_seen_again=$(rtu_received_again)
	rep_seen=$(rep_retries)
	[ ! -e "$CM_STATS" ] || cat "$CM_STATS" >/tmp/cm-stats
}

# the wire is clean again for what comes from now on; what is queued still goes
rtu_lift() { tc filter del dev vb parent 1: 2>/dev/null || :; }

rtu_clean() { tc qdisc del dev vb root 2>/dev/null || :; }

# what the filter's netem has let through, what was dropped
rtu_sent() { tc -s qdisc show dev vb | sed -n '/netem 40:/,/qdisc/ s/.* bytes \([0-9]*\) pkt.*/\1/p'; }
rtu_dropped() {
	tc -s qdisc show dev vb | sed -n '/prio 1:/,/requeues/ s/.*(dropped \([0-9]*\),.*/\1/p'
}

# what the passive side's CM has counted, in all; since the wire was set up
rtu_received() { cat /sys/class/infiniband/rxe_a/ports/1/cm_rx_msgs/rtu; }
rtu_received_again() { cat /sys/class/infiniband/rxe_a/ports/1/cm_rx_duplicates/rtu; }
rtu_new() { echo $(($(rtu_received) - rtu_seen)); }
rtu_new_again() { echo $(($(rtu_received_again) - rtu_seen_again)); }
rep_resent() { echo $(($(rep_retries) - rep_seen)); }
rep_retries() { cat /sys/class/infiniband/rxe_a/ports/1/cm_tx_retries/rep; }

# cm_stat NAME: of the passive side's CM, since the wire was set up; ours only
cm_stat() {
	awk -v name="$1" '$1 == name { v = $NF - v } END { print v + 0 }' /tmp/cm-stats "$CM_STATS"
}
