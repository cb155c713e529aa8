# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: RTUs lost, late or duplicated: one ESTABLISHED, before DISCONNECTED, and how soon
# timeout: 240
#
# Times are reported in "row" lines, which scripts/vm-established prints side by side. The
# scenario asserts (for our core) that each accepted id gets one ESTABLISHED and then one
# DISCONNECTED, and that the programs succeed.
. /ibex/lib/user.sh
. /ibex/lib/rtu.sh
. /ibex/lib/rows.sh
# scripts/vm run --args all: also measures what scripts/vm-established prints
count=20
parallel=4
BOUND=10	# longest wait for ESTABLISHED while every RTU is lost, seconds

all() { [ "$IBEX_ARGS" = all ]; }

# --- the test ULP ------------------------------------------------------------
all_established() { ulp_is "passive_established=$count"; }

# cm_counted NAME AT-LEAST: checks a counter of the CM, which only our core has
cm_counted() {
	[ "$IBEX_MODE" = stock ] || [ "$(cm_stat "$1")" -ge "$2" ] ||
		fail "$condition: the CM counts $(cm_stat "$1") $1, not $2"
}

# cm_saw_data COUNT: data established so many, most by a completion.  If a REP is about to be
# resent first, the CM asks for the QP's PSN.
cm_saw_data() {
	local seen
	[ "$IBEX_MODE" != stock ] || return 0
	cm_counted established_by_receive $(($1 / 2))
	seen=$(($(cm_stat established_by_receive) + $(cm_stat established_by_psn)))
	[ "$seen" -ge "$1" ] || fail "$condition: data established $seen, not $1"
}

# hold_round: makes $count connections, which stay open until end_round
hold_round() {
	ulp stats 0
	ulp hold 1
	ulp connect "$B $A 7471 $count $parallel"
	ulp hold 0
	ulp_check established="$count" accepted="$count"
}

# end_round: the active side ends all connections; checks their events
end_round() {
	ulp drop active
	within 10 ulp_is live=0 || fail "$(ulp_get live) connections still live"
	ours_must "not each one ESTABLISHED, then one DISCONNECTED" each_once "$ULP/times"
	ulp_check duplicates=0 unexpected=0 bad_data=0 io_error=0
	ulp_check_clean
	rtu_clean
}

silent() { [ "$(cat "$ULP/silent")" = Y ]; }

report() {
	if silent; then
		awk '$2 != "-" { print $2 }' "$ULP/times" | row_of "accept to ESTABLISHED"
	else
		since_received "$ULP/times" | row_of "first receive to ESTABLISHED"
	fi
}

# Every RTU is lost until each connection is established or the time is over.
ulp_lost() {
	rtu_wire loss 100%
	hold_round
	within $BOUND all_established || :
	[ "$(rtu_new)" = 0 ] || fail "$(rtu_new) RTUs came"
	[ "$(rtu_dropped)" -ge "$count" ] || fail "only $(rtu_dropped) RTUs dropped"
	report
	rtu_told
	ours_must "no ESTABLISHED in $BOUND s" all_established
	cm_saw_data "$count"
	rtu_lift
	within 10 all_established || :
	end_round
}

# The first $count RTUs are lost: in-tree that is one for each connection; if REPs are
# resent soon, it may be two of some connections and none of others.
ulp_lost_first() {
	rtu_wire first "$count"
	hold_round
	[ "$(rtu_dropped)" = "$count" ] || fail "$(rtu_dropped) RTUs dropped, not $count"
	within $BOUND all_established || fail "no ESTABLISHED in $BOUND s"
	! silent || cm_counted established_by_rtu "$count"
	report
	rtu_told
	end_round
}

rtus_came() { [ "$(rtu_new)" -ge $((count * $1)) ]; }

# ulp_late COPIES NETEM-OPTIONS...: all RTUs arrive in the end, COPIES times each
ulp_late() {
	local copies=$1
	shift
	rtu_wire "$@"
	hold_round
	within $BOUND all_established || fail "no ESTABLISHED in $BOUND s"
	within 10 rtus_came "$copies" || fail "only $(rtu_new) RTUs came"
	[ "$(rtu_sent)" -ge $((count * copies)) ] || fail "netem saw $(rtu_sent) RTUs"
	report
	rtu_told
	end_round
}

# ulp_brief COUNTER: the active side disconnects as soon as its message is echoed or, without
# data, as soon as it can. COUNTER is the CM's counter of what established the ids.
ulp_brief() {
	rtu_wire loss 100%
	ulp stats 0
	ulp connect "$B $A 7471 $count $parallel"
	ulp_check completed="$count"
	within 10 ulp_is live=0 || fail "$(ulp_get live) connections still live"
	row "ids with an ESTABLISHED" "$(ulp_get passive_established)" - - ""
	ours_must "not each one ESTABLISHED, then one DISCONNECTED" each_once "$ULP/times"
	ulp_check passive_disconnected="$count"
	ulp_check_clean
	cm_counted "$1" $((count / 2))
	rtu_clean
}

ulp_all() {
	ulp_up
	ulp listen "$A 7471"
	condition=clean
	ulp_late 1 limit 1000
	condition="RTU lost"
	ulp_lost
	condition="RTU lost, own CQ"
	ulp own_cq 1
	ulp_lost
	ulp own_cq 0
	condition="first RTUs lost"
	! all || ulp_lost_first
	condition="RTU 2 s late"
	ulp_late 1 delay 2s
	condition="RTU twice"
	ulp_late 2 duplicate 100%
	condition="RTU lost, brief"
	ulp_brief established_by_receive
	ulp silent 1
	condition="no data, RTU lost, brief"
	ulp_brief established_by_dreq
	condition="no data, clean"
	! all || ulp_late 1 limit 1000
	condition="no data, first RTUs lost"
	ulp_lost_first
	condition="no data, RTU 2 s late"
	! all || ulp_late 1 delay 2s
	ulp silent 0
	! all || ulp_rate
	ulp listen off
}

# Measures the cost of polling completions, with messages in both directions, 16 in flight.
ulp_rate() {
	condition="completions a second"
	ulp stats 0
	ulp rounds 4000
	ulp window 16
	ulp connect "$B $A 7471 1 1"
	ulp_check completed=1
	row "4000 messages each way" $((4 * 4000 * 1000000 / $(ulp_get exchange_us))) - - ""
	condition="ns a polled completion"
	ulp stats 0
	ulp rounds 1920
	ulp window 64
	ulp direct 1
	ulp connect "$B $A 7471 1 1"
	ulp direct 0
	ulp rounds 1
	ulp window 1
	ulp_check completed=1
	row "by hand, 128 at a time; mean" $(($(ulp_get poll_best_ps) / 1000)) \
		$(($(ulp_get poll_ns) / $(ulp_get polled))) - ""
}

# --- stock consumers ---------------------------------------------------------
# nfs_round WIRE...
nfs_round() {
	local start mounted got dog note="" bound=$BOUND
	# in-tree the mount is known not to succeed
	[ "$IBEX_MODE" = stock ] || bound=40
	[ $# = 0 ] || rtu_wire "$@"
	start=$(now_us)
	{
		busybox sleep $bound
		rtu_lift
		: >/tmp/lifted
	} &
	dog=$!
	nfs_mount 4.2 /mnt/late || fail "$condition: mount"
	mounted=$(now_us)
	cmp /mnt/late/file /srv/nfs/file || fail "$condition: the file differs"
	got=$(now_us)
	kill $dog 2>/dev/null || :
	wait $dog 2>/dev/null || :
	if [ -e /tmp/lifted ]; then
		note="not before RTUs came, after $bound s"
		rm /tmp/lifted
	fi
	row "NFS: mounted" "$(ms $((mounted - start)))" - - "$note"
	row "NFS: first file read" "$(ms $((got - start)))" - - ""
	[ $# = 0 ] || rtu_told
	[ -z "$note" ] || ours_must "no mount in $bound s" false
	umount /mnt/late
	rtu_clean
}

nfs_warm_up() {
	nfs_mount 4.2 /mnt/late
	umount /mnt/late
}

nfs_all() {
	nfs_server_up
	load rpcrdma
	busybox dd if=/dev/urandom of=/srv/nfs/file bs=64k count=1 2>/dev/null
	# the first mount loads modules and starts threads
	! all || nfs_warm_up
	condition=clean
	! all || nfs_round
	condition="first RTU lost"
	! all || nfs_round first 1
	condition="RTU 2 s late"
	! all || nfs_round delay 2s
	condition="RTU lost"
	nfs_round loss 100%
	nfs_server_down
}

user_failed() {
	rtu_told
	grep -H . /sys/class/infiniband/rxe_[ab]/ports/1/cm_*/re[pj] || :
	pair_failed "$1"
}

# user_round SERVER CLIENT WIRE...: runs both commands, in which @ stands for the port
user_round() {
	local server=$1 client=$2 start job
	shift 2
	next_port
	[ $# = 0 ] || rtu_wire "$@"
	# shellcheck disable=SC2086 # words
	timeout -k 2 $((PAIR_BOUND * IBEX_SLOW)) ${server//@/$PORT} >/tmp/server 2>&1 &
	job=$!
	wait_for 15 listens_cm || pair_failed "$server does not listen"
	start=$(now_us)
	# shellcheck disable=SC2086 # words
	timeout -k 2 $((PAIR_BOUND * IBEX_SLOW)) ${client//@/$PORT} >/tmp/client 2>&1 ||
		user_failed "$condition: $client ended with status $?"
	wait $job || user_failed "$condition: $server ended with status $?"
	row "${server%% *}: both ends done" "$(ms $(($(now_us) - start)))" - - ""
	[ $# = 0 ] || rtu_told
	rtu_clean
}

user_pair() {
	condition=clean
	! all || user_round "$@"
	condition="first RTU lost"
	user_round "$@" first 1
	condition="two RTUs lost"
	! all || user_round "$@" first 2
	condition="RTU 2 s late"
	! all || user_round "$@" delay 2s
}

user_up
load sch_netem sch_prio cls_u32 act_police
ulp_all
nfs_all
user_pair "rping -s -a $A -p @ -C 1" "rping -c -a $A -I $B -p @ -C 1"
user_pair "ucmatose -b $A -p @ -c 1 -C 1" "ucmatose -s $A -b $B -p @ -c 1 -C 1"
ulp_down
no_warning
no_resources
