# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: NVMe over RDMA: a link flaps, the listener and each device go; the host connects again
# timeout: 300
. /ibex/lib/user.sh
. /ibex/lib/storage.sh

# The host notices silence within 5 s, and then tries each second to connect.
RECONNECT=,keep_alive_tmo=5,reconnect_delay=1,ctrl_loss_tmo=200

nvme_is() { grep -qx "$1" /sys/class/nvme/nvme*/state; }

connected() {
	wait_for 60 nvme_is live || fail "$condition: the host does not connect again"
	blocks_go_on
}

noticed() { wait_for 60 nvme_is connecting || fail "$condition: the host has not noticed"; }

flap() {
	condition="a link is down for long"
	ip link set va down
	noticed
	ip link set va up
	net_ends
	connected
	condition="a link flaps"
	ip link set va down
	wait_for 10 grep -q DOWN /sys/class/infiniband/rxe_a/ports/1/state ||
		fail "the port stays up"
	ip link set va up
	net_ends
	connected
}

listen() {
	ln -s $NVMET/subsystems/$NQN $NVMET/ports/1/subsystems/$NQN ||
		fail "$condition: nvmet does not listen"
}

listener() {
	condition="no listener"
	rm $NVMET/ports/1/subsystems/$NQN
	noticed
	condition="a listener again"
	listen
	connected
}

# nvmet's listener goes with the device that it was bound to.
target_gone() {
	condition="the target's device is removed"
	removal "rdma link delete rxe_a" rxe_a
	noticed
	rxe_add rxe_a va
	condition="the target's device is back"
	rm $NVMET/ports/1/subsystems/$NQN
	listen
	connected
}

# The host gives up a controller whose device goes, and with it the disk.
host_gone() {
	condition="the host's device is removed"
	removal "rdma link delete rxe_b" rxe_b
	blocks_fail
	wait_for 20 no_disk || fail "$condition: the disk stays"
	rxe_add rxe_b vb
	condition="the host's device is back"
	nvme_connect $RECONNECT
	dd if="/dev/$NVME_DISK" bs=64k count=16 iflag=direct status=none |
		cmp - <(head -c $((1 << 20)) $STORE/nvme) || fail "$condition: other data"
	store_compare "/dev/$NVME_DISK" nvme
}

no_disk() { ! nvme_disk; }

rdma_up
condition=before
nvmet_up
nvme_connect $RECONNECT
store_compare "/dev/$NVME_DISK" nvme
blocks_start "/dev/$NVME_DISK"
flap
listener
target_gone
host_gone
nvme_disconnect
nvmet_down
store_down
user_down
