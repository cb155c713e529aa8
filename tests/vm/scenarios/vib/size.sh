# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: a subnet of 1,000 adapters, brought up by opensm; time and memory of each node
# timeout: 1200
# mem: 4096
# debug: off
#
# Times and memory are printed in "size" lines, and not asserted. The memory is the kernel's: what
# is available before and after, of vib and of what the core keeps for each adapter's port.
. /ibex/lib/vib.sh

LEAVES=25
SPINES=5
HOSTS=${IBEX_ARGS:-40}	# of each leaf
ADAPTERS=$((LEAVES * HOSTS))
NODES=$((ADAPTERS + LEAVES + SPINES))

# Each leaf has links to its adapters, then one to each spine.
net() {
	local leaf host
	for ((leaf = 1; leaf <= LEAVES; leaf++)); do
		echo "Switch $((HOSTS + SPINES)) \"leaf$leaf\""
		for ((host = 1; host <= HOSTS; host++)); do
			echo "[$host] \"ca$(((leaf - 1) * HOSTS + host))\"[1]"
		done
		for ((host = 1; host <= SPINES; host++)); do
			echo "[$((HOSTS + host))] \"spine$host\"[$leaf]"
		done
		echo
	done
	for ((host = 1; host <= SPINES; host++)); do
		echo "Switch $LEAVES \"spine$host\""
		echo
	done
	for ((host = 1; host <= ADAPTERS; host++)); do
		echo "Hca 1 \"ca$host\""
		echo
	done
}

available() {
	sync
	echo 3 > /proc/sys/vm/drop_caches
	awk '/^MemAvailable:/ { print $2 }' /proc/meminfo
}

now_ms() { echo $((${EPOCHREALTIME/./} / 1000)); }

# size WHAT VALUE UNIT
size() { printf 'size | %-44s | %8s %s\n' "$1" "$2" "$3"; }

# libibumad looks at the first 32 devices only, unless it is told one.
all_found() { [ "$(ibnetdiscover -C vib0 -P 1 | grep -c '^Switch\|^Ca')" = $NODES ]; }

vib_up
record_core
rmdir $FABRIC
net > /run/net
before=$(available)
start=$(now_ms)
vibctl up /run/net || fail "vibctl up"
size "$NODES nodes and their links made" $(($(now_ms) - start)) ms
size "each node" $((($(now_ms) - start) * 1000 / NODES)) us
wait_for 120 ports_are INIT $ADAPTERS || fail "ports do not come up"
size "memory, each node, with its RDMA device" $(((before - $(available)) / NODES)) kB
start=$(now_ms)
opensm_up vib0
wait_for 900 ports_are ACTIVE $ADAPTERS || fail "opensm leaves ports inactive"
size "opensm: all ports active" $(($(now_ms) - start)) ms
size "each node" $((($(now_ms) - start) * 1000 / NODES)) us
size "opensm itself" "$(awk '/^VmRSS:/ { print $2 }' "/proc/${OPENSM[vib0]}/status")" kB
start=$(now_ms)
all_found || fail "ibnetdiscover does not find $NODES nodes"
size "ibnetdiscover" $(($(now_ms) - start)) ms
opensm_down vib0
start=$(now_ms)
vibctl down
size "$NODES nodes removed" $(($(now_ms) - start)) ms
size "memory not given back" $((before - $(available))) kB
rmmod vib
