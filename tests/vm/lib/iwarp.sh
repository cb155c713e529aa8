# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# What the scenarios of iWARP share: siw_a and siw_b in the place of rxe_a and
# rxe_b. They say "# image: siw".
. /ibex/lib/user.sh

siw_add() {
	rdma link add "$1" type siw netdev "$2"
	wait_for 5 test -e "/sys/class/infiniband/$1/ports/1/state"
	core_resources "$1"
}

# siw_up: both devices, IPv4 and IPv6, and what userspace speaks to
siw_up() {
	is_both || fail "this scenario runs in one VM"
	net_up
	user_net6
	load ib_uverbs rdma_ucm
	insmod /ibex/siw/libcrc32c.ko
	insmod /ibex/siw/siw.ko || fail "insmod siw"
	siw_add siw_a va
	siw_add siw_b vb
	wait_for 10 test -c /dev/infiniband/rdma_cm || fail "no /dev/infiniband/rdma_cm"
	wait_for 10 test -c /dev/infiniband/uverbs1 || fail "no /dev/infiniband/uverbs1"
	ulimit -l unlimited
	record_core
}

# siw_down: nothing is in use, everything unloads and leaves nothing
siw_down() {
	local m
	no_resources
	for m in siw_a siw_b; do
		[ ! -e /sys/class/infiniband/$m ] || rdma link delete $m
	done
	wait_for 10 unused siw || fail "siw: $(cat /sys/module/siw/refcnt) references"
	rmmod siw || fail "rmmod siw"
	user_down
}

# iwarp_quiet COUNT: the passive side, too, has seen so many begin and end
iwarp_quiet() {
	wait_for 20 ulp_is live=0 || fail "$(ulp_get live) connections still live"
	ulp_check_passive "$1"
}

# Instead of that of user.sh: of a wildcard listener's devices siw_a need not be the
# first; and an id is shown as listening before the TCP socket does.
listens_cm() {
	rdma res show cm_id | grep -q "siw_a.*LISTEN.*:$PORT " && listens_tcp
}

# iwarp_up: the devices, and the test ULP that listens
iwarp_up() {
	siw_up
	ulp_up
	ulp wait_s 20
	ulp listen "$A 7471"
}

# iwarp_connects COUNT PARALLEL [FROM TO]: all of them succeed. Two races are siw's
# own. A message that comes after its MPA reply but before it has taken the socket
# over is left there until a second comes, here in vain; not so in-tree with both ends
# in one machine, where a CONNECT_REPLY waits for the handler that accepts. And a send
# fails if it makes the peer close before TCP has returned from it.
iwarp_connects() {
	local lost
	ulp stats 0
	ulp connect "${3-$B} ${4-$A} 7471 $1 $2"
	lost=$(ulp_get unanswered)
	[ "$lost" = 0 ] || say "  $lost first messages came before siw was there for them"
	[ "$lost" -le $((1 + $1 / 200)) ] || fail "that is too many"
	ulp_check attempts="$1" established="$1" completed=$(($1 - lost)) timeouts="$lost"
	[ "$lost" != 0 ] || ulp_check disconnected="$1"
	iwarp_quiet "$1"
	ulp_check_clean io_error timeouts
}
