# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: random calls to umad, which scripts/vm-diff compares; words: SEED NUMBER...
# timeout: 1200
# debug: off
. /ibex/lib/user.sh
. /ibex/lib/vib.sh
. /ibex/lib/diff.sh

# pair N: the RoCE devices rxe_cN and rxe_dN, for another process; vcN and vdN are what va and vb are
pair() {
	local c=vc$1 d=vd$1 from=10.0.$1.1 to=10.0.$1.2 mac=02:00:00:00:0$1 i
	ip link add "$c" mtu 4200 address "$mac:03" type veth \
		peer name "$d" mtu 4200 address "$mac:04"
	for i in "$c" "$d"; do
		echo 0 >"/proc/sys/net/ipv4/conf/$i/rp_filter"
		echo 1 >"/proc/sys/net/ipv4/conf/$i/accept_local"
		echo 1 >"/proc/sys/net/ipv4/conf/$i/arp_ignore"
		echo 0 >"/proc/sys/net/ipv6/conf/$i/accept_dad"
	done
	ip -batch - <<-END
		rule add pref ${1}0 iif $c lookup local
		rule add pref ${1}1 iif $d lookup local
		rule add pref ${1}2 iif lo to $to lookup 10$1
		rule add pref ${1}3 iif lo to $from lookup 11$1
		rule add pref ${1}4 to $to oif $c lookup 10$1
		rule add pref ${1}5 to $from oif $d lookup 11$1
		addr add $from/24 dev $c
		addr add $to/24 dev $d
		link set $c up
		link set $d up
		route add $to/32 dev $c src $from table 10$1
		route add $from/32 dev $d src $to table 11$1
		neigh replace $to dev $c lladdr $mac:04
		neigh replace $from dev $d lladdr $mac:03
	END
	rxe_add "rxe_c$1" "$c"
	rxe_add "rxe_d$1" "$d"
}

# Processes wait most of their time, for what comes late or perhaps not at all.
COUNT=6

user_up
sets=("rxe_a,rxe_b,vib0,vib1")
for ((n = 2; n <= COUNT; n++)); do
	pair "$n"
	sets+=("rxe_c$n,rxe_d$n,vib$((2 * n - 2)),vib$((2 * n - 1))")
done
vib_up
vib_star $((2 * COUNT))
wait_for 10 test -e /sys/class/infiniband_mad/umad$((4 * COUNT - 1)) ||
	fail "no umad of the last adapter"
# the LIDs stay when the subnet manager has ended, which would answer in its own time
opensm_up vib0
wait_for 60 ports_are ACTIVE $((4 * COUNT)) || fail "no subnet"
opensm_down vib0
dmesg -n 1
diff_calls "python3 /ibex/tools/diff_umad.py" "${sets[@]}"
vib_down
for ((n = 2; n <= COUNT; n++)); do
	rdma link delete "rxe_c$n"
	rdma link delete "rxe_d$n"
	ip link delete "vc$n"
done
user_down
