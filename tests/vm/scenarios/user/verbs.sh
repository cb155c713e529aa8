# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: ibv_devinfo, the pingpongs of each transport polling and with events, asyncwatch
# timeout: 120
. /ibex/lib/user.sh
user_up
gid_a=$(gid_index rxe_a $A) || fail "no GID of $A"
gid_b=$(gid_index rxe_b $B) || fail "no GID of $B"

say "devices"
ibv_devices >/tmp/devices
[ "$(grep -c rxe_ /tmp/devices)" = 2 ] || fail "not two devices"
for dev in rxe_a rxe_b; do
	ibv_devinfo -v -d $dev >/tmp/info || fail "ibv_devinfo -v -d $dev"
	for what in 'transport:.*InfiniBand' 'state:.*PORT_ACTIVE' 'link_layer:.*Ethernet' \
		'max_mtu:.*4096' 'num_comp_vectors:' 'GID\[ *[0-9]*\]:.*::ffff:10\.0\.0\.|GID.*ffff:0a00'; do
		grep -Eq "$what" /tmp/info || { cat /tmp/info; fail "$dev: no '$what'"; }
	done
	want=$(cat "/sys/class/infiniband/$dev/node_guid")
	grep -Eq "node_guid:.*$want" /tmp/info || fail "$dev: another node GUID"
done
! ibv_devinfo -d nosuch >/dev/null 2>&1 || fail "ibv_devinfo knows a device there is none of"

# pingpong TRANSPORT OPTIONS...
iters=100
pingpong() {
	local name=ibv_$1_pingpong
	shift
	next_port
	pair listens_tcp "$name -d rxe_a -g $gid_a -p $PORT -n $iters $*" \
		"$name -d rxe_b -g $gid_b -p $PORT -n $iters $* $A"
	for side in server client; do
		pair_says $side "remote address:.*GID ::ffff:10.0.0.[12]"
		pair_says $side "^[0-9]+ bytes in"
		pair_says $side "iters in .* usec/iter"
	done
	say "$name $*: $(grep usec/iter /tmp/client)"
}
for events in "" -e; do
	pingpong rc $events -c
	pingpong uc $events -c
	pingpong ud $events -c -s 2048
	pingpong srq $events -c -q 4
	pingpong rc $events -c -s 65536 -m 4096 -r 20
done

say "port events"
stdbuf -oL ibv_asyncwatch -d rxe_a >/tmp/events 2>&1 &
watch=$!
wait_for 10 grep -q rxe_a /tmp/events || fail "ibv_asyncwatch: $(cat /tmp/events)"
ip link set va down
wait_for 10 grep -Eqi 'port (error|err)|PORT_ERR|\(10\)' /tmp/events ||
	fail "no event of the port going down: $(cat /tmp/events)"
ip link set va up
wait_for 10 grep -Eqi 'port active|PORT_ACTIVE|\(9\)' /tmp/events ||
	fail "no event of the port coming up: $(cat /tmp/events)"
sed 's/^/  /' /tmp/events
kill $watch
wait $watch || :
user_down
