# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: MADs echoed over QP1, between agents in the kernel and through libibumad
# timeout: 120
. /ibex/lib/user.sh
. /ibex/lib/mad.sh

# equal DEVICE WORDS: checks the counters of the MAD layer for DEVICE, with our core. The
# number of sends that waited for a work request depends on the device's speed, and is
# ignored.
equal() {
	[ "$IBEX_MODE" = ours ] || return 0
	local got
	got=$(mad_counted "$1" "/tmp/$1" | sed 's/backlogged=[0-9]* *//')
	[ "$got" = "$2" ] || fail "counters of $1: '$got', not '$2'"
}

kernel_echo() {
	local count=$1
	ulp stats 0
	if [ "$IBEX_MODE" = ours ]; then
		mad_counters rxe_a /tmp/rxe_a
		mad_counters rxe_b /tmp/rxe_b
	fi
	mad_order run "$count" 64
	mad_check_whole
	ulp_check posted="$count" succeeded="$count" responses="$count" retries=0 \
		requests="$count" answered="$count"
	ulp_check_clean
	say "$count echoes in $(ulp_get run_us) us"
	equal rxe_a "received=$count recv_delivered=$count sent=$count"
	equal rxe_b "received=$count recv_delivered=$count sent=$count"
}

mad_up
# no request is resent, however slow the machine is
mad_set timeout_ms=30000
for count in 1 1000 10000; do
	kernel_echo "$count"
done

say "some answers late, some never"
mad_set timeout_ms=300 retries=20 delay_ms=20 drop_every=10
ulp stats 0
mad_order run 500 64
mad_check_whole
ulp_check posted=500 succeeded=500 responses=500
ulp_check_clean
[ "$(ulp_get retries)" -gt 0 ] || fail "no request was repeated"

load ib_umad
for count in 1 1000 2000; do
	umad_pair ask "$count" 64 216 0
done
mad_down
