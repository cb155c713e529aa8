# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: SMC-R: data of many sockets; a link flaps, the listener and each device go and come back
# timeout: 300
. /ibex/lib/user.sh
. /ibex/lib/steps.sh
. /ibex/lib/smc.sh

NUMBER=8	# sockets at once
BYTES=150000	# of each in a round
REMOVAL=

talk() { steps_start talk /ibex/bin/smc talk $B $A $SMC_PORT $NUMBER $BYTES 2; }

# all_are MODE: so are both ends of all sockets that are connected. A listener's is none.
all_are() {
	python3 /ibex/tools/smc.py sockets > /run/sockets
	[ "$(grep -c "^active $1" /run/sockets)" = $((2 * NUMBER)) ] &&
		[ "$(grep -c ^active /run/sockets)" = $((2 * NUMBER)) ]
}

# A link is a QP at each end, which stays for a while after its last connection.
has_qps() { rdma res show qp | grep -q "link $1/1 .* type RC state RTS .*comm \[smc\]"; }

# exchange WHAT [MODE]: sockets from their beginning to their end
exchange() {
	local mode=${2-smcr} before
	before=$(wire_bytes)
	talk
	steps_at talk "round 2" || fail "$1: no data"
	wait_for 5 all_are "$mode" || { cat /run/sockets; fail "$1: sockets are not $mode"; }
	[ "$mode" != smcr ] || { has_qps rxe_a && has_qps rxe_b; } ||
		{ rdma res show qp; fail "$1: no QPs"; }
	steps_to talk close || fail "$1: the second round fails"
	[ $(($(wire_bytes) - before)) -ge $((4 * NUMBER * BYTES)) ] ||
		fail "$1: the data was not on the wire"
	steps_ended talk 0
	say "$1: ${SAID[talk]}"
}

# broken WHAT COMMAND...: happens to open sockets, which then end with an error: SMC has no other
# link for them
broken() {
	local what=$1
	shift
	talk
	steps_at talk "round 2" || fail "$what: no data"
	wait_for 5 all_are smcr || { cat /run/sockets; fail "$what: sockets are not smcr"; }
	"$@"
	steps_ended talk 3
	say "$what: ${SAID[talk]}"
}

flap() {
	ip link set va down
	wait_for 10 grep -q DOWN /sys/class/infiniband/rxe_a/ports/1/state ||
		fail "the port stays up"
	ip link set va up
	net_ends
	wait_for 10 grep -q ACTIVE /sys/class/infiniband/rxe_a/ports/1/state ||
		fail "the port does not come back"
	wait_for 20 ping -c 1 -W 1 -I $B $A || fail "no ping"
}

refused() {
	local status=0
	/ibex/bin/smc talk $B $A $SMC_PORT 1 1 1 > /run/out/refused || status=$?
	[ $status = 3 ] && grep -q 'connect: Connection refused' /run/out/refused ||
		fail "without a listener: $status, $(cat /run/out/refused)"
}

# gone DEVICE: its removal ends the connections, and waits until their sockets are closed, as SMC
# wants it
gone() {
	rdma link delete "$1" &
	REMOVAL=$!
	wait_for 20 no_active || { cat /run/sockets; fail "sockets are active without $1"; }
}

no_active() {
	python3 /ibex/tools/smc.py sockets > /run/sockets
	! grep ^active /run/sockets
}

removed() {
	wait_for 20 link_gone "$1" || fail "$1 is still there"
	wait $REMOVAL || fail "rdma link delete $1"
}

rdma_up
smc_up
smc_serve
exchange "data"
broken "a link flaps" flap
exchange "after the flap"

broken "the server is killed" smc_serve_no_more
refused
smc_serve
exchange "with a new listener"

for end in "rxe_b vb" "rxe_a va"; do
	dev=${end% *}
	broken "$dev is removed" gone "$dev"
	removed "$dev"
	exchange "without $dev" tcp
	rxe_add "$dev" "${end#* }"
	exchange "with $dev again"
done

smc_serve_no_more
smc_down
no_resources
no_warning
user_down
