# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# What the scenarios of iWARP share: siw_a and siw_b in the place of rxe_a and
# rxe_b. They say "# image: siw".
. /ibex/user.sh

siw_add() {
	rdma link add "$1" type siw netdev "$2"
	wait_for 5 test -e "/sys/class/infiniband/$1/ports/1/state"
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

# cm NAME SERVER CLIENT: a pair, both with $PORT in the place of @
cm() {
	next_port
	pair listens_cm "${2//@/$PORT}" "${3//@/$PORT}"
	say "$1"
}
