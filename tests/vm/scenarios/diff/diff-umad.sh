# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: random calls to umad, which scripts/vm-diff compares; words: SEED NUMBER...
# timeout: 1200
# debug: off
. /ibex/lib/user.sh
. /ibex/lib/vib.sh
. /ibex/lib/diff.sh

# a second pair of RoCE devices, for the second process; vc and vd are what va and vb are
second_pair() {
	local i
	ip link add vc mtu 4200 address 02:00:00:00:00:03 type veth \
		peer name vd mtu 4200 address 02:00:00:00:00:04
	for i in vc vd; do
		echo 0 >/proc/sys/net/ipv4/conf/$i/rp_filter
		echo 1 >/proc/sys/net/ipv4/conf/$i/accept_local
		echo 1 >/proc/sys/net/ipv4/conf/$i/arp_ignore
		echo 0 >/proc/sys/net/ipv6/conf/$i/accept_dad
	done
	ip -batch - <<-END
		rule add pref 20 iif vc lookup local
		rule add pref 21 iif vd lookup local
		rule add pref 22 iif lo to 10.0.1.2 lookup 102
		rule add pref 23 iif lo to 10.0.1.1 lookup 103
		rule add pref 24 to 10.0.1.2 oif vc lookup 102
		rule add pref 25 to 10.0.1.1 oif vd lookup 103
		addr add 10.0.1.1/24 dev vc
		addr add 10.0.1.2/24 dev vd
		link set vc up
		link set vd up
		route add 10.0.1.2/32 dev vc src 10.0.1.1 table 102
		route add 10.0.1.1/32 dev vd src 10.0.1.2 table 103
		neigh replace 10.0.1.2 dev vc lladdr 02:00:00:00:00:04
		neigh replace 10.0.1.1 dev vd lladdr 02:00:00:00:00:03
	END
	rxe_add rxe_c vc
	rxe_add rxe_d vd
}

user_up
second_pair
vib_up
vib_star 4
wait_for 10 test -e /sys/class/infiniband_mad/umad7 || fail "no umad of vib3"
# the LIDs stay when the subnet manager has ended, which would answer in its own time
opensm_up vib0
wait_for 30 ports_are ACTIVE 8 || fail "no subnet"
opensm_down vib0
dmesg -n 1
diff_calls "python3 /ibex/tools/diff_umad.py" rxe_a,rxe_b,vib0,vib1 rxe_c,rxe_d,vib2,vib3
vib_down
rdma link delete rxe_c
rdma link delete rxe_d
ip link delete vc
user_down
