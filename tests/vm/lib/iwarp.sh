# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# Functions for iWARP scenarios, which have siw_a and siw_b instead of rxe_a and rxe_b.
# These scenarios need an "# image: siw" line.
. /ibex/lib/user.sh

siw_add() {
	rdma link add "$1" type siw netdev "$2"
	wait_for 5 test -e "/sys/class/infiniband/$1/ports/1/state"
	core_resources "$1"
}

# siw_up: both devices, IPv4 and IPv6, and the modules that userspace needs
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

# siw_down: checks that nothing is in use, unloads everything, checks that nothing is left
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

# iwarp_quiet COUNT: waits until no connection is live, then checks that the passive side,
# too, has seen COUNT connections begin and end
iwarp_quiet() {
	wait_for 20 ulp_is live=0 || fail "$(ulp_get live) connections still live"
	ulp_check_passive "$1"
}

# Replaces listens_cm of user.sh: for a wildcard listener, siw_a need not be the first device
# listed; and an id is listed as listening before its TCP socket listens.
listens_cm() {
	rdma res show cm_id | grep -q "siw_a.*LISTEN.*:$PORT " && listens_tcp
}

# iwarp_up: the devices, and the test ULP, which listens
iwarp_up() {
	siw_up
	ulp_up
	ulp wait_s 20
	ulp listen "$A 7471"
}

# iwarp_connects COUNT PARALLEL [FROM TO]: checks that all of them succeed, apart from two
# races of siw's own. A message that arrives after siw's MPA reply, but before siw has taken
# over the socket, stays there until a second message arrives, and here none follows. (This
# does not happen in-tree with both ends in one machine, where a CONNECT_REPLY waits for the
# handler that accepts.) And a send fails if it makes the peer close before TCP has returned
# from it.
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
