# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: devices and modules removed with 10,000 sends waiting and MADs in flight
# timeout: 120
. /ibex/lib/user.sh
. /ibex/lib/mad.sh
waiting=10000
get=1
set_method=2
# the longest time that a removal may take, seconds
bound=10

sent_packets() { cat /sys/class/infiniband/rxe_b/ports/1/hw_counters/sent_pkts; }

all_sent() { [ "$(sent_packets)" -ge $((sent_before + waiting)) ]; }

answers_come() { [ "$(ulp_get responses)" -gt 1000 ]; }

# Sets how many requests an agent may have outstanding to one destination; the in-tree core
# has no limit.
request_window() {
	local param=/sys/module/ib_mad/parameters/request_window
	[ ! -w $param ] || echo "$1" > $param
}

# Starts 10,000 requests of rxe_b that are sent and never answered; 10,000 more, most of
# which are held by the request window; and echoes in both directions beside them
load_up() {
	ulp stats 0
	sent_before=$(sent_packets)
	mad_set timeout_ms=600000 silent=$set_method method=$set_method ahs=64
	request_window 0
	mad_order load 0 $waiting
	wait_for 30 all_sent || fail "only $(($(sent_packets) - sent_before)) were sent"
	request_window 256
	ulp ahs 1
	mad_order load 0 $waiting
	ulp method $get
	ulp timeout_ms 1000
	mad_order load 0 64
	ulp load "rxe_a $(mad_gid rxe_b) 0 64"
	wait_for 20 answers_come || fail "no echoes beside the waiting requests"
	[ "$(ulp_get posted)" -ge $((2 * waiting)) ] || fail "too few requests posted"
}

# removal WHAT COMMAND
removal() {
	local start now
	load_up
	say "$1: $(ulp_get posted) posted, $(ulp_get completed) completed"
	start=$(date +%s%3N)
	timeout $bound sh -c "$2" || fail "'$2' failed, or took more than $bound s"
	now=$(date +%s%3N)
	say "'$2' took $((now - start)) ms"
}

mad_up
removal "a link goes" "rdma link delete rxe_b"
[ ! -e /sys/class/infiniband/rxe_b ] || fail "rxe_b is still there"
say "of these $(ulp_get remove_us) us for its agents; $(ulp_show)"
ulp_check removals=1 live=1
ulp drop all
mad_check_whole
ulp_check_clean flushed timed_out removals answers_failed

rxe_add rxe_b vb
removal "the driver goes" "rmmod rdma_rxe"
[ ! -e /sys/class/infiniband ] || [ -z "$(ls /sys/class/infiniband)" ] || fail "a device is left"
say "of these $(ulp_get remove_us) us for the agents of one; $(ulp_show)"
ulp_check removals=2
mad_check_whole
ulp_check_clean flushed timed_out removals answers_failed

load rdma_rxe
rxe_add rxe_a va
rxe_add rxe_b vb
removal "the client goes" "rmmod ibex_mad"
say "$(dmesg | grep 'ibex_mad: off' | tail -n 1)"

say "and all of it works again"
mad_insert
mad_set
mad_order run 1000 64
mad_check_whole
ulp_check succeeded=1000
ulp_check_clean
mad_down
