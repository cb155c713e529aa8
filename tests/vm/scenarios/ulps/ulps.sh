# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: kernel ULPs by rdma_cm and the SA: test ULP, NFS, NVMe, iSER, 9P; SRP; IPoIB connected
# timeout: 400
. /ibex/lib/vib.sh
. /ibex/lib/user.sh
. /ibex/lib/storage.sh
. /ibex/lib/p9.sh
. /ibex/lib/srp.sh

# Both ends of IPoIB in connected mode: an RC QP each way, with an SRQ
connected() {
	local dev server
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
	iperf3 -s -1 -B $A > /run/out/iperf3-server &
	server=$!
	wait_for 20 grep -q ':1451 ' /proc/net/tcp || fail "iperf3 does not listen"
	iperf3 -c $A -B $B -n 16M > /run/out/iperf3 || { cat /run/out/iperf3; fail iperf3; }
	wait $server || fail "iperf3's server"
	say "iperf3: $(grep receiver /run/out/iperf3)"
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

p9() {
	load rdma_ucm 9p 9pnet_rdma
	ulimit -l unlimited
	diod_up
	p9_serve
	p9_mount 9P
	p9_file 9P
	umount $P9_DIR
	p9_serve_no_more
	diod_down
	modprobe -r 9p 9pnet_rdma || fail "modprobe -r 9p"
}

# SRP uses the IB CM itself, and asks the SA for paths: no IP address is involved.
srp() {
	say "SRP"
	srp_target_up vib0 vib1
	srp_login vib1
	store_compare "/dev/$SRP_DISK" srp
	srp_logout
	srp_target_down
}

vib_up
record_core
subnet_up 2 "${P9_OPENSM[@]}"
ipoib_pair
condition=vib
connected
connections
nfs
nvme
iser
p9
srp
store_down
rmmod ib_ipoib
opensm_down vib0
vib_down
