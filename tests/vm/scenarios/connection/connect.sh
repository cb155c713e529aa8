# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: 1,000 connects and disconnects by a kernel ULP, each event exactly once
# timeout: 150
count=${IBEX_ARGS:-1000}
parallel=16
[ "$count" -gt 100 ] || parallel=4

rdma_up
if is_server; then
	ulp_up
	ulp listen "$A 7471"
fi
barrier listening
before=$(wire_bytes)
if is_client; then
	is_server || ulp_up
	say "$count connections, $parallel at a time"
	ulp connect "$B $A 7471 $count $parallel"
	ulp_check attempts="$count" completed="$count" established="$count" \
		disconnected="$count"
	ulp_check_clean
fi
barrier connected
if is_server; then
	wait_for 10 ulp_is passive_disconnected="$count" || :
	say "passive side: $(ulp_get passive_established) ESTABLISHED," \
		"$(ulp_get passive_disconnected) DISCONNECTED"
	ulp_check_passive "$count"
	ulp_check_clean
fi
if is_client; then
	say "$(ulp_get run_us) us in all, $((count * 1000000 / $(ulp_get run_us))) a second;" \
		"connect to established: $(ulp_get connect_avg_us) us on average," \
		"$(ulp_get connect_max_us) us at most"
	say "$(($(wire_bytes) - before)) bytes crossed the wire"

	say "a port nobody listens on, then a listener that rejects"
	ulp stats 0
	ulp connect "$B $A 7472 5 1"
	ulp_check rejected=5 completed=0 last_reject=8
	ulp_check_clean rejected
fi
if is_both; then
	ulp stats 0
	ulp reject 1
	ulp connect "$B $A 7471 5 5"
	ulp reject 0
	ulp_check rejected=5 requests=5 accepted=0 last_reject=28
	ulp_check_clean rejected

	say "ids destroyed without a disconnect"
	ulp stats 0
	ulp abrupt 1
	ulp connect "$B $A 7471 20 4"
	ulp abrupt 0
	wait_for 10 ulp_is passive_disconnected=20 || :
	ulp_check completed=20
	ulp_check_passive 20
	ulp_check_clean

	say "connections that stand"
	ulp stats 0
	ulp hold 1
	ulp connect "$B $A 7471 50 8"
	ulp hold 0
	ulp_check established=50 passive_established=50 live=100
	ulp drop 1
	wait_for 20 ulp_is live=0 || fail "$(ulp_get live) connections still live"
	ulp_check_clean
fi
barrier tested
ulp_down
no_resources
