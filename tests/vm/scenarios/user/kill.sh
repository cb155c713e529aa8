# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: kill -9 of RDMA programs at random points; words: [SECONDS [SEED]]
# timeout: 150
. /ibex/lib/user.sh
read -r bound seed <<<"${IBEX_ARGS:-40}"
seed=${seed:-$RANDOM}
user_up
gid_a=$(gid_index rxe_a $A) || fail "no GID of $A"
gid_b=$(gid_index rxe_b $B) || fail "no GID of $B"
RANDOM=$seed
say "seed $seed"

# start SERVER CLIENT: starts both; the client may not be connected yet
start() {
	next_port
	local server=${1//@/$PORT} client=${2//@/$PORT}
	$server >/dev/null 2>&1 &
	pids+=($!)
	[ $((RANDOM % 4)) = 0 ] || wait_for 10 running_server || :
	$client >/dev/null 2>&1 &
	pids+=($!)
}
running_server() { listens_tcp || listens_cm; }

one_pair() {
	local n=1000000
	case $((RANDOM % 7)) in
	0) start "rping -s -a $A -p @" "rping -c -a $A -I $B -p @ -C $n" ;;
	1) start "ibv_rc_pingpong -d rxe_a -g $gid_a -p @ -n $n -e" \
		"ibv_rc_pingpong -d rxe_b -g $gid_b -p @ -n $n -e $A" ;;
	2) start "ibv_srq_pingpong -d rxe_a -g $gid_a -p @ -n $n -q 4" \
		"ibv_srq_pingpong -d rxe_b -g $gid_b -p @ -n $n -q 4 $A" ;;
	3) start "ib_send_bw -d rxe_a -x $gid_a -p @ -F -n $n" \
		"ib_send_bw -d rxe_b -x $gid_b -p @ -F -n $n $A" ;;
	4) start "ib_write_bw -d rxe_a -R -p @ -F -n $n" "ib_write_bw -d rxe_b -R -p @ -F -n $n $A" ;;
	5) start "ucmatose -b $A -p @ -c 50 -C 1000" "ucmatose -s $A -b $B -p @ -c 50 -C 1000" ;;
	6) start "rstream -b $A -p @ -I $n -C 10 -S 4096" \
		"rstream -s $A -b $B -p @ -I $n -C 10 -S 4096" ;;
	esac
}

gone() { [ ! -e "/proc/$1" ] || grep -q '^State:.*Z' "/proc/$1/status"; }

victims=0
rounds=0
end=$((SECONDS + bound))
while [ $SECONDS -lt "$end" ]; do	# bash reports each killed process
	pids=()
	one_pair
	one_pair
	# kill them after a random time
	busybox usleep $((RANDOM * 40))
	# in cyclic order, starting with a random one
	from=$((RANDOM % 4))
	for i in 0 1 2 3; do
		if kill -9 "${pids[(from + i) % 4]}" 2>/dev/null; then
			victims=$((victims + 1))
		fi
		busybox usleep $((RANDOM * 3))
	done
	for pid in "${pids[@]}"; do
		wait_for 20 gone "$pid" || fail "process $pid outlives kill -9:" \
			"$(cat "/proc/$pid/comm" "/proc/$pid/stack")"
		wait "$pid" 2>/dev/null || :
	done
	rounds=$((rounds + 1))
done 2> >(grep -v ' Killed ' >&2 || :)
say "$rounds rounds, $victims processes killed"
[ "$victims" -ge $((rounds * 2)) ] || fail "too few were alive to be killed"
no_resources
say "a good pair still gets through"
next_port
pair listens_cm "rping -s -a $A -p $PORT -C 5" "rping -c -a $A -I $B -p $PORT -C 5"
user_down
