# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: links that lose, repeat, corrupt and delay packets; connections on one that loses 1 %
# timeout: 300
. /ibex/lib/vib.sh
. /ibex/lib/user.sh
PAIR_BOUND=90

# replies COUNT [OPTION...]: how many pings are answered, and how many of these twice
replies() {
	local count=$1
	shift
	ping -c "$count" -i 0.02 -W 2 "$@" 10.1.0.2 > /run/out/ping || true
	REPLIES=$(grep -c 'bytes from' /run/out/ping || true)
	TWICE=$(grep -c 'DUP' /run/out/ping || true)
	RTT=$(sed -n 's,^rtt min/avg/max/mdev = \([0-9]*\)\..*,\1,p' /run/out/ping)
}

dropped() { vibctl fault "$1" | sed -n 's/^drop=.*(\([0-9]*\) packets)$/\1/p'; }

# Connected transports send again what is lost, and compare all data.
connections() {
	local lost
	next_port
	pair listens_tcp "ibv_rc_pingpong -d vib0 -p $PORT -n 200 -s 32768 -c" \
		"ibv_rc_pingpong -d vib1 -p $PORT -n 200 -s 32768 -c 127.0.0.1"
	say "RC: $(grep usec/iter /tmp/client)"
	/ibex/bin/vibverbs vib0 vib1 rdma atomics srq xrc || fail "vibverbs"
	lost=$(dropped ca1:1)
	say "$lost packets were lost"
	[ "$lost" -gt 20 ] || fail "only $lost packets were lost"
}

vib_up
ip link set lo up
ulimit -l unlimited
record_core
subnet_up 2
ipoib_up
wait_for 60 ping -c 1 -W 1 10.1.0.2 || fail "no ping"

say "a fifth is lost"
vibctl fault ca1:1 drop=20%
replies 200
say "$REPLIES of 200"
[ "$REPLIES" -gt 60 ] && [ "$REPLIES" -lt 180 ] || fail "of 128 expected"

say "1 % is lost, connections"
vibctl fault ca1:1 clear
vibctl fault ca1:1 drop=1%
connections

say "all come twice"
vibctl fault ca1:1 clear
vibctl fault ca1:1 dup=100%
replies 20
# Each request comes twice, and each reply to it.  ping ends with a reply to the last one.
[ "$TWICE" -ge 57 ] && [ "$TWICE" -le 60 ] || fail "$TWICE duplicates of 60"

say "a fifth is corrupt"
vibctl fault ca1:1 clear
vibctl fault ca1:1 corrupt=20%
before=$(counter vib1 symbol_errors)
replies 200
[ "$REPLIES" -gt 60 ] && [ "$REPLIES" -lt 180 ] || fail "$REPLIES replies, of 128 expected"
[ "$(counter vib1 symbol_errors)" -gt "$before" ] || fail "symbol_errors does not count"

say "all come late"
vibctl fault ca1:1 clear
vibctl fault ca1:1 delay=50ms
replies 20
[ "$REPLIES" = 20 ] || fail "$REPLIES replies of 20"
[ "$RTT" -ge 100 ] || fail "round trips of $RTT ms"
vibctl fault ca1:1 | tee /run/out/fault
echo 1 > "$FABRIC/links/sw0:2-ca1:1/cut"	# with packets on it
wait_for 5 port_is vib1 DOWN || fail "the port stays up"
echo 0 > "$FABRIC/links/sw0:2-ca1:1/cut"

say "none any more"
vibctl fault ca1:1 clear
wait_for 60 ping -c 1 -W 1 10.1.0.2 || fail "no ping"
pings 100 10.1.0.2 || fail "pings are lost"

ipoib_down
opensm_down vib0
vib_down
