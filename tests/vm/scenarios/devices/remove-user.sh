# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: rdma link delete while processes use the device: they are notified, none hangs
# timeout: 120
# stock-fails: the in-tree core waits until every process has closed a device of rxe's
# stock-fails-with: FAIL: (the removal waited until|no process was told)
. /ibex/lib/user.sh
user_up
gid_a=$(gid_index rxe_a $A) || fail "no GID of $A"
gid_b=$(gid_index rxe_b $B) || fail "no GID of $B"
n=1000000
holders=()

# hold NAME COMMAND...
hold() {
	local name=$1
	shift
	stdbuf -oL "$@" >"/tmp/$name" 2>&1 &
	holders+=("$name:$!")
}

hold watch ibv_asyncwatch -d rxe_b
wait_for 10 grep -q rxe_b /tmp/watch || fail "ibv_asyncwatch does not watch"
PORT=9001
hold events-server ibv_rc_pingpong -d rxe_a -g "$gid_a" -p $PORT -n $n -e
wait_for 10 listens_tcp || fail "no pingpong server"
hold events-client ibv_rc_pingpong -d rxe_b -g "$gid_b" -p $PORT -n $n -e $A
PORT=9002
hold rping-server rping -s -a $A -p $PORT
wait_for 10 listens_cm || fail "no rping server"
hold rping-client rping -c -a $A -I $B -p $PORT -C $n
PORT=9003
hold listener ucmatose -b $B -p $PORT
wait_for 10 listens_cm || fail "no listener"
PORT=9004
hold stream-server rstream -b $A -p $PORT -I $n -C 10 -S 4096
wait_for 10 listens_cm || fail "no rstream server"
hold stream-client rstream -s $A -b $B -p $PORT -I $n -C 10 -S 4096
busy() { [ "$(rdma res show qp link rxe_b | grep -c 'state RTS.*pid')" -ge 3 ]; }
wait_for 20 busy || { rdma res show qp; fail "the programs do not get going"; }
say "removing rxe_b under $(rdma res show | grep rxe_b)"

rdma link delete rxe_b &
job=$!
ended() { ! kill -0 $job 2>/dev/null; }
if ! wait_for 15 ended; then
	say "the removal waits for its users"
	held=yes
fi
if ! wait_for 5 grep -q "DEVICE_FATAL" /tmp/watch; then
	untold=yes
fi
sed 's/^/  /' /tmp/watch
for holder in "${holders[@]}"; do
	pid=${holder#*:}
	if kill -0 "$pid" 2>/dev/null; then
		say "  ${holder%:*} still runs"
	else
		wait "$pid" && status=0 || status=$?
		say "  ${holder%:*} ended with status $status: $(tail -n 1 "/tmp/${holder%:*}")"
	fi
done
[ ! -e /sys/class/infiniband/rxe_b ] || [ -n "${held-}" ] || fail "rxe_b is still there"
# kill -9 must end every process, whatever it is waiting for
for holder in "${holders[@]}"; do
	kill -9 "${holder#*:}" 2>/dev/null || :
done
for holder in "${holders[@]}"; do
	pid=${holder#*:}
	dead() { [ ! -e "/proc/$pid" ] || grep -q '^State:.*Z' "/proc/$pid/status"; }
	wait_for 20 dead || fail "${holder%:*} outlives kill -9: $(cat "/proc/$pid/stack")"
done
wait_for 30 ended || fail "rdma link delete does not end"
wait $job || fail "rdma link delete failed"
[ ! -e /sys/class/infiniband/rxe_b ] || fail "rxe_b is still there"
[ -z "${untold-}" ] || fail "no process was told IBV_EVENT_DEVICE_FATAL"
[ -z "${held-}" ] || fail "the removal waited until the processes had gone"

say "and the device comes back"
rxe_add rxe_b vb
next_port
pair listens_cm "rping -s -a $A -p $PORT -C 5" "rping -c -a $A -I $B -p $PORT -C 5"
user_down
