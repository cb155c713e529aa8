# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# A disk by SRP, with the kernel's own target and initiator, between two devices: by the IB CM and
# GIDs, or by the RDMA CM and addresses. A failure is reported with $condition. Needs vib.sh.
#
# shellcheck disable=SC2034,SC2154 # used or set by scripts sourced before or after this one

SRP_GID= SRP_GUID= SRP_TARGET= SRP_ACL= SRP_DISK=

# srp_target_up DEVICE INITIATOR: DEVICE serves a file to INITIATOR
srp_target_up() {
	SRP_GID=0x$(tr -d : < "/sys/class/infiniband/$1/ports/1/gids/0")
	SRP_GUID=$(tr -d : < "/sys/class/infiniband/$1/node_guid")
	SRP_TARGET=$LIO/srpt/$SRP_GID/$SRP_GID
	SRP_ACL=$SRP_TARGET/acls/0x0000000000000000$(guid "$2")
	store_up
	store_file srp
	load target_core_mod target_core_file ib_srpt
	mkdir -p $LIO/core/fileio_1/srp
	echo "fd_dev_name=$STORE/srp,fd_dev_size=$((STORE_MB << 20))" > $LIO/core/fileio_1/srp/control
	echo 1 > $LIO/core/fileio_1/srp/enable
	mkdir -p "$SRP_TARGET/lun/lun_0"
	ln -s $LIO/core/fileio_1/srp "$SRP_TARGET/lun/lun_0/srp"
	mkdir -p "$SRP_ACL/lun_0"
	ln -s "$SRP_TARGET/lun/lun_0" "$SRP_ACL/lun_0/lun"
	echo 1 > "$SRP_TARGET/enable"
}

srp_unserve() {
	echo 0 > "$SRP_TARGET/enable"
	rm "$SRP_ACL/lun_0/lun" "$SRP_TARGET/lun/lun_0/srp"
	rmdir "$SRP_ACL/lun_0" "$SRP_ACL"
	rmdir "$SRP_TARGET/lun/lun_0" "$SRP_TARGET" "$LIO/srpt/$SRP_GID" $LIO/srpt
	rmdir $LIO/core/fileio_1/srp $LIO/core/fileio_1
}

srp_target_down() {
	srp_unserve
	modprobe -r ib_srpt || fail "modprobe -r ib_srpt"
}

srp_disk() {
	local path
	for path in /sys/class/scsi_host/host*/device/target*/*/block/*; do
		[ -e "${path%/device/*}/local_ib_device" ] || continue
		[ -b "/dev/${path##*/}" ] || continue
		SRP_DISK=${path##*/}
		return 0
	done
	return 1
}

# srp_listen PORT: the target is also reached by the RDMA CM
srp_listen() { echo "$1" > $LIO/srpt/discovery_auth/rdma_cm_port || fail "srpt does not listen"; }

# srp_login DEVICE [HOW]: logs in from there, to the target; HOW is by addresses, if not by GIDs
srp_login() {
	local how=${2-dgid=${SRP_GID#0x},pkey=ffff,service_id=$SRP_GUID}
	load ib_srp sd_mod
	echo "id_ext=$SRP_GUID,ioc_guid=$SRP_GUID,$how" > "/sys/class/infiniband_srp/srp-$1-1/add_target" ||
		fail "$condition: no SRP login"
	wait_for 60 srp_disk || fail "$condition: no disk by SRP"
}

srp_logout() {
	echo 1 | tee /sys/class/srp_remote_ports/port-*/delete > /dev/null
	modprobe -r ib_srp || fail "modprobe -r ib_srp"
}
