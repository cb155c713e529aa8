# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: RNBD over RTRS: a link flaps, the server and each device go; the client connects again
# timeout: 400
# image: rnbd
. /ibex/lib/user.sh
. /ibex/lib/storage.sh

CTL=/sys/class/rnbd-client/ctl
PATHS=/sys/devices/virtual/rtrs-client/ibex/paths

path_is() { grep -qx "$1" $PATHS/*/state; }

disk_is() { grep -qx "$1" /sys/block/rnbd0/rnbd/state; }

# broken COMMAND...: with its only path the disk fails what is asked of it
broken() {
	"$@"
	blocks_fail
	path_is connected && fail "$condition: the path is connected"
	disk_is closed || fail "$condition: the disk is $(cat /sys/block/rnbd0/rnbd/state)"
}

connect_again() {
	path_is connected || echo 1 > "$(echo $PATHS/*/reconnect)"
	path_is connected
}

# By hand: RTRS waits for half a minute before it tries again, and after its device went it never
# does.
recovered() {
	wait_for 60 connect_again || fail "$condition: the path is $(cat $PATHS/*/state)"
	wait_for 20 disk_is open || fail "$condition: the disk is $(cat /sys/block/rnbd0/rnbd/state)"
	store_compare /dev/rnbd0 rnbd
	blocks_start /dev/rnbd0
}

serve() {
	insmod /ibex/rnbd/rtrs-server.ko
	insmod /ibex/rnbd/rnbd-server.ko || fail "$condition: insmod rnbd-server"
}

serve_no_more() {
	rmmod rnbd_server || fail "$condition: rmmod rnbd_server"
	rmmod rtrs_server || fail "$condition: rmmod rtrs_server"
}

# With nothing to send: rdma_rxe ends a QP whose packet it cannot send, and tells of requests that are
# flushed only, which RTRS takes for no error.
flap() {
	blocks_stop
	condition="a link flaps"
	ip link set va down
	wait_for 10 grep -q DOWN /sys/class/infiniband/rxe_a/ports/1/state || fail "the port stays up"
	ip link set va up
	net_ends
	recovered
}

server() {
	condition="the server is unloaded"
	broken serve_no_more
	condition="the server is loaded again"
	serve
	recovered
}

# gone DEVICE NETDEV
gone() {
	condition="$1 is removed"
	broken removal "rdma link delete $1" "$1"
	rxe_add "$1" "$2"
	condition="$1 is back"
	recovered
}

rdma_up
condition=before
load loop rdma_cm
store_up
store_file rnbd
losetup /dev/loop0 $STORE/rnbd
insmod /ibex/rnbd/rtrs-core.ko
serve
insmod /ibex/rnbd/rtrs-client.ko
insmod /ibex/rnbd/rnbd-client.ko
echo "sessname=ibex path=ip:$B,ip:$A device_path=/dev/loop0" > $CTL/map_device || fail "map_device"
wait_for 20 test -b /dev/rnbd0 || fail "no disk"
store_compare /dev/rnbd0 rnbd
blocks_start /dev/rnbd0
flap
server
gone rxe_a va
gone rxe_b vb
blocks_stop
echo normal > /sys/block/rnbd0/rnbd/unmap_device || fail "unmap_device"
for module in rnbd_client rtrs_client rnbd_server rtrs_server rtrs_core; do
	rmmod $module || fail "rmmod $module"
done
losetup -d /dev/loop0
store_down
user_down
