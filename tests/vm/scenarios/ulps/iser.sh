# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: iSER: a link flaps, the target and each device go; the initiator logs in again
# timeout: 300
. /ibex/lib/user.sh
. /ibex/lib/storage.sh

session_is() { grep -qx "$1" /sys/class/iscsi_session/session*/state; }

noticed() { wait_for 60 iser_lost || fail "$condition: the initiator has not noticed"; }

recovered() {
	wait_for 100 session_is LOGGED_IN || fail "$condition: the initiator does not log in again"
	blocks_go_on
}

flap() {
	condition="a link flaps"
	ip link set va down
	wait_for 10 grep -q DOWN /sys/class/infiniband/rxe_a/ports/1/state ||
		fail "the port stays up"
	ip link set va up
	net_ends
	recovered
}

target() {
	condition="the target is disabled"
	echo 0 > "$TPG/enable"
	noticed
	condition="the target is enabled again"
	echo 1 > "$TPG/enable"
	recovered
}

# isert's listener goes with the device that it was bound to.
target_gone() {
	condition="the target's device is removed"
	removal "rdma link delete rxe_a" rxe_a
	noticed
	rxe_add rxe_a va
	condition="the target's device is back"
	echo 0 > "$TPG/np/$A:3260/iser"
	echo 1 > "$TPG/np/$A:3260/iser" || fail "LIO does not listen again"
	recovered
}

initiator_gone() {
	condition="the initiator's device is removed"
	removal "rdma link delete rxe_b" rxe_b
	noticed
	rxe_add rxe_b vb
	condition="the initiator's device is back"
	recovered
}

rdma_up
condition=before
lio_up
iscsi_up
iser_login
store_compare "/dev/$ISER_DISK" iser
blocks_start "/dev/$ISER_DISK"
flap
target
target_gone
initiator_gone
blocks_stop
store_compare "/dev/$ISER_DISK" iser
iser_logout
iscsi_down
lio_down
store_down
user_down
