# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: how long a connect and a disconnect take while packets are lost
# timeout: 900
# Prints a "loss" line for each share of lost packets, which scripts/results puts in a table.
# Each connection must end, and those that get through have each event once; how many get
# through is asserted for our core.
count=${IBEX_ARGS:-100}
parallel=4

# percentiles NAME: of standard input, in ms
percentiles() {
	sort -n | awk -v loss="$loss" -v name="$1" '
		{ v[NR] = $1 / 1000 }
		END {
			if (!NR) exit 1
			p99 = int((NR * 99 + 99) / 100)
			printf "loss | %s | %s | %d | %.1f | %.1f | %.1f\n",
			       loss, name, NR, v[int((NR + 1) / 2)], v[p99], v[NR]
		}'
}

round() {
	loss=$1
	tc qdisc replace dev va root netem loss "$loss%"
	tc qdisc replace dev vb root netem loss "$loss%"
	ulp stats 0
	ulp connect "$B $A 7471 $count $parallel"
	tc qdisc del dev va root
	tc qdisc del dev vb root
	wait_for 90 ulp_is live=0 || fail "$(ulp_get live) connections still live"
	ulp_check attempts="$count" duplicates=0 unexpected=0 timeouts=0 setup_error=0 \
		addr_error=0 route_error=0
	[ "$IBEX_MODE" = stock ] || ulp_check completed="$count"
	awk '$2 != "-" { print $2 }' "$ULP/connects" | percentiles connect
	awk '$1 != "-" && $3 != "-" { print $3 - $1 }' "$ULP/connects" | percentiles disconnect
}

DEBUG=/sys/kernel/debug

# Four connects wait for a REP, and their REQs were sent again: here and in rdma(8).
four_are_waiting() {
	[ "$(awk '$1 == "rxe_b" && $7 == "REQ_SENT" && $8 == "REP" && $9 > 0' \
		$DEBUG/ib_cm/waiting | wc -l)" = 4 ] || return 1
	[ "$(rdma -dd resource show cm_id link rxe_b/1 | grep -c 'waits_for REP')" = 4 ]
}

unanswered_reqs() { awk '$1 == "unanswered_req" { print $2 }' $DEBUG/ib_cm/rxe_b-1; }
unreachables() { sed -n 's/^unreachable, ETIMEDOUT: //p' $DEBUG/rdma_cm/events; }

# A peer that is gone is given up in the time that the port's settings make, not in 77 s.
told_less() {
	local dir=/sys/kernel/config/rdma_cm/rxe_b
	mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
	mkdir $dir
	echo 134 >$dir/ports/1/default_cm_timeout_ms
	echo 3 >$dir/ports/1/default_cm_retries
	tc qdisc replace dev vb root netem loss 100%
	ulp stats 0
	local reqs events
	reqs=$(unanswered_reqs)
	events=$(unreachables)
	ulp connect "$B $A 7471 4 4" &
	wait_for 20 four_are_waiting || {
		cat $DEBUG/ib_cm/waiting
		rdma -dd resource show cm_id
		fail "what the connects wait for is not shown"
	}
	wait $!
	tc qdisc del dev vb root
	[ $(($(unanswered_reqs) - reqs)) = 4 ] || fail "unanswered REQs are not counted"
	[ $(($(unreachables) - ${events:-0})) = 4 ] || fail "UNREACHABLE events are not counted"
	ulp_check attempts=4 unreachable=4 timeouts=0
	say "given up after $(($(ulp_get run_us) / 1000)) ms"
	[ "$(ulp_get run_us)" -lt 30000000 ] || fail "that is not what the port was told"
	rmdir $dir
}

is_both || fail "this scenario runs in one VM"
rdma_up
load sch_netem
ulp_up
ulp silent 1
ulp wait_s 90
ulp listen "$A 7471"
# A lost ARP request costs a second; that is not the CM's.  The first round finds neighbours.
round 0
ip neigh show | while read -r address _ dev _ mac _; do
	ip neigh replace "$address" lladdr "$mac" dev "$dev" nud permanent
done
for share in 0 1 5 10 20; do
	round $share
done
[ "$IBEX_MODE" = stock ] || told_less
ulp_down
no_resources
