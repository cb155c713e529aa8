# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: opensm's tables and ibnetdiscover's output are what they are on ibsim
# timeout: 600
. /ibex/lib/vib.sh

# ibsim simulates MADs in a process.  Each net is made there; what ibnetdiscover then prints is
# the file from which vibctl makes the same net, GUIDs included.  The same opensm routes both.
SIMULATED=/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so

# sim COMMAND...: on ibsim, by the first adapter of the net
sim() { LD_PRELOAD=$SIMULATED SIM_HOST=$HOST "$@" 2> /run/out/sim.err; }

first_adapter() { sed -nE '/^(Hca|Ca)\s/ { s/^[^"]*"([^"]*)".*/\1/p; q }' "$1"; }

# The console's input is a pipe that nobody writes to.
sim_up() {
	rm -f /run/console
	mkfifo /run/console
	ibsim -s "$1" <> /run/console > /run/out/ibsim.log 2>&1 &
	SIM=$!
	wait_for 10 sim ibnetdiscover || fail "ibsim does not answer"
}

sim_down() {
	kill $SIM
	wait $SIM || true
}

# The lines of ibnetdiscover, each with its node, in an order.  Vendors, widths and speeds are
# not the topology's.
nodes() {
	sed -E '/^(#|vendid|devid)/d; s/ [0-9]+x[A-Z0-9]+$//; s/\s+/ /g; s/ $//' "$1" |
		awk 'BEGIN { RS = ""; FS = "\n" }
		{
			for (i = 1; i <= NF; i++)
				if ($i ~ /^(Switch|Ca)/)
					node = $i
			for (i = 1; i <= NF; i++)
				print node " | " $i
		}' | sort
}

# The lines of dump_fts, each with its switch, in an order.  How the switch was reached does
# not matter.
routes() {
	awk '/^Unicast lids/ { range = $3; sub(/.* guid/, ""); node = $0; print node, range; next }
		{ print node, $0 }' "$1" | sort
}

# seen NAME [sim]: what the diagnostics see, from the port of AT
seen() {
	local name=$1
	shift
	"$@" ibnetdiscover "${AT[@]}" > "/run/out/net-$name" || fail "ibnetdiscover on $name"
	"$@" dump_fts "${AT[@]}" > "/run/out/routes-$name" || fail "dump_fts on $name"
	nodes "/run/out/net-$name" > "/run/nodes-$name"
	routes "/run/out/routes-$name" > "/run/routes-$name"
	# which is neither empty nor before opensm
	grep -q 'lid [1-9]' "/run/nodes-$name" || fail "$name has no LIDs"
	grep -q 'Channel Adapter' "/run/routes-$name" || fail "$name has no routes"
}

# once NAME [sim]: opensm brings the subnet up, and ends.  ibsim begins with the LIDs of a file
# that has some: -r assigns them anew.
once() {
	local name=$1 dir=/run/opensm-once
	shift
	rm -rf $dir
	mkdir $dir
	OSM_CACHE_DIR=$dir OSM_TMP_DIR=$dir "$@" opensm -o -r -e -R "$ENGINE" -g "0x$PORT_GUID" \
		-f "/run/out/opensm-$name.log" > "/run/out/opensm-$name.out" ||
		fail "opensm on $name"
	grep -q 'SUBNET UP' "/run/out/opensm-$name.log" || fail "opensm on $name: no subnet"
}

# The device of the adapter with this node GUID
device_of() {
	local dev
	for dev in /sys/class/infiniband/vib*; do
		[ "$(tr -d : < "$dev/node_guid")" != "$1" ] || echo "${dev##*/}"
	done
}

linked() { [ "$(grep -c '"' /run/out/file)" = "$(vibctl show --ibnet | grep -c '"')" ]; }

# same NET ENGINE
same() {
	local device
	say "${1##*/}, $2"
	ENGINE=$2
	HOST=$(first_adapter "$1")
	sim_up "$1"
	sim ibnetdiscover > /run/out/file
	read -r NODE_GUID PORT_GUID <<< "$(sed -nE \
		's/^# Initiated from node ([0-9a-f]+) port ([0-9a-f]+)/\1 \2/p' /run/out/file)"
	once ibsim sim
	AT=()
	seen ibsim sim
	sim_down

	vibctl up /run/out/file || fail "vibctl up"
	device=$(device_of "$NODE_GUID")
	[ -n "$device" ] || fail "no device has the node GUID $NODE_GUID"
	wait_for 20 linked || fail "links do not come up"
	once vib
	AT=(-C "$device" -P 1)
	seen vib
	diff /run/nodes-ibsim /run/nodes-vib || fail "ibnetdiscover sees another net"
	diff /run/routes-ibsim /run/routes-vib || fail "switches have other tables"
	say "$(grep -c '^Switch\|^Ca' /run/out/net-vib) nodes, $(wc -l < /run/routes-vib) routes"
	vibctl down
}

vib_up
record_core
rmdir $FABRIC
for net in /ibex/ibsim/net* /ibex/nets/*; do
	same "$net" minhop
done
same /ibex/nets/ring updn
same /ibex/nets/fat-tree-8 ftree
rmmod vib
