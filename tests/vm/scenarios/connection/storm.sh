# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: 16 processes connect 32 times each to one listener; a listener of 400 clients dies
# timeout: 600
# args: PROCESSES CONNECTIONS CLIENTS, "16 32 400"
# Beside both, a live connection goes on, which must not break. Prints "storm" lines: what, its
# value and unit. All processes must end.
. /ibex/lib/user.sh
. /ibex/lib/rtu.sh
read -r processes connections clients <<<"${IBEX_ARGS:-16 32 400}"
TRACE=/sys/kernel/tracing/events/irq
# in seconds
BOUND=$(((200 + processes * connections / 8) * IBEX_SLOW))

figure() { printf 'storm | %s | %s | %s\n' "$1" "$2" "$3"; }

# The longest softirq, by histogram triggers: from its entry to its exit on a processor.
BEGINS='hist:keys=common_cpu:begin=common_timestamp.usecs'
ENDS='hist:keys=common_cpu:us=common_timestamp.usecs-$begin:onmax($us).save(vec)'
softirqs_watch() {
	[ -d $TRACE ] || mount -t tracefs tracefs /sys/kernel/tracing
	echo "$BEGINS" >$TRACE/softirq_entry/trigger
	echo "$ENDS" >$TRACE/softirq_exit/trigger
}

softirqs_unwatch() {
	echo "!$ENDS" >$TRACE/softirq_exit/trigger
	echo "!$BEGINS" >$TRACE/softirq_entry/trigger
}

softirq_longest() {
	sed -n 's/^[[:space:]]*max: *\([0-9]*\).*/\1/p' $TRACE/softirq_exit/hist | sort -n | tail -n 1
}

# A ping-pong over rsockets, in the background, which says how long its longest stop was.
live() { exec timeout -k 2 $((2 * BOUND)) python3 /ibex/tools/live.py "$@"; }

live_begin() {
	before=$(ack_timeouts)
	live server "$A" 7600 >/tmp/live-server 2>&1 &
	live_server=$!
	PORT=7600
	wait_for 20 listens_cm || {
		cat /tmp/live-server
		fail "the live connection's server does not listen"
	}
	live client "$A" 7600 >/tmp/live-client 2>&1 &
	live_client=$!
	wait_for 20 grep -q begun /tmp/live-client || {
		cat /tmp/live-client
		fail "no live connection"
	}
}

live_end() {
	kill -TERM $live_client
	wait $live_client || { cat /tmp/live-client; fail "the live connection broke"; }
	wait $live_server || { cat /tmp/live-server; fail "the live connection's server"; }
	figure "$1: live connection, longest stop" \
		"$(sed -n 's/.*longest \([0-9]*\) us.*/\1/p' /tmp/live-client)" us
	figure "$1: rdma_rxe's ACK timeouts" $(($(ack_timeouts) - before)) ""
	sed 's/^/  /' /tmp/live-client
}

sent_again() { cat /sys/class/infiniband/rxe_[ab]/ports/1/cm_tx_retries/{req,rep,dreq} | total; }
ack_timeouts() {
	cat /sys/class/infiniband/rxe_[ab]/ports/1/hw_counters/completer_retry_err | total
}
reqs_received() { cat /sys/class/infiniband/rxe_[ab]/ports/1/cm_rx_msgs/req | total; }

now_ms() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }

# Without data (-C 0), as processes that wait for it poll their CQs: the processors would be theirs.
storm() {
	local begin job server failed=0 retries
	next_port
	# the server maps two queues of each QP and two CQs
	echo $((65530 + 4 * processes * connections)) >/proc/sys/vm/max_map_count
	timeout -k 2 $BOUND ucmatose -b $A -p $PORT -c $((processes * connections)) -C 0 \
		>/tmp/server 2>&1 &
	server=$!
	wait_for 60 listens_cm || pair_failed "no listener"
	retries=$(sent_again)
	begin=$(now_ms)
	jobs=()
	for job in $(seq "$processes"); do
		timeout -k 2 $BOUND ucmatose -s $A -b $B -p $PORT -c "$connections" -C 0 \
			>"/tmp/client-$job" 2>&1 &
		jobs+=($!)
	done
	for job in "${jobs[@]}"; do
		wait "$job" || failed=$((failed + 1))
	done
	figure "$processes x $connections: time" $(($(now_ms) - begin)) ms
	figure "$processes x $connections: processes that failed" $failed ""
	figure "$processes x $connections: messages sent again" \
		$(($(sent_again) - retries)) ""
	[ $failed = 0 ] && wait $server && return
	cat /tmp/client-* | sort | uniq -c | sort -rn >/tmp/client
	# With a client that failed, the server waits for it until it is killed.
	kill $server || :
	pair_failed "$failed clients or the server failed"
}

# The listener is stopped, so that its clients wait for it, and then killed.
listener_dies() {
	local begin job reqs server status connected=0 each=$((clients / 8))
	next_port
	ucmatose -b $A -p $PORT -c "$clients" -C 1 >/tmp/server 2>&1 &
	server=$!
	wait_for 60 listens_cm || pair_failed "no listener"
	kill -STOP $server
	reqs=$(reqs_received)
	jobs=()
	for job in $(seq 8); do
		timeout -k 2 $BOUND ucmatose -s $A -b $B -p $PORT -c $each -C 1 \
			>"/tmp/client-$job" 2>&1 &
		jobs+=($!)
	done
	wait_for 60 reqs_arrived $((reqs + 8 * each)) || fail "the requests do not arrive"
	begin=$(now_ms)
	kill -KILL $server
	wait $server || :
	for job in "${jobs[@]}"; do
		status=0
		wait "$job" || status=$?
		[ $status != 124 ] || fail "a client of the dead listener does not end"
		[ $status != 0 ] || connected=$((connected + 1))
	done
	figure "$((8 * each)) clients of a listener that dies: time to end" $(($(now_ms) - begin)) ms
	[ $connected = 0 ] || fail "$connected clients of a dead listener connected"
}

reqs_arrived() { [ "$(reqs_received)" -ge "$1" ]; }

user_up
# The listener reads its requests one by one; those that it has no room for count as lost.
echo $((processes * connections + clients)) >/proc/sys/net/rdma_ucm/max_backlog
softirqs_watch
for part in storm listener_dies; do
	live_begin
	$part
	live_end $part
done
figure "longest softirq" "$(softirq_longest)" us
softirqs_unwatch
user_down
