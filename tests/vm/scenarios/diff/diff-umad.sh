# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: random calls to umad, which scripts/vm-diff compares; words: SEED NUMBER...
# timeout: 1200
# debug: off
. /ibex/lib/user.sh
. /ibex/lib/vib.sh
. /ibex/lib/diff.sh

# pair N: the RoCE devices rxe_cN and rxe_dN, for another process, on what net_pair makes va and vb
pair() {
	local ends=("vc$1" "vd$1" "10.0.$1.1" "10.0.$1.2" "10$1" "11$1") mac
	mac=$(printf '02:00:00:00:%02x' "$1")
	ip link add "vc$1" mtu 4200 address "$mac:03" type veth \
		peer name "vd$1" mtu 4200 address "$mac:04"
	net_rules_of "$1" "${ends[@]}" | ip -batch -
	net_ends_of "${ends[@]}"
	rxe_add "rxe_c$1" "vc$1"
	rxe_add "rxe_d$1" "vd$1"
}

# Processes wait most of their time, for what comes late or perhaps not at all. The subnet manager
# is first, as its library knows 32 devices only. Devices for so many take half a minute to come up.
COUNT=6
[ ${#WORDS[@]} -le 500 ] || COUNT=16

vib_up
subnet_up $((2 * COUNT))
# the LIDs stay when it has ended, which would answer in its own time
opensm_down vib0
user_up
sets=("rxe_a,rxe_b,vib0,vib1")
for ((n = 2; n <= COUNT; n++)); do
	pair "$n"
	sets+=("rxe_c$n,rxe_d$n,vib$((2 * n - 2)),vib$((2 * n - 1))")
done
dmesg -n 1
diff_calls "python3 /ibex/tools/diff_umad.py" "${sets[@]}"
vib_down
for ((n = 2; n <= COUNT; n++)); do
	rdma link delete "rxe_c$n"
	rdma link delete "rxe_d$n"
	ip link delete "vc$n"
done
user_down
