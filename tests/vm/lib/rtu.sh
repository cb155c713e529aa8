# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# Loses, delays or duplicates the RTUs that rxe_b (or both devices) sends, on the wire: a
# filter on vb steers them into a netem of their own, or a policer drops the first few.
#
# The filter matches, by offsets from the IP header: UDP (9) to port 4791 (22),
# to QP 1 (BTH at 28, QPN at 33), management class CM (MAD at 48, class at 49),
# attribute id RTU (64).
RTU_MATCH='match ip protocol 17 0xff match u16 4791 0xffff at 22
	match u32 1 0x00ffffff at 32 match u8 7 0xff at 49 match u16 0x0014 0xffff at 64'
RTU_BYTES=322	# Ethernet 14, IP 20, UDP 8, BTH 12, DETH 8, MAD 256, ICRC 4

rtu_seen=0 rtu_seen_again=0 rep_seen=0

# rtu_filter DEV ACTION...: applies ACTION to the RTUs that are sent on DEV
rtu_filter() {
	local dev=$1
	shift
	# shellcheck disable=SC2086 # words
	tc filter add dev "$dev" parent 1: protocol ip prio 1 u32 $RTU_MATCH "$@"
}

rtu_root() {
	tc qdisc add dev "$1" root handle 1: prio bands 4 \
		priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
}

# rtu_netem DEV NETEM-OPTIONS...
rtu_netem() {
	local dev=$1
	shift
	rtu_root "$dev"
	tc qdisc add dev "$dev" parent 1:4 handle 40: netem "$@"
	rtu_filter "$dev" flowid 1:4
}

rtu_wire() {
	rtu_clean
	case $1 in
	first)	# rtu_wire first N: a policer with a very low rate drops the first N, which
		# fit into its burst (the maximum burst depends on the rate)
		rtu_root vb
		rtu_filter vb action police rate $(($2 > 10 ? 320 : 160))bit \
			burst $((RTU_BYTES * $2 + 20)) conform-exceed pipe/drop
		;;
	both)	# rtu_wire both NETEM-OPTIONS...
		shift
		rtu_netem va "$@"
		rtu_netem vb "$@"
		;;
	*)	# rtu_wire NETEM-OPTIONS...
		rtu_netem vb "$@"
		;;
	esac
	rtu_mark
}

# starts the counts of the functions below
rtu_mark() {
	rtu_seen=$(rtu_received)
	rtu_seen_again=$(rtu_received_again)
	rep_seen=$(rep_retries)
	[ "$IBEX_MODE" = stock ] || cm_stats >/tmp/cm-stats
}

# makes the wire clean for packets that are sent from now on; queued packets are kept
rtu_lift() {
	tc filter del dev va parent 1: 2>/dev/null || :
	tc filter del dev vb parent 1: 2>/dev/null || :
}

rtu_clean() {
	tc qdisc del dev va root 2>/dev/null || :
	tc qdisc del dev vb root 2>/dev/null || :
}

# RTUs that the netem on vb has let through; RTUs that were dropped at both ends
rtu_sent() { tc -s qdisc show dev vb | sed -n '/netem 40:/,/qdisc/ s/.* bytes \([0-9]*\) pkt.*/\1/p'; }
rtu_dropped() {
	{
		tc -s qdisc show dev va
		tc -s qdisc show dev vb
	} | sed -n '/prio 1:/,/requeues/ s/.*(dropped \([0-9]*\),.*/\1/p' | total
}

total() { awk '{ s += $1 } END { print s + 0 }'; }

# counters of the CMs of both ends: in total, then since the wire was set up
rtu_received() { cat /sys/class/infiniband/rxe_[ab]/ports/1/cm_rx_msgs/rtu | total; }
rtu_received_again() { cat /sys/class/infiniband/rxe_[ab]/ports/1/cm_rx_duplicates/rtu | total; }
rep_retries() { cat /sys/class/infiniband/rxe_[ab]/ports/1/cm_tx_retries/rep | total; }
rtu_new() { echo $(($(rtu_received) - rtu_seen)); }
rtu_new_again() { echo $(($(rtu_received_again) - rtu_seen_again)); }
rep_resent() { echo $(($(rep_retries) - rep_seen)); }

cm_stats() { cat /sys/kernel/debug/ib_cm/rxe_[ab]-1; }

# cm_stat NAME: this statistic of both ends' CMs, since the wire was set up; ours only
cm_stat() {
	cm_stats >/tmp/cm-stats-now
	awk -v name="$1" '
		$1 == name { v += FNR == NR ? -$NF : $NF }
		END { print v + 0 }' /tmp/cm-stats /tmp/cm-stats-now
}

# reports what happened to the RTUs since the wire was set up
rtu_told() {
	say "  RTUs: $(rtu_dropped) dropped, $(rtu_new) came, of them $(rtu_new_again) again;" \
		"$(rep_resent) REPs resent"
}

# reports what established connections since the wire was set up; ours only
established_told() {
	[ "$IBEX_MODE" = stock ] || {
		cm_stats >/tmp/cm-stats-now
		say "  established by:$(awk '
			sub("^established_by_", "", $1) { v[$1] += FNR == NR ? -$NF : $NF }
			END { for (n in v) if (v[n]) printf " %s %d", n, v[n] }
			' /tmp/cm-stats /tmp/cm-stats-now)"
	}
}
