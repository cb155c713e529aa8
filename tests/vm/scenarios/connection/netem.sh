# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: loss, duplication and reordering on the wire; every connect ends cleanly
# timeout: 240
count=${IBEX_ARGS:-100}

# A lost message is resent only after seconds, so many connects run at a time.
round() {
	local what=$1
	shift
	say "$what: tc netem $*"
	tc qdisc replace dev va root netem "$@"
	tc qdisc replace dev vb root netem "$@"
	ulp stats 0
	ulp connect "$B $A 7471 $count 64"
	tc qdisc del dev va root
	tc qdisc del dev vb root
	wait_for 60 ulp_is live=0 || fail "$(ulp_get live) connections still live"
	say "  $(ulp_show)"

	# each has ended with one of these outcomes, and none ended twice
	local ended=$(($(ulp_get completed) + $(ulp_get unreachable) +
		$(ulp_get rejected) + $(ulp_get connect_error)))
	[ "$ended" -ge "$count" ] || fail "only $ended of $count connections ended"
	ulp_check attempts="$count" duplicates=0 unexpected=0 bad_data=0 timeouts=0 \
		setup_error=0 addr_error=0 route_error=0
	[ "$(ulp_get passive_established)" -le "$(ulp_get requests)" ] ||
		fail "more ESTABLISHED than requests"
	# the CM must cope with these conditions
	[ "$(ulp_get completed)" -ge $((count * 9 / 10)) ] ||
		fail "only $(ulp_get completed) of $count succeeded"
}

is_both || fail "this scenario runs in one VM"
rdma_up
load sch_netem
ulp_up
ulp listen "$A 7471"
round "loss" loss 8%
round "duplication" duplicate 30%
round "reordering" delay 8ms 4ms reorder 60% 50%
round "all together" loss 5% duplicate 10% delay 4ms 2ms reorder 50%
say "and a clean wire again"
ulp stats 0
ulp connect "$B $A 7471 20 8"
ulp_check completed=20 established=20
ulp_check_clean
ulp_down
no_resources
