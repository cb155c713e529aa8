# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: perftest's bandwidth and latency of each operation, RC, UC, UD, XRC, over sockets and rdma_cm
# timeout: 300
. /ibex/lib/vib.sh
. /ibex/lib/user.sh
PAIR_BOUND=90
iters=100

# measure PROGRAM OPTIONS...: with its connection made over sockets; -R: by rdma_cm
measure() {
	local name=$1 ready=listens_tcp address=127.0.0.1
	shift
	next_port
	if [[ " $* " = *" -R "* ]]; then
		ready=listens_cm
		address=$A
	fi
	pair $ready "$name -d vib0 -i 1 -p $PORT -F -n $iters $*" \
		"$name -d vib1 -i 1 -p $PORT -F -n $iters $* $address"
	perftest_shows "$name $*"
}

both() {
	measure "$@"
	measure "$@" -R
}

vib_up
load rdma_ucm
ip link set lo up
ulimit -l unlimited
record_core
subnet_up 2
core_resources vib0
ipoib_pair

say "RC"
for op in send write read; do
	both ib_${op}_bw -s 65536
	both ib_${op}_lat -s 64
done
both ib_atomic_bw
both ib_atomic_lat
measure ib_send_bw -s 4096 -e
measure ib_send_bw -s 4096 --use-srq -q 2
measure ib_write_bw -s 4096 -q 4 -b
say "UC, which perftest cannot connect by rdma_cm"
measure ib_send_bw -s 65536 -c UC
measure ib_send_lat -s 64 -c UC
measure ib_write_bw -s 65536 -c UC
measure ib_write_lat -s 64 -c UC
say "UD"
both ib_send_bw -s 2048 -c UD
both ib_send_lat -s 64 -c UD
say "XRC"
for op in send write read; do
	measure ib_${op}_bw -s 65536 -c XRC
	measure ib_${op}_lat -s 64 -c XRC
done
measure ib_atomic_bw -c XRC

rmmod ib_ipoib
no_resources
no_warning
opensm_down vib0
vib_down
