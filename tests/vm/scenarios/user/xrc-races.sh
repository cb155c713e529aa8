# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: XRC domains and their receive QPs under 20 processes that open, close and die; words: [SECONDS]
# timeout: 300
# smp: 4
. /ibex/lib/vib.sh
seconds=${IBEX_ARGS:-60}

no_targets() { ! rdma resource show qp | grep -w XRC_TGT; }
node() { echo "$2" > "$FABRIC/nodes/$1/live"; }
# A node that goes takes its link with it.
relink() { for link in "$FABRIC"/links/*/live; do echo 1 > "$link"; done; }

# What the core of the distribution has is not raced for here: xrcrcv would only say so.
[ "$IBEX_MODE" = ours ] || fail "receive QPs of a domain are only in our core"
vib_up
subnet_up 3
core_resources vib1

say "20 processes for $seconds s, while all QPs are listed again and again"
/ibex/bin/xrcrcv --race vib1 "$seconds" 20 &
race=$!
listed=0
while kill -0 $race 2> /dev/null; do
	rdma -dd resource show qp > /run/listed || fail "rdma resource show qp"
	listed=$((listed + 1))
done
wait $race || fail "a process failed"
say "listed $listed times"
wait_for 10 no_targets || fail "QPs are left: $(rdma resource show qp)"
no_resources

say "the adapter is removed while they go on"
/ibex/bin/xrcrcv --race vib1 600 20 > /run/race 2>&1 &
race=$!
wait_for 10 eval '! no_targets' || fail "no QPs are made"
node ca1 0
[ ! -e /sys/class/infiniband/vib1 ] || fail "the device is still there"
no_targets || fail "QPs outlive their device"
# Each process that finds no device ends with an error, after which no other one starts.
wait $race && fail "no process missed the device"
node ca1 1
relink
wait_for 20 ports_are ACTIVE 3 || fail "the adapter does not come back"
/ibex/bin/xrcrcv --race vib1 2 20 || fail "a process failed on the new device"
wait_for 10 no_targets || fail "QPs are left: $(rdma resource show qp)"
no_resources
opensm_down vib0
vib_down
