# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# Block devices over RDMA, with the kernel's own target and initiator, each over a file in a
# tmpfs: NVMe (nvmet, set up by configfs, and a write to /dev/nvme-fabrics as nvme-cli does)
# and iSER (LIO, set up by configfs, and open-iscsi). A failure is reported with $condition.
#
# shellcheck disable=SC2034,SC2154 # used or set by scripts sourced after or before this one
STORE=/srv/store
STORE_MB=16
BLOCKS=	# the process of blocks_start
CONFIG=/sys/kernel/config
NVMET=$CONFIG/nvmet
NQN=org.ibex.store
LIO=$CONFIG/target
IQN=iqn.2026-01.org.ibex:store
TPG=$LIO/iscsi/$IQN/tpgt_1
ISER=(-m node -T "$IQN" -p "$A:3260" -I iser)

store_up() {
	mountpoint -q $STORE && return 0
	mkdir -p $STORE
	mount -t tmpfs -o size=100m tmpfs $STORE
	busybox dd if=/dev/urandom of=$STORE/pattern bs=64k count=16 2>/dev/null
	load configfs
	mountpoint -q $CONFIG || mount -t configfs configfs $CONFIG
}

store_down() { umount $STORE; }

# store_file NAME; with STORE_KEEP set, one that is there stays
store_file() {
	[ -z "${STORE_KEEP-}" ] || [ ! -e "$STORE/$1" ] || return 0
	rm -f "$STORE/$1"
	truncate -s ${STORE_MB}M "$STORE/$1"
}

# store_compare DEVICE NAME: writes to the block device, and checks that the target's file has
# the same data, and that the same data is read back without a cache
store_compare() {
	dd if=$STORE/pattern of="$1" bs=64k oflag=direct conv=fsync,notrunc status=none ||
		fail "$condition: write to $1"
	cmp -n $((1 << 20)) $STORE/pattern "$STORE/$2" || fail "$condition: $2 holds other data"
	dd if="$1" bs=64k count=16 iflag=direct status=none | cmp - $STORE/pattern ||
		fail "$condition: $1 reads other data"
}

# blocks_start DEVICE: I/O goes on in the background
blocks_start() {
	rm -f /run/blocks-stop
	: > /run/blocks
	python3 /ibex/tools/blocks.py "$1" /run/blocks-stop 16 > /run/blocks 2>&1 &
	BLOCKS=$!
	wait_for 60 blocks_beyond 0 || fail "$condition: no I/O: $(cat /run/blocks)"
}

blocks_turn() { tail -n 1 /run/blocks; }

# blocks_beyond TURN: more rounds have ended; or it has failed, which the next check tells
blocks_beyond() {
	! kill -0 $BLOCKS 2>/dev/null || [ "$(blocks_turn)" -gt "$1" ] 2>/dev/null
}

# blocks_go_on: whole rounds begin and end now
blocks_go_on() {
	local turn
	turn=$(blocks_turn)
	wait_for 120 blocks_beyond $((turn + 1)) || fail "$condition: I/O does not go on"
	kill -0 $BLOCKS 2>/dev/null || fail "$condition: I/O has ended: $(cat /run/blocks)"
}

# blocks_stop: it was without an error
blocks_stop() {
	local status=0
	touch /run/blocks-stop
	wait $BLOCKS || status=$?
	[ $status = 0 ] || fail "$condition: I/O ended with $status: $(tail -n 1 /run/blocks)"
	say "$condition: $(blocks_turn) rounds of I/O"
}

# blocks_fail: it ends with an error, in a time
blocks_fail() {
	local status=0
	wait_for 60 blocks_ended || fail "$condition: I/O does not end"
	wait $BLOCKS || status=$?
	[ $status = 1 ] || fail "$condition: I/O ended with $status: $(tail -n 1 /run/blocks)"
	say "$condition: I/O ends: $(tail -n 1 /run/blocks)"
}

blocks_ended() { ! kill -0 $BLOCKS; }

# --- NVMe --------------------------------------------------------------------
nvmet_up() {
	store_up
	store_file nvme
	load nvmet nvmet-rdma nvme-rdma
	mkdir $NVMET/subsystems/$NQN
	echo 1 >$NVMET/subsystems/$NQN/attr_allow_any_host
	mkdir $NVMET/subsystems/$NQN/namespaces/1
	echo -n $STORE/nvme >$NVMET/subsystems/$NQN/namespaces/1/device_path
	echo 1 >$NVMET/subsystems/$NQN/namespaces/1/buffered_io
	echo 1 >$NVMET/subsystems/$NQN/namespaces/1/enable
	mkdir $NVMET/ports/1
	echo rdma >$NVMET/ports/1/addr_trtype
	echo ipv4 >$NVMET/ports/1/addr_adrfam
	echo $A >$NVMET/ports/1/addr_traddr
	echo 4420 >$NVMET/ports/1/addr_trsvcid
	ln -s $NVMET/subsystems/$NQN $NVMET/ports/1/subsystems/$NQN ||
		fail "nvmet does not listen"
}

# nvme_connect [OPTIONS], which begin with a comma
# shellcheck disable=SC2120 # there need be none
nvme_connect() {
	echo "transport=rdma,traddr=$A,trsvcid=4420,host_traddr=$B,nqn=$NQN,nr_io_queues=2${1-}" \
		>/dev/nvme-fabrics || fail "$condition: nvme connect"
	wait_for 60 nvme_disk || fail "$condition: no disk of the controller"
}

# sets NVME_DISK: the disk is /dev/$NVME_DISK
nvme_disk() {
	local name
	for name in /sys/block/nvme*n*; do
		[ -b "/dev/${name##*/}" ] || continue
		NVME_DISK=${name##*/}
		return 0
	done
	return 1
}

nvme_disconnect() {
	local ctrl
	for ctrl in /sys/class/nvme/nvme*; do
		[ ! -e "$ctrl" ] || echo 1 >"$ctrl/delete_controller"
	done
}

nvmet_down() {
	local m
	rm $NVMET/ports/1/subsystems/$NQN
	rmdir $NVMET/ports/1
	rmdir $NVMET/subsystems/$NQN/namespaces/1
	rmdir $NVMET/subsystems/$NQN
	for m in nvme-rdma nvmet-rdma; do
		modprobe -r $m || fail "modprobe -r $m"
	done
}

# --- iSER --------------------------------------------------------------------
# What lio_up makes a disk with T10 protection information of: blocks of PI_BLOCK bytes, which have
# it in the file's store if PI_TYPE is not 0 (iser.protection), and on the wire alone if PI_FABRIC is
# not.  LIO itself checks none of it: the adapters have to.
lio_protect() {
	local attrib=$LIO/core/fileio_0/store/attrib
	echo "$PI_BLOCK" >$attrib/block_size
	echo 1 >$TPG/attrib/t10_pi
	echo "$PI_FABRIC" >$TPG/attrib/fabric_prot_type
	[ "$PI_TYPE" != 0 ] || return 0
	echo "$PI_TYPE" >$attrib/pi_prot_type || fail "$condition: no protection"
	echo 1 >$attrib/pi_prot_format
	echo 0 >$attrib/pi_prot_verify
}

lio_up() {
	store_up
	store_file iser
	# LIO keeps its database there
	mkdir -p /etc/target
	load target_core_mod target_core_file iscsi_target_mod ib_isert
	mkdir -p $LIO/core/fileio_0/store
	echo "fd_dev_name=$STORE/iser,fd_dev_size=$((STORE_MB << 20))" \
		>$LIO/core/fileio_0/store/control
	echo 1 >$LIO/core/fileio_0/store/enable
	mkdir $LIO/iscsi
	mkdir -p $TPG/lun/lun_0 "$TPG/np/$A:3260"
	[ -z "${PI_TYPE-}" ] || lio_protect
	ln -s $LIO/core/fileio_0/store $TPG/lun/lun_0/store
	echo 0 >$TPG/attrib/authentication
	echo 0 >$TPG/attrib/demo_mode_write_protect
	echo 1 >$TPG/attrib/generate_node_acls
	echo 1 >$TPG/attrib/cache_dynamic_acls
	echo 1 >"$TPG/np/$A:3260/iser" || fail "LIO does not listen on RDMA"
	echo 1 >$TPG/enable
}

iscsi_up() {
	load sd_mod ib_iser
	mkdir -p /etc/iscsi /run/lock/iscsi
	echo "InitiatorName=$IQN.initiator" >/etc/iscsi/initiatorname.iscsi
	# in a process group of its own, as it signals its group when it ends
	busybox setsid iscsid -f >/tmp/iscsid 2>&1 &
	ISCSID=$!
	iscsiadm "${ISER[@]}" -o new >/tmp/iscsiadm 2>&1 || fail "iscsiadm: $(cat /tmp/iscsiadm)"
	# no pings, as they would end a slow session; and more time for a slow login
	local name
	for name in 'conn[0].timeo.noop_out_interval' 'conn[0].timeo.noop_out_timeout'; do
		iscsiadm "${ISER[@]}" -o update -n "node.$name" -v 0
	done
	iscsiadm "${ISER[@]}" -o update -n 'node.conn[0].timeo.login_timeout' -v 60
}

iser_login() {
	iscsiadm "${ISER[@]}" --login >/tmp/iscsiadm 2>&1 ||
		fail "$condition: login: $(cat /tmp/iscsiadm)"
	wait_for 60 iser_disk || fail "$condition: no disk of the session"
}

# sets ISER_DISK: the disk is /dev/$ISER_DISK
iser_disk() {
	local name
	for name in /sys/class/iscsi_session/session*/device/target*/*/block/*; do
		[ -b "/dev/${name##*/}" ] || continue
		ISER_DISK=${name##*/}
		return 0
	done
	return 1
}

iser_logout() {
	iscsiadm "${ISER[@]}" --logout >/tmp/iscsiadm 2>&1 ||
		fail "$condition: logout: $(cat /tmp/iscsiadm)"
}

# The target ends the session, and the initiator leaves it: after a logout whose answer is acknowledged
# too late, isert frees the request twice (known.rst).
iser_close() {
	echo 0 >$TPG/enable
	wait_for 60 iser_lost || fail "$condition: the initiator has not noticed"
	iser_logout
}

iser_lost() { ! grep -qx LOGGED_IN /sys/class/iscsi_session/session*/state; }

iscsi_down() {
	iscsiadm "${ISER[@]}" -o delete
	kill $ISCSID
	wait $ISCSID || :
	modprobe -r ib_iser || fail "modprobe -r ib_iser"
}

lio_down() {
	echo 0 >$TPG/enable
	rm $TPG/lun/lun_0/store
	rmdir "$TPG/np/$A:3260" $TPG/lun/lun_0 $TPG $LIO/iscsi/$IQN $LIO/iscsi
	rmdir $LIO/core/fileio_0/store $LIO/core/fileio_0
	modprobe -r ib_isert || fail "modprobe -r ib_isert"
}
