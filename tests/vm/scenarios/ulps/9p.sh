# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: 9P over RDMA, by diod: files; a cable, the server and each adapter go and come back
# timeout: 500
#
# The kernel's client does not connect again: what ends its connection ends its mount, which is
# made anew. It does not let go of an adapter that is removed before it is unmounted.
#
# The server has vib0, the client vib1, the subnet manager vib2.
. /ibex/lib/vib.sh
. /ibex/lib/user.sh
. /ibex/lib/p9.sh

# While nothing is asked
pulled() {
	vibctl link ca1:1 down
	wait_for 10 port_is vib1 DOWN || fail "the port stays up"
	vibctl link ca1:1 up
	wait_for 60 port_is vib1 ACTIVE || fail "the port does not come back"
	wait_for 60 ping -c 1 -W 1 -I $A $B || fail "no ping"
	p9_file "a cable is pulled and put back"
}

# I/O ends with an error, and so does the mount.
server_killed() {
	p9_serve_no_more
	! timeout 60 ls $P9_DIR > /tmp/lost 2>&1 || fail "the mount goes on without a server"
	grep 'Input/output error' /tmp/lost || fail "without a server: $(cat /tmp/lost)"
	umount $P9_DIR
	! p9_mounts || fail "a mount though nobody listens"
	p9_serve
	p9_mount "a new server"
	p9_file "a new server"
	umount $P9_DIR
}

# The server's process ends when its adapter goes.
server_gone() {
	removal "rmdir $FABRIC/nodes/ca0" vib0
	wait "$P9RDMA" || fail "p9rdma: $(cat /run/out/p9rdma)"
	adapter_again 0 va
	p9_serve
	p9_mount "the server's adapter is back"
	p9_file "the server's adapter is back"
	umount $P9_DIR
}

client_gone() {
	removal "rmdir $FABRIC/nodes/ca1" vib1
	adapter_again 1 vb
	p9_mount "the client's adapter is back"
	p9_file "the client's adapter is back"
	umount $P9_DIR
}

vib_up
load rdma_ucm 9p 9pnet_rdma
ulimit -l unlimited
record_core
vib_star 3
wait_for 20 ports_are INIT 3 || fail "ports do not come up"
opensm_up vib2 "${P9_OPENSM[@]}"
wait_for 60 ports_are ACTIVE 3 || fail "opensm leaves ports inactive"
core_resources vib0
ipoib_pair
diod_up
p9_serve
p9_mount "at first"
p9_compare "at first"
pulled
server_killed
server_gone
client_gone
p9_serve_no_more
diod_down
modprobe -r 9p 9pnet_rdma || fail "modprobe -r 9p"
rmmod ib_ipoib
no_resources
no_warning
opensm_down vib2
vib_down
