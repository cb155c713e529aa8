# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: kernel ULPs over rdma_cm and the SA: test ULP, NFS, NVMe, iSER; SRP; IPoIB connected
# timeout: 300
. /ibex/lib/vib.sh
. /ibex/lib/storage.sh

# Both ends of IPoIB in connected mode: an RC QP each way, with an SRQ
connected() {
	local dev
	say "IPoIB in connected mode"
	for dev in va vb; do
		ip link set $dev down
		echo connected > /sys/class/net/$dev/mode
		ip link set $dev mtu 65520 up
	done
	net_ends
	# Until both connections are there, IPoIB drops what is longer than a datagram.
	wait_for 60 ping -c 1 -W 1 -I $A -s 60000 $B || fail "no ping"
	pings 50 $B -I $A -s 60000 || fail "pings are lost"
	for dev in va vb; do
		ip link set $dev down
		echo datagram > /sys/class/net/$dev/mode
		ip link set $dev up
	done
	net_ends
	wait_for 60 ping -c 1 -W 1 -I $A $B || fail "no ping in datagram mode"
}

connections() {
	say "connections"
	ulp_up
	ulp listen "$A 7471"
	ulp connect "$B $A 7471 200 8"
	ulp_check attempts=200 completed=200 established=200 disconnected=200
	ulp_check_clean
	wait_for 10 ulp_is passive_disconnected=200 || true
	ulp_check_passive 200
	ulp_check_clean
	ulp_down
}

nfs() {
	nfs_server_up
	nfs_compare 4.2
	umount /mnt/v4.2
	nfs_server_down
}

nvme() {
	say "NVMe"
	nvmet_up
	nvme_connect
	store_compare "/dev/$NVME_DISK" nvme
	nvme_disconnect
	nvmet_down
}

iser() {
	say "iSER"
	lio_up
	iscsi_up
	iser_login
	store_compare "/dev/$ISER_DISK" iser
	iser_logout
	iscsi_down
	lio_down
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

# SRP uses the IB CM itself, and asks the SA for paths: no IP address is involved.
srp() {
	local gid guid target acl
	say "SRP"
	store_file srp
	load target_core_mod target_core_file ib_srpt ib_srp sd_mod
	mkdir -p $LIO/core/fileio_1/srp
	echo "fd_dev_name=$STORE/srp,fd_dev_size=$((STORE_MB << 20))" > $LIO/core/fileio_1/srp/control
	echo 1 > $LIO/core/fileio_1/srp/enable
	gid=0x$(tr -d : < /sys/class/infiniband/vib0/ports/1/gids/0)
	guid=$(tr -d : < /sys/class/infiniband/vib0/node_guid)
	target=$LIO/srpt/$gid/$gid
	mkdir -p "$target/lun/lun_0"
	ln -s $LIO/core/fileio_1/srp "$target/lun/lun_0/srp"
	acl=$target/acls/0x0000000000000000$(tr -d : < /sys/class/infiniband/vib1/ports/1/gids/0 |
		cut -c17-)
	mkdir -p "$acl/lun_0"
	ln -s "$target/lun/lun_0" "$acl/lun_0/lun"
	echo 1 > "$target/enable"
	echo "id_ext=$guid,ioc_guid=$guid,dgid=${gid#0x},pkey=ffff,service_id=$guid" \
		> /sys/class/infiniband_srp/srp-vib1-1/add_target || fail "no SRP login"
	wait_for 60 srp_disk || fail "no disk by SRP"
	store_compare "/dev/$SRP_DISK" srp
	echo 1 | tee /sys/class/srp_remote_ports/port-*/delete > /dev/null
	modprobe -r ib_srp || fail "modprobe -r ib_srp"
	echo 0 > "$target/enable"
	rm "$acl/lun_0/lun" "$target/lun/lun_0/srp"
	rmdir "$acl/lun_0" "$acl"
	rmdir "$target/lun/lun_0" "$target" "$LIO/srpt/$gid" $LIO/srpt
	rmdir $LIO/core/fileio_1/srp $LIO/core/fileio_1
	modprobe -r ib_srpt || fail "modprobe -r ib_srpt"
}

vib_up
record_core
subnet_up 2
ipoib_pair
condition=vib
connected
connections
nfs
nvme
iser
srp
store_down
rmmod ib_ipoib
opensm_down vib0
vib_down
