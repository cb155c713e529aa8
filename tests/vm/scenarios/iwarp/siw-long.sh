# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: iWARP over siw: perftest -R, rsockets, NFS, 1,000 connects, loss, backlog, ports
# timeout: 300
# image: siw
. /ibex/lib/iwarp.sh
BUSY="Address already in use"

# perf PROGRAM SIZE
perf() {
	next_port
	pair listens_cm "$1 -d siw_a -p $PORT -F -R -n 100 -s $2" \
		"$1 -d siw_b -p $PORT -F -R -n 100 -s $2 $A"
	perftest_shows "$1"
}

programs() {
	cm "ucmatose, migrating its ids" "ucmatose -b $A -p @ -c 4 -C 5 -m" \
		"ucmatose -s $A -b $B -p @ -c 4 -C 5 -m"
	cm "rdma_xserver, rdma_xclient" "rdma_xserver -p @ -c r" "rdma_xclient -s $A -p @ -c r"
	cm "rstream" "rstream -b $A -p @ -S 4096 -I 5 -C 10 -T b -T v" \
		"rstream -s $A -b $B -p @ -S 4096 -I 5 -C 10 -T b -T v"
	cm "riostream" "riostream -b $A -p @ -S 4096 -I 5 -C 10" \
		"riostream -s $A -b $B -p @ -S 4096 -I 5 -C 10"
	PAIR_ENDLESS=1 cm "cmtime" "cmtime -b $A -p @ -c 50" "cmtime -s $A -b $B -p @ -c 50"
}

nfs() {
	say "NFS over RDMA"
	nfs_server_up
	load rpcrdma
	nfs_compare 4.2
	nfs_compare 3
	umount /mnt/v3 /mnt/v4.2
	nfs_server_down
	wait_for 20 unused rpcrdma || fail "rpcrdma: $(cat /sys/module/rpcrdma/refcnt) references"
	rmmod rpcrdma
}

# TCP resends lost packets: no connect may fail.
lossy() {
	say "tc netem $*"
	tc qdisc replace dev va root netem "$@"
	tc qdisc replace dev vb root netem "$@"
	iwarp_connects 200 32
	say "  $(ulp_show)"
	tc qdisc del dev va root
	tc qdisc del dev vb root
}

backlog() {
	say "a listener with a backlog of 1,024, and as many at once"
	ulp backlog 1024
	ulp listen "$A 7471"
	iwarp_connects 1024 1024
	say "  $(ulp_get run_us) us; connect to established: $(ulp_get connect_avg_us) us" \
		"on average, $(ulp_get connect_max_us) us at most"
	ulp backlog 128
	ulp listen "$A 7471"
}

# refused ERROR FILE WORDS: checks that writing WORDS to the ULP's FILE fails with ERROR
refused() {
	local said
	! said=$({ echo "$3" >"$ULP/$2"; } 2>&1) || fail "ibex_ulp: $2 $3 succeeded"
	[[ $said = *"$1" ]] || fail "ibex_ulp: $2 $3: '$said', not '$1'"
}

# tcp_socket ADDRESS PORT: listens until it is killed
tcp_socket() {
	exec timeout 60 python3 -c 'if True:
		import signal, socket, sys
		held = socket.create_server((sys.argv[1], int(sys.argv[2])))
		print("listens", flush=True)
		signal.pause()' "$1" "$2"
}

# tcp_listens ADDRESS PORT: starts a TCP listener; its process is $HOLDER
tcp_listens() {
	tcp_socket "$1" "$2" >/tmp/holder 2>&1 &
	HOLDER=$!
	wait_for 20 grep -qx listens /tmp/holder || fail "no TCP socket: $(cat /tmp/holder)"
}

holder_ends() {
	kill $HOLDER
	wait $HOLDER || :
}

# tcp_refused ADDRESS PORT: checks that a TCP socket cannot listen there
tcp_refused() {
	local said
	! said=$(tcp_socket "$1" "$2" 2>&1) || fail "a TCP socket listens on $1 beside the device"
	[[ $said = *"$BUSY"* ]] || fail "a TCP socket on $1: '$said'"
}

ports() {
	say "ports that TCP has"
	tcp_listens $A 7600
	refused "$BUSY" listen "$A 7600"
	refused "$BUSY" listen "0.0.0.0 7600"
	! rping -s -a $A -p 7600 -C 1 >/tmp/server 2>&1 || pair_failed "rping listens"
	pair_says server "rdma_listen: $BUSY"
	ulp listen "$B 7600"
	ulp listen off
	holder_ends
	tcp_listens 0.0.0.0 7600
	refused "$BUSY" listen "$A 7600"
	holder_ends
	ulp listen "$A 7600"
	say "and ports that a device has"
	tcp_refused $A 7600
	tcp_refused 0.0.0.0 7600
	next_port
	rping -s -a $A -p $PORT -C 1 >/tmp/server 2>&1 &
	HOLDER=$!
	wait_for 20 listens_cm || pair_failed "rping does not listen"
	refused "$BUSY" listen "$A $PORT"
	holder_ends
	ulp listen off
	tcp_listens $A 7600
	holder_ends
}

wildcard() {
	say "a wildcard listener on several devices, IPv4"
	ulp listen "0.0.0.0 7471"
	iwarp_connects 20 4 $B $A
	iwarp_connects 20 4 $A $B
	rdma link delete siw_b
	[ "$(ulp_get listening)" = 1 ] || fail "the listener went with one of its devices"
	siw_add siw_b vb
	iwarp_connects 20 4 $A $B
	iwarp_connects 20 4 $B $A
	say "and IPv6"
	ulp listen ":: 7471"
	iwarp_connects 20 4 $B6 $A6
	iwarp_connects 20 4 $A6 $B6
	ulp listen "$A 7471"
}

# Data that is sent right behind the MPA reply makes siw refuse the reply, with either core.
passive_first() {
	local failed=0
	for _ in $(seq 20); do
		next_port
		(PAIR_BOUND=10 pair listens_cm "ucmatose -b $A -p $PORT -c 1 -C 1" \
			"ucmatose -s $A -b $B -p $PORT -c 1 -C 1") >/tmp/pair 2>&1 ||
			failed=$((failed + 1))
	done
	say "ucmatose, whose passive side sends first: $failed of 20 failed"
	# usually one in twenty fails
	[ $failed -le 10 ] || { cat /tmp/pair; fail "that is too many"; }
}

iwarp_up
load sch_netem
say "perftest -R"
perf ib_send_bw 16384
perf ib_write_bw 16384
perf ib_read_lat 64
programs
say "1,000 connects"
iwarp_connects 1000 16
say "  $((1000 * 1000000 / $(ulp_get run_us))) a second"
lossy loss 5%
lossy loss 3% delay 4ms 2ms reorder 50%
backlog
wildcard
ulp listen off
ports
passive_first
ulp_down
nfs
siw_down
