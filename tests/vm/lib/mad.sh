# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# Functions for MAD scenarios: agents of the test module tests/vm/modules/mad send requests
# on rxe_b or rxe_a, and agents on the other device respond.
#
# shellcheck disable=SC2034 # read by lib.sh
ULP=/sys/kernel/debug/ibex_mad
ULP_ERRORS='refused|timed_out|flushed|aborted|failed|mismatched|duplicates|disorder|late|lost|stray|hung|setup_error|bad_requests|answers_failed|removals'

# a transfer over a lossy wire takes long
PAIR_BOUND=60

# the default settings of tests/vm/modules/mad/main.c
MAD_DEFAULTS='size=216 reply=0 rmpp=0 method=1 timeout_ms=2000 retries=3 ahs=1
	linger_us=0 wait_s=60 drop_every=0 silent=0 delay_ms=0'

mad_up() {
	is_both || fail "this scenario runs in one VM"
	rdma_up
	mad_insert
}

mad_insert() {
	insmod /ibex/mad/ibex_mad.ko || fail "insmod ibex_mad"
}

# mad_gid DEVICE: prints its link-local GID
mad_gid() { cat "/sys/class/infiniband/$1/ports/1/gids/0"; }

# mad_set NAME=VALUE...: sets these knobs, and all others to their defaults
mad_set() {
	local knob
	for knob in $MAD_DEFAULTS "$@"; do
		ulp "${knob%=*}" "${knob#*=}"
	done
}

# mad_order WORD COUNT WINDOW: starts WORD with requests from rxe_b to rxe_a
mad_order() { ulp "$1" "rxe_b $(mad_gid rxe_a) $2 $3"; }

# mad_check_whole: checks that each request and each response has completed exactly once, and
# that deregistering an agent never took longer than MAD_STOP_BOUND seconds
MAD_STOP_BOUND=10

mad_check_whole() {
	local posted
	[ "$(ulp_get stop_us)" -lt $((MAD_STOP_BOUND * IBEX_SLOW * 1000000)) ] ||
		fail "an agent took $(ulp_get stop_us) us to go"
	ulp_check duplicates=0 disorder=0 late=0 lost=0 stray=0 hung=0 mismatched=0 \
		bad_requests=0 setup_error=0 live=0
	# the in-tree core flushes requests that were answered while they were being resent
	[ "$IBEX_MODE" = stock ] || ulp_check spurned=0
	posted=$(ulp_get posted)
	ulp_check completed="$posted"
	mad_answers_done || {
		ulp_show
		fail "$(ulp_get answers_done) of $(ulp_get answered) answers came back"
	}
}

mad_answers_done() { wait_for 30 mad_answers_equal; }

mad_answers_equal() { [ "$(ulp_get answers_done)" = "$(ulp_get answered)" ]; }

# mad_counters DEVICE FILE: writes the counters of the MAD layer to FILE; ours only
mad_counters() {
	(cd "/sys/class/infiniband/$1/ports/1/mad" && grep . ./*) | sed 's,^\./,,' >"$2"
}

# mad_counted DEVICE FILE: prints how much the counters grew since FILE was written, as
# NAME=VALUE words without zeros
mad_counted() {
	mad_counters "$1" /tmp/counters
	paste -d: "$2" /tmp/counters |
		awk -F: '$4 > $2 { printf "%s%s=%d", sep, $1, $4 - $2; sep = " " }'
}

mad_down() {
	rmmod ibex_mad || fail "rmmod ibex_mad"
	user_down
}

# umad_pair WORD NUMBER...: runs two programs, from rxe_b to rxe_a; see umadecho/main.c
umad_pair() {
	local word=$1
	shift
	rm -f /tmp/server
	PAIR_ENDLESS=1 pair umad_serving "/ibex/bin/umadecho serve rxe_a" \
		"/ibex/bin/umadecho $word rxe_b $(mad_gid rxe_a) $*"
	say "programs, $word $*: $(cat /tmp/client)"
}

umad_serving() { grep -q serving /tmp/server; }
