# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: iWARP over siw: rping (decoded), ucmatose, a kernel ULP, malformed MPA, removal
# timeout: 150
# image: siw
# host-check: siw-decode.py
. /ibex/lib/iwarp.sh
count=${IBEX_ARGS:-100}

# ping_each NAME SERVER CLIENT
ping_each() {
	cm "rping, $1" "rping -s -a $2 -p @ -C 5 -v -V" "rping -c -a $2 -I $3 -p @ -C 5 -v -V"
	[ "$(grep -c '^ping data: rdma-ping-' /tmp/client)" = 5 ] || pair_failed "not 5 pings"
	[ "$(grep -c 'ping data: rdma-ping-' /tmp/server)" = 5 ] || pair_failed "not 5 answers"
}

captured() {
	local job status=0 file=/run/out/rping.pcap
	python3 /ibex/tools/capture.py va $file &
	job=$!
	wait_for 20 test -s $file || fail "no capture"
	("$@") || status=$?
	kill $job
	wait $job || fail "the capture failed"
	return $status
}

# twice COMMAND...: repeats COMMAND once if the client's first message was not taken from the
# server's socket, which is a race of siw's: see iwarp_connects
twice() {
	local status=0
	rm -f /tmp/server /tmp/client
	("$@") || status=$?
	next_port # the last port was used
	[ $status != 0 ] || return 0
	if ! grep -q 'wait for RDMA_WRITE_ADV' /tmp/client || [ -s /tmp/server ]; then
		fail "that is not siw's race"
	fi
	say "  the first message came before siw was there for it: once more"
	"$@"
}

programs() {
	twice captured ping_each IPv4 $A $B
	twice ping_each IPv6 $A6 $B6
	# Without messages, since its passive side would send first, see siw-long.
	cm "ucmatose, 20 connections" "ucmatose -b $A -p @ -c 20 -C 0" \
		"ucmatose -s $A -b $B -p @ -c 20 -C 0"
	pair_says client "return status 0"
	pair_says server "return status 0"
	cm "rdma_server, rdma_client" "rdma_server -s $A -p @" "rdma_client -s $A -p @"
	pair_says client "rdma_client: end 0"
	pair_says server "rdma_server: end 0"
}

kernel_ulp() {
	say "a kernel ULP, $count connections"
	iwarp_connects "$count" 8
	say "  $((count * 1000000 / $(ulp_get run_us))) a second"

	say "ids destroyed without a disconnect"
	ulp stats 0
	ulp abrupt 1
	ulp connect "$B $A 7471 20 4"
	ulp abrupt 0
	ulp_check completed=20
	iwarp_quiet 20
	ulp_check_clean

	say "a listener that rejects, then a port nobody listens on"
	ulp stats 0
	ulp reject 1
	ulp connect "$B $A 7471 5 5"
	ulp reject 0
	ulp_check rejected=5 requests=5 accepted=0 last_reject=-104
	ulp_check_clean rejected
	ulp stats 0
	ulp connect "$B $A 7472 5 1"
	ulp_check attempts=5 setup_error=5 established=0
	ulp_check_clean setup_error
}

malformed() {
	say "malformed MPA requests"
	ulp stats 0
	python3 /ibex/tools/mpa.py malformed $B $A 7471 || fail "a case failed"
	wait_for 20 ulp_is live=0 || fail "$(ulp_get live) connections still live"
	say "  the ULP saw: $(ulp_show)"
	ulp_check duplicates=0 unexpected=0 removals=0 timeouts=0
	iwarp_connects 20 4
}

# The silent peers stay connected while the other tests run.
silent_begin() {
	python3 /ibex/tools/mpa.py silent $B $A 7471 60 >/tmp/silent &
	silent=$!
	wait_for 20 grep -q "are connected" /tmp/silent || fail "no silent peers"
}

silent_end() {
	wait $silent || fail "silent peers: $(cat /tmp/silent)"
	cat /tmp/silent
}

# link_delete DEVICE NETDEV: deletes the link while connections of the ULP exchange messages
# without end, for up to wait_s seconds, which is long enough even on a slow machine
link_delete() {
	local job
	say "rdma link delete $1 under traffic"
	ulp stats 0
	ulp rounds 1000000000
	ulp window 8
	ulp wait_s 90
	ulp connect "$B $A 7471 8 8" &
	job=$!
	wait_for 20 ulp_is established=8 || fail "no traffic"
	wait_for 20 more_bytes $(($(wire_bytes) + 100000)) || fail "no traffic"
	removal "rdma link delete $1" "$1"
	wait $job || fail "the connections did not end"
	wait_for 20 ulp_is live=0 || fail "$(ulp_get live) connections still live"
	ulp rounds 1
	ulp window 1
	ulp wait_s 20
	say "  took $TOOK s; $(ulp_show)"
	[ "$(ulp_get removals)" -ge 8 ] || fail "no DEVICE_REMOVAL for each"
	ulp_check duplicates=0 unexpected=0 timeouts=0 bad_data=0
	siw_add "$1" "$2"
	[ "$(ulp_get listening)" = 1 ] || ulp listen "$A 7471"
	iwarp_connects 20 4
}

more_bytes() { [ "$(wire_bytes)" -gt "$1" ]; }

iwarp_up
silent_begin
programs
kernel_ulp
malformed
silent_end
link_delete siw_b vb
link_delete siw_a va
ulp_down
siw_down
