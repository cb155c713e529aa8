# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: malformed, truncated, repeated and unexpected MADs sent at QP1
# timeout: 240
is_both || fail "this scenario runs in one VM"
net_up
load rdma_rxe
rxe_add rxe_a va
ulp_up
# bound to the wildcard, so that every address of the device is reachable
ulp listen "0.0.0.0 7471"

# A program acts as the peer: there is no RDMA device at the other end yet.
before=$(rdma res show)
say "sending"
# shellcheck disable=SC2086 # words
python3 /ibex/tools/malformed.py $IBEX_ARGS || fail "a case failed"
say "the ULP saw: $(ulp_show)"
ulp_check duplicates=0 unexpected=0 removals=0

say "waiting for what was accepted to time out"
wait_for 90 ulp_is live=0 || fail "$(ulp_get live) connections still live"
after=$(rdma res show)
[ "$before" = "$after" ] || say "resources before: $before; after: $after"

say "a good peer still gets through"
rxe_add rxe_b vb
ulp stats 0
ulp connect "$B $A 7471 50 8"
ulp_check completed=50 established=50
ulp_check_clean
(cd /sys/class/infiniband/rxe_a/ports/1 && grep -H '^[1-9]' cm_*/* hw_counters/*error* \
	2>/dev/null | sed 's/^/  /') || :
ulp_down
no_resources
