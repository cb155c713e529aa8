# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: random RDMA netlink requests, which scripts/vm-diff compares; words: SEED NUMBER...
# timeout: 1200
# debug: off
. /ibex/lib/user.sh
. /ibex/lib/diff.sh

# server COMMAND: starts a process whose resources are listed, and waits until it listens
servers=
server() {
	$1 &
	servers="$servers $!"
	wait_for 10 "$2" || fail "$1 does not listen"
}

user_up
wait_for 10 gid_index rxe_a "$A" >/dev/null || fail "no GID of $A"
wait_for 10 gid_index rxe_b "$B" >/dev/null || fail "no GID of $B"
# for a link that comes and goes
ip link add vc address 02:00:00:00:00:03 type veth peer name vd address 02:00:00:00:00:04
next_port
server "rping -s -a $A -p $PORT" listens_cm
next_port
server "ibv_srq_pingpong -d rxe_a -g $(gid_index rxe_a "$A") -p $PORT -q 2" listens_tcp
next_port
server "ibv_rc_pingpong -d rxe_b -g $(gid_index rxe_b "$B") -p $PORT -e" listens_tcp
# attributes that mean nothing are told, and the serial line is slow
dmesg -n 1
diff_alone "python3 /ibex/tools/diff_nl.py"
# shellcheck disable=SC2086 # words
kill $servers
for job in $servers; do
	wait "$job" || :
done
user_down
