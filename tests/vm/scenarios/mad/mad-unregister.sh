# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: agents deregistered amid thousands of sends: each completed exactly once
# timeout: 150
. /ibex/lib/user.sh
. /ibex/lib/mad.sh
get=1

# churn WHAT TASKS COUNT WINDOW
churn() {
	local jobs=()
	ulp stats 0
	for _ in $(seq "$2"); do
		mad_order churn "$3" "$4" &
		jobs+=($!)
	done
	wait "${jobs[@]}"
	mad_check_whole
	ulp_check_clean flushed answers_failed aborted timed_out
	say "$1: $(($2 * $3)) agents, $(ulp_get posted) requests, $(ulp_get flushed) cut off;" \
		"the longest took $(ulp_get stop_us) us"
	[ "$(ulp_get flushed)" -gt 0 ] || fail "no agent went amid its requests"
}

mad_up
mad_set timeout_ms=60000 silent=$get ahs=16
churn "nobody answers, at once" 1 12 2000
memory_mark
mad_set timeout_ms=60000 silent=$get ahs=16 linger_us=200000
churn "nobody answers" 1 10 2000
churn "nobody answers, several tasks" 4 6 1000
mad_set timeout_ms=60000 silent=$get ahs=1 linger_us=200000
churn "nobody answers, over one handle" 1 6 2000
mad_set timeout_ms=60000 ahs=16 linger_us=400000
churn "all are answered" 1 15 300
churn "all are answered, several tasks" 4 6 200
mad_set timeout_ms=50 retries=30 ahs=16 linger_us=400000 drop_every=2
churn "half are answered, the rest repeated" 4 6 200
mad_set timeout_ms=60000 linger_us=200000 size=100000 reply=50000
churn "amid transfers" 1 12 20
churn "amid transfers, several tasks" 4 5 10

mad_set
ulp stats 0
mad_order run 1000 64
mad_check_whole
ulp_check succeeded=1000
ulp_check_clean
memory_check
mad_down
