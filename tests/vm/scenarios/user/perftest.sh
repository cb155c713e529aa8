# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: perftest's bandwidth and latency of each operation, over sockets and rdma_cm
# timeout: 150
. /ibex/lib/user.sh
user_up
gid_a=$(gid_index rxe_a $A) || fail "no GID of $A"
gid_b=$(gid_index rxe_b $B) || fail "no GID of $B"
iters=100

# measure PROGRAM OPTIONS...
measure() {
	local name=$1 cm="" ready=listens_tcp
	shift
	for cm in "" -R; do
		next_port
		ready=listens_tcp
		[ -z "$cm" ] || ready=listens_cm
		pair $ready "$name -d rxe_a -x $gid_a -p $PORT -F -n $iters $cm $*" \
			"$name -d rxe_b -x $gid_b -p $PORT -F -n $iters $cm $* $A"
		perftest_shows "$name $cm"
	done
}

for op in send write read; do
	measure ib_${op}_bw -s 16384
	measure ib_${op}_lat -s 64
done
measure ib_atomic_bw
measure ib_atomic_lat
measure ib_send_bw -s 4096 -e
measure ib_send_bw -s 2048 -c UD
measure ib_write_bw -s 4096 -q 4 -b
user_down
