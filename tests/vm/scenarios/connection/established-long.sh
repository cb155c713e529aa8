# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: no RTU for longer than a REP is resent: connections with data stay established
# timeout: 240
#
# In-tree the passive side gives up when it has sent its REP 16 times, after some 65 s,
# although data has arrived.
. /ibex/lib/user.sh
. /ibex/lib/rtu.sh
count=4
HOLD=${IBEX_ARGS:-80}

stands() {
	say "after $1 s: $(rtu_dropped) RTUs dropped, $(rtu_new) came;" \
		"$(ulp_get passive_established) of $count ids had an ESTABLISHED," \
		"$(ulp_get unreachable) UNREACHABLE, $(ulp_get live) of $((2 * count)) ends live"
	[ "$IBEX_MODE" = stock ] || ulp_check passive_established=$count unreachable=0 \
		live=$((2 * count))
}

user_up
load sch_netem sch_prio cls_u32 act_police
ulp_up
ulp listen "$A 7471"
rtu_wire loss 100%
ulp hold 1
ulp connect "$B $A 7471 $count 1"
ulp hold 0
ulp_check established=$count accepted=$count
[ "$(rtu_dropped)" -ge $count ] || fail "only $(rtu_dropped) RTUs dropped"
busybox sleep 1
stands 1
busybox sleep "$HOLD"
stands "$((HOLD + 1))"
[ "$(rtu_new)" = 0 ] || fail "$(rtu_new) RTUs came"
ulp drop active
wait_for 20 ulp_is live=0 || fail "$(ulp_get live) connections still live"
[ "$IBEX_MODE" = stock ] || {
	ulp_check passive_disconnected=$count duplicates=0
	ulp_check_clean
}
rtu_clean
ulp_down
no_warning
no_resources
